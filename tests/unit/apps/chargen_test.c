// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small_apps small6_apps
#include "slow.h"

#include "chargen.h"

static void the_pattern_is_the_one_of_rfc_864(void **state)
{
    uint8_t lines[3 * CHARGEN_LINE], pieces[CHARGEN_CYCLE + 5];
    (void)state;
    assert_int_equal(chargen_fill(lines, sizeof lines, 0), sizeof lines);
    assert_memory_equal(lines, " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_`abcdefg\r\n!\"#",
                        77);
    uint32_t at = 0;
    for (uint32_t done = 0; done < sizeof pieces; done += 25) {
        uint32_t part = sizeof pieces - done < 25 ? (uint32_t)sizeof pieces - done : 25;
        at = chargen_fill(pieces + done, part, at);
    }
    assert_memory_equal(pieces, lines, sizeof lines);
    assert_int_equal(at, 5);
    assert_memory_equal(pieces + CHARGEN_CYCLE, lines, 5);
}

static void it_sends_as_much_as_is_read(void **state)
{
    static char got[60000];
    static uint8_t expected[60000];
    struct bench bench;
    struct chargen chargen;
    (void)state;
    bench_open(&bench);
    assert_int_equal(chargen_start(&chargen, &bench.loop, 19), WEIR_OK);
    weir_socket socket = bench_connect(&bench, 19);
    assert_int_equal(weir_socket_set(bench.f.weir, socket, WEIR_OPTION_RECEIVE_BUFFER, 8192), WEIR_OK);
    uint32_t length = bench_read(&bench, socket, got, sizeof got, NULL);
    assert_int_equal(length, sizeof got - 1);
    uint32_t at = 0;
    for (uint32_t done = 0; done < sizeof expected; done += 1000)
        at = chargen_fill(expected + done, 1000, at);
    assert_memory_equal(got, expected, length);
    assert_int_equal(weir_socket_abort(bench.f.weir, socket), WEIR_OK);
    bench_run(&bench, 100000);
    assert_int_equal(chargen.places[0].socket, 0);
    chargen_stop(&chargen);
    bench_close(&bench);
}

static void take_all(struct bench *bench, weir_socket socket)
{
    static uint8_t bytes[100000];
    while (weir_socket_read(bench->f.weir, socket, bytes, sizeof bytes) > 0)
        ;
    bench_run(bench, 1000);
}

// A connection in each place, and the array has room for one more.
static void fill(struct bench *bench, struct chargen *chargen, weir_socket *sockets)
{
    bench_open(bench);
    assert_int_equal(chargen_start(chargen, &bench->loop, 19), WEIR_OK);
    for (uint32_t i = 0; i < CHARGEN_CONNECTIONS; i++)
        sockets[i] = bench_connect(bench, 19);
}

static void end(struct bench *bench, struct chargen *chargen, const weir_socket *sockets)
{
    for (uint32_t i = 0; i <= CHARGEN_CONNECTIONS; i++)
        (void)weir_socket_abort(bench->f.weir, sockets[i]);
    chargen_stop(chargen);
    bench_close(bench);
}

static void who_takes_nothing_makes_room(void **state)
{
    struct bench bench;
    struct chargen chargen;
    weir_socket sockets[CHARGEN_CONNECTIONS + 1];
    uint8_t byte;
    (void)state;
    fill(&bench, &chargen, sockets);
    bench_run(&bench, CLIENTS_STALL_US);
    for (uint32_t i = 0; i < CHARGEN_CONNECTIONS; i++)
        if (i != 5)
            take_all(&bench, sockets[i]);
    sockets[CHARGEN_CONNECTIONS] = bench_connect(&bench, 19);
    assert_int_equal(weir_socket_read(bench.f.weir, sockets[CHARGEN_CONNECTIONS], &byte, 1), 1);
    assert_true(weir_socket_ready(bench.f.weir, sockets[5]) & WEIR_ERROR);
    assert_int_equal(weir_socket_ready(bench.f.weir, sockets[0]) & WEIR_ERROR, 0);
    end(&bench, &chargen, sockets);
}

