// SPDX-License-Identifier: BSD-2-Clause
#include "outside.h"

#include <stdlib.h>
#include <string.h>

#include "internal.h"

struct outside {
    struct sim_node node;  // first
    void (*receive)(void *context, const uint8_t *frame, uint32_t length);
    void *context;
};

static void outside_receive(struct port *port, struct frame *frame)
{
    struct outside *outside = (struct outside *)port->node;
    outside->receive(outside->context, frame->data, frame->length);
    frame_free(&port->node->sim->frames, frame);
}

struct sim_node *sim_outside_add(struct sim *sim, const char *name,
                                 void (*receive)(void *context, const uint8_t *frame, uint32_t length), void *context)
{
    struct outside *outside = calloc(1, sizeof *outside);
    if (!outside)
        abort();
    outside->node.receive = outside_receive;
    outside->receive = receive;
    outside->context = context;
    node_add(sim, &outside->node, name);
    return &outside->node;
}

void sim_outside_send(struct sim_node *node, const uint8_t *bytes, uint32_t length)
{
    if (!node->ports || length < FRAME_ETHERNET)
        return;
    struct frame *frame = frame_new(&node->sim->frames, length);
    frame->head = FRAME_ETHERNET;
    memcpy(frame->data, bytes, length);
    port_send(node->ports, frame);
}

uint64_t sim_due(const struct sim *sim)
{
    const struct event *event = event_first(&sim->events);
    return event ? event->at_ns : SIM_NEVER;
}
