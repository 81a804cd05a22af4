// SPDX-License-Identifier: BSD-2-Clause
// The counter runs down from `period`; each wrap adds the period to what lies before. To sleep until a moment the
// period is cut so that the wrap falls there. ARMv7-M Architecture Reference Manual, B3.3. Time is kept in microseconds
// and the cycles beyond them: a clock of cycles alone would take a division of 64 bits, some hundred instructions, each
// time it is asked.
#include "systick.h"

#include "boards/board.h"

#define CSR 0xe000e010u
#define RVR 0xe000e014u
#define CVR 0xe000e018u
#define ICSR 0xe000ed04u
#define CSR_CLOCK 4u  // the processor's
#define CSR_ON 7u     // the processor's clock, interrupt, enable
#define PENDSTSET (1u << 26)
#define PENDSTCLR (1u << 25)
#define COUNTER 0x1000000u  // cycles of the longest period
#define LEAST_CYCLES 200u   // shorter sleeps are not worth the work

static struct {
    uint64_t before_us;  // up to the last wrap
    uint32_t cycles;     // beyond that, less than a microsecond's
    uint32_t mhz, period;
} timer;  // in one place, which is asked for the time all the while

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
    timer.period = cycles;
    *reg(RVR) = cycles - 1;
    *reg(CVR) = 0;  // loads it with the next cycle, without an interrupt
}

void systick_start(uint32_t cycles_per_us)
{
    timer.mhz = cycles_per_us;
    *reg(CSR) = CSR_CLOCK;
    begin_period(COUNTER);
    *reg(CSR) = CSR_ON;
}

// Interrupts are off. Cycles since the last wrap that the handler has seen: less than two periods.
static inline __attribute__((always_inline)) uint32_t cycles_counted(void)
{
    uint32_t end = timer.period - 1, counter = *reg(CVR);
    if (__builtin_expect(*reg(ICSR) & PENDSTSET, 0)) {
        counter = *reg(CVR);  // of the new period for sure
        end += timer.period;
    }
    return counter ? end - counter : end + 1 - timer.period;
}
static __attribute__((noinline)) uint32_t cycles_since(void) { return cycles_counted(); }

static void add_cycles(uint32_t cycles)
{
    timer.cycles += cycles;
    timer.before_us += timer.cycles / timer.mhz;
    timer.cycles %= timer.mhz;
}

uint64_t systick_now_us(void)
{
    const uint32_t primask = interrupts_off();
    const uint64_t now_us = timer.before_us + (timer.cycles + cycles_counted()) / timer.mhz;
    interrupts_restore(primask);
    return now_us;
}

// Interrupts are off: a new period begins here, and what the old one counted is kept. Only then is forgotten that the
// old one ended: an end that fell between the two would be taken for the new one's, and the clock would be a whole
// period ahead.
static void cut_period(uint32_t cycles)
{
    add_cycles(cycles_since());
    begin_period(cycles);
    *reg(ICSR) = PENDSTCLR;
}

// Interrupts are off. Cycles until then; LEAST_CYCLES: it is near or past. COUNTER: a whole period and more.
static uint32_t cycles_until(uint64_t at_us)
{
    const uint32_t since = timer.cycles + cycles_since();
    const uint64_t now_us = timer.before_us + since / timer.mhz;
    if (at_us <= now_us)
        return LEAST_CYCLES;
    if (at_us - now_us >= COUNTER / timer.mhz)
        return COUNTER;
    const uint32_t ahead = (uint32_t)(at_us - now_us) * timer.mhz - since % timer.mhz;
    return ahead > LEAST_CYCLES ? ahead : LEAST_CYCLES;
}

// A period that was cut ends here; what follows is a long one, unless the kernel cuts that too.
void systick_handler(void)
{
    const uint32_t primask = interrupts_off();
    add_cycles(timer.period);
    if (timer.period < COUNTER)
        cut_period(COUNTER);
    interrupts_restore(primask);
    board_timer();
}

// Nothing to do when a period ends before that anyway: the kernel asks again then.
void board_alarm(uint64_t at_us)
{
    const uint32_t primask = interrupts_off();
    const uint32_t ahead = cycles_until(at_us);
    const uint32_t counter = *reg(CVR);
    if (!(*reg(ICSR) & PENDSTSET) && ahead < (counter ? counter : timer.period))
        cut_period(ahead);
    interrupts_restore(primask);
}

void board_idle(void) { __asm__ volatile("dsb\n\twfi" ::: "memory"); }

void systick_sleep(uint64_t until_us, const volatile bool *awake)
{
    // an interrupt that comes from here on is pending, and ends wfi all the same
    const uint32_t primask = interrupts_off();
    const uint32_t left = cycles_until(until_us);
    if (!*awake && left > LEAST_CYCLES) {
        cut_period(left);
        __asm__ volatile("dsb\n\twfi" ::: "memory");
    }
    interrupts_restore(primask);
}
