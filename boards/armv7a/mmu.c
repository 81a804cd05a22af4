// SPDX-License-Identifier: BSD-2-Clause
#include "mmu.h"

#ifndef MMU_RAM_START
#define MMU_RAM_START 0u
#define MMU_CACHED_END 0x07f00000u
#define MMU_RAM_END 0x08000000u
#endif
#define SECTION_BYTES 0x100000u
#define SECTION 2u
#define ACCESS_ALL (3u << 10)
#define NORMAL_CACHED (1u << 12 | 3u << 2)  // TEX, C, B: write-back, write-allocate
#define NORMAL_UNCACHED (1u << 12)
#define DEVICE (1u << 2)
#define NO_EXECUTE (1u << 4)
#define LINE_BYTES 32u  // of a Cortex-A9

static _Alignas(16384) uint32_t table[4096];

void mmu_start(void)
{
    for (uint32_t i = 0; i < 4096; i++) {
        const uint32_t address = i * SECTION_BYTES;
        const uint32_t kind = address - MMU_RAM_START < MMU_CACHED_END - MMU_RAM_START ? NORMAL_CACHED
                              : address - MMU_RAM_START < MMU_RAM_END - MMU_RAM_START  ? NORMAL_UNCACHED
                                                                                       : DEVICE | NO_EXECUTE;
        table[i] = address | SECTION | ACCESS_ALL | kind;
    }
    __asm__ volatile("dsb\n\t"
                     "mcr p15, 0, %0, c2, c0, 0\n\t"  // TTBR0
                     "mcr p15, 0, %1, c2, c0, 2\n\t"  // TTBCR: only that table
                     "mcr p15, 0, %2, c3, c0, 0\n\t"  // DACR: domain 0 as the table says
                     "mcr p15, 0, %1, c8, c7, 0\n\t"  // TLB, instruction cache: nothing old
                     "mcr p15, 0, %1, c7, c5, 0\n\t"
                     "dsb\n\tisb" ::"r"(table),
                     "r"(0), "r"(1)
                     : "memory");
    uint32_t control;
    __asm__ volatile("mrc p15, 0, %0, c1, c0, 0" : "=r"(control));
    control |= 1u << 0 | 1u << 2 | 1u << 11 | 1u << 12;  // MMU, data cache, branch prediction, instruction cache
    __asm__ volatile("mcr p15, 0, %0, c1, c0, 0\n\tisb" ::"r"(control) : "memory");
}

void mmu_clean(const void *memory, uint32_t bytes)
{
    for (uintptr_t at = (uintptr_t)memory & ~(uintptr_t)(LINE_BYTES - 1); at < (uintptr_t)memory + bytes;
         at += LINE_BYTES)
        __asm__ volatile("mcr p15, 0, %0, c7, c10, 1" ::"r"(at) : "memory");
    __asm__ volatile("dsb" ::: "memory");
}

void mmu_invalidate(const void *memory, uint32_t bytes)
{
    for (uintptr_t at = (uintptr_t)memory & ~(uintptr_t)(LINE_BYTES - 1); at < (uintptr_t)memory + bytes;
         at += LINE_BYTES)
        __asm__ volatile("mcr p15, 0, %0, c7, c6, 1" ::"r"(at) : "memory");
    __asm__ volatile("dsb" ::: "memory");
}
