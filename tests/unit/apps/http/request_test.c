// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps small6_apps
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "http/request.h"
#include "text.h"

#define LIMIT 4096

static int parse(const char *text, struct http_request *request)
{
    return http_request_parse(text, (uint32_t)strlen(text), LIMIT, request);
}

static void a_request_is_understood(void **state)
{
    const char *text =
        "GET /bytes/10?x=1 HTTP/1.1\r\nHost: weir\r\nRange: bytes=2-5\r\nIf-Range: \"10\"\r\nX: y\r\n\r\nGET";
    struct http_request request;
    (void)state;
    assert_int_equal(parse(text, &request), strlen(text) - 3);
    assert_int_equal(request.method, HTTP_GET);
    assert_true(text_equal(request.path, request.path_length, "/bytes/10"));
    assert_true(request.keep_alive && request.ranged && !request.from_end);
    assert_int_equal(request.first, 2);
    assert_int_equal(request.last, 5);
    assert_true(text_equal(request.if_range, request.if_range_length, "\"10\""));
}

static void every_part_is_waited_for(void **state)
{
    const char *text = "HEAD / HTTP/1.1\r\nHost: weir\r\nConnection: close\r\n\r\n";
    struct http_request request;
    (void)state;
    for (uint32_t length = 0; length < strlen(text); length++) {
        char *copy = malloc(length + 1);
        assert_non_null(copy);
        memcpy(copy + 1, text, length);
        assert_int_equal(http_request_parse(copy + 1, length, LIMIT, &request), 0);
        free(copy);
    }
    assert_int_equal(parse(text, &request), strlen(text));
    assert_int_equal(request.method, HTTP_HEAD);
    assert_false(request.keep_alive);
}

static void old_and_unusual_forms_are_taken(void **state)
{
    struct http_request request;
    (void)state;
    assert_int_equal(parse("GET / HTTP/1.0\n\n", &request), 16);
    assert_false(request.keep_alive);
    assert_true(parse("GET / HTTP/1.0\r\nConnection: foo, Keep-Alive\r\n\r\n", &request) > 0);
    assert_true(request.keep_alive);
    assert_true(parse("\r\n\r\nGET http://weir:80/a?b HTTP/1.1\r\nhost:weir\r\n\r\n", &request) > 0);
    assert_true(text_equal(request.path, request.path_length, "/a"));
    assert_true(parse("GET http://weir HTTP/1.1\r\nhost:weir\r\n\r\n", &request) > 0);
    assert_true(text_equal(request.path, request.path_length, "/"));
    assert_true(parse("GET http://weir?a/b HTTP/1.1\r\nhost:weir\r\n\r\n", &request) > 0);
    assert_true(text_equal(request.path, request.path_length, "/"));
    assert_true(parse("OPTIONS * HTTP/1.1\r\nHost: x\r\n\r\n", &request) > 0);
    assert_int_equal(request.method, HTTP_OPTIONS);
    // INFRA:HALT
    assert_true(parse("POST /x HTTP/1.1\r\nHost: x\r\nContent-Length: 4294967295\r\n\r\n", &request) > 0);
    assert_true(request.body_length == 4294967295u);
}

