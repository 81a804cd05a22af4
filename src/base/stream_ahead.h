// SPDX-License-Identifier: BSD-2-Clause
// What stream_chunk.c and stream_ahead.c share: the pieces of a stream that lie beyond a gap.
#ifndef BASE_STREAM_AHEAD_H
#define BASE_STREAM_AHEAD_H

#include "base/stream.h"

#if WEIR_CFG_ALLOCATOR
#define STREAM_CHUNK_SMALL 2048u  // one segment of an Ethernet

struct stream_ahead_piece {
    uint32_t start, size;  // position as struct stream_piece counts it
    uint8_t *data;         // stream_ahead_taken(size) bytes
};

struct stream_ahead {
    uint32_t count, slots;
    uint32_t charged;                   // bytes that the pieces cost, their places in both directories included
    struct stream_ahead_piece piece[];  // sorted, disjoint, and beyond the end of the stream's own directory
};

static inline uint32_t stream_ahead_taken(uint32_t size) { return (size + 63) & ~63u; }

// stream_chunk.c, for stream_ahead.c.
// so many more fit. False: no memory
bool stream_entries_free(struct memory *memory, struct stream *stream, uint32_t entries);
void stream_append(struct stream *stream, const struct stream_piece *piece);
void stream_changed(struct stream *stream);
void stream_directory_shrink(struct memory *memory, struct stream *stream);
void stream_embedded_leave(struct memory *memory, struct stream *stream);
static inline uint32_t stream_position(const struct stream *stream)  // of offset 0
{
    return stream->skip + (stream->count ? stream->pieces[stream->first].start : 0);
}
static inline uint32_t stream_end_position(const struct stream *stream)  // behind the last piece of the directory
{
    const struct stream_piece *last = stream->pieces + stream->first + stream->count - 1;
    return stream->count ? last->start + last->size : 0;
}

// stream_ahead.c, for stream_chunk.c.
// Bytes from the end of the directory to the first piece ahead; UINT32_MAX: there is none.
static inline uint32_t stream_ahead_gap(const struct stream *stream)
{
    return stream->ahead && stream->ahead->count ? stream->ahead->piece[0].start - stream_end_position(stream)
                                                 : UINT32_MAX;
}
struct stream_piece stream_ahead_take(struct stream *stream);  // the first piece leaves for the directory
// Directory entries that the pieces ahead will need, and a gap (stream_skip).
static inline uint32_t stream_ahead_entries(const struct stream *stream)
{
    return stream->ahead ? stream->ahead->count + 1 : 0;
}
#endif

#endif
