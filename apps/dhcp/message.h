// SPDX-License-Identifier: BSD-2-Clause
// DHCP messages (RFC 2131, RFC 2132), pure: bytes in, values out. Each option's length is compared with the field that
// holds it.
#ifndef APPS_DHCP_MESSAGE_H
#define APPS_DHCP_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/addr.h"
#include "weir/linkage/dhcp.h"

WEIR_BEGIN_DECLS

#define DHCP_CLIENT_PORT 68u
#define DHCP_SERVER_PORT 67u
#define DHCP_MESSAGE_MIN 300u  // what is sent is padded to this: old BOOTP relays drop less (RFC 1542 §2.1)
#define DHCP_MESSAGE_MAX 576u  // what we send at most, and ask the server to send (RFC 2131 §2)
#define DHCP_SERVERS 3u        // routers, name servers, time servers kept of each list
#define DHCP_NAME_MAX 64u      // host and domain name, with the NUL
#define DHCP_ID_MAX 64u        // client identifiers; longer ones are malformed
#define DHCP_PORTAL_MAX \
    128u  // the URI of a captive portal, with the NUL: so much fits beside all else that a server says
#define DHCP_FOREVER UINT32_MAX  // lease time that never ends
#define DHCP_BROADCAST 0x8000u   // flags: answer by broadcast, we have no address yet

enum dhcp_type {
    DHCP_DISCOVER = 1,
    DHCP_OFFER,
    DHCP_REQUEST,
    DHCP_DECLINE,
    DHCP_ACK,
    DHCP_NAK,
    DHCP_RELEASE,
    DHCP_INFORM
};

struct dhcp_list {
    struct weir_addr addresses[DHCP_SERVERS];
    uint8_t count;
};

struct dhcp_message {
    uint8_t op;    // 1 request, 2 reply
    uint8_t type;  // enum dhcp_type
    uint16_t secs, flags;
    uint32_t xid;
    struct weir_addr ciaddr, yiaddr, siaddr, giaddr;
    uint8_t mac[6];
    // Options; zero (any, empty) means absent.
    struct weir_addr server_id, requested, mask;
    uint32_t lease_s, renew_s, rebind_s;
    uint16_t mtu;  // of the interface, 68 and up
    struct dhcp_list routers, dns, ntp;
    uint8_t id_length, id[DHCP_ID_MAX];  // the client identifier
    bool ip6_only;  // IPv4 can be done without (RFC 8925): for so long; emit only: whether that is asked
    uint32_t ip6_only_s;
    bool parameters;             // emit only: the list of options wanted, and the greatest message size
    char host[DHCP_NAME_MAX];    // emit only
    char domain[DHCP_NAME_MAX];  // letters, digits, dots, hyphens or empty
    const char *portal;          // emit only: NULL: none
};

// Returns false for a message that is not DHCP over Ethernet, or malformed anywhere: the whole of it is then dropped.
// Option overload (52) is obeyed: `file`, then `sname`, each within its own bounds. Options of one code are one option
// in pieces (RFC 3396), in whichever fields they are; but what has its full length already and comes again counts once,
// as it came first.
bool dhcp_parse(const uint8_t *bytes, uint32_t length, struct dhcp_message *message);
// Returns its bytes (at least DHCP_MESSAGE_MIN); 0: `room` is too small (DHCP_MESSAGE_MAX is always enough).
uint32_t dhcp_emit(const struct dhcp_message *message, uint8_t *out, uint32_t room);

// The identifier of a client that has no other: Ethernet's hardware type and the MAC address. Returns its length.
uint8_t dhcp_id_of_mac(const uint8_t mac[6], uint8_t id[DHCP_ID_MAX]);
// Whether a host may have the address: not 0/8, 127/8, multicast, reserved or broadcast, nor a subnet's first or last.
bool dhcp_address_usable(struct weir_addr address, struct weir_addr mask);
// Bits of a netmask; -1: its ones are not contiguous.
int dhcp_mask_bits(struct weir_addr mask);

WEIR_END_DECLS

#endif
