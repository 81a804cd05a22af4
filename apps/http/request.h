// SPDX-License-Identifier: BSD-2-Clause
// HTTP/1.1 requests (RFC 9110, RFC 9112), pure: bytes in, values out, nothing copied. Strict where leniency lets two
// programs read one message differently: no folded lines, no blanks before a colon, one Host, one Content-Length, no
// transfer codings.
#ifndef APPS_HTTP_REQUEST_H
#define APPS_HTTP_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

enum http_method { HTTP_GET, HTTP_HEAD, HTTP_OTHER };

struct http_request {
    enum http_method method;
    const char *path;  // without query; begins with '/'; in the bytes that were parsed
    uint32_t path_length;
    bool keep_alive;
    uint64_t body_length;  // Content-Length
    // Range: bytes=first-last. Absent or not understood: `ranged` is false and the whole is sent (RFC 9110 §14.2).
    bool ranged, from_end;  // from_end: the last `first` bytes
    uint64_t first, last;   // last UINT64_MAX: to the end
    const char *if_range;   // validator that the range depends on; NULL: none
    uint32_t if_range_length;
};

// Returns the header's length in bytes; 0: it goes on beyond `length`; or the negative of the status to answer with
// (-400, -414, -431, -501, -505). `limit`: a header that is not complete within so many bytes gets -414 or -431.
int http_request_parse(const char *bytes, uint32_t length, uint32_t limit, struct http_request *request);

// What of a body of `size` bytes to send: returns 200 (all), 206, or 416 (nothing of it is there).
int http_range_apply(const struct http_request *request, uint64_t size, uint64_t *first, uint64_t *count);

#endif
