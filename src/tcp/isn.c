// SPDX-License-Identifier: BSD-2-Clause
#include "tcp/isn.h"

#include "instance.h"
#include "tcp/halfopen.h"
#include "tcp/timewait.h"

static uint64_t ends_hash_compute(const struct weir *weir, enum tcp_hash hash, struct weir_addr local,
                                  struct weir_addr remote, uint32_t ports)
{
    struct {
        struct weir_addr local, remote;
        uint32_t ports;
    } ends;
    memset(&ends, 0, sizeof ends);
    ends.local = local;
    ends.remote = remote;
    ends.ports = ports;
    return siphash(hash == TCP_HASH_HOSTS ? &weir->isn_key : &weir->port_key, &ends, sizeof ends);
}
#if WEIR_CFG_FAST_PATH
uint64_t tcp_ends_hash_new(const struct weir *weir, enum tcp_hash hash, struct weir_addr local, struct weir_addr remote,
                           uint32_t ports)
{
    struct tcp_hashed *const last = (struct tcp_hashed *)&weir->tcp.hashed[hash];  // a memo, nothing anyone could see
    last->local = local;
    last->remote = remote;
    last->ports = ports;
    last->hash = hash == TCP_HASH_TUPLE ? addr_ends_hash(&weir->isn_key, local, remote, ports)
                                        : ends_hash_compute(weir, hash, local, remote, ports);
    return last->hash;
}
#else
static inline uint64_t tcp_ends_hash(const struct weir *weir, enum tcp_hash hash, struct weir_addr local,
                                     struct weir_addr remote, uint32_t ports)
{
    return ends_hash_compute(weir, hash, local, remote, ports);
}
#endif

// RFC 6528 §3: ISN = M + F(both ends, secret); M counts 4 µs, so numbers of one pair of ends ascend and those of
// different pairs tell nothing about each other.
uint32_t tcp_isn(const struct weir *weir, const struct weir_endpoint *local, const struct weir_endpoint *remote)
{
    return (uint32_t)(weir->now_us >> 2) +
           (uint32_t)(tcp_tuple_hash(weir, local->addr, local->port, remote->addr, remote->port) >> 32);
}

uint32_t tcp_timestamp_offset(const struct weir *weir, struct weir_addr local, struct weir_addr remote)
{
    return (uint32_t)tcp_ends_hash(weir, TCP_HASH_HOSTS, local, remote, 0);
}

#if WEIR_CFG_TCP_CONNECT
#define PORTS (TCP_PORT_LAST - TCP_PORT_FIRST + 1)
#define PORT_STEPS (sizeof((struct tcp *)0)->port_steps / sizeof((struct tcp *)0)->port_steps[0])
// up to 8 ports skipped at random, so that counting connections of others from outside fails (RFC 6056 §3.3.5)
#define PORT_STEP_BITS 3u
#define PORT_GUESSES 32u  // random tries before looking at each port in turn

static bool tcp_port_free(struct weir *weir, const struct weir_endpoint *local, const struct weir_endpoint *remote,
                          struct tcp_time_wait **old)
{
    if (local->port == remote->port && weir_addr_equal(local->addr, remote->addr))
        return false;  // a connection to itself
    if (tcp_conn_find(weir, local->addr, local->port, remote->addr, remote->port) ||
        half_open_uses(weir, local, remote))
        return false;
    *old = time_wait_between(weir, local, remote);
    return time_wait_reusable(weir, *old);
}

// RFC 6056 §3.3.4 (double hash), with random steps: successive ports to one destination are far apart in time, which
// spares its TIME-WAIT; where they begin is secret. When most ports are taken, guessing finds a free one in a few
// tries; only when (almost) none is left, each is looked at.
uint16_t tcp_port_choose(struct weir *weir, struct weir_addr local, const struct weir_endpoint *remote,
                         struct tcp_time_wait **old)
{
    const uint64_t hash = tcp_ends_hash(weir, TCP_HASH_DESTINATION, local, remote->addr, remote->port);
    uint16_t *step = &weir->tcp.port_steps[(hash >> 32) % PORT_STEPS];
    *step = (uint16_t)(*step + 1 + random_bits(&weir->random, PORT_STEP_BITS));

    struct weir_endpoint candidate = {.addr = local};
    uint32_t at = (uint32_t)(((uint32_t)hash & 0xffff) + *step) % PORTS;
    for (uint32_t tries = 0; tries < PORT_GUESSES + PORTS; tries++) {
        candidate.port = (uint16_t)(TCP_PORT_FIRST + at);
        if (tcp_port_free(weir, &candidate, remote, old))
            return candidate.port;
        at = tries < PORT_GUESSES ? random_below(&weir->random, PORTS) : (at + 1) % PORTS;
    }
    return 0;
}
#endif
