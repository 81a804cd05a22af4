// SPDX-License-Identifier: BSD-2-Clause
#include "unix_clock.h"

#include <stdbool.h>

uint64_t unix_clock_read(const struct unix_clock *clock, uint64_t now_us)
{
    if (clock->unix_us == 0)
        return 0;
    const uint64_t passed_us = now_us - clock->now_us, most_us = passed_us / UNIX_CLOCK_SLEW;
    const bool ahead = clock->slew_us < 0;  // the clock is: it goes more slowly for a while
    const uint64_t slew_us = ahead ? (uint64_t)-clock->slew_us : (uint64_t)clock->slew_us;
    const uint64_t slewed_us = slew_us < most_us ? slew_us : most_us;
    return clock->unix_us + passed_us + (ahead ? 0 - slewed_us : slewed_us);
}

uint64_t unix_clock_error(const struct unix_clock *clock, uint64_t unix_us, uint64_t now_us)
{
    const uint64_t said_us = unix_clock_read(clock, now_us);
    return said_us == 0 ? 0 : said_us > unix_us ? said_us - unix_us : unix_us - said_us;
}

void unix_clock_set(struct unix_clock *clock, uint64_t unix_us, uint64_t now_us)
{
    const uint64_t said_us = unix_clock_read(clock, now_us);
    const bool step = said_us == 0 || unix_clock_error(clock, unix_us, now_us) >= UNIX_CLOCK_STEP_US;
    *clock = (struct unix_clock){step ? unix_us : said_us, now_us, step ? 0 : (int64_t)(unix_us - said_us)};
}
