// SPDX-License-Identifier: BSD-2-Clause
#include "iperf3/server.h"

#include <string.h>

#include "service.h"

#define OWNER(watch, member) ((struct iperf3_server *)(void *)((char *)(watch)-offsetof(struct iperf3_server, member)))

static struct weir *weir_of(const struct iperf3_server *server) { return server->test.loop->weir; }

static void phase_enter(struct iperf3_server *server, enum iperf3_phase phase, uint64_t wait_us)
{
    server->phase = phase;
    server->since_us = weir_now_us(weir_of(server));
    server->due_us = server->since_us + wait_us;
}

// --- the end of a test -----------------------------------------------------------------------------------------------

static void log_line(struct iperf3_server *server, const char *error)
{
    char line[200];
    struct text text;
    const struct iperf3_test *test = &server->test;
    if (server->log == NULL)
        return;
    text_init(&text, line, sizeof line);
    text_put(&text, "iperf3 ");
    text_endpoint(&text, &server->client);
    text_put(&text, test->parameters.udp ? " UDP" : " TCP");
    text_put(&text, test->parameters.bidirectional ? " exchanged "
                    : test->parameters.reverse     ? " sent "
                                                   : " received ");
    text_u64(&text, test->bytes);
    text_put(&text, " bytes");
    uint64_t time_us = test->end_us > test->start_us ? test->end_us - test->start_us : 0;
    if (time_us != 0) {
        text_put(&text, " in ");
        text_fixed(&text, time_us / 10000, 2);
        text_put(&text, " s, ");
        text_fixed(&text, test->bytes * 80 / time_us, 1);
        text_put(&text, " Mbit/s");
    }
    if (error != NULL) {
        text_put(&text, ": ");
        text_put(&text, error);
    }
    server->log(server->context, line);
}

static void test_finish(struct iperf3_server *server, const char *error)
{
    iperf3_test_end(&server->test, weir_now_us(weir_of(server)));
    log_line(server, error);
    if (error == NULL)
        server->count.tests++;
    else
        server->count.failed++;
    iperf3_test_close(&server->test);
    server->phase = IPERF3_IDLE;
    server->due_us = WEIR_NEVER;
}

// --- streams ---------------------------------------------------------------------------------------------------------

static void guests_refuse(struct iperf3_server *server);

static void streams_start(struct iperf3_server *server)
{
    struct iperf3_test *test = &server->test;
    const struct iperf3_parameters *p = &test->parameters;
    uint64_t now_us = weir_now_us(weir_of(server));
    if (!iperf3_control_state(test, IPERF3_TEST_START) || !iperf3_control_state(test, IPERF3_TEST_RUNNING)) {
        test_finish(server, "the control connection broke");
        return;
    }
    // Where bytes and not time end the test, the stall of all streams ends it here: a day is an upper bound.
    uint64_t duration_us =
        p->bytes != 0 || p->blocks != 0 ? 86400ull * 1000000u : (uint64_t)(p->time_s + p->omit_s) * 1000000u;
    phase_enter(server, IPERF3_RUNNING, duration_us + IPERF3_GRACE_US);
    test->omitting = p->omit_s != 0;
    iperf3_test_begin(test, now_us);
    server->mark_us = now_us;
    server->mark_bytes = 0;
    server->slow = false;
    guests_refuse(server);
    for (uint32_t i = 0; i < test->stream_count; i++) {
        if (test->streams[i].sender)
            (void)iperf3_stream_send(&test->streams[i], now_us);
    }
}

static void stream_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct iperf3_stream *stream = (struct iperf3_stream *)watch;
    (void)events;
    if (stream->socket != socket)
        return;
    // A stream that breaks is not the end: the client says on the control connection how the test ends.
    if (stream->sender)
        (void)iperf3_stream_send(stream, weir_now_us(stream->test->loop->weir));
    else
        (void)iperf3_stream_receive(stream);
}

static void stream_join(struct iperf3_server *server, struct iperf3_stream *stream)
{
    iperf3_stream_opened(stream);
    if (server->test.stream_count == iperf3_stream_total(&server->test.parameters))
        streams_start(server);
}

