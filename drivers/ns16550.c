// SPDX-License-Identifier: BSD-2-Clause
#include "ns16550.h"

#include <string.h>

enum { DATA = 0, IER = 1, IIR_FCR = 2, LCR = 3, MCR = 4, LSR = 5 };
enum { IER_DATA = 1, IER_EMPTY = 2 };
enum {
    FCR_ON_CLEAR_HALF = 0x87
};  // queues on and empty, an interrupt at 8 of 16 bytes (or when a byte has waited for four times its length)
enum { LCR_8_BITS = 3, LCR_DIVISOR = 0x80, MCR_DTR_OUT2 = 0x09, MCR_RTS = 0x02 };
enum { LSR_DATA = 1, LSR_OVERRUN = 2, LSR_EMPTY = 0x20, LSR_NOTHING = 0xff };
#define HOLD_AT (NS16550_IN / 4 * 3)
#define GO_ON_AT (NS16550_IN / 2)
#define QUEUE 16u  // bytes the part takes at once when it is empty
_Static_assert((NS16550_IN & (NS16550_IN - 1)) == 0 && (NS16550_OUT & (NS16550_OUT - 1)) == 0, "powers of two");

static uint8_t get(const struct ns16550 *uart, uint32_t at) { return uart->board->in(uart->board->port + at); }
static void put(const struct ns16550 *uart, uint32_t at, uint8_t value)
{
    uart->board->out(uart->board->port + at, value);
}

void ns16550_open(struct ns16550 *uart, const struct ns16550_board *board)
{
    memset(uart, 0, sizeof *uart);
    uart->board = board;
    put(uart, IER, 0);
    put(uart, LCR, LCR_DIVISOR);
    put(uart, DATA, (uint8_t)board->divisor);
    put(uart, IER, (uint8_t)(board->divisor >> 8));
    put(uart, LCR, LCR_8_BITS);
    put(uart, IIR_FCR, FCR_ON_CLEAR_HALF);
    put(uart, MCR, MCR_DTR_OUT2 | MCR_RTS);
    put(uart, IER, IER_DATA);
}

static uint32_t come(const struct ns16550 *uart) { return uart->in_tail - uart->in_head; }

// Interrupts are off. Which of them shall come: none for what there is no room for. Off in between, so that what came
// since it was looked at raises the line anew: a controller that waits for an edge would never see one that stayed up.
static void ask(struct ns16550 *uart)
{
    put(uart, IER, 0);
    put(uart, IER,
        (uint8_t)((come(uart) < NS16550_IN ? IER_DATA : 0) | (uart->out_head != uart->out_tail ? IER_EMPTY : 0)));
}

// Interrupts are off.
static void fill(struct ns16550 *uart)
{
    if (get(uart, LSR) & LSR_EMPTY)
        for (uint32_t i = 0; i < QUEUE && uart->out_head != uart->out_tail; i++)
            put(uart, DATA, uart->out[uart->out_head++ % NS16550_OUT]);
    ask(uart);
}

static void hold(struct ns16550 *uart, bool held)
{
    uart->held = held;
    put(uart, MCR, held ? MCR_DTR_OUT2 : MCR_DTR_OUT2 | MCR_RTS);
}

bool ns16550_interrupt(struct ns16550 *uart)
{
    bool news = false;
    uint8_t status;
    // No part at this address reads as all ones.
    while (come(uart) < NS16550_IN && (status = get(uart, LSR)) & LSR_DATA && status != LSR_NOTHING) {
        uart->overruns += (status & LSR_OVERRUN) != 0;
        uart->in[uart->in_tail % NS16550_IN] = get(uart, DATA);
        uart->in_tail++;
        news = true;
    }
    if (!uart->held && come(uart) >= HOLD_AT)
        hold(uart, true);
    fill(uart);
    if (uart->refused && uart->out_tail - uart->out_head <= NS16550_OUT / 2) {
        uart->refused = false;
        news = true;
    }
    return news;
}

uint32_t ns16550_read(void *context, uint8_t *to, uint32_t room)
{
    struct ns16550 *uart = context;
    uint32_t taken = 0;
    for (; taken < room && uart->in_head != uart->in_tail; taken++)
        to[taken] = uart->in[uart->in_head++ % NS16550_IN];
    if (uart->held && come(uart) <= GO_ON_AT) {
        const uint32_t state = uart->board->interrupts_off();
        hold(uart, false);
        ask(uart);
        uart->board->interrupts_restore(state);
    }
    return taken;
}

uint32_t ns16550_write(void *context, const uint8_t *from, uint32_t bytes)
{
    struct ns16550 *uart = context;
    uint32_t taken = 0;
    const uint32_t state = uart->board->interrupts_off();
    for (; taken < bytes && uart->out_tail - uart->out_head < NS16550_OUT; taken++)
        uart->out[uart->out_tail++ % NS16550_OUT] = from[taken];
    uart->refused |= taken < bytes;
    fill(uart);
    uart->board->interrupts_restore(state);
    return taken;
}
