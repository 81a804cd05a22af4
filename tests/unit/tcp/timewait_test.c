// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// also without IPv4
// TIME-WAIT: how long, what is answered, what may begin again (RFC 9293 §3.10.7.4, RFC 1337, RFC 6191).
#include "fakes.h"

#define SND_NXT 5000u
#define RCV_NXT 0xfffffffcu
#define TWO_MSL_US (2000ull * WEIR_CFG_TCP_MSL_MS)

static struct tcp_conn ended(uint16_t remote_port)
{
    struct tcp_conn c = {.local = {.addr = LOCAL_ADDR, .port = 80},
                         .remote = {.addr = REMOTE_ADDR, .port = remote_port}};
    c.snd.nxt = SND_NXT;
    c.rcv.nxt = RCV_NXT;
    return c;
}
static void enter(void)
{
    const struct tcp_conn c = ended(5555);
    time_wait_enter(world, &c);
}
#if WEIR_CFG_TCP_TIMESTAMPS
static void enter_with_timestamps(uint32_t ts_recent)
{
    struct tcp_conn c = ended(5555);
    c.flags = TCP_USE_TIMESTAMPS;
    c.ts_recent = ts_recent;
    time_wait_enter(world, &c);
}
#endif
static struct tcp_time_wait *find(void)
{
    struct packet packet = world_packet();
    struct tcp_segment segment = world_segment(0, 0, 0);
    return time_wait_find(world, &packet, &segment);
}
static bool input(struct tcp_segment segment)
{
    struct packet packet = world_packet();
    struct tcp_time_wait *entry = find();
    assert_non_null(entry);
    return time_wait_input(world, entry, &packet, &segment);
}

static void it_lasts_two_msl(void **state)
{
    (void)state;
    enter();
    assert_true(world->slow_due_us <= world->now_us + TWO_MSL_US);
    const uint64_t due_us = time_wait_poll(world, world->now_us);
    assert_in_range(due_us, world->now_us + TWO_MSL_US - 1000, world->now_us + TWO_MSL_US);
    world_clock(due_us - 2000);
    time_wait_poll(world, world->now_us);
    assert_non_null(find());
    world_clock(due_us);
    assert_true(time_wait_poll(world, world->now_us) == WEIR_NEVER);
    assert_null(find());
}

static void a_repeated_fin_is_acknowledged_and_begins_it_again(void **state)
{
    (void)state;
    enter();
    world_pass(TWO_MSL_US / 2);
    assert_false(input(world_segment(TCP_FIN | TCP_ACK, RCV_NXT - 1, SND_NXT)));
    assert_int_equal(world_sent.count, 1);
    assert_int_equal(world_sent.segment.flags, TCP_ACK);
    assert_int_equal(world_sent.segment.seq, SND_NXT);
    assert_int_equal(world_sent.segment.ack, RCV_NXT);
    world_pass(TWO_MSL_US / 2 + 1000000);
    time_wait_poll(world, world->now_us);
    assert_non_null(find());
    world_pass(TWO_MSL_US / 2);
    time_wait_poll(world, world->now_us);
    assert_null(find());
}

static void a_fin_of_no_end_does_not_keep_it_for_ever(void **state)
{
    (void)state;
    enter();
    uint32_t seconds = 0;
    for (; find() != NULL && seconds < 100000; seconds += 10) {
        input(world_segment(TCP_FIN | TCP_ACK, RCV_NXT - 1, SND_NXT));
        world_pass(10000000);
        time_wait_poll(world, world->now_us);
    }
    assert_true(seconds < 20 * TWO_MSL_US / 1000000);
}

static void a_reset_does_not_end_it(void **state)
{
    (void)state;
    enter();
    assert_false(input(world_segment(TCP_RST, RCV_NXT, 0)));
    assert_false(input(world_segment(TCP_RST | TCP_ACK, RCV_NXT, SND_NXT)));
    assert_non_null(find());
    assert_int_equal(world_sent.count, 0);
}

static void the_last_ack_is_not_answered(void **state)
{
    (void)state;
    enter();
    assert_false(input(world_segment(TCP_ACK, RCV_NXT, SND_NXT)));
    assert_int_equal(world_sent.count, 0);
}

static void old_data_is_acknowledged_a_few_times_a_second(void **state)
{
    (void)state;
    enter();
    struct tcp_segment data = world_segment(TCP_ACK, RCV_NXT - 500, SND_NXT);
    data.length = 100;
    for (int i = 0; i < 1000; i++) {
        assert_false(input(data));
        world_pass(1000);
    }
    assert_in_range(world_sent.count, 2, 5);
}

