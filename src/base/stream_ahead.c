// SPDX-License-Identifier: BSD-2-Clause
// Data beyond a gap in the stream of allocator builds. It has pieces of its own, each beginning where the first byte
// that needed it lies, so that memory goes by what arrived and never by the offset a peer names. When the directory has
// grown up to a piece it moves there, as an entry, not as bytes; entries are set aside for that, so that it cannot
// fail.
//
// All pieces together cost at most STREAM_AHEAD_FACTOR times the bytes they hold, and a small chunk: a piece is a whole
// chunk where that many bytes pay for it, otherwise a small chunk, otherwise as small as the data. Work: a binary
// search, and one move of at most STREAM_AHEAD_PIECES entries of 16 bytes (none when data arrives in order).
#include "base/stream_ahead.h"

#define STREAM_AHEAD_FIRST 4u
#define STREAM_AHEAD_PIECES 4096u  // bounds the move to 64 KB; more only where the limit has more chunks than that
// A piece's places in both directories, each of which may be twice as long as needed.
#define STREAM_AHEAD_PLACES ((uint32_t)(2 * (sizeof(struct stream_piece) + sizeof(struct stream_ahead_piece))))

static size_t ahead_bytes(uint32_t slots)
{
    return sizeof(struct stream_ahead) + slots * sizeof(struct stream_ahead_piece);
}

// Index of the first piece that ends behind the position.
static uint32_t ahead_find(const struct stream_ahead *ahead, uint32_t position)
{
    uint32_t low = 0, high = ahead->count;
    while (low < high) {
        const uint32_t middle = (low + high) / 2;
        if (seq_le(ahead->piece[middle].start + ahead->piece[middle].size, position))
            low = middle + 1;
        else
            high = middle;
    }
    return low;
}

// Room for one more piece. False: no memory, or as many as there may be.
static bool ahead_grow(struct memory *memory, struct stream *stream)
{
    struct stream_ahead *old = stream->ahead;
    if (old && old->count < old->slots)
        return true;
    if (old && old->count >= max_u32(STREAM_AHEAD_PIECES, stream->limit / STREAM_CHUNK))
        return false;
    if (!old && !stream->room)
        stream_embedded_leave(memory, stream);
    const uint32_t slots = old ? 2 * old->slots : STREAM_AHEAD_FIRST;
    struct stream_ahead *ahead = memory_get(memory, ahead_bytes(slots));
    if (!ahead)
        return false;
    *ahead = old ? *old : (struct stream_ahead){0};
    ahead->slots = slots;
    stream->taken += (uint32_t)ahead_bytes(slots);
    stream->ahead = ahead;
    if (old) {
        memcpy(ahead->piece, old->piece, old->count * sizeof old->piece[0]);
        stream->taken -= (uint32_t)ahead_bytes(old->slots);
        memory_put(memory, old, ahead_bytes(old->slots));
    }
    stream_changed(stream);
    return true;
}

static uint64_t piece_cost(uint32_t bytes) { return (uint64_t)stream_ahead_taken(bytes) + STREAM_AHEAD_PLACES; }

// Where the next piece for [at, end) would begin, and how long it is at least; 0: all of it is there. *index: before
// which it stands.
static uint32_t ahead_missing(const struct stream_ahead *ahead, uint32_t *index, uint32_t *at, uint32_t end)
{
    for (; *index < ahead->count && seq_le(ahead->piece[*index].start, *at); ++*index)
        *at = ahead->piece[*index].start + ahead->piece[*index].size;
    if (!seq_lt(*at, end))
        return 0;
    const uint32_t room = *index < ahead->count ? ahead->piece[*index].start - *at : STREAM_CHUNK;
    return min_u32(min_u32(room, STREAM_CHUNK), end - *at);
}

