// SPDX-License-Identifier: BSD-2-Clause
// IPv4's row (family.h).
#ifndef IP_FAMILY4_H
#define IP_FAMILY4_H

#include "ip/family.h"
#include "wire/ip4.h"

enum weir_tx_verdict ip4_output(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out,
                                struct sock *waiter);
static inline uint16_t ip4_family_sum(struct weir_addr source, struct weir_addr destination, uint8_t protocol,
                                      uint32_t length)
{
    return ip4_pseudo_sum(weir_addr_to_v4(source), weir_addr_to_v4(destination), protocol, length);
}
static inline void ip4_group_mac(struct weir_addr group, uint8_t mac[6])  // RFC 1112 §6.4: the low 23 bits
{
    put16(mac, 0x0100);
    put32(mac + 2, 0x5e000000u | (weir_addr_to_v4(group) & 0x7fffffu));
}

// Version, "no fragment", and both addresses.
static inline void ip4_head_mask(uint8_t *mask)
{
    memset(mask, 0, IP4_BYTES);
    mask[0] = 0xff;
    mask[6] = 0x3f;
    mask[7] = 0xff;
    memset(mask + 12, 0xff, 8);
}
static inline uint32_t ip4_source_low(const uint8_t *header) { return header[15]; }
static inline bool ip4_whole(const uint8_t *header, uint32_t room)
{
    const uint32_t length = get16(header + 2);
    return length >= IP4_BYTES && length <= room && ip4_sum_good(header);
}
static inline void ip4_read(const uint8_t *header, struct packet *packet)
{
    packet->length = get16(header + 2) - IP4_BYTES;
    packet->protocol = header[9];
    packet->ttl = header[8];
    packet->tos = header[1];
}
static inline uint32_t ip4_fixed_sum(const uint8_t *header)
{
    return ((uint32_t)header[0] << 8) + get16(header + 4) + get16(header + 6) + header[9] + get16(header + 12) +
           get16(header + 14) + get16(header + 16) + get16(header + 18);
}
static inline uint8_t ip4_ttl(uint8_t ttl) { return ttl == IP_TTL_UNASKED ? IP_TTL_DEFAULT : ttl; }
static inline void ip4_fit(uint8_t *header, uint32_t fixed_sum, struct ip_params params, uint32_t length)
{
    const uint8_t ttl = ip4_ttl(params.ttl);
    header[1] = params.tos;
    put16(header + 2, length);
    header[8] = ttl;
    put16(header + 10, (uint16_t)~checksum_fold(fixed_sum + params.tos + length + ((uint32_t)ttl << 8)));
}

static inline void ip4_reassembled(uint8_t *header, uint32_t header_length, uint32_t length, uint8_t tos)
{
    header[1] = tos;
    put16(header + 2, length);
    put16(header + 6, 0);
    put16(header + 10, 0);
    checksum_put(header + 10, checksum_sum_portable(header, header_length));
}

// The row. Smallest MTU: RFC 791 §3.1; default MSS: RFC 9293 §3.7.1.
#define IP4_FAMILY_ROW \
    { \
        .ethertype = ETHERTYPE_IP4, .header_bytes = IP4_BYTES, .head_words = 5, .mtu_min = 576, .mss_default = 536, \
        .transmit = ip4_output, .pseudo_sum = ip4_family_sum, .neighbour_ask = arp_ask, .group_mac = ip4_group_mac, \
        .head_mask = ip4_head_mask, .fixed_sum = ip4_fixed_sum, .reassembled = ip4_reassembled, \
    }

#endif
