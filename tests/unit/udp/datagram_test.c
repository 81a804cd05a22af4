// SPDX-License-Identifier: BSD-2-Clause
// The queues of datagram sockets, sending, errors, options, closing.
#include "ip/packets.h"

#define PORT 7000

static void sends_what_was_given(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    uint32_t length;
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    const struct weir_slice slices[] = {{(const uint8_t *)"one", 3},
                                        {(const uint8_t *)"", 0},
                                        {(const uint8_t *)"twenty", 6},
                                        {(const uint8_t *)"x", 1}};
    const struct weir_message message = {.peer = {PEER, 9}, .ttl = 3, .tos = 0x10};
    assert_int_equal(weir_socket_send_message(f.weir, s, &message, slices, 4), 10);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_poll(&f, 1000);
    const uint8_t *bytes = sent_packet(&f, 0, &ip, &length);
    assert_int_equal(length, UDP_BYTES + 10);
    assert_memory_equal(bytes + UDP_BYTES, "onetwentyx", 10);
    assert_int_equal(get16(bytes), PORT);
    assert_int_equal(get16(bytes + 2), 9);
    assert_int_equal(get16(bytes + 4), 18);
    assert_int_equal(ip.ttl, 3);
    assert_int_equal(ip.tos, 0x10);
    assert_int_equal(
        checksum_add(ip4_pseudo_sum(ip.source, ip.destination, IP_UDP, length), checksum_sum_portable(bytes, length)),
        0xffff);
    assert_int_equal(send_to(&f, s, PEER, 9, NULL, 0), 0);  // an empty datagram is one
    fixture_poll(&f, 1000);
    sent_packet(&f, 1, &ip, &length);
    assert_int_equal(length, UDP_BYTES);
    assert_int_equal(ip.ttl, 64);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_SENT), 2);
    fixture_close(&f);
}

static void errors_are_told_at_once_where_they_are_known(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    const struct weir_message nowhere = {.length = 0}, foreign = {.peer = {PEER, 9}, .local = OTHER};
    const struct weir_slice slice = {(const uint8_t *)"x", 1};
    assert_int_equal(weir_socket_send_message(f.weir, s, &nowhere, &slice, 1), WEIR_NOT_CONNECTED);
    assert_int_equal(weir_socket_send_message(f.weir, s, &foreign, &slice, 1), WEIR_NO_ADDRESS);
    assert_int_equal(send_to(&f, s, PEER, 0, "x", 1), WEIR_INVALID);
    assert_int_equal(send_to(&f, s, FAR, 9, "x", 1), WEIR_NO_ROUTE);
    assert_int_equal(send_to(&f, s, weir_ip4(255, 255, 255, 255), 9, "x", 1), WEIR_PERMISSION);
    assert_int_equal(send_to(&f, s, weir_ip4(10, 0, 0, 255), 9, "x", 1), WEIR_PERMISSION);
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_BROADCAST, 1), WEIR_OK);
    assert_int_equal(send_to(&f, s, weir_ip4(255, 255, 255, 255), 9, "x", 1), 1);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 1);
    const struct weir_slice huge[2] = {{(const uint8_t *)"x", 65507}, {(const uint8_t *)"x", 0xffffff00u}};
    const struct weir_message to_peer = {.peer = {PEER, 9}};
    // the sum of lengths does not wrap
    assert_int_equal(weir_socket_send_message(f.weir, s, &to_peer, huge, 2), WEIR_TOO_BIG);
    fixture_close(&f);
}

static void first_send_takes_a_port(void **state)
{
    (void)state;
    struct fixture f;
    struct weir_endpoint local;
    open_raw(&f);
    const weir_socket s = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(send_to(&f, s, PEER, 9, "x", 1), 1);
    assert_int_equal(weir_socket_local(f.weir, s, &local), WEIR_OK);
    assert_in_range(local.port, 49152, 65535);
    fixture_close(&f);
}

