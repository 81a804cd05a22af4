// SPDX-License-Identifier: BSD-2-Clause
// The rows that are built, and which of them an address or a packet has.
#ifndef IP_FAMILIES_H
#define IP_FAMILIES_H

#include "weir/options.h"

#define IP_FAMILIES (WEIR_CFG_IP4 + WEIR_CFG_IP6)
// Multicast groups are joined: by sockets, and for the addresses by which IPv6's neighbours are solicited.
#define IP_GROUPS (WEIR_CFG_IGMP || WEIR_CFG_IP6)

#if WEIR_CFG_IP4 && WEIR_CFG_IP6
#include "ip/family4.h"
#include "ip/family6.h"

extern const struct ip_family ip4_family, ip6_family;  // families.c
// The row of an address. (Of `any`: IPv6's.)
static inline const struct ip_family *ip_family_of(struct weir_addr address)
{
    return weir_addr_is_v4(address) ? &ip4_family : &ip6_family;
}
// Sum of the pseudo-header; the transport's checksum field excluded.
static inline uint16_t ip_pseudo_sum(struct weir_addr source, struct weir_addr destination, uint8_t protocol,
                                     uint32_t length)
{
    return weir_addr_is_v4(destination) ? ip4_family_sum(source, destination, protocol, length)
                                        : ip6_family.pseudo_sum(source, destination, protocol, length);
}

// What the flow cache asks of each packet it asks inline, by the first byte of the header.
static inline bool ip_is_version6(const uint8_t *header) { return header[0] >> 4 == 6; }
static inline uint32_t ip_source_low(const uint8_t *header)
{
    return ip_is_version6(header) ? ip6_source_low(header) : ip4_source_low(header);
}
static inline bool ip_whole(const uint8_t *header, uint32_t room)
{
    return ip_is_version6(header) ? ip6_whole(header, room) : ip4_whole(header, room);
}
static inline void ip_read(const uint8_t *header, struct packet *packet)
{
    if (ip_is_version6(header))
        ip6_read(header, packet);
    else
        ip4_read(header, packet);
}
static inline void ip_fit(const struct weir_netif *netif, uint8_t *header, uint32_t fixed_sum, struct ip_params params,
                          uint32_t length)
{
    if (ip_is_version6(header))
        ip6_fit(netif, header, params, length);
    else
        ip4_fit(header, fixed_sum, params, length);
}
#elif WEIR_CFG_IP4
#include "ip/family4.h"

static const struct ip_family ip4_family = IP4_FAMILY_ROW;

static inline const struct ip_family *ip_family_of(struct weir_addr address) { return (void)address, &ip4_family; }
static inline uint16_t ip_pseudo_sum(struct weir_addr source, struct weir_addr destination, uint8_t protocol,
                                     uint32_t length)
{
    return ip4_family_sum(source, destination, protocol, length);
}
static inline bool ip_is_version6(const uint8_t *header) { return (void)header, false; }
static inline uint32_t ip_source_low(const uint8_t *header) { return ip4_source_low(header); }
static inline bool ip_whole(const uint8_t *header, uint32_t room) { return ip4_whole(header, room); }
static inline void ip_read(const uint8_t *header, struct packet *packet) { ip4_read(header, packet); }
static inline void ip_fit(const struct weir_netif *netif, uint8_t *header, uint32_t fixed_sum, struct ip_params params,
                          uint32_t length)
{
    (void)netif;
    ip4_fit(header, fixed_sum, params, length);
}
#else
#include "ip/family6.h"

static const struct ip_family ip6_family = IP6_FAMILY_ROW;

static inline const struct ip_family *ip_family_of(struct weir_addr address) { return (void)address, &ip6_family; }
static inline uint16_t ip_pseudo_sum(struct weir_addr source, struct weir_addr destination, uint8_t protocol,
                                     uint32_t length)
{
    return ip6_family_sum(source, destination, protocol, length);
}
static inline bool ip_is_version6(const uint8_t *header) { return (void)header, true; }
static inline uint32_t ip_source_low(const uint8_t *header) { return ip6_source_low(header); }
static inline bool ip_whole(const uint8_t *header, uint32_t room) { return ip6_whole(header, room); }
static inline void ip_read(const uint8_t *header, struct packet *packet) { ip6_read(header, packet); }
static inline void ip_fit(const struct weir_netif *netif, uint8_t *header, uint32_t fixed_sum, struct ip_params params,
                          uint32_t length)
{
    (void)fixed_sum;
    ip6_fit(netif, header, params, length);
}
#endif

#endif
