// SPDX-License-Identifier: BSD-2-Clause
// Processes and their system calls on the host port, in virtual time: what they may do, how they end, and that all
// comes back.
#include "kernel/preempt/process.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/preempt/arch.h"
#include "virtual_kernel.h"

#define PROCESS_STACK ((size_t)131072)
static uint64_t pool[4 * PROCESS_STACK / 8], reaper_stack[STACK_BYTES / 8];
static struct kmem kmem;
static size_t all_free;
static struct process first, second;
static struct semaphore semaphore;
static int begun;

static bool begins(struct process *process)
{
    process->user = &begun;
    return begun++ < 2;
}
static void ends(struct process *process)
{
    begun--;
    host_stack_renew(process->thread.stack, process->thread.stack_bytes);
    say(process->user == &begun ? 'x' : '!');
}

enum { CALL_SAY = CALL_FIRST, CALL_TAKE, CALL_MISSING, CALL_BEYOND };
static intptr_t call_say(struct process *self, const intptr_t arguments[])
{
    say((char)(arguments[0] + arguments[5]));
    return self->id;
}
static intptr_t call_take(struct process *self, const intptr_t arguments[])
{
    (void)self, (void)arguments;
    return semaphore_take(&semaphore, KERNEL_NEVER) == KERNEL_WOKEN ? 0 : -1;
}
static process_call_handler *const calls[] = {call_say, call_take, NULL};

static thread_entry *scenario;
static void with_processes(void *unused)
{
    static const struct process_system system = {&kmem, calls, 3, begins, ends};
    const struct thread_config reaper = {
        .stack = reaper_stack, .stack_bytes = sizeof reaper_stack, .priority = MAIN_PRIORITY + 50};
    begun = 0;
    semaphore = (struct semaphore){0};
    host_stack_renew(reaper_stack, sizeof reaper_stack);
    host_stack_renew(pool, sizeof pool);
    kmem_init(&kmem, pool, sizeof pool);
    all_free = kmem.free_bytes;
    say_if(process_init(&system, &reaper), '<');
    scenario(unused);
    say_if(kmem.free_bytes == all_free && begun == 0, '>');
}
static const char *run_processes(thread_entry *entry)
{
    scenario = entry;
    return run(with_processes);
}

static bool begin(struct process *process, int (*program)(void *), uint8_t priority)
{
    const struct process_config config = {"test", program, (void *)(intptr_t)'p', PROCESS_STACK, priority};
    return process_start(process, &config);
}
static int status_of(struct process *process)
{
    int status = 99;
    (void)process_wait(process, now_us + 50 * MS, &status);
    return status;
}
static intptr_t put(char letter) { return process_call(CALL_SAY, letter, 0, 0, 0, 0, 0); }
static void put_if(bool expected, char letter) { put(expected ? letter : '!'); }

// --- calls -----------------------------------------------------------------------------------------------------------
static int calling(void *argument)
{
    put_if(put((char)(intptr_t)argument) == process_id(), 'i');
    put_if(process_call(CALL_SAY, 'a', 0, 0, 0, 0, 2) > 0, '6');  // says c: six arguments arrive
    put_if(process_call(CALL_MISSING, 0, 0, 0, 0, 0, 0) == -1, 'm');
    put_if(process_call(CALL_BEYOND, 0, 0, 0, 0, 0, 0) == -1 && process_call(UINT32_MAX, 0, 0, 0, 0, 0, 0) == -1, 'b');
    const uint32_t now_ms = process_now_ms();
    put_if(process_sleep_ms(3) == 0 && process_now_ms() == now_ms + 3, 's');
    return 7;
}
static void one_process(void *unused)
{
    (void)unused;
    say_if(begin(&first, calling, 110), '|');
    say_if(status_of(&first) == 7, 'e');
    // the kernel's threads have no calls
    say_if(system_call(CALL_SAY, (intptr_t[PROCESS_ARGUMENTS + 1]){0}) == -1, 'k');
}
static void test_calls(void **state)
{
    (void)state;
    assert_string_equal(run_processes(one_process), "<pic6mb|sxek>");
}

