// SPDX-License-Identifier: BSD-2-Clause
// A DHCP server for one link (RFC 2131 §4.3), as of a device that is an access point: a pool of addresses one behind
// the other, a binding for each. A client is known by its client identifier, or else by its MAC address, and gets the
// address that it had, as long as no newcomer found no other. Bindings live in memory: after a restart of the server a
// client that renews what is free keeps it. Answers go to the client's address where it has one, else to all: a server
// may, though a client did not ask for it (§4.1). Relays are refused.
//
// An address that a client has not had before is pinged before it is offered (§3.1): one that answers rests as one that
// a client declined. That takes a WEIR_ICMP socket; where there is none (WEIR_CFG_RAW) it is offered at once.
//
// Lock held. Not on an interface with a DHCP client: it would serve its server's network.
#ifndef APPS_DHCP_SERVER_H
#define APPS_DHCP_SERVER_H

#include "message.h"
#include "../loop.h"
#include "weir/linkage/dhcp.h"

WEIR_BEGIN_DECLS

#define DHCP_OFFER_S 60u       // an offer is kept for so long
#define DHCP_DECLINED_S 3600u  // an address that a client, or a ping, found another host to have rests for so long
#define DHCP_PING_US 500000u   // so long the answer to a ping is waited for
#define DHCP_SERVER_LEASE_MIN_S 10u
#define DHCP_NO_PORTAL "urn:ietf:params:capport:unrestricted"  // RFC 8910 §2: nobody has to sign in anywhere

enum dhcp_binding_state {
    DHCP_FREE,
    DHCP_OFFERED,
    DHCP_LEASED,
    DHCP_DECLINED,
    DHCP_PINGED,  // it will be offered, unless somebody else answers
};

// Of the address whose place in the pool is the binding's. Past its time it is free, but its client is remembered.
struct dhcp_binding {
    uint8_t state;  // enum dhcp_binding_state
    uint8_t id_length;
    uint8_t id[DHCP_ID_MAX];
    uint8_t mac[6];
    bool named;      // the client gave its identifier
    uint16_t flags;  // of its last DISCOVER, and xid
    uint32_t xid;
    uint64_t until_us;
};

struct dhcp_server;
struct dhcp_server_config {
    struct weir_netif *netif;       // up, with its own address
    struct weir_addr first;         // of the pool
    struct dhcp_binding *bindings;  // one for each address
    uint32_t count;
    uint32_t lease_s;              // DHCP_SERVER_LEASE_MIN_S and more
    struct weir_addr router, dns;  // any: none
    const char *domain;            // NULL: none; shorter than DHCP_NAME_MAX
    // A lease was given or renewed (LEASED), given back (FREE), or declined, by the client or since another host
    // answers there. May be NULL.
    void (*changed)(struct dhcp_server *server, struct weir_addr address, const struct dhcp_binding *binding,
                    void *context);
    void *context;
    // The URI of the captive portal's API, or DHCP_NO_PORTAL (RFC 8910, option 114): what a telephone is told that
    // would leave a network without Internet. It stays while the server runs. NULL: nothing; shorter than
    // DHCP_PORTAL_MAX.
    const char *portal;
};

struct dhcp_server {
    struct app app;
    struct weir_watch watch, echoes;
    struct loop *loop;
    struct dhcp_server_config config;
    weir_socket socket, echo;  // 0: none
    uint64_t due_us;           // of the probe that ends first
    struct {
        uint32_t malformed, ignored, offered, acknowledged, refused, exhausted, in_use;
    } count;
};

// WEIR_INVALID: no address on the interface, an address of the pool that is not of its subnet, or is no host's, or is
// its own; a lease too short. WEIR_IN_USE: a server or a client runs on the interface. Errors of sockets.
int dhcp_server_start(struct dhcp_server *server, struct loop *loop, const struct dhcp_server_config *config);
void dhcp_server_stop(struct dhcp_server *server);

WEIR_END_DECLS

#endif
