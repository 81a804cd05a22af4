// SPDX-License-Identifier: BSD-2-Clause
// What a network driver of Linux 2.0 asks of the rest of its kernel: interrupts, bits, memory, delays; and, in headers
// of their own, ports, PCI, messages. (Timers, jiffies and wait queues are LyraOS's: api/lyraos/linux20.h.)
#ifndef LINUX_NETDEV_SYSTEM_H
#define LINUX_NETDEV_SYSTEM_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include "api/linux_netdev/include/asm/processor.h"
#include "api/linux_netdev/pci.h"
#include "api/linux_netdev/ports.h"
#include "api/linux_netdev/printk.h"
#include "api/linux_netdev/types.h"
#include "api/lyraos/linux20.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#define LINUX_VERSION_CODE 0x020024  // 2.0.36, LyraOS's
#define UTS_RELEASE "2.0.36"
#define asmlinkage
#define __initfunc(declaration) declaration
#define __initdata
#define smp_processor_id() 0
#define barrier() __asm__ volatile("" ::: "memory")

enum {
    EPERM = 1,
    ENOENT = 2,
    EIO = 5,
    ENXIO = 6,
    EAGAIN = 11,
    ENOMEM = 12,
    EFAULT = 14,
    EBUSY = 16,
    EEXIST = 17,
    ENODEV = 19,
    EINVAL = 22,
    ENOSPC = 28,
    EOPNOTSUPP = 95,
    ENETDOWN = 100,
    ETIMEDOUT = 110
};

// --- interrupts ------------------------------------------------------------------------------------------------------
// Handlers run in the environment's thread, with the line masked, one at a time.
#define NR_IRQS 16
#define SA_SHIRQ 0x04000000  // the line may be others', too, that have it so
#define SA_SAMPLE_RANDOM 0x10000000
#define SA_INTERRUPT 0x20000000
struct pt_regs;
typedef void linux_irq_handler(int irq, void *dev_id, struct pt_regs *regs);  // regs: NULL
// -EINVAL: no such line; -EBUSY: it is somebody's, and both do not share.
int request_irq(unsigned irq, linux_irq_handler *handler, unsigned long flags, const char *device, void *dev_id);
void free_irq(unsigned irq, void *dev_id);
void disable_irq(unsigned irq);
void enable_irq(unsigned irq);
extern struct device *irq2dev_map[NR_IRQS];  // for drivers that note there who has a line
// Which line a card has: between the two calls it interrupts. Lines that have a handler are left out.
unsigned long probe_irq_on(void);
int probe_irq_off(unsigned long lines);  // the line; 0: none, negative: several did
int autoirq_setup(int jiffies_each);     // the same, with a time to wait at the least
int autoirq_report(int jiffies_each);

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

// --- memory and time -------------------------------------------------------------------------------------------------
enum { GFP_BUFFER = 0, GFP_ATOMIC = 1, GFP_KERNEL = 3, GFP_DMA = 0x80 };
void *kmalloc(size_t bytes, int priority);  // by threads; aligned to 8
void kfree(void *memory);
#define kfree_s(memory, bytes) ((void)(bytes), kfree(memory))
void udelay(unsigned long us);
#define loops_per_sec 50000000UL  // for drivers that count down a limit to a loop that looks at the clock, too
#define PAGE_SHIFT 12
#define PAGE_SIZE (1UL << PAGE_SHIFT)

// A program's memory is the kernel's (calls of drivers' do_ioctl come from it).
#define suser() 1
#define VERIFY_READ 0
#define VERIFY_WRITE 1
static inline int verify_area(int kind, const void *from, unsigned long bytes)
{
    return (void)kind, (void)from, (void)bytes, 0;
}
#define memcpy_fromfs(to, from, bytes) ((void)memcpy((to), (from), (bytes)))
#define memcpy_tofs(to, from, bytes) ((void)memcpy((to), (from), (bytes)))
#define get_user(from) (*(from))
#define put_user(value, to) ((void)(*(to) = (value)))

WEIR_END_DECLS

#endif
