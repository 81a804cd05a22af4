// SPDX-License-Identifier: BSD-2-Clause
#include "sim/outside.h"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

struct seen {
    struct sim *sim;
    uint32_t count, length;
    uint64_t at_ns;
    uint8_t last[2000];
};

static void see(void *context, const uint8_t *frame, uint32_t length)
{
    struct seen *seen = context;
    seen->count++;
    seen->length = length;
    seen->at_ns = sim_now(seen->sim);
    memcpy(seen->last, frame, length);
}

// A frame from outside crosses the link in the time of its rate and delay, byte for byte, and what does not fit the
// queue is dropped.
static void frames_cross_the_link(void **state)
{
    struct seen left = {0}, right = {0};
    uint8_t frame[1000];
    (void)state;
    struct sim *sim = sim_open(&(struct sim_options){.seed = 1});
    left.sim = right.sim = sim;
    struct sim_node *a = sim_outside_add(sim, "a", see, &left), *b = sim_outside_add(sim, "b", see, &right);
    sim_outside_send(a, frame, sizeof frame);  // there is no link yet
    const struct sim_way way = {.rate = 8000000, .delay_ns = SIM_MS(5), .queue_bytes = 2500};
    struct sim_link *link = sim_link_add(sim, a, b, &(struct sim_link_options){.there = way});
    assert_int_equal(sim_due(sim), SIM_NEVER);
    for (uint32_t i = 0; i < sizeof frame; i++)
        frame[i] = (uint8_t)i;
    sim_outside_send(a, frame, sizeof frame);
    assert_int_equal(sim_due(sim), SIM_MS(1));  // 1000 bytes at 8 Mbit/s
    assert_true(sim_run(sim, SIM_MS(6) - 1));
    assert_int_equal(right.count, 0);
    assert_true(sim_run(sim, SIM_MS(10)));
    assert_int_equal(right.count, 1);
    assert_int_equal(right.at_ns, SIM_MS(6));
    assert_int_equal(right.length, sizeof frame);
    assert_memory_equal(right.last, frame, sizeof frame);
    for (int i = 0; i < 5; i++)  // one in the serialiser, two in the queue
        sim_outside_send(b, frame, sizeof frame);
    sim_outside_send(b, frame, 13);  // not a frame
    assert_true(sim_run(sim, SIM_MS(30)));
    assert_int_equal(left.count, 3);
    assert_int_equal(sim_link_stats(link, true)->dropped, 2);
    sim_close(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(frames_cross_the_link)};
    return cmocka_run_group_tests_name("sim/outside", tests, NULL, NULL);
}
