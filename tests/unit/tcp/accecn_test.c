// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// Accurate ECN feedback by RFC 9768, with a peer played by hand.
#include <string.h>

#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

#define MSS 1460u
enum { NOT_ECT, ECT1, ECT0, CE };
enum { ECE = 1, CWR = 2, AE = 4, ALL = 7, CLASSIC = ECE | CWR };

static struct tcp_fixture t;

static struct tcp_conn *conn(void)
{
    struct tcp_conn *c = tcp_fixture_conn(&t);
    assert_non_null(c);
    return c;
}
static struct accecn *counters(void) { return &conn()->extra->accecn; }
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
static void expect_no_option(void) { assert_false(t.got.options.seen & TCP_SEEN_ACCECN); }
static void expect_option(uint8_t kind, uint8_t fields, uint32_t e0b, uint32_t ceb, uint32_t e1b)
{
    const struct tcp_accecn_option *o = &t.got.options.accecn;
    assert_true(t.got.options.seen & TCP_SEEN_ACCECN);
    assert_int_equal(o->kind, kind);
    assert_int_equal(o->fields, fields);
    if (tcp_accecn_has_ect0(o))
        assert_int_equal(o->ect0, e0b);
    if (tcp_accecn_has_ce(o))
        assert_int_equal(o->ce, ceb);
    if (tcp_accecn_has_ect1(o))
        assert_int_equal(o->ect1, e1b);
}
static void peer_marked(uint8_t ace, uint8_t tos, uint32_t seq, uint32_t ack, uint32_t length)
{
    t.ace = ace;
    t.tos = tos;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .seq = seq, .ack = ack, .length = length});
    t.tos = 0;
}
// An ACK with an option, all three fields.
static void peer_option(uint8_t ace, uint32_t ack, uint32_t e0b, uint32_t ceb, uint32_t e1b)
{
    const struct tcp_options options = {
        .seen = TCP_SEEN_ACCECN,
        .accecn = {.kind = TCP_OPTION_ACCECN_0, .fields = 3, .ect0 = e0b, .ce = ceb, .ect1 = e1b}};
    t.ace = ace;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .ack = ack, .options = &options});
}

// A client with an AccECN server, or a server with such a client; the peer's ACE from here on is 5.
static void client(bool sack)
{
    tcp_fixture_open(
        &t, &(struct tcp_fixture_options){.open = TCP_ACTIVE, .ecn = WEIR_ECN_ACCURATE, .peer_ace = 2, .sack = sack});
    tcp_fixture_continue(&t, WEIR_TCP_ESTABLISHED);
    t.ace = 5;
}
static void server(bool timestamps)
{
    tcp_fixture_open(&t, &(struct tcp_fixture_options){
                             .ecn = WEIR_ECN_ACCURATE, .peer_ace = ALL, .sack = true, .timestamps = timestamps});
    t.ace = 2;
    tcp_fixture_continue(&t, WEIR_TCP_ESTABLISHED);
    t.ace = 5;
}

// --- handshake -------------------------------------------------------------------------------------------------------

// Table 2, what a client makes of each SYN-ACK.
static void table_2_for_a_client(void **state)
{
    static const struct {
        bool ecn, accurate;
        uint8_t tos;  // of its data
    } rows[8] = {
        {false, false, NOT_ECT},  // No ECN
        {true, false, ECT0},      // classic
        {true, true, ECT0},       // Not-ECT SYN
        {true, true, NOT_ECT},    // ECT(1): the field is spoilt on the way
        {true, true, NOT_ECT},    // ECT(0)
        {true, true, ECT0},       // reserved, as if unchanged
        {true, true, NOT_ECT},    // CE
        {false, false, NOT_ECT},  // reflected: broken
    };
    (void)state;
    for (uint8_t ace = 0; ace < 8; ace++) {
        tcp_fixture_open(&t,
                         &(struct tcp_fixture_options){.open = TCP_ACTIVE, .ecn = WEIR_ECN_ACCURATE, .peer_ace = ace});
        tcp_fixture_continue(&t, WEIR_TCP_SYN_SENT);
        expect(ALL, NOT_ECT);
        expect_no_option();
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK});
        t.theirs++;
        peer_expect(&t, TCP_ACK, 0, 0, 0);
        expect(rows[ace].accurate ? 2 : 0, NOT_ECT);  // the SYN-ACK came as Not-ECT
        assert_int_equal(info().ecn, rows[ace].ecn);
        assert_int_equal(info().accecn, rows[ace].accurate);
        assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_MANGLED), ace == 3 || ace == 4 || ace == 6);
        assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_REDUCED), ace == 6);  // congestion all the same
        user_write(&t, 0, 100);
        peer_take(&t);
        expect(rows[ace].accurate ? 5 : 0, rows[ace].tos);
        tcp_fixture_close(&t);
    }
}

