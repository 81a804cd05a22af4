// SPDX-License-Identifier: BSD-2-Clause
// not on mips: threads, eventfd and ppoll under emulation
// Embedded Xinu's device calls over loopback in real time, by several threads.
#define _DEFAULT_SOURCE
#include "world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "weir/realtime.h"

#include "api/xinu/system.h"

enum { PORT = 4711 };

static struct world w, other;
static bool two_worlds;
static struct xinu xinu;
static struct netaddr here, nobody;

static void nap(long us) { nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL); }

static void begin(void)
{
    (void)netaddr4(&here, 127, 0, 0, 1);
    nobody = (struct netaddr){0};
    xinu_use(&xinu,
             &(struct xinu_config){.weir = w.weir, .port = &w.host.port, .bsd = w.bsd, .ethers = {&w.netif, NULL}});
}

static int setup(void **state)
{
    (void)state;
    two_worlds = false;
    world_open(&w, true, NULL);
    begin();
    return 0;
}

static int setup_two(void **state)
{
    (void)state;
    two_worlds = true;
    worlds_open(&w, &other, true);
    begin();
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    for (int i = TCP0; i < NDEVS; i++)
        (void)close(i);
    if (two_worlds)
        worlds_close(&w, &other);
    else
        world_close(&w);
    return 0;
}

// --- a thread that opens a device passively --------------------------------------------------------------------------
struct opener {
    pthread_t thread;
    int device;
    unsigned port, remote_port;
    atomic_int result;
};
enum { WAITING = 77 };

static void *open_thread(void *context)
{
    struct opener *o = context;
    atomic_store(&o->result,
                 open(o->device, &nobody, o->remote_port ? &here : NULL, o->port, o->remote_port, TCP_PASSIVE));
    return NULL;
}

// Returns when it listens.
static void start(struct opener *o, int device, unsigned port)
{
    o->device = device;
    o->port = port;
    atomic_store(&o->result, WAITING);
    pthread_create(&o->thread, NULL, open_thread, o);
    for (bool listens = false; !listens; nap(500)) {
        posix_host_lock(&w.host);
        listens = xinu.devices[device].listener;
        posix_host_unlock(&w.host);
    }
    nap(5000);
}

static int finish(struct opener *o)
{
    pthread_join(o->thread, NULL);
    return atomic_load(&o->result);
}

static int active(unsigned port)
{
    const int device = tcpAlloc();
    assert_true(device >= TCP0);
    assert_int_equal(open(device, NULL, &here, 0u, port, TCP_ACTIVE), OK);
    return device;
}

static void connected(int *client, int *server)
{
    struct opener o = {0};
    *server = tcpAlloc();
    start(&o, *server, PORT);
    *client = active(PORT);
    assert_int_equal(finish(&o), OK);
}

// --- devices ---------------------------------------------------------------------------------------------------------
static void numbers_name_devices(void **state)
{
    char byte;
    (void)state;
    for (int i = -1; i <= NDEVS; i += NDEVS + 1) {
        assert_int_equal(open(i), SYSERR);
        assert_int_equal(read(i, &byte, 1), SYSERR);
        assert_int_equal(write(i, &byte, 1), SYSERR);
        assert_int_equal(control(i, NET_GET_MTU, 0, 0), SYSERR);
        assert_int_equal(close(i), SYSERR);
    }
    assert_int_equal(read(TCP0, &byte, 1), SYSERR);  // not open
    assert_int_equal(close(TCP0), SYSERR);
    assert_int_equal(getc(UDP0), SYSERR);
    assert_int_equal(putc(UDP0, 'x'), SYSERR);
}

static void devices_are_given_out_and_come_back(void **state)
{
    (void)state;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < NTCP; i++)
            assert_int_equal(tcpAlloc(), TCP0 + i);
        assert_int_equal(tcpAlloc(), SYSERR);
        for (int i = 0; i < NUDP; i++)
            assert_int_equal(udpAlloc(), UDP0 + i);
        assert_int_equal(udpAlloc(), SYSERR);
        for (int i = TCP0; i < NDEVS; i++)
            assert_int_equal(close(i), OK);
    }
    assert_int_equal(open(UDP0, NULL, NULL, 5000u, 0u), OK);
    assert_int_equal(open(UDP0, NULL, NULL, 5001u, 0u), SYSERR);  // it is open
    assert_int_equal(open(UDP0 + 1, NULL, NULL, 5000u, 0u), SYSERR);
    assert_int_equal(open(UDP0 + 1, NULL, NULL, 5001u, 0u), OK);
    assert_int_equal(close(UDP0), OK);
    assert_int_equal(close(UDP0), SYSERR);
    assert_int_equal(open(UDP0, NULL, NULL, 5000u, 0u), OK);
}

