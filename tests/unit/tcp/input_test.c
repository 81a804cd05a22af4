// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// State by state: what each kind of segment does to the canonical connection of each state (RFC 9293 §3.10.7, RFC
// 5961).
#include "tcp/tcp_fixture.h"

#include "instance.h"

static const struct tcp_fixture_options plain;

// The states from ESTABLISHED on that are connections (TIME-WAIT is a record: tests/unit/tcp/timewait_test.c and
// below).
static const enum weir_tcp_state synchronised[] = {WEIR_TCP_ESTABLISHED, WEIR_TCP_FIN_WAIT_1, WEIR_TCP_FIN_WAIT_2,
                                                   WEIR_TCP_CLOSE_WAIT,  WEIR_TCP_CLOSING,    WEIR_TCP_LAST_ACK};
#define SYNCHRONISED (sizeof synchronised / sizeof synchronised[0])

static bool peer_has_closed(enum weir_tcp_state state)
{
    return state == WEIR_TCP_CLOSE_WAIT || state == WEIR_TCP_CLOSING || state == WEIR_TCP_LAST_ACK;
}

// The newest ACK the canonical peer has sent: where our FIN is in flight, not yet of it.
static uint32_t unacked(enum weir_tcp_state state)
{
    return state == WEIR_TCP_FIN_WAIT_1 || state == WEIR_TCP_CLOSING || state == WEIR_TCP_LAST_ACK ? UINT32_MAX : 0;
}

// Brings each synchronised state and hands it to `with`.
static void in_each_state(void (*with)(struct tcp_fixture *t, enum weir_tcp_state state))
{
    for (size_t i = 0; i < SYNCHRONISED; i++) {
        struct tcp_fixture t;
        tcp_fixture_bring(&t, synchronised[i], &plain);
        with(&t, synchronised[i]);
        tcp_fixture_close(&t);
    }
}

static uint32_t window_of(struct tcp_fixture *t)
{
    const struct tcp_conn *c = tcp_fixture_conn(t);
    return c->rcv.edge - c->rcv.nxt;
}

// --- CLOSED ----------------------------------------------------------------------------------------------------------

static void closed_answers_with_a_reset(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_open(&t, &plain);
    peer_send(&t, TCP_ACK, 0, 5);  // with ACK: <SEQ=SEG.ACK><CTL=RST>
    peer_expect(&t, TCP_RST, 5, 0, 0);
    peer_send_raw(&t,
                  // without: <SEQ=0><ACK=SEG.SEQ+SEG.LEN><CTL=RST,ACK>
                  &(struct peer_segment){.flags = TCP_SYN | TCP_FIN, .length = 10});
    peer_take(&t);
    assert_int_equal(t.got.flags, TCP_RST | TCP_ACK);
    assert_int_equal(t.got.seq, 0);
    assert_int_equal(t.got_ack, 12);
    peer_send(&t, TCP_RST, 0, 0);
    peer_send(&t, TCP_RST | TCP_ACK, 0, 5);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// --- LISTEN ----------------------------------------------------------------------------------------------------------

static void listen_ignores_a_reset(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    peer_send(&t, TCP_RST, 0, 0);
    peer_send(&t, TCP_RST | TCP_ACK, 0, 0);
    peer_send(&t, TCP_FIN, 0, 0);
    peer_send(&t, 0, 0, 0);
    peer_expect_nothing(&t);
    assert_int_equal(weir_socket_accept(t.weir, t.listener), WEIR_AGAIN);
    tcp_fixture_close(&t);
}

static void listen_resets_an_ack(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    peer_send(&t, TCP_ACK, 0, 77);
    peer_expect(&t, TCP_RST, 77, 0, 0);
    peer_send(&t, TCP_SYN | TCP_ACK, 0, 78);
    peer_expect(&t, TCP_RST, 78, 0, 0);
    tcp_fixture_close(&t);
}

static void listen_answers_a_syn(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_RECEIVED, &plain);
    assert_int_equal(t.got.options.seen, TCP_SEEN_MSS);  // nothing that was not offered
    assert_int_equal(t.got.options.mss, 1460);
    assert_int_equal(t.got.window, 65535);
    tcp_fixture_close(&t);
}

static void data_on_a_syn_is_for_later(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN, .length = 20});
    peer_take(&t);
    assert_int_equal(t.got.flags, TCP_SYN | TCP_ACK);
    assert_int_equal(t.got_ack, 1);  // not kept: the peer sends it again
    tcp_fixture_close(&t);
}

// --- SYN-SENT --------------------------------------------------------------------------------------------------------

static void syn_sent_refuses_a_wrong_ack(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &plain);
    const uint32_t wrong[] = {UINT32_MAX, 1, 1000, 0x80000000};
    for (size_t i = 0; i < 4; i++) {
        peer_send(&t, TCP_SYN | TCP_ACK, 0, wrong[i]);
        peer_expect(&t, TCP_RST, wrong[i], 0, 0);
        peer_send(&t, TCP_ACK, 0, wrong[i]);
        peer_expect(&t, TCP_RST, wrong[i], 0, 0);
        peer_send(&t, TCP_RST | TCP_ACK, 0, wrong[i]);
        peer_expect_nothing(&t);
        assert_state(&t, WEIR_TCP_SYN_SENT);
    }
    tcp_fixture_close(&t);
}

