// SPDX-License-Identifier: BSD-2-Clause
// A list for each retransmission: all entries of one list wait equally long, so its first is due first. An entry goes
// from list to list (1, 2, 4, 8, 16 s, and 32 s for the answer to the last). Work per call: one entry; per poll: at
// most HALF_OPEN_BATCH.
#include "tcp/halfopen.h"

#include "instance.h"
#include "tcp/ecn.h"
#include "tcp/internal.h"
#include "tcp/isn.h"
#include "tcp/label.h"
#include "tcp/record.h"
#include "tcp/syncookie.h"
#include "tcp/timewait.h"

#define HALF_OPEN_LEVELS 6u
#define HALF_OPEN_BATCH 256u
#define HALF_OPEN_BUDGET_MIN 16u  // entries a listener may have, however small its backlog
#define HALF_OPEN_REPLIES 8u      // answers to one entry's segments between two retransmissions (RFC 5961 §7)

enum half_open_flag {
    HALF_OPEN_SCALING = 1,
    HALF_OPEN_SACK = 2,
    HALF_OPEN_TIMESTAMPS = 4,
    HALF_OPEN_REPEATED = 8,   // the SYN-ACK left more than once: its round trip is not known
    HALF_OPEN_DEFERRED = 16,  // acknowledged, but the listener waits for data (DEFER_ACCEPT)
};

struct tcp_half_open {
    struct tcp_record record;  // time: when it came to its level and the SYN-ACK left, µs
    struct tcp_listener *listener;
    uint32_t iss, irs;
#if WEIR_CFG_TCP_TIMESTAMPS
    uint32_t ts_recent;
#endif
    uint16_t peer_mss, our_mss;
    uint8_t snd_scale : 4, rcv_scale : 4;
    uint8_t flags;                   // enum half_open_flag
    uint8_t level : 4, replies : 4;  // retransmissions so far; answers since then
    struct tcp_ecn_open ecn;
#if !WEIR_CFG_ARP_CACHE
    uint8_t link_source[6];  // where the SYN came from: nothing else knows the way back
#endif
#if WEIR_CFG_IP_OPTIONS
    struct weir_ip_options received;
#endif
};
_Static_assert(sizeof(struct tcp_half_open) <= (sizeof(void *) == 8 ? 80 : 64) + (WEIR_CFG_ARP_CACHE ? 0 : 8) +
                                                   (WEIR_CFG_IP6 ? 24 : 0) + (WEIR_CFG_IP_OPTIONS ? 48 : 0),
               "a half-open connection is small");

struct half_opens {
    struct tcp_records records;
    struct tcp_record_list level[HALF_OPEN_LEVELS];
};

// its first member
static struct tcp_half_open *half_open_of(struct tcp_record *record) { return (struct tcp_half_open *)record; }

size_t half_open_bytes(void)
{
    return memory_carve_bytes(sizeof(struct half_opens)) +
           pool_carve_bytes(sizeof(struct tcp_half_open), WEIR_CFG_TCP_HALF_OPEN);
}

int half_open_init(struct weir *weir)
{
    struct half_opens *all = memory_carve(&weir->memory, sizeof *all);
    weir->tcp.half_opens = all;
    if (all == NULL)
        return WEIR_NO_MEMORY;
    for (uint32_t i = 0; i < HALF_OPEN_LEVELS; i++)
        tcp_record_list_init(&all->level[i]);
    return tcp_records_init(weir, &all->records, sizeof(struct tcp_half_open), WEIR_CFG_TCP_HALF_OPEN);
}

static uint32_t half_open_interval_us(uint32_t level) { return 1000000u << level; }

static void half_open_start(struct weir *weir, struct tcp_half_open *entry, uint8_t level)
{
    entry->level = level & 15;
    entry->record.time = weir->now;
    entry->replies = 0;
    tcp_record_append(&weir->tcp.half_opens->level[level], &entry->record);
    slow_due(weir, weir->now_us + half_open_interval_us(level));
}

static void half_open_end(struct weir *weir, struct tcp_half_open *entry)
{
    struct half_opens *all = weir->tcp.half_opens;
    entry->listener->half_open_count--;
    tcp_record_end(weir, &all->records, &all->level[entry->level], &entry->record);
}