// --- TCP -------------------------------------------------------------------------------------------------------------
static void a_passive_device_becomes_the_connection(void **state)
{
    int client, server;
    char text[8] = {0};
    (void)state;
    connected(&client, &server);
    assert_int_equal(open(client, NULL, &here, 0u, PORT, TCP_ACTIVE), SYSERR);  // it is open
    assert_int_equal(write(client, "hello", 5), 5);
    assert_int_equal(read(server, text, 5), 5);
    assert_string_equal(text, "hello");
    assert_int_equal(putc(server, '\xfe'), 0xfe);
    assert_int_equal(getc(client), 0xfe);
    assert_int_equal(control(client, TCP_CTRL_SENTBYTES, 0, 0), 5);
    assert_int_equal(control(client, TCP_CTRL_RECVBYTES, 0, 0), 1);
    assert_int_equal(control(server, TCP_CTRL_RECVBYTES, 0, 0), 5);
    assert_int_equal(control(server, 4711, 0, 0), SYSERR);
    assert_int_equal(close(client), OK);
    assert_int_equal(read(server, text, 1), SYSERR);
    assert_int_equal(close(server), OK);
}

static void *write_thread(void *context)
{
    const int device = *(int *)context;
    static char block[50000];
    memset(block, 'b', sizeof block);
    for (int i = 0; i < 4; i++) {
        assert_int_equal(write(device, "12", 2), 2);
        nap(2000);
    }
    assert_int_equal(write(device, block, sizeof block), sizeof block);
    assert_int_equal(write(device, "end", 3), 3);
    assert_int_equal(close(device), OK);
    return NULL;
}

// As in Xinu a read waits until it has all; what comes before the end is not lost.
static void a_read_waits_for_all(void **state)
{
    int client, server;
    static char text[50000];
    pthread_t writer;
    (void)state;
    connected(&client, &server);
    pthread_create(&writer, NULL, write_thread, &client);
    assert_int_equal(read(server, text, 8), 8);
    assert_memory_equal(text, "12121212", 8);
    assert_int_equal(read(server, text, 50000), 50000);
    assert_int_equal(text[49999], 'b');
    assert_int_equal(read(server, text, 100), 3);
    assert_memory_equal(text, "end", 3);
    assert_int_equal(read(server, text, 100), SYSERR);
    assert_int_equal(read(server, text, 100), SYSERR);
    pthread_join(writer, NULL);
}

static void a_read_may_take_what_is_there(void **state)
{
    int client, server;
    char text[100];
    (void)state;
    connected(&client, &server);
    assert_int_equal(control(server, TCP_CTRL_READSOME, 1, 0), OK);
    assert_int_equal(write(client, "some", 4), 4);
    assert_int_equal(read(server, text, sizeof text), 4);
}

static void several_devices_share_a_port(void **state)
{
    struct opener o[3] = {{.device = TCP0}, {.device = TCP0 + 1}, {.device = TCP0 + 2}};
    int clients[3];
    char byte;
    (void)state;
    for (int round = 0; round < 3; round++) {
        for (int i = 0; i < 3; i++)
            start(&o[i], TCP0 + i, PORT);
        for (int i = 0; i < 3; i++) {
            clients[i] = active(PORT);
            assert_int_equal(putc(clients[i], (char)('a' + i)), 'a' + i);
        }
        uint32_t seen = 0;
        for (int i = 0; i < 3; i++) {
            assert_int_equal(finish(&o[i]), OK);
            assert_int_equal(read(TCP0 + i, &byte, 1), 1);
            seen |= 1u << (byte - 'a');
        }
        assert_int_equal(seen, 7);
        for (int i = 0; i < 3; i++) {
            assert_int_equal(close(clients[i]), OK);
            assert_int_equal(close(TCP0 + i), OK);
        }
        // Nobody is there now: as if nobody had ever listened.
        const int late = tcpAlloc();
        assert_int_equal(open(late, NULL, &here, 0u, PORT, TCP_ACTIVE), SYSERR);
    }
}

