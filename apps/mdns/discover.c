// SPDX-License-Identifier: BSD-2-Clause
// Service discovery over standing questions (RFC 6763).
#include <string.h>

#include "bytes.h"
#include "mdns/family.h"
#include "mdns/query.h"
#include "text.h"

// --- browsing --------------------------------------------------------------------------------------------------------

static bool name_of(struct mdns_name *name, const uint8_t *bytes, uint32_t length)
{
    if (length == 0 || length > MDNS_NAME_MAX)
        return false;
    name->length = (uint8_t)length;
    memcpy(name->bytes, bytes, length);
    return true;
}

static void browse_answer(struct mdns_query *query, const struct mdns_answer *answer, bool added)
{
    struct mdns_browse *browse = query->context;
    struct mdns_name instance;
    if (name_of(&instance, answer->data, answer->data_length))
        browse->found(browse, &instance, added, browse->context);
}

int mdns_browse_start(struct mdns *mdns, struct mdns_browse *browse, const char *type,
                      void (*found)(struct mdns_browse *, const struct mdns_name *instance, bool added, void *),
                      void *context)
{
    struct mdns_name name;
    mdns_name_root(&name);
    if (!mdns_name_text(&name, type) || !mdns_name_text(&name, "local"))
        return WEIR_INVALID;
    browse->found = found;
    browse->context = context;
    mdns_query_start(mdns, &browse->query, &name, MDNS_PTR, browse_answer, browse);
    return WEIR_OK;
}

void mdns_browse_stop(struct mdns_browse *browse) { mdns_query_stop(&browse->query); }

// --- addresses -------------------------------------------------------------------------------------------------------

static void lookup_answer(struct mdns_query *query, const struct mdns_answer *answer, bool added)
{
    struct mdns_lookup *lookup = query->context;
    const uint8_t *data = answer->data;
    struct weir_addr addr = weir_addr_any();
    uint8_t at = 0;
    if (answer->data_length == 4)
        addr = weir_ip4(data[0], data[1], data[2], data[3]);
    else if (answer->data_length == 16)
        addr = mdns_addr6(data, query->mdns->netif->index);
    if (weir_addr_is_any(addr))
        return;
    while (at < lookup->count && !weir_addr_equal(lookup->addresses[at], addr))
        at++;
    if (added && at == lookup->count && at < MDNS_LOOKUP_ADDRESSES)
        lookup->addresses[lookup->count++] = addr;
    else if (!added && at < lookup->count)
        lookup->addresses[at] = lookup->addresses[--lookup->count];
    else
        return;
    lookup->changed(lookup, lookup->context);
}

void mdns_lookup_start(struct mdns *mdns, struct mdns_lookup *lookup, const struct mdns_name *host,
                       void (*changed)(struct mdns_lookup *, void *), void *context)
{
    memset(lookup, 0, sizeof *lookup);
    lookup->changed = changed;
    lookup->context = context;
    mdns_query_start(mdns, &lookup->a, host, MDNS_A, lookup_answer, lookup);
    if (!weir_addr_is_any(mdns_group6()))
        mdns_query_start(mdns, &lookup->aaaa, host, MDNS_AAAA, lookup_answer, lookup);
}

void mdns_lookup_stop(struct mdns_lookup *lookup)
{
    mdns_query_stop(&lookup->a);
    mdns_query_stop(&lookup->aaaa);
}

// --- an instance -----------------------------------------------------------------------------------------------------

static void resolve_addresses(struct mdns_lookup *lookup, void *context)
{
    struct mdns_resolve *resolve = context;
    (void)lookup;
    resolve->changed(resolve, resolve->context);
}

static void resolve_srv(struct mdns_query *query, const struct mdns_answer *answer, bool added)
{
    struct mdns_resolve *resolve = query->context;
    struct mdns_name host;
    if (answer->data_length < 7 || !name_of(&host, answer->data + 6, answer->data_length - 6))
        return;
    const uint16_t port = get16(answer->data + 4);
    if (!added) {
        if (port != resolve->port || !mdns_name_equal(&host, &resolve->host))
            return;  // another one has taken its place
        resolve->port = 0;
    } else {
        if (resolve->port == 0 || !mdns_name_equal(&host, &resolve->host)) {
            mdns_lookup_stop(&resolve->lookup);
            mdns_lookup_start(query->mdns, &resolve->lookup, &host, resolve_addresses, resolve);
        }
        resolve->host = host;
        resolve->port = port;
    }
    resolve->changed(resolve, resolve->context);
}

static void resolve_txt(struct mdns_query *query, const struct mdns_answer *answer, bool added)
{
    struct mdns_resolve *resolve = query->context;
    uint32_t length = 0;
    if (!added)
        return;  // what follows it replaces it
    while (length < answer->data_length && length + 1 + answer->data[length] <= MDNS_TXT_KEPT &&
           length + 1 + answer->data[length] <= answer->data_length)
        length += 1u + answer->data[length];
    memcpy(resolve->text, answer->data, length);
    resolve->text_length = (uint16_t)length;
    resolve->changed(resolve, resolve->context);
}

void mdns_resolve_start(struct mdns *mdns, struct mdns_resolve *resolve, const struct mdns_name *instance,
                        void (*changed)(struct mdns_resolve *, void *), void *context)
{
    memset(resolve, 0, sizeof *resolve);
    resolve->changed = changed;
    resolve->context = context;
    mdns_query_start(mdns, &resolve->srv, instance, MDNS_SRV, resolve_srv, resolve);
    mdns_query_start(mdns, &resolve->txt, instance, MDNS_TXT, resolve_txt, resolve);
}

void mdns_resolve_stop(struct mdns_resolve *resolve)
{
    mdns_query_stop(&resolve->srv);
    mdns_query_stop(&resolve->txt);
    mdns_lookup_stop(&resolve->lookup);
}

const uint8_t *mdns_txt_value(const uint8_t *text, uint32_t text_length, const char *key, uint32_t *length)
{
    for (uint32_t at = 0; at < text_length && at + 1 + text[at] <= text_length; at += 1u + text[at]) {
        const char *string = (const char *)text + at + 1;
        uint32_t end = 0;
        while (end < text[at] && string[end] != '=')
            end++;
        if (end == 0 || !text_equal_nocase(string, end, key))
            continue;
        const uint32_t value = end < text[at] ? end + 1 : end;
        *length = text[at] - value;
        return text + at + 1 + value;
    }
    return NULL;
}
