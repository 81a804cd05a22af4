// SPDX-License-Identifier: BSD-2-Clause
// Delivery-rate samples: what was delivered between the sending of a segment and its delivery, over the longer of the
// time in which that was sent and the time in which its acknowledgements came, so that neither a burst sent nor
// acknowledgements compressed on their way look like a faster path.
#include "tcp/rate.h"

#include "tcp/internal.h"

static uint32_t delivered(const struct flight *f) { return f->start + f->sacked; }

void tcp_rate_attach(const struct weir *weir, struct tcp_conn *c)
{
    struct flight *f = c->flow->flight;
    f->unstamped = !tcp_cc(weir, c)->wants_rate;
    f->delivered_us = weir->now;
    c->flow->rate.round_end = c->flow->rate.prior_delivered = c->flow->rate.idle_end = f->start;
    f->first_sent_us |= FLIGHT_APP_LIMITED;
}

void tcp_rate_begin(struct weir *weir, struct tcp_conn *c)
{
    struct flight *f = c->flow->flight;
    struct tcp_rate *rate = &c->flow->rate;
    f->unstamped = false;
    if (f->count == 0)
        return;
    f->delivered_us = weir->now & ~FLIGHT_FLAGS;
    rate->round_end = rate->prior_delivered = delivered(f);
    rate->interval_us = 0;
    for (uint32_t i = 0; i < f->count; i++) {  // the whole log, but only at a switch
        struct flight_record *r = &f->record[f->head + i];
        f->first_sent_us = (r->sent & ~FLIGHT_FLAGS) | (f->first_sent_us & FLIGHT_APP_LIMITED);
        flight_stamp(f, r);
    }
}

void tcp_rate_written(struct weir *weir, struct tcp_conn *c)
{
    struct flight *f = c->flow->flight;
    // Draft §3.4: nothing more to send, nothing waits below, cwnd has room, and all that was lost was sent again.
    if (tcp_unsent(c) >= c->mss || f->lost || tcp_recovery_pipe(c) + c->mss > c->flow->window.cwnd ||
        tcp_pacing_waits(weir, c))
        return;
    f->first_sent_us |= FLIGHT_APP_LIMITED;
    c->flow->rate.idle_end = delivered(f) + flight_pipe(f);
}

// Of two samples limited by the application the faster is nearer to what the network can do.
static void remember(struct tcp_rate *rate, const struct weir_cc_sample *sample)
{
    if (sample->app_limited && rate->interval_us &&
        (uint64_t)sample->delivered * rate->interval_us < (uint64_t)rate->delivered * sample->interval_us)
        return;
    rate->delivered = sample->delivered;
    rate->interval_us = sample->interval_us;
    rate->app_limited = sample->app_limited;
}

#define SPAN_ROUNDS 4u  // so many at the least: where a span begins and ends is known to a round trip

// A clock cannot tell the time of a round trip shorter than its tick, but how many of them fit between its ticks: rate
// and mean round trip of so many rounds, by the port's own clock.
static void take_span(struct weir *weir, struct tcp_conn *c, struct weir_cc_sample *sample)
{
    struct tcp_rate *rate = &c->flow->rate;
    const uint32_t now_us = (uint32_t)weir->now_us, elapsed_us = now_us - rate->span_us;
    rate->span_app_limited |= sample->app_limited;
    if (!sample->round_start)
        return;
    if (rate->rounds && (rate->rounds < SPAN_ROUNDS || elapsed_us < weir->port->granularity_us)) {
        rate->rounds++;
        return;
    }
    if (rate->rounds && elapsed_us <= INT32_MAX) {
        sample->delivered = sample->total_delivered - rate->span_delivered;
        sample->interval_us = elapsed_us;
        sample->app_limited = rate->span_app_limited;
        sample->rtt_us = max_u32(elapsed_us / rate->rounds, 1);
        rate->round_trip_us = rate->round_trip_us ? min_u32(rate->round_trip_us, sample->rtt_us) : sample->rtt_us;
        sample->min_rtt_us = rate->round_trip_us;
        remember(rate, sample);
    }
    rate->rounds = 1;
    rate->span_us = now_us;
    rate->span_delivered = sample->total_delivered;
    rate->span_app_limited = false;
}

