// SPDX-License-Identifier: BSD-2-Clause
// What the images for mps2-an385 have alike: a table of processes (table.c, programs_table.c) over the board.
#ifndef EXAMPLES_BOOT_H
#define EXAMPLES_BOOT_H

#include "boards/board.h"
#include "kernel/micro/table.h"

#define ETHERNET_IRQ 13
#define ETHERNET_REGION \
    { \
        0x40200000, 65536, REGION_DEVICE \
    }
// Regions and stacks, by the names of the linker script.
#define MEMORY(name) \
    { \
        (uintptr_t) link_##name, BYTES_##name, REGION_DATA \
    }
#define SHARED(name) \
    { \
        (uintptr_t) & link_##name, BYTES_##name, REGION_DATA \
    }
#define STACK_END(name, bytes) name##_stack + (bytes) / 8

extern const struct kernel_table kernel_table;
void boot_print(const char *text, uint32_t bytes);
uint32_t boot_random(void);
#define KERNEL_TABLE(table, number) \
    { \
        .processes = (table), .count = (number), .code = {0, 0x400000, REGION_DATA}, .now_us = board_now_us, \
        .alarm = board_alarm, .print = boot_print, .random = boot_random \
    }

#endif
