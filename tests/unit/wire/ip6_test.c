// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny6 small6
// needs IPv6
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "wire/ip6.h"

static uint32_t random_state = 12345;
static uint32_t next_random(void) { return (random_state = random_state * 1664525u + 1013904223u) >> 8; }

// --- the header ----------------------------------------------------------------------------------------------------

static const uint8_t source[16] = {0x20, 1, 0x0d, 0xb8, 0, 1, 0, 0, 0, 0, 0, 0, 0, 0, 0, 5};
static const uint8_t destination[16] = {0x20, 1, 0x0d, 0xb8, 0, 2, 0, 0, 0xfe, 0xdc, 0xba, 0x98, 7, 6, 5, 4};

static void known_header(void **state)
{
    (void)state;
    const uint8_t expected[8] = {0x6a, 0xbf, 0xed, 0xcb, 0x12, 0x34, 58, 64};
    const struct ip6 header = {.source = source,
                               .destination = destination,
                               .traffic_class = 0xab,
                               .flow_label = 0xfedcb,
                               .payload_length = 0x1234,
                               .next_header = IP6_ICMP,
                               .hop_limit = 64};
    uint8_t bytes[IP6_BYTES];
    ip6_emit(bytes, &header);
    assert_memory_equal(bytes, expected, 8);
    assert_memory_equal(bytes + 8, source, 16);
    assert_memory_equal(bytes + 24, destination, 16);
}

static void emitted_is_parsed(void **state)
{
    (void)state;
    for (int i = 0; i < 2000; i++) {
        uint8_t ends[32];
        for (uint32_t k = 0; k < sizeof ends; k++)
            ends[k] = (uint8_t)next_random();
        const struct ip6 header = {.source = ends,
                                   .destination = ends + 16,
                                   .traffic_class = (uint8_t)next_random(),
                                   .flow_label = next_random() & 0xfffff,
                                   .payload_length = (uint16_t)(1 + next_random() % 65535),
                                   .next_header = (uint8_t)next_random(),
                                   .hop_limit = (uint8_t)next_random()};
        uint8_t bytes[IP6_BYTES];
        struct ip6 out;
        ip6_emit(bytes, &header);
        assert_int_equal(ip6_parse(bytes, IP6_BYTES + header.payload_length, &out), IP6_OK);
        assert_memory_equal(out.source, ends, 16);
        assert_memory_equal(out.destination, ends + 16, 16);
        assert_int_equal(out.traffic_class, header.traffic_class);
        assert_int_equal(out.flow_label, header.flow_label);
        assert_int_equal(out.payload_length, header.payload_length);
        assert_int_equal(out.next_header, header.next_header);
        assert_int_equal(out.hop_limit, header.hop_limit);
    }
}

// A label of more than 20 bits stays out of the traffic class.
static void the_label_has_20_bits(void **state)
{
    (void)state;
    const struct ip6 header = {.source = source, .destination = destination, .flow_label = 0xfff00001};
    uint8_t bytes[IP6_BYTES];
    ip6_emit(bytes, &header);
    assert_int_equal(get32(bytes), 0x60000001);
}

static void versions(void **state)
{
    (void)state;
    const struct ip6 header = {.source = source, .destination = destination, .payload_length = 8};
    uint8_t bytes[IP6_BYTES + 8] = {0};
    struct ip6 out;
    ip6_emit(bytes, &header);
    for (uint32_t version = 0; version < 16; version++) {
        bytes[0] = (uint8_t)(version << 4);
        assert_int_equal(ip6_parse(bytes, sizeof bytes, &out), version == 6 ? IP6_OK : IP6_BAD_HEADER);
    }
}

// CVE-2020-17441: a payload length beyond the frame. A shorter one leaves padding behind it; 0 is refused by itself.
static void lengths(void **state)
{
    (void)state;
    for (uint32_t at_hand = 0; at_hand <= 64; at_hand++) {
        uint8_t *bytes = calloc(1, at_hand ? at_hand : 1);
        for (uint32_t payload = 0; payload <= 70; payload++) {
            struct ip6 out;
            if (at_hand)
                bytes[0] = 0x60;
            if (at_hand >= 6)
                put16(bytes + 4, payload);
            const enum ip6_verdict expected = at_hand < IP6_BYTES             ? IP6_BAD_HEADER
                                              : !payload                      ? IP6_JUMBO
                                              : payload > at_hand - IP6_BYTES ? IP6_BAD_LENGTH
                                                                              : IP6_OK;
            assert_int_equal(ip6_parse(bytes, at_hand, &out), expected);
        }
        free(bytes);
    }
    uint8_t longest[IP6_BYTES] = {0x60, 0, 0, 0, 0xff, 0xff};
    struct ip6 out;
    assert_int_equal(ip6_parse(longest, IP6_BYTES + 65535, &out), IP6_OK);
    assert_int_equal(ip6_parse(longest, IP6_BYTES + 65534, &out), IP6_BAD_LENGTH);
}

