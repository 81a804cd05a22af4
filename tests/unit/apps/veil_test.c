// SPDX-License-Identifier: BSD-2-Clause
// Applications over a layer that may be refused, that takes its time, and that fails in the middle: what TLS does to
// them, without TLS.
#include "apps/veil.h"

#include <stdlib.h>

#include "http/client.h"
#include "http/server.h"
#include "mqtt/mqtt.h"
#include "syslog/syslog.h"

#define SECOND 1000000u
#define PENDING 99

// --- HTTP ------------------------------------------------------------------------------------------------------------

#define CONNECTIONS 4u
#define BODY 5000u

static struct http_server server;
static struct http_connection connections[CONNECTIONS];
static char server_memory[CONNECTIONS * 1536], client_memory[HTTP_CLIENT_LEAST];
static uint8_t scratch[300];
static struct http_client client;
static uint32_t body_bytes, produced;
static int status, result, produce_error;

static int make_lines(struct http_connection *c, uint64_t at, uint8_t *out, uint32_t room)
{
    (void)c;
    assert_true(room <= sizeof scratch);
    const uint32_t bytes = BODY - at < room ? (uint32_t)(BODY - at) : room;
    if (produce_error != 0 && at >= BODY / 2)
        return produce_error;
    memset(out, 'x', bytes);
    produced += bytes;
    return (int)bytes;
}

static void get_lines(struct http_connection *c, struct http_request *request)
{
    http_respond(c, request, &(struct http_response){.type = "text/plain", .length = BODY, .produce = make_lines});
}

static int may_accept(struct weir_stream_maker *maker) { return (void)maker, !veils.full; }
static int maker_open(struct weir_stream_maker *maker, struct weir_stream *stream)
{
    (void)maker;
    return veil_open(stream);
}
static struct weir_stream_maker maker = {may_accept, maker_open, scratch, sizeof scratch};

static void server_open(struct bench *bench)
{
    static const struct http_route routes[] = {{.path = "/lines", .methods = HTTP_GET, .request = get_lines}};
    memset(&veils, 0, sizeof veils);
    produced = 0;
    produce_error = 0;
    bench_open(bench);
    assert_int_equal(http_server_start(&server, &bench->loop,
                                       &(struct http_server_config){.port = 443,
                                                                    .routes = routes,
                                                                    .route_count = 1,
                                                                    .connections = connections,
                                                                    .connection_count = CONNECTIONS,
                                                                    .memory = server_memory,
                                                                    .in_bytes = 1024,
                                                                    .out_bytes = 512,
                                                                    .maker = &maker}),
                     WEIR_OK);
}

static void at_the_end(struct bench *bench)
{
    bench_run(bench, SECOND);
    veil_check();
    bench_close(bench);
}

static void server_close(struct bench *bench)
{
    http_server_stop(&server);
    at_the_end(bench);
}

static int secure_url(struct weir_stream *stream, const struct http_url *url, void *context)
{
    (void)context;
    assert_true(url->secure);
    return veil_open(stream);
}
static void on_answer(struct http_client *c, const struct http_answer *answer, void *context)
{
    (void)c, (void)context;
    status = answer->status;
}
static uint32_t on_body(struct http_client *c, const uint8_t *piece, uint32_t bytes, void *context)
{
    (void)c, (void)piece, (void)context;
    body_bytes += bytes;
    return bytes;
}
static void on_done(struct http_client *c, int how, void *context)
{
    (void)c, (void)context;
    assert_int_equal(result, PENDING);
    result = how;
}

// Asks our server for the lines, and runs to the end.
static int fetch(struct bench *bench, bool secure)
{
    static struct http_client_config config = {
        .answer = on_answer, .body = on_body, .done = on_done, .memory = client_memory, .bytes = sizeof client_memory};
    config.secure = secure ? secure_url : NULL;
    result = PENDING;
    status = 0;
    body_bytes = 0;
    assert_int_equal(http_client_start(&client, &bench->loop, &config), WEIR_OK);
    assert_int_equal(http_client_ask(&client, &(struct http_ask){.url = "https://127.0.0.1/lines"}), WEIR_OK);
    bench_run(bench, 90 * (uint64_t)SECOND);
    assert_int_not_equal(result, PENDING);
    http_client_stop(&client);
    bench_run(bench, SECOND);
    return result;
}

static void http_goes_over_a_layer(void **state)
{
    struct bench bench;
    (void)state;
    for (uint32_t steps = 0; steps < 6; steps += 5) {
        server_open(&bench);
        veils.steps = steps;
        assert_int_equal(fetch(&bench, true), WEIR_OK);
        assert_int_equal(status, 200);
        assert_int_equal(body_bytes, BODY);
        assert_int_equal(produced, BODY);
        assert_int_equal(veils.opens, 2);
        assert_true(veils.begins >= 2 * (steps + 1));
        server_close(&bench);
    }
}

