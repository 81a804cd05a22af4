// SPDX-License-Identifier: BSD-2-Clause
#include "ip/options.h"

#define OPTION_COPIED 0x80u  // RFC 791 §3.1: also in the fragments after the first

// What is not copied gives way to options that say nothing, so that all headers of a datagram are of one length.
static void uncopied_clear(uint8_t *options, uint32_t length)
{
    for (uint32_t at = 0; at < length && options[at] != IP4_OPTION_END;) {
        const uint32_t bytes = options[at] == IP4_OPTION_NOP ? 1 : options[at + 1];  // they are well-formed
        if (!(options[at] & OPTION_COPIED))
            memset(options + at, IP4_OPTION_NOP, bytes);
        at += bytes;
    }
}

void ip4_options_emit(uint8_t *bytes, const struct ip_out *ip, bool later)
{
    const uint32_t length = ip->options->length;
    memcpy(bytes + IP4_BYTES, ip->options->bytes, length);
    if (later)
        uncopied_clear(bytes + IP4_BYTES, length);
    bytes[0] = (uint8_t)(0x40 + (IP4_BYTES + length) / 4);
    put16(bytes + 10, 0);
    checksum_put(bytes + 10, checksum_sum_portable(bytes, IP4_BYTES + length));
}
