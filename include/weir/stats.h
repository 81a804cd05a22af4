// SPDX-License-Identifier: BSD-2-Clause
// Counters and inspection: every kind of drop is counted and has a name; every socket can be looked at.
// Call with the instance's lock held.
#ifndef WEIR_STATS_H
#define WEIR_STATS_H

#include "weir/language.h"
#include "weir/socket.h"

WEIR_BEGIN_DECLS

// One row a counter: name, what it counts. The order is free; nothing depends on it.
#if WEIR_CFG_IP6
#define WEIR_COUNTERS_IP6(X) \
    X(ND_BAD, "neighbour discovery message that fails a check") \
    X(ND_LIMIT, "route or address of a router's that there was no room for")
#else
#define WEIR_COUNTERS_IP6(X)
#endif
#define WEIR_COUNTERS(X) \
    X(ETHERNET_RUNT, "frame shorter than its link header") \
    X(ETHERNET_OTHER, "frame for another station") \
    X(ETHERNET_UNKNOWN, "ethertype without a handler") \
    X(ARP_BAD, "malformed ARP packet") \
    X(ARP_CONFLICT, "another host uses our address") \
    X(ADDRESS_DEFENDED, "address announced because another host used it") \
    X(ADDRESS_EXPIRED, "address removed at the end of its valid lifetime") \
    X(ADDRESS_LOST, "address given up: another host uses it") \
    X(ARP_FULL, "neighbour table full: entry refused or recycled") \
    X(ARP_ANSWERED, "reply sent to where its question came from: no place for the neighbour") \
    X(ARP_UNRESOLVED, "datagram dropped: neighbour did not answer") \
    X(IP_BAD_HEADER, "IPv4 version, header length or total length wrong") \
    X(IP_BAD_CHECKSUM, "IPv4 header checksum wrong") \
    X(IP_BAD_SOURCE, "source address is multicast, broadcast or our own from outside") \
    X(IP_NOT_OURS, "destination is not ours") \
    X(IP_OPTIONS, "packet with source route or malformed options dropped") \
    X(IP_NO_PROTOCOL, "no handler for the protocol") \
    X(IP_NO_ROUTE, "no route to the destination") \
    X(FRAGMENT_RECEIVED, "fragments received") \
    X(FRAGMENT_REASSEMBLED, "datagrams reassembled") \
    X(FRAGMENT_OVERLAP, "datagram dropped: overlapping fragments (RFC 5722)") \
    X(FRAGMENT_BAD, "fragment with impossible offset or length") \
    X(FRAGMENT_TIMEOUT, "reassembly timed out") \
    X(FRAGMENT_LIMIT, "reassembly refused: memory or per-source limit") \
    X(FRAGMENT_SENT, "fragments sent") \
    X(ICMP_BAD, "malformed ICMP message or checksum") \
    X(ICMP_ECHO_ANSWERED, "echo requests answered") \
    X(ICMP_RATE_LIMITED, "ICMP error or reply withheld by the rate limit") \
    X(ICMP_IGNORED, "ICMP error that names no flow of ours, or fails RFC 5927 checks") \
    X(ICMP_SENT, "ICMP errors sent") \
    X(IGMP_BAD, "malformed IGMP or MLD message") \
    WEIR_COUNTERS_IP6(X) \
    X(OUTBOX_FULL, "reply dropped: outbox full") \
    X(LOOPBACK_FULL, "loopback packet dropped: queue full") \
    X(UDP_BAD_LENGTH, "UDP length contradicts the packet") \
    X(UDP_BAD_CHECKSUM, "UDP checksum wrong") \
    X(UDP_NO_SOCKET, "UDP datagram without a socket") \
    X(UDP_QUEUE_FULL, "UDP datagram dropped: receive queue full") \
    X(UDP_RECEIVED, "UDP datagrams delivered") \
    X(UDP_SENT, "UDP datagrams sent") \
    X(TCP_BAD_LENGTH, "TCP data offset contradicts the segment") \
    X(TCP_BAD_CHECKSUM, "TCP checksum wrong") \
    X(TCP_BAD_OPTION, "malformed TCP option ignored") \
    X(TCP_NO_SOCKET, "segment for no connection") \
    X(TCP_RECEIVED, "segments received") \
    X(TCP_SENT, "segments sent") \
    X(TCP_RST_SENT, "resets sent") \
    X(TCP_RST_RECEIVED, "exact resets accepted") \
    X(TCP_UNACCEPTABLE, "segment outside the window") \
    X(TCP_PAWS, "segment refused by PAWS (RFC 7323)") \
    X(TCP_CHALLENGE_ACK, "challenge ACKs sent (RFC 5961)") \
    X(TCP_CHALLENGE_LIMITED, "challenge ACKs withheld by the limit") \
    X(TCP_BAD_ACK, "ACK of data never sent, or too old (RFC 5961 §5)") \
    X(TCP_OUT_OF_ORDER, "segments queued out of order") \
    X(TCP_OUT_OF_ORDER_DROPPED, "out-of-order segment dropped: list or memory full, or too few bytes to pay for it") \
    X(TCP_RENEGED, "connections that gave up data out of order: it cost too much") \
    X(TCP_EVICTED, "connections ended for others: the memory budget was short, or sockets") \
    X(TCP_DUPLICATE, "wholly duplicate segments") \
    X(TCP_RETRANSMITTED, "segments retransmitted") \
    X(TCP_FAST_RECOVERY, "fast recoveries entered") \
    X(TCP_RTO, "retransmission timeouts") \
    X(TCP_TAIL_PROBE, "tail-loss probes sent") \
    X(TCP_PROBE, "zero-window probes sent") \
    X(TCP_KEEPALIVE, "keepalive probes sent") \
    X(TCP_SPURIOUS, "reductions found spurious and undone") \
    X(TCP_SYN_DROPPED, "SYN dropped: half-open or accept limit") \
    X(TCP_SYNCOOKIE_SENT, "SYN cookies sent") \
    X(TCP_SYNCOOKIE_ACCEPTED, "connections made from a SYN cookie") \
    X(TCP_SYNCOOKIE_BAD, "ACK with an invalid SYN cookie") \
    X(TCP_ACCEPTED, "passive connections established") \
    X(TCP_CONNECTED, "active connections established") \
    X(TCP_TIMED_OUT, "connections ended by time") \
    X(TCP_NO_MEMORY, "segment dropped: no memory for its data") \
    X(TCP_INSANE, \
      "connections dropped because their own state contradicted itself: a fault of the stack, please report it") \
    X(TCP_ECN, "connections that agreed on ECN (RFC 3168)") \
    X(TCP_ACCECN, "connections that agreed on accurate ECN feedback (RFC 9768)") \
    X(TCP_ECN_GIVEN_UP, "connects that asked for ECN without an answer, and went on without") \
    X(TCP_ECN_REDUCED, "windows reduced because the peer told of marks") \
    X(TCP_ECN_MANGLED, "connections that stopped sending ECT: something spoils the field, or the feedback") \
    X(TCP_CE_RECEIVED, "segments that came marked congestion experienced") \
    X(TCP_ACCECN_OPTION_BAD, "connections whose peer's AccECN options are ignored: they began with zeros") \
    X(TCP_ACCECN_OPTION_LOST, "connections that send no AccECN options any more: ACKs with them did not arrive") \
    X(TCP_TIMEWAIT_REUSED, "TIME-WAIT ended early by a new SYN (RFC 6191)") \
    X(TCP_TIMEWAIT_FULL, "TIME-WAIT entry recycled early: table full")

