// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/cwv.h"

#include "tcp/internal.h"

#define PHASE_MOST_MS 300000u  // §4.4.3: how long a window that is not used is kept

// Nothing is known.
static void forget(struct tcp_conn *c) { c->flow->cwv = (struct tcp_cwv){.from = c->snd.una, .round_end = c->snd.una}; }

void tcp_cwv_attach(struct tcp_conn *c) { forget(c); }

uint32_t tcp_cwv_pipe(const struct tcp_conn *c) { return c->flow->cwv.defined ? c->flow->cwv.greatest : UINT32_MAX; }

// Parts of the period that are over: they, and the oldest, are forgotten.
COLD static void turn(const struct weir *weir, struct tcp_conn *c, uint32_t elapsed_ms)
{
    struct tcp_cwv *v = &c->flow->cwv;
    const uint32_t part_ms = max_u32(CWV_PERIOD_LEAST_MS, 3 * (rtt_smoothed(&c->rtt) / 1000)) / CWV_PARTS;
    const uint32_t over = v->defined ? min_u32(elapsed_ms / part_ms, CWV_PARTS) : CWV_PARTS;
    if (!over)
        return;
    memmove(v->peak + over, v->peak, (CWV_PARTS - over) * sizeof v->peak[0]);
    memset(v->peak, 0, over * sizeof v->peak[0]);
    v->part_ms = weir->now_ms;
    v->greatest = 0;
    for (uint32_t i = 0; i < CWV_PARTS; i++)
        v->greatest = max_u32(v->greatest, v->peak[i]);
}

// §4.2: the greatest sample of the period counts. It is kept in parts, the oldest of which is forgotten.
static void remember(const struct weir *weir, struct tcp_conn *c, uint32_t volume)
{
    struct tcp_cwv *v = &c->flow->cwv;
    const uint32_t elapsed_ms = weir->now_ms - v->part_ms;
    if (!v->defined || elapsed_ms >= CWV_PERIOD_LEAST_MS / CWV_PARTS)
        turn(weir, c, elapsed_ms);
    v->peak[0] = max_u32(v->peak[0], volume);
    v->greatest = max_u32(v->greatest, volume);
    v->defined = true;
}

// §4.4.3: after five minutes half of what is not used is given up, and again after five more.
static void phase(const struct weir *weir, struct tcp_conn *c)
{
    struct tcp_cwv *v = &c->flow->cwv;
    struct weir_cc_window *window = &c->flow->window;
    // In slow start the sample is of a window half as large. Where cwnd held back what there was to send, it is in use,
    // whatever of that the acknowledgements tell.
    const uint32_t least = window->cwnd < window->ssthresh ? window->cwnd / 4 : window->cwnd / 2;
    const bool in_use = c->flags & TCP_CWND_LIMITED && !tcp_pacing_held(c);
    const bool unused = v->greatest < least && !in_use, goes_on = unused && v->unused;
    v->unused = unused;
    if (!goes_on)
        v->phase_ms = weir->now_ms;
    if (weir->now_ms - v->phase_ms < PHASE_MOST_MS || tcp_cc(weir, c)->owns_recovery)
        return;
    const uint32_t initial = min_u32(10u * c->mss, max_u32(2u * c->mss, 14600));  // RFC 6928 §2
    window->ssthresh = max_u32(window->ssthresh, window->cwnd - window->cwnd / 4);
    window->cwnd = min_u32(window->cwnd, max_u32(window->cwnd / 2, initial));
    v->phase_ms = weir->now_ms;
}

// What was acknowledged from one moment until what was in flight then is: a round trip's worth. With the first
// acknowledgement after a pause it is known what left after it.
void tcp_cwv_round(struct weir *weir, struct tcp_conn *c)
{
    struct tcp_cwv *v = &c->flow->cwv;
    if (v->from == v->round_end && seq_lt(c->snd.una, c->snd.nxt)) {
        v->round_end = c->snd.nxt;
        return;
    }
    if (v->from == c->snd.una)  // just forgotten, and nothing came since
        return;
    remember(weir, c, c->snd.una - v->from);
    v->from = c->snd.una;
    v->round_end = c->snd.nxt;
    if (!(c->attention & ATTEND_RECOVERY))
        phase(weir, c);
}

static void adopt(struct tcp_conn *c, uint32_t flight)
{
    struct weir_cc_window *window = &c->flow->window;
    window->cwnd = window->ssthresh = max_u32(flight / 2, 2u * c->mss);
}

// §4.4.1, before the end of recovery. An algorithm with a model of its own goes by that.
void tcp_cwv_loss(const struct weir *weir, struct tcp_conn *c, bool recovery)
{
    struct tcp_cwv *v = &c->flow->cwv;
    v->flight = 0;
    if (!v->unused || tcp_cc(weir, c)->owns_recovery)
        return;
    const uint32_t flight = max_u32(tcp_cwv_pipe(c), flight_outstanding(c->flow->flight));
    adopt(c, flight);
    v->flight = recovery ? flight : 0;
    v->resent = 0;
    if (!recovery)
        forget(c);
}

void tcp_cwv_timeout(struct tcp_conn *c) { forget(c); }

// At the end of a recovery: less what had to be sent again. What was used before says nothing any more.
void tcp_cwv_recovered(struct tcp_conn *c)
{
    const struct tcp_cwv *v = &c->flow->cwv;
    if (!v->flight)
        return;
    adopt(c, v->flight - min_u32(v->flight, v->resent));
    forget(c);
}
