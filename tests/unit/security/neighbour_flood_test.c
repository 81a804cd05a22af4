// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// Strangers at the neighbour table: a thousand packets a second from on-link addresses that nobody has. New clients
// still get in, from the same link and through the gateway, and what is asked on the strangers' behalf is bounded.
#include "fixture.h"

#include <string.h>

#include "base/checksum.h"
#include "weir/socket.h"
#include "wire/arp.h"
#include "wire/ethernet.h"
#include "wire/icmp4.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#define SERVER 0x0a000001u   // 10.0.0.1/16
#define GATEWAY 0x0a0000feu  // 10.0.0.254
#define CLIENT 0x0a0000c8u   // 10.0.0.200 and on
#define REMOTE 0xc0000201u   // 192.0.2.1 and on, behind the gateway
#define FORGED 0x0a000100u   // 10.0.1.0 and on, which nobody has
#define FORGED_COUNT 0xfe00u
#define PORT 80
#define SYN_PORT (WEIR_CFG_TCP_SYN_COOKIES ? PORT : PORT + 1)
#define CLIENTS 40u
#define MS 1000u
#define PATIENCE_MS 7000u

static const uint8_t honest_mac[6] = {2, 9, 9, 9, 9, 9}, forger_mac[6] = {2, 6, 6, 6, 6, 6};

enum forgery { PINGS, SYNS, ARP_REQUESTS, FORGERIES };

// One honest client: what answers ARP for it is `asked`, the client itself, or the gateway that it lies behind.
struct client {
    struct fixture *f;
    weir_socket listener, socket;
    uint32_t address, asked;
    uint16_t port;
    uint32_t seq, ack;
    bool connected, got_data;
};

struct flood {
    struct fixture f;
    weir_socket listener;
    enum forgery forgery;
    uint32_t packets_a_ms;
    uint32_t forged;     // so far
    uint32_t questions;  // broadcast for addresses that nobody has
};

static void input_ip4(struct fixture *f, const uint8_t mac[6], uint32_t source, uint8_t protocol,
                      const uint8_t *payload, uint32_t length)
{
    uint8_t frame[ETHERNET_BYTES + IP4_BYTES + 64];
    const struct ethernet link = {.destination = FIXTURE_MAC, .source = mac, .type = ETHERTYPE_IP4};
    const struct ip4 header = {.source = source,
                               .destination = SERVER,
                               .total_length = (uint16_t)(IP4_BYTES + length),
                               .ttl = 64,
                               .protocol = protocol};
    memcpy(frame + ETHERNET_BYTES + IP4_BYTES, payload, length);
    ip4_emit(frame + ETHERNET_BYTES, &header);
    ethernet_emit(frame + ETHERNET_BYTES, &link);
    fixture_input(f, frame, ETHERNET_BYTES + IP4_BYTES + length);
}

static void input_arp(struct fixture *f, const uint8_t mac[6], uint16_t operation, uint32_t sender)
{
    uint8_t frame[ETHERNET_BYTES + ARP_BYTES];
    const struct ethernet link = {.destination = FIXTURE_MAC, .source = mac, .type = ETHERTYPE_ARP};
    struct arp_packet arp = {.operation = operation, .sender = sender, .target = SERVER};
    memcpy(arp.sender_mac, mac, 6);
    memcpy(arp.target_mac, FIXTURE_MAC, 6);
    arp_emit(frame + ETHERNET_BYTES, &arp);
    ethernet_emit(frame + ETHERNET_BYTES, &link);
    fixture_input(f, frame, sizeof frame);
}

static void input_tcp(struct fixture *f, const uint8_t mac[6], uint32_t source, const struct tcp_segment *segment)
{
    uint8_t bytes[TCP_BYTES];
    tcp_emit(bytes, segment);
    checksum_put(bytes + 16, checksum_add(ip4_pseudo_sum(source, SERVER, IP_TCP, TCP_BYTES),
                                          checksum_sum_portable(bytes, TCP_BYTES)));
    input_ip4(f, mac, source, IP_TCP, bytes, TCP_BYTES);
}

static void input_ping(struct fixture *f, const uint8_t mac[6], uint32_t source)
{
    uint8_t bytes[ICMP4_BYTES];
    const struct icmp4 header = {.type = ICMP4_ECHO, .rest = 0x10001};
    icmp4_emit(bytes, &header);
    checksum_put(bytes + 2, checksum_sum_portable(bytes, sizeof bytes));
    input_ip4(f, mac, source, IP_ICMP, bytes, sizeof bytes);
}

