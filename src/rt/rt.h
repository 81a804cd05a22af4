// SPDX-License-Identifier: BSD-2-Clause
// The real-time policies and the contract they are held to: a policy sees plain numbers of a connection's receiving
// side (struct rt_line) and answers with what it wants done (struct rt_order); src/tcp/realtime.c fills in the one and
// carries out the other. It never touches the connection. What is present is a question to the line; times are the low
// 32 bits of the clock, in µs; positions are sequence numbers.
#ifndef RT_RT_H
#define RT_RT_H

#include "base/intervals.h"
#include "weir/realtime.h"

struct rt_line {
    uint32_t now_us;
    uint64_t clock_us;               // the same, in full
    uint32_t una;                    // first byte in the queue
    uint32_t nxt;                    // RCV.NXT: what is before it came, or was passed over
    uint32_t edge;                   // of the window as it was last told
    uint32_t would;                  // the edge that an ACK would tell now
    uint32_t fin;                    // where the stream ends, if `ended`
    const struct intervals *beyond;  // what came behind a hole; NULL: nothing
    uint32_t segment_bytes;          // a full segment of the peer's
    uint32_t limit_bytes;            // of the receive queue, with what is held back
    uint32_t srtt_us;                // of the connection, from the handshake or data sent; 0: none
    bool ended;                      // a FIN came
    bool sack;
};

struct rt_order {  // zero: nothing
    uint32_t nxt;  // with `move`: RCV.NXT from now on. What is before it is passed over, or (skip2009.c) taken back
    uint32_t hold_bytes;
    uint32_t wake_us;   // with `wake`: call `time` then
    uint32_t quiet_us;  // so long the acknowledgement of what came may wait; 0: not at all
    uint8_t acks;       // to send at once
    uint8_t reason;     // enum weir_realtime_update, of them
    bool move, wake;
    bool readable;
};

// A segment that came, as far as it was acceptable.
struct rt_news {
    uint32_t seq, length;
    uint32_t seen;     // rt->seen before it
    uint32_t echo_us;  // how long ago the ACK was sent whose timestamp it echoes; 0: it does not
};

struct rt;
struct rt_policy {
    bool waits;        // for a frame that is late (regular TCP)
    bool reads_clock;  // each read is a deadline
    // a frame was taken, or given up
    void (*read)(struct rt *rt, const struct rt_line *line, bool whole, struct rt_order *order);
    void (*heard)(struct rt *rt, const struct rt_line *line, const struct rt_news *news, struct rt_order *order);
    // the peer is about to send `seq` < nxt
    void (*unsent)(struct rt *rt, const struct rt_line *line, uint32_t seq, struct rt_order *order);
    void (*time)(struct rt *rt, const struct rt_line *line, struct rt_order *order);
    void (*told)(struct rt *rt, const struct rt_line *line, uint32_t old_edge);  // an ACK left
};
extern const struct rt_policy rt_skip2009, rt_regular, rt_weir;
extern const struct rt_policy rt_skip_by_deadline;  // as rt_skip2009, of frames that have deadlines
// Of Weir's mode: its own, or, where that could not carry the stream, Embedded Xinu's mechanism.
const struct rt_policy *rt_weir_policy(const struct weir_realtime *settings, const struct rt_line *line);

struct rt {
    const struct rt_policy *policy;
    struct weir_realtime settings;
    struct weir_realtime_stats stats;
    uint64_t deadline_us;  // of the next frame; 0: none
    uint32_t frame;        // its number, and first byte
    uint32_t frame_seq;
    uint32_t seen;       // the highest sequence number after data that came
    uint32_t told_edge;  // of the last ACK
    uint32_t held_bytes;
    uint32_t wake_us, due_us;  // the policy's, and with the deadline: the timer's
    bool wake, armed;
    bool late;                           // the deadline passed and it was not whole
    bool lacked;                         // at or after the deadline it was not whole when last looked at
    bool announced;                      // READABLE was said for it
    uint32_t missed_in_row, met_in_row;  // deadlines
    bool behind;                         // the sender is, so a frame is put off
    uint8_t acks_left, acks_reason;
    // weir.c, path.c, need.c
    uint32_t hole_us, hole_nxt;  // when the hole at hole_nxt was seen
    uint32_t hole_end;           // how far data had come then: holes before it are as old
    uint32_t opened_us;          // when window was last opened to a sender that had used all it had
    uint32_t opened_edge;        // the edge before that: what it opened begins here
    uint32_t asked_us;           // when anything last came that was missing, or was asked for
    uint32_t again_us;           // when to send the last ACK once more
    int32_t early_us;            // how long before their deadlines frames come, the earliest of late
    uint32_t rtt_us[3];          // smallest of this period, of the one before; the newest
    uint32_t rtt_since_us;       // when the period began
    uint32_t fill_us;            // the shortest time in which a hole was filled; 0: none was
    uint32_t quiet_us;           // with `quiet`: until then the last acknowledgement waits for the segment behind it
    bool hole, opened, sampling, again, quiet;
    bool hasty;  // the sender does not bear it
    uint8_t repeats;
};

