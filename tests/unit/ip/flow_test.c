// SPDX-License-Identifier: BSD-2-Clause
// not lean: it has no flow cache
// The flow cache: connections that open and close between the same two hosts send what they would have sent the
// canonical way.
#include "pair.h"

#include <string.h>

#include "ip/flow.h"
#include "tcp/internal.h"

#define PORT 7
#define FRAMES 16u

// The frames of one connection, as they left.
struct life {
    uint32_t count;
    struct {
        bool from_b;
        uint32_t length;
        uint8_t bytes[128];
    } frame[FRAMES];
};

struct test {
    struct pair pair;
    struct life life;
};

static bool look(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    struct test *x = context;
    if (x->life.count < FRAMES && length <= sizeof x->life.frame[0].bytes && frame[12] == 8 && frame[13] == 0) {
        x->life.frame[x->life.count].from_b = from_b;
        x->life.frame[x->life.count].length = length;
        memcpy(x->life.frame[x->life.count++].bytes, frame, length);
    }
    return true;
}

static void begin(struct test *x)
{
    memset(x, 0, sizeof *x);
    pair_open(&x->pair, &(struct pair_options){
                            .link = {.delay_us = 10}, .a = {.mode = FIXTURE_PLAIN}, .b = {.mode = FIXTURE_PLAIN}});
    x->pair.filter = look;
    x->pair.filter_context = x;
}

// A connection from a to b, opened, and closed by b's end as soon as it hears of a's; ttl 0: the usual.
static void live(struct test *x, int ttl)
{
    uint8_t byte;
    memset(&x->life, 0, sizeof x->life);
    struct weir *a = x->pair.a.weir, *b = x->pair.b.weir;
    const weir_socket listener = weir_socket_open(b, WEIR_STREAM, 0), client = weir_socket_open(a, WEIR_STREAM, 0);
    const struct weir_endpoint at = {PAIR_B, PORT};
    assert_int_equal(weir_socket_bind(b, listener, &at), WEIR_OK);
    assert_int_equal(weir_socket_listen(b, listener, 4), WEIR_OK);
    if (ttl)
        assert_int_equal(weir_socket_set(a, client, WEIR_OPTION_TTL, ttl), WEIR_OK);
    assert_int_equal(weir_socket_connect(a, client, &at), WEIR_IN_PROGRESS);
    pair_run(&x->pair, 100);
    const weir_socket server = weir_socket_accept(b, listener);
    assert_true(server > 0);
    assert_int_equal(weir_socket_close(a, client), WEIR_OK);
    pair_run(&x->pair, 100);
    assert_int_equal(weir_socket_read(b, server, &byte, 1), 0);
    assert_int_equal(weir_socket_close(b, server), WEIR_OK);
    assert_int_equal(weir_socket_close(b, listener), WEIR_OK);
    pair_run(&x->pair, 1000);
}

static const struct flow_template *template_to(struct fixture *f, struct weir_addr peer)
{
    return &flow_place(f->weir, addr_low(peer))->template;
}

static void six_frames(const struct life *life)
{
    static const struct {
        bool from_b;
        uint8_t flags;
    } expected[6] = {{false, TCP_SYN},           {true, TCP_SYN | TCP_ACK}, {false, TCP_ACK},
                     {false, TCP_FIN | TCP_ACK}, {true, TCP_FIN | TCP_ACK}, {false, TCP_ACK}};
    assert_int_equal(life->count, 6);
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(life->frame[i].from_b, expected[i].from_b);
        assert_int_equal(life->frame[i].bytes[14 + 20 + 13], expected[i].flags);
        assert_int_equal(life->frame[i].length, i < 2 ? 14 + 20 + 40 : 14 + 20 + 32);
    }
}

