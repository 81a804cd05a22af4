// SPDX-License-Identifier: BSD-2-Clause
// The stream of allocator builds: a directory of pieces. A piece is a chunk of our own or the caller's memory
// (foreign). The first chunk is small when little is needed; the others have STREAM_CHUNK bytes (smaller ones only
// where the limit is below that). Only directory entries are ever moved, never bytes.
//
// Work: growing takes one allocation per new chunk; the directory doubles (one copy of the entries) or closes up when
// half of it lies free in front, so a piece costs O(1) in the long run. Finding a byte costs one division by a
// constant, or a binary search while pieces of odd sizes are queued.
#include "base/stream_ahead.h"

#define STREAM_DIRECTORY_KEPT 64u  // entries an empty stream may keep: a megabyte of chunks

_Static_assert(STREAM_CHUNK >= STREAM_CHUNK_SMALL && (STREAM_CHUNK & (STREAM_CHUNK - 1)) == 0,
               "WEIR_CFG_QUEUE_CHUNK_BYTES must be a power of two, at least 2048, where there is an allocator");

int stream_carve(struct memory *memory, uint32_t count, uint32_t limit)
{
    (void)memory, (void)count, (void)limit;
    return WEIR_OK;
}

struct stream *stream_open(struct memory *memory, uint32_t limit)
{
    struct stream *stream = memory_get(memory, sizeof *stream);
    if (!stream)
        return NULL;
    memset(stream, 0, offsetof(struct stream, own_pieces));
    stream->limit = limit;
    stream->pieces = stream->own_pieces;
    stream->slots = STREAM_PIECES;
    stream->taken = sizeof *stream;
    stream->own_pieces[0] = (struct stream_piece){stream->embedded, NULL, NULL, 0, STREAM_EMBEDDED, 0};
    stream->count = 1;
    stream->capacity = stream->first_size = stream->again = STREAM_EMBEDDED;
    stream->first_data = stream->embedded;
    return stream;
}

static inline struct stream_piece *stream_piece_at(const struct stream *stream, uint32_t index)
{
    return &stream->pieces[stream->first + index];
}

// Pieces, or the spare chunk, have changed: what is remembered of the first, and what stream_rest() would come to.
void stream_changed(struct stream *stream)
{
    const struct stream_piece *piece = stream_piece_at(stream, 0);
    const bool simple =
        stream->count == 1 && !stream->spare && !stream->ahead && stream->slots <= STREAM_DIRECTORY_KEPT;
    stream->first_data = stream->count ? piece->data : NULL;
    stream->first_size = stream->count ? piece->size : 0;
    stream->again = simple && (piece->data == stream->embedded || piece->taken == piece->size) ? piece->size : 0;
}

static void stream_put(struct memory *memory, struct stream *stream, void *pointer, uint32_t bytes)
{
    stream->taken -= bytes;
    memory_put(memory, pointer, bytes);
}

static void stream_free_spare(struct memory *memory, struct stream *stream)
{
    if (stream->spare)
        stream_put(memory, stream, stream->spare, STREAM_CHUNK);
    stream->spare = NULL;
}

// The piece has left the directory: its memory goes to the cache, to the allocator, or to its owner.
static void stream_let_go(struct memory *memory, struct stream *stream, const struct stream_piece *piece)
{
    if (piece->release)
        piece->release(piece->context);
    else if (piece->taken == STREAM_CHUNK && !stream->spare)
        stream->spare = piece->data;
    else if (piece->taken)
        stream_put(memory, stream, piece->data, piece->taken);
}

static void stream_remove_first(struct memory *memory, struct stream *stream)
{
    const struct stream_piece piece = *stream_piece_at(stream, 0);
    stream->count--;
    stream->first = stream->count ? stream->first + 1 : 0;
    if (stream->count && stream_piece_at(stream, 0)->size != STREAM_CHUNK)
        stream->odd--;
    stream_let_go(memory, stream, &piece);
    stream_changed(stream);
}

static void stream_remove_last(struct memory *memory, struct stream *stream)
{
    const struct stream_piece piece = *stream_piece_at(stream, stream->count - 1);
    stream->count--;
    if (stream->count && piece.size != STREAM_CHUNK)
        stream->odd--;
    if (!stream->count)
        stream->first = 0;
    stream_let_go(memory, stream, &piece);
    stream_changed(stream);
}

void stream_close(struct memory *memory, struct stream *stream)
{
    stream_ahead_end(memory, stream);
    if (stream->count == 1 && stream->first_data == stream->embedded)
        stream->count = 0;  // as most often
    while (stream->count)
        stream_remove_first(memory, stream);
    stream_free_spare(memory, stream);
    if (stream->pieces != stream->own_pieces)
        memory_put(memory, stream->pieces, stream->slots * sizeof *stream->pieces);
    memory_put(memory, stream, sizeof *stream);
}

