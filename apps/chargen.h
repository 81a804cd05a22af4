// SPDX-License-Identifier: BSD-2-Clause
// Character generator (RFC 864), over TCP and UDP: 72 printable characters a line, each line begins one character later. Over TCP it
// sends as fast as the window lets it, writing straight into the send queue. A UDP answer is never longer than its question, so
// that a forged source address gains nothing.
#ifndef APPS_CHARGEN_H
#define APPS_CHARGEN_H

#include "clients.h"
#include "loop.h"

#ifndef CHARGEN_CONNECTIONS
#define CHARGEN_CONNECTIONS 8u  // when full, who takes nothing makes room (clients.h), or newcomers wait in the backlog
#endif
#define CHARGEN_LINE 74u                    // with CR LF
#define CHARGEN_CYCLE (95u * CHARGEN_LINE)  // then it begins again
#define CHARGEN_DATAGRAM 512u               // RFC 864: at most

struct chargen_connection {
    struct weir_watch watch;
    struct chargen *chargen;
    weir_socket socket;  // 0: free
    uint32_t at;         // position in the cycle
};

struct chargen {
    struct weir_watch listener, datagram;
    struct loop *loop;
    weir_socket listening, bound;  // 0: none
    struct chargen_connection connections[CHARGEN_CONNECTIONS];
    struct client places[CHARGEN_CONNECTIONS];  // of the connections, by index
    struct clients clients;
};

int chargen_start(struct chargen *chargen, struct loop *loop, uint16_t port);
void chargen_stop(struct chargen *chargen);
// Writes `bytes` bytes of the stream from position `at`; returns the position after them.
uint32_t chargen_fill(uint8_t *out, uint32_t bytes, uint32_t at);

#endif
