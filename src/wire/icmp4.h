// SPDX-License-Identifier: BSD-2-Clause
// ICMP for IPv4 (RFC 792, 1122 §3.2.2, 1191).
#ifndef WIRE_ICMP4_H
#define WIRE_ICMP4_H

#include "base/bytes.h"

#define ICMP4_BYTES 8u
enum icmp4_type {
    ICMP4_ECHO_REPLY = 0,
    ICMP4_UNREACHABLE = 3,
    ICMP4_SOURCE_QUENCH = 4,
    ICMP4_REDIRECT = 5,
    ICMP4_ECHO = 8,
    ICMP4_TIME_EXCEEDED = 11,
    ICMP4_PARAMETER = 12
};
enum icmp4_unreachable {
    ICMP4_NET = 0,
    ICMP4_HOST = 1,
    ICMP4_PROTOCOL = 2,
    ICMP4_PORT = 3,
    ICMP4_FRAGMENTATION_NEEDED = 4,
    ICMP4_SOURCE_ROUTE_FAILED = 5
};

struct icmp4 {
    uint8_t type, code;
    uint16_t id, sequence;  // echo
    uint16_t next_hop_mtu;  // unreachable, code 4 (the low half of the second word)
    uint32_t rest;          // the second word as it stands
};
// false: shorter than 8 bytes. Checksum: the caller's
bool icmp4_parse(const uint8_t *bytes, uint32_t length, struct icmp4 *out);
void icmp4_emit(uint8_t bytes[ICMP4_BYTES], const struct icmp4 *header);  // type, code, rest; checksum field zero

#endif