// RFC 8200 §8.1: 40 bytes, summed word by word to compare with; an odd length and one of more than 16 bits among
// them.
static void pseudo_header(void **state)
{
    (void)state;
    for (int i = 0; i < 1000; i++) {
        uint8_t bytes[40] = {0};
        for (uint32_t k = 0; k < 32; k++)
            bytes[k] = (uint8_t)next_random();
        const uint32_t length = next_random() >> (next_random() % 24);
        bytes[39] = (uint8_t)next_random();
        put32(bytes + 32, length);
        uint32_t sum = 0;
        for (uint32_t k = 0; k < 40; k += 2)
            sum += get16(bytes + k);
        while (sum >> 16)
            sum = (sum & 0xffff) + (sum >> 16);
        uint8_t field[2];
        checksum_put(field, ip6_pseudo_sum(bytes, bytes + 16, bytes[39], length));
        assert_int_equal(get16(field), (uint16_t)~sum);
    }
}

// --- the chain -----------------------------------------------------------------------------------------------------

struct chain_bytes {
    uint8_t first;  // next header of the IPv6 header
    uint32_t last;  // where the byte that names what follows stands, IP6_BYTES for that of the IPv6 header
    uint32_t length;
    uint8_t bytes[8192];
};

static void begin(struct chain_bytes *b) { *b = (struct chain_bytes){.first = IP6_NONE, .last = UINT32_MAX}; }

static void name_next(struct chain_bytes *b, uint8_t kind)
{
    if (b->last == UINT32_MAX)
        b->first = kind;
    else
        b->bytes[b->last] = kind;
}

// A header of (units + 1) × 8 bytes with `content` behind its two first bytes and Pad1 in the rest.
static uint32_t add(struct chain_bytes *b, uint8_t kind, uint8_t units, const void *content, uint32_t bytes)
{
    const uint32_t at = b->length;
    name_next(b, kind);
    b->bytes[at] = IP6_NONE;
    b->bytes[at + 1] = units;
    if (bytes)
        memcpy(b->bytes + at + 2, content, bytes);
    b->last = at;
    b->length += (units + 1u) * 8;
    return at;
}

// Walks a copy that ends where the room does, so that the sanitizer sees a byte too many.
static struct ip6_chain walk_room(const struct chain_bytes *b, uint32_t room)
{
    struct ip6_chain chain;
    uint8_t *exact = calloc(1, room ? room : 1);
    memcpy(exact, b->bytes, room);
    ip6_chain_walk(exact, room, b->first, &chain);
    free(exact);
    return chain;
}
static struct ip6_chain walk(const struct chain_bytes *b) { return walk_room(b, b->length); }

static void expect_parameter(const struct ip6_chain *chain, uint32_t code, uint32_t pointer, bool answers_multicast)
{
    assert_int_equal(chain->verdict, IP6_CHAIN_PARAMETER);
    assert_int_equal(chain->code, code);
    assert_int_equal(chain->pointer, pointer);
    assert_int_equal(chain->answers_multicast, answers_multicast);
}

// What is no extension header that is walked ends the chain: TCP, UDP, ICMPv6, and what the host may not know, as
// ESP, AH and 143 to 252.
static void without_headers(void **state)
{
    (void)state;
    for (uint32_t number = 0; number < 256; number++) {
        if (memchr("\0\53\54\73\74", (int)number, 5))
            continue;
        struct chain_bytes b;
        begin(&b);
        name_next(&b, (uint8_t)number);
        const struct ip6_chain chain = walk(&b);
        assert_int_equal(chain.verdict, IP6_CHAIN_OK);
        assert_int_equal(chain.protocol, number);
        assert_int_equal(chain.bytes, 0);
        assert_int_equal(chain.headers, 0);
        assert_int_equal(chain.next_at, 6);
    }
}

// v6LC.1.1.6 and 1.2.2: next header 59 ends a packet silently, behind an extension header too.
static void no_next_header_is_silent(void **state)
{
    (void)state;
    struct chain_bytes b;
    begin(&b);
    assert_int_equal(walk(&b).verdict, IP6_CHAIN_DROP);
    add(&b, IP6_DESTINATION, 0, "\1\4\0\0\0\0", 6);
    const struct ip6_chain chain = walk(&b);
    assert_int_equal(chain.verdict, IP6_CHAIN_DROP);
    assert_int_equal(chain.protocol, IP6_NONE);
}

// Extension headers behind which TCP lies, in the recommended order and in another: both are taken (RFC 8200 §4.1).
static void tcp_behind_headers(void **state)
{
    (void)state;
    static const uint8_t orders[][4] = {{IP6_HOP_BY_HOP, IP6_DESTINATION, IP6_ROUTING, IP6_DESTINATION},
                                        {IP6_HOP_BY_HOP, IP6_ROUTING, IP6_ROUTING, IP6_DESTINATION},
                                        {IP6_DESTINATION, IP6_DESTINATION, IP6_DESTINATION, IP6_ROUTING}};
    for (size_t i = 0; i < sizeof orders / sizeof *orders; i++) {
        struct chain_bytes b;
        begin(&b);
        uint32_t last = 0;
        for (size_t k = 0; k < 4; k++)
            last = add(&b, orders[i][k], (uint8_t)k, orders[i][k] == IP6_ROUTING ? "\0\0\0\0\0\0" : "\1\4\0\0\0\0", 6);
        for (uint32_t at = 0; at < b.length; at += (b.bytes[at + 1] + 1u) * 8)  // options of no padding fill the rest
            for (uint32_t rest = at + 8; rest < at + (b.bytes[at + 1] + 1u) * 8; rest += 8)
                memcpy(b.bytes + rest, "\x1e\6\0\0\0\0\0\0", 8);
        name_next(&b, 6);
        const struct ip6_chain chain = walk(&b);
        assert_int_equal(chain.verdict, IP6_CHAIN_OK);
        assert_int_equal(chain.protocol, 6);
        assert_int_equal(chain.bytes, 8 + 16 + 24 + 32);
        assert_int_equal(chain.headers, 4);
        assert_int_equal(chain.next_at, 40 + last);
    }
}

