// SPDX-License-Identifier: BSD-2-Clause
// A source and a player over loopback, and what the player told.
#ifndef TESTS_APPS_RTSTREAM_STREAM_H
#define TESTS_APPS_RTSTREAM_STREAM_H

#include "apps/bench.h"

#include "rtstream/source.h"

#define PORT 5004
#define FRAMES 50u
#define PERIOD_US 20000u

struct stream {
    struct bench bench;
    struct rtstream_source source;
    struct rtstream_player player;
    uint32_t frame_bytes, media_frames;
    uint32_t told, wrong;
    enum rtstream_verdict verdicts[4 * FRAMES];
    uint64_t told_us[4 * FRAMES];
    bool source_done, player_done;
    const char *source_error, *player_error;
};

static inline void stream_fill(uint32_t number, uint8_t *frame, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++)
        frame[i] = (uint8_t)(number * 13 + i * 7);
}

static inline bool stream_media(void *context, uint32_t number, uint8_t *frame, uint32_t length)
{
    const struct stream *s = context;
    stream_fill(number, frame, length);
    return number < s->media_frames;
}

static inline void stream_told(void *context, const struct rtstream_frame *frame)
{
    struct stream *s = context;
    uint8_t expected[RTSTREAM_FRAME_MOST];
    assert_int_equal(frame->number, s->told);
    assert_true(frame->number < 4 * FRAMES);
    s->verdicts[s->told] = frame->verdict;
    s->told_us[s->told++] = frame->now_us;
    stream_fill(frame->number, expected, s->frame_bytes);
    s->wrong += frame->data != NULL && memcmp(frame->data, expected, s->frame_bytes) != 0;
    assert_true((frame->data == NULL) == (frame->verdict == RTSTREAM_SKIPPED));
}

static inline void stream_source_done(void *context, const char *error)
{
    struct stream *s = context;
    assert_false(s->source_done);
    s->source_done = true;
    s->source_error = error;
}

static inline void stream_player_done(void *context, const char *error)
{
    struct stream *s = context;
    assert_false(s->player_done);
    s->player_done = true;
    s->player_error = error;
}

static inline void stream_open(struct stream *s, uint32_t frame_bytes)
{
    memset(s, 0, sizeof *s);
    bench_open(&s->bench);
    s->frame_bytes = frame_bytes;
    s->media_frames = FRAMES;
    s->source.media = stream_media;
    s->source.done = stream_source_done;
    s->player.told = stream_told;
    s->player.done = stream_player_done;
    s->source.context = s->player.context = s;
}

static inline void stream_close(struct stream *s)
{
    bench_run(&s->bench, 200000000);
    bench_close(&s->bench);
}

#endif
