// SPDX-License-Identifier: BSD-2-Clause
#include "sink.h"

#define MANY 2000u

static uint32_t happened[MANY], happened_count;
struct numbered {
    struct event event;
    uint32_t number;
};

static void note(void *context) { happened[happened_count++] = ((struct numbered *)context)->number; }

static void pop_all(struct events *events)
{
    struct event *event;
    while ((event = event_first(events)) != NULL) {
        event_cancel(events, event);
        event->happen(event->context);
    }
}

static struct numbered *make(uint32_t number)
{
    static struct numbered all[MANY];
    all[number] = (struct numbered){.event = {.happen = note, .context = &all[number]}, .number = number};
    return &all[number];
}

static void earlier_first_and_equals_as_set(void **state)
{
    struct events events = {0};
    (void)state;
    happened_count = 0;
    event_set(&events, &make(0)->event, 30);
    event_set(&events, &make(1)->event, 10);
    event_set(&events, &make(2)->event, 10);
    event_set(&events, &make(3)->event, 20);
    pop_all(&events);
    assert_memory_equal(happened, ((uint32_t[]){1, 2, 3, 0}), 4 * sizeof(uint32_t));
    events_free(&events);
}

static void a_moved_event_is_the_last_of_its_moment(void **state)
{
    struct events events = {0};
    (void)state;
    happened_count = 0;
    struct numbered *first = make(0), *second = make(1);
    event_set(&events, &first->event, 10);
    event_set(&events, &second->event, 10);
    event_set(&events, &first->event, 10);
    pop_all(&events);
    assert_int_equal(happened[0], 1);
    assert_int_equal(happened[1], 0);
    events_free(&events);
}

static void cancelled_ones_do_not_happen(void **state)
{
    struct events events = {0};
    (void)state;
    happened_count = 0;
    for (uint32_t number = 0; number < 10; number++)
        event_set(&events, &make(number)->event, number);
    struct event *fifth = events.heap[5];
    event_cancel(&events, fifth);
    assert_false(event_is_set(fifth));
    event_cancel(&events, fifth);  // again: nothing
    pop_all(&events);
    assert_int_equal(happened_count, 9);
    for (uint32_t index = 0; index < 9; index++)
        assert_ptr_not_equal(&make(happened[index])->event, fifth);
    events_free(&events);
}

// Against a plain search for the least, with moves and cancellations in between.
static void many_in_random_order(void **state)
{
    static uint64_t at[MANY], order[MANY];
    struct events events = {0};
    uint64_t dice = 5, orders = 0;
    (void)state;
    happened_count = 0;
    for (uint32_t number = 0; number < MANY; number++)
        make(number);
    memset(at, 0xff, sizeof at);
    struct numbered *base = (struct numbered *)make(0)->event.context;
    for (uint32_t step = 0; step < 20000; step++) {
        const uint32_t number = random_below(&dice, MANY);
        if (random_one_in(&dice, 4)) {
            event_cancel(&events, &base[number].event);
            at[number] = UINT64_MAX;
        } else {
            at[number] = random_below(&dice, 500);
            order[number] = ++orders;
            event_set(&events, &base[number].event, at[number]);
        }
    }
    for (;;) {
        uint32_t least = MANY;
        for (uint32_t number = 0; number < MANY; number++)
            if (at[number] != UINT64_MAX &&
                (least == MANY || at[number] < at[least] || (at[number] == at[least] && order[number] < order[least])))
                least = number;
        struct event *event = event_first(&events);
        if (least == MANY) {
            assert_null(event);
            break;
        }
        assert_ptr_equal(event, &base[least].event);
        event_cancel(&events, event);
        at[least] = UINT64_MAX;
    }
    events_free(&events);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(earlier_first_and_equals_as_set),
        cmocka_unit_test(a_moved_event_is_the_last_of_its_moment),
        cmocka_unit_test(cancelled_ones_do_not_happen),
        cmocka_unit_test(many_in_random_order),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
