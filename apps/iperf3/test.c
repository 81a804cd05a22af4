// SPDX-License-Identifier: BSD-2-Clause
#include "iperf3/test.h"

#include <string.h>

#include "bytes.h"
#include "service.h"
#include "weir/stats.h"

#define SPANS 16
#define SECOND_US 1000000u
#define COPY_BYTES 16384u         // read at once where data is copied
#define RECEIVE_BUFFER (2 << 20)  // of a UDP receiver: a burst must not be lost for want of room
#define FILLER_BYTES 2048u
#define FILLERS (IPERF3_DATAGRAM_MAX / FILLER_BYTES + 1)

// Greeting and answer as a little-endian iperf3 writes them; a big-endian one turns them round.
const char iperf3_hello[4] = {'9', '8', '7', '6'}, iperf3_hello_reply[4] = {'6', '7', '8', '9'};

bool iperf3_is_hello(const uint8_t *data, uint32_t length)
{
    return length == 4 && (memcmp(data, iperf3_hello, 4) == 0 || memcmp(data, iperf3_hello_reply, 4) == 0);
}

static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }
static uint64_t max_u64(uint64_t a, uint64_t b) { return a > b ? a : b; }

// --- parameters ------------------------------------------------------------------------------------------------------

uint32_t iperf3_stream_total(const struct iperf3_parameters *p)
{
    return p->bidirectional ? 2 * p->parallel : p->parallel;
}

bool iperf3_parameters_check(struct iperf3_parameters *p)
{
    if (p->parallel == 0)
        p->parallel = 1;
    if (p->block == 0)
        p->block = p->udp ? IPERF3_BLOCK_UDP : IPERF3_BLOCK_TCP;
    if (p->time_s == 0 && p->bytes == 0 && p->blocks == 0)
        p->time_s = 10;
    bool datagram_fits = p->block >= 16 && p->block <= IPERF3_DATAGRAM_MAX;
    return iperf3_stream_total(p) <= IPERF3_STREAMS && !(p->reverse && p->bidirectional) &&
           p->block <= IPERF3_BLOCK_MAX && (!p->udp || datagram_fits) && p->time_s <= 86400 && p->omit_s <= 600;
}

static void put_number(struct text *out, const char *key, uint64_t value)
{
    text_put(out, ",\"");
    text_put(out, key);
    text_put(out, "\":");
    text_u64(out, value);
}

void iperf3_parameters_emit(const struct iperf3_parameters *p, struct text *out)
{
    text_put(out, p->udp ? "{\"udp\":true" : "{\"tcp\":true");
    put_number(out, "omit", p->omit_s);
    put_number(out, "time", p->time_s);
    put_number(out, "num", p->bytes);
    put_number(out, "blockcount", p->blocks);
    put_number(out, "parallel", p->parallel);
    put_number(out, "len", p->block);
    put_number(out, "pacing_timer", 1000);
    if (p->rate != 0)
        put_number(out, "bandwidth", p->rate);
    if (p->reverse)
        text_put(out, ",\"reverse\":true");
    if (p->bidirectional)
        text_put(out, ",\"bidirectional\":true");
    if (p->no_delay)
        text_put(out, ",\"nodelay\":true");
    if (p->counters64)
        put_number(out, "udp_counters_64bit", 1);
    if (p->mss != 0)
        put_number(out, "MSS", p->mss);
    if (p->window != 0)
        put_number(out, "window", p->window);
    if (p->congestion[0] != '\0') {
        text_put(out, ",\"congestion\":");
        text_json(out, p->congestion);
    }
    text_put(out, ",\"client_version\":\"3.12\"}");  // the version whose messages these are
}

// A number that must lie in 0 … max.
static bool take_number(struct json object, const char *key, uint64_t max, uint64_t *out)
{
    int64_t value = json_get(object, key, 0, 0);
    *out = (uint64_t)value;
    return value >= 0 && (uint64_t)value <= max;
}

