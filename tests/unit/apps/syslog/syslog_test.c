// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// profiles: small_apps small6_apps
#include "apps/bench.h"

#include "syslog/syslog.h"

#define SECOND 1000000u
#define COUNT(array) (sizeof(array) / sizeof *(array))

static char line[SYSLOG_MESSAGE_MAX + 1];

static const char *emit(const struct syslog_message *message, uint32_t room)
{
    line[syslog_emit(message, line, room)] = '\0';
    return line;
}

static void a_message_is_as_in_the_rfc(void **state)
{
    static const struct syslog_parameter parameters[] = {
        {"iut", "3"}, {"eventSource", "Application"}, {"eventID", "1011"}};
    (void)state;
    const struct syslog_message message = {.facility = 20,
                                           .severity = SYSLOG_NOTICE,
                                           .unix_us = 1065910455003000,
                                           .host = "mymachine.example.com",
                                           .app = "evntslog",
                                           .id = "ID47",
                                           .data_id = "exampleSDID@32473",
                                           .parameters = parameters,
                                           .parameter_count = COUNT(parameters),
                                           .text = "An application event",
                                           .text_bytes = 20};
    assert_string_equal(emit(&message, sizeof line),
                        "<165>1 2003-10-11T22:14:15.003000Z mymachine.example.com evntslog - ID47 [exampleSDID@32473 "
                        "iut=\"3\" eventSource=\"Application\" eventID=\"1011\"] An application event");
    assert_string_equal(emit(&(struct syslog_message){.severity = 7}, sizeof line), "<7>1 - - - - - -");
}

static void days_are_the_calendars(void **state)
{
    static const struct {
        uint64_t unix_s;
        const char *day;
    } days[] = {{1, "1970-01-01T00:00:01"},          {951782399, "2000-02-28T23:59:59"},
                {951782400, "2000-02-29T00:00:00"},  {951868800, "2000-03-01T00:00:00"},
                {1709164800, "2024-02-29T00:00:00"}, {1735689599, "2024-12-31T23:59:59"},
                {4107542400, "2100-03-01T00:00:00"}, {253402300799, "9999-12-31T23:59:59"}};
    (void)state;
    for (uint32_t i = 0; i < COUNT(days); i++) {
        const struct syslog_message message = {.unix_us = days[i].unix_s * 1000000 + 42};
        char wanted[64] = "<0>1 ";
        strcat(strcat(wanted, days[i].day), ".000042Z - - - - -");
        assert_string_equal(emit(&message, sizeof line), wanted);
    }
    assert_string_equal(emit(&(struct syslog_message){.unix_us = 253402300800000000}, sizeof line), "<0>1 - - - - - -");
}

static void what_may_not_stand_in_a_message_does_not(void **state)
{
    static const struct syslog_parameter parameters[] = {{"a=]\"b", "\"quoted\" \\ ]\n"}, {"", NULL}};
    (void)state;
    const struct syslog_message message = {.host = "a b\xff",
                                           .app = "",
                                           .data_id = "x y",
                                           .parameters = parameters,
                                           .parameter_count = COUNT(parameters),
                                           .text = "one\ntwo\x7f\xc3\xa9",
                                           .text_bytes = 10};
    assert_string_equal(emit(&message, sizeof line),
                        "<0>1 - a?b? - - - [x?y a???b=\"\\\"quoted\\\" \\\\ \\] \" ?=\"\"] "
                        "one two \xc3\xa9");
    assert_int_equal(syslog_emit(&(struct syslog_message){.severity = 8}, line, sizeof line), 0);
    assert_int_equal(syslog_emit(&(struct syslog_message){.facility = 24}, line, sizeof line), 0);
}

static void long_fields_and_texts_are_cut(void **state)
{
    char name[300];
    (void)state;
    memset(name, 'n', sizeof name - 1);
    name[sizeof name - 1] = '\0';
    const struct syslog_message message = {
        .host = name, .app = name, .process = name, .id = name, .text = name, .text_bytes = sizeof name - 1};
    const uint32_t header =
        5 + 2 + SYSLOG_HOST_MAX + 1 + SYSLOG_APP_MAX + 1 + SYSLOG_PROCESS_MAX + 1 + SYSLOG_ID_MAX + 2;
    assert_int_equal(syslog_emit(&message, line, sizeof line), header + 1 + 299);
    assert_int_equal(syslog_emit(&message, line, header + 11), header + 10);
    assert_int_equal(syslog_emit(&message, line, header), 0);
}

