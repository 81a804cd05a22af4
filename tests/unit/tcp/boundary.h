// SPDX-License-Identifier: BSD-2-Clause
// What the boundary tests share: a connection in a known situation, one segment with a number on, beside, or half the
// number space away from a number that matters, and an honest peer that carries the connection to its end afterwards.
// What must come of the segment the tests say themselves, in 64-bit arithmetic and from what went over the wire, not
// from the connection's own variables.
#ifndef TESTS_TCP_BOUNDARY_H
#define TESTS_TCP_BOUNDARY_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "boundaries.h"
#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

#define BOUNDARY_MSS 500u
#define BOUNDARY_QUEUE 8192u      // the most that is written
#define BOUNDARY_WINDOW 2000u     // of ours, in bytes
#define BOUNDARY_END 2600u        // where the peer's stream ends
#define BOUNDARY_WRAP (0u - 351)  // as an initial number: they wrap inside what is held beyond a hole
#define BOUNDARY_HALF (0x80000000u - 351)
#define BOUNDARY_WRONG 0xee  // bytes that must never reach the reader

// What the connection has sent.
enum boundary_sent {
    SENT_NOTHING,
    SENT_SOME,      // [500, 2500) outstanding, of which the first 500 are acknowledged
    SENT_HOLE,      // ... and [1000, 1500) is SACKED, or there were two duplicate ACKs
    SENT_RECOVERY,  // ... and [1000, 2500), or three, so that [500, 1000) went again
    SENT_FULL,      // [0, 1500) fills the peer's window, and more is queued
    SENT_TIMEOUT,   // [500, 2500) outstanding and the first segment sent again by a timeout
    SENT_PROBE,     // a closed window and its probe
    SENT_FIN,       // [500, 2500) and our FIN
    SENT_ACKED,     // 2500, all of which is acknowledged
    SENT_COUNT
};
// What it has received.
enum boundary_received {
    RECEIVED_NOTHING,
    RECEIVED_OWED,  // [0, 100), not acknowledged yet
    RECEIVED_HOLE,  // [300, 400) only
    RECEIVED_FULL,  // as much as the window takes, unread
    RECEIVED_COUNT
};
// What was agreed on, and whether in-order traffic went before, by which the fast paths know the connection.
struct boundary_kind {
    const char *name;
    bool sack, timestamps, taught, wide;  // wide: the peer's window reaches 2^30 bytes
    uint32_t irs;                         // 0: the peer's numbers wrap at once
};

struct boundary {
    struct tcp_fixture t;
    const struct boundary_kind *kind;
    enum boundary_sent sent;
    enum boundary_received received;
    uint32_t written, una, nxt;          // ours, relative: queued so far, acknowledged, the end of what left
    uint32_t max_window;                 // the largest the peer has offered
    uint32_t rcv_nxt, edge, told;        // the peer's: received in order, promised, last acknowledged
    uint32_t most;                       // the end of what the peer sent inside the window, its FIN included
    uint32_t end, taken;                 // where the peer's stream ends; read by the user
    uint32_t resent_time;                // our timestamp as the first segment was sent again
    uint32_t scale;                      // of our window field
    uint32_t acks, frames;               // what left since the connection was brought here: without payload, all
    uint8_t have[BOUNDARY_QUEUE + 1];    // what of ours arrived
    bool shut, fin_told, reset, closed;  // our FIN is queued; left; a RST left; all is over
    bool resent;
};

// Of `count` kinds, where to begin: another mode of the driver (fixture.h) is tried with the last, which knows most,
// alone.
static inline uint32_t boundary_first_kind(uint32_t count) { return getenv("WEIR_TEST_DRIVER") ? count - 1 : 0; }

static char boundary_case[200];  // printed when a test fails

static inline const char *boundary_sent_name(enum boundary_sent sent)
{
    static const char *const names[] = {"nothing sent",  "some sent",   "a hole SACKED",
                                        "in recovery",   "window full", "after a timeout",
                                        "window closed", "FIN sent",    "all acknowledged"};
    return names[sent];
}
static inline const char *boundary_received_name(enum boundary_received received)
{
    static const char *const names[] = {"nothing received", "an ACK owed", "a hole received", "queue full"};
    return names[received];
}

