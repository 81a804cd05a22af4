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
    if (frame->length < frame->head + 20u || (ethertype && ethertype != ETHERTYPE_IP4 && ethertype != ETHERTYPE_IP6))
        return NULL;
    return frame->data + frame->head;
}

bool frame_resolves(struct frame *frame)
{
    const uint8_t *ip = frame_ip(frame);
    return !ip || (ip[0] >> 4 == 6 && frame->length >= frame->head + 48u && ip[6] == 58 && ip[7] == 255);
}

uint32_t frame_sum(const uint8_t *bytes, uint32_t length)
{
    uint64_t even = 0, odd = 0, sum;
    uint32_t at = 0;
    for (uint64_t word; at + 8 <= length; at += 8) {
        memcpy(&word, bytes + at, 8);
        even += word & 0xffffffff;
        odd += word >> 32;
    }
    sum = (even & 0xffffffff) + (even >> 32) + (odd & 0xffffffff) + (odd >> 32);
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    const uint16_t native = (uint16_t)sum;
    // a sum of words in the machine's order, its bytes swapped where needed
    uint32_t result = get16((const uint8_t *)&native);
    for (; at + 2 <= length; at += 2)
        result += get16(bytes + at);
    return at < length ? result + (uint32_t)(bytes[at] << 8) : result;
}

uint16_t frame_checksum(uint32_t sum)
{
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t) ~((sum & 0xffff) + (sum >> 16));
}

void frame_ip_sum(uint8_t *ip)
{
    put16(ip + 10, 0);
    put16(ip + 10, frame_checksum(frame_sum(ip, (ip[0] & 15u) * 4)));
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
