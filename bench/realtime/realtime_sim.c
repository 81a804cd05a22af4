// SPDX-License-Identifier: BSD-2-Clause
// The real-time work's benchmark in virtual time, and what grew out of it. One line of JSON for all seeds of one
// setting:
//
//   weir-realtime player mode=weir loss=100000 seeds=1-20     the work's: a file from a Xinu-like sender, read by the
//                                                             clock
//   weir-realtime voice frame=160 period=20 playout=60 loss=100000    live frames from a Weir sender (bulk=1: a file)
//   weir-realtime fairness mode=weir seeds=1-5                ten frame streams beside ten cubic flows on a full link
//
// Loss is in millionths, each way, independent; the handshake is exempt.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "sim/internal.h"
#include "sim/outside.h"
#include "weir/realtime.h"
#include "xinu.h"

struct settings {
    char command[16], mode[16];
    long loss, first_seed, last_seed, bytes, frame, period_ms, buffer, mss, delay_us, persist_ms, rto_least_ms,
        no_fast_retransmit, silent;
    long streams, flows, rate, queue, queue_frames, send, deadline_ms, seconds, playout_ms, frames, bulk;
};

static const char *const mode_names[] = {"off", "regular", "regular_update", "skip", "skip_update", "weir"};

struct sums {
    double met_percent, least_percent, ticked_percent;
    uint64_t met, late, skipped, out_of_order, backtracked, filled, bytes_skipped, updates[WEIR_REALTIME_UPDATES], acks;
    uint64_t segments, retransmits, timeouts, probes, unsent_acks, wrong;
    uint32_t round_trip_us, loss_ppm, runs;
};

static void sums_add(struct sums *sums, const struct weir_realtime_stats *stats, double percent)
{
    sums->met_percent += percent;
    sums->least_percent = sums->runs && sums->least_percent < percent ? sums->least_percent : percent;
    sums->met += stats->met;
    sums->late += stats->late;
    sums->skipped += stats->skipped;
    sums->out_of_order += stats->out_of_order;
    sums->backtracked += stats->backtracked;
    sums->filled += stats->filled;
    sums->bytes_skipped += stats->bytes_skipped;
    for (int i = 0; i < WEIR_REALTIME_UPDATES; i++)
        sums->updates[i] += stats->updates[i];
    sums->acks += stats->acks;
    sums->round_trip_us = stats->round_trip_us;
    sums->loss_ppm = stats->loss_ppm;
    sums->runs++;
}

static enum weir_realtime_mode mode_of(const char *name)
{
    for (unsigned i = 0; i < sizeof mode_names / sizeof mode_names[0]; i++)
        if (!strcmp(name, mode_names[i]))
            return (enum weir_realtime_mode)i;
    fprintf(stderr, "no mode %s\n", name);
    exit(2);
}

// --- the player ------------------------------------------------------------------------------------------------------

struct player {
    const struct settings *s;
    struct sim *sim;
    struct sim_host *host;
    struct xinu sender;
    struct sim_node *sender_node;
    struct event tick, sender_due;
    weir_socket socket;
    uint64_t first_ns;
    uint32_t ticks, deadlines, got, in_time, wrong;
    uint8_t *frame;
    bool done;
};

// The file's byte at a place, as the sender makes it.
static uint8_t pattern(uint32_t at) { return (uint8_t)(at * 31 + (at >> 8) * 7 + (at >> 16)); }

static void check_frame(struct player *p, const struct weir_realtime_frame *frame)
{
    const uint32_t start = frame->number * (uint32_t)p->s->frame;
    for (uint32_t i = 0; i < frame->bytes; i++)
        if (p->frame[i] != pattern(start + i)) {
            p->wrong++;
            return;
        }
}

