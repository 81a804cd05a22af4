// SPDX-License-Identifier: BSD-2-Clause
#include "dhcp/server.h"

#include <string.h>

#include "dhcp/socket.h"
#include "service.h"

#define SECOND_US 1000000u
#define ECHO_BYTES 8u
#define ECHO_REQUEST 8u

static uint64_t now(const struct dhcp_server *server) { return weir_now_us(server->loop->weir); }

// --- bindings --------------------------------------------------------------------------------------------------------

// Who the client is (§4.2): the identifier that it gave, or else its MAC address.
static uint32_t identify(const struct dhcp_message *message, uint8_t id[DHCP_ID_MAX])
{
    if (message->id_length > 0) {
        memcpy(id, message->id, message->id_length);
        return message->id_length;
    }
    return dhcp_id_of_mac(message->mac, id);
}

static bool is_of(const struct dhcp_binding *binding, const struct dhcp_message *message)
{
    uint8_t id[DHCP_ID_MAX];
    const uint32_t length = identify(message, id);
    return binding->id_length == length && memcmp(binding->id, id, length) == 0;
}

static bool is_free(const struct dhcp_server *server, const struct dhcp_binding *binding)
{
    return binding->state == DHCP_FREE || now(server) >= binding->until_us;
}

static struct weir_addr address_of(const struct dhcp_server *server, const struct dhcp_binding *binding)
{
    return weir_addr_v4(weir_addr_to_v4(server->config.first) + (uint32_t)(binding - server->config.bindings));
}

// NULL: not in the pool.
static struct dhcp_binding *binding_at(struct dhcp_server *server, struct weir_addr address)
{
    const uint32_t place = weir_addr_to_v4(address) - weir_addr_to_v4(server->config.first);
    return place < server->config.count ? &server->config.bindings[place] : NULL;
}

// The client's, also when its time is over. NULL: it has none.
static struct dhcp_binding *binding_of(struct dhcp_server *server, const struct dhcp_message *message)
{
    for (uint32_t i = 0; i < server->config.count; i++) {
        struct dhcp_binding *const binding = &server->config.bindings[i];
        if (binding->state != DHCP_DECLINED && is_of(binding, message))
            return binding;
    }
    return NULL;
}

// When the answer to its ping is no longer waited for.
static uint64_t probed_us(const struct dhcp_binding *binding)
{
    return binding->until_us - (uint64_t)DHCP_OFFER_S * SECOND_US + DHCP_PING_US;
}

// What the client had; what it asks for, if that is free; else what was never given, or is free for the longest time.
static struct dhcp_binding *binding_choose(struct dhcp_server *server, const struct dhcp_message *message)
{
    struct dhcp_binding *best = binding_of(server, message);
    if (best != NULL)
        return best;
    best = binding_at(server, message->requested);
    if (best != NULL && is_free(server, best))
        return best;
    best = NULL;
    for (uint32_t i = 0; i < server->config.count; i++) {
        struct dhcp_binding *const binding = &server->config.bindings[i];
        if (is_free(server, binding) && (best == NULL || binding->until_us < best->until_us))
            best = binding;
    }
    return best;
}

static void bind_to(struct dhcp_server *server, struct dhcp_binding *binding, const struct dhcp_message *message,
                    enum dhcp_binding_state state, uint32_t seconds)
{
    // An offer takes nothing from who has it leased, itself.
    const bool leased = state == DHCP_OFFERED && binding->state == DHCP_LEASED && !is_free(server, binding);
    binding->id_length = (uint8_t)identify(message, binding->id);
    memcpy(binding->mac, message->mac, 6);
    binding->named = message->id_length > 0;
    binding->flags = message->flags;
    binding->xid = message->xid;
    if (leased)
        return;
    binding->state = (uint8_t)state;
    binding->until_us = now(server) + (uint64_t)seconds * SECOND_US;
}

static void tell(struct dhcp_server *server, const struct dhcp_binding *binding)
{
    if (server->config.changed != NULL)
        server->config.changed(server, address_of(server, binding), binding, server->config.context);
}

// --- what is sent ----------------------------------------------------------------------------------------------------

// Whether the address is of the interface's subnet; what is no address is not.
static bool of_subnet(const struct dhcp_server_config *config, struct weir_addr address)
{
    const struct weir_netif_address *const own = &config->netif->address;
    return weir_addr_in_prefix(address, own->addr, own->prefix_length);
}

static struct weir_addr mask_of(const struct dhcp_server_config *config)
{
    return weir_addr_prefix(weir_addr_v4(0xffffffffu), config->netif->address.prefix_length);
}

