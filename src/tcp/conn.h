// SPDX-License-Identifier: BSD-2-Clause
// A TCP connection: its block of state, and what the files of src/tcp do to it. Names are RFC 9293's.
// The hot block stays small (an idle connection is this and nothing else where there is an allocator): queues, flight
// log, interval list and congestion state are attached while data is outstanding or unread, and let go after idling.
#ifndef TCP_CONN_H
#define TCP_CONN_H

#include "base/intervals.h"
#include "base/stream.h"
#include "base/wheel.h"
#include "tcp/accecn.h"
#include "tcp/attention.h"
#include "tcp/black_hole.h"
#include "tcp/cwv.h"
#include "tcp/deadline.h"
#include "tcp/end.h"
#include "tcp/flight.h"
#include "tcp/hystart.h"
#include "tcp/ip_options.h"
#include "tcp/lowwater.h"
#include "tcp/loss.h"
#include "tcp/pacing.h"
#include "tcp/rate.h"
#include "tcp/rtt.h"
#include "tcp/tcp.h"
#include "tcp/uto.h"
#include "weir/cc.h"
#include "wire/tcp.h"

// Deadlines of a connection; src/tcp/timers.c says what each is for, and is the only place that sets them.
enum tcp_timer {
    TCP_TIMER_SEND,  // retransmission, tail-loss probe, reordering, zero-window probe: one slot, one of them at a time
    TCP_TIMER_ACK,   // delayed acknowledgement
    TCP_TIMER_LONG,  // keepalive, user timeout, FIN-WAIT-2, letting go of memory after idling
    TCP_TIMER_COUNT  // and PACE, the next quantum of a paced connection, whose deadline is its schedule (pacing.h)
};

// bytes that a window can be (RFC 7323 §2.3): what lies further away than that is no old number
#define TCP_WINDOW_MOST (1u << 30)

// What it is set to, and what it owes; what asks for the steps has a word of its own (attention.h).
enum tcp_conn_flag {
    TCP_ACK_NOW = 1 << 0,      // an ACK is owed at once
    TCP_ACK_DELAYED = 1 << 1,  // an ACK is owed when the ACK timer fires or data leaves
    TCP_NO_DELAY = 1 << 2,     // Nagle off
    TCP_CORK = 1 << 3,
    TCP_QUICK_ACK = 1 << 4,
    TCP_OOB_INLINE = 1 << 5,
    TCP_KEEPALIVE_ON = 1 << 6,
    TCP_USE_SACK = 1 << 7,  // both ends agreed
    TCP_USE_TIMESTAMPS = 1 << 8,
    TCP_USE_SCALING = 1 << 9,
    TCP_CWND_LIMITED = 1 << 10,   // the last output stopped because of cwnd (RFC 7661)
    TCP_BOUND = 1 << 11,          // in the listeners' table by local port (bound, not connected)
    TCP_HASHED = 1 << 12,         // in the connections' table
    TCP_WRITE_BLOCKED = 1 << 13,  // the user found no room: tell when there is
    TCP_SYN_ACKED = 1 << 14,      // the peer has acknowledged our SYN
    TCP_WAITS_ACCEPT = 1 << 15,   // on its listener's accept queue
    TCP_SEND_SMALL = 1 << 16,     // the SWS override timer fired: a small segment may go (RFC 9293 §3.8.6.2.1)
};

// What a socket wants of ECN before its connection is made (enum weir_ecn, less one), and what was agreed afterwards.
enum tcp_ecn_mode {
    TCP_ECN_OFF,
    TCP_ECN_PASSIVE,   // wanted only: agree when the peer asks for classic feedback
    TCP_ECN_CLASSIC,   // RFC 3168
    TCP_ECN_ACCURATE,  // RFC 9768
};
#define TCP_ECN_BITS 3u  // of an IP header's tos: one of
enum tcp_ecn_codepoint { TCP_NOT_ECT, TCP_ECT1, TCP_ECT0, TCP_CE };

