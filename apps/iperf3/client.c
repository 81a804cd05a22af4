// SPDX-License-Identifier: BSD-2-Clause
#include "iperf3/client.h"

#include <string.h>

#include "service.h"

static struct iperf3_client *owner_of(struct iperf3_test *test)
{
    return (struct iperf3_client *)(void *)((char *)test - offsetof(struct iperf3_client, test));
}

static struct weir *weir_of(const struct iperf3_client *client) { return client->test.loop->weir; }

static uint64_t now_of(const struct iperf3_client *client) { return weir_now_us(weir_of(client)); }

static void phase_enter(struct iperf3_client *client, enum iperf3_client_phase phase, uint64_t wait_us)
{
    client->phase = phase;
    client->due_us = now_of(client) + wait_us;
}

static void client_finish(struct iperf3_client *client, const char *error)
{
    if (client->phase == IPERF3_ENDED)
        return;
    client->phase = IPERF3_ENDED;
    if (error != NULL)
        iperf3_report_error(client, error);
    loop_remove(client->test.loop, &client->app);
    iperf3_test_close(&client->test);
    client->done(client->context, error);
}

static const char *why(int error)
{
    switch (error) {
    case WEIR_REFUSED: return "the server refuses connections: does iperf3 -s run there?";
    case WEIR_CLOSED: return "the server closed the control connection";
    case WEIR_TIMED_OUT: return "the server does not answer";
    case WEIR_HOST_UNREACHABLE: return "the server cannot be reached: no such neighbour, or a router says so";
    case WEIR_NO_ROUTE: return "no route to the server: set an address and a gateway";
    case WEIR_TOO_BIG: return "the server's message is too long";
    case WEIR_RESET: return "the server reset the connection";
    default: return weir_error_name(error);
    }
}

// --- measuring -------------------------------------------------------------------------------------------------------

static void measuring_begin(struct iperf3_client *client)
{
    const struct iperf3_parameters *p = &client->test.parameters;
    uint64_t now_us = now_of(client);
    client->test.omitting = p->omit_s != 0;
    iperf3_test_begin(&client->test, now_us);
    iperf3_report_begin(client);
    bool by_bytes = p->bytes != 0 || p->blocks != 0;
    client->stop_us = by_bytes ? WEIR_NEVER : now_us + (uint64_t)(p->time_s + p->omit_s) * 1000000u;
    client->interval_from_us = now_us;
    client->interval_us = now_us + IPERF3_INTERVAL_US;
    client->phase = IPERF3_MEASURING;
    client->due_us = WEIR_NEVER;
    for (uint32_t i = 0; i < client->test.stream_count; i++) {
        if (!client->test.streams[i].sender)
            (void)iperf3_stream_receive(&client->test.streams[i]);
    }
}

static void measuring_end(struct iperf3_client *client)
{
    uint64_t now_us = now_of(client);
    if (!client->intervals || now_us > client->interval_from_us + IPERF3_INTERVAL_US / 10)
        iperf3_report_interval(client, now_us);
    iperf3_test_end(&client->test, now_us);
    if (iperf3_control_state(&client->test, IPERF3_TEST_END))
        phase_enter(client, IPERF3_ENDING, IPERF3_ANSWER_US);
    else
        client_finish(client, "the control connection broke");
}

// Whether all that was queued has been acknowledged: a transfer counted in bytes ends when they are there.
static bool all_acknowledged(struct iperf3_client *client)
{
    const struct iperf3_test *test = &client->test;
    for (uint32_t i = 0; i < test->stream_count && !test->parameters.udp; i++) {
        int32_t bytes = 0;
        if (test->streams[i].sender &&
            weir_socket_get(weir_of(client), test->streams[i].socket, WEIR_OPTION_UNACKED_BYTES, &bytes) == WEIR_OK &&
            bytes > 0)
            return false;
    }
    return true;
}

