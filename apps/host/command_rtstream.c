// SPDX-License-Identifier: BSD-2-Clause
// play and stream: real-time media (apps/rtstream). Settings are words name=value:
//   over=realtime|tcp|rtp|red|udp  frame=BYTES  period=MS  within=MS  frames=N  buffer=BYTES  segment=BYTES  start=US
//   stored=1
//   log=FILE (play: a line of CSV for each frame)  out=FILE (play: the media, silence where a frame was skipped)
#define _POSIX_C_SOURCE 200809L
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/command.h"
#include "rtstream/source.h"

#define WAV_HEADER 44u

static struct rtstream_player player;
static struct rtstream_source source;
static struct rtstream {
    struct host *host;
    struct rtstream_options options;
    uint16_t port;
    bool redundant, live;
    FILE *log, *out, *media;
    uint64_t shown_us;
} rtstream;

static bool setting(struct rtstream *r, const char *word)
{
    static const struct {
        const char *name;
        enum rtstream_over over;
    } overs[] = {{"realtime", RTSTREAM_REALTIME},
                 {"tcp", RTSTREAM_TCP},
                 {"rtp", RTSTREAM_RTP},
                 {"red", RTSTREAM_RTP},
                 {"udp", RTSTREAM_UDP}};
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : 0;
    const char *value = equals ? equals + 1 : "";
    const uint64_t number = strtoull(value, NULL, 10);
    if (length == 4 && !strncmp(word, "over", 4)) {
        for (unsigned i = 0; i < sizeof overs / sizeof overs[0]; i++)
            if (!strcmp(value, overs[i].name)) {
                r->options.over = overs[i].over;
                r->redundant = !strcmp(value, "red");
                return true;
            }
        return false;
    }
    if (length == 3 && !strncmp(word, "log", 3))
        return (r->log = fopen(value, "w")) != NULL;
    if (length == 3 && !strncmp(word, "out", 3))
        return (r->out = fopen(value, "wb")) != NULL;
    if (!length || *value < '0' || *value > '9')
        return false;
    if (!strncmp(word, "frame=", 6))
        r->options.frame_bytes = (uint32_t)number;
    else if (!strncmp(word, "period=", 7))
        r->options.period_us = (uint32_t)number * 1000;
    else if (!strncmp(word, "within=", 7))
        r->options.within_us = (uint32_t)number * 1000;
    else if (!strncmp(word, "frames=", 7))
        r->options.frames = (uint32_t)number;
    else if (!strncmp(word, "buffer=", 7))
        r->options.buffer_bytes = (uint32_t)number;
    else if (!strncmp(word, "segment=", 8))
        r->options.segment_bytes = (uint16_t)number;
    else if (!strncmp(word, "keep=", 5))
        r->options.keep_us = (uint32_t)number * 1000;
    else if (!strncmp(word, "start=", 6))
        r->options.start_us = number;
    else if (!strncmp(word, "stored=", 7))
        r->options.stored = number != 0;
    else
        return false;
    return true;
}

static bool settings(struct rtstream *r, struct host *host, int argc, char **argv)
{
    *r = (struct rtstream){
        .host = host, .options = {.frame_bytes = 160, .period_us = 20000, .within_us = 60000}, .live = isatty(2)};
    for (int i = 3; i < argc; i++)
        if (!setting(r, argv[i]))
            return command_wrong(argv[0], argv[i], "is not understood");
    return argc >= 3 && command_port(argv[0], argv[2], &r->port);
}

static void files_close(struct rtstream *r)
{
    FILE **const files[] = {&r->log, &r->out, &r->media};
    for (int i = 0; i < 3; i++)
        if (*files[i] != NULL) {
            (void)fclose(*files[i]);
            *files[i] = NULL;
        }
}

// --- play ------------------------------------------------------------------------------------------------------------

static void show(struct rtstream *r, const struct rtstream_frame *frame)
{
    if (!r->live || (frame->now_us - r->shown_us < 200000 && frame->verdict == RTSTREAM_MET))
        return;
    r->shown_us = frame->now_us;
    fprintf(stderr,
            "\rframe %" PRIu32 ": %" PRIu32 " in time, %" PRIu32 " late, %" PRIu32 " skipped, %+.1f ms to spare    ",
            frame->number, player.counts[RTSTREAM_MET], player.counts[RTSTREAM_LATE], player.counts[RTSTREAM_SKIPPED],
            ((double)frame->deadline_us - (double)frame->now_us) / 1e3);
}

static void told(void *context, const struct rtstream_frame *frame)
{
    static const char *const verdicts[] = {"met", "late", "skipped"};
    static const uint8_t silence[RTSTREAM_FRAME_MOST];
    struct rtstream *r = context;
    if (r->log != NULL)
        fprintf(r->log, "%" PRIu32 ",%s,%.3f,%.3f\n", frame->number, verdicts[frame->verdict],
                ((double)frame->deadline_us - (double)player.first_us) / 1e3,
                ((double)frame->now_us - (double)player.first_us) / 1e3);
    if (r->out != NULL)
        (void)fwrite(frame->data != NULL ? frame->data : silence, 1, r->options.frame_bytes, r->out);
    show(r, frame);
}

