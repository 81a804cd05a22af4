// SPDX-License-Identifier: BSD-2-Clause
// A range of a received packet lies in one piece, or is walked slice by slice: work proportional to the range plus the
// slices before it (at most WEIR_FRAME_SLICES).
#include "base/packet.h"

static inline bool packet_in_one_piece(const struct packet *packet, uint32_t at, uint32_t length)
{
    return at + length <= packet_head_room(packet);
}

void packet_copy(const struct packet *packet, uint32_t at, void *to, uint32_t length)
{
    if (packet_in_one_piece(packet, at, length)) {
        memcpy(to, packet->head + at, length);
        return;
    }
    const struct weir_slice *slice = packet->frame->slices;
    uint8_t *out = to;
    for (at += packet->offset; at >= slice->length; slice++)
        at -= slice->length;
    for (; length; slice++, at = 0) {
        const uint32_t bytes = min_u32(slice->length - at, length);
        memcpy(out, slice->data + at, bytes);
        out += bytes;
        length -= bytes;
    }
}

uint16_t packet_sum(const struct weir_port *port, const struct packet *packet, uint32_t at, uint32_t length)
{
    if (packet_in_one_piece(packet, at, length))
        return checksum_sum(port, packet->head + at, length);
    return checksum_slices(port, packet->frame->slices, packet->frame->count, packet->offset + at, length);
}

uint16_t packet_copy_sum(const struct weir_port *port, const struct packet *packet, uint32_t at, void *to,
                         uint32_t length)
{
    if (packet_in_one_piece(packet, at, length))
        return checksum_copy_sum(port, to, packet->head + at, length);
    const struct weir_slice *slice = packet->frame->slices;
    uint8_t *out = to;
    uint16_t sum = 0;
    uint32_t done = 0;
    for (at += packet->offset; at >= slice->length; slice++)
        at -= slice->length;
    for (; done < length; slice++, at = 0) {
        const uint32_t bytes = min_u32(slice->length - at, length - done);
        sum = checksum_add_at(sum, checksum_copy_sum(port, out + done, slice->data + at, bytes), done);
        done += bytes;
    }
    return sum;
}
