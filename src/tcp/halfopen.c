// SPDX-License-Identifier: BSD-2-Clause
// A list for each retransmission: all entries of one list wait equally long, so its first is due first. An entry goes from
// list to list (1, 2, 4, 8, 16 s, and 32 s for the answer to the last). Work per call: one entry; per poll: at most HALF_OPEN_BATCH.
#include "tcp/halfopen.h"

#include "instance.h"
#include "tcp/internal.h"
#include "tcp/isn.h"
#include "tcp/syncookie.h"
#include "tcp/timewait.h"

#define HALF_OPEN_LEVELS 6u
#define HALF_OPEN_BATCH 256u
#define HALF_OPEN_KEEP 64u       // free entries kept for the next
#define HALF_OPEN_BUDGET_MIN 16u // entries a listener may have, however small its backlog
#define HALF_OPEN_REPLIES 8u     // answers to one entry's segments between two retransmissions (RFC 5961 §7)
#define CURSOR_BITS (WEIR_CFG_ALLOCATOR ? 5u : 16u)  // of a place within a chain

enum half_open_flag {
    HALF_OPEN_SCALING = 1,
    HALF_OPEN_SACK = 2,
    HALF_OPEN_TIMESTAMPS = 4,
    HALF_OPEN_REPEATED = 8,  // the SYN-ACK left more than once: its round trip is not known
    HALF_OPEN_DEFERRED = 16, // acknowledged, but the listener waits for data (DEFER_ACCEPT)
};

struct tcp_half_open {
    struct table_node node;
    struct tcp_half_open *next, **link;  // in the list of its level
    struct tcp_listener *listener;
    struct weir_addr local, remote;
    uint16_t local_port, remote_port;
    uint32_t iss, irs;
    uint32_t sent_us;                    // when it came to its level: the SYN-ACK left
#if WEIR_CFG_TCP_TIMESTAMPS
    uint32_t ts_recent;
#endif
    uint16_t peer_mss, our_mss;
    uint8_t snd_scale : 4, rcv_scale : 4;
    uint8_t flags;                       // enum half_open_flag
    uint8_t level;                       // retransmissions so far
    uint8_t replies;                     // since then
#if !WEIR_CFG_ARP_CACHE
    uint8_t link_source[6];              // where the SYN came from: nothing else knows the way back
#endif
};
_Static_assert(sizeof(struct tcp_half_open) <= (sizeof(void *) == 8 ? 80 : 64), "a half-open connection is small");

struct half_opens {
    struct table table;
    struct pool pool;
    struct {
        struct tcp_half_open *head, **tail;
    } level[HALF_OPEN_LEVELS];
};

int half_open_init(struct weir *weir)
{
    struct half_opens *all = memory_carve(&weir->memory, sizeof *all);
    weir->tcp.half_opens = all;
    if (all == NULL)
        return WEIR_NO_MEMORY;
    table_init(&all->table);
    pool_init(&all->pool, sizeof(struct tcp_half_open), HALF_OPEN_KEEP);
    for (uint32_t i = 0; i < HALF_OPEN_LEVELS; i++)
        all->level[i].tail = &all->level[i].head;
    return pool_carve(&all->pool, &weir->memory, WEIR_CFG_ALLOCATOR ? 0 : WEIR_CFG_TCP_HALF_OPEN);
}

// --- the lists and the table -----------------------------------------------------------------------------------------------

static uint32_t interval_us(uint32_t level) { return 1000000u << level; }

static void list_append(struct weir *weir, struct tcp_half_open *entry, uint8_t level)
{
    struct half_opens *all = weir->tcp.half_opens;
    entry->level = level;
    entry->sent_us = weir->now;
    entry->replies = 0;
    entry->next = NULL;
    entry->link = all->level[level].tail;
    *all->level[level].tail = entry;
    all->level[level].tail = &entry->next;
    slow_due(weir, weir->now_us + interval_us(level));
}

static void list_remove(struct half_opens *all, struct tcp_half_open *entry)
{
    *entry->link = entry->next;
    if (entry->next)
        entry->next->link = entry->link;
    else
        all->level[entry->level].tail = entry->link;
}

static void entry_end(struct weir *weir, struct tcp_half_open *entry)
{
    struct half_opens *all = weir->tcp.half_opens;
    entry->listener->half_open_count--;
    list_remove(all, entry);
    table_remove(&all->table, &weir->memory, &entry->node);
    pool_put(&all->pool, &weir->memory, entry);
}

