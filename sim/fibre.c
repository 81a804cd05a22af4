// SPDX-License-Identifier: BSD-2-Clause
// Fibres over ucontext. Only the scheduler, that is, an event of the network, switches to a fibre; a fibre switches
// back only. The sanitizers are told of every switch, as they keep a shadow of the stack.
#define _GNU_SOURCE
#include "fibre.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <ucontext.h>

#include "internal.h"

#define STACK_BYTES ((size_t)256 * 1024)
#define GUARD_BYTES ((size_t)65536)  // a whole page on every machine

#if defined(__SANITIZE_ADDRESS__)
void __sanitizer_start_switch_fiber(void **save, const void *bottom, size_t size);
void __sanitizer_finish_switch_fiber(void *save, const void **bottom, size_t *size);
#define SWITCH_BEGINS(save, bottom, size) __sanitizer_start_switch_fiber(save, bottom, size)
#define SWITCH_ENDED(save, bottom, size) __sanitizer_finish_switch_fiber(save, bottom, size)
#else
#define SWITCH_BEGINS(save, bottom, size) ((void)(save), (void)(bottom), (void)(size))
#define SWITCH_ENDED(save, bottom, size) ((void)(save), (void)(bottom), (void)(size))
#endif

struct fibre {
    struct fibre *next;  // of the host
    struct sim_host *host;
    sim_program *program;
    void *argument;
    const void *token;  // sleeps on; NULL: runs, or was woken
    struct event turn;
    int answer;  // of port->wait
    bool ended;
    uint8_t *memory;
    void *shadow;
    ucontext_t context;
};

struct scheduler {
    struct fibre *running;
    ucontext_t context;
    const void *stack;  // the scheduler's own
    size_t stack_bytes;
    void *shadow;
};

static uint8_t *stack_of(struct fibre *fibre) { return fibre->memory + GUARD_BYTES; }

// The first thing on a new stack. makecontext hands over ints only.
static void begin(unsigned high, unsigned low)
{
    struct fibre *fibre = (struct fibre *)(uintptr_t)((uint64_t)high << 32 | low);
    struct scheduler *scheduler = fibre->host->node.sim->scheduler;
    SWITCH_ENDED(NULL, &scheduler->stack, &scheduler->stack_bytes);
    fibre->program(fibre->host, fibre->argument);
    fibre->ended = true;
    SWITCH_BEGINS(NULL, scheduler->stack, scheduler->stack_bytes);  // NULL: this stack is not seen again
    setcontext(&scheduler->context);
}

// From a fibre to the scheduler, until it switches back.
static void leave(struct fibre *fibre)
{
    struct scheduler *scheduler = fibre->host->node.sim->scheduler;
    SWITCH_BEGINS(&fibre->shadow, scheduler->stack, scheduler->stack_bytes);
    swapcontext(&fibre->context, &scheduler->context);
    SWITCH_ENDED(fibre->shadow, &scheduler->stack, &scheduler->stack_bytes);
}

static void unlink_and_free(struct fibre *fibre)
{
    struct fibre **at = &fibre->host->fibres;
    while (*at != fibre)
        at = &(*at)->next;
    *at = fibre->next;
    event_cancel(&fibre->host->node.sim->events, &fibre->turn);
    munmap(fibre->memory, GUARD_BYTES + STACK_BYTES);
    free(fibre);
}

static void take_turn(void *context)
{
    struct fibre *fibre = context;
    struct scheduler *scheduler = fibre->host->node.sim->scheduler;
    fibre->token = NULL;
    scheduler->running = fibre;
    SWITCH_BEGINS(&scheduler->shadow, stack_of(fibre), STACK_BYTES);
    swapcontext(&scheduler->context, &fibre->context);
    SWITCH_ENDED(scheduler->shadow, NULL, NULL);
    scheduler->running = NULL;
    if (fibre->ended)
        unlink_and_free(fibre);
}

void sim_fibre_start(struct sim_host *host, sim_program *program, void *context)
{
    struct sim *sim = host->node.sim;
    if (!sim->scheduler)
        sim->scheduler = calloc(1, sizeof *sim->scheduler);
    struct fibre *fibre = calloc(1, sizeof *fibre);
    if (!fibre || !sim->scheduler)
        abort();
    fibre->memory = mmap(NULL, GUARD_BYTES + STACK_BYTES, PROT_READ | PROT_WRITE,
                         MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (fibre->memory == MAP_FAILED || mprotect(fibre->memory, GUARD_BYTES, PROT_NONE))
        abort();
    fibre->host = host;
    fibre->program = program;
    fibre->argument = context;
    getcontext(&fibre->context);
    fibre->context.uc_stack.ss_sp = stack_of(fibre);
    fibre->context.uc_stack.ss_size = STACK_BYTES;
    const uint64_t address = (uintptr_t)fibre;
    makecontext(&fibre->context, (void (*)(void))begin, 2, (unsigned)(address >> 32), (unsigned)address);
    fibre->turn = (struct event){.happen = take_turn, .context = fibre};
    fibre->next = host->fibres;
    host->fibres = fibre;
    event_set(&sim->events, &fibre->turn, sim->now_ns);
}

static struct fibre *running(const struct sim_host *host)
{
    const struct scheduler *scheduler = host->node.sim->scheduler;
    return scheduler ? scheduler->running : NULL;
}

int fibre_wait(void *context, const void *token, uint64_t deadline_us)
{
    struct sim_host *host = context;
    struct sim *sim = host->node.sim;
    struct fibre *fibre = running(host);
    if (!fibre)
        return 1;  // not on a fibre: nobody may block
    if (sim->closing)
        return 2;
    fibre->token = token;
    fibre->answer = 1;
    if (deadline_us != WEIR_NEVER)
        event_set(&sim->events, &fibre->turn, host_time_ns(host, deadline_us));
    leave(fibre);
    return sim->closing ? 2 : fibre->answer;
}

void fibre_wake(void *context, const void *token)
{
    struct sim_host *host = context;
    struct sim *sim = host->node.sim;
    for (struct fibre *fibre = host->fibres; fibre; fibre = fibre->next)
        if (fibre->token == token) {
            fibre->token = NULL;
            fibre->answer = 0;
            event_set(&sim->events, &fibre->turn, sim->now_ns);
        }
}

bool sim_fibre_sleep(struct sim_host *host, uint64_t ns)
{
    struct sim *sim = host->node.sim;
    struct fibre *fibre = running(host);
    if (!fibre || sim->closing)
        return false;
    fibre->token = NULL;
    event_set(&sim->events, &fibre->turn, sim->now_ns + ns);
    leave(fibre);
    return !sim->closing;
}

uint32_t sim_fibres(const struct sim_host *host)
{
    uint32_t count = 0;
    for (const struct fibre *fibre = host->fibres; fibre; fibre = fibre->next)
        count++;
    return count;
}

void fibres_close(struct sim_host *host)
{
    while (host->fibres) {
        struct fibre *fibre = host->fibres;
        event_cancel(&host->node.sim->events, &fibre->turn);
        // Nothing sleeps any more: it runs to its end.
        take_turn(fibre);  // NOLINT(clang-analyzer-unix.Malloc): the one before took itself off the list
    }
}

void scheduler_free(struct sim *sim) { free(sim->scheduler); }
