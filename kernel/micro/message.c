// SPDX-License-Identifier: BSD-2-Clause
// Messages and notifications. A call hands the processor to who receives it, and its reply hands it back; the kernel keeps no message: it
// copies from the memory of one process, which waits, to that of the other.
#include <string.h>

#include "internal.h"

#define MESSAGE_BYTES (MICRO_MESSAGE_WORDS * 4u)

static bool checked(uintptr_t address, uint32_t bytes, bool write)
{
    return !(address & 3) && process_owns(kernel.current, address, bytes, write);
}

// MICRO_OK when the current process may turn to this one.
static int32_t permitted(uint32_t to)
{
    if (to >= kernel.table->count || &kernel.process[to] == kernel.current)
        return MICRO_INVALID;
    if (!(kernel.current->config->reaches & MICRO_BIT(to)))
        return MICRO_FORBIDDEN;
    return kernel.process[to].state == PROCESS_DEAD ? MICRO_DEAD : MICRO_OK;
}

// The caller's message into the receiver's event; the caller now waits for the reply.
static void hand_over(struct process *caller, struct process *receiver, struct micro_event *event)
{
    event->bits = receiver->bits;
    event->sender = process_number(caller);
    receiver->bits = 0;
    memcpy(event->message, caller->memory, MESSAGE_BYTES);
    caller->state = PROCESS_AWAITING_REPLY;
}

int32_t message_call(uint32_t to, uintptr_t message)
{
    struct process *self = kernel.current, *receiver = &kernel.process[to];
    const int32_t result = permitted(to);
    if (result != MICRO_OK)
        return result;
    if (!checked(message, MESSAGE_BYTES, true))
        return MICRO_FAULT;
    self->memory = (void *)message;
    self->partner = to;
    process_block(PROCESS_CALLING, MICRO_FOREVER);
    if (receiver->state == PROCESS_RECEIVING) {
        hand_over(self, receiver, receiver->memory);
        process_ready(receiver, MICRO_MESSAGE);
    }
    return MICRO_OK;
}

// Who calls us: the most urgent; of equals the first.
static struct process *first_caller(uint32_t receiver)
{
    struct process *best = NULL;
    for (struct process *process = kernel.process; process < &kernel.process[kernel.table->count]; process++)
        if (process->state == PROCESS_CALLING && process->partner == receiver &&
            (!best || process->config->priority > best->config->priority ||
             (process->config->priority == best->config->priority && (int32_t)(process->order - best->order) < 0)))
            best = process;
    return best;
}

int32_t message_receive(uintptr_t address, uint64_t deadline_us)
{
    struct process *self = kernel.current;
    if (!checked(address, sizeof(struct micro_event), true))
        return MICRO_FAULT;
    struct micro_event *event = (struct micro_event *)address;
    struct process *caller = first_caller(process_number(self));
    if (caller) {
        hand_over(caller, self, event);
        return MICRO_MESSAGE;
    }
    event->bits = self->bits;
    if (self->bits) {
        self->bits = 0;
        return MICRO_NOTIFIED;
    }
    if (!deadline_us || (deadline_us != MICRO_FOREVER && deadline_us <= kernel.table->now_us()))
        return MICRO_TIMEOUT;
    self->memory = event;
    process_block(PROCESS_RECEIVING, deadline_us);
    return MICRO_OK;
}

int32_t message_reply(uint32_t to, uintptr_t message)
{
    if (to >= kernel.table->count)
        return MICRO_INVALID;
    struct process *caller = &kernel.process[to];
    if (!checked(message, MESSAGE_BYTES, false))
        return MICRO_FAULT;
    if (caller->state != PROCESS_AWAITING_REPLY || caller->partner != process_number(kernel.current))
        return caller->state == PROCESS_DEAD ? MICRO_DEAD : MICRO_INVALID;
    memcpy(caller->memory, (const void *)message, MESSAGE_BYTES);
    process_ready(caller, MICRO_OK);
    return MICRO_OK;
}

void message_notify(struct process *process, uint32_t bits)
{
    process->bits |= bits;
    if (process->state != PROCESS_RECEIVING)
        return;
    ((struct micro_event *)process->memory)->bits = process->bits;
    process->bits = 0;
    process_ready(process, MICRO_NOTIFIED);
}

int32_t message_ring(uint32_t to)
{
    const int32_t result = permitted(to);
    if (result == MICRO_OK)
        message_notify(&kernel.process[to], MICRO_BIT(process_number(kernel.current)));
    return result;
}

void message_forget(struct process *gone)
{
    for (struct process *process = kernel.process; process < &kernel.process[kernel.table->count]; process++)
        if ((process->state == PROCESS_CALLING || process->state == PROCESS_AWAITING_REPLY) && process->partner == process_number(gone))
            process_ready(process, MICRO_DEAD);
}