static struct tcp_half_open *entry_find(const struct weir *weir, struct weir_addr local, uint16_t local_port, struct weir_addr remote, uint16_t remote_port)
{
    const struct table *table = &weir->tcp.half_opens->table;
    if (table->count == 0)
        return NULL;
    const uint32_t hash = tcp_hash(weir, local, local_port, remote, remote_port);
    for (struct table_node *node = table_first(table, hash); node != NULL; node = node->next) {
        struct tcp_half_open *entry = container_of(node, struct tcp_half_open, node);
        if (node->hash == hash && entry->local_port == local_port && entry->remote_port == remote_port && weir_addr_equal(entry->local, local) &&
            weir_addr_equal(entry->remote, remote))
            return entry;
    }
    return NULL;
}

struct tcp_half_open *half_open_find(struct weir *weir, const struct packet *packet, const struct tcp_segment *segment)
{
    return entry_find(weir, packet->destination, segment->destination, packet->source, segment->source);
}

bool half_open_uses(const struct weir *weir, const struct weir_endpoint *local, const struct weir_endpoint *remote)
{
    return entry_find(weir, local->addr, local->port, remote->addr, remote->port) != NULL;
}

void half_open_forget(struct weir *weir, struct tcp_listener *listener)
{
    for (uint32_t i = 0; i < HALF_OPEN_LEVELS && listener->half_open_count; i++) {
        struct tcp_half_open *entry = weir->tcp.half_opens->level[i].head;
        while (entry != NULL) {
            struct tcp_half_open *next = entry->next;
            if (entry->listener == listener)
                entry_end(weir, entry);
            entry = next;
        }
    }
}

void half_open_free(struct weir *weir)
{
    struct half_opens *all = weir->tcp.half_opens;
    if (all == NULL)
        return;
    for (uint32_t i = 0; i < HALF_OPEN_LEVELS; i++)
        while (all->level[i].head)
            entry_end(weir, all->level[i].head);
    pool_drain(&all->pool, &weir->memory);
    table_free(&all->table, &weir->memory);
    if (weir->memory.block == NULL)
        memory_put(&weir->memory, all, sizeof *all);
    weir->tcp.half_opens = NULL;
}

// --- what is sent ----------------------------------------------------------------------------------------------------------

#if WEIR_CFG_TCP_TIMESTAMPS
static void fill_timestamps(const struct weir *weir, const struct tcp_half_open *entry, struct tcp_options *options)
{
    if (!(entry->flags & HALF_OPEN_TIMESTAMPS))
        return;
    options->seen |= TCP_SEEN_TIMESTAMPS;
    options->ts_value = tcp_timestamp(weir, tcp_timestamp_offset(weir, entry->local, entry->remote));
    options->ts_echo = entry->ts_recent;
}
static void keep_timestamp(struct tcp_half_open *entry, const struct tcp_segment *segment) { entry->ts_recent = segment->options.ts_value; }
static uint32_t ts_recent_of(const struct tcp_half_open *entry) { return entry->ts_recent; }
#else
static void fill_timestamps(const struct weir *weir, const struct tcp_half_open *entry, struct tcp_options *options)
{
    (void)weir, (void)entry, (void)options;
}
static void keep_timestamp(struct tcp_half_open *entry, const struct tcp_segment *segment) { (void)entry, (void)segment; }
static uint32_t ts_recent_of(const struct tcp_half_open *entry) { return (void)entry, 0; }
#endif

#if WEIR_CFG_ARP_CACHE
static void keep_link_source(struct tcp_half_open *entry, const struct packet *packet) { (void)entry, (void)packet; }
static const struct packet *way_back(struct weir *weir, const struct tcp_half_open *entry, struct packet *packet)
{
    (void)weir, (void)entry, (void)packet;
    return NULL;  // routed
}
#else
static void keep_link_source(struct tcp_half_open *entry, const struct packet *packet)
{
    if (packet->link_source != NULL)
        memcpy(entry->link_source, packet->link_source, sizeof entry->link_source);
}
// A packet as if from the peer, to answer to.
static const struct packet *way_back(struct weir *weir, const struct tcp_half_open *entry, struct packet *packet)
{
    *packet = (struct packet){.netif = weir->netifs, .link_source = entry->link_source, .source = entry->remote, .destination = entry->local};
    return packet;
}
#endif

