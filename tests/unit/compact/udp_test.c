// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny
// COMPACT_UDP: datagram sockets of the compact stack, which hold one datagram and answer it. A stack of its own, built
// with the option.
#define WEIR_CFG_COMPACT_UDP 1
#define WEIR_CFG_DATAGRAM_SOCKETS 2
#define WEIR_CFG_OUTBOX_BYTES 600
#define weir_socket_peek_message serving_socket_peek_message
#define weir_socket_send_message serving_socket_send_message
#define weir_socket_discard serving_socket_discard
#include "serving.c"

#include "compact/udp.c"

#if WEIR_CFG_IP4
#include "compact/datagram4.h"
#else
#include "compact/datagram6.h"
#endif

#define PORT 9
#define DATA_AT (HEADERS + UDP_BYTES)

static uint8_t last[1600];
static uint32_t frames, last_length;
static uint64_t now_us;
static bool full, settling;
static struct serving *s;

static bool tx(void *context, const uint8_t *frame, uint32_t length)
{
    (void)context;
    if (full)
        return false;
    if (!settling || !frames)  // of which the first frame of a turn is looked at
        memcpy(last, frame, length);
    last_length = length;
    frames++;
    return true;
}

static int setup(void **state)
{
    (void)state;
    full = false;
    now_us = 1000000;
    s = serving_open(server_mac, SERVER_NUMBER, SERVING_ECHO, tx, NULL, now_us);
    settling = true;
    settle(s, last, &frames, &now_us);
    settling = false;
    frames = 0;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    serving_close(s);
    return 0;
}

enum sum { RIGHT, NONE, WRONG };

// A datagram of `length` bytes that says `told` of its length, in a packet with `padding` bytes behind it.
static void in_as(host source, uint16_t port, uint16_t to, uint32_t length, uint32_t told, uint32_t padding,
                  enum sum sum)
{
    uint8_t bytes[1600] = {0}, *udp = bytes + HEADERS;
    const uint32_t total = UDP_BYTES + length;
    put16(udp, port);
    put16(udp + 2, to);
    put16(udp + 4, told);
    for (uint32_t i = 0; i < length; i++)
        udp[UDP_BYTES + i] = serving_pattern(i);
    if (sum != NONE)
        checksum_put(udp + 6, datagram_sum(source, udp, told, total));
    udp[UDP_BYTES] ^= sum == WRONG;
    wrap_from(bytes, source, total + padding);
    serving_input(s, bytes, HEADERS + total + padding);
}

static void in(host source, uint16_t port, uint32_t length)
{
    in_as(source, port, PORT, length, UDP_BYTES + length, 0, RIGHT);
}

static weir_socket bound(void)
{
    const weir_socket socket = weir_socket_open(s->weir, WEIR_DATAGRAM, 0);
    assert_true(socket > 0);
    assert_int_equal(weir_socket_bind(s->weir, socket, &(struct weir_endpoint){weir_addr_any(), PORT}), WEIR_OK);
    return socket;
}

static int answer(weir_socket socket, const struct weir_message *message, const void *data, uint32_t bytes)
{
    const struct weir_slice slice = {data, bytes};
    return weir_socket_send_message(s->weir, socket, message, &slice, 1);
}

// Takes the datagram and answers with it, out of its own memory.
static int echo_datagram(weir_socket socket)
{
    struct weir_message message;
    struct weir_slice slice;
    const int got = weir_socket_peek_message(s->weir, socket, &message, &slice);
    if (got < 0)
        return got;
    assert_int_equal(message.length, got);
    assert_int_equal(slice.length, got);
    assert_true(weir_addr_equal(message.local, host_address(SERVER)));
    const int sent = answer(socket, &message, slice.data, slice.length);
    assert_int_equal(weir_socket_discard(s->weir, socket), WEIR_OK);
    return sent;
}

static bool last_is_whole(host to, uint16_t port, uint32_t length)
{
    const uint8_t *udp = last + HEADERS;
    return last_length == DATA_AT + length && !memcmp(last, peer_mac, 6) && wrapped_for(last, last_length, to) &&
           get16(udp) == PORT && get16(udp + 2) == port && get16(udp + 4) == UDP_BYTES + length && get16(udp + 6) &&
           datagram_sum(to, udp, UDP_BYTES + length, UDP_BYTES + length) == 0xffff;
}

