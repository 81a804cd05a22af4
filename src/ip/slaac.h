// SPDX-License-Identifier: BSD-2-Clause
// Stateless address autoconfiguration (RFC 4862), as routers' advertisements and the interface bring it about.
#ifndef IP_SLAAC_H
#define IP_SLAAC_H

#include "ip/ip6.h"

#if WEIR_CFG_IP6
void slaac_link_local(struct weir_netif *netif);  // makes the interface's link-local address, unless it has one
void slaac_forget(struct weir_netif *netif);      // removes all addresses that were not configured
// A router advertised a prefix of 64 bits to make addresses of; seconds, 0xffffffff: for ever; preferred_s is not more
// than valid_s.
void slaac_prefix(struct weir_netif *netif, const uint8_t prefix[16], uint32_t valid_s, uint32_t preferred_s);
#endif

#endif
