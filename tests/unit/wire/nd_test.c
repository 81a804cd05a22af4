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

#include "wire/nd.h"

static uint32_t random_state = 4861;
static uint32_t next_random(void) { return (random_state = random_state * 1664525u + 1013904223u) >> 8; }

static const uint8_t unspecified[16] = {0};
static const uint8_t link_local[16] = {0xfe, 0x80, [15] = 1};
static const uint8_t global[16] = {0x20, 1, 0x0d, 0xb8, [14] = 0x12, 0x34};
static const uint8_t other[16] = {0x20, 1, 0x0d, 0xb8, [15] = 9};
static const uint8_t all_nodes[16] = {0xff, 2, [15] = 1};
static const uint8_t solicited_node[16] = {0xff, 2, [11] = 1, 0xff, 0, 0x12, 0x34};
static const uint8_t mac[6] = {2, 0, 0, 0, 0, 5};

struct message {
    uint8_t bytes[2200];
    uint32_t length;
    struct icmp6_arrival arrival;
};

static const uint8_t types[] = {ICMP6_ROUTER_SOLICITATION, ICMP6_ROUTER_ADVERTISEMENT, ICMP6_NEIGHBOUR_SOLICITATION,
                                ICMP6_NEIGHBOUR_ADVERTISEMENT, ICMP6_REDIRECT};
static const uint32_t fixed[] = {8, 16, 24, 24, 40};
#define TYPES 5u

// A message of the kind with which nothing is wrong.
static struct message good(uint8_t type)
{
    struct message m = {.bytes = {type}, .arrival = {.source = link_local, .destination = all_nodes, .hop_limit = 255}};
    m.length = fixed[type - 133];
    if (type >= ICMP6_NEIGHBOUR_SOLICITATION)
        memcpy(m.bytes + 8, global, 16);
    if (type == ICMP6_REDIRECT)
        memcpy(m.bytes + 24, global, 16);
    return m;
}

static void append(struct message *m, const void *bytes, uint32_t length)
{
    memcpy(m->bytes + m->length, bytes, length);
    m->length += length;
}

// Parses a copy of its exact length; *out points into it, so it is kept until the next.
static enum nd_verdict parse(const struct message *m, struct nd *out)
{
    static uint8_t *copy;
    free(copy);
    copy = malloc(m->length ? m->length : 1);
    memcpy(copy, m->bytes, m->length);
    return nd_parse(copy, m->length, &m->arrival, out);
}
static enum nd_verdict verdict(const struct message *m)
{
    struct nd out;
    const enum nd_verdict found = parse(m, &out);
    struct message none = {.arrival = m->arrival};
    parse(&none, &out);
    return found;
}

// --- each check alone, all else right (CVE-2026-7656) --------------------------------------------------------------

static void good_messages(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TYPES; i++) {
        struct message m = good(types[i]);
        assert_int_equal(verdict(&m), ND_OK);
        append(&m, "\3\1\0\0\0\0\0\0", 8);
        assert_int_equal(verdict(&m), ND_OK);
    }
}

static void other_types(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < 256; type++) {
        struct message m = good(ICMP6_REDIRECT);
        m.bytes[0] = (uint8_t)type;
        assert_int_equal(verdict(&m) == ND_BAD_TYPE, type < 133 || type > 137);
    }
}

static void hop_limit_is_255(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TYPES; i++) {
        struct message m = good(types[i]);
        for (uint32_t limit = 0; limit < 255; limit++) {
            m.arrival.hop_limit = (uint8_t)limit;
            assert_int_equal(verdict(&m), ND_BAD_HOP_LIMIT);
        }
    }
}

static void code_is_0(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TYPES; i++) {
        struct message m = good(types[i]);
        for (uint32_t code = 1; code < 256; code++) {
            m.bytes[1] = (uint8_t)code;
            assert_int_equal(verdict(&m), ND_BAD_CODE);
        }
    }
}

// RFC 6980 §5: also behind an atomic fragment's header.
static void no_fragment(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TYPES; i++) {
        struct message m = good(types[i]);
        m.arrival.fragmented = true;
        assert_int_equal(verdict(&m), ND_FRAGMENTED);
    }
}

static void whole_fixed_parts(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TYPES; i++) {
        struct message m = good(types[i]);
        for (m.length = 0; m.length < fixed[i]; m.length++)
            assert_int_equal(verdict(&m), m.length ? ND_BAD_LENGTH : ND_BAD_TYPE);
    }
}

