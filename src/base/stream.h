// SPDX-License-Identifier: BSD-2-Clause
// A stream: the byte queue of one direction of a connection. Reached only as (offset, length) → spans; offset 0 is the
// oldest byte kept. Two kinds with one interface: a flat ring in static builds, a directory of chunks that grows and
// shrinks by need where there is an allocator. A byte never moves while queued, so lent spans stay valid.
//
// Bytes [0, length) hold data. Bytes [length, room) are memory that exists but holds nothing yet, or, on the receive
// side, out-of-order data that the connection's interval list describes. Room is what stream_ensure was asked for:
// nothing beyond it may be touched, except what stream_ensure_ahead was asked for. Where there is an allocator, memory
// for a byte far beyond the others brings about none for what lies between (src/base/stream_ahead.c).
#ifndef BASE_STREAM_H
#define BASE_STREAM_H

#include "base/memory.h"
#include "weir/socket.h"

struct stream;
// release(context) is called when the last of a foreign piece's bytes is dropped, or the stream closed.
typedef void stream_release(void *context);

// An empty stream that may never hold more than `limit` bytes (data and room). NULL: no memory.
struct stream *stream_open(struct memory *memory, uint32_t limit);
void stream_close(struct memory *memory, struct stream *stream);
// Static builds: sets `count` streams of `limit` bytes aside for stream_open, which otherwise takes what is left of
// weir_create's block. A closed stream is kept for the next. Allocator builds: nothing to do.
int stream_carve(struct memory *memory, uint32_t count, uint32_t limit);
static inline size_t stream_carve_bytes(uint32_t count, uint32_t limit);  // what that takes of the block
static inline uint32_t stream_length(const struct stream *stream);
static inline uint32_t stream_limit(const struct stream *stream);
// Below what it holds: takes effect as it drains. Static builds: never above the size it was set aside with.
static inline void stream_set_limit(struct stream *stream, uint32_t limit);
static inline uint32_t stream_most(const struct stream *stream);  // bytes that its limit can come to

// Makes memory for [0, end) exist, as far as limit and memory allow; returns `end`, or less: how far it exists.
static inline uint32_t stream_ensure(struct memory *memory, struct stream *stream, uint32_t end);
// Memory of [offset, offset+length) as at most `count` spans; returns the number of spans (0 for length 0). Bytes
// covered may be fewer when count is too small. The range must exist (ensured). The common case, one span, is fast.
static inline uint32_t stream_spans(const struct stream *stream, uint32_t offset, uint32_t length,
                                    struct weir_span *spans, uint32_t count);
// The first of those spans: memory from `offset` on in one piece, at most `length` bytes. The range exists and is not
// empty.
static inline struct weir_span stream_stretch(const struct stream *stream, uint32_t offset, uint32_t length);
// length += bytes (they exist)
static inline void stream_commit(struct stream *stream, uint32_t bytes);
// the oldest bytes go; frees whole chunks
static inline void stream_drop(struct memory *memory, struct stream *stream, uint32_t bytes);
// where one look suffices; false: not done
static inline bool stream_drop_fast(struct stream *stream, uint32_t bytes);
// Whether a few bytes of the queue, from `offset` on, lie together where a look finds them. false: stream_stretch does.
static inline bool stream_contiguous(const struct stream *stream, uint32_t offset, uint32_t length, uint8_t **place);
// The same for memory that exists, also where nobody asked for it yet (stream_commit, stream_settle). false: look for
// it.
static inline bool stream_contiguous_room(const struct stream *stream, uint32_t offset, uint32_t length,
                                          uint8_t **place);
static inline uint32_t
stream_room(const struct stream *stream);  // > length: spans beyond the data may be lent, or hold data out of order
// Ends the room beyond the data: the caller vouches that no span of it is lent and nothing lies there. Its memory is
// kept for the next stream_ensure (stream_settle), or freed by whole chunks (stream_trim).
static inline void stream_settle(struct stream *stream);
void stream_trim(struct memory *memory, struct stream *stream);
// Appends caller's memory, not copied, only read (allocator builds; WEIR_NOT_SUPPORTED otherwise). Only at the end:
// WEIR_INVALID when room goes beyond length, or bytes is 0; WEIR_AGAIN beyond the limit. `release` may be NULL.
int stream_append_foreign(struct memory *memory, struct stream *stream, const void *data, uint32_t bytes,
                          stream_release *release, void *context);
