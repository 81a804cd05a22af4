// SPDX-License-Identifier: BSD-2-Clause
// All entries wait equally long, so the list in the order of entering is the order of leaving, and one that starts again
// goes to its end. Work per call: one entry; per poll: at most TIME_WAIT_BATCH.
#include "tcp/timewait.h"

#include "instance.h"
#include "tcp/isn.h"

#define TIME_WAIT_MS (2u * WEIR_CFG_TCP_MSL_MS)
#define TIME_WAIT_BATCH 256u
#define TIME_WAIT_RESTARTS 16u      // more retransmissions of its FIN than a peer sends in 2 MSL
#define TIME_WAIT_ACK_MS 250u       // between acknowledgements of one entry; what does not come back needs no more
#define TIME_WAIT_REUSE_MS 1000u    // before an active open may take the ends over: our timestamps are well beyond the old
#define TIME_WAIT_KEEP 256u         // free entries kept for the next
#define TIME_WAIT_WINDOW 0x1000u    // announced; nobody may send any more, but 0 would start a prober
#define CURSOR_BITS (WEIR_CFG_ALLOCATOR ? 5u : 16u)  // of a place within a chain

enum time_wait_flag { TIME_WAIT_TIMESTAMPS = 1 };

struct tcp_time_wait {
    struct table_node node;
    struct tcp_time_wait *next, **link;  // in the order of due_ms
    struct weir_addr local, remote;
    uint16_t local_port, remote_port;
    uint32_t snd_nxt, rcv_nxt;
    uint32_t due_ms;
#if WEIR_CFG_TCP_TIMESTAMPS
    uint32_t ts_recent;
#endif
    uint16_t acked_ms;                   // low bits of when the last acknowledgement left
    uint8_t restarts;
    uint8_t flags;                       // enum time_wait_flag
};
_Static_assert(sizeof(struct tcp_time_wait) <= 64, "a connection in TIME-WAIT is at most 64 bytes");

struct time_waits {
    struct table table;
    struct pool pool;
    struct tcp_time_wait *head, **tail;
    struct {                             // the entry that time_wait_input ended last, for time_wait_take_over
        struct weir_endpoint local, remote;
        uint32_t snd_nxt;
        bool valid;
    } ended;
};

int time_wait_init(struct weir *weir)
{
    struct time_waits *all = memory_carve(&weir->memory, sizeof *all);
    weir->tcp.time_waits = all;
    if (all == NULL)
        return WEIR_NO_MEMORY;
    table_init(&all->table);
    pool_init(&all->pool, sizeof(struct tcp_time_wait), TIME_WAIT_KEEP);
    all->tail = &all->head;
    return pool_carve(&all->pool, &weir->memory, WEIR_CFG_ALLOCATOR ? 0 : WEIR_CFG_TCP_TIME_WAIT);
}

// --- the list and the table ----------------------------------------------------------------------------------------------

static void list_append(struct time_waits *all, struct tcp_time_wait *entry)
{
    entry->next = NULL;
    entry->link = all->tail;
    *all->tail = entry;
    all->tail = &entry->next;
}

static void list_remove(struct time_waits *all, struct tcp_time_wait *entry)
{
    *entry->link = entry->next;
    if (entry->next)
        entry->next->link = entry->link;
    else
        all->tail = entry->link;
}

static void entry_end(struct weir *weir, struct tcp_time_wait *entry)
{
    struct time_waits *all = weir->tcp.time_waits;
    list_remove(all, entry);
    table_remove(&all->table, &weir->memory, &entry->node);
    pool_put(&all->pool, &weir->memory, entry);
}

static struct tcp_time_wait *entry_find(const struct weir *weir, struct weir_addr local, uint16_t local_port, struct weir_addr remote, uint16_t remote_port)
{
    const struct table *table = &weir->tcp.time_waits->table;
    if (table->count == 0)
        return NULL;
    const uint32_t hash = tcp_hash(weir, local, local_port, remote, remote_port);
    for (struct table_node *node = table_first(table, hash); node != NULL; node = node->next) {
        struct tcp_time_wait *entry = container_of(node, struct tcp_time_wait, node);
        if (node->hash == hash && entry->local_port == local_port && entry->remote_port == remote_port && weir_addr_equal(entry->local, local) &&
            weir_addr_equal(entry->remote, remote))
            return entry;
    }
    return NULL;
}

void time_wait_free(struct weir *weir)
{
    struct time_waits *all = weir->tcp.time_waits;
    if (all == NULL)
        return;
    while (all->head)
        entry_end(weir, all->head);
    pool_drain(&all->pool, &weir->memory);
    table_free(&all->table, &weir->memory);
    if (weir->memory.block == NULL)
        memory_put(&weir->memory, all, sizeof *all);
    weir->tcp.time_waits = NULL;
}

// --- entering ------------------------------------------------------------------------------------------------------------

static void restart(struct weir *weir, struct tcp_time_wait *entry)
{
    entry->due_ms = weir->now_ms + TIME_WAIT_MS;
    slow_due(weir, weir->now_us + TIME_WAIT_MS * 1000ull);
}

