// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// Real-time streams on the wire: what leaves when a frame is read, skipped, late; what comes back; what a peer may try.
// profiles: small
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"
#include "weir/realtime.h"

#define FRAME 1000u
#define PERIOD 250000u
#define MS 1000u

static const struct tcp_fixture_options plain = {.receive_buffer = 2 * FRAME},
                                        with_sack = {.receive_buffer = 2 * FRAME, .sack = true};

static struct weir_realtime_frame about;
static uint8_t bytes[FRAME];

// A connection with a mode; frame 0 is due in `first_ms`.
static void begin(struct tcp_fixture *t, enum weir_realtime_mode mode, const struct tcp_fixture_options *options,
                  uint32_t first_ms)
{
    struct weir_realtime settings = {.mode = mode, .frame_bytes = FRAME, .period_us = PERIOD};
    tcp_fixture_bring(t, WEIR_TCP_ESTABLISHED, options);
    settings.first_us = weir_now_us(t->weir) + first_ms * MS;
    tcp_fixture_conn(t)->quick_acks = 0;
    assert_int_equal(weir_realtime_set(t->weir, t->socket, &settings), WEIR_OK);
}

static int read_frame(struct tcp_fixture *t)
{
    memset(bytes, 0xee, sizeof bytes);
    const int got = weir_realtime_read(t->weir, t->socket, bytes, sizeof bytes, &about);
    fixture_poll(&t->f, 0);
    return got;
}

static void assert_frame(uint32_t number)
{
    assert_int_equal(about.number, number);
    for (uint32_t i = 0; i < FRAME; i++)
        assert_int_equal(bytes[i], peer_pattern(number * FRAME + i));
}

static struct weir_realtime_stats stats_of(struct tcp_fixture *t)
{
    struct weir_realtime_stats stats;
    assert_int_equal(weir_realtime_stats(t->weir, t->socket, &stats), WEIR_OK);
    return stats;
}

static uint16_t window(const struct tcp_fixture *t) { return t->got.window; }

// --- the work's ------------------------------------------------------------------------------------------------------

// What fills the buffer, two frames, closes the window.
static void fill(struct tcp_fixture *t, uint32_t from)
{
    peer_data(t, from, FRAME);
    peer_data(t, from + FRAME, FRAME);
    peer_drain(t);
    peer_pass(t, 60 * MS);
    peer_drain(t);
}

static void a_read_opens_the_window_silently(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_SKIP, &plain, 0);
    fill(&t, 0);
    assert_int_equal(read_frame(&t), FRAME);
    assert_frame(0);
    assert_int_equal(read_frame(&t), FRAME);
    assert_frame(1);
    peer_expect_nothing(&t);
    assert_int_equal(stats_of(&t).met, 2);
    tcp_fixture_close(&t);
}

static void a_gracious_read_tells_so(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_SKIP_UPDATE, &plain, 0);
    fill(&t, 0);
    assert_int_equal(read_frame(&t), FRAME);
    peer_expect(&t, TCP_ACK, 0, 2 * FRAME, 0);
    assert_int_equal(window(&t), FRAME);
    assert_int_equal(read_frame(&t), FRAME);
    peer_expect(&t, TCP_ACK, 0, 2 * FRAME, 0);
    assert_int_equal(window(&t), 2 * FRAME);
    assert_int_equal(stats_of(&t).updates[WEIR_REALTIME_EVERY_READ], 2);
    tcp_fixture_close(&t);
}

// Figure 2 of the work: the frame that is not there is acknowledged as if it were, and the next comes.
static void a_missing_frame_is_acknowledged(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_SKIP, &plain, 0);
    peer_data(&t, 0, 400);
    peer_drain(&t);
    assert_int_equal(read_frame(&t), WEIR_SKIPPED);
    assert_int_equal(about.missing, 600);
    peer_expect(&t, TCP_ACK, 0, FRAME, 0);
    assert_int_equal(window(&t), 2 * FRAME);
    peer_data(&t, 400, 600);  // it comes after all: old
    peer_expect(&t, TCP_ACK, 0, FRAME, 0);
    peer_data(&t, FRAME, FRAME);
    peer_drain(&t);
    assert_int_equal(read_frame(&t), FRAME);
    assert_frame(1);
    const struct weir_realtime_stats stats = stats_of(&t);
    assert_int_equal(stats.skipped, 1);
    assert_int_equal(stats.bytes_skipped, 600);
    tcp_fixture_close(&t);
}

