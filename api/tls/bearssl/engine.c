// SPDX-License-Identifier: BSD-2-Clause
// One session of BearSSL. The library is an engine with four buffers, records in and out and plaintext in and out; here
// records move between it and the pipe. Once it has said close_notify it gives out no more plaintext: the peer's
// direction ends with ours.
#include <string.h>

#include "tls/bearssl/internal.h"

#define EPOCH_DAYS 719528u  // from the year 0, where BearSSL's days begin, to 1970
#define CLOSED 1            // what `records` returns when the session has ended properly

struct engine {
    union {
        br_ssl_client_context client;
        br_ssl_server_context server;
    } context;
    br_ssl_engine_context *ssl;
    br_x509_minimal_context x509;
    struct bear_config *config;
    struct tls_pipe *pipe;
    unsigned char *in, *out;
    size_t in_bytes, out_bytes;
    br_ssl_session_parameters offered;
    bool said, no_time;
};

// --- opening ------------------------------------------------------------------------------------
static const uint16_t suites[] = {
    BR_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,       BR_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    BR_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,       BR_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    BR_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256, BR_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
};
static const char *const suite_names[] = {
    "TLS-ECDHE-ECDSA-WITH-AES-128-GCM-SHA256",       "TLS-ECDHE-RSA-WITH-AES-128-GCM-SHA256",
    "TLS-ECDHE-ECDSA-WITH-AES-256-GCM-SHA384",       "TLS-ECDHE-RSA-WITH-AES-256-GCM-SHA384",
    "TLS-ECDHE-ECDSA-WITH-CHACHA20-POLY1305-SHA256", "TLS-ECDHE-RSA-WITH-CHACHA20-POLY1305-SHA256",
};

static int begin(const struct tls_services *services)
{
    bear_services = services;
    return WEIR_OK;
}

static void end(void) {}

static int config_open(void *config, const struct weir_tls_options *options, void *credentials)
{
    struct bear_config *const c = config;
    const bool client = options->role == WEIR_TLS_CLIENT;
    c->options = options;
    c->credentials = credentials;
    if (options->version_min > WEIR_TLS_1_2 || options->choose || options->time_optional ||
        options->verify == WEIR_TLS_VERIFY_OPTIONAL || (client && options->verify == WEIR_TLS_VERIFY_NONE))
        return WEIR_NOT_SUPPORTED;
    if (client || options->no_resumption)
        return WEIR_OK;
    c->store = bear_services->alloc(BEAR_CACHE);
    if (!c->store)
        return WEIR_NO_MEMORY;
    br_ssl_session_cache_lru_init(&c->cache, c->store, BEAR_CACHE);
    return WEIR_OK;
}

static void config_close(void *config) { bear_services->free(((struct bear_config *)config)->store); }

static void time_set(struct engine *e)
{
    const int64_t now = bear_services->unix_time();
    const uint64_t seconds = now < 0 ? 0 : (uint64_t)now;
    e->no_time = now < 0;
    br_x509_minimal_set_time(&e->x509, EPOCH_DAYS + (uint32_t)(seconds / 86400), (uint32_t)(seconds % 86400));
}

static void client_init(struct engine *e)
{
    br_ssl_client_context *const client = &e->context.client;
    struct bear_credentials *const own = e->config->credentials;
    br_ssl_client_init_full(client, &e->x509, own ? own->anchors : NULL, own ? own->anchor_count : 0);
    e->ssl = &client->eng;
    if (!own || !own->owns)
        return;
    if (br_skey_decoder_key_type(&own->key) == BR_KEYTYPE_EC)
        br_ssl_client_set_single_ec(client, own->chain, own->chain_count, br_skey_decoder_get_ec(&own->key),
                                    BR_KEYTYPE_SIGN, own->issuer_key_type, br_ec_get_default(),
                                    br_ecdsa_sign_asn1_get_default());
    else
        br_ssl_client_set_single_rsa(client, own->chain, own->chain_count, br_skey_decoder_get_rsa(&own->key),
                                     br_rsa_pkcs1_sign_get_default());
}

