// SPDX-License-Identifier: BSD-2-Clause
// SYN cookies: what goes in comes out, and nothing else is believed.
#include "fakes.h"

#define IRS 0xffffffffu

static struct tcp_options full_options(uint16_t mss, uint8_t scale)
{
    return (struct tcp_options){.seen = TCP_SEEN_MSS | TCP_SEEN_WINDOW_SCALE | TCP_SEEN_SACK_PERMITTED |
                                        TCP_SEEN_TIMESTAMPS,
                                .mss = mss,
                                .window_scale = scale,
                                .ts_value = 4242};
}
static void send_cookie(struct tcp_options options)
{
    struct packet packet = world_packet();
    struct tcp_segment segment = world_segment(TCP_SYN, IRS, 0);
    segment.options = options;
    syncookie_send(world, &world_listener, &packet, &segment);
}
// The ACK that a client sends for the last SYN-ACK.
static struct tcp_segment client_ack(void)
{
    struct tcp_segment segment = world_segment(TCP_ACK, IRS + 1, world_sent.segment.seq + 1);
    if (world_sent.options.seen & TCP_SEEN_TIMESTAMPS)
        segment.options =
            (struct tcp_options){.seen = TCP_SEEN_TIMESTAMPS, .ts_value = 4300, .ts_echo = world_sent.options.ts_value};
    return segment;
}
static bool input(struct tcp_segment segment)
{
    struct packet packet = world_packet();
    return syncookie_input(world, &world_listener, &packet, &segment);
}

static void a_cookie_comes_back_as_a_connection(void **state)
{
    (void)state;
    send_cookie((struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1460});
    assert_int_equal(world_sent.segment.flags, TCP_SYN | TCP_ACK);
    assert_int_equal(world_sent.segment.ack, IRS + 1);
    assert_int_equal(world_sent.options.seen, TCP_SEEN_MSS);  // without timestamps there is no room for more
    const uint32_t cookie = world_sent.segment.seq;
    world_pass(50000);
    assert_true(input(client_ack()));
    assert_int_equal(world_passive.count, 1);
    assert_int_equal(world_passive.input_count, 1);
    assert_int_equal(world_passive.params.iss, cookie);
    assert_int_equal(world_passive.params.irs, IRS);
    assert_int_equal(world_passive.params.remote.mss, 1460);
    assert_false(world_passive.params.sack || world_passive.params.scaling || world_passive.params.timestamps);
    assert_int_equal(world->counters[WEIR_COUNT_TCP_SYNCOOKIE_SENT], 1);
    assert_int_equal(world->counters[WEIR_COUNT_TCP_SYNCOOKIE_ACCEPTED], 1);
}

static void timestamps_carry_scale_and_sack(void **state)
{
    (void)state;
    for (uint8_t scale = 0; scale < 20; scale++) {
        send_cookie(full_options(1460, scale));
        // never ahead of our clock, and less than 64 ms behind
        assert_in_range(
            world->now_ms + tcp_timestamp_offset(world, LOCAL_ADDR, REMOTE_ADDR) - world_sent.options.ts_value, 0, 63);
        assert_int_equal(world_sent.options.ts_echo, 4242);
        assert_int_equal(world_sent.options.window_scale, 5);
        assert_true(input(client_ack()));
        assert_true(world_passive.params.sack && world_passive.params.scaling && world_passive.params.timestamps);
        assert_int_equal(world_passive.params.snd_scale, scale > 14 ? 14 : scale);
        assert_int_equal(world_passive.params.rcv_scale, 5);
        assert_int_equal(world_passive.params.ts_recent, 4300);
        assert_int_equal(world_passive.params.ts_offset, tcp_timestamp_offset(world, LOCAL_ADDR, REMOTE_ADDR));
        world_pass(7000);
    }
    struct tcp_options only = full_options(1460, 3);
    only.seen = TCP_SEEN_TIMESTAMPS;
    send_cookie(only);
    assert_true(input(client_ack()));
    assert_true(world_passive.params.timestamps);
    assert_false(world_passive.params.sack || world_passive.params.scaling);
    assert_int_equal(world_passive.params.remote.mss, 536);
}

static void the_segment_size_is_never_above_the_peers(void **state)
{
    (void)state;
    for (uint32_t mss = 48; mss < 65536; mss += mss < 2000 ? 1 : 977) {
        send_cookie((struct tcp_options){.seen = TCP_SEEN_MSS, .mss = (uint16_t)mss});
        assert_true(input(client_ack()));
        assert_true(world_passive.params.remote.mss <= mss);
        assert_true(world_passive.params.remote.mss >= (mss < 1460 ? mss / 5 : 1460));
    }
}

