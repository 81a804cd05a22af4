// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small_apps small6_apps
// The client against a server that the test plays: what is sent when, what is believed, what survives.
#include "apps/mqtt/broker.h"

static void connect_says_all(void **state)
{
    struct play play;
    (void)state;
    play_open(&play, 4);
    play.config.user = "u";
    play.config.password = "pw";
    play.config.will_topic = "w";
    play.config.will = "gone";
    play.config.will_length = 4;
    play.config.will_qos = 1;
    play.config.will_flags = MQTT_RETAIN;
    play.config.clean = true;
    assert_int_equal(mqtt_start(&play.mqtt, &play.b.loop, &play.config), WEIR_OK);
    play_run(&play, 1000);
    EXPECT(&play, "\x10\x20\0\4MQTT\4\xee\0\x1e\0\4weir\0\1w\0\4gone\0\1u\0\2pw");
    play_up(&play, false);
    play_close(&play);
    play_open(&play, 5);
    play.config.session_expiry_s = 3600;
    assert_int_equal(mqtt_start(&play.mqtt, &play.b.loop, &play.config), WEIR_OK);
    play_run(&play, 1000);
    EXPECT(&play, "\x10\x19\0\4MQTT\5\0\0\x1e\x08\x11\0\0\x0e\x10\x21\0\x14\0\4weir");
    play_up(&play, false);
    play_close(&play);
}

static void nothing_is_sent_before_connack(void **state)
{
    struct play play;
    uint8_t packet[1024];
    (void)state;
    play_open(&play, 4);
    play_start(&play);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "b", 1, 0, 0), 0);
    play_run(&play, SECOND);
    assert_int_equal(play_packet(&play, packet), 0);
    play_up(&play, false);
    EXPECT(&play, "\x30\4\0\1ab");
    play_close(&play);
    static const char *const first[] = {"\xd0\0", "\x30\3\0\1a", "\x90\3\0\1\0"};  // anything else ends it
    for (int i = 0; i < 3; i++) {
        play_open(&play, 4);
        play_start(&play);
        play_send(&play, first[i], i == 0 ? 2 : 5);
        assert_int_equal(play.reason, MQTT_PROTOCOL_ERROR);
        play_close(&play);
    }
}

static void refusals_are_told(void **state)
{
    struct play play;
    (void)state;
    play_open(&play, 4);
    play_start(&play);
    SEND(&play, "\x20\2\0\5");
    assert_int_equal(play.refused, 1);
    assert_int_equal(play.mqtt.state, MQTT_WAITING);
    play_close(&play);
    play_open(&play, 4);
    play.config.clean = true;
    play_start(&play);
    SEND(&play, "\x20\2\1\0");  // a session, though it is to have none
    assert_int_equal(play.connected, 0);
    assert_int_equal(play.reason, MQTT_PROTOCOL_ERROR);
    play_close(&play);
}

static void messages_are_acknowledged_by_their_quality(void **state)
{
    struct play play;
    (void)state;
    for (uint8_t version = 4; version <= 5; version++) {
        const bool five = version == 5;
        play_open(&play, version);
        play_start(&play);
        play_up(&play, false);
        assert_int_equal(mqtt_publish(&play.mqtt, "a", "x", 1, 1, MQTT_RETAIN), 1);
        assert_int_equal(mqtt_publish(&play.mqtt, "a", "y", 1, 2, 0), 2);
        play_run(&play, 1000);
        play_expect(&play, five ? "\x33\7\0\1a\0\1\0x" : "\x33\6\0\1a\0\1x", five ? 9 : 8);
        play_expect(&play, five ? "\x34\7\0\1a\0\2\0y" : "\x34\6\0\1a\0\2y", five ? 9 : 8);
        SEND(&play, "\x40\2\0\1");
        assert_int_equal(play.dones, 1);
        assert_int_equal(play.done_id, 1);
        SEND(&play, "\x50\2\0\2");
        EXPECT(&play, "\x62\2\0\2");
        assert_int_equal(play.dones, 1);  // the id is in use still
        SEND(&play, "\x50\2\0\2");        // once more: PUBREL again
        EXPECT(&play, "\x62\2\0\2");
        SEND(&play, "\x70\2\0\2");
        assert_int_equal(play.dones, 2);
        assert_int_equal(play.mqtt.out_used, 0);
        if (five) {
            assert_int_equal(mqtt_publish(&play.mqtt, "a", "z", 1, 2, 0), 3);
            play_run(&play, 1000);
            SEND(&play, "\x50\3\0\3\x97");  // over its quota
            assert_int_equal(play.dones, 3);
            assert_int_equal(play.done_reason, 0x97);
        }
        play_close(&play);
    }
}

