// SPDX-License-Identifier: BSD-2-Clause
#include "autoip/autoip.h"

#include <string.h>

#define SECOND_US 1000000u
#define LOOK_US 100000u     // between looks whether a probe is over
#define FIRST 0xa9fe0100u   // 169.254.1.0
#define CANDIDATES 0xfe00u  // to 169.254.254.255
#define PREFIX weir_ip4(169, 254, 0, 0)
#define LAST_METRIC UINT8_MAX

// FNV-1a: the candidates of two MAC addresses have nothing to do with each other.
struct weir_addr autoip_candidate(const uint8_t mac[6], uint32_t attempt)
{
    uint32_t hash = 0x811c9dc5u;
    for (uint32_t i = 0; i < 10; i++)
        hash = (hash ^ (i < 6 ? mac[i] : attempt >> (8 * (i - 6)) & 0xff)) * 0x01000193u;
    hash ^= hash >> 15;
    return weir_addr_v4(FIRST + hash % CANDIDATES);
}

static uint64_t now(const struct autoip *autoip) { return weir_now_us(autoip->loop->weir); }

static bool is_ours(const struct autoip *autoip)
{
    return weir_addr_equal(autoip->netif->address.addr, autoip->address);
}

static void tell(struct autoip *autoip, bool bound)
{
    if (autoip->changed != NULL)
        autoip->changed(autoip, bound, autoip->context);
}

// Keeps the address beside another's for a while, or where it is that other's place already ends it.
#if WEIR_CFG_ADDRESSES
static void keep(struct autoip *autoip)
{
    const uint64_t until_us = now(autoip) + (uint64_t)AUTOIP_KEEP_S * SECOND_US;
    if (weir_netif_address_add(autoip->netif, autoip->address, AUTOIP_PREFIX, WEIR_ADDRESS_AT_ONCE) == WEIR_OK)
        (void)weir_netif_address_lifetimes(autoip->netif, autoip->address, now(autoip), until_us);
}
static void keep_end(struct autoip *autoip)
{
    if (!is_ours(autoip))
        (void)weir_netif_address_remove(autoip->netif, autoip->address);
}
#else
static void keep(struct autoip *autoip) { (void)autoip; }
static void keep_end(struct autoip *autoip) { (void)autoip; }
#endif

static void enter_waiting(struct autoip *autoip, uint32_t seconds)
{
    autoip->state = AUTOIP_WAITING;
    autoip->due_us = now(autoip) + (uint64_t)seconds * SECOND_US;
}

static void enter_probing(struct autoip *autoip)
{
    keep_end(autoip);  // the same address may still lie beside
    autoip->address = autoip_candidate(autoip->netif->mac, autoip->attempt);
    autoip->state = AUTOIP_PROBING;
    if (weir_netif_set_address(autoip->netif, autoip->address, AUTOIP_PREFIX, WEIR_ADDRESS_PROBE) != WEIR_OK)
        enter_waiting(autoip, autoip->wait_s);
}

// Another host has it, and has disputed our defence: the next candidate (§2.2.1, §2.5(b)).
static void conflict(struct autoip *autoip)
{
    const bool bound = autoip->state == AUTOIP_BOUND;
    autoip->attempt++;
    autoip->conflicts++;
    (void)weir_netif_set_address(autoip->netif, weir_addr_any(), 0, WEIR_ADDRESS_AT_ONCE);
    enter_waiting(autoip, autoip->conflicts >= AUTOIP_CONFLICTS_MAX ? AUTOIP_RATE_LIMIT_S : 0);
    if (bound)
        tell(autoip, false);
}

// What has become of the address since the last look.
static void look_at_ours(struct autoip *autoip)
{
    const bool bound = autoip->state == AUTOIP_BOUND;
    if (!is_ours(autoip)) {
        const bool none = weir_addr_is_any(autoip->netif->address.addr);
        if (bound && !none)
            keep(autoip);
        if (none)
            enter_waiting(autoip, autoip->wait_s);
        else
            autoip->state = AUTOIP_YIELDED;
        if (bound)
            tell(autoip, false);
        return;
    }
    switch (autoip->netif->address.state) {
    case WEIR_ADDRESS_CONFLICT: conflict(autoip); break;
    case WEIR_ADDRESS_ANNOUNCING:
    case WEIR_ADDRESS_READY:
        if (bound)
            break;
        autoip->state = AUTOIP_BOUND;
        autoip->conflicts = 0;
        tell(autoip, true);
        break;
    default: break;
    }
}

