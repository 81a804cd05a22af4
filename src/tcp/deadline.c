// SPDX-License-Identifier: BSD-2-Clause
// Sending with a deadline: bundles, chances, and the timeout (deadline.h). The flight log is what remembers when each
// piece was first sent: neither a bundle nor a chance touches it, so a record's age is that of its data until loss
// recovery sends it again. Work per call: the records of one flight, which for a stream of frames are few, and of a
// bundle those of one segment.
#include "tcp/deadline.h"

#include "tcp/internal.h"
#include "tcp/sack.h"

#define SLACK_US 2000u       // what a busy host may take to answer
#define DOUBLED_MOST 6u      // 10 s then fit 32 bits of µs
#define RTO_LEAST_US 30000u  // two frames of voice are not a loss

// --- what a segment carries again ------------------------------------------------------------------------------------

// Whole records, since those are what was written and sent at one time, from the newest back; not what the peer holds
// already at the beginning of it.
uint32_t tcp_deadline_bundle(const struct tcp_conn *c, uint32_t end, uint32_t most)
{
    struct flight *f = c->flow->flight;
    uint32_t start = c->snd.nxt;
    if (tcp_syn_unacked(c))
        return start;
    for (uint32_t i = f->count; i-- > 0 && end - flight_record_start(f, i) <= most;)
        if (!(flight_at(f, i)->sent & FLIGHT_SACKED))
            start = flight_record_start(f, i);
    return start;
}

// From the first byte that the peer has not, up to the next that it has.
bool tcp_deadline_due(const struct tcp_conn *c, uint32_t *start, uint32_t *end)
{
    struct flight *f;
    uint32_t index = 0;
    if (!c->extra->deadline.due || c->snd.una == c->snd.nxt)
        return false;
    f = c->flow->flight;
    while (index < f->count && flight_at(f, index)->sent & FLIGHT_SACKED)
        index++;
    if (index == f->count)
        return false;
    *start = flight_record_start(f, index);
    while (index < f->count && !(flight_at(f, index)->sent & FLIGHT_SACKED) &&
           flight_record_start(f, index) - *start < c->mss)
        index++;
    *end = seq_min(flight_record_start(f, index), *start + c->mss);
    return true;
}

void tcp_deadline_left(const struct weir *weir, struct tcp_conn *c, uint32_t seq, uint32_t end, bool chance)
{
    struct tcp_deadline *d = &c->extra->deadline;
    if (seq_le(seq, c->snd.una)) {
        d->sent_us = weir->now;
        d->carried = end;
    }
    if (!chance)
        return;
    d->due = false;
    d->chance = true;
    d->repeated = c->snd.nxt;
}

// --- when ------------------------------------------------------------------------------------------------------------

// An acknowledgement that takes longer than this does not come. Where one was given up before and no round trip has
// been measured since, it may only have taken longer, as behind a queue that has grown: the next one has twice the time
// (as RFC 6298 §5.5 has it, and §5.7, Karn).
static uint32_t patience_us(const struct weir *weir, const struct tcp_conn *c)
{
    const uint32_t srtt = rtt_smoothed(&c->rtt);
    const uint32_t us =
        srtt + max_u32(min_u32(c->rtt.rttvar4_us, srtt), srtt / 4) + SLACK_US + weir->port->granularity_us;
    return min_u32(us, DEADLINE_MOST_US) << c->extra->deadline.doubled;
}

// So long after it was sent a piece may have its last chance and still come in time; 0: its acknowledgement would not
// have come by then.
static uint32_t last_chance_us(const struct weir *weir, const struct tcp_conn *c)
{
    const uint32_t srtt = rtt_smoothed(&c->rtt), slack = SLACK_US + weir->port->granularity_us,
                   way = srtt / 2 + srtt / 8 + slack;
    return c->extra->deadline.us >= srtt + slack + way ? c->extra->deadline.us - way : 0;
}

// The first record that is still to have its last chance; count: none.
static uint32_t next_to_give(const struct tcp_conn *c)
{
    struct flight *f = c->flow->flight;
    uint32_t index = 0;
    while (index < f->count &&
           (flight_at(f, index)->sent & FLIGHT_FLAGS || seq_le(flight_at(f, index)->end, c->extra->deadline.given)))
        index++;
    return index;
}

bool tcp_deadline_ahead(const struct weir *weir, const struct tcp_conn *c)
{
    return tcp_pause_us(weir->now_ms - c->progress_ms) < c->extra->deadline.us && !(c->attention & ATTEND_PERSIST);
}

