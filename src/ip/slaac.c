// SPDX-License-Identifier: BSD-2-Clause
// The addresses that an interface makes by itself (RFC 4862 §5.3, §5.5): of the link, and out of the prefixes that
// routers advertise. The identifier is opaque (RFC 7217): a keyed hash of the prefix, the interface and a count of
// conflicts. Without a secret that survives, the link-local one is the MAC address's (RFC 4291), so that it is the same
// after each start, and the others are random.
#include "ip/slaac.h"

#include "ip/temporary.h"
#include "link/handler.h"

#define PREFIX_BITS 64u
#define IDENTIFIER_RETRIES 3u       // RFC 7217 §6: IDGEN_RETRIES
#define ADDRESSES_MAX 8u            // made on one interface out of prefixes: what routers say fills no table
#define TWO_HOURS_US 7200000000ull  // RFC 4862 §5.5.3 (e)

// RFC 4291, appendix A.
static void identifier_of_mac(const uint8_t mac[6], uint8_t identifier[8])
{
    const uint8_t bytes[8] = {mac[0] ^ 2u, mac[1], mac[2], 0xff, 0xfe, mac[3], mac[4], mac[5]};
    memcpy(identifier, bytes, sizeof bytes);
}

// RFC 7217 §5, with SipHash for F: its key is the secret.
static void identifier_opaque(const struct weir_netif *netif, const uint8_t prefix[8], uint8_t counter,
                              uint8_t identifier[8])
{
    struct siphash_key key;
    uint8_t text[24] = {0};
    memcpy(&key, netif->ip6.secret, sizeof key);
    memcpy(text, prefix, 8);
    memcpy(text + 8, netif->mac, 6);
    text[14] = counter;
    memcpy(text + 16, netif->name, sizeof netif->name);
    const uint64_t hash = siphash(&key, text, sizeof text);
    put32(identifier, (uint32_t)(hash >> 32));
    put32(identifier + 4, (uint32_t)hash);
}

// RFC 5453: the subnet-router anycast address, and those of anycast (fdff:ffff:ffff:ff80 on).
bool slaac_identifier_reserved(const uint8_t identifier[8])
{
    return (get32(identifier) == 0 && get32(identifier + 4) == 0) ||
           (get32(identifier) == 0xfdffffffu && get32(identifier + 4) >= 0xffffff80u);
}

static struct weir_addr address_make(const struct weir_netif *netif, const uint8_t prefix[8], uint8_t *counter,
                                     bool link_local)
{
    uint8_t bytes[16];
    memcpy(bytes, prefix, 8);
    if (link_local && !netif->ip6.secret_given)
        identifier_of_mac(netif->mac, bytes + 8);
    else
        do {
            identifier_opaque(netif, prefix, (*counter)++, bytes + 8);
        } while (slaac_identifier_reserved(bytes + 8));
    return weir_addr_with_zone(weir_addr_v6(bytes), netif->index);
}

// RFC 4429 §3.3: where nobody has to be asked for the router's link address, which an optimistic address may not.
static bool is_optimistic(const struct weir_netif *netif, enum weir_address_origin origin)
{
    return netif->ip6.how & WEIR_IP6_OPTIMISTIC && netif->ip6.router_known && origin != WEIR_ADDRESS_LINK_LOCAL;
}

struct weir_netif_address *slaac_address_begin(struct weir_netif *netif, struct weir_addr addr,
                                               enum weir_address_origin origin, uint8_t counter,
                                               uint64_t preferred_until_us, uint64_t valid_until_us)
{
    if (address_add(netif, addr, PREFIX_BITS, WEIR_ADDRESS_PROBE, (uint8_t)origin) != WEIR_OK)
        return NULL;
    struct weir_netif_address *const a = address_find(netif, addr);
    a->dad_counter = counter;
    (void)weir_netif_address_lifetimes(netif, addr, preferred_until_us, valid_until_us);
    if (is_optimistic(netif, origin))
        address_use(netif, a);
    return a;
}

static void address_begin(struct weir_netif *netif, const uint8_t prefix[8], enum weir_address_origin origin,
                          uint8_t counter, uint64_t preferred_until_us, uint64_t valid_until_us)
{
    const struct weir_addr addr = address_make(netif, prefix, &counter, origin == WEIR_ADDRESS_LINK_LOCAL);
    (void)slaac_address_begin(netif, addr, origin, counter, preferred_until_us, valid_until_us);
}

static bool has_origin(const struct weir_netif *netif, uint8_t origin)
{
    for (const struct weir_netif_address *a = &netif->address; a; a = address_next(a))
        if (a->state != WEIR_ADDRESS_NONE && a->origin == origin)
            return true;
    return false;
}

void slaac_link_local(struct weir_netif *netif)
{
    static const uint8_t prefix[8] = {0xfe, 0x80};
    if (!has_origin(netif, WEIR_ADDRESS_LINK_LOCAL))
        address_begin(netif, prefix, WEIR_ADDRESS_LINK_LOCAL, 0, WEIR_NEVER, WEIR_NEVER);
}

