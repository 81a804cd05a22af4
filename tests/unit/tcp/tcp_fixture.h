// SPDX-License-Identifier: BSD-2-Clause
// One Weir connection, and a peer played by hand: its segments are written and ours are read one by one, in virtual
// time.
//
//     struct tcp_fixture t;
//     tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.sack = true});
//     peer_data(&t, 0, 100);                          // the next 100 bytes of the peer's stream
//     peer_expect(&t, TCP_ACK, 0, 100, 0);            // our pure ACK: seq and ack count from where bring ended
//     peer_expect_nothing(&t);
//     tcp_fixture_close(&t);
//
// Numbers: `ours` counts from the first byte we have not sent (or acknowledged FIN …) when bring returned, `theirs`
// from the first byte of the peer that we have not received. The peer's numbers wrap soon after the handshake.
#ifndef TESTS_TCP_FIXTURE_H
#define TESTS_TCP_FIXTURE_H

#include "fixture.h"
#include "tcp/conn.h"
#include "wire/tcp.h"

#define TCP_US fixture_address(1)
#define TCP_PEER fixture_address(2)
#define TCP_OUR_PORT 80
#define TCP_PEER_PORT 40000
#define TCP_PEER_MSS 1460
#define TCP_MSS_UNTOLD (WEIR_CFG_IP4 ? 536u : 1220u)  // RFC 9293 §3.7.1: what a peer without the option takes
#define TCP_HEADERS (WEIR_CFG_IP4 ? 40u : 60u)        // of a packet, without options

enum tcp_fixture_open { TCP_PASSIVE, TCP_ACTIVE, TCP_SIMULTANEOUS };

struct tcp_fixture_options {
    enum tcp_fixture_open open;
    bool sack, timestamps, scale;          // what the peer offers
    bool no_mss;                           // the peer sends no MSS option
    uint8_t peer_scale;                    // with `scale`
    uint16_t mss;                          // the peer's; TCP_PEER_MSS
    uint16_t window;                       // the peer's, unscaled; 65535
    uint32_t send_buffer, receive_buffer;  // 65536
    uint32_t irs;                          // the peer's first number; wraps after 8 bytes
    uint8_t ecn;                     // enum weir_ecn, what our socket wants; 0: the default, and nothing of it seen
    uint8_t peer_ace;                // flags AE, CWR, ECE of the peer's SYN or SYN-ACK, as a number
    struct fixture_options fixture;  // link, address are filled in
    void (*before)(struct weir *weir, weir_socket socket);  // options to set before listen or connect
};

struct tcp_fixture {
    struct fixture f;
    struct weir *weir;
    struct tcp_fixture_options options;
    weir_socket socket, listener;  // 0: closed
    struct weir_endpoint local, remote;
    uint32_t ours, theirs;  // what relative numbers count from
    uint16_t window;        // in the peer's segments
    uint32_t ts_value;      // the peer's timestamp clock
    // of the peer's segments: flags AE, CWR, ECE as a number (SYNs have the option's); of all its packets
    uint8_t ace, tos;
    uint32_t ts_echo;  // our newest
    uint32_t seen;     // frames looked at
    // the segment that peer_expect took last
    struct tcp_segment got;
    uint32_t got_seq, got_ack;  // relative
    const uint8_t *got_data;
    uint8_t got_tos, got_ace;
    uint64_t got_us;
    // options of the IPv4 header, in whole words: of the peer's packets, and of the segment taken last
    const uint8_t *ip_options, *got_ip_options;
    uint32_t ip_options_length, got_ip_options_length;
};

// A segment of the peer; seq and ack are relative. `ack` counts only with TCP_ACK.
struct peer_segment {
    uint8_t flags;
    uint32_t seq, ack;
    uint32_t length;      // payload: byte i of the peer's stream (relative) is peer_pattern(i)
    const uint8_t *data;  // other payload
    uint16_t urgent;
    bool own_window;  // use `window` below, not the fixture's
    uint16_t window;
    const struct tcp_options *options;  // other than the fixture's own (timestamps where agreed)
    const uint8_t *raw_options;         // bytes as they are, a multiple of 4
    uint32_t raw_length;
    bool bad_checksum;
    bool quiet;  // no poll after it
};

static inline uint8_t peer_pattern(uint32_t at) { return (uint8_t)(at * 7 + (at >> 8)); }

// An instance and no connection. All that follow need it.
void tcp_fixture_open(struct tcp_fixture *t, const struct tcp_fixture_options *options);
// The canonical connection of the state, also opened. Everything sent on the way is taken.
void tcp_fixture_bring(struct tcp_fixture *t, enum weir_tcp_state state, const struct tcp_fixture_options *options);
// The same on an open fixture.
void tcp_fixture_continue(struct tcp_fixture *t, enum weir_tcp_state state);
void tcp_fixture_close(struct tcp_fixture *t);

void peer_send_raw(struct tcp_fixture *t, const struct peer_segment *in);
void peer_send(struct tcp_fixture *t, uint8_t flags, uint32_t seq, uint32_t ack);
void peer_data(struct tcp_fixture *t, uint32_t seq, uint32_t length);                        // ACK of ours + 0
void peer_sack(struct tcp_fixture *t, uint32_t ack, uint32_t count, const uint32_t *edges);  // 2 * count relative edges
// The interface takes nothing, so that what comes until it does is one batch.
void batch_begin(struct tcp_fixture *t);
void batch_end(struct tcp_fixture *t);

// The next segment we sent; fails the test when there is none. Checks sums and lengths.
void peer_take(struct tcp_fixture *t);
bool peer_has_more(const struct tcp_fixture *t);
// Takes the next segment, which must be this one. Flags but for PSH, which is TCP's own affair.
void peer_expect(struct tcp_fixture *t, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t length);
void peer_expect_nothing(struct tcp_fixture *t);
// The SACK block at that place of the segment taken last has these (relative) edges.
void assert_block(const struct tcp_fixture *t, uint32_t index, uint32_t left, uint32_t right);
void peer_drain(struct tcp_fixture *t);  // forgets what was sent
uint32_t peer_drain_count(struct tcp_fixture *t);
uint64_t peer_pass(struct tcp_fixture *t, uint64_t us);  // time passes

struct tcp_conn *tcp_fixture_conn(struct tcp_fixture *t);      // NULL: gone
enum weir_tcp_state tcp_fixture_state(struct tcp_fixture *t);  // also of half-open and TIME-WAIT records
#define assert_state(t, expected) assert_int_equal(tcp_fixture_state(t), expected)
int32_t user_error(struct tcp_fixture *t);  // takes the pending error

// Writes `length` bytes of peer_pattern(from …), all of which must fit, and polls.
void user_write(struct tcp_fixture *t, uint32_t from, uint32_t length);
// Reads at most `length` bytes that must be peer_pattern(from …); returns how many.
uint32_t user_read(struct tcp_fixture *t, uint32_t from, uint32_t length);

// What must not change when a segment is refused.
struct conn_snapshot {
    enum weir_tcp_state state;
    uint32_t una, nxt, wnd, rcv_nxt, send_queue, receive_queue;
};
struct conn_snapshot conn_snapshot(struct tcp_fixture *t);
void assert_unchanged(struct tcp_fixture *t, const struct conn_snapshot *before);

// An ICMP error from a router about a segment of ours with that (relative) sequence number.
void peer_icmp(struct tcp_fixture *t, uint8_t type, uint8_t code, uint16_t mtu, uint32_t seq, uint16_t quoted_length);

#endif
