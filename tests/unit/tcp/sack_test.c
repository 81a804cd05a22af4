// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// also without IPv4
// SACK, both ways (RFC 2018, 2883, 6675), and what a hostile peer may do with it.
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

#define MSS 1460u

static const struct tcp_fixture_options with_sack = {.sack = true};

static void sack_is_used_only_when_agreed(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_RECEIVED, &with_sack);
    assert_true(t.got.options.seen & TCP_SEEN_SACK_PERMITTED);
    tcp_fixture_close(&t);
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){0});
    peer_data(&t, 100, 10);
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    assert_int_equal(t.got.options.sack_count, 0);
    user_write(&t, 0, 3 * MSS);
    peer_drain(&t);
    peer_sack(&t, 0, 1, (uint32_t[]){MSS, 3 * MSS});
    assert_int_equal(tcp_fixture_conn(&t)->flow->flight->sacked, 0);
    tcp_fixture_close(&t);
}

static void the_newest_block_comes_first(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_sack);
    for (uint32_t i = 1; i <= 5; i++) {
        peer_data(&t, i * 200, 100);
        peer_expect(&t, TCP_ACK, 0, 0, 0);
        assert_int_equal(t.got.options.sack_count, i < 4 ? i : 4);
        assert_block(&t, 0, i * 200, i * 200 + 100);
    }
    peer_data(&t, 300, 100);  // joins the first two
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    assert_block(&t, 0, 200, 500);
    peer_data(&t, 0, 200);
    peer_expect(&t, TCP_ACK, 0, 500, 0);
    assert_block(&t, 0, 600, 700);
    peer_data(&t, 500, 600);
    peer_expect(&t, TCP_ACK, 0, 1100, 0);
    assert_int_equal(t.got.options.sack_count, 1);  // it overlapped what was there (RFC 2883 §4.2.2)
    assert_block(&t, 0, 600, 700);
    assert_int_equal(user_read(&t, 0, 5000), 1100);
    tcp_fixture_close(&t);
}

static const struct tcp_fixture_options with_timestamps = {.sack = true, .timestamps = true};

// Which of these runs the segment just taken tells of: a bit each.
static uint32_t told_of(const struct tcp_fixture *t, uint32_t count, const uint32_t *runs)
{
    uint32_t told = 0;
    for (uint32_t i = 0; i < t->got.options.sack_count; i++)
        for (uint32_t run = 0; run < count; run++)
            told |= (uint32_t)(t->got.options.sack[i].left - t->theirs == runs[run]) << run;
    return told;
}

// The ACKs that were sent tell of all these runs, which came in this order, and of none before an older one. Returns
// how many there are.
static uint32_t expect_told(struct tcp_fixture *t, uint32_t ack, uint32_t count, const uint32_t *runs)
{
    uint32_t told = 0, acks = 0;
    for (; peer_has_more(t); acks++) {
        peer_expect(t, TCP_ACK, 0, ack, 0);
        told |= told_of(t, count, runs);
        assert_int_equal(told & (told + 1), 0);
    }
    assert_int_equal(told, (1u << count) - 1);
    return acks;
}

// A batch that a driver hands over in one go: what one option has no room for is told by more ACKs, in the order in
// which it came: told late, it would look to the sender as if it had come late. The list grows meanwhile.
static void a_batch_with_many_holes_is_told_by_several(void **state)
{
    enum { RUNS = WEIR_CFG_ALLOCATOR ? 20 : 8 };
    uint32_t runs[RUNS];
    (void)state;
    for (int places = 0; places <= 1; places++) {  // the interface has: any number; one at a time
        struct tcp_fixture t;
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
        tcp_fixture_conn(&t)->rcv_mss = 100;
        batch_begin(&t);
        for (uint32_t i = 0; i < RUNS; i++) {
            runs[i] = 200 + 200 * ((i * 7) % RUNS);
            peer_data(&t, runs[i], 50);
            peer_data(&t, runs[i] + 50, 50);  // goes on: no run of its own
        }
        t.f.places = (uint32_t)places;
        batch_end(&t);
        assert_int_equal(expect_told(&t, 0, RUNS, runs), (RUNS + 2) / 3);
        assert_block(&t, 0, runs[RUNS - 1], runs[RUNS - 1] + 100);  // the last, the newest (RFC 2018 §4)
        peer_expect_nothing(&t);
        assert_int_equal(tcp_fixture_conn(&t)->flags & TCP_ACK_NOW, 0);
        tcp_fixture_close(&t);
    }
}

