// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// Active open: what is refused, what is agreed, ICMP errors on the way, TIME-WAIT reuse.
#include "built.h"
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"
#include "wire/icmp4.h"

#define SECOND UINT64_C(1000000)

static const struct tcp_fixture_options active = {.open = TCP_ACTIVE};

#if WEIR_CFG_IP4
#define IMPOSSIBLE \
    {weir_ip4(255, 255, 255, 255), 80}, {weir_ip4(10, 0, 0, 255), 80}, { weir_ip4(224, 0, 0, 1), 80 }
#else
#define IMPOSSIBLE \
    { \
        weir_addr_v6((const uint8_t[16]){0xff, 0x02, [15] = 1}), 80 \
    }
#endif

static void impossible_peers_are_refused(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_open(&t, &active);
    const struct weir_endpoint bad[] = {IMPOSSIBLE, {weir_addr_any(), 80}, {TCP_PEER, 0}};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        const weir_socket socket = weir_socket_open(t.weir, WEIR_STREAM, 0);
        assert_int_equal(weir_socket_connect(t.weir, socket, &bad[i]), WEIR_INVALID);
        assert_int_equal(weir_socket_close(t.weir, socket), WEIR_OK);
    }
    fixture_poll(&t.f, 0);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

static void a_second_connect_is_refused(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &active);
    assert_int_equal(weir_socket_connect(t.weir, t.socket, &t.remote), WEIR_IN_PROGRESS);
    tcp_fixture_close(&t);
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &active);
    assert_int_equal(weir_socket_connect(t.weir, t.socket, &t.remote), WEIR_CONNECTED);
    const weir_socket second = weir_socket_open(t.weir, WEIR_STREAM, 0);  // the same four numbers
    assert_int_equal(weir_socket_set(t.weir, second, WEIR_OPTION_REUSE_ADDRESS, 1), WEIR_OK);
    assert_int_equal(weir_socket_bind(t.weir, second, &t.local), WEIR_OK);
    assert_int_equal(weir_socket_connect(t.weir, second, &t.remote), WEIR_IN_USE);
    assert_int_equal(weir_socket_close(t.weir, second), WEIR_OK);
    tcp_fixture_close(&t);
}

static void the_local_address_may_be_chosen_or_given(void **state)
{
    struct tcp_fixture t;
    struct weir_endpoint local;
    (void)state;
    tcp_fixture_open(&t, &active);
    const weir_socket socket = weir_socket_open(t.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(t.weir, socket, &(struct weir_endpoint){fixture_address(99), 80}),
                     WEIR_NO_ADDRESS);
    assert_int_equal(weir_socket_connect(t.weir, socket, &t.remote), WEIR_IN_PROGRESS);
    assert_int_equal(weir_socket_local(t.weir, socket, &local), WEIR_OK);
    assert_true(weir_addr_equal(local.addr, TCP_US));
    assert_in_range(local.port, 1024, 65535);
    assert_int_equal(weir_socket_close(t.weir, socket), WEIR_OK);
    const weir_socket bound = weir_socket_open(t.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(t.weir, bound, &(struct weir_endpoint){TCP_US, 81}), WEIR_OK);
    assert_int_equal(weir_socket_connect(t.weir, bound, &t.remote), WEIR_IN_PROGRESS);
    assert_int_equal(weir_socket_local(t.weir, bound, &local), WEIR_OK);
    assert_int_equal(local.port, 81);
    assert_int_equal(weir_socket_close(t.weir, bound), WEIR_OK);
    tcp_fixture_close(&t);
}

static void what_is_not_offered_is_not_used(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (int mask = 0; mask < 8; mask++) {
        const struct tcp_fixture_options options = {
            .open = TCP_ACTIVE, .sack = mask & 1, .timestamps = mask & 2, .scale = mask & 4, .peer_scale = 3};
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &options);
        const struct tcp_conn *c = tcp_fixture_conn(&t);
        assert_int_equal(!!(c->flags & TCP_USE_SACK), options.sack);
        assert_int_equal(!!(c->flags & TCP_USE_TIMESTAMPS), options.timestamps);
        assert_int_equal(!!(c->flags & TCP_USE_SCALING), options.scale);
        assert_int_equal(c->snd_scale, options.scale ? 3 : 0);
        if (!options.scale)
            assert_int_equal(c->rcv_scale, 0);
        tcp_fixture_close(&t);
    }
}

