// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small_apps small6_apps
// WebSocket (RFC 6455): the handshake, frames of every form and fault, in any pieces.
#include <stdlib.h>

#include "apps/http/site.h"

#define UPGRADE_FIELDS \
    "Upgrade: websocket\r\nConnection: keep-alive, Upgrade\r\n" \
    "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n"
#define UPGRADE "GET /echo HTTP/1.1\r\nHost: w\r\n" UPGRADE_FIELDS

static char got[200000];
static uint32_t length;

static void open_site(struct bench *bench)
{
    bench_open(bench);
    assert_int_equal(site_open(&bench->loop), WEIR_OK);
}

static void close_site(struct bench *bench)
{
    http_server_stop(&site.http);
    bench_close(bench);
}

static weir_socket upgrade(struct bench *bench)
{
    weir_socket socket = bench_connect(bench, 80);
    bench_write(bench, socket, UPGRADE "\r\n");
    (void)bench_read(bench, socket, got, sizeof got, NULL);
    assert_int_equal(atoi(got + 9), 101);
    assert_non_null(strstr(got, "Sec-WebSocket-Accept: s3pPLMBiTxaQ9kYGzzhZRbK+xOo=\r\n"));  // §1.3
    return socket;
}

// A masked frame, at `out`; returns its length.
static uint32_t frame(uint8_t *out, uint8_t first, const void *data, uint32_t bytes)
{
    static const uint8_t mask[4] = {0x37, 0xfa, 0x21, 0x3d};
    uint32_t at = 0;
    out[at++] = first;
    out[at++] = (uint8_t)(0x80 | (bytes < 126 ? bytes : bytes < 65536 ? 126 : 127));
    if (bytes >= 65536)
        memset(out + at, 0, 4), at += 4, out[at++] = (uint8_t)(bytes >> 24), out[at++] = (uint8_t)(bytes >> 16);
    if (bytes >= 126)
        out[at++] = (uint8_t)(bytes >> 8), out[at++] = (uint8_t)bytes;
    memcpy(out + at, mask, 4);
    at += 4;
    for (uint32_t i = 0; i < bytes; i++)
        out[at++] = ((const uint8_t *)data)[i] ^ mask[i & 3];
    return at;
}

static void send_bytes(struct bench *bench, weir_socket socket, const uint8_t *bytes, uint32_t count, uint32_t step)
{
    uint32_t waits = 0;  // turns in which nothing could be written
    for (uint32_t at = 0; at < count;) {
        const uint32_t some = count - at < step ? count - at : step;
        const int sent = weir_socket_write(bench->f.weir, socket, bytes + at, some);
        at += sent > 0 ? (uint32_t)sent : 0;
        waits = sent > 0 ? 0 : waits + 1;
        assert_in_range(waits, 0, 10000);
        bench_run(bench, 1000);
        if (length + 65536 < sizeof got)
            length += bench_read(bench, socket, got + length, (uint32_t)sizeof got - length, NULL);
    }
    for (int turn = 0; turn < 10; turn++) {
        bench_run(bench, 300000);
        length += bench_read(bench, socket, got + length, (uint32_t)sizeof got - length, NULL);
    }
}

// All of the answer's data frames as one message; *last: the code of its close, 0: none.
static uint32_t message_of(uint8_t *out, uint32_t *code, uint8_t *type)
{
    uint32_t bytes = 0;
    *code = *type = 0;
    for (uint32_t at = 0; at < length;) {
        const uint8_t *f = (const uint8_t *)got + at;
        assert_int_equal(f[1] & 0x80, 0);  // ours are not masked
        uint32_t head = 2, size = f[1];
        if (size == 126)
            head = 4, size = (uint32_t)f[2] << 8 | f[3];
        if (f[1] == 127 || at + head + size > length)
            fail_msg("at %u: %02x, %u bytes of %u", at, f[0], size, length);
        if ((f[0] & 15) == 8)
            *code = size >= 2 ? (uint32_t)f[head] << 8 | f[head + 1] : 1005;
        else
            memcpy(out + bytes, f + head, size), bytes += size;
        *type = (f[0] & 15) != 0 && (f[0] & 15) != 8 ? f[0] & 15 : *type;
        at += head + size;
    }
    return bytes;
}

