// SPDX-License-Identifier: BSD-2-Clause
#include "pcnet.h"

#include <stdatomic.h>
#include <stddef.h>
#include <string.h>

#include "mmio.h"

enum { APROM = 0x00, RDP = 0x10, RAP = 0x14, RESET = 0x18, BDP = 0x1c };  // "double word" layout
enum {
    CSR0 = 0,
    CSR1 = 1,
    CSR2 = 2,
    CSR3 = 3,
    CSR4 = 4,
    CSR112_MISSED = 112,
    BCR2 = 2,
    BCR4_LINK_LED = 4,
    BCR18 = 18,
    BCR20_STYLE = 20
};
enum {
    CSR0_INIT = 1 << 0,
    CSR0_STRT = 1 << 1,
    CSR0_STOP = 1 << 2,
    CSR0_TDMD = 1 << 3,
    CSR0_TXON = 1 << 4,
    CSR0_RXON = 1 << 5,
    CSR0_IENA = 1 << 6,
    CSR0_INTR = 1 << 7,
    CSR0_IDON = 1 << 8,
    CSR0_MISS = 1 << 12,
    CSR0_EVENTS = 0x7f00,  // BABL, CERR, MISS, MERR, RINT, TINT, IDON: a one that is written clears
};
enum {
    CSR3_DXSUFLO = 1 << 6,
    CSR3_IDONM = 1 << 8
};  // an underflow does not stop the transmitter; the end of the initialisation is polled
enum {
    CSR4_JABM = 1 << 0,
    CSR4_TXSTRTM = 1 << 2,
    CSR4_RCVCCOM = 1 << 4,
    CSR4_MFCOM = 1 << 8,
    CSR4_APAD_XMT = 1 << 11,
    CSR4_DMAPLUS = 1 << 14
};
enum { BCR2_ASEL = 1 << 1, BCR18_BURSTS = 3 << 5, BCR18_DWIO = 1 << 7, BCR4_ON = 1 << 15, STYLE_PCNET_PCI = 2 };
#define OWN (1u << 31)  // the device's
#define ERR (1u << 30)
#define RX_OFLO (1u << 28)
#define STP (1u << 25)
#define ENP (1u << 24)
#define ONES 0xf000u  // above a byte count in two's complement of 12 bits
#define COUNT 0xfffu
#define RX_OFFSET 2u  // so that IP headers are aligned: buffers may begin at any byte
#define ETHERNET_BYTES 14u
#define FCS_BYTES 4u
#define LOOK_EVERY_US 500000u
#define TRIES 100000u

// --- the bus: little-endian ------------------------------------------------------------------------------------------

#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
static uint32_t little(uint32_t value) { return __builtin_bswap32(value); }
#else
static uint32_t little(uint32_t value) { return value; }
#endif
static uint32_t read(const struct pcnet *pcnet, uint32_t at) { return little(mmio_read(pcnet->board->base + at)); }
static void write(const struct pcnet *pcnet, uint32_t at, uint32_t value)
{
    mmio_write(pcnet->board->base + at, little(value));
}
static void csr_write(const struct pcnet *pcnet, uint32_t index, uint32_t value)
{
    write(pcnet, RAP, index);
    write(pcnet, RDP, value);
}
static uint32_t csr_read(const struct pcnet *pcnet, uint32_t index)
{
    write(pcnet, RAP, index);
    return read(pcnet, RDP) & 0xffff;
}
static void bcr_write(const struct pcnet *pcnet, uint32_t index, uint32_t value)
{
    write(pcnet, RAP, index);
    write(pcnet, BDP, value);
}
static uint32_t bcr_read(const struct pcnet *pcnet, uint32_t index)
{
    write(pcnet, RAP, index);
    return read(pcnet, BDP) & 0xffff;
}

static uint32_t bus(const struct pcnet *pcnet, const volatile void *memory)
{
    return pcnet->board->bus_address ? pcnet->board->bus_address(memory) : (uint32_t)(uintptr_t)memory;
}
static void clean(const struct pcnet *pcnet, const void *memory, uint32_t bytes)
{
    if (pcnet->board->clean)
        pcnet->board->clean(memory, bytes);
}
static void invalidate(const struct pcnet *pcnet, const void *memory, uint32_t bytes)
{
    if (pcnet->board->invalidate)
        pcnet->board->invalidate(memory, bytes);
}
// What was written before is there for the device before what is written after, and likewise for what is read.
static void order(void) { atomic_thread_fence(memory_order_seq_cst); }

// --- start -----------------------------------------------------------------------------------------------------------

