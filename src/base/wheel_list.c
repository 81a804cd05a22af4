// SPDX-License-Identifier: BSD-2-Clause
// Timers as a list: work proportional to the nodes armed. See wheel.c for thousands.
#include "base/wheel.h"

void wheel_init(struct wheel *wheel, uint32_t now_us)
{
    (void)now_us;
    wheel->first = NULL;
}

void wheel_arm(struct wheel *wheel, struct wheel_node *node, uint32_t due_us)
{
    node->due_us = due_us;
    if (node->link)
        return;
    node->next = wheel->first;
    if (node->next)
        node->next->link = &node->next;
    node->link = &wheel->first;
    wheel->first = node;
}

void wheel_cancel(struct wheel *wheel, struct wheel_node *node)
{
    (void)wheel;
    if (!node->link)
        return;
    *node->link = node->next;
    if (node->next)
        node->next->link = node->link;
    node->link = NULL;
}

struct wheel_node *wheel_list_pop(struct wheel *wheel, uint32_t now_us)
{
    struct wheel_node *node = wheel->first;
    while (node && seq_lt(now_us, node->due_us))
        node = node->next;
    if (node)
        wheel_cancel(wheel, node);
    return node;
}

bool wheel_list_next(const struct wheel *wheel, uint32_t now_us, uint32_t *in_us)
{
    uint32_t earliest = INT32_MAX;
    for (const struct wheel_node *node = wheel->first; node; node = node->next)
        earliest = min_u32(earliest, seq_lt(now_us, node->due_us) ? node->due_us - now_us : 0);
    *in_us = earliest;
    return wheel->first != NULL;
}