static void list_of(struct dhcp_list *list, struct weir_addr address)
{
    if (!weir_addr_is_any(address))
        list->addresses[list->count++] = address;
}

static void send_reply(struct dhcp_server *server, const struct dhcp_message *question, struct dhcp_message *reply)
{
    uint8_t bytes[DHCP_MESSAGE_MAX];
    reply->op = 2;
    reply->xid = question->xid;
    reply->flags = question->flags;
    reply->server_id = server->config.netif->address.addr;
    memcpy(reply->mac, question->mac, 6);
    reply->id_length = question->id_length;  // RFC 6842
    memcpy(reply->id, question->id, sizeof reply->id);
    const struct weir_slice slice = {bytes, dhcp_emit(reply, bytes, sizeof bytes)};
    const bool known = reply->type != DHCP_NAK && of_subnet(&server->config, question->ciaddr);
    const struct weir_message datagram = {
        .peer = {known ? question->ciaddr : weir_addr_v4(0xffffffffu), DHCP_CLIENT_PORT},
        .netif_index = server->config.netif->index};
    // What cannot be sent now is lost: the client asks again.
    (void)weir_socket_send_message(server->loop->weir, server->socket, &datagram, &slice, 1);
}

// An OFFER or ACK: the binding's address for its time, or (NULL) only what the network is like.
static void send_lease(struct dhcp_server *server, const struct dhcp_message *question, uint8_t type,
                       const struct dhcp_binding *binding)
{
    const struct dhcp_server_config *const config = &server->config;
    struct dhcp_message reply = {.type = type, .ciaddr = question->ciaddr, .mask = mask_of(config)};
    if (binding != NULL) {
        reply.yiaddr = address_of(server, binding);
        reply.lease_s = config->lease_s;
        reply.renew_s = config->lease_s / 2;
        reply.rebind_s = config->lease_s - config->lease_s / 8;
    }
    list_of(&reply.routers, config->router);
    list_of(&reply.dns, config->dns);
    if (config->domain != NULL)
        memcpy(reply.domain, config->domain, strlen(config->domain) + 1);
    reply.portal = config->portal;
    send_reply(server, question, &reply);
}

static void refuse(struct dhcp_server *server, const struct dhcp_message *question)
{
    struct dhcp_message reply = {.type = DHCP_NAK};
    server->count.refused++;
    send_reply(server, question, &reply);
}

static void acknowledge(struct dhcp_server *server, const struct dhcp_message *question, struct dhcp_binding *binding)
{
    server->count.acknowledged++;
    bind_to(server, binding, question, DHCP_LEASED, server->config.lease_s);
    send_lease(server, question, DHCP_ACK, binding);
    tell(server, binding);
}

// --- what comes in ---------------------------------------------------------------------------------------------------

static void offer(struct dhcp_server *server, struct dhcp_binding *binding, const struct dhcp_message *message)
{
    server->count.offered++;
    bind_to(server, binding, message, DHCP_OFFERED, DHCP_OFFER_S);
    send_lease(server, message, DHCP_OFFER, binding);
}

// Pings the binding's address. false: that cannot be done.
static bool probe_send(struct dhcp_server *server, const struct dhcp_binding *binding)
{
    static const uint8_t request[ECHO_BYTES] = {ECHO_REQUEST};  // the stack fills in the rest
    const struct weir_slice slice = {request, sizeof request};
    const struct weir_message message = {.peer.addr = address_of(server, binding),
                                         .netif_index = server->config.netif->index};
    return server->echo > 0 &&
           weir_socket_send_message(server->loop->weir, server->echo, &message, &slice, 1) == (int)sizeof request;
}

// An address that the client has had is offered to it at once, another one when nobody answers there.
static void discover(struct dhcp_server *server, const struct dhcp_message *message)
{
    struct dhcp_binding *const binding = binding_choose(server, message);
    if (binding == NULL) {
        server->count.exhausted++;
        return;
    }
    const bool probing = binding->state == DHCP_PINGED && is_of(binding, message);
    if (probing) {  // it asks again meanwhile: its last question is answered
        binding->xid = message->xid;
        binding->flags = message->flags;
    } else if (is_of(binding, message) || !probe_send(server, binding)) {
        offer(server, binding, message);
    } else {
        bind_to(server, binding, message, DHCP_PINGED, DHCP_OFFER_S);
        server->due_us = probed_us(binding) < server->due_us ? probed_us(binding) : server->due_us;
    }
}

