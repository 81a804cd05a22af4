// SPDX-License-Identifier: BSD-2-Clause
#include "at91_emac.h"

#include <string.h>

#include "mmio.h"

enum {
    CTL = 0x00,
    CFG = 0x04,
    SR = 0x08,
    TAR = 0x0c,   // address of the frame to send
    TCR = 0x10,   // its length; writing it starts
    TSR = 0x14,   // bits are cleared by writing them
    RBQP = 0x18,  // the receive ring
    RSR = 0x20,
    ISR = 0x24,  // reading clears it
    IER = 0x28,
    IDR = 0x2c,
    MAN = 0x34,  // the PHY's management bus: a frame is written, shifted out, and read back with what the PHY said
    HSH = 0x90,  // which multicast addresses are received, by hash
    HSL = 0x94,
    SA1L = 0x98,
    SA1H = 0x9c,
};
enum { CTL_RE = 4, CTL_TE = 8, CTL_MPE = 16, CTL_CSR = 32 };
enum { CFG_SPD = 1, CFG_FD = 2, CFG_MTI = 64, CFG_BIG = 256, CFG_CLK_32 = 2 << 10, CFG_RMII = 1 << 13 };
enum { SR_IDLE = 4 };
enum { MAN_WRITE = 0x50020000, MAN_READ = 0x60020000, MAN_PHY_SHIFT = 23, MAN_REGISTER_SHIFT = 18 };
enum { TSR_RLE = 4, TSR_COMP = 32, TSR_UND = 64, TSR_ALL = 0x7f };
enum { RSR_BNA = 1, RSR_OVR = 4, RSR_ALL = 7 };
enum {
    INT_RCOM = 1 << 1,
    INT_RBNA = 1 << 2,
    INT_TUND = 1 << 4,
    INT_RTRY = 1 << 5,
    INT_TCOM = 1 << 7,
    INT_ROVR = 1 << 10,
    INT_ALL = 0xfff
};
enum { OWNED = 1, WRAP = 2, LENGTH = 0x7ff };

#define INT_RX (INT_RCOM | INT_RBNA | INT_ROVR)
#define INT_TX (INT_TCOM | INT_TUND | INT_RTRY)
#define ETHERNET_BYTES 14u
#define ETHERNET_LEAST 60u  // of a frame, without FCS
#define FCS_BYTES 4u
#define TURNS 64u  // of a poll
#define LOOK_EVERY_US 500000u
// Looks at whether a frame of the management bus is out: 64 bits of 32 of the master clock's cycles each, and a look
// takes some of these.
#define TRIES 4096u

static uint32_t read(const struct at91_emac *emac, uint32_t at) { return mmio_read(emac->board->base + at); }
static void write(const struct at91_emac *emac, uint32_t at, uint32_t value)
{
    mmio_write(emac->board->base + at, value);
}

static uint32_t device_address(const struct at91_emac *emac, const void *memory)
{
    return emac->board->device_address ? emac->board->device_address(memory) : (uint32_t)(uintptr_t)memory;
}
static void clean(const struct at91_emac *emac, const void *memory, uint32_t bytes)
{
    if (emac->board->clean)
        emac->board->clean(memory, bytes);
}
static void invalidate(const struct at91_emac *emac, const void *memory, uint32_t bytes)
{
    if (emac->board->invalidate)
        emac->board->invalidate(memory, bytes);
}

// --- the PHY ---------------------------------------------------------------------------------------------------------

static uint16_t manage(struct at91_emac *emac, uint32_t frame)
{
    write(emac, MAN, frame);
    for (uint32_t i = 0; i < TRIES; i++)
        if (read(emac, SR) & SR_IDLE)
            return (uint16_t)read(emac, MAN);
    return 0xffff;
}
static uint16_t phy_read(void *mac, uint32_t phy, uint32_t index)
{
    return manage(mac, MAN_READ | phy << MAN_PHY_SHIFT | index << MAN_REGISTER_SHIFT);
}
static void phy_write(void *mac, uint32_t phy, uint32_t index, uint16_t value)
{
    (void)manage(mac, MAN_WRITE | phy << MAN_PHY_SHIFT | index << MAN_REGISTER_SHIFT | value);
}

