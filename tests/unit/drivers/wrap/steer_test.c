// SPDX-License-Identifier: BSD-2-Clause
// Groups of instances: whose a frame is, and how it gets there. That Linux computes the same:
// tests/interop/test_cores.py.
#include "drivers/link_ends.h"

#include "drivers/wrap/steer.h"

static struct steer_group group;
static struct steer members[3];
static struct weir_netif queues[3];
static uint32_t woken[3], received[3];

// An Ethernet frame of IPv4 or IPv6 with ports.
static uint32_t flow_frame(uint8_t *frame, bool ip6, uint32_t from, uint32_t to, uint16_t source, uint16_t destination)
{
    uint8_t *const ip = frame + 14, *const ports = ip + (ip6 ? 40 : 20);
    memset(frame, 0, 100);
    frame[12] = ip6 ? 0x86 : 8;
    frame[13] = ip6 ? 0xdd : 0;
    ip[0] = ip6 ? 0x60 : 0x45;
    ip[ip6 ? 6 : 9] = 6;
    memcpy(ip + (ip6 ? 20 : 12), &from, sizeof from);
    memcpy(ip + (ip6 ? 36 : 16), &to, sizeof to);
    ports[0] = (uint8_t)(source >> 8);
    ports[1] = (uint8_t)source;
    ports[2] = (uint8_t)(destination >> 8);
    ports[3] = (uint8_t)destination;
    return ip6 ? 74 : 54;
}

static void test_both_directions_are_one_members_and_flows_spread(void **state)
{
    (void)state;
    uint8_t there[100], back[100];
    for (int ip6 = 0; ip6 < 2; ip6++) {
        uint32_t of_member[3] = {0};
        for (uint16_t port = 1; port <= 3000; port++) {
            const uint32_t length = flow_frame(there, ip6, 0x0100000a, 0x0200000a, (uint16_t)(port + 32768), 80);
            (void)flow_frame(back, ip6, 0x0200000a, 0x0100000a, 80, (uint16_t)(port + 32768));
            const uint32_t owner = steer_frame(there, length, 3);
            assert_true(owner < 3);
            assert_int_equal(steer_frame(back, length, 3), owner);
            of_member[owner]++;
        }
        for (int i = 0; i < 3; i++)
            assert_in_range(of_member[i], 800, 1200);
    }
}

static void test_a_flow_behind_ip_options_is_found_by_its_ports(void **state)
{
    (void)state;
    uint8_t frame[100];
    bool differs = false;
    for (uint8_t port = 0; port < 50; port++) {
        (void)flow_frame(frame, false, 1, 2, 0, 0);
        frame[14] = 0x46;
        frame[14 + 24 + 1] = port;  // the ports begin after four bytes of options
        differs |= steer_frame(frame, 60, 2) != steer_frame(frame, 60, 1);
    }
    assert_true(differs);
}

static void test_what_has_no_ports(void **state)
{
    (void)state;
    uint8_t frame[100];
    (void)flow_frame(frame, false, 1, 2, 3, 4);
    frame[14 + 6] = 0x20;  // more fragments
    assert_int_equal(steer_frame(frame, 54, 2), STEER_NOBODY);
    frame[14 + 9] = 17;
    assert_int_equal(steer_frame(frame, 54, 2), 0);
    (void)flow_frame(frame, true, 1, 2, 3, 4);
    frame[14 + 6] = 44;
    frame[14 + 40] = 6;
    assert_int_equal(steer_frame(frame, 74, 2), STEER_NOBODY);
    (void)flow_frame(frame, false, 1, 2, 0x0304, 0);  // ICMP "fragmentation needed"
    frame[14 + 9] = 1;
    assert_int_equal(steer_frame(frame, 54, 2), STEER_ALL);
    frame[34] = 8;  // echo
    assert_int_equal(steer_frame(frame, 54, 2), 0);
    (void)flow_frame(frame, true, 1, 2, 0x8700, 0);  // neighbour solicitation
    frame[14 + 6] = 58;
    assert_int_equal(steer_frame(frame, 74, 2), STEER_ALL);
    frame[12] = 8, frame[13] = 6;
    assert_int_equal(steer_frame(frame, 42, 2), STEER_ALL);
    for (uint32_t length = 0; length < 38; length++) {  // too short to tell
        (void)flow_frame(frame, false, 1, 2, 3, 4);
        assert_int_equal(steer_frame(frame, length, 2), 0);
    }
}

