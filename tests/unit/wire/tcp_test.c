// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny tiny6 small small6
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/tcp.h"

static uint32_t random_state = 4711;
static uint32_t next_random(void)
{
    random_state = random_state * 1664525u + 1013904223u;
    return random_state >> 8 ^ random_state << 16;
}

static void emitted_is_parsed(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        const struct tcp_segment segment = {.seq = next_random(),
                                            .ack = next_random(),
                                            .source = (uint16_t)next_random(),
                                            .destination = (uint16_t)next_random(),
                                            .window = (uint16_t)next_random(),
                                            .urgent = (uint16_t)next_random(),
                                            .flags = (uint8_t)next_random(),
                                            .accurate = next_random() & 1,
                                            .header_length = (uint8_t)(20 + 4 * (next_random() % 11))};
        uint8_t bytes[60 + 100] = {0};
        struct tcp_segment out;
        memset(&out, 0xff, sizeof out);
        tcp_emit(bytes, &segment);
        assert_int_equal(get16(bytes + 16), 0);
        assert_true(tcp_parse(bytes, segment.header_length + 100u, &out));
        assert_int_equal(out.seq, segment.seq);
        assert_int_equal(out.ack, segment.ack);
        assert_int_equal(out.source, segment.source);
        assert_int_equal(out.destination, segment.destination);
        assert_int_equal(out.window, segment.window);
        assert_int_equal(out.urgent, segment.urgent);
        assert_int_equal(out.flags, segment.flags);
        assert_int_equal(out.accurate, segment.accurate);
        assert_int_equal(bytes[12] & 0x0e, 0);
        assert_int_equal(out.header_length, segment.header_length);
        assert_int_equal(out.length, 100);
        assert_int_equal(out.options.seen, 0);
        assert_int_equal(out.options.sack_count, 0);
    }
}

// SECURITY.md, CVE-2020-17437: data offset 15 with 20 bytes, and every other contradiction.
static void lengths(void **state)
{
    (void)state;
    for (uint32_t at_hand = 0; at_hand <= 64; at_hand++) {
        uint8_t *bytes = calloc(1, at_hand ? at_hand : 1);
        for (uint32_t offset = 0; offset < 16; offset++) {
            struct tcp_segment out;
            if (at_hand > 12)
                bytes[12] = (uint8_t)(offset << 4);
            const int good = at_hand >= 20 && offset >= 5 && offset * 4 <= at_hand;
            assert_int_equal(tcp_parse(bytes, at_hand, &out), good);
            if (good)
                assert_int_equal(out.length, at_hand - offset * 4);
        }
        free(bytes);
    }
}

// Parses exactly these option bytes, padded with END to a multiple of four, in memory of exactly that size.
static struct tcp_options parse_options(const uint8_t *options, uint32_t length)
{
    const uint32_t padded = (length + 3) / 4 * 4;
    uint8_t *bytes = calloc(1, TCP_BYTES + padded);
    bytes[12] = (uint8_t)((TCP_BYTES + padded) << 2);
    if (length)
        memcpy(bytes + TCP_BYTES, options, length);
    struct tcp_segment out;
    memset(&out, 0xff, sizeof out);
    assert_true(tcp_parse(bytes, TCP_BYTES + padded, &out));
    free(bytes);
    return out.options;
}

#define TS (WEIR_CFG_TCP_TIMESTAMPS ? TCP_SEEN_TIMESTAMPS : 0)
#define WS (WEIR_CFG_TCP_WINDOW_SCALE ? TCP_SEEN_WINDOW_SCALE : 0)
#define SP (WEIR_CFG_TCP_SACK ? TCP_SEEN_SACK_PERMITTED : 0)
#define UT (WEIR_CFG_TCP_REFINEMENTS ? TCP_SEEN_USER_TIMEOUT : 0)
#define BAD TCP_SEEN_BAD
#define BAD_IF(option) (option ? TCP_SEEN_BAD : 0)