static void measuring_poll(struct iperf3_client *client, uint64_t now_us)
{
    struct iperf3_test *test = &client->test;
    if (client->phase == IPERF3_MEASURING && iperf3_test_reached(test))
        phase_enter(client, IPERF3_DRAINING, IPERF3_DRAIN_US);
    bool drained = client->phase == IPERF3_DRAINING && (all_acknowledged(client) || now_us >= client->due_us);
    if (now_us >= client->stop_us || drained) {
        measuring_end(client);
        return;
    }
    if (now_us < client->interval_us)
        return;
    iperf3_report_interval(client, now_us);
    client->interval_from_us = now_us;
    client->interval_us += IPERF3_INTERVAL_US;
    if (client->interval_us <= now_us)
        client->interval_us = now_us + IPERF3_INTERVAL_US;
    if (test->omitting && now_us >= test->start_us + (uint64_t)test->parameters.omit_s * 1000000u) {
        test->omitting = false;
        iperf3_test_begin(test, now_us);
    }
}

// --- streams ---------------------------------------------------------------------------------------------------------

static void hello_send(struct iperf3_client *client, struct iperf3_stream *stream)
{
    const struct weir_slice slice = {(const uint8_t *)iperf3_hello, sizeof iperf3_hello};
    const struct weir_message message = {.peer.port = 0};
    (void)weir_socket_send_message(weir_of(client), stream->socket, &message, &slice, 1);
    stream->hello_us = now_of(client) + IPERF3_HELLO_US;
    stream->hellos++;
}

static int stream_open(struct iperf3_client *client)
{
    struct iperf3_test *test = &client->test;
    bool udp = test->parameters.udp;
    weir_socket socket = weir_socket_open(weir_of(client), udp ? WEIR_DATAGRAM : WEIR_STREAM, 0);
    if (socket < 0)
        return socket;
    struct iperf3_stream *stream = iperf3_stream_new(test, socket);
    (void)loop_watch(test->loop, socket, &stream->watch);
    iperf3_stream_tune(test, socket);
    int error = weir_socket_connect(weir_of(client), socket, &client->server);
    if (error != WEIR_OK && error != WEIR_IN_PROGRESS)
        return error;
    if (udp)
        hello_send(client, stream);
    return WEIR_OK;
}

// One after another: the server numbers streams in the order in which they come.
static void streams_next(struct iperf3_client *client)
{
    const struct iperf3_test *test = &client->test;
    if (test->stream_count == iperf3_stream_total(&test->parameters)) {
        phase_enter(client, IPERF3_TALKING, IPERF3_ANSWER_US);
        return;
    }
    phase_enter(client, IPERF3_CLIENT_STREAMS, IPERF3_ANSWER_US);
    int error = stream_open(client);
    if (error != WEIR_OK)
        client_finish(client, why(error));
}

static void stream_ready(struct iperf3_client *client, struct iperf3_stream *stream)
{
    iperf3_stream_opened(stream);
    streams_next(client);
}

static void stream_open_tcp(struct iperf3_client *client, struct iperf3_stream *stream, uint32_t events)
{
    int32_t error = 0;
    (void)weir_socket_get(weir_of(client), stream->socket, WEIR_OPTION_ERROR, &error);
    if (error != 0) {
        client_finish(client, why(error));
        return;
    }
    if (!(events & WEIR_WRITABLE))
        return;
    // 37 bytes as the first of a connection fit into any send queue.
    if (weir_socket_write(weir_of(client), stream->socket, client->test.cookie, IPERF3_COOKIE) == (int)IPERF3_COOKIE)
        stream_ready(client, stream);
}

static void stream_open_udp(struct iperf3_client *client, struct iperf3_stream *stream)
{
    struct weir_message message;
    struct weir_slice slice;
    bool greeted = false;
    while (!greeted && service_peek(client->test.loop, stream->socket, &message, &slice, NULL)) {
        greeted = iperf3_is_hello(slice.data, slice.length);
        (void)weir_socket_discard(weir_of(client), stream->socket);
    }
    if (greeted)
        stream_ready(client, stream);
}

