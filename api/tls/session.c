// SPDX-License-Identifier: BSD-2-Clause
// A session: what is the same whatever library does the work and whatever stream lies below. Every call enters (one
// task at a time works on the engine), does what can be done without waiting, leaves, and only then waits, if the
// stream below is one that blocks.
#include <stdatomic.h>
#include <string.h>

#include "internal.h"
#include "weir/instance.h"
#include "weir/socket.h"

// received with no plaintext in it: alerts, empty records, messages after the handshake (a flood of them)
#define QUIET_MAX 65536u
#define START_BYTES 32768u  // written in small records after a pause, so that the peer can read what has come so far
#define START_RECORD 1360u  // with its overhead it fits a segment of 1,460 bytes, options and all
#define PAUSE_US 1000000u
#define RECORD_MAX 16384u
#define WRITE_RECORDS 8u  // in one call
#define ALIGNED \
    ((sizeof(struct weir_tls_session) + sizeof(max_align_t) - 1) / sizeof(max_align_t) * sizeof(max_align_t))

void *tls_session_engine(struct weir_tls_session *session) { return (uint8_t *)session + ALIGNED; }
static const void *engine_of(const struct weir_tls_session *session) { return (const uint8_t *)session + ALIGNED; }

// The port's clock, or, where it has none, what the instance was told last.
uint64_t tls_session_now_us(const struct weir_tls_session *session)
{
    const struct weir_port *const port = weir_port(session->weir);
    return port->now_us ? port->now_us(port->context) : weir_now_us(session->weir);
}

static int pipe_receive(struct tls_pipe *pipe, void *data, uint32_t bytes)
{
    struct weir_tls_session *const s = (struct weir_tls_session *)pipe;
    if (s->quiet >= QUIET_MAX)
        return WEIR_TLS_PROTOCOL;
    const int got = s->transport->receive(s, data, bytes);
    if (got == WEIR_AGAIN)
        s->wants |= TLS_READ;
    else if (got > 0)
        s->quiet += (uint32_t)got;
    return got;
}

static int pipe_send(struct tls_pipe *pipe, const void *data, uint32_t bytes)
{
    struct weir_tls_session *const s = (struct weir_tls_session *)pipe;
    const int sent = s->transport->send(s, data, bytes);
    if (sent == WEIR_AGAIN)
        s->wants |= TLS_WRITE;
    return sent;
}

// --- beginning and end --------------------------------------------------------------------------
static bool is_address(const char *name)
{
    bool digits = true;
    for (const char *at = name; *at; at++) {
        if (*at == ':')
            return true;
        digits = digits && (*at == '.' || (*at >= '0' && *at <= '9'));
    }
    return digits && *name;
}

static void counted_end(struct weir_tls_session *s)
{
    if (s->counted)
        tls_handshake_end(s->config);
    s->counted = false;
}

void tls_session_discard(struct weir_tls_session *s)
{
    counted_end(s);
    s->backend->close(tls_session_engine(s));
    atomic_fetch_sub(&s->config->tls->sessions, 1);
    weir_tls_config_release(s->config);
    tls_free(s);
}

// What may be resumed, if the blob is of a session like this one: 8 bytes of tag before the library's.
static void resume_set(const struct weir_tls_session *s, const struct weir_tls_session_options *o,
                       struct tls_engine_options *engine)
{
    if (!o->resume || o->resume_bytes <= sizeof s->tag || s->config->options.no_resumption ||
        memcmp(o->resume, &s->tag, sizeof s->tag) != 0)
        return;
    engine->resume = (const uint8_t *)o->resume + sizeof s->tag;
    engine->resume_bytes = o->resume_bytes - sizeof s->tag;
}

static int engine_open(struct weir_tls_session *s, const struct weir_tls_session_options *o)
{
    struct tls_engine_options engine = {.pipe = &s->pipe};
    const bool client = s->config->options.role == WEIR_TLS_CLIENT;
    if (client && !o->name && s->config->options.verify != WEIR_TLS_VERIFY_NONE)
        return WEIR_INVALID;
    if (client && o->name && *o->name) {
        engine.name = o->name;
        engine.name_is_address = is_address(o->name);
    }
    s->tag = tls_digest(s->config->digest, engine.name ? engine.name : "", engine.name ? strlen(engine.name) + 1 : 0);
    resume_set(s, o, &engine);
    return s->backend->open(tls_session_engine(s), tls_config_memory(s->config), &engine);
}