// Figure 3: the sender has not sent it yet, and says so.
static void the_special_ack_takes_it_back(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_SKIP, &plain, 0);
    fill(&t, 0);
    read_frame(&t);
    read_frame(&t);
    assert_int_equal(read_frame(&t), WEIR_SKIPPED);
    peer_expect(&t, TCP_ACK, 0, 3 * FRAME, 0);
    assert_int_equal(read_frame(&t), WEIR_SKIPPED);
    peer_expect(&t, TCP_ACK, 0, 4 * FRAME, 0);
    peer_send(&t, TCP_ACK, 2 * FRAME, 0);
    peer_expect(&t, TCP_ACK, 0, 2 * FRAME, 0);
    assert_int_equal(window(&t), 2 * FRAME);
    assert_int_equal(stats_of(&t).backtracked, 2);
    peer_data(&t, 2 * FRAME, FRAME);
    peer_drain(&t);
    assert_int_equal(read_frame(&t), FRAME);
    assert_frame(2);
    tcp_fixture_close(&t);
}

// A FIN tells so as well, with data or without: taken for an old segment it would leave the stream without an end.
static void a_fin_takes_it_back(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (uint32_t length = 0; length <= FRAME; length += FRAME) {
        begin(&t, WEIR_REALTIME_SKIP, &plain, 0);
        peer_data(&t, 0, FRAME);
        assert_int_equal(read_frame(&t), FRAME);
        for (uint32_t i = 0; i < 3; i++)
            assert_int_equal(read_frame(&t), WEIR_SKIPPED);
        peer_drain(&t);
        assert_int_equal(tcp_fixture_conn(&t)->rcv.nxt - t.theirs, 4 * FRAME);
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_FIN | TCP_ACK, .seq = FRAME, .length = (uint16_t)length});
        assert_state(&t, WEIR_TCP_CLOSE_WAIT);
        peer_expect(&t, TCP_ACK, 0, FRAME + length + 1, 0);
        assert_int_equal(read_frame(&t), 0);
        peer_drain(&t);
        tcp_fixture_close(&t);
    }
}

// An old ACK, or one that a stranger made, must not lead back behind data that came.
static void an_old_number_is_no_special_ack(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_SKIP, &plain, 0);
    peer_data(&t, 0, 1500);
    peer_drain(&t);
    read_frame(&t);
    assert_int_equal(read_frame(&t), WEIR_SKIPPED);
    peer_expect(&t, TCP_ACK, 0, 2 * FRAME, 0);
    peer_send(&t, TCP_ACK, 1400, 0);
    assert_int_equal(tcp_fixture_conn(&t)->rcv.nxt - t.theirs, 2 * FRAME);
    peer_send(&t, TCP_RST | TCP_ACK, 1500, 0);
    assert_state(&t, WEIR_TCP_ESTABLISHED);
    assert_int_equal(tcp_fixture_conn(&t)->rcv.nxt - t.theirs, 2 * FRAME);
    assert_int_equal(stats_of(&t).backtracked, 0);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

// Regular TCP with a clock: what is late is waited for, and everything after it is late too.
static void a_regular_reader_never_catches_up(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_REGULAR, &plain, 100);
    assert_int_equal(read_frame(&t), WEIR_AGAIN);
    peer_pass(&t, 101 * MS);
    assert_int_equal(read_frame(&t), WEIR_AGAIN);
    peer_data(&t, 0, FRAME);
    assert_int_equal(read_frame(&t), FRAME);
    assert_true(about.late);
    peer_pass(&t, 500 * MS);
    peer_data(&t, FRAME, FRAME);
    assert_int_equal(read_frame(&t), FRAME);
    assert_true(about.late);
    assert_int_equal(stats_of(&t).late, 2);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

