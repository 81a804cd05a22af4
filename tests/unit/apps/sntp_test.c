// SPDX-License-Identifier: BSD-2-Clause
#include "bench.h"

#include "sntp_servers.h"

#define NONCE 0x0123456789abcdefu
#define UNIX_S 1800000000u  // in 2027
#define NTP_S (UNIX_S + 2208988800u)

// A good answer: received at NTP_S, sent back half a millisecond later.
static void answer(uint8_t packet[SNTP_PACKET], const uint8_t *nonce)
{
    memset(packet, 0, SNTP_PACKET);
    packet[0] = 4 << 3 | 4;
    packet[1] = 2;
    memcpy(packet + 24, nonce, 8);
    put32(packet + 32, NTP_S);
    put32(packet + 40, NTP_S);
    put32(packet + 44, 0x00200000);  // 488 µs
}

static enum sntp_result judge(uint8_t packet[SNTP_PACKET], uint32_t at, uint8_t value)
{
    static const uint8_t nonce[8] = {0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef};
    struct sntp_time time;
    answer(packet, nonce);
    packet[at] = value;
    return sntp_parse(packet, SNTP_PACKET, NONCE, 1000000, 1010488, &time);
}

static void a_good_answer_gives_the_time(void **state)
{
    uint8_t packet[SNTP_PACKET];
    struct sntp_time time;
    (void)state;
    assert_int_equal(judge(packet, 47, 0), SNTP_OK);
    assert_int_equal(sntp_parse(packet, SNTP_PACKET, NONCE, 1000000, 1010488, &time), SNTP_OK);
    assert_int_equal(time.delay_us, 10000);
    assert_true(time.unix_us == UNIX_S * 1000000ull + 488 + 5000);
    assert_int_equal(time.stratum, 2);
    assert_int_equal(time.distance_us, 0);
    put32(packet + 4, 0x8000);  // half a second of root delay, a second of dispersion
    put32(packet + 8, 0x10000);
    assert_int_equal(sntp_parse(packet, SNTP_PACKET, NONCE, 1000000, 1010488, &time), SNTP_OK);
    assert_int_equal(time.distance_us, 1250000);
}

static void the_next_era_is_understood(void **state)
{
    uint8_t packet[SNTP_PACKET];
    struct sntp_time time;
    (void)state;
    assert_int_equal(judge(packet, 47, 0), SNTP_OK);
    put32(packet + 32, 100);  // 100 s into 2036's era
    put32(packet + 40, 100);
    assert_int_equal(sntp_parse(packet, SNTP_PACKET, NONCE, 1000000, 1010488, &time), SNTP_OK);
    assert_true(time.unix_us / 1000000 == 4294967296ull + 100 - 2208988800u);
}

static void bad_answers_are_told_apart(void **state)
{
    uint8_t packet[SNTP_PACKET];
    struct sntp_time time;
    (void)state;
    assert_int_equal(judge(packet, 0, 4 << 3 | 3), SNTP_IGNORED);          // a client's mode
    assert_int_equal(judge(packet, 24, 0xff), SNTP_IGNORED);               // another nonce
    assert_int_equal(judge(packet, 0, 7 << 3 | 4), SNTP_UNUSABLE);         // version 7
    assert_int_equal(judge(packet, 0, 0xc0 | 4 << 3 | 4), SNTP_UNUSABLE);  // clock not set
    assert_int_equal(judge(packet, 1, 16), SNTP_UNUSABLE);
    assert_int_equal(judge(packet, 5, 16), SNTP_UNUSABLE);  // root delay of 16 s
    assert_int_equal(judge(packet, 9, 16), SNTP_UNUSABLE);  // root dispersion of 16 s
    (void)judge(packet, 47, 0);
    memset(packet + 40, 0, 8);  // sent at no time
    assert_int_equal(sntp_parse(packet, SNTP_PACKET, NONCE, 1000000, 1010488, &time), SNTP_UNUSABLE);
    assert_int_equal(judge(packet, 43, 0xff), SNTP_UNUSABLE);  // sent a minute after it was received, within 10 ms
    assert_int_equal(judge(packet, 1, 0), SNTP_KISS_STOP);
    memcpy(packet + 12, "RATE", 4);
    assert_int_equal(sntp_parse(packet, SNTP_PACKET, NONCE, 1000000, 1010488, &time), SNTP_KISS_RATE);
    for (uint32_t length = 0; length < SNTP_PACKET; length++)
        assert_int_equal(sntp_parse(packet, length, NONCE, 1000000, 1010488, &time), SNTP_IGNORED);
    assert_int_equal(judge(packet, 47, 0), SNTP_OK);
    memset(packet + 24, 0, 8);
    // a nonce of zero is none
    assert_int_equal(sntp_parse(packet, SNTP_PACKET, 0, 1000000, 1010488, &time), SNTP_IGNORED);
}