static void take_stamp(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta,
                       struct weir_cc_sample *sample)
{
    struct tcp_rate *rate = &c->flow->rate;
    struct flight *f = c->flow->flight;
    const struct flight_stamp *stamp = &delta->stamp;
    const uint32_t sent_us = delta->newest_sent_us & ~FLIGHT_FLAGS,
                   first_sent_us = stamp->first_sent_us & ~FLIGHT_FLAGS;
    rate->prior_delivered = stamp->delivered;
    f->delivered_us = weir->now & ~FLIGHT_FLAGS;
    f->first_sent_us = sent_us | (f->first_sent_us & FLIGHT_APP_LIMITED);
    sample->app_limited = stamp->first_sent_us & FLIGHT_APP_LIMITED;
    sample->delivered = sample->total_delivered - stamp->delivered;
    sample->tx_inflight = delta->newest_end - stamp->delivered;
    if (!seq_lt(stamp->delivered, rate->round_end)) {
        rate->round_end = sample->total_delivered;
        sample->round_start = true;
    }
    if (sample->clock_coarse) {
        take_span(weir, c, sample);
        return;
    }
    const uint32_t interval_us = max_u32(sent_us - first_sent_us, weir->now - stamp->delivered_us);
    // Less than the smallest round trip: the data of an earlier burst is counted in, or what came was an earlier
    // transmission. After the peer has reneged less may be delivered than was. From one tick to the next it may look
    // like half a tick less (clock_step).
    const uint32_t slack_us = weir->port->granularity_us / 2;
    if (interval_us + slack_us < sample->min_rtt_us || (int32_t)sample->delivered <= 0 || interval_us > INT32_MAX)
        return;
    sample->interval_us = max_u32(interval_us, slack_us ? sample->min_rtt_us : 1);
    remember(rate, sample);
}

// Times of a round trip shorter than the clock's tick say nothing.
static void no_finer_than_the_clock(const struct weir *weir, const struct tcp_rate *rate, struct weir_cc_sample *sample)
{
    const uint32_t tick_us = weir->port->granularity_us;
    sample->clock_coarse = sample->min_rtt_us < tick_us;
    if (!sample->clock_coarse)
        return;
    sample->rtt_us = 0;
    sample->srtt_us = sample->min_rtt_us = rate->round_trip_us ? rate->round_trip_us : tick_us;
}

void tcp_rate_sample(struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta,
                     struct weir_cc_sample *sample)
{
    struct tcp_rate *rate = &c->flow->rate;
    struct flight *f = c->flow->flight;
    rate->lost += delta->newly_lost;
    sample->total_lost = rate->lost;
    sample->total_delivered = delivered(f);
    no_finer_than_the_clock(weir, rate, sample);
    if (f->first_sent_us & FLIGHT_APP_LIMITED && seq_lt(rate->idle_end, sample->total_delivered))
        f->first_sent_us &= ~FLIGHT_APP_LIMITED;
    if (delta->delivered)
        take_stamp(weir, c, delta, sample);
    else
        sample->app_limited = false;
    sample->prior_delivered = rate->prior_delivered;
}

void tcp_rate_event(const struct weir *weir, const struct tcp_conn *c, struct weir_cc_sample *sample)
{
    sample->total_lost = c->flow->rate.lost;
    sample->total_delivered = delivered(c->flow->flight);
    no_finer_than_the_clock(weir, &c->flow->rate, sample);
}

void tcp_rate_info(const struct tcp_conn *c, struct weir_tcp_info *out)
{
    const struct tcp_rate *rate = &c->flow->rate;
    out->delivery_rate = rate->interval_us ? (uint64_t)rate->delivered * 1000000u / rate->interval_us : 0;
    out->delivery_rate_app_limited = rate->app_limited;
}