// A frame each period: the next one there is, on the clock of the first.
static void tick(void *context)
{
    struct player *p = context;
    struct weir_realtime_frame frame;
    host_clock(p->host);
    const int got = weir_realtime_read(sim_host_weir(p->host), p->socket, p->frame, (uint32_t)p->s->frame, &frame);
    if (got > 0) {
        check_frame(p, &frame);
        p->got++;
        p->in_time += !frame.late;
    }
    sim_host_kick(p->host);
    if (++p->ticks == p->deadlines)
        p->done = true;
    else
        sim_event_set(p->sim, &p->tick, p->first_ns + SIM_MS((uint64_t)p->s->period_ms * p->ticks));
}

static void sender_sends(void *context, const uint8_t *frame, uint32_t length)
{
    sim_outside_send(((struct player *)context)->sender_node, frame, length);
}

static void sender_arm(struct player *p)
{
    if (xinu_due_ns(&p->sender) == XINU_NEVER)
        sim_event_cancel(p->sim, &p->sender_due);
    else
        sim_event_set(p->sim, &p->sender_due, xinu_due_ns(&p->sender));
}

static void sender_hears(void *context, const uint8_t *frame, uint32_t length)
{
    struct player *p = context;
    xinu_input(&p->sender, sim_now(p->sim), frame, length);
    sender_arm(p);
}

static void sender_wakes(void *context)
{
    struct player *p = context;
    xinu_poll(&p->sender, sim_now(p->sim));
    sender_arm(p);
}

static void sender_open(struct player *p)
{
    const struct settings *s = p->s;
    const struct xinu_options sender = {.bytes = (uint32_t)s->bytes,
                                        .mss = 1460,
                                        .persist_ms = (uint32_t)s->persist_ms,
                                        .rto_least_ms = (uint32_t)s->rto_least_ms,
                                        .no_fast_retransmit = s->no_fast_retransmit,
                                        .silent = s->silent};
    xinu_open(&p->sender, 0x0a0000fa, 5000, (uint32_t)sim_draw(p->sim), &sender, sender_sends, p);
    p->sender_due = (struct event){.happen = sender_wakes, .context = p};
    p->sender_node = sim_outside_add(p->sim, "xinu", sender_hears, p);
}

static bool established(void *context)
{
    const struct player *p = context;
    return weir_socket_ready(sim_host_weir(p->host), p->socket) & WEIR_WRITABLE;
}
static bool finished(void *context) { return ((const struct player *)context)->done; }

static void fail(const char *what)
{
    fprintf(stderr, "%s\n", what);
    exit(1);
}

static void player_connect(struct player *p)
{
    const struct settings *s = p->s;
    struct weir *weir = sim_host_weir(p->host);
    const struct weir_realtime before = {
        .mode = mode_of(s->mode), .frame_bytes = (uint32_t)s->frame, .segment_bytes = (uint16_t)s->mss};
    const struct weir_endpoint peer = {weir_addr_v4(0x0a0000fa), 5000};
    host_clock(p->host);
    p->socket = weir_socket_open(weir, WEIR_STREAM, 0);
    weir_socket_set(weir, p->socket, WEIR_OPTION_RECEIVE_BUFFER, (int32_t)s->buffer);
    if (weir_realtime_set(weir, p->socket, &before) || weir_socket_connect(weir, p->socket, &peer) != WEIR_IN_PROGRESS)
        fail("cannot connect");
    sim_host_kick(p->host);
    if (!sim_run_until(p->sim, established, p, SIM_S(10)) || !established(p))
        fail("no connection");
}