static void datagrams_are_answered(void **state)
{
    static const uint32_t lengths[] = {0, 1, 2, 100, 511, 512};
    const weir_socket socket = bound();
    uint32_t events;
    (void)state;
    for (uint32_t i = 0; i < 6; i++) {
        assert_int_equal(weir_socket_ready(s->weir, socket), WEIR_WRITABLE);
        assert_int_equal(echo_datagram(socket), WEIR_AGAIN);
        in(i % 2 ? OTHER : PEER, (uint16_t)(1000 + i), lengths[i]);
        assert_int_equal(weir_ready_next(s->weir, &events), socket);
        assert_int_equal(events, WEIR_READABLE);
        assert_int_equal(weir_socket_ready(s->weir, socket), WEIR_READABLE | WEIR_WRITABLE);
        assert_int_equal(echo_datagram(socket), lengths[i]);
        assert_true(weir_output_pending(s->weir));
        serving_turn(s, now_us);
        assert_int_equal(frames, i + 1);
        assert_true(last_is_whole(i % 2 ? OTHER : PEER, (uint16_t)(1000 + i), lengths[i]));
        for (uint32_t at = 0; at < lengths[i]; at++)
            assert_int_equal(last[DATA_AT + at], serving_pattern(at));
    }
}

static void damaged_datagrams_are_dropped(void **state)
{
    const weir_socket socket = bound();
    (void)state;
    in_as(PEER, 1000, PORT, 10, UDP_BYTES + 10, 0, WRONG);
    assert_int_equal(echo_datagram(socket), WEIR_AGAIN);
    in_as(PEER, 1000, PORT, 10, UDP_BYTES - 1, 0, RIGHT);
    assert_int_equal(echo_datagram(socket), WEIR_AGAIN);
    in_as(PEER, 1000, PORT, 10, UDP_BYTES + 11, 0, RIGHT);
    assert_int_equal(echo_datagram(socket), WEIR_AGAIN);
    in_as(PEER, 1000, PORT + 1, 10, UDP_BYTES + 10, 0, RIGHT);  // nobody's
    assert_int_equal(echo_datagram(socket), WEIR_AGAIN);
    in(PEER, 1000, 513);  // longer than the socket's memory
    assert_int_equal(echo_datagram(socket), WEIR_AGAIN);
    assert_int_equal(s->netif.stats.rx_dropped, 2);
    in_as(PEER, 1000, PORT, 10, UDP_BYTES + 10, 0, NONE);  // without a sum
    assert_int_equal(echo_datagram(socket), SUM_MAY_BE_NONE ? 10 : WEIR_AGAIN);
    in_as(PEER, 1000, PORT, 10, UDP_BYTES + 10, 8, RIGHT);  // the packet goes on behind it
    assert_int_equal(echo_datagram(socket), 10);
    serving_turn(s, now_us);
    assert_int_equal(frames, SUM_MAY_BE_NONE ? 2 : 1);
}

static void a_socket_holds_one_and_answers_whom_it_heard(void **state)
{
    const weir_socket socket = bound();
    struct weir_message message, second;
    struct weir_slice slice;
    (void)state;
    in(PEER, 1000, 5);
    in(PEER, 1001, 6);  // lost
    assert_int_equal(s->netif.stats.rx_dropped, 1);
    assert_int_equal(weir_socket_peek_message(s->weir, socket, &message, &slice), 5);
    assert_int_equal(weir_socket_discard(s->weir, socket), WEIR_OK);
    assert_int_equal(weir_socket_discard(s->weir, socket), WEIR_AGAIN);
    in(OTHER, 1002, 7);  // while the first is being worked on
    assert_int_equal(answer(socket, &message, "answer", 6), 6);
    serving_turn(s, now_us);
    assert_true(last_is_whole(PEER, 1000, 6));
    assert_int_equal(weir_socket_peek_message(s->weir, socket, &second, &slice), 7);
    assert_int_equal(answer(socket, &message, "late", 4), WEIR_NO_ROUTE);  // its link address is gone
    assert_int_equal(answer(socket, &second, "now", 3), 3);
    serving_turn(s, now_us);
    assert_true(last_is_whole(OTHER, 1002, 3));
    second.peer.port++;
    assert_int_equal(answer(socket, &second, "whom", 4), WEIR_NO_ROUTE);
    assert_int_equal(answer(socket, &(struct weir_message){0}, "whom", 4), WEIR_NO_ROUTE);
    assert_int_equal(frames, 2);
}