// A greeting from the host that has the control connection opens a stream; what is answered is no longer than the
// question.
static void datagram_hello(struct iperf3_server *server, const struct weir_message *message)
{
    const struct weir_slice reply = {(const uint8_t *)iperf3_hello_reply, sizeof iperf3_hello_reply};
    const struct weir_message to = {.peer = message->peer, .local = message->local};
    struct iperf3_stream *stream = NULL;
    for (uint32_t i = 0; i < server->test.stream_count; i++) {
        const struct iperf3_stream *other = &server->test.streams[i];
        if (weir_addr_equal(other->peer.addr, message->peer.addr) && other->peer.port == message->peer.port)
            stream = &server->test.streams[i];  // its reply was lost
    }
    bool opening = server->phase == IPERF3_STREAMS_OPENING && server->test.parameters.udp;
    if (stream == NULL && !opening)
        return;
    (void)weir_socket_send_message(weir_of(server), server->udp, &to, &reply, 1);
    if (stream != NULL)
        return;
    stream = iperf3_stream_new(&server->test, server->udp);
    if (stream == NULL)
        return;
    stream->peer = message->peer;
    stream_join(server, stream);
}

static void datagrams_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct iperf3_server *server = OWNER(watch, datagrams);
    struct iperf3_test *test = &server->test;
    struct weir_message message;
    struct weir_slice slice;
    uint64_t now_us = weir_now_us(weir_of(server));
    while (service_peek(server->test.loop, socket, &message, &slice, NULL)) {
        bool ours = server->phase != IPERF3_IDLE && weir_addr_equal(message.peer.addr, server->client.addr);
        if (ours && iperf3_is_hello(slice.data, slice.length))
            datagram_hello(server, &message);
        for (uint32_t i = 0; ours && test->running && i < test->stream_count; i++) {
            if (test->streams[i].peer.port == message.peer.port && !test->streams[i].sender)
                iperf3_stream_datagram(&test->streams[i], slice.data, slice.length, now_us);
        }
        (void)weir_socket_discard(weir_of(server), socket);
    }
    for (uint32_t i = 0; (events & WEIR_WRITABLE) && test->udp_shared && i < test->stream_count; i++)
        test->streams[i].blocked = false;  // the poll that follows lets them send in turn
}

// --- control connection ----------------------------------------------------------------------------------------------

static void parameters_take(struct iperf3_server *server, const char *text, uint32_t length)
{
    struct iperf3_test *test = &server->test;
    bool good = iperf3_parameters_parse(text, length, &test->parameters);
    test->udp_shared = test->parameters.udp;
    phase_enter(server, IPERF3_STREAMS_OPENING, IPERF3_STEP_US);
    if (good && (!test->parameters.udp || server->udp > 0)) {
        if (test->parameters.udp)
            iperf3_stream_tune(test, server->udp);
        if (!iperf3_control_state(test, IPERF3_CREATE_STREAMS))
            test_finish(server, "the control connection broke");
        return;
    }
    // SERVER_ERROR, then iperf3's error number (its "server does not have these parameters" has none) and errno.
    char error[9] = {(char)IPERF3_SERVER_ERROR, 0, 0, 0, 13};
    for (uint32_t i = 0; i < sizeof error; i++)
        (void)iperf3_control_state(test, (enum iperf3_state)(uint8_t)error[i]);
    test_finish(server, "it asked for something not built here (or more streams)");
}

static void results_send(struct iperf3_server *server)
{
    struct iperf3_test *test = &server->test;
    bool good = iperf3_results_parse(test, test->in + 4, test->in_length - 4);
    test->in_length = 0;
    if (good && iperf3_control_json(test, iperf3_results_emit) && iperf3_control_state(test, IPERF3_DISPLAY_RESULTS))
        phase_enter(server, IPERF3_FINISHING, IPERF3_STEP_US);
    else
        test_finish(server, "its results could not be understood");
}

// One state byte of the client. Returns whether the test goes on.
static bool state_take(struct iperf3_server *server, uint8_t state)
{
    struct iperf3_test *test = &server->test;
    if (state == IPERF3_TEST_END && server->phase == IPERF3_RUNNING) {
        // What has arrived counts; then the streams are closed, so that a sending client is not left waiting.
        for (uint32_t i = 0; i < test->stream_count && !test->udp_shared; i++) {
            if (!test->streams[i].sender)
                (void)iperf3_stream_receive(&test->streams[i]);
        }
        iperf3_test_end(test, weir_now_us(weir_of(server)));
        iperf3_streams_close(test);  // before the answer, as iperf3's own server: a client may block on them until then
        phase_enter(server, IPERF3_RESULTS, IPERF3_STEP_US);
        if (iperf3_control_state(test, IPERF3_EXCHANGE_RESULTS))
            return true;
        test_finish(server, "the control connection broke");
    } else if (state == IPERF3_DONE && server->phase == IPERF3_FINISHING) {
        test_finish(server, NULL);
    } else {
        test_finish(server, state == IPERF3_CLIENT_TERMINATE ? "the client gave up" : "it said something unexpected");
    }
    return false;
}