// Beside a thousand that take ten bytes a second.
static void a_crowd_of_the_slow_keeps_nobody_out(void **state)
{
    static struct slow crowd = {19, 300, SLOW_READS, NULL, {0}};
    struct bench bench;
    struct chargen chargen;
    (void)state;
    bench_open(&bench);
    assert_int_equal(chargen_start(&chargen, &bench.loop, 19), WEIR_OK);
    assert_int_equal(slow_served(&bench, &crowd, "", " !\"#$%&'()*+,-./0123456789:;<=>?@ABCDEFGHIJKLMNOPQRSTUVWXYZ"),
                     7);
    assert_true(chargen.crowd.made_room > 100);
    slow_end(&bench, &crowd);
    chargen_stop(&chargen);
    bench_close(&bench);
}

static void one_more_than_there_are_places_waits(void **state)
{
    struct bench bench;
    struct chargen chargen;
    weir_socket sockets[CHARGEN_CONNECTIONS + 1];
    uint8_t byte;
    (void)state;
    fill(&bench, &chargen, sockets);
    for (uint32_t i = 0; i < CHARGEN_CONNECTIONS; i++)
        take_all(&bench, sockets[i]);
    sockets[CHARGEN_CONNECTIONS] = bench_connect(&bench, 19);
    assert_int_equal(weir_socket_read(bench.f.weir, sockets[0], &byte, 1), 1);
    assert_int_equal(weir_socket_read(bench.f.weir, sockets[CHARGEN_CONNECTIONS], &byte, 1), WEIR_AGAIN);
    assert_int_equal(weir_socket_abort(bench.f.weir, sockets[3]), WEIR_OK);
    bench_run(&bench, 100000);
    assert_int_equal(weir_socket_read(bench.f.weir, sockets[CHARGEN_CONNECTIONS], &byte, 1), 1);
    end(&bench, &chargen, sockets);
}

static void a_datagrams_answer_is_no_longer_than_the_question(void **state)
{
    struct bench bench;
    struct chargen chargen;
    uint8_t bytes[1000] = {0};
    (void)state;
    bench_open(&bench);
    assert_int_equal(chargen_start(&chargen, &bench.loop, 19), WEIR_OK);
    weir_socket socket = weir_socket_open(bench.f.weir, WEIR_DATAGRAM, 0);
    for (uint32_t length = 1; length <= 1000; length += 333) {
        const struct weir_message message = {.peer = bench_here(19)};
        struct weir_message reply;
        struct weir_slice slice = {bytes, length};
        assert_int_equal(weir_socket_send_message(bench.f.weir, socket, &message, &slice, 1), length);
        bench_run(&bench, 1000);
        assert_true(weir_socket_peek_message(bench.f.weir, socket, &reply, &slice) >= 0);
        assert_int_equal(reply.length, length < CHARGEN_DATAGRAM ? length : CHARGEN_DATAGRAM);
        assert_int_equal(weir_socket_discard(bench.f.weir, socket), WEIR_OK);
    }
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    chargen_stop(&chargen);
    bench_close(&bench);
}

static void a_failure_to_send_hides_no_datagram(void **state)
{
    struct bench bench;
    struct chargen chargen;
    (void)state;
    bench_open(&bench);
    assert_int_equal(chargen_start(&chargen, &bench.loop, 19), WEIR_OK);
    bench_answers_behind_failure(&bench, 19, chargen.bound);
    chargen_stop(&chargen);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_pattern_is_the_one_of_rfc_864),
        cmocka_unit_test(it_sends_as_much_as_is_read),
        cmocka_unit_test(one_more_than_there_are_places_waits),
        cmocka_unit_test(who_takes_nothing_makes_room),
        cmocka_unit_test(a_crowd_of_the_slow_keeps_nobody_out),
        cmocka_unit_test(a_datagrams_answer_is_no_longer_than_the_question),
        cmocka_unit_test(a_failure_to_send_hides_no_datagram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