struct tcp_half_open *half_open_find(struct weir *weir, const struct packet *packet, const struct tcp_segment *segment)
{
    const struct weir_endpoint local = {packet->destination, segment->destination},
                               remote = {packet->source, segment->source};
    return half_open_of(tcp_record_find(weir, &weir->tcp.half_opens->records, &local, &remote));
}

bool half_open_uses(const struct weir *weir, const struct weir_endpoint *local, const struct weir_endpoint *remote)
{
    return tcp_record_find(weir, &weir->tcp.half_opens->records, local, remote) != NULL;
}

// Ends the listener's entries; NULL: all.
static void half_open_end_all(struct weir *weir, const struct tcp_listener *listener)
{
    for (uint32_t i = 0; i < HALF_OPEN_LEVELS; i++) {
        struct tcp_record *record = weir->tcp.half_opens->level[i].head;
        while (record != NULL) {
            struct tcp_half_open *entry = half_open_of(record);
            record = record->next;
            if (listener == NULL || entry->listener == listener)
                half_open_end(weir, entry);
        }
    }
}

void half_open_forget(struct weir *weir, struct tcp_listener *listener)
{
    if (listener->half_open_count)
        half_open_end_all(weir, listener);
}

void half_open_free(struct weir *weir)
{
    struct half_opens *all = weir->tcp.half_opens;
    if (all == NULL)
        return;
    half_open_end_all(weir, NULL);
    tcp_records_free(weir, &all->records);
    if (weir->memory.block == NULL)
        memory_put(&weir->memory, all, sizeof *all);
    weir->tcp.half_opens = NULL;
}

// --- what is sent ----------------------------------------------------------------------------------------------------

#if WEIR_CFG_TCP_TIMESTAMPS
static void half_open_timestamps(const struct weir *weir, const struct tcp_half_open *entry,
                                 struct tcp_options *options)
{
    if (!(entry->flags & HALF_OPEN_TIMESTAMPS))
        return;
    options->seen |= TCP_SEEN_TIMESTAMPS;
    options->ts_value = tcp_timestamp(weir, tcp_timestamp_offset(weir, entry->record.local, entry->record.remote));
    options->ts_echo = entry->ts_recent;
}
static void keep_timestamp(struct tcp_half_open *entry, const struct tcp_segment *segment)
{
    entry->ts_recent = segment->options.ts_value;
}
static uint32_t ts_recent_of(const struct tcp_half_open *entry) { return entry->ts_recent; }
#else
static void half_open_timestamps(const struct weir *weir, const struct tcp_half_open *entry,
                                 struct tcp_options *options)
{
    (void)weir, (void)entry, (void)options;
}
static void keep_timestamp(struct tcp_half_open *entry, const struct tcp_segment *segment)
{
    (void)entry, (void)segment;
}
static uint32_t ts_recent_of(const struct tcp_half_open *entry) { return (void)entry, 0; }
#endif

#if WEIR_CFG_IP_OPTIONS
static void keep_options(struct tcp_half_open *entry, const struct packet *packet)
{
    if (entry->listener->receives_ip_options)
        ip4_options_note(&entry->received, packet);
}
static void give_options(const struct tcp_half_open *entry, struct tcp_conn *c)
{
    tcp_ip_options_kept(c, &entry->received);
}
#else
static void keep_options(struct tcp_half_open *entry, const struct packet *packet) { (void)entry, (void)packet; }
static void give_options(const struct tcp_half_open *entry, struct tcp_conn *c) { (void)entry, (void)c; }
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
    *packet = (struct packet){.netif = weir->netifs,
                              .link_source = entry->link_source,
                              .source = entry->record.remote,
                              .destination = entry->record.local};
    return packet;
}
#endif

