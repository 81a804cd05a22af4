// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// Source filters of multicast groups (RFC 3678): how members' filters are merged (RFC 9776 §3.2), what is reported of
// them (§5.1), which queries are answered with which sources (§5.2), and what each socket hears.
#include "ip/packets.h"
#include "ip/packets6.h"

#include "ip/group.h"
#include "wire/igmp.h"
#include "wire/mld.h"

#define SECOND 1000000u
#define PORT 7000
#define GROUP weir_ip4(239, 1, 2, 3)
#define GROUP6 ip6_of(0xff020000u, 0, 0, 0xfb)
#define A(n) weir_ip4(10, 0, 9, n)
#define MOST WEIR_CFG_MULTICAST_SOURCES

static const struct weir_membership in_group = {.group = {{0, 0, 0, 0}}};

static struct weir_membership group4(void)
{
    struct weir_membership which = in_group;
    which.group = GROUP;
    return which;
}
static struct weir_membership group6(void)
{
    struct weir_membership which = in_group;
    which.group = GROUP6;
    return which;
}

// --- what was said ---------------------------------------------------------------------------------------------------

struct said {
    char text[2000];
    size_t length;
};

static void record_say(struct said *said, uint8_t type, const uint8_t *sources, uint32_t count, uint32_t bytes)
{
    static const char *const names[] = {"?", "IS_IN", "IS_EX", "TO_IN", "TO_EX", "ALLOW", "BLOCK"};
    bool there[256] = {false};
    assert_in_range(type, 1, 6);
    for (uint32_t i = 0; i < count; i++) {
        assert_false(there[sources[i * bytes + bytes - 1]]);  // none twice
        there[sources[i * bytes + bytes - 1]] = true;
    }
    said->length += (size_t)sprintf(said->text + said->length, "%s%s(", said->length ? " " : "", names[type]);
    for (uint32_t i = 0, first = 1; i < 256; i++)
        if (there[i]) {
            said->length += (size_t)sprintf(said->text + said->length, "%s%u", first ? "" : ",", i);
            first = 0;
        }
    said->length += (size_t)sprintf(said->text + said->length, ")");
}

static void said4(struct said *said, const uint8_t *bytes, uint32_t length)
{
    const char *const old = bytes[0] == IGMP_REPORT_V1   ? "V1"
                            : bytes[0] == IGMP_REPORT_V2 ? "V2"
                            : bytes[0] == IGMP_LEAVE     ? "LEAVE"
                                                         : NULL;
    assert_int_equal(checksum_sum_portable(bytes, length), 0xffff);
    if (old) {
        said->length += (size_t)sprintf(said->text + said->length, "%s%s", said->length ? " " : "", old);
        return;
    }
    assert_int_equal(bytes[0], IGMP_REPORT_V3);
    uint32_t at = 8;
    for (uint32_t i = 0; i < get16(bytes + 6); i++) {
        const uint32_t count = get16(bytes + at + 2);
        assert_int_equal(get32(bytes + at + 4), weir_addr_to_v4(GROUP));
        record_say(said, bytes[at], bytes + at + 8, count, 4);
        at += 8 + 4 * count;
    }
    assert_int_equal(at, length);
}

// Of records about GROUP6 alone: neighbours' groups are reported beside it.
static void said6(struct said *said, const uint8_t *bytes, uint32_t length)
{
    uint32_t at = 8;
    if (bytes[0] != ICMP6_MLD_REPORT_V2)
        return;
    for (uint32_t i = 0; i < get16(bytes + 6); i++) {
        const uint32_t count = get16(bytes + at + 2);
        if (weir_addr_equal(weir_addr_v6(bytes + at + 4), GROUP6))
            record_say(said, bytes[at], bytes + at + 20, count, 16);
        at += 20 + 16 * count;
    }
    assert_int_equal(at, length);
}