static void without_room_it_waits_and_is_told(void **state)
{
    static const uint8_t data[513];
    const weir_socket socket = bound();
    struct weir_message message;
    struct weir_slice slice;
    uint32_t events;
    (void)state;
    in(PEER, 1000, 1);
    assert_int_equal(weir_socket_peek_message(s->weir, socket, &message, &slice), 1);
    assert_int_equal(answer(socket, &message, data, 513), WEIR_TOO_BIG);
    assert_int_equal(weir_ready_next(s->weir, &events), socket);
    assert_int_equal(answer(socket, &message, data, 512), 512);
    assert_int_equal(answer(socket, &message, data, 100), WEIR_AGAIN);
    assert_int_equal(weir_socket_ready(s->weir, socket), WEIR_READABLE);
    full = true;
    weir_poll(s->weir, now_us);
    assert_int_equal(frames, 0);
    full = false;
    weir_tx_ready(&s->netif);
    weir_poll(s->weir, now_us);
    assert_int_equal(frames, 1);
    assert_int_equal(weir_ready_next(s->weir, &events), socket);
    assert_int_equal(events, WEIR_WRITABLE);
    assert_int_equal(answer(socket, &message, data, 100), 100);
    assert_int_equal(weir_netif_set_up(&s->netif, true), WEIR_OK);
    s->netif.mtu = HEADERS - ETHERNET_BYTES + UDP_BYTES + 99;
    assert_int_equal(answer(socket, &message, data, 100), WEIR_TOO_BIG);
}

// RFC 768: a sum that comes out as 0 is sent as all ones, for 0 says that there is none.
static void no_answer_is_without_a_sum(void **state)
{
    const weir_socket socket = bound();
    struct weir_message message;
    struct weir_slice slice;
    uint32_t ones = 0;
    (void)state;
    in(PEER, 1000, 1);
    assert_int_equal(weir_socket_peek_message(s->weir, socket, &message, &slice), 1);
    for (uint32_t value = 0; value < 65536; value++) {
        uint8_t bytes[2];
        put16(bytes, value);
        assert_int_equal(answer(socket, &message, bytes, 2), 2);
        weir_poll(s->weir, now_us);
        assert_true(last_is_whole(PEER, 1000, 2));
        ones += get16(last + HEADERS + 6) == 0xffff;
    }
    assert_int_equal(ones, 1);
}

static void sockets_are_opened_bound_and_closed(void **state)
{
    const struct weir_endpoint port = {weir_addr_any(), PORT}, none = {weir_addr_any(), 0},
                               elsewhere = {host_address(PEER), PORT};
    struct weir_endpoint local;
    (void)state;
    const weir_socket first = bound(), second = weir_socket_open(s->weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_open(s->weir, WEIR_DATAGRAM, 0), WEIR_NO_MEMORY);
    assert_int_equal(weir_socket_open(s->weir, WEIR_RAW, 1), WEIR_NOT_SUPPORTED);
    assert_int_equal(weir_socket_bind(s->weir, second, &port), WEIR_IN_USE);
    assert_int_equal(weir_socket_bind(s->weir, second, &none), WEIR_INVALID);
    assert_int_equal(weir_socket_bind(s->weir, second, &elsewhere), WEIR_NO_ADDRESS);
    assert_int_equal(weir_socket_bind(s->weir, second, &(struct weir_endpoint){bindable(), SERVING_PORT}),
                     WEIR_OK);  // TCP's is another
    assert_int_equal(weir_socket_local(s->weir, second, &local), WEIR_OK);
    assert_int_equal(local.port, SERVING_PORT);
    in(PEER, 1000, 10);
    assert_int_equal(weir_socket_close(s->weir, first), WEIR_OK);
    assert_int_equal(weir_socket_ready(s->weir, first), WEIR_BAD_SOCKET);
    assert_int_equal(echo_datagram(first), WEIR_BAD_SOCKET);
    assert_int_equal(answer(first, &(struct weir_message){.peer = {host_address(PEER), 1000}}, "", 0), WEIR_BAD_SOCKET);
    in(PEER, 1000, 10);  // nobody is there
    const weir_socket again = weir_socket_open(s->weir, WEIR_DATAGRAM, 0);
    in_as(PEER, 1000, 0, 10, UDP_BYTES + 10, 0, RIGHT);  // nobody is at port 0
    assert_int_equal(weir_socket_ready(s->weir, again), WEIR_WRITABLE);
    assert_int_equal(weir_socket_bind(s->weir, again, &port), WEIR_OK);
    assert_int_equal(echo_datagram(again), WEIR_AGAIN);  // what the one before it held is gone
    assert_int_equal(weir_socket_read(s->weir, again, &local, 1), WEIR_BAD_SOCKET);
    assert_int_equal(weir_socket_listen(s->weir, again, 1), WEIR_BAD_SOCKET);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
    const struct CMUnitTest tests[] = {
        TEST(datagrams_are_answered),
        TEST(damaged_datagrams_are_dropped),
        TEST(a_socket_holds_one_and_answers_whom_it_heard),
        TEST(without_room_it_waits_and_is_told),
        TEST(no_answer_is_without_a_sum),
        TEST(sockets_are_opened_bound_and_closed),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
