// SPDX-License-Identifier: BSD-2-Clause
// Options of IPv4 headers: those that programs send, and those that what arrives has for them.
#ifndef IP_OPTIONS_H
#define IP_OPTIONS_H

#include "ip/ip.h"
#include "wire/ip4.h"

#if WEIR_CFG_IP_OPTIONS
#include "weir/socket.h"

// What a program wants sent, padded with IP4_OPTION_END. WEIR_INVALID: longer than WEIR_IP_OPTIONS_MAX, malformed, or
// with a source route; *options is as it was.
int ip4_options_take(struct weir_ip_options *options, const uint8_t *bytes, uint32_t length);
// Those that a packet came with, for a program; of a packet of IPv6, none. In a record of the way, or of times, stands
// this host, too (RFC 1122 §3.2.1.8 (d)).
void ip4_options_note(struct weir_ip_options *options, const struct packet *packet);
// Bytes that the options of a packet add to its header.
static inline uint32_t ip4_options_bytes(const struct ip_out *ip) { return ip->options ? ip->options->length : 0; }
// Puts them behind the header, whose length and checksum change. `later`: of a fragment that is not the first.
void ip4_options_emit(const struct weir_netif *netif, uint8_t *bytes, const struct ip_out *ip, bool later);
static inline void ip4_options_put(struct ip_out *ip, struct ip_params params) { ip->options = params.options; }
#else
static inline uint32_t ip4_options_bytes(const struct ip_out *ip) { return (void)ip, 0; }
static inline void ip4_options_emit(const struct weir_netif *netif, uint8_t *bytes, const struct ip_out *ip, bool later)
{
    (void)netif, (void)bytes, (void)ip, (void)later;
}
static inline void ip4_options_put(struct ip_out *ip, struct ip_params params) { (void)ip, (void)params; }
#endif

#endif
