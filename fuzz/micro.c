// SPDX-License-Identifier: BSD-2-Clause
// A client and a driver that write anything into the memory they share with the server, at any time, and send it any
// messages (ports/micro/server.h, frames.h). The input is a list of what they do.
#include "fuzz.h"
#include "ports/micro/frames.h"
#include "ports/micro/server.h"
#include "weir/instance.h"

#define CHANNELS 3u
#define RING 256u

static uint64_t now_us;
static void *port_alloc(void *context, size_t bytes) { return (void)context, malloc(bytes); }
static void port_free(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    free(memory);
}
static void port_entropy(void *context, void *out, size_t bytes)
{
    (void)context;
    memset(out, 0x5a, bytes);
}
static uint64_t port_now_us(void *context) { return (void)context, now_us; }
static const struct weir_port port = {
    .alloc = port_alloc, .free = port_free, .entropy = port_entropy, .now_us = port_now_us};

static void notify_client(void *context, uint32_t session) { (void)context, CHECK(session == 0); }
static void reply_client(void *context, uint32_t session, struct micro_message *message)
{
    (void)context, (void)message;
    CHECK(session == 0);
}
static void notify_driver(void *context) { (void)context; }

static struct micro_server server;
static struct micro_netif netif;
static struct window *window;
static struct frames *frames;

static void send_message(struct bytes *in)
{
    struct micro_message message = {
        .operation = take8(in), .channel = (int8_t)take8(in), .argument = {(int8_t)take8(in), (int8_t)take8(in)}};
    message.endpoint.addr = weir_ip4(10, 0, 0, take8(in));
    message.endpoint.port = take8(in);
    (void)micro_server_message(&server, 0, &message);
}

static void write_anywhere(void *memory, size_t size, struct bytes *in)
{
    const size_t at = (take16(in) * 4u) % (size - 4);
    const uint32_t word = (uint32_t)take16(in) << (take8(in) & 16) | take8(in);
    memcpy((uint8_t *)memory + at, &word, 4);
}

// A frame that begins as one to us does.
static void put_frame(struct bytes *in)
{
    static const uint8_t begin[] = {2, 0, 0, 0, 0, 9, 2, 0, 0, 0, 0, 5, 8, 0};
    struct frames_slot *slot = &frames->in[atomic_load(&frames->received) % FRAMES_SLOTS];
    uint32_t length = take8(in);
    const uint8_t *bytes = take(in, &length);
    memcpy(slot->frame, begin, sizeof begin);
    memcpy(slot->frame + sizeof begin, bytes, length);
    slot->length = (uint32_t)sizeof begin + length;
    atomic_store(&frames->received, atomic_load(&frames->received) + 1);
}

static void turn(uint32_t advance_us)
{
    now_us += advance_us;
    weir_clock(server.weir, now_us);
    CHECK(micro_netif_poll(&netif, 16) <= 16);
    micro_server_rung(&server, 0);
    (void)micro_server_turn(&server);
    (void)weir_poll(server.weir, now_us);
    (void)micro_server_turn(&server);
    (void)micro_server_rest(&server);
    (void)micro_netif_rest(&netif);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
    static const uint8_t mac[6] = {2, 0, 0, 0, 0, 9};
    static const struct micro_server_host host = {notify_client, reply_client};
    static const struct micro_quota quota = {.sockets = CHANNELS + 1, .memory_bytes = 100000, .calls = 10000};
    struct bytes in = {data, (uint32_t)size};
    now_us = 1000000;
    window = calloc(1, window_bytes(CHANNELS, RING));
    frames = calloc(1, sizeof *frames);
    struct weir *weir = weir_create(NULL, 0, &port, NULL);
    CHECK(window && frames && weir);
    micro_server_init(&server, weir, &host, NULL);
    CHECK(micro_server_attach(&server, 0, window, CHANNELS, RING));
    micro_server_limit(&server, 0, &quota);
    micro_netif_init(&netif, "eth0", notify_driver, NULL);
    memcpy(frames->mac, mac, 6);
    frames->mtu = 1500;
    atomic_store(&frames->carrier, 1);
    micro_netif_attach(&netif, frames);
    CHECK(weir_netif_add(weir, &netif.netif) == WEIR_OK);
    CHECK(weir_netif_set_address(&netif.netif, weir_ip4(10, 0, 0, 1), 24, WEIR_ADDRESS_AT_ONCE) == WEIR_OK);
    while (in.left) {
        switch (take8(&in) % 8) {
        case 0:
        case 1: send_message(&in); break;
        case 2: write_anywhere(window, window_bytes(CHANNELS, RING), &in); break;
        case 3: atomic_store(&window->channel[take8(&in) % CHANNELS].sent, take16(&in)); break;
        case 4: write_anywhere(frames, sizeof *frames, &in); break;
        case 5: put_frame(&in); break;
        default: turn(take8(&in) * 1000u);
        }
    }
    turn(1000);
    micro_server_detach(&server, 0);
    free(window);
    weir_netif_remove(&netif.netif);
    weir_destroy(weir);
    free(frames);
    return 0;
}
