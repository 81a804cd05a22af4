// SPDX-License-Identifier: BSD-2-Clause
// The instance: its life, time, and one turn of its wheel.
#include "compact/compact.h"
#include "compact/nd.h"
#include "compact/permute.h"

size_t weir_size(const struct weir_config *config)
{
    (void)config;
    return sizeof(struct weir);
}

struct weir *weir_create(void *memory, size_t bytes, const struct weir_port *port, const struct weir_config *config)
{
    struct weir *weir = memory;
    if (!weir || bytes < weir_size(config) || !port->entropy)
        return NULL;
    memset(weir, 0, sizeof *weir);
    weir->port = port;
    port->entropy(port->context, weir->secret, sizeof weir->secret);
    return weir;
}

void weir_destroy(struct weir *weir)
{
    for (struct conn *c = weir->conns; c < weir->conns + CONNS; c++)
        if (c->socket.state != WEIR_TCP_CLOSED)
            conn_reset(c, WEIR_ABORTED);
    (void)weir_poll(weir, weir->now_us);
    if (weir->netif)
        weir_netif_remove(weir->netif);
}

const struct weir_port *weir_port(const struct weir *weir) { return weir->port; }
uint64_t weir_now_us(const struct weir *weir) { return weir->now_us; }
void weir_random_bytes(struct weir *weir, void *out, size_t bytes)
{
    weir->port->entropy(weir->port->context, out, bytes);
}
void weir_random_stir(struct weir *weir, const void *seed, size_t bytes)
{
    (void)weir, (void)seed, (void)bytes;
}  // the port's randomness is all
uint64_t weir_memory_used(const struct weir *weir)
{
    (void)weir;
    return 0;
}
uint32_t weir_counter_get(const struct weir *weir, enum weir_counter counter)
{
    (void)weir, (void)counter;
    return 0;
}

void weir_clock(struct weir *weir, uint64_t now_us)
{
    if (now_us > weir->now_us)
        weir->now_us = now_us;
}

uint64_t weir_poll(struct weir *weir, uint64_t now_us)
{
    weir_clock(weir, now_us);
    weir->output_pending = false;
    outbox_send(weir);
    uint32_t wait_us = nd_turn(weir);
    wait_us = min_u32(wait_us, entries_turn(weir));
    for (struct conn *c = weir->conns; c < weir->conns + CONNS; c++)
        wait_us = min_u32(wait_us, conn_turn(weir, c));
    if (weir->netif && weir->netif->driver->flush)
        weir->netif->driver->flush(weir->netif);
    return wait_us == WAIT_FOREVER ? WEIR_NEVER : weir->now_us + wait_us;
}

// RFC 6528 §3: ISN = M + F(both ends, secret); M counts 4 µs. F is that permutation between two additions of the secret
// (Even, Mansour 1991). A block holds all that names a connection of IPv4, so no mode of operation is needed; of IPv6
// there are always two, chained.
LOCAL uint32_t isn(const struct weir *weir, const struct peer *peer)
{
    uint32_t v[4] = {weir->secret[0], weir->secret[1], weir->secret[2], weir->secret[3]};
    for (uint32_t block = 0; block < PEER_BLOCKS; block++) {
        peer_mix(v, block, weir->netif, peer);
        permute(v);
    }
    return (uint32_t)(weir->now_us >> 2) + (v[0] ^ weir->secret[0]);
}
