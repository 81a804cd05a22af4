// SPDX-License-Identifier: BSD-2-Clause
// Weir's mode. The reader goes on at each deadline; the stream does so only when data from behind the hole proves that
// what is missing was sent, and when the hole was there for long enough that the sender could notice it: an
// acknowledgement hides no loss from the sender's congestion control that it had not the time to find. Updates leave by
// need (need.c). Where segments are lost some window is held back: opened by and by, it lets the sender send something
// new, whose SACK shows it what was lost before.
#include "rt/rt.h"

#define HELD_SEGMENTS 2u
#define TAIL_RTTS 4u          // one until the probe's two begin, one for what the sender takes to be a round trip
#define TAIL_SLACK_US 10000u  // the sender's ticks
#define TAIL_RTT_MOST_US 60000u
#define TIGHT_HALVES 5u  // of the window that the stream needs
#define TIGHT_HALVES_OFTEN 10u

static uint32_t keep_us(const struct rt *rt, const struct rt_line *line)
{
    return max_u32(rt->settings.keep_us, max_u32(rt_round_trip(rt, line), line->srtt_us));
}

// A sender without SACK learns of a hole by three more of the same ACK (RFC 5681 §3.2), and halves its window: better
// than its timeout, where half of what the queue holds still carries the stream, and the frame can come in time. Once
// for each hole: more of them would be taken for segments that arrived.
static bool worth_telling(const struct rt *rt, const struct rt_line *line)
{
    const uint32_t rtt = min_u32(rt_round_trip(rt, line), INT32_MAX / 8);
    return !line->sack && rt_lossy(rt) && rt_time_left(rt, line, line->nxt) > (int32_t)rtt &&
           (uint64_t)line->limit_bytes * rt->settings.period_us >=
               (uint64_t)2 * rt->settings.frame_bytes * (rtt + rtt / 4);
}

static void acknowledge_later(struct rt *rt, const struct rt_line *line)
{
    rt->again = true;
    rt->again_us = line->now_us + max_u32(rt_round_trip(rt, line) / 8, 500);
}

static void watch_hole(struct rt *rt, const struct rt_line *line)
{
    if (line->beyond && (!rt->hole || rt->hole_nxt != line->nxt)) {
        rt->hole_us = line->now_us;
        rt->hole_nxt = line->nxt;
        rt->hole_end = rt->seen;
        if (worth_telling(rt, line))
            acknowledge_later(rt, line);
    }
    rt->hole = line->beyond != NULL;
}

// The reader is past the hole, and the hole is old enough.
static void pass_over(struct rt *rt, const struct rt_line *line, struct rt_order *order)
{
    if (!rt->hole || !seq_lt(line->nxt, rt->frame_seq))
        return;
    const uint32_t due = rt->hole_us + keep_us(rt, line);
    if (seq_lt(line->now_us, due)) {
        rt_wake_at(order, due);
        return;
    }
    rt->hole = false;
    order->move = true;
    order->nxt = seq_min(rt->frame_seq, rt->hole_end);
    rt_acknowledge(order, rt_lossy(rt) ? 2 : 1, WEIR_REALTIME_SKIP_TOLD);
}

static void acknowledge_again(struct rt *rt, const struct rt_line *line, struct rt_order *order)
{
    if (!rt->again)
        return;
    if (seq_lt(line->now_us, rt->again_us)) {
        rt_wake_at(order, rt->again_us);
        return;
    }
    rt->again = false;
    if (line->sack || rt->hole)
        rt_acknowledge(order, line->sack ? 2 : 3, WEIR_REALTIME_ACK_AGAIN);
}

static uint32_t held_bytes(const struct rt *rt, const struct rt_line *line)
{
    if (!rt_lossy(rt) || !line->sack || rt->repeats >= HELD_SEGMENTS)
        return 0;
    // Of what the queue has beyond three frames: otherwise a frame would come later for it.
    const uint32_t frames = 3 * rt->settings.frame_bytes,
                   most = line->limit_bytes > frames ? line->limit_bytes - frames : 0;
    return min_u32((HELD_SEGMENTS - rt->repeats) * line->segment_bytes, most);
}