static void server_init(struct engine *e)
{
    br_ssl_server_context *const server = &e->context.server;
    struct bear_credentials *const own = e->config->credentials;
    if (br_skey_decoder_key_type(&own->key) == BR_KEYTYPE_EC)
        br_ssl_server_init_full_ec(server, own->chain, own->chain_count, own->issuer_key_type,
                                   br_skey_decoder_get_ec(&own->key));
    else
        br_ssl_server_init_full_rsa(server, own->chain, own->chain_count, br_skey_decoder_get_rsa(&own->key));
    e->ssl = &server->eng;
    if (e->config->store)
        br_ssl_server_set_cache(server, &e->config->cache.vtable);
    if (e->config->options->verify != WEIR_TLS_VERIFY_REQUIRED)
        return;
    br_x509_minimal_init_full(&e->x509, own->anchors, own->anchor_count);
    br_ssl_engine_set_default_rsavrfy(e->ssl);
    br_ssl_engine_set_default_ecdsa(e->ssl);
    br_ssl_engine_set_x509(e->ssl, &e->x509.vtable);
    br_ssl_server_set_trust_anchor_names_alt(server, own->anchors, own->anchor_count);
}

// The sizes of the buffers are what BearSSL agrees on: a client whose buffer is short asks for short records.
static bool buffers_set(struct engine *e)
{
    const uint16_t most = e->config->options->max_fragment;
    const bool client = e->config->options->role == WEIR_TLS_CLIENT;
    e->in_bytes = client && most ? most + 325u : BR_SSL_BUFSIZE_INPUT;
    e->out_bytes = client && most ? most + 85u : BR_SSL_BUFSIZE_OUTPUT;
    e->in = bear_services->alloc(e->in_bytes);
    e->out = bear_services->alloc(e->out_bytes);
    if (e->in && e->out)
        br_ssl_engine_set_buffers_bidi(e->ssl, e->in, e->in_bytes, e->out, e->out_bytes);
    return e->in && e->out;
}

static bool reset(struct engine *e, const struct tls_engine_options *options)
{
    const bool resumes = options->resume_bytes == sizeof e->offered;
    if (e->config->options->role == WEIR_TLS_SERVER)
        return br_ssl_server_reset(&e->context.server);
    if (resumes) {
        memcpy(&e->offered, options->resume, sizeof e->offered);
        br_ssl_engine_set_session_parameters(e->ssl, &e->offered);
    }
    return br_ssl_client_reset(&e->context.client, options->name, resumes);
}

static int engine_open(void *engine, void *config, const struct tls_engine_options *options)
{
    struct engine *const e = engine;
    unsigned char seed[48];
    e->config = config;
    e->pipe = options->pipe;
    if (options->name_is_address)
        return WEIR_NOT_SUPPORTED;
    if (e->config->options->role == WEIR_TLS_CLIENT)
        client_init(e);
    else
        server_init(e);
    time_set(e);
    if (!buffers_set(e))
        return WEIR_NO_MEMORY;
    br_ssl_engine_set_versions(e->ssl, BR_TLS12, BR_TLS12);
    br_ssl_engine_set_suites(e->ssl, suites, sizeof suites / sizeof *suites);
    br_ssl_engine_add_flags(e->ssl, BR_OPT_NO_RENEGOTIATION | BR_OPT_FAIL_ON_ALPN_MISMATCH);
    size_t protocols = 0;
    while (e->config->options->alpn && e->config->options->alpn[protocols])
        protocols++;
    if (protocols)
        br_ssl_engine_set_protocol_names(e->ssl, (const char **)(uintptr_t)e->config->options->alpn, protocols);
    if (bear_services->entropy(seed, sizeof seed) != 0)
        return WEIR_TLS_ENTROPY;
    br_ssl_engine_inject_entropy(e->ssl, seed, sizeof seed);
    return reset(e, options) ? WEIR_OK : WEIR_INVALID;
}

static void engine_close(void *engine)
{
    struct engine *const e = engine;
    bear_services->free(e->in);
    bear_services->free(e->out);
}

// --- records ------------------------------------------------------------------------------------
static bool certificate_error(int error)
{
    return (error >= BR_ERR_X509_OK && error <= BR_ERR_X509_NOT_TRUSTED) || error == BR_ERR_NO_CLIENT_AUTH;
}