static void connect_fixes_peer_and_source(void **state)
{
    (void)state;
    struct fixture f;
    struct weir_endpoint end;
    open_raw(&f);
    const weir_socket s = socket_connected(&f, PORT, PEER, 53);
    assert_int_equal(weir_socket_local(f.weir, s, &end), WEIR_OK);
    assert_true(weir_addr_equal(end.addr, OURS));
    const struct weir_message plain = {.length = 0};
    const struct weir_slice slice = {(const uint8_t *)"x", 1};
    assert_int_equal(weir_socket_send_message(f.weir, s, &plain, &slice, 1), 1);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 1);
    // Back to nothing: the address chosen by connect goes, the port stays.
    assert_int_equal(weir_socket_connect(f.weir, s, &(struct weir_endpoint){weir_addr_any(), 0}), WEIR_OK);
    assert_int_equal(weir_socket_local(f.weir, s, &end), WEIR_OK);
    assert_true(weir_addr_is_any(end.addr));
    assert_int_equal(end.port, PORT);
    assert_int_equal(weir_socket_send_message(f.weir, s, &plain, &slice, 1), WEIR_NOT_CONNECTED);
    assert_int_equal(weir_socket_connect(f.weir, s, &(struct weir_endpoint){FAR, 53}), WEIR_NO_ROUTE);
    assert_int_equal(weir_socket_connect(f.weir, s, &(struct weir_endpoint){weir_ip4(255, 255, 255, 255), 53}),
                     WEIR_PERMISSION);
    fixture_close(&f);
}

static void receive_queue_is_bounded(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t payload[1000] = {0};
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_RECEIVE_BUFFER, 8000), WEIR_OK);
    for (int i = 0; i < 100; i++)
        input_udp(&f, PEER, OURS, 9, PORT, payload, sizeof payload);
    uint32_t got = 0;
    while (take(&f, s, NULL, 0, NULL) >= 0)
        got++;
    assert_in_range(got, 3, 8);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_UDP_QUEUE_FULL), 100 - got);
    input_udp(&f, PEER, OURS, 9, PORT, payload, sizeof payload);
    assert_int_equal(take(&f, s, NULL, 0, NULL), 1000);
    fixture_close(&f);
}

static void send_queue_is_bounded_and_tells_of_room(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t payload[1000] = {0};
    uint32_t events;
    open_raw(&f);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_SEND_BUFFER, 8000), WEIR_OK);
    assert_true(weir_socket_ready(f.weir, s) & WEIR_WRITABLE);
    while (weir_ready_next(f.weir, &events)) {}
    f.block_tx = true;
    int sent = 0, error;
    while ((error = send_to(&f, s, PEER, 9, payload, sizeof payload)) > 0)
        sent++;
    assert_int_equal(error, WEIR_AGAIN);
    assert_in_range(sent, 3, 8);
    int32_t unsent;
    assert_int_equal(weir_socket_get(f.weir, s, WEIR_OPTION_UNSENT_BYTES, &unsent), WEIR_OK);
    assert_int_equal(unsent, sent * 1000);
    assert_false(weir_socket_ready(f.weir, s) & WEIR_WRITABLE);
    fixture_poll(&f, 10000);
    assert_int_equal(weir_ready_next(f.weir, &events), 0);
    fixture_unblock(&f, 10000);
    assert_int_equal(fixture_sent_count(&f), sent);
    assert_int_equal(weir_ready_next(f.weir, &events), s);
    assert_true(events & WEIR_WRITABLE);
    assert_int_equal(send_to(&f, s, PEER, 9, payload, 9000), WEIR_TOO_BIG);  // would never fit
    fixture_close(&f);
}

static void low_water_holds_readiness_back(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    assert_int_equal(weir_socket_set(f.weir, s, WEIR_OPTION_RECEIVE_LOW_WATER, 10), WEIR_OK);
    input_udp(&f, PEER, OURS, 9, PORT, "12345", 5);
    assert_false(weir_socket_ready(f.weir, s) & WEIR_READABLE);
    input_udp(&f, PEER, OURS, 9, PORT, "12345", 5);
    assert_true(weir_socket_ready(f.weir, s) & WEIR_READABLE);
    int32_t next;
    assert_int_equal(weir_socket_get(f.weir, s, WEIR_OPTION_READABLE_BYTES, &next), WEIR_OK);
    assert_int_equal(next, 5);  // of the next datagram, as FIONREAD has it
    fixture_close(&f);
}

