// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// F-RTO (RFC 5682, with SACK): timeouts that were for nothing, and those that were not.
// profiles: small
#include "tcp/loss_fixture.h"

// Four segments in flight, more queued, and a timeout: 0 has just gone again. The tail probe went before.
static void time_out(struct tcp_fixture *t, uint32_t queued)
{
    loss_bring(t, NULL);
    flow(t)->window.cwnd = 4 * MSS;
    user_write(t, 0, (4 + queued) * MSS);
    assert_int_equal(peer_drain_count(t), 4);
    peer_pass(t, 2 * RTT_US + 5000);
    peer_drain(t);
    peer_pass(t, RTT_US + 205000);
    peer_expect(t, TCP_ACK, 0, 0, MSS);
    peer_expect_nothing(t);
    assert_int_equal(counted(t, RTO), 1);
    assert_int_equal(flow(t)->window.cwnd, MSS);
}

static void late_acknowledgements_undo_it(void **state)
{
    struct tcp_fixture t;
    (void)state;
    time_out(&t, 10);
    const uint32_t next = tcp_fixture_conn(&t)->snd.nxt - t.ours;
    peer_send(&t, TCP_ACK, 0, MSS);
    peer_expect(&t, TCP_ACK, next, 0, MSS);  // step 2b: new data, not what is thought lost
    while (peer_has_more(&t)) {
        peer_take(&t);
        assert_true(t.got_seq > next);
    }
    peer_send(&t, TCP_ACK, 0, 3 * MSS);  // 1 and 2 were never sent again
    assert_int_equal(counted(&t, SPURIOUS), 1);
    assert_false(tcp_fixture_conn(&t)->attention & ATTEND_RTO_RECOVERY);
    assert_true(flow(&t)->window.cwnd >= 4 * MSS);
    assert_int_equal(flow(&t)->window.ssthresh, WEIR_CC_UNLIMITED);
    assert_int_equal(flow(&t)->flight->lost, 0);
    while (peer_has_more(&t)) {
        peer_take(&t);
        assert_true(t.got_seq > next);  // 3 is not sent again
    }
    tcp_fixture_close(&t);
}

static void an_acknowledgement_of_more_tells_at_once(void **state)
{
    struct tcp_fixture t;
    (void)state;
    time_out(&t, 0);
    peer_send(&t, TCP_ACK, 0, 2 * MSS);
    assert_int_equal(counted(&t, SPURIOUS), 1);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// An acknowledgement of all there was ends it, too. Nothing of that recovery is left: what is lost later goes first.
static void an_acknowledgement_of_all_tells_and_ends_it(void **state)
{
    struct tcp_fixture t;
    (void)state;
    time_out(&t, 30);
    peer_send(&t, TCP_ACK, 0, MSS);
    peer_drain(&t);
    const uint32_t all = tcp_fixture_conn(&t)->snd.nxt - t.ours;
    peer_send(&t, TCP_ACK, 0, all);
    assert_int_equal(counted(&t, SPURIOUS), 1);
    assert_true(flow(&t)->window.cwnd >= 4 * MSS);
    assert_true(peer_drain_count(&t) >= 4);
    peer_pass(&t, RTT_US);
    peer_sack(&t, all, 1, (uint32_t[]){all + MSS, all + 4 * MSS});
    peer_expect(&t, TCP_ACK, all, 0, MSS);
    tcp_fixture_close(&t);
}

// One segment, one timeout, one acknowledgement, and more to send.
static void of_a_single_segment_nothing_is_left(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 1);
    while (!counted(&t, RTO))
        peer_pass(&t, 10000);
    user_write(&t, MSS, 20 * MSS);
    peer_drain(&t);
    flow(&t)->window.cwnd = 8 * MSS;
    peer_send(&t, TCP_ACK, 0, MSS);
    assert_int_equal(peer_drain_count(&t), 8);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 1, 2, 5);
    peer_expect(&t, TCP_ACK, MSS, 0, MSS);
    tcp_fixture_close(&t);
}

static void real_loss_is_mended(void **state)
{
    struct tcp_fixture t;
    (void)state;
    time_out(&t, 10);
    const uint32_t next = tcp_fixture_conn(&t)->snd.nxt - t.ours;
    peer_send(&t, TCP_ACK, 0, MSS);
    peer_expect(&t, TCP_ACK, next, 0, MSS);
    peer_drain(&t);
    peer_pass(&t, RTT_US);
    peer_sack(&t, MSS, 1, (uint32_t[]){next, next + MSS});
    peer_expect(&t, TCP_ACK, MSS, 0, MSS);
    assert_int_equal(counted(&t, SPURIOUS), 0);
    assert_true(tcp_fixture_conn(&t)->attention & ATTEND_RTO_RECOVERY);
    tcp_fixture_close(&t);
}

// Step 2b needs something new to send: otherwise the usual recovery.
static void without_new_data_the_lost_goes(void **state)
{
    struct tcp_fixture t;
    (void)state;
    time_out(&t, 0);
    peer_send(&t, TCP_ACK, 0, MSS);
    peer_expect(&t, TCP_ACK, MSS, 0, MSS);
    assert_int_equal(counted(&t, SPURIOUS), 0);
    tcp_fixture_close(&t);
}

