// SPDX-License-Identifier: BSD-2-Clause
#include "wire/udp.h"

bool udp_parse(const uint8_t *bytes, uint32_t length, struct udp_header *out)
{
    if (length < UDP_BYTES)
        return false;
    out->source = get16(bytes);
    out->destination = get16(bytes + 2);
    out->length = get16(bytes + 4);
    out->checksum_present = get16(bytes + 6) != 0;
    return out->length >= UDP_BYTES && out->length <= length;
}

void udp_emit(uint8_t bytes[UDP_BYTES], const struct udp_header *header)
{
    put16(bytes, header->source);
    put16(bytes + 2, header->destination);
    put16(bytes + 4, header->length);
    put16(bytes + 6, 0);
}
