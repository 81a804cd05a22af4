// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small small6
// The flight log against a model that keeps one entry a byte, with logs so small that joins and refusals happen all the
// time; and the rules of Karn, RFC 6675 and NewReno one by one.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "tcp/flight.h"

#define MSS 100u

// The only part of base/memory.h that is needed: an allocator that can be told to fail.
static long got_bytes;
static bool refuse;
static void give_back(void *pointer, size_t bytes)
{
    got_bytes -= (long)bytes;
    free(pointer);
}
#if WEIR_CFG_ALLOCATOR
void *memory_get(struct memory *memory, size_t bytes)
{
    (void)memory;
    if (refuse)
        return NULL;
    got_bytes += (long)bytes;
    return malloc(bytes);
}
void memory_put(struct memory *memory, void *pointer, size_t bytes)
{
    (void)memory;
    give_back(pointer, bytes);
}
#endif

static struct flight *make(uint16_t capacity, uint32_t start)
{
    struct flight *f = malloc(sizeof *f + capacity * sizeof f->record[0]);
    got_bytes += (long)(sizeof *f + capacity * sizeof f->record[0]);
    flight_init(f, capacity, start);
    return f;
}
static void drop(struct flight *f)
{
    give_back(f, sizeof *f + f->capacity * sizeof f->record[0]);
    assert_int_equal(got_bytes, 0);
}

// The marks from which a search begins pass over nothing that it looks for.
static void check_marks(const struct flight *f)
{
    for (uint32_t i = 0; i < f->count; i++) {
        const uint32_t sent = f->record[f->head + i].sent, start = flight_record_start(f, i);
        assert_true(sent & FLIGHT_FLAGS || seq_le(seq_max(f->start, f->detected), start));
        assert_true(!(sent & FLIGHT_LOST) || seq_le(flight_first_lost(f), start));
        assert_true((sent & FLIGHT_FLAGS) != FLIGHT_RETRANSMITTED || flight_resent_since(f, flight_time(sent)));
    }
}

// What must hold of any log.
static void check(const struct flight *f)
{
    check_marks(f);
    uint32_t start = f->start, sacked = 0, lost = 0, retransmitted = 0, fack = f->start;
    assert_true(f->head + f->count <= f->capacity);
    for (uint32_t i = 0; i < f->count; i++) {
        const struct flight_record r = f->record[f->head + i];
        assert_true(seq_lt(start, r.end));
        assert_false((r.sent & FLIGHT_SACKED) && (r.sent & FLIGHT_LOST));
        if (r.sent & FLIGHT_SACKED) {
            sacked += r.end - start;
            fack = r.end;
        }
        lost += r.sent & FLIGHT_LOST ? r.end - start : 0;
        retransmitted += (r.sent & FLIGHT_RETRANSMITTED) != 0;
        start = r.end;
    }
    assert_int_equal(f->sacked, sacked);
    assert_int_equal(f->lost, lost);
    assert_int_equal(f->retransmitted, retransmitted);
    assert_int_equal(f->fack, fack);
    assert_int_equal(flight_end(f), start);
    assert_int_equal(flight_pipe(f), flight_outstanding(f) - sacked - lost);
}

static uint32_t flags_at(const struct flight *f, uint32_t seq)
{
    for (uint32_t i = 0; i < f->count; i++)
        if (seq_lt(seq, f->record[f->head + i].end))
            return f->record[f->head + i].sent & FLIGHT_FLAGS;
    return 0;
}

static void send_segments(struct flight **f, uint32_t count, uint32_t now_us)
{
    for (uint32_t i = 0; i < count; i++) {
        assert_true(flight_room(NULL, f, now_us));
        flight_sent(*f, flight_end(*f) + MSS, now_us);
    }
}

static void a_burst_is_one_record(void **state)
{
    (void)state;
    struct flight *f = make(4, 0xffffff00u);
    send_segments(&f, 10, 8000);
    assert_int_equal(f->count, 1);
    send_segments(&f, 1, 16000);
    assert_int_equal(f->count, 2);
    assert_int_equal(flight_outstanding(f), 11 * MSS);
    check(f);
    drop(f);
}