// What was reported since the last time, in `us` more: "ALLOW(1,2) BLOCK(3)", each source by its last byte.
static const char *said_in(struct fixture *f, uint64_t us)
{
    static struct said said;
    said = (struct said){.length = 0};
    fixture_poll(f, us);
    for (uint32_t i = 0; i < fixture_sent_count(f); i++) {
        uint32_t length, total;
        struct ip4 ip;
        struct ip6 ip6;
        if (fixture_sent_packet(f, i, &total)[0] >> 4 == 6) {
            const uint8_t *const bytes = sent6(f, i, &ip6, &length);
            if (ip6.next_header == IP6_HOP_BY_HOP)
                said6(&said, bytes + 8, length - 8);
            continue;
        }
        const uint8_t *const bytes = sent_packet(f, i, &ip, &length);
        if (ip.protocol == IP_IGMP)
            said4(&said, bytes, length);
    }
    fixture_clear(f);
    return said.text;
}
#define assert_said(f, us, text) assert_string_equal(said_in(f, us), text)

// --- a member --------------------------------------------------------------------------------------------------------

static weir_socket member(struct fixture *f)
{
    const weir_socket s = weir_socket_open(f->weir, WEIR_DATAGRAM, 0);
    weir_socket_set(f->weir, s, WEIR_OPTION_REUSE_ADDRESS, 1);
    assert_int_equal(weir_socket_bind(f->weir, s, &(struct weir_endpoint){weir_addr_any(), PORT}), WEIR_OK);
    return s;
}

static int act(struct fixture *f, weir_socket s, uint8_t source, enum weir_source_action action)
{
    const struct weir_membership which = group4();
    return weir_socket_source(f->weir, s, &which, A(source), action);
}

// Sets the filter: sources by their last bytes, 0 ends them.
static int set(struct fixture *f, weir_socket s, bool exclude, const char *sources)
{
    const struct weir_membership which = group4();
    struct weir_addr list[256];
    int count = 0;
    for (; sources[count]; count++)
        list[count] = A((uint8_t)sources[count]);
    return weir_socket_sources_set(f->weir, s, &which, exclude, list, count);
}

static int heard(struct fixture *f, weir_socket s, uint8_t source)
{
    struct weir_message message;
    struct weir_slice slice;
    int count = 0;
    input_udp(f, A(source), GROUP, 9, PORT, "x", 1);
    while (weir_socket_peek_message(f->weir, s, &message, &slice) >= 0) {
        count++;
        weir_socket_discard(f->weir, s);
    }
    return count;
}

static void query(struct fixture *f, struct weir_addr group, const char *sources)
{
    uint8_t body[12 + 4 * 64] = {IGMP_QUERY, 10};
    const uint32_t count = (uint32_t)strlen(sources);
    if (!weir_addr_is_any(group))
        put32(body + 4, weir_addr_to_v4(group));
    put16(body + 10, (uint16_t)count);
    for (uint32_t i = 0; i < count; i++)
        put32(body + 12 + 4 * i, weir_addr_to_v4(A((uint8_t)sources[i])));
    checksum_put(body + 2, checksum_sum_portable(body, 12 + 4 * count));
    input(f, &(struct make){.source = ROUTER,
                            .destination = weir_ip4(224, 0, 0, 1),
                            .protocol = IP_IGMP,
                            .ttl = 1,
                            .payload = body,
                            .length = 12 + 4 * count});
}

static void query_v2(struct fixture *f)
{
    uint8_t body[8] = {IGMP_QUERY, 10};
    checksum_put(body + 2, checksum_sum_portable(body, 8));
    input(f, &(struct make){.source = ROUTER,
                            .destination = weir_ip4(224, 0, 0, 1),
                            .protocol = IP_IGMP,
                            .ttl = 1,
                            .payload = body,
                            .length = 8});
}

// --- one member ------------------------------------------------------------------------------------------------------

static void a_source_is_allowed_and_blocked_twice_each(void **state)
{
    struct fixture f;
    (void)state;
    open_raw(&f);
    const weir_socket s = member(&f);
    assert_int_equal(act(&f, s, 1, WEIR_SOURCE_JOIN), WEIR_OK);
    assert_said(&f, 1000, "ALLOW(1)");
    assert_said(&f, 1100000, "ALLOW(1)");
    assert_said(&f, 60 * SECOND, "");
    assert_int_equal(act(&f, s, 2, WEIR_SOURCE_JOIN), WEIR_OK);
    assert_said(&f, 5 * SECOND, "ALLOW(2) ALLOW(2)");
    assert_int_equal(heard(&f, s, 1) + heard(&f, s, 2), 2);
    assert_int_equal(heard(&f, s, 3), 0);
    assert_int_equal(act(&f, s, 1, WEIR_SOURCE_LEAVE), WEIR_OK);
    assert_said(&f, 5 * SECOND, "BLOCK(1) BLOCK(1)");
    assert_int_equal(heard(&f, s, 1), 0);
    assert_int_equal(act(&f, s, 2, WEIR_SOURCE_LEAVE), WEIR_OK);  // the last: the group is left
    assert_false(ip_group_member(f.weir, &f.netif, GROUP));
    assert_said(&f, 5 * SECOND, "BLOCK(2) BLOCK(2)");
    fixture_close(&f);
}

