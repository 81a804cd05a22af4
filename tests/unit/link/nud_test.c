// SPDX-License-Identifier: BSD-2-Clause
// profiles: small6
// also without IPv4
// needs IPv6
// IPv6 neighbours (RFC 4861 §7): solicitations answered, what advertisements make of an entry, and when it is asked
// after.
#include "ip/packets6.h"

#include "link/link.h"
#include "link/neighbour.h"

#define SECOND 1000000u

static const uint8_t other_mac[6] = {2, 0x4f, 0x54, 0x48, 0x52, 3};
#define PEER_MAC FIXTURE_PEER_MAC

static struct neighbour *entry(const struct fixture *f, struct weir_addr address)
{
    return neighbour_find(f->weir, &f->netif, weir_addr_with_zone(address, f->netif.index));
}

// A solicitation from PEER6; `named` with its link address.
static void solicit(struct fixture *f, struct weir_addr target, const uint8_t *named, uint8_t hop_limit, bool to_group)
{
    uint8_t bytes[16], message[ND_NS_BYTES_MAX];
    weir_addr_to_v6(target, bytes);
    const uint32_t length = nd_ns_emit(message, bytes, named, NULL);
    input_icmp6(f, &(struct make6){.destination = to_group ? solicited_node_of(target) : OURS6, .hop_limit = hop_limit},
                message, length);
    fixture_poll(f, 1000);
}

// An advertisement of PEER6's.
static void advertise(struct fixture *f, uint32_t flags, const uint8_t *mac, uint8_t hop_limit)
{
    uint8_t bytes[16], message[ND_NA_BYTES_MAX];
    weir_addr_to_v6(PEER6, bytes);
    const uint32_t length = nd_na_emit(message, bytes, flags, mac);
    input_icmp6(f, &(struct make6){.hop_limit = hop_limit}, message, length);
}

static int send_datagram(struct fixture *f, weir_socket s, uint8_t mark)
{
    const struct weir_slice slice = {&mark, 1};
    const struct weir_message message = {.peer = {PEER6, 9}};
    return weir_socket_send_message(f->weir, s, &message, &slice, 1);
}

static void a_solicitation_is_answered(void **state)
{
    (void)state;
    struct fixture f;
    struct ip6 ip;
    uint32_t length;
    open6(&f, &weir_link_ethernet);
    for (unsigned i = 0; i < 4; i++) {
        solicit(&f, OURS6, i & 1 ? PEER_MAC : NULL, 255, i & 2);
        assert_int_equal(fixture_sent_count(&f), 1);
        const uint8_t *const message = sent_icmp6(&f, 0, &ip, &length);
        assert_int_equal(message[0], ICMP6_NEIGHBOUR_ADVERTISEMENT);
        assert_int_equal(message[4], ND_SOLICITED | ND_OVERRIDE);
        assert_int_equal(length, 32);
        assert_int_equal(message[24], ND_TARGET_LINK);
        assert_memory_equal(message + 26, FIXTURE_MAC, 6);
        assert_addr(message + 8, OURS6);
        assert_addr(ip.source, OURS6);
        assert_addr(ip.destination, PEER6);
        assert_memory_equal(fixture_sent(&f, 0, &length), PEER_MAC, 6);
        assert_int_equal(entry(&f, PEER6) != NULL, i > 0);
        fixture_clear(&f);
    }
    assert_int_equal(entry(&f, PEER6)->state, NEIGHBOUR_STALE);
    fixture_poll(&f, 60 * (uint64_t)SECOND);  // STALE alone says nothing
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void what_is_not_for_us_or_comes_from_afar_is_not_answered(void **state)
{
    (void)state;
    struct fixture f;
    open6(&f, &weir_link_ethernet);
    solicit(&f, OTHER6, PEER_MAC, 255, true);
    solicit(&f, OTHER6, PEER_MAC, 255, false);
    solicit(&f, OURS6, PEER_MAC, 254, true);
    advertise(&f, ND_SOLICITED | ND_OVERRIDE, PEER_MAC, 255);  // nobody asked
    fixture_poll(&f, SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);
    assert_null(entry(&f, PEER6));
    assert_null(entry(&f, OTHER6));
    fixture_close(&f);
}

static void a_probe_for_an_address_in_use_is_answered_to_all(void **state)
{
    (void)state;
    uint8_t bytes[16], message[ND_NS_BYTES_MAX];
    struct fixture f;
    struct ip6 ip;
    uint32_t length;
    open6(&f, &weir_link_ethernet);
    weir_addr_to_v6(OURS6, bytes);
    length = nd_ns_emit(message, bytes, NULL, NULL);
    input_icmp6(&f, &(struct make6){.destination = solicited_node_of(OURS6), .from_any = true, .hop_limit = 255},
                message, length);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 1);
    assert_int_equal(sent_icmp6(&f, 0, &ip, &length)[4], ND_OVERRIDE);
    assert_addr(ip.destination, ALL_NODES6);
    fixture_close(&f);
}

