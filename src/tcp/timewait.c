// SPDX-License-Identifier: BSD-2-Clause
// All entries wait equally long, so the list in the order of entering is the order of leaving, and one that starts
// again goes to its end. Work per call: one entry; per poll: at most TIME_WAIT_BATCH.
#include "tcp/timewait.h"

#include "instance.h"
#include "tcp/isn.h"
#include "tcp/record.h"

#define TIME_WAIT_MS (2u * WEIR_CFG_TCP_MSL_MS)
#define TIME_WAIT_BATCH 256u
#define TIME_WAIT_RESTARTS 16u  // more retransmissions of its FIN than a peer sends in 2 MSL
#define TIME_WAIT_ACK_MS 250u   // between acknowledgements of one entry; what does not come back needs no more
// before an active open may take the ends over: our timestamps are well beyond the old
#define TIME_WAIT_REUSE_MS 1000u
#define TIME_WAIT_WINDOW 0x1000u  // announced; nobody may send any more, but 0 would start a prober

enum time_wait_flag { TIME_WAIT_TIMESTAMPS = 1 };

struct tcp_time_wait {
    struct tcp_record record;  // time: when it ends, ms
    uint32_t snd_nxt, rcv_nxt;
#if WEIR_CFG_TCP_TIMESTAMPS
    uint32_t ts_recent;
#endif
    uint16_t acked_ms;  // low bits of when the last acknowledgement left
    uint8_t restarts;
    uint8_t flags;  // enum time_wait_flag
};
_Static_assert(sizeof(struct tcp_time_wait) <= 64 + (WEIR_CFG_IP6 ? 24 : 0),
               "a connection in TIME-WAIT is at most 64 bytes, 88 with addresses of IPv6");

struct time_waits {
    struct tcp_records records;
    struct tcp_record_list list;
    struct {  // the entry that time_wait_input ended last, for time_wait_take_over
        struct weir_endpoint local, remote;
        uint32_t snd_nxt;
        bool valid;
    } ended;
};

// its first member
static struct tcp_time_wait *time_wait_of(struct tcp_record *record) { return (struct tcp_time_wait *)record; }

size_t time_wait_bytes(void)
{
    return memory_carve_bytes(sizeof(struct time_waits)) +
           pool_carve_bytes(sizeof(struct tcp_time_wait), WEIR_CFG_TCP_TIME_WAIT);
}

int time_wait_init(struct weir *weir)
{
    struct time_waits *all = memory_carve(&weir->memory, sizeof *all);
    weir->tcp.time_waits = all;
    if (all == NULL)
        return WEIR_NO_MEMORY;
    tcp_record_list_init(&all->list);
    return tcp_records_init(weir, &all->records, sizeof(struct tcp_time_wait), WEIR_CFG_TCP_TIME_WAIT);
}

static void time_wait_end(struct weir *weir, struct tcp_record *record)
{
    struct time_waits *all = weir->tcp.time_waits;
    tcp_record_end(weir, &all->records, &all->list, record);
}

void time_wait_free(struct weir *weir)
{
    struct time_waits *all = weir->tcp.time_waits;
    if (all == NULL)
        return;
    while (all->list.head)
        time_wait_end(weir, all->list.head);
    tcp_records_free(weir, &all->records);
    if (weir->memory.block == NULL)
        memory_put(&weir->memory, all, sizeof *all);
    weir->tcp.time_waits = NULL;
}

// --- timestamps ------------------------------------------------------------------------------------------------------

#if WEIR_CFG_TCP_TIMESTAMPS
static bool time_wait_has_timestamps(const struct tcp_time_wait *entry) { return entry->flags & TIME_WAIT_TIMESTAMPS; }
// How far the segment's timestamp is beyond the last one seen; negative: older.
static int32_t timestamp_ahead(const struct tcp_time_wait *entry, const struct tcp_segment *segment)
{
    return (int32_t)(segment->options.ts_value - entry->ts_recent);
}
static void time_wait_timestamps(const struct weir *weir, const struct tcp_time_wait *entry,
                                 struct tcp_options *options)
{
    options->seen = TCP_SEEN_TIMESTAMPS;
    options->ts_value = tcp_timestamp(weir, tcp_timestamp_offset(weir, entry->record.local, entry->record.remote));
    options->ts_echo = entry->ts_recent;
}
static void time_wait_keep_timestamp(struct tcp_time_wait *entry, const struct tcp_conn *c)
{
    entry->ts_recent = c->ts_recent;
    entry->flags = c->flags & TCP_USE_TIMESTAMPS ? TIME_WAIT_TIMESTAMPS : 0;
}
#else
static bool time_wait_has_timestamps(const struct tcp_time_wait *entry) { return (void)entry, false; }
static int32_t timestamp_ahead(const struct tcp_time_wait *entry, const struct tcp_segment *segment)
{
    return (void)entry, (void)segment, 1;
}
static void time_wait_timestamps(const struct weir *weir, const struct tcp_time_wait *entry,
                                 struct tcp_options *options)
{
    (void)weir, (void)entry, (void)options;
}
static void time_wait_keep_timestamp(struct tcp_time_wait *entry, const struct tcp_conn *c) { (void)entry, (void)c; }
#endif

