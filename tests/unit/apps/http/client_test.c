// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps
// The HTTP client: against our own server, and against one that answers whatever a test wants.
#include <stdio.h>
#include <stdlib.h>

#include "apps/http/site.h"
#include "http/client.h"

#define PENDING 99

static struct http_client client;
static char memory[HTTP_CLIENT_LEAST], got[70000];
static uint32_t length, take, located;
static int status, result;

static void on_answer(struct http_client *c, const struct http_answer *answer, void *context)
{
    (void)c, (void)context;
    status = answer->status;
}

static uint32_t on_body(struct http_client *c, const uint8_t *piece, uint32_t bytes, void *context)
{
    (void)c, (void)context;
    bytes = take != 0 && take < bytes ? take : bytes;
    assert_true(length + bytes < sizeof got);
    memcpy(got + length, piece, bytes);
    length += bytes;
    got[length] = '\0';
    return bytes;
}

static void on_done(struct http_client *c, int how, void *context)
{
    (void)c, (void)context;
    assert_int_equal(result, PENDING);
    result = how;
}

static void on_locate(struct http_client *c, const struct http_url *url, void *context)
{
    (void)context;
    located++;
    if (strcmp(url->host, "silent") == 0)
        return;  // nobody ever says where it is
    http_client_located(c, strcmp(url->host, "nowhere") == 0 ? weir_addr_any() : weir_ip4(127, 0, 0, 1));
}

static const struct http_client_config config = {.locate = on_locate,
                                                 .answer = on_answer,
                                                 .body = on_body,
                                                 .done = on_done,
                                                 .memory = memory,
                                                 .bytes = sizeof memory};

static void open_client(struct bench *bench)
{
    bench_open(bench);
    take = located = 0;
    assert_int_equal(http_client_start(&client, &bench->loop, &config), WEIR_OK);
}

static void begin(const struct http_ask *ask)
{
    length = 0;
    got[0] = '\0';
    status = 0;
    result = PENDING;
    assert_int_equal(http_client_ask(&client, ask), WEIR_OK);
}

static void what_our_server_has_is_fetched(void **state)
{
    struct bench bench;
    (void)state;
    open_client(&bench);
    assert_int_equal(site_open(&bench.loop), WEIR_OK);
    for (take = 0; take < 8; take += 7) {  // all of a piece, or seven bytes a time
        begin(&(struct http_ask){.url = "http://127.0.0.1/lines"});
        for (int turn = 0; turn < 1000 && result == PENDING; turn++) {
            bench_run(&bench, 1000);
            http_client_resume(&client);
        }
        assert_int_equal(result, WEIR_OK);
        assert_int_equal(length, 2000);
        for (uint32_t i = 0; i < length; i++)
            assert_int_equal(got[i], i % 100 == 99 ? '\n' : (char)('a' + i / 100));
    }
    take = 0;
    begin(&(struct http_ask){.url = "http://site/text?name=x", .first = 4, .last = 6, .etag = "\"ten\""});
    bench_run(&bench, 100000);
    assert_true(result == WEIR_OK && status == 206 && located == 1);
    assert_string_equal(got, "456");
    begin(&(struct http_ask){.url = "http://site/text", .first = 4, .etag = "\"old\""});
    bench_run(&bench, 100000);
    assert_true(result == WEIR_OK && status == 200);
    assert_string_equal(got, "0123456789");
    begin(&(struct http_ask){.url = "http://site/text", .method = HTTP_HEAD});
    bench_run(&bench, 100000);
    assert_true(result == WEIR_OK && status == 200 && length == 0);
    static char data[30000];
    memset(data, 1, sizeof data);
    begin(&(struct http_ask){.url = "http://site/upload", .method = HTTP_POST, .data = data, .length = sizeof data});
    bench_run(&bench, 1000000);
    assert_true(result == WEIR_OK && status == 201 && site.uploaded == sizeof data && site.sum == sizeof data);
    begin(&(struct http_ask){.url = "http://site/nothing"});
    bench_run(&bench, 100000);
    assert_true(result == WEIR_OK && status == 404);
    http_client_stop(&client);
    http_server_stop(&site.http);
    bench_close(&bench);
}

