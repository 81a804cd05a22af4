// SPDX-License-Identifier: BSD-2-Clause
// Ticks are counted, and made microseconds of only when asked: sums of rounded parts would drift.
#include "timer.h"

#define RATE 32768u
#define MASK 0xffffffu

uint64_t timer_now_us(struct timer *timer, uint32_t counter)
{
    timer->ticks += (counter - (uint32_t)timer->ticks) & MASK;
    return timer->ticks / RATE * 1000000u + timer->ticks % RATE * 1000000u / RATE;
}
