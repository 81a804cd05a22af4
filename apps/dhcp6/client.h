// SPDX-License-Identifier: BSD-2-Clause
// DHCPv6 client (RFC 9915): addresses with their lifetimes, or settings alone, as routers' flags M and O want it. An
// address goes into the interface's list (weir_netif_address_lease), where it is probed before use; the rest is there
// to be read. In builds with IPv6 alone.
#ifndef APPS_DHCP6_CLIENT_H
#define APPS_DHCP6_CLIENT_H

#include "lease.h"
#include "../loop.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

enum dhcp6_state {
    DHCP6_STOPPED,
    DHCP6_WAITING,     // no router has asked for it yet, or there is no link-local address yet
    DHCP6_INFORMING,   // Information-request sent
    DHCP6_INFORMED,    // settings are there, until they are asked for anew
    DHCP6_SOLICITING,  // Solicit sent; servers' Advertises are compared
    DHCP6_REQUESTING,
    DHCP6_PROBING,  // leased, and being probed
    DHCP6_BOUND,
    DHCP6_RENEWING,    // asking the lease's server, after T1
    DHCP6_REBINDING,   // asking any server, after T2
    DHCP6_CONFIRMING,  // the link came back: are the addresses still right here?
    DHCP6_DECLINING,   // an address is another host's
    DHCP6_RELEASING
};

enum dhcp6_mode {
    DHCP6_BY_ROUTERS,  // as the flags M and O say; neither is ever taken back (RFC 4862 §5.5.3, errata of RFC 2462)
    DHCP6_INFORMATION,
    DHCP6_ADDRESSES_TOO
};

struct dhcp6 {
    struct app app;
    struct weir_watch watch;
    struct loop *loop;
    struct weir_netif *netif;
    enum dhcp6_mode mode;
    enum dhcp6_state state;
    void (*changed)(struct dhcp6 *, void *context);
    void *context;
    struct dhcp6_duid duid;
    uint32_t iaid;
    weir_socket socket;
    // Of the present exchange (§15): its transaction, messages sent, last retransmission time.
    uint32_t xid, tries, rt_ms;
    uint64_t began_us, due_us;
    uint32_t sol_max_rt_s, inf_max_rt_s;
    bool link;  // as last seen
    bool offered;
    struct dhcp6_lease offer, lease;
    struct weir_addr dns[DHCP6_SERVERS];
    uint8_t dns_count;
    char domain[DHCP6_DOMAIN];
    struct {
        uint32_t malformed, ignored, refused, declined;
    } count;
};

// Starts on an interface that is part of the instance and makes a link-local address (weir_netif_ip6). `duid`: this
// host's, which must be the same after each start: bytes that the board or the program keeps; NULL: DUID-LL, of the
// interface's MAC address (§11.4). `changed` is called when addresses or settings have come or gone. A negative enum
// weir_error: no socket.
int dhcp6_start(struct dhcp6 *dhcp6, struct loop *loop, struct weir_netif *netif, enum dhcp6_mode mode,
                const struct dhcp6_duid *duid, void (*changed)(struct dhcp6 *, void *), void *context);
// Gives the addresses up and tells the server; when that has answered, or after four tries, the state is STOPPED.
void dhcp6_release(struct dhcp6 *dhcp6);
// Removes the addresses.
void dhcp6_stop(struct dhcp6 *dhcp6);
// Whether there is a lease whose addresses are in use.
static inline bool dhcp6_bound(const struct dhcp6 *dhcp6)
{
    return dhcp6->lease.address_count > 0 && dhcp6->state >= DHCP6_BOUND && dhcp6->state <= DHCP6_CONFIRMING;
}
const char *dhcp6_state_name(enum dhcp6_state state);

WEIR_END_DECLS

#endif