// --- advertisements --------------------------------------------------------------------------------------------------

static struct neighbour *enter(struct fixture *f, uint8_t in_state)
{
    struct neighbour *const n = neighbour_entry_new(f->weir, &f->netif, PEER6, true);
    assert_non_null(n);
    if (in_state != NEIGHBOUR_INCOMPLETE) {
        neighbour_resolved(f->weir, n, PEER_MAC);
        if (in_state == NEIGHBOUR_STATIC)
            assert_int_equal(weir_neighbour_add_static(f->weir, &f->netif, PEER6, PEER_MAC), WEIR_OK);
    }
    n->state = in_state;
    return n;
}

// RFC 4861, appendix C, but that one who has another link address is asked first where it was. `named`: 0 without a
// link address, 1 with the same, 2 with another.
static void advertisements_follow_the_table(void **state)
{
    (void)state;
    static const uint8_t states[] = {NEIGHBOUR_INCOMPLETE, NEIGHBOUR_REACHABLE, NEIGHBOUR_STALE, NEIGHBOUR_PROBE,
                                     NEIGHBOUR_STATIC};
    for (unsigned i = 0; i < sizeof states * 12; i++) {
        const uint8_t before = states[i / 12];
        const unsigned named = i % 3;
        const bool solicited = i / 3 % 2, override = i / 6 % 2, other = named == 2,
                   incomplete = before == NEIGHBOUR_INCOMPLETE;
        const uint8_t *const mac = named == 0 ? NULL : named == 1 ? PEER_MAC : other_mac;
        uint8_t then = before;
        bool taken = false;
        struct fixture f;
        if (before == NEIGHBOUR_STATIC) {
        } else if (incomplete) {
            taken = other;
            then = !named ? before : solicited ? NEIGHBOUR_REACHABLE : NEIGHBOUR_STALE;
        } else if (other) {
            then = NEIGHBOUR_PROBE;
        } else {
            then = solicited ? NEIGHBOUR_REACHABLE : before;
        }
        open6(&f, &weir_link_ethernet);
        const struct neighbour *const n = enter(&f, before);
        advertise(&f, (solicited ? ND_SOLICITED : 0) | (override ? ND_OVERRIDE : 0), mac, 255);
        assert_int_equal(n->state, then);
        if (then != NEIGHBOUR_INCOMPLETE)
            assert_memory_equal(n->mac, taken ? other_mac : PEER_MAC, 6);
        fixture_close(&f);
    }
}

static void a_solicitation_with_another_link_address_is_doubted(void **state)
{
    (void)state;
    static const uint8_t states[] = {NEIGHBOUR_INCOMPLETE, NEIGHBOUR_REACHABLE, NEIGHBOUR_STALE, NEIGHBOUR_PROBE,
                                     NEIGHBOUR_STATIC};
    for (unsigned i = 0; i < 2 * sizeof states; i++) {
        const uint8_t before = states[i / 2];
        const bool other = i & 1, changes = before == NEIGHBOUR_INCOMPLETE;
        const bool asked = other && !changes && before != NEIGHBOUR_STATIC;
        struct fixture f;
        open6(&f, &weir_link_ethernet);
        const struct neighbour *const n = enter(&f, before);
        solicit(&f, OURS6, other ? other_mac : PEER_MAC, 255, true);
        assert_int_equal(n->state, asked ? NEIGHBOUR_PROBE : changes ? NEIGHBOUR_STALE : before);
        assert_memory_equal(n->mac, changes && other ? other_mac : PEER_MAC, 6);
        fixture_close(&f);
    }
}

