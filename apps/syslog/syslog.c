// SPDX-License-Identifier: BSD-2-Clause
#include "syslog/syslog.h"

#include <string.h>

#include "bytes.h"
#include "service.h"
#include "text.h"

#define LENGTH_BYTES 2u  // before each message in the queue
#define COUNT_MAX 8u     // digits and a blank, before each on a stream

static uint64_t now(const struct syslog *log) { return weir_now_us(log->loop->weir); }

// --- the queue -------------------------------------------------------------------------------------------------------

static uint32_t first_bytes(const struct syslog *log) { return get16(log->config.queue); }

static void first_drop(struct syslog *log)
{
    const uint32_t gone = LENGTH_BYTES + first_bytes(log);
    log->used -= gone;
    memmove(log->config.queue, log->config.queue + gone, log->used);
    log->written = 0;
    log->count.sent++;
}

bool syslog_pending(const struct syslog *log) { return log->used > 0; }

static int put(struct syslog *log, const struct syslog_message *message)
{
    const struct syslog_config *const config = &log->config;
    struct syslog_message full = *message;
    full.facility = config->facility;
    full.host = config->host;
    full.app = config->app;
    full.process = config->process;
    full.unix_us = config->unix_us != NULL ? config->unix_us(config->context) : 0;
    // A message is never cut for want of room in the queue, only for its own limit.
    if (config->queue_bytes - log->used < LENGTH_BYTES + SYSLOG_MESSAGE_MAX)
        return WEIR_AGAIN;
    uint8_t *const at = config->queue + log->used;
    const uint32_t bytes = syslog_emit(&full, (char *)at + LENGTH_BYTES, SYSLOG_MESSAGE_MAX);
    if (bytes == 0)
        return WEIR_INVALID;
    put16(at, bytes);
    log->used += LENGTH_BYTES + bytes;
    return WEIR_OK;
}

// Says how many were dropped, before the next one.
static void say_dropped(struct syslog *log)
{
    char line[48];
    struct text text;
    text_init(&text, line, sizeof line);
    text_u64(&text, log->unsaid);
    text_put(&text, " messages were dropped");
    const struct syslog_message message = {.severity = SYSLOG_WARNING, .text = line, .text_bytes = text.length};
    if (put(log, &message) == WEIR_OK)
        log->unsaid = 0;
}

int syslog_write(struct syslog *log, const struct syslog_message *message)
{
    if (log->state == SYSLOG_STOPPED)
        return WEIR_INVALID;
    if (log->unsaid > 0)
        say_dropped(log);
    const int error = log->unsaid > 0 ? WEIR_AGAIN : put(log, message);
    if (error == WEIR_AGAIN) {
        log->count.dropped++;
        log->unsaid++;
    }
    if (log->state == SYSLOG_UP)
        log->due_us = 0;
    return error;
}

int syslog_text(struct syslog *log, uint8_t severity, const char *text)
{
    return syslog_write(log,
                        &(struct syslog_message){.severity = severity, .text = text, .text_bytes = text_length(text)});
}

// --- the connection --------------------------------------------------------------------------------------------------

static void lost(struct syslog *log)
{
    weir_stream_close(&log->stream, 0);
    log->state = SYSLOG_WAITING;
    log->written = 0;  // what was begun goes again from its beginning
    log->count.failures++;
    log->due_us = now(log) + log->retry_us;
    log->retry_us = log->retry_us < SYSLOG_RETRY_MAX_US / 2 ? log->retry_us * 2 : SYSLOG_RETRY_MAX_US;
}

static void up(struct syslog *log)
{
    log->state = SYSLOG_UP;
    log->count.connections++;
    log->due_us = 0;
}

static void open_socket(struct syslog *log)
{
    struct weir *weir = log->loop->weir;
    const bool tcp = log->config.transport == SYSLOG_TCP;
    const weir_socket socket = weir_socket_open(weir, tcp ? WEIR_STREAM : WEIR_DATAGRAM, 0);
    log->stream = (struct weir_stream){.weir = weir, .socket = socket > 0 ? socket : 0};
    log->state = SYSLOG_CONNECTING;
    log->due_us = now(log) + SYSLOG_CONNECT_US;
    if (socket > 0)
        (void)loop_watch(log->loop, socket, &log->watch);
    const int error = socket < 0 ? socket : weir_socket_connect(weir, socket, &log->config.server);
    if (error == WEIR_OK && !tcp)
        up(log);
    else if (error != WEIR_OK && error != WEIR_IN_PROGRESS)
        lost(log);
}

static void connected(struct syslog *log)
{
    int error = weir_stream_connected(&log->stream);
    if (error == WEIR_AGAIN)
        return;
    if (error == WEIR_OK && log->config.secure != NULL)
        error = log->config.secure(&log->stream, log->config.context);
    if (error != WEIR_OK)
        lost(log);
    else
        log->state = SYSLOG_SECURING;
}

static void secured(struct syslog *log)
{
    const int begun = weir_stream_begin(&log->stream);
    if (begun == WEIR_OK)
        up(log);
    else if (begun != WEIR_AGAIN && begun != WEIR_IN_PROGRESS)  // the stack has its turn between a handshake's steps
        lost(log);
}

