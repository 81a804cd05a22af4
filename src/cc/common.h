// SPDX-License-Identifier: BSD-2-Clause
// What loss-based algorithms share: slow start, the answers to events that differ only in how far a loss
// reduces the window. Sizes are bytes.
#ifndef CC_COMMON_H
#define CC_COMMON_H

#include "base/bytes.h"
#include "weir/cc.h"

// bytes that options take of a full segment at the most (RFC 9293 §3.1: what Data Offset can tell)
#define CC_OPTIONS 40u
#define CC_WINDOW_MAX 0x40000000u  // 1 GiB, the largest window TCP can express (RFC 7323 §2.3); keeps sums below 2^32

struct cc_loss {
    uint32_t after_rto;                   // bytes outstanding at a timeout that are not acknowledged yet
    uint32_t prior_cwnd, prior_ssthresh;  // before the last reduction; cwnd 0: nothing to undo
    bool keep;  // the last reduction was a timeout, or was undone: the end of recovery is none for cwnd
};

// FlightSize when something was lost (RFC 5681 equation 4): not cwnd, which an idle application leaves unused; but
// neither what was sent beyond cwnd since the first duplicate ACK (limited transmit, §3.2). At a timeout cwnd may be
// what recovery made of it.
static inline uint32_t cc_flight_size(enum weir_cc_event event, const struct weir_cc_sample *sample,
                                      const struct weir_cc_window *window)
{
    const uint32_t flight = max_u32(sample->inflight, sample->prior_inflight);
    return event == WEIR_CC_RTO ? flight : min_u32(flight, window->cwnd);
}

// The round trip of a full segment, µs; 0: this ACK shows none. What bandwidth times round trip fills is full segments:
// a handshake's or a request's round trip is shorter by what the rest of one takes on the wire (1.2 ms of 21 at 10
// Mbit/s), and a queue that is empty looks as if it held that much. One that carries SACK blocks has as much less data.
static inline uint32_t cc_full_rtt(const struct weir_cc_sample *sample)
{
    return sample->acked + CC_OPTIONS >= sample->mss ? sample->rtt_us : 0;
}

// The window shrinks with this event.
static inline bool cc_reduces(enum weir_cc_event event)
{
    return event == WEIR_CC_ENTER_RECOVERY || event == WEIR_CC_RTO || event == WEIR_CC_ECN;
}

// A reduction is undone with this event, so what the algorithm itself changed at it must be given back too. Asked
// before cc_event.
static inline bool cc_undoes(const struct cc_loss *loss, enum weir_cc_event event)
{
    return event == WEIR_CC_UNDO && loss->prior_cwnd;
}

// What every event does to the window. Where it shrinks, to `ssthresh` (two segments at the least); that is not looked
// at otherwise.
void cc_event(struct cc_loss *loss, enum weir_cc_event event, const struct weir_cc_sample *sample,
              struct weir_cc_window *window, uint32_t ssthresh);

// Slow start, and the conditions of any growth: a window that was not used proves nothing (RFC 7661 §4), and in
// recovery it is not the algorithm's. Returns the acknowledged bytes that count for congestion avoidance.
uint32_t cc_slow_start(struct cc_loss *loss, const struct weir_cc_sample *sample, struct weir_cc_window *window);

// One segment for each `per` bytes acknowledged (not 0), never more than a segment for each; the remainder stays in
// *credit, so that nothing is lost to rounding.
void cc_grow(uint32_t *credit, uint32_t acked, uint32_t per, uint32_t mss, struct weir_cc_window *window);

#endif
