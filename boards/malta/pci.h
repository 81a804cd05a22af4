// SPDX-License-Identifier: BSD-2-Clause
// The Malta board's PCI bus behind its GT-64120 (MD00048, chapter 3; the GT-64120 data sheet, chapters 4 and 20):
// configuration space, and memory for devices whose boot loader gave them none.
#ifndef MALTA_PCI_H
#define MALTA_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

enum { PCI_ID = 0x00, PCI_COMMAND = 0x04, PCI_BAR0 = 0x10, PCI_INTERRUPT = 0x3c };

uint32_t pci_read(uint32_t device, uint32_t function, uint32_t at);
void pci_write(uint32_t device, uint32_t function, uint32_t at, uint32_t value);
// The `number`th device (0: the first) with this identity: its number on the bus; −1: there is none.
int pci_find(uint32_t id, uint32_t number);
// Lets it be a master, and gives where its registers are that base address register `bar` holds (of memory): a place
// without cache.
uintptr_t pci_enable(uint32_t device, uint32_t bar);

// The input and output ports of the ISA devices in the south bridge.
uint8_t port_read(uint32_t port);
void port_write(uint32_t port, uint8_t value);

WEIR_END_DECLS

#endif