// --- the client against a server on the same instance ----------------------------------------------------------------

struct service {
    struct weir_watch watch;
    struct weir *weir;
    int kind;  // 0 silent, 1 good, 2 forged nonce first, 3 DENY, 4 RATE, 5 not synchronised, 6 good, twice
    uint32_t asked;
    int64_t ahead_us;    // of the truth
    int64_t fast_ppm;    // our crystal
    uint64_t origin_us;  // when it was NTP_S; 0: it always is
    uint64_t last_us;    // when it was asked last
};

// What has passed in truth since the service's origin.
static int64_t passed_us(const struct service *service, uint64_t now_us)
{
    const int64_t counted_us = (int64_t)(now_us - service->origin_us);
    return counted_us - counted_us / 1000000 * service->fast_ppm;
}

static void serve(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct service *service = (struct service *)watch;
    struct weir_message message;
    struct weir_slice slice;
    uint8_t packet[SNTP_PACKET];
    (void)events;
    while (weir_socket_peek_message(service->weir, socket, &message, &slice) >= 0) {
        const struct weir_message reply = {.peer = message.peer, .local = message.local};
        const struct weir_slice out = {packet, SNTP_PACKET};
        service->asked++;
        assert_int_equal(slice.length, SNTP_PACKET);
        answer(packet, slice.data + 40);
        packet[44] = 0;
        packet[45] = 0;
        service->last_us = weir_now_us(service->weir);
        if (service->origin_us != 0) {  // the time goes on
            const uint64_t unix_us =
                (uint64_t)(passed_us(service, service->last_us) + service->ahead_us) + (uint64_t)UNIX_S * 1000000u;
            for (uint32_t at = 32; at <= 40; at += 8) {
                put32(packet + at, (uint32_t)(unix_us / 1000000u + (NTP_S - UNIX_S)));
                put32(packet + at + 4, (uint32_t)((unix_us % 1000000u << 32) / 1000000u) + 1);
            }
        }
        if (service->kind == 2) {
            packet[24] ^= 1;
            (void)weir_socket_send_message(service->weir, socket, &reply, &out, 1);
            packet[24] ^= 1;
        }
        if (service->kind == 3)
            packet[1] = 0, memcpy(packet + 12, "DENY", 4);
        if (service->kind == 4)
            packet[1] = 0, memcpy(packet + 12, "RATE", 4);
        if (service->kind == 5)
            packet[0] |= 0xc0;
        for (int i = 0; i < (service->kind == 0 ? 0 : service->kind == 6 ? 2 : 1); i++)
            (void)weir_socket_send_message(service->weir, socket, &reply, &out, 1);
        (void)weir_socket_discard(service->weir, socket);
    }
}

static int last_error;
static uint32_t calls;

static void done(struct sntp *sntp, int error, const struct sntp_time *time, void *context)
{
    (void)sntp, (void)time, (void)context;
    last_error = error;
    calls++;
}

static uint32_t run(int kind, bool once, uint64_t us, struct sntp *sntp)
{
    struct bench bench;
    struct service service = {.watch = {serve}, .kind = kind};
    const struct weir_endpoint local = {weir_addr_any(), SNTP_PORT};
    bench_open(&bench);
    service.weir = bench.f.weir;
    service.origin_us = bench.f.now_us;
    weir_socket socket = weir_socket_open(bench.f.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_bind(bench.f.weir, socket, &local), WEIR_OK);
    assert_int_equal(loop_watch(&bench.loop, socket, &service.watch), WEIR_OK);
    calls = 0;
    assert_int_equal(sntp_start(sntp, &bench.loop, weir_ip4(127, 0, 0, 1), once, done, NULL), WEIR_OK);
    bench_run(&bench, us);
    sntp_stop(sntp);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    bench_close(&bench);
    return service.asked;
}

