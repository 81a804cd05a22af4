// SPDX-License-Identifier: BSD-2-Clause
#define _POSIX_C_SOURCE 200809L
#include "host/secure.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tls/tls_stream.h"

#define FILE_MAX (1u << 20)
#define HANDSHAKES 16u
#define SESSION_MAX 8192u

static struct secure {
    struct weir_tls *tls;
    struct weir_tls_credentials *own, *trusted;
    struct weir_tls_config *server, *client;
    struct tls_stream_maker maker;
    struct status_server https;
    bool serving;
} secure;

static int64_t unix_time(void *context) { return (void)context, (int64_t)time(NULL); }

static bool wrong(const char *what, const char *why)
{
    fprintf(stderr, "weir-host: %s: %s\n", what, why);
    return false;
}

static bool failed(const char *what, int error)
{
    return wrong(what, error == WEIR_TLS_CREDENTIALS
                           ? "no certificate or key that can be read, or they are not of each other"
                           : weir_tls_error_name(error));
}

// A whole file; to be freed. NULL: it was said why.
static char *file_read(const char *name, size_t *bytes)
{
    FILE *const file = fopen(name, "rb");
    char *const data = file != NULL ? malloc(FILE_MAX) : NULL;
    *bytes = data != NULL ? fread(data, 1, FILE_MAX, file) : 0;
    if (file != NULL)
        (void)fclose(file);
    if (*bytes > 0 && *bytes < FILE_MAX)
        return data;
    wrong(name, file != NULL ? "an empty file, or one that is too large" : "cannot be read");
    free(data);
    return NULL;
}

static bool library_open(struct host *host)
{
    static const struct weir_tls_system system = {.unix_time = unix_time};
    int error = WEIR_OK;
    if (secure.tls == NULL)
        secure.tls = weir_tls_create(&weir_tls_mbedtls, &host->posix.port, &system, &error);
    return secure.tls != NULL || failed("TLS", error);
}

static bool trust_take(struct weir_tls_credentials *credentials, const char *name)
{
    size_t bytes = 0;
    char *const data = file_read(name, &bytes);
    const int error = data != NULL ? weir_tls_credentials_trust(credentials, data, bytes) : WEIR_OK;
    free(data);
    return data != NULL && (error == WEIR_OK || failed(name, error));
}

// CERTIFICATES,KEY
static bool own_take(struct weir_tls_credentials *credentials, const char *names)
{
    char chain_name[512];
    const char *const comma = strchr(names, ',');
    size_t chain_bytes = 0, key_bytes = 0;
    if (comma == NULL || (size_t)(comma - names) >= sizeof chain_name)
        return wrong(names, "give the files of the certificates and of the key, a comma between them");
    memcpy(chain_name, names, (size_t)(comma - names));
    chain_name[comma - names] = '\0';
    char *const chain = file_read(chain_name, &chain_bytes), *const key = chain != NULL
                                                                              ? file_read(comma + 1, &key_bytes)
                                                                              : NULL;
    const int error = key != NULL ? weir_tls_credentials_own(credentials, chain, chain_bytes, key, key_bytes) : WEIR_OK;
    free(chain);
    free(key);
    return key != NULL && (error == WEIR_OK || failed(names, error));
}

static struct weir_tls_credentials *credentials_make(const char *own, const char *trusted)
{
    int error = WEIR_OK;
    struct weir_tls_credentials *const made = weir_tls_credentials_create(secure.tls, &error);
    if (made == NULL) {
        failed("TLS", error);
        return NULL;
    }
    if ((own == NULL || own_take(made, own)) && (trusted == NULL || trust_take(made, trusted)))
        return made;
    weir_tls_credentials_release(made);
    return NULL;
}

bool secure_start(struct host *host, struct weir_netif *const *netifs, uint32_t netif_count)
{
    static const char *const alpn[] = {"http/1.1", "http/1.0", NULL};
    const struct host_options *const o = host->options;
    int error = WEIR_OK;
    if (o->tls == NULL)
        return true;
    if (!library_open(host))
        return false;
    secure.own = credentials_make(o->tls, o->tls_trust);
    if (secure.own == NULL)
        return false;
    const struct weir_tls_options options = {.role = WEIR_TLS_SERVER,
                                             .credentials = secure.own,
                                             .verify =
                                                 o->tls_trust != NULL ? WEIR_TLS_VERIFY_REQUIRED : WEIR_TLS_VERIFY_NONE,
                                             .alpn = alpn,
                                             .handshakes = HANDSHAKES};
    secure.server = weir_tls_config_create(secure.tls, &options, &error);
    if (secure.server == NULL)
        return failed("--tls", error);
    tls_stream_maker_init(&secure.maker, secure.server);
    error =
        status_server_start_over(&secure.https, &host->loop, o->https_port, netifs, netif_count, &secure.maker.maker);
    secure.serving = error == WEIR_OK;
    return secure.serving || failed("HTTPS could not listen", error);
}