// --- entering --------------------------------------------------------------------------------------------------------

static void time_wait_start(struct weir *weir, struct tcp_time_wait *entry)
{
    entry->record.time = weir->now_ms + TIME_WAIT_MS;
    tcp_record_append(&weir->tcp.time_waits->list, &entry->record);
    slow_due(weir, weir->now_us + TIME_WAIT_MS * 1000ull);
}

static struct tcp_time_wait *time_wait_new(struct weir *weir, const struct tcp_conn *c)
{
    struct time_waits *all = weir->tcp.time_waits;
    struct tcp_record *record = NULL;
    if (all->records.table.count < WEIR_CFG_TCP_TIME_WAIT)
        record = tcp_record_new(weir, &all->records, &c->local.endpoint, &c->remote.endpoint);
    if (record == NULL && all->list.head != NULL) {
        count(weir, WEIR_COUNT_TCP_TIMEWAIT_FULL);
        time_wait_end(weir, all->list.head);
        record = tcp_record_new(weir, &all->records, &c->local.endpoint, &c->remote.endpoint);
    }
    return time_wait_of(record);
}

void time_wait_enter(struct weir *weir, const struct tcp_conn *c)
{
    struct tcp_time_wait *entry = time_wait_new(weir, c);
    if (entry == NULL)
        return;
    TCP_RECORD_ZERO(entry);
    entry->snd_nxt = c->snd.nxt;
    entry->rcv_nxt = c->rcv.nxt;
    entry->acked_ms = (uint16_t)(weir->now_ms - TIME_WAIT_ACK_MS);
    time_wait_keep_timestamp(entry, c);
    time_wait_start(weir, entry);
}

// --- segments --------------------------------------------------------------------------------------------------------

struct tcp_time_wait *time_wait_between(struct weir *weir, const struct weir_endpoint *local,
                                        const struct weir_endpoint *remote)
{
    return time_wait_of(tcp_record_find(weir, &weir->tcp.time_waits->records, local, remote));
}

struct tcp_time_wait *time_wait_find(struct weir *weir, const struct packet *packet, const struct tcp_segment *segment)
{
    const struct weir_endpoint local = {packet->destination, segment->destination},
                               remote = {packet->source, segment->source};
    return time_wait_between(weir, &local, &remote);
}

// false: withheld. Two ends in TIME-WAIT must not keep each other busy, nor a flood cost an answer each.
static bool time_wait_acknowledge(struct weir *weir, struct tcp_time_wait *entry, const struct packet *packet)
{
    if ((uint16_t)((uint16_t)weir->now_ms - entry->acked_ms) < TIME_WAIT_ACK_MS)
        return false;
    entry->acked_ms = (uint16_t)weir->now_ms;
    const struct weir_endpoint local = tcp_record_local(&entry->record), remote = tcp_record_remote(&entry->record);
    struct tcp_segment ack = {
        .flags = TCP_ACK, .seq = entry->snd_nxt, .ack = entry->rcv_nxt, .window = TIME_WAIT_WINDOW};
    if (time_wait_has_timestamps(entry))
        time_wait_timestamps(weir, entry, &ack.options);
    tcp_reply(weir, packet, &local, &remote, IP_PARAMS_DEFAULT, &ack);
    return true;
}

