// SPDX-License-Identifier: BSD-2-Clause
// Both ends Weir, in virtual time: one line of JSON for all seeds of one setting.
//
//   weir-realtime-both file loss=100000 seeds=1-5                        the work's benchmark, from a Weir sender with
//                                                                        a deadline
//   weir-realtime-both voice over=weir within=40 loss=100000 seeds=1-6   160 bytes every 20 ms, of use for `within` ms
//                                                                        after they were written
//
// over: weir (a deadline at both ends), receiver (at the reader's only), tcp (ordinary, read in order), udp, rtp (RFC
// 3550), rtp_redundant (RFC 2198 with the frame before in each packet). Loss is in millionths, each way, independent;
// the handshake is exempt.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "rtstream/rtp.h"
#include "sim/internal.h"
#include "weir/realtime.h"

#define PORT 5000
#define FRAME_MOST 4096
#define FRAMES_MOST 20000
#define LOOK_NS SIM_US(500)  // how often a reader looks

enum over { OVER_WEIR, OVER_RECEIVER, OVER_TCP, OVER_UDP, OVER_RTP, OVER_RTP_REDUNDANT };
static const char *const over_names[] = {"weir", "receiver", "tcp", "udp", "rtp", "rtp_redundant"};

struct settings {
    char command[16], over[16];
    long loss, first_seed, last_seed, frames, frame, period_ms, within_ms, buffer, delay_us, mss;
};

struct run {
    const struct settings *s;
    enum over over;
    bool file;  // what is sent is there from the beginning; otherwise a frame each period
    struct sim *sim;
    struct sim_host *source, *player;
    struct event write, read;
    weir_socket listener, out, in;
    uint64_t first_ns;          // when the first frame is written; of a file when it is due, less `within`
    uint32_t written, in_time;  // frames; bytes of a file
    uint32_t looked;            // frames seen; of a file in a real-time mode: deadlines
    uint32_t bytes;             // read in order
    struct rtp_source rtp;
    struct rtp_player heard;
    uint8_t frame[FRAME_MOST], last[FRAME_MOST];
    bool here[FRAMES_MOST];
};

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static uint64_t due_ns(const struct run *r, uint32_t number)
{
    return r->first_ns + SIM_MS((uint64_t)r->s->period_ms * number + (uint64_t)r->s->within_ms);
}

// --- the source ------------------------------------------------------------------------------------------------------

static void send_datagram(struct run *r)
{
    static uint8_t packet[RTP_MOST + 2 * FRAME_MOST];
    const struct weir_message to = {.peer = {sim_host_address(r->player), PORT}};
    uint32_t length = (uint32_t)r->s->frame;
    memset(r->frame, (int)r->written, (size_t)r->s->frame);
    memcpy(r->frame, &r->written, sizeof r->written);
    if (r->over == OVER_UDP)
        memcpy(packet, r->frame, length);
    else
        length = rtp_source_packet(&r->rtp, r->frame, length, packet, sizeof packet);
    const struct weir_slice slice = {packet, length};
    if (weir_socket_send_message(sim_host_weir(r->source), r->out, &to, &slice, 1) < 0)
        fail("cannot send");
    r->written++;
}

static void send_file(struct run *r)
{
    int put = 1;
    while (r->written < (uint32_t)(r->s->frames * r->s->frame) &&
           (put = weir_socket_write(sim_host_weir(r->source), r->out, r->frame, (uint32_t)r->s->frame)) > 0)
        r->written += (uint32_t)put;
}

static void write_next(void *context)
{
    struct run *r = context;
    host_clock(r->source);
    if (r->file)
        send_file(r);
    else if (r->over >= OVER_UDP)
        send_datagram(r);
    else if (weir_socket_write(sim_host_weir(r->source), r->out, r->frame, (uint32_t)r->s->frame) == (int)r->s->frame)
        r->written++;
    else
        fail("the send buffer is full");
    sim_host_kick(r->source);
    if (r->written < (uint32_t)r->s->frames * (r->file ? (uint32_t)r->s->frame : 1))
        sim_event_set(r->sim, &r->write, sim_now(r->sim) + (r->file ? SIM_MS(1) : SIM_MS((uint64_t)r->s->period_ms)));
}