// --- a server that says what it is told ------------------------------------------------------------------------------

static char asked[4096];

// Takes one connection, reads its request, answers, and ends it.
static void answer_once(struct bench *bench, weir_socket listener, const char *answer, bool reset)
{
    struct weir *weir = bench->f.weir;
    bench_run(bench, 100000);
    const weir_socket socket = weir_socket_accept(weir, listener);
    assert_true(socket > 0);
    (void)bench_read(bench, socket, asked, sizeof asked, NULL);
    for (const char *at = answer; *at != '\0'; at++) {  // every byte by itself
        (void)weir_socket_write(weir, socket, at, 1);
        bench_run(bench, 500);
    }
    bench_run(bench, 500000);
    assert_int_equal(reset ? weir_socket_abort(weir, socket) : weir_socket_close(weir, socket), WEIR_OK);
    bench_run(bench, 100000);
}

static weir_socket listen_here(struct bench *bench)
{
    const struct weir_endpoint here = {weir_addr_any(), 8080};
    const weir_socket listener = weir_socket_open(bench->f.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(bench->f.weir, listener, &here), WEIR_OK);
    assert_int_equal(weir_socket_listen(bench->f.weir, listener, 8), WEIR_OK);
    return listener;
}

static void answers_end_where_they_say(void **state)
{
#define OK "HTTP/1.1 200 OK\r\n"
    static const struct {
        const char *answer, *body;
        int result, status;
    } cases[] = {
        {OK "Content-Length: 3\r\n\r\nabc", "abc", WEIR_OK, 200},
        {OK "Content-Length: 3\r\n\r\nabcdef", "abc", WEIR_OK, 200},
        {OK "Content-Length: 4\r\n\r\nabc", "abc", HTTP_CLIENT_SHORT, 200},
        {OK "\r\nabc", "abc", WEIR_OK, 200},
        {"HTTP/1.0 200\r\n\r\nabc", "abc", WEIR_OK, 200},
        {OK "Transfer-Encoding: chunked\r\n\r\n2;x\r\nab\r\n1\r\nc\r\n0\r\nA: b\r\n\r\n", "abc", WEIR_OK, 200},
        {OK "Transfer-Encoding: chunked\r\n\r\n2\r\nab\r\n", "ab", HTTP_CLIENT_SHORT, 200},
        {OK "Transfer-Encoding: chunked\r\n\r\n2\r\nabc\r\n0\r\n\r\n", "ab", HTTP_CLIENT_NO_HTTP, 200},
        {OK "Transfer-Encoding: chunked\r\nContent-Length: 3\r\n\r\nabc", "", HTTP_CLIENT_NO_HTTP, 0},
        {OK "Transfer-Encoding: gzip\r\n\r\nabc", "", HTTP_CLIENT_NO_HTTP, 0},
        {OK "Content-Length: 3\r\nContent-Length: 4\r\n\r\nabc", "", HTTP_CLIENT_NO_HTTP, 0},
        {OK "Bad Name: 3\r\n\r\nabc", "", HTTP_CLIENT_NO_HTTP, 0},
        {"HTTP/1.1 204 No Content\r\nContent-Length: 3\r\n\r\n", "", WEIR_OK, 204},
        {"HTTP/1.1 100 Continue\r\n\r\nHTTP/1.1 103 Early Hints\r\nA: b\r\n\r\n" OK "Content-Length: 1\r\n\r\na", "a",
         WEIR_OK, 200},
        {"HTTP/1.1 101 Switching Protocols\r\n\r\n", "", HTTP_CLIENT_NO_HTTP, 0},
        {"HTTP/1.1 302 Found\r\n\r\nhere", "here", WEIR_OK, 302},
        {"HTTP/1.1 206 Partial\r\nContent-Range: bytes 0-0/9\r\nContent-Length: 1\r\n\r\na", "", HTTP_CLIENT_RANGE, 0},
        {"HTTP/2 200\r\n\r\n", "", HTTP_CLIENT_NO_HTTP, 0},
        {"SSH-2.0-x\r\n", "", HTTP_CLIENT_NO_HTTP, 0},
        {OK, "", HTTP_CLIENT_SHORT, 0},
        {"", "", HTTP_CLIENT_SHORT, 0},
    };
    struct bench bench;
    (void)state;
    open_client(&bench);
    const weir_socket listener = listen_here(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(&(struct http_ask){.url = "http://127.0.0.1:8080/a?b#c"});
        answer_once(&bench, listener, cases[i].answer, false);
        assert_string_equal(asked, "GET /a?b HTTP/1.1\r\nHost: 127.0.0.1:8080\r\nUser-Agent: Weir\r\nAccept: */*\r\n"
                                   "Connection: close\r\n\r\n");
        if (result != cases[i].result || status != cases[i].status || strcmp(got, cases[i].body) != 0)
            fail_msg("%s: %d, %d, '%s'", cases[i].answer, result, status, got);
    }
    begin(&(struct http_ask){.url = "http://127.0.0.1:8080/"});
    answer_once(&bench, listener, OK "Content-Length: 3\r\n\r\na", true);
    assert_int_equal(result, WEIR_RESET);
    static char large[HTTP_CLIENT_LEAST + 100] = OK "X: ";
    memset(large + strlen(large), 'x', sizeof large - 1 - strlen(large));
    begin(&(struct http_ask){.url = "http://127.0.0.1:8080/"});
    answer_once(&bench, listener, large, false);
    assert_int_equal(result, HTTP_CLIENT_NO_HTTP);
    http_client_stop(&client);
    bench_close(&bench);
}

