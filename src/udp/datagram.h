// SPDX-License-Identifier: BSD-2-Clause
// Datagram sockets: UDP (udp.c), raw and ICMP echo (raw.c) over the same queues (datagram.c). Called by src/socket.
#ifndef UDP_DATAGRAM_H
#define UDP_DATAGRAM_H

#include "base/records.h"
#include "base/sock.h"
#include "base/table.h"
#include "ip/ip.h"
#include "udp/mtu_search.h"

struct membership {  // one multicast group a socket joined
    struct weir_addr group;
    uint8_t netif_index;  // 0: free
#if WEIR_CFG_MULTICAST_SOURCES
    struct source_filter *filter;  // NULL: all sources are heard
#endif
};
#define MEMBERSHIPS (WEIR_CFG_IGMP ? 8u : 1u)  // a socket (Linux's default limit is 20)

enum datagram_option {
    DATAGRAM_DONT_FRAGMENT = 1,
    DATAGRAM_NO_MULTICAST_LOOP = 2,
    DATAGRAM_HEADER_INCLUDED = 4,
    DATAGRAM_SHUT_READ = 8,
    DATAGRAM_SHUT_WRITE = 16,
    DATAGRAM_ADDRESS_CHOSEN = 32,  // the local address came from connect, not from bind
    DATAGRAM_CLOSED = 64,          // its user is gone: it sends what is queued, then it is freed
    DATAGRAM_REFUSED = 128,        // a send found the queue full: WRITABLE is news
};

struct datagram {
    struct sock sock;                  // first; SOCK_UDP or SOCK_RAW
    struct table_node node;            // UDP: by local port; raw: by protocol; closed: `next` links udp.closed
    struct weir_endpoint local, peer;  // peer.addr any: not connected
    struct path path;                  // of the destination used last: the peer, when connected
    // what the path was looked up for, and the source it chose
    struct weir_addr path_destination, path_wanted, path_source;
    struct records receive, send;        // a record: struct weir_message (sending: struct send_record), then the bytes
    uint32_t receive_bytes, send_bytes;  // payload queued
    uint32_t send_progress;
    int16_t error;  // pending, WEIR_OPTION_ERROR
    uint8_t type;   // enum weir_socket_type
    uint8_t protocol, ttl, tos, multicast_ttl, multicast_netif, options, path_netif;
    uint32_t icmp_filter;
    uint16_t receive_low_water;
    struct membership memberships[MEMBERSHIPS];
#if WEIR_CFG_IP_OPTIONS
    struct weir_ip_options ip_options;  // sent with each packet of IPv4
    bool takes_ip_options;              // WEIR_OPTION_RECEIVE_IP_OPTIONS
#endif
#if WEIR_CFG_DPLPMTUD
    struct mtu_search mtu_search;
    struct datagram *mtu_search_next;  // of all that search: udp.searching
    bool probing;                      // the datagram that is being queued is the probe
    bool ignores_path_mtu;             // WEIR_OPTION_DONT_FRAGMENT is 2
#endif
#if WEIR_CFG_IP6
    struct weir_addr unchosen;  // what it was bound to before connect chose an address: `any`, or 0.0.0.0
#endif
};

struct udp {
    struct table sockets;  // UDP, by local port
    struct table raws;
    struct pool pool;
    struct datagram *closed;  // still sending
#if WEIR_CFG_DPLPMTUD
    struct datagram *searching;
    uint32_t searching_due_ms;  // the first of their deadlines; true if there are any
#endif
};

#if WEIR_CFG_UDP
int udp_init(struct weir *weir);
size_t udp_bytes(void);
void udp_free(struct weir *weir);
void udp_input(struct weir *weir, struct packet *packet);
void udp_error(struct weir *weir, const struct ip_error *error);
// Sends queued datagrams, at most `quantum` frames (a datagram once begun is finished). DONE: nothing left; FULL,
// UNRESOLVED: as the link said; *more: the quantum is used up. Frees a closed socket when it is done: do not touch it
// after DONE without *more.
enum weir_tx_verdict datagram_output(struct weir *weir, struct datagram *d, uint32_t *quantum, bool *more);
void datagram_link_failed(struct weir *weir, struct datagram *d, int error);  // the neighbour did not answer
#else
static inline size_t udp_bytes(void) { return 0; }
static inline int udp_init(struct weir *weir)
{
    (void)weir;
    return WEIR_OK;
}
static inline void udp_free(struct weir *weir) { (void)weir; }
static inline enum weir_tx_verdict datagram_output(struct weir *weir, struct datagram *d, uint32_t *quantum, bool *more)
{
    (void)weir, (void)d, (void)quantum, (void)more;
    return WEIR_TX_DONE;
}
static inline void datagram_link_failed(struct weir *weir, struct datagram *d, int error)
{
    (void)weir, (void)d, (void)error;
}
#endif

