// SPDX-License-Identifier: BSD-2-Clause
// Neighbour Discovery (RFC 4861, 4191, 6980, 7527, 8106, 8781): the five messages, with all checks that need nothing
// but the message and how it came, and their options. Whatever a check finds drops the whole message; an option that is
// not known, or says what cannot be, is passed over.
#ifndef WIRE_ND_H
#define WIRE_ND_H

#include "wire/icmp6.h"

#define ND_LINK_BYTES 6u  // of a link address: Ethernet's
#define ND_NONCE_BYTES 6u
#define ND_DOMAIN_BYTES 255u  // of a domain name, at the most
enum nd_verdict {
    ND_OK,
    ND_BAD_TYPE,       // none of the five
    ND_BAD_HOP_LIMIT,  // it comes from beyond a router
    ND_FRAGMENTED,     // RFC 6980
    ND_BAD_CODE,
    ND_BAD_LENGTH,       // shorter than its fixed part
    ND_BAD_OPTION,       // an option of no length, or one that reaches beyond the message
    ND_BAD_SOURCE,       // ::, where none may be, or together with a link address; not link-local, of a router
    ND_BAD_DESTINATION,  // a group, of a solicited advertisement; no solicited-node group, from ::
    ND_BAD_TARGET        // a group; of a redirect neither link-local nor the destination; a redirect about a group
};
enum nd_preference { ND_LOW = -1, ND_MEDIUM = 0, ND_HIGH = 1 };
// Options not looked at yet. They are known to lie in the message.
struct nd_options {
    const uint8_t *at;
    uint32_t left;
};
struct nd_router {
    uint32_t reachable_ms, retransmit_ms;  // 0 in these and in hop_limit: unspecified
    uint16_t lifetime_s;                   // 0: no default router
    uint8_t hop_limit;
    int8_t preference;  // medium where the lifetime is 0
    bool managed, other, home_agent;
};
struct nd {
    uint8_t type;
    bool router, solicited, override;  // flags of a neighbour advertisement
    const uint8_t *target;             // of all but the router messages: 16 bytes
    const uint8_t *destination;        // of a redirect: 16 bytes
    const uint8_t *link_address;       // of the source, of an advertisement or redirect the target's; NULL: none of use
    const uint8_t *nonce;              // NULL: none
    uint32_t nonce_bytes;
    struct nd_router advertised;  // of a router advertisement
    struct nd_options options;
};
// `length`: of the ICMPv6 message, whose checksum is the caller's. That a redirect comes from the first hop is, too.
// Bounded by the message's length.
enum nd_verdict nd_parse(const uint8_t *bytes, uint32_t length, const struct icmp6_arrival *arrival, struct nd *out);

enum nd_option_type {
    ND_SOURCE_LINK = 1,
    ND_TARGET_LINK = 2,
    ND_PREFIX = 3,
    ND_REDIRECTED = 4,
    ND_MTU = 5,
    ND_NONCE = 14,
    ND_ROUTE = 24,
    ND_DNS_SERVERS = 25,
    ND_DNS_DOMAINS = 31,
    ND_PREF64 = 38
};
struct nd_option {
    uint8_t type;
    // Of a prefix, route or PREF64; the bits behind its length are 0.
    uint8_t prefix[IP6_ADDRESS_BYTES], prefix_bits;
    bool on_link, router_address, delegated;  // L, R and P (RFC 9762) of a prefix
    bool autonomous;                          // its A, where the preferred lifetime is not beyond the valid one
    int8_t preference;                        // of a route
    uint32_t lifetime_s;                      // valid lifetime of a prefix; of all others. UINT32_MAX: for ever
    uint32_t preferred_s;                     // of a prefix
    uint32_t mtu;                             // 1280 at the least
    // A redirected packet's beginning; a nonce; the addresses of DNS servers, 16 bytes each; DNS domains, see below.
    const uint8_t *data;
    uint32_t bytes;
};
// Takes the next option that is known and sound. False: there is none any more. Not told are link addresses of
// another length or of a group of stations, a prefix or route longer than 128 bits or than its option holds, prefixes
// and routes to link-local addresses and groups, a route of reserved preference, an MTU below 1280, DNS servers in an
// even number of units, domains that run out of their option, and a PREF64 of no length or with bits behind it.
bool nd_option_next(struct nd_options *options, struct nd_option *out);
// Bytes of the domain name, as DNS writes it without compression, that begins at `names`; 0: no more of them. A name
// of ND_DNS_DOMAINS is sound.
uint32_t nd_domain(const uint8_t *names, uint32_t left);

#define ND_RS_BYTES_MAX 16u
#define ND_NS_BYTES_MAX 40u
#define ND_NA_BYTES_MAX 32u
enum nd_flag { ND_ROUTER = 0x80, ND_SOLICITED = 0x40, ND_OVERRIDE = 0x20 };
// Write a message with checksum field zero, and return its length. `link_address` is ours, 6 bytes, or NULL; `nonce`
// 6 bytes, or NULL.
uint32_t nd_rs_emit(uint8_t *bytes, const uint8_t *link_address);
uint32_t nd_ns_emit(uint8_t *bytes, const uint8_t *target, const uint8_t *link_address, const uint8_t *nonce);
uint32_t nd_na_emit(uint8_t *bytes, const uint8_t *target, uint32_t flags, const uint8_t *link_address);

#endif