// RFC 9768 table 2, what a server answers to each SYN.
static void table_2_for_a_server(void **state)
{
    static const uint8_t answer[4] = {[NOT_ECT] = 2, [ECT1] = 3, [ECT0] = 4, [CE] = 6};
    (void)state;
    for (uint8_t ace = 0; ace < 8; ace++)
        for (uint8_t tos = NOT_ECT; tos <= CE; tos++) {
            if (ace == CLASSIC && tos != NOT_ECT)
                continue;  // ecn_test.c
            tcp_fixture_open(&t, &(struct tcp_fixture_options){.ecn = WEIR_ECN_ACCURATE, .peer_ace = ace});
            t.tos = tos;
            tcp_fixture_continue(&t, WEIR_TCP_SYN_RECEIVED);
            const bool accurate = ace && ace != CLASSIC;  // §3.1.3: whatever is not known is taken for the request
            expect(accurate ? answer[tos] : ace == CLASSIC ? ECE : 0, NOT_ECT);
            if (accurate)
                expect_option(TCP_OPTION_ACCECN_0, 3, 1, 0, 1);
            t.tos = 0;
            t.ace = accurate ? 2 : 0;
            peer_send(&t, TCP_ACK, 0, 0);
            t.socket = weir_socket_accept(t.weir, t.listener);
            assert_int_equal(info().accecn, accurate);
            tcp_fixture_close(&t);
        }
}

// Table 3: the client's ACK tells the codepoint of the SYN-ACK, bare and before any data.
static void table_3(void **state)
{
    static const uint8_t ace[4] = {[NOT_ECT] = 2, [ECT1] = 3, [ECT0] = 4, [CE] = 6};
    (void)state;
    for (uint8_t tos = NOT_ECT; tos <= CE; tos++) {
        tcp_fixture_open(&t,
                         &(struct tcp_fixture_options){.open = TCP_ACTIVE, .ecn = WEIR_ECN_ACCURATE, .peer_ace = 2});
        tcp_fixture_continue(&t, WEIR_TCP_SYN_SENT);
        user_write(&t, 0, 100);
        t.tos = tos;
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK});
        t.theirs++;
        peer_expect(&t, TCP_ACK, 0, 0, 0);
        expect(ace[tos], NOT_ECT);
        expect_option(TCP_OPTION_ACCECN_0, 3, 1, 0, 1);
        peer_expect(&t, TCP_ACK, 0, 0, 100);
        expect(tos == CE ? 6 : 5, ECT0);
        expect_option(TCP_OPTION_ACCECN_0, 3, 1, 0, 1);  // the first data tests the path again
        // The SYN-ACK once more: told again, of that copy, and counted no second time.
        t.tos = ECT1;
        t.theirs--;
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK});
        t.theirs++;
        peer_take(&t);
        expect(ace[ECT1], NOT_ECT);
        assert_int_equal(info().received_ce, tos == CE);
        tcp_fixture_close(&t);
    }
}