// --- connections that are kept ---------------------------------------------------------------------------------------

static void one_connection_serves_request_after_request(void **state)
{
    static const struct {
        struct http_ask ask;
        int status;
        uint32_t length;
    } cases[] = {
        {{.url = "http://site/text", .keep = true}, 200, 10},
        {{.url = "http://site/lines", .keep = true}, 200, 2000},
        {{.url = "http://SITE:80/text", .method = HTTP_HEAD, .keep = true}, 200, 0},
        {{.url = "http://site/upload", .method = HTTP_POST, .data = cases, .length = 5, .keep = true}, 201, 0},
        {{.url = "http://site/text", .first = 4, .last = 6, .keep = true}, 206, 3},
        {{.url = "http://site/nothing", .keep = true}, 404, 42},
        {{.url = "http://site/text"}, 200, 10},
    };
    struct bench bench;
    (void)state;
    open_client(&bench);
    assert_int_equal(site_open(&bench.loop), WEIR_OK);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(&cases[i].ask);
        bench_run(&bench, 1000000);
        if (result != WEIR_OK || status != cases[i].status || length != cases[i].length)
            fail_msg("%s: %d, %d, %u bytes", cases[i].ask.url, result, status, length);
    }
    assert_int_equal(located, 1);
    begin(&(struct http_ask){.url = "http://site/text", .keep = true});  // the last one was not to be kept
    bench_run(&bench, 1000000);
    assert_true(result == WEIR_OK && located == 2);
    begin(&(struct http_ask){.url = "http://other/text", .keep = true});  // nor is one server's another's
    bench_run(&bench, 1000000);
    assert_true(result == WEIR_OK && located == 3);
    assert_int_equal(http_client_ask(&client, &(struct http_ask){.url = "http://site/ x"}), WEIR_INVALID);
    begin(&(struct http_ask){.url = "http://other/text", .keep = true});
    bench_run(&bench, HTTP_CLIENT_KEPT_US + 1000000);
    assert_true(result == WEIR_OK && located == 3 && client.stream.socket == 0);
    http_client_stop(&client);
    http_server_stop(&site.http);
    bench_close(&bench);
}

