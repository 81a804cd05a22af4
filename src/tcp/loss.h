// SPDX-License-Identifier: BSD-2-Clause
// What finds loss and answers it, one mechanism a file, each with a little state in struct tcp_flow; recovery.c asks
// them in turn:
//   rack.c  which of what is in flight is lost, by the time it was sent (RFC 8985)
//   tlp.c   a probe where the tail of a flight may be lost (RFC 8985 §7)
//   rtx_probe.c a probe where what was sent again may be lost again (where the congestion control owns recovery)
//   prr.c   how much may be sent while recovering (RFC 9937)
//   frto.c  whether a timeout was spurious, by what is acknowledged after it (RFC 5682)
//   undo.c  whether any reduction was spurious, by duplicates that the peer reports (RFC 3708) or timestamps (RFC 3522)
// All of it may be left out of a profile (WEIR_CFG_TCP_LOSS_RECOVERY): then it does nothing, and finds nothing.
#ifndef TCP_LOSS_H
#define TCP_LOSS_H

#include "tcp/flight.h"
#include "wire/tcp.h"

// Only these congestion controls own recovery.
#define TCP_RTX_PROBE (WEIR_CFG_TCP_LOSS_RECOVERY && (WEIR_CFG_CC_BBR || WEIR_CFG_CC_BBR3))

struct weir;
struct tcp_conn;

// What the SEND timer waits for while something is in flight (timers.c).
enum tcp_wait {
    TCP_WAIT_RTO,      // the retransmission timeout
    TCP_WAIT_REORDER,  // what may be lost, or only late (RACK)
    TCP_WAIT_TAIL,     // the tail-loss probe
    TCP_WAIT_CHANCE,   // the same or, with a deadline, what is sent again before it passes (deadline.h)
    TCP_WAIT_LAZY,  // the first of RTO and tail: which and when is worked out only if the wheel's node comes (timers.c)
};

#if WEIR_CFG_TCP_LOSS_RECOVERY
struct rack {
    uint32_t sent_us, end;  // of what was delivered: the transmission that left last. Known only while something in
                            // flight has a flag:
    bool valid;             // at peace nothing that is still in flight left before what has come
    bool resent;            // the newest delivered was sent again
    bool reordering;        // seen on this flow
    bool round;             // dsack_round is meaningful
    uint8_t multiplier;     // of min_RTT / 4, less one
    uint8_t persist;        // recoveries for which the multiplier stays
    uint32_t dsack_round;   // the multiplier grows once until una reaches it
    uint32_t rtt_us;        // round trip of the newest delivered
    uint32_t wait_us;       // after so long, what is not lost yet is; 0: nothing waits
};
static inline bool tcp_rack_on(uint32_t use_sack) { return use_sack != 0; }
// Before the log hears of an acknowledgement.
void tcp_rack_begin(const struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment,
                    struct flight_delta *delta);
