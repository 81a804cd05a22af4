// SPDX-License-Identifier: BSD-2-Clause
// The file of trace events, read back: an event a line, and its fields. That Perfetto's own reader opens it:
// tests/unit/sim.
#define _GNU_SOURCE
#include "drivers/wrap/trace.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include <unistd.h>

#include "weir/netif.h"
#include "weir/version.h"

static char path[64], content[1 << 20];
static struct trace_file file;
static struct trace_source source;

static void open_file(void)
{
    strcpy(path, "/tmp/weir-trace-XXXXXX");
    const int fd = mkstemp(path);
    assert_true(fd >= 0);
    close(fd);
    assert_int_equal(trace_open(&file, path), 0);
    trace_source_init(&source, &file, "a \"host\"\\\n", 1000000);
}

// Of balanced brackets, with a comma before each event but the first.
static void read_back(void)
{
    int depth = 0, lines = 0;
    bool quoted = false;
    assert_int_equal(trace_close(&file), 0);
    FILE *const in = fopen(path, "r");
    assert_non_null(in);
    content[fread(content, 1, sizeof content - 1, in)] = 0;
    fclose(in);
    unlink(path);
    for (const char *at = content; *at; at++) {
        quoted ^= *at == '"';
        depth += quoted ? 0 : *at == '{' || *at == '[' ? 1 : *at == '}' || *at == ']' ? -1 : 0;
        lines += *at == '\n';
        assert_true(depth >= 0);
        if (*at == '\n' && at[1] == '{' && lines > 1)
            assert_int_equal(at[-1], ',');
    }
    assert_int_equal(depth, 0);
    assert_false(quoted);
}

// Takes the next of the file's events that has `text`; fails where there is none.
static const char *position;
static void assert_next(const char *text)
{
    const char *const found = strstr(position, text);
    if (!found)
        fail_msg("no %s after %.200s", text, position);
    position = found + strlen(text);
}

static uint32_t times(const char *text)
{
    uint32_t count = 0;
    for (const char *at = content; (at = strstr(at, text)) != NULL; at += strlen(text))
        count++;
    return count;
}

static struct weir_trace_event of_connection(enum weir_trace_kind kind, const char *what, uint16_t port,
                                             uint64_t now_us)
{
    return (struct weir_trace_event){.kind = kind,
                                     .what = what,
                                     .now_us = now_us,
                                     .local = {weir_ip4(10, 0, 0, 1), 80},
                                     .peer = {weir_ip4(10, 0, 0, 2), port}};
}
static void tell(struct weir_trace_event event) { source.tracer.event(&source.tracer, &event); }

