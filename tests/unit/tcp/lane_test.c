// SPDX-License-Identifier: BSD-2-Clause
// not lean: it has no lanes
// Lanes and header prediction: what comes by them is what would have come the long way, and nothing that the long way would refuse.
#include "pair.h"

#include <string.h>

#include "tcp/internal.h"

#define PORT 7

struct flow {
    struct pair pair;
    weir_socket client, server;
    uint32_t total, written, read;
    uint32_t data_frames, flipped, taken[2];
    uint32_t flip_every;
    uint8_t mac[6];  // where the last frame of a went
    uint8_t ttl;
    uint64_t tapped;
};

static uint8_t byte_at(uint32_t at) { return (uint8_t)(at * 29 + (at >> 9)); }

// Each time another bit of the headers (and of some payload) of a data frame is wrong.
static bool damage(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    struct flow *x = context;
    if (from_b)
        return true;
    memcpy(x->mac, frame, 6);
    x->ttl = frame[22];
    if (length < 200 || !x->flip_every || ++x->data_frames % x->flip_every)
        return true;
    const uint32_t bit = x->flipped++;
    if (bit / 8 < 80)
        frame[bit / 8] ^= (uint8_t)(1u << bit % 8);
    return true;
}

static bool moved(void *context)
{
    struct flow *x = context;
    uint8_t bytes[3000];
    while (x->written < x->total) {
        const uint32_t want = min_u32(x->total - x->written, sizeof bytes);
        for (uint32_t i = 0; i < want; i++)
            bytes[i] = byte_at(x->written + i);
        const int wrote = weir_socket_write(x->pair.a.weir, x->client, bytes, want);
        if (wrote <= 0)
            break;
        x->written += (uint32_t)wrote;
    }
    int got;
    while ((got = weir_socket_read(x->pair.b.weir, x->server, bytes, sizeof bytes)) > 0) {
        for (int i = 0; i < got; i++)
            assert_int_equal(bytes[i], byte_at(x->read + (uint32_t)i));
        x->read += (uint32_t)got;
    }
    assert_int_equal(got, WEIR_AGAIN);
    return x->read == x->total;
}

static void begin(struct flow *x)
{
    memset(x, 0, sizeof *x);
    pair_open(&x->pair, &(struct pair_options){.link = {.delay_us = 100}, .a = {.mode = FIXTURE_PLAIN}, .b = {.mode = FIXTURE_PLAIN}});
    x->pair.filter = damage;
    x->pair.filter_context = x;
    pair_connect(&x->pair, PORT, &x->client, &x->server);
}

static void move(struct flow *x, uint32_t bytes)
{
    x->total += bytes;
    assert_true(pair_run_until(&x->pair, moved, x, 4000000000u));
    pair_run(&x->pair, 100000);  // the last acknowledgement, too
}

static const struct tcp_lane *lane_of(struct weir *weir)
{
    for (uint32_t i = 0; i < TCP_LANES; i++)
        if (weir->tcp.lanes[i].c)
            return &weir->tcp.lanes[i];
    return NULL;
}

static void both_sides_take_their_lane(void **state)
{
    struct flow x;
    (void)state;
    begin(&x);
    move(&x, 200000);
    assert_non_null(lane_of(x.pair.a.weir));
    assert_non_null(lane_of(x.pair.b.weir));
    assert_int_equal(lane_of(x.pair.a.weir)->out.generation, x.pair.a.weir->ip.generation);
    assert_int_equal(lane_of(x.pair.b.weir)->in.generation, x.pair.b.weir->ip.generation);
    weir_socket_abort(x.pair.a.weir, x.client);
    assert_null(lane_of(x.pair.a.weir));  // goes with its connection
    pair_run(&x.pair, 1000);
    assert_null(lane_of(x.pair.b.weir));
    pair_close(&x.pair);
}

// A driver that tells of its last place is not offered a frame more until it has room again, by the lane or otherwise.
static void a_driver_that_is_full_is_left_alone(void **state)
{
    (void)state;
    for (uint32_t places = 1; places < 12; places++) {
        struct flow x;
        begin(&x);
        x.pair.a.places = x.pair.b.places = places;
        move(&x, 100000);
        assert_int_equal(x.pair.a.netif.stats.tx_full, 0);
        assert_non_null(lane_of(x.pair.a.weir));
        weir_socket_abort(x.pair.a.weir, x.client);
        pair_run(&x.pair, 1000);
        pair_close(&x.pair);
    }
}

