// SPDX-License-Identifier: BSD-2-Clause
// TLS under a descriptor: a layer of api/bsd between it and its stream.
#include "bsd/internal.h"
#include "internal.h"
#include "weir_tls_sockets.h"

#include <stdatomic.h>

#define PIECE 512u  // by way of our stack: the caller's memory may fault
#define NAME_MAX 256u
#define PROTOCOLS 8u
#define PROTOCOL_BYTES 64u

// A context with TLS.
struct sockets {
    struct weir_tls *tls;
    struct {
        int tag;
        struct weir_tls_credentials *credentials;
    } tags[WEIR_TLS_TAGS];
};

// A descriptor with TLS.
struct socket_state {
    struct sockets *sockets;
    struct weir_tls_config *config;
    struct weir_tls_session *session;
    struct weir_tls_options options;
    const char *protocols[PROTOCOLS + 1];
    char protocol_text[PROTOCOL_BYTES];
    char name[NAME_MAX];
    bool named;
    int error;
};

static struct socket_state *state_of(const struct bsd_file *file);

// What the descriptor's user is told.
static int told(struct socket_state *state, int error)
{
    if (error > WEIR_TLS_TRUNCATED)
        return error;
    state->error = error;
    return error == WEIR_TLS_TRUNCATED ? WEIR_RESET : error == WEIR_TLS_ENDED ? WEIR_SHUT_DOWN : WEIR_ABORTED;
}

// --- session ------------------------------------------------------------------------------------
static int config_of(struct socket_state *state)
{
    int error = WEIR_OK;
    if (!state->config)
        state->config = weir_tls_config_create(state->sockets->tls, &state->options, &error);
    return error;
}

// The session, made when it is needed first. Lock held.
static int session_of(struct bsd_file *file, struct weir_tls_session **session)
{
    struct socket_state *const state = state_of(file);
    const struct weir_tls_session_options options = {.name = state->named ? state->name : NULL};
    int error = state->error;
    if (!state->session && !error)
        error = config_of(state);
    if (!state->session && !error)
        state->session = tls_session_make(state->config, &tls_fd, file->bsd->weir, &options, &error);
    *session = state->session;
    if (!state->session)
        return told(state, error ? error : WEIR_NO_MEMORY);
    if (state->session->file)
        return WEIR_OK;
    state->session->bsd = file->bsd;
    state->session->file = file;
    state->session->socket = file->socket;
    tls_stream_take(file->bsd->weir, file->socket);
    return WEIR_OK;
}

// --- what a descriptor does ---------------------------------------------------------------------
static int layer_send(struct bsd_transfer *t, int flags)
{
    struct weir_bsd *const bsd = t->file->bsd;
    struct weir_tls_session *session;
    uint8_t piece[PIECE];
    size_t done = 0;
    int status = flags & WEIR_MSG_OOB ? WEIR_NOT_SUPPORTED : session_of(t->file, &session);
    while (!status && done < t->bytes) {
        const size_t left = t->bytes - done, part = left < sizeof piece ? left : sizeof piece;
        struct bsd_cursor ahead = t->cursor;
        bsd_leave(bsd);
        int taken = bsd_cursor_in(bsd, &ahead, piece, part);
        if (!taken)
            taken = t->wait ? weir_tls_write(session, piece, (uint32_t)part)
                            : tls_session_write(session, piece, (uint32_t)part);
        // The cursor moves by what was taken; the copy is made again of the rest.
        const int moved = taken > 0 ? bsd_cursor_in(bsd, &t->cursor, piece, (size_t)taken) : WEIR_OK;
        bsd_enter(bsd);
        done += taken > 0 ? (size_t)taken : 0;
        status = taken < 0 ? taken : moved;
    }
    return done ? (int)done : status < 0 ? told(state_of(t->file), status) : 0;
}

