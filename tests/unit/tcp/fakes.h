// SPDX-License-Identifier: BSD-2-Clause
// A world for the tests of half-open connections, TIME-WAIT, cookies, numbers and ports: the real tables and hashes,
// and in place of the rest of TCP and IP fakes that record what they were asked. Include it once in a test program.
#ifndef TESTS_TCP_FAKES_H
#define TESTS_TCP_FAKES_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>

#include <cmocka.h>

#include "instance.h"
#include "tcp/listen.h"
#include "tcp/halfopen.h"
#include "tcp/isn.h"
#include "tcp/syncookie.h"
#include "tcp/timewait.h"

#define LOCAL_ADDR weir_ip4(10, 0, 0, 1)
#define REMOTE_ADDR weir_ip4(10, 0, 0, 2)

static inline struct tcp_end world_end(struct weir_endpoint at)
{
    return (struct tcp_end){.addr = at.addr, .port = at.port};
}

static struct weir weir_object, *const world = &weir_object;
static struct weir_netif world_netif;
static struct weir_port world_port;
static struct tcp_listener world_listener;
static uint8_t world_block[1 << 16];
static long world_bytes;  // got from the allocator and not given back
static long world_fail_after = -1;

// What was sent last, and how many times anything was.
static struct {
    uint32_t count;
    bool routed;  // without a packet to answer
    struct weir_endpoint local, remote;
    struct tcp_segment segment;
    struct tcp_options options;
} world_sent;
static uint32_t world_resets;
static struct {
    uint32_t count, input_count;
    bool refuse;
    struct tcp_open_params params;
    struct tcp_conn conn;
} world_passive;
// Connections that tcp_conn_find knows: local ports of one remote.
static uint8_t world_port_used[65536];

// As src/instance.c has it.
void slow_due(struct weir *weir, uint64_t at_us)
{
    if (at_us < weir->slow_due_us)
        weir->slow_due_us = at_us;
}

static void *world_alloc(void *context, size_t bytes)
{
    (void)context;
    if (world_fail_after == 0)
        return NULL;
    world_fail_after -= world_fail_after > 0;
    world_bytes += (long)bytes;
    return malloc(bytes);
}
static void world_free(void *context, void *memory, size_t bytes)
{
    (void)context;
    world_bytes -= (long)bytes;
    free(memory);
}

#if WEIR_CFG_IP_OPTIONS
void ip4_options_note(struct weir_ip_options *options, const struct packet *packet) { (void)options, (void)packet; }
void tcp_ip_options_kept(struct tcp_conn *c, const struct weir_ip_options *received) { (void)c, (void)received; }
const struct weir_ip_options *tcp_ip_options(const struct tcp_conn *c) { return (void)c, NULL; }
#endif

// What the rows of the families name: none of it is asked for here, but without optimisation it is linked.
enum weir_tx_verdict ip4_output(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out,
                                struct sock *waiter)
{
    return (void)weir, (void)path, (void)ip, (void)out, (void)waiter, WEIR_TX_DONE;
}
enum weir_tx_verdict arp_ask(const struct neighbour *n, const uint8_t *mac) { return (void)n, (void)mac, WEIR_TX_DONE; }
#if WEIR_CFG_IP6
enum weir_tx_verdict ip6_output(struct weir *weir, struct path *path, const struct ip_out *ip, struct packet_out *out,
                                struct sock *waiter)
{
    return (void)weir, (void)path, (void)ip, (void)out, (void)waiter, WEIR_TX_DONE;
}
enum weir_tx_verdict nd_ask(const struct neighbour *n, const uint8_t *mac) { return (void)n, (void)mac, WEIR_TX_DONE; }
#endif

