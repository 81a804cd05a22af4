// SPDX-License-Identifier: BSD-2-Clause
// The library set up, credentials and configurations: counted, so that they can be replaced while sessions use them.
#include <stdatomic.h>
#include <string.h>

#include "internal.h"

#define HANDSHAKES 4u
#define HANDSHAKE_TIMEOUT_MS 15000u
#define TICKET_LIFETIME_S 86400u
#define ALIGNED(type) ((sizeof(type) + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t))

static void *failed(int *error, int code)
{
    if (error)
        *error = code;
    return NULL;
}

// FNV-1a.
uint64_t tls_digest(uint64_t digest, const void *data, size_t bytes)
{
    const uint8_t *at = data;
    for (; bytes; bytes--)
        digest = (digest ^ *at++) * 0x100000001b3u;
    return digest;
}

// --- the library --------------------------------------------------------------------------------
struct weir_tls *weir_tls_create(const struct weir_tls_backend *backend, const struct weir_port *port,
                                 const struct weir_tls_system *system, int *error)
{
    int status = backend ? tls_environment_begin(port, system) : WEIR_INVALID;
    if (status)
        return failed(error, status);
    struct weir_tls *const tls = tls_alloc(sizeof *tls);
    status = tls ? backend->begin(&tls_services) : WEIR_NO_MEMORY;
    if (status) {
        tls_free(tls);
        tls_environment_end();
        return failed(error, status);
    }
    tls->backend = backend;
    return tls;
}

void weir_tls_destroy(struct weir_tls *tls)
{
    if (!tls)
        return;
    tls->backend->end();
    for (struct tls_place *place = atomic_load(&tls->places), *next; place; place = next) {
        next = place->next;
        tls_free(place);
    }
    tls_free(tls);
    tls_environment_end();
}

uint32_t weir_tls_sessions(const struct weir_tls *tls) { return atomic_load(&tls->sessions); }

// --- closed sessions that still say their end ---------------------------------------------------
static bool place_claim(struct tls_place *place, struct weir_tls_session *session)
{
    struct weir *nobody = NULL;
    if (!atomic_compare_exchange_strong(&place->weir, &nobody, session->weir))
        return false;
    place->session = session;
    return true;
}

struct tls_place *tls_place_take(struct weir_tls_session *session)
{
    struct weir_tls *const tls = session->config->tls;
    struct tls_place *place = atomic_load(&tls->places);
    while (place && !place_claim(place, session))
        place = place->next;
    if (place)
        return place;
    place = tls_alloc(sizeof *place);
    if (!place)
        return NULL;
    (void)place_claim(place, session);
    place->next = atomic_load(&tls->places);
    while (!atomic_compare_exchange_weak(&tls->places, &place->next, place))
        ;
    return place;
}

void tls_place_leave(struct tls_place *place) { atomic_store(&place->weir, NULL); }

void weir_tls_forget(struct weir_tls *tls, const struct weir *weir)
{
    for (struct tls_place *place = atomic_load(&tls->places); place; place = place->next) {
        if (atomic_load(&place->weir) != weir)
            continue;
        struct weir_tls_session *const session = place->session;
        tls_place_leave(place);
        tls_session_discard(session);
    }
}

// --- credentials --------------------------------------------------------------------------------
void *tls_credentials_memory(struct weir_tls_credentials *credentials)
{
    return (uint8_t *)credentials + ALIGNED(struct weir_tls_credentials);
}

struct weir_tls_credentials *weir_tls_credentials_create(struct weir_tls *tls, int *error)
{
    struct weir_tls_credentials *const made =
        tls_alloc(ALIGNED(struct weir_tls_credentials) + tls->backend->credentials_bytes);
    if (!made)
        return failed(error, WEIR_NO_MEMORY);
    made->tls = tls;
    made->digest = TLS_DIGEST;
    atomic_store(&made->users, 1);
    return made;
}

int weir_tls_credentials_trust(struct weir_tls_credentials *credentials, const void *certificates, size_t bytes)
{
    credentials->digest = tls_digest(credentials->digest, certificates, bytes);
    return credentials->tls->backend->trust(tls_credentials_memory(credentials), certificates, bytes);
}

int weir_tls_credentials_own(struct weir_tls_credentials *credentials, const void *chain, size_t chain_bytes,
                             const void *key, size_t key_bytes)
{
    if (credentials->owns)
        return WEIR_INVALID;
    credentials->owns = true;
    return credentials->tls->backend->own(tls_credentials_memory(credentials), chain, chain_bytes, key, key_bytes);
}

void weir_tls_credentials_hold(struct weir_tls_credentials *credentials) { atomic_fetch_add(&credentials->users, 1); }

void weir_tls_credentials_release(struct weir_tls_credentials *credentials)
{
    if (!credentials || atomic_fetch_sub(&credentials->users, 1) != 1)
        return;
    credentials->tls->backend->credentials_close(tls_credentials_memory(credentials));
    tls_free(credentials);
}

// --- configurations -----------------------------------------------------------------------------
void *tls_config_memory(struct weir_tls_config *config) { return (uint8_t *)config + ALIGNED(struct weir_tls_config); }

// A copy of the list and its names in one piece.
static const char **alpn_copy(const char *const *from)
{
    size_t count = 0, bytes = 0;
    for (; from[count]; count++)
        bytes += strlen(from[count]) + 1;
    const char **const list = tls_alloc((count + 1) * sizeof *list + bytes);
    char *at = (char *)(list + count + 1);
    for (size_t i = 0; list && i < count; i++) {
        bytes = strlen(from[i]) + 1;
        list[i] = memcpy(at, from[i], bytes);
        at += bytes;
    }
    return list;
}

