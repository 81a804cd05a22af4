// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny small
// Both kinds (WEIR_CFG_TIMER_WHEEL 1 and 0), against an array of deadlines.
#include "base/wheel.h"

#include "base_test.h"

enum { NODES = 200 };
struct timer {
    struct wheel_node node;
    bool armed;
    uint32_t due_us;
};

static uint32_t spread(void)  // 0 to 2^31 - 1, each size as likely as the other
{
    return test_random(0x7fffffff) >> test_random(31);
}

// Arms, moves, cancels and lets time pass at random; at each moment exactly what is due comes out.
static void run(uint32_t start_us, uint32_t steps, uint32_t (*pass)(void))
{
    struct wheel wheel;
    struct timer timers[NODES];
    uint32_t now = start_us;
    memset(timers, 0, sizeof timers);
    wheel_init(&wheel, now);
    for (uint32_t step = 0; step < steps; step++) {
        struct timer *timer = &timers[test_random(NODES)];
        assert_int_equal(wheel_armed(&timer->node), timer->armed);
        if (test_random(4) == 0) {
            wheel_cancel(&wheel, &timer->node);
            timer->armed = false;
        } else {
            timer->due_us = now + spread();
            if (test_random(30) == 0)
                timer->due_us = now - test_random(1000);  // past
            timer->armed = true;
            wheel_arm(&wheel, &timer->node, timer->due_us);
        }
        assert_int_equal(wheel_armed(&timer->node), timer->armed);
        if (test_random(3) == 0)
            now += pass();
        const struct wheel_node *node;
        while ((node = wheel_pop(&wheel, now))) {
            struct timer *due = container_of(node, struct timer, node);
            assert_true(due->armed);
            assert_true(seq_le(due->due_us, now));
            due->armed = false;
            assert_false(wheel_armed(node));
        }
        uint32_t earliest = 0xffffffff, in_us;
        for (int i = 0; i < NODES; i++) {
            if (timers[i].armed) {
                assert_true(seq_lt(now, timers[i].due_us));
                earliest = min_u32(earliest, timers[i].due_us - now);
            }
        }
        assert_int_equal(wheel_next(&wheel, now, &in_us), earliest != 0xffffffff);
        if (earliest != 0xffffffff) {
            assert_true(in_us <= earliest);
            assert_true(in_us > 0);  // all that is due has been popped: no busy polling
        }
    }
}

static uint32_t pass_little(void) { return test_random(300); }
static uint32_t pass_any(void) { return spread(); }
static uint32_t pass_one(void) { return 1; }

static void pops_exactly_what_is_due(void **state)
{
    (void)state;
    static const uint32_t starts[] = {0, 0xffffff00u, 0x7ffffff0u, 0x3fffffffu, 0xbfffffc0u, 12345678u};
    for (int i = 0; i < 6; i++) {
        run(starts[i], 4000, pass_little);
        run(starts[i], 4000, pass_any);
        run(starts[i], 2000, pass_one);
    }
}

// One timer, polled only when wheel_next says so: fires at its very time, after at most 6 calls.
static void next_leads_there_in_few_calls(void **state)
{
    (void)state;
    for (int i = 0; i < 3000; i++) {
        struct wheel wheel;
        struct wheel_node nodes[20];
        uint32_t now = test_random(0xffffffff), in_us = 0, calls = 0;
        // few: next looks at each; many: it answers with the slot's beginning
        const int count = test_random(2) ? 1 : 20;
        const uint32_t due = now + spread();
        memset(nodes, 0, sizeof nodes);
        wheel_init(&wheel, now);
        for (int k = 0; k < count; k++)
            wheel_arm(&wheel, &nodes[k], due);
        while (!wheel_pop(&wheel, now)) {
            assert_true(wheel_next(&wheel, now, &in_us));
            assert_true(in_us > 0);
            now += in_us;
            calls++;
        }
        assert_int_equal(now, due);
        assert_true(calls <= (count == 1 ? 1 : 6));
        for (int k = 1; k < count; k++)
            assert_non_null(wheel_pop(&wheel, now));
        assert_null(wheel_pop(&wheel, now));
        assert_false(wheel_next(&wheel, now, &in_us));
    }
}

