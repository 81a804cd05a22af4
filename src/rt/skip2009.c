// SPDX-License-Identifier: BSD-2-Clause
// The Embedded Xinu work's real-time TCP (Gember and Brylow, Marquette University, 2009), as it was: a read is the
// deadline. A frame that is not there then is skipped, and acknowledged as if it had come; the sender goes on with what
// follows. When the sender had not even sent it, its answer to that ACK bears a lower sequence number than is expected,
// and the receiver goes back. With gracious window update each read that opens a closed window tells so.
#include "rt/rt.h"

static bool gracious(const struct rt *rt)
{
    return rt->settings.mode != WEIR_REALTIME_SKIP && rt->settings.mode != WEIR_REALTIME_REGULAR;
}

// The frame was taken out of the queue.
static void regular_read(struct rt *rt, const struct rt_line *line, bool whole, struct rt_order *order)
{
    if (whole && gracious(rt) && seq_lt(line->edge, line->would))
        rt_acknowledge(order, 1, WEIR_REALTIME_EVERY_READ);
}

static void skip_read(struct rt *rt, const struct rt_line *line, bool whole, struct rt_order *order)
{
    regular_read(rt, line, whole, order);
    if (whole)
        return;
    order->move = seq_lt(line->nxt, rt->frame_seq);  // which is the next frame now
    order->nxt = rt->frame_seq;
    rt_acknowledge(order, 1, WEIR_REALTIME_SKIP_TOLD);
}

// The special ACK: what lies behind `seq` was never sent. A number below data that came is an old segment, overtaken.
static void skip_unsent(struct rt *rt, const struct rt_line *line, uint32_t seq, struct rt_order *order)
{
    (void)line;
    if (seq_lt(seq, rt->seen))
        return;
    while (seq_lt(seq, rt->frame_seq) && rt->frame) {
        rt->frame_seq -= rt->settings.frame_bytes;
        rt->frame--;
        rt->stats.backtracked++;
        rt->late = rt->announced = rt->lacked = false;
    }
    order->move = true;
    order->nxt = seq;
    rt_acknowledge(order, 1, WEIR_REALTIME_SKIP_TOLD);  // as every segment that is not acceptable (RFC 9293 §3.10.7.4)
}

const struct rt_policy rt_regular = {.waits = true, .read = regular_read};
const struct rt_policy rt_skip2009 = {.reads_clock = true, .read = skip_read, .unsent = skip_unsent};
const struct rt_policy rt_skip_by_deadline = {.read = skip_read, .unsent = skip_unsent};
