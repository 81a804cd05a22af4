// SPDX-License-Identifier: BSD-2-Clause
// From link up to the first byte of HTTP over IPv6, with an address by SLAAC (bench/metal/startup6.py): a host behind
// one MAC of a board, and behind its other one, on the same link, a router that answers at once and a client that
// connects to the host's address as soon as that is in use. All three live in the time of one processor, so that a
// machine in QEMU measures the same on every computer.
#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include "apps/http/server.h"
#include "apps/text.h"
#include "boards/apps_board.h"
#include "boards/board.h"
#include "boards/start.h"
#include "weir/handler.h"
#include "weir/socket.h"

#define PORT 80u
#define RUNS 10u
#define SECOND UINT64_C(1000000)
#define GIVE_UP_US (60 * SECOND)
#define CONNECTIONS 2u
#define HEADER_BYTES 512u

#define IP_AT 14u
#define ICMP_AT 54u
#define ADVERTISEMENT_BYTES (16u + 8u + 32u)
enum { ROUTER_SOLICITATION = 133, ROUTER_ADVERTISEMENT = 134 };

static const uint8_t router[16] = {0xfe, 0x80, [15] = 0xfe}, all_nodes[16] = {0xff, 2, [15] = 1},
                     client_address[16] = {0x20, 1, 0x0d, 0xb8, 0, 6, [15] = 0x99};

static struct apps_board host;
static struct http_server http;
static struct http_connection connections[CONNECTIONS];
static char http_memory[CONNECTIONS * 2 * HEADER_BYTES];
static uint64_t host_memory[MEMORY_BYTES / 8], peer_memory[MEMORY_BYTES / 8];

// The router and the client.
static struct {
    struct superloop loop;
    struct weir_netif netif;
    struct weir_tap tap;
    weir_socket socket;  // WEIR_AGAIN: none yet
    bool router_asked, asked, answered;
} peer;

// --- the host --------------------------------------------------------------------------------------------------------

static void hello(struct http_connection *c, struct http_request *request)
{
    http_respond(c, request, &(struct http_response){.type = "text/plain", .data = "hello\n", .length = 6});
}

static bool host_start(void)
{
    static const struct http_route routes[] = {{.path = "/", .methods = HTTP_GET, .request = hello}};
    const struct http_server_config config = {.port = PORT,
                                              .routes = routes,
                                              .route_count = 1,
                                              .connections = connections,
                                              .connection_count = CONNECTIONS,
                                              .memory = http_memory,
                                              .in_bytes = HEADER_BYTES,
                                              .out_bytes = HEADER_BYTES};
    return apps_board_start(&host, host_memory, sizeof host_memory) &&
           http_server_start(&http, &host.loop, &config) >= 0;
}

// Its address out of the router's prefix, as soon as it is in use; NULL: not yet.
static const struct weir_netif_address *host_address(void)
{
    for (const struct weir_netif_address *a = &host.netif.address; a; a = weir_netif_address_after(a))
        if (a->origin == WEIR_ADDRESS_AUTO && (a->state == WEIR_ADDRESS_READY || a->state == WEIR_ADDRESS_OPTIMISTIC))
            return a;
    return NULL;
}

// --- the router ------------------------------------------------------------------------------------------------------

static void look(struct weir_tap *tap, const struct weir_netif *netif, bool outgoing, const struct weir_slice *slices,
                 uint16_t count, uint64_t now_us)
{
    const uint8_t *frame = slices[0].data;
    (void)tap, (void)netif, (void)count, (void)now_us;
    peer.router_asked |= !outgoing && slices[0].length > ICMP_AT && frame[12] == 0x86 && frame[13] == 0xdd &&
                         frame[IP_AT + 6] == 58 && frame[ICMP_AT] == ROUTER_SOLICITATION;
}

static void put_sum(uint8_t *frame)
{
    uint32_t sum = 58 + ADVERTISEMENT_BYTES;
    for (uint32_t at = IP_AT + 8; at < ICMP_AT + ADVERTISEMENT_BYTES; at += 2)
        sum += (uint32_t)frame[at] << 8 | frame[at + 1];
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~(sum + (sum >> 16));
    frame[ICMP_AT + 2] = (uint8_t)(sum >> 8);
    frame[ICMP_AT + 3] = (uint8_t)sum;
}

