// SPDX-License-Identifier: BSD-2-Clause
// not on mips: Mbed TLS is built for this machine
// Sessions over descriptors, in real time and with threads: two hosts on a cable, a server's thread on one of them.
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "api/tls/weir_tls.h"
#include "tls/certificates.h"
#include "world.h"

#define PORT 443
#define BULK 600000u

static int64_t year_2027(void *context) { return (void)context, 1800000000; }
static const struct weir_tls_system clocked = {.unix_time = year_2027};

struct ends {
    struct world a, b;
    struct weir_tls *tls;
    struct weir_tls_credentials *own, *trusted;
    struct weir_tls_config *server, *client;
    int fd, peer;  // of the client, of the server
    struct weir_tls_session *session, *other;
    pthread_t thread;
};

static void ends_open(struct ends *e, uint32_t handshake_ms)
{
    const struct weir_tls_session_options named = {.name = "weir.example"};
    int error = 0;
    worlds_open(&e->a, &e->b, true);
    e->tls = weir_tls_create(&weir_tls_mbedtls, &e->a.host.port, &clocked, &error);
    assert_non_null(e->tls);
    e->own = weir_tls_credentials_create(e->tls, &error);
    assert_int_equal(
        weir_tls_credentials_own(e->own, server_certificate, sizeof server_certificate, server_key, sizeof server_key),
        0);
    e->trusted = weir_tls_credentials_create(e->tls, &error);
    assert_int_equal(weir_tls_credentials_trust(e->trusted, ca_certificate, sizeof ca_certificate), 0);
    const struct weir_tls_options server = {
        .role = WEIR_TLS_SERVER, .credentials = e->own, .handshake_timeout_ms = handshake_ms};
    const struct weir_tls_options client = {.credentials = e->trusted, .handshake_timeout_ms = handshake_ms};
    e->server = weir_tls_config_create(e->tls, &server, &error);
    e->client = weir_tls_config_create(e->tls, &client, &error);
    assert_non_null(e->server);
    assert_non_null(e->client);
    world_streams(&e->a, &e->b, WORLD_B, PORT, &e->fd, &e->peer);
    const int many = 5000;  // a session does not wait for so many (a_session_sets_its_descriptor)
    assert_int_equal(bsd_setsockopt(e->a.bsd, e->fd, WEIR_SOL_SOCKET, WEIR_SO_RCVLOWAT, &many, sizeof many), 0);
    assert_int_equal(bsd_setsockopt(e->b.bsd, e->peer, WEIR_SOL_SOCKET, WEIR_SO_RCVLOWAT, &many, sizeof many), 0);
    e->session = weir_tls_open_fd(e->client, e->a.bsd, e->fd, &named, &error);
    e->other = weir_tls_open_fd(e->server, e->b.bsd, e->peer, NULL, &error);
    assert_non_null(e->session);
    assert_non_null(e->other);
}

static void ends_close(struct ends *e)
{
    weir_tls_close(e->session);
    weir_tls_close(e->other);
    weir_tls_config_release(e->server);
    weir_tls_config_release(e->client);
    weir_tls_credentials_release(e->own);
    weir_tls_credentials_release(e->trusted);
    assert_int_equal(weir_tls_sessions(e->tls), 0);
    weir_tls_destroy(e->tls);
    assert_int_equal(weir_tls_memory(NULL), 0);
    worlds_close(&e->a, &e->b);
}

// Sends back what comes until the other side ends; then ends, too.
static void *echo(void *context)
{
    struct weir_tls_session *const session = context;
    uint8_t data[3000];
    int got;
    while ((got = weir_tls_read(session, data, sizeof data)) > 0)
        if (weir_tls_write(session, data, (uint32_t)got) != got)
            return NULL;
    return got == 0 && weir_tls_shutdown(session) == WEIR_OK ? session : NULL;
}

