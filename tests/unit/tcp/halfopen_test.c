// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// Half-open connections: handshakes good and bad, repetition, floods, limits.
#include "fakes.h"

#define IRS 0xfffffff8u  // the peer's numbers wrap in the handshake

static void syn_from(uint16_t port, uint32_t irs, struct tcp_options options)
{
    struct packet packet = world_packet();
    struct tcp_segment segment = world_segment(TCP_SYN, irs, 0);
    segment.source = port;
    segment.options = options;
    half_open_syn(world, &world_listener, &packet, &segment);
}
static void syn(void) { syn_from(5555, IRS, (struct tcp_options){0}); }
static struct tcp_half_open *find(void)
{
    struct packet packet = world_packet();
    struct tcp_segment segment = world_segment(0, 0, 0);
    return half_open_find(world, &packet, &segment);
}
// The segment of `segment` arrives for the entry that must exist. Returns whether it still does.
static bool input(struct tcp_segment segment)
{
    struct packet packet = world_packet();
    struct tcp_half_open *entry = find();
    assert_non_null(entry);
    half_open_input(world, entry, &packet, &segment);
    return find() != NULL;
}
static uint32_t iss(void) { return world_sent.segment.seq; }

static void a_syn_is_answered(void **state)
{
    (void)state;
    syn();
    assert_int_equal(world_sent.count, 1);
    assert_int_equal(world_sent.segment.flags, TCP_SYN | TCP_ACK);
    assert_int_equal(world_sent.segment.ack, IRS + 1);
    assert_int_equal(world_sent.segment.window, 65535);
    assert_int_equal(world_sent.local.port, 80);
    assert_int_equal(world_sent.remote.port, 5555);
    assert_int_equal(world_sent.options.seen, TCP_SEEN_MSS);  // what was not offered is not answered
    assert_int_equal(world_sent.options.mss, WEIR_CFG_TCP_MSS_MAX < 1460 ? WEIR_CFG_TCP_MSS_MAX : 1460);
    assert_int_equal(world_listener.half_open_count, 1);
    assert_true(world->slow_due_us <= world->now_us + 1000000);
}

static void options_are_answered_as_offered(void **state)
{
    (void)state;
    syn_from(5555, IRS,
             (struct tcp_options){.seen = TCP_SEEN_MSS | TCP_SEEN_WINDOW_SCALE | TCP_SEEN_SACK_PERMITTED |
                                          TCP_SEEN_TIMESTAMPS,
                                  .mss = 1400,
                                  .window_scale = 200,
                                  .ts_value = 77});
    const uint8_t seen = TCP_SEEN_MSS | (WEIR_CFG_TCP_WINDOW_SCALE ? TCP_SEEN_WINDOW_SCALE : 0) |
                         (WEIR_CFG_TCP_SACK ? TCP_SEEN_SACK_PERMITTED : 0) |
                         (WEIR_CFG_TCP_TIMESTAMPS ? TCP_SEEN_TIMESTAMPS : 0);
    assert_int_equal(world_sent.options.seen, seen);
    assert_int_equal(world_sent.options.window_scale, WEIR_CFG_TCP_WINDOW_SCALE ? 5 : 0);  // 1 MiB
    assert_int_equal(world_sent.options.ts_echo, WEIR_CFG_TCP_TIMESTAMPS ? 77 : 0);
    struct tcp_segment ack = world_segment(TCP_ACK, IRS + 1, iss() + 1);
    ack.options = (struct tcp_options){.seen = TCP_SEEN_TIMESTAMPS, .ts_value = 78};
    assert_false(input(ack));
    assert_int_equal(world_passive.params.snd_scale, WEIR_CFG_TCP_WINDOW_SCALE ? 14 : 0);  // RFC 7323 §2.3
    assert_int_equal(world_passive.params.rcv_scale, WEIR_CFG_TCP_WINDOW_SCALE ? 5 : 0);
    assert_int_equal(world_passive.params.scaling, WEIR_CFG_TCP_WINDOW_SCALE);
    assert_int_equal(world_passive.params.sack, WEIR_CFG_TCP_SACK);
    assert_int_equal(world_passive.params.timestamps, WEIR_CFG_TCP_TIMESTAMPS);
    assert_int_equal(world_passive.params.remote.mss, 1400);
}