// The scale is what the SYN said, whatever is set before the answer comes.
static void the_scale_is_that_of_the_syn(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT,
                      &(struct tcp_fixture_options){.open = TCP_ACTIVE, .receive_buffer = 1000000});
    const uint8_t scale = t.got.options.window_scale;
    assert_int_equal(scale, 4);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_RECEIVE_BUFFER, 10000), WEIR_OK);
    fixture_poll(&t.f, 0);
    const struct tcp_options options = {.seen = TCP_SEEN_MSS | TCP_SEEN_WINDOW_SCALE, .mss = 1460};
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK, .options = &options});
    assert_int_equal(tcp_fixture_conn(&t)->rcv_scale, scale);
    tcp_fixture_close(&t);
}

static void data_queued_early_follows_the_handshake(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &active);
    user_write(&t, 0, 100);
    peer_expect_nothing(&t);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK,
                                             .options = &(struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1460}});
    t.theirs++;
    peer_expect(&t, TCP_ACK, 0, 0, 100);
    tcp_fixture_close(&t);
}

static void closing_before_the_answer_ends_it(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &active);
    assert_int_equal(weir_socket_close(t.weir, t.socket), WEIR_OK);
    t.socket = 0;
    fixture_poll(&t.f, 0);
    peer_expect_nothing(&t);
    assert_state(&t, WEIR_TCP_CLOSED);
    tcp_fixture_close(&t);
}

static void a_neighbour_that_does_not_answer_ends_an_open(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_open(&t, &(struct tcp_fixture_options){.fixture = {.link = &weir_link_ethernet}});
    t.socket = weir_socket_open(t.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_connect(t.weir, t.socket, &(struct weir_endpoint){fixture_address(77), 80}),
                     WEIR_IN_PROGRESS);
    peer_pass(&t, 30 * SECOND);
    assert_int_equal(user_error(&t), WEIR_HOST_UNREACHABLE);
    assert_true(weir_socket_ready(t.weir, t.socket) & WEIR_HANGUP);
    tcp_fixture_close(&t);
}

// Whichever allocation fails, and early data or not: the call says so, or the handshake is tried again when memory is
// back.
static void an_open_survives_failing_allocations(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (uint32_t n = 1; n < 16; n++)
        for (int early = 0; early < 2; early++) {
            tcp_fixture_open(&t, &active);
            t.f.fail_at = n;
            t.f.fail_onwards = true;
            const weir_socket socket = weir_socket_open(t.weir, WEIR_STREAM, 0);
            if (socket < 0) {
                assert_int_equal(socket, WEIR_NO_MEMORY);
                tcp_fixture_close(&t);
                continue;
            }
            t.socket = socket;
            assert_int_equal(weir_socket_bind(t.weir, socket, &t.local), WEIR_OK);
            const int result = weir_socket_connect(t.weir, socket, &t.remote);
            assert_int_equal(result, WEIR_IN_PROGRESS);
            const int written =
                early ? weir_socket_write(t.weir, socket, (uint8_t[]){peer_pattern(0), peer_pattern(1)}, 2) : 0;
            assert_true(written == 2 || written == 0 || written == WEIR_NO_MEMORY);
            peer_pass(&t, 5 * SECOND);
            peer_drain(&t);
            t.f.fail_at = 0;
            t.f.fail_onwards = false;
            peer_pass(&t, 40 * SECOND);
            peer_take(&t);
            assert_int_equal(t.got.flags, TCP_SYN);
            t.ours = t.got.seq + 1;
            peer_send_raw(&t,
                          &(struct peer_segment){.flags = TCP_SYN | TCP_ACK,
                                                 .options = &(struct tcp_options){.seen = TCP_SEEN_MSS, .mss = 1460}});
            t.theirs++;
            peer_drain(&t);
            assert_state(&t, WEIR_TCP_ESTABLISHED);
            peer_send(&t, TCP_ACK, 0, written == 2 ? 2 : 0);
            user_write(&t, written == 2 ? 2 : 0, 100);
            peer_take(&t);
            assert_int_equal(t.got.length, 100);
            tcp_fixture_close(&t);
        }
}