static void stream_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct iperf3_stream *stream = (struct iperf3_stream *)watch;
    struct iperf3_client *client = owner_of(stream->test);
    bool good = true;
    if (stream->socket != socket || client->phase == IPERF3_ENDED)
        return;
    if (!stream->ready) {
        if (client->test.parameters.udp)
            stream_open_udp(client, stream);
        else
            stream_open_tcp(client, stream, events);
        return;
    }
    if (stream->sender && client->test.running)
        good = iperf3_stream_send(stream, now_of(client));
    else if (!stream->sender)
        good = iperf3_stream_receive(stream);
    // One that its pace lets send nothing now has not seen that it is gone. An ICMP error ends no UDP test.
    if (events & WEIR_ERROR && !client->test.parameters.udp)
        good = false;
    // After TEST_END the server closes its streams while data is under way: nothing is wrong then.
    if (!good && client->test.running)
        client_finish(client, "a stream broke");
}

static void hellos_poll(struct iperf3_client *client, uint64_t now_us)
{
    struct iperf3_stream *stream = &client->test.streams[client->test.stream_count - 1];
    if (!client->test.parameters.udp || client->test.stream_count == 0 || stream->ready || now_us < stream->hello_us)
        return;
    if (stream->hellos == IPERF3_HELLOS)
        client_finish(client, "the server does not answer on UDP: is its port open?");
    else
        hello_send(client, stream);
}

// --- control connection ----------------------------------------------------------------------------------------------

static void emit_parameters(struct iperf3_test *test, struct text *out)
{
    iperf3_parameters_emit(&test->parameters, out);
}

static void take_state(struct iperf3_client *client, uint8_t state)
{
    struct iperf3_test *test = &client->test;
    bool good = true;
    switch (state) {
    case IPERF3_PARAM_EXCHANGE: good = iperf3_control_json(test, emit_parameters); break;
    case IPERF3_CREATE_STREAMS:
        if (test->stream_count == 0)
            streams_next(client);
        return;
    case IPERF3_TEST_START: break;
    case IPERF3_TEST_RUNNING:
        if (test->stream_count == iperf3_stream_total(&test->parameters) && client->phase == IPERF3_TALKING)
            measuring_begin(client);
        return;
    case IPERF3_EXCHANGE_RESULTS:
        if (test->stream_count == 0)
            return;
        iperf3_test_end(test, now_of(client));
        good = iperf3_control_json(test, iperf3_results_emit);
        client->expect_results = true;
        break;
    case IPERF3_DISPLAY_RESULTS:
        (void)iperf3_control_state(test, IPERF3_DONE);
        if (client->phase == IPERF3_ENDING)
            iperf3_report_end(client);
        client_finish(client, client->phase == IPERF3_ENDING ? NULL : "the server ended the test too early");
        return;
    case IPERF3_ACCESS_DENIED: client_finish(client, "the server is busy with another test: try again later"); return;
    case IPERF3_SERVER_TERMINATE: client_finish(client, "the server was stopped"); return;
    case IPERF3_SERVER_ERROR: client_finish(client, "the server cannot run this test: change the parameters"); return;
    default: client_finish(client, "the server said something unexpected: is it iperf3 3.x?"); return;
    }
    if (!good)
        client_finish(client, "the control connection broke");
}

static void take_results(struct iperf3_client *client)
{
    struct iperf3_test *test = &client->test;
    client->expect_results = false;
    if (!iperf3_results_parse(test, test->in + 4, test->in_length - 4))
        client_finish(client, "the server's results could not be understood");
    test->in_length = 0;
}

static bool control_connected(struct iperf3_client *client, uint32_t events)
{
    struct iperf3_test *test = &client->test;
    int32_t error = 0;
    (void)weir_socket_get(weir_of(client), test->control, WEIR_OPTION_ERROR, &error);
    if (error != 0) {
        client_finish(client, why(error));
        return false;
    }
    if (!(events & WEIR_WRITABLE))
        return false;
    memcpy(test->out, test->cookie, IPERF3_COOKIE);
    test->out_length = IPERF3_COOKIE;
    phase_enter(client, IPERF3_TALKING, IPERF3_ANSWER_US);
    return true;
}

