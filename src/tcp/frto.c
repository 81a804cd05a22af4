// SPDX-License-Identifier: BSD-2-Clause
// F-RTO (RFC 5682 §3.1, SACK-enhanced): after a timeout the first segment goes again, and then, if that is
// acknowledged, new data. What is acknowledged or SACKED next tells: data that was thought lost and never sent again
// was late, and the timeout for nothing.
#include "tcp/internal.h"

// §2.1, step 1: not during another recovery, whose retransmissions would be taken for first transmissions. A timeout of
// what was sent again by a timeout keeps watching: una has not moved. Nor on SYN: before it is answered SACK is not
// agreed on, and when two cross it goes again in a recovery already (connect.c). The probe of a closed window is no
// timeout (timers.c).
void tcp_frto_timeout(struct tcp_conn *c, bool first)
{
    if (!(c->flags & TCP_USE_SACK))
        c->flow->frto.step = 0;
    else if (first)
        c->flow->frto.step = 1;
    else if (c->flow->frto.step == 2)
        c->flow->frto.step = 0;
}

bool tcp_frto_ack(struct tcp_conn *c, const struct flight_delta *delta, uint32_t acked)
{
    struct frto *frto = &c->flow->frto;
    if (!frto->step)
        return false;
    if (delta->lost_delivered) {  // step 3b
        frto->step = 0;
        return true;
    }
    if (frto->step == 1 && acked && tcp_unsent(c) && c->snd.wnd > c->snd.nxt - c->snd.una)
        frto->step = 2;  // step 2b: at most two segments, by the window that slow start has opened
    else if (frto->step == 2 || acked)
        frto->step = 0;  // step 3a; or no new data, or no room for it: the usual recovery
    return false;
}
