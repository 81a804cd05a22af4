// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// Routers that drop long packets and do not say so (RFC 4821 §7.7), over both families.
#include "pair.h"
#include "tcp/conn.h"

#define SECOND 1000000ull
#define PORT 80u
#define BYTES 100000u

struct transfer {
    struct pair pair;
    struct pair_transfer data;
    uint32_t link_mtu;  // what the router between them carries
    uint32_t dropped;
};

static bool router(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    struct transfer *const t = context;
    const bool passes = length <= 14 + t->link_mtu;
    (void)from_b, (void)frame;
    t->dropped += !passes;
    return passes;
}

static struct weir_addr end(bool version6, uint8_t last)
{
    const uint8_t bytes[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = last};
    return version6 ? weir_addr_v6(bytes) : last == 1 ? PAIR_A : PAIR_B;
}

static void transfer_open(struct transfer *t, bool version6, bool detection, uint32_t link_mtu)
{
    static const struct weir_config with = {.tcp_black_hole_detection = true};
    *t = (struct transfer){.data = {.pair = &t->pair, .bytes = BYTES}, .link_mtu = 1500};
    struct pair_options options = {.link = {.delay_us = 5000}};
    options.a.config = detection ? &with : NULL;
    pair_open(&t->pair, &options);
    t->pair.filter = router;
    t->pair.filter_context = t;
    assert_int_equal(weir_netif_address_add(&t->pair.a.netif, end(true, 1), 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(weir_netif_address_add(&t->pair.b.netif, end(true, 2), 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    pair_run(&t->pair, SECOND);
    struct weir *const a = t->pair.a.weir, *const b = t->pair.b.weir;
    const weir_socket listener = weir_socket_open(b, WEIR_STREAM, 0);
    const struct weir_endpoint remote = {end(version6, 2), PORT};
    assert_int_equal(weir_socket_bind(b, listener, &(struct weir_endpoint){weir_addr_any(), PORT}), WEIR_OK);
    assert_int_equal(weir_socket_listen(b, listener, 1), WEIR_OK);
    t->data.from = weir_socket_open(a, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_connect(a, t->data.from, &remote), WEIR_IN_PROGRESS);
    pair_run(&t->pair, SECOND);
    t->data.to = weir_socket_accept(b, listener);
    assert_true(t->data.to >= 0);
    t->link_mtu = link_mtu;
}

static int32_t path_mtu(struct transfer *t)
{
    int32_t mtu = 0;
    assert_int_equal(weir_socket_get(t->pair.a.weir, t->data.from, WEIR_OPTION_MTU, &mtu), WEIR_OK);
    return mtu;
}

// `least`: the size that nearly every path carries.
static void expect_passage(bool version6, uint32_t link_mtu, int32_t least)
{
    struct transfer t;
    transfer_open(&t, version6, true, link_mtu);
    const uint64_t began_us = pair_now_us(&t.pair);
    assert_true(pair_run_until(&t.pair, pair_transfer, &t.data, 10 * SECOND));
    print_message("%s, %u bytes: %u ms\n", version6 ? "IPv6" : "IPv4", (unsigned)link_mtu,
                  (unsigned)((pair_now_us(&t.pair) - began_us) / 1000));
    assert_in_range(path_mtu(&t), least, link_mtu);
    pair_close(&t.pair);
}

// So many bytes more arrive.
static void transfer_more(struct transfer *t, uint32_t bytes)
{
    t->data.bytes = bytes;
    t->data.sent = t->data.received = 0;
    assert_true(pair_run_until(&t->pair, pair_transfer, &t->data, 60 * SECOND));
}

// RFC 4821 §7.3: upward, by probes whose loss costs nothing.
static void the_largest_size_that_passes_is_found(void **state)
{
    static const uint32_t sizes[][2] = {{true, 1499}, {true, 1400}, {true, 1285}, {false, 1492}, {false, 1100}};
    (void)state;
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct transfer t;
        transfer_open(&t, sizes[i][0], true, sizes[i][1]);
        transfer_more(&t, BYTES);
        const uint32_t timeouts = weir_counter_get(t.pair.a.weir, WEIR_COUNT_TCP_RTO);
        transfer_more(&t, 20 * BYTES);
        assert_in_range(path_mtu(&t), sizes[i][1] - 8, sizes[i][1]);
        assert_int_equal(weir_counter_get(t.pair.a.weir, WEIR_COUNT_TCP_RTO), timeouts);
        assert_int_equal(weir_counter_get(t.pair.a.weir, WEIR_COUNT_TCP_FAST_RECOVERY), 0);
        // It is known: nothing is tried any more.
        t.dropped = 0;
        transfer_more(&t, 5 * BYTES);
        assert_int_equal(t.dropped, 0);
        pair_close(&t.pair);
    }
}

// The path changes under a transfer: shorter, and long again.
static void a_path_that_changes_is_searched_anew(void **state)
{
    (void)state;
    for (uint32_t version6 = 0; version6 < 2; version6++) {
        struct transfer t;
        transfer_open(&t, version6, true, 1450);
        transfer_more(&t, 20 * BYTES);
        assert_in_range(path_mtu(&t), 1442, 1450);
        t.link_mtu = 1330;
        transfer_more(&t, 20 * BYTES);
        assert_in_range(path_mtu(&t), 1322, 1330);
        t.link_mtu = 1500;
        pair_run(&t.pair, 601 * SECOND);
        const uint32_t timeouts = weir_counter_get(t.pair.a.weir, WEIR_COUNT_TCP_RTO);
        t.link_mtu = 1400;  // not as long as it might be: the probe is lost, and nothing else
        transfer_more(&t, 20 * BYTES);
        assert_in_range(path_mtu(&t), 1392, 1400);
        assert_int_equal(weir_counter_get(t.pair.a.weir, WEIR_COUNT_TCP_RTO), timeouts);
        pair_close(&t.pair);
    }
}

static void a_black_hole_does_not_end_the_connection(void **state)
{
    (void)state;
    expect_passage(true, 1500, 1500);  // there is none
    expect_passage(true, 1499, 1280);
    expect_passage(true, 1280, 1280);
    expect_passage(false, 1499, 1024);
    expect_passage(false, 1024, 1024);
    expect_passage(false, 600, 576);
}

static void without_detection_it_would(void **state)
{
    (void)state;
    for (unsigned version6 = 0; version6 < 2; version6++) {
        struct transfer t;
        transfer_open(&t, version6, false, 1400);
        assert_false(pair_run_until(&t.pair, pair_transfer, &t.data, 100 * SECOND));
        assert_int_equal(path_mtu(&t), 1500);
        pair_close(&t.pair);
    }
}

static void a_path_without_one_stays_as_it_is(void **state)
{
    (void)state;
    struct transfer t;
    transfer_open(&t, true, true, 1500);
    assert_true(pair_run_until(&t.pair, pair_transfer, &t.data, 10 * SECOND));
    assert_int_equal(path_mtu(&t), 1500);
    assert_int_equal(t.dropped, 0);
    // What is short and does not arrive is lost for another reason.
    t.link_mtu = 0;
    t.data.sent = BYTES - 500;
    (void)pair_transfer(&t.data);
    pair_run(&t.pair, 5 * SECOND);
    assert_true(t.dropped >= 3);
    assert_int_equal(path_mtu(&t), 1500);
    pair_close(&t.pair);
}

static void after_ten_minutes_the_path_is_tried_again(void **state)
{
    (void)state;
    struct transfer t;
    transfer_open(&t, true, true, 1400);
    assert_true(pair_run_until(&t.pair, pair_transfer, &t.data, 10 * SECOND));
    assert_in_range(path_mtu(&t), 1280, 1400);
    t.link_mtu = 1500;
    pair_run(&t.pair, 601 * SECOND);
    t.data.sent = t.data.received = 0;
    assert_true(pair_run_until(&t.pair, pair_transfer, &t.data, 10 * SECOND));
    assert_int_equal(path_mtu(&t), 1500);
    pair_close(&t.pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_black_hole_does_not_end_the_connection),
        cmocka_unit_test(without_detection_it_would),
        cmocka_unit_test(a_path_without_one_stays_as_it_is),
        cmocka_unit_test(the_largest_size_that_passes_is_found),
        cmocka_unit_test(a_path_that_changes_is_searched_anew),
        cmocka_unit_test(after_ten_minutes_the_path_is_tried_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
