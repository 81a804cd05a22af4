// SPDX-License-Identifier: BSD-2-Clause
#include "mdns/query.h"

#include <string.h>

#include "mdns/internal.h"

#define FIRST_US 20000u, 120000u
#define INTERVAL_MAX_S 3600u
#define TTL_MAX_S 86400u  // longer ones are cut
#define REFRESHES 4u      // before a record expires (RFC 6762 §5.2)

// --- the cache -------------------------------------------------------------------------------------------------------

enum { ENTRY_NEW, ENTRY_TOLD };
// A record, with its name's and its data's bytes behind it, the next one behind those. In the cache it may lie at any
// address: it is copied in and out.
struct entry {
    uint64_t received_us, expires_us, refresh_us;
    uint32_t ttl_s;
    uint16_t type, data_length;
    uint8_t name_length, refreshed, state;
};

static uint32_t entry_bytes(const struct entry *entry)
{
    return (uint32_t)sizeof *entry + entry->name_length + entry->data_length;
}

static struct entry entry_get(const struct mdns *mdns, uint32_t at)
{
    struct entry entry;
    memcpy(&entry, mdns->config.cache + at, sizeof entry);
    return entry;
}

static void entry_put(struct mdns *mdns, uint32_t at, const struct entry *entry)
{
    memcpy(mdns->config.cache + at, entry, sizeof *entry);
}

static void entry_name(const struct mdns *mdns, uint32_t at, const struct entry *entry, struct mdns_name *name)
{
    name->length = entry->name_length;
    memcpy(name->bytes, mdns->config.cache + at + sizeof *entry, entry->name_length);
}

static const uint8_t *entry_data(const struct mdns *mdns, uint32_t at, const struct entry *entry)
{
    return mdns->config.cache + at + sizeof *entry + entry->name_length;
}

static void entry_remove(struct mdns *mdns, uint32_t at)
{
    const struct entry entry = entry_get(mdns, at);
    const uint32_t bytes = entry_bytes(&entry);
    memmove(mdns->config.cache + at, mdns->config.cache + at + bytes, mdns->cache_used - at - bytes);
    mdns->cache_used -= bytes;
    mdns->count.cached--;
}

// At 80, 85, 90 and 95 % of its life, and up to 2 % later.
static uint64_t refresh_time(struct mdns *mdns, const struct entry *entry)
{
    if (entry->refreshed == REFRESHES || entry->ttl_s == 0)
        return WEIR_NEVER;
    const uint64_t per_mille_us = (uint64_t)entry->ttl_s * 1000;
    return entry->received_us + per_mille_us * (800u + 50u * entry->refreshed) +
           mdns_random_us(mdns, 0, per_mille_us * 20);
}

static bool query_wants(const struct mdns_query *query, const struct mdns_name *name, uint16_t type)
{
    return (query->type == type || query->type == MDNS_ANY) && mdns_name_equal(&query->name, name);
}

static bool wanted_by_query(const struct mdns *mdns, const struct mdns_name *name, uint16_t type)
{
    for (const struct mdns_query *query = mdns->queries; query != NULL; query = query->next) {
        if (query_wants(query, name, type))
            return true;
    }
    return false;
}

// Records that one in the cache leads to: an instance's, and the addresses of its host.
static bool wanted_by_cache(const struct mdns *mdns, const struct mdns_name *name, uint16_t type)
{
    const bool address = type == MDNS_A || type == MDNS_AAAA;
    const uint16_t leads = address ? MDNS_SRV : MDNS_PTR;
    if (!address && type != MDNS_SRV && type != MDNS_TXT)
        return false;
    for (uint32_t at = 0; at < mdns->cache_used;) {
        const struct entry entry = entry_get(mdns, at);
        const uint32_t head = address ? 6 : 0;
        if (entry.type == leads && entry.data_length == head + name->length) {
            struct mdns_name to = {.length = name->length};
            memcpy(to.bytes, entry_data(mdns, at, &entry) + head, name->length);
            if (mdns_name_equal(&to, name))
                return true;
        }
        at += entry_bytes(&entry);
    }
    return false;
}

struct arrival {
    const struct mdns_record *record;
    const uint8_t *data;
    uint32_t data_length;
    uint64_t now_us;
};

// The record has been known: its time begins anew, or (TTL 0) ends in a second.
static void entry_renew(struct mdns *mdns, uint32_t at, struct entry *entry, const struct arrival *arrival)
{
    const uint32_t ttl_s = arrival->record->ttl_s < TTL_MAX_S ? arrival->record->ttl_s : TTL_MAX_S;
    entry->received_us = arrival->now_us;
    entry->ttl_s = ttl_s;
    entry->refreshed = 0;
    entry->expires_us = arrival->now_us + (ttl_s == 0 ? MDNS_SECOND_US : (uint64_t)ttl_s * MDNS_SECOND_US);
    entry->refresh_us = refresh_time(mdns, entry);
    entry_put(mdns, at, entry);
}

