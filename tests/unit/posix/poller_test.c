// SPDX-License-Identifier: BSD-2-Clause
// not on mips: threads, eventfd and ppoll under emulation
#define _DEFAULT_SOURCE
#include "world.h"

#include <time.h>
#include <unistd.h>

static void nap(long us) { nanosleep(&(struct timespec){0, us * 1000}, NULL); }

// Output is sent by the task that made it; the poller is told only when it must wake earlier than it meant to. (A
// machine that is busy may let timers run out between two bytes, or keep the poller from its sleep.)
static void kicks_cost_no_system_call(void **state)
{
    struct world w;
    int client, server;
    const int on = 1;
    char byte;
    uint32_t least = UINT32_MAX;
    (void)state;
    world_open(&w, true, NULL);
    world_streams(&w, &w, LOCALHOST, 7600, &client, &server);
    assert_int_equal(bsd_setsockopt(w.bsd, client, WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, &on, sizeof on), 0);
    const uint64_t before = w.host.inline_turns;
    for (int attempt = 0; attempt < 50 && least >= 50; attempt++) {
        nap(50000);
        const uint32_t signals = atomic_load(&w.host.signals);
        for (int i = 0; i < 200; i++) {
            assert_int_equal(bsd_send(w.bsd, client, "k", 1, 0), 1);
            assert_int_equal(bsd_recv(w.bsd, server, &byte, 1, 0), 1);
        }
        const uint32_t told = atomic_load(&w.host.signals) - signals;
        least = told < least ? told : least;
    }
    posix_host_lock(&w.host);
    assert_true(w.host.inline_turns > before);
    posix_host_unlock(&w.host);
    assert_in_range(least, 0, 49);
    world_close(&w);
}

static void polling_returns_the_deadline(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, false, NULL);
    const uint64_t before = posix_now_us();
    posix_host_poll(&w.host, 3000);
    assert_in_range(posix_now_us() - before, 2500, 1000000);
    posix_host_wake(&w.host);
    posix_host_poll(&w.host, 10000000);  // a wake that came first is not lost
    assert_true(posix_now_us() - before < 5000000);
    world_close(&w);
}

static uint64_t later_us;
static uint64_t due_later(void *context, uint64_t now_us)
{
    (void)now_us;
    *(uint64_t *)context += 1;
    return later_us;
}

// A deadline between two ticks is due at the second of them, and the poller sleeps until then without a look between.
static void a_tick_makes_the_clock_coarse(void **state)
{
    struct posix_host host;
    uint64_t turns = 0;
    (void)state;
    assert_int_equal(
        posix_host_init(&host, &(struct posix_options){.turn = due_later, .context = &turns, .tick_us = 20000}), 0);
    assert_int_equal(host.port.granularity_us, 20000);
    struct weir *weir = weir_create(NULL, 0, &host.port, NULL);
    assert_non_null(weir);
    posix_host_attach(&host, weir);
    later_us = weir_now_us(weir) + 25000;
    (void)posix_host_poll(&host, 0);
    turns = 0;
    do  // once, though it should be due by now
        (void)posix_host_poll(&host, -1);
    while (weir_now_us(weir) < later_us);
    assert_int_equal(weir_now_us(weir) % 20000, 0);
    assert_in_range(turns, 1, 4);
    weir_destroy(weir);
    posix_host_close(&host);
}

// An interface whose frames come gap_us after the last was taken; what comes shows by looking, its descriptor never
// tells.
static struct {
    uint64_t next_us, gap_us;
    uint32_t frames;
} arrivals;

static int arrive(struct weir_netif *netif, int budget)
{
    (void)netif;
    if (!budget || posix_now_us() < arrivals.next_us)
        return 0;
    arrivals.frames++;
    arrivals.next_us = posix_now_us() + arrivals.gap_us;
    return 1;
}

// What the poller knows of its thread before the first poll: −1: nothing.
static long preemptions = -1;

// Polls `calls` times at such a gap. Returns how often that slept.
static uint64_t sleeps_with(struct posix_host *host, const struct posix_options *options, uint64_t gap_us, int calls)
{
    static const struct weir_driver driver = {.poll = arrive};
    struct weir_netif netif = {.driver = &driver};
    assert_int_equal(posix_host_init(host, options), 0);
    struct weir *weir = weir_create(NULL, 0, &host->port, NULL);
    assert_non_null(weir);
    posix_host_attach(host, weir);
    arrivals.next_us = arrivals.frames = 0;
    arrivals.gap_us = gap_us;
    const int silent = dup(host->wake_fd);
    assert_int_equal(posix_host_add(host, &netif, silent), 0);
    (void)posix_host_poll(host, 0);  // takes the wake of the addition
    host->close_frames = true;
    host->preemptions = preemptions;
    host->preempted = pthread_self();
    for (int i = 0; i < calls; i++)
        (void)posix_host_poll(host, 200);
    posix_host_remove(host, &netif);
    weir_destroy(weir);
    posix_host_close(host);
    close(silent);
    return host->sleeps;
}

