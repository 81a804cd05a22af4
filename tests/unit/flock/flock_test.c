// SPDX-License-Identifier: BSD-2-Clause
// not on mips: threads, eventfd and ppoll under emulation
// The thesis's calls over loopback in real time, by two processes: two contexts on one instance.
#define _DEFAULT_SOURCE
#include "world.h"

#include <pthread.h>
#include <stdatomic.h>
#include <string.h>
#include <time.h>

#include "api/flock/system.h"

enum { PORT = 4711 };

static struct world w;
static struct flock_listeners listeners;
static struct flock first, second;
static _Thread_local const struct flock *process;

static const struct flock *self(void) { return process; }
static void nap(long us) { nanosleep(&(struct timespec){us / 1000000, us % 1000000 * 1000}, NULL); }

static int setup(void **state)
{
    (void)state;
    world_open(&w, true, NULL);
    listeners = (struct flock_listeners){0};
    first = (struct flock){w.bsd, &listeners};
    second = (struct flock){bsd_create(w.weir, NULL), &listeners};
    assert_non_null(second.bsd);
    flock_use(self);
    process = &first;
    return 0;
}

static int teardown(void **state)
{
    (void)state;
    assert_null(listeners.first);
    bsd_destroy(second.bsd);
    world_close(&w);
    return 0;
}

static struct sockaddr at(uint16_t port) { return (struct sockaddr){pton(127, 0, 0, 1), port}; }
static struct sockaddr any(uint16_t port) { return (struct sockaddr){0, port}; }

static int bound(uint16_t port)
{
    const struct sockaddr local = any(port);
    const int s = tcpsocket();
    assert_true(s >= 0);
    assert_int_equal(tcpbind(s, &local), 0);
    return s;
}

// --- a task in tcplisten ---------------------------------------------------------------------------------------------
struct listener {
    pthread_t thread;
    const struct flock *process;
    int socket;
    unsigned timeout_ms;
    atomic_int result;
};
enum { WAITING = 77 };

static void *listen_thread(void *context)
{
    struct listener *l = context;
    process = l->process;
    atomic_store(&l->result,
                 l->timeout_ms == FLOCK_FOREVER ? tcplisten(l->socket) : tcplisten_for(l->socket, l->timeout_ms));
    return NULL;
}

// How many wait; each entry of the list, which is listen.c's own, begins with a pointer to the next.
static uint32_t waiters(void)
{
    uint32_t count = 0;
    posix_host_lock(&w.host);
    for (const void *at = listeners.first; at; memcpy(&at, at, sizeof at))
        count++;
    posix_host_unlock(&w.host);
    return count;
}

// Returns when it listens, or has ended already.
static void start(struct listener *l, int socket, unsigned timeout_ms)
{
    const uint32_t before = waiters();
    l->process = process;
    l->socket = socket;
    l->timeout_ms = timeout_ms;
    atomic_store(&l->result, WAITING);
    pthread_create(&l->thread, NULL, listen_thread, l);
    while (waiters() <= before && atomic_load(&l->result) == WAITING)
        nap(500);
    nap(20000);
}
static int end(struct listener *l)
{
    pthread_join(l->thread, NULL);
    return atomic_load(&l->result);
}

static int dial(uint16_t port)
{
    const struct sockaddr to = at(port);
    const int s = tcpsocket();
    assert_int_equal(tcpconnect(s, &to), 0);
    return s;
}

static void talk(int from, int to)
{
    char got[8];
    assert_int_equal(tcpsend(from, "weir", 4), 4);
    assert_int_equal(tcprecv(to, got, sizeof got), 4);
    assert_memory_equal(got, "weir", 4);
}

// --- figures 4.1 and 4.2 ---------------------------------------------------------------------------------------------

static void addresses_and_orders(void **state)
{
    (void)state;
    assert_int_equal(pton(130, 149, 17, 21), 0x82951115);
    assert_int_equal(swapl(0x01020304), 0x04030201);
    assert_int_equal(swapl(0xff000000), 0x000000ff);
    assert_int_equal(swaps(0x1234), 0x3412);
}