// What a half-open connection knows of it.
struct tcp_ecn_open {
    uint8_t mode : 2;       // enum tcp_ecn_mode
    uint8_t codepoint : 2;  // of the latest SYN: an accurate SYN-ACK tells it
    uint8_t plain : 1;      // a SYN came, or a SYN-ACK left, without ECN
};

// The sender's state, attached while anything is queued or outstanding.
struct tcp_flow {
    struct flight *flight;
    uint32_t recover;          // end of the data outstanding when the last recovery began (RFC 6582)
    uint32_t retransmit_from;  // the search for LOST data begins here
    uint32_t recovery_una;  // snd.una when the last recovery began, or at its last timeout: only the first one for it
                            // reduces ssthresh
    uint32_t lost_untold;   // bytes marked LOST by a timer, which the congestion control hears of with the next
                            // acknowledgement
    uint32_t rto_due;  // when the RTO runs out, where the send timer waits for something sooner (TCP_WAIT_LAZY: since
                       // when it runs)
    uint8_t wait;      // enum tcp_wait
    uint8_t duplicate_acks;  // in a row, or since a loss less those that ACKs have made up for
#if WEIR_CFG_TCP_LOSS_RECOVERY
    struct rack rack;
    struct tlp tlp;
    struct prr prr;
    struct frto frto;
    struct undo undo;
#endif
#if TCP_RTX_PROBE
    struct rtx_probe rtx_probe;
#endif
#if WEIR_CFG_TCP_ECN
    // nothing beyond ecn_recover is acknowledged yet since a reduction; a mark was its reason
    bool ecn_round, ecn_marked;
    uint32_t ecn_recover;  // snd.nxt at that reduction
#endif
    struct weir_cc_window window;  // cwnd, ssthresh, pacing
    uint64_t cc_state[WEIR_CC_STATE_MAX / 8];
#if WEIR_CFG_TCP_RATE
    struct tcp_rate rate;
#endif
#if WEIR_CFG_TCP_PACING
    struct tcp_pacing pacing;
#endif
#if WEIR_CFG_TCP_REFINEMENTS
    struct tcp_hystart hystart;
    struct tcp_cwv cwv;
#endif
#if WEIR_CFG_TCP_HELD
    uint32_t held_una, held_end;  // bytes [held_una, held_end) are lent to a driver; equal: none
    uint32_t lag;                 // bytes acknowledged that are still in the send queue, because a driver holds them
#endif
#if !WEIR_CFG_ALLOCATOR
    uint64_t
        flight_memory[(sizeof(struct flight) + WEIR_CFG_TCP_FLIGHT_RECORDS * sizeof(struct flight_record) + 7) / 8];
#endif
};

// What few connections need, and few for long; attached then.
struct tcp_extra {
    struct intervals *out_of_order;  // NULL: nothing beyond a hole
#if WEIR_CFG_TCP_DSACK
    struct tcp_sack_block dsack;  // duplicate to report with the next ACK (RFC 2883); left == right: none
#endif
    uint32_t fin;             // sequence number of the peer's FIN, if it came beyond a hole (ATTEND_FIN_AHEAD)
    uint32_t snd_up, rcv_up;  // sequence number after the last urgent byte to send, received
    uint8_t pending_sacks;    // runs that came beyond a hole since the last ACK
    bool urgent_passed;       // the urgent byte is out of the stream (TCP_URGENT_RECEIVED)
    uint8_t urgent_byte;
#if WEIR_CFG_TCP_INFO
    uint32_t reorder_seen, duplicates;  // these keep this block; in segments the second
    uint32_t reordering;                // the most that one came late; 0: none did
#endif
#if WEIR_CFG_TCP_ECN
    uint32_t ce_received, ce_delivered;  // packets that came marked; of ours, as the peer told
#endif
#if WEIR_CFG_TCP_ACCECN
    struct accecn accecn;  // of TCP_ECN_ACCURATE, which keeps this block
#endif
#if WEIR_CFG_REALTIME
    struct rt *realtime;  // NULL: an ordinary stream
#endif
#if WEIR_CFG_REALTIME_SENDER
    struct tcp_deadline deadline;
#endif
#if WEIR_CFG_TCP_PACING
    uint32_t pacing_limit;  // WEIR_OPTION_MAX_PACING_RATE: bytes/s; 0: none
#endif
#if WEIR_CFG_TCP_REFINEMENTS
    struct tcp_uto uto;
    uint32_t receive_low_water;  // bytes; 0: none
#endif
#if WEIR_CFG_IP_OPTIONS
    struct tcp_ip_options ip_options;
#endif
#if !WEIR_CFG_ALLOCATOR
    uint64_t intervals_memory[(sizeof(struct intervals) + WEIR_CFG_TCP_INTERVALS * sizeof(struct interval) + 7) / 8];
#endif
};