bool stream_entries_free(struct memory *memory, struct stream *stream, uint32_t entries)
{
    if (stream->first + stream->count + entries <= stream->slots)
        return true;
    struct stream_piece *pieces = stream->pieces;
    uint32_t slots = stream->slots;
    const bool fits = stream->count + entries <= slots;  // closed up
    if (!fits || stream->first < slots / 2) {
        do {
            slots *= 2;
        } while (slots < stream->count + entries);
        struct stream_piece *larger = memory_get(memory, slots * sizeof *pieces);
        if (!larger && !fits)
            return false;
        slots = larger ? slots : stream->slots;
        pieces = larger ? larger : pieces;
        stream->taken += larger ? slots * (uint32_t)sizeof *pieces : 0;
    }
    memmove(pieces, stream->pieces + stream->first, stream->count * sizeof *pieces);
    if (pieces != stream->pieces && stream->pieces != stream->own_pieces)
        stream_put(memory, stream, stream->pieces, stream->slots * (uint32_t)sizeof *pieces);
    stream->pieces = pieces;
    stream->slots = slots;
    stream->first = 0;
    return true;
}

void stream_append(struct stream *stream, const struct stream_piece *piece)
{
    struct stream_piece *to = stream_piece_at(stream, stream->count);
    *to = *piece;
    to->start = stream->count ? to[-1].start + to[-1].size : 0;
    stream->capacity += to->size;
    if (stream->count++ && to->size != STREAM_CHUNK)
        stream->odd++;
    stream_changed(stream);
}

// Memory for the next piece, as far as `gap` bytes. Its size is 0: there is none.
static struct stream_piece stream_chunk_new(struct memory *memory, struct stream *stream, uint32_t need, uint32_t gap)
{
    if (!stream->count && need <= STREAM_EMBEDDED && !stream->spare)
        return (struct stream_piece){stream->embedded, NULL, NULL, 0, min_u32(STREAM_EMBEDDED, gap), 0};
    const bool little = need <= STREAM_CHUNK_SMALL && stream->capacity <= STREAM_EMBEDDED && !stream->spare;
    const uint32_t whole = little || stream->limit < STREAM_CHUNK ? STREAM_CHUNK_SMALL : STREAM_CHUNK;
    struct stream_piece piece = {.size = min_u32(whole, gap)};
    if (whole == STREAM_CHUNK && stream->spare) {
        piece.taken = STREAM_CHUNK;
        piece.data = stream->spare;
        stream->spare = NULL;
        return piece;
    }
    piece.taken = gap < whole ? stream_ahead_taken(gap) : whole;
    piece.data = memory_get(memory, piece.taken);
    if (!piece.data)
        return (struct stream_piece){0};
    stream->taken += piece.taken;
    return piece;
}

// One more chunk, for `need` bytes beyond what exists, or what lies ahead. False: no memory.
static bool stream_add_chunk(struct memory *memory, struct stream *stream, uint32_t need)
{
    const uint32_t gap = stream_ahead_gap(stream);
    if (!stream_entries_free(memory, stream, gap ? 1 + stream_ahead_entries(stream) : 1))
        return false;
    const struct stream_piece piece = gap ? stream_chunk_new(memory, stream, need, gap) : stream_ahead_take(stream);
    if (piece.size)
        stream_append(stream, &piece);
    if (!gap)
        stream->room = stream->capacity;  // somewhere in it there is data
    return piece.size != 0;
}

// The embedded chunk of an empty stream is too small for what comes: a segment had better lie in one piece.
void stream_embedded_leave(struct memory *memory, struct stream *stream)
{
    if (stream->count != 1 || stream->first_data != stream->embedded)
        return;
    stream_remove_first(memory, stream);
    stream->skip = stream->capacity = 0;
}

uint32_t stream_grow(struct memory *memory, struct stream *stream, uint32_t end)
{
    const uint32_t target = min_u32(end, stream->limit);
    if (target > STREAM_EMBEDDED && !stream->room && !stream->ahead)
        stream_embedded_leave(memory, stream);
    while (stream->capacity < target && stream_add_chunk(memory, stream, target - stream->capacity))
        ;
    if (!stream->count)
        stream_add_chunk(memory, stream, 1);  // no memory: the embedded one at least
    const uint32_t exists = min_u32(target, stream->capacity);
    if (exists > stream->room)
        stream->room = exists;
    return min_u32(end, stream->room);
}

// Index of the piece that holds the byte `at` bytes after the beginning of the first.
static uint32_t stream_search(const struct stream *stream, uint32_t at)
{
    if (!stream->odd)
        return at < stream->first_size ? 0 : 1 + (at - stream->first_size) / STREAM_CHUNK;
    uint32_t low = 0, high = stream->count;
    while (high - low > 1) {
        const uint32_t middle = (low + high) / 2;
        if (stream_piece_at(stream, middle)->start - stream_piece_at(stream, 0)->start <= at)
            low = middle;
        else
            high = middle;
    }
    return low;
}