// The SYN-ACK, or (flags TCP_ACK) the acknowledgement of the SYN alone. reply_to NULL: whatever the way back is.
static void entry_send(struct weir *weir, const struct tcp_half_open *entry, const struct packet *reply_to, uint8_t flags)
{
    struct packet back;
    const struct weir_endpoint local = {entry->local, entry->local_port}, remote = {entry->remote, entry->remote_port};
    const uint32_t window = min_u32(entry->listener->receive_limit, 0xffff);
    const bool syn = flags & TCP_SYN;
    const struct tcp_segment segment = {
        .flags = flags,
        .seq = entry->iss + !syn,
        .ack = entry->irs + 1,
        .window = (uint16_t)(syn ? window : window >> entry->rcv_scale),  // a SYN's is never scaled (RFC 7323 §2.2)
    };
    struct tcp_options options = {0};
    if (syn) {
        options.seen = TCP_SEEN_MSS | (entry->flags & HALF_OPEN_SCALING ? TCP_SEEN_WINDOW_SCALE : 0) | (entry->flags & HALF_OPEN_SACK ? TCP_SEEN_SACK_PERMITTED : 0);
        options.mss = entry->our_mss;
        options.window_scale = entry->rcv_scale;
    }
    fill_timestamps(weir, entry, &options);
    tcp_reply(weir, reply_to ? reply_to : way_back(weir, entry, &back), &local, &remote, &segment, &options);
}

// --- a SYN -----------------------------------------------------------------------------------------------------------------

static struct tcp_half_open *entry_new(struct weir *weir, const struct tcp_listener *listener)
{
    struct half_opens *all = weir->tcp.half_opens;
    const uint32_t budget = max_u32(2 * listener->backlog, HALF_OPEN_BUDGET_MIN);
    if (listener->half_open_count < budget && all->table.count < WEIR_CFG_TCP_HALF_OPEN)
        return pool_get(&all->pool, &weir->memory);
    return NULL;
}

// Without cookies a flood would shut everyone out for a minute: the oldest that has not answered in a second makes room instead.
static struct tcp_half_open *entry_recycle(struct weir *weir)
{
    struct half_opens *all = weir->tcp.half_opens;
    for (uint32_t i = HALF_OPEN_LEVELS; !WEIR_CFG_TCP_SYN_COOKIES && i-- > 1;) {
        if (all->level[i].head != NULL) {
            entry_end(weir, all->level[i].head);
            return pool_get(&all->pool, &weir->memory);
        }
    }
    return NULL;
}

// What both ends can do (RFC 9293 §3.7.1, RFC 7323, RFC 2018).
static void entry_agree(struct tcp_half_open *entry, const struct tcp_listener *listener, const struct tcp_segment *segment, uint16_t mtu)
{
    const struct tcp_options *offer = &segment->options;
    entry->peer_mss = offer->seen & TCP_SEEN_MSS ? (uint16_t)max_u32(offer->mss, TCP_MSS_MIN) : IP_MSS_DEFAULT;
    entry->our_mss = half_open_mss(listener, entry->remote, mtu);
    if (WEIR_CFG_TCP_WINDOW_SCALE && offer->seen & TCP_SEEN_WINDOW_SCALE) {
        entry->flags |= HALF_OPEN_SCALING;
        entry->snd_scale = (uint8_t)(min_u32(offer->window_scale, 14) & 15);
        entry->rcv_scale = (uint8_t)(tcp_scale_for(listener->receive_limit) & 15);
    }
    if (WEIR_CFG_TCP_SACK && offer->seen & TCP_SEEN_SACK_PERMITTED)
        entry->flags |= HALF_OPEN_SACK;
    if (WEIR_CFG_TCP_TIMESTAMPS && offer->seen & TCP_SEEN_TIMESTAMPS) {
        entry->flags |= HALF_OPEN_TIMESTAMPS;
        keep_timestamp(entry, segment);
    }
}

