// SPDX-License-Identifier: BSD-2-Clause
// A PC with a virtio network device on PCI (boards/x86 has the rest).
#include "board.h"

#include "drivers/virtio_net.h"
#include "drivers/virtio_pci.h"
#include "weir/error.h"
#include "x86/x86.h"

#define VENDOR 0x1af4u
#define TRANSITIONAL 0x1000u
#define MODERN 0x1041u

static struct virtio_pci bus;
static struct virtio_net net;
static struct virtio_net_memory net_memory;
static volatile bool *ethernet_wake;

static uint32_t read(void *context, uint8_t offset) { return pci_read(*(uint32_t *)context, offset); }
static void write(void *context, uint8_t offset, uint32_t value) { pci_write(*(uint32_t *)context, offset, value); }

static void interrupt(uint32_t line)
{
    (void)line;
    virtio_net_interrupt(&net);
    *ethernet_wake = true;
    board_interrupt();
}

void board_ethernet(struct weir_netif *netif, volatile bool *wake)
{
    static uint32_t card;
    const struct virtio_pci_function function = {read, write, &card};
    ethernet_wake = wake;
    card = pci_find(VENDOR, MODERN, PCI_NONE);
    if (card == PCI_NONE)
        card = pci_find(VENDOR, TRANSITIONAL, PCI_NONE);
    if (card == PCI_NONE || pci_line(card) >= X86_IRQS || !virtio_pci_open(&bus, &function, VIRTIO_ID_NET) ||
        virtio_net_open(&net, &bus.transport, &net_memory) != WEIR_OK) {
        board_puts("weir: no virtio network device of version 1\n");
        for (;;)
            __asm__ volatile("hlt");
    }
    virtio_net_attach(&net, netif, "eth0");
    x86_irq(pci_line(card), interrupt);
}
