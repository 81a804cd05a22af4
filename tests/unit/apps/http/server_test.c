// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small_apps small6_apps
// The HTTP server library, over loopback in virtual time: bodies both ways, conditions, files, limits, and what is a
// smuggled request where it is not refused.
#include <stdio.h>
#include <stdlib.h>

#include "apps/http/site.h"
#include "apps/slow.h"

static char got[65536];

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

// One request on a connection of its own; the answer is in `got`. Returns its status.
static int ask(struct bench *bench, const char *request, bool *ended)
{
    weir_socket socket = bench_connect(bench, 80);
    bench_write(bench, socket, request);
    (void)bench_read(bench, socket, got, sizeof got, ended);
    assert_int_equal(weir_socket_close(bench->f.weir, socket), WEIR_OK);
    bench_run(bench, 100000);
    return atoi(got + 9);
}

static bool has(const char *words) { return strstr(got, words) != NULL; }

static uint32_t count_of(const char *words)
{
    uint32_t count = 0;
    for (const char *at = got; (at = strstr(at, words)) != NULL; at++)
        count++;
    return count;
}

static const char *body(void)
{
    const char *end = strstr(got, "\r\n\r\n");
    assert_non_null(end);
    return end + 4;
}

static void routes_are_chosen_by_path_and_method(void **state)
{
    static const struct {
        const char *line;
        int status;
        const char *has;
    } cases[] = {{"GET /text", 200, "0123456789"},
                 {"GET /te%78t?name=a%20b+c", 200, "X-Name: a b c\r\n"},
                 {"GET /text?name=a%0d%0aX:y", 500, ""},  // no line of ours ends within a value
                 {"HEAD /text", 200, "Content-Length: 10\r\n"},
                 {"DELETE /text", 200, ""},
                 {"PUT /text", 405, "Allow: GET, HEAD, DELETE\r\n"},
                 {"get /text", 405, ""},
                 {"GET /upload", 405, "Allow: POST, PUT\r\n"},
                 {"GET /nothing", 404, ""},
                 {"GET /text/", 404, ""},
                 {"GET /a%2ejs", 200, ""},
                 {"GET %2Fa.js", 400, ""},
                 {"GET /%2Fa.js", 404, ""},
                 {"GET /a%00.js", 400, ""},
                 {"GET /a%5c.js", 400, ""},
                 {"GET /x/../a.js", 400, ""},
                 {"GET /x/%2e%2E/a.js", 400, ""},
                 {"GET /x/..", 400, ""},
                 {"GET /./a.js", 400, ""},
                 {"GET /a.js%", 400, ""},
                 {"GET /a.js%4", 400, ""},
                 {"GET /a.js#x", 400, ""},
                 {"GET /a%252ejs", 404, ""},  // decoded once, and no more
                 {"GET /te%2578t", 404, ""},
                 {"GET /%c0%ae%c0%ae/a.js", 404, ""},  // no dots
                 {"GET /x/%c0%ae%c0%ae%c0%afa.js", 404, ""},
                 {"GET /text?/../a.js", 200, "0123456789"},  // a query is no path
                 {"GET /text?name=%2e%2e%2f", 200, "X-Name: ../\r\n"},
                 {"GET /...", 404, ""}};
    struct bench bench;
    (void)state;
    open_site(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char request[200];
        snprintf(request, sizeof request, "%s HTTP/1.1\r\nHost: w\r\n\r\n", cases[i].line);
        const int status = ask(&bench, request, NULL);
        if (status != cases[i].status || !has(cases[i].has))
            fail_msg("%s: %d\n%s", cases[i].line, status, got);
    }
    close_site(&bench);
}

// Each on a connection of its own, as `line` says, with these fields.
struct asking {
    const char *line, *fields;
    int status;
};

static void each_is_answered(struct bench *bench, const struct asking *cases, size_t count)
{
    for (size_t i = 0; i < count; i++) {
        char request[300];
        snprintf(request, sizeof request, "%s\r\n%s\r\n", cases[i].line, cases[i].fields);
        const int status = ask(bench, request, NULL);
        if (status != cases[i].status)
            fail_msg("%s: %d\n%s", request, status, got);
    }
}

// A browser posts what any page tells it to: a page of another host changes nothing here.
static void pages_of_others_change_nothing(void **state)
{
    static const struct asking cases[] = {
        {"POST /upload HTTP/1.1", "Host: w\r\nContent-Length: 1\r\n\r\na", 201},
        {"POST /upload HTTP/1.1", "Host: w\r\nOrigin: http://w\r\nContent-Length: 1\r\n\r\na", 201},
        {"POST /upload HTTP/1.1", "Host: w:80\r\nOrigin: http://W:80\r\nContent-Length: 1\r\n\r\na", 201},
        {"POST /upload HTTP/1.1", "Host: w\r\nOrigin: http://v\r\nContent-Length: 1\r\n\r\na", 403},
        {"POST /upload HTTP/1.1", "Host: w\r\nOrigin: http://w:81\r\nContent-Length: 1\r\n\r\na", 403},
        {"POST /upload HTTP/1.1", "Host: w\r\nOrigin: http://w.v\r\nContent-Length: 1\r\n\r\na", 403},
        {"POST /upload HTTP/1.1", "Host: w\r\nOrigin: null\r\nContent-Length: 1\r\n\r\na", 403},
        {"PUT /upload HTTP/1.1", "Host: w\r\nOrigin: http://v\r\nContent-Length: 1\r\n\r\na", 403},
        {"DELETE /text HTTP/1.1", "Host: w\r\nOrigin: http://v\r\n", 403},
        {"DELETE /text HTTP/1.1", "Host: w\r\n", 200},
        {"GET /text HTTP/1.1", "Host: w\r\nOrigin: http://v\r\n", 200},
        {"POST /shared HTTP/1.1", "Host: w\r\nOrigin: http://v\r\nContent-Length: 0\r\n", 200},
        // the host is the target's (RFC 9112 §3.2.2), and not what the field says
        {"DELETE http://v/text HTTP/1.1", "Host: w\r\nOrigin: http://w\r\n", 403},
        {"DELETE http://v/text HTTP/1.1", "Host: w\r\nOrigin: http://v\r\n", 200},
        {"DELETE /text HTTP/1.0", "Origin: http://v\r\n", 403},
        {"PUT /text HTTP/1.1", "Host: w\r\nOrigin: http://v\r\n", 405},
    };
    struct bench bench;
    (void)state;
    open_site(&bench);
    each_is_answered(&bench, cases, sizeof cases / sizeof *cases);
    close_site(&bench);
}