static void control_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct iperf3_test *test = (struct iperf3_test *)watch;
    struct iperf3_client *client = owner_of(test);
    if (test->control != socket || client->phase == IPERF3_ENDED)
        return;
    if (client->phase == IPERF3_CONNECTING && !control_connected(client, events))
        return;
    if (!iperf3_control_flush(test)) {
        client_finish(client, "the control connection broke");
        return;
    }
    while (client->phase != IPERF3_ENDED) {
        int got = client->expect_results ? iperf3_control_read_json(test) : iperf3_control_read(test, 1);
        if (got == 0)
            return;
        if (got < 0) {
            client_finish(client, why(got));
        } else if (client->expect_results) {
            take_results(client);
        } else {
            uint8_t state = (uint8_t)test->in[0];
            test->in_length = 0;
            take_state(client, state);
        }
    }
}

// --- time ------------------------------------------------------------------------------------------------------------

static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t client_poll(struct app *app, uint64_t now_us)
{
    struct iperf3_client *client = (struct iperf3_client *)app;
    uint64_t due_us = WEIR_NEVER;
    if (client->phase == IPERF3_CLIENT_STREAMS)
        hellos_poll(client, now_us);
    if (client->phase == IPERF3_MEASURING || client->phase == IPERF3_DRAINING)
        due_us = iperf3_test_send(&client->test, now_us);
    if (client->phase == IPERF3_MEASURING || client->phase == IPERF3_DRAINING)
        measuring_poll(client, now_us);
    else if (client->phase != IPERF3_ENDED && now_us >= client->due_us)
        client_finish(client, client->phase == IPERF3_CONNECTING ? why(WEIR_TIMED_OUT)
                                                                 : "the server does not take the next step");
    switch (client->phase) {
    case IPERF3_ENDED: return WEIR_NEVER;
    case IPERF3_CLIENT_STREAMS: return min_u64(client->due_us, now_us + IPERF3_HELLO_US / 5);
    case IPERF3_DRAINING: return min_u64(due_us, now_us + 1000);
    case IPERF3_MEASURING: return min_u64(min_u64(due_us, client->stop_us), client->interval_us);
    default: return client->due_us;
    }
}

static void cookie_make(struct iperf3_client *client)
{
    static const char letters[] =
        "abcdefghijklmnopqrstuvwxyz234567";  // 32: a random byte's low five bits choose evenly
    uint8_t random[IPERF3_COOKIE - 1];
    weir_random_bytes(weir_of(client), random, sizeof random);
    for (uint32_t i = 0; i < sizeof random; i++)
        client->test.cookie[i] = letters[random[i] & 31];
    client->test.cookie[IPERF3_COOKIE - 1] = '\0';
}

int iperf3_client_start(struct iperf3_client *client, struct loop *loop, struct weir_endpoint server)
{
    struct iperf3_test *test = &client->test;
    if (!iperf3_parameters_check(&test->parameters))
        return WEIR_INVALID;
    client->app.poll = client_poll;
    client->server = server;
    test->loop = loop;
    test->control_watch.event = control_event;
    for (uint32_t i = 0; i < IPERF3_STREAMS; i++)
        test->streams[i].watch.event = stream_event;
    cookie_make(client);
    phase_enter(client, IPERF3_CONNECTING, IPERF3_ANSWER_US);
    test->control = weir_socket_open(loop->weir, WEIR_STREAM, 0);
    if (test->control < 0)
        return test->control;
    (void)loop_watch(loop, test->control, &test->control_watch);
    (void)weir_socket_set(loop->weir, test->control, WEIR_OPTION_NO_DELAY, 1);
    int error = weir_socket_connect(loop->weir, test->control, &server);
    if (error != WEIR_OK && error != WEIR_IN_PROGRESS) {
        service_close(loop, &test->control);
        return error;
    }
    loop_add(loop, &client->app);
    return WEIR_OK;
}

void iperf3_client_stop(struct iperf3_client *client)
{
    if (client->phase == IPERF3_ENDED)
        return;
    (void)iperf3_control_state(&client->test, IPERF3_CLIENT_TERMINATE);
    client_finish(client, "interrupted");
}
