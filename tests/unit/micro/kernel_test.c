// SPDX-License-Identifier: BSD-2-Clause
// The microkernel with a processor that is this file: whoever is the current process makes the next system call. What
// memory is whose is the kernel's own check here; that the hardware keeps it too is shown in QEMU
// (tests/firmware/test_micro.py).
#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/micro/internal.h"

enum { SERVER, DRIVER, ONE, TWO, IDLE, COUNT };
#define OWN 256u

static _Alignas(256) uint8_t memory[COUNT + 1][OWN];  // the last is nobody's
static _Alignas(64) const char code[64] = "text that all may read";
static uint64_t now_us, alarm_us;
static bool switching, interrupt_on;
static int32_t results[COUNT];  // of a call that waited; 99: none yet
static uint32_t printed;

void cpu_prepare(struct process *process) { (void)process; }
void cpu_result(struct process *process, int32_t result) { results[micro_process_number(process)] = result; }
void cpu_switch(void) { switching = true; }
void cpu_interrupt(uint32_t interrupt, bool on)
{
    assert_int_equal(interrupt, 13);
    interrupt_on = on;
}
void cpu_start(void) { abort(); }

static uint64_t clock_now(void) { return now_us; }
static void set_alarm(uint64_t at_us) { alarm_us = at_us; }
static void print(const char *text, uint32_t bytes)
{
    for (uint32_t i = 0; i < bytes; i++)
        printed += (uint8_t)text[i];
}
static uint32_t random_number(void) { return 4; }
static void nothing(void) {}

static struct process_config configs[COUNT];
static struct kernel_table table = {.processes = configs,
                                    .count = COUNT,
                                    .now_us = clock_now,
                                    .alarm = set_alarm,
                                    .print = print,
                                    .random = random_number};

static void settle(void)
{
    if (switching)
        (void)micro_process_next();
    switching = false;
}

static int setup(void **state)
{
    static const uint8_t priorities[COUNT] = {2, 3, 2, 1, 0};
    (void)state;
    memset(memory, 0x55, sizeof memory);
    table.code = (struct region){(uintptr_t)code, sizeof code, REGION_DATA};
    for (uint32_t i = 0; i < COUNT; i++) {
        configs[i] = (struct process_config){.name = "test",
                                             .entry = nothing,
                                             .priority = priorities[i],
                                             .heir = SERVER,
                                             .interrupt = -1,
                                             .reaches = 1u << SERVER};
        configs[i].regions[0] = (struct region){(uintptr_t)memory[i], OWN, REGION_DATA};
        results[i] = 99;
    }
    configs[SERVER].reaches = 1u << ONE | 1u << TWO | 1u << DRIVER;
    configs[DRIVER].interrupt = 13;
    configs[DRIVER].regions[1] = (struct region){(uintptr_t)memory[COUNT], OWN, REGION_DEVICE};
    now_us = 0;
    alarm_us = MICRO_FOREVER;
    interrupt_on = true;
    micro_process_init(&table);
    cpu_switch();
    settle();
    return 0;
}

static uint32_t running(void) { return micro_process_number(micro.current); }

// The current process makes a system call; 99: it waits.
static int32_t does(uint32_t process, uint32_t number, uintptr_t a, uintptr_t b, uint64_t deadline_us)
{
    uintptr_t registers[4] = {a, b, (uint32_t)deadline_us, (uintptr_t)(deadline_us >> 32)};
    assert_int_equal(running(), process);
    micro_system_call(number, registers);
    const bool waits = micro.process[process].state != PROCESS_READY;
    settle();
    return waits ? 99 : (int32_t)registers[0];
}
static int32_t receives(uint32_t process, uint64_t deadline_us)
{
    return does(process, RECEIVE, (uintptr_t)memory[process], 0, deadline_us);
}
static int32_t calls(uint32_t process, uint32_t to)
{
    memset(memory[process] + 128, (int)(process + 1), 32);
    return does(process, CALL, to, (uintptr_t)memory[process] + 128, 0);
}
static struct micro_event *event(uint32_t process) { return (struct micro_event *)(void *)memory[process]; }

// Driver, server and ONE wait; TWO runs.
static void all_wait(void)
{
    assert_int_equal(receives(DRIVER, MICRO_FOREVER), 99);
    assert_int_equal(receives(SERVER, MICRO_FOREVER), 99);
    assert_int_equal(receives(ONE, MICRO_FOREVER), 99);
    assert_int_equal(running(), TWO);
}