// Looks at those with the record's name and type: the same data is renewed (true), other data that is older than a
// second has one left, if the record is to be the only one (§10.2).
static bool entries_compare(struct mdns *mdns, const struct arrival *arrival)
{
    const struct mdns_record *record = arrival->record;
    struct mdns_name name;
    bool known = false;
    for (uint32_t at = 0; at < mdns->cache_used;) {
        struct entry entry = entry_get(mdns, at);
        entry_name(mdns, at, &entry, &name);
        if (entry.type == record->type && mdns_name_equal(&name, &record->name)) {
            if (entry.data_length == arrival->data_length &&
                memcmp(entry_data(mdns, at, &entry), arrival->data, arrival->data_length) == 0) {
                entry_renew(mdns, at, &entry, arrival);
                known = true;
            } else if ((record->rrclass & MDNS_FLUSH) != 0 && arrival->now_us - entry.received_us > MDNS_SECOND_US &&
                       entry.expires_us > arrival->now_us + MDNS_SECOND_US) {
                entry.expires_us = arrival->now_us + MDNS_SECOND_US;
                entry.refresh_us = WEIR_NEVER;
                entry_put(mdns, at, &entry);
            }
        }
        at += entry_bytes(&entry);
    }
    return known;
}

static void cache_record(struct mdns *mdns, const struct arrival *arrival)
{
    const struct mdns_record *record = arrival->record;
    if (entries_compare(mdns, arrival) || record->ttl_s == 0)
        return;
    if (!wanted_by_query(mdns, &record->name, record->type) && !wanted_by_cache(mdns, &record->name, record->type))
        return;
    struct entry entry = {.type = record->type,
                          .data_length = (uint16_t)arrival->data_length,
                          .name_length = record->name.length,
                          .state = ENTRY_NEW};
    const uint32_t at = mdns->cache_used, bytes = entry_bytes(&entry);
    if (bytes > mdns->config.cache_bytes - at) {
        mdns->count.cache_full++;
        return;
    }
    mdns->cache_used += bytes;
    mdns->count.cached++;
    memcpy(mdns->config.cache + at + sizeof entry, record->name.bytes, record->name.length);
    if (arrival->data_length > 0)
        memcpy(mdns->config.cache + at + sizeof entry + record->name.length, arrival->data, arrival->data_length);
    entry_renew(mdns, at, &entry, arrival);
}

void mdns_cache_take(struct mdns *mdns, const struct mdns_packet *packet)
{
    struct mdns_reader reader;
    struct mdns_record record;
    uint8_t room[MDNS_DATA_ROOM];
    if (mdns->queries == NULL && mdns->cache_used == 0)
        return;
    // What leads to others first, in whatever order they stand in the message.
    for (uint32_t pass = 0; pass < 3; pass++) {
        (void)mdns_read_begin(&reader, packet->bytes, packet->length);
        while (mdns_read_record(&reader, &record)) {
            const uint32_t turn = record.type == MDNS_PTR                             ? 0
                                  : record.type == MDNS_A || record.type == MDNS_AAAA ? 2
                                                                                      : 1;
            if (turn != pass || record.section == 2 || record.type == MDNS_NSEC ||
                (record.rrclass & (uint16_t)~MDNS_FLUSH) != MDNS_IN)
                continue;
            struct arrival arrival = {.record = &record, .now_us = packet->now_us};
            arrival.data = mdns_read_data(packet->bytes, packet->length, &record, room, &arrival.data_length);
            if (arrival.data != NULL)
                cache_record(mdns, &arrival);
        }
    }
    mdns->due_us = 0;
}

// --- telling ---------------------------------------------------------------------------------------------------------

static void tell(struct mdns *mdns, uint32_t at, struct mdns_query *only, bool added)
{
    const struct entry entry = entry_get(mdns, at);
    struct mdns_name name;
    entry_name(mdns, at, &entry, &name);
    const struct mdns_answer answer = {&name, entry.type, entry_data(mdns, at, &entry), entry.data_length};
    if (only != NULL) {
        only->answer(only, &answer, added);
        return;
    }
    for (struct mdns_query *query = mdns->queries; query != NULL; query = mdns->cursor) {
        mdns->cursor = query->next;
        if (!query->fresh && query_wants(query, &name, entry.type))
            query->answer(query, &answer, added);
    }
}

