// SPDX-License-Identifier: BSD-2-Clause
// Probes while holes are filled. What is sent again and lost once more, with nothing after it, and what is lost behind the last hole, leave
// nothing that would show it: RFC 8985 §7.2 sends no probe then, or lets it wait for a delayed acknowledgement, and the RTO follows. Where
// the congestion control has a measure of its own for congestion there is one all the same, as soon as a tail would be probed (as RFC 9002
// §6.2 does), and then after twice as long each time, until the RTO would come sooner. Where something is lost, or SACKed, it is the first
// of what is missing, otherwise the tail: what is delivered out of order is acknowledged at once, and tells RACK of all that left before. A
// segment that is alone in flight is given no time for a delayed acknowledgement: at worst one goes too often, and that is reported (RFC
// 2883).
#include "tcp/internal.h"

bool tcp_holes(const struct tcp_conn *c)
{
    const struct tlp *tlp = &c->flow->tlp;
    return tcp_cc(c)->owns_recovery && (tcp_filling(c) || c->flow->holes.open || tlp->waiting || tlp->due);
}

uint32_t tcp_holes_wait(const struct tcp_conn *c, uint32_t tail_us, uint32_t rto_us)
{
    const uint32_t us = tail_us << c->flow->holes.tried;
    return us < rto_us ? us : 0;
}

bool tcp_holes_fire(struct weir *weir, struct tcp_conn *c)
{
    c->flow->holes.tried++;
    if (!(c->flow->flight->sacked | c->flow->flight->lost))
        return false;
    count(weir, WEIR_COUNT_TCP_TAIL_PROBE);
    tcp_recovery_probe(weir, c);
    return true;
}

void tcp_holes_ack(struct tcp_conn *c, const struct flight_delta *delta, const struct tcp_ack_news *news)
{
    struct holes *holes = &c->flow->holes;
    if (news->acked | delta->delivered)
        holes->tried = 0;
    if (tcp_cc(c)->owns_recovery && (c->flow->flight->lost || delta->retransmitted_acked)) {
        holes->open = true;
        holes->end = c->snd.nxt;
    }
    holes->open &= seq_lt(c->snd.una, holes->end);
}
