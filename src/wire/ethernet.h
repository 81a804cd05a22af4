// SPDX-License-Identifier: BSD-2-Clause
// Ethernet II with an optional 802.1Q tag.
#ifndef WIRE_ETHERNET_H
#define WIRE_ETHERNET_H

#include "base/bytes.h"

#define ETHERNET_BYTES 14u
#define VLAN_BYTES 4u
enum ethertype_number {
    ETHERTYPE_IP4 = 0x0800,
    ETHERTYPE_ARP = 0x0806,
    ETHERTYPE_VLAN = 0x8100,
    ETHERTYPE_IP6 = 0x86dd
};

struct ethernet {
    const uint8_t *destination, *source;  // 6 bytes each, in the frame
    uint16_t type;                        // after the tag, if there is one
    uint16_t vlan;                        // VID, 0 to 4094; 0 without a tag
    bool tagged;
};
// Returns the header's length (14 or 18), or 0 when `length` bytes are too few.
uint32_t ethernet_parse(const uint8_t *bytes, uint32_t length, struct ethernet *out);
// Writes the header so that it ends at `end`; returns its first byte. Tagged when header->tagged.
uint8_t *ethernet_emit(uint8_t *end, const struct ethernet *header);

#endif
