// SPDX-License-Identifier: BSD-2-Clause
#include "dns/resolver.h"

#include <string.h>

#include "bytes.h"
#include "dns/family.h"
#include "service.h"

#define DNS_UNREACHABLE_US 20000u  // until the next server is asked, where this one has no route

static struct weir *weir_of(const struct dns_query *query) { return query->dns->loop->weir; }

// --- cache -----------------------------------------------------------------------------------------------------------

static struct dns_entry *cache_find(struct dns *dns, const char *name, uint16_t type)
{
    uint64_t now_us = weir_now_us(dns->loop->weir);
    for (uint32_t i = 0; i < DNS_CACHE_ENTRIES; i++) {
        struct dns_entry *entry = &dns->cache[i];
        if (entry->name[0] != '\0' && entry->expires_us > now_us && entry->type == type &&
            dns_name_equal(entry->name, name))
            return entry;
    }
    return NULL;
}

// In the place of the entry that ends first.
static void cache_put(struct dns *dns, const char *name, uint16_t type, int result, const struct dns_answer *answer)
{
    size_t length = strlen(name);
    struct dns_entry *place = &dns->cache[0];
    if (answer->ttl_s == 0 || length >= DNS_CACHE_NAME)
        return;
    for (uint32_t i = 1; i < DNS_CACHE_ENTRIES && place->name[0] != '\0'; i++) {
        if (dns->cache[i].name[0] == '\0' || dns->cache[i].expires_us < place->expires_us)
            place = &dns->cache[i];
    }
    memcpy(place->name, name, length + 1);
    place->expires_us = weir_now_us(dns->loop->weir) + (uint64_t)answer->ttl_s * 1000000u;
    place->type = type;
    place->result = result;
    place->answer = *answer;
}

// --- the end of a question -------------------------------------------------------------------------------------------

static void query_socket_close(struct dns_query *query)
{
    if (query->socket > 0)
        (void)weir_socket_close(weir_of(query), query->socket);
    query->socket = 0;
}

// Tells whoever asked, and those who asked the same meanwhile. All their slots are free before the first of them hears
// of it.
static void query_finish(struct dns_query *query, int result, const struct dns_answer *answer)
{
    struct dns *dns = query->dns;
    struct {
        dns_done *done;
        void *context;
    } waiting[DNS_QUERIES];
    uint32_t count = 0;
    query_socket_close(query);
    if (result >= 0)
        cache_put(dns, query->question.name, query->question.type, result, answer);
    for (uint32_t i = 0; i < DNS_QUERIES; i++) {
        struct dns_query *other = &dns->queries[i];
        if (other != query && !(other->transport == DNS_FOLLOWS && other->leader == query))
            continue;
        waiting[count].done = other->done;
        waiting[count++].context = other->context;
        other->transport = DNS_FREE;
    }
    for (uint32_t i = 0; i < count; i++)
        waiting[i].done(waiting[i].context, result, answer);
}

static void query_fail(struct dns_query *query, int error)
{
    const struct dns_answer none = {.count = 0};
    query_finish(query, error, &none);
}

// --- asking ----------------------------------------------------------------------------------------------------------

static void query_next_try(struct dns_query *query);

// A new socket towards the server: the stack gives each a random port. Returns whether it is under way.
static bool query_open(struct dns_query *query, enum weir_socket_type type)
{
    struct weir *weir = weir_of(query);
    query_socket_close(query);
    weir_socket socket = weir_socket_open(weir, type, 0);
    if (socket < 0)
        return false;
    query->socket = socket;
    int error = loop_watch(query->dns->loop, socket, &query->watch);
    if (error == WEIR_OK)
        error = weir_socket_connect(weir, socket, &query->server);
    return error == WEIR_OK || (type == WEIR_STREAM && error == WEIR_IN_PROGRESS);
}

// A new id; and letters of random case, but over TCP, which needs no such defence, all small: a server that changes
// case makes them so.
static void question_renew(struct dns_query *query, bool mixed)
{
    uint8_t random[34];
    char name[DNS_NAME_MAX + 1];
    weir_random_bytes(weir_of(query), random, sizeof random);
    memcpy(name, query->question.name, sizeof name);
    query->question.id = get16(random + 32);
    if (!mixed)
        memset(random, 0, sizeof random);
    dns_name_randomise(query->question.name, name, random);
}

