// SPDX-License-Identifier: BSD-2-Clause
// The smallest whole program: an echo server on a TAP, one thread, no copy but the one into the reply. As root:
//
//     build/host/examples/echo_server tap0 10.0.0.1/24 &
//     ip addr add 10.0.0.2/24 dev tap0; nc 10.0.0.1 7
//
// It shows the native API: in-place reading (peek, consume) and writing (reserve, commit), and readiness by callback
// (struct weir_watch).
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "ports/posix/posix.h"
#include "drivers/tap.h"
#include "weir/socket.h"

struct client {
    struct weir_watch watch;
    struct weir *weir;
};

// Moves what has arrived into the send queue, as far as there is room; the rest waits, and the peer's window closes.
static void echo(struct weir *weir, weir_socket socket)
{
    struct weir_slice in;
    struct weir_span out;
    while (weir_socket_peek(weir, socket, 0, &in, 1) > 0 && weir_socket_reserve(weir, socket, in.length, &out, 1) > 0) {
        const uint32_t bytes = in.length < out.length ? in.length : out.length;
        memcpy(out.data, in.data, bytes);
        weir_socket_commit(weir, socket, bytes);
        weir_socket_consume(weir, socket, bytes);
    }
}

static void client_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct client *client = (struct client *)watch;
    struct weir_slice rest;
    (void)events;
    echo(client->weir, socket);
    // The event that told of the end may have come before there was room for the rest, so what matters is whether there
    // is more to read.
    const int left = weir_socket_peek(client->weir, socket, 0, &rest, 1);
    if (left > 0 || left == WEIR_AGAIN)
        return;
    weir_socket_close(client->weir, socket);  // what is queued still goes out, then FIN
    free(client);
}

struct server {
    struct weir_watch watch;
    struct weir *weir;
};

static void server_event(struct weir_watch *watch, weir_socket listener, uint32_t events)
{
    struct server *server = (struct server *)watch;
    weir_socket socket;
    (void)events;
    while ((socket = weir_socket_accept(server->weir, listener)) > 0) {
        struct client *client = malloc(sizeof *client);
        if (client == NULL) {
            weir_socket_abort(server->weir, socket);
            continue;
        }
        client->watch.event = client_event;
        client->weir = server->weir;
        weir_socket_set_user(server->weir, socket, &client->watch);
        echo(server->weir, socket);  // it may have come with data
    }
}

static int serve(struct posix_host *host, struct weir *weir, struct tap *tap, struct weir_addr address, uint8_t prefix)
{
    static struct weir_netif netif;
    struct server server = {.watch.event = server_event, .weir = weir};
    const struct weir_endpoint local = {weir_addr_any(), 7};
    tap_attach(tap, &netif, "eth0");
    posix_host_attach(host, weir);
    if (weir_netif_add(weir, &netif) < 0 || weir_netif_set_address(&netif, address, prefix, WEIR_ADDRESS_AT_ONCE) < 0)
        return 1;
    const weir_socket listener = weir_socket_open(weir, WEIR_STREAM, 0);
    int error = weir_socket_bind(weir, listener, &local);
    if (error == WEIR_OK)
        error = weir_socket_listen(weir, listener, 16);
    if (error != WEIR_OK || posix_host_add(host, &netif, tap_fd(tap)) != 0) {
        fprintf(stderr, "echo_server: cannot serve port 7: %s\n", weir_error_name(error));
        return 1;
    }
    weir_socket_set_user(weir, listener, &server.watch);
    for (;;)
        posix_host_poll(host, -1);
}

int main(int argc, char **argv)
{
    static struct tap tap;
    static struct posix_host host;
    unsigned a, b, c, d, prefix;
    if (argc != 3 || sscanf(argv[2], "%u.%u.%u.%u/%u", &a, &b, &c, &d, &prefix) != 5 || (a | b | c | d) > 255 ||
        prefix > 32) {
        fputs("usage: echo_server TAP A.B.C.D/N\n", stderr);
        return 2;
    }
    if (tap_open(&tap, argv[1], TAP_UP) < 0) {
        fprintf(stderr, "echo_server: %s\n", tap_error(&tap));
        return 1;
    }
    if (posix_host_init(&host, NULL) != 0)
        return 1;
    struct weir *weir = weir_create(NULL, 0, &host.port, NULL);
    return weir == NULL
               ? 1
               : serve(&host, weir, &tap, weir_ip4((uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d), (uint8_t)prefix);
}
