// SPDX-License-Identifier: BSD-2-Clause
// The port to the preemptive kernel in virtual time, with a driver that is a counter: what the contract of weir/port.h
// says of wait, wake and kick, and that a flood of frames leaves the processor to others.
#include "ports/preempt/preempt_port.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "kernel/preempt/arch/host.h"
#include "weir/socket.h"

#define STACK_BYTES ((size_t)262144)
#define MS UINT64_C(1000)
#define FRAME_US 20  // that the driver works at one
enum { LOW = 5, MAIN = 10, MIDDLE = 15, IO = 20 };

static uint64_t now_us, alarm_us;
static uint64_t stacks[4][STACK_BYTES / 8];
static struct thread starter, other;
static struct preempt_port port;
static struct weir_netif netif;
static uint32_t waiting_frames;  // in the device
static bool interrupts_again;    // while it is polled
static uint64_t device_due_us, came_due_us, timed_us;
static struct thread *polled_by, *timed_by;  // the last to do so
static uint8_t polled_with;                  // the priority it had
static uint32_t own_polls;                   // by the scenario's thread
static void (*on_poll)(void);                // more that a turn does
static void (*on_timer)(void);               // and of its end
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

static void compute(uint64_t us)
{
    for (; us; us--) {
        if (++now_us < alarm_us)
            continue;
        alarm_us = KERNEL_NEVER;
        host_interrupt_begins();
        kernel_timer();
        host_interrupt_ends();
    }
}

static void interrupt(void)
{
    host_interrupt_begins();
    preempt_port_interrupt(&port);
    host_interrupt_ends();
}

static int device_poll(struct weir_netif *unused, int budget)
{
    int frames = 0;
    (void)unused;
    polled_by = thread_self();
    polled_with = thread_priority(polled_by);
    own_polls += polled_by == &starter;
    if (interrupts_again)
        interrupt();
    if (on_poll)
        on_poll();
    for (; frames < budget && waiting_frames; frames++) {
        waiting_frames--;  // before: who preempts this may take all away
        compute(FRAME_US);
    }
    return frames;
}
static uint64_t device_timer(struct weir_netif *unused, uint64_t moment_us)
{
    (void)unused;
    timed_by = thread_self();
    timed_us = now_us;
    if (on_timer)
        on_timer();
    if (moment_us >= device_due_us) {
        came_due_us = moment_us;
        device_due_us = WEIR_NEVER;
    }
    return device_due_us;
}
static enum weir_tx_verdict device_tx(struct weir_netif *unused, const struct weir_tx *tx)
{
    (void)unused, (void)tx;
    return WEIR_TX_DONE;
}

static void spawn(struct thread *thread, uint32_t stack, uint8_t priority, thread_entry *entry)
{
    const struct thread_config config = {"test", entry, NULL, stacks[stack], STACK_BYTES, priority};
    good &= thread_create(thread, &config);
}

static thread_entry *scenario;
static void start(void *unused)
{
    static const struct weir_driver driver = {
        .name = "flood", .tx = device_tx, .poll = device_poll, .timer = device_timer};
    static const struct port_board board = {board_now, 1, entropy, malloc, free};
    const struct thread_config io = {.stack = stacks[2], .stack_bytes = STACK_BYTES, .priority = IO};
    preempt_port_init(&port, &board);
    struct weir *weir = weir_create(NULL, 0, &port.core.port, NULL);
    port_attach(&port.core, weir);
    weir_netif_init(&netif, "eth0", &driver, &weir_link_ethernet);
    good &= weir_netif_add(weir, &netif) >= 0 && port_add(&port.core, &netif) && !port_add(&port.core, &netif);
    good &= preempt_port_start(&port, &io, LOW);
    scenario(unused);
    thread_delete(&port.thread);
    weir_netif_remove(&netif);
    weir_destroy(weir);
    host_finish();
}