static void states_follow_each_other_on_a_track(void **state)
{
    (void)state;
    open_file();
    assert_int_equal(source.tracer.level, WEIR_TRACE_FRAMES);
    tell(of_connection(WEIR_TRACE_STATE, "SYN-RECEIVED", 1000, 1000005));
    tell(of_connection(WEIR_TRACE_STATE, "ESTABLISHED", 1000, 1000010));
    tell(of_connection(WEIR_TRACE_CONGESTION, "timeout", 1000, 1000020));
    tell(of_connection(WEIR_TRACE_TIMER, "zero-window probe", 1000, 1000030));
    tell(of_connection(WEIR_TRACE_STATE, "TIME-WAIT", 1000, 1000040));
    tell(of_connection(WEIR_TRACE_STATE, "CLOSED", 1000, 999999));  // before the beginning: at it
    read_back();
    position = content;
    assert_next("{\"ph\":\"M\",\"pid\":1,\"tid\":0,\"ts\":0,\"name\":\"process_name\",\"args\":{\"name\":\"a host\"}}");
    assert_next("{\"ph\":\"M\",\"pid\":1,\"tid\":32,\"ts\":0,\"name\":\"thread_name\",\"args\":{\"name\":\"");
    assert_next("10.0.0.1:80 > 10.0.0.2:1000\"}}");
    assert_next("{\"ph\":\"B\",\"pid\":1,\"tid\":32,\"ts\":5,\"name\":\"SYN-RECEIVED\",\"cat\":\"state\"}");
    assert_next("{\"ph\":\"E\",\"pid\":1,\"tid\":32,\"ts\":10,\"name\":\"\"}");
    assert_next("{\"ph\":\"B\",\"pid\":1,\"tid\":32,\"ts\":10,\"name\":\"ESTABLISHED\",\"cat\":\"state\"}");
    assert_next(
        "{\"ph\":\"i\",\"pid\":1,\"tid\":32,\"ts\":20,\"name\":\"timeout\",\"s\":\"t\",\"cat\":\"congestion\"}");
    assert_next("\"ts\":30,\"name\":\"zero-window probe\",\"s\":\"t\",\"cat\":\"timer\"}");
    assert_next("{\"ph\":\"E\",\"pid\":1,\"tid\":32,\"ts\":40,\"name\":\"\"}");
    assert_next("{\"ph\":\"i\",\"pid\":1,\"tid\":32,\"ts\":40,\"name\":\"TIME-WAIT\",\"s\":\"t\",\"cat\":\"state\"}");
    assert_next("\"ts\":0,\"name\":\"CLOSED\"");
    // What an event means it says itself, by names; and the file says whose names they are.
    assert_next("\"otherData\":{\"weir\":\"" WEIR_VERSION_STRING "\",\"lost\":\"0\"}");
    assert_int_equal(times("\"ph\":\"B\""), times("\"ph\":\"E\""));
}

static void windows_are_counters(void **state)
{
    struct weir_trace_event event = of_connection(WEIR_TRACE_WINDOW, "", 1000, 1000100);
    (void)state;
    open_file();
    event.cwnd = 14480;
    event.ssthresh = UINT32_MAX;
    event.in_flight = 1448;
    event.srtt_us = 25000;
    tell(event);
    event.ssthresh = 7240;
    tell(event);
    event.cwnd = 0;  // nothing is in flight, and nothing queued
    tell(event);
    event.kind = WEIR_TRACE_TIMER;
    event.what = "keep-alive";
    event.cwnd = 14480;  // a timer says nothing of windows
    tell(event);
    read_back();
    position = content;
    assert_next("{\"ph\":\"C\",\"pid\":1,\"tid\":0,\"ts\":100,\"name\":\"window 10.0.0.1:80 > 10.0.0.2:1000\"");
    assert_next(",\"args\":{\"cwnd\":14480,\"in flight\":1448}}");
    assert_next("\"name\":\"round trip 10.0.0.1:80 > 10.0.0.2:1000\",\"args\":{\"srtt us\":25000}}");
    assert_next(",\"args\":{\"cwnd\":14480,\"in flight\":1448,\"ssthresh\":7240}}");
    assert_int_equal(times("\"ph\":\"C\""), 4);
}

static void frames_are_on_the_track_of_their_interface(void **state)
{
    struct weir_netif first = {.index = 1, .name = "eth0"}, far = {.index = 40, .name = "far0"};
    struct weir_trace_event event = {.kind = WEIR_TRACE_FRAME, .what = "in", .now_us = 1000001, .bytes = 60};
    (void)state;
    open_file();
    event.netif = &first;
    tell(event);
    tell(event);
    event.netif = &far;  // all beyond the last track share it
    event.what = "out";
    tell(event);
    read_back();
    position = content;
    assert_next("\"tid\":1,\"ts\":0,\"name\":\"thread_name\",\"args\":{\"name\":\"eth0\"}}");
    assert_next("\"tid\":1,\"ts\":1,\"name\":\"in\",\"s\":\"t\",\"cat\":\"frame\",\"args\":{\"bytes\":60}}");
    assert_next("\"tid\":31,\"ts\":0,\"name\":\"thread_name\",\"args\":{\"name\":\"far0\"}}");
    assert_next("\"tid\":31,\"ts\":1,\"name\":\"out\"");
    assert_int_equal(times("eth0"), 1);
    assert_int_equal(times("\"tid\":1,\"ts\":1,"), 2);
}