// More come while the interface has taken only some of the ACKs.
static void a_batch_may_grow_while_it_is_told(void **state)
{
    static const uint32_t runs[] = {1600, 200, 1200, 400, 800, 600, 1000};
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    batch_begin(&t);
    for (uint32_t i = 0; i < 5; i++)
        peer_data(&t, runs[i], 100);
    t.f.block_tx = false;
    t.f.places = 1;
    weir_tx_ready(&t.f.netif);
    weir_poll(t.weir, t.f.now_us);  // one leaves
    assert_int_equal(t.f.placed, 1);
    t.f.block_tx = true;
    for (uint32_t i = 5; i < 7; i++)
        peer_data(&t, runs[i], 100);
    t.f.placed = t.f.places = 0;
    batch_end(&t);
    assert_int_equal(expect_told(&t, 0, 7, runs), 3);
    tcp_fixture_close(&t);
}

// In every segment there is an ACK: after those that had to go before, data tells of the rest.
static void data_tells_of_a_batch_too(void **state)
{
    static const uint32_t runs[] = {1600, 200, 1200, 400, 800, 1000, 600};
    struct tcp_fixture t;
    uint32_t told = 0;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    batch_begin(&t);
    for (uint32_t i = 0; i < 7; i++)
        peer_data(&t, runs[i], 100);
    user_write(&t, 0, 100);
    batch_end(&t);
    for (uint32_t acks = 0; acks < 3; acks++) {
        peer_expect(&t, TCP_ACK, 0, 0, acks == 2 ? 100 : 0);
        told |= told_of(&t, 7, runs);
        assert_int_equal(told & (told + 1), 0);
    }
    assert_int_equal(told, (1u << 7) - 1);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// A duplicate in the batch has the first place of its ACK, and behind it stands what is held of it (RFC 2883 §4): the
// sender knows it by that. What came before has ACKs of its own.
static void a_duplicate_is_told_before_its_batch(void **state)
{
    static const uint32_t runs[] = {1800, 600, 1000, 1400, 200};  // some fill holes below what came before them
    struct tcp_fixture t;
    uint32_t told = 0;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    peer_data(&t, 2000, 100);
    peer_data(&t, 4000, 100);
    peer_drain(&t);
    batch_begin(&t);
    for (uint32_t i = 0; i < 5; i++)
        peer_data(&t, runs[i], 100);
    peer_data(&t, 2100, 100);  // goes on with what the duplicate is of
    peer_data(&t, 2020, 50);
    batch_end(&t);
    for (uint32_t acks = 0; acks < 2; acks++) {
        peer_take(&t);
        told |= told_of(&t, 5, runs);
        assert_int_equal(told, acks ? 31 : 7);
    }
    assert_block(&t, 0, 2000, 2200);
    peer_take(&t);
    assert_int_equal(t.got.options.sack_count, 3);
    assert_block(&t, 0, 2020, 2070);
    assert_block(&t, 1, 2000, 2200);
    assert_block(&t, 2, 200, 300);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);

    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    peer_data(&t, 0, 100);
    peer_drain(&t);
    batch_begin(&t);
    peer_data(&t, 0, 100);
    for (uint32_t i = 1; i <= 3; i++)
        peer_data(&t, i * 200, 100);
    batch_end(&t);
    peer_expect(&t, TCP_ACK, 0, 100, 0);
    assert_int_equal(t.got.options.sack_count, 2);
    assert_block(&t, 0, 0, 100);
    assert_block(&t, 1, 200, 300);
    peer_expect(&t, TCP_ACK, 0, 100, 0);
    assert_int_equal(t.got.options.sack_count, 3);
    assert_block(&t, 0, 600, 700);
    assert_block(&t, 1, 400, 500);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// What a run of an earlier batch goes on by is told with this batch, if it begins with it.
static void a_batch_may_begin_where_the_last_ended(void **state)
{
    static const uint32_t runs[] = {200, 500, 700, 900};
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    peer_data(&t, 200, 100);
    peer_drain(&t);
    batch_begin(&t);
    peer_data(&t, 300, 50);
    for (uint32_t i = 1; i < 4; i++)
        peer_data(&t, runs[i], 100);
    batch_end(&t);
    peer_take(&t);
    assert_int_equal(t.got.options.sack_count, 3);
    assert_block(&t, 2, 200, 350);
    t.seen--;
    assert_int_equal(expect_told(&t, 0, 4, runs), 2);
    tcp_fixture_close(&t);
}

// An older run may go on, too, if the one that came last has been acknowledged: which came last is then forgotten.
static void an_older_run_may_go_on(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    for (uint32_t i = 1; i <= 5; i++)
        peer_data(&t, 1000 * i, 100);
    peer_drain(&t);
    batch_begin(&t);
    peer_data(&t, 500, 100);
    peer_data(&t, 0, 500);
    peer_data(&t, 1100, 100);
    for (uint32_t i = 6; i <= 8; i++)
        peer_data(&t, 1000 * i, 100);
    batch_end(&t);
    assert_int_equal(expect_told(&t, 600, 4, (uint32_t[]){1000, 6000, 7000, 8000}), 2);
    t.seen -= 2;
    peer_take(&t);
    assert_block(&t, 2, 1000, 1200);
    tcp_fixture_close(&t);
}

// A peer that knows no SACK counts duplicate ACKs (RFC 5681 §3.2): it needs one for each segment.
static void without_sack_each_segment_is_answered(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (int agreed = 0; agreed <= 1; agreed++) {
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.sack = agreed});
        batch_begin(&t);
        for (uint32_t i = 1; i <= 4; i++)
            peer_data(&t, i * 100, 100);
        batch_end(&t);
        for (int i = agreed ? 3 : 0; i < 4; i++) {
            peer_expect(&t, TCP_ACK, 0, 0, 0);
            assert_int_equal(t.got.options.sack_count, agreed);
        }
        peer_expect_nothing(&t);
        tcp_fixture_close(&t);
    }
}

