// SPDX-License-Identifier: BSD-2-Clause
// Devices, the thread that runs their drivers, and the driver of Weir's that a device becomes.
#include "api/linux_netdev/netdevice.h"

#include <string.h>

#include "api/linux_netdev/internal.h"
#include "kernel/preempt/preempt.h"
#include "weir/port.h"

const struct linux_netdev_board *linux_board;
struct device *dev_base;
static struct semaphore work = {.most = 1};

void linux_netdev_init(const struct linux_netdev_board *board)
{
    linux_board = board;
    linux_skb_init();
    linux_memory_init(board->memory, board->memory_bytes);
}

void linux_wake(void) { semaphore_give(&work); }

void mark_bh(int number)
{
    if (number == NET_BH)
        linux_wake();
}

// --- devices ---------------------------------------------------------------------------------------------------------
void ether_setup(struct device *dev)
{
    memset(dev->broadcast, 0xff, ETH_ALEN);
    dev->addr_len = ETH_ALEN;
    dev->type = ARPHRD_ETHER;
    dev->mtu = ETH_DATA_LEN;
    dev->hard_header_len = ETH_HLEN;
    dev->flags = IFF_BROADCAST | IFF_MULTICAST;
}

static struct device **place_of(const struct device *dev)
{
    struct device **at = &dev_base;
    while (*at && *at != dev)
        at = &(*at)->next;
    return at;
}

static void add(struct device *dev)
{
    struct device **const at = place_of(dev);
    if (*at == dev)
        return;
    dev->next = NULL;
    *at = dev;
}

static bool name_is_used(const char *name)
{
    for (const struct device *at = dev_base; at; at = at->next)
        if (at->name && !strcmp(at->name, name))
            return true;
    return false;
}

// Unless it has a name; eth0 to eth9.
static bool name_device(struct device *dev)
{
    if (dev->name && dev->name[0] && dev->name[0] != ' ')
        return true;
    char *const name = (char *)kmalloc(sizeof "eth0", GFP_KERNEL);
    if (!name)
        return false;
    memcpy(name, "eth0", sizeof "eth0");
    while (name_is_used(name) && name[3] < '9')
        name[3]++;
    dev->name = name;
    return true;
}

static void *zeroed(size_t bytes)
{
    void *memory = kmalloc(bytes, GFP_KERNEL);
    return memory ? memset(memory, 0, bytes) : NULL;
}

struct device *init_etherdev(struct device *dev, int sizeof_priv)
{
    struct device *const one = dev ? dev : zeroed(sizeof *dev);
    void *const priv = one && sizeof_priv ? zeroed((size_t)sizeof_priv) : NULL;
    if (!one || (sizeof_priv && !priv) || !name_device(one)) {
        kfree(priv);
        if (!dev)
            kfree(one);
        return NULL;
    }
    if (priv)
        one->priv = priv;
    ether_setup(one);
    add(one);
    return one;
}

int register_netdev(struct device *dev)
{
    if (!name_device(dev))
        return -ENOMEM;
    if (dev->init && dev->init(dev) != 0)
        return -EIO;
    add(dev);
    return 0;
}

void unregister_netdev(struct device *dev)
{
    struct device **const at = place_of(dev);
    if (*at)
        *at = dev->next;
}

// --- packets that came -----------------------------------------------------------------------------------------------
unsigned short eth_type_trans(struct sk_buff *skb, struct device *dev)
{
    const struct ethhdr *const header = (const struct ethhdr *)(const void *)skb->data;
    skb->mac.raw = skb->data;
    (void)skb_pull(skb, ETH_HLEN);
    if (header->h_dest[0] & 1)
        skb->pkt_type = memcmp(header->h_dest, dev->broadcast, ETH_ALEN) != 0 ? PACKET_MULTICAST : PACKET_BROADCAST;
    else if (memcmp(header->h_dest, dev->dev_addr, ETH_ALEN) != 0)
        skb->pkt_type = PACKET_OTHERHOST;
    return header->h_proto;
}

void netif_rx(struct sk_buff *skb)
{
    struct device *const dev = skb->dev;
    if (!dev->netif || !linux_queue_put(&dev->received, skb)) {
        dev_kfree_skb(skb, FREE_READ);
        return;
    }
    dev->last_rx = jiffies;
    linux_board->news();
}

