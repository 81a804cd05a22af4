// SPDX-License-Identifier: BSD-2-Clause
// A hierarchical timing wheel (Varghese, Lauck 1987; scheme 7) on the six 6-bit digits of a 32-bit time.
//
// A node lies on the level of the highest digit in which its time differs from now's, in the slot of that digit's
// value. Hence all of level 0 comes before all of level 1, and so on; a level's earliest slot is its first occupied one
// (on the highest level, going round from now's digit). When time reaches the beginning of a slot above level 0, its
// nodes move to lower levels: at most five times a node. Work: arm and cancel O(1); pop amortised O(1), and no more
// nodes moved than its caller allows; next bounded by WHEEL_GLANCE.
//
// A slot with more nodes than that (a million connections opened within a quarter of an hour) is spread over several
// calls: until it is empty, `spreading` names it and the wheel's time stands still at its beginning. Meanwhile nothing
// is put into it, since a time that shares this digit with now's lies on a lower level.
//
// The wheel's own time, now_us, moves on only when something may be due: until then soonest_us answers for all. So it
// lags behind the clock, and a node armed meanwhile may land in too early a slot; wheel_pop_due looks at the deadline
// itself before it lets a node go, and sorts it in again.
#include "base/wheel.h"

#define WHEEL_DIGIT_BITS 6u
#define WHEEL_GLANCE 8u  // so many nodes of the earliest slot are looked at for the exact deadline

static inline unsigned wheel_lowest_bit(uint64_t bits)
{
    return (uint32_t)bits ? (unsigned)__builtin_ctz((uint32_t)bits)
                          : 32 + (unsigned)__builtin_ctz((uint32_t)(bits >> 32));
}

// Puts the node where `time_us`, not before wheel->now_us, belongs.
static void wheel_place(struct wheel *wheel, struct wheel_node *node, uint32_t time_us)
{
    const uint32_t differs = time_us ^ wheel->now_us;
    const unsigned level = differs ? (31u - (unsigned)__builtin_clz(differs)) / WHEEL_DIGIT_BITS : 0;
    const unsigned value = time_us >> level * WHEEL_DIGIT_BITS & (WHEEL_SLOTS - 1);
    node->slot = level * WHEEL_SLOTS + value;
    struct wheel_node **head = &wheel->slot[node->slot];
    node->next = *head;
    if (node->next)
        node->next->link = &node->next;
    node->link = head;
    *head = node;
    wheel->occupied[level] |= (uint64_t)1 << value;
}

static inline void wheel_set_empty(struct wheel *wheel, unsigned slot)
{
    wheel->occupied[slot / WHEEL_SLOTS] &= ~((uint64_t)1 << slot % WHEEL_SLOTS);
}

static void wheel_take(struct wheel *wheel, struct wheel_node *node)
{
    *node->link = node->next;
    if (node->next)
        node->next->link = node->link;
    else if (!wheel->slot[node->slot])
        wheel_set_empty(wheel, node->slot);
    node->link = NULL;
}

void wheel_init(struct wheel *wheel, uint32_t now_us)
{
    memset(wheel, 0, sizeof *wheel);
    wheel->now_us = wheel->soonest_us = now_us;
}

void wheel_arm(struct wheel *wheel, struct wheel_node *node, uint32_t due_us)
{
    if (node->link)
        wheel_take(wheel, node);
    else
        wheel->count++;
    node->due_us = due_us;
    due_us = seq_max(due_us, wheel->now_us);  // past, or so far ahead of now_us that it reads as past: to be looked at
    if (wheel->count == 1 || due_us - wheel->now_us < wheel->soonest_us - wheel->now_us)
        wheel->soonest_us = due_us;
    wheel_place(wheel, node, due_us);
}

void wheel_cancel(struct wheel *wheel, struct wheel_node *node)
{
    if (!node->link)
        return;
    wheel_take(wheel, node);
    if (--wheel->count)
        return;
    wheel->spreading = 0;  // an empty wheel's time moves on without a look at it
    wheel->soonest_us = wheel->now_us;
}