// RFC 4861 §4.6: a length of 0 drops the message (CVE-2021-21279 hung on it), the first option's, one's in the
// middle, the last one's; with a type that is known and with one that is not.
static void no_option_of_length_0(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TYPES; i++) {
        for (uint32_t bad = 0; bad < 4; bad++) {
            for (uint32_t type = 0; type < 256; type += type < 40 ? 1 : 43) {
                struct message m = good(types[i]);
                for (uint32_t k = 0; k < 4; k++)
                    append(&m, k == bad ? (uint8_t[8]){(uint8_t)type} : (uint8_t[8]){77, 1}, 8);
                assert_int_equal(verdict(&m), ND_BAD_OPTION);
            }
        }
    }
}

// One that reaches beyond the message likewise, by a byte or by all; and bytes at the end that are no option.
static void no_option_beyond_the_end(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TYPES; i++) {
        for (uint32_t units = 1; units < 256; units++) {
            struct message m = good(types[i]);
            append(&m, "\115\1\0\0\0\0\0\0", 8);
            append(&m, (uint8_t[2]){(uint8_t)(units % 40), (uint8_t)units}, 2);
            for (uint32_t length = units * 8 - 1; length > 0; length /= 2) {
                m.length = fixed[i] + 8 + length;
                assert_int_equal(verdict(&m), ND_BAD_OPTION);
            }
        }
        for (uint32_t stray = 1; stray < 8; stray++) {
            struct message m = good(types[i]);
            append(&m, "\1\1\0\0\0\0\0", stray);
            assert_int_equal(verdict(&m), ND_BAD_OPTION);
        }
    }
}

// Unknown options and reserved bits are ignored.
static void what_is_not_known_is_ignored(void **state)
{
    (void)state;
    for (uint32_t type = 0; type < 256; type++) {
        struct message m = good(ICMP6_NEIGHBOUR_SOLICITATION);
        append(&m, (uint8_t[16]){(uint8_t)type, 2, 0xff, 0xff}, 16);
        append(&m, "\1\1\2\0\0\0\0\5", 8);
        memset(m.bytes + 4, 0xff, 4);
        struct nd nd;
        assert_int_equal(parse(&m, &nd), ND_OK);
        assert_memory_equal(nd.link_address, mac, 6);
    }
}

static void targets_are_no_groups(void **state)
{
    (void)state;
    static const uint8_t with_target[] = {135, 136, 137};
    for (uint32_t i = 0; i < 3; i++) {
        struct message m = good(with_target[i]);
        m.bytes[8] = 0xff;
        if (i == 2)
            m.bytes[24] = 0x20;
        assert_int_equal(verdict(&m), ND_BAD_TARGET);
    }
}

// §6.1.1: a solicitation of routers from :: has no link address.
static void router_solicitations(void **state)
{
    (void)state;
    struct message m = good(ICMP6_ROUTER_SOLICITATION);
    m.arrival.source = unspecified;
    assert_int_equal(verdict(&m), ND_OK);
    append(&m, "\1\1\2\0\0\0\0\5", 8);
    assert_int_equal(verdict(&m), ND_BAD_SOURCE);
    m.arrival.source = link_local;
    assert_int_equal(verdict(&m), ND_OK);
    m.arrival.source = global;
    assert_int_equal(verdict(&m), ND_OK);
}

// §6.1.2.
static void router_advertisements_are_from_link_local(void **state)
{
    (void)state;
    struct message m = good(ICMP6_ROUTER_ADVERTISEMENT);
    m.arrival.source = global;
    assert_int_equal(verdict(&m), ND_BAD_SOURCE);
    m.arrival.source = unspecified;
    assert_int_equal(verdict(&m), ND_BAD_SOURCE);
}

// §7.1.1, v6LC.2.1.7, 3.1.3: from :: it goes to a solicited-node group, without a link address, wherever that stands
// and however long it is.
static void neighbour_solicitations_from_nobody(void **state)
{
    (void)state;
    struct message m = good(ICMP6_NEIGHBOUR_SOLICITATION);
    m.arrival.source = unspecified;
    assert_int_equal(verdict(&m), ND_BAD_DESTINATION);
    m.arrival.destination = global;
    assert_int_equal(verdict(&m), ND_BAD_DESTINATION);
    m.arrival.destination = solicited_node;
    assert_int_equal(verdict(&m), ND_OK);
    append(&m, "\16\1\1\2\3\4\5\6", 8);
    assert_int_equal(verdict(&m), ND_OK);
    append(&m, "\1\1\2\0\0\0\0\5", 8);
    assert_int_equal(verdict(&m), ND_BAD_SOURCE);
    m.bytes[m.length - 7] = 2;
    append(&m, "\0\0\0\0\0\0\0\0", 8);
    assert_int_equal(verdict(&m), ND_BAD_SOURCE);
    m.arrival.source = global;
    m.arrival.destination = global;
    assert_int_equal(verdict(&m), ND_OK);
    assert_int_equal(m.length, 48);
}

