// SPDX-License-Identifier: BSD-2-Clause
// The care for our own addresses: IPv4 address conflict detection (RFC 5227).
#include "link/acd.h"

#include "link/handler.h"

// RFC 5227 §1.1.
#define PROBE_WAIT_US 1000000u
#define PROBE_NUM 3u
#define PROBE_MIN_US 1000000u
#define PROBE_MAX_US 2000000u
#define ANNOUNCE_WAIT_US 2000000u
#define ANNOUNCE_NUM 2u
#define ANNOUNCE_INTERVAL_US 2000000u
#define MAX_CONFLICTS 10u
#define RATE_LIMIT_INTERVAL_US 60000000u
#define DEFEND_INTERVAL_MS 10000u

// An address that was given up is probed again after 10, 20, 40, 60, 60 … s: never more often than RFC 5227 §2.1.1 lets
// a host that met many conflicts. Undisturbed for ten minutes, it begins again.
#define RETRY_MIN_US 10000000u
#define RETRY_DOUBLINGS 3u
#define CONFLICTS_FORGOTTEN_MS 600000u

static void acd_due(struct weir *weir, struct weir_netif_address *a, uint32_t wait_us)
{
    a->due_us = weir->now + wait_us;
    slow_due(weir, weir->now_us + wait_us);
}

static void acd_forget(const struct weir *weir, struct weir_netif_address *a)
{
    if (weir->now_ms - a->conflict_ms >= CONFLICTS_FORGOTTEN_MS)
        a->conflicts = 0;
}

static void acd_give_up(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a)
{
    const uint32_t doublings = min_u32(a->conflicts, RETRY_DOUBLINGS + 1u) - 1u;
    count(weir, WEIR_COUNT_ADDRESS_LOST);
    a->state = WEIR_ADDRESS_CONFLICT;
    acd_due(weir, a, min_u32(RETRY_MIN_US << doublings, RATE_LIMIT_INTERVAL_US));
    (void)ip_netif_changed(weir, netif);
    handler_address(netif, a->addr, WEIR_ADDRESS_LOST);
}

// RFC 5227 §2.4: another host uses our address. A static one is defended for good, by one announcement in ten seconds
// at the most (§2.4(c)); a leased one is defended once, and given up when that is disputed within ten seconds
// (§2.4(b)).
static void acd_conflict(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a, const struct arp_packet *arp)
{
    const bool disputed = a->conflicts && weir->now_ms - a->conflict_ms < DEFEND_INTERVAL_MS;
    const bool probing = a->state == WEIR_ADDRESS_PROBING, leased = a->mode == WEIR_ADDRESS_PROBE;
    count(weir, WEIR_COUNT_ARP_CONFLICT);
    netif->conflict_total++;
    memcpy(netif->conflict_mac, arp->sender_mac, 6);
    if (disputed && !probing && !leased)
        return;
    acd_forget(weir, a);
    a->conflicts += a->conflicts < UINT8_MAX;
    a->conflict_ms = weir->now_ms;
    if (probing || disputed) {
        acd_give_up(weir, netif, a);
        return;
    }
    count(weir, WEIR_COUNT_ADDRESS_DEFENDED);
    a->state = WEIR_ADDRESS_ANNOUNCING;
    a->sent = ANNOUNCE_NUM - 1;
    acd_due(weir, a, 0);
    handler_address(netif, a->addr, WEIR_ADDRESS_DEFENDED);
}

// §2.1.1: while probing, also somebody else's probe for the same address.
bool acd_seen(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp)
{
    const bool probe = arp->operation == ARP_REQUEST && arp->sender == 0;
    struct weir_netif_address *a = address_find(netif, weir_addr_v4(probe ? arp->target : arp->sender));
    if (!a || !(a->state == WEIR_ADDRESS_PROBING || (!probe && address_ready(a))))
        return false;
    acd_conflict(weir, netif, a, arp);
    return true;
}

void acd_address_changed(struct weir_netif *netif, struct weir_netif_address *a, enum weir_address_mode mode)
{
    struct weir *weir = netif->weir;
    uint32_t wait_us = 0;
    a->sent = 0;
    a->state = WEIR_ADDRESS_ANNOUNCING;
    if (mode != WEIR_ADDRESS_AT_ONCE) {
        a->state = WEIR_ADDRESS_PROBING;
        acd_forget(weir, a);
        // §2.1.1: after ten conflicts in a row, one attempt a minute.
        wait_us = a->conflicts >= MAX_CONFLICTS ? RATE_LIMIT_INTERVAL_US : random_below(&weir->random, PROBE_WAIT_US);
    } else {
        a->conflicts = 0;
    }
    acd_due(weir, a, wait_us);
}

static void acd_probing_due(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a)
{
    if (a->sent == PROBE_NUM) {
        a->state = WEIR_ADDRESS_ANNOUNCING;
        a->sent = 0;
        (void)ip_netif_changed(weir, netif);
        handler_address(netif, a->addr, WEIR_ADDRESS_TAKEN);
        return;
    }
    if (arp_send(netif, ethernet_broadcast, ARP_REQUEST, 0, arp_unknown_mac, weir_addr_to_v4(a->addr)) == WEIR_TX_FULL)
        return;
    const bool last = ++a->sent == PROBE_NUM;
    a->due_us = weir->now + (last ? ANNOUNCE_WAIT_US : PROBE_MIN_US + random_below(&weir->random, PROBE_MAX_US - PROBE_MIN_US));
}

static void acd_announcing_due(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a)
{
    if (arp_send(netif, ethernet_broadcast, ARP_REQUEST, weir_addr_to_v4(a->addr), arp_unknown_mac, weir_addr_to_v4(a->addr)) ==
        WEIR_TX_FULL)
        return;
    if (++a->sent >= ANNOUNCE_NUM)
        a->state = WEIR_ADDRESS_READY;
    a->due_us = weir->now + ANNOUNCE_INTERVAL_US;
}

static void acd_address_due(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a)
{
    switch (a->state) {
    case WEIR_ADDRESS_PROBING: acd_probing_due(weir, netif, a); break;
    case WEIR_ADDRESS_ANNOUNCING: acd_announcing_due(weir, netif, a); break;
    default:  // given up: is it free now?
        a->state = WEIR_ADDRESS_PROBING;
        a->sent = 0;
        acd_probing_due(weir, netif, a);
        break;
    }
}

static uint64_t acd_address_poll(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a)
{
    const uint64_t end_us = a->state == WEIR_ADDRESS_NONE ? WEIR_NEVER : address_age(weir, netif, a);
    const bool idle = a->state == WEIR_ADDRESS_NONE || a->state == WEIR_ADDRESS_READY;
    if (idle || netif->link != &weir_link_ethernet || !netif_open(netif))
        return end_us;
    if (seq_le(a->due_us, weir->now)) {
        acd_address_due(weir, netif, a);
        if (!netif_open(netif) || a->state == WEIR_ADDRESS_READY)
            return end_us;
    }
    const uint64_t due_us = arp_wait_until(weir, a->due_us);
    return due_us < end_us ? due_us : end_us;
}

uint64_t acd_poll(struct weir *weir)
{
    uint64_t deadline = WEIR_NEVER;
    for (struct weir_netif *netif = weir->netifs; netif; netif = netif->next) {
        for (struct weir_netif_address *a = &netif->address, *next; a; a = next) {
            next = address_next(a);
            const uint64_t at = acd_address_poll(weir, netif, a);
            deadline = at < deadline ? at : deadline;
        }
    }
    return deadline;
}
