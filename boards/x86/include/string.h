// SPDX-License-Identifier: BSD-2-Clause
// The host's compiler has C library headers for its own word size only: here are the functions that boards/x86/memory.c gives.
#ifndef X86_STRING_H
#define X86_STRING_H

#include <stddef.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

void *memcpy(void *WEIR_RESTRICT to, const void *WEIR_RESTRICT from, size_t bytes);
void *memmove(void *to, const void *from, size_t bytes);
void *memset(void *to, int value, size_t bytes);
int memcmp(const void *a, const void *b, size_t bytes);
size_t strlen(const char *text);

WEIR_END_DECLS

#endif
