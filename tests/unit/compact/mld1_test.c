// SPDX-License-Identifier: BSD-2-Clause
// COMPACT_MLD1: the compact stack speaks version 1 of multicast listener discovery while its querier is there.
// needs IPv6
#undef WEIR_CFG_IP4
#define WEIR_CFG_IP4 0
#define WEIR_CFG_COMPACT_MLD1 1
#include "serving.c"

#include "compact/talk6.h"

#define QUERY_BYTES 28u  // of version 2

static uint32_t tx_room;  // frames that the driver still takes

static bool tx_with_room(void *context, const uint8_t *frame, uint32_t length)
{
    return tx_room && tx_room-- && tx(context, frame, length);
}

// A general query, with an answer wanted at once.
static void query_in(struct talk *t, const uint8_t *source, uint8_t hops, uint32_t length)
{
    uint8_t bytes[200] = {0};
    bytes[HEADERS] = ICMP6_MLD_QUERY;
    icmp_in(t, bytes, source, ALL_NODES, hops, length);
}

static void expect_report1(struct talk *t, bool global, bool from_link)
{
    struct ip6 ip;
    uint8_t group[16];
    solicited(own_bytes(t, global), group);
    const uint8_t *report = message(t, ICMP6_MLD_REPORT_V1, &ip);
    assert_non_null(report);
    assert_int_equal(ip.payload_length, MLD_ALERT_BYTES + MLD_V1_BYTES);
    assert_int_equal(ip.hop_limit, 1);
    assert_memory_equal(ip.source, from_link ? own_bytes(t, false) : none, 16);
    assert_memory_equal(ip.destination, group, 16);
    assert_memory_equal(report + 8, group, 16);
}

static void expect_report2(struct talk *t, uint32_t groups)
{
    struct ip6 ip;
    const uint8_t *report = message(t, ICMP6_MLD_REPORT_V2, &ip);
    assert_non_null(report);
    assert_int_equal(get32(report + 4), groups);
}

// RFC 9777 §8.2.1: for 260 s after its last query; what is new then, too.
static void version_1_is_spoken_while_its_querier_is_there(void **state)
{
    (void)state;
    struct talk t;
    struct ip6 ip;
    begin_global(&t);
    query_in(&t, peer_address6, 1, QUERY_BYTES);
    expect_report2(&t, 2);
    expect_nothing(&t);
    query_in(&t, peer_address6, 1, MLD_V1_BYTES);
    expect_report1(&t, false, true);
    expect_report1(&t, true, true);
    expect_nothing(&t);
    pass(&t, 260 * SECOND - 10);
    expect_nothing(&t);
    query_in(&t, peer_address6, 1, QUERY_BYTES);  // one of version 2 changes nothing
    expect_report1(&t, false, true);
    expect_report1(&t, true, true);
    pass(&t, 10);
    query_in(&t, peer_address6, 1, QUERY_BYTES);
    expect_report2(&t, 2);
    query_in(&t, peer_address6, 1, MLD_V1_BYTES);
    forget(&t);
    prefix_in(&t, prefix_a, 86400, 0);
    prefix_in(&t, prefix_b, 86400, 14400);  // another address
    expect_report1(&t, false, true);
    expect_report1(&t, true, true);
    assert_non_null(message(&t, ICMP6_NEIGHBOUR_SOLICITATION, &ip));
    close_talk(&t);
}

static void before_there_is_an_address_it_comes_from_none(void **state)
{
    (void)state;
    struct talk t;
    begin(&t);
    forget(&t);
    query_in(&t, peer_address6, 1, MLD_V1_BYTES);
    expect_report1(&t, false, false);
    expect_nothing(&t);
    close_talk(&t);
}

// Elsewhere than on the link, through a router, and lengths that no version has.
static void what_is_no_query_changes_nothing(void **state)
{
    (void)state;
    struct talk t;
    begin_global(&t);
    query_in(&t, global_peer, 1, MLD_V1_BYTES);
    query_in(&t, peer_address6, 2, MLD_V1_BYTES);
    query_in(&t, peer_address6, 1, MLD_V1_BYTES - 1);
    expect_nothing(&t);
    query_in(&t, peer_address6, 1, QUERY_BYTES);
    expect_report2(&t, 2);
    close_talk(&t);
}

// A driver that takes one frame at a time gets each report once.
static void a_full_driver_gets_the_rest_later(void **state)
{
    (void)state;
    struct talk t;
    begin_global(&t);
    t.serving->tx = tx_with_room;
    tx_room = 1;
    query_in(&t, peer_address6, 1, MLD_V1_BYTES);
    expect_report1(&t, false, true);
    expect_nothing(&t);
    for (uint32_t again = 0; again < 3; again++) {
        tx_room = 1;
        serving_tx_ready(t.serving);
        turn(&t);
        if (!again)
            expect_report1(&t, true, true);
        expect_nothing(&t);
    }
    close_talk(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(version_1_is_spoken_while_its_querier_is_there),
        cmocka_unit_test(before_there_is_an_address_it_comes_from_none),
        cmocka_unit_test(what_is_no_query_changes_nothing),
        cmocka_unit_test(a_full_driver_gets_the_rest_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
