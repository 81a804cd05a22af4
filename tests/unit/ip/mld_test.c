// SPDX-License-Identifier: BSD-2-Clause
// profiles: small6
// also without IPv4
// needs IPv6
// Multicast listener discovery (RFC 9777): what is reported, from where, and which queries count.
#include "ip/packets6.h"

#include "built.h"
#include "ip/internal.h"
#include "wire/mld.h"

#define SECOND 1000000u
#define ROUTER6 ip6_of(0xfe800000u, 0, 0, 0xfe)
#define GROUP6 ip6_of(0xff020000u, 0, 0, 0xfb)
#define SECOND_GROUP6 ip6_of(0xff020000u, 0, 0, 0xfc)

static const uint8_t alert[8] = {IP6_ICMP, 0, 5, 2, 0, 0, 1, 0};

struct sent_mld {
    uint32_t count;
    struct weir_addr source, destination;  // of the last
};

// Messages of the type about `group` that were sent; of reports of version 2, with a record of the type.
static struct sent_mld sent_of(const struct fixture *f, uint8_t type, uint8_t record, struct weir_addr group)
{
    struct sent_mld sent = {0};
    for (uint32_t i = 0; i < fixture_sent_count(f); i++) {
        struct ip6 ip;
        uint32_t length;
        const uint8_t *const bytes = sent6(f, i, &ip, &length), *const message = bytes + 8;
        if (ip.next_header != IP6_HOP_BY_HOP || message[0] != type)
            continue;
        assert_memory_equal(bytes, alert, 8);
        assert_int_equal(ip.hop_limit, 1);
        assert_int_equal(icmp6_sum(message, length - 8, ip.source, ip.destination), 0xffff);
        const bool v2 = type == ICMP6_MLD_REPORT_V2;
        if ((v2 && message[8] != record) || !weir_addr_equal(weir_addr_v6(message + (v2 ? 12 : 8)), group))
            continue;
        sent = (struct sent_mld){sent.count + 1, weir_addr_v6(ip.source), weir_addr_v6(ip.destination)};
    }
    return sent;
}

static struct sent_mld reported(const struct fixture *f, uint8_t record, struct weir_addr group)
{
    return sent_of(f, ICMP6_MLD_REPORT_V2, record, group);
}

static void query(struct fixture *f, const struct make6 *make, uint32_t length, uint16_t response_ms)
{
    uint8_t message[32] = {ICMP6_MLD_QUERY};
    put16(message + 4, response_ms);
    input_icmp6(f, make, message, length);
    fixture_poll(f, 1000);
}

static const struct make6 proper = {.next_header = IP6_HOP_BY_HOP, .hop_limit = 1, .chain = alert, .chain_length = 8};

static struct make6 proper_query(void)
{
    struct make6 make = proper;
    make.source = ROUTER6;
    make.destination = ALL_NODES6;
    return make;
}