// The SYN-ACK, or (flags TCP_ACK) the acknowledgement of the SYN alone. reply_to NULL: whatever the way back is. path
// NULL: not known yet.
static void half_open_send(struct weir *weir, struct tcp_half_open *entry, const struct packet *reply_to,
                           const struct path *path, uint8_t flags)
{
    struct packet back;
    const struct weir_endpoint local = tcp_record_local(&entry->record), remote = tcp_record_remote(&entry->record);
    const uint32_t window = min_u32(entry->listener->receive_limit, 0xffff);
    const bool syn = flags & TCP_SYN;
    struct tcp_segment segment = {
        .flags = flags,
        .seq = entry->iss + !syn,
        .ack = entry->irs + 1,
        .window = (uint16_t)(syn ? window : window >> entry->rcv_scale),  // a SYN's is never scaled (RFC 7323 §2.2)
    };
    struct tcp_options *const options = &segment.options;
    if (syn) {
        options->seen = TCP_SEEN_MSS | (entry->flags & HALF_OPEN_SCALING ? TCP_SEEN_WINDOW_SCALE : 0) |
                        (entry->flags & HALF_OPEN_SACK ? TCP_SEEN_SACK_PERMITTED : 0);
        options->mss = entry->our_mss;
        options->window_scale = entry->rcv_scale;
        tcp_uto_fill_syn_ack(entry->listener, options);
    }
    tcp_ecn_answer(&entry->ecn, entry->level, !(entry->flags & HALF_OPEN_REPEATED), &segment);
    half_open_timestamps(weir, entry, options);
    const struct ip_params params = tcp_listener_params(entry->listener, remote.addr);
    if (path)
        tcp_reply_on(weir, path, reply_to, &local, &remote, params, &segment);
    else
        tcp_reply(weir, reply_to ? reply_to : way_back(weir, entry, &back), &local, &remote, params, &segment);
}

// --- a SYN -----------------------------------------------------------------------------------------------------------

// Whether there is room for one more. Without cookies a flood would shut everyone out for a minute: there the oldest
// that has not answered in a second makes room.
static bool half_open_room(struct weir *weir, const struct tcp_listener *listener)
{
    struct half_opens *all = weir->tcp.half_opens;
    const uint32_t budget = max_u32(2 * listener->backlog, HALF_OPEN_BUDGET_MIN);
    if (listener->half_open_count < budget && all->records.table.count < WEIR_CFG_TCP_HALF_OPEN)
        return true;
    if (WEIR_CFG_TCP_SYN_COOKIES)
        return false;
    count(weir, WEIR_COUNT_TCP_SYN_DROPPED);
    for (uint32_t i = HALF_OPEN_LEVELS; i-- > 1;) {
        if (all->level[i].head != NULL) {
            half_open_end(weir, half_open_of(all->level[i].head));
            return true;
        }
    }
    return false;
}

// What both ends can do (RFC 9293 §3.7.1, RFC 7323, RFC 2018).
static void half_open_agree(struct tcp_half_open *entry, const struct tcp_listener *listener,
                            const struct tcp_segment *segment, uint16_t mtu)
{
    const struct tcp_options *offer = &segment->options;
    entry->peer_mss = offer->seen & TCP_SEEN_MSS ? (uint16_t)max_u32(offer->mss, TCP_MSS_MIN)
                                                 : ip_family_of(entry->record.remote)->mss_default;
    entry->our_mss = half_open_mss(listener, entry->record.remote, mtu);
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
    const struct weir_endpoint local = {packet->destination, segment->destination},
                               remote = {packet->source, segment->source};
    struct tcp_half_open *entry = NULL;
    if (half_open_room(weir, listener))
        entry = half_open_of(tcp_record_new(weir, &weir->tcp.half_opens->records, &local, &remote));
    if (entry == NULL) {
        syncookie_send(weir, listener, packet, segment);
        return;
    }
    TCP_RECORD_ZERO(entry);
    entry->listener = listener;
    entry->irs = segment->seq;
    // (What is in TIME-WAIT still has answered the SYN itself: time_wait_input.)
    entry->iss = time_wait_take_over(weir, NULL, &local, &remote, tcp_isn(weir, &local, &remote));
    half_open_agree(entry, listener, segment, path.netif->mtu);
    entry->ecn = tcp_ecn_offered(tcp_ecn_wants(listener), packet, segment);
    keep_link_source(entry, packet);
    keep_options(entry, packet);
    listener->half_open_count++;
    half_open_start(weir, entry, 0);
    half_open_send(weir, entry, packet, WEIR_CFG_FAST_PATH ? &path : NULL, TCP_SYN | TCP_ACK);
}

uint16_t half_open_mss(const struct tcp_listener *listener, struct weir_addr remote, uint16_t mtu)
{
    const uint32_t mss = min_u32(tcp_mss_for_mtu(remote, mtu), WEIR_CFG_TCP_MSS_MAX);
    return (uint16_t)(listener->user_mss ? min_u32(mss, listener->user_mss) : mss);
}

