// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small_apps small6_apps
// The HTTP server as its clients see it, over loopback in virtual time.
#include "apps/slow.h"
#include "apps/blocks.h"

#include <stdio.h>
#include <stdlib.h>

#include "status/capture.h"
#include "status/server.h"
#include "iperf3/json.h"

static struct status_server http;
static char got[200000];

static void open_server(struct bench *bench)
{
    bench_open(bench);
    struct weir_netif *netifs[1] = {&bench->f.netif};
    assert_int_equal(status_server_start(&http, &bench->loop, 80, netifs, 1), WEIR_OK);
}

static void close_server(struct bench *bench)
{
    status_server_stop(&http);
    bench_close(bench);
}

// One request on a connection of its own; the answer is in `got`. Returns its status.
static int ask(struct bench *bench, const char *request, bool *ended)
{
    weir_socket socket = bench_connect(bench, 80);
    bench_write(bench, socket, request);
    uint32_t length = bench_read(bench, socket, got, sizeof got, ended);
    assert_int_equal(weir_socket_close(bench->f.weir, socket), WEIR_OK);
    bench_run(bench, 100000);
    assert_true(length > 12 && memcmp(got, "HTTP/1.1 ", 9) == 0);
    return atoi(got + 9);
}

static const char *body(void)
{
    const char *end = strstr(got, "\r\n\r\n");
    assert_non_null(end);
    return end + 4;
}

static void the_page_and_its_data_are_served(void **state)
{
    struct bench bench;
    struct json object, value;
    bool ended;
    (void)state;
    open_server(&bench);
    assert_int_equal(ask(&bench, "GET / HTTP/1.1\r\nHost: w\r\n\r\n", &ended), 200);
    assert_false(ended);
    assert_int_equal(strlen(body()), status_page_length);
    bench_run(&bench, 3000000);
    assert_int_equal(ask(&bench, "GET /status.json HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n", &ended), 200);
    assert_true(ended);
    assert_true(json_read(body(), (uint32_t)strlen(body()), &object));
    assert_true(json_member(object, "sockets", &value) && json_member(object, "counters", &value));
    assert_true(json_get(object, "uptime_ms", 0, 0) >= 3000);
    assert_true(json_get(object, "sockets_total", 0, 0) >= 2);
    assert_non_null(strstr(body(), "\"name\":\"test0\""));
    assert_non_null(strstr(body(), "\"state\":\"ESTABLISHED\""));
    close_server(&bench);
}

static void metrics_are_as_they_are_asked_for(void **state)
{
    struct bench bench;
    bool ended;
    (void)state;
    open_server(&bench);
    assert_int_equal(ask(&bench, "GET /metrics HTTP/1.1\r\nHost: w\r\nAccept: */*\r\n\r\n", &ended), 200);
    assert_non_null(strstr(got, "Content-Type: text/plain; version=0.0.4"));
    assert_non_null(strstr(body(), "# TYPE weir_ip_bad_header_total counter\n# HELP weir_ip_bad_header_total IPv4"));
    assert_non_null(strstr(body(), "\nweir_ip_bad_header_total 0\n"));
    assert_non_null(strstr(body(), "\nweir_netif_receive_bytes_total{netif=\"test0\"} "));
    assert_null(strstr(body(), "# EOF"));
    static const char open[] = "GET /metrics HTTP/1.1\r\nHost: w\r\nConnection: close\r\n"
                               "Accept: application/openmetrics-text; version=1.0.0; q=0.8, text/plain\r\n\r\n";
    assert_int_equal(ask(&bench, open, &ended), 200);
    assert_non_null(strstr(got, "Content-Type: application/openmetrics-text; version=1.0.0"));
    assert_non_null(strstr(body(), "# TYPE weir_ip_bad_header counter\n"));
    assert_string_equal(body() + strlen(body()) - 8, "1\n# EOF\n");
    close_server(&bench);
}

static uint64_t sample(const char *name)
{
    const char *const at = strstr(body(), name);
    assert_non_null(at);
    return strtoull(at + strlen(name), NULL, 10);
}

static void scrape(struct bench *bench, const char *path)
{
    char request[120];
    snprintf(request, sizeof request, "GET %s HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n", path);
    assert_int_equal(ask(bench, request, NULL), 200);
}

