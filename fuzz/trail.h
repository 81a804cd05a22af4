// SPDX-License-Identifier: BSD-2-Clause
// What happened in a run, in order: frames, and numbers; and whether the same happened in another.
#ifndef FUZZ_TRAIL_H
#define FUZZ_TRAIL_H

#include <stdbool.h>

#include "fuzz.h"

struct trail {
    uint8_t *bytes;
    uint32_t length, room;
};
struct note {
    uint64_t at_us;
    uint32_t kind;  // WHAT_FRAME: bytes follow; otherwise numbers do
    uint32_t length;
};
enum { WHAT_FRAME, WHAT_CALL, WHAT_EVENT, WHAT_INFO, WHAT_SOCKET, WHAT_COUNTER, WHAT_NETIF };

static inline void trail_note(struct trail *trail, uint64_t at_us, uint32_t kind, const void *bytes, uint32_t length)
{
    const struct note note = {.at_us = at_us, .kind = kind, .length = length};
    while (trail->length + sizeof note + length > trail->room) {
        trail->room = trail->room ? 2 * trail->room : 65536;
        trail->bytes = realloc(trail->bytes, trail->room);
        CHECK(trail->bytes != NULL);
    }
    memcpy(trail->bytes + trail->length, &note, sizeof note);
    memcpy(trail->bytes + trail->length + sizeof note, bytes, length);
    trail->length += (uint32_t)sizeof note + length;
}

static inline uint32_t trail_next(const struct trail *trail, uint32_t at)
{
    struct note note;
    if (at + sizeof note > trail->length)
        return trail->length;
    memcpy(&note, trail->bytes + at, sizeof note);
    return at + (uint32_t)sizeof note + note.length;
}

static inline void trail_tell(const char *who, const struct trail *trail, uint32_t at)
{
    struct note note;
    if (at + sizeof note > trail->length) {
        fprintf(stderr, "%s: nothing more\n", who);
        return;
    }
    memcpy(&note, trail->bytes + at, sizeof note);
    const uint8_t *bytes = trail->bytes + at + sizeof note;
    fprintf(stderr, "%s: at %llu us, kind %u:", who, (unsigned long long)note.at_us, note.kind);
    for (uint32_t i = 0; note.kind == WHAT_FRAME && i < note.length && i < 96; i++)
        fprintf(stderr, "%s%02x", i % 4 ? "" : " ", bytes[i]);
    for (uint32_t i = 0; note.kind != WHAT_FRAME && i < note.length / 8; i++) {
        int64_t number;
        memcpy(&number, bytes + 8 * i, 8);
        fprintf(stderr, " %llx", (unsigned long long)number);
    }
    fprintf(stderr, "\n");
}

// Ends the program, with what is not the same, unless both are. FUZZ_ALOUD in the environment: with what came before,
// and what comes after it.
static inline void trail_compare(const char *one, const struct trail *a, const char *other, const struct trail *b)
{
    const bool aloud = getenv("FUZZ_ALOUD") != NULL;
    struct note note;
    for (uint32_t at = 0; at < a->length || at < b->length; at += (uint32_t)sizeof note + note.length) {
        if (aloud)
            trail_tell("both", a, at);
        const bool header = at + sizeof note <= a->length && at + sizeof note <= b->length &&
                            memcmp(a->bytes + at, b->bytes + at, sizeof note) == 0;
        if (header)
            memcpy(&note, a->bytes + at, sizeof note);
        if (!header || memcmp(a->bytes + at, b->bytes + at, sizeof note + note.length) != 0) {
            for (uint32_t i = 0, of_a = at, of_b = at; i < (aloud ? 8 : 1);
                 i++, of_a = trail_next(a, of_a), of_b = trail_next(b, of_b)) {
                trail_tell(one, a, of_a);
                trail_tell(other, b, of_b);
            }
            abort();
        }
    }
}

#endif
