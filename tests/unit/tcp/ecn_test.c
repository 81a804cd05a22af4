// SPDX-License-Identifier: BSD-2-Clause
// Explicit congestion notification by RFC 3168, with a peer played by hand.
#include <string.h>

#include "built.h"
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

#define MSS 1460u
enum { NOT_ECT, ECT1, ECT0, CE };
enum { ECE = 1, CWR = 2, AE = 4 };

static struct tcp_fixture t;

static void bring(const struct tcp_fixture_options *options)
{
    struct tcp_fixture_options o = *options;
    o.ecn = o.ecn ? o.ecn : WEIR_ECN_PASSIVE;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &o);
}
static void established(void) { bring(&(struct tcp_fixture_options){.peer_ace = ECE | CWR, .sack = true}); }
static struct tcp_conn *conn(void)
{
    struct tcp_conn *c = tcp_fixture_conn(&t);
    assert_non_null(c);
    return c;
}
static struct weir_tcp_info info(void)
{
    struct weir_tcp_info out;
    assert_int_equal(weir_socket_tcp_info(t.weir, t.socket, &out), WEIR_OK);
    return out;
}
static void expect(uint8_t ace, uint8_t tos)
{
    assert_int_equal(t.got_ace, ace);
    assert_int_equal(t.got_tos, tos);
}
// A segment of the peer with flags and codepoint.
static void peer_marked(uint8_t ace, uint8_t tos, uint32_t seq, uint32_t ack, uint32_t length)
{
    t.ace = ace;
    t.tos = tos;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .seq = seq, .ack = ack, .length = length});
    t.ace = t.tos = 0;
}

// --- handshake -------------------------------------------------------------------------------------------------------

// §6.1.1, for every wish and every SYN: what is answered, and what was agreed.
static void a_listener_answers_as_it_wants(void **state)
{
    static const struct {
        uint8_t wish, ace, tos, answer;
        bool ecn;
    } rows[] = {
        {WEIR_ECN_OFF, 0, NOT_ECT, 0, false},
        {WEIR_ECN_OFF, ECE | CWR, NOT_ECT, 0, false},
        {WEIR_ECN_PASSIVE, 0, NOT_ECT, 0, false},
        {WEIR_ECN_PASSIVE, ECE, NOT_ECT, 0, false},  // half of the request is none
        {WEIR_ECN_PASSIVE, CWR, NOT_ECT, 0, false},
        {WEIR_ECN_PASSIVE, ECE | CWR, NOT_ECT, ECE, true},
        {WEIR_ECN_PASSIVE, AE | ECE | CWR, NOT_ECT, ECE, true},  // asks for more: gets what we know
        {WEIR_ECN_PASSIVE, ECE | CWR, ECT0, 0, false},           // the field is spoilt on the way
        {WEIR_ECN_PASSIVE, ECE | CWR, CE, 0, false},
        {WEIR_ECN_ON, ECE | CWR, NOT_ECT, ECE, true},
        {WEIR_ECN_ACCURATE, ECE | CWR, NOT_ECT, ECE, true},
        {WEIR_ECN_ACCURATE, 0, NOT_ECT, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tcp_fixture_open(&t, &(struct tcp_fixture_options){.ecn = rows[i].wish, .peer_ace = rows[i].ace});
        t.tos = rows[i].tos;
        tcp_fixture_continue(&t, WEIR_TCP_SYN_RECEIVED);
        expect(rows[i].answer, NOT_ECT);
        t.tos = NOT_ECT;
        peer_send(&t, TCP_ACK, 0, 0);
        t.socket = weir_socket_accept(t.weir, t.listener);
        assert_int_equal(info().ecn, rows[i].ecn);
        assert_false(info().accecn);
        assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN), rows[i].ecn);
        user_write(&t, 0, 100);
        peer_take(&t);
        expect(0, rows[i].ecn ? ECT0 : NOT_ECT);
        tcp_fixture_close(&t);
    }
}

