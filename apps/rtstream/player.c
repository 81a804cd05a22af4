// SPDX-License-Identifier: BSD-2-Clause
#include "rtstream/player.h"

#include <string.h>

#include "bytes.h"
#include "service.h"

static struct rtstream_player *player_of(struct weir_watch *watch)
{
    return (struct rtstream_player *)(void *)((char *)watch - offsetof(struct rtstream_player, watch));
}

static uint64_t deadline_us(const struct rtstream_player *p, uint32_t number)
{
    return p->first_us + (uint64_t)number * p->options.period_us;
}

static void finish(struct rtstream_player *p, const char *error)
{
    if (p->ended)
        return;
    p->ended = true;
    if (p->options.over == RTSTREAM_REALTIME)
        (void)weir_realtime_stats(p->loop->weir, p->socket, &p->stats);
    rtstream_player_stop(p);
    p->done(p->context, error);
}

static void tell(struct rtstream_player *p, enum rtstream_verdict verdict, const uint8_t *data)
{
    const struct rtstream_frame frame = {p->number, verdict, deadline_us(p, p->number), weir_now_us(p->loop->weir),
                                         data};
    p->counts[verdict]++;
    p->number++;
    p->told(p->context, &frame);
    if (p->number == p->options.frames)
        finish(p, NULL);
}

// --- over TCP --------------------------------------------------------------------------------------------------------

// By the clock: one look a period. Otherwise whenever there is something, or a deadline passes.
static void read_realtime(struct rtstream_player *p)
{
    struct weir_realtime_frame about;
    const uint64_t now_us = weir_now_us(p->loop->weir);
    while (!p->ended && (!p->options.stored || deadline_us(p, p->number) <= now_us)) {
        const int got = weir_realtime_read(p->loop->weir, p->socket, p->frame, sizeof p->frame, &about);
        if (got == WEIR_AGAIN)
            return;
        if (got > 0)
            tell(p, about.late ? RTSTREAM_LATE : RTSTREAM_MET, p->frame);
        else if (got == WEIR_SKIPPED)
            tell(p, RTSTREAM_SKIPPED, NULL);
        else
            finish(p, got ? weir_error_name(got) : NULL);
    }
}

static void read_in_order(struct rtstream_player *p)
{
    int got = 1;
    while (!p->ended && got > 0) {
        got = weir_socket_read(p->loop->weir, p->socket, p->frame + p->filled, p->options.frame_bytes - p->filled);
        if (got == 0 || (got < 0 && got != WEIR_AGAIN))
            finish(p, got ? weir_error_name(got) : NULL);
        p->filled += got > 0 ? (uint32_t)got : 0;
        if (p->ended || p->filled < p->options.frame_bytes)
            continue;
        p->filled = 0;
        tell(p, weir_now_us(p->loop->weir) <= deadline_us(p, p->number) ? RTSTREAM_MET : RTSTREAM_LATE, p->frame);
    }
}

static int begin(struct rtstream_player *p)
{
    const struct rtstream_options *o = &p->options;
    const struct weir_realtime settings = {
        .mode = WEIR_REALTIME_WEIR,
        .frame_bytes = o->frame_bytes,
        .period_us = o->period_us,
        .first_us = o->start_us ? o->start_us + o->within_us : weir_now_us(p->loop->weir) + o->period_us + o->within_us,
        .segment_bytes = o->segment_bytes,
        .keep_us = o->keep_us,
        .stored = o->stored};
    p->playing = true;
    p->first_us = settings.first_us;
    (void)weir_socket_set(p->loop->weir, p->socket, WEIR_OPTION_QUICK_ACK, 1);
    return o->over == RTSTREAM_REALTIME ? weir_realtime_set(p->loop->weir, p->socket, &settings) : WEIR_OK;
}

// --- over datagrams
// ---------------------------------------------------------------------------------------------------------------------