// §7.1.2: what is solicited goes to one host. From :: nobody advertises.
static void neighbour_advertisements(void **state)
{
    (void)state;
    struct message m = good(ICMP6_NEIGHBOUR_ADVERTISEMENT);
    m.bytes[4] = ND_ROUTER | ND_OVERRIDE;
    assert_int_equal(verdict(&m), ND_OK);
    m.bytes[4] = ND_SOLICITED;
    assert_int_equal(verdict(&m), ND_BAD_DESTINATION);
    m.arrival.destination = solicited_node;
    assert_int_equal(verdict(&m), ND_BAD_DESTINATION);
    m.arrival.destination = global;
    assert_int_equal(verdict(&m), ND_OK);
    m.arrival.source = global;
    assert_int_equal(verdict(&m), ND_OK);
    m.arrival.source = unspecified;
    assert_int_equal(verdict(&m), ND_BAD_SOURCE);
}

// §8.1, v6LC.2.3.3: those of the nine checks that are left.
static void redirects(void **state)
{
    (void)state;
    struct message m = good(ICMP6_REDIRECT);
    m.arrival.source = global;
    assert_int_equal(verdict(&m), ND_BAD_SOURCE);
    m.arrival.source = unspecified;
    assert_int_equal(verdict(&m), ND_BAD_SOURCE);
    m = good(ICMP6_REDIRECT);
    memcpy(m.bytes + 8, other, 16);  // neither a router nor the destination itself
    assert_int_equal(verdict(&m), ND_BAD_TARGET);
    memcpy(m.bytes + 8, link_local, 16);
    assert_int_equal(verdict(&m), ND_OK);
    memcpy(m.bytes + 24, all_nodes, 16);
    assert_int_equal(verdict(&m), ND_BAD_TARGET);
    memcpy(m.bytes + 8, all_nodes, 16);  // a group is no destination either
    assert_int_equal(verdict(&m), ND_BAD_TARGET);
}

// --- what they say -------------------------------------------------------------------------------------------------

static void fields_of_an_advertising_router(void **state)
{
    (void)state;
    struct message m = good(ICMP6_ROUTER_ADVERTISEMENT);
    memcpy(m.bytes + 4, "\100\0\7\10\1\2\3\4\5\6\7\10", 12);
    struct nd nd;
    for (uint32_t flags = 0; flags < 256; flags++) {
        static const int preferences[] = {ND_MEDIUM, ND_HIGH, ND_MEDIUM, ND_LOW};
        m.bytes[5] = (uint8_t)flags;
        assert_int_equal(parse(&m, &nd), ND_OK);
        assert_int_equal(nd.advertised.hop_limit, 64);
        assert_int_equal(nd.advertised.managed, flags >> 7);
        assert_int_equal(nd.advertised.other, flags >> 6 & 1);
        assert_int_equal(nd.advertised.home_agent, flags >> 5 & 1);
        assert_int_equal(nd.advertised.preference, preferences[flags >> 3 & 3]);
        assert_int_equal(nd.advertised.lifetime_s, 1800);
        assert_int_equal(nd.advertised.reachable_ms, 0x01020304);
        assert_int_equal(nd.advertised.retransmit_ms, 0x05060708);
    }
    m.bytes[6] = m.bytes[7] = 0;  // RFC 4191 §2.2: without a lifetime the preference is ignored
    for (uint32_t flags = 0; flags < 256; flags++) {
        m.bytes[5] = (uint8_t)flags;
        assert_int_equal(parse(&m, &nd), ND_OK);
        assert_int_equal(nd.advertised.preference, ND_MEDIUM);
    }
}

