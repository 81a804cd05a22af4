// SPDX-License-Identifier: BSD-2-Clause
#include "wire/arp.h"

// Hardware type Ethernet (1), protocol type IPv4, addresses of 6 and 4 bytes: all that we speak.
static const uint8_t arp_kind[6] = {0, 1, 8, 0, 6, 4};

bool arp_parse(const uint8_t *bytes, uint32_t length, struct arp_packet *out)
{
    if (length < ARP_BYTES || memcmp(bytes, arp_kind, sizeof arp_kind) != 0)
        return false;
    out->operation = get16(bytes + 6);
    memcpy(out->sender_mac, bytes + 8, 6);
    out->sender = get32(bytes + 14);
    memcpy(out->target_mac, bytes + 18, 6);
    out->target = get32(bytes + 24);
    return true;
}

void arp_emit(uint8_t bytes[ARP_BYTES], const struct arp_packet *packet)
{
    memcpy(bytes, arp_kind, sizeof arp_kind);
    put16(bytes + 6, packet->operation);
    memcpy(bytes + 8, packet->sender_mac, 6);
    put32(bytes + 14, packet->sender);
    memcpy(bytes + 18, packet->target_mac, 6);
    put32(bytes + 24, packet->target);
}