void half_open_syn(struct weir *weir, struct tcp_listener *listener, struct packet *packet, struct tcp_segment *segment)
{
    struct path path = {0};
    if (listener->accept_count >= listener->backlog || ip_path_reply(weir, &path, packet) != WEIR_OK) {
        count(weir, WEIR_COUNT_TCP_SYN_DROPPED);
        return;
    }
    struct tcp_half_open *entry = entry_new(weir, listener);
    if (entry == NULL && WEIR_CFG_TCP_SYN_COOKIES) {
        syncookie_send(weir, listener, packet, segment);
        return;
    }
    if (entry == NULL) {
        count(weir, WEIR_COUNT_TCP_SYN_DROPPED);
        entry = entry_recycle(weir);
        if (entry == NULL)
            return;
    }
    memset(entry, 0, sizeof *entry);
    const struct weir_endpoint local = {packet->destination, segment->destination}, remote = {packet->source, segment->source};
    entry->listener = listener;
    entry->local = local.addr;
    entry->local_port = local.port;
    entry->remote = remote.addr;
    entry->remote_port = remote.port;
    entry->irs = segment->seq;
    entry->iss = time_wait_take_over(weir, &local, &remote, tcp_isn(weir, &local, &remote));
    entry_agree(entry, listener, segment, path.netif->mtu);
    keep_link_source(entry, packet);
    listener->half_open_count++;
    table_insert(&weir->tcp.half_opens->table, &weir->memory, &entry->node, tcp_hash(weir, local.addr, local.port, remote.addr, remote.port));
    list_append(weir, entry, 0);
    entry_send(weir, entry, packet, TCP_SYN | TCP_ACK);
}

uint16_t half_open_mss(const struct tcp_listener *listener, struct weir_addr remote, uint16_t mtu)
{
    const uint32_t mss = min_u32(tcp_mss_for_mtu(remote, mtu), WEIR_CFG_TCP_MSS_MAX);
    return (uint16_t)(listener->user_mss ? min_u32(mss, listener->user_mss) : mss);
}

// --- a segment for an entry (RFC 9293 §3.10.7.4 for SYN-RECEIVED, with RFC 5961) ----------------------------------------------

static void reply(struct weir *weir, struct tcp_half_open *entry, const struct packet *packet, uint8_t flags)
{
    if (entry->replies >= HALF_OPEN_REPLIES) {
        count(weir, WEIR_COUNT_TCP_CHALLENGE_LIMITED);
        return;
    }
    entry->replies++;
    if (!(flags & TCP_SYN))
        count(weir, WEIR_COUNT_TCP_CHALLENGE_ACK);
    entry_send(weir, entry, packet, flags);
}

