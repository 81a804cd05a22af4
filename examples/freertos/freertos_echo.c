// SPDX-License-Identifier: BSD-2-Clause
// An echo server (TCP port 7) with BSD sockets over FreeRTOS on ARM's MPS2 board: three connections, each with a task
// of its own. `make test FREERTOS=dir` builds it with the kernel's sources in dir and boots it in QEMU.
#include "boards/board.h"
#include "boards/start.h"
#include "bsd/posix_calls.h"
#include "bsd/posix_names.h"
#include "ports/freertos/freertos_port.h"

#include "examples/freertos/freertos_board.h"

#define CONNECTIONS 3
#define BSD_BYTES (640 + (CONNECTIONS + 1) * 384)
#define STACK_WORDS 640
enum { LOW_PRIORITY = 1, ECHO_PRIORITY = 3, IO_PRIORITY = 6 };

static uint64_t memory[MEMORY_BYTES / 8], bsd_memory[BSD_BYTES / 8];
static struct freertos_port port;
static struct weir_netif netif;
static int listener;

void board_interrupt(void) { freertos_port_interrupt(&port); }

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
    static const struct port_board board = {
        .now_us = board_now_us, .granularity_us = 1000000 / configTICK_RATE_HZ, .entropy = board_entropy};
    static const struct weir_bsd_config config = {
        .descriptors = CONNECTIONS + 1, .memory = bsd_memory, .memory_bytes = sizeof bsd_memory};
    static volatile bool unused;
    board_ethernet(&netif, &unused);
    struct weir *weir =
        freertos_port_init(&port, &board) ? board_start(&port.ticking.core, &netif, memory, sizeof memory) : NULL;
    if (!weir)
        return false;
    struct weir_bsd *bsd =
        freertos_port_start(&port, STACK_WORDS, IO_PRIORITY, LOW_PRIORITY) ? bsd_create(weir, &config) : NULL;
    weir_posix_use(bsd);
    return bsd;
}

static void first(void *unused)
{
    const struct sockaddr_in local = {.sin_family = AF_INET, .sin_port = htons(7)};
    bool good = start_stack() && (listener = socket(AF_INET, SOCK_STREAM, 0)) >= 0 &&
                bind(listener, (const struct sockaddr *)&local, sizeof local) == 0 &&
                listen(listener, CONNECTIONS) == 0;
    for (uint32_t i = 1; i < CONNECTIONS; i++)
        good = good && xTaskCreate(echoer, "echo", STACK_WORDS, NULL, ECHO_PRIORITY, NULL) == pdPASS;
    board_puts(good ? "weir: echo on port 7\n" : "weir: no memory, or no interface\n");
    if (good)
        echoer(unused);
    for (;;)
        ;
}

int main(void)
{
    board_init();
    freertos_interrupts();
    if (xTaskCreate(first, "first", STACK_WORDS, NULL, ECHO_PRIORITY, NULL) == pdPASS)
        vTaskStartScheduler();
    board_puts("weir: no memory\n");
    return 1;
}
