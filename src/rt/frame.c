// SPDX-License-Identifier: BSD-2-Clause
// Frames and their deadlines: which is next, whether it is whole, whether its time has come, what became of it.
#include "rt/rt.h"

#define BEHIND_US 1000000u
#define BEHIND_LEAST 4u
#define CAUGHT_UP 8u  // times as many met as were missed

void rt_begin(struct rt *rt, const struct weir_realtime *settings, const struct rt_line *line)
{
    memset(rt, 0, sizeof *rt);
    rt->settings = *settings;
    rt->policy = settings->mode == WEIR_REALTIME_WEIR   ? rt_weir_policy(settings, line)
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

// Whether the deadline is now or was. A frame is late when it was not whole then; what comes in that very microsecond
// is in time.
static bool is_due(struct rt *rt, const struct rt_line *line, bool whole)
{
    if (rt->policy->reads_clock)
        return true;
    if (!rt->deadline_us || line->clock_us < rt->deadline_us)
        return false;
    rt->late |= (!whole || rt->lacked) && rt->deadline_us < line->clock_us;
    rt->lacked = !whole;
    return true;
}

// A live source's sender is behind when every deadline of a second was missed, and until so many were met in a row that
// it has certainly caught up. By the old clock all that it sends would come too late, however long it goes on.
static uint32_t missed_most(const struct rt *rt)
{
    return rt->settings.period_us ? max_u32(BEHIND_US / rt->settings.period_us, BEHIND_LEAST) : UINT32_MAX;
}

static void note_missed(struct rt *rt, bool missed)
{
    const uint32_t most = missed_most(rt);
    rt->met_in_row = missed ? 0 : rt->met_in_row + 1;
    rt->missed_in_row = missed ? rt->missed_in_row + 1 : 0;
    rt->behind = rt->behind ? rt->met_in_row < CAUGHT_UP * most : rt->missed_in_row >= most;
}

// All of the frame that lies before what came last is there: the rest is on its way, or was not even sent.
static bool nothing_lost(const struct rt *rt, const struct rt_line *line, const struct weir_realtime_frame *frame)
{
    const uint32_t end = seq_min(rt->seen, rt->frame_seq + frame->bytes);
    return seq_le(line->una, rt->frame_seq) && seq_le(end, line->nxt);
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
    if (rt->settings.partial && frame->missing < frame->bytes)
        return (int)frame->bytes;
    frame->put_off = (rt->settings.stored || rt->behind) && !rt->policy->unsent && nothing_lost(rt, line, frame);
    return WEIR_SKIPPED;
}

// Nothing shows that the rest was lost: the player waits a beat.
static void put_off(struct rt *rt, const struct rt_line *line)
{
    rt->stats.backtracked++;
    rt->deadline_us = rt->settings.period_us ? rt->deadline_us + rt->settings.period_us : 0;
    rt->late = rt->deadline_us && rt->deadline_us < line->clock_us;
    rt->announced = rt->lacked = false;
}

void rt_take(struct rt *rt, const struct rt_line *line, const struct weir_realtime_frame *frame, int verdict)
{
    struct weir_realtime_stats *stats = &rt->stats;
    note_missed(rt, frame->missing || rt->late);
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
    rt->announced = rt->lacked = false;
}

bool rt_readable(struct rt *rt, const struct rt_line *line)
{
    const bool whole = rt_whole(rt, line), due = is_due(rt, line, whole);
    return whole || (due && !rt->policy->waits);
}
