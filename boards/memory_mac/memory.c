// SPDX-License-Identifier: BSD-2-Clause
// What the compiler and Weir ask of the C library, and RFC 1071's sum, for a Cortex-M3: four words an instruction where the addresses
// allow.
#include "memory.h"

#include <string.h>

// A loop that moves bytes must not become a call of itself. O2, as C libraries are compiled: 50 bytes of code for 90 instructions of an
// echo.
#pragma GCC optimize("O2", "no-tree-loop-distribute-patterns")

void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    if (bytes >= 16 && !(((uintptr_t)t ^ (uintptr_t)f) & 3)) {
        for (; (uintptr_t)t & 3; bytes--)
            *t++ = *f++;
        __asm__ volatile("subs %2, #32\n\t"
                         "blo 2f\n"
                         "1: ldmia %1!, {r3, r4, r5, r6}\n\t"
                         "stmia %0!, {r3, r4, r5, r6}\n\t"
                         "ldmia %1!, {r3, r4, r5, r6}\n\t"
                         "stmia %0!, {r3, r4, r5, r6}\n\t"
                         "subs %2, #32\n\t"
                         "bhs 1b\n"
                         "2: adds %2, #32"
                         : "+r"(t), "+r"(f), "+r"(bytes)
                         :
                         : "r3", "r4", "r5", "r6", "cc", "memory");
    }
    for (; bytes >= 4; bytes -= 4, t += 4, f += 4)
        *(word *)(void *)t = *(const word *)(const void *)f;
    for (; bytes; bytes--)
        *t++ = *f++;
    return to;
}

void *memmove(void *to, const void *from, size_t bytes)
{
    uint8_t *t = to;
    const uint8_t *f = from;
    if (t <= f)
        for (; bytes; bytes--)
            *t++ = *f++;
    else
        while (bytes--)
            t[bytes] = f[bytes];
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    uint8_t *t = to;
    const uint32_t pattern = (uint8_t)value * 0x01010101u;
    if (bytes >= 16 && !((uintptr_t)t & 3)) {
        __asm__ volatile("mov r3, %2\n\tmov r4, %2\n\tmov r5, %2\n\tmov r6, %2\n\t"
                         "subs %1, #16\n"
                         "1: stmia %0!, {r3, r4, r5, r6}\n\t"
                         "subs %1, #16\n\t"
                         "bhs 1b\n\t"
                         "adds %1, #16"
                         : "+r"(t), "+r"(bytes)
                         : "r"(pattern)
                         : "r3", "r4", "r5", "r6", "cc", "memory");
    }
    for (; bytes >= 4; bytes -= 4, t += 4)
        *(word *)(void *)t = pattern;
    for (; bytes; bytes--)
        *t++ = (uint8_t)value;
    return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
    const uint8_t *p = a, *q = b;
    for (; bytes >= 4 && *(const word *)(const void *)p == *(const word *)(const void *)q; bytes -= 4, p += 4, q += 4)
        ;
    for (; bytes; bytes--, p++, q++)
        if (*p != *q)
            return *p - *q;
    return 0;
}

uint16_t memory_sum(const void *data, size_t bytes)
{
    const uint8_t *p = data;
    uint32_t sum = 0, word_left = 0;
    if (!((uintptr_t)p & 3) && bytes >= 32) {
        uint32_t rounds = bytes & ~31u;
        bytes &= 31u;
        __asm__ volatile("adds %1, #0\n"  // no carry
                         "1: ldmia %0!, {r3, r4, r5, r6}\n\t"
                         "adcs %1, r3\n\tadcs %1, r4\n\tadcs %1, r5\n\tadcs %1, r6\n\t"
                         "ldmia %0!, {r3, r4, r5, r6}\n\t"
                         "adcs %1, r3\n\tadcs %1, r4\n\tadcs %1, r5\n\tadcs %1, r6\n\t"
                         "sub %2, #32\n\t"
                         "teq %2, #0\n\t"  // leaves the carry alone
                         "bne 1b\n\t"
                         "adc %1, #0"
                         : "+r"(p), "+r"(sum), "+r"(rounds)
                         :
                         : "r3", "r4", "r5", "r6", "cc", "memory");
    }
    for (; bytes >= 4; bytes -= 4, p += 4) {
        const uint32_t next = *(const word *)(const void *)p;
        sum += next;
        sum += sum < next;
    }
    for (uint32_t shift = 0; bytes; bytes--, shift += 8)
        word_left |= (uint32_t)*p++ << shift;
    sum += word_left;
    sum += sum < word_left;
    sum = (sum & 0xffff) + (sum >> 16);
    return (uint16_t)(sum + (sum >> 16));
}
