// SPDX-License-Identifier: BSD-2-Clause
// An echo server (TCP port 7) on the preemptive kernel, with blocking BSD sockets: four connections, each with a thread
// of its own. With BUSY (busy_echo.c) a thread of the lowest priority computes all the time, one of the highest wants
// to run every millisecond, and port 9 tells how far the one is, how late the other came at the worst, and what the
// stacks have left.
#include "boards/board.h"
#include "boards/overflow.h"
#include "boards/start.h"
#include "ports/preempt/preempt_port.h"
#include "bsd/posix_calls.h"
#include "bsd/posix_names.h"

#ifndef BUSY
#define BUSY 0
#endif
#define CONNECTIONS 4
#define DESCRIPTORS (CONNECTIONS + 1 + 2 * BUSY)
#define BSD_BYTES (256 + DESCRIPTORS * 128)  // neither wait sets nor polls
#define ECHO_BYTES (BUSY ? 256 : 64)         // moved at once, by way of the thread's stack
#ifndef STACK_UNIT
#define STACK_UNIT 256  // idle's, which needs the least; Cortex-M's
#endif
#define ECHO_STACK (BUSY ? 4 * STACK_UNIT : 576)  // 428 are used; what the stack does has its own
#define IO_STACK (BUSY ? 6 * STACK_UNIT : 1344)
#define IDLE_STACK STACK_UNIT
enum { BUSY_PRIORITY = 1, ECHO_PRIORITY = 10, IO_PRIORITY = 20, URGENT_PRIORITY = 30 };

#if WEIR_CFG_ALLOCATOR
#define ALLOCATOR .alloc = board_alloc, .free = board_free
#define MEMORY NULL
#define BSD_MEMORY NULL
enum { INSTANCE_BYTES = 0, CALLS_BYTES = 0 };
#else
#define ALLOCATOR .alloc = NULL
#define MEMORY memory
#define BSD_MEMORY bsd_memory
static uint64_t memory[MEMORY_BYTES / 8], bsd_memory[BSD_BYTES / 8];
enum { INSTANCE_BYTES = sizeof memory, CALLS_BYTES = sizeof bsd_memory };
#endif
static uint64_t echo_stacks[CONNECTIONS][ECHO_STACK / 8], io_stack[IO_STACK / 8], idle_stack[IDLE_STACK / 8];
static struct thread echoers[CONNECTIONS];
static struct preempt_port port;
static struct weir_netif netif;
static int listener;

void board_timer(void) { kernel_timer(); }
void board_interrupt(void) { preempt_port_interrupt(&port); }

static void echo(int connection)
{
    char data[ECHO_BYTES];
    for (int got; (got = (int)recv(connection, data, sizeof data, 0)) > 0;)
        for (int sent = 0, some; sent < got; sent += some)
            if ((some = (int)send(connection, data + sent, (size_t)(got - sent), 0)) < 0)
                return;
}

// Each takes the next connection for itself: they wait in turn at the one listener.
static void echoer(void *unused)
{
    (void)unused;
    for (;;) {
        const int connection = accept(listener, NULL, NULL);
        if (connection < 0)
            continue;
        thread_yield();  // the next is at the listener before this connection, which may keep us busy, has its turn
        echo(connection);
        close(connection);
    }
}

static int listen_at(uint16_t number, int backlog)
{
    const struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons(number)};
    const int fd = socket(AF_INET, SOCK_STREAM, 0);
    return fd >= 0 && bind(fd, (const struct sockaddr *)&local, sizeof local) == 0 && listen(fd, backlog) == 0 ? fd
                                                                                                               : -1;
}

static bool spawn(struct thread *thread, const char *name, thread_entry *entry, void *stack, size_t bytes,
                  uint8_t priority)
{
    return thread_create(thread, &(struct thread_config){name, entry, NULL, stack, bytes, priority});
}

#if BUSY
#define REPORT_STACK (6 * STACK_UNIT)
static uint64_t busy_stack[2 * STACK_UNIT / 8], urgent_stack[2 * STACK_UNIT / 8], report_stack[REPORT_STACK / 8];
static struct thread busy_thread, urgent_thread, report_thread;
static volatile uint32_t rounds, beats, latest_us;  // latest_us: since the last report

static void busy(void *unused)
{
    (void)unused;
    for (;;)
        rounds++;
}