static void syn_sent_believes_a_reset_that_acknowledges(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &plain);
    peer_send(&t, TCP_RST, 0, 0);  // without ACK: anybody could have sent it
    assert_state(&t, WEIR_TCP_SYN_SENT);
    peer_send(&t, TCP_ACK, 0, 0);  // neither SYN nor RST: nothing
    peer_send(&t, TCP_FIN | TCP_ACK, 0, 0);
    peer_send(&t, 0, 0, 0);
    peer_expect_nothing(&t);
    assert_state(&t, WEIR_TCP_SYN_SENT);
    peer_send(&t, TCP_RST | TCP_ACK, 0, 0);
    assert_state(&t, WEIR_TCP_CLOSED);
    assert_int_equal(user_error(&t), WEIR_REFUSED);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

static void syn_sent_becomes_established(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.open = TCP_ACTIVE});
    peer_data(&t, 0, 10);
    peer_expect(&t, TCP_ACK, 0, 10, 0);
    assert_int_equal(user_read(&t, 0, 100), 10);
    tcp_fixture_close(&t);
}

static void data_and_fin_on_a_syn_ack_count(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &plain);
    static const uint8_t text[] = "early";
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK | TCP_FIN, .length = 5, .data = text});
    peer_expect(&t, TCP_ACK, 0, 7, 0);
    uint8_t bytes[8];
    assert_int_equal(weir_socket_read(t.weir, t.socket, bytes, 8), 5);
    assert_memory_equal(bytes, text, 5);
    assert_state(&t, WEIR_TCP_CLOSE_WAIT);
    tcp_fixture_close(&t);
}

static void simultaneous_open(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_RECEIVED, &(struct tcp_fixture_options){.open = TCP_SIMULTANEOUS});
    peer_send(&t, TCP_ACK, 0, 0);  // a peer that answers our SYN-ACK with a pure ACK
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    tcp_fixture_close(&t);
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.open = TCP_SIMULTANEOUS});
    assert_true(weir_socket_ready(t.weir, t.socket) & WEIR_WRITABLE);
    user_write(&t, 0, 10);
    peer_expect(&t, TCP_ACK, 0, 0, 10);
    peer_data(&t, 0, 10);
    assert_int_equal(user_read(&t, 0, 100), 10);
    tcp_fixture_close(&t);
}

// --- SYN-RECEIVED of a simultaneous open (that of a listener is a record: halfopen_test.c) ---------------------------

static void syn_received_resets_a_wrong_ack(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_RECEIVED, &(struct tcp_fixture_options){.open = TCP_SIMULTANEOUS});
    const uint32_t wrong[] = {UINT32_MAX, 1, 0x7fffffff, UINT32_MAX - 5};
    for (size_t i = 0; i < 4; i++) {
        peer_send(&t, TCP_ACK, 0, wrong[i]);
        peer_expect(&t, TCP_RST, wrong[i], 0, 0);
        assert_state(&t, WEIR_TCP_SYN_RECEIVED);
    }
    tcp_fixture_close(&t);
}

static void syn_received_ends_by_an_exact_reset(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_RECEIVED, &(struct tcp_fixture_options){.open = TCP_SIMULTANEOUS});
    peer_send(&t, TCP_RST, 1, 0);
    peer_expect(&t, TCP_ACK, 0, 0, 0);  // a challenge
    peer_send(&t, TCP_RST, 0, 0);
    assert_state(&t, WEIR_TCP_CLOSED);
    assert_int_equal(user_error(&t), WEIR_REFUSED);
    tcp_fixture_close(&t);
}

// --- synchronised states: sequence numbers ---------------------------------------------------------------------------

static void unacceptable(struct tcp_fixture *t, enum weir_tcp_state state)
{
    const uint32_t window = window_of(t);
    const struct conn_snapshot before = conn_snapshot(t);
    const struct peer_segment outside[] = {
        {.flags = TCP_ACK, .seq = UINT32_MAX, .length = 1},         // old
        {.flags = TCP_ACK, .seq = UINT32_MAX - 99, .length = 100},  // old, up to rcv.nxt
        {.flags = TCP_ACK, .seq = window, .length = 1},             // right of the window
        {.flags = TCP_ACK, .seq = window + 1, .length = 0},
        {.flags = TCP_ACK, .seq = 0x80000000, .length = 10},
        {.flags = TCP_ACK | TCP_FIN, .seq = window + 10},
        {.flags = TCP_ACK, .seq = UINT32_MAX},  // a keepalive
    };
    (void)state;
    for (size_t i = 0; i < sizeof outside / sizeof outside[0]; i++) {
        peer_pass(t, 2000000);
        peer_drain(t);
        peer_send_raw(t, &outside[i]);
        peer_expect(t, TCP_ACK, 0, 0, 0);
        assert_unchanged(t, &before);
        peer_drain(t);
    }
}
static void unacceptable_segments_get_an_ack(void **state)
{
    (void)state;
    in_each_state(unacceptable);
}

