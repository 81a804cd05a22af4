// SPDX-License-Identifier: BSD-2-Clause
#include "smc91c111.h"

#include <string.h>

#include "mmio.h"
#include "weir/error.h"

// Registers of four banks (data sheet, chapter 8). Bank 2 is selected but for a few moments.
#define BANK_SELECT 0x0eu
enum { TCR = 0x00, EPH_STATUS = 0x02, RCR = 0x04, RPCR = 0x0a };  // 0
enum { CONFIG = 0x00, ADDRESS = 0x04, CONTROL = 0x0c };           // 1
enum {
    MMU_COMMAND = 0x00,
    PACKET = 0x02,
    ALLOCATED = 0x03,
    FIFO_TX = 0x04,
    FIFO_RX = 0x05,
    POINTER = 0x06,
    DATA = 0x08,
    INTERRUPT = 0x0c,
    MASK = 0x0d,
};                                      // 2
enum { MGMT = 0x08, REVISION = 0x0a };  // 3
enum { TCR_ON = 1 << 0, TCR_PAD = 1 << 7, TCR_FULL_DUPLEX = 1 << 15 };
enum { RCR_ALL_MULTICAST = 1 << 2, RCR_ON = 1 << 8, RCR_STRIP_CRC = 1 << 9, RCR_RESET = 1 << 15 };
enum { RPCR_NEGOTIATE = 1 << 11 };
enum { CONFIG_POWER = 1 << 15 };
enum { CONTROL_RESERVED = 0x1210, CONTROL_AUTO_RELEASE = 1 << 11 };
enum { LINK_OK = 1 << 14 };
enum { ALLOCATE = 1 << 5, RESET_MMU = 2 << 5, REMOVE_RECEIVED = 4 << 5, RELEASE = 5 << 5, ENQUEUE = 6 << 5 };
enum { MMU_BUSY = 1 << 0 };
enum { POINTER_READ = 1 << 13, POINTER_INCREMENT = 1 << 14, POINTER_RECEIVED = 1 << 15 };
enum { INT_RECEIVED = 1 << 0, INT_TX = 1 << 1, INT_ALLOCATED = 1 << 3, INT_OVERRUN = 1 << 4 };
enum { MGMT_OUT = 1 << 0, MGMT_CLOCK = 1 << 2, MGMT_DRIVE = 1 << 3 };
#define NUMBER 0x3fu            // of a packet
#define NONE 0x80u              // in FIFO_RX: there is none
#define BANK_HIGH 0x33u         // what the upper byte of the bank's register reads as
#define CHIP 0x90u              // of REVISION's lower byte, the upper half
#define RECEIVE_ERRORS 0xac00u  // of a frame's status: alignment, CRC, too long, too short
#define COUNT_MASK 0x7ffu
#define ODD 0x20u       // in a frame's last byte: the one before it is of the frame
#define AROUND 6u       // bytes of a packet that are not its frame's: status, count, control
#define PHY_CONTROL 0u  // of the internal PHY, whose address is 0
#define PHY_NEGOTIATE 0x1200u
#define TRIES 1000u      // looks at a busy bit; a command takes a few bus cycles
#define GRANT_TRIES 16u  // looks whether a packet that is free was granted
#define LOOK_EVERY_US 500000u

static uint8_t read8(const struct smc91c111 *device, uint32_t at) { return mmio_read8(device->base + at); }
static void write8(const struct smc91c111 *device, uint32_t at, uint8_t value)
{
    mmio_write8(device->base + at, value);
}
static uint16_t read16(const struct smc91c111 *device, uint32_t at) { return mmio_read16(device->base + at); }
static void write16(const struct smc91c111 *device, uint32_t at, uint32_t value)
{
    mmio_write16(device->base + at, (uint16_t)value);
}
static void select_bank(const struct smc91c111 *device, uint32_t bank) { write16(device, BANK_SELECT, bank); }

static void command(const struct smc91c111 *device, uint32_t what)
{
    write16(device, MMU_COMMAND, what);
    for (uint32_t i = 0; i < TRIES && read16(device, MMU_COMMAND) & MMU_BUSY; i++)
        ;
}

