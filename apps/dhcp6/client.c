// SPDX-License-Identifier: BSD-2-Clause
#include "dhcp6/client.h"

#include <string.h>

#include "bytes.h"
#include "service.h"

#if WEIR_CFG_IP6

#define SECOND_US 1000000u
#define RECEIVE_MAX 8u             // datagrams judged in one event; the rest wait for the next
#define PROBE_LOOK_US 50000u       // the end of a probe is seen within so long
#define DECLINE_WAIT_US 10000000u  // from a conflict to the next Solicit
#define REFRESH_DEFAULT_S 86400u   // §7.6: IRT_DEFAULT
#define REFRESH_LEAST_S 600u       // §7.6: IRT_MINIMUM
#define MAX_RT_S 3600u             // §7.6: SOL_MAX_RT, INF_MAX_RT

// Retransmission (§7.6, §15), ms; 0: no limit. MRD of Renew and Rebind is the lease's.
struct repeat {
    uint8_t type;
    uint16_t delay_ms;  // before the first, at random
    uint32_t irt_ms, mrt_ms;
    uint8_t mrc;
    uint32_t mrd_ms;
};
static const struct repeat repeats[] = {
    [DHCP6_INFORMING] = {DHCP6_INFORMATION_REQUEST, 1000, 1000, 0, 0, 0},
    [DHCP6_SOLICITING] = {DHCP6_SOLICIT, 1000, 1000, 0, 0, 0},
    [DHCP6_REQUESTING] = {DHCP6_REQUEST, 0, 1000, 30000, 10, 0},
    [DHCP6_RENEWING] = {DHCP6_RENEW, 0, 10000, 600000, 0, 0},
    [DHCP6_REBINDING] = {DHCP6_REBIND, 0, 10000, 600000, 0, 0},
    [DHCP6_CONFIRMING] = {DHCP6_CONFIRM, 1000, 1000, 4000, 0, 10000},
    [DHCP6_DECLINING] = {DHCP6_DECLINE, 0, 1000, 0, 4, 0},
    [DHCP6_RELEASING] = {DHCP6_RELEASE, 0, 1000, 0, 4, 0},
};

static struct weir *weir_of(const struct dhcp6 *dhcp6) { return dhcp6->loop->weir; }
static uint64_t now_of(const struct dhcp6 *dhcp6) { return weir_now_us(weir_of(dhcp6)); }

static uint32_t random_below(struct dhcp6 *dhcp6, uint32_t limit)
{
    uint32_t value;
    weir_random_bytes(weir_of(dhcp6), &value, sizeof value);
    return limit > 0 ? value % limit : 0;
}

const char *dhcp6_state_name(enum dhcp6_state state)
{
    static const char *const names[] = {"STOPPED",    "WAITING",   "INFORMING", "INFORMED", "SOLICITING",
                                        "REQUESTING", "PROBING",   "BOUND",     "RENEWING", "REBINDING",
                                        "CONFIRMING", "DECLINING", "RELEASING"};
    return names[state];
}

// --- what is sent ----------------------------------------------------------------------------------------------------

static const struct weir_netif_address *own_address(const struct dhcp6 *dhcp6, struct weir_addr addr)
{
    const struct weir_netif_address *a = NULL;
    while ((a = weir_netif_address_next(dhcp6->netif, a)) != NULL)
        if (weir_addr_equal(a->addr, addr))
            return a;
    return NULL;
}

static bool in_conflict(const struct dhcp6 *dhcp6, struct weir_addr addr)
{
    const struct weir_netif_address *const a = own_address(dhcp6, addr);
    return a != NULL && a->state == WEIR_ADDRESS_CONFLICT;
}

static bool in_use(const struct weir_netif_address *a)
{
    return a->state == WEIR_ADDRESS_ANNOUNCING || a->state == WEIR_ADDRESS_READY;
}

static bool has_link_local(const struct dhcp6 *dhcp6)
{
    const struct weir_netif_address *a = NULL;
    while ((a = weir_netif_address_next(dhcp6->netif, a)) != NULL)
        if (weir_addr_is_link_local6(a->addr) && in_use(a))
            return true;
    return false;
}

