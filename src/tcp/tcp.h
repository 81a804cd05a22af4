// SPDX-License-Identifier: BSD-2-Clause
// TCP as src/socket and src/instance.c see it. Nothing here blocks; errors are enum weir_error.
#ifndef TCP_TCP_H
#define TCP_TCP_H

#include "base/sock.h"
#include "base/table.h"
#include "ip/ip.h"
#include "tcp/pressure.h"
#include "weir/cc.h"
#include "weir/stats.h"

struct weir_config;
struct wheel_node;

struct tcp_conn;      // src/tcp/conn.h
struct tcp_listener;  // src/tcp/listen.h
struct tcp_half_open;
struct tcp_time_wait;

#define TCP_RECENT (WEIR_CFG_FAST_PATH ? 16u : 1u)

// Hashes of the ends of a connection (src/tcp/isn.h).
enum tcp_hash { TCP_HASH_TUPLE, TCP_HASH_HOSTS, TCP_HASH_DESTINATION, TCP_HASHES };
struct tcp_hashed {
    uint64_t hash;
    struct weir_addr local, remote;
    uint32_t ports;
};

struct tcp {
    struct table connections;  // by the four of addresses and ports
    struct tcp_conn
        *recent[TCP_RECENT];  // of them: those found last, by their ports (tcp_conn_recent); packets come in trains
#if WEIR_CFG_FAST_PATH
    struct tcp_hashed hashed[TCP_HASHES];  // what was asked for last of each
#endif
#if WEIR_CFG_TCP_BLACK_HOLE
    bool black_hole_detection;
#endif
    struct table listeners;  // by local port; also bound, unconnected sockets
    struct pool conns, listener_pool, flows, extras;
#if WEIR_CFG_REALTIME
    struct pool realtimes;
#endif
#if WEIR_CFG_ALLOCATOR
    struct tcp_pressure pressure;
    struct pool
        flights;  // logs as flows begin with them (src/tcp/attach.h): they spare short connections the allocator
#endif
    struct half_opens *half_opens;  // src/tcp/halfopen.c
    struct time_waits *time_waits;  // src/tcp/timewait.c
#if WEIR_CFG_CC_REGISTERED
    // as weir_cc_list, then those registered
    const struct weir_cc *cc_list[WEIR_CC_COUNT + WEIR_CFG_CC_REGISTERED + 1];
#endif
    uint8_t cc;                          // default congestion control, index into tcp_cc_list
    uint8_t ecn;                         // what sockets want of ECN by default (enum tcp_ecn_mode)
    uint32_t send_bytes, receive_bytes;  // default limits
    uint64_t cookies_until_us;           // cookies are believed so long: shortly after the last one was sent
#if WEIR_CFG_TCP_CONNECT
    uint16_t port_steps[8];  // how far each class of destinations has gone through the ports (src/tcp/isn.c)
#endif
};

int tcp_init(struct weir *weir, const struct weir_config *config);
size_t tcp_bytes(const struct weir_config *config);
void tcp_free(struct weir *weir);
void tcp_abort_all(struct weir *weir);  // connections that go on without a handle
void tcp_input(struct weir *weir, struct packet *packet);
struct flow;
#if WEIR_CFG_FAST_PATH
// A frame of the flow. Takes it when it brings what its connection expects next (predict.c); false: nothing was done.
bool tcp_predict_frame(struct weir *weir, const struct flow *flow, const struct weir_frame *frame);
#else
static inline bool tcp_predict_frame(struct weir *weir, const struct flow *flow, const struct weir_frame *frame)
{
    return (void)weir, (void)flow, (void)frame, false;
}
#endif
void tcp_error(struct weir *weir, const struct ip_error *error);
// A connection's wheel node fired.
void tcp_timer(struct weir *weir, struct wheel_node *node);
// Half-open and TIME-WAIT tables. Returns the next deadline.
uint64_t tcp_poll(struct weir *weir, uint64_t now_us);
#if WEIR_CFG_ALLOCATOR
// The budget is short (MEMORY_REFUSE): gives memory up for the others' sake. Returns when to call again, µs, while it
// is.
uint64_t tcp_relieve(struct weir *weir);
#else
static inline uint64_t tcp_relieve(struct weir *weir) { return (void)weir, WEIR_NEVER; }
#endif
// Sends what the connection may send now, at most `quantum` frames; *more: it stopped for the quantum only.
enum weir_tx_verdict tcp_output(struct weir *weir, struct tcp_conn *c, uint32_t *quantum, bool *more);
void tcp_link_failed(struct weir *weir, struct tcp_conn *c, int error);  // the neighbour did not answer
void tcp_destroy(struct weir *weir, struct tcp_conn *c);                 // frees a SOCK_DEAD connection
#if WEIR_CFG_TCP_HELD
// a driver is done with the bytes below `end`
void tcp_held_complete(struct weir *weir, struct tcp_conn *c, uint32_t end);
#else
static inline void tcp_held_complete(struct weir *weir, struct tcp_conn *c, uint32_t end)
{
    (void)weir, (void)c, (void)end;
}
#endif

