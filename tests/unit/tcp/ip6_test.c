// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// TCP over IPv6, between two hosts: what differs from IPv4 is the header, the segment size and the flow label.
#include "pair.h"
#include "tcp/conn.h"
#include "wire/ip6.h"

#define BYTES 300000u
#define PORT 80u

static struct weir_addr end(uint8_t last)
{
    const uint8_t bytes[16] = {0x20, 0x01, 0x0d, 0xb8, [15] = last};
    return weir_addr_v6(bytes);
}

// What the frames on the link said.
struct seen {
    uint32_t labels[2];                          // of each direction; 0: none yet
    uint32_t segments, other_labels, long_ones;  // TCP over IPv6; with another label; of 1500 bytes
    uint16_t mss;                                // of the SYN
    bool without_mss;                            // the option is taken out of SYNs
};

// The MSS option is the first of a SYN's; it becomes padding, and the sum follows (RFC 1624).
static void take_mss_out(uint8_t *tcp)
{
    uint32_t sum = (uint16_t)~get16(tcp + 16);
    for (uint32_t at = 20; at < 24; at += 2)
        sum += (uint16_t)~get16(tcp + at) + 0x0101u;
    memset(tcp + 20, 1, 4);
    put16(tcp + 16, (uint16_t)~checksum_fold(sum));
}

static bool look(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    struct seen *const seen = context;
    uint8_t *const ip = frame + 14, *const tcp = ip + IP6_BYTES;
    if (length < 14 + IP6_BYTES + 20 || get16(frame + 12) != ETHERTYPE_IP6 || ip[6] != 6)
        return true;
    const uint32_t label = get32(ip) & 0xfffff;
    seen->segments++;
    seen->long_ones += length == 1514;
    if (!seen->labels[from_b])
        seen->labels[from_b] = label;
    seen->other_labels += label != seen->labels[from_b];
    if (tcp[13] & 2) {
        seen->mss = get16(tcp + 22);
        if (seen->without_mss)
            take_mss_out(tcp);
    }
    return true;
}

