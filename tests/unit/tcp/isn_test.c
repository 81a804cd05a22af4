// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// Initial sequence numbers, timestamp offsets (RFC 6528, RFC 7323 §7.1) and ports (RFC 6056).
#include "fakes.h"

static const struct weir_endpoint local_end = {WEIR_ADDR_V4(0x0a000001), 80},
                                  remote_end = {WEIR_ADDR_V4(0x0a000002), 5555};

static uint16_t port_choose(struct weir_addr local, const struct weir_endpoint *remote)
{
    struct tcp_time_wait *old = NULL;
    const uint16_t port = tcp_port_choose(world, local, remote, &old);
    const struct weir_endpoint chosen = {local, port};
    if (port)  // it tells what it takes over
        assert_ptr_equal(old, time_wait_between(world, &chosen, remote));
    return port;
}

static void numbers_of_one_pair_ascend_with_the_clock(void **state)
{
    (void)state;
    const uint32_t first = tcp_isn(world, &local_end, &remote_end);
    assert_int_equal(tcp_isn(world, &local_end, &remote_end), first);
    world_pass(4);
    assert_int_equal(tcp_isn(world, &local_end, &remote_end), first + 1);
    world_pass(4000000);
    assert_int_equal(tcp_isn(world, &local_end, &remote_end), first + 1 + 1000000);
}

static void every_part_of_the_pair_and_the_secret_count(void **state)
{
    (void)state;
    const uint32_t first = tcp_isn(world, &local_end, &remote_end);
    struct weir_endpoint other = local_end;
    other.port++;
    assert_int_not_equal(tcp_isn(world, &other, &remote_end), first);
    other = local_end;
    other.addr = weir_addr_v4(weir_addr_to_v4(other.addr) + 1);
    assert_int_not_equal(tcp_isn(world, &other, &remote_end), first);
    other = remote_end;
    other.port++;
    assert_int_not_equal(tcp_isn(world, &local_end, &other), first);
    other = remote_end;
    other.addr = weir_addr_v4(weir_addr_to_v4(other.addr) + 1);
    assert_int_not_equal(tcp_isn(world, &local_end, &other), first);
    assert_int_not_equal(tcp_isn(world, &remote_end, &local_end), first);
    world->isn_key.k0++;
    assert_int_not_equal(tcp_isn(world, &local_end, &remote_end), first);
}

// NUMBER:JACK: from three numbers of successive ports the next cannot be told.
static void differences_between_pairs_are_spread(void **state)
{
    (void)state;
    uint32_t bins[16] = {0}, last = 0, last_step = 0, repeats = 0;
    for (uint16_t i = 0; i < 1600; i++) {
        const struct weir_endpoint remote = {remote_end.addr, (uint16_t)(10000 + i)};
        const uint32_t isn = tcp_isn(world, &local_end, &remote), step = isn - last;
        bins[step >> 28]++;
        repeats += step == last_step;
        last = isn;
        last_step = step;
    }
    assert_true(repeats <= 1);
    for (int i = 0; i < 16; i++)
        assert_in_range(bins[i], 60, 145);
}

static void timestamp_offsets_belong_to_a_pair_of_addresses(void **state)
{
    (void)state;
    const uint32_t first = tcp_timestamp_offset(world, local_end.addr, remote_end.addr);
    world_pass(123456789);
    assert_int_equal(tcp_timestamp_offset(world, local_end.addr, remote_end.addr), first);
    assert_int_not_equal(tcp_timestamp_offset(world, remote_end.addr, local_end.addr), first);
    assert_int_not_equal(tcp_timestamp_offset(world, local_end.addr, weir_ip4(10, 0, 0, 3)), first);
}

#if WEIR_CFG_TCP_CONNECT
#define PORTS (TCP_PORT_LAST - TCP_PORT_FIRST + 1)

