// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// needs IPv6
// From link up to the first byte of an answer over IPv6: an address by SLAAC, a neighbour who connects to it as soon as
// it is in use. The network is perfect, and its router answers at once; what is measured is what the host waits for.
#include "ip/advertise6.h"
#include "link/address.h"
#include "pair.h"

#define PORT 80u
#define CLIENT6 ip6_of(0x20010db8u, 1, 0, 0x99)

struct startup {
    struct pair pair;  // a: the client; b: the host
    weir_socket listener, server, client;
    bool router_asked, asked, answered;
};

static bool look(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    struct startup *const s = context;
    const uint8_t *const ip = frame + 14;
    s->router_asked |= from_b && length > 14 + IP6_BYTES && get16(frame + 12) == ETHERTYPE_IP6 && ip[6] == IP6_ICMP &&
                       ip[IP6_BYTES] == ICMP6_ROUTER_SOLICITATION;
    return true;
}

static void router_answers(struct startup *s)
{
    struct prefix_said said = of_prefix(1);
    said.link_address = true;
    if (s->router_asked)
        advertise_unpolled(&s->pair.b, ROUTER6, 9000, 0, &said, 0);
    s->router_asked = false;
}

static void client_asks(struct startup *s)
{
    static const char request[] = "GET / HTTP/1.0\r\n\r\n";
    const struct weir_netif_address *const a = of_origin(&s->pair.b, WEIR_ADDRESS_AUTO);
    struct weir *const weir = s->pair.a.weir;
    if (s->client == WEIR_AGAIN && a && address_ready(a)) {
        s->client = weir_socket_open(weir, WEIR_STREAM, 0);
        assert_int_equal(weir_socket_connect(weir, s->client, &(struct weir_endpoint){a->addr, PORT}),
                         WEIR_IN_PROGRESS);
    } else if (s->client != WEIR_AGAIN && !s->asked) {
        s->asked = weir_socket_write(weir, s->client, request, sizeof request - 1) > 0;
    }
}

static void host_answers(struct startup *s)
{
    struct weir *const weir = s->pair.b.weir;
    uint8_t bytes[64];
    if (s->server == WEIR_AGAIN)
        s->server = weir_socket_accept(weir, s->listener);
    if (s->server >= 0 && weir_socket_read(weir, s->server, bytes, sizeof bytes) > 0)
        (void)weir_socket_write(weir, s->server, "HTTP/1.0 200 OK\r\n", 17);
}

static bool answered(void *context)
{
    struct startup *const s = context;
    uint8_t byte;
    router_answers(s);
    client_asks(s);
    host_answers(s);
    return s->client != WEIR_AGAIN && weir_socket_read(s->pair.a.weir, s->client, &byte, 1) == 1;
}

// ms from link up to the first byte.
static uint32_t startup_ms(unsigned how, uint32_t seed)
{
    static const uint8_t secret[16] = {1};
    struct startup s = {.server = WEIR_AGAIN, .client = WEIR_AGAIN};
    pair_open(&s.pair, &(struct pair_options){
                           .link = {.delay_us = 100},
                       });
    s.pair.filter = look;
    s.pair.filter_context = &s;
    assert_int_equal(weir_netif_address_add(&s.pair.a.netif, CLIENT6, 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    struct weir *const weir = s.pair.b.weir;
    s.listener = weir_socket_open(weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(weir, s.listener, &(struct weir_endpoint){weir_addr_any(), PORT}), WEIR_OK);
    assert_int_equal(weir_socket_listen(weir, s.listener, 1), WEIR_OK);
    weir_link_change(&s.pair.b.netif, false);
    assert_int_equal(weir_netif_ip6(&s.pair.b.netif, WEIR_IP6_AUTO | how, secret), WEIR_OK);
    pair_run(&s.pair, 5 * SECOND);
    for (uint32_t i = 0; i < seed; i++)
        (void)random_below(&weir->random, 2);  // other delays each time
    const uint64_t began_us = pair_now_us(&s.pair);
    weir_link_change(&s.pair.b.netif, true);
    assert_true(pair_run_until(&s.pair, answered, &s, 60 * SECOND));
    const uint32_t ms = (uint32_t)((pair_now_us(&s.pair) - began_us) / 1000);
    pair_close(&s.pair);
    return ms;
}

static void expect_at_most(unsigned how, uint32_t most_ms, const char *name)
{
    uint32_t longest_ms = 0;
    for (uint32_t seed = 0; seed < 20; seed++) {
        const uint32_t ms = startup_ms(how, seed);
        longest_ms = ms > longest_ms ? ms : longest_ms;
    }
    print_message("%s: %u ms at the most\n", name, (unsigned)longest_ms);
    assert_in_range(longest_ms, 0, most_ms);
}

// One random delay before all, and detection.
static void the_random_delay_is_waited_for_once(void **state)
{
    (void)state;
    expect_at_most(0, WEIR_CFG_IP6_START_DELAY_MS + 1100, "detection and the random delay");
}

static void a_host_that_starts_alone_waits_for_detection_alone(void **state)
{
    (void)state;
    expect_at_most(WEIR_IP6_PROMPT, 1200, "detection");
}

static void an_optimistic_host_waits_for_nothing(void **state)
{
    (void)state;
    expect_at_most(WEIR_IP6_PROMPT | WEIR_IP6_OPTIMISTIC, 100, "optimistic");
}

// How long after the advertisement of a prefix its address is probed, µs.
static uint32_t probed_after_us(struct fixture *f, uint32_t number, bool to_all)
{
    const struct prefix_said said = of_prefix(number);
    const struct weir_netif_address *a = &f->netif.address;
    advertise_to(f, to_all ? ALL_NODES6 : of_origin(f, WEIR_ADDRESS_LINK_LOCAL)->addr, ROUTER6, 9000, 0, &said, 0);
    while (a && !weir_addr_in_prefix(a->addr, said.prefix, 64))
        a = a->next;
    assert_non_null(a);
    const uint32_t from_us = f->weir->now, until_us = a->due_us;
    return until_us - from_us;
}

// RFC 4862 §5.4.2: what a router tells the whole link makes all hosts on it probe. Those that have asked a moment ago
// have waited for a random time before that.
static void a_prefix_that_nobody_asked_for_is_probed_at_random(void **state)
{
    struct fixture f;
    uint32_t longest_us = 0;
    (void)state;
    open_auto(&f, NULL);
    (void)run_until_sent(&f, ICMP6_ROUTER_SOLICITATION);
    assert_in_range(probed_after_us(&f, 1, true), 0, 999);  // solicitations leave by the millisecond
    for (uint32_t number = 2; number < 6; number++) {
        fixture_poll(&f, 5 * SECOND);
        const uint32_t after_us = probed_after_us(&f, number, true);
        longest_us = after_us > longest_us ? after_us : longest_us;
    }
    assert_in_range(longest_us, 1, WEIR_CFG_IP6_START_DELAY_MS * 1000u);
    fixture_poll(&f, 5 * SECOND);
    assert_int_equal(probed_after_us(&f, 6, false), 0);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_random_delay_is_waited_for_once),
        cmocka_unit_test(a_prefix_that_nobody_asked_for_is_probed_at_random),
        cmocka_unit_test(a_host_that_starts_alone_waits_for_detection_alone),
        cmocka_unit_test(an_optimistic_host_waits_for_nothing),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