// The lease that the exchange is about: the offered one while it is requested; in a Decline what is left of the own.
static const struct dhcp6_lease *lease_asked(const struct dhcp6 *dhcp6)
{
    return dhcp6->state == DHCP6_REQUESTING ? &dhcp6->offer : &dhcp6->lease;
}

// The addresses that a message is about (§18.2).
static void addresses_put(const struct dhcp6 *dhcp6, struct dhcp6_message *message)
{
    const struct dhcp6_lease *const lease = lease_asked(dhcp6);
    message->ia = dhcp6->state != DHCP6_INFORMING;
    for (uint32_t i = 0; i < lease->address_count && dhcp6->state != DHCP6_SOLICITING; i++)
        message->addresses[message->address_count++] = (struct dhcp6_address){.addr = lease->addresses[i].addr};
}

// §16: to whom a message says which server it is for.
static bool for_one_server(enum dhcp6_state state)
{
    return state == DHCP6_REQUESTING || state == DHCP6_RENEWING || state == DHCP6_DECLINING || state == DHCP6_RELEASING;
}

static void dhcp6_send(struct dhcp6 *dhcp6)
{
    static const uint8_t agents[16] = {0xff, 2, [13] = 1, [15] = 2};  // ff02::1:2
    uint8_t bytes[DHCP6_MESSAGE_MAX];
    const uint64_t elapsed = (now_of(dhcp6) - dhcp6->began_us) / 10000;
    struct dhcp6_message message = {.type = repeats[dhcp6->state].type,
                                    .xid = dhcp6->xid,
                                    .client = dhcp6->duid,
                                    .elapsed = elapsed > UINT16_MAX ? UINT16_MAX : (uint16_t)elapsed,
                                    .rapid_commit = dhcp6->state == DHCP6_SOLICITING,
                                    .iaid = dhcp6->iaid};
    if (dhcp6->tries == 0)
        message.elapsed = 0;
    if (for_one_server(dhcp6->state))
        message.server = lease_asked(dhcp6)->server;
    addresses_put(dhcp6, &message);
    const struct weir_slice slice = {bytes, dhcp6_emit(&message, bytes, sizeof bytes)};
    const struct weir_message datagram = {.peer = {weir_addr_v6(agents), DHCP6_SERVER_PORT},
                                          .netif_index = dhcp6->netif->index};
    // A message that cannot be sent now is one that was lost: the timer sends it again.
    (void)weir_socket_send_message(weir_of(dhcp6), dhcp6->socket, &datagram, &slice, 1);
}

// --- states ----------------------------------------------------------------------------------------------------------

// A new exchange, whose first message is due after the delay that §18.2 gives it.
static void enter_exchange(struct dhcp6 *dhcp6, enum dhcp6_state state, uint64_t wait_us)
{
    dhcp6->state = state;
    dhcp6->xid = random_below(dhcp6, 1u << 24);
    dhcp6->tries = 0;
    dhcp6->offered = false;
    dhcp6->began_us = now_of(dhcp6) + wait_us + (uint64_t)random_below(dhcp6, repeats[state].delay_ms + 1u) * 1000u;
    dhcp6->due_us = dhcp6->began_us;
}

// §15: RT ± 10 %, doubled each time; the first of a Solicit is no shorter than IRT (§18.2.1).
static uint32_t next_rt(struct dhcp6 *dhcp6)
{
    const struct repeat *const repeat = &repeats[dhcp6->state];
    const uint32_t most_ms = dhcp6->state == DHCP6_SOLICITING  ? dhcp6->sol_max_rt_s * 1000u
                             : dhcp6->state == DHCP6_INFORMING ? dhcp6->inf_max_rt_s * 1000u
                                                               : repeat->mrt_ms;
    uint32_t base_ms = dhcp6->tries == 0 ? repeat->irt_ms : 2 * dhcp6->rt_ms;
    if (most_ms > 0 && base_ms > most_ms)
        base_ms = most_ms;
    const uint32_t tenth_ms = base_ms / 10;
    if (dhcp6->tries == 0 && dhcp6->state == DHCP6_SOLICITING)
        return base_ms + 1 + random_below(dhcp6, tenth_ms);
    return base_ms - tenth_ms + random_below(dhcp6, 2 * tenth_ms + 1);
}

