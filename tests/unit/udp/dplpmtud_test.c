// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// Path MTU discovery by probes (RFC 8899): a protocol of the test's own, which acknowledges, over links whose routers
// are silent; what routers say; what is refused.
#include "ip/packets.h"
#include "ip/packets6.h"
#include "pair.h"
#include "weir/dplpmtud.h"

#define SECOND 1000000ull
#define MS 1000ull
#define PORT 5000u
#define HEADERS4 28u
#define HEADERS6 48u

// --- two hosts and a router between them -----------------------------------------------------------------------------

// Data is a byte 'd' and zeros, a probe 'p' and zeros, an acknowledgement 'a' and the length of what it is about.
struct world {
    struct pair pair;
    bool version6;
    weir_socket from, to;
    uint32_t link_mtu;  // what the router carries
    uint32_t dropped, probes, data_acked;
};

static uint32_t headers(const struct world *w) { return w->version6 ? HEADERS6 : HEADERS4; }

static bool router(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    struct world *const w = context;
    const bool passes = length <= 14 + w->link_mtu;
    (void)from_b;
    if (get16(frame + 12) == 0x0800) {
        assert_false(get16(frame + 14 + 6) & 0x3fff);  // no fragments
        if (frame[14 + 9] == IP_UDP && !from_b)
            assert_true(get16(frame + 14 + 6) & 0x4000);  // DF
    } else if (get16(frame + 12) == 0x86dd) {
        assert_int_not_equal(frame[14 + 6], 44);
    }
    w->dropped += !passes;
    return passes;
}

static struct weir_addr end(bool version6, uint8_t last)
{
    const uint8_t bytes[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = last};
    return version6 ? weir_addr_v6(bytes) : last == 1 ? PAIR_A : PAIR_B;
}