// --- time ------------------------------------------------------------------------------------------------------------

static uint32_t solicitations(const struct fixture *f, bool unicast)
{
    uint32_t n = 0, length;
    struct ip6 ip;
    for (uint32_t i = 0; i < fixture_sent_count(f); i++) {
        const uint8_t *const bytes = sent6(f, i, &ip, &length);
        if (ip.next_header == IP6_ICMP && bytes[0] == ICMP6_NEIGHBOUR_SOLICITATION)
            n += ip6_is_multicast(ip.destination) != unicast;
    }
    return n;
}

// A neighbour with whom we speak, and a flood of claims that it is elsewhere: what is sent goes on to where it was, it
// is asked once a second, and stays when it answers.
static void claims_do_not_move_who_is_there(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t length;
    open6(&f, &weir_link_ethernet);
    const weir_socket s = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    struct neighbour *const n = enter(&f, NEIGHBOUR_REACHABLE);
    for (unsigned i = 0; i < 40; i++) {
        solicit(&f, OURS6, other_mac, 255, false);
        advertise(&f, (i & 1 ? ND_OVERRIDE : 0) | (i & 2 ? ND_SOLICITED : 0), other_mac, 255);
        assert_int_equal(n->state, NEIGHBOUR_PROBE);
        fixture_clear(&f);
        assert_int_equal(send_datagram(&f, s, 1), 1);
        fixture_poll(&f, 1000);
        assert_memory_equal(fixture_sent(&f, 0, &length), PEER_MAC, 6);
        fixture_clear(&f);
        fixture_poll(&f, SECOND);
        assert_int_equal(solicitations(&f, true), 1);
        assert_int_equal(solicitations(&f, false), 0);
        assert_memory_equal(fixture_sent(&f, 0, &length), PEER_MAC, 6);
        advertise(&f, ND_SOLICITED | ND_OVERRIDE, PEER_MAC, 255);
        assert_int_equal(n->state, NEIGHBOUR_REACHABLE);
    }
    fixture_close(&f);
}

// The same about a stranger, to whom we only reply: what it told itself stays, also before it was ever asked; and a
// flood of claims brings one question.
static void claims_do_not_move_a_stranger(void **state)
{
    (void)state;
    static const uint8_t states[] = {NEIGHBOUR_STALE, NEIGHBOUR_PROBE};
    for (unsigned at = 0; at < sizeof states; at++) {
        struct fixture f;
        open6(&f, &weir_link_ethernet);
        struct neighbour *const n = enter(&f, states[at]);
        fixture_clear(&f);
        for (unsigned i = 0; i < 120; i++) {
            solicit(&f, OURS6, other_mac, 255, false);
            advertise(&f, ND_SOLICITED | ND_OVERRIDE, other_mac, 255);
            assert_memory_equal(n->mac, PEER_MAC, 6);
            fixture_poll(&f, 10000);
        }
        assert_int_equal(n->state, NEIGHBOUR_PROBE);
        assert_true(n->strange);
        assert_int_equal(solicitations(&f, true), 1);
        advertise(&f, ND_SOLICITED, PEER_MAC, 255);
        assert_int_equal(n->state, NEIGHBOUR_REACHABLE);
        fixture_close(&f);
    }
}

