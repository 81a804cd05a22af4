// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// needs IPv6
// Optimistic duplicate address detection (RFC 4429): what an address may do while it is probed, and what it may not.
#include "ip/advertise6.h"

#include "link/address.h"
#include "weir/socket.h"

// An interface that has just heard of a prefix.
static const struct weir_netif_address *hear(struct fixture *f, bool link_address, uint16_t lifetime)
{
    struct prefix_said said = of_prefix(1);
    said.link_address = link_address;
    open_how(f, WEIR_IP6_OPTIMISTIC | WEIR_IP6_PROMPT, NULL);
    fixture_poll(f, 10000);
    fixture_clear(f);
    advertise(f, ROUTER6, lifetime, 0, &said, 0);
    const struct weir_netif_address *const a = of_origin(f, WEIR_ADDRESS_AUTO);
    assert_non_null(a);
    return a;
}

static void it_is_used_and_probed_at_once(void **state)
{
    (void)state;
    const uint8_t echo[8] = {ICMP6_ECHO, 0, 0, 0, 1, 2, 3, 4};
    struct fixture f;
    struct ip6 ip;
    uint32_t length;
    const struct weir_netif_address *const a = hear(&f, true, 9000);
    assert_int_equal(a->state, WEIR_ADDRESS_OPTIMISTIC);
    input_icmp6(&f, &(struct make6){.source = FAR6, .destination = a->addr}, echo, sizeof echo);
    fixture_poll(&f, 20000);
    const int probe = find_icmp6(&f, ICMP6_NEIGHBOUR_SOLICITATION), reply = find_icmp6(&f, ICMP6_ECHO_REPLY);
    assert_true(probe >= 0 && reply >= 0);
    (void)sent_icmp6(&f, (uint32_t)probe, &ip, &length);
    assert_addr(ip.source, weir_addr_any());
    assert_addr(ip.destination, solicited_node_of(a->addr));
    assert_memory_equal(fixture_sent(&f, (uint32_t)reply, &length), FIXTURE_PEER_MAC, 6);  // by the router
    fixture_poll(&f, 2 * SECOND);
    assert_true(in_use(a));
    fixture_close(&f);
}

static bool is_optimistic(bool link_address, uint16_t lifetime)
{
    struct fixture f;
    const bool optimistic = address_optimistic(hear(&f, link_address, lifetime));
    fixture_close(&f);
    return optimistic;
}

// §3.3: it would have to ask for it, which it may not.
static void it_waits_where_the_routers_link_address_is_not_known(void **state)
{
    (void)state;
    assert_true(is_optimistic(true, 9000));
    assert_false(is_optimistic(false, 9000));
    assert_false(is_optimistic(true, 0));
}

// A solicitation of our address by a neighbour; the flags of the answer.
static uint8_t asked(struct fixture *f, struct weir_addr target)
{
    uint8_t bytes[16], message[ND_NS_BYTES_MAX];
    struct ip6 ip;
    uint32_t length;
    fixture_clear(f);
    weir_addr_to_v6(target, bytes);
    input_icmp6(f, &(struct make6){.destination = solicited_node_of(target), .hop_limit = 255}, message,
                nd_ns_emit(message, bytes, FIXTURE_PEER_MAC, NULL));
    fixture_poll(f, 1000);
    const int answer = find_icmp6(f, ICMP6_NEIGHBOUR_ADVERTISEMENT);
    assert_true(answer >= 0);
    return sent_icmp6(f, (uint32_t)answer, &ip, &length)[4];
}

static void it_overrides_nothing(void **state)
{
    (void)state;
    struct fixture f;
    const struct weir_netif_address *const a = hear(&f, true, 9000);
    assert_int_equal(asked(&f, a->addr), ND_SOLICITED);
    fixture_poll(&f, 3 * SECOND);
    assert_int_equal(asked(&f, a->addr), ND_SOLICITED | ND_OVERRIDE);
    fixture_close(&f);
}

enum claim { BY_ADVERTISEMENT, BY_PROBE };

static void expect_loss(enum claim how)
{
    struct fixture f;
    uint8_t target[16], nonce[6] = {9}, message[ND_NS_BYTES_MAX];
    const struct weir_addr addr = hear(&f, true, 9000)->addr;
    fixture_poll(&f, 20000);
    fixture_clear(&f);
    weir_addr_to_v6(addr, target);
    struct make6 make = {.source = addr, .destination = ALL_NODES6, .hop_limit = 255};
    uint32_t length;
    if (how == BY_PROBE) {
        make = (struct make6){.destination = solicited_node_of(addr), .from_any = true, .hop_limit = 255};
        length = nd_ns_emit(message, target, NULL, nonce);
    } else {
        length = nd_na_emit(message, target, ND_OVERRIDE, FIXTURE_PEER_MAC);
    }
    input_icmp6(&f, &make, message, length);
    fixture_poll(&f, 20000);
    assert_null(address_find(&f.netif, addr));
    assert_int_equal(find_icmp6(&f, ICMP6_NEIGHBOUR_ADVERTISEMENT), -1);  // nothing is said to who has it
    assert_non_null(of_origin(&f, WEIR_ADDRESS_AUTO));                    // another identifier
    fixture_close(&f);
}

