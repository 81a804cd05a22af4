// SPDX-License-Identifier: BSD-2-Clause
// A board's image with the thesis's two clients, each a process on the preemptive kernel: a thread, and sockets that nobody else has. Their
// servers are not on the board's network; the way there leads through its gateway.
#include "api/flock/system.h"
#include "apps/text.h"
#include "boards/board.h"
#include "examples/flock/http.h"
#include "examples/flock/process.h"
#include "examples/flock/sntp.h"
#include "ports/preempt/preempt_port.h"

#define PROCESSES 2
#define DESCRIPTORS 2  // of a process
#define PROCESS_STACK 3072
#define IO_STACK 2048
#define IDLE_STACK 256
enum { PROCESS_PRIORITY = 10, IO_PRIORITY = 20 };

struct process {
    struct thread thread;
    struct flock flock;
    const char *name, *end;
    int (*program)(void);
    uint64_t stack[PROCESS_STACK / 8], sockets[(640 + DESCRIPTORS * 512) / 8];
};
static struct process processes[PROCESSES] = {{.name = "sntp", .end = "sntp ended with ", .program = sntp_client},
                                              {.name = "http", .end = "http ended with ", .program = http_client}};
static uint64_t memory[MEMORY_BYTES / 8], io_stack[IO_STACK / 8], idle_stack[IDLE_STACK / 8];
static struct flock_listeners listeners;
static struct preempt_port port;
static struct weir_netif netif;
static struct mutex console;

void board_timer(void) { kernel_timer(); }
void board_interrupt(void) { preempt_port_interrupt(&port); }

static void overflow(struct thread *thread)
{
    board_puts("weir: stack overflow: ");
    board_puts(thread->name);
    for (;;)
        ;
}

// --- the system's side of a process -----------------------------------------------------------------------------------------------------

void print(const char *text)
{
    mutex_lock(&console);
    board_puts(text);
    mutex_unlock(&console);
}

void print_number(const char *before, unsigned number, const char *behind)
{
    char line[80];
    struct text text;
    text_init(&text, line, sizeof line);
    text_put(&text, before);
    text_u64(&text, number);
    text_put(&text, behind);
    print(line);
}

// The thread is its process's first member.
static const struct flock *calling_process(void) { return &((const struct process *)(const void *)thread_self())->flock; }

static void run(void *context)
{
    struct process *process = context;
    const int status = process->program();
    bsd_destroy(process->flock.bsd);  // whatever it left open
    print_number(process->end, (unsigned)status, "\n");
}

static bool start_process(struct process *process)
{
    const struct weir_bsd_config config = {.descriptors = DESCRIPTORS,
                                           .memory = process->sockets,
                                           .memory_bytes = sizeof process->sockets,
                                           .set_errno = preempt_port_set_errno};
    process->flock = (struct flock){bsd_create(port.weir, &config), &listeners};
    return process->flock.bsd && thread_create(&process->thread, &(struct thread_config){process->name, run, process, process->stack,
                                                                                         sizeof process->stack, PROCESS_PRIORITY});
}

// --- start ------------------------------------------------------------------------------------------------------------------------------

static bool start_stack(void)
{
    static const struct preempt_port_board board = {.now_us = board_now_us, .granularity_us = 1, .entropy = board_entropy};
    static volatile bool unused;
    preempt_port_init(&port, &board);
    struct weir *weir = weir_create(memory, sizeof memory, &port.port, NULL);
    if (!weir)
        return false;
    preempt_port_attach(&port, weir);
    board_ethernet(&netif, &unused);
    if (weir_netif_add(weir, &netif) < 0 || !preempt_port_add(&port, &netif) ||
        weir_netif_set_address(&netif, weir_ip4(BOARD_ADDRESS), BOARD_PREFIX, WEIR_ADDRESS_AT_ONCE) < 0 ||
        weir_route_add(weir, weir_addr_any(), 0, weir_ip4(BOARD_GATEWAY), &netif, 0) < 0)
        return false;
    const struct thread_config io = {.stack = io_stack, .stack_bytes = sizeof io_stack, .priority = IO_PRIORITY};
    return preempt_port_start(&port, &io, PROCESS_PRIORITY);
}

static void first(void *unused)
{
    (void)unused;
    bool good = start_stack();
    flock_use(calling_process);
    for (uint32_t i = 0; i < PROCESSES; i++)
        good = good && start_process(&processes[i]);
    print(good ? "weir: processes are running\n" : "weir: no memory, or no interface\n");
}

int main(void)
{
    static const struct kernel_board board = {board_now_us, board_alarm, board_idle, overflow, idle_stack, sizeof idle_stack};
    static struct thread starter;
    static uint64_t stack[2048 / 8];
    board_init();
    const struct thread_config config = {"first", first, NULL, stack, sizeof stack, PROCESS_PRIORITY + 1};
    if (!kernel_init(&board) || !thread_create(&starter, &config)) {
        board_puts("weir: no memory\n");
        return 1;
    }
    kernel_start();
}
