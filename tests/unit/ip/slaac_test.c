// SPDX-License-Identifier: BSD-2-Clause
// profiles: small6
// also without IPv4
// needs IPv6
// What an interface makes of IPv6 by itself (RFC 4862): its addresses, whether they are another's, and what routers
// say.
#include "ip/advertise6.h"

static uint32_t advertised_routes(const struct fixture *f, bool defaults)
{
    uint32_t n = 0;
    for (uint32_t i = 0; i < f->weir->ip.route_count; i++)
        n += f->weir->ip.routes[i].advertised && (!f->weir->ip.routes[i].prefix_length || !defaults);
    return n;
}

// --- the address of the link -----------------------------------------------------------------------------------------

static void the_link_local_address_is_probed_first(void **state)
{
    (void)state;
    struct fixture f;
    struct ip6 ip;
    uint32_t length;
    open_auto(&f, NULL);
    const uint8_t *const message = sent_icmp6(&f, run_until_sent(&f, ICMP6_NEIGHBOUR_SOLICITATION), &ip, &length);
    assert_false(in_use(of_origin(&f, WEIR_ADDRESS_LINK_LOCAL)));
    assert_addr(ip.source, weir_addr_any());
    assert_addr(ip.destination, solicited_node_of(LINK_LOCAL6));
    assert_int_equal(ip.hop_limit, 255);
    assert_addr(message + 8, LINK_LOCAL6);
    assert_int_equal(length, 32);  // a nonce, no link address
    assert_int_equal(message[24], ND_NONCE);
    fixture_poll(&f, 2 * SECOND);
    const struct weir_netif_address *const a = of_origin(&f, WEIR_ADDRESS_LINK_LOCAL);
    assert_true(in_use(a));
    assert_true(weir_addr_equal(a->addr, weir_addr_with_zone(LINK_LOCAL6, f.netif.index)));
    fixture_close(&f);
}

enum claim { BY_ADVERTISEMENT, BY_PROBE, BY_PROBE_WITHOUT_NONCE, BY_OUR_PROBE };

static void claim(struct fixture *f, enum claim how, const uint8_t *mac)
{
    const struct weir_netif_address *const a = of_origin(f, WEIR_ADDRESS_LINK_LOCAL);
    uint8_t target[16], nonce[6], message[ND_NS_BYTES_MAX];
    struct make6 make = {.destination = solicited_node_of(LINK_LOCAL6), .from_any = true, .hop_limit = 255, .mac = mac};
    uint32_t length;
    weir_addr_to_v6(LINK_LOCAL6, target);
    memcpy(nonce, a->nonce, sizeof nonce);
    nonce[0] ^= how == BY_PROBE;
    if (how == BY_ADVERTISEMENT) {
        make = (struct make6){.source = LINK_LOCAL6, .destination = ALL_NODES6, .hop_limit = 255, .mac = mac};
        length = nd_na_emit(message, target, ND_OVERRIDE, mac);
    } else {
        length = nd_ns_emit(message, target, NULL, how == BY_PROBE_WITHOUT_NONCE ? NULL : nonce);
    }
    input_icmp6(f, &make, message, length);
}

static void expect_claim(enum claim how, const uint8_t *mac, bool probed, bool taken)
{
    struct fixture f;
    open_auto(&f, NULL);
    if (probed)
        (void)run_until_sent(&f, ICMP6_NEIGHBOUR_SOLICITATION);
    claim(&f, how, mac);
    fixture_clear(&f);
    fixture_poll(&f, 10 * SECOND);
    assert_int_equal(f.netif.ip6.off, taken);
    assert_int_equal(in_use(of_origin(&f, WEIR_ADDRESS_LINK_LOCAL)), !taken);
    assert_int_equal(find_icmp6(&f, ICMP6_NEIGHBOUR_ADVERTISEMENT) >= 0, !taken);
    fixture_close(&f);
}

// The usual duplicate is a device with the same MAC address, from which nothing but the nonce tells us.
static void a_duplicate_of_the_link_local_address_ends_ipv6(void **state)
{
    (void)state;
    expect_claim(BY_PROBE, FIXTURE_PEER_MAC, true, true);
    expect_claim(BY_PROBE, FIXTURE_MAC, true, true);
    expect_claim(BY_PROBE_WITHOUT_NONCE, FIXTURE_PEER_MAC, true, true);
    expect_claim(BY_PROBE_WITHOUT_NONCE, FIXTURE_PEER_MAC, false, true);
    expect_claim(BY_PROBE_WITHOUT_NONCE, FIXTURE_MAC, true, true);
    expect_claim(BY_OUR_PROBE, FIXTURE_MAC, true, false);
    expect_claim(BY_OUR_PROBE, FIXTURE_PEER_MAC, true, false);  // come back by some other station
}

// --- routers ---------------------------------------------------------------------------------------------------------

