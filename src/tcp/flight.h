// SPDX-License-Identifier: BSD-2-Clause
// What is done to the flight log, and what it tells.
#ifndef TCP_FLIGHT_H
#define TCP_FLIGHT_H

#include "tcp/flight_log.h"

// Whether what ends at `end` and was sent at `sent_us` left after the other (RFC 8985 §6.1, RACK_sent_after).
static inline bool flight_sent_after(uint32_t sent_us, uint32_t end, uint32_t other_us, uint32_t other_end)
{
    return sent_us == other_us ? seq_lt(other_end, end) : seq_lt(other_us, sent_us);
}

// Allocator builds: a log begins with 8 records, in memory of flight_first_bytes, and may move to a larger place
// (attach.h).
size_t flight_first_bytes(void);
size_t flight_bytes(const struct flight *flight);  // of the place where it is now
void flight_begin(struct flight *flight, uint32_t start);
void flight_init(struct flight *flight, uint16_t capacity, uint32_t start);

#if WEIR_CFG_TCP_RATE
// The record is sent now.
static inline void flight_stamp(const struct flight *f, struct flight_record *r)
{
    if (f->unstamped)
        return;
    r->stamp = (struct flight_stamp){f->start + f->sacked, f->delivered_us, f->first_sent_us};
}
// The record is the only one in flight: the intervals of delivery begin with it.
static inline void flight_stamp_first(struct flight *f, uint32_t now_us)
{
    if (f->unstamped)
        return;
    f->delivered_us = now_us & ~FLIGHT_FLAGS;
    f->first_sent_us = f->delivered_us | (f->first_sent_us & FLIGHT_APP_LIMITED);
}
// The record is the newest that was delivered.
static inline void flight_stamp_take(struct flight_delta *delta, const struct flight_record *r)
{
    delta->stamp = r->stamp;
    delta->newest_end = r->sent & FLIGHT_RETRANSMITTED ? r->stamp.delivered : r->end;
}
static inline bool flight_stamped(const struct flight *f) { return !f->unstamped; }
#elif WEIR_CFG_TCP_SACK
static inline void flight_stamp(const struct flight *f, struct flight_record *r) { (void)f, (void)r; }
static inline void flight_stamp_first(struct flight *f, uint32_t now_us) { (void)f, (void)now_us; }
static inline void flight_stamp_take(struct flight_delta *delta, const struct flight_record *r)
{
    (void)delta, (void)r;
}
#endif

#if !WEIR_CFG_TCP_RATE
static inline bool flight_stamped(const struct flight *f) { return (void)f, false; }
#endif

