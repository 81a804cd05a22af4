// SPDX-License-Identifier: BSD-2-Clause
// An echo server as a client of the stack's server: the same for a process of the microkernel and one of this
// machine's.
#ifndef EXAMPLES_ECHO_SERVER_H
#define EXAMPLES_ECHO_SERVER_H

#include "ports/micro/client.h"

#define ECHO_CONNECTIONS 4u
#define ECHO_BACKLOG 2u
#define ECHO_BYTES 2048u

struct echo_server {
    struct client *client;
    int listener;
    struct echo_connection {
        int socket;  // −1: free
        uint32_t at, length;
        uint8_t data[ECHO_BYTES];
    } connections[ECHO_CONNECTIONS];
};

// Listens at the port; an error, or WEIR_OK.
int echo_server_open(struct echo_server *server, struct client *client, uint16_t port);
// Waits for what there is to do, and does it. Negative: the stack's server is gone.
int echo_server_turn(struct echo_server *server);

#endif