static void a_changed_bit_is_no_cookie(void **state)
{
    (void)state;
    send_cookie((struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1460});
    const struct tcp_segment good = client_ack();
    for (int bit = 0; bit < 32; bit++) {
        struct tcp_segment bad = good;
        bad.ack = ((good.ack - 1) ^ 1u << bit) + 1;
        assert_false(input(bad));
        bad = good;
        bad.seq = ((good.seq - 1) ^ 1u << bit) + 1;
        assert_false(input(bad));
    }
    for (int bit = 0; bit < 16; bit++) {
        struct tcp_segment bad = good;
        bad.source ^= (uint16_t)(1u << bit);
        assert_false(input(bad));
        bad = good;
        bad.destination ^= (uint16_t)(1u << bit);
        assert_false(input(bad));
    }
    assert_int_equal(world->counters[WEIR_COUNT_TCP_SYNCOOKIE_BAD], 96);
    struct tcp_segment syn = good;
    syn.flags |= TCP_SYN;
    assert_false(input(syn));
    syn.flags = TCP_PSH;
    assert_false(input(syn));
    assert_int_equal(world_passive.count, 0);
}

static void guesses_fail(void **state)
{
    (void)state;
    send_cookie((struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1460});
    uint32_t good = 0;
    for (uint32_t i = 0; i < 20000; i++) {
        struct tcp_segment guess = client_ack();
        guess.ack = i * 2654435761u;
        good += input(guess);
    }
    assert_true(good <= 1);
}

static void a_cookie_grows_old(void **state)
{
    (void)state;
    send_cookie((struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1460});
    const struct tcp_segment ack = client_ack();
    world_pass(60000000);
    assert_true(input(ack));
    for (int i = 0; i < 100; i++) {  // also when cookies go on being sent, and when the five bits of time come round
        world_pass(80000000);
        send_cookie((struct tcp_options){0});
        assert_false(input(ack));
    }
}

static void nothing_is_believed_unless_cookies_were_sent_lately(void **state)
{
    (void)state;
    send_cookie((struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1460});
    const struct tcp_segment ack = client_ack();
    world->now_us = world->tcp.cookies_until_us;
    assert_false(input(ack));
    assert_int_equal(world->counters[WEIR_COUNT_TCP_SYNCOOKIE_BAD], 0);  // it was not even looked at
}

static void a_full_accept_queue_makes_the_client_try_again(void **state)
{
    (void)state;
    send_cookie((struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1460});
    world_passive.refuse = true;
    assert_true(input(client_ack()));  // no reset
    assert_int_equal(world_passive.input_count, 0);
    world_passive.refuse = false;
    assert_true(input(client_ack()));
    assert_int_equal(world_passive.input_count, 1);
}

static void cookies_tell_nothing_of_each_other(void **state)
{
    (void)state;
    uint32_t bins[16] = {0}, last = 0;
    for (uint16_t i = 0; i < 1600; i++) {
        struct packet packet = world_packet();
        struct tcp_segment segment = world_segment(TCP_SYN, IRS, 0);
        segment.source = (uint16_t)(2000 + i);
        syncookie_send(world, &world_listener, &packet, &segment);
        bins[(world_sent.segment.seq - last) >> 20 & 15]++;
        last = world_sent.segment.seq;
    }
    for (int i = 0; i < 16; i++)
        assert_in_range(bins[i], 60, 145);
}

static void under_a_flood_a_client_still_connects(void **state)
{
    (void)state;
    struct packet packet = world_packet();
    for (uint32_t i = 0; i < 10000; i++) {
        packet.source = weir_addr_v4(0x0b000000u + i);
        struct tcp_segment segment = world_segment(TCP_SYN, i * 12345u, 0);
        half_open_syn(world, &world_listener, &packet, &segment);
    }
    packet = world_packet();
    struct tcp_segment syn = world_segment(TCP_SYN, IRS, 0);
    syn.options = full_options(1460, 7);
    half_open_syn(world, &world_listener, &packet, &syn);
    struct tcp_segment ack = client_ack();
    assert_null(half_open_find(world, &packet, &ack));
    assert_true(input(ack));
    assert_int_equal(world_passive.count, 1);
    assert_true(world_bytes < 16384);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        world_test(a_cookie_comes_back_as_a_connection),
        world_test(timestamps_carry_scale_and_sack),
        world_test(the_segment_size_is_never_above_the_peers),
        world_test(a_changed_bit_is_no_cookie),
        world_test(guesses_fail),
        world_test(a_cookie_grows_old),
        world_test(nothing_is_believed_unless_cookies_were_sent_lately),
        world_test(a_full_accept_queue_makes_the_client_try_again),
        world_test(cookies_tell_nothing_of_each_other),
        world_test(under_a_flood_a_client_still_connects),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