static void options_complete(struct weir_tls_options *o)
{
    if (o->verify == WEIR_TLS_VERIFY_DEFAULT)
        o->verify = o->role == WEIR_TLS_CLIENT ? WEIR_TLS_VERIFY_REQUIRED : WEIR_TLS_VERIFY_NONE;
    if (!o->handshakes)
        o->handshakes = HANDSHAKES;
    if (!o->handshake_timeout_ms)
        o->handshake_timeout_ms = HANDSHAKE_TIMEOUT_MS;
    if (!o->ticket_lifetime_s)
        o->ticket_lifetime_s = TICKET_LIFETIME_S;
}

static bool options_good(const struct weir_tls_options *o)
{
    const uint16_t f = o->max_fragment, low = o->version_min, high = o->version_max;
    const bool versions =
        (!low || low == WEIR_TLS_1_2 || low == WEIR_TLS_1_3) && (!high || high == WEIR_TLS_1_2 || high == WEIR_TLS_1_3);
    return versions && (!low || !high || low <= high) && (f == 0 || f == 512 || f == 1024 || f == 2048 || f == 4096) &&
           (o->role == WEIR_TLS_CLIENT || o->role == WEIR_TLS_SERVER) && o->record_bytes <= 16384 &&
           (o->role == WEIR_TLS_CLIENT || o->choose || (o->credentials && o->credentials->owns));
}

static uint64_t config_digest(const struct weir_tls_config *config)
{
    uint64_t digest = config->options.credentials ? config->options.credentials->digest : TLS_DIGEST;
    digest = tls_digest(digest, &config->options.verify, sizeof config->options.verify);
    for (const char **name = config->alpn; name && *name; name++)
        digest = tls_digest(digest, *name, strlen(*name) + 1);
    return digest;
}

struct weir_tls_config *weir_tls_config_create(struct weir_tls *tls, const struct weir_tls_options *options, int *error)
{
    if (!options || !options_good(options))
        return failed(error, WEIR_INVALID);
    const uint32_t refused = tls_refused();
    struct weir_tls_config *const config = tls_alloc(ALIGNED(struct weir_tls_config) + tls->backend->config_bytes);
    const char **const alpn = options->alpn ? alpn_copy(options->alpn) : NULL;
    if (!config || (options->alpn && !alpn)) {
        tls_free(config);
        tls_free(alpn);
        return failed(error, WEIR_NO_MEMORY);
    }
    config->tls = tls;
    config->options = *options;
    config->alpn = alpn;
    config->options.alpn = alpn;
    options_complete(&config->options);
    config->digest = config_digest(config);
    atomic_store(&config->users, 1);
    if (options->credentials)
        weir_tls_credentials_hold(options->credentials);
    void *const own = options->credentials ? tls_credentials_memory(options->credentials) : NULL;
    const int status = tls_reason(refused, tls->backend->config_open(tls_config_memory(config), &config->options, own));
    if (status) {
        weir_tls_config_release(config);
        return failed(error, status);
    }
    return config;
}

void tls_config_hold(struct weir_tls_config *config) { atomic_fetch_add(&config->users, 1); }

void weir_tls_config_release(struct weir_tls_config *config)
{
    if (!config || atomic_fetch_sub(&config->users, 1) != 1)
        return;
    config->tls->backend->config_close(tls_config_memory(config));
    weir_tls_credentials_release(config->options.credentials);
    tls_free(config->alpn);
    tls_free(config);
}

int weir_tls_may_accept(const struct weir_tls_config *config)
{
    return atomic_load(&config->handshakes) < config->options.handshakes;
}

bool tls_handshake_begin(struct weir_tls_config *config)
{
    if (config->options.role == WEIR_TLS_CLIENT)
        return true;
    if (atomic_fetch_add(&config->handshakes, 1) < config->options.handshakes)
        return true;
    atomic_fetch_sub(&config->handshakes, 1);
    return false;
}

void tls_handshake_end(struct weir_tls_config *config)
{
    if (config->options.role == WEIR_TLS_SERVER)
        atomic_fetch_sub(&config->handshakes, 1);
}

const char *weir_tls_error_name(int error)
{
    switch (error) {
    case WEIR_TLS_TRUNCATED: return "WEIR_TLS_TRUNCATED";
    case WEIR_TLS_ALERT: return "WEIR_TLS_ALERT";
    case WEIR_TLS_CERTIFICATE: return "WEIR_TLS_CERTIFICATE";
    case WEIR_TLS_PROTOCOL: return "WEIR_TLS_PROTOCOL";
    case WEIR_TLS_CREDENTIALS: return "WEIR_TLS_CREDENTIALS";
    case WEIR_TLS_ENTROPY: return "WEIR_TLS_ENTROPY";
    case WEIR_TLS_MANY: return "WEIR_TLS_MANY";
    case WEIR_TLS_ENDED: return "WEIR_TLS_ENDED";
    case WEIR_TLS_KEY_UPDATE: return "WEIR_TLS_KEY_UPDATE";
    case WEIR_TLS_KEY_LIMIT: return "WEIR_TLS_KEY_LIMIT";
    default: return weir_error_name(error);
    }
}
