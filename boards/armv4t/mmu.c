// SPDX-License-Identifier: BSD-2-Clause
#include "mmu.h"

#ifndef MMU_RAM_START
#define MMU_RAM_START 0x20000000u
#define MMU_CACHED_END 0x23f00000u
#define MMU_RAM_END 0x24000000u
#endif
#define SECTION_BYTES 0x100000u
#define SECTION 0x12u  // bit 4 is set in all descriptors of these processors; domain 0
#define ACCESS_ALL (3u << 10)
#define ACCESS_SYSTEM 0u  // with CONTROL_S: nobody writes, the kernel reads
#define CACHED (3u << 2)  // C, B: write-back
#define BUFFERED (1u << 2)
#define DOMAIN_CLIENT 1u
enum {
    CONTROL_MMU = 1 << 0,
    CONTROL_ALIGNMENT = 1 << 1,
    CONTROL_DATA_CACHE = 1 << 2,
    CONTROL_S = 1 << 8,
    CONTROL_INSTRUCTION_CACHE = 1 << 12
};
#define LINE_BYTES 32u

static _Alignas(16384) uint32_t table[4096];

static void drain_write_buffer(void) { __asm__ volatile("mcr p15, 0, %0, c7, c10, 4" ::"r"(0) : "memory"); }

void mmu_start(void)
{
    for (uint32_t i = 0; i < 4096; i++) {
        const uint32_t address = i * SECTION_BYTES;
        const uint32_t kind = address - MMU_RAM_START < MMU_CACHED_END - MMU_RAM_START ? CACHED
                              : address - MMU_RAM_START < MMU_RAM_END - MMU_RAM_START  ? BUFFERED
                                                                                       : 0;
        table[i] = address | SECTION | ACCESS_ALL | kind;
    }
    table[0] = MMU_RAM_START | SECTION | ACCESS_SYSTEM | CACHED;
    uint32_t control;
    __asm__ volatile("mrc p15, 0, %0, c1, c0, 0" : "=r"(control));
    control |= CONTROL_MMU | CONTROL_ALIGNMENT | CONTROL_DATA_CACHE | CONTROL_S | CONTROL_INSTRUCTION_CACHE;
    drain_write_buffer();
    __asm__ volatile("mcr p15, 0, %0, c2, c0, 0\n\t"  // the table, domain 0 as it says
                     "mcr p15, 0, %1, c3, c0, 0\n\t"
                     "mcr p15, 0, %2, c8, c7, 0\n\t"  // TLBs: nothing old
                     "mcr p15, 0, %3, c1, c0, 0\n\t"
                     "nop\n\t"
                     "nop" ::"r"(table),
                     "r"(DOMAIN_CLIENT), "r"(0), "r"(control)
                     : "memory");
}

void mmu_clean(const void *memory, uint32_t bytes)
{
    for (uintptr_t at = (uintptr_t)memory & ~(uintptr_t)(LINE_BYTES - 1); at < (uintptr_t)memory + bytes;
         at += LINE_BYTES)
        __asm__ volatile("mcr p15, 0, %0, c7, c10, 1" ::"r"(at) : "memory");
    drain_write_buffer();
}

void mmu_invalidate(const void *memory, uint32_t bytes)
{
    for (uintptr_t at = (uintptr_t)memory & ~(uintptr_t)(LINE_BYTES - 1); at < (uintptr_t)memory + bytes;
         at += LINE_BYTES)
        __asm__ volatile("mcr p15, 0, %0, c7, c6, 1" ::"r"(at) : "memory");
}