// --- the client against a server on the same instance ----------------------------------------------------------------

struct play {
    struct bench b;
    struct syslog log;
    struct syslog_config config;
    weir_socket server, peer;
    uint8_t queue[3 * (SYSLOG_MESSAGE_MAX + 2)];
    char got[8192];
};

static struct play play;

static void server_open(enum weir_socket_type type)
{
    const struct weir_endpoint local = {weir_addr_any(), SYSLOG_PORT};
    play.server = weir_socket_open(play.b.f.weir, type, 0);
    assert_int_equal(weir_socket_set(play.b.f.weir, play.server, WEIR_OPTION_REUSE_ADDRESS, 1), WEIR_OK);
    assert_int_equal(weir_socket_bind(play.b.f.weir, play.server, &local), WEIR_OK);
    if (type == WEIR_STREAM)
        assert_int_equal(weir_socket_listen(play.b.f.weir, play.server, 4), WEIR_OK);
}

static void play_open(enum syslog_transport transport, bool serving)
{
    memset(&play, 0, sizeof play);
    bench_open(&play.b);
    if (serving)
        server_open(transport == SYSLOG_TCP ? WEIR_STREAM : WEIR_DATAGRAM);
    play.config = (struct syslog_config){.transport = transport,
                                         .server = bench_here(0),
                                         .app = "t",
                                         .queue = play.queue,
                                         .queue_bytes = sizeof play.queue};
    assert_int_equal(syslog_start(&play.log, &play.b.loop, &play.config), WEIR_OK);
}

static void play_close(void)
{
    syslog_stop(&play.log);
    if (play.peer > 0)
        (void)weir_socket_close(play.b.f.weir, play.peer);
    if (play.server > 0)
        assert_int_equal(weir_socket_close(play.b.f.weir, play.server), WEIR_OK);
    bench_close(&play.b);
}

static const char *datagram(void)
{
    struct weir_message message;
    struct weir_slice slice;
    if (weir_socket_peek_message(play.b.f.weir, play.server, &message, &slice) < 0)
        return "";
    memcpy(play.got, slice.data, slice.length);
    play.got[slice.length] = '\0';
    assert_int_equal(weir_socket_discard(play.b.f.weir, play.server), WEIR_OK);
    return play.got;
}

static const char *stream(void)
{
    if (play.peer <= 0)
        play.peer = weir_socket_accept(play.b.f.weir, play.server);
    (void)bench_read(&play.b, play.peer, play.got, sizeof play.got, NULL);
    return play.got;
}

static void datagrams_are_messages(void **state)
{
    (void)state;
    play_open(SYSLOG_UDP, true);
    assert_int_equal(syslog_text(&play.log, SYSLOG_ERROR, "one"), WEIR_OK);
    assert_int_equal(syslog_text(&play.log, SYSLOG_INFO, "two"), WEIR_OK);
    bench_run(&play.b, 1000);
    assert_string_equal(datagram(), "<3>1 - - t - - - one");
    assert_string_equal(datagram(), "<6>1 - - t - - - two");
    assert_int_equal(syslog_text(&play.log, SYSLOG_INFO, "three"), WEIR_OK);
    bench_run(&play.b, 1000);
    assert_string_equal(datagram(), "<6>1 - - t - - - three");
    assert_false(syslog_pending(&play.log));
    assert_int_equal(play.log.count.sent, 3);
    play_close();
}

