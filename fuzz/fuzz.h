// SPDX-License-Identifier: BSD-2-Clause
// What the fuzz targets share: reading decisions off the front of the input, and a check that survives every build.
#ifndef FUZZ_FUZZ_H
#define FUZZ_FUZZ_H

#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

// Of an allocation a few callers are enough, and what was freed need not rest for long: a run allocates a thousand
// times.
const char *__asan_default_options(void);
const char *__asan_default_options(void) { return "malloc_context_size=3:quarantine_size_mb=16"; }

#define CHECK(condition) \
    ((condition) ? (void)0 : (fprintf(stderr, "%s:%d: not true: %s\n", __FILE__, __LINE__, #condition), abort()))

struct bytes {
    const uint8_t *at;
    uint32_t left;
};

static inline uint8_t take8(struct bytes *b)
{
    if (!b->left)
        return 0;
    b->left--;
    return *b->at++;
}

static inline uint16_t take16(struct bytes *b)
{
    uint16_t high = take8(b);
    return (uint16_t)(high << 8 | take8(b));
}

// Lends the next `length` bytes, or what is left.
static inline const uint8_t *take(struct bytes *b, uint32_t *length)
{
    const uint8_t *at = b->at;
    if (*length > b->left)
        *length = b->left;
    b->at += *length;
    b->left -= *length;
    return at;
}

// A copy in memory of exactly its length, so that the sanitizer sees the first byte beyond it.
static inline uint8_t *exact_copy(const void *data, uint32_t length)
{
    uint8_t *copy = malloc(length ? length : 1);
    CHECK(copy != NULL);
    if (length)
        memcpy(copy, data, length);
    return copy;
}

#endif