// Table 4: what the server makes of that ACK.
static void table_4(void **state)
{
    static const struct {
        uint8_t delivered, tos;
        bool deaf;
    } rows[8] = {
        {0, NOT_ECT, true},   // the client is not in it, or the field is cleared
        {0, ECT0, false},     // unused
        {0, ECT0, false},     // Not-ECT, as it was sent
        {0, NOT_ECT, false},  // ECT(1): spoilt
        {0, NOT_ECT, false},  // ECT(0)
        {0, ECT0, false},     // unused
        {1, NOT_ECT, false},  // CE
        {0, ECT0, false},     // unused
    };
    (void)state;
    for (uint8_t ace = 0; ace < 8; ace++) {
        tcp_fixture_open(&t, &(struct tcp_fixture_options){.ecn = WEIR_ECN_ACCURATE, .peer_ace = ALL});
        tcp_fixture_continue(&t, WEIR_TCP_SYN_RECEIVED);
        t.ace = ace;
        peer_send(&t, TCP_ACK, 0, 0);
        t.socket = weir_socket_accept(t.weir, t.listener);
        assert_int_equal(info().delivered_ce, rows[ace].delivered);
        assert_int_equal(counters()->deaf, rows[ace].deaf);
        assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_REDUCED), ace == 6);
        user_write(&t, 0, 100);
        peer_take(&t);
        expect(5, rows[ace].tos);  // we tell on, whatever we believe
        tcp_fixture_close(&t);
    }
}

// §3.2.2.1: with data the field of the first ACK is the counter already.
static void the_first_ack_with_data_is_no_handshake(void **state)
{
    (void)state;
    tcp_fixture_open(&t, &(struct tcp_fixture_options){.ecn = WEIR_ECN_ACCURATE, .peer_ace = ALL});
    tcp_fixture_continue(&t, WEIR_TCP_SYN_RECEIVED);
    peer_marked(6, ECT0, 0, 0, 100);
    t.socket = weir_socket_accept(t.weir, t.listener);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_REDUCED), 0);
    user_write(&t, 0, 100);
    peer_drain(&t);
    peer_marked(6, NOT_ECT, 100, 100, 0);
    assert_int_equal(info().delivered_ce, 1);
    tcp_fixture_close(&t);
}

// §3.1.4.1, §3.1.5: twice with the request, then without; who was answered may still send ECT.
static void a_syn_without_answer(void **state)
{
    (void)state;
    tcp_fixture_open(&t, &(struct tcp_fixture_options){.open = TCP_ACTIVE, .ecn = WEIR_ECN_ACCURATE, .peer_ace = 2});
    tcp_fixture_continue(&t, WEIR_TCP_SYN_SENT);
    for (uint32_t i = 1; i <= 2; i++) {
        peer_pass(&t, 1000000u << (i - 1));
        peer_expect(&t, TCP_SYN, UINT32_MAX, 0, 0);
        expect(i == 1 ? ALL : 0, NOT_ECT);
    }
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK});
    t.theirs++;
    peer_drain(&t);
    assert_true(info().accecn);
    user_write(&t, 0, 100);
    peer_take(&t);
    expect(5, ECT0);
    tcp_fixture_close(&t);
}

// §3.2.3.2.2: the second SYN-ACK has no option, the third no flags; then the server sends nothing that can be marked,
// and counts all the same.
static void a_syn_ack_without_answer(void **state)
{
    (void)state;
    tcp_fixture_open(&t, &(struct tcp_fixture_options){.ecn = WEIR_ECN_ACCURATE, .peer_ace = ALL});
    tcp_fixture_continue(&t, WEIR_TCP_SYN_RECEIVED);
    expect_option(TCP_OPTION_ACCECN_0, 3, 1, 0, 1);
    for (uint32_t i = 1; i <= 2; i++) {
        peer_pass(&t, 1000000u << (i - 1));
        peer_take(&t);
        assert_int_equal(t.got.flags, TCP_SYN | TCP_ACK);
        expect(i == 1 ? 2 : 0, NOT_ECT);
        expect_no_option();
    }
    t.ace = 2;
    peer_send(&t, TCP_ACK, 0, 0);
    t.socket = weir_socket_accept(t.weir, t.listener);
    user_write(&t, 0, 100);
    peer_take(&t);
    expect(5, NOT_ECT);
    peer_marked(5, CE, 0, 100, 10);
    peer_take(&t);
    expect(6, NOT_ECT);
    tcp_fixture_close(&t);
}

