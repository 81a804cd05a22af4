// SPDX-License-Identifier: BSD-2-Clause
// The table of processes: all that the kernel is told. The board (or a program) makes it, and gives it to micro_run.
#ifndef MICRO_TABLE_H
#define MICRO_TABLE_H

#include <stdbool.h>

#include "micro.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#define TABLE_REGIONS 4u  // of a process, beside the code that all may read

enum region_kind { REGION_NONE, REGION_DATA, REGION_DEVICE };
struct region {
    uintptr_t base;  // a multiple of the size
    uint32_t bytes;  // a power of two, 32 or more
    uint8_t kind;    // enum region_kind
};

struct process_config {
    const char *name;
    void (*entry)(void);
    void *stack_end;    // within the first region
    uint8_t priority;   // 0: runs when nobody else does
    uint8_t heir;       // is told when the process ends; itself: nobody
    int16_t interrupt;  // −1: none
    uint32_t reaches;   // processes it may call and notify, a bit each
    struct region regions[TABLE_REGIONS];
    void *self;  // what micro_self tells the process: where its code, that others share, finds its variables
};

struct kernel_table {
    const struct process_config *processes;  // one must always be ready: it sleeps (wfi)
    uint32_t count;                          // at most MICRO_PROCESSES
    struct region code;                      // of all
    uint64_t (*now_us)(void);
    void (*alarm)(uint64_t at_us);  // micro_timer shall be called at that moment; an earlier call may come, too
    void (*print)(const char *text, uint32_t bytes);
    uint32_t (*random)(void);
};

WEIR_NORETURN void micro_run(const struct kernel_table *table);
void micro_timer(void);                    // from the timer's interrupt
void micro_interrupt(uint32_t interrupt);  // from any other: silences it, and notifies its process

WEIR_END_DECLS

#endif
