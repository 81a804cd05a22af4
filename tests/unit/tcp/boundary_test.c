// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// Every number in a segment but those of SACK (boundary_sack_test.c), on, beside, and half the number space away from
// each number that matters, whatever is outstanding and received: the outcome is what RFC 9293, 5961 and 7323 say, and
// the connection then carries all there is to carry.
#include "tcp/boundary.h"
#include "tcp/tcp_fixture.h"

static const struct boundary_kind kinds[] = {
    {.name = "plain"},
    {.name = "sack", .sack = true, .irs = BOUNDARY_WRAP},
    {.name = "timestamps", .sack = true, .timestamps = true, .irs = BOUNDARY_HALF},
    {.name = "taught", .sack = true, .timestamps = true, .taught = true},
    {.name = "taught without timestamps", .sack = true, .taught = true},
    {.name = "wide", .sack = true, .timestamps = true, .taught = true, .wide = true},
};
#define KINDS (sizeof kinds / sizeof kinds[0])

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

// What is to come of it. `distance` of its number from RCV.NXT; `window` beyond that.
struct outcome {
    bool answered;  // with an ACK, at once
    bool dies;
    int64_t rcv_nxt;  // from RCV.NXT, -1: either of 0 and 1
    int64_t fin;      // from RCV.NXT; -1: none is believed
    bool fin_free;    // RFC 9293 leaves it, or Weir is lenient: a FIN just where the window ends
};

// RFC 9293 §3.10.7.4, first: table 6.
static bool acceptable(int64_t distance, int64_t length, int64_t window)
{
    if (!length)
        return window ? distance >= 0 && distance < window : distance == 0;
    return window && ((distance >= 0 && distance < window) || (distance + length > 0 && distance + length <= window));
}

static struct outcome judge(const struct boundary *b, const struct form *form, int64_t distance)
{
    const int64_t window = (int64_t)b->edge - b->rcv_nxt, fin = form->flags & TCP_FIN ? 1 : 0,
                  syn = form->flags & TCP_SYN ? 1 : 0;
    const bool inside = acceptable(distance, form->length + fin + syn, window);
    const int64_t end = distance + form->length, kept = end < window ? end : window;
    struct outcome out = {.fin = -1};
    if (form->flags & TCP_RST) {  // RFC 5961 §3.2
        out.dies = distance == 0;
        out.answered = inside && !out.dies;
    } else if (syn) {  // §4.2
        out.answered = true;
    } else if (!inside) {
        // An ACK at the edge of a window that was filled is taken as it is; so is a FIN where RCV.NXT is, which needs
        // no room.
        out.answered = !(form->length + fin == 0 && distance == window);
        out.fin_free = fin && !form->length && distance == 0;
        out.answered &= !out.fin_free;
        out.fin = out.fin_free ? 0 : -1;
    } else {
        const bool in_order = distance <= 0 && kept > 0;
        out.rcv_nxt = in_order ? kept : 0;
        if (in_order && b->received == RECEIVED_HOLE && out.rcv_nxt >= 300 && out.rcv_nxt < 400)
            out.rcv_nxt = 400;
        out.answered = (form->length && (distance != 0 || end > window)) || (fin && distance > 0);
        if (fin && end >= 0 && end <= window)
            out.fin = end;
        out.fin_free = fin && end == window;
    }
    return out;
}

// A FIN that may count or not: whether it did.
static void settle_free(struct boundary *b, struct outcome *out)
{
    const struct tcp_conn *c = tcp_fixture_conn(&b->t);
    const bool taken = c->attention & (ATTEND_FIN_RECEIVED | ATTEND_FIN_AHEAD);
    if (out->fin_free && !taken)
        out->fin = -1;
}