// Counters of 32 bits go on where they wrap, also several times between two scrapes; one that begins anew does so.
static void counters_do_not_wrap(void **state)
{
    static const char counter[] = "\nweir_ip_bad_header_total ",
                      frames[] = "\nweir_netif_receive_frames_total{netif=\"test0\"} ";
    struct bench bench;
    (void)state;
    open_server(&bench);
    uint32_t *const count = &bench.f.weir->counters[WEIR_COUNT_IP_BAD_HEADER], *const rx =
                                                                                   &bench.f.netif.stats.rx_frames;
    const uint64_t before = *rx;
    for (uint32_t i = 0; i < 20; i++) {  // 5 x 2^32
        *count += UINT32_C(1) << 30;
        *rx += UINT32_C(1) << 30;
        bench_run(&bench, STATUS_SAMPLE_US);
    }
    *count += 7;
    *rx += 1000;
    scrape(&bench, "/metrics");
    assert_true(sample(counter) == (UINT64_C(5) << 32) + 7 && sample(frames) == (UINT64_C(5) << 32) + before + 1000);
    scrape(&bench, "/status.json");
    assert_true(sample("\"rx_frames\":") == (UINT64_C(5) << 32) + before + 1000);
    assert_non_null(strstr(body(), "\"value\":21474836487}"));
    *count += UINT32_MAX - 6;  // at once, from 7 on: 0
    *rx = 3;
    scrape(&bench, "/metrics");
    assert_true(sample(frames) == 3 && sample(counter) == 0);
    *count = UINT32_MAX;  // before it was looked at for the second time
    scrape(&bench, "/metrics");
    *count += 2;
    scrape(&bench, "/metrics");
    assert_int_equal(sample(counter), 1 + (UINT64_C(1) << 32));
    close_server(&bench);
}

// However many sockets there are, so many rows are made, and no more are looked at.
static void the_status_costs_the_same_with_many_sockets(void **state)
{
    enum { MANY = 2000 };
    struct bench bench;
    struct json object, value;
    bool ended;
    (void)state;
    open_server(&bench);
    for (uint32_t i = 0; i < MANY; i++) {
        const weir_socket socket = weir_socket_open(bench.f.weir, WEIR_STREAM, 0);
        assert_int_equal(
            weir_socket_bind(bench.f.weir, socket, &(struct weir_endpoint){weir_addr_any(), (uint16_t)(1000 + i)}),
            WEIR_OK);
    }
    assert_int_equal(ask(&bench, "GET /status.json HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n", &ended), 200);
    assert_true(json_read(body(), (uint32_t)strlen(body()), &object));
    assert_true(json_get(object, "sockets_total", 0, 0) > MANY);
    assert_true(json_member(object, "sockets", &value));
    uint32_t rows = 0;
    for (const char *row = body(); (row = strstr(row, "{\"type\":")) != NULL; row++)
        rows++;
    assert_int_equal(rows, STATUS_SOCKETS);
    assert_non_null(strstr(body(), "\"sockets_more\":true"));
    close_server(&bench);
}

static uint32_t count_of(const char *words)
{
    uint32_t count = 0;
    for (const char *at = body(); (at = strstr(at, words)) != NULL; at++)
        count++;
    return count;
}

