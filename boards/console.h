// SPDX-License-Identifier: BSD-2-Clause
// What is typed on a board's console, and writing to it without waiting: mps2-an385. Nothing is received unless a
// program opens it.
#ifndef BOARDS_CONSOLE_H
#define BOARDS_CONSOLE_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#define CONSOLE_IN 256u  // bytes typed that wait, a power of two; more are dropped

struct console {
    uint8_t in[CONSOLE_IN];
    volatile uint32_t head, tail;  // next to take; they only grow, and wrap by themselves
    volatile bool *wake;
};

// One for the board, since there is one console. *wake becomes true with each byte that comes.
void console_open(struct console *console, volatile bool *wake);
uint32_t console_read(void *console, uint8_t *to, uint32_t room);
uint32_t console_write(void *console, const uint8_t *from, uint32_t bytes);

// What the board has for it, in its own file.
void board_receive(void);        // the receiver and its interrupt, which calls console_interrupt, are on from now on
bool board_getc(uint8_t *byte);  // false: none has come
bool board_putc(uint8_t byte);   // false: there is no room yet
void console_interrupt(void);

WEIR_END_DECLS

#endif