static void no_ack_bit(struct tcp_fixture *t, enum weir_tcp_state state)
{
    const struct conn_snapshot before = conn_snapshot(t);
    (void)state;
    peer_send_raw(t, &(struct peer_segment){.length = 5});
    peer_send(t, TCP_FIN, 0, 0);
    peer_send(t, TCP_URG, 0, 0);
    peer_expect_nothing(t);
    assert_unchanged(t, &before);
}
static void a_segment_without_ack_is_dropped(void **state)
{
    (void)state;
    in_each_state(no_ack_bit);
}

// --- RST -------------------------------------------------------------------------------------------------------------

static void reset_exact(struct tcp_fixture *t, enum weir_tcp_state state)
{
    peer_send(t, TCP_RST, 0, 0);
    peer_expect_nothing(t);
    assert_state(t, WEIR_TCP_CLOSED);
    assert_int_equal(user_error(t), state == WEIR_TCP_CLOSING || state == WEIR_TCP_LAST_ACK ? WEIR_OK : WEIR_RESET);
    assert_true(weir_socket_ready(t->weir, t->socket) & WEIR_HANGUP);
}
static void an_exact_reset_ends_the_connection(void **state)
{
    (void)state;
    in_each_state(reset_exact);
}

static void reset_inside(struct tcp_fixture *t, enum weir_tcp_state state)
{
    const uint32_t window = window_of(t);
    const uint32_t inside[] = {1, 100, window / 2, window - 1};
    const struct conn_snapshot before = conn_snapshot(t);
    (void)state;
    for (size_t i = 0; window && i < 4; i++) {
        peer_send(t, TCP_RST, inside[i], 0);
        peer_expect(t, TCP_ACK, 0, 0, 0);
        assert_unchanged(t, &before);
    }
}
static void a_reset_inside_the_window_is_challenged(void **state)
{
    (void)state;
    in_each_state(reset_inside);
}

static void reset_outside(struct tcp_fixture *t, enum weir_tcp_state state)
{
    const uint32_t window = window_of(t);
    const uint32_t outside[] = {UINT32_MAX, window, window + 1, 0x80000000};
    const struct conn_snapshot before = conn_snapshot(t);
    (void)state;
    for (size_t i = 0; i < 4; i++) {
        peer_send(t, TCP_RST, outside[i], 0);
        peer_expect_nothing(t);
        assert_unchanged(t, &before);
    }
}
static void a_reset_outside_the_window_is_ignored(void **state)
{
    (void)state;
    in_each_state(reset_outside);
}

// --- SYN -------------------------------------------------------------------------------------------------------------

static void syn_anywhere(struct tcp_fixture *t, enum weir_tcp_state state)
{
    const uint32_t window = window_of(t);
    const uint32_t where[] = {0, 1, window - 1, window + 100, UINT32_MAX, 0x80000000};
    const struct conn_snapshot before = conn_snapshot(t);
    (void)state;
    for (size_t i = 0; i < 6; i++) {
        peer_pass(t, 2000000);
        peer_drain(t);
        peer_send(t, TCP_SYN, where[i], 0);
        peer_expect(t, TCP_ACK, 0, 0, 0);
        peer_pass(t, 2000000);
        peer_drain(t);
        peer_send(t, TCP_SYN | TCP_ACK, where[i], 0);
        peer_expect(t, TCP_ACK, 0, 0, 0);
        assert_unchanged(t, &before);
    }
}
static void a_syn_is_challenged(void **state)
{
    (void)state;
    in_each_state(syn_anywhere);
}

// --- ACK -------------------------------------------------------------------------------------------------------------

static void ack_of_unsent(struct tcp_fixture *t, enum weir_tcp_state state)
{
    const struct conn_snapshot before = conn_snapshot(t);
    const uint32_t unsent[] = {1, 1000, 0x7fffffff};
    (void)state;
    for (size_t i = 0; i < 3; i++) {
        peer_send(t, TCP_ACK, 0, unsent[i]);
        peer_expect(t, TCP_ACK, 0, 0, 0);
        peer_send_raw(t, &(struct peer_segment){.flags = TCP_ACK, .ack = unsent[i], .length = 10});
        peer_expect(t, TCP_ACK, 0, 0, 0);
        assert_unchanged(t, &before);
    }
}
static void an_ack_of_unsent_data_is_challenged(void **state)
{
    (void)state;
    in_each_state(ack_of_unsent);
}

static void ack_far_behind(struct tcp_fixture *t, enum weir_tcp_state state)
{
    const struct conn_snapshot before = conn_snapshot(t);
    (void)state;
    peer_send_raw(
        // RFC 5961 §5: una − max.wnd is the limit
        t, &(struct peer_segment){.flags = TCP_ACK, .ack = 0u - 65535u - 10u, .length = 10});
    peer_expect(t, TCP_ACK, 0, 0, 0);
    assert_unchanged(t, &before);
    assert_int_equal(fixture_count(&t->f, WEIR_COUNT_TCP_BAD_ACK), 1);
}
static void an_ack_too_old_is_challenged(void **state)
{
    (void)state;
    in_each_state(ack_far_behind);
}

