// SPDX-License-Identifier: BSD-2-Clause
// BSD's calls for a client of the server (server.h): sockets are small numbers, calls block until a deadline of the
// client's, and data moves through the rings of its window without a message. One thread uses a struct client; it has
// as many sockets as its window has channels.
//
// All return 0 or a count, or a negative enum weir_error: WEIR_AGAIN when the timeout is over, WEIR_CLOSED when the
// server is gone. What befell a datagram, or came back of it as ICMP, is told once, by the next call that moves data
// and names no other end, or by client_take_error.
#ifndef MICRO_CLIENT_H
#define MICRO_CLIENT_H

#include <stdbool.h>

#include "weir/language.h"
#include "weir/socket.h"
#include "window.h"

WEIR_BEGIN_DECLS

#define CLIENT_CHANNELS 32

struct client_host {
    int (*call)(void *context, struct micro_message *message);  // to the server, and its reply; negative: it is gone
    void (*notify)(void *context);                              // the server
    int (*wait)(
        void *context,
        uint64_t deadline_us);  // until notified (or notified before): 0; 1: the deadline; negative: the server is gone
    uint64_t (*now_us)(void *context);
    // Between the rings and what the caller of client.h named: nonzero where that is not the client's memory
    // (WEIR_FAULT, and nothing is done). NULL: memcpy, and what the processor does then.
    int (*copy_in)(void *context, void *to, const void *from_caller, size_t bytes);
    int (*copy_out)(void *context, void *to_caller, const void *from, size_t bytes);
};

struct client {
    const struct client_host *host;
    void *context;
    struct window *window;
    uint64_t timeout_us;  // of every call; 0: none, WEIR_NEVER: for ever
    struct {
        uint32_t sent, taken;
        uint8_t type;
        bool told;  // what the connection died of
    } socket[CLIENT_CHANNELS];
};

void client_init(struct client *client, const struct client_host *host, void *context, struct window *window);
// The host's copies: WEIR_OK, or WEIR_FAULT.
int client_copy_in(struct client *client, void *to, const void *from_caller, size_t bytes);
int client_copy_out(struct client *client, void *to_caller, const void *from, size_t bytes);
int client_socket(struct client *client, enum weir_socket_type type);
int client_bind(struct client *client, int socket, const struct weir_endpoint *local);
int client_listen(struct client *client, int socket, uint32_t backlog);
int client_accept(struct client *client, int socket, struct weir_endpoint *peer);  // peer may be NULL
int client_connect(struct client *client, int socket, const struct weir_endpoint *peer);
// Bytes put into the ring, at least one; or all of them, waiting for room as often as it takes.
int client_send(struct client *client, int socket, const void *data, uint32_t bytes);
int client_send_all(struct client *client, int socket, const void *data, uint32_t bytes);
// At least one byte; 0 at the end of the stream.
int client_recv(struct client *client, int socket, void *data, uint32_t bytes);
// A datagram. peer NULL: the connected one. Received: cut to `bytes`, the whole length is returned.
int client_sendto(struct client *client, int socket, const void *data, uint32_t bytes,
                  const struct weir_endpoint *peer);
int client_recvfrom(struct client *client, int socket, void *data, uint32_t bytes, struct weir_endpoint *peer);
int client_shutdown(struct client *client, int socket, enum weir_shutdown how);
int client_close(struct client *client, int socket);  // what was sent before still goes
int client_getsockname(struct client *client, int socket, struct weir_endpoint *local);
int client_getpeername(struct client *client, int socket, struct weir_endpoint *peer);
int client_setsockopt(struct client *client, int socket, enum weir_option option, int32_t value);
int client_getsockopt(struct client *client, int socket, enum weir_option option, int32_t *value);

// The error that the next call would tell, which then does not; WEIR_OK: none. What a connection died of is told once,
// by a receive or here: after that receives are at the end (0), and sends WEIR_SHUT_DOWN.
int client_take_error(struct client *client, int socket);
bool client_error_waits(struct client *client, int socket);  // client_take_error would tell one
// Why a connect failed that was waited for, taken; WEIR_OK: it did not, or goes on.
int client_connect_error(struct client *client, int socket);

struct client_pollfd {
    int socket;
    uint8_t wants, ready;  // enum window_want
};
// how many are ready; 0: the timeout is over
int client_poll(struct client *client, struct client_pollfd *fds, uint32_t count);

WEIR_END_DECLS

#endif
