// SPDX-License-Identifier: BSD-2-Clause
// How a network driver of Linux 2.0 reaches its card: ports, memory of the card's that the processor addresses, and the
// DMA channels of a PC's ISA bus.
#ifndef LINUX_NETDEV_PORTS_H
#define LINUX_NETDEV_PORTS_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "drivers/port_io.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

int check_region(unsigned from, unsigned extent);  // not 0: some of these ports are somebody's
void request_region(unsigned from, unsigned extent, const char *name);
void release_region(unsigned from, unsigned extent);

static inline uint8_t inb(unsigned port) { return port_read8((uint16_t)port); }
static inline uint16_t inw(unsigned port) { return port_read16((uint16_t)port); }
static inline uint32_t inl(unsigned port) { return port_read32((uint16_t)port); }
static inline void outb(unsigned value, unsigned port) { port_write8((uint16_t)port, (uint8_t)value); }
static inline void outw(unsigned value, unsigned port) { port_write16((uint16_t)port, (uint16_t)value); }
static inline void outl(unsigned value, unsigned port) { port_write32((uint16_t)port, value); }
#define inb_p inb
#define inw_p inw
#define inl_p inl
#define outb_p outb
#define outw_p outw
#define outl_p outl
#define SLOW_DOWN_IO udelay(1)  // (system.h)
#define __SLOW_DOWN_IO SLOW_DOWN_IO
// `count` units between the port and memory.
void insb(unsigned port, void *to, unsigned long count);
void insw(unsigned port, void *to, unsigned long count);
void insl(unsigned port, void *to, unsigned long count);
void outsb(unsigned port, const void *from, unsigned long count);
void outsw(unsigned port, const void *from, unsigned long count);
void outsl(unsigned port, const void *from, unsigned long count);

// --- memory ----------------------------------------------------------------------------------------------------------
// Addresses are the processor's and the bus's alike: for boards without paging, or with a mapping of one to one.
static inline unsigned long virt_to_bus(const volatile void *memory) { return (unsigned long)(uintptr_t)memory; }
static inline void *bus_to_virt(unsigned long address) { return (void *)(uintptr_t)address; }
extern unsigned long high_memory;  // where the memory ends that cards may read and write
#define virt_to_phys virt_to_bus
#define phys_to_virt bus_to_virt
static inline void *ioremap(unsigned long address, unsigned long bytes) { return (void)bytes, bus_to_virt(address); }
static inline void iounmap(void *memory) { (void)memory; }
#define vremap ioremap
#define vfree iounmap

// Drivers give an address as a pointer or as a number.
#define readb(address) (*(volatile uint8_t *)(uintptr_t)(address))
#define readw(address) (*(volatile uint16_t *)(uintptr_t)(address))
#define readl(address) (*(volatile uint32_t *)(uintptr_t)(address))
#define writeb(value, address) ((void)(readb(address) = (uint8_t)(value)))
#define writew(value, address) ((void)(readw(address) = (uint16_t)(value)))
#define writel(value, address) ((void)(readl(address) = (uint32_t)(value)))
#define memset_io(to, value, bytes) ((void)memset((void *)(uintptr_t)(to), (value), (bytes)))
#define memcpy_fromio(to, from, bytes) ((void)memcpy((to), (const void *)(uintptr_t)(from), (bytes)))
#define memcpy_toio(to, from, bytes) ((void)memcpy((void *)(uintptr_t)(to), (from), (bytes)))

// --- DMA channels of ISA (Intel's 8237A, of which a PC has two) ------------------------------------------------------
#define MAX_DMA_CHANNELS 8
#define MAX_DMA_ADDRESS 0x1000000  // they reach so far
#define IO_DMA1_BASE 0x00
#define IO_DMA2_BASE 0xc0
#define DMA1_STAT_REG 0x08
#define DMA2_STAT_REG 0xd0
#define DMA_MODE_READ 0x44                              // into memory
#define DMA_MODE_WRITE 0x48                             // out of it
#define DMA_MODE_CASCADE 0xc0                           // the card is the master of the bus
int request_dma(unsigned channel, const char *device);  // -EINVAL, or -EBUSY: somebody has it
void free_dma(unsigned channel);
void enable_dma(unsigned channel);
void disable_dma(unsigned channel);
void clear_dma_ff(unsigned channel);
void set_dma_mode(unsigned channel, unsigned char mode);
void set_dma_addr(unsigned channel, unsigned address);  // of channels 5 to 7: even
void set_dma_count(unsigned channel, unsigned bytes);
int get_dma_residue(unsigned channel);  // bytes that are left

WEIR_END_DECLS

#endif
