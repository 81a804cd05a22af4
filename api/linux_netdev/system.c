// SPDX-License-Identifier: BSD-2-Clause
#include "api/linux_netdev/system.h"

#include <string.h>

#include "api/linux_netdev/internal.h"
#include "kernel/preempt/arch.h"
#include "kernel/preempt/kmem.h"

// --- interrupts ------------------------------------------------------------------------------------------------------
#define HANDLERS 8u

static struct handler {
    linux_irq_handler *call;  // NULL: free
    void *dev_id;
    unsigned irq;
    bool shares;
} handlers[HANDLERS];
static volatile uint32_t pending;   // a bit a line
static volatile uint32_t disabled;  // by drivers
struct device *irq2dev_map[NR_IRQS];

static bool taken(unsigned irq, bool shares)
{
    for (const struct handler *at = handlers; at < handlers + HANDLERS; at++)
        if (at->call && at->irq == irq && !(shares && at->shares))
            return true;
    return false;
}

int request_irq(unsigned irq, linux_irq_handler *handler, unsigned long flags, const char *device, void *dev_id)
{
    const bool shares = (flags & SA_SHIRQ) != 0;
    (void)device;
    if (irq >= NR_IRQS || !handler)
        return -EINVAL;
    if (taken(irq, shares))
        return -EBUSY;
    for (struct handler *at = handlers; at < handlers + HANDLERS; at++)
        if (!at->call) {
            *at = (struct handler){handler, dev_id, irq, shares};
            enable_irq(irq);
            return 0;
        }
    return -EBUSY;
}

static bool used(unsigned irq)
{
    for (const struct handler *at = handlers; at < handlers + HANDLERS; at++)
        if (at->call && at->irq == irq)
            return true;
    return false;
}

void free_irq(unsigned irq, void *dev_id)
{
    for (struct handler *at = handlers; at < handlers + HANDLERS; at++)
        if (at->call && at->irq == irq && at->dev_id == dev_id)
            at->call = NULL;
    if (!used(irq))
        disable_irq(irq);
}

void disable_irq(unsigned irq)
{
    const uint32_t state = arch_interrupts_off();
    disabled |= 1u << irq;
    linux_board->line(irq, false);
    arch_interrupts_restore(state);
}

// What interrupted meanwhile is then heard.
void enable_irq(unsigned irq)
{
    const uint32_t state = arch_interrupts_off();
    disabled &= ~(1u << irq);
    linux_board->line(irq, true);
    arch_interrupts_restore(state);
    if (pending >> irq & 1)
        linux_wake();
}

// --- which line a card has -------------------------------------------------------------------------------------------
#define PROBE_NEVER 0x2147u     // a PC's own: timer, keyboard, the second controller, floppy, clock, coprocessor
#define PROBE_QUIET_JIFFIES 1   // a line that interrupts so early is somebody else's
#define PROBE_REPORT_JIFFIES 2  // the card has so long at the least

static volatile uint32_t probed, probe_seen;  // a bit a line

static void wait_jiffies(int count, bool until_seen)
{
    const unsigned long from = jiffies;
    while (jiffies - from <= (unsigned long)count && !(until_seen && (probe_seen & probed)))
        barrier();
}

static unsigned long probe_begin(int quiet_jiffies)
{
    uint32_t lines = 0;
    for (unsigned irq = 0; irq < NR_IRQS; irq++)
        if (!(PROBE_NEVER >> irq & 1) && !used(irq))
            lines |= 1u << irq;
    probe_seen = 0;
    probed = lines;
    for (unsigned irq = 0; irq < NR_IRQS; irq++)
        if (lines >> irq & 1)
            enable_irq(irq);
    wait_jiffies(quiet_jiffies, false);
    probed &= ~probe_seen;
    return probed;
}

// The lines that interrupted.
static uint32_t probe_end(void)
{
    const uint32_t lines = probed;
    for (unsigned irq = 0; irq < NR_IRQS; irq++)
        if (lines >> irq & 1)
            disable_irq(irq);
    probed = 0;
    return probe_seen & lines;
}

static int lowest(uint32_t lines)
{
    int irq = 0;
    for (; lines && !(lines & 1); lines >>= 1)
        irq++;
    return irq;
}