static int linux_poll(struct weir_netif *netif, int budget)
{
    struct device *const dev = netif->driver_data;
    struct sk_buff *skb;
    int frames = 0;
    for (; frames < budget && (skb = linux_queue_take(&dev->received)); frames++) {
        const struct weir_slice slice = {skb->mac.raw, (uint32_t)(skb->tail - skb->mac.raw)};
        const struct weir_frame in = {
            .slices = &slice, .length = slice.length, .count = 1, .checksum = WEIR_CHECKSUM_NONE};
        weir_netif_deliver(netif, &in);
        dev_kfree_skb(skb, FREE_READ);
    }
    if (frames && linux_irq_waits())
        linux_wake();
    if (dev->waiting && dev->sending.count < LINUX_NETDEV_QUEUE / 2) {
        dev->waiting = 0;
        weir_netif_ready(netif);
    }
    return frames;
}

// --- packets to send -------------------------------------------------------------------------------------------------
static enum weir_tx_verdict linux_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct device *const dev = netif->driver_data;
    if (tx->length > ETH_FRAME_LEN) {
        netif->stats.tx_dropped++;
        return WEIR_TX_DONE;
    }
    struct sk_buff *const skb = dev->sending.count < LINUX_NETDEV_QUEUE ? dev_alloc_skb(ETH_FRAME_LEN) : NULL;
    if (!skb) {
        dev->waiting = 1;
        return WEIR_TX_FULL;
    }
    memset(skb->data, 0, ETH_ZLEN);  // drivers send so much at the least
    for (uint32_t i = 0; i < tx->count; i++)
        memcpy(skb_put(skb, tx->slices[i].length), tx->slices[i].data, tx->slices[i].length);
    skb->dev = dev;
    skb->mac.raw = skb->data;
    if (!linux_queue_put(&dev->sending, skb)) {  // the driver's thread put one back meanwhile
        dev_kfree_skb(skb, FREE_WRITE);
        netif->stats.tx_dropped++;
    }
    return WEIR_TX_DONE;
}

static void linux_flush(struct weir_netif *netif)
{
    (void)netif;
    linux_wake();
}

// What the device takes. One that stays busy is offered a packet all the same: it then sees to that itself, as drivers
// of Linux 2.0 do. Returns when that shall be.
static uint64_t send_all(struct device *dev)
{
    struct sk_buff *skb;
    while (!dev->tbusy || jiffies - dev->trans_start >= LINUX_NETDEV_LATE_MS * HZ / 1000) {
        skb = linux_queue_take(&dev->sending);
        if (!skb)
            break;
        if (dev->hard_start_xmit(skb, dev)) {
            linux_queue_put_back(&dev->sending, skb);
            break;
        }
    }
    if (dev->waiting && dev->sending.count < LINUX_NETDEV_QUEUE / 2)
        linux_board->news();
    return dev->sending.count ? kernel_now_us() + LINUX_NETDEV_LATE_MS * 1000u : KERNEL_NEVER;
}

// The stack has so much to take that interrupts wait for it: in a flood it is the card that drops packets.
static bool flooded(void)
{
    for (const struct device *dev = dev_base; dev; dev = dev->next)
        if (dev->received.count > LINUX_NETDEV_QUEUE / 2)
            return true;
    return false;
}

void linux_netdev_thread(void *unused)
{
    (void)unused;
    uint64_t due_us = KERNEL_NEVER;
    for (;;) {
        (void)semaphore_take(&work, due_us);
        if (!flooded())
            linux_irq_run();
        due_us = lyraos_timers_turn(linux_wake);
        for (struct device *dev = dev_base; dev; dev = dev->next) {
            const uint64_t own_us = dev->netif ? send_all(dev) : KERNEL_NEVER;
            due_us = own_us < due_us ? own_us : due_us;
        }
    }
}

static const struct weir_driver linux_driver = {
    .name = "linux_netdev", .tx = linux_tx, .flush = linux_flush, .poll = linux_poll};

int linux_netdev_attach(struct device *dev, struct weir_netif *netif)
{
    weir_netif_init(netif, dev->name, &linux_driver, &weir_link_ethernet);
    netif->driver_data = dev;
    netif->capabilities |= WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST;
    netif->mtu = dev->mtu;
    memcpy(netif->mac, dev->dev_addr, ETH_ALEN);
    dev->netif = netif;
    dev->flags |= IFF_UP | IFF_RUNNING | IFF_ALLMULTI;
    const int error = dev->open ? dev->open(dev) : 0;
    if (error)
        dev->netif = NULL;
    else if (dev->set_multicast_list)
        dev->set_multicast_list(dev);
    return error;
}
