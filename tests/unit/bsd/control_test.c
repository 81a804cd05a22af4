// SPDX-License-Identifier: BSD-2-Clause
// not on mips: real time, eventfd and ppoll under emulation
#include "built.h"
#include "world.h"

#include <string.h>

#include "weir/stats.h"

static int get_int(struct world *w, int fd, int level, int name)
{
    int value = -12345;
    weir_socklen length = sizeof value;
    assert_int_equal(bsd_getsockopt(w->bsd, fd, level, name, &value, &length), 0);
    assert_int_equal(length, sizeof value);
    return value;
}

static int set_int(struct world *w, int fd, int level, int name, int value)
{
    return bsd_setsockopt(w->bsd, fd, level, name, &value, sizeof value);
}

static void numbers_go_in_and_come_out(void **state)
{
    static const struct {
        int level, name, value;
    } stream[] =
        {
            {WEIR_SOL_SOCKET, WEIR_SO_REUSEADDR, 1},
            {WEIR_SOL_SOCKET, WEIR_SO_KEEPALIVE, 1},
            {WEIR_SOL_SOCKET, WEIR_SO_OOBINLINE, 1},
            {WEIR_SOL_SOCKET, WEIR_SO_SNDBUF, 30000},
            {WEIR_SOL_SOCKET, WEIR_SO_RCVBUF, 40000},
            {WEIR_SOL_SOCKET, WEIR_SO_RCVLOWAT, 5},
            {WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, 1},
            {WEIR_IPPROTO_TCP, WEIR_TCP_MAXSEG, 1000},
            {WEIR_IPPROTO_TCP, WEIR_TCP_CORK, 1},
            {WEIR_IPPROTO_TCP, WEIR_TCP_KEEPIDLE, 60},
            {WEIR_IPPROTO_TCP, WEIR_TCP_KEEPINTVL, 5},
            {WEIR_IPPROTO_TCP, WEIR_TCP_KEEPCNT, 3},
            {WEIR_IPPROTO_TCP, WEIR_TCP_QUICKACK, 1},
            {WEIR_IPPROTO_TCP, WEIR_TCP_USER_TIMEOUT, 30000},
            {WEIR_IPPROTO_TCP, WEIR_TCP_RTO_MIN_US, 30000},
            {WEIR_IPPROTO_TCP, WEIR_TCP_ECN, 3},
            {WEIR_IPPROTO_IP, WEIR_IP_TTL, 12},
            {WEIR_IPPROTO_IP, WEIR_IP_TOS, 0x10},
            {WEIR_SOL_SOCKET, WEIR_SO_MAX_PACING_RATE, 500000},
            {WEIR_SOL_SOCKET, WEIR_SO_MAX_PACING_RATE, -1},
        },
      datagram[] = {
          {WEIR_SOL_SOCKET, WEIR_SO_BROADCAST, 1},     {WEIR_SOL_SOCKET, WEIR_SO_RCVBUF, 9000},
          {WEIR_IPPROTO_IP, WEIR_IP_MULTICAST_TTL, 3}, {WEIR_IPPROTO_IP, WEIR_IP_MULTICAST_LOOP, 0},
          {WEIR_IPPROTO_IP, WEIR_IP_PKTINFO, 1},       {WEIR_IPPROTO_IP, WEIR_IP_RECVTTL, 1},
          {WEIR_IPPROTO_IP, WEIR_IP_RECVTOS, 1},       {WEIR_IPPROTO_IP, WEIR_IP_MTU_DISCOVER, WEIR_IP_PMTUDISC_DO},
      };
    struct world w;
    (void)state;
    world_open(&w, false, NULL);
    const int s = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0),
              d = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
    for (size_t i = 0; i < sizeof stream / sizeof *stream; i++) {
        assert_int_equal(set_int(&w, s, stream[i].level, stream[i].name, stream[i].value), 0);
        assert_int_equal(get_int(&w, s, stream[i].level, stream[i].name), stream[i].value);
    }
    for (size_t i = 0; i < sizeof datagram / sizeof *datagram; i++) {
        assert_int_equal(set_int(&w, d, datagram[i].level, datagram[i].name, datagram[i].value), 0);
        assert_int_equal(get_int(&w, d, datagram[i].level, datagram[i].name), datagram[i].value);
    }
    assert_int_equal(set_int(&w, s, WEIR_SOL_SOCKET, WEIR_SO_KEEPALIVE, 77), 0);  // any value but 0 is on
    assert_int_equal(get_int(&w, s, WEIR_SOL_SOCKET, WEIR_SO_KEEPALIVE), 1);
    const uint8_t ttl = 9;
    // IP options come as a byte too
    assert_int_equal(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_MULTICAST_TTL, &ttl, 1), 0);
    assert_int_equal(get_int(&w, d, WEIR_IPPROTO_IP, WEIR_IP_MULTICAST_TTL), 9);
    const uint8_t want = WEIR_IP_PMTUDISC_WANT, dont = WEIR_IP_PMTUDISC_DONT;
    assert_int_equal(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_MTU_DISCOVER, &want, 1), 0);
    assert_int_equal(get_int(&w, d, WEIR_IPPROTO_IP, WEIR_IP_MTU_DISCOVER), 0);
    // what a stream does
    assert_int_equal(bsd_setsockopt(w.bsd, s, WEIR_IPPROTO_IP, WEIR_IP_MTU_DISCOVER, &want, 1), 0);
    assert_errno(bsd_setsockopt(w.bsd, s, WEIR_IPPROTO_IP, WEIR_IP_MTU_DISCOVER, &dont, 1), ENOPROTOOPT);
    const uint64_t rate = 1000000;
    assert_int_equal(bsd_setsockopt(w.bsd, s, WEIR_SOL_SOCKET, WEIR_SO_MAX_PACING_RATE, &rate, sizeof rate), 0);
    assert_int_equal(get_int(&w, s, WEIR_SOL_SOCKET, WEIR_SO_MAX_PACING_RATE), 1000000);
    assert_int_equal(get_int(&w, s, WEIR_SOL_SOCKET, WEIR_SO_TYPE), WEIR_SOCK_STREAM);
    assert_int_equal(get_int(&w, d, WEIR_SOL_SOCKET, WEIR_SO_TYPE), WEIR_SOCK_DGRAM);
    assert_int_equal(get_int(&w, d, WEIR_SOL_SOCKET, WEIR_SO_PROTOCOL), WEIR_IPPROTO_UDP);
    assert_int_equal(get_int(&w, d, WEIR_SOL_SOCKET, WEIR_SO_DOMAIN), WEIR_AF_INET);
    assert_int_equal(get_int(&w, s, WEIR_SOL_SOCKET, WEIR_SO_ERROR), 0);
    assert_int_equal(get_int(&w, s, WEIR_SOL_SOCKET, WEIR_SO_ACCEPTCONN), 0);
    assert_int_equal(bsd_listen(w.bsd, s, 1), 0);
    assert_int_equal(get_int(&w, s, WEIR_SOL_SOCKET, WEIR_SO_ACCEPTCONN), 1);
    assert_int_equal(set_int(&w, s, WEIR_IPPROTO_TCP, WEIR_TCP_DEFER_ACCEPT, 2), 0);
    world_close(&w);
}

