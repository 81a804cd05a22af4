// SPDX-License-Identifier: BSD-2-Clause
// not lean: of wait sets, of memory that faults, and of all options
// A program of BSD sockets' calls in which the n-th copy between the caller's memory and the stack's fails, or the n-th
// allocation, for every n: the call says so, and the same call again goes well. And ancillary data that lies.
#include "fixture.h"

#include <errno.h>
#include <string.h>

#include "api/bsd/weir_bsd.h"
#include "api/bsd/weir_realtime.h"

#define ADDRESS(in) ((struct weir_sockaddr *)(void *)&(in)), sizeof(in)
#define GROUP UINT32_C(0xe0010203)

static struct fixture f;
static struct weir_bsd *bsd;
static int last_error;
static uint32_t copies;  // the copy that fails, counted from now; 0: none
static uint32_t faults;  // that calls told of
static bool short_of_memory;

static void set_error(void *context, int value)
{
    (void)context;
    last_error = value;
}

static int copy_in(void *context, void *to, const void *from, size_t bytes)
{
    (void)context;
    if (copies && --copies == 0)
        return 1;
    memcpy(to, from, bytes);
    return 0;
}

static int copy_out(void *context, void *to, const void *from, size_t bytes)
{
    return copy_in(context, to, from, bytes);
}

static void open_bsd(void)
{
    const struct weir_bsd_config config = {.set_errno = set_error, .descriptors = 40};
    fixture_open(&f, &weir_link_rawip, weir_ip4(10, 0, 0, 1), 24, 0);
    f.faults.others = true;
    f.port.copy_in = copy_in;
    f.port.copy_out = copy_out;
    copies = faults = 0;
    bsd = bsd_create(f.weir, &config);
    assert_non_null(bsd);
}

static void close_bsd(void)
{
    bsd_destroy(bsd);
    fixture_close(&f);
}

static void pass(void)
{
    (void)fixture_poll(&f, 1000);
    bsd_dispatch(bsd);
}

// Whether the call that answered so is made again: it told of the trouble that was made.
static bool again(weir_ssize result)
{
    // A datagram for which there is no memory waits for some, as for room.
    const bool trouble = result < 0 && (last_error == EFAULT || last_error == ENOMEM || last_error == ENOBUFS ||
                                        (short_of_memory && last_error == EAGAIN));
    faults += trouble;
    if (trouble)
        last_error = 0;
    return trouble;
}

