// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps small6_apps
// DHCP messages, with the inputs of SECURITY.md: options that pass the packet's end, overload, impossible addresses.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "dhcp/message.h"

#define OPTIONS 240

static struct dhcp_message example(void)
{
    struct dhcp_message message = {.op = 2,
                                   .type = DHCP_ACK,
                                   .secs = 3,
                                   .flags = DHCP_BROADCAST,
                                   .xid = 0xdeadbeef,
                                   .mac = {2, 0, 0, 0, 0, 1},
                                   .lease_s = 3600,
                                   .renew_s = 1800,
                                   .rebind_s = 3150,
                                   .mtu = 1400,
                                   .domain = "weir.example"};
    message.ciaddr = message.giaddr = weir_addr_v4(0);
    message.yiaddr = weir_ip4(10, 0, 0, 50);
    message.siaddr = message.server_id = weir_ip4(10, 0, 0, 1);
    message.mask = weir_ip4(255, 255, 255, 0);
    message.routers = (struct dhcp_list){{weir_ip4(10, 0, 0, 1)}, 1};
    message.dns = (struct dhcp_list){{weir_ip4(10, 0, 0, 2), weir_ip4(10, 0, 0, 3)}, 2};
    message.ntp = (struct dhcp_list){{weir_ip4(10, 0, 0, 4)}, 1};
    return message;
}

static bool parse(const uint8_t *bytes, uint32_t length, struct dhcp_message *out)
{
    uint8_t *copy = malloc(length + 1);  // exactly its length, for the sanitizer
    assert_non_null(copy);
    memcpy(copy + 1, bytes, length);
    bool good = dhcp_parse(copy + 1, length, out);
    free(copy);
    return good;
}

// An example with its options replaced.
static uint32_t with_options(uint8_t *out, const uint8_t *options, uint32_t length)
{
    const struct dhcp_message message = example();
    assert_true(dhcp_emit(&message, out, DHCP_MESSAGE_MAX) > 0);
    memset(out + OPTIONS, 0, DHCP_MESSAGE_MAX - OPTIONS);
    memcpy(out + OPTIONS, options, length);
    return OPTIONS + length;
}

static void parse_undoes_emit(void **state)
{
    const struct dhcp_message message = example();
    struct dhcp_message out;
    uint8_t bytes[DHCP_MESSAGE_MAX];
    (void)state;
    uint32_t length = dhcp_emit(&message, bytes, sizeof bytes);
    assert_true(length >= DHCP_MESSAGE_MIN);
    assert_true(parse(bytes, length, &out));
    assert_memory_equal(&out, &message, sizeof out);
    assert_int_equal(dhcp_emit(&message, bytes, DHCP_MESSAGE_MIN - 1), 0);
}

static void what_does_not_fit_is_not_sent(void **state)
{
    struct dhcp_message message = example();
    uint8_t bytes[DHCP_MESSAGE_MAX];
    (void)state;
    memset(message.host, 'h', sizeof message.host - 1);
    assert_int_equal(dhcp_emit(&message, bytes, DHCP_MESSAGE_MIN), 0);
    assert_true(dhcp_emit(&message, bytes, sizeof bytes) > DHCP_MESSAGE_MIN);
}

static void every_cut_is_survived(void **state)
{
    const struct dhcp_message message = example();
    struct dhcp_message out;
    uint8_t bytes[DHCP_MESSAGE_MAX];
    (void)state;
    uint32_t length = dhcp_emit(&message, bytes, sizeof bytes);
    for (uint32_t cut = 0; cut < length; cut++) {
        bool good = parse(bytes, cut, &out);
        assert_true(!good || cut > OPTIONS);
    }
}

// CVE-2020-11903, -11905: option 55 with length 255 as the last bytes; an option code as the very last byte.
static void options_beyond_the_end_are_refused(void **state)
{
    static const uint8_t long_list[] = {53, 1, 5, 55, 255}, no_length[] = {53, 1, 5, 55},
                         half[] = {53, 1, 5, 1, 4, 255, 255, 255};
    uint8_t bytes[DHCP_MESSAGE_MAX];
    struct dhcp_message out;
    (void)state;
    assert_false(parse(bytes, with_options(bytes, long_list, sizeof long_list), &out));
    assert_false(parse(bytes, with_options(bytes, no_length, sizeof no_length), &out));
    assert_false(parse(bytes, with_options(bytes, half, sizeof half), &out));
}