// --- Weir's ----------------------------------------------------------------------------------------------------------

static void before_the_deadline_there_is_time(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_WEIR, &plain, 100);
    assert_int_equal(read_frame(&t), WEIR_AGAIN);
    assert_int_equal(about.deadline_us, weir_now_us(t.weir) + 100 * MS);
    assert_false(weir_socket_ready(t.weir, t.socket) & WEIR_READABLE);
    peer_data(&t, 0, FRAME - 1);
    assert_false(weir_socket_ready(t.weir, t.socket) & WEIR_READABLE);
    peer_data(&t, FRAME - 1, 1);
    assert_true(weir_socket_ready(t.weir, t.socket) & WEIR_READABLE);
    assert_int_equal(read_frame(&t), FRAME);
    assert_frame(0);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

// The poll's own deadline brings a sleeping reader back in time.
static void the_deadline_wakes_the_reader(void **state)
{
    struct tcp_fixture t;
    uint32_t events;
    (void)state;
    begin(&t, WEIR_REALTIME_WEIR, &plain, 100);
    while (weir_ready_next(t.weir, &events))
        ;
    peer_pass(&t, 99 * MS);
    assert_int_equal(weir_ready_next(t.weir, &events), 0);
    peer_pass(&t, 2 * MS);
    assert_int_equal(weir_ready_next(t.weir, &events), t.socket);
    assert_true(events & WEIR_READABLE);
    assert_int_equal(read_frame(&t), WEIR_SKIPPED);
    assert_true(about.late);
    assert_int_equal(read_frame(&t), WEIR_AGAIN);
    assert_int_equal(about.number, 1);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

// Without a period a frame has the deadline that it was told, and without that none.
static void a_deadline_may_be_told_for_each_frame(void **state)
{
    const struct weir_realtime settings = {.mode = WEIR_REALTIME_WEIR, .frame_bytes = FRAME};
    struct tcp_fixture t;
    uint32_t events;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_int_equal(weir_realtime_deadline(t.weir, t.socket, weir_now_us(t.weir)), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_realtime_next(t.weir, t.socket, &about), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_realtime_set(t.weir, t.socket, &settings), WEIR_OK);
    while (weir_ready_next(t.weir, &events))
        ;
    peer_pass(&t, 1000 * MS);
    assert_int_equal(read_frame(&t), WEIR_AGAIN);
    assert_int_equal(about.deadline_us, 0);
    const uint64_t due_us = weir_now_us(t.weir) + 70 * MS;
    assert_int_equal(weir_realtime_deadline(t.weir, t.socket, due_us), WEIR_OK);
    peer_pass(&t, 69 * MS);
    assert_int_equal(weir_realtime_next(t.weir, t.socket, &about), WEIR_AGAIN);
    assert_true(about.deadline_us == due_us);
    assert_int_equal(weir_ready_next(t.weir, &events), 0);
    peer_pass(&t, 3 * MS);
    assert_int_equal(weir_ready_next(t.weir, &events), t.socket);
    assert_int_equal(weir_realtime_next(t.weir, t.socket, &about), WEIR_SKIPPED);
    assert_int_equal(stats_of(&t).skipped, 0);  // it only told
    assert_int_equal(read_frame(&t), WEIR_SKIPPED);
    peer_pass(&t, 1000 * MS);
    assert_int_equal(read_frame(&t), WEIR_AGAIN);
    assert_int_equal(about.number, 1);
    assert_int_equal(about.deadline_us, 0);
    assert_int_equal(weir_realtime_deadline(t.weir, t.socket, weir_now_us(t.weir) + 100 * MS), WEIR_OK);
    peer_drain(&t);
    peer_data(&t, 0, FRAME);
    peer_data(&t, FRAME, FRAME);
    assert_int_equal(read_frame(&t), FRAME);
    assert_frame(1);
    assert_int_equal(stats_of(&t).met, 1);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

// Nothing after it proves that it was sent: the number stays, however long ago its deadline was.
static void what_nothing_proves_is_not_acknowledged(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_WEIR, &with_sack, 100);
    peer_pass(&t, 400 * MS);
    assert_int_equal(read_frame(&t), WEIR_SKIPPED);
    assert_int_equal(read_frame(&t), WEIR_SKIPPED);
    peer_pass(&t, 1000 * MS);
    assert_int_equal(tcp_fixture_conn(&t)->rcv.nxt, t.theirs);
    peer_drain(&t);
    peer_data(&t, 0, 1200);
    peer_pass(&t, 60 * MS);
    peer_take(&t);
    while (peer_has_more(&t))
        peer_take(&t);
    assert_int_equal(t.got_ack, 1200);
    tcp_fixture_close(&t);
}

// A frame behind a hole is handed out; the hole is acknowledged away at its deadline, when it has been seen for a round
// trip.
static void a_hole_is_kept_for_a_round_trip(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_WEIR, &with_sack, 100);
    tcp_fixture_conn(&t)->rtt.srtt8_us = 40 * MS * 8;
    peer_pass(&t, 90 * MS);
    peer_data(&t, FRAME, FRAME);
    peer_drain(&t);
    peer_pass(&t, 10 * MS);
    assert_int_equal(read_frame(&t), WEIR_SKIPPED);  // 10 ms after it was seen
    assert_int_equal(read_frame(&t), FRAME);
    assert_frame(1);
    assert_true(about.out_of_order);
    assert_int_equal(tcp_fixture_conn(&t)->rcv.nxt, t.theirs);
    peer_drain(&t);
    peer_pass(&t, 29 * MS);
    assert_int_equal(tcp_fixture_conn(&t)->rcv.nxt, t.theirs);
    peer_drain(&t);
    peer_pass(&t, 2 * MS);
    peer_expect(&t, TCP_ACK, 0, 2 * FRAME, 0);
    assert_int_equal(window(&t), 2 * FRAME);
    assert_int_equal(t.got.options.sack_count, 0);
    const struct weir_realtime_stats stats = stats_of(&t);
    assert_int_equal(stats.out_of_order, 1);
    assert_int_equal(stats.bytes_skipped, FRAME);
    assert_int_equal(stats.updates[WEIR_REALTIME_SKIP_TOLD], 2);  // twice, for the same reason
    tcp_fixture_close(&t);
}