static void an_acknowledgement_gives_the_newest_time(void **state)
{
    (void)state;
    struct flight *f = make(8, 0);
    for (uint32_t i = 1; i <= 3; i++)
        send_segments(&f, 1, 8000 * i);
    struct flight_delta delta = {0};
    flight_acked(f, 2 * MSS, &delta);
    assert_int_equal(delta.delivered, 2 * MSS);
    assert_true(delta.rtt_valid);
    assert_int_equal(delta.rtt_sent_us, 16000);
    assert_int_equal(delta.newest_sent_us, 16000);
    assert_false(delta.retransmitted_acked);
    check(f);
    // A part of a burst is a sample too …
    delta = (struct flight_delta){0};
    flight_acked(f, 2 * MSS + 1, &delta);
    assert_true(delta.rtt_valid);
    assert_int_equal(delta.delivered, 1);
    assert_int_equal(delta.rtt_sent_us, 24000);
    flight_acked(f, 3 * MSS, &delta);
    assert_int_equal(f->count, 0);
    assert_int_equal(f->start, 3 * MSS);
    check(f);
    drop(f);
}

static void a_joined_record_is_no_sample_in_part(void **state)
{
    (void)state;
    struct flight *f = make(2, 0);
    refuse = true;
    for (uint32_t i = 1; i <= 3; i++)
        send_segments(&f, 1, 8000 * i);
    refuse = false;
    assert_int_equal(f->count, 2);
    assert_int_equal(f->record[f->head].sent, 16000);
    struct flight_delta delta = {0};
    flight_acked(f, MSS, &delta);  // sent at 8000, but the log says 16000
    assert_int_equal(delta.delivered, MSS);
    assert_false(delta.rtt_valid);
    flight_acked(f, 2 * MSS, &delta);
    assert_true(delta.rtt_valid);
    assert_int_equal(delta.rtt_sent_us, 16000);
    delta.rtt_valid = false;
    flight_acked(f, 2 * MSS + 10, &delta);  // not joined
    assert_true(delta.rtt_valid);
    assert_int_equal(delta.rtt_sent_us, 24000);
    check(f);
    drop(f);
}

// A block, and then an acknowledgement, of the first part of a joined record: it was sent sooner than the record says.
static void a_joined_record_that_was_cut_is_no_sample(void **state)
{
    (void)state;
    struct flight *f = make(4, 0);
    refuse = true;
    for (uint32_t i = 1; i <= 5; i++)
        send_segments(&f, 1, 8000 * i);
    assert_int_equal(f->count, 3);  // two joined ones, and the last
    struct flight_delta delta = {0};
    flight_sacked(NULL, &f, 2 * MSS, 3 * MSS, &delta);
    assert_int_equal(delta.sacked, MSS);
    assert_false(delta.rtt_valid);  // it left at 24000; its record was of 32000
    flight_acked(f, 3 * MSS, &delta);
    assert_int_equal(delta.delivered, 3 * MSS);
    assert_false(delta.rtt_valid);
    flight_sacked(NULL, &f, 4 * MSS, 5 * MSS, &delta);
    assert_true(delta.rtt_valid);
    assert_int_equal(delta.rtt_sent_us, 40000);
    refuse = false;
    check(f);
    drop(f);
}

static void karn_no_sample_from_an_ack_that_waited_for_a_retransmission(void **state)
{
    (void)state;
    struct flight *f = make(8, 0);
    for (uint32_t i = 1; i <= 4; i++)
        send_segments(&f, 1, 8000 * i);
    struct flight_delta delta = {0};
    flight_lose_first(NULL, &f, MSS, &delta);
    assert_int_equal(delta.newly_lost, MSS);
    flight_resent(NULL, &f, 0, MSS, 80000);
    assert_int_equal(f->lost, 0);
    assert_int_equal(f->retransmitted, 1);
    flight_acked(f, 4 * MSS, &delta);  // segments 2 to 4 arrived long ago
    assert_true(delta.retransmitted_acked);
    assert_false(delta.rtt_valid);
    assert_int_equal(delta.delivered, 4 * MSS);
    assert_int_equal(delta.newest_sent_us, 80000);
    check(f);
    drop(f);
}

static void newreno_loses_one_segment_at_a_time(void **state)
{
    (void)state;
    struct flight *f = make(8, 0);
    send_segments(&f, 10, 8000);
    struct flight_delta delta = {0};
    flight_lose_first(NULL, &f, MSS, &delta);
    flight_lose_first(NULL, &f, MSS, &delta);  // again changes nothing
    assert_int_equal(f->lost, MSS);
    uint32_t start, end;
    assert_true(flight_next_lost(f, 0, &start, &end));
    assert_int_equal(start, 0);
    assert_int_equal(end, MSS);
    flight_resent(NULL, &f, 0, MSS, 16000);
    assert_false(flight_next_lost(f, 0, &start, &end));
    flight_lose_first(NULL, &f, MSS, &delta);  // the retransmission was lost as well
    assert_int_equal(f->lost, MSS);
    assert_int_equal(flags_at(f, 0), FLIGHT_LOST | FLIGHT_RETRANSMITTED);
    check(f);
    flight_acked(f, 3 * MSS, &delta);  // partial: the next hole
    assert_int_equal(f->lost, 0);
    flight_lose_first(NULL, &f, MSS, &delta);
    assert_true(flight_next_lost(f, 0, &start, &end));
    assert_int_equal(start, 3 * MSS);
    assert_int_equal(end, 4 * MSS);
    check(f);
    drop(f);
}

