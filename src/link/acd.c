// SPDX-License-Identifier: BSD-2-Clause
// The care for our own addresses: IPv4 address conflict detection (RFC 5227).
#include "link/acd.h"

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

// RFC 5227 §2.4: another host uses our address. We defend it once; when that is disputed within ten seconds we give it up (§2.4(b)).
static void acd_conflict(struct weir *weir, struct weir_netif *netif)
{
    const bool disputed = netif->conflicts && weir->now_ms - netif->conflict_ms < DEFEND_INTERVAL_MS;
    count(weir, WEIR_COUNT_ARP_CONFLICT);
    netif->conflicts += netif->conflicts < UINT8_MAX;
    netif->conflict_ms = weir->now_ms;
    if (netif->arp_state == WEIR_ADDRESS_PROBING || disputed) {
        netif->arp_state = WEIR_ADDRESS_CONFLICT;
        ip_netif_changed(weir, netif);
        return;
    }
    netif->arp_state = WEIR_ADDRESS_ANNOUNCING;
    netif->arp_count = ANNOUNCE_NUM - 1;
    netif->arp_due_us = weir->now;
    slow_due(weir, weir->now_us);
}

// §2.1.1: while probing, also somebody else's probe for the same address.
bool acd_seen(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp)
{
    const bool in_use = acd_address_ours(netif);
    const bool probing = netif->arp_state == WEIR_ADDRESS_PROBING;
    const uint32_t address = netif->address.v4;
    const bool conflicting = ((in_use || probing) && arp->sender == address) ||
                             (probing && arp->operation == ARP_REQUEST && arp->sender == 0 && arp->target == address);
    if (conflicting)
        acd_conflict(weir, netif);
    return conflicting;
}

void acd_address_changed(struct weir_netif *netif, enum weir_address_mode mode)
{
    struct weir *weir = netif->weir;
    uint32_t wait_us = 0;
    netif->arp_count = 0;
    netif->arp_state = WEIR_ADDRESS_ANNOUNCING;
    if (mode == WEIR_ADDRESS_PROBE) {
        netif->arp_state = WEIR_ADDRESS_PROBING;
        // §2.1.1: after ten conflicts in a row, one attempt a minute.
        wait_us = netif->conflicts >= MAX_CONFLICTS ? RATE_LIMIT_INTERVAL_US : random_below(&weir->random, PROBE_WAIT_US);
    } else {
        netif->conflicts = 0;
    }
    netif->arp_due_us = weir->now + wait_us;
    slow_due(weir, weir->now_us + wait_us);
}

static void acd_probing_due(struct weir *weir, struct weir_netif *netif)
{
    if (netif->arp_count == PROBE_NUM) {
        netif->arp_state = WEIR_ADDRESS_ANNOUNCING;
        netif->arp_count = 0;
        netif->conflicts = 0;
        ip_netif_changed(weir, netif);
        return;
    }
    if (arp_send(netif, ethernet_broadcast, ARP_REQUEST, 0, arp_unknown_mac, netif->address.v4) == WEIR_TX_FULL)
        return;
    const bool last = ++netif->arp_count == PROBE_NUM;
    netif->arp_due_us = weir->now + (last ? ANNOUNCE_WAIT_US : PROBE_MIN_US + random_below(&weir->random, PROBE_MAX_US - PROBE_MIN_US));
}

static void acd_announcing_due(struct weir *weir, struct weir_netif *netif)
{
    if (arp_send(netif, ethernet_broadcast, ARP_REQUEST, netif->address.v4, arp_unknown_mac, netif->address.v4) == WEIR_TX_FULL)
        return;
    if (++netif->arp_count >= ANNOUNCE_NUM)
        netif->arp_state = WEIR_ADDRESS_READY;
    netif->arp_due_us = weir->now + ANNOUNCE_INTERVAL_US;
}

static uint64_t acd_netif_poll(struct weir *weir, struct weir_netif *netif)
{
    const bool busy = netif->arp_state == WEIR_ADDRESS_PROBING || netif->arp_state == WEIR_ADDRESS_ANNOUNCING;
    if (!busy || netif->link != &weir_link_ethernet || !netif_open(netif))
        return WEIR_NEVER;
    if (seq_le(netif->arp_due_us, weir->now)) {
        if (netif->arp_state == WEIR_ADDRESS_PROBING)
            acd_probing_due(weir, netif);
        else
            acd_announcing_due(weir, netif);
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
