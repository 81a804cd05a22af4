// SPDX-License-Identifier: BSD-2-Clause
// The neighbour cache.
//
// A neighbour is INCOMPLETE while we ask for it (three requests to all, a second apart); REACHABLE for 30 s after it answered us or
// made a connection progress (confirm); then STALE. The first packet through a stale one starts PROBE: the address on file goes on
// being used, and unless progress confirms it within a second it is asked directly; when it stays silent it is asked for anew.
//
// What the wire may change: an entry is made only by our own need, or by a request to us from our own subnet, which may take only
// free and stale entries. Answers count only while we ask; in PROBE only from the address on file. A claim of another link address
// never replaces the one on file, it makes it STALE: the old owner is asked first.
//
// The timer list holds the entries that have something to do, in the order of their deadlines. It stays sorted without a search
// because an entry joins it either now (first) or a second from now (last).
#include "link/neighbour.h"

#define NEIGHBOUR_TRIES 3u           // requests before giving up
#define NEIGHBOUR_RETRY_US 1000000u  // RFC 1122 §2.3.2.1: at most one request a second to one destination
#define NEIGHBOUR_PACKETS_MAX 3u     // datagrams that wait for one neighbour (RFC 1122 §2.3.2.2 asks for one)
#define NEIGHBOUR_RECYCLE_SCAN 256u  // entries looked at for the least recently used, at most
#define NEIGHBOUR_POLL_QUANTUM 32u   // entries served in one poll
#define NEIGHBOUR_RECENCY_SHIFT 18   // used_at: units of 2^18 µs, a quarter of a second

_Static_assert(WEIR_CFG_NEIGHBOURS < 65536, "indices of neighbours are 16 bits, and 0 is none");

struct neighbour_packet {
    struct neighbour_packet *next;
    uint32_t length;
    uint16_t ethertype;
    bool sent;        // static builds: a hole in the ring until it comes to its front
    uint8_t bytes[];  // from the network header
};

// --- the table -------------------------------------------------------------------------------------------------------------

static struct neighbour *neighbour_entry(const struct arp *arp, uint16_t index) { return &arp->table[index - 1]; }
static uint16_t neighbour_index_of(const struct arp *arp, const struct neighbour *n) { return (uint16_t)(n - arp->table + 1); }

static uint32_t neighbour_bucket_count(void)
{
    uint32_t buckets = 1;
    while (buckets < WEIR_CFG_NEIGHBOURS)
        buckets *= 2;
    return buckets;
}

// Keyed: nobody can choose addresses that share a bucket.
static uint16_t *neighbour_bucket(const struct weir *weir, const struct weir_netif *netif, struct weir_addr address)
{
    return &weir->arp.buckets[siphash_words(&weir->hash_key, address.v4, netif->index) & weir->arp.bucket_mask];
}

size_t neighbour_bytes(void)
{
    return memory_carve_bytes(WEIR_CFG_NEIGHBOURS * sizeof(struct neighbour)) +
           memory_carve_bytes(neighbour_bucket_count() * sizeof(uint16_t)) + records_carve_bytes(WEIR_CFG_NEIGHBOUR_QUEUE_BYTES);
}

int neighbour_init(struct weir *weir)
{
    struct arp *arp = &weir->arp;
    arp->bucket_mask = neighbour_bucket_count() - 1;
    arp->table = memory_carve(&weir->memory, WEIR_CFG_NEIGHBOURS * sizeof *arp->table);
    arp->buckets = memory_carve(&weir->memory, neighbour_bucket_count() * sizeof *arp->buckets);
    if (!arp->table || !arp->buckets)
        return WEIR_NO_MEMORY;
    for (uint32_t i = WEIR_CFG_NEIGHBOURS; i; i--) {
        neighbour_entry(arp, (uint16_t)i)->next = arp->free;
        arp->free = (uint16_t)i;
    }
    if (WEIR_CFG_ALLOCATOR)
        return WEIR_OK;
    records_init(&arp->queue, WEIR_CFG_NEIGHBOUR_QUEUE_BYTES);
    return records_carve(&arp->queue, &weir->memory);
}