static void a_call_and_its_reply(void **state)
{
    (void)state;
    all_wait();
    assert_int_equal(calls(TWO, SERVER), 99);
    assert_int_equal(running(), SERVER);
    assert_int_equal(results[SERVER], MICRO_MESSAGE);
    assert_int_equal(event(SERVER)->sender, TWO);
    assert_int_equal(event(SERVER)->message[7], 0x04040404);
    assert_int_equal(event(SERVER)->bits, 0);
    // TWO waits, not IDLE's turn; nobody else may reply, and the server not to others.
    assert_int_equal(does(SERVER, REPLY, ONE, (uintptr_t)event(SERVER)->message, 0), MICRO_INVALID);
    event(SERVER)->message[0] = 77;
    assert_int_equal(does(SERVER, REPLY, TWO, (uintptr_t)event(SERVER)->message, 0), MICRO_OK);
    assert_int_equal(results[TWO], MICRO_OK);
    assert_int_equal(*(uint32_t *)(void *)(memory[TWO] + 128), 77);
    assert_int_equal(does(SERVER, REPLY, TWO, (uintptr_t)event(SERVER)->message, 0), MICRO_INVALID);
    assert_int_equal(running(), SERVER);
    assert_int_equal(receives(SERVER, MICRO_FOREVER), 99);
    assert_int_equal(running(), TWO);
}

// Two that have memory in common call each other with messages that overlap there.
static void messages_that_overlap_arrive_whole(void **state)
{
    uint32_t message[8], *const first = (uint32_t *)(void *)memory[COUNT], *const second = first + 2;
    (void)state;
    configs[SERVER].regions[1] = configs[TWO].regions[1] = (struct region){(uintptr_t)first, OWN, REGION_DATA};
    assert_int_equal(receives(DRIVER, MICRO_FOREVER), 99);
    assert_int_equal(does(SERVER, RECEIVE, (uintptr_t)first, 0, MICRO_FOREVER), 99);
    assert_int_equal(receives(ONE, MICRO_FOREVER), 99);
    for (uint32_t i = 0; i < 8; i++)
        message[i] = first[i] = i + 1;
    assert_int_equal(does(TWO, CALL, SERVER, (uintptr_t)first, 0), 99);
    assert_memory_equal(second, message, sizeof message);  // of the event behind bits and sender
    assert_int_equal(does(SERVER, REPLY, TWO, (uintptr_t)second, 0), MICRO_OK);
    assert_memory_equal(first, message, sizeof message);
}

static void callers_wait_in_order_of_priority(void **state)
{
    (void)state;
    assert_int_equal(receives(DRIVER, MICRO_FOREVER), 99);
    assert_int_equal(receives(SERVER, 500), 99);
    assert_int_equal(receives(ONE, 1000), 99);
    now_us = 500;
    micro_timer();
    settle();
    assert_int_equal(results[SERVER], MICRO_TIMEOUT);
    assert_int_equal(does(SERVER, YIELD, 0, 0, 0), MICRO_OK);
    assert_int_equal(running(), SERVER);
    // The server works on; its deadline of nothing: TWO never ran, so it comes last although it is ready for longest.
    now_us = 1000;
    micro_timer();
    settle();
    assert_int_equal(does(SERVER, YIELD, 0, 0, 0), MICRO_OK);
    assert_int_equal(running(), ONE);
    assert_int_equal(calls(ONE, SERVER), 99);
    assert_int_equal(running(), SERVER);
    assert_int_equal(receives(SERVER, 0), MICRO_MESSAGE);
    assert_int_equal(event(SERVER)->sender, ONE);
    assert_int_equal(receives(SERVER, 0), MICRO_TIMEOUT);
}

static void notifications_are_collected(void **state)
{
    (void)state;
    assert_int_equal(receives(DRIVER, MICRO_FOREVER), 99);
    micro_interrupt(13);
    assert_false(interrupt_on);
    settle();
    assert_int_equal(running(), DRIVER);
    assert_int_equal(results[DRIVER], MICRO_NOTIFIED);
    assert_int_equal(event(DRIVER)->bits, MICRO_BIT_INTERRUPT);
    assert_int_equal(does(DRIVER, INTERRUPT_ON, 0, 0, 0), MICRO_OK);
    assert_true(interrupt_on);
    for (int i = 0; i < 3; i++)
        assert_int_equal(does(DRIVER, NOTIFY, SERVER, 0, 0), MICRO_OK);
    assert_int_equal(calls(DRIVER, SERVER), 99);
    assert_int_equal(running(), SERVER);
    assert_int_equal(receives(SERVER, MICRO_FOREVER), MICRO_MESSAGE);
    assert_int_equal(event(SERVER)->bits, MICRO_BIT(DRIVER));
    assert_int_equal(receives(SERVER, 0), MICRO_TIMEOUT);
}

