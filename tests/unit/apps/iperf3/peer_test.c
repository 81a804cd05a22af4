// SPDX-License-Identifier: BSD-2-Clause
// iperf3's client against a server, and its server against a client, whose every word the test says.
#include "apps/bench.h"

#include "iperf3/client.h"
#include "iperf3/server.h"

#define STEP_US 1000u

struct peer {
    struct bench b;
    struct weir *weir;
    weir_socket listening, udp, control, stream[2];
    uint32_t ends;
    const char *error;
    char report[20000], log[200];
    uint32_t report_length;
};

static struct peer peer;
static struct iperf3_client client;
static struct iperf3_server server;
static const char cookie[IPERF3_COOKIE] = "0123456789012345678901234567890123ab";

static void print(void *context, const char *text)
{
    const uint32_t length = (uint32_t)strlen(text);
    (void)context;
    assert_true(peer.report_length + length < sizeof peer.report);
    memcpy(peer.report + peer.report_length, text, length + 1);
    peer.report_length += length;
}

static void done(void *context, const char *error)
{
    (void)context;
    peer.ends++;
    peer.error = error;
}

static void take_log(void *context, const char *line)
{
    (void)context;
    assert_true(strlen(line) < sizeof peer.log);
    strcpy(peer.log, line);
}

static void peer_open(void)
{
    memset(&peer, 0, sizeof peer);
    bench_open(&peer.b);
    peer.weir = peer.b.f.weir;
}

static void say(weir_socket socket, const void *bytes, uint32_t length)
{
    assert_int_equal(weir_socket_write(peer.weir, socket, bytes, length), length);
    bench_run(&peer.b, STEP_US);
}

static void say_state(int state)
{
    const uint8_t byte = (uint8_t)state;
    say(peer.control, &byte, 1);
}

static void say_json(const char *text)
{
    uint8_t head[4];
    put32(head, (uint32_t)strlen(text));
    say(peer.control, head, sizeof head);
    say(peer.control, text, (uint32_t)strlen(text));
}

static int hear(void)
{
    uint8_t byte;
    return weir_socket_read(peer.weir, peer.control, &byte, 1) == 1 ? byte : -1;
}

static void hear_json(void)
{
    uint8_t head[4], text[2000];
    assert_int_equal(weir_socket_read(peer.weir, peer.control, head, sizeof head), sizeof head);
    assert_true(get32(head) <= sizeof text);
    assert_int_equal(weir_socket_read(peer.weir, peer.control, text, get32(head)), get32(head));
}

static void drop(weir_socket *socket)
{
    if (*socket > 0)
        (void)weir_socket_abort(peer.weir, *socket);
    *socket = 0;
}

static void peer_close(void)
{
    drop(&peer.control), drop(&peer.stream[0]), drop(&peer.stream[1]), drop(&peer.listening), drop(&peer.udp);
    bench_run(&peer.b, 100000);
    bench_close(&peer.b);
}

// --- the test is the server ------------------------------------------------------------------------------------------

static weir_socket accept_one(void)
{
    char bytes[IPERF3_COOKIE];
    bench_run(&peer.b, STEP_US);
    const weir_socket socket = weir_socket_accept(peer.weir, peer.listening);
    assert_true(socket > 0);
    assert_int_equal(weir_socket_read(peer.weir, socket, bytes, sizeof bytes), sizeof bytes);
    assert_memory_equal(bytes, client.test.cookie, sizeof bytes);
    return socket;
}

static void client_open(const struct iperf3_parameters *parameters, bool json)
{
    const struct weir_endpoint local = bench_here(IPERF3_PORT);
    peer_open();
    peer.listening = weir_socket_open(peer.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(peer.weir, peer.listening, &local), WEIR_OK);
    assert_int_equal(weir_socket_listen(peer.weir, peer.listening, 4), WEIR_OK);
    peer.udp = weir_socket_open(peer.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_bind(peer.weir, peer.udp, &local), WEIR_OK);
    memset(&client, 0, sizeof client);
    client.test.parameters = *parameters;
    client.json = json;
    client.print = print;
    client.done = done;
    assert_int_equal(iperf3_client_start(&client, &peer.b.loop, local), WEIR_OK);
    peer.control = accept_one();
}