unsigned long probe_irq_on(void) { return probe_begin(PROBE_QUIET_JIFFIES); }
int probe_irq_off(unsigned long lines)
{
    const uint32_t seen = probe_end() & (uint32_t)lines;
    return seen & (seen - 1) ? -lowest(seen) : lowest(seen);
}
int autoirq_setup(int jiffies_each)
{
    return (int)probe_begin(jiffies_each > PROBE_QUIET_JIFFIES ? jiffies_each : PROBE_QUIET_JIFFIES);
}
int autoirq_report(int jiffies_each)
{
    wait_jiffies(jiffies_each > PROBE_REPORT_JIFFIES ? jiffies_each : PROBE_REPORT_JIFFIES, true);
    return lowest(probe_end());
}

// --- an interrupt ----------------------------------------------------------------------------------------------------

void linux_netdev_interrupt(uint32_t line)
{
    linux_board->line(line, false);
    if (probed >> line & 1) {
        probe_seen |= 1u << line;
        return;
    }
    pending |= 1u << line;
    linux_wake();
}

static uint32_t take_pending(void)
{
    const uint32_t state = arch_interrupts_off(), taken = pending & ~disabled;
    pending &= disabled;
    arch_interrupts_restore(state);
    return taken;
}

bool linux_irq_waits(void) { return (pending & ~disabled) != 0; }

static void unmask(unsigned irq)
{
    const uint32_t state = arch_interrupts_off();
    if (!(disabled >> irq & 1))
        linux_board->line(irq, true);
    arch_interrupts_restore(state);
}

void linux_irq_run(void)
{
    for (uint32_t lines = take_pending(), irq = 0; lines; lines >>= 1, irq++) {
        if (!(lines & 1))
            continue;
        for (const struct handler *at = handlers; at < handlers + HANDLERS; at++)
            if (at->call && at->irq == irq)
                at->call((int)irq, at->dev_id, NULL);
        if (used(irq))
            unmask(irq);
    }
}

void cli(void) { (void)arch_interrupts_off(); }
void sti(void) { arch_interrupts_on(); }
unsigned long linux_flags(void)
{
    const uint32_t state = arch_interrupts_off();
    arch_interrupts_restore(state);
    return state;
}
void linux_restore_flags(unsigned long flags)
{
    cli();
    arch_interrupts_restore((uint32_t)flags);
}

// --- bits ------------------------------------------------------------------------------------------------------------
#define WORD_BITS (8 * (int)sizeof(unsigned long))

static int change_bit_to(int nr, void *address, bool on)
{
    volatile unsigned long *const word = (volatile unsigned long *)address + nr / WORD_BITS;
    const unsigned long bit = 1ul << nr % WORD_BITS;
    const uint32_t state = arch_interrupts_off();
    const unsigned long before = *word;
    *word = on ? before | bit : before & ~bit;
    arch_interrupts_restore(state);
    return (before & bit) != 0;
}
int set_bit(int nr, void *address) { return change_bit_to(nr, address, true); }
int clear_bit(int nr, void *address) { return change_bit_to(nr, address, false); }
int test_bit(int nr, const void *address)
{
    return (((const volatile unsigned long *)address)[nr / WORD_BITS] >> nr % WORD_BITS & 1) != 0;
}

// --- memory and time -------------------------------------------------------------------------------------------------
static struct kmem kmem;

unsigned long high_memory;
char x86 = 5;
int EISA_bus;

void linux_memory_init(void *memory, size_t bytes)
{
    kmem_init(&kmem, memory, bytes);
    linux_memory_is(memory, bytes);
}

void linux_memory_is(const void *memory, size_t bytes)
{
    const unsigned long end = virt_to_bus(memory) + bytes;
    high_memory = end > high_memory ? end : high_memory;
}

void *kmalloc(size_t bytes, int priority) { return (void)priority, kmem_alloc(&kmem, bytes); }
void kfree(void *memory) { kmem_free(&kmem, memory); }

void udelay(unsigned long us)
{
    const uint64_t until_us = kernel_now_us() + us;
    while (kernel_now_us() < until_us)
        ;
}