static bool still_asked(const struct mdns *mdns, const struct mdns_query *query)
{
    for (const struct mdns_query *at = mdns->queries; at != NULL; at = at->next) {
        if (at == query)
            return true;
    }
    return false;
}

// A new question hears of what is known already.
static void tell_fresh(struct mdns *mdns, struct mdns_query *query)
{
    struct mdns_name name;
    query->fresh = false;
    for (uint32_t at = 0; at < mdns->cache_used && still_asked(mdns, query);) {
        const struct entry entry = entry_get(mdns, at);
        entry_name(mdns, at, &entry, &name);
        if (entry.state == ENTRY_TOLD && query_wants(query, &name, entry.type))
            tell(mdns, at, query, true);
        at += entry_bytes(&entry);
    }
}

static void query_hasten(struct mdns *mdns, const struct mdns_name *name, uint16_t type, uint64_t now_us)
{
    for (struct mdns_query *query = mdns->queries; query != NULL; query = query->next) {
        if (query_wants(query, name, type))
            query->due_us = now_us;
    }
}

// What is new is told, what is over is told and forgotten, what soon will be is asked for again.
static uint64_t cache_poll(struct mdns *mdns, uint64_t now_us)
{
    uint64_t due_us = WEIR_NEVER;
    struct mdns_name name;
    for (uint32_t at = 0; at < mdns->cache_used;) {
        struct entry entry = entry_get(mdns, at);
        if (entry.state == ENTRY_NEW) {
            entry.state = ENTRY_TOLD;
            entry_put(mdns, at, &entry);
            tell(mdns, at, NULL, true);
        }
        if (mdns->cache_used == 0)
            break;  // stopped
        if (now_us >= entry.expires_us) {
            tell(mdns, at, NULL, false);
            if (mdns->cache_used > 0)
                entry_remove(mdns, at);
            continue;
        }
        if (now_us >= entry.refresh_us) {
            entry_name(mdns, at, &entry, &name);
            query_hasten(mdns, &name, entry.type, now_us);
            entry.refreshed++;
            entry.refresh_us = refresh_time(mdns, &entry);
            entry_put(mdns, at, &entry);
        }
        const uint64_t next_us = entry.refresh_us < entry.expires_us ? entry.refresh_us : entry.expires_us;
        due_us = next_us < due_us ? next_us : due_us;
        at += entry_bytes(&entry);
    }
    return due_us;
}

// --- asking ----------------------------------------------------------------------------------------------------------

static void query_sent(struct mdns_query *query, uint64_t now_us)
{
    query->asked = true;
    query->due_us = now_us + (uint64_t)query->interval_s * MDNS_SECOND_US;
    query->interval_s = query->interval_s < INTERVAL_MAX_S / 2 ? query->interval_s * 2 : INTERVAL_MAX_S;
}

static bool entry_write(struct mdns *mdns, struct mdns_writer *writer, uint32_t at, uint64_t now_us)
{
    const struct entry entry = entry_get(mdns, at);
    const uint32_t left_s = (uint32_t)((entry.expires_us - now_us) / MDNS_SECOND_US);
    const uint32_t head = entry.type == MDNS_SRV ? 6 : 0;
    struct mdns_name name, to = {.length = 0};
    struct mdns_data data = {.head = entry_data(mdns, at, &entry), .head_length = entry.data_length};
    entry_name(mdns, at, &entry, &name);
    if (entry.type == MDNS_PTR || entry.type == MDNS_SRV || entry.type == MDNS_CNAME) {
        to.length = (uint8_t)(entry.data_length - head);
        memcpy(to.bytes, data.head + head, to.length);
        data.head_length = head;
        data.name = &to;
    }
    return mdns_write_record(writer, 1, &name, entry.type, MDNS_IN, left_s, &data);
}

// What we know already, as long as half of its time is left (§7.1).
static void known_write(struct mdns *mdns, struct mdns_writer *writer, uint64_t now_us)
{
    struct mdns_name name;
    for (uint32_t at = 0; at < mdns->cache_used;) {
        const struct entry entry = entry_get(mdns, at);
        bool about = false;
        entry_name(mdns, at, &entry, &name);
        for (const struct mdns_query *query = mdns->queries; query != NULL && !about; query = query->next)
            about = query->due_us <= now_us && query_wants(query, &name, entry.type);
        if (about && now_us < entry.expires_us &&
            entry.expires_us - now_us >= (uint64_t)entry.ttl_s * (MDNS_SECOND_US / 2) &&
            !entry_write(mdns, writer, at, now_us)) {
            mdns->out[2] |= MDNS_TRUNCATED >> 8;  // the rest comes in a further message
            (void)mdns_send(mdns, writer, NULL);
            mdns_begin(mdns, writer, 0);
            (void)entry_write(mdns, writer, at, now_us);
        }
        at += entry_bytes(&entry);
    }
}