enum weir_counter {
#define WEIR_COUNTER_ENUM(name, text) WEIR_COUNT_##name,
    WEIR_COUNTERS(WEIR_COUNTER_ENUM)
#undef WEIR_COUNTER_ENUM
        WEIR_COUNT_COUNT
};

#if WEIR_CFG_COUNTER_NAMES
const char *weir_counter_name(enum weir_counter counter);  // "TCP_BAD_CHECKSUM"
const char *weir_counter_text(enum weir_counter counter);
#endif
uint32_t weir_counter_get(const struct weir *weir, enum weir_counter counter);

enum weir_tcp_state {
    WEIR_TCP_CLOSED,
    WEIR_TCP_LISTEN,
    WEIR_TCP_SYN_SENT,
    WEIR_TCP_SYN_RECEIVED,
    WEIR_TCP_ESTABLISHED,
    WEIR_TCP_FIN_WAIT_1,
    WEIR_TCP_FIN_WAIT_2,
    WEIR_TCP_CLOSE_WAIT,
    WEIR_TCP_CLOSING,
    WEIR_TCP_LAST_ACK,
    WEIR_TCP_TIME_WAIT,
    WEIR_TCP_STATE_COUNT
};
const char *weir_tcp_state_name(enum weir_tcp_state state);  // "ESTABLISHED"

