// SPDX-License-Identifier: BSD-2-Clause
// The tracer of examples/firmware/traced_echo.c, which runs under the lock in the middle of the stack's work: it never
// waits for the console, what finds no room is counted and told, and a turn of the loop writes one line.
#include "fixture.h"

#include <stdio.h>

#define MEMORY_BYTES 8
#define main traced_echo_main
#include "examples/firmware/traced_echo.c"
#undef main

static bool under_lock;
static char written[256];
static uint32_t lines;

void board_puts(const char *text)
{
    assert_false(under_lock);
    (void)snprintf(written, sizeof written, "%s", text);
    lines++;
}

// Of a board, which is not here.
bool apps_board_start(struct apps_board *at, void *bytes, size_t count)
{
    return (void)at, (void)bytes, (void)count, 0;
}
uint64_t apps_board_turn(struct apps_board *at) { return (void)at, WEIR_NEVER; }
void apps_board_sleep(struct apps_board *at, uint64_t until_us) { (void)at, (void)until_us; }

static void tell(uint32_t count)
{
    const struct weir_trace_event event = {.kind = WEIR_TRACE_TIMER, .what = "keep-alive", .now_us = UINT64_C(1) << 40};
    under_lock = true;
    for (uint32_t i = 0; i < count; i++)
        told(NULL, &event);
    under_lock = false;
}

static void the_console_is_not_waited_for_under_the_lock(void **state)
{
    (void)state;
    tell(EVENTS + 5);
    for (uint32_t i = 0; i < EVENTS; i++) {
        assert_int_equal(lines, i);
        assert_int_equal(write_next(7), 0);
        assert_non_null(strstr(written, "trace 1099511627776 timer "));  // a number of 64 bits
    }
    assert_int_equal(write_next(7), 7);
    assert_string_equal(written, "trace-lost 5\n");
    tell(1);
    assert_int_equal(write_next(7), 7);
    assert_non_null(strstr(written, "keep-alive\n"));
    lines = 0;
    assert_int_equal(write_next(7), 7);
    assert_int_equal(lines, 0);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_console_is_not_waited_for_under_the_lock),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
