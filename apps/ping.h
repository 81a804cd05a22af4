// SPDX-License-Identifier: BSD-2-Clause
// Ping (RFC 1122 §3.2.2.6): echo requests through a WEIR_ICMP socket, round-trip times out of the replies.
#ifndef APPS_PING_H
#define APPS_PING_H

#include "loop.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#define PING_DATA_MAX 1400u
#define PING_OUTSTANDING 16u  // newest requests whose replies are told from duplicates

struct ping_reply {
    struct weir_addr from;
    uint16_t sequence;
    uint8_t ttl;
    uint32_t bytes;  // of ICMP: header and data
    uint32_t rtt_us;
    bool duplicate;
};

struct ping {
    struct app app;
    struct weir_watch watch;
    struct loop *loop;
    // Called for each reply, and, with `reply` NULL, when all are in or `wait_us` passed after the last request, or on
    // `error`.
    void (*event)(struct ping *ping, const struct ping_reply *reply, void *context);
    void *context;
    weir_socket socket;  // 0: stopped
    uint32_t count;      // to send; 0: until ping_stop
    uint32_t interval_us, wait_us, data_bytes;
    uint32_t sent, received, duplicates, corrupted;
    uint64_t next_us, rtt_sum_us;
    uint32_t rtt_min_us, rtt_max_us;
    uint32_t answered;                 // bit n: the n-th newest request was answered
    uint8_t key;                       // of the pattern: replies to another ping do not match
    uint8_t request_type, reply_type;  // of the host's family
    int error;                         // enum weir_error that ended it early
};

// `data_bytes` at most PING_DATA_MAX. A negative enum weir_error when it cannot begin.
int ping_start(struct ping *ping, struct loop *loop, struct weir_addr host, uint32_t count, uint32_t interval_us,
               uint32_t data_bytes, void (*event)(struct ping *, const struct ping_reply *, void *), void *context);
void ping_stop(struct ping *ping);

WEIR_END_DECLS

#endif
