// SPDX-License-Identifier: BSD-2-Clause
// The compact stack: a whole host that only serves, for the tiny profile. Ethernet, ARP answers, IPv4 without
// fragments, ICMP echo, and TCP that is opened by the peer; the same public interface, in place of src/link, src/ip,
// src/tcp and src/socket. With WEIR_CFG_IP4 0 it speaks IPv6 in IPv4's place (family6.h). Every answer goes to the link
// address that the question came from, so there are no routes and no neighbours. All state is one struct, sized by the
// options: sockets and queues of fixed number and size; a handshake under way and a connection in TIME-WAIT are entries
// of 32 bytes. What weir_create's config asks beyond the options has no effect; nothing is counted but what struct
// weir_netif_stats shows.
#ifndef COMPACT_COMPACT_H
#define COMPACT_COMPACT_H

#include "base/bytes.h"
#include "base/checksum.h"
#include "compact/limits.h"
#include "compact/family4.h"
#include "compact/family6.h"
#include "weir/instance.h"
#include "weir/socket.h"
#include "weir/stats.h"

// In a build of one translation unit everything but the public interface is private to it.
#ifdef WEIR_ONE_UNIT
#define LOCAL static
#else
#define LOCAL
#endif

#define LISTENERS ((uint32_t)WEIR_CFG_LISTENERS)
#define CONNS ((uint32_t)WEIR_CFG_SOCKETS - LISTENERS)
#if WEIR_CFG_COMPACT_UDP
#define DATAGRAMS ((uint32_t)WEIR_CFG_DATAGRAM_SOCKETS)
#else
#define DATAGRAMS 0u
#endif
#define DATAGRAM_BYTES ((uint32_t)WEIR_CFG_DATAGRAM_RECEIVE_BYTES)
#define INDEX_MASK 0xffu  // of a handle: which socket
#define HALF_OPENS ((uint32_t)WEIR_CFG_TCP_HALF_OPEN)
#define TIME_WAITS ((uint32_t)WEIR_CFG_TCP_TIME_WAIT)
#define SEND_BYTES ((uint32_t)WEIR_CFG_TCP_SEND_BYTES)
#define RECEIVE_BYTES ((uint32_t)WEIR_CFG_TCP_RECEIVE_BYTES)
#define RTO_MAX_US (WEIR_CFG_TCP_RTO_MAX_MS * 1000u)
#define RTO_INITIAL_US 1000000u    // RFC 6298 §2.1
#define RTO_AFTER_SYN_US 3000000u  // §5.7: the SYN was retransmitted
#define WAIT_FOREVER UINT32_MAX    // µs until a deadline that does not come

// A TCP segment coming in, in host order. `sequence` and `length` shrink when parts lie outside the window.
struct segment {
    const struct weir_frame *frame;
    const uint8_t *options;  // they end where the payload begins
    struct peer peer;        // without an MSS
    uint32_t sequence, ack;
    uint32_t length, offset;  // of the payload; where it begins in the frame
    uint16_t window;
    uint8_t flags;  // enum tcp_flag
};
// Sequence space it takes: payload, SYN and FIN.
static inline uint32_t segment_space(const struct segment *segment)
{
    return segment->length + (segment->flags & 1u) + (segment->flags >> 1 & 1u);
}

// A handshake that waits for its last ACK (timer: the SYN-ACK's), or a connection in TIME-WAIT (timer: its end).
enum entry_state { ENTRY_FREE, ENTRY_HALF_OPEN, ENTRY_TIME_WAIT };
struct entry {
    struct peer peer;
    uint32_t sequence;  // of our next byte
    uint32_t expected;  // of the peer's
    uint32_t due;       // low 32 bits of µs
    uint8_t state, tries;
    uint8_t send_now;  // flags of a segment that is due: SYN and ACK, or ACK
};

// What both kinds of sockets begin with.
struct socket {
    void *user;
    weir_socket handle;  // of the present or last use
    uint8_t state;       // enum weir_tcp_state
    uint8_t events;      // enum weir_ready: became true and was not told
    bool open;           // the handle is valid
};
struct listener {
    struct socket socket;
    uint8_t port[2];  // network order
};

// It begins as a listener does.
struct datagram {
    struct socket socket;
    uint8_t port[2];  // network order; 0: not bound
    bool waiting;     // just behind the port (weir_socket_open): `data` came from `from`, and nobody took it yet
    uint16_t length;
    struct peer from, seen;  // without an MSS; `seen`: of the datagram that the user looked at last
    uint8_t data[DATAGRAM_BYTES];
};

