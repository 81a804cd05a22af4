// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny
// The compact stack frame by frame: a peer played by hand, whose segments are written and whose answers are read one by
// one.
#include "compact/peer.h"

static void syn_ack_offers_an_mss_and_nothing_else(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_ECHO);
    handshake_begin(&t);
    assert_int_equal(t.got.options.seen, TCP_SEEN_MSS);
    assert_int_equal(t.got.options.mss, MSS);
    assert_int_equal(t.got.header_length, 24);
    assert_int_equal(t.got.window, WINDOW);
    in(&t, TCP_SYN, UINT32_MAX, 0, 0);  // again: our answer was lost
    expect(&t, TCP_SYN | TCP_ACK, UINT32_MAX, 0, 0);
    uint64_t last = t.got_us, wait = 1000000;
    for (uint32_t tries = 0; tries < 5; tries++, wait *= 2) {
        pass(&t, wait);
        expect(&t, TCP_SYN | TCP_ACK, UINT32_MAX, 0, 0);
        assert_int_equal(t.got_us - last, wait);
        last = t.got_us;
    }
    pass(&t, 100000000);
    expect_nothing(&t);
    in(&t, TCP_ACK, 0, 0, 0);  // too late
    expect(&t, TCP_RST, 0, 0, 0);
    close_talk(&t);
}

// RFC 6528: for one pair of ends the numbers go up by one every 4 µs; those of other pairs have nothing to do with
// them.
static void initial_numbers(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_ECHO);
    handshake_begin(&t);
    const uint32_t first = t.theirs;
    in(&t, TCP_RST, 0, 0, 0);
    pass(&t, 4000);
    handshake_begin(&t);
    assert_int_equal(t.theirs - first, 1000);
    uint32_t seen[32];
    for (uint32_t i = 0; i < 32; i++) {
        t.port = (uint16_t)(50000 + i);
        handshake_begin(&t);
        seen[i] = t.theirs;
        for (uint32_t j = 0; j < i; j++)
            assert_in_range(seen[i] - seen[j] + 5000 > 10000, 1, 1);
        t.seen = t.count = 0;
    }
    close_talk(&t);
}

// A flood of handshakes takes entries, never the server: the newest is served.
static void a_flood_of_syns_is_survived(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_ECHO);
    for (uint32_t i = 0; i < 500; i++) {
        t.port = (uint16_t)(1000 + i);
        in(&t, TCP_SYN, UINT32_MAX, 0, 0);
        t.now_us += 100;
        t.seen = t.count = 0;
    }
    t.port = PEER_PORT;
    connect_talk(&t);
    in(&t, TCP_ACK, 0, 0, 10);
    expect(&t, TCP_ACK, 0, 10, 10);
    close_talk(&t);
}

static void no_connection_is_answered_with_a_reset(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_ECHO);
    in(&t, TCP_ACK, 5, 77, 3);
    expect(&t, TCP_RST, 77, 0, 0);
    in(&t, TCP_FIN, 5, 0, 3);
    take(&t);
    assert_int_equal(t.got.flags, TCP_RST | TCP_ACK);
    assert_int_equal(t.got.seq, 0);
    assert_int_equal(t.got.ack - t.ours, 9);
    in(&t, TCP_RST, 5, 0, 0);
    in(&t, TCP_RST | TCP_ACK, 5, 6, 0);
    expect_nothing(&t);
    close_talk(&t);
}

static void mss_of_the_peer(void **state)
{
    (void)state;
    static const struct {
        uint16_t option, segment;
    } cases[] = {{0, 536}, {100, 100}, {10, 48}, {1460, 536}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct talk t;
        open_talk(&t, SERVING_SOURCE);
        t.mss = cases[i].option;
        connect_talk(&t);
        expect(&t, TCP_ACK, 0, 0, cases[i].segment);
        assert_int_equal(t.got_data[1], serving_pattern(1));
        close_talk(&t);
    }
}

static void several_segments_are_in_flight(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_SOURCE);
    connect_talk(&t);
    expect(&t, TCP_ACK, 0, 0, MSS);
    expect(&t, TCP_ACK, MSS, 0, MSS);
    expect_nothing(&t);  // the send queue is full
    in(&t, TCP_ACK, 0, MSS, 0);
    expect(&t, TCP_ACK, SEND_QUEUE, 0, MSS);
    close_talk(&t);
}