static void input_urgent(struct boundary *b, const struct form *form, uint32_t seq, uint16_t urgent)
{
    uint8_t bytes[300];
    const int64_t window = (int64_t)b->edge - b->rcv_nxt;
    for (uint32_t i = 0; i < form->length; i++) {
        const int64_t at = boundary_distance(seq + i, b->rcv_nxt);
        bytes[i] = at >= 0 && at < window ? peer_pattern(b->rcv_nxt + (uint32_t)at) : BOUNDARY_WRONG;
        if (at >= 0 && at < window && b->rcv_nxt + (uint32_t)at + 1 > b->most)
            b->most = b->rcv_nxt + (uint32_t)at + 1;
    }
    const struct tcp_options with = {
        .seen = b->kind->timestamps ? TCP_SEEN_TIMESTAMPS : 0, .ts_value = b->t.ts_value, .ts_echo = b->t.ts_echo};
    peer_send_raw(&b->t, &(struct peer_segment){.flags = form->flags,
                                                .seq = seq,
                                                .ack = b->una,
                                                .length = form->length,
                                                .data = bytes,
                                                .urgent = urgent,
                                                .options = &with});
}
static void input_form(struct boundary *b, const struct form *form, uint32_t seq) { input_urgent(b, form, seq, 0); }

static void expect_outcome(struct boundary *b, struct outcome out)
{
    const struct tcp_conn *c = tcp_fixture_conn(&b->t);
    if (out.dies) {
        assert_null(c);
        assert_int_equal(user_error(&b->t), WEIR_RESET);
        peer_expect_nothing(&b->t);
        return;
    }
    assert_non_null(c);
    settle_free(b, &out);
    const uint32_t fin_taken = out.fin >= 0 && out.fin == out.rcv_nxt, before = b->rcv_nxt;
    if (out.fin >= 0) {
        b->end = before + (uint32_t)out.fin;
        b->most = b->end + 1 > b->most ? b->end + 1 : b->most;
    }
    b->rcv_nxt += (uint32_t)out.rcv_nxt + fin_taken;
    assert_int_equal(c->rcv.nxt - b->t.theirs, b->rcv_nxt);
    assert_int_equal(c->snd.una - b->t.ours, b->una);
    assert_int_equal(!!(c->attention & ATTEND_FIN_RECEIVED), fin_taken);
    assert_int_equal(!!(c->attention & ATTEND_FIN_AHEAD), out.fin >= 0 && !fin_taken);
    boundary_take(b);
    if (out.answered) {
        assert_int_not_equal(b->frames, 0);
        assert_int_equal(b->told, b->rcv_nxt);
    } else if (out.rcv_nxt == 0 && !fin_taken) {
        assert_int_equal(b->acks, 0);
    }
    boundary_check(b);
    boundary_finish(b);
}

// The numbers are those of a connection brought into the same situation: virtual time and one seed make all of them the
// same.
static uint32_t values_for(const struct boundary_kind *kind, enum boundary_sent sent, enum boundary_received received,
                           bool theirs, uint32_t *values)
{
    struct boundary b;
    boundary_bring(&b, kind, sent, received);
    const uint32_t count = boundary_values(&b, values, theirs ? b.t.theirs : b.t.ours);
    boundary_close(&b);
    return count;
}

static void each_sequence_number(void **state)
{
    uint32_t values[BOUNDARY_VALUES];
    (void)state;
    for (uint32_t k = boundary_first_kind(KINDS); k < KINDS; k++)
        for (int sent = 0; sent <= SENT_FULL - kinds[k].wide;
             sent += 1 + (sent == SENT_SOME) * (SENT_FULL - SENT_SOME - 1))
            for (int received = 0; received < RECEIVED_COUNT; received++) {
                const uint32_t count = values_for(&kinds[k], sent, received, true, values);
                for (uint32_t i = 0; i < count * FORMS; i++) {
                    struct boundary b;
                    const struct form *form = &forms[i % FORMS];
                    boundary_bring(&b, &kinds[k], sent, received);
                    const int64_t distance = boundary_distance(values[i / FORMS], b.rcv_nxt);
                    BOUNDARY_CASE("%s, %s, %s: %s at RCV.NXT %+lld, window %u", kinds[k].name, boundary_sent_name(sent),
                                  boundary_received_name(received), form->name, (long long)distance,
                                  b.edge - b.rcv_nxt);
                    const struct outcome out = judge(&b, form, distance);
                    if (received == RECEIVED_HOLE && out.fin >= 0 && out.fin < 400) {  // a peer that contradicts itself
                        boundary_close(&b);
                        continue;
                    }
                    input_form(&b, form, values[i / FORMS]);
                    expect_outcome(&b, out);
                    boundary_close(&b);
                }
            }
}

// --- the acknowledgement
// -------------------------------------------------------------------------------------------------------------------

