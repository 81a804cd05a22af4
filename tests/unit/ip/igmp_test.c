// SPDX-License-Identifier: BSD-2-Clause
// Membership: reports, queries of three versions, suppression, leaving. Over Ethernet, where the receive filter shows.
#include "ip/packets.h"

#include "wire/ethernet.h"
#include "wire/igmp.h"

#define GROUP weir_ip4(239, 1, 2, 3)
#define ALL_HOSTS weir_ip4(224, 0, 0, 1)

static void open_ethernet(struct fixture *f) { fixture_open(f, &weir_link_ethernet, OURS, 24, 0); }

static void input_igmp(struct fixture *f, struct weir_addr to, const uint8_t *message, uint32_t length, uint8_t ttl)
{
    uint8_t frame[200];
    uint8_t mac[6] = {1,
                      0,
                      0x5e,
                      (uint8_t)(weir_addr_to_v4(to) >> 16 & 0x7f),
                      (uint8_t)(weir_addr_to_v4(to) >> 8),
                      (uint8_t)weir_addr_to_v4(to)};
    struct made *packet = malloc(sizeof *packet);
    uint8_t body[64];
    memcpy(body, message, length);
    put16(body + 2, 0);
    checksum_put(body + 2, checksum_sum_portable(body, length));
    make_packet(
        packet,
        &(struct make){
            .source = ROUTER, .destination = to, .protocol = IP_IGMP, .ttl = ttl, .payload = body, .length = length});
    memcpy(frame + 14, packet->bytes, packet->length);
    const struct ethernet link = {.destination = mac, .source = FIXTURE_PEER_MAC, .type = ETHERTYPE_IP4};
    ethernet_emit(frame + 14, &link);
    fixture_input(f, frame, 14 + packet->length);
    free(packet);
}

static void query(struct fixture *f, uint8_t code, uint32_t group)
{
    uint8_t message[8] = {IGMP_QUERY, code};
    put32(message + 4, group);
    input_igmp(f, group ? weir_addr_v4(group) : ALL_HOSTS, message, sizeof message, 1);
}

// From now on the querier is of version 2.
static void version_2(struct fixture *f) { query(f, 1, 0); }

static const uint8_t *sent_igmp(struct fixture *f, uint32_t index, struct ip4 *ip, uint32_t *length)
{
    const uint8_t *bytes = sent_packet(f, index, ip, length);
    assert_int_equal(ip->protocol, IP_IGMP);
    assert_int_equal(ip->ttl, 1);
    assert_int_equal(ip->header_length, 24);  // router alert
    assert_int_equal(bytes[-4], 0x94);
    assert_int_equal(checksum_sum_portable(bytes, *length), 0xffff);
    return bytes;
}

static void expect_report(struct fixture *f, uint32_t index, uint8_t type)
{
    struct ip4 ip;
    uint32_t length;
    const uint8_t *bytes = sent_igmp(f, index, &ip, &length);
    assert_int_equal(bytes[0], type);
    if (type == IGMP_REPORT_V3) {
        assert_int_equal(ip.destination, weir_addr_to_v4(weir_ip4(224, 0, 0, 22)));
        assert_int_equal(length, 16);
        assert_int_equal(get16(bytes + 6), 1);
        assert_int_equal(get32(bytes + 12), weir_addr_to_v4(GROUP));
    } else {
        assert_int_equal(ip.destination,
                         type == IGMP_LEAVE ? weir_addr_to_v4(weir_ip4(224, 0, 0, 2)) : weir_addr_to_v4(GROUP));
        assert_int_equal(length, 8);
        assert_int_equal(get32(bytes + 4), weir_addr_to_v4(GROUP));
    }
}