static void client_ended(const char *error)
{
    assert_int_equal(peer.ends, 1);
    assert_non_null(peer.error);
    if (strstr(peer.error, error) == NULL)
        fail_msg("\"%s\" in place of \"%s\"", peer.error, error);
    assert_int_equal(client.test.stream_count, 0);
    assert_int_equal(client.test.control, 0);
    iperf3_client_stop(&client);  // which has nothing more to do
    assert_int_equal(peer.ends, 1);
    peer_close();
}

static const struct iperf3_parameters ten_seconds = {.time_s = 10, .block = 1000, .rate = 80000};
static const struct iperf3_parameters reverse = {.time_s = 10, .block = 1000, .reverse = true};
static const struct iperf3_parameters datagrams = {.udp = true, .time_s = 10, .block = 1000, .rate = 80000};

// Up to the streams, which are open.
static void client_open_streams(const struct iperf3_parameters *parameters, bool json)
{
    client_open(parameters, json);
    say_state(IPERF3_PARAM_EXCHANGE);
    hear_json();
    say_state(IPERF3_CREATE_STREAMS);
    peer.stream[0] = accept_one();
    assert_int_equal(client.phase, IPERF3_TALKING);
}

static void client_measure(const struct iperf3_parameters *parameters, bool json)
{
    client_open_streams(parameters, json);
    say_state(IPERF3_TEST_START);
    say_state(IPERF3_TEST_RUNNING);
    assert_int_equal(client.phase, IPERF3_MEASURING);
}

static void what_the_server_refuses_is_told(void **state)
{
    static const struct {
        int state;
        const char *error;
    } words[] = {{IPERF3_ACCESS_DENIED, "busy"},
                 {IPERF3_SERVER_TERMINATE, "stopped"},
                 {IPERF3_SERVER_ERROR, "change the parameters"},
                 {IPERF3_DISPLAY_RESULTS, "too early"},
                 {99, "unexpected"}};
    (void)state;
    for (uint32_t i = 0; i < sizeof words / sizeof words[0]; i++) {
        client_open(&ten_seconds, true);
        say_state(words[i].state);
        struct json object;
        assert_true(json_read(peer.report, peer.report_length, &object));
        client_ended(words[i].error);
    }
}

static void a_server_that_goes_is_told(void **state)
{
    (void)state;
    client_open(&ten_seconds, false);
    assert_int_equal(weir_socket_close(peer.weir, peer.control), WEIR_OK);
    bench_run(&peer.b, STEP_US);
    client_ended("closed the control connection");
    client_measure(&ten_seconds, true);
    drop(&peer.control);
    bench_run(&peer.b, STEP_US);
    struct json object;  // is closed, though the measurement was not at its end
    assert_true(json_read(peer.report, peer.report_length, &object));
    assert_true(json_member(object, "error", &object));
    client_ended("reset");
}

static void a_server_that_stays_silent_is_given_up(void **state)
{
    (void)state;
    client_open(&ten_seconds, false);
    bench_run(&peer.b, IPERF3_ANSWER_US - 100000);
    assert_int_equal(peer.ends, 0);
    bench_run(&peer.b, 200000);
    client_ended("next step");
    client_measure(&ten_seconds, false);
    bench_run(&peer.b, 10 * 1000000u);
    assert_int_equal(client.phase, IPERF3_ENDING);
    bench_run(&peer.b, IPERF3_ANSWER_US);
    client_ended("next step");
}

