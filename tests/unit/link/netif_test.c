// SPDX-License-Identifier: BSD-2-Clause
#include "fixture.h"
#include "frames.h"

static enum weir_tx_verdict no_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    (void)netif, (void)tx;
    return WEIR_TX_DONE;
}

static const struct weir_driver other_driver = {.name = "other", .tx = no_tx};
static const struct weir_driver dumb_driver = {.name = "dumb"};

static void what_may_be_added(void **state)
{
    (void)state;
    struct fixture f;
    struct weir_netif netif;
    frames_open(&f);
    weir_netif_init(&netif, "dumb0", &dumb_driver, &weir_link_ethernet);
    assert_int_equal(weir_netif_add(f.weir, &netif), WEIR_INVALID);
    weir_netif_init(&netif, "test0", &other_driver, &weir_link_ethernet);
    // The name is taken; where there is room for one interface only, so is the room.
    assert_int_equal(weir_netif_add(f.weir, &netif), WEIR_CFG_NETIFS > 1 ? WEIR_INVALID : WEIR_NO_MEMORY);
    weir_netif_init(&netif, "", &other_driver, &weir_link_ethernet);
    assert_int_equal(weir_netif_add(f.weir, &netif), WEIR_INVALID);
    weir_netif_init(&netif, "small0", &other_driver, &weir_link_ethernet);
    assert_int_equal(netif.mtu, 1500);
    assert_int_equal(netif.capabilities, WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST);
    netif.mtu = 67;
    assert_int_equal(weir_netif_add(f.weir, &netif), WEIR_INVALID);
    netif.mtu = 68;
    netif.flags = WEIR_NETIF_VLAN;
    netif.vlan = 4095;
    assert_int_equal(weir_netif_add(f.weir, &netif), WEIR_INVALID);
    netif.vlan = 4094;
    assert_int_equal(weir_netif_add(f.weir, &netif), WEIR_CFG_VLAN ? WEIR_OK : WEIR_NOT_SUPPORTED);
    if (WEIR_CFG_VLAN) {
        assert_int_equal(weir_netif_add(f.weir, &netif), WEIR_INVALID);  // twice
        assert_int_equal(netif.index, 2);
        assert_int_equal(netif.flags & (WEIR_NETIF_UP | WEIR_NETIF_LINK), WEIR_NETIF_UP | WEIR_NETIF_LINK);
        weir_netif_remove(&netif);
    }
    weir_netif_init(&netif, "muchtoolong", &other_driver, &weir_link_ethernet);
    assert_string_equal(netif.name, "muchtoo");
    fixture_close(&f);
}

static void so_many_and_no_more(void **state)
{
    (void)state;
    static struct weir_netif netifs[WEIR_CFG_NETIFS];
    struct fixture f;
    frames_open(&f);
    assert_int_equal(f.netif.index, 1);
    for (uint32_t i = 0; i < WEIR_CFG_NETIFS; i++) {
        const char name[4] = {'n', (char)('0' + i / 10), (char)('0' + i % 10)};
        weir_netif_init(&netifs[i], name, &other_driver, &weir_link_rawip);
        const int result = weir_netif_add(f.weir, &netifs[i]);
        assert_int_equal(result, i + 1 < WEIR_CFG_NETIFS ? WEIR_OK : WEIR_NO_MEMORY);
        if (!result)
            assert_int_equal(netifs[i].index, i + 2);
    }
    assert_ptr_equal(weir_netif_find(f.weir, "n00"), WEIR_CFG_NETIFS > 1 ? &netifs[0] : NULL);
    assert_null(weir_netif_find(f.weir, "n0"));
    assert_null(weir_netif_find(f.weir, "n000"));
    assert_ptr_equal(netif_by_index(f.weir, 1), &f.netif);
    assert_null(netif_by_index(f.weir, 0));
    if (WEIR_CFG_NETIFS > 1) {  // an index that became free serves again
        weir_netif_remove(&netifs[0]);
        assert_null(netif_by_index(f.weir, 2));
        assert_null(weir_netif_find(f.weir, "n00"));
        weir_netif_remove(&netifs[0]);
        assert_int_equal(weir_netif_add(f.weir, &netifs[WEIR_CFG_NETIFS - 1]), WEIR_OK);
        assert_int_equal(netifs[WEIR_CFG_NETIFS - 1].index, 2);
    }
    fixture_close(&f);
}