static void query_ask_tcp(struct dns_query *query)
{
    query->transport = DNS_TCP;
    query->question.extended = false;  // size is no matter there
    query->sent = false;
    query->due_us = weir_now_us(weir_of(query)) + DNS_TCP_TIMEOUT_US;
    query->dns->count.tcp++;
    question_renew(query, false);
    if (!query_open(query, WEIR_STREAM))
        query_next_try(query);
}

// Asks the next server. When all tries are used up the question ends. Where a socket cannot be had the timer tries
// again: soon, where there is another server, which may be one of the other family.
static void query_next_try(struct dns_query *query)
{
    struct dns *dns = query->dns;
    uint8_t bytes[DNS_UDP_MAX];
    const struct weir_message message = {.peer.port = 0};  // to the connected peer
    if ((query->tries >= DNS_TRIES && query->tries >= 2u * dns->server_count) || dns->server_count == 0) {
        dns->count.timed_out += query->failure == WEIR_TIMED_OUT;
        query_fail(query, query->failure);
        return;
    }
    query->transport = DNS_UDP;
    query->question.extended = !query->plain && query->tries < dns->server_count;
    query->due_us = weir_now_us(weir_of(query)) + ((uint64_t)DNS_TIMEOUT_US << query->tries / dns->server_count);
    query->server = (struct weir_endpoint){dns->servers[query->tries % dns->server_count], DNS_PORT};
    query->tries++;
    question_renew(query, true);
    const struct weir_slice slice = {bytes, dns_query_emit(&query->question, bytes, sizeof bytes)};
    if (!query_open(query, WEIR_DATAGRAM))
        query->due_us = dns->server_count == 1 ? query->due_us : weir_now_us(weir_of(query)) + DNS_UNREACHABLE_US;
    else
        (void)weir_socket_send_message(weir_of(query), query->socket, &message, &slice, 1);
}

// --- answers ---------------------------------------------------------------------------------------------------------

// Returns whether the question is settled one way or another (its socket is then another, or none).
static bool query_judge(struct dns_query *query, const uint8_t *bytes, uint32_t length)
{
    struct dns *dns = query->dns;
    struct dns_answer answer;
    enum dns_result result = dns_answer_parse(bytes, length, &query->question, &answer);
    switch (result) {
    case DNS_FOUND:
    case DNS_NO_NAME:
    case DNS_NO_DATA: query_finish(query, (int)result, &answer); return true;
    case DNS_NOT_OURS:
        dns->count.forged++;
        if (++query->wrong < DNS_FORGED_MAX || query->transport == DNS_TCP)
            return false;
        query->wrong = 0;
        query_ask_tcp(query);  // somebody is guessing: TCP cannot be guessed
        return true;
    case DNS_TRUNCATED:
    case DNS_WRONG_CASE:
        if (query->transport == DNS_TCP)
            break;
        query_ask_tcp(query);
        return true;
    case DNS_NOT_EXTENDED:
        dns->count.not_extended++;
        query->plain = true;
        query->tries--;  // the same server again
        break;
    case DNS_BAD: dns->count.malformed++; break;
    case DNS_SERVER_FAILED: query->failure = WEIR_REFUSED; break;
    }
    query_next_try(query);
    return true;
}

static void query_read_udp(struct dns_query *query, weir_socket socket)
{
    struct weir_message message;
    struct weir_slice slice;
    int error = WEIR_OK;
    while (service_peek(query->dns->loop, socket, &message, &slice, &error)) {
        bool right = weir_addr_equal(message.peer.addr, query->server.addr) && message.peer.port == query->server.port;
        if (!right)
            query->dns->count.forged++;
        else if (query_judge(query, slice.data, slice.length))
            return;  // that socket is closed
        (void)weir_socket_discard(weir_of(query), socket);
    }
    if (error != WEIR_OK)
        query_next_try(query);  // port unreachable and the like: no need to wait
}

static void query_send_tcp(struct dns_query *query, weir_socket socket)
{
    uint8_t bytes[2 + DNS_UDP_MAX];
    uint32_t length = dns_query_emit(&query->question, bytes + 2, DNS_UDP_MAX);
    put16(bytes, length);
    // At most 273 bytes as the first of a connection: the smallest send queue takes them in one piece.
    query->sent = weir_socket_write(weir_of(query), socket, bytes, length + 2) == (int)(length + 2);
}