static int layer_receive(struct bsd_transfer *t, int flags)
{
    struct weir_bsd *const bsd = t->file->bsd;
    struct weir_tls_session *session;
    uint8_t piece[PIECE];
    size_t done = 0;
    const size_t low_water = t->file->receive_low_water < t->bytes ? t->file->receive_low_water : t->bytes;
    const size_t target = flags & WEIR_MSG_WAITALL ? t->bytes : low_water;
    int status =
        flags & (WEIR_MSG_OOB | WEIR_MSG_PEEK | WEIR_MSG_TRUNC) ? WEIR_NOT_SUPPORTED : session_of(t->file, &session);
    bool more = true;
    while (!status && more && done < t->bytes) {
        const size_t left = t->bytes - done, part = left < sizeof piece ? left : sizeof piece;
        const bool waits = t->wait && done < target;
        bsd_leave(bsd);
        const int got =
            waits ? weir_tls_read(session, piece, (uint32_t)part) : tls_session_read(session, piece, (uint32_t)part);
        status = got > 0 ? bsd_cursor_out(bsd, &t->cursor, piece, (size_t)got) : got;
        bsd_enter(bsd);
        done += got > 0 ? (size_t)got : 0;
        more = got > 0;
    }
    if (!status && session->holds)  // who polls hears of what is inside from us alone
        bsd_file_notify(t->file, WEIR_READABLE);
    return done ? (int)done : status < 0 ? told(state_of(t->file), status) : 0;
}

static int layer_connected(struct bsd_file *file)
{
    struct weir_tls_session *session;
    int status = session_of(file, &session);
    if (status)
        return status;
    bsd_leave(file->bsd);
    status = weir_tls_handshake(session);
    bsd_enter(file->bsd);
    return status == WEIR_AGAIN ? WEIR_TIMED_OUT : told(state_of(file), status);
}

static int layer_shutdown(struct bsd_file *file)
{
    struct weir_tls_session *const session = state_of(file)->session;
    if (!session)
        return WEIR_OK;
    bsd_leave(file->bsd);
    const int status = weir_tls_shutdown(session);
    bsd_enter(file->bsd);
    return status;
}

// A descriptor that blocks may wait a little for room to say its end.
static void layer_closing(struct bsd_file *file)
{
    struct weir_tls_session *const session = state_of(file)->session;
    if (!session)
        return;
    bsd_leave(file->bsd);
    if (tls_session_end(session) == WEIR_AGAIN && !(file->flags & BSD_NONBLOCK))
        (void)session->transport->linger(session);
    bsd_enter(file->bsd);
    tls_drain(session);
}

static int layer_ready(struct bsd_file *file)
{
    const struct socket_state *const state = state_of(file);
    return state->session && state->session->holds ? WEIR_READABLE : state->error ? WEIR_READABLE | WEIR_WRITABLE : 0;
}

static int layer_readable(struct bsd_file *file)
{
    struct weir_tls_session *const session = state_of(file)->session;
    if (!session)
        return 0;
    bsd_leave(file->bsd);
    const int bytes = tls_session_pending(session);
    bsd_enter(file->bsd);
    return bytes;
}

static void layer_end(struct bsd_file *file)
{
    struct socket_state *const state = state_of(file);
    if (state->session)
        tls_session_discard(state->session);
    weir_tls_config_release(state->config);
    weir_tls_credentials_release(state->options.credentials);
    tls_free(state);
}

static int layer_accepted(struct bsd_file *listener, struct bsd_file *file);
static const struct bsd_layer tls_layer = {layer_send,  layer_receive,  layer_connected, layer_accepted, layer_shutdown,
                                           layer_ready, layer_readable, layer_closing,   layer_end};

#if WEIR_CFG_BSD_LAYERS
static struct socket_state *state_of(const struct bsd_file *file) { return file->layer_state; }

static void state_put(struct bsd_file *file, struct socket_state *state)
{
    file->layer_state = state;
    file->layer = &tls_layer;
}

