// SPDX-License-Identifier: BSD-2-Clause
#include "cadence_gem.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "mmio.h"

enum {  // UG585, appendix B.18
    NWCTRL = 0x00,
    NWCFG = 0x04,
    NWSR = 0x08,
    DMACFG = 0x10,
    TXSTATUS = 0x14,
    RXQBASE = 0x18,
    TXQBASE = 0x1c,
    RXSTATUS = 0x20,
    ISR = 0x24,
    IER = 0x28,
    IDR = 0x2c,
    PHYMNTNC = 0x34,
    HASHLO = 0x80,
    HASHHI = 0x84,
    ADDRLO = 0x88,
    ADDRHI = 0x8c,
};
enum { CTRL_RXEN = 1 << 2, CTRL_TXEN = 1 << 3, CTRL_MDEN = 1 << 4, CTRL_STARTTX = 1 << 9 };
enum {
    CFG_SPEED = 1,
    CFG_FD = 2,
    CFG_MCAST = 1 << 6,
    CFG_RXOFFSET_2 = 2 << 14,
    CFG_FCSREM = 1 << 17,
    CFG_MDC_48 = 3 << 18,
    CFG_RXSUM = 1 << 24
};
enum { DMA_BURST_16 = 16, DMA_RX_8K = 3 << 8, DMA_TX_4K = 1 << 10, DMA_TXSUM = 1 << 11 };
enum {
    INT_RX = 1 << 1,
    INT_RXUSED = 1 << 2,
    INT_TX = 1 << 7,
    INT_TXBAD = 1 << 5 | 1 << 6,
    INT_OVERRUN = 1 << 10,
    INT_ALL = 0x7ffffff
};
#define INT_WANTED (INT_RX | INT_RXUSED | INT_OVERRUN | INT_TX | INT_TXBAD)
#define RX_OWNED 1u  // of the address: a frame is there
#define RX_WRAP 2u
#define RX_LENGTH 0x1fffu
#define RX_SOF_EOF (3u << 14)
#define RX_SUM_SHIFT 22  // 2: IP and TCP, 3: IP and UDP are good
#define TX_USED (1u << 31)
#define TX_WRAP (1u << 30)
#define TX_ERRORS (7u << 27)
#define TX_LAST (1u << 15)
#define RX_OFFSET 2u  // so that IP headers are aligned
#define ETHERNET_BYTES 14u
#define PHY_STATUS 1u
#define PHY_LINK 4u
#define LOOK_EVERY_US 500000u
#define TRIES 10000u

static uint32_t read(const struct cadence_gem *gem, uint32_t at) { return mmio_read(gem->board->base + at); }
static void write(const struct cadence_gem *gem, uint32_t at, uint32_t value)
{
    mmio_write(gem->board->base + at, value);
}
static void clean(const struct cadence_gem *gem, const void *memory, uint32_t bytes)
{
    if (gem->board->clean)
        gem->board->clean(memory, bytes);
}
static void invalidate(const struct cadence_gem *gem, const void *memory, uint32_t bytes)
{
    if (gem->board->invalidate)
        gem->board->invalidate(memory, bytes);
}
// What was written before is there for the device before what is written after, and likewise for what is read.
static void order(void) { atomic_thread_fence(memory_order_seq_cst); }
static uint32_t bus(const volatile void *memory) { return (uint32_t)(uintptr_t)memory; }

static uint32_t phy_read(const struct cadence_gem *gem, uint32_t index)
{
    write(gem, PHYMNTNC, 1u << 30 | 2u << 28 | (uint32_t)gem->board->phy << 23 | index << 18 | 2u << 16);
    for (uint32_t i = 0; i < TRIES && !(read(gem, NWSR) & 4); i++)
        ;
    return read(gem, PHYMNTNC) & 0xffff;
}

// The device may fill it. The address word comes last: it hands the descriptor over.
static void give(struct cadence_gem *gem, uint32_t index)
{
    struct cadence_gem_descriptor *descriptor = &gem->board->rings->rx[index];
    descriptor->control = 0;
    order();
    descriptor->address = bus(gem->receive[index]) | (index == CADENCE_GEM_RX - 1 ? RX_WRAP : 0);
}

