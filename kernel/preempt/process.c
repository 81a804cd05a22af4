// SPDX-License-Identifier: BSD-2-Clause
#include "process.h"

#include "internal.h"

struct block {  // before each piece that a process allocated
    _Alignas(8) struct block *next;
    size_t bytes;
};

static const struct process_system *system_;
static struct process *running;  // a list, with interrupts off
static struct process *dead;     // waits for the reaper
static struct semaphore deaths;
static struct thread reaper;
static int last_id;

// --- ends ------------------------------------------------------------------------------------------------------------

// With interrupts off; once for a process. Its thread has been deleted, or will be before it runs again.
static void hand_to_reaper(struct process *process)
{
    struct process **at = &running;
    while (*at != process)
        at = &(*at)->next;
    *at = process->next;
    process->next = dead;
    dead = process;
    semaphore_give(&deaths);
}

static void bury(struct process *process)
{
    (void)thread_join(&process->thread, KERNEL_NEVER);
    system_->ends(process);
    for (struct block *block = process->blocks, *next; block; block = next) {
        next = block->next;
        kmem_free(system_->memory, block);
    }
    kmem_free(system_->memory, process->thread.stack);
    const uint32_t state = arch_interrupts_off();
    process->ended = true;
    wait_queue_wake(&process->waiting, NULL);
    arch_interrupts_restore(state);
}

static void reap(void *unused)
{
    (void)unused;
    for (;;) {
        (void)semaphore_take(&deaths, KERNEL_NEVER);
        const uint32_t state = arch_interrupts_off();
        struct process *process = dead;
        dead = process->next;
        arch_interrupts_restore(state);
        bury(process);
    }
}

// Whether a signal without a handler ends a process.
static bool fatal(int signal) { return signal == SIGNAL_KILL || signal == SIGNAL_TERM || signal == SIGNAL_INT; }

void process_signal_send(struct process *process, int signal)
{
    const uint32_t state = arch_interrupts_off();
    if (!process->ending && !process->ended) {
        if (process->in_call || !fatal(signal) || process->signals.handler[signal] ||
            process->signals.blocked >> signal & 1) {
            signal_send(&process->thread, signal);
        } else {
            process->ending = true;
            process->status = -signal;
            thread_delete(&process->thread);
            hand_to_reaper(process);
        }
    }
    arch_interrupts_restore(state);
}

int process_wait(struct process *process, uint64_t deadline_us, int *status)
{
    const uint32_t state = arch_interrupts_off();
    int result = KERNEL_WOKEN;
    while (!process->ended && result == KERNEL_WOKEN)
        result = wait_queue_sleep(&process->waiting, NULL, NULL, deadline_us);
    *status = process->status;
    arch_interrupts_restore(state);
    return result;
}

struct process *process_find(int id)
{
    const uint32_t state = arch_interrupts_off();
    struct process *process = running;
    while (process && process->id != id)
        process = process->next;
    arch_interrupts_restore(state);
    return process;
}

// --- begins ----------------------------------------------------------------------------------------------------------

bool process_init(const struct process_system *system, const struct thread_config *config)
{
    struct thread_config own = *config;
    own.name = "reaper";
    own.entry = reap;
    system_ = system;
    running = dead = NULL;
    deaths = (struct semaphore){0};
    return thread_create(&reaper, &own);
}

static void begin(void *context)
{
    const struct process *self = context;
    arch_drop_privileges();
    process_exit(self->program(self->argument));
}

bool process_start(struct process *process, const struct process_config *config)
{
    *process = (struct process){.program = config->program, .argument = config->argument, .regions = config->regions};
    const struct thread_config thread = {
        config->name,        begin,           process, kmem_alloc(system_->memory, config->stack_bytes),
        config->stack_bytes, config->priority};
    if (!thread.stack || !system_->begins(process)) {
        kmem_free(system_->memory, thread.stack);
        return false;
    }
    const uint32_t state = arch_interrupts_off();
    const bool good = thread_create(&process->thread, &thread);
    if (good) {
        signals_init(&process->signals, &process->thread);
        process->signals.process = process;
        process->id = ++last_id;
        process->next = running;
        running = process;
    }
    arch_interrupts_restore(state);  // if it is more urgent it runs here
    if (!good) {
        system_->ends(process);
        kmem_free(system_->memory, thread.stack);
    }
    return good;
}

// --- memory ----------------------------------------------------------------------------------------------------------
static bool within(uintptr_t at, size_t bytes, const void *begin, size_t size)
{
    const uintptr_t offset = at - (uintptr_t)begin;
    return offset <= size && bytes <= size - offset;
}

bool process_owns(const struct process *process, const void *memory, size_t bytes, bool write)
{
    const uintptr_t at = (uintptr_t)memory;
    if (!bytes || within(at, bytes, process->thread.stack, process->thread.stack_bytes))
        return true;
    for (const struct process_region *region = process->regions; region && region->end; region++)
        if ((region->write || !write) &&
            within(at, bytes, region->begin, (uintptr_t)region->end - (uintptr_t)region->begin))
            return true;
    for (const struct block *block = process->blocks; block; block = block->next)
        if (within(at, bytes, block + 1, block->bytes))
            return true;
    return false;
}

// --- the kernel's own calls ------------------------------------------------------------------------------------------

static intptr_t none(struct process *self, const intptr_t arguments[])
{
    (void)self, (void)arguments;
    return 0;
}