// Bit by bit onto the management bus (IEEE 802.3, clause 22.2.4.5), in bank 3.
static void phy_send(const struct smc91c111 *device, uint32_t bits, uint32_t count)
{
    while (count--) {
        const uint32_t level = MGMT_DRIVE | (bits >> count & 1 ? MGMT_OUT : 0);
        write16(device, MGMT, level);
        write16(device, MGMT, level | MGMT_CLOCK);
    }
}

static void phy_write(const struct smc91c111 *device, uint32_t index, uint32_t value)
{
    phy_send(device, 0xffffffff, 32);
    phy_send(device, 0x5002u | index << 2, 16);  // start, write, the PHY's address 0, turn-around
    phy_send(device, value, 16);
    write16(device, MGMT, 0);
}

int smc91c111_open(struct smc91c111 *device, uintptr_t base, const uint8_t mac[6])
{
    *device = (struct smc91c111){.base = base};
    memcpy(device->mac, mac, 6);
    select_bank(device, 3);
    if (read16(device, BANK_SELECT) >> 8 != BANK_HIGH || (read16(device, REVISION) & 0xf0) != CHIP)
        return WEIR_NOT_SUPPORTED;
    select_bank(device, 0);
    write16(device, RCR, RCR_RESET);
    write16(device, RCR, 0);
    select_bank(device, 1);
    write16(device, CONFIG, read16(device, CONFIG) | CONFIG_POWER);
    write16(device, CONTROL, CONTROL_RESERVED | CONTROL_AUTO_RELEASE);
    for (uint32_t i = 0; i < 6; i++)
        write8(device, ADDRESS + i, mac[i]);
    select_bank(device, 3);
    phy_write(device, PHY_CONTROL, PHY_NEGOTIATE);  // it is isolated after a reset
    select_bank(device, 2);
    write8(device, MASK, 0);
    command(device, RESET_MMU);
    return WEIR_OK;
}

// --- in --------------------------------------------------------------------------------------------------------------

static void take_frame(struct smc91c111 *device, struct weir_netif *netif)
{
    write16(device, POINTER, POINTER_RECEIVED | POINTER_INCREMENT | POINTER_READ);
    (void)read16(device, POINTER);  // the data follows a bus cycle later
    const uint32_t head = mmio_read(device->base + DATA), count = head >> 16 & COUNT_MASK;
    if (head & RECEIVE_ERRORS || count <= AROUND || count > SMC91C111_FRAME_BYTES + AROUND) {
        device->errors++;
        netif->stats.rx_dropped++;
        command(device, REMOVE_RECEIVED);
        return;
    }
    uint8_t *const frame = (uint8_t *)device->buffer + 2;
    for (uint32_t at = 0; at < count - 4; at += 4) {
        const uint32_t word = mmio_read(device->base + DATA);
        memcpy(frame + at, &word, 4);
    }
    command(device, REMOVE_RECEIVED);
    const struct weir_slice slice = {frame, count - AROUND + (frame[count - 5] & ODD ? 1 : 0)};
    const struct weir_frame input = {.slices = &slice, .length = slice.length, .count = 1};
    weir_netif_deliver(netif, &input);
}

// A frame that could not be sent stays in its packet, and the transmitter is off.
static void transmitter_failed(struct smc91c111 *device)
{
    device->failures++;
    write8(device, PACKET, read8(device, FIFO_TX) & NUMBER);
    command(device, RELEASE);
    write8(device, INTERRUPT, INT_TX);
    select_bank(device, 0);
    write16(device, TCR, TCR_ON | TCR_PAD | TCR_FULL_DUPLEX);
    select_bank(device, 2);
}

static void unmask(const struct smc91c111 *device)
{
    write8(device, MASK, (uint8_t)(INT_RECEIVED | INT_OVERRUN | INT_TX | (device->waiting ? INT_ALLOCATED : 0)));
}