static void bad_pointers_are_refused(void **state)
{
    (void)state;
    const uintptr_t own = (uintptr_t)memory[DRIVER];
    const uintptr_t bad[] = {0,
                             (uintptr_t)memory[SERVER],
                             (uintptr_t)memory[COUNT],  // a device: no memory
                             own - 4,
                             own + OWN - 28,
                             own + 2,
                             own + OWN,
                             UINTPTR_MAX - 3,
                             UINTPTR_MAX - 31};
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        assert_int_equal(does(DRIVER, CALL, SERVER, bad[i], 0), MICRO_FAULT);
        assert_int_equal(does(DRIVER, RECEIVE, bad[i], 0, 0), MICRO_FAULT);
        assert_int_equal(does(DRIVER, REPLY, SERVER, bad[i], 0), MICRO_FAULT);
    }
    assert_int_equal(does(DRIVER, CALL, SERVER, (uintptr_t)code, 0), MICRO_FAULT);  // the reply would be written there
    assert_int_equal(does(DRIVER, PRINT, (uintptr_t)code, 10, 0), MICRO_OK);
    assert_true(printed > 0);
    assert_int_equal(does(DRIVER, PRINT, own, MICRO_PRINT_BYTES, 0), MICRO_OK);
    assert_int_equal(does(DRIVER, PRINT, own, MICRO_PRINT_BYTES + 1, 0), MICRO_INVALID);  // interrupts wait meanwhile
    assert_int_equal(does(DRIVER, PRINT, (uintptr_t)code + 60, 5, 0), MICRO_FAULT);
    assert_int_equal(does(DRIVER, PRINT, own + 8, 0xffffffff, 0), MICRO_FAULT);
    assert_int_equal(does(DRIVER, PRINT, (uintptr_t)memory[ONE], 1, 0), MICRO_FAULT);
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
        assert_int_equal(does(DRIVER, OWNS, bad[i], 32, 1), bad[i] == own + 2 ? MICRO_OK : MICRO_FAULT);  // unaligned
    assert_int_equal(does(DRIVER, OWNS, own, OWN, 1), MICRO_OK);
    assert_int_equal(does(DRIVER, OWNS, own + 1, OWN, 1), MICRO_FAULT);
    assert_int_equal(does(DRIVER, OWNS, (uintptr_t)code, sizeof code, 0), MICRO_OK);
    assert_int_equal(does(DRIVER, OWNS, (uintptr_t)code, 1, 1), MICRO_FAULT);  // code is read, not written
    assert_int_equal(does(DRIVER, SELF + 1, 0, 0, 0), MICRO_INVALID);
    assert_int_equal(does(DRIVER, 0xffffffff, 0, 0, 0), MICRO_INVALID);
    for (uint32_t i = 0; i < OWN; i++)
        assert_int_equal(memory[SERVER][i], 0x55);
}

static void the_table_says_who_reaches_whom(void **state)
{
    (void)state;
    const uintptr_t own = (uintptr_t)memory[DRIVER];
    assert_int_equal(does(DRIVER, NOTIFY, ONE, 0, 0), MICRO_FORBIDDEN);
    assert_int_equal(does(DRIVER, CALL, ONE, own, 0), MICRO_FORBIDDEN);
    assert_int_equal(does(DRIVER, CALL, DRIVER, own, 0), MICRO_INVALID);
    assert_int_equal(does(DRIVER, CALL, COUNT, own, 0), MICRO_INVALID);
    assert_int_equal(does(DRIVER, NOTIFY, 0xffffffff, 0, 0), MICRO_INVALID);
    assert_int_equal(does(DRIVER, REPLY, 0xffffffff, own, 0), MICRO_INVALID);
}

static void an_end_is_told(void **state)
{
    (void)state;
    all_wait();
    assert_int_equal(calls(TWO, SERVER), 99);
    assert_int_equal(does(SERVER, NOTIFY, ONE, 0, 0), MICRO_OK);
    assert_int_equal(does(SERVER, YIELD, 0, 0, 0), MICRO_OK);
    assert_int_equal(running(), ONE);
    micro_process_end(micro.current);
    settle();
    assert_int_equal(running(), SERVER);
    assert_int_equal(receives(SERVER, 0), MICRO_NOTIFIED);
    assert_int_equal(event(SERVER)->bits, MICRO_BIT_DEATH(ONE));
    assert_int_equal(does(SERVER, NOTIFY, ONE, 0, 0), MICRO_DEAD);
    // The server ends in the middle of TWO's call: TWO learns of it.
    assert_int_equal(does(SERVER, EXIT, 0, 0, 0), 99);
    assert_int_equal(running(), TWO);
    assert_int_equal(results[TWO], MICRO_DEAD);
    assert_int_equal(calls(TWO, SERVER), MICRO_DEAD);
    assert_int_equal(does(TWO, EXIT, 0, 0, 0), 99);
    assert_int_equal(running(), IDLE);
    micro_process_end(&micro.process[DRIVER]);
    settle();
    assert_false(interrupt_on);
    assert_int_equal(running(), IDLE);
}

