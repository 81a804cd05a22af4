// SPDX-License-Identifier: BSD-2-Clause
// DHCP client (RFC 2131 §4.4): takes an address for an interface, probes it on the link before use (RFC 5227), keeps
// it, gives it up when the lease ends. Sets the interface's address and the default route; the rest of the lease is
// there to be read.
#ifndef APPS_DHCP_CLIENT_H
#define APPS_DHCP_CLIENT_H

#include "message.h"
#include "../loop.h"
#include "weir/linkage/dhcp.h"

WEIR_BEGIN_DECLS

enum dhcp_state {
    DHCP_STOPPED,
    DHCP_INIT,        // waiting before the next DISCOVER
    DHCP_SELECTING,   // DISCOVER sent
    DHCP_REQUESTING,  // an offer was asked for
    DHCP_PROBING,     // ACK came; ARP probes ask whether somebody has the address (§4.4.1)
    DHCP_BOUND,
    DHCP_RENEWING,   // asking the lease's server, after T1
    DHCP_REBINDING,  // asking any server, after T2
    DHCP_REBOOTING,  // the link came back: is the lease still good here? (INIT-REBOOT)
    DHCP_IP6_ONLY,   // the network does without IPv4, and so do we for a while (RFC 8925)
};

struct dhcp_lease {
    struct weir_addr address, mask, router, server;
    struct dhcp_list dns, ntp;
    uint32_t lease_s, renew_s, rebind_s;
    uint16_t mtu;  // 0: not told
    char domain[DHCP_NAME_MAX];
};

#define DHCP_LEASE_MIN_S 10u   // shorter ones would only make traffic: refused
#define DHCP_TIMEOUT_MIN_S 4u  // RFC 2131 §4.1: 4, 8, 16, 32, 64 s, each ± 1 s at random
#define DHCP_TIMEOUT_MAX_S 64u
#define DHCP_REQUESTS 4u  // sent for an offer before beginning again
// After a conflict the next DISCOVER waits 10 s (§3.1(5): at least), then 20, 40 … 320 s: who claims each address that
// we are given shall not make us use up the server's. Twenty minutes without a conflict, and it begins again.
#define DHCP_DECLINE_WAIT_S 10u
#define DHCP_DECLINE_DOUBLINGS 5u
#define DHCP_DECLINES_FORGOTTEN_S 1200u
#define DHCP_IP6_ONLY_LEAST_S 300u  // RFC 8925 §3.4: MIN_V6ONLY_WAIT

struct dhcp {
    struct app app;
    struct weir_watch watch;
    struct loop *loop;
    struct weir_netif *netif;
    const char *host;  // our name, may be NULL
    // Called when the lease came, was renewed (bound) or is gone. May be NULL.
    void (*changed)(struct dhcp *dhcp, bool bound, void *context);
    void *context;
    enum dhcp_state state;
    weir_socket socket;
    uint32_t xid;
    uint32_t tries;        // of the present message
    uint64_t began_us;     // of the present exchange, for `secs`
    uint64_t due_us;       // next step
    uint64_t asked_us;     // the REQUEST that the present lease answers: its times count from here
    uint64_t declined_us;  // when a conflict was met last
    uint32_t declines;     // in a row
    bool link;             // as last seen
    bool routed;           // the default route is ours
    bool prefers_ip6;      // dhcp_prefer_ip6
    struct dhcp_lease offer, lease;
    struct {
        uint32_t malformed, ignored, refused, nak, declined;
    } count;
};

// Starts on an interface that is up and part of the instance. A negative enum weir_error: no socket; WEIR_IN_USE: the
// interface has a client already, or a DHCP server.
int dhcp_start(struct dhcp *dhcp, struct loop *loop, struct weir_netif *netif, const char *host,
               void (*changed)(struct dhcp *, bool bound, void *), void *context);
// This host works without IPv4 where the network says that it may (RFC 8925, option 108): then no address is taken, and
// DHCP rests for the time that the network names. Call after dhcp_start.
static inline void dhcp_prefer_ip6(struct dhcp *dhcp) { dhcp->prefers_ip6 = true; }
// Tells the server that the lease is no longer needed (RELEASE, to its address: it may take an ARP round trip). Let the
// instance run a moment before dhcp_stop, or the server keeps the lease until it ends.
void dhcp_release(struct dhcp *dhcp);
// Clears address and route.
void dhcp_stop(struct dhcp *dhcp);
const char *dhcp_state_name(enum dhcp_state state);

WEIR_END_DECLS

#endif
