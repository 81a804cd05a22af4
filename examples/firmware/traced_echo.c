// SPDX-License-Identifier: BSD-2-Clause
// Echo (port 7), without a kernel, that tells on the console what the stack decides: a line for each event of level 1,
// which tools/board_trace.py makes a file for Perfetto of. The tracer only takes the event into a ring; the loop writes
// it, and what found no room is told as a number.
#include "apps/echo.h"
#include "apps/text.h"
#include "boards/apps_board.h"
#include "boards/board.h"
#include "weir/trace.h"
#include "weir/version.h"

#define EVENTS 32u  // that wait, a power of two

static struct apps_board board;
static struct echo echo;
static uint64_t memory[MEMORY_BYTES / 8];
static struct weir_trace_event events[EVENTS];
static uint32_t head, tail, lost;

static void told(struct weir_tracer *tracer, const struct weir_trace_event *event)
{
    (void)tracer;
    if (tail - head == EVENTS)
        lost++;
    else
        events[tail++ % EVENTS] = *event;
}

// trace TIME KIND LOCAL PEER CWND WHAT
static void write_event(const struct weir_trace_event *event)
{
    static const char *const kinds[] = {"state", "congestion", "timer"};
    char line[160];
    struct text out;
    text_init(&out, line, sizeof line);
    text_put(&out, "trace ");
    text_u64(&out, event->now_us);
    text_char(&out, ' ');
    text_put(&out, kinds[event->kind]);
    text_char(&out, ' ');
    text_endpoint(&out, &event->local);
    text_char(&out, ' ');
    text_endpoint(&out, &event->peer);
    text_char(&out, ' ');
    text_u64(&out, event->cwnd);
    text_char(&out, ' ');
    text_put(&out, event->what);
    text_char(&out, '\n');
    board_puts(line);
}

static void write_lost(void)
{
    char line[32];
    struct text out;
    text_init(&out, line, sizeof line);
    text_put(&out, "trace-lost ");
    text_u64(&out, lost);
    text_char(&out, '\n');
    board_puts(line);
    lost = 0;
}

// One event a turn: the UART is slow, and the network is not to wait for more than a line.
static uint64_t write_next(uint64_t due_us)
{
    if (head != tail)
        write_event(&events[head++ % EVENTS]);
    else if (lost > 0)
        write_lost();
    return head != tail || lost > 0 ? 0 : due_us;
}

int main(void)
{
    static struct weir_tracer tracer = {.event = told, .level = WEIR_TRACE_EVENTS};
    if (!apps_board_start(&board, memory, sizeof memory))
        return 1;
    if (echo_start(&echo, &board.loop, 7) < 0 || weir_trace_set(board.loop.weir, &tracer) < 0) {
        board_puts("weir: no memory for the services, or no tracing\n");
        return 1;
    }
    board_puts("trace-version " WEIR_VERSION_STRING "\nweir: echo on port 7, traced\n");
    for (;;)
        apps_board_sleep(&board, write_next(apps_board_turn(&board)));
}