static void ports_are_in_range_and_not_in_a_row(void **state)
{
    (void)state;
    uint16_t last = 0;
    uint32_t in_a_row = 0;
    for (int i = 0; i < 500; i++) {
        const uint16_t port = port_choose(local_end.addr, &remote_end);
        assert_in_range(port, TCP_PORT_FIRST, TCP_PORT_LAST);
        assert_int_not_equal(port, last);
        in_a_row += port == last + 1;
        last = port;
    }
    assert_true(in_a_row < 150);
}

static void a_port_rests_before_it_is_used_again(void **state)
{
    (void)state;
    static uint8_t seen[65536];
    for (int i = 0; i < 3000; i++)
        assert_int_equal(seen[port_choose(local_end.addr, &remote_end)]++, 0);
}

static void every_port_can_be_used(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < PORTS; i++) {
        const uint16_t port = port_choose(local_end.addr, &remote_end);
        assert_int_not_equal(port, 0);
        assert_int_equal(world_port_used[port]++, 0);
    }
    assert_int_equal(port_choose(local_end.addr, &remote_end), 0);
    world_port_used[40000] = 0;
    assert_int_equal(port_choose(local_end.addr, &remote_end), 40000);
}

static void half_open_and_waiting_ports_are_taken(void **state)
{
    (void)state;
    const struct weir_endpoint remote = {REMOTE_ADDR, 5555};
    for (uint32_t port = TCP_PORT_FIRST; port <= TCP_PORT_LAST; port++)
        world_port_used[port] = port > TCP_PORT_FIRST + 2;
    struct tcp_conn c = {.local = {.addr = LOCAL_ADDR, .port = TCP_PORT_FIRST}, .remote = world_end(remote)};
    time_wait_enter(world, &c);
    struct packet packet = world_packet();
    struct tcp_segment syn = world_segment(TCP_SYN, 1, 0);
    syn.destination = TCP_PORT_FIRST + 1;
    half_open_syn(world, &world_listener, &packet, &syn);
    for (int i = 0; i < 50; i++)
        assert_int_equal(port_choose(LOCAL_ADDR, &remote), TCP_PORT_FIRST + 2);
    world_port_used[TCP_PORT_FIRST + 2] = 1;
    assert_int_equal(port_choose(LOCAL_ADDR, &remote), 0);
}

static void timestamps_free_a_waiting_port(void **state)
{
    (void)state;
#if WEIR_CFG_TCP_TIMESTAMPS
    const struct weir_endpoint remote = {REMOTE_ADDR, 5555};
    memset(world_port_used, 1, sizeof world_port_used);
    world_port_used[50000] = 0;
    struct tcp_conn c = {
        .local = {.addr = LOCAL_ADDR, .port = 50000}, .remote = world_end(remote), .flags = TCP_USE_TIMESTAMPS};
    time_wait_enter(world, &c);
    assert_int_equal(port_choose(LOCAL_ADDR, &remote), 0);
    world_pass(1100000);
    assert_int_equal(port_choose(LOCAL_ADDR, &remote), 50000);
#endif
}

static void never_a_connection_to_itself(void **state)
{
    (void)state;
    memset(world_port_used, 1, sizeof world_port_used);
    world_port_used[50000] = 0;
    const struct weir_endpoint self = {LOCAL_ADDR, 50000};
    assert_int_equal(port_choose(LOCAL_ADDR, &self), 0);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(numbers_of_one_pair_ascend_with_the_clock),
        world_test(every_part_of_the_pair_and_the_secret_count),
        world_test(differences_between_pairs_are_spread),
        world_test(timestamp_offsets_belong_to_a_pair_of_addresses),
#if WEIR_CFG_TCP_CONNECT
        world_test(ports_are_in_range_and_not_in_a_row),
        world_test(a_port_rests_before_it_is_used_again),
        world_test(every_port_can_be_used),
        world_test(half_open_and_waiting_ports_are_taken),
        world_test(timestamps_free_a_waiting_port),
        world_test(never_a_connection_to_itself),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