// Nobody polls while nothing is armed; then the wheel's own time is far behind.
static void a_long_sleep_does_no_harm(void **state)
{
    (void)state;
    static const uint32_t sleeps[] = {1, 1000000, 0x7fffffffu, 0x80000000u, 0x80000001u, 0xa0000000u, 0xffffffffu};
    for (int i = 0; i < 7; i++) {
        for (int k = 0; k < 200; k++) {
            struct wheel wheel;
            struct wheel_node a = {0}, b = {0};
            uint32_t now = test_random(0xffffffff), in_us;
            wheel_init(&wheel, now);
            now += sleeps[i];
            const uint32_t due = now + 1 + spread();
            wheel_arm(&wheel, &a, due);
            wheel_arm(&wheel, &b, now + 5);
            assert_null(wheel_pop(&wheel, now));
            assert_true(wheel_next(&wheel, now, &in_us));
            assert_in_range(in_us, 1, 5);
            int popped = 0;
            for (const uint32_t begin = now; popped < 2;) {
                const struct wheel_node *node = wheel_pop(&wheel, now);
                if (node) {
                    assert_true(seq_le(node->due_us, now));
                    popped++;
                    continue;
                }
                assert_true(wheel_next(&wheel, now, &in_us));
                assert_true(in_us > 0);
                now += in_us;
                assert_true(now - begin <= max_u32(due - begin, 5));
            }
        }
    }
}

static void a_budget_may_stop_in_between(void **state)
{
    (void)state;
    struct wheel wheel;
    struct wheel_node nodes[5];
    uint32_t in_us;
    memset(nodes, 0, sizeof nodes);
    wheel_init(&wheel, 100);
    for (uint32_t i = 0; i < 5; i++)
        wheel_arm(&wheel, &nodes[i], 200 + 50 * i);
    assert_non_null(wheel_pop(&wheel, 1000));
    assert_non_null(wheel_pop(&wheel, 1000));
    assert_true(wheel_next(&wheel, 1000, &in_us));
    assert_int_equal(in_us, 0);
    struct wheel_node *left = &nodes[0];
    while (!wheel_armed(left))
        left++;
    wheel_arm(&wheel, left, 1001);
    assert_non_null(wheel_pop(&wheel, 1000));
    assert_non_null(wheel_pop(&wheel, 1000));
    assert_null(wheel_pop(&wheel, 1000));
    assert_ptr_equal(wheel_pop(&wheel, 1001), left);
}

#if WEIR_CFG_TIMER_WHEEL
// The next timer, also when it takes several calls to sort so many; NULL: none is due. *calls counts those that only
// sorted.
static struct wheel_node *pop_patiently(struct wheel *wheel, uint32_t now, uint32_t *calls)
{
    for (;;) {
        uint32_t in_us;
        struct wheel_node *node = wheel_pop(wheel, now);
        if (node || !wheel_next(wheel, now, &in_us) || in_us)
            return node;
        ++*calls;
    }
}

// 100,000 timers, armed, most cancelled, the others fired: linear in their number, so quick.
static void many_timers(void **state)
{
    (void)state;
    enum { MANY = 100000 };
    static struct wheel wheel;
    struct wheel_node *nodes = calloc(MANY, sizeof *nodes);
    wheel_init(&wheel, 0xfff00000u);
    for (uint32_t i = 0; i < MANY; i++)
        wheel_arm(&wheel, &nodes[i], 0xfff00000u + test_random(60000000));
    for (uint32_t i = 0; i < MANY; i++) {
        if (i % 4)
            wheel_cancel(&wheel, &nodes[i]);
    }
    uint32_t fired = 0, last = 0, calls = 0;
    for (uint32_t passed = 0; passed <= 60000000; passed += 1000) {
        const struct wheel_node *node;
        while ((node = pop_patiently(&wheel, 0xfff00000u + passed, &calls))) {
            assert_true(node->due_us - 0xfff00000u <= passed);
            assert_true(passed == 0 || node->due_us - 0xfff00000u > passed - 1000);
            assert_true(node->due_us - 0xfff00000u >= last);  // in order
            last = node->due_us - 0xfff00000u;
            fired++;
        }
    }
    assert_int_equal(fired, MANY / 4);
    free(nodes);
}

