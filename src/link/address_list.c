// SPDX-License-Identifier: BSD-2-Clause
// Further addresses of an interface: their places in the instance, adding and removing; and the lifetimes of all (RFC
// 4862 §5.5.4).
#include "base/addr.h"
#include "instance.h"
#include "link/address.h"
#include "link/handler.h"

static struct weir_netif_address *address_place(struct weir *weir)
{
    for (struct weir_netif_address *a = weir->addresses; a < weir->addresses + WEIR_CFG_ADDRESSES; a++)
        if (a->state == WEIR_ADDRESS_NONE)
            return a;
    return NULL;
}

static void address_unlink(struct weir_netif *netif, const struct weir_netif_address *a)
{
    struct weir_netif_address *before = &netif->address;
    while (before && before->next != a)
        before = before->next;
    if (before)  // not the first, which stays where it is
        before->next = a->next;
}

int address_add(struct weir_netif *netif, struct weir_addr address, uint8_t prefix_length, enum weir_address_mode mode,
                uint8_t origin)
{
    if (addr_foreign(address))
        return WEIR_NOT_SUPPORTED;
    if (weir_addr_is_any(address) || !address_acceptable(netif, address, prefix_length))
        return WEIR_INVALID;
    if (address_find(netif, address))
        return WEIR_IN_USE;
    struct weir_netif_address *a = address_place(netif->weir), *last = &netif->address;
    if (!a)
        return WEIR_NO_MEMORY;
    while (last->next)
        last = last->next;
    *a = (struct weir_netif_address){.state = WEIR_ADDRESS_NONE};
    address_originate(a, origin);
    last->next = a;
    const int error = address_take(netif, a, address, prefix_length, mode);
    if (error)
        last->next = NULL;
    return error;
}

int weir_netif_address_add(struct weir_netif *netif, struct weir_addr address, uint8_t prefix_length,
                           enum weir_address_mode mode)
{
    return address_add(netif, address, prefix_length, mode, 0);
}

int weir_netif_address_remove(struct weir_netif *netif, struct weir_addr address)
{
    struct weir_netif_address *a = address_find(netif, address);
    if (!a || weir_addr_is_any(address))
        return WEIR_NO_ADDRESS;
    address_unlink(netif, a);
    return address_take(netif, a, weir_addr_any(), 0, WEIR_ADDRESS_AT_ONCE);
}

void address_forget_further(struct weir_netif *netif)
{
    struct weir_netif_address *a = netif->address.next;
    netif->address.next = NULL;
    for (; a; a = a->next)
        a->state = WEIR_ADDRESS_NONE;
}

// --- lifetimes -------------------------------------------------------------------------------------------------------

int weir_netif_address_lifetimes(struct weir_netif *netif, struct weir_addr address, uint64_t preferred_until_us,
                                 uint64_t valid_until_us)
{
    struct weir_netif_address *a = address_find(netif, address);
    if (preferred_until_us > valid_until_us)
        return WEIR_INVALID;
    if (!a || weir_addr_is_any(address))
        return WEIR_NO_ADDRESS;
    a->preferred_until_us = preferred_until_us;
    a->valid_until_us = valid_until_us;
    slow_due(netif->weir, netif->weir->now_us);
    return WEIR_OK;
}

static void address_expire(struct weir *weir, struct weir_netif *netif, struct weir_addr address)
{
    (void)weir_netif_address_remove(netif, address);
    count(weir, WEIR_COUNT_ADDRESS_EXPIRED);
    handler_address(netif, address, WEIR_ADDRESS_EXPIRED);
}

uint64_t address_age(struct weir *weir, struct weir_netif *netif, struct weir_netif_address *a)
{
    if (a->valid_until_us <= weir->now_us) {
        address_expire(weir, netif, a->addr);
        return WEIR_NEVER;
    }
    const bool deprecated = a->preferred_until_us <= weir->now_us;
    if (deprecated != a->deprecated) {
        a->deprecated = deprecated;
        paths_changed(weir);
        if (deprecated)
            handler_address(netif, a->addr, WEIR_ADDRESS_DEPRECATED);
    }
    return deprecated ? a->valid_until_us : a->preferred_until_us;
}