// The device may fill it. The word with OWN comes last.
static void give(struct pcnet *pcnet, uint32_t index)
{
    struct pcnet_descriptor *descriptor = &pcnet->board->shared->rx[index];
    descriptor->address = little(bus(pcnet, pcnet->receive[index] + RX_OFFSET));
    descriptor->length = 0;
    order();
    descriptor->status = little(OWN | ONES | (-(PCNET_BUFFER_BYTES - RX_OFFSET) & COUNT));
}

// From here on the CPU never writes to the receive buffers: no line of theirs may be left that its cache could write
// back over a frame.
static void empty_rings(struct pcnet *pcnet)
{
    invalidate(pcnet, pcnet->receive, sizeof pcnet->receive);
    for (uint32_t i = 0; i < PCNET_RX; i++)
        give(pcnet, i);
    for (uint32_t i = 0; i < PCNET_TX; i++)
        pcnet->board->shared->tx[i].status = 0;
    pcnet->rx_next = pcnet->tx_next = pcnet->tx_oldest = pcnet->tx_used = 0;
}

void pcnet_open(struct pcnet *pcnet, const struct pcnet_board *board)
{
    static const uint8_t none[6];
    memset(pcnet, 0, sizeof *pcnet);
    pcnet->board = board;
    write(pcnet, RDP, 0);  // a double word written here changes the layout of the registers from words
    (void)read(pcnet, RESET);
    write(pcnet, RDP, 0);  // where the reset changed it back
    csr_write(pcnet, CSR0, CSR0_STOP);
    if (memcmp(board->mac, none, 6) != 0) {
        memcpy(pcnet->mac, board->mac, 6);
    } else {
        for (uint32_t i = 0; i < 6; i++)
            pcnet->mac[i] = (uint8_t)(read(pcnet, APROM + i / 4 * 4) >> i % 4 * 8);
    }
    bcr_write(pcnet, BCR20_STYLE, STYLE_PCNET_PCI);
    bcr_write(pcnet, BCR2, bcr_read(pcnet, BCR2) | BCR2_ASEL);
    bcr_write(pcnet, BCR18, bcr_read(pcnet, BCR18) | BCR18_BURSTS | BCR18_DWIO);
}

// The rings are empty; the device reads the block, in which it finds them, and begins.
static void begin(struct pcnet *pcnet)
{
    struct pcnet_shared *const shared = pcnet->board->shared;
    const uint8_t *const mac = pcnet->mac;
    empty_rings(pcnet);
    shared->init[0] = little(PCNET_TX_LOG2 << 28 | PCNET_RX_LOG2 << 20);
    shared->init[1] =
        little((uint32_t)mac[0] | (uint32_t)mac[1] << 8 | (uint32_t)mac[2] << 16 | (uint32_t)mac[3] << 24);
    shared->init[2] = little((uint32_t)mac[4] | (uint32_t)mac[5] << 8);
    shared->init[3] = shared->init[4] = 0xffffffff;  // all multicast
    shared->init[5] = little(bus(pcnet, shared->rx));
    shared->init[6] = little(bus(pcnet, shared->tx));
    order();
    csr_write(pcnet, CSR1, bus(pcnet, shared->init) & 0xffff);
    csr_write(pcnet, CSR2, bus(pcnet, shared->init) >> 16);
    csr_write(pcnet, CSR3, CSR3_DXSUFLO | CSR3_IDONM);
    csr_write(pcnet, CSR4, CSR4_DMAPLUS | CSR4_APAD_XMT | CSR4_MFCOM | CSR4_RCVCCOM | CSR4_TXSTRTM | CSR4_JABM);
    csr_write(pcnet, CSR0, CSR0_INIT);
    for (uint32_t i = 0; i < TRIES && !(csr_read(pcnet, CSR0) & CSR0_IDON); i++)
        ;
    csr_write(pcnet, CSR0, CSR0_IDON | CSR0_STRT);
}

static void give_back(struct pcnet *pcnet, struct weir_netif *netif)
{
    const struct pcnet_sent sent = pcnet->sent[pcnet->tx_oldest];
    pcnet->tx_oldest = (pcnet->tx_oldest + sent.descriptors) % PCNET_TX;
    pcnet->tx_used -= sent.descriptors;
    if (sent.owner)
        weir_netif_complete(netif, sent.owner, sent.hold_end);
}

// A receiver or transmitter that an error turned off comes back only with a new initialisation. What was in the rings
// is lost, and what was lent is given back: a stopped device reads no more.
static void restart(struct pcnet *pcnet, struct weir_netif *netif)
{
    csr_write(pcnet, CSR0, CSR0_STOP);
    while (pcnet->tx_used)
        give_back(pcnet, netif);
    begin(pcnet);
    pcnet->counters.restarts++;
}

