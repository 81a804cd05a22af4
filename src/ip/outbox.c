// SPDX-License-Identifier: BSD-2-Clause
// Replies nobody waits for (ICMP, resets, IGMP): made while a frame comes in, sent by the next weir_poll. Bounded in
// bytes; what does not fit is dropped, as the network might have dropped it.
#include "ip/flow.h"
#include "ip/internal.h"
#include "ip/options.h"

#define OUTBOX_PATIENCE_MS 100u  // a full interface may keep the replies of the others so long, not longer
#define OUTBOX_RETRY_US 1000u    // in case the driver's news of room does not reach us

struct outbox_entry {
    struct path path;
    struct ip_out ip;
#if WEIR_CFG_ARP_CACHE
    uint8_t link_source[6];  // what ip.link_source points at
#endif
};

#if WEIR_CFG_ARP_CACHE
// Records do not move, so the entry's pointer may lead to its own bytes.
static void entry_answers(struct outbox_entry *entry)
{
    if (!entry->ip.link_source)
        return;
    memcpy(entry->link_source, entry->ip.link_source, sizeof entry->link_source);
    entry->ip.link_source = entry->link_source;
}
static inline void answers_nothing(struct ip_out *ip) { ip->link_source = NULL; }
static inline void answer_begin(struct weir *weir, const struct outbox_entry *entry)
{
    weir->arp.answered = entry->ip.link_source;
}
static inline void answer_end(struct weir *weir) { weir->arp.answered = NULL; }
#else
static inline void entry_answers(struct outbox_entry *entry) { (void)entry; }
static inline void answers_nothing(struct ip_out *ip) { (void)ip; }
static inline void answer_begin(struct weir *weir, const struct outbox_entry *entry) { (void)weir, (void)entry; }
static inline void answer_end(struct weir *weir) { (void)weir; }
#endif

// Options, where there are any, stand behind the message.
#if WEIR_CFG_IP_OPTIONS
static uint32_t options_room(const struct ip_out *ip) { return ip->options ? (uint32_t)sizeof *ip->options : 0; }
static void entry_keep_options(struct outbox_entry *entry, uint32_t length)
{
    if (!entry->ip.options)
        return;
    struct weir_ip_options *const options = (void *)((uint8_t *)(entry + 1) + length);  // an array of bytes
    *options = *entry->ip.options;
    entry->ip.options = options;
}
// A path too narrow for a header with them is served without.
static const struct ip_out *entry_fitting(const struct outbox_entry *entry, uint32_t length, struct ip_out *without)
{
    if (IP4_BYTES + ip4_options_bytes(&entry->ip) + length <= entry->path.mtu)
        return &entry->ip;
    *without = entry->ip;
    without->options = NULL;
    return without;
}
#else
static inline uint32_t options_room(const struct ip_out *ip) { return (void)ip, 0; }
static inline void entry_keep_options(struct outbox_entry *entry, uint32_t length) { (void)entry, (void)length; }
static inline const struct ip_out *entry_fitting(const struct outbox_entry *entry, uint32_t length,
                                                 struct ip_out *without)
{
    return (void)length, (void)without, &entry->ip;
}
#endif

int outbox_init(struct weir *weir)
{
    records_init(&weir->ip.outbox, WEIR_CFG_OUTBOX_BYTES);
    return WEIR_CFG_ALLOCATOR ? WEIR_OK : records_carve(&weir->ip.outbox, &weir->memory);
}

static uint8_t *entry_push(struct weir *weir, const struct path *path, const struct ip_out *ip, uint32_t length)
{
    struct outbox_entry *entry =
        length <= IP4_PACKET_MAX - IP4_BYTES
            ? records_push(&weir->ip.outbox, &weir->memory, (uint32_t)sizeof *entry + length + options_room(ip))
            : NULL;
    if (!entry) {
        count(weir, WEIR_COUNT_OUTBOX_FULL);
        return NULL;
    }
    entry->path = *path;
    entry->ip = *ip;
    entry_answers(entry);
    entry_keep_options(entry, length);
    return (uint8_t *)(entry + 1);
}

uint8_t *ip_outbox_push(struct weir *weir, const struct path *path, const struct ip_out *ip, uint32_t length)
{
    weir->ip.outbox_due = !weir->ip.outbox_blocked;
    return entry_push(weir, path, ip, length);
}

// What goes to a group goes by the interface that it was made for, which may be gone.
static uint8_t entry_bound(const struct weir *weir, const struct outbox_entry *entry)
{
    const struct weir_netif *netif = weir_addr_is_multicast(entry->ip.destination) ? weir->netifs : NULL;
    while (netif && netif != entry->path.netif)
        netif = netif->next;
    return netif ? netif->index : 0;
}