static void tell(struct dhcp6 *dhcp6)
{
    if (dhcp6->changed != NULL)
        dhcp6->changed(dhcp6, dhcp6->context);
}

static void addresses_remove(struct dhcp6 *dhcp6)
{
    for (uint32_t i = 0; i < dhcp6->lease.address_count; i++) {
        const struct weir_netif_address *const a = own_address(dhcp6, dhcp6->lease.addresses[i].addr);
        if (a != NULL && a->origin == WEIR_ADDRESS_LEASED)
            (void)weir_netif_address_remove(dhcp6->netif, dhcp6->lease.addresses[i].addr);
    }
}

static void lease_forget(struct dhcp6 *dhcp6)
{
    const bool had = dhcp6->lease.address_count > 0;
    addresses_remove(dhcp6);
    memset(&dhcp6->lease, 0, sizeof dhcp6->lease);
    if (had)
        tell(dhcp6);
}

static void enter_soliciting(struct dhcp6 *dhcp6, uint64_t wait_us)
{
    lease_forget(dhcp6);
    enter_exchange(dhcp6, DHCP6_SOLICITING, wait_us);
}

static void enter_bound(struct dhcp6 *dhcp6)
{
    dhcp6->state = DHCP6_BOUND;
    dhcp6->due_us = dhcp6_after_s(dhcp6->lease.taken_us, dhcp6->lease.t1_s);
}

// The lease is released.
static void enter_stopped(struct dhcp6 *dhcp6)
{
    lease_forget(dhcp6);
    dhcp6->state = DHCP6_STOPPED;
    dhcp6->due_us = WEIR_NEVER;
}

static bool wants_addresses(const struct dhcp6 *dhcp6)
{
    return dhcp6->mode == DHCP6_ADDRESSES_TOO || (dhcp6->mode == DHCP6_BY_ROUTERS && dhcp6->netif->ip6.managed);
}

static bool wants_information(const struct dhcp6 *dhcp6)
{
    return dhcp6->mode == DHCP6_INFORMATION || (dhcp6->mode == DHCP6_BY_ROUTERS && dhcp6->netif->ip6.other);
}

// --- what comes in ---------------------------------------------------------------------------------------------------

static void settings_take(struct dhcp6 *dhcp6, const struct dhcp6_message *message)
{
    memcpy(dhcp6->dns, message->dns, sizeof dhcp6->dns);
    dhcp6->dns_count = message->dns_count;
    memcpy(dhcp6->domain, message->domain, sizeof dhcp6->domain);
}

// §18.2.9: also a message that is of no use otherwise says these.
static void limits_take(struct dhcp6 *dhcp6, const struct dhcp6_message *message)
{
    if (message->sol_max_rt_s > 0)
        dhcp6->sol_max_rt_s = message->sol_max_rt_s;
    if (message->inf_max_rt_s > 0)
        dhcp6->inf_max_rt_s = message->inf_max_rt_s;
}

// The new lease's addresses go into the interface's list, those that are no longer leased out of it.
static void lease_install(struct dhcp6 *dhcp6, const struct dhcp6_lease *lease)
{
    struct dhcp6_lease old = dhcp6->lease;
    for (uint32_t i = 0; i < old.address_count; i++)
        if (!dhcp6_lease_has(lease, old.addresses[i].addr))
            (void)weir_netif_address_remove(dhcp6->netif, old.addresses[i].addr);
    dhcp6->lease = *lease;
    for (uint32_t i = 0; i < lease->address_count; i++)
        (void)weir_netif_address_lease(dhcp6->netif, lease->addresses[i].addr,
                                       dhcp6_after_s(lease->taken_us, lease->addresses[i].preferred_s),
                                       dhcp6_after_s(lease->taken_us, lease->addresses[i].valid_s));
    dhcp6->state = DHCP6_PROBING;
    dhcp6->due_us = now_of(dhcp6);
}