// RFC 9112 §3.2.2: an absolute target's host goes before the field, whose own has to be good all the same.
static void the_host_is_the_target_s_or_the_field_s(void **state)
{
    static const struct {
        const char *text, *host;
    } good[] = {
        {"GET / HTTP/1.1\r\nHost: a.example:8080\r\n\r\n", "a.example:8080"},
        {"GET / HTTP/1.1\r\nHost: a.example:\r\n\r\n", "a.example:"},
        {"GET / HTTP/1.1\r\nHost: [fe80::1]:80\r\n\r\n", "[fe80::1]:80"},
        {"GET / HTTP/1.1\r\nHost: a%41\r\n\r\n", "a%41"},
        {"GET / HTTP/1.1\r\nHost:\r\n\r\n", ""},
        {"GET http://b:1/x HTTP/1.1\r\nHost: a\r\n\r\n", "b:1"},
        {"GET https://b/x HTTP/1.1\r\nHost: a\r\n\r\n", "b"},
        {"GET HTTPS://b?x HTTP/1.1\r\nHost: a\r\n\r\n", "b"},
        {"GET http://b/ HTTP/1.0\r\n\r\n", "b"},
        {"GET / HTTP/1.0\r\n\r\n", ""},
    };
    struct http_request request;
    (void)state;
    for (size_t i = 0; i < sizeof good / sizeof good[0]; i++) {
        if (parse(good[i].text, &request) <= 0 || !text_equal(request.host.bytes, request.host.length, good[i].host))
            fail_msg("not taken, or for another host: %s", good[i].text);
    }
}

static void what_can_be_read_two_ways_is_refused(void **state)
{
    static const char *const bad[] = {
        "GET\r\n\r\n",
        "GET /\r\n\r\n",
        " GET / HTTP/1.1\r\n\r\n",
        "GET  / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1 \r\nHost: x\r\n\r\n",
        "GET / http/1.1\r\nHost: x\r\n\r\n",
        "GET x HTTP/1.1\r\nHost: x\r\n\r\n",
        "G(T / HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET  HTTP/1.1\r\nHost: x\r\n\r\n",
        "GET / HTTP/1.1\r\n\r\n",                         // no Host
        "GET / HTTP/1.1\r\nHost: x\r\nHost: x\r\n\r\n",   // two
        "GET / HTTP/1.1\r\nHost : x\r\n\r\n",             // a blank before the colon
        "GET / HTTP/1.1\r\nHost: x\r\n folded\r\n\r\n",   // a folded line
        "GET / HTTP/1.1\r\nHost: x\rX: y\r\n\r\n",        // a bare CR
        "GET / HTTP/1.1\r\nHost: \x01\r\n\r\n",           // a control byte
        "GET / HTTP/1.1\r\nHost: x:y\r\n\r\n",            // no port
        "GET / HTTP/1.1\r\nHost: ::1\r\n\r\n",            // an IPv6 address without brackets
        "GET / HTTP/1.1\r\nHost: [::1\r\n\r\n",           // one with half of them
        "GET / HTTP/1.1\r\nHost: []\r\n\r\n",             // one with nothing in them
        "GET / HTTP/1.1\r\nHost: a%2\r\n\r\n",            // half an escape
        "GET / HTTP/1.1\r\nHost: a,b\r\n\r\n",            // two in one
        "GET http:///x HTTP/1.1\r\nHost: x\r\n\r\n",      // no host in the target
        "GET http://:80/x HTTP/1.1\r\nHost: x\r\n\r\n",   // only a port
        "GET http://u@x/ HTTP/1.1\r\nHost: x\r\n\r\n",    // a user
        "GET ftp://x/ HTTP/1.1\r\nHost: x\r\n\r\n",       // another scheme
        "GET / HTTP/1.1\r\nHost: x\r\n: y\r\n\r\n",       // no name
        "GET / HTTP/1.1\r\nHost: x\r\nnonsense\r\n\r\n",  // no colon
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 1, 1\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length:\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 99999999999999999999\r\n\r\n",
        "GET / HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n\r\n",  // smuggling
    };
    struct http_request request;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (parse(bad[i], &request) != -400)
            fail_msg("taken: %s", bad[i]);
    }
    assert_int_equal(parse("GET / HTTP/2.0\r\n\r\n", &request), -505);
}

static void a_nul_is_no_text(void **state)
{
    static const char nul[] = "GET / HTTP/1.1\r\nHost: a\0b\r\n\r\n";
    struct http_request request;
    (void)state;
    assert_int_equal(http_request_parse(nul, sizeof nul - 1, LIMIT, &request), -400);
}

