// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny small
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/ip4.h"

static uint32_t random_state = 12345;
static uint32_t next_random(void) { return random_state = random_state * 1664525u + 1013904223u; }

// RFC 1071 word by word, to compare with.
static uint16_t checksum_of(const uint8_t *bytes, uint32_t length)
{
    uint32_t sum = 0;
    for (uint32_t i = 0; i < length; i += 2)
        sum += (uint32_t)bytes[i] << 8 | (i + 1 < length ? bytes[i + 1] : 0);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)~sum;
}

static void emitted_is_parsed(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        const struct ip4 header = {.source = next_random() ^ next_random() << 16,
                                   .destination = next_random() ^ next_random() << 16,
                                   .total_length = (uint16_t)(20 + next_random() % 65516),
                                   .id = (uint16_t)(next_random() >> 8),
                                   .fragment_offset = (uint16_t)(next_random() >> 8) & 0xfff8,
                                   .header_length = 20,
                                   .tos = (uint8_t)(next_random() >> 8),
                                   .ttl = (uint8_t)(next_random() >> 8),
                                   .protocol = (uint8_t)(next_random() >> 8),
                                   .flags = next_random() >> 16 & 3};
        uint8_t bytes[IP4_BYTES];
        struct ip4 out;
        ip4_emit(bytes, &header);
        assert_int_equal(checksum_of(bytes, 20), 0);
        assert_int_equal(ip4_parse(bytes, 65535, false, &out), IP4_OK);
        assert_int_equal(out.source, header.source);
        assert_int_equal(out.destination, header.destination);
        assert_int_equal(out.total_length, header.total_length);
        assert_int_equal(out.id, header.id);
        assert_int_equal(out.fragment_offset, header.fragment_offset);
        assert_int_equal(out.header_length, 20);
        assert_int_equal(out.tos, header.tos);
        assert_int_equal(out.ttl, header.ttl);
        assert_int_equal(out.protocol, header.protocol);
        assert_int_equal(out.flags, header.flags);
    }
}

// The example of many textbooks: 45 00 00 73 … checksum b861.
static void known_header(void **state)
{
    (void)state;
    static const uint8_t expected[20] = {0x45, 0,    0,    0x73, 0, 0, 0x40, 0,    0x40, 0x11,
                                         0xb8, 0x61, 0xc0, 0xa8, 0, 1, 0xc0, 0xa8, 0,    0xc7};
    const struct ip4 header = {.source = 0xc0a80001,
                               .destination = 0xc0a800c7,
                               .total_length = 0x73,
                               .ttl = 64,
                               .protocol = IP_UDP,
                               .flags = IP4_DONT_FRAGMENT};
    uint8_t bytes[20];
    ip4_emit(bytes, &header);
    assert_memory_equal(bytes, expected, 20);
}

static void every_flipped_bit_is_seen(void **state)
{
    (void)state;
    const struct ip4 header = {
        .source = 0x0a000001, .destination = 0x0a000002, .total_length = 20, .ttl = 64, .protocol = IP_TCP};
    uint8_t bytes[20];
    struct ip4 out;
    ip4_emit(bytes, &header);
    for (uint32_t bit = 0; bit < 160; bit++) {
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
        assert_int_not_equal(ip4_parse(bytes, 20, false, &out), IP4_OK);
        bytes[bit / 8] ^= (uint8_t)(1u << bit % 8);
    }
    bytes[10] ^= 1;
    assert_int_equal(ip4_parse(bytes, 20, false, &out), IP4_BAD_CHECKSUM);
    assert_int_equal(ip4_parse(bytes, 20, true, &out), IP4_OK);
}

