// SPDX-License-Identifier: BSD-2-Clause
// Configurations: what all sessions of a kind share.
#include <string.h>

#include "tls/mbedtls/internal.h"

// RFC 9325 and RFC 8446 §9.1.
static const int suites[MBED_SUITES] = {
    MBEDTLS_TLS1_3_AES_128_GCM_SHA256,
    MBEDTLS_TLS1_3_AES_256_GCM_SHA384,
    MBEDTLS_TLS1_3_CHACHA20_POLY1305_SHA256,
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_128_GCM_SHA256,
    MBEDTLS_TLS_ECDHE_RSA_WITH_AES_128_GCM_SHA256,
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_AES_256_GCM_SHA384,
    MBEDTLS_TLS_ECDHE_RSA_WITH_AES_256_GCM_SHA384,
    MBEDTLS_TLS_ECDHE_ECDSA_WITH_CHACHA20_POLY1305_SHA256,
    MBEDTLS_TLS_ECDHE_RSA_WITH_CHACHA20_POLY1305_SHA256,
};

// What certificates and handshakes may be signed with. The older padding of RSA stands first: a server of TLS 1.2 that
// takes the first it knows must not take the newer, which the library has in TLS 1.3 only.
static const uint16_t signatures[] = {
    MBEDTLS_TLS1_3_SIG_ECDSA_SECP256R1_SHA256,
    MBEDTLS_TLS1_3_SIG_ECDSA_SECP384R1_SHA384,
    MBEDTLS_TLS1_3_SIG_RSA_PKCS1_SHA256,
    MBEDTLS_TLS1_3_SIG_RSA_PKCS1_SHA384,
    MBEDTLS_TLS1_3_SIG_RSA_PKCS1_SHA512,
    MBEDTLS_TLS1_3_SIG_RSA_PSS_RSAE_SHA256,
    MBEDTLS_TLS1_3_SIG_RSA_PSS_RSAE_SHA384,
    MBEDTLS_TLS1_3_SIG_RSA_PSS_RSAE_SHA512,
    MBEDTLS_TLS1_3_SIG_NONE,
};

static void initialise(struct mbed_config *c)
{
    mbedtls_ssl_config_init(&c->ssl);
    mbedtls_ssl_ticket_init(&c->tickets);
    c->initialised = true;
}

// A server that meets a suite in its list which is not built fails.
static void suites_set(struct mbed_config *c)
{
    uint32_t count = 0;
    for (uint32_t i = 0; i < MBED_SUITES; i++)
        if (mbedtls_ssl_ciphersuite_from_id(suites[i]))
            c->suites[count++] = suites[i];
    mbedtls_ssl_conf_ciphersuites(&c->ssl, c->suites);
}

static void versions_set(struct mbed_config *c)
{
    const struct weir_tls_options *const o = c->options;
    if (o->version_min)
        mbedtls_ssl_conf_min_tls_version(&c->ssl, (mbedtls_ssl_protocol_version)o->version_min);
    if (o->version_max)
        mbedtls_ssl_conf_max_tls_version(&c->ssl, (mbedtls_ssl_protocol_version)o->version_max);
    // A client's wish for short records goes out in TLS 1.3 too, and Mbed TLS 3.6 refuses the answer that servers give
    // to it there (OpenSSL does): who wants them speaks 1.2.
    else if (!c->server && o->max_fragment)
        mbedtls_ssl_conf_max_tls_version(&c->ssl, MBEDTLS_SSL_VERSION_TLS1_2);
}

static int fragment_set(struct mbed_config *c)
{
    switch (c->options->max_fragment) {
    case 512: return mbedtls_ssl_conf_max_frag_len(&c->ssl, MBEDTLS_SSL_MAX_FRAG_LEN_512);
    case 1024: return mbedtls_ssl_conf_max_frag_len(&c->ssl, MBEDTLS_SSL_MAX_FRAG_LEN_1024);
    case 2048: return mbedtls_ssl_conf_max_frag_len(&c->ssl, MBEDTLS_SSL_MAX_FRAG_LEN_2048);
    case 4096: return mbedtls_ssl_conf_max_frag_len(&c->ssl, MBEDTLS_SSL_MAX_FRAG_LEN_4096);
    default: return 0;
    }
}

// Mbed TLS writes a message of the handshake as one record. A ticket, which has the client's certificate in it, may be
// longer than the fragments that were agreed: then there is none.
static int ticket_write(void *tickets, const mbedtls_ssl_session *session, unsigned char *from, const unsigned char *to,
                        size_t *bytes, uint32_t *lifetime_s)
{
    enum { HEAD_BYTES = 4 + 6 };  // of the message, and of the ticket's lifetime and length (RFC 5077 3.3)
    const unsigned agreed = session->MBEDTLS_PRIVATE(mfl_code);
    const int status = mbedtls_ssl_ticket_write(tickets, session, from, to, bytes, lifetime_s);
    if (status == 0 && agreed != MBEDTLS_SSL_MAX_FRAG_LEN_NONE && HEAD_BYTES + *bytes > 256u << agreed)
        return MBEDTLS_ERR_SSL_BUFFER_TOO_SMALL;
    return status;
}

