// SPDX-License-Identifier: BSD-2-Clause
#include "api/linux_netdev/system.h"

#include <string.h>

#include "api/linux_netdev/internal.h"
#include "kernel/preempt/arch.h"
#include "kernel/preempt/kmem.h"

// --- interrupts ------------------------------------------------------------------------------------------------------
#define HANDLERS 8

static struct handler {
    linux_irq_handler *call;  // NULL: free
    void *dev_id;
    unsigned irq;
} handlers[HANDLERS];
static volatile uint32_t pending;  // a bit a line
struct device *irq2dev_map[LINUX_NETDEV_IRQS];

int request_irq(unsigned irq, linux_irq_handler *handler, unsigned long flags, const char *device, void *dev_id)
{
    (void)flags, (void)device;
    if (irq >= LINUX_NETDEV_IRQS || !handler)
        return -EINVAL;
    for (struct handler *at = handlers; at < handlers + HANDLERS; at++)
        if (!at->call) {
            *at = (struct handler){handler, dev_id, irq};
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

void disable_irq(unsigned irq) { linux_board->line(irq, false); }
void enable_irq(unsigned irq) { linux_board->line(irq, true); }

void linux_netdev_interrupt(uint32_t line)
{
    disable_irq(line);
    pending |= 1u << line;
    linux_wake();
}

static uint32_t take_pending(void)
{
    const uint32_t state = arch_interrupts_off(), taken = pending;
    pending = 0;
    arch_interrupts_restore(state);
    return taken;
}

bool linux_irq_waits(void) { return pending; }

void linux_irq_run(void)
{
    for (uint32_t lines = take_pending(), irq = 0; lines; lines >>= 1, irq++) {
        if (!(lines & 1))
            continue;
        for (const struct handler *at = handlers; at < handlers + HANDLERS; at++)
            if (at->call && at->irq == irq)
                at->call((int)irq, at->dev_id, NULL);
        if (used(irq))
            enable_irq(irq);
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

// --- ports -----------------------------------------------------------------------------------------------------------
#define REGIONS 8
static struct region {
    unsigned from, extent;  // extent 0: free
} regions[REGIONS];

int check_region(unsigned from, unsigned extent)
{
    for (const struct region *at = regions; at < regions + REGIONS; at++)
        if (at->extent && from < at->from + at->extent && at->from < from + extent)
            return -EBUSY;
    return 0;
}

void request_region(unsigned from, unsigned extent, const char *name)
{
    (void)name;
    for (struct region *at = regions; at < regions + REGIONS; at++)
        if (!at->extent) {
            *at = (struct region){from, extent};
            return;
        }
}

void release_region(unsigned from, unsigned extent)
{
    for (struct region *at = regions; at < regions + REGIONS; at++)
        if (at->from == from && at->extent == extent)
            at->extent = 0;
}

void insb(unsigned port, void *to, unsigned long count)
{
    for (uint8_t *at = to; count; count--)
        *at++ = inb(port);
}
void outsb(unsigned port, const void *from, unsigned long count)
{
    for (const uint8_t *at = from; count; count--)
        outb(*at++, port);
}
// The processor's order of bytes is the bus's. Memory need not be aligned.
void insw(unsigned port, void *to, unsigned long count)
{
    for (uint8_t *at = to; count; count--, at += 2) {
        const uint16_t value = inw(port);
        memcpy(at, &value, sizeof value);
    }
}
void insl(unsigned port, void *to, unsigned long count)
{
    for (uint8_t *at = to; count; count--, at += 4) {
        const uint32_t value = inl(port);
        memcpy(at, &value, sizeof value);
    }
}
void outsw(unsigned port, const void *from, unsigned long count)
{
    for (const uint8_t *at = from; count; count--, at += 2) {
        uint16_t value;
        memcpy(&value, at, sizeof value);
        outw(value, port);
    }
}
void outsl(unsigned port, const void *from, unsigned long count)
{
    for (const uint8_t *at = from; count; count--, at += 4) {
        uint32_t value;
        memcpy(&value, at, sizeof value);
        outl(value, port);
    }
}

// --- PCI -------------------------------------------------------------------------------------------------------------
#define FUNCTIONS 256u

int pcibios_present(void) { return linux_board->pci_read != NULL; }

int pcibios_find_device(unsigned short vendor, unsigned short device, unsigned short index, unsigned char *bus,
                        unsigned char *function)
{
    for (uint32_t at = 0; pcibios_present() && at < FUNCTIONS; at++)
        if (linux_board->pci_read(at, 0) == ((uint32_t)device << 16 | vendor) && !index--) {
            *bus = 0;
            *function = (unsigned char)at;
            return PCIBIOS_SUCCESSFUL;
        }
    return PCIBIOS_DEVICE_NOT_FOUND;
}

static uint32_t read_config(unsigned char function, unsigned char where)
{
    return linux_board->pci_read(function, where & 0xfcu) >> 8 * (where & 3u);
}

static int write_config(unsigned char function, unsigned char where, uint32_t mask, uint32_t value)
{
    const uint32_t shift = 8 * (where & 3u), rest = linux_board->pci_read(function, where & 0xfcu) & ~(mask << shift);
    linux_board->pci_write(function, where & 0xfcu, rest | value << shift);
    return PCIBIOS_SUCCESSFUL;
}

int pcibios_read_config_byte(unsigned char bus, unsigned char function, unsigned char where, unsigned char *value)
{
    *value = (unsigned char)read_config(function, where);
    return (void)bus, PCIBIOS_SUCCESSFUL;
}
int pcibios_read_config_word(unsigned char bus, unsigned char function, unsigned char where, unsigned short *value)
{
    *value = (unsigned short)read_config(function, where);
    return (void)bus, PCIBIOS_SUCCESSFUL;
}
int pcibios_read_config_dword(unsigned char bus, unsigned char function, unsigned char where, unsigned int *value)
{
    *value = read_config(function, where);
    return (void)bus, PCIBIOS_SUCCESSFUL;
}
int pcibios_write_config_byte(unsigned char bus, unsigned char function, unsigned char where, unsigned char value)
{
    return (void)bus, write_config(function, where, 0xff, value);
}
int pcibios_write_config_word(unsigned char bus, unsigned char function, unsigned char where, unsigned short value)
{
    return (void)bus, write_config(function, where, 0xffff, value);
}
int pcibios_write_config_dword(unsigned char bus, unsigned char function, unsigned char where, unsigned int value)
{
    return (void)bus, write_config(function, where, UINT32_MAX, value);
}

// --- memory and time -------------------------------------------------------------------------------------------------
static struct kmem kmem;

void linux_memory_init(void *memory, size_t bytes) { kmem_init(&kmem, memory, bytes); }
void *kmalloc(size_t bytes, int priority) { return (void)priority, kmem_alloc(&kmem, bytes); }
void kfree(void *memory) { kmem_free(&kmem, memory); }

void udelay(unsigned long us)
{
    const uint64_t until_us = kernel_now_us() + us;
    while (kernel_now_us() < until_us)
        ;
}