uint32_t stream_memory(const struct stream *stream);  // bytes taken from memory, the struct included

#define STREAM_AHEAD_FACTOR 4u  // what out-of-order data may cost, for each of its bytes

#if WEIR_CFG_ALLOCATOR

#define STREAM_CHUNK ((uint32_t)WEIR_CFG_QUEUE_CHUNK_BYTES)
#define STREAM_AHEAD_BEGUN (4 * STREAM_CHUNK + 4096u)  // as many chunks as bursts of losses leave begun, a small one
// the first chunk, when so little is needed, is part of the struct: small messages cost one allocation
#define STREAM_EMBEDDED 320u
#define STREAM_PIECES 2u  // directory within the struct

struct stream_piece {
    uint8_t *data;
    stream_release *release;  // foreign memory only
    void *context;
    uint32_t start;  // position of its first byte, counted on from piece to piece (mod 2^32)
    uint32_t size;   // bytes of the stream in it
    uint32_t taken;  // bytes taken from memory for it; 0: foreign or embedded
};

struct stream {
    uint32_t length, room, limit;
    uint32_t capacity;    // bytes for which there are pieces, from offset 0; room <= capacity
    uint32_t skip;        // bytes of the first piece already dropped
    uint32_t first_size;  // of the first piece, as below; 0: none
    uint32_t again;       // with everything dropped, the one piece there is has this capacity, used from its beginning
                          // again; 0: not so simple
    uint8_t *first_data;
    struct stream_piece *pieces;  // those in use are [first, first + count)
    uint32_t first, count, slots;
    uint32_t odd;    // pieces after the first whose size is not STREAM_CHUNK; none: a division finds a byte's piece
    uint8_t *spare;  // a free chunk of STREAM_CHUNK bytes
    uint32_t taken;  // bytes taken from memory
    struct stream_ahead *ahead;  // pieces beyond a gap; NULL: none
    struct stream_piece own_pieces[STREAM_PIECES];
    uint8_t embedded[STREAM_EMBEDDED];
};

// Out of line: what the fast paths below leave over.
uint32_t stream_grow(struct memory *memory, struct stream *stream, uint32_t end);
COLD struct weir_span stream_stretch_search(const struct stream *stream, uint32_t offset, uint32_t length);
uint32_t stream_spans_search(const struct stream *stream, uint32_t offset, uint32_t length, struct weir_span *spans,
                             uint32_t count);
void stream_drop_pieces(struct memory *memory, struct stream *stream, uint32_t bytes);

// Out-of-order data (stream_ahead.c; the flat ring has the same below). Makes memory for [offset, offset + length)
// exist, whatever lies before it; `held` bytes beyond the data hold something already. false: there is none, or so few
// bytes do not pay for it: all memory beyond a gap costs at most STREAM_AHEAD_FACTOR times what it holds, and a small
// chunk. stream_ensure joins it to the rest, without fail.
bool stream_ensure_ahead(struct memory *memory, struct stream *stream, uint32_t offset, uint32_t length, uint32_t held);
// stream_stretch, also for such memory.
struct weir_span stream_stretch_ahead(const struct stream *stream, uint32_t offset, uint32_t length);
// Nothing is wanted beyond the data any more: room ends there, and memory beyond a gap goes.
void stream_ahead_end(struct memory *memory, struct stream *stream);
uint32_t stream_ahead_bytes(const struct stream *stream);  // what memory beyond a gap costs now
// Whether that is more than `held` bytes, which are all that is left there, pay for, with chunks that are only begun:
// the others, which paid when the memory was taken, came into order and were read.
static inline bool stream_ahead_dear(const struct stream *stream, uint32_t held)
{
    const uint32_t bytes = stream_ahead_bytes(stream);
    return bytes > STREAM_AHEAD_BEGUN && (bytes - STREAM_AHEAD_BEGUN) / STREAM_AHEAD_FACTOR > held;
}
// So many bytes beyond the data count as data, though there may be no memory for them, and `behind` more, for which
// there is. The caller drops the former, and all before them, before anything looks at them.
void stream_skip(struct memory *memory, struct stream *stream, uint32_t bytes, uint32_t behind);