static void run(thread_entry *entry)
{
    static const struct kernel_board board = {board_now,      board_alarm, board_idle,
                                              board_overflow, stacks[0],   STACK_BYTES};
    scenario = entry;
    host_stack_renew(stacks, sizeof stacks);
    now_us = 1000;
    alarm_us = KERNEL_NEVER;
    waiting_frames = own_polls = 0;
    interrupts_again = false;
    device_due_us = WEIR_NEVER;
    came_due_us = 0;
    good = kernel_init(&board);
    spawn(&starter, 1, MAIN, start);
    host_run();
    assert_true(good);
}

// --- a flood ---------------------------------------------------------------------------------------------------------
static uint64_t computed_us;
static void computes(void *unused)
{
    (void)unused;
    for (;; computed_us++)
        compute(1);
}

static void flood(void *unused)
{
    (void)unused;
    computed_us = 0;
    spawn(&other, 3, LOW, computes);
    thread_sleep_until(now_us + 100 * MS);
    good &= computed_us > 95 * MS;  // nothing else to do
    computed_us = 0;
    waiting_frames = UINT32_MAX;
    preempt_port_interrupt(&port);
    thread_sleep_until(now_us + 1000 * MS);
    good &= computed_us > 400 * MS && computed_us < 600 * MS;  // equals
    good &= port.steps_back == 1 && port.thread.priority == LOW;
    waiting_frames = 0;
    thread_sleep_until(now_us + 100 * MS);
    good &= port.thread.priority == IO;
    thread_delete(&other);
}
static void test_a_flood_of_frames_leaves_time_to_others(void **state)
{
    (void)state;
    run(flood);
}

// --- the contract ----------------------------------------------------------------------------------------------------
static char token, another;
static uint32_t woken;
static void wakes(void *unused)
{
    (void)unused;
    compute(3 * MS);
    port.core.port.lock(&port);
    port.core.port.wake(&port, &another);
    port.core.port.unlock(&port);
    compute(3 * MS);
    port.core.port.lock(&port);
    port.core.port.wake(&port, &token);
    woken = 1;  // still under the lock
    port.core.port.unlock(&port);
}

static void waits(void *unused)
{
    const struct weir_port *contract = &port.core.port;
    const uint64_t begin_us = now_us;
    (void)unused;
    woken = 0;
    spawn(&other, 3, LOW, wakes);
    contract->lock(&port);
    good &= contract->wait(&port, &token, begin_us + MS) == 1 && now_us == begin_us + MS &&
            port.lock.holder == thread_self();
    good &= contract->wait(&port, &token, begin_us) == 1 && now_us == begin_us + MS;
    good &= contract->wait(&port, &token, WEIR_NEVER) == 0 && woken == 1 && port.lock.holder == thread_self();
    contract->unlock(&port);
    good &= now_us >= begin_us + 6 * MS && !port.lock.holder;
}
static void test_wait_and_wake(void **state)
{
    (void)state;
    run(waits);
}

// What a call gave the stack to send its own thread sends before the lock is free, and takes nothing in; one that falls
// asleep sends before it does, and takes in what it was interrupted for. Where that wakes somebody it looks again
// before it sleeps: it may have been itself.
static void wakes_token(void)
{
    on_timer = NULL;  // once
    port.core.port.wake(&port, &token);
}
static void kicks(void *unused)
{
    const struct weir_port *contract = &port.core.port;
    (void)unused;
    thread_sleep_until(now_us + MS);
    contract->lock(&port);
    const uint32_t turns = port.core.turns;
    timed_by = NULL;
    contract->kick(&port);
    contract->kick(&port);
    good &= !timed_by;
    contract->unlock(&port);
    good &= timed_by == thread_self() && port.core.turns == turns && !port.lock.holder;
    timed_by = NULL;
    contract->lock(&port);
    contract->unlock(&port);
    good &= !timed_by;
    contract->lock(&port);
    contract->kick(&port);
    good &= contract->wait(&port, &token, now_us + MS) == 1 && timed_by == thread_self() && port.core.turns == turns;
    interrupt();
    good &=
        contract->wait(&port, &token, now_us + MS) == 1 && timed_by == thread_self() && port.core.turns == turns + 1;
    const uint64_t begin_us = now_us;
    on_timer = wakes_token;
    contract->kick(&port);
    good &= contract->wait(&port, &token, WEIR_NEVER) == 0 && now_us == begin_us && !on_timer;
    contract->unlock(&port);
    good &= port.core.turns == turns + 1;
}
static void test_kick(void **state)
{
    (void)state;
    run(kicks);
}