static void own_addresses_are_reached(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t payload[60000], got[60000];
    struct weir_message message;
    open_raw(&f);
    fill(payload, sizeof payload, 1);
    const weir_socket a = socket_bound(&f, weir_addr_any(), PORT), b = socket_bound(&f, weir_addr_any(), PORT + 1);
    assert_int_equal(send_to(&f, a, weir_ip4(127, 0, 0, 1), PORT + 1, payload, sizeof payload), sizeof payload);
    assert_int_equal(send_to(&f, a, OURS, PORT + 1, payload, 10), 10);
    fixture_poll(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 0);
    assert_int_equal(take(&f, b, got, sizeof got, &message), sizeof payload);
    assert_memory_equal(got, payload, sizeof payload);
    assert_int_equal(weir_addr_to_v4(message.peer.addr), weir_addr_to_v4(weir_ip4(127, 0, 0, 1)));
    assert_int_equal(take(&f, b, NULL, 0, &message), 10);
    assert_true(weir_addr_equal(message.peer.addr, OURS));
    // Nobody there: a connected socket learns of it.
    const weir_socket c = socket_connected(&f, PORT + 2, weir_ip4(127, 0, 0, 1), 1);
    assert_int_equal(send_to(&f, c, weir_ip4(127, 0, 0, 1), 1, "x", 1), 1);
    fixture_poll(&f, 1000);
    assert_true(weir_socket_ready(f.weir, c) & WEIR_ERROR);
    assert_int_equal(take(&f, c, NULL, 0, NULL), WEIR_REFUSED);
    assert_int_equal(take(&f, c, NULL, 0, NULL), WEIR_AGAIN);
    fixture_close(&f);
}

static void close_still_sends(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    f.block_tx = true;
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    for (int i = 0; i < 3; i++)
        assert_int_equal(send_to(&f, s, PEER, 9, "bye", 3), 3);
    fixture_poll(&f, 1000);
    assert_int_equal(weir_socket_close(f.weir, s), WEIR_OK);
    (void)socket_bound(&f, weir_addr_any(), PORT);  // the port is free at once
    fixture_unblock(&f, 1000);
    assert_int_equal(fixture_sent_count(&f), 3);
    assert_null(f.weir->udp.closed);
    // One that never gets to send is freed with the instance (fixture_close counts).
    const weir_socket last = socket_bound(&f, weir_addr_any(), 0);
    f.block_tx = true;
    send_to(&f, last, PEER, 9, "x", 1);
    fixture_poll(&f, 1000);
    weir_socket_close(f.weir, last);
    fixture_close(&f);
}

static void silent_neighbour_is_an_error_of_the_connected(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, &weir_link_ethernet, OURS, 24, 0);
    const weir_socket s = socket_connected(&f, PORT, PEER, 53), closed = socket_bound(&f, weir_addr_any(), 0);
    assert_int_equal(send_to(&f, s, PEER, 53, "x", 1), 1);
    assert_int_equal(send_to(&f, closed, OTHER, 53, "x", 1), 1);
    fixture_poll(&f, 1000);
    weir_socket_close(f.weir, closed);
    fixture_poll(&f, 10000000);
    assert_int_equal(take(&f, s, NULL, 0, NULL), WEIR_HOST_UNREACHABLE);
    int32_t unsent;
    weir_socket_get(f.weir, s, WEIR_OPTION_UNSENT_BYTES, &unsent);
    assert_int_equal(unsent, 0);
    assert_null(f.weir->udp.closed);
    fixture_close(&f);
}

static void instance_ends_while_a_closed_socket_waits(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, &weir_link_ethernet, OURS, 24, 0);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    assert_int_equal(send_to(&f, s, PEER, 53, "x", 1), 1);
    fixture_poll(&f, 1000);
    weir_socket_close(f.weir, s);
    assert_non_null(f.weir->udp.closed);
    fixture_close(&f);
}

static void neighbour_found_lets_it_go(void **state)
{
    (void)state;
    struct fixture f;
    fixture_open(&f, &weir_link_ethernet, OURS, 24, 0);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    for (int i = 0; i < 5; i++)
        assert_int_equal(send_to(&f, s, PEER, 53, "x", 1), 1);
    fixture_poll(&f, 1000);
    fixture_clear(&f);
    fixture_know_peer(&f, PEER);
    fixture_poll(&f, 3000000);
    uint32_t datagrams = 0;
    for (uint32_t i = 0; i < fixture_sent_count(&f); i++) {
        uint32_t length;
        datagrams += get16(fixture_sent(&f, i, &length) + 12) == 0x0800;
    }
    assert_int_equal(datagrams, 5);
    fixture_close(&f);
}

static void shutdown_ends_directions(void **state)
{
    (void)state;
    struct fixture f;
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    assert_int_equal(weir_socket_shutdown(f.weir, s, WEIR_SHUT_WRITE), WEIR_NOT_CONNECTED);
    assert_int_equal(weir_socket_connect(f.weir, s, &(struct weir_endpoint){PEER, 53}), WEIR_OK);
    assert_int_equal(weir_socket_shutdown(f.weir, s, WEIR_SHUT_WRITE), WEIR_OK);
    assert_int_equal(send_to(&f, s, PEER, 53, "x", 1), WEIR_SHUT_DOWN);
    input_udp(&f, PEER, OURS, 53, PORT, "x", 1);
    assert_int_equal(weir_socket_shutdown(f.weir, s, WEIR_SHUT_READ), WEIR_OK);
    assert_int_equal(take(&f, s, NULL, 0, NULL), 1);  // what had come is still there
    input_udp(&f, PEER, OURS, 53, PORT, "x", 1);
    assert_true(take(&f, s, NULL, 0, NULL) <= 0);
    assert_true(weir_socket_ready(f.weir, s) & WEIR_HANGUP);
    fixture_close(&f);
}

