// SPDX-License-Identifier: BSD-2-Clause
// What the files of api/bsd share. Unless said otherwise these functions are called with the instance's lock held.
//
// A call in progress pins its file. Reading and writing each have a gate: one task at a time goes through, the others
// queue. The task inside sleeps on the gate's own address when the socket has nothing for it; tasks in the queue sleep
// on their turn. Closing takes the descriptor away at once, marks the file dead and wakes everybody; the last to leave
// frees it.
#ifndef BSD_INTERNAL_H
#define BSD_INTERNAL_H

#include <stdbool.h>
#include <string.h>

#include "weir_bsd.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

// Errors beyond enum weir_error, carried the same way: negative numbers that bsd_fail turns into errno.
enum {
    BSD_TOO_MANY = -100,     // EMFILE
    BSD_NO_PROTOCOL_OPTION,  // ENOPROTOOPT
    BSD_NO_FAMILY,           // EAFNOSUPPORT
    BSD_NO_PROTOCOL,         // EPROTONOSUPPORT
    BSD_ALREADY,             // EALREADY
    BSD_NO_DESTINATION,      // EDESTADDRREQ
    BSD_EXISTS,              // EEXIST
    BSD_NOT_THERE,           // ENOENT
    BSD_NOT_PERMITTED,       // EPERM
    BSD_NO_DEVICE,           // ENODEV
    BSD_OUT_OF_MEMORY,       // ENOMEM
    BSD_NOT_A_TTY,           // ENOTTY
    BSD_NOT_A_SOCKET,        // ENOTSOCK
    BSD_OUT_OF_DOMAIN,       // EDOM
};

// A place in a queue, on its task's stack; the token it sleeps on.
struct bsd_turn {
    struct bsd_turn *next;
    bool granted;
    bool impatient;  // wants to know when the one inside falls asleep
};
struct bsd_turns {
    struct bsd_turn *first, **last;
};

struct bsd_gate {
    struct bsd_turns queue;
    bool taken;
    bool asleep;  // the task inside waits for the socket
};

enum { BSD_GONE = 1 << 16 };  // told to links beside enum weir_ready: the file was closed

// Somebody's interest in a file: a poll's entry or a wait set's item.
struct bsd_link {
    struct bsd_link *next, **at;  // at NULL: not linked
    struct bsd_file *file;        // NULL: it was closed
    void (*news)(struct bsd_link *link, uint32_t events);
};

// A wait set, no socket; and who wants to know of it beside those asleep in it.
#define BSD_IS_SET(file) (WEIR_CFG_BSD_POLL && (file)->set)
#define BSD_LINKS(file) (WEIR_CFG_BSD_POLL ? (file)->links : NULL)

enum bsd_flag {
    BSD_NONBLOCK = 1,
    BSD_DEAD = 2,
    BSD_CONNECTING = 4,
    BSD_PKTINFO = 8,
    BSD_RECVTTL = 16,
    BSD_RECVTOS = 32,
    BSD_LINGERING = 64,
    BSD_MORE = 128  // corked by MSG_MORE
};

#define BSD_HOLDS_BACK(file) (WEIR_CFG_SOCKET_OPTIONS && (file)->flags & BSD_MORE)

struct bsd_layer;
struct bsd_layer_kind;

struct bsd_file {
    struct weir_watch watch;  // first: the native socket's user pointer points here
    struct weir_bsd *bsd;
    struct bsd_link *links;
    struct bsd_set *set;  // a wait set; NULL: a socket
    struct bsd_gate read, write;
    uint64_t receive_timeout_us, send_timeout_us;  // 0: none
    weir_socket socket;
    uint32_t pins;
    uint32_t receive_low_water;
    uint8_t type;  // enum weir_socket_type
    uint8_t protocol;
    uint8_t flags;   // enum bsd_flag
    uint8_t family;  // WEIR_AF_INET, WEIR_AF_INET6
#if WEIR_CFG_BSD_LAYERS
    const struct bsd_layer *layer;  // NULL: the stream is the descriptor's own
    void *layer_state;
#endif
};