#if WEIR_CFG_TCP_SACK
static inline uint32_t flight_end(const struct flight *f)
{
    return f->count ? f->record[f->head + f->count - 1].end : f->start;
}
// Record `index`, its first byte, and when it was sent.
static inline struct flight_record *flight_at(struct flight *f, uint32_t index) { return &f->record[f->head + index]; }
static inline uint32_t flight_record_start(const struct flight *f, uint32_t index)
{
    return index ? f->record[f->head + index - 1].end : f->start;
}
static inline uint32_t flight_time(uint32_t sent) { return sent & ~FLIGHT_FLAGS; }
static inline bool flight_any_resent(const struct flight *f) { return f->retransmitted != 0; }
#if WEIR_CFG_ALLOCATOR
// The search for what is LOST may begin here.
static inline uint32_t flight_first_lost(const struct flight *f)
{
    return f->lost ? seq_max(f->start, f->marks.first_lost) : f->start;
}
// Whether something may have been sent again at this time or before, and is neither SACKED nor LOST.
static inline bool flight_resent_since(const struct flight *f, uint32_t sent_us)
{
    return f->marks.resent_out && seq_le(f->marks.resent_us, sent_us);
}
// So many bytes may be in flight, in segments of `mss`.
static inline uint32_t flight_bytes_most(uint32_t mss) { return FLIGHT_RECORDS_MAX * mss; }
static inline void flight_resent_none(struct flight *f) { f->marks.resent_out = false; }
static inline void flight_resent_note(struct flight *f, uint32_t sent_us)
{
    if (!f->marks.resent_out || seq_lt(sent_us, f->marks.resent_us))
        f->marks.resent_us = sent_us;
    f->marks.resent_out = true;
}
static inline void flight_lost_note(struct flight *f, uint32_t start)
{
    f->marks.first_lost = f->lost ? seq_min(f->marks.first_lost, start) : start;
}
// Nothing is LOST in [from, until).
static inline void flight_lost_passed(struct flight *f, uint32_t from, uint32_t until)
{
    if (seq_le(from, f->marks.first_lost) && seq_lt(f->marks.first_lost, until))
        f->marks.first_lost = until;
}
#else  // a log of a few records is searched from its beginning, and its queues keep what is in flight low
static inline uint32_t flight_bytes_most(uint32_t mss) { return (void)mss, UINT32_MAX; }
static inline uint32_t flight_first_lost(const struct flight *f) { return f->start; }
static inline bool flight_resent_since(const struct flight *f, uint32_t sent_us)
{
    return (void)f, (void)sent_us, true;
}
static inline void flight_resent_none(struct flight *f) { (void)f; }
static inline void flight_resent_note(struct flight *f, uint32_t sent_us) { (void)f, (void)sent_us; }
static inline void flight_lost_note(struct flight *f, uint32_t start) { (void)f, (void)start; }
static inline void flight_lost_passed(struct flight *f, uint32_t from, uint32_t until)
{
    (void)f, (void)from, (void)until;
}
#endif
// The record with which a search for what was sent once, and is neither SACKED nor LOST, may begin.
uint32_t flight_first_plain(const struct flight *flight);
// Bytes sent again and neither known to have come nor thought to be lost once more.
static inline uint32_t flight_resent_out(struct flight *f)
{
    uint32_t bytes = 0;
    for (uint32_t index = 0; index < f->count; index++)
        if ((flight_at(f, index)->sent & FLIGHT_FLAGS) == FLIGHT_RETRANSMITTED)
            bytes += flight_at(f, index)->end - flight_record_start(f, index);
    return bytes;
}
// Marks record `index` LOST unless it is SACKED, also when it was sent again. Returns the bytes newly lost.
uint32_t flight_lose(struct flight *flight, uint32_t index);
// Nothing is LOST: it was late (RFC 5682, RFC 3522).
void flight_unlose(struct flight *flight);
#else
static inline uint32_t flight_end(const struct flight *f) { return f->end; }
static inline uint32_t flight_bytes_most(uint32_t mss) { return (void)mss, UINT32_MAX; }
static inline uint32_t flight_first_lost(const struct flight *f) { return f->start; }
static inline bool flight_any_resent(const struct flight *f) { return seq_lt(f->start, f->resent_end); }
static inline uint32_t flight_resent_out(const struct flight *f)
{
    const uint32_t resent = seq_lt(f->start, f->resent_end) ? f->resent_end - f->start : 0;
    return resent - min_u32(resent, f->lost);
}
static inline void flight_unlose(struct flight *f) { f->lost = 0; }
#endif
static inline uint32_t flight_outstanding(const struct flight *f) { return flight_end(f) - f->start; }
// RFC 6675 pipe: bytes thought to be in the network.
static inline uint32_t flight_pipe(const struct flight *f) { return flight_outstanding(f) - f->sacked - f->lost; }

// Whether the log agrees with the connection: it covers [una, nxt), and no more of it is SACKED and LOST than there is.
// False can only be a fault of this program; memory must not be read by such numbers.
static inline bool flight_sound(const struct flight *f, uint32_t una, uint32_t nxt)
{
    return f->start == una && flight_end(f) == nxt && f->sacked <= nxt - una && f->lost <= nxt - una - f->sacked;
}