struct datagram *datagram_open(struct weir *weir, enum weir_socket_type type, uint8_t protocol);  // NULL: no memory
// What is queued is still sent (datagram_output frees the socket then); the port is free at once.
void datagram_close(struct weir *weir, struct datagram *d);
int datagram_bind(struct weir *weir, struct datagram *d, const struct weir_endpoint *local);
int datagram_connect(struct weir *weir, struct datagram *d, const struct weir_endpoint *peer);
int datagram_send(struct weir *weir, struct datagram *d, const struct weir_message *message,
                  const struct weir_slice *slices, int count);
// A pending error is returned first, and cleared.
int datagram_peek(struct weir *weir, struct datagram *d, struct weir_message *message, struct weir_slice *slice);
int datagram_discard(struct weir *weir, struct datagram *d);
int datagram_shutdown(struct weir *weir, struct datagram *d, enum weir_shutdown how);
int datagram_set(struct weir *weir, struct datagram *d, enum weir_option option, int32_t value);
int datagram_get(struct weir *weir, struct datagram *d, enum weir_option option, int32_t *value);
uint8_t datagram_ready(const struct datagram *d);

// --- among the files of src/udp --------------------------------------------------------------------------------------
struct send_record {
    struct weir_message message;  // peer, local and netif_index as the datagram is to be sent
    uint16_t sum;                 // of the payload
};

#if WEIR_CFG_IP6
static inline void datagram_choose(struct datagram *d, struct weir_addr source)
{
    d->unchosen = d->local.addr;
    d->local.addr = source;
}
static inline struct weir_addr datagram_unchosen(const struct datagram *d) { return d->unchosen; }
#else
static inline void datagram_choose(struct datagram *d, struct weir_addr source) { d->local.addr = source; }
static inline struct weir_addr datagram_unchosen(const struct datagram *d) { return (void)d, weir_addr_any(); }
#endif
static inline bool datagram_connected(const struct datagram *d) { return !weir_addr_is_any(d->peer.addr); }
// Copies `length` bytes of the packet, from `at` in its current layer, into a new record. With `sum` (what is summed
// already) the copy is summed too, and taken back unless the whole is right: false. Everything else is true, also a
// drop for want of room.
bool datagram_receive(struct weir *weir, struct datagram *d, const struct packet *packet, uint32_t at, uint32_t length,
                      uint16_t port, const uint16_t *sum);
// As above for a packet that is delivered with its network header.
void datagram_receive_whole(struct weir *weir, struct datagram *d, const struct packet *packet);
int datagram_error_take(struct datagram *d);  // the pending one, and clears it
// The way of a message: d->path, looked up anew where it is another one or has aged.
int datagram_path(struct weir *weir, struct datagram *d, const struct weir_message *message);
// Notes an error for the user to find.
void datagram_fail(struct weir *weir, struct datagram *d, int error);
// Whether a packet may be for the socket, ports aside: bound address, peer's address, interface, membership. 0: no;
// higher is better.
uint32_t datagram_match(const struct datagram *d, const struct packet *packet);

// The socket's port (UDP) or identifier (ICMP echo): takes `wanted`, or a random free one for 0 (RFC 6056 §3.3.1).
int udp_port_take(struct weir *weir, struct datagram *d, struct weir_addr address, uint16_t wanted);

#if WEIR_CFG_IGMP
// Joins or leaves a group (src/socket). netif_index 0: the socket's multicast interface, or by route; leaving:
// whichever it joined on.
int datagram_membership(struct weir *weir, struct datagram *d, struct weir_addr group, uint8_t netif_index, bool join);
bool membership_has(const struct datagram *d, const struct packet *packet);
void membership_leave_all(struct weir *weir, struct datagram *d);
// NULL: the socket is no member. netif_index 0: on any interface.
struct membership *membership_find(struct datagram *d, struct weir_addr group, uint8_t netif_index);
// Which interface is meant: the one named, the socket's, or the one that a route to the group leads to. NULL: none.
struct weir_netif *membership_netif(struct weir *weir, const struct datagram *d, struct weir_addr group,
                                    uint8_t netif_index);
