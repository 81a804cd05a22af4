// SPDX-License-Identifier: BSD-2-Clause
// IPv6 packets made by hand for the tests, over raw IP or Ethernet.
#ifndef TESTS_IP_PACKETS6_H
#define TESTS_IP_PACKETS6_H

#include "fixture.h"

#if WEIR_CFG_IP6
#include <stdlib.h>
#include <string.h>

#include "wire/icmp6.h"
#include "weir/socket.h"
#include "wire/nd.h"

static inline struct weir_addr ip6_of(uint32_t a, uint32_t b, uint32_t c, uint32_t d)
{
    const struct weir_addr addr = {
        {weir_addr_word_of(a), weir_addr_word_of(b), weir_addr_word_of(c), weir_addr_word_of(d)}};
    return addr;
}

#define OURS6 ip6_of(0x20010db8u, 0, 0, 1)
#define PEER6 ip6_of(0x20010db8u, 0, 0, 2)
#define OTHER6 ip6_of(0x20010db8u, 0, 0, 3)
#define FAR6 ip6_of(0x20010db8u, 0x99990000u, 0, 7)
#define ALL_NODES6 ip6_of(0xff020000u, 0, 0, 1)
#define LINK_LOCAL6 ip6_of(0xfe800000u, 0, 0x005745ffu, 0xfe495201u)  // of FIXTURE_MAC, without its zone
#define PEER_LINK6 ip6_of(0xfe800000u, 0, 0, 2)

static inline struct weir_addr solicited_node_of(struct weir_addr a)
{
    return ip6_of(0xff020000u, 0, 1, 0xff000000u | (weir_addr_word(a, 3) & 0xffffffu));
}

// What may differ from a plain packet from PEER6 to OURS6.
struct make6 {
    struct weir_addr source, destination;  // any: PEER6, OURS6
    bool from_any;                         // the source is ::
    uint8_t next_header;                   // of the IPv6 header
    uint8_t hop_limit;                     // 64
    const uint8_t *chain;                  // extension headers
    uint32_t chain_length;
    const void *payload;
    uint32_t length;
    const uint8_t *mac;  // the sender's link address; FIXTURE_PEER_MAC
    bool group_frame;    // in a frame to a group, whatever the destination is
};

static inline void make6_ends(const struct make6 *make, uint8_t source[16], uint8_t destination[16])
{
    weir_addr_to_v6(make->from_any ? weir_addr_any() : weir_addr_is_any(make->source) ? PEER6 : make->source, source);
    weir_addr_to_v6(weir_addr_is_any(make->destination) ? OURS6 : make->destination, destination);
}

static inline void input6(struct fixture *f, const struct make6 *make)
{
    uint8_t source[16], destination[16];
    const uint32_t payload = make->chain_length + make->length, link = f->netif.link->header_bytes ? 14 : 0;
    uint8_t *const bytes = malloc(link + IP6_BYTES + payload), *const packet = bytes + link;
    make6_ends(make, source, destination);
    const struct ip6 header = {.source = source,
                               .destination = destination,
                               .payload_length = (uint16_t)payload,
                               .next_header = make->next_header,
                               .hop_limit = make->hop_limit ? make->hop_limit : 64};
    if (link) {
        if (make->group_frame || destination[0] == 0xff) {
            memcpy(bytes, "\x33\x33", 2);
            memcpy(bytes + 2, destination + 12, 4);
        } else {
            memcpy(bytes, FIXTURE_MAC, 6);
        }
        memcpy(bytes + 6, make->mac ? make->mac : FIXTURE_PEER_MAC, 6);
        memcpy(bytes + 12, "\x86\xdd", 2);
    }
    ip6_emit(packet, &header);
    if (make->chain_length)
        memcpy(packet + IP6_BYTES, make->chain, make->chain_length);
    if (make->length)
        memcpy(packet + IP6_BYTES + make->chain_length, make->payload, make->length);
    fixture_input(f, bytes, link + IP6_BYTES + payload);
    free(bytes);
}

// `make` says how it goes; the message is given, and gets its checksum.
static inline void input_icmp6(struct fixture *f, const struct make6 *make, const void *message, uint32_t length)
{
    struct make6 made = *make;
    uint8_t source[16], destination[16];
    uint8_t *const bytes = malloc(length);
    memcpy(bytes, message, length);
    make6_ends(make, source, destination);
    icmp6_checksum_put(bytes, length, source, destination);
    if (!make->chain_length)
        made.next_header = IP6_ICMP;
    made.payload = bytes;
    made.length = length;
    input6(f, &made);
    free(bytes);
}

// A packet that was sent, without its IPv6 header.
static inline const uint8_t *sent6(const struct fixture *f, uint32_t index, struct ip6 *ip, uint32_t *length)
{
    uint32_t total;
    const uint8_t *const bytes = fixture_sent_packet(f, index, &total);
    assert_int_equal(ip6_parse(bytes, total, ip), IP6_OK);
    assert_int_equal(ip->payload_length + IP6_BYTES, total);
    *length = total - IP6_BYTES;
    return bytes + IP6_BYTES;
}

// The same of an ICMPv6 message, whose checksum is verified.
static inline const uint8_t *sent_icmp6(const struct fixture *f, uint32_t index, struct ip6 *ip, uint32_t *length)
{
    const uint8_t *const bytes = sent6(f, index, ip, length);
    assert_int_equal(ip->next_header, IP6_ICMP);
    assert_true(*length >= 4);
    assert_int_equal(icmp6_sum(bytes, *length, ip->source, ip->destination), 0xffff);
    return bytes;
}

static inline struct weir_addr addr_of(const uint8_t bytes[16]) { return weir_addr_v6(bytes); }
#define assert_addr(bytes, addr) assert_true(weir_addr_equal(weir_addr_v6(bytes), weir_addr_with_zone(addr, 0)))

// Waits until errors may be sent again, and forgets what was sent.
static inline void settle6(struct fixture *f)
{
    fixture_poll(f, 10000000);
    fixture_clear(f);
}

// The one error that was sent last: its type, code and second word.
static inline void expect_error6(struct fixture *f, uint8_t type, uint8_t code, uint32_t word)
{
    struct ip6 ip;
    uint32_t length;
    fixture_poll(f, 10000);
    assert_int_equal(fixture_sent_count(f), 1);
    const uint8_t *const bytes = sent_icmp6(f, 0, &ip, &length);
    assert_int_equal(bytes[0], type);
    assert_int_equal(bytes[1], code);
    assert_int_equal(get32(bytes + 4), word);
    assert_addr(ip.source, OURS6);
    assert_true(length + IP6_BYTES <= IP6_MTU_MIN);
    settle6(f);
}

// The index of the first ICMPv6 message of a type that was sent, whatever is before it; -1: there is none.
static inline int find_icmp6(const struct fixture *f, uint8_t type)
{
    for (uint32_t i = 0; i < fixture_sent_count(f); i++) {
        uint32_t total;
        const uint8_t *const bytes = fixture_sent_packet(f, i, &total);
        if (total > IP6_BYTES && bytes[0] >> 4 == 6 && bytes[6] == IP6_ICMP && bytes[IP6_BYTES] == type)
            return (int)i;
    }
    return -1;
}

// OURS6/64 in use, its reports sent and forgotten.
static inline void open6(struct fixture *f, const struct weir_link *link)
{
    fixture_open(f, link, weir_addr_any(), 0, 0);
    assert_int_equal(weir_netif_address_add(&f->netif, OURS6, 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    fixture_poll(f, 5000000);
    fixture_clear(f);
}

#endif

#endif