// Looks a way up that was not known, or is no longer, when the reply was made. What was made for a way keeps its
// source, also where that is none (RFC 9777 §5.2.13): the message's checksum covers it.
static bool entry_routed(struct weir *weir, struct outbox_entry *entry)
{
    if (ip_path_valid(weir, &entry->path))
        return true;
    const bool made_for_a_way = entry->path.netif != NULL;
    struct weir_addr source = entry->ip.source;
    answers_nothing(&entry->ip);  // it may leave by another interface than the question came in by
    if (IP_SPEAKS_FIRST &&
        ip_path_find(weir, &entry->path, &source, entry->ip.destination, entry_bound(weir, entry)) == WEIR_OK) {
        if (!made_for_a_way)
            entry->ip.source = source;
        return true;
    }
    count(weir, WEIR_COUNT_IP_NO_ROUTE);
    return false;
}

// Whether the interface has been full for so long (or lost its carrier) that waiting would hold the other interfaces'
// replies up.
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
// A segment without data, as nearly all are, by the template of its flow. WEIR_TX_UNRESOLVED: there is none.
static enum weir_tx_verdict entry_by_template(struct weir *weir, const struct outbox_entry *entry, uint32_t length)
{
    const struct ip_out *const ip = &entry->ip;
    if (ip->protocol != IP_TCP || ip4_options_bytes(ip) || length > IP_TRANSPORT_HEADER_MAX ||
        ip_header_bytes(ip->destination) + length > entry->path.mtu)
        return WEIR_TX_UNRESOLVED;
    struct flow *const flow = flow_template(weir, &entry->path, ip->source, ip->destination);
    if (!flow)
        return WEIR_TX_UNRESOLVED;
    memcpy(flow_header(flow, ip_out_params(ip), length, 0), entry + 1, length);
    return netif_hand_over(entry->path.netif, &flow->template.tx);
}
#else
static inline enum weir_tx_verdict entry_by_template(struct weir *weir, const struct outbox_entry *entry,
                                                     uint32_t length)
{
    return (void)weir, (void)entry, (void)length, WEIR_TX_UNRESOLVED;
}
#endif

static enum weir_tx_verdict entry_transmit(struct weir *weir, struct outbox_entry *entry, uint32_t length)
{
    int error = WEIR_OK;
    struct ip_out without;
    const enum weir_tx_verdict verdict = entry_by_template(weir, entry, length);
    if (verdict != WEIR_TX_UNRESOLVED)
        return verdict;
    return ip_output_datagram(weir, &entry->path, entry_fitting(entry, length, &without), NULL, 0,
                              (const uint8_t *)(entry + 1), length, &weir->ip.outbox_progress, NULL, &error);
}

static enum weir_tx_verdict entry_send(struct weir *weir, struct outbox_entry *entry, uint32_t length)
{
    answer_begin(weir, entry);
    const enum weir_tx_verdict verdict = entry_transmit(weir, entry, length);
    answer_end(weir);
    return verdict;
}

// All of them, OUTBOX_BYTES at the most: an ACK that a connection has left here goes before what it sends itself
// (tcp_output_ack_before).
static uint64_t entries_poll(struct weir *weir, uint64_t now_us)
{
    struct ip *ip = &weir->ip;
    struct outbox_entry *entry;
    uint32_t length;
    while ((entry = records_front(&ip->outbox, &length))) {
        const uint32_t own = (uint32_t)sizeof *entry + options_room(&entry->ip);
        if (entry_routed(weir, entry) && entry_send(weir, entry, length - own) == WEIR_TX_FULL) {
            if (!give_up(weir, entry))
                return now_us + OUTBOX_RETRY_US;
            count(weir, WEIR_COUNT_OUTBOX_FULL);
        }
        ip->outbox_progress = 0;
        ip->outbox_blocked = false;
        records_pop(&ip->outbox, &weir->memory);
    }
    return WEIR_NEVER;
}

// While its interface is full the first record waits for the retry, or for weir_tx_ready: both are a module's deadline
// (ip_poll).
uint64_t outbox_poll(struct weir *weir, uint64_t now_us)
{
    const uint64_t due_us = weir->ip.outbox.count ? entries_poll(weir, now_us) : WEIR_NEVER;
    weir->ip.outbox_due = weir->ip.outbox.count && !weir->ip.outbox_blocked;
    return due_us;
}