static void the_client_measures_and_retries(void **state)
{
    struct sntp sntp;
    (void)state;
    assert_int_equal(run(1, true, 1000000, &sntp), 1);
    assert_int_equal(calls, 1);
    assert_int_equal(last_error, WEIR_OK);
    assert_true(sntp.time.unix_us / 1000000 == UNIX_S);
    assert_int_equal(run(2, true, 1000000, &sntp), 1);
    assert_int_equal(last_error, WEIR_OK);
    assert_int_equal(sntp.count.ignored, 1);
    assert_int_equal(run(6, true, 1000000, &sntp), 1);  // the same answer twice counts once
    assert_int_equal(calls, 1);
    assert_int_equal(last_error, WEIR_OK);
    assert_int_equal(run(0, true, 60000000, &sntp), SNTP_TRIES);
    assert_int_equal(last_error, WEIR_TIMED_OUT);
    assert_int_equal(run(1, false, 500000000, &sntp), 4);  // at 0, 64, 192 and 448 s, and up to 5 s later
    assert_int_equal(run(3, false, 500000000, &sntp), 1);  // told to stop, it stops
    assert_int_equal(last_error, WEIR_REFUSED);
}

static void servers_are_left_in_peace(void **state)
{
    struct sntp sntp;
    (void)state;
    assert_int_equal(run(4, false, 1000000000, &sntp), 3);  // twice as far apart and more each time, from 128 s on
    assert_int_equal(last_error, WEIR_REFUSED);
    assert_int_equal(calls, 3);
    assert_int_equal(sntp.count.kisses, 3);
    assert_int_equal(sntp.interval_min_s, 2048);  // for good
    assert_true(sntp.time.unix_us == 0);
    assert_int_equal(run(4, false, 20000000000, &sntp), 6);  // also beyond what is usual, up to NTP's rarest
    assert_int_equal(sntp.interval_min_s, 16384);
    assert_int_equal(run(5, true, 60000000, &sntp), SNTP_TRIES);
    assert_int_equal(last_error, WEIR_TIMED_OUT);
    assert_int_equal(sntp.count.unusable, SNTP_TRIES);
}

// Nobody has the port: that is told at once, and the next try is as far away as after any other end.
static void a_closed_port_is_told(void **state)
{
    struct bench bench;
    struct sntp sntp;
    (void)state;
    bench_open(&bench);
    calls = 0;
    const uint64_t begun_us = bench.f.now_us;
    assert_int_equal(sntp_start(&sntp, &bench.loop, weir_ip4(127, 0, 0, 1), false, done, NULL), WEIR_OK);
    for (int i = 0; i < 100 && calls == 0; i++)
        bench_run(&bench, 100000);
    assert_true(bench.f.now_us - begun_us <= SNTP_START_US + 200000);
    assert_int_equal(last_error, WEIR_REFUSED);
    bench_run(&bench, (SNTP_INTERVAL_MIN_S - 1) * 1000000u);
    assert_int_equal(calls, 1);
    bench_run(&bench, 2000000);
    assert_int_equal(calls, 2);
    sntp_stop(&sntp);
    bench_close(&bench);
}

// The time of day goes on with the instance's clock; before the first answer there is none.
static void the_time_goes_on(void **state)
{
    struct bench bench;
    struct service service = {.watch = {serve}, .kind = 1};
    const struct weir_endpoint local = {weir_addr_any(), SNTP_PORT};
    struct sntp sntp;
    (void)state;
    bench_open(&bench);
    service.weir = bench.f.weir;
    weir_socket socket = weir_socket_open(bench.f.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_bind(bench.f.weir, socket, &local), WEIR_OK);
    assert_int_equal(loop_watch(&bench.loop, socket, &service.watch), WEIR_OK);
    assert_int_equal(sntp_start(&sntp, &bench.loop, weir_ip4(127, 0, 0, 1), true, done, NULL), WEIR_OK);
    assert_true(sntp_unix_us(&sntp) == 0);
    bench_run(&bench, 1000000);
    const uint64_t then_us = sntp_unix_us(&sntp);
    assert_true(then_us / 1000000 - UNIX_S <= 1);
    bench_run(&bench, 3600000000u);
    assert_true(sntp_unix_us(&sntp) - then_us == 3600000000u);
    assert_int_equal(sntp_start(&sntp, &bench.loop, weir_ip4(224, 0, 1, 1), true, done, NULL), WEIR_INVALID);
    assert_int_equal(sntp_start(&sntp, &bench.loop, weir_addr_any(), true, done, NULL), WEIR_INVALID);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    bench_close(&bench);
}

