// SPDX-License-Identifier: BSD-2-Clause
// What requests and answers have in common (RFC 9112): lines, fields, lists, and the fields that say where a body ends.
// Pure: bytes in, values out, nothing copied. Strict where leniency lets two programs read one message differently.
#ifndef APPS_HTTP_MESSAGE_H
#define APPS_HTTP_MESSAGE_H

#include "weir/linkage/http.h"

#include <stdbool.h>
#include <stdint.h>

WEIR_BEGIN_DECLS

struct http_line {
    const char *bytes;
    uint32_t length;
};

struct http_field {
    const char *name, *value;
};

// Takes the line at *at, without its end. RFC 9112 §2.2: a bare LF may end a line, and is told in *bare; a bare CR, NUL
// or other control byte in it is refused. 1: taken; 0: it goes on beyond the bytes; -400.
int http_line_take(const char *bytes, uint32_t length, uint32_t *at, struct http_line *line, bool *bare);
// Finds `c` at `from` or behind; the line's length when it is not there.
uint32_t http_line_find(struct http_line line, uint32_t from, char c);
// What a hexadecimal digit is worth; -1: it is none.
int http_hex(char c);
// One token (RFC 9110 §5.6.2), not empty.
bool http_is_token(struct http_line word);
// Cuts "name: value" into its parts. false: it is none; also a folded line (RFC 9112 §5.2), a blank before the colon.
bool http_field_cut(struct http_line line, struct http_line *name, struct http_line *value);
// The next item of a list with commas, without blanks around it; *at begins with 0. false: there is none.
bool http_list_next(struct http_line list, uint32_t *at, struct http_line *item);
// Whether the list has this item, letters in either case being the same.
bool http_list_has(struct http_line list, const char *item);
// The first field of that name at *at or behind, among lines that were checked; *at is then behind it.
bool http_fields_find(struct http_line fields, uint32_t *at, const char *name, struct http_line *value);
// Whether this can be a field's value: no control byte, so that nothing can be smuggled into a message with it.
bool http_is_value(const char *value);

// Where the body ends, and whether the connection goes on.
struct http_framing {
    bool length_seen, coding_seen, chunked, keep_alive;
    uint64_t length;  // Content-Length
};

// What a field says about it; others change nothing. 0; -400; -501: a coding that is not built.
int http_framing_take(struct http_framing *framing, struct http_line name, struct http_line value);

WEIR_END_DECLS

#endif
