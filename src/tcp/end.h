// SPDX-License-Identifier: BSD-2-Clause
// One end of a connection: where it is, and what it takes.
#ifndef TCP_END_H
#define TCP_END_H

#include "weir/addr.h"

// A weir_endpoint whose padding holds one number more.
struct tcp_end {
    union {
        struct {
            struct weir_addr addr;
            uint16_t port;
            uint16_t mss;  // the MSS option it sent, or what that is without one
        };
        struct weir_endpoint endpoint;  // the same address and port, to read only
    };
};
_Static_assert(sizeof(struct tcp_end) == sizeof(struct weir_endpoint), "an end is no larger than where it is");

#endif