static void the_ack_makes_a_connection(void **state)
{
    (void)state;
    syn();
    world_pass(30000);
    assert_false(input(world_segment(TCP_ACK, IRS + 1, iss() + 1)));
    assert_int_equal(world_passive.count, 1);
    assert_int_equal(world_passive.input_count, 1);
    assert_int_equal(world_passive.params.irs, IRS);
    assert_int_equal(world_passive.params.iss, iss());
    assert_int_equal(world_passive.params.remote.mss, WEIR_CFG_IP4 ? 536 : 1220);  // RFC 9293 §3.7.1: no option
    assert_int_equal(world_passive.params.window, 1000);
    assert_int_equal(world_passive.params.rtt_us, 30000);
    assert_int_equal(world_listener.half_open_count, 0);
}

static void data_may_come_before_the_bare_ack(void **state)
{
    (void)state;
    syn();
    struct tcp_segment data = world_segment(TCP_ACK, IRS + 1 + 100, iss() + 1);
    data.length = 100;
    assert_false(input(data));
    assert_int_equal(world_passive.count, 1);
}

static void a_wrong_ack_is_reset_and_changes_nothing(void **state)
{
    (void)state;
    syn();
    assert_true(input(world_segment(TCP_ACK, IRS + 1, iss())));
    assert_true(input(world_segment(TCP_ACK, IRS + 1, iss() + 2)));
    assert_int_equal(world_resets, 2);
    assert_int_equal(world_passive.count, 0);
}

static void only_an_exact_reset_ends_it(void **state)
{
    (void)state;
    syn();
    assert_true(input(world_segment(TCP_RST, IRS + 2, 0)));  // in the window: challenged
    assert_int_equal(world_sent.count, 2);
    assert_int_equal(world_sent.segment.flags, TCP_ACK);
    assert_int_equal(world->counters[WEIR_COUNT_TCP_CHALLENGE_ACK], 1);
    assert_true(input(world_segment(TCP_RST, IRS - 1000, 0)));
    assert_int_equal(world_sent.count, 2);  // outside: nothing
    assert_false(input(world_segment(TCP_RST, IRS + 1, 0)));
    assert_int_equal(world_listener.half_open_count, 0);
    assert_int_equal(world->counters[WEIR_COUNT_TCP_RST_RECEIVED], 1);
}

static void the_same_syn_gets_the_same_answer(void **state)
{
    (void)state;
    syn();
    const uint32_t first = iss();
    world_pass(500000);
    assert_true(input(world_segment(TCP_SYN, IRS, 0)));
    assert_int_equal(world_sent.count, 2);
    assert_int_equal(world_sent.segment.flags, TCP_SYN | TCP_ACK);
    assert_int_equal(iss(), first);
    world_pass(20000);
    assert_false(input(world_segment(TCP_ACK, IRS + 1, first + 1)));
    assert_int_equal(world_passive.params.rtt_us, 0);  // which SYN-ACK was answered is not known (Karn)
}

static void another_syn_is_challenged(void **state)
{
    (void)state;
    syn();
    const uint32_t first = iss();
    assert_true(input(world_segment(TCP_SYN, IRS + 5000, 0)));
    assert_int_equal(world_sent.segment.flags, TCP_ACK);
    assert_int_equal(world_sent.segment.seq, first + 1);
    assert_int_equal(world_sent.segment.ack, IRS + 1);
    assert_true(input(world_segment(TCP_SYN, IRS - 5000, 0)));
    assert_true(input(world_segment(TCP_SYN | TCP_ACK, IRS, first + 1)));
    assert_int_equal(world_passive.count, 0);
}