static void a_second_syn(void **state)
{
    (void)state;
    for (int kind = 0; kind < 3; kind++) {
        tcp_fixture_open(&t, &(struct tcp_fixture_options){.ecn = WEIR_ECN_ACCURATE, .peer_ace = ALL});
        tcp_fixture_continue(&t, WEIR_TCP_SYN_RECEIVED);
        t.options.peer_ace = kind == 0 ? ALL : kind == 1 ? 0 : CLASSIC;
        t.tos = ECT0;
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN, .seq = UINT32_MAX});
        t.tos = 0;
        peer_take(&t);
        if (kind == 2) {  // the request of another kind: the ends could disagree on what they use (§3.1.5)
            assert_true(t.got.flags & TCP_RST);
            assert_state(&t, WEIR_TCP_CLOSED);
        } else {
            expect(4, NOT_ECT);  // of the latest SYN
            expect_no_option();
            t.ace = 2;
            peer_send(&t, TCP_ACK, 0, 0);
            t.socket = weir_socket_accept(t.weir, t.listener);
            user_write(&t, 0, 100);
            peer_take(&t);
            expect(5, kind == 0 ? ECT0 : NOT_ECT);
        }
        tcp_fixture_close(&t);
    }
}

// §3.2.2: an ACK that is none of the SYN-ACK has the counter, also before the handshake is done.
static void a_challenge_has_the_counter(void **state)
{
    (void)state;
    tcp_fixture_open(&t, &(struct tcp_fixture_options){.ecn = WEIR_ECN_ACCURATE, .peer_ace = ALL});
    tcp_fixture_continue(&t, WEIR_TCP_SYN_RECEIVED);
    t.ace = 2;
    peer_send(&t, TCP_ACK, 500000, 0);
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    expect(5, NOT_ECT);
    expect_no_option();
    tcp_fixture_close(&t);
}

static void both_at_once(void **state)
{
    (void)state;
    tcp_fixture_open(&t, &(struct tcp_fixture_options){.open = TCP_ACTIVE, .ecn = WEIR_ECN_ACCURATE, .peer_ace = ALL});
    tcp_fixture_continue(&t, WEIR_TCP_SYN_SENT);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN});
    t.theirs++;
    peer_expect(&t, TCP_SYN | TCP_ACK, UINT32_MAX, 0, 0);
    expect(2, NOT_ECT);
    t.theirs--;
    t.options.peer_ace = 2;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK});
    t.theirs++;
    assert_true(info().accecn);
    assert_int_equal(info().delivered_ce, 0);  // the flags of a SYN-ACK are no counter
    peer_drain(&t);
    user_write(&t, 0, 100);
    peer_take(&t);
    expect(5, ECT0);
    tcp_fixture_close(&t);
}

// §5.1: nothing is kept, the ACK tells.
static void a_cookie_needs_no_bit(void **state)
{
    (void)state;
    for (uint8_t ace = 0; ace < 8; ace++) {
        tcp_fixture_open(&t, &(struct tcp_fixture_options){.ecn = WEIR_ECN_ACCURATE, .peer_ace = ALL});
        tcp_fixture_continue(&t, WEIR_TCP_LISTEN);
        const uint16_t port = t.remote.port;
        for (uint16_t other = 1; other <= 16; other++) {
            t.remote.port = other;
            peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN});
        }
        fixture_clear(&t.f);
        t.seen = 0;
        t.remote.port = port;
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN});
        peer_take(&t);
        expect(2, NOT_ECT);
        expect_option(TCP_OPTION_ACCECN_0, 3, 1, 0, 1);
        t.ours = t.got.seq + 1;
        t.theirs++;
        t.ace = ace;
        peer_send(&t, TCP_ACK, 0, 0);
        t.socket = weir_socket_accept(t.weir, t.listener);
        assert_int_equal(info().accecn, ace >= 2);
        tcp_fixture_close(&t);
    }
}

// --- the receiver ----------------------------------------------------------------------------------------------------

