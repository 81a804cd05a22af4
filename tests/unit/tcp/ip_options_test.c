// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// IPv4 options on streams (RFC 1122 §3.2.1.8, §4.2.3.8): every segment of a connection carries those that were set, its
// data makes room for them, a listener's are inherited, and those of the peer's SYN are told.
#include "tcp/tcp_fixture.h"

#include <string.h>

#include "wire/icmp4.h"
#include "wire/ip4.h"

static const uint8_t alert[8] = {1, 0x94, 4, 0, 0, 0, 0, 0};  // padded, as they are sent

static void set_alert(struct weir *weir, weir_socket socket)
{
    assert_int_equal(weir_socket_set_ip_options(weir, socket, alert, 5), WEIR_OK);
}

static void take_with(struct tcp_fixture *t, uint8_t flags, uint32_t length)
{
    peer_take(t);
    assert_int_equal(t->got.flags & ~TCP_PSH, flags);
    assert_int_equal(t->got.length, length);
    assert_int_equal(t->got_ip_options_length, sizeof alert);
    assert_memory_equal(t->got_ip_options, alert, sizeof alert);
}

static void take_without(struct tcp_fixture *t, uint8_t flags, uint32_t length)
{
    peer_take(t);
    assert_int_equal(t->got.flags & ~TCP_PSH, flags);
    assert_int_equal(t->got.length, length);
    assert_int_equal(t->got_ip_options_length, 0);
}

static void bring_with(struct tcp_fixture *t, bool timestamps)
{
    tcp_fixture_bring(
        t, WEIR_TCP_ESTABLISHED,
        &(struct tcp_fixture_options){.open = TCP_ACTIVE, .sack = true, .timestamps = timestamps, .before = set_alert});
}

// The MSS that is announced does not shrink by them (RFC 6691 §2); what is sent does.
static void every_segment_carries_them_and_has_room(void **state)
{
    struct weir_ip_options got;
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_SYN_SENT, &(struct tcp_fixture_options){.open = TCP_ACTIVE, .before = set_alert});
    assert_int_equal(t.got_ip_options_length, sizeof alert);
    assert_memory_equal(t.got_ip_options, alert, sizeof alert);
    assert_int_equal(t.got.options.mss, 1460);
    peer_pass(&t, 1100000);
    take_with(&t, TCP_SYN, 0);  // repeated
    tcp_fixture_close(&t);
    for (int timestamps = 0; timestamps < 2; timestamps++) {
        bring_with(&t, timestamps);
        const uint32_t full = 1460 - sizeof alert - (timestamps ? 12 : 0);
        assert_int_equal(weir_socket_ip_options(t.weir, t.socket, &got), WEIR_OK);
        assert_int_equal(got.length, sizeof alert);
        for (uint32_t round = 0; round < 3; round++) {
            user_write(&t, round * (2 * full + 10), 2 * full + 10);
            take_with(&t, TCP_ACK, full);
            take_with(&t, TCP_ACK, full);
            peer_send(&t, TCP_ACK, 0, round * (2 * full + 10) + 2 * full);
            take_with(&t, TCP_ACK, 10);
            peer_send(&t, TCP_ACK, 0, (round + 1) * (2 * full + 10));
        }
        peer_data(&t, 0, 100);
        peer_pass(&t, 500000);
        take_with(&t, TCP_ACK, 0);
        peer_pass(&t, 5000000);  // what idles lets go of memory, but not of these
        user_write(&t, 3 * (2 * full + 10), 1);
        take_with(&t, TCP_ACK, 1);
        peer_send(&t, TCP_ACK, 100, 3 * (2 * full + 10) + 1);
        assert_int_equal(weir_socket_shutdown(t.weir, t.socket, WEIR_SHUT_WRITE), WEIR_OK);
        fixture_poll(&t.f, 0);
        take_with(&t, TCP_FIN | TCP_ACK, 0);
        peer_expect_nothing(&t);
        tcp_fixture_close(&t);
    }
}

static void selective_acknowledgements_go_with_them(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring_with(&t, true);
    for (uint32_t i = 0; i < 4; i++)
        peer_data(&t, 200 + 200 * i, 100);
    for (uint32_t i = 0; i < 4; i++)
        take_with(&t, TCP_ACK, 0);
    assert_int_equal(t.got.options.sack_count, 3);
    const uint32_t full = 1460 - 12 - sizeof alert - 4 - 3 * 8;
    user_write(&t, 0, 1460);
    take_with(&t, TCP_ACK, full);
    tcp_fixture_close(&t);
}

