// SPDX-License-Identifier: BSD-2-Clause
// Two Weir instances back to back in memory, one thread, virtual time: the pure cost of the stack, both ends together.
// Ethernet, ARP, IPv4, TCP with timestamps, SACK and window scale, checksums computed and verified, one real copy on
// the link.
//
//     weir_pair [-6] bulk SEGMENTS    reserve/commit and peek/consume (-6: over IPv6, in a build that has it)
//     weir_pair copy SEGMENTS         write and read
//     weir_pair echo ROUNDS           one byte there and back
//     weir_pair connect COUNT OPEN    COUNT connections opened and closed beside OPEN others
//     weir_pair idle COUNT            memory of COUNT idle connections, one end
//     weir_pair insert COUNT          COUNT connections inserted, the longest single call
//     weir_pair calls COUNT           the longest single call of each kind with COUNT connections (calls.c)
//
// The function `measured` is what callgrind collects (--toggle-collect=measured). Results are one JSON line.
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "bench/pair/pair.h"
#include "posix/cpu.h"
#include "weir/instance.h"
#include "weir/netif.h"
#include "weir/socket.h"
#include "weir/stats.h"

#define MSS 1460u
#define MEASURED_PORT 79u  // of the connections that come and go: none of the others take its 28,000 client ports
#ifndef BATCH
#define BATCH 3u  // frames an end takes before its weir_poll (bench/README.md says why)
#endif

struct end ends[2];
uint64_t now_us = 1000000;
static uint64_t frames_carried;
bool cable_cut;

static void *get(void *context, size_t bytes)
{
    (void)context;
    return malloc(bytes);
}
static void put(void *context, void *memory, size_t bytes)
{
    (void)context, (void)bytes;
    free(memory);
}

static void entropy(void *context, void *out, size_t bytes)
{
    (void)context;
    static uint8_t next = 1;
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)out)[i] = (uint8_t)(next = (uint8_t)(next * 37 + 11));
}

struct weir_port port = {.alloc = get, .free = put, .entropy = entropy, .granularity_us = 1};

static enum weir_tx_verdict carry(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct end *to = ((struct end *)netif->driver_data)->peer;
    if (cable_cut)
        return WEIR_TX_DONE;
    struct frame *frame = &to->queue[to->tail++ % QUEUE];
    uint8_t *out = frame->bytes;
    const struct weir_slice *slice = tx->slices, *const end = slice + tx->count;
    do
        out = (uint8_t *)memcpy(out, slice->data, slice->length) + slice->length;
    while (++slice != end);
    frame->length = tx->length;
    frames_carried++;
    if (to->tail - to->head == QUEUE)
        weir_tx_full(netif);  // and no more come, until half of the ring is free
    return WEIR_TX_DONE;
}

static const struct weir_driver driver = {.name = "pair", .tx = carry};

// A batch comes in, as the port's poller brings it: the clock, then at most BATCH frames.
static void receive(struct end *end)
{
    weir_clock(end->weir, now_us);
    if (end->head == end->tail)
        return;
    uint32_t most = BATCH;
    do {
        const struct frame *frame = &end->queue[end->head++ % QUEUE];
        const struct weir_slice slice = {frame->bytes, frame->length};
        const struct weir_frame lent = {.slices = &slice, .count = 1, .length = frame->length};
        weir_input(&end->netif, &lent);
    } while (--most && end->head != end->tail);
    if (end->peer->netif.flags & WEIR_NETIF_TX_BLOCKED && end->tail - end->head <= QUEUE / 2)
        weir_tx_ready(&end->peer->netif);
}

// One turn of an end: a batch in, one poll.
static void turn(struct end *end)
{
    receive(end);
    weir_poll(end->weir, now_us);
}

static void turns(void)
{
    now_us++;
    turn(&ends[0]);
    turn(&ends[1]);
}

void settle(void)
{
    do
        turns();
    while (ends[0].head != ends[0].tail || ends[1].head != ends[1].tail);
}

