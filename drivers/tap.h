// SPDX-License-Identifier: BSD-2-Clause
// Linux TAP: Weir as an Ethernet neighbour of this machine.
//
//     static struct tap tap;                      // large: not on a small stack
//     struct weir_netif netif;
//     if (tap_open(&tap, "tap0", TAP_UP) < 0) fputs(tap_error(&tap), stderr);
//     tap_attach(&tap, &netif, "eth0");           // instead of weir_netif_init; netif.mac may be changed now
//     weir_netif_add(weir, &netif);               // then call netif.driver->poll when tap_fd has tap_events
//
// With the virtio-net header (the default) checksums are left to Linux both ways, segments of up to 64 KB leave in one
// system call and merged ones arrive in one: most of a byte's cost is the call. Called like every driver, with the
// instance's lock held.
#ifndef DRIVERS_TAP_H
#define DRIVERS_TAP_H

#include "tuntap.h"
#include "weir/language.h"
#include "weir/linkage/posix.h"

WEIR_BEGIN_DECLS

enum tap_flag {
    TAP_NO_VNET = TUNTAP_NO_VNET,  // no offloads: frames of at most the MTU, complete checksums
    TAP_UP = TUNTAP_UP,            // bring Linux' side up, too
    TAP_QUEUES = TUNTAP_QUEUES,    // a further queue of an interface that has several (drivers/wrap/steer.h)
};

struct tap {
    struct tuntap io;
};

// Opens or makes the interface. WEIR_OK, or a negative enum weir_error with a sentence in tap_error: WEIR_PERMISSION,
// WEIR_NOT_SUPPORTED (no TUN/TAP in this kernel), WEIR_IN_USE, WEIR_INVALID (the name is too long, or of something
// else).
int tap_open(struct tap *tap, const char *ifname, unsigned flags);
const char *tap_error(const struct tap *tap);
// Initialises *netif as an interface `name` of Weir on this TAP: random locally administered address, Linux' MTU,
// offloads.
void tap_attach(struct tap *tap, struct weir_netif *netif, const char *name);
int tap_fd(const struct tap *tap);        // -1: closed
short tap_events(const struct tap *tap);  // for poll(2): POLLIN, and POLLOUT while frames wait
// Lets a program (drivers/wrap/steer.h), which is closed, give each frame's queue. 0, or a negative errno.
int tap_steer(struct tap *tap, int program);
// After weir_netif_remove. A TAP that was not made persistent disappears.
void tap_close(struct tap *tap);

WEIR_END_DECLS

#endif