// A batch brings a run, fills the hole below it, and brings six more: of the first there is nothing to tell any more.
static void a_run_that_is_filled_in_its_batch_is_not_told(void **state)
{
    static const uint32_t runs[] = {400, 600, 800, 1000, 1200, 1400};
    (void)state;
    for (int far = 0; far <= 1; far++) {  // the first run is the only one there is; or not
        struct tcp_fixture t;
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
        if (far) {
            peer_data(&t, 5000, 100);
            peer_drain(&t);
        }
        batch_begin(&t);
        peer_data(&t, 100, 100);
        peer_data(&t, 0, 100);
        for (uint32_t i = 0; i < 6; i++)
            peer_data(&t, runs[i], 100);
        batch_end(&t);
        assert_int_equal(expect_told(&t, 200, 6, runs), 2 + far);
        tcp_fixture_close(&t);
    }
}

// What was acknowledged later is not told with what came first: whoever sent it would take for lost what left before
// it, and is told last.
static void a_hole_that_is_filled_late_is_acknowledged_late(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    batch_begin(&t);
    for (uint32_t i = 1; i <= 5; i++)
        peer_data(&t, 200 * i, 100);
    peer_data(&t, 0, 200);
    batch_end(&t);
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    assert_int_equal(t.got.options.sack_count, 3);
    assert_block(&t, 0, 600, 700);
    peer_expect(&t, TCP_ACK, 0, 300, 0);
    assert_int_equal(t.got.options.sack_count, 3);
    assert_block(&t, 0, 1000, 1100);
    assert_block(&t, 1, 800, 900);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

#if WEIR_CFG_TCP_COARSE_CLOCK
// Under a clock coarser than the delay of an acknowledgement as many are not delayed after a hole as at the beginning.
static void after_a_hole_a_coarse_clock_delays_nothing(void **state)
{
    (void)state;
    for (uint32_t coarse = 0; coarse <= 1; coarse++) {
        struct tcp_fixture t;
        uint32_t at_once = 0;
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
        tcp_fixture_conn(&t)->quick_acks = 0;
        t.f.port.granularity_us = coarse ? 100000 : 10000;
        peer_data(&t, 100, 100);
        peer_data(&t, 0, 100);
        peer_drain(&t);
        for (uint32_t at = 200; at < 4200; at += 100) {
            peer_data(&t, at, 100);
            at_once += peer_drain_count(&t);
        }
        assert_int_equal(at_once >= 14, coarse);
        assert_true(at_once >= 2);
        tcp_fixture_close(&t);
    }
}

#endif
// Where the outbox has no room either, one ACK tells what it can.
static void without_room_for_acks_one_is_sent(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    const uint32_t room = t.weir->ip.outbox.limit;
    t.weir->ip.outbox.limit = 0;
    batch_begin(&t);
    for (uint32_t i = 1; i <= 7; i++)
        peer_data(&t, 200 * i, 100);
    t.weir->ip.outbox.limit = room;
    batch_end(&t);
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    assert_int_equal(t.got.options.sack_count, 3);
    assert_block(&t, 0, 1400, 1500);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// A FIN beyond a hole is held, too: the block of the data before it tells so, as the sender will then not repeat it,
// and know that what it sent earlier is lost.
static void a_fin_behind_a_run_is_told(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_sack);
    peer_data(&t, 200, 100);
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    assert_block(&t, 0, 200, 300);
    peer_send(&t, TCP_ACK | TCP_FIN, 300, 0);
    peer_expect(&t, TCP_ACK, 0, 0, 0);
    assert_block(&t, 0, 200, 301);
    peer_data(&t, 0, 200);
    peer_expect(&t, TCP_ACK, 0, 301, 0);
    assert_int_equal(t.got.options.sack_count, 0);
    tcp_fixture_close(&t);
}

static void timestamps_leave_room_for_three(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_timestamps);
    for (uint32_t i = 1; i <= 5; i++)
        peer_data(&t, i * 200, 100);
    peer_drain(&t);
    assert_int_equal(t.got.options.sack_count, 3);
    assert_true(t.got.options.seen & TCP_SEEN_TIMESTAMPS);
    tcp_fixture_close(&t);
}