// As relative numbers of either side's space: each number that matters, of both.
static inline uint32_t boundary_values(const struct boundary *b, uint32_t *values, uint32_t base)
{
    const uint32_t ours = b->t.ours - base, theirs = b->t.theirs - base;
    uint32_t count = boundary_add(values, 0, ours + b->una);
    count = boundary_add(values, count, ours + b->nxt);
    count = boundary_add(values, count, theirs + b->rcv_nxt);
    count = boundary_add(values, count, theirs + b->edge);
    return b->received == RECEIVED_HOLE ? boundary_add(values, boundary_add(values, count, theirs + 300), theirs + 400)
                                        : count;
}

// --- what leaves -----------------------------------------------------------------------------------------------------

static inline uint32_t boundary_contiguous(const struct boundary *b)
{
    uint32_t end = b->una;
    while (end < b->written && b->have[end])
        end++;
    return end;
}

// Each byte that leaves was queued, is in its place, and was allowed.
static inline void boundary_take(struct boundary *b)
{
    struct tcp_fixture *t = &b->t;
    while (peer_has_more(t)) {
        peer_take(t);
        const struct tcp_segment *got = &t->got;
        if (got->flags & TCP_RST) {
            b->reset = true;
            continue;
        }
        assert_true(got->flags & TCP_ACK);
        assert_false(got->flags & TCP_SYN);
        assert_in_range(t->got_ack, b->told, b->most);
        b->told = t->got_ack;
        b->frames++;
        const uint32_t edge = t->got_ack + ((uint32_t)got->window << b->scale);
        if (edge > b->edge)
            b->edge = edge;
        if (got->length) {
            assert_true(t->got_seq < b->written && got->length <= b->written - t->got_seq);
            for (uint32_t i = 0; i < got->length; i++)
                if (t->got_data[i] != peer_pattern(t->got_seq + i))
                    fail_msg("byte %u is none that was queued", t->got_seq + i);
            if (t->got_seq == b->una && t->got_seq < b->nxt && !b->resent) {
                b->resent = true;
                b->resent_time = got->options.ts_value;
            }
            memset(b->have + t->got_seq, 1, got->length);
        } else if (!(got->flags & TCP_FIN)) {
            b->acks++;
        }
        const uint32_t end = t->got_seq + got->length + !!(got->flags & TCP_FIN);
        if (got->flags & TCP_FIN) {
            assert_true(b->shut);
            assert_int_equal(end, b->written + 1);
            b->fin_told = true;
        }
        assert_true(end <= b->written + b->shut);
        if (end > b->nxt)
            b->nxt = end;
    }
}

// --- what it remembers
// ---------------------------------------------------------------------------------------------------------------------

#if WEIR_CFG_TCP_SACK
static inline void boundary_check_log(struct flight *f)
{
    uint32_t start = f->start, sacked = 0, lost = 0, resent = 0;
    assert_true(f->head + f->count <= f->capacity);
    for (uint32_t i = 0; i < f->count; i++) {
        const struct flight_record *r = flight_at(f, i);
        const uint32_t bytes = r->end - start;
        assert_in_range(bytes, 1, BOUNDARY_QUEUE + 1);
        assert_true((r->sent & (FLIGHT_SACKED | FLIGHT_LOST)) != (FLIGHT_SACKED | FLIGHT_LOST));
        sacked += r->sent & FLIGHT_SACKED ? bytes : 0;
        lost += r->sent & FLIGHT_LOST ? bytes : 0;
        resent += !!(r->sent & FLIGHT_RETRANSMITTED);
        start = r->end;
    }
    assert_int_equal(f->sacked, sacked);
    assert_int_equal(f->lost, lost);
    assert_int_equal(f->retransmitted, resent);
}
#else
static inline void boundary_check_log(const struct flight *f) { assert_true(f->lost <= f->end - f->start); }
#endif