#if WEIR_CFG_IP6
static bool version6;
struct weir_addr address_of(int end)
{
    const uint8_t bytes[16] = {0xfd, [15] = (uint8_t)(end + 1)};
    return version6 ? weir_addr_v6(bytes) : weir_ip4(10, 0, 0, (uint8_t)(end + 1));
}
static int set_address(struct weir_netif *netif, struct weir_addr address)
{
    return version6 ? weir_netif_address_add(netif, address, 64, WEIR_ADDRESS_AT_ONCE)
                    : weir_netif_set_address(netif, address, 8, WEIR_ADDRESS_AT_ONCE);
}
static bool choose_version6(void) { return version6 = true; }
#else
struct weir_addr address_of(int end) { return weir_ip4(10, 0, 0, (uint8_t)(end + 1)); }
static int set_address(struct weir_netif *netif, struct weir_addr address)
{
    return weir_netif_set_address(netif, address, 8, WEIR_ADDRESS_AT_ONCE);
}
static bool choose_version6(void) { return false; }
#endif
static uint32_t payload_of(int end) { return MSS - (weir_addr_is_v4(address_of(end)) ? 0 : 20) - 12; }  // timestamps

void check(int result, const char *what)
{
    if (result < 0 && result != WEIR_IN_PROGRESS) {
        fprintf(stderr, "weir_pair: %s: %s\n", what, weir_error_name(result));
        exit(1);
    }
}

void open_ends(const struct weir_config *config)
{
    posix_cpu_select(&port);
    for (int i = 0; i < 2; i++) {
        struct end *end = &ends[i];
        end->weir = weir_create(NULL, 0, &port, config);
        end->peer = &ends[1 - i];
        end->queue = calloc(QUEUE, sizeof *end->queue);
        if (!end->weir || !end->queue)
            exit(1);
        weir_clock(end->weir, now_us);
        weir_netif_init(&end->netif, "pair", &driver, &weir_link_ethernet);
        end->netif.driver_data = end;
        end->netif.mac[0] = 2;
        end->netif.mac[5] = (uint8_t)(i + 1);
        check(weir_netif_add(end->weir, &end->netif), "adding the interface");
        check(set_address(&end->netif, address_of(i)), "setting the address");
    }
    settle();
}

weir_socket listen_at(uint16_t number)
{
    const weir_socket listener = weir_socket_open(ends[1].weir, WEIR_STREAM, 0);
    const struct weir_endpoint local = {weir_addr_any(), number};
    check(weir_socket_bind(ends[1].weir, listener, &local), "bind");
    check(weir_socket_listen(ends[1].weir, listener, 1000), "listen");
    return listener;
}

static weir_socket connect_to(uint16_t number, weir_socket listener, weir_socket *server)
{
    const weir_socket client = weir_socket_open(ends[0].weir, WEIR_STREAM, 0);
    const struct weir_endpoint peer = {address_of(1), number};
    check(client, "open");
    check(weir_socket_connect(ends[0].weir, client, &peer), "connect");
    for (int tries = 0; tries < 100; tries++) {
        turns();
        *server = weir_socket_accept(ends[1].weir, listener);
        if (*server > 0)
            return client;
    }
    check(*server, "accept");
    return client;
}

void drain_ready(void)
{
    uint32_t events;
    for (int i = 0; i < 2; i++)
        while (weir_ready_next(ends[i].weir, &events) > 0)
            ;
}

// --- bulk ------------------------------------------------------------------------------------------------------------

static uint8_t block[65536];

// The sending application: as much as is open to it, once a turn; the receiving one: what is there.
static void fill(weir_socket from, uint64_t *left)
{
    struct weir_span spans[2];
    const int lent =
        *left ? weir_socket_reserve(ends[0].weir, from, *left > 65536 ? 65536 : (uint32_t)*left, spans, 2) : 0;
    if (lent > 0) {
        weir_socket_commit(ends[0].weir, from, (uint32_t)lent);
        *left -= (uint32_t)lent;
    }
}

static void drain(weir_socket to, uint64_t *got)
{
    struct weir_slice slices[4];
    const int lent = weir_socket_peek(ends[1].weir, to, 0, slices, 4);
    if (lent > 0) {
        *got += (uint32_t)lent;
        weir_socket_consume(ends[1].weir, to, (uint32_t)lent);
    }
}

static void fill_copying(weir_socket from, uint64_t *left)
{
    const int wrote =
        *left ? weir_socket_write(ends[0].weir, from, block, *left > sizeof block ? sizeof block : (uint32_t)*left) : 0;
    if (wrote > 0)
        *left -= (uint32_t)wrote;
}