static void only_the_holes_are_sent_again(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_sack);
    user_write(&t, 0, 10 * MSS);
    assert_int_equal(peer_drain_count(&t), 10);
    // 0 and 3 are lost. Three segments' worth above 0 make it so.
    peer_sack(&t, 0, 1, (uint32_t[]){MSS, 2 * MSS});
    peer_sack(&t, 0, 1, (uint32_t[]){MSS, 3 * MSS});
    peer_expect_nothing(&t);
    peer_sack(&t, 0, 2, (uint32_t[]){4 * MSS, 5 * MSS, MSS, 3 * MSS});
    peer_expect(&t, TCP_ACK, 0, 0, MSS);
    peer_sack(&t, 0, 2, (uint32_t[]){4 * MSS, 6 * MSS, MSS, 3 * MSS});
    peer_sack(&t, 0, 2, (uint32_t[]){4 * MSS, 7 * MSS, MSS, 3 * MSS});
    peer_sack(&t, 0, 2, (uint32_t[]){4 * MSS, 10 * MSS, MSS, 3 * MSS});
    peer_expect(&t, TCP_ACK, 3 * MSS, 0, MSS);
    peer_expect_nothing(&t);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_RETRANSMITTED), 2);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_FAST_RECOVERY), 1);
    peer_send(&t, TCP_ACK, 0, 10 * MSS);
    assert_int_equal(conn_snapshot(&t).send_queue, 0);
    tcp_fixture_close(&t);
}

