// SPDX-License-Identifier: BSD-2-Clause
// Packets as a network driver of Linux 2.0 knows them. Each is a buffer of SKB_BYTES out of a pool of the environment's
// (linux_netdev.h), which any context may take from and give back to.
#ifndef LINUX_NETDEV_SKBUFF_H
#define LINUX_NETDEV_SKBUFF_H

#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#define SKB_BYTES 1600u  // the largest that dev_alloc_skb gives
#define FREE_READ 1
#define FREE_WRITE 0

enum { CHECKSUM_NONE, CHECKSUM_HW, CHECKSUM_UNNECESSARY };  // ip_summed: not looked at

struct device;
struct ethhdr;
struct sk_buff {
    struct sk_buff *next;
    struct device *dev;
    unsigned long len;  // from data to tail
    union {
        unsigned char *raw;
        struct ethhdr *ethernet;
    } mac;
    unsigned short protocol;  // in network order
    unsigned char pkt_type, ip_summed;
    unsigned char free, lock, arp;  // for drivers that set them
    unsigned int truesize;
    unsigned char *head, *data, *tail, *end;
};

struct sk_buff *dev_alloc_skb(unsigned int size);            // empty, with 16 bytes of headroom; NULL: there is none
struct sk_buff *alloc_skb(unsigned int size, int priority);  // the same without headroom
void dev_kfree_skb(struct sk_buff *skb, int rw);
#define kfree_skb(skb, rw) dev_kfree_skb(skb, rw)

static inline int skb_tailroom(const struct sk_buff *skb) { return (int)(skb->end - skb->tail); }
static inline int skb_headroom(const struct sk_buff *skb) { return (int)(skb->data - skb->head); }
// The four change an end of the data. Beyond the buffer skb_put and skb_push stop, as Linux does (panic).
unsigned char *skb_put(struct sk_buff *skb, unsigned int len);
unsigned char *skb_push(struct sk_buff *skb, unsigned int len);
static inline unsigned char *skb_pull(struct sk_buff *skb, unsigned int len)
{
    if (len > skb->len)
        return NULL;
    skb->len -= len;
    return skb->data += len;
}
static inline void skb_reserve(struct sk_buff *skb, unsigned int len)
{
    skb->data += len;
    skb->tail += len;
}
static inline void skb_trim(struct sk_buff *skb, unsigned int len)
{
    if (len < skb->len) {
        skb->len = len;
        skb->tail = skb->data + len;
    }
}

// Zeros behind a packet that is shorter, which stays as long as it was (2.0.40). NULL: it had no room, and is freed.
struct sk_buff *skb_padto(struct sk_buff *skb, unsigned int len);
// Copies a packet that came into one; a checksum is not made (`base`), since the stack makes its own.
void eth_copy_and_sum(struct sk_buff *to, const unsigned char *from, int length, int base);
#define eth_io_copy_and_sum(to, from, length, base) \
    eth_copy_and_sum((to), (const unsigned char *)(uintptr_t)(from), (length), (base))

WEIR_END_DECLS

#endif