static void a_client_takes_what_it_asked_for(void **state)
{
    static const struct {
        uint8_t wish, asks, answer;
        bool ecn;
    } rows[] = {
        {WEIR_ECN_OFF, 0, ECE, false},
        {WEIR_ECN_PASSIVE, 0, ECE, false},
        {WEIR_ECN_ON, ECE | CWR, 0, false},
        {WEIR_ECN_ON, ECE | CWR, ECE, true},
        {WEIR_ECN_ON, ECE | CWR, CWR, false},
        {WEIR_ECN_ON, ECE | CWR, ECE | CWR, false},  // a server that reflects what it does not know
        {WEIR_ECN_ACCURATE, AE | ECE | CWR, ECE, true},
        {WEIR_ECN_ACCURATE, AE | ECE | CWR, 0, false},
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        tcp_fixture_open(
            &t, &(struct tcp_fixture_options){.open = TCP_ACTIVE, .ecn = rows[i].wish, .peer_ace = rows[i].answer});
        tcp_fixture_continue(&t, WEIR_TCP_SYN_SENT);
        expect(rows[i].asks, NOT_ECT);
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK});
        t.theirs++;
        peer_expect(&t, TCP_ACK, 0, 0, 0);
        expect(0, NOT_ECT);
        assert_int_equal(info().ecn, rows[i].ecn);
        user_write(&t, 0, 100);
        peer_take(&t);
        expect(0, rows[i].ecn ? ECT0 : NOT_ECT);
        tcp_fixture_close(&t);
    }
}

// §6.1.1.1: a network that drops the request is not asked for ever. Who has sent a plain SYN marks nothing, but echoes.
static void a_syn_without_answer_goes_without(void **state)
{
    (void)state;
    tcp_fixture_open(&t, &(struct tcp_fixture_options){.open = TCP_ACTIVE, .ecn = WEIR_ECN_ON, .peer_ace = ECE});
    tcp_fixture_continue(&t, WEIR_TCP_SYN_SENT);
    expect(ECE | CWR, NOT_ECT);
    for (uint32_t i = 1; i <= 3; i++) {
        peer_pass(&t, 1000000u << (i - 1));
        peer_expect(&t, TCP_SYN, UINT32_MAX, 0, 0);
        expect(i == 1 ? ECE | CWR : 0, NOT_ECT);
    }
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_GIVEN_UP), 1);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK});  // the answer to the first, late
    t.theirs++;
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    user_write(&t, 0, 100);
    peer_take(&t);
    expect(0, NOT_ECT);
    peer_marked(0, CE, 0, 100, 100);
    peer_take(&t);
    expect(ECE, NOT_ECT);
    tcp_fixture_close(&t);
}

static void a_plain_syn_after_the_first_ends_our_marks(void **state)
{
    (void)state;
    tcp_fixture_open(&t, &(struct tcp_fixture_options){.ecn = WEIR_ECN_PASSIVE, .peer_ace = ECE | CWR});
    tcp_fixture_continue(&t, WEIR_TCP_SYN_RECEIVED);
    expect(ECE, NOT_ECT);
    t.options.peer_ace = 0;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN, .seq = UINT32_MAX});
    peer_take(&t);
    assert_int_equal(t.got.flags, TCP_SYN | TCP_ACK);
    expect(0, NOT_ECT);
    peer_send(&t, TCP_ACK, 0, 0);
    t.socket = weir_socket_accept(t.weir, t.listener);
    user_write(&t, 0, 100);
    peer_take(&t);
    expect(0, NOT_ECT);
    peer_marked(0, CE, 0, 100, 10);  // the peer may have taken the first answer
    peer_take(&t);
    expect(ECE, NOT_ECT);
    tcp_fixture_close(&t);
}

static void both_may_ask_at_once(void **state)
{
    (void)state;
    bring(&(struct tcp_fixture_options){.open = TCP_SIMULTANEOUS, .ecn = WEIR_ECN_ON, .peer_ace = ECE | CWR});
    assert_true(info().ecn);
    assert_int_equal(conn()->flow ? conn()->flow->ecn_round : 0, 0);  // the flags of the SYN-ACK were no feedback
    user_write(&t, 0, 100);
    peer_take(&t);
    expect(0, ECT0);
    tcp_fixture_close(&t);
}