// A message without a byte is one, too: retained, it takes away what the server had retained; one that arrives is told
// once.
static void empty_messages_are_messages(void **state)
{
    struct play play;
    (void)state;
    for (uint8_t version = 4; version <= 5; version++) {
        const bool five = version == 5;
        play_open(&play, version);
        play_start(&play);
        play_up(&play, false);
        assert_int_equal(mqtt_publish(&play.mqtt, "a", NULL, 0, 0, MQTT_RETAIN), 0);
        assert_int_equal(mqtt_publish(&play.mqtt, "a", "", 0, 1, MQTT_RETAIN), 1);
        play_run(&play, 1000);
        play_expect(&play, five ? "\x31\4\0\1a\0" : "\x31\3\0\1a", five ? 6 : 5);
        play_expect(&play, five ? "\x33\6\0\1a\0\1\0" : "\x33\5\0\1a\0\1", five ? 8 : 7);
        SEND(&play, "\x40\2\0\1");
        assert_int_equal(play.dones, 1);
        assert_int_equal(play.done_reason, 0);
        play_send(&play, five ? "\x31\4\0\1a\0" : "\x31\3\0\1a", five ? 6 : 5);
        assert_int_equal(play.messages, 1);
        assert_int_equal(play.pieces, 1);
        assert_int_equal(play.last.length, 0);
        assert_true(play.last.retained);
        play_send(&play, five ? "\x30\5\0\1a\0x" : "\x30\4\0\1ax", five ? 7 : 6);  // the next one is whole
        assert_int_equal(play.messages, 2);
        assert_string_equal(play.payload, "x");
        assert_false(play.last.retained);
        play_close(&play);
    }
}

static void arriving_messages_are_delivered_once(void **state)
{
    struct play play;
    (void)state;
    play_open(&play, 4);
    play_start(&play);
    play_up(&play, false);
    SEND(&play, "\x31\7\0\3a/bhi");
    assert_int_equal(play.messages, 1);
    assert_string_equal(play.topic, "a/b");
    assert_string_equal(play.payload, "hi");
    assert_true(play.last.retained);
    SEND(&play, "\x32\5\0\1a\0\7");  // empty
    EXPECT(&play, "\x40\2\0\7");
    assert_int_equal(play.messages, 2);
    assert_int_equal(play.last.length, 0);
    SEND(&play, "\x34\6\0\1a\0\x8x");
    EXPECT(&play, "\x50\2\0\x8");
    SEND(&play, "\x3c\6\0\1a\0\x8x");  // again, before it was released
    EXPECT(&play, "\x50\2\0\x8");
    assert_int_equal(play.messages, 3);
    SEND(&play, "\x62\2\0\x8");
    EXPECT(&play, "\x70\2\0\x8");
    SEND(&play, "\x34\6\0\1a\0\x8x");  // another one
    assert_int_equal(play.messages, 4);
    SEND(&play, "\x62\2\0\x9");  // unknown: it must end, too
    play_close(&play);
}

// What the server has of a message of QoS 2 outlives the connection, with the session.
static void qos_2_outlives_connections(void **state)
{
    struct play play;
    uint8_t packet[1024];
    (void)state;
    play_open(&play, 4);
    play_start(&play);
    play_up(&play, false);
    SEND(&play, "\x34\6\0\1a\0\x8x");
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "1", 1, 1, 0), 1);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "2", 1, 2, 0), 2);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "3", 1, 2, 0), 3);
    play_run(&play, 1000);
    SEND(&play, "\x50\2\0\3");  // the second of QoS 2 is there
    play_again(&play, true);
    EXPECT(&play, "\x3a\6\0\1a\0\1"
                  "1");  // in order, as duplicates
    EXPECT(&play, "\x3c\6\0\1a\0\2"
                  "2");
    EXPECT(&play, "\x62\2\0\3");  // PUBREL, not PUBLISH
    SEND(&play, "\x3c\6\0\1a\0\x8x");
    assert_int_equal(play.messages, 1);
    EXPECT(&play, "\x50\2\0\x8");
    assert_int_equal(play_packet(&play, packet), 0);
    play_close(&play);
}