static void ack_old(struct tcp_fixture *t, enum weir_tcp_state state)
{
    const struct conn_snapshot before = conn_snapshot(t);
    (void)state;
    // Ignored as an ACK, also its window; its data counts.
    peer_send_raw(
        t, &(struct peer_segment){.flags = TCP_ACK, .seq = 0, .ack = UINT32_MAX - 10, .own_window = true, .window = 3});
    peer_expect_nothing(t);
    assert_unchanged(t, &before);
}
static void an_old_ack_changes_nothing(void **state)
{
    (void)state;
    in_each_state(ack_old);
}

static void an_old_ack_does_not_close_the_window(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 100);
    peer_expect(&t, TCP_ACK, 0, 0, 100);
    peer_send(&t, TCP_ACK, 0, 100);
    // Newer data with an older ACK: reordered on the way. SND.WND is of the newest ACK.
    peer_send_raw(&t, &(struct peer_segment){
                          .flags = TCP_ACK, .seq = 0, .ack = 50, .length = 10, .own_window = true, .window = 0});
    assert_int_equal(tcp_fixture_conn(&t)->snd.wnd, 65535);
    assert_int_equal(user_read(&t, 0, 100), 10);
    tcp_fixture_close(&t);
}

static void a_new_ack_frees_the_queue(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    user_write(&t, 0, 1000);
    peer_expect(&t, TCP_ACK, 0, 0, 1000);
    peer_send(&t, TCP_ACK, 0, 400);
    assert_int_equal(conn_snapshot(&t).send_queue, 600);
    peer_send(&t, TCP_ACK, 0, 400);
    peer_send(&t, TCP_ACK, 0, 1000);
    assert_int_equal(conn_snapshot(&t).send_queue, 0);
    peer_expect_nothing(&t);
    assert_int_equal(peer_pass(&t, 100000000), WEIR_NEVER);  // no timer is left
    tcp_fixture_close(&t);
}

// --- data ------------------------------------------------------------------------------------------------------------

static void data_in_order(struct tcp_fixture *t, enum weir_tcp_state state)
{
    const struct conn_snapshot before = conn_snapshot(t);
    peer_send_raw(t, &(struct peer_segment){.flags = TCP_ACK | TCP_PSH, .ack = unacked(state), .length = 100});
    if (peer_has_closed(state)) {  // beyond the peer's FIN: there is no such data
        assert_unchanged(t, &before);
        peer_drain(t);
        return;
    }
    peer_expect(t, TCP_ACK, 0, 100, 0);
    assert_int_equal(user_read(t, 0, 1000), 100);
    assert_state(t, state);
}
static void data_in_order_is_taken(void **state)
{
    (void)state;
    in_each_state(data_in_order);
}

static void data_out_of_order_waits(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_data(&t, 300, 100);
    peer_expect(&t, TCP_ACK, 0, 0, 0);  // at once, a duplicate
    peer_data(&t, 100, 100);
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    assert_int_equal(weir_socket_read(t.weir, t.socket, &(uint8_t){0}, 1), WEIR_AGAIN);
    peer_data(&t, 0, 100);
    peer_expect(&t, TCP_ACK, 0, 200, 0);
    peer_data(&t, 200, 100);
    peer_expect(&t, TCP_ACK, 0, 400, 0);
    assert_int_equal(user_read(&t, 0, 1000), 400);
    tcp_fixture_close(&t);
}

static void overlapping_data_counts_once(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_data(&t, 0, 100);
    peer_data(&t, 50, 100);  // old and new
    peer_data(&t, 300, 100);
    peer_data(&t, 250, 100);  // into it
    peer_data(&t, 350, 100);  // out of it
    peer_data(&t, 200, 400);  // around it
    peer_data(&t, 100, 120);
    peer_drain(&t);
    assert_int_equal(user_read(&t, 0, 1000), 600);
    tcp_fixture_close(&t);
}

// The first copy of a byte wins: a later one, even of a good checksum, changes nothing.
static void the_first_copy_wins(void **state)
{
    static const uint8_t evil[400];
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_data(&t, 100, 100);
    peer_data(&t, 300, 50);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .seq = 100, .length = 100, .data = evil});
    peer_data(&t, 0, 10);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .seq = 0, .length = 10, .data = evil});
    peer_data(&t, 10, 90);
    assert_int_equal(user_read(&t, 0, 1000), 200);
    peer_data(&t, 200, 200);
    assert_int_equal(user_read(&t, 200, 1000), 200);
    tcp_fixture_close(&t);
}

static void data_beyond_the_window_is_cut(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.receive_buffer = 2000});
    assert_int_equal(window_of(&t), 2000);
    peer_data(&t, 0, 1000);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_FIN, .seq = 1000, .length = 1400});
    peer_drain(&t);
    assert_state(&t, WEIR_TCP_ESTABLISHED);  // the FIN was beyond it
    assert_int_equal(t.got_ack, 2000);
    assert_int_equal(t.got.window, 0);
    assert_int_equal(user_read(&t, 0, 5000), 2000);
    peer_data(&t, 2000, 400);
    assert_int_equal(user_read(&t, 2000, 5000), 400);
    tcp_fixture_close(&t);
}