static void options_are_kept_or_refused(void **state)
{
    (void)state;
    static const struct {
        enum weir_option option;
        int32_t value;
        int result;
    } rows[] = {
        {WEIR_OPTION_TTL, 5, WEIR_OK},
        {WEIR_OPTION_TTL, 0, WEIR_INVALID},
        {WEIR_OPTION_TTL, 256, WEIR_INVALID},
        {WEIR_OPTION_TOS, 0xb8, WEIR_OK},
        {WEIR_OPTION_MULTICAST_TTL, 0, WEIR_OK},
        {WEIR_OPTION_MULTICAST_LOOP, 0, WEIR_OK},
        {WEIR_OPTION_DONT_FRAGMENT, 1, WEIR_OK},
        {WEIR_OPTION_SEND_BUFFER, 4096, WEIR_OK},
        {WEIR_OPTION_RECEIVE_BUFFER, 4096, WEIR_OK},
        {WEIR_OPTION_RECEIVE_LOW_WATER, 9, WEIR_OK},
        {WEIR_OPTION_NO_DELAY, 1, WEIR_NOT_SUPPORTED},
        {WEIR_OPTION_HEADER_INCLUDED, 1, WEIR_NOT_SUPPORTED},
        {WEIR_OPTION_MTU, 1, WEIR_NOT_SUPPORTED},
    };
    struct fixture f;
    open_raw(&f);
    const weir_socket s = socket_bound(&f, weir_addr_any(), PORT);
    for (unsigned i = 0; i < sizeof rows / sizeof rows[0]; i++) {
        int32_t value = -1;
        assert_int_equal(weir_socket_set(f.weir, s, rows[i].option, rows[i].value), rows[i].result);
        if (rows[i].result)
            continue;
        assert_int_equal(weir_socket_get(f.weir, s, rows[i].option, &value), WEIR_OK);
        assert_int_equal(value, rows[i].value);
    }
    int32_t type;
    assert_int_equal(weir_socket_get(f.weir, s, WEIR_OPTION_TYPE, &type), WEIR_OK);
    assert_int_equal(type, WEIR_DATAGRAM);
    assert_int_equal(weir_socket_get(f.weir, s, WEIR_OPTION_MTU, &type), WEIR_NOT_CONNECTED);
    fixture_close(&f);
}

static void failing_allocations_are_survived(void **state)
{
    (void)state;
    for (uint32_t fail = 1; fail < 20; fail++) {
        struct fixture f;
        open_raw(&f);
        f.fail_at = fail;
        const weir_socket s = weir_socket_open(f.weir, WEIR_DATAGRAM, 0);
        if (s > 0 && weir_socket_bind(f.weir, s, &(struct weir_endpoint){weir_addr_any(), PORT}) == WEIR_OK) {
            for (int i = 0; i < 6; i++) {
                input_udp(&f, PEER, OURS, 9, PORT, "abc", 3);
                (void)send_to(&f, s, PEER, 9, "abc", 3);
                (void)send_to(&f, s, OURS, PORT, "abc", 3);
                fixture_poll(&f, 1000);
            }
        }
        f.fail_at = 0;
        fixture_close(&f);
    }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(sends_what_was_given),
        cmocka_unit_test(errors_are_told_at_once_where_they_are_known),
        cmocka_unit_test(first_send_takes_a_port),
        cmocka_unit_test(connect_fixes_peer_and_source),
        cmocka_unit_test(receive_queue_is_bounded),
        cmocka_unit_test(send_queue_is_bounded_and_tells_of_room),
        cmocka_unit_test(low_water_holds_readiness_back),
        cmocka_unit_test(own_addresses_are_reached),
        cmocka_unit_test(close_still_sends),
        cmocka_unit_test(silent_neighbour_is_an_error_of_the_connected),
        cmocka_unit_test(instance_ends_while_a_closed_socket_waits),
        cmocka_unit_test(neighbour_found_lets_it_go),
        cmocka_unit_test(shutdown_ends_directions),
        cmocka_unit_test(options_are_kept_or_refused),
        cmocka_unit_test(failing_allocations_are_survived),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