// One slot holds 20,000 timers when its time comes: one call moves but a part of them. Whatever is cancelled, moved or
// armed anew between two calls, each fires once, not before its deadline, and none is forgotten.
static void a_full_slot_is_spread_bit_by_bit(void **state)
{
    (void)state;
    enum { MANY = 20000, AT = 1u << 30 };
    static struct wheel wheel;
    struct timer *timers = calloc(MANY, sizeof *timers);
    uint32_t now = AT - 5, armed = 0, calls = 0, in_us;
    wheel_init(&wheel, 5);
    for (uint32_t i = 0; i < MANY; i++) {
        timers[i].due_us = AT + test_random(1u << 20);
        wheel_arm(&wheel, &timers[i].node, timers[i].due_us);
        timers[i].armed = true;
    }
    assert_null(pop_patiently(&wheel, now, &calls));
    assert_int_equal(calls, 0);
    for (uint32_t turn = 0; turn < 4000; turn++) {
        now += turn < 60 ? 5 : 300;
        for (uint32_t i = 0; i < 40 && turn < 60; i++) {
            struct timer *timer = &timers[test_random(MANY)];
            timer->armed = test_random(2);
            timer->due_us = now + test_random(1u << 20);
            if (timer->armed)
                wheel_arm(&wheel, &timer->node, timer->due_us);
            else
                wheel_cancel(&wheel, &timer->node);
        }
        const struct wheel_node *node = wheel_pop(&wheel, now);
        calls += !node && wheel_next(&wheel, now, &in_us) && !in_us;
        for (; node; node = turn < 60 ? NULL : wheel_pop(&wheel, now)) {
            struct timer *due = container_of(node, struct timer, node);
            assert_true(due->armed && seq_le(due->due_us, now));
            due->armed = false;
        }
    }
    assert_in_range(calls, MANY / 1024, 1000);
    for (uint32_t i = 0; i < MANY; i++)
        armed += timers[i].armed;
    assert_int_equal(armed, 0);
    assert_false(wheel_next(&wheel, now, &in_us));
    free(timers);
}

// The timers of such a slot are cancelled while it is spread: the empty wheel's time moves on, and its slots serve
// again.
static void a_slot_emptied_while_spread_serves_again(void **state)
{
    (void)state;
    enum { MANY = 3000, AT = 1u << 24 };
    static struct wheel wheel;
    struct wheel_node *nodes = calloc(MANY, sizeof *nodes);
    uint32_t in_us, calls = 0;
    wheel_init(&wheel, 0);
    for (uint32_t i = 0; i < MANY; i++)
        wheel_arm(&wheel, &nodes[i], AT + 100 + i);
    assert_null(wheel_pop(&wheel, AT + 100));
    assert_true(wheel_next(&wheel, AT + 100, &in_us));
    assert_int_equal(in_us, 0);
    for (uint32_t i = 0; i < MANY; i++)
        wheel_cancel(&wheel, &nodes[i]);
    assert_null(wheel_pop(&wheel, 100));
    wheel_arm(&wheel, &nodes[0], AT + 7);
    assert_null(pop_patiently(&wheel, AT + 6, &calls));
    assert_true(wheel_next(&wheel, AT + 6, &in_us));
    assert_int_equal(in_us, 1);
    assert_ptr_equal(pop_patiently(&wheel, AT + 7, &calls), &nodes[0]);
    free(nodes);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(pops_exactly_what_is_due),
        cmocka_unit_test(next_leads_there_in_few_calls),
        cmocka_unit_test(a_long_sleep_does_no_harm),
        cmocka_unit_test(a_budget_may_stop_in_between),
#if WEIR_CFG_TIMER_WHEEL
        cmocka_unit_test(many_timers),
        cmocka_unit_test(a_full_slot_is_spread_bit_by_bit),
        cmocka_unit_test(a_slot_emptied_while_spread_serves_again),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