// v6LC.1.2.1: hop-by-hop options inside the chain are an unknown next header, and the pointer counts from the IPv6
// header (gVisor 4909).
static void hop_by_hop_is_first_only(void **state)
{
    (void)state;
    struct chain_bytes b;
    begin(&b);
    add(&b, IP6_HOP_BY_HOP, 0, "\1\4\0\0\0\0", 6);
    name_next(&b, 58);
    assert_int_equal(walk(&b).verdict, IP6_CHAIN_OK);
    add(&b, IP6_HOP_BY_HOP, 0, "\1\4\0\0\0\0", 6);
    struct ip6_chain chain = walk(&b);
    expect_parameter(&chain, IP6_UNKNOWN_NEXT_HEADER, 40, false);
    begin(&b);
    add(&b, IP6_DESTINATION, 0, "\1\4\0\0\0\0", 6);
    add(&b, IP6_DESTINATION, 0, "\1\4\0\0\0\0", 6);
    add(&b, IP6_HOP_BY_HOP, 0, "\1\4\0\0\0\0", 6);
    chain = walk(&b);
    expect_parameter(&chain, IP6_UNKNOWN_NEXT_HEADER, 48, false);
    chain = walk_room(&b, 16);  // the header itself need not be there
    expect_parameter(&chain, IP6_UNKNOWN_NEXT_HEADER, 48, false);
}

// v6LC.1.2.3: behind a header the byte that names the unknown one is that header's.
static void where_the_last_name_stands(void **state)
{
    (void)state;
    struct chain_bytes b;
    begin(&b);
    add(&b, IP6_DESTINATION, 1, "\x1e\x0c\0\0\0\0\0\0\0\0\0\0\0\0", 14);
    add(&b, IP6_DESTINATION, 0, "\1\4\0\0\0\0", 6);
    name_next(&b, 143);
    const struct ip6_chain chain = walk(&b);
    assert_int_equal(chain.verdict, IP6_CHAIN_OK);
    assert_int_equal(chain.protocol, 143);
    assert_int_equal(chain.next_at, 56);
}

// v6LC.1.2.6 and 1.2.8 A to H: the upper two bits say what becomes of an option that nobody knows, in either header,
// wherever it stands in it.
static void unknown_options(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {IP6_HOP_BY_HOP, IP6_DESTINATION};
    for (size_t k = 0; k < 2; k++) {
        for (uint32_t type = 2; type < 256; type++) {
            if (type == 5 && kinds[k] == IP6_HOP_BY_HOP)
                continue;
            for (uint32_t before = 0; before <= 4; before++) {
                uint8_t content[14] = {0};
                content[before] = (uint8_t)type;
                content[before + 1] = 12 - (uint8_t)before;
                struct chain_bytes b;
                begin(&b);
                if (kinds[k] == IP6_DESTINATION)
                    add(&b, IP6_ROUTING, 0, NULL, 0);
                const uint32_t at = add(&b, kinds[k], 1, content, 14);
                name_next(&b, 17);
                const struct ip6_chain chain = walk(&b);
                if (type >> 6 == 0) {
                    assert_int_equal(chain.verdict, IP6_CHAIN_OK);
                    assert_int_equal(chain.protocol, 17);
                } else if (type >> 6 == 1) {
                    assert_int_equal(chain.verdict, IP6_CHAIN_DROP);
                } else {
                    expect_parameter(&chain, IP6_UNKNOWN_OPTION, 40 + at + 2 + before, type >> 6 == 2);
                }
            }
        }
    }
}

// v6LC.1.2.5: options are taken in their order.
static void the_first_option_that_ends_it_counts(void **state)
{
    (void)state;
    struct chain_bytes b;
    begin(&b);
    add(&b, IP6_DESTINATION, 1, "\7\2\0\0\x47\2\0\0\x87\2\0\0\1\0", 14);
    assert_int_equal(walk(&b).verdict, IP6_CHAIN_DROP);
    begin(&b);
    add(&b, IP6_DESTINATION, 1, "\7\2\0\0\x87\2\0\0\x47\2\0\0\1\0", 14);
    struct ip6_chain chain = walk(&b);
    expect_parameter(&chain, IP6_UNKNOWN_OPTION, 46, true);
    begin(&b);
    add(&b, IP6_DESTINATION, 1, "\7\2\0\0\xc7\2\0\0\x87\2\0\0\1\0", 14);
    chain = walk(&b);
    expect_parameter(&chain, IP6_UNKNOWN_OPTION, 46, false);
}