static void fields_of_neighbours(void **state)
{
    (void)state;
    struct message m = good(ICMP6_NEIGHBOUR_ADVERTISEMENT);
    m.arrival.destination = global;
    struct nd nd;
    for (uint32_t flags = 0; flags < 256; flags++) {
        m.bytes[4] = (uint8_t)flags;
        assert_int_equal(parse(&m, &nd), ND_OK);
        assert_int_equal(nd.router, flags >> 7);
        assert_int_equal(nd.solicited, flags >> 6 & 1);
        assert_int_equal(nd.override, flags >> 5 & 1);
        assert_memory_equal(nd.target, global, 16);
        assert_null(nd.link_address);
    }
    m = good(ICMP6_REDIRECT);
    memcpy(m.bytes + 8, link_local, 16);
    assert_int_equal(parse(&m, &nd), ND_OK);
    assert_memory_equal(nd.target, link_local, 16);
    assert_memory_equal(nd.destination, global, 16);
}

// Cilium 46079: an advertisement's link address is option 2, a solicitation's option 1; the other one says nothing.
// The first of two counts.
static void whose_link_address(void **state)
{
    (void)state;
    for (uint32_t i = 0; i < TYPES; i++) {
        struct message m = good(types[i]);
        struct nd nd;
        append(&m, "\1\1\2\0\0\0\0\1", 8);
        append(&m, "\2\1\2\0\0\0\0\2", 8);
        append(&m, "\2\1\2\0\0\0\0\4", 8);
        append(&m, "\1\1\2\0\0\0\0\3", 8);
        assert_int_equal(parse(&m, &nd), ND_OK);
        assert_int_equal(nd.link_address[5], types[i] >= ICMP6_NEIGHBOUR_ADVERTISEMENT ? 2 : 1);
    }
}

// A link address of another length is another link's, and one of a group of stations nobody's.
static void link_addresses_of_no_use(void **state)
{
    (void)state;
    struct message m = good(ICMP6_NEIGHBOUR_SOLICITATION);
    struct nd nd;
    append(&m, "\1\2\2\0\0\0\0\1\0\0\0\0\0\0\0\0", 16);
    append(&m, "\1\1\3\0\0\0\0\2", 8);
    append(&m, "\1\1\377\377\377\377\377\377", 8);
    assert_int_equal(parse(&m, &nd), ND_OK);
    assert_null(nd.link_address);
    append(&m, "\1\1\2\0\0\0\0\5", 8);
    assert_int_equal(parse(&m, &nd), ND_OK);
    assert_memory_equal(nd.link_address, mac, 6);
}

// RFC 7527, 3971 §5.3.2: 6 bytes or 8 more.
static void nonces(void **state)
{
    (void)state;
    for (uint32_t units = 1; units < 4; units++) {
        struct message m = good(ICMP6_NEIGHBOUR_SOLICITATION);
        m.arrival.source = unspecified;
        m.arrival.destination = solicited_node;
        append(&m, (uint8_t[32]){14, (uint8_t)units, 9, 8, 7, 6, 5, 4, 3}, units * 8);
        struct nd nd;
        assert_int_equal(parse(&m, &nd), ND_OK);
        assert_int_equal(nd.nonce_bytes, units * 8 - 2);
        assert_memory_equal(nd.nonce, "\11\10\7\6\5\4", 6);
    }
}

// --- options -------------------------------------------------------------------------------------------------------

// The one option of an advertisement that is told; false: it is not.
static bool told(const uint8_t *option, uint32_t bytes, struct nd_option *out)
{
    struct message m = good(ICMP6_ROUTER_ADVERTISEMENT);
    struct nd nd;
    struct nd_option more;
    append(&m, option, bytes);
    append(&m, "\6\1\0\0\0\0\0\0", 8);
    assert_int_equal(parse(&m, &nd), ND_OK);
    const bool found = nd_option_next(&nd.options, out);
    assert_false(nd_option_next(&nd.options, &more));
    assert_int_equal(nd.options.left, 0);
    if (found)
        assert_int_equal(out->type, option[0]);
    return found;
}

// CVE-2026-7426, CVE-2023-50926: no prefix is longer than an address.
static void prefix_lengths(void **state)
{
    (void)state;
    for (uint32_t bits = 0; bits < 256; bits++) {
        uint8_t option[32] = {3, 4, (uint8_t)bits};
        memset(option + 16, 0x2a, 16);
        struct nd_option out;
        assert_int_equal(told(option, 32, &out), bits <= 128);
        if (bits > 128)
            continue;
        assert_int_equal(out.prefix_bits, bits);
        for (uint32_t bit = 0; bit < 128; bit++)
            assert_int_equal(out.prefix[bit / 8] >> (7 - bit % 8) & 1, bit < bits && (0x2a >> (7 - bit % 8) & 1));
    }
    for (uint32_t units = 1; units < 8; units++) {
        uint8_t option[64] = {3, (uint8_t)units, 64};
        struct nd_option out;
        assert_int_equal(told(option, units * 8, &out), units == 4);
    }
}

