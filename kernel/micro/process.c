// SPDX-License-Identifier: BSD-2-Clause
// Processes: which runs, how long, what is its memory, and how it ends.
#include "internal.h"

#include <string.h>

struct micro_kernel micro;

static uint8_t priority(const struct process *process) { return process->config->priority; }

// The most urgent of those that are ready; of equals the one that is so for longest.
static struct process *first_ready(void)
{
    struct process *best = NULL;
    for (struct process *process = micro.process; process < &micro.process[micro.table->count]; process++)
        if (process->state == PROCESS_READY &&
            (!best || priority(process) > priority(best) ||
             (priority(process) == priority(best) && (int32_t)(process->order - best->order) < 0)))
            best = process;
    return best;
}

static void set_alarm(uint64_t at_us)
{
    if (at_us >= micro.alarm_us)
        return;  // it comes earlier, and looks again
    micro.alarm_us = at_us;
    micro.table->alarm(at_us);
}

static bool equal_waits(void)
{
    const struct process *current = micro.current;
    for (const struct process *process = micro.process; process < &micro.process[micro.table->count]; process++)
        if (process != current && process->state == PROCESS_READY && priority(process) == priority(current))
            return true;
    return false;
}

// A slice is only measured while an equal waits. Who is more urgent takes none of it away, and ends none: it goes on
// until an equal, or somebody less urgent, runs.
static void mind_slice(void)
{
    if (micro.slice_us != MICRO_FOREVER || !equal_waits())
        return;
    micro.slice_us = micro.table->now_us() + KERNEL_SLICE_US;
    micro.slice_of = micro.current;
    set_alarm(micro.slice_us);
}

// The running one keeps the processor while it is ready, until a more urgent one is, or its slice is over.
static void reschedule(void)
{
    const struct process *current = micro.current;
    if (!current || current->state != PROCESS_READY || priority(first_ready()) > priority(current))
        cpu_switch();
    else
        mind_slice();
}

struct process *micro_process_next(void)
{
    struct process *next = first_ready(), *current = micro.current;
    const bool stays = current && current->state == PROCESS_READY && priority(current) == priority(next);
    if (!stays)
        micro.current = next;
    if (micro.slice_us != MICRO_FOREVER && micro.current != micro.slice_of &&
        priority(micro.current) <= priority(micro.slice_of))
        micro.slice_us = MICRO_FOREVER;
    mind_slice();
    return micro.current;
}

void micro_process_ready(struct process *process, int32_t result)
{
    process->state = PROCESS_READY;
    process->order = micro.order++;
    process->deadline_us = MICRO_FOREVER;
    process->memory = NULL;
    cpu_result(process, result);
    reschedule();
}

void micro_process_block(enum process_state state, uint64_t deadline_us)
{
    struct process *self = micro.current;
    self->state = (uint8_t)state;
    self->order = micro.order++;
    self->deadline_us = deadline_us;
    set_alarm(deadline_us);
    reschedule();
}

static void rotate(struct process *process)
{
    process->order = micro.order++;
    if (process == micro.current && first_ready() != process)
        micro.current = NULL;  // so that it does not stay
    reschedule();              // if an equal waits, another slice begins
}

void micro_timer(void)
{
    const uint64_t now_us = micro.table->now_us();
    uint64_t next_us = MICRO_FOREVER;
    if (now_us < micro.alarm_us)
        return;
    micro.alarm_us = MICRO_FOREVER;
    for (struct process *process = micro.process; process < &micro.process[micro.table->count]; process++) {
        if (process->deadline_us <= now_us)
            micro_process_ready(process, MICRO_TIMEOUT);
        if (process->deadline_us < next_us)
            next_us = process->deadline_us;
    }
    if (micro.slice_us <= now_us) {
        micro.slice_us = MICRO_FOREVER;
        if (micro.slice_of->state == PROCESS_READY)
            rotate(micro.slice_of);
        else
            reschedule();
    }
    set_alarm(next_us < micro.slice_us ? next_us : micro.slice_us);
}

