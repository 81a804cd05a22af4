// SPDX-License-Identifier: BSD-2-Clause
// A server on the compact stack (serving.h) and a peer played by hand: its segments are written, ours are read one by
// one, in virtual time.
#ifndef TESTS_COMPACT_PEER_H
#define TESTS_COMPACT_PEER_H

#include "compact/stations.h"
#include "wire/tcp.h"

#define PEER_PORT 40000
#define FRAMES 64u
#define SEND_QUEUE 1072u  // of the tiny profile, as is what follows
#define WINDOW 1072u
#define MSS 536u

// Addresses; HEADERS; wrap, unwrap: an IP header before a transport packet at bytes + HEADERS, and away again;
// transport_sum: the packet's with its pseudo-header; settle: until the server has its address.
#if WEIR_CFG_IP4
#include "compact/peer4.h"
#else
#include "compact/peer6.h"
#endif

struct talk {
    struct serving *serving;
    uint64_t now_us;
    uint8_t frames[FRAMES][640];
    uint32_t lengths[FRAMES], count, seen;
    uint64_t sent_us[FRAMES];
    uint16_t port, window, mss /* 0: no option */;
    uint32_t ours, theirs;   // the peer's and the server's numbers that relative ones count from
    struct tcp_segment got;  // by take
    const uint8_t *got_data;
    uint64_t got_us;
};

static inline bool tx(void *context, const uint8_t *frame, uint32_t length)
{
    struct talk *t = context;
    assert_in_range(t->count, 0, FRAMES - 1);
    assert_in_range(length, ETHERNET_BYTES, sizeof t->frames[0]);
    memcpy(t->frames[t->count], frame, length);
    t->sent_us[t->count] = t->now_us;
    t->lengths[t->count++] = length;
    return true;
}

static inline void close_talk(struct talk *t) { serving_close(t->serving); }

static inline void raw_input(struct talk *t, const uint8_t *bytes, uint32_t length)
{
    uint8_t *exact = malloc(length ? length : 1);
    memcpy(exact, bytes, length);
    serving_input(t->serving, exact, length);
    free(exact);
}

static inline void turn(struct talk *t) { serving_turn(t->serving, t->now_us); }

// Time passes, stopping at every deadline.
static inline void pass(struct talk *t, uint64_t us)
{
    const uint64_t end = t->now_us + us;
    uint64_t next;
    while ((next = serving_turn(t->serving, t->now_us)) < end) {
        assert_true(next > t->now_us);
        t->now_us = next;
    }
    t->now_us = end;
    turn(t);
}

static inline void open_talk(struct talk *t, enum serving_mode mode)
{
    memset(t, 0, sizeof *t);
    t->now_us = UINT64_C(0xfff00000);  // low 32 bits wrap in a second
    t->serving = serving_open(server_mac, SERVER_NUMBER, mode, tx, t, t->now_us);
    settle(t->serving, t->frames[0], &t->count, &t->now_us);
    t->count = 0;
    t->port = PEER_PORT;
    t->window = 8000;
    t->mss = MSS;
    t->ours = 0xfffffff0u;
}

// A segment of the peer in `bytes`; numbers are relative; payload is serving_pattern.
static inline uint32_t make(const struct talk *t, uint8_t *bytes, uint8_t flags, uint32_t seq, uint32_t ack,
                            uint32_t length)
{
    const uint32_t options = flags & TCP_SYN && t->mss ? 4 : 0;
    const struct tcp_segment segment = {.source = t->port,
                                        .destination = SERVING_PORT,
                                        .seq = t->ours + seq,
                                        .ack = flags & TCP_ACK ? t->theirs + ack : 0,
                                        .flags = flags,
                                        .window = t->window,
                                        .header_length = (uint8_t)(TCP_BYTES + options)};
    uint8_t *tcp = bytes + HEADERS;
    tcp_emit(tcp, &segment);
    if (options)
        put32(tcp + TCP_BYTES, 0x02040000u | t->mss);
    for (uint32_t i = 0; i < length; i++)
        tcp[TCP_BYTES + options + i] = serving_pattern(seq + i);
    const uint32_t total = TCP_BYTES + options + length;
    checksum_put(tcp + 16, transport_sum(IP_TCP, tcp, total));
    return wrap(bytes, IP_TCP, total);
}

static inline void in(struct talk *t, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t length)
{
    uint8_t bytes[1600];
    raw_input(t, bytes, make(t, bytes, flags, seq, ack, length));
    turn(t);
}

static inline bool has_sent(const struct talk *t) { return t->seen < t->count; }

static inline void take(struct talk *t)
{
    assert_true(has_sent(t));
    const uint8_t *frame = t->frames[t->seen];
    const uint32_t length = t->lengths[t->seen] - HEADERS;
    t->got_us = t->sent_us[t->seen++];
    assert_memory_equal(frame, peer_mac, 6);
    assert_memory_equal(frame + 6, server_mac, 6);
    unwrap(frame, t->lengths[t->seen - 1], IP_TCP);
    const uint8_t *tcp = frame + HEADERS;
    assert_int_equal(transport_sum(IP_TCP, tcp, length), 0xffff);
    assert_true(tcp_parse(tcp, length, &t->got));
    assert_int_equal(t->got.source, SERVING_PORT);
    assert_int_equal(t->got.destination, t->port);
    t->got_data = tcp + t->got.header_length;
    if (!has_sent(t))
        t->seen = t->count = 0;
}

// The next segment sent is this one; PSH is free.
static inline void expect(struct talk *t, uint8_t flags, uint32_t seq, uint32_t ack, uint32_t length)
{
    take(t);
    assert_int_equal(t->got.flags & ~TCP_PSH, flags);
    assert_int_equal(t->got.seq - t->theirs, seq);
    if (flags & TCP_ACK)
        assert_int_equal(t->got.ack - t->ours, ack);
    assert_int_equal(t->got.length, length);
}
static inline void expect_nothing(const struct talk *t) { assert_false(has_sent(t)); }

static inline void handshake_begin(struct talk *t)
{
    in(t, TCP_SYN, UINT32_MAX, 0, 0);
    take(t);
    assert_int_equal(t->got.flags, TCP_SYN | TCP_ACK);
    assert_int_equal(t->got.ack, t->ours);
    t->theirs = t->got.seq + 1;
}

// Numbers 0 and 0 are the first bytes of both.
static inline void connect_talk(struct talk *t)
{
    handshake_begin(t);
    in(t, TCP_ACK, 0, 0, 0);
}

#endif
