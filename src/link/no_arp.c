// SPDX-License-Identifier: BSD-2-Clause
// What arp.c does for the whole link (ethernet.h), in a build without ARP: IPv6 alone.
#include "link/acd.h"
#include "link/nd.h"
#include "link/neighbour.h"

const uint8_t arp_unknown_mac[6] = {0};

int arp_init(struct weir *weir) { return neighbour_init(weir); }
size_t arp_bytes(void) { return neighbour_bytes(); }
void arp_free(struct weir *weir) { neighbour_free(weir); }

uint64_t arp_wait_until(const struct weir *weir, uint32_t due_us)
{
    return weir->now_us + (seq_lt(weir->now, due_us) ? due_us - weir->now : 0);
}

uint64_t arp_poll(struct weir *weir, uint64_t now_us)
{
    (void)now_us;
    nd_send_replies(weir);
    const uint64_t neighbour_due_us = neighbour_poll(weir), acd_due_us = acd_poll(weir);
    return neighbour_due_us < acd_due_us ? neighbour_due_us : acd_due_us;
}

void arp_flush(struct weir *weir, struct weir_netif *netif, bool removed)
{
    nd_flush(weir, netif);
    neighbour_flush(weir, netif, removed);
}
