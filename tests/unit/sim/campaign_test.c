// SPDX-License-Identifier: BSD-2-Clause
// The campaign in its short form: `make sim` runs it for as long as one likes. WEIR_SEED=N runs seed N alone and tells
// about it, WEIR_SEEDS=N the first N.
#include "sim/campaign.h"
#include "sim/replay.h"

#include "sink.h"

#if defined(__SANITIZE_ADDRESS__) || defined(__mips__)
#define SEEDS 400u
#else
#define SEEDS 6000u
#endif
#define BLOCKS 8u

static const char *program;
static bool under_way;  // a seed, that has not ended well
static struct campaign_result sum;

// cmocka takes a failed assertion, and a signal as well, for the end of a test.
static int tell_replay(void **state)
{
    (void)state;
    if (under_way)
        fprintf(stderr, "\nto replay: %s\n", replay_command());
    under_way = false;
    return 0;
}

static uint64_t number(const char *name, uint64_t otherwise)
{
    const char *text = getenv(name);
    return text ? strtoull(text, NULL, 0) : otherwise;
}

static void run_seed(uint64_t seed, FILE *out)
{
    struct campaign_result result;
    replay_set("WEIR_SEED=%llu %s", (unsigned long long)seed, program);
    under_way = true;
    if (!campaign_run(seed, NULL, out, &result))
        fail_msg("seed %llu: %s", (unsigned long long)seed, result.failure);
    under_way = false;
    sum.events += result.events;
    sum.virtual_ns += result.virtual_ns;
    sum.bytes += result.bytes;
    sum.retransmitted += result.retransmitted;
    sum.timeouts += result.timeouts;
}

static void campaigns(void **state)
{
    const uint64_t first = (uintptr_t)*state + 1, seeds = number("WEIR_SEEDS", SEEDS);
    for (uint64_t seed = first; seed <= seeds; seed += BLOCKS)
        run_seed(seed, NULL);
}

static void one_campaign(void **state)
{
    (void)state;
    run_seed(number("WEIR_SEED", 1), stderr);
}

// The second time is the first time again, in every number.
static void a_seed_stands_for_one_run(void **state)
{
    struct campaign_result results[2];
    (void)state;
    for (uint64_t seed = 500; seed < 520; seed++) {
        for (int time = 0; time < 2; time++)
            assert_true(campaign_run(seed, NULL, NULL, &results[time]));
        assert_memory_equal(&results[0], &results[1], sizeof results[0]);
    }
}

int main(int argc, char **argv)
{
    program = argc ? argv[0] : "";
    replay_watch();
    if (getenv("WEIR_SEED")) {
        const struct CMUnitTest one[] = {cmocka_unit_test_teardown(one_campaign, tell_replay)};
        return cmocka_run_group_tests(one, NULL, NULL);
    }
    struct CMUnitTest tests[BLOCKS + 1];
    static char names[BLOCKS][40];
    for (uintptr_t block = 0; block < BLOCKS; block++) {
        snprintf(names[block], sizeof names[block], "networks_of_seeds_%u_modulo_%u", (unsigned)block + 1, BLOCKS);
        tests[block] = (struct CMUnitTest){names[block], campaigns, NULL, tell_replay, (void *)block};
    }
    tests[BLOCKS] = (struct CMUnitTest)cmocka_unit_test(a_seed_stands_for_one_run);
    const int failed = cmocka_run_group_tests(tests, NULL, NULL);
    fprintf(stderr, "%llu events, %llu bytes in %.0f s of virtual time, %u segments retransmitted, %u timeouts\n",
            (unsigned long long)sum.events, (unsigned long long)sum.bytes, (double)sum.virtual_ns / 1e9,
            sum.retransmitted, sum.timeouts);
    return failed;
}
