// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/hystart.h"

#include "tcp/internal.h"

// RFC 9406 §4.3
#define MIN_RTT_THRESH_US 4000u
#define MAX_RTT_THRESH_US 16000u
#define MIN_RTT_DIVISOR 8u
#define N_RTT_SAMPLE 8u
#define CSS_GROWTH_DIVISOR 4u
#define CSS_ROUNDS 5u
#define L_UNPACED 8u  // segments of growth an acknowledgement; a paced sender makes no burst of them, and needs no limit

#define NO_RTT UINT32_MAX

static void begin_round(struct tcp_hystart *h, uint32_t last_us, uint32_t round_end)
{
    h->round_end = round_end;
    h->last_us = last_us;
    h->current_us = NO_RTT;
    h->samples = 0;
}

// §4.2: from slow start to CSS when the round-trip time has risen by an eighth, within the limits; back when it falls below what led there.
static void look(struct tcp_hystart *h)
{
    if (h->samples < N_RTT_SAMPLE)
        return;
    if (h->css_rounds) {
        if (h->current_us < h->baseline_us)
            h->css_rounds = 0;
        return;
    }
    if (h->last_us == NO_RTT)
        return;
    const uint32_t threshold_us = max_u32(MIN_RTT_THRESH_US, min_u32(h->last_us / MIN_RTT_DIVISOR, MAX_RTT_THRESH_US));
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

// The round is over when what was sent before it began is acknowledged; that acknowledgement still tells of it. true: slow start is, too.
static bool round_over(struct tcp_conn *c, struct tcp_hystart *h)
{
    if (seq_lt(c->snd.una, h->round_end))
        return false;
    begin_round(h, h->current_us, c->snd.nxt);
    return h->css_rounds && h->css_rounds++ == CSS_ROUNDS;
}

void tcp_hystart_ack(struct weir *weir, struct tcp_conn *c, struct weir_cc_sample *sample)
{
    struct tcp_hystart *h = &c->flow->hystart;
    if (!h->running) {
        begin_round(h, NO_RTT, c->snd.nxt);
        h->running = true;
    }
    if (sample->rtt_us) {
        h->current_us = min_u32(h->current_us, sample->rtt_us);
        h->samples += h->samples < N_RTT_SAMPLE;
        look(h);
    }
    if (round_over(c, h)) {
        tcp_cc_event(weir, c, WEIR_CC_EXIT_SLOW_START);
        return;
    }
    const uint32_t most = tcp_pacing_on(c) ? UINT32_MAX : L_UNPACED * c->mss;
    sample->slow_start_held = sample->acked - growth(h, min_u32(sample->acked, most));
}