static int smc91c111_poll(struct weir_netif *netif, int budget)
{
    struct smc91c111 *device = netif->driver_data;
    const uint32_t seen = read8(device, INTERRUPT);
    int frames = 0;
    if (seen & INT_OVERRUN) {
        device->overruns++;
        write8(device, INTERRUPT, INT_OVERRUN);
    }
    if (seen & INT_TX)
        transmitter_failed(device);
    for (; frames < budget && !(read8(device, FIFO_RX) & NONE); frames++)
        take_frame(device, netif);
    if (device->waiting && read8(device, INTERRUPT) & INT_ALLOCATED) {
        device->waiting = false;
        weir_netif_ready(netif);
    }
    if (frames < budget)
        unmask(device);
    return frames;
}

// It may come between any two accesses, also while another bank is selected.
void smc91c111_interrupt(struct smc91c111 *device)
{
    const uint32_t bank = read16(device, BANK_SELECT);
    select_bank(device, 2);
    write8(device, MASK, 0);
    select_bank(device, bank);
}

// --- out -------------------------------------------------------------------------------------------------------------

// A packet to send in, whose number ALLOCATED then tells. What is not granted at once stays asked for.
static bool granted(struct smc91c111 *device)
{
    if (!device->asked)
        command(device, ALLOCATE);
    device->asked = true;
    for (uint32_t i = 0; i < GRANT_TRIES; i++)
        if (read8(device, INTERRUPT) & INT_ALLOCATED)
            return true;
    return false;
}

// The frame's bytes, and two that end it: its last one and ODD, or nothing.
static void put(const struct smc91c111 *device, const struct weir_tx *tx)
{
    uint32_t word = 0, at = 0;
    for (uint32_t i = 0; i < tx->count; i++)
        for (uint32_t j = 0; j < tx->slices[i].length; j++) {
            word |= (uint32_t)tx->slices[i].data[j] << 8 * (at++ % 4);
            if (at % 4 == 0) {
                mmio_write(device->base + DATA, word);
                word = 0;
            }
        }
    if (at % 2)
        word |= (uint32_t)ODD << 8 * (at % 4);
    mmio_write(device->base + DATA, word);  // of a frame of whole words it is nothing but the end
}

static enum weir_tx_verdict smc91c111_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct smc91c111 *device = netif->driver_data;
    if (!granted(device)) {
        device->waiting = true;
        unmask(device);
        return WEIR_TX_FULL;
    }
    device->asked = false;
    write8(device, PACKET, read8(device, ALLOCATED) & NUMBER);
    write16(device, POINTER, POINTER_INCREMENT);
    mmio_write(device->base + DATA, ((tx->length & ~1u) + AROUND) << 16);
    put(device, tx);
    command(device, ENQUEUE);
    return WEIR_TX_DONE;
}

// The cable, looked at twice a second.
static uint64_t smc91c111_timer(struct weir_netif *netif, uint64_t now_us)
{
    struct smc91c111 *device = netif->driver_data;
    if (now_us >= device->look_us) {
        select_bank(device, 0);
        const bool link = read16(device, EPH_STATUS) & LINK_OK;
        select_bank(device, 2);
        if (link != device->link)
            weir_netif_carrier(netif, link);
        device->link = link;
        device->look_us = now_us + LOOK_EVERY_US;
    }
    return device->look_us;
}

static const struct weir_driver smc91c111_driver = {
    .name = "smc91c111", .tx = smc91c111_tx, .poll = smc91c111_poll, .timer = smc91c111_timer};

void smc91c111_attach(struct smc91c111 *device, struct weir_netif *netif, const char *name)
{
    weir_netif_init(netif, name, &smc91c111_driver, &weir_link_ethernet);
    netif->driver_data = device;
    netif->capabilities |= WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST;
    memcpy(netif->mac, device->mac, 6);
    device->link = true;  // as weir_netif_add takes it
    select_bank(device, 0);
    write16(device, RPCR, RPCR_NEGOTIATE);
    write16(device, TCR, TCR_ON | TCR_PAD | TCR_FULL_DUPLEX);
    write16(device, RCR, RCR_ON | RCR_STRIP_CRC | RCR_ALL_MULTICAST);
    select_bank(device, 2);
    unmask(device);
}
