// SPDX-License-Identifier: BSD-2-Clause
#include "event.h"

#include <stdlib.h>

static bool before(const struct event *a, const struct event *b)
{
    return a->at_ns < b->at_ns || (a->at_ns == b->at_ns && a->order < b->order);
}

static void put(struct events *events, struct event *event, uint32_t place)
{
    events->heap[place] = event;
    event->place = place;
}

static void rise(struct events *events, struct event *event, uint32_t place)
{
    for (; place > 1 && before(event, events->heap[place / 2]); place /= 2)
        put(events, events->heap[place / 2], place);
    put(events, event, place);
}

static void sink(struct events *events, struct event *event, uint32_t place)
{
    for (;;) {
        uint32_t child = place * 2;
        if (child > events->count)
            break;
        if (child < events->count && before(events->heap[child + 1], events->heap[child]))
            child++;
        if (!before(events->heap[child], event))
            break;
        put(events, events->heap[child], place);
        place = child;
    }
    put(events, event, place);
}

static void settle(struct events *events, struct event *event, uint32_t place)
{
    if (place > 1 && before(event, events->heap[place / 2]))
        rise(events, event, place);
    else
        sink(events, event, place);
}

void event_set(struct events *events, struct event *event, uint64_t at_ns)
{
    event->at_ns = at_ns;
    event->order = ++events->order;
    if (event->place) {
        settle(events, event, event->place);
        return;
    }
    if (events->count + 1 >= events->room) {
        events->room = events->room ? events->room * 2 : 64;
        events->heap = realloc(events->heap, events->room * sizeof *events->heap);
        if (!events->heap)
            abort();
    }
    rise(events, event, ++events->count);
}

void event_cancel(struct events *events, struct event *event)
{
    const uint32_t place = event->place;
    if (!place)
        return;
    event->place = 0;
    struct event *last = events->heap[events->count--];
    if (last != event)
        settle(events, last, place);
}

void events_free(struct events *events)
{
    free(events->heap);
    *events = (struct events){0};
}