// TCP_INFO. Times µs, sizes bytes unless named otherwise.
struct weir_tcp_info {
    uint8_t state;     // enum weir_tcp_state
    uint8_t recovery;  // 0 open, 1 disorder, 2 ECN reduction, 3 fast recovery, 4 RTO loss
    uint8_t backoff;   // RTO doublings now
    uint8_t probes;    // unanswered zero-window or keepalive probes
    bool sack, timestamps, window_scaling, ecn;
    bool accecn;  // with `ecn`: the feedback is accurate (RFC 9768)
    uint8_t snd_wscale, rcv_wscale;
    uint32_t rto_us, srtt_us, rttvar_us, min_rtt_us;
    uint32_t snd_mss, rcv_mss, path_mtu;
    uint32_t cwnd, ssthresh, inflight, sacked, lost, retrans_out;
    uint32_t snd_wnd, rcv_wnd, send_queue, receive_queue, unsent;
    uint32_t total_retrans;  // segments
    uint32_t rto_count, fast_recoveries, out_of_order;
    uint32_t reorder_seen;  // acknowledgements that showed: something of ours came after what was sent later
    uint32_t reordering;    // segments that one came late by, at the most; 3 if none did by more
    uint32_t duplicates;    // segments that the peer reports it had already (RFC 2883)
    uint64_t bytes_sent, bytes_retrans, bytes_acked, bytes_received;
    uint32_t segs_out, segs_in;
    uint32_t received_ce, delivered_ce;  // segments that came marked; of ours, as far as the peer told
    uint64_t pacing_rate;                // bytes/s; 0: not paced
    uint64_t delivery_rate;              // bytes/s, the newest sample; 0: none (only where the algorithm wants samples)
    bool delivery_rate_app_limited;      // the rate measured the application
    uint64_t bytes_delivered;            // acknowledged or SACKed
    uint32_t delivered;                  // the same in full segments, rounded up
    uint32_t last_sent_us, last_received_us;  // since; after 71 minutes UINT32_MAX
};
int weir_socket_tcp_info(struct weir *weir, weir_socket socket, struct weir_tcp_info *out);

// Walks every socket that has an address, including connections without a handle and half-open ones. Start with cursor
// 0; returns the next cursor, 0 at the end. Each call costs O(1) on average, however many there are. Nothing is held
// between calls, and sockets may be opened and closed: one that has its address from the first call to the last is
// shown exactly once (without an allocator, where there are few, it may be shown twice or not at all). The order means
// nothing.
struct weir_socket_info {
    weir_socket socket;  // 0: none
    enum weir_socket_type type;
    uint8_t tcp_state;
    struct weir_endpoint local, peer;
    uint32_t send_queue, receive_queue;
};
uint64_t weir_socket_next(struct weir *weir, uint64_t cursor, struct weir_socket_info *out);
uint32_t weir_socket_count(const struct weir *weir);  // how many such a walk shows; O(1)
uint64_t weir_memory_used(const struct weir *weir);   // bytes got from port->alloc and not given back
uint64_t weir_memory_limit(const struct weir *weir);  // what that may come to (docs/memory.md); 0: no limit

WEIR_END_DECLS

#endif