// Whatever bit is wrong, in Ethernet, IP or TCP header or the data: nothing wrong is delivered, and the counters tell as they always do.
static void every_wrong_bit_is_noticed(void **state)
{
    struct flow x;
    (void)state;
    begin(&x);
    move(&x, 100000);
    x.flip_every = 9;
    while (x.flipped < 80 * 8)
        move(&x, 100000);
    assert_true(fixture_count(&x.pair.b, WEIR_COUNT_TCP_BAD_CHECKSUM) > 200);
    assert_true(fixture_count(&x.pair.b, WEIR_COUNT_IP_BAD_CHECKSUM) > 60);
    assert_true(fixture_count(&x.pair.b, WEIR_COUNT_ETHERNET_OTHER) > 30);
    pair_close(&x.pair);
}

// What the short cut knows ends when what it rests on does.
static void a_new_neighbour_is_heeded_at_once(void **state)
{
    static const uint8_t elsewhere[6] = {2, 9, 9, 9, 9, 9};
    struct flow x;
    (void)state;
    begin(&x);
    move(&x, 50000);
    assert_int_equal(weir_neighbour_add_static(x.pair.a.weir, &x.pair.a.netif, PAIR_B, elsewhere), WEIR_OK);
    assert_int_equal(weir_socket_write(x.pair.a.weir, x.client, "x", 1), 1);
    pair_run(&x.pair, 1000);
    assert_memory_equal(x.mac, elsewhere, 6);
    pair_close(&x.pair);
}

static void a_changed_address_is_heeded_at_once(void **state)
{
    struct flow x;
    uint8_t byte;
    (void)state;
    begin(&x);
    move(&x, 50000);
    assert_int_equal(weir_netif_set_address(&x.pair.b.netif, weir_ip4(10, 0, 0, 77), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(weir_socket_write(x.pair.a.weir, x.client, "x", 1), 1);
    pair_run(&x.pair, 100000);
    assert_int_equal(weir_socket_read(x.pair.b.weir, x.server, &byte, 1), WEIR_AGAIN);
    assert_true(fixture_count(&x.pair.b, WEIR_COUNT_IP_NOT_OURS) > 0);
    pair_close(&x.pair);
}

static void an_option_is_heeded_at_once(void **state)
{
    struct flow x;
    (void)state;
    begin(&x);
    move(&x, 50000);
    assert_int_equal(x.ttl, 64);
    assert_int_equal(weir_socket_set(x.pair.a.weir, x.client, WEIR_OPTION_TTL, 9), WEIR_OK);
    move(&x, 5000);
    assert_int_equal(x.ttl, 9);
    pair_close(&x.pair);
}

static void tap_frame(struct weir_tap *self, const struct weir_netif *netif, bool outgoing, const struct weir_slice *slices, uint16_t count,
                      uint64_t now_us)
{
    (void)netif, (void)outgoing, (void)slices, (void)count, (void)now_us;
    ++*(uint64_t *)self->context;
}

// Interfaces count, and taps see, every frame, in and out.
static void nothing_is_hidden(void **state)
{
    struct flow x;
    (void)state;
    begin(&x);
    move(&x, 100000);
    struct weir_tap tap = {.frame = tap_frame, .context = &x.tapped};
    const struct weir_netif_stats before = x.pair.b.netif.stats;
    weir_tap_add(x.pair.b.weir, &tap);
    move(&x, 100000);
    pair_run(&x.pair, 1000000);
    const struct weir_netif_stats after = x.pair.b.netif.stats;
    assert_true(x.tapped > 60);
    assert_int_equal(x.tapped, after.rx_frames - before.rx_frames + after.tx_frames - before.tx_frames);
    assert_true(after.rx_bytes - before.rx_bytes > 100000);
    weir_tap_remove(x.pair.b.weir, &tap);
    pair_close(&x.pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_sides_take_their_lane),
        cmocka_unit_test(every_wrong_bit_is_noticed),
        cmocka_unit_test(a_driver_that_is_full_is_left_alone),
        cmocka_unit_test(a_new_neighbour_is_heeded_at_once),
        cmocka_unit_test(a_changed_address_is_heeded_at_once),
        cmocka_unit_test(an_option_is_heeded_at_once),
        cmocka_unit_test(nothing_is_hidden),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
