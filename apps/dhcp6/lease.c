// SPDX-License-Identifier: BSD-2-Clause
#include "dhcp6/lease.h"

#if WEIR_CFG_IP6

#define SECOND_US 1000000u

// §14.2: T1 and T2 of 0 are the client's choice: 0.5 and 0.8 of the shortest preferred lifetime.
static void times_choose(struct dhcp6_lease *lease)
{
    uint32_t shortest_s = DHCP6_FOREVER;
    for (uint32_t i = 0; i < lease->address_count; i++)
        if (lease->addresses[i].preferred_s < shortest_s && lease->addresses[i].preferred_s > 0)
            shortest_s = lease->addresses[i].preferred_s;
    const bool forever = shortest_s == DHCP6_FOREVER;
    if (lease->t1_s == 0)
        lease->t1_s = forever ? DHCP6_FOREVER : shortest_s / 2;
    if (lease->t2_s == 0)
        lease->t2_s = forever ? DHCP6_FOREVER : (uint32_t)((uint64_t)shortest_s * 4 / 5);
    if (lease->t1_s > lease->t2_s)
        lease->t1_s = lease->t2_s;
}

bool dhcp6_lease_take(struct dhcp6_lease *lease, const struct dhcp6_message *message, uint64_t now_us)
{
    *lease = (struct dhcp6_lease){.server = message->server,
                                  .preference = message->preference,
                                  .t1_s = message->t1_s,
                                  .t2_s = message->t2_s,
                                  .taken_us = now_us};
    if (!message->ia || message->ia_status != DHCP6_SUCCESS || message->status != DHCP6_SUCCESS)
        return false;
    for (uint32_t i = 0; i < message->address_count; i++)
        if (message->addresses[i].status == DHCP6_SUCCESS && message->addresses[i].valid_s > 0)
            lease->addresses[lease->address_count++] = message->addresses[i];
    times_choose(lease);
    return lease->address_count > 0;
}

static bool addresses_have(const struct dhcp6_address *addresses, uint32_t count, struct weir_addr addr)
{
    for (uint32_t i = 0; i < count; i++)
        if (weir_addr_equal(addresses[i].addr, addr))
            return true;
    return false;
}

bool dhcp6_lease_has(const struct dhcp6_lease *lease, struct weir_addr addr)
{
    return addresses_have(lease->addresses, lease->address_count, addr);
}

static uint32_t seconds_left(uint32_t seconds, uint64_t passed_s)
{
    return seconds == DHCP6_FOREVER ? seconds : seconds > passed_s ? (uint32_t)(seconds - passed_s) : 0;
}

void dhcp6_lease_keep(struct dhcp6_lease *lease, const struct dhcp6_lease *present, const struct dhcp6_message *message)
{
    const uint64_t passed_s = (lease->taken_us - present->taken_us) / SECOND_US;
    for (uint32_t i = 0; i < present->address_count && lease->address_count < DHCP6_ADDRESSES; i++) {
        struct dhcp6_address address = present->addresses[i];
        address.preferred_s = seconds_left(address.preferred_s, passed_s);
        address.valid_s = seconds_left(address.valid_s, passed_s);
        if (address.valid_s > 0 && !addresses_have(message->addresses, message->address_count, address.addr))
            lease->addresses[lease->address_count++] = address;
    }
}

uint64_t dhcp6_lease_end(const struct dhcp6_lease *lease)
{
    uint64_t end_us = 0;
    for (uint32_t i = 0; i < lease->address_count; i++) {
        const uint64_t valid_us = dhcp6_after_s(lease->taken_us, lease->addresses[i].valid_s);
        end_us = valid_us > end_us ? valid_us : end_us;
    }
    return end_us;
}

#endif
