// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small_apps small6_apps
#include "slow.h"

#include "echo.h"

#define BYTES 200000u

static void a_stream_comes_back(void **state)
{
    static uint8_t out[BYTES], in[BYTES];
    struct bench bench;
    struct echo echo;
    (void)state;
    bench_open(&bench);
    assert_int_equal(echo_start(&echo, &bench.loop, 7), WEIR_OK);
    weir_socket socket = bench_connect(&bench, 7);
    uint32_t written = 0, got = 0;
    for (uint32_t i = 0; i < BYTES; i++)
        out[i] = (uint8_t)(i * 7 + i / 251);
    for (int turn = 0; got < BYTES && turn < 10000; turn++) {
        int moved =
            written < BYTES ? weir_socket_write(bench.f.weir, socket, out + written, BYTES - written) : WEIR_AGAIN;
        written += moved > 0 ? (uint32_t)moved : 0;
        if (written == BYTES && moved > 0)
            assert_int_equal(weir_socket_shutdown(bench.f.weir, socket, WEIR_SHUT_WRITE), WEIR_OK);
        bench_run(&bench, 1000);
        moved = weir_socket_read(bench.f.weir, socket, in + got, BYTES - got);
        got += moved > 0 ? (uint32_t)moved : 0;
    }
    assert_int_equal(got, BYTES);
    assert_memory_equal(in, out, BYTES);
    bench_run(&bench, 100000);
    assert_int_equal(weir_socket_read(bench.f.weir, socket, in, 1), 0);  // its FIN follows
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    echo_stop(&echo);
    bench_close(&bench);
}

static int ask(struct bench *bench, weir_socket socket, uint32_t length)
{
    uint8_t bytes[600] = {1, 2, 3};
    const struct weir_message message = {.peer = bench_here(7)};
    struct weir_message reply;
    struct weir_slice slice = {bytes, length};
    assert_true(weir_socket_send_message(bench->f.weir, socket, &message, &slice, length > 0) >= 0);
    bench_run(bench, 10000);
    if (weir_socket_peek_message(bench->f.weir, socket, &reply, &slice) < 0)
        return -1;
    assert_true(length == 0 || memcmp(slice.data, bytes, length) == 0);
    assert_int_equal(weir_socket_discard(bench->f.weir, socket), WEIR_OK);
    return (int)reply.length;
}

static void a_datagram_comes_back_but_not_to_a_service(void **state)
{
    struct bench bench;
    struct echo echo;
    const struct weir_endpoint chargen = {weir_addr_any(), 19};
    (void)state;
    bench_open(&bench);
    assert_int_equal(echo_start(&echo, &bench.loop, 7), WEIR_OK);
    weir_socket socket = weir_socket_open(bench.f.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(ask(&bench, socket, 600), 600);
    assert_int_equal(ask(&bench, socket, 0), 0);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    socket = weir_socket_open(bench.f.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_bind(bench.f.weir, socket, &chargen), WEIR_OK);
    assert_int_equal(ask(&bench, socket, 10), -1);  // two services must not talk to each other for ever
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    echo_stop(&echo);
    bench_close(&bench);
}

static void a_port_in_use_is_said(void **state)
{
    struct bench bench;
    struct echo one, two;
    (void)state;
    bench_open(&bench);
    assert_int_equal(echo_start(&one, &bench.loop, 7), WEIR_OK);
    assert_int_equal(echo_start(&two, &bench.loop, 7), WEIR_IN_USE);
    echo_stop(&one);
    assert_int_equal(echo_start(&two, &bench.loop, 7), WEIR_OK);
    echo_stop(&two);
    bench_close(&bench);
}

static char much[50001];

// Who sends a byte a second and takes little, who sends much and takes nothing, who says nothing: beside a thousand of
// each seven of seven honest clients have their echo.
static void a_crowd_of_the_slow_keeps_nobody_out(void **state)
{
    static struct slow crowds[] = {{7, SLOW_CLIENTS, SLOW_SILENT, NULL, {0}},
                                   {7, SLOW_CLIENTS, SLOW_SENDS, "a", {0}},
                                   {7, 300, SLOW_SENDS, much, {0}},
                                   {7, 300, SLOW_READS, much, {0}}};
    (void)state;
    memset(much, 'x', sizeof much - 1);
    for (uint32_t i = 0; i < sizeof crowds / sizeof crowds[0]; i++) {
        struct bench bench;
        struct echo echo;
        bench_open(&bench);
        assert_int_equal(echo_start(&echo, &bench.loop, 7), WEIR_OK);
        assert_int_equal(slow_served(&bench, &crowds[i], "good morning", "good morning"), 7);
        assert_true(echo.crowd.made_room > 100);
        slow_end(&bench, &crowds[i]);
        echo_stop(&echo);
        bench_close(&bench);
    }
}

// A conversation of a few bytes a second is a good one, as long as nobody wants its place; and one in which nothing
// moves ends.
static void the_idle_are_reset(void **state)
{
    struct bench bench;
    struct echo echo;
    uint8_t byte;
    (void)state;
    bench_open(&bench);
    assert_int_equal(echo_start(&echo, &bench.loop, 7), WEIR_OK);
    const weir_socket idle = bench_connect(&bench, 7), slow = bench_connect(&bench, 7);
    for (uint32_t i = 0; i < 10; i++) {
        assert_int_equal(weir_socket_ready(bench.f.weir, idle) & WEIR_ERROR, 0);
        bench_write(&bench, slow, "a");
        assert_int_equal(weir_socket_read(bench.f.weir, slow, &byte, 1), 1);
        bench_run(&bench, CROWD_IDLE_US / 10);
    }
    assert_true(weir_socket_ready(bench.f.weir, idle) & WEIR_ERROR);
    assert_int_equal(weir_socket_ready(bench.f.weir, slow) & WEIR_ERROR, 0);
    assert_int_equal(echo.crowd.idle, 1);
    assert_int_equal(weir_socket_abort(bench.f.weir, idle), WEIR_OK);
    assert_int_equal(weir_socket_abort(bench.f.weir, slow), WEIR_OK);
    bench_run(&bench, 100000);
    echo_stop(&echo);
    bench_close(&bench);
}

static void a_failure_to_send_hides_no_datagram(void **state)
{
    struct bench bench;
    struct echo echo;
    (void)state;
    bench_open(&bench);
    assert_int_equal(echo_start(&echo, &bench.loop, 7), WEIR_OK);
    bench_answers_behind_failure(&bench, 7, echo.bound);
    echo_stop(&echo);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_comes_back),   cmocka_unit_test(a_datagram_comes_back_but_not_to_a_service),
        cmocka_unit_test(a_port_in_use_is_said), cmocka_unit_test(a_crowd_of_the_slow_keeps_nobody_out),
        cmocka_unit_test(the_idle_are_reset),    cmocka_unit_test(a_failure_to_send_hides_no_datagram),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