bool iperf3_parameters_parse(const char *text, uint32_t length, struct iperf3_parameters *out)
{
    struct json object, value;
    uint64_t parallel, block, time_s, omit_s, mss, window;
    memset(out, 0, sizeof *out);
    if (!json_read(text, length, &object) || object.text[0] != '{')
        return false;
    bool good = take_number(object, "parallel", IPERF3_STREAMS, &parallel) &&
                take_number(object, "len", IPERF3_BLOCK_MAX, &block) && take_number(object, "time", 86400, &time_s) &&
                take_number(object, "omit", 600, &omit_s) && take_number(object, "MSS", 65495, &mss) &&
                take_number(object, "window", INT32_MAX, &window) &&
                take_number(object, "num", INT64_MAX, &out->bytes) &&
                take_number(object, "blockcount", 1ull << 40, &out->blocks) &&
                take_number(object, "bandwidth", INT64_MAX, &out->rate);
    if (!good || json_get_true(object, "sctp"))
        return false;
    out->udp = json_get_true(object, "udp");
    out->reverse = json_get_true(object, "reverse");
    out->bidirectional = json_get_true(object, "bidirectional");
    out->no_delay = json_get_true(object, "nodelay");
    out->counters64 = json_get_true(object, "udp_counters_64bit");
    out->parallel = (uint32_t)parallel;
    out->block = (uint32_t)block;
    out->time_s = (uint32_t)time_s;
    out->omit_s = (uint32_t)omit_s;
    out->mss = (uint32_t)mss;
    out->window = (uint32_t)window;
    if (json_member(object, "congestion", &value) && !json_string(value, out->congestion, sizeof out->congestion))
        return false;
    return iperf3_parameters_check(out);
}

// --- results ---------------------------------------------------------------------------------------------------------

void iperf3_results_emit(struct iperf3_test *test, struct text *out)
{
    bool sender = test->stream_count > 0 && (test->streams[0].sender || test->parameters.bidirectional);
    const char *congestion = test->stream_count > 0 && !test->parameters.udp
                                 ? weir_socket_congestion(test->loop->weir, test->streams[0].socket)
                                 : NULL;
    text_put(out, "{\"cpu_util_total\":0,\"cpu_util_user\":0,\"cpu_util_system\":0,\"sender_has_retransmits\":");
    text_put(out, !sender ? "-1" : test->parameters.udp ? "0" : "1");
    if (congestion != NULL) {
        text_put(out, ",\"congestion_used\":");
        text_json(out, congestion);
    }
    text_put(out, ",\"streams\":[");
    for (uint32_t i = 0; i < test->stream_count; i++) {
        const struct iperf3_count *count = &test->streams[i].count;
        text_put(out, i > 0 ? ",{\"id\":" : "{\"id\":");
        text_u64(out, iperf3_stream_id(test, &test->streams[i]));
        put_number(out, "bytes", count->bytes);
        text_put(out, ",\"retransmits\":");
        text_i64(out, count->retransmits);
        text_put(out, ",\"jitter\":");
        text_fixed(out, count->jitter_us, 6);
        put_number(out, "errors", count->lost);
        put_number(out, "packets", count->packets);
        text_put(out, ",\"start_time\":0,\"end_time\":");
        text_fixed(out, count->time_us, 6);
        text_char(out, '}');
    }
    text_put(out, "]}");
}

static void results_take(struct json object, struct iperf3_count *count)
{
    count->bytes = (uint64_t)json_get(object, "bytes", 0, 0);
    count->packets = (uint64_t)json_get(object, "packets", 0, 0);
    count->lost = (uint64_t)json_get(object, "errors", 0, 0);
    count->retransmits =
        json_get(object, "retransmits", 0, -1);  // iperf3 writes -1 as 2^64 - 1, which is out of range here
    count->jitter_us = (uint32_t)json_get(object, "jitter", 6, 0);
    int64_t time_us = json_get(object, "end_time", 6, 0) - json_get(object, "start_time", 6, 0);
    count->time_us = time_us > 0 ? (uint64_t)time_us : 0;
}