// Behind a carrier that came back may be another network, where somebody has the address (§2.2.1).
static void watch_link(struct autoip *autoip)
{
    const bool link = (autoip->netif->flags & WEIR_NETIF_LINK) != 0;
    if (link && !autoip->link && is_ours(autoip)) {
        if (autoip->state == AUTOIP_BOUND)
            tell(autoip, false);
        enter_probing(autoip);
    }
    autoip->link = link;
}

// Link-local hosts are on the link whatever address we have: no gateway is to see a packet for them (§2.6.2, §7). Where
// several interfaces reach some, the one with an address of theirs goes first.
static void reach(struct autoip *autoip)
{
    const bool prefers = autoip->state == AUTOIP_BOUND;
    if (autoip->reaches && prefers == autoip->prefers)
        return;
    autoip->prefers = prefers;
    autoip->reaches = weir_route_add(autoip->loop->weir, PREFIX, AUTOIP_PREFIX, weir_addr_any(), autoip->netif,
                                     prefers ? 0 : LAST_METRIC) == WEIR_OK;
}

static uint64_t autoip_poll(struct app *app, uint64_t now_us)
{
    struct autoip *autoip = (struct autoip *)app;
    const bool none = weir_addr_is_any(autoip->netif->address.addr);
    watch_link(autoip);
    if (autoip->state == AUTOIP_PROBING || autoip->state == AUTOIP_BOUND)
        look_at_ours(autoip);
    else if (autoip->state == AUTOIP_YIELDED && none)
        enter_waiting(autoip, autoip->wait_s);
    else if (autoip->state == AUTOIP_WAITING && !none)
        autoip->state = AUTOIP_YIELDED;
    if (autoip->state == AUTOIP_WAITING && now_us >= autoip->due_us)
        enter_probing(autoip);
    reach(autoip);
    // What else may happen to the address comes with a packet, or by somebody's call: the loop turns then.
    return autoip->state == AUTOIP_WAITING   ? autoip->due_us
           : autoip->state == AUTOIP_PROBING ? now_us + LOOK_US
                                             : WEIR_NEVER;
}

int autoip_start(struct autoip *autoip, struct loop *loop, struct weir_netif *netif, uint32_t wait_s,
                 void (*changed)(struct autoip *autoip, bool bound, void *context), void *context)
{
    static const uint8_t no_mac[6];
    if (memcmp(netif->mac, no_mac, sizeof no_mac) == 0)
        return WEIR_INVALID;
    *autoip = (struct autoip){.app = {.poll = autoip_poll},
                              .loop = loop,
                              .netif = netif,
                              .wait_s = wait_s,
                              .changed = changed,
                              .context = context,
                              .link = (netif->flags & WEIR_NETIF_LINK) != 0};
    autoip->address = autoip_candidate(netif->mac, 0);
    enter_waiting(autoip, autoip->wait_s);
    reach(autoip);
    loop_add(loop, &autoip->app);
    return WEIR_OK;
}

void autoip_stop(struct autoip *autoip)
{
    if (autoip->state == AUTOIP_STOPPED)
        return;
    const bool ours = autoip->state == AUTOIP_PROBING || autoip->state == AUTOIP_BOUND;
    if (autoip->reaches)
        (void)weir_route_remove(autoip->loop->weir, PREFIX, AUTOIP_PREFIX, weir_addr_any(), autoip->netif);
    if (ours && is_ours(autoip))
        (void)weir_netif_set_address(autoip->netif, weir_addr_any(), 0, WEIR_ADDRESS_AT_ONCE);
    else
        keep_end(autoip);
    autoip->state = AUTOIP_STOPPED;
    loop_remove(autoip->loop, &autoip->app);
}
