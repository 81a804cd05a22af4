// SPDX-License-Identifier: BSD-2-Clause
// The client's report. Text has iperf3's columns; JSON has its names, written piece by piece so that nothing need be
// kept.
#include "iperf3/client.h"

#define LINE_BYTES 640u

struct total {
    struct iperf3_count count;
    uint32_t cwnd;
    bool sender;  // which end we are of these streams
};

static void put(struct iperf3_client *client, const struct text *text) { client->print(client->context, text->bytes); }

static void number(struct text *out, const char *key, uint64_t value)
{
    text_put(out, ",\"");
    text_put(out, key);
    text_put(out, "\":");
    text_u64(out, value);
}

static void fraction(struct text *out, const char *key, uint64_t value, unsigned decimals)
{
    text_put(out, ",\"");
    text_put(out, key);
    text_put(out, "\":");
    text_fixed(out, value, decimals);
}

static void boolean(struct text *out, const char *key, bool value)
{
    text_put(out, ",\"");
    text_put(out, key);
    text_put(out, value ? "\":true" : "\":false");
}

// Thousandths of `value` in units of `base` to the power of *unit.
static uint64_t scale(uint64_t value, uint64_t base, unsigned units, unsigned *unit)
{
    uint64_t divisor = 1;
    for (*unit = 0; *unit + 1 < units && value / divisor >= base; ++*unit)
        divisor *= base;
    return value / divisor * 1000 + value % divisor * 1000 / divisor;
}

// Three significant digits and a unit, as iperf3 writes them.
static void scaled(struct text *out, uint64_t value, uint64_t base, const char *const *names)
{
    unsigned unit;
    uint64_t thousandths = scale(value, base, 5, &unit);
    uint32_t start = out->length;
    if (thousandths < 9995)
        text_fixed(out, (thousandths + 5) / 10, 2);
    else if (thousandths < 99950)
        text_fixed(out, (thousandths + 50) / 100, 1);
    else
        text_u64(out, (thousandths + 500) / 1000);
    text_right(out, start, 4);
    text_char(out, ' ');
    text_put(out, names[unit]);
}

static const char *const byte_units[] = {"Bytes", "KBytes", "MBytes", "GBytes", "TBytes"};
static const char *const bit_units[] = {"bits/sec", "Kbits/sec", "Mbits/sec", "Gbits/sec", "Tbits/sec"};

static uint64_t bits_per_second(uint64_t bytes, uint64_t time_us)
{
    // In two steps, so that 2^64 is not passed before a day at 1 Tbit/s.
    return time_us == 0 ? 0 : bytes * 8 / time_us * 1000000u + bytes * 8 % time_us * 1000000u / time_us;
}

// "[  5]   0.00-1.00   sec  16.2 MBytes   136 Mbits/sec"
static void line_begin(struct text *out, int64_t id, const char *role, uint64_t from_us, uint64_t to_us, uint64_t bytes)
{
    uint32_t start = out->length;
    if (id < 0)
        text_put(out, "SUM");
    else
        text_i64(out, id);
    text_right(out, start, 3);
    text_char(out, ']');
    text_put(out, role);
    text_put(out, "  ");
    start = out->length;
    text_fixed(out, from_us / 10000, 2);
    text_right(out, start, 5);
    text_char(out, '-');
    start = out->length;
    text_fixed(out, to_us / 10000, 2);
    text_pad(out, start, 6);
    text_put(out, " sec  ");
    scaled(out, bytes, 1024, byte_units);
    text_put(out, "  ");
    scaled(out, bits_per_second(bytes, to_us - from_us), 1000, bit_units);
    text_put(out, "  ");
}

static void line_new(struct text *out, char *bytes, uint32_t room)
{
    text_init(out, bytes, room);
    text_char(out, '[');
}

// Of a test in both directions each line says which one it is of.
static const char *role_of(const struct iperf3_client *client, bool sender)
{
    return !client->test.parameters.bidirectional ? "" : sender ? "[TX-C]" : "[RX-C]";
}

static void udp_columns(struct text *out, const struct iperf3_count *count)
{
    uint64_t percent10 = count->packets == 0 ? 0 : count->lost * 1000 / count->packets;
    text_fixed(out, count->jitter_us, 3);
    text_put(out, " ms  ");
    text_u64(out, count->lost);
    text_char(out, '/');
    text_u64(out, count->packets);
    text_put(out, " (");
    text_fixed(out, percent10, 1);
    text_put(out, "%)");
}

// The socket number that iperf3 would print: it counts from the first descriptor a client has.
static int64_t row_id(const struct iperf3_client *client, const struct iperf3_stream *stream)
{
    return 5 + 2 * (int64_t)(stream - client->test.streams);
}

