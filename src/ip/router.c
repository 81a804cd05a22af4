// SPDX-License-Identifier: BSD-2-Clause
// Routers of the link (RFC 4861 §6.3, RFC 4191): asking for them, and what their advertisements make of the routing
// table, the interface and its addresses. What a stranger may say is bounded: routes by ROUTES_ADVERTISED_MAX,
// addresses by slaac.c, options by the message.
#include "ip/router.h"

#include "ip/multihome.h"
#include "ip/names.h"
#include "ip/slaac.h"
#include "ip/temporary.h"
#include "link/nd.h"
#include "link/neighbour.h"

#define ANSWER_MS 1000u             // a router takes half of it at the most (RFC 4861 §6.2.6)
#define SOLICIT_FIRST_MS 4000u      // RFC 7559: IRT
#define SOLICIT_MOST_MS 3600000u    // RFC 7559: MRT
#define REACHABLE_MS 30000u         // RFC 4861 §10
#define REACHABLE_MOST_MS 3600000u  // RFC 4861 §6.2.1
#define RETRANSMIT_MS 1000u
#define RETRANSMIT_LEAST_MS 100u   // less would be a flood at a router's word
#define RETRANSMIT_MOST_MS 10000u  // more would keep an address from use, and a neighbour unknown, at a router's word
#define HOP_LIMIT_LEAST 32u        // a lower one is no router's mistake we follow (CVE-2015-2922)
#define METRIC_MEDIUM 128u         // of RFC 4191's preferences; what is configured is better by default
#define METRIC_STEP 64u
#define OPTIONS_MAX 32u  // looked at in one advertisement

// --- asking ----------------------------------------------------------------------------------------------------------

static void solicit_in(struct weir *weir, struct weir_netif *netif, uint32_t wait_ms)
{
    netif->ip6.soliciting = true;
    netif->ip6.solicit_due_ms = weir->now_ms + wait_ms;
    slow_due(weir, weir->now_us + (uint64_t)wait_ms * 1000);
}

// Whether what a router says now may answer the interface's last solicitation.
static bool answers(const struct weir *weir, const struct weir_netif_ip6 *ip6)
{
    return ip6->soliciting && ip6->solicits &&
           weir->now_ms - (ip6->solicit_due_ms - ip6->solicit_interval_ms) < ANSWER_MS;
}

// RFC 4861 §6.3.7: from the link-local address, with the link address; from :: without.
static void solicit(struct weir *weir, struct weir_netif *netif)
{
    const struct ip_out ip = {.source = icmp6_link_source(netif),
                              .destination = ip6_all_routers(),
                              .protocol = IP6_ICMP,
                              .ttl = ICMP6_HOP_LIMIT_ON_LINK};
    uint8_t message[ND_RS_BYTES_MAX];
    const uint32_t length = nd_rs_emit(message, weir_addr_is_any(ip.source) ? NULL : netif->mac);
    icmp6_link_send(weir, netif, &ip, message, length);
}

// RFC 7559: the interval doubles, ± 10 %, and there is no end.
static void solicit_due(struct weir *weir, struct weir_netif *netif)
{
    struct weir_netif_ip6 *const ip6 = &netif->ip6;
    const uint32_t base_ms = ip6->solicits ? 2 * ip6->solicit_interval_ms : SOLICIT_FIRST_MS;
    const uint32_t bounded_ms = min_u32(base_ms, SOLICIT_MOST_MS), tenth_ms = bounded_ms / 10;
    solicit(weir, netif);
    ip6->solicits += ip6->solicits < UINT8_MAX;
    ip6->solicit_interval_ms = bounded_ms - tenth_ms + random_below(&weir->random, 2 * tenth_ms);
    solicit_in(weir, netif, ip6->solicit_interval_ms);
}

static bool expired(const struct weir *weir, const struct route *route, const void *context)
{
    return (void)context, route->advertised && route->until_us <= weir->now_us;
}

static uint64_t solicit_poll(struct weir *weir, struct weir_netif *netif, uint64_t now_us)
{
    if (!netif->ip6.soliciting || !netif_open(netif))
        return WEIR_NEVER;
    if (seq_le(netif->ip6.solicit_due_ms, weir->now_ms))
        solicit_due(weir, netif);
    return now_us + ip_wait_us(weir, netif->ip6.solicit_due_ms);
}