static void player_run(const struct settings *s, uint64_t seed, struct sums *sums)
{
    struct player p = {.s = s, .deadlines = (uint32_t)(s->bytes / s->frame), .frame = malloc((size_t)s->frame)};
    struct sim_way way = {.delay_ns = SIM_US((uint64_t)s->delay_us)};
    p.sim = sim_open(&(struct sim_options){.seed = seed, .unchecked = true});
    p.host = sim_host_add(p.sim, "player", NULL);
    sender_open(&p);
    struct sim_link *link =
        sim_link_add(p.sim, sim_node_of(p.host), p.sender_node, &(struct sim_link_options){.there = way});
    player_connect(&p);
    way.loss_ppm = (uint32_t)s->loss;
    sim_link_set(link, false, &way);
    sim_link_set(link, true, &way);
    p.first_ns = sim_now(p.sim) + SIM_MS((uint64_t)s->period_ms);
    const struct weir_realtime settings = {.mode = mode_of(s->mode),
                                           .frame_bytes = (uint32_t)s->frame,
                                           .period_us = (uint32_t)s->period_ms * 1000,
                                           .first_us = host_now_us(p.host) + (uint64_t)s->period_ms * 1000,
                                           .stored = true};
    if (weir_realtime_set(sim_host_weir(p.host), p.socket, &settings))
        fail("no such mode");
    p.tick = (struct event){.happen = tick, .context = &p};
    sim_event_set(p.sim, &p.tick, p.first_ns);
    if (!sim_run_until(p.sim, finished, &p, SIM_S(100000)))
        fail(sim_failure(p.sim));
    struct weir_realtime_stats stats;
    weir_realtime_stats(sim_host_weir(p.host), p.socket, &stats);
    sums_add(sums, &stats, 100.0 * p.in_time / p.deadlines);
    sums->ticked_percent += 100.0 * p.got / p.deadlines;
    sums->segments += p.sender.stats.segments;
    sums->retransmits += p.sender.stats.retransmits;
    sums->timeouts += p.sender.stats.timeouts;
    sums->probes += p.sender.stats.probes;
    sums->unsent_acks += p.sender.stats.unsent_acks;
    sums->wrong += p.wrong;
    sim_event_cancel(p.sim, &p.sender_due);
    sim_close(p.sim);
    free(p.frame);
}

static void print_player(const struct sums *t)
{
    const double n = t->runs;
    printf(
        "{\"met_percent\": %.3f, \"least_percent\": %.3f, \"resync_percent\": %.3f, \"runs\": %u, \"met\": %.2f, "
        "\"late\": %.2f, "
        "\"skipped\": %.2f, \"out_of_order\": %.2f, \"backtracked\": %.2f, \"filled\": %.2f, \"bytes_skipped\": %.1f, "
        "\"updates\": {\"every_read\": %.2f, \"need\": %.2f, \"repeat\": %.2f, \"skip\": %.2f, \"data_late\": %.2f, "
        "\"ack_again\": "
        "%.2f}, \"acks\": %.1f, \"round_trip_us\": %u, \"loss_ppm\": %u, \"sender\": {\"segments\": %.1f, "
        "\"retransmits\": %.1f, "
        "\"timeouts\": %.2f, \"probes\": %.2f, \"unsent_acks\": %.2f}, \"wrong_frames\": %llu}\n",
        t->met_percent / n, t->least_percent, t->ticked_percent / n, t->runs, t->met / n, t->late / n, t->skipped / n,
        t->out_of_order / n, t->backtracked / n, t->filled / n, t->bytes_skipped / n, t->updates[0] / n,
        t->updates[1] / n, t->updates[2] / n, t->updates[3] / n, t->updates[4] / n, t->updates[5] / n, t->acks / n,
        t->round_trip_us, t->loss_ppm, t->segments / n, t->retransmits / n, t->timeouts / n, t->probes / n,
        t->unsent_acks / n, (unsigned long long)t->wrong);
}

// --- fairness --------------------------------------------------------------------------------------------------------

// A live source that writes a frame each period, as far as its send buffer takes it, and a reader: by the clock in a
// real-time mode, or (mode off) of whatever is there.
struct stream {
    const struct settings *s;
    struct sim *sim;
    struct sim_host *source, *reader;
    struct event write, read;
    weir_socket listener, out, in;
    bool playing;
    uint64_t frames_written, frames_refused, bytes_read;
    uint8_t frame[65536];
};

#define PORT 5000
#define READ_NS SIM_MS(5)  // how often a reader looks

