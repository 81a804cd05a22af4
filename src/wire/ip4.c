// SPDX-License-Identifier: BSD-2-Clause
#include "wire/ip4.h"

#define IP4_OPTION_LOOSE_ROUTE 131u
#define IP4_OPTION_STRICT_ROUTE 137u

static enum ip4_verdict ip4_check_options_sum(const uint8_t *bytes, uint32_t header_length)
{
    return checksum_short(bytes, header_length) == 0xffff ? IP4_OK : IP4_BAD_CHECKSUM;
}

enum ip4_verdict ip4_parse(const uint8_t *bytes, uint32_t length, bool trusted, struct ip4 *out)
{
    if (length < IP4_BYTES)
        return IP4_BAD_HEADER;
    const uint32_t total_length = get16(bytes + 2);
    const uint32_t header_length = (bytes[0] & 0x0fu) * 4;
    if (bytes[0] != 0x45 && (bytes[0] >> 4 != 4 || header_length < IP4_BYTES))
        return IP4_BAD_HEADER;
    if (header_length > total_length || total_length > length)
        return IP4_BAD_HEADER;
    const uint32_t fragment = get16(bytes + 6);
    out->header_length = (uint8_t)header_length;
    out->tos = bytes[1];
    out->total_length = (uint16_t)total_length;
    out->id = get16(bytes + 4);
    out->flags = fragment >> 13 & (IP4_MORE_FRAGMENTS | IP4_DONT_FRAGMENT);
    out->fragment_offset = (uint16_t)(fragment << 3);
    out->ttl = bytes[8];
    out->protocol = bytes[9];
    out->source = get32(bytes + 12);
    out->destination = get32(bytes + 16);
    if (trusted)
        return IP4_OK;
    if (header_length == IP4_BYTES)
        return ip4_sum_good(bytes) ? IP4_OK : IP4_BAD_CHECKSUM;
    return ip4_check_options_sum(bytes, header_length);
}

void ip4_emit(uint8_t bytes[IP4_BYTES], const struct ip4 *header)
{
    const uint32_t fragment = (uint32_t)header->flags << 13 | header->fragment_offset >> 3;
    put16(bytes, 0x4500u | header->tos);
    put16(bytes + 2, header->total_length);
    put16(bytes + 4, header->id);
    put16(bytes + 6, fragment);
    put16(bytes + 8, (uint32_t)header->ttl << 8 | header->protocol);
    put32(bytes + 12, header->source);
    put32(bytes + 16, header->destination);
    // The values are in registers already: summing them in host order is cheaper than reading the bytes back.
    const uint32_t sum = (0x4500u | header->tos) + header->total_length + header->id + fragment +
                         ((uint32_t)header->ttl << 8 | header->protocol) + (header->source >> 16) +
                         (header->source & 0xffff) + (header->destination >> 16) + (header->destination & 0xffff);
    put16(bytes + 10, (uint16_t)~checksum_fold(sum));
}

/*@ requires \valid_read(options + (0 .. length - 1));
    assigns \nothing; */
bool ip4_options_acceptable(const uint8_t *options, uint32_t length)
{
    uint32_t at = 0;
    /*@ loop invariant at <= length;
        loop assigns at;
        loop variant length - at; */
    while (at < length && options[at] != IP4_OPTION_END) {
        if (options[at] == IP4_OPTION_NOP) {
            at++;
            continue;
        }
        // RFC 7126 §4.3, §4.4: a host that does not route drops what carries a source route, also a completed one.
        if (options[at] == IP4_OPTION_LOOSE_ROUTE || options[at] == IP4_OPTION_STRICT_ROUTE)
            return false;
        if (length - at < 2 || options[at + 1] < 2 || options[at + 1] > length - at)
            return false;
        at += options[at + 1];
    }
    return true;
}