// Work: the interfaces, and the routing table.
uint64_t router_poll(struct weir *weir, uint64_t now_us)
{
    uint64_t due_us = WEIR_NEVER;
    route_delete_each(weir, expired, NULL);
    for (uint32_t at = 0; at < weir->ip.route_count; at++)
        if (weir->ip.routes[at].advertised && weir->ip.routes[at].until_us < due_us)
            due_us = weir->ip.routes[at].until_us;
    for (struct weir_netif *netif = weir->netifs; netif; netif = netif->next) {
        const uint64_t solicit_us = solicit_poll(weir, netif, now_us), address_us = temporary_poll(weir, netif);
        due_us = solicit_us < due_us ? solicit_us : due_us;
        due_us = address_us < due_us ? address_us : due_us;
    }
    return due_us;
}

// --- an interface ----------------------------------------------------------------------------------------------------

static bool advertised_by_netif(const struct weir *weir, const struct route *route, const void *netif)
{
    return (void)weir, route->advertised && route->netif == netif;
}

static void defaults(struct weir_netif *netif)
{
    struct weir_netif_ip6 *const ip6 = &netif->ip6;
    ip6->base_ms = REACHABLE_MS;
    ip6->reachable_ms = REACHABLE_MS / 2 + random_below(&netif->weir->random, REACHABLE_MS);
    ip6->retransmit_ms = RETRANSMIT_MS;
    ip6->hop_limit = IP_TTL_DEFAULT;
    ip6->mtu = 0;
    ip6->solicits = 0;
    ip6->router_known = false;
}

// The interface works: its link-local address is made, routers are asked for. It does not: what they said of it holds
// no longer.
void router_netif_changed(struct weir *weir, struct weir_netif *netif)
{
    const bool works = netif->flags & WEIR_NETIF_UP && netif->flags & WEIR_NETIF_LINK;
    if (!netif->ip6.reachable_ms)
        defaults(netif);
    if (!netif->ip6.how || netif->ip6.off)
        return;
    if (!works) {
        netif->ip6.soliciting = false;
        netif->ip6.solicits = 0;
        netif->ip6.router_known = false;
        temporary_link_lost(netif);
        multihome_link_lost(netif);
        route_delete_each(weir, advertised_by_netif, netif);
        names_forget(weir, netif);
        return;
    }
    if (netif->ip6.how & WEIR_IP6_AUTO && !netif->ip6.soliciting && !netif->ip6.solicits)
        solicit_in(weir, netif, nd_quiet_us(netif) / 1000u);
    slaac_link_local(netif);  // which brings us here again
}

#define NOT_BUILT \
    ((WEIR_CFG_IP6_TEMPORARY ? 0u : WEIR_IP6_TEMPORARY) | (WEIR_CFG_IP6_OPTIMISTIC ? 0u : WEIR_IP6_OPTIMISTIC))
int weir_netif_ip6(struct weir_netif *netif, unsigned how, const uint8_t secret[16])
{
    struct weir *const weir = netif->weir;
    if (!weir)
        return WEIR_INVALID;
    if ((how && netif->link != &weir_link_ethernet) || how & NOT_BUILT)
        return WEIR_NOT_SUPPORTED;
    netif->ip6.secret_given = secret != NULL;
    if (secret)
        memcpy(netif->ip6.secret, secret, sizeof netif->ip6.secret);
    else
        random_bytes(&weir->random, netif->ip6.secret, sizeof netif->ip6.secret);
    netif->ip6.how = (uint8_t)(how & WEIR_IP6_AUTO ? how | WEIR_IP6_LINK_LOCAL : how);
    netif->ip6.off = false;
    netif->ip6.soliciting = false;
    nd_quiet_begin(netif);
    defaults(netif);
    slaac_forget(netif);
    route_delete_each(weir, advertised_by_netif, netif);
    names_forget(weir, netif);
    return ip_netif_changed(weir, netif);
}

// --- advertisements --------------------------------------------------------------------------------------------------

