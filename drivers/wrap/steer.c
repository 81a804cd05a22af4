// SPDX-License-Identifier: BSD-2-Clause
#include "steer.h"

#include <string.h>

#define ETHERNET_BYTES 14u
#define TYPE_IP4 0x0800u
#define TYPE_ARP 0x0806u
#define TYPE_IP6 0x86ddu
#define IP4_HEADER_BYTES 20u  // without options
#define IP6_HEADER_BYTES 40u
#define TCP 6u
#define UDP 17u
#define ICMP4 1u
#define ICMP6 58u
#define FRAGMENT6 44u

static uint32_t read16(const uint8_t *at) { return (uint32_t)at[0] << 8 | at[1]; }
static uint32_t read32(const uint8_t *at) { return read16(at) << 16 | read16(at + 2); }

// XOR makes both directions the same; the multiplication brings every bit of it into the half that is taken (Knuth's
// constant). steer_program.c has the same in Linux's words.
static uint32_t member_of(uint32_t addresses, uint32_t ports, uint32_t members)
{
    const uint32_t mixed = (addresses ^ ports) * 0x9e3779b1u;
    return (mixed >> 16) % members;
}

// What tells something about other packets, or the link, is every member's; an echo is the first's.
static bool icmp4_for_all(uint8_t type) { return type == 3 || type == 4 || type == 5 || type == 11 || type == 12; }
static bool icmp6_for_all(uint8_t type) { return (type >= 1 && type <= 4) || (type >= 133 && type <= 137); }

static uint32_t steer4(const uint8_t *ip, uint32_t length, uint32_t members)
{
    if (length < IP4_HEADER_BYTES)
        return 0;
    const uint32_t header = (uint32_t)(ip[0] & 15) * 4;
    if (read16(ip + 6) & 0x3fff)  // more fragments, or an offset
        return ip[9] == TCP ? (uint32_t)STEER_NOBODY : 0;
    if (ip[9] == ICMP4 && length > header)
        return icmp4_for_all(ip[header]) ? (uint32_t)STEER_ALL : 0;
    if ((ip[9] != TCP && ip[9] != UDP) || length < header + 4)
        return 0;
    return member_of(read32(ip + 12) ^ read32(ip + 16), read16(ip + header) ^ read16(ip + header + 2), members);
}

static uint32_t steer6(const uint8_t *ip, uint32_t length, uint32_t members)
{
    const uint8_t *const next = ip + IP6_HEADER_BYTES;
    if (length < IP6_HEADER_BYTES + 4)
        return 0;
    if (ip[6] == FRAGMENT6)
        return next[0] == TCP ? (uint32_t)STEER_NOBODY : 0;
    if (ip[6] == ICMP6)
        return icmp6_for_all(next[0]) ? (uint32_t)STEER_ALL : 0;
    if (ip[6] != TCP && ip[6] != UDP)
        return 0;
    uint32_t addresses = 0;
    for (uint32_t at = 8; at < IP6_HEADER_BYTES; at += 4)
        addresses ^= read32(ip + at);
    return member_of(addresses, read16(next) ^ read16(next + 2), members);
}

uint32_t steer_frame(const uint8_t *frame, uint32_t length, uint32_t members)
{
    if (length < ETHERNET_BYTES)
        return 0;
    switch (read16(frame + 12)) {
    case TYPE_ARP: return STEER_ALL;
    case TYPE_IP4: return steer4(frame + ETHERNET_BYTES, length - ETHERNET_BYTES, members);
    case TYPE_IP6: return steer6(frame + ETHERNET_BYTES, length - ETHERNET_BYTES, members);
    default: return 0;
    }
}

// --- between members ---------------------------------------------------------------------------------
static bool put(struct steer *to, const struct weir_frame *frame)
{
    pthread_mutex_lock(&to->mutex);
    const uint32_t waiting = to->waiting;
    const bool room = waiting < STEER_SLOTS;
    if (room) {
        struct steer_slot *const slot = &to->slots[(to->first + waiting) % STEER_SLOTS];
        uint32_t at = 0;
        for (uint32_t i = 0; i < frame->count; at += frame->slices[i++].length)
            memcpy(slot->bytes + at, frame->slices[i].data, frame->slices[i].length);
        slot->length = (uint16_t)frame->length;
        slot->segments = frame->segments;
        slot->segment_size = frame->segment_size;
        slot->checksum = frame->checksum;
        to->waiting = waiting + 1;
    }
    pthread_mutex_unlock(&to->mutex);
    return room;
}

