// SPDX-License-Identifier: BSD-2-Clause
#include "segment.h"

#include "family6.h"

static void read_options(struct segment *segment, const uint8_t *at, const uint8_t *end)
{
    while (at < end && *at) {
        if (*at == 1) {
            at++;
            continue;
        }
        if (at + 1 >= end || at[1] < 2 || at + at[1] > end)
            return;
        if (at[0] == 2 && at[1] == 4)
            segment->mss = get16(at + 2);
        if (at[0] == 3 && at[1] == 3) {
            segment->has_scale = true;
            segment->scale = at[2] > 14 ? 14 : at[2];
        }
        if (at[0] == 5) {
            segment->blocks = (uint8_t)((at[1] - 2) / 8 > SEGMENT_BLOCKS ? SEGMENT_BLOCKS : (at[1] - 2) / 8);
            for (uint32_t index = 0; index < segment->blocks * 2u; index++)
                segment->block[index] = get32(at + 2 + index * 4);
        }
        at += at[1];
    }
}

// The TCP header behind an IP header of either version, its length with the payload; NULL: none, or of a fragment.
static const uint8_t *find_tcp(const struct frame *frame, struct segment *segment, uint32_t *length)
{
    const uint8_t *ip = frame->data + frame->head;
    if (ip[0] >> 4 == 4 && ip[9] == TCP && !(get16(ip + 6) & 0x3fff)) {
        const uint32_t header = (ip[0] & 15) * 4u, total = get16(ip + 2);
        *length = total > header ? total - header : 0;
        segment->source = sim_address_v4(get32(ip + 12));
        segment->destination = sim_address_v4(get32(ip + 16));
        return ip + header;
    }
    if (ip[0] >> 4 == 6 && ip[6] == TCP && frame->length >= frame->head + IP6_BYTES) {
        *length = get16(ip + 4);
        segment->source = sim_address_read(ip + 8);
        segment->destination = sim_address_read(ip + 24);
        return ip + IP6_BYTES;
    }
    return NULL;
}

bool segment_read(struct frame *frame, struct segment *segment)
{
    uint32_t length;
    *segment = (struct segment){0};
    if (frame->length < frame->head + 40u || !frame_ip(frame))
        return false;
    const uint8_t *tcp = find_tcp(frame, segment, &length);
    if (!tcp || length < 20 || tcp + length > frame->data + frame->length)
        return false;
    const uint32_t header = (tcp[12] >> 4) * 4u;
    if (header < 20 || header > length)
        return false;
    segment->source_port = get16(tcp);
    segment->destination_port = get16(tcp + 2);
    segment->seq = get32(tcp + 4);
    segment->ack = get32(tcp + 8);
    segment->flags = tcp[13];
    segment->window = get16(tcp + 14);
    segment->length = length - header;
    if (header > 20)
        read_options(segment, tcp + 20, tcp + header);
    return true;
}
