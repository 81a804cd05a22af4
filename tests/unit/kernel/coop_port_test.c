// SPDX-License-Identifier: BSD-2-Clause
// The stack as the cooperative kernel's server, with an interface whose driver is the test.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "coop_machine.h"
#include "weir/socket.h"

#define NEVER UINT64_MAX
#define FRAME 42u

static uint64_t due_us;
static struct weir *weir;
static struct weir_netif netif;
static uint32_t waiting, sent, polls, timers;
static uint8_t last[FRAME];

// --- the driver ------------------------------------------------------------------------------------------------------

// Who has 10.0.0.1, says 10.0.0.2.
static const uint8_t question[FRAME] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 2, 0, 0, 0, 0,  5, 8, 6,
                                        0,    1,    8,    0,    6,    4,    0, 1, 2, 0, 0,  0, 0, 5,
                                        10,   0,    0,    2,    0,    0,    0, 0, 0, 0, 10, 0, 0, 1};

static enum weir_tx_verdict device_tx(struct weir_netif *unused, const struct weir_tx *tx)
{
    uint32_t at = 0;
    (void)unused;
    for (uint32_t i = 0; i < tx->count && at < FRAME; at += tx->slices[i++].length)
        memcpy(last + at, tx->slices[i].data, tx->slices[i].length < FRAME - at ? tx->slices[i].length : FRAME - at);
    sent += last[20] == 0 && last[21] == 2;  // answers alone
    return WEIR_TX_DONE;
}

static int device_poll(struct weir_netif *own, int budget)
{
    int count = 0;
    polls++;
    for (; waiting > 0 && count < budget; count++, waiting--) {
        const struct weir_slice slice = {question, FRAME};
        weir_netif_deliver(own, &(struct weir_frame){.slices = &slice, .length = FRAME, .count = 1});
    }
    return count;
}

static uint64_t device_timer(struct weir_netif *unused, uint64_t now)
{
    (void)unused, (void)now;
    timers++;
    return due_us;
}

static const struct weir_driver whole = {.name = "device", .tx = device_tx, .poll = device_poll, .timer = device_timer},
                                bare = {.name = "bare", .tx = device_tx};

static int setup(void **state)
{
    (void)state;
    clock_us = 1000000;
    due_us = NEVER;
    waiting = sent = polls = timers = 0;
    weir = coop_port_start(&machine, NULL, 0);
    assert_non_null(weir);
    assert_ptr_equal(coop_port_weir(), weir);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    weir_destroy(weir);
    return 0;
}

static void add(const struct weir_driver *driver)
{
    weir_netif_init(&netif, "eth0", driver, &weir_link_ethernet);
    memcpy(netif.mac, (const uint8_t[6]){2, 0, 0, 0, 0, 9}, 6);
    assert_int_equal(weir_netif_add(weir, &netif), WEIR_OK);
    assert_int_equal(weir_netif_set_address(&netif, weir_ip4(10, 0, 0, 1), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_true(coop_port_add(&netif));
}

// A round takes a budget of frames; as long as there are more it does not sleep.
static void frames_come_in_by_the_budget(void **state)
{
    (void)state;
    add(&whole);
    waiting = 2 * COOP_PORT_BUDGET + 1;
    assert_true(coop_round() <= clock_us);
    assert_int_equal(waiting, COOP_PORT_BUDGET + 1);
    assert_true(coop_round() <= clock_us);
    assert_int_equal(waiting, 1);
    while (coop_round() <= clock_us)
        ;
    assert_int_equal(waiting, 0);
    assert_true(sent > 0);
    assert_memory_equal(last, question + 6, 6);
    weir_netif_remove(&netif);
}

static void the_drivers_deadline_ends_the_sleep(void **state)
{
    (void)state;
    add(&whole);
    while (coop_round() <= clock_us)
        ;
    assert_true(timers > 0 && polls > 0);
    const uint64_t stacks_us = coop_round();
    assert_true(stacks_us > clock_us);
    due_us = clock_us + 5;
    assert_true(coop_round() == due_us);
    due_us = stacks_us + 1;  // the stack's own comes first
    assert_true(coop_round() <= stacks_us);
    weir_netif_remove(&netif);
}

static void a_driver_that_only_sends_is_served(void **state)
{
    (void)state;
    add(&bare);
    while (coop_round() <= clock_us)
        ;
    const struct weir_slice slice = {question, FRAME};
    weir_netif_deliver(&netif, &(struct weir_frame){.slices = &slice, .length = FRAME, .count = 1});
    while (coop_round() <= clock_us)
        ;
    assert_int_equal(sent, 1);
    weir_netif_remove(&netif);
}

static void there_is_room_for_so_many_interfaces(void **state)
{
    static struct weir_netif others[COOP_PORT_NETIFS];
    (void)state;
    for (uint32_t i = 0; i < COOP_PORT_NETIFS; i++) {
        weir_netif_init(&others[i], "dev", &bare, &weir_link_ethernet);
        assert_true(coop_port_add(&others[i]));
    }
    assert_false(coop_port_add(&netif));
    assert_true(coop_round() > clock_us);
}

// With more news than a round tells, the next follows at once.
static void news_are_told_by_the_budget(void **state)
{
    weir_socket sockets[20];
    (void)state;
    const struct weir_endpoint nobody = {weir_ip4(127, 0, 0, 1), 9};
    for (uint32_t i = 0; i < 20; i++) {
        sockets[i] = weir_socket_open(weir, WEIR_STREAM, 0);
        assert_true(sockets[i] > 0);
        assert_int_equal(weir_socket_connect(weir, sockets[i], &nobody), WEIR_IN_PROGRESS);
    }
    uint32_t rounds = 1;
    while (coop_round() <= clock_us)
        rounds++;
    assert_true(rounds >= 2);
    for (uint32_t i = 0; i < 20; i++) {
        assert_true(weir_socket_ready(weir, sockets[i]) & WEIR_ERROR);  // refused
        assert_int_equal(weir_socket_close(weir, sockets[i]), WEIR_OK);
    }
}

static void no_memory_is_no_instance(void **state)
{
    static const struct coop_board poor = {{now_us, sleep_until}, {.entropy = entropy}};
    static uint64_t memory[2];
    (void)state;
    assert_null(coop_port_start(&poor, memory, sizeof memory));
    assert_null(coop_port_weir());
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(frames_come_in_by_the_budget, setup, teardown),
        cmocka_unit_test_setup_teardown(the_drivers_deadline_ends_the_sleep, setup, teardown),
        cmocka_unit_test_setup_teardown(a_driver_that_only_sends_is_served, setup, teardown),
        cmocka_unit_test_setup_teardown(there_is_room_for_so_many_interfaces, setup, teardown),
        cmocka_unit_test_setup_teardown(news_are_told_by_the_budget, setup, teardown),
        cmocka_unit_test(no_memory_is_no_instance),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