static void a_bad_checksum_leaves_no_trace(void **state)
{
    static const uint8_t evil[100];
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    const struct conn_snapshot before = conn_snapshot(&t);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .length = 100, .data = evil, .bad_checksum = true});
    peer_send_raw(
        &t, &(struct peer_segment){.flags = TCP_ACK, .seq = 200, .length = 100, .data = evil, .bad_checksum = true});
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_RST, .bad_checksum = true});
    peer_expect_nothing(&t);
    assert_unchanged(&t, &before);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_BAD_CHECKSUM), 3);
    peer_data(&t, 0, 300);
    assert_int_equal(user_read(&t, 0, 1000), 300);
    tcp_fixture_close(&t);
}

static void a_closed_window_still_takes_ack_rst_and_urg(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.receive_buffer = 1000});
    user_write(&t, 0, 100);
    peer_drain(&t);
    peer_data(&t, 0, 1000);
    peer_expect(&t, TCP_ACK, 100, 1000, 0);
    assert_int_equal(t.got.window, 0);
    peer_send_raw(
        &t, &(struct peer_segment){.flags = TCP_ACK | TCP_URG, .seq = 1000, .ack = 100, .length = 1, .urgent = 1});
    peer_expect(&t, TCP_ACK, 100, 1000, 0);
    assert_int_equal(conn_snapshot(&t).send_queue, 0);
    assert_int_equal(!!(weir_socket_ready(t.weir, t.socket) & WEIR_URGENT), WEIR_CFG_TCP_URGENT);
    peer_send(&t, TCP_RST, 1000, 0);
    assert_state(&t, WEIR_TCP_CLOSED);
    tcp_fixture_close(&t);
}

// Two ends with full buffers, whose applications have read while the window updates were lost, probe each other at one
// time: either takes the other's byte, and each goes on to say the number of its own, which is now one too low.
static void crossed_probes_do_not_deadlock(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (uint32_t length = 0; length < 2; length++) {  // what the peer says next: an ACK alone, or its probe again
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
        user_write(&t, 0, 100);
        peer_drain(&t);
        t.window = 0;
        peer_send(&t, TCP_ACK, 0, 100);
        user_write(&t, 100, 50);
        peer_pass(&t, 1500000);
        peer_expect(&t, TCP_ACK, 100, 0, 1);
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .ack = 100, .length = 1});
        peer_drain(&t);
        t.window = 4000;
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .ack = 101, .length = length});
        peer_expect(&t, TCP_ACK | TCP_PSH, 101, 1, 49);
        tcp_fixture_close(&t);
    }
}

// --- FIN -------------------------------------------------------------------------------------------------------------

static void fin_in_order(struct tcp_fixture *t, enum weir_tcp_state state)
{
    static const enum weir_tcp_state next[WEIR_TCP_STATE_COUNT] = {[WEIR_TCP_ESTABLISHED] = WEIR_TCP_CLOSE_WAIT,
                                                                   [WEIR_TCP_FIN_WAIT_1] = WEIR_TCP_CLOSING,
                                                                   [WEIR_TCP_FIN_WAIT_2] = WEIR_TCP_TIME_WAIT};
    const uint32_t una = unacked(state);
    if (peer_has_closed(state)) {  // the same FIN again
        const struct conn_snapshot before = conn_snapshot(t);
        peer_send(t, TCP_FIN | TCP_ACK, UINT32_MAX, una);
        peer_expect(t, TCP_ACK, 0, 0, 0);
        assert_unchanged(t, &before);
        return;
    }
    peer_send(t, TCP_FIN | TCP_ACK, 0, una);
    if (state == WEIR_TCP_ESTABLISHED) {  // ours may follow, and take the acknowledgement along
        peer_expect_nothing(t);
        peer_pass(t, WEIR_CFG_TCP_DELAYED_ACK_MS * 1000 + 1000);
    }
    peer_expect(t, TCP_ACK, 0, 1, 0);
    assert_state(t, next[state]);
    assert_int_equal(weir_socket_read(t->weir, t->socket, &(uint8_t){0}, 1), 0);
    assert_true(weir_socket_ready(t->weir, t->socket) & WEIR_READ_CLOSED);
}
static void a_fin_moves_the_state(void **state)
{
    (void)state;
    in_each_state(fin_in_order);
}

static void a_fin_with_the_ack_of_ours(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_FIN_WAIT_1, &plain);
    peer_send(&t, TCP_FIN | TCP_ACK, 0, 0);  // FIN-WAIT-1 to TIME-WAIT at once
    peer_expect(&t, TCP_ACK, 0, 1, 0);
    assert_state(&t, WEIR_TCP_TIME_WAIT);
    tcp_fixture_close(&t);
    tcp_fixture_bring(&t, WEIR_TCP_FIN_WAIT_1, &plain);
    peer_send(&t, TCP_ACK, 0, 0);
    assert_state(&t, WEIR_TCP_FIN_WAIT_2);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

static void the_ack_of_our_fin_ends_closing_and_last_ack(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_CLOSING, &plain);
    peer_send(&t, TCP_ACK, 0, UINT32_MAX);  // not of the FIN
    assert_state(&t, WEIR_TCP_CLOSING);
    peer_send(&t, TCP_ACK, 0, 0);
    assert_state(&t, WEIR_TCP_TIME_WAIT);
    tcp_fixture_close(&t);
    tcp_fixture_bring(&t, WEIR_TCP_LAST_ACK, &plain);
    peer_send(&t, TCP_ACK, 0, 0);
    assert_state(&t, WEIR_TCP_CLOSED);
    assert_int_equal(user_error(&t), WEIR_OK);
    tcp_fixture_close(&t);
}