// PUBCOMP was lost with the connection, and the server knows the id no more: the message has arrived all the same.
static void a_pubrel_again_may_find_the_id_forgotten(void **state)
{
    struct play play;
    (void)state;
    play_open(&play, 5);
    play_start(&play);
    play_up(&play, false);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "1", 1, 2, 0), 1);
    play_run(&play, 1000);
    SEND(&play, "\x50\2\0\1");
    play_again(&play, true);
    EXPECT(&play, "\x62\2\0\1");
    assert_int_equal(play.dones, 0);
    SEND(&play, "\x70\3\0\1\x92");
    assert_int_equal(play.dones, 1);
    assert_int_equal(play.done_reason, 0);
    assert_int_equal(play.mqtt.out_used, 0);
    play_close(&play);
}

static void a_lost_session_begins_anew(void **state)
{
    struct play play;
    uint8_t packet[1024];
    (void)state;
    play_open(&play, 4);
    play_start(&play);
    play_up(&play, false);
    SEND(&play, "\x34\6\0\1a\0\x8x");
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "1", 1, 1, 0), 1);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "2", 1, 2, 0), 2);
    play_run(&play, 1000);
    SEND(&play, "\x50\2\0\2");
    play_again(&play, false);
    assert_int_equal(play.session, 0);
    EXPECT(&play, "\x32\6\0\1a\0\1"
                  "1");  // not a duplicate
    assert_int_equal(play_packet(&play, packet), 0);
    assert_int_equal(play.done_id, 2);
    assert_int_equal(play.done_reason, WEIR_RESET);
    SEND(&play, "\x34\6\0\1a\0\x8x");
    assert_int_equal(play.messages, 2);  // what the id meant is forgotten
    play_close(&play);
}

static void subscriptions_end_with_a_code(void **state)
{
    struct play play;
    (void)state;
    for (uint8_t version = 4; version <= 5; version++) {
        const bool five = version == 5;
        play_open(&play, version);
        play_start(&play);
        play_up(&play, false);
        assert_int_equal(mqtt_subscribe(&play.mqtt, "a/#", 1), 1);
        play_run(&play, 1000);
        play_expect(&play, five ? "\x82\x09\0\1\0\0\3a/#\1" : "\x82\x08\0\1\0\3a/#\1", five ? 11 : 10);
        play_send(&play, five ? "\x90\4\0\1\0\1" : "\x90\3\0\1\1", five ? 6 : 5);
        assert_int_equal(play.done_reason, 1);
        assert_int_equal(mqtt_subscribe(&play.mqtt, "b", 2), 2);
        play_run(&play, 1000);
        play_send(&play, five ? "\x90\4\0\2\0\x87" : "\x90\3\0\2\x80", five ? 6 : 5);
        assert_true(play.done_reason >= 0x80);
        assert_int_equal(mqtt_unsubscribe(&play.mqtt, "a/#"), 3);
        play_run(&play, 1000);
        play_send(&play, five ? "\xb0\4\0\3\0\0" : "\xb0\2\0\3", five ? 6 : 4);
        assert_int_equal(play.dones, 3);
        assert_int_equal(play.done_reason, 0);
        assert_int_equal(mqtt_subscribe(&play.mqtt, "a+", 0), WEIR_INVALID);
        assert_int_equal(mqtt_publish(&play.mqtt, "a/#", "", 0, 0, 0), WEIR_INVALID);
        assert_int_equal(mqtt_publish(&play.mqtt, "a\xff", "", 0, 0, 0), WEIR_INVALID);
        play_close(&play);
    }
}

// Every packet in single bytes, and a payload far longer than any buffer.
static void packets_come_in_any_pieces(void **state)
{
    static const char packets[] = "\x32\x08\0\3a/b\0\7!\x34\6\0\1a\0\x8x\x62\2\0\x8\xd0\0\x30\3\0\1a";
    struct play play;
    uint8_t long_head[] = {0x30, 0, 0, 0, 1, 'a'};
    (void)state;
    play_open(&play, 4);
    play_start(&play);
    play_up(&play, false);
    for (uint32_t i = 0; i + 1 < sizeof packets; i++)
        play_send(&play, packets + i, 1);
    play_run(&play, SECOND);
    assert_int_equal(play.messages, 3);
    const uint32_t length = 3003;
    long_head[1] = (uint8_t)(length & 127) | 128;
    long_head[2] = (uint8_t)(length >> 7);
    play_send(&play, long_head, sizeof long_head);
    for (uint32_t i = 0; i < 3000; i += 100) {
        char part[100];
        memset(part, 'a' + (int)(i / 100 % 26), sizeof part);
        play_send(&play, part, sizeof part);
    }
    play_run(&play, SECOND);
    assert_int_equal(play.messages, 4);
    assert_int_equal(strlen(play.payload), 3000);
    assert_int_equal(play.payload[2999], 'a' + 29 % 26);
    play_close(&play);
}

