// SPDX-License-Identifier: BSD-2-Clause
// UTF-8 (RFC 3629) in pieces: the shortest forms alone, no surrogates, nothing beyond U+10FFFF.
#ifndef APPS_HTTP_UTF8_H
#define APPS_HTTP_UTF8_H

#include <stdbool.h>
#include <stdint.h>

struct http_utf8 {
    uint8_t left, low, high;  // bytes that a character lacks; what the next may be
};

static inline bool http_utf8_take(struct http_utf8 *u, uint8_t c)
{
    if (u->left > 0) {
        const bool good = c >= u->low && c <= u->high;
        u->left--;
        u->low = 0x80, u->high = 0xbf;
        return good;
    }
    u->left = c < 0x80 ? 0 : c >= 0xc2 && c < 0xe0 ? 1 : c >= 0xe0 && c < 0xf0 ? 2 : 3;
    u->low = c == 0xe0 ? 0xa0 : c == 0xf0 ? 0x90 : 0x80;
    u->high = c == 0xed ? 0x9f : c == 0xf4 ? 0x8f : 0xbf;
    return u->left < 3 || (c >= 0xf0 && c <= 0xf4);
}

#endif