static void closing_ends_an_open_that_waits(void **state)
{
    struct opener first = {0}, second = {0};
    (void)state;
    for (int round = 0; round < 5; round++) {
        start(&first, TCP0, PORT);
        assert_int_equal(close(TCP0), OK);
        assert_int_equal(finish(&first), SYSERR);
        start(&first, TCP0, PORT);
        start(&second, TCP0 + 1, PORT);  // shares it, and goes on
        assert_int_equal(close(TCP0), OK);
        assert_int_equal(finish(&first), SYSERR);
        nap(20000);
        assert_int_equal(atomic_load(&second.result), WAITING);
        const int client = active(PORT);
        assert_int_equal(finish(&second), OK);
        assert_int_equal(close(client), OK);
        assert_int_equal(close(TCP0 + 1), OK);
    }
}

static void *read_thread(void *context)
{
    char byte;
    return read(*(int *)context, &byte, 1) == SYSERR ? context : NULL;
}

static void closing_ends_a_read_that_waits(void **state)
{
    int client, server;
    pthread_t reader;
    void *result;
    (void)state;
    connected(&client, &server);
    pthread_create(&reader, NULL, read_thread, &server);
    nap(20000);
    assert_int_equal(close(server), OK);
    pthread_join(reader, &result);
    assert_ptr_equal(result, &server);
}

static void a_passive_device_may_want_one_peer(void **state)
{
    struct opener o = {.remote_port = 5555};
    char byte;
    (void)state;
    start(&o, TCP0, PORT);
    const int stranger = active(PORT);
    assert_int_equal(read(stranger, &byte, 1), SYSERR);  // closed
    assert_int_equal(atomic_load(&o.result), WAITING);
    assert_int_equal(open(TCP0 + 5, NULL, &here, 5555u, PORT, TCP_ACTIVE), OK);
    assert_int_equal(finish(&o), OK);
    assert_int_equal(putc(TCP0 + 5, 'x'), 'x');
    assert_int_equal(getc(TCP0), 'x');
}

static void opens_that_cannot_be(void **state)
{
    const struct netaddr ethernet = {.type = NETADDR_ETHERNET, .len = 6};
    (void)state;
    assert_int_equal(open(TCP0, NULL, &here, 0u, 9u, TCP_ACTIVE), SYSERR);  // refused
    assert_int_equal(open(TCP0, NULL, &ethernet, 0u, 9u, TCP_ACTIVE), SYSERR);
    assert_int_equal(open(TCP0, NULL, NULL, 0u, 0u, TCP_PASSIVE), SYSERR);
    assert_int_equal(open(TCP0, NULL, NULL, 9u, 0u, 2), SYSERR);
    assert_int_equal(xinu.devices[TCP0].state, XINU_FREE);
}

#if WEIR_CFG_REALTIME
enum { FRAME = 100, PERIOD_US = 40000 };

static int realtime(int device, enum weir_realtime_mode mode, unsigned frame_bytes, unsigned period_us)
{
    const struct tcpRealtime asked = {.frame_bytes = frame_bytes, .period_us = period_us};
    return control(device, TCP_CTRL_REALTIME, mode, (intptr_t)&asked);
}

static void send_frame(int device, char fill)
{
    char frame[FRAME];
    memset(frame, fill, sizeof frame);
    assert_int_equal(write(device, frame, sizeof frame), FRAME);
}

// Until a read brings a frame: what it is filled with.
static char some_frame(int device)
{
    char frame[FRAME];
    int got;
    while ((got = read(device, frame, sizeof frame)) == 0)
        nap(1000);
    assert_int_equal(got, FRAME);
    for (int i = 0; i < FRAME; i++)
        assert_int_equal(frame[i], frame[0]);
    return frame[0];
}

// In the modes of the real-time TCP for Xinu a read is a deadline: half a frame is passed over, and what completes it
// comes to nothing.
static void a_read_that_is_a_deadline_never_waits(void **state)
{
    (void)state;
    for (int mode = WEIR_REALTIME_SKIP; mode <= WEIR_REALTIME_SKIP_UPDATE; mode++) {
        int client, server;
        char frame[FRAME];
        connected(&client, &server);
        assert_int_equal(realtime(server, (enum weir_realtime_mode)mode, FRAME, 0), OK);
        assert_int_equal(read(server, frame, FRAME), 0);
        assert_int_equal(write(client, "half a frame", 12), 12);
        for (int there = 0; there < 12; nap(500))
            assert_int_equal(bsd_ioctl(w.bsd, xinu.devices[server].fd, WEIR_FIONREAD, &there), 0);
        assert_int_equal(read(server, frame, FRAME), 0);  // passed over
        send_frame(client, 'f');
        send_frame(client, 'f');
        assert_int_equal(some_frame(server), 'f');
        assert_int_equal(close(client), OK);
        assert_int_equal(close(server), OK);
    }
}