static void write_frame(void *context)
{
    struct stream *t = context;
    struct weir *weir = sim_host_weir(t->source);
    struct weir_span spans[4];
    host_clock(t->source);
    if (!t->out) {
        const weir_socket accepted = weir_socket_accept(weir, t->listener);
        t->out = accepted > 0 ? accepted : 0;
        if (t->out)
            weir_socket_set(weir, t->out, WEIR_OPTION_NO_DELAY, 1);
        if (t->out && t->s->deadline_ms)
            weir_socket_set(weir, t->out, WEIR_OPTION_SEND_DEADLINE_US, (int32_t)t->s->deadline_ms * 1000);
    }
    if (t->out && weir_socket_reserve(weir, t->out, (uint32_t)t->s->frame, spans, 4) == (int)t->s->frame &&
        weir_socket_write(weir, t->out, t->frame, (uint32_t)t->s->frame) > 0)
        t->frames_written++;
    else
        t->frames_refused++;
    sim_host_kick(t->source);
    sim_event_set(t->sim, &t->write, sim_now(t->sim) + (t->s->bulk ? READ_NS : SIM_MS((uint64_t)t->s->period_ms)));
}

static void play_begin(struct stream *t)
{
    const struct weir_realtime settings = {.mode = mode_of(t->s->mode),
                                           .frame_bytes = (uint32_t)t->s->frame,
                                           .period_us = (uint32_t)t->s->period_ms * 1000,
                                           .first_us = host_now_us(t->reader) + 2 * (uint64_t)t->s->period_ms * 1000};
    weir_realtime_set(sim_host_weir(t->reader), t->in, &settings);
    t->playing = true;
}

static void read_stream(void *context)
{
    struct stream *t = context;
    struct weir *weir = sim_host_weir(t->reader);
    const bool clocked = mode_of(t->s->mode) != WEIR_REALTIME_OFF;
    int got = 0;
    host_clock(t->reader);
    if (clocked && !t->playing && weir_socket_ready(weir, t->in) & WEIR_READABLE)
        play_begin(t);
    if (clocked && t->playing)
        got = weir_realtime_read(weir, t->in, t->frame, sizeof t->frame, NULL);
    else if (!clocked)
        got = weir_socket_read(weir, t->in, t->frame, sizeof t->frame);
    t->bytes_read += got > 0 ? (uint64_t)got : 0;
    sim_host_kick(t->reader);
    sim_event_set(t->sim, &t->read, sim_now(t->sim) + READ_NS);
}

static void stream_open(struct stream *t, const struct settings *s, struct sim *sim, struct sim_host *source,
                        struct sim_host *reader)
{
    const struct weir_endpoint any = {weir_addr_any(), PORT}, peer = {sim_host_address(source), PORT};
    const struct weir_realtime settings = {
        .mode = mode_of(s->mode), .frame_bytes = (uint32_t)s->frame, .segment_bytes = (uint16_t)s->mss};
    *t = (struct stream){.s = s, .sim = sim, .source = source, .reader = reader};
    t->write = (struct event){.happen = write_frame, .context = t};
    t->read = (struct event){.happen = read_stream, .context = t};
    host_clock(source);
    t->listener = weir_socket_open(sim_host_weir(source), WEIR_STREAM, 0);
    if (s->send)
        weir_socket_set(sim_host_weir(source), t->listener, WEIR_OPTION_SEND_BUFFER, (int32_t)s->send);
    if (weir_socket_bind(sim_host_weir(source), t->listener, &any) ||
        weir_socket_listen(sim_host_weir(source), t->listener, 1))
        fail("cannot listen");
    host_clock(reader);
    t->in = weir_socket_open(sim_host_weir(reader), WEIR_STREAM, 0);
    if (s->buffer)  // 0, as for `send`: the default
        weir_socket_set(sim_host_weir(reader), t->in, WEIR_OPTION_RECEIVE_BUFFER, (int32_t)s->buffer);
    if (!settings.mode && s->mss)  // of an ordinary stream, too; its timestamps take 12 bytes of it
        weir_socket_set(sim_host_weir(reader), t->in, WEIR_OPTION_MAX_SEGMENT, (int32_t)s->mss + 12);
    if ((settings.mode && weir_realtime_set(sim_host_weir(reader), t->in, &settings)) ||
        weir_socket_connect(sim_host_weir(reader), t->in, &peer) != WEIR_IN_PROGRESS)
        fail("cannot connect");
    sim_host_kick(source);
    sim_host_kick(reader);
    const uint64_t from = sim_now(sim) + sim_draw(sim) % SIM_MS((uint64_t)s->period_ms);  // not all of them at one beat
    sim_event_set(sim, &t->write, from);
    sim_event_set(sim, &t->read, from + READ_NS);
}