static void wrong_packets_end_the_connection(void **state)
{
    static const struct {
        const char *bytes;
        uint32_t length;
        uint8_t version;
    } wrong[] = {
        {"\x30\xff\xff\xff\xff\x7f", 6, 4},  // five octets of length
        {"\x40\xff\xff\xff\x7f", 5, 4},      // larger than any buffer, and no message
        {"\x36\5\0\1a\0\1", 7, 4},           // QoS 3
        {"\x38\3\0\1a", 5, 4},               // a duplicate of QoS 0
        {"\x32\5\0\1a\0\0", 7, 4},           // id 0
        {"\x30\3\0\1+", 5, 4},               // a wildcard
        {"\x30\3\0\1\xff", 5, 4},            // no UTF-8
        {"\x30\3\0\2a", 5, 4},               // the topic is longer than the packet
        {"\x30\1\0", 3, 4},                  //
        {"\x20\2\0\0", 4, 4},                // CONNACK twice
        {"\x41\2\0\1", 4, 4},                // flags
        {"\x60\2\0\1", 4, 4},                //
        {"\x90\3\0\1\0", 5, 4},              // of nothing that was asked for
        {"\xe0\0", 2, 4},                    // a server says no such thing in 3.1.1
        {"\x10\0", 2, 4},                    // a client's
        {"\x30\6\0\1a\3\x23\0", 8, 5},       // properties longer than the packet
        {"\x30\7\0\1a\3\x23\0\1", 9, 5},     // an alias
        {"\xf0\0", 2, 5},                    //
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct play play;
        play_open(&play, wrong[i].version);
        play_start(&play);
        play_up(&play, false);
        play_send(&play, wrong[i].bytes, wrong[i].length);
        if (play.disconnected != 1 || play.reason != MQTT_PROTOCOL_ERROR)
            fail_msg("%zu: %u, %d", i, play.disconnected, play.reason);
        assert_int_equal(play.messages, 0);
        play_close(&play);
    }
}

// --- time ------------------------------------------------------------------------------------------------------------

static void keep_alive_counts_from_the_last_packet_sent(void **state)
{
    struct play play;
    uint8_t packet[1024];
    (void)state;
    play_open(&play, 4);
    play_start(&play);
    play_up(&play, false);
    play_run(&play, 29 * SECOND);
    assert_int_equal(play_packet(&play, packet), 0);
    play_run(&play, SECOND);
    EXPECT(&play, "\xc0\0");
    SEND(&play, "\xd0\0");
    play_run(&play, 20 * SECOND);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "b", 1, 0, 0), 0);
    play_run(&play, 29 * SECOND);
    EXPECT(&play, "\x30\4\0\1ab");
    assert_int_equal(play_packet(&play, packet), 0);  // what comes in does not count, what goes out does
    SEND(&play, "\x30\3\0\1a");
    play_run(&play, 2 * SECOND);
    EXPECT(&play, "\xc0\0");
    play_run(&play, 8 * SECOND);
    assert_int_equal(play.disconnected, 0);
    play_run(&play, 3 * SECOND);  // no answer
    assert_int_equal(play.disconnected, 1);
    assert_int_equal(play.reason, WEIR_TIMED_OUT);
    play_close(&play);
}

static void the_server_sets_limits(void **state)
{
    struct play play;
    uint8_t packet[1024];
    (void)state;
    play_open(&play, 5);
    play_start(&play);
    SEND(&play, "\x20\x10\0\0\x0d\x21\0\1\x13\0\5\x24\1\x27\0\0\0\x14");  // one under way, 5 s, QoS 1, 20 bytes
    assert_int_equal(play.connected, 1);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "1", 1, 1, 0), 1);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "2", 1, 1, 0), 2);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "3", 1, 0, 0), 0);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "4", 1, 2, 0), WEIR_NOT_SUPPORTED);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "0123456789abcde", 15, 0, 0), WEIR_TOO_BIG);
    play_run(&play, 1000);
    EXPECT(&play, "\x32\7\0\1a\0\1\0"
                  "1");
    EXPECT(&play, "\x30\5\0\1a\0"
                  "3");
    assert_int_equal(play_packet(&play, packet), 0);
    SEND(&play, "\x40\2\0\1");
    EXPECT(&play, "\x32\7\0\1a\0\2\0"
                  "2");
    play_run(&play, 5 * SECOND);
    EXPECT(&play, "\xc0\0");
    SEND(&play, "\xe0\1\x8e");  // another has our id
    assert_int_equal(play.reason, 0x8e);
    play_close(&play);
}