static void flood_open(struct flood *flood, enum forgery forgery, uint32_t packets_a_ms)
{
    memset(flood, 0, sizeof *flood);
    flood->forgery = forgery;
    flood->packets_a_ms = packets_a_ms;
    const struct fixture_options options = {
        .address = weir_addr_v4(SERVER), .prefix_length = 16, .mode = FIXTURE_PLAIN};
    struct fixture *f = &flood->f;
    assert_true(fixture_open_with(f, &options));
    flood->listener = weir_socket_open(f->weir, WEIR_STREAM, 0);
    const struct weir_endpoint local = {weir_addr_any(), PORT};
    assert_int_equal(weir_socket_bind(f->weir, flood->listener, &local), WEIR_OK);
    assert_int_equal(weir_socket_listen(f->weir, flood->listener, 8), WEIR_OK);
}

static void flood_forge(struct flood *flood)
{
    for (uint32_t i = 0; i < flood->packets_a_ms; i++) {
        // Each address comes again only after all others: the hardest to bear, since none is ever known.
        const uint32_t source = FORGED + flood->forged++ * 257 % FORGED_COUNT;
        const struct tcp_segment syn = {.source = 1024,
                                        .destination = SYN_PORT,
                                        .seq = source,
                                        .flags = TCP_SYN,
                                        .window = 1000,
                                        .header_length = TCP_BYTES};
        switch (flood->forgery) {
        case PINGS: input_ping(&flood->f, forger_mac, source); break;
        case SYNS: input_tcp(&flood->f, forger_mac, source, &syn); break;
        default: input_arp(&flood->f, forger_mac, ARP_REQUEST, source); break;
        }
    }
}

static void flood_for_a_second(struct flood *flood)
{
    for (uint32_t ms = 0; ms < 1000; ms++) {
        flood_forge(flood);
        fixture_poll(&flood->f, MS);
        fixture_clear(&flood->f);
    }
}

static void client_send(struct client *c, uint8_t flags)
{
    const struct tcp_segment segment = {.source = c->port,
                                        .destination = PORT,
                                        .seq = c->seq,
                                        .ack = flags & TCP_ACK ? c->ack : 0,
                                        .flags = flags,
                                        .window = 8000,
                                        .header_length = TCP_BYTES};
    input_tcp(c->f, honest_mac, c->address, &segment);
}

static void client_segment(struct client *c, const uint8_t *packet, uint32_t length)
{
    const uint8_t flags = packet[IP4_BYTES + 13];
    if (flags & TCP_RST)
        return;
    if (flags & TCP_SYN && !c->connected) {
        c->connected = true;
        c->seq++;
        c->ack = get32(packet + IP4_BYTES + 4) + 1;
        client_send(c, TCP_ACK);
    }
    c->got_data |= length > IP4_BYTES + 4u * (packet[IP4_BYTES + 12] >> 4);
}

// The client's side of the wire: frames to its link address, and ARP requests.
static bool client_look(struct flood *flood, struct client *c)
{
    const uint32_t count = fixture_sent_count(c->f);
    struct arp_packet arp;
    bool asked = false;
    for (uint32_t i = 0; i < count; i++) {
        uint32_t length;
        const uint8_t *frame = fixture_sent(c->f, i, &length);
        if (get16(frame + 12) == ETHERTYPE_ARP && arp_parse(frame + ETHERNET_BYTES, length - ETHERNET_BYTES, &arp)) {
            asked |= arp.operation == ARP_REQUEST && arp.target == c->asked;
            flood->questions +=
                arp.operation == ARP_REQUEST && arp.target >= FORGED && arp.target < FORGED + FORGED_COUNT;
        } else if (memcmp(frame, honest_mac, 6) == 0 && get32(frame + ETHERNET_BYTES + 16) == c->address) {
            client_segment(c, frame + ETHERNET_BYTES, length - ETHERNET_BYTES);
        }
    }
    fixture_clear(c->f);
    if (asked)
        input_arp(c->f, honest_mac, ARP_REPLY, c->asked);
    return count != 0;
}