// Segments too small for "more than two segments' bytes above": three duplicates decide (RFC 6675 §5, (1)).
static void small_segments_recover_too(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_sack);
    assert_int_equal(weir_socket_set(t.weir, t.socket, WEIR_OPTION_NO_DELAY, 1), WEIR_OK);
    for (uint32_t i = 0; i < 5; i++)
        user_write(&t, i * 100, 100);
    assert_int_equal(peer_drain_count(&t), 5);
    peer_sack(&t, 0, 1, (uint32_t[]){100, 200});
    peer_sack(&t, 0, 1, (uint32_t[]){100, 300});
    peer_expect_nothing(&t);
    peer_sack(&t, 0, 1, (uint32_t[]){100, 400});
    peer_expect(&t, TCP_ACK, 0, 0, 100);
    tcp_fixture_close(&t);
}

static void after_a_timeout_what_is_sacked_is_not_sent(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_sack);
    user_write(&t, 0, 4 * MSS);
    peer_drain(&t);
    peer_sack(&t, 0, 1, (uint32_t[]){MSS, 2 * MSS});
    peer_pass(&t, 300000);
    peer_expect(&t, TCP_ACK, 0, 0, MSS);  // by RACK's timer
    peer_expect(&t, TCP_ACK, 0, 0, MSS);  // by the RTO
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_RTO), 1);
    peer_send(&t, TCP_ACK, 0, 2 * MSS);
    peer_expect(&t, TCP_ACK, 2 * MSS, 0, MSS);
    tcp_fixture_close(&t);
}

// RFC 2018 §8: a peer may throw away what it SACKed; the data is kept until it is acknowledged, and sent again after a
// timeout.
static void a_peer_may_renege(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_sack);
    user_write(&t, 0, 3 * MSS);
    peer_drain(&t);
    peer_sack(&t, 0, 1, (uint32_t[]){MSS, 3 * MSS});
    peer_drain(&t);
    peer_send(&t, TCP_ACK, 0, MSS);  // and has forgotten the rest
    peer_drain(&t);
    for (uint32_t i = 1; i < 3; i++) {
        peer_pass(&t, 3000000);
        assert_true(peer_has_more(&t));
        while (peer_has_more(&t)) {
            peer_take(&t);
            assert_int_equal(t.got_seq, i * MSS);
        }
        peer_send(&t, TCP_ACK, 0, (i + 1) * MSS);
        if (i == 1 && peer_has_more(&t)) {
            peer_send(&t, TCP_ACK, 0, 3 * MSS);
            break;
        }
    }
    assert_int_equal(conn_snapshot(&t).send_queue, 0);
    tcp_fixture_close(&t);
}