// A name of somebody's that leads here makes his page one of this host to a browser (DNS rebinding).
static void names_that_are_not_ours_are_refused(void **state)
{
    static const char *const hosts[] = {"lamp.home.arpa", "w", NULL};
    static const struct asking cases[] = {
        {"GET /text HTTP/1.1", "Host: w\r\n", 200},
        {"GET /text HTTP/1.1", "Host: LAMP.home.arpa:8080\r\n", 200},
        {"GET /text HTTP/1.1", "Host: lamp.home.arpa.\r\n", 200},
        {"GET /text HTTP/1.1", "Host: rebound.example\r\n", 421},
        {"GET /text HTTP/1.1", "Host: lamp.home.arpa.example\r\n", 421},
        {"GET /text HTTP/1.1", "Host: home.arpa\r\n", 421},
        {"GET /text HTTP/1.1", "Host: local\r\n", 421},
        {"GET /text HTTP/1.1", "Host: rebound.notlocal\r\n", 421},
        {"GET /text HTTP/1.1", "Host: 10.0.0.1.example\r\n", 421},
        {"GET /text HTTP/1.1", "Host: 10.0.0.1\r\n", 200},
        {"GET /text HTTP/1.1", "Host: 10.0.0.1:80\r\n", 200},
        {"GET /text HTTP/1.1", "Host: [fe80::1]\r\n", 200},
        {"GET /text HTTP/1.1", "Host: [fe80::1]:80\r\n", 200},
        {"GET /text HTTP/1.1", "Host: Kitchen-2.Local\r\n", 200},
        {"GET /text HTTP/1.1", "Host: localhost:8080\r\n", 200},
        {"GET /text HTTP/1.1", "Host: App.LocalHost.\r\n", 200},
        {"GET /text HTTP/1.1", "Host: notlocalhost\r\n", 421},
        {"GET /text HTTP/1.1", "Host: localhost.example\r\n", 421},
        {"DELETE /text HTTP/1.1", "Host: rebound.example\r\nOrigin: http://rebound.example\r\n", 421},
        {"GET http://rebound.example/text HTTP/1.1", "Host: w\r\n", 421},
        {"GET /echo HTTP/1.1",
         "Host: rebound.example\r\nUpgrade: websocket\r\nConnection: Upgrade\r\nSec-WebSocket-Version: 13\r\n"
         "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nOrigin: http://rebound.example\r\n",
         421},
        {"GET /text HTTP/1.0", "", 200},  // no browser of today
    };
    struct bench bench;
    (void)state;
    bench_open(&bench);
    assert_int_equal(site_open_as(&bench.loop, SITE_OUT, hosts), WEIR_OK);
    each_is_answered(&bench, cases, sizeof cases / sizeof *cases);
    close_site(&bench);
}

static void errors_are_whole_in_the_least_memory(void **state)
{
    static const char *const requests[] = {
        "nonsense\r\n\r\n",
        "GET /text HTTP/3.0\r\n\r\n",
        "GET /nothing HTTP/1.1\r\nHost: w\r\n\r\n",
        "PUT /text HTTP/1.1\r\nHost: w\r\n\r\n",
        "GET /text HTTP/1.1\r\nHost: w\r\nRange: bytes=10-\r\n\r\n",
        "GET /text HTTP/1.1\r\nHost: w\r\nExpect: magic\r\n\r\n",
        "GET /text HTTP/1.1\r\nHost: w\r\nTransfer-Encoding: gzip\r\n\r\n",
        "GET /echo HTTP/1.1\r\nHost: w\r\n\r\n",
        "POST /upload HTTP/1.1\r\nHost: w\r\nContent-Length: 1000001\r\n\r\n",
    };
    static char longest[SITE_IN + 1] = "GET /text HTTP/1.1\r\nX: ";
    struct bench bench;
    (void)state;
    bench_open(&bench);
    assert_int_equal(site_open_with(&bench.loop, HTTP_OUT_LEAST - 1), WEIR_INVALID);
    assert_int_equal(site_open_with(&bench.loop, HTTP_OUT_LEAST), WEIR_OK);
    site.unix_us = 784111777000000;
    memset(longest + strlen(longest), 'x', sizeof longest - 1 - strlen(longest));
    for (size_t i = 0; i <= sizeof requests / sizeof *requests; i++) {
        const char *request = i < sizeof requests / sizeof *requests ? requests[i] : longest;
        assert_true(ask(&bench, request, NULL) >= 400);
        assert_non_null(strstr(got, "Content-Length: "));
        if (atoi(strstr(got, "Content-Length: ") + 16) != (int)strlen(body()))
            fail_msg("%s: %s", request, got);
    }
    close_site(&bench);
}

