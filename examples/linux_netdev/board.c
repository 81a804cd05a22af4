// SPDX-License-Identifier: BSD-2-Clause
// A PC whose network card has a driver of Linux's kind: in place of boards/pc-ne2k, whose functions these are. The
// environment's thread and the timers' are as urgent as each other: more so than the program's, less than the stack's.
#include "boards/board.h"

#include "api/linux_netdev/linux_netdev.h"
#include "api/lyraos/linux20.h"
#include "drivers.h"
#include "x86/x86.h"

#define MEMORY 65536
#define STACK 8192
#define PRIORITY 15  // examples/lyraos/main.c has the others'

static uint64_t memory[MEMORY / 8], driver_stack[STACK / 8], timers_stack[STACK / 8];
static struct thread driver, timers;
static volatile bool *ethernet_wake;
static uint32_t card_line;

static void news(void)
{
    *ethernet_wake = true;
    board_interrupt();
}

static void interrupt(void) { linux_netdev_interrupt(card_line); }

// One card, and so one line.
static void line(uint32_t number, bool on)
{
    if (number >= X86_IRQS)
        return;
    card_line = number;
    if (on)
        x86_irq(number, interrupt);
    else
        x86_irq_off(number);
}

static struct device *probe(void)
{
    struct device *const found = rtl8139_probe();
    return found ? found : ne_probe();
}

void board_ethernet(struct weir_netif *netif, volatile bool *wake)
{
    static const struct linux_netdev_board board = {line, news, board_puts, pci_read, pci_write, memory, sizeof memory};
    const struct thread_config one = {"driver", linux_netdev_thread, NULL, driver_stack, sizeof driver_stack, PRIORITY},
                               other = {"timers", lyraos_timers, NULL, timers_stack, sizeof timers_stack, PRIORITY};
    ethernet_wake = wake;
    linux_netdev_init(&board);
    struct device *const dev = probe();
    if (!dev || linux_netdev_attach(dev, netif) || !thread_create(&driver, &one) || !thread_create(&timers, &other)) {
        board_puts("weir: no card that a driver knows\n");
        for (;;)
            __asm__ volatile("hlt");
    }
}