void cadence_gem_open(struct cadence_gem *gem, const struct cadence_gem_board *board)
{
    const uint8_t *const mac = board->mac;
    struct cadence_gem_rings *const rings = board->rings;
    memset(gem, 0, sizeof *gem);
    gem->board = board;
    // nothing is left there that the cache could write back over a frame
    invalidate(gem, gem->receive, sizeof gem->receive);
    write(gem, NWCTRL, 0);
    write(gem, IDR, INT_ALL);
    write(gem, ISR, INT_ALL);
    write(gem, TXSTATUS, 0xff);
    write(gem, RXSTATUS, 0x0f);
    write(gem, NWCFG, CFG_SPEED | CFG_FD | CFG_MCAST | CFG_RXOFFSET_2 | CFG_FCSREM | CFG_MDC_48 | CFG_RXSUM);
    write(gem, HASHLO, 0xffffffff);  // all multicast
    write(gem, HASHHI, 0xffffffff);
    write(gem, DMACFG, DMA_BURST_16 | DMA_RX_8K | DMA_TX_4K | DMA_TXSUM | (CADENCE_GEM_BUFFER_BYTES / 64) << 16);
    write(gem, ADDRLO, (uint32_t)mac[0] | (uint32_t)mac[1] << 8 | (uint32_t)mac[2] << 16 | (uint32_t)mac[3] << 24);
    write(gem, ADDRHI, (uint32_t)mac[4] | (uint32_t)mac[5] << 8);
    for (uint32_t i = 0; i < CADENCE_GEM_RX; i++)
        give(gem, i);
    for (uint32_t i = 0; i < CADENCE_GEM_TX; i++)
        rings->tx[i].control = TX_USED | (i == CADENCE_GEM_TX - 1 ? TX_WRAP : 0);
    order();
    write(gem, RXQBASE, bus(rings->rx));
    write(gem, TXQBASE, bus(rings->tx));
    write(gem, NWCTRL, CTRL_MDEN);
}

// --- in --------------------------------------------------------------------------------------------------------------

static bool take_frame(struct cadence_gem *gem, struct weir_netif *netif)
{
    const struct cadence_gem_descriptor *descriptor = &gem->board->rings->rx[gem->rx_next];
    if (!(descriptor->address & RX_OWNED))
        return false;
    order();
    const uint32_t control = descriptor->control, length = control & RX_LENGTH;
    if (length < ETHERNET_BYTES || length > CADENCE_GEM_FRAME_BYTES || (control & RX_SOF_EOF) != RX_SOF_EOF) {
        gem->rx_bad++;
        netif->stats.rx_dropped++;
    } else {
        invalidate(gem, gem->receive[gem->rx_next], RX_OFFSET + length);
        const struct weir_slice slice = {gem->receive[gem->rx_next] + RX_OFFSET, length};
        const struct weir_frame frame = {.slices = &slice,
                                         .length = length,
                                         .count = 1,
                                         .checksum = (control >> RX_SUM_SHIFT & 3) >= 2 ? WEIR_CHECKSUM_VERIFIED
                                                                                        : WEIR_CHECKSUM_NONE};
        weir_netif_deliver(netif, &frame);
    }
    give(gem, gem->rx_next);
    gem->rx_next = (gem->rx_next + 1) % CADENCE_GEM_RX;
    return true;
}

// The device sets the used bit in the first descriptor of a frame only; it must not find another one without when it
// comes round again.
static void take_back(struct cadence_gem *gem, uint32_t count)
{
    for (; count; count--) {
        gem->board->rings->tx[gem->tx_oldest].control |= TX_USED;
        gem->tx_oldest = (gem->tx_oldest + 1) % CADENCE_GEM_TX;
        gem->tx_used--;
    }
}

// Frames the device is done with, oldest first: their descriptors are free, and lent payload is given back.
static void reclaim(struct cadence_gem *gem, struct weir_netif *netif)
{
    while (gem->tx_used) {
        const struct cadence_gem_descriptor *first = &gem->board->rings->tx[gem->tx_oldest];
        const struct cadence_gem_sent *sent = &gem->sent[gem->tx_oldest];
        if (!(first->control & TX_USED))
            return;
        gem->tx_errors += (first->control & TX_ERRORS) != 0;
        take_back(gem, sent->descriptors);
        if (sent->owner)
            weir_netif_complete(netif, sent->owner, sent->hold_end);
    }
}

static bool room(const struct cadence_gem *gem) { return CADENCE_GEM_TX - gem->tx_used > WEIR_CFG_TX_SLICES; }

static int cadence_gem_poll(struct weir_netif *netif, int budget)
{
    struct cadence_gem *gem = netif->driver_data;
    int frames = 0;
    reclaim(gem, netif);
    if (gem->waiting && room(gem)) {
        gem->waiting = false;
        weir_netif_ready(netif);
    }
    while (frames < budget && take_frame(gem, netif))
        frames++;
    if (frames == budget)
        return frames;
    write(gem, IER, INT_WANTED);
    // What came between the last look and this told nobody.
    while (frames < budget && take_frame(gem, netif))
        frames++;
    return frames;
}

void cadence_gem_interrupt(struct cadence_gem *gem)
{
    const uint32_t seen = read(gem, ISR);
    write(gem, IDR, INT_ALL);
    write(gem, ISR, seen);
    gem->overruns += (seen & (INT_OVERRUN | INT_RXUSED)) != 0;
}

