// SPDX-License-Identifier: BSD-2-Clause
// SLIP over a pipe that takes and gives as the test says: escapes, what is no packet, a line that takes a byte now and
// then.
#include "drivers/slip.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "upper.h"

enum { END = 0xc0, ESC = 0xdb, ESC_END = 0xdc, ESC_ESC = 0xdd };

static struct {
    uint8_t in[40000], out[40000];
    uint32_t in_length, in_at, out_length, room, most;  // the pipe takes `room` bytes more, gives `most` at once
} pipe_state;

static uint32_t pipe_read(void *context, uint8_t *to, uint32_t room)
{
    uint32_t taken = 0;
    assert_ptr_equal(context, &pipe_state);
    for (; taken < room && taken < pipe_state.most && pipe_state.in_at < pipe_state.in_length; taken++)
        to[taken] = pipe_state.in[pipe_state.in_at++];
    return taken;
}
static uint32_t pipe_write(void *context, const uint8_t *from, uint32_t bytes)
{
    const uint32_t taken = bytes < pipe_state.room ? bytes : pipe_state.room;
    assert_ptr_equal(context, &pipe_state);
    assert_true(bytes > 0);
    memcpy(pipe_state.out + pipe_state.out_length, from, taken);
    pipe_state.out_length += taken;
    pipe_state.room -= taken;
    return taken;
}
static const struct slip_pipe pipe_under = {pipe_read, pipe_write, &pipe_state};
static struct slip slip;

static int setup(void **state)
{
    (void)state;
    memset(&pipe_state, 0, sizeof pipe_state);
    pipe_state.room = pipe_state.most = 100000;
    memset(&upper, 0, sizeof upper);
    memset(&slip, 0x5c, sizeof slip);
    slip_open(&slip, &pipe_under);
    slip_attach(&slip, &netif, "sl0");
    netif.upper = &upper_side;
    return 0;
}

static void comes(const void *bytes, uint32_t length)
{
    memcpy(pipe_state.in + pipe_state.in_length, bytes, length);
    pipe_state.in_length += length;
}
// As RFC 1055's program does it, apart from the driver's.
static void comes_packed(const uint8_t *packet, uint32_t length)
{
    for (uint32_t i = 0; i < length; i++) {
        if (packet[i] == END)
            comes((uint8_t[]){ESC, ESC_END}, 2);
        else if (packet[i] == ESC)
            comes((uint8_t[]){ESC, ESC_ESC}, 2);
        else
            comes(&packet[i], 1);
    }
    comes((uint8_t[]){END}, 1);
}
static int poll(int budget) { return netif.driver->poll(&netif, budget); }

static const uint8_t *make(uint32_t seed)
{
    static uint8_t packet[3000];
    for (uint32_t i = 0; i < sizeof packet; i++)
        packet[i] = (uint8_t)(i * 7 + i / 251 + seed * 31);
    return packet;
}

static void it_is_a_line_of_bare_packets(void **state)
{
    (void)state;
    assert_ptr_equal(netif.link, &weir_link_rawip);
    assert_int_equal(netif.mtu, SLIP_MTU);
    assert_int_equal(netif.capabilities, 0);
    assert_int_equal(poll(8), 0);
}

static void packets_of_every_length_come_in(void **state)
{
    (void)state;
    for (uint32_t length = 1; length <= SLIP_MTU; length++) {
        pipe_state.in_length = pipe_state.in_at = 0;
        pipe_state.most = 1 + length % 60;
        comes_packed(make(length), length);
        assert_int_equal(poll(8), 1);
        assert_int_equal(upper.length, length);
        assert_memory_equal(upper.last, make(length), length);
    }
    assert_int_equal(upper.count, SLIP_MTU);
    assert_int_equal(netif.stats.rx_dropped, 0);
}