static void a_timeout_loses_all_but_what_the_peer_holds(void **state)
{
    (void)state;
    struct flight *f = make(8, 0);
    send_segments(&f, 10, 8000);
    struct flight_delta delta = {0};
    flight_sacked(NULL, &f, 3 * MSS, 5 * MSS, &delta);
    flight_lose_all(f);
    assert_int_equal(f->lost, 8 * MSS);
    assert_int_equal(flight_pipe(f), 0);
    check(f);
    flight_resent(NULL, &f, 0, 3 * MSS, 16000);
    uint32_t start, end;
    assert_true(flight_next_lost(f, 0, &start, &end));
    assert_int_equal(start, 5 * MSS);
    assert_int_equal(end, 10 * MSS);
    drop(f);
}

static void a_peer_that_reneged_is_sent_everything(void **state)
{
    (void)state;
    struct flight *f = make(8, 0);
    send_segments(&f, 10, 8000);
    struct flight_delta delta = {0};
    flight_sacked(NULL, &f, MSS, 5 * MSS, &delta);
    flight_acked(f, MSS, &delta);
    assert_int_equal(flags_at(f, MSS), FLIGHT_SACKED);  // the left edge: the peer should have acknowledged it
    flight_lose_all(f);
    assert_int_equal(f->sacked, 0);
    assert_int_equal(f->lost, 9 * MSS);
    check(f);
    drop(f);
}

static void two_segments_above_are_not_loss_more_is(void **state)
{
    (void)state;
    struct flight *f = make(16, 0);
    send_segments(&f, 10, 8000);
    struct flight_delta delta = {0};
    flight_sacked(NULL, &f, MSS, 3 * MSS, &delta);
    assert_int_equal(delta.delivered, 2 * MSS);
    flight_detect(f, MSS, &delta);
    assert_int_equal(f->lost, 0);
    flight_sacked(NULL, &f, MSS, 3 * MSS + 1, &delta);
    flight_detect(f, MSS, &delta);
    assert_int_equal(f->lost, MSS);
    assert_int_equal(delta.newly_lost, MSS);
    assert_int_equal(flags_at(f, 3 * MSS + 1), 0);
    check(f);
    drop(f);
}

static void three_ranges_above_are_loss(void **state)
{
    (void)state;
    struct flight *f = make(16, 0);
    send_segments(&f, 10, 8000);
    struct flight_delta delta = {0};
    for (uint32_t i = 1; i < 6; i += 2) {  // 1, 3, 5: one byte each
        flight_detect(f, MSS, &delta);
        assert_int_equal(f->lost, 0);
        flight_sacked(NULL, &f, i * MSS, i * MSS + 1, &delta);
    }
    flight_detect(f, MSS, &delta);
    assert_int_equal(f->lost, MSS);
    flight_sacked(NULL, &f, 7 * MSS, 7 * MSS + 1, &delta);
    flight_detect(f, MSS, &delta);
    assert_int_equal(f->lost, MSS + 2 * MSS - 1);
    check(f);
    drop(f);
}

static void a_retransmission_is_not_lost_again_by_sack(void **state)
{
    (void)state;
    struct flight *f = make(16, 0);
    send_segments(&f, 10, 8000);
    struct flight_delta delta = {0};
    flight_sacked(NULL, &f, MSS, 5 * MSS, &delta);
    flight_detect(f, MSS, &delta);
    flight_resent(NULL, &f, 0, MSS, 16000);
    flight_sacked(NULL, &f, MSS, 9 * MSS, &delta);
    flight_detect(f, MSS, &delta);
    assert_int_equal(f->lost, 0);
    check(f);
    drop(f);
}

static void a_growing_block_costs_no_records(void **state)
{
    (void)state;
    struct flight *f = make(4, 0);
    refuse = true;
    send_segments(&f, 100, 8000);
    struct flight_delta delta = {0};
    for (uint32_t i = 2; i <= 100; i++)
        flight_sacked(NULL, &f, MSS, i * MSS, &delta);
    refuse = false;
    assert_int_equal(f->count, 2);
    assert_int_equal(delta.delivered, 99 * MSS);
    check(f);
    drop(f);
}

