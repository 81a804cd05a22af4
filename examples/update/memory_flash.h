// SPDX-License-Identifier: BSD-2-Clause
// What the boot loader and the program of the update example agree about on mps2-an385. The board has no flash: memory
// that keeps its content over a restart behaves as one, erased to ones by sectors and written from ones to zeros.
#ifndef EXAMPLES_MEMORY_FLASH_H
#define EXAMPLES_MEMORY_FLASH_H

#include "update/slots.h"

#define MEMORY_BOARD 385u
#define MEMORY_RUN 0x00080000u      // where an image is linked to run, copied there out of its slot
#define MEMORY_SLOTS 0x00100000u    // one behind the other
#define MEMORY_FACTORY 0x00300000u  // the image that the board was made with: for when no slot has any
#define MEMORY_SLOT_BYTES 0x00080000u
#define MEMORY_SECTOR_BYTES 0x00010000u

extern const struct update_flash memory_flash;

// Which slot runs: the boot loader says so behind the memory where it runs.
static inline volatile uint32_t *memory_running(void)
{
    return (volatile uint32_t *)(uintptr_t)(MEMORY_RUN + MEMORY_SLOT_BYTES - 4);
}

// Starts the processor anew (ARMv7-M Architecture Reference Manual, B3.2.6).
static inline void memory_restart(void)
{
    *(volatile uint32_t *)(uintptr_t)0xe000ed0cu = 0x05fa0004u;
    for (;;)
        ;
}

#endif