// What came beyond a hole lies in the window, in order, in pieces that do not touch.
static inline void boundary_check_beyond(const struct boundary *b, const struct tcp_conn *c)
{
    const struct intervals *list = c->extra->out_of_order;
    int64_t end = 0;
    for (uint32_t i = 0; i < list->count; i++) {
        const int64_t left = boundary_distance(list->item[i].start, c->rcv.nxt);
        assert_true(left > end);
        end = boundary_distance(list->item[i].end, c->rcv.nxt);
        assert_true(end > left && end <= boundary_distance(b->t.theirs + b->edge, c->rcv.nxt));
    }
}

// A connection's numbers agree with one another, and with what went over the wire.
static inline void boundary_check(struct boundary *b)
{
    struct tcp_conn *c = tcp_fixture_conn(&b->t);
    assert_int_equal(fixture_count(&b->t.f, WEIR_COUNT_TCP_INSANE), 0);
    if (!c || c->state >= WEIR_TCP_TIME_WAIT)
        return;
    assert_true(c->snd.una - b->t.ours <= b->nxt);
    assert_int_equal(c->snd.nxt - b->t.ours, b->nxt);
    assert_true(c->rcv.nxt - b->t.theirs <= b->end + 1);
    assert_true(c->rcv.edge - c->rcv.nxt <= 65535);
    if (tcp_disordered(c))
        boundary_check_beyond(b, c);
    if (!c->flow)
        return;
    assert_int_equal(c->flow->flight->start, c->snd.una);
    assert_int_equal(flight_end(c->flow->flight), c->snd.nxt);
    assert_true(c->flow->flight->sacked + c->flow->flight->lost <= c->snd.nxt - c->snd.una);
    boundary_check_log(c->flow->flight);
}

// --- into the situation
// ---------------------------------------------------------------------------------------------------------------------

static inline void boundary_acked(struct boundary *b, uint32_t ack)
{
    peer_send(&b->t, TCP_ACK, b->rcv_nxt, ack);
    b->una = ack;
    boundary_take(b);
}
static inline void boundary_write(struct boundary *b, uint32_t bytes)
{
    user_write(&b->t, b->written, bytes);
    b->written += bytes;
    boundary_take(b);
}
static inline void boundary_window(struct boundary *b, uint16_t window)
{
    const uint32_t bytes = (uint32_t)window << (b->kind->wide ? 14 : 0);
    b->t.window = window;
    if (bytes > b->max_window)
        b->max_window = bytes;
}
static inline void boundary_data(struct boundary *b, uint32_t seq, uint32_t bytes)
{
    peer_send_raw(&b->t,
                  &(struct peer_segment){.flags = TCP_ACK | TCP_PSH, .seq = seq, .ack = b->una, .length = bytes});
}
static inline void boundary_in_order(struct boundary *b, uint32_t bytes)
{
    boundary_data(b, b->rcv_nxt, bytes);
    b->most = b->rcv_nxt += bytes;
    boundary_take(b);
}

// Some of each, whole and in order, both ways; then numbers count from here.
static inline void boundary_teach(struct boundary *b)
{
    for (uint32_t i = 0; i < 3; i++) {
        boundary_write(b, 2 * BOUNDARY_MSS);
        boundary_acked(b, b->written);
        boundary_in_order(b, 200);
        boundary_in_order(b, 200);
        b->taken += user_read(&b->t, b->taken, 1000);
        peer_pass(&b->t, 1000);
    }
    peer_pass(&b->t, 300000);
    boundary_take(b);
    assert_int_equal(b->told, b->rcv_nxt);
    b->t.ours += b->written;
    b->t.theirs += b->rcv_nxt;
    b->edge -= b->rcv_nxt;
    b->written = b->una = b->nxt = b->rcv_nxt = b->most = b->told = b->taken = 0;
    memset(b->have, 0, sizeof b->have);
}

// `count` SACK blocks, of relative edges.
static inline void boundary_sack(struct boundary *b, uint32_t ack, uint32_t count, const uint32_t *edges)
{
    struct tcp_options options = {.sack_count = (uint8_t)count};
    for (uint32_t i = 0; i < count; i++)
        options.sack[i] = (struct tcp_sack_block){b->t.ours + edges[2 * i], b->t.ours + edges[2 * i + 1]};
    peer_send_raw(&b->t, &(struct peer_segment){.flags = TCP_ACK, .seq = b->rcv_nxt, .ack = ack, .options = &options});
}

