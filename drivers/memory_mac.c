// SPDX-License-Identifier: BSD-2-Clause
#include "memory_mac.h"

#include <string.h>

#include "mmio.h"

enum { LEN = 0, DATA = 4, SEND = 8 };

static int memory_mac_poll(struct weir_netif *netif, int budget)
{
    struct memory_mac *device = netif->driver_data;
    int frames = 0;
    uint32_t length;
    for (; frames < budget && (length = mmio_read(device->base + LEN)); frames++) {
        uint8_t *frame = (uint8_t *)device->frame + MEMORY_MAC_SHIFT;
        for (uint32_t at = 0; at < length; at += 4) {
            const uint32_t word = mmio_read(device->base + DATA);
            if (at + 4 <= sizeof device->frame - MEMORY_MAC_SHIFT)
                memcpy(frame + at, &word, 4);
            else if (at < MEMORY_MAC_FRAME)
                memcpy(frame + at, &word, 2);
        }
        const struct weir_slice slice = {frame, length};
        const struct weir_frame lent = {.slices = &slice, .length = length, .count = 1};
        if (length <= MEMORY_MAC_FRAME)
            weir_netif_deliver(netif, &lent);
        else
            netif->stats.rx_dropped++;
    }
    return frames;
}

static enum weir_tx_verdict memory_mac_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    const struct memory_mac *device = netif->driver_data;
    uint32_t word = 0, filled = 0;
    for (const struct weir_slice *slice = tx->slices; slice < tx->slices + tx->count; slice++)
        for (uint32_t at = 0; at < slice->length; at++) {
            word |= (uint32_t)slice->data[at] << 8 * (filled++ & 3);
            if (!(filled & 3)) {
                mmio_write(device->base + DATA, word);
                word = 0;
            }
        }
    if (filled & 3)
        mmio_write(device->base + DATA, word);
    mmio_write(device->base + SEND, tx->length);
    return WEIR_TX_DONE;
}

uint64_t memory_mac_look(struct weir_netif *netif, uint64_t now_us)
{
    (void)netif;
    return now_us + 1000;
}

static const struct weir_driver memory_mac_driver = {
    .name = "memory", .tx = memory_mac_tx, .poll = memory_mac_poll, .timer = MEMORY_MAC_TIMER};

void memory_mac_attach(struct memory_mac *device, uintptr_t base, struct weir_netif *netif, const uint8_t mac[6])
{
    device->base = base;
    weir_netif_init(netif, "eth0", &memory_mac_driver, &weir_link_ethernet);
    netif->driver_data = device;
    memcpy(netif->mac, mac, 6);
}