// Frames whose deadline has passed are told, and those that came and are next.
static void play_kept(struct rtstream_player *p)
{
    while (!p->ended && p->playing) {
        bool *here = &p->has[p->number % RTSTREAM_KEPT];
        if (!*here && deadline_us(p, p->number) >= weir_now_us(p->loop->weir))
            return;
        memcpy(p->frame, p->kept[p->number % RTSTREAM_KEPT], p->options.frame_bytes);
        const bool met = *here;
        *here = false;
        tell(p, met ? RTSTREAM_MET : RTSTREAM_SKIPPED, met ? p->frame : NULL);
    }
}

static void take_frame(struct rtstream_player *p, const struct rtp_frame *frame, uint32_t step)
{
    const uint32_t number = (frame->timestamp - p->rtp_base) / step, place = number % RTSTREAM_KEPT;
    if (number - p->number < RTSTREAM_KEPT && frame->length == p->options.frame_bytes) {
        memcpy(p->kept[place], frame->data, frame->length);
        p->has[place] = true;
    }
    play_kept(p);
}

// Plain UDP's number takes the place of RTP's timestamp.
static int take_plain(const uint8_t *packet, uint32_t length, struct rtp_frame *frame)
{
    if (length < RTSTREAM_NUMBER_BYTES)
        return -1;
    *frame = (struct rtp_frame){
        .timestamp = get32(packet), .data = packet + RTSTREAM_NUMBER_BYTES, .length = length - RTSTREAM_NUMBER_BYTES};
    return 1;
}

// With a start that is known the first to come need not be the first that was sent.
static void begin_datagrams(struct rtstream_player *p, uint32_t timestamp, uint32_t step)
{
    const uint64_t now_us = weir_now_us(p->loop->weir);
    const uint32_t number = p->options.start_us ? (uint32_t)((now_us - p->options.start_us) / p->options.period_us) : 0;
    p->playing = true;
    p->first_us = (p->options.start_us ? p->options.start_us : now_us) + p->options.within_us;
    p->rtp_base = timestamp - number * step;
}

// The media's clock is 8 kHz.
static void read_datagrams(struct rtstream_player *p)
{
    struct weir_message message;
    struct weir_slice slice;
    struct rtp_frame frames[RTP_FRAMES];
    const bool plain = p->options.over == RTSTREAM_UDP;
    const uint32_t step = plain ? 1 : p->options.period_us / 125;
    play_kept(p);
    while (!p->ended && service_peek(p->loop, p->socket, &message, &slice, NULL)) {
        const uint32_t arrival = (uint32_t)(weir_now_us(p->loop->weir) / 125);
        const int count = plain ? take_plain(slice.data, slice.length, frames)
                                : rtp_player_take(&p->rtp, slice.data, slice.length, arrival, frames);
        if (count > 0 && !p->playing)
            begin_datagrams(p, frames[0].timestamp, step);
        for (int i = count - 1; i >= 0 && !p->ended; i--)  // the oldest first
            take_frame(p, &frames[i], step);
        if (!p->ended)
            (void)weir_socket_discard(p->loop->weir, p->socket);
    }
}

// --- both ------------------------------------------------------------------------------------------------------------

static void play(struct rtstream_player *p)
{
    if (rtstream_datagrams(p->options.over))
        read_datagrams(p);
    else if (p->options.over == RTSTREAM_TCP)
        read_in_order(p);
    else
        read_realtime(p);
}

static void close_all(struct rtstream_player *p)
{
    if (p->socket > 0)
        service_close(p->loop, &p->socket);
    if (p->listening > 0)
        service_close(p->loop, &p->listening);
}

// false: it is no source yet.
static bool take_source(struct rtstream_player *p)
{
    const weir_socket taken = service_accept(p->loop, p->listening, &p->watch);
    if (taken < 0)
        return false;
    p->socket = taken;
    service_close(p->loop, &p->listening);
    return true;
}