static void drain_copying(weir_socket to, uint64_t *got)
{
    const int read = weir_socket_read(ends[1].weir, to, block, sizeof block);
    if (read > 0)
        *got += (uint32_t)read;
}

__attribute__((noinline)) static void measured_bulk(weir_socket from, weir_socket to, uint64_t bytes, int copying)
{
    uint64_t left = bytes, got = 0;
    while (got < bytes) {
        now_us++;
        copying ? fill_copying(from, &left) : fill(from, &left);
        turn(&ends[0]);
        receive(&ends[1]);
        copying ? drain_copying(to, &got) : drain(to, &got);
        weir_poll(ends[1].weir, now_us);
        drain_ready();
    }
}

// A batch in, the byte read and written back (or on its way again), one poll.
static void answer(struct end *end, weir_socket socket, uint8_t *byte)
{
    now_us++;
    receive(end);
    if (weir_socket_read(end->weir, socket, byte, 1) == 1)
        weir_socket_write(end->weir, socket, byte, 1);
    weir_poll(end->weir, now_us);
}

__attribute__((noinline)) static void measured_echo(weir_socket client, weir_socket server, uint64_t rounds)
{
    uint8_t byte = 1;
    weir_socket_write(ends[0].weir, client, &byte, 1);
    weir_poll(ends[0].weir, now_us);
    for (uint64_t i = 0; i < rounds; i++) {
        const uint64_t before = frames_carried;
        answer(&ends[1], server, &byte);
        answer(&ends[0], client, &byte);
        if (frames_carried - before < 2)
            exit(1);
        drain_ready();
    }
    turn(&ends[1]);
    check(weir_socket_read(ends[1].weir, server, &byte, 1), "the last byte");
}

static void close_pair(weir_socket client, weir_socket server)
{
    weir_socket_close(ends[0].weir, client);
    turns();
    turns();
    weir_socket_close(ends[1].weir, server);
    settle();
}

__attribute__((noinline)) static void measured_connect(weir_socket listener, uint64_t count)
{
    for (uint64_t i = 0; i < count; i++) {
        weir_socket server;
        const weir_socket client = connect_to(MEASURED_PORT, listener, &server);
        close_pair(client, server);
        drain_ready();
    }
}

static uint64_t nanoseconds_of(clockid_t clock)
{
    struct timespec time;
    clock_gettime(clock, &time);
    return (uint64_t)time.tv_sec * 1000000000u + (uint64_t)time.tv_nsec;
}

static uint64_t nanoseconds(void) { return nanoseconds_of(CLOCK_MONOTONIC); }
uint64_t cpu_nanoseconds(void) { return nanoseconds_of(CLOCK_THREAD_CPUTIME_ID); }

static void result(const char *what, uint64_t units, uint64_t frames, uint64_t ns)
{
    printf("{\"stack\": \"weir\", \"test\": \"%s\", \"units\": %llu, \"frames\": %llu, \"ns\": %llu}\n", what,
           (unsigned long long)units, (unsigned long long)frames, (unsigned long long)ns);
}

static void run_bulk(uint64_t segments, int copying)
{
    weir_socket server;
    const weir_socket listener = listen_at(80);
    const weir_socket client = connect_to(80, listener, &server);
    const uint64_t payload = payload_of(0);
    measured_bulk(client, server, 2000 * payload, copying);
    frames_carried = 0;
    const uint64_t start = nanoseconds();
    measured_bulk(client, server, segments * payload, copying);
    result(copying ? "copy" : "bulk", segments, frames_carried, nanoseconds() - start);
}

static void run_echo(uint64_t rounds)
{
    weir_socket server;
    const weir_socket listener = listen_at(80);
    const weir_socket client = connect_to(80, listener, &server);
    weir_socket_set(ends[0].weir, client, WEIR_OPTION_NO_DELAY, 1);
    weir_socket_set(ends[1].weir, server, WEIR_OPTION_NO_DELAY, 1);
    measured_echo(client, server, 100);
    frames_carried = 0;
    const uint64_t start = nanoseconds();
    measured_echo(client, server, rounds);
    result("echo", rounds, frames_carried, nanoseconds() - start);
}

// By the clock, and of this thread's own time: on a machine with other work the first is the scheduler's slice.
struct longest {
    uint64_t ns, cpu_ns;
};

