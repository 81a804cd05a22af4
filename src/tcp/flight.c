// SPDX-License-Identifier: BSD-2-Clause
// The flight log is a window [head, head + count) sliding through an array. Acknowledged records leave at the head, new
// ones come at the end; when the end is reached the records move back to the beginning or the array doubles. A record
// is inserted in the middle by moving the shorter side that has room. Work per call: a binary search, the records
// covered, one memmove.
#include "tcp/flight.h"

#define FLIGHT_LIMIT \
    (WEIR_CFG_TCP_FLIGHT_RECORDS && WEIR_CFG_TCP_FLIGHT_RECORDS < FLIGHT_RECORDS_MAX ? WEIR_CFG_TCP_FLIGHT_RECORDS \
                                                                                     : FLIGHT_RECORDS_MAX)
#define FLIGHT_FIRST 8u   // capacity at first
#define FLIGHT_GATHER 8u  // records that flight_next_lost puts together

void flight_init(struct flight *f, uint16_t capacity, uint32_t start)
{
    memset(f, 0, sizeof *f);
    f->capacity = capacity;
    f->start = f->fack = f->coarse = f->detected = start;
}

#if WEIR_CFG_ALLOCATOR
static size_t capacity_bytes(uint32_t capacity)
{
    return sizeof(struct flight) + capacity * sizeof(struct flight_record);
}

size_t flight_first_bytes(void) { return capacity_bytes(min_u32(FLIGHT_FIRST, FLIGHT_LIMIT)); }
size_t flight_bytes(const struct flight *f) { return capacity_bytes(f->capacity); }
void flight_begin(struct flight *f, uint32_t start)
{
    flight_init(f, (uint16_t)min_u32(FLIGHT_FIRST, FLIGHT_LIMIT), start);
}

// Doubles the capacity, records at the beginning. false: at the limit, or no memory.
static bool flight_grow(struct memory *memory, struct flight **flight)
{
    struct flight *old = *flight;
    const uint32_t capacity = min_u32(old->capacity * 2u, FLIGHT_LIMIT);
    struct flight *f = capacity > old->capacity ? memory_get(memory, capacity_bytes(capacity)) : NULL;
    if (f == NULL)
        return false;
    memcpy(f, old, sizeof *f);
    memcpy(f->record, old->record + old->head, old->count * sizeof old->record[0]);
    f->head = 0;
    f->capacity = (uint16_t)capacity;
    memory_put(memory, old, flight_bytes(old));
    *flight = f;
    return true;
}
#else
static bool flight_grow(struct memory *memory, struct flight **flight)
{
    (void)memory, (void)flight;
    return false;
}
#endif

// The record that holds byte `seq`, start <= seq; count when seq is not in flight.
static uint32_t flight_find(const struct flight *f, uint32_t seq)
{
    uint32_t low = 0, high = f->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (f->record[f->head + middle].end - f->start > seq - f->start)
            high = middle;
        else
            low = middle + 1;
    }
    return low;
}

// Joins record after record with its neighbour where both have the same flags: nothing but times gets coarser. Pairs
// only, so that one pass over a full log pays for as many insertions as it has joined, and the times stay as fine as
// they can.
static void flight_join_pairs(struct flight *f)
{
    struct flight_record *const r = flight_at(f, 0);
    uint32_t kept = 0;
    for (uint32_t i = 0; i < f->count; i++, kept++) {
        r[kept] = r[i];
        if (i + 1 == f->count || (r[i].sent & FLIGHT_FLAGS) != (r[i + 1].sent & FLIGHT_FLAGS))
            continue;
        f->retransmitted -= (r[i].sent & FLIGHT_RETRANSMITTED) != 0;
        if (seq_lt(r[i].sent, r[i + 1].sent))
            r[kept] = r[i + 1];
        r[kept].end = r[i + 1].end;
        f->coarse = seq_max(f->coarse, r[kept].end);
        i++;
    }
    f->count = (uint16_t)kept;
}