// SACK Panic (CVE-2019-11477, -11478, -11479): tiny segments, every other one SACKed, and blocks that lie.
static void a_hostile_scoreboard_is_bounded(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (int mss = 8; mss <= 48; mss += 40) {
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED,
                          &(struct tcp_fixture_options){.sack = true, .mss = (uint16_t)mss, .send_buffer = 60000});
        assert_int_equal(tcp_fixture_conn(&t)->mss, 48);
        uint32_t written = 0, acked = 0;
        for (int i = 0; i < 60; i++) {  // opens the congestion window
            uint8_t bytes[4000] = {0};
            const int got = weir_socket_write(t.weir, t.socket, bytes, sizeof bytes);
            written += got > 0 ? (uint32_t)got : 0;
            fixture_poll(&t.f, 0);
            peer_drain(&t);
            acked = tcp_fixture_conn(&t)->snd.nxt - t.ours;
            peer_send(&t, TCP_ACK, 0, acked);
        }
        assert_true(weir_socket_write(t.weir, t.socket, (uint8_t[40000]){0}, 40000) > 20000);
        fixture_poll(&t.f, 0);
        peer_drain(&t);
        const uint32_t nxt = tcp_fixture_conn(&t)->snd.nxt - t.ours;
        assert_true(nxt - acked > 100 * 48);
        for (uint32_t at = acked + 48; at + 48 < nxt; at += 96)
            peer_sack(&t, acked, 1, (uint32_t[]){at, at + 48});
        const uint32_t sacked = tcp_fixture_conn(&t)->flow->flight->sacked;
        assert_true(sacked > 0 && sacked < nxt - acked);
        const uint32_t end = tcp_fixture_conn(&t)->snd.nxt - t.ours;
        const uint32_t lies[][2] = {
            {acked - 10, acked},      {acked - 100, acked - 50},        {end, end + 48},
            {end - 48, end + 100000}, {acked + 200, acked + 200},       {acked + 300, acked + 100},
            {0x80000000, 0x7fffffff}, {acked + 0x80000000u, acked + 48}};
        for (size_t i = 0; i < sizeof lies / sizeof lies[0]; i++)
            peer_sack(&t, acked, 1, lies[i]);
        assert_int_equal(tcp_fixture_conn(&t)->flow->flight->sacked, sacked);
        assert_state(&t, WEIR_TCP_ESTABLISHED);
        assert_true(weir_memory_used(t.weir) < 400000);
        peer_send(&t, TCP_ACK, 0, tcp_fixture_conn(&t)->snd.nxt - t.ours);
        assert_true(written > acked);
        tcp_fixture_close(&t);
    }
}

// What the peer holds beyond a hole stays queued, but takes no window: a user held back by it could not fill the path.
static void sacked_bytes_leave_room_in_the_send_queue(void **state)
{
    struct tcp_fixture t;
    static const uint8_t bytes[65536];
    (void)state;
    if (!WEIR_CFG_ALLOCATOR)
        skip();
    const struct tcp_fixture_options options = {.sack = true, .scale = true, .peer_scale = 7, .send_buffer = 1 << 20};
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &options);
    while (weir_socket_write(t.weir, t.socket, bytes, sizeof bytes) > 0)
        continue;
    fixture_poll(&t.f, 0);
    peer_drain(&t);
    assert_int_equal(weir_socket_write(t.weir, t.socket, bytes, 1), WEIR_AGAIN);
    uint32_t events;
    while (weir_ready_next(t.weir, &events))
        continue;
    peer_sack(&t, 0, 1, (uint32_t[]){MSS, 3 * MSS});
    assert_int_equal(weir_ready_next(t.weir, &events), t.socket);
    assert_true(events & WEIR_WRITABLE);
    assert_int_equal(weir_socket_write(t.weir, t.socket, bytes, sizeof bytes), 2 * MSS);
    tcp_fixture_close(&t);
}

// One ACK with one block, half the sequence space beyond what is outstanding, once took the stack down where nothing
// was: by signed differences 2^31 is both after SND.UNA and not after SND.NXT (docs/security.md).
static void a_block_half_the_space_away_counts_for_nothing(void **state)
{
    static const uint32_t beyond[] = {0x7fffffff, 0x80000000, 0x80000001};
    (void)state;
    for (uint32_t outstanding = 0; outstanding <= 2 * MSS; outstanding += MSS) {
        for (uint32_t i = 0; i < 3; i++) {
            struct tcp_fixture t;
            tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_sack);
            user_write(&t, 0, MSS);
            peer_drain(&t);
            peer_send(&t, TCP_ACK, 0, MSS);  // the log has been used
            if (outstanding)
                user_write(&t, MSS, outstanding);
            peer_drain(&t);
            const struct conn_snapshot before = conn_snapshot(&t);
            for (uint32_t width = 1; width <= MSS; width += MSS - 1)
                peer_sack(&t, MSS, 1, (uint32_t[]){MSS + beyond[i] - width, MSS + beyond[i]});
            peer_expect_nothing(&t);
            assert_unchanged(&t, &before);
            assert_int_equal(tcp_fixture_conn(&t)->flow->flight->sacked, 0);
            assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_INSANE), 0);
            tcp_fixture_close(&t);
        }
    }
}

