// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny6
// IPv6 of the compact stack beside TCP: addresses and their probes, answers to neighbours, what routers say, reports of
// groups, echoes, extension headers; and what must not be believed.
// needs IPv6
#undef WEIR_CFG_IP4
#define WEIR_CFG_IP4 0
#include "serving.c"

#include "compact/talk6.h"

// RFC 4862 §5.4, RFC 9777 §6.1, RFC 4861 §6.3.7.
static void an_address_is_probed_before_it_is_used(void **state)
{
    (void)state;
    struct talk t;
    struct ip6 ip;
    uint8_t group[16];
    begin(&t);
    assert_int_equal(own(&t, false)->state, WEIR_ADDRESS_PROBING);
    assert_memory_equal(own_bytes(&t, false), ((const uint8_t[8]){0xfe, 0x80}), 8);
    solicited(own_bytes(&t, false), group);
    const uint8_t *report = message(&t, ICMP6_MLD_REPORT_V2, &ip);
    assert_non_null(report);
    assert_int_equal(ip.hop_limit, 1);
    assert_memory_equal(ip.source, none, 16);
    assert_int_equal(report[7], 1);
    assert_int_equal(report[8], GROUP_TO_EXCLUDE);
    assert_memory_equal(report + 12, group, 16);
    const uint8_t *probe = message(&t, ICMP6_NEIGHBOUR_SOLICITATION, &ip);
    assert_non_null(probe);
    assert_int_equal(ip.hop_limit, 255);
    assert_memory_equal(ip.source, none, 16);
    assert_memory_equal(ip.destination, group, 16);
    assert_memory_equal(probe + 8, own_bytes(&t, false), 16);
    assert_int_equal(get16(probe + 24), ND_NONCE << 8 | 1);
    assert_int_equal(ip.payload_length, 32);
    assert_non_null(message(&t, ICMP6_ROUTER_SOLICITATION, &ip));  // meanwhile, and so from nobody
    assert_memory_equal(ip.source, none, 16);
    assert_int_equal(ip.payload_length, 8);
    forget(&t);
    pass(&t, SECOND - 1);
    expect_nothing(&t);
    assert_int_equal(own(&t, false)->state, WEIR_ADDRESS_PROBING);
    pass(&t, 1);
    ready(&t, false);
    assert_non_null(message(&t, ICMP6_MLD_REPORT_V2, &ip));  // once more, from an address
    assert_memory_equal(ip.source, own_bytes(&t, false), 16);
    pass(&t, 4 * SECOND);
    const uint8_t *solicitation = message(&t, ICMP6_ROUTER_SOLICITATION, &ip);
    assert_non_null(solicitation);
    assert_int_equal(ip.hop_limit, 255);
    assert_memory_equal(ip.source, own_bytes(&t, false), 16);
    assert_int_equal(get16(solicitation + 8), ND_SOURCE_LINK << 8 | 1);
    assert_memory_equal(solicitation + 10, server_mac, 6);
    pass(&t, SECOND);
    expect_nothing(&t);
    close_talk(&t);
}

// Another's probe or claim of an address that is being probed; not our own probe, which a network may send back
// (RFC 7527), nor who only looks for it.
static void a_duplicate_is_given_up(void **state)
{
    (void)state;
    for (uint32_t claimed = 0; claimed < 2; claimed++) {
        struct talk t;
        uint8_t first[16], bytes[200], group[16];
        begin(&t);
        memcpy(first, own_bytes(&t, false), 16);
        probe_in(&t, first, own(&t, false)->nonce);
        solicited(first, group);
        const uint32_t length = nd_ns_emit(bytes + HEADERS, first, peer_mac, NULL);
        forget(&t);
        icmp_in(&t, bytes, peer_address6, group, 255, length);
        expect_nothing(&t);
        assert_memory_equal(own_bytes(&t, false), first, 16);
        for (uint32_t conflicts = 0; conflicts < 4; conflicts++) {
            assert_int_equal(own(&t, false)->state, WEIR_ADDRESS_PROBING);
            memcpy(first, own_bytes(&t, false), 16);
            if (claimed)
                advertisement_in(&t, first);
            else
                probe_in(&t, first, (const uint8_t *)"other");
            if (conflicts < 3)
                assert_memory_not_equal(own_bytes(&t, false), first, 16);
        }
        assert_int_equal(own(&t, false)->state, WEIR_ADDRESS_CONFLICT);
        forget(&t);
        pass(&t, 100 * SECOND);  // it stays silent
        expect_nothing(&t);
        close_talk(&t);
    }
}

