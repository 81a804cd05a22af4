// SPDX-License-Identifier: BSD-2-Clause
// The stream of static builds: one ring of fixed size. All calls but stream_open are O(1) (and its search is over the
// free streams).
#include "base/stream.h"

static struct stream *stream_make(struct memory *memory, uint32_t size)
{
    if (size > UINT32_MAX - sizeof(struct stream))
        return NULL;
    struct stream *stream = memory_carve(memory, sizeof *stream + size);
    if (stream)
        stream->size = size;
    return stream;
}

int stream_carve(struct memory *memory, uint32_t count, uint32_t limit)
{
    while (count--) {
        struct stream *stream = stream_make(memory, limit);
        if (!stream)
            return WEIR_NO_MEMORY;
        stream_close(memory, stream);
    }
    return WEIR_OK;
}

// Whether a ring of `size` serves `limit` better than one of `best`: the smallest that is large enough, or else the
// largest.
static bool stream_serves_better(uint32_t size, uint32_t best, uint32_t limit)
{
    return size < limit ? size > best : best < limit || size < best;
}

struct stream *stream_open(struct memory *memory, uint32_t limit)
{
    struct stream **best = NULL, *stream = NULL;
    for (struct stream **link = &memory->streams; *link; link = &(*link)->next) {
        if (!best || stream_serves_better((*link)->size, (*best)->size, limit))
            best = link;
    }
    if (!best || (*best)->size < limit)
        stream = stream_make(memory, limit);
    if (!stream && best) {
        stream = *best;
        *best = stream->next;
    }
    if (stream) {
        stream->length = stream->room = stream->head = 0;
        stream_set_limit(stream, limit);
    }
    return stream;
}

void stream_close(struct memory *memory, struct stream *stream)
{
    stream->next = memory->streams;
    memory->streams = stream;
}

uint32_t stream_flat_spans(const struct stream *stream, uint32_t offset, uint32_t length, struct weir_span *spans,
                           uint32_t count)
{
    uint32_t at = stream->head + offset;
    if (!length || !count)
        return 0;
    if (at >= stream->size)
        at -= stream->size;
    const uint32_t bytes = min_u32(length, stream->size - at);
    spans[0].data = (uint8_t *)stream->data + at;
    spans[0].length = bytes;
    if (bytes == length || count == 1)
        return 1;
    spans[1].data = (uint8_t *)stream->data;
    spans[1].length = length - bytes;  // no more than the ring holds
    return 2;
}

void stream_flat_drop(struct stream *stream, uint32_t bytes)
{
    stream->length -= bytes;
    stream->room -= bytes;
    stream->head += bytes;
    if (stream->head >= stream->size)
        stream->head -= stream->size;
}

/*@ requires stream_ring(stream);
    assigns stream->room, stream->head;
    ensures stream_ring(stream) && stream->room == stream->length; */
void stream_trim(struct memory *memory, struct stream *stream)
{
    (void)memory;
    stream->room = stream->length;
    if (!stream->length)
        stream->head = 0;  // the next data lies in one piece
}

int stream_append_foreign(struct memory *memory, struct stream *stream, const void *data, uint32_t bytes,
                          stream_release *release, void *context)
{
    (void)memory, (void)stream, (void)data, (void)bytes, (void)release, (void)context;
    return WEIR_NOT_SUPPORTED;
}

uint32_t stream_memory(const struct stream *stream) { return (uint32_t)sizeof *stream + stream->size; }