static int resumption_set(struct mbed_config *c)
{
    const struct weir_tls_options *const o = c->options;
    if (!c->server) {
        mbedtls_ssl_conf_session_tickets(&c->ssl, o->no_resumption ? MBEDTLS_SSL_SESSION_TICKETS_DISABLED
                                                                   : MBEDTLS_SSL_SESSION_TICKETS_ENABLED);
#ifdef MBEDTLS_SSL_PROTO_TLS1_3
        mbedtls_ssl_conf_tls13_enable_signal_new_session_tickets(
            &c->ssl, o->no_resumption ? MBEDTLS_SSL_TLS1_3_SIGNAL_NEW_SESSION_TICKETS_DISABLED
                                      : MBEDTLS_SSL_TLS1_3_SIGNAL_NEW_SESSION_TICKETS_ENABLED);
#endif
        return 0;
    }
    if (o->no_resumption)
        return 0;
    const int status =
        mbedtls_ssl_ticket_setup(&c->tickets, mbed_random, NULL, MBEDTLS_CIPHER_AES_128_GCM, o->ticket_lifetime_s);
    if (status == 0)
        mbedtls_ssl_conf_session_tickets_cb(&c->ssl, ticket_write, mbedtls_ssl_ticket_parse, &c->tickets);
    return status;
}

static int credentials_set(struct mbed_config *c)
{
    static const int modes[] = {[WEIR_TLS_VERIFY_NONE] = MBEDTLS_SSL_VERIFY_NONE,
                                [WEIR_TLS_VERIFY_OPTIONAL] = MBEDTLS_SSL_VERIFY_OPTIONAL,
                                [WEIR_TLS_VERIFY_REQUIRED] = MBEDTLS_SSL_VERIFY_REQUIRED};
    mbedtls_ssl_conf_authmode(&c->ssl, modes[c->options->verify]);
    if (!c->credentials)
        return 0;
    if (c->credentials->trusts)
        mbedtls_ssl_conf_ca_chain(&c->ssl, &c->credentials->trusted, NULL);
    return c->credentials->owns ? mbedtls_ssl_conf_own_cert(&c->ssl, &c->credentials->chain, &c->credentials->key) : 0;
}

// The name is chosen for by the session that asks: engine.c has the callback's context.
static int choose(void *context, mbedtls_ssl_context *ssl, const unsigned char *name, size_t length)
{
    const struct mbed_config *const c = context;
    struct weir_tls_credentials *const chosen =
        c->options->choose(c->options->choose_context, (const char *)name, length);
    if (!chosen)
        return MBEDTLS_ERR_SSL_UNRECOGNIZED_NAME;
    struct mbed_credentials *const own = tls_credentials_memory(chosen);
    return own->owns ? mbedtls_ssl_set_hs_own_cert(ssl, &own->chain, &own->key) : MBEDTLS_ERR_SSL_UNRECOGNIZED_NAME;
}

int mbed_config_open(void *config, const struct weir_tls_options *options, void *credentials)
{
    struct mbed_config *const c = config;
    initialise(c);
    c->options = options;
    c->credentials = credentials;
    c->server = options->role == WEIR_TLS_SERVER;
    int status = mbedtls_ssl_config_defaults(&c->ssl, c->server ? MBEDTLS_SSL_IS_SERVER : MBEDTLS_SSL_IS_CLIENT,
                                             MBEDTLS_SSL_TRANSPORT_STREAM, MBEDTLS_SSL_PRESET_DEFAULT);
    if (status)
        return mbed_error(status, WEIR_NOT_SUPPORTED);
    mbedtls_ssl_conf_rng(&c->ssl, mbed_random, NULL);
    suites_set(c);
    mbedtls_ssl_conf_sig_algs(&c->ssl, signatures);
    versions_set(c);
    if (options->choose)
        mbedtls_ssl_conf_sni(&c->ssl, choose, c);
    status = fragment_set(c);
    if (status == 0 && options->alpn)
        status = mbedtls_ssl_conf_alpn_protocols(&c->ssl, (const char **)(uintptr_t)options->alpn);
    if (status == 0)
        status = credentials_set(c);
    if (status == 0)
        status = resumption_set(c);
    return mbed_error(status, WEIR_INVALID);
}

void mbed_config_close(void *config)
{
    struct mbed_config *const c = config;
    if (!c->initialised)
        return;
    mbedtls_ssl_ticket_free(&c->tickets);
    mbedtls_ssl_config_free(&c->ssl);
}