static void segments_outside_the_window_are_acknowledged(void **state)
{
    (void)state;
    syn();
    assert_true(input(world_segment(TCP_ACK, IRS - 10, iss() + 1)));
    assert_int_equal(world_sent.segment.flags, TCP_ACK);
    assert_true(input(world_segment(TCP_ACK, IRS + 1 + 65535, world_sent.segment.seq)));
    assert_int_equal(world_passive.count, 0);
    assert_int_equal(world->counters[WEIR_COUNT_TCP_UNACCEPTABLE], 2);
}

static void no_ack_bit_no_connection(void **state)
{
    (void)state;
    syn();
    assert_true(input(world_segment(TCP_PSH, IRS + 1, iss() + 1)));
    assert_true(input(world_segment(TCP_FIN, IRS + 1, iss() + 1)));
    assert_int_equal(world_passive.count, 0);
}

static void answers_to_one_entry_are_limited(void **state)
{
    (void)state;
    syn();
    for (int i = 0; i < 1000; i++)
        assert_true(input(world_segment(TCP_SYN, IRS + (i & 1), 0)));
    assert_true(world_sent.count <= 10);
    assert_true(world->counters[WEIR_COUNT_TCP_CHALLENGE_LIMITED] >= 990);
}

static void a_full_accept_queue_makes_the_client_try_again(void **state)
{
    (void)state;
    syn();
    world_passive.refuse = true;
    assert_true(input(world_segment(TCP_ACK, IRS + 1, iss() + 1)));
    world_passive.refuse = false;
    assert_false(input(world_segment(TCP_ACK, IRS + 1, iss() + 1)));
    assert_int_equal(world_passive.count, 1);
    world_listener.accept_count = world_listener.backlog;
    syn_from(1, 1, (struct tcp_options){0});
    assert_int_equal(world_listener.half_open_count, 0);
    assert_int_equal(world->counters[WEIR_COUNT_TCP_SYN_DROPPED], 2);
}

static void retransmits_at_1_2_4_8_16_and_gives_up(void **state)
{
    (void)state;
    syn();
    const uint64_t start_us = world->now_us;
    const uint32_t first = iss(), at_s[] = {1, 3, 7, 15, 31};
    for (uint32_t i = 0; i < 5; i++) {
        const uint64_t due_us = half_open_poll(world, world->now_us);
        assert_int_equal(due_us, start_us + at_s[i] * 1000000ull);
        world_clock(due_us - 1);
        half_open_poll(world, world->now_us);
        assert_int_equal(world_sent.count, 1 + i);
        world_clock(due_us);
        half_open_poll(world, world->now_us);
        assert_int_equal(world_sent.count, 2 + i);
        assert_int_equal(world_sent.segment.flags, TCP_SYN | TCP_ACK);
        assert_int_equal(iss(), first);
        assert_int_equal(world_sent.routed, WEIR_CFG_ARP_CACHE);
    }
    assert_int_equal(half_open_poll(world, world->now_us), start_us + 63000000ull);
    world_clock(start_us + 63000000ull);
    assert_true(half_open_poll(world, world->now_us) == WEIR_NEVER);
    assert_null(find());
    assert_int_equal(world_listener.half_open_count, 0);
    assert_int_equal(world_sent.count, 6);
}

static void a_deferred_accept_waits_for_data(void **state)
{
    (void)state;
    world_listener.defer_accept_s = 5;
    syn();
    const uint32_t first = iss();
    const struct tcp_segment ack = world_segment(TCP_ACK, IRS + 1, first + 1);
    assert_true(input(ack));
    assert_int_equal(world_passive.count, 0);
    world_pass(1000000);
    half_open_poll(world, world->now_us);
    assert_int_equal(world_sent.count, 1);  // it is acknowledged: nothing to repeat
    struct tcp_segment data = ack;
    data.length = 1;
    assert_false(input(data));
    assert_int_equal(world_passive.count, 1);
    // Or it waits for the end of its time: the SYN-ACK then asks for another ACK.
    syn();
    assert_true(input(world_segment(TCP_ACK, IRS + 1, iss() + 1)));
    for (int i = 0; i < 8; i++) {
        world_pass(1000000);
        half_open_poll(world, world->now_us);
    }
    assert_int_equal(world_sent.count, 3);
    assert_false(input(world_segment(TCP_ACK, IRS + 1, iss() + 1)));
    assert_int_equal(world_passive.count, 2);
}