static weir_socket accept_request(struct bench *bench, weir_socket listener)
{
    bench_run(bench, 100000);
    const weir_socket socket = weir_socket_accept(bench->f.weir, listener);
    assert_true(socket > 0);
    (void)bench_read(bench, socket, asked, sizeof asked, NULL);
    return socket;
}

static void only_what_ends_clearly_is_kept(void **state)
{
    static const struct {
        const char *answer;
        bool kept;
    } cases[] = {
        {OK "Content-Length: 3\r\n\r\nabc", true},
        {OK "Transfer-Encoding: chunked\r\n\r\n1\r\nc\r\n0\r\n\r\n", true},
        {"HTTP/1.1 204 No Content\r\n\r\n", true},
        {"HTTP/1.0 200\r\nConnection: keep-alive\r\nContent-Length: 0\r\n\r\n", true},
        {"HTTP/1.0 200\r\nContent-Length: 0\r\n\r\n", false},
        {OK "Connection: x, close\r\nContent-Length: 0\r\n\r\n", false},
        {OK "Content-Length: 3\r\n\r\nabcHTTP/1.1 200 OK\r\n\r\n", false},
    };
    struct bench bench;
    (void)state;
    open_client(&bench);
    const weir_socket listener = listen_here(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char byte;
        begin(&(struct http_ask){.url = "http://127.0.0.1:8080/", .keep = true});
        const weir_socket socket = accept_request(&bench, listener);
        assert_non_null(strstr(asked, "\r\nConnection: keep-alive\r\n"));
        bench_write(&bench, socket, cases[i].answer);
        bench_run(&bench, 100000);
        assert_int_equal(result, WEIR_OK);
        const int read = weir_socket_read(bench.f.weir, socket, &byte, 1);
        if (cases[i].kept != (read == WEIR_AGAIN))
            fail_msg("%s: %d", cases[i].answer, read);
        if (cases[i].kept)  // what a server says unasked is nobody's answer
            bench_write(&bench, socket, OK "Content-Length: 1\r\n\r\nx");
        bench_run(&bench, 100000);
        assert_int_equal(client.stream.socket, 0);
        (void)weir_socket_close(bench.f.weir, socket);
    }
    http_client_stop(&client);
    bench_close(&bench);
}

static void what_a_kept_connection_loses_is_asked_again(void **state)
{
    static const struct {
        enum http_method method;
        bool reset, again;
    } cases[] = {{HTTP_GET, false, true},   {HTTP_GET, true, true},    {HTTP_PUT, false, true},
                 {HTTP_POST, false, false}, {HTTP_PATCH, true, false}, {HTTP_GET, false, true}};
    struct bench bench;
    (void)state;
    open_client(&bench);
    const weir_socket listener = listen_here(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        const bool data = cases[i].method != HTTP_GET;
        struct http_ask ask = {.url = "http://127.0.0.1:8080/", .keep = true};
        begin(&ask);
        weir_socket socket = accept_request(&bench, listener);
        bench_write(&bench, socket, OK "Content-Length: 0\r\n\r\n");
        ask.method = cases[i].method;
        ask.data = data ? "body" : NULL;
        ask.length = data ? 4 : 0;
        begin(&ask);
        bench_run(&bench, 100000);
        assert_true(bench_read(&bench, socket, asked, sizeof asked, NULL) > 0);
        assert_int_equal(cases[i].reset ? weir_socket_abort(bench.f.weir, socket)
                                        : weir_socket_close(bench.f.weir, socket),
                         WEIR_OK);
        bench_run(&bench, 100000);
        if (!cases[i].again) {
            assert_int_equal(result, cases[i].reset ? WEIR_RESET : HTTP_CLIENT_SHORT);
            continue;
        }
        socket = accept_request(&bench, listener);
        assert_int_equal(strstr(asked, "\r\n\r\nbody") != NULL, data);
        (void)weir_socket_close(bench.f.weir, socket);  // once, not for ever
        bench_run(&bench, 100000);
        assert_int_equal(result, HTTP_CLIENT_SHORT);
    }
    http_client_stop(&client);
    bench_close(&bench);
}

