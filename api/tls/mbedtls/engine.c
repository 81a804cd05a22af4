// SPDX-License-Identifier: BSD-2-Clause
// One session of Mbed TLS. The library copies a record out of the pipe into its own buffer, decrypts it there, and
// gives out plaintext; and the other way round. So a record may be longer than the stream's queues.
#include <string.h>

#include <mbedtls/error.h>

#include "tls/mbedtls/internal.h"

#define KEY_UPDATE 24     // RFC 8446 §4: the library has no name for it
#define SILENT_CALLS 64u  // the library may return without plaintext so often in one call: alerts, empty records

struct engine {
    mbedtls_ssl_context ssl;
    struct mbed_config *config;
    struct tls_pipe *pipe;
    mbedtls_ssl_session saved;
    char *address;   // compared, and not sent
    int pipe_error;  // what the pipe said, but for WEIR_AGAIN; WEIR_OK
    int library_error;
    int alert;       // −1: none came
    bool blocked;    // the pipe said WEIR_AGAIN in this call
    bool fin;        // the pipe said that there is no more
    bool certified;  // certificates were exchanged: not resumed
    bool kept;       // `saved` has something
    bool said;       // close_notify was made
    bool initialised;
    uint16_t verify;  // what a callback added
};

// Fields that no function of the library shows.
static int state_of(const struct engine *e) { return e->ssl.MBEDTLS_PRIVATE(state); }
static bool holds_output(const struct engine *e) { return e->ssl.MBEDTLS_PRIVATE(out_left) != 0; }
static bool alerted(const struct engine *e)
{
    return e->ssl.MBEDTLS_PRIVATE(out_msgtype) == MBEDTLS_SSL_MSG_ALERT || e->ssl.MBEDTLS_PRIVATE(alert_reason) != 0;
}
static int alert_of(const struct engine *e)
{
    return e->ssl.MBEDTLS_PRIVATE(in_msg) ? e->ssl.MBEDTLS_PRIVATE(in_msg)[1] : -1;
}

static int receive(void *context, unsigned char *data, size_t bytes)
{
    struct engine *const e = context;
    const int got = e->pipe->receive(e->pipe, data, bytes < INT32_MAX ? (uint32_t)bytes : INT32_MAX);
    e->blocked = e->blocked || got == WEIR_AGAIN;
    e->fin = e->fin || got == 0;
    if (got >= 0 || got == WEIR_AGAIN)
        return got == WEIR_AGAIN ? MBEDTLS_ERR_SSL_WANT_READ : got;
    e->pipe_error = got;
    return MBEDTLS_ERR_SSL_CONN_EOF;
}

static int send(void *context, const unsigned char *data, size_t bytes)
{
    struct engine *const e = context;
    const int sent = e->pipe->send(e->pipe, data, bytes < INT32_MAX ? (uint32_t)bytes : INT32_MAX);
    e->blocked = e->blocked || sent == WEIR_AGAIN;
    if (sent >= 0 || sent == WEIR_AGAIN)
        return sent == WEIR_AGAIN ? MBEDTLS_ERR_SSL_WANT_WRITE : sent;
    e->pipe_error = sent;
    return MBEDTLS_ERR_SSL_CONN_EOF;
}

static bool waits(int status) { return status == MBEDTLS_ERR_SSL_WANT_READ || status == MBEDTLS_ERR_SSL_WANT_WRITE; }

// The library says most of what goes wrong to the peer; the rest is said here (RFC 8446 §6.2). Where output is held its
// function for alerts puts out only that.
static int alert_send(struct engine *e, int error, uint8_t alert)
{
    const bool said = alerted(e);
    if (holds_output(e))
        (void)mbedtls_ssl_send_alert_message(&e->ssl, MBEDTLS_SSL_ALERT_LEVEL_FATAL, alert);
    if (!said && !holds_output(e))
        (void)mbedtls_ssl_send_alert_message(&e->ssl, MBEDTLS_SSL_ALERT_LEVEL_FATAL, alert);
    return error;
}

#ifdef MBEDTLS_SSL_PROTO_TLS1_3
// To the library a KeyUpdate is one of the messages that are out of place.
static bool key_update_came(struct engine *e)
{
    const unsigned char *const message = e->ssl.MBEDTLS_PRIVATE(in_msg);
    return mbedtls_ssl_is_handshake_over(&e->ssl) &&
           mbedtls_ssl_get_version_number(&e->ssl) == MBEDTLS_SSL_VERSION_TLS1_3 && message != NULL &&
           e->ssl.MBEDTLS_PRIVATE(in_msgtype) == MBEDTLS_SSL_MSG_HANDSHAKE && message[0] == KEY_UPDATE;
}
#else
static bool key_update_came(struct engine *e) { return (void)e, false; }
#endif