// --- a segment for an entry (RFC 9293 §3.10.7.4 for SYN-RECEIVED, with RFC 5961) -------------------------------------

static void half_open_reply(struct weir *weir, struct tcp_half_open *entry, const struct packet *packet, uint8_t flags)
{
    if (entry->replies >= HALF_OPEN_REPLIES) {
        count(weir, WEIR_COUNT_TCP_CHALLENGE_LIMITED);
        return;
    }
    entry->replies++;
    if (!(flags & TCP_SYN))
        count(weir, WEIR_COUNT_TCP_CHALLENGE_ACK);
    half_open_send(weir, entry, packet, NULL, flags);
}

// First and second: sequence number, RST, SYN. Returns whether to go on.
static bool half_open_in_order(struct weir *weir, struct tcp_half_open *entry, const struct packet *packet,
                               const struct tcp_segment *segment)
{
    const uint32_t window = min_u32(entry->listener->receive_limit, 0xffff);
    const bool inside = segment->seq - (entry->irs + 1) < max_u32(window, 1);
    if (segment->flags & TCP_RST) {
        if (segment->seq == entry->irs + 1) {
            count(weir, WEIR_COUNT_TCP_RST_RECEIVED);
            half_open_end(weir, entry);
        } else if (inside) {
            half_open_reply(weir, entry, packet, TCP_ACK);
        }
        return false;
    }
    if ((segment->flags & (TCP_SYN | TCP_ACK)) == TCP_SYN && segment->seq == entry->irs) {
        entry->flags |= HALF_OPEN_REPEATED;
        if (tcp_ecn_offered_again(&entry->ecn, tcp_ecn_wants(entry->listener), packet, segment)) {
            half_open_reply(weir, entry, packet, TCP_SYN | TCP_ACK);
        } else {
            tcp_reply_reset(weir, packet, segment);
            half_open_end(weir, entry);
        }
        return false;
    }
    // Another SYN gets an ACK as RFC 5961 §4 has it: a peer that did restart answers with an exact RST.
    if (segment->flags & TCP_SYN || !inside) {
        count_add(weir, WEIR_COUNT_TCP_UNACCEPTABLE, !inside);
        half_open_reply(weir, entry, packet, TCP_ACK);
        return false;
    }
    return true;
}

// RFC 7323 §3.2, §5.3: agreed means in every segment; one older than the SYN is a duplicate.
static bool half_open_timestamp_good(struct weir *weir, struct tcp_half_open *entry, const struct packet *packet,
                                     const struct tcp_segment *segment)
{
    if (!(entry->flags & HALF_OPEN_TIMESTAMPS) || segment->flags & TCP_RST)
        return true;
    if (!(segment->options.seen & TCP_SEEN_TIMESTAMPS))
        return segment->flags & TCP_SYN;
    if (!seq_lt(segment->options.ts_value, ts_recent_of(entry)))
        return true;
    count(weir, WEIR_COUNT_TCP_PAWS);
    half_open_reply(weir, entry, packet, TCP_ACK);
    return false;
}

// DEFER_ACCEPT: the time since the SYN is that of the levels passed (1 + 2 + 4 … s) and of this one.
static bool half_open_deferred(const struct weir *weir, const struct tcp_half_open *entry)
{
    if (!entry->listener->defer_accept_s)
        return false;
    const uint32_t passed_s = (1u << entry->level) - 1 + (weir->now - entry->record.time) / 1000000u;
    return passed_s < entry->listener->defer_accept_s;
}

static void half_open_params(const struct weir *weir, const struct tcp_half_open *entry,
                             const struct tcp_segment *segment, struct tcp_open_params *params)
{
    *params = (struct tcp_open_params){
        .local = {.addr = entry->record.local, .port = entry->record.local_port, .mss = entry->our_mss},
        .remote = {.addr = entry->record.remote, .port = entry->record.remote_port, .mss = entry->peer_mss},
        .iss = entry->iss,
        .irs = entry->irs,
        .window = segment->window,
        .snd_scale = entry->snd_scale,
        .rcv_scale = entry->rcv_scale,
        .scaling = entry->flags & HALF_OPEN_SCALING,
        .sack = entry->flags & HALF_OPEN_SACK,
        .timestamps = entry->flags & HALF_OPEN_TIMESTAMPS,
        .ecn = entry->ecn,
        .ts_recent = ts_recent_of(entry),
    };
    if (WEIR_CFG_TCP_TIMESTAMPS)
        params->ts_offset = tcp_timestamp_offset(weir, entry->record.local, entry->record.remote);
    if (!(entry->flags & HALF_OPEN_REPEATED) && entry->level == 0)
        params->rtt_us = max_u32(weir->now - entry->record.time, 1);
}