static void a_refused_split_never_sacks_what_was_not(void **state)
{
    (void)state;
    struct flight *f = make(1, 0);
    refuse = true;
    send_segments(&f, 10, 8000);
    struct flight_delta delta = {0};
    flight_sacked(NULL, &f, MSS, 2 * MSS, &delta);
    assert_int_equal(f->sacked, 0);
    assert_int_equal(delta.delivered, 0);
    flight_lose_first(NULL, &f, MSS, &delta);  // whole record
    assert_int_equal(f->lost, 10 * MSS);
    flight_resent(NULL, &f, 0, MSS, 16000);
    assert_int_equal(f->lost, 0);
    check(f);
    assert_false(flight_room(NULL, &f, 24000));
    refuse = false;
    drop(f);
}

#if WEIR_CFG_ALLOCATOR
// Every second segment of 30 MB is missing: what a drop-tail queue makes of the end of slow start. Each of them is
// known, and no other.
static void each_hole_of_a_long_window_is_known(void **state)
{
    (void)state;
    const uint32_t segments = 20000;
    struct flight *f = make(8, 0xfff00000u);
    struct flight_delta delta = {0};
    for (uint32_t i = 0; i < segments; i++)
        send_segments(&f, 1, 8000 + 8 * i);
    for (uint32_t i = 1; i < segments; i += 2)
        flight_sacked(NULL, &f, 0xfff00000u + i * MSS, 0xfff00000u + (i + 1) * MSS, &delta);
    assert_int_equal(f->sacked, segments / 2 * MSS);
    flight_detect(f, MSS, &delta);
    assert_int_equal(f->lost, (segments / 2 - 2) * MSS);  // the last two have too little above them
    uint32_t start, end;
    for (uint32_t i = 0; i + 4 < segments; i += 2) {
        assert_true(flight_next_lost(f, flight_first_lost(f), &start, &end));
        assert_int_equal(start, 0xfff00000u + i * MSS);
        assert_int_equal(end - start, MSS);
        flight_resent(NULL, &f, start, end, 1000000 + 8 * i);
    }
    assert_int_equal(f->lost, 0);
    check(f);
    drop(f);
}
#endif

// Where the search ended before must not lie half the sequence space behind, as if it were ahead.
static void a_loss_after_gigabytes_without_one_is_found(void **state)
{
    (void)state;
    struct flight *f = make(64, 0);
    struct flight_delta delta = {0};
    const uint32_t burst = 1000 * MSS;
    bool known;
    for (uint32_t i = 0; i < 30000; i++) {  // 3 GB, and the log is never empty
        assert_true(flight_room(NULL, &f, 16 * i));
        flight_sent(f, flight_end(f) + burst, 16 * i);
        if (i)
            flight_acked_plain(f, flight_end(f) - burst, &known);
    }
    flight_sacked(NULL, &f, f->start + MSS, f->start + 5 * MSS, &delta);
    flight_detect(f, MSS, &delta);
    assert_int_equal(f->lost, MSS);
    check(f);
    drop(f);
}

// --- the model -------------------------------------------------------------------------------------------------------
#define SPACE 4096u
#define WAS_SACKED 8u  // SACKED records are joined whatever their times, so RETRANSMITTED is vague from then on
struct model {
    uint32_t start, end;  // offsets from base
    uint8_t flags[SPACE];
};
struct world {
    struct flight *f;
    struct model m;
    uint32_t base, now_us, random;
    bool exact;  // splits are never refused: flags must be the model's
    uint32_t refusals, joins;
};

static uint32_t pick(struct world *w, uint32_t below)
{
    w->random = w->random * 1664525u + 1013904223u;
    return below ? (w->random >> 8) % below : 0;
}

static void model_matches(struct world *w)
{
    check(w->f);
    assert_int_equal(w->f->start, w->base + w->m.start);
    assert_int_equal(flight_end(w->f), w->base + w->m.end);
    for (uint32_t i = w->m.start; i < w->m.end; i++) {
        const uint32_t real = flags_at(w->f, w->base + i), wanted = w->m.flags[i];
        const uint32_t compared = FLIGHT_SACKED | FLIGHT_LOST | (wanted & WAS_SACKED ? 0 : FLIGHT_RETRANSMITTED);
        if (w->exact)
            assert_int_equal(real & compared, wanted & compared);
        else if (real & FLIGHT_SACKED)
            assert_true(wanted & FLIGHT_SACKED);  // never believe that the peer has what it has not
    }
}

