// SPDX-License-Identifier: BSD-2-Clause
#include "cc/bbr_loss.h"

#include "cc/bbr_path.h"

#define BBR_NOISE_US 50u
#define BBR_LOSS_MAX (BBR_SHARE * 16 / 100)
#define BBR_LOSS_NONE (BBR_SHARE * 20 / 100)
// lost in a round, and three eighths of it: more than chance takes of a path worth using
#define BBR_OVERRUN_SEGMENTS 16u

enum bbr_watch { BBR_NOT_SLOW, BBR_SLOW_SENT, BBR_SLOW_ACKED };

void bbr_loss_slow(struct bbr_loss *l, bool slow, uint32_t total)
{
    if (slow) {
        l->slow_from = total;
        l->watch = BBR_SLOW_SENT;
    } else {
        l->slow_until = total;
    }
}

// What is acknowledged or found lost from when the first slow segment is delivered until the first one after them is
// was sent slow.
void bbr_loss_count(struct bbr_loss *l, const struct weir_cc_sample *s, bool slow)
{
    if (l->watch == BBR_SLOW_SENT && seq_le(l->slow_from, s->prior_delivered)) {
        l->from_total = s->total_delivered;
        l->from_lost = s->total_lost;
        l->watch = BBR_SLOW_ACKED;
    } else if (l->watch == BBR_SLOW_ACKED && !slow && seq_le(l->slow_until, s->prior_delivered)) {
        const uint32_t lost = (s->total_lost - l->from_lost) >> 6,
                       delivered = (s->total_delivered - l->from_total) >> 6;
        l->lost += lost - l->lost / 8;
        l->sent += lost + delivered - l->sent / 8;
        l->watch = BBR_NOT_SLOW;
    }
}

// The longest round trip that says that no queue stands: what our own burst may add to the shortest, but no more than a
// quarter of what the queue has been seen to add. (A shallow one between many flows is always full, and hardly longer
// than a burst.)
static uint32_t bbr_empty_rtt(const struct bbr_loss *l, uint32_t min_rtt_us, uint32_t segment_us)
{
    const uint32_t burst_us = min_rtt_us / 32 + min_u32(segment_us, min_rtt_us / 16);
    return bbr_limit((uint64_t)min_rtt_us + min_u32(burst_us, l->queue_us / 4) + BBR_NOISE_US);
}

// Was the queue empty at some moment of the round, then the bottleneck may have capacity left that compensation would
// use.
static bool bbr_compensate(struct bbr_loss *l, const struct weir_cc_sample *s, uint32_t bandwidth, uint32_t min_rtt_us)
{
    const uint32_t lost = l->sent ? (uint32_t)((uint64_t)l->lost * BBR_SHARE / l->sent) : 0;
    const uint32_t share = lost <= BBR_LOSS_MAX ? lost : lost < BBR_LOSS_NONE ? (BBR_LOSS_NONE - lost) * 4 : 0;
    const uint32_t segment_us = bbr_limit((uint64_t)s->mss * 1000000 / max_u32(bandwidth, 1));
    const uint32_t rtt_us = l->round_rtt_us;
    l->round_rtt_us = WEIR_CC_UNLIMITED;
    l->queue_us -= l->queue_us / 256;  // what was long ago may no longer be so
    if (rtt_us != WEIR_CC_UNLIMITED && rtt_us > bbr_empty_rtt(l, s->min_rtt_us, segment_us))
        l->share /= 2;
    else if (rtt_us != WEIR_CC_UNLIMITED && l->share < share)
        l->share = (uint16_t)((l->share + share + 1) / 2);
    l->share = (uint16_t)min_u32(l->share, share);
    return rtt_us != WEIR_CC_UNLIMITED && rtt_us <= bbr_empty_rtt(l, min_rtt_us, segment_us);
}

bool bbr_loss_queue(struct bbr_loss *l, const struct weir_cc_sample *s, uint32_t bandwidth, uint32_t min_rtt_us)
{
    const bool empty = s->round_start && bbr_compensate(l, s, bandwidth, min_rtt_us);
    if (s->rtt_us) {
        l->round_rtt_us = min_u32(l->round_rtt_us, s->rtt_us);
        l->queue_us = max_u32(l->queue_us, s->rtt_us - min_u32(s->rtt_us, s->min_rtt_us));
    }
    return empty;
}

uint32_t bbr_loss_overrun(struct bbr_loss *l, const struct weir_cc_sample *s)
{
    const uint32_t lost = s->total_lost - l->from_lost, delivered = s->total_delivered - l->from_total,
                   gone = lost + delivered;
    l->from_lost = s->total_lost;  // nothing is sent slow yet
    l->from_total = s->total_delivered;
    if (lost < BBR_OVERRUN_SEGMENTS * s->mss || lost < gone / 8 * 3)
        return 0;
    return max_u32(delivered - delivered / 8, BBR_MIN_SEGMENTS * s->mss);
}