static struct neighbour *neighbour_find(const struct weir *weir, const struct weir_netif *netif, struct weir_addr address)
{
    for (uint16_t index = *neighbour_bucket(weir, netif, address); index; index = neighbour_entry(&weir->arp, index)->next) {
        struct neighbour *n = neighbour_entry(&weir->arp, index);
        if (n->netif == netif && weir_addr_equal(n->address, address))
            return n;
    }
    return NULL;
}

// --- the timer list --------------------------------------------------------------------------------------------------------

static bool neighbour_timer_armed(const struct arp *arp, const struct neighbour *n)
{
    return n->timer_previous || arp->timer_first == neighbour_index_of(arp, n);
}

static void neighbour_timer_cancel(struct arp *arp, struct neighbour *n)
{
    if (!neighbour_timer_armed(arp, n))
        return;
    *(n->timer_previous ? &neighbour_entry(arp, n->timer_previous)->timer_next : &arp->timer_first) = n->timer_next;
    *(n->timer_next ? &neighbour_entry(arp, n->timer_next)->timer_previous : &arp->timer_last) = n->timer_previous;
    n->timer_next = n->timer_previous = 0;
}

static void neighbour_timer_now(struct weir *weir, struct neighbour *n)
{
    struct arp *arp = &weir->arp;
    neighbour_timer_cancel(arp, n);
    // Not after what is due already (a blocked interface leaves old deadlines behind).
    const bool old_first = arp->timer_first && seq_lt(neighbour_entry(arp, arp->timer_first)->due_us, weir->now);
    n->due_us = old_first ? neighbour_entry(arp, arp->timer_first)->due_us : weir->now;
    n->timer_next = arp->timer_first;
    *(n->timer_next ? &neighbour_entry(arp, n->timer_next)->timer_previous : &arp->timer_last) = neighbour_index_of(arp, n);
    arp->timer_first = neighbour_index_of(arp, n);
    slow_due(weir, weir->now_us);
}

static void neighbour_timer_retry(struct weir *weir, struct neighbour *n)
{
    struct arp *arp = &weir->arp;
    neighbour_timer_cancel(arp, n);
    n->due_us = weir->now + NEIGHBOUR_RETRY_US;
    n->timer_previous = arp->timer_last;
    *(n->timer_previous ? &neighbour_entry(arp, n->timer_previous)->timer_next : &arp->timer_first) = neighbour_index_of(arp, n);
    arp->timer_last = neighbour_index_of(arp, n);
    slow_due(weir, weir->now_us + NEIGHBOUR_RETRY_US);
}

// --- datagrams that wait ---------------------------------------------------------------------------------------------------

static uint32_t neighbour_packet_bytes(uint32_t length) { return (uint32_t)sizeof(struct neighbour_packet) + length; }

static struct neighbour_packet *neighbour_packet_new(struct weir *weir, uint32_t length)
{
    struct arp *arp = &weir->arp;
    const uint32_t bytes = neighbour_packet_bytes(length);
    if (!WEIR_CFG_ALLOCATOR)
        return records_push(&arp->queue, &weir->memory, bytes);
    if (bytes > WEIR_CFG_NEIGHBOUR_QUEUE_BYTES - arp->queue_bytes)
        return NULL;
    struct neighbour_packet *packet = memory_get(&weir->memory, bytes);
    if (packet)
        arp->queue_bytes += bytes;
    return packet;
}

static void neighbour_packet_free(struct weir *weir, struct neighbour_packet *packet)
{
    struct arp *arp = &weir->arp;
    if (WEIR_CFG_ALLOCATOR) {
        arp->queue_bytes -= neighbour_packet_bytes(packet->length);
        memory_put(&weir->memory, packet, neighbour_packet_bytes(packet->length));
        return;
    }
    packet->sent = true;
    struct neighbour_packet *front;
    uint32_t bytes;
    while ((front = records_front(&arp->queue, &bytes)) && front->sent)
        records_pop(&arp->queue, &weir->memory);
}