uint32_t stream_spans_search(const struct stream *stream, uint32_t offset, uint32_t length, struct weir_span *spans,
                             uint32_t count)
{
    if (!length)
        return 0;
    uint32_t at = stream->skip + offset, made = 0;
    const struct stream_piece *piece = stream_piece_at(stream, stream_search(stream, at));
    at -= piece->start - stream_piece_at(stream, 0)->start;
    for (; length && made < count; piece++, at = 0) {
        const uint32_t bytes = min_u32(length, piece->size - at);
        spans[made++] = (struct weir_span){piece->data + at, bytes};
        length -= bytes;
    }
    return made;
}

struct weir_span stream_stretch_search(const struct stream *stream, uint32_t offset, uint32_t length)
{
    struct weir_span span = {NULL, 0};
    stream_spans_search(stream, offset, length, &span, 1);
    return span;
}

// After a great burst its directory goes too.
void stream_directory_shrink(struct memory *memory, struct stream *stream)
{
    if (stream->slots <= STREAM_DIRECTORY_KEPT || stream->count > STREAM_PIECES)
        return;
    memcpy(stream->own_pieces, stream_piece_at(stream, 0), stream->count * sizeof *stream->pieces);
    stream_put(memory, stream, stream->pieces, stream->slots * (uint32_t)sizeof *stream->pieces);
    stream->pieces = stream->own_pieces;
    stream->slots = STREAM_PIECES;
    stream->first = 0;
}

// Nothing in it and nothing lent or expected: one chunk at most stays, and is used from its beginning again.
static void stream_rest(struct memory *memory, struct stream *stream)
{
    while (stream->count > 1)
        stream_remove_last(memory, stream);
    struct stream_piece *piece = stream_piece_at(stream, 0);
    if (stream->count && (piece->release || (!piece->taken && piece->data != stream->embedded)))
        stream_remove_first(memory, stream);
    stream->skip = stream->capacity = 0;
    stream_directory_shrink(memory, stream);
    if (!stream->count)
        return;
    piece = stream_piece_at(stream, 0);
    if (piece->taken)
        stream_free_spare(memory, stream);
    piece->size = piece->taken ? piece->taken : STREAM_EMBEDDED;
    stream->capacity = piece->size;
    stream_changed(stream);
}

void stream_drop_pieces(struct memory *memory, struct stream *stream, uint32_t bytes)
{
    stream->skip += bytes;
    stream->length -= bytes;
    stream->room -= bytes;
    stream->capacity -= bytes;
    while (stream->count && stream->skip >= stream->first_size) {
        if (!stream->room && stream->count == 1)
            break;
        stream->skip -= stream->first_size;
        stream_remove_first(memory, stream);
    }
    if (!stream->room && stream->ahead && !stream->ahead->count)
        stream_ahead_end(memory, stream);
    if (!stream->room && !stream->ahead)
        stream_rest(memory, stream);
}

// Gives up memory beyond the data; leaves capacity == length.
static void stream_cut(struct memory *memory, struct stream *stream)
{
    uint32_t extra = stream->capacity - stream->length;
    while (extra) {
        struct stream_piece *last = stream_piece_at(stream, stream->count - 1);
        const uint32_t held = last->size - (stream->count == 1 ? stream->skip : 0);
        if (extra < held) {
            if (stream->count > 1 && last->size == STREAM_CHUNK)
                stream->odd++;
            last->size -= extra;
            break;
        }
        extra -= held;
        if (stream->count == 1)
            stream->skip = 0;
        stream_remove_last(memory, stream);
    }
    stream->capacity = stream->length;
    stream_changed(stream);
}

void stream_trim(struct memory *memory, struct stream *stream)
{
    stream_ahead_end(memory, stream);
    if (!stream->room) {
        stream_rest(memory, stream);
        return;
    }
    uint32_t extra = stream->capacity - stream->length;
    while (stream->count > 1 && extra >= stream_piece_at(stream, stream->count - 1)->size) {
        extra -= stream_piece_at(stream, stream->count - 1)->size;
        stream_remove_last(memory, stream);
    }
    stream->capacity = stream->length + extra;
}

int stream_append_foreign(struct memory *memory, struct stream *stream, const void *data, uint32_t bytes,
                          stream_release *release, void *context)
{
    if (stream->room != stream->length || stream->ahead || !bytes)
        return WEIR_INVALID;
    if (stream->length > stream->limit || bytes > stream->limit - stream->length)
        return WEIR_AGAIN;
    if (!stream_entries_free(memory, stream, 1))
        return WEIR_NO_MEMORY;
    stream_cut(memory, stream);
    stream_append(stream, &(struct stream_piece){(uint8_t *)data, release, context, 0, bytes, 0});
    stream->length = stream->room = stream->capacity;
    return WEIR_OK;
}

uint32_t stream_memory(const struct stream *stream) { return stream->taken; }
