// SPDX-License-Identifier: BSD-2-Clause
// What both families do with frames: looking into them, and the header of TCP.
#include "base/checksum.h"
#include "compact/compact.h"
#include "wire/tcp.h"

LOCAL void frame_copy(const struct weir_frame *frame, uint32_t offset, uint8_t *to, uint32_t length)
{
    for (const struct weir_slice *slice = frame->slices; length; slice++) {
        if (offset >= slice->length) {
            offset -= slice->length;
            continue;
        }
        const uint32_t bytes = min_u32(slice->length - offset, length);
        memcpy(to, slice->data + offset, bytes);
        to += bytes;
        length -= bytes;
        offset = 0;
    }
}

LOCAL uint16_t frame_sum(const struct weir *weir, const struct weir_frame *frame, uint32_t offset, uint32_t length)
{
    if (offset + length > frame->slices[0].length)
        return checksum_slices(weir->port, frame->slices, frame->count, offset, length);
    return checksum_sum(weir->port, frame->slices[0].data + offset, length);
}

LOCAL void tcp_parse_input(struct weir *weir, struct segment *segment, const uint8_t *tcp)
{
    const uint32_t header = segment->length < TCP_BYTES ? 0 : (uint32_t)(tcp[12] >> 4) * 4;
    if (header < TCP_BYTES || header > segment->length)
        return;
    segment->offset += header;
    segment->length -= header;
    memcpy(segment->peer.ports, tcp, 4);  // both ports
    memcpy(segment->peer.mac, segment->frame->slices[0].data + 6, 6);
    segment->options = tcp + TCP_BYTES;
    segment->sequence = get32(tcp + 4);
    segment->ack = get32(tcp + 8);
    segment->flags = tcp[13];
    segment->window = get16(tcp + 14);
    tcp_input(weir, segment);
}
