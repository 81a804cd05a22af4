// SPDX-License-Identifier: BSD-2-Clause
#include "dhcp/client.h"

#include <string.h>

#include "dhcp/socket.h"
#include "service.h"

#define SECOND_US 1000000u
#define RECEIVE_MAX 8u  // datagrams judged in one event; the rest wait for the next poll

static struct weir *weir_of(const struct dhcp *dhcp) { return dhcp->loop->weir; }

static uint32_t random_u32(struct dhcp *dhcp)
{
    uint32_t value;
    weir_random_bytes(weir_of(dhcp), &value, sizeof value);
    return value;
}

const char *dhcp_state_name(enum dhcp_state state)
{
    static const char *const names[] = {"STOPPED", "INIT",     "SELECTING", "REQUESTING", "PROBING",
                                        "BOUND",   "RENEWING", "REBINDING", "REBOOTING",  "IP6_ONLY"};
    return names[state];
}

// --- what is sent ----------------------------------------------------------------------------------------------------

// RFC 2131 table 5 says which fields go into which message; `to` any: broadcast.
static void dhcp_send(struct dhcp *dhcp, struct dhcp_message *message, struct weir_addr to)
{
    uint8_t bytes[DHCP_MESSAGE_MAX];
    uint64_t secs = (weir_now_us(weir_of(dhcp)) - dhcp->began_us) / SECOND_US;
    message->op = 1;
    message->xid = dhcp->xid;
    message->secs = secs > UINT16_MAX ? UINT16_MAX : (uint16_t)secs;
    message->flags = weir_addr_is_any(message->ciaddr) ? DHCP_BROADCAST : 0;
    message->id_length = dhcp_id_of_mac(dhcp->netif->mac, message->id);
    message->ip6_only = dhcp->prefers_ip6;
    memcpy(message->mac, dhcp->netif->mac, 6);
    if (dhcp->host != NULL && strlen(dhcp->host) < DHCP_NAME_MAX && message->type != DHCP_DECLINE &&
        message->type != DHCP_RELEASE)
        memcpy(message->host, dhcp->host, strlen(dhcp->host) + 1);
    const struct weir_slice slice = {bytes, dhcp_emit(message, bytes, sizeof bytes)};
    const struct weir_message datagram = {
        .peer = {weir_addr_is_any(to) ? weir_addr_v4(0xffffffffu) : to, DHCP_SERVER_PORT},
        .netif_index = dhcp->netif->index,
    };
    // A message that cannot be sent now is one that was lost: the timer sends it again.
    (void)weir_socket_send_message(weir_of(dhcp), dhcp->socket, &datagram, &slice, 1);
}

static void send_discover(struct dhcp *dhcp)
{
    struct dhcp_message message = {.type = DHCP_DISCOVER, .parameters = true};
    dhcp_send(dhcp, &message, weir_addr_any());
}

static void send_request(struct dhcp *dhcp)
{
    struct dhcp_message message = {.type = DHCP_REQUEST, .parameters = true};
    if (dhcp->state == DHCP_REQUESTING || dhcp->state == DHCP_REBOOTING) {
        message.requested = dhcp->offer.address;
        message.server_id = dhcp->state == DHCP_REQUESTING ? dhcp->offer.server : weir_addr_any();
    } else {
        message.ciaddr = dhcp->lease.address;
    }
    dhcp_send(dhcp, &message, dhcp->state == DHCP_RENEWING ? dhcp->lease.server : weir_addr_any());
}

// DECLINE by broadcast, for we have no address; RELEASE to the server, from the address.
static void send_goodbye(struct dhcp *dhcp, uint8_t type, const struct dhcp_lease *lease)
{
    struct dhcp_message message = {.type = type, .server_id = lease->server};
    if (type == DHCP_RELEASE)
        message.ciaddr = lease->address;
    else
        message.requested = lease->address;
    dhcp_send(dhcp, &message, type == DHCP_RELEASE ? lease->server : weir_addr_any());
}

// --- states ----------------------------------------------------------------------------------------------------------

