// SPDX-License-Identifier: BSD-2-Clause
// What a system offers xinu.h with: once, before any of its calls.
//
//     static struct xinu xinu;
//     xinu_use(&xinu, &(struct xinu_config){.weir = weir, .port = &port, .bsd = bsd, .ethers = {&netif0, &netif1}, …});
#ifndef XINU_SYSTEM_H
#define XINU_SYSTEM_H

#include "api/bsd/weir_bsd.h"
#include "api/xinu/xinu.h"
#include "weir/language.h"
#include "weir/port.h"

WEIR_BEGIN_DECLS

struct xinu_config {
    struct weir *weir;
    const struct weir_port *port;
    struct weir_bsd *bsd;  // its descriptors are the devices': NTCP + NUDP, and one for each port that is listened at
    struct weir_netif *ethers[NETHER];  // NULL: there is none
    // Waits for a lease on the interface, without the lock: OK, TIMEOUT or SYSERR. NULL: there is no DHCP.
    int (*dhcp)(void *context, struct weir_netif *netif, unsigned timeout_ms, struct weir_addr *gateway);
    void *context;
};

enum xinu_state { XINU_FREE, XINU_ALLOC, XINU_OPENING, XINU_OPEN, XINU_CLOSING };
// A port that one or several TCP devices listen at: TCP devices that are waiting in open, or hold a connection from
// there, share it.
struct xinu_listener {
    int fd, users;
    struct weir_endpoint local;
    bool broken;  // closed under its users
};
struct xinu_device {
    uint8_t state, flags;
    bool closing, some, realtime;
    int fd;
    struct xinu_listener *listener;
    struct weir_endpoint local, remote;  // remote port 0: none
    uint32_t received, sent;
};

struct xinu {  // the calls' own
    struct xinu_config config;
    struct xinu_device devices[NDEVS];
    struct xinu_listener listeners[NTCP];
    struct weir_addr gateways[NETHER];  // as netUp set them
};
void xinu_use(struct xinu *xinu, const struct xinu_config *config);

WEIR_END_DECLS

#endif