static void routers_are_asked_for_until_one_answers(void **state)
{
    (void)state;
    struct fixture f;
    struct ip6 ip;
    uint32_t length, asked = 0;
    open_auto(&f, NULL);
    fixture_poll(&f, 60 * SECOND);
    for (uint32_t i = 0; i < fixture_sent_count(&f); i++) {
        const uint8_t *const bytes = sent6(&f, i, &ip, &length);
        if (ip.next_header != IP6_ICMP || bytes[0] != ICMP6_ROUTER_SOLICITATION)
            continue;
        asked++;
        assert_addr(ip.destination, ALL_ROUTERS6);
        assert_int_equal(ip.hop_limit, 255);
        assert_int_equal(length, addr_of(ip.source).words[0] ? 16 : 8);  // no link address from ::
    }
    assert_in_range(asked, 4, 6);           // 0, 4, 12, 28, 60 s, more or less
    advertise(&f, ROUTER6, 0, 0, NULL, 0);  // none that would be a way out
    fixture_clear(&f);
    fixture_poll(&f, 100 * SECOND);
    assert_true(find_icmp6(&f, ICMP6_ROUTER_SOLICITATION) >= 0);
    advertise(&f, ROUTER6, 9000, 0, NULL, 0);
    fixture_clear(&f);
    fixture_poll(&f, 4000ull * SECOND);
    assert_int_equal(find_icmp6(&f, ICMP6_ROUTER_SOLICITATION), -1);
    fixture_close(&f);
}

static void a_router_is_a_way_out_as_long_as_it_says(void **state)
{
    (void)state;
    struct fixture f;
    open_auto(&f, NULL);
    fixture_poll(&f, 5 * SECOND);
    advertise(&f, OTHER6, 60, 0, NULL, 0);  // no link-local source
    assert_int_equal(advertised_routes(&f, true), 0);
    advertise(&f, ROUTER6, 60, 0, NULL, 0);
    assert_int_equal(advertised_routes(&f, true), 1);
    advertise(&f, ROUTER6, 60, 0x08, NULL, 0);  // preferred now: still one
    assert_int_equal(advertised_routes(&f, true), 1);
    fixture_poll(&f, 59 * SECOND);
    assert_int_equal(advertised_routes(&f, true), 1);
    fixture_poll(&f, 2 * SECOND);
    assert_int_equal(advertised_routes(&f, true), 0);
    advertise(&f, ROUTER6, 60, 0, NULL, 0);
    const struct prefix_said said = of_prefix(1);
    advertise(&f, ROUTER6, 0, 0, &said, 0);  // it goes, and its prefix counts
    assert_int_equal(advertised_routes(&f, true), 0);
    assert_int_equal(advertised_routes(&f, false), 1);
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_AUTO), 1);
    fixture_close(&f);
}

static void an_mtu_is_taken_between_1280_and_the_devices(void **state)
{
    (void)state;
    struct fixture f;
    open_auto(&f, NULL);
    static const struct {
        uint32_t said;
        uint16_t then;
    } rows[] = {{1279, 0}, {1501, 0}, {66816, 0}, {1400, 1400}, {1279, 1400}, {1280, 1280}, {1500, 1500}};
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        advertise(&f, ROUTER6, 60, 0, NULL, rows[i].said);
        assert_int_equal(f.netif.ip6.mtu, rows[i].then);
    }
    fixture_close(&f);
}

// --- addresses out of prefixes ---------------------------------------------------------------------------------------

static void a_prefix_makes_an_address_that_lives_as_long(void **state)
{
    (void)state;
    struct fixture f;
    struct prefix_said said = of_prefix(1);
    said.valid = 100;
    said.preferred = 50;
    open_auto(&f, NULL);
    fixture_poll(&f, 5 * SECOND);
    advertise(&f, ROUTER6, 60, 0, &said, 0);
    const struct weir_netif_address *const a = of_origin(&f, WEIR_ADDRESS_AUTO);
    assert_non_null(a);
    assert_false(in_use(a));
    fixture_poll(&f, 5 * SECOND);
    assert_true(in_use(a));
    assert_false(a->deprecated);
    fixture_poll(&f, 46 * SECOND);
    assert_true(a->deprecated);
    said.preferred = 40;
    advertise(&f, ROUTER6, 60, 0, &said, 0);  // preferred once more
    fixture_poll(&f, SECOND);
    assert_false(a->deprecated);
    fixture_poll(&f, 98 * SECOND);
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_AUTO), 1);
    fixture_poll(&f, 2 * SECOND);
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_AUTO), 0);
    fixture_close(&f);
}

