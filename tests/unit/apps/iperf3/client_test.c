// SPDX-License-Identifier: BSD-2-Clause
// iperf3's client and server against each other on one instance, in virtual time.
#include "apps/bench.h"

#include "iperf3/client.h"
#include "iperf3/server.h"

static struct iperf3_server server;
static struct iperf3_client client;
static char report[200000];
static uint32_t report_length;
static bool ended;
static const char *error_seen;

static void print(void *context, const char *text)
{
    uint32_t length = (uint32_t)strlen(text);
    (void)context;
    assert_true(report_length + length < sizeof report);
    memcpy(report + report_length, text, length + 1);
    report_length += length;
}

static void done(void *context, const char *error)
{
    (void)context;
    ended = true;
    error_seen = error;
}

static void run(const struct iperf3_parameters *parameters, bool json, uint64_t us)
{
    struct bench bench;
    bench_open(&bench);
    memset(&client, 0, sizeof client);
    client.test.parameters = *parameters;
    client.json = json;
    client.print = print;
    client.done = done;
    report_length = 0;
    report[0] = '\0';
    ended = false;
    assert_int_equal(iperf3_server_start(&server, &bench.loop, IPERF3_PORT, NULL, NULL), WEIR_OK);
    assert_int_equal(iperf3_client_start(&client, &bench.loop, bench_here(IPERF3_PORT)), WEIR_OK);
    bench_run(&bench, us);
    assert_true(ended);
    if (error_seen != NULL)
        fail_msg("%s", error_seen);
    assert_int_equal(server.phase, IPERF3_IDLE);
    assert_int_equal(server.count.tests, 1);
    iperf3_server_stop(&server);
    bench_run(&bench, 100000);
    bench_close(&bench);
}

static struct json end_of_report(void)
{
    struct json object, end;
    assert_true(json_read(report, report_length, &object));
    assert_true(json_member(object, "end", &end));
    return end;
}

static int64_t sum(const char *which, const char *key)
{
    struct json object;
    assert_true(json_member(end_of_report(), which, &object));
    return json_get(object, key, 0, -1);
}

static void datagrams_are_paced_and_counted(void **state)
{
    const struct iperf3_parameters forward = {.udp = true, .rate = 8000000, .block = 1000, .time_s = 2}, reverse = {.udp = true,
                                                                                                                    .rate = 8000000,
                                                                                                                    .block = 1000,
                                                                                                                    .time_s = 2,
                                                                                                                    .reverse = true,
                                                                                                                    .counters64 = true,
                                                                                                                    .parallel = 2};
    (void)state;
    run(&forward, true, 4000000);
    assert_in_range(sum("sum", "packets"), 1990, 2010);
    assert_int_equal(sum("sum", "lost_packets"), 0);
    run(&reverse, true, 4000000);
    assert_in_range(sum("sum", "packets"), 3980, 4020);
    assert_int_equal(sum("sum", "lost_packets"), 0);
}

static void bytes_end_a_test_exactly(void **state)
{
    const struct iperf3_parameters forward = {.bytes = 3000000, .parallel = 2}, reverse = {.bytes = 3000000, .reverse = true},
                                   blocks = {.blocks = 10, .block = 5000};
    (void)state;
    run(&forward, true, 20000000);
    assert_int_equal(sum("sum_sent", "bytes"), 3000000);
    assert_int_equal(sum("sum_received", "bytes"), 3000000);
    run(&reverse, true, 20000000);
    assert_int_equal(sum("sum_received", "bytes"), 3000000);
    run(&blocks, true, 20000000);
    assert_int_equal(sum("sum_sent", "bytes"), 50000);
}

static void both_directions_at_once(void **state)
{
    const struct iperf3_parameters tcp = {.bidirectional = true, .rate = 8000000, .block = 10000, .time_s = 2, .parallel = 2},
                                   udp = {.bidirectional = true, .udp = true, .rate = 8000000, .block = 1000, .time_s = 2},
                                   bytes = {.bidirectional = true, .bytes = 1000000};
    struct json streams, stream, end;
    uint32_t cursor = 0, senders = 0, count = 0;
    (void)state;
    run(&tcp, true, 4000000);
    assert_in_range(sum("sum_received", "bytes"), 3900000, 4100000);
    assert_in_range(sum("sum_received_bidir_reverse", "bytes"), 3900000, 4100000);
    assert_true(json_member(end_of_report(), "streams", &streams));
    while (json_element(streams, &cursor, &stream)) {
        assert_true(json_member(stream, "receiver", &end));
        assert_in_range(json_get(end, "bytes", 0, 0), 1900000, 2100000);
        count++;
    }
    assert_int_equal(count, 4);
    for (uint32_t i = 0; i < 4; i++)
        senders += server.test.streams[i].sender;
    assert_int_equal(senders, 2);
    run(&udp, true, 4000000);
    assert_in_range(sum("sum", "packets"), 1990, 2010);
    assert_in_range(sum("sum_bidir_reverse", "packets"), 1990, 2010);
    run(&bytes, true, 20000000);
    assert_in_range(sum("sum_sent", "bytes"), 1, 1000000);
    assert_in_range(sum("sum_sent_bidir_reverse", "bytes"), 1, 1000000);
    assert_true(sum("sum_sent", "bytes") == 1000000 || sum("sum_sent_bidir_reverse", "bytes") == 1000000);  // the first ends it
    run(&tcp, false, 4000000);
    assert_non_null(strstr(report, "[ ID][Role] Interval"));
    assert_non_null(strstr(report, "[  5][TX-C]"));
    assert_non_null(strstr(report, "[ 11][RX-C]"));
    assert_non_null(strstr(report, "[SUM][TX-C]"));
    assert_non_null(strstr(report, "[SUM][RX-C]"));
}

