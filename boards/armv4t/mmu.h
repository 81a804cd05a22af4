// SPDX-License-Identifier: BSD-2-Clause
// Caches and the flat memory map they need on an ARM920T (technical reference manual, DDI 0151, chapters 2 to 4) or an
// ARM926EJ-S (DDI 0198). Their caches know virtual addresses, so that each byte has one address for writing.
#ifndef ARMV4T_MMU_H
#define ARMV4T_MMU_H

#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

// Every address is itself, but for the first megabyte: it shows the memory's first, where the vectors are, to the
// kernel for reading alone, so that a process which follows a null pointer faults. Memory from MMU_RAM_START to
// MMU_CACHED_END is cached, from there to MMU_RAM_END it is not, and the rest is devices'. Called by the start-up code,
// before main.
void mmu_start(void);
// For what a device reads, or has written, by itself: line by line.
void mmu_clean(const void *memory, uint32_t bytes);
void mmu_invalidate(const void *memory, uint32_t bytes);

WEIR_END_DECLS

#endif
