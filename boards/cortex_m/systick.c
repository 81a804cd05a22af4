// SPDX-License-Identifier: BSD-2-Clause
// The counter runs down from `period`; each wrap adds the period to `before`. To sleep until a moment the period is cut so that the wrap
// falls there. ARMv7-M Architecture Reference Manual, B3.3.
#include "systick.h"

#include "boards/board.h"

#define CSR 0xe000e010u
#define RVR 0xe000e014u
#define CVR 0xe000e018u
#define ICSR 0xe000ed04u
#define CSR_CLOCK 4u  // the processor's
#define CSR_ON 7u     // … interrupt, enable
#define PENDSTSET (1u << 26)
#define PENDSTCLR (1u << 25)
#define COUNTER 0x1000000u  // cycles of the longest period
#define LEAST_CYCLES 200u   // shorter sleeps are not worth the work

static uint32_t clock_mhz, period;
static uint64_t before;  // cycles up to the last wrap

static volatile uint32_t *reg(uint32_t address) { return (volatile uint32_t *)(uintptr_t)address; }

static uint32_t interrupts_off(void)
{
    uint32_t primask;
    __asm__ volatile("mrs %0, primask\n\tcpsid i" : "=r"(primask)::"memory");
    return primask;
}
static void interrupts_restore(uint32_t primask) { __asm__ volatile("msr primask, %0" ::"r"(primask) : "memory"); }

static void begin_period(uint32_t cycles)
{
    period = cycles;
    *reg(RVR) = cycles - 1;
    *reg(CVR) = 0;  // loads it with the next cycle, without an interrupt
}

void systick_start(uint32_t cycles_per_us)
{
    clock_mhz = cycles_per_us;
    *reg(CSR) = CSR_CLOCK;
    begin_period(COUNTER);
    *reg(CSR) = CSR_ON;
}

// Interrupts are off. A wrap that the handler has not seen yet counts, too.
static uint64_t cycles_now(void)
{
    uint32_t counter = *reg(CVR);
    uint64_t total = before;
    if (*reg(ICSR) & PENDSTSET) {
        counter = *reg(CVR);  // of the new period for sure
        total += period;
    }
    return total + (period - 1 - (counter ? counter : period - 1));
}

uint64_t systick_now_us(void)
{
    const uint32_t primask = interrupts_off();
    const uint64_t cycles = cycles_now();
    interrupts_restore(primask);
    return cycles / clock_mhz;
}

// Interrupts are off: a new period begins here, and what the old one counted is kept.
static void cut_period(uint64_t cycles)
{
    before = cycles_now();
    *reg(ICSR) = PENDSTCLR;
    begin_period(cycles < COUNTER ? (uint32_t)cycles : COUNTER);
}

// A period that was cut ends here; what follows is a long one, unless the kernel cuts that too.
void systick_handler(void)
{
    const uint32_t primask = interrupts_off();
    before += period;
    if (period < COUNTER)
        cut_period(COUNTER);
    interrupts_restore(primask);
    board_timer();
}

// Nothing to do when a period ends before that anyway: the kernel asks again then.
void board_alarm(uint64_t at_us)
{
    const uint32_t primask = interrupts_off();
    const uint64_t now = cycles_now(), at = at_us < UINT64_MAX / clock_mhz ? at_us * clock_mhz : UINT64_MAX;
    const uint64_t ahead = at > now + LEAST_CYCLES ? at - now : LEAST_CYCLES;
    const uint32_t counter = *reg(CVR);
    if (!(*reg(ICSR) & PENDSTSET) && ahead < (counter ? counter : period))
        cut_period(ahead);
    interrupts_restore(primask);
}

void board_idle(void) { __asm__ volatile("dsb\n\twfi" ::: "memory"); }

void systick_sleep(uint64_t until_us, const volatile bool *awake)
{
    const uint32_t primask = interrupts_off();  // an interrupt that comes from here on is pending, and ends wfi all the same
    const uint64_t now = cycles_now();
    const uint64_t left = until_us < UINT64_MAX / clock_mhz ? until_us * clock_mhz : UINT64_MAX;
    if (!*awake && left > now + LEAST_CYCLES) {
        cut_period(left - now);
        __asm__ volatile("dsb\n\twfi" ::: "memory");
    }
    interrupts_restore(primask);
}