// --- pings -----------------------------------------------------------------------------------------------------------

// The question that the binding was chosen for.
static struct dhcp_message question_of(const struct dhcp_binding *binding)
{
    struct dhcp_message message = {.op = 1, .type = DHCP_DISCOVER, .flags = binding->flags, .xid = binding->xid};
    memcpy(message.mac, binding->mac, sizeof message.mac);
    if (binding->named) {
        message.id_length = binding->id_length;
        memcpy(message.id, binding->id, sizeof message.id);
    }
    return message;
}

// Another host has the address: the client gets the next one.
static void probe_answered(struct dhcp_server *server, struct dhcp_binding *binding)
{
    const struct dhcp_message question = question_of(binding);
    server->count.in_use++;
    binding->state = DHCP_DECLINED;
    binding->id_length = 0;
    binding->until_us = now(server) + (uint64_t)DHCP_DECLINED_S * SECOND_US;
    memset(binding->mac, 0, sizeof binding->mac);
    tell(server, binding);
    discover(server, &question);
}

static void echo_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct dhcp_server *server = (struct dhcp_server *)(void *)((char *)watch - offsetof(struct dhcp_server, echoes));
    struct weir *weir = server->loop->weir;
    struct weir_message message;
    struct weir_slice slice;
    int32_t error = 0;
    (void)events;
    while (server->echo == socket && service_peek(server->loop, socket, &message, &slice, NULL)) {
        const bool echoed = slice.length > 0 && slice.data[0] == 0 && weir_addr_is_v4(message.peer.addr);
        struct dhcp_binding *const binding = echoed ? binding_at(server, message.peer.addr) : NULL;
        if (binding != NULL && binding->state == DHCP_PINGED)
            probe_answered(server, binding);
        (void)weir_socket_discard(weir, socket);
    }
    (void)weir_socket_get(weir, socket, WEIR_OPTION_ERROR, &error);  // taken: that nobody is there is what is hoped for
}

static uint64_t server_poll(struct app *app, uint64_t now_us)
{
    struct dhcp_server *server = (struct dhcp_server *)app;
    if (now_us < server->due_us)
        return server->due_us;
    server->due_us = WEIR_NEVER;
    for (uint32_t i = 0; i < server->config.count; i++) {
        struct dhcp_binding *const binding = &server->config.bindings[i];
        if (binding->state != DHCP_PINGED)
            continue;
        const struct dhcp_message question = question_of(binding);
        if (now_us >= probed_us(binding))
            offer(server, binding, &question);
        else
            server->due_us = probed_us(binding) < server->due_us ? probed_us(binding) : server->due_us;
    }
    return server->due_us;
}

// --- requests, and what is given back --------------------------------------------------------------------------------

// The answer to an offer, of ours or of another server's.
static void request_selecting(struct dhcp_server *server, const struct dhcp_message *message)
{
    struct dhcp_binding *const binding = binding_of(server, message);
    if (!weir_addr_equal(message->server_id, server->config.netif->address.addr)) {
        if (binding != NULL && (binding->state == DHCP_OFFERED || binding->state == DHCP_PINGED)) {
            binding->state = DHCP_OFFERED;
            binding->until_us = now(server);
        }
    } else if (binding != NULL && binding->state != DHCP_PINGED && !is_free(server, binding) &&
               binding_at(server, message->requested) == binding) {
        acknowledge(server, message, binding);
    } else {
        refuse(server, message);
    }
}

// A client that goes on with the address that it says it has. Of one that begins (INIT-REBOOT) of which nothing is
// known, another server may know (§4.3.2); one that has its address in use may keep it as long as it is free.
static void request_again(struct dhcp_server *server, const struct dhcp_message *message, struct weir_addr address)
{
    const bool using = !weir_addr_is_any(message->ciaddr);
    struct dhcp_binding *const had = binding_of(server, message), *const there = binding_at(server, address);
    if (!of_subnet(&server->config, address) || (had != NULL && had != there))
        refuse(server, message);
    else if (had != NULL || (using && there != NULL && is_free(server, there)))
        acknowledge(server, message, there);
    else if (using && there != NULL)
        refuse(server, message);  // it is another's by now
    else
        server->count.ignored++;
}

static void request(struct dhcp_server *server, const struct dhcp_message *message)
{
    if (!weir_addr_is_any(message->server_id))
        request_selecting(server, message);
    else if (!weir_addr_is_any(message->ciaddr))
        request_again(server, message, message->ciaddr);
    else if (!weir_addr_is_any(message->requested))
        request_again(server, message, message->requested);
    else
        server->count.ignored++;
}

