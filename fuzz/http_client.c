// SPDX-License-Identifier: BSD-2-Clause
// The HTTP client: what servers say, in pieces. The first byte chooses how much of a piece is taken a time, whether a
// part is asked for, and whether something is posted; each further piece stands behind an octet of its length, and an
// octet 0 ends the connection: the next one is that to which a redirect leads.
#include "apps/bench.h"
#include "fuzz.h"
#include "http/client.h"

#define PIECES 64

static struct http_client client;
static uint32_t take_bytes, ends;

static uint32_t body(struct http_client *c, const uint8_t *piece, uint32_t length, void *context)
{
    (void)c, (void)context;
    CHECK(length > 0 && piece >= (const uint8_t *)client.config.memory &&
          piece + length <= (const uint8_t *)client.config.memory + client.config.bytes);
    return take_bytes != 0 && take_bytes < length ? take_bytes : length;
}

static void done(struct http_client *c, int result, void *context)
{
    (void)c, (void)result, (void)context;
    ends++;
}

static void locate(struct http_client *c, const struct http_url *url, void *context)
{
    (void)context;
    CHECK(url->host[0] != '\0' && url->path[0] == '/' && url->port != 0);
    http_client_located(c, weir_ip4(127, 0, 0, 1));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static char memory[HTTP_CLIENT_LEAST], got[4096];
    const struct http_client_config config = {
        .locate = locate, .body = body, .done = done, .memory = memory, .bytes = sizeof memory};
    struct bytes in = {data, (uint32_t)size};
    const uint8_t how = take8(&in);
    struct http_ask ask = {.url = "http://127.0.0.1/a/b"};
    struct bench bench;
    weir_socket peer = 0;
    bench_open(&bench);
    const weir_socket listener = weir_socket_open(bench.f.weir, WEIR_STREAM, 0);
    CHECK(weir_socket_bind(bench.f.weir, listener, &(struct weir_endpoint){weir_addr_any(), 80}) == WEIR_OK);
    CHECK(weir_socket_listen(bench.f.weir, listener, 8) == WEIR_OK);
    take_bytes = how & 15;
    ends = 0;
    ask.first = how & 0x10 ? 4 : 0;
    ask.last = how & 0x10 ? 6 : 0;
    ask.method = how & 0x20 ? HTTP_POST : HTTP_GET;
    ask.data = how & 0x20 ? "body" : NULL;
    ask.length = how & 0x20 ? 4 : 0;
    CHECK(http_client_start(&client, &bench.loop, &config) == WEIR_OK);
    CHECK(http_client_ask(&client, &ask) == WEIR_OK);
    for (uint32_t n = 0; n < PIECES && in.left > 0 && ends == 0; n++) {
        bench_run(&bench, 10000);
        if (peer <= 0)
            peer = weir_socket_accept(bench.f.weir, listener);
        uint32_t length = take8(&in);
        const uint8_t *piece = take(&in, &length);
        (void)weir_socket_read(bench.f.weir, peer, got, sizeof got);
        if (length > 0)
            (void)weir_socket_write(bench.f.weir, peer, piece, length);
        else if (peer > 0)
            (void)weir_socket_close(bench.f.weir, peer), peer = 0;
        http_client_resume(&client);
    }
    if (peer > 0)
        (void)weir_socket_close(bench.f.weir, peer);
    (void)weir_socket_close(bench.f.weir, listener);
    for (int turn = 0; turn < 1100 && ends == 0; turn++) {
        bench_run(&bench, 1000000);
        http_client_resume(&client);
    }
    CHECK(ends == 1 && client.state == HTTP_CLIENT_IDLE);
    http_client_stop(&client);
    bench_close(&bench);
    return 0;
}