// Words out of their turn start nothing.
static void words_out_of_turn_are_passed_over(void **state)
{
    (void)state;
    client_open(&ten_seconds, false);
    say_state(IPERF3_TEST_RUNNING);
    say_state(IPERF3_EXCHANGE_RESULTS);
    say_state(IPERF3_TEST_START);
    assert_int_equal(client.phase, IPERF3_TALKING);
    assert_int_equal(hear(), -1);
    say_state(IPERF3_CREATE_STREAMS);
    peer.stream[0] = accept_one();
    say_state(IPERF3_CREATE_STREAMS);
    assert_int_equal(client.test.stream_count, 1);
    assert_int_equal(weir_socket_accept(peer.weir, peer.listening), WEIR_AGAIN);
    say_state(IPERF3_TEST_RUNNING);
    say_state(IPERF3_TEST_RUNNING);  // does not begin anew
    bench_run(&peer.b, 1500000);
    assert_int_equal(client.test.bytes / 1000, 16);
    say_state(IPERF3_TEST_RUNNING);
    assert_int_equal(client.test.bytes / 1000, 16);
    iperf3_client_stop(&client);
    client_ended("interrupted");
}

static void results_that_lie_are_refused(void **state)
{
    static const char *const bad[] = {"", "{", "[]", "{\"streams\"", "{\"stream\":[]}"};
    static const uint8_t long_head[4] = {0xff, 0xff, 0xff, 0xff};
    (void)state;
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        client_measure(&reverse, false);
        say_state(IPERF3_EXCHANGE_RESULTS);
        hear_json();
        if (bad[i][0] != '\0')
            say_json(bad[i]);
        else
            say(peer.control, "\0\0\0\0", 4);
        client_ended("understood");
    }
    client_measure(&reverse, false);
    say_state(IPERF3_EXCHANGE_RESULTS);
    say(peer.control, long_head, sizeof long_head);
    client_ended("too long");
}

// A stream that nobody is, an unknown stream, and one whose end comes before its beginning.
static void results_are_those_of_our_streams(void **state)
{
    (void)state;
    client_measure(&reverse, false);
    say(peer.stream[0], "abc", 3);
    bench_run(&peer.b, 10 * 1000000u);
    assert_int_equal(hear(), IPERF3_TEST_END);
    say_state(IPERF3_EXCHANGE_RESULTS);
    hear_json();
    say_json("{\"streams\":[{\"id\":7,\"bytes\":9},{\"id\":1,\"bytes\":5,\"start_time\":2,\"end_time\":1}]}");
    assert_int_equal(client.test.streams[0].remote.bytes, 5);
    assert_int_equal(client.test.streams[0].remote.time_us, 0);
    assert_int_equal(client.test.streams[0].count.bytes, 3);
    say_state(IPERF3_DISPLAY_RESULTS);
    assert_int_equal(hear(), IPERF3_DONE);
    assert_int_equal(peer.ends, 1);
    assert_null(peer.error);
    assert_non_null(strstr(peer.report, "iperf Done."));
    peer_close();
}

static void a_stream_that_breaks_ends_the_test(void **state)
{
    (void)state;
    client_measure(&ten_seconds, false);
    drop(&peer.stream[0]);
    bench_run(&peer.b, 1000000);
    client_ended("a stream broke");
    client_measure(&reverse, false);
    drop(&peer.stream[0]);
    bench_run(&peer.b, 1000000);
    client_ended("a stream broke");
    client_open(&ten_seconds, false);
    drop(&peer.listening);
    say_state(IPERF3_CREATE_STREAMS);
    bench_run(&peer.b, 1000000);
    client_ended("refuses");
}

static void say_datagram(const struct weir_endpoint *to, const void *bytes, uint32_t length)
{
    const struct weir_message message = {.peer = *to};
    const struct weir_slice slice = {bytes, length};
    assert_int_equal(weir_socket_send_message(peer.weir, peer.udp, &message, &slice, 1), length);
    bench_run(&peer.b, STEP_US);
}

// The next datagram that came; its length, 0: none.
static uint32_t hear_datagram(struct weir_endpoint *from, uint8_t *bytes, uint32_t room)
{
    struct weir_message message;
    struct weir_slice slice;
    if (weir_socket_peek_message(peer.weir, peer.udp, &message, &slice) < 0)
        return 0;
    assert_true(slice.length <= room);
    memcpy(bytes, slice.data, slice.length);
    *from = message.peer;
    const uint32_t length = slice.length;
    assert_int_equal(weir_socket_discard(peer.weir, peer.udp), WEIR_OK);
    return length;
}

