// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// Conversations that once went wrong (found by random_test and by Linux as a peer), each as short as it can be.
#include "pair.h"

#define PORT 7000

struct cut {
    bool from_a, from_b;  // whether the link loses everything of that side
};

static bool cut_filter(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    const struct cut *cut = context;
    (void)frame, (void)length;
    return !(from_b ? cut->from_b : cut->from_a);
}

static void open_pair(struct pair *p, struct cut *cut, uint32_t delay_us)
{
    pair_open(p, &(struct pair_options){.link = {.delay_us = delay_us}});
    *cut = (struct cut){0};
    p->filter = cut_filter;
    p->filter_context = cut;
}

static void write_all(struct weir *weir, weir_socket socket, uint32_t bytes)
{
    static const uint8_t zeroes[65536];
    while (bytes) {
        const uint32_t part = bytes < sizeof zeroes ? bytes : (uint32_t)sizeof zeroes;
        assert_int_equal(weir_socket_write(weir, socket, zeroes, part), part);
        bytes -= part;
    }
}

static uint32_t read_all(struct weir *weir, weir_socket socket)
{
    static uint8_t bytes[65536];
    uint32_t sum = 0;
    int got;
    while ((got = weir_socket_read(weir, socket, bytes, sizeof bytes)) > 0)
        sum += (uint32_t)got;
    return sum;
}

// The window was promised when the limit was larger: what the peer sends into it must find room.
static void a_lowered_buffer_keeps_its_promise(void **state)
{
    struct pair p;
    struct cut cut;
    weir_socket client, server;
    (void)state;
    open_pair(&p, &cut, 1000);
    pair_connect(&p, PORT, &client, &server);
    assert_int_equal(weir_socket_set(p.b.weir, server, WEIR_OPTION_RECEIVE_BUFFER, 1024), WEIR_OK);
    write_all(p.a.weir, client, 20000);
    pair_run(&p, 1000000);
    assert_int_equal(read_all(p.b.weir, server), 20000);
    assert_int_equal(fixture_count(&p.a, WEIR_COUNT_TCP_RTO), 0);
    pair_close(&p);
}

// A sender that probes a closed window is one byte beyond it; his acknowledgements must bear a number that the peer
// accepts.
static void an_ack_beside_a_window_probe_is_taken(void **state)
{
    struct pair p;
    weir_socket client, server;
    static const struct weir_config small = {.tcp_receive_buffer_bytes = 2000};  // no window scaling: 0 is 0
    (void)state;
    pair_open(&p, &(struct pair_options){.link = {.delay_us = 1000}, .b.config = &small});
    pair_connect(&p, PORT, &client, &server);
    write_all(p.a.weir, client, 20000);
    pair_run(&p, 30000000);  // b's window is closed, and a probes
    struct weir_tcp_info info;
    assert_int_equal(weir_socket_tcp_info(p.a.weir, client, &info), WEIR_OK);
    assert_int_equal(info.snd_wnd, 0);
    const uint32_t timeouts = fixture_count(&p.b, WEIR_COUNT_TCP_RTO);
    write_all(p.b.weir, server, 10000);
    pair_run(&p, 500000);
    assert_int_equal(read_all(p.a.weir, client), 10000);
    pair_run(&p, 500000);
    int32_t unacked = -1;
    assert_int_equal(weir_socket_get(p.b.weir, server, WEIR_OPTION_UNACKED_BYTES, &unacked), WEIR_OK);
    assert_int_equal(unacked, 0);
    assert_int_equal(fixture_count(&p.b, WEIR_COUNT_TCP_RTO), timeouts);
    pair_close(&p);
}

// Data arrives, its ACK is lost; the repetition draws an ACK that echoes the first copy's time. That is no round trip:
// taken as one, each timeout would make the next one longer for good.
static void a_lost_ack_does_not_lengthen_the_timeout(void **state)
{
    struct pair p;
    struct cut cut;
    weir_socket client, server;
    struct weir_tcp_info info;
    (void)state;
    open_pair(&p, &cut, 5000);
    pair_connect(&p, PORT, &client, &server);
    write_all(p.a.weir, client, 1000);
    pair_run(&p, 1000000);
    assert_int_equal(weir_socket_tcp_info(p.a.weir, client, &info), WEIR_OK);
    const uint32_t srtt_us = info.srtt_us;
    for (int round = 0; round < 5; round++) {
        cut.from_b = true;
        write_all(p.a.weir, client, 1000);
        pair_run(&p, 1200000);  // several timeouts
        cut.from_b = false;
        pair_run(&p, 10000000);
        assert_int_equal(weir_socket_tcp_info(p.a.weir, client, &info), WEIR_OK);
        assert_int_equal(info.inflight, 0);
        assert_in_range(info.srtt_us, srtt_us / 2, srtt_us * 2);
        assert_int_equal(info.backoff, 0);
    }
    pair_close(&p);
}