// To sleep and be woken takes longer than a peer that answers at once. (A machine that is busy may take the CPU for
// longer than that.)
static void frames_that_come_closely_are_met_awake(void **state)
{
    struct posix_host host;
    uint64_t least = UINT64_MAX;
    (void)state;
    for (int attempt = 0; attempt < 200 && least > 1; attempt++) {
        const uint64_t sleeps = sleeps_with(&host, NULL, 20, 10);
        least = sleeps < least ? sleeps : least;
    }
    assert_in_range(least, 0, 1);
    assert_in_range(arrivals.frames, 9, 100);
    uint64_t most = 0;
    for (int attempt = 0; attempt < 200 && most < 9; attempt++) {
        const uint64_t sleeps = sleeps_with(&host, &(struct posix_options){.sleep_at_once = true}, 20, 10);
        most = sleeps > most ? sleeps : most;
    }
    assert_in_range(most, 9, 20);
}

// Frames that do not come are looked for ever more seldom. (Where the CPU is taken away for as long as a call has, that
// call neither looks nor sleeps.)
static void looking_in_vain_becomes_rare(void **state)
{
    struct posix_host host;
    uint64_t sleeps = 0;
    (void)state;
    for (int attempt = 0; attempt < 200 && (sleeps < 19 || host.spin_pause == POSIX_SPIN_PAUSE); attempt++)
        sleeps = sleeps_with(&host, NULL, 10000000, 20);
    assert_in_range(sleeps, 19, 40);
    assert_int_equal(arrivals.frames, 1);
    assert_int_equal(host.spin_pause, 2 * POSIX_SPIN_PAUSE);
    assert_in_range(host.spin_after, 1, POSIX_SPIN_PAUSE);
}

// Where somebody else had the CPU since it looked last, the poller does not look at all, and tries again after some
// sleeps, unless it was told to look. (Where it is taken away for longer than a look has, the poller sleeps without.)
static void who_shares_a_cpu_sleeps_at_once(void **state)
{
    struct posix_host host;
    (void)state;
    preemptions = 1000000000;  // never so many
    host.spin_pause = 0;
    for (int attempt = 0; attempt < 200 && host.spin_pause != 2 * POSIX_SPIN_PAUSE; attempt++)
        assert_in_range(sleeps_with(&host, NULL, 10000000, 1), 1, 2);
    assert_int_equal(host.spin_pause, 2 * POSIX_SPIN_PAUSE);
    assert_in_range(host.spin_after, POSIX_SPIN_PAUSE - 1, POSIX_SPIN_PAUSE);
    assert_true(host.preemptions >= 0 && host.preemptions < preemptions);
    (void)sleeps_with(&host, &(struct posix_options){.spin_us = 1000}, 10000000, 1);
    assert_int_equal(host.spin_pause, POSIX_SPIN_PAUSE);
    assert_int_equal(host.preemptions, preemptions);
    preemptions = -1;
}

// Where that is asked for, the poller looks as long, and as often, as asked.
static void looking_goes_on_where_it_is_asked_for(void **state)
{
    struct posix_host host;
    (void)state;
    assert_in_range(sleeps_with(&host, &(struct posix_options){.spin_us = 1000000}, 300, 40), 0, 20);
    assert_in_range(arrivals.frames, 10, 100);
    assert_int_equal(host.sleeps, 0);
    assert_int_equal(host.spin_after, 0);
}

// A driver in whose second poll another thread seems to have had the lock: it kicked, and woke who waits for `token`.
static struct {
    const struct weir_port *port;
    const void *token;
    int polls;
} other;

static int others_come_between(struct weir_netif *netif, int budget)
{
    (void)netif;
    (void)budget;
    if (++other.polls == 2) {
        if (other.token)
            other.port->wake(other.port->context, other.token);
        else
            other.port->kick(other.port->context);
    }
    return other.polls == 1;
}

static struct weir *open_between(struct posix_host *host, const struct posix_options *options, struct weir_netif *netif,
                                 const void *token)
{
    assert_int_equal(posix_host_init(host, options), 0);
    struct weir *weir = weir_create(NULL, 0, &host->port, NULL);
    assert_non_null(weir);
    posix_host_attach(host, weir);
    assert_int_equal(posix_host_add(host, netif, dup(host->wake_fd)), 0);
    other.port = &host->port;
    other.token = token;
    other.polls = 0;
    return weir;
}

static void close_between(struct posix_host *host, struct weir *weir, struct weir_netif *netif)
{
    close(host->netifs[0].fd);
    posix_host_remove(host, netif);
    weir_destroy(weir);
    posix_host_close(host);
}