static void addresses(void **state)
{
    (void)state;
    struct fixture f;
    struct weir_netif loose;
    struct path path;
    struct weir_addr source = weir_addr_any();
    frames_open(&f);
    weir_netif_init(&loose, "loose", &other_driver, &weir_link_ethernet);
    assert_int_equal(weir_netif_set_address(&loose, weir_addr_v4(OURS), 24, WEIR_ADDRESS_AT_ONCE), WEIR_INVALID);
    assert_int_equal(weir_netif_set_address(&f.netif, weir_addr_v4(OURS), 33, WEIR_ADDRESS_AT_ONCE), WEIR_INVALID);
    assert_int_equal(weir_netif_set_address(&f.netif, weir_ip4(224, 0, 0, 1), 24, WEIR_ADDRESS_AT_ONCE), WEIR_INVALID);
    assert_int_equal(weir_netif_set_address(&f.netif, weir_ip4(255, 255, 255, 255), 24, WEIR_ADDRESS_AT_ONCE),
                     WEIR_INVALID);
    assert_int_equal(weir_netif_set_address(&f.netif, weir_ip4(127, 0, 0, 2), 8, WEIR_ADDRESS_AT_ONCE), WEIR_INVALID);
    assert_true(ip_is_ours(f.weir, weir_addr_v4(OURS)));  // nothing of this changed anything
#if WEIR_CFG_ARP_CACHE
    assert_int_equal(ip_path_find(f.weir, &path, &source, weir_addr_v4(PEER), 0), WEIR_OK);
    assert_ptr_equal(path.netif, &f.netif);
    assert_int_equal(weir_addr_to_v4(source), OURS);
#endif
    assert_int_equal(weir_netif_set_address(&f.netif, weir_ip4(192, 168, 7, 1), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_false(ip_is_ours(f.weir, weir_addr_v4(OURS)));
#if WEIR_CFG_ARP_CACHE
    assert_false(ip_path_valid(f.weir, &path));
    source = weir_addr_any();
    // the old subnet's route went
    assert_int_equal(ip_path_find(f.weir, &path, &source, weir_addr_v4(PEER), 0), WEIR_NO_ROUTE);
    assert_int_equal(ip_path_find(f.weir, &path, &source, weir_ip4(192, 168, 7, 200), 0), WEIR_OK);
#endif
    assert_int_equal(weir_netif_set_address(&f.netif, weir_addr_any(), 0, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(f.netif.address.state, WEIR_ADDRESS_NONE);
    assert_int_equal(f.weir->ip.route_count, 0);
    (void)path, (void)source;
    fixture_close(&f);
}

#if WEIR_CFG_ARP_CACHE
static void a_full_routing_table(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    for (uint32_t i = 0; i < WEIR_CFG_ROUTES; i++)
        assert_int_equal(weir_route_add(f.weir, weir_addr_v4(0x0b000000u + (i << 8)), 24, weir_addr_any(), &f.netif, 0),
                         WEIR_OK);
    assert_int_equal(weir_netif_set_address(&f.netif, weir_addr_v4(OURS), 24, WEIR_ADDRESS_AT_ONCE), WEIR_NO_MEMORY);
    assert_true(weir_addr_is_any(f.netif.address.addr));
    assert_false(ip_is_ours(f.weir, weir_addr_v4(OURS)));
    fixture_close(&f);
}
#endif

static enum weir_tx_verdict transmit(struct fixture *f, uint16_t segment_size)
{
    static const uint8_t payload[1000];
    struct packet_out out;
    packet_out_init(&out);
    packet_out_payload(&out, payload, 600);
    packet_out_payload(&out, payload + 600, 400);
    memset(packet_out_header(&out, 54), 0, 54);
    out.tx.segment_size = segment_size;
    return netif_transmit(&f->netif, &out);
}

static void frames_are_counted(void **state)
{
    (void)state;
    const struct fixture_options options = {.capabilities = WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TSO4,
                                            .mode = FIXTURE_PLAIN};
    struct fixture f;
    assert_true(fixture_open_with(&f, &options));
    assert_int_equal(transmit(&f, 0), WEIR_TX_DONE);
    const struct fixture_frame *frame = fixture_sent_frame(&f, 0);
    assert_int_equal(frame->length, 1054);
    assert_int_equal(frame->header_length, 54);
    assert_int_equal(transmit(&f, 300), WEIR_TX_DONE);
    assert_int_equal(f.netif.stats.tx_frames, 2);
    assert_int_equal(f.netif.stats.tx_bytes, 2108);
    assert_int_equal(f.netif.stats.tx_segments, 1 + 4);
    fixture_close(&f);
}

static void full_until_ready(void **state)
{
    (void)state;
    struct fixture f;
    frames_open(&f);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    f.block_tx = true;
    const uint32_t before = f.netif.stats.tx_frames;
    assert_int_equal(transmit(&f, 0), WEIR_TX_FULL);
    assert_true(f.netif.flags & WEIR_NETIF_TX_BLOCKED);
    assert_int_equal(transmit(&f, 0), WEIR_TX_FULL);
    assert_int_equal(f.full_count, 1);  // the driver was not asked again
    f.block_tx = false;
    assert_int_equal(transmit(&f, 0), WEIR_TX_FULL);
    weir_tx_ready(&f.netif);
    assert_int_equal(transmit(&f, 0), WEIR_TX_DONE);
    assert_int_equal(f.netif.stats.tx_full, 1);
    assert_int_equal(f.netif.stats.tx_frames, before + 1);
    fixture_close(&f);
}

static void ready_brings_blocked_socks_back(void **state)
{
    (void)state;
    struct fixture f;
    struct sock sock = {0};
    frames_open(&f);
    sock_output(&f.weir->socks, &sock);
    assert_ptr_equal(sock_output_pop(&f.weir->socks), &sock);
    sock_blocked(&f.weir->socks, &sock);
    assert_null(sock_output_pop(&f.weir->socks));
    weir_tx_ready(&f.netif);
    assert_ptr_equal(sock_output_pop(&f.weir->socks), &sock);
    sock_blocked(&f.weir->socks, &sock);
    weir_netif_carrier(&f.netif, false);
    assert_ptr_equal(sock_output_pop(&f.weir->socks), &sock);  // it may find another way
    sock_blocked(&f.weir->socks, &sock);
    weir_tx_ready(&f.netif);  // no carrier: no
    assert_null(sock_output_pop(&f.weir->socks));
    weir_netif_carrier(&f.netif, true);
    assert_ptr_equal(sock_output_pop(&f.weir->socks), &sock);
    fixture_close(&f);
}

static void down_loses_and_up_announces(void **state)
{
    (void)state;
    struct fixture f;
    frames_open(&f);
    assert_int_equal(weir_netif_set_up(&f.netif, false), WEIR_OK);
    assert_int_equal(weir_netif_set_up(&f.netif, false), WEIR_OK);
    assert_int_equal(transmit(&f, 0), WEIR_TX_DONE);
    assert_int_equal(f.netif.stats.tx_dropped, 1);
    fixture_poll(&f, 10000000);
    assert_int_equal(fixture_sent_count(&f), 0);
    assert_int_equal(weir_netif_set_up(&f.netif, true), WEIR_OK);
    fixture_poll(&f, 10000000);
    if (WEIR_CFG_ARP_CACHE)
        assert_true(fixture_sent_count(&f) >= 2);
    fixture_close(&f);
}

static void a_driver_may_speak_before_it_is_added(void **state)
{
    (void)state;
    struct weir_netif netif;
    weir_netif_init(&netif, "early", &other_driver, &weir_link_ethernet);
    weir_netif_carrier(&netif, true);
    weir_netif_carrier(&netif, false);
    weir_netif_ready(&netif);
    weir_netif_remove(&netif);
    assert_int_equal(weir_netif_set_up(&netif, true), WEIR_INVALID);
    assert_null(netif.weir);
}

static void prefixes(void **state)
{
    (void)state;
    const struct weir_addr prefix = weir_ip4(10, 1, 2, 3), next = weir_ip4(10, 1, 2, 4), other = weir_ip4(138, 1, 2, 3);
    assert_true(weir_addr_in_prefix(prefix, prefix, 32));
    assert_false(weir_addr_in_prefix(next, prefix, 32));
    assert_true(weir_addr_in_prefix(next, prefix, 29));
    assert_false(weir_addr_in_prefix(other, prefix, 1));
    assert_true(weir_addr_in_prefix(other, prefix, 0));
    assert_int_equal(weir_addr_to_v4(next), 0x0a010204);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(prefixes),
        cmocka_unit_test(what_may_be_added),
        cmocka_unit_test(so_many_and_no_more),
        cmocka_unit_test(addresses),
#if WEIR_CFG_ARP_CACHE
        cmocka_unit_test(a_full_routing_table),
#endif
        cmocka_unit_test(frames_are_counted),
        cmocka_unit_test(full_until_ready),
        cmocka_unit_test(ready_brings_blocked_socks_back),
        cmocka_unit_test(down_loses_and_up_announces),
        cmocka_unit_test(a_driver_may_speak_before_it_is_added)
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
