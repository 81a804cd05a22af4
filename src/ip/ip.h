// SPDX-License-Identifier: BSD-2-Clause
// The network layer's contract with TCP, UDP and raw sockets. No file above src/ip names an address family.
#ifndef IP_IP_H
#define IP_IP_H

#include "base/addr.h"
#include "base/records.h"
#include "ip/families.h"
#include "ip/flow_entry.h"
#include "ip/fragment.h"
#include "ip/names.h"
#include "link/link.h"
#include "weir/error.h"
#include "weir/handler.h"

// --- up --------------------------------------------------------------------------------------------------------------
// An ICMP error (or a local failure) about a packet of ours, after the checks that need no connection.
struct ip_error {
    int error;  // enum weir_error: REFUSED, HOST_UNREACHABLE, NETWORK_UNREACHABLE, TOO_BIG, …
    bool hard;  // RFC 1122 §4.2.3.9 would let it end a connection; RFC 5927 says TCP must not in synchronised states
    uint16_t mtu;  // TOO_BIG: the new path MTU, already bounded below (never under 576 unless the interface is smaller)
    struct weir_addr local, remote;  // source and destination of the quoted packet
    const uint8_t *transport;        // quoted transport header, at least 8 bytes
    uint32_t transport_length;
};
// Transport protocols built in: a const table in src/instance.c, found through weir->protocols.
struct ip_protocol {
    uint8_t number;
    enum ip_versions { IP_VERSION_4 = 1, IP_VERSION_6 = 2, IP_VERSIONS = 3 } versions;  // that it is a protocol of
    void (*input)(struct weir *weir, struct packet *packet);         // packet at the transport header
    void (*error)(struct weir *weir, const struct ip_error *error);  // may be NULL
};

// Upcalls to raw sockets (src/udp/raw.c), so that src/ip depends on nothing above it.
#if WEIR_CFG_RAW
// Raw sockets see every packet of their protocol, before its handler; packet at the transport header. Returns whether
// one took it.
bool raw_input(struct weir *weir, struct packet *packet);
bool raw_listening(const struct weir *weir);  // whether there is any raw socket
// an ICMP echo reply for a WEIR_ICMP socket; packet at the ICMP header
bool raw_echo_input(struct weir *weir, struct packet *packet);
void raw_error(struct weir *weir, uint8_t protocol, const struct ip_error *error);
#else
static inline bool raw_listening(const struct weir *weir) { return (void)weir, false; }
static inline bool raw_input(struct weir *weir, struct packet *packet)
{
    (void)weir, (void)packet;
    return false;
}
static inline bool raw_echo_input(struct weir *weir, struct packet *packet)
{
    (void)weir, (void)packet;
    return false;
}
static inline void raw_error(struct weir *weir, uint8_t protocol, const struct ip_error *error)
{
    (void)weir, (void)protocol, (void)error;
}
#endif

// --- down ------------------------------------------------------------------------------------------------------------
struct ip_out {
    struct weir_addr source, destination;
    uint8_t protocol, ttl, tos;
    bool dont_fragment;
    bool router_alert;  // IGMP (RFC 2236 §2): 4 bytes of option; only where IGMP is built
#if WEIR_CFG_IP_OPTIONS
    const struct weir_ip_options
        *options;  // of IPv4, padded; NULL: none. Not with router_alert; ip_outbox_push copies them
#endif
#if WEIR_CFG_ARP_CACHE
    const uint8_t *link_source;  // of what is answered (ip_answers); ip_outbox_push copies the bytes
#endif
#if WEIR_CFG_IP6
    uint32_t flow_label;  // 20 bits; 0: one for the addresses and the protocol
#endif
};

#if WEIR_CFG_IP6
static inline struct ip_params ip_out_params(const struct ip_out *ip)
{
    return (struct ip_params){.ttl = ip->ttl, .tos = ip->tos, .flow_label = ip->flow_label};
}
#else
static inline struct ip_params ip_out_params(const struct ip_out *ip)
{
    return (struct ip_params){.ttl = ip->ttl, .tos = ip->tos};
}
#endif