static void stream_close(struct stream *t)
{
    sim_event_cancel(t->sim, &t->write);
    sim_event_cancel(t->sim, &t->read);
}

// A full link between two routers.
struct crowd {
    struct sim *sim;
    struct sim_node *left, *right;
    struct sim_flow **flows;
    struct stream *streams;
    struct sim_host **ends;  // of the streams: source, reader, …
};

static void join(struct crowd *crowd, struct sim_host *left, struct sim_host *right)
{
    const struct sim_way quick = {.delay_ns = SIM_MS(1)};
    sim_link_add(crowd->sim, sim_node_of(left), crowd->left, &(struct sim_link_options){.there = quick});
    sim_link_add(crowd->sim, crowd->right, sim_node_of(right), &(struct sim_link_options){.there = quick});
}

static void crowd_open(struct crowd *crowd, const struct settings *s)
{
    const struct sim_way way = {.rate = (uint64_t)s->rate,
                                .delay_ns = SIM_US((uint64_t)s->delay_us),
                                .queue_bytes = (uint32_t)s->queue,
                                .queue_frames = (uint32_t)s->queue_frames,
                                .loss_ppm = (uint32_t)s->loss};
    const struct sim_flow_options bulk = {.congestion_control = "cubic"};
    crowd->left = sim_router_add(crowd->sim, "left");
    crowd->right = sim_router_add(crowd->sim, "right");
    sim_link_add(crowd->sim, crowd->left, crowd->right, &(struct sim_link_options){.there = way});
    for (long i = 0; i < s->flows; i++) {
        struct sim_host *source = sim_host_add(crowd->sim, "bulk", NULL),
                        *sink = sim_host_add(crowd->sim, "sink", NULL);
        join(crowd, source, sink);
        crowd->flows[i] = sim_flow_add(crowd->sim, source, sink, &bulk);
    }
    for (long i = 0; i < s->streams; i++) {
        crowd->ends[2 * i] = sim_host_add(crowd->sim, "source", NULL);
        crowd->ends[2 * i + 1] = sim_host_add(crowd->sim, "reader", NULL);
        join(crowd, crowd->ends[2 * i], crowd->ends[2 * i + 1]);
        stream_open(&crowd->streams[i], s, crowd->sim, crowd->ends[2 * i], crowd->ends[2 * i + 1]);
    }
}

static void fairness_run(const struct settings *s, uint64_t seed, double *cubic, double *frames, double *written,
                         double *met)
{
    struct crowd crowd = {.sim = sim_open(&(struct sim_options){.seed = seed, .unchecked = true}),
                          .flows = calloc((size_t)s->flows, sizeof *crowd.flows),
                          .streams = calloc((size_t)s->streams, sizeof *crowd.streams),
                          .ends = calloc(2 * (size_t)s->streams, sizeof *crowd.ends)};
    crowd_open(&crowd, s);
    if (!sim_run(crowd.sim, SIM_S((uint64_t)s->seconds)))
        fail(sim_failure(crowd.sim));
    for (long i = 0; i < s->flows; i++)
        *cubic += (double)sim_flow_stats(crowd.flows[i])->received[0] * 8 / 1e3 / (double)s->seconds;
    for (long i = 0; i < s->streams; i++) {
        struct weir_realtime_stats stats = {0};
        weir_realtime_stats(sim_host_weir(crowd.ends[2 * i + 1]), crowd.streams[i].in, &stats);
        const uint32_t all = stats.met + stats.skipped + stats.late;
        *frames += (double)crowd.streams[i].bytes_read * 8 / 1e3 / (double)s->seconds;
        *written += (double)crowd.streams[i].frames_written * (double)s->frame * 8 / 1e3 / (double)s->seconds;
        *met += all ? 100.0 * stats.met / all : 0;
        stream_close(&crowd.streams[i]);
    }
    sim_close(crowd.sim);
    free(crowd.ends);
    free(crowd.flows);
    free(crowd.streams);
}