enum conn_flag {
    CONN_WAITS_ACCEPT = 1,
    CONN_FIN_QUEUED = 2,  // our FIN follows the last byte
    CONN_FIN_RECEIVED = 4,
    CONN_READ_SHUT = 8,
    CONN_ACK_NOW = 0x10,
    CONN_ACK_DELAYED = 0x20,     // ack_due is meaningful
    CONN_TIMER = 0x40,           // due is meaningful: retransmission or probe; FIN-WAIT-2
    CONN_AGAIN = 0x80,           // the first segment goes again, whatever cwnd says
    CONN_FORCE = 0x100,          // a probe: something goes, whatever windows say
    CONN_RESET = 0x200,          // it is closed, and owes the peer a RST
    CONN_RECOVERY = 0x400,       // fast recovery, until una reaches recover
    CONN_WRITE_BLOCKED = 0x800,  // the user found no room
    CONN_TIMING = 0x1000,        // rtt_sequence is being timed
};

// Bytes, halfwords, words, arrays: small offsets make short instructions.
struct conn {
    struct socket socket;
    uint16_t flags;  // enum conn_flag
    uint8_t duplicate_acks;
    int8_t error;                         // enum weir_error that ended it
    uint16_t window, window_max;          // the peer's
    uint16_t send_at, send_length;        // ring: place of the byte `una`, bytes queued
    uint16_t receive_at, receive_length;  // ring: oldest unread byte, bytes in order
    uint16_t cwnd, ssthresh;              // RFC 5681
    struct peer peer;
    uint32_t una, nxt, max;    // max: end of all that was ever sent; nxt falls back to una at a timeout
    uint32_t expected, edge;   // RCV.NXT, and the right edge promised, which never moves left
    uint32_t due, ack_due;     // of the timers, low 32 bits of µs
    uint32_t recover;          // RFC 6582
    uint32_t update_sequence;  // SND.WL1
    uint32_t progress;         // when the peer last took something, or told us to wait (user timeout)
    uint32_t rtt_sequence, rtt_started;
    uint32_t srtt8, rttvar4;            // RFC 6298, scaled as in src/tcp/rtt.c; srtt8 0: no sample
    uint32_t rto;                       // µs, backed off
    uint32_t challenged;                // when an unacceptable segment was last answered
    uint32_t beyond_start, beyond_end;  // data kept beyond a hole; equal: none
    uint8_t send[SEND_BYTES], receive[RECEIVE_BYTES];
};

struct weir {
    uint64_t now_us;
    const struct weir_port *port;
    struct weir_netif *netif;
#if !WEIR_CFG_IP4
    struct nd_state nd;
#endif
    bool output_pending;
    bool entries_live;  // false: no entry is in use
    uint16_t outbox_length;
    uint32_t secret[4];                             // RFC 6528
    struct entry entries[HALF_OPENS + TIME_WAITS];  // handshakes, then TIME-WAIT
    struct listener listeners[LISTENERS];
    uint8_t outbox[WEIR_CFG_OUTBOX_BYTES];  // frames, each behind its length of two bytes
    struct conn conns[CONNS];
#if WEIR_CFG_COMPACT_UDP
    struct datagram datagrams[DATAGRAMS];
#endif
};

#if WEIR_CFG_NETIF_LEAN
static inline void count_received(struct weir_netif *netif) { (void)netif; }
static inline void count_sent(struct weir_netif *netif) { (void)netif; }
#else
static inline void count_received(struct weir_netif *netif) { netif->stats.rx_frames++; }
static inline void count_sent(struct weir_netif *netif) { netif->stats.tx_frames++; }
#endif

static inline uint32_t now(const struct weir *weir) { return (uint32_t)weir->now_us; }

// instance.c
LOCAL uint32_t isn(const struct weir *weir, const struct peer *peer);

// netif.c
// A frame of `length` bytes for weir_poll to send; the Ethernet header is written. NULL: no room, it is lost.
LOCAL uint8_t *outbox_frame(struct weir *weir, const uint8_t mac[6], uint32_t length);
LOCAL void outbox_send(struct weir *weir);
LOCAL void ethernet_header(const struct weir *weir, uint8_t *head, const uint8_t mac[6], uint32_t type);
// Sends `length` bytes, of which the headers are the first slice. false: FULL, nothing was taken.
LOCAL bool frame_send(struct weir *weir, const struct weir_slice *slices, uint32_t count, uint32_t length);
// Whether the frame is addressed to this station alone.
static inline bool frame_is_ours(const struct weir *weir, const uint8_t *head)
{
    return native32(head) == native32(weir->netif->mac) && native16(head + 4) == native16(weir->netif->mac + 4);
}
static inline bool netif_may_send(const struct weir *weir)
{
    return weir->netif && (weir->netif->flags & (WEIR_NETIF_UP | WEIR_NETIF_TX_BLOCKED)) == WEIR_NETIF_UP;
}
// Whether a segment may be made and sent. Its headers are made in the outbox, which is empty then.
static inline bool frame_may_send(const struct weir *weir) { return !weir->outbox_length && netif_may_send(weir); }

// ip4.c or ip6.c
// A frame of at least an Ethernet header.
LOCAL void ip_input(struct weir *weir, const struct weir_frame *frame);
// Writes the IP header of a packet to a peer. Returns the sum of both addresses, for a pseudo-header. Such sums are
// folded by checksum_fold_words.
LOCAL uint64_t ip_header(const struct weir *weir, uint8_t *head, const struct peer *peer, uint32_t protocol,
                         uint32_t payload_length);

