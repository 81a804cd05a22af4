// SPDX-License-Identifier: BSD-2-Clause
// For boards whose compiler comes without a C library: of its functions those that the compiler and this code call, and
// drivers of Linux 2.0 (api/linux_netdev).
// memcpy is the processor's own (boards/x86/memory.c, boards/mips/memory.c).
#include <stdint.h>
#include <string.h>

#define WORD_MASK 3u
typedef uint32_t __attribute__((may_alias)) word;

void *memmove(void *to, const void *from, size_t bytes)
{
    uint8_t *out = to;
    const uint8_t *in = from;
    if (out <= in || out >= in + bytes) {
        for (size_t i = 0; i < bytes; i++)
            out[i] = in[i];
    } else {
        for (; bytes; bytes--)
            out[bytes - 1] = in[bytes - 1];
    }
    return to;
}

void *memset(void *to, int value, size_t bytes)
{
    uint8_t *out = to;
    const uint32_t all = (uint8_t)value * 0x01010101u;
    for (; bytes && (uintptr_t)out & WORD_MASK; bytes--)
        *out++ = (uint8_t)value;
    for (; bytes >= 4; bytes -= 4, out += 4)
        *(word *)(void *)out = all;
    for (; bytes; bytes--)
        *out++ = (uint8_t)value;
    return to;
}

int memcmp(const void *a, const void *b, size_t bytes)
{
    const uint8_t *left = a, *right = b;
    for (; bytes && *left == *right; bytes--)
        left++, right++;
    return bytes ? *left - *right : 0;
}

size_t strlen(const char *text)
{
    size_t length = 0;
    while (text[length])
        length++;
    return length;
}

int strcmp(const char *a, const char *b)
{
    while (*a && *a == *b)
        a++, b++;
    return (unsigned char)*a - (unsigned char)*b;
}

int strncmp(const char *a, const char *b, size_t bytes)
{
    for (; bytes && *a && *a == *b; bytes--)
        a++, b++;
    return bytes ? (unsigned char)*a - (unsigned char)*b : 0;
}

char *strchr(const char *text, int letter)
{
    for (; *text != (char)letter; text++)
        if (!*text)
            return NULL;
    return (char *)(uintptr_t)text;
}

char *strcpy(char *restrict to, const char *restrict from)
{
    memcpy(to, from, strlen(from) + 1);
    return to;
}

char *strncpy(char *restrict to, const char *restrict from, size_t bytes)
{
    size_t i = 0;
    for (; i < bytes && from[i]; i++)
        to[i] = from[i];
    for (; i < bytes; i++)
        to[i] = 0;
    return to;
}

char *strcat(char *restrict to, const char *restrict from)
{
    strcpy(to + strlen(to), from);
    return to;
}
