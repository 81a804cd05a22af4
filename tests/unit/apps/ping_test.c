// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
#include "bench.h"

#include "ping.h"

#if WEIR_CFG_IP6
#define LOOPBACK6 weir_addr_v6((const uint8_t[16]){[15] = 1})
#else
#define LOOPBACK6 BENCH_LOOPBACK
#endif

static uint32_t replies;
static bool ended;

static void event(struct ping *ping, const struct ping_reply *reply, void *context)
{
    (void)ping, (void)context;
    ended |= reply == NULL;
    replies += reply != NULL;
}

static void run(struct ping *ping, struct weir_addr host, uint32_t count, uint32_t bytes, uint64_t us)
{
    struct bench bench;
    bench_open(&bench);
    replies = 0;
    ended = false;
    assert_int_equal(ping_start(ping, &bench.loop, host, count, 100000, bytes, event, NULL), WEIR_OK);
    bench_run(&bench, us);
    ping_stop(ping);
    bench_close(&bench);
}

static void each_request_is_answered(void **state)
{
    struct ping ping;
    (void)state;
    run(&ping, BENCH_LOOPBACK, 5, 56, 3000000);
    assert_int_equal(replies, 5);
    assert_int_equal(ping.received, 5);
    assert_int_equal(ping.duplicates + ping.corrupted, 0);
    assert_true(ended);
    run(&ping, BENCH_LOOPBACK, 2, 0, 3000000);  // no room for a time: counted, not timed
    assert_int_equal(ping.received, 2);
    run(&ping, BENCH_LOOPBACK, 1, PING_DATA_MAX, 3000000);
    assert_int_equal(ping.received, 1);
}

static void hosts_of_ip6_too(void **state)
{
    struct ping ping;
    (void)state;
    run(&ping, LOOPBACK6, 5, 56, 3000000);
    assert_int_equal(ping.received, 5);
    assert_int_equal(ping.duplicates + ping.corrupted, 0);
    run(&ping, LOOPBACK6, 1, PING_DATA_MAX, 3000000);
    assert_int_equal(ping.received, 1);
}

static void silence_ends_too(void **state)
{
    struct ping ping;
    (void)state;
    run(&ping, fixture_address(99), 2, 56, 10000000);  // nobody there
    assert_int_equal(replies, 0);
    assert_int_equal(ping.sent, 2);
    assert_true(ended);
}

static void too_much_data_is_refused(void **state)
{
    struct bench bench;
    struct ping ping;
    (void)state;
    bench_open(&bench);
    assert_int_equal(ping_start(&ping, &bench.loop, BENCH_LOOPBACK, 1, 1, PING_DATA_MAX + 1, event, NULL),
                     WEIR_INVALID);
    bench_close(&bench);
}

#if WEIR_CFG_IP4
// The last request that was sent, changed, as a reply of `from`; `flip`: the byte of the ICMP message that is another.
static void reply_to(struct bench *bench, struct weir_addr from, uint32_t flip, uint32_t cut)
{
    uint32_t length;
    uint8_t icmp[200];
    const uint8_t *packet = fixture_sent_packet(&bench->f, fixture_sent_count(&bench->f) - 1, &length);
    assert_int_equal(packet[9], 1);
    length -= 20 + cut;
    memcpy(icmp, packet + 20, length);
    icmp[0] = 0;
    if (flip)
        icmp[flip] ^= 0x40;
    icmp[2] = icmp[3] = 0;
    uint32_t sum = 0;
    for (uint32_t i = 0; i < length; i++)
        sum += i % 2 ? icmp[i] : (uint32_t)icmp[i] << 8;
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    icmp[2] = (uint8_t)(~sum >> 8);
    icmp[3] = (uint8_t)~sum;
    fixture_input_ip4(&bench->f, from, weir_ip4(10, 0, 0, 1), 1, icmp, length);
    bench_run(bench, 1000);
}

// Answers whose data are others', that come twice, that are to what was never asked; and that a router says it cannot.
static void answers_that_lie_are_counted(void **state)
{
    const struct weir_addr peer = weir_ip4(10, 0, 0, 2);
    struct bench bench;
    struct ping ping;
    (void)state;
    bench_open(&bench);
    fixture_know_peer(&bench.f, peer);
    replies = 0;
    ended = false;
    assert_int_equal(ping_start(&ping, &bench.loop, peer, 0, 1000000, 56, event, NULL), WEIR_OK);
    bench_run(&bench, 1000);
    reply_to(&bench, peer, 40, 0);  // in the pattern
    reply_to(&bench, peer, 8, 0);   // a time in the future
    reply_to(&bench, peer, 0, 4);   // too short
    reply_to(&bench, peer, 6, 0);   // a sequence number that was not sent
    assert_int_equal(ping.corrupted, 4);
    assert_int_equal(replies, 0);
    reply_to(&bench, peer, 0, 0);
    assert_int_equal(ping.received, 1);
    reply_to(&bench, peer, 0, 0);
    assert_int_equal(ping.received, 1);
    assert_int_equal(ping.duplicates, 1);
    assert_int_equal(replies, 2);
    // Host unreachable, with the request that it is about.
    uint32_t length;
    uint8_t error[8 + 28] = {3, 1};
    const uint8_t *packet = fixture_sent_packet(&bench.f, fixture_sent_count(&bench.f) - 1, &length);
    memcpy(error + 8, packet, 28);
    uint32_t sum = 0;
    for (uint32_t i = 0; i < sizeof error; i += 2)
        sum += (uint32_t)error[i] << 8 | error[i + 1];
    while (sum >> 16)
        sum = (sum & 0xffff) + (sum >> 16);
    error[2] = (uint8_t)(~sum >> 8);
    error[3] = (uint8_t)~sum;
    fixture_input_ip4(&bench.f, weir_ip4(10, 0, 0, 3), weir_ip4(10, 0, 0, 1), 1, error, sizeof error);
    bench_run(&bench, 1000);
    assert_int_equal(ping.error, WEIR_HOST_UNREACHABLE);
    ping_stop(&ping);
    ping_stop(&ping);  // which it has
    assert_false(ended);
    assert_int_equal(ping_start(&ping, &bench.loop, weir_ip4(192, 0, 2, 1), 1, 1000000, 56, event, NULL),
                     WEIR_NO_ROUTE);
    assert_int_equal(ping.socket, 0);
    bench_close(&bench);
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(each_request_is_answered),
        cmocka_unit_test(hosts_of_ip6_too),
        cmocka_unit_test(silence_ends_too),
        cmocka_unit_test(too_much_data_is_refused),
#if WEIR_CFG_IP4
        cmocka_unit_test(answers_that_lie_are_counted),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