static int exits(void *unused)
{
    (void)unused;
    process_exit(-3);
}
static void ending(void *unused)
{
    (void)unused;
    begin(&first, exits, 110);  // it is gone before this one goes on
    say_if(first.ended && status_of(&first) == -3 && !process_find(first.id), 'e');
}
static void test_exit(void **state)
{
    (void)state;
    assert_string_equal(run_processes(ending), "<xe>");
}

// --- memory ----------------------------------------------------------------------------------------------------------
static int hoards(void *unused)
{
    (void)unused;
    char *memory[3];
    for (int i = 0; i < 3; i++) {
        memory[i] = process_alloc(1000);
        memset(memory[i], i, 1000);
    }
    process_free(memory[1]);
    process_free(memory[1]);  // is no longer its own
    process_free(&memory);    // never was
    put_if(!process_alloc(SIZE_MAX) && !process_alloc(sizeof pool), 'n');
    return 0;
}
static void memory_returns(void *unused)
{
    (void)unused;
    begin(&first, hoards, 110);
    say_if(kmem.free_bytes == all_free, 'a');
    begin(&first, hoards, 110);
}
static void test_what_was_not_freed_returns(void **state)
{
    (void)state;
    assert_string_equal(run_processes(memory_returns), "<nxanx>");
}

static int sleeps(void *unused)
{
    (void)unused;
    process_alloc(100);
    put_if(process_sleep_ms(10) == 0, 's');
    return 0;
}
static void no_room(void *unused)
{
    (void)unused;
    struct process third;
    const struct process_config huge = {"huge", sleeps, NULL, sizeof pool, 110}, tiny = {"tiny", sleeps, NULL, 64, 110};
    say_if(!process_start(&third, &huge), 'h');
    say_if(!process_start(&third, &tiny) && !begun, 't');  // begun and ended again: x before
    begin(&first, sleeps, 110);
    begin(&second, sleeps, 110);
    say_if(!begin(&third, sleeps, 110), 'b');  // `begins` refused
    begun--;
    (void)status_of(&first), (void)status_of(&second);
}
static void test_a_process_that_cannot_be_leaves_nothing(void **state)
{
    (void)state;
    assert_string_equal(run_processes(no_room), "<hxtbsxsx>");
}

// --- signals and ends ------------------------------------------------------------------------------------------------
static void handler(int signal) { put((char)('a' + signal)); }
static int handling(void *unused)
{
    (void)unused;
    put_if(process_handle(SIGNAL_KILL, handler) == -1 && process_handle(SIGNALS, handler) == -1 &&
               process_handle(0, handler) == -1,
           'h');
    process_handle(SIGNAL_ALARM, handler);
    put_if(process_alarm_ms(5) == 0, '0');
    put_if(process_alarm_ms(3) == 5, '5');
    put_if(process_call(CALL_TAKE, 0, 0, 0, 0, 0, 0) == -1, 'r');  // 'o' comes first
    put_if(process_sleep_ms(1) == 0, 's');
    process_handle(SIGNAL_USER, handler);
    put_if(process_kill(process_id(), SIGNAL_USER) == 0, 'u');  // after 'k'
    put_if(process_kill(999, SIGNAL_USER) == -1 && process_kill(process_id(), SIGNALS) == -1, 'n');
    process_alarm_ms(1);
    put_if(process_pause() == -1, 'p');
    return 0;
}
static void signalled(void *unused)
{
    (void)unused;
    begin(&first, handling, 110);
    (void)status_of(&first);
}
static void test_an_alarm_interrupts_a_call_and_calls_its_handler(void **state)
{
    (void)state;
    assert_string_equal(run_processes(signalled), "<h05orskunopx>");
}