// A server that is down is asked ever more rarely, at no fixed times; so is one that throws us out at once.
static void retries_grow_rare(void **state)
{
    struct play play;
    uint64_t before_us = 0;
    (void)state;
    play_open(&play, 4);
    play_start(&play);
    uint64_t limit_us = SECOND;
    for (int i = 0; i < 10; i++) {
        play_up(&play, false);
        before_us = play.b.f.now_us;
        (void)weir_socket_abort(play.b.f.weir, play.peer);
        play.peer = 0;
        uint8_t packet[1024];
        while (play.peer == 0) {
            play_run(&play, 10000);
            assert_true(play.b.f.now_us - before_us <= limit_us + 2 * SECOND);
        }
        assert_true(play.b.f.now_us - before_us >= limit_us / 2);
        (void)play_packet(&play, packet);
        limit_us = limit_us * 2 > MQTT_RETRY_MAX_US ? MQTT_RETRY_MAX_US : limit_us * 2;
    }
    play_up(&play, false);
    for (int i = 0; i < 2; i++) {
        play_run(&play, 31 * SECOND);
        SEND(&play, "\xd0\0");
    }
    before_us = play.b.f.now_us;
    (void)weir_socket_abort(play.b.f.weir, play.peer);
    play.peer = 0;
    while (play.peer == 0)
        play_run(&play, 10000);
    assert_true(play.b.f.now_us - before_us <= SECOND + 100000);  // it had held for a while
    play_close(&play);
}

static void silence_ends_a_connection_that_begins(void **state)
{
    struct play play;
    (void)state;
    play_open(&play, 4);
    play_start(&play);
    play_run(&play, 19 * SECOND);
    assert_int_equal(play.disconnected, 0);
    play_run(&play, 2 * SECOND);
    assert_int_equal(play.reason, WEIR_TIMED_OUT);
    play_close(&play);
}

static uint32_t located;
static void locate(struct mqtt *mqtt, void *context)
{
    (void)context;
    located++;
    mqtt_located(mqtt, located == 1 ? (struct weir_endpoint){weir_addr_any(), 0} : bench_here(MQTT_PORT));
}

static void the_name_is_asked_for_each_time(void **state)
{
    struct play play;
    uint8_t packet[1024];
    (void)state;
    located = 0;
    play_open(&play, 4);
    play.config.locate = locate;
    assert_int_equal(mqtt_start(&play.mqtt, &play.b.loop, &play.config), WEIR_OK);
    play_run(&play, 3 * SECOND);
    assert_int_equal(located, 2);
    (void)play_packet(&play, packet);
    play_up(&play, false);
    play_again(&play, false);
    assert_int_equal(located, 3);
    play_close(&play);
}

// --- bounds ----------------------------------------------------------------------------------------------------------

static void memory_is_bounded(void **state)
{
    struct play play;
    char payload[1100];
    (void)state;
    memset(payload, 'x', sizeof payload);
    play_open(&play, 4);
    play_start(&play);
    play_up(&play, false);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", payload, sizeof payload, 1, 0), WEIR_TOO_BIG);
    int id, count = 0;
    while ((id = mqtt_publish(&play.mqtt, "a", payload, 200, 1, 0)) > 0)
        count++;
    assert_int_equal(id, WEIR_AGAIN);
    assert_int_equal(count, 4);
    play_run(&play, 1000);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", payload, 200, 1, 0), WEIR_AGAIN);  // kept until acknowledged
    SEND(&play, "\x40\2\0\2");
    assert_true(mqtt_publish(&play.mqtt, "a", payload, 200, 1, 0) > 0);
    play_close(&play);
}

