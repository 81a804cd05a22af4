// SPDX-License-Identifier: BSD-2-Clause
#include "pci.h"

#include "mips/mips.h"

#define GT 0x1be00000u  // where boot loaders put its registers
#define GT_CONFIG_ADDRESS 0xcf8u
#define GT_CONFIG_DATA 0xcfcu
#define PORTS 0x18000000u         // the window for input and output
#define MEMORY_FIRST 0x10000000u  // the window for memory: the same address on both sides
#define MEMORY_STEP 0x10000u      // more than any register file here takes
#define DEVICES 32u
#define COMMAND_PORTS_MEMORY_MASTER 7u

static uint32_t next_memory = MEMORY_FIRST;

static volatile uint32_t *gt(uint32_t at) { return mips_uncached(GT + at); }

// The bridge's own registers are little-endian; what passes to a device's configuration it turns round itself where the
// processor is big-endian.
#if __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static uint32_t little(uint32_t value) { return __builtin_bswap32(value); }
#else
static uint32_t little(uint32_t value) { return value; }
#endif

static void choose(uint32_t device, uint32_t function, uint32_t at)
{
    *gt(GT_CONFIG_ADDRESS) = little(1u << 31 | device << 11 | function << 8 | (at & 0xfc));
}

uint32_t pci_read(uint32_t device, uint32_t function, uint32_t at)
{
    choose(device, function, at);
    return *gt(GT_CONFIG_DATA);
}

void pci_write(uint32_t device, uint32_t function, uint32_t at, uint32_t value)
{
    choose(device, function, at);
    *gt(GT_CONFIG_DATA) = value;
}

int pci_find(uint32_t id, uint32_t number)
{
    for (uint32_t device = 1; device < DEVICES; device++)
        if (pci_read(device, 0, PCI_ID) == id && number-- == 0)
            return (int)device;
    return -1;
}

uintptr_t pci_enable(uint32_t device, uint32_t bar)
{
    const uint32_t at = PCI_BAR0 + 4 * bar;
    if ((pci_read(device, 0, at) & ~15u) == 0) {
        pci_write(device, 0, at, next_memory);
        next_memory += MEMORY_STEP;
    }
    pci_write(device, 0, PCI_COMMAND, pci_read(device, 0, PCI_COMMAND) | COMMAND_PORTS_MEMORY_MASTER);
    return (uintptr_t)mips_uncached(pci_read(device, 0, at) & ~15u);
}

uint8_t port_read(uint32_t port) { return *(volatile uint8_t *)mips_uncached(PORTS + port); }
void port_write(uint32_t port, uint8_t value) { *(volatile uint8_t *)mips_uncached(PORTS + port) = value; }