// --- in --------------------------------------------------------------------------------------------------------------

static void hand_up(struct pcnet *pcnet, struct weir_netif *netif, uint32_t length)
{
    const uint8_t *const bytes = pcnet->receive[pcnet->rx_next] + RX_OFFSET;
    invalidate(pcnet, pcnet->receive[pcnet->rx_next], RX_OFFSET + length + FCS_BYTES);
    const struct weir_slice slice = {bytes, length};
    const struct weir_frame frame = {.slices = &slice, .length = length, .count = 1};
    weir_netif_deliver(netif, &frame);
}

static bool take_frame(struct pcnet *pcnet, struct weir_netif *netif)
{
    const struct pcnet_descriptor *descriptor = &pcnet->board->shared->rx[pcnet->rx_next];
    const uint32_t status = little(descriptor->status);
    if (status & OWN)
        return false;
    order();
    // Beyond the end of a frame the rest of the word says nothing of it.
    const uint32_t counted = little(descriptor->length) & COUNT, length = counted - FCS_BYTES;
    if ((status & (STP | ENP | ERR)) == (STP | ENP) && counted >= ETHERNET_BYTES + FCS_BYTES &&
        length <= PCNET_FRAME_BYTES) {
        hand_up(pcnet, netif, length);
    } else if (status & (ENP | ERR)) {  // of what fills several buffers the last one is counted
        pcnet->counters.overruns += (status & (ERR | RX_OFLO | ENP)) == (ERR | RX_OFLO);
        pcnet->counters.rx_bad += (status & (ERR | RX_OFLO | ENP)) != (ERR | RX_OFLO);
        netif->stats.rx_dropped++;
    }
    give(pcnet, pcnet->rx_next);
    pcnet->rx_next = (pcnet->rx_next + 1) % PCNET_RX;
    return true;
}

// --- out -------------------------------------------------------------------------------------------------------------

// Frames the device is done with, oldest first: their descriptors are free, and lent payload is given back. The device
// takes the descriptors of a frame in order, so the last one tells.
static void reclaim(struct pcnet *pcnet, struct weir_netif *netif)
{
    while (pcnet->tx_used) {
        const uint32_t count = pcnet->sent[pcnet->tx_oldest].descriptors;
        bool error = false;
        if (little(pcnet->board->shared->tx[(pcnet->tx_oldest + count - 1) % PCNET_TX].status) & OWN)
            return;
        order();
        for (uint32_t i = 0; i < count; i++)
            error |= (little(pcnet->board->shared->tx[(pcnet->tx_oldest + i) % PCNET_TX].status) & ERR) != 0;
        pcnet->counters.tx_errors += error;
        give_back(pcnet, netif);
    }
}

static bool room(const struct pcnet *pcnet) { return PCNET_TX - pcnet->tx_used > WEIR_CFG_TX_SLICES; }

// The frame is the device's when its first descriptor is, which comes last: it must not come to a part that is not its
// own yet.
static void put(struct pcnet *pcnet, uint32_t at, const uint8_t *bytes, uint32_t length, uint32_t flags)
{
    struct pcnet_descriptor *descriptor = &pcnet->board->shared->tx[at % PCNET_TX];
    clean(pcnet, bytes, length);
    descriptor->address = little(bus(pcnet, bytes));
    descriptor->length = 0;
    descriptor->status = little((flags & STP ? 0 : OWN) | flags | ONES | (-length & COUNT));
}

static uint32_t copy_all(struct pcnet *pcnet, const struct weir_tx *tx)
{
    uint8_t *const buffer = pcnet->transmit[pcnet->tx_next];
    uint32_t length = 0;
    for (uint32_t i = 0; i < tx->count; length += tx->slices[i++].length)
        memcpy(buffer + length, tx->slices[i].data, tx->slices[i].length);
    put(pcnet, pcnet->tx_next, buffer, length, STP | ENP);
    return 1;
}

static uint32_t lend(struct pcnet *pcnet, const struct weir_tx *tx)
{
    uint8_t *const buffer = pcnet->transmit[pcnet->tx_next];
    memcpy(buffer, tx->slices[0].data, tx->slices[0].length);
    put(pcnet, pcnet->tx_next, buffer, tx->slices[0].length, STP);
    for (uint32_t i = 1; i < tx->count; i++)
        put(pcnet, pcnet->tx_next + i, tx->slices[i].data, tx->slices[i].length, i + 1u == tx->count ? ENP : 0);
    pcnet->counters.held++;
    return tx->count;
}

