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
// between acknowledgements of one train (Ha and Rhee, "Taming the elephants: New TCP slow start", 2011; as in Linux)
#define TRAIN_GAP_US 2000u

static uint32_t rise_us(uint32_t rtt_us)
{
    return max_u32(HYSTART_LEAST_RISE_US, min_u32(rtt_us / MIN_RTT_DIVISOR, MAX_RTT_THRESH_US));
}

// §4.2: from slow start to CSS when the round-trip time has risen by an eighth, within the limits; back when it falls
// below what led there. true: slow start is over, as a train had said what the round-trip time confirms.
static bool look(struct tcp_hystart *h)
{
    if (h->samples < HYSTART_SAMPLES)
        return false;
    if (h->css_rounds) {
        if (h->current_us < h->baseline_us)
            h->css_rounds = 0;
        return false;
    }
    const uint32_t before_us = h->train ? h->baseline_us : h->last_us;
    if (before_us == HYSTART_NO_RTT || h->current_us < before_us + rise_us(before_us)) {
        if (h->train == TRAIN_BEFORE)
            h->train = TRAIN_NONE;
        return false;
    }
    if (h->train)
        return true;
    h->baseline_us = h->current_us;
    h->css_rounds = 1;
    h->credit = 0;
    return false;
}

// Acknowledgements close upon each other, as the bottleneck spaces them, for most of the smallest round-trip time, and
// the newest has waited in a queue: the window holds what the path does. A round's smallest sample would tell of that
// queue only when twice as much is under way. Growth slows as in CSS, and the next round's smallest sample decides.
static void follow_train(struct tcp_hystart *h, uint32_t now_us, uint32_t rtt_us)
{
    const uint32_t gap_us = now_us - h->train_last_us, least_us = min_u32(h->last_us, h->current_us);
    h->train_last_us = now_us;
    if (gap_us > TRAIN_GAP_US)
        h->train_began_us = now_us;
    if (h->train || h->css_rounds || h->samples < HYSTART_SAMPLES || h->last_us == HYSTART_NO_RTT ||
        now_us - h->train_began_us <= least_us / 2 || rtt_us < least_us + rise_us(least_us))
        return;
    h->train = TRAIN_NOW;
    h->baseline_us = least_us;
    h->credit = 0;
}

// What of the acknowledged bytes counts for growth.
static uint32_t growth(struct tcp_hystart *h, uint32_t acked)
{
    if (!h->css_rounds && !h->train)
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
    if (h->train)
        h->train = TRAIN_BEFORE;
    return h->css_rounds && h->css_rounds++ == CSS_ROUNDS;
}

uint32_t tcp_hystart_ack(struct weir *weir, struct tcp_conn *c, uint32_t rtt_us, uint32_t acked, bool limited)
{
    struct tcp_hystart *h = &c->flow->hystart;
    bool over = false;
    if (!h->running) {
        tcp_hystart_round(h, HYSTART_NO_RTT, c->snd.nxt);
        h->running = true;
    }
    if (rtt_us) {
        h->current_us = min_u32(h->current_us, rtt_us);
        h->samples += h->samples < HYSTART_SAMPLES;
        over = look(h);
    }
    if (limited)
        follow_train(h, weir->now, rtt_us);
    if (over || round_over(c, h)) {
        tcp_cc_event(weir, c, WEIR_CC_EXIT_SLOW_START);
        return 0;
    }
    const uint32_t most = tcp_pacing_on(c) ? UINT32_MAX : L_UNPACED * c->mss;
    return acked - growth(h, min_u32(acked, most));
}
