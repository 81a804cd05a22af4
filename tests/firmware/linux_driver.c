// SPDX-License-Identifier: BSD-2-Clause
// Written and compiled as drivers of Linux 2.0 are (C of 1990, GNU's): what they include, ask of the preprocessor and
// call. It is for no card, and is compiled only (test_linux_netdev.py).
#include <linux/bios32.h>
#include <linux/config.h>
#include <linux/ctype.h>
#include <linux/delay.h>
#include <linux/errno.h>
#include <linux/etherdevice.h>
#include <linux/fcntl.h>
#include <linux/fs.h>
#include <linux/if_arp.h>
#include <linux/in.h>
#include <linux/interrupt.h>
#include <linux/ioport.h>
#include <linux/kernel.h>
#include <linux/malloc.h>
#include <linux/mm.h>
#include <linux/module.h>
#include <linux/netdevice.h>
#include <linux/pci.h>
#include <linux/ptrace.h>
#include <linux/sched.h>
#include <linux/skbuff.h>
#include <linux/socket.h>
#include <linux/sockios.h>
#include <linux/string.h>
#include <linux/time.h>
#include <linux/timer.h>
#include <linux/types.h>
#include <linux/unistd.h>
#include <linux/version.h>

#include <asm/bitops.h>
#include <asm/byteorder.h>
#include <asm/dma.h>
#include <asm/io.h>
#include <asm/irq.h>
#include <asm/processor.h>
#include <asm/segment.h>
#include <asm/system.h>
#include <asm/unaligned.h>

#if LINUX_VERSION_CODE < 0x20000 || LINUX_VERSION_CODE >= 0x20100
#error "not 2.0"
#endif
#if !defined(CONFIG_PCI) || !defined(CONFIG_INET) || !defined(SA_SHIRQ) || !defined(_LINUX_DELAY_H)
#error "drivers ask for these"
#endif
#if !defined(HAVE_MULTICAST) || !defined(HAVE_SET_MAC_ADDR) || !defined(HAVE_PRIVATE_IOCTL)
#error "drivers ask for these, too"
#endif

static const struct {
    unsigned short vendor, device;
} cards[] = {
    {PCI_VENDOR_ID_REALTEK, PCI_DEVICE_ID_REALTEK_8029},   {PCI_VENDOR_ID_WINBOND2, PCI_DEVICE_ID_WINBOND2_89C940},
    {PCI_VENDOR_ID_COMPEX, PCI_DEVICE_ID_COMPEX_RL2000},   {PCI_VENDOR_ID_KTI, PCI_DEVICE_ID_KTI_ET32P2},
    {PCI_VENDOR_ID_NETVIN, PCI_DEVICE_ID_NETVIN_NV5000SC}, {PCI_VENDOR_ID_VIA, PCI_DEVICE_ID_VIA_82C926},
    {PCI_VENDOR_ID_AMD, PCI_DEVICE_ID_AMD_LANCE},          {PCI_VENDOR_ID_DEC, PCI_DEVICE_ID_DEC_21142},
    {PCI_VENDOR_ID_INTEL, PCI_DEVICE_ID_INTEL_82557}};

struct private
{
    struct net_device_stats stats;
    struct timer_list timer;
    u32 ring[4];
    s16 length;
    u_char *memory;
};

int ours_probe(struct device *dev);
extern struct device *irq2dev_map[16];

static void interrupt(int irq, void *dev_id, struct pt_regs *regs)
{
    struct device *dev = irq2dev_map[irq];
    struct private *own = dev->priv;
    struct sk_buff *skb = dev_alloc_skb(64 + 2);
    if (dev != dev_id || regs || !skb)
        return;
    skb->dev = dev;
    skb_reserve(skb, 2);
    eth_copy_and_sum(skb, (unsigned char *)bus_to_virt(own->ring[0]), 64, 0);
    eth_io_copy_and_sum(skb, own->memory, 64, 0);
    insw(dev->base_addr + 16, skb_put(skb, 64), 32);
    skb->protocol = eth_type_trans(skb, dev);
    skb->ip_summed = CHECKSUM_NONE;
    netif_rx(skb);
    own->stats.rx_packets++;
    mark_bh(NET_BH);
}

