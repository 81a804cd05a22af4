// SPDX-License-Identifier: BSD-2-Clause
// Temporary addresses (RFC 8981). Each stable address that routers' prefixes made has one beside it whose identifier is
// random: preferred for a day at the most, valid for two. The next is made a little before the day is over, whether
// routers say something or not. All that has to be remembered is in the addresses themselves.
#include "ip/temporary.h"

#include "ip/slaac.h"

// §3.8; seconds.
#define VALID_LIFETIME 172800u
#define PREFERRED_LIFETIME 86400u
#define DESYNC_FACTOR_MAX (PREFERRED_LIFETIME / 10u * 4u)
#define IDGEN_RETRIES 3u
#define REGEN_ADVANCE_LEAST 2u
#define DETECT_TRANSMITS 1u        // RFC 4862 §5.1: DupAddrDetectTransmits (acd.c)
#define TEMPORARY_MAX 8u           // on one interface, with those that are deprecated
#define FULL_RETRY_US 60000000ull  // there was no place: the next attempt
#define SECOND_US 1000000ull

static struct weir_netif_address *stable_of(struct weir_netif *netif, struct weir_addr address)
{
    for (struct weir_netif_address *a = &netif->address; a; a = address_next(a))
        if (a->state != WEIR_ADDRESS_NONE && a->origin == WEIR_ADDRESS_AUTO &&
            weir_addr_in_prefix(address, a->addr, a->prefix_length))
            return a;
    return NULL;
}

// §3.8: REGEN_ADVANCE, µs.
static uint64_t regen_advance_us(const struct weir_netif *netif)
{
    return REGEN_ADVANCE_LEAST * SECOND_US +
           (uint64_t)IDGEN_RETRIES * DETECT_TRANSMITS * netif->ip6.retransmit_ms * 1000u;
}

void temporary_bound(const struct weir_netif_address *a, uint64_t *preferred_us, uint64_t *valid_us)
{
    if (a->origin != WEIR_ADDRESS_TEMPORARY)
        return;
    const uint64_t preferred_most_us =
        a->temporary_until_us - (VALID_LIFETIME - PREFERRED_LIFETIME + a->desync_s) * SECOND_US;
    *valid_us = *valid_us < a->temporary_until_us ? *valid_us : a->temporary_until_us;
    *preferred_us = *preferred_us < preferred_most_us ? *preferred_us : preferred_most_us;
}

// §3.3.1: a random identifier.
static struct weir_addr random_address(struct weir_netif *netif, struct weir_addr prefix)
{
    uint8_t bytes[16];
    weir_addr_to_v6(prefix, bytes);
    do {
        random_bytes(&netif->weir->random, bytes + 8, 8);
    } while (slaac_identifier_reserved(bytes + 8));
    return weir_addr_v6(bytes);
}

// §3.4: with the lifetimes of the stable address, and at the most its own. False: there is no place. `counter`: of
// those that were another host's.
static bool temporary_make(struct weir_netif *netif, const struct weir_netif_address *stable, uint8_t counter)
{
    const uint64_t now_us = netif->weir->now_us;
    const struct weir_addr addr = random_address(netif, stable->addr);
    uint64_t preferred_us = stable->preferred_until_us, valid_us = stable->valid_until_us;
    const struct weir_netif_address own = {.origin = WEIR_ADDRESS_TEMPORARY,
                                           .desync_s = random_below(&netif->weir->random, DESYNC_FACTOR_MAX),
                                           .temporary_until_us = now_us + VALID_LIFETIME * SECOND_US};
    temporary_bound(&own, &preferred_us, &valid_us);
    if (preferred_us <= now_us + regen_advance_us(netif))  // it would be replaced at once, and so on without end
        return true;
    struct weir_netif_address *const a =
        slaac_address_begin(netif, addr, WEIR_ADDRESS_TEMPORARY, counter, preferred_us, valid_us);
    if (!a)
        return false;
    address_routers_set(a, address_routers(stable));
    a->desync_s = own.desync_s;
    a->temporary_until_us = own.temporary_until_us;
    return true;
}

// Until when the prefix of a stable address has a temporary one that is preferred, µs; and how many the interface has.
static uint64_t preferred_until(const struct weir_netif *netif, const struct weir_netif_address *stable, uint32_t *all)
{
    uint64_t until_us = 0;
    *all = 0;
    for (const struct weir_netif_address *a = &netif->address; a; a = address_next(a)) {
        if (a->state == WEIR_ADDRESS_NONE || a->origin != WEIR_ADDRESS_TEMPORARY)
            continue;
        ++*all;
        if (weir_addr_in_prefix(a->addr, stable->addr, stable->prefix_length) && a->preferred_until_us > until_us)
            until_us = a->preferred_until_us;
    }
    return until_us;
}

static uint64_t temporary_due(struct weir *weir, struct weir_netif *netif, const struct weir_netif_address *stable)
{
    const uint64_t advance_us = regen_advance_us(netif);
    uint32_t all;
    uint64_t until_us = preferred_until(netif, stable, &all);
    if (until_us <= weir->now_us + advance_us && !stable->temporary_failed) {
        if (all >= TEMPORARY_MAX || !temporary_make(netif, stable, 0))
            return weir->now_us + FULL_RETRY_US;
        until_us = preferred_until(netif, stable, &all);
    }
    return until_us > weir->now_us + advance_us ? until_us - advance_us : WEIR_NEVER;
}

// Work: the square of the interface's addresses, which are few.
uint64_t temporary_poll(struct weir *weir, struct weir_netif *netif)
{
    uint64_t due_us = WEIR_NEVER;
    if (!(netif->ip6.how & WEIR_IP6_TEMPORARY) || !netif_open(netif))
        return WEIR_NEVER;
    for (struct weir_netif_address *a = &netif->address; a; a = address_next(a)) {
        if (a->state == WEIR_ADDRESS_NONE || a->origin != WEIR_ADDRESS_AUTO)
            continue;
        const uint64_t at_us = temporary_due(weir, netif, a);
        due_us = at_us < due_us ? at_us : due_us;
    }
    return due_us;
}

// §3.4 (7): after three that were others' the prefix has none, as long as the link is the same. Other prefixes, and the
// interface when it comes back, begin anew (CVE-2013-0343).
void temporary_taken(struct weir_netif *netif, struct weir_addr address, uint8_t counter)
{
    struct weir_netif_address *const stable = stable_of(netif, address);
    if (!stable)
        return;
    if (counter + 1u < IDGEN_RETRIES)
        (void)temporary_make(netif, stable, (uint8_t)(counter + 1));
    else
        stable->temporary_failed = true;
}

void temporary_link_lost(struct weir_netif *netif)
{
    for (struct weir_netif_address *a = &netif->address; a; a = address_next(a))
        a->temporary_failed = false;
}