// Were the connection's own numbers to contradict each other all the same, it ends, is counted, and nothing is read by
// them.
static void a_connection_that_contradicts_itself_is_dropped(void **state)
{
    (void)state;
    for (int what = 0; what < 3; what++) {
        struct tcp_fixture t;
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_sack);
        user_write(&t, 0, 2 * MSS);
        peer_drain(&t);
        struct tcp_conn *c = tcp_fixture_conn(&t);
        if (what == 0) {
            c->flow->flight->lost = 5 * MSS;  // more than is outstanding
        } else if (what == 1) {
            c->snd.nxt += 3 * MSS;  // what was never queued
        } else {
            c->flow->flight->sacked = 5 * MSS;
        }
        peer_sack(&t, 0, 1, (uint32_t[]){MSS, MSS + 100});
        assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_INSANE), 1);
        peer_expect(&t, TCP_RST | TCP_ACK, what == 1 ? 5 * MSS : 2 * MSS, 0, 0);
        peer_expect_nothing(&t);
        assert_int_equal(user_error(&t), WEIR_ABORTED);
        tcp_fixture_close(&t);
    }
}

// No payload is taken from beyond what is queued either, when it is a timer that asks for it.
static void nothing_is_read_beyond_what_is_queued(void **state)
{
    struct tcp_fixture t;
    (void)state;
    if (WEIR_CFG_SELF_CHECK)
        skip();  // it would end the program
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &with_sack);
    user_write(&t, 0, 2 * MSS);
    peer_drain(&t);
    tcp_fixture_conn(&t)->snd.una -= MSS;  // the log's first record lies beyond the data, as it seems now
    for (uint32_t i = 0; i < 20 && !fixture_count(&t.f, WEIR_COUNT_TCP_INSANE); i++)
        peer_pass(&t, 500000);
    assert_int_equal(fixture_count(&t.f, WEIR_COUNT_TCP_INSANE), 1);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sack_is_used_only_when_agreed),
        cmocka_unit_test(the_newest_block_comes_first),
        cmocka_unit_test(a_batch_with_many_holes_is_told_by_several),
        cmocka_unit_test(a_batch_may_grow_while_it_is_told),
        cmocka_unit_test(data_tells_of_a_batch_too),
        cmocka_unit_test(a_duplicate_is_told_before_its_batch),
        cmocka_unit_test(a_batch_may_begin_where_the_last_ended),
        cmocka_unit_test(an_older_run_may_go_on),
        cmocka_unit_test(without_sack_each_segment_is_answered),
        cmocka_unit_test(a_run_that_is_filled_in_its_batch_is_not_told),
        cmocka_unit_test(a_hole_that_is_filled_late_is_acknowledged_late),
#if WEIR_CFG_TCP_COARSE_CLOCK
        cmocka_unit_test(after_a_hole_a_coarse_clock_delays_nothing),
#endif
        cmocka_unit_test(without_room_for_acks_one_is_sent),
        cmocka_unit_test(a_fin_behind_a_run_is_told),
        cmocka_unit_test(timestamps_leave_room_for_three),
        cmocka_unit_test(only_the_holes_are_sent_again),
        cmocka_unit_test(small_segments_recover_too),
        cmocka_unit_test(after_a_timeout_what_is_sacked_is_not_sent),
        cmocka_unit_test(a_peer_may_renege),
        cmocka_unit_test(a_hostile_scoreboard_is_bounded),
        cmocka_unit_test(sacked_bytes_leave_room_in_the_send_queue),
        cmocka_unit_test(a_block_half_the_space_away_counts_for_nothing),
        cmocka_unit_test(a_connection_that_contradicts_itself_is_dropped),
        cmocka_unit_test(nothing_is_read_beyond_what_is_queued),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