static struct tcp_time_wait *entry_new(struct weir *weir)
{
    struct time_waits *all = weir->tcp.time_waits;
    struct tcp_time_wait *entry = all->table.count < WEIR_CFG_TCP_TIME_WAIT ? pool_get(&all->pool, &weir->memory) : NULL;
    if (entry == NULL && all->head != NULL) {
        count(weir, WEIR_COUNT_TCP_TIMEWAIT_FULL);
        entry_end(weir, all->head);
        entry = pool_get(&all->pool, &weir->memory);
    }
    return entry;
}

void time_wait_enter(struct weir *weir, const struct tcp_conn *c)
{
    struct tcp_time_wait *entry = entry_new(weir);
    if (entry == NULL)
        return;
    memset(entry, 0, sizeof *entry);
    entry->local = c->local.addr;
    entry->local_port = c->local.port;
    entry->remote = c->remote.addr;
    entry->remote_port = c->remote.port;
    entry->snd_nxt = c->snd.nxt;
    entry->rcv_nxt = c->rcv.nxt;
    entry->acked_ms = (uint16_t)(weir->now_ms - TIME_WAIT_ACK_MS);
#if WEIR_CFG_TCP_TIMESTAMPS
    entry->ts_recent = c->ts_recent;
    entry->flags = c->flags & TCP_USE_TIMESTAMPS ? TIME_WAIT_TIMESTAMPS : 0;
#endif
    list_append(weir->tcp.time_waits, entry);
    table_insert(&weir->tcp.time_waits->table, &weir->memory, &entry->node,
                 tcp_hash(weir, entry->local, entry->local_port, entry->remote, entry->remote_port));
    restart(weir, entry);
}

// --- segments ------------------------------------------------------------------------------------------------------------

struct tcp_time_wait *time_wait_find(struct weir *weir, const struct packet *packet, const struct tcp_segment *segment)
{
    return entry_find(weir, packet->destination, segment->destination, packet->source, segment->source);
}

#if WEIR_CFG_TCP_TIMESTAMPS
static bool has_timestamps(const struct tcp_time_wait *entry) { return entry->flags & TIME_WAIT_TIMESTAMPS; }
// How far the segment's timestamp is beyond the last one seen; negative: older.
static int32_t timestamp_ahead(const struct tcp_time_wait *entry, const struct tcp_segment *segment)
{
    return (int32_t)(segment->options.ts_value - entry->ts_recent);
}
static void fill_timestamps(const struct weir *weir, const struct tcp_time_wait *entry, struct tcp_options *options)
{
    options->seen = TCP_SEEN_TIMESTAMPS;
    options->ts_value = tcp_timestamp(weir, tcp_timestamp_offset(weir, entry->local, entry->remote));
    options->ts_echo = entry->ts_recent;
}
#else
static bool has_timestamps(const struct tcp_time_wait *entry) { return (void)entry, false; }
static int32_t timestamp_ahead(const struct tcp_time_wait *entry, const struct tcp_segment *segment) { return (void)entry, (void)segment, 1; }
static void fill_timestamps(const struct weir *weir, const struct tcp_time_wait *entry, struct tcp_options *options)
{
    (void)weir, (void)entry, (void)options;
}
#endif

// false: withheld. Two ends in TIME-WAIT must not keep each other busy, nor a flood cost an answer each.
static bool acknowledge(struct weir *weir, struct tcp_time_wait *entry, const struct packet *packet)
{
    if ((uint16_t)((uint16_t)weir->now_ms - entry->acked_ms) < TIME_WAIT_ACK_MS)
        return false;
    entry->acked_ms = (uint16_t)weir->now_ms;
    const struct weir_endpoint local = {entry->local, entry->local_port}, remote = {entry->remote, entry->remote_port};
    const struct tcp_segment ack = {.flags = TCP_ACK, .seq = entry->snd_nxt, .ack = entry->rcv_nxt, .window = TIME_WAIT_WINDOW};
    struct tcp_options options = {0};
    if (has_timestamps(entry))
        fill_timestamps(weir, entry, &options);
    tcp_reply(weir, packet, &local, &remote, &ack, &options);
    return true;
}

// RFC 6191 §2: a SYN starts a new connection when its timestamp, or else its sequence number, proves it to be new.
static bool syn_is_new(const struct tcp_time_wait *entry, const struct tcp_segment *segment)
{
    const bool later = seq_lt(entry->rcv_nxt, segment->seq);
    if (!WEIR_CFG_TCP_TIMESTAMPS || !(segment->options.seen & TCP_SEEN_TIMESTAMPS))
        return later;
    if (!has_timestamps(entry))
        return true;
    const int32_t ahead = timestamp_ahead(entry, segment);
    return ahead > 0 || (ahead == 0 && later);
}