// RFC 9110 §5.6.7, §6.6.1
static void date_is_said_by_who_knows_it(void **state)
{
    static const struct {
        uint64_t unix_us;
        const char *date;
    } cases[] = {{0, NULL},
                 {784111777000000, "\r\nDate: Sun, 06 Nov 1994 08:49:37 GMT\r\n"},
                 {951782400999999, "\r\nDate: Tue, 29 Feb 2000 00:00:00 GMT\r\n"},
                 {4107542399000000, "\r\nDate: Sun, 28 Feb 2100 23:59:59 GMT\r\n"},
                 {4107542400000000, "\r\nDate: Mon, 01 Mar 2100 00:00:00 GMT\r\n"},
                 {253402300799000000, "\r\nDate: Fri, 31 Dec 9999 23:59:59 GMT\r\n"},
                 {253402300800000000, NULL}};
    struct bench bench;
    (void)state;
    open_site(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        site.unix_us = cases[i].unix_us;
        assert_int_equal(ask(&bench, "GET /text HTTP/1.1\r\nHost: w\r\n\r\n", NULL), 200);
        assert_true(cases[i].date != NULL ? has(cases[i].date) : !has("Date:"));
        assert_int_equal(ask(&bench, "GET /nothing HTTP/1.1\r\nHost: w\r\n\r\n", NULL), 404);
        assert_true(cases[i].date != NULL ? has(cases[i].date) : !has("Date:"));
    }
    close_site(&bench);
}

static void conditions_and_ranges_are_heeded(void **state)
{
    static const struct {
        const char *fields;
        int status;
        const char *body;
    } cases[] = {{"If-None-Match: \"ten\"\r\n", 304, ""},
                 {"If-None-Match: \"x\", W/\"ten\"\r\n", 304, ""},
                 {"If-None-Match: *\r\n", 304, ""},
                 {"If-None-Match: \"x\"\r\n", 200, "0123456789"},
                 {"If-Match: \"ten\"\r\n", 200, "0123456789"},
                 {"If-Match: \"x\"\r\nIf-Match: \"ten\"\r\n", 200, "0123456789"},
                 {"If-Match: W/\"ten\"\r\n", 412, NULL},
                 {"If-Match: \"x\"\r\n", 412, NULL},
                 {"Range: bytes=2-4\r\n", 206, "234"},
                 {"Range: bytes=-2\r\n", 206, "89"},
                 {"Range: bytes=0-1,4-5\r\n", 200, "0123456789"},
                 {"Range: bytes=2-4\r\nIf-Range: \"ten\"\r\n", 206, "234"},
                 {"Range: bytes=2-4\r\nIf-Range: W/\"ten\"\r\n", 200, "0123456789"},
                 {"Range: bytes=2-4\r\nIf-Range: Tue, 01 Jan 2030 00:00:00 GMT\r\n", 200, "0123456789"},
                 {"Range: bytes=2-4\r\nIf-None-Match: \"ten\"\r\n", 304, ""},
                 {"Range: bytes=10-\r\n", 416, NULL}};
    struct bench bench;
    (void)state;
    open_site(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char request[300];
        snprintf(request, sizeof request, "GET /text HTTP/1.1\r\nHost: w\r\n%s\r\n", cases[i].fields);
        const int status = ask(&bench, request, NULL);
        if (status != cases[i].status || (cases[i].body != NULL && strcmp(body(), cases[i].body) != 0))
            fail_msg("%s: %d\n%s", cases[i].fields, status, got);
        assert_true(status != 304 || (!has("Content-Length") && has("ETag: \"ten\"")));
    }
    assert_int_equal(ask(&bench, "DELETE /text HTTP/1.1\r\nHost: w\r\nIf-None-Match: \"ten\"\r\n\r\n", NULL), 412);
    assert_int_equal(ask(&bench, "HEAD /text HTTP/1.1\r\nHost: w\r\nRange: bytes=2-4\r\n\r\n", NULL), 200);
    assert_true(has("Content-Length: 10\r\n"));
    close_site(&bench);
}

static void files_come_as_they_are_accepted(void **state)
{
    static const struct {
        const char *accept, *body;
    } cases[] = {{"", "<p>plain"},
                 {"Accept-Encoding: gzip\r\n", "zipped"},
                 {"Accept-Encoding: br, GZIP;q=0.5\r\n", "zipped"},
                 {"Accept-Encoding: gzip;q=0\r\n", "<p>plain"},
                 {"Accept-Encoding: *;q=1, gzip; q=0.000\r\n", "<p>plain"},
                 {"Accept-Encoding: *\r\n", "zipped"},
                 {"Accept-Encoding: xgzip, gzipx\r\n", "<p>plain"}};
    struct bench bench;
    (void)state;
    open_site(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char request[200];
        snprintf(request, sizeof request, "GET /page.html HTTP/1.1\r\nHost: w\r\n%s\r\n", cases[i].accept);
        assert_int_equal(ask(&bench, request, NULL), 200);
        assert_string_equal(body(), cases[i].body);
        assert_true(has("Vary: Accept-Encoding\r\n"));
        assert_int_equal(has("Content-Encoding: gzip\r\n"), strcmp(body(), "zipped") == 0);
        assert_int_equal(has("ETag: \"p1z\"\r\n"), strcmp(body(), "zipped") == 0);
    }
    assert_int_equal(ask(&bench, "GET /a.js HTTP/1.1\r\nHost: w\r\nAccept-Encoding: gzip\r\n\r\n", NULL), 200);
    assert_false(has("Vary"));
    // a range is one of the coded bytes, and the tag is theirs
#define ZIPPED "GET /page.html HTTP/1.1\r\nHost: w\r\nAccept-Encoding: gzip\r\nRange: bytes=1-2\r\n"
    assert_int_equal(ask(&bench, ZIPPED "If-Range: \"p1z\"\r\n\r\n", NULL), 206);
    assert_true(has("Content-Range: bytes 1-2/6\r\n") && strcmp(body(), "ip") == 0);
    assert_int_equal(ask(&bench, ZIPPED "If-Range: \"p1\"\r\n\r\n", NULL), 200);
    assert_string_equal(body(), "zipped");
    close_site(&bench);
}

