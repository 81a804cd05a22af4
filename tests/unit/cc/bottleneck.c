// SPDX-License-Identifier: BSD-2-Clause
#include "bottleneck.h"

#include <stdlib.h>
#include <string.h>

#define RING 65536u  // of transmissions, data and acknowledgements; more are never outstanding
#define AT(index) ((index) % RING)
#define REORDERING 3u
#define RTO_US 300000u

void bottleneck_open(struct bottleneck *path, const struct bottleneck_options *options)
{
    memset(path, 0, sizeof *path);
    path->options = *options;
    path->acks = calloc(RING, sizeof *path->acks);
    path->random = options->seed * 0x9e3779b97f4a7c15u + 0x2545f4914f6cdd1du;
    path->now_us = 0xffe00000u;  // 32-bit clocks wrap two seconds later
}

void bottleneck_close(struct bottleneck *path)
{
    free(path->acks);
    for (uint32_t i = 0; i < path->flows; i++) {
        free(path->flow[i].sent);
        free(path->flow[i].again);
        free(path->flow[i].got);
    }
}

struct bottleneck_flow *bottleneck_flow(struct bottleneck *path, const struct weir_cc *cc, uint64_t begins_us)
{
    struct bottleneck_flow *f = &path->flow[path->flows++];
    f->cc = cc;
    f->begins_us = f->next_us = path->now_us + begins_us;
    f->last_ack_us = f->begins_us;
    f->min_rtt_us = WEIR_CC_UNLIMITED;
    f->sent = calloc(RING, sizeof *f->sent);
    f->again = calloc(RING, sizeof *f->again);
    f->got = calloc(RING, 1);
    f->total_delivered = f->round_until = 0xfff00000u;  // these wrap, too
    const struct weir_cc_sample sample = {.now_us = (uint32_t)path->now_us,
                                          .mss = BOTTLENECK_MSS,
                                          .min_rtt_us = WEIR_CC_UNLIMITED,
                                          .total_delivered = f->total_delivered};
    cc->event(f->state, WEIR_CC_INIT, &sample, &f->window);
    return f;
}

static uint32_t next_random(struct bottleneck *path)
{
    path->random ^= path->random << 13;
    path->random ^= path->random >> 7;
    path->random ^= path->random << 17;
    return (uint32_t)(path->random >> 20);
}

// When the frame leaves the bottleneck, ns; 0: it does not.
static uint64_t cross(struct bottleneck *path)
{
    const struct bottleneck_options *o = &path->options;
    const uint64_t now_ns = path->now_us * 1000, frame_ns = BOTTLENECK_FRAME * UINT64_C(1000000000) / o->rate;
    const uint64_t queue_ns = o->queue_bytes * UINT64_C(1000000000) / o->rate;
    const uint64_t start_ns = path->free_ns > now_ns ? path->free_ns : now_ns;
    path->offered++;
    if (start_ns - now_ns > queue_ns) {
        path->queue_drops++;
        return 0;
    }
    path->free_ns = start_ns + frame_ns;
    if (next_random(path) % 1000000u < o->loss_ppm) {
        path->random_drops++;
        return 0;
    }
    return o->policer ? now_ns + frame_ns : path->free_ns;
}

static void send_one(struct bottleneck *path, struct bottleneck_flow *f)
{
    const uint32_t data = f->again_low != f->again_high ? f->again[AT(f->again_low++)] : f->nxt++;
    if (f->inflight == 0)
        f->first_sent_us = f->delivered_us = path->now_us;
    f->inflight++;
    f->segments++;
    f->sent[AT(f->high)] = (struct bottleneck_segment){.data = data,
                                                       .sent_us = path->now_us,
                                                       .first_sent_us = f->first_sent_us,
                                                       .delivered_us = f->delivered_us,
                                                       .delivered = f->total_delivered,
                                                       .inflight = f->inflight,
                                                       .app_limited = f->app_limited};
    const uint64_t out_ns = cross(path);
    if (out_ns)
        path->acks[AT(path->ack_high++)] = (struct bottleneck_ack){
            .at_us = out_ns / 1000 + 2 * path->options.delay_us, .flow = (uint32_t)(f - path->flow), .index = f->high};
    f->high++;
    const uint32_t rate = f->window.pacing_rate;
    if (rate && rate != WEIR_CC_UNLIMITED)
        f->next_us =
            (f->next_us > path->now_us ? f->next_us : path->now_us) + BOTTLENECK_MSS * UINT64_C(1000000) / rate;
}