bool tcp_reply(struct weir *weir, const struct packet *reply_to, const struct weir_endpoint *local,
               const struct weir_endpoint *remote, struct ip_params params, const struct tcp_segment *segment)
{
    (void)weir, (void)params;
    world_sent.count++;
    world_sent.routed = reply_to == NULL;
    world_sent.local = *local;
    world_sent.remote = *remote;
    world_sent.segment = *segment;
    world_sent.options = segment->options;
    return true;
}
bool tcp_reply_on(struct weir *weir, const struct path *path, const struct packet *reply_to,
                  const struct weir_endpoint *local, const struct weir_endpoint *remote, struct ip_params params,
                  const struct tcp_segment *segment)
{
    static const struct packet answered;
    assert_ptr_equal(path->netif, &world_netif);
    assert_non_null(reply_to);
    return tcp_reply(weir, &answered, local, remote, params, segment);
}
void tcp_reply_reset(struct weir *weir, const struct packet *packet, const struct tcp_segment *segment)
{
    (void)weir, (void)packet, (void)segment;
    world_resets++;
}
struct tcp_conn *tcp_conn_passive(struct weir *weir, struct tcp_listener *listener,
                                  const struct tcp_open_params *params, const struct packet *packet)
{
    (void)packet;
    (void)weir;
    if (world_passive.refuse || listener->accept_count >= listener->backlog)
        return NULL;
    world_passive.count++;
    world_passive.params = *params;
    return &world_passive.conn;
}
void tcp_input_segment(struct weir *weir, struct tcp_conn *c, struct packet *packet, struct tcp_segment *segment)
{
    (void)weir, (void)packet, (void)segment;
    assert_ptr_equal(c, &world_passive.conn);
    world_passive.input_count++;
}
struct tcp_conn *tcp_conn_find(struct weir *weir, struct weir_addr local, uint16_t local_port, struct weir_addr remote,
                               uint16_t remote_port)
{
    (void)weir, (void)local, (void)remote, (void)remote_port;
    return world_port_used[local_port] ? &world_passive.conn : NULL;
}
uint32_t tcp_hash(const struct weir *weir, struct weir_addr local, uint16_t local_port, struct weir_addr remote,
                  uint16_t remote_port)
{
    return siphash_words(&weir->hash_key, (uint64_t)weir_addr_to_v4(local) << 32 | weir_addr_to_v4(remote),
                         (uint64_t)local_port << 16 | remote_port);
}
uint16_t tcp_mss_for_mtu(struct weir_addr remote, uint16_t mtu)
{
    (void)remote;
    return (uint16_t)(mtu - 40);
}
uint8_t tcp_scale_for(uint32_t receive_limit)
{
    uint8_t scale = 0;
    while (scale < 14 && receive_limit >> scale > 65535)
        scale++;
    return scale;
}
uint32_t tcp_timestamp(const struct weir *weir, uint32_t offset) { return weir->now_ms + offset; }
int ip_path_reply(struct weir *weir, struct path *path, const struct packet *packet)
{
    (void)weir, (void)packet;
    path->netif = &world_netif;
    path->mtu = world_netif.mtu;
    return WEIR_OK;
}

static void world_clock(uint64_t now_us)
{
    world->now_us = now_us;
    world->now = (uint32_t)now_us;
    world->now_ms = (uint32_t)(now_us / 1000);
}
static inline void world_pass(uint64_t us) { world_clock(world->now_us + us); }

static int world_open(void **state)
{
    (void)state;
    memset(world, 0, sizeof *world);
    memset(&world_sent, 0, sizeof world_sent);
    memset(&world_passive, 0, sizeof world_passive);
    memset(world_port_used, 0, sizeof world_port_used);
    memset(&world_listener, 0, sizeof world_listener);
    world_resets = 0;
    world_bytes = 0;
    world_fail_after = -1;
    world_port = (struct weir_port){.alloc = world_alloc, .free = world_free};
    world_netif = (struct weir_netif){.mtu = 1500};
    world_listener =
        (struct tcp_listener){.local = {.addr = LOCAL_ADDR, .port = 80}, .backlog = 8, .receive_limit = 1 << 20};
    world->port = &world_port;
    world->memory.port = &world_port;
    memory_budget_set(&world->memory, UINT64_MAX);
    if (!WEIR_CFG_ALLOCATOR) {
        world->memory.block = world_block;
        world->memory.block_bytes = sizeof world_block;
    }
    world->netifs = &world_netif;
    world->hash_key = (struct siphash_key){1, 2};
    world->isn_key = (struct siphash_key){3, 4};
    world->port_key = (struct siphash_key){5, 6};
    random_seed(&world->random, (const uint8_t[16]){7});
    world->slow_due_us = WEIR_NEVER;
    world_clock(0xfffffff0u - 2000000u);  // the 32-bit clock wraps in two seconds
    assert_int_equal(half_open_init(world), WEIR_OK);
    assert_int_equal(time_wait_init(world), WEIR_OK);
    return 0;
}
static int world_close(void **state)
{
    (void)state;
    half_open_free(world);
    time_wait_free(world);
    assert_int_equal(world_bytes, 0);
    return 0;
}
#define world_test(f) cmocka_unit_test_setup_teardown(f, world_open, world_close)

// A packet from REMOTE_ADDR with this segment.
static inline struct packet world_packet(void)
{
    static const uint8_t mac[6] = {2, 3, 4, 5, 6, 7};
    return (struct packet){.netif = &world_netif, .source = REMOTE_ADDR, .destination = LOCAL_ADDR, .link_source = mac};
}
static inline struct tcp_segment world_segment(uint8_t flags, uint32_t seq, uint32_t ack)
{
    return (struct tcp_segment){
        .flags = flags, .seq = seq, .ack = ack, .source = 5555, .destination = 80, .window = 1000};
}

#endif