// The file's family; without IPv6 there is one, and nothing is kept.
static inline uint8_t bsd_family(const struct bsd_file *file)
{
    return WEIR_CFG_IP6 ? file->family : (uint8_t)WEIR_AF_INET;
}
static inline void bsd_family_set(struct bsd_file *file, int family)
{
    if (WEIR_CFG_IP6)
        file->family = (uint8_t)family;
}

#define BSD_SEGMENT (WEIR_CFG_SOCKETS < 256 ? (uint32_t)WEIR_CFG_SOCKETS : 256u)  // descriptors
struct bsd_segment {
    uint32_t used;
    struct bsd_file *files[BSD_SEGMENT];
};

#define BSD_CLASSES 24  // free lists of a context without allocator: sizes up to 24 × 32 bytes

struct weir_bsd {
    struct weir *weir;
    const struct weir_port *port;
    struct weir_bsd_config config;
    struct bsd_segment **segments;
    uint32_t segment_count, limit;
    uint32_t lowest;  // no descriptor below this is free
#if WEIR_CFG_BSD_LAYERS
    const struct bsd_layer_kind *layers;  // NULL: none
    void *layers_context;
#endif
    weir_bsd_resolve *resolve;
    void *resolve_context;
    uint8_t *memory;  // what is left of config.memory
    size_t memory_bytes;
    void *free[BSD_CLASSES];
};

// --- context.c -------------------------------------------------------------------------------------------------------
void bsd_lock(struct weir_bsd *bsd);
void bsd_clock(struct weir_bsd *bsd);           // sets the instance's clock
void bsd_enter(struct weir_bsd *bsd);           // bsd_lock, bsd_clock
void bsd_leave(struct weir_bsd *bsd);           // tells the poller if there is output, releases the lock
int bsd_fail(struct weir_bsd *bsd, int error);  // sets errno; −1. With or without the lock
static inline int bsd_result(struct weir_bsd *bsd, int result) { return result < 0 ? bsd_fail(bsd, result) : result; }
void *bsd_alloc(struct weir_bsd *bsd, size_t bytes);
void bsd_free(struct weir_bsd *bsd, void *memory, size_t bytes);
// Between the caller's memory and ours, without the lock. 0, or WEIR_FAULT.
int bsd_copy_in(struct weir_bsd *bsd, void *to, const void *from_caller, size_t bytes);
int bsd_copy_out(struct weir_bsd *bsd, void *to_caller, const void *from, size_t bytes);
// Sleeps until woken on `token`: WEIR_OK; WEIR_AGAIN at the deadline (or when the port cannot wait); WEIR_INTERRUPTED.
int bsd_sleep(struct weir_bsd *bsd, const void *token, uint64_t deadline_us);
uint64_t bsd_deadline(struct weir_bsd *bsd, uint64_t timeout_us);  // of a timeout from now; 0: never
void bsd_wake(struct weir_bsd *bsd, const void *token);

// --- file.c ----------------------------------------------------------------------------------------------------------
struct bsd_file *bsd_file_find(struct weir_bsd *bsd, int fd);     // NULL: no such descriptor
int bsd_file_open(struct weir_bsd *bsd, struct bsd_file **file);  // the descriptor of a new, zeroed file; or an error
// takes the descriptor away, marks dead, wakes all; still pinned once
struct bsd_file *bsd_file_remove(struct weir_bsd *bsd, int fd);
struct bsd_file *bsd_file_pin(struct weir_bsd *bsd, int fd);
// The pinned file of a socket's descriptor in *file: WEIR_BAD_SOCKET, BSD_NOT_A_SOCKET (a wait set).
int bsd_socket_pin(struct weir_bsd *bsd, int fd, struct bsd_file **file);
void bsd_file_unpin(struct bsd_file *file);
int bsd_file_level(struct bsd_file *file);  // enum weir_ready
void bsd_file_link(struct bsd_file *file, struct bsd_link *link);
void bsd_file_unlink(struct bsd_link *link);
void bsd_file_notify(struct bsd_file *file, uint32_t events);  // wakes sleepers, tells links

