// SPDX-License-Identifier: BSD-2-Clause
// A clock coarser than a delayed acknowledgement, as the thesis's with a tick of 100 ms: a tail-loss probe (RFC 8985
// §7) cannot leave after two round trips. (What else such a clock changes: rtt_floor, and TCP_QUICK_ACKS after a hole.)
#include "tcp/internal.h"

// Under a coarse clock two round trips cannot be waited for: a probe leaves now, or a tick late. Where no more than two
// segments are out and cwnd allows no third, both are lost often enough (at 15 % loss 86 times in 5 MB, 9 s with a tick
// of 100 ms) that the probe leaves now, once a round trip as any, as long as it carries new data: then nothing is sent
// in vain, and one of three acknowledgements tells of the others. It has waited for no tail: the one that comes after
// it is probed at its own time, or all that is lost there would be found by timeouts alone.
static bool cannot_wait(const struct weir *weir, const struct tcp_conn *c)
{
    const uint32_t flight = c->snd.nxt - c->snd.una;
    return tcp_clock_coarse(weir) && c->rtt.srtt8_us && c->rtt.srtt8_us < 4 * weir->port->granularity_us &&
           flight <= 2u * c->mss && c->flow->window.cwnd < flight + c->mss && tcp_unsent(c) >= c->mss;
}

void tcp_tlp_hasten(struct weir *weir, struct tcp_conn *c)
{
    if (c->flags & TCP_USE_SACK && c->flow && c->flow->wait == TCP_WAIT_TAIL && !tcp_tlp_waiting(c) &&
        !tcp_rtx_probe_on(weir, c) && cannot_wait(weir, c)) {
        tcp_tlp_fire(weir, c);
        tcp_tlp_set_early(&c->flow->tlp, true);
    }
}