static inline void boundary_duplicates(struct boundary *b, uint32_t count, uint32_t left, uint32_t right)
{
    if (b->kind->sack)
        boundary_sack(b, b->una, 1, (uint32_t[]){left, right});
    else
        for (uint32_t i = 0; i < count; i++)
            peer_send(&b->t, TCP_ACK, b->rcv_nxt, b->una);
    boundary_take(b);
}

static inline void boundary_send_some(struct boundary *b)
{
    boundary_write(b, 2500);
    if (b->sent == SENT_FIN) {
        b->shut = true;
        assert_int_equal(weir_socket_shutdown(b->t.weir, b->t.socket, WEIR_SHUT_WRITE), WEIR_OK);
        fixture_poll(&b->t.f, 0);
    }
    peer_pass(&b->t, 1000);
    boundary_acked(b, 500);
    assert_int_equal(b->nxt, 2500 + b->shut);
}

static inline void boundary_send(struct boundary *b)
{
    switch (b->sent) {
    case SENT_NOTHING: break;
    case SENT_SOME:
    case SENT_FIN: boundary_send_some(b); break;
    case SENT_ACKED:
        boundary_send_some(b);
        boundary_acked(b, b->nxt);
        break;
    case SENT_HOLE:
        boundary_send_some(b);
        boundary_duplicates(b, 2, 1000, 1500);
        break;
    case SENT_RECOVERY:
        boundary_send_some(b);
        boundary_duplicates(b, 3, 1000, 2500);
        for (uint32_t i = 0; i < 10 && !(tcp_fixture_conn(&b->t)->attention & ATTEND_FAST_RECOVERY); i++)
            peer_pass(&b->t, 500);  // what may only have come late is waited for (RFC 8985 §6.2)
        boundary_take(b);
        assert_true(tcp_fixture_conn(&b->t)->attention & ATTEND_FAST_RECOVERY);
        break;
    case SENT_FULL:
        boundary_write(b, 4000);
        // beside SACK blocks a segment holds less, and a small rest waits
        assert_in_range(b->nxt, 1500 - BOUNDARY_MSS / 2, 1500);
        break;
    case SENT_TIMEOUT:
        boundary_send_some(b);
        for (uint32_t i = 0; i < 40 && !fixture_count(&b->t.f, WEIR_COUNT_TCP_RTO); i++)
            peer_pass(&b->t, 100000);
        boundary_take(b);
        assert_int_equal(fixture_count(&b->t.f, WEIR_COUNT_TCP_RTO), 1);
        break;
    case SENT_PROBE:
        boundary_write(b, 2000);
        b->t.window = 0;
        boundary_acked(b, b->nxt);
        boundary_write(b, 500);
        for (uint32_t i = 0; i < 40 && b->nxt == b->una; i++) {
            peer_pass(&b->t, 100000);
            boundary_take(b);
        }
        assert_int_equal(b->nxt, b->una + 1);
        break;
    case SENT_COUNT: break;
    }
}

static inline void boundary_receive(struct boundary *b)
{
    switch (b->received) {
    case RECEIVED_NOTHING: break;
    case RECEIVED_OWED: boundary_in_order(b, 100); break;
    case RECEIVED_HOLE:
        boundary_data(b, 300, 100);
        b->most = 400;
        boundary_take(b);
        break;
    case RECEIVED_FULL:
        while (b->rcv_nxt < b->edge)
            boundary_in_order(b, min_u32(b->edge - b->rcv_nxt, BOUNDARY_MSS));
        peer_pass(&b->t, 300000);
        boundary_take(b);
        assert_int_equal(b->told, b->edge);
        break;
    case RECEIVED_COUNT: break;
    }
}

