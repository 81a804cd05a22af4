// SPDX-License-Identifier: BSD-2-Clause
// An event of each kind as a line of a log.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "trace_text.h"
#include "weir/netif.h"

static char line[TRACE_TEXT_BYTES];

static const char *text_of(const struct weir_trace_event *event)
{
    struct text out;
    text_init(&out, line, sizeof line);
    trace_text(&out, event);
    text_char(&out, '\n');
    assert_false(out.cut);
    return line;
}

static struct weir_trace_event of_connection(enum weir_trace_kind kind, const char *what)
{
    return (struct weir_trace_event){.kind = kind,
                                     .what = what,
                                     .now_us = 12345678,
                                     .local = {.addr = weir_ip4(10, 0, 0, 2), .port = 7},
                                     .peer = {.addr = weir_ip4(10, 0, 0, 1), .port = 4711},
                                     .ssthresh = UINT32_MAX};
}

static void what_happens_to_a_connection(void **state)
{
    struct weir_trace_event event = of_connection(WEIR_TRACE_STATE, "ESTABLISHED");
    (void)state;
    assert_string_equal(text_of(&event), "12.345678 10.0.0.2:7 > 10.0.0.1:4711 state ESTABLISHED\n");
    event = of_connection(WEIR_TRACE_CONGESTION, "timeout");
    event.cwnd = 1448;
    assert_string_equal(text_of(&event), "12.345678 10.0.0.2:7 > 10.0.0.1:4711 congestion timeout cwnd 1448\n");
    event = of_connection(WEIR_TRACE_TIMER, "zero-window probe");
    assert_string_equal(text_of(&event), "12.345678 10.0.0.2:7 > 10.0.0.1:4711 timer zero-window probe\n");
}

static void windows_have_the_numbers_that_are_known(void **state)
{
    struct weir_trace_event event = of_connection(WEIR_TRACE_WINDOW, "window");
    (void)state;
    event.cwnd = 14480;
    event.now_us = 5;
    assert_string_equal(text_of(&event), "0.000005 10.0.0.2:7 > 10.0.0.1:4711 window cwnd 14480\n");
    event.ssthresh = 11584;
    event.in_flight = 1448;
    event.srtt_us = 24391;
    assert_string_equal(text_of(&event), "0.000005 10.0.0.2:7 > 10.0.0.1:4711 window cwnd 14480 ssthresh 11584 "
                                         "in flight 1448 rtt 24391 us\n");
}

static void frames_have_their_interface(void **state)
{
    const struct weir_netif netif = {.name = "eth0"};
    const struct weir_trace_event event = {
        .kind = WEIR_TRACE_FRAME, .what = "in", .now_us = 1000000, .netif = &netif, .bytes = 66};
    (void)state;
    assert_string_equal(text_of(&event), "1.000000 eth0 frame in 66 bytes\n");
}

// With the longest numbers and words that there are.
static void the_longest_line_has_room(void **state)
{
    struct weir_trace_event event = of_connection(WEIR_TRACE_WINDOW, "forty characters, which no name is long:)");
    (void)state;
#if WEIR_CFG_IP6
    static const uint8_t bytes[16] = {0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10,
                                      0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10};
    event.local.addr = event.peer.addr = weir_addr_v6(bytes);
#endif
    event.local.port = event.peer.port = 65535;
    event.now_us = UINT64_MAX;
    event.cwnd = event.in_flight = event.srtt_us = UINT32_MAX;
    event.ssthresh = UINT32_MAX - 1;
    assert_true(strlen(text_of(&event)) > 150);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_happens_to_a_connection),
        cmocka_unit_test(windows_have_the_numbers_that_are_known),
        cmocka_unit_test(frames_have_their_interface),
        cmocka_unit_test(the_longest_line_has_room),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