// SECURITY.md, CVE-2020-11912: SACK of length 3, timestamps of length 9, length 0, length past the data offset;
// CVE-2019-12258.
static void option_table(void **state)
{
    (void)state;
    static const struct {
        const char *what;
        uint8_t length, bytes[40];
        int seen, sack_count;
    } table[] = {
        {"none", 4, {0, 0, 0, 0}, 0, 0},
        {"NOPs only", 8, {1, 1, 1, 1, 1, 1, 1, 1}, 0, 0},
        {"behind END nothing counts", 8, {0, 2, 0, 0, 2, 4, 5, 0xb4}, 0, 0},
        {"MSS", 4, {2, 4, 0x05, 0xb4}, TCP_SEEN_MSS, 0},
        {"Linux SYN",
         20,
         {2, 4, 5, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 3, 3, 7},
         TCP_SEEN_MSS | SP | TS | WS,
         0},
        {"timestamps, aligned", 12, {1, 1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8}, TS, 0},
        {"timestamps, not aligned", 12, {8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 0, 0}, TS, 0},
        {"timestamps behind one NOP", 12, {1, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 0}, TS, 0},
        {"user timeout", 4, {28, 4, 0x80, 0x05}, UT, 0},
        {"one SACK block", 12, {1, 1, 5, 10, 0, 0, 0, 1, 0, 0, 0, 2}, 0, WEIR_CFG_TCP_SACK ? 1 : 0},
        {"four SACK blocks", 36, {1, 1, 5, 34}, 0, WEIR_CFG_TCP_SACK ? 4 : 0},
        {"unknown, skipped", 8, {99, 4, 0, 0, 2, 4, 5, 0xb4}, TCP_SEEN_MSS, 0},
        {"unknown of two bytes", 8, {99, 2, 1, 1, 2, 4, 5, 0xb4}, TCP_SEEN_MSS, 0},
        {"length 0", 4, {99, 0, 0, 0}, BAD, 0},
        {"length 1", 4, {99, 1, 0, 0}, BAD, 0},
        {"MSS length 0", 4, {2, 0, 0, 0}, BAD, 0},
        {"MSS length 3", 4, {2, 3, 5, 0}, BAD, 0},
        {"MSS length 5", 8, {2, 5, 5, 0xb4, 0, 0, 0, 0}, BAD, 0},
        {"SACK length 2", 4, {5, 2, 0, 0}, BAD_IF(WEIR_CFG_TCP_SACK), 0},
        {"SACK length 3", 4, {5, 3, 0, 0}, BAD_IF(WEIR_CFG_TCP_SACK), 0},
        {"SACK length 9", 12, {5, 9}, BAD_IF(WEIR_CFG_TCP_SACK), 0},
        {"SACK length 11", 12, {5, 11}, BAD_IF(WEIR_CFG_TCP_SACK), 0},
        {"SACK past the data offset", 12, {5, 18}, BAD, 0},
        {"timestamps length 9", 12, {8, 9, 0, 0, 0, 0, 0, 0, 0, 0}, BAD_IF(WEIR_CFG_TCP_TIMESTAMPS), 0},
        {"timestamps past the end", 8, {8, 10, 0, 0, 0, 0, 0, 0}, BAD, 0},
        {"window scale length 2", 4, {3, 2, 0, 0}, BAD_IF(WEIR_CFG_TCP_WINDOW_SCALE), 0},
        {"SACK permitted length 3", 4, {4, 3, 0, 0}, BAD_IF(WEIR_CFG_TCP_SACK), 0},
        {"user timeout length 3", 4, {28, 3, 0, 0}, BAD_IF(WEIR_CFG_TCP_REFINEMENTS), 0},
        {"length 255", 4, {99, 255, 0, 0}, BAD, 0},
        {"kind as the last byte", 4, {1, 1, 1, 2}, BAD, 0},
        {"good ones before a bad one stand", 8, {2, 4, 2, 0x18, 99, 0, 0, 0}, TCP_SEEN_MSS | BAD, 0},
        {"good ones behind a bad one do not", 8, {99, 0, 0, 0, 2, 4, 2, 0x18}, BAD, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        const struct tcp_options options = parse_options(table[i].bytes, table[i].length);
        if (options.seen != table[i].seen || options.sack_count != table[i].sack_count)
            fail_msg("%s: seen %d, %d blocks", table[i].what, options.seen, options.sack_count);
    }
}

static void option_values(void **state)
{
    (void)state;
    static const uint8_t syn[20] = {2, 4, 5, 0xb4, 4, 2, 8, 10, 1, 2, 3, 4, 5, 6, 7, 8, 1, 3, 3, 7};
    static const uint8_t aligned[12] = {1, 1, 8, 10, 0xf1, 2, 3, 4, 0xf5, 6, 7, 8};
    static const uint8_t sack[20] = {1, 1, 5, 18, 0, 0, 0, 1, 0, 0, 0, 2, 0xff, 0xff, 0xff, 0xf0, 0, 0, 0, 9};
    struct tcp_options options = parse_options(syn, sizeof syn);
    assert_int_equal(options.mss, 1460);
    if (WS)
        assert_int_equal(options.window_scale, 7);
    if (TS) {
        assert_int_equal(options.ts_value, 0x01020304);
        assert_int_equal(options.ts_echo, 0x05060708);
        options = parse_options(aligned, sizeof aligned);
        assert_int_equal(options.ts_value, 0xf1020304);
        assert_int_equal(options.ts_echo, 0xf5060708);
    }
    if (SP) {
        options = parse_options(sack, sizeof sack);
        assert_int_equal(options.sack_count, 2);
        assert_int_equal(options.sack[0].left, 1);
        assert_int_equal(options.sack[0].right, 2);
        assert_int_equal(options.sack[1].left, 0xfffffff0);
        assert_int_equal(options.sack[1].right, 9);
    }
}

// Anything: it ends, within its bounds (the address sanitizer looks on), with at most four blocks.
static void option_noise(void **state)
{
    (void)state;
    for (int i = 0; i < 50000; i++) {
        uint8_t bytes[40];
        const uint32_t length = next_random() % 41;
        for (uint32_t k = 0; k < length; k++)
            bytes[k] = (uint8_t)(next_random() % (next_random() % 4 ? 12 : 256));
        const struct tcp_options options = parse_options(bytes, length);
        assert_in_range(options.sack_count, 0, 4);
    }
}

static void options_emitted_are_parsed(void **state)
{
    (void)state;
    for (uint32_t seen = 0; seen < 32; seen++) {
        for (uint8_t blocks = 0; blocks <= 4; blocks++) {
            const struct tcp_options options = {.seen = (uint8_t)seen,
                                                .window_scale = 9,
                                                .sack_count = blocks,
                                                .mss = 1448,
                                                .user_timeout = 0x8123,
                                                .ts_value = 0xdeadbeef,
                                                .ts_echo = 0x12345678,
                                                .sack = {{1, 2}, {3, 4}, {5, 6}, {7, 8}}};
            uint8_t bytes[TCP_OPTIONS_MAX + 4];
            memset(bytes, 0x77, sizeof bytes);
            const uint32_t length = tcp_options_emit(bytes, &options);
            assert_in_range(length, 0, TCP_OPTIONS_MAX);
            assert_int_equal(length % 4, 0);
            for (uint32_t i = length; i < sizeof bytes; i++)
                assert_int_equal(bytes[i], 0x77);
            const struct tcp_options out = parse_options(bytes, length);
            assert_int_equal(out.seen, seen & (uint32_t)(TCP_SEEN_MSS | WS | SP | TS | UT));
            if (out.seen & TCP_SEEN_MSS)
                assert_int_equal(out.mss, 1448);
            if (out.seen & TCP_SEEN_WINDOW_SCALE)
                assert_int_equal(out.window_scale, 9);
            if (out.seen & TCP_SEEN_USER_TIMEOUT)
                assert_int_equal(out.user_timeout, 0x8123);
            if (out.seen & TCP_SEEN_TIMESTAMPS) {
                assert_int_equal(out.ts_value, 0xdeadbeef);
                assert_int_equal(out.ts_echo, 0x12345678);
            }
            for (uint8_t i = 0; i < out.sack_count; i++)
                assert_memory_equal(&out.sack[i], &options.sack[i], sizeof out.sack[i]);
            if (WEIR_CFG_TCP_SACK && !(seen & (uint32_t)~TCP_SEEN_TIMESTAMPS))  // as in a segment that is no SYN
                assert_int_equal(out.sack_count, seen && TS && blocks > 3 ? 3 : blocks);
        }
    }
}

#if WEIR_CFG_TCP_TIMESTAMPS
static void timestamps_are_aligned(void **state)
{
    (void)state;
    static const uint8_t expected[12] = {1, 1, 8, 10, 0, 0, 0, 1, 0, 0, 0, 2};
    const struct tcp_options options = {.seen = TCP_SEEN_TIMESTAMPS, .ts_value = 1, .ts_echo = 2};
    uint8_t bytes[12];
    assert_int_equal(tcp_options_emit(bytes, &options), 12);
    assert_memory_equal(bytes, expected, 12);
}
#endif

// RFC 9768 §3.2.3, Table 5: both orders, every length; beside whatever else there is.
static void accecn_emitted_is_parsed(void **state)
{
    (void)state;
#if WEIR_CFG_TCP_ACCECN
    for (uint32_t i = 0; i < 4000; i++) {
        const struct tcp_accecn_option o = {.kind = i & 1 ? TCP_OPTION_ACCECN_1 : TCP_OPTION_ACCECN_0,
                                            .fields = (uint8_t)(i >> 1 & 3),
                                            .ect0 = next_random() & TCP_ACCECN_MASK,
                                            .ce = next_random() & TCP_ACCECN_MASK,
                                            .ect1 = next_random() & TCP_ACCECN_MASK};
        struct tcp_options in = {
            .seen = TCP_SEEN_ACCECN | (i & 8 ? TCP_SEEN_TIMESTAMPS : 0) | (i & 16 ? TCP_SEEN_MSS : 0), .accecn = o};
        in.sack_count = i & 32 ? 1 : 0;
        in.ts_value = next_random();
        uint8_t bytes[TCP_OPTIONS_MAX];
        const uint32_t length = tcp_options_emit(bytes, &in);
        assert_int_equal(length, tcp_accecn_bytes(o.fields) + (i & 8 ? 12 : 0) + (i & 16 ? 4 : 0) + (i & 32 ? 12 : 0));
        const struct tcp_options out = parse_options(bytes, length);
        assert_int_equal(out.seen, in.seen);
        assert_int_equal(out.sack_count, in.sack_count);
        assert_int_equal(out.accecn.kind, o.kind);
        assert_int_equal(out.accecn.fields, o.fields);
        assert_int_equal(out.accecn.ect0, tcp_accecn_has_ect0(&o) ? o.ect0 : 0);
        assert_int_equal(out.accecn.ce, tcp_accecn_has_ce(&o) ? o.ce : 0);
        assert_int_equal(out.accecn.ect1, tcp_accecn_has_ect1(&o) ? o.ect1 : 0);
    }
    // Any other length: the whole fields that fit, the rest is padding. None is malformed.
    for (uint32_t length = 2; length <= 20; length++) {
        uint8_t bytes[20] = {TCP_OPTION_ACCECN_0, (uint8_t)length, 0, 0, 1, 0, 0, 2, 0, 0, 3};
        const struct tcp_options out = parse_options(bytes, length);
        assert_int_equal(out.seen, TCP_SEEN_ACCECN);
        assert_int_equal(out.accecn.fields, length < 5 ? 0 : length < 8 ? 1 : length < 11 ? 2 : 3);
        assert_int_equal(out.accecn.ce, length < 8 ? 0 : 2);
    }
#endif
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(emitted_is_parsed),
        cmocka_unit_test(accecn_emitted_is_parsed),
        cmocka_unit_test(lengths),
        cmocka_unit_test(option_table),
        cmocka_unit_test(option_values),
        cmocka_unit_test(option_noise),
        cmocka_unit_test(options_emitted_are_parsed),
#if WEIR_CFG_TCP_TIMESTAMPS
        cmocka_unit_test(timestamps_are_aligned),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