// Half-open table full: with timestamps a bit of the cookie keeps it, without it is not agreed on.
static void a_cookie_keeps_it_in_the_timestamp(void **state)
{
    (void)state;
    for (int timestamps = 0; timestamps < 2; timestamps++) {
        tcp_fixture_open(&t, &(struct tcp_fixture_options){
                                 .ecn = WEIR_ECN_PASSIVE, .peer_ace = ECE | CWR, .timestamps = timestamps});
        tcp_fixture_continue(&t, WEIR_TCP_LISTEN);
        const uint16_t port = t.remote.port;
        for (uint16_t other = 1; other <= 16; other++) {
            t.remote.port = other;
            peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN});
        }
        fixture_clear(&t.f);
        t.seen = 0;
        t.remote.port = port;
        struct tcp_options options = {
            .seen = TCP_SEEN_MSS | (timestamps ? TCP_SEEN_TIMESTAMPS : 0), .mss = MSS, .ts_value = t.ts_value};
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN, .options = &options});
        peer_take(&t);
        expect(timestamps ? ECE : 0, NOT_ECT);
        assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_SYNCOOKIE_SENT), 1);
        t.ours = t.got.seq + 1;
        t.theirs++;
        peer_send(&t, TCP_ACK, 0, 0);
        t.socket = weir_socket_accept(t.weir, t.listener);
        assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_SYNCOOKIE_ACCEPTED), 1);
        assert_int_equal(info().ecn, timestamps);
        assert_int_equal(info().window_scaling, false);
        tcp_fixture_close(&t);
    }
}

// --- what is marked --------------------------------------------------------------------------------------------------

// §6.1.4 to 6.1.6: new data alone.
static void only_new_data_can_be_marked(void **state)
{
    (void)state;
    established();
    user_write(&t, 0, 100);
    peer_take(&t);
    expect(0, ECT0);
    peer_pass(&t, 300000);  // retransmission timeout
    peer_expect(&t, TCP_ACK, 0, 0, 100);
    expect(0, NOT_ECT);
    peer_marked(0, NOT_ECT, 0, 100, 100);
    peer_expect(&t, TCP_ACK, 100, 100, 0);
    expect(0, NOT_ECT);
    t.window = 0;
    peer_send(&t, TCP_ACK, 100, 100);
    user_write(&t, 100, 100);
    peer_pass(&t, 3000000);
    peer_expect(&t, TCP_ACK, 100, 100, 1);  // a probe
    expect(0, NOT_ECT);
    tcp_fixture_close(&t);
}

static void the_users_dscp_stays(void **state)
{
    (void)state;
    int32_t tos;
    established();
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_TOS, 0xb9 | 3), WEIR_OK);
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_TOS, &tos), WEIR_OK);
    assert_int_equal(tos, 0xb8);
    user_write(&t, 0, 100);
    peer_take(&t);
    expect(0, 0xb8 | ECT0);
    peer_marked(0, NOT_ECT, 0, 100, 10);
    peer_take(&t);
    expect(0, 0xb8);
    tcp_fixture_close(&t);
}

static void without_agreement_nothing_is_said(void **state)
{
    (void)state;
    bring(&(struct tcp_fixture_options){.peer_ace = 0});
    peer_marked(0, CE, 0, 0, 100);
    peer_take(&t);
    expect(0, NOT_ECT);
    user_write(&t, 0, 3000);
    peer_drain(&t);
    const uint32_t cwnd = conn()->flow->window.cwnd;
    peer_marked(ECE, NOT_ECT, 100, 1460, 0);
    assert_true(conn()->flow->window.cwnd >= cwnd);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_CE_RECEIVED), 0);
    tcp_fixture_close(&t);
}

// --- the receiver ----------------------------------------------------------------------------------------------------