static void neighbour_packets_drop(struct weir *weir, struct neighbour *n)
{
    while (n->packets) {
        struct neighbour_packet *packet = n->packets;
        n->packets = packet->next;
        neighbour_packet_free(weir, packet);
        count(weir, WEIR_COUNT_ARP_UNRESOLVED);
    }
}

// Keeps a copy of the packet for when the neighbour is known. Large segments and sums that a device should complete are the business
// of connections, and these wait themselves.
static bool neighbour_packet_keep(struct weir *weir, struct neighbour *n, uint16_t ethertype, const struct packet_out *out)
{
    struct neighbour_packet **end = &n->packets;
    uint32_t waiting = 0;
    for (; *end; end = &(*end)->next)
        waiting++;
    if (waiting == NEIGHBOUR_PACKETS_MAX || out->tx.segment_size || out->tx.checksum_start)
        return false;
    struct neighbour_packet *packet = neighbour_packet_new(weir, packet_out_length(out));
    if (!packet)
        return false;
    packet->next = NULL;
    packet->length = packet_out_length(out);
    packet->ethertype = ethertype;
    packet->sent = false;
    const uint32_t header_length = packet->length - out->payload_length;
    memcpy(packet->bytes, out->head, header_length);
    uint8_t *to = packet->bytes + header_length;
    for (uint16_t i = 1; i < out->tx.count; i++) {
        memcpy(to, out->slices[i].data, out->slices[i].length);
        to += out->slices[i].length;
    }
    *end = packet;
    return true;
}

// Sends what waited. false: the interface is full; the rest stays.
static bool neighbour_packets_send(struct weir *weir, struct neighbour *n)
{
    struct weir_netif *netif = n->netif;
    while (n->packets) {
        struct neighbour_packet *packet = n->packets;
        const struct ethernet header = {.destination = n->mac,
                                        .source = netif->mac,
                                        .type = packet->ethertype,
                                        .vlan = netif->vlan,
                                        .tagged = netif->flags & WEIR_NETIF_VLAN};
        struct packet_out out;
        packet_out_init(&out);
        packet_out_payload(&out, packet->bytes, packet->length);
        out.head = ethernet_emit(out.head, &header);
        if (netif_transmit(netif, &out) == WEIR_TX_FULL)
            return false;
        n->packets = packet->next;
        neighbour_packet_free(weir, packet);
    }
    return true;
}

// --- socks that wait -------------------------------------------------------------------------------------------------------

static void neighbour_waiter_add(struct neighbour *n, struct sock *sock)
{
    if (sock->flags & SOCK_WAITS_NEIGHBOUR)
        return;
    sock->flags |= SOCK_WAITS_NEIGHBOUR | SOCK_ON_OUTPUT;
    sock->output_next = n->waiting;
    n->waiting = sock;
}

// All go back to the output list, first come first; with an error they are told.
static void neighbour_waiters_release(struct weir *weir, struct neighbour *n, int error)
{
    struct sock *first = NULL;
    for (struct sock *sock = n->waiting, *next; sock; sock = next) {
        next = sock->output_next;
        sock->output_next = first;
        first = sock;
    }
    n->waiting = NULL;
    for (struct sock *sock = first, *next; sock; sock = next) {
        next = sock->output_next;
        sock->flags &= (uint8_t) ~(SOCK_WAITS_NEIGHBOUR | SOCK_ON_OUTPUT);
        sock_output(&weir->socks, sock);
        if (error)
            neighbour_failed(weir, sock, error);
    }
}

// --- entries ---------------------------------------------------------------------------------------------------------------

static void neighbour_entry_free(struct weir *weir, struct neighbour *n, int error)
{
    struct arp *arp = &weir->arp;
    uint16_t *link = neighbour_bucket(weir, n->netif, n->address);
    while (*link != neighbour_index_of(arp, n))
        link = &neighbour_entry(arp, *link)->next;
    *link = n->next;
    neighbour_timer_cancel(arp, n);
    neighbour_packets_drop(weir, n);
    n->state = NEIGHBOUR_FREE;
    n->netif = NULL;
    ways_changed(weir);
    n->next = arp->free;
    arp->free = neighbour_index_of(arp, n);
    neighbour_waiters_release(weir, n, error);
}