// RFC 6298: the first RTO is of the handshake's RTT, held above by 200 ms of variation; then it doubles, with one
// segment each time.
static void retransmission_backs_off(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_SOURCE);
    handshake_begin(&t);
    pass(&t, 100000);
    in(&t, TCP_ACK, 0, 0, 0);
    expect(&t, TCP_ACK, 0, 0, MSS);
    uint64_t last = t.got_us, wait = 100001 + 200002;  // an RTT of 100 ms, made odd, and four times half of it
    expect(&t, TCP_ACK, MSS, 0, MSS);
    for (uint32_t tries = 0; tries < 7; tries++) {
        pass(&t, wait);
        expect(&t, TCP_ACK, 0, 0, MSS);
        expect_nothing(&t);
        assert_int_equal(t.got_us - last, wait);
        last = t.got_us;
        wait *= 2;
    }
    in(&t, TCP_ACK, 0, MSS, 0);  // slow start from one segment: two may go
    expect(&t, TCP_ACK, MSS, 0, MSS);
    expect(&t, TCP_ACK, 2 * MSS, 0, MSS);
    close_talk(&t);
}

static void three_duplicates_retransmit(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_SOURCE);
    connect_talk(&t);
    expect(&t, TCP_ACK, 0, 0, MSS);
    expect(&t, TCP_ACK, MSS, 0, MSS);
    in(&t, TCP_ACK, 0, 0, 0);
    in(&t, TCP_ACK, 0, 0, 0);
    t.window--;
    in(&t, TCP_ACK, 0, 0, 0);  // a window update is no duplicate
    expect_nothing(&t);
    in(&t, TCP_ACK, 0, 0, 0);
    expect(&t, TCP_ACK, 0, 0, MSS);
    in(&t, TCP_ACK, 0, 0, 0);
    expect_nothing(&t);          // once
    in(&t, TCP_ACK, 0, MSS, 0);  // a partial one (RFC 6582): the next hole goes at once, then new data
    expect(&t, TCP_ACK, MSS, 0, MSS);
    expect(&t, TCP_ACK, 2 * MSS, 0, MSS);
    close_talk(&t);
}

static void a_closed_window_is_probed(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_SOURCE);
    t.window = 0;
    connect_talk(&t);
    expect_nothing(&t);
    uint64_t last = t.now_us;
    for (uint32_t tries = 0; tries < 20; tries++) {  // twenty minutes of answers: it never gives up
        while (!has_sent(&t))
            pass(&t, 1000);
        expect(&t, TCP_ACK, 0, 0, 1);
        assert_in_range(t.got_us - last, tries ? 400000 : 200000, 61000000);
        last = t.got_us;
        in(&t, TCP_ACK, 0, 0, 0);
        expect_nothing(&t);
    }
    t.window = 2000;
    in(&t, TCP_ACK, 0, 0, 0);
    expect(&t, TCP_ACK, 0, 0, MSS);
    expect(&t, TCP_ACK, MSS, 0, MSS);
    close_talk(&t);
}

// Silly windows: less than half of what the peer ever offered does not go, unless the timer overrides.
static void a_small_window_waits(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_SOURCE);
    t.window = 1000;
    handshake_begin(&t);
    in(&t, TCP_ACK, 0, 0, 0);
    expect(&t, TCP_ACK, 0, 0, MSS);
    expect_nothing(&t);  // 464 of 1000
    t.window = 100;
    in(&t, TCP_ACK, 0, MSS, 0);
    expect_nothing(&t);
    pass(&t, 500000);
    expect(&t, TCP_ACK, MSS, 0, 100);
    close_talk(&t);
}

static void an_acknowledgement_is_delayed_once(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_SLOW);
    connect_talk(&t);
    in(&t, TCP_ACK, 0, 0, 100);
    expect_nothing(&t);
    pass(&t, 39000);
    expect_nothing(&t);
    pass(&t, 2000);
    expect(&t, TCP_ACK, 0, 100, 0);
    in(&t, TCP_ACK, 100, 0, 100);
    expect_nothing(&t);
    in(&t, TCP_ACK, 200, 0, 100);  // the second
    expect(&t, TCP_ACK, 0, 300, 0);
    assert_int_equal(t.got.window, WINDOW - 300);
    close_talk(&t);
}

static void what_lies_beyond_a_hole_is_kept(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_ECHO);
    connect_talk(&t);
    in(&t, TCP_ACK, 200, 0, 100);
    expect(&t, TCP_ACK, 0, 0, 0);  // at once
    in(&t, TCP_ACK, 300, 0, 100);  // touches it
    expect(&t, TCP_ACK, 0, 0, 0);
    in(&t, TCP_ACK, 600, 0, 100);  // does not: it must come again
    expect(&t, TCP_ACK, 0, 0, 0);
    in(&t, TCP_ACK, 0, 0, 200);
    take(&t);
    assert_int_equal(t.got.ack - t.ours, 400);
    if (!t.got.length)
        take(&t);
    assert_int_equal(t.got.length, 400);
    for (uint32_t i = 0; i < 400; i++)
        assert_int_equal(t.got_data[i], serving_pattern(i));
    close_talk(&t);
}