// --- the player ------------------------------------------------------------------------------------------------------

static void came(struct run *r, uint32_t number)
{
    if (number >= (uint32_t)r->s->frames || r->here[number])
        return;
    r->here[number] = true;
    // a file's reader takes it at its deadline
    r->in_time += sim_now(r->sim) <= due_ns(r, number) + (r->file ? LOOK_NS : 0);
}

// Of a file a frame is read when it is due, so that the window holds as much as the buffer and no more, as with the
// other readers.
static uint32_t wanted(const struct run *r)
{
    if (!r->file)
        return FRAME_MOST;
    return sim_now(r->sim) >= due_ns(r, r->looked) ? (r->looked + 1) * (uint32_t)r->s->frame - r->bytes : 0;
}

static void read_in_order(struct run *r)
{
    int got = 1;
    while (got > 0 && wanted(r)) {
        got = weir_socket_read(sim_host_weir(r->player), r->in, r->last, wanted(r));
        r->bytes += got > 0 ? (uint32_t)got : 0;
        while (r->looked < r->bytes / (uint32_t)r->s->frame)
            came(r, r->looked++);
    }
}

static void read_datagrams(struct run *r)
{
    struct weir_message message;
    struct weir_slice slice;
    struct rtp_frame frames[RTP_FRAMES];
    struct weir *weir = sim_host_weir(r->player);
    while (weir_socket_peek_message(weir, r->in, &message, &slice) >= 0) {
        uint32_t number = 0;
        if (r->over == OVER_UDP && slice.length >= 4) {
            memcpy(&number, slice.data, 4);
            came(r, number);
        } else {
            const int count =
                rtp_player_take(&r->heard, slice.data, slice.length, (uint32_t)(sim_now(r->sim) / 125000), frames);
            for (int i = 0; i < count; i++) {
                memcpy(&number, frames[i].data, 4);
                came(r, number);
            }
        }
        (void)weir_socket_discard(weir, r->in);
    }
}

// Of a file one read at each deadline: what is put off then costs a deadline.
static void read_frames(struct run *r)
{
    struct weir_realtime_frame frame;
    while (r->looked < (uint32_t)r->s->frames && (!r->file || sim_now(r->sim) >= due_ns(r, r->looked))) {
        const int got = weir_realtime_read(sim_host_weir(r->player), r->in, r->last, FRAME_MOST, &frame);
        if (got <= 0 && got != WEIR_SKIPPED)
            return;
        r->in_time += got > 0 && !frame.late;
        r->looked++;
    }
}

static void read_next(void *context)
{
    struct run *r = context;
    host_clock(r->player);
    if (r->over >= OVER_UDP)
        read_datagrams(r);
    else if (r->over == OVER_TCP)
        read_in_order(r);
    else
        read_frames(r);
    sim_host_kick(r->player);
    sim_event_set(r->sim, &r->read, sim_now(r->sim) + LOOK_NS);
}

// --- one run ---------------------------------------------------------------------------------------------------------

static bool connected(void *context)
{
    struct run *r = context;
    const weir_socket accepted = r->out ? r->out : weir_socket_accept(sim_host_weir(r->source), r->listener);
    r->out = accepted > 0 ? accepted : 0;
    return r->out && weir_socket_ready(sim_host_weir(r->player), r->in) & WEIR_WRITABLE;
}