// What pieces for [at, end) cost at the least.
static uint64_t ahead_cost(const struct stream_ahead *ahead, uint32_t at, uint32_t end)
{
    uint64_t cost = 0;
    uint32_t index = ahead_find(ahead, at), bytes;
    while ((bytes = ahead_missing(ahead, &index, &at, end)) != 0) {
        cost += piece_cost(bytes);
        at += bytes;
    }
    return cost;
}

// A piece of `bytes` or more from `start` on, before the piece at `index`; it may cost as much as `most`. Returns its
// size; 0: no memory.
static uint32_t ahead_add(struct memory *memory, struct stream *stream, uint32_t index, uint32_t start, uint32_t bytes,
                          uint64_t most)
{
    if (!ahead_grow(memory, stream) || !stream_entries_free(memory, stream, stream_ahead_entries(stream) + 1))
        return 0;
    struct stream_ahead *ahead = stream->ahead;
    const uint32_t room = index < ahead->count ? ahead->piece[index].start - start : UINT32_MAX;
    const uint32_t whole = piece_cost(STREAM_CHUNK) <= most         ? STREAM_CHUNK
                           : piece_cost(STREAM_CHUNK_SMALL) <= most ? STREAM_CHUNK_SMALL
                                                                    : 0;
    const uint32_t size = max_u32(min_u32(whole, room), bytes);
    uint8_t *data = memory_get(memory, stream_ahead_taken(size));
    if (!data)
        return 0;
    stream->taken += stream_ahead_taken(size);
    ahead->charged += (uint32_t)piece_cost(size);
    memmove(&ahead->piece[index + 1], &ahead->piece[index], (ahead->count - index) * sizeof ahead->piece[0]);
    ahead->piece[index] = (struct stream_ahead_piece){start, size, data};
    ahead->count++;
    return size;
}

// Pieces for [at, end), for which `pays` is what all pieces may cost. Where memory ends on the way, what was added
// stays for the next. The bytes that paid for a whole chunk may have gone, all but a few: what pays for its own pieces
// is taken all the same, and these are then as small as it is.
static bool ahead_fill(struct memory *memory, struct stream *stream, uint32_t at, uint32_t end, uint64_t pays)
{
    uint64_t least = ahead_cost(stream->ahead, at, end);
    uint32_t index = ahead_find(stream->ahead, at), bytes;
    const bool paid = stream->ahead->charged + least <= pays, own = least <= (uint64_t)STREAM_AHEAD_FACTOR * (end - at);
    if (least && (!(paid || own) || memory_beyond(memory, MEMORY_REFUSE)))
        return false;
    while ((bytes = ahead_missing(stream->ahead, &index, &at, end)) != 0) {
        least -= piece_cost(bytes);
        if (!ahead_add(memory, stream, index, at, bytes, paid ? pays - stream->ahead->charged - least : 0))
            return false;
        at += bytes;
    }
    return true;
}

bool stream_ensure_ahead(struct memory *memory, struct stream *stream, uint32_t offset, uint32_t length, uint32_t held)
{
    if (offset > stream->limit || length > stream->limit - offset)
        return false;
    if (offset + length <= stream->capacity)
        return stream_ensure(memory, stream, offset + length) == offset + length;
    if (!ahead_grow(memory, stream))
        return false;
    const uint64_t pays = (uint64_t)STREAM_AHEAD_FACTOR * ((uint64_t)held + length) + piece_cost(STREAM_CHUNK_SMALL);
    const uint32_t near_bytes = stream->capacity > offset ? stream->capacity - offset : 0;
    const uint32_t position = stream_position(stream) + offset;
    if (!ahead_fill(memory, stream, position + near_bytes, position + length, pays))
        return false;
    if (near_bytes)
        stream_ensure(memory, stream, stream->capacity);
    return true;
}