// --- sockets. A stream socket begins as a closed tcp_conn; listen turns it into a tcp_listener (the sock changes
// address: tcp_listen returns the new one)
// ---------------------------------------------------------------------------------------
struct sock *tcp_open(struct weir *weir);
int tcp_bind(struct weir *weir, struct sock *sock, const struct weir_endpoint *local);
int tcp_connect(struct weir *weir, struct tcp_conn *c, const struct weir_endpoint *peer);
int tcp_listen(struct weir *weir, struct tcp_conn *c, uint32_t backlog, struct sock **listener);
// listen on a listener: new backlog
int tcp_listen_again(struct weir *weir, struct tcp_listener *listener, uint32_t backlog);
// NULL: none complete. The sock has no handle yet
struct sock *tcp_accept(struct weir *weir, struct tcp_listener *listener);
int tcp_shutdown(struct weir *weir, struct tcp_conn *c, enum weir_shutdown how);
// The user is done: after this the sock has no handle, and TCP frees it when it may (close), or now (abort).
void tcp_close(struct weir *weir, struct sock *sock);
void tcp_abort(struct weir *weir, struct sock *sock);

int tcp_reserve(struct weir *weir, struct tcp_conn *c, uint32_t want, struct weir_span *spans, int count);
int tcp_commit(struct weir *weir, struct tcp_conn *c, uint32_t bytes, bool urgent);
int tcp_write(struct weir *weir, struct tcp_conn *c, const uint8_t *data, uint32_t bytes);  // reserve, copy, commit
int tcp_read(struct weir *weir, struct tcp_conn *c, uint8_t *data, uint32_t bytes);         // peek, copy, consume
int tcp_peek(struct weir *weir, struct tcp_conn *c, uint32_t skip, struct weir_slice *slices, int count);
int tcp_consume(struct weir *weir, struct tcp_conn *c, uint32_t bytes);
void tcp_acknowledge(struct weir *weir, struct tcp_conn *c);  // what an acknowledgement is owed for, with the next poll
int tcp_read_urgent(struct weir *weir, struct tcp_conn *c, uint8_t *byte, bool peek);
int tcp_at_mark(struct weir *weir, struct tcp_conn *c);

int tcp_set(struct weir *weir, struct sock *sock, enum weir_option option, int32_t value);  // connections and listeners
int tcp_get(struct weir *weir, struct sock *sock, enum weir_option option, int32_t *value);
int tcp_set_congestion(struct weir *weir, struct sock *sock, const struct weir_cc *cc);
const struct weir_cc *tcp_congestion(struct weir *weir, struct sock *sock);
uint8_t tcp_ready(struct weir *weir, struct sock *sock);
enum weir_tcp_state tcp_state(const struct sock *sock);
void tcp_endpoints(const struct sock *sock, struct weir_endpoint *local, struct weir_endpoint *remote);
int tcp_info(struct weir *weir, struct tcp_conn *c, struct weir_tcp_info *out);
// For weir_socket_next: the next of a kind: 0 listeners, 1 connections, 2 half-open ones, 3 those in TIME-WAIT. false:
// there is none.
#define TCP_WALK_KINDS 4u
bool tcp_walk(struct weir *weir, uint32_t kind, struct table_cursor *cursor, struct weir_socket_info *out);
uint32_t tcp_count(const struct weir *weir);  // of them all

// self_check.c: stops the program where a connection, or a table, is not as it must be
#define TCP_CHECKED_MOST 64u  // connections: of more none is looked at
#if WEIR_CFG_SELF_CHECK
void tcp_self_check(struct weir *weir);
#else
static inline void tcp_self_check(struct weir *weir) { (void)weir; }
#endif

#endif
