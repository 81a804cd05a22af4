// SPDX-License-Identifier: BSD-2-Clause
// Stateless address autoconfiguration (RFC 4862), as routers' advertisements and the interface bring it about.
#ifndef IP_SLAAC_H
#define IP_SLAAC_H

#include "ip/ip6.h"

#if WEIR_CFG_IP6
bool slaac_identifier_reserved(const uint8_t identifier[8]);  // RFC 5453
// A new address of the interface, which is probed before its use, or while it is used. NULL: there is no place.
struct weir_netif_address *slaac_address_begin(struct weir_netif *netif, struct weir_addr addr,
                                               enum weir_address_origin origin, uint8_t counter,
                                               uint64_t preferred_until_us, uint64_t valid_until_us);
void slaac_link_local(struct weir_netif *netif);  // makes the interface's link-local address, unless it has one
void slaac_forget(struct weir_netif *netif);      // removes all addresses that were not configured
// A router advertised a prefix of 64 bits to make addresses of; seconds, 0xffffffff: for ever; preferred_s is not more
// than valid_s.
void slaac_prefix(struct weir_netif *netif, const uint8_t prefix[16], uint32_t valid_s, uint32_t preferred_s);
#endif

#endif