static void open_world(struct world *w, bool version6, uint32_t link_mtu)
{
    *w = (struct world){.version6 = version6, .link_mtu = link_mtu};
    pair_open(&w->pair, &(struct pair_options){.link = {.delay_us = 5000}});
    assert_int_equal(weir_netif_address_add(&w->pair.a.netif, end(true, 1), 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(weir_netif_address_add(&w->pair.b.netif, end(true, 2), 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    w->pair.filter = router;
    w->pair.filter_context = w;
    pair_run(&w->pair, SECOND);
    struct weir *const a = w->pair.a.weir, *const b = w->pair.b.weir;
    w->to = weir_socket_open(b, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_bind(b, w->to, &(struct weir_endpoint){weir_addr_any(), PORT}), WEIR_OK);
    w->from = weir_socket_open(a, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_connect(a, w->from, &(struct weir_endpoint){end(version6, 2), PORT}), WEIR_OK);
}

static void start(struct world *w)
{
    const struct weir_dplpmtud_settings settings = {.probe_timer_ms = 1000};
    assert_int_equal(weir_dplpmtud_start(w->pair.a.weir, w->from, &settings), WEIR_OK);
}

static struct weir_dplpmtud_info info_of(struct world *w)
{
    struct weir_dplpmtud_info info;
    assert_int_equal(weir_dplpmtud_get(w->pair.a.weir, w->from, &info), WEIR_OK);
    return info;
}

static int send_data(struct world *w, uint32_t length)
{
    static const uint8_t bytes[65535] = {'d'};
    const struct weir_slice slice = {bytes, length};
    return weir_socket_send_message(w->pair.a.weir, w->from, &(struct weir_message){.ttl = 0}, &slice, 1);
}

static int send_probe(struct world *w, uint32_t length)
{
    static const uint8_t bytes[65535] = {'p'};
    const struct weir_slice slices[2] = {{bytes, 1}, {bytes + 1, length - 1}};
    return weir_dplpmtud_probe(w->pair.a.weir, w->from, slices, 2);
}

// The far end acknowledges everything.
static void far_end(struct world *w)
{
    struct weir *const b = w->pair.b.weir;
    struct weir_message message;
    struct weir_slice slice;
    while (weir_socket_peek_message(b, w->to, &message, &slice) >= 0) {
        const uint8_t answer[4] = {'a', slice.data[0], (uint8_t)(slice.length >> 8), (uint8_t)slice.length};
        const struct weir_message back = {.peer = message.peer};
        const struct weir_slice out = {answer, sizeof answer};
        assert_int_equal(weir_socket_discard(b, w->to), WEIR_OK);
        assert_int_equal(weir_socket_send_message(b, w->to, &back, &out, 1), sizeof answer);
    }
}

static void near_end(struct world *w)
{
    struct weir *const a = w->pair.a.weir;
    struct weir_message message;
    struct weir_slice slice;
    while (weir_socket_peek_message(a, w->from, &message, &slice) >= 0) {
        const bool probe = slice.data[1] == 'p';
        const uint32_t length = get16(slice.data + 2);
        assert_int_equal(weir_socket_discard(a, w->from), WEIR_OK);
        if (probe)
            (void)weir_dplpmtud_report(a, w->from, WEIR_DPLPMTUD_ACKED, length);
        else
            w->data_acked++;
    }
    const struct weir_dplpmtud_info info = info_of(w);
    if (info.probe) {
        assert_int_equal(send_probe(w, info.probe), info.probe);
        w->probes++;
    }
}

static bool complete(void *context)
{
    struct world *const w = context;
    far_end(w);
    near_end(w);
    return info_of(w).state == WEIR_DPLPMTUD_SEARCH_COMPLETE;
}

static bool disabled(void *context) { return complete(context) || info_of(context).state == WEIR_DPLPMTUD_DISABLED; }

static bool in_error(void *context)
{
    (void)complete(context);
    return info_of(context).state == WEIR_DPLPMTUD_ERROR;
}

// So many datagrams as long as may be; returns how many of them are acknowledged within a second.
static uint32_t exchange(struct world *w, uint32_t count)
{
    w->data_acked = 0;
    for (uint32_t i = 0; i < count; i++) {
        const uint32_t length = info_of(w).plpmtu;
        assert_int_equal(send_data(w, length), length);
        for (uint32_t ms = 0; ms < 20; ms++) {
            pair_run(&w->pair, MS);
            far_end(w);
            near_end(w);
        }
    }
    return w->data_acked;
}

static void expect_found(struct world *w, uint64_t limit_us)
{
    assert_true(pair_run_until(&w->pair, complete, w, limit_us));
    const uint32_t carried = w->link_mtu - headers(w);
    assert_in_range(info_of(w).plpmtu, carried - 8, carried);
}

static void the_size_that_passes_is_found_in_silence(void **state)
{
    static const uint32_t sizes[][2] = {{true, 1500},  {true, 1499},  {true, 1400},  {true, 1281},
                                        {true, 1280},  {false, 1500}, {false, 1492}, {false, 1300},
                                        {false, 1228}, {false, 900},  {false, 576}};
    (void)state;
    for (uint32_t i = 0; i < sizeof sizes / sizeof sizes[0]; i++) {
        struct world w;
        int32_t mtu;
        open_world(&w, sizes[i][0], sizes[i][1]);
        start(&w);
        const uint64_t began_us = pair_now_us(&w.pair);
        expect_found(&w, 60 * SECOND);
        print_message("%s, %u bytes: %u probes, %u ms\n", w.version6 ? "IPv6" : "IPv4", (unsigned)w.link_mtu,
                      (unsigned)w.probes, (unsigned)((pair_now_us(&w.pair) - began_us) / MS));
        assert_int_equal(exchange(&w, 10), 10);
        assert_int_equal(send_data(&w, info_of(&w).plpmtu + 1u), WEIR_TOO_BIG);
        assert_int_equal(weir_socket_get(w.pair.a.weir, w.from, WEIR_OPTION_MTU, &mtu), WEIR_OK);
        assert_int_equal(mtu, info_of(&w).plpmtu + headers(&w));
        pair_close(&w.pair);
    }
}

// The path gets shorter while data flows. The protocol misses acknowledgements, and says so.
static void a_black_hole_costs_no_more_than_what_it_took_to_notice(void **state)
{
    (void)state;
    for (uint32_t version6 = 0; version6 < 2; version6++) {
        struct world w;
        open_world(&w, version6, 1500);
        start(&w);
        expect_found(&w, 60 * SECOND);
        w.link_mtu = 1350;
        assert_int_equal(exchange(&w, 4), 0);
        assert_int_equal(weir_dplpmtud_report(w.pair.a.weir, w.from, WEIR_DPLPMTUD_BLACK_HOLE, 0), WEIR_OK);
        assert_int_equal(exchange(&w, 4), 4);  // with BASE_PLPMTU, at once
        expect_found(&w, 60 * SECOND);
        assert_int_equal(exchange(&w, 4), 4);
        w.link_mtu = 1500;
        pair_run(&w.pair, 600 * SECOND);
        expect_found(&w, 60 * SECOND);  // and long again, after the ten minutes
        pair_close(&w.pair);
    }
}

static void a_protocol_without_acknowledgements_confirms_by_a_timer(void **state)
{
    struct world w;
    (void)state;
    open_world(&w, true, 1500);
    const struct weir_dplpmtud_settings settings = {.probe_timer_ms = 1000, .confirmation_timer_s = 5};
    assert_int_equal(weir_dplpmtud_start(w.pair.a.weir, w.from, &settings), WEIR_OK);
    expect_found(&w, 60 * SECOND);
    w.link_mtu = 1300;
    const uint64_t began_us = pair_now_us(&w.pair);
    while (info_of(&w).plpmtu + HEADERS6 > 1300) {
        assert_true(pair_now_us(&w.pair) - began_us < 9 * SECOND);  // 5 s, and three probes
        (void)pair_run_until(&w.pair, complete, &w, 10 * MS);
        pair_run(&w.pair, 10 * MS);
    }
    expect_found(&w, 60 * SECOND);
    pair_close(&w.pair);
}

static void where_nothing_passes_it_ends_and_fragments_are_allowed_again(void **state)
{
    struct world w;
    (void)state;
    open_world(&w, false, 300);
    start(&w);
    assert_true(pair_run_until(&w.pair, in_error, &w, 20 * SECOND));
    assert_int_equal(info_of(&w).plpmtu, 576 - HEADERS4);
    assert_int_equal(send_data(&w, 576 - HEADERS4 + 1), WEIR_TOO_BIG);
    assert_true(pair_run_until(&w.pair, disabled, &w, 20 * SECOND));
    assert_int_equal(info_of(&w).state, WEIR_DPLPMTUD_DISABLED);
    w.pair.filter = NULL;
    assert_int_equal(send_data(&w, 3000), 3000);
    pair_run(&w.pair, SECOND);
    assert_int_equal(weir_socket_ready(w.pair.b.weir, w.to) & WEIR_READABLE, WEIR_READABLE);
    start(&w);  // the peer is there again
    assert_int_equal(info_of(&w).state, WEIR_DPLPMTUD_BASE);
    pair_close(&w.pair);
}

static void loss_without_a_black_hole_does_not_mislead_it(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 20; seed++) {
        struct world w;
        open_world(&w, seed & 1, 1400);
        w.pair.random = seed * 7919;
        w.pair.link[0].loss_ppm = w.pair.link[1].loss_ppm = 50000;
        w.pair.link[0].duplicate_ppm = w.pair.link[1].duplicate_ppm = 50000;
        w.pair.link[0].reorder_ppm = w.pair.link[1].reorder_ppm = 50000;
        start(&w);
        assert_true(pair_run_until(&w.pair, complete, &w, 120 * SECOND));
        assert_in_range(info_of(&w).plpmtu, 1200, 1400 - headers(&w));
        pair_close(&w.pair);
    }
}

// --- events ----------------------------------------------------------------------------------------------------------

static bool urgent(struct world *w) { return weir_socket_ready(w->pair.a.weir, w->from) & WEIR_URGENT; }

static bool told(struct world *w)
{
    uint32_t events = 0, all = 0;
    for (weir_socket s; (s = weir_ready_next(w->pair.a.weir, &events)) != 0;)
        all |= s == w->from ? events : 0;
    return all & WEIR_URGENT;
}

static void the_program_is_told_when_a_probe_is_due(void **state)
{
    struct world w;
    (void)state;
    open_world(&w, true, 1500);
    assert_false(urgent(&w) || told(&w));
    start(&w);
    assert_true(urgent(&w) && told(&w));
    assert_int_equal(info_of(&w).probe, 1232);
    assert_int_equal(send_probe(&w, 1232), 1232);
    assert_false(urgent(&w));
    pair_run(&w.pair, 999 * MS);
    assert_false(urgent(&w) || told(&w));
    pair_run(&w.pair, 2 * MS);  // the probe is lost: nobody acknowledged it
    assert_true(urgent(&w) && told(&w));
    assert_int_equal(info_of(&w).probes, 1);
    assert_true(urgent(&w));  // as long as it is due
    assert_int_equal(weir_dplpmtud_stop(w.pair.a.weir, w.from), WEIR_OK);
    assert_true(urgent(&w) && told(&w));
    (void)info_of(&w);
    assert_false(urgent(&w));
    pair_close(&w.pair);
}

// --- refusals --------------------------------------------------------------------------------------------------------

static void what_cannot_be_is_refused(void **state)
{
    struct world w;
    struct weir_dplpmtud_info info;
    (void)state;
    open_world(&w, false, 1500);
    struct weir *const a = w.pair.a.weir;
    const weir_socket open = weir_socket_open(a, WEIR_DATAGRAM, 0), stream = weir_socket_open(a, WEIR_STREAM, 0),
                      raw = weir_socket_open(a, WEIR_RAW, 200);
    assert_int_equal(weir_dplpmtud_start(a, open, NULL), WEIR_NOT_CONNECTED);
    assert_int_equal(weir_dplpmtud_start(a, stream, NULL), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_connect(a, raw, &(struct weir_endpoint){PAIR_B, 0}), WEIR_OK);
    assert_int_equal(weir_dplpmtud_start(a, raw, NULL), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_dplpmtud_start(a, 12345, NULL), WEIR_BAD_SOCKET);
    assert_int_equal(weir_dplpmtud_get(a, 12345, &info), WEIR_BAD_SOCKET);
    assert_int_equal(weir_dplpmtud_report(a, open, WEIR_DPLPMTUD_ACKED, 0), WEIR_INVALID);
    assert_int_equal(weir_socket_connect(a, open, &(struct weir_endpoint){weir_ip4(224, 0, 1, 1), 5}), WEIR_OK);
    assert_int_equal(weir_dplpmtud_start(a, open, NULL), WEIR_INVALID);
    const struct weir_dplpmtud_settings bad = {.probe_timer_ms = 1};
    assert_int_equal(weir_dplpmtud_start(a, w.from, &bad), WEIR_INVALID);
    assert_int_equal(send_probe(&w, 1200), WEIR_INVALID);  // before it began
    start(&w);
    assert_int_equal(send_probe(&w, 1199), WEIR_INVALID);
    assert_int_equal(send_probe(&w, 1201), WEIR_INVALID);
    assert_int_equal(weir_dplpmtud_report(a, w.from, WEIR_DPLPMTUD_ACKED, 1200), WEIR_INVALID);
    assert_int_equal(send_probe(&w, 1200), 1200);
    assert_int_equal(send_probe(&w, 1200), WEIR_INVALID);  // one at a time
    assert_int_equal(info_of(&w).awaited, 1200);
    const struct weir_message elsewhere = {.peer = {weir_ip4(10, 0, 0, 9), 5}};
    static const uint8_t bytes[2000];
    const struct weir_slice slice = {bytes, sizeof bytes};
    // what goes to others is no concern of it
    assert_int_equal(weir_socket_send_message(a, w.from, &elsewhere, &slice, 1), (int)sizeof bytes);
    pair_close(&w.pair);
}

static void a_socket_that_is_connected_anew_begins_anew(void **state)
{
    struct world w;
    (void)state;
    open_world(&w, false, 1500);
    start(&w);
    expect_found(&w, 60 * SECOND);
    assert_int_equal(weir_socket_connect(w.pair.a.weir, w.from, &(struct weir_endpoint){PAIR_B, PORT + 1}), WEIR_OK);
    assert_int_equal(info_of(&w).state, WEIR_DPLPMTUD_DISABLED);
    assert_int_equal(info_of(&w).plpmtu, 0);
    start(&w);
    assert_int_equal(weir_socket_close(w.pair.a.weir, w.from), WEIR_OK);  // with a search under way
    pair_run(&w.pair, 100 * SECOND);
    pair_close(&w.pair);
}

static void many_searches_have_their_own_timers(void **state)
{
    enum { MANY = 20 };
    struct fixture f;
    weir_socket sockets[MANY];
    struct weir_dplpmtud_info info;
    static const uint8_t bytes[1200];
    const struct weir_slice slice = {bytes, sizeof bytes};
    (void)state;
    open_raw(&f);
    for (uint32_t i = 0; i < MANY; i++) {
        const struct weir_dplpmtud_settings settings = {.probe_timer_ms = 1000 + 100 * i};
        sockets[i] = socket_connected(&f, (uint16_t)(7000 + i), PEER, 9);
        assert_int_equal(weir_dplpmtud_start(f.weir, sockets[i], &settings), WEIR_OK);
        assert_int_equal(weir_dplpmtud_probe(f.weir, sockets[i], &slice, 1), 1200);
    }
    weir_dplpmtud_stop(f.weir, sockets[3]);
    weir_socket_close(f.weir, sockets[5]);
    fixture_poll(&f, 50000);
    for (uint32_t i = 0; i < MANY; i++) {
        fixture_poll(&f, i ? 100000 : 1000000 - 50000 + 50000);
        for (uint32_t k = 0; k < MANY; k++) {
            if (k == 5)
                continue;
            assert_int_equal(weir_dplpmtud_get(f.weir, sockets[k], &info), WEIR_OK);
            assert_int_equal(info.probes, k != 3 && k <= i);
        }
    }
    fixture_close(&f);
}

// --- what routers say ------------------------------------------------------------------------------------------------

#define FROM 7000u

// Of a datagram of `bytes` to the peer.
static void too_big4(struct fixture *f, uint32_t mtu, uint32_t bytes, uint16_t port)
{
    uint8_t quoted[IP4_BYTES + UDP_BYTES];
    const struct ip4 ip = {.source = weir_addr_to_v4(OURS),
                           .destination = weir_addr_to_v4(PEER),
                           .total_length = (uint16_t)(HEADERS4 + bytes),
                           .ttl = 60,
                           .protocol = IP_UDP,
                           .flags = IP4_DONT_FRAGMENT};
    const struct udp_header udp = {.source = port, .destination = 9, .length = (uint16_t)(UDP_BYTES + bytes)};
    ip4_emit(quoted, &ip);
    udp_emit(quoted + IP4_BYTES, &udp);
    input_icmp(f, ROUTER, ICMP4_UNREACHABLE, ICMP4_FRAGMENTATION_NEEDED, mtu, quoted, sizeof quoted);
}

static void too_big6(struct fixture *f, uint32_t mtu, uint32_t bytes, uint16_t port)
{
    uint8_t message[ICMP6_BYTES + IP6_BYTES + UDP_BYTES] = {ICMP6_TOO_BIG}, source[16], destination[16];
    weir_addr_to_v6(OURS6, source);
    weir_addr_to_v6(PEER6, destination);
    const struct ip6 ip = {.source = source,
                           .destination = destination,
                           .payload_length = (uint16_t)(UDP_BYTES + bytes),
                           .next_header = IP_UDP,
                           .hop_limit = 60};
    const struct udp_header udp = {.source = port, .destination = 9, .length = (uint16_t)(UDP_BYTES + bytes)};
    put32(message + 4, mtu);
    ip6_emit(message + ICMP6_BYTES, &ip);
    udp_emit(message + ICMP6_BYTES + IP6_BYTES, &udp);
    input_icmp6(f, &(struct make6){.source = FAR6}, message, sizeof message);
}

struct lone {
    struct fixture f;
    weir_socket s;
    bool version6;
};

static void open_lone(struct lone *l, bool version6)
{
    l->version6 = version6;
    open_raw(&l->f);
    assert_int_equal(weir_netif_address_add(&l->f.netif, OURS6, 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    l->s = socket_connected(&l->f, FROM, version6 ? PEER6 : PEER, 9);
    assert_int_equal(weir_dplpmtud_start(l->f.weir, l->s, NULL), WEIR_OK);
}

static struct weir_dplpmtud_info look(struct lone *l)
{
    struct weir_dplpmtud_info info;
    assert_int_equal(weir_dplpmtud_get(l->f.weir, l->s, &info), WEIR_OK);
    return info;
}

static void leave(struct lone *l)
{
    static const uint8_t bytes[1500];
    const struct weir_slice slice = {bytes, look(l).probe};
    assert_int_equal(weir_dplpmtud_probe(l->f.weir, l->s, &slice, 1), slice.length);
    fixture_poll(&l->f, 1000);
}

static void pass(struct lone *l)
{
    leave(l);
    assert_int_equal(weir_dplpmtud_report(l->f.weir, l->s, WEIR_DPLPMTUD_ACKED, look(l).awaited), WEIR_OK);
}

static void too_big(struct lone *l, uint32_t mtu, uint32_t bytes, uint16_t port)
{
    (l->version6 ? too_big6 : too_big4)(&l->f, mtu, bytes, port);
}

static void a_router_is_believed_about_what_was_sent(void **state)
{
    (void)state;
    for (uint32_t version6 = 0; version6 < 2; version6++) {
        struct lone l;
        int32_t pending;
        open_lone(&l, version6);
        const uint32_t header = version6 ? HEADERS6 : HEADERS4, most = 1500 - header;
        pass(&l);
        leave(&l);
        assert_int_equal(look(&l).awaited, most);
        const uint32_t ignored = weir_counter_get(l.f.weir, WEIR_COUNT_ICMP_IGNORED);
        too_big(&l, 1400, most, FROM + 1);       // not from this port
        too_big(&l, 1400, most + 1, FROM);       // longer than what was sent
        too_big(&l, 1400, 1400 - header, FROM);  // it would have passed
        too_big(&l, 1500, most, FROM);           // no news
        too_big(&l, 9000, most, FROM);
        assert_int_equal(look(&l).awaited, most);
        assert_int_equal(weir_counter_get(l.f.weir, WEIR_COUNT_ICMP_IGNORED), ignored + 5);
        too_big(&l, 1400, most, FROM);
        assert_int_equal(look(&l).probe, 1400 - header);
        assert_int_equal(look(&l).plpmtu, version6 ? 1232 : 1200);
        pass(&l);
        assert_int_equal(look(&l).state, WEIR_DPLPMTUD_SEARCH_COMPLETE);
        assert_int_equal(look(&l).plpmtu, 1400 - header);
        // It is the search's affair: no error for the program, and nothing about other flows.
        assert_int_equal(weir_socket_get(l.f.weir, l.s, WEIR_OPTION_ERROR, &pending), WEIR_OK);
        assert_int_equal(pending, WEIR_OK);
        assert_int_equal(l.f.weir->ip.pmtu_count, 0);
        fixture_close(&l.f);
    }
}

// What other flows learnt bounds the search.
static void the_path_mtu_of_others_is_the_limit(void **state)
{
    struct lone l;
    (void)state;
    open_lone(&l, true);
    const weir_socket other = socket_connected(&l.f, FROM + 1, PEER6, 9);
    assert_int_equal(weir_socket_set(l.f.weir, other, WEIR_OPTION_DONT_FRAGMENT, 1), WEIR_OK);
    pass(&l);
    pass(&l);
    assert_int_equal(look(&l).plpmtu, 1500 - HEADERS6);
    too_big(&l, 1380, 1452, FROM + 1);
    static const uint8_t bytes[1452];
    const struct weir_slice slice = {bytes, sizeof bytes};
    assert_int_equal(weir_socket_send_message(l.f.weir, l.s, &(struct weir_message){.ttl = 0}, &slice, 1),
                     WEIR_TOO_BIG);
    assert_int_equal(look(&l).state, WEIR_DPLPMTUD_BASE);
    pass(&l);
    assert_int_equal(look(&l).probe, 1380 - HEADERS6);
    fixture_close(&l.f);
}

// --- IP_PMTUDISC_PROBE -----------------------------------------------------------------------------------------------

static void a_program_that_probes_by_itself_ignores_what_routers_said(void **state)
{
    static const uint8_t bytes[1500];
    (void)state;
    for (uint32_t version6 = 0; version6 < 2; version6++) {
        struct lone l;
        struct ip4 ip;
        uint32_t length;
        int32_t value;
        open_lone(&l, version6);
        const struct weir_addr peer = version6 ? PEER6 : PEER;
        const uint32_t most = 1500 - (version6 ? HEADERS6 : HEADERS4);
        const weir_socket s = socket_connected(&l.f, FROM + 1, peer, 9);
        assert_int_equal(weir_socket_set(l.f.weir, s, WEIR_OPTION_DONT_FRAGMENT, 1), WEIR_OK);
        too_big(&l, 1300, most, FROM + 1);
        assert_int_equal(send_to(&l.f, s, peer, 9, bytes, most), WEIR_TOO_BIG);
        assert_int_equal(send_to(&l.f, s, peer, 9, bytes, most), WEIR_TOO_BIG);
        assert_int_equal(weir_socket_set(l.f.weir, s, WEIR_OPTION_DONT_FRAGMENT, 2), WEIR_OK);
        assert_int_equal(weir_socket_get(l.f.weir, s, WEIR_OPTION_DONT_FRAGMENT, &value), WEIR_OK);
        assert_int_equal(value, 2);
        fixture_poll(&l.f, 10 * SECOND);  // what IPv6 has to say at the beginning
        fixture_clear(&l.f);
        assert_int_equal(send_to(&l.f, s, peer, 9, bytes, most), most);
        assert_int_equal(send_to(&l.f, s, peer, 9, bytes, most + 1), WEIR_TOO_BIG);
        fixture_poll(&l.f, 1000);
        assert_int_equal(fixture_sent_count(&l.f), 1);
        (void)fixture_sent_packet(&l.f, 0, &length);
        assert_int_equal(length, 1500);
        if (!version6) {
            (void)sent_packet(&l.f, 0, &ip, &length);
            assert_int_equal(ip.flags, IP4_DONT_FRAGMENT);
        }
        assert_int_equal(weir_socket_set(l.f.weir, s, WEIR_OPTION_DONT_FRAGMENT, 1), WEIR_OK);
        assert_int_equal(send_to(&l.f, s, peer, 9, bytes, most), WEIR_TOO_BIG);
        assert_int_equal(weir_socket_set(l.f.weir, s, WEIR_OPTION_DONT_FRAGMENT, 3), WEIR_INVALID);
        fixture_close(&l.f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_size_that_passes_is_found_in_silence),
        cmocka_unit_test(a_black_hole_costs_no_more_than_what_it_took_to_notice),
        cmocka_unit_test(a_protocol_without_acknowledgements_confirms_by_a_timer),
        cmocka_unit_test(where_nothing_passes_it_ends_and_fragments_are_allowed_again),
        cmocka_unit_test(loss_without_a_black_hole_does_not_mislead_it),
        cmocka_unit_test(the_program_is_told_when_a_probe_is_due),
        cmocka_unit_test(what_cannot_be_is_refused),
        cmocka_unit_test(a_socket_that_is_connected_anew_begins_anew),
        cmocka_unit_test(many_searches_have_their_own_timers),
        cmocka_unit_test(a_router_is_believed_about_what_was_sent),
        cmocka_unit_test(the_path_mtu_of_others_is_the_limit),
        cmocka_unit_test(a_program_that_probes_by_itself_ignores_what_routers_said),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
