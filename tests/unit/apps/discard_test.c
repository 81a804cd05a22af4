// SPDX-License-Identifier: BSD-2-Clause
#include "bench.h"

#include "discard.h"

static void bytes_vanish_and_are_counted(void **state)
{
    static uint8_t bytes[100000];
    struct bench bench;
    struct discard discard;
    uint32_t written = 0;
    char end;
    (void)state;
    bench_open(&bench);
    assert_int_equal(discard_start(&discard, &bench.loop, 9), WEIR_OK);
    weir_socket socket = bench_connect(&bench, 9);
    for (int turn = 0; written < sizeof bytes && turn < 1000; turn++) {
        int moved = weir_socket_write(bench.f.weir, socket, bytes, (uint32_t)sizeof bytes - written);
        written += moved > 0 ? (uint32_t)moved : 0;
        bench_run(&bench, 1000);
    }
    bench_run(&bench, 100000);
    assert_int_equal(discard.bytes, sizeof bytes);
    assert_int_equal(weir_socket_shutdown(bench.f.weir, socket, WEIR_SHUT_WRITE), WEIR_OK);
    bench_run(&bench, 100000);
    assert_int_equal(weir_socket_read(bench.f.weir, socket, &end, 1), 0);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    socket = weir_socket_open(bench.f.weir, WEIR_DATAGRAM, 0);
    const struct weir_message message = {.peer = bench_here(9)};
    const struct weir_slice slice = {bytes, 100};
    assert_int_equal(weir_socket_send_message(bench.f.weir, socket, &message, &slice, 1), 100);
    bench_run(&bench, 1000);
    assert_int_equal(discard.bytes, sizeof bytes + 100);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    discard_stop(&discard);
    bench_close(&bench);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_vanish_and_are_counted)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
