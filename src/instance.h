// SPDX-License-Identifier: BSD-2-Clause
// struct weir: the one place where an instance's state is composed. Every module keeps its own part, declared in its
// own header; a module may look at lower layers' parts, at base parts, and at its own.
#ifndef INSTANCE_H
#define INSTANCE_H

#include "base/memory.h"
#include "base/random.h"
#include "base/sock.h"
#include "base/wheel.h"
#include "ip/ip.h"
#include "link/ethernet.h"
#include "link/loopback.h"
#include "link/nd.h"
#include "tcp/tcp.h"
#include "udp/datagram.h"
#include "weir/instance.h"
#include "weir/stats.h"
#include "weir/trace.h"

// Of the handle table (src/socket/handle.c): where a sock lies, whose handle then holds the generation; or, in a free
// slot, the generation of its last use and the index + 1 of the next free one (0: none), made odd. The free list is
// first-in first-out: a slot rests as long as it can.
struct slot {
    uintptr_t word;
};
struct slots {
    void **users;        // weir_socket_set_user's, by slot; NULL: none was set in this segment yet
    struct slot slot[];  // SLOTS_PER_SEGMENT of them (static builds: all there are)
};

struct handles {
    struct slots **segments;  // directory; segments never move
    uint32_t segment_count, slots, limit;
    uint32_t free_first, free_last;  // index + 1
    uint32_t free_count;
#if WEIR_CFG_FAST_PATH
    weir_socket recent;  // the stream socket of the last call, which is rather that of the next one, too; 0: none
    struct tcp_conn *recent_conn;  // the connection of `recent`
#endif
};

#if WEIR_CFG_FAST_PATH
static inline void handles_forget_recent(struct handles *handles) { handles->recent = 0; }
#else
static inline void handles_forget_recent(struct handles *handles) { (void)handles; }
#endif

struct weir {
    const struct weir_port *port;
    uint64_t now_us;
    uint32_t now;     // low 32 bits of now_us; under a coarse clock a little ahead of them (clock_step)
    uint32_t now_ms;  // counted up by weir_clock, without a division
    uint32_t ms_fraction_us;
    uint64_t slow_due_us;  // next call of the modules' own polls
    struct memory memory;
    struct random random;
    struct siphash_key hash_key;  // of tables by address
    struct siphash_key isn_key;   // RFC 6528 secret, also of tables by both ends
    struct siphash_key port_key;  // RFC 6056 secret
    struct wheel wheel;           // connections' timers
    struct socks socks;
    struct handles handles;
    struct weir_netif *netifs;
    uint8_t netif_count;
    uint8_t flush_count;                  // of them: those whose driver has `flush`
    bool carved_all;                      // memory came from weir_create's caller
    const struct ethertype *ethertypes;   // ended by type 0
    const struct ip_protocol *protocols;  // ended by number 0
#if WEIR_CFG_HANDLERS
    struct weir_ethertype_handler *ethertype_handlers;
    struct weir_protocol_handler *protocol_handlers;
    struct weir_tap *taps;
    struct weir_address_watch *address_watches;
#endif
#if WEIR_CFG_TRACE
    struct weir_tracer *tracer;  // NULL: none
#endif
#if WEIR_CFG_ADDRESSES
    struct weir_netif_address addresses[WEIR_CFG_ADDRESSES];  // further ones of the interfaces; free: state NONE
#endif
#if WEIR_CFG_LOOPBACK
    struct loopback loopback;
#endif
    struct arp arp;
#if WEIR_CFG_IP6
    struct nd_replies nd;
#endif
    struct ip ip;
#if WEIR_CFG_UDP || WEIR_CFG_RAW
    struct udp udp;
#endif
    struct tcp tcp;
#if WEIR_CFG_COUNTERS
    uint32_t counters[WEIR_COUNT_COUNT];
#endif
#if WEIR_CFG_SELF_CHECK
    uint32_t self_checks;  // polls that have ended
#endif
};

#if WEIR_CFG_COUNTERS
static inline void count_add(struct weir *weir, enum weir_counter counter, uint32_t amount)
{
    weir->counters[counter] += amount;
}
static inline uint32_t counted(const struct weir *weir, enum weir_counter counter) { return weir->counters[counter]; }
#else
static inline void count_add(struct weir *weir, enum weir_counter counter, uint32_t amount)
{
    (void)weir, (void)counter, (void)amount;
}
static inline uint32_t counted(const struct weir *weir, enum weir_counter counter)
{
    return (void)weir, (void)counter, 0;
}
#endif
static inline void count(struct weir *weir, enum weir_counter counter) { count_add(weir, counter, 1); }
// What stands before a transport header may be another now: the flow cache's templates are made anew.
#if WEIR_CFG_FAST_PATH
static inline void templates_changed(struct weir *weir)
{
    if (++weir->ip.flow_generation == 0)  // 0 is the generation of a template never made
        weir->ip.flow_generation = 1;
}
#else
static inline void templates_changed(struct weir *weir) { (void)weir; }
#endif
// Cached paths, and with them all that the flow cache holds, are looked up anew. Rare.
static inline void paths_changed(struct weir *weir)
{
    templates_changed(weir);
    if (++weir->ip.generation == 0)  // 0 is the generation of a path never looked up
        weir->ip.generation = 1;
}
// Something happened that cannot have happened at the same time as what came before it, although the port's clock says
// so: `now` goes on by `step_us`, but by less than half of what the clock cannot tell apart, so that it is never more
// than that ahead.
static inline bool clock_steps(const struct weir *weir, uint32_t step_us)
{
    const uint32_t ahead_us = weir->now - (uint32_t)weir->now_us;
    return 2 * (ahead_us + step_us) <= weir->port->granularity_us;
}
static inline void clock_step(struct weir *weir, uint32_t step_us)
{
    weir->now += clock_steps(weir, step_us) ? step_us : 0;
}
// A module's own poll must run no later than `at_us` (see arp_poll, ip_poll, tcp_poll). Instance and modules only.
void slow_due(struct weir *weir, uint64_t at_us);
// ARP gave up: tells the sock by its kind (tcp_link_failed, datagram_link_failed). In instance.c; reached through a
// pointer-free upcall so that src/link depends on nothing above it.
void neighbour_failed(struct weir *weir, struct sock *sock, int error);

// Handle table (src/socket/handle.c).
#define SLOTS_PER_SEGMENT 256u
int handles_init(struct weir *weir, uint32_t limit);
size_t handles_bytes(uint32_t limit);  // of the block given to weir_create; so all NOUN_bytes of the modules
void handles_free(struct weir *weir);
bool handle_room(struct weir *weir);                           // whether handle_new would succeed
weir_socket handle_new(struct weir *weir, struct sock *sock);  // or WEIR_NO_MEMORY; sets sock->handle and SOCK_HANDLED
void handle_free(struct weir *weir, struct sock *sock);        // also off the ready list; nothing when it has no handle
// where a valid handle's user pointer lies. NULL: there is none; with `make`: no memory
void **handle_user(struct weir *weir, weir_socket socket, bool make);
struct sock *handle_sock(const struct weir *weir, weir_socket socket);  // NULL: no such socket
// the same handle names another sock (listen)
void handle_replace(struct weir *weir, weir_socket socket, struct sock *sock);

#endif