static void take_advertise(struct dhcp6 *dhcp6, const struct dhcp6_message *message)
{
    struct dhcp6_lease lease;
    if (!dhcp6_lease_take(&lease, message, now_of(dhcp6))) {
        dhcp6->count.refused++;
        return;
    }
    if (!dhcp6->offered || lease.preference > dhcp6->offer.preference)
        dhcp6->offer = lease;
    dhcp6->offered = true;
    // §18.2.1: the first RT is for comparing; then, or with the highest preference, there is nothing to wait for.
    if (lease.preference == 255 || dhcp6->tries > 1)
        enter_exchange(dhcp6, DHCP6_REQUESTING, 0);
}

// §18.2.10.1: what a Reply to Request, Renew or Rebind, or with rapid commit to Solicit, says.
static void take_lease(struct dhcp6 *dhcp6, const struct dhcp6_message *message)
{
    struct dhcp6_lease lease;
    const bool renews = dhcp6->state == DHCP6_RENEWING || dhcp6->state == DHCP6_REBINDING;
    const uint16_t status = message->status != DHCP6_SUCCESS ? message->status : message->ia_status;
    if (dhcp6_lease_take(&lease, message, now_of(dhcp6))) {
        settings_take(dhcp6, message);
        dhcp6_lease_keep(&lease, &dhcp6->lease, message);
        lease_install(dhcp6, &lease);
        return;
    }
    dhcp6->count.refused++;
    if (status == DHCP6_UNSPEC_FAIL || status == DHCP6_USE_MULTICAST)
        return;  // the timer asks again
    if (renews && status == DHCP6_NO_BINDING) {
        dhcp6->offer = dhcp6->lease;
        dhcp6->offer.server = message->server;
        enter_exchange(dhcp6, DHCP6_REQUESTING, 0);
    } else if (!renews || status == DHCP6_NOT_ON_LINK || message->address_count > 0) {
        enter_soliciting(dhcp6, SECOND_US);  // a server that always refuses is not asked more than once a second
    }
}

static void take_information(struct dhcp6 *dhcp6, const struct dhcp6_message *message)
{
    const uint32_t refresh_s = message->refresh_s == 0                ? REFRESH_DEFAULT_S
                               : message->refresh_s < REFRESH_LEAST_S ? REFRESH_LEAST_S
                                                                      : message->refresh_s;
    settings_take(dhcp6, message);
    dhcp6->state = DHCP6_INFORMED;
    dhcp6->due_us = dhcp6_after_s(now_of(dhcp6), refresh_s);
    tell(dhcp6);
}

static void take_reply(struct dhcp6 *dhcp6, const struct dhcp6_message *message)
{
    switch (dhcp6->state) {
    case DHCP6_INFORMING: take_information(dhcp6, message); break;
    case DHCP6_SOLICITING:
        if (message->rapid_commit)
            take_lease(dhcp6, message);
        break;
    case DHCP6_REQUESTING:
    case DHCP6_RENEWING:
    case DHCP6_REBINDING: take_lease(dhcp6, message); break;
    case DHCP6_CONFIRMING:
        if (message->status == DHCP6_NOT_ON_LINK)
            enter_soliciting(dhcp6, 0);
        else if (message->status == DHCP6_SUCCESS)
            enter_bound(dhcp6);
        break;
    case DHCP6_DECLINING: enter_soliciting(dhcp6, DECLINE_WAIT_US); break;
    case DHCP6_RELEASING: enter_stopped(dhcp6); break;
    default: dhcp6->count.ignored++; break;
    }
}

static bool duid_equal(const struct dhcp6_duid *a, const struct dhcp6_duid *b)
{
    return a->length == b->length && memcmp(a->bytes, b->bytes, a->length) == 0;
}

