// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// Temporary addresses (RFC 8981): who has one, how long, and what may not end it.
#include "ip/advertise6.h"

#include "ip/internal.h"

#define HOUR (3600ull * SECOND)
#define DAY (24 * HOUR)

static void open_temporary(struct fixture *f)
{
    open_how(f, WEIR_IP6_TEMPORARY, NULL);
    fixture_poll(f, 5 * SECOND);
}

static void hear(struct fixture *f, const struct prefix_said *said) { advertise(f, ROUTER6, 9000, 0, said, 0); }

static struct prefix_said of_lifetimes(uint32_t valid, uint32_t preferred)
{
    struct prefix_said said = of_prefix(1);
    said.valid = valid;
    said.preferred = preferred;
    return said;
}

static uint32_t preferred(const struct fixture *f)
{
    uint32_t n = 0;
    for (const struct weir_netif_address *a = &f->netif.address; a; a = a->next)
        n += in_use(a) && a->origin == WEIR_ADDRESS_TEMPORARY && !a->deprecated;
    return n;
}

static void it_speaks_first_and_the_stable_one_is_heard(void **state)
{
    (void)state;
    struct fixture f;
    struct path path;
    struct weir_addr source = weir_addr_any();
    const struct prefix_said said = of_prefix(1);
    open_temporary(&f);
    hear(&f, &said);
    fixture_poll(&f, 5 * SECOND);
    const struct weir_netif_address *const stable = of_origin(&f, WEIR_ADDRESS_AUTO), *const own = of_origin(
                                                                                          &f, WEIR_ADDRESS_TEMPORARY);
    assert_true(in_use(stable) && in_use(own));
    assert_true(weir_addr_in_prefix(own->addr, said.prefix, 64));
    assert_false(own->addr.words[2] == stable->addr.words[2] && own->addr.words[3] == stable->addr.words[3]);
    assert_int_equal(ip_path_find(f.weir, &path, &source, FAR6, 0), WEIR_OK);
    assert_true(weir_addr_equal(source, own->addr));  // RFC 6724, rule 7
    assert_true(ip_is_ours(f.weir, stable->addr));
    fixture_close(&f);
}

static void there_is_none_unless_it_is_wanted(void **state)
{
    (void)state;
    struct fixture f;
    const struct prefix_said said = of_prefix(1);
    open_auto(&f, NULL);
    fixture_poll(&f, 5 * SECOND);
    hear(&f, &said);
    fixture_poll(&f, 5 * SECOND);
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_TEMPORARY), 0);
    fixture_close(&f);
}

// With a prefix that lives for ever, whatever routers go on saying.
static void each_day_another_takes_over_in_time(void **state)
{
    (void)state;
    struct fixture f;
    const struct prefix_said said = of_lifetimes(UINT32_MAX, UINT32_MAX);
    struct weir_addr first;
    open_temporary(&f);
    hear(&f, &said);
    fixture_poll(&f, 5 * SECOND);
    first = of_origin(&f, WEIR_ADDRESS_TEMPORARY)->addr;
    const uint64_t began_us = f.now_us;
    for (unsigned quarter = 0; quarter < 5 * 96; quarter++) {
        fixture_poll(&f, DAY / 96);
        if (quarter % 2)
            hear(&f, &said);
        fixture_clear(&f);
        assert_in_range(preferred(&f), 1, 2);
        assert_in_range(count_origin(&f, WEIR_ADDRESS_TEMPORARY), 1, 4);
        const struct weir_netif_address *const a = address_find(&f.netif, first);
        const uint64_t age_us = f.now_us - began_us;
        if (age_us > DAY)
            assert_true(!a || a->deprecated);
        if (age_us < 2 * DAY - HOUR)
            assert_non_null(a);  // what is connected goes on
    }
    assert_null(address_find(&f.netif, first));
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_AUTO), 1);
    fixture_close(&f);
}

static void it_lives_no_longer_than_its_prefix(void **state)
{
    (void)state;
    struct fixture f;
    struct prefix_said said = of_lifetimes(100, 50);
    open_temporary(&f);
    hear(&f, &said);
    fixture_poll(&f, 5 * SECOND);
    assert_int_equal(preferred(&f), 1);
    said.preferred = 0;
    hear(&f, &said);
    fixture_poll(&f, SECOND);
    assert_int_equal(preferred(&f), 0);
    said.preferred = 80;
    hear(&f, &said);  // preferred once more
    fixture_poll(&f, SECOND);
    assert_int_equal(preferred(&f), 1);
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_TEMPORARY), 1);
    fixture_poll(&f, 110 * SECOND);
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_TEMPORARY), 0);
    fixture_close(&f);
}

