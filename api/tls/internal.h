// SPDX-License-Identifier: BSD-2-Clause
// What the files of api/tls share: the library's one environment, configurations, sessions and what they stand on.
#ifndef TLS_INTERNAL_H
#define TLS_INTERNAL_H

#include "backend.h"
#include "weir/atomic.h"

WEIR_BEGIN_DECLS

// --- memory.c: one environment for all libraries of the program, because their hooks for memory carry no context
int tls_environment_begin(const struct weir_port *port, const struct weir_tls_system *system);
void tls_environment_end(void);
extern const struct tls_services tls_services;
void *tls_alloc(size_t bytes);  // zeroed; NULL
void tls_free(void *memory);
uint32_t tls_refused(void);  // times that tls_alloc gave NULL
// Libraries have many names for the lack of memory. If some was refused since, that is what `error` comes from.
int tls_reason(uint32_t refused, int error);
uint64_t tls_now_us(void);

// --- config.c -----------------------------------------------------------------------------------
// Where a session stands that was closed and still says its end, so that it is found when its instance is gone. Its
// instance's lock guards it, from when `weir` has become that instance until it is NULL. Never taken out of the list.
struct tls_place {
    struct tls_place *next;
    WEIR_ATOMIC(struct weir *) weir;
    struct weir_tls_session *session;
};

struct weir_tls {
    const struct weir_tls_backend *backend;
    WEIR_ATOMIC(uint32_t) sessions;
    WEIR_ATOMIC(struct tls_place *) places;  // as many as were needed at once
};

struct weir_tls_credentials {
    struct weir_tls *tls;
    WEIR_ATOMIC(uint32_t) users;
    uint64_t digest;  // of what is trusted
    bool owns;
};

struct weir_tls_config {
    struct weir_tls *tls;
    WEIR_ATOMIC(uint32_t) users;       // the caller, and sessions
    WEIR_ATOMIC(uint32_t) handshakes;  // under way
    struct weir_tls_options options;
    uint64_t digest;  // of what a saved session is bound to, but for the name
    const char **alpn;
};
void *tls_config_memory(struct weir_tls_config *config);  // the back end's part
void tls_config_hold(struct weir_tls_config *config);
bool tls_handshake_begin(struct weir_tls_config *config);
void tls_handshake_end(struct weir_tls_config *config);
uint64_t tls_digest(uint64_t digest, const void *data, size_t bytes);
#define TLS_DIGEST 0xcbf29ce484222325u

// --- sessions -----------------------------------------------------------------------------------
enum { TLS_READ = 1, TLS_WRITE = 2, TLS_HANDSHAKE = 4 };  // the last: for the handshake, whoever makes it

// What a session stands on: native.c, fd.c.
struct tls_transport {
    int (*receive)(struct weir_tls_session *session, void *data, uint32_t bytes);
    int (*send)(struct weir_tls_session *session, const void *data, uint32_t bytes);
    // Waits until the stream has news for `wants`; WEIR_OK, WEIR_AGAIN (does not block, or the time is over) or another
    // error. `direction` is the call's, whose timeout it is; *deadline_us is when it ends, 0 before it is known.
    int (*wait)(struct weir_tls_session *session, int wants, int direction, uint64_t *deadline_us);
    int (*ready)(struct weir_tls_session *session);
    // What is to be sent before the end has no room. true: the session goes on by itself, calls tls_session_end and
    // frees itself. false: it cannot, or has waited here.
    bool (*linger)(struct weir_tls_session *session);
    void (*fin)(struct weir_tls_session *session);
    void (*close)(struct weir_tls_session *session, bool reset);
};

struct weir_tls_session {
    struct tls_pipe pipe;  // first: the engine's way to us
    const struct weir_tls_backend *backend;
    const struct tls_transport *transport;
    struct weir_tls_config *config;
    struct weir *weir;
    struct weir_watch watch;  // of a native socket, once the session has been closed and lingers
    struct tls_place *place;  // then
    struct weir_bsd *bsd;     // NULL: native
    weir_socket socket;
    int fd;
    struct bsd_file *file;  // of a session under a descriptor (layer.c); NULL: over one
    int error;              // why it failed; WEIR_OK
    uint64_t deadline_us;   // of the handshake; of lingering
    uint64_t tag;           // of what may be resumed
    uint64_t written_us;    // when something was written last
    uint32_t quiet;         // bytes received since there was plaintext
    uint32_t started;       // bytes written since a pause, as far as records are small
    uint32_t records;       // of data, written
    uint8_t wants;          // TLS_READ, TLS_WRITE: what the pipe had nothing for in this call
    bool locked, busy;
    bool holds;    // something is inside that the socket does not show
    bool counted;  // among the configuration's handshakes
    bool open, more;
    bool ended, truncated;  // the peer's direction
    bool finish, finished;  // ours: asked for, and done
    // Of tasks that wait while the handshake is made, with the lock: it has come to an end, good or bad; and what the
    // one of them that waits for the stream sleeps on (NULL: none). The others sleep on &handshake_over.
    bool handshake_over;
    const void *waiter;
};
void *tls_session_engine(struct weir_tls_session *session);
struct weir_tls_session *tls_session_make(struct weir_tls_config *config, const struct tls_transport *transport,
                                          struct weir *weir, const struct weir_tls_session_options *options,
                                          int *error);

struct tls_place *tls_place_take(struct weir_tls_session *session);  // NULL: no memory
void tls_place_leave(struct tls_place *place);

uint64_t tls_session_now_us(const struct weir_tls_session *session);
void tls_session_discard(struct weir_tls_session *session);  // all but the stream
// what waits, close_notify, FIN: WEIR_OK, WEIR_AGAIN, or an error
int tls_session_end(struct weir_tls_session *session);
// Makes a stream fit for records, with the instance's lock held. An urgent byte taken out of it would break the record
// it lies in; a record is a whole thing, that need not wait for more; and of the bytes of a handshake none may be too
// few to be seen.
void tls_stream_take(struct weir *weir, weir_socket socket);
// Once, without waiting; as weir_tls_read and weir_tls_write.
int tls_session_read(struct weir_tls_session *session, void *data, uint32_t bytes);
int tls_session_write(struct weir_tls_session *session, const void *data, uint32_t bytes);
int tls_session_pending(struct weir_tls_session *session);  // bytes of plaintext, those of one record at most
// So many records may be encrypted with one key of AES-GCM (2^24.5, RFC 8446 §5.5); of the other AEADs, too, for
// simplicity. Keys are not changed within a session.
#define TLS_RECORDS_MAX 23726566u
#define TLS_LINGER_US 10000000u  // a closed session has so long to say its end

extern const struct tls_transport tls_native, tls_fd;
// The instance's lock and clock, unless the caller keeps the lock. unlock tells the poller of output.
void tls_lock(const struct weir_tls_session *session);
void tls_unlock(const struct weir_tls_session *session);
void tls_drain(const struct weir_tls_session *session);  // forgets what has been received; lock held

WEIR_END_DECLS

#endif