static void a_listeners_are_inherited(void **state)
{
    struct weir_ip_options got;
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_LISTEN, &(struct tcp_fixture_options){.before = set_alert});
    assert_int_equal(weir_socket_ip_options(t.weir, t.listener, &got), WEIR_OK);
    assert_int_equal(got.length, sizeof alert);
    const struct tcp_options options = {.seen = TCP_SEEN_MSS, .mss = 1460};
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN, .options = &options});
    take_with(&t, TCP_SYN | TCP_ACK, 0);
    assert_int_equal(t.got.options.mss, 1460);
    peer_pass(&t, 1100000);
    take_with(&t, TCP_SYN | TCP_ACK, 0);
    t.ours = t.got.seq + 1;
    t.theirs++;
    peer_send(&t, TCP_ACK, 0, 0);
    t.socket = weir_socket_accept(t.weir, t.listener);
    user_write(&t, 0, 3000);
    take_with(&t, TCP_ACK, 1460 - sizeof alert);
    peer_send(&t, TCP_ACK, 0, 1460 - sizeof alert);
    peer_drain(&t);
    assert_int_equal(weir_socket_set_ip_options(t.weir, t.listener, NULL, 0), WEIR_OK);  // of those to come
    t.remote.port++;
    t.theirs = 100;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN, .options = &options});
    take_without(&t, TCP_SYN | TCP_ACK, 0);
    t.remote.port--;
    assert_int_equal(weir_socket_ip_options(t.weir, t.socket, &got), WEIR_OK);
    assert_int_equal(got.length, sizeof alert);
    tcp_fixture_close(&t);
}

// A connection under way has a header template by then, and longer segments in flight.
static void they_come_and_go_on_a_connection_that_runs(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.sack = true, .timestamps = true});
    for (uint32_t round = 0; round < 3; round++) {
        user_write(&t, round * 1448, 1448);
        take_without(&t, TCP_ACK, 1448);
        peer_send(&t, TCP_ACK, 0, (round + 1) * 1448);
    }
    user_write(&t, 3 * 1448, 1448);
    take_without(&t, TCP_ACK, 1448);
    set_alert(t.weir, t.socket);
    peer_pass(&t, 1500000);
    take_with(&t, TCP_ACK, 1440);  // the probe of the tail, and shorter
    assert_int_equal(t.got_seq, 4 * 1448 - 1440);
    peer_send(&t, TCP_ACK, 0, 4 * 1448);
    peer_drain(&t);
    user_write(&t, 4 * 1448, 10);
    take_with(&t, TCP_ACK, 10);
    peer_send(&t, TCP_ACK, 0, 4 * 1448 + 10);
    assert_int_equal(weir_socket_set_ip_options(t.weir, t.socket, NULL, 0), WEIR_OK);
    user_write(&t, 4 * 1448 + 10, 1448);
    take_without(&t, TCP_ACK, 1448);
    tcp_fixture_close(&t);
}

// Two connections to one host share its flow (ip/flow.h).
static void another_connection_has_none_of_them(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED,
                      &(struct tcp_fixture_options){.sack = true, .timestamps = true, .scale = true});
    const struct tcp_fixture plain = t;
    const struct tcp_options options = {.seen = TCP_SEEN_MSS | TCP_SEEN_TIMESTAMPS, .mss = 1460};
    set_alert(t.weir, t.listener);
    t.remote.port++;
    t.theirs = 100;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_SYN, .options = &options});
    take_with(&t, TCP_SYN | TCP_ACK, 0);
    t.ours = t.got.seq + 1;
    t.theirs++;
    peer_send(&t, TCP_ACK, 0, 0);
    t.socket = weir_socket_accept(t.weir, t.listener);
    struct tcp_fixture with = t;
    struct tcp_fixture other = plain;
    for (uint32_t round = 0; round < 4; round++) {
        struct tcp_fixture *const each[] = {&with, &other};
        for (uint32_t i = 0; i < 2; i++) {
            t.socket = each[i]->socket;
            t.remote = each[i]->remote;
            t.ours = each[i]->ours;
            t.theirs = each[i]->theirs;
            t.ts_echo = each[i]->ts_echo;
            user_write(&t, round * 100, 100);
            (i ? take_without : take_with)(&t, TCP_ACK, 100);
            each[i]->ts_echo = t.ts_echo;
            peer_send(&t, TCP_ACK, round * 100, (round + 1) * 100);
            peer_data(&t, round * 100, 100);
            peer_pass(&t, 300000);
            (i ? take_without : take_with)(&t, TCP_ACK, 0);
            peer_expect_nothing(&t);
        }
    }
    assert_int_equal(weir_socket_close(t.weir, with.socket), WEIR_OK);
    t.socket = other.socket;
    tcp_fixture_close(&t);
}

