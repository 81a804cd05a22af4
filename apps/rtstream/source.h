// SPDX-License-Identifier: BSD-2-Clause
// A source of real-time streams: a frame each period, to the one player that connects (TCP, with a deadline:
// docs/realtime.md) or to a player's port (RTP, with or without one redundant frame; plain UDP). The media's bytes come
// from a callback. Runs on a loop.
#ifndef RTSTREAM_SOURCE_H
#define RTSTREAM_SOURCE_H

#include "player.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

struct rtstream_source {
    struct app app;  // first
    struct weir_watch watch;
    struct loop *loop;
    struct rtstream_options
        options;  // over, frame_bytes, period_us, within_us (0: no deadline), frames, stored (as fast as it goes)
    weir_socket listening, socket;
    struct weir_endpoint player;
    bool begun, ended, redundant;
    bool closing;  // all is written; the player has not closed yet
    uint64_t first_us;
    uint32_t number;     // of the next frame
    uint32_t left;       // bytes of `frame` that did not fit the send queue yet
    uint32_t postponed;  // frames that had to wait for room
    struct rtp_source rtp;
    uint8_t frame[RTSTREAM_FRAME_MOST], packet[RTP_MOST + RTP_BLOCK_MOST + RTSTREAM_FRAME_MOST];
    // Fills in the frame with this number; false: the media has ended.
    bool (*media)(void *context, uint32_t number, uint8_t *frame, uint32_t length);
    void (*done)(void *context, const char *error);
    void *context;
};

// Waits for a player at peer->port, or (RTP, UDP) sends to peer. media, done and context are set. Returns an enum
// weir_error.
int rtstream_source_start(struct rtstream_source *source, struct loop *loop, const struct weir_endpoint *peer,
                          const struct rtstream_options *options, bool redundant);
void rtstream_source_stop(struct rtstream_source *source);

WEIR_END_DECLS

#endif
