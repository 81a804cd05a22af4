// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/mld.h"

static const uint8_t router[16] = {0xfe, 0x80, [15] = 1};
static const uint8_t global[16] = {0x20, 1, 0x0d, 0xb8, [15] = 1};
static const uint8_t unspecified[16] = {0};
static const uint8_t group[16] = {0xff, 2, [15] = 0xfb};

struct message {
    uint8_t bytes[256];
    struct icmp6_arrival arrival;
};

static struct message query(void)
{
    const struct icmp6_arrival arrival = {.source = router, .destination = group, .hop_limit = 1, .router_alert = true};
    return (struct message){.bytes = {130}, .arrival = arrival};
}

static bool parse(const struct message *m, uint32_t length, struct mld *out)
{
    static uint8_t *copy;
    free(copy);
    copy = malloc(length ? length : 1);
    memcpy(copy, m->bytes, length);
    return mld_parse(copy, length, &m->arrival, out);
}
static bool taken(const struct message *m, uint32_t length)
{
    struct mld out;
    const bool found = parse(m, length, &out);
    parse(m, 0, &out);
    return found;
}

// RFC 9777 §8.1: 24 bytes are version 1, 28 and more version 2, and all else is ignored.
static void versions(void **state)
{
    (void)state;
    const struct message m = query();
    for (uint32_t length = 0; length < 60; length++) {
        struct mld out;
        const bool good = length == 24 || length >= 28;
        assert_int_equal(parse(&m, length, &out), good);
        if (good)
            assert_int_equal(out.version, length == 24 ? 1 : 2);
    }
    struct mld out;
    parse(&m, 0, &out);
}

// §5.1.14: each of the three alone.
static void how_a_query_must_come(void **state)
{
    (void)state;
    struct message m = query();
    assert_true(taken(&m, 28));
    m.arrival.router_alert = false;
    assert_false(taken(&m, 28));
    for (uint32_t limit = 0; limit < 256; limit++) {
        m = query();
        m.arrival.hop_limit = (uint8_t)limit;
        assert_int_equal(taken(&m, 28), limit == 1);
    }
    m = query();
    m.arrival.source = global;
    assert_false(taken(&m, 28));
    m.arrival.source = unspecified;
    assert_false(taken(&m, 28));
}

// §5.1.3: 1 exp(3) mant(12) is (mant | 0x1000) << (exp + 3) milliseconds; version 1 has plain ones.
static void response_codes(void **state)
{
    (void)state;
    static const struct {
        uint32_t code, ms;
    } table[] = {{0, 0},          {1, 1},          {10000, 10000},  {32767, 32767},   {32768, 32768},
                 {0x8001, 32776}, {0x8fff, 65528}, {0x9000, 65536}, {0xffff, 8387584}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct message m = query();
        struct mld out;
        put16(m.bytes + 4, table[i].code);
        assert_true(parse(&m, 28, &out));
        assert_int_equal(out.max_response_ms, table[i].ms);
        assert_true(parse(&m, 24, &out));
        assert_int_equal(out.max_response_ms, table[i].code);
        parse(&m, 0, &out);
    }
}

static void intervals(void **state)
{
    (void)state;
    static const struct {
        uint32_t code, seconds;
    } table[] = {{0, 0}, {125, 125}, {127, 127}, {128, 128}, {0x8f, 248}, {0x90, 256}, {0xff, 31744}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct message m = query();
        struct mld out;
        m.bytes[24] = 0xfa;
        m.bytes[25] = (uint8_t)table[i].code;
        assert_true(parse(&m, 28, &out));
        assert_int_equal(out.interval_s, table[i].seconds);
        assert_int_equal(out.robustness, 2);
        parse(&m, 0, &out);
    }
}

static void sources_must_be_there(void **state)
{
    (void)state;
    struct message m = query();
    memcpy(m.bytes + 8, group, 16);
    for (uint32_t count = 0; count < 6; count++) {
        put16(m.bytes + 26, count);
        for (uint32_t length = 28; length < 120; length++) {
            struct mld out;
            assert_int_equal(parse(&m, length, &out), length >= 28 + 16 * count);
            if (length == 28 + 16 * count) {
                assert_int_equal(out.source_count, count);
                assert_memory_equal(out.group, group, 16);
            }
        }
    }
    put16(m.bytes + 26, 0xffff);
    assert_false(taken(&m, 120));
    put16(m.bytes + 26, 0x1000);  // × 16 is 0 in 16 bits
    assert_false(taken(&m, 120));
}

static void groups_of_queries(void **state)
{
    (void)state;
    static const uint32_t lengths[] = {24, 28};
    for (uint32_t i = 0; i < 2; i++) {
        struct message m = query();
        assert_true(taken(&m, lengths[i]));
        memcpy(m.bytes + 8, group, 16);
        assert_true(taken(&m, lengths[i]));
        memcpy(m.bytes + 8, global, 16);
        assert_false(taken(&m, lengths[i]));
    }
}