static void a_member_of_all_blocks_some(void **state)
{
    struct fixture f;
    (void)state;
    open_raw(&f);
    const weir_socket s = member(&f);
    assert_int_equal(weir_socket_membership(f.weir, s, GROUP, 0, 1), WEIR_OK);
    assert_said(&f, 5 * SECOND, "TO_EX() TO_EX()");
    assert_int_equal(act(&f, s, 5, WEIR_SOURCE_BLOCK), WEIR_OK);
    assert_said(&f, 5 * SECOND, "BLOCK(5) BLOCK(5)");
    assert_int_equal(heard(&f, s, 5), 0);
    assert_int_equal(heard(&f, s, 6), 1);
    assert_int_equal(act(&f, s, 5, WEIR_SOURCE_UNBLOCK), WEIR_OK);
    assert_said(&f, 5 * SECOND, "ALLOW(5) ALLOW(5)");
    assert_int_equal(heard(&f, s, 5), 1);
    assert_int_equal(act(&f, s, 5, WEIR_SOURCE_BLOCK), WEIR_OK);
    weir_socket_close(f.weir, s);
    assert_said(&f, 5 * SECOND, "TO_IN() TO_IN()");
    fixture_close(&f);
}

// RFC 3678 §4.1.3, §5.1.2
static void what_a_membership_does_not_have_is_refused(void **state)
{
    struct fixture f;
    (void)state;
    open_raw(&f);
    const weir_socket s = member(&f);
    const struct weir_membership which = group4(), no_group = {.group = A(9)};
    assert_int_equal(act(&f, s, 1, WEIR_SOURCE_LEAVE), WEIR_NO_ADDRESS);
    assert_int_equal(act(&f, s, 1, WEIR_SOURCE_BLOCK), WEIR_INVALID);
    assert_int_equal(act(&f, s, 1, WEIR_SOURCE_UNBLOCK), WEIR_INVALID);
    assert_int_equal(weir_socket_source(f.weir, s, &no_group, A(1), WEIR_SOURCE_JOIN), WEIR_INVALID);
    assert_int_equal(weir_socket_source(f.weir, s, &which, GROUP, WEIR_SOURCE_JOIN), WEIR_INVALID);
    assert_int_equal(weir_socket_source(f.weir, s, &which, OURS6, WEIR_SOURCE_JOIN), WEIR_INVALID);
    assert_int_equal(weir_socket_source(f.weir, s, &which, weir_ip4(0, 0, 0, 0), WEIR_SOURCE_JOIN), WEIR_INVALID);
    assert_int_equal(act(&f, s, 1, WEIR_SOURCE_JOIN), WEIR_OK);
    assert_int_equal(act(&f, s, 1, WEIR_SOURCE_JOIN), WEIR_NO_ADDRESS);
    assert_int_equal(act(&f, s, 2, WEIR_SOURCE_LEAVE), WEIR_NO_ADDRESS);
    assert_int_equal(act(&f, s, 2, WEIR_SOURCE_BLOCK), WEIR_INVALID);
    assert_int_equal(weir_socket_membership(f.weir, s, GROUP, 0, 1), WEIR_IN_USE);
    assert_int_equal(weir_socket_membership(f.weir, s, GROUP, 0, 0), WEIR_OK);
    assert_int_equal(weir_socket_membership(f.weir, s, GROUP, 0, 1), WEIR_OK);
    assert_int_equal(act(&f, s, 1, WEIR_SOURCE_JOIN), WEIR_INVALID);
    assert_int_equal(act(&f, s, 1, WEIR_SOURCE_LEAVE), WEIR_INVALID);
    assert_int_equal(act(&f, s, 1, WEIR_SOURCE_UNBLOCK), WEIR_NO_ADDRESS);
    assert_int_equal(act(&f, s, 1, WEIR_SOURCE_BLOCK), WEIR_OK);
    assert_int_equal(act(&f, s, 1, WEIR_SOURCE_BLOCK), WEIR_NO_ADDRESS);
    const weir_socket stream = weir_socket_open(f.weir, WEIR_STREAM, 0);
    assert_int_equal(act(&f, stream, 1, WEIR_SOURCE_JOIN), WEIR_NOT_SUPPORTED);
    fixture_close(&f);
}

