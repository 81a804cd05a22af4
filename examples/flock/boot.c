// SPDX-License-Identifier: BSD-2-Clause
// A board's image of the preemptive kernel with some programs (process.h), each a process that reaches the stack by
// system calls. What they talk to may not be on the board's network; the way there leads through its gateway.
#include <string.h>

#include "apps/text.h"
#include "boards/board.h"
#include "boards/overflow.h"
#include "boards/start.h"
#include "examples/flock/process.h"
#include "ports/preempt/preempt_port.h"
#include "ports/preempt/process_sockets.h"

#ifndef STACK_UNIT
#define STACK_UNIT 256  // bytes
#endif
#define POOL_BYTES (160 * STACK_UNIT)
#define INSTANCE_POOL_BYTES (1 << 20)  // with an allocator: the instance, and the queues of all connections
enum { PROCESS_PRIORITY = 10, FIRST_PRIORITY = 15, REAPER_PRIORITY = 17, IO_PRIORITY = 20 };
enum { CALL_PRINT = CALL_BSD_END, CALLS = PROCESS_SOCKET_CALLS + 1 };

static uint64_t pool[POOL_BYTES / 8], io_stack[10 * STACK_UNIT / 8], first_stack[8 * STACK_UNIT / 8];
static uint64_t reaper_stack[6 * STACK_UNIT / 8], idle_stack[STACK_UNIT / 8];
static struct kmem kmem;
static struct preempt_port port;
static struct weir_netif netif;
static struct process processes[PROGRAMS_MAX];

void board_timer(void) { kernel_timer(); }
void board_interrupt(void) { preempt_port_interrupt(&port); }

// --- the processes' side: without privileges -------------------------------------------------------------------------

void print(const char *text) { (void)process_call(CALL_PRINT, (intptr_t)text, (intptr_t)strlen(text), 0, 0, 0, 0); }

static void put_line(char *line, size_t bytes, const char *before, unsigned number, const char *behind)
{
    struct text text;
    text_init(&text, line, (uint32_t)bytes);
    text_put(&text, before);
    text_u64(&text, number);
    text_put(&text, behind);
}

void print_number(const char *before, unsigned number, const char *behind)
{
    char line[80];
    put_line(line, sizeof line, before, number, behind);
    print(line);
}

static int run_program(void *program) { return ((const struct program *)program)->run(); }

void *foreign_memory(void) { return pool; }  // the kernel's, and of other processes

// --- the kernel's side -----------------------------------------------------------------------------------------------

static struct mutex console;

static void put(const char *text)
{
    mutex_lock(&console);
    board_puts(text);
    mutex_unlock(&console);
}

static intptr_t call_print(struct process *self, const intptr_t arguments[])
{
    const char *text = (const char *)arguments[0];
    const size_t length = (size_t)arguments[1];
    if (length == SIZE_MAX || !process_owns(self, text, length + 1, false) || text[length])
        return -1;
    put(text);
    return 0;
}

static bool start_process(struct process *process, const struct program *program)
{
    static const struct process_region constants[] = {{link_text, link_text_end, false}, {0}};
    const struct process_config config = {program->name,   run_program,      (void *)(uintptr_t)program,
                                          12 * STACK_UNIT, PROCESS_PRIORITY, constants};
    return process_start(process, &config);
}

static bool start_processes(struct weir *weir)
{
    static process_call_handler *calls[CALLS];
    static const struct process_system system = {&kmem, calls, CALLS, process_sockets_begin, process_sockets_end};
    const struct thread_config reaper = {
        .stack = reaper_stack, .stack_bytes = sizeof reaper_stack, .priority = REAPER_PRIORITY};
    memcpy(calls, process_socket_calls, sizeof process_socket_calls);
    calls[CALL_PRINT - CALL_FIRST] = call_print;
    process_sockets_init(weir, &kmem);
    bool good = process_init(&system, &reaper);
    for (uint32_t i = 0; good && i < PROGRAMS_MAX && programs[i].run; i++)
        good = start_process(&processes[i], &programs[i]);
    return good;
}

#if WEIR_CFG_ALLOCATOR
// Apart from the processes': under the instance's lock nobody waits for a walk through theirs.
static uint64_t instance_pool[INSTANCE_POOL_BYTES / 8];
static struct kmem instance_kmem;
static void instance_memory(void) { kmem_init(&instance_kmem, instance_pool, sizeof instance_pool); }
static void *from_pool(size_t bytes) { return kmem_alloc(&instance_kmem, bytes); }
static void to_pool(void *memory) { kmem_free(&instance_kmem, memory); }
#define ALLOCATOR .alloc = from_pool, .free = to_pool
#define INSTANCE NULL, INSTANCE_POOL_BYTES / 8 * 7  // the rest: the instance itself, and what the pool adds to each
#else
#define ALLOCATOR .alloc = NULL
#define INSTANCE memory, sizeof memory
static uint64_t memory[MEMORY_BYTES / 8];
static void instance_memory(void) {}
#endif

static struct weir *start_stack(void)
{
    static const struct port_board board = {
        .now_us = board_now_us, .granularity_us = 1, .entropy = board_entropy, ALLOCATOR};
    static volatile bool unused;
    kmem_init(&kmem, pool, sizeof pool);
    instance_memory();
    preempt_port_init(&port, &board);
    process_memory_guard(&port.core.port);
    board_ethernet(&netif, &unused);
    struct weir *weir = board_start(&port.core, &netif, INSTANCE);
    if (!weir || weir_route_add(weir, weir_addr_any(), 0, weir_ip4(BOARD_GATEWAY), &netif, 0) < 0)
        return NULL;
    const struct thread_config io = {.stack = io_stack, .stack_bytes = sizeof io_stack, .priority = IO_PRIORITY};
    return preempt_port_start(&port, &io, PROCESS_PRIORITY) ? weir : NULL;
}

static void report(struct process *process, const char *name)
{
    char line[80];
    int status = 0;
    (void)process_wait(process, KERNEL_NEVER, &status);
    put_line(line, sizeof line, " ended with ", (unsigned)status, "\n");
    mutex_lock(&console);
    board_puts(name);
    board_puts(line);
    mutex_unlock(&console);
}

static void first(void *unused)
{
    (void)unused;
    struct weir *weir = start_stack();
    if (!weir || !start_processes(weir)) {
        put("weir: no memory, or no interface\n");
        return;
    }
    put("weir: processes are running\n");
    for (uint32_t i = 0; i < PROGRAMS_MAX && programs[i].run; i++)
        report(&processes[i], programs[i].name);
}

int main(void)
{
    static const struct kernel_board board = {board_now_us,   board_alarm, board_idle,
                                              board_overflow, idle_stack,  sizeof idle_stack};
    static struct thread starter;
    const struct thread_config config = {"first", first, NULL, first_stack, sizeof first_stack, FIRST_PRIORITY};
    board_init();
    if (!kernel_init(&board) || !thread_create(&starter, &config)) {
        board_puts("weir: no memory\n");
        return 1;
    }
    kernel_start();
}
