// SPDX-License-Identifier: BSD-2-Clause
#include "rtstream/source.h"

#include <string.h>

#include "service.h"

static struct rtstream_source *source_of(struct weir_watch *watch)
{
    return (struct rtstream_source *)(void *)((char *)watch - offsetof(struct rtstream_source, watch));
}

static void finish(struct rtstream_source *s, const char *error)
{
    if (s->ended)
        return;
    rtstream_source_stop(s);
    s->done(s->context, error);
}

static bool next_frame(struct rtstream_source *s)
{
    if (s->number == s->options.frames && s->options.frames)
        return false;
    if (!s->media(s->context, s->number, s->frame, s->options.frame_bytes))
        return false;
    s->number++;
    s->left = s->options.frame_bytes;
    return true;
}

// What is left of the frame. false: there is no room now, or it is over.
static bool write_on(struct rtstream_source *s)
{
    while (s->left) {
        const int put =
            weir_socket_write(s->loop->weir, s->socket, s->frame + s->options.frame_bytes - s->left, s->left);
        if (put <= 0) {
            if (put != WEIR_AGAIN)
                finish(s, weir_error_name(put));
            return false;
        }
        s->left -= (uint32_t)put;
    }
    return true;
}

static uint32_t plain_packet(struct rtstream_source *s)
{
    const uint32_t number = s->number - 1;  // next_frame has counted it
    for (uint32_t i = 0; i < RTSTREAM_NUMBER_BYTES; i++)
        s->packet[i] = (uint8_t)(number >> (24 - 8 * i));
    memcpy(s->packet + RTSTREAM_NUMBER_BYTES, s->frame, s->options.frame_bytes);
    return RTSTREAM_NUMBER_BYTES + s->options.frame_bytes;
}

static void send_packet(struct rtstream_source *s)
{
    const struct weir_message message = {.peer = s->player};
    const struct weir_slice slice = {
        s->packet, s->options.over == RTSTREAM_UDP
                       ? plain_packet(s)
                       : rtp_source_packet(&s->rtp, s->frame, s->options.frame_bytes, s->packet, sizeof s->packet)};
    // no room: as if the network had lost it
    (void)weir_socket_send_message(s->loop->weir, s->socket, &message, &slice, 1);
    s->left = 0;
}

static uint64_t due_us(const struct rtstream_source *s)
{
    return s->options.stored ? s->first_us : s->first_us + (uint64_t)s->number * s->options.period_us;
}

static void end_media(struct rtstream_source *s)
{
    if (rtstream_datagrams(s->options.over)) {
        finish(s, NULL);
        return;
    }
    s->closing = true;
    (void)weir_socket_shutdown(s->loop->weir, s->socket, WEIR_SHUT_WRITE);
}

// A stream is over when the player has closed it: until then what was written may still be on its way, or wait for the
// player's window.
static void close_on(struct rtstream_source *s)
{
    int got = 1;
    while (got > 0)
        got = weir_socket_read(s->loop->weir, s->socket, s->packet, sizeof s->packet);
    if (got != WEIR_AGAIN)
        finish(s, got ? weir_error_name(got) : NULL);
}

static void send_on(struct rtstream_source *s, uint64_t now_us)
{
    if (s->closing) {
        close_on(s);
        return;
    }
    bool more = s->left == 0 || write_on(s);
    while (more && !s->ended && due_us(s) <= now_us) {
        if (!next_frame(s)) {
            end_media(s);
            return;
        }
        if (rtstream_datagrams(s->options.over))
            send_packet(s);
        else
            more = write_on(s);
        s->postponed += !more;
    }
}

static void take_player(struct rtstream_source *s)
{
    const weir_socket taken = service_accept(s->loop, s->listening, &s->watch);
    if (taken < 0)
        return;
    s->socket = taken;
    service_close(s->loop, &s->listening);
    (void)weir_socket_set(s->loop->weir, taken, WEIR_OPTION_NO_DELAY, 1);
    if (s->options.within_us && s->options.over == RTSTREAM_REALTIME)
        // not built in: without
        (void)weir_socket_set(s->loop->weir, taken, WEIR_OPTION_SEND_DEADLINE_US, (int32_t)s->options.within_us);
    s->begun = true;
    s->first_us = s->options.start_us ? s->options.start_us : weir_now_us(s->loop->weir);
}

static void event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct rtstream_source *s = source_of(watch);
    (void)events;
    if (socket == s->listening)
        take_player(s);
    if (s->begun)
        send_on(s, weir_now_us(s->loop->weir));
}

static uint64_t poll(struct app *app, uint64_t now_us)
{
    struct rtstream_source *s = (struct rtstream_source *)(void *)app;
    if (!s->begun)
        return WEIR_NEVER;
    send_on(s, now_us);
    if (s->ended || s->closing || s->left)  // READABLE or WRITABLE tells what comes next
        return WEIR_NEVER;
    return due_us(s) > now_us ? due_us(s) : now_us + 1;
}

int rtstream_source_start(struct rtstream_source *s, struct loop *loop, const struct weir_endpoint *peer,
                          const struct rtstream_options *options, bool redundant)
{
    s->loop = loop;
    s->options = *options;
    s->app.poll = poll;
    s->watch.event = event;
    s->player = *peer;
    s->begun = s->ended = s->closing = false;
    s->number = s->left = s->postponed = 0;
    s->listening = s->socket = 0;
    if (!options->frame_bytes || options->frame_bytes > RTSTREAM_FRAME_MOST || !options->period_us)
        return WEIR_INVALID;
    if (rtstream_datagrams(options->over)) {
        s->socket = service_bind(loop, 0, &s->watch);
        s->begun = true;
        s->first_us = options->start_us ? options->start_us : weir_now_us(loop->weir);
        rtp_source_init(&s->rtp, (uint32_t)weir_now_us(loop->weir) | 1, (uint16_t)s->first_us, (uint32_t)s->first_us,
                        options->period_us / 125, redundant);
    } else {
        s->listening = service_listen(loop, peer->port, &s->watch);
    }
    if (s->socket < 0 || s->listening < 0)
        return s->socket < 0 ? s->socket : s->listening;
    loop_add(loop, &s->app);
    return WEIR_OK;
}

void rtstream_source_stop(struct rtstream_source *s)
{
    s->ended = true;
    loop_remove(s->loop, &s->app);
    if (s->socket > 0)
        service_close(s->loop, &s->socket);
    if (s->listening > 0)
        service_close(s->loop, &s->listening);
}
