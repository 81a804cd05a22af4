// SPDX-License-Identifier: BSD-2-Clause
// YeAH: Baiocchi, Castellani and Vacirca, "YeAH-TCP: yet another highspeed TCP", PFLDnet 2007. While the queue that it
// sees is short the window grows fast (a hundredth for each segment acknowledged, as Scalable TCP); while it is long,
// as Reno's, and the queue is taken out of the window unless flows like Reno would then take its place.
#include "cc/common.h"
#include "cc/delay.h"

#define YEAH_QUEUE_MAX 80u  // segments of its own in the queue
#define YEAH_LEVEL 8u       // or else a queue that adds 1/8 to the round trip
#define YEAH_RIVALS 16u     // round trips in slow mode that speak of rivals: then a loss halves the window
#define YEAH_FORGET 50u     // round trips in fast mode after which rivals are forgotten
#define YEAH_SCALABLE 100u  // segments acknowledged for one of growth
#define YEAH_CUT 8u         // of the window at a loss in fast mode, at the least

struct yeah_mode {
    uint32_t queue;        // bytes at the end of the last round trip
    uint32_t slow_rounds;  // round trips in slow mode; 0: fast
    uint32_t fast_rounds;  // since the last loss, or since rivals were forgotten
    uint32_t
        rival_bytes;  // what a Reno flow beside this one would have by now: never less than that for us; 0: none seen
};
struct yeah {
    struct cc_loss loss;
    struct cc_delay delay;
    struct yeah_mode now, prior;
    uint32_t credit;
};
_Static_assert(sizeof(struct yeah) <= WEIR_CC_STATE_YEAH, "state of yeah");

static void yeah_slow_round(struct yeah_mode *mode, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    const uint32_t rivals = max_u32(mode->rival_bytes, 2 * sample->mss);
    if (mode->queue > YEAH_QUEUE_MAX * sample->mss && window->cwnd > rivals) {  // precautionary decongestion
        window->cwnd = max_u32(window->cwnd - min_u32(mode->queue, window->cwnd / 2), rivals);
        window->ssthresh = window->cwnd;
    }
    mode->rival_bytes = mode->rival_bytes ? min_u32(mode->rival_bytes + sample->mss, CC_WINDOW_MAX)
                                          : max_u32(window->cwnd / 2, 2 * sample->mss);
    mode->slow_rounds += mode->slow_rounds < YEAH_RIVALS;
}

static void yeah_fast_round(struct yeah_mode *mode)
{
    mode->slow_rounds = 0;
    if (++mode->fast_rounds <= YEAH_FORGET)
        return;
    mode->fast_rounds = 0;
    mode->rival_bytes = 0;
}

static void yeah_round(struct yeah *yeah, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    const struct cc_delay *delay = &yeah->delay;
    const uint32_t above_us = delay->rtt_us - delay->base_us;
    yeah->now.queue = cc_delay_share(window->cwnd, above_us, delay->rtt_us);
    if (yeah->now.queue > YEAH_QUEUE_MAX * sample->mss || above_us > delay->base_us / YEAH_LEVEL)
        yeah_slow_round(&yeah->now, sample, window);
    else
        yeah_fast_round(&yeah->now);
}

static void yeah_ack(void *state, const struct weir_cc_sample *sample, struct weir_cc_window *window)
{
    struct yeah *yeah = state;
    if (sample->in_recovery)
        return;
    const bool over = cc_delay_ack(&yeah->delay, sample);
    const uint32_t acked = cc_slow_start(&yeah->loss, sample, window);
    if (acked)
        cc_grow(&yeah->credit, acked,
                yeah->now.slow_rounds ? window->cwnd : min_u32(window->cwnd, YEAH_SCALABLE * sample->mss), sample->mss,
                window);
    if (!over)
        return;
    if (yeah->delay.samples >= CC_DELAY_SAMPLES_MIN && !yeah->loss.after_rto)
        yeah_round(yeah, sample, window);
    cc_delay_begin(&yeah->delay, sample);
}

// In fast mode a loss takes out the queue, an eighth of the window at the least; beside rivals, half of it.
static uint32_t yeah_reduce(struct yeah *yeah, const struct weir_cc_sample *sample, uint32_t flight)
{
    const uint32_t half = max_u32(flight / 2, 2 * sample->mss);
    const uint32_t cut =
        yeah->now.slow_rounds < YEAH_RIVALS ? max_u32(min_u32(yeah->now.queue, half), flight / YEAH_CUT) : half;
    yeah->prior = yeah->now;
    yeah->now.fast_rounds = 0;
    yeah->now.rival_bytes = yeah->now.rival_bytes ? max_u32(yeah->now.rival_bytes / 2, 2 * sample->mss) : 0;
    yeah->credit = 0;
    return flight - min_u32(flight, cut);
}

static void yeah_event(void *state, enum weir_cc_event event, const struct weir_cc_sample *sample,
                       struct weir_cc_window *window)
{
    struct yeah *yeah = state;
    const uint32_t ssthresh = cc_reduces(event) ? yeah_reduce(yeah, sample, cc_flight_size(event, sample, window)) : 0;
    if (event == WEIR_CC_RTO || event == WEIR_CC_IDLE_RESTART)
        cc_delay_forget(&yeah->delay);
    if (event == WEIR_CC_IDLE_RESTART)
        yeah->now = (struct yeah_mode){0};
    if (cc_undoes(&yeah->loss, event))
        yeah->now = yeah->prior;
    cc_event(&yeah->loss, event, sample, window, ssthresh);
    if (event != WEIR_CC_EXIT_SLOW_START)
        cc_delay_begin(&yeah->delay, sample);
}

const struct weir_cc weir_cc_yeah = {
    .name = "yeah", .state_bytes = sizeof(struct yeah), .ack = yeah_ack, .event = yeah_event};
