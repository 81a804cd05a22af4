// SPDX-License-Identifier: BSD-2-Clause
// An echo server (TCP port 7) with BSD sockets for a system with the CMSIS-RTOS2 interface: three connections, each
// with a thread of its own. All it knows of the system is cmsis_os2.h; here that is api/cmsis_rtos2, over the
// preemptive kernel, whose board is named at the end.
#include "boards/board.h"
#include "boards/start.h"
#include "bsd/posix_calls.h"
#include "bsd/posix_names.h"
#include "ports/cmsis_rtos2/rtos2_port.h"

#define CONNECTIONS 3
#define BSD_BYTES (640 + (CONNECTIONS + 1) * 384)

static uint64_t memory[MEMORY_BYTES / 8], bsd_memory[BSD_BYTES / 8];
static struct rtos2_port port;
static struct weir_netif netif;
static int listener;

static void echoer(void *unused)
{
    char data[256];
    (void)unused;
    for (;;) {
        const int connection = accept(listener, NULL, NULL);
        for (int got; connection >= 0 && (got = (int)recv(connection, data, sizeof data, 0)) > 0;)
            for (int sent = 0, some = 0; sent < got && some >= 0; sent += some)
                some = (int)send(connection, data + sent, (size_t)(got - sent), 0);
        if (connection >= 0)
            close(connection);
    }
}

static bool start_stack(void)
{
    static const struct port_board board = {.now_us = board_now_us, .granularity_us = 1000, .entropy = board_entropy};
    static const struct weir_bsd_config config = {
        .descriptors = CONNECTIONS + 1, .memory = bsd_memory, .memory_bytes = sizeof bsd_memory};
    static const osThreadAttr_t io = {.name = "io", .stack_size = 2048, .priority = osPriorityHigh};
    static volatile bool unused;
    board_ethernet(&netif, &unused);
    struct weir *weir =
        rtos2_port_init(&port, &board) ? board_start(&port.ticking.core, &netif, memory, sizeof memory) : NULL;
    if (!weir)
        return false;
    struct weir_bsd *bsd = rtos2_port_start(&port, &io, osPriorityNormal) ? bsd_create(weir, &config) : NULL;
    weir_posix_use(bsd);
    return bsd;
}

static void first(void *unused)
{
    static const osThreadAttr_t attributes = {.name = "echo", .stack_size = 2048};
    const struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons(7)};
    bool good = start_stack() && (listener = socket(AF_INET, SOCK_STREAM, 0)) >= 0 &&
                bind(listener, (const struct sockaddr *)&local, sizeof local) == 0 &&
                listen(listener, CONNECTIONS) == 0;
    for (uint32_t i = 1; i < CONNECTIONS; i++)
        good = good && osThreadNew(echoer, NULL, &attributes);
    board_puts(good ? "weir: echo on port 7\n" : "weir: no memory, or no interface\n");
    if (good)
        echoer(unused);
}

int main(void)
{
    static const osThreadAttr_t attributes = {.name = "first", .stack_size = 2560};
    board_init();
    if (osKernelInitialize() == osOK && osThreadNew(first, NULL, &attributes))
        (void)osKernelStart();
    board_puts("weir: no memory\n");
    return 1;
}

void board_interrupt(void) { rtos2_port_interrupt(&port); }

// --- the system: the preemptive kernel on this board -----------------------------------------------------------------
#include "rtos2_board.h"