// One request after another, each from where the one before ended.
static void all_sockets_can_be_reached(void **state)
{
    enum { MANY = 150 };
    struct bench bench;
    bool seen[MANY] = {false}, ended;
    char from[40] = "0";
    uint32_t requests = 0;
    (void)state;
    open_server(&bench);
    for (uint32_t i = 0; i < MANY; i++) {
        const weir_socket socket = weir_socket_open(bench.f.weir, WEIR_STREAM, 0);
        assert_int_equal(
            weir_socket_bind(bench.f.weir, socket, &(struct weir_endpoint){weir_addr_any(), (uint16_t)(1000 + i)}),
            WEIR_OK);
        assert_int_equal(weir_socket_listen(bench.f.weir, socket, 1), WEIR_OK);
    }
    for (const char *next = from; next != NULL && requests < MANY; requests++) {
        char request[120];
        snprintf(request, sizeof request, "GET /status.json?from=%s HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n",
                 from);
        assert_int_equal(ask(&bench, request, &ended), 200);
        for (uint32_t i = 0; i < MANY; i++) {
            char words[40];
            snprintf(words, sizeof words, ":%u\",\"peer\":\"\"", 1000 + i);
            seen[i] |= strstr(body(), words) != NULL;
        }
        next = strstr(body(), "\"sockets_next\":\"");
        if (next != NULL)
            snprintf(from, sizeof from, "%.*s", (int)strcspn(next + 16, "\""), next + 16);
    }
    assert_true(requests >= 3 && requests < 10);
    for (uint32_t i = 0; i < MANY; i++)
        assert_true(seen[i]);
    // A cursor that nobody gave shows something, or nothing.
    static const char *const odd[] = {"1", "18446744073709551615", "99999999999999999999", "x", "144115188075855871"};
    for (size_t i = 0; i < sizeof odd / sizeof *odd; i++) {
        char request[120];
        snprintf(request, sizeof request, "GET /status.json?from=%s HTTP/1.1\r\nHost: w\r\n\r\n", odd[i]);
        assert_int_equal(ask(&bench, request, &ended), 200);
        assert_true(count_of("{\"type\":") <= STATUS_SOCKETS);
    }
    close_server(&bench);
}

static void bytes_and_ranges_are_exact(void **state)
{
    struct bench bench;
    (void)state;
    open_server(&bench);
    assert_int_equal(ask(&bench, "GET /bytes/1000 HTTP/1.1\r\nHost: w\r\n\r\n", NULL), 200);
    assert_non_null(strstr(got, "Content-Length: 1000\r\n"));
    for (int i = 0; i < 1000; i++)
        assert_int_equal((uint8_t)body()[i], i % 251);
    assert_int_equal(ask(&bench, "GET /bytes/1000 HTTP/1.1\r\nHost: w\r\nRange: bytes=500-509\r\n\r\n", NULL), 206);
    assert_non_null(strstr(got, "Content-Range: bytes 500-509/1000\r\n"));
    for (int i = 0; i < 10; i++)
        assert_int_equal((uint8_t)body()[i], (500 + i) % 251);
    assert_int_equal(ask(&bench, "GET /bytes/10 HTTP/1.1\r\nHost: w\r\nRange: bytes=10-\r\n\r\n", NULL), 416);
    assert_non_null(strstr(got, "Content-Range: bytes */10\r\n"));
    assert_int_equal(
        ask(&bench, "GET /bytes/10 HTTP/1.1\r\nHost: w\r\nRange: bytes=1-2\r\nIf-Range: \"10\"\r\n\r\n", NULL), 206);
    assert_int_equal(
        ask(&bench, "GET /bytes/10 HTTP/1.1\r\nHost: w\r\nRange: bytes=1-2\r\nIf-Range: \"11\"\r\n\r\n", NULL), 200);
    assert_int_equal(ask(&bench, "HEAD /bytes/1099511627776 HTTP/1.1\r\nHost: w\r\n\r\n", NULL), 200);
    assert_non_null(strstr(got, "Content-Length: 1099511627776\r\n"));
    assert_string_equal(body(), "");
    assert_int_equal(ask(&bench, "GET /bytes/1099511627777 HTTP/1.1\r\nHost: w\r\n\r\n", NULL), 404);
    assert_int_equal(ask(&bench, "GET /bytes/ HTTP/1.1\r\nHost: w\r\n\r\n", NULL), 404);
    assert_int_equal(ask(&bench, "GET /bytes/1x HTTP/1.1\r\nHost: w\r\n\r\n", NULL), 404);
    assert_int_equal(ask(&bench, "GET /bytes/0 HTTP/1.1\r\nHost: w\r\n\r\n", NULL), 200);
    close_server(&bench);
}