static void wrong_option_lengths_are_refused(void **state)
{
    static const uint8_t bad[][12] = {
        {53, 1, 5, 1, 3, 255, 255, 255, 255},   // a mask of three bytes
        {53, 1, 5, 51, 5, 0, 0, 0, 1, 0, 255},  // a lease of five
        {53, 2, 5, 0, 255},                     // a type of two
        {53, 1, 0, 255},
        {53, 1, 9, 255},                          // no such type
        {53, 1, 5, 3, 6, 1, 2, 3, 4, 5, 6, 255},  // a router and a half
        {53, 1, 5, 6, 0, 255},                    // an empty list
        {53, 1, 5, 26, 2, 0, 67, 255},            // an MTU below 68
        {53, 1, 5, 52, 1, 4, 255},                // an overload of 4
        {255},                                    // no type at all
    };
    uint8_t bytes[DHCP_MESSAGE_MAX];
    struct dhcp_message out;
    (void)state;
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(parse(bytes, with_options(bytes, bad[i], sizeof bad[i]), &out));
}

// CVE-2019-12257: overload. The fields are bounded on their own, and do not overload again.
static void overload_stays_in_its_fields(void **state)
{
    static const uint8_t both[] = {53, 1, 2, 52, 1, 3, 255};
    uint8_t bytes[DHCP_MESSAGE_MAX];
    struct dhcp_message out;
    (void)state;
    uint32_t length = with_options(bytes, both, sizeof both);
    memcpy(bytes + 108, (uint8_t[]){1, 4, 255, 255, 0, 0, 255}, 7);                  // file
    memcpy(bytes + 44, (uint8_t[]){1, 4, 255, 255, 255, 0, 51, 4, 0, 0, 1, 0}, 12);  // sname, no END
    assert_true(parse(bytes, length, &out));
    assert_int_equal(weir_addr_to_v4(out.mask), 0xffff0000u);  // file is read before sname
    assert_int_equal(out.lease_s, 256);
    memset(bytes + 44, 0, 64);
    bytes[44 + 62] = 12;  // the last option of sname reaches into file
    bytes[44 + 63] = 10;
    assert_false(parse(bytes, length, &out));
    memset(bytes + 44, 0, 64);
    memset(bytes + 108, 0, 128);
    bytes[108 + 126] = 55;  // and of file into the cookie
    bytes[108 + 127] = 255;
    assert_false(parse(bytes, length, &out));
    memset(bytes + 108, 0, 128);
    memcpy(bytes + 108, (uint8_t[]){52, 1, 3, 255}, 4);
    assert_true(parse(bytes, length, &out));
}

// RFC 3396: the pieces of an option belong together, in whichever fields they are and whatever lies between them.
static void split_options_are_joined(void **state)
{
    static const uint8_t options[] = {53,  1,   5,   52,  1,  3, 6, 3, 10, 0, 0, 15,  4,
                                      'w', 'e', 'i', 'r', 51, 2, 0, 1, 61, 2, 0, 'm', 255};
    uint8_t bytes[DHCP_MESSAGE_MAX];
    struct dhcp_message out;
    (void)state;
    const uint32_t length = with_options(bytes, options, sizeof options);
    const uint8_t file[] = {0, 15, 1, '.', 6, 3, 2, 10, 0, 61, 0, 255};
    const uint8_t sname[] = {6, 2, 0, 3, 51, 2, 0, 2, 15, 4, 'h', 'o', 'm', 'e', 61, 1, 'e', 255};
    memset(bytes + 44, 0, 64 + 128);
    memcpy(bytes + 108, file, sizeof file);
    memcpy(bytes + 44, sname, sizeof sname);
    assert_true(parse(bytes, length, &out));
    assert_int_equal(out.dns.count, 2);
    assert_int_equal(weir_addr_to_v4(out.dns.addresses[0]), 0x0a000002);
    assert_int_equal(weir_addr_to_v4(out.dns.addresses[1]), 0x0a000003);
    assert_string_equal(out.domain, "weir.home");
    assert_int_equal(out.lease_s, 65538);
    assert_int_equal(out.id_length, 3);
    assert_memory_equal(out.id, "\0me", 3);
    bytes[44 + 16] = 255;  // without its last piece the identifier is shorter, and nothing else is other
    bytes[44 + 14] = 0;
    bytes[44 + 15] = 0;
    assert_true(parse(bytes, length, &out));
    assert_int_equal(out.id_length, 2);
    bytes[44 + 4] = 0, bytes[44 + 5] = 0, bytes[44 + 6] = 0, bytes[44 + 7] = 0;  // half a lease is none
    assert_false(parse(bytes, length, &out));
}

