// SPDX-License-Identifier: BSD-2-Clause
// DHCPv6 messages (RFC 9915, which replaces RFC 8415; RFC 3646), pure: bytes in, values out. Each option's length is
// compared with what holds it. In builds with IPv6 alone.
#ifndef APPS_DHCP6_MESSAGE_H
#define APPS_DHCP6_MESSAGE_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/addr.h"
#include "weir/linkage/apps.h"

WEIR_BEGIN_DECLS

#define DHCP6_CLIENT_PORT 546u
#define DHCP6_SERVER_PORT 547u
#define DHCP6_MESSAGE_MAX 600u  // of what we send
#define DHCP6_DUID_MAX 130u     // §11.1: with its type
#define DHCP6_ADDRESSES 4u      // kept of an IA
#define DHCP6_SERVERS 3u        // name servers kept
#define DHCP6_DOMAIN 128u       // a search domain as text, with its 0; longer ones are left out
#define DHCP6_FOREVER UINT32_MAX

enum dhcp6_type {
    DHCP6_SOLICIT = 1,
    DHCP6_ADVERTISE,
    DHCP6_REQUEST,
    DHCP6_CONFIRM,
    DHCP6_RENEW,
    DHCP6_REBIND,
    DHCP6_REPLY,
    DHCP6_RELEASE,
    DHCP6_DECLINE,
    DHCP6_RECONFIGURE,
    DHCP6_INFORMATION_REQUEST
};
enum dhcp6_status {
    DHCP6_SUCCESS,
    DHCP6_UNSPEC_FAIL,
    DHCP6_NO_ADDRS_AVAIL,
    DHCP6_NO_BINDING,
    DHCP6_NOT_ON_LINK,
    DHCP6_USE_MULTICAST
};

struct dhcp6_duid {
    uint8_t bytes[DHCP6_DUID_MAX];
    uint8_t length;  // 0: none
};
struct dhcp6_address {
    struct weir_addr addr;
    uint32_t preferred_s, valid_s;
    uint16_t status;  // enum dhcp6_status
};
struct dhcp6_message {
    uint8_t type;
    uint32_t xid;  // 24 bits
    struct dhcp6_duid client, server;
    uint16_t status;   // of the message, enum dhcp6_status
    uint16_t elapsed;  // hundredths of a second
    uint8_t preference;
    bool rapid_commit;
    // The IA_NA of `iaid`; T1 and T2 as sent.
    bool ia;
    uint32_t iaid, t1_s, t2_s;
    uint16_t ia_status;
    struct dhcp6_address addresses[DHCP6_ADDRESSES];
    uint8_t address_count;
    struct weir_addr dns[DHCP6_SERVERS];
    uint8_t dns_count;
    char domain[DHCP6_DOMAIN];  // the first of the search list; letters, digits, dots, hyphens, or empty
    // 0: not told. Those of the limits are 60 to 86400, others are passed over (§21.24, §21.25).
    uint32_t refresh_s, sol_max_rt_s, inf_max_rt_s;
};

// False: malformed somewhere, all of it is to be dropped. Of a repeated option the first counts; of IA_NAs the one of
// `iaid`. An IA_NA with T1 > T2 > 0, and an address with preferred > valid, is passed over (§21.4, §21.6), as is an
// address that no host can have.
bool dhcp6_parse(const uint8_t *bytes, uint32_t length, uint32_t iaid, struct dhcp6_message *message);
// Writes a client's message: its ids, elapsed time, what it wants to know (by its type), and its IA_NA with the
// addresses. Returns its bytes; 0: `room` is too small.
uint32_t dhcp6_emit(const struct dhcp6_message *message, uint8_t *out, uint32_t room);

WEIR_END_DECLS

#endif