static void a_hole_that_is_filled_in_time_is_none(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_WEIR, &with_sack, 100);
    peer_data(&t, 500, FRAME);
    peer_data(&t, 0, 600);  // overlaps
    peer_pass(&t, 100 * MS);
    assert_int_equal(read_frame(&t), FRAME);
    assert_frame(0);
    peer_data(&t, 1500, 500);
    assert_int_equal(read_frame(&t), FRAME);
    assert_frame(1);
    assert_int_equal(stats_of(&t).met, 2);
    assert_int_equal(stats_of(&t).bytes_skipped, 0);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

// What comes for a frame that was given up is dropped, and what stands behind it stays in its place.
static void a_late_filling_leaves_the_rest_in_place(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_WEIR, &with_sack, 100);
    tcp_fixture_conn(&t)->rtt.srtt8_us = 100 * MS * 8;
    peer_data(&t, 0, 300);
    peer_pass(&t, 90 * MS);
    peer_data(&t, 600, 900);
    peer_pass(&t, 10 * MS);
    assert_int_equal(read_frame(&t), WEIR_SKIPPED);
    assert_int_equal(about.missing, 300);
    assert_int_equal(about.piece[0].offset, 300);
    peer_data(&t, 300, 300);
    assert_int_equal(tcp_fixture_conn(&t)->rcv.nxt - t.theirs, 1500);
    assert_int_equal(tcp_receive_queued(tcp_fixture_conn(&t)), 500);
    peer_data(&t, 1500, 500);
    assert_int_equal(read_frame(&t), FRAME);
    assert_frame(1);
    assert_int_equal(stats_of(&t).filled, 1);
    assert_int_equal(stats_of(&t).bytes_skipped, 0);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

