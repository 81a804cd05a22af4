// SPDX-License-Identifier: BSD-2-Clause
// The sending side of a TCP as Embedded Xinu's was in 2009, as far as the real-time work's benchmark shows it: no options but MSS; a window
// that closes is probed first after 3 s, then twice as late each time; the window of an ACK of data never sent counts, and the ACK is
// answered with the sequence number that comes next; any new acknowledgement ends the back-off; slow start, congestion avoidance, fast
// retransmit and recovery (RFC 5681, as 4.3BSD-Reno had them), go-back-N after a timeout. It listens, accepts one connection, sends a
// file to it as fast as it may, and closes.
#ifndef BENCH_XINU_H
#define BENCH_XINU_H

#include "sim/event.h"
#include "sim/sim.h"

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

struct xinu {
    struct sim *sim;
    struct sim_node *node;
    struct xinu_options options;
    struct xinu_stats stats;
    struct event rto, persist;
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

// `address` in host order. The node is ready for a link.
void xinu_open(struct xinu *xinu, struct sim *sim, uint32_t address, uint16_t port, const struct xinu_options *options);
void xinu_close(struct xinu *xinu);

#endif