static void control_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct iperf3_server *server = OWNER(watch, test.control_watch);
    struct iperf3_test *test = &server->test;
    (void)events;
    if (test->control != socket)
        return;
    bool more = iperf3_control_flush(test);
    if (!more)
        test_finish(server, "the control connection broke");
    while (more) {
        bool json = server->phase == IPERF3_RESULTS;
        int got = json ? iperf3_control_read_json(test) : iperf3_control_read(test, 1);
        if (got == 0)
            return;
        if (got < 0) {
            test_finish(server, got == WEIR_TOO_BIG ? "its message is too long" : "the control connection ended");
            return;
        }
        if (json) {
            results_send(server);
        } else {
            uint8_t state = (uint8_t)test->in[0];
            test->in_length = 0;
            (void)state_take(server, state);
        }
        more = test->control == socket;
    }
}

// --- guests ----------------------------------------------------------------------------------------------------------

static void guest_leave(struct iperf3_guest *guest)
{
    guest->socket = 0;
    clients_leave(&guest->server->clients, &guest->client);
}

static void guest_end(struct iperf3_guest *guest)
{
    service_close(guest->server->test.loop, &guest->socket);
    guest_leave(guest);
}

static void guest_refuse(struct iperf3_guest *guest)
{
    const uint8_t busy = IPERF3_ACCESS_DENIED;
    guest->server->count.refused++;
    (void)weir_socket_write(weir_of(guest->server), guest->socket, &busy, 1);
    guest_end(guest);
}

// A test has begun to run: it may take its time now, and who waits is told so.
static void guests_refuse(struct iperf3_server *server)
{
    for (uint32_t i = 0; i < IPERF3_GUESTS; i++)
        if (server->guests[i].socket != 0 && server->guests[i].asked)
            guest_refuse(&server->guests[i]);
}

static void guest_become_control(struct iperf3_server *server, struct iperf3_guest *guest)
{
    struct iperf3_test *test = &server->test;
    test->control = guest->socket;
    test->server = true;
    memcpy(test->cookie, guest->in, sizeof test->cookie);
    test->bytes = test->start_us = test->end_us = 0;
    (void)weir_socket_peer(weir_of(server), guest->socket, &server->client);
    (void)weir_socket_set(weir_of(server), guest->socket, WEIR_OPTION_NO_DELAY, 1);
    (void)loop_watch(test->loop, guest->socket, &test->control_watch);
    guest_leave(guest);
    parameters_take(server, guest->in + IPERF3_COOKIE + 4, guest->length - IPERF3_COOKIE - 4);
    if (test->control != 0)
        control_event(&test->control_watch, test->control, WEIR_READABLE);
}

static void guest_become_stream(struct iperf3_server *server, struct iperf3_guest *guest)
{
    struct iperf3_test *test = &server->test;
    struct iperf3_stream *stream = iperf3_stream_new(test, guest->socket);
    if (stream == NULL)
        return;  // stays a guest until its time is up
    (void)loop_watch(test->loop, guest->socket, &stream->watch);
    guest_leave(guest);
    iperf3_stream_tune(test, stream->socket);
    stream_join(server, stream);
}

// Measures what the running test moves.
static void running_measure(struct iperf3_server *server, uint64_t now_us)
{
    const uint64_t span_us = now_us - server->mark_us, bytes = server->test.bytes;
    if (server->phase != IPERF3_RUNNING || span_us < CLIENTS_PERIOD_US)
        return;
    const uint64_t before = bytes < server->mark_bytes ? 0 : server->mark_bytes;  // counting began anew
    server->slow = (bytes - before) * 1000000u / span_us < CLIENTS_RATE_MIN;
    server->mark_us = now_us;
    server->mark_bytes = bytes;
}

