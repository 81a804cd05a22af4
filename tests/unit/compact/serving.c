// SPDX-License-Identifier: BSD-2-Clause
// The compact stack under the names small_weir_…, so that it can meet the full one in one process.
#undef WEIR_PROFILE_SMALL
#ifndef WEIR_PROFILE_TINY
#define WEIR_PROFILE_TINY
#endif
#define WEIR_ONE_UNIT
#define PRIVATE(name) serving_##name
#define checksum_sum_portable PRIVATE(checksum_sum_portable)
#define checksum_copy_sum_portable PRIVATE(checksum_copy_sum_portable)
#define checksum_slices PRIVATE(checksum_slices)
#define weir_link_ethernet PRIVATE(weir_link_ethernet)
#define weir_size PRIVATE(weir_size)
#define weir_create PRIVATE(weir_create)
#define weir_destroy PRIVATE(weir_destroy)
#define weir_clock PRIVATE(weir_clock)
#define weir_poll PRIVATE(weir_poll)
#define weir_port PRIVATE(weir_port)
#define weir_now_us PRIVATE(weir_now_us)
#define weir_random_bytes PRIVATE(weir_random_bytes)
#define weir_random_stir PRIVATE(weir_random_stir)
#define weir_memory_used PRIVATE(weir_memory_used)
#define weir_counter_get PRIVATE(weir_counter_get)
#define weir_netif_init PRIVATE(weir_netif_init)
#define weir_netif_add PRIVATE(weir_netif_add)
#define weir_netif_remove PRIVATE(weir_netif_remove)
#define weir_netif_set_up PRIVATE(weir_netif_set_up)
#define weir_netif_set_address PRIVATE(weir_netif_set_address)
#define weir_netif_ip6 PRIVATE(weir_netif_ip6)
#define weir_netif_find PRIVATE(weir_netif_find)
#define weir_netif_at PRIVATE(weir_netif_at)
#define weir_route_add PRIVATE(weir_route_add)
#define weir_route_remove PRIVATE(weir_route_remove)
#define weir_input PRIVATE(weir_input)
#define weir_tx_ready PRIVATE(weir_tx_ready)
#define weir_tx_complete PRIVATE(weir_tx_complete)
#define weir_link_change PRIVATE(weir_link_change)
#define weir_socket_open PRIVATE(weir_socket_open)
#define weir_socket_bind PRIVATE(weir_socket_bind)
#define weir_socket_connect PRIVATE(weir_socket_connect)
#define weir_socket_listen PRIVATE(weir_socket_listen)
#define weir_socket_accept PRIVATE(weir_socket_accept)
#define weir_socket_shutdown PRIVATE(weir_socket_shutdown)
#define weir_socket_close PRIVATE(weir_socket_close)
#define weir_socket_abort PRIVATE(weir_socket_abort)
#define weir_socket_local PRIVATE(weir_socket_local)
#define weir_socket_peer PRIVATE(weir_socket_peer)
#define weir_socket_reserve PRIVATE(weir_socket_reserve)
#define weir_socket_commit PRIVATE(weir_socket_commit)
#define weir_socket_peek PRIVATE(weir_socket_peek)
#define weir_socket_consume PRIVATE(weir_socket_consume)
#define weir_socket_acknowledge serving_socket_acknowledge
#define weir_socket_write PRIVATE(weir_socket_write)
#define weir_socket_read PRIVATE(weir_socket_read)
#define weir_socket_ready PRIVATE(weir_socket_ready)
#define weir_ready_next PRIVATE(weir_ready_next)
#define weir_dispatch PRIVATE(weir_dispatch)
#define weir_output_pending PRIVATE(weir_output_pending)
#define weir_socket_set_user PRIVATE(weir_socket_set_user)
#define weir_socket_user PRIVATE(weir_socket_user)

#include "base/checksum.c"
#include "compact/conn.c"
#include "compact/entry.c"
#include "compact/frame.c"
#include "compact/input.c"
#include "compact/instance.c"
#if WEIR_CFG_IP4
#include "compact/ip4.c"
#else
#include "compact/ip6.c"
#include "compact/nd.c"
#endif
#if WEIR_CFG_COMPACT_ADDRESS
#include "compact/address.c"
#endif
#if WEIR_CFG_COMPACT_MLD1
#include "compact/mld1.c"
#endif
#include "compact/netif.c"
#include "compact/output.c"
#include "compact/socket.c"

#include <stdlib.h>

#include "tests/unit/compact/serving.h"

struct serving {
    struct weir *weir;
    struct weir_netif netif;
    struct weir_port port;
    enum serving_mode mode;
    bool (*tx)(void *context, const uint8_t *frame, uint32_t length);
    void *context;
    weir_socket listener, connection;
    uint32_t sent, taken, done;
    uint64_t random;
    bool reads;
};

static void entropy(void *context, void *out, size_t bytes)
{
    struct serving *s = context;
    for (uint8_t *to = out; bytes--; to++)
        *to = (uint8_t)((s->random = s->random * 6364136223846793005u + 1442695040888963407u) >> 33);
}

static enum weir_tx_verdict driver_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct serving *s = netif->driver_data;
    uint8_t *frame = malloc(tx->length);
    uint32_t at = 0;
    for (uint16_t i = 0; i < tx->count; at += tx->slices[i++].length)
        memcpy(frame + at, tx->slices[i].data, tx->slices[i].length);
    const bool taken = at == tx->length && s->tx(s->context, frame, at);
    free(frame);
    return taken ? WEIR_TX_DONE : WEIR_TX_FULL;
}