// Makes `want` records free, by growing or by joining. Returns how many are. Indices change.
static uint32_t flight_make_free(struct memory *memory, struct flight **flight, uint32_t want)
{
    if ((uint32_t)(*flight)->capacity - (*flight)->count < want && !flight_grow(memory, flight))
        flight_join_pairs(*flight);
    return (uint32_t)(*flight)->capacity - (*flight)->count;
}

// Opens a place before record `index`; one is free.
static void flight_open(struct flight *f, uint32_t index)
{
    struct flight_record *const r = flight_at(f, 0);
    const bool tail_room = f->head + f->count < f->capacity;
    if (f->head && (index <= f->count / 2u || !tail_room)) {
        memmove(r - 1, r, index * sizeof *r);
        f->head--;
    } else {
        memmove(r + index + 1, r + index, (f->count - index) * sizeof *r);
    }
    f->count++;
}

static void flight_remove(struct flight *f, uint32_t index)
{
    struct flight_record *const r = flight_at(f, 0);
    f->count--;
    if (index < f->count / 2u) {
        memmove(r + 1, r, index * sizeof *r);
        f->head++;
    } else {
        memmove(r + index, r + index + 1, (f->count - index) * sizeof *r);
    }
}

// Makes a record begin at `at`, which is in flight; one record is free.
static void flight_split(struct flight *f, uint32_t at)
{
    const uint32_t index = flight_find(f, at);
    if (index >= f->count)
        return;  // beyond the log there is nothing to split
    flight_open(f, index);
    struct flight_record *r = flight_at(f, index);
    *r = r[1];
    r->end = at;
    f->retransmitted += (r->sent & FLIGHT_RETRANSMITTED) != 0;
}

// Cuts from [left, right) what lies below the log. false: it is empty, or ends beyond the log or before it begins.
static bool flight_clip(const struct flight *f, uint32_t *left, uint32_t right)
{
    if (!seq_in(right, f->start + 1, flight_end(f) + 1) || !seq_lt(*left, right))
        return false;
    if (!seq_in(*left, f->start, right))
        *left = f->start;
    return true;
}

static bool flight_boundary(const struct flight *f, uint32_t at)
{
    return at == f->start || flight_record_start(f, flight_find(f, at)) == at;
}

// Splits records so that [left, right) consists of whole ones, as far as there is room.
static void flight_cut(struct memory *memory, struct flight **flight, uint32_t left, uint32_t right)
{
    const bool cut_left = !flight_boundary(*flight, left), cut_right = !flight_boundary(*flight, right);
    uint32_t room = 0;
    if (cut_left || cut_right)
        room = flight_make_free(memory, flight, (uint32_t)cut_left + cut_right);
    // Joining may have removed a boundary that was there: look again.
    if (room && !flight_boundary(*flight, left)) {
        flight_split(*flight, left);
        room--;
    }
    if (room && !flight_boundary(*flight, right))
        flight_split(*flight, right);
}

// Joins record `index` with the one before it when both are SACKED (times no longer matter), or both retransmitted at
// one time.
static bool flight_merge_back(struct flight *f, uint32_t index)
{
    if (index == 0 || index >= f->count)
        return false;
    struct flight_record *const r = flight_at(f, index);
    const uint32_t both = r[-1].sent & r[0].sent;
    if (!(both & FLIGHT_SACKED) && r[-1].sent != r[0].sent)
        return false;
    f->retransmitted -= (both & FLIGHT_RETRANSMITTED) != 0;
    const uint32_t flags = (r[-1].sent | r[0].sent) & FLIGHT_FLAGS;
    r[0].sent = seq_max(flight_time(r[-1].sent), flight_time(r[0].sent)) | flags;
    flight_remove(f, index - 1);
    return true;
}