static void step_sent(struct world *w)
{
    const uint32_t room = SPACE - w->m.end, bytes = 1 + pick(w, 300);
    if (bytes > room)
        return;
    if (pick(w, 3))
        w->now_us += 8 * (1 + pick(w, 100));
    const uint32_t count = w->f->count, capacity = w->f->capacity;
    if (!flight_room(NULL, &w->f, w->now_us)) {
        w->refusals++;
        return;
    }
    w->joins += w->f->count < count && w->f->capacity == capacity;
    flight_sent(w->f, w->base + w->m.end + bytes, w->now_us);
    for (uint32_t i = 0; i < bytes; i++)
        w->m.flags[w->m.end + i] = 0;
    w->m.end += bytes;
}

static void step_acked(struct world *w)
{
    const uint32_t una = w->m.start + pick(w, min_u32(w->m.end - w->m.start, 500) + 1);
    struct flight_delta delta = {0};
    uint32_t delivered = 0;
    for (uint32_t i = w->m.start; i < una; i++)
        delivered += !(w->m.flags[i] & FLIGHT_SACKED);
    const bool had_retransmitted = w->f->retransmitted != 0;
    flight_acked(w->f, w->base + una, &delta);
    w->m.start = una;
    if (w->exact)
        assert_int_equal(delta.delivered, delivered);
    else
        assert_true(delta.delivered >= delivered);
    assert_false(delta.retransmitted_acked && delta.rtt_valid);
    assert_true(had_retransmitted || !delta.retransmitted_acked);
    if (delta.rtt_valid)
        assert_true(seq_le(delta.rtt_sent_us, w->now_us) && seq_le(delta.rtt_sent_us, delta.newest_sent_us));
}

static void step_sacked(struct world *w)
{
    const uint32_t out = w->m.end - w->m.start;
    if (out < 3)
        return;
    const uint32_t left = w->m.start + 1 + pick(w, out - 2), right = left + 1 + pick(w, min_u32(400, w->m.end - left));
    if (right > w->m.end)
        return;
    struct flight_delta delta = {0};
    uint32_t delivered = 0;
    for (uint32_t i = left; i < right; i++) {
        delivered += !(w->m.flags[i] & FLIGHT_SACKED);
        w->m.flags[i] = (uint8_t)((w->m.flags[i] & ~FLIGHT_LOST) | FLIGHT_SACKED | WAS_SACKED);
    }
    flight_sacked(NULL, &w->f, w->base + left, w->base + right, &delta);
    if (w->exact)
        assert_int_equal(delta.delivered, delivered);
}

// RFC 6675 IsLost for one byte of the model.
static bool model_is_lost(const struct model *m, uint32_t at)
{
    uint32_t bytes = 0, ranges = 0;
    for (uint32_t i = at + 1; i < m->end; i++) {
        if (!(m->flags[i] & FLIGHT_SACKED))
            continue;
        bytes++;
        ranges += !(m->flags[i - 1] & FLIGHT_SACKED);
    }
    return bytes > 2 * MSS || ranges >= 3;
}

static void step_detect(struct world *w)
{
    struct flight_delta delta = {0};
    uint32_t newly = 0;
    for (uint32_t i = w->m.start; w->exact && i < w->m.end; i++) {
        if ((w->m.flags[i] & FLIGHT_FLAGS) == 0 && model_is_lost(&w->m, i)) {
            w->m.flags[i] |= FLIGHT_LOST;
            newly++;
        }
    }
    const uint32_t lost = w->f->lost;
    flight_detect(w->f, MSS, &delta);
    assert_int_equal(w->f->lost - lost, delta.newly_lost);
    if (w->exact)
        assert_int_equal(delta.newly_lost, newly);
}

static void step_lose(struct world *w)
{
    struct flight_delta delta = {0};
    if (pick(w, 8)) {
        const uint32_t old = w->f->count ? w->f->record[w->f->head].end - w->f->start : 0;
        const uint32_t flags = flags_at(w->f, w->f->start);
        flight_lose_first(NULL, &w->f, MSS, &delta);
        if (old && !(flags & (FLIGHT_LOST | FLIGHT_SACKED)))
            for (uint32_t i = 0; i < min_u32(old, MSS); i++)
                w->m.flags[w->m.start + i] |= FLIGHT_LOST;
        return;
    }
    const bool reneged =
        w->m.start < w->m.end && w->m.flags[w->m.start] & FLIGHT_SACKED && flags_at(w->f, w->f->start) & FLIGHT_SACKED;
    flight_lose_all(w->f);
    for (uint32_t i = w->m.start; i < w->m.end; i++) {
        if (reneged)
            w->m.flags[i] &= (uint8_t)~FLIGHT_SACKED;
        if (!(w->m.flags[i] & FLIGHT_SACKED))
            w->m.flags[i] |= FLIGHT_LOST;
    }
    assert_int_equal(flight_pipe(w->f), 0);
}

