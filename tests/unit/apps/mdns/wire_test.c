// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps small6_apps
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "mdns/wire.h"

static struct mdns_name named(const char *text)
{
    struct mdns_name name;
    mdns_name_root(&name);
    assert_true(mdns_name_text(&name, text));
    return name;
}

static void labels_hold_any_text(void **state)
{
    struct mdns_name name, rest;
    char text[300], label[MDNS_LABEL_MAX + 1];
    (void)state;
    mdns_name_root(&name);
    assert_true(mdns_name_label(&name, "Dr. Who's \xc3\xa4", 12));
    assert_true(mdns_name_text(&name, "_http._tcp.local"));
    mdns_name_print(&name, text, sizeof text);
    assert_string_equal(text, "Dr\\. Who's \xc3\xa4._http._tcp.local");
    const struct mdns_name again = named(text);
    assert_true(mdns_name_equal(&name, &again));
    assert_true(mdns_name_split(&name, label, &rest));
    assert_string_equal(label, "Dr. Who's \xc3\xa4");
    const struct mdns_name type = named("_HTTP._tcp.LOCAL");
    assert_true(mdns_name_equal(&rest, &type));
    assert_memory_not_equal(rest.bytes, type.bytes, rest.length);  // bytes are kept
    const struct mdns_name small = named("\xc3\xa4.local"), capital = named("\xc3\x84.local");
    assert_false(mdns_name_equal(&small, &capital));  // letters of ASCII alone have two cases (RFC 6762 §16)
    for (uint32_t room = 1; room < 30; room++) {
        memset(text, 'x', sizeof text);
        mdns_name_print(&name, text, room);
        assert_true(strlen(text) < room);
    }
}

static void lengths_have_limits(void **state)
{
    struct mdns_name name;
    char label[64];
    (void)state;
    memset(label, 'a', sizeof label);
    mdns_name_root(&name);
    assert_false(mdns_name_label(&name, label, 64));
    assert_false(mdns_name_label(&name, label, 0));
    assert_false(mdns_name_text(&name, ""));
    assert_false(mdns_name_text(&name, "a..b"));
    mdns_name_root(&name);
    for (int i = 0; i < 3; i++)
        assert_true(mdns_name_label(&name, label, 63));
    assert_false(mdns_name_label(&name, label, 62));
    assert_true(mdns_name_label(&name, label, 61));
    assert_int_equal(name.length, 255);
    assert_false(mdns_name_label(&name, label, 1));
    const struct mdns_name more = named("a");
    assert_false(mdns_name_append(&name, &more));
}

// A response with all kinds of records and names that can be shortened.
static uint32_t make(uint8_t *out, uint32_t room, bool plain)
{
    static const uint8_t port[6] = {0, 0, 0, 0, 0, 80}, text[] = {3, 'a', '=', 'b'}, address[4] = {10, 0, 0, 1};
    const struct mdns_name type = named("_http._tcp.local"), instance = named("web._http._tcp.local"),
                           host = named("kitchen.local");
    const struct mdns_data to_instance = {.name = &instance}, srv = {.head = port, .head_length = 6, .name = &host},
                           txt = {.head = text, .head_length = sizeof text}, a = {.head = address, .head_length = 4};
    const struct mdns_question question = {type, MDNS_PTR, MDNS_IN};
    struct mdns_writer writer;
    mdns_write_begin(&writer, out, room, 7, MDNS_RESPONSE);
    writer.plain = plain;
    bool whole = mdns_write_question(&writer, &question) &&
                 mdns_write_record(&writer, 1, &type, MDNS_PTR, MDNS_IN, 4500, &to_instance) &&
                 mdns_write_record(&writer, 3, &instance, MDNS_SRV, MDNS_IN | MDNS_FLUSH, 120, &srv) &&
                 mdns_write_record(&writer, 3, &instance, MDNS_TXT, MDNS_IN | MDNS_FLUSH, 4500, &txt) &&
                 mdns_write_record(&writer, 3, &host, MDNS_A, MDNS_IN | MDNS_FLUSH, 120, &a);
    return whole ? mdns_write_end(&writer) : 0;
}