static bool may_send(const struct bottleneck_flow *f)
{
    const bool some = !f->paused || f->again_low != f->again_high;
    return some && (f->inflight + 1) * BOTTLENECK_MSS <= f->window.cwnd && f->nxt - f->una < RING / 2;
}

static void tell(struct bottleneck *path, struct bottleneck_flow *f, enum weir_cc_event event)
{
    const struct weir_cc_sample sample = {.now_us = (uint32_t)path->now_us,
                                          .inflight = f->inflight * BOTTLENECK_MSS,
                                          .prior_inflight = f->inflight * BOTTLENECK_MSS,
                                          .mss = BOTTLENECK_MSS,
                                          .srtt_us = f->srtt_us,
                                          .min_rtt_us = f->min_rtt_us,
                                          .in_recovery = f->in_recovery,
                                          .total_delivered = f->total_delivered,
                                          .total_lost = f->total_lost};
    f->cc->event(f->state, event, &sample, &f->window);
}

// Everything sent REORDERING before the transmission `index` that is not done is lost. Returns how much.
static uint32_t find_lost(struct bottleneck_flow *f, uint32_t index, uint32_t slack)
{
    uint32_t lost = 0;
    for (; f->low != f->high && (int32_t)(index - f->low) >= (int32_t)slack; f->low++) {
        if (f->sent[AT(f->low)].done)
            continue;
        f->sent[AT(f->low)].done = true;
        f->again[AT(f->again_high++)] = f->sent[AT(f->low)].data;
        f->inflight--;
        lost += BOTTLENECK_MSS;
    }
    f->total_lost += lost;
    f->dropped += lost / BOTTLENECK_MSS;
    return lost;
}

static void acknowledge(struct bottleneck *path, struct bottleneck_flow *f, uint32_t index)
{
    struct bottleneck_segment *p = &f->sent[AT(index)];
    if (p->done)
        return;
    p->done = true;
    const uint32_t prior = f->inflight * BOTTLENECK_MSS, una = f->una, rtt_us = (uint32_t)(path->now_us - p->sent_us);
    f->inflight--;
    f->got[AT(p->data)] = 1;
    while (f->una != f->nxt && f->got[AT(f->una)])
        f->got[AT(f->una++)] = 0;
    f->delivered += BOTTLENECK_MSS;
    f->total_delivered += BOTTLENECK_MSS;
    f->last_ack_us = f->delivered_us = path->now_us;
    f->first_sent_us = p->sent_us;
    f->srtt_us = f->srtt_us ? f->srtt_us + (rtt_us >> 3) - (f->srtt_us >> 3) : rtt_us;
    f->min_rtt_us = rtt_us < f->min_rtt_us ? rtt_us : f->min_rtt_us;
    f->max_rtt_us = rtt_us > f->max_rtt_us ? rtt_us : f->max_rtt_us;
    f->rtt_sum_us += rtt_us;
    f->rtt_count++;
    const uint64_t send_us = p->sent_us - p->first_sent_us, ack_us = path->now_us - p->delivered_us;
    const uint64_t interval_us = send_us > ack_us ? send_us : ack_us;
    const bool round_start = (int32_t)(p->delivered - f->round_until) >= 0;
    if (round_start)
        f->round_until = f->total_delivered;
    const uint32_t lost = find_lost(f, index, REORDERING);
    if (f->in_recovery && (int32_t)(f->una - f->recover) >= 0) {
        f->in_recovery = false;
        tell(path, f, WEIR_CC_EXIT_RECOVERY);
    }
    if (lost && !f->in_recovery) {
        tell(path, f, WEIR_CC_ENTER_RECOVERY);
        f->in_recovery = true;
        f->recover = f->nxt;
    }
    const struct weir_cc_sample sample = {
        .now_us = (uint32_t)path->now_us,
        .acked = (f->una - una) * BOTTLENECK_MSS,
        .sacked = f->una == una ? BOTTLENECK_MSS : 0,
        .lost = lost,
        .inflight = f->inflight * BOTTLENECK_MSS,
        .prior_inflight = prior,
        .mss = BOTTLENECK_MSS,
        .rtt_us = rtt_us,
        .srtt_us = f->srtt_us,
        .min_rtt_us = f->min_rtt_us,
        .acked_segments = (uint16_t)(f->una - una),
        .app_limited = f->cc->wants_rate ? p->app_limited : f->paused,
        .cwnd_limited = !f->paused,
        .in_recovery = f->in_recovery,
        .round_start = round_start,
        .delivered = f->total_delivered - p->delivered,
        .interval_us = interval_us >= f->min_rtt_us ? (uint32_t)interval_us : 0,
        .total_delivered = f->total_delivered,
        .prior_delivered = p->delivered,
        .total_lost = f->total_lost,
        .tx_inflight = p->inflight * BOTTLENECK_MSS,
    };
    if (!f->in_recovery || f->cc->owns_recovery)
        f->cc->ack(f->state, &sample, &f->window);
}