static void timestamps_once_agreed_are_required(void **state)
{
    (void)state;
    if (!WEIR_CFG_TCP_TIMESTAMPS)
        return;
    syn_from(5555, IRS, (struct tcp_options){.seen = TCP_SEEN_TIMESTAMPS, .ts_value = 100});
    struct tcp_segment ack = world_segment(TCP_ACK, IRS + 1, iss() + 1);
    assert_true(input(ack));  // RFC 7323 §3.2
    ack.options = (struct tcp_options){.seen = TCP_SEEN_TIMESTAMPS, .ts_value = 99};
    assert_true(input(ack));  // PAWS
    assert_int_equal(world->counters[WEIR_COUNT_TCP_PAWS], 1);
    ack.options.ts_value = 100;
    assert_false(input(ack));
    assert_int_equal(world_passive.params.ts_offset, tcp_timestamp_offset(world, LOCAL_ADDR, REMOTE_ADDR));
    assert_int_equal(world_passive.params.ts_recent, 100);
}

static void a_tiny_mss_is_raised(void **state)
{
    (void)state;
    syn_from(5555, IRS, (struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1});
    assert_false(input(world_segment(TCP_ACK, IRS + 1, iss() + 1)));
    assert_int_equal(world_passive.params.remote.mss, 48);
}

static void the_listeners_segment_limit_is_announced(void **state)
{
    (void)state;
    world_listener.user_mss = 300;
    world_listener.receive_limit = 2000;
    syn();
    assert_int_equal(world_sent.options.mss, 300);
    assert_int_equal(world_sent.segment.window, 2000);
}

static void a_closed_listener_forgets_its_own(void **state)
{
    (void)state;
    struct tcp_listener other = {.local = {.addr = LOCAL_ADDR, .port = 81}, .backlog = 8, .receive_limit = 1000};
    struct packet packet = world_packet();
    struct tcp_segment segment = world_segment(TCP_SYN, 1, 0);
    segment.destination = 81;
    half_open_syn(world, &other, &packet, &segment);
    syn();
    world_pass(1000000);
    half_open_poll(world, world->now_us);  // both on another list now
    half_open_forget(world, &world_listener);
    assert_null(find());
    assert_int_equal(world_listener.half_open_count, 0);
    assert_int_equal(other.half_open_count, 1);
    half_open_forget(world, &other);
    assert_true(half_open_poll(world, world->now_us) == WEIR_NEVER);
}

static void a_flood_takes_bounded_memory(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < 10000; i++) {
        struct packet packet = world_packet();
        packet.source = weir_addr_v4(0x0b000000u + i);
        struct tcp_segment segment = world_segment(TCP_SYN, i * 12345u, 0);
        half_open_syn(world, &world_listener, &packet, &segment);
    }
    assert_true(world_listener.half_open_count <= 16 && world_listener.half_open_count <= WEIR_CFG_TCP_HALF_OPEN);
    assert_true(world_bytes < 16384);
    if (WEIR_CFG_TCP_SYN_COOKIES)
        assert_int_equal(world->counters[WEIR_COUNT_TCP_SYNCOOKIE_SENT], 10000 - 16);
    else
        assert_int_equal(world->counters[WEIR_COUNT_TCP_SYN_DROPPED], 10000 - world_listener.half_open_count);
}

static void without_cookies_the_silent_make_room(void **state)
{
    (void)state;
    if (WEIR_CFG_TCP_SYN_COOKIES)
        return;
    for (uint32_t i = 0; i < 100; i++)
        syn_from((uint16_t)(1000 + i), i, (struct tcp_options){0});
    world_pass(1000000);
    half_open_poll(world, world->now_us);
    const uint32_t before = world_listener.half_open_count;
    syn();
    assert_non_null(find());
    assert_int_equal(world_listener.half_open_count, before);
    assert_false(input(world_segment(TCP_ACK, IRS + 1, iss() + 1)));
}

