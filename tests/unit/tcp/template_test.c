// SPDX-License-Identifier: BSD-2-Clause
// not lean: it has no flow cache
// Header prediction in the frame, and header templates: what comes and leaves so is what would have come and left the
// canonical way, and nothing that the steps would refuse.
#include "pair.h"
#include "tcp_fixture.h"

#include <string.h>

#include "ip/flow.h"
#include "tcp/internal.h"
#include "tcp/template.h"

#define PORT 7

struct transfer {
    struct pair pair;
    weir_socket client, server;
    uint32_t total, written, read;
    uint32_t data_frames, flipped, taken[2];
    uint32_t flip_every;
    uint8_t mac[6];  // where the last frame of a went
    uint8_t ttl;
    uint64_t tapped;
};

static uint8_t byte_at(uint32_t at) { return (uint8_t)(at * 29 + (at >> 9)); }

// Each time another bit of the headers (and of some payload) of a data frame is wrong.
static bool damage(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    struct transfer *x = context;
    if (from_b)
        return true;
    memcpy(x->mac, frame, 6);
    x->ttl = frame[22];
    if (length < 200 || !x->flip_every || ++x->data_frames % x->flip_every)
        return true;
    const uint32_t bit = x->flipped++;
    if (bit / 8 < 80)
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
    return true;
}

static bool moved(void *context)
{
    struct transfer *x = context;
    uint8_t bytes[3000];
    while (x->written < x->total) {
        const uint32_t want = min_u32(x->total - x->written, sizeof bytes);
        for (uint32_t i = 0; i < want; i++)
            bytes[i] = byte_at(x->written + i);
        const int wrote = weir_socket_write(x->pair.a.weir, x->client, bytes, want);
        if (wrote <= 0)
            break;
        x->written += (uint32_t)wrote;
    }
    int got;
    while ((got = weir_socket_read(x->pair.b.weir, x->server, bytes, sizeof bytes)) > 0) {
        for (int i = 0; i < got; i++)
            assert_int_equal(bytes[i], byte_at(x->read + (uint32_t)i));
        x->read += (uint32_t)got;
    }
    assert_int_equal(got, WEIR_AGAIN);
    return x->read == x->total;
}

static void begin(struct transfer *x)
{
    memset(x, 0, sizeof *x);
    pair_open(&x->pair, &(struct pair_options){
                            .link = {.delay_us = 100}, .a = {.mode = FIXTURE_PLAIN}, .b = {.mode = FIXTURE_PLAIN}});
    x->pair.filter = damage;
    x->pair.filter_context = x;
    pair_connect(&x->pair, PORT, &x->client, &x->server);
}

static void move(struct transfer *x, uint32_t bytes)
{
    x->total += bytes;
    assert_true(pair_run_until(&x->pair, moved, x, 4000000000u));
    pair_run(&x->pair, 100000);  // the last acknowledgement, too
}

static bool has_template(struct fixture *f, struct weir_addr peer)
{
    return flow_place(f->weir, addr_low(peer))->template.generation == f->weir->ip.flow_generation;
}

static void both_sides_know_their_flow(void **state)
{
    struct transfer x;
    (void)state;
    begin(&x);
    move(&x, 200000);
    const struct flow *const of_a = flow_place(x.pair.a.weir, addr_low(PAIR_B));
    const struct flow *const of_b = flow_place(x.pair.b.weir, addr_low(PAIR_A));
    assert_true(weir_addr_equal(of_a->remote, PAIR_B) && weir_addr_equal(of_a->local, PAIR_A));
    assert_true(has_template(&x.pair.a, PAIR_B) && has_template(&x.pair.b, PAIR_A));
    assert_int_equal(of_b->match.generation, x.pair.b.weir->ip.generation);
    pair_close(&x.pair);
}