enum belief { NEW, KNOWN, OLD, WRONG };

// RFC 9293 §3.10.7.4, fifth; RFC 5961 §5.2: SND.UNA - MAX.SND.WND <= SEG.ACK <= SND.NXT, else an ACK and no more.
static enum belief judge_ack(const struct boundary *b, uint32_t ack)
{
    const int64_t distance = boundary_distance(ack, b->una);
    if (distance > (int64_t)b->nxt - b->una || distance < -(int64_t)b->max_window)
        return WRONG;
    return distance > 0 ? NEW : distance ? OLD : KNOWN;
}

static void expect_belief(struct boundary *b, enum belief belief, uint32_t ack, uint32_t length)
{
    const struct tcp_conn *c = tcp_fixture_conn(&b->t);
    assert_non_null(c);
    if (belief == NEW)
        b->una = ack;
    if (belief != WRONG && length) {
        b->rcv_nxt += length;
        if (b->received == RECEIVED_HOLE && length >= 300)
            b->rcv_nxt = 400;
        b->most = b->rcv_nxt > b->most ? b->rcv_nxt : b->most;
    }
    assert_int_equal(c->snd.una - b->t.ours, b->una);
    assert_int_equal(c->rcv.nxt - b->t.theirs, b->rcv_nxt);
    const uint32_t nxt = b->nxt;
    boundary_take(b);
    if (belief == WRONG) {
        assert_int_equal(b->acks, 1);
        assert_int_equal(b->told, b->rcv_nxt);
    }
    if (belief == WRONG || (belief == OLD && !length))
        assert_int_equal(b->nxt, nxt);  // nothing is sent because of it
    if (belief == OLD && !length)
        assert_int_equal(b->frames, 0);
    boundary_check(b);
    boundary_finish(b);
}

static uint32_t ack_values(const struct boundary_kind *kind, enum boundary_sent sent, enum boundary_received received,
                           uint32_t *values)
{
    struct boundary b;
    const uint32_t count = values_for(kind, sent, received, false, values);
    boundary_bring(&b, kind, sent, received);
    boundary_close(&b);
    return boundary_add(values, count, b.una - b.max_window);
}

static void each_acknowledgement(void **state)
{
    static const uint32_t lengths[] = {0, 100, 300};
    uint32_t values[BOUNDARY_VALUES];
    (void)state;
    for (uint32_t k = boundary_first_kind(KINDS); k < KINDS; k++)
        for (int sent = 0; sent < SENT_COUNT; sent++)
            for (int received = 0; received <= RECEIVED_HOLE; received++) {
                if (kinds[k].wide && sent == SENT_FULL)
                    continue;
                const uint32_t count = ack_values(&kinds[k], sent, received, values);
                for (uint32_t i = 0; i < 3 * count; i++) {
                    struct boundary b;
                    const uint32_t ack = values[i / 3], length = lengths[i % 3];
                    boundary_bring(&b, &kinds[k], sent, received);
                    BOUNDARY_CASE("%s, %s, %s: ACK of SND.UNA %+lld with %u bytes, %u outstanding", kinds[k].name,
                                  boundary_sent_name(sent), boundary_received_name(received),
                                  (long long)boundary_distance(ack, b.una), length, b.nxt - b.una);
                    const enum belief belief = judge_ack(&b, ack);
                    peer_send_raw(
                        &b.t, &(struct peer_segment){.flags = TCP_ACK, .seq = b.rcv_nxt, .ack = ack, .length = length});
                    expect_belief(&b, belief, ack, length);
                    boundary_close(&b);
                }
            }
}

// --- timestamps
// ---------------------------------------------------------------------------------------------------------------------

static void input_times(struct boundary *b, uint32_t ack, uint32_t length, uint32_t value, uint32_t echo)
{
    const struct tcp_options times = {.seen = TCP_SEEN_TIMESTAMPS, .ts_value = value, .ts_echo = echo};
    if (b->rcv_nxt + length > b->most)
        b->most = b->rcv_nxt + length;
    peer_send_raw(&b->t, &(struct peer_segment){
                             .flags = TCP_ACK, .seq = b->rcv_nxt, .ack = ack, .length = length, .options = &times});
}