// What the library's error is in the contract.
static int outcome(struct engine *e, int status)
{
    if (waits(status))
        return WEIR_AGAIN;
    e->library_error = status;
    if (e->pipe_error)
        return e->pipe_error;
    switch (status) {
    case MBEDTLS_ERR_SSL_CONN_EOF: return WEIR_TLS_TRUNCATED;
    case MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY: return WEIR_TLS_TRUNCATED;  // before the handshake's end
    case MBEDTLS_ERR_SSL_FATAL_ALERT_MESSAGE: e->alert = alert_of(e); return WEIR_TLS_ALERT;
    case MBEDTLS_ERR_SSL_NO_CLIENT_CERTIFICATE:
        e->verify |= WEIR_TLS_VERIFY_MISSING;
        return alert_send(e, WEIR_TLS_CERTIFICATE, MBEDTLS_SSL_ALERT_MSG_HANDSHAKE_FAILURE);
    case MBEDTLS_ERR_SSL_BAD_CERTIFICATE:
    case MBEDTLS_ERR_X509_CERT_VERIFY_FAILED:
        return alert_send(e, WEIR_TLS_CERTIFICATE, MBEDTLS_SSL_ALERT_MSG_BAD_CERT);
    case MBEDTLS_ERR_SSL_UNEXPECTED_MESSAGE:
        return alert_send(e, key_update_came(e) ? WEIR_TLS_KEY_UPDATE : WEIR_TLS_PROTOCOL,
                          MBEDTLS_SSL_ALERT_MSG_UNEXPECTED_MESSAGE);
    case MBEDTLS_ERR_SSL_INVALID_RECORD: return alert_send(e, WEIR_TLS_PROTOCOL, MBEDTLS_SSL_ALERT_MSG_DECODE_ERROR);
    default: return alert_send(e, mbed_error(status, WEIR_TLS_PROTOCOL), MBEDTLS_SSL_ALERT_MSG_INTERNAL_ERROR);
    }
}

// --- opening ------------------------------------------------------------------------------------
// Validity periods say nothing while the time is not known.
static int verify(void *context, mbedtls_x509_crt *certificate, int depth, uint32_t *flags)
{
    struct engine *const e = context;
    const uint32_t timed = MBEDTLS_X509_BADCERT_EXPIRED | MBEDTLS_X509_BADCERT_FUTURE;
    (void)certificate, (void)depth;
    if (mbed_services->unix_time() >= 0)
        return 0;
    e->verify |= WEIR_TLS_VERIFY_NO_TIME;
    if (e->config->options->time_optional)
        *flags &= ~timed;
    return 0;
}

static char *copied(const char *text)
{
    const size_t bytes = strlen(text) + 1;
    char *const copy = mbed_services->alloc(bytes);
    return copy ? memcpy(copy, text, bytes) : NULL;
}

// An address is set only after the ClientHello has been written (step).
static int name_set(struct engine *e, const struct tls_engine_options *options)
{
    if (!options->name_is_address)
        return mbedtls_ssl_set_hostname(&e->ssl, options->name);
    e->address = copied(options->name);
    return e->address ? mbedtls_ssl_set_hostname(&e->ssl, NULL) : MBEDTLS_ERR_SSL_ALLOC_FAILED;
}

// A blob that cannot be read is none.
static int resume_set(struct engine *e, const struct tls_engine_options *options)
{
    mbedtls_ssl_session session;
    mbedtls_ssl_session_init(&session);
    int status = mbedtls_ssl_session_load(&session, options->resume, options->resume_bytes);
    if (status == 0)
        status = mbedtls_ssl_set_session(&e->ssl, &session);
    mbedtls_ssl_session_free(&session);
    return status == MBEDTLS_ERR_SSL_ALLOC_FAILED ? status : 0;
}

static int engine_open(void *engine, void *config, const struct tls_engine_options *options)
{
    struct engine *const e = engine;
    e->config = config;
    e->pipe = options->pipe;
    e->alert = -1;
    mbedtls_ssl_init(&e->ssl);
    mbedtls_ssl_session_init(&e->saved);
    e->initialised = true;
    int status = mbedtls_ssl_setup(&e->ssl, &e->config->ssl);
    if (status == 0 && !e->config->server)
        status = name_set(e, options);
    if (status == 0 && options->resume)
        status = resume_set(e, options);
    if (status)
        return mbed_error(status, WEIR_INVALID);
    mbedtls_ssl_set_bio(&e->ssl, e, send, receive, NULL);
    mbedtls_ssl_set_verify(&e->ssl, verify, e);
    return WEIR_OK;
}

static void engine_close(void *engine)
{
    struct engine *const e = engine;
    if (!e->initialised)
        return;
    mbedtls_ssl_free(&e->ssl);
    mbedtls_ssl_session_free(&e->saved);
    mbed_services->free(e->address);
}