static weir_socket serve_at(struct bench *bench, struct service *service, struct weir_addr address)
{
    const struct weir_endpoint local = {address, SNTP_PORT};
    const weir_socket socket = weir_socket_open(bench->f.weir, WEIR_DATAGRAM, 0);
    service->watch.event = serve;
    service->weir = bench->f.weir;
    service->origin_us = bench->f.now_us;
    assert_int_equal(weir_socket_bind(bench->f.weir, socket, &local), WEIR_OK);
    assert_int_equal(loop_watch(&bench->loop, socket, &service->watch), WEIR_OK);
    return socket;
}

// How far the time is from the truth, which goes on since the service's origin.
static int64_t off_us(const struct bench *bench, const struct service *service, uint64_t unix_us)
{
    return (int64_t)(unix_us - (uint64_t)UNIX_S * 1000000u) - passed_us(service, bench->f.now_us);
}

// What a server corrects a little is made up for little by little; the time of day never stands or goes back, and the
// instance's own clock, by which timers go, is not touched.
static void the_time_never_goes_back(void **state)
{
    struct bench bench;
    struct service service = {.kind = 1};
    struct sntp sntp;
    (void)state;
    bench_open(&bench);
    const weir_socket socket = serve_at(&bench, &service, weir_ip4(127, 0, 0, 1));
    assert_int_equal(sntp_start(&sntp, &bench.loop, weir_ip4(127, 0, 0, 1), false, done, NULL), WEIR_OK);
    bench_run(&bench, 10000000);
    assert_in_range(off_us(&bench, &service, sntp_unix_us(&sntp)) + 10, 0, 20);
    service.ahead_us = -100000;
    uint64_t before_us = sntp_unix_us(&sntp);
    for (int i = 0; i < 4000; i++) {
        bench_run(&bench, 100000);
        const uint64_t now_us = sntp_unix_us(&sntp);
        assert_in_range(now_us - before_us, 100000 - 51, 100000 + 51);
        before_us = now_us;
    }
    assert_in_range(off_us(&bench, &service, before_us) + 100000 + 10, 0, 20);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    sntp_stop(&sntp);
    bench_close(&bench);
}

// An ordinary crystal, whose rate nobody corrects, is measured before it is a step away, for as long as it runs.
static void a_fast_crystal_never_sets_the_time_back(void **state)
{
    static const int64_t ppm[] = {20, 50};
    (void)state;
    for (size_t i = 0; i < sizeof ppm / sizeof *ppm; i++) {
        struct bench bench;
        struct service service = {.kind = 1, .fast_ppm = ppm[i]};
        struct sntp sntp;
        bench_open(&bench);
        const weir_socket socket = serve_at(&bench, &service, weir_ip4(127, 0, 0, 1));
        assert_int_equal(sntp_start(&sntp, &bench.loop, weir_ip4(127, 0, 0, 1), false, done, NULL), WEIR_OK);
        bench_run(&bench, 10000000);
        uint64_t before_us = sntp_unix_us(&sntp);
        assert_true(before_us != 0);
        for (int turn = 0; turn < 48 * 360; turn++) {
            bench_run(&bench, 10000000);
            const uint64_t now_us = sntp_unix_us(&sntp);
            assert_in_range(now_us - before_us, 10000000 - 5001, 10000000 + 5001);
            assert_in_range(off_us(&bench, &service, now_us) + 1000, 0, 1000 + 55000);
            before_us = now_us;
        }
        assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
        sntp_stop(&sntp);
        bench_close(&bench);
    }
}

