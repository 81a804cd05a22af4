// SPDX-License-Identifier: BSD-2-Clause
// SMSC LAN9118 and its family (LAN9118 data sheet): an Ethernet controller on a parallel bus. The CPU moves frames
// through FIFOs; the device aligns what it hands over, and keeps the states of frames in FIFOs of their own.
//
//     static struct lan9118 ethernet;
//     if (lan9118_open(&ethernet, 0x40200000, mac) < 0) …;      // WEIR_NOT_SUPPORTED: there is no such device
//     lan9118_attach(&ethernet, &netif, "eth0");                // instead of weir_netif_init
//     weir_netif_add(weir, &netif);
//     interrupt handler: lan9118_interrupt(&ethernet); wake the loop
//
// Input is polled in budgets with the device's interrupt masked, as in stellaris.h; `tx` answers FULL while its FIFO
// has no room for a frame.
#ifndef DRIVERS_LAN9118_H
#define DRIVERS_LAN9118_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#define LAN9118_FRAME_BYTES 1518u  // with a VLAN tag

struct lan9118 {
    uintptr_t base;
    uint8_t mac[6];
    bool waiting;               // the stack was told FULL
    bool link;                  // as the PHY said last
    uint64_t look_us;           // at the PHY again
    uint32_t errors, overruns;  // of frames received
    uint32_t
        buffer[(2 + LAN9118_FRAME_BYTES + 4 + 3) / 4];  // the frame begins at its third byte, so IP headers are aligned
};

// WEIR_OK, or WEIR_NOT_SUPPORTED when the device does not answer as one of the family.
int lan9118_open(struct lan9118 *device, uintptr_t base, const uint8_t mac[6]);
void lan9118_attach(struct lan9118 *device, struct weir_netif *netif, const char *name);
// From the device's interrupt: silences it until the next poll has looked.
void lan9118_interrupt(struct lan9118 *device);

WEIR_END_DECLS

#endif
