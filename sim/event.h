// SPDX-License-Identifier: BSD-2-Clause
// What will happen: a heap ordered by (time, order of setting), so that simultaneous events have one order only. An
// event lives in whatever it belongs to and is set, moved and cancelled in place; setting allocates only when the heap
// grows.
#ifndef SIM_EVENT_H
#define SIM_EVENT_H

#include <stdbool.h>
#include <stdint.h>

struct sim;

struct event {
    void (*happen)(void *context);
    void *context;
    uint64_t at_ns, order;
    uint32_t place;  // in the heap, from 1; 0: not set
};

struct events {
    struct event **heap;  // [1 … count]
    uint32_t count, room;
    uint64_t order;
};

// Sets or moves it; among events of one moment it becomes the last.
void event_set(struct events *events, struct event *event, uint64_t at_ns);
void event_cancel(struct events *events, struct event *event);
static inline bool event_is_set(const struct event *event) { return event->place != 0; }
static inline struct event *event_first(const struct events *events) { return events->count ? events->heap[1] : 0; }
void events_free(struct events *events);

// A timer of one's own in a network: `event` must stay where it is until it happened or was cancelled. NULL happen is
// not allowed.
void sim_event_set(struct sim *sim, struct event *event, uint64_t at_ns);
void sim_event_cancel(struct sim *sim, struct event *event);

#endif