// Whether the test ends for somebody who waits: there is none, it does not go on, or hardly moves anything.
static bool test_gives_way(const struct iperf3_server *server)
{
    if (server->phase == IPERF3_RUNNING)
        return server->slow;
    return server->phase == IPERF3_IDLE || weir_now_us(weir_of(server)) - server->since_us >= IPERF3_PATIENCE_US;
}

// Reads until it has so many bytes. Whether they are there; at its end it has left.
static bool guest_read(struct iperf3_guest *guest, uint32_t want)
{
    while (guest->length < want) {
        const int got =
            weir_socket_read(weir_of(guest->server), guest->socket, guest->in + guest->length, want - guest->length);
        if (got <= 0) {
            if (got != WEIR_AGAIN)
                guest_end(guest);
            return false;
        }
        guest->length += (uint32_t)got;
        client_moved(&guest->client, (uint64_t)got, weir_now_us(weir_of(guest->server)));
    }
    return true;
}

static uint32_t guests_waiting(const struct iperf3_server *server)
{
    uint32_t waiting = 0;
    for (uint32_t i = 0; i < IPERF3_GUESTS; i++)
        waiting += server->guests[i].socket != 0 && server->guests[i].waiting;
    return waiting;
}

// Its cookie is here, and it is not one of the test's streams: it may say what it wants, and has its turn when it has.
static void guest_ask(struct iperf3_guest *guest)
{
    struct iperf3_server *server = guest->server;
    const uint8_t ask = IPERF3_PARAM_EXCHANGE;
    if (!guest->asked) {
        guest->asked = true;
        client_enter(&guest->client, CLIENT_SERVED, weir_now_us(weir_of(server)));
        (void)weir_socket_write(weir_of(server), guest->socket, &ask, 1);
    }
    if (!guest_read(guest, IPERF3_COOKIE + 4))
        return;
    const uint32_t length = iperf3_length(guest->in + IPERF3_COOKIE);
    if (length > IPERF3_PARAMETERS_MAX) {
        server->count.failed++;
        guest_end(guest);
    } else if (guest_read(guest, IPERF3_COOKIE + 4 + length)) {
        if (guests_waiting(server) >= IPERF3_QUEUE)
            guest_refuse(guest);
        else
            guest->waiting = true;
    }
}

static void guest_run(struct iperf3_guest *guest)
{
    struct iperf3_server *server = guest->server;
    if (guest->waiting || !guest_read(guest, IPERF3_COOKIE))
        return;
    running_measure(server, weir_now_us(weir_of(server)));
    const bool opening = server->phase == IPERF3_STREAMS_OPENING && !server->test.parameters.udp;
    if (!guest->asked && opening && memcmp(guest->in, server->test.cookie, IPERF3_COOKIE) == 0)
        guest_become_stream(server, guest);
    else if (server->phase == IPERF3_RUNNING && !server->slow)
        guest_refuse(guest);
    else
        guest_ask(guest);
}

// Who waits for longest becomes the next test, when there is none or it gives way. Returns when to look again.
static uint64_t guests_poll(struct iperf3_server *server, uint64_t now_us)
{
    struct iperf3_guest *first = NULL;
    for (uint32_t i = 0; i < IPERF3_GUESTS; i++) {
        struct iperf3_guest *guest = &server->guests[i];
        if (guest->socket == 0 || !guest->waiting)
            continue;
        client_enter(&guest->client, CLIENT_SERVED, now_us);  // it waits for us, not we for it
        if (first == NULL || guest->due_us < first->due_us)
            first = guest;
    }
    if (first == NULL)
        return WEIR_NEVER;
    if (!test_gives_way(server))
        return now_us + CLIENTS_ASK_US;
    if (server->phase != IPERF3_IDLE) {
        server->count.made_room++;
        test_finish(server, "somebody else waited, and it did not go on");
    }
    guest_become_control(server, first);
    return now_us;
}

static void listener_accept(struct iperf3_server *server)
{
    weir_socket socket;
    struct client *place;
    while ((place = clients_accept(&server->clients, server->test.loop, server->listening, &socket)) != NULL) {
        struct iperf3_guest *guest =
            (struct iperf3_guest *)(void *)((char *)place - offsetof(struct iperf3_guest, client));
        if (guest->socket != 0)
            guest_end(guest);
        guest->socket = socket;
        guest->length = 0;
        guest->asked = guest->waiting = false;
        guest->due_us = weir_now_us(weir_of(server)) + IPERF3_GUEST_US;
        (void)loop_watch(server->test.loop, socket, &guest->watch);
        clients_enter(&server->clients, place, CLIENT_ASKING, weir_now_us(weir_of(server)));
        guest_run(guest);
    }
}

