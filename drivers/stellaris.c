// SPDX-License-Identifier: BSD-2-Clause
#include "stellaris.h"

#include <string.h>

#include "mmio.h"

enum {
    RIS = 0x00,  // read: raw interrupts; write: acknowledges
    IM = 0x04,   // interrupts let through
    RCTL = 0x08,
    TCTL = 0x0c,
    DATA = 0x10,  // both FIFOs
    IA0 = 0x14,
    IA1 = 0x18,
    THR = 0x1c,
    NP = 0x34,  // frames in the receive FIFO
    TR = 0x38,  // bit 0: a frame is to be sent
};
enum { INT_RX = 1, INT_TXER = 2, INT_TXEMP = 4, INT_FOV = 8, INT_RXER = 16 };
enum { RCTL_RXEN = 1, RCTL_AMUL = 2, RCTL_BADCRC = 8, RCTL_RSTFIFO = 16 };
enum { TCTL_TXEN = 1, TCTL_PADEN = 2, TCTL_CRC = 4, TCTL_DUPLEX = 16 };

#define ETHERNET_BYTES 14u
#define LENGTH_BYTES 2u  // of the length itself, which the received length counts
#define FCS_BYTES 4u
#define LEAST_BYTES 60u

static uint32_t read(const struct stellaris *device, uint32_t at) { return mmio_read(device->base + at); }
static void write(const struct stellaris *device, uint32_t at, uint32_t value) { mmio_write(device->base + at, value); }

void stellaris_open(struct stellaris *device, uintptr_t base, const uint8_t mac[6])
{
    *device = (struct stellaris){.base = base};
    write(device, IM, 0);
    write(device, RCTL, RCTL_RSTFIFO);
    write(device, IA0, (uint32_t)mac[0] | (uint32_t)mac[1] << 8 | (uint32_t)mac[2] << 16 | (uint32_t)mac[3] << 24);
    write(device, IA1, (uint32_t)mac[4] | (uint32_t)mac[5] << 8);
    write(device, THR, 0x3f);  // send only whole frames
    write(device, RIS, 0x7f);
}

// --- in --------------------------------------------------------------------------------------------------------------

static void reset_fifo(struct stellaris *device, struct weir_netif *netif)
{
    const uint32_t control = read(device, RCTL);
    device->bad++;
    netif->stats.rx_dropped++;
    write(device, RCTL, control & ~(uint32_t)RCTL_RXEN);
    write(device, RCTL, (control & ~(uint32_t)RCTL_RXEN) | RCTL_RSTFIFO);
    write(device, RCTL, control);
}

// The FIFO's words lie behind one another in the buffer: two bytes of length, the frame, its FCS.
static bool take_frame(struct stellaris *device, struct weir_netif *netif)
{
    const uint32_t first = read(device, DATA), total = first & 0xffff;
    if (total < LENGTH_BYTES + ETHERNET_BYTES + FCS_BYTES || total > sizeof device->buffer) {
        reset_fifo(device, netif);
        return false;
    }
    device->buffer[0] = first;
    for (uint32_t at = 1; at < (total + 3) / 4; at++)
        device->buffer[at] = read(device, DATA);
    const struct weir_slice slice = {(const uint8_t *)device->buffer + LENGTH_BYTES, total - LENGTH_BYTES - FCS_BYTES};
    const struct weir_frame frame = {.slices = &slice, .length = slice.length, .count = 1};
    weir_netif_deliver(netif, &frame);
    return true;
}

static int stellaris_poll(struct weir_netif *netif, int budget)
{
    struct stellaris *device = netif->driver_data;
    const uint32_t seen = read(device, RIS);
    int frames = 0;
    write(device, RIS, seen);  // before looking: what comes from here on asks again
    if (seen & INT_FOV)
        device->overruns++;
    if (device->waiting && !(read(device, TR) & 1)) {
        device->waiting = false;
        weir_netif_ready(netif);
    }
    while (frames < budget && read(device, NP) && take_frame(device, netif))
        frames++;
    if (frames < budget)
        write(device, IM, INT_RX | INT_FOV | (device->waiting ? INT_TXEMP : 0));
    return frames;
}

void stellaris_interrupt(struct stellaris *device) { write(device, IM, 0); }

// --- out -------------------------------------------------------------------------------------------------------------

// Bytes that wait until a word of them is full.
struct words {
    const struct stellaris *device;
    uint32_t word, count;
};

static inline void put_byte(struct words *words, uint8_t byte)
{
    words->word |= (uint32_t)byte << 8 * words->count;
    if (++words->count < 4)
        return;
    write(words->device, DATA, words->word);
    words->word = words->count = 0;
}

static void put(struct words *words, const uint8_t *bytes, uint32_t length)
{
    for (; length && words->count; length--)
        put_byte(words, *bytes++);
    for (; length >= 4; length -= 4, bytes += 4) {
        uint32_t word;
        memcpy(&word, bytes, 4);
        write(words->device, DATA, word);
    }
    for (; length; length--)
        put_byte(words, *bytes++);
}

static enum weir_tx_verdict stellaris_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct stellaris *device = netif->driver_data;
    if (read(device, TR) & 1) {
        device->waiting = true;
        write(device, IM, read(device, IM) | INT_TXEMP);
        return WEIR_TX_FULL;
    }
    // The first two bytes say how long the frame is behind its Ethernet header. Short frames are filled up by the
    // device (PADEN).
    struct words words = {.device = device, .word = tx->length - ETHERNET_BYTES, .count = 2};
    for (uint32_t i = 0; i < tx->count; i++)
        put(&words, tx->slices[i].data, tx->slices[i].length);
    if (words.count)
        write(device, DATA, words.word);
    write(device, TR, 1);
    return WEIR_TX_DONE;
}

static const struct weir_driver stellaris_driver = {.name = "stellaris", .tx = stellaris_tx, .poll = stellaris_poll};

void stellaris_attach(struct stellaris *device, struct weir_netif *netif, const char *name)
{
    weir_netif_init(netif, name, &stellaris_driver, &weir_link_ethernet);
    netif->driver_data = device;
    netif->capabilities |= WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST;
    const uint32_t low = read(device, IA0), high = read(device, IA1);
    for (uint32_t i = 0; i < 6; i++)
        netif->mac[i] = (uint8_t)((i < 4 ? low : high) >> 8 * (i % 4));
    write(device, TCTL, TCTL_TXEN | TCTL_PADEN | TCTL_CRC | TCTL_DUPLEX);
    write(device, RCTL, RCTL_RXEN | RCTL_AMUL | RCTL_BADCRC);
    write(device, IM, INT_RX | INT_FOV);
}
