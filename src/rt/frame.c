// SPDX-License-Identifier: BSD-2-Clause
// Frames and their deadlines: which is next, whether it is whole, whether its time has come, what became of it.
#include "rt/rt.h"

void rt_begin(struct rt *rt, const struct weir_realtime *settings, const struct rt_line *line)
{
    memset(rt, 0, sizeof *rt);
    rt->settings = *settings;
    rt->policy = settings->mode == WEIR_REALTIME_WEIR   ? &rt_weir
                 : settings->mode >= WEIR_REALTIME_SKIP ? &rt_skip2009
                                                        : &rt_regular;
    rt->deadline_us = settings->first_us;
    rt->frame_seq = line->una;
    rt->seen = line->nxt;
    rt->told_edge = line->edge;
    rt->rtt_us[0] = rt->rtt_us[1] = UINT32_MAX;
    rt->rtt_since_us = rt->asked_us = line->now_us;
    rt->early_us = INT32_MIN;
    if (line->beyond)
        rt->seen = line->beyond->item[line->beyond->count - 1].end;
}

// The parts of the frame that are not there; all of it is missing when the sender's bytes went past unread.
static void find_missing(const struct rt *rt, const struct rt_line *line, struct weir_realtime_frame *frame)
{
    const uint32_t end = rt->frame_seq + frame->bytes;
    uint32_t at = seq_max(rt->frame_seq, line->nxt), hole = at, length;
    if (seq_lt(rt->frame_seq, line->una)) {
        frame->missing = frame->bytes;
        frame->piece[frame->pieces++].bytes = frame->bytes;
        return;
    }
    while (seq_lt(at, end)) {
        length = line->beyond ? intervals_hole(line->beyond, at, end, &hole) : (hole = at, end - at);
        if (!length)
            return;
        frame->missing += length;
        if (frame->pieces < WEIR_REALTIME_PIECES) {
            frame->piece[frame->pieces].offset = hole - rt->frame_seq;
            frame->piece[frame->pieces++].bytes = length;
        }
        at = hole + length;
    }
}

// Whether the deadline is now or was; notes that the frame is late when it is not whole then.
static bool is_due(struct rt *rt, const struct rt_line *line, bool whole)
{
    if (rt->policy->reads_clock)
        return true;
    if (!rt->deadline_us || line->clock_us < rt->deadline_us)
        return false;
    rt->late |= !whole;
    return true;
}

int rt_judge(struct rt *rt, const struct rt_line *line, struct weir_realtime_frame *frame)
{
    const bool whole = rt_whole(rt, line), due = is_due(rt, line, whole);
    memset(frame, 0, sizeof *frame);
    frame->number = rt->frame;
    frame->bytes = rt_frame_bytes(rt, line);
    frame->deadline_us = rt->deadline_us;
    frame->late = rt->late;
    frame->out_of_order = seq_lt(line->nxt, rt->frame_seq + frame->bytes);
    if (whole)
        return (int)frame->bytes;  // 0: the end
    find_missing(rt, line, frame);
    if (!due || rt->policy->waits)
        return WEIR_AGAIN;
    frame->put_off = rt->settings.stored && !rt->policy->reads_clock && seq_le(rt->seen, rt->frame_seq);
    return rt->settings.partial && frame->missing < frame->bytes ? (int)frame->bytes : WEIR_SKIPPED;
}

// Nothing shows that it was sent: the player waits a beat.
static void put_off(struct rt *rt, const struct rt_line *line)
{
    rt->stats.backtracked++;
    rt->deadline_us = rt->settings.period_us ? rt->deadline_us + rt->settings.period_us : 0;
    rt->late = rt->deadline_us && rt->deadline_us < line->clock_us;
    rt->announced = false;
}

void rt_take(struct rt *rt, const struct rt_line *line, const struct weir_realtime_frame *frame, int verdict)
{
    struct weir_realtime_stats *stats = &rt->stats;
    if (frame->missing) {
        stats->skipped++;
        stats->partial += verdict != WEIR_SKIPPED;
    } else if (rt->late) {
        stats->late++;
    } else {
        stats->met++;
        stats->out_of_order += frame->out_of_order;
    }
    if (frame->put_off) {
        put_off(rt, line);
        return;
    }
    // Without a first deadline the clock starts when the first frame is read.
    const uint64_t from = rt->deadline_us ? rt->deadline_us : rt->frame ? 0 : line->clock_us;
    rt->deadline_us = rt->settings.period_us && from ? from + rt->settings.period_us : 0;
    rt->frame++;
    rt->frame_seq += frame->bytes;
    rt->late = !rt->policy->reads_clock && rt->deadline_us && rt->deadline_us < line->clock_us;
    rt->announced = false;
}

bool rt_readable(struct rt *rt, const struct rt_line *line)
{
    const bool whole = rt_whole(rt, line), due = is_due(rt, line, whole);
    return whole || (due && !rt->policy->waits);
}
