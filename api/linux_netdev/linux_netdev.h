// SPDX-License-Identifier: BSD-2-Clause
// The environment for network drivers of Linux 2.0, LyraOS's way to drivers (Chuang, Sew, Chiang and Chang, section
// 3.5): their calls (netdevice.h, skbuff.h, system.h) over the preemptive kernel, and a thread of its own which runs
// the drivers. What they receive waits for the stack in a queue, what they shall send in another, so that a slow card
// is worked without the stack's lock.
//
// A driver is compiled with -Iapi/linux_netdev/include, where the headers it names are (<linux/netdevice.h> …); of
// Linux's own docs/lyraos.md tells more.
//
//     linux_netdev_init(&board);
//     register_netdev(&dev);                           // calls dev.init, a driver's probe
//     linux_netdev_attach(dev, &netif);                // instead of weir_netif_init; opens the device
//     weir_netif_add(weir, &netif);
//     thread_create(…, linux_netdev_thread, …);        // less urgent than the stack's I/O thread, which answers
//                                                      // each packet at once: a sender is told in time what came.
//                                                      // It runs timers, too: not lyraos_timers beside it
//     an interrupt's handler: linux_netdev_interrupt(line);
#ifndef LINUX_NETDEV_H
#define LINUX_NETDEV_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#define LINUX_NETDEV_SKBS 320u    // packets in the pool
#define LINUX_NETDEV_QUEUE 128u   // packets that wait, each way
#define LINUX_NETDEV_LATE_MS 200  // a device that is busy is offered a packet again after so long

struct device;
struct linux_netdev_board {
    void (*line)(uint32_t line, bool on);  // masks an interrupt's line, or not; it begins masked
    void (*news)(void);                    // there are packets for the stack, or room: preempt_port_interrupt
    void (*puts)(const char *text);
    // A function of PCI bus 0, its number device × 8 + function; NULL both: there is no PCI. Whole words, aligned.
    uint32_t (*pci_read)(uint32_t function, uint32_t offset);
    void (*pci_write)(uint32_t function, uint32_t offset, uint32_t value);
    void *memory;  // what kmalloc gives
    size_t memory_bytes;
};

void linux_netdev_init(const struct linux_netdev_board *board);
// The device becomes the driver of *netif. Negative: what its open returned.
int linux_netdev_attach(struct device *dev, struct weir_netif *netif);
void linux_netdev_thread(void *unused);  // an entry for thread_create
void linux_netdev_interrupt(uint32_t line);

WEIR_END_DECLS

#endif