// §6.1.3: every ACK, until CWR comes.
static void a_mark_is_echoed_until_cwr(void **state)
{
    (void)state;
    established();
    conn()->quick_acks = 0;
    peer_marked(0, ECT0, 0, 0, 100);
    peer_expect_nothing(&t);  // delayed
    peer_marked(0, CE, 100, 0, 100);
    peer_expect(&t, TCP_ACK, 0, 200, 0);  // at once
    expect(ECE, NOT_ECT);
    peer_marked(0, ECT0, 200, 0, 100);
    peer_pass(&t, 50000);
    peer_expect(&t, TCP_ACK, 0, 300, 0);
    expect(ECE, NOT_ECT);
    user_write(&t, 0, 10);
    peer_expect(&t, TCP_ACK, 0, 300, 10);
    expect(ECE, ECT0);
    peer_marked(CWR, NOT_ECT, 300, 10, 0);  // no data: no answer to the echo
    peer_marked(0, CE, 400000, 10, 100);    // not acceptable: says nothing, nor does its mark
    peer_drain(&t);
    peer_marked(CWR, CE, 300, 10, 100);  // answered, and marked again
    peer_expect(&t, TCP_ACK, 10, 400, 0);
    expect(ECE, NOT_ECT);
    peer_marked(CWR, ECT0, 400, 10, 100);
    peer_expect(&t, TCP_ACK, 10, 500, 0);
    expect(0, NOT_ECT);
    peer_marked(0, CE, 500, 10, 0);  // an ACK cannot be marked
    peer_marked(0, ECT0, 500, 10, 100);
    peer_pass(&t, 50000);
    peer_take(&t);
    expect(0, NOT_ECT);
    assert_int_equal(info().received_ce, 2);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_CE_RECEIVED), 2);
    tcp_fixture_close(&t);
}

// --- the sender ------------------------------------------------------------------------------------------------------

// Ten segments in flight.
static void ten_in_flight(void)
{
    user_write(&t, 0, 30 * MSS);
    assert_int_equal(peer_drain_count(&t), 10);
}

static void one_reduction_in_a_window(void **state)
{
    (void)state;
    established();
    ten_in_flight();
    assert_int_equal(conn()->flow->window.cwnd, 10 * MSS);
    peer_marked(ECE, NOT_ECT, 0, 2 * MSS, 0);
    const uint32_t cwnd = conn()->flow->window.cwnd, share = WEIR_CFG_CC_ABE ? 85 : 70;  // cubic
    assert_in_range(cwnd, 8 * MSS * share / 100 - MSS, 10 * MSS * share / 100);
    assert_int_equal(conn()->flow->window.ssthresh, cwnd);
    assert_int_equal(info().recovery, 2);
    peer_drain(&t);
    for (uint32_t ack = 3; ack <= 10; ack++)  // the same window: the echo goes on, the window stays as it is
        peer_marked(ECE, NOT_ECT, 0, ack * MSS, 0);
    assert_int_equal(conn()->flow->window.cwnd, cwnd);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_REDUCED), 1);
    peer_marked(ECE, NOT_ECT, 0, 11 * MSS, 0);  // beyond it: another mark
    assert_true(conn()->flow->window.cwnd < cwnd);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_REDUCED), 2);
    peer_marked(0, NOT_ECT, 0, conn()->snd.nxt - t.ours, 0);
    peer_marked(0, NOT_ECT, 0, conn()->snd.nxt - t.ours, 0);
    assert_int_equal(conn()->attention & ATTEND_ECN, 0);
    assert_int_equal(info().recovery, 0);
    assert_true(info().delivered_ce >= 11);
    tcp_fixture_close(&t);
}

// §6.1.2: on the first new data after the reduction, and there alone. (With SACK, what was acknowledged unrepeated
// would undo the timeout.)
static void cwr_goes_once_with_new_data(void **state)
{
    (void)state;
    bring(&(struct tcp_fixture_options){.peer_ace = ECE | CWR});
    ten_in_flight();
    peer_marked(ECE, NOT_ECT, 0, 5 * MSS, 0);
    peer_take(&t);
    assert_int_equal(t.got_seq, 10 * MSS);
    expect(CWR, ECT0);
    uint32_t more = 0;
    for (; peer_has_more(&t); more++) {
        peer_take(&t);
        expect(0, ECT0);
    }
    assert_true(more > 0);
    peer_drain(&t);
    // It is lost with all that followed: what is sent again bears none, the next new data does, since a loss reduces,
    // too.
    peer_pass(&t, 400000);
    while (peer_has_more(&t)) {
        peer_take(&t);
        expect(0, NOT_ECT);
    }
    peer_marked(ECE, NOT_ECT, 0, (11 + more) * MSS, 0);
    peer_take(&t);
    assert_int_equal(t.got_seq, (11 + more) * MSS);
    expect(CWR, ECT0);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_REDUCED), 1);  // the timeout was the second
    tcp_fixture_close(&t);
}