static void the_text_has_its_columns(void **state)
{
    const struct iperf3_parameters parameters = {.rate = 10000000, .time_s = 2, .block = 10000};
    (void)state;
    run(&parameters, false, 4000000);
    assert_non_null(strstr(report, "Bitrate         Retr  Cwnd\n"));
    assert_non_null(strstr(report, "0.00-1.00   sec"));
    assert_non_null(strstr(report, "1.00-2.00   sec"));
    assert_non_null(strstr(report, "sender\n"));
    assert_non_null(strstr(report, "receiver\n"));
    assert_non_null(strstr(report, "10.0 Mbits/sec"));
    assert_non_null(strstr(report, "iperf Done."));
}

static void parameters_go_both_ways(void **state)
{
    static struct iperf3_parameters in = {.udp = true,
                                          .reverse = true,
                                          .no_delay = true,
                                          .counters64 = true,
                                          .parallel = 7,
                                          .block = 999,
                                          .time_s = 33,
                                          .omit_s = 2,
                                          .mss = 1000,
                                          .window = 70000,
                                          .bytes = 1ull << 40,
                                          .blocks = 5,
                                          .rate = 123456789,
                                          .congestion = "reno"};
    struct iperf3_parameters out;
    char bytes[600];
    struct text text;
    (void)state;
    text_init(&text, bytes, sizeof bytes);
    iperf3_parameters_emit(&in, &text);
    assert_false(text.cut);
    assert_true(iperf3_parameters_parse(bytes, text.length, &out));
    assert_memory_equal(&out, &in, sizeof in);
    static const char *const bad[] = {"",
                                      "[]",
                                      "{\"parallel\":1000}",
                                      "{\"parallel\":-1}",
                                      "{\"len\":99999999}",
                                      "{\"udp\":true,\"len\":4}",
                                      "{\"time\":1e12}",
                                      "{\"bidirectional\":true,\"reverse\":true}",
                                      "{\"bidirectional\":true,\"parallel\":17}",
                                      "{\"congestion\":\"aaaaaaaaaaaaaaaaaaaaaaaaaa\"}",
                                      "{\"num\":-5}"};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        if (iperf3_parameters_parse(bad[i], (uint32_t)strlen(bad[i]), &out))
            fail_msg("%s", bad[i]);
    }
}

static void a_server_that_is_not_there_is_said(void **state)
{
    struct bench bench;
    (void)state;
    bench_open(&bench);
    memset(&client, 0, sizeof client);
    client.print = print;
    client.done = done;
    ended = false;
    assert_int_equal(iperf3_client_start(&client, &bench.loop, bench_here(IPERF3_PORT)), WEIR_OK);
    bench_run(&bench, 1000000);
    assert_true(ended);
    assert_non_null(strstr(error_seen, "refuses"));
    bench_close(&bench);
}

// Guests without a cookie, with half of one, with a length that lies.
static void strangers_do_no_harm(void **state)
{
    struct bench bench;
    char cookie[IPERF3_COOKIE] = "0123456789012345678901234567890123ab", byte;
    (void)state;
    bench_open(&bench);
    assert_int_equal(iperf3_server_start(&server, &bench.loop, IPERF3_PORT, NULL, NULL), WEIR_OK);
    weir_socket silent = bench_connect(&bench, IPERF3_PORT), first = bench_connect(&bench, IPERF3_PORT),
                second = bench_connect(&bench, IPERF3_PORT);
    assert_int_equal(weir_socket_write(bench.f.weir, first, cookie, sizeof cookie), sizeof cookie);
    bench_run(&bench, 100000);
    assert_int_equal(weir_socket_read(bench.f.weir, first, &byte, 1), 1);
    assert_int_equal(byte, IPERF3_PARAM_EXCHANGE);
    assert_int_equal(weir_socket_write(bench.f.weir, second, cookie, sizeof cookie), sizeof cookie);  // streams are not yet wanted: busy
    bench_run(&bench, 100000);
    assert_int_equal(weir_socket_read(bench.f.weir, second, &byte, 1), 1);
    assert_int_equal((uint8_t)byte, IPERF3_ACCESS_DENIED);
    assert_int_equal(weir_socket_write(bench.f.weir, first, "\xff\xff\xff\xff{}", 6), 6);
    bench_run(&bench, 100000);
    assert_int_equal(server.phase, IPERF3_IDLE);
    bench_run(&bench, IPERF3_GUEST_US);
    assert_int_equal(weir_socket_read(bench.f.weir, silent, &byte, 1), 0);
    assert_int_equal(weir_socket_close(bench.f.weir, silent), WEIR_OK);
    assert_int_equal(weir_socket_close(bench.f.weir, first), WEIR_OK);
    assert_int_equal(weir_socket_close(bench.f.weir, second), WEIR_OK);
    iperf3_server_stop(&server);
    bench_run(&bench, 100000);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(datagrams_are_paced_and_counted),
        cmocka_unit_test(bytes_end_a_test_exactly),
        cmocka_unit_test(both_directions_at_once),
        cmocka_unit_test(the_text_has_its_columns),
        cmocka_unit_test(parameters_go_both_ways),
        cmocka_unit_test(a_server_that_is_not_there_is_said),
        cmocka_unit_test(strangers_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
