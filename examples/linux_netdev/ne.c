// SPDX-License-Identifier: BSD-2-Clause
// A driver for NE2000 cards, ISA and PCI (National's DP8390D data sheet), written to the calls of Linux 2.0 alone.
#include <linux/delay.h>
#include <linux/etherdevice.h>
#include <linux/interrupt.h>
#include <linux/ioport.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/string.h>

#include <asm/bitops.h>
#include <asm/io.h>

#include "drivers.h"

#define REALTEK 0x10ec
#define RTL8029 0x8029
#define ISA_PORT 0x300
#define ISA_LINE 9
#define EXTENT 32
// Registers, page 0 but where it says.
enum { CR = 0, PSTART = 1, PSTOP = 2, BNRY = 3, TSR = 4, TPSR = 4, TBCR = 5, ISR = 7, RSAR = 8, RBCR = 10, RCR = 12 };
enum { TCR = 13, DCR = 14, IMR = 15, PAR = 1 /* page 1 */, CURR = 7 /* page 1 */, MAR = 8 /* page 1 */ };
enum { DATA = 16, RESET = 31 };
enum { CR_STOP = 0x21, CR_START = 0x22, CR_SEND = 0x26, CR_READ = 0x0a, CR_WRITE = 0x12, CR_PAGE_1 = 0x62 };
enum { CR_PAGE_1_STOP = 0x61 };
enum { INT_RX = 1, INT_TX = 2, INT_RX_ERROR = 4, INT_TX_ERROR = 8, INT_OVERFLOW = 16, INT_DMA = 64, INT_RESET = 128 };
#define INT_WANTED (INT_RX | INT_TX | INT_RX_ERROR | INT_TX_ERROR | INT_OVERFLOW)
#define TX_PAGE 0x40
#define RX_FIRST 0x46
#define RX_END 0x80
#define PAGE_BYTES 256
#define HEADER_BYTES 4
#define FCS_BYTES 4
#define TRIES 20000
#define TX_TIMEOUT (HZ / 5)
#define OVERFLOW_WAIT_US 1600  // the longest frame may still be leaving

struct ne {
    struct enet_statistics stats;
    unsigned char next_page;  // of the receive ring, to be read
    int wide;                 // the card is on PCI, and moves 32 bits at a time
};

static void aim(unsigned port, unsigned address, unsigned bytes, unsigned command)
{
    outb(CR_START, port + CR);
    outb(INT_DMA, port + ISR);
    outb(bytes & 0xff, port + RBCR);
    outb(bytes >> 8, port + RBCR + 1);
    outb(address & 0xff, port + RSAR);
    outb(address >> 8, port + RSAR + 1);
    outb(command, port + CR);
}

// The card's memory by words, or where `wide` by two of them as far as they go; an odd byte at the end is moved with
// one more.
static void read_memory(unsigned port, int wide, unsigned address, unsigned char *to, unsigned bytes)
{
    const unsigned by_two = wide ? bytes & ~3u : 0;
    aim(port, address, (bytes + 1) & ~1u, CR_READ);
    insl(port + DATA, to, by_two / 4);
    insw(port + DATA, to + by_two, (bytes - by_two) / 2);
    if (bytes & 1)
        to[bytes - 1] = (unsigned char)inw(port + DATA);
}

static void write_memory(unsigned port, int wide, unsigned address, const unsigned char *from, unsigned bytes)
{
    const unsigned by_two = wide ? bytes & ~3u : 0;
    int tries = TRIES;
    aim(port, address, (bytes + 1) & ~1u, CR_WRITE);
    outsl(port + DATA, from, by_two / 4);
    outsw(port + DATA, from + by_two, (bytes - by_two + 1) / 2);
    while (!(inb(port + ISR) & INT_DMA) && --tries)
        ;
}

static int reset(unsigned port)
{
    int tries = TRIES;
    outb(inb(port + RESET), port + RESET);
    while (!(inb(port + ISR) & INT_RESET) && --tries)
        ;
    return tries;
}

