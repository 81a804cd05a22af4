// SPDX-License-Identifier: BSD-2-Clause
// The port to processes of a POSIX host (Linux: memfd). The server listens at a Unix socket; a client or a driver that
// connects is given a descriptor of the memory that it shares with the server. Over the socket go messages of 32 bytes
// and their replies, and notifications: one byte, either way. The memory cannot be made shorter under the server
// (sealed), and it never waits at a peer's socket.
//
// Who may open the socket's file may use the stack; who may be its driver is the same question: give the file to whom
// you trust with it.
#ifndef MICRO_HOST_H
#define MICRO_HOST_H

#include "client.h"
#include "frames.h"
#include "server.h"
#include "weir/instance.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#define HOST_PEERS (MICRO_SESSIONS + 1)  // clients and a driver
#define HOST_CHANNELS 16u                // of a client
#define HOST_RING 65536u

// --- the server ------------------------------------------------------------------------------------------------------
struct micro_host_peer {
    int socket;      // −1: nobody
    uint8_t role;    // enum host_role
    uint32_t index;  // of its session
    void *memory;
    size_t bytes;
};
struct micro_host_server {
    struct weir_port port;
    struct weir *weir;
    struct micro_server server;
    struct micro_netif netif;
    struct weir_addr address;
    uint8_t prefix_length;
    int listener;
    struct micro_host_peer peers[HOST_PEERS];
    uint64_t due_us;
};
// WEIR_OK, or an error (errno tells more). The socket's file is made anew.
int micro_host_server_open(struct micro_host_server *server, const char *path, struct weir_addr address,
                           uint8_t prefix_length);
void micro_host_server_turn(struct micro_host_server *server);  // sleeps until there is work, and does it
void micro_host_server_close(struct micro_host_server *server);

// --- its peers -------------------------------------------------------------------------------------------------------
struct micro_host {
    int socket;
    bool noticed;  // a notification came while a reply was awaited
    void *memory;
    size_t bytes;
};
int micro_host_client(struct micro_host *host, struct client *client, const char *path);
// Runs until the server is gone; `fd` is the driver's, to be waited for. `netif` has been attached to its driver.
int micro_host_drive(struct micro_host *host, const char *path, struct weir_netif *netif, int fd);
void micro_host_close(struct micro_host *host);

// Between the two files. The first packet of a peer is its role; the answer is the number of bytes, with the
// descriptor.
enum host_role { HOST_CLIENT = 1, HOST_DRIVER = 2 };
uint64_t micro_host_now_us(void);

WEIR_END_DECLS

#endif
