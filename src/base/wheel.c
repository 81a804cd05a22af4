// SPDX-License-Identifier: BSD-2-Clause
// A hierarchical timing wheel (Varghese, Lauck 1987; scheme 7) on the six 6-bit digits of a 32-bit time.
//
// A node lies on the level of the highest digit in which its time differs from now's, in the slot of that digit's value. Hence all of
// level 0 comes before all of level 1, and so on; a level's earliest slot is its first occupied one (on the highest level, going round
// from now's digit). When time reaches the beginning of a slot above level 0, its nodes move to lower levels: at most five times a
// node. Work: arm and cancel O(1); pop amortised O(1); next bounded by GLANCE.
//
// Time is only told by wheel_pop, so now_us may lag behind the clock while nothing is armed. A node armed meanwhile may land in too early
// a slot; wheel_pop looks at the deadline itself before it lets a node go, and sorts it in again.
#include "base/wheel.h"

#define DIGIT_BITS 6u
#define GLANCE 8u  // so many nodes of the earliest slot are looked at for the exact deadline

static inline unsigned lowest_bit(uint64_t bits)
{
    return (uint32_t)bits ? (unsigned)__builtin_ctz((uint32_t)bits) : 32 + (unsigned)__builtin_ctz((uint32_t)(bits >> 32));
}

// Puts the node where `time_us`, not before wheel->now_us, belongs.
static void place(struct wheel *wheel, struct wheel_node *node, uint32_t time_us)
{
    const uint32_t differs = time_us ^ wheel->now_us;
    const unsigned level = differs ? (31u - (unsigned)__builtin_clz(differs)) / DIGIT_BITS : 0;
    const unsigned value = time_us >> level * DIGIT_BITS & (WHEEL_SLOTS - 1);
    node->slot = level * WHEEL_SLOTS + value;
    struct wheel_node **head = &wheel->slot[node->slot];
    node->next = *head;
    if (node->next)
        node->next->link = &node->next;
    node->link = head;
    *head = node;
    wheel->occupied[level] |= (uint64_t)1 << value;
}

static inline void set_empty(struct wheel *wheel, unsigned slot)
{
    wheel->occupied[slot / WHEEL_SLOTS] &= ~((uint64_t)1 << slot % WHEEL_SLOTS);
}

static void take(struct wheel *wheel, struct wheel_node *node)
{
    *node->link = node->next;
    if (node->next)
        node->next->link = node->link;
    else if (!wheel->slot[node->slot])
        set_empty(wheel, node->slot);
    node->link = NULL;
}

void wheel_init(struct wheel *wheel, uint32_t now_us)
{
    memset(wheel, 0, sizeof *wheel);
    wheel->now_us = now_us;
}

void wheel_arm(struct wheel *wheel, struct wheel_node *node, uint32_t due_us)
{
    if (node->link)
        take(wheel, node);
    else
        wheel->count++;
    node->due_us = due_us;
    place(wheel, node, seq_max(due_us, wheel->now_us));
}

void wheel_cancel(struct wheel *wheel, struct wheel_node *node)
{
    if (!node->link)
        return;
    take(wheel, node);
    wheel->count--;
}

// The earliest occupied slot, and the time at which it begins. The wheel is not empty.
static unsigned earliest(const struct wheel *wheel, uint32_t *begins_us)
{
    unsigned level = 0;
    while (!wheel->occupied[level])
        level++;
    const unsigned shift = level * DIGIT_BITS;
    unsigned slot;
    if (level < WHEEL_LEVELS - 1) {
        slot = lowest_bit(wheel->occupied[level]);
        *begins_us = ((wheel->now_us >> shift & ~(uint32_t)(WHEEL_SLOTS - 1)) | slot) << shift;
    } else {  // the highest digit goes round: 4 values, now's own not among them
        const unsigned now = wheel->now_us >> shift;
        slot = now;
        do
            slot = (slot + 1) & 3;
        while (!(wheel->occupied[level] >> slot & 1));
        *begins_us = (uint32_t)slot << shift;
    }
    return level * WHEEL_SLOTS + slot;
}

// Time has come to the beginning of the slot: its nodes move to lower levels.
static void spread(struct wheel *wheel, unsigned index)
{
    struct wheel_node *node = wheel->slot[index], *next;
    wheel->slot[index] = NULL;
    set_empty(wheel, index);
    for (; node; node = next) {
        next = node->next;
        place(wheel, node, seq_max(node->due_us, wheel->now_us));
    }
}

// The clock is more than 2^31 µs ahead, which reads as behind (nobody polled for 35 minutes, with nothing armed but just now): every node
// is sorted in again. Rare, so it may cost O(nodes).
static void start_again(struct wheel *wheel, uint32_t now_us)
{
    struct wheel_node *all = NULL;
    for (unsigned index = 0; index < sizeof wheel->slot / sizeof wheel->slot[0]; index++) {
        struct wheel_node *node;
        while ((node = wheel->slot[index])) {
            take(wheel, node);
            node->next = all;
            all = node;
        }
    }
    wheel->now_us = now_us;
    while (all) {
        struct wheel_node *node = all;
        all = node->next;
        place(wheel, node, seq_max(node->due_us, now_us));
    }
}

struct wheel_node *wheel_pop(struct wheel *wheel, uint32_t now_us)
{
    if (seq_lt(now_us, wheel->now_us))
        start_again(wheel, now_us);
    while (wheel->count) {
        uint32_t begins_us;
        const unsigned index = earliest(wheel, &begins_us);
        if (seq_lt(now_us, begins_us))
            break;
        wheel->now_us = begins_us;
        if (index >= WHEEL_SLOTS) {
            spread(wheel, index);
            continue;
        }
        struct wheel_node *node = wheel->slot[index];
        take(wheel, node);
        if (!seq_lt(now_us, node->due_us)) {
            wheel->count--;
            return node;
        }
        // Too early a slot (see the top): from here its deadline may be out of reach, from now_us it is not.
        place(wheel, node, seq_lt(begins_us, node->due_us) ? node->due_us : now_us);
    }
    wheel->now_us = now_us;
    return NULL;
}

bool wheel_next(const struct wheel *wheel, uint32_t now_us, uint32_t *in_us)
{
    *in_us = INT32_MAX;
    if (!wheel->count)
        return false;
    uint32_t due_us;
    const unsigned index = earliest(wheel, &due_us);
    if (index >= WHEEL_SLOTS) {
        const struct wheel_node *node = wheel->slot[index];
        uint32_t exact_us = node->due_us;
        unsigned seen = 0;
        for (; node && seen < GLANCE; node = node->next, seen++)
            exact_us = seq_min(exact_us, node->due_us);
        if (!node && seq_lt(due_us, exact_us))
            due_us = exact_us;
    }
    *in_us = seq_lt(now_us, due_us) ? due_us - now_us : 0;
    return true;
}
