// SPDX-License-Identifier: BSD-2-Clause
// A player of real-time streams: frames of equal length by their deadlines, over a real-time stream (weir/realtime.h),
// over TCP in order, over RTP (rtp.h), or over plain UDP, where a datagram is the frame's number (32 bits, big-endian)
// and the frame. Each frame is told once, in order: in time, late, or not at all. Runs on a loop; memory is the
// caller's.
#ifndef RTSTREAM_PLAYER_H
#define RTSTREAM_PLAYER_H

#include "../loop.h"
#include "rtp.h"
#include "weir/linkage/apps.h"
#include "weir/realtime.h"

WEIR_BEGIN_DECLS

#define RTSTREAM_FRAME_MOST 4096u
#define RTSTREAM_RTP_FRAME_MOST 480u  // bytes of a frame over RTP or UDP
#define RTSTREAM_KEPT 16u             // so many of those wait for their turn: `within_us` must not be longer

enum rtstream_over { RTSTREAM_REALTIME, RTSTREAM_TCP, RTSTREAM_RTP, RTSTREAM_UDP };
#define RTSTREAM_NUMBER_BYTES 4u

static inline bool rtstream_datagrams(enum rtstream_over over) { return over == RTSTREAM_RTP || over == RTSTREAM_UDP; }

struct rtstream_options {
    enum rtstream_over over;
    uint32_t frame_bytes, period_us;
    uint32_t within_us;  // a frame is of use for so long after it was written
    uint64_t
        start_us;  // when the first is written, by the clock of weir_poll; 0: a period before the first deadline, which
                   // is one period and within_us after the connection (RTP, UDP: within_us after the first packet)
    uint32_t frames;         // play so many, then end; 0: until the end of the stream
    uint32_t buffer_bytes;   // receive buffer; 0: the default
    uint16_t segment_bytes;  // 0: weir_realtime_set's
    uint32_t keep_us;        // weir_realtime.keep_us
    bool stored;             // the source is a file: a frame is read at its deadline, which makes room for the next
};

enum rtstream_verdict { RTSTREAM_MET, RTSTREAM_LATE, RTSTREAM_SKIPPED };
struct rtstream_frame {
    uint32_t number;
    enum rtstream_verdict verdict;
    uint64_t deadline_us, now_us;
    const uint8_t *data;  // frame_bytes; NULL: skipped
};

struct rtstream_player {
    struct app app;  // first
    struct weir_watch watch;
    struct loop *loop;
    struct rtstream_options options;
    weir_socket socket, listening;
    bool playing, ended;
    uint64_t first_us;  // deadline of frame 0
    uint32_t number;    // of the next frame to tell
    uint32_t filled;    // bytes of it, in order
    struct rtp_player rtp;
    uint32_t rtp_base;                      // timestamp of frame 0 (UDP: its number)
    uint32_t counts[RTSTREAM_SKIPPED + 1];  // by verdict
    struct weir_realtime_stats stats;       // of a real-time stream, at its end
    uint8_t frame[RTSTREAM_FRAME_MOST];
    uint8_t kept[RTSTREAM_KEPT][RTSTREAM_RTP_FRAME_MOST];
    bool has[RTSTREAM_KEPT];  // RTP, UDP: the frames from `number` on that are in `kept`, each at its number
    void (*told)(void *context, const struct rtstream_frame *frame);
    // NULL: the end of the stream, or of `frames`. The player may be started anew, but not from in here.
    void (*done)(void *context, const char *error);
    void *context;
};

// Connects to the source at `peer`, or (any address) waits for one at peer.port; over RTP and UDP: listens there. told,
// done and context are set. Returns an enum weir_error.
int rtstream_player_start(struct rtstream_player *player, struct loop *loop, const struct weir_endpoint *peer,
                          const struct rtstream_options *options);
void rtstream_player_stop(struct rtstream_player *player);

WEIR_END_DECLS

#endif