static void *sender(void *context)
{
    uint8_t data[5000];
    for (uint32_t sent = 0; sent < BULK; sent += sizeof data) {
        for (uint32_t i = 0; i < sizeof data; i++)
            data[i] = (uint8_t)((sent + i) % 251);
        if (weir_tls_write(context, data, sizeof data) != sizeof data)
            return NULL;
    }
    return weir_tls_shutdown(context) == WEIR_OK ? context : NULL;
}

static void *send_one(void *context)
{
    return weir_tls_write(context, "x", 1) == 1 && weir_tls_shutdown(context) == WEIR_OK ? context : NULL;
}

// One thread writes, another reads the same session; more is under way than all queues hold.
static void a_session_is_read_and_written_at_once(void **state)
{
    struct ends e;
    pthread_t writer;
    uint8_t data[4000];
    uint32_t got = 0;
    int part;
    void *result;
    (void)state;
    ends_open(&e, 0);
    assert_int_equal(pthread_create(&e.thread, NULL, echo, e.other), 0);
    assert_int_equal(pthread_create(&writer, NULL, sender, e.session), 0);
    while ((part = weir_tls_read(e.session, data, sizeof data)) > 0) {
        for (int i = 0; i < part; i++)
            assert_int_equal(data[i], (got + (uint32_t)i) % 251);
        got += (uint32_t)part;
    }
    assert_int_equal(part, 0);
    assert_int_equal(got, BULK);
    pthread_join(writer, &result);
    assert_non_null(result);
    pthread_join(e.thread, &result);
    assert_non_null(result);
    ends_close(&e);
}

// Both of a session's tasks want its handshake, which gets on by whichever is there first; then neither waits for what
// the other has taken.
static void a_handshake_serves_all_who_wait_for_it(void **state)
{
    (void)state;
    for (int round = 0; round < 25; round++) {
        struct ends e;
        pthread_t writer;
        uint8_t byte;
        void *result;
        ends_open(&e, 0);
        assert_int_equal(pthread_create(&e.thread, NULL, echo, e.other), 0);
        assert_int_equal(pthread_create(&writer, NULL, send_one, e.session), 0);
        assert_int_equal(weir_tls_read(e.session, &byte, 1), 1);
        assert_int_equal(weir_tls_read(e.session, &byte, 1), 0);
        pthread_join(writer, &result);
        assert_non_null(result);
        pthread_join(e.thread, &result);
        assert_non_null(result);
        ends_close(&e);
    }
}

static void timeouts_are_the_descriptor_s(void **state)
{
    struct ends e;
    uint8_t byte;
    const struct weir_timeval brief = {0, 50000};
    (void)state;
    ends_open(&e, 0);
    assert_int_equal(bsd_setsockopt(e.a.bsd, e.fd, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &brief, sizeof brief), 0);
    const uint64_t begun_us = posix_now_us();
    assert_int_equal(weir_tls_read(e.session, &byte, 1), WEIR_AGAIN);  // the server says nothing
    assert_true(posix_now_us() - begun_us >= 50000);
    assert_int_equal(pthread_create(&e.thread, NULL, echo, e.other), 0);
    int sent = WEIR_AGAIN, got = WEIR_AGAIN;  // the server's part of the handshake may take longer
    for (int i = 0; i < 1000 && sent == WEIR_AGAIN; i++)
        sent = weir_tls_write(e.session, "x", 1);
    assert_int_equal(sent, 1);
    for (int i = 0; i < 1000 && got == WEIR_AGAIN; i++)
        got = weir_tls_read(e.session, &byte, 1);
    assert_int_equal(got, 1);
    assert_int_equal(weir_tls_read(e.session, &byte, 1), WEIR_AGAIN);
    assert_int_equal(weir_tls_shutdown(e.session), WEIR_OK);
    pthread_join(e.thread, NULL);
    ends_close(&e);
}