// --- the handshake ------------------------------------------------------------------------------
// The name of an
// address goes into no ClientHello, and is there when the certificate comes.
static int address_place(struct engine *e)
{
    if (!e->address)
        return 0;
    const bool hello = state_of(e) == MBEDTLS_SSL_HELLO_REQUEST || state_of(e) == MBEDTLS_SSL_CLIENT_HELLO;
    return mbedtls_ssl_set_hostname(&e->ssl, hello ? NULL : e->address);
}

static int engine_step(void *engine)
{
    struct engine *const e = engine;
    e->blocked = false;
    int status = address_place(e);
    if (status == 0)
        status = mbedtls_ssl_handshake_step(&e->ssl);
    e->certified = e->certified || state_of(e) == MBEDTLS_SSL_SERVER_CERTIFICATE;
    if (status)
        return outcome(e, status);
    return mbedtls_ssl_is_handshake_over(&e->ssl) ? WEIR_OK : WEIR_IN_PROGRESS;
}

// --- data ---------------------------------------------------------------------------------------
static void session_keep(struct engine *e)
{
    mbedtls_ssl_session_free(&e->saved);
    mbedtls_ssl_session_init(&e->saved);
    e->kept = mbedtls_ssl_get_session(&e->ssl, &e->saved) == 0;
}

// A ticket may come to light in any call of a client's: it is no error, and the call is to be made again.
#ifdef MBEDTLS_SSL_PROTO_TLS1_3
static bool ticket_came(struct engine *e, int status)
{
    if (status == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET)
        session_keep(e);
    return status == MBEDTLS_ERR_SSL_RECEIVED_NEW_SESSION_TICKET;
}
#else
static bool ticket_came(struct engine *e, int status) { return (void)e, (void)status, false; }
#endif

// Takes a ticket that was being read. 0, or the library's error.
static int settle(struct engine *e)
{
    while (state_of(e) != MBEDTLS_SSL_HANDSHAKE_OVER) {
        const int status = mbedtls_ssl_handshake(&e->ssl);
        if (status != 0 && !ticket_came(e, status))
            return status;
    }
    return 0;
}

// One call of the library, until there is plaintext, an end, or a reason to wait. `data` NULL: only decrypts.
static int read_or_look(struct engine *e, unsigned char *data, size_t bytes)
{
    e->blocked = false;
    for (uint32_t calls = 0; calls < SILENT_CALLS; calls++) {
        const int got = mbedtls_ssl_read(&e->ssl, data, bytes);
        const size_t waiting = mbedtls_ssl_get_bytes_avail(&e->ssl);
        if (got > 0 || (got == 0 && waiting > 0))
            return got > 0 ? got : (int)waiting;
        if (got == MBEDTLS_ERR_SSL_PEER_CLOSE_NOTIFY)
            return 0;
        if (got == 0 && e->fin)
            return e->pipe_error ? e->pipe_error : WEIR_TLS_TRUNCATED;
        if (got != 0 && !ticket_came(e, got) && (!waits(got) || e->blocked))
            return outcome(e, got);
    }
    return WEIR_TLS_PROTOCOL;
}

static int engine_read(void *engine, void *data, uint32_t bytes) { return read_or_look(engine, data, bytes); }

static int engine_pending(void *engine)
{
    struct engine *const e = engine;
    const size_t waiting = mbedtls_ssl_get_bytes_avail(&e->ssl);
    return waiting > 0 ? (int)waiting : read_or_look(e, NULL, 0);
}

static bool engine_holds(const void *engine)
{
    const struct engine *const e = engine;
    return mbedtls_ssl_get_bytes_avail(&e->ssl) > 0 || mbedtls_ssl_check_pending(&e->ssl);
}

// Where output is held, a write puts out just that.
static int engine_flush(void *engine)
{
    static const unsigned char nothing[1];
    struct engine *const e = engine;
    e->blocked = false;
    if (!mbedtls_ssl_is_handshake_over(&e->ssl))
        return WEIR_OK;
    int status = settle(e);
    if (status == 0 && holds_output(e))
        status = mbedtls_ssl_write(&e->ssl, nothing, 0);
    return status == 0 ? WEIR_OK : outcome(e, status);
}

// A record that was made and did not leave is taken all the same. (flush has settled the session.)
static int engine_write(void *engine, const void *data, uint32_t bytes)
{
    struct engine *const e = engine;
    e->blocked = false;
    const int most = mbedtls_ssl_get_max_out_record_payload(&e->ssl);
    const uint32_t part = most > 0 && bytes > (uint32_t)most ? (uint32_t)most : bytes;
    const int status = mbedtls_ssl_write(&e->ssl, data, part);
    if (status == MBEDTLS_ERR_SSL_WANT_WRITE && holds_output(e))
        return (int)part;
    return status > 0 ? status : outcome(e, status);
}