static void part_of_a_frame_on_request(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_WEIR, &with_sack, 100);
    const struct weir_realtime settings = {
        .mode = WEIR_REALTIME_WEIR, .frame_bytes = FRAME, .first_us = weir_now_us(t.weir) + 100 * MS, .partial = true};
    assert_int_equal(weir_realtime_set(t.weir, t.socket, &settings), WEIR_OK);
    peer_data(&t, 0, 200);
    peer_data(&t, 300, 400);
    peer_pass(&t, 101 * MS);
    assert_int_equal(read_frame(&t), FRAME);
    assert_int_equal(about.missing, 400);
    assert_int_equal(about.pieces, 2);
    assert_int_equal(about.piece[0].offset, 200);
    assert_int_equal(about.piece[0].bytes, 100);
    assert_int_equal(about.piece[1].offset, 700);
    assert_int_equal(about.piece[1].bytes, 300);
    for (uint32_t i = 0; i < FRAME; i++)
        assert_int_equal(bytes[i], i < 200 || (i >= 300 && i < 700) ? peer_pattern(i) : 0);
    assert_int_equal(stats_of(&t).partial, 1);
    assert_int_equal(stats_of(&t).skipped, 1);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

// The last frame is as long as the stream, and then there is its end; also behind a hole.
static void the_end_of_the_stream(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_WEIR, &with_sack, 100);
    peer_data(&t, 0, FRAME);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_FIN | TCP_ACK, .seq = FRAME + 100, .length = 200});
    assert_int_equal(read_frame(&t), FRAME);
    assert_int_equal(read_frame(&t), WEIR_AGAIN);
    assert_int_equal(about.bytes, 300);
    peer_data(&t, FRAME, 100);
    assert_int_equal(read_frame(&t), 300);
    assert_int_equal(read_frame(&t), 0);
    assert_state(&t, WEIR_TCP_CLOSE_WAIT);
    peer_drain(&t);
    tcp_fixture_close(&t);
    begin(&t, WEIR_REALTIME_WEIR, &with_sack, 100);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_FIN | TCP_ACK, .seq = 100, .length = 200});
    peer_pass(&t, 400 * MS);
    assert_int_equal(read_frame(&t), WEIR_SKIPPED);
    assert_int_equal(read_frame(&t), 0);
    assert_state(&t, WEIR_TCP_CLOSE_WAIT);  // the hole before it was passed over, so it counts
    peer_drain(&t);
    tcp_fixture_close(&t);
}

static void a_reset_ends_it(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_WEIR, &with_sack, 100);
    peer_data(&t, 0, FRAME);
    peer_send(&t, TCP_RST | TCP_ACK, FRAME, 0);
    assert_int_equal(read_frame(&t), FRAME);
    assert_int_equal(read_frame(&t), WEIR_RESET);
    assert_int_equal(read_frame(&t), 0);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

// Two frames of window are two periods of time: every second read needs no update.
static void an_update_leaves_by_need(void **state)
{
    struct tcp_fixture t;
    uint32_t updates = 0;
    (void)state;
    begin(&t, WEIR_REALTIME_WEIR, &plain, 100);
    tcp_fixture_conn(&t)->rtt.srtt8_us = 20 * MS * 8;
    fill(&t, 0);
    peer_pass(&t, 40 * MS);
    for (uint32_t frame = 0; frame < 10; frame++) {
        assert_int_equal(read_frame(&t), FRAME);
        assert_frame(frame);
        if (peer_has_more(&t)) {
            updates++;
            assert_int_equal(frame % 2, 1);
            peer_take(&t);
            assert_int_equal(window(&t), 2 * FRAME);
            peer_pass(&t, 20 * MS);
            fill(&t, (frame + 1) * FRAME);
            peer_pass(&t, 170 * MS);
        } else {
            peer_pass(&t, 250 * MS);
        }
        peer_expect_nothing(&t);
    }
    assert_int_equal(updates, 5);
    const struct weir_realtime_stats stats = stats_of(&t);
    assert_int_equal(stats.updates[WEIR_REALTIME_NEED], 5);
    assert_in_range(stats.round_trip_us, 20 * MS, 21 * MS);
    tcp_fixture_close(&t);
}