// The server takes nothing: acknowledgements wait, and reading stops before there is no room for more.
static void a_server_that_does_not_read_is_left(void **state)
{
    static const char one[] = "\x32\6\0\1a\0\7x";
    struct play play;
    (void)state;
    play_open(&play, 4);
    play_start(&play);
    play_up(&play, false);
    char payload[900];
    memset(payload, 'x', sizeof payload);
    uint64_t begun_us = play.b.f.now_us;
    while (play.disconnected == 0) {
        (void)mqtt_publish(&play.mqtt, "a", payload, sizeof payload, 0, 0);
        (void)weir_socket_write(play.b.f.weir, play.peer, one, 8);
        bench_run(&play.b, 10000);
        assert_true(play.b.f.now_us - begun_us < 120 * (uint64_t)SECOND);
        assert_true(play.mqtt.control_count <= MQTT_CONTROLS);
    }
    assert_int_equal(play.reason, WEIR_TIMED_OUT);
    play_close(&play);
}

// What was begun is finished before anything else leaves: answers and messages that wait for room never cut one in two.
static void packets_are_never_mixed(void **state)
{
    static const char one[] = "\x32\6\0\1a\0\7x";
    static uint8_t all[200000];
    struct play play;
    char payload[900];
    uint32_t messages = 0, answers = 0, read = 0;
    (void)state;
    play_open(&play, 4);
    assert_int_equal(weir_socket_set(play.b.f.weir, play.listener, WEIR_OPTION_RECEIVE_BUFFER, 4096), WEIR_OK);
    play_start(&play);
    play_up(&play, false);
    assert_int_equal(weir_socket_set(play.b.f.weir, play.mqtt.stream.socket, WEIR_OPTION_SEND_BUFFER, 4096), WEIR_OK);
    memset(payload, 'x', sizeof payload);
    int stalled = 0;
    for (int turn = 0; stalled < 300; turn++) {  // nobody reads, so at some time the queue is full amid a packet
        assert_true(turn < 20000);
        const int id = mqtt_publish(&play.mqtt, "a", payload, sizeof payload - (uint32_t)(turn % 7), 0, 0);
        stalled = id < 0 ? stalled + 1 : 0;
        (void)weir_socket_write(play.b.f.weir, play.peer, one, 8);
        bench_run(&play.b, 10000);
    }
    for (int quiet = 0; quiet < 20; quiet++) {
        const int got = weir_socket_read(play.b.f.weir, play.peer, all + read, (uint32_t)sizeof all - read);
        read += got > 0 ? (uint32_t)got : 0;
        quiet = got > 0 ? 0 : quiet;
        bench_run(&play.b, 10000);
    }
    assert_int_equal(play.disconnected, 0);
    for (uint32_t at = 0, length; at < read;) {
        const int head = mqtt_get_length(all + at + 1, read - at - 1, &length);
        assert_true(head > 0 && at + 1 + (uint32_t)head + length <= read);
        if (all[at] == 0x30) {
            assert_in_range(length, 3 + sizeof payload - 6, 3 + sizeof payload);
            assert_memory_equal(all + at + 1 + head, "\0\1a", 3);
            for (uint32_t i = 3; i < length; i++)
                assert_int_equal(all[at + 1 + (uint32_t)head + i], 'x');
            messages++;
        } else {
            assert_memory_equal(all + at, "\x40\2\0\7", 4);
            answers++;
        }
        at += 1 + (uint32_t)head + length;
    }
    assert_true(messages > 1 && answers > 1);
    play_close(&play);
}

// A reason that is not known is told as it is, and what waits for the answer ends: 0x80 and more is a failure.
static void unknown_reasons_are_told(void **state)
{
    struct play play;
    (void)state;
    play_open(&play, 5);
    play_start(&play);
    play_up(&play, false);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "x", 1, 1, 0), 1);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "x", 1, 2, 0), 2);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "x", 1, 2, 0), 3);
    assert_int_equal(mqtt_subscribe(&play.mqtt, "b", 1), 4);
    play_run(&play, 1000);
    SEND(&play, "\x40\3\0\1\xfe");
    assert_true(play.done_id == 1 && play.done_reason == 0xfe);
    SEND(&play, "\x50\3\0\2\xfe");  // the message was not taken
    assert_true(play.done_id == 2 && play.done_reason == 0xfe);
    SEND(&play, "\x50\3\0\3\x42");  // it was
    assert_int_equal(play.done_id, 2);
    SEND(&play, "\x70\3\0\3\xfe");
    assert_true(play.done_id == 3 && play.done_reason == 0xfe);
    SEND(&play, "\x90\4\0\4\0\xfe");
    assert_true(play.done_id == 4 && play.done_reason == 0xfe && play.dones == 4);
    assert_int_equal(play.mqtt.out_used, 0);
    SEND(&play, "\xe0\1\xfe");
    assert_true(play.disconnected == 1 && play.reason == 0xfe);
    play_close(&play);
    play_open(&play, 5);
    play_start(&play);
    SEND(&play, "\x20\3\0\xfe\0");
    assert_true(play.refused == 1 && play.connected == 0);
    play_close(&play);
}

