// SPDX-License-Identifier: BSD-2-Clause
// RTP's packets (RFC 3550 §5.1), the jitter that a receiver estimates and the packets it misses (§6.4.1, A.1, A.3,
// A.8), and redundant audio (RFC 2198): each packet carries the frame before again. The format only: datagrams are the
// caller's, and so is RTCP.
#ifndef RTSTREAM_RTP_H
#define RTSTREAM_RTP_H

#include "weir/linkage/apps.h"

#include <stdbool.h>
#include <stdint.h>

WEIR_BEGIN_DECLS

#define RTP_BYTES 12u         // the header without contributing sources
#define RTP_MOST 17u          // with what RFC 2198 puts before one redundant block and the primary one
#define RTP_PCMU 0u           // payload type of 8 kHz µ-law (RFC 3551)
#define RTP_REDUNDANT 100u    // dynamic: by agreement redundant audio (RFC 2198)
#define RTP_BLOCK_MOST 1023u  // bytes of a redundant block: its length has 10 bits
#define RTP_FRAMES 4          // of one packet are looked at

struct rtp_source {
    uint32_t ssrc, timestamp, step;  // of the next packet; ticks of the media's clock from one to the next
    uint16_t sequence;
    bool redundant, begun;
    uint32_t last_length;
    uint8_t last[RTP_BLOCK_MOST];
};
// First sequence number and timestamp should be random (§5.1).
void rtp_source_init(struct rtp_source *source, uint32_t ssrc, uint16_t sequence, uint32_t timestamp, uint32_t step,
                     bool redundant);
// The next packet, with this frame, in `packet`, which has room for `room` bytes. Returns its length; 0: no room.
uint32_t rtp_source_packet(struct rtp_source *source, const uint8_t *frame, uint32_t length, uint8_t *packet,
                           uint32_t room);

struct rtp_frame {
    uint32_t timestamp;
    uint8_t payload_type;
    bool redundant;       // sent before, in a packet of its own
    const uint8_t *data;  // within the packet
    uint32_t length;
};

struct rtp_player {
    bool begun;
    uint32_t ssrc, first, highest;  // extended sequence numbers (A.1)
    uint32_t received;
    uint32_t transit, jitter16;  // ticks; the estimate times 16 (A.8)
};
void rtp_player_init(struct rtp_player *player);
// A packet came at `arrival`, in ticks of the media's clock. Fills in its frames, the primary one first; returns how
// many, or -1: it is no RTP packet, or not of the source that was heard first.
int rtp_player_take(struct rtp_player *player, const uint8_t *packet, uint32_t length, uint32_t arrival,
                    struct rtp_frame frames[RTP_FRAMES]);
static inline uint32_t rtp_player_jitter(const struct rtp_player *player) { return player->jitter16 >> 4; }
// Packets expected so far and not received (A.3); negative: some came twice.
static inline int32_t rtp_player_lost(const struct rtp_player *player)
{
    return player->begun ? (int32_t)(player->highest - player->first + 1 - player->received) : 0;
}

WEIR_END_DECLS

#endif