static void join_reports_twice_and_filters(void **state)
{
    (void)state;
    struct fixture f;
    open_ethernet(&f);
    version_2(&f);
    assert_int_equal(ip_group_join(f.weir, &f.netif, PEER), WEIR_INVALID);
    assert_int_equal(ip_group_join(f.weir, &f.netif, GROUP), WEIR_OK);
    assert_int_equal(ip_group_join(f.weir, &f.netif, GROUP), WEIR_OK);  // counted, not repeated
    assert_int_equal(f.filter_count, 1);
    assert_memory_equal(f.filter[0], ((const uint8_t[]){1, 0, 0x5e, 1, 2, 3}), 6);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 1);
    expect_report(&f, 0, IGMP_REPORT_V2);
    fixture_poll(&f, 10001000);
    assert_int_equal(fixture_sent_count(&f), 2);
    expect_report(&f, 1, IGMP_REPORT_V2);
    fixture_poll(&f, 60000000);
    assert_int_equal(fixture_sent_count(&f), 2);
    fixture_clear(&f);
    assert_int_equal(ip_group_leave(f.weir, &f.netif, GROUP), WEIR_OK);
    assert_int_equal(f.filter_count, 1);
    assert_int_equal(ip_group_leave(f.weir, &f.netif, GROUP), WEIR_OK);
    assert_int_equal(f.filter_count, 0);
    assert_int_equal(ip_group_leave(f.weir, &f.netif, GROUP), WEIR_NO_ADDRESS);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 1);
    expect_report(&f, 0, IGMP_LEAVE);
    fixture_close(&f);
}

static void settle(struct fixture *f)
{
    version_2(f);
    assert_int_equal(ip_group_join(f->weir, &f->netif, GROUP), WEIR_OK);
    fixture_poll(f, 20000000);
    fixture_clear(f);
}

static void queries_are_answered_in_time(void **state)
{
    (void)state;
    struct fixture f;
    open_ethernet(&f);
    settle(&f);
    query(&f, 20, 0);  // within two seconds
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_poll(&f, 2001000);
    assert_int_equal(fixture_sent_count(&f), 1);
    expect_report(&f, 0, IGMP_REPORT_V2);
    fixture_clear(&f);
    query(&f, 10, weir_addr_to_v4(GROUP));
    query(&f, 10, weir_addr_to_v4(GROUP));  // asked twice, answered once
    fixture_poll(&f, 2001000);
    assert_int_equal(fixture_sent_count(&f), 1);
    fixture_clear(&f);
    query(&f, 10, weir_addr_to_v4(weir_ip4(239, 9, 9, 9)));  // not a member
    fixture_poll(&f, 2001000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void another_members_report_is_enough(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t report[8] = {IGMP_REPORT_V2};
    open_ethernet(&f);
    settle(&f);
    query(&f, 100, 0);
    put32(report + 4, weir_addr_to_v4(GROUP));
    input_igmp(&f, GROUP, report, sizeof report, 1);
    fixture_poll(&f, 11000000);
    assert_int_equal(fixture_sent_count(&f), 0);
    ip_group_leave(f.weir, &f.netif, GROUP);  // and who did not report last leaves without a word
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

// RFC 9776 §7.2.1: version 3 first, an older one as long as its querier is there.
static void older_and_newer_queriers_are_served(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t v3[12] = {IGMP_QUERY, 10};
    open_ethernet(&f);
    assert_int_equal(ip_group_join(f.weir, &f.netif, GROUP), WEIR_OK);
    fixture_poll(&f, 20000000);
    assert_int_equal(fixture_sent_count(&f), 2);
    expect_report(&f, 0, IGMP_REPORT_V3);
    fixture_clear(&f);
    input_igmp(&f, ALL_HOSTS, v3, sizeof v3, 1);
    fixture_poll(&f, 1001000);
    assert_int_equal(fixture_sent_count(&f), 1);
    expect_report(&f, 0, IGMP_REPORT_V3);
    fixture_clear(&f);
    query(&f, 0, 0);  // version 1
    fixture_poll(&f, 10001000);
    assert_int_equal(fixture_sent_count(&f), 1);
    expect_report(&f, 0, IGMP_REPORT_V1);
    fixture_clear(&f);
    query(&f, 10, 0);  // a version 2 query beside it: version 1 is still to be served
    fixture_poll(&f, 1001000);
    expect_report(&f, 0, IGMP_REPORT_V1);
    fixture_clear(&f);
    fixture_poll(&f, 401000000);
    query(&f, 10, 0);
    fixture_poll(&f, 1001000);
    expect_report(&f, 0, IGMP_REPORT_V2);
    fixture_clear(&f);
    input_igmp(&f, ALL_HOSTS, v3, sizeof v3, 1);  // nor does a version 3 query end that
    fixture_poll(&f, 1001000);
    expect_report(&f, 0, IGMP_REPORT_V2);
    fixture_clear(&f);
    fixture_poll(&f, 261000000);
    assert_int_equal(ip_group_leave(f.weir, &f.netif, GROUP), WEIR_OK);  // of itself, after 260 s
    fixture_poll(&f, 1000);
    expect_report(&f, 0, IGMP_REPORT_V3);
    fixture_close(&f);
}

static void bad_messages_are_counted(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t message[12] = {IGMP_QUERY, 10};
    open_ethernet(&f);
    settle(&f);
    input_igmp(&f, ALL_HOSTS, message, 8, 2);   // from beyond the link
    input_igmp(&f, ALL_HOSTS, message, 7, 1);   // too short
    input_igmp(&f, ALL_HOSTS, message, 10, 1);  // no version is so long
    message[10] = 0xff;                         // 65,280 sources in 12 bytes
    input_igmp(&f, ALL_HOSTS, message, 12, 1);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IGMP_BAD), 4);
    fixture_poll(&f, 20000000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void groups_are_received_while_joined(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    input_udp(&f, PEER, GROUP, 1, 2, NULL, 0);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_NOT_OURS), 1);
    ip_group_join(f.weir, &f.netif, GROUP);
    input_udp(&f, PEER, GROUP, 1, 2, NULL, 0);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_NO_SOCKET), 1);
    ip_group_leave(f.weir, &f.netif, GROUP);
    input_udp(&f, PEER, GROUP, 1, 2, NULL, 0);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_NOT_OURS), 2);
    fixture_close(&f);
}

