// SPDX-License-Identifier: BSD-2-Clause
// The pool of packets, and queues of them.
#include <string.h>

#include "api/linux_netdev/internal.h"
#include "kernel/preempt/arch.h"

#define HEADROOM 16u
#define ROOM (SKB_BYTES + HEADROOM)

static struct sk_buff packets[LINUX_NETDEV_SKBS];
static uint64_t bytes[LINUX_NETDEV_SKBS][ROOM / 8];
static struct linux_queue unused;

static void append(struct linux_queue *queue, struct sk_buff *skb)
{
    skb->next = NULL;
    if (queue->first)
        queue->last->next = skb;
    else
        queue->first = skb;
    queue->last = skb;
    queue->count++;
}

void linux_skb_init(void)
{
    unused = (struct linux_queue){0};
    linux_memory_is(bytes, sizeof bytes);
    for (uint32_t i = 0; i < LINUX_NETDEV_SKBS; i++) {
        packets[i].head = (unsigned char *)bytes[i];
        packets[i].end = packets[i].head + ROOM;
        append(&unused, &packets[i]);
    }
}

bool linux_queue_put(struct linux_queue *queue, struct sk_buff *skb)
{
    const uint32_t state = arch_interrupts_off();
    const bool room = queue->count < LINUX_NETDEV_QUEUE;
    if (room)
        append(queue, skb);
    arch_interrupts_restore(state);
    return room;
}

void linux_queue_put_back(struct linux_queue *queue, struct sk_buff *skb)
{
    const uint32_t state = arch_interrupts_off();
    skb->next = queue->first;
    queue->first = skb;
    if (!queue->count++)
        queue->last = skb;
    arch_interrupts_restore(state);
}

struct sk_buff *linux_queue_take(struct linux_queue *queue)
{
    const uint32_t state = arch_interrupts_off();
    struct sk_buff *skb = queue->first;
    if (skb) {
        queue->first = skb->next;
        queue->count--;
    }
    arch_interrupts_restore(state);
    return skb;
}

struct sk_buff *alloc_skb(unsigned int size, int priority)
{
    struct sk_buff *skb = size <= ROOM ? linux_queue_take(&unused) : NULL;
    (void)priority;
    if (skb)
        *skb = (struct sk_buff){
            .head = skb->head, .end = skb->end, .data = skb->head, .tail = skb->head, .truesize = ROOM + sizeof *skb};
    return skb;
}

struct sk_buff *dev_alloc_skb(unsigned int size)
{
    struct sk_buff *skb = size <= SKB_BYTES ? alloc_skb(size, 0) : NULL;
    if (skb)
        skb_reserve(skb, HEADROOM);
    return skb;
}

void dev_kfree_skb(struct sk_buff *skb, int rw)
{
    (void)rw;
    const uint32_t state = arch_interrupts_off();
    append(&unused, skb);
    arch_interrupts_restore(state);
}

unsigned char *skb_put(struct sk_buff *skb, unsigned int len)
{
    unsigned char *const at = skb->tail;
    if (len > (unsigned)skb_tailroom(skb))
        panic("skb_put: %u bytes beyond the packet", len - (unsigned)skb_tailroom(skb));
    skb->tail += len;
    skb->len += len;
    return at;
}

unsigned char *skb_push(struct sk_buff *skb, unsigned int len)
{
    if (len > (unsigned)skb_headroom(skb))
        panic("skb_push: %u bytes before the packet", len - (unsigned)skb_headroom(skb));
    skb->len += len;
    return skb->data -= len;
}

struct sk_buff *skb_padto(struct sk_buff *skb, unsigned int len)
{
    const unsigned missing = len > skb->len ? len - (unsigned)skb->len : 0;
    if (missing > (unsigned)skb_tailroom(skb)) {
        dev_kfree_skb(skb, FREE_WRITE);
        return NULL;
    }
    memset(skb->tail, 0, missing);
    return skb;
}

void eth_copy_and_sum(struct sk_buff *to, const unsigned char *from, int length, int base)
{
    (void)base;
    memcpy(to->data, from, (size_t)length);
}