// after the log heard of it
void tcp_rack_ack(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta);
void tcp_rack_duplicate(struct tcp_conn *c);                      // the peer reported a duplicate (RFC 2883)
void tcp_rack_recovered(struct tcp_conn *c);                      // a recovery ended
void tcp_rack_late(const struct weir *weir, struct tcp_conn *c);  // what was thought lost was late
// Marks LOST what is; adds to delta->newly_lost.
void tcp_rack_detect(const struct weir *weir, struct tcp_conn *c, struct flight_delta *delta);
// After a retransmission timeout: the first segment, and what is older than a round trip and the window for reordering
// (§6.3).
uint32_t tcp_rack_timeout(struct weir *weir, struct tcp_conn *c);  // the bytes newly lost
uint32_t tcp_rack_wait(const struct tcp_conn *c);                  // µs; 0: nothing waits
#else
static inline bool tcp_rack_on(uint32_t use_sack) { return (void)use_sack, false; }
static inline void tcp_rack_begin(const struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment,
                                  struct flight_delta *delta)
{
    (void)weir, (void)c, (void)segment, (void)delta;
}
static inline void tcp_rack_ack(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta)
{
    (void)weir, (void)c, (void)delta;
}
static inline void tcp_rack_duplicate(struct tcp_conn *c) { (void)c; }
static inline void tcp_rack_recovered(struct tcp_conn *c) { (void)c; }
static inline void tcp_rack_late(const struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_rack_detect(const struct weir *weir, struct tcp_conn *c, struct flight_delta *delta)
{
    (void)weir, (void)c, (void)delta;
}
static inline uint32_t tcp_rack_timeout(struct weir *weir, struct tcp_conn *c) { return (void)weir, (void)c, 0; }
static inline uint32_t tcp_rack_wait(const struct tcp_conn *c) { return (void)c, 0; }
#endif

// coarse.c
#if WEIR_CFG_TCP_COARSE_CLOCK
// something left: the probe too, where a coarse clock could only be late
void tcp_tlp_hasten(struct weir *weir, struct tcp_conn *c);
#else
static inline void tcp_tlp_hasten(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
#endif
#if WEIR_CFG_TCP_LOSS_RECOVERY
// RFC 8985 §7.2: how long a peer may delay the acknowledgement of a single segment
#define TLP_MAX_ACK_DELAY_US 200000u
// What a busy host may take to answer: on the shortest paths two round trips are nothing. Under a coarse clock a tick
// comes to it: the next may be over at once, and where nothing is lost nothing is sent twice.
#define TLP_SLACK_US 2000u
struct tlp {
    uint32_t end;   // snd.nxt after the probe (ATTEND_TLP_OUT)
    uint8_t again;  // so many probes of what was sent before, not reported as duplicates; 0: of new data, or none
    bool ticked;    // a timer fired as the tick of tick_us began
#if WEIR_CFG_TCP_COARSE_CLOCK
    bool early;  // the probe left before its time (coarse.c): the tail has its own, too
#endif
    uint32_t tick_us;
    uint32_t rounds, round;  // round trips since then; one more when snd.una is beyond `round`
};
#if WEIR_CFG_TCP_COARSE_CLOCK
static inline bool tcp_tlp_early(const struct tlp *tlp) { return tlp->early; }
static inline void tcp_tlp_set_early(struct tlp *tlp, bool early) { tlp->early = early; }
#else
static inline bool tcp_tlp_early(const struct tlp *tlp) { return (void)tlp, false; }
static inline void tcp_tlp_set_early(struct tlp *tlp, bool early) { (void)tlp, (void)early; }
#endif
// µs until the probe may go, if the RTO is `rto_us` away; 0: none may
uint32_t tcp_tlp_wait(const struct weir *weir, struct tcp_conn *c, uint32_t rto_us);
// The least that tcp_tlp_wait returns, if a round trip is known and no timer has fired in this tick.
uint32_t tcp_tlp_least(const struct weir *weir, const struct tcp_conn *c);
void tcp_tlp_tick(const struct weir *weir, struct tcp_conn *c);  // the SEND timer fires
void tcp_tlp_fire(struct weir *weir, struct tcp_conn *c);
void tcp_tlp_sent(struct weir *weir, struct tcp_conn *c, bool again);
// An acknowledgement came; `duplicate`: it is of nothing new, or reports a duplicate. true: the probe has mended a
// loss.
bool tcp_tlp_ack(struct tcp_conn *c, bool duplicate);
void tcp_tlp_off(struct tcp_conn *c);
#else
static inline uint32_t tcp_tlp_wait(const struct weir *weir, struct tcp_conn *c, uint32_t rto_us)
{
    return (void)weir, (void)c, (void)rto_us, 0;
}
static inline uint32_t tcp_tlp_least(const struct weir *weir, const struct tcp_conn *c)
{
    return (void)weir, (void)c, UINT32_MAX;
}
static inline void tcp_tlp_tick(const struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_tlp_fire(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline void tcp_tlp_sent(struct weir *weir, struct tcp_conn *c, bool again) { (void)weir, (void)c, (void)again; }
static inline bool tcp_tlp_ack(struct tcp_conn *c, bool duplicate) { return (void)c, (void)duplicate, false; }
static inline void tcp_tlp_off(struct tcp_conn *c) { (void)c; }
#endif

struct tcp_ack_info;
#if TCP_RTX_PROBE
struct rtx_probe {
    uint32_t end;   // snd.nxt when a hole was last seen, or filled (ATTEND_RTX_PROBE)
    uint8_t tried;  // so often has been probed, and nothing new come since
    bool doubled;   // what ends here left twice, as this tick began, and no duplicate of it has been reported
    uint32_t doubled_end, doubled_us;
};
bool tcp_rtx_probe_on(const struct weir *weir, const struct tcp_conn *c);  // what is probed next is a hole, not a tail
// µs until that probe, if a tail would be probed after `tail_us`; 0: it waits for the RTO, `rto_us` from now
uint32_t tcp_rtx_probe_wait(const struct tcp_conn *c, uint32_t tail_us, uint32_t rto_us);
bool tcp_rtx_probe_fire(struct weir *weir, struct tcp_conn *c);  // now
// What output has sent again goes twice, and nothing else: [snd.una, *end).
bool tcp_rtx_probe_double(const struct weir *weir, const struct tcp_conn *c, uint32_t *end);
void tcp_rtx_probe_doubled(const struct weir *weir, struct tcp_conn *c, uint32_t end);  // it did
bool tcp_rtx_probe_expected(struct tcp_conn *c, uint32_t end);  // the duplicate that is reported is of that
void tcp_rtx_probe_ack(const struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta,
                       const struct tcp_ack_info *news);
#else
static inline bool tcp_rtx_probe_on(const struct weir *weir, const struct tcp_conn *c)
{
    return (void)weir, (void)c, false;
}
static inline uint32_t tcp_rtx_probe_wait(const struct tcp_conn *c, uint32_t tail_us, uint32_t rto_us)
{
    return (void)c, (void)rto_us, tail_us;
}
static inline bool tcp_rtx_probe_fire(struct weir *weir, struct tcp_conn *c) { return (void)weir, (void)c, false; }
static inline bool tcp_rtx_probe_double(const struct weir *weir, const struct tcp_conn *c, uint32_t *end)
{
    return (void)weir, (void)c, (void)end, false;
}
static inline void tcp_rtx_probe_doubled(const struct weir *weir, struct tcp_conn *c, uint32_t end)
{
    (void)weir, (void)c, (void)end;
}
static inline bool tcp_rtx_probe_expected(struct tcp_conn *c, uint32_t end) { return (void)c, (void)end, false; }
static inline void tcp_rtx_probe_ack(const struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta,
                                     const struct tcp_ack_info *news)
{
    (void)weir, (void)c, (void)delta, (void)news;
}
#endif

#if WEIR_CFG_TCP_LOSS_RECOVERY
struct prr {
    uint32_t delivered, out;  // bytes since recovery began
    uint32_t flight;          // RecoverFS
    uint32_t guessed;         // bytes that duplicate ACKs stood for, not acknowledged yet (without SACK)
};
// recovery begins; cwnd and ssthresh are set
void tcp_prr_enter(struct tcp_conn *c, const struct flight_delta *delta, uint32_t acked);
void tcp_prr_ack(struct tcp_conn *c, const struct flight_delta *delta, uint32_t acked, bool duplicate);
void tcp_prr_sent(struct tcp_conn *c, uint32_t bytes);
#else
static inline void tcp_prr_enter(struct tcp_conn *c, const struct flight_delta *delta, uint32_t acked)
{
    (void)c, (void)delta, (void)acked;
}
static inline void tcp_prr_ack(struct tcp_conn *c, const struct flight_delta *delta, uint32_t acked, bool duplicate)
{
    (void)c, (void)delta, (void)acked, (void)duplicate;
}
static inline void tcp_prr_sent(struct tcp_conn *c, uint32_t bytes) { (void)c, (void)bytes; }
#endif

#if WEIR_CFG_TCP_LOSS_RECOVERY
struct frto {
    uint8_t step;  // 0: not watching; 1: the first segment went again; 2: new data, if any, goes before LOST
};
void tcp_frto_timeout(struct tcp_conn *c, bool first);  // `first`: no recovery was under way
// true: the timeout was spurious
bool tcp_frto_ack(struct tcp_conn *c, const struct flight_delta *delta, uint32_t acked);
#else
static inline void tcp_frto_timeout(struct tcp_conn *c, bool first) { (void)c, (void)first; }
static inline bool tcp_frto_ack(struct tcp_conn *c, const struct flight_delta *delta, uint32_t acked)
{
    return (void)c, (void)delta, (void)acked, false;
}
#endif

#if WEIR_CFG_TCP_LOSS_RECOVERY
struct undo {
    uint32_t from, to;   // snd.una and snd.nxt when the last reduction came
    uint32_t bytes;      // sent again since then and not reported as duplicate
    uint32_t resent_ms;  // when the first of them went: our timestamps' clock
    bool possible;       // the reduction may yet turn out spurious
    bool resent;         // resent_ms is known
    bool mixed;          // something in flight then had been sent again before
};
void tcp_undo_begin(struct tcp_conn *c);  // a reduction
void tcp_undo_resent(const struct weir *weir, struct tcp_conn *c, uint32_t bytes);
void tcp_undo_duplicate(struct tcp_conn *c, uint32_t left, uint32_t right);  // the peer had this already
// What was sent again was sent for nothing, or nothing was: duplicates reported, or recovery ended without.
bool tcp_undo_due(const struct tcp_conn *c);
// `acked` bytes, some of them sent again, are acknowledged for the first time since: was that drawn by a first
// transmission (RFC 3522 §3.2, step 4)?
bool tcp_undo_echo(const struct tcp_conn *c, const struct tcp_segment *segment, uint32_t acked);
void tcp_undo_done(struct tcp_conn *c);
#else
static inline void tcp_undo_begin(struct tcp_conn *c) { (void)c; }
static inline void tcp_undo_resent(const struct weir *weir, struct tcp_conn *c, uint32_t bytes)
{
    (void)weir, (void)c, (void)bytes;
}
static inline void tcp_undo_duplicate(struct tcp_conn *c, uint32_t left, uint32_t right)
{
    (void)c, (void)left, (void)right;
}
static inline bool tcp_undo_due(const struct tcp_conn *c) { return (void)c, false; }
static inline bool tcp_undo_echo(const struct tcp_conn *c, const struct tcp_segment *segment, uint32_t acked)
{
    return (void)c, (void)segment, (void)acked, false;
}
static inline void tcp_undo_done(struct tcp_conn *c) { (void)c; }
#endif

#endif