// --- ICMP errors (RFC 1122 §4.2.3.9, RFC 5927) -----------------------------------------------------------------------

static void a_hard_error_ends_an_open(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &active);
    peer_icmp(&t, ICMP4_UNREACHABLE, ICMP4_PORT, 0, 100, 40);  // not a number of ours
    assert_state(&t, WEIR_TCP_SYN_SENT);
    peer_icmp(&t, ICMP4_UNREACHABLE, ICMP4_PORT, 0, UINT32_MAX, 40);
    assert_state(&t, WEIR_TCP_CLOSED);
    assert_int_equal(user_error(&t), WEIR_REFUSED);
    tcp_fixture_close(&t);
}

// MAX.SND.WND is kept unscaled; the window of a SYN-ACK, which is never scaled, counts in whole units.
static void the_largest_window_begins_with_the_syn_acks(void **state)
{
    const struct tcp_fixture_options options = {.open = TCP_ACTIVE, .scale = true, .peer_scale = 7, .window = 1000};
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &options);
    const bool scaled = WEIR_CFG_TCP_WINDOW_SCALE;
    assert_int_equal(tcp_max_window(tcp_fixture_conn(&t)), scaled ? 896 : 1000);
    t.window = 50;
    peer_send(&t, TCP_ACK, 0, 0);
    assert_int_equal(tcp_max_window(tcp_fixture_conn(&t)), scaled ? 50 << 7 : 1000);
    t.window = 2000;
    peer_send(&t, TCP_ACK, 0, 0);
    t.window = 1999;
    peer_send(&t, TCP_ACK, 0, 0);
    assert_int_equal(tcp_max_window(tcp_fixture_conn(&t)), scaled ? 2000 << 7 : 2000);
    tcp_fixture_close(&t);
}

static void a_soft_error_is_told_when_time_runs_out(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (int code = 0; code < 2; code++) {
        tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &active);
        peer_icmp(&t, ICMP4_UNREACHABLE, code ? ICMP4_HOST : ICMP4_NET, 0, UINT32_MAX, 40);
        assert_state(&t, WEIR_TCP_SYN_SENT);
        assert_false(weir_socket_ready(t.weir, t.socket) & WEIR_ERROR);
        assert_int_equal(user_error(&t), WEIR_OK);  // which does not take it either
        peer_pass(&t, 300 * SECOND);
        assert_state(&t, WEIR_TCP_CLOSED);
        assert_int_equal(user_error(&t), code ? WEIR_HOST_UNREACHABLE : WEIR_NETWORK_UNREACHABLE);
        tcp_fixture_close(&t);
    }
}

static void no_icmp_error_ends_an_established_connection(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &active);
    user_write(&t, 0, 1000);
    peer_drain(&t);
    const struct conn_snapshot before = conn_snapshot(&t);
    for (uint8_t code = 0; code < 16; code++)
        if (code != ICMP4_FRAGMENTATION_NEEDED)
            for (uint32_t seq = 0; seq < 1002; seq += 500)
                peer_icmp(&t, ICMP4_UNREACHABLE, code, 0, seq, 1040);
    peer_icmp(&t, ICMP4_TIME_EXCEEDED, 0, 0, 0, 1040);
    peer_icmp(&t, ICMP4_TIME_EXCEEDED, 1, 0, 0, 1040);
    peer_icmp(&t, ICMP4_PARAMETER, 0, 0, 0, 1040);
    peer_icmp(&t, ICMP4_SOURCE_QUENCH, 0, 0, 0, 1040);  // MUST-55: silently discarded
    peer_expect_nothing(&t);
    assert_unchanged(&t, &before);
    assert_false(weir_socket_ready(t.weir, t.socket) & WEIR_ERROR);
    peer_send(&t, TCP_ACK, 0, 1000);
    assert_int_equal(conn_snapshot(&t).send_queue, 0);
    tcp_fixture_close(&t);
}