void secure_stop(struct host *host)
{
    (void)host;
    if (secure.serving)
        status_server_stop(&secure.https);
    secure.serving = false;
}

void secure_close(struct host *host)
{
    if (secure.tls != NULL)
        weir_tls_forget(secure.tls, host->weir);
    weir_tls_config_release(secure.server);
    weir_tls_config_release(secure.client);
    weir_tls_credentials_release(secure.own);
    weir_tls_credentials_release(secure.trusted);
    if (secure.tls != NULL && weir_tls_sessions(secure.tls) == 0)
        weir_tls_destroy(secure.tls);
    memset(&secure, 0, sizeof secure);
}

// --- the client of `get` ------------------------------------------------------------------------
static bool client_open(struct host *host)
{
    const struct host_options *const o = host->options;
    static const char *const alpn[] = {"http/1.1", NULL};
    int error = WEIR_OK;
    if (secure.client != NULL)
        return true;
    if (!library_open(host))
        return false;
    if (o->tls_trust == NULL)
        return wrong("https", "give the authorities that are trusted: --tls-trust FILE");
    secure.trusted = credentials_make(o->tls, o->tls_trust);
    if (secure.trusted == NULL)
        return false;
    secure.client = weir_tls_config_create(
        secure.tls, &(struct weir_tls_options){.credentials = secure.trusted, .alpn = alpn}, &error);
    return secure.client != NULL || failed("TLS", error);
}

bool secure_client(struct host *host, struct weir_stream *stream, const char *name)
{
    if (!client_open(host))
        return false;
    const int error = tls_stream_open(stream, secure.client, &(struct weir_tls_session_options){.name = name});
    return error == WEIR_OK || failed("TLS", error);
}

static const char *verify_words(uint16_t verify)
{
    static const struct {
        uint16_t bit;
        const char *words;
    } table[] = {{WEIR_TLS_VERIFY_NAME, "the server's certificate is for somebody else"},
                 {WEIR_TLS_VERIFY_EXPIRED, "the server's certificate has expired"},
                 {WEIR_TLS_VERIFY_NOT_YET, "the server's certificate is not valid yet"},
                 {WEIR_TLS_VERIFY_WEAK, "the key or the signature of the server's certificate is too weak"},
                 {WEIR_TLS_VERIFY_UNTRUSTED, "no authority that is trusted vouches for the server's certificate"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (verify & table[i].bit)
            return table[i].words;
    return "the server's certificate is refused";
}

// As RFC 8446 section 6 and RFC 5246 section 7.2 call them.
static const char *alert_words(int alert)
{
    static const struct {
        int alert;
        const char *words;
    } table[] = {{40, "handshake_failure"},       {42, "bad_certificate"},
                 {43, "unsupported_certificate"}, {44, "certificate_revoked"},
                 {45, "certificate_expired"},     {46, "certificate_unknown"},
                 {47, "illegal_parameter"},       {48, "unknown_ca"},
                 {49, "access_denied"},           {50, "decode_error"},
                 {51, "decrypt_error"},           {70, "protocol_version"},
                 {80, "internal_error"},          {71, "insufficient_security"},
                 {112, "unrecognized_name"},      {20, "bad_record_mac"},
                 {116, "certificate_required"},   {120, "no_application_protocol"}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++)
        if (table[i].alert == alert)
            return table[i].words;
    return "RFC 8446, section 6";
}

const char *secure_error(const struct weir_stream *stream, int error)
{
    static char words[120];
    struct weir_tls_info info;
    if (stream->calls == NULL)
        return weir_error_name(error);
    weir_tls_info(stream->self, &info);
    if (error == WEIR_TLS_CERTIFICATE)
        return verify_words(info.verify);
    if (error == WEIR_TLS_ALERT)
        (void)snprintf(words, sizeof words, "the server ended the session with alert %d (%s)", info.alert_received,
                       alert_words(info.alert_received));
    else
        (void)snprintf(words, sizeof words, "%s%s (library error -0x%04x)", weir_tls_error_name(error),
                       error == WEIR_TLS_PROTOCOL    ? ": what the server says is no TLS, or not as agreed"
                       : error == WEIR_TLS_TRUNCATED ? ": the server closed the connection before its end"
                                                     : "",
                       (unsigned)-info.library_error);
    return words;
}