struct route {
    struct weir_addr prefix, gateway;
    struct weir_netif *netif;  // NULL: free entry
    uint8_t prefix_length, metric;
    bool connected;  // made from the interface's address, goes with it
#if WEIR_CFG_IP6
    bool advertised;  // by a router, until then
    uint8_t silent;   // how often its gateway was asked in vain since it answered; 0: it is there, as far as we know
    uint64_t until_us;
#endif
};

struct ip {
    uint16_t generation;  // of cached paths; never 0
    uint16_t route_count;
    struct route routes[WEIR_CFG_ROUTES];  // [0, route_count) in use: longest prefix first, then lowest metric
    struct records outbox;                 // replies waiting for weir_poll (src/ip/outbox.c)
    uint32_t outbox_progress;              // of the first record, as ip_output_datagram keeps it
    uint32_t outbox_blocked_ms;            // since when the first record has been refused
    bool outbox_blocked;
    bool outbox_due;  // something is in it, and is not blocked
#if WEIR_CFG_FAST_PATH
    uint32_t flow_generation;  // of paths and link addresses (templates_changed)
    struct flow flows[WEIR_CFG_FLOWS];
#endif
#if WEIR_CFG_FRAGMENTS
    struct fragments fragments;  // src/ip/fragment.c
#endif
#if WEIR_CFG_ICMP_ERRORS
    struct icmp_limit *limits;         // token buckets per destination, carved (src/ip/icmp_error.c)
    struct pmtu *pmtu;                 // path MTU cache, carved (src/ip/pmtu.c)
    uint32_t pmtu_count, pmtu_due_ms;  // entries in use; when the first of them ends
#endif
#if WEIR_CFG_IP6
    struct names names;  // what routers say about DNS (src/ip/names.c)
#endif
#if IP_GROUPS
    struct group *groups;  // memberships of the instance, carved (src/ip/group.c)
    uint32_t group_count;
#endif
#if WEIR_CFG_MULTICAST_SOURCES
    struct pool source_filters, source_states;  // of members, and of groups (src/ip/sources.c)
#endif
};

int ip_init(struct weir *weir);
size_t ip_bytes(void);
void ip_free(struct weir *weir);
// packet at the network header; checks, reassembles, delivers
void ip4_input(struct weir *weir, struct packet *packet);
void ip6_input(struct weir *weir, struct packet *packet);
// Timers of reassembly, IGMP, path MTU and ICMP limits, and the outbox. Returns the next deadline.
uint64_t ip_poll(struct weir *weir, uint64_t now_us);
uint64_t outbox_poll(struct weir *weir, uint64_t now_us);  // the outbox alone; returns its next deadline

// Finds the way: fills *path (path->mtu from the path MTU cache). `source` any: chosen (RFC 1122 §3.3.4.3) and stored;
// otherwise it must be ours. netif_bound 0: by route. Returns WEIR_OK, WEIR_NO_ROUTE, WEIR_NO_ADDRESS, WEIR_NETIF_DOWN.
int ip_path_find(struct weir *weir, struct path *path, struct weir_addr *source, struct weir_addr destination,
                 uint8_t netif_bound);
// The way back to where `packet` came from, for replies (without a neighbour cache: its link address).
int ip_path_reply(struct weir *weir, struct path *path, const struct packet *packet);
// A path used before may be good no longer: looked up again. Without a neighbour cache it is all that is known of the
// peer, and stays as long as its interface does; only what it carries is asked again.
int ip_path_renew(struct weir *weir, struct path *path, struct weir_addr *source, struct weir_addr destination,
                  uint8_t netif_bound);