// A claim of an address that is ours is not heard.
static void an_address_in_use_stays(void **state)
{
    (void)state;
    struct talk t;
    open_talk(&t, SERVING_ECHO);
    advertisement_in(&t, server_address);
    ready(&t, false);
    assert_memory_equal(own_bytes(&t, false), server_address, 16);
    close_talk(&t);
}

static void who_asks_for_us_gets_an_answer(void **state)
{
    (void)state;
    struct talk t;
    struct ip6 ip;
    uint8_t bytes[200], group[16];
    begin_global(&t);
    for (uint32_t global = 0; global < 2; global++) {
        const uint8_t *target = own_bytes(&t, global);
        solicited(target, group);
        for (uint32_t unicast = 0; unicast < 2; unicast++) {  // also to know whether we are still there
            const uint32_t length = nd_ns_emit(bytes + HEADERS, target, peer_mac, NULL);
            icmp_in(&t, bytes, peer_address6, unicast ? target : group, 255, length);
            const uint8_t *answer = message(&t, ICMP6_NEIGHBOUR_ADVERTISEMENT, &ip);
            assert_non_null(answer);
            assert_int_equal(answer[4], ND_SOLICITED | ND_OVERRIDE);
            assert_int_equal(ip.hop_limit, 255);
            assert_memory_equal(ip.source, target, 16);
            assert_memory_equal(ip.destination, peer_address6, 16);
            assert_memory_equal(answer + 8, target, 16);
            assert_int_equal(get16(answer + 24), ND_TARGET_LINK << 8 | 1);
            assert_memory_equal(answer + 26, server_mac, 6);
            forget(&t);
        }
        probe_in(&t, target, NULL);  // a prober's, to all (RFC 4861 §7.2.4)
        const uint8_t *answer = message(&t, ICMP6_NEIGHBOUR_ADVERTISEMENT, &ip);
        assert_non_null(answer);
        assert_int_equal(answer[4], ND_OVERRIDE);
        assert_memory_equal(ip.destination, ALL_NODES, 16);
        forget(&t);
    }
    close_talk(&t);
}

// RFC 4861 §7.1.1.
static void a_bad_solicitation_gets_none(void **state)
{
    (void)state;
    struct talk t;
    uint8_t group[16];
    open_talk(&t, SERVING_ECHO);
    solicited(server_address, group);
    for (uint32_t wrong = 0; wrong < 11; wrong++) {
        uint8_t bytes[200];
        uint8_t *icmp = bytes + HEADERS;
        const uint8_t *source = wrong == 6 || wrong == 7 ? none : peer_address6,
                      *destination = wrong == 7 ? server_address : group;
        uint32_t length = nd_ns_emit(icmp, server_address, wrong == 7 ? NULL : peer_mac, NULL);
        icmp[1] = wrong == 2;
        icmp[25] = wrong == 3 ? 0 : wrong == 4 ? 2 : icmp[25];  // an option of no length, one beyond the message
        length -= wrong == 5 ? 9 : 0;
        memcpy(icmp + 8, wrong == 8 ? group : server_address, 16);
        icmp[23] ^= wrong == 9;
        const uint32_t bytes_all = wrap_icmp6(bytes, source, destination, wrong == 1 ? 254 : 255, length);
        icmp[2] ^= wrong == 10;
        raw_input(&t, bytes, bytes_all);
        turn(&t);
        assert_int_equal(has_sent(&t), wrong == 0);
        forget(&t);
    }
    close_talk(&t);
}