bool flight_make_room(struct memory *memory, struct flight **flight, uint32_t now_us)
{
    struct flight *f = *flight;
    if (f->count && flight_at(f, f->count - 1u)->sent == flight_time(now_us))
        return true;
    // Sliding back must make much room, or each send would move the whole log.
    if (f->head <= f->capacity / 2u && !flight_grow(memory, flight) && f->head <= f->capacity / 16u)
        flight_join_pairs(f);
    f = *flight;
    if (f->count == f->capacity)
        return false;
    memmove(f->record, flight_at(f, 0), f->count * sizeof f->record[0]);
    f->head = 0;
    return true;
}

static void flight_late(struct flight_delta *delta, uint32_t start)
{
    if (!delta->reordered)
        delta->late_start = start;
    delta->reordered = true;
}

// `bytes`, up to `end`, of a record were delivered for the first time: what that says about order.
static void flight_came(struct flight_delta *delta, uint32_t sent, uint32_t end, uint32_t bytes)
{
    const uint32_t sent_us = flight_time(sent);
    if (!(sent & FLIGHT_RETRANSMITTED)) {
        if (seq_le(end, delta->fack))
            flight_late(delta, end - bytes);
        delta->lost_delivered |= (sent & FLIGHT_LOST) != 0;
    } else if (delta->limit_young && seq_lt(delta->young_us, sent_us)) {
        return;  // what came is rather an earlier transmission
    }
    if (!delta->late_valid || flight_sent_after(sent_us, end, delta->late_us, delta->late_end)) {
        delta->late_us = sent_us;
        delta->late_end = end;
        delta->late_valid = true;
        delta->late_resent = sent & FLIGHT_RETRANSMITTED;
    }
}

// Whether the record may be the first part of a joined one that was cut: its time is that of the last byte of the
// whole, and a round trip from there would come out too short.
static bool flight_time_vague(struct flight *f, const struct flight_record *r)
{
    return seq_lt(flight_record_start(f, (uint32_t)(r - flight_at(f, 0))), f->coarse);
}

// What the delivery says about the path, too. `vague`: it is no sample of the round trip.
static void flight_delivered(struct flight_delta *delta, const struct flight_record *r, uint32_t end, uint32_t bytes,
                             bool vague)
{
    const uint32_t sent = r->sent;
    flight_came(delta, sent, end, bytes);
    if (delta->delivered == 0 || seq_lt(delta->newest_sent_us, flight_time(sent))) {
        delta->newest_sent_us = flight_time(sent);
        flight_stamp_take(delta, r);
    }
    delta->delivered += bytes;
    if (sent & FLIGHT_RETRANSMITTED) {
        delta->retransmitted_acked = true;
    } else if (!vague && (!delta->rtt_valid || seq_lt(delta->rtt_sent_us, flight_time(sent)))) {
        delta->rtt_valid = true;
        delta->rtt_sent_us = flight_time(sent);
    }
}

// `bytes` at the front of the log, of a record with flags, are cumulatively acknowledged.
static void flight_acked_flagged(struct flight *f, const struct flight_record *r, uint32_t end, uint32_t bytes,
                                 struct flight_delta *delta)
{
    if (r->sent & FLIGHT_SACKED) {
        f->sacked -= bytes;  // delivered when it was SACKED
        return;
    }
    if (r->sent & FLIGHT_LOST)
        f->lost -= bytes;
    flight_delivered(delta, r, end, bytes, flight_time_vague(f, r));
}

// The record at the head is acknowledged in part.
static void flight_acked_part(struct flight *f, uint32_t una, struct flight_delta *delta)
{
    flight_acked_flagged(f, flight_at(f, 0), una, una - f->start, delta);
    if (!seq_lt(f->start, f->coarse))
        f->coarse = una;  // follows, so that it never falls 2^31 behind
    f->start = una;
}

