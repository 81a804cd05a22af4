// SPDX-License-Identifier: BSD-2-Clause
// The native socket API: handles with generations, operations that never block, readiness events. Hold the instance's
// lock around every call (api/bsd does that for you). A handle that was closed is WEIR_BAD_SOCKET for ever, even when
// its slot serves another socket.
#ifndef WEIR_SOCKET_H
#define WEIR_SOCKET_H

#include <stddef.h>
#include <stdint.h>

#include "weir/addr.h"
#include "weir/error.h"
#include "weir/language.h"
#include "weir/netif.h"
#include "weir/options.h"

WEIR_BEGIN_DECLS

struct weir;
typedef int32_t weir_socket;  // positive; negative values are enum weir_error

enum weir_socket_type {
    WEIR_STREAM,    // TCP
    WEIR_DATAGRAM,  // UDP
    WEIR_RAW,       // IP packets of one protocol: reads see the IP header, writes add it
    WEIR_ICMP,      // ICMP echo datagrams: the identifier is the local port (as Linux's ping sockets)
};

// Readiness, a bit mask. Level-triggered in weir_socket_ready; edge-triggered in weir_ready_next.
enum weir_ready {
    WEIR_READABLE = 1,      // data, end of stream, an error, or (listener) a connection can be taken without waiting
    WEIR_WRITABLE = 2,      // at least the low-water mark of room, connected, or an error
    WEIR_URGENT = 4,        // urgent data is pending (RFC 6093); datagrams: DPLPMTUD has news (weir/dplpmtud.h)
    WEIR_HANGUP = 8,        // both directions ended
    WEIR_ERROR = 16,        // WEIR_OPTION_ERROR holds one
    WEIR_READ_CLOSED = 32,  // the peer sent FIN
};

struct weir_span {
    uint8_t *data;
    uint32_t length;
};

weir_socket weir_socket_open(struct weir *weir, enum weir_socket_type type, uint8_t protocol /* WEIR_RAW only */);
int weir_socket_bind(struct weir *weir, weir_socket socket, const struct weir_endpoint *local);
// Streams: WEIR_IN_PROGRESS, then WRITABLE or ERROR tells the end. Datagrams: sets (or with port 0 and any: clears) the
// peer.
int weir_socket_connect(struct weir *weir, weir_socket socket, const struct weir_endpoint *peer);
// backlog: complete connections that wait for accept, 1 to WEIR_CFG_LISTEN_BACKLOG_MAX (clamped).
int weir_socket_listen(struct weir *weir, weir_socket socket, uint32_t backlog);
weir_socket weir_socket_accept(struct weir *weir, weir_socket listener);
enum weir_shutdown { WEIR_SHUT_READ = 1, WEIR_SHUT_WRITE = 2, WEIR_SHUT_BOTH = 3 };
int weir_socket_shutdown(struct weir *weir, weir_socket socket, enum weir_shutdown how);
// Ends the handle. A stream goes on in the background until its data and FIN are acknowledged (or LINGER says
// otherwise).
int weir_socket_close(struct weir *weir, weir_socket socket);
// Ends the handle with RST (streams).
int weir_socket_abort(struct weir *weir, weir_socket socket);
int weir_socket_local(struct weir *weir, weir_socket socket, struct weir_endpoint *out);
int weir_socket_peer(struct weir *weir, weir_socket socket, struct weir_endpoint *out);

// --- streams, in place --------------------------------------------------------------------------------------------
// Lends up to `count` spans of free send-queue memory, `want` bytes at most; returns the bytes lent (0 is never
// returned: WEIR_AGAIN). They stay valid until commit or close; commit makes the first `bytes` of them data to send.
int weir_socket_reserve(struct weir *weir, weir_socket socket, uint32_t want, struct weir_span *spans, int count);
int weir_socket_commit(struct weir *weir, weir_socket socket, uint32_t bytes);
// Lends up to `count` slices of received data, stopping at an urgent mark, starting `skip` bytes in. Returns bytes
// lent; 0 is end of stream; WEIR_AGAIN: none yet. Valid until consume or close. consume may send a window update (next
// poll).
int weir_socket_peek(struct weir *weir, weir_socket socket, uint32_t skip, struct weir_slice *slices, int count);
int weir_socket_consume(struct weir *weir, weir_socket socket, uint32_t bytes);
// What has been received is acknowledged with the next poll, not after the delay (RFC 1122 §4.2.3.2); WEIR_OK also when
// nothing is owed.
int weir_socket_acknowledge(struct weir *weir, weir_socket socket);
// Copying forms. Return bytes moved, or an error.
int weir_socket_write(struct weir *weir, weir_socket socket, const void *data, uint32_t bytes);
int weir_socket_read(struct weir *weir, weir_socket socket, void *data, uint32_t bytes);
// Urgent data: the byte before `mark` more bytes written is urgent / reads the urgent byte (not OOBINLINE).
int weir_socket_write_urgent(struct weir *weir, weir_socket socket, const void *data, uint32_t bytes);
int weir_socket_read_urgent(struct weir *weir, weir_socket socket, uint8_t *byte, int peek);
int weir_socket_at_mark(struct weir *weir, weir_socket socket);