static void a_syn_beyond_the_old_numbers_is_new(void **state)
{
    (void)state;
    enter();
    assert_false(input(world_segment(TCP_SYN, RCV_NXT - 1, 0)));
    assert_false(input(world_segment(TCP_SYN, RCV_NXT, 0)));
    assert_int_equal(world_sent.count, 1);  // challenged once, then limited
    assert_int_equal(world->counters[WEIR_COUNT_TCP_CHALLENGE_ACK], 1);
    assert_int_equal(world->counters[WEIR_COUNT_TCP_CHALLENGE_LIMITED], 1);
    assert_false(input(world_segment(TCP_SYN | TCP_ACK, RCV_NXT + 10, 0)));
    assert_true(input(world_segment(TCP_SYN, RCV_NXT + 10, 0)));  // wraps
    assert_null(find());
    assert_int_equal(world->counters[WEIR_COUNT_TCP_TIMEWAIT_REUSED], 1);
    const struct weir_endpoint local = {LOCAL_ADDR, 80}, remote = {REMOTE_ADDR, 5555}, other = {REMOTE_ADDR, 5556};
    assert_int_equal(time_wait_take_over(world, NULL, &local, &other, 7), 7);
    const uint32_t iss = time_wait_take_over(world, NULL, &local, &remote, SND_NXT - 1);
    assert_true(seq_lt(SND_NXT + 65535, iss));
    assert_int_equal(time_wait_take_over(world, NULL, &local, &remote, 7), 7);  // once
}

static void timestamps_decide_as_rfc_6191_says(void **state)
{
    (void)state;
#if WEIR_CFG_TCP_TIMESTAMPS
    const struct {
        bool old;  // had timestamps
        bool offered;
        int32_t ahead;  // of the last one
        uint32_t seq;
        bool fresh;
    } row[] = {
        {true, true, 1, RCV_NXT - 100, true},  {true, true, 0, RCV_NXT + 100, true},
        {true, true, 0, RCV_NXT - 100, false}, {true, true, -1, RCV_NXT + 100, false},
        {true, false, 0, RCV_NXT + 100, true}, {true, false, 0, RCV_NXT - 100, false},
        {false, true, 0, RCV_NXT - 100, true}, {false, false, 0, RCV_NXT - 100, false},
    };
    for (size_t i = 0; i < sizeof row / sizeof row[0]; i++) {
        if (row[i].old)
            enter_with_timestamps(0xffffffffu);
        else
            enter();
        struct tcp_segment syn = world_segment(TCP_SYN, row[i].seq, 0);
        if (row[i].offered)
            syn.options =
                (struct tcp_options){.seen = TCP_SEEN_TIMESTAMPS, .ts_value = 0xffffffffu + (uint32_t)row[i].ahead};
        assert_int_equal(input(syn), row[i].fresh);
        world_pass(2 * TWO_MSL_US);
        time_wait_poll(world, world->now_us);
    }
#endif
}

static void acknowledgements_carry_timestamps(void **state)
{
    (void)state;
#if WEIR_CFG_TCP_TIMESTAMPS
    enter_with_timestamps(1234);
    assert_false(input(world_segment(TCP_FIN | TCP_ACK, RCV_NXT - 1, SND_NXT)));
    assert_int_equal(world_sent.options.seen, TCP_SEEN_TIMESTAMPS);
    assert_int_equal(world_sent.options.ts_echo, 1234);
    assert_int_equal(world_sent.options.ts_value, world->now_ms + tcp_timestamp_offset(world, LOCAL_ADDR, REMOTE_ADDR));
#endif
}

static void an_active_open_may_reuse_it_after_a_second_with_timestamps(void **state)
{
    (void)state;
    const struct weir_endpoint local = {LOCAL_ADDR, 80}, remote = {REMOTE_ADDR, 5555};
    assert_null(time_wait_between(world, &local, &remote));
    assert_true(time_wait_reusable(world, NULL));  // nothing is in the way
    enter();
    world_pass(10000000);
    assert_false(time_wait_reusable(world, find()));
    assert_ptr_equal(time_wait_between(world, &local, &remote), find());
    const uint32_t iss = time_wait_take_over(world, find(), &local, &remote, SND_NXT);
    assert_true(seq_lt(SND_NXT, iss));
    assert_null(find());
#if WEIR_CFG_TCP_TIMESTAMPS
    enter_with_timestamps(5);
    world_pass(999000);
    assert_false(time_wait_reusable(world, find()));
    world_pass(2000);
    assert_true(time_wait_reusable(world, find()));
#endif
}

