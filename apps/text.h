// SPDX-License-Identifier: BSD-2-Clause
// Bounded text: a writer that never passes the end of its buffer and remembers that it was cut, and readers of numbers
// and addresses that say how far they got. What printf would do, for machines without one.
#ifndef APPS_TEXT_H
#define APPS_TEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/addr.h"
#include "weir/linkage/loop.h"

WEIR_BEGIN_DECLS

struct text {
    char *bytes;
    uint32_t length;  // bytes written
    uint32_t room;    // bytes in all; one is kept for the final NUL
    bool cut;         // something did not fit
};

// `room` at least 1. The text is always ended by a NUL.
void text_init(struct text *text, char *bytes, uint32_t room);
void text_char(struct text *text, char c);
void text_put(struct text *text, const char *string);
void text_bytes(struct text *text, const char *bytes, uint32_t length);
void text_u64(struct text *text, uint64_t value);
void text_i64(struct text *text, int64_t value);
// `digits` decimal digits, with zeros in front: (7, 2) is "07".
void text_padded(struct text *text, uint32_t value, unsigned digits);
void text_clock(struct text *text, uint32_t hour, uint32_t minute, uint32_t second);  // "23:59:59"
// Appends spaces until the text is `column` bytes longer than `start`, before or after it was written.
void text_pad(struct text *text, uint32_t start, uint32_t column);
void text_right(struct text *text, uint32_t start, uint32_t column);
// value / 10^decimals, with all decimals: (1234, 2) is "12.34".
void text_fixed(struct text *text, uint64_t value, unsigned decimals);
void text_hex(struct text *text, uint32_t value, unsigned digits);
// A JSON string with its quotes; control bytes, quotes and bytes beyond ASCII are escaped.
void text_json(struct text *text, const char *string);
void text_addr(struct text *text, struct weir_addr addr);
void text_endpoint(struct text *text, const struct weir_endpoint *endpoint);
void text_mac(struct text *text, const uint8_t mac[6]);

uint32_t text_length(const char *string);
bool text_equal(const char *bytes, uint32_t length, const char *string);
// ASCII letters in either case are the same.
bool text_equal_nocase(const char *bytes, uint32_t length, const char *string);
bool text_bytes_equal_nocase(const char *a, uint32_t a_length, const char *b, uint32_t b_length);
// Reads decimal digits. Returns how many were read; 0: none, or the number is greater than `max`.
uint32_t text_read_u64(const char *bytes, uint32_t length, uint64_t max, uint64_t *value);
// Reads "a.b.c.d", all of `length` bytes, no other form.
bool text_read_addr(const char *bytes, uint32_t length, struct weir_addr *addr);

WEIR_END_DECLS

#endif