static void event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct rtstream_player *p = player_of(watch);
    int32_t error = 0;
    if (p->listening && socket == p->listening) {
        if (!take_source(p))
            return;
        socket = p->socket;
        events |= WEIR_WRITABLE;
    }
    if (!p->playing && !rtstream_datagrams(p->options.over)) {
        (void)weir_socket_get(p->loop->weir, socket, WEIR_OPTION_ERROR, &error);
        if (!error && events & WEIR_WRITABLE)
            error = begin(p);
        if (error) {
            finish(p, weir_error_name(error));
            return;
        }
    }
    if (p->playing || rtstream_datagrams(p->options.over))
        play(p);
}

static uint64_t poll(struct app *app, uint64_t now_us)
{
    struct rtstream_player *p = (struct rtstream_player *)(void *)app;
    if (!p->playing)
        return WEIR_NEVER;
    if (deadline_us(p, p->number) <= now_us)
        play(p);
    if (p->ended || p->options.over == RTSTREAM_TCP)
        return WEIR_NEVER;
    const uint64_t due_us = deadline_us(p, p->number);
    return due_us > now_us ? due_us : now_us + 1;
}

// Connects, or listens; the options are the stream's either way.
static int open_stream(struct rtstream_player *p, const struct weir_endpoint *peer)
{
    const struct rtstream_options *o = &p->options;
    const struct weir_realtime before = {.mode = WEIR_REALTIME_WEIR,
                                         .frame_bytes = o->frame_bytes,
                                         .segment_bytes = o->segment_bytes,
                                         .stored = o->stored};
    struct weir *weir = p->loop->weir;
    const bool waits = weir_addr_is_any(peer->addr);
    const weir_socket socket =
        waits ? service_listen(p->loop, peer->port, &p->watch) : weir_socket_open(weir, WEIR_STREAM, 0);
    int error = WEIR_OK;
    if (socket < 0)
        return socket;
    *(waits ? &p->listening : &p->socket) = socket;
    if (o->buffer_bytes)
        error = weir_socket_set(weir, socket, WEIR_OPTION_RECEIVE_BUFFER, (int32_t)o->buffer_bytes);
    if (!error && o->over == RTSTREAM_REALTIME)
        error = weir_realtime_set(weir, socket, &before);
    if (error || waits)
        return error;
    (void)loop_watch(p->loop, socket, &p->watch);
    error = weir_socket_connect(weir, socket, peer);
    return error == WEIR_IN_PROGRESS ? WEIR_OK : error;
}

int rtstream_player_start(struct rtstream_player *p, struct loop *loop, const struct weir_endpoint *peer,
                          const struct rtstream_options *options)
{
    int error = WEIR_OK;
    p->loop = loop;
    p->options = *options;
    p->app.poll = poll;
    p->watch.event = event;
    p->playing = p->ended = false;
    p->number = p->filled = 0;
    p->socket = p->listening = 0;
    memset(p->counts, 0, sizeof p->counts);
    memset(p->has, 0, sizeof p->has);
    rtp_player_init(&p->rtp);
    if (!options->frame_bytes || options->frame_bytes > RTSTREAM_FRAME_MOST || !options->period_us)
        return WEIR_INVALID;
    if (rtstream_datagrams(options->over) &&
        (options->frame_bytes > RTSTREAM_RTP_FRAME_MOST || options->within_us / options->period_us >= RTSTREAM_KEPT))
        return WEIR_INVALID;
    if (rtstream_datagrams(options->over)) {
        p->socket = service_bind(loop, peer->port, &p->watch);
        error = p->socket < 0 ? p->socket : WEIR_OK;
    } else {
        error = open_stream(p, peer);
    }
    if (error)
        close_all(p);
    else
        loop_add(loop, &p->app);
    return error;
}

void rtstream_player_stop(struct rtstream_player *p)
{
    p->ended = true;
    loop_remove(p->loop, &p->app);
    close_all(p);
}