bool iperf3_results_parse(struct iperf3_test *test, const char *text, uint32_t length)
{
    struct json object, streams, stream;
    uint32_t cursor = 0;
    if (!json_read(text, length, &object) || !json_member(object, "streams", &streams))
        return false;
    while (json_element(streams, &cursor, &stream)) {
        int64_t id = json_get(stream, "id", 0, 0);
        for (uint32_t i = 0; i < test->stream_count; i++) {
            if (id == iperf3_stream_id(test, &test->streams[i]))
                results_take(stream, &test->streams[i].remote);
        }
    }
    return true;
}

// --- control connection ----------------------------------------------------------------------------------------------

int iperf3_control_read(struct iperf3_test *test, uint32_t want)
{
    if (want > sizeof test->in)
        return WEIR_TOO_BIG;
    while (test->in_length < want) {
        int got = weir_socket_read(test->loop->weir, test->control, test->in + test->in_length, want - test->in_length);
        if (got == WEIR_AGAIN)
            return 0;
        if (got <= 0)
            return got == 0 ? WEIR_CLOSED : got;
        test->in_length += (uint32_t)got;
    }
    return 1;
}

uint32_t iperf3_length(const char *text) { return get32((const uint8_t *)text); }

int iperf3_control_read_json(struct iperf3_test *test)
{
    int got = iperf3_control_read(test, 4);
    if (got <= 0)
        return got;
    uint32_t length = iperf3_length(test->in);
    if (length > sizeof test->in - 4)
        return WEIR_TOO_BIG;
    return iperf3_control_read(test, 4 + length);
}

bool iperf3_control_flush(struct iperf3_test *test)
{
    while (test->out_at < test->out_length) {
        int sent = weir_socket_write(test->loop->weir, test->control, test->out + test->out_at,
                                     test->out_length - test->out_at);
        if (sent == WEIR_AGAIN)
            return true;
        if (sent < 0)
            return false;
        test->out_at += (uint32_t)sent;
    }
    test->out_at = test->out_length = 0;
    return true;
}

bool iperf3_control_state(struct iperf3_test *test, enum iperf3_state state)
{
    if (test->out_length == sizeof test->out)
        return false;
    test->out[test->out_length++] = (char)state;
    return iperf3_control_flush(test);
}

bool iperf3_control_json(struct iperf3_test *test, void (*emit)(struct iperf3_test *, struct text *))
{
    struct text text;
    uint32_t at = test->out_length;
    if (sizeof test->out - at < 8)
        return false;
    text_init(&text, test->out + at + 4, (uint32_t)sizeof test->out - at - 4);
    emit(test, &text);
    put32((uint8_t *)test->out + at, text.length);
    test->out_length = at + 4 + text.length;
    return !text.cut && iperf3_control_flush(test);
}

// --- streams ---------------------------------------------------------------------------------------------------------

// Whether the next stream is one in which this end sends.
static bool sends_next(const struct iperf3_test *test)
{
    const struct iperf3_parameters *p = &test->parameters;
    const bool client_sends = p->bidirectional ? test->stream_count < p->parallel : !p->reverse;
    return client_sends != test->server;
}

struct iperf3_stream *iperf3_stream_new(struct iperf3_test *test, weir_socket socket)
{
    if (test->stream_count == IPERF3_STREAMS)
        return NULL;
    const bool sender = sends_next(test);
    struct iperf3_stream *stream = &test->streams[test->stream_count++];
    void (*event)(struct weir_watch *, weir_socket, uint32_t) = stream->watch.event;
    *stream = (struct iperf3_stream){.watch = {event}, .test = test, .socket = socket, .sender = sender};
    stream->count.retransmits = stream->remote.retransmits = -1;
    return stream;
}

uint32_t iperf3_stream_id(const struct iperf3_test *test, const struct iperf3_stream *stream)
{
    uint32_t index = (uint32_t)(stream - test->streams);
    return index == 0 ? 1 : index + 2;  // iperf3 has no stream 2
}