// Goes through a gate: WEIR_OK; WEIR_AGAIN (deadline; or it is busy and `patient` is false), WEIR_CLOSED,
// WEIR_INTERRUPTED.
int bsd_gate_enter(struct bsd_file *file, struct bsd_gate *gate, uint64_t deadline_us, bool patient);
void bsd_gate_leave(struct bsd_file *file, struct bsd_gate *gate);
// Inside the gate: sleeps until the socket has news. WEIR_OK, WEIR_AGAIN, WEIR_CLOSED, WEIR_INTERRUPTED.
int bsd_gate_sleep(struct bsd_file *file, struct bsd_gate *gate, uint64_t deadline_us);

void bsd_turn_append(struct bsd_turns *turns, struct bsd_turn *turn);
void bsd_turn_remove(struct bsd_turns *turns, struct bsd_turn *turn);
bool bsd_turn_grant(struct weir_bsd *bsd, struct bsd_turns *turns);  // wakes the first; false: none waits

// --- others ----------------------------------------------------------------------------------------------------------
// A name as the caller gave it.
struct bsd_name {
    struct weir_endpoint endpoint;
    uint8_t family;       // WEIR_AF_UNSPEC: endpoint is nothing
    uint8_t netif_index;  // of a multicast address on a link; 0: none was given
    bool cut;             // of AF_INET6, but too short
};
static inline weir_socklen bsd_sockaddr_make4(const struct weir_endpoint *endpoint, struct weir_sockaddr_in *out)
{
    memset(out, 0, sizeof *out);
    out->sin_family = WEIR_AF_INET;
    out->sin_port = weir_htons(endpoint->port);
    out->sin_addr.s_addr = weir_htonl(weir_addr_to_v4(endpoint->addr));
    return sizeof *out;
}
#if WEIR_CFG_IP6
union bsd_sockaddr {
    struct weir_sockaddr_in in;
    struct weir_sockaddr_in6 in6;
};
// The endpoint as a name of a family; returns its length. IPv4 addresses are mapped where it is AF_INET6.
weir_socklen bsd_sockaddr_make(uint8_t family, const struct weir_endpoint *endpoint, union bsd_sockaddr *out);
int bsd_sockaddr_read(const union bsd_sockaddr *from, size_t bytes, struct bsd_name *out);
// Whether a socket takes a name: WEIR_INVALID, BSD_NO_FAMILY (as Linux says it).
int bsd_name_check(const struct bsd_file *file, const struct bsd_name *name);
// Likewise as the peer: what is nobody's address of IPv6 is this host's.
int bsd_name_peer(const struct bsd_file *file, struct bsd_name *name);
#else
union bsd_sockaddr {
    struct weir_sockaddr_in in;
};
static inline weir_socklen bsd_sockaddr_make(uint8_t family, const struct weir_endpoint *endpoint,
                                             union bsd_sockaddr *out)
{
    (void)family;
    return bsd_sockaddr_make4(endpoint, &out->in);
}
static inline int bsd_sockaddr_read(const union bsd_sockaddr *from, size_t bytes, struct bsd_name *out)
{
    (void)from, (void)bytes, (void)out;
    return BSD_NO_FAMILY;
}
static inline int bsd_name_check(const struct bsd_file *file, const struct bsd_name *name)
{
    return (void)file, (void)name, WEIR_OK;
}
static inline int bsd_name_peer(const struct bsd_file *file, struct bsd_name *name)
{
    return (void)file, (void)name, WEIR_OK;
}
#endif
// Names between the caller's memory and ours; without the lock.
int bsd_address_in(struct weir_bsd *bsd, const struct weir_sockaddr *address, weir_socklen length,
                   struct bsd_name *out);
int bsd_address_out(struct weir_bsd *bsd, uint8_t family, const struct weir_endpoint *endpoint,
                    struct weir_sockaddr *address, weir_socklen *length);

// A walk over an I/O vector.
struct bsd_cursor {
    const struct weir_iovec *vector;
    size_t count, offset;
};
// Moves `bytes` (the vector has as many left) between a piece of ours and the vector. WEIR_FAULT.
int bsd_cursor_in(struct weir_bsd *bsd, struct bsd_cursor *cursor, void *to, size_t bytes);
int bsd_cursor_out(struct weir_bsd *bsd, struct bsd_cursor *cursor, const void *from, size_t bytes);