// However short the time is that a router has us wait for answers, who is asked because of a claim has a second.
static void a_claim_and_a_hasty_router_move_nobody(void **state)
{
    (void)state;
    struct fixture f;
    open6(&f, &weir_link_ethernet);
    struct neighbour *const n = enter(&f, NEIGHBOUR_REACHABLE);
    f.netif.ip6.retransmit_ms = 100;
    advertise(&f, ND_OVERRIDE, other_mac, 255);
    fixture_poll(&f, SECOND + 1000);
    assert_int_equal(solicitations(&f, true), 1);
    fixture_poll(&f, 900000);
    assert_int_equal(solicitations(&f, false), 0);
    advertise(&f, ND_OVERRIDE | ND_SOLICITED, other_mac, 255);
    assert_int_equal(n->state, NEIGHBOUR_PROBE);
    advertise(&f, ND_SOLICITED, PEER_MAC, 255);
    assert_int_equal(n->state, NEIGHBOUR_REACHABLE);
    assert_memory_equal(n->mac, PEER_MAC, 6);
    fixture_close(&f);
}

// Who has really moved is silent where it was, and is found two seconds after its word.
static void who_has_moved_is_found(void **state)
{
    (void)state;
    struct fixture f;
    uint32_t length;
    open6(&f, &weir_link_ethernet);
    const weir_socket s = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    struct neighbour *const n = enter(&f, NEIGHBOUR_REACHABLE);
    advertise(&f, ND_OVERRIDE, other_mac, 255);
    fixture_poll(&f, 2100000);
    assert_int_equal(solicitations(&f, true), 1);
    assert_int_equal(solicitations(&f, false), 1);
    advertise(&f, ND_SOLICITED | ND_OVERRIDE, other_mac, 255);
    assert_int_equal(n->state, NEIGHBOUR_REACHABLE);
    fixture_clear(&f);
    assert_int_equal(send_datagram(&f, s, 1), 1);
    fixture_poll(&f, 1000);
    assert_memory_equal(fixture_sent(&f, 0, &length), other_mac, 6);
    fixture_close(&f);
}

static void three_solicitations_to_the_group_then_nobody_is_there(void **state)
{
    (void)state;
    struct fixture f;
    struct ip6 ip;
    uint32_t length;
    open6(&f, &weir_link_ethernet);
    const weir_socket s = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(send_datagram(&f, s, 1), 1);
    fixture_poll(&f, 1000);
    const uint8_t *const bytes = sent_icmp6(&f, 0, &ip, &length);
    assert_addr(ip.source, OURS6);
    assert_addr(ip.destination, solicited_node_of(PEER6));
    assert_addr(bytes + 8, PEER6);
    assert_memory_equal(bytes + 26, FIXTURE_MAC, 6);
    fixture_poll(&f, 2500000);
    assert_int_equal(solicitations(&f, false), 3);
    assert_non_null(entry(&f, PEER6));
    fixture_poll(&f, SECOND);
    assert_int_equal(fixture_sent_count(&f), 3);
    assert_null(entry(&f, PEER6));
    fixture_close(&f);
}

static void what_waited_is_sent_in_order(void **state)
{
    (void)state;
    struct fixture f;
    struct ip6 ip;
    uint32_t length;
    open6(&f, &weir_link_ethernet);
    const weir_socket s = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    for (uint8_t mark = 1; mark <= 3; mark++)
        assert_int_equal(send_datagram(&f, s, mark), 1);
    fixture_poll(&f, 1000);
    fixture_clear(&f);
    advertise(&f, ND_SOLICITED | ND_OVERRIDE, PEER_MAC, 254);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 0);
    advertise(&f, ND_SOLICITED | ND_OVERRIDE, PEER_MAC, 255);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 3);
    for (uint8_t mark = 1; mark <= 3; mark++)
        assert_int_equal(sent6(&f, mark - 1u, &ip, &length)[8], mark);
    fixture_close(&f);
}