static void a_datagram_is_cut(void **state)
{
    struct sockaddr to = at(PORT), local = any(PORT), from = {0};
    char got[8] = "........";
    (void)state;
    const int receiver = udpsocket(), sender = udpsocket();
    assert_int_equal(udpbind(receiver, &local), 0);
    assert_int_equal(udpbind(sender, &local), -1);  // in use
    local.port = PORT + 1;
    assert_int_equal(udpbind(sender, &local), 0);
    assert_int_equal(udpsendto(sender, &to, "0123456789", 10), 10);
    assert_int_equal(udpsendto(sender, &to, "next", 4), 4);
    assert_int_equal(udprecvfrom(receiver, &from, got, 6), 6);
    assert_memory_equal(got, "012345..", 8);
    assert_int_equal(from.addr, pton(127, 0, 0, 1));
    assert_int_equal(from.port, PORT + 1);
    assert_int_equal(udprecvfrom(receiver, NULL, got, sizeof got), 4);  // 6789 is lost
    assert_memory_equal(got, "next", 4);
    assert_int_equal(udpclose(sender), 0);
    assert_int_equal(udpclose(sender), -1);
    assert_int_equal(udpclose(receiver), 0);
}

static void receiving_has_a_time(void **state)
{
    char got[8];
    (void)state;
    const int s = udpsocket();
    const struct sockaddr local = any(PORT);
    assert_int_equal(udpbind(s, &local), 0);
    assert_int_equal(udprecvfrom_for(s, NULL, got, sizeof got, 0), FLOCK_LATE);
    const uint64_t before = posix_now_us();
    assert_int_equal(udprecvfrom_for(s, NULL, got, sizeof got, 30), FLOCK_LATE);
    assert_in_range(posix_now_us() - before, 30000, 2000000);
    udpclose(s);
}

static void bad_sockets(void **state)
{
    const struct sockaddr to = at(PORT);
    char got[4];
    (void)state;
    const int tcp = tcpsocket(), udp = udpsocket();
    assert_int_equal(tcpclose(udp), -1);
    assert_int_equal(udpclose(tcp), -1);
    assert_int_equal(tcpsend(udp, "x", 1), -1);
    assert_int_equal(udpsendto(tcp, &to, "x", 1), -1);
    assert_int_equal(tcpsend(tcp, "x", 1), -1);  // not connected
    assert_int_equal(tcprecv(tcp, got, 4), -1);
    assert_int_equal(tcpconnect(99, &to), -1);
    assert_int_equal(tcpconnect(tcp, NULL), -1);
    assert_int_equal(tcplisten(udp), -1);
    assert_int_equal(tcpclose(tcp), 0);
    assert_int_equal(udpclose(udp), 0);
}

static void the_same_socket_becomes_the_connection(void **state)
{
    struct listener l;
    char got[16];
    (void)state;
    const int server = bound(PORT);
    start(&l, server, FLOCK_FOREVER);
    const int client = dial(PORT);
    assert_int_equal(end(&l), 0);
    talk(client, server);
    talk(server, client);
    // Several segments in one call; 0 at the end.
    assert_int_equal(tcpsend(client, "one", 3), 3);
    assert_int_equal(tcpsend(client, "two", 3), 3);
    assert_int_equal(tcpclose(client), 0);
    while (bsd_recv(w.bsd, server, got, sizeof got, WEIR_MSG_PEEK | WEIR_MSG_DONTWAIT) < 6)
        nap(500);
    assert_int_equal(tcprecv(server, got, sizeof got), 6);
    assert_memory_equal(got, "onetwo", 6);
    assert_int_equal(tcprecv(server, got, sizeof got), 0);
    assert_int_equal(tcplisten(server), -1);  // it is a connection
    assert_int_equal(tcpclose(server), 0);
    // Nobody listens any more.
    const struct sockaddr to = at(PORT);
    const int again = tcpsocket();
    assert_int_equal(tcpconnect(again, &to), -1);
    tcpclose(again);
}

static void a_failed_connect_leaves_the_socket(void **state)
{
    struct listener l;
    const struct sockaddr to = at(PORT), local = any(PORT + 7);
    (void)state;
    const int s = tcpsocket();
    assert_int_equal(tcpbind(s, &local), 0);
    for (int i = 0; i < 3; i++)
        assert_int_equal(tcpconnect(s, &to), -1);
    const int server = bound(PORT);
    start(&l, server, FLOCK_FOREVER);
    assert_int_equal(tcpconnect(s, &to), 0);
    assert_int_equal(end(&l), 0);
    struct weir_endpoint peer;
    assert_int_equal(weir_socket_peer(w.weir, bsd_handle(w.bsd, server), &peer), WEIR_OK);
    assert_int_equal(peer.port, PORT + 7);  // bound as before
    talk(s, server);
    assert_int_equal(tcpconnect(s, &to), -1);  // connected; and it stays so
    talk(s, server);
    tcpclose(s);
    tcpclose(server);
}

