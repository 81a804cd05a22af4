// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// also without IPv4
// Reductions that were for nothing are given back: by reported duplicates (RFC 3708), by timestamps (RFC 3522), and
// otherwise not.
#include "tcp/loss_fixture.h"

// Ten in flight, 0 late: sent again.
static void recover(struct tcp_fixture *t, const struct tcp_fixture_options *options)
{
    loss_bring(t, options);
    user_write(t, 0, 10 * tcp_fixture_conn(t)->mss);
    assert_int_equal(peer_drain_count(t), 10);
    peer_pass(t, RTT_US);
    const uint32_t mss = tcp_fixture_conn(t)->mss;
    peer_sack(t, 0, 1, (uint32_t[]){mss, 5 * mss});
    peer_take(t);
    assert_int_equal(t->got_seq, 0);
    assert_true(flow(t)->window.ssthresh < 10 * mss);
}

static void a_reported_duplicate_undoes(void **state)
{
    struct tcp_fixture t;
    (void)state;
    recover(&t, NULL);
    peer_send(&t, TCP_ACK, 0, 10 * MSS);
    assert_int_equal(counted(&t, SPURIOUS), 0);
    assert_true(flow(&t)->window.cwnd < 10 * MSS);
    peer_sack(&t, 10 * MSS, 1, (uint32_t[]){0, MSS});
    assert_int_equal(counted(&t, SPURIOUS), 1);
    assert_true(flow(&t)->window.cwnd >= 10 * MSS);
    tcp_fixture_close(&t);
}

// Of two that were sent again one was needed.
static void one_real_loss_stays_a_loss(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 10);
    peer_pass(&t, RTT_US);
    loss_sack(&t, 0, 2, 10);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_expect(&t, TCP_ACK, MSS, 0, MSS);
    peer_send(&t, TCP_ACK, 0, 10 * MSS);
    peer_sack(&t, 10 * MSS, 1, (uint32_t[]){0, MSS});
    assert_int_equal(counted(&t, SPURIOUS), 0);
    // Nor does a duplicate from before this recovery count.
    peer_sack(&t, 10 * MSS, 1, (uint32_t[]){0u - MSS, 0});
    assert_int_equal(counted(&t, SPURIOUS), 0);
    tcp_fixture_close(&t);
}

static void an_old_echo_undoes(void **state)
{
    for (int old = 0; old < 2; old++) {
        struct tcp_fixture t;
        (void)state;
        recover(&t, &(struct tcp_fixture_options){.sack = true, .timestamps = true});
        const uint32_t mss = tcp_fixture_conn(&t)->mss;
        peer_drain(&t);
        peer_pass(&t, RTT_US);
        if (old)
            t.ts_echo -= RTT_US / 1000;  // of the first transmission
        peer_send(&t, TCP_ACK, 0, 5 * mss);
        assert_int_equal(counted(&t, SPURIOUS), old);
        assert_int_equal(!(tcp_fixture_conn(&t)->attention & ATTEND_FAST_RECOVERY), old);
        assert_int_equal(flow(&t)->window.cwnd >= 10 * mss, old);
        tcp_fixture_close(&t);
    }
}

// After a timeout, too: what was sent again was all there.
static void a_timeout_reported_as_duplicate_is_undone(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 1);
    peer_pass(&t, RTT_US + 210000);
    peer_drain(&t);
    peer_pass(&t, RTT_US + 210000);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    assert_int_equal(counted(&t, RTO), 1);
    peer_sack(&t, MSS, 1, (uint32_t[]){0, MSS});
    assert_int_equal(counted(&t, SPURIOUS), 1);
    assert_true(flow(&t)->window.cwnd >= 10 * MSS);
    tcp_fixture_close(&t);
}

// After a second timeout of the same data what was before the first comes back, once each that went is reported.
static void two_timeouts_of_the_same_data_are_undone_as_one(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    loss_send(&t, 0, 1);
    while (counted(&t, RTO) < 2)
        peer_pass(&t, 10000);
    peer_drain(&t);
    peer_sack(&t, MSS, 1, (uint32_t[]){0, MSS});
    assert_int_equal(counted(&t, SPURIOUS), 0);
    peer_sack(&t, MSS, 1, (uint32_t[]){0, MSS});
    assert_int_equal(counted(&t, SPURIOUS), 1);
    assert_true(flow(&t)->window.cwnd >= 10 * MSS);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_reported_duplicate_undoes),
        cmocka_unit_test(one_real_loss_stays_a_loss),
        cmocka_unit_test(an_old_echo_undoes),
        cmocka_unit_test(a_timeout_reported_as_duplicate_is_undone),
        cmocka_unit_test(two_timeouts_of_the_same_data_are_undone_as_one),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