void tls_stream_take(struct weir *weir, weir_socket socket)
{
    (void)weir_socket_set(weir, socket, WEIR_OPTION_OOB_INLINE, 1);
    (void)weir_socket_set(weir, socket, WEIR_OPTION_NO_DELAY, 1);
    (void)weir_socket_set(weir, socket, WEIR_OPTION_RECEIVE_LOW_WATER, 1);
}

struct weir_tls_session *tls_session_make(struct weir_tls_config *config, const struct tls_transport *transport,
                                          struct weir *weir, const struct weir_tls_session_options *options, int *error)
{
    static const struct weir_tls_session_options none;
    const uint32_t refused = tls_refused();
    int status = tls_handshake_begin(config) ? WEIR_OK : WEIR_TLS_MANY;
    struct weir_tls_session *const s = status ? NULL : tls_alloc(ALIGNED + config->tls->backend->engine_bytes);
    if (s) {
        *s = (struct weir_tls_session){.pipe = {pipe_receive, pipe_send},
                                       .backend = config->tls->backend,
                                       .transport = transport,
                                       .config = config,
                                       .weir = weir};
        s->locked = options && options->locked;
        s->counted = true;
        s->deadline_us = tls_session_now_us(s) + UINT64_C(1000) * config->options.handshake_timeout_ms;
        tls_config_hold(config);
        atomic_fetch_add(&config->tls->sessions, 1);
        status = tls_reason(refused, engine_open(s, options ? options : &none));
        if (!status)
            return s;
        tls_session_discard(s);
    } else if (!status) {
        tls_handshake_end(config);
        status = WEIR_NO_MEMORY;
    }
    if (error)
        *error = status;
    return NULL;
}

// --- the parts of a call, inside ----------------------------------------------------------------
// The session has failed. What the library says to the peer about it leaves if there is room.
static int fail(struct weir_tls_session *s, int error)
{
    (void)s->backend->flush(tls_session_engine(s));
    s->error = error;
    s->more = false;
    counted_end(s);
    return error;
}

static int handshake_continue(struct weir_tls_session *s)
{
    while (!s->open) {
        if (s->error)
            return s->error;
        if (tls_session_now_us(s) >= s->deadline_us)
            return fail(s, WEIR_TIMED_OUT);
        const uint32_t refused = tls_refused();
        const int status = s->backend->step(tls_session_engine(s));
        s->more = status == WEIR_IN_PROGRESS;
        if (status == WEIR_OK) {
            s->open = true;
            s->quiet = 0;
            counted_end(s);
        } else if (status == WEIR_IN_PROGRESS ? s->locked : status == WEIR_AGAIN) {
            return status;
        } else if (status != WEIR_IN_PROGRESS) {
            return fail(s, tls_reason(refused, status));
        }
    }
    return s->error;
}

// Goes on with what a call could not end for want of room: WEIR_OK, WEIR_AGAIN, or it failed.
static int output_continue(struct weir_tls_session *s)
{
    int status = s->error ? s->error : s->backend->flush(tls_session_engine(s));
    if (!status && s->finish && !s->finished) {
        status = s->open ? s->backend->finish(tls_session_engine(s)) : WEIR_OK;
        if (!status) {
            s->finished = true;
            s->transport->fin(s);
        }
    }
    return status && status != WEIR_AGAIN && !s->error ? fail(s, status) : status;
}

struct call {
    int (*work)(struct weir_tls_session *s, struct call *call);
    int direction;  // whose timeout it is
    uint8_t *in;
    const uint8_t *out;
    uint32_t bytes, done;
    uint64_t deadline_us;  // of waiting
};

static int handshake_work(struct weir_tls_session *s, struct call *call) { return (void)call, handshake_continue(s); }

static int read_work(struct weir_tls_session *s, struct call *call)
{
    int status = handshake_continue(s);
    if (status)
        return status;
    if (s->ended || s->truncated || call->bytes == 0)
        return s->truncated ? WEIR_TLS_TRUNCATED : 0;
    const uint32_t refused = tls_refused();
    (void)output_continue(s);
    s->wants = 0;
    status = s->error ? s->error : s->backend->read(tls_session_engine(s), call->in, call->bytes);
    if (status > 0)
        s->quiet = 0;
    s->ended = status == 0;
    s->truncated = status == WEIR_TLS_TRUNCATED;
    if (status >= 0 || status == WEIR_AGAIN || s->truncated || s->error)
        return status;
    return fail(s, tls_reason(refused, status));
}

