// SPDX-License-Identifier: BSD-2-Clause
#include "ne2k.h"

#include <stddef.h>
#include <string.h>

#include "port_io.h"
#include "weir/error.h"
#include "weir/port.h"

enum {  // DP8390D, page 0 but where it says
    CR = 0x00,
    PSTART = 0x01,
    PSTOP = 0x02,
    BNRY = 0x03,
    TSR = 0x04,   // read
    TPSR = 0x04,  // written
    TBCR = 0x05,
    ISR = 0x07,
    RSAR = 0x08,
    RBCR = 0x0a,
    RCR = 0x0c,
    TCR = 0x0d,
    DCR = 0x0e,
    IMR = 0x0f,
    PAR = 0x01,   // page 1
    CURR = 0x07,  // page 1
    MAR = 0x08,   // page 1
    DATA = 0x10,
    RESET = 0x1f,
};
enum {
    CR_STOP = 0x21,
    CR_START = 0x22,
    CR_SEND = 0x26,
    CR_READ = 0x0a,
    CR_WRITE = 0x12,
    CR_PAGE_1 = 0x62,
    CR_PAGE_1_STOP = 0x61,
    CR_TXP = 4
};
enum {
    INT_RX = 0x01,
    INT_TX = 0x02,
    INT_RX_ERROR = 0x04,
    INT_TX_ERROR = 0x08,
    INT_OVERFLOW = 0x10,
    INT_COUNTERS = 0x20,
    INT_DMA = 0x40,
    INT_RESET = 0x80
};
#define WANTED (INT_RX | INT_TX | INT_RX_ERROR | INT_TX_ERROR | INT_OVERFLOW)
#define DCR_WORDS 0x49u  // 16 bits, no loopback, eight bytes of FIFO
#define RCR_BROADCAST_MULTICAST 0x0cu
#define RCR_MONITOR 0x20u
#define TCR_LOOPBACK 0x02u
#define RSR_GOOD 0x01u
#define TSR_GOOD 0x01u
// The card's memory, in pages of 256 bytes: two transmit buffers, the rest is the receive ring.
#define PAGE_BYTES 256u
#define TX_PAGE(buffer) (uint8_t)(0x40u + 6u * (buffer))
#define RX_FIRST 0x4cu
#define RX_END 0x80u
#define HEADER_BYTES 4u
#define FCS_BYTES 4u  // counted, and stored
#define LEAST_BYTES 60u
#define ETHERNET_BYTES 14u
#define TRIES 10000u
#define OVERFLOW_WAIT_US 1600u  // the longest frame may still be leaving
#define SEND_TIMEOUT_US 100000u
#define PASSES 64u  // frames a call of ne2k_work takes in: more than the ring holds

static uint8_t get(const struct ne2k *card, uint32_t at) { return port_read8((uint16_t)(card->board->port + at)); }
static void put(const struct ne2k *card, uint32_t at, uint32_t value)
{
    port_write8((uint16_t)(card->board->port + at), (uint8_t)value);
}

// --- queues ----------------------------------------------------------------------------------------------------------

static uint32_t queued(const struct ne2k_queue *queue) { return atomic_load(&queue->in) - atomic_load(&queue->out); }
static struct ne2k_frame *to_fill(struct ne2k_queue *queue)
{
    return queued(queue) < NE2K_QUEUE ? &queue->frames[atomic_load(&queue->in) % NE2K_QUEUE] : NULL;
}
static struct ne2k_frame *to_take(struct ne2k_queue *queue)
{
    return queued(queue) ? &queue->frames[atomic_load(&queue->out) % NE2K_QUEUE] : NULL;
}
static void filled(struct ne2k_queue *queue) { (void)atomic_fetch_add(&queue->in, 1); }
static void taken(struct ne2k_queue *queue) { (void)atomic_fetch_add(&queue->out, 1); }

// --- the card's memory -----------------------------------------------------------------------------------------------

static void aim(const struct ne2k *card, uint32_t address, uint32_t bytes, uint32_t command)
{
    put(card, CR, CR_START);
    put(card, ISR, INT_DMA);
    put(card, RBCR, bytes & 0xff);
    put(card, RBCR + 1, bytes >> 8);
    put(card, RSAR, address & 0xff);
    put(card, RSAR + 1, address >> 8);
    put(card, CR, command);
}

static uint16_t data_port(const struct ne2k *card) { return (uint16_t)(card->board->port + DATA); }
static uint32_t wide_bytes(const struct ne2k *card, uint32_t bytes) { return card->board->wide ? bytes & ~3u : 0; }