// How readily an entry makes room: 0: not at all, as long as somebody waits for it, or it is static; IN_USE; ASKED: for a reply alone, so
// for a stranger who may not exist; OLD: nobody needs it now.
enum neighbour_rank { RANK_STAYS, RANK_IN_USE, RANK_ASKED, RANK_OLD };

static enum neighbour_rank neighbour_rank(const struct weir *weir, const struct neighbour *n)
{
    if (n->waiting || n->state == NEIGHBOUR_STATIC)
        return RANK_STAYS;
    if (n->state == NEIGHBOUR_INCOMPLETE)
        return RANK_ASKED;
    if (n->packets)
        return RANK_STAYS;
    return n->state == NEIGHBOUR_STALE || (n->state == NEIGHBOUR_REACHABLE && !neighbour_fresh(weir, n)) ? RANK_OLD : RANK_IN_USE;
}

// The entry that goes most readily, of equal ones the least recently used. What strangers bring about (`strange`) displaces old ones only.
static struct neighbour *neighbour_recyclable(struct weir *weir, bool strange)
{
    struct arp *arp = &weir->arp;
    const uint16_t now = (uint16_t)(weir->now_us >> NEIGHBOUR_RECENCY_SHIFT);
    // Tables larger than the bound are searched from a place that moves on with every call.
    const uint32_t scan = min_u32(WEIR_CFG_NEIGHBOURS, NEIGHBOUR_RECYCLE_SCAN);
    uint32_t at = WEIR_CFG_NEIGHBOURS > NEIGHBOUR_RECYCLE_SCAN ? random_below(&weir->random, WEIR_CFG_NEIGHBOURS) : 0;
    enum neighbour_rank best_rank = strange ? RANK_ASKED : RANK_STAYS;
    struct neighbour *best = NULL;
    for (uint32_t i = 0; i < scan; i++, at = at + 1 < WEIR_CFG_NEIGHBOURS ? at + 1 : 0) {
        struct neighbour *n = &arp->table[at];
        const enum neighbour_rank rank = neighbour_rank(weir, n);
        const bool older = best && rank == best_rank && (uint16_t)(now - n->used_at) > (uint16_t)(now - best->used_at);
        if (rank > best_rank || older) {
            best = n;
            best_rank = rank;
        }
    }
    return best;
}

// A new entry, linked and otherwise empty. NULL, and counted: nothing may make room for it.
static struct neighbour *neighbour_entry_new(struct weir *weir, struct weir_netif *netif, struct weir_addr address, bool strange)
{
    struct arp *arp = &weir->arp;
    if (!arp->free) {
        struct neighbour *old = neighbour_recyclable(weir, strange);
        count(weir, WEIR_COUNT_ARP_FULL);
        if (!old)
            return NULL;
        neighbour_entry_free(weir, old, WEIR_OK);
    }
    struct neighbour *n = neighbour_entry(arp, arp->free);
    arp->free = n->next;
    memset(n, 0, sizeof *n);
    n->netif = netif;
    n->address = address;
    n->used_at = (uint16_t)(weir->now_us >> NEIGHBOUR_RECENCY_SHIFT);
    uint16_t *link = neighbour_bucket(weir, netif, address);
    n->next = *link;
    *link = neighbour_index_of(arp, n);
    return n;
}

static void neighbour_confirmed(struct weir *weir, struct neighbour *n)
{
    n->state = NEIGHBOUR_REACHABLE;
    n->confirmed_ms = weir->now_ms;
    n->tries = 0;
    if (!n->packets)
        neighbour_timer_cancel(&weir->arp, n);
}

// The link address is known: who waited goes on with the next poll.
static void neighbour_resolved(struct weir *weir, struct neighbour *n, const uint8_t mac[6])
{
    memcpy(n->mac, mac, 6);
    ways_changed(weir);
    neighbour_confirmed(weir, n);
    if (n->packets)
        neighbour_timer_now(weir, n);
    neighbour_waiters_release(weir, n, WEIR_OK);
}