// --- datagrams (WEIR_DATAGRAM, WEIR_RAW, WEIR_ICMP) -----------------------------------------------------------------
#if WEIR_CFG_IP_OPTIONS
#define WEIR_IP_OPTIONS_MAX 40
// Options of an IPv4 header, as on the wire (RFC 791 §3.1); padded to whole words where they are sent.
struct weir_ip_options {
    uint8_t length;
    uint8_t bytes[WEIR_IP_OPTIONS_MAX];
};
#endif
struct weir_message {
    struct weir_endpoint peer;  // source of a received, destination of a sent one (port 0 and any: the connected peer)
    struct weir_addr local;     // address it was sent to / source to use (any: chosen by route)
    uint8_t netif_index;        // arrived on / to leave by (0: by route)
    uint8_t ttl;                // 0 when sending: the socket's
    uint8_t tos;
    uint32_t length;  // bytes of the datagram (received: also of what did not fit)
#if WEIR_CFG_IP_OPTIONS
    struct weir_ip_options options;  // received, where WEIR_OPTION_RECEIVE_IP_OPTIONS asks for them; none are sent
#endif
};
// Queues one datagram gathered from slices; the next poll sends it. Returns its length. AGAIN: the send queue is full.
int weir_socket_send_message(struct weir *weir, weir_socket socket, const struct weir_message *message,
                             const struct weir_slice *slices, int count);
// Lends the oldest datagram, in one piece; AGAIN: none. Valid until weir_socket_discard or close.
int weir_socket_peek_message(struct weir *weir, weir_socket socket, struct weir_message *message,
                             struct weir_slice *slice);
int weir_socket_discard(struct weir *weir, weir_socket socket);

// --- readiness -------------------------------------------------------------------------------------------------------
int weir_socket_ready(struct weir *weir, weir_socket socket);  // enum weir_ready bits now, or an error
// Takes the next socket with news off the ready list: its handle, and in *events what became true since; 0: none left.
// Drain it after weir_poll; then unlock; then wake tasks or run callbacks.
weir_socket weir_ready_next(struct weir *weir, uint32_t *events);
// Whether calls since the last weir_poll left something to transmit, an abort its RST, too: then the poller must be
// told (port->kick).
int weir_output_pending(const struct weir *weir);
// A pointer of the user's (a task, a wait object) kept with the socket; NULL by default. So that several users can
// share an instance it points, by convention, at a struct weir_watch, and whoever drains the ready list calls it
// (weir_dispatch does).
struct weir_watch {
    // `events` became true since the last call (enum weir_ready, edges). With the lock held, outside weir_poll and
    // weir_input: may use the socket API, must not block.
    void (*event)(struct weir_watch *watch, weir_socket socket, uint32_t events);
};
// Takes at most `most` sockets off the ready list and calls their watches; returns how many it took.
uint32_t weir_dispatch(struct weir *weir, uint32_t most);
int weir_socket_set_user(struct weir *weir, weir_socket socket, void *user);
void *weir_socket_user(struct weir *weir, weir_socket socket);

