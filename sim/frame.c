// SPDX-License-Identifier: BSD-2-Clause
#include "frame.h"

#include <stdlib.h>
#include <string.h>

#ifdef __SANITIZE_ADDRESS__
#define POOL false  // every use after free is seen
#else
#define POOL true
#endif

struct frame *frame_new(struct frames *frames, uint32_t length)
{
    struct frame *frame = frames->free;
    if (length <= FRAME_POOLED && frame) {
        frames->free = frame->next;
    } else {
        const uint32_t room = POOL && length < FRAME_POOLED ? FRAME_POOLED : length;
        frame = malloc(sizeof *frame + room);
        if (!frame)
            abort();
        frame->room = room;
    }
    frame->next = NULL;
    frame->at_ns = 0;
    frame->length = length;
    frame->head = 0;
    frame->damaged = false;
    frame->segment.flow = 0;
    frames->under_way++;
    return frame;
}

struct frame *frame_copy(struct frames *frames, const struct frame *frame)
{
    struct frame *copy = frame_new(frames, frame->length);
    copy->head = frame->head;
    copy->damaged = frame->damaged;
    copy->segment = frame->segment;
    memcpy(copy->data, frame->data, frame->length);
    return copy;
}

void frame_free(struct frames *frames, struct frame *frame)
{
    frames->under_way--;
    if (!POOL || frame->room != FRAME_POOLED) {
        free(frame);
        return;
    }
    frame->next = frames->free;
    frames->free = frame;
}

void frames_free(struct frames *frames)
{
    while (frames->free) {
        struct frame *frame = frames->free;
        frames->free = frame->next;
        free(frame);
    }
}

uint8_t *frame_ip(struct frame *frame)
{
    const uint16_t ethertype = frame->head ? get16(frame->data + 12) : 0;
    if (frame->length < frame->head + 20u || (ethertype && ethertype != 0x0800 && ethertype != 0x86dd))
        return NULL;
    return frame->data + frame->head;
}

bool frame_resolves(struct frame *frame)
{
    const uint8_t *ip = frame_ip(frame);
    return !ip || (ip[0] >> 4 == 6 && frame->length >= frame->head + 48u && ip[6] == 58 && ip[7] == 255);
}

void frame_ip_sum(uint8_t *ip)
{
    const uint32_t length = (ip[0] & 15u) * 4;
    uint32_t sum = 0;
    put16(ip + 10, 0);
    for (uint32_t at = 0; at < length; at += 2)
        sum += get16(ip + at);
    sum = (sum & 0xffff) + (sum >> 16);
    put16(ip + 10, (uint16_t) ~(sum + (sum >> 16)));
}

bool frame_mark_ce(struct frame *frame)
{
    uint8_t *ip = frame_ip(frame);
    const bool version6 = ip && ip[0] >> 4 == 6;
    if (!ip || frame->damaged || !(ip[1] & (version6 ? 0x30 : 3)))
        return false;
    if (version6) {
        ip[1] |= 0x30;
        return true;
    }
    ip[1] |= 3;
    frame_ip_sum(ip);
    return true;
}