static void greetings_are_repeated_and_given_up(void **state)
{
    struct weir_endpoint from;
    uint8_t bytes[16];
    uint32_t heard = 0;
    (void)state;
    client_open(&datagrams, false);
    say_state(IPERF3_CREATE_STREAMS);
    assert_int_equal(hear_datagram(&from, bytes, sizeof bytes), 4);
    assert_memory_equal(bytes, iperf3_hello, 4);
    say_datagram(&from, "1234", 4);  // no greeting
    say_datagram(&from, "98765", 5);
    assert_int_equal(client.phase, IPERF3_CLIENT_STREAMS);
    bench_run(&peer.b, (uint64_t)IPERF3_HELLOS * IPERF3_HELLO_US + 200000);
    while (hear_datagram(&from, bytes, sizeof bytes) > 0)
        heard++;
    assert_int_equal(heard, IPERF3_HELLOS - 1);
    client_ended("does not answer on UDP");
    client_open(&datagrams, false);
    say_state(IPERF3_CREATE_STREAMS);
    assert_int_equal(hear_datagram(&from, bytes, sizeof bytes), 4);
    say_datagram(&from, iperf3_hello_reply, 4);
    assert_int_equal(client.phase, IPERF3_TALKING);
    iperf3_client_stop(&client);
    bench_run(&peer.b, STEP_US);
    assert_int_equal(hear(), IPERF3_CLIENT_TERMINATE);
    client_ended("interrupted");
}

// What a UDP test still sends where nobody listens is answered by ICMP errors, which end nothing.
static void an_icmp_error_ends_no_udp_test(void **state)
{
    struct weir_endpoint from;
    uint8_t bytes[1000];
    (void)state;
    client_open(&datagrams, false);
    say_state(IPERF3_CREATE_STREAMS);
    assert_int_equal(hear_datagram(&from, bytes, sizeof bytes), 4);
    say_datagram(&from, iperf3_hello_reply, 4);
    say_state(IPERF3_TEST_RUNNING);
    assert_int_equal(hear_datagram(&from, bytes, sizeof bytes), 1000);
    drop(&peer.udp);
    bench_run(&peer.b, 2000000);
    assert_int_equal(client.phase, IPERF3_MEASURING);
    assert_in_range(client.test.datagrams_sent, 10, 22);
    iperf3_client_stop(&client);
    client_ended("interrupted");
}

static void what_cannot_be_tested_is_refused(void **state)
{
    static const struct iperf3_parameters bad[] = {{.parallel = IPERF3_STREAMS + 1},
                                                   {.reverse = true, .bidirectional = true},
                                                   {.block = IPERF3_BLOCK_MAX + 1},
                                                   {.udp = true, .block = 15},
                                                   {.udp = true, .block = IPERF3_DATAGRAM_MAX + 1},
                                                   {.time_s = 86401},
                                                   {.omit_s = 601}};
    (void)state;
    peer_open();
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        memset(&client, 0, sizeof client);
        client.test.parameters = bad[i];
        assert_int_equal(iperf3_client_start(&client, &peer.b.loop, bench_here(IPERF3_PORT)), WEIR_INVALID);
    }
    memset(&client, 0, sizeof client);
    assert_int_equal(iperf3_client_start(&client, &peer.b.loop, (struct weir_endpoint){weir_ip4(1, 2, 3, 4), 5}),
                     WEIR_NO_ROUTE);
    assert_int_equal(client.test.control, 0);
    peer_close();
}

