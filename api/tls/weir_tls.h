// SPDX-License-Identifier: BSD-2-Clause
// TLS over Weir's streams: credentials, configuration, sessions. The contract knows no library; a back end
// (weir_tls_mbedtls) does the cryptography, and the stack below knows nothing of TLS. docs/tls.md tells how to use it.
//
//     tls = weir_tls_create(&weir_tls_mbedtls, &port, NULL, &error);
//     own = weir_tls_credentials_create(tls, &error);
//     weir_tls_credentials_own(own, chain, chain_bytes, key, key_bytes);
//     config = weir_tls_config_create(tls, &(struct weir_tls_options){.role = WEIR_TLS_SERVER, .credentials = own},
//     &error); session = weir_tls_open(config, weir, socket, NULL, &error);       // owns the socket from now on n =
//     weir_tls_read(session, data, bytes);                           // like weir_socket_read; makes the handshake
//     first weir_tls_close(session);                                           // close_notify, FIN
//
// Calls on a session never block when it stands on a native socket; on a descriptor (weir_tls_open_fd) they block as
// the descriptor does. Cryptography takes long (a handshake: milliseconds on a host, up to seconds on a
// microcontroller). A session opened with WEIR_TLS_LOCKED works under the instance's lock, as the native socket calls
// do; one without takes the lock itself, only for moving bytes, and is the one to use in a task below the poller.
#ifndef WEIR_TLS_H
#define WEIR_TLS_H

#include <stddef.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/port.h"
#include "weir/socket.h"

WEIR_BEGIN_DECLS

struct weir_tls;              // the library, set up: memory, randomness, time
struct weir_tls_credentials;  // a certificate chain and its key; authorities whose certificates are trusted
struct weir_tls_config;       // what sessions have in common
struct weir_tls_session;      // one connection
struct weir_tls_backend;      // a library that does the work (api/tls/backend.h)
struct weir_bsd;

extern const struct weir_tls_backend weir_tls_mbedtls;  // Mbed TLS 3.6
extern const struct weir_tls_backend weir_tls_bearssl;  // BearSSL 0.6: a demonstration, TLS 1.2 only (api/tls/bearssl)

// Errors beyond enum weir_error.
enum weir_tls_error {
    WEIR_TLS_TRUNCATED = -200,    // FIN without close_notify: what came may be only a part (RFC 8446 §6.1)
    WEIR_TLS_ALERT = -201,        // the peer ended the session with a fatal alert: weir_tls_info's alert_received
    WEIR_TLS_CERTIFICATE = -202,  // the peer's certificate is refused: weir_tls_info's verify says why
    WEIR_TLS_PROTOCOL =
        -203,  // the peer broke the protocol, or nothing is common to both: weir_tls_info's library_error
    WEIR_TLS_CREDENTIALS = -204,  // a certificate or key cannot be read, or they do not belong together
    WEIR_TLS_ENTROPY = -205,      // no randomness: TLS refuses to work without
    WEIR_TLS_MANY = -206,         // so many handshakes are under way as the configuration allows
    WEIR_TLS_ENDED = -207,        // writing after weir_tls_shutdown, or on a session that has failed
    WEIR_TLS_KEY_UPDATE = -208,   // the peer changes its keys (RFC 8446 §4.6.3), and the back end cannot
    WEIR_TLS_KEY_LIMIT = -209,    // so many records were written as one key may encrypt (RFC 8446 §5.5)
};
// The enumerator's name, also of enum weir_error.
const char *weir_tls_error_name(int error);

// --- the library --------------------------------------------------------------------------------
struct weir_tls_system {  // zero: the defaults
    void *context;        // of the functions here
    // Memory for all of TLS, apart from the stack's: a block that is all there is; or functions, callable from any task
    // that uses TLS; or neither, the C library's.
    void *memory;
    size_t memory_bytes;
    void *(*alloc)(void *context, size_t bytes);
    void (*free)(void *context, void *memory, size_t bytes);
    size_t budget_bytes;  // no more than this is used; 0: no limit of its own
    // Seconds since 1970 (from SNTP, say); negative: not known yet. NULL: never known. Certificates are then refused,
    // but for weir_tls_options.time_optional.
    int64_t (*unix_time)(void *context);
};

// Sets the library up; randomness and the clock are the port's, whose `entropy` and `now_us` may be called from any
// task. A second one may live beside the first with the same back end only if it has the same port and system. NULL and
// *error: WEIR_NO_MEMORY, WEIR_TLS_ENTROPY, WEIR_INVALID.
struct weir_tls *weir_tls_create(const struct weir_tls_backend *backend, const struct weir_port *port,
                                 const struct weir_tls_system *system, int *error);
