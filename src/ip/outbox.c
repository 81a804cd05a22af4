// SPDX-License-Identifier: BSD-2-Clause
// Replies nobody waits for (ICMP, resets, IGMP): made while a frame comes in, sent by the next weir_poll. Bounded in bytes; what
// does not fit is dropped, as the network might have dropped it.
#include "ip/ip4.h"

#define OUTBOX_ROUND (4u * WEIR_CFG_POLL_QUANTUM)  // packets a poll sends, so that sockets get their turn
#define OUTBOX_PATIENCE_MS 100u                    // a full interface may keep the replies of the others so long, not longer
#define OUTBOX_RETRY_US 1000u                      // in case the driver's news of room does not reach us

struct outbox_entry {
    struct path path;
    struct ip_out ip;
};

int outbox_init(struct weir *weir)
{
    records_init(&weir->ip.outbox, WEIR_CFG_OUTBOX_BYTES);
    return WEIR_CFG_ALLOCATOR ? WEIR_OK : records_carve(&weir->ip.outbox, &weir->memory);
}

uint8_t *ip_outbox_push(struct weir *weir, const struct path *path, const struct ip_out *ip, uint32_t length)
{
    struct outbox_entry *entry =
        length <= IP4_PACKET_MAX - IP4_BYTES ? records_push(&weir->ip.outbox, &weir->memory, (uint32_t)sizeof *entry + length) : NULL;
    if (!entry) {
        count(weir, WEIR_COUNT_OUTBOX_FULL);
        return NULL;
    }
    entry->path = *path;
    entry->ip = *ip;
    return (uint8_t *)(entry + 1);
}

// Looks a way up that was not known, or is no longer, when the reply was made.
static bool entry_routed(struct weir *weir, struct outbox_entry *entry)
{
    if (ip_path_valid(weir, &entry->path))
        return true;
    if (IP4_SPEAKS_FIRST && ip_path_find(weir, &entry->path, &entry->ip.source, entry->ip.destination, 0) == WEIR_OK)
        return true;
    count(weir, WEIR_COUNT_IP_NO_ROUTE);
    return false;
}

// Whether the interface has been full for so long (or lost its carrier) that waiting would hold the other interfaces' replies up.
static bool give_up(struct weir *weir, const struct outbox_entry *entry)
{
    struct ip *ip = &weir->ip;
    if (!ip->outbox_blocked) {
        ip->outbox_blocked = true;
        ip->outbox_blocked_ms = weir->now_ms;
    }
    return !(entry->path.netif->flags & WEIR_NETIF_LINK) || weir->now_ms - ip->outbox_blocked_ms >= OUTBOX_PATIENCE_MS;
}

#if WEIR_CFG_FAST_PATH
// Nearly all are short and may not be fragmented.
static inline bool entry_whole(const struct weir *weir, const struct outbox_entry *entry, uint32_t length)
{
    return entry->ip.dont_fragment && !weir->ip.outbox_progress && IP4_BYTES + length <= entry->path.mtu;
}
#else
static inline bool entry_whole(const struct weir *weir, const struct outbox_entry *entry, uint32_t length)
{
    return (void)weir, (void)entry, (void)length, false;
}
#endif

static enum weir_tx_verdict entry_send(struct weir *weir, struct outbox_entry *entry, uint32_t length)
{
    const uint8_t *bytes = (const uint8_t *)(entry + 1);
    struct packet_out out;
    int error = WEIR_OK;
    if (!entry_whole(weir, entry, length))
        return ip_output_datagram(weir, &entry->path, &entry->ip, NULL, 0, bytes, length, &weir->ip.outbox_progress, NULL, &error);
    packet_out_init(&out);
    packet_out_payload(&out, bytes, length);
    return ip_output(weir, &entry->path, &entry->ip, &out, NULL);
}

// While its interface is full the first record waits for the retry, or for weir_tx_ready: both are a module's deadline (ip_poll).
uint64_t outbox_poll(struct weir *weir, uint64_t now_us)
{
    struct ip *ip = &weir->ip;
    uint32_t length;
    for (uint32_t sent = 0; sent < OUTBOX_ROUND; sent++) {
        struct outbox_entry *entry = records_front(&ip->outbox, &length);
        if (!entry)
            return WEIR_NEVER;
        if (entry_routed(weir, entry) && entry_send(weir, entry, length - (uint32_t)sizeof *entry) == WEIR_TX_FULL) {
            if (!give_up(weir, entry))
                return now_us + OUTBOX_RETRY_US;
            count(weir, WEIR_COUNT_OUTBOX_FULL);
        }
        ip->outbox_progress = 0;
        ip->outbox_blocked = false;
        records_pop(&ip->outbox, &weir->memory);
    }
    return ip->outbox.count ? now_us : WEIR_NEVER;
}
