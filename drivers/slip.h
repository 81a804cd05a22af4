// SPDX-License-Identifier: BSD-2-Clause
// IP over a serial line (RFC 1055): an interface of the link type raw IP, whose packets stand between END bytes. What
// carries the bytes is a pipe: two functions, be there rings filled by interrupts (ns16550.h) or a plain putc and getc
// behind them.
//
//     static struct slip slip;
//     slip_open(&slip, &pipe);
//     slip_attach(&slip, &netif, "sl0");       // instead of weir_netif_init
//     weir_netif_add(weir, &netif);
//
// The loop is to be woken when bytes have come, and when there is room again in a pipe that took less than it was
// given.
#ifndef DRIVERS_SLIP_H
#define DRIVERS_SLIP_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/linkage/posix.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#ifndef SLIP_MTU
#define SLIP_MTU 1006u  // bytes of a packet; RFC 1055's choice
#endif

struct slip_pipe {
    uint32_t (*read)(void *context, uint8_t *to, uint32_t room);            // what has come, at most `room`; 0: nothing
    uint32_t (*write)(void *context, const uint8_t *from, uint32_t bytes);  // how many were taken; never waits
    void *context;
};

struct slip {
    const struct slip_pipe *pipe;
    WEIR_ALIGNAS(4) uint8_t in[SLIP_MTU];  // decoded so far
    uint8_t out[SLIP_MTU];                 // the packet that is being sent, not encoded yet
    uint8_t coded[64];                     // the part of it that the pipe shall take next
    uint32_t in_length, out_length, out_at, coded_length, coded_at;
    bool escaped;  // the last byte was ESC
    bool damaged;  // the packet that is coming in is none: discard up to the next END
    bool waiting;  // the stack was told that there is no room
    struct {
        uint32_t overlong, bad_escape;
    } counters;
};

// `pipe` is kept, not copied.
void slip_open(struct slip *slip, const struct slip_pipe *pipe);
void slip_attach(struct slip *slip, struct weir_netif *netif, const char *name);

WEIR_END_DECLS

#endif
