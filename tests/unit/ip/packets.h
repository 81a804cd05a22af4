// SPDX-License-Identifier: BSD-2-Clause
// Packets made by hand for the tests of src/ip and src/udp, over raw IP: no link header, no ARP.
#ifndef TESTS_IP_PACKETS_H
#define TESTS_IP_PACKETS_H

#include "fixture.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/checksum.h"
#include "weir/socket.h"
#include "wire/icmp4.h"
#include "wire/ip4.h"
#include "wire/udp.h"

#define OURS weir_ip4(10, 0, 0, 1)
#define PEER weir_ip4(10, 0, 0, 2)
#define OTHER weir_ip4(10, 0, 0, 3)
#define FAR weir_ip4(192, 0, 2, 7)
#define ROUTER weir_ip4(10, 0, 0, 254)

struct made {
    uint32_t length;
    uint8_t bytes[65536 + 64];
};

// What may differ from a plain packet from PEER to us.
struct make {
    struct weir_addr source, destination;
    uint8_t protocol, ttl, tos, flags;
    uint16_t id, offset;
    const uint8_t *options;
    uint32_t options_length;  // a multiple of 4
    const void *payload;
    uint32_t length;
};

static inline void header_sum(uint8_t *bytes)
{
    put16(bytes + 10, 0);
    checksum_put(bytes + 10, checksum_sum_portable(bytes, (bytes[0] & 15u) * 4));
}

static inline void make_packet(struct made *out, const struct make *make)
{
    const struct ip4 ip = {
        .source = weir_addr_to_v4(make->source) ? weir_addr_to_v4(make->source) : weir_addr_to_v4(PEER),
        .destination = weir_addr_to_v4(make->destination) ? weir_addr_to_v4(make->destination) : weir_addr_to_v4(OURS),
        .total_length = (uint16_t)(IP4_BYTES + make->options_length + make->length),
        .ttl = make->ttl ? make->ttl : 64,
        .tos = make->tos,
        .protocol = make->protocol,
        .flags = make->flags,
        .id = make->id,
        .fragment_offset = make->offset};
    ip4_emit(out->bytes, &ip);
    out->bytes[0] = (uint8_t)(0x45 + make->options_length / 4);
    if (make->options_length)
        memcpy(out->bytes + IP4_BYTES, make->options, make->options_length);
    header_sum(out->bytes);
    if (make->length)
        memcpy(out->bytes + IP4_BYTES + make->options_length, make->payload, make->length);
    out->length = IP4_BYTES + make->options_length + make->length;
}

static inline void input(struct fixture *f, const struct make *make)
{
    struct made *packet = malloc(sizeof *packet);
    make_packet(packet, make);
    fixture_input(f, packet->bytes, packet->length);
    free(packet);
}

// A UDP datagram of `length` bytes of payload, checksum right; returns header and payload's length.
static inline uint32_t make_udp(uint8_t *out, struct weir_addr source, struct weir_addr destination, uint16_t from,
                                uint16_t to, const void *payload, uint32_t length)
{
    const struct udp_header header = {.source = from, .destination = to, .length = (uint16_t)(UDP_BYTES + length)};
    udp_emit(out, &header);
    if (length)
        memcpy(out + UDP_BYTES, payload, length);
    uint16_t sum =
        checksum_add(ip4_pseudo_sum(weir_addr_to_v4(source), weir_addr_to_v4(destination), IP_UDP, UDP_BYTES + length),
                     checksum_sum_portable(out, UDP_BYTES + length));
    checksum_put(out + 6, sum);
    if (get16(out + 6) == 0)
        put16(out + 6, 0xffff);
    return UDP_BYTES + length;
}

static inline void input_udp(struct fixture *f, struct weir_addr source, struct weir_addr destination, uint16_t from,
                             uint16_t to, const void *payload, uint32_t length)
{
    uint8_t *bytes = malloc(UDP_BYTES + length);
    make_udp(bytes, source, destination, from, to, payload, length);
    input(f, &(struct make){.source = source,
                            .destination = destination,
                            .protocol = IP_UDP,
                            .payload = bytes,
                            .length = UDP_BYTES + length});
    free(bytes);
}