static void other_parts_than_were_asked_for_are_refused(void **state)
{
    static const struct {
        const char *range;
        int result;
    } cases[] = {{"bytes 4-6/10", WEIR_OK},           {"bytes 4-6/*", WEIR_OK},
                 {"bytes 3-5/10", HTTP_CLIENT_RANGE}, {"bytes 4-7/10", HTTP_CLIENT_RANGE},
                 {"bytes 6-4/10", HTTP_CLIENT_RANGE}, {"bytes */10", HTTP_CLIENT_RANGE},
                 {"bytes 4-5/10", HTTP_CLIENT_RANGE}, {"items 4-6/10", HTTP_CLIENT_RANGE},
                 {"bytes", HTTP_CLIENT_RANGE},        {"bytes 4", HTTP_CLIENT_RANGE},
                 {"bytes 4/6", HTTP_CLIENT_RANGE},    {"bytes 4-", HTTP_CLIENT_RANGE}};
    struct bench bench;
    (void)state;
    open_client(&bench);
    const weir_socket listener = listen_here(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char answer[200];
        begin(&(struct http_ask){.url = "http://127.0.0.1:8080/", .first = 4, .last = 6});
        snprintf(answer, sizeof answer, "HTTP/1.1 206 P\r\nContent-Range: %s\r\nContent-Length: 3\r\n\r\nabc",
                 cases[i].range);
        answer_once(&bench, listener, answer, false);
        assert_non_null(strstr(asked, "\r\nRange: bytes=4-6\r\n"));
        if (result != cases[i].result)
            fail_msg("%s: %d", cases[i].range, result);
    }
    http_client_stop(&client);
    bench_close(&bench);
}

static void redirects_are_followed_with_care(void **state)
{
    static const struct http_field fields[] = {{"Authorization", "secret"}, {"X-Kept", "yes"}};
    static const struct {
        int status;
        const char *method;
        bool data;
    } cases[] = {
        {301, "GET", false}, {302, "GET", false}, {303, "GET", false}, {307, "POST", true}, {308, "POST", true}};
    struct bench bench;
    char answer[200];
    (void)state;
    open_client(&bench);
    const weir_socket listener = listen_here(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        begin(&(struct http_ask){.url = "http://127.0.0.1:8080/a/b",
                                 .method = HTTP_POST,
                                 .data = "body",
                                 .length = 4,
                                 .fields = fields,
                                 .field_count = 2});
        snprintf(answer, sizeof answer, "HTTP/1.1 %d M\r\nLocation: ../c?d\r\n\r\n", cases[i].status);
        answer_once(&bench, listener, answer, false);
        assert_true(strncmp(asked, "POST /a/b ", 10) == 0 && strstr(asked, "\r\n\r\nbody") != NULL);
        answer_once(&bench, listener, "HTTP/1.1 302 M\r\nLocation: http://other:8080/e\r\n\r\n", false);
        assert_true(strncmp(asked, cases[i].method, strlen(cases[i].method)) == 0 &&
                    strstr(asked, " /c?d HTTP") != NULL);
        assert_int_equal(strstr(asked, "\r\n\r\nbody") != NULL, cases[i].data);
        assert_non_null(strstr(asked, "Authorization: secret\r\n"));
        answer_once(&bench, listener, OK "Content-Length: 2\r\n\r\nat", false);
        assert_non_null(strstr(asked, "GET /e HTTP/1.1\r\nHost: other:8080\r\n"));
        assert_true(strstr(asked, "Content-Length") == NULL && strstr(asked, "body") == NULL);
        assert_true(strstr(asked, "Authorization") == NULL && strstr(asked, "X-Kept: yes\r\n") != NULL);
        assert_true(result == WEIR_OK && status == 200);
    }
    begin(&(struct http_ask){.url = "http://127.0.0.1:8080/"});
    for (uint32_t i = 0; i <= HTTP_CLIENT_REDIRECTS; i++) {
        assert_int_equal(result, PENDING);
        answer_once(&bench, listener, "HTTP/1.1 302 M\r\nLocation: /\r\n\r\n", false);
    }
    assert_int_equal(result, HTTP_CLIENT_REDIRECTED);
    begin(&(struct http_ask){.url = "http://127.0.0.1:8080/"});
    answer_once(&bench, listener, "HTTP/1.1 302 M\r\nLocation: file:///etc/passwd\r\n\r\n", false);
    assert_int_equal(result, HTTP_CLIENT_REDIRECTED);
    begin(&(struct http_ask){.url = "http://127.0.0.1:8080/", .redirects_not = true});
    answer_once(&bench, listener, "HTTP/1.1 302 M\r\nLocation: /x\r\nContent-Length: 0\r\n\r\n", false);
    assert_true(result == WEIR_OK && status == 302);
    begin(&(struct http_ask){.url = "http://127.0.0.1:8080/"});
    answer_once(&bench, listener, "HTTP/1.1 302 M\r\nLocation: https://127.0.0.1/\r\n\r\n", false);
    assert_int_equal(result, WEIR_NOT_SUPPORTED);  // there is no TLS here
    http_client_stop(&client);
    bench_close(&bench);
}

