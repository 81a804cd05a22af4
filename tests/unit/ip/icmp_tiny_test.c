// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny small
// Echo with the smallest memory: one ping of the usual size at a time, answered to the link address it came from.
#include "ip/packets.h"

#include "wire/ethernet.h"

static void usual_ping_is_answered(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t data[56], echo[ICMP4_BYTES + sizeof data];
    struct ip4 ip;
    struct icmp4 icmp;
    uint32_t length;
    fixture_open(&f, &weir_link_ethernet, OURS, 24, 0);
    fixture_know_peer(&f, PEER);
    fill(data, sizeof data, 1);
    for (uint32_t i = 0; i < 20; i++) {
        make_icmp(echo, ICMP4_ECHO, 0, i, data, sizeof data);
        fixture_input_ip4(&f, PEER, OURS, IP_ICMP, echo, sizeof echo);
        assert_int_equal(fixture_sent_count(&f), 0);
        fixture_poll(&f, 1000);
        assert_int_equal(fixture_sent_count(&f), 1);
        assert_memory_equal(fixture_sent(&f, 0, &length), FIXTURE_PEER_MAC, 6);
        const uint8_t *bytes = sent_icmp(&f, 0, &ip, &icmp, &length);
        assert_int_equal(icmp.type, ICMP4_ECHO_REPLY);
        assert_int_equal(icmp.rest, i);
        assert_memory_equal(bytes + ICMP4_BYTES, data, sizeof data);
        fixture_clear(&f);
    }
    fixture_close(&f);
}

static void more_than_fits_is_dropped_and_counted(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t echo[ICMP4_BYTES + 56], data[56] = {0};
    fixture_open(&f, &weir_link_ethernet, OURS, 24, 0);
    fixture_know_peer(&f, PEER);
    for (uint32_t i = 0; i < 2000; i++) {
        make_icmp(echo, ICMP4_ECHO, 0, i, data, sizeof data);
        fixture_input_ip4(&f, PEER, OURS, IP_ICMP, echo, sizeof echo);
    }
    const uint32_t lost = fixture_count(&f, WEIR_COUNT_OUTBOX_FULL) + fixture_count(&f, WEIR_COUNT_ICMP_RATE_LIMITED);
    fixture_poll(&f, 1000000);
    assert_in_range(fixture_sent_count(&f), 1, 1999);
    if (!WEIR_CFG_COMPACT)  // which counts nothing
        assert_int_equal(fixture_sent_count(&f), 2000 - lost);
    fixture_close(&f);
}

// The server goes on answering after its carrier was gone.
static void carrier_lost_and_found(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t echo[ICMP4_BYTES];
    fixture_open(&f, &weir_link_ethernet, OURS, 24, 0);
    fixture_know_peer(&f, PEER);
    weir_link_change(&f.netif, false);
    fixture_poll(&f, 1000);
    weir_link_change(&f.netif, true);
    fixture_poll(&f, 10000000);
    fixture_clear(&f);
    fixture_know_peer(&f, PEER);
    make_icmp(echo, ICMP4_ECHO, 0, 1, NULL, 0);
    fixture_input_ip4(&f, PEER, OURS, IP_ICMP, echo, sizeof echo);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 1);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(usual_ping_is_answered),
        cmocka_unit_test(more_than_fits_is_dropped_and_counted),
        cmocka_unit_test(carrier_lost_and_found),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
