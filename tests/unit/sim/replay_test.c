// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "sim/replay.h"

#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include <assert.h>

#define COMMAND "build/some/weir-sim --scenario campaign --seed 18446744073709551615"

static const int fatal[] = {SIGABRT, SIGSEGV, SIGBUS, SIGFPE, SIGILL};
#define FATAL (sizeof fatal / sizeof fatal[0])
static struct sigaction before[FATAL];  // cmocka came with handlers of its own: a sanitizer's

static volatile uintptr_t hidden;  // what the compiler shall not know

// What a process says on standard error that does `fault`, and how it ends.
static int said(void (*fault)(void), char *text, size_t bytes)
{
    int ends[2], status;
    size_t length = 0;
    assert_int_equal(pipe(ends), 0);
    const pid_t child = fork();
    assert_true(child >= 0);
    if (!child) {
        const struct rlimit none = {0, 0};
        setrlimit(RLIMIT_CORE, &none);
        dup2(ends[1], STDERR_FILENO);
        for (size_t i = 0; i < FATAL; i++)
            sigaction(fatal[i], &before[i], NULL);
        replay_watch();
        replay_set("%s", "what ran before");
        replay_set("build/%s/weir-sim --scenario campaign --seed %llu", "some", (unsigned long long)UINT64_MAX);
        fault();
        _exit(0);
    }
    close(ends[1]);
    for (ssize_t got; (got = read(ends[0], text + length, bytes - 1 - length)) > 0;)
        length += (size_t)got;
    text[length] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(child, &status, 0), child);
    return status;
}

static void expect_told(void (*fault)(void), int number)
{
    static char text[1 << 20];
    const int status = said(fault, text, sizeof text);
    if (!strstr(text, "\nto replay: " COMMAND "\n"))
        fail_msg("%s", text);
    assert_null(strstr(text, "what ran before"));
    assert_true(strstr(text, "to replay") == strstr(text, "\nto replay: " COMMAND "\n") + 1);
    if (number)
        assert_true(WIFSIGNALED(status) && WTERMSIG(status) == number);
    else
        assert_true(WIFSIGNALED(status) || (WIFEXITED(status) && WEXITSTATUS(status)));
}

static void signal_abort(void) { kill(getpid(), SIGABRT); }
static void signal_fault(void) { kill(getpid(), SIGSEGV); }
static void signal_bus(void) { kill(getpid(), SIGBUS); }
static void signal_number(void) { kill(getpid(), SIGFPE); }
static void signal_instruction(void) { kill(getpid(), SIGILL); }
static void false_assert(void) { __assert_fail("hidden == 1", __FILE__, __LINE__, __func__); }
static void wild_store(void) { *(volatile char *)(hidden + 8) = 1; }
static void nothing(void) { replay_set("what is told of nobody"); }

static uint32_t deep(uint32_t level)
{
    volatile char frame[4096];
    frame[level % sizeof frame] = (char)level;
    return hidden == 1 ? level : deep(level + 1) + (uint8_t)frame[level / 2 % sizeof frame];
}
static void deep_stack(void) { hidden = deep(0); }

static void signals_are_told(void **state)
{
    void (*const faults[])(void) = {signal_abort,       signal_fault, signal_bus, signal_number,
                                    signal_instruction, false_assert, wild_store};
    (void)state;
    for (size_t i = 0; i < sizeof faults / sizeof faults[0]; i++)
        expect_told(faults[i], 0);
}

static void a_full_stack_is_told(void **state)
{
    (void)state;
    expect_told(deep_stack, 0);
}

static void who_ends_well_says_nothing(void **state)
{
    char text[1000];
    (void)state;
    assert_int_equal(said(nothing, text, sizeof text), 0);
    assert_string_equal(text, "");
}

#ifdef __SANITIZE_ADDRESS__
static void behind_memory(void)
{
    char *memory = malloc(8);
    ((volatile char *)memory)[8 + hidden] = 1;
    free(memory);
}
static void no_such_shift(void) { hidden = (uint32_t)1 << (hidden + 40); }

// A sanitizer's report and, after it, the command.
static void reports_are_told(void **state)
{
    static char text[1 << 20];
    (void)state;
    expect_told(behind_memory, 0);
    expect_told(no_such_shift, 0);
    said(wild_store, text, sizeof text);
    assert_non_null(strstr(text, "ERROR: AddressSanitizer"));
    assert_true(strstr(text, "ERROR: AddressSanitizer") < strstr(text, "to replay"));
}
#else
// Who waits for it sees that it was the signal.
static void the_process_ends_by_the_signal(void **state)
{
    (void)state;
    expect_told(signal_fault, SIGSEGV);
    expect_told(wild_store, SIGSEGV);
    expect_told(false_assert, SIGABRT);
}
#endif

int main(void)
{
    for (size_t i = 0; i < FATAL; i++)
        sigaction(fatal[i], NULL, &before[i]);
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(signals_are_told),
        cmocka_unit_test(a_full_stack_is_told),
        cmocka_unit_test(who_ends_well_says_nothing),
#ifdef __SANITIZE_ADDRESS__
        cmocka_unit_test(reports_are_told),
#else
        cmocka_unit_test(the_process_ends_by_the_signal),
#endif
    };
    return cmocka_run_group_tests_name("sim/replay", tests, NULL, NULL);
}