void flight_acked(struct flight *f, uint32_t una, struct flight_delta *delta)
{
    const bool retransmitted_before = delta->retransmitted_acked, cut = !flight_plain(f);
    const uint32_t count = f->count;
    struct flight_record *r = flight_at(f, 0);
    const struct flight_record *plain = r;  // the last record without flags: these are in the order of their times
    uint32_t index = 0, start = f->start, bytes = 0;
    delta->retransmitted_acked = false;
    flight_lost_passed(f, f->start, una);
    for (; index < count && seq_le(r->end, una); index++, r++) {
        if (r->sent & FLIGHT_FLAGS) {
            flight_acked_flagged(f, r, r->end, r->end - start, delta);
            f->retransmitted -= (r->sent & FLIGHT_RETRANSMITTED) != 0;
        } else {
            if (!bytes && seq_le(r->end, delta->fack))
                flight_late(delta, start);
            bytes += r->end - start;
            plain = r;
        }
        start = r->end;
    }
    if (bytes)
        flight_delivered(delta, plain, plain->end, bytes, cut && flight_time_vague(f, plain));
    f->start = start;
    f->count = (uint16_t)(count - index);
    f->head = index == count ? 0 : (uint16_t)(f->head + index);
    if (index < count && seq_lt(start, una))
        flight_acked_part(f, una, delta);
    if (index == count)
        f->start = seq_max(start, una);
    f->fack = seq_max(f->fack, f->start);
    f->detected = seq_max(f->detected, f->start);
    if (delta->retransmitted_acked)
        delta->rtt_valid = false;
    delta->retransmitted_acked |= retransmitted_before;
}

void flight_sacked(struct memory *memory, struct flight **flight, uint32_t left, uint32_t right,
                   struct flight_delta *delta)
{
    if (!flight_clip(*flight, &left, right))
        return;
    // The usual block repeats what is known and adds a little: look only at what is new before cutting anything.
    uint32_t index = flight_find(*flight, left);
    while (index < (*flight)->count && flight_at(*flight, index)->sent & FLIGHT_SACKED)
        left = flight_at(*flight, index++)->end;
    if (!seq_lt(left, right))
        return;
    flight_cut(memory, flight, left, right);

    struct flight *f = *flight;
    for (index = flight_find(f, left); index < f->count; index++) {
        struct flight_record *r = flight_at(f, index);
        const uint32_t start = flight_record_start(f, index), bytes = r->end - start;
        if (seq_lt(right, r->end))
            break;
        if (seq_lt(start, left) || r->sent & FLIGHT_SACKED)
            continue;  // no room to split: what is covered in part stays as it was
        flight_delivered(delta, r, r->end, bytes, flight_time_vague(f, r));
        delta->sacked += bytes;
        if (r->sent & FLIGHT_LOST)
            f->lost -= bytes;
        r->sent = (r->sent & ~(uint32_t)FLIGHT_LOST) | FLIGHT_SACKED;
        f->sacked += bytes;
        f->fack = seq_max(f->fack, r->end);
        index -= flight_merge_back(f, index);
    }
    flight_merge_back(f, index);
}

void flight_detect(struct flight *f, uint32_t mss, struct flight_delta *delta)
{
    if (f->sacked == 0)
        return;
    f->detected = seq_max(f->detected, f->start);
    uint32_t bytes = 0, ranges = 0, limit = f->detected;
    bool reached = false, in_range = false;
    // From the highest SACKED byte down: once enough is SACKED above, all below is lost; below `detected` it already
    // is.
    for (uint32_t index = flight_find(f, f->fack - 1) + 1;
         index-- > 0 && seq_lt(f->detected, flight_at(f, index)->end);) {
        struct flight_record *r = flight_at(f, index);
        const uint32_t length = r->end - flight_record_start(f, index);
        if (r->sent & FLIGHT_SACKED) {
            bytes += length;
            ranges += !in_range;
            in_range = true;
            continue;
        }
        in_range = false;
        if (!reached && bytes <= 2 * mss && ranges < 3)  // RFC 6675 §4, IsLost
            continue;
        if (!reached)
            limit = r->end;
        reached = true;
        if (r->sent & FLIGHT_FLAGS)
            continue;
        delta->newly_lost += flight_lose(f, index);
    }
    f->detected = limit;
}

