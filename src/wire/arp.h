// SPDX-License-Identifier: BSD-2-Clause
// ARP for IPv4 over Ethernet (RFC 826).
#ifndef WIRE_ARP_H
#define WIRE_ARP_H

#include "base/bytes.h"

#define ARP_BYTES 28u
enum arp_operation { ARP_REQUEST = 1, ARP_REPLY = 2 };

struct arp_packet {
    uint16_t operation;
    uint8_t sender_mac[6], target_mac[6];
    uint32_t sender, target;  // IPv4, host order
};
// false: too short, or not Ethernet/IPv4
bool arp_parse(const uint8_t *bytes, uint32_t length, struct arp_packet *out);
void arp_emit(uint8_t bytes[ARP_BYTES], const struct arp_packet *packet);

#endif
