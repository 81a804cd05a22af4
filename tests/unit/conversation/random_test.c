// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// Conversations of two instances, each decided by a seed (talk.h). WEIR_SEED=N runs conversation N alone and tells
// about it, WEIR_SEEDS=N the first N. With WEIR_TEST_DRIVER all run on that driver.
#include <stdlib.h>

#include "pair.h"
#include "talk.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__mips__)
#define SEEDS 400u
#else
#define SEEDS 4000u
#endif
#define BLOCKS 12u

static struct talk_plan plan_now;
static bool running;
static struct talk_stats sum;

static void show_replay(void)
{
    if (!running)
        return;
    running = false;
    const char *driver = getenv("WEIR_TEST_DRIVER");
    fprintf(stderr, "\nto replay: %s%s%sWEIR_SEED=%llu, then the name of this program\n",
            driver ? "WEIR_TEST_DRIVER=" : "", driver ? driver : "", driver ? " " : "",
            (unsigned long long)plan_now.seed);
    talk_describe(stderr, &plan_now);
}

// A crash under the address sanitizer names its seed, too.
void __asan_on_error(void);
void __asan_on_error(void) { show_replay(); }

static void run_seed(uint64_t seed, struct talk_stats *stats)
{
    struct fixture environment;
    fixture_set_mode(&environment, FIXTURE_FROM_ENVIRONMENT);
    talk_plan_make(&plan_now, seed, environment.mode == FIXTURE_PLAIN ? FIXTURE_FROM_ENVIRONMENT : environment.mode);
    running = true;
    talk_run(&plan_now, stats);
    running = false;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

static void one_conversation(void **state)
{
    struct talk_stats stats;
    (void)state;
    run_seed(number("WEIR_SEED", 0), &stats);
    talk_describe(stderr, &plan_now);
    fprintf(stderr, "%llu bytes in %.3f s, %u frames, %u segments retransmitted, %u timeouts\n",
            (unsigned long long)stats.bytes, (double)stats.virtual_us / 1e6, stats.frames, stats.retransmitted,
            stats.timeouts);
}

static void conversations(void **state)
{
    const uint64_t first = (uintptr_t)*state, seeds = number("WEIR_SEEDS", SEEDS);
    for (uint64_t seed = first; seed < seeds; seed += BLOCKS) {
        struct talk_stats stats;
        run_seed(seed, &stats);
        sum.bytes += stats.bytes;
        sum.virtual_us += stats.virtual_us;
        sum.retransmitted += stats.retransmitted;
        sum.timeouts += stats.timeouts;
        sum.frames += stats.frames;
    }
}

static int explain(void **state)
{
    (void)state;
    show_replay();
    return 0;
}

int main(void)
{
    if (getenv("WEIR_SEED")) {
        const struct CMUnitTest one[] = {cmocka_unit_test_teardown(one_conversation, explain)};
        return cmocka_run_group_tests(one, NULL, NULL);
    }
    struct CMUnitTest tests[BLOCKS];
    static char names[BLOCKS][40];
    for (uintptr_t block = 0; block < BLOCKS; block++) {
        snprintf(names[block], sizeof names[block], "conversations_of_seeds_%02u_modulo_%u", (unsigned)block, BLOCKS);
        tests[block] = (struct CMUnitTest){names[block], conversations, NULL, explain, (void *)block};
    }
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fprintf(stderr, "%llu bytes in %.0f s of virtual time, %u frames, %u segments retransmitted, %u timeouts\n",
            (unsigned long long)sum.bytes, (double)sum.virtual_us / 1e6, sum.frames, sum.retransmitted, sum.timeouts);
    return failed;
}