bool time_wait_input(struct weir *weir, struct tcp_time_wait *entry, struct packet *packet, struct tcp_segment *segment)
{
    struct time_waits *all = weir->tcp.time_waits;
    if (segment->flags & TCP_RST)
        return false;  // RFC 1337: not even an exact one ends TIME-WAIT
    if (segment->flags & TCP_SYN) {
        if (!(segment->flags & TCP_ACK) && syn_is_new(entry, segment)) {
            count(weir, WEIR_COUNT_TCP_TIMEWAIT_REUSED);
            all->ended.local = (struct weir_endpoint){entry->local, entry->local_port};
            all->ended.remote = (struct weir_endpoint){entry->remote, entry->remote_port};
            all->ended.snd_nxt = entry->snd_nxt;
            all->ended.valid = true;
            entry_end(weir, entry);
            return true;
        }
        count(weir, acknowledge(weir, entry, packet) ? WEIR_COUNT_TCP_CHALLENGE_ACK : WEIR_COUNT_TCP_CHALLENGE_LIMITED);
        return false;
    }
    if (!(segment->flags & TCP_ACK) || (segment->length == 0 && segment->seq == entry->rcv_nxt && !(segment->flags & TCP_FIN)))
        return false;  // nothing to answer, or just the last ACK there can be
    const uint32_t end = segment->seq + segment->length + !!(segment->flags & TCP_FIN);
    // The peer's FIN again: our ACK of it was lost (RFC 9293 §3.10.7.4, eighth).
    if (segment->flags & TCP_FIN && end == entry->rcv_nxt && entry->restarts < TIME_WAIT_RESTARTS) {
        entry->restarts++;
        list_remove(all, entry);
        list_append(all, entry);
        restart(weir, entry);
    }
    acknowledge(weir, entry, packet);
    return false;
}

// --- opening beside it ---------------------------------------------------------------------------------------------------

bool time_wait_reusable(struct weir *weir, const struct weir_endpoint *local, const struct weir_endpoint *remote, bool *in_use)
{
    const struct tcp_time_wait *entry = entry_find(weir, local->addr, local->port, remote->addr, remote->port);
    *in_use = entry != NULL;
    return entry != NULL && has_timestamps(entry) && weir->now_ms - (entry->due_ms - TIME_WAIT_MS) >= TIME_WAIT_REUSE_MS;
}

uint32_t time_wait_take_over(struct weir *weir, const struct weir_endpoint *local, const struct weir_endpoint *remote, uint32_t iss)
{
    struct time_waits *all = weir->tcp.time_waits;
    struct tcp_time_wait *entry = entry_find(weir, local->addr, local->port, remote->addr, remote->port);
    const bool ended = all->ended.valid && all->ended.local.port == local->port && all->ended.remote.port == remote->port &&
                       weir_addr_equal(all->ended.local.addr, local->addr) && weir_addr_equal(all->ended.remote.addr, remote->addr);
    if (entry == NULL && !ended)
        return iss;
    const uint32_t beyond = (entry ? entry->snd_nxt : all->ended.snd_nxt) + 0x10000;  // any unscaled window past it
    if (entry) {
        count(weir, WEIR_COUNT_TCP_TIMEWAIT_REUSED);
        entry_end(weir, entry);
    } else {
        all->ended.valid = false;
    }
    return seq_max(iss, beyond);
}

// Cost: a walk over all entries; asked by bind only.
bool time_wait_uses_port(struct weir *weir, struct weir_addr local, uint16_t port)
{
    for (const struct tcp_time_wait *entry = weir->tcp.time_waits->head; entry != NULL; entry = entry->next)
        if (entry->local_port == port && (weir_addr_is_any(local) || weir_addr_equal(entry->local, local)))
            return true;
    return false;
}

// --- time, and looking ---------------------------------------------------------------------------------------------------

uint64_t time_wait_poll(struct weir *weir, uint64_t now_us)
{
    struct time_waits *all = weir->tcp.time_waits;
    for (uint32_t done = 0; all->head != NULL && seq_le(all->head->due_ms, weir->now_ms); done++) {
        if (done == TIME_WAIT_BATCH)
            return now_us;
        entry_end(weir, all->head);
    }
    return all->head != NULL ? now_us + (uint64_t)(all->head->due_ms - weir->now_ms) * 1000 : WEIR_NEVER;
}

uint32_t time_wait_walk(struct weir *weir, uint32_t cursor, struct weir_socket_info *out)
{
    const struct table *table = &weir->tcp.time_waits->table;
    uint32_t place = cursor & ((1u << CURSOR_BITS) - 1);
    for (uint32_t bucket = cursor >> CURSOR_BITS; bucket < table_buckets(table); bucket++, place = 0) {
        const struct table_node *node = table_chain(table, bucket);
        for (uint32_t i = 0; i < place && node != NULL; i++)
            node = node->next;
        if (node == NULL)
            continue;
        const struct tcp_time_wait *entry = container_of(node, struct tcp_time_wait, node);
        *out = (struct weir_socket_info){
            .type = WEIR_STREAM,
            .tcp_state = WEIR_TCP_TIME_WAIT,
            .local = {entry->local, entry->local_port},
            .peer = {entry->remote, entry->remote_port},
        };
        return (bucket << CURSOR_BITS | place) + 1;
    }
    return 0;
}
