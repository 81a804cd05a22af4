// SPDX-License-Identifier: BSD-2-Clause
// The neighbour cache.
//
// A neighbour is INCOMPLETE while we ask for it (three requests to all, a second apart); REACHABLE for 30 s after it
// answered us or made a connection progress (confirm); then STALE. The first packet through a stale one starts PROBE:
// the address on file goes on being used, and unless progress confirms it within a second it is asked directly; when it
// stays silent it is asked for anew. An IPv6 neighbour on whose path nothing moves (doubt) is asked directly at once.
//
// Answers count only while we ask; in PROBE only from the address on file. A claim of another link address never
// replaces the one on file: the old owner is asked first (contested), once and at once, or where it has been heard of
// within the last second after another, so that a flood of claims brings one question a second. When it is silent for a
// second all are asked.
//
// An entry that no socket of ours and no route asked for is a stranger's: it was made for a reply to a packet, or by an
// ARP request to us, and anybody can forge the source of either. Strangers have WEIR_CFG_NEIGHBOUR_STRANGERS entries at
// the most, get WEIR_CFG_NEIGHBOUR_STRANGER_RATE new ones a second, and displace only each other, the oldest first and
// none that is in use. A reply to one who gets no entry goes to the link address that the question came from, so that a
// flood of forged sources shuts nobody out. Gateways keep their entries. Our own needs displace strangers first, then
// what is old, then the least recently used.
//
// The timer list holds the entries that have something to do, in the order of their deadlines.
#include "link/neighbour.h"

#define NEIGHBOUR_RETRY_US 1000000u  // RFC 1122 §2.3.2.1: at most one request a second to one destination
// RFC 4861 §10: DELAY_FIRST_PROBE_TIME, in which progress may confirm an IPv6 neighbour
#define NEIGHBOUR_DELAY_US 5000000u
#define NEIGHBOUR_DOUBT_MS 1000u     // who was confirmed later is not doubted, or not yet
#define NEIGHBOUR_RECYCLE_SCAN 256u  // entries looked at for the least recently used, at most
#define NEIGHBOUR_POLL_QUANTUM 32u   // entries served in one poll
#define NEIGHBOUR_RECENCY_SHIFT 18   // used_at: units of 2^18 µs, a quarter of a second
#define NEIGHBOUR_STRANGER_WINDOW_MS 1000u

_Static_assert(WEIR_CFG_NEIGHBOURS < 65536, "indices of neighbours are 16 bits, and 0 is none");

// --- the table -------------------------------------------------------------------------------------------------------

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
    return &weir->arp.buckets[addr_hash(&weir->hash_key, address, netif->index) & weir->arp.bucket_mask];
}