// `bytes` is even.
static void read_memory(const struct ne2k *card, uint32_t address, uint8_t *to, uint32_t bytes)
{
    const uint16_t port = data_port(card);
    const uint32_t wide = wide_bytes(card, bytes);
    uint32_t i = 0;
    aim(card, address, bytes, CR_READ);
    for (; i < wide; i += 4) {
        const uint32_t two = port_read32(port);
        memcpy(to + i, &two, sizeof two);  // the bus is of the processor's byte order
    }
    for (; i < bytes; i += 2) {
        const uint16_t word = port_read16(port);
        to[i] = (uint8_t)word;
        to[i + 1] = (uint8_t)(word >> 8);
    }
}

static void write_memory(const struct ne2k *card, uint32_t address, const uint8_t *from, uint32_t bytes)
{
    const uint16_t port = data_port(card);
    const uint32_t wide = wide_bytes(card, bytes);
    uint32_t i = 0;
    aim(card, address, bytes, CR_WRITE);
    for (; i < wide; i += 4) {
        uint32_t two;
        memcpy(&two, from + i, sizeof two);
        port_write32(port, two);
    }
    for (; i < bytes; i += 2)
        port_write16(port, (uint16_t)(from[i] | from[i + 1] << 8));
    for (i = 0; i < TRIES && !(get(card, ISR) & INT_DMA); i++)
        ;
}

// A frame may go round the end of the ring; the card does not, when it is read.
static void read_ring(const struct ne2k *card, uint32_t address, uint8_t *to, uint32_t bytes)
{
    const uint32_t end = RX_END * PAGE_BYTES, first = address + bytes > end ? end - address : bytes;
    read_memory(card, address, to, first);
    if (first < bytes)
        read_memory(card, RX_FIRST * PAGE_BYTES, to + first, bytes - first);
}

// --- the card into use -----------------------------------------------------------------------------------------------

static bool reset(struct ne2k *card)
{
    put(card, RESET, get(card, RESET));
    for (uint32_t i = 0; i < TRIES; i++)
        if (get(card, ISR) & INT_RESET)
            return true;
    return false;
}

// DP8390D, "Initialization Procedure"; the ring is empty then, and nothing is being sent.
static void set_up(struct ne2k *card)
{
    put(card, CR, CR_STOP);
    put(card, DCR, DCR_WORDS);
    put(card, RBCR, 0);
    put(card, RBCR + 1, 0);
    put(card, RCR, RCR_MONITOR);
    put(card, TCR, TCR_LOOPBACK);
    put(card, PSTART, RX_FIRST);
    put(card, PSTOP, RX_END);
    put(card, BNRY, RX_FIRST);
    put(card, ISR, 0xff);
    put(card, IMR, 0);
    put(card, CR, CR_PAGE_1_STOP);
    for (uint32_t i = 0; i < 6; i++)
        put(card, PAR + i, card->mac[i]);
    for (uint32_t i = 0; i < 8; i++)
        put(card, MAR + i, 0xff);  // all multicast
    put(card, CURR, RX_FIRST + 1);
    put(card, CR, CR_STOP);
    card->next_page = RX_FIRST + 1;
    card->at_card = 0;
    card->overflowed = false;
    card->due_us = WEIR_NEVER;
}

static void go(const struct ne2k *card)
{
    put(card, CR, CR_START);
    put(card, TCR, 0);
    put(card, RCR, RCR_BROADCAST_MULTICAST);
    put(card, IMR, WANTED);
}

int ne2k_open(struct ne2k *card, const struct ne2k_board *board)
{
    uint8_t prom[32];
    memset(card, 0, sizeof *card);
    card->board = board;
    if (get(card, CR) == 0xff || !reset(card))
        return WEIR_NOT_SUPPORTED;
    set_up(card);
    read_memory(card, 0, prom, sizeof prom);
    // Each byte stands twice, since the memory is 16 bits wide; 57h behind them tells that it is such a card.
    if (prom[28] != 0x57 || prom[30] != 0x57)
        return WEIR_NOT_SUPPORTED;
    for (uint32_t i = 0; i < 6; i++)
        card->mac[i] = prom[2 * i];
    card->mac[0] &= 0xfe;
    set_up(card);
    return WEIR_OK;
}

// --- the thread's side: in -------------------------------------------------------------------------------------------

static uint8_t current_page(const struct ne2k *card)
{
    put(card, CR, CR_PAGE_1);
    const uint8_t page = get(card, CURR);
    put(card, CR, CR_START);
    return page;
}

// What the ring says of itself cannot be true: all of it is forgotten, and the card begins anew.
static void begin_anew(struct ne2k *card)
{
    card->resets++;
    set_up(card);
    go(card);
}