static void fairness(const struct settings *s)
{
    double cubic = 0, frames = 0, written = 0, met = 0;
    const double runs = (double)(s->last_seed - s->first_seed + 1);
    for (long seed = s->first_seed; seed <= s->last_seed; seed++)
        fairness_run(s, (uint64_t)seed, &cubic, &frames, &written, &met);
    printf("{\"cubic_kbit\": %.2f, \"frames_kbit\": %.2f, \"written_kbit\": %.2f, \"met_percent\": %.2f, \"runs\": "
           "%.0f}\n",
           cubic / runs, frames / runs, written / runs, s->streams ? met / runs / (double)s->streams : 0.0, runs);
}

// --- live frames from a Weir sender ----------------------------------------------------------------------------------

// A frame each period, whole at the reader's within `playout` ms of being written or of no use.
struct voice {
    struct stream stream;
    uint32_t frames, reads, got;
    uint64_t first_ns;
    bool done;
};

static void voice_read(void *context)
{
    struct voice *v = context;
    struct stream *t = &v->stream;
    struct weir_realtime_frame frame;
    host_clock(t->reader);
    v->got += weir_realtime_read(sim_host_weir(t->reader), t->in, t->frame, sizeof t->frame, &frame) > 0 && !frame.late;
    sim_host_kick(t->reader);
    if (++v->reads >= v->frames)
        v->done = true;
    else
        sim_event_set(t->sim, &t->read, sim_now(t->sim) + SIM_MS((uint64_t)t->s->period_ms));
}

static bool voice_done(void *context) { return ((const struct voice *)context)->done; }
static bool voice_ready(void *context)
{
    const struct voice *v = context;
    return weir_socket_ready(sim_host_weir(v->stream.reader), v->stream.in) & WEIR_WRITABLE;
}

static void voice_run(const struct settings *s, uint64_t seed, struct sums *sums)
{
    struct voice v = {.frames = (uint32_t)s->frames};
    struct stream *t = &v.stream;
    struct sim_way way = {.delay_ns = SIM_US((uint64_t)s->delay_us)};
    struct sim *sim = sim_open(&(struct sim_options){.seed = seed, .unchecked = true});
    struct sim_host *source = sim_host_add(sim, "source", NULL), *reader = sim_host_add(sim, "reader", NULL);
    struct sim_link *link =
        sim_link_add(sim, sim_node_of(source), sim_node_of(reader), &(struct sim_link_options){.there = way});
    stream_open(t, s, sim, source, reader);
    sim_event_cancel(sim, &t->write);
    sim_event_cancel(sim, &t->read);
    if (!sim_run_until(sim, voice_ready, &v, SIM_S(10)) || !voice_ready(&v))
        fail("no connection");
    way.loss_ppm = (uint32_t)s->loss;
    sim_run(sim, sim_now(sim) + SIM_MS(50));
    sim_link_set(link, false, &way);
    sim_link_set(link, true, &way);
    const uint64_t first_ns = sim_now(sim) + SIM_MS(1);
    const struct weir_realtime settings = {.mode = mode_of(s->mode),
                                           .frame_bytes = (uint32_t)s->frame,
                                           .period_us = (uint32_t)s->period_ms * 1000,
                                           .first_us = host_now_us(reader) + (1 + (uint64_t)s->playout_ms) * 1000,
                                           .stored = s->bulk};
    if (weir_realtime_set(sim_host_weir(reader), t->in, &settings))
        fail("no such mode");
    t->read = (struct event){.happen = voice_read, .context = &v};
    sim_event_set(sim, &t->write, first_ns);
    sim_event_set(sim, &t->read, first_ns + SIM_MS((uint64_t)s->playout_ms));
    if (!sim_run_until(sim, voice_done, &v, SIM_S(100000)))
        fail(sim_failure(sim));
    struct weir_realtime_stats stats;
    weir_realtime_stats(sim_host_weir(reader), t->in, &stats);
    sums_add(sums, &stats, 100.0 * v.got / v.frames);
    sums->ticked_percent += 100.0 * v.got / v.frames;
    stream_close(t);
    sim_close(sim);
}