static void messages_of_every_length_come_back(void **state)
{
    static const uint32_t lengths[] = {0, 1, 125, 126, 127, 255, 256, 1000, 65535, 65536, 70000};
    static uint8_t data[70000], out[80000], back[100000];
    struct bench bench;
    uint32_t code;
    uint8_t type;
    (void)state;
    open_site(&bench);
    for (uint32_t i = 0; i < sizeof data; i++)
        data[i] = (uint8_t)(i * 7);
    for (size_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        for (uint32_t step = lengths[i] < 300 ? 1 : 977; step < 5000; step += 4000) {
            weir_socket socket = upgrade(&bench);
            length = 0;
            send_bytes(&bench, socket, out, frame(out, 0x82, data, lengths[i]), step);
            if (message_of(back, &code, &type) != lengths[i])
                fail_msg("%u by %u", lengths[i], step);
            assert_memory_equal(back, data, lengths[i]);
            assert_true(type == HTTP_WEBSOCKET_BINARY && code == 0);
            length = 0;
            send_bytes(&bench, socket, out,
                       frame(out, 0x88,
                             "\x03\xe8"
                             "bye",
                             5),
                       step);
            (void)message_of(back, &code, &type);
            assert_int_equal(code, 1000);
            assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
            bench_run(&bench, 100000);
        }
    }
    assert_int_equal(site.broken, 0);
    close_site(&bench);
}

static void control_frames_come_between_fragments(void **state)
{
    static uint8_t out[600], back[600];
    struct bench bench;
    uint32_t at = 0, code;
    uint8_t type;
    (void)state;
    open_site(&bench);
    weir_socket socket = upgrade(&bench);
    at += frame(out, 0x01, "\xe2\x82", 2);  // a character over two fragments
    at += frame(out + at, 0x89, "ping", 4);
    at += frame(out + at, 0x00, "", 0);
    at += frame(out + at, 0x8a, "nobody asked", 12);
    at += frame(out + at, 0x80, "\xac.", 2);
    length = 0;
    send_bytes(&bench, socket, out, at, sizeof out);
    assert_memory_equal(got, "\x01\x02\xe2\x82\x8a\x04ping", 10);
    (void)message_of(back, &code, &type);
    assert_int_equal(code, 0);
    assert_int_equal(length, 10 + 2 + 4);
    // Nobody says anything: we ask, and then end it.
    length = 0;
    bench_run(&bench, HTTP_QUIET_US + 1000000);
    assert_int_equal(bench_read(&bench, socket, got, sizeof got, NULL), 2);
    assert_memory_equal(got, "\x89\0", 2);
    bench_run(&bench, HTTP_QUIET_US + 1000000);
    assert_int_equal(site.broken, 1);
    (void)weir_socket_abort(bench.f.weir, socket);
    close_site(&bench);
}

static void a_handler_that_goes_on_at_once_may_wait_the_next_time(void **state)
{
    static uint8_t out[20];
    struct bench bench;
    (void)state;
    open_site(&bench);
    weir_socket socket = upgrade(&bench);
    length = 0;
    site.refuse = 3;
    send_bytes(&bench, socket, out, frame(out, 0x81, "hi", 2), sizeof out);
    assert_true(site.refuse == 0 && length == 0);
    http_resume(&site.connections[0]);
    send_bytes(&bench, socket, out, 0, 1);
    assert_memory_equal(got, "\x81\x02hi", length);
    assert_int_equal(length, 4);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    close_site(&bench);
}

static void a_handler_may_wait_for_more(void **state)
{
    static uint8_t out[40], back[20];
    struct bench bench;
    uint32_t code;
    uint8_t type;
    (void)state;
    open_site(&bench);
    weir_socket socket = upgrade(&bench);
    for (uint32_t step = 1; step < 20; step++) {
        length = 0;
        site.least = 4;
        send_bytes(&bench, socket, out, frame(out, 0x82, "0123456789", 10), step);
        assert_int_equal(message_of(back, &code, &type), 10);
        assert_memory_equal(back, "0123456789", 10);
    }
    assert_memory_equal(got, "\x82\x0a", 2);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    close_site(&bench);
}