// An answer alone that is far off moves nothing; two that agree do.
static void a_step_is_measured_twice(void **state)
{
    struct bench bench;
    struct service service = {.kind = 1};
    struct sntp sntp;
    (void)state;
    bench_open(&bench);
    const weir_socket socket = serve_at(&bench, &service, weir_ip4(127, 0, 0, 1));
    assert_int_equal(sntp_start(&sntp, &bench.loop, weir_ip4(127, 0, 0, 1), false, done, NULL), WEIR_OK);
    bench_run(&bench, 100000000);
    assert_int_equal(service.asked, 2);
    service.ahead_us = 3600000000;
    for (int i = 0; i < 1000 && service.asked < 3; i++)
        bench_run(&bench, 1000000);
    assert_in_range(off_us(&bench, &service, sntp_unix_us(&sntp)) + 10, 0, 20);
    service.ahead_us = -3600000000;  // and another lie
    bench_run(&bench, (SNTP_INTERVAL_MIN_S + 1) * 1000000u);
    assert_int_equal(service.asked, 4);  // soon
    assert_in_range(off_us(&bench, &service, sntp_unix_us(&sntp)) + 10, 0, 20);
    bench_run(&bench, (SNTP_INTERVAL_MIN_S + 1) * 1000000u);
    assert_int_equal(service.asked, 5);
    assert_in_range(off_us(&bench, &service, sntp_unix_us(&sntp)) + 3600000000 + 10, 0, 20);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    sntp_stop(&sntp);
    bench_close(&bench);
}

// Devices that a power cut starts together do not ask together; who asks once asks now.
static void many_clients_begin_at_different_times(void **state)
{
    uint64_t least_us = UINT64_MAX, most_us = 0;
    (void)state;
    for (uint8_t i = 0; i < 40; i++) {
        struct bench bench;
        struct service service = {.kind = 1};
        struct sntp sntp;
        bench_open(&bench);
        weir_random_stir(bench.f.weir, &i, 1);
        const weir_socket socket = serve_at(&bench, &service, weir_ip4(127, 0, 0, 1));
        assert_int_equal(sntp_start(&sntp, &bench.loop, weir_ip4(127, 0, 0, 1), i == 0, done, NULL), WEIR_OK);
        bench_run(&bench, i == 0 ? 1000 : SNTP_START_US + 1000);
        assert_int_equal(service.asked, 1);
        const uint64_t waited_us = service.last_us - service.origin_us;
        least_us = i > 0 && waited_us < least_us ? waited_us : least_us;
        most_us = waited_us > most_us ? waited_us : most_us;
        sntp_stop(&sntp);
        assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
        bench_close(&bench);
    }
    assert_true(least_us < SNTP_START_US / 4 && most_us > 3 * (SNTP_START_US / 4));
}

static struct weir_addr resolved;

static void resolve_again(struct sntp *sntp, int error, const struct sntp_time *time, void *context)
{
    done(sntp, error, time, context);
    if (error == WEIR_TIMED_OUT)
        assert_int_equal(sntp_move(sntp, resolved), WEIR_OK);
}

static void a_server_that_is_gone_may_be_elsewhere(void **state)
{
    struct bench bench;
    struct service dead = {.kind = 0}, alive = {.kind = 1};
    struct sntp sntp;
    (void)state;
    bench_open(&bench);
    const weir_socket first = serve_at(&bench, &dead, weir_ip4(127, 0, 0, 1)),
                      second = serve_at(&bench, &alive, weir_ip4(127, 0, 0, 2));
    resolved = weir_ip4(127, 0, 0, 2);
    assert_int_equal(sntp_start(&sntp, &bench.loop, weir_ip4(127, 0, 0, 1), false, resolve_again, NULL), WEIR_OK);
    assert_int_equal(sntp_move(&sntp, weir_addr_any()), WEIR_INVALID);
    bench_run(&bench, 200000000);
    assert_int_equal(dead.asked, SNTP_TRIES);
    assert_true(alive.asked >= 1 && last_error == WEIR_OK && sntp_unix_us(&sntp) != 0);
    sntp_stop(&sntp);
    assert_int_equal(weir_socket_close(bench.f.weir, first), WEIR_OK);
    assert_int_equal(weir_socket_close(bench.f.weir, second), WEIR_OK);
    bench_close(&bench);
}

