// SPDX-License-Identifier: BSD-2-Clause
// What the boards of a PC share: ports, the two interrupt controllers (the 8259 pair for devices, the processor's own
// for its timer), the time stamp counter, the console, PCI.
#ifndef X86_X86_H
#define X86_X86_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

static inline void out8(uint16_t port, uint8_t value) { __asm__ volatile("outb %0, %1" ::"a"(value), "Nd"(port)); }
static inline uint8_t in8(uint16_t port)
{
    uint8_t value;
    __asm__ volatile("inb %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}
static inline void out32(uint16_t port, uint32_t value) { __asm__ volatile("outl %0, %1" ::"a"(value), "Nd"(port)); }
static inline uint32_t in32(uint16_t port)
{
    uint32_t value;
    __asm__ volatile("inl %1, %0" : "=a"(value) : "Nd"(port));
    return value;
}

#define X86_IRQS 16u
// `handler` is called by every interrupt of that line, 0 to 15, with its number. Lines of PCI devices are
// level-triggered, as the BIOS has set them.
void x86_irq(uint32_t line, void (*handler)(uint32_t line));
void x86_irq_off(uint32_t line);  // until x86_irq is called again; also from the handler

// A function of PCI bus 0: its number is device × 8 + function.
#define PCI_NONE 0xffffffffu
uint32_t pci_read(uint32_t function, uint32_t offset);
void pci_write(uint32_t function, uint32_t offset, uint32_t value);
// The first function after `after` (PCI_NONE: of all) with that vendor and device; PCI_NONE: there is none.
uint32_t pci_find(uint16_t vendor, uint16_t device, uint32_t after);
uint32_t pci_line(uint32_t function);  // of its interrupt

WEIR_END_DECLS

#endif