static void connecting_has_a_time(void **state)
{
    struct listener l;
    struct sockaddr to = at(PORT);
    char got[4];
    (void)state;
    const int server = bound(PORT), s = tcpsocket();
    posix_host_stop(&w.host);
    w.host.options.hand_over = true;  // a poller does it, and there is none until somebody waits
    int result = tcpconnect_for(s, &to, 0);
    assert_int_equal(result, FLOCK_LATE);
    start(&l, server, FLOCK_FOREVER);
    assert_int_equal(posix_host_start(&w.host), 0);
    for (int i = 0; i < 1000 && result == FLOCK_LATE; i++, nap(1000))
        result = tcpconnect_for(s, &to, 0);
    assert_int_equal(result, 0);
    assert_int_equal(end(&l), 0);
    assert_int_equal(tcprecv_for(s, got, 4, 0), FLOCK_LATE);
    const uint64_t before = posix_now_us();
    assert_int_equal(tcprecv_for(s, got, 4, 25), FLOCK_LATE);
    assert_in_range(posix_now_us() - before, 25000, 2000000);
    talk(server, s);
    tcpclose(s);
    tcpclose(server);
}

// --- tcpbind: only a socket that does not listen is in the way -------------------------------------------------------

static void binding(void **state)
{
    struct listener a, b;
    const struct sockaddr local = any(PORT), exact = at(PORT);
    (void)state;
    const int one = bound(PORT), two = tcpsocket(), three = tcpsocket();
    assert_int_equal(tcpbind(two, &local), -1);  // one is bound and does not listen
    assert_int_equal(tcpbind(two, &exact), -1);  // any is every address
    start(&a, one, FLOCK_FOREVER);
    assert_int_equal(tcpbind(two, &local), 0);     // one listens
    assert_int_equal(tcpbind(three, &local), -1);  // two does not
    process = &second;
    const int other = tcpsocket();
    assert_int_equal(tcpbind(other, &local), -1);  // nor does another process's
    process = &first;
    start(&b, two, FLOCK_FOREVER);
    assert_int_equal(tcpbind(three, &local), 0);
    const int client = dial(PORT);
    assert_int_equal(end(&a), 0);  // the first that waited
    assert_int_equal(atomic_load(&b.result), WAITING);
    talk(client, one);
    const int next = dial(PORT);
    assert_int_equal(end(&b), 0);
    talk(next, two);
    talk(two, next);
    // What is closed holds nothing, though its connections linger.
    tcpclose(three);
    const int four = tcpsocket();
    assert_int_equal(tcpbind(four, &local), -1);  // connections are in the way, too
    tcpclose(one), tcpclose(two), tcpclose(client), tcpclose(next);
    assert_int_equal(tcpbind(four, &local), 0);
    tcpclose(four);
}

static void listening_has_a_time(void **state)
{
    struct listener a, b;
    (void)state;
    const int one = bound(PORT);
    assert_int_equal(tcplisten_for(one, 0), FLOCK_LATE);
    start(&a, one, 1000);
    const struct sockaddr local = any(PORT);
    const int two = tcpsocket();
    assert_int_equal(tcpbind(two, &local), 0);
    start(&b, two, FLOCK_FOREVER);
    assert_int_equal(end(&a), FLOCK_LATE);
    const int client = dial(PORT);  // two has taken over
    assert_int_equal(end(&b), 0);
    talk(client, two);
    tcpclose(client);
    tcpclose(two);
    start(&a, one, FLOCK_FOREVER);  // one is as it was
    const int again = dial(PORT);
    assert_int_equal(end(&a), 0);
    talk(again, one);
    tcpclose(again);
    tcpclose(one);
}

static void closing_ends_the_wait(void **state)
{
    struct listener a, b;
    const struct sockaddr local = any(PORT);
    (void)state;
    const int one = bound(PORT), two = tcpsocket();
    start(&a, one, FLOCK_FOREVER);
    assert_int_equal(tcpbind(two, &local), 0);
    start(&b, two, FLOCK_FOREVER);
    assert_int_equal(tcpclose(one), 0);
    assert_int_equal(end(&a), -1);
    const int client = dial(PORT);
    assert_int_equal(end(&b), 0);
    talk(client, two);
    tcpclose(client);
    tcpclose(two);
}