static void marks_are_counted_and_told(void **state)
{
    (void)state;
    server(false);
    conn()->quick_acks = 0;
    peer_marked(5, ECT0, 0, 0, 1000);  // small ones after it are no reason to acknowledge
    peer_expect_nothing(&t);
    peer_marked(5, CE, 1000, 0, 50);  // the first after others: at once (§3.2.2.5.1)
    peer_expect(&t, TCP_ACK, 0, 1050, 0);
    expect(6, NOT_ECT);
    expect_option(TCP_OPTION_ACCECN_0, 2, 1001, 50, 1);
    peer_marked(5, CE, 1050, 0, 50);
    peer_expect_nothing(&t);
    peer_marked(5, CE, 1100, 0, 50);  // the second
    peer_expect(&t, TCP_ACK, 0, 1150, 0);
    expect(0, NOT_ECT);  // 5 + 3, by eight
    expect_option(TCP_OPTION_ACCECN_0, 2, 1001, 150, 1);
    peer_marked(5, ECT1, 1150, 0, 50);
    peer_pass(&t, 50000);
    peer_take(&t);
    expect_option(TCP_OPTION_ACCECN_0, 3, 1001, 150, 51);
    peer_marked(5, NOT_ECT, 1200, 0, 50);  // no counter moves: no option
    peer_pass(&t, 50000);
    peer_take(&t);
    expect_no_option();
    for (uint32_t i = 0; i < 3; i++) {  // ACKs that came marked, too, and are acknowledged before the field goes round
        peer_expect_nothing(&t);
        peer_marked(5, CE, 1250, 0, 0);
    }
    peer_expect(&t, TCP_ACK, 0, 1250, 0);
    expect(3, NOT_ECT);
    expect_no_option();
    peer_marked(5, CE, 900000, 0, 100);  // not acceptable
    assert_int_equal(info().received_ce, 6);
    tcp_fixture_close(&t);
}

static void ect1_alone_uses_the_other_order(void **state)
{
    (void)state;
    server(false);
    peer_marked(5, ECT1, 0, 0, 100);
    peer_take(&t);
    expect_option(TCP_OPTION_ACCECN_1, 1, 1, 0, 101);
    peer_marked(5, CE, 100, 0, 50);
    peer_take(&t);
    expect_option(TCP_OPTION_ACCECN_1, 2, 1, 50, 101);
    tcp_fixture_close(&t);
}

// §3.2.3.3: two SACK blocks go before the option, which then has what moved, or stays away.
static void sack_goes_first(void **state)
{
    (void)state;
    server(true);
    for (uint32_t i = 0; i < 4; i++)
        peer_marked(5, ECT0, 200 + 200 * i, 0, 100);
    while (peer_has_more(&t))
        peer_take(&t);
    assert_int_equal(t.got.options.sack_count, 2);
    expect_option(TCP_OPTION_ACCECN_0, 1, 401, 0, 1);
    peer_marked(5, CE, 1000, 0, 100);
    while (peer_has_more(&t))
        peer_take(&t);
    assert_int_equal(t.got.options.sack_count, 2);
    expect_option(TCP_OPTION_ACCECN_0, 2, 401, 100, 1);
    peer_marked(5, ECT1, 1200, 0, 100);
    while (peer_has_more(&t))
        peer_take(&t);
    assert_int_equal(t.got.options.sack_count, 3);
    expect_no_option();
    tcp_fixture_close(&t);
}

// A batch whose ACKs have room for few blocks is told whole all the same.
static void a_batch_is_told_beside_the_option(void **state)
{
    enum { RUNS = 7 };
    uint32_t told = 0;
    (void)state;
    server(true);
    batch_begin(&t);
    for (uint32_t i = 0; i < RUNS; i++)
        peer_marked(5, ECT0, 200 + 200 * i, 0, 100);
    batch_end(&t);
    for (uint32_t acks = 0; peer_has_more(&t); acks++) {
        peer_take(&t);
        if (!acks)
            expect_option(TCP_OPTION_ACCECN_0, 1, 301, 0, 1);
        for (uint32_t i = 0; i < t.got.options.sack_count; i++)
            told |= 1u << ((t.got.options.sack[i].left - t.theirs) / 200 - 1);
        assert_int_equal(told & (told + 1), 0);
    }
    assert_int_equal(told, (1u << RUNS) - 1);
    tcp_fixture_close(&t);
}