static void run_until_asked(struct bench *bench, const struct service *service, uint32_t asked)
{
    for (int second = 0; second < 100000 && service->asked < asked; second++)
        bench_run(bench, 1000000);
    assert_int_equal(service->asked, asked);
}

// A measurement that fails is made again soon, and then ever more rarely.
static void what_is_not_answered_is_asked_again_soon(void **state)
{
    struct bench bench;
    struct service service = {.kind = 1};
    struct sntp sntp;
    (void)state;
    bench_open(&bench);
    const weir_socket socket = serve_at(&bench, &service, weir_ip4(127, 0, 0, 1));
    assert_int_equal(sntp_start(&sntp, &bench.loop, weir_ip4(127, 0, 0, 1), false, done, NULL), WEIR_OK);
    bench_run(&bench, 10000000000);
    assert_int_equal(sntp.interval_s, SNTP_INTERVAL_MAX_S);
    service.kind = 0;
    const uint32_t asked = service.asked;
    calls = 0;
    for (uint32_t failed = 0, wait_s = SNTP_INTERVAL_MIN_S; failed < 8; failed++) {
        run_until_asked(&bench, &service, asked + (failed + 1) * SNTP_TRIES);
        const uint64_t last_us = service.last_us;
        assert_int_equal(calls, failed);
        run_until_asked(&bench, &service, asked + (failed + 1) * SNTP_TRIES + 1);
        assert_int_equal(calls, failed + 1);
        assert_int_equal(last_error, WEIR_TIMED_OUT);
        assert_true(service.last_us - last_us == (SNTP_TIMEOUT_US << (SNTP_TRIES - 1)) + wait_s * 1000000ull);
        wait_s = wait_s < SNTP_INTERVAL_MAX_S ? 2 * wait_s : wait_s;
    }
    sntp_stop(&sntp);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    bench_close(&bench);
}

// Another address is asked soon, and at once where a measurement is under way; the one that is asked already is not
// asked sooner, so that a name that is resolved again and again brings it no more questions.
static void another_address_is_asked_soon(void **state)
{
    struct bench bench;
    struct service dead = {.kind = 0}, alive = {.kind = 1};
    struct sntp sntp;
    (void)state;
    bench_open(&bench);
    const weir_socket first = serve_at(&bench, &dead, weir_ip4(127, 0, 0, 1)),
                      second = serve_at(&bench, &alive, weir_ip4(127, 0, 0, 2));
    assert_int_equal(sntp_start(&sntp, &bench.loop, weir_ip4(127, 0, 0, 1), false, done, NULL), WEIR_OK);
    run_until_asked(&bench, &dead, 1);
    calls = 0;
    assert_int_equal(sntp_move(&sntp, weir_ip4(127, 0, 0, 2)), WEIR_OK);
    bench_run(&bench, 1000);
    assert_int_equal(alive.asked, 1);
    assert_int_equal(calls, 1);
    assert_int_equal(last_error, WEIR_OK);
    assert_int_equal(sntp_move(&sntp, weir_ip4(127, 0, 0, 1)), WEIR_OK);
    bench_run(&bench, 10000000000);
    assert_int_equal(alive.asked, 1);
    assert_int_equal(sntp.tries, 0);  // it waits: for the usual time at its longest, or nearly
    const uint64_t due_us = sntp.due_us;
    assert_true(due_us - bench.f.now_us > 2 * SNTP_INTERVAL_MIN_S * 1000000u);
    assert_int_equal(sntp_move(&sntp, weir_ip4(127, 0, 0, 1)), WEIR_OK);
    assert_true(sntp.due_us == due_us);
    assert_int_equal(sntp.interval_s, SNTP_INTERVAL_MAX_S);
    assert_int_equal(sntp_move(&sntp, weir_ip4(127, 0, 0, 2)), WEIR_OK);
    bench_run(&bench, (SNTP_INTERVAL_MIN_S + 1) * 1000000u);
    assert_int_equal(alive.asked, 2);
    assert_int_equal(last_error, WEIR_OK);
    alive.kind = 4;  // what RATE says stays
    run_until_asked(&bench, &alive, 3);
    const uint32_t interval_min_s = sntp.interval_min_s;
    assert_true(interval_min_s > SNTP_INTERVAL_MIN_S);
    assert_int_equal(sntp_move(&sntp, weir_ip4(127, 0, 0, 1)), WEIR_OK);
    assert_int_equal(sntp.interval_min_s, interval_min_s);
    sntp_stop(&sntp);
    assert_int_equal(sntp_move(&sntp, weir_ip4(127, 0, 0, 2)), WEIR_OK);
    assert_int_equal(weir_socket_close(bench.f.weir, first), WEIR_OK);
    assert_int_equal(weir_socket_close(bench.f.weir, second), WEIR_OK);
    bench_close(&bench);
}