// A driver that tells of its last place is not offered a frame more until it has room again, by template or otherwise.
static void a_driver_that_is_full_is_left_alone(void **state)
{
    (void)state;
    for (uint32_t places = 1; places < 12; places++) {
        struct transfer x;
        begin(&x);
        x.pair.a.places = x.pair.b.places = places;
        move(&x, 100000);
        assert_int_equal(x.pair.a.netif.stats.tx_full, 0);
        assert_true(has_template(&x.pair.a, PAIR_B));
        weir_socket_abort(x.pair.a.weir, x.client);
        pair_run(&x.pair, 1000);
        pair_close(&x.pair);
    }
}

// Whatever bit is wrong, in Ethernet, IP or TCP header or the data: nothing wrong is delivered, and the counters tell
// as they always do.
static void every_wrong_bit_is_noticed(void **state)
{
    struct transfer x;
    (void)state;
    begin(&x);
    move(&x, 100000);
    x.flip_every = 9;
    while (x.flipped < 80 * 8)
        move(&x, 100000);
    assert_true(fixture_count(&x.pair.b, WEIR_COUNT_TCP_BAD_CHECKSUM) > 200);
    assert_true(fixture_count(&x.pair.b, WEIR_COUNT_IP_BAD_CHECKSUM) > 60);
    assert_true(fixture_count(&x.pair.b, WEIR_COUNT_ETHERNET_OTHER) > 30);
    pair_close(&x.pair);
}

// What the flow cache knows ends when what it rests on does.
static void a_new_neighbour_is_heeded_at_once(void **state)
{
    static const uint8_t elsewhere[6] = {2, 9, 9, 9, 9, 9};
    struct transfer x;
    (void)state;
    begin(&x);
    move(&x, 50000);
    assert_int_equal(weir_neighbour_add_static(x.pair.a.weir, &x.pair.a.netif, PAIR_B, elsewhere), WEIR_OK);
    assert_int_equal(weir_socket_write(x.pair.a.weir, x.client, "x", 1), 1);
    pair_run(&x.pair, 1000);
    assert_memory_equal(x.mac, elsewhere, 6);
    pair_close(&x.pair);
}

static void a_changed_address_is_heeded_at_once(void **state)
{
    struct transfer x;
    uint8_t byte;
    (void)state;
    begin(&x);
    move(&x, 50000);
    assert_int_equal(weir_netif_set_address(&x.pair.b.netif, weir_ip4(10, 0, 0, 77), 24, WEIR_ADDRESS_AT_ONCE),
                     WEIR_OK);
    assert_int_equal(weir_socket_write(x.pair.a.weir, x.client, "x", 1), 1);
    pair_run(&x.pair, 100000);
    assert_int_equal(weir_socket_read(x.pair.b.weir, x.server, &byte, 1), WEIR_AGAIN);
    assert_true(fixture_count(&x.pair.b, WEIR_COUNT_IP_NOT_OURS) > 0);
    pair_close(&x.pair);
}

static void an_option_is_heeded_at_once(void **state)
{
    struct transfer x;
    (void)state;
    begin(&x);
    move(&x, 50000);
    assert_int_equal(x.ttl, 64);
    assert_int_equal(weir_socket_set(x.pair.a.weir, x.client, WEIR_OPTION_TTL, 9), WEIR_OK);
    move(&x, 5000);
    assert_int_equal(x.ttl, 9);
    pair_close(&x.pair);
}

static void tap_frame(struct weir_tap *self, const struct weir_netif *netif, bool outgoing,
                      const struct weir_slice *slices, uint16_t count, uint64_t now_us)
{
    (void)netif, (void)outgoing, (void)slices, (void)count, (void)now_us;
    ++*(uint64_t *)self->context;
}

// Interfaces count, and taps see, every frame, in and out.
static void nothing_is_hidden(void **state)
{
    struct transfer x;
    (void)state;
    begin(&x);
    move(&x, 100000);
    struct weir_tap tap = {.frame = tap_frame, .context = &x.tapped};
    const struct weir_netif_stats before = x.pair.b.netif.stats;
    weir_tap_add(x.pair.b.weir, &tap);
    move(&x, 100000);
    pair_run(&x.pair, 1000000);
    const struct weir_netif_stats after = x.pair.b.netif.stats;
    assert_true(x.tapped > 60);
    assert_int_equal(x.tapped, after.rx_frames - before.rx_frames + after.tx_frames - before.tx_frames);
    assert_true(after.rx_bytes - before.rx_bytes > 100000);
    weir_tap_remove(x.pair.b.weir, &tap);
    pair_close(&x.pair);
}