// RFC 6191 §2: a SYN starts a new connection when its timestamp, or else its sequence number, proves it to be new.
static bool syn_is_new(const struct tcp_time_wait *entry, const struct tcp_segment *segment)
{
    const bool later = seq_lt(entry->rcv_nxt, segment->seq);
    if (!WEIR_CFG_TCP_TIMESTAMPS || !(segment->options.seen & TCP_SEEN_TIMESTAMPS))
        return later;
    if (!time_wait_has_timestamps(entry))
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
            all->ended.local = tcp_record_local(&entry->record);
            all->ended.remote = tcp_record_remote(&entry->record);
            all->ended.snd_nxt = entry->snd_nxt;
            all->ended.valid = true;
            time_wait_end(weir, &entry->record);
            return true;
        }
        count(weir, time_wait_acknowledge(weir, entry, packet) ? WEIR_COUNT_TCP_CHALLENGE_ACK
                                                               : WEIR_COUNT_TCP_CHALLENGE_LIMITED);
        return false;
    }
    if (!(segment->flags & TCP_ACK) ||
        (segment->length == 0 && segment->seq == entry->rcv_nxt && !(segment->flags & TCP_FIN)))
        return false;  // nothing to answer, or just the last ACK there can be
    const uint32_t end = segment->seq + segment->length + !!(segment->flags & TCP_FIN);
    // The peer's FIN again: our ACK of it was lost (RFC 9293 §3.10.7.4, eighth).
    if (segment->flags & TCP_FIN && end == entry->rcv_nxt && entry->restarts < TIME_WAIT_RESTARTS) {
        entry->restarts++;
        tcp_record_unlink(&all->list, &entry->record);
        time_wait_start(weir, entry);
    }
    time_wait_acknowledge(weir, entry, packet);
    return false;
}

// --- opening beside it -----------------------------------------------------------------------------------------------

bool time_wait_reusable(const struct weir *weir, const struct tcp_time_wait *entry)
{
    return entry == NULL || (time_wait_has_timestamps(entry) &&
                             weir->now_ms - (entry->record.time - TIME_WAIT_MS) >= TIME_WAIT_REUSE_MS);
}

static bool ended_is(const struct time_waits *all, const struct weir_endpoint *local,
                     const struct weir_endpoint *remote)
{
    return all->ended.valid && all->ended.local.port == local->port && all->ended.remote.port == remote->port &&
           weir_addr_equal(all->ended.local.addr, local->addr) && weir_addr_equal(all->ended.remote.addr, remote->addr);
}

uint32_t time_wait_take_over(struct weir *weir, struct tcp_time_wait *entry, const struct weir_endpoint *local,
                             const struct weir_endpoint *remote, uint32_t iss)
{
    struct time_waits *all = weir->tcp.time_waits;
    if (entry == NULL && !ended_is(all, local, remote))
        return iss;
    const uint32_t beyond = (entry ? entry->snd_nxt : all->ended.snd_nxt) + 0x10000;  // any unscaled window past it
    if (entry) {
        count(weir, WEIR_COUNT_TCP_TIMEWAIT_REUSED);
        time_wait_end(weir, &entry->record);
    } else {
        all->ended.valid = false;
    }
    return seq_max(iss, beyond);
}

// Cost: a walk over all entries; asked by bind only.
bool time_wait_uses_port(struct weir *weir, struct weir_addr local, uint16_t port)
{
    for (const struct tcp_record *r = weir->tcp.time_waits->list.head; r != NULL; r = r->next)
        if (r->local_port == port && (weir_addr_is_any(local) || weir_addr_equal(r->local, local)))
            return true;
    return false;
}

// --- time, and looking -----------------------------------------------------------------------------------------------

uint64_t time_wait_poll(struct weir *weir, uint64_t now_us)
{
    struct tcp_record_list *list = &weir->tcp.time_waits->list;
    for (uint32_t done = 0; list->head != NULL && seq_le(list->head->time, weir->now_ms); done++) {
        if (done == TIME_WAIT_BATCH)
            return now_us;
        time_wait_end(weir, list->head);
    }
    return list->head != NULL ? now_us + (uint64_t)(list->head->time - weir->now_ms) * 1000 : WEIR_NEVER;
}

bool time_wait_walk(struct weir *weir, struct table_cursor *cursor, struct weir_socket_info *out)
{
    return tcp_records_walk(&weir->tcp.time_waits->records, cursor, WEIR_TCP_TIME_WAIT, out);
}

uint32_t time_wait_count(const struct weir *weir) { return weir->tcp.time_waits->records.table.count; }