// The earliest occupied slot, and the time at which it begins. The wheel is not empty.
static unsigned wheel_earliest(const struct wheel *wheel, uint32_t *begins_us)
{
    unsigned level = 0;
    while (!wheel->occupied[level])
        level++;
    const unsigned shift = level * WHEEL_DIGIT_BITS;
    unsigned slot;
    if (level < WHEEL_LEVELS - 1) {
        slot = wheel_lowest_bit(wheel->occupied[level]);
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

// Time has come to the beginning of the slot: its nodes move to lower levels, *left of them at the most; with some left
// it is `spreading`.
static void wheel_spread(struct wheel *wheel, unsigned index, uint32_t *left)
{
    struct wheel_node *node = wheel->slot[index], *next;
    wheel_set_empty(wheel, index);
    for (; node && *left; node = next, --*left) {
        next = node->next;
        wheel_place(wheel, node, seq_max(node->due_us, wheel->now_us));
    }
    wheel->slot[index] = node;
    wheel->spreading = node ? index : 0;
    if (node)
        node->link = &wheel->slot[index];
}

// The clock is more than 2^31 µs ahead, which reads as behind (nobody polled for 35 minutes, with nothing armed but
// just now): every node is sorted in again. Rare, so it may cost O(nodes).
static void wheel_start_again(struct wheel *wheel, uint32_t now_us)
{
    struct wheel_node *all = NULL;
    for (unsigned index = 0; index < sizeof wheel->slot / sizeof wheel->slot[0]; index++) {
        struct wheel_node *node = wheel->slot[index], *next;
        wheel->slot[index] = NULL;
        for (; node; node = next) {
            next = node->next;
            node->next = all;
            all = node;
        }
    }
    memset(wheel->occupied, 0, sizeof wheel->occupied);
    wheel->spreading = 0;
    wheel->now_us = now_us;
    while (all) {
        struct wheel_node *node = all;
        all = node->next;
        wheel_place(wheel, node, seq_max(node->due_us, now_us));
    }
}

// When the earliest slot must be looked at: at its earliest deadline, or its beginning if too many nodes are in it to
// look at each. The wheel is not empty.
static uint32_t wheel_soonest(const struct wheel *wheel)
{
    uint32_t due_us;
    const unsigned index = wheel_earliest(wheel, &due_us);
    if (index < WHEEL_SLOTS)
        return due_us;
    const struct wheel_node *node = wheel->slot[index];
    uint32_t exact_us = node->due_us;
    for (unsigned seen = 0; node && seen < WHEEL_GLANCE; node = node->next, seen++)
        exact_us = seq_min(exact_us, node->due_us);
    return !node && seq_lt(due_us, exact_us) ? exact_us : due_us;
}

// A node off the earliest slot (of level 0) if it is due; otherwise that slot was too early (see the top), and it is
// sorted in again: from the slot its deadline may be out of reach, from now_us it is not.
static struct wheel_node *wheel_take_due(struct wheel *wheel, unsigned index, uint32_t now_us)
{
    struct wheel_node *node = wheel->slot[index];
    wheel_take(wheel, node);
    if (!seq_lt(now_us, node->due_us)) {
        wheel->count--;
        return node;
    }
    wheel_place(wheel, node, seq_lt(wheel->now_us, node->due_us) ? node->due_us : now_us);
    return NULL;
}

struct wheel_node *wheel_pop_due(struct wheel *wheel, uint32_t now_us, uint32_t *left)
{
    struct wheel_node *node = NULL;
    if (seq_lt(now_us, wheel->now_us))
        wheel_start_again(wheel, now_us);
    if (wheel->spreading)
        wheel_spread(wheel, wheel->spreading, left);
    while (!node && *left && wheel->count) {
        uint32_t begins_us;
        const unsigned index = wheel_earliest(wheel, &begins_us);
        if (seq_lt(now_us, begins_us)) {
            wheel->now_us = now_us;
            wheel->soonest_us = wheel_soonest(wheel);
            return NULL;
        }
        wheel->now_us = begins_us;
        if (index >= WHEEL_SLOTS) {
            wheel_spread(wheel, index, left);
        } else {
            node = wheel_take_due(wheel, index, now_us);
            --*left;
        }
    }
    if (!wheel->count)
        wheel->now_us = now_us;
    wheel->soonest_us = wheel->now_us;  // there may be more
    return node;
}
