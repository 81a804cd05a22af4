// SPDX-License-Identifier: BSD-2-Clause
// Memory in words, for memory.c and sum.c.
#ifndef ARMV4T_WORDS_H
#define ARMV4T_WORDS_H

#include <stdint.h>

#define WORD_MASK 3u
#define WORDS_AT_ONCE 4u  // that one pair of instructions moves
typedef uint32_t __attribute__((may_alias)) word;
struct words {
    uint32_t of[WORDS_AT_ONCE];
} __attribute__((may_alias));

#endif