// The sender does not use less than a segment of window: what makes it one is told, though it is less than half of the
// buffer.
static void a_window_becomes_a_segment(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_WEIR, &plain, 100);
    tcp_fixture_conn(&t)->rtt.srtt8_us = 20 * MS * 8;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_PSH, .seq = 0, .length = 1200});
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_PSH, .seq = 1200, .length = 700});
    peer_drain(&t);
    peer_pass(&t, 100 * MS);
    peer_drain(&t);
    assert_int_equal(read_frame(&t), FRAME);
    peer_expect(&t, TCP_ACK, 0, 1900, 0);
    assert_int_equal(window(&t), 1100);
    peer_drain(&t);
    peer_pass(&t, 250 * MS);
    peer_drain(&t);
    assert_int_equal(read_frame(&t), WEIR_SKIPPED);  // it lacks 100 bytes
    peer_expect(&t, TCP_ACK, 0, 1900, 0);
    assert_int_equal(window(&t), 2 * FRAME);
    tcp_fixture_close(&t);
}

// An update that brings nothing was lost, or what it brought was.
static void an_update_is_repeated(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_WEIR, &plain, 100);
    tcp_fixture_conn(&t)->rtt.srtt8_us = 20 * MS * 8;
    fill(&t, 0);
    peer_pass(&t, 40 * MS);
    read_frame(&t);
    peer_pass(&t, 250 * MS);
    read_frame(&t);
    peer_expect(&t, TCP_ACK, 0, 2 * FRAME, 0);
    peer_pass(&t, 26 * MS);
    peer_expect_nothing(&t);
    peer_pass(&t, 2 * MS);
    peer_expect(&t, TCP_ACK, 0, 2 * FRAME, 0);
    assert_int_equal(window(&t), 2 * FRAME);
    assert_int_equal(stats_of(&t).updates[WEIR_REALTIME_REPEAT], 1);
    peer_pass(&t, 1000 * MS);
    assert_in_range(peer_drain_count(&t), 8, 40);  // it does not go on for ever
    peer_pass(&t, 5000 * MS);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

// A peer whose segments are half a frame, and a player that acknowledges each at once.
static void begin_halves(struct tcp_fixture *t)
{
    begin(t, WEIR_REALTIME_WEIR, &with_sack, 250);
    tcp_fixture_conn(t)->rtt.srtt8_us = 20 * MS * 8;
    tcp_fixture_conn(t)->rcv_mss = FRAME / 2;
    assert_int_equal(weir_socket_set(t->weir, t->socket, WEIR_OPTION_QUICK_ACK, 1), WEIR_OK);
    peer_pass(t, 20 * MS);
    for (uint32_t half = 0; half < 2; half++) {
        peer_data(t, half * FRAME / 2, FRAME / 2);
        peer_expect(t, TCP_ACK, 0, (half + 1) * FRAME / 2, 0);
    }
    peer_data(t, FRAME, FRAME / 2);
    peer_expect_nothing(t);
}

// Of the window's last segment a sender with SACK hears nothing while the acknowledgement of the one before is out, and
// probes for it.
static void the_acknowledgement_before_a_tail_waits(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin_halves(&t);
    peer_pass(&t, 87 * MS);
    peer_expect_nothing(&t);
    peer_data(&t, FRAME * 3 / 2, FRAME / 2);  // the probe
    peer_expect(&t, TCP_ACK, 0, 2 * FRAME, 0);
    peer_pass(&t, 20 * MS);
    peer_expect_nothing(&t);
    tcp_fixture_close(&t);
}

static void the_acknowledgement_does_not_wait_for_ever(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin_halves(&t);
    peer_pass(&t, 87 * MS);
    peer_expect_nothing(&t);
    peer_pass(&t, 6 * MS);
    peer_expect(&t, TCP_ACK, 0, FRAME * 3 / 2, 0);
    tcp_fixture_close(&t);
}

