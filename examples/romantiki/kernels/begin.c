// SPDX-License-Identifier: BSD-2-Clause
// The beginning of Romantiki's programs on a board with threads, whatever the kernel: the stack, then the first task.
#include "boards/board.h"
#include "boards/start.h"
#include "bsd/posix_calls.h"
#include "examples/romantiki/kernels/kernel.h"

#define DESCRIPTORS 8
#define BSD_BYTES (640 + DESCRIPTORS * 384)

static uint64_t memory[MEMORY_BYTES / 8], bsd_memory[BSD_BYTES / 8];
static struct weir_netif netif;
static struct romantiki_task task;
static coop_function *task_function;
static unsigned task_priority;

static bool start_stack(void)
{
    static const struct weir_bsd_config config = {.descriptors = DESCRIPTORS,
                                                  .memory = bsd_memory,
                                                  .memory_bytes = sizeof bsd_memory,
                                                  .set_errno = romantiki_set_errno};
    static volatile bool unused;
    if (!romantiki_kernel.open())
        return false;
    board_ethernet(&netif, &unused);
    struct weir *weir = board_start(romantiki_kernel.core, &netif, memory, sizeof memory);
    if (!weir || !romantiki_kernel.serve())
        return false;
    romantiki_use(&romantiki_kernel.system);
    struct weir_bsd *bsd = bsd_create(weir, &config);
    weir_posix_use(bsd);
    return bsd;
}

static void first(void *unused)
{
    (void)unused;
    const bool good = start_stack() && romantiki_task_start(&task, task_function, NULL, task_priority);
    board_puts(good ? "weir: tasks are running\n" : "weir: no memory, or no interface\n");
    romantiki_kernel.system.end();
}

int romantiki_main(coop_function *function, unsigned priority)
{
    task_function = function;
    task_priority = priority;
    board_init();
    romantiki_kernel.begin(first);
    board_puts("weir: no memory\n");
    return 1;
}