// RFC 2675: the jumbo option, C2, is one of those; a jumbogram to a group gets no answer.
static void a_jumbogram_is_refused(void **state)
{
    (void)state;
    uint8_t packet[IP6_BYTES + 8] = {0x60, [7] = 64, [40] = 6, [42] = 0xc2, 4, 0, 1, 0, 0};
    struct ip6 header;
    assert_int_equal(ip6_parse(packet, sizeof packet, &header), IP6_JUMBO);
    assert_int_equal(header.next_header, IP6_HOP_BY_HOP);
    struct ip6_chain chain;
    ip6_chain_walk(packet + IP6_BYTES, sizeof packet - IP6_BYTES, header.next_header, &chain);
    expect_parameter(&chain, IP6_UNKNOWN_OPTION, 42, false);
}

// v6LC.1.2.9, RFC 5095: no routing header is known, type 0 neither; one whose segments are done is passed over.
static void routing_headers(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < 256; type++) {
        for (uint32_t left = 0; left < 256; left += left < 3 ? 1 : 84) {
            const uint8_t content[2] = {(uint8_t)type, (uint8_t)left};
            struct chain_bytes b;
            begin(&b);
            add(&b, IP6_DESTINATION, 0, "\1\4\0\0\0\0", 6);
            add(&b, IP6_ROUTING, 4, content, 2);
            name_next(&b, 58);
            const struct ip6_chain chain = walk(&b);
            if (left) {
                expect_parameter(&chain, IP6_ERRONEOUS_FIELD, 40 + 8 + 2, false);
            } else {
                assert_int_equal(chain.verdict, IP6_CHAIN_OK);
                assert_int_equal(chain.protocol, 58);
                assert_int_equal(chain.bytes, 48);
            }
        }
    }
}

// CVE-2020-17442: (31 + 1) × 8 is no 0. All lengths that there are, filled with options that are skipped.
static void long_headers(void **state)
{
    (void)state;
    for (uint32_t units = 0; units < 256; units++) {
        struct chain_bytes b;
        begin(&b);
        add(&b, IP6_DESTINATION, (uint8_t)units, NULL, 0);
        uint32_t at = 2;
        while (b.length - at > 257) {
            b.bytes[at] = 0x1e;
            b.bytes[at + 1] = 253;
            at += 255;
        }
        b.bytes[at] = 0x1e;
        b.bytes[at + 1] = (uint8_t)(b.length - at - 2);
        const uint32_t options = at / 255 + 1;
        name_next(&b, 6);
        add(&b, IP6_DESTINATION, 0, "\1\4\0\0\0\0", 6);
        name_next(&b, 6);
        const struct ip6_chain chain = walk(&b);
        assert_int_equal(chain.verdict, options > IP6_CHAIN_OPTIONS ? IP6_CHAIN_DROP : IP6_CHAIN_OK);
        if (chain.verdict == IP6_CHAIN_OK)
            assert_int_equal(chain.bytes, (units + 1) * 8 + 8);
    }
    struct chain_bytes b;
    begin(&b);
    for (int i = 0; i < 4; i++)
        add(&b, IP6_ROUTING, 255, NULL, 0);
    name_next(&b, 6);
    assert_int_equal(walk(&b).bytes, 8192);
}

// CVE-2020-17445: a header that reaches beyond the packet, whatever room there is.
static void cut_anywhere(void **state)
{
    (void)state;
    struct chain_bytes b;
    begin(&b);
    add(&b, IP6_HOP_BY_HOP, 0, "\5\2\0\0\1\0", 6);
    add(&b, IP6_DESTINATION, 2, "\x1e\x14\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0\0", 22);
    add(&b, IP6_ROUTING, 1, NULL, 0);
    name_next(&b, IP6_FRAGMENT);
    const uint32_t at = b.length;
    memcpy(b.bytes + at, "\6\0\0\0\1\2\3\4", 8);
    b.length += 8;
    for (uint32_t room = 0; room < b.length; room++)
        assert_int_equal(walk_room(&b, room).verdict, IP6_CHAIN_SHORT);
    assert_int_equal(walk(&b).verdict, IP6_CHAIN_FRAGMENT);
}

// An option that reaches beyond its header, also when there is something behind that; a type without its length.
static void broken_options(void **state)
{
    (void)state;
    static const char *const broken[] = {
        "\x1e\5\0\0\0\0",   "\1\5\0\0\0\0",   "\x1e\xff\0\0\0\0", "\x87\5\0\0\0\0", "\5\2\0\0\x1e\1",
        "\x1e\3\0\0\0\x1e", "\x1e\3\0\0\0\1", "\x1e\3\0\0\0\x87", "\x1e\3\0\0\0\5",
    };
    for (size_t i = 0; i < sizeof broken / sizeof *broken; i++) {
        for (int hop_by_hop = 0; hop_by_hop < 2; hop_by_hop++) {
            struct chain_bytes b;
            begin(&b);
            add(&b, hop_by_hop ? IP6_HOP_BY_HOP : IP6_DESTINATION, 0, broken[i], 6);
            assert_int_equal(walk(&b).verdict, IP6_CHAIN_DROP);
            add(&b, IP6_DESTINATION, 0, "\1\4\0\0\0\0", 6);
            assert_int_equal(walk(&b).verdict, IP6_CHAIN_DROP);
        }
    }
}