static struct thread *call_kicks(void)  // returns who works before the lock is free
{
    timed_by = NULL;
    port.core.port.lock(&port);
    port.core.port.kick(&port);
    port.core.port.unlock(&port);
    return timed_by;
}

// Output of a thread that does not wait is held: for so many calls, for so long, until it waits, until frames come.
static void bursts(void *unused)
{
    (void)unused;
    thread_sleep_until(now_us + MS);
    for (uint32_t round = 0; round < 3; round++) {
        good &= call_kicks() == &starter;
        for (uint32_t call = 1; call < PREEMPT_BURST; call++)
            good &= !call_kicks();
    }
    good &= call_kicks() == &starter && !call_kicks();
    const uint64_t held_us = now_us;
    compute(PREEMPT_BURST_US + FRAME_US);
    good &= timed_by == &port.thread && timed_us == held_us + PREEMPT_BURST_US;
    good &= !call_kicks() && !call_kicks();
    interrupt();
    good &= timed_by == &port.thread && !call_kicks();
    const uint64_t wait_us = now_us;
    port.core.port.lock(&port);
    good &= port.core.port.wait(&port, &token, now_us + MS) == 1 && timed_by == &starter && timed_us == wait_us;
    port.core.port.unlock(&port);
    good &= call_kicks() == &starter && !call_kicks();
    thread_sleep_until(now_us + 2 * PREEMPT_BURST_US);
    good &= !call_kicks();
    timed_by = NULL;
    const uint32_t turns = port.core.turns;
    port.core.port.lock(&port);  // the time is over while it is in the stack: it sends before it leaves
    compute(PREEMPT_BURST_US + FRAME_US);
    good &= !timed_by;
    port.core.port.unlock(&port);
    good &= timed_by == &starter && port.core.turns == turns;
    thread_sleep_until(now_us + 2 * PREEMPT_BURST_US);
    good &= !call_kicks();
    timed_by = NULL;
    port.core.port.lock(&port);  // it stays longer still: the I/O thread waits for it
    compute(3 * PREEMPT_BURST_US);
    good &= !timed_by;
    port.core.port.unlock(&port);
    good &= timed_by == &port.thread && port.core.turns == turns + 1;
}
static void test_output_of_a_burst_leaves_together(void **state)
{
    (void)state;
    run(bursts);
}

// Whoever sends what was held loses the processor to a thread between it and the I/O thread: that hurries it when the
// time of the burst is over.
static uint64_t held_since_us, sent_us;
static uint32_t sends_before_us;  // it loses the processor
static void sends_slowly(void)
{
    on_timer = NULL;
    compute(sends_before_us + PREEMPT_BURST_US - 100);
    sent_us = now_us;
}
static void ends_a_burst(void *unused)
{
    (void)unused;
    compute(MS - sends_before_us);
    good &= call_kicks() == &other;
    held_since_us = now_us;
    for (uint32_t call = 1; call < PREEMPT_BURST; call++)
        good &= !call_kicks();
    on_timer = sends_slowly;
    good &= call_kicks() != NULL;
}
static void preempted_sender(uint32_t before_us, uint32_t hurried_by_us)
{
    thread_sleep_until(now_us + MS);
    sends_before_us = before_us;
    sent_us = 0;
    const uint64_t wakes_us = now_us + MS;
    spawn(&other, 3, LOW, ends_a_burst);
    thread_sleep_until(wakes_us);
    good &= port.lock.holder == &other && !sent_us;
    compute(5 * MS);
    good &= sent_us && sent_us <= held_since_us + hurried_by_us + PREEMPT_BURST_US && !port.lock.holder;
    good &= thread_priority(&other) == LOW;
}
static void preempted_soon(void *unused)
{
    (void)unused;
    preempted_sender(50, PREEMPT_BURST_US);
}
static void preempted_late(void *unused)
{
    (void)unused;
    preempted_sender(PREEMPT_BURST_US + 50, PREEMPT_BURST_US + PREEMPT_HURRY_US);
    good &= sent_us > held_since_us + 4 * PREEMPT_BURST_US;  // a slow processor is not interrupted that often
}
static void test_who_sends_what_was_held_is_hurried(void **state)
{
    (void)state;
    run(preempted_soon);
    run(preempted_late);
}

