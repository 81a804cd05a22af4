// SPDX-License-Identifier: BSD-2-Clause
#include "http/chunks.h"

#include "http/message.h"

enum {
    SIZE_FIRST,  // the size's first digit
    SIZE,
    EXTENSION,
    SIZE_LF,
    DATA,
    DATA_CR,
    DATA_LF,
    LINE_FIRST,  // a trailer, or the empty line
    NAME,
    VALUE,
    LINE_LF,
    END_LF,
    DONE,
    BAD
};

static bool is_text(char c) { return (uint8_t)c >= 0x20 ? c != 0x7f : c == '\t'; }

static uint8_t size_take(struct http_chunks *chunks, char c)
{
    const int digit = http_hex(c);
    if (digit >= 0) {
        chunks->left = chunks->left << 4 | (uint64_t)digit;
        return chunks->left > HTTP_CHUNK_MAX ? BAD : SIZE;
    }
    if (chunks->state == SIZE_FIRST)
        return BAD;
    return c == '\r' ? SIZE_LF : c == ';' ? EXTENSION : BAD;
}

static uint8_t name_take(const struct http_chunks *chunks, char c)
{
    if (c == ':')
        return chunks->state == NAME ? VALUE : BAD;
    if (c == '\r')
        return chunks->state == LINE_FIRST ? END_LF : BAD;
    return http_is_token((struct http_line){&c, 1}) ? NAME : BAD;
}

// The state behind one byte of framing.
static uint8_t step(struct http_chunks *chunks, char c)
{
    switch (chunks->state) {
    case SIZE_FIRST:
    case SIZE: return size_take(chunks, c);
    case EXTENSION: return c == '\r' ? SIZE_LF : is_text(c) ? EXTENSION : BAD;
    case SIZE_LF: chunks->line = 0; return c != '\n' ? BAD : chunks->left > 0 ? DATA : LINE_FIRST;
    case DATA_CR: return c == '\r' ? DATA_LF : BAD;
    case DATA_LF: chunks->line = 0; return c == '\n' ? SIZE_FIRST : BAD;
    case LINE_FIRST:
    case NAME: return name_take(chunks, c);
    case VALUE: return c == '\r' ? LINE_LF : is_text(c) ? VALUE : BAD;
    case LINE_LF: return c == '\n' ? LINE_FIRST : BAD;
    case END_LF: return c == '\n' ? DONE : BAD;
    default: return BAD;
    }
}

enum http_chunk http_chunks_read(struct http_chunks *chunks, const char *bytes, uint32_t length, uint32_t *used,
                                 uint32_t *data)
{
    *used = *data = 0;
    while (chunks->state != DONE && chunks->state != BAD) {
        if (*used == length)
            return HTTP_CHUNK_MORE;
        if (chunks->state == DATA) {
            const uint32_t there = length - *used;
            *data = chunks->left < there ? (uint32_t)chunks->left : there;
            return HTTP_CHUNK_DATA;
        }
        const uint32_t most = chunks->state >= LINE_FIRST ? HTTP_TRAILERS_MAX : HTTP_CHUNK_LINE_MAX;
        chunks->state = ++chunks->line > most ? BAD : step(chunks, bytes[(*used)++]);
    }
    return chunks->state == DONE ? HTTP_CHUNK_END : HTTP_CHUNK_BAD;
}

void http_chunks_taken(struct http_chunks *chunks, uint32_t bytes)
{
    chunks->left -= bytes;
    if (chunks->left == 0 && bytes > 0)
        chunks->state = DATA_CR;
}

enum http_chunk http_body_read(struct http_body *body, const char *bytes, uint32_t length, uint32_t *used,
                               uint32_t *data)
{
    if (body->chunked) {
        const enum http_chunk chunk = http_chunks_read(&body->chunks, bytes, length, used, data);
        if (chunk == HTTP_CHUNK_END)
            *body = (struct http_body){0};
        return chunk;
    }
    *used = 0;
    *data = body->left < length ? (uint32_t)body->left : length;
    return body->left == 0 ? HTTP_CHUNK_END : *data > 0 ? HTTP_CHUNK_DATA : HTTP_CHUNK_MORE;
}

void http_body_taken(struct http_body *body, uint32_t bytes)
{
    if (body->chunked)
        http_chunks_taken(&body->chunks, bytes);
    else if (body->left != UINT64_MAX)
        body->left -= bytes;
}