// --- members -----------------------------------------------------------------------------------------
static void count_input(struct weir_netif *netif, const struct weir_frame *frame)
{
    assert_int_equal(frame->segments, 2);
    assert_int_equal(frame->segment_size, 7);
    assert_int_equal(frame->checksum, WEIR_CHECKSUM_VERIFIED);
    received[((struct steer *)netif->driver_data)->index]++;
}
static const struct weir_upper looker = {count_input, ends_ready, ends_complete, ends_carrier};
static void wake(void *context) { woken[(uint32_t *)context - woken]++; }

static void open_group(void)
{
    ends_open();
    memset(woken, 0, sizeof woken);
    memset(received, 0, sizeof received);
    steer_group_init(&group, 3);
    for (uint32_t i = 0; i < 3; i++) {
        queues[i] = ends.netif;
        struct weir_netif *const outer = steer_wrap(&members[i], &queues[i], &group, i, wake, &woken[i]);
        ends_attach(outer);
        outer->upper = &looker;
    }
}

static void close_group(void)
{
    for (int i = 0; i < 3; i++)
        steer_close(&members[i]);
}

static void arrive_at(uint32_t member, const uint8_t *frame, uint32_t length)
{
    const struct weir_slice slice = {frame, length};
    const struct weir_frame whole = {.slices = &slice,
                                     .length = length,
                                     .count = 1,
                                     .segments = 2,
                                     .segment_size = 7,
                                     .checksum = WEIR_CHECKSUM_VERIFIED};
    weir_netif_deliver(&queues[member], &whole);
}

static uint64_t turn(uint32_t member)
{
    struct weir_netif *const outer = &members[member].wrap.outer;
    return outer->driver->timer(outer, ends.now_us);
}

static void test_a_frame_at_the_wrong_queue_reaches_its_member(void **state)
{
    (void)state;
    uint8_t frame[100];
    open_group();
    const uint32_t length = flow_frame(frame, false, 1, 2, 1000, 80), owner = steer_frame(frame, length, 3);
    const uint32_t other = (owner + 1) % 3;
    arrive_at(owner, frame, length);
    assert_int_equal(received[owner], 1);
    arrive_at(other, frame, length);
    memset(frame, 0xee, sizeof frame);  // lent for the call only
    assert_int_equal(received[owner], 1);
    assert_int_equal(woken[owner], 1);
    assert_int_equal(turn(owner), ends.now_us);  // it delivered something
    assert_true(turn(owner) > ends.now_us);
    assert_int_equal(received[owner], 2);
    assert_int_equal(members[other].count.handed_over, 1);
    close_group();
}

static void test_arp_reaches_every_member(void **state)
{
    (void)state;
    uint8_t frame[100];
    open_group();
    (void)flow_frame(frame, false, 1, 2, 3, 4);
    frame[13] = 6;
    arrive_at(1, frame, 42);
    for (uint32_t i = 0; i < 3; i++) {
        (void)turn(i);
        assert_int_equal(received[i], 1);
    }
    assert_int_equal(members[1].count.handed_over, 0);
    close_group();
}

static void test_slots_that_are_full_lose_what_comes_and_serve_again(void **state)
{
    (void)state;
    uint8_t frame[100];
    open_group();
    const uint32_t length = flow_frame(frame, false, 1, 2, 1000, 80), owner = steer_frame(frame, length, 3);
    const uint32_t other = (owner + 1) % 3;
    for (uint32_t i = 0; i < STEER_SLOTS + 5; i++)
        arrive_at(other, frame, length);
    assert_int_equal(members[other].count.lost, 5);
    (void)turn(owner);
    assert_int_equal(received[owner], STEER_SLOTS);
    arrive_at(other, frame, length);
    (void)turn(owner);
    assert_int_equal(received[owner], STEER_SLOTS + 1);
    close_group();
}

static void test_a_fragment_of_tcp_is_dropped(void **state)
{
    (void)state;
    uint8_t frame[100];
    open_group();
    const uint32_t length = flow_frame(frame, false, 1, 2, 1000, 80);
    frame[14 + 7] = 10;
    arrive_at(0, frame, length);
    for (uint32_t i = 0; i < 3; i++) {
        (void)turn(i);
        assert_int_equal(received[i], 0);
    }
    assert_int_equal(members[0].count.fragments, 1);
    close_group();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_both_directions_are_one_members_and_flows_spread),
        cmocka_unit_test(test_a_flow_behind_ip_options_is_found_by_its_ports),
        cmocka_unit_test(test_what_has_no_ports),
        cmocka_unit_test(test_a_frame_at_the_wrong_queue_reaches_its_member),
        cmocka_unit_test(test_arp_reaches_every_member),
        cmocka_unit_test(test_slots_that_are_full_lose_what_comes_and_serve_again),
        cmocka_unit_test(test_a_fragment_of_tcp_is_dropped),
    };
    return cmocka_run_group_tests(tests, NULL, ends_end);
}