static void a_whole_filter_is_set_and_read(void **state)
{
    struct fixture f;
    (void)state;
    open_raw(&f);
    const weir_socket s = member(&f);
    const struct weir_membership which = group4();
    struct weir_addr got[2];
    int exclude;
    assert_int_equal(weir_socket_sources(f.weir, s, &which, &exclude, got, 2), WEIR_NO_ADDRESS);
    assert_int_equal(set(&f, s, false, ""), WEIR_NO_ADDRESS);
    assert_int_equal(set(&f, s, false, "\1\2\3\3"), WEIR_OK);
    assert_int_equal(weir_socket_sources(f.weir, s, &which, &exclude, got, 2), 3);
    assert_int_equal(exclude, 0);
    assert_true(weir_addr_equal(got[0], A(1)) && weir_addr_equal(got[1], A(2)));
    assert_said(&f, 5 * SECOND, "ALLOW(1,2,3) ALLOW(1,2,3)");
    assert_int_equal(set(&f, s, true, "\3\4"), WEIR_OK);
    assert_int_equal(weir_socket_sources(f.weir, s, &which, &exclude, got, 0), 2);
    assert_int_equal(exclude, 1);
    assert_said(&f, 5 * SECOND, "TO_EX(3,4) TO_EX(3,4)");
    assert_int_equal(set(&f, s, true, ""), WEIR_OK);
    assert_int_equal(weir_socket_sources(f.weir, s, &which, &exclude, got, 2), 0);
    assert_int_equal(exclude, 1);
    assert_said(&f, 5 * SECOND, "ALLOW(3,4) ALLOW(3,4)");
    assert_int_equal(set(&f, s, false, "\7"), WEIR_OK);
    assert_said(&f, 5 * SECOND, "TO_IN(7) TO_IN(7)");
    assert_int_equal(set(&f, s, false, ""), WEIR_OK);
    assert_int_equal(weir_socket_sources(f.weir, s, &which, &exclude, got, 2), WEIR_NO_ADDRESS);
    assert_said(&f, 5 * SECOND, "BLOCK(7) BLOCK(7)");
    fixture_close(&f);
}

// --- several members -------------------------------------------------------------------------------------------------

// The two examples of RFC 9776 §3.2.
static void filters_are_merged(void **state)
{
    struct fixture f;
    (void)state;
    open_raw(&f);
    const weir_socket one = member(&f), two = member(&f), three = member(&f);
    assert_int_equal(set(&f, one, true, "abcd"), WEIR_OK);
    assert_int_equal(set(&f, two, true, "bcde"), WEIR_OK);
    assert_int_equal(set(&f, three, false, "def"), WEIR_OK);
    assert_said(&f, 5 * SECOND, "TO_EX(98,99) TO_EX(98,99)");  // b and c
    assert_int_equal(heard(&f, one, 'b') + heard(&f, two, 'b') + heard(&f, three, 'b'), 0);
    assert_int_equal(heard(&f, one, 'd'), 0);
    assert_int_equal(heard(&f, two, 'd'), 0);
    assert_int_equal(heard(&f, three, 'd'), 3);  // all three datagrams to d
    assert_int_equal(set(&f, one, false, "abcd"), WEIR_OK);
    assert_int_equal(set(&f, two, false, "bcde"), WEIR_OK);
    assert_said(&f, 5 * SECOND, "TO_IN(97,98,99,100,101,102) TO_IN(97,98,99,100,101,102)");
    weir_socket_close(f.weir, two);
    assert_said(&f, 5 * SECOND, "");  // others include the same
    weir_socket_close(f.weir, one);
    assert_said(&f, 5 * SECOND, "BLOCK(97,98,99) BLOCK(97,98,99)");
    const weir_socket plain = member(&f);
    assert_int_equal(weir_socket_membership(f.weir, plain, GROUP, 0, 1), WEIR_OK);
    assert_said(&f, 5 * SECOND, "TO_EX() TO_EX()");
    weir_socket_close(f.weir, plain);
    assert_said(&f, 5 * SECOND, "TO_IN(100,101,102) TO_IN(100,101,102)");
    fixture_close(&f);
}