static void overlaps_and_what_exceeds_the_window_are_cut(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_SLOW);
    connect_talk(&t);
    in(&t, TCP_ACK, 0, 0, 400);
    in(&t, TCP_ACK, 200, 0, 1000);  // 200 old, 672 fit, the rest does not
    expect(&t, TCP_ACK, 0, WINDOW, 0);
    assert_int_equal(t.got.window, 0);
    in(&t, TCP_ACK, WINDOW, 0, 1);  // a probe of the closed window
    expect(&t, TCP_ACK, 0, WINDOW, 0);
    serving_read_on(t.serving, true);
    turn(&t);
    take(&t);  // the window opens, or data says so
    assert_in_range(t.got.window, MSS, WINDOW);
    close_talk(&t);
}

// RFC 5961 §3, 4 and 5: only an exact reset is believed; the rest is answered, but not more than twice a second.
static void blind_attacks_fail(void **state)
{
    (void)state;
    static const struct {
        uint8_t flags;
        uint32_t seq, ack;
        bool answered;
    } cases[] = {{TCP_RST, 1, 0, true},
                 {TCP_RST, WINDOW - 1, 0, true},
                 {TCP_RST, WINDOW, 0, false},
                 {TCP_RST, UINT32_MAX, 0, false},
                 {TCP_SYN, 0, 0, true},
                 {TCP_SYN, 100000, 0, true},
                 {TCP_SYN | TCP_ACK, 0, 0, true},
                 {TCP_ACK, 0, 1, true},
                 {TCP_ACK, 0, 0x80000000, true},
                 {TCP_ACK, 0, 0u - 9000, true},
                 {TCP_ACK, WINDOW, 0, true},
                 {TCP_ACK, UINT32_MAX, 0, true},
                 {0, 0, 0, false},
                 {TCP_ACK, 0, 0u - 100, false}};
    for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        struct talk t;
        open_talk(&t, SERVING_ECHO);
        connect_talk(&t);
        for (uint32_t times = 0; times < 20; times++)
            in(&t, cases[i].flags, cases[i].seq, cases[i].ack, 0);
        if (cases[i].answered)
            expect(&t, TCP_ACK, 0, 0, 0);
        expect_nothing(&t);
        pass(&t, 500000);
        in(&t, cases[i].flags, cases[i].seq, cases[i].ack, 0);
        if (cases[i].answered)
            expect(&t, TCP_ACK, 0, 0, 0);
        expect_nothing(&t);
        in(&t, TCP_ACK, 0, 0, 10);  // it lives
        expect(&t, TCP_ACK, 0, 10, 10);
        in(&t, TCP_RST, 10, 0, 0);
        expect_nothing(&t);
        assert_true(serving_idle(t.serving));
        close_talk(&t);
    }
}

static void the_peer_closes_first(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_ECHO);
    connect_talk(&t);
    in(&t, TCP_ACK | TCP_FIN, 0, 0, 10);
    take(&t);
    assert_int_equal(t.got.flags & ~TCP_PSH, TCP_ACK);
    assert_int_equal(t.got.ack - t.ours, 11);
    while (!(t.got.flags & TCP_FIN))
        take(&t);
    assert_int_equal(t.got.seq + t.got.length - t.theirs, 10);
    pass(&t, 700000);
    take(&t);
    assert_true(t.got.flags & TCP_FIN);  // again
    in(&t, TCP_ACK, 11, 11, 0);
    assert_true(serving_idle(t.serving));
    assert_int_equal(serving_done(t.serving), 1);
    close_talk(&t);
}

// A whole conversation, after which we are in TIME-WAIT. Returns how much we sent.
static uint32_t talk_to_time_wait(struct talk *t)
{
    uint32_t end = 0;
    open_talk(t, SERVING_SOURCE);
    connect_talk(t);
    do {
        take(t);
        end = t->got.seq - t->theirs + t->got.length;
        const bool last = t->got.flags & TCP_FIN;
        in(t, TCP_ACK, 0, end + last, 0);
    } while (!(t->got.flags & TCP_FIN));
    assert_int_equal(end, SERVING_SOURCE_BYTES);
    assert_false(serving_idle(t->serving));  // FIN-WAIT-2
    in(t, TCP_ACK | TCP_FIN, 0, end + 1, 0);
    expect(t, TCP_ACK, end + 1, 1, 0);
    assert_true(serving_idle(t->serving));
    return end;
}

