// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/hystart.h"

#include "tcp/internal.h"

// RFC 9406 §4.3
#define MAX_RTT_THRESH_US 16000u
#define MIN_RTT_DIVISOR 8u
#define CSS_GROWTH_DIVISOR 4u
#define CSS_ROUNDS 5u
// segments of growth an acknowledgement; a paced sender makes no burst of them, and needs no limit
#define L_UNPACED 8u

// §4.2: from slow start to CSS when the round-trip time has risen by an eighth, within the limits; back when it falls
// below what led there.
static void look(struct tcp_hystart *h)
{
    if (h->samples < HYSTART_SAMPLES)
        return;
    if (h->css_rounds) {
        if (h->current_us < h->baseline_us)
            h->css_rounds = 0;
        return;
    }
    if (h->last_us == HYSTART_NO_RTT)
        return;
    const uint32_t threshold_us =
        max_u32(HYSTART_LEAST_RISE_US, min_u32(h->last_us / MIN_RTT_DIVISOR, MAX_RTT_THRESH_US));
    if (h->current_us < h->last_us + threshold_us)
        return;
    h->baseline_us = h->current_us;
    h->css_rounds = 1;
    h->credit = 0;
}

// What of the acknowledged bytes counts for growth.
static uint32_t growth(struct tcp_hystart *h, uint32_t acked)
{
    if (!h->css_rounds)
        return acked;
    h->credit += acked;
    acked = h->credit / CSS_GROWTH_DIVISOR;
    h->credit %= CSS_GROWTH_DIVISOR;
    return acked;
}

// The round is over when what was sent before it began is acknowledged; that acknowledgement still tells of it. true:
// slow start is, too.
static bool round_over(struct tcp_conn *c, struct tcp_hystart *h)
{
    if (seq_lt(c->snd.una, h->round_end))
        return false;
    tcp_hystart_round(h, h->current_us, c->snd.nxt);
    return h->css_rounds && h->css_rounds++ == CSS_ROUNDS;
}

uint32_t tcp_hystart_ack(struct weir *weir, struct tcp_conn *c, uint32_t rtt_us, uint32_t acked)
{
    struct tcp_hystart *h = &c->flow->hystart;
    if (!h->running) {
        tcp_hystart_round(h, HYSTART_NO_RTT, c->snd.nxt);
        h->running = true;
    }
    if (rtt_us) {
        h->current_us = min_u32(h->current_us, rtt_us);
        h->samples += h->samples < HYSTART_SAMPLES;
        look(h);
    }
    if (round_over(c, h)) {
        tcp_cc_event(weir, c, WEIR_CC_EXIT_SLOW_START);
        return 0;
    }
    const uint32_t most = tcp_pacing_on(c) ? UINT32_MAX : L_UNPACED * c->mss;
    return acked - growth(h, min_u32(acked, most));
}
