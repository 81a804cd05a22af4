// SPDX-License-Identifier: BSD-2-Clause
// Tail-loss probe (RFC 8985 §7). When the last of a flight is lost nothing comes that would show it: after two round
// trips a segment is sent that draws an acknowledgement, new data if there is any, otherwise the last again. One probe
// at a time (but for rtx_probe.c and coarse.c); the RTO runs while it is out.
#include "tcp/internal.h"

#define FIRST_TIMEOUT_US 1000000u  // §7.2: no round trip is known yet

// Two round trips and a tick, of which part is over.
static uint32_t two_round_trips(const struct weir *weir, const struct tcp_conn *c)
{
    return (c->rtt.srtt8_us >> 2) + weir->port->granularity_us;
}

uint32_t tcp_tlp_least(const struct weir *weir, const struct tcp_conn *c)
{
    return tcp_tlp_floor(c) + two_round_trips(weir, c);
}

void tcp_tlp_tick(const struct weir *weir, struct tcp_conn *c)
{
    struct tlp *tlp = &c->flow->tlp;
    tlp->ticked = weir->port->granularity_us > 2 * TLP_SLACK_US;
    tlp->tick_us = (uint32_t)weir->now_us;
    tlp->rounds = 0;
    tlp->round = c->snd.una;
}

// A timer that fires does so as the tick begins. Where the round trips since then and two more end within it, the next
// tick will do; otherwise the one after that is the first that is surely not too soon.
static bool tick_is_young(const struct weir *weir, struct tcp_conn *c)
{
    struct tlp *tlp = &c->flow->tlp;
    const uint32_t tick_us = weir->port->granularity_us, srtt8_us = max_u32(c->rtt.srtt8_us, tick_us / 16);
    tlp->ticked &= tlp->tick_us == (uint32_t)weir->now_us;
    if (!tlp->ticked || srtt8_us > 4 * tick_us)
        return false;
    if (seq_lt(tlp->round, c->snd.una)) {
        tlp->round = c->snd.nxt;
        tlp->rounds++;
    }
    return (tlp->rounds + 2) * srtt8_us + 8 * TLP_SLACK_US <= 8 * tick_us;
}

// One probe at a time, and none while holes are filled; unless the congestion control has them probed as well
// (rtx_probe.c).
uint32_t tcp_tlp_wait(const struct weir *weir, struct tcp_conn *c, uint32_t rto_us)
{
    if (!(c->flags & TCP_USE_SACK) || c->attention & ATTEND_PERSIST || !c->flow || c->backoff || !tcp_synchronised(c))
        return 0;
    const bool holes = tcp_rtx_probe_on(weir, c);
    if (!holes && ((c->attention & ATTEND_TLP_OUT && !tcp_tlp_early(&c->flow->tlp)) || tcp_filling(c)))
        return 0;
    uint32_t us = FIRST_TIMEOUT_US;
    if (c->rtt.srtt8_us)
        us = (holes ? TLP_SLACK_US : tcp_tlp_floor(c)) + two_round_trips(weir, c) -
             (tick_is_young(weir, c) ? weir->port->granularity_us : 0);
    return holes ? tcp_rtx_probe_wait(c, us, rto_us) : us;
}

void tcp_tlp_fire(struct weir *weir, struct tcp_conn *c)
{
    if (tcp_rtx_probe_on(weir, c) && tcp_rtx_probe_fire(weir, c))
        return;
    tcp_tlp_set_early(&c->flow->tlp, false);
    c->attention |= ATTEND_TLP_DUE;
    tcp_wants_output(weir, c);
}

void tcp_tlp_sent(struct weir *weir, struct tcp_conn *c, bool again)
{
    struct tlp *tlp = &c->flow->tlp;
    tlp->end = c->snd.nxt;
    tlp->again = (uint8_t)(again ? tlp->again + 1 : 0);
    c->attention = (c->attention & ~(uint32_t)ATTEND_TLP_DUE) | ATTEND_TLP_OUT;
    count(weir, WEIR_COUNT_TCP_TAIL_PROBE);
}

// §7.4. New data proves itself. What was sent before has mended a loss, unless the acknowledgements show that all came,
// the first time and each probe: a duplicate, or one that reports a duplicate, for each. Only one beyond the probe
// tells that no such will come.
bool tcp_tlp_ack(struct tcp_conn *c, bool duplicate)
{
    struct tlp *tlp = &c->flow->tlp;
    c->attention &= ~(uint32_t)ATTEND_TLP_DUE;
    if (!(c->attention & ATTEND_TLP_OUT) || seq_lt(c->snd.una, tlp->end))
        return false;
    tlp->again -= tlp->again && duplicate;
    if (tlp->again && c->snd.una == tlp->end)
        return false;
    const bool mended = tlp->again;
    tlp->again = 0;
    c->attention &= ~(uint32_t)ATTEND_TLP_OUT;
    return mended;
}

void tcp_tlp_off(struct tcp_conn *c)
{
    c->attention &= ~(uint32_t)ATTEND_TLP;
    c->flow->tlp.again = 0;
}
