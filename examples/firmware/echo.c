// SPDX-License-Identifier: BSD-2-Clause
// An echo server (TCP port 7) without a kernel: the superloop calls a watch when a socket has news. The same source
// runs with every profile and on every board.
#include <stdbool.h>
#include <string.h>

#include "boards/board.h"
#include "boards/start.h"
#include "superloop/superloop.h"
#include "weir/instance.h"
#include "weir/socket.h"

#ifndef MEMORY_BYTES
#define MEMORY_BYTES 8192  // of the instance; without an allocator all its queues included
#endif

#ifndef BOARD_NETIF
#define BOARD_NETIF board_ethernet
#endif

static struct superloop loop;
static struct weir_netif netif;
static uint64_t memory[MEMORY_BYTES / 8];

static void client_event(struct weir_watch *watch, weir_socket socket, uint32_t events);
static void server_event(struct weir_watch *watch, weir_socket listener, uint32_t events);
static struct weir_watch client = {client_event}, server = {server_event};

// Moves what has arrived into the send queue, as far as there is room; the rest waits, and the peer's window closes.
static void client_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct weir *weir = loop.core.weir;
    struct weir_slice in;
    struct weir_span out;
    int there;
    (void)watch, (void)events;
    while ((there = weir_socket_peek(weir, socket, 0, &in, 1)) > 0 &&
           weir_socket_reserve(weir, socket, in.length, &out, 1) > 0) {
        const uint32_t bytes = in.length < out.length ? in.length : out.length;
        memcpy(out.data, in.data, bytes);
        weir_socket_commit(weir, socket, bytes);
        weir_socket_consume(weir, socket, bytes);
    }
    if (there <= 0 && there != WEIR_AGAIN)
        weir_socket_close(weir, socket);  // what is queued still goes out, then FIN
}

static void server_event(struct weir_watch *watch, weir_socket listener, uint32_t events)
{
    weir_socket socket;
    (void)watch, (void)events;
    while ((socket = weir_socket_accept(loop.core.weir, listener)) > 0) {
        weir_socket_set_user(loop.core.weir, socket, &client);
        client_event(&client, socket, WEIR_READABLE);  // it may have come with data
    }
}

static bool start(void)
{
    const struct weir_endpoint local = {weir_addr_any(), 7};
    superloop_init(&loop, &board_port, board_sleep);
    BOARD_NETIF(&netif, &loop.awake);
    struct weir *weir = board_start(&loop.core, &netif, memory, sizeof memory);
    if (!weir)
        return false;
    const weir_socket listener = weir_socket_open(weir, WEIR_STREAM, 0);
    return weir_socket_bind(weir, listener, &local) == WEIR_OK && weir_socket_listen(weir, listener, 2) == WEIR_OK &&
           weir_socket_set_user(weir, listener, &server) == WEIR_OK;
}

int main(void)
{
    board_init();
    if (!start()) {
        board_puts("weir: no memory, or no interface\n");
        return 1;
    }
    board_puts("weir: echo on port 7\n");
    superloop_run(&loop);
}