static const struct weir_driver driver = {.name = "serving", .tx = driver_tx};

#if WEIR_CFG_IP4
static int take_address(struct weir_netif *netif, uint32_t address)
{
    return weir_netif_set_address(netif, weir_addr_v4(address), 24, WEIR_ADDRESS_AT_ONCE);
}
#else
static int take_address(struct weir_netif *netif, uint32_t address)
{
    static const uint8_t secret[16] = "not very secret";
    return (void)address, weir_netif_ip6(netif, WEIR_IP6_AUTO | WEIR_IP6_PROMPT, secret);
}
#endif

struct serving *serving_open(const uint8_t mac[6], uint32_t address, enum serving_mode mode,
                             bool (*tx)(void *context, const uint8_t *frame, uint32_t length), void *context,
                             uint64_t now_us)
{
    struct serving *s = calloc(1, sizeof *s);
    void *memory = malloc(weir_size(NULL));
    memset(memory, 0xa5, weir_size(NULL));
    s->mode = mode;
    s->tx = tx;
    s->context = context;
    s->reads = mode != SERVING_SLOW;
    s->random = now_us;
    s->port = (struct weir_port){.context = s, .entropy = entropy};
    s->weir = weir_create(memory, weir_size(NULL), &s->port, NULL);
    weir_clock(s->weir, now_us);
    weir_netif_init(&s->netif, "t0", &driver, &weir_link_ethernet);
    s->netif.driver_data = s;
    memcpy(s->netif.mac, mac, 6);
    if (weir_netif_add(s->weir, &s->netif) || take_address(&s->netif, address))
        abort();
    s->listener = weir_socket_open(s->weir, WEIR_STREAM, 0);
    if (weir_socket_bind(s->weir, s->listener, &(struct weir_endpoint){weir_addr_any(), SERVING_PORT}) ||
        weir_socket_listen(s->weir, s->listener, 1))
        abort();
    return s;
}

void serving_close(struct serving *s)
{
    weir_destroy(s->weir);
    free(s->weir);
    free(s);
}

void serving_input(struct serving *s, const uint8_t *frame, uint32_t length)
{
    const struct weir_slice slice = {frame, length};
    const struct weir_frame whole = {.slices = &slice, .length = length, .count = 1};
    weir_input(&s->netif, &whole);
}

void serving_link_change(struct serving *s, bool up) { weir_link_change(&s->netif, up); }
void serving_tx_ready(struct serving *s) { weir_tx_ready(&s->netif); }
void serving_read_on(struct serving *s, bool on) { s->reads = on; }
uint32_t serving_done(const struct serving *s) { return s->done; }

bool serving_idle(const struct serving *s)
{
    for (uint32_t i = 0; i < CONNS; i++)
        if (s->weir->conns[i].socket.state || s->weir->conns[i].socket.open)
            return false;
    return true;
}

bool serving_numbers(const struct serving *s, struct serving_numbers *out)
{
    const struct conn *c = s->weir->conns;
    *out = (struct serving_numbers){c->una,  c->nxt,         c->max,     c->expected,
                                    c->edge, c->send_length, SEND_BYTES, c->receive_length};
    return c->socket.state != WEIR_TCP_CLOSED;
}

static void finish(struct serving *s, bool orderly)
{
    weir_socket_close(s->weir, s->connection);
    s->connection = 0;
    s->done += orderly;
}

static void echo(struct serving *s)
{
    struct weir_slice from;
    struct weir_span to;
    int got, room;
    while ((got = weir_socket_peek(s->weir, s->connection, 0, &from, 1)) > 0) {
        room = weir_socket_reserve(s->weir, s->connection, (uint32_t)got, &to, 1);
        if (room <= 0)
            break;
        memcpy(to.data, from.data, (uint32_t)room);
        if (weir_socket_commit(s->weir, s->connection, (uint32_t)room) != room ||
            weir_socket_consume(s->weir, s->connection, (uint32_t)room) != room)
            abort();
    }
    if (got == 0 || (got < 0 && got != WEIR_AGAIN))
        finish(s, got == 0);
}

static void source(struct serving *s)
{
    uint8_t bytes[300];
    uint32_t length;
    int taken;
    do {
        length = min_u32(SERVING_SOURCE_BYTES - s->sent, sizeof bytes);
        for (uint32_t i = 0; i < length; i++)
            bytes[i] = serving_pattern(s->sent + i);
        taken = weir_socket_write(s->weir, s->connection, bytes, length);
        s->sent += taken > 0 ? (uint32_t)taken : 0;
    } while (taken > 0);
    if (taken != WEIR_AGAIN)
        finish(s, taken == 0);
}

static void both(struct serving *s)
{
    uint8_t bytes[300];
    int got;
    while ((got = weir_socket_read(s->weir, s->connection, bytes, sizeof bytes)) > 0)
        for (int i = 0; i < got; i++)
            if (bytes[i] != serving_pattern(s->taken++))
                abort();
    source(s);
}

uint64_t serving_turn(struct serving *s, uint64_t now_us)
{
    uint32_t events;
    weir_poll(s->weir, now_us);
    if (!s->connection) {
        const weir_socket taken = weir_socket_accept(s->weir, s->listener);
        if (taken > 0) {
            s->connection = taken;
            s->sent = s->taken = 0;
        }
    }
    while (weir_ready_next(s->weir, &events))
        ;
    if (s->connection && s->mode == SERVING_SOURCE)
        source(s);
    else if (s->connection && s->mode == SERVING_BOTH)
        both(s);
    else if (s->connection && s->reads)
        echo(s);
    return weir_poll(s->weir, now_us);
}