// Every combination of version, header length, total length and bytes at hand: OK exactly when they agree.
static void lengths(void **state)
{
    (void)state;
    for (uint32_t at_hand = 0; at_hand <= 64; at_hand++) {
        uint8_t *bytes = calloc(1, at_hand ? at_hand : 1);
        for (uint32_t first = 0; at_hand && first < 256; first++) {
            for (uint32_t total = 0; total <= 70; total++) {
                bytes[0] = (uint8_t)first;
                if (at_hand >= 4)
                    put16(bytes + 2, total);
                struct ip4 out;
                const uint32_t header = (first & 15) * 4;
                const int good =
                    at_hand >= 20 && first >> 4 == 4 && header >= 20 && header <= total && total <= at_hand;
                assert_int_equal(ip4_parse(bytes, at_hand, true, &out), good ? IP4_OK : IP4_BAD_HEADER);
                if (good) {
                    // The checksum is taken over all of a header with options.
                    memset(bytes + 10, 0, 2);
                    put16(bytes + 10, checksum_of(bytes, header));
                    assert_int_equal(ip4_parse(bytes, at_hand, false, &out), IP4_OK);
                    bytes[header - 1] ^= 1;
                    assert_int_equal(ip4_parse(bytes, at_hand, false, &out), IP4_BAD_CHECKSUM);
                    bytes[header - 1] ^= 1;
                    memset(bytes + 10, 0, 2);
                }
            }
        }
        struct ip4 out;
        if (!at_hand)
            assert_int_equal(ip4_parse(bytes, 0, true, &out), IP4_BAD_HEADER);
        free(bytes);
    }
}

// SECURITY.md: CVE-2020-11909 (LSRR pointer 0 and 255), CVE-2019-12256 (LSRR and SSRR twice, option length 1).
static void options(void **state)
{
    (void)state;
    static const struct {
        uint8_t length, bytes[12];
        int acceptable;
    } table[] = {
        {0, {0}, 1},
        {4, {0, 0, 0, 0}, 1},
        {4, {1, 1, 1, 0}, 1},
        {4, {148, 4, 0, 0}, 1},            // router alert
        {8, {7, 7, 4, 0, 0, 0, 0, 0}, 1},  // record route
        {4, {0, 131, 3, 4}, 1},            // behind the end nothing is looked at
        {4, {131, 3, 4, 0}, 0},
        {4, {137, 3, 4, 0}, 0},
        {8, {131, 7, 0, 10, 0, 0, 1, 0}, 0},    // pointer 0
        {8, {131, 7, 255, 10, 0, 0, 1, 0}, 0},  // pointer 255
        {12, {131, 3, 4, 131, 3, 4, 137, 3, 4, 137, 3, 4}, 0},
        {4, {131, 1, 0, 0}, 0},
        {4, {7, 1, 0, 0}, 0},  // length 1
        {4, {7, 0, 0, 0}, 0},  // length 0: no loop
        {4, {7, 5, 0, 0}, 0},  // past the end
        {4, {1, 1, 1, 7}, 0},  // no length byte
        {4, {7, 255, 0, 0}, 0},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint8_t *bytes = malloc(table[i].length ? table[i].length : 1);
        memcpy(bytes, table[i].bytes, table[i].length);
        assert_int_equal(ip4_options_acceptable(bytes, table[i].length), table[i].acceptable);
        free(bytes);
    }
    for (int i = 0; i < 20000; i++) {  // anything at all: it ends, within its bounds
        const uint32_t length = next_random() % 41;
        uint8_t *bytes = malloc(length ? length : 1);
        for (uint32_t k = 0; k < length; k++)
            bytes[k] = (uint8_t)(next_random() >> 24) % (k % 2 ? 8 : 140);
        (void)ip4_options_acceptable(bytes, length);
        free(bytes);
    }
}

static void pseudo_header(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        const uint32_t source = next_random() * 3, destination = next_random() * 5, length = next_random() >> 16;
        const uint8_t protocol = (uint8_t)(next_random() >> 24);
        uint8_t bytes[12] = {[9] = protocol};
        put32(bytes, source);
        put32(bytes + 4, destination);
        put16(bytes + 10, length);
        uint8_t field[2];
        checksum_put(field, ip4_pseudo_sum(source, destination, protocol, length));
        assert_int_equal(get16(field), checksum_of(bytes, 12));
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(emitted_is_parsed),
                                       cmocka_unit_test(known_header),
                                       cmocka_unit_test(every_flipped_bit_is_seen),
                                       cmocka_unit_test(lengths),
                                       cmocka_unit_test(options),
                                       cmocka_unit_test(pseudo_header)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
