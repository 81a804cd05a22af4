// SPDX-License-Identifier: BSD-2-Clause
// What IPv6's neighbour discovery makes of an entry of the neighbour cache (RFC 4861 §7.2, appendix C); all of it
// passed the checks of src/ip/nd.c. In one thing it is as careful as with ARP, and not as RFC 4861 has it: another link
// address for a neighbour who has an entry is not taken on anybody's word. The neighbour is asked first, where it was,
// unless progress shows that it is still there.
#include "link/neighbour.h"

void neighbour_told(struct weir *weir, struct weir_netif *netif, struct weir_addr address, const uint8_t mac[6],
                    bool create, bool router)
{
    struct neighbour *n = neighbour_find(weir, netif, address);
    if (!n) {
        n = create ? neighbour_entry_new(weir, netif, address, true) : NULL;
        if (!n)
            return;
        memcpy(n->mac, mac, sizeof n->mac);
        n->state = NEIGHBOUR_STALE;
    } else if (n->state == NEIGHBOUR_INCOMPLETE) {
        neighbour_stale(weir, n, mac);
    } else if (n->state != NEIGHBOUR_STATIC && memcmp(n->mac, mac, sizeof n->mac) != 0) {
        neighbour_contested(weir, n);
        return;
    }
    n->router |= router;
}

// Whatever was known of it before: routers may advertise themselves without their link address, and then make no entry.
static void is_router(struct weir *weir, struct neighbour *n, bool router)
{
    n->router = router;
    if (!router)
        ip_router_lost(weir, n->netif, n->address);
}

static void incomplete_advertised(struct weir *weir, struct neighbour *n, const struct neighbour_claim *claim)
{
    if (!claim->mac)
        return;
    n->router = claim->router;  // before it counts as one that answers
    if (claim->solicited)
        neighbour_resolved(weir, n, claim->mac);
    else
        neighbour_stale(weir, n, claim->mac);
    is_router(weir, n, claim->router);
}

void neighbour_advertised(struct weir *weir, struct weir_netif *netif, struct weir_addr address,
                          const struct neighbour_claim *claim)
{
    struct neighbour *const n = neighbour_find(weir, netif, address);
    if (!n || n->state == NEIGHBOUR_STATIC)
        return;
    if (n->state == NEIGHBOUR_INCOMPLETE) {
        incomplete_advertised(weir, n, claim);
        return;
    }
    if (claim->mac && memcmp(n->mac, claim->mac, sizeof n->mac) != 0) {
        neighbour_contested(weir, n);
        return;
    }
    if (claim->solicited)
        neighbour_confirmed(weir, n);
    is_router(weir, n, claim->router);
}