// --- a turn to send in the steady state (output.c, plan.c) -----------------------------------------------------------

struct turn {
    struct tcp_fixture t;
    struct tcp_conn *c;
    struct flow *flow;
    uint32_t written;
    enum weir_tx_verdict verdict;
};

// Established; ten bytes went the canonical way and were acknowledged, and left a template.
static void turn_open(struct turn *x, bool no_delay)
{
    memset(x, 0, sizeof *x);
    const struct tcp_fixture_options options = {.timestamps = true, .sack = true, .fixture = {.mode = FIXTURE_PLAIN}};
    tcp_fixture_bring(&x->t, WEIR_TCP_ESTABLISHED, &options);
    assert_int_equal(weir_socket_set(x->t.weir, x->t.socket, WEIR_OPTION_NO_DELAY, no_delay), WEIR_OK);
    user_write(&x->t, 0, 10);
    peer_expect(&x->t, TCP_ACK, 0, 0, 10);
    peer_send(&x->t, TCP_ACK, 0, 10);
    x->written = 10;
    x->c = tcp_fixture_conn(&x->t);
    x->flow = flow_place(x->t.weir, addr_low(x->c->remote.addr));
    assert_int_equal(x->flow->template.generation, x->t.weir->ip.flow_generation);
}

static void turn_queue(struct turn *x, uint32_t length)
{
    uint8_t bytes[8192];
    assert_in_range(length, 1, sizeof bytes);
    for (uint32_t i = 0; i < length; i++)
        bytes[i] = peer_pattern(x->written + i);
    assert_int_equal(weir_socket_write(x->t.weir, x->t.socket, bytes, length), length);
    x->written += length;
}

static void turn(struct turn *x)
{
    uint32_t quantum = 8;
    bool more;
    x->verdict = tcp_output(x->t.weir, x->c, &quantum, &more);
}

static void turn_expect(struct turn *x, uint32_t seq, uint32_t ack, uint32_t length)
{
    peer_expect(&x->t, TCP_ACK, seq, ack, length);
    for (uint32_t i = 0; i < length; i++)
        assert_int_equal(x->t.got_data[i], peer_pattern(seq + i));
}

static void a_turn_sends_one_segment(void **state)
{
    struct turn x;
    (void)state;
    turn_open(&x, true);
    const uint32_t lengths[] = {1, 2, 9, 700, x.c->mss};
    for (uint32_t i = 0; i < sizeof lengths / sizeof *lengths; i++) {
        const uint32_t seq = x.written;
        turn_queue(&x, lengths[i]);
        turn(&x);
        assert_int_equal(x.verdict, WEIR_TX_DONE);
        turn_expect(&x, seq, 0, lengths[i]);
        assert_true(x.t.got.flags & TCP_PSH);
        assert_int_equal(x.c->snd.nxt - x.c->snd.una, lengths[i]);
        assert_true(x.c->armed & 1u << TCP_TIMER_SEND);
        turn(&x);  // and no byte twice
        peer_expect_nothing(&x.t);
        peer_send(&x.t, TCP_ACK, 0, x.written);
        assert_int_equal(x.c->snd.una, x.c->snd.nxt);
    }
    tcp_fixture_close(&x.t);
}