// --- processes -------------------------------------------------------------------------------------------------------

static void a_socket_belongs_to_its_process(void **state)
{
    struct listener l;
    char got[4];
    (void)state;
    process = &second;
    const int server = bound(PORT);
    start(&l, server, FLOCK_FOREVER);
    process = &first;
    const int client = dial(PORT);
    assert_int_equal(end(&l), 0);
    process = &second;
    assert_int_equal(tcpclose(client + 1), -1);
    for (int number = server + 1; number < server + 5; number++)  // none of the first's by any number but one's own
        assert_int_equal(tcprecv_for(number, got, 4, 0), -1);
    process = &first;
    assert_int_equal(tcpsend(client, "weir", 4), 4);
    process = &second;
    assert_int_equal(tcprecv(server, got, 4), 4);
    process = &first;
    // The second process ends: its sockets are closed, and who spoke with them learns it.
    bsd_destroy(second.bsd);
    second.bsd = bsd_create(w.weir, NULL);
    assert_int_equal(tcprecv(client, got, 4), 0);
    tcpclose(client);
}

// --- memory of the process that the system does not accept -----------------------------------------------------------

static char forbidden[64];
static int guarded_in(void *context, void *to, const void *from, size_t bytes)
{
    (void)context;
    if ((const char *)from >= forbidden && (const char *)from < forbidden + sizeof forbidden)
        return 1;
    memcpy(to, from, bytes);
    return 0;
}
static int guarded_out(void *context, void *to, const void *from, size_t bytes)
{
    (void)context;
    if ((char *)to >= forbidden && (char *)to < forbidden + sizeof forbidden)
        return 1;
    memcpy(to, from, bytes);
    return 0;
}

static void a_bad_pointer_is_refused(void **state)
{
    struct listener l;
    struct sockaddr to = at(PORT), local = any(PORT);
    struct sockaddr *bad = (struct sockaddr *)(void *)forbidden;
    char got[8];
    (void)state;
    w.host.port.copy_in = guarded_in;
    w.host.port.copy_out = guarded_out;
    const int udp = udpsocket();
    assert_int_equal(udpbind(udp, bad), -1);
    assert_int_equal(udpbind(udp, &local), 0);
    assert_int_equal(udpsendto(udp, bad, "x", 1), -1);
    assert_int_equal(udpsendto(udp, &to, forbidden, 1), -1);
    assert_int_equal(udpsendto(udp, &to, "fine", 4), 4);
    assert_int_equal(udprecvfrom(udp, NULL, forbidden, 4), -1);
    assert_int_equal(udprecvfrom(udp, NULL, got, sizeof got), 4);  // it stayed
    udpclose(udp);
    const int server = bound(PORT), client = tcpsocket();
    assert_int_equal(tcpbind(client, bad), -1);
    assert_int_equal(tcpconnect(client, bad), -1);
    start(&l, server, FLOCK_FOREVER);
    assert_int_equal(tcpconnect(client, &to), 0);
    assert_int_equal(end(&l), 0);
    assert_int_equal(tcpsend(client, forbidden, 4), -1);
    assert_int_equal(tcpsend(client, "weir", 4), 4);
    assert_int_equal(tcprecv(server, forbidden, 4), -1);
    assert_int_equal(tcprecv(server, got, 4), 4);
    assert_memory_equal(got, "weir", 4);
    tcpclose(client);
    tcpclose(server);
}

int main(void)
{
#define TEST(name) cmocka_unit_test_setup_teardown(name, setup, teardown)
    const struct CMUnitTest tests[] = {
        TEST(addresses_and_orders),
        TEST(a_datagram_is_cut),
        TEST(receiving_has_a_time),
        TEST(bad_sockets),
        TEST(the_same_socket_becomes_the_connection),
        TEST(a_failed_connect_leaves_the_socket),
        TEST(connecting_has_a_time),
        TEST(binding),
        TEST(listening_has_a_time),
        TEST(closing_ends_the_wait),
        TEST(a_socket_belongs_to_its_process),
        TEST(a_bad_pointer_is_refused),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
