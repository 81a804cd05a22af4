// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// not lean: there every SYN and FIN has a flow
// SYN and FIN alone: without a flow while all goes well, and with one, as if it had been there from the start, when it
// does not.
#include "tcp/internal.h"

#include "loss_fixture.h"

#define ACTIVE \
    &(struct tcp_fixture_options) { .open = TCP_ACTIVE, .sack = true, .timestamps = true, .scale = true }

static const struct tcp_flow *flow_of(struct tcp_fixture *t)
{
    const struct tcp_conn *c = tcp_fixture_conn(t);
    assert_non_null(c);
    return c->flow;
}

static void syn_ack(struct tcp_fixture *t)
{
    const struct tcp_options options = {.seen = TCP_SEEN_MSS | TCP_SEEN_TIMESTAMPS,
                                        .mss = TCP_PEER_MSS,
                                        .ts_value = t->ts_value,
                                        .ts_echo = t->ts_echo};
    peer_send_raw(t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK, .options = &options});
    t->theirs++;
}

static void answer_syn(struct tcp_fixture *t)
{
    syn_ack(t);
    peer_expect(t, TCP_ACK, 0, 0, 0);
    assert_state(t, WEIR_TCP_ESTABLISHED);
}

static void close_sending(struct tcp_fixture *t)
{
    assert_int_equal(weir_socket_shutdown(t->weir, t->socket, WEIR_SHUT_WRITE), WEIR_OK);
    fixture_poll(&t->f, 0);
    peer_expect(t, TCP_ACK | TCP_FIN, 0, 0, 0);
    assert_null(flow_of(t));
    assert_true(tcp_control_out(tcp_fixture_conn(t)));
}

static void a_connection_without_data_never_has_a_flow(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, ACTIVE);
    assert_null(flow_of(&t));
    assert_true(tcp_control_out(tcp_fixture_conn(&t)));
    peer_pass(&t, 40000);
    answer_syn(&t);
    assert_null(flow_of(&t));
    assert_false(tcp_control_out(tcp_fixture_conn(&t)));
    assert_in_range(rtt_smoothed(&tcp_fixture_conn(&t)->rtt), 40000, 42000);
    close_sending(&t);
    peer_pass(&t, 40000);
    peer_send(&t, TCP_ACK, 0, 1);
    assert_state(&t, WEIR_TCP_FIN_WAIT_2);
    assert_null(flow_of(&t));
    assert_in_range(rtt_smoothed(&tcp_fixture_conn(&t)->rtt), 40000, 42000);
    peer_expect_nothing(&t);
    peer_send(&t, TCP_ACK | TCP_FIN, 0, 1);
    peer_expect(&t, TCP_ACK, 1, 1, 0);
    assert_state(&t, WEIR_TCP_TIME_WAIT);
    tcp_fixture_close(&t);
}

static void a_lost_syn_goes_again_and_leaves_one_segment(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, ACTIVE);
    peer_pass(&t, 999000);
    peer_expect_nothing(&t);
    peer_pass(&t, 2000);
    assert_int_equal(peer_drain_count(&t), 1);
    assert_non_null(flow_of(&t));
    assert_int_equal(tcp_fixture_conn(&t)->backoff, 1);
    peer_pass(&t, 2002000);
    assert_int_equal(peer_drain_count(&t), 1);
    answer_syn(&t);
    assert_int_equal(flow_of(&t)->window.cwnd, tcp_fixture_conn(&t)->mss);
    tcp_fixture_close(&t);
}

static void a_lost_fin_is_probed_for(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, &(struct tcp_fixture_options){.sack = true, .timestamps = true});
    if (flow_of(&t))
        tcp_conn_idle(t.weir, tcp_fixture_conn(&t));
    close_sending(&t);
    peer_pass(&t, RTT_US + 199000);
    peer_expect_nothing(&t);
    peer_pass(&t, 3000);
    peer_expect(&t, TCP_ACK | TCP_FIN, 0, 0, 0);
    assert_int_equal(counted(&t, TAIL_PROBE), 1);
    assert_int_equal(counted(&t, RTO), 0);
    assert_non_null(flow_of(&t));
    peer_send(&t, TCP_ACK, 0, 1);
    assert_state(&t, WEIR_TCP_FIN_WAIT_2);
    tcp_fixture_close(&t);
}

