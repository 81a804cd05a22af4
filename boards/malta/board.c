// SPDX-License-Identifier: BSD-2-Clause
// MIPS's Malta board (MD00048) with a 24Kf in either byte order: GT-64120 to PCI, PIIX4 south bridge with two interrupt
// controllers and UARTs, one PCnet on the board and others in slots. The boot loader (YAMON, or QEMU's few
// instructions) has set up memory and the bridge's windows.
#include "board.h"

#include "drivers/ns16550.h"
#include "drivers/pcnet.h"
#include "drivers/slip.h"
#include "malta/pci.h"
#include "mips/mips.h"
#include "mixed_entropy.h"

#ifndef TIMER_MHZ
#define TIMER_MHZ 160u  // QEMU's; half the core's clock on a board
#endif
#ifndef BOARD_ETHERNETS
#define BOARD_ETHERNETS 2u
#endif
#define PIC1 0x20u
#define PIC2 0xa0u
#define PIC_EDGES 0x4d0u  // edge or level, a bit each
#define PIC_LINE 2u       // the core's
#define CASCADE 2u
#define UART 0x3f8u
#define SERIAL 0x2f8u
#define SERIAL_IRQ 3u
#define SERIAL_DIVISOR 1u  // 115200 bits a second
#define PCNET_ID 0x20001022u
#define PIIX4_ID 0x71108086u
#define PIIX4_ROUTES 0x60u  // of the four interrupts of PCI, a byte each
#define PCI_IRQ 10u         // they share it
#define ROUTES (PCI_IRQ * 0x01010101u)

const uint32_t board_granularity_us = 1;
static struct pcnet ethernets[BOARD_ETHERNETS];
static struct pcnet_shared shared[BOARD_ETHERNETS];
static struct pcnet_board boards[BOARD_ETHERNETS];
static volatile bool *wakes[BOARD_ETHERNETS];
static uint32_t ethernet_count;
static struct ns16550 serial;
static volatile bool *serial_wake;

uint64_t board_now_us(void) { return mips_now_us(); }
void board_sleep(uint64_t until_us, const volatile bool *awake) { mips_sleep(until_us, awake); }

// --- console, randomness ---------------------------------------------------------------------------------------------

void board_puts(const char *text)
{
    for (; *text; text++) {
        while (!(port_read(UART + 5) & 0x20))
            ;
        port_write(UART, (uint8_t)*text);
    }
}

static uint32_t sample(void)
{
    uint32_t count;
    __asm__ volatile("mfc0 %0, $9" : "=r"(count));
    return count;
}
void board_entropy(void *out, size_t bytes) { mixed_entropy(out, bytes, sample); }

// --- interrupts ------------------------------------------------------------------------------------------------------

// Both controllers count from 0 and 8; the second one hangs on line 2 of the first.
static void pic_init(void)
{
    port_write(PIC1, 0x11);
    port_write(PIC1 + 1, 0);
    port_write(PIC1 + 1, 1u << CASCADE);
    port_write(PIC1 + 1, 1);
    port_write(PIC2, 0x11);
    port_write(PIC2 + 1, 8);
    port_write(PIC2 + 1, CASCADE);
    port_write(PIC2 + 1, 1);
    port_write(PIC1 + 1, 0xff & ~(1u << CASCADE));
    port_write(PIC2 + 1, 0xff);
    port_write(PIC_EDGES + 1, 1u << (PCI_IRQ - 8));  // PCI's are levels
}

static void pic_unmask(uint32_t irq)
{
    const uint32_t port = irq < 8 ? PIC1 + 1 : PIC2 + 1;
    port_write(port, port_read(port) & (uint8_t) ~(1u << irq % 8));
}

static void ethernet_interrupt(void)
{
    bool any = false;
    for (uint32_t i = 0; i < ethernet_count; i++) {
        if (!pcnet_interrupt(&ethernets[i]))
            continue;
        *wakes[i] = true;
        any = true;
    }
    if (any)
        board_interrupt();
}

static void serial_interrupt(void)
{
    if (serial_wake && ns16550_interrupt(&serial)) {
        *serial_wake = true;
        board_interrupt();
    }
}

// The poll command (0x0c) acknowledges and tells which it is: bit 7 and the number.
static uint32_t pic_take(uint32_t port)
{
    port_write(port, 0x0c);
    return port_read(port);
}

static void pic_interrupt(void)
{
    const uint32_t first = pic_take(PIC1);
    if (!(first & 0x80))
        return;
    uint32_t irq = first & 7;
    if (irq == CASCADE) {
        irq = 8 + (pic_take(PIC2) & 7);
        port_write(PIC2, 0x20);
    }
    port_write(PIC1, 0x20);
    if (irq == PCI_IRQ)
        ethernet_interrupt();
    else if (irq == SERIAL_IRQ)
        serial_interrupt();
}

// --- Ethernet --------------------------------------------------------------------------------------------------------

// Rings without cache: the same memory in the other window. They are aligned to lines, and no line of theirs may stay
// in the cache.
void board_ethernet(struct weir_netif *netif, volatile bool *wake)
{
    const uint32_t i = ethernet_count;
    const int device = i < BOARD_ETHERNETS ? pci_find(PCNET_ID, i) : -1;
    if (device < 0) {
        board_puts("weir: no PCnet\n");
        return;
    }
    mips_invalidate(&shared[i], sizeof shared[i]);
    boards[i] = (struct pcnet_board){.base = pci_enable((uint32_t)device, 1),
                                     .shared = mips_uncached(mips_physical(&shared[i])),
                                     .mac = {0x02, 0x57, 0x65, 0x69, 0x72, (uint8_t)(0x06 + i)},
                                     .bus_address = mips_physical,
                                     .clean = mips_clean,
                                     .invalidate = mips_invalidate};
    wakes[i] = wake;
    pcnet_open(&ethernets[i], &boards[i]);
    const uint32_t was = mips_interrupts_off();
    ethernet_count = i + 1;
    pcnet_attach(&ethernets[i], netif, (char[]){'e', 't', 'h', (char)('0' + i), '\0'});
    mips_interrupts_restore(was);
    pic_unmask(PCI_IRQ);
}

// --- serial line -----------------------------------------------------------------------------------------------------

void board_slip(struct weir_netif *netif, volatile bool *wake)
{
    static const struct ns16550_board board = {port_read,      port_write,          SERIAL,
                                               SERIAL_DIVISOR, mips_interrupts_off, mips_interrupts_restore};
    static const struct slip_pipe pipe = {ns16550_read, ns16550_write, &serial};
    static struct slip slip;
    ns16550_open(&serial, &board);
    slip_open(&slip, &pipe);
    slip_attach(&slip, netif, "sl0");
    serial_wake = wake;
    pic_unmask(SERIAL_IRQ);
}

void board_init(void)
{
    const int bridge = pci_find(PIIX4_ID, 0);
    port_write(UART + 3, 0x03);  // 8 bits; the loader has set the speed
    pic_init();
    if (bridge >= 0)
        pci_write((uint32_t)bridge, 0, PIIX4_ROUTES, ROUTES);
    mips_line_enable(PIC_LINE, pic_interrupt);
    mips_line_enable(MIPS_LINE_SOFTWARE, NULL);
    mips_start(TIMER_MHZ);
}