// What stands before the TCP header is what the canonical way writes, to the bit: in a moment that has a template, and
// in one that has none.
static void by_template_as_the_canonical_way(void **state)
{
    struct test x;
    (void)state;
    begin(&x);
    live(&x, 0);
    live(&x, 0);
    six_frames(&x.life);
    const struct life by_template = x.life;
    const uint32_t made = template_to(&x.pair.a, PAIR_B)->made_ms;
    assert_int_equal(template_to(&x.pair.a, PAIR_B)->generation, x.pair.a.weir->ip.flow_generation);
    assert_int_equal(template_to(&x.pair.b, PAIR_A)->generation, x.pair.b.weir->ip.flow_generation);
    pair_run(&x.pair, 2000000);
    live(&x, 0);
    assert_true(template_to(&x.pair.a, PAIR_B)->made_ms - made >= 1000);  // renewed
    six_frames(&x.life);
    for (uint32_t i = 0; i < 6; i++)
        assert_memory_equal(by_template.frame[i].bytes, x.life.frame[i].bytes, 14 + 20);
    assert_int_equal(fixture_count(&x.pair.a, WEIR_COUNT_TCP_BAD_CHECKSUM) +
                         fixture_count(&x.pair.b, WEIR_COUNT_TCP_BAD_CHECKSUM),
                     0);
    assert_int_equal(
        fixture_count(&x.pair.a, WEIR_COUNT_IP_BAD_CHECKSUM) + fixture_count(&x.pair.b, WEIR_COUNT_IP_BAD_CHECKSUM), 0);
    pair_close(&x.pair);
}

static void what_a_socket_asks_for_is_heeded(void **state)
{
    struct test x;
    (void)state;
    begin(&x);
    live(&x, 0);
    assert_int_equal(x.life.frame[0].bytes[14 + 8], 64);
    live(&x, 9);
    assert_int_equal(x.life.frame[0].bytes[14 + 8], 9);
    assert_int_equal(x.life.frame[1].bytes[14 + 8], 64);
    live(&x, 0);
    assert_int_equal(x.life.frame[0].bytes[14 + 8], 64);
    six_frames(&x.life);
    pair_close(&x.pair);
}

// A new neighbour, a new way: the very next frame goes there.
static void what_has_changed_is_heeded_at_once(void **state)
{
    static const uint8_t elsewhere[6] = {2, 9, 9, 9, 9, 9}, gateway[6] = {2, 7, 7, 7, 7, 7};
    struct test x;
    (void)state;
    begin(&x);
    live(&x, 0);
    const weir_socket one = weir_socket_open(x.pair.a.weir, WEIR_STREAM, 0),
                      two = weir_socket_open(x.pair.a.weir, WEIR_STREAM, 0);
    const struct weir_endpoint at = {PAIR_B, PORT};
    memset(&x.life, 0, sizeof x.life);
    assert_int_equal(weir_neighbour_add_static(x.pair.a.weir, &x.pair.a.netif, PAIR_B, elsewhere), WEIR_OK);
    assert_int_equal(weir_socket_connect(x.pair.a.weir, one, &at), WEIR_IN_PROGRESS);
    pair_run(&x.pair, 100);
    assert_int_equal(x.life.count, 1);
    assert_memory_equal(x.life.frame[0].bytes, elsewhere, 6);
    assert_int_equal(weir_neighbour_add_static(x.pair.a.weir, &x.pair.a.netif, weir_ip4(10, 0, 0, 9), gateway),
                     WEIR_OK);
    assert_int_equal(weir_route_add(x.pair.a.weir, PAIR_B, 32, weir_ip4(10, 0, 0, 9), &x.pair.a.netif, 0), WEIR_OK);
    assert_int_equal(weir_socket_connect(x.pair.a.weir, two, &at), WEIR_IN_PROGRESS);
    pair_run(&x.pair, 100);
    assert_int_equal(x.life.count, 2);
    assert_memory_equal(x.life.frame[1].bytes, gateway, 6);
    weir_socket_abort(x.pair.a.weir, one);
    weir_socket_abort(x.pair.a.weir, two);
    pair_run(&x.pair, 100);
    pair_close(&x.pair);
}

// A driver that is full is asked no more, and what could not leave leaves later, SYN-ACKs as all else.
static void a_driver_that_is_full_is_left_alone(void **state)
{
    (void)state;
    for (uint32_t places = 1; places < 4; places++) {
        struct test x;
        begin(&x);
        x.pair.a.places = x.pair.b.places = places;
        live(&x, 0);
        live(&x, 0);
        six_frames(&x.life);
        assert_int_equal(x.pair.a.netif.stats.tx_full, 0);
        assert_int_equal(x.pair.b.netif.stats.tx_full, 0);
        pair_close(&x.pair);
    }
}

static void tap_frame(struct weir_tap *self, const struct weir_netif *netif, bool outgoing,
                      const struct weir_slice *slices, uint16_t count, uint64_t now_us)
{
    (void)netif, (void)slices, (void)count, (void)now_us;
    *(uint32_t *)self->context += outgoing;
}

