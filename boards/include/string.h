// SPDX-License-Identifier: BSD-2-Clause
// For compilers that come without a C library for the board: the functions that the board's memory.c and
// boards/string.c give.
#ifndef BOARDS_STRING_H
#define BOARDS_STRING_H

#include <stddef.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

void *memcpy(void *WEIR_RESTRICT to, const void *WEIR_RESTRICT from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *text);
int strcmp(const char *a, const char *b);
int strncmp(const char *a, const char *b, size_t bytes);
char *strchr(const char *text, int letter);
char *strcpy(char *WEIR_RESTRICT to, const char *WEIR_RESTRICT from);
char *strncpy(char *WEIR_RESTRICT to, const char *WEIR_RESTRICT from, size_t bytes);
char *strcat(char *WEIR_RESTRICT to, const char *WEIR_RESTRICT from);

WEIR_END_DECLS

#endif
