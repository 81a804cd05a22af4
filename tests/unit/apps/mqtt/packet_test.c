// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps small6_apps
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "mqtt/packet.h"

static void lengths_have_four_octets(void **state)
{
    static const uint32_t values[] = {0, 127, 128, 16383, 16384, 2097151, 2097152, MQTT_LENGTH_MAX};
    (void)state;
    for (int i = 0; i < 8; i++) {
        uint8_t bytes[8];
        struct mqtt_writer writer = {.out = bytes, .room = sizeof bytes};
        uint32_t value;
        mqtt_put_length(&writer, values[i]);
        assert_int_equal(writer.at, i / 2 + 1);
        assert_int_equal(mqtt_length_bytes(values[i]), writer.at);
        assert_int_equal(mqtt_get_length(bytes, writer.at, &value), writer.at);
        assert_int_equal(value, values[i]);
        assert_int_equal(mqtt_get_length(bytes, writer.at - 1, &value), 0);
    }
    uint32_t value;
    assert_int_equal(mqtt_get_length((const uint8_t *)"\xff\xff\xff\xff\x01", 5, &value), -1);
}

#define TEXT(literal) (const uint8_t *)(literal), sizeof(literal) - 1

static void text_is_utf8(void **state)
{
    (void)state;
    assert_true(mqtt_utf8_valid(TEXT("a\xc3\xa4\xe2\x82\xac\xf0\x9f\x98\x80")));
    assert_false(mqtt_utf8_valid(TEXT("a\0b")));
    assert_false(mqtt_utf8_valid(TEXT("\xc0\x80")));  // longer than needed
    assert_false(mqtt_utf8_valid(TEXT("\xe0\x9f\xbf")));
    assert_false(mqtt_utf8_valid(TEXT("\xed\xa0\x80")));      // a surrogate
    assert_false(mqtt_utf8_valid(TEXT("\xf4\x90\x80\x80")));  // beyond Unicode
    assert_false(mqtt_utf8_valid(TEXT("\xe2\x82")));
    assert_false(mqtt_utf8_valid(TEXT("\x80")));
}

static void wildcards_are_levels(void **state)
{
    (void)state;
    assert_true(mqtt_topic_valid(TEXT("a/b")));
    assert_false(mqtt_topic_valid(TEXT("a/+")));
    assert_false(mqtt_topic_valid(TEXT("#")));
    assert_false(mqtt_topic_valid(TEXT("")));
    assert_true(mqtt_filter_valid(TEXT("#")));
    assert_true(mqtt_filter_valid(TEXT("+/b/#")));
    assert_false(mqtt_filter_valid(TEXT("a#")));
    assert_false(mqtt_filter_valid(TEXT("#/a")));
    assert_false(mqtt_filter_valid(TEXT("a+/b")));
    assert_true(mqtt_filter_matches("a/+/c", TEXT("a/b/c")));
    assert_false(mqtt_filter_matches("a/+/c", TEXT("a/b/d")));
    assert_true(mqtt_filter_matches("a/#", TEXT("a/b/c")));
    assert_true(mqtt_filter_matches("a/#", TEXT("a")));
    assert_false(mqtt_filter_matches("a/+", TEXT("a")));
    assert_true(mqtt_filter_matches("+", TEXT("a")));
    assert_false(mqtt_filter_matches("a", TEXT("a/b")));
    assert_false(mqtt_filter_matches("#", TEXT("$SYS/x")));
}

static void properties_have_places(void **state)
{
    struct mqtt_properties said;
    (void)state;
    assert_int_equal(mqtt_get_properties(TEXT("\0"), MQTT_CONNACK, &said), 1);
    assert_int_equal(said.receive_maximum, 65535);
    assert_int_equal(mqtt_get_properties(TEXT("\x0b\x21\0\x05\x13\0\x3c\x27\0\x01\0\0"), MQTT_CONNACK, &said), 12);
    assert_int_equal(said.receive_maximum, 5);
    assert_int_equal(said.server_keep_alive, 60);
    assert_int_equal(said.maximum_packet, 65536);
    assert_int_equal(mqtt_get_properties(TEXT("\x06\x21\0\x05\x21\0\x05"), MQTT_CONNACK, &said), -1);  // twice
    assert_int_equal(mqtt_get_properties(TEXT("\x03\x21\0\x05"), MQTT_PUBACK, &said), -1);             // not there
    assert_int_equal(mqtt_get_properties(TEXT("\x03\x21\0\0"), MQTT_CONNACK, &said), -1);              // no such value
    assert_int_equal(mqtt_get_properties(TEXT("\x02\x7f\0"), MQTT_CONNACK, &said), -1);                // unknown
    assert_int_equal(mqtt_get_properties(TEXT("\x03\x23\0\x01"), MQTT_PUBLISH, &said), -1);  // an alias: not offered
    assert_int_equal(mqtt_get_properties(TEXT("\x02\x24\x02"), MQTT_CONNACK, &said), -1);
    // user properties may be many
    assert_int_equal(mqtt_get_properties(TEXT("\x0e\x26\0\1a\0\1b\x26\0\1a\0\1b"), MQTT_PUBLISH, &said), 15);
    assert_int_equal(mqtt_get_properties(TEXT("\x07\x26\0\1a\0\2b"), MQTT_PUBLISH, &said), -1);
    static const uint8_t whole[] = "\x10\x21\0\x05\x12\0\x03"
                                   "abc\x1f\0\x03"
                                   "why\x24";
    for (uint32_t length = 0; length < 17; length++)
        assert_int_equal(mqtt_get_properties(whole, length, MQTT_CONNACK, &said), -1);
}

// Whatever is there of the header, no more is asked for than there is.
static void heads_are_measured(void **state)
{
    static const uint8_t head[] = "\0\3a/b\0\7\x80\1";
    (void)state;
    assert_int_equal(mqtt_publish_head(head, 0, 100, 1, false), 2);
    assert_int_equal(mqtt_publish_head(head, 2, 100, 1, false), 7);
    assert_int_equal(mqtt_publish_head(head, 2, 100, 0, false), 5);
    assert_int_equal(mqtt_publish_head(head, 2, 100, 1, true), 8);
    assert_int_equal(mqtt_publish_head(head, 8, 200, 1, true), 9);
    assert_int_equal(mqtt_publish_head(head, 9, 200, 1, true), 9 + 128);
    assert_int_equal(mqtt_publish_head(head, 9, 100, 1, true), -1);
    assert_int_equal(mqtt_publish_head(head, 2, 6, 1, false), -1);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lengths_have_four_octets), cmocka_unit_test(text_is_utf8),
        cmocka_unit_test(wildcards_are_levels),     cmocka_unit_test(properties_have_places),
        cmocka_unit_test(heads_are_measured),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
