// SPDX-License-Identifier: BSD-2-Clause
#include "mdns/mdns.h"

#include <string.h>

#include "mdns/internal.h"
#include "mdns/query.h"
#include "service.h"

#define HOPS 255u

uint64_t mdns_random_us(struct mdns *mdns, uint64_t from_us, uint64_t to_us)
{
    uint32_t bits;
    weir_random_bytes(mdns->loop->weir, &bits, sizeof bits);
    return from_us + bits % (to_us - from_us + 1);
}

// --- out -------------------------------------------------------------------------------------------------------------

void mdns_begin(struct mdns *mdns, struct mdns_writer *writer, uint16_t flags)
{
    mdns_write_begin(writer, mdns->out, sizeof mdns->out, 0, flags);
}

static bool send_to(struct mdns *mdns, uint32_t length, struct weir_addr addr, uint16_t port)
{
    const struct weir_message message = {.peer = {addr, port}, .netif_index = mdns->netif->index, .ttl = HOPS};
    const struct weir_slice slice = {mdns->out, length};
    const bool left = weir_socket_send_message(mdns->loop->weir, mdns->socket, &message, &slice, 1) >= 0;
    mdns->count.send_failed += !left;
    return left;
}

bool mdns_send(struct mdns *mdns, struct mdns_writer *writer, const struct weir_message *to)
{
    const uint32_t length = mdns_write_end(writer);
    bool v4 = false, v6 = false;
    if (length == 0)
        return false;
    if (to != NULL)
        return send_to(mdns, length, to->peer.addr, to->peer.port);
    for (uint32_t i = 0; i < mdns->address_count; i++) {
        v4 = v4 || weir_addr_is_v4(mdns->addresses[i]);
        v6 = v6 || !weir_addr_is_v4(mdns->addresses[i]);
    }
    v4 = v4 && send_to(mdns, length, MDNS_GROUP4, MDNS_PORT);
    v6 = v6 && send_to(mdns, length, mdns_group6(), MDNS_PORT);
    return v4 || v6;
}

// --- in --------------------------------------------------------------------------------------------------------------

// Whether the sender is on this link: an address of one of the interface's subnets (RFC 6762 §11).
static bool near(const struct mdns *mdns, struct weir_addr addr)
{
    const struct weir_netif_address *at = NULL;
    if (mdns_link_local(addr))
        return true;
    while ((at = weir_netif_address_next(mdns->netif, at)) != NULL) {
        if (weir_addr_is_v4(at->addr) == weir_addr_is_v4(addr) &&
            weir_addr_in_prefix(addr, at->addr, at->prefix_length))
            return true;
    }
    return false;
}

static bool is_ours(const struct mdns *mdns, struct weir_addr addr)
{
    const struct weir_netif_address *at = NULL;
    while ((at = weir_netif_address_next(mdns->netif, at)) != NULL) {
        if (weir_addr_equal(at->addr, addr))
            return true;
    }
    return weir_addr_is_loopback(addr);
}

static void take_response(struct mdns *mdns, const struct mdns_packet *packet)
{
    struct mdns_reader reader;
    struct mdns_record record;
    const uint16_t number = mdns->host.number;
    (void)mdns_read_begin(&reader, packet->bytes, packet->length);
    while (mdns_read_record(&reader, &record)) {
        if (record.section == 2)
            continue;
        mdns_probe_conflict(mdns, packet, &record);
        mdns_respond_heard(mdns, packet, &record);
    }
    if (mdns->host.number != number)
        mdns_probe_services(mdns, packet->now_us);
    mdns_cache_take(mdns, packet);
}

static void take(struct mdns *mdns, const struct weir_message *from, const struct weir_slice *slice)
{
    struct mdns_packet packet = {.bytes = slice->data,
                                 .length = slice->length,
                                 .now_us = weir_now_us(mdns->loop->weir),
                                 .from = *from,
                                 .ours = is_ours(mdns, from->peer.addr),
                                 .legacy = from->peer.port != MDNS_PORT};
    mdns->count.received++;
    if (!mdns_valid(packet.bytes, packet.length)) {
        mdns->count.malformed++;
        return;
    }
    const uint16_t flags = mdns_flags(packet.bytes);
    const bool response = (flags & 0x8000u) != 0;
    const bool direct = packet.legacy || !weir_addr_is_multicast(from->local);
    // Other operations and errors are nobody's (§18.3, §18.11); what did not come to the group must be from this link,
    // and an answer must have been asked for.
    if ((flags & 0x780fu) != 0 || (from->netif_index != mdns->netif->index && !packet.ours) ||
        (response && (packet.legacy || (direct && packet.now_us >= mdns->direct_us))) ||
        (direct && !packet.ours && !near(mdns, from->peer.addr))) {
        mdns->count.ignored++;
        return;
    }
    if (response) {
        take_response(mdns, &packet);
        return;
    }
    if (!packet.ours) {
        mdns_probe_compare(mdns, &packet);
        mdns_query_heard(mdns, &packet);
    }
    mdns_respond_query(mdns, &packet);
}