static void long_headers_are_refused(void **state)
{
    char text[200];
    struct http_request request;
    (void)state;
    memset(text, 'a', sizeof text);
    memcpy(text, "GET /", 5);
    assert_int_equal(http_request_parse(text, 100, 100, &request), -414);
    assert_int_equal(http_request_parse(text, 99, 100, &request), 0);
    memcpy(text, "GET / HTTP/1.1\r\nA: ", 19);
    assert_int_equal(http_request_parse(text, 200, 100, &request), -431);
    memset(text, '\n', sizeof text);
    assert_int_equal(http_request_parse(text, 200, 100, &request), -414);
}

static int range(const char *header, uint64_t size, uint64_t *first, uint64_t *count)
{
    char text[200];
    struct http_request request;
    strcpy(text, "GET / HTTP/1.1\r\nHost: x\r\nRange: ");
    strcat(text, header);
    strcat(text, "\r\n\r\n");
    assert_true(parse(text, &request) > 0);
    return http_range_apply(&request, size, first, count);
}

static void ranges_are_applied(void **state)
{
    static const struct {
        const char *header;
        uint64_t size;
        int status;
        uint64_t first, count;
    } cases[] = {
        {"bytes=0-0", 10, 206, 0, 1},
        {"bytes=5-", 10, 206, 5, 5},
        {"bytes=-3", 10, 206, 7, 3},
        {"bytes=-30", 10, 206, 0, 10},
        {"bytes=2-99999999999999", 10, 206, 2, 8},
        {"BYTES=1-1", 10, 206, 1, 1},
        {"bytes=10-", 10, 416, 0, 10},
        {"bytes=-0", 10, 416, 10, 0},
        {"bytes=0-", 0, 416, 0, 0},
        {"bytes=-1", 0, 416, 0, 0},
        {"bytes=5-2", 10, 200, 0, 10},
        {"bytes=", 10, 200, 0, 10},
        {"bytes=-", 10, 200, 0, 10},
        {"bytes=a-b", 10, 200, 0, 10},
        {"bytes=0-1,3-4", 10, 200, 0, 10},
        {"items=0-1", 10, 200, 0, 10},
        {"bytes=99999999999999999999-", 10, 200, 0, 10},
    };
    (void)state;
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint64_t first, count;
        int status = range(cases[i].header, cases[i].size, &first, &count);
        if (status != cases[i].status || (status != 416 && (first != cases[i].first || count != cases[i].count)))
            fail_msg("%s of %d: %d", cases[i].header, (int)cases[i].size, status);
    }
}

// A second Range field must not be mixed with the first: ends of one and beginnings of the other would make a body of
// 2^64 bytes.
static void two_ranges_are_not_mixed(void **state)
{
    struct http_request request;
    uint64_t first, count;
    (void)state;
    assert_true(parse("GET /x HTTP/1.1\r\nHost: x\r\nRange: bytes=6-9\r\nRange: bytes=609\r\n\r\n", &request) > 0);
    assert_int_equal(http_range_apply(&request, 1000, &first, &count), 200);
    assert_true(parse("GET /x HTTP/1.1\r\nHost: x\r\nRange: bytes=-5\r\nRange: bytes=6-9\r\n\r\n", &request) > 0);
    assert_int_equal(http_range_apply(&request, 1000, &first, &count), 206);
    assert_int_equal(first, 6);
    assert_int_equal(count, 4);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_request_is_understood),
        cmocka_unit_test(every_part_is_waited_for),
        cmocka_unit_test(old_and_unusual_forms_are_taken),
        cmocka_unit_test(the_host_is_the_target_s_or_the_field_s),
        cmocka_unit_test(what_can_be_read_two_ways_is_refused),
        cmocka_unit_test(a_nul_is_no_text),
        cmocka_unit_test(long_headers_are_refused),
        cmocka_unit_test(ranges_are_applied),
        cmocka_unit_test(two_ranges_are_not_mixed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