void iperf3_stream_tune(struct iperf3_test *test, weir_socket socket)
{
    struct weir *weir = test->loop->weir;
    const struct iperf3_parameters *p = &test->parameters;
    // What a profile or the instance's limits refuse stays at its default: the test runs all the same.
    if (p->udp) {
        (void)weir_socket_set(weir, socket, WEIR_OPTION_RECEIVE_BUFFER,
                              p->window != 0 ? (int32_t)p->window : RECEIVE_BUFFER);
        return;
    }
    if (p->window != 0) {
        (void)weir_socket_set(weir, socket, WEIR_OPTION_RECEIVE_BUFFER, (int32_t)p->window);
        (void)weir_socket_set(weir, socket, WEIR_OPTION_SEND_BUFFER, (int32_t)p->window);
    }
    if (p->mss != 0)
        (void)weir_socket_set(weir, socket, WEIR_OPTION_MAX_SEGMENT, (int32_t)p->mss);
    if (p->no_delay)
        (void)weir_socket_set(weir, socket, WEIR_OPTION_NO_DELAY, 1);
    if (p->congestion[0] != '\0')
        (void)weir_socket_set_congestion(weir, socket, p->congestion);
}

void iperf3_stream_opened(struct iperf3_stream *stream)
{
    struct weir *weir = stream->test->loop->weir;
    (void)weir_socket_local(weir, stream->socket, &stream->local);
    if (!stream->test->udp_shared)
        (void)weir_socket_peer(weir, stream->socket, &stream->peer);
    stream->ready = true;
}

// RFC 1889 §A.8, in sixteenths of a microsecond; loss and order by the sender's packet numbers, which begin with 1.
void iperf3_stream_datagram(struct iperf3_stream *stream, const uint8_t *data, uint32_t length, uint64_t now_us)
{
    struct iperf3_count *count = &stream->count;
    bool wide = stream->test->parameters.counters64;
    if (length < (wide ? 16u : 12u) || iperf3_is_hello(data, length))
        return;
    uint64_t number = wide ? (uint64_t)get32(data + 8) << 32 | get32(data + 12) : get32(data + 8);
    count->bytes += length;
    stream->test->bytes += length;
    stream->test->datagrams++;
    if (number > count->packets) {
        count->lost += number - count->packets - 1;
        count->packets = number;
    } else {
        count->reordered++;
        count->lost -= count->lost > 0;
    }
    int64_t transit_us = (int64_t)(now_us - ((uint64_t)get32(data) * SECOND_US + get32(data + 4)));
    int64_t change = transit_us - stream->transit_us;
    const uint64_t step = change < 0 ? (uint64_t)-change : (uint64_t)change;
    if (stream->transit_us != 0 && step < 60u * SECOND_US)
        stream->jitter16_us += (uint32_t)step - (stream->jitter16_us + 8) / 16;
    stream->transit_us = transit_us;
    count->jitter_us = stream->jitter16_us / 16;
}

static bool receive_udp(struct iperf3_stream *stream)
{
    struct weir *weir = stream->test->loop->weir;
    struct weir_message message;
    struct weir_slice slice;
    while (service_peek(stream->test->loop, stream->socket, &message, &slice, NULL)) {
        if (stream->test->running)
            iperf3_stream_datagram(stream, slice.data, slice.length, weir_now_us(weir));
        (void)weir_socket_discard(weir, stream->socket);
    }
    return true;  // an ICMP error does not end a UDP test
}

// Takes what is there. Returns how many bytes, or an error.
static int take(struct iperf3_stream *stream)
{
    struct weir *weir = stream->test->loop->weir;
    struct weir_slice slices[SPANS];
    uint8_t copy[COPY_BYTES];
    if (stream->test->copies)
        return weir_socket_read(weir, stream->socket, copy, sizeof copy);
    const int there = weir_socket_peek(weir, stream->socket, 0, slices, SPANS);
    if (there > 0)
        (void)weir_socket_consume(weir, stream->socket, (uint32_t)there);
    return there;
}

bool iperf3_stream_receive(struct iperf3_stream *stream)
{
    int there;
    // The other end may begin before its word to do so is read here: what it sends waits in the queue, to be counted.
    if (!stream->test->running && stream->test->end_us == 0)
        return true;
    if (stream->test->parameters.udp)
        return receive_udp(stream);
    while ((there = take(stream)) > 0) {
        if (stream->test->running) {
            stream->count.bytes += (uint32_t)there;
            stream->test->bytes += (uint32_t)there;
        }
    }
    return there == WEIR_AGAIN;
}

