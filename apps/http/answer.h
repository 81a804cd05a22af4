// SPDX-License-Identifier: BSD-2-Clause
// The header of an answer (RFC 9112 §4), pure, and how long the body behind it is (§6.3).
#ifndef APPS_HTTP_ANSWER_H
#define APPS_HTTP_ANSWER_H

#include "message.h"
#include "weir/linkage/http.h"

WEIR_BEGIN_DECLS

struct http_answer {
    int status;
    struct http_line fields;  // all lines of them, in the bytes that were parsed
    bool chunked;
    bool keep_alive;  // the connection goes on behind the body
    uint64_t length;  // of the body; UINT64_MAX: until the connection ends
};

// Returns the header's length in bytes; 0: it goes on beyond `length`; -1: it is wrong, or could be read in two ways.
// `bodiless`: the answer to HEAD.
int http_answer_parse(const char *bytes, uint32_t length, bool bodiless, struct http_answer *answer);
// The first field of that name. false: there is none.
bool http_answer_field(const struct http_answer *answer, const char *name, struct http_line *value);

WEIR_END_DECLS

#endif
