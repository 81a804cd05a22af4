// SPDX-License-Identifier: BSD-2-Clause
// Whether the link's tables agree with themselves (WEIR_CFG_SELF_CHECK): the neighbour cache, its lists, and what
// strangers have of it; the addresses of each interface.
#include "instance.h"
#include "link/address.h"
#include "link/neighbour.h"

// The neighbour cache is long, and to look it over takes longer than most polls: all of the first polls do, then some,
// and weir_destroy.
#define FIRST_CHECKS 16
#define CHECK_EVERY 32

#if WEIR_CFG_ARP_CACHE
// Entries from `index` on, by one of the two lists; more than there are: the list comes back to itself.
static uint32_t list_length(const struct arp *arp, uint16_t index, bool timers)
{
    uint32_t length = 0;
    for (; index && index <= WEIR_CFG_NEIGHBOURS && length <= WEIR_CFG_NEIGHBOURS; length++)
        index = timers ? arp->table[index - 1].timer_next : arp->table[index - 1].next;
    return index ? WEIR_CFG_NEIGHBOURS + 1 : length;
}

bool neighbours_sound(const struct weir *weir)
{
    const struct arp *const arp = &weir->arp;
    uint32_t used = 0, strangers = 0, timers = 0;
    for (uint16_t index = 1; index <= WEIR_CFG_NEIGHBOURS; index++) {
        const struct neighbour *const n = &arp->table[index - 1];
        if (!n->netif)
            continue;
        used++;
        strangers += n->strange;
        timers += n->timer_previous || arp->timer_first == index;
        if (n->netif->weir != weir || n->state == NEIGHBOUR_FREE || neighbour_find(weir, n->netif, n->address) != n)
            return false;
    }
    return used + list_length(arp, arp->free, false) == WEIR_CFG_NEIGHBOURS && strangers == arp->strangers &&
           strangers <= WEIR_CFG_NEIGHBOUR_STRANGERS && arp->strangers_made <= WEIR_CFG_NEIGHBOUR_STRANGER_RATE &&
           timers == list_length(arp, arp->timer_first, true) && arp->queue_bytes <= WEIR_CFG_NEIGHBOUR_QUEUE_BYTES;
}
#else
bool neighbours_sound(const struct weir *weir) { return (void)weir, true; }
#endif

// Further addresses have places for all interfaces together; none has one twice.
static bool addresses_sound(const struct weir *weir)
{
    uint32_t further = 0;
    for (const struct weir_netif *netif = weir->netifs; netif; netif = netif->next)
        for (const struct weir_netif_address *a = address_next(&netif->address); a; a = address_next(a))
            if (++further > WEIR_CFG_ADDRESSES || address_find(netif, a->addr) != a)
                return false;
    return true;
}

void link_self_check_all(const struct weir *weir)
{
    if (weir->self_checks && (!neighbours_sound(weir) || !addresses_sound(weir)))
        __builtin_trap();
}

void link_self_check(struct weir *weir)
{
    const uint32_t polls = ++weir->self_checks;
    if (polls <= FIRST_CHECKS || polls % CHECK_EVERY == 0)
        link_self_check_all(weir);
    else if (!addresses_sound(weir))
        __builtin_trap();
}