static void what_is_written_is_read(void **state)
{
    uint8_t message[512], room[MDNS_DATA_ROOM];
    struct mdns_reader reader;
    struct mdns_question question;
    struct mdns_record record;
    uint32_t bytes;
    (void)state;
    const uint32_t length = make(message, sizeof message, false), plain = make(message, sizeof message, true);
    assert_true(length < plain);
    for (int turn = 0; turn < 2; turn++) {
        const uint32_t all = make(message, sizeof message, turn == 1);
        assert_true(mdns_valid(message, all));
        assert_true(mdns_read_begin(&reader, message, all));
        assert_true(mdns_read_question(&reader, &question));
        const struct mdns_name instance = named("web._http._tcp.local"), host = named("kitchen.local");
        assert_true(mdns_read_record(&reader, &record) && record.type == MDNS_PTR && record.section == 1);
        const uint8_t *data = mdns_read_data(message, all, &record, room, &bytes);
        assert_int_equal(bytes, instance.length);
        assert_memory_equal(data, instance.bytes, bytes);
        assert_true(mdns_read_record(&reader, &record) && record.type == MDNS_SRV && record.section == 3);
        assert_int_equal(record.rrclass, MDNS_IN | MDNS_FLUSH);
        data = mdns_read_data(message, all, &record, room, &bytes);
        assert_int_equal(bytes, 6 + host.length);
        assert_int_equal(data[5], 80);
        assert_memory_equal(data + 6, host.bytes, host.length);
        assert_true(mdns_read_record(&reader, &record) && record.type == MDNS_TXT && record.ttl_s == 4500);
        assert_true(mdns_read_record(&reader, &record) && record.type == MDNS_A);
        assert_false(mdns_read_record(&reader, &record));
    }
}

// Read from memory of exactly its length, so that the sanitizer sees a byte too many.
static bool valid(const uint8_t *message, uint32_t length)
{
    uint8_t *copy = malloc(length);
    memcpy(copy, message, length);
    const bool whole = mdns_valid(copy, length);
    free(copy);
    return whole;
}

static void every_cut_is_malformed(void **state)
{
    uint8_t message[512];
    (void)state;
    const uint32_t length = make(message, sizeof message, false);
    assert_true(valid(message, length));
    for (uint32_t cut = 1; cut < length; cut++)
        assert_false(valid(message, cut));
}

static void no_room_writes_nothing(void **state)
{
    uint8_t message[512];
    (void)state;
    const uint32_t length = make(message, sizeof message, false);
    for (uint32_t room = MDNS_HEADER; room < length; room++)
        assert_int_equal(make(message, room, false), 0);
    assert_int_equal(make(message, length, false), length);
}

// A pointer leads before the name it is in (RFC 9267); data ends where its name does.
static void pointers_lead_strictly_back(void **state)
{
    uint8_t message[] = {0, 0, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 1, 'a', 0, 0, 1, 0, 1, 0xc0, 12, 0, 1, 0, 1};
    (void)state;
    assert_true(valid(message, sizeof message));
    message[20] = 19;  // itself
    assert_false(valid(message, sizeof message));
    message[20] = 21;  // forward
    assert_false(valid(message, sizeof message));
    message[20] = 11;  // into the header
    assert_false(valid(message, sizeof message));
    message[20] = 14;  // the root
    assert_true(valid(message, sizeof message));
    message[19] = 0x80;
    assert_false(valid(message, sizeof message));
    uint8_t record[] = {0, 0, 0x84, 0, 0, 0, 0, 1, 0, 0, 0, 0, 1, 'a', 0, 0, 12, 0, 1, 0, 0, 0, 9, 0, 4, 1, 'b', 0, 0};
    assert_false(valid(record, sizeof record));  // a byte behind the name
    record[24] = 3;
    assert_true(valid(record, sizeof record - 1));
    record[24] = 2;
    assert_false(valid(record, sizeof record - 1));  // the name is longer than the data
}

// Each pointer to the one before: as long as a name may be, not longer.
static void long_chains_end(void **state)
{
    uint8_t message[600] = {0, 0, 0, 0, 0, 1};
    uint32_t at = MDNS_HEADER;
    struct mdns_name name;
    uint32_t end;
    (void)state;
    message[at++] = 0;
    uint32_t before = MDNS_HEADER;
    for (int i = 0; i < 130; i++) {
        const uint32_t here = at;
        message[at++] = 1;
        message[at++] = 'a';
        message[at++] = (uint8_t)(0xc0 | before >> 8);
        message[at++] = (uint8_t)before;
        before = here;
        assert_int_equal(mdns_read_name(message, at, here, &name, &end), i < 127);
        assert_true(i >= 127 || end == at);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(labels_hold_any_text),    cmocka_unit_test(lengths_have_limits),
        cmocka_unit_test(what_is_written_is_read), cmocka_unit_test(every_cut_is_malformed),
        cmocka_unit_test(no_room_writes_nothing),  cmocka_unit_test(pointers_lead_strictly_back),
        cmocka_unit_test(long_chains_end),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
