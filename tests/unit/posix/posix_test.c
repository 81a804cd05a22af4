// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// not on mips: threads, eventfd and ppoll under emulation
#define _DEFAULT_SOURCE
#include "world.h"

#include <pthread.h>
#include <signal.h>
#include <sys/time.h>
#include <time.h>
#include <unistd.h>

static void nap(long us) { nanosleep(&(struct timespec){0, us * 1000}, NULL); }

static void waiting_ends_at_the_deadline(void **state)
{
    struct world w;
    int token;
    (void)state;
    for (int threaded = 0; threaded < 2; threaded++) {
        world_open(&w, threaded, NULL);
        const struct weir_port *port = &w.host.port;
        port->lock(port->context);
        const uint64_t before = posix_now_us();
        assert_int_equal(port->wait(port->context, &token, before + 5300), 1);
        assert_in_range(posix_now_us() - before, 5300, 1000000);
        assert_int_equal(port->wait(port->context, &token, before), 1);  // past already
        port->unlock(port->context);
        world_close(&w);
    }
}

struct sleeper {
    struct world *world;
    const void *token;
    int answer;
    atomic_int stage;
};

static void *sleep_on_token(void *argument)
{
    struct sleeper *sleeper = argument;
    const struct weir_port *port = &sleeper->world->host.port;
    port->lock(port->context);
    atomic_store(&sleeper->stage, 1);
    sleeper->answer = port->wait(port->context, sleeper->token, posix_now_us() + 20000000);
    atomic_store(&sleeper->stage, 2);
    port->unlock(port->context);
    return NULL;
}

static void only_the_token_wakes(bool threaded)
{
    struct world w;
    char tokens[2];
    pthread_t threads[2];
    world_open(&w, threaded, NULL);
    const struct weir_port *port = &w.host.port;
    struct sleeper sleepers[2] = {{&w, &tokens[0], -1, 0}, {&w, &tokens[1], -1, 0}};
    for (int i = 0; i < 2; i++) {
        pthread_create(&threads[i], NULL, sleep_on_token, &sleepers[i]);
        while (!atomic_load(&sleepers[i].stage))
            nap(100);
    }
    nap(10000);
    for (int i = 0; i < 2; i++) {
        port->lock(port->context);
        port->wake(port->context, &tokens[i]);
        port->unlock(port->context);
        pthread_join(threads[i], NULL);
        assert_int_equal(sleepers[i].answer, 0);
        if (i == 0)
            assert_int_equal(atomic_load(&sleepers[1].stage), 1);  // the other sleeps on
    }
    world_close(&w);
}

static void a_token_wakes_its_task(void **state)
{
    (void)state;
    only_the_token_wakes(true);
    only_the_token_wakes(false);  // one of the two has the poller's role, and hands it on
}

static void starting_and_stopping(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, false, NULL);
    for (int i = 0; i < 5; i++) {
        assert_int_equal(posix_host_start(&w.host), 0);
        posix_host_stop(&w.host);
    }
    posix_host_stop(&w.host);
    world_close(&w);
}

static void on_alarm(int number) { (void)number; }

// A signal ends a sleep early, and is told.
static void sleeping_takes_its_time(void **state)
{
    (void)state;
    const uint64_t before = posix_now_us();
    assert_true(posix_sleep(3000));
    assert_true(posix_now_us() - before >= 3000);
    const struct sigaction action = {.sa_handler = on_alarm};
    struct sigaction old;
    sigaction(SIGALRM, &action, &old);
    const struct itimerval soon = {.it_interval = {0, 5000}, .it_value = {0, 5000}}, never = {{0, 0}, {0, 0}};
    setitimer(ITIMER_REAL, &soon, NULL);
    assert_false(posix_sleep(20000000));
    setitimer(ITIMER_REAL, &never, NULL);
    sigaction(SIGALRM, &old, NULL);
    assert_true(posix_now_us() - before < 20000000);
}

// A quarter of the machine's memory, or what the configuration names if that is less.
static void the_budget_is_a_part_of_memory(void **state)
{
    (void)state;
    const uint64_t bytes = (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    assert_true(posix_memory_budget() > 0);
    assert_true(posix_memory_budget() <= bytes / 4);
    if (WEIR_CFG_MEMORY_BUDGET_MB)
        assert_true(posix_memory_budget() <= (uint64_t)WEIR_CFG_MEMORY_BUDGET_MB << 20);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(waiting_ends_at_the_deadline),   cmocka_unit_test(a_token_wakes_its_task),
        cmocka_unit_test(starting_and_stopping),          cmocka_unit_test(sleeping_takes_its_time),
        cmocka_unit_test(the_budget_is_a_part_of_memory),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