// --- options ---------------------------------------------------------------------------------------------------------
enum weir_option {                     // value; default; which sockets
    WEIR_OPTION_ERROR,                 // get: the pending enum weir_error, and clears it
    WEIR_OPTION_TYPE,                  // get: enum weir_socket_type
    WEIR_OPTION_REUSE_ADDRESS,         // 0/1; 0; bind beside TIME-WAIT and (datagram multicast) others
    WEIR_OPTION_KEEPALIVE,             // 0/1; 0; stream (RFC 9293 §3.8.4)
    WEIR_OPTION_KEEPALIVE_IDLE_S,      // 1–32767; 7200
    WEIR_OPTION_KEEPALIVE_INTERVAL_S,  // 1–32767; 75
    WEIR_OPTION_KEEPALIVE_COUNT,       // 1–127; 9
    WEIR_OPTION_LINGER_S,              // −1 off; 0: close sends RST; >0: seconds close may wait (api/bsd blocks)
    WEIR_OPTION_SEND_BUFFER,           // bytes; limit of the send queue
    WEIR_OPTION_RECEIVE_BUFFER,        // bytes; limit of the receive queue. Never moves the advertised right edge left;
                                       // without an allocator cut to the size of the queue
    WEIR_OPTION_SEND_LOW_WATER,        // bytes of room that make WRITABLE; 1; datagrams
    WEIR_OPTION_RECEIVE_LOW_WATER,  // bytes that make READABLE; 1; so do the end, an error, and a window too full for
                                    // more
    WEIR_OPTION_OOB_INLINE,         // 0/1; 0
    WEIR_OPTION_BROADCAST,          // 0/1; 0; datagrams to broadcast addresses
    WEIR_OPTION_BIND_NETIF,         // interface index; 0 any
    WEIR_OPTION_NO_DELAY,           // 0/1; 0; Nagle off
    WEIR_OPTION_CORK,               // 0/1; 0; only full segments leave, or what has waited for an RTO
    WEIR_OPTION_QUICK_ACK,          // 0/1; 0; every segment acknowledged at once
    WEIR_OPTION_MAX_SEGMENT,        // bytes, 64–65495; set before connect/listen
    WEIR_OPTION_USER_TIMEOUT_MS,    // 0: default; get: also what was taken over from the peer (RFC 5482)
    WEIR_OPTION_DEFER_ACCEPT_S,     // 0: off; listener
    WEIR_OPTION_TTL,                // 1–255; 64, or as IPv6 routers say (again: −1)
    WEIR_OPTION_TOS,                // 0–255; 0 (ECN bits are the stack's on streams)
    WEIR_OPTION_DONT_FRAGMENT,      // 0/1; stream 1, datagram 0: path MTU discovery; 2: as weir/dplpmtud.h has it
    WEIR_OPTION_MTU,                // get: path MTU of a connected socket
    WEIR_OPTION_MULTICAST_TTL,      // 0–255; 1
    WEIR_OPTION_MULTICAST_LOOP,     // 0/1; 1
    WEIR_OPTION_MULTICAST_NETIF,    // interface index; 0 by route
    WEIR_OPTION_HEADER_INCLUDED,    // 0/1; 0; WEIR_RAW
    WEIR_OPTION_ICMP_FILTER,        // bit mask of ICMP types not wanted; WEIR_RAW with protocol 1
    WEIR_OPTION_READABLE_BYTES,     // get: FIONREAD
    WEIR_OPTION_UNSENT_BYTES,       // get: queued and not yet sent (SIOCOUTQNSD)
    WEIR_OPTION_UNACKED_BYTES,      // get: queued or in flight (SIOCOUTQ)
    WEIR_OPTION_LISTENING,          // get: 0/1
    WEIR_OPTION_ECN,  // enum weir_ecn; PASSIVE; stream: set before connect or listen; get, once connected: what was
                      // agreed
    WEIR_OPTION_MAX_PACING_RATE,  // bytes/s; 0: none. Set, the stream is paced; INT32_MAX: at TCP's own rate, without
                                  // limit
    WEIR_OPTION_RTO_MIN_US,  // µs, 1000–3000000; 200000 (WEIR_CFG_TCP_RTO_MIN_MS); stream: the RTO is never less than
                             // this above SRTT
    WEIR_OPTION_SEND_DEADLINE_US,  // µs, 0–10000000; 0: none; stream: what is written is of use for so long: sent again
                                   // sooner, bundled (docs/realtime.md)
    WEIR_OPTION_USER_TIMEOUT_OPTION,  // enum weir_user_timeout_option; OFF; stream: the user timeout is told to the
                                      // peer, and the peer's heard
#if WEIR_CFG_IP6
    WEIR_OPTION_FAMILY,  // 0: both; 4, 6: of IPv4, of IPv6 alone; 0; set before bind and connect (WEIR_INVALID after)
#endif
#if WEIR_CFG_IP_OPTIONS
    WEIR_OPTION_RECEIVE_IP_OPTIONS,  // 0/1; 0; datagrams are told with the IPv4 options they came with; of a stream,
                                     // set before connect or listen, those of the peer's SYN are kept
#endif
    WEIR_OPTION_COUNT
};
// Explicit congestion notification on streams: routers mark packets in place of dropping them (RFC 3168).
enum weir_ecn {
    WEIR_ECN_DEFAULT,   // only in struct weir_config: what is built in
    WEIR_ECN_OFF,       // neither asked for nor agreed to
    WEIR_ECN_PASSIVE,   // agreed to when the peer asks (Linux's tcp_ecn=2)
    WEIR_ECN_ON,        // also asked for
    WEIR_ECN_ACCURATE,  // accurate feedback (RFC 9768) asked for and agreed to; RFC 3168's with a peer that knows only
                        // that
};
// Whether both ends tell each other how long data may stay unacknowledged (RFC 5482). Off: a stranger could have us
// keep connections.
enum weir_user_timeout_option {
    WEIR_UTO_OFF,     // neither told nor heard
    WEIR_UTO_ON,      // told; the peer's is followed, within limits, as long as USER_TIMEOUT_MS is 0
    WEIR_UTO_FOLLOW,  // told; the peer's is followed also where USER_TIMEOUT_MS was set
};
// WEIR_INVALID: value outside the range. WEIR_NOT_SUPPORTED: not for this socket type or profile.
int weir_socket_set(struct weir *weir, weir_socket socket, enum weir_option option, int32_t value);
int weir_socket_get(struct weir *weir, weir_socket socket, enum weir_option option, int32_t *value);
// The interface with this index, as WEIR_OPTION_BIND_NETIF and struct weir_message name it; NULL: none.
struct weir_netif *weir_netif_at(struct weir *weir, uint8_t index);
int weir_socket_set_congestion(struct weir *weir, weir_socket socket, const char *name);
const char *weir_socket_congestion(struct weir *weir, weir_socket socket);
int weir_socket_membership(struct weir *weir, weir_socket socket, struct weir_addr group, uint8_t netif_index,
                           int join);