static void a_fin_beyond_a_hole_waits(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_FIN, .seq = 100, .length = 50});
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    peer_data(&t, 0, 100);
    peer_expect(&t, TCP_ACK, 0, 151, 0);
    assert_state(&t, WEIR_TCP_CLOSE_WAIT);
    assert_int_equal(user_read(&t, 0, 1000), 150);
    tcp_fixture_close(&t);
    // A bare FIN beyond a hole; then all of it again in one segment.
    tcp_fixture_bring(&t, WEIR_TCP_FIN_WAIT_2, &plain);
    peer_send(&t, TCP_ACK | TCP_FIN, 100, 0);
    peer_drain(&t);
    assert_state(&t, WEIR_TCP_FIN_WAIT_2);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_FIN, .seq = 0, .length = 100});
    peer_expect(&t, TCP_ACK, 0, 101, 0);
    assert_state(&t, WEIR_TCP_TIME_WAIT);
    assert_int_equal(user_read(&t, 0, 1000), 100);
    tcp_fixture_close(&t);
}

static void data_and_fin_in_one_segment(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_FIN, .length = 50});
    peer_expect(&t, TCP_ACK, 0, 51, 0);
    assert_state(&t, WEIR_TCP_CLOSE_WAIT);
    assert_int_equal(user_read(&t, 0, 1000), 50);
    assert_int_equal(weir_socket_read(t.weir, t.socket, &(uint8_t){0}, 1), 0);
    tcp_fixture_close(&t);
}

// --- TIME-WAIT -------------------------------------------------------------------------------------------------------

static void time_wait_acknowledges_a_repeated_fin(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_TIME_WAIT, &plain);
    peer_pass(&t, 1000000);
    peer_send(&t, TCP_FIN | TCP_ACK, UINT32_MAX, 0);
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    peer_send(&t, TCP_RST, 0, 0);  // RFC 1337
    assert_state(&t, WEIR_TCP_TIME_WAIT);
    peer_pass(&t, 59000000);
    assert_state(&t, WEIR_TCP_TIME_WAIT);  // two MSL since the FIN came again
    peer_pass(&t, 2000000);
    assert_int_equal(weir_socket_close(t.weir, t.socket), WEIR_OK);
    t.socket = 0;
    assert_state(&t, WEIR_TCP_CLOSED);
    tcp_fixture_close(&t);
}

// --- whom TCP listens to ---------------------------------------------------------------------------------------------

static void broadcast_and_multicast_are_ignored(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &plain);
    const struct weir_addr everybody[] = {weir_ip4(255, 255, 255, 255), weir_ip4(10, 0, 0, 255),
                                          weir_ip4(224, 0, 0, 1)};
    for (size_t i = 0; i < 3; i++) {
        t.local.addr = everybody[i];
        peer_send(&t, TCP_SYN, 0, 0);
        peer_send(&t, TCP_ACK, 0, 0);
    }
    t.local.addr = TCP_US;
    const struct weir_addr nobody[] = {weir_ip4(255, 255, 255, 255), weir_ip4(10, 0, 0, 255), weir_ip4(224, 0, 0, 1),
                                       weir_ip4(127, 0, 0, 1)};
    for (size_t i = 0; i < 4; i++) {  // RFC 1122 §4.2.3.10: nor is a SYN from such an address answered
        t.remote.addr = nobody[i];
        peer_send(&t, TCP_SYN, 0, 0);
    }
    t.remote.addr = TCP_PEER;
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// --- storms (RFC 5961 §7, CVE-2016-5696) -----------------------------------------------------------------------------

static void challenges_are_limited_for_each_connection_alone(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    const struct tcp_conn *first = tcp_fixture_conn(&t);
    for (int i = 0; i < 1000; i++)
        peer_send(&t, TCP_RST, 5, 0);
    const uint32_t answered = peer_drain_count(&t);
    assert_in_range(answered, 5, 15);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_CHALLENGE_LIMITED), 1000 - answered);
    // Another connection's limit is its own: nothing about the first can be learned from it.
    const uint32_t ours = t.ours, theirs = t.theirs;
    t.remote.port++;
    peer_send(&t, TCP_SYN, 0, 0);
    peer_take(&t);
    t.ours = t.got.seq + 1;
    t.theirs++;
    peer_send(&t, TCP_ACK, 0, 0);
    assert_non_null(tcp_fixture_conn(&t));
    assert_ptr_not_equal(tcp_fixture_conn(&t), first);
    peer_send(&t, TCP_RST, 5, 0);
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    t.remote.port--;
    t.ours = ours;
    t.theirs = theirs;
    peer_send(&t, TCP_RST, 5, 0);
    peer_expect_nothing(&t);
    peer_pass(&t, 2000000);  // and it is for a second only
    peer_send(&t, TCP_RST, 5, 0);
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    tcp_fixture_close(&t);
}