// Not our number: the peer may answer a cookie that an earlier copy of its SYN got when there was no room for an entry.
static void half_open_other_ack(struct weir *weir, struct tcp_half_open *entry, struct packet *packet,
                                struct tcp_segment *segment)
{
    if (!syncookie_input(weir, entry->listener, packet, segment)) {
        tcp_reply_reset(weir, packet, segment);
        return;
    }
    const struct weir_endpoint local = tcp_record_local(&entry->record), remote = tcp_record_remote(&entry->record);
    if (tcp_conn_find(weir, local.addr, local.port, remote.addr, remote.port))
        half_open_end(weir, entry);
}

void half_open_input(struct weir *weir, struct tcp_half_open *entry, struct packet *packet, struct tcp_segment *segment)
{
    if (!half_open_timestamp_good(weir, entry, packet, segment) || !half_open_in_order(weir, entry, packet, segment) ||
        !(segment->flags & TCP_ACK))
        return;
    if (segment->ack != entry->iss + 1) {
        half_open_other_ack(weir, entry, packet, segment);
        return;
    }
    if (segment->length == 0 && !(segment->flags & TCP_FIN) && half_open_deferred(weir, entry)) {
        entry->flags |= HALF_OPEN_DEFERRED | HALF_OPEN_REPEATED;
        return;
    }
    struct tcp_open_params params;
    half_open_params(weir, entry, segment, &params);
    struct tcp_conn *c = tcp_conn_passive(weir, entry->listener, &params, packet);
    if (c == NULL) {
        count(weir, WEIR_COUNT_TCP_SYN_DROPPED);
        return;
    }
    give_options(entry, c);
    half_open_end(weir, entry);
    tcp_input_segment(weir, c, packet, segment);
}

// --- time, and looking -----------------------------------------------------------------------------------------------

// The first of a list is due: the SYN-ACK again, or the end.
static void half_open_due(struct weir *weir, struct tcp_half_open *entry)
{
    if (entry->level + 1u == HALF_OPEN_LEVELS) {
        count(weir, WEIR_COUNT_TCP_TIMED_OUT);
        half_open_end(weir, entry);
        return;
    }
    tcp_record_unlink(&weir->tcp.half_opens->level[entry->level], &entry->record);
    half_open_start(weir, entry, (uint8_t)(entry->level + 1));
    if (entry->flags & HALF_OPEN_DEFERRED && half_open_deferred(weir, entry))
        return;  // the peer has it, and waits for data of its own
    entry->flags |= HALF_OPEN_REPEATED;
    half_open_send(weir, entry, NULL, NULL, TCP_SYN | TCP_ACK);
}

uint64_t half_open_poll(struct weir *weir, uint64_t now_us)
{
    uint64_t next_us = WEIR_NEVER;
    uint32_t done = 0;
    if (!weir->tcp.half_opens->records.table.count)
        return WEIR_NEVER;
    for (uint32_t i = 0; i < HALF_OPEN_LEVELS; i++) {
        struct tcp_record *record;
        while ((record = weir->tcp.half_opens->level[i].head) != NULL &&
               weir->now - record->time >= half_open_interval_us(i)) {
            if (done++ == HALF_OPEN_BATCH)
                return now_us;
            half_open_due(weir, half_open_of(record));
        }
        if (record != NULL) {
            const uint64_t due_us = now_us + half_open_interval_us(i) - (weir->now - record->time);
            next_us = due_us < next_us ? due_us : next_us;
        }
    }
    return next_us;
}

bool half_open_walk(struct weir *weir, struct table_cursor *cursor, struct weir_socket_info *out)
{
    return tcp_records_walk(&weir->tcp.half_opens->records, cursor, WEIR_TCP_SYN_RECEIVED, out);
}

uint32_t half_open_count(const struct weir *weir) { return weir->tcp.half_opens->records.table.count; }