// DECLINE and RELEASE: only of what is the client's own.
static void give_back(struct dhcp_server *server, const struct dhcp_message *message, struct weir_addr address)
{
    struct dhcp_binding *const binding = binding_at(server, address);
    if (binding == NULL || binding->state == DHCP_DECLINED || !is_of(binding, message) ||
        !weir_addr_equal(message->server_id, server->config.netif->address.addr)) {
        server->count.ignored++;
        return;
    }
    const bool declined = message->type == DHCP_DECLINE;
    bind_to(server, binding, message, declined ? DHCP_DECLINED : DHCP_FREE, declined ? DHCP_DECLINED_S : 0);
    tell(server, binding);
}

static void inform(struct dhcp_server *server, const struct dhcp_message *message)
{
    if (!of_subnet(&server->config, message->ciaddr))
        server->count.ignored++;
    else
        send_lease(server, message, DHCP_ACK, NULL);
}

static void take_message(struct dhcp_server *server, const struct dhcp_message *message)
{
    if (message->op != 1 || !weir_addr_is_any(message->giaddr) ||
        weir_addr_is_any(server->config.netif->address.addr)) {
        server->count.ignored++;
        return;
    }
    switch (message->type) {
    case DHCP_DISCOVER: discover(server, message); break;
    case DHCP_REQUEST: request(server, message); break;
    case DHCP_DECLINE: give_back(server, message, message->requested); break;
    case DHCP_RELEASE: give_back(server, message, message->ciaddr); break;
    case DHCP_INFORM: inform(server, message); break;
    default: server->count.ignored++; break;
    }
}

static void server_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct dhcp_server *server = (struct dhcp_server *)(void *)((char *)watch - offsetof(struct dhcp_server, watch));
    struct weir *weir = server->loop->weir;
    struct weir_message datagram;
    struct weir_slice slice;
    struct dhcp_message message;
    (void)events;
    while (server->socket == socket && service_peek(server->loop, socket, &datagram, &slice, NULL)) {
        if (dhcp_parse(slice.data, slice.length, &message))
            take_message(server, &message);
        else
            server->count.malformed++;
        (void)weir_socket_discard(weir, socket);
    }
}

// --- the user's calls ------------------------------------------------------------------------------------------------

// An address that a client of this link could have.
static bool of_link(const struct dhcp_server_config *config, uint32_t address)
{
    return of_subnet(config, weir_addr_v4(address)) && dhcp_address_usable(weir_addr_v4(address), mask_of(config));
}

static bool config_valid(const struct dhcp_server_config *config)
{
    const struct weir_netif_address *const own = &config->netif->address;
    const uint32_t first = weir_addr_to_v4(config->first);
    return !weir_addr_is_any(own->addr) && weir_addr_is_v4(own->addr) && own->prefix_length > 0 &&
           own->prefix_length <= 30 && config->bindings != NULL && config->count > 0 &&
           config->count <= 1u << (32 - own->prefix_length) && config->lease_s >= DHCP_SERVER_LEASE_MIN_S &&
           (config->domain == NULL || strlen(config->domain) < DHCP_NAME_MAX) &&
           (config->portal == NULL || strlen(config->portal) < DHCP_PORTAL_MAX) && of_link(config, first) &&
           of_link(config, first + config->count - 1) && weir_addr_to_v4(own->addr) - first >= config->count;
}

int dhcp_server_start(struct dhcp_server *server, struct loop *loop, const struct dhcp_server_config *config)
{
    if (!config_valid(config))
        return WEIR_INVALID;
    *server = (struct dhcp_server){.app = {.poll = server_poll},
                                   .watch = {server_event},
                                   .echoes = {echo_event},
                                   .loop = loop,
                                   .config = *config,
                                   .due_us = WEIR_NEVER};
    memset(config->bindings, 0, config->count * sizeof *config->bindings);
    const int error = dhcp_socket(loop, config->netif, DHCP_SERVER_PORT, &server->watch, &server->socket);
    if (error != WEIR_OK)
        return error;
    server->echo = weir_socket_open(loop->weir, WEIR_ICMP, 0);
    if (server->echo > 0)
        (void)loop_watch(loop, server->echo, &server->echoes);
    loop_add(loop, &server->app);
    return WEIR_OK;
}

void dhcp_server_stop(struct dhcp_server *server)
{
    if (server->socket > 0)
        loop_remove(server->loop, &server->app);
    service_close(server->loop, &server->socket);
    service_close(server->loop, &server->echo);
}