// --- what is there ---------------------------------------------------------------------------------------------------
static inline bool rt_present(const struct rt_line *line, uint32_t seq, uint32_t bytes)
{
    const uint32_t end = seq + bytes;
    return seq_le(end, line->nxt) ||
           (line->beyond && intervals_covers(line->beyond, seq_max(seq, line->nxt), end) && seq_le(line->una, seq));
}
// Of the next frame: its length, less at the end of the stream (0: there is no more).
static inline uint32_t rt_frame_bytes(const struct rt *rt, const struct rt_line *line)
{
    const uint32_t bytes = rt->settings.frame_bytes;
    if (!line->ended || seq_le(rt->frame_seq + bytes, line->fin))
        return bytes;
    return seq_lt(rt->frame_seq, line->fin) ? line->fin - rt->frame_seq : 0;
}
// At the end of the stream: all before it came, or was passed over. The frame itself may lie beyond it, when the sender
// fell behind.
static inline bool rt_whole(const struct rt *rt, const struct rt_line *line)
{
    const uint32_t bytes = rt_frame_bytes(rt, line);
    return seq_le(line->una, rt->frame_seq) &&
           (bytes ? rt_present(line, rt->frame_seq, bytes) : seq_le(line->fin, line->nxt));
}
// As far as the sender will go in the window up to `edge`: less than a segment's worth of it it lets lie (RFC 9293
// §3.8.6.2.1).
static inline uint32_t rt_usable(const struct rt *rt, const struct rt_line *line, uint32_t edge)
{
    const uint32_t left = seq_lt(rt->seen, edge) ? edge - rt->seen : 0;
    return edge - left % max_u32(line->segment_bytes, 1);
}

// --- frame.c: frames and their deadlines -----------------------------------------------------------------------------
void rt_begin(struct rt *rt, const struct weir_realtime *settings, const struct rt_line *line);
// What a read would say: bytes, WEIR_SKIPPED, WEIR_AGAIN, 0 at the end; *frame is filled in.
int rt_judge(struct rt *rt, const struct rt_line *line, struct weir_realtime_frame *frame);
// The frame was handed out, or given up, as *frame says: counts it; the next one is next.
void rt_take(struct rt *rt, const struct rt_line *line, const struct weir_realtime_frame *frame, int verdict);
bool rt_readable(struct rt *rt, const struct rt_line *line);

// --- path.c: what the receiver learns of round trip and loss ---------------------------------------------------------
uint32_t rt_round_trip(const struct rt *rt, const struct rt_line *line);  // the smallest of late, µs; never 0
void rt_path_told(struct rt *rt, const struct rt_line *line, uint32_t old_edge);
void rt_path_heard(struct rt *rt, const struct rt_line *line, const struct rt_news *news);
void rt_path_lost(struct rt *rt, uint32_t segments);
static inline bool rt_lossy(const struct rt *rt) { return rt->stats.loss_ppm > 4000; }

// --- need.c: when an update, or an acknowledgement once more, is needed ----------------------------------------------
// µs from now until the deadline of the frame that holds `seq`; INT32_MAX: it has none, or it is far away.
int32_t rt_time_left(const struct rt *rt, const struct rt_line *line, uint32_t seq);
void rt_need(struct rt *rt, const struct rt_line *line, struct rt_order *order);
void rt_need_heard(struct rt *rt, const struct rt_line *line, const struct rt_news *news);
static inline void rt_acknowledge(struct rt_order *order, uint8_t acks, enum weir_realtime_update reason)
{
    if (order->acks >= acks)
        return;
    order->acks = acks;
    order->reason = (uint8_t)reason;
}
// An acknowledgement left that was not ordered. Where one waits, something came again that was there: the sender
// repeats what it hears nothing of.
static inline void rt_answered(struct rt *rt, const struct rt_line *line)
{
    rt->hasty |= rt->quiet && seq_lt(line->now_us, rt->quiet_us);
}
static inline void rt_wake_at(struct rt_order *order, uint32_t at_us)
{
    if (!order->wake || seq_lt(at_us, order->wake_us))
        order->wake_us = at_us;
    order->wake = true;
}

#endif
