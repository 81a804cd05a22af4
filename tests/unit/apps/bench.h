// SPDX-License-Identifier: BSD-2-Clause
// Where applications are tested: one instance in virtual time, its loopback between client and server, the loop that
// runs them.
#ifndef TESTS_APPS_BENCH_H
#define TESTS_APPS_BENCH_H

#include "fixture.h"

#include <string.h>

#include "loop.h"
#include "socket/socket.h"

struct bench {
    struct fixture f;
    struct loop loop;
};

static inline void bench_open(struct bench *bench)
{
    fixture_open(&bench->f, &weir_link_ethernet, fixture_address(1), WEIR_CFG_IP4 ? 24 : 120, 0);
    loop_init(&bench->loop, bench->f.weir);
}

static inline void bench_close(struct bench *bench) { fixture_close(&bench->f); }

// Lets `us` pass, stopping at every deadline on the way.
static inline void bench_run(struct bench *bench, uint64_t us)
{
    uint64_t end_us = bench->f.now_us + us;
    for (int turns = 0;; turns++) {
        assert_true(turns < 100000);
        weir_clock(bench->f.weir, bench->f.now_us);
        if (bench->f.refused) {  // the driver's mode "full"
            bench->f.refused = false;
            weir_tx_ready(&bench->f.netif);
        }
        uint64_t due_us = loop_run(&bench->loop, bench->f.now_us);
        if (due_us > end_us)
            break;
        bench->f.now_us = due_us > bench->f.now_us ? due_us : bench->f.now_us;
    }
    bench->f.now_us = end_us;
    weir_clock(bench->f.weir, end_us);
    (void)loop_run(&bench->loop, end_us);
}

// What waited to be sent by a datagram socket could not be: a route went meanwhile, say. The socket tells that first.
static inline void bench_fail(struct bench *bench, weir_socket socket)
{
    struct datagram *datagram;
    assert_int_equal(handle_datagram(bench->f.weir, socket, &datagram), WEIR_OK);
    datagram_fail(bench->f.weir, datagram, WEIR_NETWORK_UNREACHABLE);
}

#if WEIR_CFG_IP4
#define BENCH_LOOPBACK weir_ip4(127, 0, 0, 1)
#else
#define BENCH_LOOPBACK weir_addr_v6((const uint8_t[16]){[15] = 1})
#endif

static inline struct weir_endpoint bench_here(uint16_t port) { return (struct weir_endpoint){BENCH_LOOPBACK, port}; }

// A stream to a server on this instance, connected.
static inline weir_socket bench_connect(struct bench *bench, uint16_t port)
{
    const struct weir_endpoint server = bench_here(port);
    weir_socket socket = weir_socket_open(bench->f.weir, WEIR_STREAM, 0);
    assert_true(socket > 0);
    assert_int_equal(weir_socket_connect(bench->f.weir, socket, &server), WEIR_IN_PROGRESS);
    bench_run(bench, 10000);
    return socket;
}

// A datagram to a service of this instance, which finds it behind the failure of what that sent before.
static inline void bench_send_behind_failure(struct bench *bench, weir_socket from, const struct weir_endpoint *to,
                                             weir_socket service, const void *bytes, uint32_t length)
{
    const struct weir_message message = {.peer = *to};
    const struct weir_slice slice = {bytes, length};
    assert_int_equal(weir_socket_send_message(bench->f.weir, from, &message, &slice, 1), length);
    for (int turn = 0; turn < 4 && !(weir_socket_ready(bench->f.weir, service) & WEIR_READABLE); turn++)
        (void)weir_poll(bench->f.weir, bench->f.now_us);
    assert_true(weir_socket_ready(bench->f.weir, service) & WEIR_READABLE);
    bench_fail(bench, service);
    bench_run(bench, 1000);
}

// The same, to one that answers with as many bytes.
static inline void bench_answers_behind_failure(struct bench *bench, uint16_t port, weir_socket service)
{
    const struct weir_endpoint server = bench_here(port);
    struct weir_message reply;
    struct weir_slice slice;
    const weir_socket socket = weir_socket_open(bench->f.weir, WEIR_DATAGRAM, 0);
    bench_send_behind_failure(bench, socket, &server, service, "abc", 3);
    assert_int_equal(weir_socket_peek_message(bench->f.weir, socket, &reply, &slice), 3);
    assert_int_equal(weir_socket_close(bench->f.weir, socket), WEIR_OK);
}

// As much at a time as the queue takes.
static inline void bench_write(struct bench *bench, weir_socket socket, const char *text)
{
    for (uint32_t at = 0, length = (uint32_t)strlen(text); at < length;) {
        const int taken = weir_socket_write(bench->f.weir, socket, text + at, length - at);
        assert_true(taken > 0);
        at += (uint32_t)taken;
        bench_run(bench, 100000);
    }
}

// Reads what is there, as a string; returns its length, *ended: the peer closed.
static inline uint32_t bench_read(struct bench *bench, weir_socket socket, char *out, uint32_t room, bool *ended)
{
    uint32_t length = 0;
    int got = 0;
    while (length < room - 1 && (got = weir_socket_read(bench->f.weir, socket, out + length, room - 1 - length)) > 0) {
        length += (uint32_t)got;
        bench_run(bench, 10000);
    }
    out[length] = '\0';
    if (ended != NULL)
        *ended = got != WEIR_AGAIN && length < room - 1;
    return length;
}

#endif