static int engine_finish(void *engine)
{
    struct engine *const e = engine;
    int status = engine_flush(e);
    if (status || e->said)
        return status;
    e->said = true;
    e->blocked = false;
    status = mbedtls_ssl_close_notify(&e->ssl);
    return status == 0 ? WEIR_OK : outcome(e, status);
}

// --- what is told -------------------------------------------------------------------------------
static int engine_save(void *engine, void *out, size_t size)
{
    struct engine *const e = engine;
    size_t bytes = 0;
    if (!e->kept && mbedtls_ssl_get_version_number(&e->ssl) == MBEDTLS_SSL_VERSION_TLS1_2)
        session_keep(e);
    if (!e->kept)
        return WEIR_AGAIN;
    const int status = mbedtls_ssl_session_save(&e->saved, out, size, &bytes);
    if (status)
        return status == MBEDTLS_ERR_SSL_BUFFER_TOO_SMALL ? WEIR_TOO_BIG : WEIR_NO_MEMORY;
    return (int)bytes;
}

static uint16_t verify_bits(uint32_t flags)
{
    static const struct {
        uint32_t library;
        uint16_t ours;
    } table[] = {
        {MBEDTLS_X509_BADCERT_NOT_TRUSTED, WEIR_TLS_VERIFY_UNTRUSTED},
        {MBEDTLS_X509_BADCERT_EXPIRED, WEIR_TLS_VERIFY_EXPIRED},
        {MBEDTLS_X509_BADCERT_FUTURE, WEIR_TLS_VERIFY_NOT_YET},
        {MBEDTLS_X509_BADCERT_CN_MISMATCH, WEIR_TLS_VERIFY_NAME},
        {MBEDTLS_X509_BADCERT_BAD_MD | MBEDTLS_X509_BADCERT_BAD_PK | MBEDTLS_X509_BADCERT_BAD_KEY,
         WEIR_TLS_VERIFY_WEAK},
        {MBEDTLS_X509_BADCERT_MISSING, WEIR_TLS_VERIFY_MISSING},
        {MBEDTLS_X509_BADCERT_KEY_USAGE | MBEDTLS_X509_BADCERT_EXT_KEY_USAGE | MBEDTLS_X509_BADCERT_NS_CERT_TYPE,
         WEIR_TLS_VERIFY_USAGE},
        {MBEDTLS_X509_BADCERT_REVOKED, WEIR_TLS_VERIFY_REVOKED},
    };
    uint16_t bits = 0;
    if (flags == UINT32_MAX)  // there was none to look at
        return 0;
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        bits |= flags & table[i].library ? table[i].ours : 0;
        flags &= ~table[i].library;
    }
    flags &= ~(uint32_t)MBEDTLS_X509_BADCERT_SKIP_VERIFY;
    return flags ? bits | WEIR_TLS_VERIFY_OTHER : bits;
}

static void engine_info(const void *engine, struct weir_tls_info *info)
{
    const struct engine *const e = engine;
    const bool over = mbedtls_ssl_is_handshake_over((mbedtls_ssl_context *)(uintptr_t)&e->ssl);
    info->alert_received = (int16_t)e->alert;
    info->library_error = e->library_error;
    info->verify = e->verify | verify_bits(mbedtls_ssl_get_verify_result(&e->ssl));
    if (!over)
        return;
    info->version = (uint16_t)mbedtls_ssl_get_version_number(&e->ssl);
    info->resumed = !e->certified;
    info->record_in = (uint16_t)mbedtls_ssl_get_max_in_record_payload(&e->ssl);
    info->record_out = (uint16_t)mbedtls_ssl_get_max_out_record_payload(&e->ssl);
    info->suite = mbedtls_ssl_get_ciphersuite(&e->ssl);
    info->alpn = mbedtls_ssl_get_alpn_protocol(&e->ssl);
}

static size_t engine_peer_certificate(const void *engine, const uint8_t **der)
{
    const struct engine *const e = engine;
    const mbedtls_x509_crt *const certificate = mbedtls_ssl_get_peer_cert(&e->ssl);
    *der = certificate ? certificate->raw.p : NULL;
    return certificate ? certificate->raw.len : 0;
}

const struct weir_tls_backend weir_tls_mbedtls = {
    .name = "Mbed TLS",
    .begin = mbed_begin,
    .end = mbed_end,
    .credentials_bytes = sizeof(struct mbed_credentials),
    .config_bytes = sizeof(struct mbed_config),
    .engine_bytes = sizeof(struct engine),
    .trust = mbed_trust,
    .own = mbed_own,
    .credentials_close = mbed_credentials_close,
    .config_open = mbed_config_open,
    .config_close = mbed_config_close,
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