static void mdns_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct mdns *mdns = (struct mdns *)(void *)((char *)watch - offsetof(struct mdns, watch));
    struct weir_message message;
    struct weir_slice slice;
    (void)events;
    while (mdns->socket == socket && service_peek(mdns->loop, socket, &message, &slice, NULL)) {
        if (message.length > 0)
            take(mdns, &message, &slice);
        if (mdns->socket != socket)
            break;  // stopped by a callback
        (void)weir_socket_discard(mdns->loop->weir, socket);
    }
}

// --- the interface ---------------------------------------------------------------------------------------------------

static uint8_t addresses_of(const struct weir_netif *netif, struct weir_addr out[MDNS_ADDRESSES])
{
    const struct weir_netif_address *at = NULL;
    uint8_t count = 0;
    while ((at = weir_netif_address_next(netif, at)) != NULL && count < MDNS_ADDRESSES) {
        if (mdns_tellable(at))
            out[count++] = at->addr;
    }
    return count;
}

// Whether the interface, which had addresses, has one of them still: then it is on the same link.
static bool stayed(const struct mdns *mdns, const struct weir_addr *now, uint8_t count)
{
    for (uint32_t i = 0; i < count; i++) {
        for (uint32_t j = 0; j < mdns->address_count; j++) {
            if (weir_addr_equal(now[i], mdns->addresses[j]))
                return true;
        }
    }
    return false;
}

// Link and addresses as they are now. On another link, or for one that is not ours yet, a name is probed for (§8); a
// name that is ours is not given up while an address is added to it or taken from it, which is announced (§8.4).
// Without an address nothing is said.
static void interface_look(struct mdns *mdns, uint64_t now_us)
{
    struct weir_addr now[MDNS_ADDRESSES];
    const bool link = (mdns->netif->flags & (WEIR_NETIF_UP | WEIR_NETIF_LINK)) == (WEIR_NETIF_UP | WEIR_NETIF_LINK);
    const uint8_t count = link ? addresses_of(mdns->netif, now) : 0;
    bool same = count == mdns->address_count && link == mdns->link;
    for (uint32_t i = 0; same && i < count; i++)
        same = weir_addr_equal(now[i], mdns->addresses[i]);
    if (same)
        return;
    const bool began = mdns->address_count == 0, stays = stayed(mdns, now, count);
    mdns->link = link;
    mdns->address_count = count;
    for (uint32_t i = 0; i < count; i++)
        mdns->addresses[i] = now[i];
    for (struct mdns_owner *owner = mdns->owners; owner != NULL; owner = owner->next) {
        if (stays && owner->service == NULL && mdns_owner_live(owner))
            mdns_owner_announce(mdns, owner, now_us);
        else if (count == 0 || began || owner->service == NULL)
            mdns_owner_probe(mdns, owner, now_us);
    }
    mdns->due_us = 0;
    if (began && count > 0)
        mdns_query_again(mdns, now_us);
}

static uint64_t mdns_poll(struct app *app, uint64_t now_us)
{
    struct mdns *mdns = (struct mdns *)app;
    interface_look(mdns, now_us);
    if (now_us < mdns->due_us)
        return mdns->due_us;
    mdns->due_us = WEIR_NEVER;
    const uint64_t due_us[3] = {mdns_probe_poll(mdns, now_us), mdns_respond_poll(mdns, now_us),
                                mdns_query_poll(mdns, now_us)};
    for (uint32_t i = 0; i < 3; i++)
        mdns->due_us = due_us[i] < mdns->due_us ? due_us[i] : mdns->due_us;
    return mdns->due_us;
}

static int socket_open(struct mdns *mdns)
{
    struct weir *weir = mdns->loop->weir;
    const struct weir_endpoint local = {weir_addr_any(), MDNS_PORT};
    weir_socket socket = weir_socket_open(weir, WEIR_DATAGRAM, 0);
    if (socket < 0)
        return socket;
    int error = weir_socket_set(weir, socket, WEIR_OPTION_REUSE_ADDRESS, 1);
    if (error == WEIR_OK)
        error = weir_socket_bind(weir, socket, &local);
    if (error == WEIR_OK)
        error = weir_socket_membership(weir, socket, MDNS_GROUP4, mdns->netif->index, 1);
    if (error == WEIR_OK)
        error = loop_watch(mdns->loop, socket, &mdns->watch);
    if (error != WEIR_OK) {
        (void)weir_socket_close(weir, socket);
        return error;
    }
    if (!weir_addr_is_any(mdns_group6()))
        (void)weir_socket_membership(weir, socket, mdns_group6(), mdns->netif->index, 1);
    mdns->socket = socket;
    return WEIR_OK;
}