// When nothing that was made of it is left, also no session that was closed and still says its end (weir_tls_sessions).
void weir_tls_destroy(struct weir_tls *tls);
// After weir_destroy: frees the sessions of that instance that were closed, and still said their end. `weir` is gone;
// only its address is compared. To be called before another instance can have that address: before the next weir_create
// with the same memory or allocator, whose sessions it would free otherwise.
void weir_tls_forget(struct weir_tls *tls, const struct weir *weir);
uint32_t weir_tls_sessions(const struct weir_tls *tls);   // that are not freed
size_t weir_tls_memory(const struct weir_tls *tls);       // bytes in use
size_t weir_tls_memory_peak(const struct weir_tls *tls);  // the most bytes that were in use so far

// --- credentials: counted, so that new ones can replace old ones while sessions live ------------
struct weir_tls_credentials *weir_tls_credentials_create(struct weir_tls *tls, int *error);
// Certificates that are trusted, PEM (one or several) or DER (one); adds to those there. WEIR_TLS_CREDENTIALS: cannot
// be read.
int weir_tls_credentials_trust(struct weir_tls_credentials *credentials, const void *certificates, size_t bytes);
// The chain (own certificate first) and its private key, PEM or DER. Once.
int weir_tls_credentials_own(struct weir_tls_credentials *credentials, const void *chain, size_t chain_bytes,
                             const void *key, size_t key_bytes);
void weir_tls_credentials_hold(struct weir_tls_credentials *credentials);
void weir_tls_credentials_release(struct weir_tls_credentials *credentials);

// --- configuration: counted by its sessions; the caller's own reference ends with release -------
enum weir_tls_role { WEIR_TLS_CLIENT, WEIR_TLS_SERVER };
enum weir_tls_version { WEIR_TLS_1_2 = 0x0303, WEIR_TLS_1_3 = 0x0304 };
enum weir_tls_verify {
    WEIR_TLS_VERIFY_DEFAULT,   // client: REQUIRED; server: NONE
    WEIR_TLS_VERIFY_NONE,      // a client that accepts anybody, a server that asks for no certificate
    WEIR_TLS_VERIFY_OPTIONAL,  // asked for; the session goes on in any case and weir_tls_info tells
    WEIR_TLS_VERIFY_REQUIRED,  // no session without a good certificate
};

// Chooses credentials by the name a client asked for (SNI). NULL: the client is refused (unrecognized_name). Called in
// the handshake; the credentials must stay until the session has been closed.
typedef struct weir_tls_credentials *weir_tls_choose(void *context, const char *name, size_t length);

struct weir_tls_options {  // zero: the defaults
    enum weir_tls_role role;
    struct weir_tls_credentials *credentials;  // held by the configuration; NULL: none
    enum weir_tls_verify verify;
    uint16_t version_min, version_max;  // enum weir_tls_version; 0: all that the back end has
    const char *const *alpn;            // protocols by preference (RFC 7301), NULL at the end; copied. NULL: not spoken
    weir_tls_choose *choose;            // server; NULL: `credentials` for every name
    void *choose_context;
    // Bytes of plaintext in a record. max_fragment: 512, 1024, 2048, 4096, asked for by a client and granted by a
    // server (RFC 6066 §4; TLS 1.2, which a client that asks therefore speaks). record_bytes: in our own records at
    // most; 0: small ones at first, which can be read as they come, then full ones.
    uint16_t max_fragment, record_bytes;
    uint8_t no_resumption;       // 1: no tickets
    uint8_t time_optional;       // 1: while the time is not known validity periods are not looked at, and
                                 // WEIR_TLS_VERIFY_NO_TIME is told
    uint32_t ticket_lifetime_s;  // server; 86400
    uint32_t handshakes;  // server: so many at once; 4. More are WEIR_TLS_MANY: leave them in the listener's queue
    uint32_t handshake_timeout_ms;  // for all of it; 15000
};

struct weir_tls_config *weir_tls_config_create(struct weir_tls *tls, const struct weir_tls_options *options,
                                               int *error);
void weir_tls_config_release(struct weir_tls_config *config);
// Whether one more handshake may begin: to be asked before accept.
int weir_tls_may_accept(const struct weir_tls_config *config);

// --- sessions -----------------------------------------------------------------------------------
// a client that does not care who in particular answers, as long as the certificate is good
#define WEIR_TLS_NO_NAME ""

struct weir_tls_session_options {  // zero: the defaults
    // Client: whom it wants to reach, a name or an address; its certificate must be for it. Required where verification
    // is: WEIR_TLS_NO_NAME says that any will do.
    const char *name;
    const void *resume;  // what weir_tls_save gave; used if it is of the same name, otherwise, or if refused, a full
                         // handshake is made
    size_t resume_bytes;
    uint8_t locked;  // WEIR_TLS_LOCKED
};
enum {
    WEIR_TLS_LOCKED = 1
};  // calls are made with the instance's lock held (or by its only thread), which is kept throughout