// DP8390D, "Initialization Procedure"; silent afterwards, the ring empty.
static void set_up(struct device *dev)
{
    const unsigned port = (unsigned)dev->base_addr;
    outb(CR_STOP, port + CR);
    outb(0x49, port + DCR);
    outb(0, port + RBCR);
    outb(0, port + RBCR + 1);
    outb(0x20, port + RCR);
    outb(2, port + TCR);
    outb(RX_FIRST, port + PSTART);
    outb(RX_END, port + PSTOP);
    outb(RX_FIRST, port + BNRY);
    outb(0xff, port + ISR);
    outb(0, port + IMR);
    outb(CR_PAGE_1_STOP, port + CR);
    for (unsigned i = 0; i < ETH_ALEN; i++)
        outb(dev->dev_addr[i], port + PAR + i);
    for (unsigned i = 0; i < 8; i++)
        outb(0xff, port + MAR + i);
    outb(RX_FIRST + 1, port + CURR);
    outb(CR_STOP, port + CR);
    if (dev->priv)
        ((struct ne *)dev->priv)->next_page = RX_FIRST + 1;
}

static void go(const struct device *dev)
{
    const unsigned port = (unsigned)dev->base_addr;
    outb(CR_START, port + CR);
    outb(0, port + TCR);
    outb(dev->flags & IFF_ALLMULTI ? 0x0c : 0x04, port + RCR);
    outb(INT_WANTED, port + IMR);
}

static void begin_anew(struct device *dev)
{
    set_up(dev);
    go(dev);
    dev->tbusy = 0;
}

// --- in --------------------------------------------------------------------------------------------------------------
static unsigned char current_page(unsigned port)
{
    outb(CR_PAGE_1, port + CR);
    const unsigned char page = inb(port + CURR);
    outb(CR_START, port + CR);
    return page;
}

// A frame may go round the end of the ring; the card does not, when it is read.
static void read_ring(const struct device *dev, unsigned address, unsigned char *to, unsigned bytes)
{
    const int wide = ((const struct ne *)dev->priv)->wide;
    const unsigned port = (unsigned)dev->base_addr;
    const unsigned left = RX_END * PAGE_BYTES - address, first = bytes < left ? bytes : left;
    read_memory(port, wide, address, to, first);
    if (first < bytes)
        read_memory(port, wide, RX_FIRST * PAGE_BYTES, to + first, bytes - first);
}

static void take_frame(struct device *dev, unsigned address, unsigned bytes)
{
    struct ne *const ne = dev->priv;
    struct sk_buff *const skb = dev_alloc_skb(bytes + 2);
    if (!skb) {
        ne->stats.rx_dropped++;
        return;
    }
    skb_reserve(skb, 2);  // the IP header is then aligned
    skb->dev = dev;
    read_ring(dev, address, skb_put(skb, bytes), bytes);
    skb->protocol = eth_type_trans(skb, dev);
    netif_rx(skb);
    ne->stats.rx_packets++;
}

static void receive(struct device *dev)
{
    const unsigned port = (unsigned)dev->base_addr;
    struct ne *const ne = dev->priv;
    unsigned char header[HEADER_BYTES], page;
    while ((page = current_page(port)) != ne->next_page) {
        read_memory(port, ne->wide, ne->next_page * PAGE_BYTES, header, HEADER_BYTES);
        const unsigned stored = header[2] | (unsigned)header[3] << 8;
        if (page < RX_FIRST || page >= RX_END || header[1] < RX_FIRST || header[1] >= RX_END ||
            stored < FCS_BYTES + ETH_HLEN || stored > FCS_BYTES + ETH_FRAME_LEN) {
            ne->stats.rx_errors++;
            begin_anew(dev);
            return;
        }
        if (header[0] & 1)
            take_frame(dev, ne->next_page * PAGE_BYTES + HEADER_BYTES, stored - FCS_BYTES);
        ne->next_page = header[1];
        outb(ne->next_page == RX_FIRST ? RX_END - 1 : ne->next_page - 1u, port + BNRY);
    }
}

// DP8390D, "Buffer Ring Overflow".
static void overflow(struct device *dev)
{
    const unsigned port = (unsigned)dev->base_addr;
    outb(CR_STOP, port + CR);
    udelay(OVERFLOW_WAIT_US);
    outb(0, port + RBCR);
    outb(0, port + RBCR + 1);
    outb(2, port + TCR);
    outb(CR_START, port + CR);
    receive(dev);
    outb(INT_OVERFLOW, port + ISR);
    outb(0, port + TCR);
    ((struct ne *)dev->priv)->stats.rx_over_errors++;
}