struct tcp_conn {
    struct sock sock;        // first; SOCK_TCP. While it waits for accept, sock.ready_next links the queue
    struct table_node node;  // connections, or (TCP_BOUND) listeners; node.spare: ssthresh when the flow was let go
    struct wheel_node timer;
    struct path path;
    struct stream *send, *receive;         // NULL: empty
    struct tcp_flow *flow;                 // NULL: nothing queued or outstanding
    struct tcp_extra *extra;               // NULL: nothing unusual
    struct tcp_end local, remote;          // their MSS: what we announced limits what the peer sends, and the reverse
    uint32_t flags;                        // enum tcp_conn_flag
    uint32_t attention;                    // enum tcp_attention; 0: the steady state
    uint32_t deadline[TCP_TIMER_COUNT];    // low 32 bits of µs; meaningful when its bit in `armed` is set
    uint8_t armed;                         // bit mask of enum tcp_timer
    uint8_t snd_scale : 4, rcv_scale : 4;  // window scale shifts: 14 at the most (RFC 7323 §2.3)
#if WEIR_CFG_TCP_ECN
    uint8_t ecn : 2;        // enum tcp_ecn_mode
    uint8_t ecn_echo : 1;   // classic: a mark came, every ACK says so until CWR comes
    uint8_t ecn_cwr : 1;    // classic: the next new data tells that the window was reduced
    uint8_t ecn_plain : 1;  // a SYN or SYN-ACK without ECN came or left
#endif
    uint8_t state;                 // enum weir_tcp_state: changed by tcp_set_state only
    uint8_t cc : 4;                // index into tcp_cc_list
    uint8_t quick_acks : 4;        // segments still acknowledged at once
    uint8_t idle_cwnd : 4;         // segments; what cwnd was when the flow was let go, if less than the initial window
    uint8_t challenge_tokens : 4;  // RFC 5961 §7, per connection
    uint8_t backoff;               // doublings of the RTO, or zero-window probes sent
    uint8_t keepalive_probes;
    uint8_t ttl, tos;  // tos: its low bits are what new data gets (ECT(0) with ECN); all else goes without
    int8_t error;      // enum weir_error: why it ended, until that is told (tcp_error_pending); before, the last ICMP
                       // error that did not end it, which is the reason if time runs out
#if WEIR_CFG_TCP_KEEPALIVE
    uint8_t keepalive_count;
#endif
    uint16_t max_snd_wnd;               // largest window offered, unscaled (tcp_max_window)
    uint16_t mss;                       // largest payload we send, timestamps subtracted
    uint16_t rcv_mss;                   // estimate of the peer's segment payload
    uint16_t user_mss;                  // WEIR_OPTION_MAX_SEGMENT; 0
    uint16_t user_timeout_s, linger_s;  // 0: default; linger 0xffff: off
#if WEIR_CFG_TCP_KEEPALIVE
    uint16_t keepalive_idle_s, keepalive_interval_s;
#endif
    struct {
        uint32_t una, nxt, wnd;  // wnd in bytes, scaled
        uint32_t wl1;            // sequence number of the last window update
    } snd;
    struct {
        uint32_t nxt;
        uint32_t edge;   // right edge promised; never moves left
        uint32_t acked;  // nxt as the last ACK told it (RFC 7323 §4.3: Last.ACK.sent)
    } rcv;
    uint32_t iss;
    struct rtt rtt;
    uint32_t send_limit, receive_limit;  // bytes
    uint32_t last_received_ms;
    uint32_t progress_ms;   // when una last moved, or data became outstanding (user timeout)
    uint32_t challenge_ms;  // challenge_tokens is filled up again TCP_CHALLENGE_REFILL_MS after it
#if WEIR_CFG_TCP_TIMESTAMPS
    uint32_t ts_recent, ts_offset;
#endif
#if WEIR_CFG_TCP_BLACK_HOLE
    struct tcp_mtu_search mtu_search;
#endif
#if WEIR_CFG_IP6
    uint32_t flow_label;  // 0 of IPv4 (label.h)
#endif
#if WEIR_CFG_TCP_INFO
    struct {
        uint32_t retransmits, bytes_retrans, out_of_order, segs_out, segs_in;
        uint16_t rto, recoveries;
        uint16_t sent_wraps, received_wraps;  // of the 32-bit sequence spaces
        uint32_t irs;                         // initial receive sequence number
    } info;
#endif
};