static int ended(const struct engine *e)
{
    const int error = br_ssl_engine_last_error(e->ssl);
    if (error == BR_ERR_OK)
        return CLOSED;
    if (error >= BR_ERR_RECV_FATAL_ALERT && error < BR_ERR_SEND_FATAL_ALERT)
        return WEIR_TLS_ALERT;
    return certificate_error(error) ? WEIR_TLS_CERTIFICATE : WEIR_TLS_PROTOCOL;
}

// Puts out what there is: WEIR_OK, WEIR_AGAIN, an error.
static int records_out(struct engine *e)
{
    size_t bytes;
    const unsigned char *data;
    while ((data = br_ssl_engine_sendrec_buf(e->ssl, &bytes)) != NULL) {
        const int sent = e->pipe->send(e->pipe, data, (uint32_t)bytes);
        if (sent <= 0)
            return sent ? sent : WEIR_AGAIN;
        br_ssl_engine_sendrec_ack(e->ssl, (size_t)sent);
    }
    return WEIR_OK;
}

static int records_in(struct engine *e)
{
    size_t bytes;
    unsigned char *const data = br_ssl_engine_recvrec_buf(e->ssl, &bytes);
    if (!data)
        return WEIR_AGAIN;
    const int got = e->pipe->receive(e->pipe, data, (uint32_t)bytes);
    if (got > 0)
        br_ssl_engine_recvrec_ack(e->ssl, (size_t)got);
    return got > 0 ? WEIR_OK : got == 0 ? WEIR_TLS_TRUNCATED : got;
}

// Moves records until the engine is in one of the states: WEIR_OK; WEIR_AGAIN; CLOSED; an error. `once`: at most one
// piece in, then WEIR_IN_PROGRESS.
static int records(struct engine *e, unsigned until, bool once)
{
    for (;;) {
        const int out = records_out(e);
        const unsigned state = br_ssl_engine_current_state(e->ssl);
        if (out != WEIR_OK && out != WEIR_AGAIN)
            return out;
        if (state & until)
            return WEIR_OK;
        if (state & BR_SSL_CLOSED)
            return ended(e);
        const int in = records_in(e);  // also while output waits: the peer may wait for the same
        if (in)
            return in;
        if (once)
            return WEIR_IN_PROGRESS;
    }
}

static int engine_step(void *engine)
{
    const int status = records(engine, BR_SSL_SENDAPP, true);
    return status == CLOSED ? WEIR_TLS_TRUNCATED : status;
}

static int engine_read(void *engine, void *data, uint32_t bytes)
{
    struct engine *const e = engine;
    const int status = records(e, BR_SSL_RECVAPP, false);
    if (status)
        return status == CLOSED ? 0 : status;
    size_t there;
    const unsigned char *const from = br_ssl_engine_recvapp_buf(e->ssl, &there);
    there = there < bytes ? there : bytes;
    memcpy(data, from, there);
    br_ssl_engine_recvapp_ack(e->ssl, there);
    return (int)there;
}

static int engine_pending(void *engine)
{
    struct engine *const e = engine;
    size_t there = 0;
    const int status = records(e, BR_SSL_RECVAPP, false);
    if (status)
        return status == CLOSED ? 0 : status;
    (void)br_ssl_engine_recvapp_buf(e->ssl, &there);
    return (int)there;
}

static bool engine_holds(const void *engine)
{
    return br_ssl_engine_current_state(((const struct engine *)engine)->ssl) & BR_SSL_RECVAPP;
}

static int engine_flush(void *engine) { return records_out(engine); }

static int engine_write(void *engine, const void *data, uint32_t bytes)
{
    struct engine *const e = engine;
    size_t room;
    unsigned char *const to = br_ssl_engine_sendapp_buf(e->ssl, &room);
    if (!to)
        return br_ssl_engine_current_state(e->ssl) & BR_SSL_CLOSED ? WEIR_SHUT_DOWN : WEIR_AGAIN;
    room = room < bytes ? room : bytes;
    memcpy(to, data, room);
    br_ssl_engine_sendapp_ack(e->ssl, room);
    br_ssl_engine_flush(e->ssl, 0);
    return (int)room;
}

static int engine_finish(void *engine)
{
    struct engine *const e = engine;
    const int status = records_out(e);
    if (status || e->said)
        return status;
    e->said = true;
    br_ssl_engine_close(e->ssl);
    return records_out(e);
}

