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

static void acd_due(struct weir_netif *netif, uint32_t wait_us)
{
    netif->arp_due_us = netif->weir->now + wait_us;
    slow_due(netif->weir, netif->weir->now_us + wait_us);
}

static void acd_forget(struct weir_netif *netif)
{
    if (netif->weir->now_ms - netif->conflict_ms >= CONFLICTS_FORGOTTEN_MS)
        netif->conflicts = 0;
}

static void acd_give_up(struct weir *weir, struct weir_netif *netif)
{
    const uint32_t doublings = min_u32(netif->conflicts, RETRY_DOUBLINGS + 1u) - 1u;
    count(weir, WEIR_COUNT_ADDRESS_LOST);
    netif->arp_state = WEIR_ADDRESS_CONFLICT;
    acd_due(netif, min_u32(RETRY_MIN_US << doublings, RATE_LIMIT_INTERVAL_US));
    ip_netif_changed(weir, netif);
    handler_address(netif, WEIR_ADDRESS_LOST);
}

// RFC 5227 §2.4: another host uses our address. A static one is defended for good, by one announcement in ten seconds
// at the most (§2.4(c)); a leased one is defended once, and given up when that is disputed within ten seconds
// (§2.4(b)).
static void acd_conflict(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp)
{
    const bool disputed = netif->conflicts && weir->now_ms - netif->conflict_ms < DEFEND_INTERVAL_MS;
    const bool probing = netif->arp_state == WEIR_ADDRESS_PROBING, leased = netif->address_mode == WEIR_ADDRESS_PROBE;
    count(weir, WEIR_COUNT_ARP_CONFLICT);
    netif->conflict_total++;
    memcpy(netif->conflict_mac, arp->sender_mac, 6);
    if (disputed && !probing && !leased)
        return;
    acd_forget(netif);
    netif->conflicts += netif->conflicts < UINT8_MAX;
    netif->conflict_ms = weir->now_ms;
    if (probing || disputed) {
        acd_give_up(weir, netif);
        return;
    }
    count(weir, WEIR_COUNT_ADDRESS_DEFENDED);
    netif->arp_state = WEIR_ADDRESS_ANNOUNCING;
    netif->arp_count = ANNOUNCE_NUM - 1;
    acd_due(netif, 0);
    handler_address(netif, WEIR_ADDRESS_DEFENDED);
}

// §2.1.1: while probing, also somebody else's probe for the same address.
bool acd_seen(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp)
{
    const bool in_use = acd_address_ours(netif);
    const bool probing = netif->arp_state == WEIR_ADDRESS_PROBING;
    const uint32_t address = weir_addr_to_v4(netif->address);
    const bool conflicting = ((in_use || probing) && arp->sender == address) ||
                             (probing && arp->operation == ARP_REQUEST && arp->sender == 0 && arp->target == address);
    if (conflicting)
        acd_conflict(weir, netif, arp);
    return conflicting;
}

void acd_address_changed(struct weir_netif *netif, enum weir_address_mode mode)
{
    struct weir *weir = netif->weir;
    uint32_t wait_us = 0;
    netif->arp_count = 0;
    netif->arp_state = WEIR_ADDRESS_ANNOUNCING;
    if (mode != WEIR_ADDRESS_AT_ONCE) {
        netif->arp_state = WEIR_ADDRESS_PROBING;
        acd_forget(netif);
        // §2.1.1: after ten conflicts in a row, one attempt a minute.
        wait_us = netif->conflicts >= MAX_CONFLICTS ? RATE_LIMIT_INTERVAL_US : random_below(&weir->random, PROBE_WAIT_US);
    } else {
        netif->conflicts = 0;
    }
    acd_due(netif, wait_us);
}

static void acd_probing_due(struct weir *weir, struct weir_netif *netif)
{
    if (netif->arp_count == PROBE_NUM) {
        netif->arp_state = WEIR_ADDRESS_ANNOUNCING;
        netif->arp_count = 0;
        ip_netif_changed(weir, netif);
        handler_address(netif, WEIR_ADDRESS_TAKEN);
        return;
    }
    if (arp_send(netif, ethernet_broadcast, ARP_REQUEST, 0, arp_unknown_mac, weir_addr_to_v4(netif->address)) == WEIR_TX_FULL)
        return;
    const bool last = ++netif->arp_count == PROBE_NUM;
    netif->arp_due_us = weir->now + (last ? ANNOUNCE_WAIT_US : PROBE_MIN_US + random_below(&weir->random, PROBE_MAX_US - PROBE_MIN_US));
}

static void acd_announcing_due(struct weir *weir, struct weir_netif *netif)
{
    if (arp_send(netif, ethernet_broadcast, ARP_REQUEST, weir_addr_to_v4(netif->address), arp_unknown_mac,
                 weir_addr_to_v4(netif->address)) == WEIR_TX_FULL)
        return;
    if (++netif->arp_count >= ANNOUNCE_NUM)
        netif->arp_state = WEIR_ADDRESS_READY;
    netif->arp_due_us = weir->now + ANNOUNCE_INTERVAL_US;
}

static void acd_address_due(struct weir *weir, struct weir_netif *netif)
{
    switch (netif->arp_state) {
    case WEIR_ADDRESS_PROBING: acd_probing_due(weir, netif); break;
    case WEIR_ADDRESS_ANNOUNCING: acd_announcing_due(weir, netif); break;
    default:  // given up: is it free now?
        netif->arp_state = WEIR_ADDRESS_PROBING;
        netif->arp_count = 0;
        acd_probing_due(weir, netif);
        break;
    }
}

static uint64_t acd_netif_poll(struct weir *weir, struct weir_netif *netif)
{
    const bool idle = netif->arp_state == WEIR_ADDRESS_NONE || netif->arp_state == WEIR_ADDRESS_READY;
    if (idle || netif->link != &weir_link_ethernet || !netif_open(netif))
        return WEIR_NEVER;
    if (seq_le(netif->arp_due_us, weir->now)) {
        acd_address_due(weir, netif);
        if (!netif_open(netif) || netif->arp_state == WEIR_ADDRESS_READY)
            return WEIR_NEVER;
    }
    return arp_wait_until(weir, netif->arp_due_us);
}

uint64_t acd_poll(struct weir *weir)
{
    uint64_t deadline = WEIR_NEVER;
    for (struct weir_netif *netif = weir->netifs; netif; netif = netif->next) {
        const uint64_t at = acd_netif_poll(weir, netif);
        deadline = at < deadline ? at : deadline;
    }
    return deadline;
}
