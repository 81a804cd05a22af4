// SPDX-License-Identifier: BSD-2-Clause
// Caches and the flat memory map they need on a Cortex-A (ARMv7-A Architecture Reference Manual, B3 and B4.2).
#ifndef ARMV7A_MMU_H
#define ARMV7A_MMU_H

#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

// Every address is itself; memory from MMU_RAM_START to MMU_CACHED_END is cached, from there to MMU_RAM_END it is not,
// and the rest is devices'. Called by the start-up code, before main.
void mmu_start(void);
// For what a device reads, or has written, by itself: line by line, to the point of coherency.
void mmu_clean(const void *memory, uint32_t bytes);
void mmu_invalidate(const void *memory, uint32_t bytes);

WEIR_END_DECLS

#endif
