// SPDX-License-Identifier: BSD-2-Clause
// Sending with a deadline (WEIR_OPTION_SEND_DEADLINE_US): what is written is of use for so long. Plain TCP on the wire,
// to any peer:
//   bundles      a segment of new data begins with the older data that is not acknowledged yet and fits before it: what
//                one loss took, the next segment brings, without waiting for a round trip
//   chances      what is unacknowledged when its acknowledgement should have come is sent again: when half a round trip
//                is left until its deadline, and when a round trip has passed without news (then two, four: behind a
//                queue that has grown nothing is lost, and repeating it would feed the queue); no more than a segment
//                each
//   the timeout  is max(2 SRTT, 30 ms), and is not doubled before the deadline of what waits has passed (as of thin
//                streams elsewhere)
// The network is not deceived: more bytes go, but not more segments than frames and losses ask for, all within the
// peer's window; what is sent again counts for pacing and PRR; and a loss that a bundle or a chance has mended is told
// to the congestion control, once a round trip, like that behind a tail-loss probe (RFC 8985 §7.4.2). Data is never
// left out: a peer that reads in order gets all of it.
#ifndef TCP_DEADLINE_H
#define TCP_DEADLINE_H

#include "base/bytes.h"
#include "weir/error.h"
#include "weir/options.h"

struct weir;
struct tcp_conn;
struct tcp_segment;
struct flight_delta;

#define DEADLINE_MOST_US 10000000u  // 10 s: anything later is no deadline

#if WEIR_CFG_REALTIME_SENDER
// In struct tcp_extra, which a connection with a deadline keeps.
struct tcp_deadline {
    uint32_t us;        // of what is written, from when it is first sent; 0: none, and nothing below is meaningful
    uint32_t sent_us;   // when a segment that began at snd.una was last sent
    uint32_t carried;   // the end of that segment
    uint32_t given;     // what ends at or below it has had its last chance
    uint32_t repeated;  // snd.nxt at the last chance: acknowledgements of what is below say nothing of the round trip
    uint32_t round;     // a loss that was mended is told once until snd.una reaches it
    uint8_t doubled;  // how often the time that an acknowledgement is given was doubled since a round trip was measured
    bool due;         // output gives a chance next
    bool chance;      // `repeated` is meaningful: snd.una is below it
    bool told;        // `round` is meaningful
};

// Of a connection with a deadline (tcp_deadline_on), all but those of the option: one without is asked for that alone.
// The first byte of a segment of new data up to `end` with room for `most` bytes.
uint32_t tcp_deadline_bundle(const struct tcp_conn *c, uint32_t end, uint32_t most);
// What a chance that is due sends. false: none is.
bool tcp_deadline_due(const struct tcp_conn *c, uint32_t *start, uint32_t *end);
// a segment left
void tcp_deadline_left(const struct weir *weir, struct tcp_conn *c, uint32_t seq, uint32_t end, bool chance);
// µs until the next chance; 0: none.
uint32_t tcp_deadline_wait(const struct weir *weir, const struct tcp_conn *c);
void tcp_deadline_fire(struct weir *weir, struct tcp_conn *c);
bool tcp_deadline_ahead(const struct weir *weir, const struct tcp_conn *c);  // of what waits for its acknowledgement
uint32_t tcp_deadline_rto(const struct tcp_conn *c);                         // µs, after back-off
// An acknowledgement that advances snd.una comes: whether it shows that a loss was mended. Before the log hears of it.
bool tcp_deadline_loss_repaired(const struct tcp_conn *c, const struct tcp_segment *segment);
// After the log has heard of it: takes from it what it does not tell of the round trip.
void tcp_deadline_acked(struct tcp_conn *c, struct flight_delta *delta);
void tcp_deadline_sampled(struct tcp_conn *c);                  // a round trip was measured
void tcp_deadline_tell(struct weir *weir, struct tcp_conn *c);  // the congestion control hears of the loss
int tcp_deadline_set(struct weir *weir, struct tcp_conn *c, uint32_t us);
int32_t tcp_deadline_get(const struct tcp_conn *c);
#else
static inline uint32_t tcp_deadline_bundle(const struct tcp_conn *c, uint32_t end, uint32_t most)
{
    return (void)c, (void)most, end;
}
static inline bool tcp_deadline_due(const struct tcp_conn *c, uint32_t *start, uint32_t *end)
{
    return (void)c, (void)start, (void)end, false;
}
static inline void tcp_deadline_left(const struct weir *weir, struct tcp_conn *c, uint32_t seq, uint32_t end,
                                     bool chance)
{
    (void)weir, (void)c, (void)seq, (void)end, (void)chance;
}
static inline uint32_t tcp_deadline_wait(const struct weir *weir, const struct tcp_conn *c)
{
    return (void)weir, (void)c, 0;
}
static inline void tcp_deadline_fire(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
static inline bool tcp_deadline_ahead(const struct weir *weir, const struct tcp_conn *c)
{
    return (void)weir, (void)c, false;
}
static inline uint32_t tcp_deadline_rto(const struct tcp_conn *c) { return (void)c, 0; }
static inline bool tcp_deadline_loss_repaired(const struct tcp_conn *c, const struct tcp_segment *segment)
{
    return (void)c, (void)segment, false;
}
static inline void tcp_deadline_acked(struct tcp_conn *c, struct flight_delta *delta) { (void)c, (void)delta; }
static inline void tcp_deadline_sampled(struct tcp_conn *c) { (void)c; }
static inline void tcp_deadline_tell(struct weir *weir, struct tcp_conn *c) { (void)weir, (void)c; }
#endif

#endif