void neighbour_free(struct weir *weir)
{
    struct arp *arp = &weir->arp;
    // Interfaces have been removed, and their entries with them.
    if (!weir->carved_all) {
        memory_put(&weir->memory, arp->table, arp->table ? WEIR_CFG_NEIGHBOURS * sizeof *arp->table : 0);
        memory_put(&weir->memory, arp->buckets, arp->buckets ? neighbour_bucket_count() * sizeof *arp->buckets : 0);
    }
    arp->table = NULL;
    arp->buckets = NULL;
}

void neighbour_flush(struct weir *weir, struct weir_netif *netif, bool removed)
{
    for (uint32_t i = 0; i < WEIR_CFG_NEIGHBOURS; i++) {
        struct neighbour *n = &weir->arp.table[i];
        if (n->netif == netif && (removed || n->state != NEIGHBOUR_STATIC))
            neighbour_entry_free(weir, n, WEIR_OK);
    }
}

int weir_neighbour_add_static(struct weir *weir, struct weir_netif *netif, struct weir_addr address, const uint8_t mac[6])
{
    if (netif->link != &weir_link_ethernet || weir_addr_is_any(address) || mac[0] & 1)
        return WEIR_INVALID;
    struct neighbour *n = neighbour_find(weir, netif, address);
    if (!n)
        n = neighbour_entry_new(weir, netif, address, false);
    if (!n)
        return WEIR_NO_MEMORY;
    neighbour_resolved(weir, n, mac);
    n->state = NEIGHBOUR_STATIC;
    return WEIR_OK;
}

// --- sending ---------------------------------------------------------------------------------------------------------------

const uint8_t *neighbour_resolve(struct weir_netif *netif, struct path *path, uint16_t ethertype, const struct packet_out *out,
                                 struct sock *waiter, enum weir_tx_verdict *verdict)
{
    struct weir *weir = netif->weir;
    struct neighbour *n = weir->arp.recent;
    *verdict = WEIR_TX_DONE;
    if (!n || n->netif != netif || !weir_addr_equal(n->address, path->next_hop))  // a new path most often leads where the last one did
        n = weir->arp.recent = neighbour_find(weir, netif, path->next_hop);
    if (!n) {
        n = neighbour_entry_new(weir, netif, path->next_hop, waiter == NULL);  // no waiter: a reply to whoever it was
        if (!n) {
            NETIF_COUNT(netif, tx_dropped);
            return NULL;
        }
        n->state = NEIGHBOUR_INCOMPLETE;
        neighbour_timer_now(weir, n);
    }
    path->neighbour = n;
    n->used_at = (uint16_t)(weir->now_us >> NEIGHBOUR_RECENCY_SHIFT);
    if (n->state == NEIGHBOUR_STALE || (n->state == NEIGHBOUR_REACHABLE && !neighbour_fresh(weir, n))) {
        n->state = NEIGHBOUR_PROBE;
        neighbour_timer_retry(weir, n);
    }
    if (n->state != NEIGHBOUR_INCOMPLETE)
        return n->mac;
    if (waiter) {
        neighbour_waiter_add(n, waiter);
        *verdict = WEIR_TX_UNRESOLVED;
    } else if (!neighbour_packet_keep(weir, n, ethertype, out)) {
        count(weir, WEIR_COUNT_ARP_UNRESOLVED);
    }
    return NULL;
}

void neighbour_confirm(struct weir_netif *netif, struct path *path)
{
    struct neighbour *n = path->neighbour;
    if (neighbour_of_path(netif, path) && n->state >= NEIGHBOUR_REACHABLE && n->state <= NEIGHBOUR_PROBE)
        neighbour_confirmed(netif->weir, n);
}

// --- what the wire says ----------------------------------------------------------------------------------------------------

static void neighbour_reply_seen(struct weir *weir, struct neighbour *n, const uint8_t mac[6])
{
    if ((n->state == NEIGHBOUR_INCOMPLETE && n->tries) || (n->state == NEIGHBOUR_PROBE && memcmp(n->mac, mac, 6) == 0))
        neighbour_resolved(weir, n, mac);
}

