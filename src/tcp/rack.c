// SPDX-License-Identifier: BSD-2-Clause
// RACK (RFC 8985 §6): what left before something that has been delivered, by more than the window for reordering, is
// lost; of that, too, what was sent again. Work: a look at each record that was sent once, is neither SACKED nor LOST,
// and left before the newest delivered. Where something was sent again before the newest delivered left, and neither
// came nor was found lost: at each record up to there.
#include "tcp/internal.h"

#define RECOVERIES_TO_KEEP 16u  // §6.2, step 4: RACK.reo_wnd_persist
#define MULTIPLIER_MAX 63u      // beyond, SRTT is the smaller bound for any path worth the name
#define DUPLICATES 3u           // DupThresh

// What was in flight when the peer last reported a duplicate still is, some of it.
static inline bool in_round(const struct tcp_conn *c)
{
    const struct rack *rack = &c->flow->rack;
    return rack->round && rack->dsack_round - c->snd.una - 1 < c->snd.nxt - c->snd.una;
}

// The latest that a segment with the timestamp that is echoed can have left: a clock that ticks with the milliseconds
// shows none of the time between, and steps (clock_step) make less than half a tick.
static uint32_t echo_latest(const struct weir *weir, const struct tcp_conn *c, const struct tcp_segment *segment)
{
    const uint32_t tick_us = weir->port->granularity_us;
    const uint32_t began_us =
        (uint32_t)weir->now_us - weir->ms_fraction_us - (weir->now_ms - tcp_timestamps_echo_ms(c, segment)) * 1000;
    return began_us + tick_us / 2 + (tick_us % 1000 || weir->ms_fraction_us ? 999 : 0);
}

// What was sent again later than the limit is not taken for what this acknowledgement is of (§6.2, step 2): it is
// younger than any round trip, or than the timestamp echoed. An ACK that only SACKs echoes an older one, and tells
// nothing by it. By its ticks a clock may have shown the shortest round trip up to one too long, and this one up to one
// too short.
static void limit_young(const struct weir *weir, const struct tcp_conn *c, const struct tcp_segment *segment,
                        struct flight_delta *delta)
{
    delta->limit_young = c->rtt.min_us != UINT32_MAX;
    delta->young_us = weir->now - (c->rtt.min_us - min_u32(c->rtt.min_us, weir->port->granularity_us));
    if (!tcp_timestamps_rtt(weir, c, segment) || !seq_lt(c->snd.una, segment->ack))
        return;
    const uint32_t latest_us = echo_latest(weir, c, segment);
    delta->young_us = delta->limit_young ? seq_min(delta->young_us, latest_us) : latest_us;
    delta->limit_young = true;
}

void tcp_rack_begin(const struct weir *weir, struct tcp_conn *c, const struct tcp_segment *segment,
                    struct flight_delta *delta)
{
    delta->fack = c->snd.una;
    if (!c->flow)
        return;
    delta->fack = c->flow->flight->fack;
    limit_young(weir, c, segment, delta);
    if (flight_plain(c->flow->flight))
        c->flow->rack.valid = false;
}

// §6.2, steps 2 and 3. A clock coarser than the round trip shows one time for what was delivered and for what is sent
// because of that; their order is all that RACK needs, and that is known.
void tcp_rack_ack(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta)
{
    struct rack *rack = &c->flow->rack;
    rack->reordering |= delta->reordered;
    rack->wait_us = 0;  // tcp_rack_detect, which is not asked when all has come, knows better
    if (!delta->late_valid)
        return;
    rack->rtt_us = weir->now - delta->late_us;
    if (delta->late_us == flight_time(weir->now))
        clock_step(weir, FLIGHT_STEP_US);
    if (rack->valid && !flight_sent_after(delta->late_us, delta->late_end, rack->sent_us, rack->end))
        return;
    rack->valid = true;
    rack->sent_us = delta->late_us;
    rack->end = delta->late_end;
    rack->resent = delta->late_resent;
}

// §6.2, step 4: a duplicate says that the window was too small; once a round trip.
void tcp_rack_duplicate(struct tcp_conn *c)
{
    struct rack *rack = &c->flow->rack;
    if (in_round(c))
        return;
    rack->round = true;
    rack->dsack_round = c->snd.nxt;
    rack->multiplier += rack->multiplier < MULTIPLIER_MAX;
    rack->persist = RECOVERIES_TO_KEEP;
}

void tcp_rack_recovered(struct tcp_conn *c)
{
    struct rack *rack = &c->flow->rack;
    if (rack->persist && !--rack->persist)
        rack->multiplier = 0;
}

