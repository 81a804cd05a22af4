// SPDX-License-Identifier: BSD-2-Clause
// The compact stack serves a client on the full one, over a link that loses, repeats, delays and damages frames, in
// virtual time: what is read is what was written, every connection ends, and nothing is left behind.
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "compact/serving.h"

#define CLIENT weir_ip4(10, 0, 0, 1)
#define SERVER weir_ip4(10, 0, 0, 2)
#define FLYING 256u
#define STEP_US 500u

struct weather {
    uint32_t lose, repeat, delay, damage, full;  // of 1000 frames
};

struct flight {
    uint64_t due_us;
    bool to_client;
    uint32_t length;
    uint8_t bytes[1600];
};

struct meeting {
    struct fixture f;
    struct serving *serving;
    struct weather weather;
    uint64_t random;
    struct flight *flying;
    uint32_t count, largest_to_client, frames_to_client;
    uint64_t limit_us;
};

static uint32_t dice(struct meeting *m, uint32_t sides)
{
    m->random = m->random * 6364136223846793005u + 1442695040888963407u;
    return (uint32_t)(m->random >> 33) % sides;
}

static void launch(struct meeting *m, bool to_client, const uint8_t *bytes, uint32_t length)
{
    if (dice(m, 1000) < m->weather.lose)
        return;
    for (uint32_t copies = dice(m, 1000) < m->weather.repeat ? 2 : 1; copies && m->count < FLYING; copies--) {
        struct flight *flight = &m->flying[m->count++];
        *flight =
            (struct flight){.due_us = m->f.now_us + 1000 + (dice(m, 1000) < m->weather.delay ? dice(m, 20000) : 0),
                            .to_client = to_client,
                            .length = length};
        assert_in_range(length, 1, sizeof flight->bytes);
        memcpy(flight->bytes, bytes, length);
        if (dice(m, 1000) < m->weather.damage)
            flight->bytes[14 + dice(m, length - 14)] ^= (uint8_t)(1u << dice(m, 8));
    }
}

static bool from_server(void *context, const uint8_t *frame, uint32_t length)
{
    struct meeting *m = context;
    if (dice(m, 1000) < m->weather.full)
        return false;
    m->frames_to_client++;
    m->largest_to_client = length > m->largest_to_client ? length : m->largest_to_client;
    launch(m, true, frame, length);
    return true;
}

// Half a millisecond passes.
static void step(struct meeting *m)
{
    fixture_poll(&m->f, STEP_US);
    for (uint32_t i = 0; i < fixture_sent_count(&m->f); i++) {
        uint32_t length;
        const uint8_t *bytes = fixture_sent(&m->f, i, &length);
        launch(m, false, bytes, length);
    }
    fixture_clear(&m->f);
    for (uint32_t i = 0; i < m->count;) {
        if (m->flying[i].due_us > m->f.now_us) {
            i++;
            continue;
        }
        uint8_t *exact = malloc(m->flying[i].length);  // so that reading beyond it is found
        memcpy(exact, m->flying[i].bytes, m->flying[i].length);
        if (m->flying[i].to_client)
            fixture_input(&m->f, exact, m->flying[i].length);
        else
            serving_input(m->serving, exact, m->flying[i].length);
        free(exact);
        memmove(&m->flying[i], &m->flying[i + 1], (--m->count - i) * sizeof m->flying[0]);
    }
    serving_tx_ready(m->serving);
    serving_turn(m->serving, m->f.now_us);
    assert_true(m->f.now_us < m->limit_us);  // it ends
}

static void meeting_open(struct meeting *m, enum serving_mode mode, struct weather weather, uint64_t seed)
{
    memset(m, 0, sizeof *m);
    fixture_open(&m->f, &weir_link_ethernet, CLIENT, 24, 0);
    fixture_know_peer(&m->f, SERVER);
    m->weather = weather;
    m->random = seed * 0x9e3779b97f4a7c15u + 1;
    m->flying = calloc(FLYING, sizeof *m->flying);
    m->serving = serving_open(FIXTURE_PEER_MAC, weir_addr_to_v4(SERVER), mode, from_server, m, m->f.now_us);
    m->limit_us = m->f.now_us + 4000000000u;
}

static void meeting_close(struct meeting *m)
{
    serving_close(m->serving);
    fixture_close(&m->f);
    free(m->flying);
}

static weir_socket client_connect(struct meeting *m)
{
    const weir_socket client = weir_socket_open(m->f.weir, WEIR_STREAM, 0);
    assert_true(client > 0);
    assert_int_equal(weir_socket_connect(m->f.weir, client, &(struct weir_endpoint){SERVER, SERVING_PORT}),
                     WEIR_IN_PROGRESS);
    while (!(weir_socket_ready(m->f.weir, client) & (WEIR_WRITABLE | WEIR_ERROR)))
        step(m);
    return client;
}

static void until_idle(struct meeting *m)
{
    while (!serving_idle(m->serving))
        step(m);
}

