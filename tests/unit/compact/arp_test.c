// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny
// What the compact stack answers of IPv4 beside TCP: requests for its link address, and echoes.
#include "compact/peer.h"

#include "wire/arp.h"
#include "wire/icmp4.h"

static void arp_and_echo_are_answered(void **state)
{
    (void)state;
    struct talk t;
    uint8_t bytes[ETHERNET_BYTES + 1000];
    static const uint8_t everybody[6] = {255, 255, 255, 255, 255, 255};
    open_talk(&t, SERVING_ECHO);
    struct arp_packet arp = {.operation = ARP_REQUEST, .sender = PEER, .target = SERVER};
    memcpy(arp.sender_mac, peer_mac, 6);
    const struct ethernet link = {.destination = everybody, .source = peer_mac, .type = ETHERTYPE_ARP};
    ethernet_emit(bytes + ETHERNET_BYTES, &link);
    for (uint32_t wrong = 0; wrong < 4; wrong++) {
        arp.operation = wrong == 1 ? ARP_REPLY : ARP_REQUEST;
        arp.target = wrong == 2 ? SERVER + 1 : SERVER;
        arp_emit(bytes + ETHERNET_BYTES, &arp);
        bytes[ETHERNET_BYTES + 1] = wrong == 3 ? 6 : 1;
        raw_input(&t, bytes, ETHERNET_BYTES + ARP_BYTES);
        turn(&t);
        assert_int_equal(t.count, wrong == 0);
        if (wrong == 0) {
            assert_true(arp_parse(t.frames[0] + ETHERNET_BYTES, t.lengths[0] - ETHERNET_BYTES, &arp));
            assert_memory_equal(t.frames[0], peer_mac, 6);
            assert_int_equal(arp.operation, ARP_REPLY);
            assert_int_equal(arp.sender, SERVER);
            assert_int_equal(arp.target, PEER);
            assert_memory_equal(arp.sender_mac, server_mac, 6);
            assert_memory_equal(arp.target_mac, peer_mac, 6);
            arp = (struct arp_packet){.sender = PEER};
            memcpy(arp.sender_mac, peer_mac, 6);
            t.count = 0;
        }
    }
    for (uint32_t length = 0; length < 400; length++) {
        const struct icmp4 echo = {.type = ICMP4_ECHO, .rest = 0x12340000u + length};
        icmp4_emit(bytes + HEADERS, &echo);
        for (uint32_t i = 0; i < length; i++)
            bytes[HEADERS + ICMP4_BYTES + i] = serving_pattern(i);
        checksum_put(bytes + HEADERS + 2, checksum_sum_portable(bytes + HEADERS, ICMP4_BYTES + length));
        raw_input(&t, bytes, wrap(bytes, IP_ICMP, ICMP4_BYTES + length));
        turn(&t);
        assert_true(t.count == 1 || length > 100);  // what the outbox holds
        if (t.count == 1) {
            struct icmp4 reply;
            const uint8_t *icmp = t.frames[0] + HEADERS;
            assert_true(icmp4_parse(icmp, t.lengths[0] - HEADERS, &reply));
            assert_int_equal(reply.type, ICMP4_ECHO_REPLY);
            assert_int_equal(reply.rest, echo.rest);
            assert_int_equal(t.lengths[0], HEADERS + ICMP4_BYTES + length);
            assert_int_equal(checksum_sum_portable(icmp, ICMP4_BYTES + length), 0xffff);
            assert_memory_equal(icmp + ICMP4_BYTES, bytes + HEADERS + ICMP4_BYTES, length);
        }
        t.count = 0;
    }
    close_talk(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(arp_and_echo_are_answered)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