// What a turn has to send waits for the thread that it woke, until that waits again, with what its calls bring; where
// that thread has nothing to do with the stack, for as long as a burst.
static weir_socket datagrams;
static bool pending_for_woken, pending_after_a_call;
static int nobodys;

static void send_and_wake(void)
{
    const struct weir_message message = {.peer = {weir_addr_v4(0xe0000009), 9}};
    const struct weir_slice slice = {(const uint8_t *)"weir", 4};
    on_poll = NULL;  // once
    good &= weir_socket_send_message(port.core.weir, datagrams, &message, &slice, 1) == 4;
    port.core.port.wake(&port, &token);
}

static void sends_when_woken(void *unused)
{
    (void)unused;
    port.core.port.lock(&port);
    good &= port.core.port.wait(&port, &token, WEIR_NEVER) == 0;
    pending_for_woken = weir_output_pending(port.core.weir);
    port.core.port.kick(&port);
    port.core.port.unlock(&port);
    pending_after_a_call = weir_output_pending(port.core.weir);
    port.core.port.lock(&port);
    good &= port.core.port.wait(&port, &nobodys, now_us + MS) == 1;
    good &= !weir_output_pending(port.core.weir);
    port.core.port.unlock(&port);
}

static void held_for_the_woken(void *unused)
{
    (void)unused;
    thread_sleep_until(now_us + MS);
    datagrams = weir_socket_open(port.core.weir, WEIR_DATAGRAM, 0);
    good &= weir_netif_set_address(&netif, weir_addr_v4(0x0a000002), 24, WEIR_ADDRESS_AT_ONCE) == WEIR_OK;
    netif.flags |= WEIR_NETIF_UP;
    spawn(&other, 3, MIDDLE, sends_when_woken);
    on_poll = send_and_wake;
    pending_for_woken = pending_after_a_call = false;
    interrupt();
    good &= pending_for_woken && pending_after_a_call && !weir_output_pending(port.core.weir);
    on_poll = send_and_wake;
    interrupt();  // nobody waits any more
    good &= weir_output_pending(port.core.weir);
    compute(PREEMPT_BURST_US + FRAME_US);
    good &= !weir_output_pending(port.core.weir);
    good &= weir_socket_close(port.core.weir, datagrams) == WEIR_OK;
}
static void test_output_waits_for_who_was_woken(void **state)
{
    (void)state;
    run(held_for_the_woken);
}

// --- interrupts ------------------------------------------------------------------------------------------------------
static bool middle_ran;
static void middle(void *unused)
{
    (void)unused;
    thread_sleep_until(now_us + MS);
    middle_ran = true;
}

// A thread that is in the stack takes in what came, as urgent as the I/O thread: nobody between the two gets in its
// way.
static void interrupted(void *unused)
{
    const struct weir_port *contract = &port.core.port;
    (void)unused;
    middle_ran = false;
    spawn(&other, 3, MIDDLE, middle);
    contract->lock(&port);
    const uint32_t turns = port.core.turns;
    waiting_frames = 3;
    interrupt();
    compute(2 * MS);
    good &= port.core.turns == turns && waiting_frames == 3 && thread_priority(&starter) == IO && !middle_ran;
    contract->unlock(&port);
    good &= port.core.turns == turns + 1 && !waiting_frames && polled_by == &starter && polled_with == IO;
    good &= thread_priority(&starter) == MAIN && middle_ran && !port.lock.holder;
    waiting_frames = 1;
    interrupt();  // nobody is in the stack
    good &= !waiting_frames && polled_by == &port.thread && port.core.turns == turns + 2;
}
static void test_who_is_in_the_stack_takes_frames_in(void **state)
{
    (void)state;
    run(interrupted);
}