static void hosts_open(struct pair *pair, const struct pair_options *options, struct seen *seen)
{
    pair_open(pair, options);
    pair->filter = look;
    pair->filter_context = seen;
    assert_int_equal(weir_netif_address_add(&pair->a.netif, end(1), 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(weir_netif_address_add(&pair->b.netif, end(2), 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    pair_run(pair, 5000000);
}

static weir_socket listen_on(struct pair *pair, int32_t family)
{
    const weir_socket listener = weir_socket_open(pair->b.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_set(pair->b.weir, listener, WEIR_OPTION_FAMILY, family), WEIR_OK);
    assert_int_equal(weir_socket_bind(pair->b.weir, listener, &(struct weir_endpoint){weir_addr_any(), PORT}), WEIR_OK);
    assert_int_equal(weir_socket_listen(pair->b.weir, listener, 4), WEIR_OK);
    return listener;
}

static weir_socket connect_to(struct pair *pair, struct weir_addr to)
{
    const weir_socket client = weir_socket_open(pair->a.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_connect(pair->a.weir, client, &(struct weir_endpoint){to, PORT}), WEIR_IN_PROGRESS);
    return client;
}

struct transfer {
    struct pair *pair;
    weir_socket from, to;
    uint32_t sent, received;
};

// Writes and reads what goes; every byte is its place in the stream.
static bool move(void *context)
{
    struct transfer *const t = context;
    uint8_t bytes[1000];
    while (t->sent < BYTES) {
        const uint32_t length = min_u32(sizeof bytes, BYTES - t->sent);
        for (uint32_t i = 0; i < length; i++)
            bytes[i] = (uint8_t)((t->sent + i) * 7 >> 3);
        const int wrote = weir_socket_write(t->pair->a.weir, t->from, bytes, length);
        if (wrote <= 0)
            break;
        t->sent += (uint32_t)wrote;
    }
    for (int got; (got = weir_socket_read(t->pair->b.weir, t->to, bytes, sizeof bytes)) > 0;
         t->received += (uint32_t)got)
        for (int i = 0; i < got; i++)
            assert_int_equal(bytes[i], (uint8_t)((t->received + (uint32_t)i) * 7 >> 3));
    return t->received == BYTES;
}

static weir_socket accepted(struct pair *pair, weir_socket listener)
{
    weir_socket server = WEIR_AGAIN;
    for (int tries = 0; tries < 200 && server == WEIR_AGAIN; tries++) {
        pair_run(pair, 100000);
        server = weir_socket_accept(pair->b.weir, listener);
    }
    assert_true(server > 0);
    return server;
}

static void hosts_close(struct pair *pair)
{
    pair_run(pair, 200 * (uint64_t)1000000);
    pair_close(pair);
}

static void data_arrives(const struct pair_options *options, struct seen *seen)
{
    struct pair pair;
    hosts_open(&pair, options, seen);
    const weir_socket listener = listen_on(&pair, 0), client = connect_to(&pair, end(2)),
                      server = accepted(&pair, listener);
    struct transfer transfer = {&pair, client, server, 0, 0};
    assert_true(pair_run_until(&pair, move, &transfer, 100 * (uint64_t)1000000));
    weir_socket_close(pair.a.weir, client);
    weir_socket_close(pair.b.weir, server);
    weir_socket_close(pair.b.weir, listener);
    hosts_close(&pair);
}

static void segments_fill_the_link(void **state)
{
    (void)state;
    struct seen seen = {0};
    data_arrives(&(struct pair_options){.link = {.delay_us = 1000}, .seed = 3}, &seen);
    assert_int_equal(seen.mss, 1440);  // 1500 less 40 and 20
    assert_true(seen.long_ones >= BYTES / 1440 - 4);
}

// RFC 6437 §3: one label for a flow, and one that is not 0.
static void the_flow_keeps_its_label(void **state)
{
    (void)state;
    struct seen seen = {0};
    data_arrives(&(struct pair_options){.link = {.delay_us = 1000}, .seed = 4}, &seen);
    assert_int_not_equal(seen.labels[0], 0);
    assert_int_not_equal(seen.labels[1], 0);
    assert_int_equal(seen.other_labels, 0);
}

static void losses_are_made_good(void **state)
{
    (void)state;
    for (uint64_t seed = 1; seed <= 5; seed++) {
        struct seen seen = {0};
        data_arrives(
            &(struct pair_options){
                .link = {.delay_us = 5000, .loss_ppm = 30000, .corrupt_ppm = 5000, .reorder_ppm = 10000}, .seed = seed},
            &seen);
    }
}

// RFC 9293 §3.7.1, MUST-15: who names no MSS takes 1220 bytes.
static void who_names_no_mss_takes_1220(void **state)
{
    (void)state;
    struct seen seen = {.without_mss = true};
    data_arrives(&(struct pair_options){.link = {.delay_us = 1000}, .seed = 5}, &seen);
    assert_int_equal(seen.long_ones, 0);
}

// Two addresses, one listener, one port space.
static void a_listener_of_both_families_hears_both(void **state)
{
    (void)state;
    struct pair pair;
    struct seen seen = {0};
    struct weir_endpoint peer;
    hosts_open(&pair, &(struct pair_options){.seed = 6}, &seen);
    const weir_socket listener = listen_on(&pair, 0), six = connect_to(&pair, end(2)),
                      first = accepted(&pair, listener);
    assert_int_equal(weir_socket_peer(pair.b.weir, first, &peer), WEIR_OK);
    assert_true(weir_addr_equal(peer.addr, end(1)));
    const weir_socket four = connect_to(&pair, PAIR_B), second = accepted(&pair, listener);
    assert_int_equal(weir_socket_peer(pair.b.weir, second, &peer), WEIR_OK);
    assert_true(weir_addr_equal(peer.addr, PAIR_A));
    weir_socket_abort(pair.a.weir, six);
    weir_socket_abort(pair.a.weir, four);
    weir_socket_close(pair.b.weir, first);
    weir_socket_close(pair.b.weir, second);
    weir_socket_close(pair.b.weir, listener);
    hosts_close(&pair);
}

static void a_listener_of_one_family_hears_one(void **state)
{
    (void)state;
    struct pair pair;
    struct seen seen = {0};
    hosts_open(&pair, &(struct pair_options){.seed = 7}, &seen);
    const weir_socket listener = listen_on(&pair, 6), four = connect_to(&pair, PAIR_B);
    pair_run(&pair, 1000000);
    int32_t error = WEIR_OK;
    assert_int_equal(weir_socket_get(pair.a.weir, four, WEIR_OPTION_ERROR, &error), WEIR_OK);
    assert_int_equal(error, WEIR_REFUSED);
    weir_socket_close(pair.a.weir, four);
    weir_socket_close(pair.b.weir, listener);
    hosts_close(&pair);
}

static bool lose(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    (void)context, (void)from_b, (void)frame, (void)length;
    return false;
}

// Its path leads nowhere, and the timeout at which a next hop is doubted has none to doubt.
static void a_connection_outlives_its_interface(void **state)
{
    (void)state;
    for (uint64_t after_us = 100000; after_us <= 2000000; after_us += 100000) {  // between any two timeouts
        struct pair pair;
        struct seen seen = {0};
        struct weir_tcp_info info;
        hosts_open(&pair, &(struct pair_options){.seed = 8}, &seen);
        const weir_socket listener = listen_on(&pair, 6), client = connect_to(&pair, end(2));
        const weir_socket server = accepted(&pair, listener);
        pair_run(&pair, 1000000);
        pair.filter = lose;
        assert_int_equal(weir_socket_write(pair.a.weir, client, "lost", 4), 4);
        pair_run(&pair, after_us);
        weir_netif_remove(&pair.a.netif);
        pair_run(&pair, 30000000);
        assert_int_equal(weir_socket_tcp_info(pair.a.weir, client, &info), WEIR_OK);
        assert_int_equal(info.state, WEIR_TCP_ESTABLISHED);
        weir_socket_abort(pair.a.weir, client);
        weir_socket_abort(pair.b.weir, server);
        weir_socket_close(pair.b.weir, listener);
        hosts_close(&pair);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(segments_fill_the_link),
        cmocka_unit_test(the_flow_keeps_its_label),
        cmocka_unit_test(losses_are_made_good),
        cmocka_unit_test(who_names_no_mss_takes_1220),
        cmocka_unit_test(a_listener_of_both_families_hears_both),
        cmocka_unit_test(a_listener_of_one_family_hears_one),
        cmocka_unit_test(a_connection_outlives_its_interface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
