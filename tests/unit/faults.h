// SPDX-License-Identifier: BSD-2-Clause
// Faults that no test planned, in every fixture of a program: WEIR_TEST_FAULT=KIND:N in its environment
// (tests/faults.py). A test then may miss what it expects. What must hold all the same: nothing is used after its end,
// nothing hangs, the fixture's contract with the stack is kept (fixture.c's own assertions), and when a test broke off
// the instance can be destroyed and gives all memory back. Who breaks these is told by a line "faults: …".
#ifndef TESTS_FAULTS_H
#define TESTS_FAULTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum fault_kind {
    FAULT_NONE,
    FAULT_ALLOC,      // the N-th allocation fails
    FAULT_ALLOCS,     // and each after it
    FAULT_VANISH,     // after N frames nothing arrives any more
    FAULT_LOSE,       // one frame in four does not arrive; N is the seed, here and below
    FAULT_TRUNCATE,   // one in four arrives without its end
    FAULT_DUPLICATE,  // one in four arrives twice
    FAULT_DELAY,      // one in four arrives some polls later
    FAULT_CLOCK,      // at one poll in eight the clock is ahead by another millisecond, second, minute, hour, or month
    FAULT_FLAP,       // at one poll in eight the interface goes down, and comes back at the next
    // As the first three, at each place of the program where that can be, one after another: the process there has a
    // child, in which it happens, of this instance alone, and which ends with the instances that are open, or the test.
    // N: at the N-th place alone, without a child, for who looks for the reason; 0: at each.
    FAULT_EACH_ALLOC,
    FAULT_EACH_ALLOCS,
    FAULT_EACH_VANISH,
};

struct fixture;
struct weir_frame;
struct fault_late;

struct faults {
    enum fault_kind kind;
    uint64_t random;
    uint64_t ahead_us;                 // the instance's clock before the fixture's
    uint32_t frames;                   // that have arrived
    struct fault_late *late;           // frames, in order
    struct fixture *next, **previous;  // open fixtures
    bool down, told;
    bool gone;    // no memory, no peer, from the place on
    bool ended;   // by the assertion that broke off; a teardown may close it again
    bool others;  // a test's: something stands on the instance that a test which breaks off does not end (BSD sockets)
};

void faults_begin(struct fixture *f);  // its instance is there
void faults_end(struct fixture *f);    // and goes now
void faults_close(void);               // one went, and gave back what it had
bool faults_alloc(struct fixture *f);  // whether an allocation fails
// Whether the frame was dealt with: handed to fixture_input_now, as it is or otherwise, not at all, or later.
bool faults_take(struct fixture *f, const struct weir_frame *frame);
void faults_step(struct fixture *f);  // before a poll
void faults_tell(struct fixture *f);  // that one happened, once
// The assertions of fixture.c are about what a test expects, not about what the stack owes.
extern bool faults_expecting;

struct CMUnitTest;
// All tests of a program, in place of cmocka's function, which it calls for each.
int faults_run_tests(const char *name, const struct CMUnitTest *tests, size_t count, int (*setup)(void **),
                     int (*teardown)(void **));

#endif
