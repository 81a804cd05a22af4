// SPDX-License-Identifier: BSD-2-Clause
// Acknowledgements: round-trip times, windows by WL1 and WL2, options in any segment, and what R1 does.
// profiles: small
#include "tcp/tcp_fixture.h"

#include <string.h>

#include "instance.h"
#include "tcp/internal.h"

static const struct tcp_fixture_options plain;

static void each_flight_gives_a_sample(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    for (uint32_t i = 0; i < 50; i++) {
        user_write(&t, i * 100, 100);
        peer_pass(&t, 80000);
        peer_send(&t, TCP_ACK, 0, (i + 1) * 100);
        peer_drain(&t);
    }
    assert_in_range(rtt_smoothed(&tcp_fixture_conn(&t)->rtt), 79000, 81000);
    // never below the smallest plus the round trip
    assert_in_range(rtt_timeout(&tcp_fixture_conn(&t)->rtt, 0), 270000, 300000);
    tcp_fixture_close(&t);
}

static void the_newest_window_counts(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 1000);
    peer_drain(&t);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .ack = 500, .own_window = true, .window = 20000});
    assert_int_equal(tcp_fixture_conn(&t)->snd.wnd, 20000);
    // opened
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .ack = 500, .own_window = true, .window = 30000});
    assert_int_equal(tcp_fixture_conn(&t)->snd.wnd, 30000);
    peer_send_raw(&t,
                  // the one before, overtaken
                  &(struct peer_segment){.flags = TCP_ACK, .ack = 500, .own_window = true, .window = 20000});
    assert_int_equal(tcp_fixture_conn(&t)->snd.wnd, 30000);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .ack = 500, .own_window = true, .window = 0});
    assert_int_equal(tcp_fixture_conn(&t)->snd.wnd, 0);
    peer_send_raw(&t,
                  // a newer ACK may shrink it
                  &(struct peer_segment){.flags = TCP_ACK, .ack = 1000, .own_window = true, .window = 100});
    assert_int_equal(tcp_fixture_conn(&t)->snd.wnd, 100);
    peer_send_raw(&t, &(struct peer_segment){
                          .flags = TCP_ACK, .seq = 0, .ack = 1000, .length = 10, .own_window = true, .window = 40000});
    peer_send_raw(&t, &(struct peer_segment){
                          .flags = TCP_ACK, .seq = 10, .ack = 1000, .length = 10, .own_window = true, .window = 50});
    assert_int_equal(tcp_fixture_conn(&t)->snd.wnd, 50);
    tcp_fixture_close(&t);
}

static void options_come_in_any_segment_and_place(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.timestamps = true, .sack = true});
    uint32_t at = 0;
    for (uint32_t shift = 0; shift < 4; shift++) {  // timestamps at each alignment, behind NOPs and an unknown option
        uint8_t options[20] = {1, 1, 1, 1};
        options[shift] = 8;
        options[shift + 1] = 10;
        put32(options + shift + 2, ++t.ts_value);
        put32(options + shift + 6, t.ts_echo);
        options[shift + 10] = 253;  // experimental: ignored (MUST-6)
        options[shift + 11] = 4;
        peer_send_raw(&t, &(struct peer_segment){
                              .flags = TCP_ACK, .seq = at, .length = 10, .raw_options = options, .raw_length = 16});
        at += 10;
        assert_int_equal(user_read(&t, at - 10, 100), 10);
        peer_drain(&t);
        assert_int_equal(t.got.options.ts_echo, t.ts_value);
    }
    // An MSS option after the handshake is heard by nobody.
    const uint16_t mss = tcp_fixture_conn(&t)->mss;
    const struct tcp_options late = {.seen = TCP_SEEN_MSS | TCP_SEEN_WINDOW_SCALE | TCP_SEEN_TIMESTAMPS,
                                     .mss = 100,
                                     .window_scale = 9,
                                     .ts_value = ++t.ts_value};
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .seq = at, .length = 10, .options = &late});
    assert_int_equal(tcp_fixture_conn(&t)->mss, mss);
    assert_int_equal(tcp_fixture_conn(&t)->snd_scale, 0);
    assert_int_equal(user_read(&t, at, 100), 10);
    tcp_fixture_close(&t);
}

static void unknown_options_on_a_syn_are_ignored(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    // unknown, MSS 1000, NOP, unknown, end, garbage
    static const uint8_t options[] = {254, 6, 1, 2, 3, 4, 2, 4, 3, 232, 1, 69, 3, 9, 0, 77};
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN, .raw_options = options, .raw_length = 16});
    peer_take(&t);
    assert_int_equal(t.got.flags, TCP_SYN | TCP_ACK);
    t.ours = t.got.seq + 1;
    t.theirs++;
    peer_send(&t, TCP_ACK, 0, 0);
    assert_int_equal(tcp_fixture_conn(&t)->mss, 1000);
    t.socket = weir_socket_accept(t.weir, t.listener);
    tcp_fixture_close(&t);
}

static void a_reset_may_carry_data(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_RST | TCP_ACK, .length = 20});
    assert_state(&t, WEIR_TCP_CLOSED);
    assert_int_equal(user_error(&t), WEIR_RESET);
    assert_int_equal(user_read(&t, 0, 100), 0);
    tcp_fixture_close(&t);
}

// R1, three retransmissions: the network layer is asked for a way anew; TCP_INFO shows the back-off to whoever asks.
static void after_three_retransmissions_the_way_is_asked_for_anew(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 100);
    tcp_fixture_conn(&t)->path.mtu = 1400;  // what the path would not say today
    peer_pass(&t, 650000);
    assert_int_equal(tcp_fixture_conn(&t)->backoff, 2);
    assert_int_equal(tcp_fixture_conn(&t)->path.mtu, 1400);
    peer_pass(&t, 1000000);
    assert_int_equal(tcp_fixture_conn(&t)->backoff, 3);
    assert_int_equal(tcp_fixture_conn(&t)->path.mtu, 1500);
#if WEIR_CFG_TCP_INFO
    struct weir_tcp_info info;
    assert_int_equal(weir_socket_tcp_info(t.weir, t.socket, &info), WEIR_OK);
    assert_int_equal(info.backoff, 3);
#endif
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    tcp_fixture_close(&t);
}

// A broken cable heals: unsent and unacknowledged data goes on when the way is there again.
static void a_way_that_comes_back_is_used(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (int in_flight = 0; in_flight < 2; in_flight++) {
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
        if (in_flight) {
            user_write(&t, 0, 10);
            peer_expect(&t, TCP_ACK, 0, 0, 10);
        }
        assert_int_equal(weir_netif_set_up(&t.f.netif, false), WEIR_OK);
        user_write(&t, in_flight ? 10 : 0, 10);
        peer_pass(&t, 30000000);
        peer_expect_nothing(&t);
        assert_int_equal(weir_netif_set_up(&t.f.netif, true), WEIR_OK);
        peer_pass(&t, 60000000);
        assert_true(peer_has_more(&t));
        peer_take(&t);
        assert_int_equal(t.got_seq, 0);
        assert_true(t.got.length >= 10);
        assert_state(&t, WEIR_TCP_ESTABLISHED);
        tcp_fixture_close(&t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_flight_gives_a_sample),
        cmocka_unit_test(the_newest_window_counts),
        cmocka_unit_test(options_come_in_any_segment_and_place),
        cmocka_unit_test(unknown_options_on_a_syn_are_ignored),
        cmocka_unit_test(a_reset_may_carry_data),
        cmocka_unit_test(after_three_retransmissions_the_way_is_asked_for_anew),
        cmocka_unit_test(a_way_that_comes_back_is_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