// RFC 7323 §5.3: a value older than TS.Recent is refused and answered. (§5.2 does not say of one 2^31 away which of
// both is the older.)
static void each_time_of_the_peer(void **state)
{
    (void)state;
    for (uint32_t k = boundary_first_kind(KINDS); k < KINDS; k++)
        for (int sent = 0; kinds[k].timestamps && sent < SENT_FULL; sent++)
            for (int received = 0; received < RECEIVED_HOLE; received++)
                for (uint32_t i = 0; i < 2 * BOUNDARY_DELTAS; i++) {
                    struct boundary b;
                    boundary_bring(&b, &kinds[k], sent, received);
                    struct tcp_conn *c = tcp_fixture_conn(&b.t);
                    const uint32_t recent = c->ts_recent, value = (i < BOUNDARY_DELTAS ? recent : b.t.ts_echo) +
                                                                  boundary_deltas[i % BOUNDARY_DELTAS];
                    const int64_t distance = boundary_distance(value, recent);
                    BOUNDARY_CASE("%s, %s, %s: TSval at TS.Recent %+lld", kinds[k].name, boundary_sent_name(sent),
                                  boundary_received_name(received), (long long)distance);
                    const uint32_t told = b.told;
                    input_times(&b, b.una, 100, value, b.t.ts_echo);
                    const uint32_t taken = c->rcv.nxt - b.t.theirs - b.rcv_nxt;
                    // else what was acknowledged last says which value is echoed (§4.3)
                    const bool first = told == b.rcv_nxt;
                    if (distance != -INT64_C(0x80000000))
                        assert_int_equal(taken, distance < 0 ? 0 : 100);
                    if (taken) {
                        assert_int_equal(c->ts_recent, first ? value : recent);
                        b.t.ts_value = value;
                    } else {
                        assert_int_equal(c->ts_recent, recent);
                        boundary_take(&b);
                        assert_int_not_equal(b.frames, 0);
                        assert_int_equal(b.told, b.rcv_nxt);
                    }
                    b.rcv_nxt += taken;
                    boundary_check(&b);
                    boundary_finish(&b);
                    boundary_close(&b);
                }
}

// What is echoed decides about no segment. It times only what it can have timed, and undoes only what left after it
// (RFC 3522).
static void each_echo(void **state)
{
    (void)state;
    for (uint32_t k = boundary_first_kind(KINDS); k < KINDS; k++)
        for (int sent = 0; kinds[k].timestamps && sent < SENT_COUNT; sent++)
            for (uint32_t i = 0; i < 2 * BOUNDARY_DELTAS; i++) {
                struct boundary b;
                if (kinds[k].wide && sent == SENT_FULL)
                    continue;
                boundary_bring(&b, &kinds[k], sent, RECEIVED_NOTHING);
                const uint32_t echo =
                    (i < BOUNDARY_DELTAS ? b.t.ts_echo : b.resent_time) + boundary_deltas[i % BOUNDARY_DELTAS];
                const uint32_t ack = b.nxt - b.una > 500 ? b.una + 500 : b.nxt;
                const int64_t age = boundary_distance(echo, b.resent_time);
                BOUNDARY_CASE("%s, %s: TSecr at the newest %+lld, at the first retransmission %+lld", kinds[k].name,
                              boundary_sent_name(sent), (long long)boundary_distance(echo, b.t.ts_echo),
                              (long long)age);
                input_times(&b, ack, 0, b.t.ts_value, echo);
                b.una = ack;
                const struct tcp_conn *c = tcp_fixture_conn(&b.t);
                assert_int_equal(c->snd.una - b.t.ours, ack);
                assert_true(c->rtt.srtt8_us / 8 <= 60000000);
                const uint32_t undone = fixture_count(&b.t.f, WEIR_COUNT_TCP_SPURIOUS);
                if (age >= 0 && sent < SENT_FULL)
                    assert_int_equal(undone, 0);
                if (WEIR_CFG_TCP_LOSS_RECOVERY && sent == SENT_RECOVERY && age < 0 && age > -60000)
                    assert_int_equal(undone, 1);
                boundary_take(&b);
                boundary_check(&b);
                boundary_finish(&b);
                boundary_close(&b);
            }
}

// --- the urgent pointer
// ---------------------------------------------------------------------------------------------------------------------

