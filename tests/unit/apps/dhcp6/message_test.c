// SPDX-License-Identifier: BSD-2-Clause
// profiles: small6
// needs IPv6
// DHCPv6 messages: each length against what holds it, and what is passed over.
#include "fixture.h"

#include <stdlib.h>
#include <string.h>

#include "dhcp6/message.h"

#define IAID 0x01020304u

// Parses bytes that end where the memory ends.
static bool parse(const void *bytes, uint32_t length, struct dhcp6_message *message)
{
    uint8_t *const exact = malloc(length + 1);
    memcpy(exact + 1, bytes, length);
    const bool good = dhcp6_parse(exact + 1, length, IAID, message);
    free(exact);
    return good;
}

#define HEADER "\7\0\0\x2a"
#define ADDRESS_OPTION(low, preferred, valid) \
    "\0\5\0\x18\x20\1\x0d\xb8\0\0\0\0\0\0\0\0\0\0\0" low "\0\0\0" preferred "\0\0\0" valid
#define PARSE(text, message) parse(text, sizeof(text) - 1, message)

static void what_is_sent_can_be_read(void **state)
{
    struct dhcp6_message out = {.type = DHCP6_RENEW, .xid = 0xabcdef, .elapsed = 700, .ia = true, .iaid = IAID};
    struct dhcp6_message in;
    static const uint8_t addr[16] = {0x20, 1, [15] = 9};
    uint8_t bytes[DHCP6_MESSAGE_MAX];
    (void)state;
    memcpy(out.client.bytes, "\0\3\0\1\2\3\4\5\6\7", 10);
    memset(out.server.bytes, 7, DHCP6_DUID_MAX);
    out.client.length = 10;
    out.server.length = DHCP6_DUID_MAX;
    out.address_count = DHCP6_ADDRESSES;
    for (uint32_t i = 0; i < DHCP6_ADDRESSES; i++)
        out.addresses[i] = (struct dhcp6_address){weir_addr_v6(addr), 100, 200, 0};
    const uint32_t length = dhcp6_emit(&out, bytes, sizeof bytes);
    assert_true(length > 0);
    assert_true(parse(bytes, length, &in));
    assert_int_equal(in.type, DHCP6_RENEW);
    assert_int_equal(in.xid, 0xabcdef);
    assert_int_equal(in.elapsed, 700);
    assert_memory_equal(&in.client, &out.client, sizeof in.client);
    assert_memory_equal(&in.server, &out.server, sizeof in.server);
    assert_int_equal(in.address_count, DHCP6_ADDRESSES);
    assert_int_equal(in.addresses[3].valid_s, 200);
    for (uint32_t room = 0; room < length; room++)
        assert_int_equal(dhcp6_emit(&out, bytes, room), 0);
    for (uint32_t cut = 4; cut < length; cut++)  // no prefix of a message is taken for more than its whole options
        (void)parse(bytes, cut, &in);
}

static void options_do_not_pass_what_holds_them(void **state)
{
    struct dhcp6_message message;
    (void)state;
    assert_true(PARSE(HEADER, &message));
    assert_false(parse(HEADER, 3, &message));
    assert_false(PARSE(HEADER "\0\7\0", &message));
    assert_false(PARSE(HEADER "\0\7\0\2\1", &message));
    assert_false(PARSE(HEADER "\0\1\0\2\0\3", &message));                      // a DUID without an id
    assert_false(PARSE(HEADER "\0\3\0\x0b\1\2\3\4\0\0\0\0\0\0\0", &message));  // an IA_NA too short
    assert_false(PARSE(HEADER "\0\3\0\x0e\1\2\3\4\0\0\0\0\0\0\0\0\0\5", &message));
    // an address that passes its IA, while the message goes on
    assert_false(PARSE(
        HEADER "\0\3\0\x10\1\2\3\4\0\0\0\0\0\0\0\0\0\5\0\x18\0\1\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", &message));
    assert_false(PARSE(HEADER "\0\3\0\x27\1\2\3\4\0\0\0\0\0\0\0\0\0\5\0\x17"
                              "12345678901234567890123",
                       &message));
    assert_false(PARSE(HEADER "\0\x0d\0\1\0", &message));
    assert_false(PARSE(HEADER "\0\x17\0\x0f"
                              "123456789012345",
                       &message));
    assert_false(PARSE(HEADER "\0\x18\0\4\3lab", &message));
    assert_false(PARSE(HEADER "\0\x18\0\3\300\1\0", &message));
    assert_false(PARSE(HEADER "\0\x52\0\3\0\0\1", &message));
    assert_false(PARSE("\x0e\0\0\1", &message));
}

static void an_address_must_make_sense(void **state)
{
    struct dhcp6_message message;
    (void)state;
    assert_true(PARSE(HEADER "\0\3\0\x44\1\2\3\4\0\0\0\1\0\0\0\2" ADDRESS_OPTION("\1", "\5", "\7")
                          ADDRESS_OPTION("\2", "\x09", "\7"),
                      &message));
    assert_int_equal(message.address_count, 1);  // the other is preferred for longer than it is valid
    assert_int_equal(message.addresses[0].valid_s, 7);
    assert_int_equal(message.t1_s, 1);
    assert_true(PARSE(HEADER "\0\3\0\x28\1\2\3\4\0\0\0\3\0\0\0\2" ADDRESS_OPTION("\1", "\5", "\7"), &message));
    assert_false(message.ia);  // T1 > T2
    assert_true(PARSE(HEADER "\0\3\0\x28\1\2\3\4\0\0\0\3\0\0\0\0" ADDRESS_OPTION("\1", "\5", "\7"), &message));
    assert_true(message.ia);
    assert_true(PARSE(HEADER "\0\3\0\x28\1\2\3\5\0\0\0\1\0\0\0\2" ADDRESS_OPTION("\1", "\5", "\7"), &message));
    assert_false(message.ia);  // another's IA
}

static void a_list_may_be_empty(void **state)
{
    struct dhcp6_message message;
    (void)state;
    assert_true(PARSE(HEADER "\0\x17\0\0\0\x18\0\0", &message));
    assert_int_equal(message.dns_count, 0);
    assert_string_equal(message.domain, "");
}

static void limits_in_their_range(void **state)
{
    struct dhcp6_message message;
    (void)state;
    assert_true(PARSE(HEADER "\0\x52\0\4\0\0\0\x3b", &message));
    assert_int_equal(message.sol_max_rt_s, 0);
    assert_true(PARSE(HEADER "\0\x52\0\4\0\1\x51\x81", &message));
    assert_int_equal(message.sol_max_rt_s, 0);
    assert_true(PARSE(HEADER "\0\x52\0\4\0\0\0\x3c\0\x53\0\4\0\1\x51\x80", &message));
    assert_int_equal(message.sol_max_rt_s, 60);
    assert_int_equal(message.inf_max_rt_s, 86400);
}

static void domains_are_names_of_hosts(void **state)
{
    struct dhcp6_message message;
    (void)state;
    assert_true(PARSE(HEADER "\0\x18\0\x0f\3lab\4test\0\3abc\0", &message));
    assert_string_equal(message.domain, "lab.test");
    assert_true(PARSE(HEADER "\0\x18\0\5\3a\nb\0", &message));
    assert_string_equal(message.domain, "");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_is_sent_can_be_read),   cmocka_unit_test(options_do_not_pass_what_holds_them),
        cmocka_unit_test(an_address_must_make_sense), cmocka_unit_test(limits_in_their_range),
        cmocka_unit_test(domains_are_names_of_hosts), cmocka_unit_test(a_list_may_be_empty),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
