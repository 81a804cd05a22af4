// SPDX-License-Identifier: BSD-2-Clause
// Network headers of packets that follow one another between the same two ends: they differ from the first, which went through all checks, in
// length, identification and checksum only. For src/tcp/lane.c.
#ifndef IP_LANE_H
#define IP_LANE_H

#include "base/checksum.h"
#include "weir/addr.h"

#define IP_LANE_BYTES 20u  // of header; one with options does not qualify

// Fills `mask` with ones where the next header must equal this one. false: such a header is not taken.
static inline bool ip_lane_mask(const uint8_t *header, uint8_t mask[IP_LANE_BYTES])
{
    memset(mask, 0xff, IP_LANE_BYTES);
    memset(mask + 2, 0, 4);
    memset(mask + 10, 0, 2);
    return header[0] == 0x45;
}
// What differs from the first is right too: the checksum, and a length that covers header and transport_bytes within `room` bytes. *length:
// bytes behind header and transport_bytes.
static inline bool ip_lane_good(const uint8_t *header, uint32_t room, uint32_t transport_bytes, uint32_t *length)
{
    const uint32_t total = get16(header + 2);
    *length = total - IP_LANE_BYTES - transport_bytes;
    return total >= IP_LANE_BYTES + transport_bytes && total <= room && checksum_fold_words(checksum_words(header, IP_LANE_BYTES)) == 0xffff;
}
// Sum of a header in host order, without length and checksum; ip_lane_length completes it for another length of the whole packet.
static inline uint32_t ip_lane_sum(const uint8_t *header)
{
    uint32_t sum = 0;
    for (uint32_t at = 0; at < IP_LANE_BYTES; at += 2)
        sum += at == 2 || at == 10 ? 0 : get16(header + at);
    return checksum_fold(sum);
}
static inline void ip_lane_length(uint8_t *header, uint32_t sum, uint32_t length)
{
    put16(header + 2, length);
    put16(header + 10, (uint16_t)~checksum_fold(sum + length));
}

#endif
