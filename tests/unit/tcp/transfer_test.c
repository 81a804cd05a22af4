// SPDX-License-Identifier: BSD-2-Clause
// profiles: small
// Whole transfers between two instances: every byte arrives once and in order over loss, reordering, duplication,
// corruption, small segments, small windows, and with each allocation failing in turn; and afterwards all memory has
// gone back.
#include "built.h"
#include "pair.h"
#include "tcp_fixture.h"

#include <stdlib.h>
#include <string.h>

#define PORT 7

struct transfer {
    struct pair pair;
    weir_socket client, server;
    uint32_t total[2], written[2], read[2];  // 0: client to server
    bool ended[2];
    uint32_t piece;  // bytes a call moves at the most
};

static uint8_t byte_at(uint32_t direction, uint32_t at) { return (uint8_t)(at * 31 + (at >> 7) + direction * 101); }

static void feed(struct transfer *x, uint32_t direction, struct weir *weir, weir_socket socket)
{
    uint8_t bytes[4096];
    while (x->written[direction] < x->total[direction]) {
        uint32_t want = x->total[direction] - x->written[direction];
        want = want < x->piece ? want : x->piece;
        for (uint32_t i = 0; i < want; i++)
            bytes[i] = byte_at(direction, x->written[direction] + i);
        const int got = weir_socket_write(weir, socket, bytes, want);
        if (got <= 0) {
            assert_true(got == WEIR_AGAIN || got == WEIR_NO_MEMORY);
            return;
        }
        x->written[direction] += (uint32_t)got;
        if (x->written[direction] == x->total[direction])
            assert_int_equal(weir_socket_shutdown(weir, socket, WEIR_SHUT_WRITE), WEIR_OK);
    }
}

static void drink(struct transfer *x, uint32_t direction, struct weir *weir, weir_socket socket)
{
    uint8_t bytes[4096];
    int got;
    while (!x->ended[direction] && (got = weir_socket_read(weir, socket, bytes, x->piece)) != WEIR_AGAIN) {
        assert_true(got >= 0);
        for (int i = 0; i < got; i++)
            assert_int_equal(bytes[i], byte_at(direction, x->read[direction] + (uint32_t)i));
        x->read[direction] += (uint32_t)got;
        x->ended[direction] = got == 0;
    }
}

static bool step(void *context)
{
    struct transfer *x = context;
    feed(x, 0, x->pair.a.weir, x->client);
    feed(x, 1, x->pair.b.weir, x->server);
    drink(x, 1, x->pair.a.weir, x->client);
    drink(x, 0, x->pair.b.weir, x->server);
    return x->ended[0] && x->ended[1];
}

static void run(struct transfer *x, uint32_t there, uint32_t back, uint64_t limit_us)
{
    x->total[0] = there;
    x->total[1] = back;
    x->piece = x->piece ? x->piece : 4096;
    if (!there)
        assert_int_equal(weir_socket_shutdown(x->pair.a.weir, x->client, WEIR_SHUT_WRITE), WEIR_OK);
    if (!back)
        assert_int_equal(weir_socket_shutdown(x->pair.b.weir, x->server, WEIR_SHUT_WRITE), WEIR_OK);
    assert_true(pair_run_until(&x->pair, step, x, limit_us));
    assert_int_equal(x->read[0], there);
    assert_int_equal(x->read[1], back);
    assert_int_equal(weir_socket_close(x->pair.a.weir, x->client), WEIR_OK);
    assert_int_equal(weir_socket_close(x->pair.b.weir, x->server), WEIR_OK);
}

static void transfer(const struct pair_options *options, uint32_t there, uint32_t back)
{
    struct transfer x = {0};
    pair_open(&x.pair, options);
    pair_connect(&x.pair, PORT, &x.client, &x.server);
    run(&x, there, back, 3600000000u);
    pair_close(&x.pair);
}

static void both_ways_at_once(void **state)
{
    (void)state;
    transfer(&(struct pair_options){.link = {.delay_us = 2000}}, 400000, 400000);
    transfer(&(struct pair_options){.link = {.delay_us = 20000, .rate = 1250000, .queue_frames = 50}}, 1000000, 0);
    transfer(&(struct pair_options){0}, 100000, 100000);
}

