// SPDX-License-Identifier: BSD-2-Clause
#include "wire/igmp.h"

#define IGMP_TENTH_MS 100u  // the unit of maximum response times

// RFC 9776 §4.1.1: from 128 up, a number of four bits with an exponent of three.
static uint32_t igmp_response_ms_v3(uint8_t code)
{
    const uint32_t tenths = code < 128 ? code : ((code & 0x0fu) | 0x10u) << ((code >> 4 & 7u) + 3);
    return tenths * IGMP_TENTH_MS;
}

bool igmp_parse(const uint8_t *bytes, uint32_t length, struct igmp *out)
{
    if (length < IGMP_BYTES)
        return false;
    out->type = bytes[0];
    out->max_response_ms = bytes[1] * IGMP_TENTH_MS;
    out->version = 0;
    out->group = get32(bytes + 4);
    out->source_count = 0;
    if (out->type != IGMP_QUERY)
        return true;
    // RFC 9776 §7.1: the version is told by length and code; 9 to 11 bytes are no query.
    if (length == IGMP_BYTES) {
        out->version = bytes[1] ? 2 : 1;
        return true;
    }
    if (length < IGMP_QUERY_V3_BYTES || (length - IGMP_QUERY_V3_BYTES) / 4 < get16(bytes + 10))
        return false;
    out->version = 3;
    out->source_count = get16(bytes + 10);
    out->max_response_ms = igmp_response_ms_v3(bytes[1]);
    return true;
}

void igmp_emit(uint8_t bytes[IGMP_BYTES], const struct igmp *message)
{
    bytes[0] = message->type;
    bytes[1] = (uint8_t)(message->max_response_ms / IGMP_TENTH_MS);
    put16(bytes + 2, 0);
    put32(bytes + 4, message->group);
}
