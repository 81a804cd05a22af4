// SPDX-License-Identifier: BSD-2-Clause
// What a receiver learns of the path. The round trip: from an ACK that opens the window to a sender that had used up
// all it had, until the first data beyond the old edge; and, with timestamps, from any ACK until data that echoes it,
// which also a stream tells that never uses up its window. A source that produces as it goes lets both wait, so the
// smallest of ten to twenty seconds counts. Loss: segments that were overtaken, and updates that brought nothing, in a
// moving average over 64 segments.
#include "rt/rt.h"

#define PERIOD_US 10000000u
#define UNKNOWN_RTT_US 100000u  // neither a sample nor one of the handshake, nor was a hole filled

uint32_t rt_round_trip(const struct rt *rt, const struct rt_line *line)
{
    const uint32_t least = min_u32(rt->rtt_us[0], rt->rtt_us[1]);
    if (least != UINT32_MAX)
        return max_u32(least, 1);
    if (line->srtt_us)
        return line->srtt_us;
    return rt->fill_us ? rt->fill_us : UNKNOWN_RTT_US;
}

void rt_path_lost(struct rt *rt, uint32_t segments)
{
    for (segments = min_u32(segments, 64); segments; segments--)
        rt->stats.loss_ppm += (1000000 - rt->stats.loss_ppm) / 64;
}

void rt_path_told(struct rt *rt, const struct rt_line *line, uint32_t old_edge)
{
    if (rt->opened)
        rt->sampling = false;  // which of the two is answered cannot be told (Karn)
    if (rt->opened || seq_lt(rt->seen, rt_usable(rt, line, old_edge)) || !seq_lt(old_edge, line->edge))
        return;
    rt->opened = rt->sampling = true;
    rt->opened_edge = old_edge;
    rt->repeats = 0;
    rt->opened_us = rt->asked_us = line->now_us;
}

static void sample(struct rt *rt, const struct rt_line *line, uint32_t rtt_us)
{
    if (line->now_us - rt->rtt_since_us > PERIOD_US) {
        rt->rtt_since_us = line->now_us;
        rt->rtt_us[1] = rt->rtt_us[0];
        rt->rtt_us[0] = UINT32_MAX;
    }
    rt->rtt_us[0] = min_u32(rt->rtt_us[0], rtt_us);
    rt->stats.round_trip_us = rt_round_trip(rt, line);
}

void rt_path_heard(struct rt *rt, const struct rt_line *line, const struct rt_news *news)
{
    if (!news->length)
        return;
    rt->stats.loss_ppm -= rt->stats.loss_ppm / 64;
    if (news->echo_us)
        sample(rt, line, news->echo_us);
    if (seq_lt(news->seen, news->seq))
        rt_path_lost(rt, (news->seq - news->seen + line->segment_bytes - 1) / max_u32(line->segment_bytes, 1));
    if (rt->opened && seq_lt(rt->opened_edge, news->seq + news->length)) {
        if (rt->sampling && news->length > 1)  // one byte is a probe, sent before the window opened
            sample(rt, line, max_u32(line->now_us - rt->opened_us, 1));
        rt->opened = false;
    }
}
