// SPDX-License-Identifier: BSD-2-Clause
#include "virtual_kernel.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

uint64_t now_us;
char trace[256];
struct thread threads[THREADS];
static uint64_t alarm_us;
static uint64_t stacks[THREADS + 1][STACK_BYTES / 8];
uint64_t virtual_idle_stack[STACK_BYTES / 8];
static struct thread starter;
static thread_entry *scenario;

uint64_t virtual_now(void) { return now_us; }
void virtual_alarm(uint64_t at_us) { alarm_us = at_us; }
void virtual_idle(void)
{
    if (alarm_us == KERNEL_NEVER)
        host_finish();
    now_us = alarm_us > now_us ? alarm_us : now_us;
    alarm_us = KERNEL_NEVER;
    kernel_timer();
}
void virtual_overflow(struct thread *thread)
{
    (void)thread;
    say('!');
    host_finish();
}

void say(char letter)
{
    const size_t length = strlen(trace);
    if (length + 1 < sizeof trace)
        trace[length] = letter;
}

void say_if(bool expected, char letter) { say(expected ? letter : '!'); }

void compute(uint64_t us)
{
    for (; us; us--) {
        if (++now_us < alarm_us)
            continue;
        alarm_us = KERNEL_NEVER;
        in_interrupt(kernel_timer);
    }
}

void in_interrupt(void (*what)(void))
{
    host_interrupt_begins();
    what();
    host_interrupt_ends();
}

void spawn(uint32_t index, uint8_t priority, thread_entry *entry, intptr_t argument)
{
    const struct thread_config config = {"test", entry, (void *)argument, stacks[index], STACK_BYTES, priority};
    host_stack_renew(stacks[index], STACK_BYTES);
    if (!thread_create(&threads[index], &config))
        say('!');
}

static void start(void *unused)
{
    scenario(unused);
    host_finish();
}

const char *run(thread_entry *entry)
{
    static const struct kernel_board board = VIRTUAL_BOARD;
    const struct thread_config config = {"start", start, NULL, stacks[THREADS], STACK_BYTES, MAIN_PRIORITY};
    scenario = entry;
    host_stack_renew(stacks, sizeof stacks);
    host_stack_renew(virtual_idle_stack, sizeof virtual_idle_stack);
    memset(trace, 0, sizeof trace);
    now_us = 1000;
    alarm_us = KERNEL_NEVER;
    assert_true(kernel_init(&board));
    assert_true(thread_create(&starter, &config));
    host_run();
    return trace;
}
