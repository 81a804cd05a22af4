// SPDX-License-Identifier: BSD-2-Clause
// Raw sockets (whole IP packets of one protocol) and ICMP echo sockets (the echo identifier is the local port).
#include "instance.h"
#include "ip/icmp.h"

#include "wire/icmp4.h"
#include "wire/icmp6.h"
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

// The flow an error is about, of a connected socket: its addresses, and for echo its identifier (RFC 5927 §4's
// caution).
static bool error_concerns(const struct datagram *d, const struct ip_error *error)
{
    if (!datagram_connected(d) || !weir_addr_equal(d->peer.addr, error->remote) ||
        !weir_addr_equal(d->local.addr, error->local))
        return false;
    const uint8_t echo = weir_addr_is_v4(error->remote) ? ICMP4_ECHO : ICMP6_ECHO;
    return d->type == WEIR_RAW || (error->transport[0] == echo && get16(error->transport + 4) == d->local.port);
}

static void error_to_all_of(struct weir *weir, uint8_t hashed, uint8_t protocol, const struct ip_error *error)
{
    for (struct table_node *node = first_of(weir, hashed); node; node = next_of(node)) {
        struct datagram *d = of_node(node);
        if (!error_concerns(d, error) || (d->type == WEIR_RAW && d->protocol != protocol))
            continue;
        // A raw socket has no ports to prove that the packet was its own: only an echo identifier may lower the path
        // MTU.
        if (error->error == WEIR_TOO_BIG && d->type == WEIR_ICMP)
            pmtu_set(weir, error->remote, error->mtu);
        datagram_fail(weir, d, error->error);
    }
}

// Echo sockets are of both families, and stand with those of ICMP.
void raw_error(struct weir *weir, uint8_t protocol, const struct ip_error *error)
{
    if (!raw_listening(weir))
        return;
    error_to_all_of(weir, protocol, protocol, error);
    if (WEIR_CFG_IP6 && protocol == IP6_ICMP)
        error_to_all_of(weir, IP_ICMP, protocol, error);
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

#if WEIR_CFG_IP6
// The checksum covers the addresses: it is made when the source is known (raw_header6).
static int raw_echo_prepare6(const struct datagram *d, uint8_t *bytes, uint32_t length)
{
    if (length < ICMP6_BYTES || bytes[0] != ICMP6_ECHO || bytes[1] != 0)
        return WEIR_INVALID;
    put16(bytes + 4, d->local.port);
    return WEIR_OK;
}

bool raw_summed6(const struct datagram *d, struct weir_addr destination)
{
    return d->sock.kind == SOCK_RAW && !weir_addr_is_v4(destination) &&
           (d->type == WEIR_ICMP || d->protocol == IP6_ICMP);
}

uint32_t raw_header6(struct weir *weir, const struct ip_out *ip, const uint8_t *bytes, uint32_t length,
                     uint8_t header[ICMP6_BYTES])
{
    const uint32_t header_length = min_u32(length, ICMP6_BYTES);
    memcpy(header, bytes, header_length);
    if (header_length < 4)
        return header_length;
    put16(header + 2, 0);
    uint16_t sum = ip_pseudo_sum(ip->source, ip->destination, IP6_ICMP, length);
    sum = checksum_add(sum, checksum_sum_portable(header, header_length));
    sum = checksum_add(sum, checksum_sum(weir->port, bytes + header_length, length - header_length));
    checksum_put(header + 2, sum);
    return header_length;
}
#else
static inline int raw_echo_prepare6(const struct datagram *d, uint8_t *bytes, uint32_t length)
{
    return (void)d, (void)bytes, (void)length, WEIR_INVALID;
}
#endif

int raw_echo_prepare(struct weir *weir, const struct datagram *d, bool v4, uint8_t *bytes, uint32_t length)
{
    if (!v4)
        return raw_echo_prepare6(d, bytes, length);
    if (length < ICMP4_BYTES || bytes[0] != ICMP4_ECHO || bytes[1] != 0)
        return WEIR_INVALID;
    put16(bytes + 2, 0);
    put16(bytes + 4, d->local.port);
    checksum_put(bytes + 2, checksum_sum(weir->port, bytes, length));
    return WEIR_OK;
}
