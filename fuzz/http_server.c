// SPDX-License-Identifier: BSD-2-Clause
// The HTTP server with handlers of every kind: what a client sends, in pieces. The first byte chooses how much the
// handler of bodies takes a time, and whether a WebSocket is open already; each further piece stands behind an octet of
// its length, and an octet 255 lets time pass.
#include "apps/http/site.h"
#include "fuzz.h"

#define PIECES 64

static void resume_all(void)
{
    for (uint32_t i = 0; i < SITE_CONNECTIONS; i++) {
        const struct http_connection *c = &site.connections[i];
        CHECK(c->in_at + c->in_length <= SITE_IN && c->out_at <= c->out_length && c->out_length <= SITE_OUT);
        if (c->state == HTTP_BODY || c->state == HTTP_UPGRADED)
            http_resume(&site.connections[i]);
    }
    if (site.late != NULL)
        http_respond(site.late, NULL, &(struct http_response){.data = "late", .length = 4});
    if (site.listener != NULL)
        (void)http_event_send(site.listener, &(struct http_event){.data = "a\nb"});
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const char upgrade[] = "GET /echo HTTP/1.1\r\nHost: w\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                                  "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==\r\nSec-WebSocket-Version: 13\r\n\r\n";
    static char got[65536];
    struct bytes in = {data, (uint32_t)size};
    const uint8_t how = take8(&in);
    struct bench bench;
    bench_open(&bench);
    CHECK(site_open(&bench.loop) == WEIR_OK);
    site.take = how & 15;
    const weir_socket socket = bench_connect(&bench, 80);
    if (how & 0x10)
        bench_write(&bench, socket, upgrade);
    for (uint32_t n = 0; n < PIECES && in.left > 0; n++) {
        uint32_t length = take8(&in);
        const bool waits = length == 255;
        const uint8_t *piece = waits ? NULL : take(&in, &length);
        if (!waits && length > 0 && weir_socket_write(bench.f.weir, socket, piece, length) < 0)
            break;
        bench_run(&bench, waits ? 16000000 : 1000);
        resume_all();
        (void)weir_socket_read(bench.f.weir, socket, got, sizeof got);
    }
    (void)weir_socket_close(bench.f.weir, socket);
    bench_run(&bench, 120000000);
    for (uint32_t i = 0; i < SITE_CONNECTIONS; i++)
        CHECK(site.connections[i].state == HTTP_FREE);
    CHECK(site.late == NULL && site.listener == NULL);
    http_server_stop(&site.http);
    bench_close(&bench);
    return 0;
}