// Whichever allocation fails, the client says so, or comes through, and gives all back.
static void a_client_without_memory_ends(void **state)
{
    uint32_t ended = 0, at = 1;
    (void)state;
    for (bool failed = true; failed; at++) {
        assert_true(at < 200);
        peer_open();
        memset(&client, 0, sizeof client);
        client.test.parameters = (struct iperf3_parameters){.bytes = 3000, .parallel = 2};
        client.print = print;
        client.done = done;
        assert_int_equal(iperf3_server_start(&server, &peer.b.loop, IPERF3_PORT, NULL, NULL), WEIR_OK);
        peer.b.f.fail_at = at;
        const int error = iperf3_client_start(&client, &peer.b.loop, bench_here(IPERF3_PORT));
        if (error == WEIR_OK) {
            bench_run(&peer.b, 30 * 1000000u);
            assert_int_equal(peer.ends, 1);
            ended += peer.error != NULL;
        } else {
            assert_int_equal(error, WEIR_NO_MEMORY);
        }
        failed = peer.b.f.fail_at == 0;
        peer.b.f.fail_at = 0;
        iperf3_server_stop(&server);
        peer_close();
    }
    assert_true(ended > 0);
    assert_null(peer.error);  // the last, of which no allocation failed
}

// --- the test is the client ------------------------------------------------------------------------------------------

static void server_open(void)
{
    peer_open();
    assert_int_equal(iperf3_server_start(&server, &peer.b.loop, IPERF3_PORT, take_log, NULL), WEIR_OK);
}

static void ask(const char *parameters)
{
    peer.control = bench_connect(&peer.b, IPERF3_PORT);
    say(peer.control, cookie, sizeof cookie);
    assert_int_equal(hear(), IPERF3_PARAM_EXCHANGE);
    say_json(parameters);
}

static void open_stream(uint32_t i)
{
    peer.stream[i] = bench_connect(&peer.b, IPERF3_PORT);
    say(peer.stream[i], cookie, sizeof cookie);
}

static void server_run(const char *parameters)
{
    server_open();
    ask(parameters);
    assert_int_equal(hear(), IPERF3_CREATE_STREAMS);
    open_stream(0);
    assert_int_equal(hear(), IPERF3_TEST_START);
    assert_int_equal(hear(), IPERF3_TEST_RUNNING);
    assert_int_equal(server.phase, IPERF3_RUNNING);
}

static void server_ended(const char *line)
{
    if (strstr(peer.log, line) == NULL)
        fail_msg("\"%s\" in place of \"%s\"", peer.log, line);
    assert_int_equal(server.phase, IPERF3_IDLE);
    assert_int_equal(server.test.control, 0);
    iperf3_server_stop(&server);
    peer_close();
}

static void what_the_server_cannot_do_is_told(void **state)
{
    static const char *const bad[] = {"{\"sctp\":true}", "{\"parallel\":33}", "[1]", "{\"udp\":true,\"len\":4}"};
    (void)state;
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        server_open();
        ask(bad[i]);
        uint8_t error[9];
        assert_int_equal(weir_socket_read(peer.weir, peer.control, error, sizeof error), sizeof error);
        assert_int_equal(error[0], IPERF3_SERVER_ERROR);
        assert_int_equal(get32(error + 1), 13);
        assert_int_equal(server.count.failed, 1);
        server_ended("not built here");
    }
}

static void words_out_of_turn_end_a_servers_test(void **state)
{
    (void)state;
    server_open();
    ask("{\"time\":1}");
    say_state(IPERF3_TEST_END);
    server_ended("unexpected");
    server_run("{\"time\":1}");
    say_state(IPERF3_DONE);
    server_ended("unexpected");
    server_run("{\"time\":1}");
    say_state(IPERF3_CLIENT_TERMINATE);
    server_ended("the client gave up");
    server_run("{\"time\":1}");
    drop(&peer.control);
    bench_run(&peer.b, STEP_US);
    server_ended("the control connection");
}

static void a_clients_results_that_lie_are_refused(void **state)
{
    static const uint8_t long_head[4] = {0, 1, 0, 0};
    (void)state;
    server_run("{\"time\":1}");
    say(peer.stream[0], "abc", 3);
    say_state(IPERF3_TEST_END);
    assert_int_equal(hear(), IPERF3_EXCHANGE_RESULTS);
    say(peer.control, long_head, sizeof long_head);
    server_ended("received 3 bytes");
    server_run("{\"time\":1}");
    say_state(IPERF3_TEST_END);
    say(peer.control, long_head, sizeof long_head);
    server_ended("too long");
    server_run("{\"time\":1}");
    say_state(IPERF3_TEST_END);
    say_json("{\"streams\":");
    server_ended("understood");
}