// How many bytes may be sent now: the block, less where the test ends, none where the pace forbids.
static uint32_t may_send(const struct iperf3_stream *stream, uint64_t now_us)
{
    const struct iperf3_test *test = stream->test;
    const struct iperf3_parameters *p = &test->parameters;
    if (!test->running || iperf3_stream_due(stream, now_us) > now_us)
        return 0;
    if (p->udp)
        return (p->bytes != 0 && test->bytes_sent >= p->bytes) || (p->blocks != 0 && test->datagrams_sent >= p->blocks)
                   ? 0
                   : p->block;
    uint64_t limit = p->bytes != 0 ? p->bytes : p->blocks != 0 ? p->blocks * p->block : UINT64_MAX;
    return (uint32_t)(test->bytes_sent >= limit ? 0 : min_u64(p->block, limit - test->bytes_sent));
}

uint64_t iperf3_stream_due(const struct iperf3_stream *stream, uint64_t now_us)
{
    uint64_t rate = stream->test->parameters.rate;
    if (!stream->sender || !stream->test->running || stream->blocked || iperf3_test_reached(stream->test))
        return WEIR_NEVER;
    if (rate == 0)
        return 0;
    // Bytes so far may not be ahead of the rate; divided in two steps, so that nothing overflows within a day at 100
    // Gbit/s.
    uint64_t bits = stream->paced_bytes * 8, seconds = bits / rate, rest = bits % rate;
    uint64_t due_us = stream->paced_from_us + seconds * SECOND_US + rest * SECOND_US / rate;
    return due_us > now_us ? due_us : 0;
}

static void sent(struct iperf3_stream *stream, uint32_t bytes)
{
    stream->count.bytes += bytes;
    stream->paced_bytes += bytes;
    stream->test->bytes += bytes;
    stream->test->bytes_sent += bytes;
}

static bool send_udp(struct iperf3_stream *stream, uint64_t now_us)
{
    static const uint8_t filler[FILLER_BYTES];
    struct weir *weir = stream->test->loop->weir;
    struct weir_slice slices[1 + FILLERS];
    uint8_t header[16] = {0};
    bool wide = stream->test->parameters.counters64;
    const struct weir_message message = {.peer = stream->test->udp_shared ? stream->peer
                                                                          : (struct weir_endpoint){.port = 0}};
    for (uint32_t burst = 0; burst < IPERF3_BURST; burst++) {
        uint32_t bytes = may_send(stream, now_us), count = 1;
        if (bytes == 0)
            return true;
        uint64_t number = stream->count.packets + 1;
        put32(header, (uint32_t)(now_us / SECOND_US));
        put32(header + 4, (uint32_t)(now_us % SECOND_US));
        put32(header + 8, wide ? (uint32_t)(number >> 32) : (uint32_t)number);
        put32(header + 12, wide ? (uint32_t)number : 0);
        slices[0] = (struct weir_slice){header, sizeof header};
        for (uint32_t left = bytes - (uint32_t)sizeof header; left > 0; count++) {
            slices[count] = (struct weir_slice){filler, left < FILLER_BYTES ? left : FILLER_BYTES};
            left -= slices[count].length;
        }
        int result = weir_socket_send_message(weir, stream->socket, &message, slices, (int)count);
        stream->blocked = result == WEIR_AGAIN;
        if (stream->blocked)
            return true;
        if (result < 0)
            // an ICMP error: go on, the next call tells again
            return result == WEIR_REFUSED || result == WEIR_HOST_UNREACHABLE;
        stream->count.packets++;
        stream->test->datagrams++;
        stream->test->datagrams_sent++;
        sent(stream, bytes);
    }
    return true;
}

bool iperf3_stream_send(struct iperf3_stream *stream, uint64_t now_us)
{
    struct weir *weir = stream->test->loop->weir;
    struct weir_span spans[SPANS];
    uint32_t bytes;
    stream->blocked = false;
    if (stream->test->parameters.udp)
        return send_udp(stream, now_us);
    while ((bytes = may_send(stream, now_us)) > 0) {
        int room = weir_socket_reserve(weir, stream->socket, bytes, spans, SPANS);
        stream->blocked = room < 0;  // an error is news of its own
        if (room < 0)
            return room == WEIR_AGAIN;
        uint32_t left = (uint32_t)room;
        for (int i = 0; left > 0; i++) {
            memset(spans[i].data, 'w', spans[i].length);  // never what the memory held before
            left -= spans[i].length;
        }
        if (weir_socket_commit(weir, stream->socket, (uint32_t)room) < 0)
            return false;
        sent(stream, (uint32_t)room);
    }
    return true;
}