#if WEIR_CFG_ARP_CACHE
// ip_path_reply, and the source of the reply: one of ours also where the packet went to many.
int ip_path_answer(struct weir *weir, struct path *path, struct weir_addr *source, const struct packet *packet);
static inline void ip_path_heard(struct path *path, const struct packet *packet) { (void)path, (void)packet; }
#else
// The peer of this path has sent the packet, which is good: answers follow it.
static inline void ip_path_heard(struct path *path, const struct packet *packet)
{
    if (packet->link_source)
        memcpy(path->link_address, packet->link_source, sizeof path->link_address);
}
#endif
// What a connection sends along the path, or its acknowledgements, seem not to arrive: an IPv6 next hop is asked
// whether it is there, rather than believed for as long as it was last confirmed.
#if WEIR_CFG_IP6
void ip_path_doubt(const struct weir *weir, const struct path *path);
#else
static inline void ip_path_doubt(const struct weir *weir, const struct path *path) { (void)weir, (void)path; }
#endif
// False: look it up anew before use; its netif may be gone.
bool ip_path_valid(const struct weir *weir, const struct path *path);
// The interface's addresses, flags or carrier changed: its connected routes follow, cached paths are looked up anew,
// memberships reported again. WEIR_NO_MEMORY: the routing table has no room for a connected route.
int ip_netif_changed(struct weir *weir, struct weir_netif *netif);
// The interface goes: its routes and memberships with it.
void ip_netif_removed(struct weir *weir, struct weir_netif *netif);

// Sends the packet in `out` (transport header at out->head) in one piece: writes the network header, hands to the link.
// The caller keeps it within path->mtu (or uses tx.segment_size), and the path valid: through an invalid one the packet
// is dropped as if lost (DONE, IP_NO_ROUTE). The transport checksum is the caller's. When the device computes it, the
// caller sets tx.checksum_offset (from the transport header) and any nonzero tx.checksum_start; the latter becomes the
// distance from the network header here.
enum weir_tx_verdict ip_output(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out,
                               struct sock *waiter);
// Sends a datagram of any size: `header` (transport, at most 60 bytes, checksum done) and `payload` in one piece.
// Fragments when larger than path->mtu and allowed; *progress tells what of it has been sent (start with 0; keep it
// between calls that answer FULL or UNRESOLVED; bytes in the low half, the identification of its fragments in the high
// half). A datagram that may not be fragmented is dropped: *error gets WEIR_TOO_BIG and the answer is DONE.
enum weir_tx_verdict ip_output_datagram(struct weir *weir, struct path *path, const struct ip_out *ip,
                                        const uint8_t *header, uint32_t header_length, const uint8_t *payload,
                                        uint32_t payload_length, uint32_t *progress, struct sock *waiter, int *error);
// Sends a whole IPv4 packet that the user made (raw sockets with HEADER_INCLUDED): total length and checksum are filled
// in, also source and identification where 0. Larger than path->mtu: *error gets WEIR_TOO_BIG; malformed: WEIR_INVALID;
// the answer is DONE.
#if WEIR_CFG_RAW && WEIR_CFG_IP4
enum weir_tx_verdict ip_output_header_included(struct weir *weir, struct path *path, struct weir_addr source,
                                               const uint8_t *bytes, uint32_t length, struct sock *waiter, int *error);
#else
static inline enum weir_tx_verdict ip_output_header_included(struct weir *weir, struct path *path,
                                                             struct weir_addr source, const uint8_t *bytes,
                                                             uint32_t length, struct sock *waiter, int *error)
{
    (void)weir, (void)path, (void)source, (void)bytes, (void)length, (void)waiter;
    *error = WEIR_NOT_SUPPORTED;
    return WEIR_TX_DONE;
}
#endif
// `ip` is of a reply to `packet` by `path`. Where the neighbour cache has no place for the source, it goes to where the
// packet came from.
#if WEIR_CFG_ARP_CACHE
static inline void ip_answers(struct ip_out *ip, const struct path *path, const struct packet *packet)
{
    ip->link_source = path->netif == packet->netif ? packet->link_source : NULL;
}
#else
static inline void ip_answers(struct ip_out *ip, const struct path *path, const struct packet *packet)
{
    (void)ip, (void)path, (void)packet;
}
#endif
// Queues a transport packet for the next poll: a reply nobody waits for. `path` is copied; path.netif NULL: routed when
// sent. Dropped and counted when the outbox is full. Returns where to write `length` bytes of transport header and
// payload (checksum done), or NULL. weir_poll sends it: no deadline is needed.
uint8_t *ip_outbox_push(struct weir *weir, const struct path *path, const struct ip_out *ip, uint32_t length);