// §16.3, §16.10: the transaction, both ids, and the server that was asked, where it was one.
static bool is_ours(const struct dhcp6 *dhcp6, const struct dhcp6_message *message)
{
    if (message->xid != dhcp6->xid || dhcp6->tries == 0 || message->server.length == 0 ||
        !duid_equal(&message->client, &dhcp6->duid))
        return false;
    return !for_one_server(dhcp6->state) || duid_equal(&message->server, &lease_asked(dhcp6)->server);
}

static void take_message(struct dhcp6 *dhcp6, const struct dhcp6_message *message)
{
    if (!is_ours(dhcp6, message)) {
        dhcp6->count.ignored++;
        return;
    }
    limits_take(dhcp6, message);
    if (message->type == DHCP6_ADVERTISE && dhcp6->state == DHCP6_SOLICITING)
        take_advertise(dhcp6, message);
    else if (message->type == DHCP6_REPLY)
        take_reply(dhcp6, message);
    else
        dhcp6->count.ignored++;  // a Reconfigure, which we never accept, and what clients send
}

static void dhcp6_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct dhcp6 *const dhcp6 = (struct dhcp6 *)(void *)((char *)watch - offsetof(struct dhcp6, watch));
    struct weir_message datagram;
    struct weir_slice slice;
    struct dhcp6_message message;
    (void)events;
    for (uint32_t i = 0; service_peek(dhcp6->loop, socket, &datagram, &slice, NULL); i++) {
        if (i >= RECEIVE_MAX || weir_addr_is_multicast(datagram.local))
            dhcp6->count.ignored++;
        else if (!dhcp6_parse(slice.data, slice.length, dhcp6->iaid, &message))
            dhcp6->count.malformed++;
        else
            take_message(dhcp6, &message);
        if (dhcp6->socket != socket || weir_socket_discard(weir_of(dhcp6), socket) < 0)
            return;
    }
}

// --- time ------------------------------------------------------------------------------------------------------------

// Addresses that are another's are declined, all of them in one message, and removed (§18.2.8).
static bool decline(struct dhcp6 *dhcp6)
{
    struct dhcp6_lease *const lease = &dhcp6->lease;
    uint8_t kept = 0;
    for (uint32_t i = 0; i < lease->address_count; i++)
        kept += !in_conflict(dhcp6, lease->addresses[i].addr);
    if (kept == lease->address_count)
        return false;
    dhcp6->count.declined++;
    struct dhcp6_lease declined = *lease;
    declined.address_count = 0;
    for (uint32_t i = 0; i < lease->address_count; i++)
        if (in_conflict(dhcp6, lease->addresses[i].addr))
            declined.addresses[declined.address_count++] = lease->addresses[i];
    addresses_remove(dhcp6);
    *lease = declined;
    enter_exchange(dhcp6, DHCP6_DECLINING, 0);
    tell(dhcp6);
    return true;
}

static void poll_probing(struct dhcp6 *dhcp6, uint64_t now_us)
{
    if (decline(dhcp6))
        return;
    for (uint32_t i = 0; i < dhcp6->lease.address_count; i++) {
        const struct weir_netif_address *const a = own_address(dhcp6, dhcp6->lease.addresses[i].addr);
        if (a != NULL && !in_use(a)) {
            dhcp6->due_us = now_us + PROBE_LOOK_US;
            return;
        }
    }
    enter_bound(dhcp6);
    tell(dhcp6);
}

// When a Renew or Rebind is to be given up, however often it was sent: MRD is the lease's.
static uint64_t lease_limit(const struct dhcp6 *dhcp6)
{
    return dhcp6->state == DHCP6_RENEWING    ? dhcp6_after_s(dhcp6->lease.taken_us, dhcp6->lease.t2_s)
           : dhcp6->state == DHCP6_REBINDING ? dhcp6_lease_end(&dhcp6->lease)
                                             : WEIR_NEVER;
}

