// SPDX-License-Identifier: BSD-2-Clause
// A policy and the connection's numbers it looks at, played by hand. Positions count from 0xfffffc00, so that they wrap
// in every test.
#ifndef TESTS_RT_FIXTURE_H
#define TESTS_RT_FIXTURE_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "rt/rt.h"

#define RT_BASE 0xfffffc00u
#define RT_FRAME 1000u
#define RT_PERIOD 250000u
#define RT_MS 1000u

struct rt_play {
    struct rt rt;
    struct rt_line line;
    struct rt_order order;
    union {
        struct intervals list;
        uint8_t memory[sizeof(struct intervals) + 16 * sizeof(struct interval)];
    } beyond;
};

static inline void play_clock(struct rt_play *p, uint64_t us)
{
    p->line.clock_us += us;
    p->line.now_us = (uint32_t)p->line.clock_us;
}

// Two frames of window; frame 0 is due in a period. The round trip is 20 ms.
static inline void play(struct rt_play *p, enum weir_realtime_mode mode)
{
    memset(p, 0, sizeof *p);
    p->line = (struct rt_line){.una = RT_BASE,
                               .nxt = RT_BASE,
                               .edge = RT_BASE + 2 * RT_FRAME,
                               .would = RT_BASE + 2 * RT_FRAME,
                               .segment_bytes = 500,
                               .srtt_us = 20 * RT_MS,
                               .sack = true};
    play_clock(p, 0xfffff000u);
    const struct weir_realtime settings = {
        .mode = mode, .frame_bytes = RT_FRAME, .period_us = RT_PERIOD, .first_us = p->line.clock_us + RT_PERIOD};
    rt_begin(&p->rt, &settings, &p->line);
    intervals_init(&p->beyond.list, 16);
}

// [from, to) came; the policy hears of it.
static inline void play_data(struct rt_play *p, uint32_t from, uint32_t to)
{
    const struct rt_news news = {RT_BASE + from, to - from, p->rt.seen, 0};
    if (seq_le(news.seq, p->line.nxt))
        p->line.nxt = seq_max(p->line.nxt, intervals_advance(&p->beyond.list, RT_BASE + to));
    else
        intervals_add(&p->beyond.list, RT_BASE + from, RT_BASE + to);
    p->line.beyond = p->beyond.list.count ? &p->beyond.list : NULL;
    p->rt.seen = seq_max(p->rt.seen, RT_BASE + to);
    memset(&p->order, 0, sizeof p->order);
    if (p->rt.policy->heard)
        p->rt.policy->heard(&p->rt, &p->line, &news, &p->order);
}

// The reader takes the next frame, or gives it up; the policy's answer is in p->order. Returns the verdict.
static inline int play_read(struct rt_play *p)
{
    struct weir_realtime_frame frame;
    const int verdict = rt_judge(&p->rt, &p->line, &frame);
    memset(&p->order, 0, sizeof p->order);
    if (verdict <= 0 && verdict != WEIR_SKIPPED)
        return verdict;
    rt_take(&p->rt, &p->line, &frame, verdict);
    if (seq_lt(p->line.una, seq_min(p->rt.frame_seq, p->line.nxt)))
        p->line.una = seq_min(p->rt.frame_seq, p->line.nxt);
    p->line.would = p->line.una + 2 * RT_FRAME;
    p->rt.policy->read(&p->rt, &p->line, !frame.missing, &p->order);
    return verdict;
}

static inline void play_time(struct rt_play *p, uint64_t us)
{
    play_clock(p, us);
    memset(&p->order, 0, sizeof p->order);
    if (p->rt.policy->time)
        p->rt.policy->time(&p->rt, &p->line, &p->order);
}

// The ACK that was ordered leaves.
static inline void play_acked(struct rt_play *p)
{
    const uint32_t old = p->line.edge;
    p->line.edge = p->line.would;
    if (p->rt.policy->told)
        p->rt.policy->told(&p->rt, &p->line, old);
}

#endif
