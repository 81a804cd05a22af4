// SPDX-License-Identifier: BSD-2-Clause
// What the compiler and Weir ask of the C library, and RFC 1071's sum, for a Cortex-M3: four words an instruction where
// the addresses allow.
#include "memory.h"

#include <string.h>

// A loop that moves bytes must not become a call of itself.
#pragma GCC optimize("no-tree-loop-distribute-patterns")

// r3 to r6 carry 32 bytes a round where both addresses are of words; else single words, which the CPU takes from any
// address.
__attribute__((naked)) void *memcpy(void *restrict to, const void *restrict from, size_t bytes)
{
    (void)to, (void)from, (void)bytes;
    __asm__("mov ip, r0\n\t"
            "subs r2, #4\n\t"
            "blo 3f\n\t"
            "cmp r2, #28\n\t"
            "blo 2f\n\t"
            "orr r3, r0, r1\n\t"
            "lsls r3, r3, #30\n\t"
            "bne 2f\n\t"
            "push {r4, r5, r6}\n\t"
            "subs r2, #28\n"
            "1: ldmia r1!, {r3, r4, r5, r6}\n\t"
            "stmia ip!, {r3, r4, r5, r6}\n\t"
            "ldmia r1!, {r3, r4, r5, r6}\n\t"
            "stmia ip!, {r3, r4, r5, r6}\n\t"
            "subs r2, #32\n\t"
            "bhs 1b\n\t"
            "pop {r4, r5, r6}\n\t"
            "adds r2, #28\n\t"
            "bmi 3f\n"
            "2: ldr r3, [r1], #4\n\t"
            "str r3, [ip], #4\n\t"
            "subs r2, #4\n\t"
            "bhs 2b\n"
            "3: adds r2, #4\n\t"
            "beq 5f\n"
            "4: ldrb r3, [r1], #1\n\t"
            "strb r3, [ip], #1\n\t"
            "subs r2, #1\n\t"
            "bne 4b\n"
            "5: bx lr");
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
    for (; bytes; bytes--, p++, q++)
        if (*p != *q)
            return *p - *q;
    return 0;
}

// Eight rungs of a word each are 32 bytes; the first round enters them where the bytes beyond a multiple of 32 are
// left. Two instructions a word: the carry of one addition goes into the next. The upper half of x + (x with its halves
// exchanged) is the folded sum.
__attribute__((naked)) uint16_t memory_sum(const void *data, size_t bytes)
{
    (void)data, (void)bytes;
    __asm__("and r3, r1, #28\n\t"
            "rsb r3, r3, #32\n\t"
            "add r3, r3, r3, lsr #1\n\t"  // six bytes of code a rung
            "movs r2, #0\n\t"
            "cmn r2, #0\n\t"  // no carry
            "add pc, r3\n\t"
            "nop\n"
            "1: ldr.w r3, [r0], #4\n\tadds r2, r2, r3\n\t"
            ".rept 7\n\tldr.w r3, [r0], #4\n\tadcs r2, r3\n\t.endr\n\t"
            "adc r2, r2, #0\n\t"
            "subs r1, #32\n\t"
            "bhs 1b\n\t"
            "lsls r3, r1, #31\n\t"  // carry: two bytes more
            "bcc 2f\n\t"
            "ldrh r3, [r0], #2\n\t"
            "adds r2, r2, r3\n\t"
            "adc r2, r2, #0\n"
            "2: lsls r1, r1, #31\n\t"
            "beq 3f\n\t"
            "ldrb r3, [r0]\n\t"
            "adds r2, r2, r3\n\t"
            "adc r2, r2, #0\n"
            "3: add r0, r2, r2, ror #16\n\t"
            "lsrs r0, r0, #16\n\t"
            "bx lr");
}
