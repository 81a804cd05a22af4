// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// The cache of path MTUs: only down, not below 576, forgotten after ten minutes, bounded.
#include "ip/packets.h"
#include "ip/icmp.h"

static uint16_t mtu_to(struct fixture *f, struct weir_addr to)
{
    struct path path;
    struct weir_addr source = weir_addr_any();
    assert_int_equal(ip_path_find(f->weir, &path, &source, to, 0), WEIR_OK);
    return path.mtu;
}

static void only_down_and_not_below_the_floor(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    const uint16_t generation = f.weir->ip.generation;
    pmtu_set(f.weir, PEER, 1300);
    assert_int_not_equal(f.weir->ip.generation, generation);  // cached paths are looked up anew
    assert_int_equal(mtu_to(&f, PEER), 1300);
    assert_int_equal(mtu_to(&f, OTHER), 1500);
    const uint16_t after = f.weir->ip.generation;
    pmtu_set(f.weir, PEER, 1400);
    assert_int_equal(mtu_to(&f, PEER), 1300);
    assert_int_equal(f.weir->ip.generation, after);
    pmtu_set(f.weir, PEER, 100);
    assert_int_equal(mtu_to(&f, PEER), ip4_family.mtu_min);
    assert_int_equal(pmtu_get(f.weir, PEER, 296), 296);  // never above the interface's
    fixture_close(&f);
}

static void forgotten_after_ten_minutes(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    pmtu_set(f.weir, PEER, 1300);
    fixture_poll(&f, 300000000);
    pmtu_set(f.weir, OTHER, 1200);
    fixture_poll(&f, 299000000);
    assert_int_equal(mtu_to(&f, PEER), 1300);
    const uint16_t generation = f.weir->ip.generation;
    fixture_poll(&f, 2000000);
    assert_int_equal(mtu_to(&f, PEER), 1500);
    assert_int_equal(mtu_to(&f, OTHER), 1200);
    assert_int_not_equal(f.weir->ip.generation, generation);
    fixture_poll(&f, 300000000);
    assert_int_equal(mtu_to(&f, OTHER), 1500);
    assert_int_equal(f.weir->ip.pmtu_count, 0);
    fixture_close(&f);
}

static void table_is_bounded_and_keeps_the_newest(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    const uint64_t before = f.allocated_bytes;
    for (uint32_t i = 0; i < 3000; i++) {
        const struct weir_addr to = weir_addr_v4(weir_addr_to_v4(OURS) + 1 + i % 250 + (i / 250 << 16));
        fixture_poll(&f, 2000);
        pmtu_set(f.weir, to, 1000);
        assert_int_equal(pmtu_get(f.weir, to, 1500), 1000);
    }
    assert_true(f.weir->ip.pmtu_count <= 256);
    assert_int_equal(f.allocated_bytes, before);
    fixture_poll(&f, 700000000);
    assert_int_equal(f.weir->ip.pmtu_count, 0);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(only_down_and_not_below_the_floor),
        cmocka_unit_test(forgotten_after_ten_minutes),
        cmocka_unit_test(table_is_bounded_and_keeps_the_newest),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