static void over_loss(void **state)
{
    (void)state;
    const uint32_t loss[] = {1000, 20000, 100000, 200000};
    for (uint32_t i = 0; i < 4; i++)
        transfer(&(struct pair_options){.link = {.delay_us = 3000, .loss_ppm = loss[i]}, .seed = i + 1}, 200000,
                 150000);
}

static void over_everything_at_once(void **state)
{
    (void)state;
    for (uint32_t seed = 1; seed < 6; seed++)
        transfer(&(struct pair_options){.link = {.delay_us = 1000,
                                                 .loss_ppm = 30000,
                                                 .reorder_ppm = 100000,
                                                 .reorder_us = 4000,
                                                 .duplicate_ppm = 50000,
                                                 .corrupt_ppm = 20000},
                                        .seed = seed},
                 150000, 150000);
}

static void over_a_small_mtu(void **state)
{
    (void)state;
    const uint16_t mtu[] = {68 + 40, 296, 576, 9000};
    for (uint32_t i = 0; i < 4; i++)
        transfer(
            &(struct pair_options){
                .link = {.delay_us = 1000, .loss_ppm = 10000}, .seed = i, .a = {.mtu = mtu[i]}, .b = {.mtu = mtu[i]}},
            60000, 60000);
}

static void with_small_buffers(void **state)
{
    (void)state;
    for (uint32_t bytes = 1; bytes < 70000; bytes *= 9) {
        const struct weir_config config = {.tcp_send_buffer_bytes = bytes, .tcp_receive_buffer_bytes = bytes};
        transfer(&(struct pair_options){.link = {.delay_us = 1000, .loss_ppm = 5000},
                                        .seed = bytes,
                                        .a = {.config = &config},
                                        .b = {.config = &config}},
                 bytes < 100 ? 300 : 50000, 1000);
    }
}

static void sequence_numbers_wrap_on_the_way(void **state)
{
    struct transfer x = {0};
    (void)state;
    pair_open(&x.pair, &(struct pair_options){.link = {.delay_us = 1000, .loss_ppm = 10000}});
    for (int i = 0; i < 2; i++) {
        pair_connect(&x.pair, (uint16_t)(PORT + i), &x.client, &x.server);
        if (i == 0) {  // the numbers follow the clock: wait until those of the same direction are about to wrap
            struct weir_endpoint local;
            assert_int_equal(weir_socket_local(x.pair.a.weir, x.client, &local), WEIR_OK);
            assert_int_equal(weir_socket_abort(x.pair.a.weir, x.client), WEIR_OK);
            assert_int_equal(weir_socket_close(x.pair.b.weir, x.server), WEIR_OK);
            pair_run(&x.pair, 16000000000u);  // nearly once round
            continue;
        }
        run(&x, 300000, 300000, 3600000000u);
    }
    pair_close(&x.pair);
}

// The n-th allocation fails, for each n, on either side; and from the n-th on all fail for a while. Nothing crashes or
// leaks, and when memory comes back the transfer ends well.
static bool fail_transfer(uint32_t n, bool onwards, bool on_server, uint64_t seed)
{
    struct transfer x = {0};
    pair_open(&x.pair, &(struct pair_options){.link = {.delay_us = 1000, .loss_ppm = 30000}, .seed = seed});
    pair_connect(&x.pair, PORT, &x.client, &x.server);
    struct fixture *f = on_server ? &x.pair.b : &x.pair.a;
    const uint32_t before = f->allocations;
    f->fail_at = n;
    f->fail_onwards = onwards;
    x.total[0] = x.total[1] = 60000;
    x.piece = 4096;
    if (!pair_run_until(&x.pair, step, &x, onwards ? 5000000 : 600000000))
        f->fail_at = 0, f->fail_onwards = false;
    const bool reached = f->allocations - before >= n;
    f->fail_at = 0;
    f->fail_onwards = false;
    run(&x, 60000, 60000, 3600000000u);
    pair_close(&x.pair);
    return reached;
}