// The n-th wait for an answer: 4, 8, 16 … 64 s ± 1 s (RFC 2131 §4.1).
static uint64_t wait_us(struct dhcp *dhcp, uint32_t tries)
{
    uint32_t seconds = tries < 5 ? DHCP_TIMEOUT_MIN_S << tries : DHCP_TIMEOUT_MAX_S;
    seconds = seconds < DHCP_TIMEOUT_MAX_S ? seconds : DHCP_TIMEOUT_MAX_S;
    return (uint64_t)seconds * SECOND_US - SECOND_US + random_u32(dhcp) % (2 * SECOND_US);
}

static void address_clear(struct dhcp *dhcp)
{
    bool had = !weir_addr_is_any(dhcp->lease.address);
    if (dhcp->routed)
        (void)weir_route_remove(weir_of(dhcp), weir_addr_any(), 0, dhcp->lease.router, dhcp->netif);
    dhcp->routed = false;
    (void)weir_netif_set_address(dhcp->netif, weir_addr_any(), 0, WEIR_ADDRESS_AT_ONCE);
    memset(&dhcp->lease, 0, sizeof dhcp->lease);
    if (had && dhcp->changed != NULL)
        dhcp->changed(dhcp, false, dhcp->context);
}

static void enter_init(struct dhcp *dhcp, uint64_t delay_us)
{
    address_clear(dhcp);
    dhcp->state = DHCP_INIT;
    dhcp->due_us = weir_now_us(weir_of(dhcp)) + delay_us;
}

// RFC 8925 §3.2: whether the message says that IPv4 is not needed, which we asked. Then it rests.
static bool ip6_only(struct dhcp *dhcp, const struct dhcp_message *message)
{
    if (!dhcp->prefers_ip6 || !message->ip6_only)
        return false;
    const uint32_t wait_s = message->ip6_only_s < DHCP_IP6_ONLY_LEAST_S ? DHCP_IP6_ONLY_LEAST_S : message->ip6_only_s;
    enter_init(dhcp, (uint64_t)wait_s * SECOND_US);
    dhcp->state = DHCP_IP6_ONLY;
    return true;
}

// Another host has the address: the server is told, and left alone for a while.
static void decline(struct dhcp *dhcp, const struct dhcp_lease *lease)
{
    const uint64_t now_us = weir_now_us(weir_of(dhcp));
    if (now_us - dhcp->declined_us >= (uint64_t)DHCP_DECLINES_FORGOTTEN_S * SECOND_US)
        dhcp->declines = 0;
    dhcp->declined_us = now_us;
    const uint32_t doublings = dhcp->declines < DHCP_DECLINE_DOUBLINGS ? dhcp->declines : DHCP_DECLINE_DOUBLINGS;
    dhcp->count.declined++;
    dhcp->declines++;
    send_goodbye(dhcp, DHCP_DECLINE, lease);
    enter_init(dhcp, (uint64_t)(DHCP_DECLINE_WAIT_S << doublings) * SECOND_US);
}

static void enter_asking(struct dhcp *dhcp, enum dhcp_state state)
{
    uint64_t now_us = weir_now_us(weir_of(dhcp));
    if (state != DHCP_REQUESTING) {  // a request for an offer keeps the offer's xid and its start
        dhcp->xid = random_u32(dhcp);
        dhcp->began_us = now_us;
    }
    dhcp->state = state;
    dhcp->tries = 0;
    dhcp->due_us = now_us;
}

static uint64_t after_s(uint64_t from_us, uint32_t seconds)
{
    return seconds == DHCP_FOREVER ? WEIR_NEVER : from_us + (uint64_t)seconds * SECOND_US;
}

static uint64_t earlier(uint64_t a, uint64_t b) { return a < b ? a : b; }

static void enter_bound(struct dhcp *dhcp)
{
    struct weir *weir = weir_of(dhcp);
    if (dhcp->routed && !weir_addr_equal(dhcp->lease.router, dhcp->offer.router)) {
        (void)weir_route_remove(weir, weir_addr_any(), 0, dhcp->lease.router, dhcp->netif);
        dhcp->routed = false;
    }
    dhcp->lease = dhcp->offer;
    if (!dhcp->routed && !weir_addr_is_any(dhcp->lease.router))
        dhcp->routed = weir_route_add(weir, weir_addr_any(), 0, dhcp->lease.router, dhcp->netif, 0) == WEIR_OK;
    dhcp->state = DHCP_BOUND;
    dhcp->due_us = after_s(dhcp->asked_us, dhcp->lease.renew_s);
    if (dhcp->changed != NULL)
        dhcp->changed(dhcp, true, dhcp->context);
}

