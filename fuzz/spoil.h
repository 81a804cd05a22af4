// SPDX-License-Identifier: BSD-2-Clause
// What may be spoilt in a segment on its way to the stack, for the fuzzer of the fast paths (paths.c): one thing a
// frame, told by two bytes of the input.
#ifndef FUZZ_SPOIL_H
#define FUZZ_SPOIL_H

#include <string.h>

#include "weir/netif.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

// What is spoilt in a segment on its way; most are not.
struct spoilt {
    uint8_t what, how;
};

// Returns the frame's length as the driver says it.
static inline uint32_t spoil_frame(struct spoilt spoilt, uint8_t *frame, uint32_t link_bytes, uint32_t length,
                                   struct weir_frame *meta)
{
    uint8_t *ip = frame + link_bytes;
    switch (spoilt.what) {
    // the header, its checksum now wrong
    case 1: ip[spoilt.how % 20] ^= (uint8_t)(1u << (spoilt.how >> 5)); break;
    case 2:
        ip[20 + spoilt.how % 32] ^= (uint8_t)(1u << (spoilt.how >> 5));
        break;  // the segment
    // the link header (or whatever comes first)
    case 3: frame[spoilt.how % 14] ^= (uint8_t)(1u << (spoilt.how >> 5)); break;
    case 4: meta->checksum = WEIR_CHECKSUM_VERIFIED; break;
    case 5: {  // padding
        const uint32_t more = 1 + spoilt.how % 30;
        memset(frame + length, spoilt.how & 1 ? 0xff : 0, more);
        return length + more;
    }
    case 6: return length - spoilt.how % 16;
    case 7:
        if (link_bytes)
            memset(frame, 0xff, 6);
        break;
    default: break;
    }
    return length;
}

static inline void spoil_header(struct spoilt spoilt, struct ip4 *ip, const uint32_t others[4])
{
    switch (spoilt.what) {
    case 8: ip->tos = spoilt.how; break;
    case 9: ip->ttl = spoilt.how; break;
    case 10: ip->flags = spoilt.how & 7; break;
    case 11: ip->fragment_offset = spoilt.how; break;
    case 12: ip->id = (uint16_t)(spoilt.how * 257); break;
    case 13: ip->source = others[spoilt.how & 3]; break;
    case 14: ip->source = spoilt.how & 1 ? ip->destination : ip->source ^ 1u << (spoilt.how >> 3); break;
    case 15: ip->destination = spoilt.how & 1 ? 0xffffffff : ip->destination ^ 1u << (spoilt.how >> 3); break;
    case 16: ip->total_length = (uint16_t)(ip->total_length - spoilt.how % 40); break;
    case 17: ip->protocol = spoilt.how; break;
    default: break;
    }
}

static inline void spoil_segment(struct spoilt spoilt, struct tcp_segment *segment)
{
    switch (spoilt.what) {
    case 18: segment->seq += (uint32_t)(int32_t)(int8_t)spoilt.how; break;
    case 19: segment->ack += (uint32_t)(int32_t)(int8_t)spoilt.how; break;
    case 20: segment->window = spoilt.how; break;
    case 21: segment->window = 0; break;
    case 22: segment->flags ^= spoilt.how; break;
    case 23: segment->options.ts_value += (uint32_t)(int32_t)(int8_t)spoilt.how << (spoilt.how & 1 ? 24 : 0); break;
    case 24: segment->options.ts_echo += (uint32_t)(int32_t)(int8_t)spoilt.how; break;
    case 25: segment->options.seen ^= TCP_SEEN_TIMESTAMPS; break;
    case 26: segment->seq += 0x40000000u * spoilt.how; break;
    case 27: segment->ack += 0x40000000u * spoilt.how; break;
    case 28: segment->accurate = spoilt.how & 1; break;
    case 29:
        segment->options.sack_count = 1;
        segment->options.sack[0].left = segment->ack + spoilt.how % 8;
        segment->options.sack[0].right = segment->options.sack[0].left + 1 + spoilt.how / 8;
        break;
    default: break;
    }
}

#endif
