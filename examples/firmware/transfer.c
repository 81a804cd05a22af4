// SPDX-License-Identifier: BSD-2-Clause
// What LyraOS's benchmark and the thesis's measured, as a server without a kernel: port 5001 reads four bytes,
// big-endian, and sends so many bytes in writes of 1460; port 5002 reads in pieces of 1460 until the peer ends. Both
// then close. bench/metal/guest.c is the same on Linux.
#include <stdbool.h>
#include <string.h>

#include "boards/board.h"
#include "boards/start.h"
#include "superloop/superloop.h"
#include "weir/instance.h"
#include "weir/socket.h"

#ifndef MEMORY_BYTES
#define MEMORY_BYTES 8192
#endif
#define PIECE 1460u
#define SENDER_PORT 5001
#define RECEIVER_PORT 5002
#define CONNECTIONS 4

struct transfer {
    struct weir_watch watch;
    weir_socket socket;  // 0: free
    uint8_t asked[4];
    uint32_t got, left;  // of `asked`; still to send
};

static struct superloop loop;
static struct weir_netif netif;
static struct transfer transfers[CONNECTIONS];
static uint64_t memory[MEMORY_BYTES / 8];
static uint8_t data[PIECE];

static void end(struct transfer *transfer)
{
    weir_socket_close(loop.core.weir, transfer->socket);
    transfer->socket = 0;
}

static void send_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct transfer *transfer = (struct transfer *)watch;
    (void)events;
    while (transfer->got < 4) {
        const int got = weir_socket_read(loop.core.weir, socket, transfer->asked + transfer->got, 4 - transfer->got);
        if (got == WEIR_AGAIN)
            return;
        if (got <= 0) {
            end(transfer);
            return;
        }
        transfer->got += (uint32_t)got;
        transfer->left = (uint32_t)transfer->asked[0] << 24 | (uint32_t)transfer->asked[1] << 16 |
                         (uint32_t)transfer->asked[2] << 8 | transfer->asked[3];
    }
    while (transfer->left) {
        const int sent =
            weir_socket_write(loop.core.weir, socket, data, transfer->left < PIECE ? transfer->left : PIECE);
        if (sent == WEIR_AGAIN)
            return;
        if (sent < 0)
            break;
        transfer->left -= (uint32_t)sent;
    }
    end(transfer);
}

static void receive_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    int got;
    (void)events;
    while ((got = weir_socket_read(loop.core.weir, socket, data, PIECE)) > 0)
        ;
    if (got != WEIR_AGAIN)
        end((struct transfer *)watch);
}

static void accept_all(weir_socket listener,
                       void (*event)(struct weir_watch *watch, weir_socket socket, uint32_t events))
{
    for (uint32_t i = 0; i < CONNECTIONS; i++) {
        struct transfer *transfer = &transfers[i];
        if (transfer->socket)
            continue;
        const weir_socket socket = weir_socket_accept(loop.core.weir, listener);
        if (socket <= 0)
            return;
        *transfer = (struct transfer){.watch = {event}, .socket = socket};
        weir_socket_set_user(loop.core.weir, socket, transfer);
        event(&transfer->watch, socket, WEIR_READABLE);
    }
}
static void sender_event(struct weir_watch *watch, weir_socket listener, uint32_t events)
{
    (void)watch, (void)events;
    accept_all(listener, send_event);
}
static void receiver_event(struct weir_watch *watch, weir_socket listener, uint32_t events)
{
    (void)watch, (void)events;
    accept_all(listener, receive_event);
}

static bool serve(uint16_t port, struct weir_watch *watch)
{
    const struct weir_endpoint local = {weir_addr_any(), port};
    const weir_socket listener = weir_socket_open(loop.core.weir, WEIR_STREAM, 0);
    return weir_socket_bind(loop.core.weir, listener, &local) == WEIR_OK &&
           weir_socket_listen(loop.core.weir, listener, 2) == WEIR_OK &&
           weir_socket_set_user(loop.core.weir, listener, watch) == WEIR_OK;
}

static bool start(void)
{
    static struct weir_watch sender = {sender_event}, receiver = {receiver_event};
    superloop_init(&loop, &board_port, board_sleep);
    board_ethernet(&netif, &loop.awake);
    return board_start(&loop.core, &netif, memory, sizeof memory) && serve(SENDER_PORT, &sender) &&
           serve(RECEIVER_PORT, &receiver);
}

int main(void)
{
    board_init();
    if (!start()) {
        board_puts("weir: no memory, or no interface\n");
        return 1;
    }
    board_puts("weir: serving\n");
    superloop_run(&loop);
}