// The ACK's address becomes the interface's, if nobody on the link has it.
static void enter_probing(struct dhcp *dhcp)
{
    address_clear(dhcp);
    dhcp->state = DHCP_PROBING;
    dhcp->due_us = weir_now_us(weir_of(dhcp));
    if (weir_netif_set_address(dhcp->netif, dhcp->offer.address, (uint8_t)dhcp_mask_bits(dhcp->offer.mask),
                               WEIR_ADDRESS_PROBE) != WEIR_OK)
        enter_init(dhcp, (uint64_t)DHCP_DECLINE_WAIT_S * SECOND_US);
}

// --- what comes in ---------------------------------------------------------------------------------------------------

// A mask for an address that came without one: its old class's.
static struct weir_addr class_mask(struct weir_addr address)
{
    uint32_t first = weir_addr_to_v4(address) >> 24;
    return weir_addr_v4(first < 128 ? 0xff000000u : first < 192 ? 0xffff0000u : 0xffffff00u);
}

// Takes a lease out of an OFFER or ACK. Refuses what no host may use: whoever answers first must not be able to give us
// a multicast address, a mask with holes or a lease of a second.
static bool lease_take(const struct dhcp_message *message, struct dhcp_lease *lease)
{
    *lease = (struct dhcp_lease){.address = message->yiaddr,
                                 .mask = message->mask,
                                 .server = message->server_id,
                                 .dns = message->dns,
                                 .ntp = message->ntp,
                                 .lease_s = message->lease_s,
                                 .renew_s = message->renew_s,
                                 .rebind_s = message->rebind_s,
                                 .mtu = message->mtu};
    memcpy(lease->domain, message->domain, sizeof lease->domain);
    if (weir_addr_is_any(lease->mask))
        lease->mask = class_mask(lease->address);
    if (dhcp_mask_bits(lease->mask) < 1 || !dhcp_address_usable(lease->address, lease->mask))
        return false;
    if (lease->lease_s < DHCP_LEASE_MIN_S || !dhcp_address_usable(lease->server, weir_addr_v4(0xffffffffu)))
        return false;
    // §4.4.5: T1 < T2 < lease, by default a half and seven eighths.
    if (lease->renew_s == 0 || lease->renew_s >= lease->lease_s)
        lease->renew_s = lease->lease_s == DHCP_FOREVER ? DHCP_FOREVER : lease->lease_s / 2;
    if (lease->rebind_s <= lease->renew_s || lease->rebind_s >= lease->lease_s)
        lease->rebind_s = lease->lease_s == DHCP_FOREVER ? DHCP_FOREVER : lease->lease_s - lease->lease_s / 8;
    if (lease->rebind_s <= lease->renew_s && lease->lease_s != DHCP_FOREVER)
        lease->renew_s = lease->lease_s / 2;
    // The first router that is on the link: another could not be reached.
    for (uint32_t i = 0; i < message->routers.count; i++) {
        struct weir_addr router = message->routers.addresses[i];
        bool near = weir_addr_in_prefix(router, lease->address, (uint8_t)dhcp_mask_bits(lease->mask)) &&
                    !weir_addr_equal(router, lease->address);
        if (near && dhcp_address_usable(router, lease->mask)) {
            lease->router = router;
            break;
        }
    }
    return true;
}

static void take_offer(struct dhcp *dhcp, const struct dhcp_message *message)
{
    if (dhcp->state != DHCP_SELECTING) {
        dhcp->count.ignored++;
        return;
    }
    if (ip6_only(dhcp, message))
        return;
    if (!lease_take(message, &dhcp->offer)) {
        dhcp->count.refused++;
        return;
    }
    enter_asking(dhcp, DHCP_REQUESTING);
}

// Whether the ACK or NAK comes from the server that was asked.
static bool from_asked(const struct dhcp *dhcp, const struct dhcp_message *message)
{
    switch (dhcp->state) {
    case DHCP_REQUESTING: return weir_addr_equal(message->server_id, dhcp->offer.server);
    case DHCP_RENEWING: return weir_addr_equal(message->server_id, dhcp->lease.server);
    case DHCP_REBINDING:
    case DHCP_REBOOTING: return true;
    default: return false;
    }
}

