// SPDX-License-Identifier: BSD-2-Clause
// profiles: small small6
// also without IPv4
// Peers that lie about what they have got: ACKs cut into bytes, SACK blocks that are taken back, reports of duplicates
// and of marks without end, timestamps never sent, windows that come and go. Whatever they say, with every congestion
// control: the log's sums stay sound, a timer runs while anything is in flight, memory and the windows stay within what
// the send buffer allows, and as soon as the peer is honest everything arrives. WEIR_SEEDS=N tries more liars.
#include <stdio.h>
#include <stdlib.h>

#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

#define BUFFER 200000u
#define LIES 300u
#define SEEDS 6u

static uint64_t dice;
static uint32_t throw(uint32_t sides)
{
    dice ^= dice << 13;
    dice ^= dice >> 7;
    dice ^= dice << 17;
    return (uint32_t)(dice >> 20) % sides;
}

static uint32_t outstanding(struct tcp_fixture *t)
{
    const struct tcp_conn *c = tcp_fixture_conn(t);
    return c->snd.nxt - c->snd.una;
}

// Somewhere in what is in flight, at its edges more often than elsewhere.
static uint32_t somewhere(struct tcp_fixture *t)
{
    const struct tcp_conn *c = tcp_fixture_conn(t);
    const uint32_t una = c->snd.una - t->ours, flight = outstanding(t);
    switch (throw(5)) {
    case 0: return una;
    case 1: return una + flight;
    case 2: return una + throw(flight + 1) / c->mss * c->mss;
    default: return una + throw(flight + 1);
    }
}

static void lie_by_sack(struct tcp_fixture *t)
{
    uint32_t edges[6];
    const uint32_t una = tcp_fixture_conn(t)->snd.una - t->ours, blocks = 1 + throw(3);
    for (uint32_t i = 0; i < blocks; i++) {
        edges[2 * i] = throw(16) ? somewhere(t) : somewhere(t) - throw(0x7fffffff);
        edges[2 * i + 1] = throw(16) ? somewhere(t) : edges[2 * i] + throw(0x7fffffff);
    }
    if (!throw(3)) {  // a duplicate
        edges[0] = una - 1 - throw(20000);
        edges[1] = edges[0] + 1 + throw(20000);
    }
    peer_sack(t, throw(4) ? una : somewhere(t), blocks, edges);
}

static void write_some(struct tcp_fixture *t)
{
    static const uint8_t zeros[60000];
    if (tcp_fixture_conn(t)->send == NULL || throw(2))
        (void)weir_socket_write(t->weir, t->socket, zeros, throw(4) ? sizeof zeros : 1 + throw(3000));
    fixture_poll(&t->f, 0);
}

static void lie(struct tcp_fixture *t)
{
    const uint32_t una = tcp_fixture_conn(t)->snd.una - t->ours;
    if (!throw(3))
        t->ace = (uint8_t) throw(8);
    if (!throw(6))
        t->window = (uint16_t)(throw(3) ? 65535 : throw(3000));
    switch (throw(9)) {
    case 0: peer_send(t, TCP_ACK, 0, somewhere(t)); break;
    case 1: peer_send(t, TCP_ACK, 0, una + min_u32(1, outstanding(t))); break;
    case 2:
    case 3: lie_by_sack(t); break;
    case 4: peer_send(t, TCP_ACK, 0, una); break;
    case 5:
        t->ts_echo += throw(2) ? throw(100000) : 0u - throw(100000);
        peer_send(t, TCP_ACK, 0, somewhere(t));
        break;
    case 6: peer_send(t, TCP_ACK, 0, una + throw(0xffffffff)); break;
    case 7: peer_pass(t, throw(4) ? throw(30000) : throw(1500000)); break;
    default: write_some(t);
    }
    peer_drain(t);
}

static void assert_sound(struct tcp_fixture *t)
{
    const struct tcp_conn *c = tcp_fixture_conn(t);
    assert_non_null(c);
    assert_true(weir_memory_used(t->weir) < 8 * BUFFER);
    if (!c->flow)
        return;
    const struct flight *f = c->flow->flight;
    assert_true(f->sacked + f->lost <= flight_outstanding(f));
    assert_true(c->flow->window.cwnd <= 8 * BUFFER);
    if (c->snd.una != c->snd.nxt)
        assert_true(c->armed & 1u << TCP_TIMER_SEND);
}

// What is left arrives when the peer tells the truth.
static void be_honest(struct tcp_fixture *t)
{
    t->window = 65535;
    for (int i = 0; i < 2000 && tcp_send_queued(tcp_fixture_conn(t)); i++) {
        peer_send(t, TCP_ACK, 0, tcp_fixture_conn(t)->snd.nxt - t->ours);
        peer_drain(t);
        peer_pass(t, tcp_fixture_conn(t)->snd.una == tcp_fixture_conn(t)->snd.nxt ? 1000000 : 20000);
        assert_non_null(tcp_fixture_conn(t));
    }
    const struct tcp_conn *c = tcp_fixture_conn(t);
    assert_int_equal(outstanding(t), 0);
    assert_int_equal(tcp_send_queued(c), 0);
}

static void converse(const char *algorithm, uint64_t seed)
{
    struct tcp_fixture t;
    dice = seed * 0x9e3779b97f4a7c15u | 1;
    const bool marks = throw(2), timestamps = throw(2);
    tcp_fixture_bring(&t, WEIR_TCP_ESTABLISHED,
                      &(struct tcp_fixture_options){.sack = throw(4) != 0,
                                                    .timestamps = timestamps,
                                                    .scale = true,
                                                    .peer_scale = (uint8_t) throw(15),
                                                    .mss = (uint16_t)(throw(3) ? 1460 : 1 + throw(600)),
                                                    .send_buffer = BUFFER,
                                                    .ecn = marks && WEIR_CFG_TCP_ACCECN ? WEIR_ECN_ACCURATE : 0,
                                                    .peer_ace = marks ? (uint8_t)(throw(2) ? 7 : 3) : 0});
    assert_int_equal(weir_socket_set_congestion(t.weir, t.socket, algorithm), WEIR_OK);
    for (uint32_t i = 0; i < LIES; i++) {
        lie(&t);
        assert_sound(&t);
    }
    be_honest(&t);
    tcp_fixture_close(&t);
}

static void lies_about_what_arrived_do_no_harm(void **state)
{
    const char *const asked = getenv("WEIR_SEEDS");
    const uint64_t seeds = asked ? strtoull(asked, NULL, 10) : SEEDS;
    (void)state;
    for (const struct weir_cc *const *cc = weir_cc_list; *cc; cc++)
        for (uint64_t seed = 1; seed <= seeds; seed++) {
            if (asked)
                fprintf(stderr, "%s %u\n", (*cc)->name, (unsigned)seed);
            converse((*cc)->name, seed);
        }
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(lies_about_what_arrived_do_no_harm),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