// --- the settings ----------------------------------------------------------------------------------------------------

static void set(struct settings *s, const char *word)
{
    const struct {
        const char *name;
        long *value;
    } numbers[] = {{"loss", &s->loss},          {"bytes", &s->bytes},
                   {"frame", &s->frame},        {"period", &s->period_ms},
                   {"buffer", &s->buffer},      {"mss", &s->mss},
                   {"delay_us", &s->delay_us},  {"persist", &s->persist_ms},
                   {"rto", &s->rto_least_ms},   {"no_fr", &s->no_fast_retransmit},
                   {"silent", &s->silent},      {"streams", &s->streams},
                   {"flows", &s->flows},        {"rate", &s->rate},
                   {"queue", &s->queue},        {"seconds", &s->seconds},
                   {"playout", &s->playout_ms}, {"frames", &s->frames},
                   {"bulk", &s->bulk},          {"queue_frames", &s->queue_frames},
                   {"send", &s->send},          {"deadline", &s->deadline_ms}};
    const char *equals = strchr(word, '=');
    const size_t length = equals ? (size_t)(equals - word) : 0;
    if (length == 4 && !strncmp(word, "mode", 4)) {
        snprintf(s->mode, sizeof s->mode, "%s", equals + 1);
        return;
    }
    if (length == 5 && !strncmp(word, "seeds", 5) && sscanf(equals + 1, "%ld-%ld", &s->first_seed, &s->last_seed) == 2)
        return;
    for (unsigned i = 0; i < sizeof numbers / sizeof numbers[0]; i++)
        if (length == strlen(numbers[i].name) && !strncmp(word, numbers[i].name, length)) {
            *numbers[i].value = strtol(equals + 1, NULL, 10);
            return;
        }
    fprintf(stderr, "what is %s?\n", word);
    exit(2);
}

int main(int argc, char **argv)
{
    struct settings s = {.mode = "weir",
                         .first_seed = 1,
                         .last_seed = 20,
                         .bytes = 719 * 1024,
                         .frame = 2048,
                         .period_ms = 250,
                         .buffer = 4096,
                         .mss = 1024,
                         .delay_us = 10000,
                         .persist_ms = 3000,
                         .rto_least_ms = 200,
                         .streams = 10,
                         .flows = 10,
                         .rate = 2000000,
                         .queue = 25000,
                         .send = 16384,
                         .seconds = 120,
                         .playout_ms = 60,
                         .frames = 3000};
    struct sums sums = {0};
    if (argc < 2)
        return 2;
    if (strcmp(argv[1], "player"))
        s.mss = 0;  // the mode's own
    for (int i = 2; i < argc; i++)
        set(&s, argv[i]);
    if (!strcmp(argv[1], "fairness")) {
        fairness(&s);
        return 0;
    }
    const bool voice = !strcmp(argv[1], "voice");
    for (long seed = s.first_seed; seed <= s.last_seed; seed++)
        (voice ? voice_run : player_run)(&s, (uint64_t)seed, &sums);
    print_player(&sums);
    return 0;
}
