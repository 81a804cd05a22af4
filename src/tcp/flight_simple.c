// SPDX-License-Identifier: BSD-2-Clause
// The flight log of builds without SACK. Every call is O(1).
#include "tcp/flight.h"

// For proofs: fewer than 2^31 bytes are in flight, what is LOST lies among them, and so does what was sent again.
/*@ predicate flight_simple(struct flight *f) =
      \valid(f) && seq_off(f->start, f->end) < 2147483648 &&
      (f->lost == 0 || seq_off(f->start, f->lost_from) + f->lost <= seq_off(f->start, f->end)) &&
      seq_off(f->start, f->resent_end) <= seq_off(f->start, f->end); */

void flight_init(struct flight *f, uint16_t capacity, uint32_t start)
{
    (void)capacity;
    memset(f, 0, sizeof *f);
    f->start = f->end = f->lost_from = f->resent_end = start;
}

#if WEIR_CFG_ALLOCATOR
size_t flight_first_bytes(void) { return sizeof(struct flight); }
size_t flight_bytes(const struct flight *f) { return sizeof *f; }
void flight_begin(struct flight *f, uint32_t start) { flight_init(f, 0, start); }
#endif

/*@ requires flight_simple(f) && seq_off(f->start, f->end) <= seq_off(f->start, end) < 2147483648;
    assigns f->end, f->timing, f->timed_end, f->timed_us;
    ensures flight_simple(f) && f->end == end; */
void flight_sent(struct flight *f, uint32_t end, uint32_t now_us)
{
    f->end = end;
    if (f->timing)
        return;
    f->timing = true;
    f->timed_end = end;
    f->timed_us = now_us;
}

// […, end) is LOST no more.
/*@ requires \valid(f);
    assigns f->lost, f->lost_from;
    ensures below: seq_off(end, \old(f->lost_from)) < 2147483648 ==>
      f->lost == \old(f->lost) && f->lost_from == \old(f->lost_from);
    ensures found: seq_off(end, \old(f->lost_from)) >= 2147483648 ==> f->lost_from == end &&
      f->lost == \max(0, \old(f->lost) - seq_off(\old(f->lost_from), end)); */
static void flight_found(struct flight *f, uint32_t end)
{
    if (!seq_lt(f->lost_from, end))
        return;
    f->lost -= min_u32(f->lost, end - f->lost_from);
    f->lost_from = end;
}

/*@ requires flight_simple(f) && \valid(&delta->delivered) && \valid(&delta->retransmitted_acked) &&
      \valid(&delta->rtt_valid) && \valid(&delta->rtt_sent_us) && \valid(&delta->newest_sent_us) &&
      \separated(f, delta);
    assigns f->start, f->end, f->lost_from, f->lost, f->resent_end, f->timing, delta->delivered,
      delta->retransmitted_acked, delta->rtt_valid, delta->rtt_sent_us, delta->newest_sent_us;
    ensures flight_simple(f);
    ensures 0 < seq_off(\old(f->start), una) < 2147483648 ==> f->start == una; */
void flight_acked(struct flight *f, uint32_t una, struct flight_delta *delta)
{
    if (!seq_lt(f->start, una))
        return;
    delta->delivered += una - f->start;
    // Karn: an ACK that waited for a retransmission times nothing.
    const bool resent = seq_lt(f->start, f->resent_end);
    delta->retransmitted_acked |= resent;
    if (f->timing && seq_le(f->timed_end, una)) {
        f->timing = false;
        delta->rtt_valid = !resent;
        delta->rtt_sent_us = delta->newest_sent_us = f->timed_us;
    }
    f->start = una;
    f->end = seq_max(f->end, una);
    f->resent_end = seq_max(f->resent_end, una);
    flight_found(f, una);
}

// [start, end) is LOST, with what was already.
/*@ requires flight_simple(f) && seq_off(f->start, end) <= seq_off(f->start, f->end);
    assigns f->lost_from, f->lost, f->timing;
    ensures flight_simple(f) && f->lost == \old(f->lost) + \result && f->lost >= seq_off(f->start, end); */
static uint32_t flight_lose(struct flight *f, uint32_t end)
{
    const uint32_t before = f->lost;
    if (before)
        end = seq_max(end, f->lost_from + before);
    f->lost_from = f->start;
    f->lost = end - f->start;
    f->timing = false;
    return f->lost - before;
}

/*@ requires \valid_read(flight) && flight_simple(*flight) && \valid(delta);
    requires \separated(*flight, delta) && \separated(flight, *flight) && \separated(flight, delta);
    assigns (*flight)->lost_from, (*flight)->lost, (*flight)->timing, delta->newly_lost;
    ensures flight_simple(*flight); */
void flight_lose_first(struct memory *memory, struct flight **flight, uint32_t mss, struct flight_delta *delta)
{
    struct flight *f = *flight;
    (void)memory;
    if (f->lost == 0 || f->lost_from != f->start)
        delta->newly_lost += flight_lose(f, f->start + min_u32(mss, f->end - f->start));
}

/*@ requires flight_simple(f);
    assigns f->lost_from, f->lost, f->timing;
    ensures flight_simple(f) && f->lost == seq_off(f->start, f->end) && f->lost == \old(f->lost) + \result; */
uint32_t flight_lose_all(struct flight *f) { return flight_lose(f, f->end); }

/*@ requires flight_simple(f) && \valid(start) && \valid(end) && \separated(f, start, end);
    assigns *start, *end;
    ensures \result ==> seq_off(f->start, *start) < seq_off(f->start, *end) <= seq_off(f->start, f->end); */
bool flight_next_lost(struct flight *f, uint32_t from, uint32_t *start, uint32_t *end)
{
    *start = seq_max(from, f->lost_from);
    *end = f->lost_from + f->lost;
    return f->lost && seq_in(*start, f->lost_from, *end);
}

/*@ requires \valid_read(flight) && flight_simple(*flight) && \separated(flight, *flight);
    assigns (*flight)->lost, (*flight)->lost_from, (*flight)->resent_end, (*flight)->timing;
    ensures flight_simple(*flight); */
void flight_resent(struct memory *memory, struct flight **flight, uint32_t start, uint32_t end, uint32_t now_us)
{
    struct flight *f = *flight;
    (void)memory, (void)now_us;
    if (!seq_in(start, f->start, f->end) || !seq_in(end, start + 1, f->end + 1))
        return;
    if (seq_le(start, f->lost_from))
        flight_found(f, end);
    f->resent_end = seq_max(f->resent_end, end);
    f->timing = false;
}
