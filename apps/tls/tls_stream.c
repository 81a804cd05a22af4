// SPDX-License-Identifier: BSD-2-Clause
#include "tls/tls_stream.h"

static int begin(void *self) { return weir_tls_handshake(self); }
static int read(void *self, void *data, uint32_t bytes) { return weir_tls_read(self, data, bytes); }
static int write(void *self, const void *data, uint32_t bytes) { return weir_tls_write(self, data, bytes); }
static int shutdown(void *self) { return weir_tls_shutdown(self); }
static void end(void *self, int reset) { (reset ? weir_tls_abort : weir_tls_close)(self); }
static uint64_t due_us(void *self) { return weir_tls_due_us(self); }

static const struct weir_stream_calls calls = {begin, read, write, shutdown, end, due_us};

int tls_stream_open(struct weir_stream *stream, struct weir_tls_config *config,
                    const struct weir_tls_session_options *options)
{
    struct weir_tls_session_options locked = {0};
    int error = WEIR_OK;
    if (options != NULL)
        locked = *options;
    locked.locked = WEIR_TLS_LOCKED;
    stream->self = weir_tls_open(config, stream->weir, stream->socket, &locked, &error);
    if (stream->self == NULL)
        return error;
    stream->calls = &calls;
    return WEIR_OK;
}

static int may_accept(struct weir_stream_maker *maker)
{
    return weir_tls_may_accept(((struct tls_stream_maker *)maker)->config);
}

static int maker_open(struct weir_stream_maker *maker, struct weir_stream *stream)
{
    return tls_stream_open(stream, ((struct tls_stream_maker *)maker)->config, NULL);
}

void tls_stream_maker_init(struct tls_stream_maker *maker, struct weir_tls_config *config)
{
    maker->maker = (struct weir_stream_maker){may_accept, maker_open, maker->scratch, sizeof maker->scratch};
    maker->config = config;
}
