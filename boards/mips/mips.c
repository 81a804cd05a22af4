// SPDX-License-Identifier: BSD-2-Clause
#include "mips.h"

#include <stddef.h>

#include "boards/board.h"

#define CACHE_LINE 32u  // bytes, of a 24K
#define LONGEST 0x40000000u
#define LEAST_COUNTS 1000u  // a shorter alarm would mostly lie behind the counter before it is set
#define CAUSE_CODE (31u << 2)

static void (*handlers[8])(void);
static uint32_t clock_mhz, seen;  // the counter when it was last looked at
static uint64_t before;           // counts up to then
static uint64_t alarm;            // counts; what the comparator is set to

static uint32_t count(void)
{
    uint32_t value;
    __asm__ volatile("mfc0 %0, $9" : "=r"(value));
    return value;
}
// Writing it also takes back the interrupt.
static void compare(uint32_t value) { __asm__ volatile("mtc0 %0, $11\n\tehb" ::"r"(value) : "memory"); }
static uint32_t status(void)
{
    uint32_t value;
    __asm__ volatile("mfc0 %0, $12" : "=r"(value));
    return value;
}
static uint32_t cause(void)
{
    uint32_t value;
    __asm__ volatile("mfc0 %0, $13" : "=r"(value));
    return value;
}

// --- time ------------------------------------------------------------------------------------------------------------

// Interrupts are off.
static uint64_t counts(void)
{
    const uint32_t now = count();
    before += now - seen;
    seen = now;
    return before;
}

uint64_t mips_now_us(void)
{
    const uint32_t was = mips_interrupts_off();
    const uint64_t now = counts();
    mips_interrupts_restore(was);
    return now / clock_mhz;
}

// Interrupts are off. The next interrupt comes at the moment, or earlier: often enough for counts(). A moment that the
// counter passed before the comparator had it (an emulator's processor may stand still for a while) would come a whole
// turn of the counter later: it is set again.
static void set_alarm(uint64_t at)
{
    uint32_t step, least = LEAST_COUNTS;
    do {
        const uint64_t now = counts(), ahead = at > now + least ? at - now : least;
        step = ahead < LONGEST ? (uint32_t)ahead : LONGEST;
        alarm = now + step;
        compare(seen + step);
        least *= 2;
    } while (count() - seen >= step);
}

static uint64_t in_counts(uint64_t us) { return us < UINT64_MAX / clock_mhz ? us * clock_mhz : UINT64_MAX; }

static void timer_interrupt(void)
{
    set_alarm(UINT64_MAX);
    board_timer();
}

void board_alarm(uint64_t at_us)
{
    const uint32_t was = mips_interrupts_off();
    if (in_counts(at_us) < alarm)
        set_alarm(in_counts(at_us));
    mips_interrupts_restore(was);
}

void mips_sleep(uint64_t until_us, const volatile bool *awake)
{
    const uint32_t was = mips_interrupts_off();
    if (!*awake && in_counts(until_us) > counts() + LEAST_COUNTS) {
        set_alarm(in_counts(until_us));
        mips_idle();
    }
    mips_interrupts_restore(was);
}

void board_idle(void) { mips_idle(); }

// --- interrupts ------------------------------------------------------------------------------------------------------

__attribute__((weak)) void board_timer(void) {}
__attribute__((weak)) void board_interrupt(void) {}
__attribute__((weak)) void *mips_software_interrupt(void *frame) { return frame; }

static _Noreturn void fault(uint32_t code, uint32_t at)
{
    static const char digits[] = "0123456789abcdef";
    char text[] = "weir: exception 00 at 00000000\n";
    text[16] = digits[code >> 4];
    text[17] = digits[code & 15];
    for (uint32_t i = 0; i < 8; i++)
        text[22 + i] = digits[at >> (28 - 4 * i) & 15];
    board_puts(text);
    for (;;)
        ;
}

// A kernel's, where it has processes.
__attribute__((weak)) void *mips_process_exception(void *frame, uint32_t code)
{
    (void)frame, (void)code;
    return NULL;
}

void *mips_exception(void *frame);  // from start.S
void *mips_exception(void *frame)
{
    const uint32_t why = cause(), lines = (why & status()) >> 8 & 0xff;
    void *const processes = why & CAUSE_CODE ? mips_process_exception(frame, why >> 2 & 31) : NULL;
    if (processes)
        return processes;
    if (why & CAUSE_CODE)
        fault(why >> 2 & 31, *(const uint32_t *)frame);
    for (uint32_t line = 1; line < 8; line++)
        if (lines & 1u << line && handlers[line])
            handlers[line]();
    // Last, so that a switch that one of them asked for is made on the same way out. The software's lines are bits that
    // stand until cleared.
    return cause() & 1u << 8 && status() & 1u << 8 ? mips_software_interrupt(frame) : frame;
}

void mips_line_enable(uint32_t line, void (*handler)(void))
{
    const uint32_t was = mips_interrupts_off();
    handlers[line] = handler;
    __asm__ volatile("mtc0 %0, $12\n\tehb" ::"r"(status() | 1u << (8 + line)) : "memory");
    mips_interrupts_restore(was);
}

void mips_start(uint32_t timer_mhz)
{
    clock_mhz = timer_mhz;
    seen = count();
    set_alarm(UINT64_MAX);
    mips_line_enable(MIPS_LINE_TIMER, timer_interrupt);
    __asm__ volatile("ei\n\tehb" ::: "memory");
}

// --- caches ----------------------------------------------------------------------------------------------------------
// The cache instruction's operations on the primary data cache, by address: 0x11 hit invalidate, 0x19 hit write-back.

void mips_clean(const void *memory, uint32_t bytes)
{
    for (uintptr_t at = (uintptr_t)memory & ~(uintptr_t)(CACHE_LINE - 1); at < (uintptr_t)memory + bytes;
         at += CACHE_LINE)
        __asm__ volatile("cache 0x19, 0(%0)" ::"r"(at) : "memory");
    __asm__ volatile("sync" ::: "memory");
}

void mips_invalidate(const void *memory, uint32_t bytes)
{
    for (uintptr_t at = (uintptr_t)memory & ~(uintptr_t)(CACHE_LINE - 1); at < (uintptr_t)memory + bytes;
         at += CACHE_LINE)
        __asm__ volatile("cache 0x11, 0(%0)" ::"r"(at) : "memory");
    __asm__ volatile("sync" ::: "memory");
}