// RFC 8504 §5.3: more than 7 bytes of padding in a row align nothing.
static void padding(void **state)
{
    (void)state;
    static const struct {
        const char *content;
        bool good;
    } table[] = {{"\x1e\5\0\0\0\0\0\0\0\0\0\0\0\0", true},   // 7 × Pad1
                 {"\x1e\4\0\0\0\0\0\0\0\0\0\0\0\0", false},  // 8 × Pad1
                 {"\x1e\5\0\0\0\0\0\1\5\0\0\0\0\0", true},   // PadN of 7
                 {"\x1e\4\0\0\0\0\1\6\0\0\0\0\0\0", false},  // PadN of 8
                 {"\x1e\4\0\0\0\0\0\1\5\0\0\0\0\0", false},  // Pad1 and PadN, 8 together
                 {"\x1e\4\0\0\0\0\1\2\0\0\1\2\0\0", false},  // PadN and PadN
                 {"\0\0\0\0\0\0\0\x1e\0\0\0\0\0\0", true},   // 7 × Pad1, an option of no data, 5 × Pad1
                 {"\1\0\1\0\1\0\0\x1e\0\1\1\0\1\0", true},   // PadN of 2
                 {"\0\0\0\0\0\0\0\0\0\0\0\0\0\0", false}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct chain_bytes b;
        begin(&b);
        add(&b, IP6_HOP_BY_HOP, 1, table[i].content, 14);
        name_next(&b, 58);
        assert_int_equal(walk(&b).verdict, table[i].good ? IP6_CHAIN_OK : IP6_CHAIN_DROP);
    }
}

static void eight_options(void **state)
{
    (void)state;
    for (uint32_t count = 1; count <= 12; count++) {
        uint8_t content[30] = {0};
        for (uint32_t i = 0; i < count; i++)
            content[2 * i] = 0x1e;
        content[2 * count - 1] = (uint8_t)(30 - 2 * count);  // the last one takes the rest
        struct chain_bytes b;
        begin(&b);
        add(&b, IP6_HOP_BY_HOP, 3, content, 30);
        name_next(&b, 58);
        assert_int_equal(walk(&b).verdict, count <= 8 ? IP6_CHAIN_OK : IP6_CHAIN_DROP);
        add(&b, IP6_DESTINATION, 3, content, 30);  // in each of them
        name_next(&b, 58);
        assert_int_equal(walk(&b).verdict, count <= 8 ? IP6_CHAIN_OK : IP6_CHAIN_DROP);
    }
}

static void eight_headers(void **state)
{
    (void)state;
    for (uint32_t count = 0; count <= 12; count++) {
        struct chain_bytes b;
        begin(&b);
        for (uint32_t i = 0; i < count; i++)
            add(&b, i % 2 ? IP6_ROUTING : IP6_DESTINATION, 0, i % 2 ? "\0\0\0\0\0\0" : "\1\4\0\0\0\0", 6);
        name_next(&b, 6);
        const struct ip6_chain chain = walk(&b);
        assert_int_equal(chain.verdict, count <= 8 ? IP6_CHAIN_OK : IP6_CHAIN_DROP);
        assert_int_equal(chain.headers, count <= 8 ? count : 8);
    }
}

// RFC 2711, 9777 §5: only in hop-by-hop options, of two bytes, for MLD.
static void router_alerts(void **state)
{
    (void)state;
    static const struct {
        uint8_t kind;
        const char *content;
        bool seen;
    } table[] = {
        {IP6_HOP_BY_HOP, "\5\2\0\0\1\0", true},   {IP6_HOP_BY_HOP, "\1\0\5\2\0\0", true},
        {IP6_HOP_BY_HOP, "\5\2\0\1\1\0", false},  // for RSVP
        {IP6_HOP_BY_HOP, "\5\4\0\0\0\0", false},  // too long
        {IP6_HOP_BY_HOP, "\5\0\0\0\0\0", false},  // too short
        {IP6_HOP_BY_HOP, "\1\4\5\2\0\0", false},  // inside padding
        {IP6_DESTINATION, "\5\2\0\0\1\0", false},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        struct chain_bytes b;
        begin(&b);
        add(&b, table[i].kind, 0, table[i].content, 6);
        name_next(&b, 58);
        const struct ip6_chain chain = walk(&b);
        assert_int_equal(chain.verdict, IP6_CHAIN_OK);
        assert_int_equal(chain.router_alert, table[i].seen);
    }
}

// --- fragments -----------------------------------------------------------------------------------------------------

static struct ip6_chain walk_and_continue(const struct chain_bytes *b, uint32_t room)
{
    struct ip6_chain chain;
    uint8_t *exact = malloc(room ? room : 1);
    memcpy(exact, b->bytes, room);
    ip6_chain_walk(exact, room, b->first, &chain);
    assert_int_equal(chain.verdict, IP6_CHAIN_FRAGMENT);
    ip6_chain_continue(exact, room, &chain);
    free(exact);
    return chain;
}

