// SPDX-License-Identifier: BSD-2-Clause
// Processes: which runs, how long, what is its memory, and how it ends.
#include "internal.h"

#include <string.h>

struct kernel kernel;

static uint8_t priority(const struct process *process) { return process->config->priority; }

// The most urgent of those that are ready; of equals the one that is so for longest.
static struct process *first_ready(void)
{
    struct process *best = NULL;
    for (struct process *process = kernel.process; process < &kernel.process[kernel.table->count]; process++)
        if (process->state == PROCESS_READY && (!best || priority(process) > priority(best) ||
                                                (priority(process) == priority(best) && (int32_t)(process->order - best->order) < 0)))
            best = process;
    return best;
}

static void set_alarm(uint64_t at_us)
{
    if (at_us >= kernel.alarm_us)
        return;  // it comes earlier, and looks again
    kernel.alarm_us = at_us;
    kernel.table->alarm(at_us);
}

// The running one keeps the processor while it is ready, until a more urgent one is, or its slice is over. A slice is only measured while
// an equal waits.
static void reschedule(void)
{
    const struct process *current = kernel.current, *first = first_ready();
    if (first == current)
        return;
    if (!current || current->state != PROCESS_READY || priority(first) > priority(current)) {
        arch_switch();
    } else if (priority(first) == priority(current) && kernel.slice_us == MICRO_FOREVER) {
        kernel.slice_us = kernel.table->now_us() + KERNEL_SLICE_US;
        kernel.slice_switches = kernel.switches;
        set_alarm(kernel.slice_us);
    }
}

struct process *process_next(void)
{
    struct process *next = first_ready(), *current = kernel.current;
    const bool stays = current && current->state == PROCESS_READY && priority(current) == priority(next);
    if (!stays && next != current) {
        kernel.current = next;
        kernel.switches++;
    }
    return kernel.current;
}

void process_ready(struct process *process, int32_t result)
{
    process->state = PROCESS_READY;
    process->order = kernel.order++;
    process->deadline_us = MICRO_FOREVER;
    process->memory = NULL;
    arch_result(process, result);
    reschedule();
}

void process_block(enum process_state state, uint64_t deadline_us)
{
    struct process *self = kernel.current;
    self->state = (uint8_t)state;
    self->order = kernel.order++;
    self->deadline_us = deadline_us;
    set_alarm(deadline_us);
    reschedule();
}

static void rotate(void)
{
    struct process *self = kernel.current;
    if (!self)
        return;  // it has given way already
    self->order = kernel.order++;
    if (first_ready() != self) {
        kernel.current = NULL;  // so that it does not stay
        arch_switch();
    }
}

void kernel_timer(void)
{
    const uint64_t now_us = kernel.table->now_us();
    uint64_t next_us = MICRO_FOREVER;
    if (now_us < kernel.alarm_us)
        return;
    kernel.alarm_us = MICRO_FOREVER;
    for (struct process *process = kernel.process; process < &kernel.process[kernel.table->count]; process++) {
        if (process->deadline_us <= now_us)
            process_ready(process, MICRO_TIMEOUT);
        if (process->deadline_us < next_us)
            next_us = process->deadline_us;
    }
    if (kernel.slice_us <= now_us) {
        kernel.slice_us = MICRO_FOREVER;
        if (kernel.switches == kernel.slice_switches)
            rotate();
        else
            reschedule();  // others had their turn; if one waits again, another slice begins
    }
    set_alarm(next_us < kernel.slice_us ? next_us : kernel.slice_us);
}

void process_end(struct process *process)
{
    const struct process_config *config = process->config;
    process->state = PROCESS_DEAD;
    process->deadline_us = MICRO_FOREVER;
    if (config->interrupt >= 0)
        arch_interrupt((uint32_t)config->interrupt, false);
    message_forget(process);
    if (config->heir != process_number(process))
        message_notify(&kernel.process[config->heir], MICRO_BIT_DEATH(process_number(process)));
    reschedule();
}

static bool within(const struct region *region, uintptr_t address, uint32_t bytes)
{
    return address >= region->base && bytes <= region->bytes && address - region->base <= region->bytes - bytes;
}

bool process_owns(const struct process *process, uintptr_t address, uint32_t bytes, bool write)
{
    if (!write && within(&kernel.table->code, address, bytes))
        return true;
    for (const struct region *region = process->config->regions; region < &process->config->regions[TABLE_REGIONS]; region++)
        if (region->kind == REGION_DATA && within(region, address, bytes))
            return true;
    return false;
}

void kernel_interrupt(uint32_t interrupt)
{
    arch_interrupt(interrupt, false);
    for (struct process *process = kernel.process; process < &kernel.process[kernel.table->count]; process++)
        if (process->config->interrupt == (int32_t)interrupt && process->state != PROCESS_DEAD)
            message_notify(process, MICRO_BIT_INTERRUPT);
}

// --- system calls ------------------------------------------------------------------------------------------------------------------------
static int32_t print(uintptr_t text, uint32_t bytes)
{
    if (!process_owns(kernel.current, text, bytes, false))
        return MICRO_FAULT;
    kernel.table->print((const char *)text, bytes);
    return MICRO_OK;
}

void system_call(uint32_t number, uintptr_t registers[4])
{
    struct process *self = kernel.current;
    uint64_t now_us;
    int32_t result = MICRO_OK;
    switch (number) {
    case CALL: result = message_call((uint32_t)registers[0], registers[1]); break;
    case RECEIVE: result = message_receive(registers[0], (uint32_t)registers[2] | (uint64_t)(uint32_t)registers[3] << 32); break;
    case REPLY: result = message_reply((uint32_t)registers[0], registers[1]); break;
    case NOTIFY: result = message_ring((uint32_t)registers[0]); break;
    case NOW:
        now_us = kernel.table->now_us();
        registers[1] = (uintptr_t)(now_us >> 32);
        result = (int32_t)now_us;
        break;
    case INTERRUPT_ON:
        result = self->config->interrupt < 0 ? MICRO_INVALID : MICRO_OK;
        if (result == MICRO_OK)
            arch_interrupt((uint32_t)self->config->interrupt, true);
        break;
    case PRINT: result = print(registers[0], (uint32_t)registers[1]); break;
    case RANDOM: result = (int32_t)kernel.table->random(); break;
    case YIELD: rotate(); break;
    case EXIT: process_end(self); break;
    default: result = MICRO_INVALID;
    }
    if (self->state == PROCESS_READY)
        registers[0] = (uintptr_t)(intptr_t)result;
}

void process_init(const struct kernel_table *table)
{
    memset(&kernel, 0, sizeof kernel);
    kernel.table = table;
    kernel.alarm_us = kernel.slice_us = MICRO_FOREVER;
    for (uint32_t i = 0; i < table->count; i++) {
        struct process *process = &kernel.process[i];
        process->config = &table->processes[i];
        process->order = kernel.order++;
        process->deadline_us = MICRO_FOREVER;
        arch_prepare(process);
    }
}

void kernel_run(const struct kernel_table *table)
{
    process_init(table);
    arch_start();
}
