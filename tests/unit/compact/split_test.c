// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny
// TCP_SPLIT: what is answered at once leaves in two segments, and every byte of it. A stack of its own, built with the
// option.
#define WEIR_CFG_TCP_SPLIT 1
#include "serving.c"

#include <setjmp.h>
#include <stdarg.h>

#include <cmocka.h>

#include "wire/ethernet.h"
#include "wire/ip4.h"
#include "wire/tcp.h"

#define SERVER 0x0a000001u
#define PEER 0x0a000002u

static const uint8_t server_mac[6] = {2, 0, 0, 0, 0, 1}, peer_mac[6] = {2, 0, 0, 0, 0, 2};
static uint32_t lengths[8], count, isn_seen, next;
static uint8_t came[1200];

static bool tx(void *context, const uint8_t *frame, uint32_t length)
{
    const uint8_t *tcp = frame + ETHERNET_BYTES + IP4_BYTES;
    (void)context;
    if (tcp[13] & TCP_SYN)
        isn_seen = next = get32(tcp + 4) + 1;
    else if (length > ETHERNET_BYTES + IP4_BYTES + TCP_BYTES) {
        lengths[count] = length - (ETHERNET_BYTES + IP4_BYTES + TCP_BYTES);
        memcpy(came + (get32(tcp + 4) - isn_seen), tcp + TCP_BYTES, lengths[count]);
        next = get32(tcp + 4) + lengths[count++];
    }
    return true;
}

static void in(struct serving *serving, uint8_t flags, uint32_t sequence, uint32_t length)
{
    uint8_t bytes[700] = {0}, *tcp = bytes + ETHERNET_BYTES + IP4_BYTES;
    const uint32_t options = flags & TCP_SYN ? 4 : 0, total = TCP_BYTES + options + length;
    memcpy(bytes, server_mac, 6);
    memcpy(bytes + 6, peer_mac, 6);
    put16(bytes + 12, ETHERTYPE_IP4);
    put16(bytes + 14, 0x4500);
    put16(bytes + 16, IP4_BYTES + total);
    put16(bytes + 22, 64 << 8 | IP_TCP);
    put32(bytes + 26, PEER);
    put32(bytes + 30, SERVER);
    checksum_put(bytes + 24, checksum_sum_portable(bytes + 14, IP4_BYTES));
    put16(tcp, 40000);
    put16(tcp + 2, SERVING_PORT);
    put32(tcp + 4, sequence);
    put32(tcp + 8, flags & TCP_ACK ? next : 0);
    put32(tcp + 12, (TCP_BYTES + options) << 26 | (uint32_t)flags << 16 | 8000);
    if (options)
        put32(tcp + TCP_BYTES, 0x02040000u | 536);
    for (uint32_t i = 0; i < length; i++)
        tcp[TCP_BYTES + options + i] = serving_pattern(i);
    uint8_t pseudo[12] = {10, 0, 0, 2, 10, 0, 0, 1, 0, IP_TCP};
    put16(pseudo + 10, total);
    checksum_put(tcp + 16, checksum_add(checksum_sum_portable(pseudo, 12), checksum_sum_portable(tcp, total)));
    serving_input(serving, bytes, ETHERNET_BYTES + IP4_BYTES + total);
    serving_turn(serving, 1000000);
}

static void test_an_answer_leaves_in_two(void **state)
{
    static const uint32_t sizes[] = {100, 536, 3, 1};
    (void)state;
    struct serving *serving = serving_open(server_mac, SERVER, SERVING_ECHO, tx, NULL, 1000000);
    uint32_t sequence = 1, before = 0;
    in(serving, TCP_SYN, 0, 0);
    in(serving, TCP_ACK, 1, 0);
    for (uint32_t i = 0; i < 4; i++) {
        count = 0;
        before = next;
        in(serving, TCP_ACK | TCP_PSH, sequence, sizes[i]);
        sequence += sizes[i];
        assert_int_equal(count, sizes[i] > 1 ? 2 : 1);
        assert_int_equal(next - before, sizes[i]);
        assert_int_equal(lengths[0], (sizes[i] + 1) / 2);
        for (uint32_t at = 0; at < sizes[i]; at++)
            assert_int_equal(came[before - isn_seen + at], serving_pattern(at));
    }
    serving_close(serving);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(test_an_answer_leaves_in_two)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