static void configure(const struct at91_emac *emac, struct mii_link link)
{
    write(emac, CFG,
          CFG_CLK_32 | CFG_MTI | CFG_BIG | (link.fast ? CFG_SPD : 0) | (link.full_duplex ? CFG_FD : 0) |
              (emac->board->reduced ? CFG_RMII : 0));
}

// The cable, looked at twice a second.
static uint64_t at91_emac_timer(struct weir_netif *netif, uint64_t now_us)
{
    struct at91_emac *emac = netif->driver_data;
    if (now_us >= emac->look_us) {
        const struct mii_link link = mii_look(&emac->mii);
        if (link.up && (link.fast != emac->link.fast || link.full_duplex != emac->link.full_duplex))
            configure(emac, link);
        if (link.up != emac->link.up)
            weir_netif_carrier(netif, link.up);
        if (link.up)
            emac->link = link;
        else
            emac->link.up = false;
        emac->look_us = now_us + LOOK_EVERY_US;
    }
    return emac->look_us;
}

// --- in and out of use -----------------------------------------------------------------------------------------------

// The device may fill it. The address word comes last: it is what hands the descriptor over.
static void give(struct at91_emac *emac, uint32_t index)
{
    struct at91_emac_descriptor *descriptor = &emac->board->ring->descriptors[index];
    descriptor->status = 0;
    descriptor->address = device_address(emac, emac->receive[index]) | (index == AT91_EMAC_BUFFERS - 1 ? WRAP : 0);
}

void at91_emac_open(struct at91_emac *emac, const struct at91_emac_board *board)
{
    const uint8_t *const mac = board->mac;
    memset(emac, 0, sizeof *emac);
    emac->board = board;
    emac->mii = (struct mii){.read = phy_read, .write = phy_write, .mac = emac};
    emac->link = (struct mii_link){.up = true, .fast = true, .full_duplex = true};  // up, as weir_netif_add takes it
    write(emac, CTL, CTL_CSR | CTL_MPE);
    write(emac, IDR, INT_ALL);
    (void)read(emac, ISR);
    write(emac, TSR, TSR_ALL);
    write(emac, RSR, RSR_ALL);
    configure(emac, emac->link);
    if (mii_find(&emac->mii))
        mii_negotiate(&emac->mii);
    // The address counts as valid when its high half is written.
    write(emac, SA1L, (uint32_t)mac[0] | (uint32_t)mac[1] << 8 | (uint32_t)mac[2] << 16 | (uint32_t)mac[3] << 24);
    write(emac, SA1H, (uint32_t)mac[4] | (uint32_t)mac[5] << 8);
    // The netif has no filter: all multicast passes.
    write(emac, HSH, 0xffffffff);
    write(emac, HSL, 0xffffffff);
    // No line of the buffers may be dirty when the device writes there: the cache would put it back over the frame.
    clean(emac, emac->receive, sizeof emac->receive);
    for (uint32_t i = 0; i < AT91_EMAC_BUFFERS; i++)
        give(emac, i);
    write(emac, RBQP, device_address(emac, board->ring));
}

// --- in --------------------------------------------------------------------------------------------------------------

static bool take_frame(struct at91_emac *emac, struct weir_netif *netif)
{
    const struct at91_emac_descriptor *descriptor = &emac->board->ring->descriptors[emac->next];
    if (!(descriptor->address & OWNED))
        return false;
    const uint32_t with_fcs = descriptor->status & LENGTH, length = with_fcs - FCS_BYTES;
    if (with_fcs < ETHERNET_BYTES + FCS_BYTES || length > AT91_EMAC_FRAME_BYTES) {
        emac->counters.rx_bad++;
        netif->stats.rx_dropped++;
    } else {
        invalidate(emac, emac->receive[emac->next], length);
        const struct weir_slice slice = {emac->receive[emac->next], length};
        const struct weir_frame frame = {.slices = &slice, .length = length, .count = 1};
        weir_netif_deliver(netif, &frame);
    }
    give(emac, emac->next);
    emac->next = (emac->next + 1) % AT91_EMAC_BUFFERS;
    return true;
}

