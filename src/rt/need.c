// SPDX-License-Identifier: BSD-2-Clause
// When an ACK is needed that nothing else makes leave. The work asked when a gracious window update is required; the
// answer is: when the first frame for which the sender has no window would come too late if the next read's were waited
// for. How much earlier than its deadline a frame must be let go, the lead, is a round trip; where segments are lost,
// three, and a timeout of the sender's with its first doubling. What was asked for and did not come is asked for again,
// each round trip, until it would be of no use.
#include "rt/rt.h"

#define REPEATS_MOST 12u     // for one hole in what came
#define PEER_RTO_US 200000u  // the smallest timeout of most senders
#define SLACK_US 2000u
#define NO_TIME INT32_MAX  // of rt_time_left

static uint32_t patience(const struct rt *rt, const struct rt_line *line)
{
    const uint32_t rtt = min_u32(rt_round_trip(rt, line), INT32_MAX / 8);
    return rtt + rtt / 4 + SLACK_US;
}

static uint32_t lead(const struct rt *rt, const struct rt_line *line)
{
    const uint32_t rtt = min_u32(rt_round_trip(rt, line), INT32_MAX / 8), one = rtt + rtt / 4;
    return rt_lossy(rt) ? 3 * one + 3 * (PEER_RTO_US + rtt) : one;
}

int32_t rt_time_left(const struct rt *rt, const struct rt_line *line, uint32_t seq)
{
    if (!rt->deadline_us)
        return NO_TIME;
    const uint64_t due =
        rt->deadline_us + (uint64_t)rt->settings.period_us * ((seq - rt->frame_seq) / rt->settings.frame_bytes);
    const int64_t left = (int64_t)(due - line->clock_us);
    return left > NO_TIME / 2 ? NO_TIME : left < -NO_TIME / 2 ? -NO_TIME / 2 : (int32_t)left;
}

// The next read, at its deadline the latest, is the next opportunity.
static bool window_needed(const struct rt *rt, const struct rt_line *line)
{
    if (line->ended || !seq_lt(line->edge, line->would))
        return false;
    const uint32_t edge = rt_usable(rt, line, line->edge);
    const uint32_t frames = seq_lt(rt->frame_seq, edge) ? (edge - rt->frame_seq) / rt->settings.frame_bytes : 0;
    return (uint64_t)frames * rt->settings.period_us < lead(rt, line);
}

// The first byte that a frame still wanted lacks.
static uint32_t first_missing(const struct rt *rt, const struct rt_line *line)
{
    uint32_t at = seq_max(rt->frame_seq, line->nxt), hole = at;
    if (line->beyond)
        intervals_hole(line->beyond, at, rt->seen + 1, &hole);
    return hole;
}

// When something should have come. What the sender has window for, and sends as it reads it from a file, comes at once;
// a live source's comes as long before its deadline as those before it did.
static uint32_t expected_us(const struct rt *rt, const struct rt_line *line, uint32_t missing, int32_t left)
{
    if (rt->quiet)
        return rt->quiet_us;
    // A sender with SACK knows by now what is missing; others need the repetition itself.
    const uint32_t times = line->sack && !rt->opened ? min_u32(rt->repeats, 2) : 0,
                   asked = rt->asked_us + (patience(rt, line) << times);
    if (seq_lt(missing, rt->seen) || rt->repeats || rt->early_us == INT32_MIN || left == NO_TIME)
        return asked;
    const uint32_t usual = line->now_us + (uint32_t)(left - rt->early_us) + rt_round_trip(rt, line) / 4 + SLACK_US;
    return seq_lt(asked, usual) ? usual : asked;
}

static void ask_again(struct rt *rt, const struct rt_line *line, struct rt_order *order)
{
    // Three more of the same let a sender without SACK find the loss at once (RFC 5681 §3.2).
    const uint8_t acks = !rt_lossy(rt) ? 1 : line->sack ? 2 : 3;
    rt_acknowledge(order, acks, rt->opened ? WEIR_REALTIME_REPEAT : WEIR_REALTIME_DATA_LATE);
    if (rt->opened)
        rt_path_lost(rt, 1);
    rt->sampling = false;
    rt->asked_us = line->now_us;
    rt->repeats++;
}

void rt_need_heard(struct rt *rt, const struct rt_line *line, const struct rt_news *news)
{
    if (!news->length)
        return;
    rt->asked_us = line->now_us;
    rt->repeats = 0;
    const int32_t left = seq_le(rt->frame_seq, news->seq) ? rt_time_left(rt, line, news->seq) : NO_TIME;
    if (news->seq == news->seen && left != NO_TIME)
        rt->early_us = left > rt->early_us ? left : rt->early_us - (rt->early_us - left) / 64;
}

void rt_need(struct rt *rt, const struct rt_line *line, struct rt_order *order)
{
    if (window_needed(rt, line))
        rt_acknowledge(order, 1, WEIR_REALTIME_NEED);
    const uint32_t missing = first_missing(rt, line);
    if (line->ended ? !seq_lt(missing, line->fin) : !seq_lt(missing, rt_usable(rt, line, line->edge)))
        return;
    const int32_t left = rt_time_left(rt, line, missing);
    uint32_t expected = expected_us(rt, line, missing, left);
    if (rt->repeats >= REPEATS_MOST || (left != NO_TIME && left < (int32_t)(rt_round_trip(rt, line) / 2)))
        return;
    if (seq_le(expected, line->now_us)) {
        ask_again(rt, line, order);
        expected = expected_us(rt, line, missing, left);
    }
    rt_wake_at(order, expected);
}
