// SPDX-License-Identifier: BSD-2-Clause
// Pacing. The schedule is one number: when the next quantum may go. What was sent moves it on by the time that the rate
// takes for it. A timer that fires late finds it in the past and catches up, but by no more than PACING_LATE_MAX_US: a
// long sleep must not become a burst. Where something else held the flow back, window or user, a quantum is all that is
// made up for.
#include "tcp/pacing.h"

#include "tcp/internal.h"

// A quantum is what a coarse clock lets through in a tick, and at high rates at least a 4096th of a second's data, or
// there would be more timers than a CPU can serve; where the device cuts segments, about a millisecond's, so that it
// has something to cut.
#define PACING_SHIFT 12u
#define PACING_SHIFT_TSO 10u
#define PACING_SEGMENTS 2u  // a quantum is never less: the peer acknowledges every other
// How late a process may wake on a busy host without its flows losing their rate (measured: a quantum alone, a quarter
// of a millisecond at 100 Mbit/s, costs most of it), and never more than the queue of a quarter of a round trip.
#define PACING_LATE_MAX_US 4000u
// 67 s; what lies further in the future is a schedule so old that the clock has wrapped
#define PACING_WAIT_MAX_US 0x4000000u

void tcp_pacing_attach(struct tcp_conn *c) { c->flow->pacing.allowed = UINT32_MAX; }

bool tcp_pacing_asked(const struct tcp_conn *c) { return c->extra && c->extra->pacing_limit; }

// As Linux without a pacing queue: twice cwnd a round trip while it may double in the next, 1.2 times after, so that
// the rate never keeps cwnd from being used.
static uint32_t own_rate(const struct tcp_conn *c)
{
    const uint32_t srtt_us = rtt_smoothed(&c->rtt), cwnd = c->flow->window.cwnd;
    if (!srtt_us)
        return 0;
    const uint32_t gain = cwnd < c->flow->window.ssthresh / 2 ? 2000000u : 1200000u;
    const uint64_t rate = (uint64_t)cwnd * gain / srtt_us;
    return rate < WEIR_CC_UNLIMITED ? max_u32((uint32_t)rate, 1) : WEIR_CC_UNLIMITED;
}

uint32_t tcp_pacing_rate(const struct tcp_conn *c)
{
    const uint32_t limit = c->extra ? c->extra->pacing_limit : 0;
    uint32_t rate = c->flow->window.pacing_rate;
    if (!rate && (WEIR_CFG_TCP_PACING == 2 || limit))
        rate = own_rate(c);
    if (limit && limit != PACING_OWN_RATE)
        rate = rate ? min_u32(rate, limit) : limit;
    return rate == WEIR_CC_UNLIMITED ? 0 : rate;
}

static uint32_t pacing_us(uint32_t bytes, uint32_t rate)
{
    const uint64_t us = (uint64_t)bytes * 1000000u / rate;
    return us < PACING_WAIT_MAX_US ? (uint32_t)us : PACING_WAIT_MAX_US;
}

static uint32_t quantum(const struct weir *weir, const struct tcp_conn *c, uint32_t rate)
{
    const uint32_t tick = (uint32_t)((uint64_t)rate * weir->port->granularity_us / 1000000u);
    const uint32_t share = rate >> (c->path.netif->capabilities & tcp_offload_tso(c) ? PACING_SHIFT_TSO : PACING_SHIFT);
    return max_u32(max_u32(tick, share), max_u32(PACING_SEGMENTS, c->flow->window.burst_segments) * c->mss);
}

bool tcp_pacing_waits(const struct weir *weir, const struct tcp_conn *c)
{
    const uint32_t wait_us = c->flow->pacing.next_us - weir->now;
    return c->flow->pacing.rate && wait_us && wait_us <= PACING_WAIT_MAX_US;
}

void tcp_pacing_open(struct weir *weir, struct tcp_conn *c)
{
    struct tcp_pacing *p = &c->flow->pacing;
    const uint32_t before = p->rate;
    p->rate = tcp_pacing_rate(c);
    p->allowed = UINT32_MAX;
    if (!p->rate)
        return;
    if (!before)
        p->next_us = weir->now;
    p->granted = quantum(weir, c, p->rate);
    p->allowed = tcp_pacing_waits(weir, c) ? 0 : p->granted;
    if (!p->allowed)
        p->granted = 0;
}

void tcp_pacing_close(struct weir *weir, struct tcp_conn *c)
{
    struct tcp_pacing *p = &c->flow->pacing;
    if (p->allowed == UINT32_MAX)
        return;
    if (p->allowed != p->granted) {
        const uint32_t late_us = weir->now - p->next_us, quantum_us = pacing_us(p->granted, p->rate);
        const uint32_t most_us =
            p->held ? max_u32(quantum_us, min_u32(rtt_smoothed(&c->rtt) / 4, PACING_LATE_MAX_US)) : quantum_us;
        p->next_us = weir->now - min_u32(late_us, most_us) + pacing_us(p->granted - p->allowed, p->rate);
    }
    const bool waiting =
        tcp_unsent(c) || c->flow->flight->lost || c->attention & ATTEND_RETRANSMIT_NOW || tcp_tlp_due(c);
    p->held = p->allowed < c->mss && waiting;
    if (p->held)
        tcp_timers_paced(weir, c);
}

bool tcp_pacing_armed(const struct tcp_conn *c) { return c->flow && c->flow->pacing.armed; }
void tcp_pacing_arm(struct tcp_conn *c, bool armed) { c->flow->pacing.armed = armed; }
uint32_t tcp_pacing_due(const struct tcp_conn *c) { return c->flow->pacing.next_us; }

// --- the socket's limit ----------------------------------------------------------------------------------------------

int tcp_pacing_set(struct weir *weir, struct tcp_conn *c, uint32_t bytes_per_s)
{
    if (!c->extra && !bytes_per_s)
        return WEIR_OK;
    struct tcp_extra *extra = tcp_conn_extra(weir, c);
    if (!extra)
        return WEIR_NO_MEMORY;
    extra->pacing_limit = bytes_per_s;
    if (c->flow)
        c->flow->pacing.next_us = weir->now;  // a wait that the old limit imposed is over
    return WEIR_OK;
}

int32_t tcp_pacing_limit(const struct tcp_conn *c) { return c->extra ? (int32_t)c->extra->pacing_limit : 0; }