// --- beginning -------------------------------------------------------------------------------------------------------

static void begin_json(struct iperf3_client *client)
{
    const struct iperf3_test *test = &client->test;
    const struct iperf3_parameters *p = &test->parameters;
    char bytes[LINE_BYTES];
    struct text out;
    client->print(client->context, "{\"start\":{\"connected\":[");
    for (uint32_t i = 0; i < test->stream_count; i++) {
        const struct iperf3_stream *stream = &test->streams[i];
        text_init(&out, bytes, sizeof bytes);
        text_put(&out, i > 0 ? ",{\"socket\":" : "{\"socket\":");
        text_i64(&out, row_id(client, stream));
        text_put(&out, ",\"local_host\":\"");
        text_addr(&out, stream->local.addr);
        text_char(&out, '"');
        number(&out, "local_port", stream->local.port);
        text_put(&out, ",\"remote_host\":\"");
        text_addr(&out, stream->peer.addr);
        text_char(&out, '"');
        number(&out, "remote_port", stream->peer.port);
        text_char(&out, '}');
        put(client, &out);
    }
    text_init(&out, bytes, sizeof bytes);
    text_put(&out, "],\"version\":\"Weir\",\"connecting_to\":{\"host\":\"");
    text_addr(&out, client->server.addr);
    text_char(&out, '"');
    number(&out, "port", client->server.port);
    text_put(&out, "},\"cookie\":");
    text_json(&out, test->cookie);
    text_put(&out, p->udp ? ",\"test_start\":{\"protocol\":\"UDP\"" : ",\"test_start\":{\"protocol\":\"TCP\"");
    number(&out, "num_streams", p->parallel);
    number(&out, "blksize", p->block);
    number(&out, "omit", p->omit_s);
    number(&out, "duration", p->time_s);
    number(&out, "bytes", p->bytes);
    number(&out, "blocks", p->blocks);
    number(&out, "reverse", p->reverse);
    number(&out, "bidir", p->bidirectional);
    number(&out, "target_bitrate", p->rate);
    text_put(&out, "}},\"intervals\":[");
    put(client, &out);
}

void iperf3_report_begin(struct iperf3_client *client)
{
    const struct iperf3_test *test = &client->test;
    const struct iperf3_parameters *p = &test->parameters;
    char bytes[LINE_BYTES];
    struct text out;
    client->begun = true;
    if (client->json) {
        begin_json(client);
        return;
    }
    if (p->reverse)
        client->print(client->context, "Reverse mode, the server is sending\n");
    for (uint32_t i = 0; i < test->stream_count; i++) {
        line_new(&out, bytes, sizeof bytes);
        uint32_t start = out.length;
        text_i64(&out, row_id(client, &test->streams[i]));
        text_right(&out, start, 3);
        text_put(&out, "] local ");
        text_endpoint(&out, &test->streams[i].local);
        text_put(&out, " connected to ");
        text_endpoint(&out, &test->streams[i].peer);
        text_char(&out, '\n');
        put(client, &out);
    }
    client->print(client->context, p->bidirectional ? "[ ID][Role]" : "[ ID]");
    const char *more = p->reverse ? "" : "         Retr  Cwnd";
    if (p->udp)
        more = p->reverse ? "         Jitter    Lost/Total Datagrams" : "         Total Datagrams";
    client->print(client->context, " Interval           Transfer     Bitrate");
    client->print(client->context, more);
    client->print(client->context, "\n");
}

// --- intervals -------------------------------------------------------------------------------------------------------

static uint64_t from_start(const struct iperf3_client *client, uint64_t at_us)
{
    uint64_t start_us = client->test.start_us;
    return at_us > start_us ? at_us - start_us : 0;
}

static void interval_text(struct iperf3_client *client, int64_t id, const struct total *total, uint64_t now_us)
{
    const struct iperf3_parameters *p = &client->test.parameters;
    char bytes[LINE_BYTES];
    struct text out;
    line_new(&out, bytes, sizeof bytes);
    line_begin(&out, id, role_of(client, total->sender), from_start(client, client->interval_from_us),
               from_start(client, now_us), total->count.bytes);
    uint32_t start = out.length;
    if (p->udp && !total->sender) {
        udp_columns(&out, &total->count);
    } else if (p->udp) {
        text_u64(&out, total->count.packets);
    } else if (total->sender) {
        text_i64(&out, total->count.retransmits);
        text_right(&out, start, 3);
        text_put(&out, "   ");
        if (id >= 0)
            scaled(&out, total->cwnd, 1024, byte_units);
    }
    text_put(&out, client->test.omitting ? "  (omitted)\n" : "\n");
    put(client, &out);
}

