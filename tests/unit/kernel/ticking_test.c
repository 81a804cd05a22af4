// SPDX-License-Identifier: BSD-2-Clause
// The port to kernels with a tick (FreeRTOS, Zephyr, CMSIS-RTOS2) over a kernel that is this file: a sleep is a call
// of the test, which says what comes meanwhile. What the contract of weir/port.h says of wait, wake and kick.
#include "ports/common/ticking.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "ports/common/io_thread.h"
#include "weir/error.h"

#define TICK_US 1000u
#define MS UINT64_C(1000)

static uint64_t now_us;
static int locked, notified[3];  // by thread; the last is the I/O thread's
static int current;
static uint32_t slept[64], sleeps;
static uint32_t steps[8], step_count;
static void (*meanwhile)(void);
static struct port_ticking port;
static jmp_buf enough;

static uint64_t board_now(void) { return now_us; }
static void board_entropy(void *out, size_t bytes) { memset(out, 7, bytes); }
static void *board_alloc(size_t bytes) { return malloc(bytes); }
static void board_free(void *memory) { free(memory); }
static const struct port_board board = {board_now, 50, board_entropy, board_alloc, board_free};

static void lock(struct port_ticking *of)
{
    assert_ptr_equal(of, &port);
    assert_int_equal(locked++, 0);
}
static void unlock(struct port_ticking *of)
{
    assert_ptr_equal(of, &port);
    assert_int_equal(locked--, 1);
}
static void *self(void) { return &notified[current]; }
static void notify(void *thread)
{
    if (thread)
        ++*(int *)thread;
}
static void sleep_ticks(uint32_t ticks)
{
    assert_int_equal(locked, 0);
    assert_int_not_equal(ticks, 0);
    slept[sleeps++ % 64] = ticks;
    if (meanwhile)
        meanwhile();
}
static void step(uint32_t priority) { steps[step_count++ % 8] = priority; }
static struct port_kernel kernel = {lock, unlock, self, notify, sleep_ticks, step, 0};

static int setup(void **state)
{
    (void)state;
    now_us = 5 * MS;
    locked = current = 0;
    sleeps = step_count = 0;
    meanwhile = NULL;
    memset(notified, 0, sizeof notified);
    kernel.extra_ticks = 0;
    port_ticking_init(&port, &board, &kernel, TICK_US);
    return 0;
}

static int wait(const void *token, uint64_t deadline_us)
{
    port.core.port.lock(&port);
    const int result = port.core.port.wait(&port, token, deadline_us);
    assert_int_equal(locked, 1);
    port.core.port.unlock(&port);
    return result;
}
static void wake(const void *token)
{
    port.core.port.lock(&port);
    port.core.port.wake(&port, token);
    port.core.port.unlock(&port);
}

static const char one, other;
static void nothing(void) {}
static void pass_ms(void) { now_us += slept[(sleeps - 1) % 64] * MS; }
static void woken(void) { wake(&one); }
static void another_woken(void)
{
    wake(&other);
    now_us += 100 * MS;
}

static void sleeps_are_rounded_up_to_ticks(void **state)
{
    static const struct {
        uint64_t us;
        uint32_t extra, ticks;
    } sleep[] = {{1, 0, 1}, {999, 0, 1}, {1000, 0, 1}, {1001, 0, 2}, {10000, 1, 11}};
    (void)state;
    meanwhile = pass_ms;
    for (uint32_t i = 0; i < 5; i++) {
        kernel.extra_ticks = sleep[i].extra;
        assert_int_equal(wait(&one, now_us + sleep[i].us), 1);
        assert_int_equal(sleeps, i + 1);
        assert_int_equal(slept[i], sleep[i].ticks);
    }
    assert_int_equal(wait(&one, now_us), 1);  // it has come already: nobody sleeps
    assert_int_equal(wait(&one, 0), 1);
    assert_int_equal(sleeps, 5);
    meanwhile = nothing;
    assert_int_equal(wait(&one, WEIR_NEVER), 0);
    assert_int_equal(slept[5], PORT_FOREVER);
    assert_int_equal(wait(&one, WEIR_NEVER - 1), 0);  // longer than a kernel counts: looked at again
    assert_int_equal(slept[6], 0x40000000);
}

