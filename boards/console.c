// SPDX-License-Identifier: BSD-2-Clause
#include "boards/console.h"

static struct console *opened;

void console_open(struct console *console, volatile bool *wake)
{
    console->head = console->tail = 0;
    console->wake = wake;
    opened = console;
    board_receive();
}

void console_interrupt(void)
{
    uint8_t byte;
    while (board_getc(&byte)) {
        if (opened->tail - opened->head == CONSOLE_IN)
            continue;
        opened->in[opened->tail % CONSOLE_IN] = byte;
        opened->tail++;
    }
    *opened->wake = true;
}

uint32_t console_read(void *console, uint8_t *to, uint32_t room)
{
    struct console *const c = console;
    uint32_t got = 0;
    while (got < room && c->head != c->tail) {
        to[got++] = c->in[c->head % CONSOLE_IN];
        c->head++;
    }
    return got;
}

uint32_t console_write(void *console, const uint8_t *from, uint32_t bytes)
{
    uint32_t gone = 0;
    (void)console;
    while (gone < bytes && board_putc(from[gone]))
        gone++;
    return gone;
}
