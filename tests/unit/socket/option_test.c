// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small
#include "built.h"
#include "fixture.h"

static void ranges_are_checked_for_every_kind(void **state)
{
    static const struct {
        enum weir_option option;
        int32_t good, low, high;
    } rows[] = {
        {WEIR_OPTION_REUSE_ADDRESS, 1, -1, 2},
        {WEIR_OPTION_KEEPALIVE_IDLE_S, 10, 0, 32768},
        {WEIR_OPTION_KEEPALIVE_COUNT, 3, 0, 128},
        {WEIR_OPTION_LINGER_S, -1, -2, 32768},
        {WEIR_OPTION_MAX_SEGMENT, 500, 63, 65496},
        {WEIR_OPTION_TTL, 1, 0, 256},
        {WEIR_OPTION_TOS, 0, -1, 256},
        {WEIR_OPTION_NO_DELAY, 1, -1, 2},
#if WEIR_CFG_TCP_REFINEMENTS
        {WEIR_OPTION_USER_TIMEOUT_OPTION, WEIR_UTO_ON, -1, 257},  // whose low eight bits would do
#endif
    };
    struct fixture f;
    int32_t value;
    (void)state;
    fixture_open(&f, &weir_link_rawip, weir_ip4(10, 0, 0, 1), 24, 0);
    const weir_socket s = weir_socket_open(f.weir, WEIR_STREAM, 0);
    for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
        assert_int_equal(weir_socket_set(f.weir, s, rows[i].option, rows[i].low), WEIR_INVALID);
        assert_int_equal(weir_socket_set(f.weir, s, rows[i].option, rows[i].high), WEIR_INVALID);
        assert_int_equal(weir_socket_set(f.weir, s, rows[i].option, rows[i].good), WEIR_OK);
        assert_int_equal(weir_socket_get(f.weir, s, rows[i].option, &value), WEIR_OK);
        assert_int_equal(value, rows[i].good);
    }
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_ERROR, 0), WEIR_NOT_SUPPORTED);  // read-only
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_COUNT, 0), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_set(f.weir, s, (enum weir_option) - 1, 0), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_MULTICAST_TTL, 1), WEIR_NOT_SUPPORTED);  // of datagrams
    const weir_socket d = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_set(f.weir, d, WEIR_OPTION_NO_DELAY, 1), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_set(f.weir, d, WEIR_OPTION_HEADER_INCLUDED, 1), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_set(f.weir, d, WEIR_OPTION_BROADCAST, 1), WEIR_OK);
    assert_int_equal(weir_socket_get(f.weir, d, WEIR_OPTION_TYPE, &value), WEIR_OK);
    assert_int_equal(value, WEIR_DATAGRAM);
    assert_int_equal(weir_socket_set_congestion(f.weir, d, "reno"), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_set_congestion(f.weir, s, "nonesuch"), WEIR_INVALID);
    assert_int_equal(weir_socket_set_congestion(f.weir, s, "reno"), WEIR_OK);
    assert_string_equal(weir_socket_congestion(f.weir, s), "reno");
    assert_null(weir_socket_congestion(f.weir, d));
    fixture_close(&f);
}

static void binding_to_an_interface(void **state)
{
    struct fixture f;
    int32_t value;
    (void)state;
    fixture_open(&f, &weir_link_rawip, weir_ip4(10, 0, 0, 1), 24, 0);
    const weir_socket s = weir_socket_open(f.weir, WEIR_STREAM, 0);
    const uint16_t generation = f.weir->ip.generation;
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_BIND_NETIF, 77), WEIR_NO_ADDRESS);
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_BIND_NETIF, f.netif.index), WEIR_OK);
    assert_int_not_equal(f.weir->ip.generation, generation);  // cached paths are looked up again
    assert_int_equal(weir_socket_get(f.weir, s, WEIR_OPTION_BIND_NETIF, &value), WEIR_OK);
    assert_int_equal(value, f.netif.index);
    assert_ptr_equal(weir_netif_at(f.weir, f.netif.index), &f.netif);
    assert_null(weir_netif_at(f.weir, 77));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {test_with(WEIR_CFG_CC_RENO, ranges_are_checked_for_every_kind),
                                       cmocka_unit_test(binding_to_an_interface)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
