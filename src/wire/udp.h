// SPDX-License-Identifier: BSD-2-Clause
// UDP header (RFC 768).
#ifndef WIRE_UDP_H
#define WIRE_UDP_H

#include "base/bytes.h"

#define UDP_BYTES 8u
struct udp_header {
    uint16_t source, destination, length /* header and payload */, checksum_present;
};
// false: too short, or length field wrong
bool udp_parse(const uint8_t *bytes, uint32_t length, struct udp_header *out);
void udp_emit(uint8_t bytes[UDP_BYTES], const struct udp_header *header);  // checksum field zero

#endif