// RFC 9776 §5.1: what is pending is merged with what is new, and each change is told as often as the robustness is.
static void changes_in_a_row_are_merged(void **state)
{
    struct fixture f;
    (void)state;
    open_raw(&f);
    const weir_socket s = member(&f);
    assert_int_equal(set(&f, s, false, "\1\2"), WEIR_OK);
    assert_said(&f, 1000, "ALLOW(1,2)");
    assert_int_equal(set(&f, s, false, "\2\3"), WEIR_OK);
    assert_said(&f, 1000, "ALLOW(2,3) BLOCK(1)");
    assert_said(&f, 1100000, "ALLOW(3) BLOCK(1)");
    assert_said(&f, 10 * SECOND, "");
    assert_int_equal(set(&f, s, true, "\1"), WEIR_OK);
    assert_said(&f, 1000, "TO_EX(1)");
    assert_int_equal(set(&f, s, true, "\1\4"), WEIR_OK);  // the mode is still to be told once more
    assert_said(&f, 1000, "TO_EX(1,4)");
    assert_said(&f, 1100000, "BLOCK(4)");
    assert_said(&f, 10 * SECOND, "");
    assert_int_equal(set(&f, s, false, "\1"), WEIR_OK);
    assert_int_equal(set(&f, s, true, "\1\4"), WEIR_OK);  // before anything was said: there is nothing to say
    assert_said(&f, 10 * SECOND, "");
    fixture_close(&f);
}

// --- queries ---------------------------------------------------------------------------------------------------------

static void queries_about_sources_are_answered_with_those_that_are_heard(void **state)
{
    struct fixture f;
    (void)state;
    open_raw(&f);
    const weir_socket s = member(&f);
    assert_int_equal(set(&f, s, false, "\1\2\3"), WEIR_OK);
    said_in(&f, 5 * SECOND);
    query(&f, weir_addr_any(), "");
    assert_said(&f, 1100000, "IS_IN(1,2,3)");
    query(&f, GROUP, "");
    assert_said(&f, 1100000, "IS_IN(1,2,3)");
    query(&f, GROUP, "\2\3\4");
    assert_said(&f, 1100000, "IS_IN(2,3)");
    query(&f, GROUP, "\4\5");
    assert_said(&f, 1100000, "");
    assert_int_equal(set(&f, s, true, "\1\2\3"), WEIR_OK);
    said_in(&f, 5 * SECOND);
    query(&f, GROUP, "");
    assert_said(&f, 1100000, "IS_EX(1,2,3)");
    query(&f, GROUP, "\2\3\4");
    assert_said(&f, 1100000, "IS_IN(4)");
    query(&f, GROUP, "\2\3");
    assert_said(&f, 1100000, "");
    fixture_close(&f);
}

// RFC 9776 §5.2, rules 3 to 5.
static void queries_in_a_row_have_one_answer(void **state)
{
    char many[MOST + 2] = {0};
    struct fixture f;
    (void)state;
    open_raw(&f);
    const weir_socket s = member(&f);
    assert_int_equal(set(&f, s, false, "\1\2\3"), WEIR_OK);
    said_in(&f, 5 * SECOND);
    query(&f, GROUP, "\1");
    query(&f, GROUP, "\3\4\1");
    assert_said(&f, 1100000, "IS_IN(1,3)");
    query(&f, GROUP, "\1");
    query(&f, GROUP, "");
    query(&f, GROUP, "\2");
    assert_said(&f, 1100000, "IS_IN(1,2,3)");
    memset(many, 1, MOST + 1);
    query(&f, GROUP, many);  // of more than are noted, the whole group is answered for
    assert_said(&f, 1100000, "IS_IN(1,2,3)");
    for (int i = 0; i < MOST; i++)
        many[i] = (char)(100 + i);
    many[MOST] = 0;
    query(&f, GROUP, many);
    query(&f, GROUP, "\1");
    assert_said(&f, 1100000, "IS_IN(1,2,3)");
    fixture_close(&f);
}

