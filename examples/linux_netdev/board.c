// SPDX-License-Identifier: BSD-2-Clause
// A PC whose network card has a driver of Linux's kind: in place of boards/pc-ne2k, whose functions these are. The
// environment's thread is more urgent than the program's, and less than the stack's.
#include "boards/board.h"

#include "api/linux_netdev/linux_netdev.h"
#include "api/linux_netdev/netdevice.h"
#include "api/linux_netdev/system.h"
#include "drivers.h"
#include "x86/x86.h"

#define MEMORY 262144  // a driver may take 64 KB at once
#define STACK 8192
#define PRIORITY 15  // examples/lyraos/main.c has the others'

static uint64_t memory[MEMORY / 8], driver_stack[STACK / 8];
static struct thread driver;
static volatile bool *ethernet_wake;

static void news(void)
{
    *ethernet_wake = true;
    board_interrupt();
}

static void line(uint32_t number, bool on)
{
    if (number >= X86_IRQS)
        return;
    if (on)
        x86_irq(number, linux_netdev_interrupt);
    else
        x86_irq_off(number);
}

// As drivers/net/Space.c does: who finds a card has the device. PCI comes first, since looking for a card on ISA writes
// to ports that may be another's.
static int probe(struct device *dev)
{
    static linux_probe *const probes[] = {tulip_probe,   pcnet32_probe, lance_probe, eepro100_probe,
                                          rtl8139_probe, tc59x_probe,   ne_probe,    el3_probe};
    for (unsigned i = 0; i < sizeof probes / sizeof *probes; i++)
        if (probes[i] && probes[i](dev) == 0)
            return 0;
    return -ENODEV;
}

void board_ethernet(struct weir_netif *netif, volatile bool *wake)
{
    static const struct linux_netdev_board board = {line, news, board_puts, pci_read, pci_write, memory, sizeof memory};
    static struct device dev = {.init = probe};
    const struct thread_config config = {"driver",     linux_netdev_thread, NULL,
                                         driver_stack, sizeof driver_stack, PRIORITY};
    ethernet_wake = wake;
    linux_netdev_init(&board);
    if (register_netdev(&dev) || linux_netdev_attach(&dev, netif) || !thread_create(&driver, &config)) {
        board_puts("weir: no card that a driver knows\n");
        for (;;)
            __asm__ volatile("hlt");
    }
}