static void urgent(void *unused)
{
    (void)unused;
    for (uint64_t moment_us = board_now_us();; beats++) {
        (void)thread_sleep_until(moment_us += 1000);
        const uint64_t late_us = board_now_us() - moment_us;
        if (late_us > latest_us)
            latest_us = (uint32_t)late_us;
        moment_us += late_us / 1000 * 1000;  // those that were missed are not made up for
    }
}

static void tell(int connection, const char *name, uint32_t value)
{
    char line[40];
    uint32_t length = 0, divisor = 1000000000;
    while (name[length] && length < 24)
        line[length] = name[length], length++;
    line[length++] = ' ';
    while (divisor > 1 && value / divisor == 0)
        divisor /= 10;
    for (; divisor; divisor /= 10)
        line[length++] = (char)('0' + value / divisor % 10);
    line[length++] = '\n';
    (void)send(connection, line, length, 0);
}

static int reports;
static void reporter(void *unused)
{
    (void)unused;
    for (;;) {
        const int connection = accept(reports, NULL, NULL);
        if (connection < 0)
            continue;
        tell(connection, "busy", rounds);
        tell(connection, "beats", beats);
        tell(connection, "late_us", latest_us);
        latest_us = 0;
        tell(connection, "steps_back", port.steps_back);
        tell(connection, "stack.io", (uint32_t)thread_stack_unused(&port.thread));
        for (uint32_t i = 0; i < CONNECTIONS; i++)
            tell(connection, "stack.echo", (uint32_t)thread_stack_unused(&echoers[i]));
        tell(connection, "turns", port.core.turns);
        tell(connection, "sleeps", port.sleeps);
        tell(connection, "instance", (uint32_t)weir_size(NULL));
        close(connection);
    }
}

static bool more_threads(void)
{
    reports = listen_at(9, 1);  // before it is told that somebody listens
    return spawn(&busy_thread, "busy", busy, busy_stack, sizeof busy_stack, BUSY_PRIORITY) &&
           spawn(&urgent_thread, "urgent", urgent, urgent_stack, sizeof urgent_stack, URGENT_PRIORITY) &&
           spawn(&report_thread, "report", reporter, report_stack, sizeof report_stack, ECHO_PRIORITY);
}
#else
static bool more_threads(void) { return true; }
#endif

static bool start_stack(void)
{
    static const struct port_board board = {
        .now_us = board_now_us, .granularity_us = 1, .entropy = board_entropy, ALLOCATOR};
    static const struct weir_bsd_config config = {.descriptors = DESCRIPTORS,
                                                  .memory = BSD_MEMORY,
                                                  .memory_bytes = CALLS_BYTES,
                                                  .set_errno = preempt_port_set_errno};
    static volatile bool unused;
    preempt_port_init(&port, &board);
    board_ethernet(&netif, &unused);
    struct weir *weir = board_start(&port.core, &netif, MEMORY, INSTANCE_BYTES);
    if (!weir)
        return false;
    const struct thread_config io = {.stack = io_stack, .stack_bytes = sizeof io_stack, .priority = IO_PRIORITY};
    struct weir_bsd *bsd = preempt_port_start(&port, &io, BUSY_PRIORITY) ? bsd_create(weir, &config) : NULL;
    weir_posix_use(bsd);
    return bsd;
}

// What it needs of the stack is over before the echoing begins.
__attribute__((noinline)) static bool start(void)
{
    listener = start_stack() ? listen_at(7, CONNECTIONS) : -1;
    bool good = listener >= 0 && more_threads();
    for (uint32_t i = 1; i < CONNECTIONS; i++)
        good = good && spawn(&echoers[i], "echo", echoer, echo_stacks[i], ECHO_STACK, ECHO_PRIORITY);
    board_puts(good ? "weir: echo on port 7\n" : "weir: no memory, or no interface\n");
    return good;
}

// The first thread of all: calls that may wait for the lock need one. Its stack becomes the first echoer's.
static void first(void *unused)
{
    if (start())
        echoer(unused);
}

int main(void)
{
    static const struct kernel_board board = {board_now_us,   board_alarm, board_idle,
                                              board_overflow, idle_stack,  sizeof idle_stack};
    board_init();
    if (!kernel_init(&board) || !spawn(&echoers[0], "echo", first, echo_stacks[0], ECHO_STACK, ECHO_PRIORITY)) {
        board_puts("weir: no memory\n");
        return 1;
    }
    kernel_start();
}