static void prefix_fields(void **state)
{
    (void)state;
    for (uint32_t flags = 0; flags < 256; flags++) {
        const uint8_t option[32] = {3, 4,    64,   (uint8_t)flags, 0,    0,    2, 1,    0,    0,       1,
                                    2, 0xff, 0xff, 0xff,           0xff, 0x20, 1, 0x0d, 0xb8, [31] = 5};
        struct nd_option out;
        assert_true(told(option, 32, &out));
        assert_int_equal(out.on_link, flags >> 7);
        assert_int_equal(out.autonomous, flags >> 6 & 1);
        assert_int_equal(out.router_address, flags >> 5 & 1);
        assert_int_equal(out.delegated, flags >> 4 & 1);
        assert_int_equal(out.lifetime_s, 513);
        assert_int_equal(out.preferred_s, 258);
        assert_int_equal(out.prefix[15], 0);
    }
}

// RFC 4862 §5.5.3 (c): it makes no address, and is on-link all the same; for ever is a number like another.
static void preferred_beyond_valid(void **state)
{
    (void)state;
    static const uint32_t lifetimes[] = {0, 1, 7200, UINT32_MAX - 1, UINT32_MAX};
    for (uint32_t v = 0; v < 5; v++) {
        for (uint32_t p = 0; p < 5; p++) {
            uint8_t option[32] = {3, 4, 64, 0xc0, [16] = 0x20, 1};
            put32(option + 4, lifetimes[v]);
            put32(option + 8, lifetimes[p]);
            struct nd_option out;
            assert_true(told(option, 32, &out));
            assert_true(out.on_link);
            assert_int_equal(out.autonomous, p <= v);
        }
    }
}

// RFC 4861 §6.3.4: the link-local prefix is not advertised; a group is none.
static void prefixes_that_say_nothing(void **state)
{
    (void)state;
    static const uint8_t starts[][2] = {{0xfe, 0x80}, {0xfe, 0xbf}, {0xff, 0x02}, {0xff, 0x00}};
    for (uint32_t i = 0; i < 4; i++) {
        uint8_t prefix[32] = {3, 4, 64, 0xc0, [16] = starts[i][0], starts[i][1]};
        uint8_t route[24] = {24, 3, 64, 0, [8] = starts[i][0], starts[i][1]};
        struct nd_option out;
        assert_false(told(prefix, 32, &out));
        assert_false(told(route, 24, &out));
        prefix[16] = route[8] = 0xfd;
        assert_true(told(prefix, 32, &out));
        assert_true(told(route, 24, &out));
    }
}

// RFC 4191 §2.3: 1, 2 or 3 units hold 0, 64 or 128 bits; a reserved preference drops the option.
static void routes(void **state)
{
    (void)state;
    static const int preferences[] = {ND_MEDIUM, ND_HIGH, 99, ND_LOW};
    for (uint32_t units = 1; units < 6; units++) {
        for (uint32_t bits = 0; bits < 256; bits++) {
            uint8_t option[48] = {24, (uint8_t)units, (uint8_t)bits, 0xe7, 0, 0, 1, 0};
            memset(option + 8, 0x2a, 40);
            struct nd_option out;
            const bool fits = units <= 3 && bits <= (units - 1) * 64;
            assert_int_equal(told(option, units * 8, &out), fits);
            if (!fits)
                continue;
            assert_int_equal(out.prefix_bits, bits);
            assert_int_equal(out.lifetime_s, 256);
            assert_int_equal(out.prefix[15], bits > 126 ? 0x2a : bits > 124 ? 0x28 : bits > 122 ? 0x20 : 0);
        }
    }
    for (uint32_t flags = 0; flags < 256; flags++) {
        const uint8_t option[8] = {24, 1, 0, (uint8_t)flags};
        struct nd_option out;
        assert_int_equal(told(option, 8, &out), (flags >> 3 & 3) != 2);
        if ((flags >> 3 & 3) != 2)
            assert_int_equal(out.preference, preferences[flags >> 3 & 3]);
    }
}