static void step_resent(struct world *w)
{
    uint32_t start, end;
    const uint32_t from = w->m.start + pick(w, w->m.end - w->m.start + 1);
    const bool found = flight_next_lost(w->f, w->base + from, &start, &end);
    if (w->exact) {
        uint32_t first = from;
        while (first < w->m.end && !(w->m.flags[first] & FLIGHT_LOST))
            first++;
        assert_int_equal(found, first < w->m.end);
        if (found)
            assert_int_equal(start, w->base + first);
    }
    if (!found)
        return;
    for (uint32_t i = start; i != end; i++)
        assert_true(flags_at(w->f, i) & FLIGHT_LOST);
    end = seq_min(end, start + MSS);
    w->now_us += 8 * pick(w, 20);
    flight_resent(NULL, &w->f, start, end, w->now_us);
    for (uint32_t i = start - w->base; i < end - w->base; i++) {
        assert_int_equal(flags_at(w->f, w->base + i), FLIGHT_RETRANSMITTED);
        w->m.flags[i] = (uint8_t)((w->m.flags[i] & ~FLIGHT_LOST) | FLIGHT_RETRANSMITTED);
    }
}

// One life of a log: until the model's space is used up.
static void live(struct world *w, uint16_t capacity, uint32_t seed)
{
    static void (*const steps[])(struct world *) = {step_sent,   step_sent,   step_sent, step_acked,  step_sacked,
                                                    step_sacked, step_detect, step_lose, step_resent, step_resent};
    w->random = seed;
    w->base = (uint32_t)(0u - seed * 977u);  // the sequence numbers wrap in some lives
    w->now_us = w->base;
    w->m = (struct model){0};
    w->f = make(capacity, w->base);
    for (int i = 0; i < 400; i++) {
        steps[pick(w, sizeof steps / sizeof steps[0])](w);
        model_matches(w);
    }
    drop(w->f);
}

static void equals_the_model_when_splits_succeed(void **state)
{
    (void)state;
    struct world w = {.exact = true};
    for (uint32_t seed = 1; seed < 120; seed++)
        live(&w, WEIR_CFG_ALLOCATOR ? 8 : 512, seed);
    assert_int_equal(w.refusals, 0);
}

static void stays_sound_when_splits_are_refused(void **state)
{
    (void)state;
    struct world w = {.exact = false};
    refuse = true;
    for (uint32_t seed = 1; seed < 200; seed++)
        live(&w, (uint16_t)(1 + seed % 9), seed);
    refuse = false;
    assert_true(w.refusals > 100);
    assert_true(w.joins > 100);
}

// A block, or a retransmission, of which the log holds nothing changes nothing: also half the sequence space away,
// where signed comparisons call everything both before and after, and also in a log without a record.
static void what_lies_beyond_the_log_is_refused(void **state)
{
    static const uint32_t far[] = {2, MSS, 0x7fffffff, 0x80000000, 0x80000001, 0xffffffff - 5 * MSS};
    (void)state;
    for (uint32_t sent = 0; sent <= 3; sent += 3) {
        for (uint32_t i = 0; i < sizeof far / sizeof far[0]; i++) {
            struct memory memory;
            struct flight *f = make(8, 0xfffffff0);
            struct flight_delta delta = {0};
            send_segments(&f, sent, 1000);
            const uint32_t left = flight_end(f) + far[i], count = f->count, retransmitted = f->retransmitted;
            flight_sacked(&memory, &f, left, left + 1, &delta);
            flight_sacked(&memory, &f, left - 1, left, &delta);
            flight_resent(&memory, &f, left, left + MSS, 2000);
            check(f);
            assert_int_equal(f->sacked + f->lost + delta.delivered, 0);
            assert_int_equal(f->count, count);
            assert_int_equal(f->retransmitted, retransmitted);
            assert_true(flight_sound(f, f->start, flight_end(f)));
            assert_false(flight_sound(f, f->start, flight_end(f) + 1));
            assert_false(flight_sound(f, f->start - 1, flight_end(f)));
            drop(f);
        }
    }
}

// --- every log of up to three records, every call (docs/proof.md)
// -----------------------------------------------------