// RFC 4862 §5.5.3 (a) to (d), RFC 4861 §6.1.2.
static void a_prefix_makes_an_address(void **state)
{
    (void)state;
    static const uint8_t link_prefix[16] = {0xfe, 0x80}, group_prefix[16] = {0xff, 0xe};
    const struct prefix good = {prefix_a, 86400, 14400, 64, 0xc0};
    for (uint32_t wrong = 0; wrong < 12; wrong++) {
        struct talk t;
        uint8_t bytes[200];
        struct prefix said = good;
        begin(&t);
        pass(&t, 2 * SECOND);
        said.prefix = wrong == 1 ? link_prefix : wrong == 2 ? group_prefix : prefix_a;
        said.bits = wrong == 3 ? 63 : 64;
        said.flags = wrong == 4 ? 0x80 : 0xc0;
        said.preferred_s = wrong == 5 ? 86401 : 14400;
        if (wrong == 6)
            said.valid_s = said.preferred_s = 0;
        uint32_t length = make_prefix(bytes, &said);
        if (wrong == 7)
            bytes[HEADERS + 16 + 1] = 3;
        bytes[HEADERS + 1] = wrong == 8;
        length -= wrong == 9 ? 8 : 0;
        icmp_in(&t, bytes, wrong == 10 ? global_peer : peer_address6, ALL_NODES, wrong == 11 ? 254 : 255, length);
        if (wrong) {
            assert_int_equal(own(&t, true)->state, WEIR_ADDRESS_NONE);
        } else {
            assert_int_equal(own(&t, true)->state, WEIR_ADDRESS_PROBING);
            pass(&t, SECOND);
            ready(&t, true);
            assert_memory_equal(own_bytes(&t, true), prefix_a, 8);
            assert_memory_not_equal(own_bytes(&t, true) + 8, own_bytes(&t, false) + 8, 8);  // RFC 7217
        }
        close_talk(&t);
    }
}

// RFC 4862 §5.5.3 (e): nobody takes the address away by one advertisement.
static void lifetimes(void **state)
{
    (void)state;
    struct talk t;
    begin_global(&t);  // valid for a day
    prefix_in(&t, prefix_a, 60, 60);
    pass(&t, 2 * HOUR - 10 * SECOND);
    ready(&t, true);
    prefix_in(&t, prefix_a, 5, 5);  // below two hours it stays as it is
    pass(&t, 5 * SECOND);
    ready(&t, true);
    pass(&t, 10 * SECOND);
    assert_int_equal(own(&t, true)->state, WEIR_ADDRESS_NONE);
    prefix_in(&t, prefix_a, UINT32_MAX, UINT32_MAX);
    pass(&t, 400 * 24 * HOUR);
    ready(&t, true);
    prefix_in(&t, prefix_a, 3 * 3600, 3600);
    pass(&t, 3 * HOUR - SECOND);
    ready(&t, true);
    pass(&t, 2 * SECOND);
    assert_int_equal(own(&t, true)->state, WEIR_ADDRESS_NONE);
    close_talk(&t);
}

// Of two prefixes the first has an address, and the other once the first is not preferred any more; not while a
// connection is on it.
static void renumbering(void **state)
{
    (void)state;
    for (uint32_t connected = 0; connected < 2; connected++) {
        struct talk t;
        begin_global(&t);
        memcpy(server_address, own_bytes(&t, true), 16);
        if (connected)
            connect_talk(&t);
        prefix_in(&t, prefix_b, 86400, 14400);
        assert_memory_equal(own_bytes(&t, true), prefix_a, 8);
        prefix_in(&t, prefix_a, 86400, 0);
        ready(&t, true);
        prefix_in(&t, prefix_b, 86400, 14400);
        assert_memory_equal(own_bytes(&t, true), connected ? prefix_a : prefix_b, 8);
        if (connected) {
            forget(&t);
            in(&t, TCP_ACK | TCP_PSH, 0, 0, 10);
            expect(&t, TCP_ACK, 0, 10, 10);
        } else {
            pass(&t, 2 * SECOND);
            ready(&t, true);
        }
        close_talk(&t);
    }
}