static void mtus(void **state)
{
    (void)state;
    static const uint32_t values[] = {0, 68, 576, 1279, 1280, 1500, 9000, 65536 + 100, UINT32_MAX};
    for (uint32_t i = 0; i < sizeof values / sizeof *values; i++) {
        uint8_t option[16] = {5, 1, 0xff, 0xff};
        put32(option + 4, values[i]);
        struct nd_option out;
        assert_int_equal(told(option, 8, &out), values[i] >= 1280);
        if (values[i] >= 1280)
            assert_int_equal(out.mtu, values[i]);
        option[1] = 2;
        assert_false(told(option, 16, &out));
    }
}

// CVE-2020-16898: addresses in half.
static void dns_servers(void **state)
{
    (void)state;
    for (uint32_t units = 1; units < 256; units++) {
        uint8_t *option = calloc(255, 8);
        option[0] = 25;
        option[1] = (uint8_t)units;
        put32(option + 4, 600);
        option[8] = 0x20;
        if (units * 8 > 2000) {
            free(option);
            continue;
        }
        struct nd_option out;
        const bool sound = units >= 3 && units % 2;
        assert_int_equal(told(option, units * 8, &out), sound);
        if (sound) {
            assert_int_equal(out.bytes, units * 8 - 8);
            assert_int_equal(out.data[0], 0x20);
            assert_int_equal(out.lifetime_s, 600);
        }
        free(option);
    }
}

static bool told_domains(const char *names, uint32_t bytes, struct nd_option *out)
{
    uint8_t option[600] = {31, 0, 0, 0, 0, 0, 0, 60};
    memcpy(option + 8, names, bytes);
    const uint32_t units = 1 + (bytes + 7) / 8;
    option[1] = (uint8_t)units;
    return told(option, units * 8, out);
}

static void dns_domains(void **state)
{
    (void)state;
    struct nd_option out;
    assert_true(told_domains("\3lab\4test\0\1a\0", 13, &out));
    assert_int_equal(out.lifetime_s, 60);
    assert_int_equal(out.bytes, 13);
    assert_int_equal(nd_domain(out.data, out.bytes), 10);
    assert_int_equal(nd_domain(out.data + 10, out.bytes - 10), 3);
    assert_int_equal(nd_domain(out.data + 13, 0), 0);
    assert_true(told_domains("\6dotted\0", 8, &out));
    assert_false(told_domains("", 0, &out));
    assert_false(told_domains("\0\0\0\0\0\0\0\0", 8, &out));
    assert_false(told_domains("\3lab\4test", 9 - 1, &out));     // ends in a label
    assert_false(told_domains("\7dotless", 8, &out));           // ends without its root
    assert_false(told_domains("\300\0\0\0\0\0\0\0", 8, &out));  // compressed: a pointer
    assert_false(told_domains("\3lab\300\10\0\0", 8, &out));
    assert_false(told_domains("\100lab\0\0\0\0", 8, &out));  // 64 bytes of label
    assert_false(told_domains("\3lab\0\0x\0", 8, &out));     // padding that is none
    assert_false(told_domains("\1a\0\377\0\0\0\0", 8, &out));
}

static void long_domains(void **state)
{
    (void)state;
    char names[300] = {0};
    struct nd_option out;
    for (uint32_t i = 0; i < 4; i++)
        names[64 * i] = 63;
    for (uint32_t i = 0; i < 4; i++)
        memset(names + 64 * i + 1, 'a', 63);
    assert_false(told_domains(names, 257, &out));  // 257 bytes
    names[192] = 61;
    memset(names + 254, 0, 40);
    assert_true(told_domains(names, 255, &out));  // 255
    assert_int_equal(nd_domain(out.data, out.bytes), 255);
    names[192] = 62;
    names[254] = 'a';
    assert_false(told_domains(names, 256, &out));  // 256
}

static void pref64(void **state)
{
    (void)state;
    static const uint32_t lengths[8] = {96, 64, 56, 48, 40, 32, 0, 0};
    for (uint32_t word = 0; word < 65536; word += 7) {
        uint8_t option[16] = {38, 2, (uint8_t)(word >> 8), (uint8_t)word, 0, 0x64, 0xff, 0x9b};
        struct nd_option out;
        assert_int_equal(told(option, 16, &out), word % 8 < 6);
        if (word % 8 < 6) {
            assert_int_equal(out.prefix_bits, lengths[word % 8]);
            assert_int_equal(out.lifetime_s, word / 8 * 8);
            assert_memory_equal(out.prefix, "\0\144\377\233\0\0\0\0\0\0\0\0\0\0\0\0", 16);
        }
    }
    // Bits that lie behind the prefix, and the byte that is always 0 (RFC 6052 §2.2).
    for (uint32_t code = 0; code < 6; code++) {
        for (uint32_t at = 0; at < 12; at++) {
            uint8_t option[16] = {38, 2, 0, (uint8_t)code, 0x20};
            option[4 + at] |= 1;
            struct nd_option out;
            assert_int_equal(told(option, 16, &out), at < lengths[code] / 8 && at != 8);
        }
    }
    for (uint32_t units = 1; units < 5; units++) {
        const uint8_t option[32] = {38, (uint8_t)units, 0, 8, 0, 0x64, 0xff, 0x9b};
        struct nd_option out;
        assert_int_equal(told(option, units * 8, &out), units == 2);
    }
}

