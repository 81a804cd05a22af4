// SPDX-License-Identifier: BSD-2-Clause
// HTTP/1.1 requests (RFC 9110, RFC 9112), pure: bytes in, values out, nothing copied. No folded lines, no blanks before
// a colon, one Host, one Content-Length, no other transfer coding than chunked, and never both.
#ifndef APPS_HTTP_REQUEST_H
#define APPS_HTTP_REQUEST_H

#include "message.h"
#include "weir/linkage/http.h"

WEIR_BEGIN_DECLS

enum http_method {
    HTTP_GET = 1,
    HTTP_HEAD = 2,
    HTTP_POST = 4,
    HTTP_PUT = 8,
    HTTP_DELETE = 16,
    HTTP_PATCH = 32,
    HTTP_OPTIONS = 64,
    HTTP_OTHER = 128
};
#define HTTP_METHODS 8u

struct http_request {
    enum http_method method;
    const char *path;  // as it was sent, without query; begins with '/'; in the bytes that were parsed
    uint32_t path_length;
    struct http_line query;   // without its '?'
    struct http_line fields;  // all lines of them
    struct http_line host;    // and its port: of an absolute target, or else of the field Host
    bool keep_alive;
    bool http11;           // or later: chunks, and 100 (Continue), are understood
    bool chunked;          // the body comes in chunks
    bool expects;          // Expect: 100-continue
    uint64_t body_length;  // Content-Length
    // Range: bytes=first-last. Absent or not understood: `ranged` is false and the whole is sent (RFC 9110 §14.2).
    bool ranged, from_end;  // from_end: the last `first` bytes
    uint64_t first, last;   // last UINT64_MAX: to the end
    const char *if_range;   // validator that the range depends on; NULL: none
    uint32_t if_range_length;
};

// Returns the header's length in bytes; 0: it goes on beyond `length`; or the negative of the status to answer with
// (-400, -414, -417, -431, -501, -505). `limit`: a header that is not complete within so many bytes gets -414 or -431.
int http_request_parse(const char *bytes, uint32_t length, uint32_t limit, struct http_request *request);

const char *http_method_name(enum http_method method);
// The first field of that name. false: there is none.
bool http_request_field(const struct http_request *request, const char *name, struct http_line *value);
// Whether the path is `pattern`, or, where that ends with '*', begins as it does. %41 is A; %2F is never a slash.
bool http_path_is(const char *path, uint32_t length, const char *pattern);
// Copies the value that `name` has in the query, %41 and + decoded, as a string. Returns its length; -1: it is not
// there, does not fit, or has a NUL in it.
int http_query_get(const struct http_request *request, const char *name, char *out, uint32_t room);

// What of a body of `size` bytes to send: returns 200 (all), 206, or 416 (nothing of it is there).
int http_range_apply(const struct http_request *request, uint64_t size, uint64_t *first, uint64_t *count);
// What If-Match, If-None-Match (RFC 9110 §13) and If-Range make of a request for what has this tag: 200; 304; 412. An
// If-Range that does not hold makes the request one for the whole.
int http_conditions_apply(struct http_request *request, const char *etag);
// Whether a content coding is taken, by Accept-Encoding.
bool http_accepts(const struct http_request *request, const char *coding);
// Whether Accept names a media type, without wildcards.
bool http_takes(const struct http_request *request, const char *type);

WEIR_END_DECLS

#endif