static uint32_t record_bytes(struct weir_tls_session *s)
{
    const uint64_t now_us = tls_session_now_us(s);
    if (s->config->options.record_bytes)
        return s->config->options.record_bytes;
    if (now_us - s->written_us > PAUSE_US)
        s->started = 0;
    s->written_us = now_us;
    return s->started < START_BYTES ? START_RECORD : RECORD_MAX;
}

static int write_some(struct weir_tls_session *s, struct call *call)
{
    if (s->records >= TLS_RECORDS_MAX)
        return WEIR_TLS_KEY_LIMIT;
    const uint32_t left = call->bytes - call->done, most = record_bytes(s), part = left < most ? left : most;
    const int taken = s->backend->write(tls_session_engine(s), call->out + call->done, part);
    if (taken <= 0)
        return taken == 0 || taken == WEIR_AGAIN ? WEIR_AGAIN : fail(s, taken);
    call->done += (uint32_t)taken;
    s->records++;
    if (s->started < START_BYTES)
        s->started += (uint32_t)taken;
    return output_continue(s);
}

static int write_work(struct weir_tls_session *s, struct call *call)
{
    int status = handshake_continue(s);
    if (!status && s->finish)
        return WEIR_TLS_ENDED;
    if (!status)
        status = output_continue(s);
    for (uint32_t records = 0; !status && call->done < call->bytes && records < WRITE_RECORDS; records++)
        status = write_some(s, call);
    return status;
}

static int shutdown_work(struct weir_tls_session *s, struct call *call)
{
    (void)call;
    s->finish = true;
    return output_continue(s);
}

// --- calls --------------------------------------------------------------------------------------
// One task at a time works on the engine: the library's context is not made for several. WEIR_OK, or WEIR_AGAIN.
static int enter(struct weir_tls_session *s)
{
    const struct weir_port *const port = weir_port(s->weir);
    int status = WEIR_OK;
    if (s->locked)
        return WEIR_OK;
    tls_lock(s);
    while (s->busy && !status)
        status = !port->wait || port->wait(port->context, &s->busy, WEIR_NEVER) == 2 ? WEIR_AGAIN : WEIR_OK;
    s->busy = s->busy || !status;
    tls_unlock(s);
    return status;
}

static void leave(struct weir_tls_session *s)
{
    const struct weir_port *const port = weir_port(s->weir);
    const bool holds = s->open && s->backend->holds(tls_session_engine(s));
    if (s->locked)
        return;
    tls_lock(s);
    s->busy = false;
    s->holds = holds;
    if (port->wake)
        port->wake(port->context, &s->busy);
    if (!s->handshake_over && (s->open || s->error)) {
        s->handshake_over = true;
        if (port->wake)
            port->wake(port->context, &s->handshake_over);
        if (port->wake && s->waiter)
            port->wake(port->context, s->waiter);
    }
    tls_unlock(s);
}

static int work_once(struct weir_tls_session *s, struct call *call, int *wants)
{
    int status = enter(s);
    if (status)
        return status;
    s->wants = 0;
    status = call->work(s, call);
    *wants = s->wants | (s->wants && !s->open && !s->error ? TLS_HANDSHAKE : 0);
    leave(s);
    return status;
}

static int call_run(struct weir_tls_session *s, struct call *call)
{
    int status, wants = 0;
    do {
        status = work_once(s, call, &wants);
        if (status == WEIR_AGAIN)
            status = s->transport->wait(s, wants, call->direction, &call->deadline_us);
        else if (status != WEIR_OK || call->done == call->bytes || call->direction != TLS_WRITE)
            return status;
    } while (status == WEIR_OK);
    return status;
}

int weir_tls_handshake(struct weir_tls_session *session)
{
    struct call call = {.work = handshake_work, .direction = TLS_READ};
    return call_run(session, &call);
}

int weir_tls_read(struct weir_tls_session *session, void *data, uint32_t bytes)
{
    struct call call = {
        .work = read_work, .direction = TLS_READ, .in = data, .bytes = bytes < INT32_MAX ? bytes : INT32_MAX};
    return call_run(session, &call);
}

int weir_tls_write(struct weir_tls_session *session, const void *data, uint32_t bytes)
{
    struct call call = {
        .work = write_work, .direction = TLS_WRITE, .out = data, .bytes = bytes < INT32_MAX ? bytes : INT32_MAX};
    const int status = call_run(session, &call);
    return call.done ? (int)call.done : status;
}

int tls_session_read(struct weir_tls_session *session, void *data, uint32_t bytes)
{
    struct call call = {.work = read_work, .in = data, .bytes = bytes};
    int wants;
    return work_once(session, &call, &wants);
}