static inline void tcp_attend(struct tcp_conn *c, enum tcp_attention what, bool on)
{
    c->attention = on ? c->attention | what : c->attention & ~(uint32_t)what;
}
// Doublings of the RTO, or zero-window probes sent.
static inline void tcp_backoff_set(struct tcp_conn *c, uint8_t backoff)
{
    c->backoff = backoff;
    tcp_attend(c, ATTEND_BACKOFF, backoff != 0);
}

// What a passive open agreed on: from the half-open table, or out of a SYN cookie.
struct tcp_open_params {
    struct tcp_end local, remote;
    uint32_t iss, irs;  // our and the peer's initial sequence numbers
    uint32_t window;    // of the ACK that completes the handshake, unscaled
    uint8_t snd_scale, rcv_scale;
    bool scaling, sack, timestamps;
    struct tcp_ecn_open ecn;
    uint32_t ts_recent, ts_offset;
    uint32_t rtt_us;  // of the handshake; 0: not measured (SYN-ACK was repeated)
};

// --- conn.c ----------------------------------------------------------------------------------------------------------
struct tcp_conn *tcp_conn_new(struct weir *weir);  // closed; NULL: no memory
struct tcp_conn *tcp_conn_find(struct weir *weir, struct weir_addr local, uint16_t local_port, struct weir_addr remote,
                               uint16_t remote_port);
uint32_t tcp_hash(const struct weir *weir, struct weir_addr local, uint16_t local_port, struct weir_addr remote,
                  uint16_t remote_port);
// An established connection from a completed handshake, queued on the listener for accept. NULL: no memory or the
// accept queue is full. Without a neighbour cache answers go where `packet`, the last of the handshake, came from.
struct tcp_conn *tcp_conn_passive(struct weir *weir, struct tcp_listener *listener,
                                  const struct tcp_open_params *params, const struct packet *packet);
// Ends the connection with a pending error for its user (0: none): unhashed, timers off, only unread data is kept.
void tcp_conn_drop(struct weir *weir, struct tcp_conn *c, int error);
// The one way to change state; asserts the legality table.
void tcp_set_state(struct weir *weir, struct tcp_conn *c, enum weir_tcp_state state);

// The largest MSS announced to a path, or used: its MTU less network and TCP header (RFC 9293 §3.7.1, RFC 6691).
uint16_t tcp_mss_for_mtu(struct weir_addr remote, uint16_t mtu);
// Window scale to announce for a receive limit (RFC 7323 §2.2).
uint8_t tcp_scale_for(uint32_t receive_limit);
// Our timestamp clock now, ms, for a connection's offset.
uint32_t tcp_timestamp(const struct weir *weir, uint32_t offset);

// Queues a segment without payload that belongs to no connection's output (SYN-ACK, ACK of TIME-WAIT, RST), with its
// checksum. `reply_to` may be NULL (routed); without a neighbour cache it gives the link address.
bool tcp_reply(struct weir *weir, const struct packet *reply_to, const struct weir_endpoint *local,
               const struct weir_endpoint *remote, struct ip_params params, const struct tcp_segment *segment);
// RFC 9293 §3.10.7.1: the reset for a segment that has no connection.
void tcp_reply_reset(struct weir *weir, const struct packet *packet, const struct tcp_segment *segment);

#endif