static void http_ends_where_the_layer_fails(void **state)
{
    struct bench bench;
    (void)state;
    server_open(&bench);
    assert_int_equal(fetch(&bench, false), WEIR_NOT_SUPPORTED);
    veils.open = WEIR_NO_MEMORY;  // of both ends
    assert_int_equal(fetch(&bench, true), WEIR_NO_MEMORY);
    veils.open = 0;
    veils.begin = WEIR_PERMISSION;  // a certificate that nobody signed
    assert_int_equal(fetch(&bench, true), WEIR_PERMISSION);
    server_close(&bench);
    // Whichever call fails, both come to an end and give all back.
    for (uint32_t of_write = 0; of_write < 2; of_write++) {
        int how = PENDING;
        uint32_t at = 0;
        for (; how != WEIR_OK; at++) {
            assert_true(at < 100);
            server_open(&bench);
            *(of_write ? &veils.write : &veils.read) = WEIR_RESET;
            veils.write_after = veils.read_after = at;
            how = fetch(&bench, true);
            assert_int_equal(how == WEIR_OK, body_bytes == BODY);
            server_close(&bench);
        }
        assert_true(at > 3);
    }
    server_open(&bench);
    produce_error = WEIR_ABORTED;  // of the handler
    assert_int_not_equal(fetch(&bench, true), WEIR_OK);
    assert_true(body_bytes < BODY);
    server_close(&bench);
}

// A handshake that never ends holds a place for its time, and makes room where no other may begin.
static void handshakes_make_room(void **state)
{
    struct bench bench;
    (void)state;
    server_open(&bench);
    veils.silent = true;
    const weir_socket slow = bench_connect(&bench, 443);
    assert_int_equal(veils.opens, 1);
    veils.full = true;
    const weir_socket next = bench_connect(&bench, 443);
    bench_run(&bench, CLIENTS_STALL_US / 2);
    assert_int_equal(server.count.made_room, 0);
    bench_run(&bench, 2 * (uint64_t)SECOND);
    assert_int_equal(server.count.made_room, 1);
    assert_true(weir_socket_ready(bench.f.weir, slow) & (WEIR_ERROR | WEIR_HANGUP));
    veils.full = false;
    bench_run(&bench, SECOND);
    assert_int_equal(veils.opens, 2);
    bench_run(&bench, 60 * (uint64_t)SECOND);
    assert_true(server.count.given_up > 0);
    assert_int_equal(weir_socket_abort(bench.f.weir, slow), WEIR_OK);
    assert_int_equal(weir_socket_abort(bench.f.weir, next), WEIR_OK);
    server_close(&bench);
}

// --- MQTT and syslog: the test is the server -------------------------------------------------------------------------

static weir_socket listen_on(struct bench *bench, uint16_t port)
{
    const struct weir_endpoint local = {weir_addr_any(), port};
    const weir_socket listener = weir_socket_open(bench->f.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(bench->f.weir, listener, &local), WEIR_OK);
    assert_int_equal(weir_socket_listen(bench->f.weir, listener, 8), WEIR_OK);
    return listener;
}

// Accepts what comes within the time. Returns the last that came, 0: none; those before it are closed.
static weir_socket accept_within(struct bench *bench, weir_socket listener, uint64_t us)
{
    weir_socket last = 0, next;
    bench_run(bench, us);
    while ((next = weir_socket_accept(bench->f.weir, listener)) > 0) {
        if (last > 0)
            (void)weir_socket_abort(bench->f.weir, last);
        last = next;
    }
    bench_run(bench, SECOND / 10);
    return last;
}

static struct mqtt mqtt;
static uint32_t connected_count;

static void on_event(struct mqtt *m, enum mqtt_event event, int reason, void *context)
{
    (void)m, (void)reason, (void)context;
    connected_count += event == MQTT_CONNECTED;
}
static void on_message(struct mqtt *m, const struct mqtt_message *message, const uint8_t *piece, uint32_t length,
                       void *context)
{
    (void)m, (void)message, (void)piece, (void)length, (void)context;
}
static int secure_plain(struct weir_stream *stream, void *context)
{
    (void)context;
    return veil_open(stream);
}

static void mqtt_open(struct bench *bench, weir_socket *listener)
{
    static uint8_t out[512], in[256];
    memset(&veils, 0, sizeof veils);
    connected_count = 0;
    bench_open(bench);
    *listener = listen_on(bench, 8883);
    assert_int_equal(mqtt_start(&mqtt, &bench->loop,
                                &(struct mqtt_config){.server = bench_here(8883),
                                                      .client_id = "weir",
                                                      .clean = true,
                                                      .keep_alive_s = 30,
                                                      .out = out,
                                                      .out_bytes = sizeof out,
                                                      .in = in,
                                                      .in_bytes = sizeof in,
                                                      .event = on_event,
                                                      .message = on_message,
                                                      .secure = secure_plain}),
                     WEIR_OK);
}

