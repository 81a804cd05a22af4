// SPDX-License-Identifier: BSD-2-Clause
// alarm ends what a thread waits in: LyraOS's calls and its wait queues over the preemptive kernel, in virtual time.
#include <setjmp.h>
#include <stdarg.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "api/lyraos/lyraos.h"
#include "api/lyraos/alarm.h"
#include "api/lyraos/wait.h"
#include "kernel/preempt/arch/host.h"
#include "ports/preempt/preempt_port.h"

#define STACK_BYTES ((size_t)262144)
#define SECOND UINT64_C(1000000)
enum { MAIN = 10, IO = 20 };

static uint64_t now_us, alarm_us;
static uint64_t stacks[3][STACK_BYTES / 8];
static struct thread starter;
static struct preempt_port port;
static struct signals signals;
static struct wait_queue_entry *queue;
static int seen;
static bool good;

static uint64_t board_now(void) { return now_us; }
static void board_alarm(uint64_t at_us) { alarm_us = at_us; }
static void board_idle(void)
{
    now_us = alarm_us > now_us ? alarm_us : now_us;
    alarm_us = KERNEL_NEVER;
    kernel_timer();
}
static void board_overflow(struct thread *thread)
{
    (void)thread;
    abort();
}
static void entropy(void *out, size_t bytes) { memset(out, 0x5a, bytes); }
static void on_alarm(int signal) { seen += signal; }

static int last_errno(void) { return (int)thread_self()->user; }
static bool took(uint64_t since_us, uint64_t us) { return now_us >= since_us + us && now_us < since_us + us + 10000; }

static void scenario(void)
{
    const struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons(9)};
    char byte;
    good &= alarm(1) == 0;  // gets no signals yet
    signals_init(&signals, thread_self());
    signal_set(&signals, SIGALRM, on_alarm);
    const int s = socket(AF_INET, SOCK_DGRAM, 0);
    good &= s >= 0 && bind(s, (const struct sockaddr *)&local, sizeof local) == 0;

    uint64_t began_us = now_us;
    good &= alarm(2) == 0;
    good &= recv(s, &byte, 1, 0) == -1 && last_errno() == EINTR && took(began_us, 2 * SECOND);
    good &= signal_deliver() == 1 && seen == SIGALRM;

    fd_set set;
    FD_ZERO(&set);
    FD_SET(s, &set);
    began_us = now_us;
    good &= alarm(5) == 0 && alarm(3) == 5;
    good &= select(0, &set, NULL, NULL, NULL) == -1 && last_errno() == EINTR && took(began_us, 3 * SECOND);
    good &= signal_deliver() == 1 && seen == 2 * SIGALRM;

    began_us = now_us;
    good &= alarm(1) == 0;
    interruptible_sleep_on(&queue);
    good &= took(began_us, SECOND) && !queue && signal_deliver() == 1;

    // Taken back: the socket's own time ends the wait.
    struct timeval time = {4, 0};
    good &= alarm(2) == 0 && alarm(0) == 2;
    began_us = now_us;
    good &= select(0, &set, NULL, NULL, &time) == 0 && took(began_us, 4 * SECOND) && signal_deliver() == 0;
    good &= closesocket(s) == 0;
}

static void start(void *unused)
{
    static const struct port_board board = {board_now, 1, entropy, malloc, free};
    const struct thread_config io = {.stack = stacks[2], .stack_bytes = STACK_BYTES, .priority = IO};
    const struct weir_bsd_config config = {.set_errno = preempt_port_set_errno};
    (void)unused;
    preempt_port_init(&port, &board);
    struct weir *weir = weir_create(NULL, 0, &port.core.port, NULL);
    port_attach(&port.core, weir);
    good &= preempt_port_start(&port, &io, MAIN);
    struct weir_bsd *bsd = bsd_create(weir, &config);
    lyraos_use(bsd);
    scenario();
    bsd_destroy(bsd);
    thread_delete(&port.thread);
    weir_destroy(weir);
    host_finish();
}

static void alarms_end_waits(void **state)
{
    static const struct kernel_board board = {board_now, board_alarm, board_idle, board_overflow, stacks[0], STACK_BYTES};
    const struct thread_config config = {"start", start, NULL, stacks[1], STACK_BYTES, MAIN};
    (void)state;
    host_stack_renew(stacks, sizeof stacks);
    now_us = 1000;
    alarm_us = KERNEL_NEVER;
    good = kernel_init(&board) && thread_create(&starter, &config);
    host_run();
    assert_true(good);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(alarms_end_waits)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
