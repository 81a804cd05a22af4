// SPDX-License-Identifier: BSD-2-Clause
// Proportional rate reduction (RFC 9937): while recovering, what may be sent follows what is delivered, so that the
// window comes down to ssthresh by the end and the sender never falls silent nor sends a burst. cwnd is set anew with
// each acknowledgement.
#include "tcp/internal.h"

void tcp_prr_enter(struct tcp_conn *c, const struct flight_delta *delta, uint32_t acked)
{
    // §6.2: RecoverFS is what this recovery will see delivered: not what was SACKED before, but what this very
    // acknowledgement brought.
    const struct flight *f = c->flow->flight;
    c->flow->prr = (struct prr){.flight = max_u32(flight_outstanding(f) - f->sacked + delta->sacked + acked, c->mss)};
}

// Bytes that left the network. Without SACK a duplicate ACK stands for a segment, which must not count again when it is
// acknowledged.
static uint32_t delivered_now(struct tcp_conn *c, const struct flight_delta *delta, uint32_t acked, bool duplicate)
{
    struct prr *prr = &c->flow->prr;
    if (c->flags & TCP_USE_SACK)
        return delta->delivered;
    const uint32_t outstanding = flight_outstanding(c->flow->flight);
    const uint32_t known = min_u32(prr->guessed, acked);
    const uint32_t guess = duplicate && prr->guessed < outstanding ? min_u32(c->mss, outstanding - prr->guessed) : 0;
    prr->guessed += guess - known;
    return acked - known + guess;
}

void tcp_prr_ack(struct tcp_conn *c, const struct flight_delta *delta, uint32_t acked, bool duplicate)
{
    struct tcp_flow *flow = c->flow;
    struct prr *prr = &flow->prr;
    const uint32_t inflight = tcp_recovery_pipe(c), ssthresh = flow->window.ssthresh;
    const uint32_t delivered = delivered_now(c, delta, acked, duplicate);
    uint32_t may_send;
    if (!delivered && !delta->newly_lost && prr->delivered)
        return;
    prr->delivered += delivered;
    if (inflight > ssthresh) {
        const uint64_t due = divide_u64((uint64_t)prr->delivered * ssthresh + prr->flight - 1, prr->flight);
        may_send = due > prr->out ? (uint32_t)due - prr->out : 0;
    } else {
        may_send = max_u32(prr->delivered > prr->out ? prr->delivered - prr->out : 0, delivered);
        if (acked && !delta->newly_lost)  // SafeACK
            may_send += c->mss;
        may_send = min_u32(ssthresh - inflight, may_send);
    }
    if (!prr->out)
        may_send = max_u32(may_send, c->mss);  // the first retransmission goes at once
    flow->window.cwnd = inflight + may_send;
}

void tcp_prr_sent(struct tcp_conn *c, uint32_t bytes)
{
    if (c->attention & ATTEND_FAST_RECOVERY)
        c->flow->prr.out += bytes;
}