// A connection that has ended makes room; one beyond the room is counted.
static void connections_beyond_the_room_are_counted(void **state)
{
    (void)state;
    open_file();
    for (uint32_t i = 0; i < TRACE_CONNECTIONS; i++)
        tell(of_connection(WEIR_TRACE_STATE, "ESTABLISHED", (uint16_t)(1000 + i), 1000001));
    tell(of_connection(WEIR_TRACE_STATE, "ESTABLISHED", 9000, 1000002));
    assert_int_equal(file.lost, 1);
    tell(of_connection(WEIR_TRACE_STATE, "CLOSED", 1500, 1000003));
    tell(of_connection(WEIR_TRACE_STATE, "ESTABLISHED", 9000, 1000004));
    tell(of_connection(WEIR_TRACE_STATE, "ESTABLISHED", 1500, 1000005));
    assert_int_equal(file.lost, 2);
    read_back();
    assert_int_equal(times("thread_name"), TRACE_CONNECTIONS + 1);
    position = content;
    assert_next("10.0.0.2:9000\"}}");
    assert_next("\"ts\":4,\"name\":\"ESTABLISHED\"");
    assert_next("\"lost\":\"2\"}");
}

// The same numbers of another host, or on another port of this one, are another connection.
static void a_connection_is_its_four_numbers(void **state)
{
    struct weir_trace_event event = of_connection(WEIR_TRACE_STATE, "ESTABLISHED", 1000, 1000001);
    static struct trace_source second;
    (void)state;
    open_file();
    tell(event);
    event.peer.addr = weir_ip4(10, 0, 0, 3);
    tell(event);
    event.local.addr = weir_ip4(10, 0, 0, 9);
    tell(event);
    event.local.port = 81;
    tell(event);
    tell(event);
    trace_source_init(&second, &file, "other", 0);
    second.tracer.event(&second.tracer, &event);
    read_back();
    assert_int_equal(times("\"pid\":1,\"tid\":0,\"ts\":0,\"name\":\"process_name\""), 1);
    assert_int_equal(times("thread_name"), 5);
    assert_int_equal(times("\"pid\":2,\"tid\":32,\"ts\":1000001,\"name\":\"ESTABLISHED\""), 1);
}

#if WEIR_CFG_IP6
static void addresses_of_ipv6_are_written_out(void **state)
{
    struct weir_trace_event event = of_connection(WEIR_TRACE_STATE, "ESTABLISHED", 1000, 1000001);
    (void)state;
    open_file();
    assert_true(weir_addr_read("fe80::1:2", 9, &event.peer.addr));
    tell(event);
    read_back();
    position = content;
    assert_next("10.0.0.1:80 > fe80::1:2:1000\"}}");
}
#endif

static void what_cannot_be_written_is_told(void **state)
{
    (void)state;
    assert_int_equal(trace_open(&file, "/nowhere/trace.json"), -1);
    assert_int_equal(trace_close(&file), 0);  // there is none
    if (access("/dev/full", W_OK) != 0)
        skip();
    assert_int_equal(trace_open(&file, "/dev/full"), 0);
    trace_source_init(&source, &file, "host", 0);
    assert_int_equal(trace_close(&file), -1);
    assert_null(file.file);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(states_follow_each_other_on_a_track),
        cmocka_unit_test(windows_are_counters),
        cmocka_unit_test(frames_are_on_the_track_of_their_interface),
        cmocka_unit_test(connections_beyond_the_room_are_counted),
        cmocka_unit_test(a_connection_is_its_four_numbers),
#if WEIR_CFG_IP6
        cmocka_unit_test(addresses_of_ipv6_are_written_out),
#endif
        cmocka_unit_test(what_cannot_be_written_is_told),
    };
    return cmocka_run_group_tests_name("drivers/wrap/trace", tests, NULL, NULL);
}
