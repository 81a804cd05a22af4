// SPDX-License-Identifier: BSD-2-Clause
// The exercise "port to a new timer" (docs/course.md). The board's only clock is a counter of 24 bits that goes on by
// one 32,768 times a second, wraps, and raises no interrupt when it does.
#ifndef TESTS_COURSE_TIMER_H
#define TESTS_COURSE_TIMER_H

#include <stdint.h>

struct timer {
    uint64_t ticks;  // since the start
};

// What port.now_us asks for, made of the counter as it stands: µs since the start, never backwards, right to a tick
// however long the board runs. It is called at least once while the counter goes round (512 s).
uint64_t timer_now_us(struct timer *timer, uint32_t counter);

#endif