static void requests_may_come_all_at_once(void **state)
{
    struct bench bench;
    bool ended;
    (void)state;
    open_server(&bench);
    assert_int_equal(
        ask(&bench,
            "GET /bytes/3 HTTP/1.1\r\nHost: w\r\n\r\nGET /x HTTP/1.1\r\nHost: w\r\n\r\n"
            "POST / HTTP/1.1\r\nHost: w\r\nContent-Length: 5\r\n\r\nGET /HEAD /bytes/9 HTTP/1.1\r\nHost: w\r\n\r\n"
            "GET /bytes/4 HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\nGET / HTTP/1.1\r\nHost: w\r\n\r\n",
            &ended),
        200);
    assert_true(ended);
    static const char *const expected[] = {"HTTP/1.1 200 ",        "HTTP/1.1 404 ",        "HTTP/1.1 405 ",
                                           "Allow: GET, HEAD\r\n", "HTTP/1.1 200 ",        "Content-Length: 9\r\n",
                                           "HTTP/1.1 200 ",        "Content-Length: 4\r\n"};
    const char *at = got;
    for (size_t i = 0; i < sizeof expected / sizeof expected[0]; i++) {
        // The bodies of /bytes hold a NUL: search over the whole of what came.
        while (at < got + sizeof got - 32 && memcmp(at, expected[i], strlen(expected[i])) != 0)
            at++;
        assert_true(at < got + sizeof got - 32);
        at++;
    }
    assert_int_equal(http.http.count.requests, 5);
    close_server(&bench);
}

static void a_request_may_come_in_pieces(void **state)
{
    struct bench bench;
    const char *request = "GET /bytes/7 HTTP/1.1\r\nHost: w\r\n\r\n";
    (void)state;
    open_server(&bench);
    weir_socket socket = bench_connect(&bench, 80);
    for (const char *at = request; *at != '\0'; at++) {
        assert_int_equal(weir_socket_write(bench.f.weir, socket, at, 1), 1);
        bench_run(&bench, 5000);
    }
    bench_run(&bench, 100000);
    (void)bench_read(&bench, socket, got, sizeof got, NULL);
    assert_int_equal(atoi(got + 9), 200);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    close_server(&bench);
}

static void errors_are_clear_and_end_the_connection(void **state)
{
    static const struct {
        const char *request;
        int status;
    } cases[] = {{"nonsense\r\n\r\n", 400},
                 {"GET / HTTP/3.0\r\n\r\n", 505},
                 {"GET / HTTP/1.1\r\nHost: w\r\nTransfer-Encoding: gzip\r\n\r\n", 501},
                 {"POST / HTTP/1.1\r\nHost: w\r\nContent-Length: 4294967295\r\n\r\nxxxx", 413},
                 {"GET / HTTP/1.0\r\n\r\n", 200}};
    struct bench bench;
    bool ended;
    (void)state;
    open_server(&bench);
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        assert_int_equal(ask(&bench, cases[i].request, &ended), cases[i].status);
        assert_true(ended);
    }
    static char huge[STATUS_HEADER_MAX + 10];
    memset(huge, 'a', sizeof huge - 1);
    memcpy(huge, "GET /", 5);
    assert_int_equal(ask(&bench, huge, &ended), 414);
    memcpy(huge, "GET / HTTP/1.1\r\nA: ", 19);
    assert_int_equal(ask(&bench, huge, &ended), 431);
    assert_true(ended);
    close_server(&bench);
}

static void slow_and_silent_clients_are_let_go(void **state)
{
    struct bench bench;
    bool ended;
    (void)state;
    open_server(&bench);
    weir_socket silent = bench_connect(&bench, 80), slow = bench_connect(&bench, 80);
    bench_write(&bench, slow, "GET / HT");
    bench_run(&bench, HTTP_HEADER_US + 100000);
    (void)bench_read(&bench, slow, got, sizeof got, &ended);
    assert_int_equal(atoi(got + 9), 408);
    assert_true(ended);
    assert_int_equal(bench_read(&bench, silent, got, sizeof got, &ended), 0);
    assert_true(ended);
    assert_int_equal(weir_socket_close(bench.f.weir, slow), WEIR_OK);
    assert_int_equal(weir_socket_close(bench.f.weir, silent), WEIR_OK);
    // One that takes nothing of a long answer.
    weir_socket stalled = bench_connect(&bench, 80);
    bench_write(&bench, stalled, "GET /bytes/1000000000 HTTP/1.1\r\nHost: w\r\n\r\n");
    bench_run(&bench, HTTP_STALL_US + 1000000);
    for (uint32_t i = 0; i < STATUS_CONNECTIONS; i++)
        assert_int_equal(http.connections[i].state, HTTP_FREE);
    (void)weir_socket_abort(bench.f.weir, stalled);
    close_server(&bench);
}