// --- what is told -------------------------------------------------------------------------------
static int engine_save(void *engine, void *out, size_t size)
{
    struct engine *const e = engine;
    br_ssl_session_parameters session;
    br_ssl_engine_get_session_parameters(e->ssl, &session);
    if (session.session_id_len == 0)
        return WEIR_AGAIN;
    if (size < sizeof session)
        return WEIR_TOO_BIG;
    memcpy(out, &session, sizeof session);
    return (int)sizeof session;
}

static uint16_t verify_bits(const struct engine *e)
{
    const int error = br_ssl_engine_last_error(e->ssl);
    const uint16_t timeless = e->no_time ? WEIR_TLS_VERIFY_NO_TIME : 0;
    switch (error) {
    case BR_ERR_X509_NOT_TRUSTED:
    case BR_ERR_X509_BAD_SIGNATURE:
    case BR_ERR_X509_DN_MISMATCH: return timeless | WEIR_TLS_VERIFY_UNTRUSTED;
    // it does not say which
    case BR_ERR_X509_EXPIRED: return timeless | WEIR_TLS_VERIFY_EXPIRED | WEIR_TLS_VERIFY_NOT_YET;
    case BR_ERR_X509_BAD_SERVER_NAME: return timeless | WEIR_TLS_VERIFY_NAME;
    case BR_ERR_X509_WEAK_PUBLIC_KEY: return timeless | WEIR_TLS_VERIFY_WEAK;
    case BR_ERR_X509_FORBIDDEN_KEY_USAGE: return timeless | WEIR_TLS_VERIFY_USAGE;
    case BR_ERR_X509_EMPTY_CHAIN:
    case BR_ERR_NO_CLIENT_AUTH: return timeless | WEIR_TLS_VERIFY_MISSING;
    default: return timeless | (certificate_error(error) ? WEIR_TLS_VERIFY_OTHER : 0);
    }
}

static void engine_info(const void *engine, struct weir_tls_info *info)
{
    const struct engine *const e = engine;
    br_ssl_session_parameters session;
    const int error = br_ssl_engine_last_error(e->ssl);
    info->library_error = error;
    info->alert_received = error >= BR_ERR_RECV_FATAL_ALERT && error < BR_ERR_SEND_FATAL_ALERT
                               ? (int16_t)(error - BR_ERR_RECV_FATAL_ALERT)
                               : -1;
    info->verify = verify_bits(e);
    br_ssl_engine_get_session_parameters(e->ssl, &session);
    info->version = session.version;
    info->alpn = br_ssl_engine_get_selected_protocol((br_ssl_engine_context *)(uintptr_t)e->ssl);
    info->resumed = e->offered.session_id_len && session.session_id_len == e->offered.session_id_len &&
                    memcmp(session.session_id, e->offered.session_id, session.session_id_len) == 0;
    info->record_in = (uint16_t)(e->in_bytes - 325);
    info->record_out = (uint16_t)(e->out_bytes - 85);
    for (size_t i = 0; i < sizeof suites / sizeof *suites; i++)
        if (suites[i] == session.cipher_suite)
            info->suite = suite_names[i];
}

// BearSSL reads certificates as a stream and keeps none.
static size_t engine_peer_certificate(const void *engine, const uint8_t **der) { return (void)engine, (void)der, 0; }

const struct weir_tls_backend weir_tls_bearssl = {
    .name = "BearSSL",
    .begin = begin,
    .end = end,
    .credentials_bytes = sizeof(struct bear_credentials),
    .config_bytes = sizeof(struct bear_config),
    .engine_bytes = sizeof(struct engine),
    .trust = bear_trust,
    .own = bear_own,
    .credentials_close = bear_credentials_close,
    .config_open = config_open,
    .config_close = config_close,
    .open = engine_open,
    .close = engine_close,
    .step = engine_step,
    .read = engine_read,
    .write = engine_write,
    .flush = engine_flush,
    .finish = engine_finish,
    .pending = engine_pending,
    .holds = engine_holds,
    .save = engine_save,
    .info = engine_info,
    .peer_certificate = engine_peer_certificate,
};
