// SPDX-License-Identifier: BSD-2-Clause
// What ARP makes of an entry of the neighbour cache (RFC 826, RFC 1122 §2.3.2); all of it passed the checks of arp.c.
#include "link/neighbour.h"

static void neighbour_reply_seen(struct weir *weir, struct neighbour *n, const uint8_t mac[6])
{
    if ((n->state == NEIGHBOUR_INCOMPLETE && n->tries) || (n->state == NEIGHBOUR_PROBE && memcmp(n->mac, mac, 6) == 0))
        neighbour_resolved(weir, n, mac);
}

// A request shows where its sender claims to be.
static void neighbour_request_seen(struct weir *weir, struct neighbour *n, const uint8_t mac[6], bool to_us)
{
    if (n->state == NEIGHBOUR_INCOMPLETE) {
        if (to_us)
            neighbour_resolved(weir, n, mac);
    } else if (n->state != NEIGHBOUR_STATIC && memcmp(n->mac, mac, 6) != 0) {
        neighbour_contested(weir, n);
    }
}

static void neighbour_learn(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp)
{
    struct neighbour *n = neighbour_entry_new(weir, netif, weir_addr_v4(arp->sender), true);
    if (!n)
        return;
    memcpy(n->mac, arp->sender_mac, 6);
    n->state = NEIGHBOUR_STALE;
}

void neighbour_seen(struct weir *weir, struct weir_netif *netif, const struct arp_packet *arp,
                    const struct weir_netif_address *target)
{
    if (arp->sender == 0)
        return;
    struct neighbour *n = neighbour_find(weir, netif, weir_addr_v4(arp->sender));
    if (n && arp->operation == ARP_REQUEST)
        neighbour_request_seen(weir, n, arp->sender_mac, target != NULL);
    else if (n && target)
        neighbour_reply_seen(weir, n, arp->sender_mac);
    else if (!n && target && arp->operation == ARP_REQUEST &&
             weir_addr_in_prefix(weir_addr_v4(arp->sender), target->addr, target->prefix_length))
        neighbour_learn(weir, netif, arp);
}
