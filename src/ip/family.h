// SPDX-License-Identifier: BSD-2-Clause
// What differs between address families: a const row each. All else in src/ip, and all above it, asks the row. IPv4 is
// the only one so far; while a build has one row alone, its members are constants to the compiler, and a call through it
// is a call of the function it names. (A family's input is an upcall of the link's: src/instance.c, `ethertypes`.)
#ifndef IP_FAMILY_H
#define IP_FAMILY_H

#include "link/ethernet.h"
#include "wire/ip4.h"

struct ip_out;

struct ip_params {
    uint8_t ttl, tos;  // of the IP header
};
#define IP_PARAMS_DEFAULT ((struct ip_params){64, 0})

struct ip_family {
    uint16_t ethertype;
    uint8_t header_bytes;  // of a packet that ip_output makes, without options
    uint16_t mtu_min;      // what every host must take in one piece
    uint16_t mss_default;  // of a peer that sends no MSS option
    // ip_output through a valid path.
    enum weir_tx_verdict (*transmit)(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out,
                                     struct sock *waiter);
    // Sum of the pseudo-header; the transport's checksum field excluded.
    uint16_t (*pseudo_sum)(struct weir_addr source, struct weir_addr destination, uint8_t protocol, uint32_t length);
    // Asks for a neighbour's link address: at `mac`, or everybody where that is NULL.
    enum weir_tx_verdict (*neighbour_ask)(const struct neighbour *n, const uint8_t *mac);
    void (*group_mac)(struct weir_addr group, uint8_t mac[6]);  // the Ethernet address of a multicast group
    // Of a header without options or extensions, which the flow cache compares and writes (flow.h):
    void (*head_mask)(uint8_t *mask);                            // bits that are alike in all packets between two hosts
    uint32_t (*source_low)(const uint8_t *header);               // ip_addr_low of its source
    bool (*whole)(const uint8_t *header, uint32_t room);         // its lengths and checksum, where `room` bytes are at hand
    void (*read)(const uint8_t *header, struct packet *packet);  // length of the payload, protocol, TTL, type of service
    uint32_t (*fixed_sum)(const uint8_t *header);                // of what `fit` leaves alone, in host order; 0 without a checksum
    // Makes it that of a packet of `length` bytes.
    void (*fit)(uint8_t *header, uint32_t fixed_sum, struct ip_params params, uint32_t length);
};

enum weir_tx_verdict ip4_output(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out, struct sock *waiter);
static inline uint16_t ip4_family_sum(struct weir_addr source, struct weir_addr destination, uint8_t protocol, uint32_t length)
{
    return ip4_pseudo_sum(source.v4, destination.v4, protocol, length);
}
static inline void ip4_group_mac(struct weir_addr group, uint8_t mac[6])  // RFC 1112 §6.4: the low 23 bits
{
    put16(mac, 0x0100);
    put32(mac + 2, 0x5e000000u | (group.v4 & 0x7fffffu));
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
    return ((uint32_t)header[0] << 8) + get16(header + 4) + get16(header + 6) + header[9] + get16(header + 12) + get16(header + 14) +
           get16(header + 16) + get16(header + 18);
}
static inline void ip4_fit(uint8_t *header, uint32_t fixed_sum, struct ip_params params, uint32_t length)
{
    header[1] = params.tos;
    put16(header + 2, length);
    header[8] = params.ttl;
    put16(header + 10, (uint16_t)~checksum_fold(fixed_sum + params.tos + length + ((uint32_t)params.ttl << 8)));
}

static const struct ip_family ip4_family = {
    .ethertype = ETHERTYPE_IP4,
    .header_bytes = IP4_BYTES,
    .mtu_min = 576,      // RFC 791 §3.1
    .mss_default = 536,  // RFC 9293 §3.7.1
    .transmit = ip4_output,
    .pseudo_sum = ip4_family_sum,
    .neighbour_ask = arp_ask,
    .group_mac = ip4_group_mac,
    .head_mask = ip4_head_mask,
    .source_low = ip4_source_low,
    .whole = ip4_whole,
    .read = ip4_read,
    .fixed_sum = ip4_fixed_sum,
    .fit = ip4_fit,
};

// The row of an address.
static inline const struct ip_family *ip_family_of(struct weir_addr address) { return (void)address, &ip4_family; }
// The row of a packet, by the first byte of its header.
static inline const struct ip_family *ip_family_of_packet(const uint8_t *header) { return (void)header, &ip4_family; }

#endif