static void when_full_the_oldest_goes(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WEIR_CFG_TCP_TIME_WAIT + 10u; i++) {
        struct tcp_conn c = ended((uint16_t)i);
        c.remote.addr = weir_addr_v4(0x0b000000u + (i >> 16));
        time_wait_enter(world, &c);
    }
    assert_int_equal(world->counters[WEIR_COUNT_TCP_TIMEWAIT_FULL], 10);
    struct packet packet = world_packet();
    packet.source = weir_addr_v4(0x0b000000u);
    struct tcp_segment segment = world_segment(0, 0, 0);
    segment.source = 9;
    assert_null(time_wait_find(world, &packet, &segment));
    segment.source = 11 < WEIR_CFG_TCP_TIME_WAIT + 10 ? 11 : 10;
    assert_non_null(time_wait_find(world, &packet, &segment));
}

static void without_memory_the_oldest_goes(void **state)
{
    (void)state;
    if (!WEIR_CFG_ALLOCATOR)
        return;
    enter();
    world_fail_after = 0;
    for (uint16_t i = 1; i < 32; i++) {  // what came with the first one's memory
        const struct tcp_conn other = ended((uint16_t)(7000 + i));
        time_wait_enter(world, &other);
    }
    assert_non_null(find());
    assert_int_equal(world->counters[WEIR_COUNT_TCP_TIMEWAIT_FULL], 0);
    const struct tcp_conn c = ended(6666);
    time_wait_enter(world, &c);  // takes the first one's place
    assert_null(find());
    assert_int_equal(world->counters[WEIR_COUNT_TCP_TIMEWAIT_FULL], 1);
}

static void a_poll_does_a_bounded_amount(void **state)
{
    (void)state;
    const uint32_t wanted = WEIR_CFG_TCP_TIME_WAIT < 1000 ? WEIR_CFG_TCP_TIME_WAIT : 1000;
    for (uint32_t i = 0; i < wanted; i++) {
        const struct tcp_conn c = ended((uint16_t)(1000 + i));
        time_wait_enter(world, &c);
    }
    world_pass(TWO_MSL_US + 1000);
    uint32_t polls = 1;
    while (time_wait_poll(world, world->now_us) == world->now_us)
        polls++;
    assert_int_equal(polls, (wanted + 255) / 256);
}

static void all_are_walked_once(void **state)
{
    (void)state;
    const uint32_t wanted = WEIR_CFG_TCP_TIME_WAIT < 1000 ? WEIR_CFG_TCP_TIME_WAIT : 1000;
    for (uint32_t i = 0; i < wanted; i++) {
        const struct tcp_conn c = ended((uint16_t)(1000 + i));
        time_wait_enter(world, &c);
    }
    assert_true(time_wait_uses_port(world, LOCAL_ADDR, 80));
    assert_true(time_wait_uses_port(world, weir_addr_any(), 80));
    assert_false(time_wait_uses_port(world, REMOTE_ADDR, 80));
    assert_false(time_wait_uses_port(world, LOCAL_ADDR, 81));
    struct table_cursor cursor = {0};
    uint32_t found = 0;
    struct weir_socket_info info;
    while (time_wait_walk(world, &cursor, &info)) {
        assert_int_equal(info.tcp_state, WEIR_TCP_TIME_WAIT);
        assert_int_equal(world_port_used[info.peer.port]++, 0);
        found++;
    }
    assert_int_equal(found, wanted);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(it_lasts_two_msl),
        world_test(a_repeated_fin_is_acknowledged_and_begins_it_again),
        world_test(a_fin_of_no_end_does_not_keep_it_for_ever),
        world_test(a_reset_does_not_end_it),
        world_test(the_last_ack_is_not_answered),
        world_test(old_data_is_acknowledged_a_few_times_a_second),
        world_test(a_syn_beyond_the_old_numbers_is_new),
        world_test(timestamps_decide_as_rfc_6191_says),
        world_test(acknowledgements_carry_timestamps),
        world_test(an_active_open_may_reuse_it_after_a_second_with_timestamps),
        world_test(when_full_the_oldest_goes),
        world_test(without_memory_the_oldest_goes),
        world_test(a_poll_does_a_bounded_amount),
        world_test(all_are_walked_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
