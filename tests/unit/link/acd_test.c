// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
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
    assert_int_equal(f.netif.address.state, WEIR_ADDRESS_ANNOUNCING);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_poll(&f, 10 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 2);
    for (uint32_t i = 0; i < 2; i++) {
        frames_assert_request(&f, i, frames_all, OURS, OURS);
        assert_int_equal(fixture_sent_frame(&f, i)->sent_us, start + i * 2 * SECOND);
    }
    assert_int_equal(f.netif.address.state, WEIR_ADDRESS_READY);
    fixture_close(&f);
}

static void start_probe(struct fixture *f)
{
    fixture_open(f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    assert_int_equal(weir_netif_set_address(&f->netif, weir_addr_v4(OURS), 24, WEIR_ADDRESS_PROBE), WEIR_OK);
    assert_int_equal(f->netif.address.state, WEIR_ADDRESS_PROBING);
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
        assert_in_range(fixture_sent_frame(&f, i)->sent_us - fixture_sent_frame(&f, i - 1)->sent_us, SECOND,
                        2 * SECOND);
    assert_int_equal(fixture_sent_frame(&f, 3)->sent_us - fixture_sent_frame(&f, 2)->sent_us, 2 * SECOND);
    assert_int_equal(fixture_sent_frame(&f, 4)->sent_us - fixture_sent_frame(&f, 3)->sent_us, 2 * SECOND);
    assert_int_equal(f.netif.address.state, WEIR_ADDRESS_READY);
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
        // our own, reflected
        frames_arp(&f, frames_all, table[i].operation, FIXTURE_MAC, table[i].sender, table[i].target);
        assert_int_equal(f.netif.address.state, WEIR_ADDRESS_PROBING);
        frames_arp(&f, frames_all, table[i].operation, thief, table[i].sender, table[i].target);
        assert_int_equal(f.netif.address.state, WEIR_ADDRESS_CONFLICT);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_CONFLICT), 1);
        fixture_clear(&f);
        frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS);
        fixture_poll(&f, 9 * SECOND);
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

// §2.4(b): a leased address is defended once, and given up when that is disputed within ten seconds.
static void a_leased_address_is_defended_once(void **state)
{
    (void)state;
    struct fixture f;
    start_probe(&f);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    fixture_poll(&f, 20 * SECOND);
    fixture_clear(&f);
    frames_arp(&f, frames_all, ARP_REPLY, thief, OURS, PEER);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_CONFLICT), 1);
    fixture_poll(&f, 5 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 1);
    frames_assert_request(&f, 0, frames_all, OURS, OURS);
    assert_int_equal(f.netif.address.state, WEIR_ADDRESS_READY);
    fixture_clear(&f);
    fixture_poll(&f, 6 * SECOND);
    frames_arp(&f, frames_all, ARP_REQUEST, thief, OURS, PEER);  // eleven seconds later: a first conflict again
    fixture_poll(&f, 9 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 1);
    assert_int_equal(f.netif.address.state, WEIR_ADDRESS_READY);
    fixture_clear(&f);
    frames_arp(&f, frames_all, ARP_REQUEST, thief, OURS, PEER);  // nine seconds later
    assert_int_equal(f.netif.address.state, WEIR_ADDRESS_CONFLICT);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_CONFLICT), 3);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ADDRESS_DEFENDED), 2);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ADDRESS_LOST), 1);
    assert_int_equal(f.netif.conflict_total, 3);
    assert_memory_equal(f.netif.conflict_mac, thief, 6);
    assert_false(ip_is_ours(f.weir, weir_addr_v4(OURS)));
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS);
    fixture_poll(&f, 9 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

// §2.4(c): whatever is claimed, and however often, a static address stays, and is announced once in ten seconds at the
// most.
static void a_static_address_is_never_given_up(void **state)
{
    (void)state;
    static const enum weir_address_mode modes[] = {WEIR_ADDRESS_AT_ONCE, WEIR_ADDRESS_PROBE_STATIC};
    for (size_t i = 0; i < sizeof modes / sizeof *modes; i++) {
        struct fixture f;
        fixture_open(&f, &weir_link_ethernet, weir_addr_any(), 0, 0);
        fixture_set_mode(&f, FIXTURE_PLAIN);
        assert_int_equal(weir_netif_set_address(&f.netif, weir_addr_v4(OURS), 24, modes[i]), WEIR_OK);
        fixture_poll(&f, 20 * SECOND);
        assert_int_equal(f.netif.address.state, WEIR_ADDRESS_READY);
        fixture_clear(&f);
        for (uint32_t claim = 0; claim < 1000; claim++) {  // for 100 s
            frames_arp(&f, frames_all, claim & 1 ? ARP_REQUEST : ARP_REPLY, thief, OURS, OURS);
            assert_true(ip_is_ours(f.weir, weir_addr_v4(OURS)));
            fixture_poll(&f, SECOND / 10);
        }
        assert_in_range(fixture_sent_count(&f), 9, 11);
        for (uint32_t sent = 0; sent < fixture_sent_count(&f); sent++)
            frames_assert_request(&f, sent, frames_all, OURS, OURS);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_ARP_CONFLICT), 1000);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_ADDRESS_DEFENDED), fixture_sent_count(&f));
        assert_int_equal(fixture_count(&f, WEIR_COUNT_ADDRESS_LOST), 0);
        fixture_clear(&f);
        frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, OURS);  // and is answered for
        fixture_poll(&f, 0);
        assert_int_equal(fixture_sent_count(&f), 1);
        fixture_close(&f);
    }
}

