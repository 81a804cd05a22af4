// SPDX-License-Identifier: BSD-2-Clause
// What is lost and whose making it is, for bbr, which compensates for the path's own loss: where the path loses a share
// p whatever we send, a bottleneck of rate C delivers only (1 - p) C, pacing at that leaves p of it unused, and probing
// with 5/4 finds no more when p nears 1/5. So the pace is to be the delivery rate divided by (1 - p). This p must be
// the path's and not of our making. It is therefore counted among what was sent slower than the bottleneck, where a
// queue that overflows or a policer loses nothing; it is used only while the round-trip time shows no standing queue,
// which would say that the bottleneck is busy as it is; and it is never taken for more than BBR_LOSS_MAX.
#ifndef CC_BBR_LOSS_H
#define CC_BBR_LOSS_H

#include "cc/common.h"

#define BBR_SHARE 4096u  // shares of loss have twelve fractional bits

struct bbr_loss {
    uint32_t slow_from, slow_until;  // total_delivered when sending slower than the bottleneck began, and ended
    // total_delivered and total_lost when the first of that was acknowledged; in STARTUP: a round ago
    uint32_t from_total, from_lost;
    uint32_t sent, lost;    // in the last eight such times or so, in units of 64 bytes
    uint32_t round_rtt_us;  // smallest of this round
    uint32_t queue_us;      // the most that a queue has been seen to add
    uint16_t share;         // of loss, that is compensated for
    uint8_t watch;
};

// From `total` on, in total_delivered, what is sent goes slower than the bottleneck, or no longer.
void bbr_loss_slow(struct bbr_loss *l, bool slow, uint32_t total);

// Counts among what was sent slow; `slow`: it still is.
void bbr_loss_count(struct bbr_loss *l, const struct weir_cc_sample *s, bool slow);

// Looks at the queue, and once a round at the share. True: the queue was empty at some moment of the round.
bool bbr_loss_queue(struct bbr_loss *l, const struct weir_cc_sample *s, uint32_t bandwidth, uint32_t min_rtt_us);

// Once a round of STARTUP. What the path holds, in bytes, if the round lost more than the path's own loss explains; 0:
// it did not.
uint32_t bbr_loss_overrun(struct bbr_loss *l, const struct weir_cc_sample *s);

#endif
