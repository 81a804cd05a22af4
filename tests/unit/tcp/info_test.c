// SPDX-License-Identifier: BSD-2-Clause
// TCP_INFO says what happened.
#include "tcp/loss_fixture.h"

static struct weir_tcp_info info_of(struct tcp_fixture *t)
{
    struct weir_tcp_info info;
    assert_int_equal(weir_socket_tcp_info(t->weir, t->socket, &info), WEIR_OK);
    return info;
}

static void it_starts_from_nothing(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED,
                      &(struct tcp_fixture_options){
                          .sack = true, .timestamps = true, .scale = true, .peer_scale = 5, .receive_buffer = 1000000});
    const struct weir_tcp_info info = info_of(&t);
    assert_int_equal(info.state, WEIR_TCP_ESTABLISHED);
    assert_true(info.sack && info.timestamps && info.window_scaling);
    assert_int_equal(info.snd_wscale, 5);
    assert_int_equal(info.rcv_wscale, 4);
    assert_int_equal(info.snd_mss, 1448);
    assert_int_equal(info.path_mtu, 1500);
    assert_int_equal(info.cwnd, 14480);  // RFC 6928's ten segments
    assert_int_equal(info.bytes_sent, 0);
    assert_int_equal(info.bytes_acked, 0);
    assert_int_equal(info.bytes_received, 0);
    assert_int_equal(info.total_retrans, 0);
    tcp_fixture_close(&t);
}

static void it_counts(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){0});
    user_write(&t, 0, 10 * 1460);
    peer_drain(&t);
    peer_pass(&t, 10000);
    peer_send(&t, TCP_ACK, 0, 2 * 1460);
    peer_data(&t, 100, 50);
    struct weir_tcp_info info = info_of(&t);
    assert_int_equal(info.bytes_sent, 14600);
    assert_int_equal(info.bytes_acked, 2920);
    assert_int_equal(info.inflight, 8 * 1460);
    assert_int_equal(info.out_of_order, 1);
    assert_int_equal(info.bytes_received, 0);
    assert_in_range(info.srtt_us, 1000, 10000);
    peer_data(&t, 0, 100);
    assert_int_equal(info_of(&t).bytes_received, 150);
    for (int i = 0; i < 4; i++)
        peer_send(&t, TCP_ACK, 150, 2 * 1460);
    info = info_of(&t);
    assert_int_equal(info.recovery, 3);
    assert_int_equal(info.fast_recoveries, 1);
    assert_int_equal(info.total_retrans, 1);
    assert_int_equal(info.bytes_retrans, 1460);
    assert_int_equal(info.bytes_sent, 14600 + 1460);
    peer_pass(&t, 2000000);
    info = info_of(&t);
    assert_int_equal(info.recovery, 4);
    assert_true(info.rto_count >= 1 && info.backoff >= 1);
    peer_send(&t, TCP_ACK, 150, 10 * 1460);
    info = info_of(&t);
    assert_int_equal(info.recovery, 0);
    assert_int_equal(info.bytes_acked, 14600);
    assert_int_equal(info.send_queue, 0);
    tcp_fixture_close(&t);
}

static void fin_and_syn_are_no_bytes(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_CLOSING, &(struct tcp_fixture_options){0});
    const struct weir_tcp_info info = info_of(&t);
    assert_int_equal(info.bytes_sent, 0);
    assert_int_equal(info.bytes_acked, 0);
    assert_int_equal(info.bytes_received, 0);
    tcp_fixture_close(&t);
}

static void late(struct tcp_fixture *t, uint32_t from, uint32_t count)
{
    user_write(t, from, count * 1460);
    peer_drain(t);
    peer_pass(t, RTT_US);
    peer_sack(t, from, 1, (uint32_t[]){from + 1460, from + count * 1460});
    peer_pass(t, 2000);
    peer_send(t, TCP_ACK, 0, from + count * 1460);
}

// What comes late, and twice, is counted as long as the connection lives, and idling does not forget it.
static void order_and_duplicates_are_remembered(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    struct weir_tcp_info info = info_of(&t);
    assert_int_equal(info.reordering, 3);
    assert_int_equal(info.reorder_seen, 0);
    late(&t, 0, 2);
    info = info_of(&t);
    assert_int_equal(info.reordering, 3);
    assert_int_equal(info.reorder_seen, 1);
    late(&t, 2 * 1460, 7);
    info = info_of(&t);
    assert_int_equal(info.reordering, 7);
    assert_int_equal(info.reorder_seen, 2);
    assert_int_equal(info.total_retrans, 0);
    peer_sack(&t, 9 * 1460, 1, (uint32_t[]){0, 2 * 1460});
    assert_int_equal(info_of(&t).duplicates, 2);
    user_write(&t, 9 * 1460, 1460);
    peer_drain(&t);
    peer_sack(&t, 9 * 1460, 1, (uint32_t[]){0, 2 * 1460});
    peer_sack(&t, 9 * 1460, 1, (uint32_t[]){100, 200});
    assert_int_equal(info_of(&t).duplicates, 5);
    peer_send(&t, TCP_ACK, 0, 10 * 1460);
    peer_pass(&t, 5000000);
    info = info_of(&t);
    assert_int_equal(info.reordering, 7);
    assert_int_equal(info.reorder_seen, 2);
    assert_int_equal(info.duplicates, 5);
    assert_int_equal(info.retrans_out, 0);
    tcp_fixture_close(&t);
}

static void what_is_out_again_is_told(void **state)
{
    struct tcp_fixture t;
    (void)state;
    loss_bring(&t, NULL);
    user_write(&t, 0, 8 * 1460);
    peer_drain(&t);
    peer_pass(&t, RTT_US);
    peer_sack(&t, 0, 1, (uint32_t[]){2 * 1460, 8 * 1460});
    peer_expect(&t, TCP_ACK, 0, 0, 1460);
    peer_expect(&t, TCP_ACK, 1460, 0, 1460);
    peer_expect_nothing(&t);
    assert_int_equal(info_of(&t).retrans_out, 2 * 1460);
    peer_send(&t, TCP_ACK, 0, 1460);
    assert_int_equal(info_of(&t).retrans_out, 1460);
    tcp_fixture_close(&t);
}

// A pause of 71 minutes and 35 seconds is not one of a tenth of a second: tcp_pause_us, by which a window of before is
// given up, too.
static void a_long_pause_stays_long(void **state)
{
    struct tcp_fixture t;
    (void)state;
    assert_int_equal(tcp_pause_us(4294967), 4294967000u);
    assert_int_equal(tcp_pause_us(4294968), UINT32_MAX);
    assert_int_equal(tcp_pause_us(UINT32_MAX), UINT32_MAX);
    loss_bring(&t, NULL);
    user_write(&t, 0, 100);
    peer_drain(&t);
    peer_send(&t, TCP_ACK, 0, 100);
    peer_pass(&t, 1500000);
    assert_in_range(info_of(&t).last_sent_us, 1499000, 1501000);
    peer_pass(&t, 4295067000u - 1500000);
    assert_int_equal(info_of(&t).last_sent_us, UINT32_MAX);
    assert_int_equal(info_of(&t).last_received_us, UINT32_MAX);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_starts_from_nothing),    cmocka_unit_test(it_counts),
        cmocka_unit_test(fin_and_syn_are_no_bytes),  cmocka_unit_test(order_and_duplicates_are_remembered),
        cmocka_unit_test(what_is_out_again_is_told), cmocka_unit_test(a_long_pause_stays_long),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