static void a_stale_neighbour_is_used_and_asked_after_five_seconds(void **state)
{
    (void)state;
    struct fixture f;
    open6(&f, &weir_link_ethernet);
    const weir_socket s = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    solicit(&f, OURS6, PEER_MAC, 255, true);
    fixture_clear(&f);
    assert_int_equal(send_datagram(&f, s, 1), 1);
    fixture_poll(&f, 4900000);
    assert_int_equal(fixture_sent_count(&f), 1);  // the datagram alone
    assert_int_equal(solicitations(&f, true), 0);
    fixture_poll(&f, 200000);
    assert_int_equal(solicitations(&f, true), 1);
    advertise(&f, ND_SOLICITED, NULL, 255);
    assert_int_equal(entry(&f, PEER6)->state, NEIGHBOUR_REACHABLE);
    fixture_poll(&f, 46 * (uint64_t)SECOND);
    assert_int_equal(send_datagram(&f, s, 2), 1);
    fixture_clear(&f);
    fixture_poll(&f, 7900000);
    assert_int_equal(solicitations(&f, true), 3);
    assert_int_equal(solicitations(&f, false), 0);
    fixture_poll(&f, 10 * SECOND);
    assert_int_equal(solicitations(&f, true), 3);
    assert_null(entry(&f, PEER6));
    fixture_close(&f);
}

// --- routers ---------------------------------------------------------------------------------------------------------

static void a_router_that_is_one_no_longer_is_no_way_out(void **state)
{
    (void)state;
    for (unsigned known = 0; known < 3;
         known++) {  // by its advertisement's link address; by a solicitation; not at all
        const struct weir_addr router = PEER_LINK6;
        uint8_t bytes[16],
            advertisement[24] = {ICMP6_ROUTER_ADVERTISEMENT, 0, 0, 0, 64, 0, 0, 60, [16] = ND_SOURCE_LINK, 1},
            message[ND_NA_BYTES_MAX];
        struct fixture f;
        fixture_open(&f, &weir_link_ethernet, weir_addr_any(), 0, 0);
        assert_int_equal(weir_netif_ip6(&f.netif, WEIR_IP6_AUTO, NULL), WEIR_OK);
        fixture_poll(&f, 5 * SECOND);
        memcpy(advertisement + 18, PEER_MAC, 6);
        struct neighbour *n = NULL;
        if (known)
            n = neighbour_entry_new(f.weir, &f.netif, weir_addr_with_zone(router, f.netif.index), true);
        if (known == 1)
            neighbour_resolved(f.weir, n, PEER_MAC);
        else if (known)
            n->state = NEIGHBOUR_INCOMPLETE;
        input_icmp6(&f, &(struct make6){.source = router, .destination = ALL_NODES6, .hop_limit = 255}, advertisement,
                    known ? 16 : 24);
        assert_true(ip_is_gateway(f.weir, &f.netif, weir_addr_with_zone(router, f.netif.index)));
        weir_addr_to_v6(router, bytes);
        const uint32_t length = nd_na_emit(message, bytes, ND_OVERRIDE, PEER_MAC);
        input_icmp6(&f, &(struct make6){.source = router, .destination = ALL_NODES6, .hop_limit = 255}, message,
                    length);
        fixture_poll(&f, 1000);
        assert_false(ip_is_gateway(f.weir, &f.netif, weir_addr_with_zone(router, f.netif.index)));
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_solicitation_is_answered),
        cmocka_unit_test(what_is_not_for_us_or_comes_from_afar_is_not_answered),
        cmocka_unit_test(a_probe_for_an_address_in_use_is_answered_to_all),
        cmocka_unit_test(advertisements_follow_the_table),
        cmocka_unit_test(a_solicitation_with_another_link_address_is_doubted),
        cmocka_unit_test(claims_do_not_move_who_is_there),
        cmocka_unit_test(claims_do_not_move_a_stranger),
        cmocka_unit_test(a_claim_and_a_hasty_router_move_nobody),
        cmocka_unit_test(who_has_moved_is_found),
        cmocka_unit_test(three_solicitations_to_the_group_then_nobody_is_there),
        cmocka_unit_test(what_waited_is_sent_in_order),
        cmocka_unit_test(a_stale_neighbour_is_used_and_asked_after_five_seconds),
        cmocka_unit_test(a_router_that_is_one_no_longer_is_no_way_out),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