// Where the clock cannot tell the transmissions of a round trip apart it is rather these that were taken for one
// another: no reason to wait a tick for each loss from then on.
void tcp_rack_late(const struct weir *weir, struct tcp_conn *c)
{
    c->flow->rack.reordering |= c->rtt.min_us >= weir->port->granularity_us;
}

// A quarter of the shortest round trip, times the multiplier; where segments have come out of order never finer than
// the clock. On the shortest paths a quarter is nothing at all.
static uint32_t window_of(const struct weir *weir, const struct tcp_conn *c, uint32_t times)
{
    const uint32_t tick_us =
        c->flow->rack.reordering ? max_u32(weir->port->granularity_us, FLIGHT_STEP_US) : FLIGHT_STEP_US;
    return c->rtt.min_us == UINT32_MAX ? tick_us
                                       : max_u32(min_u32(c->rtt.min_us / 4 * times, rtt_smoothed(&c->rtt)), tick_us);
}

// §6.2, step 4.
static uint32_t window_us(const struct weir *weir, const struct tcp_conn *c)
{
    const struct rack *rack = &c->flow->rack;
    const bool sure = c->attention & ATTEND_RECOVERY || c->flow->flight->sacked > (DUPLICATES - 1) * c->mss ||
                      c->flow->duplicate_acks >= DUPLICATES;
    return !rack->reordering && sure ? 0 : window_of(weir, c, rack->multiplier + 1u);
}

// Where the search begins: at the beginning of the log only if something that was sent again may be lost.
static uint32_t search_from(struct flight *f, const struct rack *rack)
{
    if (!flight_resent_since(f, rack->sent_us))
        return flight_first_plain(f);
    flight_resent_none(f);
    return 0;
}

void tcp_rack_detect(const struct weir *weir, struct tcp_conn *c, struct flight_delta *delta)
{
    struct rack *rack = &c->flow->rack;
    struct flight *f = c->flow->flight;
    rack->wait_us = 0;
    if (!rack->valid)
        return;
    if (WEIR_CFG_ALLOCATOR)
        f->detected = seq_max(f->detected, f->start);
    const uint32_t usual = rack->rtt_us + window_us(weir, c);
    const bool steps = clock_steps(weir, FLIGHT_STEP_US);
    // more than a clock_step
    const uint32_t doubtful = rack->rtt_us + max_u32(window_of(weir, c, 1), 2 * FLIGHT_STEP_US);
    bool flagged = true;  // each record so far, so that the next search need not look at those that were sent once
    for (uint32_t index = search_from(f, rack); index < f->count; index++) {
        const struct flight_record *r = flight_at(f, index);
        if (WEIR_CFG_ALLOCATOR && flagged)
            f->detected = seq_max(f->detected, flight_record_start(f, index));
        if (r->sent & (FLIGHT_SACKED | FLIGHT_LOST))
            continue;
        if (r->sent & FLIGHT_RETRANSMITTED)
            flight_resent_note(f, flight_time(r->sent));
        if (!flight_sent_after(rack->sent_us, rack->end, flight_time(r->sent), r->end)) {
            if (!(r->sent & FLIGHT_RETRANSMITTED))
                return;  // what follows left later still
            continue;
        }
        // Where the clock has no more steps, what was sent again at the time at which the newest delivered was sent for
        // the first time left after it as likely as not.
        const bool doubt =
            !steps && r->sent & FLIGHT_RETRANSMITTED && !rack->resent && flight_time(r->sent) == rack->sent_us;
        const uint32_t waited = weir->now - flight_time(r->sent), patience = doubt ? max_u32(usual, doubtful) : usual;
        if (waited >= patience) {
            delta->newly_lost += flight_lose(f, index);
        } else {
            rack->wait_us = max_u32(rack->wait_us, patience - waited);
            flagged &= r->sent & FLIGHT_RETRANSMITTED;
        }
    }
}

uint32_t tcp_rack_timeout(struct weir *weir, struct tcp_conn *c)
{
    struct rack *rack = &c->flow->rack;
    struct flight *f = c->flow->flight;
    struct flight_delta delta = {0};
    rack->wait_us = 0;
    if (f->count && flight_at(f, 0)->sent & FLIGHT_SACKED) {  // the peer has reneged
        rack->valid = false;
        return flight_lose_all(f);
    }
    const uint32_t patience = (rack->rtt_us ? rack->rtt_us : rtt_smoothed(&c->rtt)) + window_us(weir, c);
    flight_lose_first(&weir->memory, &c->flow->flight, c->mss, &delta);
    f = c->flow->flight;
    for (uint32_t index = 0; index < f->count; index++)
        if (weir->now - flight_time(flight_at(f, index)->sent) >= patience)
            delta.newly_lost += flight_lose(f, index);
    return delta.newly_lost;
}

uint32_t tcp_rack_wait(const struct tcp_conn *c) { return c->flow->rack.wait_us; }