static void kind_put(struct weir_bsd *bsd, const struct bsd_layer_kind *kind, void *context)
{
    bsd->layers_context = context;
    bsd->layers = kind;
}
static struct sockets *sockets_of(const struct weir_bsd *bsd) { return bsd->layers_context; }
enum { BUILT_IN = true };
#else
static struct socket_state *state_of(const struct bsd_file *file) { return (void)file, NULL; }
static void state_put(struct bsd_file *file, struct socket_state *state) { (void)file, (void)state, (void)tls_layer; }
static void kind_put(struct weir_bsd *bsd, const struct bsd_layer_kind *kind, void *context)
{
    (void)bsd, (void)kind, (void)context;
}
static struct sockets *sockets_of(const struct weir_bsd *bsd) { return (void)bsd, NULL; }
enum { BUILT_IN = false };
#endif

static struct socket_state *state_make(struct sockets *sockets, struct bsd_file *file)
{
    struct socket_state *const state = tls_alloc(sizeof *state);
    if (!state)
        return NULL;
    state->sockets = sockets;
    state_put(file, state);
    return state;
}

// A server's descriptors share its configuration.
static int layer_accepted(struct bsd_file *listener, struct bsd_file *file)
{
    struct socket_state *const from = state_of(listener);
    from->options.role = WEIR_TLS_SERVER;
    from->options.handshakes = UINT32_MAX;  // the application bounds them by what it accepts
    const int error = config_of(from);
    struct socket_state *const state = error ? NULL : state_make(from->sockets, file);
    if (!state)
        return error ? told(from, error) : WEIR_NO_MEMORY;
    state->config = from->config;
    tls_config_hold(state->config);
    return WEIR_OK;
}

// --- options ------------------------------------------------------------------------------------
static int set_tag(struct sockets *sockets, struct bsd_file *file, int tag)
{
    for (uint32_t i = 0; i < WEIR_TLS_TAGS; i++) {
        if (!sockets->tags[i].credentials || sockets->tags[i].tag != tag)
            continue;
        struct socket_state *const state = state_of(file) ? state_of(file) : state_make(sockets, file);
        if (!state)
            return WEIR_NO_MEMORY;
        weir_tls_credentials_release(state->options.credentials);
        state->options.credentials = sockets->tags[i].credentials;
        weir_tls_credentials_hold(state->options.credentials);
        return WEIR_OK;
    }
    return BSD_NOT_THERE;
}

// With its end or without.
static int set_name(struct socket_state *state, const char *name, size_t length)
{
    const char *const zero = memchr(name, 0, length);
    length = zero ? (size_t)(zero - name) : length;
    if (length >= sizeof state->name)
        return WEIR_INVALID;
    memcpy(state->name, name, length);
    state->name[length] = '\0';
    state->named = true;
    return WEIR_OK;
}

static int set_protocols(struct socket_state *state, const char *const *names, size_t count)
{
    size_t at = 0;
    for (size_t i = 0; i < count && i < PROTOCOLS; i++)
        at += strlen(names[i]) + 1;
    if (count > PROTOCOLS || at > sizeof state->protocol_text)
        return WEIR_INVALID;  // the list before it stays whole
    at = 0;
    for (size_t i = 0; i < count; i++) {
        const size_t bytes = strlen(names[i]) + 1;
        state->protocols[i] = memcpy(state->protocol_text + at, names[i], bytes);
        at += bytes;
    }
    state->protocols[count] = NULL;
    state->options.alpn = count ? state->protocols : NULL;
    return WEIR_OK;
}

static int set_verify(struct socket_state *state, int verify)
{
    if (verify < 0 || verify > 2)
        return WEIR_INVALID;
    state->options.verify = (enum weir_tls_verify)(verify + WEIR_TLS_VERIFY_NONE);
    return WEIR_OK;
}

union value {
    int number;
    char text[NAME_MAX];
    const char *names[PROTOCOLS];
};