// Linux takes a value shorter than an int at the level of IP alone, and means its first byte; it gives one back so,
// too.
static void a_number_of_one_byte(void **state)
{
    static const struct {
        int level, name;
    } whole[] = {
        {WEIR_SOL_SOCKET, WEIR_SO_REUSEADDR}, {WEIR_SOL_SOCKET, WEIR_SO_KEEPALIVE}, {WEIR_SOL_SOCKET, WEIR_SO_RCVBUF},
        {WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY}, {WEIR_IPPROTO_TCP, WEIR_TCP_MAXSEG},
    };
    struct world w;
    (void)state;
    world_open(&w, false, NULL);
    const int s = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0),
              d = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
    const uint8_t value[sizeof(int)] = {9, 8, 7, 6};
    for (weir_socklen length = 0; length < sizeof(int); length++)
        for (size_t i = 0; i < sizeof whole / sizeof *whole; i++)
            assert_errno(bsd_setsockopt(w.bsd, s, whole[i].level, whole[i].name, value, length), EINVAL);
    assert_int_equal(get_int(&w, s, WEIR_SOL_SOCKET, WEIR_SO_REUSEADDR), 0);
    assert_errno(bsd_setsockopt(w.bsd, s, WEIR_IPPROTO_TCP, WEIR_TCP_CONGESTION, "", 0), EINVAL);
    for (weir_socklen room = 1; room < sizeof(int); room++) {
        uint8_t got[sizeof(int)] = {0};
        weir_socklen length = room;
        assert_int_equal(set_int(&w, d, WEIR_IPPROTO_IP, WEIR_IP_TTL, 1), 0);
        assert_int_equal(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_TTL, value, room), 0);
        assert_int_equal(get_int(&w, d, WEIR_IPPROTO_IP, WEIR_IP_TTL), 9);
        assert_int_equal(bsd_getsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_TTL, got, &length), 0);
        assert_int_equal(length, 1);
        assert_int_equal(got[0], 9);
    }
    const uint8_t off[sizeof(int)] = {0, 1, 1, 1};
    assert_int_equal(set_int(&w, d, WEIR_IPPROTO_IP, WEIR_IP_RECVTTL, 1), 0);
    assert_int_equal(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_RECVTTL, off, 3), 0);
    assert_int_equal(get_int(&w, d, WEIR_IPPROTO_IP, WEIR_IP_RECVTTL), 0);
    world_close(&w);
}

