// SPDX-License-Identifier: BSD-2-Clause
// A driver for the RTL8139 (Realtek's RTL8139C data sheet), a card that reads and writes memory itself, written to the
// calls of Linux 2.0 alone. A timer looks at the carrier.
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/interrupt.h>
#include <linux/ioport.h>
#include <linux/malloc.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/string.h>
#include <linux/timer.h>

#include <asm/bitops.h>
#include <asm/io.h>

#include "drivers.h"

#define REALTEK 0x10ec
#define RTL8139 0x8139
#define EXTENT 256
enum { IDR = 0x00, MAR = 0x08, TSD = 0x10, TSAD = 0x20, RBSTART = 0x30, CR = 0x37, CAPR = 0x38, IMR = 0x3c };
enum { ISR = 0x3e, TCR = 0x40, RCR = 0x44, CONFIG_1 = 0x52, MSR = 0x58 };
enum { CR_EMPTY = 0x01, CR_TX = 0x04, CR_RX = 0x08, CR_RESET = 0x10 };
enum { INT_RX = 0x01, INT_RX_ERROR = 0x02, INT_TX = 0x04, INT_TX_ERROR = 0x08, INT_OVERFLOW = 0x10, INT_FIFO = 0x40 };
#define INT_WANTED (INT_RX | INT_RX_ERROR | INT_TX | INT_TX_ERROR | INT_OVERFLOW | INT_FIFO)
#define RCR_VALUE 0xf78eu  // no threshold, 32 KB, frames go on beyond the ring's end; broadcast, multicast, own
#define TCR_VALUE 0x03000700u
#define TSD_OWN 0x2000u  // the card has done with the buffer
#define TSD_GOOD 0x8000u
#define MSR_NO_LINK 0x04
#define RX_RING 32768u
#define RX_BEYOND 2048u  // a frame may go on so far
#define RX_GOOD 1u
#define TX_BUFFERS 4u
#define TX_BYTES 1536u
#define FCS_BYTES 4u
#define TRIES 1000
#define TX_TIMEOUT (HZ / 5)
#define LOOK (3 * HZ)

struct rtl8139 {
    struct enet_statistics stats;
    struct timer_list timer;
    unsigned char *ring, *buffers;
    unsigned at;             // in the ring
    unsigned filled, freed;  // transmit buffers, counted; fewer than TX_BUFFERS apart
    int link;
};

// --- the card into use -----------------------------------------------------------------------------------------------
static void start(struct device *dev)
{
    const unsigned port = (unsigned)dev->base_addr;
    struct rtl8139 *const card = dev->priv;
    int tries = TRIES;
    outb(CR_RESET, port + CR);
    while (inb(port + CR) & CR_RESET && --tries)
        udelay(10);
    outl((unsigned)virt_to_bus(card->ring), port + RBSTART);
    outb(CR_RX | CR_TX, port + CR);
    outl(TCR_VALUE, port + TCR);
    outl(RCR_VALUE, port + RCR);
    outl(0xffffffff, port + MAR);
    outl(0xffffffff, port + MAR + 4);
    for (unsigned i = 0; i < TX_BUFFERS; i++)
        outl((unsigned)virt_to_bus(card->buffers + i * TX_BYTES), port + TSAD + 4 * i);
    card->at = card->filled = card->freed = 0;
    outw(0xffff, port + ISR);
    outw(INT_WANTED, port + IMR);
    dev->tbusy = 0;
}

static void look(unsigned long data)
{
    struct device *const dev = (struct device *)data;
    struct rtl8139 *const card = dev->priv;
    const int link = !(inb((unsigned)dev->base_addr + MSR) & MSR_NO_LINK);
    if (link != card->link)
        printk(KERN_INFO "%s: carrier %s\n", dev->name, link ? "on" : "off");
    card->link = link;
    card->timer.expires = jiffies + LOOK;
    add_timer(&card->timer);
}

// --- in --------------------------------------------------------------------------------------------------------------
static void take_frame(struct device *dev, const unsigned char *from, unsigned bytes)
{
    struct rtl8139 *const card = dev->priv;
    struct sk_buff *const skb = dev_alloc_skb(bytes + 2);
    if (!skb) {
        card->stats.rx_dropped++;
        return;
    }
    skb_reserve(skb, 2);  // the IP header is then aligned
    skb->dev = dev;
    memcpy(skb_put(skb, bytes), from, bytes);
    skb->protocol = eth_type_trans(skb, dev);
    netif_rx(skb);
    card->stats.rx_packets++;
}

// A frame lies behind its status and length, of two bytes each, and ends at a multiple of four.
static void receive(struct device *dev)
{
    const unsigned port = (unsigned)dev->base_addr;
    struct rtl8139 *const card = dev->priv;
    while (!(inb(port + CR) & CR_EMPTY)) {
        const unsigned char *const frame = card->ring + card->at;
        const unsigned status = frame[0], stored = frame[2] | (unsigned)frame[3] << 8;
        if (!(status & RX_GOOD) || stored < ETH_HLEN + FCS_BYTES || stored > ETH_FRAME_LEN + FCS_BYTES) {
            card->stats.rx_errors++;
            start(dev);
            return;
        }
        take_frame(dev, frame + 4, stored - FCS_BYTES);
        card->at = (card->at + 4 + stored + 3) / 4 * 4 % RX_RING;
        outw((card->at - 16) & 0xffff, port + CAPR);
    }
}

