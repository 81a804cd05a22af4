// SPDX-License-Identifier: BSD-2-Clause
// When the instance's memory budget runs short: whose memory is given up for the others' sake (docs/memory.md).
#ifndef TCP_PRESSURE_H
#define TCP_PRESSURE_H

#include "base/bytes.h"
#include "tcp/end.h"
#include "weir/options.h"

#if WEIR_CFG_ALLOCATOR

#define TCP_PRESSURE_SOURCES 8u  // addresses whose memory is added up at a time

// A connection, whether or not it is still there when its turn comes, and the memory for which it was chosen.
struct tcp_holder {
    struct tcp_end local, remote;
    uint32_t bytes;  // 0: none
};

struct tcp_pressure {
    uint64_t due_us;   // not to be looked at again before
    uint32_t bucket;   // of the connections' table: where to go on
    uint32_t looked;   // at so many since the last decision
    uint32_t full_ms;  // `full`: beyond MEMORY_LARGEST since then
    bool full;
    struct tcp_holder ahead, idle;  // with most beyond a gap; with most while nothing moves
    struct {
        uint64_t bytes;             // held by all of its connections, or more (Metwally and others 2005)
        struct tcp_holder largest;  // of them
    } source[TCP_PRESSURE_SOURCES];
};

#endif
#endif
