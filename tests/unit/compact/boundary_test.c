// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny
// Every number in a segment to the compact stack, on, beside, and half the number space away from each number that
// matters, whatever is outstanding and received: the outcome is what RFC 9293 and 5961 say, and the connection then
// carries all there is to carry.
#include <stdio.h>

#include "boundaries.h"
#include "compact/peer.h"

#define END 1500u   // where the peer's stream ends, if an echo returns it
#define WRONG 0xee  // bytes that must never reach the reader

enum situation {
    QUIET,        // nothing is outstanding
    SOME_OUT,     // 300 bytes of an echo, of which 100 are acknowledged
    HOLE,         // as QUIET, and [300, 400) of the peer's came
    UNREAD,       // the receive queue is full
    WINDOW_FULL,  // a source has filled the peer's window, one segment
    TIMED_OUT,    // ... of more than its queue, and after a timeout SND.NXT is behind what was sent
    PROBED,       // a closed window and its probe
    SITUATIONS
};
static const char *const names[] = {"quiet",       "some outstanding", "a hole",       "queue full",
                                    "window full", "after a timeout",  "window closed"};

struct boundary {
    struct talk t;
    enum situation situation;
    bool source;
    uint32_t una, max, allowed;  // the server's, relative: acknowledged; the end of what left; how far its stream goes
    uint32_t rcv_nxt, edge, told;  // the peer's: received in order, promised, acknowledged
    // the end of what was sent inside the window; of the peer's stream; the largest window
    uint32_t most, end, max_window;
    uint32_t frames, acks, resets;
    uint8_t have[SERVING_SOURCE_BYTES + 1];
    bool fin;  // the server's FIN left
};

static char current[160];
static int say(void **state)
{
    (void)state;
    if (current[0])
        print_message("the case: %s\n", current);
    current[0] = 0;
    return 0;
}

// --- what leaves, and what is remembered -----------------------------------------------------------------------------

// Each byte that leaves is the stream's, in its place, and was there to be sent.
static void take_all(struct boundary *b)
{
    struct talk *t = &b->t;
    while (has_sent(t)) {
        take(t);
        if (t->got.flags & TCP_RST) {
            b->resets++;
            continue;
        }
        const uint32_t seq = t->got.seq - t->theirs, ack = t->got.ack - t->ours, fin = !!(t->got.flags & TCP_FIN);
        const uint32_t end = seq + t->got.length + fin;
        assert_in_range(ack, b->told, b->most);
        b->told = ack;
        b->frames++;
        b->acks += !t->got.length && !fin;
        if (ack + t->got.window > b->edge)
            b->edge = ack + t->got.window;
        assert_true(seq <= b->allowed && t->got.length <= b->allowed - seq);
        for (uint32_t i = 0; i < t->got.length; i++)
            if (t->got_data[i] != serving_pattern(seq + i))
                fail_msg("byte %u is none that was queued", seq + i);
        memset(b->have + seq, 1, t->got.length);
        b->fin |= fin;
        if (end > b->max)
            b->max = end;
    }
}

static void check(const struct boundary *b)
{
    struct serving_numbers n;
    if (!serving_numbers(b->t.serving, &n))
        return;
    assert_int_equal(n.una - b->t.theirs, b->una);
    assert_int_equal(n.max - b->t.theirs, b->max);
    assert_true(n.nxt - n.una <= n.max - n.una);
    assert_true(n.max - n.una <= n.queued + 1);
    assert_in_range(n.queued, 0, n.room);
    assert_in_range(n.unread, 0, WINDOW);
    assert_in_range(n.edge - n.expected, 0, WINDOW);
}

// --- into the situation ----------------------------------------------------------------------------------------------

static void peer_sends(struct boundary *b, uint8_t flags, uint32_t seq, uint32_t length)
{
    const uint32_t end = seq + length + !!(flags & TCP_FIN);
    if (end > b->most)
        b->most = end;
    if (seq <= b->rcv_nxt && end > b->rcv_nxt)
        b->rcv_nxt = end;
    if (!b->source)
        b->allowed = b->rcv_nxt;
    in(&b->t, flags, seq, b->una, length);
    take_all(b);
}

static void acked(struct boundary *b, uint32_t ack)
{
    b->una = ack;
    in(&b->t, TCP_ACK, b->rcv_nxt, ack, 0);
    take_all(b);
}

static void wait_until_sent(struct boundary *b, uint32_t frames)
{
    for (uint32_t i = 0; i < 100 && b->frames < frames; i++) {
        pass(&b->t, 100000);
        take_all(b);
    }
    assert_int_equal(b->frames, frames);
}