// Of a frame's last segment, or the window's, a sender with SACK learns by nothing that it is lost: it probes for it
// after two round trips, but where it is the only one out only after its timeout, since an acknowledgement that is
// delayed looks like that (RFC 8985 §7.2). So the acknowledgement of the one before waits until the probe should have
// come. Not where Nagle would wait for it, nor a sender that sends but one at a time; not where the probe would be no
// sooner than the timeout; and never again from one that repeats what it hears nothing of (deadline.c) meanwhile.
static void wait_for_tail(struct rt *rt, const struct rt_line *line, const struct rt_news *news, struct rt_order *order)
{
    const uint32_t rtt = rt_round_trip(rt, line), left = rt_usable(rt, line, line->edge) - line->nxt;
    const uint32_t in_frame = (line->nxt - rt->frame_seq) % rt->settings.frame_bytes;
    if (!news->length)
        return;
    rt->quiet = false;
    if (rt->hasty || !line->sack || line->ended || line->beyond || news->seq != news->seen || rt->seen != line->nxt ||
        seq_lt(line->nxt, rt->frame_seq) || rtt > TAIL_RTT_MOST_US || line->now_us - rt->asked_us > rtt / 2)
        return;
    if (left != line->segment_bytes &&
        (left < line->segment_bytes || !in_frame || rt->settings.frame_bytes - in_frame != line->segment_bytes))
        return;
    rt->quiet = true;
    order->quiet_us = TAIL_RTTS * rtt + TAIL_SLACK_US;
    rt->quiet_us = line->now_us + order->quiet_us;
}

static void weir_time(struct rt *rt, const struct rt_line *line, struct rt_order *order)
{
    rt->quiet = rt->quiet && seq_lt(line->now_us, rt->quiet_us);
    watch_hole(rt, line);
    acknowledge_again(rt, line, order);
    pass_over(rt, line, order);
    rt_need(rt, line, order);
    order->hold_bytes = held_bytes(rt, line);
}

static void weir_read(struct rt *rt, const struct rt_line *line, bool whole, struct rt_order *order)
{
    (void)whole;
    weir_time(rt, line, order);
}

static void weir_heard(struct rt *rt, const struct rt_line *line, const struct rt_news *news, struct rt_order *order)
{
    if (rt->hole && seq_lt(rt->hole_nxt, line->nxt) && seq_lt(rt->hole_nxt, rt->frame_seq))
        rt->stats.filled++;
    // From our SACK to the repetition it drew: a round trip, and what the sender waits for late segments. Where the
    // handshake gave no sample, because it was repeated, and there are no timestamps, it is all that a live source's
    // receiver learns.
    if (rt->hole && seq_lt(rt->hole_nxt, line->nxt)) {
        const uint32_t filled_us = max_u32(line->now_us - rt->hole_us, 1);
        rt->fill_us = rt->fill_us ? min_u32(rt->fill_us, filled_us) : filled_us;
    }
    rt_path_heard(rt, line, news);
    wait_for_tail(rt, line, news, order);
    rt_need_heard(rt, line, news);
    if (line->beyond && news->length && rt_lossy(rt) && line->sack)
        acknowledge_later(rt, line);
    weir_time(rt, line, order);
}

const struct rt_policy rt_weir = {.read = weir_read, .heard = weir_heard, .time = weir_time, .told = rt_path_told};

// Where the window carries the stream with little to spare, and more so where several frames are under way at a time, a
// hole that is kept for a round trip leaves no room for what follows, and a sender without SACK needs a timeout for
// nearly every loss: neither comes in time. Embedded Xinu's mechanism meets more deadlines there, by hiding the losses.
// (With a window that cannot carry the stream at all each skip would overtake the answer to the one before it.) A
// sender with SACK finds losses in time, and takes an acknowledgement of what it did not send for an attack (RFC 5961
// §5). Who wants holes to be kept says so by keep_us.
static bool tight(const struct weir_realtime *settings, const struct rt_line *line)
{
    const uint64_t carried = (uint64_t)line->limit_bytes * settings->period_us,
                   needed = (uint64_t)settings->frame_bytes * line->srtt_us;
    const bool often = (uint64_t)4 * settings->period_us <= (uint64_t)3 * line->srtt_us;
    return carried >= needed - needed / 64 && 2 * carried <= (often ? TIGHT_HALVES_OFTEN : TIGHT_HALVES) * needed;
}

const struct rt_policy *rt_weir_policy(const struct weir_realtime *settings, const struct rt_line *line)
{
    return !line->sack && !settings->keep_us && tight(settings, line) ? &rt_skip_by_deadline : &rt_weir;
}