// A way that a router advertised, with one of RFC 4191's preferences.
static void way_advertised(struct weir *weir, const struct packet *packet, const uint8_t *prefix, uint8_t bits,
                           bool gateway, int preference, uint32_t lifetime_s)
{
    const struct route route = {.prefix = weir_addr_v6(prefix),
                                .gateway = gateway ? packet->source : weir_addr_any(),
                                .netif = packet->netif,
                                .prefix_length = bits,
                                .metric = gateway ? (uint8_t)((int)METRIC_MEDIUM - preference * (int)METRIC_STEP) : 0,
                                .advertised = true,
                                .until_us = ip6_until_us(weir, lifetime_s)};
    if (!route_advertise(weir, &route))
        count(weir, WEIR_COUNT_ND_LIMIT);
}

// RFC 4861 §6.3.4, RFC 4862 §5.5.3.
static void prefix_advertised(struct weir *weir, const struct packet *packet, const struct nd_option *prefix)
{
    if (prefix->on_link)
        way_advertised(weir, packet, prefix->prefix, prefix->prefix_bits, false, ND_MEDIUM, prefix->lifetime_s);
    if (prefix->autonomous && prefix->prefix_bits == 64)
        slaac_prefix(packet->netif, prefix->prefix, prefix->lifetime_s, prefix->preferred_s);
    multihome_advertised(packet->netif, packet->source, weir_addr_v6(prefix->prefix), prefix->prefix_bits,
                         !prefix->lifetime_s);
}

static void mtu_advertised(struct weir *weir, struct weir_netif *netif, uint32_t mtu)
{
    const uint16_t present = netif->ip6.mtu ? netif->ip6.mtu : netif->mtu;
    if (mtu < IP6_MTU_MIN || mtu > netif->mtu || mtu == present)
        return;
    netif->ip6.mtu = (uint16_t)mtu;
    paths_changed(weir);
}

static void option_input(struct weir *weir, const struct packet *packet, const struct nd_option *option)
{
    switch (option->type) {
    case ND_PREFIX: prefix_advertised(weir, packet, option); break;
    case ND_ROUTE:
        way_advertised(weir, packet, option->prefix, option->prefix_bits, true, option->preference, option->lifetime_s);
        break;
    case ND_MTU: mtu_advertised(weir, packet->netif, option->mtu); break;
    case ND_DNS_SERVERS:
    case ND_DNS_DOMAINS:
    case ND_PREF64: names_advertised(weir, packet->netif, option); break;
    default: break;
    }
}

static void timers_advertised(struct weir *weir, struct weir_netif *netif, const struct nd_router *router)
{
    struct weir_netif_ip6 *const ip6 = &netif->ip6;
    if (router->hop_limit >= HOP_LIMIT_LEAST && router->hop_limit != ip6->hop_limit) {
        ip6->hop_limit = router->hop_limit;
        paths_changed(weir);
    }
    if (router->reachable_ms && router->reachable_ms <= REACHABLE_MOST_MS && router->reachable_ms != ip6->base_ms) {
        ip6->base_ms = router->reachable_ms;
        ip6->reachable_ms = ip6->base_ms / 2 + random_below(&weir->random, ip6->base_ms) + 1;
    }
    if (router->retransmit_ms)
        ip6->retransmit_ms = min_u32(max_u32(router->retransmit_ms, RETRANSMIT_LEAST_MS), RETRANSMIT_MOST_MS);
    ip6->managed = router->managed;
    ip6->other = router->other;
}

void router_advertisement_input(struct weir *weir, const struct packet *packet, const struct nd *message)
{
    static const uint8_t everything[16];
    struct weir_netif *const netif = packet->netif;
    const struct nd_router *const router = &message->advertised;
    struct nd_options options = message->options;
    struct nd_option option;
    if (!(netif->ip6.how & WEIR_IP6_AUTO) || netif->ip6.off)
        return;
    // RFC 4862 §5.4.2: probes of addresses that the whole link is told to make are delayed by a random time. That
    // before the solicitation is enough for an answer to it.
    if (packet->flags & PACKET_IP_MULTICAST && !nd_quiet_us(netif) && !answers(weir, &netif->ip6))
        nd_quiet_begin(netif);
    timers_advertised(weir, netif, router);
    if (message->link_address)
        neighbour_told(weir, netif, packet->source, message->link_address, true, true);
    netif->ip6.router_known |= router->lifetime_s && message->link_address;
    way_advertised(weir, packet, everything, 0, true, router->preference, router->lifetime_s);
    for (uint32_t seen = 0; seen < OPTIONS_MAX && nd_option_next(&options, &option); seen++)
        option_input(weir, packet, &option);
    if (router->lifetime_s && netif->ip6.solicits)  // one solicitation is sent in any case (RFC 4861 §6.3.7)
        netif->ip6.soliciting = false;
}

