// SPDX-License-Identifier: BSD-2-Clause
// What a network driver of Linux 2.0 asks of the rest of its kernel: interrupts, bits, ports, PCI, memory, delays,
// messages. (Timers, jiffies and wait queues are LyraOS's: api/lyraos/linux20.h.)
#ifndef LINUX_NETDEV_SYSTEM_H
#define LINUX_NETDEV_SYSTEM_H

#include <stddef.h>
#include <stdint.h>

#include "api/lyraos/linux20.h"
#include "drivers/port_io.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#define KERN_ERR "<3>"
#define KERN_WARNING "<4>"
#define KERN_INFO "<6>"
#define KERN_DEBUG "<7>"
#define __initfunc(declaration) declaration
int printk(const char *format, ...);  // %d %u %x %c %s %p %%, with width, 0, # and l

enum { EIO = 5, ENXIO = 6, EAGAIN = 11, ENOMEM = 12, EBUSY = 16, ENODEV = 19, EINVAL = 22 };

// --- interrupts ------------------------------------------------------------------------------------------------------
// Handlers run in the environment's thread, with the line masked, one at a time.
#define SA_SHIRQ 0x04000000
#define SA_INTERRUPT 0x20000000
struct pt_regs;
typedef void linux_irq_handler(int irq, void *dev_id, struct pt_regs *regs);  // regs: NULL
int request_irq(unsigned irq, linux_irq_handler *handler, unsigned long flags, const char *device, void *dev_id);
void free_irq(unsigned irq, void *dev_id);
void disable_irq(unsigned irq);
void enable_irq(unsigned irq);
extern struct device *irq2dev_map[];  // for drivers that note there who has a line

unsigned long linux_flags(void);  // whether interrupts are on
void linux_restore_flags(unsigned long flags);
void cli(void);
void sti(void);
#define save_flags(flags) ((flags) = linux_flags())
#define restore_flags(flags) linux_restore_flags(flags)
// Bit `nr` of the words at `address`; each in one step, returning what it was.
int set_bit(int nr, void *address);
int clear_bit(int nr, void *address);
int test_bit(int nr, const void *address);

// --- ports -----------------------------------------------------------------------------------------------------------
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
// `count` units between the port and memory.
void insb(unsigned port, void *to, unsigned long count);
void insw(unsigned port, void *to, unsigned long count);
void insl(unsigned port, void *to, unsigned long count);
void outsb(unsigned port, const void *from, unsigned long count);
void outsw(unsigned port, const void *from, unsigned long count);
void outsl(unsigned port, const void *from, unsigned long count);

// --- PCI -------------------------------------------------------------------------------------------------------------
enum { PCIBIOS_SUCCESSFUL = 0, PCIBIOS_DEVICE_NOT_FOUND = 0x86 };
#define PCI_COMMAND 0x04
#define PCI_COMMAND_IO 0x1
#define PCI_COMMAND_MEMORY 0x2
#define PCI_COMMAND_MASTER 0x4
#define PCI_BASE_ADDRESS_0 0x10
#define PCI_BASE_ADDRESS_IO_MASK (~0x03u)
#define PCI_INTERRUPT_LINE 0x3c
int pcibios_present(void);
// The index-th with this vendor and device.
int pcibios_find_device(unsigned short vendor, unsigned short device, unsigned short index, unsigned char *bus,
                        unsigned char *function);
int pcibios_read_config_byte(unsigned char bus, unsigned char function, unsigned char where, unsigned char *value);
int pcibios_read_config_word(unsigned char bus, unsigned char function, unsigned char where, unsigned short *value);
int pcibios_read_config_dword(unsigned char bus, unsigned char function, unsigned char where, unsigned int *value);
int pcibios_write_config_byte(unsigned char bus, unsigned char function, unsigned char where, unsigned char value);
int pcibios_write_config_word(unsigned char bus, unsigned char function, unsigned char where, unsigned short value);
int pcibios_write_config_dword(unsigned char bus, unsigned char function, unsigned char where, unsigned int value);

// --- memory and time -------------------------------------------------------------------------------------------------
enum { GFP_ATOMIC = 1, GFP_KERNEL = 3, GFP_DMA = 0x80 };
void *kmalloc(size_t bytes, int priority);  // by threads; aligned to 8
void kfree(void *memory);
static inline unsigned long virt_to_bus(const volatile void *memory) { return (unsigned long)(uintptr_t)memory; }
static inline void *bus_to_virt(unsigned long address) { return (void *)(uintptr_t)address; }
void udelay(unsigned long us);

#define MOD_INC_USE_COUNT ((void)0)
#define MOD_DEC_USE_COUNT ((void)0)

WEIR_END_DECLS

#endif
