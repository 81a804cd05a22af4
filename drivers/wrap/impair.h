// SPDX-License-Identifier: BSD-2-Clause
// A wrapper that makes a link worse: loss, delay, jitter, reordering, duplication, corruption, each way on its own.
// Chances come from a seeded generator and time from the instance, so that a run in virtual time repeats exactly.
//
// It takes the transmit offloads away (each frame is one segment with a complete checksum: a loss is one segment's, a
// flipped bit is found). What a driver has merged or vouched for on the way in arrives as one frame: open the driver
// without offloads (TAP_NO_VNET) when the way in shall lose single segments.
#ifndef DRIVERS_WRAP_IMPAIR_H
#define DRIVERS_WRAP_IMPAIR_H

#include "line.h"
#include "weir/language.h"
#include "weir/linkage/posix.h"

WEIR_BEGIN_DECLS

// Chances are in millionths per frame; all zero is a perfect link.
struct impair_way {
    uint32_t loss_ppm;    // chance that a loss begins
    uint32_t loss_burst;  // a loss takes so many frames in a row; 0 is 1
    uint32_t duplicate_ppm;
    uint32_t corrupt_ppm;  // one bit flipped
    uint32_t reorder_ppm;  // held back by reorder_us, so that later frames overtake it
    uint32_t reorder_us;   // 0: 1000
    uint32_t delay_us;
    uint32_t jitter_us;  // added to the delay, evenly from 0 to this; order is kept
};

struct impair_config {
    struct impair_way out, in;
    uint64_t seed;
    uint64_t limit_bytes;  // frames under way, each direction; 0: 16 MiB. Beyond it they are lost
};

struct impair_counters {
    uint64_t frames, lost, duplicated, corrupted, reordered, overflowed;
};

struct impair_direction {
    struct impair_way way;
    struct impair_counters counters;
    struct line line;
    uint64_t random;
    uint64_t last_due_us;  // order is kept from here
    uint32_t losing;       // frames of the present burst still to lose
};

struct impair {
    struct wrap wrap;
    struct impair_direction out, in;
};

// Wraps `inner` and returns the netif to use in its place. *config is copied. WEIR contexts as in netif.h.
struct weir_netif *impair_wrap(struct impair *impair, struct weir_netif *inner, const struct impair_config *config);
// Changes the link while it runs; frames under way keep their times.
void impair_set(struct impair *impair, const struct impair_way *out, const struct impair_way *in);
// Delivers what is due; returns the next deadline, µs. The outer netif's driver->timer, for pollers that know the
// wrapper only.
uint64_t impair_poll(struct impair *impair, uint64_t now_us);
// After weir_netif_remove, before impair_close, for what the way out still holds: sends what is due, returns when to
// call again, µs, or WEIR_NEVER when nothing is left.
uint64_t impair_drain(struct impair *impair, uint64_t now_us);
// After weir_netif_remove: frees the frames under way. The inner netif stands alone again.
void impair_close(struct impair *impair);

WEIR_END_DECLS

#endif
