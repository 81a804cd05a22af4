// SPDX-License-Identifier: BSD-2-Clause
// What differs between address families: a const row each. All else in src/ip, and all above it, asks the row. IPv4 is
// the only one so far; while a build has one row alone, its members are constants to the compiler, and a call through it
// is a call of the function it names. (A family's input is an upcall of the link's: src/instance.c, `ethertypes`.)
#ifndef IP_FAMILY_H
#define IP_FAMILY_H

#include "link/ethernet.h"
#include "wire/ip4.h"

struct ip_out;

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

static const struct ip_family ip4_family = {
    .ethertype = ETHERTYPE_IP4,
    .header_bytes = IP4_BYTES,
    .mtu_min = 576,      // RFC 791 §3.1
    .mss_default = 536,  // RFC 9293 §3.7.1
    .transmit = ip4_output,
    .pseudo_sum = ip4_family_sum,
    .neighbour_ask = arp_ask,
    .group_mac = ip4_group_mac,
};

// The row of an address.
static inline const struct ip_family *ip_family_of(struct weir_addr address) { return (void)address, &ip4_family; }

#endif