struct weir_span stream_stretch_ahead(const struct stream *stream, uint32_t offset, uint32_t length)
{
    if (offset < stream->capacity)
        return stream_stretch(stream, offset, min_u32(length, stream->capacity - offset));
    const uint32_t position = stream_position(stream) + offset;
    const struct stream_ahead_piece *piece = &stream->ahead->piece[ahead_find(stream->ahead, position)];
    return (struct weir_span){piece->data + (position - piece->start),
                              min_u32(length, piece->start + piece->size - position)};
}

// The first `pieces` leave, and what they cost.
static void ahead_remove(struct stream_ahead *ahead, uint32_t pieces)
{
    for (uint32_t i = 0; i < pieces; i++)
        ahead->charged -= (uint32_t)piece_cost(ahead->piece[i].size);
    ahead->count -= pieces;
    memmove(ahead->piece, ahead->piece + pieces, ahead->count * sizeof ahead->piece[0]);
}

static void ahead_free(struct memory *memory, struct stream *stream, uint32_t pieces)
{
    for (uint32_t i = 0; i < pieces; i++) {
        const uint32_t taken = stream_ahead_taken(stream->ahead->piece[i].size);
        stream->taken -= taken;
        memory_put(memory, stream->ahead->piece[i].data, taken);
    }
    ahead_remove(stream->ahead, pieces);
}

struct stream_piece stream_ahead_take(struct stream *stream)
{
    const struct stream_ahead_piece piece = stream->ahead->piece[0];
    ahead_remove(stream->ahead, 1);
    return (struct stream_piece){piece.data, NULL, NULL, 0, piece.size, stream_ahead_taken(piece.size)};
}

void stream_ahead_end(struct memory *memory, struct stream *stream)
{
    stream->room = stream->length;
    if (!stream->ahead)
        return;
    ahead_free(memory, stream, stream->ahead->count);
    const size_t bytes = ahead_bytes(stream->ahead->slots);
    stream->taken -= (uint32_t)bytes;
    memory_put(memory, stream->ahead, bytes);
    stream->ahead = NULL;
    stream_directory_shrink(memory, stream);
    stream_changed(stream);
}

uint32_t stream_ahead_bytes(const struct stream *stream) { return stream->ahead ? stream->ahead->charged : 0; }

// A piece without memory stands for what is passed over: nobody looks at it before it is dropped. It grows where it is
// the last.
static void skip_piece(struct memory *memory, struct stream *stream, uint32_t bytes)
{
    struct stream_piece *last = stream->pieces + stream->first + stream->count - 1;
    if (stream->count && !last->data) {
        const bool counts = stream->count > 1;
        stream->odd -= counts && last->size != STREAM_CHUNK;
        last->size += bytes;
        stream->odd += counts && last->size != STREAM_CHUNK;
        stream->capacity += bytes;
        stream_changed(stream);
    } else if (stream_entries_free(memory, stream, 1)) {
        stream_append(stream, &(struct stream_piece){.size = bytes});
    }
}

static void skip_beyond(struct memory *memory, struct stream *stream, uint32_t target)
{
    const uint32_t end = stream_end_position(stream), position = stream_position(stream) + target;
    struct stream_ahead *ahead = stream->ahead;
    ahead_free(memory, stream, ahead_find(ahead, position));
    const bool inside = ahead->count && seq_lt(ahead->piece[0].start, position);
    const uint32_t until = inside ? ahead->piece[0].start : position;
    if (until != end)
        skip_piece(memory, stream, until - end);
    stream_ensure(memory, stream, target);
}

void stream_skip(struct memory *memory, struct stream *stream, uint32_t bytes, uint32_t behind)
{
    const uint32_t target = stream->length + bytes;
    if (target > stream->capacity && stream->ahead)
        skip_beyond(memory, stream, target);
    else if (target <= stream->capacity)
        stream->room = max_u32(stream->room, target);
    stream_commit(stream, min_u32(bytes, stream->room - stream->length));
    if (behind)
        stream_commit(stream, stream_ensure(memory, stream, stream->length + behind) - stream->length);
}
