// SPDX-License-Identifier: BSD-2-Clause
// Options in the IPv4 headers of what programs send.
#ifndef IP_OPTIONS_H
#define IP_OPTIONS_H

#include "ip/ip.h"
#include "wire/ip4.h"

#if WEIR_CFG_IP_OPTIONS
// Bytes that the options of a packet add to its header.
static inline uint32_t ip4_options_bytes(const struct ip_out *ip) { return ip->options ? ip->options->length : 0; }
// Puts them behind the header, whose length and checksum change. `later`: of a fragment that is not the first.
void ip4_options_emit(uint8_t *bytes, const struct ip_out *ip, bool later);
#else
static inline uint32_t ip4_options_bytes(const struct ip_out *ip) { return (void)ip, 0; }
static inline void ip4_options_emit(uint8_t *bytes, const struct ip_out *ip, bool later)
{
    (void)bytes, (void)ip, (void)later;
}
#endif

#endif