// --- several servers -------------------------------------------------------------------------------------------------

#define SERVERS_MAX 4u

struct court {
    struct bench bench;
    struct service services[SERVERS_MAX];
    weir_socket sockets[SERVERS_MAX];
    struct sntp structs[SERVERS_MAX];
    struct sntp_servers servers;
    uint32_t count, told;
};

static void told(struct sntp_servers *servers, void *context)
{
    (void)servers;
    ((struct court *)context)->told++;
}

static void court_open(struct court *court, uint32_t count, const int64_t *ahead_us)
{
    struct weir_addr addresses[SERVERS_MAX];
    memset(court, 0, sizeof *court);
    bench_open(&court->bench);
    court->count = count;
    for (uint32_t i = 0; i < count; i++) {
        addresses[i] = weir_ip4(127, 0, 0, 1 + i);
        court->services[i] = (struct service){.kind = 1, .ahead_us = ahead_us[i]};
        court->sockets[i] = serve_at(&court->bench, &court->services[i], addresses[i]);
    }
    assert_int_equal(
        sntp_servers_start(&court->servers, &court->bench.loop, court->structs, addresses, count, told, court),
        WEIR_OK);
}

static int64_t court_off_us(const struct court *court)
{
    return off_us(&court->bench, &court->services[0], sntp_servers_unix_us(&court->servers));
}

static void court_close(struct court *court)
{
    sntp_servers_stop(&court->servers);
    for (uint32_t i = 0; i < court->count; i++)
        assert_int_equal(weir_socket_close(court->bench.f.weir, court->sockets[i]), WEIR_OK);
    bench_close(&court->bench);
}

// Neither at the beginning nor later: also not by one that answers first, or goes on lying.
static void a_liar_moves_nothing(void **state)
{
    static const int64_t lies_us[] = {3600000000, -3600000000, 200000, -200000, 1000000000000000};
    (void)state;
    for (uint32_t count = 3; count <= SERVERS_MAX; count++) {
        for (uint32_t liar = 0; liar < count; liar++) {
            for (size_t i = 0; i < sizeof lies_us / sizeof *lies_us; i++) {
                struct court court;
                int64_t ahead_us[SERVERS_MAX] = {0};
                ahead_us[liar] = lies_us[i];
                court_open(&court, count, ahead_us);
                for (uint32_t second = 0; second < 10; second++) {
                    bench_run(&court.bench, 1000000);
                    if (sntp_servers_unix_us(&court.servers) != 0)
                        assert_in_range(court_off_us(&court) + 10, 0, 20);
                }
                assert_true(court.told > 0 && sntp_servers_unix_us(&court.servers) != 0);
                bench_run(&court.bench, 20000000000u);
                assert_in_range(court_off_us(&court) + 10, 0, 20);
                court_close(&court);
            }
        }
    }
}