// Data with the option is shorter: no segment exceeds the path, and nothing sent again has one.
static void the_option_takes_its_room(void **state)
{
    (void)state;
    server(true);
    peer_marked(5, ECT0, 0, 0, 100);
    peer_drain(&t);
    peer_marked(5, ECT0, 100, 0, 100);
    conn()->flags &= ~(uint32_t)TCP_ACK_NOW;
    peer_drain(&t);
    counters()->told.e0b = 1;
    user_write(&t, 0, 5000);
    peer_take(&t);
    assert_true(t.got.options.seen & TCP_SEEN_ACCECN);
    assert_true(20u + t.got.header_length + t.got.length <= 1500);
    assert_int_equal(20u + t.got.header_length + t.got.length, 1500);
    peer_take(&t);
    expect_no_option();
    peer_drain(&t);
    counters()->told.e0b = 1;
    peer_pass(&t, 400000);
    do  // a tail probe, of new data, comes first
        peer_take(&t);
    while (t.got_seq);
    expect_no_option();
    expect(5, NOT_ECT);
    tcp_fixture_close(&t);
}

// §3.2.3.2.2: data whose ACKs bore the option comes again and again.
static void options_that_are_lost_are_given_up(void **state)
{
    (void)state;
    server(false);
    peer_marked(5, ECT0, 0, 0, 100);
    peer_take(&t);
    assert_true(t.got.options.seen & TCP_SEEN_ACCECN);
    for (uint32_t i = 0; i < 3; i++) {
        assert_false(counters()->options_off);
        peer_marked(5, ECT0, 0, 0, 100);
        counters()->option_left = true;
    }
    assert_true(counters()->options_off);
    peer_drain(&t);
    peer_marked(5, ECT0, 100, 0, 100);
    peer_take(&t);
    expect_no_option();
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ACCECN_OPTION_LOST), 1);
    tcp_fixture_close(&t);
}

// --- the sender ------------------------------------------------------------------------------------------------------

static void in_flight(uint32_t segments)
{
    conn()->rtt.floor_us = 3000000;
    if (conn()->flow)
        conn()->flow->window.cwnd = segments * MSS;
    user_write(&t, 0, 40 * MSS);
    peer_drain(&t);
}

static void one_reduction_a_round_and_no_cwr(void **state)
{
    (void)state;
    client(true);
    in_flight(10);
    peer_marked(6, NOT_ECT, 0, 2 * MSS, 0);
    const uint32_t cwnd = conn()->flow->window.cwnd;
    assert_true(cwnd < 10 * MSS);
    while (peer_has_more(&t)) {
        peer_take(&t);
        expect(5, ECT0);  // our counter, not CWR
    }
    for (uint32_t ack = 3; ack <= 9; ack++)  // the first segment was shorter, by its option
        peer_marked((uint8_t)(4 + ack) & 7, NOT_ECT, 0, ack * MSS, 0);
    assert_int_equal(conn()->flow->window.cwnd, cwnd);
    assert_int_equal(info().delivered_ce, 8);
    peer_marked(5, NOT_ECT, 0, 11 * MSS, 0);  // the same: nothing new
    assert_int_equal(info().delivered_ce, 8);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_REDUCED), 1);
    peer_marked(6, NOT_ECT, 0, 12 * MSS, 0);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_REDUCED), 2);
    tcp_fixture_close(&t);
}

// §3.2.2.5.2: by what the ACK covers the field may have gone round; without an option it is taken to have.
static void the_field_wraps(void **state)
{
    static const struct {
        uint32_t covered;  // segments
        uint8_t ace;       // of the ACK; 5 before
        bool option;
        uint32_t ceb;  // segments' worth
        uint32_t packets;
    } rows[] = {
        {1, 5, false, 0, 0},   {1, 6, false, 0, 1},   {7, 4, false, 0, 7},  // up to seven: as it stands
        {8, 5, false, 0, 8},   {9, 6, false, 0, 9},   {9, 5, false, 0, 8}, {15, 5, false, 0, 8},
        {16, 5, false, 0, 16}, {20, 6, false, 0, 17},  // 1, 9 or 17
        {20, 6, true, 1, 1},   {20, 6, true, 2, 9},   {20, 6, true, 9, 9}, {20, 6, true, 10, 17},
        {20, 5, true, 0, 0},   {2, 0, false, 0, 3},  // more than acknowledged: packets without data; it is right
                                                     // (§3.2.2.5.2)
    };
    (void)state;
    for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        client(true);
        user_write(&t, 0, 100);
        peer_drain(&t);
        peer_marked(5, NOT_ECT, 0, 100, 0);
        conn()->flow->window.cwnd = 30 * MSS;
        user_write(&t, 100, 30 * MSS);
        peer_drain(&t);
        if (rows[i].option)
            peer_option(rows[i].ace, 100 + rows[i].covered * MSS, 1, rows[i].ceb * MSS, 1);
        else
            peer_marked(rows[i].ace, NOT_ECT, 0, 100 + rows[i].covered * MSS, 0);
        if (info().delivered_ce != rows[i].packets)
            fail_msg("row %u: %u", (unsigned)i, info().delivered_ce);
        tcp_fixture_close(&t);
    }
}

