// SPDX-License-Identifier: BSD-2-Clause
#include "sink.h"

static void sink_receive(struct port *port, struct frame *frame)
{
    struct sink *sink = (struct sink *)port->node;
    assert_true(sink->count < SINK_FRAMES);
    sink->frames[sink->count].at_ns = port->node->sim->now_ns;
    sink->frames[sink->count].length = frame->length;
    sink->frames[sink->count].number = frame->length >= 4 ? get32(frame->data + frame->length - 4) : 0;
    sink->frames[sink->count].damaged = frame->damaged;
    sink->frames[sink->count].marked = frame->length > 15 && (frame->data[15] & 3) == 3;
    sink->count++;
    frame_free(&port->node->sim->frames, frame);
}

static void sink_room(struct port *port) { ((struct sink *)port->node)->room++; }

struct sink *sink_add(struct sim *sim, const char *name)
{
    struct sink *sink = calloc(1, sizeof *sink);
    assert_non_null(sink);
    sink->node.receive = sink_receive;
    sink->node.room = sink_room;
    node_add(sim, &sink->node, name);
    return sink;
}

struct frame *frame_make(struct sim *sim, uint32_t length, uint32_t number)
{
    struct frame *frame = frame_new(&sim->frames, length);
    memset(frame->data, 0, length);
    frame->head = FRAME_ETHERNET;
    put16(frame->data + 12, 0x0800);
    frame->data[14] = 0x45;
    frame->data[15] = 2;  // ECT(0)
    put16(frame->data + 16, (uint16_t)(length - FRAME_ETHERNET));
    frame->data[22] = 64;
    frame->data[23] = 17;
    put32(frame->data + length - 4, number);
    frame_ip_sum(frame->data + FRAME_ETHERNET);
    return frame;
}

void frame_send(struct sink *from, uint32_t length, uint32_t number)
{
    port_send(from->node.ports, frame_make(from->node.sim, length, number));
}
