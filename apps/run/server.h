// SPDX-License-Identifier: BSD-2-Clause
// The server of weir-run: one thread, one epoll set, one instance. It owns the stack; programs have one end of a
// socketpair for each socket, and it pumps bytes between the other end and the stack (stream.c, datagram.c) and answers
// their calls (control.c).
#ifndef RUN_SERVER_H
#define RUN_SERVER_H

#include <stdbool.h>
#include <stdint.h>

#include "api/bsd/weir_bsd.h"
#include "dns/resolver.h"
#include "loop.h"
#include "ports/posix/posix.h"
#include "run/protocol.h"

struct run_server;

// Something in the epoll set.
struct run_source {
    void (*event)(struct run_source *source, uint32_t events);
    struct run_source *next_dead;  // freed when the batch of events is done
};

// A call whose answer waits, or whose request has not come yet.
struct run_call {
    struct run_source source;
    struct run_server *server;
    int fd;
    struct run_socket *socket;  // it waits for this one's connection
    struct run_call *next;      // of the same socket
    bool resolves;              // it waits for a name server,
    struct resolution *both;    // for both families
};

struct run_socket {
    struct run_source source;  // the server's end of the pair
    struct weir_watch watch;   // the stack's side
    struct run_server *server;
    struct run_socket *next, **at;            // of its bucket
    struct run_socket *next_open, **at_open;  // of all
    uint64_t id;
    int end;             // descriptor of the pair's end
    int fd;              // api/bsd's descriptor; -1: closed
    weir_socket handle;  // the native one
    int domain, type;
    bool connecting, connected, listening;
    bool hung;                            // the program's end is gone, or was shut both ways: what is queued still goes
    bool input_done;                      // the program sends no more, and the stack knows
    bool output_done;                     // the peer sends no more, and the program knows
    bool reset;                           // the peer's or the stack's error has been taken into `error`
    bool urgent;                          // the peer has sent urgent data
    bool unread;                          // the program left data unread
    uint32_t filler;                      // bytes to be thrown away before the connection is told
    int error;                            // pending errno
    int32_t send_buffer, receive_buffer;  // as they were set, doubled; 0: not
    bool reuse_port;
    struct run_socket *leader, *members, *next_member, *turn;  // of a group (group.c); turn: who was given the last
    struct run_call *calls;                                    // that wait for the connection
    uint8_t *held;                                             // a datagram that the stack has no room for yet
    uint32_t held_bytes;
};

// What is left of a socket that ended before its program closed it.
struct run_tomb {
    uint64_t id;
    int error;  // not yet told
    uint8_t type;
    uint8_t local_length, peer_length;
    uint8_t local[RUN_ADDRESS], peer[RUN_ADDRESS];
    int domain;
};

#define RUN_BUCKETS 4096u
#define RUN_TOMBS 4096u

struct run_counts {
    uint64_t calls, sockets, accepted;
};

struct run_server {
    struct posix_host posix;  // memory, randomness and the clock of the port
    struct weir_port port;    // without locks: there is one thread
    struct weir *weir;
    struct weir_bsd *bsd;
    struct loop loop;
    struct dns dns;
    struct weir_netif *netif;  // the outermost; NULL: loopback alone
    int link_fd;
    struct run_source link_source, listen_source;
    int epoll, listener;
    uint8_t token[RUN_TOKEN];
    struct run_socket *buckets[RUN_BUCKETS];
    struct run_socket *open;  // all
    struct run_tomb tombs[RUN_TOMBS];
    uint32_t next_tomb;
    struct run_source *dead;
    bool link_readable, link_blocked;
    struct run_counts count;
    char undone[64][32];  // names of calls that were refused
    uint64_t undone_count[64];
    uint8_t buffer[sizeof(struct run_request) + RUN_DATA];
};

// Opens the socket that programs call. 0, or an errno.
int run_server_listen(struct run_server *server);
// Makes instance and descriptors. false: it was said what is wrong.
bool run_server_open(struct run_server *server, const struct weir_config *config);
void run_server_close(struct run_server *server);
// Puts a descriptor into the epoll set.
bool run_server_watch(struct run_server *server, int fd, uint32_t events, struct run_source *source);
// One turn: sleeps until `until_us` at the most.
void run_server_turn(struct run_server *server, uint64_t until_us);
// Frees a source when the present batch of events is done; its descriptor is closed already.
void run_server_bury(struct run_server *server, struct run_source *source);

// --- sockets -----------------------------------------------------------------------------------------
// A socket over api/bsd's descriptor `fd`, with the server's end `end`. NULL: no memory; both are still the caller's.
struct run_socket *run_socket_make(struct run_server *server, int fd, int end, int domain, int type);
struct run_socket *run_socket_find(struct run_server *server, const uint8_t id[8]);
struct run_tomb *run_tomb_find(struct run_server *server, const uint8_t id[8]);
// Ends it here: the stack's half is closed (with `abort`: reset), the pair's end too; what may still be asked for stays
// in a tomb.
void run_socket_end(struct run_socket *socket, bool abort);
// Sockets whose programs are gone are ended now: their addresses are free again.
void run_socket_sweep(struct run_server *server);
int run_socket_error(struct run_socket *socket);  // the pending errno, and clears it

// --- groups ------------------------------------------------------------------------------------------
// Whether a name that is taken belongs to a group that the socket may join; it has then.
bool run_group_join(struct run_socket *socket, const void *name, uint32_t length);
void run_group_leave(struct run_socket *socket);
struct run_socket *run_group_listener(struct run_socket *leader);  // whose turn it is; NULL: none has room
struct run_socket *run_group_receiver(struct run_socket *leader, const void *name, uint32_t length);
// Who has the native socket.
static inline struct run_socket *run_group_leader(struct run_socket *socket)
{
    return socket->leader != NULL ? socket->leader : socket;
}

// --- streams -----------------------------------------------------------------------------------------
void run_stream_event(struct run_source *source, uint32_t events);                    // of the pair
void run_stream_news(struct weir_watch *watch, weir_socket handle, uint32_t events);  // of the stack
void run_stream_pump(struct run_socket *socket);                                      // moves what can be moved
bool run_stream_room(const struct run_socket *listener);                              // for another record
bool run_stream_discard(struct run_socket *socket);  // reads the filler away; false: not all of it
// A connection attempt has ended, `error` 0 or an errno: tells who waits.
void run_stream_connected(struct run_socket *socket, int error);

// --- datagrams ---------------------------------------------------------------------------------------
void run_datagram_event(struct run_source *source, uint32_t events);
void run_datagram_news(struct weir_watch *watch, weir_socket handle, uint32_t events);
// Sends what `data` (struct run_datagram and what follows) says. Bytes of payload, or a negative errno.
int run_datagram_send(struct run_socket *socket, const uint8_t *data, uint32_t bytes);

// --- names -------------------------------------------------------------------------------------------
// Asks for a name's addresses, of both families where both are in use and none is asked for; answers the call, perhaps
// at once. false: no memory.
bool run_name_resolve(struct run_call *call, const char *name, int family);
void run_name_forget(struct run_call *call);  // it goes: what it waits for is told to nobody

// --- calls -------------------------------------------------------------------------------------------
void run_call_accept(struct run_source *source, uint32_t events);
void run_call_answer(struct run_call *call, int result, const void *data, uint32_t length);
void run_call_answer_waiting(struct run_socket *socket, int result);  // all that wait for its connection

#endif