// The iterator passes over what is unknown or unsound, and goes on: here between all kinds, a captive portal's (37)
// among them.
static void the_iterator_goes_on(void **state)
{
    (void)state;
    static const uint8_t told_in_order[] = {ND_SOURCE_LINK, ND_MTU, ND_ROUTE, ND_REDIRECTED};
    struct message m = good(ICMP6_ROUTER_ADVERTISEMENT);
    append(&m, "\45\2https://x/\0\0\0\0", 16);
    append(&m, "\1\1\2\0\0\0\0\5", 8);
    append(&m, "\5\1\0\0\0\0\4\377", 8);
    append(&m, "\5\1\0\0\0\0\5\334", 8);
    append(&m, "\30\1\1\0\0\0\0\0", 8);
    append(&m, "\30\1\0\0\0\0\0\0", 8);
    append(&m, "\4\2\0\0\0\0\0\0\140\0\0\0\0\0\0\0", 16);
    append(&m, "\46\1\0\0\0\0\0\0", 8);
    struct nd nd;
    struct nd_option out;
    assert_int_equal(parse(&m, &nd), ND_OK);
    for (uint32_t i = 0; i < sizeof told_in_order; i++) {
        assert_true(nd_option_next(&nd.options, &out));
        assert_int_equal(out.type, told_in_order[i]);
    }
    assert_int_equal(out.bytes, 8);
    assert_int_equal(out.data[0], 0x60);
    assert_false(nd_option_next(&nd.options, &out));
}

// Anything at all: what is told lies in the message.
static void anything(void **state)
{
    (void)state;
    static const uint8_t kinds[] = {1, 2, 3, 4, 5, 14, 24, 25, 31, 37, 38, 0};
    for (int i = 0; i < 100000; i++) {
        struct message m = good(types[next_random() % TYPES]);
        const uint32_t from = m.length, options = next_random() % 6;
        for (uint32_t k = 0; k < options; k++) {
            const uint32_t units = next_random() % 5;
            m.bytes[m.length] = kinds[next_random() % sizeof kinds];
            m.bytes[m.length + 1] = (uint8_t)(next_random() % 9 ? units : next_random());
            for (uint32_t b = 2; b < units * 8; b++)
                m.bytes[m.length + b] = (uint8_t)(next_random() >> next_random() % 12);
            m.length += units * 8;
        }
        struct nd nd;
        if (parse(&m, &nd) != ND_OK)
            continue;
        const uint8_t *end = nd.options.at + nd.options.left;
        assert_int_equal(nd.options.left, m.length - from);
        for (struct nd_option out; nd_option_next(&nd.options, &out);) {
            assert_true(out.prefix_bits <= 128);
            if (out.data)
                assert_true(out.data + out.bytes <= end);
        }
    }
}

// --- writing -------------------------------------------------------------------------------------------------------

// connectedhomeip 9791: bytes left behind a message read as an option of length 0. Not one is written that does not
// belong to it.
static void check_written(const uint8_t *bytes, uint32_t length, const void *expected, uint32_t expected_length)
{
    assert_int_equal(length, expected_length);
    assert_memory_equal(bytes, expected, expected_length);
    for (uint32_t i = length; i < 64; i++)
        assert_int_equal(bytes[i], 0xee);
}

static void written_solicitations(void **state)
{
    (void)state;
    uint8_t bytes[64], expected[40] = {135};
    memcpy(expected + 8, global, 16);
    memset(bytes, 0xee, sizeof bytes);
    check_written(bytes, nd_ns_emit(bytes, global, NULL, NULL), expected, 24);
    memcpy(expected + 24, "\1\1\2\0\0\0\0\5", 8);
    check_written(bytes, nd_ns_emit(bytes, global, mac, NULL), expected, 32);
    memcpy(expected + 32, "\16\1abcdef", 8);
    check_written(bytes, nd_ns_emit(bytes, global, mac, (const uint8_t *)"abcdef"), expected, 40);
    memcpy(expected + 24, "\16\1abcdef", 8);
    memset(bytes, 0xee, sizeof bytes);
    check_written(bytes, nd_ns_emit(bytes, global, NULL, (const uint8_t *)"abcdef"), expected, 32);
}

