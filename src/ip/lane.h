// SPDX-License-Identifier: BSD-2-Clause
// Network headers of packets that follow one another between the same two ends: they differ from the first, which went through all checks,
// in length, identification and checksum only. For src/tcp/lane.c.
#ifndef IP_LANE_H
#define IP_LANE_H

#include "base/checksum.h"
#include "weir/addr.h"

#define IP_LANE_BYTES 20u       // of header; one with options does not qualify
#define IP_LANE_RENEW_MS 1000u  // a frame goes the long way so often, to have the neighbour looked after

static inline bool ip_lane_fits(const uint8_t *header) { return header[0] == 0x45; }
// A header without options, before so many bytes of the protocol.
static inline bool ip_lane_carries(const uint8_t *header, uint8_t protocol, uint32_t length)
{
    return header[9] == protocol && get16(header + 2) == IP_LANE_BYTES + length;
}
static inline bool ip_lane_between(const uint8_t *header, struct weir_addr source, struct weir_addr destination)
{
    return get32(header + 12) == source.v4 && get32(header + 16) == destination.v4;
}
// The pseudo-header's sum in native order, not folded, to be added to others like it: the addresses as they lie there.
static inline uint64_t ip_lane_pseudo(const uint8_t *header, uint8_t protocol, uint32_t length)
{
    return (uint64_t)native32(header + 12) + native32(header + 16) + checksum_word((uint16_t)(protocol + length));
}
// … and in host order, of the addresses themselves.
static inline uint64_t ip_lane_pseudo_host(struct weir_addr source, struct weir_addr destination, uint8_t protocol, uint32_t length)
{
    return (uint64_t)source.v4 + destination.v4 + protocol + length;
}
// Sum of a complete header in host order, without length and checksum: what these two leave of the whole, which is all ones.
static inline uint16_t ip_lane_sum(const uint8_t *header)
{
    return checksum_fold((uint16_t)~get16(header + 2) + (uint32_t)(uint16_t)~get16(header + 10));
}
// The same, without the identification, in native order: of what all headers that follow have alike.
static inline uint16_t ip_lane_fixed_sum(const uint8_t *header)
{
    return checksum_word(checksum_fold(ip_lane_sum(header) + (uint32_t)(uint16_t)~get16(header + 4)));
}
// Whether a header differs from an earlier one only in what may differ, and is right. Four words at the most come to a multiple of 65535
// below 2^18, the halves of which always add up to 65535 itself.
static inline bool ip_lane_follows(const uint8_t *earlier, const uint8_t *header, uint32_t fixed_sum)
{
    const uint32_t sum = (uint32_t)native16(header + 2) + native16(header + 4) + native16(header + 10) + fixed_sum;
    return native16(header) == native16(earlier) && native32(header + 6) == native32(earlier + 6) &&
           native64(header + 12) == native64(earlier + 12) && (sum & 0xffff) + (sum >> 16) == 0xffff;
}
static inline uint32_t ip_lane_payload(const uint8_t *header) { return get16(header + 2) - IP_LANE_BYTES; }
// Completes a header with ip_lane_sum for another length of the whole packet.
static inline void ip_lane_length(uint8_t *header, uint32_t sum, uint32_t length)
{
    put16(header + 2, length);
    put16(header + 10, (uint16_t)~checksum_fold(sum + length));
}

#endif