// RFC 7559: until a router answers, ever more seldom, and without end; one that is no default router is no answer.
static void routers_are_asked(void **state)
{
    (void)state;
    struct talk t;
    uint8_t bytes[200];
    uint64_t last_us = 0, between_us = 0;
    uint32_t asked = 0;
    begin(&t);
    for (const uint64_t end_us = t.now_us + 12 * HOUR; t.now_us < end_us;) {
        forget(&t);
        pass(&t, SECOND / 10);
        if (!t.count || t.frames[0][HEADERS] != ICMP6_ROUTER_SOLICITATION)
            continue;
        if (asked > 1 && between_us < 1000 * SECOND)
            assert_in_range(t.now_us - last_us, between_us * 17 / 10, between_us * 24 / 10);
        between_us = last_us ? t.now_us - last_us : 0;
        assert_in_range(between_us, 0, 3960 * SECOND);
        last_us = t.now_us;
        if (asked++ == 1)
            icmp_in(&t, bytes, peer_address6, ALL_NODES, 255, (make_advertisement(bytes, 0, 0), 16));
    }
    assert_in_range(asked, 18, 25);
    icmp_in(&t, bytes, peer_address6, ALL_NODES, 255, (make_advertisement(bytes, 0, 1800), 16));
    forget(&t);
    pass(&t, 3 * HOUR);
    expect_nothing(&t);
    close_talk(&t);
}

// A link that comes back may be another one.
static void a_new_link_is_probed(void **state)
{
    (void)state;
    struct talk t;
    struct ip6 ip;
    begin_global(&t);
    serving_link_change(t.serving, false);
    pass(&t, 10 * SECOND);
    expect_nothing(&t);
    serving_link_change(t.serving, true);
    turn(&t);
    for (uint32_t global = 0; global < 2; global++)
        assert_int_equal(own(&t, global)->state, WEIR_ADDRESS_PROBING);
    assert_non_null(message(&t, ICMP6_MLD_REPORT_V2, &ip));
    for (uint32_t probes = 0; probes < 2; probes++)
        assert_non_null(message(&t, ICMP6_NEIGHBOUR_SOLICITATION, &ip));
    assert_non_null(message(&t, ICMP6_ROUTER_SOLICITATION, &ip));
    forget(&t);
    pass(&t, 2 * SECOND);
    for (uint32_t global = 0; global < 2; global++)
        ready(&t, global);
    close_talk(&t);
}

// RFC 9777 §6.2: within the time that the query gives; from a router of this link.
static void queries_are_answered(void **state)
{
    (void)state;
    struct talk t;
    begin_global(&t);
    for (uint32_t wrong = 0; wrong < 4; wrong++) {
        uint8_t bytes[200] = {0};
        struct ip6 ip;
        uint8_t *icmp = bytes + HEADERS;
        icmp[0] = ICMP6_MLD_QUERY;
        put16(icmp + 4, 10000);
        icmp_in(&t, bytes, wrong == 1 ? global_peer : peer_address6, ALL_NODES, wrong == 2 ? 64 : 1,
                wrong == 3 ? 20 : 28);
        pass(&t, 10 * SECOND);
        const uint8_t *report = message(&t, ICMP6_MLD_REPORT_V2, &ip);
        assert_int_equal(report != NULL, wrong == 0);
        if (report) {
            assert_int_equal(ip.hop_limit, 1);
            assert_int_equal(get32(report + 4), 2);
            assert_int_equal(report[8], GROUP_IS_EXCLUDE);
            for (uint32_t global = 0; global < 2; global++) {
                uint8_t group[16];
                solicited(own_bytes(&t, global), group);
                assert_memory_equal(report + 12 + 20 * global, group, 16);
            }
        }
        expect_nothing(&t);
        forget(&t);
    }
    close_talk(&t);
}

// An echo of 8 bytes behind `extension`, and whether it is answered.
static bool echoes(struct talk *t, const uint8_t *source, const uint8_t *destination, const uint8_t *extension,
                   uint32_t extension_bytes, uint8_t next)
{
    uint8_t bytes[300] = {0};
    uint8_t *icmp = bytes + HEADERS + extension_bytes;
    for (uint32_t i = 0; i < extension_bytes; i++)
        bytes[HEADERS + i] = extension[i];
    icmp[0] = ICMP6_ECHO;
    put32(icmp + 4, 0x12345678);
    memcpy(icmp + 8, "8 bytes.", 8);
    checksum_put(icmp + 2,
                 checksum_add(ip6_pseudo_sum(source, destination, IP6_ICMP, 16), checksum_sum_portable(icmp, 16)));
    raw_input(t, bytes, wrap_ip6(bytes, source, destination, next, 7, 16 + extension_bytes));
    turn(t);
    struct ip6 ip;
    const uint8_t *reply = message(t, ICMP6_ECHO_REPLY, &ip);
    if (reply) {
        assert_memory_equal(reply + 4, icmp + 4, 12);
        assert_memory_equal(ip.destination, source, 16);
        assert_int_equal(ip.payload_length, 16);
        assert_false(ip6_is_multicast(ip.source));
    }
    expect_nothing(t);
    forget(t);
    return reply != NULL;
}