// RFC 791 §3.1, RFC 1122 §3.2.1.8 (d): this host comes first in what is recorded; a time that is none of the day has
// its first bit set.
static void records_have_our_address_and_time(void **state)
{
    static const uint8_t records[28] = {7, 11, 4, 0, 0, 0, 0, 0, 0, 0, 0, 1, 68, 16, 5, 1};
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.timestamps = true});
    assert_int_equal(weir_socket_set_ip_options(t.weir, t.socket, records, sizeof records), WEIR_OK);
    for (uint32_t i = 0; i < 3; i++) {
        peer_pass(&t, 7000);
        user_write(&t, i * 10, 10);
        peer_take(&t);
        const uint8_t *const o = t.got_ip_options;
        assert_int_equal(t.got_ip_options_length, 28);
        assert_memory_equal(o, ((const uint8_t[]){7, 11, 8, 10, 0, 0, 1, 0, 0, 0, 0, 1, 68, 16, 13, 1, 10, 0, 0, 1}),
                            20);
        assert_int_equal(get32(o + 20), 0x80000000u | t.f.weir->now_ms);
        assert_int_equal(get32(o + 24), 0);
        peer_send(&t, TCP_ACK, 0, (i + 1) * 10);
    }
    tcp_fixture_close(&t);
}

static void receive(struct weir *weir, weir_socket socket)
{
    assert_int_equal(weir_socket_set(weir, socket, WEIR_OPTION_RECEIVE_IP_OPTIONS, 1), WEIR_OK);
}

static void assert_received(struct tcp_fixture *t, const uint8_t *bytes, uint32_t length)
{
    struct weir_ip_options got = {.length = 99};
    assert_int_equal(weir_socket_received_ip_options(t->weir, t->socket, &got), WEIR_OK);
    assert_int_equal(got.length, length);
    assert_memory_equal(got.bytes, bytes, length);
}

static void those_of_the_peers_syn_are_told_where_they_are_wanted(void **state)
{
    static const uint8_t route[12] = {7, 11, 8, 10, 0, 0, 2}, told[12] = {7, 11, 12, 10, 0, 0, 2, 10, 0, 0, 1};
    struct weir_ip_options got;
    struct tcp_fixture t;
    int32_t value;
    (void)state;
    for (uint32_t i = 0; i < 4; i++) {
        const bool wanted = i & 1;
        tcp_fixture_open(&t, &(struct tcp_fixture_options){.open = i & 2 ? TCP_ACTIVE : TCP_PASSIVE,
                                                           .before = wanted ? receive : NULL});
        t.ip_options = route;
        t.ip_options_length = sizeof route;
        tcp_fixture_continue(&t, WEIR_TCP_ESTABLISHED);
        assert_received(&t, told, wanted ? sizeof told : 0);
        assert_int_equal(weir_socket_get(t.weir, t.socket, WEIR_OPTION_RECEIVE_IP_OPTIONS, &value), WEIR_OK);
        assert_int_equal(value, wanted);
        user_write(&t, 0, 10);
        take_without(&t, TCP_ACK, 10);  // nothing that a stranger sends goes back to it
        t.ip_options_length = 0;
        peer_send(&t, TCP_ACK, 0, 10);
        peer_data(&t, 0, 10);
        assert_int_equal(user_read(&t, 0, 100), 10);
        peer_pass(&t, 5000000);
        assert_received(&t, told, wanted ? sizeof told : 0);
        tcp_fixture_close(&t);
    }
    tcp_fixture_open(&t, NULL);
    assert_int_equal(weir_socket_received_ip_options(t.weir, 1234, &got), WEIR_BAD_SOCKET);
    const weir_socket datagrams = weir_socket_open(t.weir, WEIR_DATAGRAM, 0);
    assert_int_equal(weir_socket_received_ip_options(t.weir, datagrams, &got), WEIR_NOT_SUPPORTED);
    tcp_fixture_close(&t);
}

