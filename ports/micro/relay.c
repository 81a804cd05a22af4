// SPDX-License-Identifier: BSD-2-Clause
#include "frames.h"

#define BUDGET 8  // frames between two looks at the other direction

static void input(struct weir_netif *netif, const struct weir_frame *frame)
{
    struct micro_relay *relay = netif->upper_data;
    struct frames *frames = relay->frames;
    if (frame->length > FRAMES_BYTES || !ring_room(atomic_load(&frames->taken), relay->received, FRAMES_SLOTS)) {
        netif->stats.rx_dropped++;
        return;
    }
    struct frames_slot *slot = &frames->in[relay->received % FRAMES_SLOTS];
    uint32_t at = 0;
    for (uint32_t i = 0; i < frame->count; at += frame->slices[i++].length)
        memcpy(slot->frame + at, frame->slices[i].data, frame->slices[i].length);
    slot->length = at;
    atomic_store(&frames->received, ++relay->received);
    relay->news = true;
}

static void ready(struct weir_netif *netif)
{
    struct micro_relay *relay = netif->upper_data;
    relay->blocked = false;
}

static void complete(struct weir_netif *netif, void *hold_owner, uint32_t hold_end)
{
    (void)netif, (void)hold_owner, (void)hold_end;
}

static void carrier(struct weir_netif *netif, bool up)
{
    struct micro_relay *relay = netif->upper_data;
    atomic_store(&relay->frames->carrier, up);
    relay->news = true;
}

static const struct weir_upper upper = {.input = input, .ready = ready, .complete = complete, .carrier = carrier};

void micro_relay_init(struct micro_relay *relay, struct weir_netif *netif, struct frames *frames,
                      void (*notify)(void *context), void *context)
{
    *relay = (struct micro_relay){.netif = netif, .frames = frames, .notify = notify, .context = context};
    netif->upper = &upper;
    netif->upper_data = relay;
    memcpy(frames->mac, netif->mac, 6);
    frames->mtu = netif->mtu;
    atomic_store(&frames->carrier, 1);
}

static bool transmit(struct micro_relay *relay)
{
    struct frames *frames = relay->frames;
    const uint32_t there = ring_filled(atomic_load(&frames->queued), relay->transmitted, FRAMES_SLOTS);
    uint32_t count = 0;
    for (; count < there && !relay->blocked; count++) {
        const struct frames_slot *slot = &frames->out[relay->transmitted % FRAMES_SLOTS];
        const uint32_t length = slot->length <= FRAMES_BYTES ? slot->length : 0;
        const struct weir_slice slice = {slot->frame, length};
        const struct weir_tx tx = {.slices = &slice, .length = length, .count = 1, .header_length = (uint16_t)length};
        relay->blocked = length && relay->netif->driver->tx(relay->netif, &tx) == WEIR_TX_FULL;
        if (relay->blocked)
            break;
        relay->transmitted++;
    }
    if (count) {
        if (relay->netif->driver->flush)
            relay->netif->driver->flush(relay->netif);
        atomic_store(&frames->transmitted, relay->transmitted);
        relay->news |= atomic_exchange(&frames->waiting, 0);
    }
    return count;
}

// With the ring full the device keeps its frames, and its interrupt stays silent until the server has taken some: a
// flood stops there.
static bool receive(struct micro_relay *relay)
{
    struct frames *frames = relay->frames;
    uint32_t room = ring_room(atomic_load(&frames->taken), relay->received, FRAMES_SLOTS);
    if (!room) {
        atomic_store(&frames->stalled, 1);
        room = ring_room(atomic_load(&frames->taken), relay->received, FRAMES_SLOTS);
    }
    if (!room)
        return false;
    atomic_store(&frames->stalled, 0);
    const int budget = room < BUDGET ? (int)room : BUDGET;
    return relay->netif->driver->poll(relay->netif, budget) >= budget;
}

uint64_t micro_relay_turn(struct micro_relay *relay, uint64_t now_us)
{
    struct weir_netif *netif = relay->netif;
    uint64_t due_us = netif->driver->timer ? netif->driver->timer(netif, now_us) : UINT64_MAX;
    (void)transmit(relay);
    const bool more = receive(relay);
    const bool sent = transmit(relay);  // `receive` may have found room
    if (relay->news && atomic_exchange(&relay->frames->server_attention, 0))
        relay->notify(relay->context);
    relay->news = false;
    return more || sent ? now_us : due_us;
}

bool micro_relay_rest(struct micro_relay *relay)
{
    struct frames *frames = relay->frames;
    atomic_store(&frames->attention, 1);
    const bool out = !relay->blocked && atomic_load(&frames->queued) != relay->transmitted;
    const bool in =
        atomic_load(&frames->stalled) && ring_room(atomic_load(&frames->taken), relay->received, FRAMES_SLOTS);
    return !out && !in;
}