static void nobody_is_waited_for_without_end(void **state)
{
    struct bench bench;
    (void)state;
    open_client(&bench);
    const weir_socket listener = listen_here(&bench);
    begin(&(struct http_ask){.url = "http://127.0.0.1:8080/"});
    bench_run(&bench, HTTP_CLIENT_STALL_US + 1000000);
    assert_int_equal(result, WEIR_TIMED_OUT);
    begin(&(struct http_ask){.url = "http://127.0.0.1:8081/"});
    bench_run(&bench, 1000000);
    assert_int_equal(result, WEIR_REFUSED);
    begin(&(struct http_ask){.url = "http://silent/"});
    bench_run(&bench, HTTP_CLIENT_CONNECT_US - 1000000);
    assert_int_equal(result, PENDING);
    bench_run(&bench, 1100000);
    assert_int_equal(result, WEIR_TIMED_OUT);
    begin(&(struct http_ask){.url = "http://nowhere/"});
    assert_int_equal(result, WEIR_NO_ADDRESS);
    assert_int_equal(http_client_ask(&client, &(struct http_ask){.url = "http://a/\r\nX: y"}), WEIR_INVALID);
    assert_int_equal(http_client_ask(&client, &(struct http_ask){.url = "http://a/",
                                                                 .field_count = 1,
                                                                 .fields = &(struct http_field){"A", "b\r\nC: d"}}),
                     WEIR_INVALID);
    begin(&(struct http_ask){.url = "http://127.0.0.1:8080/"});
    assert_int_equal(http_client_ask(&client, &(struct http_ask){.url = "http://a/"}), WEIR_AGAIN);
    http_client_cancel(&client);
    assert_int_equal(result, PENDING);
    http_client_stop(&client);
    (void)weir_socket_close(bench.f.weir, listener);
    bench_close(&bench);
}

static weir_socket offered;  // what on_offer answers with

static void on_offer(struct http_client *c, const struct http_url *url, void *context)
{
    (void)url, (void)context;
    http_client_connected(c, offered);
}