// What was estimated is not told again by an option that comes later.
static void bytes_are_told_once(void **state)
{
    (void)state;
    client(true);
    in_flight(20);
    struct flight_delta delta = {.delivered = 3 * MSS};
    struct tcp_segment segment = {.flags = TCP_ACK | TCP_CWR | TCP_ECE, .accurate = true};  // 7: two
    counters()->heard = true;
    assert_true(accecn_ack(t.weir, conn(), &segment, &delta));
    assert_int_equal(delta.ce, 2 * MSS);
    segment.options.seen = TCP_SEEN_ACCECN;
    segment.options.accecn =
        (struct tcp_accecn_option){.kind = TCP_OPTION_ACCECN_0, .fields = 2, .ect0 = 1000, .ce = 2 * MSS + 100};
    segment.flags = TCP_ACK;  // 0: one more
    segment.accurate = false;
    delta = (struct flight_delta){.delivered = MSS};
    assert_true(accecn_ack(t.weir, conn(), &segment, &delta));
    assert_int_equal(delta.ce, 100);
    // An older ACK, its counters behind: nothing.
    segment.options.accecn.ce = MSS;
    segment.flags = TCP_ACK | TCP_ECE;
    assert_false(accecn_ack(t.weir, conn(), &segment, &delta));
    assert_int_equal(info().delivered_ce, 3);
    // The counters are 24 bits wide.
    counters()->s.ceb = TCP_ACCECN_MASK - 9;
    segment.options.accecn.ce = 90;
    delta = (struct flight_delta){.delivered = MSS};
    assert_true(accecn_ack(t.weir, conn(), &segment, &delta));
    assert_int_equal(delta.ce, 100);
    tcp_fixture_close(&t);
}

// A lost ACK loses nothing: the next tells the sum.
static void lost_acks_lose_no_marks(void **state)
{
    (void)state;
    client(true);
    in_flight(10);
    peer_marked(0, NOT_ECT, 0, 6 * MSS, 0);  // 5 to 8, in one ACK
    assert_int_equal(info().delivered_ce, 3);
    peer_marked(7, NOT_ECT, 0, 3 * MSS, 0);  // overtaken: it would take two back
    assert_int_equal(info().delivered_ce, 3);
    tcp_fixture_close(&t);
}

// --- what is spoilt on the way ---------------------------------------------------------------------------------------

static void a_cleared_field_is_not_believed(void **state)
{
    (void)state;
    client(true);
    in_flight(10);
    peer_marked(0, NOT_ECT, 0, MSS, 0);  // §3.2.2.4
    assert_true(counters()->deaf);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_REDUCED), 0);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_MANGLED), 1);
    peer_take(&t);
    expect(5, NOT_ECT);
    peer_drain(&t);
    peer_marked(0, CE, 0, 2 * MSS, 100);
    peer_take(&t);
    expect(6, NOT_ECT);  // what comes is told all the same
    tcp_fixture_close(&t);
}