static void what_finds_no_room_is_counted_and_told(void **state)
{
    char text[SYSLOG_MESSAGE_MAX];
    (void)state;
    play_open(SYSLOG_TCP, false);
    memset(text, 'x', sizeof text - 1);
    text[sizeof text - 1] = '\0';
    assert_int_equal(syslog_text(&play.log, SYSLOG_INFO, text), WEIR_OK);
    assert_int_equal(syslog_text(&play.log, SYSLOG_INFO, text), WEIR_OK);
    assert_int_equal(syslog_text(&play.log, SYSLOG_INFO, text), WEIR_OK);
    assert_int_equal(syslog_text(&play.log, SYSLOG_INFO, "lost"), WEIR_AGAIN);
    assert_int_equal(syslog_text(&play.log, SYSLOG_INFO, "lost"), WEIR_AGAIN);
    server_open(WEIR_STREAM);
    bench_run(&play.b, 3 * SECOND);
    assert_true(strlen(stream()) == 3 * (SYSLOG_MESSAGE_MAX - 1 + 5));
    assert_int_equal(syslog_text(&play.log, SYSLOG_INFO, "next"), WEIR_OK);
    bench_run(&play.b, 1000);
    assert_string_equal(stream(), "40 <4>1 - - t - - - 2 messages were dropped"
                                  "21 <6>1 - - t - - - next");
    assert_int_equal(play.log.count.dropped, 2);
    play_close();
}

static void octets_are_counted_on_a_stream(void **state)
{
    (void)state;
    play_open(SYSLOG_TCP, true);
    assert_int_equal(syslog_text(&play.log, SYSLOG_ERROR, "one"), WEIR_OK);
    assert_int_equal(syslog_text(&play.log, SYSLOG_ERROR, ""), WEIR_OK);
    bench_run(&play.b, 10000);
    assert_string_equal(stream(), "20 <3>1 - - t - - - one16 <3>1 - - t - - -");
    play_close();
}

static void a_server_that_goes_is_tried_again_ever_more_rarely(void **state)
{
    (void)state;
    play_open(SYSLOG_TCP, false);
    assert_int_equal(syslog_text(&play.log, SYSLOG_ERROR, "kept"), WEIR_OK);
    bench_run(&play.b, 500 * SECOND);
    // at 0, 1, 3, 7, 15, 31, 63 s, and then each minute
    assert_in_range(play.log.count.failures, 13, 15);
    server_open(WEIR_STREAM);
    bench_run(&play.b, 61 * SECOND);
    assert_string_equal(stream(), "21 <3>1 - - t - - - kept");
    assert_int_equal(weir_socket_write(play.b.f.weir, play.peer, "hello", 5), 5);  // which means nothing
    bench_run(&play.b, 1000);
    assert_int_equal(play.log.state, SYSLOG_UP);
    assert_int_equal(weir_socket_close(play.b.f.weir, play.peer), WEIR_OK);
    play.peer = 0;
    bench_run(&play.b, 500000);
    assert_int_equal(play.log.state, SYSLOG_WAITING);
    assert_int_equal(syslog_text(&play.log, SYSLOG_ERROR, "again"), WEIR_OK);
    bench_run(&play.b, 2 * SECOND);
    assert_string_equal(stream(), "22 <3>1 - - t - - - again");
    play_close();
}

static void what_cannot_be_is_refused(void **state)
{
    (void)state;
    play_open(SYSLOG_UDP, true);
    struct syslog log;
    struct syslog_config bad[] = {play.config, play.config, play.config};
    bad[0].queue_bytes = SYSLOG_MESSAGE_MAX + 1;
    bad[1].server.addr = weir_addr_any();
    bad[2].facility = 24;
    for (uint32_t i = 0; i < COUNT(bad); i++)
        assert_int_equal(syslog_start(&log, &play.b.loop, &bad[i]), WEIR_INVALID);
    assert_int_equal(syslog_text(&play.log, 8, "no such severity"), WEIR_INVALID);
    play_close();
    assert_int_equal(syslog_text(&play.log, SYSLOG_INFO, "stopped"), WEIR_INVALID);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_message_is_as_in_the_rfc),
        cmocka_unit_test(days_are_the_calendars),
        cmocka_unit_test(what_may_not_stand_in_a_message_does_not),
        cmocka_unit_test(long_fields_and_texts_are_cut),
        cmocka_unit_test(datagrams_are_messages),
        cmocka_unit_test(octets_are_counted_on_a_stream),
        cmocka_unit_test(what_finds_no_room_is_counted_and_told),
        cmocka_unit_test(a_server_that_goes_is_tried_again_ever_more_rarely),
        cmocka_unit_test(what_cannot_be_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
