// SPDX-License-Identifier: BSD-2-Clause
// not on mips: real time, eventfd and ppoll under emulation
#include "built.h"
#include "world.h"

#include <string.h>

static void socket_arguments(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, false, NULL);
    if (!WEIR_CFG_IP6)
        assert_errno(bsd_socket(w.bsd, WEIR_AF_INET6, WEIR_SOCK_STREAM, 0), EAFNOSUPPORT);
    assert_errno(bsd_socket(w.bsd, 11, WEIR_SOCK_STREAM, 0), EAFNOSUPPORT);
    assert_errno(bsd_socket(w.bsd, WEIR_AF_INET, 77, 0), EPROTONOSUPPORT);
    assert_errno(bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, WEIR_IPPROTO_UDP), EPROTONOSUPPORT);
    assert_errno(bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_RAW, 0), EPROTONOSUPPORT);
    const int a = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    const int b =
        bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM | WEIR_SOCK_NONBLOCK | WEIR_SOCK_CLOEXEC, WEIR_IPPROTO_UDP);
    const int c = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_RAW, 253);
    const int d = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, WEIR_IPPROTO_ICMP);
    assert_int_equal(a, 0);
    assert_int_equal(b, 1);
    assert_int_equal(c, 2);
    assert_int_equal(d, 3);
    assert_int_equal(bsd_fcntl(w.bsd, b, WEIR_F_GETFL, 0), WEIR_O_RDWR | WEIR_O_NONBLOCK);
    assert_int_equal(bsd_close(w.bsd, b), 0);
    assert_int_equal(bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0), 1);  // the lowest free one
    assert_errno(bsd_close(w.bsd, 99), EBADF);
    assert_errno(bsd_close(w.bsd, -1), EBADF);
    world_close(&w);  // closes the rest
}

static void descriptors_run_out(void **state)
{
    struct world w;
    const struct weir_bsd_config config = {.descriptors = 3, .first_descriptor = 100};
    (void)state;
    world_open(&w, false, &config);
    for (int fd = 100; fd < 103; fd++)
        assert_int_equal(bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0), fd);
    assert_errno(bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0), EMFILE);
    assert_errno(bsd_close(w.bsd, 3), EBADF);
    world_close(&w);
}

static void addresses_are_checked(void **state)
{
    struct world w;
    struct weir_sockaddr_in address = world_address(LOCALHOST, 80);
    (void)state;
    world_open(&w, false, NULL);
    const int fd = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    assert_errno(bsd_bind(w.bsd, fd, (struct weir_sockaddr *)(void *)&address, 4), EINVAL);
    assert_errno(bsd_bind(w.bsd, fd, NULL, 16), EINVAL);
    address.sin_family = 10;
    assert_errno(bsd_bind(w.bsd, fd, ADDRESS(address)), EAFNOSUPPORT);
    address = world_address(0x01020304, 80);
    assert_errno(bsd_bind(w.bsd, fd, ADDRESS(address)), EADDRNOTAVAIL);
    assert_errno(bsd_bind(w.bsd, 55, ADDRESS(address)), EBADF);
    address = world_address(WEIR_INADDR_ANY, 0);
    assert_int_equal(bsd_bind(w.bsd, fd, ADDRESS(address)), 0);
    struct weir_sockaddr_in got;
    weir_socklen length = sizeof got;
    assert_int_equal(bsd_getsockname(w.bsd, fd, (struct weir_sockaddr *)(void *)&got, &length), 0);
    assert_int_equal(length, sizeof got);
    assert_int_equal(got.sin_family, WEIR_AF_INET);
    assert_true(got.sin_port != 0);
    assert_errno(bsd_getpeername(w.bsd, fd, (struct weir_sockaddr *)(void *)&got, &length), ENOTCONN);
    const int other = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    address.sin_port = got.sin_port;
    assert_errno(bsd_bind(w.bsd, other, ADDRESS(address)), EADDRINUSE);
    world_close(&w);
}