// As a whole an option may be longer than what is read of it.
static void what_is_joined_has_limits(void **state)
{
    uint8_t options[200] = {53, 1, 5}, bytes[DHCP_MESSAGE_MAX];
    struct dhcp_message out;
    (void)state;
    for (uint32_t piece = 0; piece < 2; piece++) {
        uint8_t *const at = options + 3 + 42 * piece;
        at[0] = 15, at[1] = 40;
        memset(at + 2, 'd', 40);
    }
    assert_true(parse(bytes, with_options(bytes, options, sizeof options), &out));
    assert_string_equal(out.domain, "");
    options[3] = options[45] = 61;  // an identifier of 80 bytes
    assert_false(parse(bytes, with_options(bytes, options, sizeof options), &out));
    options[3] = options[45] = 6;  // twenty resolvers
    assert_true(parse(bytes, with_options(bytes, options, sizeof options), &out));
    assert_int_equal(out.dns.count, DHCP_SERVERS);
    options[46] = 38;  // and a half
    assert_false(parse(bytes, with_options(bytes, options, sizeof options), &out));
}

static void what_is_said_twice_counts_once(void **state)
{
    static const uint8_t options[] = {53, 1, 5, 53,  1,   2,   51, 4,  0,  0,  1, 0, 51, 4,  0, 0,  2,
                                      0,  1, 4, 255, 0,   0,   0,  54, 4,  10, 0, 0, 1,  54, 4, 10, 0,
                                      0,  9, 1, 4,   255, 255, 0,  0,  26, 2,  5, 0, 26, 2,  2, 0,  255};
    uint8_t bytes[DHCP_MESSAGE_MAX];
    struct dhcp_message out;
    (void)state;
    assert_true(parse(bytes, with_options(bytes, options, sizeof options), &out));
    assert_int_equal(out.type, DHCP_ACK);
    assert_int_equal(out.lease_s, 256);
    assert_int_equal(weir_addr_to_v4(out.mask), 0xff000000u);
    assert_int_equal(weir_addr_to_v4(out.server_id), 0x0a000001);
    assert_int_equal(out.mtu, 0x500);
}

// RFC 8910: a portal's URI is sent whole, beside everything else that a server says.
static void the_longest_reply_has_room_for_a_portal(void **state)
{
    static char uri[DHCP_PORTAL_MAX];
    struct dhcp_message message = example();
    uint8_t bytes[DHCP_MESSAGE_MAX];
    (void)state;
    memset(uri, 'u', sizeof uri - 1);
    memset(message.domain, 'd', sizeof message.domain - 1);
    message.routers.count = message.dns.count = DHCP_SERVERS;
    message.ntp.count = 0;  // a server of ours says neither
    message.mtu = 0;
    message.id_length = DHCP_ID_MAX;
    message.portal = uri;
    const uint32_t length = dhcp_emit(&message, bytes, sizeof bytes);
    assert_in_range(length, DHCP_MESSAGE_MIN, DHCP_MESSAGE_MAX);
    const uint8_t *at = bytes + OPTIONS;
    while (*at != 114 && *at != 255)
        at += 2 + at[1];
    assert_int_equal(*at, 114);
    assert_int_equal(at[1], sizeof uri - 1);
    assert_memory_equal(at + 2, uri, sizeof uri - 1);
}