static void an_ack_storm_ends(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    // A peer that stands elsewhere, answers each of our ACKs with one of its own (and resets that are not exact).
    for (int i = 0; i < 500; i++) {
        peer_send(&t, TCP_ACK, UINT32_MAX - 1000, 0);
        peer_send(&t, TCP_RST, 7, 0);
        peer_send(&t, TCP_SYN, 7, 0);
    }
    assert_in_range(peer_drain_count(&t), 5, 15);
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    peer_data(&t, UINT32_MAX - 10, 5);  // data is acknowledged still: the peer may have lost our ACK
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    tcp_fixture_close(&t);
}

// --- malformed -------------------------------------------------------------------------------------------------------

static void options_never_reach_beyond_their_segment(void **state)
{
    static const struct {
        uint8_t bytes[40];
        uint32_t length;
    } bad[] = {
        {{5, 3, 0, 0}, 4},                           // SACK of length 3
        {{8, 9, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0}, 12},  // timestamps of length 9
        {{2, 0, 0, 0}, 4},                           // length 0
        {{2, 1, 0, 0}, 4},
        {{1, 1, 1, 5}, 4},   // no room for the length
        {{1, 1, 8, 10}, 4},  // past the data offset
        {{5, 255, 0, 0}, 4},
        {{254, 40, 0, 0}, 4},
        {{3, 255, 14, 0}, 4},  // CVE-2019-12258: malformed window scale
    };
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK,
                                                 .seq = i * 10,
                                                 .length = 10,
                                                 .raw_options = bad[i].bytes,
                                                 .raw_length = bad[i].length});
        assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_BAD_OPTION), i + 1);
    }
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    // the options are ignored, the data is not
    assert_int_equal(user_read(&t, 0, 1000), 10 * sizeof bad / sizeof bad[0]);
    tcp_fixture_close(&t);
}

static void a_data_offset_beyond_the_segment_is_refused(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    const struct conn_snapshot before = conn_snapshot(&t);
    uint8_t bytes[TCP_BYTES] = {0};
    const struct tcp_segment segment = {.source = t.remote.port,
                                        .destination = t.local.port,
                                        .seq = t.theirs,
                                        .ack = t.ours,
                                        .flags = TCP_ACK,
                                        .header_length = 60};
    // An IPv6 packet of no bytes is none of TCP.
    for (uint32_t length = !WEIR_CFG_IP4; length <= TCP_BYTES; length++) {
        tcp_emit(bytes, &segment);
        fixture_input_ip(&t.f, TCP_PEER, TCP_US, IP_TCP, bytes, length);
    }
    fixture_poll(&t.f, 0);
    peer_expect_nothing(&t);
    assert_unchanged(&t, &before);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_BAD_LENGTH), TCP_BYTES + WEIR_CFG_IP4);
    tcp_fixture_close(&t);
}

// --- noise -----------------------------------------------------------------------------------------------------------

struct noise {
    struct tcp_fixture t;
    uint32_t random, written, read, sent, acked;
};

static uint32_t noise_below(struct noise *n, uint32_t limit)
{
    n->random ^= n->random << 13;
    n->random ^= n->random >> 17;
    n->random ^= n->random << 5;
    return n->random % limit;
}

// A segment of the peer that may be anything, near the window: its data is always that of the stream.
static void noise_segment(struct noise *n, const struct tcp_conn *c)
{
    const uint32_t nxt = c->rcv.nxt - n->t.theirs, flight = n->sent - n->acked;
    struct tcp_options options = {
        .seen = TCP_SEEN_TIMESTAMPS, .ts_value = n->t.ts_value - noise_below(n, 3) / 2, .ts_echo = n->t.ts_echo};
    struct peer_segment in = {.flags = TCP_ACK, .options = &options};
    in.seq = nxt + (noise_below(n, 3) ? 0 : noise_below(n, 8000) - 3000);
    in.length = noise_below(n, 2) ? noise_below(n, 1449) : 0;
    n->acked += noise_below(n, 2) && flight ? noise_below(n, flight + 1) : 0;
    in.ack = noise_below(n, 20) ? n->acked : n->acked + noise_below(n, 100000) - 50000;
    in.own_window = true;
    in.window = (uint16_t)(noise_below(n, 8) ? 30000 : noise_below(n, 2000));
    if (!noise_below(n, 30))
        in.flags = (uint8_t)(noise_below(n, 64) & ~(TCP_RST | TCP_URG | TCP_FIN));
    if (!noise_below(n, 60)) {
        in.flags |= TCP_RST;
        in.seq += 1 + noise_below(n, 5000);
        in.seq += in.seq == nxt;
    }
    for (options.sack_count = (uint8_t)noise_below(n, 4); options.sack_count && options.sack[0].left == 0;)
        for (uint32_t i = 0; i < options.sack_count; i++) {
            options.sack[i].left = n->t.ours + n->acked + noise_below(n, 20000) - 1000 + 1;
            options.sack[i].right = options.sack[i].left + noise_below(n, 5000) - 100;
        }
    in.bad_checksum = !noise_below(n, 50);
    in.quiet = noise_below(n, 2);
    peer_send_raw(&n->t, &in);
}

