// SPDX-License-Identifier: BSD-2-Clause
// Frames for the link's tests: made by hand, and taken apart.
#ifndef TESTS_LINK_FRAMES_H
#define TESTS_LINK_FRAMES_H

#include <string.h>

#include "fixture.h"
#include "link/ethernet.h"

#define OURS 0x0a000001u  // 10.0.0.1, the fixture's address here
#define PEER 0x0a000002u
#define FRAME_ARP (ETHERNET_BYTES + ARP_BYTES)

static const uint8_t frames_all[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};
static const uint8_t frames_none[6] = {0};

static inline void frames_open(struct fixture *f) { fixture_open(f, &weir_link_ethernet, weir_addr_v4(OURS), 24, 0); }

static inline void frames_arp(struct fixture *f, const uint8_t destination[6], uint16_t operation, const uint8_t mac[6],
                              uint32_t sender, uint32_t target)
{
    uint8_t bytes[FRAME_ARP];
    struct arp_packet arp = {.operation = operation, .sender = sender, .target = target};
    memcpy(arp.sender_mac, mac, 6);
    arp_emit(bytes + ETHERNET_BYTES, &arp);
    const struct ethernet header = {.destination = destination, .source = mac, .type = ETHERTYPE_ARP};
    ethernet_emit(bytes + ETHERNET_BYTES, &header);
    fixture_input(f, bytes, sizeof bytes);
}

// The index-th sent frame is an ARP packet; takes it apart.
static inline struct arp_packet frames_sent_arp(const struct fixture *f, uint32_t index, uint8_t destination[6])
{
    uint32_t length;
    struct ethernet header;
    struct arp_packet arp;
    const uint8_t *frame = fixture_sent(f, index, &length);
    assert_int_equal(ethernet_parse(frame, length, &header), ETHERNET_BYTES);
    assert_int_equal(header.type, ETHERTYPE_ARP);
    assert_memory_equal(header.source, f->netif.mac, 6);
    assert_true(arp_parse(frame + ETHERNET_BYTES, length - ETHERNET_BYTES, &arp));
    memcpy(destination, header.destination, 6);
    return arp;
}

static inline void frames_assert_request(const struct fixture *f, uint32_t index, const uint8_t to[6], uint32_t sender,
                                         uint32_t target)
{
    uint8_t destination[6];
    const struct arp_packet arp = frames_sent_arp(f, index, destination);
    assert_memory_equal(destination, to, 6);
    assert_int_equal(arp.operation, ARP_REQUEST);
    assert_memory_equal(arp.sender_mac, f->netif.mac, 6);
    assert_int_equal(arp.sender, sender);
    assert_int_equal(arp.target, target);
}

// Sends `length` bytes as one packet to `next_hop` through the link, as the network layer would.
static inline enum weir_tx_verdict frames_output(struct fixture *f, struct path *path, uint32_t next_hop,
                                                 const void *bytes, uint32_t length, struct sock *waiter)
{
    struct packet_out out;
    packet_out_init(&out);
    packet_out_payload(&out, bytes, length);
    memcpy(packet_out_header(&out, 20), "network header here.", 20);
    path->netif = &f->netif;
    path->next_hop = weir_addr_v4(next_hop);
    return f->netif.link->output(&f->netif, path, ETHERTYPE_IP4, &out, waiter);
}

// A socket's, with nothing to send, to wait with: a poll may come to it at any time.
static inline struct sock *frames_waiter(struct fixture *f)
{
    const weir_socket socket = weir_socket_open(f->weir, WEIR_DATAGRAM, 0);
    assert_true(socket > 0);
    return handle_sock(f->weir, socket);
}

static inline void frames_assert_queued(struct fixture *f, struct sock *sock)
{
    assert_ptr_equal(sock_output_pop(&f->weir->socks), sock);
    assert_false(sock->flags & (SOCK_WAITS_NEIGHBOUR | SOCK_ON_OUTPUT));
}

#endif