// The turn before the sleep is not the one that ran before the kick.
static void a_kick_between_two_batches_brings_a_turn(void **state)
{
    static const struct weir_driver driver = {.poll = others_come_between};
    struct weir_netif netif = {.driver = &driver};
    struct posix_host host;
    uint64_t turns = 0;
    (void)state;
    later_us = WEIR_NEVER;
    struct weir *weir =
        open_between(&host, &(struct posix_options){.turn = due_later, .context = &turns}, &netif, NULL);
    (void)posix_host_poll(&host, 1000);
    assert_int_equal(turns, 3);  // for the frame, for the kick, and what each call of posix_host_poll ends with
    assert_false(host.missed);
    close_between(&host, weir, &netif);
}

// Who is woken while it looks for frames does not go to sleep any more.
static void being_woken_ends_the_looking(void **state)
{
    static const struct weir_driver driver = {.poll = others_come_between};
    struct weir_netif netif = {.driver = &driver};
    struct posix_host host;
    const char token = 0;
    (void)state;
    struct weir *weir = open_between(&host, &(struct posix_options){.spin_us = 20000000}, &netif, &token);
    (void)posix_host_poll(&host, 0);  // takes the wake of the addition
    host.netifs[0].readable = false;  // nothing but looking finds what comes
    other.polls = 1;
    host.last_work_us = posix_now_us();
    host.port.lock(&host);
    assert_int_equal(host.port.wait(&host, &token, posix_now_us() + 10000000), 0);
    host.port.unlock(&host);
    assert_int_equal(other.polls, 2);
    assert_int_equal(host.sleeps, 0);
    close_between(&host, weir, &netif);
}

static enum weir_tx_verdict swallow(struct weir_netif *netif, const struct weir_tx *tx)
{
    (void)netif, (void)tx;
    return WEIR_TX_DONE;
}

// An interface without carrier sends nothing, so that its descriptor has room all the time: the poller sleeps all the
// same.
static void without_carrier_the_poller_sleeps(void **state)
{
    static const struct weir_driver driver = {.name = "swallows", .tx = swallow};
    struct weir_netif netif;
    struct posix_host host;
    (void)state;
    assert_int_equal(posix_host_init(&host, &(struct posix_options){.sleep_at_once = true}), 0);
    struct weir *weir = weir_create(NULL, 0, &host.port, NULL);
    assert_non_null(weir);
    posix_host_attach(&host, weir);
    const int writable = dup(host.wake_fd);
    weir_netif_init(&netif, "eth0", &driver, &weir_link_ethernet);
    assert_int_equal(weir_netif_add(weir, &netif), WEIR_OK);
    assert_int_equal(posix_host_add(&host, &netif, writable), 0);
    weir_netif_carrier(&netif, false);
    assert_true(netif.flags & WEIR_NETIF_TX_BLOCKED);
    (void)posix_host_poll(&host, 0);  // takes the wake of the addition
    const uint64_t end_us = posix_now_us() + 50000;
    uint32_t calls = 0;
    while (posix_now_us() < end_us) {
        (void)posix_host_poll(&host, 10000);
        calls++;
    }
    assert_in_range(calls, 1, 10);
    weir_netif_carrier(&netif, true);
    assert_false(netif.flags & WEIR_NETIF_TX_BLOCKED);
    weir_tx_full(&netif);  // now room is waited for, and there is some
    (void)posix_host_poll(&host, 10000000);
    assert_false(netif.flags & WEIR_NETIF_TX_BLOCKED);
    posix_host_remove(&host, &netif);
    posix_host_remove(&host, &netif);  // which is not there any more
    weir_netif_remove(&netif);
    weir_destroy(weir);
    posix_host_close(&host);
    close(writable);
}

static void a_host_has_room_for_so_many_interfaces(void **state)
{
    static struct weir_netif netifs[POSIX_NETIFS + 1];
    struct posix_host host;
    (void)state;
    assert_int_equal(posix_host_init(&host, NULL), 0);
    for (uint32_t i = 0; i < POSIX_NETIFS; i++)
        assert_int_equal(posix_host_add(&host, &netifs[i], -1), 0);
    assert_int_equal(posix_host_add(&host, &netifs[POSIX_NETIFS], -1), -1);
    posix_host_remove(&host, &netifs[0]);
    assert_int_equal(posix_host_add(&host, &netifs[POSIX_NETIFS], -1), 0);
    posix_host_close(&host);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(kicks_cost_no_system_call),
        cmocka_unit_test(polling_returns_the_deadline),
        cmocka_unit_test(a_tick_makes_the_clock_coarse),
        cmocka_unit_test(frames_that_come_closely_are_met_awake),
        cmocka_unit_test(looking_in_vain_becomes_rare),
        cmocka_unit_test(who_shares_a_cpu_sleeps_at_once),
        cmocka_unit_test(looking_goes_on_where_it_is_asked_for),
        cmocka_unit_test(a_kick_between_two_batches_brings_a_turn),
        cmocka_unit_test(being_woken_ends_the_looking),
        cmocka_unit_test(without_carrier_the_poller_sleeps),
        cmocka_unit_test(a_host_has_room_for_so_many_interfaces),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