#define FEW 3u
#define RECORD 3u  // bytes of each: a block may begin and end within one
#define AROUND 2u  // numbers before the log and behind it that are tried, too
#define WRAPS (UINT32_MAX - RECORD)

static const uint32_t kinds[] = {0,
                                 FLIGHT_RETRANSMITTED,
                                 FLIGHT_SACKED,
                                 FLIGHT_SACKED | FLIGHT_RETRANSMITTED,
                                 FLIGHT_LOST,
                                 FLIGHT_LOST | FLIGHT_RETRANSMITTED};
#define KINDS (2 * sizeof kinds / sizeof kinds[0])  // each at one of two times

struct shape {
    uint32_t head, spare;  // places before the records and behind them
    bool refused;          // there is no memory for more
};
struct few {
    const struct shape *shape;
    uint32_t count, content;  // each record's kind and time
    struct flight *f;
    uint32_t flags[FEW * RECORD];  // of each byte, before the call
};

static void few_record(struct flight *f, uint32_t which)
{
    const uint32_t start = flight_end(f), flags = kinds[which / 2];
    f->record[f->head + f->count++] =
        (struct flight_record){.end = start + RECORD, .sent = (FLIGHT_STEP_US << which % 2) | flags};
    if (flags & FLIGHT_SACKED) {
        f->sacked += RECORD;
        f->fack = start + RECORD;
    }
    if (flags & FLIGHT_LOST) {
        flight_lost_note(f, start);
        f->lost += RECORD;
    }
    if (flags == FLIGHT_RETRANSMITTED)
        flight_resent_note(f, FLIGHT_STEP_US << which % 2);
    f->retransmitted += (flags & FLIGHT_RETRANSMITTED) != 0;
}

static void few_begin(struct few *few)
{
    struct flight *f = make((uint16_t)(few->shape->head + few->count + few->shape->spare), WRAPS);
    f->head = (uint16_t)few->shape->head;
    for (uint32_t i = 0, rest = few->content; i < few->count; i++, rest /= KINDS)
        few_record(f, rest % KINDS);
    for (uint32_t i = 0; i < few->count * RECORD; i++)
        few->flags[i] = flags_at(f, WRAPS + i);
    few->f = f;
    refuse = few->shape->refused;
}

// The log is sound, and of the bytes that are still in it those in [from, to) have the flags that are due, others
// theirs of before.
static void few_end(struct few *few, uint32_t from, uint32_t to, uint32_t set, uint32_t cleared)
{
    struct flight *f = few->f;
    check(f);
    assert_true(flight_sound(f, f->start, flight_end(f)));
    for (uint32_t i = f->start - WRAPS; i < few->count * RECORD; i++) {
        const uint32_t was = few->flags[i], within = i >= from && i < to && !(was & FLIGHT_SACKED);
        const uint32_t due = within ? (was & ~cleared) | set : was;
        // Neighbours that are SACKED join: which of them went twice nobody asks any more.
        const uint32_t told = due & FLIGHT_SACKED ? ~(uint32_t)FLIGHT_RETRANSMITTED : UINT32_MAX;
        assert_int_equal(flags_at(f, WRAPS + i) & told, due & told);
    }
    refuse = false;
    drop(f);
}

// Whether two cuts find room, when the log grows to twice its size where it can.
static bool few_room(const struct few *few)
{
    const uint32_t spare = few->shape->head + few->shape->spare;
    return spare >= 2 || (WEIR_CFG_ALLOCATOR && !few->shape->refused && few->count + 2 * spare >= 2);
}

// A block from `left` to `right`, counted from AROUND before the log, is SACKed, or sent again.
static void few_block(struct few *few, uint32_t left, uint32_t right, bool again)
{
    const uint32_t bytes = few->count * RECORD, from = left > AROUND ? left - AROUND : 0, to = right - AROUND;
    const bool taken = left < right && right > AROUND && to <= bytes;
    struct flight_delta delta = {0};
    few_begin(few);
    if (again)
        flight_resent(NULL, &few->f, WRAPS + left - AROUND, WRAPS + to, 4 * FLIGHT_STEP_US);
    else
        flight_sacked(NULL, &few->f, WRAPS + left - AROUND, WRAPS + to, &delta);
    if (taken && !few_room(few)) {  // what was refused a cut stays as it was, or goes again as a whole
        check(few->f);
        refuse = false;
        drop(few->f);
        return;
    }
    few_end(few, taken ? from : 0, taken ? to : 0, again ? FLIGHT_RETRANSMITTED : FLIGHT_SACKED, FLIGHT_LOST);
}