// The exchange has gone on long enough without an answer, or a Solicit has its offer. True: it is another state's turn.
static bool exchange_over(struct dhcp6 *dhcp6, uint64_t now_us)
{
    const struct repeat *const repeat = &repeats[dhcp6->state];
    const bool chosen = dhcp6->state == DHCP6_SOLICITING && dhcp6->offered && dhcp6->tries > 0;
    const bool tired = (repeat->mrc > 0 && dhcp6->tries >= repeat->mrc) ||
                       (repeat->mrd_ms > 0 && now_us >= dhcp6->began_us + (uint64_t)repeat->mrd_ms * 1000u) ||
                       now_us >= lease_limit(dhcp6);
    if (!chosen && !tired)
        return false;
    switch (dhcp6->state) {
    case DHCP6_SOLICITING: enter_exchange(dhcp6, DHCP6_REQUESTING, 0); break;
    case DHCP6_REQUESTING:
    case DHCP6_REBINDING: enter_soliciting(dhcp6, 0); break;
    case DHCP6_RENEWING: enter_exchange(dhcp6, DHCP6_REBINDING, 0); break;
    case DHCP6_CONFIRMING: enter_bound(dhcp6); break;  // §18.2.3: nobody answers: it goes on with what it has
    case DHCP6_DECLINING: enter_soliciting(dhcp6, DECLINE_WAIT_US); break;
    case DHCP6_RELEASING: enter_stopped(dhcp6); break;
    default: return false;  // an Information-request goes on
    }
    return true;
}

static void poll_exchange(struct dhcp6 *dhcp6, uint64_t now_us)
{
    if (exchange_over(dhcp6, now_us))
        return;
    if (!has_link_local(dhcp6)) {  // it is probed anew: nothing else is to be spoken from (§14.1)
        dhcp6->due_us = now_us + PROBE_LOOK_US;
        return;
    }
    dhcp6_send(dhcp6);
    dhcp6->rt_ms = next_rt(dhcp6);
    dhcp6->tries++;
    const uint64_t due_us = now_us + (uint64_t)dhcp6->rt_ms * 1000u, limit_us = lease_limit(dhcp6);
    dhcp6->due_us = due_us < limit_us ? due_us : limit_us;
}

// What the routers' flags, or the mode, ask for, as soon as something can be sent.
static void poll_waiting(struct dhcp6 *dhcp6)
{
    dhcp6->due_us = WEIR_NEVER;  // news come with frames, or with the probe's end: the loop asks after both
    if (!dhcp6->link || !has_link_local(dhcp6))
        return;
    if (wants_addresses(dhcp6))
        enter_soliciting(dhcp6, 0);
    else if (wants_information(dhcp6))
        enter_exchange(dhcp6, DHCP6_INFORMING, 0);
}

// The carrier came back: another network may be behind it (§18.2.12).
static void watch_link(struct dhcp6 *dhcp6)
{
    const bool link = (dhcp6->netif->flags & WEIR_NETIF_LINK) != 0;
    if (link && !dhcp6->link && dhcp6->state != DHCP6_RELEASING && dhcp6->state != DHCP6_DECLINING) {
        if (dhcp6_bound(dhcp6))
            enter_exchange(dhcp6, DHCP6_CONFIRMING, 0);
        else if (dhcp6->state != DHCP6_WAITING && dhcp6->lease.address_count == 0)
            dhcp6->state = DHCP6_WAITING;
    }
    dhcp6->link = link;
}

static uint64_t dhcp6_poll(struct app *app, uint64_t now_us)
{
    struct dhcp6 *const dhcp6 = (struct dhcp6 *)app;
    if (dhcp6->state == DHCP6_STOPPED)
        return WEIR_NEVER;
    watch_link(dhcp6);
    if (dhcp6->state == DHCP6_INFORMED && wants_addresses(dhcp6))  // M came after O
        enter_soliciting(dhcp6, 0);
    if (dhcp6_bound(dhcp6))
        (void)decline(dhcp6);  // an address that lost its defence
    if (dhcp6->state == DHCP6_WAITING)
        poll_waiting(dhcp6);
    // Each step sets due_us to later than now, or enters an exchange whose first step is due: at most three in a row.
    for (int step = 0; step < 4 && now_us >= dhcp6->due_us; step++) {
        switch (dhcp6->state) {
        case DHCP6_STOPPED:
        case DHCP6_WAITING: return WEIR_NEVER;
        case DHCP6_PROBING: poll_probing(dhcp6, now_us); break;
        case DHCP6_BOUND: enter_exchange(dhcp6, DHCP6_RENEWING, 0); break;
        case DHCP6_INFORMED: enter_exchange(dhcp6, DHCP6_INFORMING, 0); break;
        default: poll_exchange(dhcp6, now_us); break;
        }
    }
    return dhcp6->due_us;
}

