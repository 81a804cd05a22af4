// SPDX-License-Identifier: BSD-2-Clause
// The thermostat's TLS: a server with its certificate for the page, a client that trusts its authority for the broker.
#ifndef THERMOSTAT_SECURE_H
#define THERMOSTAT_SECURE_H

#include "tls/tls_stream.h"

struct secure {
    struct weir_tls *tls;
    struct weir_tls_config *server, *client;
    struct tls_stream_maker maker;
    struct weir_tls_system system;
    const struct weir_port *port;
};

// TLS gets `memory` and nothing else; NULL: from the C library. An error of weir_tls.
int secure_start(struct secure *secure, const struct weir_port *port, void *memory, size_t bytes);
// Makes a session with the broker of a connection to it; `name` is what its certificate must be for.
int secure_client(const struct secure *secure, struct weir_stream *stream, const char *name);

#endif