static void hand_over(struct steer *from, uint32_t index, const struct weir_frame *frame)
{
    struct steer *const to = from->group->members[index];
    if (to == NULL || frame->length > STEER_SLOT_BYTES || !put(to, frame)) {
        from->count.lost++;
        from->wrap.outer.stats.rx_dropped++;
        return;
    }
    to->wake(to->context);
}

// Delivers what others handed over; at most what was there when it began.
static uint32_t take(struct steer *steer)
{
    uint32_t taken = 0;
    for (uint32_t left = steer->waiting; left > 0; left--, taken++) {
        // Only this thread takes, so the first slot is its own until it says otherwise.
        const struct steer_slot *const slot = &steer->slots[steer->first];
        const struct weir_slice slice = {slot->bytes, slot->length};
        const struct weir_frame frame = {.slices = &slice,
                                         .length = slot->length,
                                         .count = 1,
                                         .segments = slot->segments,
                                         .segment_size = slot->segment_size,
                                         .checksum = slot->checksum};
        weir_netif_deliver(&steer->wrap.outer, &frame);
        pthread_mutex_lock(&steer->mutex);
        steer->first = (steer->first + 1) % STEER_SLOTS;
        steer->waiting--;
        pthread_mutex_unlock(&steer->mutex);
    }
    return taken;
}

static void steer_input(struct weir_netif *inner, const struct weir_frame *frame)
{
    struct steer *const steer = inner->upper_data;
    const uint32_t members = steer->group->count;
    const uint32_t owner = steer_frame(frame->slices[0].data, frame->slices[0].length, members);
    if (owner == steer->index) {
        weir_netif_deliver(&steer->wrap.outer, frame);
    } else if (owner == STEER_ALL) {
        for (uint32_t i = 0; i < members; i++)
            if (i != steer->index)
                hand_over(steer, i, frame);
        weir_netif_deliver(&steer->wrap.outer, frame);
    } else if (owner == STEER_NOBODY) {
        steer->count.fragments++;
        steer->wrap.outer.stats.rx_dropped++;
    } else {
        steer->count.handed_over++;
        hand_over(steer, owner, frame);
    }
}

// --- the wrapper -------------------------------------------------------------------------------------
static struct steer *of(struct weir_netif *outer) { return outer->driver_data; }

static enum weir_tx_verdict steer_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    return wrap_tx(&of(netif)->wrap, tx);
}
static void steer_flush(struct weir_netif *netif) { wrap_flush(&of(netif)->wrap); }
static int steer_poll(struct weir_netif *netif, int budget) { return wrap_poll(&of(netif)->wrap, budget); }
static void steer_filter(struct weir_netif *netif, const uint8_t address[6], bool join)
{
    wrap_filter(&of(netif)->wrap, address, join);
}

// A member that others woke has frames of theirs.
static uint64_t steer_timer(struct weir_netif *netif, uint64_t now_us)
{
    const uint64_t due_us = wrap_timer(&of(netif)->wrap, now_us);
    return take(of(netif)) > 0 ? now_us : due_us;
}

static void steer_ready(struct weir_netif *inner)
{
    weir_netif_ready(&((struct steer *)inner->upper_data)->wrap.outer);
}
static void steer_complete(struct weir_netif *inner, void *hold_owner, uint32_t hold_end)
{
    weir_netif_complete(&((struct steer *)inner->upper_data)->wrap.outer, hold_owner, hold_end);
}
static void steer_carrier(struct weir_netif *inner, bool up)
{
    weir_netif_carrier(&((struct steer *)inner->upper_data)->wrap.outer, up);
}

static const struct weir_driver steer_driver = {
    .name = "steer",
    .tx = steer_tx,
    .flush = steer_flush,
    .poll = steer_poll,
    .filter = steer_filter,
    .timer = steer_timer,
};
static const struct weir_upper steer_upper = {steer_input, steer_ready, steer_complete, steer_carrier};

void steer_group_init(struct steer_group *group, uint32_t members)
{
    memset(group, 0, sizeof *group);
    group->count = members < STEER_MEMBERS ? members : STEER_MEMBERS;
}

struct weir_netif *steer_wrap(struct steer *steer, struct weir_netif *inner, struct steer_group *group, uint32_t index,
                              void (*wake)(void *context), void *context)
{
    memset(steer, 0, sizeof *steer);
    wrap_init(&steer->wrap, inner, &steer_driver, &steer_upper, steer);
    steer->group = group;
    steer->index = index;
    steer->wake = wake;
    steer->context = context;
    pthread_mutex_init(&steer->mutex, NULL);
    group->members[index] = steer;
    return &steer->wrap.outer;
}

void steer_close(struct steer *steer)
{
    steer->group->members[steer->index] = NULL;
    pthread_mutex_destroy(&steer->mutex);
}