static void *send_late(void *context)
{
    const int *client = context;
    nap(3 * PERIOD_US);
    send_frame(*client, 'a');
    return NULL;
}

// In the ordinary modes a read waits for the whole frame, however late it is, with a period or without.
static void a_read_without_deadlines_waits(void **state)
{
    (void)state;
    for (int mode = WEIR_REALTIME_REGULAR; mode <= WEIR_REALTIME_REGULAR_UPDATE; mode++) {
        int client, server;
        char frame[FRAME];
        pthread_t sender;
        connected(&client, &server);
        assert_int_equal(
            realtime(server, (enum weir_realtime_mode)mode, FRAME, mode == WEIR_REALTIME_REGULAR ? 0 : PERIOD_US), OK);
        assert_int_equal(pthread_create(&sender, NULL, send_late, &client), 0);
        assert_int_equal(read(server, frame, FRAME), FRAME);
        assert_int_equal(frame[0], 'a');
        assert_int_equal(pthread_join(sender, NULL), 0);
        assert_int_equal(close(client), OK);
        assert_int_equal(close(server), OK);
    }
}

// In Weir's mode each period ends a read, also the first, before which nothing has come; and a frame that came later
// than that is not handed out.
static void a_read_with_a_period_ends_at_its_deadline(void **state)
{
    int client, server;
    char frame[FRAME];
    (void)state;
    connected(&client, &server);
    assert_int_equal(realtime(server, WEIR_REALTIME_WEIR, FRAME, PERIOD_US), OK);
    const uint64_t begin = posix_now_us();
    assert_int_equal(read(server, frame, FRAME), 0);
    assert_int_equal(read(server, frame, FRAME), 0);
    assert_true(posix_now_us() - begin > PERIOD_US);
    for (char number = 'A'; number < 'A' + 60; number++)  // frames 0 and 1 are too late
        send_frame(client, number);
    assert_true(some_frame(server) >= 'A' + 2);
    assert_int_equal(close(client), OK);
    int got;
    while ((got = read(server, frame, FRAME)) >= 0)
        ;
    assert_int_equal(got, SYSERR);  // the end
}

static void a_mode_without_what_it_needs_is_refused(void **state)
{
    int client, server;
    char text[8];
    (void)state;
    connected(&client, &server);
    assert_int_equal(realtime(server, WEIR_REALTIME_WEIR, FRAME, 0), SYSERR);  // it would never skip
    assert_int_equal(realtime(server, WEIR_REALTIME_WEIR, 0, PERIOD_US), SYSERR);
    assert_int_equal(realtime(server, WEIR_REALTIME_SKIP, 0, 0), SYSERR);
    assert_int_equal(realtime(server, (enum weir_realtime_mode)(WEIR_REALTIME_WEIR + 1), FRAME, PERIOD_US), SYSERR);
    assert_int_equal(control(server, TCP_CTRL_REALTIME, -1, 0), SYSERR);
    assert_int_equal(control(server, TCP_CTRL_REALTIME, WEIR_REALTIME_SKIP, 0), SYSERR);
    assert_int_equal(write(client, "ordinary", 8), 8);  // and the stream is what it was
    assert_int_equal(read(server, text, 8), 8);
    assert_int_equal(realtime(server, WEIR_REALTIME_SKIP, FRAME, 0), OK);
    assert_int_equal(control(server, TCP_CTRL_REALTIME, WEIR_REALTIME_OFF, 0), OK);
}
#endif