static void bring(struct boundary *b, enum situation situation)
{
    memset(b, 0, sizeof *b);
    b->situation = situation;
    b->source = situation >= WINDOW_FULL;
    b->end = END;
    open_talk(&b->t, b->source ? SERVING_BOTH : situation == UNREAD ? SERVING_SLOW : SERVING_ECHO);
    b->t.window = situation == WINDOW_FULL ? MSS : 8000;
    b->max_window = b->t.window;
    b->allowed = b->source ? SERVING_SOURCE_BYTES : 0;
    b->edge = WINDOW;
    connect_talk(&b->t);
    turn(&b->t);
    take_all(b);
    if (situation == SOME_OUT) {
        peer_sends(b, TCP_ACK | TCP_PSH, 0, 300);
        acked(b, 100);
        assert_int_equal(b->max, 300);
    } else if (situation == HOLE) {
        in(&b->t, TCP_ACK, 300, 0, 100);
        b->most = 400;
    } else if (situation == UNREAD) {
        while (b->rcv_nxt < WINDOW)
            peer_sends(b, TCP_ACK, b->rcv_nxt, MSS);
        pass(&b->t, 300000);
    } else if (situation == WINDOW_FULL) {
        assert_int_equal(b->max, MSS);
    } else if (situation == TIMED_OUT) {
        assert_int_equal(b->max, SEND_QUEUE);
        wait_until_sent(b, b->frames + 1);
    } else if (situation == PROBED) {
        b->t.window = 0;
        acked(b, b->max);
        wait_until_sent(b, b->frames + 1);
        assert_int_equal(b->max, b->una + 1);
    }
    take_all(b);
    check(b);
    b->frames = b->acks = 0;
}

// The numbers that matter, relative to `base`, and those near them and far from them.
static uint32_t values_for(enum situation situation, bool peers, uint32_t *values)
{
    struct boundary b;
    struct serving_numbers n;
    bring(&b, situation);
    assert_true(serving_numbers(b.t.serving, &n));
    const uint32_t base = peers ? b.t.ours : b.t.theirs;
    uint32_t count = boundary_add(values, 0, b.t.theirs + b.una - base);
    count = boundary_add(values, count, n.nxt - base);
    count = boundary_add(values, count, b.t.theirs + b.max - base);
    count = boundary_add(values, count, b.t.ours + b.rcv_nxt - base);
    count = boundary_add(values, count, b.t.ours + b.edge - base);
    if (!peers)
        count = boundary_add(values, count, b.una - b.max_window);
    close_talk(&b.t);
    return count;
}

// --- out of it -------------------------------------------------------------------------------------------------------

static uint32_t contiguous(const struct boundary *b)
{
    uint32_t end = b->una;
    while (end < b->max && b->have[end])
        end++;
    return end + (b->fin && end + 1 == b->max);
}

// The peer is honest from here on. An echo returns all it sends and closes after it; a source sends all it has
// (and believes a window only in what is not older than what it heard last, so there is data for it, too).
static void carry_to_the_end(struct boundary *b)
{
    b->t.window = 8000;
    serving_read_on(b->t.serving, true);
    for (uint32_t round = 0; round < 400 && b->una < (b->source ? SERVING_SOURCE_BYTES : b->end + 1); round++) {
        const uint32_t from = b->told, room = b->edge > from ? b->edge - from : 0;
        const uint32_t left = from >= b->end ? 0 : b->end - from, most = room < MSS ? room : MSS;
        const uint32_t length = left < most ? left : most;
        const bool fin = !b->source && from + length == b->end;
        b->una = contiguous(b);
        peer_sends(b, (uint8_t)(TCP_ACK | (fin ? TCP_FIN : 0)), from, length);
        pass(&b->t, round < 60 ? 1000 : 200000);
        take_all(b);
    }
    assert_int_equal(b->resets, 0);
    if (b->source)
        assert_int_equal(b->una >= SERVING_SOURCE_BYTES, 1);
    else
        assert_int_equal(serving_done(b->t.serving), 1);
}

static void close_boundary(struct boundary *b)
{
    close_talk(&b->t);
    current[0] = 0;
}

// --- the sequence number ---------------------------------------------------------------------------------------------

struct form {
    const char *name;
    uint8_t flags;
    uint32_t length;
};
static const struct form forms[] = {
    {"ACK", TCP_ACK, 0},
    {"1 byte", TCP_ACK | TCP_PSH, 1},
    {"300 bytes", TCP_ACK | TCP_PSH, 300},
    {"FIN", TCP_ACK | TCP_FIN, 0},
    {"FIN with 300 bytes", TCP_ACK | TCP_FIN, 300},
    {"RST", TCP_RST, 0},
    {"SYN", TCP_SYN, 0},
};
#define FORMS (sizeof forms / sizeof forms[0])