static void with_each_allocation_failing(void **state)
{
    (void)state;
    if (!WEIR_CFG_ALLOCATOR)
        skip();
    uint32_t n = 1;
    for (bool reached = true; n < 60 && reached; n++) {
        reached = fail_transfer(n, false, false, n);
        reached |= fail_transfer(n, false, true, n);
    }
    assert_true(n > 10);
}

static void with_all_allocations_failing_for_a_while(void **state)
{
    (void)state;
    if (!WEIR_CFG_ALLOCATOR)
        skip();
    for (uint32_t n = 1; n < 25; n += 2) {
        fail_transfer(n, true, false, n);
        fail_transfer(n, true, true, n);
    }
}

// Devices that sum, cut large segments and hand merged ones up, at both ends (frames cross whole). Every fourth frame
// is lost. Returns how many of the client's frames left something to be done.
static uint32_t transfer_by_devices(struct transfer *x)
{
    static const uint8_t mac_b[6] = {0x02, 0x57, 0x45, 0x49, 0x52, 0x42};
    struct fixture *a = &x->pair.a, *b = &x->pair.b;
    const uint16_t offloads = WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TSO4;
    uint32_t left = 0;
    assert_true(fixture_open_with(a, &(struct fixture_options){.address = PAIR_A, .capabilities = offloads}));
    assert_true(
        fixture_open_with(b, &(struct fixture_options){.address = PAIR_B, .capabilities = offloads, .mac = mac_b}));
    const weir_socket listener = weir_socket_open(b->weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(b->weir, listener, &(struct weir_endpoint){weir_addr_any(), PORT}), WEIR_OK);
    assert_int_equal(weir_socket_listen(b->weir, listener, 1), WEIR_OK);
    x->client = weir_socket_open(a->weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_connect(a->weir, x->client, &(struct weir_endpoint){PAIR_B, PORT}), WEIR_IN_PROGRESS);
    fixture_run_pair(a, b, 10000);
    x->server = weir_socket_accept(b->weir, listener);
    assert_true(x->server > 0);
    for (uint32_t round = 0; !step(x); round++) {
        assert_in_range(round, 0, 20000);
        fixture_poll(a, 0);
        for (uint32_t i = 0; i < fixture_sent_count(a); i++)
            left += fixture_sent_frame(a, i)->checksum_start || fixture_sent_frame(a, i)->segment_size;
        if (round % 4 == 3)
            fixture_clear(a);
        fixture_carry(a, b);
        fixture_run_pair(a, b, round % 4 == 3 ? 250000 : 1000);
    }
    assert_int_equal(x->read[0], 500000);
    assert_int_equal(x->read[1], 100000);
    return left;
}

static void with_segmentation_by_the_device(void **state)
{
    struct transfer x = {.total = {500000, 100000}, .piece = 4096};
    struct fixture *a = &x.pair.a, *b = &x.pair.b;
    (void)state;
    assert_true(transfer_by_devices(&x) > 0);
    assert_true(a->netif.stats.tx_segments > a->netif.stats.tx_frames + 100);  // it did cut
    assert_true(b->netif.stats.rx_segments > b->netif.stats.rx_frames + 100);
    fixture_close(a);
    fixture_close(b);
}

// The same devices, and a build that leaves nothing to them.
static void nothing_is_left_to_the_device(void **state)
{
    struct transfer x = {.total = {500000, 100000}, .piece = 4096};
    struct fixture *a = &x.pair.a, *b = &x.pair.b;
    (void)state;
    assert_int_equal(transfer_by_devices(&x), 0);
    assert_true(a->netif.stats.tx_frames > 500000 / 1460);
    assert_int_equal(a->netif.stats.tx_segments, a->netif.stats.tx_frames);
    assert_int_equal(b->netif.stats.rx_segments, b->netif.stats.rx_frames);
    fixture_close(a);
    fixture_close(b);
}

static uint32_t copied_by_port;
static void port_copy(void *restrict to, const void *restrict from, size_t bytes)
{
    copied_by_port += (uint32_t)bytes;
    memcpy(to, from, bytes);
}