// The test was the server; `peer` is its end of the connection, where it has one.
static void far_close(struct bench *bench, weir_socket listener, weir_socket peer)
{
    if (peer > 0)
        (void)weir_socket_abort(bench->f.weir, peer);
    (void)weir_socket_close(bench->f.weir, listener);
    at_the_end(bench);
}

static void mqtt_close(struct bench *bench, weir_socket listener, weir_socket peer)
{
    mqtt_stop(&mqtt);
    far_close(bench, listener, peer);
}

static void mqtt_goes_over_a_layer_or_tries_again(void **state)
{
    struct bench bench;
    weir_socket listener, peer;
    char greeting[100];
    (void)state;
    mqtt_open(&bench, &listener);
    veils.steps = 5;
    peer = accept_within(&bench, listener, SECOND);
    assert_true(peer > 0);
    assert_true(bench_read(&bench, peer, greeting, sizeof greeting, NULL) > 10);
    bench_write(&bench, peer, "\x20\x02");
    assert_int_equal(weir_socket_write(bench.f.weir, peer, "\0\0", 2), 2);
    bench_run(&bench, SECOND);
    assert_int_equal(connected_count, 1);
    assert_true(veils.begins >= 6);
    mqtt_close(&bench, listener, peer);
    static const int errors[] = {WEIR_NO_MEMORY, WEIR_PERMISSION, WEIR_RESET};
    for (uint32_t i = 0; i < 3; i++) {
        mqtt_open(&bench, &listener);
        *(i == 0 ? &veils.open : i == 1 ? &veils.begin : &veils.write) = errors[i];
        peer = accept_within(&bench, listener, SECOND / 2);
        assert_true(peer > 0);
        assert_int_equal(bench_read(&bench, peer, greeting, sizeof greeting, NULL), 0);
        veils.open = veils.begin = veils.write = 0;  // the next one goes well
        assert_int_equal(weir_socket_abort(bench.f.weir, peer), WEIR_OK);
        peer = accept_within(&bench, listener, 200 * (uint64_t)SECOND);
        assert_true(peer > 0);
        assert_true(mqtt.count.connections == 0 && veils.opens > 1);
        mqtt_close(&bench, listener, peer);
    }
}

static struct syslog syslog;

static void syslog_open(struct bench *bench, weir_socket *listener)
{
    static uint8_t queue[4096];
    memset(&veils, 0, sizeof veils);
    bench_open(bench);
    *listener = listen_on(bench, 6514);
    assert_int_equal(syslog_start(&syslog, &bench->loop,
                                  &(struct syslog_config){.server = bench_here(6514),
                                                          .transport = SYSLOG_TCP,
                                                          .queue = queue,
                                                          .queue_bytes = sizeof queue,
                                                          .secure = secure_plain}),
                     WEIR_OK);
}

static void syslog_close(struct bench *bench, weir_socket listener, weir_socket peer)
{
    syslog_stop(&syslog);
    far_close(bench, listener, peer);
}

static void syslog_goes_over_a_layer_or_tries_again(void **state)
{
    struct bench bench;
    weir_socket listener, peer;
    char got[300];
    (void)state;
    // In turn: all goes well; the layer is refused; its handshake fails; it breaks at the count, at the message; the
    // handshake never ends.
    for (uint32_t i = 0; i < 6; i++) {
        syslog_open(&bench, &listener);
        veils.steps = 3;
        veils.silent = i == 5;
        veils.open = i == 1 ? WEIR_NO_MEMORY : 0;
        veils.begin = i == 2 ? WEIR_PERMISSION : 0;
        veils.write = i == 3 || i == 4 ? WEIR_RESET : 0;
        veils.write_after = i == 4 ? 1 : 0;
        assert_int_equal(syslog_text(&syslog, SYSLOG_NOTICE, "hello"), WEIR_OK);
        peer = accept_within(&bench, listener, i == 5 ? 70 * (uint64_t)SECOND : SECOND / 2);
        assert_true(peer > 0);
        if (i > 0) {
            veils.open = veils.begin = veils.write = 0;
            veils.silent = false;
            assert_int_equal(weir_socket_abort(bench.f.weir, peer), WEIR_OK);
            peer = accept_within(&bench, listener, 200 * (uint64_t)SECOND);
            assert_true(peer > 0);
        }
        assert_true(bench_read(&bench, peer, got, sizeof got, NULL) > 0);
        assert_non_null(strstr(got, "hello"));
        assert_int_equal(atoi(got), strlen(got) - (size_t)(strchr(got, ' ') - got) - 1);  // counted, and whole
        syslog_close(&bench, listener, peer);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(http_goes_over_a_layer),
        cmocka_unit_test(http_ends_where_the_layer_fails),
        cmocka_unit_test(handshakes_make_room),
        cmocka_unit_test(mqtt_goes_over_a_layer_or_tries_again),
        cmocka_unit_test(syslog_goes_over_a_layer_or_tries_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