static void data_behind_a_syn_in_flight_waits_for_its_acknowledgement(void **state)
{
    struct tcp_fixture t;
    uint8_t byte = peer_pattern(0);
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, ACTIVE);
    assert_int_equal(weir_socket_write(t.weir, t.socket, &byte, 1), 1);
    fixture_poll(&t.f, 0);
    peer_expect_nothing(&t);
    syn_ack(&t);
    peer_expect(&t, TCP_ACK, 0, 0, 1);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// A duplicate says nothing of the FIN, but of the path: from then on a flow keeps count.
static void a_duplicate_finds_the_fin_in_flight(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, ACTIVE);
    close_sending(&t);
    peer_send(&t, TCP_ACK, 0, 0);
    assert_state(&t, WEIR_TCP_FIN_WAIT_1);
    assert_non_null(flow_of(&t));
    assert_int_equal(tcp_recovery_pipe(tcp_fixture_conn(&t)), 1);
    peer_send(&t, TCP_ACK, 0, 1);
    assert_state(&t, WEIR_TCP_FIN_WAIT_2);
    tcp_fixture_close(&t);
}

// What is recognised by the beginning of its frame is checked all the same.
static void what_a_stranger_could_send_is_refused(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, ACTIVE);
    peer_send(&t, TCP_ACK, 0, 0);
    close_sending(&t);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_FIN, .ack = 1, .bad_checksum = true});
    assert_int_equal(counted(&t, BAD_CHECKSUM), 1);
    assert_state(&t, WEIR_TCP_FIN_WAIT_1);
    peer_send(&t, TCP_ACK | TCP_FIN, 0, 2);  // of what was never sent (RFC 5961 §5)
    assert_int_equal(counted(&t, BAD_ACK), 1);
    peer_expect(&t, TCP_ACK, 1, 0, 0);
    peer_send(&t, TCP_ACK | TCP_FIN, 1, 1);  // beyond a hole
    assert_int_not_equal(tcp_fixture_state(&t), WEIR_TCP_TIME_WAIT);
    peer_drain(&t);
    peer_send(&t, TCP_ACK | TCP_RST, 1, 1);  // not the exact number (RFC 5961 §3)
    assert_int_not_equal(tcp_fixture_state(&t), WEIR_TCP_CLOSED);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

static void fins_that_cross(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, ACTIVE);
    close_sending(&t);
    peer_send(&t, TCP_ACK | TCP_FIN, 0, 0);
    assert_state(&t, WEIR_TCP_CLOSING);
    peer_expect(&t, TCP_ACK, 1, 1, 0);
    peer_send(&t, TCP_ACK, 1, 1);
    assert_state(&t, WEIR_TCP_TIME_WAIT);
    tcp_fixture_close(&t);
}

static void without_memory_a_fin_goes_again_later(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, ACTIVE);
    close_sending(&t);
    t.f.fail_at = 1;
    t.f.fail_onwards = true;
    peer_pass(&t, 5000000);
    peer_expect_nothing(&t);
    assert_state(&t, WEIR_TCP_FIN_WAIT_1);
    t.f.fail_at = 0;
    t.f.fail_onwards = false;
    peer_pass(&t, 1100000);
    assert_true(peer_drain_count(&t) >= 1);
    peer_send(&t, TCP_ACK, 0, 1);
    assert_state(&t, WEIR_TCP_FIN_WAIT_2);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_connection_without_data_never_has_a_flow),
        cmocka_unit_test(a_lost_syn_goes_again_and_leaves_one_segment),
        cmocka_unit_test(a_lost_fin_is_probed_for),
        cmocka_unit_test(data_behind_a_syn_in_flight_waits_for_its_acknowledgement),
        cmocka_unit_test(a_duplicate_finds_the_fin_in_flight),
        cmocka_unit_test(what_a_stranger_could_send_is_refused),
        cmocka_unit_test(fins_that_cross),
        cmocka_unit_test(without_memory_a_fin_goes_again_later),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