static void ids_in_use_are_not_given_again(void **state)
{
    struct play play;
    (void)state;
    play_open(&play, 4);
    play_start(&play);
    play_up(&play, false);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "x", 1, 1, 0), 1);
    play.mqtt.next_id = 65534;
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "x", 1, 1, 0), 65535);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "x", 1, 2, 0), 2);
    play_run(&play, 1000);
    SEND(&play, "\x50\2\0\2");  // of QoS 2 it is taken until PUBCOMP
    play.mqtt.next_id = 65534;
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "x", 1, 1, 0), 3);
    SEND(&play, "\x70\2\0\2");
    play.mqtt.next_id = 1;
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "x", 1, 1, 0), 2);
    play_close(&play);
}

static void the_end_is_said(void **state)
{
    struct play play;
    uint8_t packet[1024];
    (void)state;
    play_open(&play, 4);
    play_start(&play);
    play_up(&play, false);
    play.stop_on_message = true;  // within a callback
    SEND(&play, "\x30\3\0\1a\x30\3\0\1a");
    assert_int_equal(play.messages, 1);
    assert_int_equal(play.mqtt.state, MQTT_STOPPED);
    play_run(&play, SECOND);
    EXPECT(&play, "\xe0\0");
    assert_int_equal(play_packet(&play, packet), 0);
    assert_int_equal(mqtt_publish(&play.mqtt, "a", "x", 1, 1, 0), WEIR_INVALID);
    play_close(&play);
}

// What may not be the first packet, or is no CONNACK.
static void wrong_greetings_end_the_connection(void **state)
{
    static const struct {
        const char *bytes;
        uint32_t length;
        uint8_t version;
    } wrong[] = {
        {"\x20\1\0", 3, 4},        // too short
        {"\x20\3\0\0\0", 5, 4},    // properties, which 3.1.1 has not
        {"\x20\2\2\0", 4, 4},      // a flag that is none
        {"\x20\2\1\0", 4, 4},      // a session, which we asked to forget
        {"\x20\2\0\0", 4, 5},      // without properties
        {"\x20\4\0\0\5\0", 6, 5},  // with half of them
        {"\x30\3\0\1a", 5, 4},     // a message
        {"\xd0\0", 2, 4},          // an answer to nothing
        {"\x22\2\0\0", 4, 4},      // flags
    };
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof wrong[0]; i++) {
        struct play play;
        play_open(&play, wrong[i].version);
        play.config.clean = true;
        play_start(&play);
        play_send(&play, wrong[i].bytes, wrong[i].length);
        if (play.mqtt.count.protocol_errors != 1 || play.connected != 0)
            fail_msg("%zu: %u, %u", i, play.mqtt.count.protocol_errors, play.connected);
        play_close(&play);
    }
}

// A server that says goodbye is believed, with its reason or without one.
static void the_servers_farewell_is_told(void **state)
{
    struct play play;
    (void)state;
    for (uint32_t reason = 0; reason < 2; reason++) {
        play_open(&play, 5);
        play_start(&play);
        play_up(&play, false);
        if (reason)
            SEND(&play, "\xe0\2\x8b\0");  // shutting down
        else
            SEND(&play, "\xe0\0");
        assert_int_equal(play.disconnected, 1);
        assert_int_equal(play.reason, reason ? 0x8b : 0);
        assert_int_equal(play.mqtt.count.protocol_errors, 0);
        play_close(&play);
    }
}

