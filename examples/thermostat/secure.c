// SPDX-License-Identifier: BSD-2-Clause
#include "examples/thermostat/secure.h"

#include "examples/thermostat/keys.h"

#define FRAGMENT_MAX 2048  // what a broker's records may have: as much as the library has room for, both ways
#define RECORD_BYTES 1360  // a segment's: what a client can read as it comes

// No clock tells the time: it is at least when the keys were made, and this device is up so long.
static int64_t unix_time(void *context)
{
    const struct weir_port *const port = ((const struct secure *)context)->port;
    return keys_time + (int64_t)(port->now_us(port->context) / 1000000);
}

static int credentials(struct secure *secure, struct weir_tls_credentials **own, struct weir_tls_credentials **trusted)
{
    int error = WEIR_OK;
    *own = weir_tls_credentials_create(secure->tls, &error);
    *trusted = *own ? weir_tls_credentials_create(secure->tls, &error) : NULL;
    if (*trusted == NULL)
        return error;
    error = weir_tls_credentials_own(*own, keys_certificate, keys_certificate_bytes, keys_private, keys_private_bytes);
    return error == WEIR_OK ? weir_tls_credentials_trust(*trusted, keys_authority, keys_authority_bytes) : error;
}

int secure_start(struct secure *secure, const struct weir_port *port, void *memory, size_t bytes)
{
    struct weir_tls_credentials *own, *trusted;
    int error = WEIR_OK;
    secure->port = port;
    secure->system =
        (struct weir_tls_system){.context = secure, .memory = memory, .memory_bytes = bytes, .unix_time = unix_time};
    secure->tls = weir_tls_create(&weir_tls_mbedtls, port, &secure->system, &error);
    if (!secure->tls || (error = credentials(secure, &own, &trusted)) != WEIR_OK)
        return error;
    const struct weir_tls_options server = {
        .role = WEIR_TLS_SERVER, .credentials = own, .handshakes = 1, .record_bytes = RECORD_BYTES};
    const struct weir_tls_options client = {
        .role = WEIR_TLS_CLIENT, .credentials = trusted, .max_fragment = FRAGMENT_MAX, .record_bytes = RECORD_BYTES};
    secure->server = weir_tls_config_create(secure->tls, &server, &error);
    secure->client = secure->server ? weir_tls_config_create(secure->tls, &client, &error) : NULL;
    if (secure->client)
        tls_stream_maker_init(&secure->maker, secure->server);
    return error;
}

int secure_client(const struct secure *secure, struct weir_stream *stream, const char *name)
{
    return tls_stream_open(stream, secure->client, &(struct weir_tls_session_options){.name = name});
}