// A request shows where its sender claims to be.
static void neighbour_request_seen(struct weir *weir, struct neighbour *n, const uint8_t mac[6], bool to_us)
{
    if (n->state == NEIGHBOUR_INCOMPLETE) {
        if (to_us)
            neighbour_resolved(weir, n, mac);
    } else if (n->state == NEIGHBOUR_REACHABLE && memcmp(n->mac, mac, 6) != 0) {
        n->state = NEIGHBOUR_STALE;
        ways_changed(weir);
        n->tries = NEIGHBOUR_TRIES - 1;  // one question to the old owner is enough
    }
}

static bool neighbour_on_subnet(const struct weir_netif *netif, uint32_t address)
{
    const uint32_t mask = netif->prefix_length ? 0xffffffffu << (32 - netif->prefix_length) : 0;
    return ((address ^ netif->address.v4) & mask) == 0;
}

static void neighbour_learn(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp)
{
    struct neighbour *n = neighbour_entry_new(weir, netif, weir_addr_v4(arp->sender), true);
    if (!n)
        return;
    memcpy(n->mac, arp->sender_mac, 6);
    n->state = NEIGHBOUR_STALE;
}

void neighbour_seen(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp, bool to_us)
{
    if (arp->sender == 0)
        return;
    struct neighbour *n = neighbour_find(weir, netif, weir_addr_v4(arp->sender));
    if (n && arp->operation == ARP_REQUEST)
        neighbour_request_seen(weir, n, arp->sender_mac, to_us);
    else if (n && to_us)
        neighbour_reply_seen(weir, n, arp->sender_mac);
    else if (!n && to_us && arp->operation == ARP_REQUEST && neighbour_on_subnet(netif, arp->sender))
        neighbour_learn(weir, netif, arp);
}

// --- time ------------------------------------------------------------------------------------------------------------------

// The next question to a neighbour, or the end of the questions.
static void neighbour_ask(struct weir *weir, struct neighbour *n)
{
    if (n->state == NEIGHBOUR_PROBE && n->tries >= NEIGHBOUR_TRIES) {
        n->state = NEIGHBOUR_INCOMPLETE;
        n->tries = 0;
    }
    if (n->tries >= NEIGHBOUR_TRIES) {
        neighbour_entry_free(weir, n, WEIR_HOST_UNREACHABLE);
        return;
    }
    const uint8_t *destination = n->state == NEIGHBOUR_PROBE ? n->mac : ethernet_broadcast;
    const uint8_t *target_mac = n->state == NEIGHBOUR_PROBE ? n->mac : arp_unknown_mac;
    if (arp_send(n->netif, destination, ARP_REQUEST, n->netif->address.v4, target_mac, n->address.v4) == WEIR_TX_FULL)
        return;
    n->tries++;
    neighbour_timer_retry(weir, n);
}

static void neighbour_due(struct weir *weir, struct neighbour *n)
{
    if (n->state == NEIGHBOUR_INCOMPLETE || n->state == NEIGHBOUR_PROBE)
        neighbour_ask(weir, n);
    else if (neighbour_packets_send(weir, n))
        neighbour_timer_cancel(&weir->arp, n);
}

// Serves at most NEIGHBOUR_POLL_QUANTUM entries. Those of a blocked interface are passed over: weir_tx_ready calls again.
uint64_t neighbour_poll(struct weir *weir)
{
    struct arp *arp = &weir->arp;
    uint32_t served = 0;
    for (uint16_t index = arp->timer_first, next; index; index = next) {
        struct neighbour *n = neighbour_entry(arp, index);
        next = n->timer_next;
        if (!netif_open(n->netif))
            continue;
        if (seq_lt(weir->now, n->due_us))
            return arp_wait_until(weir, n->due_us);
        if (served++ == NEIGHBOUR_POLL_QUANTUM)
            return weir->now_us;
        neighbour_due(weir, n);
    }
    return WEIR_NEVER;
}
