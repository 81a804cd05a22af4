// SPDX-License-Identifier: BSD-2-Clause
// not on mips: threads, eventfd and ppoll under emulation
// LyraOS's calls over loopback: table 1 once through, select over arrays of sockets.
#define _DEFAULT_SOURCE
#include "world.h"

#include <pthread.h>
#include <string.h>
#include <time.h>

#include "api/lyraos/lyraos.h"

static struct world w;

static int setup(void **state)
{
    (void)state;
    world_open(&w, true, NULL);
    lyraos_use(w.bsd);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    world_close(&w);
    return 0;
}

static struct sockaddr_in local(uint16_t port)
{
    return (struct sockaddr_in){
        .sin_family = AF_INET, .sin_port = htons(port), .sin_addr = {htonl(WEIR_INADDR_LOOPBACK)}};
}
#define NAME(in) ((struct sockaddr *)(void *)&(in)), (int)sizeof(in)

static int server(uint16_t port)
{
    struct sockaddr_in name = local(port);
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    assert_true(s >= 0);
    assert_int_equal(bind(s, NAME(name)), 0);
    assert_int_equal(listen(s, 4), 0);
    return s;
}

static int client(uint16_t port)
{
    struct sockaddr_in name = local(port);
    const int s = socket(AF_INET, SOCK_STREAM, 0);
    assert_int_equal(connect(s, NAME(name)), 0);
    return s;
}

static void streams(void **state)
{
    struct sockaddr_in from;
    int length = sizeof from, value = 0;
    char got[8];
    (void)state;
    const int listener = server(7), out = client(7), in = accept(listener, (struct sockaddr *)(void *)&from, &length);
    assert_true(in >= 0);
    assert_int_equal(length, sizeof from);
    assert_int_equal(from.sin_addr.s_addr, htonl(WEIR_INADDR_LOOPBACK));
    assert_int_equal(send(out, "lyra", 4, 0), 4);
    assert_int_equal(recv(in, got, sizeof got, 0), 4);
    assert_memory_equal(got, "lyra", 4);
    struct iovec pieces[2] = {{"two", 3}, {"parts", 5}}, one = {got, sizeof got};
    struct msghdr message = {.msg_iov = pieces, .msg_iovlen = 2}, to = {.msg_iov = &one, .msg_iovlen = 1};
    assert_int_equal(sendmsg(in, &message, 0), 8);
    assert_int_equal(recvmsg(out, &to, MSG_WAITALL), 8);
    assert_memory_equal(got, "twoparts", 8);
    value = 1;
    assert_int_equal(setsockopt(out, IPPROTO_TCP, TCP_NODELAY, &value, sizeof value), 0);
    value = 0;
    length = sizeof value;
    assert_int_equal(getsockopt(out, IPPROTO_TCP, TCP_NODELAY, &value, &length), 0);
    assert_int_equal(value, 1);
    assert_int_equal(closesocket(out), 0);
    assert_int_equal(recv(in, got, sizeof got, 0), 0);
    assert_errno(closesocket(out), EBADF);
    assert_errno(recv(in, got, -1, 0), EINVAL);
    length = -1;
    assert_errno(accept(listener, (struct sockaddr *)(void *)&from, &length), EINVAL);
}

static void datagrams(void **state)
{
    struct sockaddr_in to = local(9), from;
    int length = sizeof from;
    char got[8];
    (void)state;
    const int a = socket(AF_INET, SOCK_DGRAM, 0), b = socket(AF_INET, SOCK_DGRAM, 0);
    assert_int_equal(bind(b, NAME(to)), 0);
    assert_int_equal(sendto(a, "datagram", 8, 0, NAME(to)), 8);
    assert_int_equal(recvfrom(b, got, sizeof got, 0, (struct sockaddr *)(void *)&from, &length), 8);
    assert_memory_equal(got, "datagram", 8);
    assert_int_equal(sendto(b, "back", 4, 0, NAME(from)), 4);
    assert_int_equal(recv(a, got, sizeof got, 0), 4);
}

static void sets_are_arrays(void **state)
{
    fd_set set;
    (void)state;
    FD_ZERO(&set);
    for (int s = 1000; s < 1000 + 2 * FD_SETSIZE; s++)
        FD_SET(s, &set);
    assert_int_equal(set.nr, FD_SETSIZE);
    FD_SET(1003, &set);
    FD_CLR(1003, &set);
    FD_CLR(5, &set);
    assert_int_equal(set.nr, FD_SETSIZE - 1);
    assert_false(FD_ISSET(1003, &set));
    assert_true(FD_ISSET(1000 + FD_SETSIZE - 1, &set));
    assert_false(FD_ISSET(1000 + FD_SETSIZE, &set));
    FD_ZERO(&set);
    assert_false(FD_ISSET(1000, &set));
}

static void *later(void *context)
{
    nanosleep(&(struct timespec){0, 30000000}, NULL);
    assert_int_equal(send(*(int *)context, "x", 1, 0), 1);
    return NULL;
}

static void select_waits(void **state)
{
    struct timeval time = {0, 20000}, never = {-1, 0};
    fd_set in, out, exceptional;
    char got;
    (void)state;
    const int listener = server(7);
    FD_ZERO(&in);
    FD_SET(listener, &in);
    const uint64_t before = posix_now_us();
    assert_int_equal(select(listener + 1, &in, NULL, NULL, &time), 0);
    assert_in_range(posix_now_us() - before, 20000, 5000000);
    assert_int_equal(in.nr, 0);

    int a = client(7);
    FD_SET(listener, &in);
    assert_int_equal(select(0, &in, NULL, NULL, NULL), 1);
    assert_true(FD_ISSET(listener, &in));
    const int b = accept(listener, NULL, NULL);

    // One socket in two sets is asked about once and told of in both; another thread's bytes end the wait.
    pthread_t thread;
    pthread_create(&thread, NULL, later, &a);
    FD_ZERO(&in), FD_ZERO(&exceptional);
    FD_SET(b, &in), FD_SET(listener, &in), FD_SET(b, &exceptional);
    assert_int_equal(select(0, &in, NULL, &exceptional, NULL), 1);
    pthread_join(thread, NULL);
    assert_true(FD_ISSET(b, &in) && !FD_ISSET(listener, &in) && !FD_ISSET(b, &exceptional));
    FD_ZERO(&out);
    FD_SET(b, &out);
    assert_int_equal(select(0, &in, &out, NULL, NULL), 2);
    assert_int_equal(recv(b, &got, 1, 0), 1);

    FD_ZERO(&in);
    FD_SET(a, &in), FD_SET(99, &in);
    assert_errno(select(0, &in, NULL, NULL, NULL), EBADF);
    assert_int_equal(in.nr, 2);  // as it was
    FD_CLR(99, &in);
    assert_errno(select(0, &in, NULL, NULL, &never), EINVAL);
    closesocket(b);
    assert_int_equal(select(0, &in, NULL, NULL, NULL), 1);  // the end can be read
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(streams, setup, teardown),
        cmocka_unit_test_setup_teardown(datagrams, setup, teardown),
        cmocka_unit_test(sets_are_arrays),
        cmocka_unit_test_setup_teardown(select_waits, setup, teardown),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