static int set_address(struct device *dev, void *address)
{
    if (dev->start)
        return -EBUSY;
    memcpy(dev->dev_addr, address, dev->addr_len);
    put_unaligned(htons(ETH_P_IP), (u16 *)(dev->dev_addr + 1));
    return get_unaligned((u16 *)(dev->dev_addr + 1)) == ntohs(ETH_P_ARP) ? 0 : -EINVAL;
}

static int private_ioctl(struct device *dev, struct ifreq *request, int command)
{
    u16 *data = (u16 *)&request->ifr_data;
    if (command != SIOCDEVPRIVATE || !suser() || verify_area(VERIFY_WRITE, request->ifr_data, 2))
        return -EOPNOTSUPP;
    memcpy_fromfs(data, request->ifr_data, 2);
    return strcmp(request->ifr_name, dev->name) ? -EFAULT : 0;
}

static int ours_open(struct device *dev)
{
    struct private *own = dev->priv;
    unsigned long flags;
    if (request_irq(dev->irq, interrupt, SA_SHIRQ, dev->name, dev) || request_dma(dev->dma, "ours"))
        return -EAGAIN;
    save_flags(flags);
    cli();
    set_dma_mode(dev->dma, DMA_MODE_CASCADE);
    enable_dma(dev->dma);
    restore_flags(flags);
    irq2dev_map[dev->irq] = dev;
    own->timer.expires = jiffies + 3 * HZ;
    add_timer(&own->timer);
    MOD_INC_USE_COUNT;
    return 0;
}

static int find_line(unsigned port)
{
    unsigned long from = jiffies;
    autoirq_setup(0);
    outb_p(1, port);
    while (jiffies - from < 2 * HZ / 100)
        barrier();
    SLOW_DOWN_IO;
    return autoirq_report(0);
}

int ours_probe(struct device *dev)
{
    unsigned char bus, function, line, latency;
    u16 command;
    u32 port;
    char text[32];
    struct private *own;
    if (!pcibios_present() || pcibios_find_class(PCI_CLASS_NETWORK_ETHERNET << 8, 0, &bus, &function) ||
        pcibios_find_device(cards[0].vendor, cards[0].device, 0, &bus, &function))
        return ENODEV;
    pcibios_read_config_byte(bus, function, PCI_INTERRUPT_LINE, &line);
    pcibios_read_config_byte(bus, function, PCI_LATENCY_TIMER, &latency);
    pcibios_read_config_word(bus, function, PCI_COMMAND, &command);
    pcibios_write_config_word(bus, function, PCI_COMMAND, command | PCI_COMMAND_MASTER | PCI_COMMAND_IO);
    pcibios_read_config_dword(bus, function, PCI_BASE_ADDRESS_0, &port);
    port &= PCI_BASE_ADDRESS_IO_MASK;
    if (check_region(port, 32) || x86 < 4 || EISA_bus || high_memory > MAX_DMA_ADDRESS)
        return ENXIO;
    dev = init_etherdev(dev, 0);
    dev->priv = own = kmalloc(sizeof *own, GFP_KERNEL | GFP_DMA);
    memset(own, 0, sizeof *own);
    own->memory = vremap(0xd0000, PAGE_SIZE);
    writeb(readb(own->memory) + 1, own->memory);
    sprintf(text, "%4.4x", inw(port));
    printk(KERN_INFO "%s: %s at %#3x, %s, %lu.\n", dev->name, text, (unsigned)dev->base_addr, pcibios_strerror(0),
           simple_strtoul("3", NULL, 0));
    request_region(port, 32, "ours");
    dev->base_addr = port;
    dev->irq = line < 2 ? find_line(port) : line % NR_IRQS;
    dev->open = &ours_open;
    dev->set_mac_address = &set_address;
    dev->do_ioctl = &private_ioctl;
    dev->tbusy = test_bit(0, (void *)&dev->tbusy) || set_bit(0, (void *)&dev->tbusy) || smp_processor_id();
    return 0;
}