// Makes sure that flight_sent will succeed; may move the log (*flight). false: full, wait as if cwnd-limited.
#if WEIR_CFG_TCP_SACK
bool flight_make_room(struct memory *memory, struct flight **flight, uint32_t now_us);
static inline bool flight_room(struct memory *memory, struct flight **flight, uint32_t now_us)
{
    const struct flight *f = *flight;
    return f->head + f->count < f->capacity || flight_make_room(memory, flight, now_us);
}
#else
static inline bool flight_room(struct memory *memory, struct flight **flight, uint32_t now_us)
{
    (void)memory, (void)flight, (void)now_us;
    return true;
}
#endif
// New data up to `end` was sent now; joins the last record when that was sent in the same burst (same now, no flags).
#if WEIR_CFG_TCP_SACK
static inline void flight_sent(struct flight *f, uint32_t end, uint32_t now_us)
{
    struct flight_record *next = flight_at(f, f->count);
    if (f->count == 0)
        flight_stamp_first(f, now_us);
    if (f->count == 0 || next[-1].sent != flight_time(now_us)) {
        next->sent = flight_time(now_us);
        flight_stamp(f, next);
        f->count++;
        next++;
    }
    next[-1].end = end;
}
#else
void flight_sent(struct flight *flight, uint32_t end, uint32_t now_us);
#endif
// Everything below `una` is acknowledged. Adds to *delta (the caller zeroes it).
void flight_acked(struct flight *flight, uint32_t una, struct flight_delta *delta);
#if WEIR_CFG_TCP_SACK
// No record has any flag: flight_acked_plain will do for flight_acked. All it has to tell is the newest record that is
// acknowledged, in part at least, which is good until the log is changed; *known: it says when that was sent well
// enough for the round-trip time.
static inline bool flight_plain(const struct flight *f) { return !(f->sacked | f->lost | f->retransmitted); }
static inline const struct flight_record *flight_acked_plain(struct flight *f, uint32_t una, bool *known)
{
    const struct flight_record *r = &f->record[f->head];
    const uint32_t count = f->count;
    uint32_t index = 0, start = f->start;
    for (; index < count && seq_le(r->end, una); index++, r++)
        start = r->end;
    *known = true;
    f->count = (uint16_t)(count - index);
    f->head = index == count ? 0 : (uint16_t)(f->head + index);
    if (index == count) {
        r--;
    } else if (start == una) {
        r--;
    } else {  // part of a record, which knows when its last byte was sent: joined ones say nothing of the others
        *known = index || !seq_lt(start, f->coarse);
        r -= seq_lt(start, f->coarse) && index;
        f->coarse = seq_lt(start, f->coarse) ? f->coarse : una;
    }
    f->start = f->fack = f->detected = una;
    return r;
}
// What there is to say of it: `acked` bytes.
static inline struct flight_delta flight_plain_delta(const struct flight_record *r, bool known, uint32_t acked)
{
    struct flight_delta delta = {
        .delivered = acked, .rtt_sent_us = r->sent, .newest_sent_us = r->sent, .rtt_valid = known};
    flight_stamp_take(&delta, r);
    return delta;
}
// [left, right) is SACKed (within start..end; the caller checked). Adds to *delta. Work: a binary search, and the
// records covered.
void flight_sacked(struct memory *memory, struct flight **flight, uint32_t left, uint32_t right,
                   struct flight_delta *delta);
// RFC 6675 IsLost for every record never retransmitted: lost when more than 2 * mss bytes, or 3 separate ranges, above
// it are SACKED. Adds to delta->newly_lost.
void flight_detect(struct flight *flight, uint32_t mss, struct flight_delta *delta);
#endif
#if !WEIR_CFG_TCP_SACK
static inline bool flight_plain(const struct flight *f) { return !f->lost && !flight_any_resent(f); }
static inline const struct flight_record *flight_acked_plain(struct flight *f, uint32_t una, bool *known)
{
    return (void)f, (void)una, (void)known, NULL;
}
static inline struct flight_delta flight_plain_delta(const struct flight_record *r, bool known, uint32_t acked)
{
    return (void)r, (void)known, (struct flight_delta){.delivered = acked};
}
#endif
// The first record becomes LOST up to `mss` bytes (fast retransmit without SACK; NewReno partial ACK), even if
// retransmitted before.
void flight_lose_first(struct memory *memory, struct flight **flight, uint32_t mss, struct flight_delta *delta);
// After a retransmission timeout: everything not SACKED is LOST. If the first record is SACKED the peer has reneged:
// SACKED is forgotten first. Returns the bytes newly lost.
uint32_t flight_lose_all(struct flight *flight);
// The first LOST range at or after `from` (of a few neighbouring records at the most: call again); false: none.
bool flight_next_lost(struct flight *flight, uint32_t from, uint32_t *start, uint32_t *end);
// [start, end), LOST, was sent again now: RETRANSMITTED, no longer LOST. Splits as needed; if a split is refused the
// whole record counts.
void flight_resent(struct memory *memory, struct flight **flight, uint32_t start, uint32_t end, uint32_t now_us);

#endif
