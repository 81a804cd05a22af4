// SPDX-License-Identifier: BSD-2-Clause
#include "host/secure.h"

#include <stdio.h>

static bool absent(void)
{
    fputs("weir-host: built without TLS; `make build/host/weir-host-tls` makes one that has it\n", stderr);
    return false;
}

bool secure_start(struct host *host, struct weir_netif *const *netifs, uint32_t netif_count)
{
    (void)netifs, (void)netif_count;
    return host->options->tls == NULL || absent();
}

void secure_stop(struct host *host) { (void)host; }
void secure_close(struct host *host) { (void)host; }

bool secure_client(struct host *host, struct weir_stream *stream, const char *name)
{
    (void)host, (void)stream, (void)name;
    return absent();
}

const char *secure_error(const struct weir_stream *stream, int error) { return (void)stream, weir_error_name(error); }