// --- out -------------------------------------------------------------------------------------------------------------
static int send(struct sk_buff *skb, struct device *dev)
{
    const unsigned port = (unsigned)dev->base_addr, bytes = skb->len < ETH_ZLEN ? ETH_ZLEN : (unsigned)skb->len;
    struct ne *const ne = dev->priv;
    if (dev->tbusy) {
        if (jiffies - dev->trans_start < TX_TIMEOUT)
            return 1;
        ne->stats.tx_errors++;
        begin_anew(dev);
    }
    if (set_bit(0, &dev->tbusy))
        return 1;
    write_memory(port, ne->wide, TX_PAGE * PAGE_BYTES, skb->data, bytes);
    outb(TX_PAGE, port + TPSR);
    outb(bytes & 0xff, port + TBCR);
    outb(bytes >> 8, port + TBCR + 1);
    outb(CR_SEND, port + CR);
    dev->trans_start = jiffies;
    dev_kfree_skb(skb, FREE_WRITE);
    return 0;
}

static void sent(struct device *dev)
{
    struct ne *const ne = dev->priv;
    if (inb((unsigned)dev->base_addr + TSR) & 1)
        ne->stats.tx_packets++;
    else
        ne->stats.tx_errors++;
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
    while ((seen = inb(port + ISR) & INT_WANTED) != 0) {
        outb(seen & ~(unsigned)INT_OVERFLOW, port + ISR);
        if (seen & INT_OVERFLOW)
            overflow(dev);
        else if (seen & (INT_RX | INT_RX_ERROR))
            receive(dev);
        if (seen & (INT_TX | INT_TX_ERROR))
            sent(dev);
    }
    dev->interrupt = 0;
}

// --- the card into use -----------------------------------------------------------------------------------------------
static int ne_open(struct device *dev)
{
    const int error = request_irq(dev->irq, interrupt, 0, dev->name, dev);
    if (error)
        return error;
    set_up(dev);
    go(dev);
    dev->tbusy = 0;
    dev->interrupt = 0;
    dev->start = 1;
    return 0;
}

static int ne_close(struct device *dev)
{
    dev->start = 0;
    dev->tbusy = 1;
    set_up(dev);
    free_irq(dev->irq, dev);
    return 0;
}

static struct enet_statistics *ne_stats(struct device *dev) { return &((struct ne *)dev->priv)->stats; }

static void ne_multicast(struct device *dev)
{
    if (dev->start)
        outb(dev->flags & IFF_ALLMULTI ? 0x0c : 0x04, (unsigned)dev->base_addr + RCR);
}

static int probe_at(struct device *dev, unsigned port, unsigned char line, int wide)
{
    unsigned char prom[32];
    struct device blank = {.base_addr = port};
    if (check_region(port, EXTENT) || inb(port + CR) == 0xff || !reset(port))
        return -ENODEV;
    set_up(&blank);
    read_memory(port, 0, 0, prom, sizeof prom);
    // Each byte stands twice, since the memory is 16 bits wide; 57h behind them tells that it is such a card.
    if (prom[28] != 0x57 || prom[30] != 0x57)
        return -ENODEV;
    dev = init_etherdev(dev, sizeof(struct ne));
    if (!dev)
        return -ENOMEM;
    for (unsigned i = 0; i < ETH_ALEN; i++)
        dev->dev_addr[i] = prom[2 * i];
    ((struct ne *)dev->priv)->wide = wide;
    dev->base_addr = port;
    dev->irq = line;
    dev->open = ne_open;
    dev->stop = ne_close;
    dev->hard_start_xmit = send;
    dev->get_stats = ne_stats;
    dev->set_multicast_list = ne_multicast;
    request_region(port, EXTENT, dev->name);
    printk(KERN_INFO "%s: NE2000 at %#x, irq %d\n", dev->name, port, line);
    return 0;
}

int ne_probe(struct device *dev)
{
    unsigned char bus, function, line;
    unsigned int port;
    if (!pcibios_present() || pcibios_find_device(REALTEK, RTL8029, 0, &bus, &function) != PCIBIOS_SUCCESSFUL)
        return probe_at(dev, ISA_PORT, ISA_LINE, 0);
    pcibios_read_config_dword(bus, function, PCI_BASE_ADDRESS_0, &port);
    pcibios_read_config_byte(bus, function, PCI_INTERRUPT_LINE, &line);
    return probe_at(dev, port & PCI_BASE_ADDRESS_IO_MASK, line, 1);
}