// The answer is looked at when the whole of it is in the receive queue.
static void query_read_tcp(struct dns_query *query, weir_socket socket, uint32_t events)
{
    struct weir *weir = weir_of(query);
    struct dns *dns = query->dns;
    struct weir_slice slices[2];
    int32_t there = 0;
    if (!query->sent && (events & WEIR_WRITABLE) && !(events & WEIR_ERROR))
        query_send_tcp(query, socket);
    int peeked = weir_socket_peek(weir, socket, 0, slices, 2);
    if (peeked == WEIR_AGAIN && !(events & WEIR_ERROR))
        return;
    if (peeked <= 0 || weir_socket_get(weir, socket, WEIR_OPTION_READABLE_BYTES, &there) != WEIR_OK) {
        query_next_try(query);
        return;
    }
    if (there < 2)
        return;
    uint32_t low = slices[0].length > 1 ? slices[0].data[1] : slices[1].data[0];
    uint32_t length = (uint32_t)slices[0].data[0] << 8 | low;
    if (length > sizeof dns->scratch) {
        dns->count.malformed++;
        query_next_try(query);
    } else if ((uint32_t)there >= length + 2) {
        (void)weir_socket_consume(weir, socket, 2);
        bool whole = weir_socket_read(weir, socket, dns->scratch, length) == (int)length;
        if (!whole || !query_judge(query, dns->scratch, length))
            query_next_try(query);
    }
}

static void query_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct dns_query *query = (struct dns_query *)watch;
    if (query->socket != socket)
        return;
    if (query->transport == DNS_UDP)
        query_read_udp(query, socket);
    else if (query->transport == DNS_TCP)
        query_read_tcp(query, socket, events);
}

static uint64_t dns_poll(struct app *app, uint64_t now_us)
{
    struct dns *dns = (struct dns *)app;
    uint64_t due_us = WEIR_NEVER;
    for (uint32_t i = 0; i < DNS_QUERIES; i++) {
        struct dns_query *query = &dns->queries[i];
        if ((query->transport == DNS_UDP || query->transport == DNS_TCP) && now_us >= query->due_us)
            query_next_try(query);
        if ((query->transport == DNS_UDP || query->transport == DNS_TCP) && query->due_us < due_us)
            due_us = query->due_us;
    }
    return due_us;
}

// --- the interface ---------------------------------------------------------------------------------------------------

void dns_start(struct dns *dns, struct loop *loop)
{
    memset(dns, 0, sizeof *dns);
    dns->app.poll = dns_poll;
    dns->loop = loop;
    for (uint32_t i = 0; i < DNS_QUERIES; i++) {
        dns->queries[i].watch.event = query_event;
        dns->queries[i].dns = dns;
    }
    loop_add(loop, &dns->app);
}

void dns_stop(struct dns *dns)
{
    loop_remove(dns->loop, &dns->app);
    for (uint32_t i = 0; i < DNS_QUERIES; i++) {
        if (dns->queries[i].transport == DNS_UDP || dns->queries[i].transport == DNS_TCP)
            query_fail(&dns->queries[i], WEIR_ABORTED);
    }
}

static bool server_usable(struct weir_addr addr)
{
    return !weir_addr_is_any(addr) && !weir_addr_is_multicast(addr) && !weir_addr_is_broadcast(addr);
}

static void server_put(struct weir_addr *servers, uint32_t *count, struct weir_addr addr)
{
    for (uint32_t i = 0; i < *count; i++)
        if (weir_addr_equal(servers[i], addr))
            return;
    if (*count < DNS_SERVERS && server_usable(addr))
        servers[(*count)++] = addr;
}

uint32_t dns_servers_in_force(struct dns *dns, struct weir_addr out[DNS_SERVERS])
{
    const bool given = !weir_addr_is_any(dns->told[DNS_GIVEN][0]);
    struct weir_addr routers[DNS_SERVERS];
    uint32_t count = 0;
    for (uint32_t source = DNS_GIVEN; source <= (given ? DNS_GIVEN : DNS_SOURCES - 1); source++)
        for (uint32_t i = 0; i < DNS_SERVERS; i++)
            server_put(out, &count, dns->told[source][i]);
    const uint32_t advertised = weir_router_dns_servers(dns->loop->weir, routers, given ? 0 : DNS_SERVERS);
    for (uint32_t i = 0; i < advertised; i++)
        server_put(out, &count, routers[i]);
    return count;
}