static void a_change_and_an_answer_go_together(void **state)
{
    struct fixture f;
    (void)state;
    open_raw(&f);
    const weir_socket s = member(&f);
    assert_int_equal(set(&f, s, false, "\1\2"), WEIR_OK);
    said_in(&f, 5 * SECOND);
    query(&f, weir_addr_any(), "");
    assert_int_equal(set(&f, s, false, "\2\3"), WEIR_OK);
    assert_said(&f, 0, "ALLOW(3) BLOCK(1) IS_IN(2,3)");
    assert_said(&f, 5 * SECOND, "ALLOW(3) BLOCK(1)");
    weir_socket_close(f.weir, s);
    query(&f, weir_addr_any(), "");  // nobody is a member any more
    assert_said(&f, 5 * SECOND, "BLOCK(2,3) BLOCK(2,3)");
    fixture_close(&f);
}

// RFC 9776 §7.2.1
static void an_older_querier_hears_of_no_sources(void **state)
{
    struct fixture f;
    (void)state;
    open_raw(&f);
    const weir_socket s = member(&f);
    assert_int_equal(set(&f, s, false, "\1\2"), WEIR_OK);
    assert_said(&f, 1000, "ALLOW(1,2)");
    query_v2(&f);  // what was pending is said no more
    assert_said(&f, 1100000, "V2");
    assert_int_equal(heard(&f, s, 3), 0);
    weir_socket_close(f.weir, s);
    assert_said(&f, 60 * SECOND, "LEAVE");
    fixture_close(&f);
}

// --- bounds ----------------------------------------------------------------------------------------------------------

static void sources_are_bounded(void **state)
{
    struct fixture f;
    (void)state;
    open_raw(&f);
    const weir_socket s = member(&f), other = member(&f), third = member(&f);
    for (uint8_t i = 1; i <= MOST; i++)
        assert_int_equal(act(&f, s, i, WEIR_SOURCE_JOIN), WEIR_OK);
    assert_int_equal(act(&f, s, MOST + 1, WEIR_SOURCE_JOIN), WEIR_NO_MEMORY);
    assert_int_equal(act(&f, other, MOST + 1, WEIR_SOURCE_JOIN), WEIR_NO_MEMORY);  // all together
    assert_int_equal(act(&f, other, 1, WEIR_SOURCE_JOIN), WEIR_OK);
    assert_int_equal(set(&f, other, false, "\1\x7f"), WEIR_NO_MEMORY);
    assert_int_equal(heard(&f, other, 1), 1);  // nothing has changed
    assert_int_equal(set(&f, third, true, "\x7e\x7f"), WEIR_OK);
    char many[MOST + 2];
    memset(many, 9, sizeof many);
    many[MOST + 1] = 0;
    assert_int_equal(set(&f, s, true, many), WEIR_NO_MEMORY);
    assert_said(&f, 5 * SECOND, "TO_EX(126,127) TO_EX(126,127)");
    weir_socket_close(f.weir, third);
    said_in(&f, 5 * SECOND);
    // All sources another, again and again within one interval: what ended has no places any more, so the whole is
    // told.
    for (uint8_t round = 0; round < 3; round++) {
        for (int i = 0; i < MOST; i++)
            many[i] = (char)(1 + (round + 1) * MOST + i);
        many[MOST] = 0;
        weir_socket_close(f.weir, other);
        assert_int_equal(set(&f, s, false, many), WEIR_OK);
        const char *const text = said_in(&f, 0);
        assert_non_null(strstr(text, round < 1 ? "ALLOW(" : "TO_IN("));
    }
    fixture_close(&f);
}

static void groups_that_were_left_make_room(void **state)
{
    struct fixture f;
    (void)state;
    open_raw(&f);
    for (uint32_t i = 0; i < WEIR_CFG_MULTICAST_GROUPS; i++)
        assert_int_equal(ip_group_join(f.weir, &f.netif, weir_addr_v4(weir_addr_to_v4(GROUP) + i)), WEIR_OK);
    fixture_poll(&f, 20 * (uint64_t)SECOND);
    assert_int_equal(ip_group_leave(f.weir, &f.netif, GROUP), WEIR_OK);  // told twice, unless
    assert_int_equal(ip_group_join(f.weir, &f.netif, weir_ip4(239, 255, 0, 1)), WEIR_OK);
    assert_int_equal(ip_group_join(f.weir, &f.netif, weir_ip4(239, 255, 0, 2)), WEIR_NO_MEMORY);
    assert_false(ip_group_member(f.weir, &f.netif, GROUP));
    assert_int_equal(ip_group_leave(f.weir, &f.netif, GROUP), WEIR_NO_ADDRESS);
    fixture_close(&f);
}

