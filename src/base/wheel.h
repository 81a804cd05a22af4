// SPDX-License-Identifier: BSD-2-Clause
// Timers: a hierarchical wheel (or, without WEIR_CFG_TIMER_WHEEL, a list) with one node a connection. Times are the low 32 bits of the instance's µs clock; a
// deadline lies at most 2^31 - 1 µs (35 minutes) ahead: longer ones re-arm in hops. A node fires not before its deadline.
// Arming later than what is armed is a store in the owner, not here: the owner finds on firing that it is early and re-arms.
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
// Level k holds the deadlines whose highest digit (6 bits) that differs from now's is digit k; level 0 is exact to the µs.
// 32 bits are six digits, the highest of which has only 4 values.
#define WHEEL_LEVELS 6u
#define WHEEL_SLOTS 64u
struct wheel {
    uint32_t now_us;                  // everything due before it has fired
    uint32_t count;
    uint64_t occupied[WHEEL_LEVELS];  // a bit a slot
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
// Takes the next node that is due at now_us off the wheel; NULL: none. Call until NULL, or stop at a budget and go on later.
struct wheel_node *wheel_pop(struct wheel *wheel, uint32_t now_us);
// When to call wheel_pop next: µs from now_us, never later than the earliest deadline. It may be earlier when many timers lie close
// together; then wheel_pop finds nothing but sorts them finer, at most 5 times a timer. false: no timer is armed.
bool wheel_next(const struct wheel *wheel, uint32_t now_us, uint32_t *in_us);

#endif