// For half an hour a router, which tells its link address, and a prefix of a day.
static void advertise(void)
{
    static const uint8_t ethernet[14] = {0x33, 0x33, 0, 0, 0, 1, [12] = 0x86, 0xdd},
                         head[8] = {0x60, [5] = ADVERTISEMENT_BYTES, 58, 255},
                         message[16] = {ROUTER_ADVERTISEMENT, [4] = 64, [6] = 0x07, 0x08},
                         prefix[16] = {3, 4, 64, 0xc0, 0, 1, 0x51, 0x80, 0, 0, 0x0e, 0x10};
    uint8_t frame[ICMP_AT + ADVERTISEMENT_BYTES], *icmp = frame + ICMP_AT;
    memcpy(frame, ethernet, sizeof ethernet);
    memcpy(frame + 6, peer.netif.mac, 6);
    memcpy(frame + IP_AT, head, sizeof head);
    memcpy(frame + IP_AT + 8, router, 16);
    memcpy(frame + IP_AT + 24, all_nodes, 16);
    memcpy(icmp, message, sizeof message);
    icmp[16] = icmp[17] = 1;  // source link-layer address
    memcpy(icmp + 18, peer.netif.mac, 6);
    memcpy(icmp + 24, prefix, sizeof prefix);
    memcpy(icmp + 40, client_address, 8);
    memset(icmp + 48, 0, 8);
    put_sum(frame);
    const struct weir_slice slice = {frame, sizeof frame};
    const struct weir_tx tx = {.slices = &slice, .length = sizeof frame, .count = 1, .header_length = sizeof frame};
    (void)peer.netif.driver->tx(&peer.netif, &tx);
    if (peer.netif.driver->flush)
        peer.netif.driver->flush(&peer.netif);
}

// --- the client ------------------------------------------------------------------------------------------------------

static bool peer_start(void)
{
    superloop_init(&peer.loop, &board_port, board_sleep);
    board_ethernet(&peer.netif, &host.superloop.awake);
    struct weir *weir = weir_create(peer_memory, sizeof peer_memory, &peer.loop.core.port, NULL);
    if (!weir)
        return false;
    port_attach(&peer.loop.core, weir);
    peer.tap.frame = look;
    weir_tap_add(weir, &peer.tap);
    return weir_netif_add(weir, &peer.netif) >= 0 && port_add(&peer.loop.core, &peer.netif) &&
           weir_netif_address_add(&peer.netif, weir_addr_v6(client_address), 64, WEIR_ADDRESS_AT_ONCE) >= 0;
}

static void client_step(void)
{
    static const char request[] = "GET / HTTP/1.0\r\n\r\n";
    struct weir *weir = peer.loop.core.weir;
    const struct weir_netif_address *a = host_address();
    uint8_t byte;
    if (peer.socket == WEIR_AGAIN && a) {
        peer.socket = weir_socket_open(weir, WEIR_STREAM, 0);
        (void)weir_socket_connect(weir, peer.socket, &(struct weir_endpoint){a->addr, PORT});
    } else if (peer.socket != WEIR_AGAIN && !peer.asked) {
        peer.asked = weir_socket_write(weir, peer.socket, request, sizeof request - 1) > 0;
    } else if (peer.asked && !peer.answered) {
        peer.answered = weir_socket_read(weir, peer.socket, &byte, 1) == 1;
    }
}

// --- time ------------------------------------------------------------------------------------------------------------

// Both interfaces wake the host's loop, whose flag is lowered first: what comes from then on ends the sleep.
static void turn(void)
{
    uint64_t due_us = apps_board_turn(&host);
    (void)superloop_turn(&peer.loop);
    if (peer.router_asked)
        advertise();
    peer.router_asked = false;
    client_step();
    const uint64_t peer_due_us = superloop_turn(&peer.loop);
    due_us = due_us < peer_due_us ? due_us : peer_due_us;
    if (due_us > board_now_us())
        apps_board_sleep(&host, due_us);
}

static void pass(uint64_t us)
{
    for (const uint64_t end_us = board_now_us() + us; board_now_us() < end_us;)
        turn();
}

// µs from link up to the first byte; 0: none came.
static uint64_t startup_us(unsigned how, uint8_t number)
{
    const uint8_t secret[16] = {number, (uint8_t)how};  // another address each time
    struct weir *weir = host.loop.weir;
    peer.socket = WEIR_AGAIN;
    peer.asked = peer.answered = false;
    weir_link_change(&host.netif, false);
    if (weir_netif_ip6(&host.netif, WEIR_IP6_AUTO | how, secret) < 0)
        return 0;
    pass(SECOND);
    const uint64_t began_us = board_now_us();
    weir_clock(weir, began_us);
    weir_link_change(&host.netif, true);
    while (!peer.answered && board_now_us() - began_us < GIVE_UP_US)
        turn();
    const uint64_t took_us = board_now_us() - began_us;
    (void)weir_socket_close(peer.loop.core.weir, peer.socket);
    pass(SECOND);
    (void)weir_netif_ip6(&host.netif, 0, NULL);
    return peer.answered ? took_us : 0;
}

static void measure(const char *name, unsigned how)
{
    char bytes[RUNS * 12 + 40];
    struct text text;
    text_init(&text, bytes, sizeof bytes);
    text_put(&text, "startup6 ");
    text_put(&text, name);
    for (uint8_t i = 0; i < RUNS; i++) {
        text_char(&text, ' ');
        text_u64(&text, startup_us(how, i));
    }
    text_char(&text, '\n');
    board_puts(bytes);
}

int main(void)
{
    if (!host_start() || !peer_start()) {
        board_puts("startup6: no memory, or no second interface\n");
        return 1;
    }
    measure("dad", 0);
    measure("alone", WEIR_IP6_PROMPT);
    measure("optimistic", WEIR_IP6_PROMPT | WEIR_IP6_OPTIMISTIC);
    board_puts("startup6 end\n");
    for (;;)
        turn();
}