// RFC 9110 §6.4.1: nothing follows a 204, whatever the handler says; a request for what is no WebSocket, or for HTTP/2,
// is an ordinary one.
static void some_answers_have_no_body(void **state)
{
    static const char *const fields[] = {"", "?x"};
    struct bench bench;
    bool ended;
    (void)state;
    open_site(&bench);
    for (uint32_t i = 0; i < 2; i++) {
        char request[200];
        snprintf(request, sizeof request,
                 "GET /nothing-to-say%s HTTP/1.1\r\nHost: w\r\n\r\nGET /a.js HTTP/1.1\r\nHost: w\r\n\r\n", fields[i]);
        assert_int_equal(ask(&bench, request, &ended), 204);
        const char *const end = body();
        assert_memory_equal(end, "HTTP/1.1 200 ", 13);  // the next answer is right behind it
        const char *const length = strstr(got, "Content-Length"), *const coding = strstr(got, "Transfer-Encoding");
        assert_true(!ended && (length == NULL || length > end) && coding == NULL);
    }
    assert_int_equal(ask(&bench,
                         "GET /text HTTP/1.1\r\nHost: w\r\nConnection: Upgrade, HTTP2-Settings\r\nUpgrade: h2c\r\n"
                         "HTTP2-Settings: AAMAAABkAAQCAAAAAAIAAAAA\r\n\r\n",
                         &ended),
                     200);
    assert_true(!ended && strcmp(body(), "0123456789") == 0);
    close_site(&bench);
}

// A header has its ten seconds, however often a byte of it comes; behind an answer, too.
static void slow_headers_are_given_up(void **state)
{
    struct bench bench;
    bool ended = false;
    (void)state;
    open_site(&bench);
    weir_socket socket = bench_connect(&bench, 80);
    for (uint32_t request = 0; request < 2; request++) {
        uint32_t seconds = 0;
        if (request == 1)
            bench_write(&bench, socket, "GET /text HTTP/1.1\r\nHost: w\r\n\r\n");
        bench_write(&bench, socket, "GET /text HTTP/1.1\r\nX: ");
        if (request == 1)
            assert_int_equal(bench_read(&bench, socket, got, sizeof got, NULL) > 0, 1);
        for (; seconds < 30 && !(weir_socket_ready(bench.f.weir, socket) & WEIR_READABLE); seconds++) {
            (void)weir_socket_write(bench.f.weir, socket, "a", 1);
            bench_run(&bench, 1000000);
        }
        assert_in_range(seconds, HTTP_HEADER_US / 1000000u - 1, HTTP_HEADER_US / 1000000u + 1);
        (void)bench_read(&bench, socket, got, sizeof got, &ended);
        assert_true(atoi(got + 9) == 408 && ended);
        assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
        socket = bench_connect(&bench, 80);
    }
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    close_site(&bench);
}

#define UPLOAD "POST /upload HTTP/1.1\r\nHost: w\r\n"