// What is written and read in long stretches goes by the port's routine, short ones do not.
static void the_port_copies_what_is_long(void **state)
{
    (void)state;
    for (uint32_t piece = 100; piece < 5000; piece += 3996) {
        struct transfer x = {.piece = piece};
        pair_open(&x.pair, &(struct pair_options){.link = {.delay_us = 100}});
        ((struct weir_port *)(uintptr_t)weir_port(x.pair.a.weir))->copy = port_copy;
        ((struct weir_port *)(uintptr_t)weir_port(x.pair.b.weir))->copy = port_copy;
        pair_connect(&x.pair, PORT, &x.client, &x.server);
        copied_by_port = 0;
        run(&x, 100000, 100000, 60000000);
        assert_in_range(copied_by_port, piece == 100 ? 0 : 200000, piece == 100 ? 0 : 400000);
        pair_close(&x.pair);
    }
}

// Connections one after the other: once the bounded lists of free blocks are full, nothing more stays behind.
static void memory_returns_after_many_connections(void **state)
{
    struct transfer x = {0};
    (void)state;
    pair_open(&x.pair, &(struct pair_options){.link = {.delay_us = 100}});
    uint64_t used[2] = {0, 0};
    for (int i = 0; i < 600; i++) {
        pair_connect(&x.pair, (uint16_t)(1000 + i), &x.client, &x.server);
        memset(x.total, 0, sizeof x.total);
        memset(x.written, 0, sizeof x.written);
        memset(x.read, 0, sizeof x.read);
        memset(x.ended, 0, sizeof x.ended);
        run(&x, 2000, 2000, 60000000);
        pair_run(&x.pair, 200000);
        if (i == 299 || i == 599) {
            pair_run(&x.pair, 130000000);  // TIME-WAIT ends
            used[i == 599] = weir_memory_used(x.pair.a.weir) + weir_memory_used(x.pair.b.weir);
        }
    }
    assert_int_equal(used[0], used[1]);
    pair_close(&x.pair);
}

// --- a few bytes at a time (write_small, read_small)
// ---------------------------------------------------------------------------------------

#define SMALL_BUFFER 1000u  // the queue's first piece ends within it
#define SMALL_MOST 9u       // one more than is few

// Whatever the pieces, the queue takes its limit and no byte more, tells when there is room again, and what leaves is
// what was written.
static void few_bytes_fill_the_queue(void **state)
{
    (void)state;
    for (uint32_t piece = 1; piece <= SMALL_MOST; piece++) {
        struct tcp_fixture t;
        uint8_t bytes[SMALL_MOST];
        uint32_t written = 0, taken = 0, events = 0;
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED,
                          &(struct tcp_fixture_options){.timestamps = true, .send_buffer = SMALL_BUFFER});
        for (int wrote = 1; wrote > 0; written += wrote > 0 ? (uint32_t)wrote : 0) {
            for (uint32_t i = 0; i < piece; i++)
                bytes[i] = peer_pattern(written + i);
            wrote = weir_socket_write(t.weir, t.socket, bytes, piece);
            assert_int_equal(wrote, written == SMALL_BUFFER ? WEIR_AGAIN : (int)min_u32(piece, SMALL_BUFFER - written));
        }
        assert_int_equal(written, SMALL_BUFFER);
        peer_drain(&t);
        while (weir_ready_next(t.weir, &events) > 0)
            continue;
        events = 0;
        fixture_poll(&t.f, 100000);
        while (taken < SMALL_BUFFER) {
            peer_take(&t);
            for (uint32_t i = 0; i < t.got.length; i++)
                assert_int_equal(t.got_data[i], peer_pattern(t.got_seq + i));
            taken = t.got_seq + t.got.length;
            peer_send(&t, TCP_ACK, 0, taken);
        }
        assert_int_equal(weir_ready_next(t.weir, &events), t.socket);
        assert_true(events & WEIR_WRITABLE);
        tcp_fixture_close(&t);
    }
}