static void noise_look(struct noise *n)
{
    while (peer_has_more(&n->t)) {
        peer_take(&n->t);
        assert_true(n->t.got.flags == TCP_ACK || n->t.got.flags == (TCP_ACK | TCP_PSH));
        for (uint32_t i = 0; i < n->t.got.length; i++)
            assert_int_equal(n->t.got_data[i], peer_pattern(n->t.got_seq + i));
        n->sent = seq_max(n->sent, n->t.got_seq + n->t.got.length);
        assert_true(n->sent <= n->written);
    }
    fixture_clear(&n->t.f);
    n->t.seen = 0;
}

static void noise_user(struct noise *n)
{
    uint8_t bytes[3000];
    const uint32_t want = 1 + noise_below(n, sizeof bytes);
    if (noise_below(n, 2)) {
        for (uint32_t i = 0; i < want; i++)
            bytes[i] = peer_pattern(n->written + i);
        const int got = weir_socket_write(n->t.weir, n->t.socket, bytes, want);
        assert_true(got > 0 || got == WEIR_AGAIN);
        n->written += got > 0 ? (uint32_t)got : 0;
    } else {
        const int got = weir_socket_read(n->t.weir, n->t.socket, bytes, want);
        assert_true(got > 0 || got == WEIR_AGAIN);
        for (int i = 0; i < got; i++)
            assert_int_equal(bytes[i], peer_pattern(n->read + (uint32_t)i));
        n->read += got > 0 ? (uint32_t)got : 0;
    }
}

// Whatever comes, short of an exact reset or a FIN: both streams stay what they are, and the connection lives.
static void noise_never_harms_a_stream(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed <= 6; seed++) {
        struct noise n = {.random = seed * 2654435761u};
        tcp_fixture_bring(
            &n.t, WEIR_TCP_ESTABLISHED,
            &(struct tcp_fixture_options){.sack = true, .timestamps = true, .receive_buffer = seed * 6000});
        for (int i = 0; i < 6000; i++) {
            const struct tcp_conn *c = tcp_fixture_conn(&n.t);
            assert_non_null(c);
            assert_int_equal(c->state, WEIR_TCP_ESTABLISHED);
            noise_segment(&n, c);
            noise_look(&n);
            if (!noise_below(&n, 2))
                noise_user(&n);
            if (!noise_below(&n, 10))
                peer_pass(&n.t, noise_below(&n, 300000));
            noise_look(&n);
        }
        assert_true(n.read > 100000 && n.written > 50000 && n.acked > 30000);
        tcp_fixture_close(&n.t);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(closed_answers_with_a_reset),
        cmocka_unit_test(listen_ignores_a_reset),
        cmocka_unit_test(listen_resets_an_ack),
        cmocka_unit_test(listen_answers_a_syn),
        cmocka_unit_test(data_on_a_syn_is_for_later),
        cmocka_unit_test(syn_sent_refuses_a_wrong_ack),
        cmocka_unit_test(syn_sent_believes_a_reset_that_acknowledges),
        cmocka_unit_test(syn_sent_becomes_established),
        cmocka_unit_test(data_and_fin_on_a_syn_ack_count),
        cmocka_unit_test(simultaneous_open),
        cmocka_unit_test(syn_received_resets_a_wrong_ack),
        cmocka_unit_test(syn_received_ends_by_an_exact_reset),
        cmocka_unit_test(unacceptable_segments_get_an_ack),
        cmocka_unit_test(a_segment_without_ack_is_dropped),
        cmocka_unit_test(an_exact_reset_ends_the_connection),
        cmocka_unit_test(a_reset_inside_the_window_is_challenged),
        cmocka_unit_test(a_reset_outside_the_window_is_ignored),
        cmocka_unit_test(a_syn_is_challenged),
        cmocka_unit_test(an_ack_of_unsent_data_is_challenged),
        cmocka_unit_test(an_ack_too_old_is_challenged),
        cmocka_unit_test(an_old_ack_changes_nothing),
        cmocka_unit_test(an_old_ack_does_not_close_the_window),
        cmocka_unit_test(a_new_ack_frees_the_queue),
        cmocka_unit_test(data_in_order_is_taken),
        cmocka_unit_test(data_out_of_order_waits),
        cmocka_unit_test(overlapping_data_counts_once),
        cmocka_unit_test(the_first_copy_wins),
        cmocka_unit_test(data_beyond_the_window_is_cut),
        cmocka_unit_test(a_bad_checksum_leaves_no_trace),
        cmocka_unit_test(a_closed_window_still_takes_ack_rst_and_urg),
        cmocka_unit_test(crossed_probes_do_not_deadlock),
        cmocka_unit_test(a_fin_moves_the_state),
        cmocka_unit_test(a_fin_with_the_ack_of_ours),
        cmocka_unit_test(the_ack_of_our_fin_ends_closing_and_last_ack),
        cmocka_unit_test(a_fin_beyond_a_hole_waits),
        cmocka_unit_test(data_and_fin_in_one_segment),
        cmocka_unit_test(time_wait_acknowledges_a_repeated_fin),
        cmocka_unit_test(broadcast_and_multicast_are_ignored),
        cmocka_unit_test(challenges_are_limited_for_each_connection_alone),
        cmocka_unit_test(an_ack_storm_ends),
        cmocka_unit_test(options_never_reach_beyond_their_segment),
        cmocka_unit_test(a_data_offset_beyond_the_segment_is_refused),
        cmocka_unit_test(noise_never_harms_a_stream),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