void slaac_forget(struct weir_netif *netif)
{
    for (struct weir_netif_address *a = &netif->address, *next; a; a = next) {
        next = address_next(a);
        if (a->state != WEIR_ADDRESS_NONE && a->origin != WEIR_ADDRESS_MANUAL)
            (void)weir_netif_address_remove(netif, a->addr);
    }
}

// RFC 4862 §5.5.3 (e): nobody can end an address sooner than in two hours, unless it had less to live.
static uint64_t valid_until(const struct weir *weir, const struct weir_netif_address *a, uint32_t valid_s)
{
    const uint64_t said_us = ip6_until_us(weir, valid_s), two_hours_us = weir->now_us + TWO_HOURS_US;
    if (said_us > two_hours_us || said_us > a->valid_until_us)
        return said_us;
    return a->valid_until_us <= two_hours_us ? a->valid_until_us : two_hours_us;
}

static void prefix_prolongs(struct weir_netif *netif, struct weir_netif_address *a, uint32_t valid_s,
                            uint32_t preferred_s)
{
    uint64_t valid_us = valid_until(netif->weir, a, valid_s), preferred_us = ip6_until_us(netif->weir, preferred_s);
    temporary_bound(a, &preferred_us, &valid_us);
    (void)weir_netif_address_lifetimes(netif, a->addr, preferred_us < valid_us ? preferred_us : valid_us, valid_us);
    if (is_optimistic(netif, (enum weir_address_origin)a->origin))
        address_use(netif, a);
}

void slaac_prefix(struct weir_netif *netif, const uint8_t prefix[16], uint32_t valid_s, uint32_t preferred_s)
{
    struct weir *const weir = netif->weir;
    const struct weir_addr network = weir_addr_v6(prefix);
    uint32_t made = 0;
    bool known = false;
    for (struct weir_netif_address *a = &netif->address; a; a = address_next(a)) {
        const bool stable = a->origin == WEIR_ADDRESS_AUTO;
        if (a->state == WEIR_ADDRESS_NONE || (!stable && a->origin != WEIR_ADDRESS_TEMPORARY))
            continue;
        made += stable;
        if (!weir_addr_in_prefix(a->addr, network, PREFIX_BITS))
            continue;
        prefix_prolongs(netif, a, valid_s, preferred_s);
        known |= stable;
    }
    if (known || !valid_s)
        return;
    if (made == ADDRESSES_MAX) {
        count(weir, WEIR_COUNT_ND_LIMIT);
        return;
    }
    address_begin(netif, prefix, WEIR_ADDRESS_AUTO, 0, ip6_until_us(weir, preferred_s), ip6_until_us(weir, valid_s));
}

// RFC 4862 §5.4.5, RFC 7217 §6. Of what was configured the interface goes on trying (acd.c).
void ip_address_taken(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a)
{
    const enum weir_address_origin origin = (enum weir_address_origin)a->origin;
    const uint64_t preferred_us = a->preferred_until_us, valid_us = a->valid_until_us;
    const uint8_t counter = a->dad_counter;
    uint8_t prefix[16];
    // A leased one stays, in conflict, until its client has declined it.
    if (weir_addr_is_v4(a->addr) || origin == WEIR_ADDRESS_MANUAL || origin == WEIR_ADDRESS_LEASED)
        return;
    const struct weir_addr addr = a->addr;
    weir_addr_to_v6(addr, prefix);
    (void)weir_netif_address_remove(netif, addr);
    if (origin == WEIR_ADDRESS_TEMPORARY) {
        temporary_taken(netif, addr, counter);
    } else if (origin == WEIR_ADDRESS_LINK_LOCAL && !netif->ip6.secret_given) {
        netif->ip6.off = true;  // another device has our MAC address
        slaac_forget(netif);
    } else if (counter <= IDENTIFIER_RETRIES && valid_us > weir->now_us) {
        address_begin(netif, prefix, origin, counter, preferred_us, valid_us);
    }
}

int weir_netif_address_lease(struct weir_netif *netif, struct weir_addr address, uint64_t preferred_until_us,
                             uint64_t valid_until_us)
{
    const struct weir_netif_address *const a = netif->weir ? address_find(netif, address) : NULL;
    if (weir_addr_is_v4(address) || weir_addr_is_link_local6(address) || preferred_until_us > valid_until_us)
        return WEIR_INVALID;
    if (a && a->origin != WEIR_ADDRESS_LEASED)
        return WEIR_IN_USE;
    const int error = a ? WEIR_OK : address_add(netif, address, 128, WEIR_ADDRESS_PROBE, WEIR_ADDRESS_LEASED);
    return error ? error : weir_netif_address_lifetimes(netif, address, preferred_until_us, valid_until_us);
}

void ip_address_group(struct weir_netif *netif, struct weir_addr address, bool join)
{
    if (weir_addr_is_v4(address) || weir_addr_is_any(address) || ip_netif_loopback(netif))
        return;
    uint8_t bytes[IP6_ADDRESS_BYTES], solicited[IP6_ADDRESS_BYTES];
    weir_addr_to_v6(address, bytes);
    ip6_solicited_node(bytes, solicited);
    const struct weir_addr group = weir_addr_v6(solicited);
    (void)(join ? ip_group_join(netif->weir, netif, group) : ip_group_leave(netif->weir, netif, group));
}
