// SPDX-License-Identifier: BSD-2-Clause
// not on mips: threads and real time under emulation
// Romantiki's API over this machine's own BSD sockets and POSIX threads, over loopback.
#define ROMANTIKI_BSD
#include "api/romantiki/bsd/sockets.c"
#include "api/romantiki/bsd/tasks.c"
#include "api/romantiki/bsd/posix.c"

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <pthread.h>

#include <cmocka.h>

#include "api/romantiki/romantiki.h"

static DEF_LST_SOCKET(listener, 2);
static DEF_STRM_SOCKET(client);
static DEF_STRM_SOCKET(server);
static DEF_DGRAM_SOCKET(here);
static DEF_DGRAM_SOCKET(there);
static uint16_t port;

static uint16_t port_of(const struct romantiki_socket *socket)
{
    struct sockaddr_in name;
    socklen_t length = sizeof name;
    assert_int_equal(getsockname(socket->descriptor, (struct sockaddr *)&name, &length), 0);
    return ntohs(name.sin_port);
}

static int setup(void **state)
{
    (void)state;
    LST_SOCKET(listener, SOCK_MODE(SOCK_BLOCKING));
    STRM_SOCKET(client, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    STRM_SOCKET(server, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    assert_int_equal(socket_listen(&listener, 0, INADDR_LOOPBACK), EOK);
    port = port_of(&listener);
    return 0;
}
static int teardown(void **state)
{
    (void)state;
    assert_int_equal(socket_close(&client), EOK);
    assert_int_equal(socket_close(&server), EOK);
    assert_int_equal(socket_close(&listener), EOK);
    assert_int_equal(socket_close(&listener), EOK);  // again does nothing
    return 0;
}

static void join(void)
{
    int res = 0;
    socket_connect(&client, INADDR_LOOPBACK, port, &res, NULL);
    assert_int_equal(res, EOK);
    socket_accept(&listener, &server, &res);
    assert_int_equal(res, EOK);
}

static void streams(void **state)
{
    char data[16] = {0};
    unsigned bytes = 99;
    int res = 0;
    (void)state;
    join();
    socket_send(&client, "romantiki", 9, &bytes, &res, NULL);
    assert_int_equal(bytes, 9);
    assert_int_equal(res, EOK);
    socket_rcv(&server, data, sizeof data, &bytes, &res, NULL);  // the listing's other spelling
    assert_int_equal(bytes, 9);
    assert_string_equal(data, "romantiki");
    assert_int_equal(socket_close(&client), EOK);
    socket_recv(&server, data, sizeof data, &bytes, &res, NULL);  // the end
    assert_int_equal(bytes, 0);
    assert_int_equal(res, EOK);
    socket_recv(&client, data, sizeof data, &bytes, &res, NULL);  // closed: no bytes, not 4 G
    assert_int_equal(bytes, 0);
    assert_int_equal(res, -EBADF);
}

static void an_accepted_stream_is_given_back(void **state)
{
    char byte;
    unsigned bytes;
    int res;
    (void)state;
    join();
    const int numbers[] = {client.descriptor, server.descriptor};
    join();  // both sides hold another now, and the lowest free number for it is the old one's
    assert_int_equal(client.descriptor, numbers[0]);
    assert_int_equal(server.descriptor, numbers[1]);
    const unsigned timeout = 2000;
    socket_send(&client, "x", 1, &bytes, &res, NULL);
    socket_recv(&server, &byte, 1, &bytes, &res, &timeout);
    assert_int_equal(bytes, 1);
}

static void waits(void **state)
{
    char data[4];
    unsigned bytes;
    int res = 0;
    const unsigned timeout = 30;
    (void)state;
    listener.mode = SOCK_NONBLOCKING;
    socket_accept(&listener, &server, &res);
    assert_int_equal(res, EWAIT);
    listener.mode = SOCK_BLOCKING;
    join();
    const uint64_t before = now_us();
    socket_recv(&server, data, sizeof data, &bytes, &res, &timeout);
    assert_int_equal(res, ETIMEOUT);
    assert_in_range(now_us() - before, 30000, 5000000);
    server.mode = SOCK_NONBLOCKING;
    socket_recv(&server, data, sizeof data, &bytes, &res, NULL);
    assert_int_equal(res, EWAIT);
    // Nobody reads: at last there is no room, and what was taken is told.
    static char much[1 << 20];
    client.mode = SOCK_NONBLOCKING;
    unsigned whole = 0;
    do {
        socket_send(&client, much, sizeof much, &bytes, &res, NULL);
        whole += bytes;
    } while (res == EOK);
    assert_int_equal(res, EWAIT);
    for (server.mode = SOCK_BLOCKING; whole; whole -= bytes) {
        socket_recv(&server, much, sizeof much, &bytes, &res, NULL);
        assert_int_equal(res, EOK);
    }
}

static void connecting_to_nobody(void **state)
{
    int res = 0;
    (void)state;
    assert_int_equal(socket_close(&listener), EOK);
    socket_connect(&client, INADDR_LOOPBACK, port, &res, NULL);
    assert_int_equal(res, -ECONNREFUSED);
    assert_int_equal(client.descriptor, -1);
}

static void selecting(void **state)
{
    struct romantiki_socket *const list[] = {&listener, &server};
    unsigned ready = 99, bytes;
    int res;
    const unsigned timeout = 20;
    (void)state;
    join();
    socket_select(list, 2, &ready, &timeout);
    assert_int_equal(ready, 0);
    socket_send(&client, "x", 1, &bytes, &res, NULL);
    socket_select(list, 2, &ready, NULL);
    assert_int_equal(ready, 2);
    struct romantiki_socket another;
    romantiki_socket_init(&another, SOCK_BLOCKING, 0);
    socket_connect(&another, INADDR_LOOPBACK, port, &res, NULL);
    for (ready = 2; ready == 2; usleep(1000))  // it may be there for who connected before it is for who listens
        socket_select(list, 2, &ready, NULL);
    assert_int_equal(ready, 3);
    assert_int_equal(socket_close(&another), EOK);
}

static void splitting(void **state)
{
    char data[16] = {0};
    unsigned bytes;
    int res, on = 0;
    socklen_t length = sizeof on;
    (void)state;
    server.mode = SOCK_SPLIT;
    join();
    assert_int_equal(getsockopt(server.descriptor, IPPROTO_TCP, TCP_NODELAY, &on, &length), 0);
    assert_true(on);
    socket_send(&server, "answer!", 7, &bytes, &res, NULL);
    assert_int_equal(bytes, 7);
    assert_int_equal(recv(client.descriptor, data, 7, MSG_WAITALL), 7);
    assert_string_equal(data, "answer!");
}

static void datagrams(void **state)
{
    char data[8] = {0};
    unsigned bytes;
    int res;
    const unsigned timeout = 20;
    struct weir_endpoint from, to = {weir_addr_v4(INADDR_LOOPBACK), 0};
    (void)state;
    DGRAM_SOCKET(here, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    DGRAM_SOCKET(there, SOCK_MODE(SOCK_BLOCKING), NULL, 0);
    assert_int_equal(socket_bind(&here, 0), EOK);
    assert_int_equal(socket_bind(&there, 0), EOK);
    to.port = port_of(&there);
    socket_sendto(&here, "datagram", 8, &to, &res, NULL);
    assert_int_equal(res, EOK);
    socket_recvfrom(&there, data, 4, &bytes, &from, &res, NULL);  // the rest is cut
    assert_int_equal(bytes, 4);
    assert_string_equal(data, "data");
    assert_int_equal(weir_addr_to_v4(from.addr), INADDR_LOOPBACK);
    assert_int_equal(from.port, port_of(&here));
    socket_recvfrom(&there, data, 4, &bytes, &from, &res, &timeout);
    assert_int_equal(res, ETIMEOUT);
    assert_int_equal(socket_close(&here), EOK);
    assert_int_equal(socket_close(&there), EOK);
}

// --- tasks -----------------------------------------------------------------------------------------------------------

static DEF_TASK(task);
static DEF_EVENT(event);
static DEF_SEMAPHORE(semaphore);
static DEF_TIMER(timer);

static BFD gives(void *prm)
{
    BF_BEGIN
    SLEEP_MS(20);
    EVENT_SET((struct romantiki_flag *)prm);
    SEM_POST(&semaphore);
    SEM_POST(&semaphore);
    BF_END
}

static void tasks(void **state)
{
    int res = 99;
    const unsigned timeout = 20;
    (void)state;
    EVENT_WAIT(&event, &timeout, &res);
    assert_int_equal(res, 0);
    assert_true(TASK_START(task, gives, &event, 1));
    EVENT_WAIT(&event, NULL, &res);
    assert_int_equal(res, 1);
    SEM_WAIT(&semaphore, NULL, &res);
    SEM_WAIT(&semaphore, NULL, &res);
    assert_int_equal(res, 1);
    SEM_WAIT(&semaphore, &timeout, &res);
    assert_int_equal(res, 0);
    EVENT_SET(&event);
    EVENT_SET(&event);  // stays one
    EVENT_WAIT(&event, &timeout, &res);
    assert_int_equal(res, 1);
    EVENT_WAIT(&event, &timeout, &res);
    assert_int_equal(res, 0);
    const uint64_t before = now_us();
    TIMER_START(&timer, 10, 20);
    TIMER_WAIT(&timer);
    TIMER_WAIT(&timer);
    assert_in_range(now_us() - before, 30000, 5000000);
    YIELD;
}

// Two tasks of one function have each its own AUTO variables and its own errno.
static DEF_TASK(twins[2]);
static DEF_SEMAPHORE(ended);
static struct twin {
    int error, seen;
    unsigned counted;
} twin[2];

static BFD counts(void *prm)
{
    AUTO unsigned times;
    struct twin *own = prm;
    BF_BEGIN
    romantiki_set_errno(NULL, own->error);
    for (times = 0; times < 3; times++)
        SLEEP_MS(5);
    own->counted = times;
    own->seen = romantiki_errno();
    SEM_POST(&ended);
    BF_END
}

static void two_tasks_of_one_function(void **state)
{
    int res;
    (void)state;
    for (int i = 0; i < 2; i++) {
        twin[i].error = EPIPE + i;
        assert_true(TASK_START(twins[i], counts, &twin[i], 1));
    }
    for (int i = 0; i < 2; i++)
        SEM_WAIT(&ended, NULL, &res);
    for (int i = 0; i < 2; i++) {
        assert_int_equal(twin[i].counted, 3);
        assert_int_equal(twin[i].seen, EPIPE + i);
    }
    assert_int_equal(romantiki_errno(), 0);  // this thread is no task
}

int main(void)
{
    use_posix();
    const struct CMUnitTest tests[] = {
        cmocka_unit_test_setup_teardown(streams, setup, teardown),
        cmocka_unit_test_setup_teardown(an_accepted_stream_is_given_back, setup, teardown),
        cmocka_unit_test_setup_teardown(waits, setup, teardown),
        cmocka_unit_test_setup_teardown(connecting_to_nobody, setup, teardown),
        cmocka_unit_test_setup_teardown(selecting, setup, teardown),
        cmocka_unit_test_setup_teardown(splitting, setup, teardown),
        cmocka_unit_test(datagrams),
        cmocka_unit_test(tasks),
        cmocka_unit_test(two_tasks_of_one_function),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