static void server_serve(struct flood *flood, struct client *c)
{
    if (c->socket)
        return;
    const weir_socket socket = weir_socket_accept(flood->f.weir, flood->listener);
    if (socket <= 0)
        return;
    c->socket = socket;
    assert_int_equal(weir_socket_write(flood->f.weir, socket, "x", 1), 1);
}

// A new client tries to connect, as RFC 6298 lets it: at once, and after 1, 3 and 7 s. Whether it got in and had a
// byte.
static bool client_try(struct flood *flood, uint32_t address, uint32_t asked, uint16_t port)
{
    struct client c = {.f = &flood->f, .address = address, .asked = asked, .port = port, .seq = 77};
    for (uint32_t ms = 0; ms <= PATIENCE_MS && !c.got_data; ms++) {
        flood_forge(flood);
        if (!c.connected && (ms == 0 || ms == 1000 || ms == 3000 || ms == PATIENCE_MS))
            client_send(&c, TCP_SYN);
        fixture_poll(&flood->f, MS);
        while (client_look(flood, &c)) {
            server_serve(flood, &c);
            fixture_poll(&flood->f, 0);
        }
    }
    if (c.socket) {
        client_send(&c, TCP_RST);  // its end: the next one shall find a server with room
        weir_socket_close(flood->f.weir, c.socket);
    }
    return c.got_data;
}

static void new_clients_get_in(void **state)
{
    (void)state;
    for (enum forgery forgery = PINGS; forgery < FORGERIES; forgery++) {
        struct flood flood;
        uint32_t in = 0;
        flood_open(&flood, forgery, 1);
        for (uint32_t i = 0; i < CLIENTS; i++) {
            flood_for_a_second(&flood);
            in += client_try(&flood, CLIENT + i, CLIENT + i, (uint16_t)(20000 + i));
        }
        assert_int_equal(in, CLIENTS);
        fixture_close(&flood.f);
    }
}

// The gateway was met once, and has not been needed for longer than an answer is believed.
static void clients_behind_an_idle_gateway_get_in(void **state)
{
    (void)state;
    for (enum forgery forgery = PINGS; forgery < FORGERIES; forgery++) {
        struct flood flood;
        uint32_t in = 0;
        flood_open(&flood, forgery, 1);
        assert_int_equal(weir_route_add(flood.f.weir, weir_addr_any(), 0, weir_addr_v4(GATEWAY), &flood.f.netif, 0),
                         WEIR_OK);
        flood.packets_a_ms = 0;
        assert_true(client_try(&flood, REMOTE, GATEWAY, 10000));
        fixture_poll(&flood.f, 40 * 1000 * MS);
        fixture_clear(&flood.f);
        flood.packets_a_ms = 1;
        for (uint32_t i = 0; i < CLIENTS; i++) {
            flood_for_a_second(&flood);
            in += client_try(&flood, REMOTE + 1 + i, GATEWAY, (uint16_t)(20000 + i));
        }
        assert_int_equal(in, CLIENTS);
        fixture_close(&flood.f);
    }
}

// For whom nobody needs, at most so many new neighbours are asked for in a second, three times each.
static void questions_for_strangers_are_bounded(void **state)
{
    (void)state;
    struct flood flood;
    struct client nobody = {.address = CLIENT, .asked = CLIENT};
    flood_open(&flood, PINGS, 4);
    nobody.f = &flood.f;
    for (uint32_t i = 0; i < 10000; i++) {
        flood_forge(&flood);
        fixture_poll(&flood.f, MS);
        (void)client_look(&flood, &nobody);
    }
    assert_in_range(flood.questions, WEIR_CFG_NEIGHBOUR_STRANGER_RATE, 3 * 11 * WEIR_CFG_NEIGHBOUR_STRANGER_RATE);
    assert_in_range(flood.f.weir->arp.strangers, 1, WEIR_CFG_NEIGHBOUR_STRANGERS);
    // Each got its answer all the same, but for those that waited for an answer of their own in vain.
    assert_in_range(fixture_count(&flood.f, WEIR_COUNT_ARP_ANSWERED), 40000 - 11 * WEIR_CFG_NEIGHBOUR_STRANGER_RATE,
                    40000);
    fixture_close(&flood.f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(new_clients_get_in),
        cmocka_unit_test(clients_behind_an_idle_gateway_get_in),
        cmocka_unit_test(questions_for_strangers_are_bounded),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
