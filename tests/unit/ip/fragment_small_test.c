// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// Reassembly with the little memory of a static build: the same rules, nothing but the carved block, and nothing lost
// from it.
#include "ip/packets.h"

#define PORT 7000
#define PAYLOAD 1500

static void pieces(struct fixture *f, struct weir_addr source, uint16_t id, const uint8_t *udp, uint32_t length,
                   uint32_t from, uint32_t to)
{
    for (uint32_t at = from; at < to; at += 504) {
        const uint32_t size = length - at < 504 ? length - at : 504;
        input(f, &(struct make){.source = source,
                                .protocol = IP_UDP,
                                .id = id,
                                .offset = (uint16_t)at,
                                .flags = at + size < length ? IP4_MORE_FRAGMENTS : 0,
                                .payload = udp + at,
                                .length = size});
    }
}

static void reassembles_again_and_again(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t payload[PAYLOAD], udp[PAYLOAD + UDP_BYTES], got[PAYLOAD];
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    for (uint32_t i = 0; i < 50; i++) {
        fill(payload, sizeof payload, i);
        make_udp(udp, PEER, OURS, 9, PORT, payload, sizeof payload);
        pieces(&f, PEER, (uint16_t)i, udp, sizeof udp, 0, sizeof udp);
        assert_int_equal(take(&f, s, got, sizeof got, NULL), PAYLOAD);
        assert_memory_equal(got, payload, PAYLOAD);
        assert_int_equal(f.weir->ip.fragments.bytes, 0);
    }
    fixture_close(&f);
}

static void flood_leaves_nothing_behind(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t payload[PAYLOAD] = {0}, udp[PAYLOAD + UDP_BYTES];
    uint32_t random = 5;
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    for (uint32_t i = 0; i < 5000; i++) {
        random = random * 1664525u + 1013904223u;
        input(&f, &(struct make){.source = weir_ip4(10, 0, 0, (uint8_t)(2 + (random >> 8) % 5)),
                                 .protocol = IP_UDP,
                                 .id = (uint16_t)(random >> 12 & 15),
                                 .offset = (uint16_t)((random >> 16 & 255) * 8),
                                 .flags = random >> 30 ? IP4_MORE_FRAGMENTS : 0,
                                 .payload = payload,
                                 .length = 8 + (random >> 24 & 7) * 8});
        assert_true(f.weir->ip.fragments.bytes <= WEIR_CFG_REASSEMBLY_BYTES);
    }
    // The newest comes through at once, in spite of all that is pinned.
    make_udp(udp, OTHER, OURS, 9, PORT, payload, sizeof payload);
    pieces(&f, OTHER, 999, udp, sizeof udp, 0, sizeof udp);
    assert_int_equal(take(&f, s, NULL, 0, NULL), PAYLOAD);
    fixture_poll(&f, 61000000);
    assert_int_equal(f.weir->ip.fragments.bytes, 0);
    assert_int_equal(f.weir->ip.fragments.count, 0);
    make_udp(udp, PEER, OURS, 9, PORT, payload, sizeof payload);
    pieces(&f, PEER, 1, udp, sizeof udp, 0, sizeof udp);
    assert_int_equal(take(&f, s, NULL, 0, NULL), PAYLOAD);
    fixture_close(&f);
}

// Where the directory or the block ends, the datagram is refused and counted, and others still work.
static void too_large_is_refused(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t payload[504] = {0};
    open_raw(&f);
    for (uint32_t at = 0; at + 504 <= 65000; at += 504)
        input(&f, &(struct make){.protocol = IP_UDP,
                                 .id = 1,
                                 .offset = (uint16_t)at,
                                 .flags = IP4_MORE_FRAGMENTS,
                                 .payload = payload,
                                 .length = sizeof payload});
    assert_true(f.weir->ip.fragments.bytes <= WEIR_CFG_REASSEMBLY_BYTES);
    assert_true(WEIR_CFG_ALLOCATOR || fixture_count(&f, WEIR_COUNT_FRAGMENT_LIMIT) > 0);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(reassembles_again_and_again),
        cmocka_unit_test(flood_leaves_nothing_behind),
        cmocka_unit_test(too_large_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
