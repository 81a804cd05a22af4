// SPDX-License-Identifier: BSD-2-Clause
// The 16550 UART (National Semiconductor PC16550D data sheet) with rings that its interrupt fills and empties; struct
// slip_pipe fits. The other end is asked to wait (RTS) before the ring of what has come is full, and a full one leaves
// the rest in the part with its interrupt masked: a line that never rests cannot keep the program from reading.
#ifndef DRIVERS_NS16550_H
#define DRIVERS_NS16550_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#ifndef NS16550_IN
#define NS16550_IN 2048u  // bytes of the rings, powers of two
#endif
#ifndef NS16550_OUT
#define NS16550_OUT 512u
#endif

struct ns16550_board {
    uint8_t (*in)(uint32_t port);
    void (*out)(uint32_t port, uint8_t value);
    uint32_t port;     // of the first of its eight registers
    uint16_t divisor;  // of its clock, for the speed
    // Around what a thread does that the interrupt must not see half done.
    uint32_t (*interrupts_off)(void);
    void (*interrupts_restore)(uint32_t state);
};

struct ns16550 {
    const struct ns16550_board *board;
    uint8_t in[NS16550_IN], out[NS16550_OUT];
    // head: next to take; they only grow, and wrap by themselves
    volatile uint32_t in_head, in_tail, out_head, out_tail;
    volatile bool held;     // the other end was asked to wait
    volatile bool refused;  // somebody waits for room
    uint32_t overruns;      // times that the part lost bytes
};

void ns16550_open(struct ns16550 *uart, const struct ns16550_board *board);
// From its interrupt. true: there are bytes to read, or room again that was asked for.
bool ns16550_interrupt(struct ns16550 *uart);
uint32_t ns16550_read(void *uart, uint8_t *to, uint32_t room);
uint32_t ns16550_write(void *uart, const uint8_t *from, uint32_t bytes);

WEIR_END_DECLS

#endif
