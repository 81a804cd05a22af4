// SPDX-License-Identifier: BSD-2-Clause
#include "bench.h"

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
        int moved = written < BYTES ? weir_socket_write(bench.f.weir, socket, out + written, BYTES - written) : WEIR_AGAIN;
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

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_stream_comes_back),
        cmocka_unit_test(a_datagram_comes_back_but_not_to_a_service),
        cmocka_unit_test(a_port_in_use_is_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
