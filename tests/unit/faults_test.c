// SPDX-License-Identifier: BSD-2-Clause
// not on mips: there are no children at each place.
// Faults at each place: as many children as a test has allocations or frames, in each of them one fault, or from there
// on all; and the process that has them notices nothing.
#define _GNU_SOURCE
#include "built.h"
#include "fixture.h"

#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#define ALLOCATIONS 20u  // of one call stack

static uint32_t refused;  // of those

static void allocates(void **state)
{
    (void)state;
    struct fixture f;
    void *memory[ALLOCATIONS];
    fixture_open_with(&f, &(struct fixture_options){.mode = FIXTURE_PLAIN});
    refused = 0;
    for (uint32_t i = 0; i < ALLOCATIONS; i++)
        refused += !(memory[i] = f.port.alloc(&f, 16));
    fprintf(stderr, "%u refused\n", refused);
    for (uint32_t i = 0; i < ALLOCATIONS; i++)
        if (memory[i])
            f.port.free(&f, memory[i], 16);
    fixture_close(&f);
}

// Who is refused keeps what he had before.
static void forgets(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open_with(&f, &(struct fixture_options){.mode = FIXTURE_PLAIN});
    void *const first = f.port.alloc(&f, 16), *const second = f.port.alloc(&f, 16);
    if (first && second)
        f.port.free(&f, first, 16);
    if (second)
        f.port.free(&f, second, 16);
    fixture_close(&f);
}

static void is_killed(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open_with(&f, &(struct fixture_options){.mode = FIXTURE_PLAIN});
    void *const memory = f.port.alloc(&f, 16);
    if (!memory)
        raise(SIGKILL);
    f.port.free(&f, memory, 16);
    fixture_close(&f);
}

// What a program with that test says, of which `fault` is asked.
static void say_of(const struct CMUnitTest *test, const char *fault, const char *places, char *text, size_t bytes)
{
    int ends[2], status;
    assert_int_equal(pipe(ends), 0);
    fflush(NULL);
    const pid_t pid = fork();
    if (pid == 0) {
        if (!freopen("/dev/null", "w", stdout))  // whoever reads of this program's tests wants to hear of these alone
            _exit(1);
        dup2(ends[1], 2);
        setenv("WEIR_TEST_FAULT", fault, 1);
        setenv("WEIR_TEST_PLACES", places, 1);
        _exit(faults_run_tests("tests", test, 1, NULL, NULL));
    }
    close(ends[1]);
    size_t at = 0;
    for (ssize_t got = 1; got > 0 && at < bytes - 1; at += (size_t)got)
        if ((got = read(ends[0], text + at, bytes - 1 - at)) < 0)
            got = 0;
    text[at] = 0;
    close(ends[0]);
    assert_int_equal(waitpid(pid, &status, 0), pid);
    assert_int_equal(status, 0);
}

static void say(const char *fault, const char *places, char *text, size_t bytes)
{
    const struct CMUnitTest test = cmocka_unit_test(allocates);
    say_of(&test, fault, places, text, bytes);
}

static uint32_t times(const char *text, const char *word)
{
    uint32_t n = 0;
    while ((text = strstr(text, word)))
        n++, text++;
    return n;
}

static void each_allocation_fails_alone(void **state)
{
    (void)state;
    char text[65536];
    say("each-alloc:0", "0", text, sizeof text);
    const uint32_t happened = times(text, "a fault happened");
    assert_in_range(happened, ALLOCATIONS, 50);  // and what weir_netif_add takes
    assert_int_equal(times(text, "\n1 refused"), ALLOCATIONS);
    assert_int_equal(times(text, "faults: "), 0);
    assert_int_equal(times(text, "of which 0 not tried in allocates"), 1);
}

static void with_all_after_it(void **state)
{
    (void)state;
    char text[65536];
    say("each-allocs:0", "0", text, sizeof text);
    for (uint32_t i = 1; i <= ALLOCATIONS; i++) {
        char line[32];
        snprintf(line, sizeof line, "\n%u refused", i);
        assert_true(times(text, line) >= 1);
    }
}

static void one_place_alone_has_no_child(void **state)
{
    (void)state;
    char text[65536];
    say("each-alloc:1", "0", text, sizeof text);
    assert_int_equal(times(text, "a fault happened: "), 0);
}

static void places_of_one_stack_are_not_all_tried(void **state)
{
    (void)state;
    char text[65536];
    say("each-alloc:0", "1", text, sizeof text);
    assert_int_equal(times(text, "\n1 refused"), 9);  // the first eight, and the 16th
    assert_int_equal(times(text, "of which 11 not tried in allocates"), 1);
}

static void what_a_child_does_wrong_is_told(void **state)
{
    (void)state;
    char text[65536];
    const struct CMUnitTest forgetting = cmocka_unit_test(forgets), killed = cmocka_unit_test(is_killed);
    say_of(&forgetting, "each-alloc:0", "0", text, sizeof text);
    assert_int_equal(times(text, "faults: the contract is broken"), 1);
    say_of(&killed, "each-alloc:0", "0", text, sizeof text);
    assert_int_equal(times(text, "faults: ended by signal 9"), 1);
}

#ifdef __SANITIZE_ADDRESS__
#define CHILDREN true
#else
#define CHILDREN false
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {test_with(CHILDREN, each_allocation_fails_alone),
                                       test_with(CHILDREN, with_all_after_it),
                                       test_with(CHILDREN, one_place_alone_has_no_child),
                                       test_with(CHILDREN, places_of_one_stack_are_not_all_tried),
                                       test_with(CHILDREN, what_a_child_does_wrong_is_told),
                                       cmocka_unit_test(allocates)};
    return _cmocka_run_group_tests("faults", tests, sizeof tests / sizeof tests[0], NULL, NULL);
}
