// SPDX-License-Identifier: BSD-2-Clause
// LyraOS's server on a board: the kernel, the driver, the stack's component and the program are linked into one address
// space, and the program calls the stack as it would any function.
#include "api/lyraos/lyraos.h"
#include "boards/board.h"
#include "boards/overflow.h"
#include "boards/start.h"
#include "examples/lyraos/server.h"
#include "ports/preempt/preempt_port.h"

#define DESCRIPTORS 9
#define SERVER_STACK 6144  // select keeps its question there
#define IO_STACK 2560
#define IDLE_STACK 256
enum { SERVER_PRIORITY = 10, IO_PRIORITY = 20 };

static uint64_t memory[MEMORY_BYTES / 8], bsd_memory[(512 + DESCRIPTORS * 512) / 8];
static uint64_t server_stack[SERVER_STACK / 8], io_stack[IO_STACK / 8], idle_stack[IDLE_STACK / 8];
static struct thread thread;
static struct preempt_port port;
static struct weir_netif netif;

void board_timer(void) { kernel_timer(); }
void board_interrupt(void) { preempt_port_interrupt(&port); }

static bool start_stack(void)
{
    static const struct weir_bsd_config config = {.descriptors = DESCRIPTORS,
                                                  .memory = bsd_memory,
                                                  .memory_bytes = sizeof bsd_memory,
                                                  .set_errno = preempt_port_set_errno};
    static volatile bool unused;
    preempt_port_init(&port, &board_port);
    board_ethernet(&netif, &unused);
    struct weir *weir = board_start(&port.core, &netif, memory, sizeof memory);
    if (!weir)
        return false;
    const struct thread_config io = {.stack = io_stack, .stack_bytes = sizeof io_stack, .priority = IO_PRIORITY};
    struct weir_bsd *bsd = preempt_port_start(&port, &io, SERVER_PRIORITY) ? bsd_create(weir, &config) : NULL;
    lyraos_use(bsd);
    return bsd;
}

static unsigned long long now(void) { return board_now_us(); }

static void server(void *unused)
{
    (void)unused;
    if (!start_stack() || lyraos_server(now, board_puts) != 0)
        board_puts("weir: no memory, or no interface\n");
}

int main(void)
{
    static const struct kernel_board board = {board_now_us,   board_alarm, board_idle,
                                              board_overflow, idle_stack,  sizeof idle_stack};
    const struct thread_config config = {"server", server, NULL, server_stack, sizeof server_stack, SERVER_PRIORITY};
    board_init();
    if (!kernel_init(&board) || !thread_create(&thread, &config)) {
        board_puts("weir: no memory\n");
        return 1;
    }
    kernel_start();
}
