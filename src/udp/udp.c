// SPDX-License-Identifier: BSD-2-Clause
// UDP (RFC 768, RFC 1122 §4.1): which socket a datagram is for, and ports.
#include "instance.h"
#include "ip/icmp.h"
#include "udp/dplpmtud.h"

#include "wire/ip4.h"
#include "wire/udp.h"

// RFC 6335 §6: dynamic ports. RFC 6056 §3.3.1: chosen at random.
#define PORT_FIRST 49152u
#define PORT_COUNT (65536u - PORT_FIRST)

static struct datagram *of_node(struct table_node *node) { return container_of(node, struct datagram, node); }

// Sockets of one port share a hash; the port is ours to give, so no stranger can fill a chain.
static struct table_node *first_of(const struct weir *weir, uint16_t port)
{
    return table_alike(table_first(&weir->udp.sockets, port), port);
}

static struct table_node *next_of(const struct table_node *node) { return table_alike(node->next, node->hash); }

// --- ports -----------------------------------------------------------------------------------------------------------

// Two sockets collide where one datagram could be for either and nothing decides. Sockets that both allow it may share
// (multicast).
static bool collides(const struct datagram *a, const struct datagram *b, struct weir_addr address)
{
    if (a->sock.netif_bound && b->sock.netif_bound && a->sock.netif_bound != b->sock.netif_bound)
        return false;
    if (!sock_bounds_meet(&a->sock, address, &b->sock, b->local.addr))
        return false;
    return !(a->sock.flags & b->sock.flags & SOCK_REUSE_ADDRESS);
}

static bool port_free(const struct weir *weir, const struct datagram *d, struct weir_addr address, uint16_t port)
{
    for (struct table_node *node = first_of(weir, port); node; node = next_of(node))
        if (collides(d, of_node(node), address))
            return false;
    return true;
}

// A random port nobody has. Bounded: tries as many as there are, from a random one on in random steps at first.
static uint16_t port_random(struct weir *weir)
{
    for (uint32_t tries = 0; tries < 64; tries++) {
        const uint16_t port = (uint16_t)(PORT_FIRST + random_below(&weir->random, PORT_COUNT));
        if (!first_of(weir, port))
            return port;
    }
    const uint32_t start = random_below(&weir->random, PORT_COUNT);
    for (uint32_t i = 0; i < PORT_COUNT; i++) {
        const uint16_t port = (uint16_t)(PORT_FIRST + (start + i) % PORT_COUNT);
        if (!first_of(weir, port))
            return port;
    }
    return 0;
}

int udp_port_take(struct weir *weir, struct datagram *d, struct weir_addr address, uint16_t wanted)
{
    const uint16_t port = wanted ? wanted : port_random(weir);
    if (!port || (wanted && !port_free(weir, d, address, port)))
        return WEIR_IN_USE;
    d->local.port = port;
    table_insert(&weir->udp.sockets, &weir->memory, &d->node, port);
    return WEIR_OK;
}

// --- input -----------------------------------------------------------------------------------------------------------

static uint32_t match(const struct datagram *d, const struct packet *packet, const struct udp_header *header)
{
    if (datagram_connected(d) && d->peer.port != header->source)
        return 0;
    return datagram_match(d, packet);
}

// A broadcast or multicast is for every socket that wants it: summed once, then copied to each.
static void deliver_to_all(struct weir *weir, const struct packet *packet, const struct udp_header *header)
{
    bool taken = false;
    for (struct table_node *node = first_of(weir, header->destination), *next; node; node = next) {
        next = next_of(node);
        struct datagram *d = of_node(node);
        if (!match(d, packet, header))
            continue;
        datagram_receive(weir, d, packet, UDP_BYTES, header->length - UDP_BYTES, header->source, NULL);
        taken = true;
    }
    count(weir, taken ? WEIR_COUNT_UDP_RECEIVED : WEIR_COUNT_UDP_NO_SOCKET);
}

// The socket that names the datagram's ends most precisely: connected before bound to an address before bound to an
// interface.
static struct datagram *best_of(const struct weir *weir, const struct packet *packet, const struct udp_header *header)
{
    struct datagram *best = NULL;
    uint32_t best_score = 0;
    for (struct table_node *node = first_of(weir, header->destination); node; node = next_of(node)) {
        const uint32_t score = match(of_node(node), packet, header);
        if (score > best_score) {
            best_score = score;
            best = of_node(node);
        }
    }
    return best;
}

static bool whole_sum_right(const struct weir *weir, const struct packet *packet, uint16_t pseudo)
{
    return checksum_add(pseudo, packet_sum(weir->port, packet, 0, packet->length)) == 0xffff;
}

void udp_input(struct weir *weir, struct packet *packet)
{
    struct udp_header header;
    if (packet_head_room(packet) < UDP_BYTES || !udp_parse(packet->head, packet->length, &header)) {
        count(weir, WEIR_COUNT_UDP_BAD_LENGTH);
        return;
    }
    packet->length = header.length;
    // Over IPv6 there is none without (RFC 8200 §8.1), whatever the sum of the rest.
    if (!header.checksum_present && !weir_addr_is_v4(packet->source) && !(packet->flags & PACKET_CHECKSUM_OK)) {
        count(weir, WEIR_COUNT_UDP_BAD_CHECKSUM);
        return;
    }
    const bool verify = header.checksum_present && !(packet->flags & PACKET_CHECKSUM_OK);
    const uint16_t pseudo = ip_pseudo_sum(packet->source, packet->destination, IP_UDP, header.length);
    const bool everybody = packet->flags & (PACKET_IP_BROADCAST | PACKET_IP_MULTICAST);
    struct datagram *d = everybody ? NULL : best_of(weir, packet, &header);
    bool right = true;
    if (d) {
        const uint16_t sum = checksum_add(pseudo, checksum_sum_portable(packet->head, UDP_BYTES));
        right = datagram_receive(weir, d, packet, UDP_BYTES, header.length - UDP_BYTES, header.source,
                                 verify ? &sum : NULL);
    } else if (verify) {
        right = whole_sum_right(weir, packet, pseudo);
    }
    if (!right) {
        count(weir, WEIR_COUNT_UDP_BAD_CHECKSUM);
    } else if (d) {
        count(weir, WEIR_COUNT_UDP_RECEIVED);
    } else if (everybody) {
        deliver_to_all(weir, packet, &header);
    } else {
        count(weir, WEIR_COUNT_UDP_NO_SOCKET);
        ip_error_send(weir, packet, ICMP_ERROR_PORT);
    }
}

// RFC 1122 §4.1.3.3, with RFC 5927's caution: an error is believed only about a flow that exists, both ends quoted
// right, and only a connected socket has one. Only then may it lower the path MTU.
void udp_error(struct weir *weir, const struct ip_error *error)
{
    const uint16_t local = get16(error->transport), remote = get16(error->transport + 2);
    for (struct table_node *node = first_of(weir, local); node; node = next_of(node)) {
        struct datagram *d = of_node(node);
        if (!datagram_connected(d) || d->peer.port != remote || !weir_addr_equal(d->peer.addr, error->remote) ||
            !weir_addr_equal(d->local.addr, error->local))
            continue;
        if (error->error == WEIR_TOO_BIG && datagram_search_too_big(weir, d, error))
            return;
        if (error->error == WEIR_TOO_BIG)
            pmtu_set(weir, error->remote, error->mtu);
        if (error->error != WEIR_TOO_BIG || d->options & DATAGRAM_DONT_FRAGMENT)
            datagram_fail(weir, d, error->error);
        return;
    }
    count(weir, WEIR_COUNT_ICMP_IGNORED);
}