static void count_json(struct text *out, const struct iperf3_count *count, uint64_t from_us, uint64_t to_us)
{
    text_put(out, "\"start\":");
    text_fixed(out, from_us, 6);
    fraction(out, "end", to_us, 6);
    fraction(out, "seconds", to_us - from_us, 6);
    number(out, "bytes", count->bytes);
    number(out, "bits_per_second", bits_per_second(count->bytes, to_us - from_us));
}

static void udp_json(struct text *out, const struct iperf3_count *count)
{
    fraction(out, "jitter_ms", count->jitter_us, 3);
    number(out, "lost_packets", count->lost);
    number(out, "packets", count->packets);
    fraction(out, "lost_percent", count->packets == 0 ? 0 : count->lost * 100000 / count->packets, 3);
}

static void interval_json(struct iperf3_client *client, const struct iperf3_stream *stream, const struct total *total,
                          uint64_t now_us)
{
    const struct iperf3_parameters *p = &client->test.parameters;
    char bytes[LINE_BYTES];
    struct text out;
    text_init(&out, bytes, sizeof bytes);
    text_char(&out, '{');
    count_json(&out, &total->count, from_start(client, client->interval_from_us), from_start(client, now_us));
    if (stream != NULL)
        number(&out, "socket", (uint64_t)row_id(client, stream));
    if (p->udp) {
        udp_json(&out, &total->count);
    } else if (total->sender) {
        number(&out, "retransmits", (uint64_t)total->count.retransmits);
        if (stream != NULL) {
            number(&out, "snd_cwnd", total->cwnd);
            number(&out, "rtt", stream->rtt_us);
        }
    }
    boolean(&out, "omitted", client->test.omitting);
    boolean(&out, "sender", total->sender);
    text_char(&out, '}');
    put(client, &out);
}

static void add(struct iperf3_count *sum, const struct iperf3_count *count)
{
    sum->bytes += count->bytes;
    sum->packets += count->packets;
    sum->lost += count->lost;
    sum->reordered += count->reordered;
    sum->retransmits += count->retransmits > 0 ? count->retransmits : 0;
    sum->jitter_us = count->jitter_us > sum->jitter_us ? count->jitter_us : sum->jitter_us;
    sum->time_us = count->time_us > sum->time_us ? count->time_us : sum->time_us;
}

// What a stream did since the last report.
static struct total difference(struct iperf3_stream *stream)
{
    iperf3_stream_sample(stream);
    struct total total = {.count = stream->count, .cwnd = stream->cwnd_max, .sender = stream->sender};
    total.count.bytes -= stream->before.bytes;
    total.count.packets -= stream->before.packets;
    total.count.lost = total.count.lost > stream->before.lost ? total.count.lost - stream->before.lost : 0;
    total.count.retransmits -= stream->before.retransmits;
    stream->before = stream->count;
    stream->cwnd_max = 0;  // of the next interval
    return total;
}

void iperf3_report_interval(struct iperf3_client *client, uint64_t now_us)
{
    struct iperf3_test *test = &client->test;
    // the second of the other direction
    struct total sums[2] = {{.sender = test->streams[0].sender}, {.sender = false}};
    const uint32_t directions = test->parameters.bidirectional ? 2 : 1;
    if (client->json)
        client->print(client->context, client->intervals ? ",{\"streams\":[" : "{\"streams\":[");
    client->intervals = true;
    for (uint32_t i = 0; i < test->stream_count; i++) {
        struct total total = difference(&test->streams[i]);
        add(&sums[total.sender != sums[0].sender].count, &total.count);
        if (!client->json) {
            interval_text(client, row_id(client, &test->streams[i]), &total, now_us);
            continue;
        }
        if (i > 0)
            client->print(client->context, ",");
        interval_json(client, &test->streams[i], &total, now_us);
    }
    for (uint32_t i = 0; i < directions; i++) {
        if (client->json) {
            client->print(client->context, i == 0 ? "],\"sum\":" : ",\"sum_bidir_reverse\":");
            interval_json(client, NULL, &sums[i], now_us);
        } else if (test->stream_count > directions) {
            interval_text(client, -1, &sums[i], now_us);
        }
    }
    if (client->json)
        client->print(client->context, "}");
}

// --- the end ---------------------------------------------------------------------------------------------------------

// Sender's and receiver's counts of a stream, whichever end they are.
static void ends_of(struct iperf3_stream *stream, const struct iperf3_count **sender,
                    const struct iperf3_count **receiver)
{
    *sender = stream->sender ? &stream->count : &stream->remote;
    *receiver = stream->sender ? &stream->remote : &stream->count;
}

