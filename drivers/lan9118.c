// SPDX-License-Identifier: BSD-2-Clause
#include "lan9118.h"

#include <string.h>

#include "mmio.h"
#include "weir/error.h"

enum {  // data sheet, chapter 5
    RX_DATA = 0x00,
    TX_DATA = 0x20,
    RX_STATUS = 0x40,
    TX_STATUS = 0x48,
    IRQ_CFG = 0x54,
    INT_STS = 0x58,
    INT_EN = 0x5c,
    BYTE_TEST = 0x64,
    FIFO_INT = 0x68,
    RX_CFG = 0x6c,
    TX_CFG = 0x70,
    HW_CFG = 0x74,
    RX_DP_CTRL = 0x78,
    RX_FIFO_INF = 0x7c,
    TX_FIFO_INF = 0x80,
    MAC_CSR_CMD = 0xa4,
    MAC_CSR_DATA = 0xa8,
};
enum { MAC_CR = 1, ADDRH = 2, ADDRL = 3, MII_ACC = 6, MII_DATA = 7, VLAN1 = 9 };  // behind MAC_CSR_CMD
#define INT_RSFL (1u << 3)                                                        // a frame's state waits
#define INT_TDFA (1u << 9)                                                        // room for a frame
#define INT_RXE (1u << 14)
#define INT_RDFO (1u << 21)  // receive FIFO dropped
#define CSR_BUSY (1u << 31)
#define CSR_READ (1u << 30)
#define CR_RXEN 0x4u
#define CR_TXEN 0x8u
#define CR_MCPAS (1u << 19)
#define CR_FDPX (1u << 20)
#define RX_ERROR (1u << 15)  // of a frame's state
#define PHY_STATUS 1u
#define PHY_LINK 4u
#define FCS_BYTES 4u
#define PAD_BYTES 2u     // before a frame received
#define BLOCK_BYTES 64u  // unit of the transmit FIFO's interrupt level
#define TRIES 1000u      // looks at a busy bit; a command takes a few bus cycles
#define LOOK_EVERY_US 500000u

static uint32_t read(const struct lan9118 *device, uint32_t at) { return mmio_read(device->base + at); }
static void write(const struct lan9118 *device, uint32_t at, uint32_t value) { mmio_write(device->base + at, value); }

static void csr_wait(const struct lan9118 *device)
{
    for (uint32_t i = 0; i < TRIES && read(device, MAC_CSR_CMD) & CSR_BUSY; i++)
        ;
}

static uint32_t csr_read(const struct lan9118 *device, uint32_t index)
{
    csr_wait(device);
    write(device, MAC_CSR_CMD, CSR_BUSY | CSR_READ | index);
    csr_wait(device);
    return read(device, MAC_CSR_DATA);
}

static void csr_write(const struct lan9118 *device, uint32_t index, uint32_t value)
{
    csr_wait(device);
    write(device, MAC_CSR_DATA, value);
    write(device, MAC_CSR_CMD, CSR_BUSY | index);
    csr_wait(device);
}

// The PHY's link bit latches a loss until it is read: the second reading tells how it is now (IEEE 802.3, 22.2.4.2.13).
static bool phy_link(const struct lan9118 *device)
{
    uint32_t status = 0;
    for (uint32_t twice = 0; twice < 2; twice++) {
        csr_write(device, MII_ACC, 1u << 11 | PHY_STATUS << 6 | 1);
        for (uint32_t i = 0; i < TRIES && csr_read(device, MII_ACC) & 1; i++)
            ;
        status = csr_read(device, MII_DATA);
    }
    return status & PHY_LINK;
}

int lan9118_open(struct lan9118 *device, uintptr_t base, const uint8_t mac[6])
{
    *device = (struct lan9118){.base = base};
    memcpy(device->mac, mac, 6);
    if (read(device, BYTE_TEST) != 0x87654321)
        return WEIR_NOT_SUPPORTED;
    write(device, HW_CFG, 1);  // reset
    for (uint32_t i = 0; i < TRIES && read(device, HW_CFG) & 1; i++)
        ;
    write(device, INT_EN, 0);
    write(device, INT_STS, 0xffffffff);
    write(device, HW_CFG, 1u << 20 | 5u << 16);  // bit 20 must be set; 5 KB of the memory transmit
    csr_write(device, ADDRL,
              (uint32_t)mac[0] | (uint32_t)mac[1] << 8 | (uint32_t)mac[2] << 16 | (uint32_t)mac[3] << 24);
    csr_write(device, ADDRH, (uint32_t)mac[4] | (uint32_t)mac[5] << 8);
    csr_write(device, VLAN1, 0x8100);  // what makes frames of 1522 bytes legal; else they are errors
    return WEIR_OK;
}

// --- in --------------------------------------------------------------------------------------------------------------

static void discard_frame(struct lan9118 *device, uint32_t words)
{
    if (words < 4) {  // fast forward is for four words and more
        while (words--)
            (void)read(device, RX_DATA);
        return;
    }
    write(device, RX_DP_CTRL, 1u << 31);
    for (uint32_t i = 0; i < TRIES && read(device, RX_DP_CTRL) & 1u << 31; i++)
        ;
}

