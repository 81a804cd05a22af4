// SPDX-License-Identifier: BSD-2-Clause
// What a DHCPv6 server leases: addresses and their times, out of its messages (RFC 9915 §18.2.10.1). Pure. In builds
// with IPv6 alone.
#ifndef APPS_DHCP6_LEASE_H
#define APPS_DHCP6_LEASE_H

#include "message.h"
#include "weir/linkage/apps.h"
#include "weir/port.h"

WEIR_BEGIN_DECLS

struct dhcp6_lease {
    struct dhcp6_duid server;
    struct dhcp6_address addresses[DHCP6_ADDRESSES];  // lifetimes as told
    uint8_t address_count, preference;
    uint32_t t1_s, t2_s;  // DHCP6_FOREVER: never
    uint64_t taken_us;    // when they were told
};

// WEIR_NEVER for DHCP6_FOREVER.
static inline uint64_t dhcp6_after_s(uint64_t from_us, uint32_t seconds)
{
    return seconds == DHCP6_FOREVER ? WEIR_NEVER : from_us + (uint64_t)seconds * 1000000u;
}

// Takes the addresses of a message that may be used. False: there are none.
bool dhcp6_lease_take(struct dhcp6_lease *lease, const struct dhcp6_message *message, uint64_t now_us);
// Addresses of the present lease that the message, of which `lease` was taken, does not name stay as they are.
void dhcp6_lease_keep(struct dhcp6_lease *lease, const struct dhcp6_lease *present,
                      const struct dhcp6_message *message);
bool dhcp6_lease_has(const struct dhcp6_lease *lease, struct weir_addr addr);
// When all addresses of the lease have ended.
uint64_t dhcp6_lease_end(const struct dhcp6_lease *lease);

WEIR_END_DECLS

#endif
