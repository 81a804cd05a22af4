// SPDX-License-Identifier: BSD-2-Clause
#include "link/acd.h"
#include "fixture.h"
#include "frames.h"

#define SECOND 1000000u

static const uint8_t thief[6] = {0x02, 0xbb, 0, 0, 0, 0x66};

static void addresses_are_announced(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    const uint64_t start = f.now_us;
    assert_int_equal(weir_netif_set_address(&f.netif, weir_addr_v4(OURS), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(f.netif.arp_state, WEIR_ADDRESS_ANNOUNCING);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_poll(&f, 10 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 2);
    for (uint32_t i = 0; i < 2; i++) {
        frames_assert_request(&f, i, frames_all, OURS, OURS);
        assert_int_equal(fixture_sent_frame(&f, i)->sent_us, start + i * 2 * SECOND);
    }
    assert_int_equal(f.netif.arp_state, WEIR_ADDRESS_READY);
    fixture_close(&f);
}

static void start_probe(struct fixture *f)
{
    fixture_open(f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    assert_int_equal(weir_netif_set_address(&f->netif, weir_addr_v4(OURS), 24, WEIR_ADDRESS_PROBE), WEIR_OK);
    assert_int_equal(f->netif.arp_state, WEIR_ADDRESS_PROBING);
}

static void probing_finds_nobody(void **state)
{
    (void)state;
    struct fixture f;
    start_probe(&f);
    const uint64_t start = f.now_us;
    assert_false(ip_is_ours(f.weir, weir_addr_v4(OURS)));
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS);  // not answered for yet
    fixture_poll(&f, 20 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 5);
    for (uint32_t i = 0; i < 3; i++)
        frames_assert_request(&f, i, frames_all, 0, OURS);
    for (uint32_t i = 3; i < 5; i++)
        frames_assert_request(&f, i, frames_all, OURS, OURS);
    assert_in_range(fixture_sent_frame(&f, 0)->sent_us - start, 0, SECOND);
    for (uint32_t i = 1; i < 3; i++)
        assert_in_range(fixture_sent_frame(&f, i)->sent_us - fixture_sent_frame(&f, i - 1)->sent_us, SECOND, 2 * SECOND);
    assert_int_equal(fixture_sent_frame(&f, 3)->sent_us - fixture_sent_frame(&f, 2)->sent_us, 2 * SECOND);
    assert_int_equal(fixture_sent_frame(&f, 4)->sent_us - fixture_sent_frame(&f, 3)->sent_us, 2 * SECOND);
    assert_int_equal(f.netif.arp_state, WEIR_ADDRESS_READY);
    assert_true(ip_is_ours(f.weir, weir_addr_v4(OURS)));
    fixture_close(&f);
}

static void probing_finds_somebody(void **state)
{
    (void)state;
    // An answer, a request in its name, an announcement, and another's probe: each is a conflict.
    static const struct {
        uint16_t operation;
        uint32_t sender, target;
    } table[] = {{ARP_REPLY, OURS, 0}, {ARP_REQUEST, OURS, PEER}, {ARP_REQUEST, OURS, OURS}, {ARP_REQUEST, 0, OURS}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct fixture f;
        start_probe(&f);
        fixture_poll(&f, 1500000);
        frames_arp(&f, frames_all, table[i].operation, FIXTURE_MAC, table[i].sender, table[i].target);  // our own, reflected
        assert_int_equal(f.netif.arp_state, WEIR_ADDRESS_PROBING);
        frames_arp(&f, frames_all, table[i].operation, thief, table[i].sender, table[i].target);
        assert_int_equal(f.netif.arp_state, WEIR_ADDRESS_CONFLICT);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_CONFLICT), 1);
        fixture_clear(&f);
        frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS);
        fixture_poll(&f, 20 * SECOND);
        assert_int_equal(fixture_sent_count(&f), 0);
        assert_false(ip_is_ours(f.weir, weir_addr_v4(OURS)));
        fixture_close(&f);
    }
}

static void conflicts_slow_down_probing(void **state)
{
    (void)state;
    struct fixture f;
    start_probe(&f);
    for (uint32_t i = 0; i < 10; i++) {
        frames_arp(&f, frames_all, ARP_REPLY, thief, OURS + i, 0);
        assert_int_equal(weir_netif_set_address(&f.netif, weir_addr_v4(OURS + i + 1), 24, WEIR_ADDRESS_PROBE), WEIR_OK);
    }
    fixture_clear(&f);
    fixture_poll(&f, 59 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_poll(&f, 2 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 1);
    fixture_close(&f);
}

// §2.4(b): defended once, given up when disputed within ten seconds.
static void an_address_in_use_is_defended_once(void **state)
{
    (void)state;
    struct fixture f;
    frames_open(&f);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    frames_arp(&f, frames_all, ARP_REPLY, thief, OURS, PEER);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_CONFLICT), 1);
    fixture_poll(&f, 5 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 1);
    frames_assert_request(&f, 0, frames_all, OURS, OURS);
    assert_int_equal(f.netif.arp_state, WEIR_ADDRESS_READY);
    fixture_clear(&f);
    fixture_poll(&f, 6 * SECOND);
    frames_arp(&f, frames_all, ARP_REQUEST, thief, OURS, PEER);  // eleven seconds later: a first conflict again
    fixture_poll(&f, 9 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 1);
    assert_int_equal(f.netif.arp_state, WEIR_ADDRESS_READY);
    fixture_clear(&f);
    frames_arp(&f, frames_all, ARP_REQUEST, thief, OURS, PEER);  // nine seconds later
    assert_int_equal(f.netif.arp_state, WEIR_ADDRESS_CONFLICT);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_CONFLICT), 3);
    assert_false(ip_is_ours(f.weir, weir_addr_v4(OURS)));
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS);
    fixture_poll(&f, 20 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void probing_begins_again_with_the_carrier(void **state)
{
    (void)state;
    struct fixture f;
    start_probe(&f);
    fixture_poll(&f, 2500000);
    weir_netif_carrier(&f.netif, false);
    fixture_clear(&f);
    fixture_poll(&f, 20 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);
    weir_netif_carrier(&f.netif, true);
    assert_int_equal(f.netif.arp_state, WEIR_ADDRESS_PROBING);
    fixture_poll(&f, 20 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 5);
    assert_int_equal(f.netif.arp_state, WEIR_ADDRESS_READY);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_announced),
        cmocka_unit_test(probing_finds_nobody),
        cmocka_unit_test(probing_finds_somebody),
        cmocka_unit_test(conflicts_slow_down_probing),
        cmocka_unit_test(an_address_in_use_is_defended_once),
        cmocka_unit_test(probing_begins_again_with_the_carrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
