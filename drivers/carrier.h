// SPDX-License-Identifier: BSD-2-Clause
// Watches whether a Linux interface runs, for the drivers on it: asks SIOCGIFFLAGS once a second while it does and ten
// times a second while it does not, and tells the stack of every change (weir_link_change), so that a pulled cable
// heals by itself.
#ifndef DRIVERS_CARRIER_H
#define DRIVERS_CARRIER_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/linkage/posix.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#define CARRIER_NAME_BYTES 16u  // IFNAMSIZ
#define CARRIER_CHECK_UP_US 1000000u
#define CARRIER_CHECK_DOWN_US 100000u

struct carrier {
    int socket;  // for ioctl only; stays in the network namespace it was opened in
    char ifname[CARRIER_NAME_BYTES];
    bool up;
    uint64_t due_us;  // next look
};

// Returns 0 or an errno.
int carrier_open(struct carrier *carrier, const char *ifname);
void carrier_close(struct carrier *carrier);
// Brings the interface up, as `ip link set IFNAME up` does. Returns 0 or an errno.
int carrier_raise(struct carrier *carrier);
// The interface's Ethernet address. Returns 0 or an errno: EINVAL when it is no Ethernet interface.
int carrier_ethernet(const struct carrier *carrier, uint8_t mac[6]);
// The interface's MTU, bytes; 0 when it cannot be told.
uint16_t carrier_mtu(const struct carrier *carrier);
// The driver's `timer`: looks when it is time, tells the stack, returns the time of the next look.
uint64_t carrier_timer(struct carrier *carrier, struct weir_netif *netif, uint64_t now_us);
// The driver saw an error that may mean "down": the next carrier_timer looks at once. The stack is not told from here,
// for this is called inside `tx`, in the middle of its work.
void carrier_doubt(struct carrier *carrier);

WEIR_END_DECLS

#endif