static void a_link_that_is_back_is_told_all(void **state)
{
    struct fixture f;
    (void)state;
    open_raw(&f);
    const weir_socket s = member(&f);
    assert_int_equal(set(&f, s, false, "\1\2"), WEIR_OK);
    said_in(&f, 5 * SECOND);
    weir_link_change(&f.netif, false);
    assert_int_equal(set(&f, s, false, "\1\3"), WEIR_OK);
    fixture_poll(&f, 20 * (uint64_t)SECOND);
    fixture_clear(&f);
    weir_link_change(&f.netif, true);
    assert_said(&f, 20 * (uint64_t)SECOND, "TO_IN(1,3) TO_IN(1,3)");
    weir_netif_remove(&f.netif);
    assert_int_equal(act(&f, s, 1, WEIR_SOURCE_LEAVE), WEIR_NO_ROUTE);
    weir_socket_close(f.weir, s);
    assert_int_equal(weir_netif_add(f.weir, &f.netif), WEIR_OK);
    fixture_close(&f);
}

// --- IPv6 ------------------------------------------------------------------------------------------------------------

static void listeners_of_ip6_report_sources_too(void **state)
{
    static const uint8_t alert[8] = {IP6_ICMP, 0, 5, 2, 0, 0, 1, 0};
    uint8_t asked[28 + 32] = {ICMP6_MLD_QUERY, [4] = 0x03, [5] = 0xe8, [27] = 2};
    const struct weir_membership which = group6();
    struct make6 make = {.source = PEER_LINK6,
                         .destination = ALL_NODES6,
                         .next_header = IP6_HOP_BY_HOP,
                         .hop_limit = 1,
                         .chain = alert,
                         .chain_length = 8};
    struct fixture f;
    (void)state;
    open6(&f, &weir_link_rawip);
    settle6(&f);
    const weir_socket s = member(&f);
    assert_int_equal(weir_socket_source(f.weir, s, &which, PEER6, WEIR_SOURCE_JOIN), WEIR_OK);
    assert_int_equal(weir_socket_source(f.weir, s, &which, ip6_of(0xfe800000u, 0, 0, 0x33), WEIR_SOURCE_JOIN), WEIR_OK);
    assert_int_equal(weir_socket_source(f.weir, s, &which, A(1), WEIR_SOURCE_JOIN), WEIR_INVALID);
    assert_said(&f, 5 * SECOND, "ALLOW(2,51) ALLOW(2,51)");
    weir_addr_to_v6(GROUP6, asked + 8);
    weir_addr_to_v6(ip6_of(0xfe800000u, 0, 0, 0x33), asked + 28);
    weir_addr_to_v6(OTHER6, asked + 44);
    input_icmp6(&f, &make, asked, sizeof asked);
    assert_said(&f, 1100000, "IS_IN(51)");
    assert_int_equal(weir_socket_sources_set(f.weir, s, &which, 1, (struct weir_addr[]){PEER6}, 1), WEIR_OK);
    assert_said(&f, 5 * SECOND, "TO_EX(2) TO_EX(2)");
    weir_socket_close(f.weir, s);
    assert_said(&f, 5 * SECOND, "TO_IN() TO_IN()");
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_source_is_allowed_and_blocked_twice_each),
        cmocka_unit_test(a_member_of_all_blocks_some),
        cmocka_unit_test(what_a_membership_does_not_have_is_refused),
        cmocka_unit_test(a_whole_filter_is_set_and_read),
        cmocka_unit_test(filters_are_merged),
        cmocka_unit_test(changes_in_a_row_are_merged),
        cmocka_unit_test(queries_about_sources_are_answered_with_those_that_are_heard),
        cmocka_unit_test(queries_in_a_row_have_one_answer),
        cmocka_unit_test(a_change_and_an_answer_go_together),
        cmocka_unit_test(an_older_querier_hears_of_no_sources),
        cmocka_unit_test(sources_are_bounded),
        cmocka_unit_test(groups_that_were_left_make_room),
        cmocka_unit_test(a_link_that_is_back_is_told_all),
        cmocka_unit_test(listeners_of_ip6_report_sources_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
