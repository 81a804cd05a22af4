// SPDX-License-Identifier: BSD-2-Clause
// A link-local IPv4 address (RFC 3927) where nobody gives one: 169.254.1.0 to 169.254.254.255, chosen by the MAC
// address, so that it is the same after each start, probed and defended by the stack (RFC 5227), and changed for
// another after a conflict.
//
// It asks nothing of a DHCP client beside it: it takes an address when the interface has had none for a while, and
// leaves the interface to whoever sets another. DHCP goes on asking all the while. What it had then stays for
// AUTOIP_KEEP_S beside the new one, deprecated, so that connections go on (where WEIR_CFG_ADDRESSES is built).
//
// Lock held.
#ifndef APPS_AUTOIP_H
#define APPS_AUTOIP_H

#include "../loop.h"
#include "weir/linkage/autoip.h"

WEIR_BEGIN_DECLS

#define AUTOIP_WAIT_S 10u  // good beside a DHCP client, which then has asked twice
#define AUTOIP_KEEP_S 300u
#define AUTOIP_CONFLICTS_MAX 10u  // in a row; then another address only once in
#define AUTOIP_RATE_LIMIT_S 60u
#define AUTOIP_PREFIX 16u

enum autoip_state {
    AUTOIP_STOPPED,
    AUTOIP_WAITING,  // the interface has no address
    AUTOIP_PROBING,
    AUTOIP_BOUND,
    AUTOIP_YIELDED,  // the interface has an address of another's
};

struct autoip {
    struct app app;
    struct loop *loop;
    struct weir_netif *netif;
    uint32_t wait_s;
    // An address is ours from now on, or (bound false) no longer. May be NULL.
    void (*changed)(struct autoip *autoip, bool bound, void *context);
    void *context;
    enum autoip_state state;
    struct weir_addr address;  // the present candidate, or ours
    uint32_t attempt;          // which candidate it is
    uint32_t conflicts;        // in a row
    uint64_t due_us;
    bool link;              // as last seen
    bool reaches, prefers;  // the route to link-local hosts: it is ours, and goes before another interface's
};

// Starts on an Ethernet interface of the instance, which takes an address when it has had none for `wait_s`. A route to
// 169.254.0.0/16 on the link, one of WEIR_CFG_ROUTES, stays until the stop, also beside an address of another's.
// WEIR_INVALID: it has no MAC address.
int autoip_start(struct autoip *autoip, struct loop *loop, struct weir_netif *netif, uint32_t wait_s,
                 void (*changed)(struct autoip *autoip, bool bound, void *context), void *context);
// Gives the address up.
void autoip_stop(struct autoip *autoip);
// The candidate number `attempt` of a MAC address. Pure.
struct weir_addr autoip_candidate(const uint8_t mac[6], uint32_t attempt);

WEIR_END_DECLS

#endif
