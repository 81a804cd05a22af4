// SPDX-License-Identifier: BSD-2-Clause
// PCI's configuration mechanism 1 (PCI Local Bus specification 3.0, §3.2.2.3.2).
#include "x86.h"

#define ADDRESS 0xcf8u
#define DATA 0xcfcu
#define FUNCTIONS 256u

uint32_t pci_read(uint32_t function, uint32_t offset)
{
    out32(ADDRESS, 1u << 31 | function << 8 | (offset & 0xfc));
    return in32(DATA);
}

void pci_write(uint32_t function, uint32_t offset, uint32_t value)
{
    out32(ADDRESS, 1u << 31 | function << 8 | (offset & 0xfc));
    out32(DATA, value);
}

uint32_t pci_find(uint16_t vendor, uint16_t device, uint32_t after)
{
    for (uint32_t function = after + 1; function < FUNCTIONS; function++)
        if (pci_read(function, 0) == ((uint32_t)device << 16 | vendor))
            return function;
    return PCI_NONE;
}

uint32_t pci_line(uint32_t function) { return pci_read(function, 0x3c) & 0xff; }