static void source_routes_and_lies_are_refused(void **state)
{
    static const struct {
        uint32_t length;
        uint8_t bytes[12];
    } refused[] = {
        {8, {131, 7, 4, 10, 0, 0, 1, 0}},
        {8, {137, 7, 4, 10, 0, 0, 1, 0}},
        {4, {0x94, 5, 0, 0}},
        {4, {0x94, 1, 0, 0}},
        {8, {7, 7, 3, 0, 0, 0, 0, 0}},   // points at itself
        {8, {7, 7, 5, 0, 0, 0, 0, 0}},   // no room for an address
        {4, {7, 2, 0, 0}},               // no pointer
        {8, {68, 8, 4, 0, 0, 0, 0, 0}},  // points at its flag
        {8, {68, 8, 5, 2, 0, 0, 0, 0}},  // no such flag
        {8, {68, 8, 5, 1, 0, 0, 0, 0}},  // no room for address and time
        {4, {68, 3, 5, 0}},              // no flag
    };
    static const uint8_t full[8] = {7, 7, 8, 1, 2, 3, 4, 0};
    struct weir_ip_options got;
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, NULL);
    set_alert(t.weir, t.socket);
    for (uint32_t i = 0; i < sizeof refused / sizeof *refused; i++)
        assert_int_equal(weir_socket_set_ip_options(t.weir, t.socket, refused[i].bytes, (int)refused[i].length),
                         WEIR_INVALID);
    assert_int_equal(weir_socket_ip_options(t.weir, t.socket, &got), WEIR_OK);
    assert_int_equal(got.length, sizeof alert);  // as it was
    assert_int_equal(weir_socket_set_ip_options(t.weir, 1234, alert, 8), WEIR_BAD_SOCKET);
    assert_int_equal(weir_socket_ip_options(t.weir, 1234, &got), WEIR_BAD_SOCKET);
    assert_int_equal(weir_socket_set_ip_options(t.weir, t.socket, full, sizeof full), WEIR_OK);
    user_write(&t, 0, 1);
    peer_take(&t);
    assert_memory_equal(t.got_ip_options, full, sizeof full);  // a record that is full stays as it is
    tcp_fixture_close(&t);
}

static void set_most(struct weir *weir, weir_socket socket)
{
    uint8_t many[40];
    memset(many, 1, sizeof many);
    assert_int_equal(weir_socket_set_ip_options(weir, socket, many, sizeof many), WEIR_OK);
}

static void segments_too_small_for_them_go_without(void **state)
{
    struct tcp_fixture t;
    (void)state;
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.mss = 79, .before = set_most});
    user_write(&t, 0, 79);
    take_without(&t, TCP_ACK, 79);
    tcp_fixture_close(&t);
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED, &(struct tcp_fixture_options){.mss = 80, .before = set_most});
    user_write(&t, 0, 40);
    peer_take(&t);
    assert_int_equal(t.got.length, 40);
    assert_int_equal(t.got_ip_options_length, 40);
    tcp_fixture_close(&t);
    // a path that turns out narrower
    bring_with(&t, true);
    user_write(&t, 0, 1440);
    take_with(&t, TCP_ACK, 1440);
    peer_icmp(&t, ICMP4_UNREACHABLE, ICMP4_FRAGMENTATION_NEEDED, 600, 0, 1500);
    take_with(&t, TCP_ACK, 600 - 40 - 12 - sizeof alert);
    tcp_fixture_close(&t);
}

// The reset of an abort is the connection's; the ACK of TIME-WAIT is a record's.
static void resets_have_them_and_time_wait_has_not(void **state)
{
    struct tcp_fixture t;
    (void)state;
    bring_with(&t, true);
    peer_data(&t, 0, 10);
    peer_drain(&t);
    assert_int_equal(weir_socket_close(t.weir, t.socket), WEIR_OK);  // with data unread
    t.socket = 0;
    fixture_poll(&t.f, 0);
    peer_take(&t);
    assert_true(t.got.flags & TCP_RST);
    assert_int_equal(t.got_ip_options_length, sizeof alert);
    tcp_fixture_close(&t);
    tcp_fixture_bring(&t, WEIR_TCP_FIN_WAIT_2, &(struct tcp_fixture_options){.open = TCP_ACTIVE, .before = set_alert});
    assert_int_equal(weir_socket_close(t.weir, t.socket), WEIR_OK);
    t.socket = 0;
    peer_send(&t, TCP_FIN | TCP_ACK, 0, 0);
    take_with(&t, TCP_ACK, 0);
    peer_send(&t, TCP_FIN | TCP_ACK, 0, 0);
    peer_take(&t);
    assert_int_equal(t.got.flags, TCP_ACK);
    assert_int_equal(t.got_ip_options_length, 0);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(every_segment_carries_them_and_has_room),
        cmocka_unit_test(selective_acknowledgements_go_with_them),
        cmocka_unit_test(a_listeners_are_inherited),
        cmocka_unit_test(they_come_and_go_on_a_connection_that_runs),
        cmocka_unit_test(another_connection_has_none_of_them),
        cmocka_unit_test(records_have_our_address_and_time),
        cmocka_unit_test(those_of_the_peers_syn_are_told_where_they_are_wanted),
        cmocka_unit_test(source_routes_and_lies_are_refused),
        cmocka_unit_test(segments_too_small_for_them_go_without),
        cmocka_unit_test(resets_have_them_and_time_wait_has_not),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
