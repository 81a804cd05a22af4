// SPDX-License-Identifier: BSD-2-Clause
// http_site INTERFACE A.B.C.D: a site of the HTTP server library on an AF_PACKET socket, for test_http.py: /upload
// counts what it gets, /numbers?n=N makes lines, /events ticks, /echo is a WebSocket, all else is a file.
#include <string.h>
#include <time.h>

#include "drivers/af_packet.h"
#include "http/events.h"
#include "http/files.h"
#include "http/server.h"
#include "http/websocket.h"
#include "ports/posix/posix.h"
#include "text.h"

#define CONNECTIONS 32u
#define IN 4096u
#define OUT 8192u
#define TICK_US 100000u
#define LINE 9u

extern const struct http_files site_files;

static struct site {
    struct app app;
    struct loop loop;
    struct http_server http;
    struct http_connection connections[CONNECTIONS];
    char memory[CONNECTIONS * (IN + OUT)];
    uint64_t bytes[CONNECTIONS], sums[CONNECTIONS];
    uint32_t tick;
    uint64_t tick_us;
} site;

static uint32_t place_of(const struct http_connection *c) { return (uint32_t)(c - site.connections); }

static void upload_begin(struct http_connection *c, struct http_request *request)
{
    (void)request;
    site.bytes[place_of(c)] = site.sums[place_of(c)] = 0;
}

static uint32_t upload_body(struct http_connection *c, const uint8_t *piece, uint32_t length)
{
    static char words[CONNECTIONS][64];
    struct text text;
    for (uint32_t i = 0; i < length; i++)
        site.sums[place_of(c)] += piece[i];
    site.bytes[place_of(c)] += length;
    if (length > 0)
        return length;
    text_init(&text, words[place_of(c)], sizeof words[0]);
    text_u64(&text, site.bytes[place_of(c)]);
    text_char(&text, ' ');
    text_u64(&text, site.sums[place_of(c)]);
    http_respond(c, NULL, &(struct http_response){.type = "text/plain", .data = text.bytes, .length = text.length});
    return 0;
}

// Lines of eight digits, as many as were asked for.
static int numbers_make(struct http_connection *c, uint64_t at, uint8_t *out, uint32_t room)
{
    const uint64_t end = (uint64_t)(uintptr_t)c->user * LINE;
    uint32_t length = 0;
    for (; length < room && at + length < end; length++) {
        uint64_t number = (at + length) / LINE;
        for (uint64_t digit = (at + length) % LINE + 1; digit < LINE - 1; digit++)
            number /= 10;
        out[length] = (at + length) % LINE == LINE - 1 ? '\n' : (uint8_t)('0' + number % 10);
    }
    return (int)length;
}

static void numbers_get(struct http_connection *c, struct http_request *request)
{
    char words[16] = "";
    uint64_t count = 0;
    (void)http_query_get(request, "n", words, sizeof words);
    (void)text_read_u64(words, text_length(words), 10000000, &count);
    c->user = (void *)(uintptr_t)count;
    http_respond(c, request,
                 &(struct http_response){.type = "text/plain", .length = HTTP_UNTIL_END, .produce = numbers_make});
}

static int echo_message(struct http_connection *c, enum http_websocket_type type, const uint8_t *piece, uint32_t length,
                        bool last)
{
    const int sent = http_websocket_send(c, type, piece, length, last);
    return sent == WEIR_OK ? (int)length : sent;
}

static const struct http_websocket echo = {.message = echo_message};

static const struct http_route routes[] = {
    {.path = "/upload",
     .methods = HTTP_POST | HTTP_PUT,
     .request = upload_begin,
     .body = upload_body,
     .body_max = 1ull << 30},
    {.path = "/numbers", .methods = HTTP_GET, .request = numbers_get},
    {.path = "/events", .methods = HTTP_GET, .request = http_events_begin},
    {.path = "/echo", .websocket = &echo},
    {.path = "/*", .methods = HTTP_GET, .request = http_files_get, .context = &site_files},
};

static uint64_t tick(struct app *app, uint64_t now_us)
{
    char words[16];
    struct text text;
    (void)app;
    if (now_us < site.tick_us)
        return site.tick_us;
    text_init(&text, words, sizeof words);
    text_u64(&text, site.tick++);
    for (uint32_t i = 0; i < CONNECTIONS; i++)
        (void)http_event_send(&site.connections[i], &(struct http_event){.name = "tick", .data = words});
    site.tick_us = now_us + TICK_US;
    return site.tick_us;
}

static uint64_t clock_us(void *context)
{
    (void)context;
    return (uint64_t)time(NULL) * 1000000;
}

static uint64_t turn(void *loop, uint64_t now_us) { return loop_run(loop, now_us); }

int main(int argc, char **argv)
{
    static struct af_packet packet;
    static struct posix_host host;
    static struct weir_netif netif;
    const struct http_server_config config = {.port = 80,
                                              .routes = routes,
                                              .route_count = sizeof routes / sizeof *routes,
                                              .connections = site.connections,
                                              .connection_count = CONNECTIONS,
                                              .memory = site.memory,
                                              .in_bytes = IN,
                                              .out_bytes = OUT,
                                              .unix_us = clock_us};
    struct weir_addr address;
    if (argc != 3 || !text_read_addr(argv[2], text_length(argv[2]), &address) ||
        af_packet_open(&packet, argv[1], AF_PACKET_UP) < 0 ||
        posix_host_init(&host, &(struct posix_options){.turn = turn, .context = &site.loop}) != 0)
        return 2;
    loop_init(&site.loop, weir_create(NULL, 0, &host.port, NULL));
    af_packet_attach(&packet, &netif, "eth0");
    posix_host_attach(&host, site.loop.weir);
    site.app.poll = tick;
    if (weir_netif_add(site.loop.weir, &netif) < 0 ||
        weir_netif_set_address(&netif, address, 24, WEIR_ADDRESS_AT_ONCE) < 0 ||
        posix_host_add(&host, &netif, af_packet_fd(&packet)) != 0 ||
        http_server_start(&site.http, &site.loop, &config) != WEIR_OK)
        return 1;
    loop_add(&site.loop, &site.app);
    for (;;)
        posix_host_poll(&host, -1);
}