static void every_byte_value_survives(void **state)
{
    static const uint8_t worst[] = {END, ESC, ESC_END, ESC_ESC, ESC, END, END, ESC, ESC};
    static const uint8_t coded[] = {ESC,     ESC_END, ESC,     ESC_ESC, ESC_END, ESC_ESC, ESC,     ESC_ESC, ESC,
                                    ESC_END, ESC,     ESC_END, ESC,     ESC_ESC, ESC,     ESC_ESC, END};
    (void)state;
    comes(coded, sizeof coded);
    assert_int_equal(poll(8), 1);
    assert_int_equal(upper.length, sizeof worst);
    assert_memory_equal(upper.last, worst, sizeof worst);
    const struct weir_slice slice = {worst, sizeof worst};
    const struct weir_tx tx = {.slices = &slice, .length = sizeof worst, .count = 1, .header_length = sizeof worst};
    assert_int_equal(netif.driver->tx(&netif, &tx), WEIR_TX_DONE);
    assert_int_equal(pipe_state.out_length, sizeof coded + 1);
    assert_int_equal(pipe_state.out[0], END);
    assert_memory_equal(pipe_state.out + 1, coded, sizeof coded);
}

static void lone_ends_are_nothing(void **state)
{
    const uint8_t ends[] = {END, END, END, END};
    (void)state;
    comes(ends, sizeof ends);
    assert_int_equal(poll(8), 0);
    comes_packed(make(1), 50);
    comes(ends, sizeof ends);
    comes_packed(make(2), 60);
    assert_int_equal(poll(8), 2);
    assert_int_equal(upper.count, 2);
    assert_int_equal(upper.length, 60);
    assert_int_equal(netif.stats.rx_dropped, 0);
}

static void what_is_too_long_is_dropped_up_to_its_end(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 3; round++) {
        comes_packed(make(round), SLIP_MTU + 1 + 700 * round);
        comes_packed(make(round), 40);
        (void)poll(8);
        (void)poll(8);
        assert_int_equal(slip.counters.overlong, round + 1);
        assert_int_equal(netif.stats.rx_dropped, round + 1);
        assert_int_equal(upper.count, round + 1);
        assert_int_equal(upper.length, 40);
        assert_memory_equal(upper.last, make(round), 40);
    }
    comes_packed(make(5), SLIP_MTU);  // just not too long
    assert_int_equal(poll(8), 1);
    assert_int_equal(upper.length, SLIP_MTU);
}

static void a_broken_escape_spoils_its_packet_only(void **state)
{
    static const uint8_t broken[] = {1, 2, ESC, 3, 4, ESC, 5, END}, cut[] = {1, 2, 3, ESC, END},
                         twice[] = {1, ESC, ESC, ESC_END, 7, END};
    (void)state;
    comes(broken, sizeof broken);
    comes_packed(make(1), 40);
    assert_int_equal(poll(8), 1);
    assert_int_equal(slip.counters.bad_escape, 1);
    comes(cut, sizeof cut);
    comes_packed(make(2), 41);
    assert_int_equal(poll(8), 1);
    assert_int_equal(slip.counters.bad_escape, 2);
    comes(twice, sizeof twice);
    comes_packed(make(3), 42);
    assert_int_equal(poll(8), 1);
    assert_int_equal(slip.counters.bad_escape, 3);
    assert_int_equal(upper.count, 3);
    assert_int_equal(upper.length, 42);
    assert_memory_equal(upper.last, make(3), 42);
    assert_int_equal(netif.stats.rx_dropped, 3);
}

// Whatever the line brings, the driver stays within its memory, works a bounded time, and takes the next packet behind
// an END.
static void garbage(void **state)
{
    (void)state;
    srand(1);
    for (uint32_t round = 0; round < 300; round++) {
        pipe_state.in_length = pipe_state.in_at = 0;
        pipe_state.most = 1 + (uint32_t)rand() % 200;
        for (uint32_t i = (uint32_t)rand() % 9000; i; i--) {
            const uint32_t kind = (uint32_t)rand() % 40;
            comes((uint8_t[]){kind == 0 ? END : kind < 4 ? ESC : (uint8_t)rand()}, 1);
        }
        comes((uint8_t[]){END}, 1);
        comes_packed(make(round), 1000);
        for (uint32_t polls = 0; pipe_state.in_at < pipe_state.in_length; polls++) {
            const uint32_t before = pipe_state.in_at;
            (void)poll(8);
            assert_in_range(pipe_state.in_at - before, 1, 4 * SLIP_MTU + 200);
            assert_true(polls < 10000);
        }
        assert_int_equal(upper.length, 1000);
        assert_memory_equal(upper.last, make(round), 1000);
    }
}

