// SPDX-License-Identifier: BSD-2-Clause
// Timers: a hierarchical wheel (or, without WEIR_CFG_TIMER_WHEEL, a list) with one node a connection. Times are the low
// 32 bits of the instance's µs clock; a deadline lies at most 2^31 - 1 µs (35 minutes) ahead: longer ones re-arm in
// hops. A node fires not before its deadline. Arming later than what is armed is a store in the owner, not here: the
// owner finds on firing that it is early and re-arms.
#ifndef BASE_WHEEL_H
#define BASE_WHEEL_H

#include "base/bytes.h"
#include "weir/options.h"

struct wheel_node {
    struct wheel_node *next, **link;  // link NULL: not armed
    uint32_t due_us;
#if WEIR_CFG_TIMER_WHEEL
    uint32_t slot;  // index in wheel->slot
#endif
};

#if WEIR_CFG_TIMER_WHEEL
// Level k holds the deadlines whose highest digit (6 bits) that differs from now's is digit k; level 0 is exact to the
// µs. 32 bits are six digits, the highest of which has only 4 values.
#define WHEEL_LEVELS 6u
#define WHEEL_SLOTS 64u
struct wheel {
    uint32_t now_us;  // everything due before it has fired
    uint32_t count;
    uint32_t spreading;   // the slot whose nodes are on their way to lower levels; 0: none
    uint32_t soonest_us;  // no armed node is due before it, counted on from now_us, which it is while count is 0
    uint64_t occupied[WHEEL_LEVELS];                                // a bit a slot
    struct wheel_node *slot[(WHEEL_LEVELS - 1) * WHEEL_SLOTS + 4];  // 3 KB on 64-bit machines
};
#else
// A list in no order, searched as a whole: for a handful of connections.
struct wheel {
    struct wheel_node *first;
};
#endif

void wheel_init(struct wheel *wheel, uint32_t now_us);
// Arms the node for due_us, or moves it when it is armed. A deadline in the past is due at once.
void wheel_arm(struct wheel *wheel, struct wheel_node *node, uint32_t due_us);
void wheel_cancel(struct wheel *wheel, struct wheel_node *node);
static inline bool wheel_armed(const struct wheel_node *node) { return node->link != NULL; }
// Takes the next node that is due at now_us off the wheel; NULL: none, or so many have to be sorted that it goes on at
// the next call (then wheel_next says 0). Call until NULL, or stop at a budget and go on later.
static inline struct wheel_node *wheel_pop(struct wheel *wheel, uint32_t now_us);
// The same, with so many nodes moved at the most, of which it takes those that were.
static inline struct wheel_node *wheel_pop_within(struct wheel *wheel, uint32_t now_us, uint32_t *left);
#define WHEEL_BATCH 1024u  // of wheel_pop
// Whether they have anything to do: nearly always nothing is due, which one comparison tells.
static inline bool wheel_due(const struct wheel *wheel, uint32_t now_us);
// When to call wheel_pop next: µs from now_us, never later than the earliest deadline. It may be earlier: when many
// timers lie close together (then wheel_pop finds nothing but sorts them finer, at most 5 times a timer), or once after
// the earliest was cancelled or moved. false: no timer is armed.
static inline bool wheel_next(const struct wheel *wheel, uint32_t now_us, uint32_t *in_us);

#if WEIR_CFG_TIMER_WHEEL
struct wheel_node *wheel_pop_due(struct wheel *wheel, uint32_t now_us, uint32_t *left);

// µs from now_us until something may be due; 0: look. Counted from the wheel's own time, so that a long sleep is seen
// as such.
static inline uint32_t wheel_wait(const struct wheel *wheel, uint32_t now_us)
{
    const uint32_t passed_us = now_us - wheel->now_us, due_us = wheel->soonest_us - wheel->now_us;
    return passed_us < due_us ? due_us - passed_us : 0;
}
static inline bool wheel_due(const struct wheel *wheel, uint32_t now_us)
{
    return now_us - wheel->now_us >= wheel->soonest_us - wheel->now_us;
}
static inline struct wheel_node *wheel_pop_within(struct wheel *wheel, uint32_t now_us, uint32_t *left)
{
    if (!wheel_due(wheel, now_us))
        return NULL;
    if (wheel->count)
        return wheel_pop_due(wheel, now_us, left);
    wheel->now_us = wheel->soonest_us = now_us;
    return NULL;
}
static inline bool wheel_next(const struct wheel *wheel, uint32_t now_us, uint32_t *in_us)
{
    *in_us = wheel->count ? wheel_wait(wheel, now_us) : INT32_MAX;
    return wheel->count != 0;
}
#else
struct wheel_node *wheel_list_pop(struct wheel *wheel, uint32_t now_us);
bool wheel_list_next(const struct wheel *wheel, uint32_t now_us, uint32_t *in_us);
static inline bool wheel_due(const struct wheel *wheel, uint32_t now_us) { return (void)now_us, wheel->first != NULL; }
static inline struct wheel_node *wheel_pop_within(struct wheel *wheel, uint32_t now_us, uint32_t *left)
{
    return (void)left, wheel_list_pop(wheel, now_us);
}
static inline bool wheel_next(const struct wheel *wheel, uint32_t now_us, uint32_t *in_us)
{
    return wheel_list_next(wheel, now_us, in_us);
}
#endif

static inline struct wheel_node *wheel_pop(struct wheel *wheel, uint32_t now_us)
{
    uint32_t left = WHEEL_BATCH;
    return wheel_pop_within(wheel, now_us, &left);
}

#endif
