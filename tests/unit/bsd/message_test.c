// SPDX-License-Identifier: BSD-2-Clause
// not on mips: real time, eventfd and ppoll under emulation
#include "world.h"

#include <string.h>

static int one, two;

static void open_datagrams(struct world *w)
{
    struct weir_sockaddr_in local = world_address(LOCALHOST, 6000);
    world_open(w, false, NULL);
    one = bsd_socket(w->bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
    two = bsd_socket(w->bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0);
    assert_int_equal(bsd_bind(w->bsd, two, ADDRESS(local)), 0);
}

static void a_datagram_keeps_its_bounds(void **state)
{
    struct world w;
    struct weir_sockaddr_in to = world_address(LOCALHOST, 6000), from;
    weir_socklen length = sizeof from;
    char text[16] = {0};
    (void)state;
    open_datagrams(&w);
    assert_int_equal(bsd_sendto(w.bsd, one, "first", 5, 0, ADDRESS(to)), 5);
    assert_int_equal(bsd_sendto(w.bsd, one, "", 0, 0, ADDRESS(to)), 0);
    assert_int_equal(bsd_sendto(w.bsd, one, "third", 5, 0, ADDRESS(to)), 5);
    assert_int_equal(bsd_recvfrom(w.bsd, two, text, 3, WEIR_MSG_PEEK, (struct weir_sockaddr *)(void *)&from, &length),
                     3);
    assert_int_equal(from.sin_addr.s_addr, weir_htonl(LOCALHOST));
    assert_int_equal(bsd_recv(w.bsd, two, text, 3, WEIR_MSG_TRUNC), 5);  // its real length; the rest is gone
    assert_int_equal(bsd_recv(w.bsd, two, text, 16, 0), 0);
    assert_int_equal(bsd_recv(w.bsd, two, text, 16, 0), 5);
    assert_memory_equal(text, "third", 5);
    assert_errno(bsd_recv(w.bsd, two, text, 16, WEIR_MSG_DONTWAIT), EAGAIN);
    assert_int_equal(bsd_sendto(w.bsd, two, "back", 4, 0, ADDRESS(from)), 4);
    assert_int_equal(bsd_recv(w.bsd, one, text, 16, 0), 4);
    world_close(&w);
}

static void without_destination(void **state)
{
    struct world w;
    struct weir_sockaddr_in to = world_address(LOCALHOST, 6000);
    static char huge[70000];
    (void)state;
    open_datagrams(&w);
    assert_errno(bsd_send(w.bsd, one, "x", 1, 0), EDESTADDRREQ);
    assert_errno(bsd_sendto(w.bsd, one, huge, sizeof huge, 0, ADDRESS(to)), EMSGSIZE);
    assert_errno(bsd_recv(w.bsd, one, huge, 1, WEIR_MSG_OOB), EOPNOTSUPP);
    world_close(&w);
}

static void connected_datagrams(void **state)
{
    struct world w;
    struct weir_sockaddr_in to = world_address(LOCALHOST, 6000), nobody = world_address(LOCALHOST, 6001), got;
    const struct weir_sockaddr none = {.sa_family = WEIR_AF_UNSPEC};
    weir_socklen length = sizeof got;
    char text[4];
    (void)state;
    open_datagrams(&w);
    assert_int_equal(bsd_connect(w.bsd, one, ADDRESS(to)), 0);
    assert_int_equal(bsd_send(w.bsd, one, "c", 1, 0), 1);
    assert_int_equal(bsd_recv(w.bsd, two, text, 4, 0), 1);
    assert_int_equal(bsd_getpeername(w.bsd, one, (struct weir_sockaddr *)(void *)&got, &length), 0);
    assert_int_equal(got.sin_port, weir_htons(6000));
    assert_int_equal(bsd_connect(w.bsd, one, ADDRESS(nobody)), 0);
    assert_int_equal(bsd_send(w.bsd, one, "?", 1, 0), 1);
    assert_errno(bsd_recv(w.bsd, one, text, 4, 0), ECONNREFUSED);      // ICMP port unreachable
    assert_int_equal(bsd_connect(w.bsd, one, &none, sizeof none), 0);  // dissolved
    assert_errno(bsd_send(w.bsd, one, "x", 1, 0), EDESTADDRREQ);
    world_close(&w);
}

static void messages_carry_names_and_control(void **state)
{
    struct world w;
    struct weir_sockaddr_in to = world_address(LOCALHOST, 6000), from;
    struct weir_iovec out[] = {{"scat", 4}, {"tered", 5}};
    char text[6], control[256];
    struct weir_iovec in = {text, sizeof text};
    const int on = 1;
    struct weir_msghdr message = {.msg_name = &to, .msg_namelen = sizeof to, .msg_iov = out, .msg_iovlen = 2};
    (void)state;
    open_datagrams(&w);
    assert_int_equal(bsd_setsockopt(w.bsd, two, WEIR_IPPROTO_IP, WEIR_IP_PKTINFO, &on, sizeof on), 0);
    assert_int_equal(bsd_setsockopt(w.bsd, two, WEIR_IPPROTO_IP, WEIR_IP_RECVTTL, &on, sizeof on), 0);
    assert_int_equal(bsd_sendmsg(w.bsd, one, &message, 0), 9);
    message = (struct weir_msghdr){.msg_name = &from,
                                   .msg_namelen = sizeof from,
                                   .msg_iov = &in,
                                   .msg_iovlen = 1,
                                   .msg_control = control,
                                   .msg_controllen = sizeof control};
    assert_int_equal(bsd_recvmsg(w.bsd, two, &message, 0), 6);
    assert_memory_equal(text, "scatte", 6);
    assert_int_equal(message.msg_flags, WEIR_MSG_TRUNC);
    assert_int_equal(message.msg_namelen, sizeof from);
    struct weir_cmsghdr *cmsg = weir_cmsg_first(&message);
    assert_non_null(cmsg);
    assert_int_equal(cmsg->cmsg_type, WEIR_IP_PKTINFO);
    struct weir_in_pktinfo info;
    memcpy(&info, weir_cmsg_data(cmsg), sizeof info);
    assert_int_equal(info.ipi_addr.s_addr, weir_htonl(LOCALHOST));
    cmsg = weir_cmsg_next(&message, cmsg);
    assert_non_null(cmsg);
    assert_int_equal(cmsg->cmsg_type, WEIR_IP_TTL);
    int ttl;
    memcpy(&ttl, weir_cmsg_data(cmsg), sizeof ttl);
    assert_int_equal(ttl, 64);
    assert_null(weir_cmsg_next(&message, cmsg));
    world_close(&w);
}

static void control_can_be_sent(void **state)
{
    struct world w;
    struct weir_sockaddr_in to = world_address(LOCALHOST, 6000);
    union {
        struct weir_cmsghdr cmsg;
        char bytes[64];
    } control = {.cmsg = {weir_cmsg_len(sizeof(int)), WEIR_IPPROTO_IP, WEIR_IP_TTL}};
    const int ttl = 7, on = 1;
    char text[8], room[64];
    struct weir_iovec out = {"ttl", 3}, in = {text, sizeof text};
    (void)state;
    open_datagrams(&w);
    memcpy(weir_cmsg_data(&control.cmsg), &ttl, sizeof ttl);
    struct weir_msghdr message = {.msg_name = &to,
                                  .msg_namelen = sizeof to,
                                  .msg_iov = &out,
                                  .msg_iovlen = 1,
                                  .msg_control = &control,
                                  .msg_controllen = weir_cmsg_space(sizeof ttl)};
    assert_int_equal(bsd_setsockopt(w.bsd, two, WEIR_IPPROTO_IP, WEIR_IP_RECVTTL, &on, sizeof on), 0);
    assert_int_equal(bsd_sendmsg(w.bsd, one, &message, 0), 3);
    message = (struct weir_msghdr){.msg_iov = &in, .msg_iovlen = 1, .msg_control = room, .msg_controllen = sizeof room};
    assert_int_equal(bsd_recvmsg(w.bsd, two, &message, 0), 3);
    int got;
    memcpy(&got, weir_cmsg_data(weir_cmsg_first(&message)), sizeof got);
    assert_int_equal(got, 7);
    control.cmsg.cmsg_type = 99;
    message = (struct weir_msghdr){.msg_name = &to,
                                   .msg_namelen = sizeof to,
                                   .msg_iov = &out,
                                   .msg_iovlen = 1,
                                   .msg_control = &control,
                                   .msg_controllen = weir_cmsg_space(sizeof ttl)};
    assert_errno(bsd_sendmsg(w.bsd, one, &message, 0), EINVAL);
    control.cmsg.cmsg_len = 4000;
    assert_errno(bsd_sendmsg(w.bsd, one, &message, 0), EINVAL);
    control.cmsg.cmsg_len = 1;
    assert_errno(bsd_sendmsg(w.bsd, one, &message, 0), EINVAL);
    // No room for the answer: told by a flag.
    assert_int_equal(bsd_sendto(w.bsd, one, "x", 1, 0, ADDRESS(to)), 1);
    message = (struct weir_msghdr){.msg_iov = &in, .msg_iovlen = 1};
    assert_int_equal(bsd_recvmsg(w.bsd, two, &message, 0), 1);
    assert_true(message.msg_flags & WEIR_MSG_CTRUNC);
    world_close(&w);
}

static void a_reader_wakes_at_shutdown_and_timeout(void **state)
{
    struct world w;
    const struct weir_timeval time = {0, 20000};
    struct weir_sockaddr_in to = world_address(LOCALHOST, 6000);
    char byte;
    (void)state;
    open_datagrams(&w);
    assert_int_equal(bsd_setsockopt(w.bsd, two, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &time, sizeof time), 0);
    assert_errno(bsd_recv(w.bsd, two, &byte, 1, 0), EAGAIN);
    assert_int_equal(bsd_connect(w.bsd, two, ADDRESS(to)), 0);
    assert_int_equal(bsd_shutdown(w.bsd, two, WEIR_SHUT_RD), 0);
    assert_int_equal(bsd_recv(w.bsd, two, &byte, 1, 0), 0);
    world_close(&w);
}

static void echo_requests_are_answered(void **state)
{
    struct world w;
    struct weir_sockaddr_in to = world_address(LOCALHOST, 0);
    const uint8_t request[] = {8, 0, 0, 0, 0, 0, 0, 1, 'p', 'i', 'n', 'g'};
    uint8_t reply[64];
    const struct weir_timeval time = {2, 0};
    (void)state;
    world_open(&w, false, NULL);
    const int fd = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, WEIR_IPPROTO_ICMP);
    assert_true(fd >= 0);
    bsd_setsockopt(w.bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &time, sizeof time);
    assert_int_equal(bsd_sendto(w.bsd, fd, request, sizeof request, 0, ADDRESS(to)), sizeof request);
    assert_int_equal(bsd_recv(w.bsd, fd, reply, sizeof reply, 0), sizeof request);
    assert_int_equal(reply[0], 0);
    assert_memory_equal(reply + 8, "ping", 4);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_datagram_keeps_its_bounds), cmocka_unit_test(without_destination),
        cmocka_unit_test(connected_datagrams),         cmocka_unit_test(messages_carry_names_and_control),
        cmocka_unit_test(control_can_be_sent),         cmocka_unit_test(a_reader_wakes_at_shutdown_and_timeout),
        cmocka_unit_test(echo_requests_are_answered),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
