// SPDX-License-Identifier: BSD-2-Clause
// Raw sockets (whole IP packets of one protocol) and ICMP echo sockets (the echo identifier is the local port).
#include "instance.h"

#include "wire/icmp4.h"
#include "wire/ip4.h"

#define IDENTIFIERS 65535u

static struct datagram *of_node(struct table_node *node) { return container_of(node, struct datagram, node); }

static struct table_node *first_of(const struct weir *weir, uint8_t protocol)
{
    return table_alike(table_first(&weir->udp.raws, protocol), protocol);
}

static struct table_node *next_of(const struct table_node *node) { return table_alike(node->next, node->hash); }

static bool filtered(const struct datagram *d, const struct packet *packet)
{
    if (d->protocol != IP_ICMP || !d->icmp_filter || packet_head_room(packet) < 1)
        return false;
    return packet->head[0] < 32 && d->icmp_filter >> packet->head[0] & 1;
}

bool raw_listening(const struct weir *weir) { return weir->udp.raws.count != 0; }

bool raw_input(struct weir *weir, struct packet *packet)
{
    bool taken = false;
    if (!raw_listening(weir))
        return false;
    for (struct table_node *node = first_of(weir, packet->protocol); node; node = next_of(node)) {
        struct datagram *d = of_node(node);
        if (d->type != WEIR_RAW || !datagram_match(d, packet) || filtered(d, packet))
            continue;
        datagram_receive_whole(weir, d, packet);
        taken = true;
    }
    return taken;
}

static struct datagram *echo_socket(const struct weir *weir, uint16_t id)
{
    for (struct table_node *node = first_of(weir, IP_ICMP); node; node = next_of(node))
        if (of_node(node)->type == WEIR_ICMP && of_node(node)->local.port == id)
            return of_node(node);
    return NULL;
}

bool raw_echo_input(struct weir *weir, struct packet *packet)
{
    struct datagram *d = echo_socket(weir, get16(packet->head + 4));
    if (!d || !datagram_match(d, packet)) {
        count(weir, WEIR_COUNT_ICMP_IGNORED);
        return false;
    }
    return datagram_receive(weir, d, packet, 0, packet->length, 0, NULL);
}

// The flow an error is about, of a connected socket: its addresses, and for echo its identifier (RFC 5927 §4's caution).
static bool error_concerns(const struct datagram *d, const struct ip_error *error)
{
    if (!datagram_connected(d) || !weir_addr_equal(d->peer.addr, error->remote) || !weir_addr_equal(d->local.addr, error->local))
        return false;
    return d->type == WEIR_RAW || (error->transport[0] == ICMP4_ECHO && get16(error->transport + 4) == d->local.port);
}

void raw_error(struct weir *weir, uint8_t protocol, const struct ip_error *error)
{
    for (struct table_node *node = weir->udp.raws.count ? first_of(weir, protocol) : NULL; node; node = next_of(node)) {
        struct datagram *d = of_node(node);
        if (!error_concerns(d, error))
            continue;
        // A raw socket has no ports to prove that the packet was its own: only an echo identifier may lower the path MTU.
        if (error->error == WEIR_TOO_BIG && d->type == WEIR_ICMP)
            pmtu_set(weir, error->remote, error->mtu);
        datagram_fail(weir, d, error->error);
    }
}

int raw_port_take(struct weir *weir, struct datagram *d, uint16_t wanted)
{
    uint16_t id = wanted;
    if (!wanted) {
        const uint32_t start = random_below(&weir->random, IDENTIFIERS);
        for (uint32_t i = 0; i < IDENTIFIERS && (!id || echo_socket(weir, id)); i++)
            id = (uint16_t)(1 + (start + i) % IDENTIFIERS);
    }
    if (echo_socket(weir, id))
        return WEIR_IN_USE;
    d->local.port = id;
    return WEIR_OK;
}

int raw_echo_prepare(struct weir *weir, const struct datagram *d, uint8_t *bytes, uint32_t length)
{
    if (length < ICMP4_BYTES || bytes[0] != ICMP4_ECHO || bytes[1] != 0)
        return WEIR_INVALID;
    put16(bytes + 2, 0);
    put16(bytes + 4, d->local.port);
    checksum_put(bytes + 2, checksum_sum(weir->port, bytes, length));
    return WEIR_OK;
}