// --- out -------------------------------------------------------------------------------------------------------------
static int send(struct sk_buff *skb, struct device *dev)
{
    const unsigned bytes = skb->len < ETH_ZLEN ? ETH_ZLEN : (unsigned)skb->len;
    struct rtl8139 *const card = dev->priv;
    if (dev->tbusy) {
        if (jiffies - dev->trans_start < TX_TIMEOUT)
            return 1;
        card->stats.tx_errors++;
        start(dev);
    }
    const unsigned buffer = card->filled % TX_BUFFERS;
    memcpy(card->buffers + buffer * TX_BYTES, skb->data, bytes);
    card->filled++;
    if (card->filled - card->freed == TX_BUFFERS)
        set_bit(0, &dev->tbusy);
    outl(bytes, (unsigned)dev->base_addr + TSD + 4 * buffer);
    dev->trans_start = jiffies;
    dev_kfree_skb(skb, FREE_WRITE);
    return 0;
}

static void sent(struct device *dev)
{
    struct rtl8139 *const card = dev->priv;
    for (; card->freed != card->filled; card->freed++) {
        const unsigned status = inl((unsigned)dev->base_addr + TSD + 4 * (card->freed % TX_BUFFERS));
        if (!(status & TSD_OWN))
            break;
        if (status & TSD_GOOD)
            card->stats.tx_packets++;
        else
            card->stats.tx_errors++;
    }
    if (card->filled - card->freed < TX_BUFFERS)
        clear_bit(0, &dev->tbusy);
    mark_bh(NET_BH);
}

static void interrupt(int irq, void *dev_id, struct pt_regs *regs)
{
    struct device *const dev = dev_id;
    const unsigned port = (unsigned)dev->base_addr;
    unsigned seen;
    (void)irq, (void)regs;
    dev->interrupt = 1;
    while ((seen = inw(port + ISR) & INT_WANTED) != 0) {
        outw(seen, port + ISR);
        if (seen & (INT_RX | INT_RX_ERROR | INT_OVERFLOW | INT_FIFO))
            receive(dev);
        if (seen & (INT_TX | INT_TX_ERROR))
            sent(dev);
    }
    dev->interrupt = 0;
}

// --- its functions ---------------------------------------------------------------------------------------------------
static int rtl8139_open(struct device *dev)
{
    struct rtl8139 *const card = dev->priv;
    int error = -ENOMEM;
    card->ring = kmalloc(RX_RING + 16 + RX_BEYOND, GFP_KERNEL);
    card->buffers = kmalloc(TX_BUFFERS * TX_BYTES, GFP_KERNEL);
    if (card->ring && card->buffers)
        error = request_irq(dev->irq, interrupt, SA_SHIRQ, dev->name, dev);
    if (error) {
        kfree(card->ring);
        kfree(card->buffers);
        return error;
    }
    start(dev);
    dev->interrupt = 0;
    dev->start = 1;
    init_timer(&card->timer);
    card->timer.function = look;
    card->timer.data = (unsigned long)dev;
    card->timer.expires = jiffies + 1;
    add_timer(&card->timer);
    return 0;
}

static int rtl8139_close(struct device *dev)
{
    struct rtl8139 *const card = dev->priv;
    dev->start = 0;
    dev->tbusy = 1;
    del_timer(&card->timer);
    outw(0, (unsigned)dev->base_addr + IMR);
    outb(0, (unsigned)dev->base_addr + CR);
    free_irq(dev->irq, dev);
    kfree(card->ring);
    kfree(card->buffers);
    return 0;
}

static struct enet_statistics *rtl8139_stats(struct device *dev) { return &((struct rtl8139 *)dev->priv)->stats; }

int rtl8139_probe(struct device *dev)
{
    unsigned char bus, function, line;
    unsigned short command;
    unsigned int port;
    if (!pcibios_present() || pcibios_find_device(REALTEK, RTL8139, 0, &bus, &function) != PCIBIOS_SUCCESSFUL)
        return -ENODEV;
    pcibios_read_config_dword(bus, function, PCI_BASE_ADDRESS_0, &port);
    pcibios_read_config_byte(bus, function, PCI_INTERRUPT_LINE, &line);
    pcibios_read_config_word(bus, function, PCI_COMMAND, &command);
    pcibios_write_config_word(bus, function, PCI_COMMAND, command | PCI_COMMAND_IO | PCI_COMMAND_MASTER);
    port &= PCI_BASE_ADDRESS_IO_MASK;
    if (check_region(port, EXTENT))
        return -ENODEV;
    dev = init_etherdev(dev, sizeof(struct rtl8139));
    if (!dev)
        return -ENOMEM;
    outb(0, port + CONFIG_1);
    for (unsigned i = 0; i < ETH_ALEN; i++)
        dev->dev_addr[i] = inb(port + IDR + i);
    dev->base_addr = port;
    dev->irq = line;
    dev->open = rtl8139_open;
    dev->stop = rtl8139_close;
    dev->hard_start_xmit = send;
    dev->get_stats = rtl8139_stats;
    request_region(port, EXTENT, dev->name);
    printk(KERN_INFO "%s: RTL8139 at %#x, irq %d\n", dev->name, port, line);
    return 0;
}