int mdns_start(struct mdns *mdns, struct loop *loop, struct weir_netif *netif, const struct mdns_config *config)
{
    memset(mdns, 0, sizeof *mdns);
    mdns->app.poll = mdns_poll;
    mdns->watch.event = mdns_event;
    mdns->loop = loop;
    mdns->netif = netif;
    mdns->config = *config;
    mdns->host.number = 1;
    if (config->host != NULL && !mdns_owner_label(&mdns->host, config->host))
        return WEIR_INVALID;
    const int error = socket_open(mdns);
    if (error != WEIR_OK)
        return error;
    if (config->host != NULL)
        mdns->owners = &mdns->host;
    mdns_owner_rest(&mdns->host);
    loop_add(loop, &mdns->app);
    return WEIR_OK;
}

void mdns_stop(struct mdns *mdns)
{
    if (mdns->socket == 0)
        return;
    mdns_goodbye(mdns, NULL);
    service_close(mdns->loop, &mdns->socket);
    loop_remove(mdns->loop, &mdns->app);
    mdns->queries = mdns->cursor = NULL;
    mdns->cache_used = 0;
}

// --- services --------------------------------------------------------------------------------------------------------

static bool txt_valid(const uint8_t *txt, uint32_t length)
{
    uint32_t at = 0;
    while (at < length)
        at += 1u + txt[at];
    return at == length && length <= MDNS_TXT_MAX;
}

// "_" and a service's name (RFC 6335 §5.1), "._tcp" or "._udp" (RFC 6763 §7).
static bool type_valid(const char *type)
{
    bool letter = false;
    uint32_t at = 1;
    for (; type[0] == '_' && at <= 16 && type[at] != '.' && type[at] != '\0'; at++) {
        const bool alphabetic = (type[at] | 0x20) >= 'a' && (type[at] | 0x20) <= 'z';
        const bool inner_hyphen = type[at] == '-' && at > 1 && type[at - 1] != '-' && type[at + 1] != '.';
        if (!alphabetic && !inner_hyphen && (type[at] < '0' || type[at] > '9'))
            return false;
        letter = letter || alphabetic;
    }
    return letter && at <= 16 && (strcmp(type + at, "._tcp") == 0 || strcmp(type + at, "._udp") == 0);
}

int mdns_publish(struct mdns *mdns, struct mdns_service *service)
{
    struct mdns_owner *const owner = &service->owner;
    struct mdns_owner **end = &mdns->owners;
    struct mdns_name name;
    if (service->port == 0 || mdns->owners == NULL || !type_valid(service->type) ||
        !txt_valid(service->txt, service->txt_length))
        return WEIR_INVALID;
    memset(owner, 0, sizeof *owner);
    owner->service = service;
    owner->number = 1;
    if (!mdns_owner_label(owner, service->name) || !mdns_owner_name(owner, &name))
        return WEIR_INVALID;
    for (uint32_t i = 0; service->subtypes != NULL && service->subtypes[i] != NULL; i++) {
        if (i == MDNS_SUBTYPES || !mdns_slot_name(mdns, owner, MDNS_SERVICE_SUB + i, &name))
            return WEIR_INVALID;
    }
    while (*end != NULL)
        end = &(*end)->next;
    *end = owner;
    mdns_owner_probe(mdns, owner, weir_now_us(mdns->loop->weir));
    return WEIR_OK;
}

void mdns_withdraw(struct mdns *mdns, struct mdns_service *service)
{
    for (struct mdns_owner **at = &mdns->owners; *at != NULL; at = &(*at)->next) {
        if (*at != &service->owner)
            continue;
        if (mdns->socket > 0)
            mdns_goodbye(mdns, &service->owner);
        *at = service->owner.next;
        return;
    }
}

void mdns_update(struct mdns *mdns, struct mdns_service *service)
{
    struct mdns_owner *const owner = &service->owner;
    if (!mdns_owner_live(owner))
        return;
    owner->state = MDNS_ANNOUNCING;
    owner->sent = 0;
    owner->due_us = weir_now_us(mdns->loop->weir);
    mdns->due_us = 0;
}