// The call succeeds, at the second time at the latest.
#define TRY(call) \
    do { \
        weir_ssize result_ = (call); \
        if (again(result_)) \
            result_ = (call); \
        if (result_ < 0) \
            fail_msg("%s: errno %d", #call, last_error); \
    } while (0)
// The same, of a call that takes something away even if it cannot hand it over: the second time there is nothing.
#define TAKE(call) \
    do { \
        if (again(call)) \
            (void)(call); \
    } while (0)

static struct weir_sockaddr_in of_port(uint16_t port)
{
    return (struct weir_sockaddr_in){
        .sin_family = WEIR_AF_INET, .sin_port = weir_htons(port), .sin_addr = {weir_htonl(0x0a000001)}};
}

static int open_socket(int type)
{
    int fd = bsd_socket(bsd, WEIR_AF_INET, type, 0);
    if (again(fd))
        fd = bsd_socket(bsd, WEIR_AF_INET, type, 0);
    assert_true(fd >= 0);
    return fd;
}

static void options(int fd, int stream)
{
    const struct weir_timeval time = {1, 500000};
    const struct weir_linger linger = {1, 3};
    const struct weir_ip_mreqn group = {{weir_htonl(GROUP)}, {0}, f.netif.index};
    const struct weir_group_req join = {f.netif.index, {0}};
    struct weir_group_req joined = join;
    const struct weir_sockaddr_in other = {.sin_family = WEIR_AF_INET, .sin_addr = {weir_htonl(GROUP + 1)}};
    memcpy(&joined.gr_group, &other, sizeof other);
    const int on = 1;
    const uint8_t hops = 3;
    int number;
    struct weir_timeval time_got;
    struct weir_linger linger_got;
    weir_socklen length = sizeof number;
    TRY(bsd_setsockopt(bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &time, sizeof time));
    length = sizeof time_got;
    TRY(bsd_getsockopt(bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &time_got, &length));
    assert_int_equal(time_got.tv_usec, 500000);
    TRY(bsd_setsockopt(bsd, fd, WEIR_IPPROTO_IP, WEIR_IP_TTL, &on, sizeof on));
    length = sizeof number;
    TRY(bsd_getsockopt(bsd, fd, WEIR_IPPROTO_IP, WEIR_IP_TTL, &number, &length));
    assert_int_equal(number, 1);
    length = sizeof number;
    TRY(bsd_getsockopt(bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_TYPE, &number, &length));
    TRY(bsd_ioctl(bsd, fd, WEIR_FIONBIO, (void *)(uintptr_t)&on));
    TRY(bsd_ioctl(bsd, fd, WEIR_FIONREAD, &number));
    if (stream) {
        TRY(bsd_setsockopt(bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &linger, sizeof linger));
        length = sizeof linger_got;
        TRY(bsd_getsockopt(bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &linger_got, &length));
        assert_int_equal(linger_got.l_linger, 3);
        return;
    }
    TRY(bsd_setsockopt(bsd, fd, WEIR_IPPROTO_IP, WEIR_IP_MULTICAST_TTL, &hops, sizeof hops));
    TRY(bsd_setsockopt(bsd, fd, WEIR_IPPROTO_IP, WEIR_IP_MULTICAST_IF, &group, sizeof group));
    TRY(bsd_setsockopt(bsd, fd, WEIR_IPPROTO_IP, WEIR_IP_ADD_MEMBERSHIP, &group, sizeof group));
    if (WEIR_CFG_MULTICAST_SOURCES) {
        TRY(bsd_setsockopt(bsd, fd, WEIR_IPPROTO_IP, WEIR_MCAST_JOIN_GROUP, &joined, sizeof joined));
        TRY(bsd_setsockopt(bsd, fd, WEIR_IPPROTO_IP, WEIR_MCAST_LEAVE_GROUP, &joined, sizeof joined));
    }
    TRY(bsd_setsockopt(bsd, fd, WEIR_IPPROTO_IP, WEIR_IP_DROP_MEMBERSHIP, &group, sizeof group));
}

union control {
    size_t align;
    uint8_t bytes[200];
};

// Puts one item behind those there are.
static void item_put(union control *control, size_t *length, int level, int type, const void *data, size_t bytes)
{
    struct weir_cmsghdr *cmsg = (struct weir_cmsghdr *)(void *)(control->bytes + *length);
    *cmsg = (struct weir_cmsghdr){weir_cmsg_len(bytes), level, type};
    memcpy(weir_cmsg_data(cmsg), data, bytes);
    *length += weir_cmsg_space(bytes);
}

static void datagrams(void)
{
    struct weir_sockaddr_in to = of_port(5000), from, name;
    weir_socklen length = sizeof name;
    const struct weir_in_pktinfo info = {f.netif.index, {weir_htonl(0x0a000001)}, {0}};
    const int on = 1, ttl = 9, tos = 8;
    union control control;
    size_t control_length = 0;
    char one[4] = "abc", two[4] = "def", got[2][8];
    struct weir_iovec out[2] = {{one, 3}, {two, 3}}, in[2] = {{got[0], 3}, {got[1], 8}};
    const int sender = open_socket(WEIR_SOCK_DGRAM), receiver = open_socket(WEIR_SOCK_DGRAM);
    TRY(bsd_bind(bsd, receiver, ADDRESS(to)));
    TRY(bsd_getsockname(bsd, receiver, (struct weir_sockaddr *)(void *)&name, &length));
    assert_int_equal(name.sin_port, to.sin_port);
    options(sender, false);
    TRY(bsd_setsockopt(bsd, receiver, WEIR_IPPROTO_IP, WEIR_IP_PKTINFO, &on, sizeof on));
    TRY(bsd_setsockopt(bsd, receiver, WEIR_IPPROTO_IP, WEIR_IP_RECVTTL, &on, sizeof on));
    TRY(bsd_sendto(bsd, sender, "plain", 5, WEIR_MSG_DONTWAIT, ADDRESS(to)));
    pass();
    length = sizeof from;
    TAKE(bsd_recvfrom(bsd, receiver, got[0], 8, WEIR_MSG_DONTWAIT, (struct weir_sockaddr *)(void *)&from, &length));
    item_put(&control, &control_length, WEIR_IPPROTO_IP, WEIR_IP_PKTINFO, &info, sizeof info);
    item_put(&control, &control_length, WEIR_IPPROTO_IP, WEIR_IP_TTL, &ttl, sizeof ttl);
    item_put(&control, &control_length, WEIR_IPPROTO_IP, WEIR_IP_TOS, &tos, sizeof tos);
    struct weir_msghdr message = {.msg_name = &to,
                                  .msg_namelen = sizeof to,
                                  .msg_iov = out,
                                  .msg_iovlen = 2,
                                  .msg_control = &control,
                                  .msg_controllen = control_length};
    TRY(bsd_sendmsg(bsd, sender, &message, WEIR_MSG_DONTWAIT));
    pass();
    message = (struct weir_msghdr){.msg_name = &from,
                                   .msg_namelen = sizeof from,
                                   .msg_iov = in,
                                   .msg_iovlen = 2,
                                   .msg_control = &control,
                                   .msg_controllen = sizeof control};
    TAKE(bsd_recvmsg(bsd, receiver, &message, WEIR_MSG_DONTWAIT));
    TRY(bsd_connect(bsd, sender, ADDRESS(to)));
    TRY(bsd_writev(bsd, sender, out, 2));
    pass();
    TRY(bsd_fcntl(bsd, receiver, WEIR_F_SETFL, WEIR_O_NONBLOCK));
    TAKE(bsd_readv(bsd, receiver, in, 2));
    TRY(bsd_close(bsd, sender));
    TRY(bsd_close(bsd, receiver));
}

static void streams(void)
{
    struct weir_sockaddr_in to = of_port(7), peer;
    weir_socklen length = sizeof peer;
    struct weir_epoll_event event = {WEIR_EPOLLIN, {.fd = 1}}, news;
    struct weir_fd_set reads, writes;
    struct weir_timeval none = {0, 0};
    char text[16];
    const int listener = open_socket(WEIR_SOCK_STREAM), client = open_socket(WEIR_SOCK_STREAM);
    TRY(bsd_bind(bsd, listener, ADDRESS(to)));
    TRY(bsd_listen(bsd, listener, 2));
    options(client, true);
    int set = bsd_epoll_create(bsd);
    if (again(set))
        set = bsd_epoll_create(bsd);
    TRY(bsd_epoll_ctl(bsd, set, WEIR_EPOLL_CTL_ADD, listener, &event));
    if (again(bsd_connect(bsd, client, ADDRESS(to))))
        (void)bsd_connect(bsd, client, ADDRESS(to));
    for (int i = 0; i < 10; i++)
        pass();
    TAKE(bsd_epoll_wait(bsd, set, &news, 1, 0));
    struct weir_pollfd fds[2] = {{listener, WEIR_POLLIN, 0}, {client, WEIR_POLLOUT, 0}};
    TRY(bsd_poll(bsd, fds, 2, 0));
    assert_int_equal(fds[1].revents, WEIR_POLLOUT);
    weir_fd_zero(&reads), weir_fd_zero(&writes);
    weir_fd_add(listener, &reads), weir_fd_add(client, &writes);
    weir_ssize ready = bsd_select(bsd, 40, &reads, &writes, NULL, &none);
    if (again(ready)) {
        weir_fd_zero(&reads), weir_fd_zero(&writes);
        weir_fd_add(listener, &reads), weir_fd_add(client, &writes);
        ready = bsd_select(bsd, 40, &reads, &writes, NULL, &none);
    }
    assert_true(ready >= 1);
    (void)bsd_fcntl(bsd, listener, WEIR_F_SETFL, WEIR_O_NONBLOCK);
    int accepted = bsd_accept(bsd, listener, (struct weir_sockaddr *)(void *)&peer, &length);
    if (again(accepted))  // a connection whose peer's address cannot be told is closed, as by Linux
        accepted = bsd_accept(bsd, listener, NULL, NULL);
    if (accepted >= 0) {
        length = sizeof peer;
        TRY(bsd_getpeername(bsd, accepted, (struct weir_sockaddr *)(void *)&peer, &length));
        TRY(bsd_send(bsd, client, "hello", 5, WEIR_MSG_DONTWAIT));
        for (int i = 0; i < 10; i++)
            pass();
        TRY(bsd_recv(bsd, accepted, text, 2, WEIR_MSG_PEEK | WEIR_MSG_DONTWAIT));
        TRY(bsd_recv(bsd, accepted, text, sizeof text, WEIR_MSG_DONTWAIT));
        assert_memory_equal(text, "hello", 5);  // the fault lost nothing
        TRY(bsd_close(bsd, accepted));
    }
    TRY(bsd_epoll_ctl(bsd, set, WEIR_EPOLL_CTL_DEL, listener, NULL));
    TRY(bsd_close(bsd, set));
    TRY(bsd_close(bsd, listener));
    TRY(bsd_close(bsd, client));
}

static void names(void)
{
    struct weir_addrinfo *list = NULL;
    int error = bsd_getaddrinfo(bsd, "10.0.0.1", "80", NULL, &list);
    if (error == WEIR_EAI_MEMORY) {
        faults++;
        error = bsd_getaddrinfo(bsd, "10.0.0.1", "80", NULL, &list);
    }
    assert_int_equal(error, 0);
    bsd_freeaddrinfo(bsd, list);
}

#if WEIR_CFG_REALTIME
#define FRAME 100

// Frames of a real-time stream, which go through memory of the context's own where the caller's may fault.
static void frames(void)
{
    static char frame[FRAME], got[FRAME];
    struct weir_sockaddr_in to = of_port(7);
    struct weir_realtime settings = {.mode = WEIR_REALTIME_WEIR, .frame_bytes = FRAME, .period_us = 20000};
    struct weir_realtime_frame about;
    const int listener = open_socket(WEIR_SOCK_STREAM), client = open_socket(WEIR_SOCK_STREAM);
    TRY(bsd_bind(bsd, listener, ADDRESS(to)));
    TRY(bsd_listen(bsd, listener, 2));
    (void)bsd_fcntl(bsd, client, WEIR_F_SETFL, WEIR_O_NONBLOCK);
    if (again(bsd_connect(bsd, client, ADDRESS(to))))
        (void)bsd_connect(bsd, client, ADDRESS(to));
    for (int i = 0; i < 10; i++)
        pass();
    const int server = bsd_accept(bsd, listener, NULL, NULL);
    assert_true(server >= 0);
    settings.first_us = weir_now_us(f.weir) + 500000;
    TRY(bsd_setsockopt(bsd, server, WEIR_IPPROTO_TCP, WEIR_TCP_REALTIME, &settings, sizeof settings));
    memset(frame, 7, sizeof frame);
    TRY(bsd_send(bsd, client, frame, FRAME, WEIR_MSG_DONTWAIT));
    for (int i = 0; i < 10; i++)
        pass();
    TAKE(bsd_recv_frame(bsd, server, got, FRAME, WEIR_MSG_DONTWAIT, &about));
    if (faults == 0) {
        assert_memory_equal(got, frame, FRAME);
        assert_false(about.late);
    }
    TRY(bsd_close(bsd, server));
    TRY(bsd_close(bsd, client));
    TRY(bsd_close(bsd, listener));
}

static void whichever_copy_of_a_frame_fails_the_call_says_so(void **state)
{
    uint32_t told = 0;
    bool failed = true;
    (void)state;
    for (uint32_t at = 1; failed; at++) {
        assert_true(at < 100);
        open_bsd();
        copies = at;
        frames();
        failed = copies == 0;
        told += faults;
        close_bsd();
    }
    assert_true(told > 3);
}
#endif

static void whichever_copy_fails_the_call_says_so(void **state)
{
    uint32_t told = 0, at = 1;
    (void)state;
    for (bool failed = true; failed; at++) {
        assert_true(at < 500);
        open_bsd();
        copies = at;
        datagrams();
        streams();
        failed = copies == 0;
        assert_true(faults <= 1);
        told += faults;
        close_bsd();
    }
    assert_true(at > 40);
    assert_true(told > at / 2);  // of some that were only looked at, as the news of a wait set, there are others
}

static void whichever_allocation_fails_the_call_says_so(void **state)
{
    uint32_t told = 0, at = 1;
    (void)state;
    for (bool failed = true; failed; at++) {
        assert_true(at < 500);
        open_bsd();
        short_of_memory = true;
        f.fail_at = at;
        datagrams();
        names();
        failed = f.fail_at == 0;
        short_of_memory = false;
        f.fail_at = 0;
        told += faults;
        close_bsd();
    }
    assert_true(at > 5);
    assert_true(told > 0);
}

// Waits that cannot be: of numbers beyond all descriptors, of times that are none, and without memory.
static void waits_that_cannot_be_are_refused(void **state)
{
    static const struct weir_timeval bad[] = {{-1, 0}, {0, -1}, {0, 1000000}};
    struct weir_pollfd one = {0, WEIR_POLLIN, 0};
    struct weir_timeval none = {0, 0};
    struct weir_fd_set set;
    (void)state;
    open_bsd();
    const int fd = open_socket(WEIR_SOCK_DGRAM);
    last_error = 0;
    assert_int_equal(bsd_poll(bsd, &one, 100000, 0), -1);
    assert_int_equal(last_error, EINVAL);
    for (uint32_t i = 0; i < 3; i++) {
        last_error = 0;
        assert_int_equal(bsd_select(bsd, 0, NULL, NULL, NULL, (struct weir_timeval *)(uintptr_t)&bad[i]), -1);
        assert_int_equal(last_error, EINVAL);
    }
    weir_fd_zero(&set);
    assert_int_equal(bsd_select(bsd, -1, &set, NULL, NULL, &none), -1);
    assert_int_equal(last_error, EINVAL);
    weir_fd_add(39, &set);
    last_error = 0;
    assert_int_equal(bsd_select(bsd, 40, &set, NULL, NULL, &none), -1);
    assert_int_equal(last_error, EBADF);
    struct weir_pollfd many[100];
    for (int i = 0; i < 100; i++)
        many[i] = (struct weir_pollfd){fd, WEIR_POLLIN | WEIR_POLLOUT, 0};
    f.fail_at = 1;
    last_error = 0;
    const int got = bsd_poll(bsd, many, 100, 0);
    if (f.fail_at == 0) {
        assert_int_equal(got, -1);
        assert_int_equal(last_error, ENOMEM);
    }
    f.fail_at = 0;
    assert_int_equal(bsd_poll(bsd, many, 100, 0), 100);
    weir_fd_zero(&set);
    weir_fd_add(fd, &set);
    assert_int_equal(bsd_select(bsd, fd + 1, NULL, &set, NULL, NULL), 1);  // writable: no wait
    assert_true(weir_fd_isset(fd, &set));
    close_bsd();
}

// --- ancillary data --------------------------------------------------------------------------------------------------

static int send_with(int fd, const union control *control, size_t length)
{
    struct weir_sockaddr_in to = of_port(5000);
    struct weir_iovec out = {"x", 1};
    const struct weir_msghdr message = {.msg_name = &to,
                                        .msg_namelen = sizeof to,
                                        .msg_iov = &out,
                                        .msg_iovlen = 1,
                                        .msg_control = (void *)(uintptr_t)control,
                                        .msg_controllen = length};
    last_error = 0;
    return bsd_sendmsg(bsd, fd, &message, WEIR_MSG_DONTWAIT) == 1 ? 0 : last_error;
}

static void ancillary_data_that_lies_is_refused(void **state)
{
    static const struct {
        int level, type, number;
        size_t bytes;
    } bad[] = {{WEIR_IPPROTO_IP, WEIR_IP_TTL, 0, 4},
               {WEIR_IPPROTO_IP, WEIR_IP_TTL, 256, 4},
               {WEIR_IPPROTO_IP, WEIR_IP_TTL, -1, 4},
               {WEIR_IPPROTO_IP, WEIR_IP_TOS, -1, 4},
               {WEIR_IPPROTO_IP, WEIR_IP_TOS, 256, 4},
               {WEIR_IPPROTO_IP, WEIR_IP_TTL, 9, 3},
               {WEIR_IPPROTO_IP, WEIR_IP_PKTINFO, 1, 8},
               {WEIR_IPPROTO_IP, 99, 1, 4},
               {WEIR_SOL_SOCKET, 1, 1, 4}};
    union control control;
    size_t length;
    (void)state;
    open_bsd();
    const int fd = open_socket(WEIR_SOCK_DGRAM);
    for (uint32_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        uint8_t data[16] = {0};
        memcpy(data, &bad[i].number, sizeof bad[i].number);
        length = 0;
        item_put(&control, &length, bad[i].level, bad[i].type, data, bad[i].bytes);
        if (send_with(fd, &control, length) != EINVAL)
            fail_msg("%u", i);
    }
    // An interface that cannot be, or is not there.
    static const int indices[] = {-1, 256, 200};
    for (uint32_t i = 0; i < 3; i++) {
        const struct weir_in_pktinfo info = {indices[i], {0}, {0}};
        length = 0;
        item_put(&control, &length, WEIR_IPPROTO_IP, WEIR_IP_PKTINFO, &info, sizeof info);
        assert_int_not_equal(send_with(fd, &control, length), 0);
    }
    // Headers that are shorter than themselves, and longer than what is there; and none at all.
    const int ttl = 9;
    length = 0;
    item_put(&control, &length, WEIR_IPPROTO_IP, WEIR_IP_TTL, &ttl, sizeof ttl);
    struct weir_cmsghdr *const first = (struct weir_cmsghdr *)(void *)&control;
    first->cmsg_len = sizeof *first - 1;
    assert_int_equal(send_with(fd, &control, length), EINVAL);
    first->cmsg_len = length + 1;
    assert_int_equal(send_with(fd, &control, length), EINVAL);
    first->cmsg_len = SIZE_MAX;
    assert_int_equal(send_with(fd, &control, length), EINVAL);
    first->cmsg_len = weir_cmsg_len(sizeof ttl);
    assert_int_equal(send_with(fd, &control, length), 0);
    assert_int_equal(send_with(fd, &control, sizeof *first - 1), 0);
    assert_int_equal(send_with(fd, NULL, 50), 0);
    static union {
        size_t align;
        uint8_t bytes[1000];
    } much;
    assert_int_not_equal(send_with(fd, (const union control *)(const void *)&much, sizeof much), 0);
    close_bsd();
}

#if WEIR_CFG_IP6
static void ancillary_data_of_ip6_that_lies_is_refused(void **state)
{
    static const struct {
        int type, number;
        size_t bytes;
        int error;
    } cases[] = {{WEIR_IPV6_HOPLIMIT, 0, 4, EINVAL},  {WEIR_IPV6_HOPLIMIT, 256, 4, EINVAL},
                 {WEIR_IPV6_HOPLIMIT, -2, 4, EINVAL}, {WEIR_IPV6_HOPLIMIT, 9, 3, EINVAL},
                 {WEIR_IPV6_TCLASS, 256, 4, EINVAL},  {WEIR_IPV6_TCLASS, -2, 4, EINVAL},
                 {WEIR_IPV6_PKTINFO, 0, 8, EINVAL},   {99, 1, 4, EINVAL},
                 {WEIR_IPV6_HOPLIMIT, 9, 4, 0},       {WEIR_IPV6_HOPLIMIT, -1, 4, 0},
                 {WEIR_IPV6_TCLASS, 8, 4, 0},         {WEIR_IPV6_TCLASS, -1, 4, 0}};
    struct weir_sockaddr_in6 to = {.sin6_family = WEIR_AF_INET6, .sin6_port = weir_htons(5000)};
    to.sin6_addr.s6_bytes[15] = 1;
    struct weir_iovec out = {"x", 1};
    union control control;
    (void)state;
    open_bsd();
    const int fd = bsd_socket(bsd, WEIR_AF_INET6, WEIR_SOCK_DGRAM, 0);
    struct weir_msghdr message = {
        .msg_name = &to, .msg_namelen = sizeof to, .msg_iov = &out, .msg_iovlen = 1, .msg_control = &control};
    for (uint32_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
        uint8_t data[32] = {0};
        memcpy(data, &cases[i].number, sizeof cases[i].number);
        message.msg_controllen = 0;
        size_t length = 0;
        item_put(&control, &length, WEIR_IPPROTO_IPV6, cases[i].type, data, cases[i].bytes);
        message.msg_controllen = length;
        last_error = 0;
        const weir_ssize sent = bsd_sendmsg(bsd, fd, &message, WEIR_MSG_DONTWAIT);
        if (last_error != cases[i].error || (sent == 1) != (cases[i].error == 0))
            fail_msg("%u: %d", i, last_error);
        pass();
    }
    static const struct {
        uint32_t index;
        uint8_t last;
        bool good;
    } infos[] = {{0, 1, true}, {256, 1, false}, {0, 9, false}, {200, 0, false}};
    for (uint32_t i = 0; i < 4; i++) {
        struct weir_in6_pktinfo info = {.ipi6_ifindex = infos[i].index};
        info.ipi6_addr.s6_bytes[15] = infos[i].last;
        size_t length = 0;
        item_put(&control, &length, WEIR_IPPROTO_IPV6, WEIR_IPV6_PKTINFO, &info, sizeof info);
        message.msg_controllen = length;
        assert_int_equal(bsd_sendmsg(bsd, fd, &message, WEIR_MSG_DONTWAIT) == 1, infos[i].good);
        pass();
    }
    close_bsd();
}
#endif

int main(void)
{
    const struct CMUnitTest tests[] = {
#if WEIR_CFG_REALTIME
        cmocka_unit_test(whichever_copy_of_a_frame_fails_the_call_says_so),
#endif
        cmocka_unit_test(whichever_copy_fails_the_call_says_so),
        cmocka_unit_test(whichever_allocation_fails_the_call_says_so),
        cmocka_unit_test(waits_that_cannot_be_are_refused),
        cmocka_unit_test(ancillary_data_that_lies_is_refused),
#if WEIR_CFG_IP6
        cmocka_unit_test(ancillary_data_of_ip6_that_lies_is_refused),
#endif
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