static void open_streams(struct run *r)
{
    const struct weir_endpoint any = {weir_addr_any(), PORT}, peer = {sim_host_address(r->source), PORT};
    struct weir *source = sim_host_weir(r->source), *player = sim_host_weir(r->player);
    const struct weir_realtime before = {.mode = WEIR_REALTIME_WEIR,
                                         .frame_bytes = (uint32_t)r->s->frame,
                                         .segment_bytes = (uint16_t)r->s->mss,
                                         .stored = r->file};
    host_clock(r->source);
    r->listener = weir_socket_open(source, WEIR_STREAM, 0);
    if (weir_socket_bind(source, r->listener, &any) || weir_socket_listen(source, r->listener, 1))
        fail("cannot listen");
    host_clock(r->player);
    r->in = weir_socket_open(player, WEIR_STREAM, 0);
    weir_socket_set(player, r->in, WEIR_OPTION_RECEIVE_BUFFER, (int32_t)r->s->buffer);
    // a delayed acknowledgement looks like a loss to a sender in haste
    weir_socket_set(player, r->in, WEIR_OPTION_QUICK_ACK, 1);
    if ((r->over != OVER_TCP && weir_realtime_set(player, r->in, &before)) ||
        weir_socket_connect(player, r->in, &peer) != WEIR_IN_PROGRESS)
        fail("cannot connect");
    sim_host_kick(r->player);
    if (!sim_run_until(r->sim, connected, r, SIM_S(10)) || !connected(r))
        fail("no connection");
    host_clock(r->source);
    weir_socket_set(source, r->out, WEIR_OPTION_NO_DELAY, 1);
    if (r->over == OVER_WEIR &&
        weir_socket_set(source, r->out, WEIR_OPTION_SEND_DEADLINE_US, (int32_t)r->s->within_ms * 1000))
        fail("no deadlines");
}

static void open_datagrams(struct run *r)
{
    const struct weir_endpoint any = {weir_addr_any(), PORT};
    host_clock(r->source);
    r->out = weir_socket_open(sim_host_weir(r->source), WEIR_DATAGRAM, 0);
    host_clock(r->player);
    r->in = weir_socket_open(sim_host_weir(r->player), WEIR_DATAGRAM, 0);
    if (weir_socket_bind(sim_host_weir(r->player), r->in, &any))
        fail("cannot bind");
    rtp_source_init(&r->rtp, 1, 7, 0, (uint32_t)(r->s->period_ms * 8), r->over == OVER_RTP_REDUNDANT);
    rtp_player_init(&r->heard);
}

static void begin_frames(struct run *r)
{
    // Of a file the first frame is due a period from now, and it is needed only then.
    r->first_ns = sim_now(r->sim) + (r->file ? SIM_MS((uint64_t)(r->s->period_ms - r->s->within_ms)) : SIM_MS(1));
    if (r->over == OVER_WEIR || r->over == OVER_RECEIVER) {
        const struct weir_realtime settings = {.mode = WEIR_REALTIME_WEIR,
                                               .frame_bytes = (uint32_t)r->s->frame,
                                               .period_us = (uint32_t)r->s->period_ms * 1000,
                                               .first_us =
                                                   host_now_us(r->player) + (due_ns(r, 0) - sim_now(r->sim)) / 1000,
                                               .stored = r->file};
        host_clock(r->player);
        if (weir_realtime_set(sim_host_weir(r->player), r->in, &settings))
            fail("no real-time mode");
    }
    r->write = (struct event){.happen = write_next, .context = r};
    r->read = (struct event){.happen = read_next, .context = r};
    sim_event_set(r->sim, &r->write, r->file ? sim_now(r->sim) : r->first_ns);
    sim_event_set(r->sim, &r->read, sim_now(r->sim) + LOOK_NS);
}