// New data that Nagle holds back, or no window for it, must not leave the connection waiting for the next timeout.
static void new_data_that_may_not_go_stops_nothing(void **state)
{
    struct tcp_fixture t;
    (void)state;
    time_out(&t, 0);
    user_write(&t, 4 * MSS, 100);
    peer_drain(&t);
    peer_send(&t, TCP_ACK, 0, MSS);
    peer_pass(&t, 1000);
    assert_true(peer_has_more(&t));
    tcp_fixture_close(&t);
}

// Nor does a window without room stop it, also while something that is too young to be lost is in flight.
static void without_room_for_new_data_the_lost_goes(void **state)
{
    for (int queued = 0; queued < 2; queued++) {
        struct tcp_fixture t;
        (void)state;
        loss_bring(&t, NULL);
        loss_send(&t, 0, 3);
        peer_pass(&t, RTT_US + 235000);
        assert_int_equal(counted(&t, TAIL_PROBE), 1);
        peer_drain(&t);
        loss_send(&t, 3, 1);
        peer_pass(&t, 20000);
        peer_expect(&t, TCP_ACK, 0, 0, MSS);
        assert_int_equal(counted(&t, RTO), 1);
        assert_true(tcp_recovery_pipe(tcp_fixture_conn(&t)) > MSS);
        if (queued)
            user_write(&t, 4 * MSS, MSS);
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .ack = MSS, .own_window = true, .window = 3 * MSS});
        peer_expect(&t, TCP_ACK, MSS, 0, MSS);
        tcp_fixture_close(&t);
    }
}

// Without SACK an ACK that covers more than what went again may tell of one hole as well.
static void without_sack_nothing_is_watched(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, &(struct tcp_fixture_options){0});
    loss_send(&t, 0, 4);
    peer_pass(&t, RTT_US + 205000);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_send(&t, TCP_ACK, 0, 3 * MSS);
    assert_int_equal(counted(&t, RTO), 1);
    assert_int_equal(counted(&t, SPURIOUS), 0);
    tcp_fixture_close(&t);
}

// §2.1, step 1: a timeout in fast recovery is not watched, whatever one before it was.
static void a_timeout_in_another_recovery_is_not_watched(void **state)
{
    struct tcp_fixture t;
    (void)state;
    time_out(&t, 0);
    peer_send(&t, TCP_ACK, 0, 4 * MSS);
    flow(&t)->window.cwnd = 10 * MSS;
    loss_rtt(&t);
    loss_send(&t, 4, 10);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 4, 10, 13);
    assert_true(tcp_fixture_conn(&t)->attention & ATTEND_FAST_RECOVERY);
    const uint32_t spurious = counted(&t, SPURIOUS);
    while (counted(&t, RTO) < 2)
        peer_pass(&t, 10000);
    peer_drain(&t);
    peer_sack(&t, 5 * MSS, 1, (uint32_t[]){10 * MSS, 14 * MSS});  // 13 was never sent again
    assert_int_equal(counted(&t, SPURIOUS), spurious);
    assert_true(tcp_fixture_conn(&t)->attention & ATTEND_RTO_RECOVERY);
    tcp_fixture_close(&t);
}

// §2.1: not on SYN, nor for the probe of a closed window: what answers those says nothing of data.
static void neither_syn_nor_window_probe_is_watched(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (int crossed = 0; crossed < 2; crossed++) {
        const enum weir_tcp_state opening = crossed ? WEIR_TCP_SYN_RECEIVED : WEIR_TCP_SYN_SENT;
        tcp_fixture_bring(&t, opening,
                          &(struct tcp_fixture_options){.open = crossed ? TCP_SIMULTANEOUS : TCP_ACTIVE, .sack = true});
        peer_pass(&t, 4000000);
        assert_true(counted(&t, RTO) > 0);
        assert_state(&t, opening);
        assert_int_equal(flow(&t)->frto.step, 0);
        tcp_fixture_close(&t);
    }

    loss_bring(&t, NULL);
    loss_send(&t, 0, 4);
    user_write(&t, 4 * MSS, 4 * MSS);
    peer_drain(&t);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .ack = MSS, .own_window = true, .window = 0});
    peer_pass(&t, 3000000);
    assert_true(counted(&t, PROBE) > 1);
    assert_int_equal(flow(&t)->frto.step, 0);
    peer_send(&t, TCP_ACK, 0, 3 * MSS);
    assert_int_equal(counted(&t, RTO), 0);
    assert_int_equal(counted(&t, SPURIOUS), 0);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(late_acknowledgements_undo_it),
        cmocka_unit_test(an_acknowledgement_of_more_tells_at_once),
        cmocka_unit_test(an_acknowledgement_of_all_tells_and_ends_it),
        cmocka_unit_test(of_a_single_segment_nothing_is_left),
        cmocka_unit_test(real_loss_is_mended),
        cmocka_unit_test(without_new_data_the_lost_goes),
        cmocka_unit_test(new_data_that_may_not_go_stops_nothing),
        cmocka_unit_test(without_room_for_new_data_the_lost_goes),
        cmocka_unit_test(without_sack_nothing_is_watched),
        cmocka_unit_test(a_timeout_in_another_recovery_is_not_watched),
        cmocka_unit_test(neither_syn_nor_window_probe_is_watched),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
