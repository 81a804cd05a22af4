// SPDX-License-Identifier: BSD-2-Clause
// The time of day on top of a clock that only counts, as an instance's: leases, timers and TLS's deadlines go by that
// one, which nobody sets. What turns out to be a little off is made up for little by little, so that the time of day
// does not go back; a greater difference is a step, which may. The rate of the clock below is not corrected, so it has
// to be set before that is a step off: of 50 ppm within 42 minutes. Pure.
#ifndef APPS_UNIX_CLOCK_H
#define APPS_UNIX_CLOCK_H

#include <stdint.h>

#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#define UNIX_CLOCK_STEP_US 128000u  // from this on it is a step (RFC 5905 §11.3)
#define UNIX_CLOCK_SLEW 2000u       // 1 µs is made up for in so many: 500 ppm

struct unix_clock {
    uint64_t unix_us;  // µs since 1970, at now_us of the other clock; 0: not known
    uint64_t now_us;
    int64_t slew_us;  // what is added from then on, in time
};

// 0: not known.
uint64_t unix_clock_read(const struct unix_clock *clock, uint64_t now_us);
// How far what `unix_us` says for now_us is from what the clock says, in µs; 0 where that says nothing.
uint64_t unix_clock_error(const struct unix_clock *clock, uint64_t unix_us, uint64_t now_us);
void unix_clock_set(struct unix_clock *clock, uint64_t unix_us, uint64_t now_us);

WEIR_END_DECLS

#endif
