// SPDX-License-Identifier: BSD-2-Clause
// A PC with a Pentium's parts or newer: time stamp counter and local APIC (Intel 64 and IA-32 Software Developer's
// Manual, volume 3, chapters 6, 10, 17.17), 8259 interrupt controllers, 8254 timer to measure both by, 16550 UART.
#include "x86.h"

#include "boards/board.h"
#include "boards/mixed_entropy.h"

#define UART 0x3f8u
#define PIC_1 0x20u
#define PIC_2 0xa0u
#define PIT_2 0x42u
#define PIT_COMMAND 0x43u
#define PIT_GATE 0x61u
#define PIT_HZ 1193182u
#define MEASURE_HZ 50u  // the time that the measurement takes: one of them
#define APIC 0xfee00000u
enum {
    APIC_EOI = 0xb0,
    APIC_SPURIOUS = 0xf0,
    APIC_LVT_TIMER = 0x320,
    APIC_LVT_LINT0 = 0x350,
    APIC_INITIAL = 0x380,
    APIC_CURRENT = 0x390,
    APIC_DIVIDE = 0x3e0
};
#define LVT_MASKED (1u << 16)
#define LVT_EXTINT 0x700u
#define DIVIDE_16 3u
enum { VECTOR_IRQ = 32, VECTOR_TIMER = 48, VECTOR_CALL = 62, VECTOR_SPURIOUS = 63, VECTORS = 64 };
#define HOP_US 30000000u  // the timer's counter holds little more

const uint32_t board_granularity_us = 1;
static uint32_t us_per_tick;           // of the time stamp counter, times 2^32
static uint32_t apic_ticks_per_us_16;  // times 2^16
static void (*handlers[X86_IRQS])(uint32_t line);
static uint64_t idt[VECTORS];
extern uint8_t x86_stubs[];
extern uint64_t x86_gdt[];
extern uint8_t x86_entry_stack_end[];

static volatile uint32_t *apic(uint32_t at) { return (volatile uint32_t *)(uintptr_t)(APIC + at); }

// A kernel's, where there is one (board.h).
__attribute__((weak)) void board_timer(void) {}
__attribute__((weak)) void board_interrupt(void) {}

// --- time ------------------------------------------------------------------------------------------------------------

static uint64_t timer_now(void)
{
    uint32_t low, high;
    __asm__ volatile("rdtsc" : "=a"(low), "=d"(high));
    return (uint64_t)high << 32 | low;
}

uint64_t board_now_us(void)
{
    const uint64_t now = timer_now();
    return (now >> 32) * us_per_tick + ((now & 0xffffffff) * us_per_tick >> 32);
}

// The 8254's second channel counts down once; its output shows the end.
static void measure(void)
{
    const uint32_t count = PIT_HZ / MEASURE_HZ;
    *apic(APIC_DIVIDE) = DIVIDE_16;
    *apic(APIC_LVT_TIMER) = LVT_MASKED;
    out8(PIT_GATE, (uint8_t)((in8(PIT_GATE) & ~3u) | 1));
    out8(PIT_COMMAND, 0xb0);
    out8(PIT_2, (uint8_t)count);
    out8(PIT_2, (uint8_t)(count >> 8));
    const uint64_t began = timer_now();
    *apic(APIC_INITIAL) = UINT32_MAX;
    while (!(in8(PIT_GATE) & 0x20))
        ;
    const uint32_t apic_ticks = UINT32_MAX - *apic(APIC_CURRENT);
    const uint64_t ticks = timer_now() - began;
    *apic(APIC_INITIAL) = 0;
    us_per_tick = (uint32_t)((1000000ull << 32) / (ticks * MEASURE_HZ));
    apic_ticks_per_us_16 = (uint32_t)(((uint64_t)apic_ticks * MEASURE_HZ << 16) / 1000000u);
}

static void timer_at(uint64_t until_us)
{
    const uint64_t now_us = board_now_us(), left_us = until_us > now_us ? until_us - now_us : 0,
                   us = left_us < HOP_US ? left_us : HOP_US;
    *apic(APIC_LVT_TIMER) = VECTOR_TIMER;
    *apic(APIC_INITIAL) = (uint32_t)(us * apic_ticks_per_us_16 >> 16) + 1;
}

// Interrupts are taken after the instruction that follows sti: none between the look and the sleep.
void board_sleep(uint64_t until_us, const volatile bool *awake)
{
    __asm__ volatile("cli" ::: "memory");
    if (!*awake && until_us > board_now_us()) {
        timer_at(until_us);
        __asm__ volatile("sti\n\thlt" ::: "memory");
    }
    __asm__ volatile("sti" ::: "memory");
}

void board_alarm(uint64_t at_us) { timer_at(at_us); }
void board_idle(void) { __asm__ volatile("sti\n\thlt\n\tcli" ::: "memory"); }

// --- interrupts ------------------------------------------------------------------------------------------------------