// Whether the next frame can begin at page `next`. The FCS is counted by all and stored by some: of two neighbouring
// pages either may be it.
static bool plausible(uint32_t page, uint32_t next, uint32_t stored)
{
    const uint32_t pages = RX_END - RX_FIRST, least = (stored - FCS_BYTES + HEADER_BYTES + PAGE_BYTES - 1) / PAGE_BYTES;
    return next >= RX_FIRST && next < RX_END && (next + pages - page) % pages - least <= 1;
}

// Takes one frame out of the ring into the queue. false: there is none, or no room for it.
static bool take_frame(struct ne2k *card)
{
    const uint8_t current = current_page(card);
    if (current == card->next_page)
        return false;
    struct ne2k_frame *const to = to_fill(&card->received);
    if (!to) {
        atomic_store(&card->starved, true);
        // The other side may have made room, and looked for this, in between.
        if (queued(&card->received) == NE2K_QUEUE)
            return false;
        atomic_store(&card->starved, false);
        return true;
    }
    uint8_t header[HEADER_BYTES];
    read_memory(card, card->next_page * PAGE_BYTES, header, HEADER_BYTES);
    const uint32_t stored = header[2] | (uint32_t)header[3] << 8, length = stored - FCS_BYTES;
    if (current < RX_FIRST || current >= RX_END || stored < FCS_BYTES + ETHERNET_BYTES ||
        stored > FCS_BYTES + NE2K_FRAME_BYTES || !plausible(card->next_page, header[1], stored)) {
        card->rx_bad++;
        begin_anew(card);
        return false;
    }
    if (header[0] & RSR_GOOD) {
        read_ring(card, card->next_page * PAGE_BYTES + HEADER_BYTES, to->bytes + 2, (length + 1) & ~1u);
        to->length = (uint16_t)length;
        filled(&card->received);
    } else {
        card->rx_bad++;
    }
    card->next_page = header[1];
    put(card, BNRY, card->next_page == RX_FIRST ? RX_END - 1 : card->next_page - 1u);
    return true;
}

// --- the thread's side: out ------------------------------------------------------------------------------------------

static void launch(struct ne2k *card, uint64_t now_us)
{
    put(card, TPSR, TX_PAGE(card->first));
    put(card, TBCR, card->lengths[card->first] & 0xff);
    put(card, TBCR + 1, card->lengths[card->first] >> 8);
    put(card, CR, CR_SEND);
    card->due_us = now_us + SEND_TIMEOUT_US;
}

// Fills the card's buffers: one leaves while the other is filled.
static bool fill(struct ne2k *card, uint64_t now_us)
{
    struct ne2k_frame *from;
    bool some = false;
    while (card->at_card < 2 && (from = to_take(&card->sending))) {
        const uint8_t buffer = (uint8_t)((card->first + card->at_card) % 2);
        write_memory(card, TX_PAGE(buffer) * PAGE_BYTES, from->bytes, (from->length + 1u) & ~1u);
        card->lengths[buffer] = from->length;
        taken(&card->sending);
        some = true;
        if (card->at_card++ == 0)
            launch(card, now_us);
    }
    return some;
}

static void sent(struct ne2k *card, uint64_t now_us)
{
    if (!card->at_card)
        return;
    card->tx_errors += !(get(card, TSR) & TSR_GOOD);
    card->first ^= 1;
    card->due_us = WEIR_NEVER;
    if (--card->at_card)
        launch(card, now_us);
}

// --- the thread's side: overflow -------------------------------------------------------------------------------------

// DP8390D, "Buffer Ring Overflow": the card must be stopped, and have time to finish a frame that is leaving, before it
// is started again.
static void overflow_begins(struct ne2k *card, uint64_t now_us)
{
    card->was_sending = get(card, CR) & CR_TXP;
    put(card, CR, CR_STOP);
    card->overflowed = true;
    card->overruns++;
    card->due_us = now_us + OVERFLOW_WAIT_US;
}

// A frame that had not left when the card was stopped is sent again.
static void overflow_ends(struct ne2k *card, uint64_t now_us)
{
    const uint8_t seen = get(card, ISR);
    const bool again = card->was_sending && !(seen & (INT_TX | INT_TX_ERROR));
    put(card, RBCR, 0);
    put(card, RBCR + 1, 0);
    put(card, TCR, TCR_LOOPBACK);
    put(card, CR, CR_START);
    card->overflowed = false;
    card->due_us = WEIR_NEVER;
    for (uint32_t i = 0; i < PASSES && take_frame(card); i++)
        ;
    put(card, ISR, INT_OVERFLOW);
    put(card, TCR, 0);
    if (again && card->at_card)
        launch(card, now_us);
}

// --- the thread's side: turns ----------------------------------------------------------------------------------------