static void source_quench_is_discarded(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &active);
    user_write(&t, 0, 1000);
    peer_drain(&t);
    const uint32_t cwnd = tcp_fixture_conn(&t)->flow->window.cwnd;
    for (int i = 0; i < 10; i++)
        peer_icmp(&t, ICMP4_SOURCE_QUENCH, 0, 0, 0, 1040);
    peer_expect_nothing(&t);
    assert_int_equal(tcp_fixture_conn(&t)->flow->window.cwnd, cwnd);
    tcp_fixture_close(&t);
}

// Path MTU discovery (RFC 1191) with the checks of RFC 5927 §7.
static void a_smaller_path_cuts_segments_anew(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &active);
    user_write(&t, 0, 3 * 1460);
    assert_int_equal(peer_drain_count(&t), 3);
    peer_icmp(&t, ICMP4_UNREACHABLE, ICMP4_FRAGMENTATION_NEEDED, 1000, 3 * 1460, 1500);  // of nothing in flight
    peer_icmp(&t, ICMP4_UNREACHABLE, ICMP4_FRAGMENTATION_NEEDED, 1000, UINT32_MAX, 1500);
    peer_expect_nothing(&t);
    assert_int_equal(tcp_fixture_conn(&t)->mss, 1460);
    peer_icmp(&t, ICMP4_UNREACHABLE, ICMP4_FRAGMENTATION_NEEDED, 1000, 0, 1500);
    assert_int_equal(tcp_fixture_conn(&t)->mss, 960);
    for (uint32_t at = 0; at < 2880; at += 960)
        peer_expect(&t, TCP_ACK, at, 0, 960);
    peer_drain(&t);
    peer_icmp(&t, ICMP4_UNREACHABLE, ICMP4_FRAGMENTATION_NEEDED, 68, 0, 1000);  // no lower than 576
    assert_int_equal(tcp_fixture_conn(&t)->mss, 536);
    peer_drain(&t);
    peer_send(&t, TCP_ACK, 0, 3 * 1460);
    user_write(&t, 3 * 1460, 536);
    peer_expect(&t, TCP_ACK, 3 * 1460, 0, 536);
    tcp_fixture_close(&t);
}

// --- TIME-WAIT and ports ---------------------------------------------------------------------------------------------

static void a_syn_reopens_time_wait_when_it_is_new(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_TIME_WAIT, &(struct tcp_fixture_options){0});
    peer_pass(&t, SECOND);
    const uint32_t before = t.ours;
    peer_send(&t, TCP_SYN, UINT32_MAX - 5000, 0);  // an old duplicate
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    assert_state(&t, WEIR_TCP_TIME_WAIT);
    peer_send(&t, TCP_SYN, 5000, 0);  // beyond all it has sent (RFC 6191 without timestamps, RFC 1122 §4.2.2.13)
    peer_take(&t);
    assert_int_equal(t.got.flags, TCP_SYN | TCP_ACK);
    assert_int_equal(t.got_ack, 5001);
    assert_true(seq_lt(before, t.got.seq));  // ours is beyond the old ones, too
    assert_state(&t, WEIR_TCP_SYN_RECEIVED);
    tcp_fixture_close(&t);
}

