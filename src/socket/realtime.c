// SPDX-License-Identifier: BSD-2-Clause
// Real-time streams in the native API: which socket, and whether the settings make sense. The rest is
// src/tcp/realtime.c and src/rt.
#include "weir/realtime.h"

#include "socket/socket.h"
#include "tcp/realtime.h"

#define FRAME_MOST (1u << 24)
#define SEGMENT_LEAST 64u  // of WEIR_OPTION_MAX_SEGMENT
#define SEGMENT_DEFAULT 512u
#define SEGMENT_LIVE 1024u  // of frames longer than the default: a queue that counts packets takes fewer of them

uint16_t weir_realtime_segment(uint32_t frame_bytes, uint32_t most)
{
    most = min_u32(max_u32(most, SEGMENT_LEAST), UINT16_MAX);
    if (frame_bytes <= most)
        return (uint16_t)(most - most % max_u32(frame_bytes, 1));
    for (uint32_t bytes = most; bytes >= most / 2 && bytes >= SEGMENT_LEAST; bytes--)
        if (frame_bytes % bytes == 0)
            return (uint16_t)bytes;
    const uint32_t parts = (frame_bytes + most - 1) / most;
    return (uint16_t)((frame_bytes + parts - 1) / parts);
}

static bool sensible(const struct weir_realtime *settings)
{
    if (settings->mode == WEIR_REALTIME_OFF)
        return true;
    return settings->mode <= WEIR_REALTIME_WEIR && settings->frame_bytes && settings->frame_bytes <= FRAME_MOST &&
           settings->period_us <= INT32_MAX && settings->keep_us <= INT32_MAX / 2 &&
           (!settings->segment_bytes || settings->segment_bytes >= SEGMENT_LEAST);
}

static void fill_defaults(struct weir_realtime *settings)
{
    const bool live = settings->mode == WEIR_REALTIME_WEIR && !settings->stored,
               large = live && settings->frame_bytes > SEGMENT_DEFAULT;
    if (settings->mode == WEIR_REALTIME_OFF || settings->segment_bytes)
        return;
    settings->segment_bytes = weir_realtime_segment(settings->frame_bytes, large ? SEGMENT_LIVE : SEGMENT_DEFAULT);
    settings->timestamps |= large;
}

int weir_realtime_set(struct weir *weir, weir_socket socket, const struct weir_realtime *wanted)
{
    struct sock *sock = handle_sock(weir, socket);
    if (!sock)
        return WEIR_BAD_SOCKET;
    if (sock_is_datagram(sock))
        return WEIR_NOT_SUPPORTED;
    struct weir_realtime settings = *wanted;
    if (!sensible(&settings))
        return WEIR_INVALID;
    fill_defaults(&settings);
    const enum weir_tcp_state state = tcp_state(sock);
    if (settings.mode != WEIR_REALTIME_OFF && (state == WEIR_TCP_CLOSED || state == WEIR_TCP_LISTEN)) {
        const bool room = WEIR_CFG_TCP_TIMESTAMPS && settings.timestamps;
        const int32_t mss = settings.segment_bytes + (room ? (int32_t)TCP_TIMESTAMPS_ALIGNED_BYTES : 0);
        const int error = tcp_set(weir, sock, WEIR_OPTION_MAX_SEGMENT, mss);
        if (error)
            return error;
    }
    return sock->kind == SOCK_LISTENER ? WEIR_OK : tcp_realtime_set(weir, sock_conn(sock), &settings);
}

int weir_realtime_get(struct weir *weir, weir_socket socket, struct weir_realtime *settings)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    return error ? error : tcp_realtime_get(c, settings);
}

int weir_realtime_read(struct weir *weir, weir_socket socket, void *data, uint32_t bytes,
                       struct weir_realtime_frame *frame)
{
    struct weir_realtime_frame about;
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    return error ? error : tcp_realtime_read(weir, c, data, bytes, frame ? frame : &about);
}

int weir_realtime_next(struct weir *weir, weir_socket socket, struct weir_realtime_frame *frame)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    return error ? error : tcp_realtime_next(weir, c, frame);
}

int weir_realtime_deadline(struct weir *weir, weir_socket socket, uint64_t deadline_us)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    return error ? error : tcp_realtime_deadline(weir, c, deadline_us);
}

int weir_realtime_stats(struct weir *weir, weir_socket socket, struct weir_realtime_stats *stats)
{
    struct tcp_conn *c;
    const int error = socket_conn(weir, socket, &c);
    return error ? error : tcp_realtime_stats(c, stats);
}