// A few bytes go behind the header; more than that is lent.
static void a_turn_copies_a_few_bytes(void **state)
{
    struct turn x;
    (void)state;
    turn_open(&x, true);
    for (int again = 0; again < 2; again++) {
        const uint32_t seq = x.written;
        turn_queue(&x, 5);
        turn(&x);
        assert_int_equal(x.flow->template.tx.count, 1);
        assert_int_equal(x.flow->template.slices[0].length, x.flow->template.tx.length);
        assert_false(x.flow->template.tx.holdable);
        turn_expect(&x, seq, 0, 5);
        peer_send(&x.t, TCP_ACK, 0, x.written);
    }
    turn_queue(&x, 9);
    turn(&x);
    assert_int_equal(x.flow->template.tx.count, 2);
    assert_int_equal(x.flow->template.slices[0].length, x.flow->template.tx.header_length);
    assert_true(x.flow->template.tx.holdable);
    turn_expect(&x, x.written - 9, 0, 9);
    tcp_fixture_close(&x.t);
}

// What is acknowledged goes along, and is not owed any more.
static void a_turn_takes_the_acknowledgement_along(void **state)
{
    struct turn x;
    (void)state;
    turn_open(&x, true);
    peer_send_raw(&x.t, &(struct peer_segment){.flags = TCP_ACK, .ack = 10, .length = 300, .quiet = true});
    assert_true(x.c->flags & TCP_ACK_NOW);
    turn_queue(&x, 5);
    turn(&x);
    turn_expect(&x, 10, 300, 5);
    assert_int_equal(x.c->flags & (TCP_ACK_NOW | TCP_ACK_DELAYED), 0);
    assert_int_equal(x.c->rcv.acked, x.c->rcv.nxt);
    fixture_poll(&x.t.f, 0);
    peer_expect_nothing(&x.t);
    tcp_fixture_close(&x.t);
}

static void a_turn_sends_several_segments(void **state)
{
    struct turn x;
    (void)state;
    turn_open(&x, true);
    const uint32_t mss = x.c->mss;
    turn_queue(&x, 2 * mss + 9);
    turn(&x);
    turn_expect(&x, 10, 0, mss);
    assert_false(x.t.got.flags & TCP_PSH);
    turn_expect(&x, 10 + mss, 0, mss);
    turn_expect(&x, 10 + 2 * mss, 0, 9);
    assert_true(x.t.got.flags & TCP_PSH);
    peer_expect_nothing(&x.t);
    peer_send(&x.t, TCP_ACK, 0, x.written);
    turn_queue(&x, mss + 1);
    turn(&x);
    turn_expect(&x, x.written - mss - 1, 0, mss);
    turn_expect(&x, x.written - 1, 0, 1);
    tcp_fixture_close(&x.t);
}

// Memory of the queue comes in pieces: a run of segments goes on from one to the next, and some segment lies in two.
static void a_run_goes_from_piece_to_piece(void **state)
{
    struct turn x;
    (void)state;
    turn_open(&x, true);
    const uint32_t mss = x.c->mss;
    for (uint32_t runs = 0; runs < 12; runs++) {
        const uint32_t seq = x.written;
        turn_queue(&x, 4 * mss);
        turn_queue(&x, 3 * mss);
        turn(&x);
        for (uint32_t i = 0; i < 7; i++)
            turn_expect(&x, seq + i * mss, 0, mss);
        peer_expect_nothing(&x.t);
        peer_send(&x.t, TCP_ACK, 0, x.written);
    }
    tcp_fixture_close(&x.t);
}

// Nagle (RFC 9293 §3.7.4): a small segment may go when none is out, and no second one.
static void a_turn_keeps_to_nagle(void **state)
{
    struct turn x;
    (void)state;
    turn_open(&x, false);
    turn_queue(&x, 3);
    turn(&x);
    turn_expect(&x, 10, 0, 3);
    turn_queue(&x, 4);
    turn(&x);
    peer_expect_nothing(&x.t);
    peer_send(&x.t, TCP_ACK, 0, 13);
    turn_expect(&x, 13, 0, 4);
    assert_int_equal(weir_socket_set(x.t.weir, x.t.socket, WEIR_OPTION_CORK, 1), WEIR_OK);
    peer_send(&x.t, TCP_ACK, 0, 17);
    turn_queue(&x, 5);
    turn(&x);
    peer_expect_nothing(&x.t);
    tcp_fixture_close(&x.t);
}

