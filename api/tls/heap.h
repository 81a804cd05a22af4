// SPDX-License-Identifier: BSD-2-Clause
// The C library's memory, for programs that give TLS none of their own; and none, where WEIR_TLS_NO_HEAP says that
// there is no such library.
#ifndef TLS_HEAP_H
#define TLS_HEAP_H

#include <stddef.h>
#ifndef WEIR_TLS_NO_HEAP
#include <stdlib.h>
#endif

#include "weir/language.h"

WEIR_BEGIN_DECLS

#ifdef WEIR_TLS_NO_HEAP
static inline void *heap_take(size_t bytes) { return (void)bytes, NULL; }
static inline void heap_give(void *memory) { (void)memory; }
#else
static inline void *heap_take(size_t bytes) { return malloc(bytes); }
static inline void heap_give(void *memory) { free(memory); }
#endif

WEIR_END_DECLS

#endif
