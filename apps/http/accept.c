// SPDX-License-Identifier: BSD-2-Clause
// The proof that a server speaks WebSocket: SHA-1 (FIPS 180-4) of the key and a constant, in base64 (RFC 4648). It
// protects nothing, so that SHA-1 is good enough.
#include <string.h>

#include "bytes.h"
#include "http/websocket.h"

#define GUID "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
#define KEY_MAX 24u
#define BLOCK 64u
#define DIGEST 20u

static uint32_t rotate(uint32_t value, unsigned bits) { return value << bits | value >> (32 - bits); }

static void sha1_block(uint32_t h[5], const uint8_t *block)
{
    uint32_t w[80], v[5];
    for (uint32_t i = 0; i < 16; i++)
        w[i] = get32(block + 4 * i);
    for (uint32_t i = 16; i < 80; i++)
        w[i] = rotate(w[i - 3] ^ w[i - 8] ^ w[i - 14] ^ w[i - 16], 1);
    memcpy(v, h, sizeof v);
    for (uint32_t i = 0; i < 80; i++) {
        const uint32_t f = i < 20   ? (v[1] & v[2]) | (~v[1] & v[3])
                           : i < 40 ? v[1] ^ v[2] ^ v[3]
                           : i < 60 ? (v[1] & v[2]) | (v[1] & v[3]) | (v[2] & v[3])
                                    : v[1] ^ v[2] ^ v[3];
        static const uint32_t k[4] = {0x5a827999, 0x6ed9eba1, 0x8f1bbcdc, 0xca62c1d6};
        const uint32_t next = rotate(v[0], 5) + f + v[4] + k[i / 20] + w[i];
        v[4] = v[3];
        v[3] = v[2];
        v[2] = rotate(v[1], 30);
        v[1] = v[0];
        v[0] = next;
    }
    for (uint32_t i = 0; i < 5; i++)
        h[i] += v[i];
}

// Of a text of less than two blocks, with its length behind it.
static void sha1(const uint8_t *text, uint32_t length, uint8_t digest[DIGEST])
{
    uint32_t h[5] = {0x67452301, 0xefcdab89, 0x98badcfe, 0x10325476, 0xc3d2e1f0};
    uint8_t blocks[2 * BLOCK] = {0};
    const uint32_t bytes = length + 9 <= BLOCK ? BLOCK : 2 * BLOCK;
    memcpy(blocks, text, length);
    blocks[length] = 0x80;
    put16(blocks + bytes - 2, length * 8);
    for (uint32_t at = 0; at < bytes; at += BLOCK)
        sha1_block(h, blocks + at);
    for (uint32_t i = 0; i < 5; i++)
        put32(digest + 4 * i, h[i]);
}

void http_websocket_accept(struct http_line key, char out[29])
{
    static const char alphabet[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    uint8_t text[KEY_MAX + sizeof GUID], digest[DIGEST + 1] = {0};
    const uint32_t length = key.length < KEY_MAX ? key.length : KEY_MAX;
    memcpy(text, key.bytes, length);
    memcpy(text + length, GUID, sizeof GUID - 1);
    sha1(text, length + (uint32_t)sizeof GUID - 1, digest);
    for (uint32_t i = 0; i < 28; i++) {
        const uint32_t group = i / 4 * 3;
        const uint32_t bits = (uint32_t)digest[group] << 16 | (uint32_t)digest[group + 1] << 8 |
                              (group + 2 < DIGEST ? digest[group + 2] : 0u);
        out[i] = alphabet[bits >> (18 - 6 * (i % 4)) & 63];
    }
    out[27] = '=';  // 20 bytes leave one third of the last group empty
    out[28] = '\0';
}