// A mark and a loss in one window cost once, in either order.
static void a_mark_beside_a_loss_costs_nothing_more(void **state)
{
    (void)state;
    established();
    ten_in_flight();
    peer_sack(&t, 0, 1, (uint32_t[]){MSS, 5 * MSS});
    assert_true(conn()->attention & ATTEND_FAST_RECOVERY);
    const uint32_t ssthresh = conn()->flow->window.ssthresh;
    t.ace = ECE;
    peer_sack(&t, 0, 1, (uint32_t[]){MSS, 8 * MSS});
    t.ace = 0;
    assert_int_equal(conn()->flow->window.ssthresh, ssthresh);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_REDUCED), 0);
    assert_false(conn()->flow->undo.possible);  // spurious or not, there was congestion
    tcp_fixture_close(&t);

    established();
    ten_in_flight();
    peer_marked(ECE, NOT_ECT, 0, MSS, 0);
    const uint32_t marked = conn()->flow->window.ssthresh;
    peer_drain(&t);
    peer_sack(&t, MSS, 1, (uint32_t[]){2 * MSS, 8 * MSS});
    assert_true(conn()->attention & ATTEND_FAST_RECOVERY);
    assert_int_equal(conn()->flow->window.ssthresh, marked);
    tcp_fixture_close(&t);
}

// The window does not grow while what was outstanding at the reduction is.
static void the_window_rests_for_a_round(void **state)
{
    (void)state;
    established();
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, "reno"), WEIR_OK);
    ten_in_flight();
    peer_marked(ECE, NOT_ECT, 0, MSS, 0);
    const uint32_t cwnd = conn()->flow->window.cwnd;
    for (uint32_t ack = 2; ack <= 10; ack++)
        peer_marked(0, NOT_ECT, 0, ack * MSS, 0);
    assert_int_equal(conn()->flow->window.cwnd, cwnd);
    tcp_fixture_close(&t);
}

// CWR belongs on the first piece of a large segment only, which a device need not know: that segment is not large.
static void a_segment_with_cwr_is_not_cut(void **state)
{
    (void)state;
    bring(&(struct tcp_fixture_options){
        .peer_ace = ECE | CWR,
        .fixture = {.capabilities = WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TSO4, .mode = FIXTURE_PLAIN}});
    user_write(&t, 0, 30 * MSS);
    fixture_clear(&t.f);
    t.seen = 0;
    peer_marked(ECE, NOT_ECT, 0, 8 * MSS, 0);
    assert_true(fixture_sent_count(&t.f) > 1);
    for (uint32_t i = 0; i < fixture_sent_count(&t.f); i++) {
        uint32_t length;
        const uint8_t *packet = fixture_sent_packet(&t.f, i, &length);
        assert_int_equal(packet[1], ECT0);
        assert_int_equal(packet[20 + 13] >> 6, i == 0 ? CWR : 0);
        assert_true(i || length == 40 + MSS);
        assert_true(!i || length > 40 + MSS);
    }
    tcp_fixture_close(&t);
}

// --- looking, and what is kept ---------------------------------------------------------------------------------------

