// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// Datagram sockets of a static build: a fixed number of them, each with the rings it was built with.
#include "ip/packets.h"

static void sockets_come_and_go(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t payload[1400], got[1400];
    const int at_once = WEIR_CFG_ALLOCATOR ? 3 : WEIR_CFG_DATAGRAM_SOCKETS;
    weir_socket s[16];
    open_raw(&f);
    for (uint32_t round = 0; round < 20; round++) {
        for (int i = 0; i < at_once; i++)
            s[i] = socket_bound(&f, weir_addr_any(), (uint16_t)(7000 + i));
        if (!WEIR_CFG_ALLOCATOR)
            assert_int_equal(weir_socket_open(f.weir, WEIR_DATAGRAM, 0), WEIR_NO_MEMORY);
        for (int i = 0; i < at_once; i++) {
            fill(payload, sizeof payload, round + (uint32_t)i);
            input_udp(&f, PEER, OURS, 9, (uint16_t)(7000 + i), payload, sizeof payload);
            assert_int_equal(take(&f, s[i], got, sizeof got, NULL), sizeof payload);
            assert_memory_equal(got, payload, sizeof payload);
            assert_int_equal(send_to(&f, s[i], PEER, 9, payload, sizeof payload), sizeof payload);
        }
        if (round % 2)
            fixture_poll(&f, 1000);
        for (int i = 0; i < at_once; i++)  // closed with or without something left to send
            weir_socket_close(f.weir, s[i]);
        fixture_poll(&f, 1000);
    }
    assert_int_equal(fixture_sent_count(&f), 20 * (uint32_t)at_once);
    fixture_close(&f);
}

static void full_rings_refuse(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t payload[1000] = {0};
    open_raw(&f);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    f.block_tx = true;
    const weir_socket s = socket_bound(&f, weir_addr_any(), 7000);
    int error, sent = 0;
    while ((error = send_to(&f, s, PEER, 9, payload, sizeof payload)) > 0)
        sent++;
    assert_int_equal(error, WEIR_AGAIN);
    for (int i = 0; i < 1000; i++)
        input_udp(&f, PEER, OURS, 9, 7000, payload, sizeof payload);
    assert_true(fixture_count(&f, WEIR_COUNT_UDP_QUEUE_FULL) > 0);
    fixture_unblock(&f, 1000000);
    assert_int_equal(fixture_sent_count(&f), sent);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sockets_come_and_go),
        cmocka_unit_test(full_rings_refuse),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