static void a_turn_keeps_to_the_windows(void **state)
{
    struct turn x;
    (void)state;
    turn_open(&x, true);
    const uint32_t mss = x.c->mss;
    x.c->flow->window.cwnd = 2 * mss;
    turn_queue(&x, 3 * mss);
    turn(&x);
    turn_expect(&x, 10, 0, mss);
    turn_expect(&x, 10 + mss, 0, mss);
    peer_expect_nothing(&x.t);
    assert_true(x.c->flags & TCP_CWND_LIMITED);
    x.t.window = 1;
    peer_send_raw(&x.t, &(struct peer_segment){.flags = TCP_ACK, .ack = 10 + 2 * mss, .quiet = true});
    turn(&x);  // a window of one byte holds it back
    peer_expect_nothing(&x.t);
    x.c->snd.wnd = 10 * mss;
    x.c->flow->window.cwnd = mss - 1;  // a whole one is all that is left
    turn(&x);
    peer_expect_nothing(&x.t);
    x.c->flow->window.cwnd = 20 * mss;
    x.c->snd.wnd = mss - 1;
    turn(&x);
    peer_expect_nothing(&x.t);
    x.c->snd.wnd = mss;
    turn(&x);
    turn_expect(&x, 10 + 2 * mss, 0, mss);
    tcp_fixture_close(&x.t);
}

// Without a queue to send it is an acknowledgement, where one is owed.
static void a_turn_acknowledges(void **state)
{
    struct turn x = {0};
    (void)state;
    tcp_fixture_bring(&x.t, WEIR_TCP_ESTABLISHED,
                      &(struct tcp_fixture_options){.timestamps = true, .fixture = {.mode = FIXTURE_PLAIN}});
    peer_data(&x.t, 0, 100);
    peer_expect(&x.t, TCP_ACK, 0, 100, 0);
    x.c = tcp_fixture_conn(&x.t);
    peer_send_raw(&x.t, &(struct peer_segment){.flags = TCP_ACK, .seq = 100, .length = 50, .quiet = true});
    assert_true(x.c->flags & TCP_ACK_NOW);
    assert_null(x.c->send);
    for (int more = 1; more >= 0; more--) {
        turn(&x);
        assert_int_equal(x.verdict, WEIR_TX_DONE);
        if (more)
            peer_expect(&x.t, TCP_ACK, 0, 150, 0);
        peer_expect_nothing(&x.t);
    }
    tcp_fixture_close(&x.t);
}

// A full interface: nothing has happened, and the bytes leave once it has room.
static void a_turn_at_a_full_interface_changes_nothing(void **state)
{
    struct turn x;
    (void)state;
    turn_open(&x, true);
    x.t.f.block_tx = true;
    turn_queue(&x, 7);
    const uint32_t nxt = x.c->snd.nxt, edge = x.c->rcv.edge, out = x.c->flow->flight->count;
    turn(&x);
    assert_int_equal(x.verdict, WEIR_TX_FULL);
    assert_int_equal(x.c->snd.nxt, nxt);
    assert_int_equal(x.c->rcv.edge, edge);
    assert_int_equal(x.c->flow->flight->count, out);
    assert_true(x.t.f.netif.flags & WEIR_NETIF_TX_BLOCKED);
    turn(&x);  // not even asked again
    peer_expect_nothing(&x.t);
    fixture_unblock(&x.t.f, 0);
    turn_expect(&x, 10, 0, 7);
    peer_expect_nothing(&x.t);
    tcp_fixture_close(&x.t);
}