static void the_option_can_be_set_until_it_is_too_late(void **state)
{
    (void)state;
    int32_t value = 0;
    tcp_fixture_open(&t, &(struct tcp_fixture_options){.open = TCP_ACTIVE, .ecn = WEIR_ECN_ON, .peer_ace = ECE});
    const weir_socket socket = weir_socket_open(t.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_get(t.weir, socket, WEIR_OPTION_ECN, &value), WEIR_OK);
    assert_int_equal(value, WEIR_ECN_PASSIVE);
    assert_int_equal(weir_socket_set(t.weir, socket, WEIR_OPTION_ECN, 0), WEIR_INVALID);
    assert_int_equal(weir_socket_set(t.weir, socket, WEIR_OPTION_ECN, 5), WEIR_INVALID);
    for (int32_t asked = WEIR_ECN_OFF; asked <= WEIR_ECN_ACCURATE; asked++) {
        assert_int_equal(weir_socket_set(t.weir, socket, WEIR_OPTION_ECN, asked), WEIR_OK);
        assert_int_equal(weir_socket_get(t.weir, socket, WEIR_OPTION_ECN, &value), WEIR_OK);
        assert_int_equal(value, asked);
    }
    assert_int_equal(weir_socket_close(t.weir, socket), WEIR_OK);
    tcp_fixture_continue(&t, WEIR_TCP_ESTABLISHED);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_ECN, WEIR_ECN_OFF), WEIR_CONNECTED);
    assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_ECN, &value), WEIR_OK);
    assert_int_equal(value, WEIR_ECN_ON);  // what was agreed
    tcp_fixture_close(&t);
}

static void an_instance_has_a_default(void **state)
{
    (void)state;
    const struct weir_config config = {.tcp_ecn = WEIR_ECN_ON};
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT,
                      &(struct tcp_fixture_options){.fixture = {.config = &config}, .ecn = WEIR_ECN_ON});
    expect(ECE | CWR, NOT_ECT);
    const weir_socket socket = weir_socket_open(t.weir, WEIR_STREAM, 0);
    int32_t value = 0;
    assert_int_equal(weir_socket_get(t.weir, socket, WEIR_OPTION_ECN, &value), WEIR_OK);
    assert_int_equal(value, WEIR_ECN_ON);
    tcp_fixture_close(&t);
}

// The state of an idle connection is bits of its block: an echo that is due, and CWR, outlast the flow.
static void idling_forgets_nothing(void **state)
{
    (void)state;
    established();
    ten_in_flight();
    peer_marked(0, CE, 0, 0, 10);
    peer_marked(ECE, NOT_ECT, 10, 30 * MSS, 0);
    while (seq_lt(conn()->snd.una, t.ours + 30 * MSS))
        peer_marked(ECE, NOT_ECT, 10, conn()->snd.nxt - t.ours, 0);
    user_read(&t, 0, 10);
    peer_pass(&t, 5000000);
    assert_null(conn()->flow);
    peer_drain(&t);
    peer_marked(0, ECT0, 10, 30 * MSS, 10);
    peer_pass(&t, 50000);
    peer_take(&t);
    expect(ECE, NOT_ECT);
    assert_int_equal(info().received_ce, 1);
    assert_true(info().delivered_ce > 0);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_listener_answers_as_it_wants),
        cmocka_unit_test(a_client_takes_what_it_asked_for),
        cmocka_unit_test(a_syn_without_answer_goes_without),
        cmocka_unit_test(a_plain_syn_after_the_first_ends_our_marks),
        cmocka_unit_test(both_may_ask_at_once),
        cmocka_unit_test(a_cookie_keeps_it_in_the_timestamp),
        cmocka_unit_test(only_new_data_can_be_marked),
        cmocka_unit_test(the_users_dscp_stays),
        cmocka_unit_test(without_agreement_nothing_is_said),
        cmocka_unit_test(a_mark_is_echoed_until_cwr),
        cmocka_unit_test(one_reduction_in_a_window),
        cmocka_unit_test(cwr_goes_once_with_new_data),
        cmocka_unit_test(a_mark_beside_a_loss_costs_nothing_more),
        test_with(WEIR_CFG_CC_RENO, the_window_rests_for_a_round),
        test_with(WEIR_CFG_TX_OFFLOAD, a_segment_with_cwr_is_not_cut),
        cmocka_unit_test(the_option_can_be_set_until_it_is_too_late),
        cmocka_unit_test(an_instance_has_a_default),
        cmocka_unit_test(idling_forgets_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
