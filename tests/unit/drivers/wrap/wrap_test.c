// SPDX-License-Identifier: BSD-2-Clause
// What every wrapper hands on: all that the driver offers, and all that it says. Over a driver with every function, and
// over one that only sends.
#include "drivers/link_ends.h"

#include <unistd.h>

#include "drivers/wrap/impair.h"
#include "drivers/wrap/pcap.h"
#include "drivers/wrap/shaper.h"
#include "drivers/wrap/steer.h"

static struct {
    uint32_t polls, filters, flushes, timers;
    uint8_t address[6];
    bool join;
} asked;
static struct impair impair;
static struct shaper shaper;
static struct pcap pcap;
static struct pcap_file file;
static struct steer steer;
static struct steer_group group;
static char path[64];

static int whole_poll(struct weir_netif *netif, int budget)
{
    asked.polls++;
    netif->stats.rx_dropped++;
    return budget;
}
static void whole_filter(struct weir_netif *netif, const uint8_t address[6], bool join)
{
    (void)netif;
    asked.filters++;
    memcpy(asked.address, address, 6);
    asked.join = join;
}
static void whole_flush(struct weir_netif *netif) { (void)netif, asked.flushes++; }
static uint64_t whole_timer(struct weir_netif *netif, uint64_t now_us)
{
    (void)netif;
    asked.timers++;
    return now_us + 777;
}
static const struct weir_driver whole = {.name = "whole",
                                         .tx = ends_tx,
                                         .flush = whole_flush,
                                         .poll = whole_poll,
                                         .filter = whole_filter,
                                         .timer = whole_timer},
                                bare = {.name = "bare", .tx = ends_tx};

static void wake(void *context) { (void)context; }

static struct weir_netif *wrap_impair(struct weir_netif *inner)
{
    return impair_wrap(&impair, inner, &(struct impair_config){0});
}
static void end_impair(void) { impair_close(&impair); }
static struct weir_netif *wrap_shaper(struct weir_netif *inner)
{
    return shaper_wrap(&shaper, inner, &(struct shaper_config){{0}, {0}});
}
static void end_shaper(void) { shaper_close(&shaper); }
static struct weir_netif *wrap_pcap(struct weir_netif *inner)
{
    snprintf(path, sizeof path, "/tmp/weir-wrap-%d.pcapng", (int)getpid());
    assert_int_equal(pcap_open(&file, path, 0, 0), WEIR_OK);
    return pcap_wrap(&pcap, inner, &file);
}
static void end_pcap(void)
{
    pcap_unwrap(&pcap);
    pcap_close(&file);
    unlink(path);
}
static struct weir_netif *wrap_steer(struct weir_netif *inner)
{
    steer_group_init(&group, 1);
    return steer_wrap(&steer, inner, &group, 0, wake, NULL);
}
static void end_steer(void) { steer_close(&steer); }

static const struct {
    struct weir_netif *(*wrap)(struct weir_netif *inner);
    void (*end)(void);
} wrappers[] = {{wrap_impair, end_impair}, {wrap_shaper, end_shaper}, {wrap_pcap, end_pcap}, {wrap_steer, end_steer}};
#define WRAPPERS (sizeof wrappers / sizeof wrappers[0])

static struct weir_netif *open_over(uint32_t i, const struct weir_driver *driver)
{
    ends_open();
    memset(&asked, 0, sizeof asked);
    ends.netif.driver = driver;
    struct weir_netif *const outer = wrappers[i].wrap(&ends.netif);
    ends_attach(outer);
    return outer;
}

static void what_the_stack_asks_reaches_the_driver(void **state)
{
    static const uint8_t group_address[6] = {1, 0, 0x5e, 0, 0, 5};
    (void)state;
    for (uint32_t i = 0; i < WRAPPERS; i++) {
        struct weir_netif *const outer = open_over(i, &whole);
        assert_int_equal(outer->driver->poll(outer, 5), 5);
        assert_int_equal(asked.polls, 1);
        assert_int_equal(outer->stats.rx_dropped, 1);  // what the driver dropped shows where people look
        assert_int_equal(ends.netif.stats.rx_dropped, 0);
        outer->driver->filter(outer, group_address, true);
        assert_int_equal(asked.filters, 1);
        assert_memory_equal(asked.address, group_address, 6);
        assert_true(asked.join);
        outer->driver->flush(outer);
        assert_int_equal(asked.flushes, 1);
        assert_true(outer->driver->timer(outer, ends.now_us) <= ends.now_us + 777);
        assert_int_equal(asked.timers, 1);
        assert_int_equal(ends_send(outer, 7, 100), WEIR_TX_DONE);
        assert_int_equal(ends_number(&ends.sent[0]), 7);
        wrappers[i].end();
    }
}

static void what_the_driver_says_reaches_the_stack(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < WRAPPERS; i++) {
        struct weir_netif *const outer = open_over(i, &whole);
        outer->flags |= WEIR_NETIF_TX_BLOCKED;
        weir_netif_ready(&ends.netif);
        assert_int_equal(ends.ready_count, 1);
        weir_netif_carrier(&ends.netif, false);
        assert_int_equal(ends.carrier_count, 1);
        assert_false(ends.carrier);
        weir_netif_complete(&ends.netif, &ends, 5);
        assert_int_equal(ends.complete_count, 1);
        assert_ptr_equal(ends.completed_owner, &ends);
        ends_arrive(9, 100);
        assert_int_equal(ends.received_count, 1);
        assert_int_equal(ends_number(&ends.received[0]), 9);
        wrappers[i].end();
    }
}

static void a_driver_that_only_sends_is_wrapped(void **state)
{
    static const uint8_t group_address[6] = {1, 0, 0x5e, 0, 0, 5};
    (void)state;
    for (uint32_t i = 0; i < WRAPPERS; i++) {
        struct weir_netif *const outer = open_over(i, &bare);
        if (outer->driver->poll)
            assert_int_equal(outer->driver->poll(outer, 5), 0);
        if (outer->driver->filter)
            outer->driver->filter(outer, group_address, false);
        if (outer->driver->flush)
            outer->driver->flush(outer);
        assert_true(outer->driver->timer == NULL || outer->driver->timer(outer, ends.now_us) == WEIR_NEVER);
        assert_int_equal(ends_send(outer, 8, 100), WEIR_TX_DONE);
        assert_int_equal(ends_number(&ends.sent[0]), 8);
        ends.full = true;
        assert_int_equal(ends_send(outer, 9, 100), WEIR_TX_FULL);
        wrappers[i].end();
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(what_the_stack_asks_reaches_the_driver),
        cmocka_unit_test(what_the_driver_says_reaches_the_stack),
        cmocka_unit_test(a_driver_that_only_sends_is_wrapped),
    };
    return cmocka_run_group_tests_name("wrap/wrap", tests, NULL, ends_end);
}