struct outcome {
    bool answered, dies, fin, fin_free;
    int64_t rcv_nxt;  // from RCV.NXT on, without the FIN
};

// RFC 9293 §3.10.7.4, first: table 6.
static bool acceptable(int64_t distance, int64_t length, int64_t window)
{
    if (!length)
        return window ? distance >= 0 && distance < window : distance == 0;
    return window && ((distance >= 0 && distance < window) || (distance + length > 0 && distance + length <= window));
}

// A FIN beyond a hole is not kept: it must come again.
static struct outcome judge(const struct boundary *b, const struct form *form, int64_t distance)
{
    const int64_t window = (int64_t)b->edge - b->rcv_nxt, fin = form->flags & TCP_FIN ? 1 : 0,
                  syn = form->flags & TCP_SYN ? 1 : 0;
    const bool inside = acceptable(distance, form->length + fin + syn, window);
    const int64_t end = distance + form->length, kept = end < window ? end : window;
    struct outcome out = {0};
    if (form->flags & TCP_RST) {  // RFC 5961 §3.2
        out.dies = distance == 0;
        out.answered = inside && !out.dies;
    } else if (syn) {  // §4.2
        out.answered = true;
    } else if (!inside) {
        out.fin = out.fin_free = fin && !form->length && distance == 0;  // it needs no room
        out.answered = !out.fin;
    } else if (distance <= 0) {
        out.rcv_nxt = kept > 0 ? kept : 0;
        if (b->situation == HOLE && out.rcv_nxt >= 300 && out.rcv_nxt < 400)
            out.rcv_nxt = 400;
        out.fin = fin && end >= 0 && end <= window && out.rcv_nxt == end;
        out.fin_free = out.fin && end == window;
        out.answered = end > window;
    } else {
        out.answered = form->length + fin > 0;
    }
    return out;
}

static void input_form(struct boundary *b, const struct form *form, uint32_t seq, uint16_t urgent)
{
    uint8_t bytes[1600];
    const int64_t window = (int64_t)b->edge - b->rcv_nxt;
    const uint32_t total = make(&b->t, bytes, form->flags, seq, b->una, form->length), tcp_bytes = total - HEADERS;
    uint8_t *tcp = bytes + HEADERS, *payload = bytes + total - form->length;
    for (uint32_t i = 0; i < form->length; i++) {
        const int64_t at = boundary_distance(seq + i, b->rcv_nxt);
        payload[i] = at >= 0 && at < window ? serving_pattern(b->rcv_nxt + (uint32_t)at) : WRONG;
        if (at >= 0 && at < window && b->rcv_nxt + (uint32_t)at >= b->most)
            b->most = b->rcv_nxt + (uint32_t)at + 1;
    }
    put16(tcp + 18, urgent);
    tcp[13] |= urgent ? TCP_URG : 0;
    put16(tcp + 16, 0);
    checksum_put(tcp + 16, transport_sum(IP_TCP, tcp, tcp_bytes));
    if (!b->source)
        b->allowed = b->most;
    raw_input(&b->t, bytes, total);
    turn(&b->t);
}

static void expect_outcome(struct boundary *b, struct outcome out)
{
    struct serving_numbers n;
    const bool open = serving_numbers(b->t.serving, &n);
    assert_int_equal(open, !out.dies);
    if (out.dies)
        return;
    const uint32_t taken = n.expected - b->t.ours - b->rcv_nxt, before = b->rcv_nxt;
    if (out.fin_free)
        out.fin = taken == (uint32_t)out.rcv_nxt + 1;
    assert_int_equal(taken, (uint32_t)out.rcv_nxt + out.fin);
    b->rcv_nxt += taken;
    if (out.fin)
        b->end = before + (uint32_t)out.rcv_nxt;
    if (b->rcv_nxt > b->most)
        b->most = b->rcv_nxt;
    if (!b->source)
        b->allowed = b->end > b->rcv_nxt ? b->rcv_nxt : b->end;
    take_all(b);
    if (out.answered) {
        assert_int_not_equal(b->frames, 0);
        assert_int_equal(b->told, b->rcv_nxt);
    } else if (!taken) {
        assert_int_equal(b->acks, 0);
    }
    check(b);
    carry_to_the_end(b);
}