static void open_many(weir_socket listener, uint64_t count, struct longest *longest)
{
    uint16_t port_number = 80;
    weir_socket extra[64];
    uint32_t listeners = 0;
    for (uint64_t i = 0; i < count; i++) {
        weir_socket server;
        if (i % 20000 == 19999 && listeners < 64) {
            extra[listeners] = listen_at(++port_number);
            listener = extra[listeners++];
        }
        const uint64_t start = nanoseconds(), cpu_start = cpu_nanoseconds();
        connect_to(port_number, listener, &server);
        const uint64_t cpu_took = cpu_nanoseconds() - cpu_start, took = nanoseconds() - start;
        if (took > longest->ns)
            longest->ns = took;
        if (cpu_took > longest->cpu_ns)
            longest->cpu_ns = cpu_took;
        drain_ready();
    }
}

static void run_connect(uint64_t count, uint64_t open)
{
    struct longest longest = {0, 0};
    const weir_socket listener = listen_at(MEASURED_PORT);
    open_many(listen_at(80), open, &longest);
    measured_connect(listener, 100);
    frames_carried = 0;
    const uint64_t start = nanoseconds();
    measured_connect(listener, count);
    result("connect", count, frames_carried, nanoseconds() - start);
}

static void run_idle(uint64_t count)
{
    const weir_socket listener = listen_at(80);
    weir_socket *clients = malloc(count * sizeof *clients), *servers = malloc(count * sizeof *servers);
    const uint64_t before = weir_memory_used(ends[1].weir);
    uint8_t byte[1000] = {0};
    for (uint64_t i = 0; i < count; i++) {
        clients[i] = connect_to(80, listener, &servers[i]);
        weir_socket_write(ends[0].weir, clients[i], byte, sizeof byte);
        weir_socket_write(ends[1].weir, servers[i], byte, sizeof byte);
        settle();
        if (weir_socket_read(ends[1].weir, servers[i], byte, sizeof byte) != sizeof byte ||
            weir_socket_read(ends[0].weir, clients[i], byte, sizeof byte) != sizeof byte)
            exit(1);
        drain_ready();
    }
    const uint64_t busy = weir_memory_used(ends[1].weir) - before;
    for (int i = 0; i < 200; i++) {  // ten seconds: delayed ACKs leave, memory is let go
        now_us += 50000;
        settle();
    }
    const uint64_t idle = weir_memory_used(ends[1].weir) - before;
    printf(
        "{\"stack\": \"weir\", \"test\": \"idle\", \"units\": %llu, \"bytes\": %llu, \"bytes_after_traffic\": %llu}\n",
        (unsigned long long)count, (unsigned long long)(idle / count), (unsigned long long)(busy / count));
}

static void run_insert(uint64_t count)
{
    struct longest longest = {0, 0};
    const uint64_t start = nanoseconds();
    open_many(listen_at(80), count, &longest);
    printf("{\"stack\": \"weir\", \"test\": \"insert\", \"units\": %llu, \"ns\": %llu, \"max_ns\": %llu, "
           "\"max_cpu_ns\": %llu}\n",
           (unsigned long long)count, (unsigned long long)(nanoseconds() - start), (unsigned long long)longest.ns,
           (unsigned long long)longest.cpu_ns);
}

int main(int argc, char **argv)
{
    if (argc > 1 && !strcmp(argv[1], "-6") && choose_version6())
        argv++, argc--;
    if (argc < 3) {
        fprintf(stderr, "usage: weir_pair [-6] bulk|copy|echo|connect|idle|insert|calls COUNT [OPEN]\n");
        return 2;
    }
    const uint64_t number = strtoull(argv[2], NULL, 10);
    if (!strcmp(argv[1], "calls"))
        return run_calls(number);
    open_ends(NULL);
    if (!strcmp(argv[1], "bulk") || !strcmp(argv[1], "copy"))
        run_bulk(number, argv[1][0] == 'c');
    else if (!strcmp(argv[1], "echo"))
        run_echo(number);
    else if (!strcmp(argv[1], "connect"))
        run_connect(number, argc > 3 ? strtoull(argv[3], NULL, 10) : 0);
    else if (!strcmp(argv[1], "idle"))
        run_idle(number);
    else
        run_insert(number);
    return 0;
}