static void fragment_fields(void **state)
{
    (void)state;
    for (uint32_t word = 0; word < 65536; word++) {
        struct chain_bytes b;
        begin(&b);
        add(&b, IP6_HOP_BY_HOP, 0, "\1\4\0\0\0\0", 6);
        const uint32_t before = b.last;
        uint8_t content[6] = {(uint8_t)(word >> 8), (uint8_t)word, 0xde, 0xad, 0xbe, 0xef};
        const uint32_t at = add(&b, IP6_FRAGMENT, 0, content, 6);
        b.bytes[at + 1] = 0xff;  // reserved: no length of it, nor is it looked at
        name_next(&b, 17);
        const struct ip6_chain chain = walk(&b);
        assert_int_equal(chain.verdict, IP6_CHAIN_FRAGMENT);
        assert_int_equal(chain.protocol, IP6_FRAGMENT);
        assert_int_equal(chain.next_at, 40 + before);
        assert_int_equal(chain.bytes, 16);
        assert_int_equal(chain.fragment.at, 48);
        assert_int_equal(chain.fragment.next_header, 17);
        assert_int_equal(chain.fragment.offset, word / 8 * 8);
        assert_int_equal(chain.fragment.more, word % 2);
        assert_int_equal(chain.fragment.id, 0xdeadbeef);
    }
}

// An atomic fragment is a header like another: behind it the walk goes on, and counts on.
static void behind_a_fragment_header(void **state)
{
    (void)state;
    struct chain_bytes b;
    begin(&b);
    add(&b, IP6_HOP_BY_HOP, 0, "\5\2\0\0\1\0", 6);
    add(&b, IP6_FRAGMENT, 0, NULL, 0);
    name_next(&b, 58);
    struct ip6_chain chain = walk_and_continue(&b, b.length);
    assert_int_equal(chain.verdict, IP6_CHAIN_OK);
    assert_int_equal(chain.protocol, 58);
    assert_int_equal(chain.next_at, 48);
    assert_int_equal(chain.bytes, 16);
    assert_true(chain.router_alert);
    add(&b, IP6_DESTINATION, 0, "\x87\4\0\0\0\0", 6);
    name_next(&b, 58);
    chain = walk_and_continue(&b, b.length);
    expect_parameter(&chain, IP6_UNKNOWN_OPTION, 58, true);
    begin(&b);  // a hop-by-hop header behind a fragment header is one too many, even if nothing stood before
    add(&b, IP6_FRAGMENT, 0, NULL, 0);
    add(&b, IP6_HOP_BY_HOP, 0, "\5\2\0\0\1\0", 6);
    chain = walk_and_continue(&b, b.length);
    expect_parameter(&chain, IP6_UNKNOWN_NEXT_HEADER, 40, false);
    assert_false(chain.router_alert);
    begin(&b);  // a second fragment header is told like the first
    add(&b, IP6_FRAGMENT, 0, NULL, 0);
    add(&b, IP6_FRAGMENT, 0, "\0\x10\0\0\0\7", 6);
    chain = walk_and_continue(&b, b.length);
    assert_int_equal(chain.verdict, IP6_CHAIN_FRAGMENT);
    assert_int_equal(chain.fragment.at, 48);
    assert_int_equal(chain.fragment.id, 7);
    begin(&b);  // they all count
    for (int i = 0; i < 7; i++)
        add(&b, IP6_DESTINATION, 0, "\1\4\0\0\0\0", 6);
    add(&b, IP6_FRAGMENT, 0, NULL, 0);
    name_next(&b, 6);
    assert_int_equal(walk_and_continue(&b, b.length).verdict, IP6_CHAIN_OK);
    add(&b, IP6_DESTINATION, 0, "\1\4\0\0\0\0", 6);
    assert_int_equal(walk_and_continue(&b, b.length).verdict, IP6_CHAIN_DROP);
}

// RFC 7112, v6LC.1.3.6: a first fragment in which the headers do not end.
static void headers_beyond_the_first_fragment(void **state)
{
    (void)state;
    struct chain_bytes b;
    begin(&b);
    add(&b, IP6_FRAGMENT, 0, "\0\1\0\0\0\1", 6);
    add(&b, IP6_DESTINATION, 1, "\x1e\x0c\0\0\0\0\0\0\0\0\0\0\0\0", 14);
    name_next(&b, 6);
    for (uint32_t room = 8; room < b.length; room++)
        assert_int_equal(walk_and_continue(&b, room).verdict, IP6_CHAIN_SHORT);
    assert_int_equal(walk_and_continue(&b, b.length).verdict, IP6_CHAIN_OK);
}

// v6LC.1.3.3, gVisor 3770, 4427, CVE-2023-3107: all that is not the last has a multiple of 8 bytes; headers before
// count.
static void lengths_of_fragments(void **state)
{
    (void)state;
    static const struct {
        uint32_t offset, more, data;
    } table[] = {
        {0, 1, 1448},   {0, 1, 1449},                                     // more follow
        {8, 1, 7},      {8, 0, 7},      {0, 0, 9},                        // the last may have any length
        {65504, 0, 15}, {65504, 0, 16}, {65512, 0, 7},    {65512, 0, 8},  // to the last byte, and one further
        {65520, 0, 7},  {65520, 0, 8},                                    // alike without headers
        {65528, 0, 0},  {65528, 1, 8},  {65528, 0, 1452}, {65528, 1, 1},
    };
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        for (uint32_t headers = 0; headers < 2; headers++) {
            const uint8_t content[2] = {(uint8_t)(table[i].offset >> 8), (uint8_t)(table[i].offset | table[i].more)};
            struct chain_bytes b;
            begin(&b);
            add(&b, IP6_HOP_BY_HOP, 0, "\1\4\0\0\0\0", 6);
            if (headers)
                add(&b, IP6_DESTINATION, 0, "\1\4\0\0\0\0", 6);
            add(&b, IP6_FRAGMENT, 0, content, 2);
            name_next(&b, 17);
            struct ip6_chain chain = walk(&b);
            ip6_fragment_check(&chain, b.length + table[i].data);
            const bool too_long = 8 + 8 * headers + table[i].offset + table[i].data > 65535;
            if (table[i].more && table[i].data % 8)
                expect_parameter(&chain, IP6_ERRONEOUS_FIELD, 4, false);
            else if (too_long)
                expect_parameter(&chain, IP6_ERRONEOUS_FIELD, 40 + 8 + 8 * headers + 2, false);
            else
                assert_int_equal(chain.verdict, IP6_CHAIN_FRAGMENT);
        }
    }
}