// What was given up is asked for again, each time later, and taken when nobody answers any more.
static void what_was_given_up_is_probed_again(void **state)
{
    (void)state;
    static const uint32_t waits_s[] = {10, 20, 40, 60, 60, 60, 60, 60, 60, 60, 60, 60};
    struct fixture f;
    start_probe(&f);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    for (size_t i = 0; i < sizeof waits_s / sizeof *waits_s; i++) {
        frames_arp(&f, frames_all, ARP_REPLY, thief, OURS, 0);
        assert_int_equal(f.netif.address.state, WEIR_ADDRESS_CONFLICT);
        fixture_clear(&f);
        fixture_poll(&f, (uint64_t)waits_s[i] * SECOND - 1000);
        assert_int_equal(fixture_sent_count(&f), 0);
        fixture_poll(&f, 2000);
        assert_int_equal(fixture_sent_count(&f), 1);
        frames_assert_request(&f, 0, frames_all, 0, OURS);
        assert_int_equal(f.netif.address.state, WEIR_ADDRESS_PROBING);
    }
    fixture_poll(&f, 20 * SECOND);
    assert_int_equal(f.netif.address.state, WEIR_ADDRESS_READY);
    assert_true(ip_is_ours(f.weir, weir_addr_v4(OURS)));
    // Ten minutes without a conflict, and the waits begin again.
    fixture_poll(&f, 600 * SECOND);
    frames_arp(&f, frames_all, ARP_REPLY, thief, OURS, 0);
    frames_arp(&f, frames_all, ARP_REPLY, thief, OURS, 0);
    assert_int_equal(f.netif.address.state, WEIR_ADDRESS_CONFLICT);
    fixture_poll(&f, 21 * SECOND);
    assert_int_equal(f.netif.address.state, WEIR_ADDRESS_PROBING);
    fixture_close(&f);
}

#if WEIR_CFG_HANDLERS
struct watched {
    struct weir_address_watch watch;
    uint32_t count[WEIR_ADDRESS_TAKEN + 1];
};

static void watch_event(struct weir_address_watch *self, const struct weir_netif *netif, struct weir_addr address,
                        enum weir_address_event event)
{
    struct watched *watched = (struct watched *)(void *)self;
    assert_true(weir_addr_equal(address, weir_addr_v4(OURS)));
    assert_ptr_equal(self->context, netif);
    if (event != WEIR_ADDRESS_TAKEN)
        assert_memory_equal(netif->conflict_mac, thief, 6);
    watched->count[event]++;
}

static void conflicts_are_told(void **state)
{
    (void)state;
    struct fixture f;
    struct watched watched = {.watch = {.event = watch_event, .context = &f.netif}}, other = watched;
    start_probe(&f);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    weir_address_watch_add(f.weir, &watched.watch);
    weir_address_watch_add(f.weir, &other.watch);
    fixture_poll(&f, 20 * SECOND);
    assert_int_equal(watched.count[WEIR_ADDRESS_TAKEN], 1);
    frames_arp(&f, frames_all, ARP_REPLY, thief, OURS, 0);
    assert_int_equal(watched.count[WEIR_ADDRESS_DEFENDED], 1);
    weir_address_watch_remove(f.weir, &other.watch);
    weir_address_watch_remove(f.weir, &other.watch);  // nothing, the second time
    frames_arp(&f, frames_all, ARP_REPLY, thief, OURS, 0);
    assert_int_equal(watched.count[WEIR_ADDRESS_LOST], 1);
    assert_int_equal(other.count[WEIR_ADDRESS_LOST], 0);
    fixture_poll(&f, 60 * SECOND);
    assert_int_equal(watched.count[WEIR_ADDRESS_TAKEN], 2);
    fixture_close(&f);
}
#endif

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
    assert_int_equal(f.netif.address.state, WEIR_ADDRESS_PROBING);
    fixture_poll(&f, 20 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 5);
    assert_int_equal(f.netif.address.state, WEIR_ADDRESS_READY);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(addresses_are_announced),
        cmocka_unit_test(probing_finds_nobody),
        cmocka_unit_test(probing_finds_somebody),
        cmocka_unit_test(conflicts_slow_down_probing),
        cmocka_unit_test(a_leased_address_is_defended_once),
        cmocka_unit_test(a_static_address_is_never_given_up),
        cmocka_unit_test(what_was_given_up_is_probed_again),
#if WEIR_CFG_HANDLERS
        cmocka_unit_test(conflicts_are_told),
#endif
        cmocka_unit_test(probing_begins_again_with_the_carrier),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
