// SPDX-License-Identifier: BSD-2-Clause
// The care for our own addresses: IPv4 address conflict detection (RFC 5227), and IPv6 duplicate address detection (RFC
// 4862 §5.4, RFC 7527). Both are one machine: probe, wait, announce; tell of conflicts.
#include "link/acd.h"

#include "link/handler.h"
#include "link/nd.h"

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

// How the two differ.
struct acd_times {
    uint32_t probe_us, probe_more_us;  // between probes, and a random part of so much more
    uint32_t announce_us;              // between announcements
    uint8_t probes, announcements;
};
static const struct acd_times acd_times4 = {PROBE_MIN_US, PROBE_MAX_US - PROBE_MIN_US, ANNOUNCE_INTERVAL_US, PROBE_NUM,
                                            ANNOUNCE_NUM};
#if WEIR_CFG_IP6
// RFC 4861 §10, RFC 4862 §5.1: RETRANS_TIMER, DupAddrDetectTransmits; RFC 9131: the announcement. The random delay
// before the first probe is the interface's.
static const struct acd_times acd_times6 = {1000000u, 0, 1000000u, 1, 1};
static inline const struct acd_times *acd_times_of(const struct weir_netif_address *a)
{
    return weir_addr_is_v4(a->addr) ? &acd_times4 : &acd_times6;
}
// From the last probe until the address is ours; of IPv6 RetransTimer (RFC 4862 §5.4), which is the interface's.
static inline uint32_t acd_probed_us(const struct weir_netif *netif, const struct weir_netif_address *a)
{
    return weir_addr_is_v4(a->addr) ? ANNOUNCE_WAIT_US : netif->ip6.retransmit_ms * 1000u;
}
#else
static inline const struct acd_times *acd_times_of(const struct weir_netif_address *a) { return (void)a, &acd_times4; }
static inline uint32_t acd_probed_us(const struct weir_netif *netif, const struct weir_netif_address *a)
{
    return (void)netif, (void)a, ANNOUNCE_WAIT_US;
}
#endif

static uint32_t acd_begin_us(const struct weir_netif *netif, const struct weir_netif_address *a)
{
    return weir_addr_is_v4(a->addr) ? random_below(&netif->weir->random, PROBE_WAIT_US) : nd_quiet_us(netif);
}

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
    ip_address_taken(weir, netif, a);
}

// RFC 5227 §2.4: another host uses our address. A static one is defended for good, by one announcement in ten seconds
// at the most (§2.4(c)); a leased one is defended once, and given up when that is disputed within ten seconds
// (§2.4(b)).
static void acd_conflict(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a,
                         const uint8_t mac[6])
{
    const bool disputed = a->conflicts && weir->now_ms - a->conflict_ms < DEFEND_INTERVAL_MS;
    // An IPv6 address that is in use is never given up for a claim (RFC 4862 §5.4.4): it is only defended.
    const bool probing = address_probing(a), leased = a->mode == WEIR_ADDRESS_PROBE && weir_addr_is_v4(a->addr);
    count(weir, WEIR_COUNT_ARP_CONFLICT);
    netif->conflict_total++;
    memcpy(netif->conflict_mac, mac, 6);
    if (disputed && !probing && !leased)
        return;
    acd_forget(weir, a);
    a->conflicts += a->conflicts < UINT8_MAX;
    a->conflict_ms = weir->now_ms;
    if (probing || (disputed && leased)) {
        acd_give_up(weir, netif, a);
        return;
    }
    count(weir, WEIR_COUNT_ADDRESS_DEFENDED);
    a->state = WEIR_ADDRESS_ANNOUNCING;
    a->sent = acd_times_of(a)->announcements - 1;
    acd_due(weir, a, 0);
    handler_address(netif, a->addr, WEIR_ADDRESS_DEFENDED);
}