static void echo_addresses(void **state)
{
    (void)state;
    static const uint8_t loopback[16] = {[15] = 1}, mapped[16] = {[10] = 0xff, 0xff, 10, 0, 0, 2},
                         other_group[16] = {0xff, 2, [15] = 5}, all_routers[16] = {0xff, 2, [15] = 2};
    struct talk t;
    begin_global(&t);
    uint8_t link[16], global[16], group[16], other[16];
    memcpy(link, own_bytes(&t, false), 16);
    memcpy(global, own_bytes(&t, true), 16);
    solicited(global, group);
    memcpy(other, global, 16);
    other[15] ^= 1;
    assert_true(echoes(&t, peer_address6, link, NULL, 0, IP6_ICMP));
    assert_true(echoes(&t, global_peer, global, NULL, 0, IP6_ICMP));
    assert_true(echoes(&t, peer_address6, ALL_NODES, NULL, 0, IP6_ICMP));
    assert_true(echoes(&t, peer_address6, group, NULL, 0, IP6_ICMP));
    const uint8_t *const nobody_hears[] = {other_group, all_routers, other, none, loopback, mapped};
    for (uint32_t i = 0; i < sizeof nobody_hears / sizeof *nobody_hears; i++)
        assert_false(echoes(&t, peer_address6, nobody_hears[i], NULL, 0, IP6_ICMP));
    const uint8_t *const nobody_says[] = {none, loopback, mapped, ALL_NODES, global};
    for (uint32_t i = 0; i < sizeof nobody_says / sizeof *nobody_says; i++)
        assert_false(echoes(&t, nobody_says[i], global, NULL, 0, IP6_ICMP));
    close_talk(&t);
}

// RFC 8200 §4: what asks for nothing is passed over, all else refused in silence.
static void extension_headers(void **state)
{
    (void)state;
    static const struct {
        uint8_t next, bytes[24], length;
        bool good;
    } chains[] = {
        {60, {58, 0, 1, 4}, 8, true},                           // destination options: PadN
        {60, {58, 0, 0, 0, 0, 0, 0, 0}, 8, true},               // Pad1
        {0, {58, 0, 5, 2, 0, 0, 1, 0}, 8, true},                // hop by hop: router alert
        {0, {60, 0, 1, 4, 0, 0, 0, 0, 58, 0, 1, 4}, 16, true},  // and destination options behind it
        {60, {58, 0, 0x1e, 4}, 8, true},                        // an unknown option that may be skipped
        {60, {58, 0, 0x5e, 4}, 8, false},                       // one that drops the packet
        {60, {58, 0, 0x9e, 4}, 8, false},
        {60, {58, 0, 0xde, 4}, 8, false},
        {0, {58, 0, 0xc2, 4, 0, 1, 0, 0}, 8, false},             // jumbo payload
        {60, {58, 0, 1, 5}, 8, false},                           // an option beyond its header
        {60, {58, 0, 0, 0, 0, 0, 0, 1}, 8, false},               // one cut in two
        {60, {58, 9}, 8, false},                                 // a header beyond the packet
        {60, {0, 0, 1, 4, 0, 0, 0, 0, 58, 0, 1, 4}, 16, false},  // hop by hop behind another
        {43, {58, 0, 0, 0}, 8, true},                            // routing, nothing left of it
        {43, {58, 0, 0, 1}, 8, false},
        {44, {58, 0, 0, 1, 0, 0, 0, 7}, 8, false},  // the first fragment
        {44, {58, 0, 0, 0, 0, 0, 0, 7}, 8, false},  // an atomic one
        {50, {58, 0, 1, 4}, 8, false},              // ESP
        {51, {58, 0, 0, 0}, 8, false},              // AH
        {59, {0}, 0, false},                        // no next header
        {99, {0}, 0, false},
        {17, {0}, 0, false},
    };
    struct talk t;
    open_talk(&t, SERVING_ECHO);
    for (uint32_t i = 0; i < sizeof chains / sizeof *chains; i++)
        assert_int_equal(echoes(&t, peer_address6, server_address, chains[i].bytes, chains[i].length, chains[i].next),
                         chains[i].good);
    close_talk(&t);
}