#if WEIR_CFG_IP6
static void a_number_of_one_byte_to_ip6(void **state)
{
    static const int names[] = {WEIR_IPV6_UNICAST_HOPS, WEIR_IPV6_V6ONLY, WEIR_IPV6_MTU_DISCOVER, WEIR_IPV6_RECVPKTINFO,
                                WEIR_IPV6_RECVHOPLIMIT};
    struct world w;
    (void)state;
    world_open(&w, false, NULL);
    const int d = bsd_socket(w.bsd, WEIR_AF_INET6, WEIR_SOCK_DGRAM, 0);
    const uint8_t value[sizeof(int)] = {1, 0, 0, 0};
    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        for (weir_socklen length = 0; length < sizeof(int); length++)
            assert_errno(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IPV6, names[i], value, length), EINVAL);
    world_close(&w);
}
#endif

static void what_is_wrong_is_refused(void **state)
{
    struct world w;
    int value = 1;
    weir_socklen length = sizeof value;
    (void)state;
    world_open(&w, false, NULL);
    const int s = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0),
              d = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
    assert_errno(set_int(&w, s, WEIR_SOL_SOCKET, 999, 1), ENOPROTOOPT);
    assert_errno(set_int(&w, s, 99, 1, 1), ENOPROTOOPT);
    assert_errno(set_int(&w, d, WEIR_IPPROTO_TCP, WEIR_TCP_NODELAY, 1), ENOPROTOOPT);
    assert_errno(set_int(&w, s, WEIR_SOL_SOCKET, WEIR_SO_TYPE, 1), ENOPROTOOPT);
    assert_errno(set_int(&w, s, WEIR_SOL_SOCKET, WEIR_SO_ACCEPTCONN, 1), ENOPROTOOPT);
    assert_errno(set_int(&w, s, WEIR_IPPROTO_IP, WEIR_IP_TTL, 256), EINVAL);
    assert_errno(set_int(&w, s, WEIR_IPPROTO_IP, WEIR_IP_TTL, 0), EINVAL);
    assert_errno(set_int(&w, s, WEIR_IPPROTO_TCP, WEIR_TCP_KEEPCNT, 128), EINVAL);
    assert_errno(set_int(&w, s, WEIR_IPPROTO_TCP, WEIR_TCP_MAXSEG, 10), EINVAL);
    assert_errno(bsd_setsockopt(w.bsd, s, WEIR_SOL_SOCKET, WEIR_SO_KEEPALIVE, &value, 2), EINVAL);
    assert_errno(bsd_setsockopt(w.bsd, s, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &value, sizeof value), EINVAL);
    assert_errno(set_int(&w, 50, WEIR_SOL_SOCKET, WEIR_SO_KEEPALIVE, 1), EBADF);
    assert_errno(bsd_getsockopt(w.bsd, 50, WEIR_SOL_SOCKET, WEIR_SO_KEEPALIVE, &value, &length), EBADF);
    const int set = bsd_epoll_create(w.bsd);
    assert_errno(set_int(&w, set, WEIR_SOL_SOCKET, WEIR_SO_KEEPALIVE, 1), ENOTSOCK);
    const struct weir_timeval bad = {1, 1000000};
    assert_errno(bsd_setsockopt(w.bsd, s, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &bad, sizeof bad), EDOM);
    world_close(&w);
}