// Two segments are never left without one.
static void every_second_segment_is_acknowledged(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin(&t, WEIR_REALTIME_WEIR, &with_sack, 250);
    tcp_fixture_conn(&t)->rtt.srtt8_us = 20 * MS * 8;
    tcp_fixture_conn(&t)->rcv_mss = FRAME / 4;
    peer_data(&t, 0, FRAME / 4);
    peer_pass(&t, 60 * MS);
    peer_expect(&t, TCP_ACK, 0, FRAME / 4, 0);
    peer_drain(&t);
    tcp_fixture_conn(&t)->quick_acks = 0;
    peer_data(&t, FRAME / 4, FRAME / 4);
    peer_expect_nothing(&t);  // delayed, as of anyone
    peer_data(&t, FRAME / 2, FRAME / 4);
    peer_expect(&t, TCP_ACK, 0, FRAME * 3 / 4, 0);
    tcp_fixture_close(&t);
}

// What is there already is acknowledged at once, as ever, and its sender is not left waiting again.
static void a_repetition_ends_the_waiting(void **state)
{
    struct tcp_fixture t;
    (void)state;
    begin_halves(&t);
    peer_pass(&t, 30 * MS);
    peer_data(&t, FRAME, FRAME / 2);
    peer_expect(&t, TCP_ACK, 0, FRAME * 3 / 2, 0);
    peer_data(&t, FRAME * 3 / 2, FRAME / 2);
    peer_expect(&t, TCP_ACK, 0, 2 * FRAME, 0);
    peer_pass(&t, 210 * MS);
    peer_drain(&t);
    assert_int_equal(read_frame(&t), FRAME);
    assert_int_equal(read_frame(&t), FRAME);
    peer_drain(&t);
    for (uint32_t half = 4; half < 7; half++) {
        peer_data(&t, half * FRAME / 2, FRAME / 2);
        peer_expect(&t, TCP_ACK, 0, (half + 1) * FRAME / 2, 0);
    }
    tcp_fixture_close(&t);
}

// --- the socket ------------------------------------------------------------------------------------------------------

static void ask_before(struct weir *weir, weir_socket socket)
{
    const struct weir_realtime settings = {
        .mode = WEIR_REALTIME_WEIR, .frame_bytes = 2048, .period_us = PERIOD, .stored = true};
    assert_int_equal(weir_realtime_set(weir, socket, &settings), WEIR_OK);
}
static void ask_before_live(struct weir *weir, weir_socket socket)
{
    const struct weir_realtime settings = {.mode = WEIR_REALTIME_WEIR, .frame_bytes = 2048, .period_us = PERIOD};
    assert_int_equal(weir_realtime_set(weir, socket, &settings), WEIR_OK);
}

static void the_segment_divides_the_frame(void **state)
{
    struct tcp_fixture t;
    struct weir_realtime settings;
    (void)state;
    assert_int_equal(weir_realtime_segment(2048, 512), 512);
    assert_int_equal(weir_realtime_segment(2048, 1460), 1024);
    assert_int_equal(weir_realtime_segment(160, 512), 480);
    assert_int_equal(weir_realtime_segment(1000, 512), 500);
    assert_int_equal(weir_realtime_segment(2053, 512), 411);  // a prime: five parts
    assert_int_equal(weir_realtime_segment(1, 10), 64);
    tcp_fixture_bring(
        &t, WEIR_TCP_SYN_SENT,
        &(struct tcp_fixture_options){.open = TCP_ACTIVE, .timestamps = true, .sack = true, .before = ask_before});
    assert_int_equal(t.got.options.mss, 512);
    assert_false(t.got.options.seen & TCP_SEEN_TIMESTAMPS);
    assert_int_equal(weir_realtime_get(t.weir, t.socket, &settings), WEIR_OK);
    assert_int_equal(settings.segment_bytes, 512);
    tcp_fixture_close(&t);
}

// Only timestamps let the sender of a live stream measure a round trip again after a timeout.
static void a_live_stream_asks_for_timestamps(void **state)
{
    struct tcp_fixture t;
    struct weir_realtime settings;
    (void)state;
    tcp_fixture_bring(
        &t, WEIR_TCP_SYN_SENT,
        &(struct tcp_fixture_options){.open = TCP_ACTIVE, .timestamps = true, .sack = true, .before = ask_before_live});
    assert_int_equal(t.got.options.mss, 1024 + 12);
    assert_true(t.got.options.seen & TCP_SEEN_TIMESTAMPS);
    assert_int_equal(weir_realtime_get(t.weir, t.socket, &settings), WEIR_OK);
    assert_int_equal(settings.segment_bytes, 1024);
    assert_true(settings.timestamps);
    tcp_fixture_close(&t);
}