static void holds(void *unused)
{
    (void)unused;
    port.core.port.lock(&port);
    compute(2 * MS);
    port.core.port.unlock(&port);
    good &= thread_priority(thread_self()) == LOW;
}

// Its holder lost the processor: the I/O thread waits for the lock, and lends it its priority.
static void preempted(void *unused)
{
    (void)unused;
    spawn(&other, 3, LOW, holds);
    thread_sleep_until(now_us + MS);
    good &= port.lock.holder == &other;
    waiting_frames = 1;
    const uint64_t moment_us = now_us;
    interrupt();
    good &= !waiting_frames && polled_by == &port.thread && now_us > moment_us && !port.lock.holder;
}
static void test_a_preempted_holder_is_hurried_by_the_io_thread(void **state)
{
    (void)state;
    run(preempted);
}

// A call makes one turn; frames that come without end are the I/O thread's, which steps back for others.
static void call_in_a_flood(void *unused)
{
    (void)unused;
    waiting_frames = UINT32_MAX;
    interrupts_again = true;
    port.core.port.lock(&port);
    interrupt();
    port.core.port.unlock(&port);
    good &= own_polls == 1 && port.steps_back == 1 && port.thread.priority == LOW && thread_priority(&starter) == MAIN;
    waiting_frames = 0;
    interrupts_again = false;
}
static void test_a_call_makes_one_turn(void **state)
{
    (void)state;
    run(call_in_a_flood);
}

// A deadline that comes of a call, and before that for which the I/O thread sleeps, ends its sleep; a later one does
// not.
static void deadlines(void *unused)
{
    const struct weir_port *contract = &port.core.port;
    const uint64_t begin_us = now_us;
    (void)unused;
    thread_sleep_until(begin_us + MS);
    device_due_us = begin_us + 5 * MS;
    contract->lock(&port);
    contract->kick(&port);
    contract->unlock(&port);
    const uint32_t sleeps = port.sleeps;
    device_due_us = begin_us + 6 * MS;
    contract->lock(&port);
    contract->kick(&port);
    contract->unlock(&port);
    good &= port.sleeps == sleeps && !came_due_us;
    thread_sleep_until(begin_us + 10 * MS);
    good &= came_due_us == begin_us + 6 * MS && timed_by == &port.thread;
}
static void test_an_earlier_deadline_ends_the_sleep(void **state)
{
    (void)state;
    run(deadlines);
}

static void errnos(void *unused)
{
    (void)unused;
    preempt_port_set_errno(&port, 11);
    good &= thread_self()->user == 11 && port.thread.user == 0;
}
static void test_errno_is_a_thread_s_own(void **state)
{
    (void)state;
    run(errnos);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(test_a_flood_of_frames_leaves_time_to_others),
        cmocka_unit_test(test_wait_and_wake),
        cmocka_unit_test(test_kick),
        cmocka_unit_test(test_output_of_a_burst_leaves_together),
        cmocka_unit_test(test_who_sends_what_was_held_is_hurried),
        cmocka_unit_test(test_output_waits_for_who_was_woken),
        cmocka_unit_test(test_who_is_in_the_stack_takes_frames_in),
        cmocka_unit_test(test_a_preempted_holder_is_hurried_by_the_io_thread),
        cmocka_unit_test(test_a_call_makes_one_turn),
        cmocka_unit_test(test_an_earlier_deadline_ends_the_sleep),
        cmocka_unit_test(test_errno_is_a_thread_s_own),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
