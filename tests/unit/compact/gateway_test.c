// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny
// Serving only: no ARP cache, no netmask, no gateway, no routes. What is answered goes to the link address that asked,
// whichever network the asker's address is of, and two askers behind different gateways each have theirs; also what is
// sent again later.
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <string.h>

#include <cmocka.h>

#include "base/checksum.h"
#include "compact/serving.h"
#include "wire/arp.h"
#include "wire/ethernet.h"
#include "wire/icmp4.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#define SERVER 0x0a000001u
#define SECOND_US UINT64_C(1000000)
enum { NEAR, FAR, BEYOND, ASKERS };

static const uint8_t server_mac[6] = {2, 0, 0, 0, 0, 1};
static struct asker {
    uint32_t address;
    uint8_t mac[6];
    uint32_t theirs;                                // the server's next number
    uint32_t syn_acks, data, echoes, arps, resets;  // frames to it
} askers[ASKERS];
static uint32_t strays;
static uint64_t now_us;

static bool tx(void *context, const uint8_t *frame, uint32_t length)
{
    (void)context;
    for (struct asker *asker = askers; asker < askers + ASKERS; asker++) {
        const uint8_t *ip = frame + ETHERNET_BYTES, *tcp = ip + IP4_BYTES;
        if (memcmp(frame, asker->mac, 6) != 0)
            continue;
        if (get16(frame + 12) == ETHERTYPE_ARP) {
            asker->arps++;
            strays += get16(ip + 6) != ARP_REPLY;
            return true;
        }
        strays += get32(ip + 16) != asker->address;
        if (ip[9] == IP_ICMP)
            asker->echoes++;
        else if (tcp[13] & TCP_SYN)
            asker->syn_acks++, asker->theirs = get32(tcp + 4) + 1;
        else
            asker->resets += tcp[13] >> 2 & 1, asker->data += length > ETHERNET_BYTES + IP4_BYTES + TCP_BYTES;
        return true;
    }
    strays++;
    return true;
}

// An IPv4 packet of `asker` around what lies in bytes + ETHERNET_BYTES + IP4_BYTES.
static void send(struct serving *serving, const struct asker *asker, uint8_t *bytes, uint8_t protocol, uint32_t length)
{
    const struct ip4 ip = {.source = asker->address,
                           .destination = SERVER,
                           .total_length = (uint16_t)(IP4_BYTES + length),
                           .ttl = 60,
                           .protocol = protocol};
    struct ethernet link = {.destination = server_mac, .source = asker->mac, .type = ETHERTYPE_IP4};
    ip4_emit(bytes + ETHERNET_BYTES, &ip);
    ethernet_emit(bytes + ETHERNET_BYTES, &link);
    serving_input(serving, bytes, ETHERNET_BYTES + IP4_BYTES + length);
    serving_turn(serving, now_us);
}

static void segment(struct serving *serving, const struct asker *asker, uint8_t flags, uint32_t sequence,
                    uint32_t length)
{
    uint8_t bytes[200] = {0}, *tcp = bytes + ETHERNET_BYTES + IP4_BYTES;
    const struct tcp_segment out = {.source = 40000,
                                    .destination = SERVING_PORT,
                                    .seq = sequence,
                                    .ack = flags & TCP_ACK ? asker->theirs : 0,
                                    .flags = flags,
                                    .window = 4000,
                                    .header_length = TCP_BYTES};
    tcp_emit(tcp, &out);
    checksum_put(tcp + 16, checksum_add(ip4_pseudo_sum(asker->address, SERVER, IP_TCP, TCP_BYTES + length),
                                        checksum_sum_portable(tcp, TCP_BYTES + length)));
    send(serving, asker, bytes, IP_TCP, TCP_BYTES + length);
}

static void ping(struct serving *serving, const struct asker *asker)
{
    uint8_t bytes[64] = {0}, *icmp = bytes + ETHERNET_BYTES + IP4_BYTES;
    icmp[0] = ICMP4_ECHO;
    checksum_put(icmp + 2, checksum_sum_portable(icmp, 16));
    send(serving, asker, bytes, IP_ICMP, 16);
}

static void begin(void)
{
    memset(askers, 0, sizeof askers);
    askers[NEAR] = (struct asker){.address = 0x0a000002u, .mac = {2, 0, 0, 0, 0, 2}};
    askers[FAR] = (struct asker){.address = 0x82951115u, .mac = {2, 0, 0, 0, 0, 0xaa}};     // by one gateway
    askers[BEYOND] = (struct asker){.address = 0xc0000207u, .mac = {2, 0, 0, 0, 0, 0xbb}};  // by another
    strays = 0;
    now_us = SECOND_US;
}

static void answers_go_where_the_frame_came_from(void **state)
{
    (void)state;
    begin();
    struct serving *serving = serving_open(server_mac, SERVER, SERVING_ECHO, tx, NULL, now_us);
    for (int i = 0; i < ASKERS; i++)
        ping(serving, &askers[i]);
    // Two handshakes at once, of which the profile's one connection comes.
    segment(serving, &askers[FAR], TCP_SYN, 0, 0);
    segment(serving, &askers[BEYOND], TCP_SYN, 0, 0);
    segment(serving, &askers[FAR], TCP_ACK, 1, 0);
    segment(serving, &askers[FAR], TCP_ACK | TCP_PSH, 1, 20);
    for (int i = 0; i < ASKERS; i++)
        assert_int_equal(askers[i].echoes, 1);
    assert_int_equal(askers[NEAR].syn_acks + askers[NEAR].data, 0);
    assert_int_equal(askers[FAR].syn_acks, 1);
    assert_int_equal(askers[BEYOND].syn_acks, 1);
    assert_int_equal(askers[FAR].data, 1);
    // Unacknowledged, both are sent again, to the same place, and nobody is asked where that is.
    for (uint32_t i = 0; i < 200; i++)
        serving_turn(serving, now_us += SECOND_US / 10);
    assert_in_range(askers[FAR].data, 3, 12);
    assert_in_range(askers[BEYOND].syn_acks, 2, 12);
    assert_int_equal(askers[BEYOND].data, 0);
    assert_int_equal(strays, 0);
    for (int i = 0; i < ASKERS; i++)
        assert_int_equal(askers[i].arps, 0);
    serving_close(serving);
}

static void resets_go_there_too(void **state)
{
    (void)state;
    begin();
    struct serving *serving = serving_open(server_mac, SERVER, SERVING_ECHO, tx, NULL, now_us);
    uint8_t bytes[100] = {0}, *tcp = bytes + ETHERNET_BYTES + IP4_BYTES;
    const struct tcp_segment out = {
        .source = 40000, .destination = 9, .seq = 5, .flags = TCP_SYN, .window = 4000, .header_length = TCP_BYTES};
    tcp_emit(tcp, &out);
    checksum_put(tcp + 16, checksum_add(ip4_pseudo_sum(askers[FAR].address, SERVER, IP_TCP, TCP_BYTES),
                                        checksum_sum_portable(tcp, TCP_BYTES)));
    send(serving, &askers[FAR], bytes, IP_TCP, TCP_BYTES);
    assert_int_equal(strays, 0);
    assert_int_equal(askers[FAR].resets, 1);
    serving_close(serving);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(answers_go_where_the_frame_came_from),
        cmocka_unit_test(resets_go_there_too),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
