// SPDX-License-Identifier: BSD-2-Clause
// Echo (port 7), without a kernel, and a shell on the board's console to look at it with.
#include "apps/echo.h"
#include "apps/capture.h"
#include "apps/shell/shell.h"
#include "boards/apps_board.h"
#include "boards/board.h"
#include "boards/console.h"

static struct apps_board board;
static struct echo echo;
static struct dns dns;
static struct console console;
static struct shell shell;
static struct capture capture;
static uint64_t memory[MEMORY_BYTES / 8];

int main(void)
{
    static const struct shell_line line = {console_read, console_write, &console};
    if (!apps_board_start(&board, memory, sizeof memory))
        return 1;
    if (echo_start(&echo, &board.loop, 7) < 0) {
        board_puts("weir: no memory for the services\n");
        return 1;
    }
    dns_start(&dns, &board.loop);
    console_open(&console, &board.superloop.awake);
    board_puts("weir: echo on port 7, a shell on the console\n");
    shell_start_serial(&shell, &board.loop, &line, &dns);
    shell_add_tcpdump(&shell, &capture);
    for (;;)
        apps_board_sleep(&board, apps_board_turn(&board));
}
