// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// also without IPv4
#include "built.h"
#include "pair.h"

#include <string.h>

static void counters_have_names(void **state)
{
    (void)state;
    for (int i = 0; i < WEIR_COUNT_COUNT; i++) {
        assert_true(strlen(weir_counter_name((enum weir_counter)i)) > 3);
        assert_true(strlen(weir_counter_text((enum weir_counter)i)) > 3);
    }
    assert_string_equal(weir_counter_name(WEIR_COUNT_TCP_RTO), "TCP_RTO");
    assert_string_equal(weir_counter_name(WEIR_COUNT_COUNT), "?");
    assert_string_equal(weir_counter_text((enum weir_counter) - 1), "?");
}

static void the_walk_sees_every_socket_once(void **state)
{
    struct pair p;
    weir_socket client, server;
    struct weir_socket_info info;
    uint32_t seen[4] = {0}, rounds = 0;
    uint64_t cursor = 0;
    (void)state;
    pair_open(&p, &(struct pair_options){0});
    pair_connect(&p, 7500, &client, &server);
    const weir_socket datagram = weir_socket_open(p.b.weir, WEIR_DATAGRAM, 0),
                      listener = weir_socket_open(p.b.weir, WEIR_STREAM, 0);
    const struct weir_endpoint local = {weir_addr_any(), 53};
    assert_int_equal(weir_socket_bind(p.b.weir, datagram, &local), WEIR_OK);
    assert_int_equal(weir_socket_listen(p.b.weir, listener, 1), WEIR_OK);
    while ((cursor = weir_socket_next(p.b.weir, cursor, &info)) != 0) {
        assert_true(++rounds < 10);
        seen[0] += info.socket == server && info.type == WEIR_STREAM && info.tcp_state == WEIR_TCP_ESTABLISHED &&
                   info.local.port == 7500;
        seen[1] += info.socket == datagram && info.type == WEIR_DATAGRAM && info.local.port == 53;
        seen[2] += info.socket == listener && info.tcp_state == WEIR_TCP_LISTEN;
    }
    assert_true(seen[0] == 1 && seen[1] == 1 && seen[2] == 1);
    assert_int_equal(weir_socket_count(p.b.weir), rounds);
    pair_close(&p);
}

// Others open and close between two steps; who stays is shown once.
static void the_walk_survives_opening_and_closing(void **state)
{
    (void)state;
    enum { STAY = 40, OTHERS = 300 };
    struct pair p;
    struct weir_socket_info info;
    uint32_t shown[STAY] = {0}, open = 0, steps = 0;
    weir_socket others[OTHERS];
    pair_open(&p, &(struct pair_options){0});
    for (uint16_t i = 0; i < STAY; i++) {
        const weir_socket socket = weir_socket_open(p.a.weir, WEIR_DATAGRAM, 0);
        assert_int_equal(
            weir_socket_bind(p.a.weir, socket, &(struct weir_endpoint){weir_addr_any(), (uint16_t)(1000 + i)}),
            WEIR_OK);
    }
    for (uint64_t cursor = 0; (cursor = weir_socket_next(p.a.weir, cursor, &info)) != 0; steps++) {
        assert_true(steps < 10 * OTHERS);
        if (info.local.port >= 1000 && info.local.port < 1000 + STAY)
            shown[info.local.port - 1000]++;
        const uint32_t more = steps % 5 < 3 ? 60 : 0;
        while (open < OTHERS && open < more * (steps + 1)) {
            others[open] = weir_socket_open(p.a.weir, WEIR_DATAGRAM, 0);
            const struct weir_endpoint local = {weir_addr_any(), (uint16_t)(5000 + open)};
            assert_int_equal(weir_socket_bind(p.a.weir, others[open++], &local), WEIR_OK);
        }
        while (!more && open)
            assert_int_equal(weir_socket_close(p.a.weir, others[--open]), WEIR_OK);
    }
    for (uint32_t i = 0; i < STAY; i++)
        assert_int_equal(shown[i], 1);
    pair_close(&p);
}

static void a_connection_tells_of_itself(void **state)
{
    struct pair p;
    weir_socket client, server;
    struct weir_tcp_info info;
    (void)state;
    pair_open(&p, &(struct pair_options){.link = {.delay_us = 10000}});
    pair_connect(&p, 7501, &client, &server);
    weir_socket_write(p.a.weir, client, "12345", 5);
    pair_run(&p, 500000);
    assert_int_equal(weir_socket_tcp_info(p.a.weir, client, &info), WEIR_OK);
    assert_int_equal(info.state, WEIR_TCP_ESTABLISHED);
    assert_int_equal(info.bytes_acked, 5);
    assert_in_range(info.srtt_us, 19000, 70000);
    assert_int_equal(weir_socket_tcp_info(p.a.weir, 1, &info), WEIR_BAD_SOCKET);
    const weir_socket datagram = weir_socket_open(p.a.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_tcp_info(p.a.weir, datagram, &info), WEIR_NOT_SUPPORTED);
    pair_close(&p);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with(WEIR_CFG_COUNTER_NAMES, counters_have_names),
                                       cmocka_unit_test(the_walk_sees_every_socket_once),
                                       test_with(WEIR_CFG_ALLOCATOR, the_walk_survives_opening_and_closing),
                                       test_with(WEIR_CFG_TCP_INFO, a_connection_tells_of_itself)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
