// SPDX-License-Identifier: BSD-2-Clause
// Messages and notifications. A call hands the processor to who receives it, and its reply hands it back; the kernel
// keeps no message: it copies from the memory of one process, which waits, to that of the other.
#include <string.h>

#include "internal.h"

#define MESSAGE_BYTES (MICRO_MESSAGE_WORDS * 4u)

static bool checked(uintptr_t address, uint32_t bytes, bool write)
{
    return !(address & 3) && micro_process_owns(micro.current, address, bytes, write);
}

// MICRO_OK when the current process may turn to this one.
static int32_t permitted(uint32_t to)
{
    if (to >= micro.table->count || &micro.process[to] == micro.current)
        return MICRO_INVALID;
    if (!(micro.current->config->reaches & MICRO_BIT(to)))
        return MICRO_FORBIDDEN;
    return micro.process[to].state == PROCESS_DEAD ? MICRO_DEAD : MICRO_OK;
}

// The caller's message into the receiver's event; the caller now waits for the reply. In memory that both have the two
// may overlap.
static void hand_over(struct process *caller, struct process *receiver, struct micro_event *event)
{
    memmove(event->message, caller->memory, MESSAGE_BYTES);
    event->bits = receiver->bits;
    event->sender = micro_process_number(caller);
    receiver->bits = 0;
    caller->state = PROCESS_AWAITING_REPLY;
}

int32_t micro_message_call(uint32_t to, uintptr_t message)
{
    struct process *self = micro.current;
    const int32_t result = permitted(to);
    if (result != MICRO_OK)
        return result;
    if (!checked(message, MESSAGE_BYTES, true))
        return MICRO_FAULT;
    struct process *receiver = &micro.process[to];
    self->memory = (void *)message;
    self->partner = to;
    micro_process_block(PROCESS_CALLING, MICRO_FOREVER);
    if (receiver->state == PROCESS_RECEIVING) {
        hand_over(self, receiver, receiver->memory);
        micro_process_ready(receiver, MICRO_MESSAGE);
    }
    return MICRO_OK;
}

// Who calls us: the most urgent; of equals the first.
static struct process *first_caller(uint32_t receiver)
{
    struct process *best = NULL;
    for (struct process *process = micro.process; process < &micro.process[micro.table->count]; process++)
        if (process->state == PROCESS_CALLING && process->partner == receiver &&
            (!best || process->config->priority > best->config->priority ||
             (process->config->priority == best->config->priority && (int32_t)(process->order - best->order) < 0)))
            best = process;
    return best;
}

int32_t micro_message_receive(uintptr_t address, uint64_t deadline_us)
{
    struct process *self = micro.current;
    if (!checked(address, sizeof(struct micro_event), true))
        return MICRO_FAULT;
    struct micro_event *event = (struct micro_event *)address;
    struct process *caller = first_caller(micro_process_number(self));
    if (caller) {
        hand_over(caller, self, event);
        return MICRO_MESSAGE;
    }
    event->bits = self->bits;
    if (self->bits) {
        self->bits = 0;
        return MICRO_NOTIFIED;
    }
    if (!deadline_us || (deadline_us != MICRO_FOREVER && deadline_us <= micro.table->now_us()))
        return MICRO_TIMEOUT;
    self->memory = event;
    micro_process_block(PROCESS_RECEIVING, deadline_us);
    return MICRO_OK;
}

int32_t micro_message_reply(uint32_t to, uintptr_t message)
{
    if (to >= micro.table->count)
        return MICRO_INVALID;
    struct process *caller = &micro.process[to];
    if (!checked(message, MESSAGE_BYTES, false))
        return MICRO_FAULT;
    if (caller->state != PROCESS_AWAITING_REPLY || caller->partner != micro_process_number(micro.current))
        return caller->state == PROCESS_DEAD ? MICRO_DEAD : MICRO_INVALID;
    memmove(caller->memory, (const void *)message, MESSAGE_BYTES);
    micro_process_ready(caller, MICRO_OK);
    return MICRO_OK;
}

void micro_message_notify(struct process *process, uint32_t bits)
{
    process->bits |= bits;
    if (process->state != PROCESS_RECEIVING)
        return;
    ((struct micro_event *)process->memory)->bits = process->bits;
    process->bits = 0;
    micro_process_ready(process, MICRO_NOTIFIED);
}

int32_t micro_message_ring(uint32_t to)
{
    const int32_t result = permitted(to);
    if (result == MICRO_OK)
        micro_message_notify(&micro.process[to], MICRO_BIT(micro_process_number(micro.current)));
    return result;
}

void micro_message_forget(struct process *gone)
{
    for (struct process *process = micro.process; process < &micro.process[micro.table->count]; process++)
        if ((process->state == PROCESS_CALLING || process->state == PROCESS_AWAITING_REPLY) &&
            process->partner == micro_process_number(gone))
            micro_process_ready(process, MICRO_DEAD);
}
