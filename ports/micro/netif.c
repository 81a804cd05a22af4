// SPDX-License-Identifier: BSD-2-Clause
#include "frames.h"

#define HEAD_BYTES (WEIR_FRAME_HEAD + 2u)  // two more: what follows is aligned as what it is copied to

static enum weir_tx_verdict tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct micro_netif *own = netif->driver_data;
    struct frames *frames = own->frames;
    if (!frames || tx->length > FRAMES_BYTES)
        return WEIR_TX_DONE;  // into the void, as with a cable that is not there
    uint32_t room = ring_room(atomic_load(&frames->transmitted), own->queued, FRAMES_SLOTS);
    if (!room) {
        atomic_store(&frames->waiting, 1);
        room = ring_room(atomic_load(&frames->transmitted), own->queued, FRAMES_SLOTS);
    }
    if (!room)
        return WEIR_TX_FULL;
    struct frames_slot *slot = &frames->out[own->queued % FRAMES_SLOTS];
    uint32_t at = 0;
    for (uint32_t i = 0; i < tx->count; at += tx->slices[i++].length)
        memcpy(slot->frame + at, tx->slices[i].data, tx->slices[i].length);
    slot->length = at;
    atomic_store(&frames->queued, ++own->queued);
    return WEIR_TX_DONE;
}

static void ring(struct micro_netif *own)
{
    if (own->frames && atomic_exchange(&own->frames->attention, 0))
        own->notify(own->context);
}

static void flush(struct weir_netif *netif) { ring(netif->driver_data); }

static const struct weir_driver driver = {.name = "micro", .tx = tx, .flush = flush};

void micro_netif_init(struct micro_netif *netif, const char *name, void (*notify)(void *context), void *context)
{
    *netif = (struct micro_netif){.notify = notify, .context = context, .carrier = true};
    weir_netif_init(&netif->netif, name, &driver, &weir_link_ethernet);
    netif->netif.driver_data = netif;
    netif->netif.capabilities |= WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST;
}

void micro_netif_attach(struct micro_netif *netif, struct frames *frames)
{
    netif->frames = frames;
    netif->taken = netif->queued = netif->seen = 0;
    if (!frames)
        return;
    if (!netif->netif.weir) {
        const uint32_t mtu = frames->mtu;
        memcpy(netif->netif.mac, frames->mac, 6);
        netif->netif.mac[0] &= 0xfe;  // of one host, whatever the driver says
        netif->netif.mtu = (uint16_t)(mtu >= 576 && mtu < 1500 ? mtu : 1500);
    }
    atomic_store(&frames->server_attention, 1);
}

static void take(struct micro_netif *own, const struct frames_slot *slot)
{
    const uint32_t length = *(const volatile uint32_t *)&slot->length;  // once
    if (length == 0 || length > FRAMES_BYTES) {
        own->bad++;
        own->netif.stats.rx_dropped++;
        return;
    }
    uint8_t *head = (uint8_t *)own->head + 2;
    const uint32_t copied = length < HEAD_BYTES ? length : HEAD_BYTES;
    memcpy(head, slot->frame, copied);
    const struct weir_slice slices[2] = {{head, copied}, {slot->frame + copied, length - copied}};
    const struct weir_frame frame = {.slices = slices, .length = length, .count = length > copied ? 2 : 1};
    weir_netif_deliver(&own->netif, &frame);
}

// The stack waits for room, and there is some.
static bool room_awaited(const struct micro_netif *own)
{
    return weir_tx_waits(&own->netif) && ring_room(atomic_load(&own->frames->transmitted), own->queued, FRAMES_SLOTS);
}

int micro_netif_poll(struct micro_netif *own, int budget)
{
    struct frames *frames = own->frames;
    const bool carrier = frames && atomic_load(&frames->carrier) == 1;
    if (carrier != own->carrier)
        weir_netif_carrier(&own->netif, carrier);
    own->carrier = carrier;
    if (!frames)
        return 0;
    own->seen = atomic_load(&frames->received);
    const uint32_t there = ring_filled(own->seen, own->taken, FRAMES_SLOTS);
    int count = 0;
    for (; count < budget && (uint32_t)count < there; count++)
        take(own, &frames->in[own->taken++ % FRAMES_SLOTS]);
    if (count)
        atomic_store(&frames->taken, own->taken);
    if (count && atomic_load(&frames->stalled))
        ring(own);
    if (room_awaited(own))
        weir_netif_ready(&own->netif);
    return count;
}

bool micro_netif_rest(struct micro_netif *own)
{
    struct frames *frames = own->frames;
    if (!frames)
        return true;
    atomic_store(&frames->server_attention, 1);
    return atomic_load(&frames->received) == own->seen && own->seen == own->taken && !room_awaited(own) &&
           (atomic_load(&frames->carrier) == 1) == own->carrier;
}