// Asks all that is due in one message. The first time the answer may come to us alone (§5.4).
static void ask(struct mdns *mdns, uint64_t now_us)
{
    struct mdns_writer writer;
    uint32_t questions = 0;
    bool direct = false;
    if (mdns->address_count == 0)
        return;
    mdns_begin(mdns, &writer, 0);
    for (struct mdns_query *query = mdns->queries; query != NULL; query = query->next) {
        const struct mdns_question question = {query->name, query->type,
                                               (uint16_t)(MDNS_IN | (query->asked ? 0 : MDNS_UNICAST))};
        if (query->due_us <= now_us && !query->fresh && mdns_write_question(&writer, &question)) {
            questions++;
            direct = direct || !query->asked;
        } else if (query->due_us <= now_us) {
            query->due_us = now_us + 1;  // with the next message
        }
    }
    if (questions == 0)
        return;
    if (direct)
        mdns->direct_us = now_us + MDNS_DIRECT_US;
    known_write(mdns, &writer, now_us);
    (void)mdns_send(mdns, &writer, NULL);
    mdns->count.asked++;
    for (struct mdns_query *query = mdns->queries; query != NULL; query = query->next) {
        if (query->due_us <= now_us)
            query_sent(query, now_us);
    }
}

uint64_t mdns_query_poll(struct mdns *mdns, uint64_t now_us)
{
    for (struct mdns_query *query = mdns->queries; query != NULL; query = mdns->cursor) {
        mdns->cursor = query->next;
        if (query->fresh)
            tell_fresh(mdns, query);
    }
    uint64_t due_us = cache_poll(mdns, now_us);
    ask(mdns, now_us);
    for (const struct mdns_query *query = mdns->queries; query != NULL; query = query->next) {
        if (mdns->address_count > 0 && query->due_us < due_us)
            due_us = query->due_us;
        if (query->fresh)
            due_us = now_us;
    }
    return due_us;
}

void mdns_query_again(struct mdns *mdns, uint64_t now_us)
{
    for (struct mdns_query *query = mdns->queries; query != NULL; query = query->next) {
        query->interval_s = 1;
        query->asked = false;
        query->due_us = now_us + mdns_random_us(mdns, FIRST_US);
    }
    mdns->due_us = 0;
}

// Another host asked the same a moment before us, and knows nothing that we do not: its answer is ours (§7.3).
void mdns_query_heard(struct mdns *mdns, const struct mdns_packet *packet)
{
    struct mdns_reader reader;
    struct mdns_question question;
    (void)mdns_read_begin(&reader, packet->bytes, packet->length);
    if (packet->legacy || !weir_addr_is_multicast(packet->from.local) || reader.left[1] > 0 || reader.left[2] > 0 ||
        (mdns_flags(packet->bytes) & MDNS_TRUNCATED) != 0)
        return;
    while (mdns_read_question(&reader, &question)) {
        for (struct mdns_query *query = mdns->queries; query != NULL; query = query->next) {
            if (query->due_us - packet->now_us <= MDNS_SECOND_US && query->due_us >= packet->now_us &&
                question.rrclass == MDNS_IN && question.type == query->type &&
                mdns_name_equal(&question.name, &query->name)) {
                query_sent(query, packet->now_us);
                mdns->count.suppressed++;
            }
        }
    }
}

void mdns_query_start(struct mdns *mdns, struct mdns_query *query, const struct mdns_name *name, uint16_t type,
                      void (*answer)(struct mdns_query *, const struct mdns_answer *, bool added), void *context)
{
    *query = (struct mdns_query){.next = mdns->queries,
                                 .mdns = mdns,
                                 .name = *name,
                                 .type = type,
                                 .fresh = true,
                                 .interval_s = 1,
                                 .answer = answer,
                                 .context = context};
    query->due_us = weir_now_us(mdns->loop->weir) + mdns_random_us(mdns, FIRST_US);
    mdns->queries = query;
    mdns->due_us = 0;
}

void mdns_query_stop(struct mdns_query *query)
{
    struct mdns *mdns = query->mdns;
    if (mdns == NULL)
        return;
    for (struct mdns_query **at = &mdns->queries; *at != NULL; at = &(*at)->next) {
        if (*at == query) {
            *at = query->next;
            break;
        }
    }
    if (mdns->cursor == query)
        mdns->cursor = query->next;
    query->mdns = NULL;
}