// §3.4 (5): one that is to be replaced at once is not made.
static void a_short_preference_makes_none(void **state)
{
    (void)state;
    struct fixture f;
    struct prefix_said said = of_lifetimes(1000, 5);
    open_temporary(&f);
    for (unsigned i = 0; i < 20; i++) {
        hear(&f, &said);
        fixture_poll(&f, SECOND);
    }
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_TEMPORARY), 0);
    said.preferred = 8;
    for (unsigned i = 0; i < 20; i++) {
        hear(&f, &said);
        fixture_poll(&f, SECOND);
    }
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_TEMPORARY), 1);
    fixture_close(&f);
}

// --- duplicates ------------------------------------------------------------------------------------------------------

// Another host has whatever temporary address is probed. How many it takes away.
static uint32_t claim_all(struct fixture *f)
{
    uint8_t target[16], message[ND_NA_BYTES_MAX];
    uint32_t claims = 0;
    for (unsigned i = 0; i < 600; i++) {
        const struct weir_netif_address *const a = of_origin(f, WEIR_ADDRESS_TEMPORARY);
        fixture_poll(f, 10000);
        if (!a || a->state != WEIR_ADDRESS_PROBING || !a->sent)
            continue;
        weir_addr_to_v6(a->addr, target);
        const struct make6 make = {.source = a->addr, .destination = ALL_NODES6, .hop_limit = 255};
        input_icmp6(f, &make, message, nd_na_emit(message, target, ND_OVERRIDE, FIXTURE_PEER_MAC));
        claims++;
    }
    return claims;
}

static void after_three_duplicates_the_prefix_has_none_on_this_link(void **state)
{
    (void)state;
    struct fixture f;
    struct prefix_said said = of_prefix(1);
    open_temporary(&f);
    hear(&f, &said);
    assert_int_equal(claim_all(&f), 3);
    hear(&f, &said);
    assert_int_equal(claim_all(&f), 0);
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_TEMPORARY), 0);
    assert_true(in_use(of_origin(&f, WEIR_ADDRESS_AUTO)));
    said = of_prefix(2);
    hear(&f, &said);  // of another prefix
    fixture_poll(&f, 5 * SECOND);
    assert_int_equal(preferred(&f), 1);
    weir_link_change(&f.netif, false);
    fixture_poll(&f, SECOND);
    weir_link_change(&f.netif, true);  // perhaps another link
    fixture_poll(&f, 5 * SECOND);
    assert_int_equal(preferred(&f), 2);
    fixture_close(&f);
}

static void a_full_list_delays_it(void **state)
{
    (void)state;
    struct fixture f;
    const struct prefix_said said = of_prefix(1);
    struct weir_addr last = weir_addr_any();
    open_temporary(&f);
    for (uint32_t i = 1;; i++) {
        const struct weir_addr addr = weir_ip4(10, 0, (uint8_t)(i >> 8), (uint8_t)i);
        if (weir_netif_address_add(&f.netif, addr, 32, WEIR_ADDRESS_AT_ONCE) != WEIR_OK)
            break;
        last = addr;
    }
    assert_int_equal(weir_netif_address_remove(&f.netif, last), WEIR_OK);
    hear(&f, &said);
    fixture_poll(&f, 5 * SECOND);
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_AUTO), 1);
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_TEMPORARY), 0);
    assert_int_equal(weir_netif_address_remove(&f.netif, weir_ip4(10, 0, 0, 1)), WEIR_OK);
    fixture_poll(&f, 100 * SECOND);
    assert_int_equal(preferred(&f), 1);
    fixture_close(&f);
}

static void floods_of_prefixes_leave_room(void **state)
{
    (void)state;
    struct fixture f;
    open_temporary(&f);
    for (uint32_t i = 0; i < 200; i++) {
        const struct prefix_said said = of_prefix(i << 8 | 1);
        hear(&f, &said);
    }
    fixture_poll(&f, 200 * SECOND);
    assert_int_equal(count_origin(&f, WEIR_ADDRESS_TEMPORARY), 8);
    assert_int_equal(weir_netif_address_add(&f.netif, OURS6, 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_speaks_first_and_the_stable_one_is_heard),
        cmocka_unit_test(there_is_none_unless_it_is_wanted),
        cmocka_unit_test(each_day_another_takes_over_in_time),
        cmocka_unit_test(it_lives_no_longer_than_its_prefix),
        cmocka_unit_test(a_short_preference_makes_none),
        cmocka_unit_test(after_three_duplicates_the_prefix_has_none_on_this_link),
        cmocka_unit_test(a_full_list_delays_it),
        cmocka_unit_test(floods_of_prefixes_leave_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