static void a_duplicate_ends_it(void **state)
{
    (void)state;
    expect_loss(BY_ADVERTISEMENT);
    expect_loss(BY_PROBE);
}

// The other host speaks from the address: that is no reason to pass over what it says.
static void a_claim_to_an_address_in_use_is_seen_and_answered(void **state)
{
    (void)state;
    struct fixture f;
    struct ip6 ip;
    uint32_t length;
    uint8_t target[16], message[ND_NA_BYTES_MAX];
    open6(&f, &weir_link_ethernet);
    weir_addr_to_v6(OURS6, target);
    const struct make6 make = {.source = OURS6, .destination = ALL_NODES6, .hop_limit = 255};
    input_icmp6(&f, &make, message, nd_na_emit(message, target, ND_OVERRIDE, FIXTURE_PEER_MAC));
    fixture_poll(&f, 10000);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ADDRESS_DEFENDED), 1);
    assert_int_equal(f.netif.conflict_total, 1);
    (void)sent_icmp6(&f, (uint32_t)find_icmp6(&f, ICMP6_NEIGHBOUR_ADVERTISEMENT), &ip, &length);
    assert_addr(ip.destination, ALL_NODES6);
    fixture_close(&f);
}

// §3.2: no neighbour and no router is asked from it; a packet for a neighbour waits until it may.
static void it_asks_nobody(void **state)
{
    (void)state;
    struct fixture f;
    struct ip6 ip;
    uint32_t length;
    const uint8_t mark = 7;
    const struct weir_netif_address *const a = hear(&f, true, 9000);
    struct weir_addr neighbour = a->addr;
    neighbour.words[3] ^= weir_addr_word_of(1);
    const struct weir_slice slice = {&mark, 1};
    const struct weir_message message = {.peer = {neighbour, 9}};
    const weir_socket s = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_send_message(f.weir, s, &message, &slice, 1), 1);
    fixture_poll(&f, SECOND / 2);
    assert_int_equal(a->state, WEIR_ADDRESS_OPTIMISTIC);
    for (uint32_t i = 0; i < fixture_sent_count(&f); i++) {
        const uint8_t *const bytes = sent6(&f, i, &ip, &length);
        if (ip.next_header == IP6_ICMP && bytes[0] <= ICMP6_NEIGHBOUR_SOLICITATION && bytes[0] >= 133)
            assert_addr(ip.source, weir_addr_any());
    }
    fixture_clear(&f);
    fixture_poll(&f, 4 * SECOND);
    const int question = find_icmp6(&f, ICMP6_NEIGHBOUR_SOLICITATION);
    assert_true(question >= 0);
    (void)sent_icmp6(&f, (uint32_t)question, &ip, &length);
    assert_addr(ip.destination, solicited_node_of(neighbour));
    fixture_close(&f);
}

static void others_speak_before_it(void **state)
{
    (void)state;
    struct fixture f;
    struct prefix_said said = of_prefix(2);
    const struct weir_addr first = hear(&f, true, 9000)->addr;
    fixture_poll(&f, 3 * SECOND);
    advertise(&f, ROUTER6, 9000, 0, &said, 0);
    const struct weir_netif_address *second = &f.netif.address;
    while (second->origin != WEIR_ADDRESS_AUTO || weir_addr_equal(second->addr, first))
        second = second->next;
    assert_int_equal(second->state, WEIR_ADDRESS_OPTIMISTIC);
    const struct weir_addr to = ip6_of(0x20010db8u, 2, 0, 7);  // nearer to the second
    assert_true(weir_addr_equal(address_source6(&f.netif, to, 0)->addr, first));
    fixture_poll(&f, 3 * SECOND);
    assert_true(weir_addr_equal(address_source6(&f.netif, to, 0)->addr, second->addr));
    fixture_close(&f);
}

static void the_retransmission_timer_ends_the_probe(void **state)
{
    (void)state;
    struct fixture f;
    const struct prefix_said said = of_prefix(1);
    open_how(&f, WEIR_IP6_PROMPT, NULL);
    f.netif.ip6.retransmit_ms = 3000;  // as a router may advertise it
    advertise(&f, ROUTER6, 9000, 0, &said, 0);
    fixture_poll(&f, 2900000);
    assert_false(in_use(of_origin(&f, WEIR_ADDRESS_AUTO)));
    fixture_poll(&f, 200000);
    assert_true(in_use(of_origin(&f, WEIR_ADDRESS_AUTO)));
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(it_is_used_and_probed_at_once),
        cmocka_unit_test(it_waits_where_the_routers_link_address_is_not_known),
        cmocka_unit_test(it_overrides_nothing),
        cmocka_unit_test(a_duplicate_ends_it),
        cmocka_unit_test(a_claim_to_an_address_in_use_is_seen_and_answered),
        cmocka_unit_test(it_asks_nobody),
        cmocka_unit_test(others_speak_before_it),
        cmocka_unit_test(the_retransmission_timer_ends_the_probe),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