// --- what neighbours tell of routers ---------------------------------------------------------------------------------

static bool leads_through(const struct route *route, const struct weir_netif *netif, struct weir_addr address)
{
    return route->netif == netif && weir_addr_equal(route->gateway, address);
}

// All that do not answer are equal again.
static void turns_begin_anew(struct weir *weir)
{
    for (uint32_t at = 0; at < weir->ip.route_count; at++)
        weir->ip.routes[at].silent = weir->ip.routes[at].silent != 0;
}

void ip_gateway_silent(struct weir *weir, const struct weir_netif *netif, struct weir_addr address)
{
    for (uint32_t at = 0; at < weir->ip.route_count && !weir_addr_is_v4(address); at++) {
        struct route *const route = &weir->ip.routes[at];
        if (!leads_through(route, netif, address))
            continue;
        if (route->silent == UINT8_MAX)
            turns_begin_anew(weir);
        route->silent++;
        paths_changed(weir);
    }
}

void ip_path_doubt(const struct weir *weir, const struct path *path)
{
    if (ip_path_valid(weir, path) && path->neighbour)
        neighbour_doubt(path->netif, path);
}

void ip_gateway_answers(struct weir *weir, const struct weir_netif *netif, struct weir_addr address)
{
    for (uint32_t at = 0; at < weir->ip.route_count; at++) {
        struct route *const route = &weir->ip.routes[at];
        if (!leads_through(route, netif, address) || !route->silent)
            continue;
        route->silent = 0;
        paths_changed(weir);
    }
}

struct router_of {
    const struct weir_netif *netif;
    struct weir_addr address;
};

static bool advertised_by(const struct weir *weir, const struct route *route, const void *context)
{
    const struct router_of *const router = context;
    return (void)weir,
           route->advertised && route->netif == router->netif && weir_addr_equal(route->gateway, router->address);
}

void ip_router_lost(struct weir *weir, const struct weir_netif *netif, struct weir_addr address)
{
    const struct router_of router = {netif, address};
    route_delete_each(weir, advertised_by, &router);
}

// --- redirects -------------------------------------------------------------------------------------------------------

// RFC 4861 §8.1, §8.3: only the first hop of the destination may say that there is a better one. It is a route of its
// own, and goes with the interface's carrier, or after REDIRECT_S.
#define REDIRECT_S 600u

static bool of_destination(const struct weir *weir, const struct route *route, const void *destination)
{
    return (void)weir, route->advertised && route->prefix_length == 128 &&
                           weir_addr_equal(route->prefix, *(const struct weir_addr *)destination);
}

void redirect_input(struct weir *weir, const struct packet *packet, const struct nd *message)
{
    struct path path;
    struct weir_netif *const netif = packet->netif;
    struct weir_addr source = weir_addr_any(),
                     destination = weir_addr_with_zone(weir_addr_v6(message->destination), netif->index);
    const struct weir_addr target = weir_addr_with_zone(weir_addr_v6(message->target), netif->index);
    const bool on_link = weir_addr_equal(target, destination);
    if (!(netif->ip6.how & WEIR_IP6_AUTO) || weir_addr_is_link_local6(destination) ||
        ip_path_find(weir, &path, &source, destination, netif->index) != WEIR_OK ||
        !weir_addr_equal(path.next_hop, packet->source)) {
        count(weir, WEIR_COUNT_ND_BAD);
        return;
    }
    const struct route route = {.prefix = destination,
                                .gateway = on_link ? weir_addr_any() : target,
                                .netif = netif,
                                .prefix_length = 128,
                                .metric = METRIC_MEDIUM,
                                .advertised = true,
                                .until_us = ip6_until_us(weir, REDIRECT_S)};
    if (message->link_address)
        neighbour_told(weir, netif, target, message->link_address, true, !on_link);
    route_delete_each(weir, of_destination, &destination);  // the newest counts
    if (!route_advertise(weir, &route))
        count(weir, WEIR_COUNT_ND_LIMIT);
}
