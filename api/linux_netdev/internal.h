// SPDX-License-Identifier: BSD-2-Clause
#ifndef LINUX_NETDEV_INTERNAL_H
#define LINUX_NETDEV_INTERNAL_H

#include "api/linux_netdev/linux_netdev.h"
#include "api/linux_netdev/netdevice.h"
#include "api/linux_netdev/system.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

extern const struct linux_netdev_board *linux_board;

void linux_skb_init(void);
void linux_memory_init(void *memory, size_t bytes);
void linux_memory_is(const void *memory, size_t bytes);  // cards may read and write it
// Both in one step to interrupts and to other threads.
bool linux_queue_put(struct linux_queue *queue, struct sk_buff *skb);  // false: it is full
struct sk_buff *linux_queue_take(struct linux_queue *queue);           // NULL: it is empty
void linux_queue_put_back(struct linux_queue *queue, struct sk_buff *skb);
void linux_irq_run(void);    // the handlers of lines that have interrupted
bool linux_irq_waits(void);  // some have
void linux_wake(void);       // the thread

WEIR_END_DECLS

#endif
