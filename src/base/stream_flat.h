// SPDX-License-Identifier: BSD-2-Clause
// A queue that is one ring of bytes, of fixed size (stream.h has the contract): builds without an allocator.
#ifndef BASE_STREAM_FLAT_H
#define BASE_STREAM_FLAT_H

#include "base/stream.h"

#if !WEIR_CFG_ALLOCATOR
struct stream {
    struct stream *next;  // while free
    uint32_t length, room, limit;
    uint32_t size;  // of the ring
    uint32_t head;  // place of offset 0
    uint8_t data[];
};

// For proofs: a ring's memory, and that nothing reaches beyond it. Twice a ring's size is a number of 32 bits.
/*@ predicate stream_ring(struct stream *stream) =
      \valid(&stream->length) && \valid(&stream->room) && \valid(&stream->limit) && \valid(&stream->size) &&
      \valid(&stream->head) && \valid(&stream->data[0 .. stream->size - 1]) && stream->size <= 2147483648 &&
      stream->length <= stream->room <= stream->size && stream->limit <= stream->size &&
      (stream->head < stream->size || stream->head == 0); */
/*@ logic integer stream_place(struct stream *stream, integer offset) =
      stream->head + offset < stream->size ? stream->head + offset : stream->head + offset - stream->size; */
static inline size_t stream_carve_bytes(uint32_t count, uint32_t limit)
{
    return count * memory_carve_bytes(sizeof(struct stream) + limit);
}
/*@ requires stream_ring(stream) && offset + length <= stream->room && \valid(spans + (0 .. count - 1));
    requires \separated(spans + (0 .. count - 1), &stream->size, &stream->head);
    assigns spans[0 .. count - 1];
    ensures \result <= count && \result <= 2;
    ensures first: \result >= 1 && stream->head + offset < stream->size ==>
      spans[0].data == (uint8_t *)&stream->data[stream->head + offset];
    ensures past: \result >= 1 && stream->head + offset >= stream->size ==>
      spans[0].data == (uint8_t *)&stream->data[stream->head + offset - stream->size];
    ensures within: \result >= 1 ==> spans[0].length <= stream->size - stream_place(stream, offset);
    ensures second: \result == 2 ==> spans[1].data == (uint8_t *)&stream->data[0] && spans[1].length <= stream->size;
    ensures whole: \result == 1 && count > 1 ==> spans[0].length == length;
    ensures both: \result == 2 ==> spans[0].length + spans[1].length == length; */
uint32_t stream_flat_spans(const struct stream *stream, uint32_t offset, uint32_t length, struct weir_span *spans,
                           uint32_t count);
/*@ requires stream_ring(stream) && bytes <= stream->length;
    assigns stream->length, stream->room, stream->head;
    ensures stream_ring(stream) && stream->length == \old(stream->length) - bytes &&
      stream->room == \old(stream->room) - bytes; */
void stream_flat_drop(struct stream *stream, uint32_t bytes);

static inline uint32_t stream_length(const struct stream *stream) { return stream->length; }
static inline uint32_t stream_limit(const struct stream *stream) { return stream->limit; }
/*@ requires stream_ring(stream);
    assigns stream->limit;
    ensures stream_ring(stream); */
static inline void stream_set_limit(struct stream *stream, uint32_t limit)
{
    stream->limit = min_u32(limit, stream->size);
}
static inline uint32_t stream_most(const struct stream *stream) { return stream->size; }
/*@ requires stream_ring(stream) && bytes <= stream->room - stream->length;
    assigns stream->length;
    ensures stream_ring(stream) && stream->length == \old(stream->length) + bytes; */
static inline void stream_commit(struct stream *stream, uint32_t bytes) { stream->length += bytes; }
static inline uint32_t stream_room(const struct stream *stream) { return stream->room; }
static inline void stream_settle(struct stream *stream) { stream->room = stream->length; }
/*@ requires stream_ring(stream);
    assigns stream->room;
    ensures stream_ring(stream) && \result <= stream->room && \result <= end; */
static inline uint32_t stream_ensure(struct memory *memory, struct stream *stream, uint32_t end)
{
    (void)memory;
    if (end > stream->room)
        stream->room = max_u32(stream->room, min_u32(end, stream->limit));
    return min_u32(end, stream->room);
}
static inline uint32_t stream_spans(const struct stream *stream, uint32_t offset, uint32_t length,
                                    struct weir_span *spans, uint32_t count)
{
    return stream_flat_spans(stream, offset, length, spans, count);
}
/*@ requires stream_ring(stream) && 0 < length && offset + length <= stream->room;
    assigns \nothing;
    ensures 0 < \result.length <= length && stream_place(stream, offset) + \result.length <= stream->size;
    ensures \result.data == (uint8_t *)&stream->data[stream_place(stream, offset)]; */
static inline struct weir_span stream_stretch(const struct stream *stream, uint32_t offset, uint32_t length)
{
    uint32_t at = stream->head + offset;
    if (at >= stream->size)
        at -= stream->size;
    return (struct weir_span){(uint8_t *)stream->data + at, min_u32(length, stream->size - at)};
}
static inline bool stream_ensure_ahead(struct memory *memory, struct stream *stream, uint32_t offset, uint32_t length,
                                       uint32_t held)
{
    (void)held;
    return stream_ensure(memory, stream, offset + length) == offset + length;
}
static inline struct weir_span stream_stretch_ahead(const struct stream *stream, uint32_t offset, uint32_t length)
{
    return stream_stretch(stream, offset, length);
}
static inline void stream_ahead_end(struct memory *memory, struct stream *stream) { (void)memory, (void)stream; }
static inline uint32_t stream_ahead_bytes(const struct stream *stream) { return (void)stream, 0; }
static inline bool stream_ahead_dear(const struct stream *stream, uint32_t held)
{
    return (void)stream, (void)held, false;
}
/*@ requires stream_ring(stream) && bytes + behind <= 4294967295;
    assigns stream->length;
    ensures stream_ring(stream); */
static inline void stream_skip(struct memory *memory, struct stream *stream, uint32_t bytes, uint32_t behind)
{
    (void)memory;
    stream_commit(stream, min_u32(bytes + behind, stream->room - stream->length));
}
static inline bool stream_drop_fast(struct stream *stream, uint32_t bytes)
{
    return stream_flat_drop(stream, bytes), true;
}
static inline bool stream_contiguous(const struct stream *stream, uint32_t offset, uint32_t length, uint8_t **place)
{
    return (void)stream, (void)offset, (void)length, (void)place, false;
}
static inline bool stream_contiguous_room(const struct stream *stream, uint32_t offset, uint32_t length,
                                          uint8_t **place)
{
    return stream_contiguous(stream, offset, length, place);
}
static inline void stream_drop(struct memory *memory, struct stream *stream, uint32_t bytes)
{
    (void)memory;
    stream_flat_drop(stream, bytes);
}
#endif

#endif