// --- out -------------------------------------------------------------------------------------------------------------

// Fills the next descriptor; the used bit stays for the first one of a frame, which is handed over last.
static void put(struct cadence_gem *gem, uint32_t *at, const uint8_t *bytes, uint32_t length, bool first, bool last)
{
    struct cadence_gem_descriptor *descriptor = &gem->board->rings->tx[*at];
    clean(gem, bytes, length);
    descriptor->address = bus(bytes);
    descriptor->control =
        length | (last ? TX_LAST : 0) | (first ? TX_USED : 0) | (*at == CADENCE_GEM_TX - 1 ? TX_WRAP : 0);
    *at = (*at + 1) % CADENCE_GEM_TX;
}

// The device makes the whole sum, and wants the field empty.
static void empty_sum(uint8_t *frame, const struct weir_tx *tx)
{
    if (tx->checksum_start)
        memset(frame + tx->checksum_start + tx->checksum_offset, 0, 2);
}

static void copy_all(struct cadence_gem *gem, const struct weir_tx *tx, uint32_t *at)
{
    uint8_t *const buffer = gem->transmit[*at];
    uint32_t length = 0;
    for (uint32_t i = 0; i < tx->count; length += tx->slices[i++].length)
        memcpy(buffer + length, tx->slices[i].data, tx->slices[i].length);
    empty_sum(buffer, tx);
    put(gem, at, buffer, length, true, true);
}

static void lend(struct cadence_gem *gem, const struct weir_tx *tx, uint32_t *at)
{
    uint8_t *const buffer = gem->transmit[*at];
    memcpy(buffer, tx->slices[0].data, tx->slices[0].length);
    empty_sum(buffer, tx);
    put(gem, at, buffer, tx->slices[0].length, true, false);
    for (uint32_t i = 1; i < tx->count; i++)
        put(gem, at, tx->slices[i].data, tx->slices[i].length, false, i + 1u == tx->count);
    gem->held++;
}

static enum weir_tx_verdict cadence_gem_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct cadence_gem *gem = netif->driver_data;
    const uint32_t first = gem->tx_next;
    const bool held = tx->holdable && tx->count > 1;
    uint32_t at = first;
    reclaim(gem, netif);
    if (!room(gem)) {
        gem->waiting = true;
        return WEIR_TX_FULL;
    }
    if (tx->length > CADENCE_GEM_BUFFER_BYTES) {
        netif->stats.tx_dropped++;
        return WEIR_TX_DONE;
    }
    if (held)
        lend(gem, tx, &at);
    else
        copy_all(gem, tx, &at);
    const uint32_t used = (at + CADENCE_GEM_TX - first) % CADENCE_GEM_TX;
    gem->sent[first] = (struct cadence_gem_sent){held ? tx->hold_owner : NULL, tx->hold_end, (uint16_t)used};
    gem->tx_next = at;
    gem->tx_used += used;
    order();
    gem->board->rings->tx[first].control &= ~TX_USED;
    order();
    return held ? WEIR_TX_HELD : WEIR_TX_DONE;
}

static void cadence_gem_flush(struct weir_netif *netif)
{
    struct cadence_gem *gem = netif->driver_data;
    write(gem, NWCTRL, read(gem, NWCTRL) | CTRL_STARTTX);
}

// The cable, looked at twice a second. The PHY latches a loss until it is read: the second reading tells how it is now.
static uint64_t cadence_gem_timer(struct weir_netif *netif, uint64_t now_us)
{
    struct cadence_gem *gem = netif->driver_data;
    if (now_us >= gem->look_us) {
        (void)phy_read(gem, PHY_STATUS);
        const bool link = phy_read(gem, PHY_STATUS) & PHY_LINK;
        if (link != gem->link)
            weir_netif_carrier(netif, link);
        gem->link = link;
        gem->look_us = now_us + LOOK_EVERY_US;
    }
    return gem->look_us;
}

static const struct weir_driver cadence_gem_driver = {.name = "cadence_gem",
                                                      .tx = cadence_gem_tx,
                                                      .flush = cadence_gem_flush,
                                                      .poll = cadence_gem_poll,
                                                      .timer = cadence_gem_timer};

void cadence_gem_attach(struct cadence_gem *gem, struct weir_netif *netif, const char *name)
{
    weir_netif_init(netif, name, &cadence_gem_driver, &weir_link_ethernet);
    netif->driver_data = gem;
    netif->capabilities |= WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST | WEIR_NETIF_TX_CHECKSUM;
    memcpy(netif->mac, gem->board->mac, 6);
    gem->link = true;  // as weir_netif_add takes it
    write(gem, NWCTRL, CTRL_MDEN | CTRL_RXEN | CTRL_TXEN);
    write(gem, IER, INT_WANTED);
}