// Where no majority agrees there is no time, or it goes on as it was.
static void without_a_majority_nothing_moves(void **state)
{
    static const int64_t apart_us[SERVERS_MAX] = {0, 0, 500000, 500000}, together_us[SERVERS_MAX] = {0};
    struct court court;
    (void)state;
    court_open(&court, 4, apart_us);
    bench_run(&court.bench, 1000000000);
    assert_true(sntp_servers_unix_us(&court.servers) == 0 && court.told == 0 && court.servers.times.undecided > 0);
    court_close(&court);
    court_open(&court, 2, apart_us + 1);
    bench_run(&court.bench, 1000000000);
    assert_true(sntp_servers_unix_us(&court.servers) == 0);
    court_close(&court);
    court_open(&court, 4, together_us);
    bench_run(&court.bench, 10000000);
    assert_in_range(court_off_us(&court) + 10, 0, 20);
    court.services[2].ahead_us = court.services[3].ahead_us = 500000;
    bench_run(&court.bench, 10000000000u);
    assert_in_range(court_off_us(&court) + 10, 0, 20);
    court.services[1].ahead_us = 500000;  // and a majority of three does move it
    bench_run(&court.bench, 10000000000u);
    assert_in_range(court_off_us(&court) - 500000 + 10, 0, 20);
    court_close(&court);
}

// Around a leap second a server may smear it over a day: one that does stands alone, and its time is not mixed with the
// others', which make the step.
static void a_smeared_leap_second_is_not_mixed_in(void **state)
{
    static const int64_t together_us[SERVERS_MAX] = {0};
    struct court court;
    (void)state;
    court_open(&court, 3, together_us);
    bench_run(&court.bench, 10000000);
    for (int64_t hour = 1; hour <= 12; hour++) {  // a second in 24 hours; the leap is at noon
        court.services[0].ahead_us = -hour * 1000000 / 24;
        bench_run(&court.bench, 3600000000u);
        const int64_t off = court_off_us(&court);
        if (hour > 1)
            assert_in_range(off + 200, 0, 400);
    }
    court.services[1].ahead_us = court.services[2].ahead_us = -1000000;
    bench_run(&court.bench, 7200000000u);
    assert_in_range(court_off_us(&court) + 1000000 + 10, 0, 20);
    court_close(&court);
}

// Who has not answered for long, and who may be wrong by a second, has no vote.
static void only_who_knows_the_time_has_a_vote(void **state)
{
    static const int64_t together_us[SERVERS_MAX] = {0};
    struct court court;
    (void)state;
    court_open(&court, 3, together_us);
    bench_run(&court.bench, 10000000);
    court.services[1].kind = court.services[2].kind = 0;
    bench_run(&court.bench, 4000000000u);
    const uint32_t told_before = court.told;
    court.services[0].ahead_us = 50000;
    bench_run(&court.bench, 4000000000u);
    assert_int_equal(court.told, told_before);
    assert_in_range(court_off_us(&court) + 10, 0, 20);
    court_close(&court);
    struct sntp_servers servers;
    struct sntp structs[2];
    const struct weir_addr addresses[2] = {weir_ip4(127, 0, 0, 1), weir_addr_any()};
    bench_open(&court.bench);
    assert_int_equal(sntp_servers_start(&servers, &court.bench.loop, structs, addresses, 1, NULL, NULL), WEIR_INVALID);
    assert_int_equal(sntp_servers_start(&servers, &court.bench.loop, structs, addresses, 2, NULL, NULL), WEIR_INVALID);
    bench_close(&court.bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_good_answer_gives_the_time),
        cmocka_unit_test(the_next_era_is_understood),
        cmocka_unit_test(bad_answers_are_told_apart),
        cmocka_unit_test(the_client_measures_and_retries),
        cmocka_unit_test(servers_are_left_in_peace),
        cmocka_unit_test(a_closed_port_is_told),
        cmocka_unit_test(the_time_goes_on),
        cmocka_unit_test(the_time_never_goes_back),
        cmocka_unit_test(a_fast_crystal_never_sets_the_time_back),
        cmocka_unit_test(a_step_is_measured_twice),
        cmocka_unit_test(many_clients_begin_at_different_times),
        cmocka_unit_test(a_server_that_is_gone_may_be_elsewhere),
        cmocka_unit_test(what_is_not_answered_is_asked_again_soon),
        cmocka_unit_test(another_address_is_asked_soon),
        cmocka_unit_test(a_liar_moves_nothing),
        cmocka_unit_test(without_a_majority_nothing_moves),
        cmocka_unit_test(a_smeared_leap_second_is_not_mixed_in),
        cmocka_unit_test(only_who_knows_the_time_has_a_vote),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
