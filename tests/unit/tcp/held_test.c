// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// also without IPv4
// Payload lent to a driver (HELD): only what is sent for the first time, never reused before its completion (the
// fixture compares the bytes), acknowledged or not, closed or not.
#include <stdlib.h>

#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

static const struct tcp_fixture_options plain;

static void keep_holding(struct tcp_fixture *t)
{
    for (struct fixture_held *held = t->f.held; held; held = held->next)
        held->polls = 1000000;
}

// Brings a connection with 3 segments in the driver's hands: polled once, by hand, so that nothing completes.
static void lend_three(struct tcp_fixture *t)
{
    tcp_fixture_bring(t, WEIR_TCP_ESTABLISHED, &plain);
    fixture_set_mode(&t->f, FIXTURE_HOLD);
    uint8_t bytes[3 * 1460];
    for (uint32_t i = 0; i < sizeof bytes; i++)
        bytes[i] = peer_pattern(i);
    assert_int_equal(weir_socket_write(t->weir, t->socket, bytes, sizeof bytes), sizeof bytes);
    weir_poll(t->weir, t->f.now_us);
    keep_holding(t);
    assert_int_equal(fixture_sent_count(&t->f), 3);
    assert_true(tcp_held(tcp_fixture_conn(t)));
    peer_drain(t);
}

static void input_ack(struct tcp_fixture *t, uint32_t ack)
{
    peer_send_raw(t, &(struct peer_segment){.flags = TCP_ACK, .ack = ack, .quiet = true});
    weir_poll(t->weir, t->f.now_us);
    keep_holding(t);
}

static void release(struct tcp_fixture *t)
{
    for (struct fixture_held *held = t->f.held; held; held = held->next)
        held->polls = 1;
    fixture_poll(&t->f, 0);
}

static void acknowledged_bytes_wait_for_their_completion(void **state)
{
    struct tcp_fixture t;
    (void)state;
    lend_three(&t);
    input_ack(&t, 2000);
    const struct tcp_conn *c = tcp_fixture_conn(&t);
    assert_int_equal(c->flow->lag, 2000);
    assert_int_equal(tcp_send_queued(c), 3 * 1460 - 2000);
    assert_int_equal(stream_length(c->send), 3 * 1460);
    uint8_t more[1000];
    for (uint32_t i = 0; i < sizeof more; i++)
        more[i] = peer_pattern(3 * 1460 + i);
    assert_int_equal(weir_socket_write(t.weir, t.socket, more, sizeof more), sizeof more);
    release(&t);
    assert_false(tcp_held(c));
    assert_int_equal(c->flow->lag, 0);
    peer_send(&t, TCP_ACK, 0, 3 * 1460);
    peer_expect(&t, TCP_ACK, 3 * 1460, 0, 1000);  // offsets are right after the lag
    peer_send(&t, TCP_ACK, 0, 3 * 1460 + 1000);
    release(&t);
    assert_int_equal(conn_snapshot(&t).send_queue, 0);
    tcp_fixture_close(&t);
}

static void retransmissions_are_copied(void **state)
{
    struct tcp_fixture t;
    (void)state;
    lend_three(&t);
    const struct fixture_held *last = t.f.held;
    for (int i = 0; i < 3; i++) {
        peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK, .quiet = true});
        weir_poll(t.weir, t.f.now_us);
        keep_holding(&t);
    }
    peer_expect(&t, TCP_ACK, 0, 0, 1460);
    assert_ptr_equal(t.f.held, last);
    uint32_t held = 0;
    for (; last; last = last->next)
        held++;
    assert_int_equal(held, 3);
    release(&t);
    tcp_fixture_close(&t);
}

static void closing_parks_the_memory(void **state)
{
    struct tcp_fixture t;
    (void)state;
    for (int how = 0; how < 3; how++) {
        lend_three(&t);
        if (how == 0)
            assert_int_equal(weir_socket_abort(t.weir, t.socket), WEIR_OK);
        if (how == 1) {
            assert_int_equal(weir_socket_close(t.weir, t.socket), WEIR_OK);
            peer_send_raw(&t, &(struct peer_segment){.flags = TCP_RST, .quiet = true});
        }
        if (how == 2) {  // ends in TIME-WAIT with bytes still lent
            assert_int_equal(weir_socket_close(t.weir, t.socket), WEIR_OK);
            weir_poll(t.weir, t.f.now_us);
            keep_holding(&t);
            peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_FIN, .ack = 3 * 1460 + 1, .quiet = true});
        }
        t.socket = 0;
        weir_poll(t.weir, t.f.now_us);
        keep_holding(&t);
        assert_non_null(t.f.held);  // its bytes are compared at completion
        release(&t);
        tcp_fixture_close(&t);  // and all memory is back
    }
}

static const struct weir_driver *under;
static enum weir_tx_verdict complete_then_send(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct fixture *f = container_of(netif, struct fixture, netif);
    while (f->held) {
        struct fixture_held *held = f->held;
        f->held = held->next;
        weir_tx_complete(netif, held->owner, held->end);
        free(held->copy);
        free(held);
    }
    f->held_tail = &f->held;
    return under->tx(netif, tx);
}

// The connection in TIME-WAIT that the driver lets go of is the one whose last acknowledgement it is just given.
static void bytes_come_back_while_the_last_words_leave(void **state)
{
    struct tcp_fixture t;
    (void)state;
    lend_three(&t);
    assert_int_equal(weir_socket_close(t.weir, t.socket), WEIR_OK);
    weir_poll(t.weir, t.f.now_us);
    keep_holding(&t);
    t.socket = 0;
    peer_send_raw(&t, &(struct peer_segment){.flags = TCP_ACK | TCP_FIN, .ack = 3 * 1460 + 1, .quiet = true});
    assert_non_null(t.f.held);
    under = t.f.netif.driver;
    struct weir_driver completing = *under;
    completing.tx = complete_then_send;
    t.f.netif.driver = &completing;
    const uint32_t before = fixture_sent_count(&t.f);
    weir_poll(t.weir, t.f.now_us);
    t.f.netif.driver = under;
    assert_int_equal(fixture_sent_count(&t.f), before + 1);
    assert_null(t.f.held);
    tcp_fixture_close(&t);  // and all memory is back
}

static void a_full_queue_of_lent_bytes_blocks_the_writer(void **state)
{
    struct tcp_fixture t;
    static uint8_t bytes[65536];
    (void)state;
    lend_three(&t);
    int room = weir_socket_write(t.weir, t.socket, bytes, sizeof bytes);
    assert_in_range(room, 50000, 65536 - 3 * 1460);
    assert_int_equal(weir_socket_write(t.weir, t.socket, bytes, 100), WEIR_AGAIN);
    input_ack(&t, 3 * 1460);
    assert_int_equal(weir_socket_write(t.weir, t.socket, bytes, 100), WEIR_AGAIN);  // acknowledged, but lent
    assert_false(weir_socket_ready(t.weir, t.socket) & WEIR_WRITABLE);
    release(&t);
    assert_true(weir_socket_ready(t.weir, t.socket) & WEIR_WRITABLE);
    assert_int_equal(weir_socket_write(t.weir, t.socket, bytes, 100), 100);
    release(&t);
    tcp_fixture_close(&t);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(acknowledged_bytes_wait_for_their_completion),
        cmocka_unit_test(retransmissions_are_copied),
        cmocka_unit_test(closing_parks_the_memory),
        cmocka_unit_test(bytes_come_back_while_the_last_words_leave),
        cmocka_unit_test(a_full_queue_of_lent_bytes_blocks_the_writer),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