struct bsd_transfer {       // one send or receive
    struct bsd_file *file;  // pinned while the call is in progress
    struct bsd_cursor cursor;
    size_t bytes;   // in the vector
    int out_flags;  // of recvmsg
    bool wait;      // may block
    bool stream;
    bool named;      // sending: `name` is to whom
    uint8_t wanted;  // the file's flags: BSD_PKTINFO …
    uint8_t family;  // the file's
    uint64_t deadline_us;
    struct bsd_name name;
    struct weir_message message;  // datagrams: to, or from whom
};
// Bytes moved, or an error. `flags`: WEIR_MSG_*. Called and left with the lock held; they release it while copying.
int bsd_stream_send(struct bsd_transfer *transfer, int flags);
int bsd_stream_receive(struct bsd_transfer *transfer, int flags);
int bsd_message_send(struct bsd_transfer *transfer, int flags);
int bsd_message_receive(struct bsd_transfer *transfer, int flags);

// --- layers ---------------------------------------------------------------------------------------
// What lies between a stream and its descriptor, and takes over what the descriptor does with bytes. All are called
// with the lock held and the file pinned, and may release the lock meanwhile. Errors as everywhere.
struct bsd_layer {
    int (*send)(struct bsd_transfer *transfer, int flags);     // as bsd_stream_send
    int (*receive)(struct bsd_transfer *transfer, int flags);  // as bsd_stream_receive
    int (*connected)(struct bsd_file *file);  // connect has waited for the stream: what comes before data
    int (*accepted)(struct bsd_file *listener, struct bsd_file *file);
    int (*shutdown)(struct bsd_file *file);  // for writing
    int (*ready)(struct bsd_file *file);     // enum weir_ready beside the socket's own
    int (*readable)(struct bsd_file *file);  // bytes that a receive would give now (FIONREAD)
    void (*closing)(struct bsd_file *file);  // the descriptor is about to go
    void (*end)(struct bsd_file *file);      // nobody is inside any more; does not release the lock
};
// Socket options of a level that make layers, and look at them. `value` is the caller's memory; without the lock.
struct bsd_layer_kind {
    int level;
    int (*set)(void *context, struct bsd_file *file, int name, const void *value, weir_socklen length);
    int (*get)(void *context, struct bsd_file *file, int name, void *value, weir_socklen *length);
};
#if WEIR_CFG_BSD_LAYERS
static inline const struct bsd_layer *bsd_layer_of(const struct bsd_file *file) { return file->layer; }
static inline const struct bsd_layer_kind *bsd_layers_of(const struct weir_bsd *bsd, int level)
{
    return bsd->layers && bsd->layers->level == level ? bsd->layers : NULL;
}
static inline void *bsd_layers_context(const struct weir_bsd *bsd) { return bsd->layers_context; }
#else
static inline const struct bsd_layer *bsd_layer_of(const struct bsd_file *file) { return (void)file, NULL; }
static inline const struct bsd_layer_kind *bsd_layers_of(const struct weir_bsd *bsd, int level)
{
    return (void)bsd, (void)level, NULL;
}
static inline void *bsd_layers_context(const struct weir_bsd *bsd) { return (void)bsd, NULL; }
#endif

// How a connection attempt stands (calls.c): WEIR_IN_PROGRESS, WEIR_OK, or why it failed.
int bsd_connect_state(struct weir_bsd *bsd, struct bsd_file *file);
// bsd_connect that returns its error, and leaves errno alone (calls.c); without the lock.
int bsd_connect_error(struct weir_bsd *bsd, int fd, const struct weir_sockaddr *address, weir_socklen length);

// Wait sets (epoll.c).
void bsd_set_free(struct bsd_file *file);
bool bsd_set_ready(struct bsd_set *set);  // whether epoll_wait would return something
void bsd_set_wake_all(struct bsd_file *file);

// --- option.c --------------------------------------------------------------------------------------------------------
// The native option that an option of BSD's is, where both are one number. false: there is none.
bool bsd_option_plain(int level, int name, enum weir_option *option);

WEIR_END_DECLS

#endif
