// SPDX-License-Identifier: BSD-2-Clause
// Replies nobody waits for: sent by poll, bounded, and a full interface does not hold the others' up for ever.
#include "ip/packets.h"

static uint8_t *push(struct fixture *f, uint32_t length, struct weir_addr to)
{
    const struct path unknown = {.netif = NULL};
    const struct ip_out ip = {.destination = to, .protocol = 99, .ttl = 64};
    uint8_t *bytes = ip_outbox_push(f->weir, &unknown, &ip, length);
    if (bytes)
        memset(bytes, (int)length, length);
    return bytes;
}

static void poll_sends_in_order_and_routes(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    uint32_t length;
    open_raw(&f);
    for (uint32_t i = 0; i < 20; i++)
        assert_non_null(push(&f, 10 + i, PEER));
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_poll(&f, 100000);
    assert_int_equal(fixture_sent_count(&f), 20);
    for (uint32_t i = 0; i < 20; i++) {
        const uint8_t *bytes = sent_packet(&f, i, &ip, &length);
        assert_int_equal(length, 10 + i);
        assert_int_equal(bytes[length - 1], 10 + i);
        assert_int_equal(ip.source, weir_addr_to_v4(OURS));
    }
    fixture_close(&f);
}

static void what_has_no_route_is_dropped(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    push(&f, 8, FAR);
    push(&f, 9, PEER);
    fixture_poll(&f, 10000);
    assert_int_equal(fixture_sent_count(&f), 1);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_NO_ROUTE), 1);
    fixture_close(&f);
}

static void it_is_bounded(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    uint32_t pushed = 0;
    while (push(&f, 100, PEER))
        pushed++;
    assert_in_range(pushed, WEIR_CFG_OUTBOX_BYTES / 100 / 4, WEIR_CFG_OUTBOX_BYTES / 100);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_OUTBOX_FULL), 1);
    assert_null(push(&f, 65536, PEER));
    fixture_poll(&f, 1000000);
    assert_int_equal(fixture_sent_count(&f), pushed);
    assert_int_equal(f.weir->ip.outbox.count, 0);
    fixture_close(&f);
}

static void full_interface_is_waited_for_but_not_for_ever(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    f.block_tx = true;
    push(&f, 8, PEER);
    push(&f, 9, PEER);
    fixture_poll(&f, 50000);
    assert_int_equal(f.weir->ip.outbox.count, 2);
    fixture_unblock(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 2);  // in time: nothing was lost
    f.block_tx = true;
    push(&f, 8, PEER);
    fixture_poll(&f, 500000);
    assert_int_equal(f.weir->ip.outbox.count, 0);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_OUTBOX_FULL), 1);
    f.block_tx = false;
    weir_tx_ready(&f.netif);
    weir_link_change(&f.netif, false);  // no carrier: not worth waiting at all
    push(&f, 8, PEER);
    fixture_poll(&f, 2000);
    assert_int_equal(f.weir->ip.outbox.count, 0);
    weir_link_change(&f.netif, true);
    fixture_close(&f);
}

// The interface goes while replies through it wait: nobody follows the pointer.
static void removed_interface_is_not_used(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    input_icmp(&f, PEER, ICMP4_ECHO, 0, 1, NULL, 0);
    assert_int_equal(f.weir->ip.outbox.count, 1);
    weir_netif_remove(&f.netif);
    memset(&f.netif, 0xee, sizeof f.netif);
    weir_poll(f.weir, f.now_us + 1000);
    assert_int_equal(f.weir->ip.outbox.count, 0);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_NO_ROUTE), 1);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(poll_sends_in_order_and_routes),
        cmocka_unit_test(what_has_no_route_is_dropped),
        cmocka_unit_test(it_is_bounded),
        cmocka_unit_test(full_interface_is_waited_for_but_not_for_ever),
        cmocka_unit_test(removed_interface_is_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