// --- UDP -------------------------------------------------------------------------------------------------------------
static void datagrams_between_two_devices(void **state)
{
    char text[100];
    (void)state;
    assert_int_equal(open(UDP0, &here, &here, 5000u, 5001u), OK);
    assert_int_equal(open(UDP0 + 1, &here, NULL, 5001u, 0u), OK);
    assert_int_equal(write(UDP0, "ping", 4), 4);
    assert_int_equal(read(UDP0 + 1, text, sizeof text), 4);
    assert_memory_equal(text, "ping", 4);
    assert_int_equal(write(UDP0 + 1, "pong", 4), SYSERR);  // to whom?
    assert_int_equal(control(UDP0 + 1, UDP_CTRL_BIND, 5000, (intptr_t)&here), OK);
    assert_int_equal(write(UDP0 + 1, "pong", 4), 4);
    assert_int_equal(read(UDP0, text, 2), 2);  // the rest is lost
    assert_int_equal(control(UDP0, UDP_CTRL_SETFLAG, UDP_FLAG_NOBLOCK, 0), 0);
    assert_int_equal(read(UDP0, text, sizeof text), 0);
    assert_int_equal(control(UDP0, UDP_CTRL_CLRFLAG, UDP_FLAG_NOBLOCK, 0), UDP_FLAG_NOBLOCK);
}

static void a_device_with_a_remote_end_hears_only_that(void **state)
{
    char text[100];
    (void)state;
    assert_int_equal(open(UDP0, &here, NULL, 5000u, 0u), OK);
    assert_int_equal(open(UDP0 + 1, &here, &here, 5001u, 5000u), OK);
    assert_int_equal(open(UDP0 + 2, &here, &here, 5002u, 5000u), OK);
    assert_int_equal(control(UDP0, UDP_CTRL_SETFLAG, UDP_FLAG_BINDFIRST | UDP_FLAG_NOBLOCK, 0), 0);
    assert_int_equal(write(UDP0 + 1, "first", 5), 5);
    int got = 0;
    for (; !got; nap(1000))
        got = read(UDP0, text, sizeof text);
    assert_int_equal(got, 5);
    assert_int_equal(write(UDP0 + 2, "second", 6), 6);
    assert_int_equal(write(UDP0 + 1, "again", 5), 5);
    for (got = 0; !got; nap(1000))
        got = read(UDP0, text, sizeof text);
    assert_int_equal(got, 5);
    assert_memory_equal(text, "again", 5);
    assert_int_equal(write(UDP0, "reply", 5), 5);
    assert_int_equal(read(UDP0 + 1, text, sizeof text), 5);
}

static void a_passive_device_answers_by_the_headers(void **state)
{
    uint8_t packet[200];
    char text[100];
    (void)state;
    assert_int_equal(open(UDP0, &here, NULL, 5000u, 0u), OK);
    assert_int_equal(open(UDP0 + 1, &here, &here, 5001u, 5000u), OK);
    assert_int_equal(control(UDP0, UDP_CTRL_SETFLAG, UDP_FLAG_PASSIVE, 0), 0);
    assert_int_equal(write(UDP0 + 1, "abc", 3), 3);
    assert_int_equal(read(UDP0, packet, sizeof packet), 23);
    static const uint8_t expected[20] = {127, 0, 0,  1,         127,        0,         0,          1, 0,
                                         17,  0, 11, 5001 >> 8, 5001 & 255, 5000 >> 8, 5000 & 255, 0, 11};
    assert_memory_equal(packet, expected, 20);
    assert_memory_equal(packet + 20, "abc", 3);
    uint8_t answer[24];
    memcpy(answer, packet, 23);
    answer[23] = '!';
    assert_int_equal(write(UDP0, answer, 24), SYSERR);  // its ports are still those of what came
    memcpy(answer + 12, packet + 14, 2);
    memcpy(answer + 14, packet + 12, 2);
    assert_int_equal(write(UDP0, answer, 19), SYSERR);
    assert_int_equal(write(UDP0, answer, 24), 24);
    assert_int_equal(read(UDP0 + 1, text, sizeof text), 4);
    assert_memory_equal(text, "abc!", 4);
    assert_int_equal(write(UDP0 + 1, "cut", 3), 3);
    assert_int_equal(read(UDP0, packet, 10), 10);  // not even the headers
    assert_memory_equal(packet, expected, 8);
}