// More messages of QoS 2 than may wait for their release.
static void unreleased_messages_are_bounded(void **state)
{
    struct play play;
    (void)state;
    play_open(&play, 4);
    play_start(&play);
    play_up(&play, false);
    for (uint32_t id = 1; id <= MQTT_RECEIVED_MAX; id++) {
        const uint8_t message[] = {0x34, 6, 0, 1, 'a', 0, (uint8_t)id, 'x'};
        play_send(&play, message, sizeof message);
    }
    assert_int_equal(play.messages, MQTT_RECEIVED_MAX);
    assert_int_equal(play.disconnected, 0);
    SEND(&play, "\x3c\6\0\1a\0\1x");  // one of these again
    assert_int_equal(play.disconnected, 0);
    const uint8_t more[] = {0x34, 6, 0, 1, 'a', 0, MQTT_RECEIVED_MAX + 1, 'x'};
    play_send(&play, more, sizeof more);
    assert_int_equal(play.disconnected, 1);
    assert_int_equal(play.messages, MQTT_RECEIVED_MAX);
    play_close(&play);
}

static void configurations_that_lack_something_are_refused(void **state)
{
    struct play play;
    (void)state;
    play_open(&play, 4);
    struct mqtt_config bad[12];
    for (uint32_t i = 0; i < 12; i++)
        bad[i] = play.config;
    bad[0].client_id = NULL;
    bad[1].out = NULL;
    bad[2].in = NULL;
    bad[3].in_bytes = 8;
    bad[4].out_bytes = 8;
    bad[5].event = NULL;
    bad[6].message = NULL;
    bad[7].password = "secret";  // without a user, in 3.1.1
    bad[8].client_id = "\xff";
    bad[9].will_topic = "a";
    bad[9].will_qos = 3;
    bad[10].will_topic = "\xff";
    bad[11].version = 6;
    for (uint32_t i = 0; i < 12; i++)
        if (mqtt_start(&play.mqtt, &play.b.loop, &bad[i]) != WEIR_INVALID)
            fail_msg("%u", i);
    bad[7].version = 5;
    assert_int_equal(mqtt_start(&play.mqtt, &play.b.loop, &bad[7]), WEIR_OK);
    play_close(&play);
}

static void odd_configurations_are_refused(void **state)
{
    struct play play;
    (void)state;
    play_open(&play, 4);
    struct mqtt_config config = play.config;
    config.client_id = "";
    assert_int_equal(mqtt_start(&play.mqtt, &play.b.loop, &config), WEIR_INVALID);
    config.clean = true;
    config.will_topic = "a/#";
    assert_int_equal(mqtt_start(&play.mqtt, &play.b.loop, &config), WEIR_INVALID);
    config.will_topic = "a";
    config.will_length = 1000;  // CONNECT is larger than the buffer
    config.will = play.payload;
    assert_int_equal(mqtt_start(&play.mqtt, &play.b.loop, &config), WEIR_INVALID);
    config = play.config;
    config.version = 3;
    assert_int_equal(mqtt_start(&play.mqtt, &play.b.loop, &config), WEIR_INVALID);
    play_close(&play);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(connect_says_all),
        cmocka_unit_test(nothing_is_sent_before_connack),
        cmocka_unit_test(refusals_are_told),
        cmocka_unit_test(messages_are_acknowledged_by_their_quality),
        cmocka_unit_test(empty_messages_are_messages),
        cmocka_unit_test(arriving_messages_are_delivered_once),
        cmocka_unit_test(qos_2_outlives_connections),
        cmocka_unit_test(a_pubrel_again_may_find_the_id_forgotten),
        cmocka_unit_test(a_lost_session_begins_anew),
        cmocka_unit_test(subscriptions_end_with_a_code),
        cmocka_unit_test(packets_come_in_any_pieces),
        cmocka_unit_test(wrong_packets_end_the_connection),
        cmocka_unit_test(keep_alive_counts_from_the_last_packet_sent),
        cmocka_unit_test(the_server_sets_limits),
        cmocka_unit_test(retries_grow_rare),
        cmocka_unit_test(silence_ends_a_connection_that_begins),
        cmocka_unit_test(the_name_is_asked_for_each_time),
        cmocka_unit_test(memory_is_bounded),
        cmocka_unit_test(a_server_that_does_not_read_is_left),
        cmocka_unit_test(packets_are_never_mixed),
        cmocka_unit_test(unknown_reasons_are_told),
        cmocka_unit_test(ids_in_use_are_not_given_again),
        cmocka_unit_test(the_end_is_said),
        cmocka_unit_test(wrong_greetings_end_the_connection),
        cmocka_unit_test(the_servers_farewell_is_told),
        cmocka_unit_test(unreleased_messages_are_bounded),
        cmocka_unit_test(configurations_that_lack_something_are_refused),
        cmocka_unit_test(odd_configurations_are_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