static void take_ack(struct dhcp *dhcp, const struct dhcp_message *message)
{
    struct dhcp_lease lease;
    struct weir_addr expected = dhcp->state == DHCP_REQUESTING ? dhcp->offer.address : dhcp->lease.address;
    // Another address than the one asked for is no answer to our question; the timer begins again in time.
    if (!from_asked(dhcp, message) || !weir_addr_equal(message->yiaddr, expected)) {
        dhcp->count.ignored++;
        return;
    }
    if (ip6_only(dhcp, message))
        return;
    if (!lease_take(message, &lease)) {
        dhcp->count.refused++;
        return;
    }
    bool known = dhcp->state != DHCP_REQUESTING && weir_addr_equal(lease.mask, dhcp->lease.mask);
    dhcp->offer = lease;
    if (dhcp->state != DHCP_REQUESTING)
        dhcp->asked_us = dhcp->began_us;  // the first request of this exchange: never later than the server counts from
    if (known)
        enter_bound(dhcp);
    else
        enter_probing(dhcp);
}

static void take_message(struct dhcp *dhcp, const struct dhcp_message *message)
{
    bool ours = message->op == 2 && message->xid == dhcp->xid && memcmp(message->mac, dhcp->netif->mac, 6) == 0;
    if (!ours || dhcp->state == DHCP_STOPPED) {
        dhcp->count.ignored++;
    } else if (message->type == DHCP_OFFER) {
        take_offer(dhcp, message);
    } else if (message->type == DHCP_ACK) {
        take_ack(dhcp, message);
    } else if (message->type == DHCP_NAK && from_asked(dhcp, message)) {
        dhcp->count.nak++;
        enter_init(dhcp, SECOND_US);  // a server that always refuses is not asked more than once a second
    } else {
        dhcp->count.ignored++;
    }
}

static void dhcp_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct dhcp *dhcp = (struct dhcp *)(void *)((char *)watch - offsetof(struct dhcp, watch));
    struct weir_message datagram;
    struct weir_slice slice;
    struct dhcp_message message;
    (void)events;
    for (uint32_t i = 0; service_peek(dhcp->loop, socket, &datagram, &slice, NULL); i++) {
        if (i >= RECEIVE_MAX || datagram.peer.port != DHCP_SERVER_PORT)
            dhcp->count.ignored++;
        else if (!dhcp_parse(slice.data, slice.length, &message))
            dhcp->count.malformed++;
        else
            take_message(dhcp, &message);
        if (dhcp->socket != socket || weir_socket_discard(weir_of(dhcp), socket) < 0)
            return;
    }
}

// --- time ------------------------------------------------------------------------------------------------------------

static void poll_probing(struct dhcp *dhcp, uint64_t now_us)
{
    uint8_t state = dhcp->netif->address.state;
    dhcp->due_us = now_us + 50000;  // the probe's end is seen within 50 ms
    if (state == WEIR_ADDRESS_CONFLICT) {
        decline(dhcp, &dhcp->offer);
    } else if (state == WEIR_ADDRESS_READY || state == WEIR_ADDRESS_ANNOUNCING) {
        enter_bound(dhcp);
    }
}

// RENEWING and REBINDING: again after half of what remains, at least a minute apart (§4.4.5).
static void poll_extending(struct dhcp *dhcp, uint64_t now_us)
{
    uint64_t rebind_us = after_s(dhcp->asked_us, dhcp->lease.rebind_s),
             end_us = after_s(dhcp->asked_us, dhcp->lease.lease_s);
    if (now_us >= end_us) {
        enter_init(dhcp, 0);
        return;
    }
    if (dhcp->state == DHCP_RENEWING && now_us >= rebind_us)
        enter_asking(dhcp, DHCP_REBINDING);
    uint64_t next_us = dhcp->state == DHCP_RENEWING ? rebind_us : end_us;
    uint64_t half_us = (next_us - now_us) / 2;
    send_request(dhcp);
    dhcp->due_us = earlier(next_us, now_us + (half_us < 60ull * SECOND_US ? 60ull * SECOND_US : half_us));
}