static void a_non_blocking_descriptor_does_not_wait(void **state)
{
    struct ends e;
    uint8_t byte;
    int client = WEIR_AGAIN, server = WEIR_AGAIN;
    (void)state;
    ends_open(&e, 0);
    assert_int_equal(bsd_fcntl(e.a.bsd, e.fd, WEIR_F_SETFL, WEIR_O_NONBLOCK), 0);
    assert_int_equal(bsd_fcntl(e.b.bsd, e.peer, WEIR_F_SETFL, WEIR_O_NONBLOCK), 0);
    assert_int_equal(weir_tls_read(e.session, &byte, 1), WEIR_AGAIN);
    while (client == WEIR_AGAIN || server == WEIR_AGAIN) {
        struct weir_pollfd wait = {e.fd, WEIR_POLLIN, 0};
        client = weir_tls_handshake(e.session);
        server = weir_tls_handshake(e.other);
        (void)bsd_poll(e.a.bsd, &wait, 1, 1);
    }
    assert_int_equal(client, WEIR_OK);
    assert_int_equal(server, WEIR_OK);
    assert_int_equal(weir_tls_read(e.session, &byte, 1), WEIR_AGAIN);
    ends_close(&e);
}

static void a_handshake_has_its_time(void **state)
{
    struct ends e;
    (void)state;
    ends_open(&e, 100);
    const uint64_t begun_us = posix_now_us();
    assert_int_equal(weir_tls_handshake(e.other), WEIR_TIMED_OUT);
    assert_in_range(posix_now_us() - begun_us, 50000, 20000000);
    ends_close(&e);
}

static void *closer(void *context)
{
    struct ends *const e = context;
    const struct weir_timeval pause = {0, 100000};
    (void)bsd_select(e->a.bsd, 0, NULL, NULL, NULL, &(struct weir_timeval){pause.tv_sec, pause.tv_usec});
    return bsd_close(e->a.bsd, e->fd) == 0 ? e : NULL;
}

// Somebody closes the descriptor under a session that waits.
static void a_descriptor_closed_elsewhere_ends_the_wait(void **state)
{
    struct ends e;
    uint8_t byte;
    pthread_t thread;
    (void)state;
    ends_open(&e, 0);
    assert_int_equal(pthread_create(&thread, NULL, closer, &e), 0);
    const int status = weir_tls_read(e.session, &byte, 1);
    assert_true(status == WEIR_CLOSED || status == WEIR_BAD_SOCKET);
    pthread_join(thread, NULL);
    assert_true(weir_tls_read(e.session, &byte, 1) < 0);
    ends_close(&e);
}

// A record is a whole thing, an urgent byte a part of it, and of a handshake every byte is to be seen: on both
// descriptors.
static void a_session_sets_its_descriptor(void **state)
{
    struct ends e;
    (void)state;
    ends_open(&e, 0);
    for (int server = 0; server < 2; server++) {
        struct weir_bsd *const bsd = server ? e.b.bsd : e.a.bsd;
        const int fd = server ? e.peer : e.fd;
        int no_delay = 0, in_line = 0, low_water = 0;
        weir_socklen length = sizeof no_delay;
        assert_int_equal(bsd_getsockopt(bsd, fd, WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, &no_delay, &length), 0);
        assert_int_equal(no_delay, 1);
        assert_int_equal(bsd_getsockopt(bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_OOBINLINE, &in_line, &length), 0);
        assert_int_equal(in_line, 1);
        assert_int_equal(bsd_getsockopt(bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_RCVLOWAT, &low_water, &length), 0);
        assert_int_equal(low_water, 1);
    }
    ends_close(&e);
}

static void no_session_over_no_stream(void **state)
{
    struct ends e;
    int error = 0;
    const struct weir_tls_session_options locked = {.name = "weir.example", .locked = 1};
    (void)state;
    ends_open(&e, 0);
    assert_null(weir_tls_open_fd(e.client, e.a.bsd, 4711, NULL, &error));
    assert_int_equal(error, WEIR_BAD_SOCKET);
    assert_null(weir_tls_open_fd(e.client, e.a.bsd, e.fd, &locked, &error));
    assert_int_equal(error, WEIR_INVALID);
    ends_close(&e);
}