// Frames in time.
static uint32_t run(const struct settings *s, enum over over, uint64_t seed, double *segments, double *kilobytes)
{
    static struct run r;
    struct sim_way way = {.delay_ns = SIM_US((uint64_t)s->delay_us)};
    r = (struct run){.s = s, .over = over, .file = !strcmp(s->command, "file")};
    r.sim = sim_open(&(struct sim_options){.seed = seed, .unchecked = true});
    r.player = sim_host_add(r.sim, "player", NULL);
    r.source = sim_host_add(r.sim, "source", NULL);
    struct sim_link *link =
        sim_link_add(r.sim, sim_node_of(r.source), sim_node_of(r.player), &(struct sim_link_options){.there = way});
    if (over >= OVER_UDP)
        open_datagrams(&r);
    else
        open_streams(&r);
    way.loss_ppm = (uint32_t)s->loss;
    way.loss_spares_arp = true;
    sim_link_set(link, false, &way);
    sim_link_set(link, true, &way);
    begin_frames(&r);
    if (!sim_run(r.sim, due_ns(&r, (uint32_t)s->frames) + SIM_S(1)))
        fail(sim_failure(r.sim));
    *segments += (double)sim_link_stats(link, false)->frames;
    *kilobytes += (double)sim_link_stats(link, false)->bytes / 1000;
    sim_event_cancel(r.sim, &r.write);
    sim_event_cancel(r.sim, &r.read);
    sim_close(r.sim);
    return r.in_time;
}

static void set(struct settings *s, const char *word)
{
    const struct {
        const char *name;
        long *value;
    } numbers[] = {{"loss=", &s->loss},         {"frames=", &s->frames},    {"frame=", &s->frame},
                   {"period=", &s->period_ms},  {"within=", &s->within_ms}, {"buffer=", &s->buffer},
                   {"delay_us=", &s->delay_us}, {"mss=", &s->mss}};
    if (!strncmp(word, "over=", 5)) {
        snprintf(s->over, sizeof s->over, "%s", word + 5);
        return;
    }
    if (sscanf(word, "seeds=%ld-%ld", &s->first_seed, &s->last_seed) == 2)
        return;
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (!strncmp(word, numbers[i].name, strlen(numbers[i].name))) {
            *numbers[i].value = strtol(word + strlen(numbers[i].name), NULL, 10);
            return;
        }
    fprintf(stderr, "what is %s?\n", word);
    exit(2);
}

int main(int argc, char **argv)
{
    const bool voice = argc > 1 && !strcmp(argv[1], "voice");
    struct settings s = {.over = "weir",
                         .first_seed = 1,
                         .last_seed = 5,
                         .frames = 359,
                         .frame = 2048,
                         .period_ms = 250,
                         .within_ms = 500,
                         .buffer = 4096,
                         .delay_us = 10000};
    if (voice)
        s = (struct settings){.over = "weir",
                              .first_seed = 1,
                              .last_seed = 6,
                              .frames = 3000,
                              .frame = 160,
                              .period_ms = 20,
                              .within_ms = 40,
                              .buffer = 16384,
                              .delay_us = 10000};
    if (argc < 2)
        return 2;
    snprintf(s.command, sizeof s.command, "%s", argv[1]);
    for (int i = 2; i < argc; i++)
        set(&s, argv[i]);
    unsigned over = 0;
    while (over < OVER_RTP_REDUNDANT && strcmp(s.over, over_names[over]))
        over++;
    double met = 0, least = 100, segments = 0, kilobytes = 0;
    for (long seed = s.first_seed; seed <= s.last_seed; seed++) {
        const double percent =
            100.0 * run(&s, (enum over)over, (uint64_t)seed, &segments, &kilobytes) / (double)s.frames;
        met += percent;
        least = percent < least ? percent : least;
    }
    const double runs = (double)(s.last_seed - s.first_seed + 1);
    printf("{\"met_percent\": %.3f, \"least_percent\": %.3f, \"runs\": %.0f, \"frames\": %ld, \"segments\": %.1f, "
           "\"kilobytes\": %.1f}\n",
           met / runs, least, runs, s.frames, segments / runs, kilobytes / runs);
    return 0;
}