#if WEIR_CFG_IP6
// The address with its zone, where it is one that has a zone and none is given: of the bound interface, or of the only
// one there is.
struct weir_addr ip_addr_complete(const struct weir *weir, struct weir_addr address, uint8_t netif_bound);
#else
static inline struct weir_addr ip_addr_complete(const struct weir *weir, struct weir_addr address, uint8_t netif_bound)
{
    return (void)weir, (void)netif_bound, address;
}
#endif
// an address of one of our interfaces (127/8 with loopback)
bool ip_is_ours(const struct weir *weir, struct weir_addr address);
#if WEIR_CFG_IP4
bool ip_is_broadcast(const struct weir *weir, struct weir_addr address);  // limited, or of a connected subnet
#else
static inline bool ip_is_broadcast(const struct weir *weir, struct weir_addr address)
{
    return (void)weir, (void)address, false;
}
#endif
// Bytes of network header that ip_output adds.
static inline uint32_t ip_header_bytes(struct weir_addr destination) { return ip_family_of(destination)->header_bytes; }

// Multicast membership of the instance (reference-counted per interface and group).
#if IP_GROUPS
// WEIR_INVALID: not a multicast address; WEIR_NO_MEMORY: WEIR_CFG_MULTICAST_GROUPS are in use. leave: WEIR_NO_ADDRESS:
// was not joined.
int ip_group_join(struct weir *weir, struct weir_netif *netif, struct weir_addr group);
int ip_group_leave(struct weir *weir, struct weir_netif *netif, struct weir_addr group);
// Whether packets to the group are taken; netif NULL: on any interface. With IGMP always true for all hosts, 224.0.0.1.
bool ip_group_member(const struct weir *weir, const struct weir_netif *netif, struct weir_addr group);
void igmp_input(struct weir *weir, struct packet *packet);
#else
static inline bool ip_group_member(const struct weir *weir, const struct weir_netif *netif, struct weir_addr group)
{
    (void)weir, (void)netif, (void)group;
    return false;
}
static inline int ip_group_join(struct weir *weir, struct weir_netif *netif, struct weir_addr group)
{
    (void)weir, (void)netif, (void)group;
    return WEIR_NOT_SUPPORTED;
}
static inline int ip_group_leave(struct weir *weir, struct weir_netif *netif, struct weir_addr group)
{
    (void)weir, (void)netif, (void)group;
    return WEIR_NOT_SUPPORTED;
}
#endif

#if WEIR_CFG_MULTICAST_SOURCES
// The sources that one member of a group hears (RFC 3678). A member without a filter excludes none.
struct source_filter {
    struct source_filter *next;  // of the same group
    bool exclude;                // all but the sources; otherwise the sources alone
    uint16_t count;
    struct weir_addr sources[WEIR_CFG_MULTICAST_SOURCES];
};
struct source_filter *ip_source_filter_new(struct weir *weir);  // NULL: no memory
void ip_source_filter_free(struct weir *weir, struct source_filter *filter);
// Exchanges the filter of a member, who joined before: NULL is none. The old one is freed. WEIR_NO_MEMORY: all members
// would include more than WEIR_CFG_MULTICAST_SOURCES together; nothing has changed then.
int ip_group_filter(struct weir *weir, struct weir_netif *netif, struct weir_addr group, struct source_filter *old,
                    struct source_filter *next);
#endif

#endif
