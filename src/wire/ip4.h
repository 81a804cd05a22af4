// SPDX-License-Identifier: BSD-2-Clause
// IPv4 header (RFC 791, 1122 §3.2, 2474, 3168).
#ifndef WIRE_IP4_H
#define WIRE_IP4_H

#include "base/checksum.h"

#define IP4_BYTES 20u
#define IP4_OPTION_END 0u  // these two are one byte; others have their length in the second
#define IP4_OPTION_NOP 1u
enum ip_protocol_number { IP_ICMP = 1, IP_IGMP = 2, IP_TCP = 6, IP_UDP = 17 };
enum ip4_flag { IP4_MORE_FRAGMENTS = 1, IP4_DONT_FRAGMENT = 2 };

struct ip4 {
    uint32_t source, destination;
    uint16_t total_length, id, fragment_offset /* bytes, a multiple of 8 */;
    uint8_t header_length /* bytes, 20 to 60 */, tos, ttl, protocol, flags;
};
enum ip4_verdict { IP4_OK, IP4_BAD_HEADER, IP4_BAD_CHECKSUM };
// `length`: bytes at hand from the header on. OK only when version, lengths and checksum are right
// and total_length <= length. The checksum is verified unless `trusted`.
enum ip4_verdict ip4_parse(const uint8_t *bytes, uint32_t length, bool trusted, struct ip4 *out);
// Writes a header of 20 bytes with its checksum. Fields of *header in host order; header_length is ignored.
void ip4_emit(uint8_t bytes[IP4_BYTES], const struct ip4 *header);
// Walks the options (RFC 1122 §3.2.1.8): false when malformed or when a source route is among them.
bool ip4_options_acceptable(const uint8_t *options, uint32_t length);
// Whether the checksum of a header without options, the case of nearly every packet, is right: five words, no loop.
static inline bool ip4_sum_good(const uint8_t *bytes)
{
    const uint64_t sum = (uint64_t)native32(bytes) + native32(bytes + 4) + native32(bytes + 8) + native32(bytes + 12) +
                         native32(bytes + 16);
    return checksum_words_good(sum);
}
// Sum of the pseudo-header for TCP and UDP (RFC 9293 §3.1).
static inline uint16_t ip4_pseudo_sum(uint32_t source, uint32_t destination, uint8_t protocol, uint32_t length)
{
    return checksum_word(checksum_fold_words((uint64_t)source + destination + protocol + length));
}

#endif