static void each_sequence_number(void **state)
{
    uint32_t values[BOUNDARY_VALUES];
    (void)state;
    for (int situation = 0; situation < SITUATIONS; situation++) {
        const uint32_t count = values_for(situation, true, values);
        for (uint32_t i = 0; i < count * FORMS; i++) {
            struct boundary b;
            const struct form *form = &forms[i % FORMS];
            bring(&b, situation);
            const int64_t distance = boundary_distance(values[i / FORMS], b.rcv_nxt);
            (void)snprintf(current, sizeof current, "%s: %s at RCV.NXT %+lld, window %u", names[situation], form->name,
                           (long long)distance, b.edge - b.rcv_nxt);
            const struct outcome out = judge(&b, form, distance);
            input_form(&b, form, values[i / FORMS], 0);
            expect_outcome(&b, out);
            close_boundary(&b);
        }
    }
}

// Urgent data is data, wherever the pointer points (RFC 6093 §4 lets the mark be nothing).
static void each_urgent_pointer(void **state)
{
    static const uint16_t pointers[] = {1, 2, 99, 100, 101, 1071, 1072, 1073, 0x7fff, 0x8000, 0xffff};
    (void)state;
    for (int situation = 0; situation < SITUATIONS; situation++)
        for (uint32_t i = 0; i < 2 * sizeof pointers / sizeof pointers[0]; i++) {
            struct boundary b;
            const struct form form = {"urgent", TCP_ACK, i % 2 * 100};
            bring(&b, situation);
            (void)snprintf(current, sizeof current, "%s: urgent pointer %u with %u bytes", names[situation],
                           pointers[i / 2], form.length);
            const struct outcome out = judge(&b, &form, 0);
            input_form(&b, &form, b.rcv_nxt, pointers[i / 2]);
            expect_outcome(&b, out);
            close_boundary(&b);
        }
}

// --- the acknowledgement ---------------------------------------------------------------------------------------------

enum belief { NEW, KNOWN, OLD, NONE };

// RFC 9293 §3.10.7.4, fifth, RFC 5961 §5.2, with the end of all that was ever sent: a timeout takes SND.NXT back, not
// what is on its way.
static enum belief judge_ack(const struct boundary *b, uint32_t ack)
{
    const int64_t distance = boundary_distance(ack, b->una);
    if (distance > (int64_t)b->max - b->una || distance < -(int64_t)b->max_window)
        return NONE;
    return distance > 0 ? NEW : distance ? OLD : KNOWN;
}

static void expect_belief(struct boundary *b, enum belief belief, uint32_t ack, uint32_t length)
{
    struct serving_numbers n;
    assert_true(serving_numbers(b->t.serving, &n));
    const uint32_t room = b->edge - b->rcv_nxt,
                   taken = belief == NONE  ? 0
                           : length < room ? length
                                           : room,
                   max = b->max;
    if (belief == NEW)
        b->una = ack;
    b->rcv_nxt += taken;
    if (b->rcv_nxt > b->most)
        b->most = b->rcv_nxt;
    if (!b->source)
        b->allowed = b->rcv_nxt;
    assert_int_equal(n.una - b->t.theirs, b->una);
    assert_int_equal(n.expected - b->t.ours, b->rcv_nxt);
    take_all(b);
    if (belief == NONE) {
        assert_int_equal(b->acks, 1);
        assert_int_equal(b->told, b->rcv_nxt);
    }
    if (belief == NONE || (belief == OLD && !length))
        assert_int_equal(b->max, max);
    check(b);
    carry_to_the_end(b);
}

static void each_acknowledgement(void **state)
{
    uint32_t values[BOUNDARY_VALUES];
    (void)state;
    for (int situation = 0; situation < SITUATIONS; situation++) {
        const uint32_t count = values_for(situation, false, values);
        for (uint32_t i = 0; i < 2 * count; i++) {
            struct boundary b;
            const uint32_t ack = values[i / 2], length = i % 2 * 100;
            bring(&b, situation);
            (void)snprintf(current, sizeof current, "%s: ACK of SND.UNA %+lld with %u bytes, %u outstanding",
                           names[situation], (long long)boundary_distance(ack, b.una), length, b.max - b.una);
            const enum belief belief = judge_ack(&b, ack);
            in(&b.t, TCP_ACK, b.rcv_nxt, ack, length);
            expect_belief(&b, belief, ack, length);
            close_boundary(&b);
        }
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_sequence_number, say),
        cmocka_unit_test_teardown(each_urgent_pointer, say),
        cmocka_unit_test_teardown(each_acknowledgement, say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