// Writes `total` bytes, reads them back, closes its half, reads to the end.
static void client_echo(struct meeting *m, weir_socket client, uint32_t total)
{
    uint32_t written = 0, read = 0;
    bool shut = false;
    uint8_t bytes[1000];
    for (;;) {
        const uint32_t length = total - written < sizeof bytes ? total - written : (uint32_t)sizeof bytes;
        for (uint32_t i = 0; i < length; i++)
            bytes[i] = serving_pattern(written + i);
        const int sent = length ? weir_socket_write(m->f.weir, client, bytes, length) : 0;
        assert_true(sent >= 0 || sent == WEIR_AGAIN);
        written += sent > 0 ? (uint32_t)sent : 0;
        if (written == total && !shut) {
            assert_int_equal(weir_socket_shutdown(m->f.weir, client, WEIR_SHUT_WRITE), WEIR_OK);
            shut = true;
        }
        const int got = weir_socket_read(m->f.weir, client, bytes, sizeof bytes);
        for (int i = 0; i < got; i++)
            assert_int_equal(bytes[i], serving_pattern(read + (uint32_t)i));
        if (got == 0)
            break;
        assert_true(got > 0 || got == WEIR_AGAIN);
        read += got > 0 ? (uint32_t)got : 0;
        if (got == WEIR_AGAIN)
            step(m);
    }
    assert_int_equal(read, total);
    assert_int_equal(weir_socket_close(m->f.weir, client), WEIR_OK);
}

static void client_read_all(struct meeting *m, weir_socket client)
{
    uint32_t read = 0;
    uint8_t bytes[1000];
    int got;
    while ((got = weir_socket_read(m->f.weir, client, bytes, sizeof bytes)) != 0) {
        assert_true(got > 0 || got == WEIR_AGAIN);
        for (int i = 0; i < got; i++)
            assert_int_equal(bytes[i], serving_pattern(read + (uint32_t)i));
        read += got > 0 ? (uint32_t)got : 0;
        if (got == WEIR_AGAIN)
            step(m);
    }
    assert_int_equal(read, SERVING_SOURCE_BYTES);
    assert_int_equal(weir_socket_close(m->f.weir, client), WEIR_OK);
}

static const struct weather weathers[] = {
    {0, 0, 0, 0, 0},   {50, 0, 0, 0, 0},        {0, 100, 200, 0, 0}, {0, 0, 0, 50, 0},
    {0, 0, 0, 0, 300}, {100, 50, 100, 20, 200}, {150, 0, 0, 0, 0},
};
#define WEATHERS (sizeof weathers / sizeof weathers[0])
#ifndef SEEDS
#define SEEDS 2u
#endif

static void echoes_in_any_weather(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WEATHERS * SEEDS; i++) {
        struct meeting m;
        meeting_open(&m, SERVING_ECHO, weathers[i % WEATHERS], i + 1);
        for (uint32_t connection = 0; connection < 4; connection++)
            client_echo(&m, client_connect(&m), 1 + dice(&m, 6000));
        until_idle(&m);
        assert_in_range(serving_done(m.serving), 1, 4);
        assert_in_range(m.largest_to_client, 54 + 200, 14 + 20 + 20 + 536);
        meeting_close(&m);
    }
}

static void sends_and_closes_first_in_any_weather(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WEATHERS * SEEDS; i++) {
        struct meeting m;
        meeting_open(&m, SERVING_SOURCE, weathers[i % WEATHERS], i + 1);
        client_read_all(&m, client_connect(&m));
        client_read_all(&m, client_connect(&m));
        until_idle(&m);
        meeting_close(&m);
    }
}

// A server that does not read closes its window; the client probes; nothing is lost when it goes on.
static void a_slow_reader_is_waited_for(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WEATHERS; i++) {
        struct meeting m;
        uint8_t bytes[2000];
        memset(bytes, 0, sizeof bytes);
        meeting_open(&m, SERVING_SLOW, weathers[i], i + 1);
        const weir_socket client = client_connect(&m);
        for (uint32_t at = 0; at < sizeof bytes; at++)
            bytes[at] = serving_pattern(at);
        uint32_t written = 0;
        for (uint64_t end = m.f.now_us + 20000000; m.f.now_us < end; step(&m)) {
            const int sent = weir_socket_write(m.f.weir, client, bytes + written, (uint32_t)sizeof bytes - written);
            written += sent > 0 ? (uint32_t)sent : 0;
        }
        serving_read_on(m.serving, true);
        assert_int_equal(written, sizeof bytes);
        uint32_t read = 0;
        while (read < sizeof bytes) {
            uint8_t got[500];
            const int length = weir_socket_read(m.f.weir, client, got, sizeof got);
            for (int at = 0; at < length; at++)
                assert_int_equal(got[at], serving_pattern(read + (uint32_t)at));
            read += length > 0 ? (uint32_t)length : 0;
            step(&m);
        }
        assert_int_equal(weir_socket_close(m.f.weir, client), WEIR_OK);
        until_idle(&m);
        meeting_close(&m);
    }
}

// The client goes away in the middle: the server's data meets a reset, or nobody at all.
static void a_vanished_client_is_given_up(void **state)
{
    (void)state;
    for (uint32_t silent = 0; silent < 2; silent++) {
        struct meeting m;
        meeting_open(&m, SERVING_SOURCE, (struct weather){0}, silent + 1);
        const weir_socket client = client_connect(&m);
        while (serving_idle(m.serving))
            step(&m);
        if (silent)
            m.weather.lose = 1000;
        assert_int_equal(weir_socket_abort(m.f.weir, client), WEIR_OK);
        const uint64_t start = m.f.now_us;
        until_idle(&m);
        if (silent)
            assert_in_range(m.f.now_us - start, 100000000, 200000000);  // RFC 9293 §3.8.3: at least 100 s
        else
            assert_in_range(m.f.now_us - start, 0, 5000000);
        m.weather.lose = 0;
        client_read_all(&m, client_connect(&m));  // it serves on
        until_idle(&m);
        meeting_close(&m);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(echoes_in_any_weather),
        cmocka_unit_test(sends_and_closes_first_in_any_weather),
        cmocka_unit_test(a_slow_reader_is_waited_for),
        cmocka_unit_test(a_vanished_client_is_given_up),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