static inline size_t stream_carve_bytes(uint32_t count, uint32_t limit)
{
    (void)count, (void)limit;
    return 0;
}
static inline uint32_t stream_length(const struct stream *stream) { return stream->length; }
static inline uint32_t stream_limit(const struct stream *stream) { return stream->limit; }
static inline void stream_set_limit(struct stream *stream, uint32_t limit) { stream->limit = limit; }
static inline uint32_t stream_most(const struct stream *stream) { return (void)stream, UINT32_MAX; }
static inline void stream_commit(struct stream *stream, uint32_t bytes) { stream->length += bytes; }
static inline uint32_t stream_room(const struct stream *stream) { return stream->room; }
static inline void stream_settle(struct stream *stream) { stream->room = stream->length; }

static inline uint32_t stream_ensure(struct memory *memory, struct stream *stream, uint32_t end)
{
    if (end <= stream->room)
        return end;
    if (end > stream->capacity || end > stream->limit)
        return stream_grow(memory, stream, end);
    return stream->room = end;
}

static inline uint32_t stream_spans(const struct stream *stream, uint32_t offset, uint32_t length,
                                    struct weir_span *spans, uint32_t count)
{
    uint32_t at = stream->skip + offset, size = stream->first_size;
    uint8_t *data = stream->first_data;
    if (at >= size && !stream->odd && at < stream->skip + stream->capacity) {
        at -= size;
        data = stream->pieces[stream->first + 1 + at / STREAM_CHUNK].data;
        at %= STREAM_CHUNK;
        size = STREAM_CHUNK;
    }
    if (at >= size || length - 1 >= size - at || !count)  // also length 0
        return stream_spans_search(stream, offset, length, spans, count);
    spans[0].data = data + at;
    spans[0].length = length;
    return 1;
}

static BYTES_INLINE struct weir_span stream_stretch(const struct stream *stream, uint32_t offset, uint32_t length)
{
    uint32_t at = stream->skip + offset, size = stream->first_size;
    uint8_t *data = stream->first_data;
    if (at >= size) {
        if (stream->odd)
            return stream_stretch_search(stream, offset, length);
        at -= size;
        data = stream->pieces[stream->first + 1 + at / STREAM_CHUNK].data;
        at %= STREAM_CHUNK;
        size = STREAM_CHUNK;
    }
    return (struct weir_span){data + at, min_u32(length, size - at)};
}

static inline bool stream_drop_fast(struct stream *stream, uint32_t bytes)
{
    if (LIKELY(bytes == stream->room) && LIKELY(stream->again)) {
        stream->length = stream->room = stream->skip = 0;
        stream->capacity = stream->again;
        return true;
    }
    if (bytes >= stream->room || stream->skip + bytes >= stream->first_size)
        return false;
    stream->skip += bytes;
    stream->length -= bytes;
    stream->room -= bytes;
    stream->capacity -= bytes;
    return true;
}
static inline void stream_drop(struct memory *memory, struct stream *stream, uint32_t bytes)
{
    if (!stream_drop_fast(stream, bytes))
        stream_drop_pieces(memory, stream, bytes);
}
static inline bool stream_contiguous(const struct stream *stream, uint32_t offset, uint32_t length, uint8_t **place)
{
    const uint32_t at = stream->skip + offset;
    if (at + length > stream->first_size)
        return false;
    *place = stream->first_data + at;
    return true;
}
static inline bool stream_contiguous_room(const struct stream *stream, uint32_t offset, uint32_t length,
                                          uint8_t **place)
{
    return offset + length <= stream->limit && stream_contiguous(stream, offset, length, place);
}

#else
#include "base/stream_flat.h"
#endif
#endif