// Sends until there is no room, not even for a ping.
static int fill(struct http_connection *c)
{
    static const uint8_t piece[400];
    int sent = WEIR_OK;
    for (uint32_t bytes = sizeof piece; bytes > 0; bytes /= 2) {
        while ((sent = http_websocket_send(c, HTTP_WEBSOCKET_BINARY, piece, bytes, true)) == WEIR_OK)
            continue;
    }
    return sent;
}

// A peer that says nothing is there as long as it takes something, though no ping finds room; then it is given up.
static void who_reads_slowly_is_there(void **state)
{
    static char part[65536];
    struct bench bench;
    (void)state;
    open_site(&bench);
    weir_socket socket = upgrade(&bench);
    struct http_connection *c = &site.connections[0];
    assert_int_equal(fill(c), WEIR_AGAIN);
    bench_run(&bench, 1000000);
    (void)weir_socket_read(bench.f.weir, socket, part, sizeof part);
    bench_run(&bench, 10000);
    assert_int_equal(fill(c), WEIR_AGAIN);
    c->due_us = bench.f.now_us;  // it has said nothing for HTTP_QUIET_US
    bench_run(&bench, 1000000);
    assert_true(c->state == HTTP_UPGRADED && !c->frames.pinged);
    bench_run(&bench, 3 * HTTP_QUIET_US);
    assert_int_equal(site.broken, 1);
    (void)weir_socket_abort(bench.f.weir, socket);
    close_site(&bench);
}

static void a_close_is_answered_in_time_or_ends(void **state)
{
    struct bench bench;
    bool ended;
    (void)state;
    open_site(&bench);
    weir_socket socket = upgrade(&bench);
    struct http_connection *c = &site.connections[0];
    http_websocket_close(c, 1001);
    bench_run(&bench, HTTP_WEBSOCKET_CLOSE_US - 1000000);
    assert_int_equal(bench_read(&bench, socket, got, sizeof got, &ended), 4);
    assert_memory_equal(got, "\x88\x02\x03\xe9", 4);
    assert_false(ended);
    assert_int_equal(c->state, HTTP_UPGRADED);
    bench_run(&bench, 1000000);
    assert_int_not_equal(c->state, HTTP_UPGRADED);
    assert_int_equal(bench_read(&bench, socket, got, sizeof got, &ended), 0);
    assert_true(ended);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    close_site(&bench);
}