// Of the others a listener cares for reports of version 1 alone, which spare it its own.
static void other_messages(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < 256; type++) {
        struct message m = query();
        m.bytes[0] = (uint8_t)type;
        memcpy(m.bytes + 8, group, 16);
        assert_int_equal(taken(&m, 24), type == 130 || type == 131);
    }
    struct message m = query();
    m.bytes[0] = 131;
    assert_false(taken(&m, 24));
    struct mld out;
    memcpy(m.bytes + 8, group, 16);
    assert_true(parse(&m, 24, &out));
    assert_int_equal(out.type, ICMP6_MLD_REPORT_V1);
    assert_memory_equal(out.group, group, 16);
    m.arrival.router_alert = false;
    assert_false(taken(&m, 24));
}

// RFC 9777 §6: solicited-node groups are reported like all others.
static void what_is_reported(void **state)
{
    (void)state;
    for (uint32_t second = 0; second < 256; second++) {
        uint8_t address[16] = {0xff, (uint8_t)second, [15] = 1};
        assert_int_equal(mld_is_reported(address), (second & 15) > 1 && second != 2);
        address[12] = 0xff;
        assert_int_equal(mld_is_reported(address), (second & 15) > 1);
    }
    assert_false(mld_is_reported(global));
    assert_false(mld_is_reported(unspecified));
}

// --- writing -------------------------------------------------------------------------------------------------------

static void written_report(void **state)
{
    (void)state;
    uint8_t expected[80] = {143, [7] = 2, [8] = 4, [28] = 3, [31] = 2}, bytes[100];
    uint8_t sources[32];
    struct mld_report report;
    memcpy(expected + 12, group, 16);
    memcpy(expected + 32, group, 16);
    for (uint32_t i = 0; i < 32; i++)
        sources[i] = expected[48 + i] = (uint8_t)(i + 1);
    memset(bytes, 0xee, sizeof bytes);
    mld_report_begin(&report, bytes, sizeof bytes);
    assert_int_equal(report.length, 8);
    assert_int_equal(get16(bytes + 6), 0);
    assert_true(mld_report_add(&report, &(struct mld_record){.type = GROUP_TO_EXCLUDE, .group = group}));
    const struct mld_record second = {.type = GROUP_TO_INCLUDE, .source_count = 2, .group = group, .sources = sources};
    assert_true(mld_report_add(&report, &second));
    assert_int_equal(report.length, 80);
    assert_memory_equal(bytes, expected, 80);
    for (uint32_t i = 80; i < sizeof bytes; i++)
        assert_int_equal(bytes[i], 0xee);
}

// What does not fit changes nothing, wherever the room ends.
static void no_room_for_a_record(void **state)
{
    (void)state;
    const uint8_t sources[64] = {0};
    for (uint32_t room = 8; room < 130; room++) {
        for (uint32_t count = 0; count < 5; count++) {
            uint8_t *bytes = malloc(room);
            struct mld_report report;
            mld_report_begin(&report, bytes, room);
            uint32_t records = 0;
            struct mld_record record = {GROUP_IS_EXCLUDE, (uint16_t)count, group, sources};
            while (mld_report_add(&report, &record))
                records++;
            assert_int_equal(records, (room - 8) / (20 + 16 * count));
            assert_int_equal(report.length, 8 + records * (20 + 16 * count));
            assert_int_equal(get16(bytes + 6), records);
            record.source_count = 0xffff;
            assert_false(mld_report_add(&report, &record));
            free(bytes);
        }
    }
}

static void written_version_1(void **state)
{
    (void)state;
    uint8_t bytes[24], expected[24] = {132};
    memcpy(expected + 8, group, 16);
    memset(bytes, 0xee, sizeof bytes);
    mld_v1_emit(bytes, ICMP6_MLD_DONE, group);
    assert_memory_equal(bytes, expected, 24);
    struct message m = query();
    mld_v1_emit(m.bytes, ICMP6_MLD_REPORT_V1, group);
    assert_true(taken(&m, 24));
}

// The header before each message, and that its own walk finds the alert in it.
static void alert_header(void **state)
{
    (void)state;
    static const uint8_t expected[8] = {0x3a, 0, 5, 2, 0, 0, 1, 0};
    uint8_t bytes[8];
    struct ip6_chain chain;
    mld_alert_emit(bytes);
    assert_memory_equal(bytes, expected, 8);
    ip6_chain_walk(bytes, 8, IP6_HOP_BY_HOP, &chain);
    assert_int_equal(chain.verdict, IP6_CHAIN_OK);
    assert_int_equal(chain.protocol, IP6_ICMP);
    assert_true(chain.router_alert);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(versions),
        cmocka_unit_test(how_a_query_must_come),
        cmocka_unit_test(response_codes),
        cmocka_unit_test(intervals),
        cmocka_unit_test(sources_must_be_there),
        cmocka_unit_test(groups_of_queries),
        cmocka_unit_test(other_messages),
        cmocka_unit_test(what_is_reported),
        cmocka_unit_test(written_report),
        cmocka_unit_test(no_room_for_a_record),
        cmocka_unit_test(written_version_1),
        cmocka_unit_test(alert_header),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
