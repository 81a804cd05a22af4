// SPDX-License-Identifier: BSD-2-Clause
// The monolithic form that the microkernel is compared with (tools/micro_bench.py): an echo server with blocking BSD
// sockets on the preemptive kernel, with the buffer, the limits, the copy and the sum that the image of examples/micro
// has.
#include "boards/board.h"
#include "boards/start.h"
#include "boards/memory_mac/memory.h"
#include "bsd/posix_calls.h"
#include "bsd/posix_names.h"
#include "ports/preempt/preempt_port.h"

#define ECHO_BYTES 2048
#define DESCRIPTORS 8
enum { ECHO_PRIORITY = 10, IO_PRIORITY = 20 };

static uint64_t memory[MEMORY_BYTES / 8], bsd_memory[512], echo_stack[1024], io_stack[512], idle_stack[64];
static struct thread echo_thread;
static struct preempt_port port;
static struct weir_netif netif;

void board_timer(void) { kernel_timer(); }
void board_interrupt(void) { preempt_port_interrupt(&port); }

static void overflow(struct thread *thread)
{
    board_puts(thread->name);
    board_puts(": stack overflow\n");
    for (;;)
        ;
}

static void echo(int connection)
{
    static char data[ECHO_BYTES];
    for (int got; (got = (int)recv(connection, data, sizeof data, 0)) > 0;)
        for (int sent = 0, some; sent < got; sent += some)
            if ((some = (int)send(connection, data + sent, (size_t)(got - sent), 0)) < 0)
                return;
}

static bool start_stack(void)
{
    static const struct weir_bsd_config config = {.descriptors = DESCRIPTORS,
                                                  .memory = bsd_memory,
                                                  .memory_bytes = sizeof bsd_memory,
                                                  .set_errno = preempt_port_set_errno};
    static volatile bool unused;
    preempt_port_init(&port, &board_port);
    port.core.port.sum = memory_sum;
    board_ethernet(&netif, &unused);
    struct weir *weir = board_start(&port.core, &netif, memory, sizeof memory);
    if (!weir)
        return false;
    const struct thread_config io = {.stack = io_stack, .stack_bytes = sizeof io_stack, .priority = IO_PRIORITY};
    struct weir_bsd *bsd = preempt_port_start(&port, &io, ECHO_PRIORITY) ? bsd_create(weir, &config) : NULL;
    weir_posix_use(bsd);
    return bsd;
}

static void serve(void *unused)
{
    const struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons(7)};
    (void)unused;
    const int listener = start_stack() ? socket(AF_INET, SOCK_STREAM, 0) : -1;
    if (listener < 0 || bind(listener, (const struct sockaddr *)&local, sizeof local) < 0 || listen(listener, 4) < 0)
        return;
    board_puts("weir: echo on port 7\n");
    for (;;) {
        const int connection = accept(listener, NULL, NULL);
        if (connection < 0)
            continue;
        echo(connection);
        close(connection);
    }
}

int main(void)
{
    static const struct kernel_board board = {board_now_us, board_alarm, board_idle,
                                              overflow,     idle_stack,  sizeof idle_stack};
    board_init();
    if (!kernel_init(&board) || !thread_create(&echo_thread, &(struct thread_config){"echo", serve, NULL, echo_stack,
                                                                                     sizeof echo_stack, ECHO_PRIORITY}))
        return 1;
    kernel_start();
}
