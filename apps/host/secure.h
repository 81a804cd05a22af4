// SPDX-License-Identifier: BSD-2-Clause
// TLS in the host program: HTTPS served, and asked for by `get`. secure.c is in weir-host-tls, secure_none.c in
// weir-host.
#ifndef HOST_SECURE_H
#define HOST_SECURE_H

#include "host/host.h"

// Serves HTTPS where --tls asks for it. false: it was said what is wrong.
bool secure_start(struct host *host, struct weir_netif *const *netifs, uint32_t netif_count);
void secure_stop(struct host *host);
// After all sessions have ended.
void secure_close(struct host *host);
// Makes the stream of a client to `name` a TLS session. false: it was said what is wrong.
bool secure_client(struct host *host, struct weir_stream *stream, const char *name);
// What went wrong with it, in words.
const char *secure_error(const struct weir_stream *stream, int error);

#endif
