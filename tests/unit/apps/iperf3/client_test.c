// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small_apps small6_apps
// iperf3's client and server against each other on one instance, in virtual time.
#include "apps/slow.h"

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
    const struct iperf3_parameters forward = {.udp = true, .rate = 8000000, .block = 1000, .time_s = 2},
                                   reverse = {.udp = true,
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
    const struct iperf3_parameters forward = {.bytes = 3000000, .parallel = 2},
                                   reverse = {.bytes = 3000000, .reverse = true},
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
    const struct iperf3_parameters
        tcp = {.bidirectional = true, .rate = 8000000, .block = 10000, .time_s = 2, .parallel = 2},
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
    // the first ends it
    assert_true(sum("sum_sent", "bytes") == 1000000 || sum("sum_sent_bidir_reverse", "bytes") == 1000000);
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

// Seconds that are omitted are marked; what a profile or the instance refuses stays at its default.
static void a_test_is_tuned_as_it_asks(void **state)
{
    static struct iperf3_parameters tuned = {.rate = 8000000,
                                             .block = 10000,
                                             .time_s = 1,
                                             .omit_s = 1,
                                             .parallel = 2,
                                             .mss = 1000,
                                             .window = 70000,
                                             .no_delay = true,
                                             .congestion = "reno"};
    (void)state;
    run(&tuned, false, 4000000);
    assert_non_null(strstr(report, "(omitted)\n"));
    assert_non_null(strstr(report, "[SUM]"));
    assert_int_equal(server.test.parameters.mss, 1000);
    assert_int_equal(server.test.parameters.omit_s, 1);
    run(&tuned, true, 4000000);
    assert_in_range(sum("sum_received", "bytes"), 1900000, 2100000);  // of two streams in one second
    tuned.omit_s = 0;
    memcpy(tuned.congestion, "unheard-of", 11);
    run(&tuned, true, 4000000);
    assert_in_range(sum("sum_received", "bytes"), 1900000, 2100000);
}

static void datagrams_have_their_columns(void **state)
{
    static const struct iperf3_parameters
        forward = {.udp = true, .rate = 800000, .block = 1000, .time_s = 2, .window = 100000},
        reverse = {.udp = true, .rate = 800000, .block = 1000, .time_s = 2, .reverse = true},
        blocks = {.udp = true, .rate = 800000, .block = 1000, .blocks = 50},
        bytes = {.udp = true, .rate = 800000, .block = 1000, .bytes = 50000};
    (void)state;
    run(&forward, false, 4000000);
    assert_non_null(strstr(report, "Total Datagrams\n"));
    assert_non_null(strstr(report, "0.000 ms  0/201 (0.0%)  sender\n"));
    assert_non_null(strstr(report, "0.000 ms  0/201 (0.0%)  receiver\n"));
    run(&reverse, false, 4000000);
    assert_non_null(strstr(report, "Reverse mode, the server is sending\n"));
    assert_non_null(strstr(report, "Jitter    Lost/Total Datagrams\n"));
    run(&blocks, true, 4000000);
    assert_int_equal(sum("sum", "packets"), 50);
    run(&bytes, true, 4000000);
    assert_int_equal(sum("sum", "packets"), 50);
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

static char cookie[IPERF3_COOKIE] = "0123456789012345678901234567890123ab";

// Says who it is and what it wants, as iperf3 does. Returns its control connection.
static weir_socket knock(struct bench *bench, const char *parameters)
{
    const uint32_t length = (uint32_t)strlen(parameters);
    const uint8_t head[4] = {0, 0, (uint8_t)(length >> 8), (uint8_t)length};
    uint8_t byte;
    const weir_socket socket = bench_connect(bench, IPERF3_PORT);
    assert_int_equal(weir_socket_write(bench->f.weir, socket, cookie, sizeof cookie), sizeof cookie);
    bench_run(bench, 10000);
    assert_int_equal(weir_socket_read(bench->f.weir, socket, &byte, 1), 1);
    assert_int_equal(byte, IPERF3_PARAM_EXCHANGE);
    assert_int_equal(weir_socket_write(bench->f.weir, socket, head, sizeof head), sizeof head);
    bench_write(bench, socket, parameters);
    return socket;
}

static int next_state(struct bench *bench, weir_socket socket)
{
    uint8_t byte;
    return weir_socket_read(bench->f.weir, socket, &byte, 1) == 1 ? byte : -1;
}

// Guests without a cookie, with half of one, with a length that lies; one more than can be served, or wait for it.
static void strangers_do_no_harm(void **state)
{
    struct bench bench;
    weir_socket sockets[6];
    (void)state;
    bench_open(&bench);
    assert_int_equal(iperf3_server_start(&server, &bench.loop, IPERF3_PORT, NULL, NULL), WEIR_OK);
    sockets[0] = bench_connect(&bench, IPERF3_PORT);
    sockets[1] = bench_connect(&bench, IPERF3_PORT);
    assert_int_equal(weir_socket_write(bench.f.weir, sockets[1], cookie, sizeof cookie), sizeof cookie);
    assert_int_equal(weir_socket_write(bench.f.weir, sockets[1], "\xff\xff\xff\xff", 4), 4);
    bench_run(&bench, 100000);
    assert_int_equal(next_state(&bench, sockets[1]), IPERF3_PARAM_EXCHANGE);
    assert_true(weir_socket_ready(bench.f.weir, sockets[1]) & (WEIR_READ_CLOSED | WEIR_ERROR));
    sockets[2] = knock(&bench, "{\"time\":10}");
    assert_int_equal(next_state(&bench, sockets[2]), IPERF3_CREATE_STREAMS);
    for (uint32_t i = 3; i < 6; i++)
        cookie[0]++, sockets[i] = knock(&bench, "{\"time\":10}");
    assert_int_equal(next_state(&bench, sockets[4]), -1);
    assert_int_equal(next_state(&bench, sockets[5]), IPERF3_ACCESS_DENIED);
    assert_int_equal(weir_socket_close(bench.f.weir, sockets[2]), WEIR_OK);
    bench_run(&bench, 100000);
    assert_int_equal(next_state(&bench, sockets[3]), IPERF3_CREATE_STREAMS);
    bench_run(&bench, IPERF3_GUEST_US);
    assert_true(weir_socket_ready(bench.f.weir, sockets[0]) & WEIR_READ_CLOSED);
    for (uint32_t i = 0; i < 6; i++)
        (void)weir_socket_abort(bench.f.weir, sockets[i]);
    bench_run(&bench, 100000);
    assert_int_equal(server.phase, IPERF3_IDLE);
    iperf3_server_stop(&server);
    bench_run(&bench, 100000);
    bench_close(&bench);
}

// Whether a test of 100 KB comes to its end within three seconds.
static bool honest_is_served(struct bench *bench)
{
    memset(&client, 0, sizeof client);
    client.test.parameters = (struct iperf3_parameters){.bytes = 100000};
    client.print = print;
    client.done = done;
    report_length = 0;
    ended = false;
    assert_int_equal(iperf3_client_start(&client, &bench->loop, bench_here(IPERF3_PORT)), WEIR_OK);
    for (int tenth = 0; tenth < 30 && !ended; tenth++)
        bench_run(bench, 100000);
    const bool served = ended && error_seen == NULL;
    if (!ended)
        iperf3_client_stop(&client);
    return served;
}

// Those that say nothing, and those that say who they are and nothing more.
static void a_crowd_of_the_slow_keeps_nobody_out(void **state)
{
    static struct slow crowds[] = {
        {IPERF3_PORT, SLOW_CLIENTS, SLOW_SILENT, NULL, {0}},
        {IPERF3_PORT, SLOW_CLIENTS, SLOW_SENDS, NULL, {0}},
        {IPERF3_PORT, SLOW_CLIENTS, SLOW_SILENT, "0123456789012345678901234567890123abc", {0}}};
    (void)state;
    for (uint32_t i = 0; i < sizeof crowds / sizeof crowds[0]; i++) {
        struct bench bench;
        uint32_t served = 0;
        bench_open(&bench);
        assert_int_equal(iperf3_server_start(&server, &bench.loop, IPERF3_PORT, NULL, NULL), WEIR_OK);
        for (int second = 0; second < 21; second++) {
            slow_act(&bench, &crowds[i]);
            if (second % 3 == 2)
                served += honest_is_served(&bench);
            bench_run(&bench, 1000000);
        }
        assert_int_equal(served, 7);
        slow_end(&bench, &crowds[i]);
        iperf3_server_stop(&server);
        bench_run(&bench, 100000);
        bench_close(&bench);
    }
}

// One that asked for a test of a day and opens no stream, and one that opens it and sends nothing, give way to who
// knocks.
static void a_test_that_does_not_go_on_gives_way(void **state)
{
    struct bench bench;
    uint32_t streams = 0;
    (void)state;
    for (uint32_t opened = 0; opened < 2; opened++) {
        bench_open(&bench);
        assert_int_equal(iperf3_server_start(&server, &bench.loop, IPERF3_PORT, NULL, NULL), WEIR_OK);
        const weir_socket squatter = knock(&bench, "{\"time\":86400}");
        assert_int_equal(next_state(&bench, squatter), IPERF3_CREATE_STREAMS);
        if (opened) {
            const weir_socket stream = bench_connect(&bench, IPERF3_PORT);
            assert_int_equal(weir_socket_write(bench.f.weir, stream, cookie, sizeof cookie), sizeof cookie);
            bench_run(&bench, 10000);
            assert_int_equal(server.phase, IPERF3_RUNNING);
            bench_run(&bench, 30000000);
            assert_int_equal(server.phase, IPERF3_RUNNING);  // nobody wants its place
        }
        streams += server.test.stream_count;
        assert_true(honest_is_served(&bench));
        assert_int_equal(server.count.made_room, 1);
        iperf3_server_stop(&server);
        bench_run(&bench, 100000);
        bench_close(&bench);
    }
    assert_int_equal(streams, 1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(datagrams_are_paced_and_counted),
        cmocka_unit_test(bytes_end_a_test_exactly),
        cmocka_unit_test(both_directions_at_once),
        cmocka_unit_test(the_text_has_its_columns),
        cmocka_unit_test(a_test_is_tuned_as_it_asks),
        cmocka_unit_test(datagrams_have_their_columns),
        cmocka_unit_test(parameters_go_both_ways),
        cmocka_unit_test(a_server_that_is_not_there_is_said),
        cmocka_unit_test(strangers_do_no_harm),
        cmocka_unit_test(a_crowd_of_the_slow_keeps_nobody_out),
        cmocka_unit_test(a_test_that_does_not_go_on_gives_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