// WEIR_NO_MEMORY: the socket, or the instance, has as many as it can.
int membership_join(struct weir *weir, struct datagram *d, struct weir_addr group, struct weir_netif *netif,
                    struct membership **out);
void membership_leave(struct weir *weir, struct membership *m);
#else
static inline int datagram_membership(struct weir *weir, struct datagram *d, struct weir_addr group,
                                      uint8_t netif_index, bool join)
{
    (void)weir, (void)d, (void)group, (void)netif_index, (void)join;
    return WEIR_NOT_SUPPORTED;
}
static inline bool membership_has(const struct datagram *d, const struct packet *packet)
{
    (void)d, (void)packet;
    return false;
}
static inline void membership_leave_all(struct weir *weir, struct datagram *d) { (void)weir, (void)d; }
#endif
#if WEIR_CFG_MULTICAST_SOURCES
// Source filters (src/socket/sources.c), as weir/socket.h has them.
int datagram_source(struct weir *weir, struct datagram *d, const struct weir_membership *which, struct weir_addr source,
                    enum weir_source_action action);
int datagram_sources_set(struct weir *weir, struct datagram *d, const struct weir_membership *which, bool exclude,
                         const struct weir_addr *sources, uint32_t count);
int datagram_sources_get(struct datagram *d, const struct weir_membership *which, bool *exclude,
                         struct weir_addr *sources, uint32_t room);
bool membership_hears(const struct membership *m, struct weir_addr source);
void membership_filter_drop(struct weir *weir, struct weir_netif *netif, struct membership *m);
#else
static inline bool membership_hears(const struct membership *m, struct weir_addr source)
{
    return (void)m, (void)source, true;
}
static inline void membership_filter_drop(struct weir *weir, struct weir_netif *netif, struct membership *m)
{
    (void)weir, (void)netif, (void)m;
}
#endif

#if WEIR_CFG_IP_OPTIONS
void datagram_ip_options_note(const struct datagram *d, const struct packet *packet, struct weir_message *message);
static inline void datagram_ip_options_use(const struct datagram *d, struct ip_out *ip)
{
    ip->options = weir_addr_is_v4(ip->destination) && d->ip_options.length ? &d->ip_options : NULL;
}
static inline uint32_t datagram_ip_options_bytes(const struct datagram *d, struct weir_addr destination)
{
    return weir_addr_is_v4(destination) ? d->ip_options.length : 0;
}
#else
static inline void datagram_ip_options_note(const struct datagram *d, const struct packet *packet,
                                            struct weir_message *message)
{
    (void)d, (void)packet, (void)message;
}
static inline void datagram_ip_options_use(const struct datagram *d, struct ip_out *ip) { (void)d, (void)ip; }
static inline uint32_t datagram_ip_options_bytes(const struct datagram *d, struct weir_addr destination)
{
    return (void)d, (void)destination, 0;
}
#endif

#if WEIR_CFG_RAW
int raw_port_take(struct weir *weir, struct datagram *d, uint16_t wanted);
// Makes the queued bytes an echo request of this socket, of ICMP or ICMPv6. WEIR_INVALID: they are none.
int raw_echo_prepare(struct weir *weir, const struct datagram *d, bool v4, uint8_t *bytes, uint32_t length);
#else
static inline int raw_port_take(struct weir *weir, struct datagram *d, uint16_t wanted)
{
    (void)weir, (void)d, (void)wanted;
    return WEIR_NOT_SUPPORTED;
}
static inline int raw_echo_prepare(struct weir *weir, const struct datagram *d, bool v4, uint8_t *bytes,
                                   uint32_t length)
{
    (void)weir, (void)d, (void)v4, (void)bytes, (void)length;
    return WEIR_NOT_SUPPORTED;
}
#endif
#if WEIR_CFG_RAW && WEIR_CFG_IP6
// Whether what goes there is ICMPv6, whose checksum is the stack's (RFC 3542 §3.1); and its first bytes with it.
// Returns how many.
bool raw_summed6(const struct datagram *d, struct weir_addr destination);
uint32_t raw_header6(struct weir *weir, const struct ip_out *ip, const uint8_t *bytes, uint32_t length,
                     uint8_t header[8]);
#else
static inline bool raw_summed6(const struct datagram *d, struct weir_addr destination)
{
    return (void)d, (void)destination, false;
}
static inline uint32_t raw_header6(struct weir *weir, const struct ip_out *ip, const uint8_t *bytes, uint32_t length,
                                   uint8_t header[8])
{
    return (void)weir, (void)ip, (void)bytes, (void)length, (void)header, 0;
}
#endif

#endif