static void written_advertisements(void **state)
{
    (void)state;
    uint8_t bytes[64], expected[32] = {136, 0, 0, 0, 0x60};
    memcpy(expected + 8, global, 16);
    memset(bytes, 0xee, sizeof bytes);
    check_written(bytes, nd_na_emit(bytes, global, ND_SOLICITED | ND_OVERRIDE, NULL), expected, 24);
    memcpy(expected + 24, "\2\1\2\0\0\0\0\5", 8);
    expected[4] = 0xa0;
    check_written(bytes, nd_na_emit(bytes, global, ND_ROUTER | ND_OVERRIDE, mac), expected, 32);
}

static void written_router_solicitations(void **state)
{
    (void)state;
    uint8_t bytes[64];
    memset(bytes, 0xee, sizeof bytes);
    check_written(bytes, nd_rs_emit(bytes, NULL), "\205\0\0\0\0\0\0\0", 8);
    check_written(bytes, nd_rs_emit(bytes, mac), "\205\0\0\0\0\0\0\0\1\1\2\0\0\0\0\5", 16);
}

static void what_is_written_is_parsed(void **state)
{
    (void)state;
    struct message m = {.arrival = {.source = unspecified, .destination = solicited_node, .hop_limit = 255}};
    struct nd nd;
    m.length = nd_ns_emit(m.bytes, global, NULL, (const uint8_t *)"abcdef");
    assert_int_equal(parse(&m, &nd), ND_OK);
    assert_memory_equal(nd.target, global, 16);
    assert_memory_equal(nd.nonce, "abcdef", 6);
    assert_null(nd.link_address);
    m.arrival.source = link_local;
    m.length = nd_ns_emit(m.bytes, global, mac, NULL);
    assert_int_equal(parse(&m, &nd), ND_OK);
    assert_memory_equal(nd.link_address, mac, 6);
    m.arrival.destination = other;
    m.length = nd_na_emit(m.bytes, global, ND_SOLICITED | ND_OVERRIDE, mac);
    assert_int_equal(parse(&m, &nd), ND_OK);
    assert_true(nd.solicited && nd.override && !nd.router);
    assert_memory_equal(nd.link_address, mac, 6);
    m.length = nd_rs_emit(m.bytes, mac);
    assert_int_equal(parse(&m, &nd), ND_OK);
    assert_memory_equal(nd.link_address, mac, 6);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(good_messages),
        cmocka_unit_test(other_types),
        cmocka_unit_test(hop_limit_is_255),
        cmocka_unit_test(code_is_0),
        cmocka_unit_test(no_fragment),
        cmocka_unit_test(whole_fixed_parts),
        cmocka_unit_test(no_option_of_length_0),
        cmocka_unit_test(no_option_beyond_the_end),
        cmocka_unit_test(what_is_not_known_is_ignored),
        cmocka_unit_test(targets_are_no_groups),
        cmocka_unit_test(router_solicitations),
        cmocka_unit_test(router_advertisements_are_from_link_local),
        cmocka_unit_test(neighbour_solicitations_from_nobody),
        cmocka_unit_test(neighbour_advertisements),
        cmocka_unit_test(redirects),
        cmocka_unit_test(fields_of_an_advertising_router),
        cmocka_unit_test(fields_of_neighbours),
        cmocka_unit_test(whose_link_address),
        cmocka_unit_test(link_addresses_of_no_use),
        cmocka_unit_test(nonces),
        cmocka_unit_test(prefix_lengths),
        cmocka_unit_test(prefix_fields),
        cmocka_unit_test(preferred_beyond_valid),
        cmocka_unit_test(prefixes_that_say_nothing),
        cmocka_unit_test(routes),
        cmocka_unit_test(mtus),
        cmocka_unit_test(dns_servers),
        cmocka_unit_test(dns_domains),
        cmocka_unit_test(long_domains),
        cmocka_unit_test(pref64),
        cmocka_unit_test(the_iterator_goes_on),
        cmocka_unit_test(anything),
        cmocka_unit_test(written_solicitations),
        cmocka_unit_test(written_advertisements),
        cmocka_unit_test(written_router_solicitations),
        cmocka_unit_test(what_is_written_is_parsed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