// Segments that are not the peer's FIN are acknowledged, and do not keep the entry; the FIN again begins it anew (RFC
// 9293 §3.10.7.4).
static void only_the_fin_keeps_time_wait(void **state)
{
    (void)state;
    for (int again = 0; again < 2; again++) {
        struct talk t;
        const uint32_t end = talk_to_time_wait(&t);
        for (int i = 0; i < 5; i++) {
            pass(&t, 10000000);
            in(&t, TCP_ACK | TCP_FIN, 1000, end + 1, 0);
            expect(&t, TCP_ACK, end + 1, 1, 0);
            in(&t, TCP_ACK, (uint32_t)-500, end + 1, 100);
            expect(&t, TCP_ACK, end + 1, 1, 0);
        }
        if (again) {
            in(&t, TCP_ACK | TCP_FIN, 0, end + 1, 0);
            expect(&t, TCP_ACK, end + 1, 1, 0);
        }
        pass(&t, 11000000);
        in(&t, TCP_ACK, 1, end + 1, 10);
        take(&t);
        assert_int_equal(t.got.flags & TCP_RST, again ? 0 : TCP_RST);  // no connection any more, or still the entry
        pass(&t, 61000000);
        close_talk(&t);
    }
}

static void time_wait(void **state)
{
    (void)state;
    struct talk t;
    const uint32_t end = talk_to_time_wait(&t);
    in(&t, TCP_ACK | TCP_FIN, 0, end + 1, 0);  // our ACK was lost
    expect(&t, TCP_ACK, end + 1, 1, 0);
    in(&t, TCP_ACK, 1, end + 1, 0);
    expect_nothing(&t);
    in(&t, TCP_SYN, 0, 0, 0);  // no newer than what was received: an old duplicate
    expect(&t, TCP_ACK, end + 1, 1, 0);
    const uint32_t before = t.theirs + end;
    t.ours += 1000;
    handshake_begin(&t);  // RFC 1122 §4.2.2.13
    assert_true(seq_lt(before, t.theirs) || t.theirs != before);
    in(&t, TCP_RST, 0, 0, 0);
    pass(&t, 61000000);
    close_talk(&t);
}

// FIN-WAIT-2 that the peer never ends.
static void fin_wait_2_ends_by_itself(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_SOURCE);
    connect_talk(&t);
    do {
        take(&t);
        in(&t, TCP_ACK, 0, t.got.seq - t.theirs + t.got.length + (t.got.flags & TCP_FIN), 0);
    } while (!(t.got.flags & TCP_FIN));
    pass(&t, 59000000);
    assert_false(serving_idle(t.serving));
    pass(&t, 2000000);
    assert_true(serving_idle(t.serving));
    expect_nothing(&t);
    close_talk(&t);
}

#define CROWD 20u  // more than there are sockets

// The source sends all and closes; the peer acknowledges the data, and the FIN where it is asked to. Returns what
// follows the FIN.
static uint32_t be_closed(struct talk *t, bool fin_acked)
{
    do {
        take(t);
        in(t, TCP_ACK, 0, t->got.seq - t->theirs + t->got.length + (t->got.flags & TCP_FIN && fin_acked), 0);
    } while (!(t->got.flags & TCP_FIN));
    return t->got.seq - t->theirs + t->got.length + 1;
}

// Connections that the server has closed, and whose peers never send their FINs, hold no place against a
// newcomer.
static void who_never_sends_its_fin_keeps_nobody_out(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_SOURCE);
    uint32_t end = 0;
    for (uint16_t i = 0; i < CROWD; i++) {
        t.port = (uint16_t)(PEER_PORT + i);
        connect_talk(&t);
        end = be_closed(&t, true);
        pass(&t, 100000);
        expect_nothing(&t);
    }
    in(&t, TCP_ACK | TCP_FIN, 0, end, 0);
    expect(&t, TCP_ACK, end, 1, 0);
    t.port = (uint16_t)(t.port - 1);
    in(&t, TCP_ACK | TCP_FIN, 0, end, 0);  // of a connection that gave its place away
    expect(&t, TCP_RST, end, 0, 0);
    close_talk(&t);
}

// Who still has something to acknowledge stays.
static void who_owes_an_acknowledgement_keeps_its_place(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_SOURCE);
    uint16_t held = 0;
    for (connect_talk(&t); has_sent(&t); connect_talk(&t)) {
        be_closed(&t, false);
        t.port = (uint16_t)(PEER_PORT + ++held);
        assert_in_range(held, 1, CROWD);
    }
    close_talk(&t);
}