// A device that may not go where it is told to stays with what it has.
static void an_end_that_cannot_be_changes_nothing(void **state)
{
    struct netaddr wrong = {.type = NETADDR_ETHERNET, .len = 6, .addr = {1, 2, 3, 4, 5, 6}}, elsewhere;
    char text[100];
    (void)state;
    (void)netaddr4(&elsewhere, 192, 0, 2, 1);  // not ours, and no way there
    assert_int_equal(open(UDP0, &here, &here, 5000u, 5001u), OK);
    assert_int_equal(open(UDP0 + 1, &here, &here, 5001u, 5000u), OK);
    assert_int_equal(control(UDP0, UDP_CTRL_BIND, 5002, (intptr_t)&wrong), SYSERR);
    assert_int_equal(control(UDP0, UDP_CTRL_BIND, 5002, (intptr_t)&elsewhere), SYSERR);
    assert_int_equal(control(UDP0, UDP_CTRL_ACCEPT, 5002, (intptr_t)&wrong), SYSERR);
    assert_int_equal(control(UDP0, UDP_CTRL_ACCEPT, 5002, (intptr_t)&elsewhere), SYSERR);
    assert_int_equal(control(UDP0, UDP_CTRL_ACCEPT, 5002, 0), SYSERR);
    assert_int_equal(control(UDP0, UDP_CTRL_ACCEPT, 5001, (intptr_t)&here), SYSERR);  // another's
    assert_int_equal(control(UDP0, 4711, 0, 0), SYSERR);
    assert_int_equal(xinu.devices[UDP0].remote.port, 5001);
    assert_true(weir_addr_equal(xinu.devices[UDP0].remote.addr, weir_ip4(127, 0, 0, 1)));
    assert_int_equal(write(UDP0, "still", 5), 5);
    assert_int_equal(read(UDP0 + 1, text, sizeof text), 5);
    assert_int_equal(write(UDP0 + 1, "here", 4), 4);
    assert_int_equal(read(UDP0, text, sizeof text), 4);
    // Without another end it hears everybody, and says nothing.
    assert_int_equal(control(UDP0, UDP_CTRL_BIND, 0, 0), OK);
    assert_int_equal(write(UDP0, "whom?", 5), SYSERR);
    assert_int_equal(write(UDP0 + 1, "all", 3), 3);
    assert_int_equal(read(UDP0, text, sizeof text), 3);
    assert_int_equal(open(UDP0 + 2, &wrong, NULL, 5003u, 0u), SYSERR);
    assert_int_equal(open(UDP0 + 2, &here, &wrong, 5003u, 0u), SYSERR);
    assert_int_equal(open(UDP0 + 2, &here, NULL, 5000u, 0u), SYSERR);    // the port is another's
    assert_int_equal(open(UDP0 + 2, NULL, &elsewhere, 0u, 7u), SYSERR);  // no way there
}

static void lengths_and_numbers_that_cannot_be(void **state)
{
    static char text[8];
    struct netaddr wrong = {.type = NETADDR_ETHERNET, .len = 6};
    int client, server;
    (void)state;
    connected(&client, &server);
    assert_int_equal(read(client, text, 0x80000000u), SYSERR);
    assert_int_equal(write(client, text, 0x80000000u), SYSERR);
    assert_int_equal(control(client, 4711, 0, 0), SYSERR);
    assert_int_equal(open(UDP0, &here, &here, 5000u, 5001u), OK);
    assert_int_equal(read(UDP0, text, 0x80000000u), SYSERR);
    assert_int_equal(write(UDP0, text, 0x80000000u), SYSERR);
    assert_int_equal(read(-1, text, 1), SYSERR);
    assert_int_equal(write(NDEVS, text, 1), SYSERR);
    assert_int_equal(control(NDEVS, 0, 0, 0), SYSERR);
    assert_int_equal(read(ETH0, text, 1), SYSERR);  // frames are the stack's
    assert_int_equal(write(ETH0, text, 1), SYSERR);
    const int other_device = tcpAlloc();
    assert_int_equal(open(other_device, &wrong, &here, 0u, 7u, TCP_ACTIVE), SYSERR);
    // Who writes on to a peer that has gone is told.
    assert_int_equal(close(server), OK);
    int written = 1;
    for (int i = 0; i < 1000 && written > 0; i++, nap(1000))
        written = write(client, text, sizeof text);
    assert_int_equal(written, SYSERR);
}

static void long_writes_are_several_datagrams(void **state)
{
    static char block[2500], got[2000];
    (void)state;
    assert_int_equal(open(UDP0, &here, NULL, 5000u, 0u), OK);
    assert_int_equal(open(UDP0 + 1, NULL, &here, 0u, 5000u), OK);
    assert_int_equal(write(UDP0 + 1, block, sizeof block), sizeof block);
    assert_int_equal(read(UDP0, got, sizeof got), 1024);
    assert_int_equal(read(UDP0, got, sizeof got), 1024);
    assert_int_equal(read(UDP0, got, sizeof got), 452);
    assert_int_equal(write(UDP0 + 1, block, 0), 0);
}