static void servers_look(struct dns *dns)
{
    struct weir_addr servers[DNS_SERVERS];
    const uint32_t count = dns_servers_in_force(dns, servers);
    bool same = count == dns->server_count;
    for (uint32_t i = 0; i < count && same; i++)
        same = weir_addr_equal(servers[i], dns->servers[i]);
    if (same)
        return;
    memcpy(dns->servers, servers, count * sizeof servers[0]);
    dns->server_count = (uint8_t)count;
    memset(dns->cache, 0, sizeof dns->cache);
}

void dns_servers_from(struct dns *dns, enum dns_source source, const struct weir_addr *servers, uint32_t count)
{
    uint32_t kept = 0;
    memset(dns->told[source], 0, sizeof dns->told[source]);
    for (uint32_t i = 0; i < count; i++)
        server_put(dns->told[source], &kept, servers[i]);
    servers_look(dns);
}

// Names that need no server: addresses, and localhost (RFC 6761 §6.3).
static bool resolve_here(const char *name, uint16_t type, struct dns_answer *answer)
{
    *answer = (struct dns_answer){.count = 1, .ttl_s = DNS_TTL_MAX_S};
    if (dns_literal(name, &answer->addresses[0])) {
        answer->count = dns_type_of(answer->addresses[0]) == type;
        return true;
    }
    if (dns_name_equal(name, "localhost") || dns_name_equal(name, "localhost.")) {
        answer->addresses[0] = dns_loopback(type);
        return true;
    }
    return false;
}

static struct dns_query *query_free(struct dns *dns)
{
    for (uint32_t i = 0; i < DNS_QUERIES; i++) {
        if (dns->queries[i].transport == DNS_FREE)
            return &dns->queries[i];
    }
    return NULL;
}

static void nobody(void *context, int result, const struct dns_answer *answer)
{
    (void)context, (void)result, (void)answer;
}

void dns_cancel(struct dns *dns, const void *context)
{
    for (uint32_t i = 0; i < DNS_QUERIES; i++) {
        if (dns->queries[i].transport != DNS_FREE && dns->queries[i].context == context)
            dns->queries[i].done = nobody;
    }
}

// Two questions for one name would double a forger's chance (RFC 5452 §5).
static struct dns_query *query_under_way(struct dns *dns, const char *name, uint16_t type)
{
    for (uint32_t i = 0; i < DNS_QUERIES; i++) {
        struct dns_query *query = &dns->queries[i];
        if ((query->transport == DNS_UDP || query->transport == DNS_TCP) && query->question.type == type &&
            dns_name_equal(query->question.name, name))
            return query;
    }
    return NULL;
}

int dns_resolve_type(struct dns *dns, const char *name, uint16_t type, struct dns_answer *answer, dns_done *done,
                     void *context)
{
    static const uint8_t as_it_is[32];
    char plain[DNS_NAME_MAX + 1];
    if (resolve_here(name, type, answer))
        return answer->count ? DNS_FOUND : DNS_NO_DATA;
    if (!dns_name_valid(name) || !dns_record_bytes(type))
        return WEIR_INVALID;
    dns_name_randomise(plain, name, as_it_is);  // lower case, no dot at the end
    servers_look(dns);
    struct dns_entry *entry = cache_find(dns, plain, type);
    if (entry != NULL) {
        *answer = entry->answer;
        answer->ttl_s = (uint32_t)((entry->expires_us - weir_now_us(dns->loop->weir)) / 1000000u);
        dns->count.cached++;
        return entry->result;
    }
    if (dns->server_count == 0)
        return WEIR_NO_ROUTE;
    struct dns_query *query = query_free(dns), *const other = query_under_way(dns, plain, type);
    if (query == NULL)
        return WEIR_NO_MEMORY;
    query->done = done;
    query->context = context;
    if (other != NULL) {
        query->transport = DNS_FOLLOWS;
        query->leader = other;
        return WEIR_IN_PROGRESS;
    }
    dns->count.asked++;
    memcpy(query->question.name, plain, sizeof plain);
    query->question.type = type;
    query->tries = query->wrong = 0;
    query->plain = false;
    query->failure = WEIR_TIMED_OUT;
    query_next_try(query);
    return query->transport == DNS_FREE ? WEIR_NO_ROUTE : WEIR_IN_PROGRESS;
}