static int waits(void *unused)
{
    (void)unused;
    put('w');
    process_alloc(5000);
    put_if(process_call(CALL_TAKE, 0, 0, 0, 0, 0, 0) == 0, 't');
    return 0;
}
static void killed_in_a_call(void *unused)
{
    (void)unused;
    begin(&first, waits, 110);
    process_signal_send(&first, SIGNAL_KILL);
    say_if(status_of(&first) == -SIGNAL_KILL && !semaphore.waiting.first, 'k');
    begin(&first, waits, 110);
    process_signal_send(&first, SIGNAL_USER);  // without a handler: the call ends, the process goes on
    say_if(status_of(&first) == 0, 'u');
    process_signal_send(&first, SIGNAL_KILL);  // again: nothing
}
static void test_killed_in_a_call(void **state)
{
    (void)state;
    assert_string_equal(run_processes(killed_in_a_call), "<wxkw!xu>");
}

static int computes(void *unused)
{
    (void)unused;
    process_alloc(5000);
    put('c');
    for (;;)
        compute(1);
    return 0;
}
static int kills(void *unused)
{
    (void)unused;
    process_sleep_ms(5);
    put_if(process_kill(first.id, SIGNAL_TERM) == 0, 't');
    return 1;
}
static void killed_computing(void *unused)
{
    (void)unused;
    begin(&first, computes, 20);
    begin(&second, kills, 30);
    say_if(status_of(&second) == 1 && status_of(&first) == -SIGNAL_TERM, 'e');
}
static void test_one_process_kills_another_that_computes(void **state)
{
    (void)state;
    assert_string_equal(run_processes(killed_computing), "<cxtxe>");
}

static int survives(void *unused)
{
    (void)unused;
    process_handle(SIGNAL_TERM, handler);
    put('s');
    for (int i = 0; i < 100; i++)
        compute(100);
    put('z');
    return 0;
}
static void term(void *unused)
{
    (void)unused;
    begin(&first, survives, 20);
    thread_sleep_until(now_us + MS);
    process_signal_send(&first, SIGNAL_TERM);  // has a handler: with its next call
    (void)status_of(&first);
}
static void test_a_handler_keeps_term_from_ending_it(void **state)
{
    (void)state;
    assert_string_equal(run_processes(term), "<szpx>");
}

// --- the pool --------------------------------------------------------------------------------------------------------
static void pieces(void *unused)
{
    void *piece[6];
    size_t before = kmem.free_bytes;
    (void)unused;
    for (int i = 0; i < 6; i++)
        piece[i] = kmem_alloc(&kmem, 100 + (size_t)i);
    for (int i = 0; i < 6; i += 2)
        kmem_free(&kmem, piece[i]);
    say_if(kmem_alloc(&kmem, 90) == piece[0] && kmem_alloc(&kmem, 102) == piece[2], 'f');  // first fit
    say_if((uintptr_t)piece[3] % 8 == 0, '8');
    for (int i = 5; i >= 0; i--)
        if (i != 4)
            kmem_free(&kmem, piece[i]);
    say_if(kmem.free_bytes == before, 'b');
    void *all = kmem_alloc(&kmem, before - 64);  // all joined again
    say_if(all, 'j');
    say_if(!kmem_alloc(&kmem, 64) && !kmem_alloc(&kmem, SIZE_MAX), 'n');
    kmem_free(&kmem, all);
    kmem_free(&kmem, NULL);
}
static void test_the_pool(void **state)
{
    (void)state;
    assert_string_equal(run_processes(pieces), "<f8bjn>");
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_calls),
        cmocka_unit_test(test_exit),
        cmocka_unit_test(test_what_was_not_freed_returns),
        cmocka_unit_test(test_a_process_that_cannot_be_leaves_nothing),
        cmocka_unit_test(test_an_alarm_interrupts_a_call_and_calls_its_handler),
        cmocka_unit_test(test_killed_in_a_call),
        cmocka_unit_test(test_one_process_kills_another_that_computes),
        cmocka_unit_test(test_a_handler_keeps_term_from_ending_it),
        cmocka_unit_test(test_the_pool),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
