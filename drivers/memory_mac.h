// SPDX-License-Identifier: BSD-2-Clause
// A MAC of three registers, as it takes part in comparisons of size: every stack's driver for it is a few lines.
//   +0 LEN   read: bytes of the oldest received frame, 0: none
//   +4 DATA  read: its next word; write: the next word of a frame to send
//   +8 SEND  write: bytes of the frame that was written; it leaves at once
#ifndef MEMORY_MAC_H
#define MEMORY_MAC_H

#include <stdint.h>

#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

// Frames of the largest segment; what is longer is dropped. Room before the frame puts what follows its Ethernet header
// on a word.
#define MEMORY_MAC_SHIFT 2u
#define MEMORY_MAC_FRAME (14u + (WEIR_CFG_IP6 ? 60u : 40u) + WEIR_CFG_TCP_MSS_MAX)

struct memory_mac {
    uintptr_t base;
    uint32_t frame[(MEMORY_MAC_SHIFT + MEMORY_MAC_FRAME + 3) / 4];
};

// There is no interrupt. Whoever sleeps until a deadline, and not for a tick, defines MEMORY_MAC_TIMER as
// memory_mac_look.
#ifndef MEMORY_MAC_TIMER
#define MEMORY_MAC_TIMER NULL
#endif
uint64_t memory_mac_look(struct weir_netif *netif, uint64_t now_us);

void memory_mac_attach(struct memory_mac *device, uintptr_t base, struct weir_netif *netif, const uint8_t mac[6]);

WEIR_END_DECLS

#endif