static void poll_asking(struct dhcp *dhcp, uint64_t now_us)
{
    if (dhcp->state == DHCP_REQUESTING && dhcp->tries == DHCP_REQUESTS) {
        enter_asking(dhcp, DHCP_SELECTING);
    } else if (dhcp->state == DHCP_REBOOTING && dhcp->tries == 2) {
        // §3.2: nobody answers, the lease has not ended: go on with it.
        dhcp->state = DHCP_BOUND;
        dhcp->due_us = after_s(dhcp->asked_us, dhcp->lease.renew_s);
        return;
    }
    if (dhcp->state == DHCP_SELECTING)
        send_discover(dhcp);
    else
        send_request(dhcp);
    if (dhcp->state == DHCP_REQUESTING && dhcp->tries == 0)
        dhcp->asked_us = now_us;
    dhcp->due_us = now_us + wait_us(dhcp, dhcp->tries++);
}

// The carrier came back: another network may be behind it.
static void watch_link(struct dhcp *dhcp)
{
    bool link = (dhcp->netif->flags & WEIR_NETIF_LINK) != 0;
    if (link && !dhcp->link) {
        if (dhcp->state == DHCP_BOUND || dhcp->state == DHCP_RENEWING || dhcp->state == DHCP_REBINDING) {
            dhcp->offer = dhcp->lease;
            enter_asking(dhcp, DHCP_REBOOTING);
        } else if (dhcp->state != DHCP_REBOOTING) {
            enter_init(dhcp, 0);
        }
    }
    dhcp->link = link;
}

static uint64_t dhcp_poll(struct app *app, uint64_t now_us)
{
    struct dhcp *dhcp = (struct dhcp *)app;
    if (dhcp->state == DHCP_STOPPED)
        return WEIR_NEVER;
    watch_link(dhcp);
    // An address that lost its defence is given back (RFC 5227 §2.4, RFC 2131 §4.4.1).
    if (dhcp->netif->address.state == WEIR_ADDRESS_CONFLICT && dhcp->state >= DHCP_BOUND)
        decline(dhcp, &dhcp->lease);
    // Each step sets due_us to later than now, or enters a state whose first step is due: at most three in a row.
    for (int step = 0; step < 4 && now_us >= dhcp->due_us; step++) {
        switch (dhcp->state) {
        case DHCP_STOPPED: return WEIR_NEVER;
        case DHCP_IP6_ONLY:
        case DHCP_INIT: enter_asking(dhcp, DHCP_SELECTING); break;
        case DHCP_SELECTING:
        case DHCP_REQUESTING:
        case DHCP_REBOOTING: poll_asking(dhcp, now_us); break;
        case DHCP_PROBING: poll_probing(dhcp, now_us); break;
        case DHCP_BOUND: enter_asking(dhcp, DHCP_RENEWING); break;
        case DHCP_RENEWING:
        case DHCP_REBINDING: poll_extending(dhcp, now_us); break;
        }
    }
    return dhcp->due_us;
}

int dhcp_start(struct dhcp *dhcp, struct loop *loop, struct weir_netif *netif, const char *host,
               void (*changed)(struct dhcp *, bool bound, void *), void *context)
{
    *dhcp = (struct dhcp){.app = {.poll = dhcp_poll},
                          .watch = {dhcp_event},
                          .loop = loop,
                          .netif = netif,
                          .host = host,
                          .changed = changed,
                          .context = context};
    dhcp->link = (netif->flags & WEIR_NETIF_LINK) != 0;
    const int error = dhcp_socket(loop, netif, DHCP_CLIENT_PORT, &dhcp->watch, &dhcp->socket);
    if (error != WEIR_OK)
        return error;
    enter_init(dhcp, 0);
    loop_add(loop, &dhcp->app);
    return WEIR_OK;
}

void dhcp_release(struct dhcp *dhcp)
{
    if (dhcp->state != DHCP_BOUND && dhcp->state != DHCP_RENEWING && dhcp->state != DHCP_REBINDING)
        return;
    dhcp->xid = random_u32(dhcp);
    send_goodbye(dhcp, DHCP_RELEASE, &dhcp->lease);
    dhcp->state = DHCP_STOPPED;
    dhcp->due_us = WEIR_NEVER;
}

void dhcp_stop(struct dhcp *dhcp)
{
    if (dhcp->socket <= 0)
        return;
    dhcp->state = DHCP_STOPPED;
    loop_remove(dhcp->loop, &dhcp->app);
    (void)weir_socket_close(weir_of(dhcp), dhcp->socket);
    dhcp->socket = 0;
    address_clear(dhcp);
}
