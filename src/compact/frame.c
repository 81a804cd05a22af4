// SPDX-License-Identifier: BSD-2-Clause
// Looking into frames, whose bytes lie in slices.
#include "base/checksum.h"
#include "compact/compact.h"

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