static void handle(struct ne2k *card, uint8_t seen, uint64_t now_us)
{
    put(card, ISR, seen & (uint8_t) ~(INT_OVERFLOW | INT_DMA));
    card->rx_bad += (seen & INT_RX_ERROR) != 0;
    if (seen & (INT_TX | INT_TX_ERROR))
        sent(card, now_us);
    if (seen & INT_OVERFLOW)
        overflow_begins(card, now_us);
}

uint64_t ne2k_work(struct ne2k *card, uint64_t now_us)
{
    const uint32_t before = atomic_load(&card->received.in);
    bool room = false;
    if (card->overflowed && now_us >= card->due_us)
        overflow_ends(card, now_us);
    else if (!card->overflowed && now_us >= card->due_us)
        begin_anew(card);  // the transmitter does not end
    for (uint32_t i = 0; i < PASSES && !card->overflowed; i++) {
        const uint8_t seen = get(card, ISR) & WANTED;
        if (seen)
            handle(card, seen, now_us);
        if (card->overflowed)
            break;
        const bool some = take_frame(card), more = fill(card, now_us);
        room |= more;
        if (!some && !more && !(get(card, ISR) & WANTED))
            break;
    }
    // With nowhere to put frames it stays masked, until the other side has taken some.
    if (!card->overflowed && !atomic_load(&card->starved))
        put(card, IMR, WANTED);
    if (card->board->news && (atomic_load(&card->received.in) != before || (room && atomic_load(&card->waiting))))
        card->board->news(card->board->context);
    return card->due_us;
}

void ne2k_interrupt(struct ne2k *card) { put(card, IMR, 0); }

// --- the interface's side --------------------------------------------------------------------------------------------

// To the thread, or done here.
static void work(struct ne2k *card, uint64_t now_us)
{
    if (card->board->kick)
        card->board->kick(card->board->context);
    else
        (void)ne2k_work(card, now_us);
}

static int ne2k_poll(struct weir_netif *netif, int budget)
{
    struct ne2k *card = netif->driver_data;
    struct ne2k_frame *frame;
    int frames = 0;
    if (!card->board->kick)
        (void)ne2k_work(card, weir_now_us(netif->weir));
    for (; frames < budget && (frame = to_take(&card->received)); frames++) {
        const struct weir_slice slice = {frame->bytes + 2, frame->length};
        const struct weir_frame in = {
            .slices = &slice, .length = frame->length, .count = 1, .checksum = WEIR_CHECKSUM_NONE};
        weir_netif_deliver(netif, &in);
        taken(&card->received);
    }
    if (atomic_load(&card->waiting) && queued(&card->sending) < NE2K_QUEUE) {
        atomic_store(&card->waiting, false);
        weir_netif_ready(netif);
    }
    if (frames && atomic_exchange(&card->starved, false))
        work(card, weir_now_us(netif->weir));
    return frames;
}

static enum weir_tx_verdict ne2k_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct ne2k *card = netif->driver_data;
    uint32_t length = 0;
    if (tx->length > NE2K_FRAME_BYTES) {
        netif->stats.tx_dropped++;
        return WEIR_TX_DONE;
    }
    struct ne2k_frame *frame = to_fill(&card->sending);
    if (!frame) {
        atomic_store(&card->waiting, true);
        return WEIR_TX_FULL;
    }
    for (uint32_t i = 0; i < tx->count; length += tx->slices[i++].length)
        memcpy(frame->bytes + length, tx->slices[i].data, tx->slices[i].length);
    for (; length < LEAST_BYTES; length++)
        frame->bytes[length] = 0;
    frame->length = (uint16_t)length;
    filled(&card->sending);
    return WEIR_TX_DONE;
}

static void ne2k_flush(struct weir_netif *netif) { work(netif->driver_data, weir_now_us(netif->weir)); }

// Without a thread the card's deadlines are kept here.
static uint64_t ne2k_timer(struct weir_netif *netif, uint64_t now_us)
{
    struct ne2k *card = netif->driver_data;
    if (card->board->kick)
        return WEIR_NEVER;
    return now_us >= card->due_us ? ne2k_work(card, now_us) : card->due_us;
}

static const struct weir_driver ne2k_driver = {
    .name = "ne2k", .tx = ne2k_tx, .flush = ne2k_flush, .poll = ne2k_poll, .timer = ne2k_timer};

void ne2k_attach(struct ne2k *card, struct weir_netif *netif, const char *name)
{
    weir_netif_init(netif, name, &ne2k_driver, &weir_link_ethernet);
    netif->driver_data = card;
    netif->capabilities |= WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST;
    memcpy(netif->mac, card->mac, 6);
    go(card);
}