#if WEIR_CFG_IP_OPTIONS
// The IPv4 options of every packet that a socket sends; length 0: none. In fragments after the first stand those that
// are to be copied. A stream's take of the room of its segments, and a listener's are inherited; a connection whose
// segments are too small for them, or that is of IPv6, goes without. Where a record of the way or of times stands among
// them, sent or received, this host's address stands in it, and its time, which is not one of the day (RFC 791 §3.1).
// WEIR_INVALID: longer than WEIR_IP_OPTIONS_MAX, malformed, or with a source route. WEIR_NO_MEMORY.
int weir_socket_set_ip_options(struct weir *weir, weir_socket socket, const void *bytes, int length);
int weir_socket_ip_options(struct weir *weir, weir_socket socket, struct weir_ip_options *options);
// Those that the SYN of a stream's peer came with, where WEIR_OPTION_RECEIVE_IP_OPTIONS asked for them; of a handshake
// by SYN cookie none are known. WEIR_NOT_SUPPORTED: not a stream.
int weir_socket_received_ip_options(struct weir *weir, weir_socket socket, struct weir_ip_options *options);
#endif
#if WEIR_CFG_MULTICAST_SOURCES
// --- source filters of datagram sockets' memberships (RFC 3678) ------------------------------------------------------
// A member hears all sources, all but some, or some alone. Zones of link-local sources are the interface's.
struct weir_membership {
    struct weir_addr group;
    uint8_t netif_index;  // 0: the socket's multicast interface, or by route; where it is a member: whichever it is
};
enum weir_source_action {
    WEIR_SOURCE_JOIN,     // one source more is heard; the first joins the group, for this source alone
    WEIR_SOURCE_LEAVE,    // one less; the last leaves the group
    WEIR_SOURCE_BLOCK,    // a member of all sources hears this one no more
    WEIR_SOURCE_UNBLOCK,  // and hears it again
};
// WEIR_INVALID: group and source are no such addresses, not of one family, or the membership is of the other kind (for
// BLOCK and UNBLOCK also: there is none). WEIR_NO_ADDRESS: the source is named already, or (LEAVE, UNBLOCK) is not.
// WEIR_NO_MEMORY: there are WEIR_CFG_MULTICAST_SOURCES, of this socket, or of all that include sources of the group.
int weir_socket_source(struct weir *weir, weir_socket socket, const struct weir_membership *which,
                       struct weir_addr source, enum weir_source_action action);
// Sets the whole filter, and joins where the socket is no member; to include none is to leave. Errors as above.
int weir_socket_sources_set(struct weir *weir, weir_socket socket, const struct weir_membership *which, int exclude,
                            const struct weir_addr *sources, int count);
// The filter: *exclude is 0 or 1, and at most `room` sources are written. Returns how many there are; WEIR_NO_ADDRESS:
// not a member.
int weir_socket_sources(struct weir *weir, weir_socket socket, const struct weir_membership *which, int *exclude,
                        struct weir_addr *sources, int room);
#endif

WEIR_END_DECLS

#endif