// A session over a connected (or connecting) native stream. It owns the socket from now on; on failure the socket is
// still the caller's. Sessions end before their instance does (weir_destroy; weir_tls_forget). NULL and *error:
// WEIR_NO_MEMORY, WEIR_TLS_MANY, WEIR_INVALID (a client without a name), WEIR_BAD_SOCKET.
struct weir_tls_session *weir_tls_open(struct weir_tls_config *config, struct weir *weir, weir_socket socket,
                                       const struct weir_tls_session_options *options, int *error);
// A session over a descriptor of api/bsd, which blocks, times out and interrupts as the descriptor does. Never
// WEIR_TLS_LOCKED. Several threads may read and write; closing is for the last.
struct weir_tls_session *weir_tls_open_fd(struct weir_tls_config *config, struct weir_bsd *bsd, int fd,
                                          const struct weir_tls_session_options *options, int *error);

// Makes the handshake, or goes on with it. WEIR_OK: done. WEIR_AGAIN: wait for the socket. WEIR_IN_PROGRESS
// (WEIR_TLS_LOCKED only): a step was made and the next can be, after the stack has had its turn. Otherwise it failed.
int weir_tls_handshake(struct weir_tls_session *session);
// As weir_socket_read: bytes; 0: the peer ended properly; WEIR_AGAIN; WEIR_IN_PROGRESS; WEIR_TLS_TRUNCATED and other
// errors.
int weir_tls_read(struct weir_tls_session *session, void *data, uint32_t bytes);
// As weir_socket_write: bytes taken, once and for all, though some may wait encrypted in the session until the send
// queue has room.
int weir_tls_write(struct weir_tls_session *session, const void *data, uint32_t bytes);
// Ends our direction: what waits, close_notify, FIN. The peer's goes on. WEIR_AGAIN: not all of it had room; the calls
// that follow go on with it.
int weir_tls_shutdown(struct weir_tls_session *session);
// shutdown; then the socket is closed and the session freed. Where the send queue has no room the session goes on with
// that by itself (on a native socket by its watch, at most ten seconds; on a descriptor it is waited for, at most two).
void weir_tls_close(struct weir_tls_session *session);
// The same with RST and no close_notify; of a session that failed with an error of TLS the alert goes first, then FIN.
void weir_tls_abort(struct weir_tls_session *session);

// enum weir_ready bits: READABLE when a read would not return WEIR_AGAIN (plaintext, end, or failure: a record is
// decrypted to know), WRITABLE when a write would take something. During the handshake neither, but for WEIR_ERROR when
// it failed. Does what work there is. On a native socket the edges (struct weir_watch) are the socket's: any event is a
// reason to ask again.
int weir_tls_ready(struct weir_tls_session *session);
// When the session wants to be called again though nothing comes, µs: the handshake's time limit, or 0, at once (a step
// that waits).
uint64_t weir_tls_due_us(const struct weir_tls_session *session);

// What a later session may resume (client). Bytes, or WEIR_AGAIN: nothing to resume yet (with TLS 1.3 it comes after
// the handshake, with what is read); WEIR_TOO_BIG. It holds secrets.
int weir_tls_save(struct weir_tls_session *session, void *out, size_t size);

enum {                              // why a certificate was refused, a bit mask
    WEIR_TLS_VERIFY_UNTRUSTED = 1,  // no chain to an authority of ours
    WEIR_TLS_VERIFY_EXPIRED = 2,
    WEIR_TLS_VERIFY_NOT_YET = 4,
    WEIR_TLS_VERIFY_NAME = 8,      // for somebody else
    WEIR_TLS_VERIFY_WEAK = 16,     // hash, key or curve
    WEIR_TLS_VERIFY_MISSING = 32,  // there is none
    WEIR_TLS_VERIFY_USAGE = 64,    // not for this use
    WEIR_TLS_VERIFY_REVOKED = 128,
    WEIR_TLS_VERIFY_NO_TIME = 256,  // the time is not known
    WEIR_TLS_VERIFY_OTHER = 512,
};
struct weir_tls_info {
    uint16_t version;  // enum weir_tls_version; 0: not agreed yet
    uint8_t open;      // 1: the handshake is over
    uint8_t resumed;
    int16_t alert_received;          // RFC 8446 §6; −1: none
    uint16_t verify;                 // WEIR_TLS_VERIFY_…
    uint16_t record_in, record_out;  // bytes of plaintext in a record at most, as agreed
    int library_error;               // of the back end, for its documentation; 0
    const char *suite;               // NULL: none yet
    const char *alpn;                // NULL: none was agreed
};
void weir_tls_info(const struct weir_tls_session *session, struct weir_tls_info *info);
// The peer's certificate, DER, as long as the session lives; 0: none.
size_t weir_tls_peer_certificate(const struct weir_tls_session *session, const uint8_t **der);
weir_socket weir_tls_socket(const struct weir_tls_session *session);

WEIR_END_DECLS

#endif
