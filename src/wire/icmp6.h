// SPDX-License-Identifier: BSD-2-Clause
// ICMPv6 (RFC 4443): header, echo, errors. Neighbour Discovery is nd.h, Multicast Listener Discovery mld.h.
#ifndef WIRE_ICMP6_H
#define WIRE_ICMP6_H

#include "wire/ip6.h"

#define ICMP6_BYTES 8u
#define ICMP6_HOP_LIMIT_ON_LINK 255u  // of Neighbour Discovery: no router has touched it
enum icmp6_type {
    ICMP6_UNREACHABLE = 1,
    ICMP6_TOO_BIG = 2,
    ICMP6_TIME_EXCEEDED = 3,
    ICMP6_PARAMETER = 4,  // code: an ip6_parameter_code
    ICMP6_ECHO = 128,
    ICMP6_ECHO_REPLY = 129,
    ICMP6_MLD_QUERY = 130,
    ICMP6_MLD_REPORT_V1 = 131,
    ICMP6_MLD_DONE = 132,
    ICMP6_ROUTER_SOLICITATION = 133,
    ICMP6_ROUTER_ADVERTISEMENT = 134,
    ICMP6_NEIGHBOUR_SOLICITATION = 135,
    ICMP6_NEIGHBOUR_ADVERTISEMENT = 136,
    ICMP6_REDIRECT = 137,
    ICMP6_MLD_REPORT_V2 = 143
};
enum icmp6_unreachable_code {
    ICMP6_NO_ROUTE = 0,
    ICMP6_ADMIN = 1,
    ICMP6_BEYOND_SCOPE = 2,
    ICMP6_ADDRESS = 3,
    ICMP6_PORT = 4,
    ICMP6_SOURCE_POLICY = 5,
    ICMP6_REJECT_ROUTE = 6
};
enum icmp6_time_code { ICMP6_HOP_LIMIT = 0, ICMP6_REASSEMBLY = 1 };

struct icmp6 {
    uint8_t type, code;
    uint16_t id, sequence;  // of an echo
    uint32_t rest;          // the second word as it stands: the MTU of Too Big, the pointer of a Parameter Problem
};
bool icmp6_parse(const uint8_t *bytes, uint32_t length, struct icmp6 *out);  // false: shorter than 8 bytes
void icmp6_emit(uint8_t bytes[ICMP6_BYTES], const struct icmp6 *header);     // type, code, rest; checksum field zero
// RFC 4443 §2.1: those that are never answered with an error, and are for the transport even if the type is not
// known.
static inline bool icmp6_is_error(uint8_t type) { return type < 128; }
// The sum over pseudo-header and message, 0xffff of one that is right; and the checksum of one that is in one piece.
uint16_t icmp6_sum(const uint8_t *message, uint32_t length, const uint8_t *source, const uint8_t *destination);
void icmp6_checksum_put(uint8_t *message, uint32_t length, const uint8_t *source, const uint8_t *destination);

// How a message came that is valid only from the own link: what its IPv6 header said, and the headers between.
struct icmp6_arrival {
    const uint8_t *source, *destination;
    uint8_t hop_limit;
    bool fragmented;    // behind a fragment header, also an atomic one
    bool router_alert;  // behind a hop-by-hop header with an alert for MLD
};

#endif
