// SPDX-License-Identifier: BSD-2-Clause
// TLS sessions as streams that services are written to. Lock held throughout.
#ifndef APPS_TLS_STREAM_H
#define APPS_TLS_STREAM_H

#include "stream.h"
#include "tls/weir_tls.h"

#ifndef TLS_STREAM_SCRATCH
#define TLS_STREAM_SCRATCH 16384u  // bytes: a record
#endif

// For a server: sessions of `config`, no more handshakes at once than it allows.
struct tls_stream_maker {
    struct weir_stream_maker maker;
    struct weir_tls_config *config;
    uint8_t scratch[TLS_STREAM_SCRATCH];
};
void tls_stream_maker_init(struct tls_stream_maker *maker, struct weir_tls_config *config);
// For a client: makes a session of the stream's socket. WEIR_OK, or an error of weir_tls_open.
int tls_stream_open(struct weir_stream *stream, struct weir_tls_config *config,
                    const struct weir_tls_session_options *options);

#endif