static int option_apply(struct sockets *sockets, struct bsd_file *file, int name, const union value *value,
                        weir_socklen length)
{
    struct socket_state *const state = state_of(file);
    if ((name == WEIR_TLS_SEC_TAG_LIST || name == WEIR_TLS_PEER_VERIFY) && length != sizeof value->number)
        return WEIR_INVALID;
    if (state && (state->config || state->session))
        return WEIR_CONNECTED;  // it has begun
    if (name == WEIR_TLS_SEC_TAG_LIST)
        return set_tag(sockets, file, value->number);
    if (!state)
        return WEIR_INVALID;  // the tag comes first
    switch (name) {
    case WEIR_TLS_HOSTNAME: return set_name(state, value->text, length);
    case WEIR_TLS_PEER_VERIFY: return set_verify(state, value->number);
    case WEIR_TLS_ALPN_LIST: return set_protocols(state, value->names, length / sizeof value->names[0]);
    default: return BSD_NO_PROTOCOL_OPTION;
    }
}

static int option_set(void *context, struct bsd_file *file, int name, const void *from, weir_socklen length)
{
    union value value = {.number = 0};
    if (length > sizeof value)
        return WEIR_INVALID;
    if (bsd_copy_in(file->bsd, &value, from, length))
        return WEIR_FAULT;
    bsd_enter(file->bsd);
    const int error = option_apply(context, file, name, &value, length);
    bsd_leave(file->bsd);
    return error;
}

static int option_get(void *context, struct bsd_file *file, int name, void *to, weir_socklen *length)
{
    const weir_socklen bytes = sizeof(int);
    weir_socklen room = 0;
    (void)context;
    if (name != WEIR_TLS_ERROR)
        return BSD_NO_PROTOCOL_OPTION;
    bsd_enter(file->bsd);
    const int error = state_of(file) ? state_of(file)->error : 0;
    bsd_leave(file->bsd);
    if (!length || bsd_copy_in(file->bsd, &room, length, sizeof room))
        return WEIR_FAULT;
    if (room < bytes)
        return WEIR_INVALID;
    return bsd_copy_out(file->bsd, to, &error, bytes) || bsd_copy_out(file->bsd, length, &bytes, sizeof bytes)
               ? WEIR_FAULT
               : WEIR_OK;
}

static const struct bsd_layer_kind tls_kind = {WEIR_SOL_TLS, option_set, option_get};

// --- the context --------------------------------------------------------------------------------
int weir_tls_sockets_enable(struct weir_bsd *bsd, struct weir_tls *tls)
{
    if (!BUILT_IN)
        return WEIR_NOT_SUPPORTED;
    if (sockets_of(bsd))
        return WEIR_IN_USE;
    struct sockets *const sockets = tls_alloc(sizeof *sockets);
    if (!sockets)
        return WEIR_NO_MEMORY;
    sockets->tls = tls;
    bsd_enter(bsd);
    kind_put(bsd, &tls_kind, sockets);
    bsd_leave(bsd);
    return WEIR_OK;
}

void weir_tls_sockets_disable(struct weir_bsd *bsd)
{
    struct sockets *const sockets = sockets_of(bsd);
    if (!sockets)
        return;
    bsd_enter(bsd);
    kind_put(bsd, NULL, NULL);
    bsd_leave(bsd);
    for (uint32_t i = 0; i < WEIR_TLS_TAGS; i++)
        weir_tls_credentials_release(sockets->tags[i].credentials);
    tls_free(sockets);
}

int weir_tls_sockets_tag(struct weir_bsd *bsd, int tag, struct weir_tls_credentials *credentials)
{
    struct sockets *const sockets = sockets_of(bsd);
    int error = sockets ? WEIR_NO_MEMORY : WEIR_NOT_SUPPORTED, place = -1;
    bsd_enter(bsd);
    for (int i = 0; sockets && i < WEIR_TLS_TAGS; i++)
        if (sockets->tags[i].credentials ? sockets->tags[i].tag == tag : place < 0)
            place = i;
    if (place >= 0) {
        weir_tls_credentials_release(sockets->tags[place].credentials);
        if (credentials)
            weir_tls_credentials_hold(credentials);
        sockets->tags[place].tag = tag;
        sockets->tags[place].credentials = credentials;
        error = WEIR_OK;
    }
    bsd_leave(bsd);
    return error;
}