static void end_transmit(struct at91_emac *emac, struct weir_netif *netif)
{
    const uint32_t state = read(emac, TSR);
    if (!(state & (TSR_COMP | TSR_RLE | TSR_UND)))
        return;
    write(emac, TSR, state);
    emac->counters.tx_errors += (state & (TSR_RLE | TSR_UND)) != 0;
    emac->sending = false;
    if (emac->waiting) {
        emac->waiting = false;
        weir_netif_ready(netif);
    }
}

// Notes what the receiver reports, and gives up to `room` frames up.
static int take_frames(struct at91_emac *emac, struct weir_netif *netif, int room)
{
    int frames = 0;
    // Cleared before looking: what comes from here on is reported again.
    const uint32_t state = read(emac, RSR);
    write(emac, RSR, state);
    emac->counters.overruns += (state & RSR_OVR) != 0;
    emac->counters.no_buffer += (state & RSR_BNA) != 0;
    while (frames < room && take_frame(emac, netif))
        frames++;
    if (state & RSR_BNA) {
        // Erratum 11: after a frame without a buffer the receiver may stay where it is until it was off.
        write(emac, CTL, CTL_MPE | CTL_TE);
        write(emac, CTL, CTL_MPE | CTL_RE | CTL_TE);
    }
    return frames;
}

static int at91_emac_poll(struct weir_netif *netif, int budget)
{
    struct at91_emac *emac = netif->driver_data;
    int frames = 0;
    if (emac->sending)
        end_transmit(emac, netif);
    uint32_t turns = 0;
    // A turn takes frames, of which there are `budget`, or needs that the wire brought another event since the last
    // one. A receiver that reports something for ever has TURNS.
    while ((frames += take_frames(emac, netif, budget - frames)) < budget) {
        // The data sheet does not say that an event is kept that comes while it is masked: one more look, now that it
        // is not.
        write(emac, IER, INT_RX);
        if (!(read(emac, RSR) & RSR_ALL) || ++turns == TURNS)
            break;
        write(emac, IDR, INT_RX);
    }
    return frames;
}

void at91_emac_interrupt(struct at91_emac *emac)
{
    const uint32_t seen = read(emac, ISR);
    if (seen & INT_RX)
        write(emac, IDR, INT_RX);  // until a poll finds the ring empty
}

// --- out -------------------------------------------------------------------------------------------------------------

static enum weir_tx_verdict at91_emac_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct at91_emac *emac = netif->driver_data;
    uint8_t *to = emac->transmit;
    if (emac->sending)
        end_transmit(emac, netif);
    if (emac->sending) {
        emac->waiting = true;
        return WEIR_TX_FULL;
    }
    if (tx->length > AT91_EMAC_FRAME_BYTES) {
        netif->stats.tx_dropped++;
        return WEIR_TX_DONE;
    }
    for (uint32_t i = 0; i < tx->count; to += tx->slices[i++].length)
        memcpy(to, tx->slices[i].data, tx->slices[i].length);
    uint32_t length = tx->length;
    for (; length < ETHERNET_LEAST; length++)
        *to++ = 0;
    clean(emac, emac->transmit, length);
    emac->sending = true;
    write(emac, TAR, device_address(emac, emac->transmit));
    write(emac, TCR, length);  // without FCS: the device adds it
    return WEIR_TX_DONE;
}

static const struct weir_driver at91_emac_driver = {
    .name = "at91_emac", .tx = at91_emac_tx, .poll = at91_emac_poll, .timer = at91_emac_timer};

void at91_emac_attach(struct at91_emac *emac, struct weir_netif *netif, const char *name)
{
    weir_netif_init(netif, name, &at91_emac_driver, &weir_link_ethernet);
    netif->driver_data = emac;
    netif->capabilities |= WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST;
    memcpy(netif->mac, emac->board->mac, 6);
    write(emac, CTL, CTL_MPE | CTL_RE | CTL_TE);
    write(emac, IER, INT_RX | INT_TX);
}