// The answer to a poll that ended for its bound on bytes is that there is more.
static void a_line_full_of_noise_gives_way(void **state)
{
    static uint8_t noise[5 * SLIP_MTU];
    (void)state;
    memset(noise, 'x', sizeof noise);
    comes(noise, sizeof noise);
    assert_int_equal(poll(3), 3);
    assert_true(pipe_state.in_at < pipe_state.in_length);
    assert_int_equal(poll(3), 0);
    assert_int_equal(pipe_state.in_at, pipe_state.in_length);
}

static void a_budget_is_kept(void **state)
{
    (void)state;
    pipe_state.most = 45;  // so that a read brings one packet
    for (uint32_t i = 0; i < 20; i++)
        comes_packed(make(i), 60);
    assert_int_equal(poll(4), 4);
    assert_int_equal(upper.count, 4);
    for (uint32_t i = 0; i < 10; i++)
        (void)poll(4);
    assert_int_equal(upper.count, 20);
}

// --- out -------------------------------------------------------------------------------------------------------------

static enum weir_tx_verdict send(uint32_t seed, uint32_t length)
{
    static uint8_t bytes[3000];
    memcpy(bytes, make(seed), length);
    const struct weir_slice slices[2] = {{bytes, length / 3 + 1}, {bytes + length / 3 + 1, length - length / 3 - 1}};
    const struct weir_tx tx = {
        .slices = slices, .length = length, .count = length > 1 ? 2 : 1, .header_length = 1, .holdable = true};
    const enum weir_tx_verdict verdict = netif.driver->tx(&netif, &tx);
    memset(bytes, 0, length);  // borrowed for the call only
    return verdict;
}

// What was sent, taken in by another driver.
static void loop_back(void)
{
    comes(pipe_state.out, pipe_state.out_length);
    pipe_state.out_length = 0;
    while (pipe_state.in_at < pipe_state.in_length)
        (void)poll(8);
    pipe_state.in_at = pipe_state.in_length = 0;
}

static void packets_of_every_length_go_out(void **state)
{
    (void)state;
    for (uint32_t length = 1; length <= SLIP_MTU; length++) {
        pipe_state.room = 10000;
        assert_int_equal(send(length, length), WEIR_TX_DONE);
        assert_int_equal(pipe_state.out[0], END);
        assert_int_equal(pipe_state.out[pipe_state.out_length - 1], END);
        loop_back();
        assert_int_equal(upper.count, length);
        assert_int_equal(upper.length, length);
        assert_memory_equal(upper.last, make(length), length);
    }
}

static void a_slow_line_takes_one_packet_at_a_time(void **state)
{
    (void)state;
    for (uint32_t round = 0; round < 50; round++) {
        const uint32_t before = upper.ready;
        pipe_state.room = round % 7;
        assert_int_equal(send(round, 500 + round), WEIR_TX_DONE);
        assert_int_equal(send(99, 100), WEIR_TX_FULL);
        assert_int_equal(send(98, 100), WEIR_TX_FULL);
        for (uint32_t turns = 0; upper.ready == before; turns++) {
            pipe_state.room += 1 + (turns + round) % 90;
            (void)poll(8);
            assert_true(turns < 2000);
        }
        assert_int_equal(upper.ready, before + 1);
        (void)poll(8);
        assert_int_equal(upper.ready, before + 1);
        loop_back();
        assert_int_equal(upper.count, round + 1);
        assert_int_equal(upper.length, 500 + round);
        assert_memory_equal(upper.last, make(round), 500 + round);
    }
}

static void what_is_too_long_is_not_sent(void **state)
{
    (void)state;
    assert_int_equal(send(1, SLIP_MTU + 1), WEIR_TX_DONE);
    assert_int_equal(netif.stats.tx_dropped, 1);
    assert_int_equal(pipe_state.out_length, 0);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup(name, setup)
    const struct CMUnitTest tests[] = {
        TEST(it_is_a_line_of_bare_packets),
        TEST(packets_of_every_length_come_in),
        TEST(every_byte_value_survives),
        TEST(lone_ends_are_nothing),
        TEST(what_is_too_long_is_dropped_up_to_its_end),
        TEST(a_broken_escape_spoils_its_packet_only),
        TEST(garbage),
        TEST(a_line_full_of_noise_gives_way),
        TEST(a_budget_is_kept),
        TEST(packets_of_every_length_go_out),
        TEST(a_slow_line_takes_one_packet_at_a_time),
        TEST(what_is_too_long_is_not_sent),
    };
    return cmocka_run_group_tests_name("drivers/slip", tests, NULL, NULL);
}
