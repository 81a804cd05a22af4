// SPDX-License-Identifier: BSD-2-Clause
// IPv6 header, extension headers and addresses (RFC 8200, 4291, 8504 §5.3). Addresses are 16 bytes as they lie on the
// wire. Offsets that go into a Parameter Problem count from the IPv6 header.
#ifndef WIRE_IP6_H
#define WIRE_IP6_H

#include "base/checksum.h"

#define IP6_BYTES 40u
#define IP6_ADDRESS_BYTES 16u
#define IP6_FRAGMENT_BYTES 8u
#define IP6_MTU_MIN 1280u
#define IP6_PAYLOAD_LENGTH_AT 4u
#define IP6_NEXT_HEADER_AT 6u
enum ip6_next_header {
    IP6_HOP_BY_HOP = 0,
    IP6_TCP = 6,
    IP6_UDP = 17,
    IP6_ROUTING = 43,
    IP6_FRAGMENT = 44,
    IP6_ESP = 50,
    IP6_AUTHENTICATION = 51,
    IP6_ICMP = 58,
    IP6_NONE = 59,
    IP6_DESTINATION = 60
};

struct ip6 {
    const uint8_t *source, *destination;  // into the bytes that were parsed
    uint32_t flow_label;                  // 20 bits
    uint16_t payload_length;              // what follows the header, extension headers too
    uint8_t traffic_class, next_header, hop_limit;
};
enum ip6_verdict {
    IP6_OK,
    IP6_BAD_HEADER,  // shorter than a header, or another version
    IP6_BAD_LENGTH,  // the payload reaches beyond the bytes at hand
    // A payload length of 0 is a jumbogram's (RFC 2675), which Weir refuses, or that of a packet with nothing in it.
    // *out is filled in: where next_header is IP6_HOP_BY_HOP, a walk over the frame's bytes finds the jumbo option,
    // C2, which is unknown here, and its verdict counts if it is IP6_CHAIN_PARAMETER. Everything else of that kind is
    // dropped.
    IP6_JUMBO
};
// `length`: bytes at hand from the header on. What lies behind the payload is the link's padding. The addresses are
// judged by ip6_addresses_acceptable.
enum ip6_verdict ip6_parse(const uint8_t *bytes, uint32_t length, struct ip6 *out);
void ip6_emit(uint8_t bytes[IP6_BYTES], const struct ip6 *header);
// Sum of the pseudo-header (RFC 8200 §8.1): the final destination, the upper layer's own number and its length.
uint16_t ip6_pseudo_sum(const uint8_t *source, const uint8_t *destination, uint8_t protocol, uint32_t length);

