// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// Proportional rate reduction (RFC 9937).
// profiles: small
#include "tcp/loss_fixture.h"

// The window follows what is delivered, down to ssthresh and no further; a segment that una passes after it was SACKED
// counts once.
static void the_window_comes_down_with_what_is_delivered(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    user_write(&t, 0, 40 * MSS);
    assert_int_equal(peer_drain_count(&t), 10);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 1, 2);
    loss_sack(&t, 0, 1, 3);
    assert_int_equal(peer_drain_count(&t), 2);  // limited transmit: 10 and 11
    loss_sack(&t, 0, 1, 4);
    const uint32_t ssthresh = flow(&t)->window.ssthresh;
    assert_int_equal(flow(&t)->prr.flight, 10 * MSS);  // 12 outstanding, 2 SACKed before this acknowledgement
    peer_expect(&t, TCP_ACK, 0, 0, MSS);               // at once, whatever the proportion says
    uint32_t sent = 1;
    for (uint32_t i = 5; i <= 12; i++) {
        loss_sack(&t, 0, 1, i);
        sent += peer_drain_count(&t);
        assert_true(sent * MSS < (i - 3) * ssthresh / 10 + MSS);
    }
    assert_in_range(tcp_recovery_pipe(tcp_fixture_conn(&t)), ssthresh - 2 * MSS, ssthresh);
    peer_send(&t, TCP_ACK, 0, 12 * MSS);
    assert_int_equal(flow(&t)->window.cwnd, ssthresh);  // on exit
    assert_int_equal(counted(&t, FAST_RECOVERY), 1);
    tcp_fixture_close(&t);
}

// What una passes was delivered when it was SACKED, and is not again.
static void what_was_sacked_counts_once(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 10);
    peer_pass(&t, RTT_US);
    peer_sack(&t, 0, 2, (uint32_t[]){6 * MSS, 10 * MSS, MSS, 5 * MSS});  // 0 and 5 are lost
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    assert_int_equal(flow(&t)->prr.delivered, 8 * MSS);
    peer_drain(&t);
    peer_sack(&t, 5 * MSS, 1, (uint32_t[]){6 * MSS, 10 * MSS});
    assert_true(tcp_fixture_conn(&t)->attention & ATTEND_FAST_RECOVERY);
    assert_int_equal(flow(&t)->prr.delivered, 9 * MSS);
    tcp_fixture_close(&t);
}

// Below ssthresh: one segment for one delivered, and one more while all goes well (SafeACK): una moves and nothing more
// is lost.
static void below_ssthresh_it_grows_while_that_is_safe(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    user_write(&t, 0, 40 * MSS);
    assert_int_equal(peer_drain_count(&t), 10);
    peer_pass(&t, RTT_US);
    peer_sack(&t, 0, 1, (uint32_t[]){7 * MSS, 10 * MSS});  // seven lost at once: 0 in flight
    assert_true(flow(&t)->window.ssthresh >= 5 * MSS);
    assert_int_equal(peer_drain_count(&t), 3);  // as much as was delivered, no burst
    peer_pass(&t, RTT_US);
    peer_sack(&t, MSS, 1, (uint32_t[]){7 * MSS, 10 * MSS});
    assert_int_equal(peer_drain_count(&t), 2);  // one, and one for SafeACK
    peer_sack(&t, 2 * MSS, 1, (uint32_t[]){7 * MSS, 10 * MSS});
    assert_int_equal(peer_drain_count(&t), 2);
    const struct flight_delta worse = {.delivered = MSS, .newly_lost = MSS};
    struct tcp_conn *c = tcp_fixture_conn(&t);
    c->flow->prr.out = c->flow->prr.delivered;
    tcp_prr_ack(c, &worse, MSS, false);
    assert_int_equal(c->flow->window.cwnd, min_u32(tcp_recovery_pipe(c) + MSS, c->flow->window.ssthresh));
    tcp_fixture_close(&t);
}

// Without SACK a duplicate ACK stands for a segment, once.
static void duplicates_count_once(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, &(struct tcp_fixture_options){0});
    user_write(&t, 0, 10 * MSS);
    assert_int_equal(peer_drain_count(&t), 10);
    for (int i = 0; i < 3; i++)
        peer_send(&t, TCP_ACK, 0, 0);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    assert_int_equal(flow(&t)->prr.delivered, MSS);
    for (int i = 0; i < 20; i++)
        peer_send(&t, TCP_ACK, 0, 0);
    assert_true(flow(&t)->prr.delivered <= 10 * MSS);  // never more than there was
    const uint32_t before = flow(&t)->prr.delivered;
    peer_send(&t, TCP_ACK, 0, 5 * MSS);
    assert_int_equal(flow(&t)->prr.delivered, before);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_window_comes_down_with_what_is_delivered),
        cmocka_unit_test(what_was_sacked_counts_once),
        cmocka_unit_test(below_ssthresh_it_grows_while_that_is_safe),
        cmocka_unit_test(duplicates_count_once),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