// Runs of full segments are for the steady state: whatever has a bit in the attention word ends them, and the steps of
// plan.c decide.
static void a_run_ends_where_something_asks_for_attention(void **state)
{
    struct turn x;
    struct tcp_plan plan;
    (void)state;
    turn_open(&x, true);
    const uint32_t mss = x.c->mss;
    turn_queue(&x, 3 * mss + 7);
    assert_int_equal(x.c->attention, 0);
    assert_true(tcp_plan_next(x.t.weir, x.c, &plan, 8));
    assert_int_equal(plan.run, 3);
    assert_int_equal(plan.end - plan.seq, 3 * mss);
    assert_true(tcp_plan_next(x.t.weir, x.c, &plan, 2));
    assert_int_equal(plan.run, 2);
    for (uint32_t bit = 0; bit < 32 && 1u << bit <= ATTEND_RTX_PROBE; bit++) {
        x.c->attention = 1u << bit;
        if (x.c->attention & (ATTEND_PROBE_NOW | ATTEND_TLP_DUE | ATTEND_FIN_SENT | ATTEND_DEADLINE))
            continue;  // these bring plans of their own, for what the connection then has
        assert_true(tcp_plan_next(x.t.weir, x.c, &plan, 8));
        assert_int_equal(plan.run, 1);
        assert_int_equal(plan.end - plan.seq, mss);
    }
    x.c->attention = 0;
    turn(&x);
    for (uint32_t i = 0; i < 3; i++)
        turn_expect(&x, 10 + i * mss, 0, mss);
    turn_expect(&x, 10 + 3 * mss, 0, 7);
    tcp_fixture_close(&x.t);
}

static void refused(struct turn *x, const struct tcp_plan *data, const struct tcp_plan *ack)
{
    struct tcp_plan plan = *data;
    assert_int_equal(tcp_template_data(x->t.weir, x->c, &plan), WEIR_TX_UNRESOLVED);
    plan = *ack;
    assert_int_equal(tcp_template_control(x->t.weir, x->c, &plan), WEIR_TX_UNRESOLVED);
}

// What writes something into the header that the template lacks does not go by it.
static void a_template_is_for_headers_like_it(void **state)
{
    struct turn x;
    (void)state;
    turn_open(&x, true);
    turn_queue(&x, 7);
    const struct tcp_plan data = {
        .seq = x.c->snd.nxt, .end = x.c->snd.nxt + 7, .payload = 7, .run = 1, .flags = TCP_ACK};
    const struct tcp_plan ack = {.seq = x.c->snd.nxt, .end = x.c->snd.nxt, .run = 1, .flags = TCP_ACK};
    for (uint32_t bit = 0; bit < 32; bit++) {
        x.c->attention = ATTEND_HEADER & 1u << bit;
        if (x.c->attention)
            refused(&x, &data, &ack);
    }
    x.c->attention = 0;
    x.c->flags &= ~(uint32_t)TCP_USE_TIMESTAMPS;
    refused(&x, &data, &ack);
    x.c->flags |= TCP_USE_TIMESTAMPS;
    x.flow->template.generation++;
    refused(&x, &data, &ack);
    x.flow->template.generation--;
    x.flow->template.made_ms -= FLOW_RENEW_MS;
    refused(&x, &data, &ack);
    peer_expect_nothing(&x.t);
    turn(&x);
    turn_expect(&x, 10, 0, 7);
    tcp_fixture_close(&x.t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_know_their_flow),
        cmocka_unit_test(every_wrong_bit_is_noticed),
        cmocka_unit_test(a_driver_that_is_full_is_left_alone),
        cmocka_unit_test(a_new_neighbour_is_heeded_at_once),
        cmocka_unit_test(a_changed_address_is_heeded_at_once),
        cmocka_unit_test(an_option_is_heeded_at_once),
        cmocka_unit_test(nothing_is_hidden),
        cmocka_unit_test(a_turn_sends_one_segment),
        cmocka_unit_test(a_turn_copies_a_few_bytes),
        cmocka_unit_test(a_turn_takes_the_acknowledgement_along),
        cmocka_unit_test(a_turn_sends_several_segments),
        cmocka_unit_test(a_run_goes_from_piece_to_piece),
        cmocka_unit_test(a_turn_keeps_to_nagle),
        cmocka_unit_test(a_turn_keeps_to_the_windows),
        cmocka_unit_test(a_turn_acknowledges),
        cmocka_unit_test(a_turn_at_a_full_interface_changes_nothing),
        cmocka_unit_test(a_run_ends_where_something_asks_for_attention),
        cmocka_unit_test(a_template_is_for_headers_like_it),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