static void cleared_options_are_ignored(void **state)
{
    (void)state;
    tcp_fixture_open(&t, &(struct tcp_fixture_options){.open = TCP_ACTIVE, .ecn = WEIR_ECN_ACCURATE, .peer_ace = 2});
    tcp_fixture_continue(&t, WEIR_TCP_SYN_SENT);
    const struct tcp_options zeros = {
        .seen = TCP_SEEN_MSS | TCP_SEEN_ACCECN, .mss = MSS, .accecn = {.kind = TCP_OPTION_ACCECN_0, .fields = 3}};
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK, .options = &zeros});
    t.theirs++;
    assert_true(counters()->options_ignored);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ACCECN_OPTION_BAD), 1);
    peer_drain(&t);
    user_write(&t, 0, 10 * MSS);
    peer_drain(&t);
    peer_option(5, MSS, 1, 5000, 1);
    assert_int_equal(counters()->s.ceb, 0);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_REDUCED), 0);
    tcp_fixture_close(&t);
}

// §3.2.3.2.5: bytes marked, again and again, and the field stands still.
static void a_field_that_stands_still_ends_our_marks(void **state)
{
    (void)state;
    client(true);
    in_flight(10);
    for (uint32_t i = 1; i <= 3; i++) {
        assert_int_equal(conn()->tos & 3, ECT0);
        peer_option(5, i * MSS, 1, i * MSS, 1);
    }
    assert_int_equal(conn()->tos & 3, NOT_ECT);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_MANGLED), 1);
    tcp_fixture_close(&t);
}

// §3.2.2.3: where everything is marked, a mark says nothing.
static void a_network_that_marks_all_is_ignored(void **state)
{
    (void)state;
    client(true);
    in_flight(10);
    uint32_t marks = 5;
    for (int rounds = 0; rounds < 5; rounds++) {
        const uint32_t end = conn()->snd.nxt - t.ours;
        for (uint32_t ack = conn()->snd.una - t.ours + MSS; ack <= end; ack += MSS)
            peer_marked((uint8_t)(++marks & 7), NOT_ECT, 0, ack, 0);
        peer_drain(&t);
    }
    assert_true(counters()->deaf);
    assert_int_equal(conn()->tos & 3, NOT_ECT);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_ECN_REDUCED), 4);
    tcp_fixture_close(&t);
}

// No memory to count in: a client goes on without, and says so by zeros; a server lets the client ask again.
static void without_memory_it_is_not_used(void **state)
{
    (void)state;
    tcp_fixture_open(&t, &(struct tcp_fixture_options){.open = TCP_ACTIVE, .ecn = WEIR_ECN_ACCURATE, .peer_ace = 2});
    tcp_fixture_continue(&t, WEIR_TCP_SYN_SENT);
    t.f.fail_at = 1;
    t.f.fail_onwards = true;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN | TCP_ACK});
    t.theirs++;
    t.f.fail_at = 0;
    t.f.fail_onwards = false;
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    expect(0, NOT_ECT);
    assert_false(info().ecn);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(table_2_for_a_client),
        cmocka_unit_test(table_2_for_a_server),
        cmocka_unit_test(table_3),
        cmocka_unit_test(table_4),
        cmocka_unit_test(the_first_ack_with_data_is_no_handshake),
        cmocka_unit_test(a_syn_without_answer),
        cmocka_unit_test(a_syn_ack_without_answer),
        cmocka_unit_test(a_second_syn),
        cmocka_unit_test(a_challenge_has_the_counter),
        cmocka_unit_test(both_at_once),
        cmocka_unit_test(a_cookie_needs_no_bit),
        cmocka_unit_test(marks_are_counted_and_told),
        cmocka_unit_test(ect1_alone_uses_the_other_order),
        cmocka_unit_test(sack_goes_first),
        cmocka_unit_test(a_batch_is_told_beside_the_option),
        cmocka_unit_test(the_option_takes_its_room),
        cmocka_unit_test(options_that_are_lost_are_given_up),
        cmocka_unit_test(one_reduction_a_round_and_no_cwr),
        cmocka_unit_test(the_field_wraps),
        cmocka_unit_test(bytes_are_told_once),
        cmocka_unit_test(lost_acks_lose_no_marks),
        cmocka_unit_test(a_cleared_field_is_not_believed),
        cmocka_unit_test(cleared_options_are_ignored),
        cmocka_unit_test(a_field_that_stands_still_ends_our_marks),
        cmocka_unit_test(a_network_that_marks_all_is_ignored),
        cmocka_unit_test(without_memory_it_is_not_used),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
