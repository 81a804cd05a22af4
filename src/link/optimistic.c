// SPDX-License-Identifier: BSD-2-Clause
// Optimistic duplicate address detection (RFC 4429): an address is used while it is probed. It is put aside for others
// (source6.c), asks for nobody's link address (nd.c, icmp6.c), and is advertised without the override flag; acd.c ends
// it as it ends one that is only probed.
#include "instance.h"
#include "link/address.h"

void address_use(struct weir_netif *netif, struct weir_netif_address *a)
{
    struct weir *const weir = netif->weir;
    if (a->state != WEIR_ADDRESS_PROBING)
        return;
    a->state = WEIR_ADDRESS_OPTIMISTIC;
    if (!a->sent)  // §3.3: the probe is not delayed
        a->due_us = weir->now;
    slow_due(weir, weir->now_us);
    (void)ip_netif_changed(weir, netif);
}