#if WEIR_CFG_IP4
// §2.1.1: while probing, also somebody else's probe for the same address.
bool acd_seen(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp)
{
    const bool probe = arp->operation == ARP_REQUEST && arp->sender == 0;
    struct weir_netif_address *a = address_find(netif, weir_addr_v4(probe ? arp->target : arp->sender));
    if (!a || !(a->state == WEIR_ADDRESS_PROBING || (!probe && address_ready(a))))
        return false;
    acd_conflict(weir, netif, a, arp->sender_mac);
    return true;
}
#endif

#if WEIR_CFG_IP6
// Whether the message is our own, come back (RFC 7527). Only its nonce tells a solicitation, since a duplicate has our
// MAC address most often; and an address that is probed has not been advertised by us.
static bool came_back(const struct weir_netif *netif, const struct weir_netif_address *a, const uint8_t *nonce,
                      const uint8_t mac[6])
{
    if (nonce)
        return a->sent && memcmp(nonce, a->nonce, sizeof a->nonce) == 0;
    return a->state != WEIR_ADDRESS_PROBING && memcmp(mac, netif->mac, 6) == 0;
}

// RFC 4862 §5.4.3, §5.4.4: another host solicits as one that wants the address (`nonce`: its, zeros if it has none), or
// advertises it.
bool acd_seen6(struct weir *weir, struct weir_netif *netif, struct weir_addr target, const uint8_t *nonce,
               const uint8_t mac[6])
{
    struct weir_netif_address *const a = address_find(netif, target);
    if (!a || !(address_probing(a) || (!nonce && address_ready(a))))
        return false;
    if (!came_back(netif, a, nonce, mac))
        acd_conflict(weir, netif, a, mac);
    return true;
}
#endif

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
        wait_us = a->conflicts >= MAX_CONFLICTS ? RATE_LIMIT_INTERVAL_US : acd_begin_us(netif, a);
    } else {
        a->conflicts = 0;
    }
    acd_due(weir, a, wait_us);
}

static enum weir_tx_verdict acd_probe(struct weir_netif *netif, struct weir_netif_address *a)
{
    if (!weir_addr_is_v4(a->addr))
        return nd_probe(netif, a);
    return arp_send(netif, ethernet_broadcast, ARP_REQUEST, 0, arp_unknown_mac, weir_addr_to_v4(a->addr));
}

static enum weir_tx_verdict acd_announce(struct weir_netif *netif, const struct weir_netif_address *a)
{
    if (!weir_addr_is_v4(a->addr))
        return nd_announce(netif, a);
    return arp_send(netif, ethernet_broadcast, ARP_REQUEST, weir_addr_to_v4(a->addr), arp_unknown_mac,
                    weir_addr_to_v4(a->addr));
}

static void acd_probing_due(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a)
{
    const struct acd_times *const times = acd_times_of(a);
    if (a->sent == times->probes) {
        a->state = WEIR_ADDRESS_ANNOUNCING;
        a->sent = 0;
        (void)ip_netif_changed(weir, netif);
        handler_address(netif, a->addr, WEIR_ADDRESS_TAKEN);
        return;
    }
    if (acd_probe(netif, a) == WEIR_TX_FULL)
        return;
    const bool last = ++a->sent == times->probes;
    a->due_us = weir->now +
                (last ? acd_probed_us(netif, a) : times->probe_us + random_below(&weir->random, times->probe_more_us));
}

static void acd_announcing_due(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a)
{
    const struct acd_times *const times = acd_times_of(a);
    if (acd_announce(netif, a) == WEIR_TX_FULL)
        return;
    if (++a->sent >= times->announcements)
        a->state = WEIR_ADDRESS_READY;
    a->due_us = weir->now + times->announce_us;
}

static void acd_address_due(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a)
{
    if (a->state == WEIR_ADDRESS_ANNOUNCING) {
        acd_announcing_due(weir, netif, a);
        return;
    }
    if (!address_probing(a)) {  // given up: is it free now?
        a->state = WEIR_ADDRESS_PROBING;
        a->sent = 0;
    }
    acd_probing_due(weir, netif, a);
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