static void a_few_bytes_are_refused_like_many(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, NULL);
    user_write(&t, 0, 3);  // a queue with room
    assert_int_equal(weir_socket_shutdown(t.weir, t.socket, WEIR_SHUT_WRITE), WEIR_OK);
    assert_int_equal(weir_socket_write(t.weir, t.socket, (const uint8_t *)"ab", 2), WEIR_SHUT_DOWN);
    assert_int_equal(tcp_fixture_conn(&t)->attention & ATTEND_FIN_QUEUED, ATTEND_FIN_QUEUED);
    tcp_fixture_close(&t);
}

// With the first few bytes the connection is looked after: its memory is let go of when nothing has happened for long.
static void a_few_bytes_are_something_that_happened(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.timestamps = true});
    user_write(&t, 0, 3);
    struct tcp_conn *c = tcp_fixture_conn(&t);
    c->armed &= (uint8_t) ~(1u << TCP_TIMER_LONG);
    assert_int_equal(weir_socket_write(t.weir, t.socket, (const uint8_t *)"ab", 2), 2);
    assert_true(c->armed & 1u << TCP_TIMER_LONG);
    tcp_fixture_close(&t);
}

// Whatever the pieces, what is read is what came, at its end there is no more, and a closed window opens by the way.
static void few_bytes_empty_the_queue(void **state)
{
    (void)state;
    for (uint32_t piece = 1; piece <= SMALL_MOST; piece++) {
        struct tcp_fixture t;
        uint8_t bytes[SMALL_MOST];
        uint32_t read = 0;
        tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.receive_buffer = SMALL_BUFFER});
        const uint32_t window = tcp_fixture_conn(&t)->rcv.edge - tcp_fixture_conn(&t)->rcv.nxt;
        peer_data(&t, 0, window);  // all of it
        fixture_poll(&t.f, 100000);
        peer_drain(&t);
        while (read < window) {
            const int got = weir_socket_read(t.weir, t.socket, bytes, piece);
            assert_int_equal(got, min_u32(piece, window - read));
            for (int i = 0; i < got; i++)
                assert_int_equal(bytes[i], peer_pattern(read + (uint32_t)i));
            read += (uint32_t)got;
        }
        assert_int_equal(weir_socket_read(t.weir, t.socket, bytes, piece), WEIR_AGAIN);
        fixture_poll(&t.f, 0);
        peer_expect(&t, TCP_ACK, 0, window, 0);
        assert_true(t.got.window > 0);
        tcp_fixture_close(&t);
    }
}

// RFC 6093 §3.1: a read stops at the urgent mark, however little it asks for.
static void a_few_bytes_end_at_the_urgent_mark(void **state)
{
    struct tcp_fixture t;
    uint8_t bytes[SMALL_MOST];
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, NULL);
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_URG, .length = 8, .urgent = 4});  // byte 3
    assert_int_equal(weir_socket_read(t.weir, t.socket, bytes, 8), 3);
    assert_memory_equal(bytes, ((uint8_t[]){peer_pattern(0), peer_pattern(1), peer_pattern(2)}), 3);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(both_ways_at_once),
        cmocka_unit_test(over_loss),
        cmocka_unit_test(over_everything_at_once),
        cmocka_unit_test(over_a_small_mtu),
        cmocka_unit_test(with_small_buffers),
        cmocka_unit_test(sequence_numbers_wrap_on_the_way),
        cmocka_unit_test(with_each_allocation_failing),
        cmocka_unit_test(with_all_allocations_failing_for_a_while),
        test_with(WEIR_CFG_TX_OFFLOAD, with_segmentation_by_the_device),
        test_with(!WEIR_CFG_TX_OFFLOAD, nothing_is_left_to_the_device),
        cmocka_unit_test(the_port_copies_what_is_long),
        cmocka_unit_test(few_bytes_fill_the_queue),
        cmocka_unit_test(a_few_bytes_are_refused_like_many),
        cmocka_unit_test(a_few_bytes_are_something_that_happened),
        cmocka_unit_test(few_bytes_empty_the_queue),
        test_with(WEIR_CFG_TCP_URGENT, a_few_bytes_end_at_the_urgent_mark),
        cmocka_unit_test(memory_returns_after_many_connections),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