static void structures_go_in_and_come_out(void **state)
{
    struct world w;
    struct weir_linger linger = {1, 7};
    struct weir_timeval time = {2, 500000};
    char text[16];
    weir_socklen length = sizeof linger;
    (void)state;
    world_open(&w, false, NULL);
    const int s = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    assert_int_equal(bsd_setsockopt(w.bsd, s, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &linger, sizeof linger), 0);
    linger = (struct weir_linger){0};
    assert_int_equal(bsd_getsockopt(w.bsd, s, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &linger, &length), 0);
    assert_true(linger.l_onoff == 1 && linger.l_linger == 7);
    linger.l_onoff = 0;
    assert_int_equal(bsd_setsockopt(w.bsd, s, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &linger, sizeof linger), 0);
    assert_int_equal(bsd_getsockopt(w.bsd, s, WEIR_SOL_SOCKET, WEIR_SO_LINGER, &linger, &length), 0);
    assert_int_equal(linger.l_onoff, 0);
    assert_int_equal(bsd_setsockopt(w.bsd, s, WEIR_SOL_SOCKET, WEIR_SO_SNDTIMEO, &time, sizeof time), 0);
    time = (struct weir_timeval){0};
    length = sizeof time;
    assert_int_equal(bsd_getsockopt(w.bsd, s, WEIR_SOL_SOCKET, WEIR_SO_SNDTIMEO, &time, &length), 0);
    assert_true(time.tv_sec == 2 && time.tv_usec == 500000);
    length = sizeof text;
    assert_int_equal(bsd_getsockopt(w.bsd, s, WEIR_IPPROTO_TCP, WEIR_TCP_CONGESTION, text, &length), 0);
    assert_string_equal(text, "cubic");
    assert_int_equal(bsd_setsockopt(w.bsd, s, WEIR_IPPROTO_TCP, WEIR_TCP_CONGESTION, "reno", 4), 0);
    length = sizeof text;
    assert_int_equal(bsd_getsockopt(w.bsd, s, WEIR_IPPROTO_TCP, WEIR_TCP_CONGESTION, text, &length), 0);
    assert_string_equal(text, "reno");
    assert_int_equal(length, 5);
    length = 2;
    assert_int_equal(bsd_getsockopt(w.bsd, s, WEIR_IPPROTO_TCP, WEIR_TCP_CONGESTION, text, &length), 0);
    assert_int_equal(length, 2);  // cut to what the caller had room for
    assert_errno(bsd_setsockopt(w.bsd, s, WEIR_IPPROTO_TCP, WEIR_TCP_CONGESTION, "nonesuch", 8), ENOENT);
    assert_int_equal(bsd_setsockopt(w.bsd, s, WEIR_SOL_SOCKET, WEIR_SO_BINDTODEVICE, "lo", 3), 0);
    length = sizeof text;
    assert_int_equal(bsd_getsockopt(w.bsd, s, WEIR_SOL_SOCKET, WEIR_SO_BINDTODEVICE, text, &length), 0);
    assert_string_equal(text, "lo");
    assert_errno(bsd_setsockopt(w.bsd, s, WEIR_SOL_SOCKET, WEIR_SO_BINDTODEVICE, "eth9", 5), ENODEV);
    assert_int_equal(bsd_setsockopt(w.bsd, s, WEIR_SOL_SOCKET, WEIR_SO_BINDTODEVICE, "", 0), 0);
    world_close(&w);
}

