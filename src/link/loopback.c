// SPDX-License-Identifier: BSD-2-Clause
#include "instance.h"

// The largest packet must fit the queue twice, and its length 16 bits.
#define LOOPBACK_MTU (WEIR_CFG_LOOPBACK_BYTES / 2 - 64 < 65535 ? WEIR_CFG_LOOPBACK_BYTES / 2 - 64 : 65535)
_Static_assert(LOOPBACK_MTU >= 576, "WEIR_CFG_LOOPBACK_BYTES is too small: two packets of 576 bytes must fit");

static enum weir_tx_verdict loopback_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct weir *weir = netif->weir;
    struct records *queue = &weir->loopback.queue;
    uint8_t *to = records_push(queue, &weir->memory, tx->length);
    if (!to) {
        // loopback_poll will make room, if there is anything for it to deliver.
        if (queue->count)
            return WEIR_TX_FULL;
        NETIF_COUNT(netif, tx_dropped);
        count(weir, WEIR_COUNT_LOOPBACK_FULL);
        return WEIR_TX_DONE;
    }
    for (uint32_t i = 0; i < tx->count; i++) {
        memcpy(to, tx->slices[i].data, tx->slices[i].length);
        to += tx->slices[i].length;
    }
    return WEIR_TX_DONE;
}

static const struct weir_driver loopback_driver = {.name = "loopback", .tx = loopback_tx};

#if WEIR_CFG_IP4
static int loopback_address_set(struct weir_netif *netif)
{
    return weir_netif_set_address(netif, weir_ip4(127, 0, 0, 1), 8, WEIR_ADDRESS_AT_ONCE);
}
#else
static int loopback_address_set(struct weir_netif *netif)
{
    return weir_netif_set_address(netif, weir_addr_v6((const uint8_t[16]){[15] = 1}), 128, WEIR_ADDRESS_AT_ONCE);
}
#endif

size_t loopback_bytes(void) { return records_carve_bytes(WEIR_CFG_LOOPBACK_BYTES); }

int loopback_init(struct weir *weir)
{
    struct loopback *loopback = &weir->loopback;
    records_init(&loopback->queue, WEIR_CFG_LOOPBACK_BYTES);
    const int error = records_carve(&loopback->queue, &weir->memory);
    if (error)
        return error;
    weir_netif_init(&loopback->netif, "lo", &loopback_driver, &weir_link_rawip);
    loopback->netif.mtu = LOOPBACK_MTU;
    // Bytes that never leave this memory need no checksum.
    loopback->netif.capabilities =
        WEIR_NETIF_LOOPBACK | WEIR_NETIF_MULTICAST | WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TX_CHECKSUM6;
    const int added = weir_netif_add(weir, &loopback->netif);
    return added ? added : loopback_address_set(&loopback->netif);
}

void loopback_free(struct weir *weir) { records_clear(&weir->loopback.queue, &weir->memory); }

bool loopback_pending(const struct weir *weir) { return weir->loopback.queue.count != 0; }

SELDOM bool loopback_poll(struct weir *weir)
{
    struct loopback *loopback = &weir->loopback;
    for (uint32_t left = loopback->queue.count; left; left--) {
        struct weir_slice slice = {0};
        slice.data = records_front(&loopback->queue, &slice.length);
        const struct weir_frame frame = {
            .slices = &slice, .length = slice.length, .count = 1, .checksum = WEIR_CHECKSUM_VERIFIED};
        weir_input(&loopback->netif, &frame);
        records_pop(&loopback->queue, &weir->memory);
    }
    if (loopback->netif.flags & WEIR_NETIF_TX_BLOCKED)
        weir_tx_ready(&loopback->netif);
    return loopback_pending(weir);
}