// Both ends without blocking, with the handshake behind them.
static void ends_open_shaken(struct ends *e)
{
    int client = WEIR_AGAIN, server = WEIR_AGAIN;
    ends_open(e, 0);
    assert_int_equal(bsd_fcntl(e->a.bsd, e->fd, WEIR_F_SETFL, WEIR_O_NONBLOCK), 0);
    assert_int_equal(bsd_fcntl(e->b.bsd, e->peer, WEIR_F_SETFL, WEIR_O_NONBLOCK), 0);
    while (client == WEIR_AGAIN || server == WEIR_AGAIN) {
        struct weir_pollfd wait = {e->fd, WEIR_POLLIN, 0};
        client = weir_tls_handshake(e->session);
        server = weir_tls_handshake(e->other);
        (void)bsd_poll(e->a.bsd, &wait, 1, 1);
    }
    assert_int_equal(client, WEIR_OK);
    assert_int_equal(server, WEIR_OK);
}

// Waits until the client's session is ready for one of these. Whether it was within ten seconds.
static bool ready_within(struct ends *e, int bits)
{
    const uint64_t end_us = posix_now_us() + 10000000;
    while (!(weir_tls_ready(e->session) & bits) && posix_now_us() < end_us)
        (void)posix_sleep(1000);
    return weir_tls_ready(e->session) & bits;
}

static void a_session_over_a_descriptor_tells_what_it_is_ready_for(void **state)
{
    struct ends e;
    uint8_t bytes[8];
    (void)state;
    ends_open_shaken(&e);
    assert_true(ready_within(&e, WEIR_WRITABLE));
    assert_int_equal(weir_tls_ready(e.session) & WEIR_READABLE, 0);
    assert_int_equal(weir_tls_write(e.other, "hello", 5), 5);
    assert_true(ready_within(&e, WEIR_READABLE));
    assert_int_equal(weir_tls_read(e.session, bytes, sizeof bytes), 5);
    assert_memory_equal(bytes, "hello", 5);
    weir_tls_abort(e.other);  // with a reset
    e.other = NULL;
    assert_true(ready_within(&e, WEIR_ERROR));
    assert_int_equal(weir_tls_read(e.session, bytes, sizeof bytes), WEIR_RESET);
    weir_tls_abort(NULL);
    ends_close(&e);
}

// What a session's end waits behind is taken by its peer, or not: the close waits for that as long as it may.
static void a_close_waits_behind_what_was_written(void **state)
{
    static uint8_t block[16384];
    struct ends e;
    (void)state;
    ends_open_shaken(&e);
    for (int tries = 0; tries < 20;) {  // until nothing more goes in
        const int wrote = weir_tls_write(e.session, block, sizeof block);
        tries = wrote > 0 ? 0 : tries + 1;
        if (wrote <= 0)
            (void)posix_sleep(5000);
    }
    const uint64_t before = posix_now_us();
    weir_tls_close(e.session);
    e.session = NULL;
    assert_true(posix_now_us() - before < 10000000);
    uint64_t came = 0;
    int got = WEIR_AGAIN;
    while (posix_now_us() - before < 20000000 && (got > 0 || got == WEIR_AGAIN)) {
        got = weir_tls_read(e.other, block, sizeof block);
        came += got > 0 ? (uint64_t)got : 0;
        if (got == WEIR_AGAIN)
            (void)posix_sleep(1000);
    }
    assert_true(came > 0);
    assert_true(got == 0 || got == WEIR_TLS_TRUNCATED || got == WEIR_RESET);  // it ends, if not with its last word
    ends_close(&e);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_session_is_read_and_written_at_once),
        cmocka_unit_test(a_handshake_serves_all_who_wait_for_it),
        cmocka_unit_test(timeouts_are_the_descriptor_s),
        cmocka_unit_test(a_non_blocking_descriptor_does_not_wait),
        cmocka_unit_test(a_handshake_has_its_time),
        cmocka_unit_test(a_descriptor_closed_elsewhere_ends_the_wait),
        cmocka_unit_test(a_session_sets_its_descriptor),
        cmocka_unit_test(no_session_over_no_stream),
        cmocka_unit_test(a_session_over_a_descriptor_tells_what_it_is_ready_for),
        cmocka_unit_test(a_close_waits_behind_what_was_written),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
