// SPDX-License-Identifier: BSD-2-Clause
#include "rtstream/rtp.h"

#include <string.h>

#include "bytes.h"

#define VERSION 2u
// RFC 2198 §3: the timestamp of a redundant block is told as so many ticks before the packet's
#define OFFSET_MOST 0x3fffu
#define DROPOUT_MOST 3000u  // RFC 3550 A.1: a larger step forward is none
#define MISORDER_MOST 100u  // RFC 3550 A.1: nor is a larger step back

// --- the source ------------------------------------------------------------------------------------------------------

void rtp_source_init(struct rtp_source *s, uint32_t ssrc, uint16_t sequence, uint32_t timestamp, uint32_t step,
                     bool redundant)
{
    s->ssrc = ssrc;
    s->sequence = sequence;
    s->timestamp = timestamp;
    s->step = step;
    s->redundant = redundant;
    s->begun = false;
    s->last_length = 0;
}

uint32_t rtp_source_packet(struct rtp_source *s, const uint8_t *frame, uint32_t length, uint8_t *packet, uint32_t room)
{
    const bool again = s->redundant && s->last_length && s->step <= OFFSET_MOST;
    const uint32_t head = RTP_BYTES + (s->redundant ? 1u : 0u) + (again ? 4u : 0u), old = again ? s->last_length : 0;
    if (room < head + old + length)
        return 0;
    packet[0] = VERSION << 6;
    packet[1] =
        // the marker begins a talkspurt (RFC 3551 §4.1)
        (uint8_t)((s->redundant ? RTP_REDUNDANT : RTP_PCMU) | (s->begun ? 0u : 0x80u));
    put16(packet + 2, s->sequence);
    put32(packet + 4, s->timestamp);
    put32(packet + 8, s->ssrc);
    uint8_t *p = packet + RTP_BYTES;
    if (again) {  // RFC 2198 §3: F, payload type, 14 bits of offset, 10 of length
        put32(p, 1u << 31 | RTP_PCMU << 24 | s->step << 10 | old);
        p += 4;
    }
    if (s->redundant)
        *p++ = RTP_PCMU;
    if (old)
        memcpy(p, s->last, old);
    memcpy(p + old, frame, length);
    s->last_length = length <= RTP_BLOCK_MOST ? length : 0;
    memcpy(s->last, frame, s->last_length);
    s->begun = true;
    s->sequence++;
    s->timestamp += s->step;
    return head + old + length;
}

// --- the player ------------------------------------------------------------------------------------------------------

void rtp_player_init(struct rtp_player *p) { memset(p, 0, sizeof *p); }

// Where the payload lies; false: not a packet of RTP.
static bool payload_of(const uint8_t *packet, uint32_t length, uint32_t *at, uint32_t *bytes)
{
    if (length < RTP_BYTES || packet[0] >> 6 != VERSION)
        return false;
    uint32_t begin = RTP_BYTES + 4u * (packet[0] & 15u);
    if (packet[0] & 0x10) {  // an extension (§5.3.1)
        if (length < begin + 4)
            return false;
        begin += 4u + 4u * get16(packet + begin + 2);
    }
    if (length < begin)
        return false;
    const uint32_t padding = packet[0] & 0x20 ? packet[length - 1] : 0;
    if (padding > length - begin || (packet[0] & 0x20 && !padding))
        return false;
    *at = begin;
    *bytes = length - begin - padding;
    return true;
}

// RFC 3550 A.1, without the probation of new sources.
static bool sequence_take(struct rtp_player *p, uint16_t sequence)
{
    const uint16_t step = (uint16_t)(sequence - (uint16_t)p->highest);
    if (step < DROPOUT_MOST)
        p->highest += step;
    else if (step <= 65536u - MISORDER_MOST)
        return false;
    p->received++;
    return true;
}

// A.8: J += (|D| - J) / 16, in 16ths of a tick.
static void jitter_take(struct rtp_player *p, uint32_t transit)
{
    const int32_t d = (int32_t)(transit - p->transit);
    p->transit = transit;
    p->jitter16 += (uint32_t)(d < 0 ? -d : d) - ((p->jitter16 + 8) >> 4);
}

// RFC 2198 §3: headers of all blocks, then their bytes in the same order; the last is the primary one, and its length
// is what is left.
static int blocks_of(const uint8_t *packet, uint32_t at, uint32_t bytes, uint32_t timestamp, struct rtp_frame *frames)
{
    const uint8_t *p = packet + at, *const end = p + bytes;
    int count = 1;
    for (; end - p >= 4 && *p & 0x80; p += 4) {
        if (count == RTP_FRAMES)
            return -1;
        const uint32_t word = get32(p);
        frames[count++] = (struct rtp_frame){.timestamp = timestamp - (word >> 10 & OFFSET_MOST),
                                             .payload_type = word >> 24 & 0x7f,
                                             .redundant = true,
                                             .length = word & RTP_BLOCK_MOST};
    }
    if (p == end || *p & 0x80)
        return -1;
    frames[0] = (struct rtp_frame){.timestamp = timestamp, .payload_type = *p++};
    for (int i = 1; i < count; i++) {
        if (frames[i].length > (uint32_t)(end - p))
            return -1;
        frames[i].data = p;
        p += frames[i].length;
    }
    frames[0].data = p;
    frames[0].length = (uint32_t)(end - p);
    return count;
}

int rtp_player_take(struct rtp_player *p, const uint8_t *packet, uint32_t length, uint32_t arrival,
                    struct rtp_frame frames[RTP_FRAMES])
{
    uint32_t at, bytes;
    int count = 1;
    if (!payload_of(packet, length, &at, &bytes) || (p->begun && get32(packet + 8) != p->ssrc))
        return -1;
    const uint32_t timestamp = get32(packet + 4), type = packet[1] & 0x7f;
    if (type == RTP_REDUNDANT)
        count = blocks_of(packet, at, bytes, timestamp, frames);
    else
        frames[0] = (struct rtp_frame){
            .timestamp = timestamp, .payload_type = (uint8_t)type, .data = packet + at, .length = bytes};
    if (count < 0)
        return -1;
    if (!p->begun) {
        *p = (struct rtp_player){.begun = true, .ssrc = get32(packet + 8), .transit = arrival - timestamp};
        p->first = p->highest = get16(packet + 2);
    }
    if (!sequence_take(p, get16(packet + 2)))
        return -1;
    jitter_take(p, arrival - timestamp);
    return count;
}