// RFC 7112: the upper header too, with whatever stands between.
static void whole_first_fragments(void **state)
{
    (void)state;
    static const struct {
        uint8_t protocol;
        uint32_t least;
    } table[] = {{6, 20}, {17, 8}, {58, 8}, {IP6_ESP, 1}, {143, 1}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        for (uint32_t units = 0; units < 3; units++) {
            struct chain_bytes b;
            begin(&b);
            add(&b, IP6_FRAGMENT, 0, "\0\1\0\0\0\1", 6);
            if (units) {
                const uint32_t at = add(&b, IP6_DESTINATION, (uint8_t)units, NULL, 0);
                b.bytes[at + 2] = 0x1e;
                b.bytes[at + 3] = (uint8_t)(8 * units + 4);
            }
            name_next(&b, table[i].protocol);
            for (uint32_t room = 8; room < b.length + 30; room++) {
                const struct ip6_chain chain = walk_room(&b, room);
                uint8_t *exact = malloc(room);
                memcpy(exact, b.bytes, room);
                assert_int_equal(ip6_first_fragment_whole(exact, room, &chain), room >= b.length + table[i].least);
                free(exact);
            }
        }
    }
}

// What is wrong in the headers of a first fragment is told when the packet is whole.
static void wrong_first_fragments(void **state)
{
    (void)state;
    struct chain_bytes b;
    begin(&b);
    add(&b, IP6_FRAGMENT, 0, "\0\1\0\0\0\1", 6);
    add(&b, IP6_DESTINATION, 0, "\x87\4\0\0\0\0", 6);
    name_next(&b, 6);
    const struct ip6_chain chain = walk(&b);
    assert_true(ip6_first_fragment_whole(b.bytes, b.length, &chain));
    assert_int_equal(chain.verdict, IP6_CHAIN_FRAGMENT);
}

// Anything at all: it ends, within its bounds, and what it says is in the room.
static void anything(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {0, 43, 44, 60, 60, 43, 0, 6};
    for (int i = 0; i < 200000; i++) {
        struct chain_bytes b;
        b.length = next_random() % 129;
        for (uint32_t k = 0; k < b.length; k++)
            b.bytes[k] = (uint8_t)(next_random() >> next_random() % 9);
        for (uint32_t k = 0; k < b.length; k += 8)
            b.bytes[k] = next_random() % 3 ? kinds[next_random() % 8] : b.bytes[k];
        b.first = kinds[next_random() % 8];
        const struct ip6_chain chain = walk(&b);
        assert_true(chain.bytes <= b.length && chain.bytes % 8 == 0 && chain.headers <= 8);
        assert_true(chain.next_at == 6 || (chain.next_at >= 40 && chain.next_at < 40u + chain.bytes));
        assert_int_equal(chain.next_at == 6 ? b.first : b.bytes[chain.next_at - 40], chain.protocol);
        if (chain.verdict == IP6_CHAIN_PARAMETER)
            assert_true(chain.pointer >= 40 && chain.pointer < 40 + b.length);
    }
}

// --- addresses -----------------------------------------------------------------------------------------------------

struct named {
    const char *name;
    uint8_t address[16];
    bool source, destination;  // acceptable as
};
static const struct named names[] = {
    {"::", {0}, true, false},
    {"::1", {[15] = 1}, false, false},
    {"::2", {[15] = 2}, true, true},
    {"::ffff:10.0.0.1", {[10] = 0xff, 0xff, 10, 0, 0, 1}, false, false},
    {"::fffe:10.0.0.1", {[10] = 0xff, 0xfe, 10, 0, 0, 1}, true, true},
    {"1::ffff:10.0.0.1", {0, 1, [10] = 0xff, 0xff, 10, 0, 0, 1}, true, true},
    {"2001:db8::1", {0x20, 1, 0x0d, 0xb8, [15] = 1}, true, true},
    {"fe80::1", {0xfe, 0x80, [15] = 1}, true, true},
    {"febf::1", {0xfe, 0xbf, [15] = 1}, false, false},          // bits below /10 that are not 0
    {"fe80:2::1", {0xfe, 0x80, 0, 2, [15] = 1}, false, false},  // a bit where a zone would stand
    {"fe80:0:0:1::1", {0xfe, 0x80, [7] = 1, [15] = 1}, false, false},
    {"fec0:2::1", {0xfe, 0xc0, 0, 2, [15] = 1}, true, true},
    {"ff02::1", {0xff, 2, [15] = 1}, false, true},
    {"ff00::1", {0xff, 0, [15] = 1}, false, false},  // scopes 0 and 1 are on no link
    {"ff01::1", {0xff, 1, [15] = 1}, false, false},
    {"ff11::1", {0xff, 0x11, [15] = 1}, false, false},
    {"ff05::1:3", {0xff, 5, [13] = 1, 0, 3}, false, true},
    {"ff32:40::1", {0xff, 0x32, 0, 0x40, [15] = 1}, false, true},
};