static void no_memory_is_no_harm(void **state)
{
    (void)state;
    if (!WEIR_CFG_ALLOCATOR)
        return;
    world_fail_after = 0;
    syn();
    assert_int_equal(world_listener.half_open_count, 0);
    assert_int_equal(world->counters[WEIR_COUNT_TCP_SYNCOOKIE_SENT], WEIR_CFG_TCP_SYN_COOKIES);
}

static void a_poll_does_a_bounded_amount(void **state)
{
    (void)state;
    if (WEIR_CFG_TCP_HALF_OPEN < 600)
        return;
    world_listener.backlog = 4096;
    for (uint16_t i = 0; i < 600; i++)
        syn_from((uint16_t)(1000 + i), i, (struct tcp_options){0});
    world_sent.count = 0;
    world_pass(1000000);
    assert_true(half_open_poll(world, world->now_us) == world->now_us);  // more to do
    assert_int_equal(world_sent.count, 256);
    half_open_poll(world, world->now_us);
    half_open_poll(world, world->now_us);
    assert_int_equal(world_sent.count, 600);
}

static void all_are_walked_once(void **state)
{
    (void)state;
    const uint32_t wanted = WEIR_CFG_TCP_HALF_OPEN < 500 ? WEIR_CFG_TCP_HALF_OPEN : 500;
    world_listener.backlog = 4096;
    for (uint32_t i = 0; i < wanted; i++)
        syn_from((uint16_t)(1000 + i), i, (struct tcp_options){0});
    struct table_cursor cursor = {0};
    uint32_t found = 0;
    struct weir_socket_info info;
    while (half_open_walk(world, &cursor, &info)) {
        assert_int_equal(info.tcp_state, WEIR_TCP_SYN_RECEIVED);
        assert_int_equal(world_port_used[info.peer.port]++, 0);
        found++;
    }
    assert_int_equal(found, wanted);
}

static void a_new_syn_over_time_wait_begins_beyond_the_old(void **state)
{
    (void)state;
    const struct weir_endpoint local = {LOCAL_ADDR, 80}, remote = {REMOTE_ADDR, 5555};
    struct tcp_conn old = {.local = world_end(local), .remote = world_end(remote)};
    old.snd.nxt = tcp_isn(world, &local, &remote) + 0x20000000;
    old.rcv.nxt = IRS - 1;
    time_wait_enter(world, &old);
    struct packet packet = world_packet();
    struct tcp_segment segment = world_segment(TCP_SYN, IRS, 0);
    assert_true(time_wait_input(world, time_wait_find(world, &packet, &segment), &packet, &segment));
    half_open_syn(world, &world_listener, &packet, &segment);
    assert_true(seq_lt(old.snd.nxt, iss()));
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(a_syn_is_answered),
        world_test(options_are_answered_as_offered),
        world_test(the_ack_makes_a_connection),
        world_test(data_may_come_before_the_bare_ack),
        world_test(a_wrong_ack_is_reset_and_changes_nothing),
        world_test(only_an_exact_reset_ends_it),
        world_test(the_same_syn_gets_the_same_answer),
        world_test(another_syn_is_challenged),
        world_test(segments_outside_the_window_are_acknowledged),
        world_test(no_ack_bit_no_connection),
        world_test(answers_to_one_entry_are_limited),
        world_test(a_full_accept_queue_makes_the_client_try_again),
        world_test(retransmits_at_1_2_4_8_16_and_gives_up),
        world_test(a_deferred_accept_waits_for_data),
        world_test(timestamps_once_agreed_are_required),
        world_test(a_tiny_mss_is_raised),
        world_test(the_listeners_segment_limit_is_announced),
        world_test(a_closed_listener_forgets_its_own),
        world_test(a_flood_takes_bounded_memory),
        world_test(without_cookies_the_silent_make_room),
        world_test(no_memory_is_no_harm),
        world_test(a_poll_does_a_bounded_amount),
        world_test(all_are_walked_once),
        world_test(a_new_syn_over_time_wait_begins_beyond_the_old),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