// --- extension headers ---------------------------------------------------------------------------------------------
// Limits that a host may set (RFC 8504 §5.3): nothing in use is beyond them, and a packet that is gets dropped.
#define IP6_CHAIN_HEADERS 8u  // extension headers
#define IP6_CHAIN_OPTIONS 8u  // options in one of them, without padding
#define IP6_CHAIN_PADDING 7u  // bytes of padding in a row: enough to align anything
enum ip6_chain_verdict {
    IP6_CHAIN_OK,         // the chain ended at `protocol`; if the host has none such (AH, ESP), code 1 at next_at
    IP6_CHAIN_FRAGMENT,   // the walk stopped at a fragment header, which is told in `fragment`
    IP6_CHAIN_DROP,       // silent: an option asks for it, a limit, a wrong length inside, or `protocol` IP6_NONE
    IP6_CHAIN_SHORT,      // silent: a header reaches beyond the room; of a first fragment, code 3 at 0 (RFC 7112)
    IP6_CHAIN_PARAMETER,  // a Parameter Problem with `code` and `pointer`
};
enum ip6_parameter_code {
    IP6_ERRONEOUS_FIELD = 0,
    IP6_UNKNOWN_NEXT_HEADER = 1,
    IP6_UNKNOWN_OPTION = 2,
    IP6_INCOMPLETE_CHAIN = 3  // of a first fragment (RFC 7112)
};
struct ip6_fragment {
    uint32_t id;
    uint16_t at;      // where the fragment header stands
    uint16_t offset;  // bytes, a multiple of 8
    uint8_t next_header;
    bool more;
};
struct ip6_chain {
    enum ip6_chain_verdict verdict;
    uint8_t protocol;        // the last next header found
    uint8_t code;            // of a Parameter Problem: an ip6_parameter_code
    bool answers_multicast;  // the problem is told also of a packet to a group (option bits 10, RFC 4443 §2.4 (e.3))
    bool router_alert;       // the hop-by-hop header has one for MLD (RFC 2711, value 0)
    uint8_t headers;         // extension headers walked
    uint16_t bytes;          // of them together, a fragment header that it stopped at too
    uint16_t next_at;        // where the next-header byte that says `protocol` stands
    uint16_t pointer;
    struct ip6_fragment fragment;
};
// Walks the chain that begins at `bytes`, behind the IPv6 header, with `next_header` of that header. `room`: bytes at
// hand, at the most the payload's. Bounded: 8 headers, each byte of which is looked at once.
void ip6_chain_walk(const uint8_t *bytes, uint32_t room, uint8_t next_header, struct ip6_chain *chain);
// Goes on behind the fragment header at which a walk over the same bytes stopped.
void ip6_chain_continue(const uint8_t *bytes, uint32_t room, struct ip6_chain *chain);
// Judges the fragment at which a walk stopped, of a packet of `payload_length` (RFC 8200 §4.5): one that is not the
// last has a multiple of 8 bytes, and none reaches beyond what a packet can hold. The verdict stays, or becomes
// IP6_CHAIN_PARAMETER.
void ip6_fragment_check(struct ip6_chain *chain, uint32_t payload_length);
// Whether the first fragment at which a walk over the same bytes stopped holds all headers, that of TCP, UDP or
// ICMPv6 too (RFC 7112 §5). One that does not is answered with code 3, pointer 0.
bool ip6_first_fragment_whole(const uint8_t *bytes, uint32_t room, const struct ip6_chain *chain);

// --- addresses -----------------------------------------------------------------------------------------------------
enum ip6_scope {
    IP6_SCOPE_INTERFACE = 1,
    IP6_SCOPE_LINK = 2,
    IP6_SCOPE_ADMIN = 4,
    IP6_SCOPE_SITE = 5,
    IP6_SCOPE_ORGANISATION = 8,
    IP6_SCOPE_GLOBAL = 14
};
//@ requires \valid_read(a + (0 .. 15)) && \valid_read(b + (0 .. 15)); assigns \nothing;
static inline bool ip6_equal(const uint8_t *a, const uint8_t *b) { return memcmp(a, b, IP6_ADDRESS_BYTES) == 0; }
// ff00::/8, and fe80::/10.
//@ requires \valid_read(address); assigns \nothing;
static inline bool ip6_is_multicast(const uint8_t *address) { return address[0] == 0xff; }
//@ requires \valid_read(address + (0 .. 15)); assigns \nothing;
static inline bool ip6_is_link_local(const uint8_t *address) { return address[0] == 0xfe && address[1] >> 6 == 2; }
//@ requires \valid_read(address + (0 .. 15)); assigns \nothing;
bool ip6_is_unspecified(const uint8_t *address);
bool ip6_is_loopback(const uint8_t *address);
bool ip6_is_mapped(const uint8_t *address);  // ::ffff:0:0/96
// The solicited-node group of an address, and whether an address is one: ff02::1:ff00:0/104 (RFC 4291 §2.7.1).
void ip6_solicited_node(const uint8_t *address, uint8_t group[IP6_ADDRESS_BYTES]);
//@ requires \valid_read(address + (0 .. 15)); assigns \nothing;
bool ip6_is_solicited_node(const uint8_t *address);
// Whether both have the same first `bits` bits, 128 at the most.
bool ip6_prefix_equal(const uint8_t *a, const uint8_t *b, uint32_t bits);
// Whether a packet that comes from a link may have these (RFC 4291 §2.5.3, §2.5.6, §2.7; RFC 4942 §2.2): no source
// that is a group, ::1 or mapped; no destination that is ::, ::1, mapped, or a group of scope 0 or 1; and no
// link-local one with a bit set between /10 and /64, where the host keeps its zones. Whether :: may be the source,
// the message says.
bool ip6_addresses_acceptable(const uint8_t *source, const uint8_t *destination);

#endif