static void played(void *context, const char *error)
{
    struct rtstream *r = context;
    const struct weir_realtime_stats *s = &player.stats;
    const uint32_t all = player.counts[0] + player.counts[1] + player.counts[2];
    files_close(r);
    if (r->live)
        fputc('\n', stderr);
    printf("{\"frames\": %" PRIu32 ", \"met\": %" PRIu32 ", \"late\": %" PRIu32 ", \"skipped\": %" PRIu32
           ", \"met_percent\": %.3f, "
           "\"out_of_order\": %" PRIu32 ", \"acks\": %" PRIu32 ", \"need\": %" PRIu32 ", \"repeat\": %" PRIu32
           ", \"data_late\": %" PRIu32 ", \"ack_again\": %" PRIu32 ", \"round_trip_us\": %" PRIu32
           ", \"loss_ppm\": %" PRIu32 ", \"jitter_ticks\": %" PRIu32 "}\n",
           all, player.counts[RTSTREAM_MET], player.counts[RTSTREAM_LATE], player.counts[RTSTREAM_SKIPPED],
           all ? 100.0 * player.counts[RTSTREAM_MET] / all : 0, s->out_of_order, s->acks,
           s->updates[WEIR_REALTIME_NEED], s->updates[WEIR_REALTIME_REPEAT], s->updates[WEIR_REALTIME_DATA_LATE],
           s->updates[WEIR_REALTIME_ACK_AGAIN], s->round_trip_us, s->loss_ppm, rtp_player_jitter(&player.rtp));
    fflush(stdout);
    if (error != NULL)
        command_wrong("play", error, "");
    host_done(r->host, error != NULL);
}

static void play_interrupt(struct host *host)
{
    (void)host;
    rtstream_player_stop(&player);
    played(&rtstream, "interrupted");
}

static void play_found(struct host *host, struct weir_addr addr)
{
    const struct weir_endpoint peer = {addr, rtstream.port};
    player.told = told;
    player.done = played;
    player.context = &rtstream;
    host->interrupt = play_interrupt;
    const int error = rtstream_player_start(&player, &host->loop, &peer, &rtstream.options);
    if (error)
        played(&rtstream, weir_error_name(error));
}

bool command_play(struct host *host, int argc, char **argv)
{
    if (!settings(&rtstream, host, argc, argv))
        return false;
    if (rtstream.log != NULL)
        fputs("frame,verdict,deadline_ms,told_ms\n", rtstream.log);
    return command_host(host, argv[1], play_found);
}

// --- stream ----------------------------------------------------------------------------------------------------------

// The file's bytes; a WAV file's after its header. The last frame is filled up with silence.
static bool media(void *context, uint32_t number, uint8_t *frame, uint32_t length)
{
    struct rtstream *r = context;
    (void)number;
    const size_t got = fread(frame, 1, length, r->media);
    memset(frame + got, 0, length - got);
    return got != 0;
}

static void streamed(void *context, const char *error)
{
    struct rtstream *r = context;
    files_close(r);
    printf("{\"frames\": %" PRIu32 ", \"postponed\": %" PRIu32 "}\n", source.number, source.postponed);
    if (error != NULL)
        command_wrong("stream", error, "");
    host_done(r->host, error != NULL);
}

static void stream_interrupt(struct host *host)
{
    (void)host;
    rtstream_source_stop(&source);
    streamed(&rtstream, "interrupted");
}

static void stream_to(struct host *host, struct weir_addr addr)
{
    const struct weir_endpoint peer = {addr, rtstream.port};
    source.media = media;
    source.done = streamed;
    source.context = &rtstream;
    host->interrupt = stream_interrupt;
    const int error = rtstream_source_start(&source, &host->loop, &peer, &rtstream.options, rtstream.redundant);
    if (error)
        streamed(&rtstream, weir_error_name(error));
    else if (!rtstream_datagrams(rtstream.options.over))
        fprintf(stderr, "listening on port %u\n", rtstream.port);
}

// stream FILE PORT …, over rtp, red and udp: stream FILE PORT to=HOST …
bool command_stream(struct host *host, int argc, char **argv)
{
    const char *to = NULL;
    char head[WAV_HEADER];
    for (int i = 3; i < argc; i++)
        if (!strncmp(argv[i], "to=", 3)) {
            to = argv[i] + 3;
            memmove(&argv[i], &argv[i + 1], (size_t)(argc - i - 1) * sizeof *argv);
            argc--;
            break;
        }
    if (!settings(&rtstream, host, argc, argv))
        return false;
    if (rtstream_datagrams(rtstream.options.over) != (to != NULL))
        return command_wrong("stream", "RTP and UDP go to=HOST, a stream waits for its player", "");
    rtstream.media = fopen(argv[1], "rb");
    if (rtstream.media == NULL)
        return command_wrong("stream", argv[1], "cannot be read");
    if (fread(head, 1, sizeof head, rtstream.media) != sizeof head || memcmp(head, "RIFF", 4) != 0)
        rewind(rtstream.media);
    if (to != NULL)
        return command_host(host, to, stream_to);
    stream_to(host, weir_addr_any());
    return true;
}