static void bodies_are_streamed_in(void **state)
{
    static const struct {
        const char *rest;
        uint32_t bytes, sum;
    } cases[] = {
        {"Content-Length: 5\r\n\r\nabcde", 5, 'a' * 5 + 10},
        {"Content-Length: 0\r\n\r\n", 0, 0},
        {"\r\n", 0, 0},
        {"Transfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n2\r\nde\r\n0\r\n\r\n", 5, 'a' * 5 + 10},
        {"Transfer-Encoding: Chunked\r\n\r\n5;a=b;c=\"d\"\r\nabcde\r\n000\r\nX: y\r\nContent-Length: 3\r\n\r\n", 5,
         'a' * 5 + 10},
        {"Transfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 0, 0}};
    struct bench bench;
    (void)state;
    open_site(&bench);
    for (uint32_t take = 0; take < 3; take++) {  // the handler takes all, or a byte or two a time
        for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
            char request[400];
            site.take = take;
            snprintf(request, sizeof request, UPLOAD "%sGET /text HTTP/1.1\r\nHost: w\r\n\r\n", cases[i].rest);
            weir_socket socket = bench_connect(&bench, 80);
            for (const char *at = request; *at != '\0'; at++)  // every byte by itself
                assert_int_equal(weir_socket_write(bench.f.weir, socket, at, 1), 1), bench_run(&bench, 1000);
            for (int turn = 0; turn < 10; turn++) {
                for (uint32_t k = 0; k < SITE_CONNECTIONS; k++) {
                    if (site.connections[k].state == HTTP_BODY)
                        http_resume(&site.connections[k]);
                }
                bench_run(&bench, 1000);
            }
            bench_run(&bench, 200000);
            (void)bench_read(&bench, socket, got, sizeof got, NULL);
            assert_int_equal(atoi(got + 9), 201);
            assert_int_equal(site.uploaded, cases[i].bytes);
            assert_int_equal(site.sum, cases[i].sum);
            assert_true(has("0123456789"));  // the next request was seen where it begins
            assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
            bench_run(&bench, 100000);
        }
    }
    assert_int_equal(site.ended, 3 * sizeof cases / sizeof *cases);
    close_site(&bench);
}

static struct http_connection *in_state(enum http_state state)
{
    for (uint32_t i = 0; i < SITE_CONNECTIONS; i++) {
        if (site.connections[i].state == state)
            return &site.connections[i];
    }
    return NULL;
}

static void a_handler_that_goes_on_at_once_may_wait_the_next_time(void **state)
{
    struct bench bench;
    (void)state;
    open_site(&bench);
    site.refuse = 3;
    weir_socket socket = bench_connect(&bench, 80);
    bench_write(&bench, socket, UPLOAD "Content-Length: 5\r\n\r\nabcde");
    assert_true(site.refuse == 0 && site.uploaded == 0);
    assert_non_null(in_state(HTTP_BODY));
    http_resume(in_state(HTTP_BODY));
    bench_run(&bench, 100000);
    (void)bench_read(&bench, socket, got, sizeof got, NULL);
    assert_true(atoi(got + 9) == 201 && site.uploaded == 5);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    close_site(&bench);
}

// Each comes behind a good request; after the refusal the connection ends, and what follows is no request.
static void what_could_smuggle_a_request_is_refused(void **state)
{
    static const struct {
        const char *request;
        int status;
    } cases[] = {
        {UPLOAD "Content-Length: 5\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\nContent-Length: 5\r\n\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: gzip\r\nContent-Length: 5\r\n\r\nabcde", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked, chunked\r\n\r\n0\r\n\r\n", 501},
        {UPLOAD "Transfer-Encoding: xchunked\r\n\r\n0\r\n\r\n", 501},
        {UPLOAD "Transfer-Encoding: chunked;a\r\n\r\n0\r\n\r\n", 501},
        {UPLOAD "Transfer-Encoding: identity\r\n\r\n", 501},
        {UPLOAD "Transfer-Encoding: chun\tked\r\n\r\n0\r\n\r\n", 501},
        {UPLOAD "Transfer-Encoding: gzip, chunked\r\n\r\n0\r\n\r\n", 501},
        {UPLOAD "Transfer-Encoding: chunked, gzip\r\n\r\n0\r\n\r\n", 501},
        {UPLOAD "Transfer-Encoding: \"chunked\"\r\n\r\n0\r\n\r\n", 501},
        {UPLOAD "Transfer-Encoding:\r\n\r\n", 501},
        {UPLOAD "Transfer-Encoding: \x0b"
                "chunked\r\n\r\n0\r\n\r\n",
         400},
        {"POST /upload HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding : chunked\r\n\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding\r\n : chunked\r\n\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer\x01Encoding: chunked\r\n\r\n0\r\n\r\n", 400},
        {UPLOAD "Content-Length: 5\r\nContent-Length: 5\r\n\r\nabcde", 400},
        {UPLOAD "Content-Length: 5\r\nContent-Length: 6\r\n\r\nabcdef", 400},
        {UPLOAD "Content-Length: 5, 5\r\n\r\nabcde", 400},
        {UPLOAD "Content-Length: 5,5\r\n\r\nabcde", 400},
        {UPLOAD "Content-Length: +5\r\n\r\nabcde", 400},
        {UPLOAD "Content-Length: -0\r\n\r\n", 400},
        {UPLOAD "Content-Length: 0x5\r\n\r\nabcde", 400},
        {UPLOAD "Content-Length: 5 5\r\n\r\nabcde", 400},
        {UPLOAD "Content-Length: \r\n\r\n", 400},
        {UPLOAD "Content-Length: 18446744073709551616\r\n\r\n", 400},
        {UPLOAD "Content-Length:\r\n 5\r\n\r\nabcde", 400},
        {UPLOAD "Content-Length: 5\n\r\nabcde", 400},
        {UPLOAD "Content-Length: 5\r\n\nabcde", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\n0\r\n\r\n", 400},
        {UPLOAD "X: a\rb\r\n\r\n", 400},
        {UPLOAD "X: a\r\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n+3\r\nabc\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n-3\r\nabc\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n0x3\r\nabc\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n 3\r\nabc\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n3 \r\nabc\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n3\nabc\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n3\rabc\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n3;a\nabc\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n3;a\rb\r\nabc\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n3;a=\"\r\n\"\r\nabc\r\n0\r\n\r\n", 400},  // no quotes join lines
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n3\r\nabcd\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n3\r\nabcXY0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n3\r\nabc\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n\r\nabc", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n;a\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n10000000000000003\r\nabc\r\n0\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n"
                "0000000000000000000000000000000000000000000000000000000000000000000000003\r\nabc\r\n0\r\n\r\n",
         400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n0\r\n\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n0\r\nX : y\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n0\r\n folded\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n0\r\nX: a\nb\r\n\r\n", 400},
        {UPLOAD "Transfer-Encoding: chunked\r\n\r\n0\r\nnonsense\r\n\r\n", 400},
        {"GET /text HTTP/1.1\r\n\r\n", 400},
        {"GET /text HTTP/1.1\r\nHost: a\r\nHost: b\r\n\r\n", 400},
        {"GET /text HTTP/1.1\r\nHost: a b\r\n\r\n", 400},
        {"GET /text HTTP/1.1\r\nHost: a/b\r\n\r\n", 400},
        {"GET /text HTTP/1.1\r\nHost: a@b\r\n\r\n", 400},
        {"GET /te\txt HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"GET /te\x80xt HTTP/1.1\r\nHost: a\r\n\r\n", 400},
        {"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n", 505},
        {UPLOAD "Expect: magic\r\nContent-Length: 1\r\n\r\na", 417},
    };
    struct bench bench;
    (void)state;
    open_site(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
        char request[1000], line[40];
        bool ended;
        snprintf(request, sizeof request,
                 "GET /a.js HTTP/1.1\r\nHost: w\r\n\r\n%sGET /text HTTP/1.1\r\nHost: w\r\n\r\n", cases[i].request);
        assert_int_equal(ask(&bench, request, &ended), 200);
        snprintf(line, sizeof line, "HTTP/1.1 %d ", cases[i].status);
        if (!has(line) || !ended || count_of("Server: Weir") != 2 || has("0123456789"))
            fail_msg("%s\n: %s", cases[i].request, got);
    }
    close_site(&bench);
}

static void continue_is_said_when_the_body_is_wanted(void **state)
{
    struct bench bench;
    bool ended;
    (void)state;
    open_site(&bench);
    weir_socket socket = bench_connect(&bench, 80);
    bench_write(&bench, socket, UPLOAD "Expect: 100-continue\r\nContent-Length: 3\r\n\r\n");
    (void)bench_read(&bench, socket, got, sizeof got, NULL);
    assert_string_equal(got, "HTTP/1.1 100 Continue\r\n\r\n");
    bench_write(&bench, socket, "abc");
    (void)bench_read(&bench, socket, got, sizeof got, &ended);
    assert_int_equal(atoi(got + 9), 201);
    assert_false(ended);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    // A final status in its place: whether the body still comes nobody knows.
    assert_int_equal(ask(&bench, UPLOAD "X-Key: wrong\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", &ended),
                     403);
    assert_true(ended && !has("100 Continue"));
    assert_int_equal(
        ask(&bench, "GET /text HTTP/1.1\r\nHost: w\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\n", &ended), 200);
    assert_true(ended && has("Connection: close"));
    // HTTP/1.0 knows nothing of it.
    assert_int_equal(ask(&bench, "POST /upload HTTP/1.0\r\nExpect: 100-continue\r\nContent-Length: 3\r\n\r\nabc", NULL),
                     201);
    close_site(&bench);
}

// RFC 9112 §9.3: the body that nobody wanted is no request, and a long one ends the connection.
static void an_early_answer_leaves_no_body_behind(void **state)
{
    struct bench bench;
    bool ended;
    (void)state;
    open_site(&bench);
    assert_int_equal(ask(&bench,
                         UPLOAD "X-Key: wrong\r\nContent-Length: 26\r\n\r\nGET /a.js HTTP/1.1\r\nHost: "
                                "GET /text HTTP/1.1\r\nHost: w\r\n\r\n",
                         &ended),
                     403);
    assert_true(ended);
    assert_int_equal(ask(&bench,
                         "DELETE /text HTTP/1.1\r\nHost: w\r\nTransfer-Encoding: chunked\r\n\r\n"
                         "1a\r\nGET /a.js HTTP/1.1\r\nHost: \r\n0\r\n\r\nGET /lines HTTP/1.1\r\nHost: w\r\n\r\n",
                         &ended),
                     200);
    assert_true(!ended && count_of("HTTP/1.1 200") == 2 && has("Transfer-Encoding: chunked"));
    assert_int_equal(ask(&bench, UPLOAD "Content-Length: 1000001\r\n\r\n", &ended), 413);
    assert_true(ended);
    close_site(&bench);
}

static void a_chunked_body_is_bounded(void **state)
{
    static char piece[10000];
    struct bench bench;
    bool ended = false;
    (void)state;
    open_site(&bench);
    memset(piece, 'a', sizeof piece);
    weir_socket socket = bench_connect(&bench, 80);
    bench_write(&bench, socket, UPLOAD "Transfer-Encoding: chunked\r\n\r\nfffff\r\n");
    for (int i = 0; i < 105 && !ended; i++) {
        (void)weir_socket_write(bench.f.weir, socket, piece, sizeof piece);
        bench_run(&bench, 100000);
        ended = (weir_socket_ready(bench.f.weir, socket) & WEIR_READABLE) != 0;
    }
    (void)bench_read(&bench, socket, got, sizeof got, NULL);
    assert_int_equal(atoi(got + 9), 413);
    assert_true(site.uploaded <= SITE_UPLOAD_MAX);
    (void)weir_socket_abort(bench.f.weir, socket);
    close_site(&bench);
}

static void a_body_of_unknown_length_comes_in_chunks(void **state)
{
    struct bench bench;
    bool ended;
    (void)state;
    open_site(&bench);
    assert_int_equal(ask(&bench, "GET /lines HTTP/1.1\r\nHost: w\r\n\r\n", &ended), 200);
    assert_true(!ended && has("Transfer-Encoding: chunked\r\n") && !has("Content-Length"));
    char whole[2100];
    uint32_t length = 0;
    struct http_chunks chunks = {0};
    const char *at = body();
    for (uint32_t used, data;;) {
        const enum http_chunk chunk = http_chunks_read(&chunks, at, (uint32_t)strlen(at), &used, &data);
        at += used;
        if (chunk != HTTP_CHUNK_DATA) {
            assert_int_equal(chunk, HTTP_CHUNK_END);
            break;
        }
        memcpy(whole + length, at, data);
        http_chunks_taken(&chunks, data);
        length += data;
        at += data;
    }
    assert_int_equal(*at, '\0');
    assert_int_equal(length, 2000);
    for (uint32_t i = 0; i < length; i++)
        assert_int_equal(whole[i], i % 100 == 99 ? '\n' : (char)('a' + i / 100));
    // To HTTP/1.0 it goes on until the end, even where that asks for more.
    assert_int_equal(ask(&bench, "GET /lines HTTP/1.0\r\nConnection: keep-alive\r\n\r\n", &ended), 200);
    assert_true(ended && !has("chunked") && has("Connection: close"));
    assert_int_equal(strlen(body()), 2000);
    assert_int_equal(ask(&bench, "HEAD /lines HTTP/1.1\r\nHost: w\r\n\r\n", &ended), 200);
    assert_true(!ended && body()[0] == '\0');
    close_site(&bench);
}

static void an_end_has_room_behind_any_header(void **state)
{
    static char request[SITE_IN] = "GET /empty?name=";
    char *const name = request + strlen(request);
    struct bench bench;
    uint32_t refused = 0;
    (void)state;
    open_site(&bench);
    for (uint32_t length = 300; length < SITE_OUT; length++) {
        memset(name, 'x', length);
        strcpy(name + length, " HTTP/1.1\r\nHost: w\r\n\r\n");
        const int status = ask(&bench, request, NULL);
        assert_true(status == 200 ? strcmp(body(), "0\r\n\r\n") == 0 : status == 500);
        refused += status == 500;
        assert_int_equal(site.connections[1].in[0], 0);  // it lies behind what this connection puts together
    }
    assert_true(refused > 10 && refused < 200);
    close_site(&bench);
}

static void slow_bodies_are_given_up(void **state)
{
    struct bench bench;
    bool ended;
    (void)state;
    open_site(&bench);
    weir_socket socket = bench_connect(&bench, 80);
    bench_write(&bench, socket, UPLOAD "Content-Length: 1000\r\n\r\n");
    for (uint32_t second = 0; second < HTTP_BODY_US / 1000000u + 2; second++) {  // a byte renews nothing
        (void)weir_socket_write(bench.f.weir, socket, "a", 1);
        bench_run(&bench, 1000000);
    }
    (void)bench_read(&bench, socket, got, sizeof got, &ended);
    assert_int_equal(atoi(got + 9), 408);
    assert_true(ended);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    // 600 bytes a second are enough, for however long.
    socket = bench_connect(&bench, 80);
    bench_write(&bench, socket, UPLOAD "Content-Length: 36000\r\n\r\n");
    for (int second = 0; second < 60; second++) {
        char piece[600];
        memset(piece, 'b', sizeof piece);
        assert_int_equal(weir_socket_write(bench.f.weir, socket, piece, sizeof piece), sizeof piece);
        bench_run(&bench, 1000000);
    }
    (void)bench_read(&bench, socket, got, sizeof got, NULL);
    assert_int_equal(atoi(got + 9), 201);
    assert_true(has("X-Bytes: 36000\r\n"));
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    close_site(&bench);
}

// Between requests, and behind the last response where the client does not close: the place is free again.
static void quiet_connections_are_ended(void **state)
{
    struct bench bench;
    bool ended;
    (void)state;
    open_site(&bench);
    weir_socket socket = bench_connect(&bench, 80);
    bench_write(&bench, socket, "GET /text HTTP/1.1\r\nHost: w\r\n\r\n");
    (void)bench_read(&bench, socket, got, sizeof got, &ended);
    assert_int_equal(atoi(got + 9), 200);
    bench_run(&bench, HTTP_IDLE_US - 1000000);
    assert_int_equal(bench_read(&bench, socket, got, sizeof got, &ended), 0);
    assert_false(ended);
    bench_run(&bench, 1000000);
    assert_int_equal(bench_read(&bench, socket, got, sizeof got, &ended), 0);
    assert_true(ended);
    assert_null(in_state(HTTP_READING));
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    socket = bench_connect(&bench, 80);
    bench_write(&bench, socket, "GET /text HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n");
    bench_run(&bench, HTTP_LINGER_US - 1000000);
    assert_non_null(in_state(HTTP_LINGERING));
    bench_run(&bench, 1000000);
    assert_null(in_state(HTTP_LINGERING));
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    close_site(&bench);
}

static void the_time_that_a_handler_takes_is_not_the_clients(void **state)
{
    struct bench bench;
    bool ended;
    (void)state;
    open_site(&bench);
    site.refuse = 1;
    weir_socket socket = bench_connect(&bench, 80);
    bench_write(&bench, socket, UPLOAD "Content-Length: 10\r\n\r\nabcde");
    bench_run(&bench, HTTP_BODY_US + 5000000);
    assert_non_null(in_state(HTTP_BODY));
    http_resume(in_state(HTTP_BODY));
    bench_run(&bench, HTTP_BODY_US - 1000000);
    bench_write(&bench, socket, "abcde");
    (void)bench_read(&bench, socket, got, sizeof got, NULL);
    assert_true(atoi(got + 9) == 201 && site.uploaded == 10);
    bench_write(&bench, socket, UPLOAD "Content-Length: 10\r\n\r\nabcde");
    bench_run(&bench, HTTP_BODY_US + 1000000);
    (void)bench_read(&bench, socket, got, sizeof got, &ended);
    assert_true(atoi(got + 9) == 408 && ended);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    close_site(&bench);
}

static void a_response_may_come_later(void **state)
{
    struct bench bench;
    (void)state;
    open_site(&bench);
    weir_socket socket = bench_connect(&bench, 80);
    bench_write(&bench, socket, "GET /later HTTP/1.1\r\nHost: w\r\n\r\nGET /a.js HTTP/1.1\r\nHost: w\r\n\r\n");
    assert_int_equal(bench_read(&bench, socket, got, sizeof got, NULL), 0);
    assert_non_null(site.late);
    http_respond(site.late, NULL, &(struct http_response){.data = "late", .length = 4});
    bench_run(&bench, 100000);
    (void)bench_read(&bench, socket, got, sizeof got, NULL);
    assert_int_equal(count_of("HTTP/1.1 200"), 2);
    assert_true(has("late") && site.ended == 1);
    bench_write(&bench, socket, "GET /later HTTP/1.1\r\nHost: w\r\n\r\n");
    assert_int_equal(weir_socket_abort(bench.f.weir, socket), WEIR_OK);
    bench_run(&bench, 100000);
    assert_true(site.late == NULL && site.broken == 1);  // its handler is told
    close_site(&bench);
}

static void the_last_bytes_of_the_peer_hide_no_request(void **state)
{
    struct bench bench;
    bool ended;
    (void)state;
    open_site(&bench);
    weir_socket socket = bench_connect(&bench, 80);
    const char *two = "GET /lines HTTP/1.1\r\nHost: w\r\n\r\nGET /text HTTP/1.1\r\nHost: w\r\n\r\n";
    assert_int_equal(weir_socket_write(bench.f.weir, socket, two, (uint32_t)strlen(two)), strlen(two));
    assert_int_equal(weir_socket_shutdown(bench.f.weir, socket, WEIR_SHUT_WRITE), WEIR_OK);
    bench_run(&bench, 100000);
    (void)bench_read(&bench, socket, got, sizeof got, &ended);
    assert_true(ended && count_of("HTTP/1.1 200") == 2);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    close_site(&bench);
}

static void events_are_sent(void **state)
{
    struct bench bench;
    (void)state;
    open_site(&bench);
    weir_socket socket = bench_connect(&bench, 80);
    bench_write(&bench, socket, "GET /events HTTP/1.1\r\nHost: w\r\n\r\n");
    (void)bench_read(&bench, socket, got, sizeof got, NULL);
    assert_true(has("Content-Type: text/event-stream\r\n") && has("Cache-Control: no-store\r\n"));
    assert_int_equal(
        http_event_send(site.listener, &(struct http_event){.name = "t", .data = "1\n2\r\n3\r4", .id = "7"}), WEIR_OK);
    bench_run(&bench, 10000);
    (void)bench_read(&bench, socket, got, sizeof got, NULL);
    assert_true(has("event: t\nid: 7\ndata: 1\ndata: 2\ndata: 3\ndata: 4\n\n"));
    bench_run(&bench, HTTP_QUIET_US + 1000000);
    (void)bench_read(&bench, socket, got, sizeof got, NULL);
    assert_true(has("\r\n:\n\n\r\n"));
    http_push_end(site.listener);
    bench_run(&bench, 100000);
    (void)bench_read(&bench, socket, got, sizeof got, NULL);
    assert_string_equal(got, "0\r\n\r\n");
    assert_null(site.listener);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    // Who takes nothing gets no more at some time, and then is let go.
    struct slow one = {80, 1, SLOW_SILENT, "GET /events HTTP/1.1\r\nHost: w\r\n\r\n", {0}};
    slow_act(&bench, &one);
    bench_run(&bench, 100000);
    assert_non_null(site.listener);
    int sent = WEIR_OK, refused = 0;
    for (int i = 0; i < 100000 && refused < 2; i++) {
        sent = http_event_send(site.listener, &(struct http_event){.data = "0123456789012345678901234567890123456789"});
        refused = sent == WEIR_AGAIN ? refused + 1 : 0;
        if (refused > 0)
            bench_run(&bench, 1000000);
    }
    assert_int_equal(sent, WEIR_AGAIN);
    assert_non_null(site.listener);
    bench_run(&bench, HTTP_STALL_US + 1000000);
    assert_null(site.listener);
    slow_end(&bench, &one);
    close_site(&bench);
}

// Browsers open a stream for each tab: when they hold all places one of them makes room for who asks for a page.
static void streams_of_events_keep_nobody_out(void **state)
{
    struct bench bench;
    weir_socket tabs[SITE_CONNECTIONS];
    (void)state;
    open_site(&bench);
    for (uint32_t i = 0; i < SITE_CONNECTIONS; i++) {
        tabs[i] = bench_connect(&bench, 80);
        bench_write(&bench, tabs[i], "GET /events HTTP/1.1\r\nHost: w\r\n\r\n");
        (void)bench_read(&bench, tabs[i], got, sizeof got, NULL);
        assert_int_equal(atoi(got + 9), 200);
    }
    bench_run(&bench, CLIENTS_PERIOD_US + 1000000);
    weir_socket page = bench_connect(&bench, 80);
    bench_write(&bench, page, "GET /text HTTP/1.1\r\nHost: w\r\n\r\n");
    bench_run(&bench, 1000000);
    (void)bench_read(&bench, page, got, sizeof got, NULL);
    assert_int_equal(atoi(got + 9), 200);
    assert_int_equal(site.broken, 1);  // one of them alone
    assert_int_equal(weir_socket_close(bench.f.weir, page), WEIR_OK);
    for (uint32_t i = 0; i < SITE_CONNECTIONS; i++)
        assert_int_equal(weir_socket_close(bench.f.weir, tabs[i]), WEIR_OK);
    close_site(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(routes_are_chosen_by_path_and_method),
        cmocka_unit_test(pages_of_others_change_nothing),
        cmocka_unit_test(names_that_are_not_ours_are_refused),
        cmocka_unit_test(errors_are_whole_in_the_least_memory),
        cmocka_unit_test(date_is_said_by_who_knows_it),
        cmocka_unit_test(conditions_and_ranges_are_heeded),
        cmocka_unit_test(files_come_as_they_are_accepted),
        cmocka_unit_test(bodies_are_streamed_in),
        cmocka_unit_test(a_handler_that_goes_on_at_once_may_wait_the_next_time),
        cmocka_unit_test(what_could_smuggle_a_request_is_refused),
        cmocka_unit_test(continue_is_said_when_the_body_is_wanted),
        cmocka_unit_test(an_early_answer_leaves_no_body_behind),
        cmocka_unit_test(a_chunked_body_is_bounded),
        cmocka_unit_test(a_body_of_unknown_length_comes_in_chunks),
        cmocka_unit_test(an_end_has_room_behind_any_header),
        cmocka_unit_test(slow_bodies_are_given_up),
        cmocka_unit_test(quiet_connections_are_ended),
        cmocka_unit_test(the_time_that_a_handler_takes_is_not_the_clients),
        cmocka_unit_test(a_response_may_come_later),
        cmocka_unit_test(the_last_bytes_of_the_peer_hide_no_request),
        cmocka_unit_test(events_are_sent),
        cmocka_unit_test(streams_of_events_keep_nobody_out),
        cmocka_unit_test(some_answers_have_no_body),
        cmocka_unit_test(slow_headers_are_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