static void other_hardware_and_other_protocols_are_refused(void **state)
{
    static const struct {
        uint32_t at;
        uint8_t value;
    } changes[] = {{0, 0}, {0, 3}, {1, 6}, {2, 0}, {2, 7}, {2, 255}, {236, 98}, {239, 0}};
    const struct dhcp_message message = example();
    uint8_t bytes[DHCP_MESSAGE_MAX];
    struct dhcp_message out;
    (void)state;
    for (size_t i = 0; i < sizeof changes / sizeof changes[0]; i++) {
        uint32_t length = dhcp_emit(&message, bytes, sizeof bytes);
        bytes[changes[i].at] = changes[i].value;
        assert_false(parse(bytes, length, &out));
    }
}

static void a_domain_name_is_shown_only_if_harmless(void **state)
{
    static const uint8_t script[] = {53, 1, 5, 15, 8, '<', 's', 'c', 'r', 'i', 'p', 't', '>', 255},
                         good[] = {53, 1, 5, 15, 4, 'a', '.', 'b', 0, 255};
    uint8_t bytes[DHCP_MESSAGE_MAX];
    struct dhcp_message out;
    (void)state;
    assert_true(parse(bytes, with_options(bytes, script, sizeof script), &out));
    assert_string_equal(out.domain, "");
    assert_true(parse(bytes, with_options(bytes, good, sizeof good), &out));
    assert_string_equal(out.domain, "a.b");
}

static void masks_and_addresses_are_judged(void **state)
{
    const struct weir_addr mask = weir_ip4(255, 255, 255, 0), all = weir_ip4(255, 255, 255, 255);
    (void)state;
    assert_int_equal(dhcp_mask_bits(mask), 24);
    assert_int_equal(dhcp_mask_bits(all), 32);
    assert_int_equal(dhcp_mask_bits(weir_addr_any()), 0);
    assert_int_equal(dhcp_mask_bits(weir_ip4(255, 0, 255, 0)), -1);
    assert_int_equal(dhcp_mask_bits(weir_ip4(0, 255, 255, 255)), -1);
    assert_true(dhcp_address_usable(weir_ip4(10, 0, 0, 7), mask));
    assert_true(dhcp_address_usable(weir_ip4(10, 0, 0, 0), all));
    static const uint32_t bad[] = {0,          0x00000001, 0x7f000001, 0xe0000001,
                                   0xf0000001, 0xffffffff, 0x0a000000, 0x0a0000ff};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_false(dhcp_address_usable(weir_addr_v4(bad[i]), mask));
}

static void noise_is_survived(void **state)
{
    uint8_t bytes[DHCP_MESSAGE_MAX], options[100];
    struct dhcp_message out;
    uint32_t random = 7;
    (void)state;
    for (int round = 0; round < 20000; round++) {
        for (size_t i = 0; i < sizeof options; i++) {
            random = random * 1664525u + 1013904223u;
            options[i] = random >> 31 ? (uint8_t)(random >> 20) : (uint8_t)(random >> 24 & 63);
        }
        (void)parse(bytes, with_options(bytes, options, sizeof options), &out);
        assert_true(out.routers.count <= DHCP_SERVERS && out.dns.count <= DHCP_SERVERS &&
                    out.ntp.count <= DHCP_SERVERS);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(parse_undoes_emit),
        cmocka_unit_test(what_does_not_fit_is_not_sent),
        cmocka_unit_test(every_cut_is_survived),
        cmocka_unit_test(options_beyond_the_end_are_refused),
        cmocka_unit_test(wrong_option_lengths_are_refused),
        cmocka_unit_test(overload_stays_in_its_fields),
        cmocka_unit_test(split_options_are_joined),
        cmocka_unit_test(what_is_joined_has_limits),
        cmocka_unit_test(what_is_said_twice_counts_once),
        cmocka_unit_test(the_longest_reply_has_room_for_a_portal),
        cmocka_unit_test(other_hardware_and_other_protocols_are_refused),
        cmocka_unit_test(a_domain_name_is_shown_only_if_harmless),
        cmocka_unit_test(masks_and_addresses_are_judged),
        cmocka_unit_test(noise_is_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
