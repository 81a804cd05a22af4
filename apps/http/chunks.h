// SPDX-License-Identifier: BSD-2-Clause
// The chunked transfer coding (RFC 9112 §7.1), read as it comes in: pure, bytes in any pieces. Lines end with CR LF and
// nothing else, since they say where the next message begins; extensions and trailers are read and forgotten.
#ifndef APPS_HTTP_CHUNKS_H
#define APPS_HTTP_CHUNKS_H

#include "weir/linkage/http.h"

#include <stdbool.h>
#include <stdint.h>

WEIR_BEGIN_DECLS

#define HTTP_CHUNK_LINE_MAX 64u      // with extensions
#define HTTP_TRAILERS_MAX 1024u      // bytes of all lines
#define HTTP_CHUNK_MAX (1ull << 53)  // bytes of one

enum http_chunk { HTTP_CHUNK_MORE, HTTP_CHUNK_DATA, HTTP_CHUNK_END, HTTP_CHUNK_BAD };

struct http_chunks {
    uint8_t state;  // 0 at first
    uint32_t line;  // bytes of the line, or of the trailers, so far
    uint64_t left;  // of this chunk's data
};

// Reads framing. *used: bytes that belonged to it. HTTP_CHUNK_DATA: the *data bytes behind them are the body's; say
// with http_chunks_taken how many were taken, then call again. HTTP_CHUNK_END: the next message begins behind them.
enum http_chunk http_chunks_read(struct http_chunks *chunks, const char *bytes, uint32_t length, uint32_t *used,
                                 uint32_t *data);
void http_chunks_taken(struct http_chunks *chunks, uint32_t bytes);

// A message's body (RFC 9112 §6.3): in chunks, or so many bytes, or (`left` UINT64_MAX) until the connection ends.
struct http_body {
    bool chunked;
    uint64_t left;  // where it does not come in chunks
    struct http_chunks chunks;
};

// As http_chunks_read and http_chunks_taken. HTTP_CHUNK_END: all of it has been, and nothing is left.
enum http_chunk http_body_read(struct http_body *body, const char *bytes, uint32_t length, uint32_t *used,
                               uint32_t *data);
void http_body_taken(struct http_body *body, uint32_t bytes);

WEIR_END_DECLS

#endif
