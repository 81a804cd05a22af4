// SPDX-License-Identifier: BSD-2-Clause
// A web server on a TAP: a page, and a lamp that POST switches (docs/http.md). As root: web_site tap0 10.0.0.1 &
// ip addr add 10.0.0.2/24 dev tap0; curl http://10.0.0.1/; curl -d on http://10.0.0.1/lamp
// Pages of other hosts cannot switch the lamp; nor can a name that leads here but is none of ours.
#include "drivers/tap.h"
#include "http/server.h"
#include "ports/posix/posix.h"
#include "text.h"

static const char html[] = "<!doctype html><title>Lamp</title><p>curl -d on http://10.0.0.1/lamp\n";
static bool lamp;

static void page_get(struct http_connection *c, struct http_request *request)
{
    http_respond(c, request, &(struct http_response){.type = "text/html", .data = html, .length = sizeof html - 1});
}

static void lamp_get(struct http_connection *c, struct http_request *request)
{
    http_respond(c, request, &(struct http_response){.data = lamp ? "on\n" : "off\n", .length = lamp ? 3 : 4});
}

static uint32_t lamp_body(struct http_connection *c, const uint8_t *piece, uint32_t length)
{
    if (length == 0)  // the end
        lamp_get(c, NULL);
    else
        lamp = text_equal((const char *)piece, length, "on");
    return length;
}

static const struct http_route routes[] = {{.path = "/", .methods = HTTP_GET, .request = page_get},
                                           {.path = "/lamp", .methods = HTTP_GET, .request = lamp_get},
                                           {.path = "/lamp", .methods = HTTP_POST, .body = lamp_body, .body_max = 16}};

static const char *const names[] = {"lamp.home.arpa", NULL};  // beside its address

static uint64_t turn(void *loop, uint64_t now_us) { return loop_run(loop, now_us); }

int main(int argc, char **argv)
{
    static struct tap tap;
    static struct posix_host host;
    static struct weir_netif netif;
    static struct loop loop;
    static struct http_server server;
    static struct http_connection connections[8];
    static char memory[8 * (1024 + 512)];
    const struct http_server_config config = {80,   routes, 3,    connections, 8,    memory,
                                              1024, 512,    NULL, NULL,        NULL, names};
    struct weir_addr address;
    if (argc != 3 || !text_read_addr(argv[2], text_length(argv[2]), &address) || tap_open(&tap, argv[1], TAP_UP) < 0 ||
        posix_host_init(&host, &(struct posix_options){.turn = turn, .context = &loop}) != 0)
        return 2;
    loop_init(&loop, weir_create(NULL, 0, &host.port, NULL));
    tap_attach(&tap, &netif, "eth0");
    posix_host_attach(&host, loop.weir);
    if (weir_netif_add(loop.weir, &netif) < 0 ||
        weir_netif_set_address(&netif, address, 24, WEIR_ADDRESS_AT_ONCE) < 0 ||
        posix_host_add(&host, &netif, tap_fd(&tap)) != 0 || http_server_start(&server, &loop, &config) != WEIR_OK)
        return 1;
    for (;;)
        posix_host_poll(&host, -1);
}