// SACK blocks take room in a header: with data both ways no frame may outgrow the link. The fixture's driver looks at
// each.
static void sack_blocks_and_data_fit_the_link(void **state)
{
    struct pair p;
    weir_socket client, server;
    (void)state;
    pair_open(&p, &(struct pair_options){.link = {.delay_us = 2000, .loss_ppm = 30000, .reorder_ppm = 100000},
                                         .seed = 5,
                                         .a.mtu = 296,
                                         .b.mtu = 296});
    pair_connect(&p, PORT, &client, &server);
    uint32_t received[2] = {0, 0};
    for (int turn = 0; turn < 2000; turn++) {
        static const uint8_t data[2000];
        if (turn < 200) {
            (void)weir_socket_write(p.a.weir, client, data, sizeof data);
            (void)weir_socket_write(p.b.weir, server, data, sizeof data);
        }
        pair_run(&p, 10000);
        received[0] += read_all(p.a.weir, client);
        received[1] += read_all(p.b.weir, server);
    }
    assert_true(received[0] > 100000 && received[1] > 100000);
    assert_true(fixture_count(&p.a, WEIR_COUNT_TCP_OUT_OF_ORDER) > 10 &&
                fixture_count(&p.b, WEIR_COUNT_TCP_OUT_OF_ORDER) > 10);
    pair_close(&p);
}

// Many connections that nobody holds any more, on a link that carries nothing: the instance can go at any time.
static void an_instance_goes_with_many_connections_closing(void **state)
{
    enum { COUNT = 300 };
    struct pair p;
    struct cut cut;
    const struct weir_endpoint local = {weir_addr_any(), PORT}, peer = {PAIR_B, PORT};
    static weir_socket clients[COUNT];
    (void)state;
    open_pair(&p, &cut, 100);
    const weir_socket listener = weir_socket_open(p.b.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(p.b.weir, listener, &local), WEIR_OK);
    assert_int_equal(weir_socket_listen(p.b.weir, listener, COUNT), WEIR_OK);
    for (int i = 0; i < COUNT; i++) {
        clients[i] = weir_socket_open(p.a.weir, WEIR_STREAM, 0);
        assert_int_equal(weir_socket_connect(p.a.weir, clients[i], &peer), WEIR_IN_PROGRESS);
    }
    pair_run(&p, 1000000);
    assert_int_equal(fixture_count(&p.b, WEIR_COUNT_TCP_ACCEPTED), COUNT);
    cut.from_a = cut.from_b = true;
    for (int i = 0; i < COUNT; i++) {
        write_all(p.a.weir, clients[i], 100);
        assert_int_equal(weir_socket_close(p.a.weir, clients[i]), WEIR_OK);
    }
    pair_run(&p, 100000);
    pair_close(&p);
}

// A SYN that could not be sent for want of memory, and its timer, leave nothing behind that later breaks the flow.
static void a_connection_survives_any_failed_allocation(void **state)
{
    (void)state;
    for (uint32_t fail_at = 1; fail_at < 12; fail_at++) {
        struct pair p;
        struct cut cut;
        weir_socket client, server;
        open_pair(&p, &cut, 1000);
        p.a.fail_at = fail_at;
        const struct weir_endpoint local = {weir_addr_any(), PORT}, peer = {PAIR_B, PORT};
        const weir_socket listener = weir_socket_open(p.b.weir, WEIR_STREAM, 0);
        assert_int_equal(weir_socket_bind(p.b.weir, listener, &local), WEIR_OK);
        assert_int_equal(weir_socket_listen(p.b.weir, listener, 1), WEIR_OK);
        uint32_t tries = 0;  // an allocation fails, not all that come after it
        while ((client = weir_socket_open(p.a.weir, WEIR_STREAM, 0)) == WEIR_NO_MEMORY) {
            assert_in_range(++tries, 1, 12);
            pair_run(&p, 1000);
        }
        assert_int_equal(weir_socket_connect(p.a.weir, client, &peer), WEIR_IN_PROGRESS);
        pair_run(&p, 10000000);
        server = weir_socket_accept(p.b.weir, listener);
        assert_true(server > 0);
        static const uint8_t data[3000];
        int sent;
        while ((sent = weir_socket_write(p.a.weir, client, data, sizeof data)) == WEIR_NO_MEMORY) {
            assert_in_range(++tries, 1, 12);
            pair_run(&p, 1000);
        }
        pair_run(&p, 10000000);
        assert_int_equal(read_all(p.b.weir, server), sent);
        pair_close(&p);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lowered_buffer_keeps_its_promise),
        cmocka_unit_test(an_ack_beside_a_window_probe_is_taken),
        cmocka_unit_test(a_lost_ack_does_not_lengthen_the_timeout),
        cmocka_unit_test(sack_blocks_and_data_fit_the_link),
        cmocka_unit_test(an_instance_goes_with_many_connections_closing),
        cmocka_unit_test(a_connection_survives_any_failed_allocation),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