static void a_device_moves_to_another_port(void **state)
{
    char text[10];
    (void)state;
    assert_int_equal(open(UDP0, &here, NULL, 5000u, 0u), OK);
    assert_int_equal(open(UDP0 + 1, &here, &here, 0u, 6000u), OK);
    assert_int_equal(open(UDP0 + 2, &here, NULL, 7000u, 0u), OK);
    assert_int_equal(control(UDP0, UDP_CTRL_ACCEPT, 7000, (intptr_t)&here), SYSERR);  // taken
    assert_int_equal(control(UDP0, UDP_CTRL_ACCEPT, 6000, 0), SYSERR);
    assert_int_equal(control(UDP0, UDP_CTRL_ACCEPT, 6000, (intptr_t)&here), OK);
    assert_int_equal(write(UDP0 + 1, "moved", 5), 5);
    assert_int_equal(read(UDP0, text, 10), 5);
    assert_int_equal(open(UDP0 + 3, &here, NULL, 5000u, 0u), OK);  // free again
}

// --- interfaces ------------------------------------------------------------------------------------------------------
static int answer_of_dhcp;
static int dhcp(void *context, struct weir_netif *netif, unsigned timeout_ms, struct weir_addr *gateway)
{
    assert_ptr_equal(context, &answer_of_dhcp);
    assert_ptr_equal(netif, &w.netif);
    assert_int_equal(timeout_ms, 1234);
    *gateway = weir_ip4(10, 0, 0, 9);
    return answer_of_dhcp;
}

static void interfaces_tell_about_themselves(void **state)
{
    struct netaddr address;
    (void)state;
    assert_int_equal(control(ETH0, NET_GET_MTU, 0, 0), SYSERR);  // not open
    assert_int_equal(open(ETH0), OK);
    assert_int_equal(open(ETH1), SYSERR);  // there is none
    assert_int_equal(control(ETH0, NET_GET_MTU, 0, 0), w.netif.mtu);
    assert_int_equal(control(ETH0, NET_GET_HWBRC, (intptr_t)&address, 0), OK);
    assert_int_equal(address.addr[5], 0xff);
    assert_int_equal(control(ETH0, NET_GET_HWADDR, (intptr_t)&address, 0), OK);
    assert_int_equal(address.type, NETADDR_ETHERNET);
    assert_memory_equal(address.addr, w.netif.mac, 6);
    assert_int_equal(control(ETH0, 4711, 0, 0), SYSERR);
    assert_int_equal(control(ETH0, NET_GET_LINKHDRLEN, 0, 0), 0);  // of raw IP
    assert_int_equal(read(ETH0, &address, 1), SYSERR);
    assert_int_equal(write(ETH0, &address, 1), SYSERR);
}