// RFC 9293 §3.10.7.4, sixth: RCV.UP follows a pointer of an acceptable segment that is ahead of what was received.
static void each_urgent_pointer(void **state)
{
    static const uint16_t pointers[] = {0, 1, 2, 99, 100, 101, 1999, 2000, 2001, 0x7fff, 0x8000, 0xffff};
    uint32_t values[BOUNDARY_VALUES];
    (void)state;
    if (!WEIR_CFG_TCP_URGENT)
        skip();
    for (uint32_t k = boundary_first_kind(KINDS); k < KINDS; k++) {
        const uint32_t count =
            boundary_add(values, values_for(&kinds[k], SENT_SOME, RECEIVED_NOTHING, true, values), 0u - 50);
        for (uint32_t i = 0; i < count * 24; i++) {
            struct boundary b;
            const uint32_t seq = values[i / 24], length = i % 2 * 100;
            const uint16_t pointer = pointers[i % 24 / 2];
            boundary_bring(&b, &kinds[k], SENT_SOME, RECEIVED_NOTHING);
            const struct form form = {"urgent", TCP_ACK | TCP_URG, length};
            const int64_t distance = boundary_distance(seq, b.rcv_nxt);
            BOUNDARY_CASE("%s: urgent pointer %u with %u bytes at RCV.NXT %+lld", kinds[k].name, pointer, length,
                          (long long)distance);
            struct outcome out = judge(&b, &form, distance);
            const bool edge = !length && distance == (int64_t)b.edge - b.rcv_nxt;
            const bool inside = acceptable(distance, length, (int64_t)b.edge - b.rcv_nxt) || edge;
            input_urgent(&b, &form, seq, pointer);
            const bool counts = inside && pointer && distance + pointer > 0;
            assert_int_equal(!!(weir_socket_ready(b.t.weir, b.t.socket) & WEIR_URGENT), counts);
            assert_int_equal(!!(tcp_fixture_conn(&b.t)->attention & ATTEND_URGENT_RECEIVED), counts);
            expect_outcome(&b, out);
            boundary_close(&b);
        }
    }
}

// --- what a router quotes
// ---------------------------------------------------------------------------------------------------------------------

// RFC 5927 §4.1: an error about a number that is not in flight is about nothing.
static void each_number_in_an_icmp_error(void **state)
{
    uint32_t values[BOUNDARY_VALUES];
    (void)state;
    for (uint32_t k = boundary_first_kind(KINDS); k < KINDS; k++)
        for (int sent = 0; sent < SENT_COUNT; sent++) {
            if (kinds[k].wide && sent == SENT_FULL)
                continue;
            const uint32_t count = values_for(&kinds[k], sent, RECEIVED_NOTHING, false, values);
            for (uint32_t i = 0; i < 2 * count; i++) {
                struct boundary b;
                boundary_bring(&b, &kinds[k], sent, RECEIVED_NOTHING);
                const int64_t distance = boundary_distance(values[i / 2], b.una);
                const bool flying = distance >= 0 && distance < (int64_t)b.nxt - b.una;
                BOUNDARY_CASE("%s, %s: ICMP error about SND.UNA %+lld", kinds[k].name, boundary_sent_name(sent),
                              (long long)distance);
                peer_icmp(&b.t, 3, i % 2 ? 4 : 1, i % 2 ? (WEIR_CFG_IP4 ? 600 : 1300) : 0, values[i / 2], 1500);
                assert_int_equal(fixture_count(&b.t.f, WEIR_COUNT_ICMP_IGNORED), !flying);
                assert_int_equal(tcp_fixture_conn(&b.t)->error, flying && !(i % 2) ? WEIR_HOST_UNREACHABLE : WEIR_OK);
                boundary_take(&b);
                boundary_check(&b);
                boundary_finish(&b);
                boundary_close(&b);
            }
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_teardown(each_sequence_number, boundary_say),
        cmocka_unit_test_teardown(each_acknowledgement, boundary_say),
        cmocka_unit_test_teardown(each_time_of_the_peer, boundary_say),
        cmocka_unit_test_teardown(each_echo, boundary_say),
        cmocka_unit_test_teardown(each_urgent_pointer, boundary_say),
        cmocka_unit_test_teardown(each_number_in_an_icmp_error, boundary_say),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
