// SPDX-License-Identifier: BSD-2-Clause
// not lean: it has no roads
// The reply that finds the outbox empty lies ready on a road of its own, and leaves as if it had waited with the others.
#include "ip/packets.h"
#include "ip/road.h"

#define BYTES 40u

static const struct ip_out reply = {{0x0a000001}, {0x0a000002}, .protocol = IP_TCP, .ttl = 64, .dont_fragment = true};

// A segment to PEER leaves, and a road with it.
static struct path pave(struct fixture *f)
{
    struct path path = {0};
    struct weir_addr source = OURS;
    struct packet_out out;
    assert_int_equal(ip_path_find(f->weir, &path, &source, PEER, 0), WEIR_OK);
    packet_out_init(&out);
    memset(packet_out_header(&out, 32), 1, 32);
    assert_int_equal(ip_road_make(f->weir, &path, &reply, &out, NULL), WEIR_TX_DONE);
    fixture_clear(f);
    return path;
}

static struct path begin(struct fixture *f)
{
    fixture_open(f, &weir_link_ethernet, OURS, 24, 0);
    fixture_know_peer(f, PEER);
    fixture_poll(f, 1000);
    return pave(f);
}

static void push(struct fixture *f, const struct path *path, const struct ip_out *ip, uint8_t with, uint32_t bytes)
{
    uint8_t *const to = ip_outbox_push(f->weir, path, ip, bytes);
    assert_non_null(to);
    memset(to, with, bytes);
}

static void sent(struct fixture *f, uint32_t index, uint8_t with, uint32_t bytes)
{
    uint32_t length;
    const uint8_t *const frame = fixture_sent(f, index, &length);
    assert_int_equal(length, 14 + 20 + bytes);
    assert_int_equal(frame[34], with);
    assert_int_equal(frame[length - 1], with);
}

static void it_leaves_as_by_the_long_way(void **state)
{
    struct fixture f;
    uint8_t first[14 + 20 + BYTES];
    (void)state;
    const struct path path = begin(&f);
    push(&f, &path, &reply, 7, BYTES);
    assert_true(f.weir->ip.first_waits);
    assert_int_equal(f.weir->ip.outbox.count, 0);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 1);
    sent(&f, 0, 7, BYTES);
    memcpy(first, fixture_sent(&f, 0, &(uint32_t){0}), sizeof first);
    fixture_clear(&f);
    fixture_poll(&f, 2000000);  // the road is too old
    push(&f, &path, &reply, 7, BYTES);
    assert_false(f.weir->ip.first_waits);
    assert_int_equal(f.weir->ip.outbox.count, 1);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 1);
    assert_memory_equal(fixture_sent(&f, 0, &(uint32_t){0}), first, sizeof first);
    fixture_close(&f);
}

static void what_comes_behind_leaves_behind(void **state)
{
    struct fixture f;
    (void)state;
    const struct path path = begin(&f);
    for (uint8_t i = 0; i < 3; i++)
        push(&f, &path, &reply, i, BYTES + 4 * i);
    assert_false(f.weir->ip.first_waits);
    assert_int_equal(f.weir->ip.outbox.count, 3);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 3);
    for (uint8_t i = 0; i < 3; i++)
        sent(&f, i, i, BYTES + 4 * i);
    fixture_close(&f);
}

static void only_short_segments_do(void **state)
{
    struct fixture f;
    struct ip_out other = reply;
    (void)state;
    const struct path path = begin(&f);
    other.protocol = IP_ICMP;
    push(&f, &path, &other, 3, BYTES);
    assert_false(f.weir->ip.first_waits);
    fixture_poll(&f, 0);
    push(&f, &path, &reply, 4, IP_ROAD_TRANSPORT + 4);
    assert_false(f.weir->ip.first_waits);
    fixture_poll(&f, 0);
    push(&f, &path, &reply, 5, IP_ROAD_TRANSPORT);
    assert_true(f.weir->ip.first_waits);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 3);
    sent(&f, 1, 4, IP_ROAD_TRANSPORT + 4);
    sent(&f, 2, 5, IP_ROAD_TRANSPORT);
    assert_int_equal(fixture_sent(&f, 0, &(uint32_t){0})[14 + 9], IP_ICMP);
    fixture_close(&f);
}

// The driver refuses it once, and it waits as the others do.
static void a_full_driver_is_waited_for(void **state)
{
    struct fixture f;
    (void)state;
    const struct path path = begin(&f);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    push(&f, &path, &reply, 7, BYTES);
    f.block_tx = true;
    fixture_poll(&f, 50000);
    assert_int_equal(f.netif.stats.tx_full, 1);
    assert_false(f.weir->ip.first_waits);
    assert_int_equal(f.weir->ip.outbox.count, 1);
    push(&f, &path, &reply, 8, BYTES);
    assert_int_equal(f.weir->ip.outbox.count, 2);
    fixture_unblock(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 2);
    sent(&f, 0, 7, BYTES);
    sent(&f, 1, 8, BYTES);
    fixture_close(&f);
}

static void what_has_changed_meanwhile_is_heeded(void **state)
{
    static const uint8_t elsewhere[6] = {2, 9, 9, 9, 9, 9};
    struct fixture f;
    (void)state;
    const struct path path = begin(&f);
    push(&f, &path, &reply, 7, BYTES);
    assert_int_equal(weir_neighbour_add_static(f.weir, &f.netif, PEER, elsewhere), WEIR_OK);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 1);
    assert_memory_equal(fixture_sent(&f, 0, &(uint32_t){0}), elsewhere, 6);
    sent(&f, 0, 7, BYTES);
    pave(&f);
    push(&f, &path, &reply, 8, BYTES);
    assert_true(f.weir->ip.first_waits);
    weir_netif_remove(&f.netif);
    memset(&f.netif, 0xee, sizeof f.netif);  // nobody follows the pointer
    weir_poll(f.weir, f.now_us + 1000);
    assert_false(f.weir->ip.first_waits);
    assert_int_equal(f.weir->ip.outbox.count, 0);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_NO_ROUTE), 1);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_leaves_as_by_the_long_way),
        cmocka_unit_test(what_comes_behind_leaves_behind),
        cmocka_unit_test(only_short_segments_do),
        cmocka_unit_test(a_full_driver_is_waited_for),
        cmocka_unit_test(what_has_changed_meanwhile_is_heeded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
