// SPDX-License-Identifier: BSD-2-Clause
// The sending side of a TCP as Embedded Xinu's was in 2009, as far as the real-time work's benchmark shows it: no
// options but MSS; a window that closes is probed first after 3 s, then twice as late each time; the window of an ACK
// of data never sent counts, and the ACK is answered with the sequence number that comes next; any new acknowledgement
// ends the back-off; slow start, congestion avoidance, fast retransmit and recovery (RFC 5681, as 4.3BSD-Reno had
// them), go-back-N after a timeout. It listens, accepts one connection, sends a file to it as fast as it may, and
// closes.
//
// Like Weir itself a function of (state, input, now): in the simulator (realtime_sim.c) and on a board
// (board_source.c).
#ifndef BENCH_XINU_H
#define BENCH_XINU_H

#include <stdbool.h>
#include <stdint.h>

struct xinu_options {
    uint32_t bytes;         // of the file
    uint16_t mss;           // at most; the peer's option counts too
    uint32_t persist_ms;    // 3000
    uint32_t rto_least_ms;  // 200
    bool no_fast_retransmit;
    bool silent;  // does not answer ACKs of data never sent, and ignores their window
};

struct xinu_stats {
    uint32_t segments, retransmits, timeouts, fast_retransmits, probes, unsent_acks;
};

#define XINU_NEVER UINT64_MAX

struct xinu {
    void (*send)(void *context, const uint8_t *frame, uint32_t length);
    void *context;
    struct xinu_options options;
    struct xinu_stats stats;
    uint64_t now_ns, rto_ns, persist_ns;  // when the timers fire; XINU_NEVER: they are not set
    uint8_t mac[6], peer_mac[6];
    uint32_t address, peer;
    uint16_t port, peer_port;
    bool open, probing, recovering, timing;
    uint32_t iss, una, nxt, most, end;  // most: after the last byte ever sent
    uint32_t window, window_seq, window_ack;
    uint32_t cwnd, ssthresh, duplicates;
    uint32_t irs;
    uint32_t srtt8, rttvar4, rto_us, backoff, persist_us;
    uint32_t timed_end;  // of the segment that is timed
    uint64_t timed_ns;
};

// A sender of its own at `address` (host order), which listens at `port`. `send` gets its Ethernet frames, from within
// the two below.
void xinu_open(struct xinu *xinu, uint32_t address, uint16_t port, uint32_t iss, const struct xinu_options *options,
               void (*send)(void *context, const uint8_t *frame, uint32_t length), void *context);
void xinu_input(struct xinu *xinu, uint64_t now_ns, const uint8_t *frame, uint32_t length);
// Fires what is due.
void xinu_poll(struct xinu *xinu, uint64_t now_ns);
static inline uint64_t xinu_due_ns(const struct xinu *xinu)
{
    return xinu->rto_ns < xinu->persist_ns ? xinu->rto_ns : xinu->persist_ns;
}

#endif