size_t neighbour_bytes(void)
{
    return memory_carve_bytes(WEIR_CFG_NEIGHBOURS * sizeof(struct neighbour)) +
           memory_carve_bytes(neighbour_bucket_count() * sizeof(uint16_t)) +
           records_carve_bytes(WEIR_CFG_NEIGHBOUR_QUEUE_BYTES);
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

struct neighbour *neighbour_find(const struct weir *weir, const struct weir_netif *netif, struct weir_addr address)
{
    for (uint16_t index = *neighbour_bucket(weir, netif, address); index;
         index = neighbour_entry(&weir->arp, index)->next) {
        struct neighbour *n = neighbour_entry(&weir->arp, index);
        if (n->netif == netif && weir_addr_equal(n->address, address))
            return n;
    }
    return NULL;
}

// --- the timer list --------------------------------------------------------------------------------------------------

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

// Its place is looked for from the end: what is to be repeated comes last. What is due at once comes first without a
// search, unless a blocked interface has left older deadlines there.
static void neighbour_timer_set(struct weir *weir, struct neighbour *n, uint32_t delay_us)
{
    struct arp *arp = &weir->arp;
    neighbour_timer_cancel(arp, n);
    n->due_us = weir->now + delay_us;
    uint16_t previous = arp->timer_last;
    if (previous && seq_le(n->due_us, neighbour_entry(arp, arp->timer_first)->due_us))
        previous = 0;
    while (previous && seq_lt(n->due_us, neighbour_entry(arp, previous)->due_us))
        previous = neighbour_entry(arp, previous)->timer_previous;
    uint16_t *const before = previous ? &neighbour_entry(arp, previous)->timer_next : &arp->timer_first;
    n->timer_previous = previous;
    n->timer_next = *before;
    *before = neighbour_index_of(arp, n);
    *(n->timer_next ? &neighbour_entry(arp, n->timer_next)->timer_previous : &arp->timer_last) = *before;
    slow_due(weir, weir->now_us + delay_us);
}

#if WEIR_CFG_IP6
static void neighbour_answers(struct weir *weir, const struct neighbour *n)
{
    if (n->router && n->state != NEIGHBOUR_REACHABLE)
        ip_gateway_answers(weir, n->netif, n->address);
}
static uint32_t neighbour_retry_us(const struct neighbour *n)
{
    return weir_addr_is_v4(n->address) ? NEIGHBOUR_RETRY_US : n->netif->ip6.retransmit_ms * 1000;
}
#else
static inline void neighbour_answers(struct weir *weir, const struct neighbour *n) { (void)weir, (void)n; }
static uint32_t neighbour_retry_us(const struct neighbour *n) { return (void)n, NEIGHBOUR_RETRY_US; }
#endif

// --- socks that wait -------------------------------------------------------------------------------------------------

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

// --- entries ---------------------------------------------------------------------------------------------------------

// An entry that we need ourselves is a stranger's no longer.
static void neighbour_ours(struct arp *arp, struct neighbour *n)
{
    arp->strangers = (uint16_t)(arp->strangers - n->strange);
    n->strange = false;
}

static void neighbour_entry_free(struct weir *weir, struct neighbour *n, int error)
{
    struct arp *arp = &weir->arp;
    uint16_t *link = neighbour_bucket(weir, n->netif, n->address);
    while (*link != neighbour_index_of(arp, n))
        link = &neighbour_entry(arp, *link)->next;
    *link = n->next;
    neighbour_timer_cancel(arp, n);
    neighbour_packets_drop(weir, n);
    neighbour_ours(arp, n);
    n->state = NEIGHBOUR_FREE;
    n->netif = NULL;
    templates_changed(weir);
    n->next = arp->free;
    arp->free = neighbour_index_of(arp, n);
    neighbour_waiters_release(weir, n, error);
}

// How readily an entry makes room. STAYS: not at all, since somebody waits for it, or it is static. A claim to a
// stranger's address, which has us ask for it, makes it no more in use than it was.
enum neighbour_rank { RANK_STAYS, RANK_IN_USE, RANK_OLD, RANK_STRANGE };

static enum neighbour_rank neighbour_rank(const struct weir *weir, const struct neighbour *n)
{
    const bool asked = n->state == NEIGHBOUR_INCOMPLETE;
    const bool unused = asked || n->state == NEIGHBOUR_STALE || (n->state == NEIGHBOUR_PROBE && n->strange) ||
                        (n->state == NEIGHBOUR_REACHABLE && !neighbour_fresh(weir, n));
    if (n->waiting || n->state == NEIGHBOUR_STATIC || (n->packets && !asked))
        return RANK_STAYS;
    if (!unused)
        return RANK_IN_USE;
    return n->strange ? RANK_STRANGE : RANK_OLD;
}

// Strangers go in the order in which they came: being asked for again keeps none of them.
static uint32_t neighbour_age(const struct weir *weir, const struct neighbour *n, enum neighbour_rank rank)
{
    if (rank == RANK_STRANGE)
        return weir->now_ms - n->confirmed_ms;
    return (uint16_t)((weir->now_us >> NEIGHBOUR_RECENCY_SHIFT) - n->used_at);
}

// The entry that makes room most readily, of equal ones the oldest; for a stranger (`strange`) only another's. Gateways
// stay.
static struct neighbour *neighbour_recyclable(struct weir *weir, bool strange)
{
    struct arp *arp = &weir->arp;
    // Tables larger than the bound are searched from a place that moves on with every call.
    const uint32_t scan = min_u32(WEIR_CFG_NEIGHBOURS, NEIGHBOUR_RECYCLE_SCAN);
    uint32_t at = WEIR_CFG_NEIGHBOURS > NEIGHBOUR_RECYCLE_SCAN ? random_below(&weir->random, WEIR_CFG_NEIGHBOURS) : 0,
             best_age = 0;
    enum neighbour_rank best_rank = strange ? RANK_OLD : RANK_STAYS;
    struct neighbour *best = NULL;
    for (uint32_t i = 0; i < scan; i++, at = at + 1 < WEIR_CFG_NEIGHBOURS ? at + 1 : 0) {
        struct neighbour *n = &arp->table[at];
        if (strange && !n->strange)
            continue;
        const enum neighbour_rank rank = neighbour_rank(weir, n);
        const uint32_t age = neighbour_age(weir, n, rank);
        const bool better = rank > best_rank || (best && rank == best_rank && age > best_age);
        if (better && !ip_is_gateway(weir, n->netif, n->address)) {
            best = n;
            best_rank = rank;
            best_age = age;
        }
    }
    return best;
}

// Whether strangers may have one more entry in this second.
static bool neighbour_stranger_due(struct weir *weir)
{
    struct arp *arp = &weir->arp;
    if (weir->now_ms - arp->strangers_ms >= NEIGHBOUR_STRANGER_WINDOW_MS) {
        arp->strangers_ms = weir->now_ms;
        arp->strangers_made = 0;
    }
    return arp->strangers_made < WEIR_CFG_NEIGHBOUR_STRANGER_RATE;
}

// Sees to it that an entry is free. false, and counted: nothing may make room.
static bool neighbour_entry_room(struct weir *weir, bool strange)
{
    struct arp *arp = &weir->arp;
    if (arp->free && !(strange && arp->strangers >= WEIR_CFG_NEIGHBOUR_STRANGERS))
        return true;
    struct neighbour *old = neighbour_recyclable(weir, strange);
    count(weir, WEIR_COUNT_ARP_FULL);
    if (old)
        neighbour_entry_free(weir, old, WEIR_OK);
    return old != NULL;
}

// A new entry, linked and otherwise empty. NULL: the table is full, or strangers had their share.
struct neighbour *neighbour_entry_new(struct weir *weir, struct weir_netif *netif, struct weir_addr address,
                                      bool strange)
{
    struct arp *arp = &weir->arp;
    strange = strange && !ip_is_gateway(weir, netif, address);
    if (strange && !neighbour_stranger_due(weir)) {
        count(weir, WEIR_COUNT_ARP_FULL);
        return NULL;
    }
    if (!neighbour_entry_room(weir, strange))
        return NULL;
    struct neighbour *n = neighbour_entry(arp, arp->free);
    arp->free = n->next;
    memset(n, 0, sizeof *n);
    n->netif = netif;
    n->address = address;
    n->strange = strange;
    arp->strangers = (uint16_t)(arp->strangers + strange);
    arp->strangers_made = (uint16_t)(arp->strangers_made + strange);
    n->confirmed_ms = weir->now_ms;
    n->used_at = (uint16_t)(weir->now_us >> NEIGHBOUR_RECENCY_SHIFT);
    uint16_t *link = neighbour_bucket(weir, netif, address);
    n->next = *link;
    *link = neighbour_index_of(arp, n);
    return n;
}

void neighbour_confirmed(struct weir *weir, struct neighbour *n)
{
    neighbour_answers(weir, n);
    n->state = NEIGHBOUR_REACHABLE;
    n->confirmed_ms = weir->now_ms;
    n->tries = 0;
    if (!n->packets)
        neighbour_timer_cancel(&weir->arp, n);
}

// The link address is known: who waited goes on with the next poll.
void neighbour_resolved(struct weir *weir, struct neighbour *n, const uint8_t mac[6])
{
    memcpy(n->mac, mac, 6);
    templates_changed(weir);
    neighbour_confirmed(weir, n);
    if (n->packets)
        neighbour_timer_set(weir, n, 0);
    neighbour_waiters_release(weir, n, WEIR_OK);
}

#if WEIR_CFG_IP6
void neighbour_stale(struct weir *weir, struct neighbour *n, const uint8_t mac[6])
{
    neighbour_resolved(weir, n, mac);
    n->state = NEIGHBOUR_STALE;
}

void neighbour_doubt(struct weir_netif *netif, const struct path *path)
{
    struct neighbour *const n = neighbour_of_path(netif, path);
    if (!n || weir_addr_is_v4(n->address) || n->state < NEIGHBOUR_REACHABLE || n->state > NEIGHBOUR_PROBE || n->tries ||
        netif->weir->now_ms - n->confirmed_ms < NEIGHBOUR_DOUBT_MS)
        return;
    n->state = NEIGHBOUR_PROBE;
    neighbour_timer_set(netif->weir, n, 0);
}
#endif

void neighbour_contested(struct weir *weir, struct neighbour *n)
{
    if (n->state == NEIGHBOUR_PROBE && n->tries)
        return;
    const bool lately = weir->now_ms - n->confirmed_ms < NEIGHBOUR_DOUBT_MS;
    n->state = NEIGHBOUR_PROBE;
    n->tries = NEIGHBOUR_TRIES - 1;
    neighbour_timer_set(weir, n, lately ? NEIGHBOUR_RETRY_US : 0);
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

int weir_neighbour_add_static(struct weir *weir, struct weir_netif *netif, struct weir_addr address,
                              const uint8_t mac[6])
{
    if (addr_foreign(address))
        return WEIR_NOT_SUPPORTED;
    if (netif->link != &weir_link_ethernet || weir_addr_is_any(address) || mac[0] & 1)
        return WEIR_INVALID;
    struct neighbour *n = neighbour_find(weir, netif, address);
    if (!n)
        n = neighbour_entry_new(weir, netif, address, false);
    if (!n)
        return WEIR_NO_MEMORY;
    neighbour_resolved(weir, n, mac);
    neighbour_ours(&weir->arp, n);
    n->state = NEIGHBOUR_STATIC;
    return WEIR_OK;
}

// --- sending ---------------------------------------------------------------------------------------------------------

// There is no entry for the next hop: a reply goes back to the link address that the question came from, all else is
// lost.
static const uint8_t *neighbour_unknown(struct weir_netif *netif, const struct sock *waiter)
{
    struct weir *weir = netif->weir;
    if (!waiter && weir->arp.answered) {
        count(weir, WEIR_COUNT_ARP_ANSWERED);
        return weir->arp.answered;
    }
    NETIF_COUNT(netif, tx_dropped);
    return NULL;
}

const uint8_t *neighbour_resolve(struct weir_netif *netif, struct path *path, uint16_t ethertype,
                                 const struct packet_out *out, struct sock *waiter, enum weir_tx_verdict *verdict)
{
    struct weir *weir = netif->weir;
    *verdict = WEIR_TX_DONE;
    struct neighbour *n = neighbour_find(weir, netif, path->next_hop);
    if (!n) {
        n = neighbour_entry_new(weir, netif, path->next_hop, waiter == NULL);  // no waiter: a reply to whoever it was
        if (!n)
            return neighbour_unknown(netif, waiter);
        n->state = NEIGHBOUR_INCOMPLETE;
        neighbour_timer_set(weir, n, 0);
    }
    if (waiter)
        neighbour_ours(&weir->arp, n);
    path->neighbour = neighbour_index_of(&weir->arp, n);
    n->used_at = (uint16_t)(weir->now_us >> NEIGHBOUR_RECENCY_SHIFT);
    if (n->state == NEIGHBOUR_STALE || (n->state == NEIGHBOUR_REACHABLE && !neighbour_fresh(weir, n))) {
        n->state = NEIGHBOUR_PROBE;
        neighbour_timer_set(weir, n, weir_addr_is_v4(n->address) ? NEIGHBOUR_RETRY_US : NEIGHBOUR_DELAY_US);
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
    struct neighbour *const n = neighbour_of_path(netif, path);
    if (n && n->state >= NEIGHBOUR_REACHABLE && n->state <= NEIGHBOUR_PROBE)
        neighbour_confirmed(netif->weir, n);
}

// --- time ------------------------------------------------------------------------------------------------------------

// How long an answer to the question just asked is waited for. Where it was the last to the link address on file, all
// are asked next, and anybody may answer: then no router's word makes the wait shorter than RFC 1122's.
static uint32_t neighbour_patience_us(const struct neighbour *n)
{
    const bool last = n->state == NEIGHBOUR_PROBE && n->tries == NEIGHBOUR_TRIES;
    return last ? max_u32(neighbour_retry_us(n), NEIGHBOUR_RETRY_US) : neighbour_retry_us(n);
}

// The next question to a neighbour, or the end of the questions.
static void neighbour_ask(struct weir *weir, struct neighbour *n)
{
    if (n->state == NEIGHBOUR_PROBE && n->tries >= NEIGHBOUR_TRIES) {
        n->state = NEIGHBOUR_INCOMPLETE;
        n->tries = 0;
        ip_gateway_silent(weir, n->netif, n->address);
    }
    if (n->tries >= NEIGHBOUR_TRIES) {
        ip_gateway_silent(weir, n->netif, n->address);
        neighbour_entry_free(weir, n, WEIR_HOST_UNREACHABLE);
        return;
    }
    if (ip_family_of(n->address)->neighbour_ask(n, n->state == NEIGHBOUR_PROBE ? n->mac : NULL) == WEIR_TX_FULL)
        return;
    n->tries++;
    neighbour_timer_set(weir, n, neighbour_patience_us(n));
}

static void neighbour_due(struct weir *weir, struct neighbour *n)
{
    if (n->state == NEIGHBOUR_INCOMPLETE || n->state == NEIGHBOUR_PROBE)
        neighbour_ask(weir, n);
    else if (neighbour_packets_send(weir, n))
        neighbour_timer_cancel(&weir->arp, n);
}

// Serves at most NEIGHBOUR_POLL_QUANTUM entries. Those of a blocked interface are passed over: weir_tx_ready calls
// again.
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