static void carrier_back_reports_again(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    uint32_t reports = 0;
    open_ethernet(&f);
    settle(&f);
    weir_link_change(&f.netif, false);
    fixture_poll(&f, 1000000);
    weir_link_change(&f.netif, true);
    fixture_poll(&f, 20000000);
    for (uint32_t i = 0; i < fixture_sent_count(&f); i++) {
        uint32_t length;
        const uint8_t *frame = fixture_sent(&f, i, &length);
        if (get16(frame + 12) == ETHERTYPE_IP4) {
            sent_igmp(&f, i, &ip, &length);
            reports++;
        }
    }
    assert_int_equal(reports, 2);
    fixture_close(&f);
}

static void table_is_bounded(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    for (uint32_t i = 0; i < WEIR_CFG_MULTICAST_GROUPS; i++)
        assert_int_equal(ip_group_join(f.weir, &f.netif, weir_addr_v4(weir_addr_to_v4(GROUP) + i)), WEIR_OK);
    assert_int_equal(ip_group_join(f.weir, &f.netif, weir_ip4(239, 255, 0, 1)), WEIR_NO_MEMORY);
    fixture_poll(&f, 20000000);
    assert_int_equal(fixture_sent_count(&f), 2 * WEIR_CFG_MULTICAST_GROUPS);
    fixture_close(&f);
}

// The device counts what is in its filter, and outlives the interface.
static void an_interface_that_is_removed_leaves_its_filter(void **state)
{
    (void)state;
    struct fixture f;
    open_ethernet(&f);
    for (unsigned turn = 0; turn < 2; turn++) {
        const uint32_t before = f.filter_count;
        assert_int_equal(ip_group_join(f.weir, &f.netif, GROUP), WEIR_OK);
        assert_int_equal(f.filter_count, before + 1);
        weir_netif_remove(&f.netif);
        assert_int_equal(f.filter_count, 0);
        assert_int_equal(ip_group_leave(f.weir, &f.netif, GROUP), WEIR_NO_ADDRESS);
        assert_int_equal(weir_netif_add(f.weir, &f.netif), WEIR_OK);
    }
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(join_reports_twice_and_filters),
        cmocka_unit_test(queries_are_answered_in_time),
        cmocka_unit_test(another_members_report_is_enough),
        cmocka_unit_test(older_and_newer_queriers_are_served),
        cmocka_unit_test(bad_messages_are_counted),
        cmocka_unit_test(groups_are_received_while_joined),
        cmocka_unit_test(carrier_back_reports_again),
        cmocka_unit_test(table_is_bounded),
        cmocka_unit_test(an_interface_that_is_removed_leaves_its_filter),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
