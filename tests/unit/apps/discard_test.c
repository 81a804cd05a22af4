// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small_apps small6_apps
#include "slow.h"

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
    bench_send_behind_failure(&bench, socket, &message.peer, discard.bound, bytes, 100);
    assert_int_equal(discard.bytes, sizeof bytes + 200);
    assert_int_equal(weir_socket_close(bench.f.weir, socket), WEIR_OK);
    discard_stop(&discard);
    bench_close(&bench);
}

// Whether a client that sends at once has its bytes taken within three seconds.
static bool honest_is_served(struct bench *bench, const struct discard *discard)
{
    const struct weir_endpoint server = bench_here(9);
    static uint8_t bytes[2000];
    const uint64_t before = discard->bytes;
    const weir_socket socket = weir_socket_open(bench->f.weir, WEIR_STREAM, 0);
    (void)weir_socket_connect(bench->f.weir, socket, &server);
    (void)weir_socket_write(bench->f.weir, socket, bytes, sizeof bytes);
    for (int tenth = 0; tenth < 30 && discard->bytes - before < sizeof bytes; tenth++)
        bench_run(bench, 100000);
    (void)weir_socket_abort(bench->f.weir, socket);
    return discard->bytes - before >= sizeof bytes;
}

static void a_crowd_of_the_slow_keeps_nobody_out(void **state)
{
    static struct slow crowds[] = {{9, SLOW_CLIENTS, SLOW_SILENT, NULL, {0}}, {9, SLOW_CLIENTS, SLOW_SENDS, NULL, {0}}};
    (void)state;
    for (uint32_t i = 0; i < sizeof crowds / sizeof crowds[0]; i++) {
        struct bench bench;
        struct discard discard;
        uint32_t served = 0;
        bench_open(&bench);
        assert_int_equal(discard_start(&discard, &bench.loop, 9), WEIR_OK);
        for (int second = 0; second < 21; second++) {
            slow_act(&bench, &crowds[i]);
            if (second % 3 == 2)
                served += honest_is_served(&bench, &discard);
            bench_run(&bench, 1000000);
        }
        assert_int_equal(served, 7);
        assert_true(discard.crowd.made_room > 100);
        slow_end(&bench, &crowds[i]);
        discard_stop(&discard);
        bench_close(&bench);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(bytes_vanish_and_are_counted),
                                       cmocka_unit_test(a_crowd_of_the_slow_keeps_nobody_out)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