// A socket that somebody else connected, as happy eyeballs does, is taken; in place of one come its errors.
static void a_connection_may_be_brought(void **state)
{
    struct bench bench;
    (void)state;
    bench_open(&bench);
    struct http_client_config offering = config;
    offering.locate = on_offer;
    assert_int_equal(http_client_start(&client, &bench.loop, &offering), WEIR_OK);
    const weir_socket listener = listen_here(&bench);
    offered = WEIR_HOST_UNREACHABLE;
    begin(&(struct http_ask){.url = "http://anywhere/"});
    assert_int_equal(result, WEIR_HOST_UNREACHABLE);
    offered = 0;
    begin(&(struct http_ask){.url = "http://anywhere/"});
    assert_int_equal(result, WEIR_NO_ADDRESS);
    offered = bench_connect(&bench, 8080);
    begin(&(struct http_ask){.url = "http://anywhere/"});
    answer_once(&bench, listener, OK "Content-Length: 3\r\n\r\nabc", false);
    assert_int_equal(result, WEIR_OK);
    assert_string_equal(got, "abc");
    assert_non_null(strstr(asked, "\r\nHost: anywhere\r\n"));
    offered = bench_connect(&bench, 8080);
    begin(&(struct http_ask){.url = "http://[2001:db8::1]:8080/"});  // no name: it stands in brackets
    answer_once(&bench, listener, OK "Content-Length: 0\r\n\r\n", false);
    assert_int_equal(result, WEIR_OK);
    assert_non_null(strstr(asked, "\r\nHost: [2001:db8::1]:8080\r\n"));
    http_client_connected(&client, 5);  // it has ended: nobody asked
    http_client_located(&client, weir_ip4(127, 0, 0, 1));
    assert_int_equal(client.state, HTTP_CLIENT_IDLE);
    http_client_stop(&client);
    (void)weir_socket_close(bench.f.weir, listener);
    bench_close(&bench);
}

static void what_cannot_be_asked_is_refused(void **state)
{
    struct bench bench;
    (void)state;
    bench_open(&bench);
    struct http_client_config bad[] = {config, config, config};
    bad[0].bytes = HTTP_CLIENT_LEAST - 1;
    bad[1].done = NULL;
    bad[2].body = NULL;
    for (uint32_t i = 0; i < 3; i++)
        assert_int_equal(http_client_start(&client, &bench.loop, &bad[i]), WEIR_INVALID);
    bad[0] = config;
    bad[0].locate = NULL;
    bad[0].answer = NULL;
    assert_int_equal(http_client_start(&client, &bench.loop, &bad[0]), WEIR_OK);
    begin(&(struct http_ask){.url = "http://name/"});
    assert_int_equal(result, WEIR_NO_ADDRESS);
    begin(&(struct http_ask){.url = "https://name/"});
    assert_int_equal(result, WEIR_NOT_SUPPORTED);
    begin(&(struct http_ask){.url = "http://192.0.2.1/"});
    assert_int_equal(result, WEIR_NO_ROUTE);
    assert_int_equal(http_client_ask(&client, &(struct http_ask){.url = "nothing"}), WEIR_INVALID);
    assert_int_equal(http_client_ask(&client, &(struct http_ask){.url = "http://a/", .etag = "a\r\nb"}), WEIR_INVALID);
    static char name[HTTP_CLIENT_LEAST];
    memset(name, 'a', sizeof name - 1);
    const struct http_field fields[] = {{"a b", "c"}, {name, "c"}};
    for (uint32_t i = 0; i < 2; i++)
        assert_int_equal(
            http_client_ask(&client, &(struct http_ask){.url = "http://a/", .fields = &fields[i], .field_count = 1}),
            WEIR_INVALID);
    const weir_socket listener = listen_here(&bench);
    begin(&(struct http_ask){.url = "http://127.0.0.1:8080/"});
    answer_once(&bench, listener, OK "Content-Length: 3\r\n\r\nabc", false);
    assert_true(result == WEIR_OK && status == 0);  // nobody wanted to know the status
    http_client_stop(&client);
    (void)weir_socket_close(bench.f.weir, listener);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_our_server_has_is_fetched),
        cmocka_unit_test(answers_end_where_they_say),
        cmocka_unit_test(one_connection_serves_request_after_request),
        cmocka_unit_test(only_what_ends_clearly_is_kept),
        cmocka_unit_test(what_a_kept_connection_loses_is_asked_again),
        cmocka_unit_test(other_parts_than_were_asked_for_are_refused),
        cmocka_unit_test(redirects_are_followed_with_care),
        cmocka_unit_test(nobody_is_waited_for_without_end),
        cmocka_unit_test(a_connection_may_be_brought),
        cmocka_unit_test(what_cannot_be_asked_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