// frame.c
LOCAL uint16_t frame_sum(const struct weir *weir, const struct weir_frame *frame, uint32_t offset, uint32_t length);
LOCAL void frame_copy(const struct weir_frame *frame, uint32_t offset, uint8_t *to, uint32_t length);
// Stores a word as it lies; returns the sum with it.
static inline uint64_t word_put(uint8_t *at, uint64_t sum, uint32_t word)
{
    memcpy(at, &word, sizeof word);
    return sum + word;
}
// What a pseudo-header has beside the addresses, as a word of the sum.
static BYTES_INLINE uint32_t pseudo_word(uint32_t protocol, uint32_t length)
{
    return network32(protocol << 16 | length);
}

// entry.c
// false: the segment is to be refused.
LOCAL bool listener_input(struct weir *weir, const struct segment *segment);
LOCAL bool entry_input(struct weir *weir, struct entry *entry, struct segment *segment);
LOCAL struct entry *entry_find(struct weir *weir, const struct peer *peer);
LOCAL uint32_t entries_turn(struct weir *weir);  // µs until the next deadline, as those below
LOCAL void entry_time_wait(struct weir *weir, const struct conn *c);
LOCAL struct listener *listener_find(struct weir *weir, const uint8_t port[2]);

// conn.c
static inline struct conn *conn_find(struct weir *weir, peer_key key)
{
    for (struct conn *c = weir->conns; c < weir->conns + CONNS; c++)
        if (c->socket.state && peer_is(&c->peer, key))
            return c;
    return NULL;
}
LOCAL struct conn *conn_new(struct weir *weir, const struct entry *entry);  // established; NULL: none is free
LOCAL void conn_rto(struct conn *c);                                        // from the samples: ends a back-off
LOCAL void conn_rtt(struct conn *c, uint32_t sample_us);                    // a sample, and conn_rto
LOCAL void conn_timer(const struct weir *weir, struct conn *c, uint32_t in_us);
LOCAL void conn_end(struct conn *c, int error);  // CLOSED: free as soon as it has no handle
LOCAL void conn_reset(struct conn *c, int error);
LOCAL void conn_shut(struct conn *c);  // FIN follows what is queued
LOCAL uint32_t conn_turn(struct weir *weir, struct conn *c);
// Whether the user may send, and whether anything sent or queued is not acknowledged yet.
static inline bool conn_writable(const struct conn *c)
{
    return c->socket.state == WEIR_TCP_ESTABLISHED || c->socket.state == WEIR_TCP_CLOSE_WAIT;
}
static inline bool conn_owes(const struct conn *c) { return c->send_length || c->flags & CONN_FIN_QUEUED; }
static inline void conn_event(struct conn *c, uint32_t events) { c->socket.events |= (uint8_t)events; }

// input.c
// `segment` holds what IP knows: the whole of the TCP segment, whose sum is right, as its payload.
LOCAL void tcp_input(struct weir *weir, struct segment *segment, const uint8_t *tcp);
LOCAL void conn_input(struct weir *weir, struct conn *c, struct segment *segment);
LOCAL void conn_acked(struct weir *weir, struct conn *c, uint32_t acked);  // sequence space, not 0, perhaps a FIN
LOCAL void conn_received(const struct weir *weir, struct conn *c, uint32_t length);  // so much is stored in order

// predict.c. false: nothing was done.
#if WEIR_CFG_FAST_PATH
LOCAL bool predicted_input(struct weir *weir, const struct weir_frame *frame);
#else
static inline bool predicted_input(struct weir *weir, const struct weir_frame *frame)
{
    (void)weir, (void)frame;
    return false;
}
#endif

// output.c
#define SEGMENT_HEAD_BYTES (ETHERNET_BYTES + IP_BYTES + TCP_BYTES)
#define SEGMENT_MSS_BYTES 4u
// Writes all headers; the payload's sum and length are told. Returns their length: with SYN among the flags there is an
// MSS option.
LOCAL uint32_t segment_head(const struct weir *weir, uint8_t *head, const struct peer *peer, uint32_t sequence,
                            uint32_t ack, uint32_t control, uint32_t payload_length, uint32_t payload_sum);
#define CONTROL(flags, window) ((uint32_t)(flags) << 16 | (window))
// RST, where one is due (RFC 9293 §3.10.7.1)
LOCAL void segment_refuse(struct weir *weir, const struct segment *segment);
LOCAL uint32_t conn_output(struct weir *weir, struct conn *c);  // 0: there is more to send, else WAIT_FOREVER
LOCAL uint32_t conn_edge(const struct conn *c);                 // the right edge of the window that may be promised now
LOCAL void conn_consume(struct conn *c, uint32_t bytes);        // the user took the oldest bytes

#endif