// --- what is sent ----------------------------------------------------------------------------------------------------

// The whole of the first message, or nothing. The error that ended it; WEIR_OK: none waits.
static int send_datagrams(struct syslog *log)
{
    const struct weir_message message = {.peer.port = 0};
    while (log->used > 0) {
        const struct weir_slice slice = {log->config.queue + LENGTH_BYTES, first_bytes(log)};
        const int sent = weir_socket_send_message(log->loop->weir, log->stream.socket, &message, &slice, 1);
        if (sent < 0)
            return sent;
        first_drop(log);
    }
    return WEIR_OK;
}

// Writes on behind what is written of the first message: the number of its bytes, a blank, and they.
static int send_counted(struct syslog *log)
{
    while (log->used > 0) {
        char count[COUNT_MAX];
        struct text text;
        text_init(&text, count, sizeof count);
        text_u64(&text, first_bytes(log));
        text_char(&text, ' ');
        const bool counting = log->written < text.length;
        const uint32_t behind = counting ? 0 : log->written - text.length;
        const int wrote = counting ? weir_stream_write(&log->stream, count + log->written, text.length - log->written)
                                   : weir_stream_write(&log->stream, log->config.queue + LENGTH_BYTES + behind,
                                                       first_bytes(log) - behind);
        if (wrote < 0)
            return wrote;
        log->written += (uint32_t)wrote;
        if (log->written == text.length + first_bytes(log))
            first_drop(log);
    }
    return WEIR_OK;
}

// A server says nothing. What it says is thrown away; that it has gone is what counts.
static int read_away(struct syslog *log)
{
    uint8_t away[64];
    int got;
    while ((got = weir_stream_read(&log->stream, away, sizeof away)) > 0)
        continue;
    return got == 0 ? WEIR_RESET : got;
}

static void pump(struct syslog *log)
{
    const bool tcp = log->config.transport == SYSLOG_TCP;
    if (log->state == SYSLOG_CONNECTING)
        connected(log);
    if (log->state == SYSLOG_SECURING)
        secured(log);
    if (log->state != SYSLOG_UP)
        return;
    log->due_us = WEIR_NEVER;
    int error = tcp ? read_away(log) : WEIR_AGAIN;
    if (error == WEIR_AGAIN)
        error = tcp ? send_counted(log) : send_datagrams(log);
    if (error == WEIR_OK)
        log->retry_us = SYSLOG_RETRY_MIN_US;
    else if (error != WEIR_AGAIN)
        lost(log);
}

static void syslog_event(struct weir_watch *watch, weir_socket socket, uint32_t events)
{
    struct syslog *log = (struct syslog *)(void *)((char *)watch - offsetof(struct syslog, watch));
    int32_t error = 0;
    (void)events;
    if (socket != log->stream.socket)
        return;
    // Of a datagram that nobody took ICMP may tell. It is lost, and the next one is sent all the same.
    if (log->config.transport == SYSLOG_UDP)
        (void)weir_socket_get(log->loop->weir, socket, WEIR_OPTION_ERROR, &error);
    pump(log);
}

static uint64_t syslog_poll(struct app *app, uint64_t now_us)
{
    struct syslog *log = (struct syslog *)app;
    uint64_t stream_us = log->stream.socket > 0 ? weir_stream_due_us(&log->stream) : WEIR_NEVER;
    if (log->state == SYSLOG_WAITING && now_us >= log->due_us)
        open_socket(log);
    else if ((log->state == SYSLOG_CONNECTING || log->state == SYSLOG_SECURING) && now_us >= log->due_us)
        lost(log);
    if (log->state != SYSLOG_WAITING && (now_us >= log->due_us || now_us >= stream_us))
        pump(log);
    stream_us = log->stream.socket > 0 ? weir_stream_due_us(&log->stream) : WEIR_NEVER;
    return log->due_us < stream_us ? log->due_us : stream_us;
}

int syslog_start(struct syslog *log, struct loop *loop, const struct syslog_config *config)
{
    const struct weir_addr addr = config->server.addr;
    if (config->queue == NULL || config->queue_bytes < LENGTH_BYTES + SYSLOG_MESSAGE_MAX || config->facility > 23 ||
        weir_addr_is_any(addr) || weir_addr_is_multicast(addr) || weir_addr_is_broadcast(addr))
        return WEIR_INVALID;
    *log = (struct syslog){.app = {.poll = syslog_poll},
                           .watch = {syslog_event},
                           .loop = loop,
                           .config = *config,
                           .state = SYSLOG_WAITING,
                           .retry_us = SYSLOG_RETRY_MIN_US};
    if (config->server.port == 0)
        log->config.server.port = SYSLOG_PORT;
    loop_add(loop, &log->app);
    return WEIR_OK;
}

void syslog_stop(struct syslog *log)
{
    if (log->state == SYSLOG_STOPPED)
        return;
    log->state = SYSLOG_STOPPED;
    weir_stream_close(&log->stream, 0);
    loop_remove(log->loop, &log->app);
}
