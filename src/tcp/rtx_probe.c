// SPDX-License-Identifier: BSD-2-Clause
// Retransmission probes. A lost retransmission at the tail produces no SACK, nor does what is lost behind the last gap,
// so that only the RTO would find it: RFC 8985 §7.2 sends no probe then, or lets it wait for a delayed acknowledgement,
// and the RTO follows. Where the congestion control has a measure of its own for congestion there is one all the same,
// as soon as a tail would be probed (as RFC 9002 §6.2 does), and then after twice as long each time, until the RTO
// would come sooner. Where something is lost, or SACKed, it is the first of what is missing, otherwise the tail: what
// is delivered out of order is acknowledged at once, and tells RACK of all that left before. A segment that is alone in
// flight is given no time for a delayed acknowledgement: at worst one goes too often, and that is reported (RFC 2883).
// Under a clock whose tick is longer than two round trips even the next tick is late: there a segment goes twice at
// once, if it was sent again, and either all that left before it has been answered, or it is a probe: one that is lost
// costs a tick.
#include "tcp/internal.h"

bool tcp_rtx_probe_on(const struct weir *weir, const struct tcp_conn *c)
{
    const bool probing =
        c->attention & ATTEND_TLP_DUE || (c->attention & ATTEND_TLP_OUT && seq_lt(c->snd.una, c->flow->tlp.end));
    return tcp_cc(weir, c)->owns_recovery && (tcp_filling(c) || c->attention & ATTEND_RTX_PROBE || probing);
}

uint32_t tcp_rtx_probe_wait(const struct tcp_conn *c, uint32_t tail_us, uint32_t rto_us)
{
    const uint32_t us = tail_us << c->flow->rtx_probe.tried;
    return us < rto_us ? us : 0;
}

bool tcp_rtx_probe_fire(struct weir *weir, struct tcp_conn *c)
{
    c->flow->rtx_probe.tried++;
    if (!(c->flow->flight->sacked | c->flow->flight->lost))
        return false;
    count(weir, WEIR_COUNT_TCP_TAIL_PROBE);
    tcp_recovery_probe(weir, c);
    return true;
}

#if WEIR_CFG_TCP_SACK
bool tcp_rtx_probe_double(const struct weir *weir, const struct tcp_conn *c, uint32_t *end)
{
    const struct tcp_flow *flow = c->flow;
    struct flight *f = flow->flight;
    if (!tcp_cc(weir, c)->owns_recovery || !c->rtt.srtt8_us || rtt_smoothed(&c->rtt) > weir->port->granularity_us / 2 ||
        f->lost || !f->retransmitted || c->backoff || c->attention & ATTEND_TLP_OUT)
        return false;
    const struct flight_record *first = flight_at(f, 0);
    *end = first->end;
    const bool alone = *end - f->start == flight_pipe(f);
    return first->sent & FLIGHT_RETRANSMITTED && (alone || flow->rtx_probe.tried) && *end - f->start <= c->mss &&
           !(flow->rtx_probe.doubled && flow->rtx_probe.doubled_end == *end &&
             flow->rtx_probe.doubled_us == (uint32_t)weir->now_us);
}
#else  // nothing tells what is alone in flight
bool tcp_rtx_probe_double(const struct weir *weir, const struct tcp_conn *c, uint32_t *end)
{
    return (void)weir, (void)c, (void)end, false;
}
#endif

void tcp_rtx_probe_doubled(const struct weir *weir, struct tcp_conn *c, uint32_t end)
{
    c->flow->rtx_probe.doubled = true;
    c->flow->rtx_probe.doubled_end = end;
    c->flow->rtx_probe.doubled_us = (uint32_t)weir->now_us;
}

bool tcp_rtx_probe_expected(struct tcp_conn *c, uint32_t end)
{
    const bool expected = c->flow->rtx_probe.doubled && c->flow->rtx_probe.doubled_end == end;
    c->flow->rtx_probe.doubled &= !expected;
    return expected;
}

void tcp_rtx_probe_ack(const struct weir *weir, struct tcp_conn *c, const struct flight_delta *delta,
                       const struct tcp_ack_info *news)
{
    struct rtx_probe *probe = &c->flow->rtx_probe;
    if (news->acked | delta->delivered)
        probe->tried = 0;
    if (tcp_cc(weir, c)->owns_recovery && (c->flow->flight->lost || delta->retransmitted_acked)) {
        c->attention |= ATTEND_RTX_PROBE;
        probe->end = c->snd.nxt;
    }
    if (!seq_lt(c->snd.una, probe->end))
        c->attention &= ~(uint32_t)ATTEND_RTX_PROBE;
}