uint32_t flight_lose(struct flight *f, uint32_t index)
{
    struct flight_record *r = flight_at(f, index);
    if (r->sent & (FLIGHT_LOST | FLIGHT_SACKED))
        return 0;
    const uint32_t start = flight_record_start(f, index), bytes = r->end - start;
    r->sent |= FLIGHT_LOST;
    flight_lost_note(f, start);
    f->lost += bytes;
    return bytes;
}

void flight_lose_first(struct memory *memory, struct flight **flight, uint32_t mss, struct flight_delta *delta)
{
    if ((*flight)->count == 0 || flight_at(*flight, 0)->sent & (FLIGHT_LOST | FLIGHT_SACKED))
        return;
    const uint32_t end = flight_at(*flight, 0)->end;
    flight_cut(memory, flight, (*flight)->start, (*flight)->start + min_u32(mss, end - (*flight)->start));
    delta->newly_lost += flight_lose(*flight, 0);
}

uint32_t flight_lose_all(struct flight *f)
{
    uint32_t bytes = 0;
    // RFC 2018 §8: a SACKED record at the left edge is data the peer has thrown away.
    const bool reneged = f->count && flight_at(f, 0)->sent & FLIGHT_SACKED;
    if (reneged) {
        f->sacked = 0;
        f->fack = f->start;
    }
    for (uint32_t index = 0; index < f->count; index++) {
        if (reneged)
            flight_at(f, index)->sent &= ~(uint32_t)FLIGHT_SACKED;
        bytes += flight_lose(f, index);
    }
    return bytes;
}

void flight_unlose(struct flight *f)
{
    for (uint32_t index = 0; f->lost && index < f->count; index++) {
        struct flight_record *r = flight_at(f, index);
        if (r->sent & FLIGHT_LOST && r->sent & FLIGHT_RETRANSMITTED)
            flight_resent_note(f, flight_time(r->sent));
        r->sent &= ~(uint32_t)FLIGHT_LOST;
    }
    f->lost = 0;
    f->detected = f->start;
}

uint32_t flight_first_plain(const struct flight *f) { return flight_find(f, f->detected); }

bool flight_next_lost(struct flight *f, uint32_t from, uint32_t *start, uint32_t *end)
{
    if (f->lost == 0)
        return false;
    from = seq_max(from, f->start);
    uint32_t index = flight_find(f, from);
    while (index < f->count && !(f->record[f->head + index].sent & FLIGHT_LOST))
        index++;
    if (index == f->count)
        return false;
    *start = seq_max(from, flight_record_start(f, index));
    flight_lost_passed(f, from, *start);
    // Small neighbours go together (RFC 9293 §3.8.6 lets segments be cut anew), but only a few: this is called for each
    // segment.
    const uint32_t last = min_u32(index + FLIGHT_GATHER, f->count);
    while (index < last && f->record[f->head + index].sent & FLIGHT_LOST)
        *end = f->record[f->head + index++].end;
    return true;
}

void flight_resent(struct memory *memory, struct flight **flight, uint32_t start, uint32_t end, uint32_t now_us)
{
    if (!flight_clip(*flight, &start, end))
        return;
    flight_cut(memory, flight, start, end);

    struct flight *f = *flight;
    uint32_t index = flight_find(f, start);
    flight_lost_passed(f, start, end);
    for (; index < f->count && seq_lt(flight_record_start(f, index), end); index++) {
        struct flight_record *r = flight_at(f, index);
        if (r->sent & FLIGHT_SACKED)
            continue;
        if (r->sent & FLIGHT_LOST)
            f->lost -= r->end - flight_record_start(f, index);
        f->retransmitted += !(r->sent & FLIGHT_RETRANSMITTED);
        flight_resent_note(f, flight_time(now_us));
        r->sent = flight_time(now_us) | FLIGHT_RETRANSMITTED;
        flight_stamp(f, r);
        index -= flight_merge_back(f, index);
    }
}