static void newcomers_replace_the_idle(void **state)
{
    struct bench bench;
    weir_socket sockets[STATUS_CONNECTIONS + 1];
    bool ended;
    (void)state;
    open_server(&bench);
    for (uint32_t i = 0; i <= STATUS_CONNECTIONS; i++)
        sockets[i] = bench_connect(&bench, 80);
    bench_run(&bench, CLIENTS_REST_US);
    bench_write(&bench, sockets[STATUS_CONNECTIONS], "GET /bytes/1 HTTP/1.1\r\nHost: w\r\n\r\n");
    (void)bench_read(&bench, sockets[STATUS_CONNECTIONS], got, sizeof got, NULL);
    assert_int_equal(atoi(got + 9), 200);
    assert_int_equal(bench_read(&bench, sockets[0], got, sizeof got, &ended), 0);
    assert_true(ended);  // it had been idle longest
    assert_int_equal(bench_read(&bench, sockets[1], got, sizeof got, &ended), 0);
    assert_false(ended);
    for (uint32_t i = 0; i <= STATUS_CONNECTIONS; i++)
        assert_int_equal(weir_socket_close(bench.f.weir, sockets[i]), WEIR_OK);
    close_server(&bench);
}

// --- a crowd of the slow ---------------------------------------------------------------------------------------------

static void a_crowd_of_the_slow_keeps_nobody_out(void **state)
{
    static struct slow crowds[] = {
        {80, SLOW_CLIENTS, SLOW_SILENT, NULL, {0}},
        {80, SLOW_CLIENTS, SLOW_SENDS, "GET / HTTP/1.1\r\nHost: w\r\nX: ", {0}},
        {80, SLOW_CLIENTS, SLOW_READS, "GET /bytes/100000000 HTTP/1.1\r\nHost: w\r\n\r\n", {0}},
    };
    (void)state;
    for (uint32_t i = 0; i < sizeof crowds / sizeof crowds[0]; i++) {
        struct bench bench;
        open_server(&bench);
        assert_int_equal(slow_served(&bench, &crowds[i],
                                     "GET /bytes/10 HTTP/1.1\r\nHost: w\r\nConnection: close\r\n\r\n", "HTTP/1.1 200"),
                         7);
        assert_true(http.http.count.made_room > 100);
        slow_end(&bench, &crowds[i]);
        close_server(&bench);
    }
}

static void the_pattern_can_begin_anywhere(void **state)
{
    static uint8_t bytes[3000];
    (void)state;
    for (uint64_t at = 0; at < 600; at += 37) {
        status_pattern(bytes, sizeof bytes, at);
        for (uint32_t i = 0; i < sizeof bytes; i++)
            assert_int_equal(bytes[i], (at + i) % 251);
    }
}

// --- a capture -------------------------------------------------------------------------------------------------------

static struct status_capture offer;
static struct capture capture;

// The chunks of a response put together, in place. Returns their bytes.
static uint32_t unchunk(char *at)
{
    char *out = at, *const first = at;
    uint32_t size;
    while ((size = (uint32_t)strtoul(at, &at, 16)) != 0) {
        memmove(out, at + 2, size);
        out += size;
        at += 2 + size + 2;
    }
    return (uint32_t)(out - first);
}

static void a_capture_is_there_only_where_it_is_offered(void **state)
{
    static const char get[] = "GET /capture.pcapng?seconds=2 HTTP/1.1\r\nHost: w\r\n\r\n";
    struct bench bench;
    bool ended;
    (void)state;
    open_server(&bench);
    assert_int_equal(ask(&bench, get, &ended), 404);
    (void)ask(&bench, "GET /status.json HTTP/1.1\r\nHost: w\r\n\r\n", &ended);
    assert_non_null(strstr(body(), "\"capture_s\":0,"));
    status_server_offer_capture(&http, &offer, &capture);
    (void)ask(&bench, "GET /status.json HTTP/1.1\r\nHost: w\r\n\r\n", &ended);
    assert_non_null(strstr(body(), "\"capture_s\":10,"));
    static const char *const wrong[] = {"seconds=0", "seconds=21", "seconds=x", "seconds=", "seconds=99999999999"};
    for (uint32_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
        char request[120];
        (void)snprintf(request, sizeof request, "GET /capture.pcapng?%s HTTP/1.1\r\nHost: w\r\n\r\n", wrong[i]);
        assert_int_equal(ask(&bench, request, &ended), 400);
    }
    assert_int_equal(ask(&bench, "HEAD /capture.pcapng HTTP/1.1\r\nHost: w\r\n\r\n", &ended), 200);
    assert_null(offer.owner);
    close_server(&bench);
}

