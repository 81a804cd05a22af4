// SPDX-License-Identifier: BSD-2-Clause
// Character generator (RFC 864), over TCP and UDP: 72 printable characters a line, each line begins one character
// later. Over TCP it sends as fast as the window lets it, writing straight into the send queue. A UDP answer is never
// longer than its question, so that a forged source address gains nothing.
#ifndef APPS_CHARGEN_H
#define APPS_CHARGEN_H

#include "crowd.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#ifndef CHARGEN_CONNECTIONS
// when full, who takes nothing makes room (clients.h), or newcomers wait in the backlog
#define CHARGEN_CONNECTIONS 32u
#endif
#define CHARGEN_LINE 74u                    // with CR LF
#define CHARGEN_CYCLE (95u * CHARGEN_LINE)  // then it begins again
#define CHARGEN_DATAGRAM 512u               // RFC 864: at most

struct chargen {
    struct crowd crowd;
    struct weir_watch datagram;
    weir_socket bound;                               // 0: none
    struct crowd_place places[CHARGEN_CONNECTIONS];  // `at`: the position in the cycle
};

int chargen_start(struct chargen *chargen, struct loop *loop, uint16_t port);
void chargen_stop(struct chargen *chargen);
// Writes `bytes` bytes of the stream from position `at`; returns the position after them.
uint32_t chargen_fill(uint8_t *out, uint32_t bytes, uint32_t at);

WEIR_END_DECLS

#endif