// An interface with its link-local address, everything said.
static void open_ready(struct fixture *f)
{
    fixture_open(f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    assert_int_equal(weir_netif_ip6(&f->netif, WEIR_IP6_LINK_LOCAL, NULL), WEIR_OK);
    fixture_poll(f, 10 * SECOND);
    fixture_clear(f);
}

static void solicited_node_groups_are_reported_before_the_probe_and_after(void **state)
{
    (void)state;
    const struct weir_addr group = solicited_node_of(LINK_LOCAL6);
    struct fixture f;
    fixture_open(&f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    assert_int_equal(weir_netif_ip6(&f.netif, WEIR_IP6_LINK_LOCAL, NULL), WEIR_OK);
    while (find_icmp6(&f, ICMP6_NEIGHBOUR_SOLICITATION) < 0)
        fixture_poll(&f, 10000);
    const struct sent_mld first = reported(&f, GROUP_TO_EXCLUDE, group);
    assert_in_range(first.count, 1, 2);
    assert_true(weir_addr_is_any(first.source));
    assert_true(weir_addr_equal(first.destination, ip6_of(0xff020000u, 0, 0, 0x16)));
    fixture_poll(&f, 900000);  // tentative to the end: from nowhere
    assert_true(weir_addr_is_any(reported(&f, GROUP_TO_EXCLUDE, group).source));
    fixture_clear(&f);
    fixture_poll(&f, 10 * SECOND);
    const struct sent_mld again = reported(&f, GROUP_TO_EXCLUDE, group);
    assert_in_range(again.count, 1, 3);
    assert_true(weir_addr_equal(again.source, LINK_LOCAL6));
    fixture_close(&f);
}

// The first of an interface is one more than WEIR_CFG_ADDRESSES.
static void the_group_of_every_address_has_a_place(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    for (uint32_t i = 1; i <= WEIR_CFG_ADDRESSES; i++)
        assert_int_equal(
            weir_netif_address_add(&f.netif, ip6_of(0x20010db8u, 0, 0, 0x100 + i), 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(weir_netif_set_address(&f.netif, OURS6, 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    fixture_poll(&f, 10 * SECOND);
    assert_true(reported(&f, GROUP_TO_EXCLUDE, solicited_node_of(OURS6)).count > 0);
    for (uint32_t i = 1; i <= WEIR_CFG_ADDRESSES; i++)
        assert_true(reported(&f, GROUP_TO_EXCLUDE, solicited_node_of(ip6_of(0, 0, 0, 0x100 + i))).count > 0);
    fixture_close(&f);
}

static void a_change_is_reported_twice_and_the_end_of_it(void **state)
{
    (void)state;
    struct fixture f;
    open_ready(&f);
    assert_int_equal(ip_group_join(f.weir, &f.netif, GROUP6), WEIR_OK);
    fixture_poll(&f, 1000);
    assert_int_equal(reported(&f, GROUP_TO_EXCLUDE, GROUP6).count, 1);
    fixture_poll(&f, 1100000);
    assert_int_equal(reported(&f, GROUP_TO_EXCLUDE, GROUP6).count, 2);
    fixture_poll(&f, 10 * SECOND);
    assert_int_equal(reported(&f, GROUP_TO_EXCLUDE, GROUP6).count, 2);
    assert_int_equal(ip_group_leave(f.weir, &f.netif, GROUP6), WEIR_OK);
    fixture_poll(&f, 10 * SECOND);
    assert_true(reported(&f, GROUP_TO_INCLUDE, GROUP6).count >= 1);
    fixture_clear(&f);
    // does not leave the interface
    assert_int_equal(ip_group_join(f.weir, &f.netif, ip6_of(0xff010000u, 0, 0, 0xfb)), WEIR_OK);
    fixture_poll(&f, 10 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void a_query_is_answered_if_it_is_one(void **state)
{
    (void)state;
    struct fixture f;
    struct make6 make = proper_query();
    open_ready(&f);
    assert_int_equal(ip_group_join(f.weir, &f.netif, GROUP6), WEIR_OK);
    fixture_poll(&f, 10 * SECOND);
    fixture_clear(&f);
    query(&f, &make, 26, 1000);
    make.hop_limit = 2;
    query(&f, &make, 28, 1000);
    make = proper_query();
    make.source = PEER6;
    query(&f, &make, 28, 1000);
    make = proper_query();
    make.chain_length = 0;
    query(&f, &make, 28, 1000);
    fixture_poll(&f, 10 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);
    make = proper_query();
    query(&f, &make, 28, 1000);
    fixture_poll(&f, 2 * SECOND);
    assert_int_equal(reported(&f, GROUP_IS_EXCLUDE, GROUP6).count, 1);
    assert_int_equal(reported(&f, GROUP_IS_EXCLUDE, solicited_node_of(LINK_LOCAL6)).count, 1);
    fixture_clear(&f);
    query(&f, &make, 28, 0);
    fixture_poll(&f, 10000);
    assert_int_equal(reported(&f, GROUP_IS_EXCLUDE, GROUP6).count, 1);
    fixture_close(&f);
}

// A thousand queries in two seconds, all of which ask at once: four answers a second, not five hundred.
static void a_flood_of_queries_is_answered_seldom(void **state)
{
    (void)state;
    struct fixture f;
    const struct make6 make = proper_query();
    const struct weir_addr group = WEIR_CFG_IGMP ? GROUP6 : solicited_node_of(LINK_LOCAL6);
    open_ready(&f);
    if (WEIR_CFG_IGMP)
        assert_int_equal(ip_group_join(f.weir, &f.netif, group), WEIR_OK);
    fixture_poll(&f, 10 * SECOND);
    fixture_clear(&f);
    uint32_t answers = 0;
    for (unsigned i = 0; i < 1000; i++) {
        query(&f, &make, 28, 0);  // a millisecond
        fixture_poll(&f, 1000);
        answers += reported(&f, GROUP_IS_EXCLUDE, group).count;
        fixture_clear(&f);
    }
    assert_in_range(answers, 8, 9);
    fixture_close(&f);
}

static void version_1_is_spoken_while_its_querier_is_there(void **state)
{
    (void)state;
    const struct make6 make = proper_query();
    struct fixture f;
    open_ready(&f);
    assert_int_equal(ip_group_join(f.weir, &f.netif, GROUP6), WEIR_OK);
    fixture_poll(&f, 10 * SECOND);
    fixture_clear(&f);
    query(&f, &make, 24, 1000);
    fixture_poll(&f, 1100000);
    const struct sent_mld answer = sent_of(&f, ICMP6_MLD_REPORT_V1, 0, GROUP6);
    assert_int_equal(answer.count, 1);
    assert_true(weir_addr_equal(answer.destination, GROUP6));
    query(&f, &make, 28, 1000);                                                 // a newer querier changes nothing yet
    assert_int_equal(ip_group_join(f.weir, &f.netif, SECOND_GROUP6), WEIR_OK);  // nor is a group too new for it
    fixture_poll(&f, 2 * SECOND);
    assert_true(sent_of(&f, ICMP6_MLD_REPORT_V1, 0, SECOND_GROUP6).count >= 1);
    assert_int_equal(reported(&f, GROUP_TO_EXCLUDE, SECOND_GROUP6).count, 0);
    assert_int_equal(ip_group_leave(f.weir, &f.netif, SECOND_GROUP6), WEIR_OK);
    fixture_poll(&f, SECOND);
    assert_int_equal(sent_of(&f, ICMP6_MLD_DONE, 0, SECOND_GROUP6).count, 1);
    fixture_poll(&f, 300 * (uint64_t)SECOND);
    fixture_clear(&f);
    assert_int_equal(ip_group_leave(f.weir, &f.netif, GROUP6), WEIR_OK);  // by itself, without a query
    fixture_poll(&f, SECOND);
    assert_true(reported(&f, GROUP_TO_INCLUDE, GROUP6).count >= 1);
    assert_int_equal(sent_of(&f, ICMP6_MLD_DONE, 0, GROUP6).count, 0);
    fixture_close(&f);
}

// The checksum covers the source, so another may not take its place where the way is looked up again.
static void a_report_from_nowhere_stays_so_where_routes_change_before_it_leaves(void **state)
{
    (void)state;
    struct fixture f;
    open6(&f, &weir_link_ethernet);  // without a link-local address
    f.block_tx = true;
    assert_int_equal(ip_group_join(f.weir, &f.netif, GROUP6), WEIR_OK);
    fixture_poll(&f, 1000);
    assert_int_equal(reported(&f, GROUP_TO_EXCLUDE, GROUP6).count, 0);
    assert_int_equal(weir_route_add(f.weir, FAR6, 64, PEER6, &f.netif, 0), WEIR_OK);
    fixture_unblock(&f, 1000);
    const struct sent_mld sent = reported(&f, GROUP_TO_EXCLUDE, GROUP6);
    assert_int_equal(sent.count, 1);
    assert_true(weir_addr_is_any(sent.source));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(solicited_node_groups_are_reported_before_the_probe_and_after),
        cmocka_unit_test(the_group_of_every_address_has_a_place),
        test_with(WEIR_CFG_IGMP, a_change_is_reported_twice_and_the_end_of_it),
        test_with(WEIR_CFG_IGMP, a_query_is_answered_if_it_is_one),
        cmocka_unit_test(a_flood_of_queries_is_answered_seldom),
        test_with(WEIR_CFG_IGMP, version_1_is_spoken_while_its_querier_is_there),
        test_with(WEIR_CFG_IGMP, a_report_from_nowhere_stays_so_where_routes_change_before_it_leaves),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
