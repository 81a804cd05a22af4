// SPDX-License-Identifier: BSD-2-Clause
// The rows that are built, and which of them an address or a packet has.
#ifndef IP_FAMILIES_H
#define IP_FAMILIES_H

#include "weir/options.h"

#if WEIR_CFG_IP6
#include "ip/family.h"

extern const struct ip_family ip4_family, ip6_family;  // families.c
// The row of an address. (Of `any`: IPv6's.)
static inline const struct ip_family *ip_family_of(struct weir_addr address)
{
    return weir_addr_is_v4(address) ? &ip4_family : &ip6_family;
}
// The row of a packet, by the first byte of its header.
static inline const struct ip_family *ip_family_of_packet(const uint8_t *header)
{
    return header[0] >> 4 == 6 ? &ip6_family : &ip4_family;
}
#else
#include "ip/family4.h"

static const struct ip_family ip4_family = IP4_FAMILY_ROW;

static inline const struct ip_family *ip_family_of(struct weir_addr address) { return (void)address, &ip4_family; }
static inline const struct ip_family *ip_family_of_packet(const uint8_t *header) { return (void)header, &ip4_family; }
#endif

#endif
