// SPDX-License-Identifier: BSD-2-Clause
// A PC with an NE2000: on PCI (RTL8029), or where there is none, on ISA at the usual ports and line (boards/x86 has the
// rest). Under a kernel the card's driver is a thread of its own, if the program has one for it (board_driver_thread).
#include "board.h"

#include "drivers/ne2k.h"
#include "weir/error.h"
#include "x86/x86.h"

#define VENDOR 0x10ecu
#define RTL8029 0x8029u
#define PCI_BAR0 0x10u
#define ISA_PORT 0x300u
#define ISA_LINE 9u

static struct ne2k card;
static struct ne2k_board card_board;
static volatile bool *ethernet_wake;

static void news(void *context)
{
    (void)context;
    board_interrupt();
}
static void kick(void *context)
{
    (void)context;
    board_driver_wake();
}
static uint64_t work(uint64_t now_us) { return ne2k_work(&card, now_us); }

// Without a thread: there is none to wake.
__attribute__((weak)) bool board_driver_thread(uint64_t (*unused)(uint64_t now_us)) { return unused == NULL; }
__attribute__((weak)) void board_driver_wake(void) {}

static void interrupt(uint32_t line)
{
    (void)line;
    ne2k_interrupt(&card);
    if (card_board.kick) {
        board_driver_wake();
    } else {
        *ethernet_wake = true;
        board_interrupt();
    }
}

void board_ethernet(struct weir_netif *netif, volatile bool *wake)
{
    const uint32_t function = pci_find(VENDOR, RTL8029, PCI_NONE);
    const bool pci = function != PCI_NONE;
    const uint32_t line = pci ? pci_line(function) : ISA_LINE;
    ethernet_wake = wake;
    card_board.port = (uint16_t)(pci ? pci_read(function, PCI_BAR0) & ~3u : ISA_PORT);
    card_board.wide = pci;
    if (line >= X86_IRQS || ne2k_open(&card, &card_board) != WEIR_OK) {
        board_puts("weir: no NE2000\n");
        for (;;)
            __asm__ volatile("hlt");
    }
    if (board_driver_thread(work)) {
        card_board.kick = kick;
        card_board.news = news;
    }
    ne2k_attach(&card, netif, "eth0");
    x86_irq(line, interrupt);
}