static void simultaneous_close(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_SOURCE);
    connect_talk(&t);
    do {
        take(&t);
        if (!(t.got.flags & TCP_FIN))
            in(&t, TCP_ACK, 0, t.got.seq - t.theirs + t.got.length, 0);
    } while (!(t.got.flags & TCP_FIN));
    const uint32_t end = t.got.seq - t.theirs + t.got.length;
    in(&t, TCP_ACK | TCP_FIN, 0, end, 0);  // crosses ours
    expect(&t, TCP_ACK, end + 1, 1, 0);
    assert_false(serving_idle(t.serving));
    in(&t, TCP_ACK, 1, end + 1, 0);
    assert_true(serving_idle(t.serving));
    close_talk(&t);
}

static void data_for_nobody_is_answered_with_a_reset(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_SOURCE);
    connect_talk(&t);
    do {
        take(&t);
        in(&t, TCP_ACK, 0, t.got.seq - t.theirs + t.got.length + (t.got.flags & TCP_FIN), 0);
    } while (!(t.got.flags & TCP_FIN));
    const uint32_t end = t.got.seq - t.theirs + 1 + t.got.length;
    in(&t, TCP_ACK, 0, end, 5);
    expect(&t, TCP_RST | TCP_ACK, end, 0, 0);
    assert_true(serving_idle(t.serving));
    close_talk(&t);
}

// Whatever a frame is cut to, or bit of it is turned, it does no harm: nothing is read that is not there, and the
// connection goes on.
static void damaged_frames_do_no_harm(void **state)
{
    (void)state;
    struct talk t;
    uint8_t bytes[200], damaged[200];
    open_talk(&t, SERVING_ECHO);
    connect_talk(&t);
    const uint32_t length = make(&t, bytes, TCP_ACK, 0, 0, 10);
    for (uint32_t cut = 0; cut < length; cut++) {
        raw_input(&t, bytes, cut);
        turn(&t);
        expect_nothing(&t);
    }
    for (uint32_t bit = 0; bit < length * 8; bit++) {  // no single bit escapes the sums
        if (!bit_is_summed(bit))
            continue;
        memcpy(damaged, bytes, length);
        damaged[bit / 8] ^= (uint8_t)(1u << bit % 8);
        raw_input(&t, damaged, length);
        turn(&t);
        expect_nothing(&t);
    }
    uint64_t random = 1;
    for (uint32_t i = 0; i < 20000; i++) {  // sums that are right again after the damage
        memcpy(damaged, bytes, length);
        for (uint32_t hits = 0; hits < 1 + i % 3; hits++) {
            random = random * 6364136223846793005u + 1442695040888963407u;
            damaged[14 + (random >> 33) % (length - 14)] = (uint8_t)(random >> 25);
        }
        sums_mend(damaged, bytes, length);
        raw_input(&t, damaged, length);
        t.now_us += 1000;
        turn(&t);
        t.count = t.seen = 0;
    }
    close_talk(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(syn_ack_offers_an_mss_and_nothing_else),
        cmocka_unit_test(initial_numbers),
        cmocka_unit_test(a_flood_of_syns_is_survived),
        cmocka_unit_test(no_connection_is_answered_with_a_reset),
        cmocka_unit_test(mss_of_the_peer),
        cmocka_unit_test(several_segments_are_in_flight),
        cmocka_unit_test(retransmission_backs_off),
        cmocka_unit_test(three_duplicates_retransmit),
        cmocka_unit_test(a_closed_window_is_probed),
        cmocka_unit_test(a_small_window_waits),
        cmocka_unit_test(an_acknowledgement_is_delayed_once),
        cmocka_unit_test(what_lies_beyond_a_hole_is_kept),
        cmocka_unit_test(overlaps_and_what_exceeds_the_window_are_cut),
        cmocka_unit_test(blind_attacks_fail),
        cmocka_unit_test(the_peer_closes_first),
        cmocka_unit_test(time_wait),
        cmocka_unit_test(only_the_fin_keeps_time_wait),
        cmocka_unit_test(fin_wait_2_ends_by_itself),
        cmocka_unit_test(who_never_sends_its_fin_keeps_nobody_out),
        cmocka_unit_test(who_owes_an_acknowledgement_keeps_its_place),
        cmocka_unit_test(simultaneous_close),
        cmocka_unit_test(data_for_nobody_is_answered_with_a_reset),
        cmocka_unit_test(damaged_frames_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