void x86_interrupt(uint32_t vector)
{
    if (vector == VECTOR_TIMER) {
        *apic(APIC_EOI) = 0;
        board_timer();
    } else if (vector - VECTOR_IRQ < X86_IRQS && handlers[vector - VECTOR_IRQ]) {
        handlers[vector - VECTOR_IRQ](vector - VECTOR_IRQ);
    }
}

static uint16_t pic_of(uint32_t line) { return line < 8 ? PIC_1 : PIC_2; }

void x86_irq(uint32_t line, void (*handler)(uint32_t line))
{
    handlers[line] = handler;
    out8(pic_of(line) + 1, (uint8_t)(in8(pic_of(line) + 1) & ~(1u << line % 8)));
}

void x86_irq_off(uint32_t line) { out8(pic_of(line) + 1, (uint8_t)(in8(pic_of(line) + 1) | 1u << line % 8)); }

// Each controller ends an interrupt by itself when it is taken: devices' handlers run with interrupts off, and end what
// the device asks.
static void start_pics(void)
{
    const uint8_t words[2][4] = {{0x11, VECTOR_IRQ, 4, 3}, {0x11, VECTOR_IRQ + 8, 2, 3}};
    for (uint32_t i = 0; i < 2; i++) {
        const uint16_t pic = i ? PIC_2 : PIC_1;
        out8(pic, words[i][0]);
        for (uint32_t word = 1; word < 4; word++)
            out8(pic + 1, words[i][word]);
        out8(pic + 1, i ? 0xff : 0xfb);
    }
}

static void start_idt(void)
{
    const struct __attribute__((packed)) {
        uint16_t limit;
        uint32_t base;
    } pointer = {sizeof idt - 1, (uint32_t)(uintptr_t)idt};
    for (uint32_t i = 0; i < VECTORS; i++) {
        const uint32_t to = (uint32_t)(uintptr_t)(x86_stubs + 16 * i);
        const uint32_t kind = i == VECTOR_CALL ? 0xee00 : 0x8e00;  // also from ring 3
        idt[i] = (uint64_t)((to & 0xffff0000) | kind) << 32 | 8u << 16 | (to & 0xffff);
    }
    __asm__ volatile("lidt %0" ::"m"(pointer));
}

// Ring 3 is left to a stack that only the first instructions of an entry use, with interrupts off
// (kernel/preempt/arch/x86.h).
static void start_rings(void)
{
    static struct {
        uint32_t link, stack, stack_segment, unused[22];
        uint16_t trap, ports;  // ports: beyond the segment, so none is allowed
    } task = {.stack_segment = 0x10, .ports = sizeof task};
    const uint32_t base = (uint32_t)(uintptr_t)&task;
    task.stack = (uint32_t)(uintptr_t)x86_entry_stack_end;
    x86_gdt[5] = (uint64_t)((base & 0xff000000) | 0x8900 | (base >> 16 & 0xff)) << 32 | base << 16 | (sizeof task - 1);
    __asm__ volatile("ltr %w0" ::"r"(5 * 8));
}

void x86_fault(uint32_t vector, uint32_t first, uint32_t second);
void x86_fault(uint32_t vector, uint32_t first, uint32_t second)
{
    static const char digits[] = "0123456789abcdef";
    char text[] = "weir: exception 00, 00000000 00000000\n";
    text[16] = digits[vector >> 4 & 15];
    text[17] = digits[vector & 15];
    for (uint32_t i = 0; i < 8; i++) {
        text[20 + i] = digits[first >> (28 - 4 * i) & 15];
        text[29 + i] = digits[second >> (28 - 4 * i) & 15];
    }
    board_puts(text);
}

// --- console, randomness ---------------------------------------------------------------------------------------------

void board_puts(const char *text)
{
    for (; *text; text++) {
        while (!(in8(UART + 5) & 0x20))
            ;
        out8(UART, (uint8_t)*text);
    }
}

static bool has_generator(void)
{
    uint32_t a = 1, b, c = 0, d;
    __asm__ volatile("cpuid" : "+a"(a), "=b"(b), "+c"(c), "=d"(d));
    return c >> 30 & 1;
}

static uint32_t generated(void)
{
    uint32_t value = 0;
    uint8_t good = 0;
    for (uint32_t i = 0; i < 10 && !good; i++)
        __asm__ volatile("rdrand %0\n\tsetc %1" : "=r"(value), "=qm"(good));
    return value;
}

// The processor's generator where it has one.
static uint32_t sample(void) { return (uint32_t)timer_now(); }
static uint32_t sample_generated(void) { return (uint32_t)timer_now() + generated(); }
void board_entropy(void *out, size_t bytes) { mixed_entropy(out, bytes, has_generator() ? sample_generated : sample); }

void board_init(void)
{
    start_idt();
    start_rings();
    start_pics();
    *apic(APIC_SPURIOUS) = 0x100 | VECTOR_SPURIOUS;
    *apic(APIC_LVT_LINT0) = LVT_EXTINT;
    measure();
    __asm__ volatile("sti");
}