// First and second: sequence number, RST, SYN. Returns whether to go on.
static bool segment_in_order(struct weir *weir, struct tcp_half_open *entry, const struct packet *packet, const struct tcp_segment *segment)
{
    const uint32_t window = min_u32(entry->listener->receive_limit, 0xffff);
    const bool inside = segment->seq - (entry->irs + 1) < max_u32(window, 1);
    if (segment->flags & TCP_RST) {
        if (segment->seq == entry->irs + 1) {
            count(weir, WEIR_COUNT_TCP_RST_RECEIVED);
            entry_end(weir, entry);
        } else if (inside) {
            reply(weir, entry, packet, TCP_ACK);
        }
        return false;
    }
    if ((segment->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN && segment->seq == entry->irs) {
        entry->flags |= HALF_OPEN_REPEATED;
        reply(weir, entry, packet, TCP_SYN | TCP_ACK);
        return false;
    }
    // Another SYN gets an ACK as RFC 5961 §4 has it: a peer that did restart answers with an exact RST.
    if (segment->flags & TCP_SYN || !inside) {
        count_add(weir, WEIR_COUNT_TCP_UNACCEPTABLE, !inside);
        reply(weir, entry, packet, TCP_ACK);
        return false;
    }
    return true;
}

// RFC 7323 §3.2, §5.3: agreed means in every segment; one older than the SYN is a duplicate.
static bool timestamp_good(struct weir *weir, struct tcp_half_open *entry, const struct packet *packet, const struct tcp_segment *segment)
{
    if (!(entry->flags & HALF_OPEN_TIMESTAMPS) || segment->flags & TCP_RST)
        return true;
    if (!(segment->options.seen & TCP_SEEN_TIMESTAMPS))
        return segment->flags & TCP_SYN;
    if (!seq_lt(segment->options.ts_value, ts_recent_of(entry)))
        return true;
    count(weir, WEIR_COUNT_TCP_PAWS);
    reply(weir, entry, packet, TCP_ACK);
    return false;
}

// DEFER_ACCEPT: the time since the SYN is that of the levels passed (1 + 2 + 4 … s) and of this one.
static bool deferred(const struct weir *weir, const struct tcp_half_open *entry)
{
    const uint32_t passed_s = (1u << entry->level) - 1 + (weir->now - entry->sent_us) / 1000000u;
    return passed_s < entry->listener->defer_accept_s;
}

static void entry_params(const struct weir *weir, const struct tcp_half_open *entry, const struct tcp_segment *segment, struct tcp_open_params *params)
{
    *params = (struct tcp_open_params){
        .local = {entry->local, entry->local_port},
        .remote = {entry->remote, entry->remote_port},
        .iss = entry->iss,
        .irs = entry->irs,
        .window = segment->window,
        .peer_mss = entry->peer_mss,
        .our_mss = entry->our_mss,
        .snd_scale = entry->snd_scale,
        .rcv_scale = entry->rcv_scale,
        .scaling = entry->flags & HALF_OPEN_SCALING,
        .sack = entry->flags & HALF_OPEN_SACK,
        .timestamps = entry->flags & HALF_OPEN_TIMESTAMPS,
        .ts_recent = ts_recent_of(entry),
    };
    if (WEIR_CFG_TCP_TIMESTAMPS)
        params->ts_offset = tcp_timestamp_offset(weir, entry->local, entry->remote);
    if (!(entry->flags & HALF_OPEN_REPEATED) && entry->level == 0)
        params->rtt_us = max_u32(weir->now - entry->sent_us, 1);
}

void half_open_input(struct weir *weir, struct tcp_half_open *entry, struct packet *packet, struct tcp_segment *segment)
{
    if (!timestamp_good(weir, entry, packet, segment) || !segment_in_order(weir, entry, packet, segment) || !(segment->flags & TCP_ACK))
        return;
    if (segment->ack != entry->iss + 1) {
        tcp_reply_reset(weir, packet, segment);
        return;
    }
    if (segment->length == 0 && !(segment->flags & TCP_FIN) && deferred(weir, entry)) {
        entry->flags |= HALF_OPEN_DEFERRED | HALF_OPEN_REPEATED;
        return;
    }
    struct tcp_open_params params;
    entry_params(weir, entry, segment, &params);
    struct tcp_conn *c = tcp_conn_passive(weir, entry->listener, &params);
    if (c == NULL) {
        count(weir, WEIR_COUNT_TCP_SYN_DROPPED);
        return;
    }
    entry_end(weir, entry);
    tcp_input_segment(weir, c, packet, segment);
}

// --- time, and looking -----------------------------------------------------------------------------------------------------

// The first of a list is due: the SYN-ACK again, or the end.
static void entry_due(struct weir *weir, struct tcp_half_open *entry)
{
    if (entry->level + 1u == HALF_OPEN_LEVELS) {
        count(weir, WEIR_COUNT_TCP_TIMED_OUT);
        entry_end(weir, entry);
        return;
    }
    list_remove(weir->tcp.half_opens, entry);
    list_append(weir, entry, (uint8_t)(entry->level + 1));
    if (entry->flags & HALF_OPEN_DEFERRED && deferred(weir, entry))
        return;  // the peer has it, and waits for data of its own
    entry->flags |= HALF_OPEN_REPEATED;
    entry_send(weir, entry, NULL, TCP_SYN | TCP_ACK);
}

uint64_t half_open_poll(struct weir *weir, uint64_t now_us)
{
    uint64_t next_us = WEIR_NEVER;
    uint32_t done = 0;
    for (uint32_t i = 0; i < HALF_OPEN_LEVELS; i++) {
        struct tcp_half_open *entry;
        while ((entry = weir->tcp.half_opens->level[i].head) != NULL && weir->now - entry->sent_us >= interval_us(i)) {
            if (done++ == HALF_OPEN_BATCH)
                return now_us;
            entry_due(weir, entry);
        }
        if (entry != NULL) {
            const uint64_t due_us = now_us + interval_us(i) - (weir->now - entry->sent_us);
            next_us = due_us < next_us ? due_us : next_us;
        }
    }
    return next_us;
}

uint32_t half_open_walk(struct weir *weir, uint32_t cursor, struct weir_socket_info *out)
{
    const struct table *table = &weir->tcp.half_opens->table;
    uint32_t place = cursor & ((1u << CURSOR_BITS) - 1);
    for (uint32_t bucket = cursor >> CURSOR_BITS; bucket < table_buckets(table); bucket++, place = 0) {
        const struct table_node *node = table_chain(table, bucket);
        for (uint32_t i = 0; i < place && node != NULL; i++)
            node = node->next;
        if (node == NULL)
            continue;
        const struct tcp_half_open *entry = container_of(node, struct tcp_half_open, node);
        *out = (struct weir_socket_info){
            .type = WEIR_STREAM,
            .tcp_state = WEIR_TCP_SYN_RECEIVED,
            .local = {entry->local, entry->local_port},
            .peer = {entry->remote, entry->remote_port},
        };
        return (bucket << CURSOR_BITS | place) + 1;
    }
    return 0;
}