// It has what passed in those seconds but its own connection's frames; one at a time; then another may.
static void a_capture_has_what_passed(void **state)
{
    static const char get[] = "GET /capture.pcapng?seconds=2 HTTP/1.1\r\nHost: w\r\n\r\n";
    struct bench bench;
    bool ended;
    (void)state;
    open_server(&bench);
    status_server_offer_capture(&http, &offer, &capture);
    for (uint32_t round = 0; round < 2; round++) {
        const weir_socket socket = bench_connect(&bench, 80);
        bench_write(&bench, socket, get);
        bench_run(&bench, 1000000);
        assert_non_null(offer.owner);
        assert_int_equal(offer.frames, 0);  // nobody else has said anything
        assert_int_equal(ask(&bench, get, &ended), 503);
        bench_run(&bench, 1500000);
        const uint32_t length = bench_read(&bench, socket, got, sizeof got, &ended);
        assert_false(ended);  // the connection stays
        assert_non_null(strstr(got, "Content-Type: application/x-pcapng\r\n"));
        assert_memory_equal(got + length - 5, "0\r\n\r\n", 5);
        char *const at = (char *)(uintptr_t)body();
        const struct blocks_found found = blocks_walk(at, unchunk(at));
        assert_true(found.packets >= 6 && found.statistics == 1 && found.dropped == capture.lost);
        assert_null(offer.owner);
        assert_int_equal(capture.head, capture.tail);
        assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
        bench_run(&bench, 100000);
    }
    close_server(&bench);
}

// Whoever leaves without a word, or a server that stops, takes the capture along.
static void a_capture_ends_with_its_reader(void **state)
{
    static const char get[] = "GET /capture.pcapng HTTP/1.1\r\nHost: w\r\n\r\n";
    struct bench bench;
    (void)state;
    open_server(&bench);
    status_server_offer_capture(&http, &offer, &capture);
    for (uint32_t stop = 0; stop < 2; stop++) {
        const weir_socket socket = bench_connect(&bench, 80);
        bench_write(&bench, socket, get);
        bench_run(&bench, 500000);
        assert_non_null(offer.owner);
        if (stop) {
            close_server(&bench);
        } else {
            assert_int_equal(weir_socket_abort(bench.f.weir, socket), WEIR_OK);
            bench_run(&bench, (STATUS_CAPTURE_S + 1) * 1000000u);  // its next bytes find nobody
        }
        assert_null(offer.owner);
        assert_null(capture_oldest(&capture));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_page_and_its_data_are_served),
        cmocka_unit_test(metrics_are_as_they_are_asked_for),
        cmocka_unit_test(counters_do_not_wrap),
        cmocka_unit_test(the_status_costs_the_same_with_many_sockets),
        cmocka_unit_test(all_sockets_can_be_reached),
        cmocka_unit_test(bytes_and_ranges_are_exact),
        cmocka_unit_test(requests_may_come_all_at_once),
        cmocka_unit_test(a_request_may_come_in_pieces),
        cmocka_unit_test(errors_are_clear_and_end_the_connection),
        cmocka_unit_test(slow_and_silent_clients_are_let_go),
        cmocka_unit_test(newcomers_replace_the_idle),
        cmocka_unit_test(a_crowd_of_the_slow_keeps_nobody_out),
        cmocka_unit_test(the_pattern_can_begin_anywhere),
        cmocka_unit_test(a_capture_is_there_only_where_it_is_offered),
        cmocka_unit_test(a_capture_has_what_passed),
        cmocka_unit_test(a_capture_ends_with_its_reader),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