static void faults_close_with_their_code(void **state)
{
    static const struct {
        const char *name;
        uint8_t bytes[24];
        uint32_t count, code;
    } cases[] = {{"no mask", {0x81, 1, 'a'}, 3, 1002},
                 {"RSV1", {0xc1, 0x80, 0, 0, 0, 0}, 6, 1002},
                 {"RSV3", {0x91, 0x80, 0, 0, 0, 0}, 6, 1002},
                 {"opcode 3", {0x83, 0x80, 0, 0, 0, 0}, 6, 1002},
                 {"opcode 11", {0x8b, 0x80, 0, 0, 0, 0}, 6, 1002},
                 {"a ping in fragments", {0x09, 0x80, 0, 0, 0, 0}, 6, 1002},
                 {"a long ping", {0x89, 0xfe, 0, 126, 0, 0, 0, 0}, 8, 1002},
                 {"nothing to continue", {0x80, 0x80, 0, 0, 0, 0}, 6, 1002},
                 {"a message in a message", {0x01, 0x80, 0, 0, 0, 0, 0x81, 0x80, 0, 0, 0, 0}, 12, 1002},
                 {"125 in two bytes", {0x82, 0xfe, 0, 125, 0, 0, 0, 0}, 8, 1002},
                 {"65535 in eight", {0x82, 0xff, 0, 0, 0, 0, 0, 0, 0xff, 0xff, 0, 0, 0, 0}, 14, 1002},
                 {"2^63", {0x82, 0xff, 0x80, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 14, 1002},
                 {"a long message", {0x82, 0xff, 0, 0, 0, 0, 0, 1, 0x86, 0xa1, 0, 0, 0, 0}, 14, 1009},
                 {"0xff in a text", {0x81, 0x81, 0, 0, 0, 0, 0xff}, 7, 1007},
                 {"a surrogate", {0x81, 0x83, 0, 0, 0, 0, 0xed, 0xa0, 0x80}, 9, 1007},
                 {"overlong", {0x81, 0x82, 0, 0, 0, 0, 0xc0, 0xaf}, 8, 1007},
                 {"beyond", {0x81, 0x84, 0, 0, 0, 0, 0xf4, 0x90, 0x80, 0x80}, 10, 1007},
                 {"a character that stops", {0x81, 0x82, 0, 0, 0, 0, 0xe2, 0x82}, 8, 1007},
                 {"a close of one byte", {0x88, 0x81, 0, 0, 0, 0, 3}, 7, 1002},
                 {"close 1005", {0x88, 0x82, 0, 0, 0, 0, 3, 0xed}, 8, 1002},
                 {"close 999", {0x88, 0x82, 0, 0, 0, 0, 3, 0xe7}, 8, 1002},
                 {"close 5000", {0x88, 0x82, 0, 0, 0, 0, 0x13, 0x88}, 8, 1002},
                 {"a reason that is no text", {0x88, 0x83, 0, 0, 0, 0, 3, 0xe8, 0xff}, 9, 1007},
                 {"close 1004", {0x88, 0x82, 0, 0, 0, 0, 3, 0xec}, 8, 1002},
                 {"close 1006", {0x88, 0x82, 0, 0, 0, 0, 3, 0xee}, 8, 1002},
                 {"close 1015", {0x88, 0x82, 0, 0, 0, 0, 3, 0xf7}, 8, 1002},
                 {"close 2999", {0x88, 0x82, 0, 0, 0, 0, 0x0b, 0xb7}, 8, 1002},
                 {"close 1003", {0x88, 0x82, 0, 0, 0, 0, 3, 0xeb}, 8, 1003},
                 {"close 1007", {0x88, 0x82, 0, 0, 0, 0, 3, 0xef}, 8, 1007},
                 {"close 1014", {0x88, 0x82, 0, 0, 0, 0, 3, 0xf6}, 8, 1014},
                 {"close 4999", {0x88, 0x82, 0, 0, 0, 0, 0x13, 0x87}, 8, 4999},
                 {"RSV2", {0xa1, 0x80, 0, 0, 0, 0}, 6, 1002},
                 {"close", {0x88, 0x80, 0, 0, 0, 0}, 6, 1005},
                 {"close 3000", {0x88, 0x82, 0, 0, 0, 0, 0x0b, 0xb8}, 8, 3000}};
    static uint8_t back[1000];
    struct bench bench;
    uint32_t code;
    uint8_t type;
    bool ended;
    (void)state;
    open_site(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_socket socket = upgrade(&bench);
        length = 0;
        assert_true(weir_socket_write(bench.f.weir, socket, cases[i].bytes, cases[i].count) > 0);
        bench_run(&bench, 100000);
        length = bench_read(&bench, socket, got, sizeof got, &ended);
        (void)message_of(back, &code, &type);
        if (code != cases[i].code || !ended)
            fail_msg("%s: %u, %s", cases[i].name, code, ended ? "ended" : "goes on");
        assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
        bench_run(&bench, 100000);
    }
    close_site(&bench);
}

// The limit is of a message, in however many fragments, and not of what comes between them.
static void a_message_is_limited_and_not_its_fragments(void **state)
{
    static uint8_t data[60000], out[70000], back[200000];
    struct bench bench;
    uint32_t code;
    uint8_t type;
    (void)state;
    open_site(&bench);
    weir_socket socket = upgrade(&bench);
    length = 0;
    for (int message = 0; message < 2; message++) {  // each by itself may be so long
        send_bytes(&bench, socket, out, frame(out, 0x02, data, 50000), 4000);
        for (int ping = 0; ping < 20; ping++)
            send_bytes(&bench, socket, out, frame(out, 0x89, data, 125), 4000);
        send_bytes(&bench, socket, out, frame(out, 0x80, data, 50000), 4000);
        (void)message_of(back, &code, &type);
        assert_int_equal(code, 0);
        length = 0;
    }
    send_bytes(&bench, socket, out, frame(out, 0x02, data, 60000), 4000);
    length = 0;
    send_bytes(&bench, socket, out, frame(out, 0x80, data, 40001), 4000);
    (void)message_of(back, &code, &type);
    assert_int_equal(code, 1009);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    close_site(&bench);
}

// Who pings without reading gets its answers when it reads, in order; what cannot be answered yet is not read.
static void pings_wait_for_room(void **state)
{
    enum { PINGS = 2000 };
    static uint8_t out[200], payload[125];
    static char answer[PINGS * 127 + 1];
    struct bench bench;
    uint32_t sent = 0, read = 0, at = 0, size = 0, stalled = 0;
    (void)state;
    open_site(&bench);
    const struct weir_endpoint server = bench_here(80);
    const weir_socket socket = weir_socket_open(bench.f.weir, WEIR_STREAM, 0), ends[] = {socket, site.http.listening};
    for (uint32_t end = 0; end < 2; end++) {
        assert_int_equal(weir_socket_set(bench.f.weir, ends[end], WEIR_OPTION_SEND_BUFFER, 4096), WEIR_OK);
        assert_int_equal(weir_socket_set(bench.f.weir, ends[end], WEIR_OPTION_RECEIVE_BUFFER, 4096), WEIR_OK);
    }
    assert_int_equal(weir_socket_connect(bench.f.weir, socket, &server), WEIR_IN_PROGRESS);
    bench_run(&bench, 10000);
    bench_write(&bench, socket, UPGRADE "\r\n");
    (void)bench_read(&bench, socket, got, sizeof got, NULL);
    assert_int_equal(atoi(got + 9), 101);
    while (sent < PINGS && stalled < 50) {
        put32(payload, sent);
        size = at == 0 ? frame(out, 0x89, payload, sizeof payload) : size;
        const int taken = weir_socket_write(bench.f.weir, socket, out + at, size - at);
        at = taken > 0 ? at + (uint32_t)taken : at;
        stalled = taken > 0 ? 0 : stalled + 1;
        if (at == size)
            sent++, at = 0;
        bench_run(&bench, 1000);
    }
    assert_true(sent < PINGS);  // there is an end to what it takes
    for (uint32_t quiet = 0; quiet < 20; quiet++) {
        while (at > 0 && at < size) {
            const int taken = weir_socket_write(bench.f.weir, socket, out + at, size - at);
            if (taken <= 0)
                break;
            at += (uint32_t)taken;
            sent += at == size;
        }
        const uint32_t more = bench_read(&bench, socket, answer + read, (uint32_t)sizeof answer - read, NULL);
        read += more;
        quiet = more > 0 ? 0 : quiet;
        bench_run(&bench, 100000);
    }
    assert_int_equal(read, sent * 127);
    for (uint32_t i = 0; i < sent; i++) {
        put32(payload, i);
        assert_memory_equal(answer + i * 127, "\x8a\x7d", 2);
        assert_memory_equal(answer + i * 127 + 2, payload, sizeof payload);
    }
    assert_int_equal(site.connections[0].state, HTTP_UPGRADED);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    close_site(&bench);
}

static void an_upgrade_is_whole_or_none(void **state)
{
#define START "GET /echo HTTP/1.1\r\nHost: w\r\n"
#define KEY "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\n"
    static const struct {
        const char *request;
        int status;
    } cases[] = {{START "\r\n", 426},
                 {START "Upgrade: websocket\r\nSec-WebSocket-Version: 13\r\n" KEY "\r\n", 426},
                 {START "Connection: upgrade\r\nSec-WebSocket-Version: 13\r\n" KEY "\r\n", 426},
                 {START "Upgrade: h2c\r\nConnection: upgrade\r\nSec-WebSocket-Version: 13\r\n" KEY "\r\n", 426},
                 {START "Upgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Version: 8\r\n" KEY "\r\n", 426},
                 {START "Upgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Version: 13\r\n\r\n", 400},
                 {START "Upgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Key: c2hvcnQ=\r\n\r\n",
                  400},
                 {UPGRADE "Content-Length: 2\r\n\r\nab", 400},
                 {UPGRADE "Origin: http://elsewhere\r\n\r\n", 403},
                 {UPGRADE "Origin: null\r\n\r\n", 403},
                 {UPGRADE "Origin: w\r\n\r\n", 403},
                 {UPGRADE "Origin: ftp://w\r\n\r\n", 403},
                 {UPGRADE "Origin: http://v\r\n\r\n", 403},
                 {UPGRADE "Origin: https://w\r\n\r\n", 101},
                 {UPGRADE "Sec-WebSocket-Protocol: chat, echo\r\n\r\n", 101},
                 {UPGRADE "Sec-WebSocket-Protocol: chat\r\n\r\n", 101},
                 {UPGRADE "Sec-WebSocket-Extensions: permessage-deflate; client_max_window_bits\r\n\r\n", 101},
                 {UPGRADE "Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
                 {"GET /echo HTTP/1.0\r\nHost: w\r\n" UPGRADE_FIELDS "\r\n", 426},
                 {START "Upgrade: websocket\r\nConnection: upgrade\r\n" KEY "\r\n", 426},
                 {START "Upgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZ===\r\n\r\n",
                  400},
                 {START "Upgrade: websocket\r\nConnection: upgrade\r\nSec-WebSocket-Version: 13\r\n"
                        "Sec-WebSocket-Key: dGhlIHNhbXBsZ*Bub25jZQ==\r\n\r\n",
                  400},
                 {UPGRADE "Origin: http://W\r\n\r\n", 101},
                 // an absolute target's host counts, and not the field's (RFC 9112 §3.2.2)
                 {"GET http://v/echo HTTP/1.1\r\nHost: w\r\n" UPGRADE_FIELDS "Origin: http://w\r\n\r\n", 403},
                 {"GET http://v/echo HTTP/1.1\r\nHost: w\r\n" UPGRADE_FIELDS "Origin: http://v\r\n\r\n", 101},
                 {"HEAD /echo HTTP/1.1\r\nHost: w\r\n\r\n", 405}};
    struct bench bench;
    (void)state;
    open_site(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        weir_socket socket = bench_connect(&bench, 80);
        bench_write(&bench, socket, cases[i].request);
        (void)bench_read(&bench, socket, got, sizeof got, NULL);
        if (atoi(got + 9) != cases[i].status)
            fail_msg("%s: %s", cases[i].request, got);
        assert_null(strstr(got, "Sec-WebSocket-Extensions"));  // none is spoken: compression takes 32 KB
        assert_true(cases[i].status != 426 || strstr(got, "Sec-WebSocket-Version: 13\r\n") != NULL);
        assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
        bench_run(&bench, 100000);
    }
    // The subprotocol that is spoken here, among others; a frame right behind the header.
    static uint8_t request[1000];
    const char *head = UPGRADE "Sec-WebSocket-Protocol: chat, echo\r\n\r\n";
    memcpy(request, head, strlen(head));
    weir_socket socket = bench_connect(&bench, 80);
    length = 0;
    send_bytes(&bench, socket, request, (uint32_t)strlen(head) + frame(request + strlen(head), 0x81, "hi", 2), 5000);
    assert_non_null(strstr(got, "Sec-WebSocket-Protocol: echo\r\n"));
    assert_memory_equal(got + length - 4, "\x81\x02hi", 4);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    close_site(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(messages_of_every_length_come_back),
        cmocka_unit_test(control_frames_come_between_fragments),
        cmocka_unit_test(a_handler_that_goes_on_at_once_may_wait_the_next_time),
        cmocka_unit_test(a_handler_may_wait_for_more),
        cmocka_unit_test(who_reads_slowly_is_there),
        cmocka_unit_test(a_close_is_answered_in_time_or_ends),
        cmocka_unit_test(faults_close_with_their_code),
        cmocka_unit_test(a_message_is_limited_and_not_its_fragments),
        cmocka_unit_test(pings_wait_for_room),
        cmocka_unit_test(an_upgrade_is_whole_or_none),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