static void connect_and_accept(void **state)
{
    struct world w;
    (void)state;
    world_open(&w, false, NULL);
    const int listener = world_listener(&w, 8080);
    const int client = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    struct weir_sockaddr_in to = world_address(LOCALHOST, 8080), from, own;
    weir_socklen length = sizeof from;
    assert_int_equal(bsd_connect(w.bsd, client, ADDRESS(to)), 0);
    assert_errno(bsd_connect(w.bsd, client, ADDRESS(to)), EISCONN);
    assert_errno(bsd_connect(w.bsd, listener, ADDRESS(to)), EISCONN);
    const int server = bsd_accept4(w.bsd, listener, (struct weir_sockaddr *)(void *)&from, &length, WEIR_SOCK_NONBLOCK);
    assert_true(server >= 0);
    assert_int_equal(bsd_fcntl(w.bsd, server, WEIR_F_GETFL, 0) & WEIR_O_NONBLOCK, WEIR_O_NONBLOCK);
    length = sizeof own;
    assert_int_equal(bsd_getsockname(w.bsd, client, (struct weir_sockaddr *)(void *)&own, &length), 0);
    assert_int_equal(own.sin_port, from.sin_port);
    assert_int_equal(from.sin_addr.s_addr, weir_htonl(LOCALHOST));
    assert_errno(bsd_accept(w.bsd, client, NULL, NULL), EINVAL);
    assert_int_equal(bsd_fcntl(w.bsd, listener, WEIR_F_SETFL, WEIR_O_NONBLOCK), 0);
    assert_errno(bsd_accept(w.bsd, listener, NULL, NULL), EAGAIN);
    assert_errno(bsd_recv(w.bsd, listener, &length, 1, 0), ENOTCONN);
    world_close(&w);
}

static void a_refused_connect_fails(void **state)
{
    struct world w;
    struct weir_sockaddr_in to = world_address(LOCALHOST, 1);
    (void)state;
    world_open(&w, false, NULL);
    const int fd = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    assert_errno(bsd_connect(w.bsd, fd, ADDRESS(to)), ECONNREFUSED);
    world_close(&w);
}

static void connect_in_progress(void **state)
{
    struct world w;
    struct weir_sockaddr_in to = world_address(LOCALHOST, 8081), nowhere = world_address(0x08080808, 80);
    int error = -1;
    weir_socklen length = sizeof error;
    (void)state;
    world_open(&w, false, NULL);
    world_listener(&w, 8081);
    const int fd = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM | WEIR_SOCK_NONBLOCK, 0);
    w.host.options.hand_over = true;  // nothing moves until polled
    assert_errno(bsd_connect(w.bsd, fd, ADDRESS(to)), EINPROGRESS);
    assert_errno(bsd_connect(w.bsd, fd, ADDRESS(to)), EALREADY);
    struct weir_pollfd poll = {.fd = fd, .events = WEIR_POLLOUT};
    assert_int_equal(bsd_poll(w.bsd, &poll, 1, 0), 0);
    assert_int_equal(bsd_poll(w.bsd, &poll, 1, 5000), 1);
    assert_int_equal(poll.revents, WEIR_POLLOUT);
    assert_int_equal(bsd_getsockopt(w.bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_ERROR, &error, &length), 0);
    assert_int_equal(error, 0);
    assert_int_equal(bsd_connect(w.bsd, fd, ADDRESS(to)), 0);  // the end of the attempt, told once
    assert_errno(bsd_connect(w.bsd, fd, ADDRESS(to)), EISCONN);
    const int lost = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    assert_errno(bsd_connect(w.bsd, lost, ADDRESS(nowhere)), ENETUNREACH);
    world_close(&w);
}

static void accept_times_out(void **state)
{
    struct world w;
    const struct weir_timeval time = {0, 30000};
    (void)state;
    world_open(&w, false, NULL);
    const int listener = world_listener(&w, 8082);
    assert_int_equal(bsd_setsockopt(w.bsd, listener, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &time, sizeof time), 0);
    const uint64_t before = posix_now_us();
    assert_errno(bsd_accept(w.bsd, listener, NULL, NULL), EAGAIN);
    assert_in_range(posix_now_us() - before, 30000, 3000000);
    world_close(&w);
}

static void shutdown_ends_directions(void **state)
{
    struct world w;
    int client, server;
    char text[8];
    (void)state;
    world_open(&w, false, NULL);
    const int fresh = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    assert_errno(bsd_shutdown(w.bsd, fresh, WEIR_SHUT_WR), ENOTCONN);
    world_streams(&w, &w, LOCALHOST, 8083, &client, &server);
    assert_errno(bsd_shutdown(w.bsd, client, 3), EINVAL);
    assert_int_equal(bsd_send(w.bsd, client, "end", 3, 0), 3);
    assert_int_equal(bsd_shutdown(w.bsd, client, WEIR_SHUT_WR), 0);
    assert_errno(bsd_send(w.bsd, client, "x", 1, 0), EPIPE);
    assert_int_equal(bsd_recv(w.bsd, server, text, sizeof text, 0), 3);
    assert_int_equal(bsd_recv(w.bsd, server, text, sizeof text, 0), 0);
    assert_int_equal(bsd_send(w.bsd, server, "still", 5, 0), 5);  // half-closed: the other way is open
    assert_int_equal(bsd_recv(w.bsd, client, text, sizeof text, 0), 5);
    assert_int_equal(bsd_shutdown(w.bsd, client, WEIR_SHUT_RD), 0);
    assert_int_equal(bsd_recv(w.bsd, client, text, sizeof text, 0), 0);
    world_close(&w);
}