static enum weir_tx_verdict pcnet_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct pcnet *pcnet = netif->driver_data;
    const uint32_t first = pcnet->tx_next;
    const bool held = tx->holdable && tx->count > 1;
    reclaim(pcnet, netif);
    if (!room(pcnet)) {
        pcnet->waiting = true;
        return WEIR_TX_FULL;
    }
    if (tx->length > PCNET_FRAME_BYTES) {
        netif->stats.tx_dropped++;
        return WEIR_TX_DONE;
    }
    const uint32_t used = held ? lend(pcnet, tx) : copy_all(pcnet, tx);
    pcnet->sent[first] = (struct pcnet_sent){held ? tx->hold_owner : NULL, tx->hold_end, (uint16_t)used};
    pcnet->tx_next = (first + used) % PCNET_TX;
    pcnet->tx_used += used;
    order();
    pcnet->board->shared->tx[first].status |= little(OWN);
    return held ? WEIR_TX_HELD : WEIR_TX_DONE;
}

// The device looks by itself only every 1.6 ms. IENA is written with every write: it stays as it is.
static void pcnet_flush(struct weir_netif *netif)
{
    struct pcnet *pcnet = netif->driver_data;
    order();
    csr_write(pcnet, CSR0, CSR0_TDMD | (csr_read(pcnet, CSR0) & CSR0_IENA));
}

// --- events ----------------------------------------------------------------------------------------------------------

// What happened is cleared before the rings are looked at: what happens from then on raises the interrupt when that is
// enabled again.
static void acknowledge(struct pcnet *pcnet, struct weir_netif *netif)
{
    const uint32_t seen = csr_read(pcnet, CSR0);
    csr_write(pcnet, CSR0, seen & CSR0_EVENTS);
    if (seen & CSR0_MISS) {
        const uint16_t missed = (uint16_t)csr_read(pcnet, CSR112_MISSED);
        pcnet->counters.missed += (uint16_t)(missed - pcnet->missed_before);
        netif->stats.rx_dropped += (uint16_t)(missed - pcnet->missed_before);
        pcnet->missed_before = missed;
    }
    pcnet->stopped = (seen & (CSR0_TXON | CSR0_RXON)) != (CSR0_TXON | CSR0_RXON);
}

static int pcnet_poll(struct weir_netif *netif, int budget)
{
    struct pcnet *pcnet = netif->driver_data;
    int frames = 0;
    acknowledge(pcnet, netif);
    reclaim(pcnet, netif);
    while (frames < budget && take_frame(pcnet, netif))
        frames++;
    if (pcnet->stopped && frames < budget)
        restart(pcnet, netif);
    if (pcnet->waiting && room(pcnet)) {
        pcnet->waiting = false;
        weir_netif_ready(netif);
    }
    if (frames < budget)
        csr_write(pcnet, CSR0, CSR0_IENA);
    return frames;
}

bool pcnet_interrupt(struct pcnet *pcnet)
{
    // The register that the loop's own access has chosen is chosen again.
    const uint32_t chosen = read(pcnet, RAP);
    const bool ours = (csr_read(pcnet, CSR0) & (CSR0_INTR | CSR0_IENA)) == (CSR0_INTR | CSR0_IENA);
    if (ours)
        write(pcnet, RDP, 0);  // IENA
    write(pcnet, RAP, chosen);
    return ours;
}

// The cable, looked at twice a second: the first lamp shows the link.
static uint64_t pcnet_timer(struct weir_netif *netif, uint64_t now_us)
{
    struct pcnet *pcnet = netif->driver_data;
    if (now_us >= pcnet->look_us) {
        const bool link = bcr_read(pcnet, BCR4_LINK_LED) & BCR4_ON;
        if (link != pcnet->link)
            weir_netif_carrier(netif, link);
        pcnet->link = link;
        pcnet->look_us = now_us + LOOK_EVERY_US;
    }
    return pcnet->look_us;
}

static const struct weir_driver pcnet_driver = {
    .name = "pcnet", .tx = pcnet_tx, .flush = pcnet_flush, .poll = pcnet_poll, .timer = pcnet_timer};

void pcnet_attach(struct pcnet *pcnet, struct weir_netif *netif, const char *name)
{
    weir_netif_init(netif, name, &pcnet_driver, &weir_link_ethernet);
    netif->driver_data = pcnet;
    netif->capabilities |= WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST;
    memcpy(netif->mac, pcnet->mac, 6);
    pcnet->link = true;  // as weir_netif_add takes it
    begin(pcnet);
    csr_write(pcnet, CSR0, CSR0_IENA);
}