static void who_waits_is_woken_by_its_token(void **state)
{
    (void)state;
    meanwhile = woken;
    assert_int_equal(wait(&one, now_us + 50 * MS), 0);
    assert_int_equal(notified[0], 1);
    meanwhile = another_woken;
    assert_int_equal(wait(&one, now_us + 50 * MS), 1);
    assert_int_equal(notified[0], 1);  // not for it
    wake(&one);                        // nobody waits any more
    assert_int_equal(notified[0], 1);
}

// Three wait; the middle one leaves first.
static int results[3];
static void third(void)
{
    meanwhile = nothing;
    wake(&other);
    assert_int_equal(notified[0] + notified[2], 0);
    assert_int_equal(notified[1], 1);
    wake(&one);
    assert_int_equal(notified[0], 1);
    assert_int_equal(notified[2], 1);
}
static void second(void)
{
    meanwhile = third;
    current = 2;
    results[2] = wait(&one, now_us + 50 * MS);
    current = 1;
}
static void first(void)
{
    meanwhile = second;
    current = 1;
    results[1] = wait(&other, now_us + 50 * MS);
    current = 0;
}

static void several_wait_at_once(void **state)
{
    (void)state;
    meanwhile = first;
    results[0] = wait(&one, now_us + 50 * MS);
    for (int i = 0; i < 3; i++)
        assert_int_equal(results[i], 0);
    assert_null(port.waiting);
}

static void a_kick_is_told_after_the_lock(void **state)
{
    (void)state;
    port.thread = &notified[2];
    port.core.port.lock(&port);
    port.core.port.kick(&port);
    port.core.port.kick(&port);
    assert_int_equal(notified[2], 0);
    port.core.port.unlock(&port);
    assert_int_equal(notified[2], 1);
    port.core.port.lock(&port);
    port.core.port.unlock(&port);
    assert_int_equal(notified[2], 1);
}

// --- the I/O thread --------------------------------------------------------------------------------------------------

static int frames_left;
static int poll_driver(struct weir_netif *netif, int budget)
{
    const int frames = frames_left < budget ? frames_left : budget;
    (void)netif;
    frames_left -= frames;
    return frames;
}
static enum weir_tx_verdict take_frame(struct weir_netif *netif, const struct weir_tx *tx)
{
    return (void)netif, (void)tx, WEIR_TX_DONE;
}
static const struct weir_driver driver = {.name = "counter", .tx = take_frame, .poll = poll_driver};

static void stop_at_the_third(void)
{
    pass_ms();
    if (sleeps == 3)
        longjmp(enough, 1);
    frames_left = sleeps == 1 ? 8 * (PORT_BUSY_TURNS + 5) : 0;  // a flood, once
}

static void a_flood_steps_back_and_a_rest_forward(void **state)
{
    static struct weir_netif netif;
    (void)state;
    struct weir *const weir = weir_create(NULL, 0, &port.core.port, NULL);
    assert_non_null(weir);
    weir_netif_init(&netif, "eth0", &driver, &weir_link_rawip);
    assert_int_equal(weir_netif_add(weir, &netif), WEIR_OK);
    port_attach(&port.core, weir);
    assert_true(port_add(&port.core, &netif));
    port.priority = 9;
    port.back_priority = 2;
    current = 2;
    meanwhile = stop_at_the_third;
    if (!setjmp(enough))
        port_ticking_io(&port);
    assert_ptr_equal(port.thread, &notified[2]);
    assert_int_equal(frames_left, 0);
    assert_int_equal(step_count, 2);
    assert_int_equal(steps[0], 2);
    assert_int_equal(steps[1], 9);
    weir_destroy(weir);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup(sleeps_are_rounded_up_to_ticks, setup),
        cmocka_unit_test_setup(who_waits_is_woken_by_its_token, setup),
        cmocka_unit_test_setup(several_wait_at_once, setup),
        cmocka_unit_test_setup(a_kick_is_told_after_the_lock, setup),
        cmocka_unit_test_setup(a_flood_steps_back_and_a_rest_forward, setup),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