int tls_session_write(struct weir_tls_session *session, const void *data, uint32_t bytes)
{
    struct call call = {.work = write_work, .out = data, .bytes = bytes};
    int wants;
    const int status = work_once(session, &call, &wants);
    return call.done ? (int)call.done : status;
}

int weir_tls_shutdown(struct weir_tls_session *session)
{
    struct call call = {.work = shutdown_work, .direction = TLS_WRITE};
    return call_run(session, &call);
}

int tls_session_end(struct weir_tls_session *session)
{
    struct call call = {.work = shutdown_work, .direction = TLS_WRITE};
    int wants;
    return session->error ? session->error : work_once(session, &call, &wants);
}

void weir_tls_close(struct weir_tls_session *session)
{
    if (!session || (tls_session_end(session) == WEIR_AGAIN && session->transport->linger(session)))
        return;
    session->transport->close(session, false);
    tls_session_discard(session);
}

void weir_tls_abort(struct weir_tls_session *session)
{
    if (!session)
        return;
    // An error of TLS has been said to the peer, or by it: an RST would throw away the alert that waits to be sent.
    session->transport->close(session, session->error >= WEIR_TLS_TRUNCATED);
    tls_session_discard(session);
}

// As the back end's: bytes; WEIR_AGAIN; 0: the end; an error.
static int pending(struct weir_tls_session *s)
{
    if (s->ended || s->truncated)
        return 0;
    const int status = s->backend->pending(tls_session_engine(s));
    if (status > 0)
        s->quiet = 0;
    s->ended = status == 0;
    s->truncated = status == WEIR_TLS_TRUNCATED;
    if (status < 0 && status != WEIR_AGAIN && !s->truncated)
        (void)fail(s, status);
    return status;
}

static int pending_work(struct weir_tls_session *s, struct call *call)
{
    const int bytes = handshake_continue(s) == WEIR_OK ? pending(s) : 0;
    call->done = bytes > 0 ? (uint32_t)bytes : 0;
    return WEIR_OK;
}

int tls_session_pending(struct weir_tls_session *session)
{
    struct call call = {.work = pending_work};
    int wants;
    (void)work_once(session, &call, &wants);
    return (int)call.done;
}

static int ready_work(struct weir_tls_session *s, struct call *call)
{
    int bits = 0;
    (void)call;
    if (handshake_continue(s) == WEIR_OK) {
        const bool writes = output_continue(s) == WEIR_OK && !s->finish && s->transport->ready(s) & WEIR_WRITABLE;
        const bool readable = pending(s) > 0;
        bits = (readable ? WEIR_READABLE : 0) | (writes ? WEIR_WRITABLE : 0);
        bits |= s->ended || s->truncated ? WEIR_READABLE | WEIR_READ_CLOSED : 0;
    }
    if (s->finished && (s->ended || s->truncated))
        bits |= WEIR_HANGUP;
    return s->error ? WEIR_READABLE | WEIR_WRITABLE | WEIR_ERROR : bits;
}

int weir_tls_ready(struct weir_tls_session *session)
{
    struct call call = {.work = ready_work};
    int wants;
    const int bits = work_once(session, &call, &wants);
    return bits < 0 ? 0 : bits;
}

uint64_t weir_tls_due_us(const struct weir_tls_session *session)
{
    if (session->open || session->error)
        return WEIR_NEVER;
    return session->more ? 0 : session->deadline_us;
}

int weir_tls_save(struct weir_tls_session *session, void *out, size_t size)
{
    const size_t tag = sizeof session->tag;
    if (!session->open || session->config->options.role != WEIR_TLS_CLIENT || session->config->options.no_resumption)
        return WEIR_AGAIN;
    if (size <= tag)
        return WEIR_TOO_BIG;
    int status = enter(session);
    if (status)
        return status;
    status = session->backend->save(tls_session_engine(session), (uint8_t *)out + tag, size - tag);
    leave(session);
    if (status <= 0)
        return status ? status : WEIR_AGAIN;
    memcpy(out, &session->tag, tag);
    return status + (int)tag;
}

void weir_tls_info(const struct weir_tls_session *session, struct weir_tls_info *info)
{
    memset(info, 0, sizeof *info);
    info->alert_received = -1;
    session->backend->info(engine_of(session), info);
    info->open = session->open;
}

size_t weir_tls_peer_certificate(const struct weir_tls_session *session, const uint8_t **der)
{
    return session->backend->peer_certificate(engine_of(session), der);
}

weir_socket weir_tls_socket(const struct weir_tls_session *session) { return session->socket; }
