// SPDX-License-Identifier: BSD-2-Clause
// What a TLS library must do to stand behind weir_tls.h: a table of functions, without lock, clock or waiting. The
// objects are memory of the sizes given here, zeroed before `open`. The records go through a pipe that the session
// holds out; one call runs at a time on an engine.
#ifndef TLS_BACKEND_H
#define TLS_BACKEND_H

#include <stdbool.h>

#include "weir_tls.h"

WEIR_BEGIN_DECLS

// Records in and out. Both never wait.
struct tls_pipe {
    // bytes; 0: FIN; WEIR_AGAIN; an error that ends the session
    int (*receive)(struct tls_pipe *pipe, void *data, uint32_t bytes);
    int (*send)(struct tls_pipe *pipe, const void *data, uint32_t bytes);  // bytes; WEIR_AGAIN; an error
};

// The services of the library's user, from memory.c.
struct tls_services {
    void *(*alloc)(size_t bytes);  // zeroed
    void (*free)(void *memory);
    uint32_t (*refused)(void);                // times that alloc gave NULL
    int (*entropy)(void *out, size_t bytes);  // 0
    int64_t (*unix_time)(void);               // negative: not known
    uint64_t (*now_us)(void);
};

struct tls_engine_options {
    struct tls_pipe *pipe;
    const char *name;      // NULL: none to send or to compare
    bool name_is_address;  // of a host: compared, and not sent (RFC 6066 §3)
    const void *resume;
    size_t resume_bytes;
};

struct weir_tls_backend {
    const char *name;
    int (*begin)(const struct tls_services *services);
    void (*end)(void);
    size_t credentials_bytes, config_bytes, engine_bytes;
    int (*trust)(void *credentials, const void *certificates, size_t bytes);
    int (*own)(void *credentials, const void *chain, size_t chain_bytes, const void *key, size_t key_bytes);
    void (*credentials_close)(void *credentials);
    // `choose` of the options is given the credentials' memory, not the counted object: tls_credentials_memory.
    int (*config_open)(void *config, const struct weir_tls_options *options, void *credentials);
    void (*config_close)(void *config);
    int (*open)(void *engine, void *config, const struct tls_engine_options *options);
    void (*close)(void *engine);  // wipes
    // One step. WEIR_OK: the handshake is over; WEIR_IN_PROGRESS: not yet, and no reason to wait; WEIR_AGAIN: the pipe
    // said so; an error.
    int (*step)(void *engine);
    int (*read)(void *engine, void *data, uint32_t bytes);  // bytes; 0: close_notify came; WEIR_AGAIN; an error
    // bytes taken, of which some may be held back; after flush was WEIR_OK only
    int (*write)(void *engine, const void *data, uint32_t bytes);
    int (*flush)(void *engine);   // WEIR_OK: nothing is held back; WEIR_AGAIN; an error
    int (*finish)(void *engine);  // close_notify: WEIR_OK, WEIR_AGAIN, an error
    // Plaintext that a read would give, after decrypting what lies in the pipe, at most a record: bytes; WEIR_AGAIN; 0:
    // end; an error.
    int (*pending)(void *engine);
    bool (*holds)(const void *engine);                  // plaintext, or records that the pipe need not bring
    int (*save)(void *engine, void *out, size_t size);  // bytes; WEIR_AGAIN; WEIR_TOO_BIG
    void (*info)(const void *engine, struct weir_tls_info *info);
    size_t (*peer_certificate)(const void *engine, const uint8_t **der);
};

// The back end's part of counted credentials.
void *tls_credentials_memory(struct weir_tls_credentials *credentials);

WEIR_END_DECLS

#endif
