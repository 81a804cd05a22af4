// SPDX-License-Identifier: BSD-2-Clause
#include "bench.h"

#include "sntp.h"

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
    assert_int_equal(judge(packet, 5, 16), SNTP_UNUSABLE);     // root delay of 16 s
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
    int kind;  // 0 silent, 1 good, 2 forged nonce first, 3 DENY, 4 RATE, 5 not synchronised
    uint32_t asked;
};

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
        if (service->kind != 0)
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
    assert_int_equal(run(0, true, 60000000, &sntp), SNTP_TRIES);
    assert_int_equal(last_error, WEIR_TIMED_OUT);
    assert_int_equal(run(1, false, 500000000, &sntp), 4);  // at 0, 64, 192 and 448 s
    assert_int_equal(run(3, false, 500000000, &sntp), 1);  // told to stop, it stops
    assert_int_equal(last_error, WEIR_REFUSED);
}

static void servers_are_left_in_peace(void **state)
{
    struct sntp sntp;
    (void)state;
    assert_int_equal(run(4, false, 500000000, &sntp), 4);  // ever more rarely, and never sooner for being refused
    assert_int_equal(last_error, WEIR_REFUSED);
    assert_int_equal(calls, 4);
    assert_int_equal(sntp.count.kisses, 4);
    assert_true(sntp.time.unix_us == 0);
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
    assert_int_equal(sntp_start(&sntp, &bench.loop, weir_ip4(127, 0, 0, 1), false, done, NULL), WEIR_OK);
    bench_run(&bench, 100000);
    assert_int_equal(calls, 1);
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
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
