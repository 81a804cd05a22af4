// SPDX-License-Identifier: BSD-2-Clause
// What differs between address families: a const row each (family4.h, family6.h). All else in src/ip, and all above it,
// asks the row. In a build with one row alone its members are constants to the compiler, and a call through it is a
// call of the function it names; with both, they stand in families.c. (A family's input is an upcall of the link's:
// src/instance.c, `ethertypes`.)
#ifndef IP_FAMILY_H
#define IP_FAMILY_H

#include "link/ethernet.h"

struct ip_out;
struct weir_ip_options;

struct ip_params {
    uint8_t ttl, tos;  // of the IP header; of IPv6: hop limit, traffic class
#if WEIR_CFG_IP6
    uint32_t flow_label;  // of IPv6 (RFC 6437)
#endif
#if WEIR_CFG_IP_OPTIONS
    const struct weir_ip_options *options;  // of IPv4, padded; NULL: none
#endif
};
#define IP_TTL_DEFAULT 64u
// Nobody asked for any: over IPv6 it is what routers say then (RFC 4861 §6.3.4), otherwise the default.
#define IP_TTL_UNASKED (WEIR_CFG_IP6 ? 0u : IP_TTL_DEFAULT)
#define IP_PARAMS_DEFAULT ((struct ip_params){.ttl = IP_TTL_UNASKED})

struct ip_family {
    uint16_t ethertype;
    uint8_t header_bytes;  // of a packet that ip_output makes, without options
    uint8_t head_words;    // of eight bytes, in which the flow cache compares a frame's head, at most FLOW_WORDS
    uint16_t mtu_min;      // what every host must take in one piece
    uint16_t mss_default;  // of a peer that sends no MSS option
    // ip_output through a valid path.
    enum weir_tx_verdict (*transmit)(struct weir *weir, struct path *path, const struct ip_out *ip,
                                     struct packet_out *out, struct sock *waiter);
    // Sum of the pseudo-header; the transport's checksum field excluded.
    uint16_t (*pseudo_sum)(struct weir_addr source, struct weir_addr destination, uint8_t protocol, uint32_t length);
    // Asks for a neighbour's link address: at `mac`, or everybody where that is NULL.
    enum weir_tx_verdict (*neighbour_ask)(const struct neighbour *n, const uint8_t *mac);
    void (*group_mac)(struct weir_addr group, uint8_t mac[6]);  // the Ethernet address of a multicast group
    // Of a header without options or extensions, which the flow cache compares and writes (flow.h):
    void (*head_mask)(uint8_t *mask);              // bits that are alike in all packets between two hosts
    uint32_t (*fixed_sum)(const uint8_t *header);  // of what `fit` leaves alone, in host order; 0 without a checksum
    // Makes the header of a first fragment that of the whole datagram, of `length` bytes with it.
    void (*reassembled)(uint8_t *header, uint32_t header_length, uint32_t length, uint8_t tos);
};

#endif