static void guest_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct iperf3_guest *guest = (struct iperf3_guest *)watch;
    if (guest->socket != socket)
        return;
    if (guest->waiting && (events & (WEIR_ERROR | WEIR_HANGUP | WEIR_READ_CLOSED)))
        guest_end(guest);
    else
        guest_run(guest);
}

static void listener_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    (void)socket, (void)events;
    listener_accept(OWNER(watch, listener));
}

// --- time ------------------------------------------------------------------------------------------------------------

static uint64_t min_u64(uint64_t a, uint64_t b) { return a < b ? a : b; }

static uint64_t streams_poll(struct iperf3_server *server, uint64_t now_us)
{
    struct iperf3_test *test = &server->test;
    uint64_t due_us = WEIR_NEVER;
    if (!test->running)
        return WEIR_NEVER;
    if (test->omitting) {
        uint64_t omitted_us = test->start_us + (uint64_t)test->parameters.omit_s * 1000000u;
        if (now_us >= omitted_us) {
            test->omitting = false;
            iperf3_test_begin(test, now_us);
        } else {
            due_us = omitted_us;
        }
    }
    return min_u64(due_us, iperf3_test_send(test, now_us));
}

static uint64_t server_poll(struct app *app, uint64_t now_us)
{
    struct iperf3_server *server = (struct iperf3_server *)app;
    if (server->phase != IPERF3_IDLE && now_us >= server->due_us)
        test_finish(server, "it took too long");
    running_measure(server, now_us);
    uint64_t due_us = guests_poll(server, now_us);
    due_us = min_u64(due_us, server->phase == IPERF3_IDLE ? WEIR_NEVER : server->due_us);
    due_us = min_u64(due_us, streams_poll(server, now_us));
    for (uint32_t i = 0; i < IPERF3_GUESTS; i++) {
        struct iperf3_guest *guest = &server->guests[i];
        if (guest->socket != 0 && now_us >= guest->due_us)
            guest_end(guest);
        if (guest->socket != 0)
            due_us = min_u64(due_us, guest->due_us);
    }
    listener_accept(server);
    return min_u64(due_us, server->clients.look_us);
}

int iperf3_server_start(struct iperf3_server *server, struct loop *loop, uint16_t port,
                        void (*log)(void *, const char *), void *context)
{
    memset(server, 0, sizeof *server);
    server->app.poll = server_poll;
    server->listener.event = listener_event;
    server->datagrams.event = datagrams_event;
    server->test.control_watch.event = control_event;
    server->test.loop = loop;
    server->port = port;
    server->log = log;
    server->context = context;
    for (uint32_t i = 0; i < IPERF3_STREAMS; i++)
        server->test.streams[i].watch.event = stream_event;
    for (uint32_t i = 0; i < IPERF3_GUESTS; i++) {
        server->guests[i].watch.event = guest_event;
        server->guests[i].server = server;
    }
    clients_init(&server->clients, &server->guests[0].client, IPERF3_GUESTS, sizeof server->guests[0]);
    server->udp = service_bind(loop, port, &server->datagrams);
    if (server->udp < 0)
        server->udp = 0;
    server->listening = service_listen(loop, port, &server->listener);
    if (server->listening < 0) {
        service_close(loop, &server->udp);
        return server->listening;
    }
    loop_add(loop, &server->app);
    return WEIR_OK;
}

void iperf3_server_stop(struct iperf3_server *server)
{
    loop_remove(server->test.loop, &server->app);
    if (server->phase != IPERF3_IDLE) {
        (void)iperf3_control_state(&server->test, IPERF3_SERVER_TERMINATE);
        test_finish(server, "the server stopped");
    }
    for (uint32_t i = 0; i < IPERF3_GUESTS; i++)
        service_close(server->test.loop, &server->guests[i].socket);
    clients_stop(&server->clients, server->test.loop);
    service_close(server->test.loop, &server->listening);
    service_close(server->test.loop, &server->udp);
}