uint32_t tcp_deadline_wait(const struct weir *weir, const struct tcp_conn *c)
{
    if (!tcp_deadline_ahead(weir, c) || c->snd.una == c->snd.nxt || !tcp_synchronised(c) || !c->rtt.srtt8_us)
        return 0;
    struct flight *f = c->flow->flight;
    uint32_t oldest = 0;
    while (oldest < f->count && flight_at(f, oldest)->sent & FLIGHT_SACKED)
        oldest++;
    if (oldest == f->count)
        return 0;
    const struct tcp_deadline *d = &c->extra->deadline;
    uint32_t sent = flight_time(flight_at(f, oldest)->sent);
    if (d->due)
        sent = weir->now;  // it is about to leave
    else if (seq_lt(flight_record_start(f, oldest), d->carried))
        sent = seq_max(sent, d->sent_us);
    const uint32_t after = last_chance_us(weir, c), give = after ? next_to_give(c) : f->count;
    uint32_t due = sent + patience_us(weir, c);
    if (give < f->count)
        due = seq_min(due, flight_time(flight_at(f, give)->sent) + after);
    return seq_lt(weir->now, due) ? due - weir->now : 1;
}

void tcp_deadline_fire(struct weir *weir, struct tcp_conn *c)
{
    struct tcp_deadline *d = &c->extra->deadline;
    const uint32_t after = last_chance_us(weir, c), give = after ? next_to_give(c) : c->flow->flight->count;
    if (give < c->flow->flight->count) {
        const struct flight_record *r = flight_at(c->flow->flight, give);
        if (seq_le(flight_time(r->sent) + after, weir->now))
            d->given = r->end;
    }
    d->doubled += d->doubled < DOUBLED_MOST;
    d->due = true;
    tcp_wants_output(weir, c);
}

// The variation counts for as much as the round trip, where the socket has no smaller floor.
uint32_t tcp_deadline_rto(const struct tcp_conn *c)
{
    struct rtt rtt = c->rtt;
    rtt.floor_us = min_u32(rtt.floor_us, rtt_smoothed(&rtt));
    return max_u32(rtt_timeout(&rtt, c->backoff), RTO_LEAST_US);
}

// --- what came of it -------------------------------------------------------------------------------------------------

// The peer acknowledges each bundle at once, and reports what of it it had (RFC 2883). What it had not, beside the
// newest, was lost before; as was what a chance has brought. More than fits a segment was not brought by one.
bool tcp_deadline_loss_repaired(const struct tcp_conn *c, const struct tcp_segment *segment)
{
    if (!c->flow || !seq_lt(c->snd.una, segment->ack))
        return false;
    struct flight *f = c->flow->flight;
    const bool duplicate = c->flags & TCP_USE_SACK && tcp_dsack_reported(segment);
    if (!duplicate && c->extra->deadline.chance)
        return true;
    const uint32_t had =
        duplicate ? seq_max(c->snd.una, seq_min(segment->options.sack[0].right, segment->ack)) : c->snd.una;
    if (segment->ack - had > c->mss)
        return false;
    for (uint32_t index = 0; index < f->count; index++)
        if (seq_lt(had, flight_at(f, index)->end))
            return seq_lt(flight_at(f, index)->end, segment->ack) && !(flight_at(f, index)->sent & FLIGHT_FLAGS);
    return false;
}

void tcp_deadline_acked(struct tcp_conn *c, struct flight_delta *delta)
{
    struct tcp_deadline *d = &c->extra->deadline;
    d->given = seq_max(d->given, c->snd.una);
    d->carried = seq_max(d->carried, c->snd.una);
    if (!d->chance)
        return;
    delta->rtt_valid = false;  // Karn
    d->chance = seq_lt(c->snd.una, d->repeated);
}

void tcp_deadline_sampled(struct tcp_conn *c) { c->extra->deadline.doubled = 0; }

void tcp_deadline_tell(struct weir *weir, struct tcp_conn *c)
{
    struct tcp_deadline *d = &c->extra->deadline;
    if (c->attention & ATTEND_RECOVERY || (d->told && seq_in(d->round, c->snd.una + 1, c->snd.nxt + 1)))
        return;
    d->told = true;
    d->round = c->snd.nxt;
    tcp_cc_event(weir, c, WEIR_CC_ENTER_RECOVERY);
    tcp_cc_event(weir, c, WEIR_CC_EXIT_RECOVERY);
}

// --- the option ------------------------------------------------------------------------------------------------------

int tcp_deadline_set(struct weir *weir, struct tcp_conn *c, uint32_t us)
{
    if (!c->extra && !us)
        return WEIR_OK;
    struct tcp_extra *extra = tcp_conn_extra(weir, c);
    if (!extra)
        return WEIR_NO_MEMORY;
    tcp_attend(c, ATTEND_DEADLINE, us != 0);
    extra->deadline = (struct tcp_deadline){.us = us, .sent_us = weir->now, .carried = c->snd.una, .given = c->snd.una};
    return WEIR_OK;
}

int32_t tcp_deadline_get(const struct tcp_conn *c) { return c->extra ? (int32_t)c->extra->deadline.us : 0; }