static void end_line(struct iperf3_client *client, int64_t id, const char *role, const struct iperf3_count *count,
                     bool sender)
{
    char bytes[LINE_BYTES];
    struct text out;
    line_new(&out, bytes, sizeof bytes);
    line_begin(&out, id, role, 0, count->time_us, count->bytes);
    uint32_t start = out.length;
    if (client->test.parameters.udp)
        udp_columns(&out, count);
    else if (sender && count->retransmits >= 0)
        text_i64(&out, count->retransmits), text_right(&out, start, 3);
    text_pad(&out, start, 16);
    text_put(&out, client->test.parameters.udp ? "  " : "");
    text_put(&out, sender ? "sender\n" : "receiver\n");
    put(client, &out);
}

static void end_object(struct iperf3_client *client, const char *before, const struct iperf3_count *count, bool sender)
{
    char bytes[LINE_BYTES];
    struct text out;
    text_init(&out, bytes, sizeof bytes);
    text_put(&out, before);
    text_char(&out, '{');
    count_json(&out, count, 0, count->time_us);
    if (client->test.parameters.udp)
        udp_json(&out, count);
    else if (sender && count->retransmits >= 0)
        number(&out, "retransmits", (uint64_t)count->retransmits);
    boolean(&out, "sender", sender);
    text_char(&out, '}');
    put(client, &out);
}

static void end_stream(struct iperf3_client *client, struct iperf3_stream *stream, const struct iperf3_count *sender,
                       const struct iperf3_count *receiver)
{
    bool first = stream == client->test.streams;
    if (!client->json) {
        end_line(client, row_id(client, stream), role_of(client, stream->sender), sender, true);
        end_line(client, row_id(client, stream), role_of(client, stream->sender), receiver, false);
    } else if (client->test.parameters.udp) {
        end_object(client, first ? "{\"udp\":" : ",{\"udp\":", receiver, stream->sender);
        client->print(client->context, "}");
    } else {
        end_object(client, first ? "{\"sender\":" : ",{\"sender\":", sender, true);
        end_object(client, ",\"receiver\":", receiver, false);
        client->print(client->context, "}");
    }
}

// All streams of one direction; `second`: the one in which the server sends, of a test in both.
static void end_sums(struct iperf3_client *client, bool second)
{
    struct iperf3_test *test = &client->test;
    const struct iperf3_parameters *p = &test->parameters;
    const bool sends = test->streams[0].sender != second;
    const struct iperf3_count *sender, *receiver;
    struct iperf3_count sent = {0}, received = {0};
    for (uint32_t i = 0; i < test->stream_count; i++) {
        if (test->streams[i].sender != sends)
            continue;
        ends_of(&test->streams[i], &sender, &receiver);
        add(&sent, sender);
        add(&received, receiver);
    }
    if (client->json) {
        end_object(client, second ? ",\"sum_sent_bidir_reverse\":" : "],\"sum_sent\":", &sent, true);
        end_object(client, second ? ",\"sum_received_bidir_reverse\":" : ",\"sum_received\":", &received, false);
        if (p->udp)
            end_object(client, second ? ",\"sum_bidir_reverse\":" : ",\"sum\":", &received, sends);
    } else if (p->parallel > 1) {
        end_line(client, -1, role_of(client, sends), &sent, true);
        end_line(client, -1, role_of(client, sends), &received, false);
    }
}

void iperf3_report_end(struct iperf3_client *client)
{
    struct iperf3_test *test = &client->test;
    const struct iperf3_parameters *p = &test->parameters;
    const struct iperf3_count *sender, *receiver;
    if (client->json) {
        client->print(client->context, "],\"end\":{\"streams\":[");
    } else {
        client->print(client->context, "- - - - - - - - - - - - - - - - - - - - - - - - -\n");
        client->print(client->context, p->bidirectional ? "[ ID][Role]" : "[ ID]");
        client->print(client->context,
                      p->udp ? " Interval           Transfer     Bitrate         Jitter    Lost/Total Datagrams\n"
                             : " Interval           Transfer     Bitrate         Retr\n");
    }
    for (uint32_t i = 0; i < test->stream_count; i++) {
        ends_of(&test->streams[i], &sender, &receiver);
        end_stream(client, &test->streams[i], sender, receiver);
    }
    end_sums(client, false);
    if (p->bidirectional)
        end_sums(client, true);
    client->print(client->context, client->json ? "}}\n" : "\niperf Done.\n");
}

void iperf3_report_error(struct iperf3_client *client, const char *error)
{
    if (!client->json)
        return;
    client->print(client->context, client->begun ? "],\"end\":{},\"error\":\""
                                                 : "{\"start\":{},\"intervals\":[],\"end\":{},\"error\":\"");
    client->print(client->context, error);
    client->print(client->context, "\"}\n");
}