static void linger_waits_for_the_data(void **state)
{
    struct world w;
    int client, server, bytes = -1;
    const struct weir_linger linger = {1, 5}, none = {1, 0};
    char text[8];
    (void)state;
    world_open(&w, false, NULL);
    world_streams(&w, &w, LOCALHOST, 8084, &client, &server);
    assert_int_equal(bsd_setsockopt(w.bsd, client, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &linger, sizeof linger), 0);
    assert_int_equal(bsd_send(w.bsd, client, "last", 4, 0), 4);
    const uint64_t before = posix_now_us();
    assert_int_equal(bsd_close(w.bsd, client), 0);
    assert_true(posix_now_us() - before < 4000000);
    assert_int_equal(bsd_ioctl(w.bsd, server, WEIR_FIONREAD, &bytes), 0);
    assert_int_equal(bytes, 4);  // it had arrived when close returned
    assert_int_equal(bsd_recv(w.bsd, server, text, sizeof text, 0), 4);
    bsd_close(w.bsd, server);
    world_streams(&w, &w, LOCALHOST, 8085, &client, &server);
    assert_int_equal(bsd_setsockopt(w.bsd, client, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &none, sizeof none), 0);
    assert_int_equal(bsd_close(w.bsd, client), 0);
    assert_errno(bsd_recv(w.bsd, server, text, sizeof text, 0), ECONNRESET);
    world_close(&w);
}

// A connection whose peer reads nothing, with more in it than it takes.
static void open_stuffed(struct world *w, bool threaded, uint16_t port, int *client, int *server, int seconds)
{
    static char block[65536];
    const struct weir_linger linger = {1, seconds};
    world_open(w, threaded, NULL);
    world_streams(w, w, LOCALHOST, port, client, server);
    assert_int_equal(bsd_setsockopt(w->bsd, *client, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &linger, sizeof linger), 0);
    for (int pauses = 0; pauses < 20;) {
        if (bsd_send(w->bsd, *client, block, sizeof block, WEIR_MSG_DONTWAIT) > 0)
            continue;
        struct weir_pollfd room = {*client, WEIR_POLLOUT, 0};
        pauses += bsd_poll(w->bsd, &room, 1, 10) == 0;
    }
}

// Who does not read keeps a lingering close for its time, and no longer; without data left it takes none.
static void linger_ends_at_its_time(void **state)
{
    struct world w;
    int client, server;
    (void)state;
    for (int threaded = 0; threaded < 2; threaded++) {
        open_stuffed(&w, threaded, 7710, &client, &server, 1);
        const uint64_t before = posix_now_us();
        assert_int_equal(bsd_close(w.bsd, client), 0);
        assert_in_range(posix_now_us() - before, 1000000, 5000000);
        assert_int_equal(bsd_close(w.bsd, server), 0);
        world_close(&w);
    }
}

// One that does not block does not linger, and a peer that gives up ends the wait.
static void linger_ends_with_the_connection(void **state)
{
    struct world w;
    int client, server;
    (void)state;
    open_stuffed(&w, false, 7711, &client, &server, 100);
    assert_int_equal(bsd_fcntl(w.bsd, client, WEIR_F_SETFL, WEIR_O_NONBLOCK), 0);
    const uint64_t before = posix_now_us();
    assert_int_equal(bsd_close(w.bsd, client), 0);
    assert_true(posix_now_us() - before < 50000000);
    assert_int_equal(bsd_close(w.bsd, server), 0);
    world_close(&w);
    open_stuffed(&w, true, 7712, &client, &server, 100);
    const struct weir_linger none = {1, 0};
    assert_int_equal(bsd_setsockopt(w.bsd, server, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &none, sizeof none), 0);
    assert_int_equal(bsd_close(w.bsd, server), 0);  // with a reset
    assert_int_equal(bsd_close(w.bsd, client), 0);
    assert_true(posix_now_us() - before < 50000000);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(socket_arguments),
        cmocka_unit_test(descriptors_run_out),
        cmocka_unit_test(addresses_are_checked),
        cmocka_unit_test(connect_and_accept),
        cmocka_unit_test(a_refused_connect_fails),
        test_with(WEIR_CFG_BSD_POLL, connect_in_progress),
        cmocka_unit_test(accept_times_out),
        cmocka_unit_test(shutdown_ends_directions),
        cmocka_unit_test(linger_waits_for_the_data),
        test_with(WEIR_CFG_BSD_POLL, linger_ends_at_its_time),
        test_with(WEIR_CFG_BSD_POLL, linger_ends_with_the_connection),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