static void a_client_that_stays_away_is_given_up(void **state)
{
    (void)state;
    server_open();
    ask("{\"time\":1}");
    bench_run(&peer.b, IPERF3_STEP_US - 100000);
    assert_int_equal(server.phase, IPERF3_STREAMS_OPENING);
    bench_run(&peer.b, 200000);
    server_ended("too long");
    // Two seconds and the grace; of a test that bytes end a day is the bound.
    server_run("{\"time\":1,\"omit\":1}");
    bench_run(&peer.b, 2000000 + IPERF3_GRACE_US - 100000);
    assert_int_equal(server.phase, IPERF3_RUNNING);
    bench_run(&peer.b, 200000);
    server_ended("too long");
    server_run("{\"num\":1000000}");
    bench_run(&peer.b, 3600ull * 1000000u);
    assert_int_equal(server.phase, IPERF3_RUNNING);
    iperf3_server_stop(&server);
    bench_run(&peer.b, STEP_US);
    assert_int_equal(hear(), IPERF3_SERVER_TERMINATE);
    server_ended("stopped");
}

// Seconds that are omitted are not counted.
static void omitted_seconds_are_not_counted(void **state)
{
    (void)state;
    server_run("{\"time\":1,\"omit\":1}");
    say(peer.stream[0], "abc", 3);
    assert_int_equal(server.test.bytes, 3);
    bench_run(&peer.b, 1000000);
    assert_int_equal(server.test.bytes, 0);
    say(peer.stream[0], "abcd", 4);
    say_state(IPERF3_TEST_END);
    drop(&peer.control);
    bench_run(&peer.b, STEP_US);
    server_ended("received 4 bytes");
}

// Greetings open streams, each once; what a stranger says, and what comes before or after, does not.
static void greetings_open_streams_once(void **state)
{
    const struct weir_endpoint to = bench_here(IPERF3_PORT), other = {weir_ip4(10, 0, 0, 1), IPERF3_PORT};
    struct weir_endpoint from;
    uint8_t bytes[2000];
    static const uint8_t first[100] = {[11] = 1}, third[100] = {[11] = 3};
    (void)state;
    server_open();
    peer.udp = weir_socket_open(peer.weir, WEIR_DATAGRAM, 0);
    say_datagram(&to, iperf3_hello, 4);
    assert_int_equal(hear_datagram(&from, bytes, sizeof bytes), 0);  // there is no test
    ask("{\"udp\":true,\"parallel\":2,\"len\":100,\"time\":5}");
    assert_int_equal(hear(), IPERF3_CREATE_STREAMS);
    say_datagram(&to, "1234", 4);
    assert_int_equal(hear_datagram(&from, bytes, sizeof bytes), 0);
    for (uint32_t i = 0; i < 2; i++) {
        say_datagram(&to, iperf3_hello, 4);
        assert_int_equal(hear_datagram(&from, bytes, sizeof bytes), 4);
        assert_memory_equal(bytes, iperf3_hello_reply, 4);
    }
    assert_int_equal(server.test.stream_count, 1);
    drop(&peer.udp);
    peer.udp = weir_socket_open(peer.weir, WEIR_DATAGRAM, 0);
    say_datagram(&other, iperf3_hello, 4);  // from another address than the control connection
    assert_int_equal(server.test.stream_count, 1);
    drop(&peer.udp);
    peer.udp = weir_socket_open(peer.weir, WEIR_DATAGRAM, 0);
    say_datagram(&to, iperf3_hello, 4);
    assert_int_equal(server.phase, IPERF3_RUNNING);
    say_datagram(&to, first, sizeof first);
    say_datagram(&to, third, sizeof third);
    say_datagram(&to, third, 11);  // too short for a number
    assert_int_equal(server.test.datagrams, 2);
    assert_int_equal(server.test.streams[1].count.lost, 1);
    drop(&peer.udp);
    peer.udp = weir_socket_open(peer.weir, WEIR_DATAGRAM, 0);
    say_datagram(&to, first, sizeof first);  // from a port that is no stream
    say_datagram(&to, iperf3_hello, 4);      // which comes too late to become one
    assert_int_equal(server.test.datagrams, 2);
    assert_int_equal(server.test.stream_count, 2);
    say_state(IPERF3_TEST_END);
    drop(&peer.control);
    bench_run(&peer.b, STEP_US);
    server_ended("UDP received 200 bytes");
}