static intptr_t ends(struct process *self, const intptr_t arguments[])
{
    self->status = (int)arguments[0];
    self->ending = true;
    return 0;
}

static intptr_t own_id(struct process *self, const intptr_t arguments[])
{
    (void)arguments;
    return self->id;
}

static intptr_t yields(struct process *self, const intptr_t arguments[])
{
    (void)self, (void)arguments;
    thread_yield();
    return 0;
}

static uint64_t in_ms(intptr_t ms) { return kernel.board->now_us() + (uint64_t)(uint32_t)ms * 1000; }

static intptr_t sleeps(struct process *self, const intptr_t arguments[])
{
    (void)self;
    return thread_sleep_until(in_ms(arguments[0])) == KERNEL_TIMEOUT ? 0 : -1;
}

static intptr_t pauses(struct process *self, const intptr_t arguments[])
{
    (void)self, (void)arguments;
    while (thread_sleep_until(KERNEL_NEVER) != KERNEL_INTERRUPTED)
        ;
    return -1;
}

static intptr_t alarms(struct process *self, const intptr_t arguments[])
{
    const uint64_t now_us = kernel.board->now_us();
    const uint64_t before_us = signal_alarm_at(&self->signals, arguments[0] ? in_ms(arguments[0]) : KERNEL_NEVER);
    return before_us == KERNEL_NEVER || before_us < now_us ? 0 : (intptr_t)((before_us - now_us + 999) / 1000);
}

static intptr_t handles(struct process *self, const intptr_t arguments[])
{
    if (arguments[0] <= 0 || arguments[0] >= SIGNALS || arguments[0] == SIGNAL_KILL)
        return -1;
    (void)signal_set(&self->signals, (int)arguments[0], (signal_handler *)arguments[1]);
    return 0;
}

static intptr_t kills(struct process *self, const intptr_t arguments[])
{
    (void)self;
    struct process *process = process_find((int)arguments[0]);
    if (!process || arguments[1] <= 0 || arguments[1] >= SIGNALS)
        return -1;
    process_signal_send(process, (int)arguments[1]);
    return 0;
}

static intptr_t allocates(struct process *self, const intptr_t arguments[])
{
    const size_t bytes = (size_t)arguments[0];
    struct block *block = bytes <= SIZE_MAX - sizeof *block ? kmem_alloc(system_->memory, bytes + sizeof *block) : NULL;
    if (!block)
        return 0;
    block->next = self->blocks;
    block->bytes = bytes;
    self->blocks = block;
    return (intptr_t)(block + 1);
}

// What is not its own is left alone.
static intptr_t frees(struct process *self, const intptr_t arguments[])
{
    for (struct block *block = self->blocks, *before = NULL; block; before = block, block = block->next)
        if (block + 1 == (struct block *)arguments[0]) {
            if (before)
                before->next = block->next;
            else
                self->blocks = block->next;
            kmem_free(system_->memory, block);
            return 0;
        }
    return -1;
}

static intptr_t now_ms(struct process *self, const intptr_t arguments[])
{
    (void)self, (void)arguments;
    return (intptr_t)(uint32_t)(kernel.board->now_us() / 1000);
}

// --- the gate --------------------------------------------------------------------------------------------------------

static process_call_handler *handler_of(uint32_t number)
{
    static process_call_handler *const own[CALL_FIRST] = {
        [CALL_NONE] = none,    [CALL_EXIT] = ends,       [CALL_ID] = own_id,    [CALL_YIELD] = yields,
        [CALL_SLEEP] = sleeps, [CALL_PAUSE] = pauses,    [CALL_ALARM] = alarms, [CALL_HANDLE] = handles,
        [CALL_KILL] = kills,   [CALL_ALLOC] = allocates, [CALL_FREE] = frees,   [CALL_NOW] = now_ms};
    if (number < CALL_FIRST)
        return own[number];
    return number - CALL_FIRST < system_->call_count ? system_->calls[number - CALL_FIRST] : NULL;
}

// The reaper waits until the thread is gone.
_Noreturn static void end(struct process *self, int status)
{
    self->ending = true;
    self->status = status;
    hand_to_reaper(self);
    arch_interrupts_on();
    thread_exit();
}

void process_fault(void)
{
    (void)arch_interrupts_off();
    end(thread_self()->signals->process, -SIGNAL_FAULT);
}

// With interrupts off, so that no signal comes between the last look and the moment from which on the process is
// stopped at once.
static void leave(struct process *self, intptr_t arguments[])
{
    const uint32_t state = arch_interrupts_off();
    if (self->ending)
        end(self, self->status);
    arguments[PROCESS_ARGUMENTS] = 0;
    for (int signal; !arguments[PROCESS_ARGUMENTS] && (signal = signal_take(&self->signals)) != 0;) {
        if (self->signals.handler[signal]) {
            arguments[0] = signal;
            arguments[PROCESS_ARGUMENTS] = (intptr_t)self->signals.handler[signal];
        } else if (fatal(signal)) {
            end(self, -signal);
        }
    }
    self->in_call = false;
    arch_interrupts_restore(state);
}

struct process *process_self(void)
{
    const struct signals *signals = thread_self()->signals;
    return signals ? signals->process : NULL;
}

intptr_t system_call(uint32_t number, intptr_t arguments[])
{
    struct process *self = process_self();
    process_call_handler *handler = self ? handler_of(number) : NULL;
    if (!self)
        return -1;
    self->in_call = true;
    const intptr_t result = handler ? handler(self, arguments) : -1;
    leave(self, arguments);
    return result;
}
