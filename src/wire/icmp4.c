// SPDX-License-Identifier: BSD-2-Clause
#include "wire/icmp4.h"

bool icmp4_parse(const uint8_t *bytes, uint32_t length, struct icmp4 *out)
{
    if (length < ICMP4_BYTES)
        return false;
    out->type = bytes[0];
    out->code = bytes[1];
    out->id = get16(bytes + 4);
    out->sequence = get16(bytes + 6);
    out->next_hop_mtu = out->sequence;
    out->rest = get32(bytes + 4);
    return true;
}

void icmp4_emit(uint8_t bytes[ICMP4_BYTES], const struct icmp4 *header)
{
    bytes[0] = header->type;
    bytes[1] = header->code;
    put16(bytes + 2, 0);
    put32(bytes + 4, header->rest);
}