static void no_address_is_made_out_of_what_is_no_prefix(void **state)
{
    (void)state;
    struct fixture f;
    open_auto(&f, NULL);
    fixture_poll(&f, 5 * SECOND);
    struct prefix_said said = of_prefix(1);
    said.preferred = said.valid + 1;
    advertise(&f, ROUTER6, 60, 0, &said, 0);
    said = of_prefix(1);
    said.flags = 0x80;
    advertise(&f, ROUTER6, 60, 0, &said, 0);
    said = of_prefix(1);
    said.valid = said.preferred = 0;
    advertise(&f, ROUTER6, 60, 0, &said, 0);
    said = of_prefix(1);
    said.prefix = ip6_of(0xfe800000u, 0, 0, 0);
    advertise(&f, ROUTER6, 60, 0, &said, 0);
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_AUTO), 0);
    fixture_close(&f);
}

static void an_address_is_not_ended_sooner_than_in_two_hours(void **state)
{
    (void)state;
    const uint64_t two_hours_us = 7200ull * SECOND;
    struct fixture f;
    struct prefix_said said = of_prefix(1);
    open_auto(&f, NULL);
    fixture_poll(&f, 5 * SECOND);
    advertise(&f, ROUTER6, 60, 0, &said, 0);
    const struct weir_netif_address *const a = of_origin(&f, WEIR_ADDRESS_AUTO);
    said.valid = said.preferred = 0;
    advertise(&f, ROUTER6, 60, 0, &said, 0);
    const uint64_t ends_us = a->valid_until_us;
    assert_in_range(ends_us - f.now_us, two_hours_us - SECOND, two_hours_us);
    fixture_poll(&f, 10 * SECOND);
    assert_true(a->deprecated);
    said.valid = 60;
    advertise(&f, ROUTER6, 60, 0, &said, 0);  // less than is left, which is less than two hours: ignored
    assert_true(a->valid_until_us == ends_us);
    said.valid = 7201;
    advertise(&f, ROUTER6, 60, 0, &said, 0);
    assert_true(a->valid_until_us > ends_us);
    said.valid = said.preferred = 0xffffffff;
    advertise(&f, ROUTER6, 60, 0, &said, 0);
    assert_true(a->valid_until_us == WEIR_NEVER);
    fixture_close(&f);
}

static void floods_of_advertisements_fill_no_table(void **state)
{
    (void)state;
    struct fixture f;
    open_auto(&f, NULL);
    fixture_poll(&f, 5 * SECOND);
    for (uint32_t i = 0; i < 500; i++) {
        const struct prefix_said said = of_prefix(i << 8 | 1);
        advertise(&f, ip6_of(0xfe800000u, 0, 1, i + 1), 9000, 0, &said, 0);
    }
    assert_in_range(count_origin(&f, WEIR_ADDRESS_AUTO), 1, 8);
    assert_in_range(advertised_routes(&f, false), 1, WEIR_CFG_ROUTES / 2);
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_LINK_LOCAL), 1);
    fixture_close(&f);
}

static void identifiers_are_the_secrets_and_the_prefixs(void **state)
{
    (void)state;
    static const uint8_t secrets[2][16] = {{1, 2, 3}, {1, 2, 4}};
    struct weir_addr made[3][2];
    for (unsigned run = 0; run < 3; run++) {
        struct fixture f;
        open_auto(&f, secrets[run / 2]);
        fixture_poll(&f, 5 * SECOND);
        assert_false(weir_addr_equal(of_origin(&f, WEIR_ADDRESS_LINK_LOCAL)->addr,
                                     weir_addr_with_zone(LINK_LOCAL6, f.netif.index)));
        for (uint32_t i = 0; i < 2; i++) {
            const struct prefix_said said = of_prefix(i + 1);
            advertise(&f, ROUTER6, 60, 0, &said, 0);
            const struct weir_netif_address *a = &f.netif.address;
            while (a->origin != WEIR_ADDRESS_AUTO || !weir_addr_in_prefix(a->addr, said.prefix, 64)) {
                a = a->next;
                assert_non_null(a);
            }
            made[run][i] = a->addr;
        }
        assert_false(made[run][0].words[2] == made[run][1].words[2] && made[run][0].words[3] == made[run][1].words[3]);
        fixture_close(&f);
    }
    assert_true(weir_addr_equal(made[0][0], made[1][0]));
    assert_true(weir_addr_equal(made[0][1], made[1][1]));
    assert_false(weir_addr_equal(made[0][0], made[2][0]));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_link_local_address_is_probed_first),
        cmocka_unit_test(a_duplicate_of_the_link_local_address_ends_ipv6),
        cmocka_unit_test(routers_are_asked_for_until_one_answers),
        cmocka_unit_test(a_router_is_a_way_out_as_long_as_it_says),
        cmocka_unit_test(an_mtu_is_taken_between_1280_and_the_devices),
        cmocka_unit_test(a_prefix_makes_an_address_that_lives_as_long),
        cmocka_unit_test(no_address_is_made_out_of_what_is_no_prefix),
        cmocka_unit_test(an_address_is_not_ended_sooner_than_in_two_hours),
        cmocka_unit_test(floods_of_advertisements_fill_no_table),
        cmocka_unit_test(identifiers_are_the_secrets_and_the_prefixs),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