// Taps see, and the interface counts, what leaves by a template.
static void nothing_is_hidden(void **state)
{
    struct test x;
    uint32_t seen = 0;
    (void)state;
    begin(&x);
    live(&x, 0);
    struct weir_tap tap = {.frame = tap_frame, .context = &seen};
    weir_tap_add(x.pair.a.weir, &tap);
    const struct weir_netif_stats before = x.pair.a.netif.stats;
    live(&x, 0);
    live(&x, 0);
    assert_int_equal(seen, 8);
    assert_int_equal(x.pair.a.netif.stats.tx_frames - before.tx_frames, 8);
    assert_int_equal(x.pair.a.netif.stats.tx_bytes - before.tx_bytes, 2 * (14 + 20 + 40) + 6 * (14 + 20 + 32));
    weir_tap_remove(x.pair.a.weir, &tap);
    pair_close(&x.pair);
}

// --- places ----------------------------------------------------------------------------------------------------------

static void path_to(struct fixture *f, uint32_t host)
{
    struct path path;
    struct weir_addr source = weir_addr_any();
    assert_int_equal(ip_path_find(f->weir, &path, &source, weir_addr_v4(0x0a000000u + host), 0), WEIR_OK);
}

// Two peers whose addresses end alike meet in one place: the one that was there stays for a millisecond, then the
// newcomer has it.
static void peers_that_meet_take_turns(void **state)
{
    struct fixture f;
    (void)state;
    fixture_open(&f, &weir_link_ethernet, weir_ip4(10, 0, 0, 1), 24, 0);
    const struct weir_addr one = weir_ip4(10, 0, 0, 3), two = weir_addr_v4(0x0a000003u + WEIR_CFG_FLOWS);
    path_to(&f, 3);
    path_to(&f, 3 + WEIR_CFG_FLOWS);
    assert_true(weir_addr_equal(flow_place(f.weir, addr_low(one))->remote, one));
    fixture_poll(&f, 1000);
    path_to(&f, 3);
    path_to(&f, 3 + WEIR_CFG_FLOWS);
    assert_true(weir_addr_equal(flow_place(f.weir, addr_low(two))->remote, two));
    assert_int_equal(flow_place(f.weir, addr_low(two))->match.generation, 0);
    assert_int_equal(flow_place(f.weir, addr_low(two))->template.generation, 0);
    fixture_close(&f);
}

// A way that was found is found again, for what it was asked for: any source or the one it gave, any interface or its
// own.
static void a_path_answers_what_it_was_found_for(void **state)
{
    struct fixture f;
    struct path path;
    const struct weir_addr peer = weir_ip4(10, 0, 0, 3);
    (void)state;
    fixture_open(&f, &weir_link_ethernet, weir_ip4(10, 0, 0, 1), 24, 0);
    struct weir_addr source = weir_addr_any();
    assert_false(flow_path(f.weir, &path, &source, peer, 0));
    path_to(&f, 3);
    assert_true(flow_path(f.weir, &path, &source, peer, 0));
    assert_ptr_equal(path.netif, &f.netif);
    assert_true(weir_addr_equal(source, f.netif.address.addr));
    assert_false(flow_path(f.weir, &path, &source, peer, 0));  // that source was not asked for
    assert_int_equal(ip_path_find(f.weir, &path, &source, peer, 0), WEIR_OK);
    assert_true(flow_path(f.weir, &path, &source, peer, 0));
    assert_false(flow_path(f.weir, &path, &source, peer, f.netif.index));
    assert_int_equal(ip_path_find(f.weir, &path, &source, peer, f.netif.index), WEIR_OK);
    assert_true(flow_path(f.weir, &path, &source, peer, f.netif.index));
    assert_false(flow_path(f.weir, &path, &source, peer, (uint8_t)(f.netif.index + 1)));
    struct weir_addr other = weir_ip4(10, 0, 0, 77);
    assert_false(flow_path(f.weir, &path, &other, peer, 0));
    paths_changed(f.weir);
    assert_false(flow_path(f.weir, &path, &source, peer, 0));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(by_template_as_the_canonical_way),
        cmocka_unit_test(what_a_socket_asks_for_is_heeded),
        cmocka_unit_test(what_has_changed_is_heeded_at_once),
        cmocka_unit_test(a_driver_that_is_full_is_left_alone),
        cmocka_unit_test(nothing_is_hidden),
        cmocka_unit_test(peers_that_meet_take_turns),
        cmocka_unit_test(a_path_answers_what_it_was_found_for),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
