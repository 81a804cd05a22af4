// SPDX-License-Identifier: BSD-2-Clause
// SMSC LAN91C111 (data sheet revision 2.0), an Ethernet controller with a PHY on a bus of 32 bits, little-endian. Its
// 8 KB are four packets, which its memory manager hands out for both directions; the CPU moves the bytes.
//
//     static struct smc91c111 ethernet;
//     if (smc91c111_open(&ethernet, 0x10010000, mac) < 0) …;    // WEIR_NOT_SUPPORTED: there is no such device
//     smc91c111_attach(&ethernet, &netif, "eth0");              // instead of weir_netif_init
//     weir_netif_add(weir, &netif);
//     interrupt handler: smc91c111_interrupt(&ethernet); wake the loop
//
// Input is polled in budgets with the device's interrupt masked, as in stellaris.h; `tx` answers FULL while no packet
// is free, and what was asked for then is granted later.
#ifndef DRIVERS_SMC91C111_H
#define DRIVERS_SMC91C111_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#define SMC91C111_FRAME_BYTES 1518u  // with a VLAN tag

struct smc91c111 {
    uintptr_t base;
    uint8_t mac[6];
    bool asked;                                                // for a packet, which was not granted yet
    bool waiting;                                              // the stack was told FULL
    bool link;                                                 // as looked at last
    uint64_t look_us;                                          // again
    uint32_t errors, overruns;                                 // of frames received
    uint32_t failures;                                         // of frames sent
    uint32_t buffer[(2 + SMC91C111_FRAME_BYTES + 2 + 3) / 4];  // frames begin at its third byte: IP headers are aligned
};

// WEIR_OK, or WEIR_NOT_SUPPORTED when the device does not answer as one of its kind.
int smc91c111_open(struct smc91c111 *device, uintptr_t base, const uint8_t mac[6]);
void smc91c111_attach(struct smc91c111 *device, struct weir_netif *netif, const char *name);
// From the device's interrupt: silences it until the next poll has looked.
void smc91c111_interrupt(struct smc91c111 *device);

WEIR_END_DECLS

#endif
