// SPDX-License-Identifier: BSD-2-Clause
// What the tests of loss recovery share: a connection whose round trip is known.
#ifndef TESTS_TCP_LOSS_FIXTURE_H
#define TESTS_TCP_LOSS_FIXTURE_H

#include "tcp/tcp_fixture.h"

#include "instance.h"
#include "tcp/internal.h"

#define MSS 1460u
#define RTT_US 20000u

static inline struct tcp_flow *flow(struct tcp_fixture *t) { return tcp_fixture_conn(t)->flow; }

static inline void loss_rtt(struct tcp_fixture *t)
{
    tcp_fixture_conn(t)->rtt = (struct rtt){.min_us = RTT_US, .srtt8_us = 8 * RTT_US, .floor_us = 200000};
}

// Established, with SACK (or as `options` say), and some round trips measured; numbers count from there on.
static inline void loss_bring(struct tcp_fixture *t, const struct tcp_fixture_options *options)
{
    static const struct tcp_fixture_options with_sack = {.sack = true};
    tcp_fixture_bring(t, WEIR_TCP_ESTABLISHED, options ? options : &with_sack);
    loss_rtt(t);  // the handshake took no time
    const uint32_t mss = tcp_fixture_conn(t)->mss;
    for (uint32_t i = 0; i < 8; i++) {
        user_write(t, 0, 2 * mss);
        peer_drain(t);
        peer_pass(t, RTT_US);
        peer_send(t, TCP_ACK, 0, 2 * mss);
        peer_drain(t);
        t->ours += 2 * mss;
    }
    loss_rtt(t);
    flow(t)->window.cwnd = 10 * mss;
}

// `count` whole segments, from segment `from` on; all of them leave.
static inline void loss_send(struct tcp_fixture *t, uint32_t from, uint32_t count)
{
    user_write(t, from * MSS, count * MSS);
    assert_int_equal(peer_drain_count(t), count);
}

// One SACK block, in segments.
static inline void loss_sack(struct tcp_fixture *t, uint32_t ack, uint32_t left, uint32_t right)
{
    peer_sack(t, ack * MSS, 1, (uint32_t[]){left * MSS, right * MSS});
}

#define counted(t, name) fixture_count(&(t)->f, WEIR_COUNT_TCP_##name)

#endif
