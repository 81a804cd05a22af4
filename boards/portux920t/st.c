// SPDX-License-Identifier: BSD-2-Clause
#include "st.h"

#include "armv4t/cpu.h"
#include "boards/board.h"
#include "drivers/mmio.h"

#define ST 0xfffffd00u
enum { RTMR = 0x0c, SR = 0x10, IER = 0x14, IDR = 0x18, RTAR = 0x20, CRTR = 0x24 };
enum { ALARM = 1 << 3, ALL = 15 };
#define COUNT_MASK 0xfffffu
#define HALF_ROUND 0x80000u  // ticks; the counter is read at least that often, since an alarm comes
#define LEAST_AHEAD 2u       // ticks: a moment that the counter is just coming to could be missed
// 1,000,000 µs are 32,768 ticks, 15,625 are 512.
#define US_RATIO 15625u
#define TICK_RATIO 512u

static uint64_t ticks;  // as last read

// The counter runs on another clock than the bus: a reading is right when the next one is the same.
uint32_t st_count(void)
{
    uint32_t count = mmio_read(ST + CRTR), again;
    while ((again = mmio_read(ST + CRTR)) != count)
        count = again;
    return count & COUNT_MASK;
}

static uint64_t now(void)
{
    ticks += (st_count() - (uint32_t)ticks) & COUNT_MASK;
    return ticks;
}

// A moment that the counter has passed before it was written would come a round later: then one behind it is written.
static void alarm_at(uint64_t when)
{
    mmio_write(ST + RTAR, (uint32_t)when & COUNT_MASK);
    for (uint64_t at = now(); at >= when; at = now()) {
        when = at + LEAST_AHEAD;
        mmio_write(ST + RTAR, (uint32_t)when & COUNT_MASK);
    }
}

void st_start(void)
{
    mmio_write(ST + IDR, ALL);
    mmio_write(ST + RTMR, 1);  // no prescaler; counting begins at 0
    (void)mmio_read(ST + SR);
    ticks = 0;
    alarm_at(now() + HALF_ROUND);
    mmio_write(ST + IER, ALARM);
}

uint64_t st_now_us(void)
{
    const uint32_t state = cpu_interrupts_off();
    const uint64_t count = now();
    cpu_interrupts_restore(state);
    return count * US_RATIO / TICK_RATIO;
}

void st_alarm(uint64_t at_us)
{
    const uint32_t state = cpu_interrupts_off();
    const uint64_t from = now() + LEAST_AHEAD, until = from + HALF_ROUND;
    uint64_t at = from;
    if (at_us >= until * US_RATIO / TICK_RATIO)
        at = until;
    else if (at_us > from * US_RATIO / TICK_RATIO)
        at = (at_us * TICK_RATIO + US_RATIO - 1) / US_RATIO;
    alarm_at(at);
    cpu_interrupts_restore(state);
}

void st_interrupt(void)
{
    if (!(mmio_read(ST + SR) & ALARM))
        return;
    alarm_at(now() + HALF_ROUND);
    board_timer();
}