// Of 72 minutes and more only the low bits were looked at.
static void a_clock_that_jumps_is_no_jitter(void **state)
{
    static struct iperf3_test test;
    struct iperf3_stream stream = {.test = &test};
    uint8_t datagram[16] = {0};
    (void)state;
    iperf3_stream_datagram(&stream, datagram, sizeof datagram, 1000);
    iperf3_stream_datagram(&stream, datagram, sizeof datagram, 1016);
    assert_int_equal(stream.count.jitter_us, 1);
    iperf3_stream_datagram(&stream, datagram, sizeof datagram, 1016 + (1ull << 32) + 1000000);
    assert_int_equal(stream.count.jitter_us, 1);
    iperf3_stream_datagram(&stream, datagram, sizeof datagram, 1016);
    assert_int_equal(stream.count.jitter_us, 1);
    assert_int_equal(stream.count.reordered, 4);  // none had a number
}

static void a_port_that_is_taken_leaves_nothing_behind(void **state)
{
    const struct weir_endpoint local = {weir_addr_any(), IPERF3_PORT};
    (void)state;
    peer_open();
    peer.listening = weir_socket_open(peer.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(peer.weir, peer.listening, &local), WEIR_OK);
    assert_int_equal(weir_socket_listen(peer.weir, peer.listening, 1), WEIR_OK);
    assert_true(iperf3_server_start(&server, &peer.b.loop, IPERF3_PORT, NULL, NULL) < 0);
    assert_int_equal(server.udp, 0);
    drop(&peer.listening);
    // Where only the UDP port is taken the server serves TCP alone.
    peer.udp = weir_socket_open(peer.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_bind(peer.weir, peer.udp, &local), WEIR_OK);
    assert_int_equal(iperf3_server_start(&server, &peer.b.loop, IPERF3_PORT, take_log, NULL), WEIR_OK);
    ask("{\"udp\":true}");
    assert_int_equal(hear(), IPERF3_SERVER_ERROR);
    server_ended("not built here");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_server_refuses_is_told),
        cmocka_unit_test(a_server_that_goes_is_told),
        cmocka_unit_test(a_server_that_stays_silent_is_given_up),
        cmocka_unit_test(words_out_of_turn_are_passed_over),
        cmocka_unit_test(results_that_lie_are_refused),
        cmocka_unit_test(results_are_those_of_our_streams),
        cmocka_unit_test(a_stream_that_breaks_ends_the_test),
        cmocka_unit_test(greetings_are_repeated_and_given_up),
        cmocka_unit_test(an_icmp_error_ends_no_udp_test),
        cmocka_unit_test(what_cannot_be_tested_is_refused),
        cmocka_unit_test(a_client_without_memory_ends),
        cmocka_unit_test(what_the_server_cannot_do_is_told),
        cmocka_unit_test(words_out_of_turn_end_a_servers_test),
        cmocka_unit_test(a_clients_results_that_lie_are_refused),
        cmocka_unit_test(a_client_that_stays_away_is_given_up),
        cmocka_unit_test(omitted_seconds_are_not_counted),
        cmocka_unit_test(greetings_open_streams_once),
        cmocka_unit_test(a_clock_that_jumps_is_no_jitter),
        cmocka_unit_test(a_port_that_is_taken_leaves_nothing_behind),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
