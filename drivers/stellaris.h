// SPDX-License-Identifier: BSD-2-Clause
// The Ethernet controller of Stellaris microcontrollers (LM3S6965 data sheet, chapter 16). It has no DMA: the CPU moves
// each frame through a FIFO register, words of which carry two bytes of length and the frame behind them.
//
//     static struct stellaris ethernet;
//     stellaris_open(&ethernet, 0x40048000, mac);
//     stellaris_attach(&ethernet, &netif, "eth0");    // instead of weir_netif_init
//     weir_netif_add(weir, &netif);
//     interrupt handler: stellaris_interrupt(&ethernet); wake the loop
//
// Input is polled in budgets: the receive interrupt is masked from the first frame until a poll leaves the FIFO empty,
// so a flood of frames takes the CPU only when its turn comes. `tx` answers FULL while the transmitter holds a frame,
// and the end of that is an interrupt.
#ifndef DRIVERS_STELLARIS_H
#define DRIVERS_STELLARIS_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#define STELLARIS_FRAME_BYTES 1514u

struct stellaris {
    uintptr_t base;
    bool waiting;       // the stack was told FULL
    uint32_t overruns;  // of the receive FIFO
    uint32_t bad;       // frames of an impossible length: the FIFO was emptied
    uint32_t buffer[(2 + STELLARIS_FRAME_BYTES + 4 + 3) /
                    4];  // the frame begins at its third byte, so IP headers are aligned
};

// Takes the device into use with this address. It stays silent until stellaris_attach.
void stellaris_open(struct stellaris *device, uintptr_t base, const uint8_t mac[6]);
void stellaris_attach(struct stellaris *device, struct weir_netif *netif, const char *name);
// From the device's interrupt: silences it until the next poll has looked.
void stellaris_interrupt(struct stellaris *device);

WEIR_END_DECLS

#endif