static void addresses_from_a_link(void **state)
{
    (void)state;
    for (size_t i = 0; i < sizeof names / sizeof *names; i++) {
        for (size_t k = 0; k < sizeof names / sizeof *names; k++) {
            const bool good = names[i].source && names[k].destination;
            assert_int_equal(ip6_addresses_acceptable(names[i].address, names[k].address), good);
        }
    }
}

static const uint8_t *address(const char *name)
{
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (strcmp(names[i].name, name) == 0)
            return names[i].address;
    fail_msg("%s", name);
    return NULL;
}

static void kinds_of_addresses(void **state)
{
    (void)state;
    assert_true(ip6_is_unspecified(address("::")));
    assert_false(ip6_is_unspecified(address("::1")));
    assert_true(ip6_is_loopback(address("::1")));
    assert_false(ip6_is_loopback(address("::")));
    assert_false(ip6_is_loopback(address("2001:db8::1")));
    assert_false(ip6_is_loopback(address("::2")));
    assert_true(ip6_is_mapped(address("::ffff:10.0.0.1")));
    assert_false(ip6_is_mapped(address("::fffe:10.0.0.1")));
    assert_false(ip6_is_mapped(address("1::ffff:10.0.0.1")));
    assert_true(ip6_is_link_local(address("fe80::1")));
    assert_true(ip6_is_link_local(address("febf::1")));
    assert_false(ip6_is_link_local(address("fec0:2::1")));
    assert_true(ip6_is_multicast(address("ff02::1")));
    assert_false(ip6_is_multicast(address("fe80::1")));
    assert_true(ip6_equal(address("::"), (const uint8_t[16]){0}));
    assert_false(ip6_equal(address("::1"), address("::2")));
}

// RFC 4291 §2.7.1, with its example 4037::01:800:200e:8c6c.
static void solicited_node_groups(void **state)
{
    (void)state;
    static const uint8_t unicast[16] = {0x40, 0x37, 0, 0, 0, 0, 0, 0, 0, 1, 8, 0, 0x20, 0x0e, 0x8c, 0x6c};
    static const uint8_t expected[16] = {0xff, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1, 0xff, 0x0e, 0x8c, 0x6c};
    uint8_t group[16];
    ip6_solicited_node(unicast, group);
    assert_memory_equal(group, expected, 16);
    assert_true(ip6_is_solicited_node(group));
    for (uint32_t bit = 0; bit < 104; bit++) {
        group[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
        assert_false(ip6_is_solicited_node(group));
        group[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
    }
    for (uint32_t bit = 104; bit < 128; bit++) {
        group[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
        assert_true(ip6_is_solicited_node(group));
    }
}

static void prefixes(void **state)
{
    (void)state;
    for (uint32_t bit = 0; bit < 128; bit++) {
        uint8_t *other = malloc(16);
        memcpy(other, destination, 16);
        other[bit / 8] ^= (uint8_t)(0x80u >> bit % 8);
        for (uint32_t bits = 0; bits <= 128; bits++)
            assert_int_equal(ip6_prefix_equal(destination, other, bits), bits <= bit);
        assert_true(ip6_prefix_equal(destination, destination, 128));
        free(other);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(known_header),
                                       cmocka_unit_test(emitted_is_parsed),
                                       cmocka_unit_test(the_label_has_20_bits),
                                       cmocka_unit_test(versions),
                                       cmocka_unit_test(lengths),
                                       cmocka_unit_test(pseudo_header),
                                       cmocka_unit_test(without_headers),
                                       cmocka_unit_test(no_next_header_is_silent),
                                       cmocka_unit_test(tcp_behind_headers),
                                       cmocka_unit_test(hop_by_hop_is_first_only),
                                       cmocka_unit_test(where_the_last_name_stands),
                                       cmocka_unit_test(unknown_options),
                                       cmocka_unit_test(the_first_option_that_ends_it_counts),
                                       cmocka_unit_test(a_jumbogram_is_refused),
                                       cmocka_unit_test(routing_headers),
                                       cmocka_unit_test(long_headers),
                                       cmocka_unit_test(cut_anywhere),
                                       cmocka_unit_test(broken_options),
                                       cmocka_unit_test(padding),
                                       cmocka_unit_test(eight_options),
                                       cmocka_unit_test(eight_headers),
                                       cmocka_unit_test(router_alerts),
                                       cmocka_unit_test(fragment_fields),
                                       cmocka_unit_test(behind_a_fragment_header),
                                       cmocka_unit_test(headers_beyond_the_first_fragment),
                                       cmocka_unit_test(lengths_of_fragments),
                                       cmocka_unit_test(whole_first_fragments),
                                       cmocka_unit_test(wrong_first_fragments),
                                       cmocka_unit_test(anything),
                                       cmocka_unit_test(addresses_from_a_link),
                                       cmocka_unit_test(kinds_of_addresses),
                                       cmocka_unit_test(solicited_node_groups),
                                       cmocka_unit_test(prefixes)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