static void time_out(struct bottleneck *path, struct bottleneck_flow *f)
{
    tell(path, f, WEIR_CC_RTO);
    f->window.cwnd = BOTTLENECK_MSS;
    find_lost(f, f->high, 0);
    f->in_recovery = false;
    f->recover = f->nxt;
    f->last_ack_us = path->now_us;
    f->rtos++;
}

static uint64_t earliest(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t serve(struct bottleneck *path, struct bottleneck_flow *f, uint64_t next_us)
{
    while (path->now_us >= f->next_us && may_send(f)) {
        if (!f->inflight)
            f->last_ack_us = path->now_us;
        send_one(path, f);
    }
    if (f->inflight && path->now_us >= f->last_ack_us + RTO_US)
        time_out(path, f);
    if (f->inflight)
        next_us = earliest(next_us, f->last_ack_us + RTO_US);
    return may_send(f) ? earliest(next_us, f->next_us > path->now_us ? f->next_us : path->now_us + 1) : next_us;
}

void bottleneck_run(struct bottleneck *path, uint64_t for_us)
{
    const uint64_t end_us = path->now_us + for_us;
    for (;;) {
        while (path->ack_low != path->ack_high && path->acks[AT(path->ack_low)].at_us <= path->now_us) {
            const struct bottleneck_ack *ack = &path->acks[AT(path->ack_low++)];
            acknowledge(path, &path->flow[ack->flow], ack->index);
        }
        uint64_t next_us = end_us;
        for (uint32_t i = 0; i < path->flows; i++)
            next_us = serve(path, &path->flow[i], next_us);
        if (path->ack_low != path->ack_high)
            next_us = earliest(next_us, path->acks[AT(path->ack_low)].at_us);
        if (path->now_us >= end_us)
            return;
        path->now_us = next_us > path->now_us ? next_us : path->now_us + 1;
    }
}

double bottleneck_mbits(uint64_t bytes, uint64_t us) { return us ? (double)bytes * 8 / (double)us : 0; }

struct bottleneck_outcome bottleneck_measure(const struct bottleneck_options *options, const struct weir_cc *const *cc,
                                             uint32_t flows, uint64_t apart_us, uint64_t from_us, uint64_t to_us)
{
    static struct bottleneck path;
    struct bottleneck_outcome o = {.rtos = 0};
    uint64_t before[BOTTLENECK_FLOWS];
    double squares = 0;
    bottleneck_open(&path, options);
    for (uint32_t i = 0; i < flows; i++)
        bottleneck_flow(&path, cc[i], i * apart_us);
    bottleneck_run(&path, from_us);
    for (uint32_t i = 0; i < flows; i++) {
        before[i] = path.flow[i].delivered;
        path.flow[i].rtt_sum_us = path.flow[i].rtt_count = 0;
    }
    const uint64_t drops = path.queue_drops, offered = path.offered;
    bottleneck_run(&path, to_us - from_us);
    for (uint32_t i = 0; i < flows; i++) {
        o.mbits[i] = bottleneck_mbits(path.flow[i].delivered - before[i], to_us - from_us);
        o.total += o.mbits[i];
        squares += o.mbits[i] * o.mbits[i];
        o.rtos += path.flow[i].rtos;
        o.rtt_ms +=
            path.flow[i].rtt_count ? (double)path.flow[i].rtt_sum_us / path.flow[i].rtt_count / 1000 / flows : 0;
    }
    o.jain = o.total * o.total / (flows * squares);
    o.queue_loss = (double)(path.queue_drops - drops) / (double)(path.offered - offered);
    bottleneck_close(&path);
    return o;
}