static void few_acked(struct few *few, uint32_t una)
{
    struct flight_delta delta = {0};
    const uint32_t bytes = few->count * RECORD;
    few_begin(few);
    flight_acked(few->f, WRAPS + una - AROUND, &delta);
    if (una > AROUND) {
        assert_int_equal(few->f->start, WRAPS + una - AROUND);
        assert_int_equal(flight_outstanding(few->f), una - AROUND < bytes ? bytes + AROUND - una : 0);
        few_end(few, 0, 0, 0, 0);
    } else if (few->count) {  // below it nothing is acknowledged, and above an empty log there is nothing
        assert_int_equal(few->f->start, WRAPS);
        few_end(few, 0, 0, 0, 0);
    } else {
        drop(few->f);
    }
}

static void few_next_lost(struct few *few, uint32_t from)
{
    uint32_t start, end;
    few_begin(few);
    if (flight_next_lost(few->f, WRAPS + from, &start, &end)) {
        assert_true(from <= start - WRAPS && start - WRAPS < end - WRAPS && end - WRAPS <= few->count * RECORD);
        for (uint32_t i = start - WRAPS; i < end - WRAPS; i++)
            assert_true(few->flags[i] & FLIGHT_LOST);
    }
    few_end(few, 0, 0, 0, 0);
}

static void few_lose(struct few *few, uint32_t mss)
{
    struct flight_delta delta = {0};
    few_begin(few);
    flight_lose_first(NULL, &few->f, mss, &delta);
    check(few->f);
    flight_detect(few->f, mss, &delta);
    check(few->f);
    assert_true(flight_lose_all(few->f) + delta.newly_lost <= few->count * RECORD);
    check(few->f);
    flight_unlose(few->f);
    check(few->f);
    if (flight_room(NULL, &few->f, 4 * FLIGHT_STEP_US))
        flight_sent(few->f, flight_end(few->f) + RECORD, 4 * FLIGHT_STEP_US);
    check(few->f);
    refuse = false;
    drop(few->f);
}

static void few_calls(struct few *few)
{
    const uint32_t places = few->count * RECORD + 2 * AROUND;
    for (uint32_t i = 0; i <= places; i++) {
        few_acked(few, i);
        few_next_lost(few, i);
        for (uint32_t j = 0; j <= places; j++) {
            few_block(few, i, j, false);
            few_block(few, i, j, true);
        }
    }
    for (uint32_t mss = 1; mss <= RECORD + 1; mss++)
        few_lose(few, mss);
}

static void each_small_log_stays_sound(void **state)
{
    static const struct shape shapes[] = {{0, 0, true},  {1, 0, true},  {0, 1, true}, {1, 1, true},
                                          {0, 0, false}, {1, 1, false}, {0, 2, true}, {2, 2, true}};
    (void)state;
    for (uint32_t i = 0; i < sizeof shapes / sizeof shapes[0]; i++) {
        uint32_t contents = 1;
        for (uint32_t count = 0; count <= FEW; count++, contents *= (uint32_t)KINDS)
            for (uint32_t content = 0; content < contents; content++) {
                struct few few = {.shape = &shapes[i], .count = count, .content = content};
                few_calls(&few);
            }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_burst_is_one_record),
        cmocka_unit_test(an_acknowledgement_gives_the_newest_time),
        cmocka_unit_test(a_joined_record_is_no_sample_in_part),
        cmocka_unit_test(a_joined_record_that_was_cut_is_no_sample),
        cmocka_unit_test(karn_no_sample_from_an_ack_that_waited_for_a_retransmission),
        cmocka_unit_test(newreno_loses_one_segment_at_a_time),
        cmocka_unit_test(a_timeout_loses_all_but_what_the_peer_holds),
        cmocka_unit_test(a_peer_that_reneged_is_sent_everything),
        cmocka_unit_test(two_segments_above_are_not_loss_more_is),
        cmocka_unit_test(three_ranges_above_are_loss),
        cmocka_unit_test(a_retransmission_is_not_lost_again_by_sack),
        cmocka_unit_test(a_growing_block_costs_no_records),
        cmocka_unit_test(a_refused_split_never_sacks_what_was_not),
#if WEIR_CFG_ALLOCATOR
        cmocka_unit_test(each_hole_of_a_long_window_is_known),
#endif
        cmocka_unit_test(a_loss_after_gigabytes_without_one_is_found),
        cmocka_unit_test(equals_the_model_when_splits_succeed),
        cmocka_unit_test(stays_sound_when_splits_are_refused),
        cmocka_unit_test(what_lies_beyond_the_log_is_refused),
        cmocka_unit_test(each_small_log_stays_sound),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