uint64_t iperf3_test_send(struct iperf3_test *test, uint64_t now_us)
{
    uint64_t next_us = WEIR_NEVER;
    test->turn++;
    for (uint32_t i = 0; i < test->stream_count; i++) {
        struct iperf3_stream *stream = &test->streams[(i + test->turn) % test->stream_count];
        uint64_t due_us = iperf3_stream_due(stream, now_us);
        if (due_us <= now_us) {
            (void)iperf3_stream_send(stream, now_us);
            due_us = iperf3_stream_due(stream, now_us);
        }
        next_us = min_u64(next_us, due_us);
    }
    return next_us;
}

void iperf3_stream_sample(struct iperf3_stream *stream)
{
    struct weir_tcp_info info;
    if (stream->test->parameters.udp || !stream->sender ||
        weir_socket_tcp_info(stream->test->loop->weir, stream->socket, &info) != WEIR_OK)
        return;
    stream->count.retransmits = (int64_t)info.total_retrans - stream->retransmits_at_start;
    stream->rtt_us = info.srtt_us;
    stream->cwnd_max = info.cwnd > stream->cwnd_max ? info.cwnd : stream->cwnd_max;
}

// --- the test --------------------------------------------------------------------------------------------------------

void iperf3_test_begin(struct iperf3_test *test, uint64_t now_us)
{
    test->start_us = now_us;
    test->end_us = 0;
    test->bytes = test->datagrams = test->bytes_sent = test->datagrams_sent = 0;
    for (uint32_t i = 0; i < test->stream_count; i++) {
        struct iperf3_stream *stream = &test->streams[i];
        uint64_t packets = stream->count.packets;
        int64_t before = stream->retransmits_at_start;
        if (!test->running)
            stream->paced_from_us = now_us;
        iperf3_stream_sample(stream);
        if (stream->count.retransmits >= 0)
            stream->retransmits_at_start = stream->count.retransmits + before;
        stream->count = (struct iperf3_count){.retransmits = stream->count.retransmits >= 0 ? 0 : -1,
                                              .packets = test->running ? packets : 0};
        stream->before = stream->count;
    }
    test->running = true;
}

void iperf3_test_end(struct iperf3_test *test, uint64_t now_us)
{
    if (!test->running)
        return;
    test->running = false;
    test->end_us = now_us;
    for (uint32_t i = 0; i < test->stream_count; i++) {
        iperf3_stream_sample(&test->streams[i]);
        test->streams[i].count.time_us = now_us - test->start_us;
    }
}

bool iperf3_test_reached(const struct iperf3_test *test)
{
    const struct iperf3_parameters *p = &test->parameters;
    // Of two directions the first that has come so far ends it.
    const uint64_t bytes = max_u64(test->bytes_sent, test->bytes - test->bytes_sent);
    const uint64_t datagrams = max_u64(test->datagrams_sent, test->datagrams - test->datagrams_sent);
    if (p->bytes != 0)
        return bytes >= p->bytes;
    if (p->blocks != 0)
        return p->udp ? datagrams >= p->blocks : bytes >= p->blocks * p->block;
    return false;
}

void iperf3_streams_close(struct iperf3_test *test)
{
    for (uint32_t i = 0; i < test->stream_count; i++) {
        if (!test->udp_shared && test->streams[i].socket != 0)
            service_close(test->loop, &test->streams[i].socket);
        test->streams[i].socket = 0;
    }
}

void iperf3_test_close(struct iperf3_test *test)
{
    iperf3_streams_close(test);
    test->stream_count = 0;
    test->running = false;
    service_close(test->loop, &test->control);
    test->in_length = test->out_at = test->out_length = 0;
}