static void addresses_and_gateways(void **state)
{
    struct netaddr ip, mask, gateway, bad;
    (void)state;
    (void)netaddr4(&ip, 10, 1, 0, 7);
    (void)netaddr4(&mask, 255, 255, 254, 0);
    (void)netaddr4(&gateway, 10, 1, 0, 1);
    (void)netaddr4(&bad, 255, 0, 255, 0);
    assert_int_equal(netUp(ETH0, &ip, &mask, &gateway), SYSERR);  // not open
    assert_int_equal(open(ETH0), OK);
    assert_int_equal(netUp(ETH0, &ip, &bad, &gateway), SYSERR);
    assert_int_equal(netUp(ETH0, NULL, &mask, &gateway), SYSERR);
    assert_int_equal(netUp(ETH1, &ip, &mask, &gateway), SYSERR);
    assert_int_equal(netUp(-1, &ip, &mask, &gateway), SYSERR);
    assert_int_equal(netDown(ETH1), SYSERR);
    assert_int_equal(netDown(NDEVS), SYSERR);
    struct netaddr wrong = {.type = NETADDR_ETHERNET, .len = 6};
    assert_int_equal(netUp(ETH0, &wrong, &mask, &gateway), SYSERR);
    assert_int_equal(netUp(ETH0, &ip, &wrong, &gateway), SYSERR);
    assert_int_equal(netUp(ETH0, &ip, &mask, &wrong), SYSERR);
    struct netaddr far;
    assert_int_equal(netUp(ETH0, &ip, netaddr4(&far, 255, 255, 255, 255), NULL), OK);
    assert_int_equal(w.netif.address.prefix_length, 32);
    for (int i = 0; i < 20; i++) {  // more often than there are routes
        assert_int_equal(netUp(ETH0, &ip, &mask, &gateway), OK);
        assert_int_equal(w.netif.address.prefix_length, 23);
        assert_true(weir_addr_equal(w.netif.address.addr, weir_ip4(10, 1, 0, 7)));
        (void)netaddr4(&gateway, 10, 1, 0, (unsigned)i + 1);
    }
    assert_int_equal(netDown(ETH0), OK);
    assert_true(weir_addr_is_any(w.netif.address.addr));
    assert_int_equal(netUp(ETH0, &ip, &mask, NULL), OK);
    assert_int_equal(close(ETH0), OK);
    assert_int_equal(w.netif.flags & WEIR_NETIF_UP, 0);
    assert_int_equal(netaddrequal(&ip, &ip), 1);
    assert_int_equal(netaddrequal(&ip, &mask), 0);
    assert_int_equal(netaddrequal(&ip, &wrong), 0);
    wrong.type = ip.type;
    assert_int_equal(netaddrequal(&ip, &wrong), 0);
    wrong.len = 200;
    assert_int_equal(netaddrequal(&wrong, &wrong), 0);  // longer than an address can be
}

static void an_address_by_dhcp(void **state)
{
    struct dhcpData data;
    struct netaddr expected;
    (void)state;
    assert_int_equal(open(ETH0), OK);
    assert_int_equal(dhcpClient(ETH0, 1234, &data), SYSERR);  // the system has none
    assert_int_equal(dhcpClient(ETH1, 1234, &data), SYSERR);
    xinu.config.dhcp = dhcp;
    xinu.config.context = &answer_of_dhcp;
    answer_of_dhcp = TIMEOUT;
    assert_int_equal(dhcpClient(ETH0, 1234, &data), TIMEOUT);
    answer_of_dhcp = OK;
    assert_int_equal(dhcpClient(ETH0, 1234, &data), OK);
    assert_int_equal(netaddrequal(&data.ip, netaddr4(&expected, 10, 0, 0, 1)), 1);  // what the interface has
    assert_int_equal(netaddrequal(&data.mask, netaddr4(&expected, 255, 255, 255, 0)), 1);
    assert_int_equal(netaddrequal(&data.gateway, netaddr4(&expected, 10, 0, 0, 9)), 1);
    assert_int_equal(netUp(ETH0, &data.ip, &data.mask, &data.gateway), OK);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
#define TEST_TWO(name) cmocka_unit_test_setup_teardown(name, setup_two, teardown)
    const struct CMUnitTest tests[] = {
        TEST(numbers_name_devices),
        TEST(devices_are_given_out_and_come_back),
        TEST(a_passive_device_becomes_the_connection),
        TEST(a_read_waits_for_all),
        TEST(a_read_may_take_what_is_there),
        TEST(several_devices_share_a_port),
        TEST(closing_ends_an_open_that_waits),
        TEST(closing_ends_a_read_that_waits),
        TEST(a_passive_device_may_want_one_peer),
        TEST(opens_that_cannot_be),
#if WEIR_CFG_REALTIME
        TEST(a_read_that_is_a_deadline_never_waits),
        TEST(a_read_without_deadlines_waits),
        TEST(a_read_with_a_period_ends_at_its_deadline),
        TEST(a_mode_without_what_it_needs_is_refused),
#endif
        TEST(datagrams_between_two_devices),
        TEST(a_device_with_a_remote_end_hears_only_that),
        TEST(a_passive_device_answers_by_the_headers),
        TEST(an_end_that_cannot_be_changes_nothing),
        TEST(lengths_and_numbers_that_cannot_be),
        TEST(long_writes_are_several_datagrams),
        TEST(a_device_moves_to_another_port),
        TEST_TWO(interfaces_tell_about_themselves),
        TEST_TWO(addresses_and_gateways),
        TEST_TWO(an_address_by_dhcp),
    };
    return cmocka_run_group_tests_name("xinu/xinu", tests, NULL, NULL);
}
