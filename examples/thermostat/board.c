// SPDX-License-Identifier: BSD-2-Clause
// The thermostat on mps2-an385, without a kernel, linked to run where the boot loader of examples/update copies it to.
// Its broker is at the gateway. docs/thermostat.md tells how to try it. Whatever goes wrong restarts the board.
#include "boards/apps_board.h"
#include "boards/board.h"
#include "examples/thermostat/device.h"
#include "examples/update/memory_flash.h"

#define BROKER_NAME "10.0.0.1"
#define TLS_BYTES 36864u

static struct apps_board board;
static struct device device;
static uint64_t memory[MEMORY_BYTES / 8], tls_memory[TLS_BYTES / 8];

void fault_handler(void) { memory_restart(); }

static void say(const char *what, const char *name, const char *behind)
{
    board_puts(what);
    board_puts(name);
    board_puts(behind);
    board_puts("\n");
}

static void say_version(void)
{
    char line[40];
    struct text text;
    text_init(&text, line, sizeof line);
    text_u64(&text, device.firmware.running.header.version);
    say("thermostat: version ", line, "");
}

static void named(const char *host) { say("thermostat: https://", host, ".local/"); }

static bool start(void)
{
    const struct device_config config = {.netif = &board.netif,
                                         .broker = weir_ip4(BOARD_GATEWAY),
                                         .broker_name = BROKER_NAME,
                                         .tls_memory = tls_memory,
                                         .tls_bytes = sizeof tls_memory,
                                         .flash = &memory_flash,
                                         .board = MEMORY_BOARD,
                                         .slot = *memory_running(),
                                         .named = named};
    int error = WEIR_OK;
    const char *const failed = device_start(&device, &board.loop, &config, &error);
    if (failed)
        say("thermostat: it cannot start: ", failed, weir_tls_error_name(error));
    return !failed;
}

int main(void)
{
    if (!apps_board_start(&board, memory, sizeof memory) || !start())
        memory_restart();
    say_version();
    for (;;) {
        const uint64_t due_us = apps_board_turn(&board), restart_us = device.firmware.restart_us;
        if (restart_us != 0 && board_now_us() >= restart_us)
            memory_restart();
        apps_board_sleep(&board, restart_us != 0 && restart_us < due_us ? restart_us : due_us);
    }
}