static void initial_numbers_cannot_be_predicted(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &(struct tcp_fixture_options){0});
    uint32_t last = 0, steps_alike = 0, step = 0;
    for (uint16_t i = 0; i < 200; i++) {
        t.remote.port = (uint16_t)(20000 + i);
        peer_send(&t, TCP_SYN, 0, 0);
        if (!peer_has_more(&t))
            continue;
        peer_take(&t);
        steps_alike += t.got.seq - last == step;
        step = t.got.seq - last;
        last = t.got.seq;
        peer_send(&t, TCP_RST, 1, 0);
    }
    assert_in_range(steps_alike, 0, 1);
    // Of the same ends they follow the clock: 250,000 a second (RFC 6528).
    t.remote.port = 30000;
    peer_send(&t, TCP_SYN, 0, 0);
    peer_take(&t);
    const uint32_t first = t.got.seq;
    peer_send(&t, TCP_RST, 1, 0);
    peer_pass(&t, SECOND);
    peer_drain(&t);
    peer_send(&t, TCP_SYN, 0, 0);
    peer_take(&t);
    assert_in_range(t.got.seq - first, 249000, 251000);
    tcp_fixture_close(&t);
}

// Its timeout may find the interface full, so that nothing was sent again when the SYN-ACK comes after all: that is no
// reduction to give back with the first data's acknowledgement.
static void a_syn_not_sent_again_is_no_spurious_reduction(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &(struct tcp_fixture_options){.open = TCP_ACTIVE});
    t.f.block_tx = true;
    peer_pass(&t, 1050000);
    peer_send_raw(&t,
                  &(struct peer_segment){.flags = TCP_SYN | TCP_ACK,
                                         .quiet = true,
                                         .options = &(struct tcp_options){.seen = TCP_SEEN_MSS, .mss = TCP_PEER_MSS}});
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    if (tcp_fixture_conn(&t)->flow)
        assert_false(tcp_undo_due(tcp_fixture_conn(&t)));
    fixture_unblock(&t.f, 0);
    user_write(&t, 0, 100);
    peer_drain(&t);
    peer_send(&t, TCP_ACK, 1, tcp_fixture_conn(&t)->snd.nxt - t.ours);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_SPURIOUS), 0);
    tcp_fixture_close(&t);
}

// A SYN that was lost leaves one segment of cwnd (RFC 5681 §3.1), and that is all of it: the acknowledgement of the
// first data tells of no loss.
static void a_lost_syn_is_no_loss_of_data(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &(struct tcp_fixture_options){.open = TCP_ACTIVE});
    peer_pass(&t, 1050000);
    peer_drain(&t);
    peer_send_raw(&t,
                  &(struct peer_segment){.flags = TCP_SYN | TCP_ACK,
                                         .options = &(struct tcp_options){.seen = TCP_SEEN_MSS, .mss = TCP_PEER_MSS}});
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    const struct tcp_flow *flow = tcp_fixture_conn(&t)->flow;
    assert_non_null(flow);
    assert_int_equal(flow->window.cwnd, tcp_fixture_conn(&t)->mss);
    assert_int_equal(flow->lost_untold, 0);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_syn_not_sent_again_is_no_spurious_reduction),
        cmocka_unit_test(a_lost_syn_is_no_loss_of_data),
        cmocka_unit_test(impossible_peers_are_refused),
        cmocka_unit_test(a_second_connect_is_refused),
        cmocka_unit_test(the_local_address_may_be_chosen_or_given),
        cmocka_unit_test(what_is_not_offered_is_not_used),
        cmocka_unit_test(the_scale_is_that_of_the_syn),
        cmocka_unit_test(data_queued_early_follows_the_handshake),
        cmocka_unit_test(closing_before_the_answer_ends_it),
        cmocka_unit_test(a_neighbour_that_does_not_answer_ends_an_open),
        cmocka_unit_test(an_open_survives_failing_allocations),
        cmocka_unit_test(a_hard_error_ends_an_open),
        cmocka_unit_test(the_largest_window_begins_with_the_syn_acks),
        cmocka_unit_test(a_soft_error_is_told_when_time_runs_out),
        cmocka_unit_test(no_icmp_error_ends_an_established_connection),
        cmocka_unit_test(source_quench_is_discarded),
        test_with(WEIR_CFG_IP4, a_smaller_path_cuts_segments_anew),
        cmocka_unit_test(a_syn_reopens_time_wait_when_it_is_new),
        cmocka_unit_test(initial_numbers_cannot_be_predicted),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