static void the_state_of_a_connection(void **state)
{
    struct world w;
    int client, server, bytes;
    struct weir_tcp_info info;
    weir_socklen length = sizeof info;
    (void)state;
    world_open(&w, false, NULL);
    world_streams(&w, &w, LOCALHOST, 9100, &client, &server);
    assert_int_equal(bsd_send(w.bsd, client, "123", 3, 0), 3);
    assert_int_equal(bsd_ioctl(w.bsd, server, WEIR_FIONREAD, &bytes), 0);
    assert_int_equal(bytes, 3);
    assert_int_equal(bsd_ioctl(w.bsd, client, WEIR_SIOCOUTQNSD, &bytes), 0);
    assert_int_equal(bytes, 0);
    assert_int_equal(bsd_ioctl(w.bsd, client, WEIR_SIOCOUTQ, &bytes), 0);
    assert_in_range(bytes, 0, 3);
    assert_errno(bsd_ioctl(w.bsd, client, 1, &bytes), ENOTTY);
    assert_errno(bsd_ioctl(w.bsd, 77, WEIR_FIONREAD, &bytes), EBADF);
    assert_int_equal(bsd_getsockopt(w.bsd, client, WEIR_IPPROTO_TCP, WEIR_TCP_INFO, &info, &length), 0);
    assert_int_equal(length, sizeof info);
    assert_int_equal(info.state, WEIR_TCP_ESTABLISHED);
    assert_true(info.cwnd > 0 && info.snd_mss > 0);
    world_close(&w);
}

static void blocking_mode(void **state)
{
    struct world w;
    int on = 1;
    char byte;
    (void)state;
    world_open(&w, false, NULL);
    const int d = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
    assert_int_equal(bsd_ioctl(w.bsd, d, WEIR_FIONBIO, &on), 0);
    assert_int_equal(bsd_fcntl(w.bsd, d, WEIR_F_GETFL, 0), WEIR_O_RDWR | WEIR_O_NONBLOCK);
    assert_errno(bsd_recv(w.bsd, d, &byte, 1, 0), EAGAIN);
    assert_int_equal(bsd_fcntl(w.bsd, d, WEIR_F_SETFL, WEIR_O_RDWR), 0);
    assert_int_equal(bsd_fcntl(w.bsd, d, WEIR_F_GETFL, 0), WEIR_O_RDWR);
    assert_int_equal(bsd_fcntl(w.bsd, d, WEIR_F_SETFD, 1), 0);
    assert_errno(bsd_fcntl(w.bsd, d, 1000, 0), EINVAL);
    assert_errno(bsd_fcntl(w.bsd, 99, WEIR_F_GETFL, 0), EBADF);
    world_close(&w);
}

static void groups_are_joined_and_left(void **state)
{
    struct world w, peer;
    (void)state;
    worlds_open(&w, &peer, false);
    struct weir_ip_mreq group = {{weir_htonl(0xe0000105)}, {weir_htonl(WORLD_A)}};
    struct weir_ip_mreqn by_index = {{weir_htonl(0xe0000106)}, {0}, w.netif.index};
    const int d = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
    assert_int_equal(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_ADD_MEMBERSHIP, &group, sizeof group), 0);
    assert_int_equal(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_ADD_MEMBERSHIP, &by_index, sizeof by_index), 0);
    assert_int_equal(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_DROP_MEMBERSHIP, &group, sizeof group), 0);
    assert_int_equal(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_DROP_MEMBERSHIP, &group, sizeof group), -1);
    group.imr_multiaddr.s_addr = weir_htonl(0x0a000005);
    assert_errno(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_ADD_MEMBERSHIP, &group, sizeof group), EINVAL);
    group.imr_multiaddr.s_addr = weir_htonl(0xe0000105);
    group.imr_interface.s_addr = weir_htonl(0x01020304);
    assert_errno(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_ADD_MEMBERSHIP, &group, sizeof group),
                 EADDRNOTAVAIL);
    struct weir_in_addr interface = {weir_htonl(WORLD_A)}, got = {0};
    weir_socklen length = sizeof got;
    assert_int_equal(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_MULTICAST_IF, &interface, sizeof interface), 0);
    assert_int_equal(bsd_getsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_MULTICAST_IF, &got, &length), 0);
    assert_int_equal(got.s_addr, interface.s_addr);
    worlds_close(&w, &peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(numbers_go_in_and_come_out),
        cmocka_unit_test(a_number_of_one_byte),
#if WEIR_CFG_IP6
        cmocka_unit_test(a_number_of_one_byte_to_ip6),
#endif
        test_with(WEIR_CFG_BSD_POLL, what_is_wrong_is_refused),
        test_with(WEIR_CFG_CC_RENO, structures_go_in_and_come_out),
        cmocka_unit_test(the_state_of_a_connection),
        cmocka_unit_test(blocking_mode),
        cmocka_unit_test(groups_are_joined_and_left),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