// Nothing of neighbour discovery in fragments (RFC 6980); what is larger than the outbox is not answered.
static void what_is_not_taken(void **state)
{
    (void)state;
    struct talk t;
    uint8_t bytes[1600] = {44}, group[16];
    open_talk(&t, SERVING_ECHO);
    solicited(server_address, group);
    uint8_t *fragment = bytes + HEADERS, *icmp = fragment + 8;
    const uint32_t length = nd_ns_emit(icmp, server_address, peer_mac, NULL);
    memset(fragment, 0, 8);
    fragment[0] = IP6_ICMP;
    checksum_put(icmp + 2, checksum_add(ip6_pseudo_sum(peer_address6, group, IP6_ICMP, length),
                                        checksum_sum_portable(icmp, length)));
    raw_input(&t, bytes, wrap_ip6(bytes, peer_address6, group, IP6_FRAGMENT, 255, length + 8));
    turn(&t);
    expect_nothing(&t);
    for (uint32_t data = 100; data < 1400; data += 100) {
        memset(bytes, 0, sizeof bytes);
        bytes[HEADERS] = ICMP6_ECHO;
        icmp_in(&t, bytes, peer_address6, server_address, 64, ICMP6_BYTES + data);
        assert_int_equal(has_sent(&t), 2 + HEADERS + ICMP6_BYTES + data <= WEIR_CFG_OUTBOX_BYTES);
        forget(&t);
    }
    close_talk(&t);
}

// The same ports and peer, once to each of our addresses: two connections.
static void an_address_is_a_part_of_a_connection(void **state)
{
    (void)state;
    struct talk t;
    begin_global(&t);
    memcpy(server_address, own_bytes(&t, true), 16);
    connect_talk(&t);
    forget(&t);
    memcpy(server_address, own_bytes(&t, false), 16);
    in(&t, TCP_ACK, 0, 0, 5);
    expect(&t, TCP_RST, 0, 0, 0);
    memcpy(server_address, own_bytes(&t, true), 16);
    in(&t, TCP_ACK | TCP_PSH, 0, 0, 5);
    expect(&t, TCP_ACK, 0, 5, 5);
    close_talk(&t);
}

// A unicast packet in a frame to a group of stations is for nobody; nor one to another station.
static void what_a_group_got_is_not_for_one_host(void **state)
{
    (void)state;
    struct talk t;
    uint8_t bytes[200];
    open_talk(&t, SERVING_ECHO);
    for (uint32_t wrong = 0; wrong < 4; wrong++) {
        memset(bytes, 0, sizeof bytes);
        bytes[HEADERS] = ICMP6_ECHO;
        const uint32_t length = wrap_icmp6(bytes, peer_address6, server_address, 64, 16);
        if (wrong == 1)
            memset(bytes, 0xff, 6);
        else if (wrong == 2)
            memcpy(bytes, (const uint8_t[6]){0x33, 0x33, 0, 0, 0, 1}, 6);
        else if (wrong == 3)
            bytes[5] ^= 1;
        raw_input(&t, bytes, length);
        turn(&t);
        assert_int_equal(has_sent(&t), wrong == 0);
        forget(&t);
    }
    close_talk(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(an_address_is_probed_before_it_is_used),
        cmocka_unit_test(a_duplicate_is_given_up),
        cmocka_unit_test(an_address_in_use_stays),
        cmocka_unit_test(who_asks_for_us_gets_an_answer),
        cmocka_unit_test(a_bad_solicitation_gets_none),
        cmocka_unit_test(a_prefix_makes_an_address),
        cmocka_unit_test(lifetimes),
        cmocka_unit_test(renumbering),
        cmocka_unit_test(routers_are_asked),
        cmocka_unit_test(a_new_link_is_probed),
        cmocka_unit_test(queries_are_answered),
        cmocka_unit_test(echo_addresses),
        cmocka_unit_test(extension_headers),
        cmocka_unit_test(what_is_not_taken),
        cmocka_unit_test(an_address_is_a_part_of_a_connection),
        cmocka_unit_test(what_a_group_got_is_not_for_one_host),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