static inline void boundary_bring(struct boundary *b, const struct boundary_kind *kind, enum boundary_sent sent,
                                  enum boundary_received received)
{
    memset(b, 0, sizeof *b);
    b->kind = kind;
    b->sent = sent;
    b->received = received;
    b->end = BOUNDARY_END;
    const struct tcp_fixture_options options = {.sack = kind->sack,
                                                .timestamps = kind->timestamps,
                                                .scale = kind->wide,
                                                .peer_scale = 14,
                                                .mss = (uint16_t)(BOUNDARY_MSS + (kind->timestamps ? 12 : 0)),
                                                .window = sent == SENT_FULL ? 1500 : 20000,
                                                .send_buffer = BOUNDARY_QUEUE,
                                                .receive_buffer = BOUNDARY_WINDOW,
                                                .irs = kind->irs};
    tcp_fixture_bring(&b->t, WEIR_TCP_ESTABLISHED, &options);
    assert_int_equal(weir_socket_set(b->t.weir, b->t.socket, WEIR_OPTION_OOB_INLINE, 1), WEIR_OK);
    assert_int_equal(weir_socket_set(b->t.weir, b->t.socket, WEIR_OPTION_NO_DELAY, 1), WEIR_OK);
    b->edge = tcp_fixture_conn(&b->t)->rcv.edge - b->t.theirs;
    b->scale = tcp_rcv_scale(tcp_fixture_conn(&b->t));
    b->max_window = options.window;
    if (kind->taught)
        boundary_teach(b);
    boundary_window(b, kind->wide ? 65535 : options.window);
    if (kind->wide)
        boundary_acked(b, 0);
    boundary_receive(b);
    boundary_send(b);
    boundary_check(b);
    b->acks = b->frames = 0;
}

// --- out of it
// ---------------------------------------------------------------------------------------------------------------------

static inline void boundary_read(struct boundary *b)
{
    uint32_t got;
    while ((got = user_read(&b->t, b->taken, 3000)) != 0)
        b->taken += got;
    assert_true(b->taken <= b->most);
}

// A segment of the peer's, with as much as fits, its FIN at the end.
static inline void boundary_peer_sends(struct boundary *b)
{
    const uint32_t from = b->told, room = b->edge > from ? b->edge - from : 0;
    const uint32_t length = from < b->end ? min_u32(min_u32(b->end - from, room), BOUNDARY_MSS) : 0;
    const bool fin = from + length == b->end;
    uint32_t ack = boundary_contiguous(b);
    ack += b->fin_told && ack == b->written;
    b->una = ack > b->una ? ack : b->una;
    if (from + length + fin > b->most)
        b->most = from + length + fin;
    peer_send_raw(&b->t,
                  &(struct peer_segment){
                      .flags = (uint8_t)(TCP_ACK | (fin ? TCP_FIN : 0)), .seq = from, .ack = ack, .length = length});
}

// The peer is honest from here on: all that was written arrives, all that the peer sends is read, and both ends close.
static inline void boundary_finish(struct boundary *b)
{
    struct tcp_fixture *t = &b->t;
    if (!b->shut)
        assert_int_equal(weir_socket_shutdown(t->weir, t->socket, WEIR_SHUT_WRITE), WEIR_OK);
    b->shut = true;
    boundary_window(b, b->kind->wide ? 65535 : 20000);
    for (uint32_t round = 0; round < 300 && !b->closed; round++) {
        boundary_take(b);
        boundary_read(b);
        boundary_take(b);
        if (b->told <= b->end || b->una <= b->written)
            boundary_peer_sends(b);
        else
            b->closed = true;
        boundary_take(b);
        boundary_check(b);
        peer_pass(t, round < 4 ? 1000 : 200000);
    }
    assert_true(b->closed);
    assert_false(b->reset);
    assert_int_equal(b->taken, b->end);
    const enum weir_tcp_state state = tcp_fixture_state(t);
    assert_true(state == WEIR_TCP_TIME_WAIT || state == WEIR_TCP_CLOSED);
    assert_int_equal(fixture_count(&t->f, WEIR_COUNT_TCP_INSANE), 0);
}

static inline void boundary_close(struct boundary *b)
{
    tcp_fixture_close(&b->t);
    boundary_case[0] = 0;
}

// A test's teardown: says which case it was that failed.
static inline int boundary_say(void **state)
{
    (void)state;
    if (boundary_case[0])
        print_message("the case: %s\n", boundary_case);
    boundary_case[0] = 0;
    return 0;
}

#define BOUNDARY_CASE(...) ((void)snprintf(boundary_case, sizeof boundary_case, __VA_ARGS__))

#endif
