// SPDX-License-Identifier: BSD-2-Clause
// The Gregorian calendar: which day and time of day a number of microseconds since 1970 is, in UTC. Pure.
#ifndef APPS_CALENDAR_H
#define APPS_CALENDAR_H

#include <stdbool.h>
#include <stdint.h>

#define CALENDAR_DAY_S 86400u
#define CALENDAR_LAST_DAY 2932896u  // since 1970: with it the year 9999 ends

struct calendar {
    uint32_t year, month, day;      // month 1 to 12, day 1 to 31
    uint32_t weekday;               // 0: Sunday
    uint32_t hour, minute, second;  // of the day
};

// Days are counted from March of the year 0, so that a leap day ends its year.
static inline void calendar_day(uint32_t days_since_1970, struct calendar *c)
{
    const uint32_t days = days_since_1970 + 719468, era = days / 146097, day_of_era = days % 146097;
    const uint32_t year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36524 - day_of_era / 146096) / 365;
    const uint32_t day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
    const uint32_t march_month = (5 * day_of_year + 2) / 153;
    c->month = march_month < 10 ? march_month + 3 : march_month - 9;
    c->year = era * 400 + year_of_era + (c->month <= 2);
    c->day = day_of_year - (153 * march_month + 2) / 5 + 1;
    c->weekday = (days_since_1970 + 4) % 7;  // 1970 began with a Thursday
}

// false: the time is not known (0), or lies beyond the year 9999.
static inline bool calendar_of(uint64_t unix_us, struct calendar *c)
{
    const uint64_t seconds = unix_us / 1000000, days = seconds / CALENDAR_DAY_S;
    const uint32_t of_day = (uint32_t)(seconds % CALENDAR_DAY_S);
    if (unix_us == 0 || days > CALENDAR_LAST_DAY)
        return false;
    calendar_day((uint32_t)days, c);
    c->hour = of_day / 3600;
    c->minute = of_day / 60 % 60;
    c->second = of_day % 60;
    return true;
}

#endif