static void nonsense_is_refused(void **state)
{
    struct tcp_fixture t;
    struct weir_realtime settings = {.mode = WEIR_REALTIME_WEIR};
    struct weir_realtime_stats stats;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &plain);
    assert_int_equal(weir_realtime_read(t.weir, t.socket, bytes, sizeof bytes, NULL), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_realtime_stats(t.weir, t.socket, &stats), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_realtime_set(t.weir, t.socket, &settings), WEIR_INVALID);
    settings.frame_bytes = 1u << 30;
    assert_int_equal(weir_realtime_set(t.weir, t.socket, &settings), WEIR_INVALID);
    settings.frame_bytes = FRAME;
    assert_int_equal(weir_realtime_set(t.weir, t.socket, &settings), WEIR_OK);
    peer_data(&t, 0, FRAME);
    assert_int_equal(weir_realtime_read(t.weir, t.socket, bytes, FRAME - 1, &about), WEIR_INVALID);
    assert_int_equal(read_frame(&t), FRAME);
    assert_int_equal(weir_realtime_set(t.weir, -1, &settings), WEIR_BAD_SOCKET);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

// Off again: what was not read is an ordinary stream, at the place of the next frame.
static void it_can_be_left(void **state)
{
    struct tcp_fixture t;
    const struct weir_realtime off = {.mode = WEIR_REALTIME_OFF};
    (void)state;
    begin(&t, WEIR_REALTIME_WEIR, &plain, 100);
    peer_data(&t, 0, 1500);
    assert_int_equal(read_frame(&t), FRAME);
    assert_int_equal(weir_realtime_set(t.weir, t.socket, &off), WEIR_OK);
    assert_int_equal(user_read(&t, FRAME, 5000), 500);
    peer_pass(&t, 3000 * MS);
    assert_null(tcp_fixture_conn(&t)->extra);
    peer_drain(&t);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_read_opens_the_window_silently),
        cmocka_unit_test(a_gracious_read_tells_so),
        cmocka_unit_test(a_missing_frame_is_acknowledged),
        cmocka_unit_test(the_special_ack_takes_it_back),
        cmocka_unit_test(a_fin_takes_it_back),
        cmocka_unit_test(an_old_number_is_no_special_ack),
        cmocka_unit_test(a_regular_reader_never_catches_up),
        cmocka_unit_test(before_the_deadline_there_is_time),
        cmocka_unit_test(the_deadline_wakes_the_reader),
        cmocka_unit_test(a_deadline_may_be_told_for_each_frame),
        cmocka_unit_test(what_nothing_proves_is_not_acknowledged),
        cmocka_unit_test(a_hole_is_kept_for_a_round_trip),
        cmocka_unit_test(a_hole_that_is_filled_in_time_is_none),
        cmocka_unit_test(a_late_filling_leaves_the_rest_in_place),
        cmocka_unit_test(part_of_a_frame_on_request),
        cmocka_unit_test(the_end_of_the_stream),
        cmocka_unit_test(a_reset_ends_it),
        cmocka_unit_test(an_update_leaves_by_need),
        cmocka_unit_test(a_window_becomes_a_segment),
        cmocka_unit_test(an_update_is_repeated),
        cmocka_unit_test(the_acknowledgement_before_a_tail_waits),
        cmocka_unit_test(the_acknowledgement_does_not_wait_for_ever),
        cmocka_unit_test(every_second_segment_is_acknowledged),
        cmocka_unit_test(a_repetition_ends_the_waiting),
        cmocka_unit_test(the_segment_divides_the_frame),
        cmocka_unit_test(a_live_stream_asks_for_timestamps),
        cmocka_unit_test(nonsense_is_refused),
        cmocka_unit_test(it_can_be_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
