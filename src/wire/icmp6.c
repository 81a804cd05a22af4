// SPDX-License-Identifier: BSD-2-Clause
#include "wire/icmp6.h"

bool icmp6_parse(const uint8_t *bytes, uint32_t length, struct icmp6 *out)
{
    if (length < ICMP6_BYTES)
        return false;
    out->type = bytes[0];
    out->code = bytes[1];
    out->id = get16(bytes + 4);
    out->sequence = get16(bytes + 6);
    out->rest = get32(bytes + 4);
    return true;
}

void icmp6_emit(uint8_t bytes[ICMP6_BYTES], const struct icmp6 *header)
{
    bytes[0] = header->type;
    bytes[1] = header->code;
    put16(bytes + 2, 0);
    put32(bytes + 4, header->rest);
}

uint16_t icmp6_sum(const uint8_t *message, uint32_t length, const uint8_t *source, const uint8_t *destination)
{
    return checksum_add(ip6_pseudo_sum(source, destination, IP6_ICMP, length), checksum_short(message, length));
}

void icmp6_checksum_put(uint8_t *message, uint32_t length, const uint8_t *source, const uint8_t *destination)
{
    put16(message + 2, 0);
    checksum_put(message + 2, icmp6_sum(message, length, source, destination));
}