static void take_frame(struct lan9118 *device, struct weir_netif *netif)
{
    const uint32_t status = read(device, RX_STATUS), length = status >> 16 & 0x3fff,
                   words = (length + PAD_BYTES + 3) / 4;
    if (status & RX_ERROR || length <= FCS_BYTES || words > sizeof device->buffer / 4) {
        device->errors++;
        netif->stats.rx_dropped++;
        discard_frame(device, words);
        return;
    }
    for (uint32_t i = 0; i < words; i++)
        device->buffer[i] = read(device, RX_DATA);
    const struct weir_slice slice = {(const uint8_t *)device->buffer + PAD_BYTES, length - FCS_BYTES};
    const struct weir_frame frame = {.slices = &slice, .length = slice.length, .count = 1};
    weir_netif_deliver(netif, &frame);
}

static uint32_t room(const struct lan9118 *device) { return read(device, TX_FIFO_INF) & 0xffff; }

static int lan9118_poll(struct weir_netif *netif, int budget)
{
    struct lan9118 *device = netif->driver_data;
    const uint32_t seen = read(device, INT_STS);
    int frames = 0;
    write(device, INT_STS, seen);  // before looking: what comes from here on asks again
    if (seen & INT_RDFO)
        device->overruns++;
    if (device->waiting && room(device) >= LAN9118_FRAME_BYTES + BLOCK_BYTES) {
        device->waiting = false;
        weir_netif_ready(netif);
    }
    for (; frames < budget && read(device, RX_FIFO_INF) & 0xff0000; frames++)
        take_frame(device, netif);
    if (frames < budget)
        write(device, INT_EN, INT_RSFL | INT_RXE | INT_RDFO | (device->waiting ? INT_TDFA : 0));
    return frames;
}

void lan9118_interrupt(struct lan9118 *device) { write(device, INT_EN, 0); }

// --- out -------------------------------------------------------------------------------------------------------------

// Each slice is a buffer of the device's own terms: it skips bytes before and behind it in words, so only whole words
// are read from the slice's memory where that is aligned, and what is not is put together here.
static void put(struct lan9118 *device, const struct weir_slice *slice, bool first, bool last, uint32_t total)
{
    const uint32_t offset = (uint32_t)((uintptr_t)slice->data & 3);
    const uint8_t *const from = slice->data - offset;
    const uint32_t left = slice->length + offset;
    write(device, TX_DATA, offset << 16 | (uint32_t)first << 13 | (uint32_t)last << 12 | slice->length);
    write(device, TX_DATA, total);
    uint32_t at = 0, word = 0;
    if (offset && left) {  // never a byte that is not the slice's
        at = left < 4 ? left : 4;
        memcpy((uint8_t *)&word + offset, from + offset, at - offset);
        write(device, TX_DATA, word);
    }
    for (; left - at >= 4; at += 4) {
        memcpy(&word, from + at, 4);
        write(device, TX_DATA, word);
    }
    if (left > at) {
        word = 0;
        memcpy(&word, from + at, left - at);
        write(device, TX_DATA, word);
    }
}

static enum weir_tx_verdict lan9118_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct lan9118 *device = netif->driver_data;
    for (uint32_t i = 0; i < TRIES && read(device, TX_FIFO_INF) >> 16 & 0xff; i++)
        (void)read(device, TX_STATUS);
    // Two command words and up to six bytes of alignment a slice.
    if (room(device) < tx->length + 16u * tx->count) {
        device->waiting = true;
        write(device, INT_EN, read(device, INT_EN) | INT_TDFA);
        return WEIR_TX_FULL;
    }
    for (uint32_t i = 0; i < tx->count; i++)
        put(device, &tx->slices[i], i == 0, i + 1u == tx->count, tx->length);
    return WEIR_TX_DONE;
}

// The cable, looked at twice a second.
static uint64_t lan9118_timer(struct weir_netif *netif, uint64_t now_us)
{
    struct lan9118 *device = netif->driver_data;
    if (now_us >= device->look_us) {
        const bool link = phy_link(device);
        if (link != device->link)
            weir_netif_carrier(netif, link);
        device->link = link;
        device->look_us = now_us + LOOK_EVERY_US;
    }
    return device->look_us;
}

static const struct weir_driver lan9118_driver = {
    .name = "lan9118", .tx = lan9118_tx, .poll = lan9118_poll, .timer = lan9118_timer};

void lan9118_attach(struct lan9118 *device, struct weir_netif *netif, const char *name)
{
    weir_netif_init(netif, name, &lan9118_driver, &weir_link_ethernet);
    netif->driver_data = device;
    netif->capabilities |= WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST;
    memcpy(netif->mac, device->mac, 6);
    device->link = true;                                                     // as weir_netif_add takes it
    write(device, FIFO_INT, (LAN9118_FRAME_BYTES / BLOCK_BYTES + 2) << 24);  // room for a frame; any frame received
    write(device, RX_CFG, PAD_BYTES << 8);
    write(device, TX_CFG, 2);                       // transmitter on
    write(device, IRQ_CFG, 1u << 8 | 1u << 4 | 1);  // enabled, active high, driven both ways
    csr_write(device, MAC_CR, CR_RXEN | CR_TXEN | CR_FDPX | CR_MCPAS);
    write(device, INT_EN, INT_RSFL | INT_RXE | INT_RDFO);
}