// An ICMP message: type, code, the second word, and what follows; checksum right.
static inline uint32_t make_icmp(uint8_t *out, uint8_t type, uint8_t code, uint32_t rest, const void *data,
                                 uint32_t length)
{
    const struct icmp4 header = {.type = type, .code = code, .rest = rest};
    icmp4_emit(out, &header);
    if (length)
        memcpy(out + ICMP4_BYTES, data, length);
    checksum_put(out + 2, checksum_sum_portable(out, ICMP4_BYTES + length));
    return ICMP4_BYTES + length;
}

static inline void input_icmp(struct fixture *f, struct weir_addr source, uint8_t type, uint8_t code, uint32_t rest,
                              const void *data, uint32_t length)
{
    uint8_t *bytes = malloc(ICMP4_BYTES + length);
    make_icmp(bytes, type, code, rest, data, length);
    input(f, &(struct make){.source = source, .protocol = IP_ICMP, .payload = bytes, .length = ICMP4_BYTES + length});
    free(bytes);
}

// A packet that was sent: parsed and its checksum verified. Returns its payload.
static inline const uint8_t *sent_packet(const struct fixture *f, uint32_t index, struct ip4 *ip, uint32_t *length)
{
    uint32_t total;
    const uint8_t *bytes = fixture_sent_packet(f, index, &total);
    assert_int_equal(ip4_parse(bytes, total, false, ip), IP4_OK);
    assert_int_equal(ip->total_length, total);
    *length = total - ip->header_length;
    return bytes + ip->header_length;
}

static inline const uint8_t *sent_icmp(const struct fixture *f, uint32_t index, struct ip4 *ip, struct icmp4 *icmp,
                                       uint32_t *length)
{
    const uint8_t *bytes = sent_packet(f, index, ip, length);
    assert_int_equal(ip->protocol, IP_ICMP);
    assert_true(icmp4_parse(bytes, *length, icmp));
    assert_int_equal(checksum_sum_portable(bytes, *length), 0xffff);
    return bytes;
}

static inline void open_raw(struct fixture *f) { fixture_open(f, &weir_link_rawip, OURS, 24, 0); }

static inline weir_socket socket_bound(struct fixture *f, struct weir_addr address, uint16_t port)
{
    const weir_socket s = weir_socket_open(f->weir, WEIR_DATAGRAM, 0);
    const struct weir_endpoint local = {address, port};
    assert_true(s > 0);
    assert_int_equal(weir_socket_bind(f->weir, s, &local), WEIR_OK);
    return s;
}

static inline weir_socket socket_connected(struct fixture *f, uint16_t port, struct weir_addr peer, uint16_t peer_port)
{
    const weir_socket s = socket_bound(f, weir_addr_any(), port);
    const struct weir_endpoint remote = {peer, peer_port};
    assert_int_equal(weir_socket_connect(f->weir, s, &remote), WEIR_OK);
    return s;
}

static inline int send_to(struct fixture *f, weir_socket s, struct weir_addr peer, uint16_t port, const void *data,
                          uint32_t length)
{
    const struct weir_message message = {.peer = {peer, port}};
    const struct weir_slice slice = {data, length};
    return weir_socket_send_message(f->weir, s, &message, &slice, 1);
}

// Takes one datagram: its length (into `out`, at most `room`), or an error.
static inline int take(struct fixture *f, weir_socket s, void *out, uint32_t room, struct weir_message *message)
{
    struct weir_message ignored;
    struct weir_slice slice;
    const int length = weir_socket_peek_message(f->weir, s, message ? message : &ignored, &slice);
    if (length < 0)
        return length;
    assert_int_equal(slice.length, length);
    if (out)
        memcpy(out, slice.data, slice.length < room ? slice.length : room);
    assert_int_equal(weir_socket_discard(f->weir, s), WEIR_OK);
    return length;
}

static inline void fill(uint8_t *bytes, uint32_t length, uint32_t seed)
{
    for (uint32_t i = 0; i < length; i++)
        bytes[i] = (uint8_t)((i + seed) * 2654435761u >> 13);
}

#endif