// --- the interface ---------------------------------------------------------------------------------------------------

// DUID-LL (§11.4), hardware type Ethernet.
static void duid_make(const struct weir_netif *netif, struct dhcp6_duid *duid)
{
    *duid = (struct dhcp6_duid){.bytes = {0, 3, 0, 1}, .length = 10};
    memcpy(duid->bytes + 4, netif->mac, 6);
}

static int socket_open(struct dhcp6 *dhcp6)
{
    struct weir *const weir = weir_of(dhcp6);
    const struct weir_endpoint local = {weir_addr_any(), DHCP6_CLIENT_PORT};
    dhcp6->socket = weir_socket_open(weir, WEIR_DATAGRAM, 0);
    if (dhcp6->socket < 0)
        return dhcp6->socket;
    int error = weir_socket_set(weir, dhcp6->socket, WEIR_OPTION_FAMILY, 6);
    if (error == WEIR_OK)
        error = weir_socket_set(weir, dhcp6->socket, WEIR_OPTION_BIND_NETIF, dhcp6->netif->index);
    if (error == WEIR_OK)
        error = weir_socket_bind(weir, dhcp6->socket, &local);
    if (error == WEIR_OK)
        error = loop_watch(dhcp6->loop, dhcp6->socket, &dhcp6->watch);
    if (error != WEIR_OK) {
        (void)weir_socket_close(weir, dhcp6->socket);
        dhcp6->socket = 0;
    }
    return error;
}

int dhcp6_start(struct dhcp6 *dhcp6, struct loop *loop, struct weir_netif *netif, enum dhcp6_mode mode,
                const struct dhcp6_duid *duid, void (*changed)(struct dhcp6 *, void *), void *context)
{
    memset(dhcp6, 0, sizeof *dhcp6);
    dhcp6->app.poll = dhcp6_poll;
    dhcp6->watch.event = dhcp6_event;
    dhcp6->loop = loop;
    dhcp6->netif = netif;
    dhcp6->mode = mode;
    dhcp6->changed = changed;
    dhcp6->context = context;
    dhcp6->state = DHCP6_WAITING;
    dhcp6->due_us = WEIR_NEVER;
    dhcp6->sol_max_rt_s = dhcp6->inf_max_rt_s = MAX_RT_S;
    dhcp6->link = (netif->flags & WEIR_NETIF_LINK) != 0;
    dhcp6->iaid = get32(netif->mac + 2);  // §12: the same after each start
    if (duid != NULL)
        dhcp6->duid = *duid;
    else
        duid_make(netif, &dhcp6->duid);
    const int error = socket_open(dhcp6);
    if (error == WEIR_OK)
        loop_add(loop, &dhcp6->app);
    return error;
}

void dhcp6_release(struct dhcp6 *dhcp6)
{
    if (dhcp6->lease.address_count == 0 || dhcp6->state == DHCP6_STOPPED || dhcp6->state == DHCP6_DECLINING)
        return;
    addresses_remove(dhcp6);  // §18.2.7: not used from here on
    enter_exchange(dhcp6, DHCP6_RELEASING, 0);
}

void dhcp6_stop(struct dhcp6 *dhcp6)
{
    if (dhcp6->socket <= 0)
        return;
    dhcp6->state = DHCP6_STOPPED;
    dhcp6->changed = NULL;
    loop_remove(dhcp6->loop, &dhcp6->app);
    (void)weir_socket_close(weir_of(dhcp6), dhcp6->socket);
    dhcp6->socket = 0;
    lease_forget(dhcp6);
}

#endif
