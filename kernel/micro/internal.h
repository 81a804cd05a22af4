// SPDX-License-Identifier: BSD-2-Clause
// Between the files of the kernel, and what they ask of the processor. Exceptions all have one priority, so that none
// interrupts another: the kernel has one stack, and no locks. The switch comes behind them.
#ifndef MICRO_INTERNAL_H
#define MICRO_INTERNAL_H

#include "table.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#define KERNEL_SLICE_US 5000u  // nobody keeps its equals waiting for longer than twice this

enum process_state { PROCESS_READY, PROCESS_CALLING, PROCESS_AWAITING_REPLY, PROCESS_RECEIVING, PROCESS_DEAD };

struct process {
    uint32_t registers[8];            // arch's: r4–r11 while it does not run
    uint32_t *stack;                  // the stack pointer while it does not run
    uint32_t mpu[2 * TABLE_REGIONS];  // what the MPU is told while it runs
    const struct process_config *config;
    uint32_t order;    // of becoming ready, or of calling
    uint32_t bits;     // notifications not yet received
    uint32_t partner;  // the one called
    void *memory;      // its message or event, checked
    uint64_t deadline_us;
    uint8_t state;
};

struct micro_kernel {
    const struct kernel_table *table;
    struct process *current;
    uint32_t order;
    struct process *slice_of;
    uint64_t alarm_us, slice_us;  // what the timer is set to; when the slice of slice_of ends
    struct process process[MICRO_PROCESSES];
};
extern struct micro_kernel micro;

// --- process.c -------------------------------------------------------------------------------------------------------
static inline uint32_t micro_process_number(const struct process *process)
{
    return (uint32_t)(process - micro.process);
}
void micro_process_init(const struct kernel_table *table);
void micro_process_ready(struct process *process, int32_t result);
void micro_process_block(enum process_state state, uint64_t deadline_us);  // the current one
void micro_process_end(struct process *process);
struct process *micro_process_next(void);  // that is to run; becomes the current one
// Whether all of the memory is the process's to write (or, of the code, to read).
bool micro_process_owns(const struct process *process, uintptr_t address, uint32_t bytes, bool write);

// --- message.c -------------------------------------------------------------------------------------------------------
void micro_message_notify(struct process *process, uint32_t bits);
void micro_message_forget(struct process *process);  // it ended: who waits for it is told
// A system call of the current process: its result, unless it waits.
int32_t micro_message_call(uint32_t to, uintptr_t message);
int32_t micro_message_receive(uintptr_t event, uint64_t deadline_us);
int32_t micro_message_reply(uint32_t to, uintptr_t message);
int32_t micro_message_ring(uint32_t to);

enum system_call { CALL, RECEIVE, REPLY, NOTIFY, NOW, INTERRUPT_ON, PRINT, RANDOM, YIELD, EXIT, OWNS, SELF };
// arguments and results: four registers.
void micro_system_call(uint32_t number, uintptr_t registers[4]);

// --- arch/ -----------------------------------------------------------------------------------------------------------
void cpu_prepare(struct process *process);                 // stack and MPU of one that never ran
void cpu_result(struct process *process, int32_t result);  // of the call it waits in
void cpu_switch(void);                                     // to micro_process_next(), behind this exception
void cpu_interrupt(uint32_t interrupt, bool on);
WEIR_NORETURN void cpu_start(void);

WEIR_END_DECLS

#endif
