// SPDX-License-Identifier: BSD-2-Clause
// Reading JSON (RFC 8259) in place: values are pieces of the text, found when asked for. Nesting is bounded, nothing
// recurses.
#ifndef APPS_IPERF3_JSON_H
#define APPS_IPERF3_JSON_H

#include "weir/linkage/apps.h"

#include <stdbool.h>
#include <stdint.h>

WEIR_BEGIN_DECLS

#define JSON_DEPTH 16u

struct json {
    const char *text;
    uint32_t length;
};

// The value that `text` holds, blanks around it aside. false: not one value that is balanced and ends where the text
// ends.
bool json_read(const char *text, uint32_t length, struct json *value);
// A member of an object; the first with that key.
bool json_member(struct json object, const char *key, struct json *value);
// The elements of an array one after another: begin with *cursor 0. false: none left, or not an array.
bool json_element(struct json array, uint32_t *cursor, struct json *value);
// A number in units of 10^-decimals, further digits cut: ("1.25e-3", 6) is 1250. false: not a number, or out of range.
bool json_number(struct json value, unsigned decimals, int64_t *out);
bool json_true(struct json value);
// Copies a string without escapes. false: not a string, escaped, or longer than room - 1.
bool json_string(struct json value, char *out, uint32_t room);

// Shorthands: the member, or `otherwise` when it is absent or of another type.
int64_t json_get(struct json object, const char *key, unsigned decimals, int64_t otherwise);
bool json_get_true(struct json object, const char *key);

WEIR_END_DECLS

#endif
