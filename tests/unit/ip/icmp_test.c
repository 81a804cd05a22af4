// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// Echo, and what is ignored.
#include "built.h"
#include "ip/packets.h"

static void echo_is_answered_from_poll(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {0, 1, 2, 55, 56, 1000, 1472};
    struct fixture f;
    struct ip4 ip;
    struct icmp4 icmp;
    uint32_t length;
    uint8_t data[1472];
    open_raw(&f);
    for (unsigned i = 0; i < sizeof lengths / sizeof lengths[0]; i++) {
        fill(data, lengths[i], i);
        input_icmp(&f, PEER, ICMP4_ECHO, 0, 0x12340000u + i, data, lengths[i]);
        assert_int_equal(fixture_sent_count(&f), 0);
        fixture_poll(&f, 10000);
        assert_int_equal(fixture_sent_count(&f), 1);
        const uint8_t *bytes = sent_icmp(&f, 0, &ip, &icmp, &length);
        assert_int_equal(icmp.type, ICMP4_ECHO_REPLY);
        assert_int_equal(icmp.rest, 0x12340000u + i);
        assert_int_equal(length, ICMP4_BYTES + lengths[i]);
        assert_memory_equal(bytes + ICMP4_BYTES, data, lengths[i]);
        assert_int_equal(ip.source, weir_addr_to_v4(OURS));
        assert_int_equal(ip.destination, weir_addr_to_v4(PEER));
        fixture_clear(&f);
    }
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ICMP_ECHO_ANSWERED), sizeof lengths / sizeof lengths[0]);
    fixture_close(&f);
}

// The checksum of the answer is changed, not computed: every value of it once.
static void echo_checksum_is_right_for_every_sum(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    struct icmp4 icmp;
    uint32_t length;
    open_raw(&f);
    for (uint32_t i = 0; i < 65536; i += i < 300 || i > 65200 ? 1 : 255) {
        input_icmp(&f, PEER, ICMP4_ECHO, 0, i, NULL, 0);
        fixture_poll(&f, 1000);
        sent_icmp(&f, 0, &ip, &icmp, &length);
        fixture_clear(&f);
    }
    fixture_close(&f);
}

static void echo_to_many_is_not_answered(void **state)
{
    (void)state;
    const struct weir_addr many[] = {weir_ip4(255, 255, 255, 255), weir_ip4(10, 0, 0, 255), weir_ip4(224, 0, 0, 1)};
    struct fixture f;
    uint8_t echo[ICMP4_BYTES];
    open_raw(&f);
    make_icmp(echo, ICMP4_ECHO, 0, 1, NULL, 0);
    for (unsigned i = 0; i < 3; i++)
        input(&f, &(struct make){.destination = many[i], .protocol = IP_ICMP, .payload = echo, .length = sizeof echo});
    fixture_poll(&f, 100000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void damaged_messages_are_counted(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t echo[ICMP4_BYTES + 3];
    open_raw(&f);
    make_icmp(echo, ICMP4_ECHO, 0, 1, "abc", 3);
    for (uint32_t length = 0; length < ICMP4_BYTES; length++)
        input(&f, &(struct make){.protocol = IP_ICMP, .payload = echo, .length = length});
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ICMP_BAD), ICMP4_BYTES);
    echo[9] ^= 1;
    input(&f, &(struct make){.protocol = IP_ICMP, .payload = echo, .length = sizeof echo});
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ICMP_BAD), ICMP4_BYTES + 1);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

// CVE-2020-11910 and others: what a host has no use for changes nothing and gets no answer.
static void other_types_are_ignored(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t data[64] = {0};
    open_raw(&f);
    uint32_t sent = 0;
    for (uint32_t type = 0; type < 256; type++) {
        if (type == ICMP4_ECHO)
            continue;
        input_icmp(&f, PEER, (uint8_t)type, 0, 0, data, type & 1 ? sizeof data : 0);
        sent++;
    }
    fixture_poll(&f, 100000);
    assert_int_equal(fixture_sent_count(&f), 0);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_ICMP_IGNORED), sent);
    fixture_close(&f);
}

// A large ping: reassembled on the way in, fragmented on the way out.
static void large_echo_comes_back_in_fragments(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    uint32_t length;
    const uint32_t total = ICMP4_BYTES + 20000;
    uint8_t *echo = malloc(total), *back = calloc(1, total), data[20000];
    open_raw(&f);
    fill(data, sizeof data, 3);
    make_icmp(echo, ICMP4_ECHO, 0, 0x77, data, sizeof data);
    for (uint32_t at = 0; at < total; at += 1480)
        input(&f, &(struct make){.protocol = IP_ICMP,
                                 .id = 9,
                                 .offset = (uint16_t)at,
                                 .flags = at + 1480 < total ? IP4_MORE_FRAGMENTS : 0,
                                 .payload = echo + at,
                                 .length = total - at < 1480 ? total - at : 1480});
    assert_int_equal(fixture_count(&f, WEIR_COUNT_FRAGMENT_REASSEMBLED), 1);
    fixture_poll(&f, 50000);
    uint32_t got = 0;
    uint16_t id = 0;
    for (uint32_t i = 0; i < fixture_sent_count(&f); i++) {
        const uint8_t *bytes = sent_packet(&f, i, &ip, &length);
        if (i == 0)
            id = ip.id;
        assert_int_equal(ip.id, id);  // one datagram, whatever refused it in between
        assert_int_equal(ip.fragment_offset, got);
        assert_int_equal(ip.flags, got + length < total ? IP4_MORE_FRAGMENTS : 0);
        memcpy(back + got, bytes, length);
        got += length;
    }
    assert_int_equal(got, total);
    assert_int_equal(back[0], ICMP4_ECHO_REPLY);
    assert_int_equal(checksum_sum_portable(back, total), 0xffff);
    assert_memory_equal(back + ICMP4_BYTES, data, sizeof data);
    free(echo);
    free(back);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(echo_is_answered_from_poll),
        cmocka_unit_test(echo_checksum_is_right_for_every_sum),
        cmocka_unit_test(echo_to_many_is_not_answered),
        cmocka_unit_test(damaged_messages_are_counted),
        cmocka_unit_test(other_types_are_ignored),
        test_with(WEIR_CFG_ALLOCATOR, large_echo_comes_back_in_fragments),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