void micro_process_end(struct process *process)
{
    const struct process_config *config = process->config;
    process->state = PROCESS_DEAD;
    process->deadline_us = MICRO_FOREVER;
    if (config->interrupt >= 0)
        cpu_interrupt((uint32_t)config->interrupt, false);
    micro_message_forget(process);
    if (config->heir != micro_process_number(process))
        micro_message_notify(&micro.process[config->heir], MICRO_BIT_DEATH(micro_process_number(process)));
    reschedule();
}

static bool within(const struct region *region, uintptr_t address, uint32_t bytes)
{
    return address >= region->base && bytes <= region->bytes && address - region->base <= region->bytes - bytes;
}

bool micro_process_owns(const struct process *process, uintptr_t address, uint32_t bytes, bool write)
{
    if (!write && within(&micro.table->code, address, bytes))
        return true;
    for (const struct region *region = process->config->regions; region < &process->config->regions[TABLE_REGIONS];
         region++)
        if (region->kind == REGION_DATA && within(region, address, bytes))
            return true;
    return false;
}

void micro_interrupt(uint32_t interrupt)
{
    cpu_interrupt(interrupt, false);
    for (struct process *process = micro.process; process < &micro.process[micro.table->count]; process++)
        if (process->config->interrupt == (int32_t)interrupt && process->state != PROCESS_DEAD)
            micro_message_notify(process, MICRO_BIT_INTERRUPT);
}

// --- system calls ----------------------------------------------------------------------------------------------------
static int32_t print(uintptr_t text, uint32_t bytes)
{
    if (!micro_process_owns(micro.current, text, bytes, false))
        return MICRO_FAULT;
    if (bytes > MICRO_PRINT_BYTES)
        return MICRO_INVALID;
    micro.table->print((const char *)text, bytes);
    return MICRO_OK;
}

void micro_system_call(uint32_t number, uintptr_t registers[4])
{
    struct process *self = micro.current;
    uint64_t now_us;
    int32_t result = MICRO_OK;
    switch (number) {
    case CALL: result = micro_message_call((uint32_t)registers[0], registers[1]); break;
    case RECEIVE:
        result = micro_message_receive(registers[0], (uint32_t)registers[2] | (uint64_t)(uint32_t)registers[3] << 32);
        break;
    case REPLY: result = micro_message_reply((uint32_t)registers[0], registers[1]); break;
    case NOTIFY: result = micro_message_ring((uint32_t)registers[0]); break;
    case NOW:
        now_us = micro.table->now_us();
        registers[1] = (uintptr_t)(now_us >> 32);
        result = (int32_t)now_us;
        break;
    case INTERRUPT_ON:
        result = self->config->interrupt < 0 ? MICRO_INVALID : MICRO_OK;
        if (result == MICRO_OK)
            cpu_interrupt((uint32_t)self->config->interrupt, true);
        break;
    case PRINT: result = print(registers[0], (uint32_t)registers[1]); break;
    case RANDOM: result = (int32_t)micro.table->random(); break;
    case YIELD: rotate(micro.current); break;
    case EXIT: micro_process_end(self); break;
    case OWNS:
        result =
            micro_process_owns(self, registers[0], (uint32_t)registers[1], registers[2] != 0) ? MICRO_OK : MICRO_FAULT;
        break;
    case SELF: registers[0] = (uintptr_t)self->config->self; return;
    default: result = MICRO_INVALID;
    }
    if (self->state == PROCESS_READY)
        registers[0] = (uintptr_t)(intptr_t)result;
}

void micro_process_init(const struct kernel_table *table)
{
    memset(&micro, 0, sizeof micro);
    micro.table = table;
    micro.alarm_us = micro.slice_us = MICRO_FOREVER;
    for (uint32_t i = 0; i < table->count; i++) {
        struct process *process = &micro.process[i];
        process->config = &table->processes[i];
        process->order = micro.order++;
        process->deadline_us = MICRO_FOREVER;
        cpu_prepare(process);
    }
}

void micro_run(const struct kernel_table *table)
{
    micro_process_init(table);
    cpu_start();
}