// Of equals none keeps the others waiting for longer than two slices; the more urgent has its way at once.
static void equals_have_turns(void **state)
{
    (void)state;
    assert_int_equal(receives(DRIVER, 40000), 99);
    assert_int_equal(running(), SERVER);
    uint64_t began_us = 0, longest_us = 0;
    uint32_t turns = 0;
    for (uint32_t was = SERVER; now_us < 39000; now_us += 10) {
        if (alarm_us <= now_us) {
            alarm_us = MICRO_FOREVER;
            micro_timer();
            settle();
        }
        if (running() != was) {
            longest_us = now_us - began_us > longest_us ? now_us - began_us : longest_us;
            began_us = now_us;
            was = running();
            turns++;
        }
        // It does something that lets the kernel see who waits.
        assert_int_equal(does(running(), NOTIFY, running() == SERVER ? TWO : SERVER, 0, 0), MICRO_OK);
    }
    assert_true(turns >= 2);
    assert_true(longest_us <= 2 * KERNEL_SLICE_US);
    for (; running() != DRIVER; now_us += 10) {
        assert_true(now_us < 40100);
        if (alarm_us <= now_us) {
            alarm_us = MICRO_FOREVER;
            micro_timer();
            settle();
        }
    }
}

// The driver comes between all the time; what it takes is of the slice during which it came, so both equals have
// theirs.
static void who_is_more_urgent_begins_no_slice_anew(void **state)
{
    (void)state;
    uint64_t had_us[COUNT] = {0};
    assert_int_equal(receives(DRIVER, MICRO_FOREVER), 99);
    for (; now_us < 100 * KERNEL_SLICE_US; now_us += 100) {
        if (alarm_us <= now_us) {
            alarm_us = MICRO_FOREVER;
            micro_timer();
            settle();
        }
        micro_interrupt(13);
        settle();
        assert_int_equal(running(), DRIVER);
        if (now_us % 1000 == 0)
            assert_int_equal(does(DRIVER, NOTIFY, SERVER, 0, 0), MICRO_OK);
        assert_int_equal(does(DRIVER, INTERRUPT_ON, 0, 0, 0), MICRO_OK);
        assert_int_equal(receives(DRIVER, MICRO_FOREVER), 99);
        had_us[running()] += 100;
    }
    assert_int_equal(had_us[TWO], 0);
    assert_in_range(had_us[ONE], 45 * KERNEL_SLICE_US, 55 * KERNEL_SLICE_US);
    assert_in_range(had_us[SERVER], 45 * KERNEL_SLICE_US, 55 * KERNEL_SLICE_US);
}

static void anything_may_be_called(void **state)
{
    (void)state;
    uint32_t random = 9;
    for (uint32_t round = 0; round < 200000; round++) {
        uintptr_t registers[4];
        uint8_t spare[OWN];
        for (uint32_t i = 0; i < 4; i++)
            registers[i] = (random = random * 1664525u + 1013904223u) >> 8;
        if (registers[0] % 3)
            registers[0] %= COUNT + 1;
        if (registers[1] % 4)
            registers[1] = (uintptr_t)memory[registers[1] % (COUNT + 1)] + registers[2] % 300 - 20;
        if (registers[3] % 4 == 0)
            registers[0] = registers[1];
        const uint32_t number = (random >> 5) % 9;  // but EXIT
        registers[2] = registers[2] % 2 ? 0 : (uint32_t)now_us + 50;
        registers[3] = 0;
        memcpy(spare, memory[COUNT], OWN);
        if (running() != IDLE || number == NOTIFY)
            micro_system_call(number, registers);
        settle();
        assert_memory_equal(spare, memory[COUNT], OWN);
        now_us += 7;
        if (alarm_us <= now_us || round % 64 == 0) {
            alarm_us = MICRO_FOREVER;
            micro_timer();
        }
        if (round % 50 == 0)
            micro_interrupt(13);
        settle();
        assert_in_range(running(), 0, COUNT - 1);
        assert_int_equal(micro.current->state, PROCESS_READY);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(a_call_and_its_reply, setup),
        cmocka_unit_test_setup(messages_that_overlap_arrive_whole, setup),
        cmocka_unit_test_setup(callers_wait_in_order_of_priority, setup),
        cmocka_unit_test_setup(notifications_are_collected, setup),
        cmocka_unit_test_setup(bad_pointers_are_refused, setup),
        cmocka_unit_test_setup(the_table_says_who_reaches_whom, setup),
        cmocka_unit_test_setup(an_end_is_told, setup),
        cmocka_unit_test_setup(equals_have_turns, setup),
        cmocka_unit_test_setup(who_is_more_urgent_begins_no_slice_anew, setup),
        cmocka_unit_test_setup(anything_may_be_called, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
