// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// not on mips: real time, eventfd and ppoll under emulation
#include "world.h"

#include <string.h>

static struct weir_sockaddr_in6 name6(const char *text, uint16_t port)
{
    struct weir_sockaddr_in6 name = {.sin6_family = WEIR_AF_INET6, .sin6_port = weir_htons(port)};
    assert_int_equal(weir_inet_pton(WEIR_AF_INET6, text, &name.sin6_addr), 1);
    return name;
}

static void assert_name6(const struct weir_sockaddr_in6 *name, weir_socklen length, const char *text)
{
    char got[WEIR_INET6_ADDRSTRLEN];
    assert_int_equal(length, 28);
    assert_int_equal(name->sin6_family, WEIR_AF_INET6);
    assert_non_null(weir_inet_ntop(WEIR_AF_INET6, &name->sin6_addr, got, sizeof got));
    assert_string_equal(got, text);
}

static int socket6(struct world *w, int type) { return bsd_socket(w->bsd, WEIR_AF_INET6, type, 0); }

static int set6(struct world *w, int fd, int option, int value)
{
    return bsd_setsockopt(w->bsd, fd, WEIR_IPPROTO_IPV6, option, &value, sizeof value);
}

static int get6(struct world *w, int fd, int level, int option)
{
    int value = -1;
    weir_socklen length = sizeof value;
    assert_int_equal(bsd_getsockopt(w->bsd, fd, level, option, &value, &length), 0);
    return value;
}

// Connects to the listener on its port and compares all names with the peer's address as the listener's side has it.
static void meet(struct world *w, int listener, const struct weir_sockaddr *to, weir_socklen bytes, const char *text)
{
    struct weir_sockaddr_in6 name;
    weir_socklen length = sizeof name;
    const int client = bsd_socket(w->bsd, to->sa_family, WEIR_SOCK_STREAM, 0);
    assert_int_equal(bsd_connect(w->bsd, client, to, bytes), 0);
    const int server = bsd_accept(w->bsd, listener, (struct weir_sockaddr *)(void *)&name, &length);
    assert_true(server >= 0);
    assert_name6(&name, length, text);
    length = sizeof name;
    assert_int_equal(bsd_getpeername(w->bsd, server, (struct weir_sockaddr *)(void *)&name, &length), 0);
    assert_name6(&name, length, text);
    length = sizeof name;
    assert_int_equal(bsd_getsockname(w->bsd, server, (struct weir_sockaddr *)(void *)&name, &length), 0);
    assert_name6(&name, length, text);
    assert_int_equal(name.sin6_port, weir_htons(80));
    assert_int_equal(get6(w, server, WEIR_SOL_SOCKET, WEIR_SO_DOMAIN), WEIR_AF_INET6);
    bsd_close(w->bsd, server);
    bsd_close(w->bsd, client);
}

static void a_listener_of_both_gets_both(void **state)
{
    struct world w;
    const struct weir_sockaddr_in6 any = name6("::", 80), six = name6("::1", 80),
                                   mapped = name6("::ffff:127.0.0.1", 80);
    const struct weir_sockaddr_in four = world_address(LOCALHOST, 80);
    (void)state;
    world_open(&w, false, NULL);
    const int listener = socket6(&w, WEIR_SOCK_STREAM);
    assert_int_equal(bsd_bind(w.bsd, listener, ADDRESS(any)), 0);
    assert_int_equal(bsd_listen(w.bsd, listener, 5), 0);
    meet(&w, listener, ADDRESS(six), "::1");
    meet(&w, listener, ADDRESS(four), "::ffff:127.0.0.1");
    meet(&w, listener, ADDRESS(mapped), "::ffff:127.0.0.1");
    meet(&w, listener, (const struct weir_sockaddr *)(const void *)&six, 24, "::1");  // without scope id
    meet(&w, listener, ADDRESS(any), "::1");                                          // nobody's address is this host's
    world_close(&w);
}

static void a_listener_of_one_gets_one(void **state)
{
    struct world w;
    const struct weir_sockaddr_in6 any = name6("::", 80), six = name6("::1", 80),
                                   mapped = name6("::ffff:127.0.0.1", 80);
    const struct weir_sockaddr_in four = world_address(LOCALHOST, 80);
    (void)state;
    world_open(&w, false, NULL);
    const int listener = socket6(&w, WEIR_SOCK_STREAM), client = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    assert_int_equal(get6(&w, listener, WEIR_IPPROTO_IPV6, WEIR_IPV6_V6ONLY), 0);
    assert_int_equal(set6(&w, listener, WEIR_IPV6_V6ONLY, 1), 0);
    assert_int_equal(get6(&w, listener, WEIR_IPPROTO_IPV6, WEIR_IPV6_V6ONLY), 1);
    assert_errno(bsd_bind(w.bsd, listener, ADDRESS(mapped)), EINVAL);
    assert_int_equal(bsd_bind(w.bsd, listener, ADDRESS(any)), 0);
    assert_errno(set6(&w, listener, WEIR_IPV6_V6ONLY, 0), EINVAL);  // it has its name
    assert_int_equal(bsd_listen(w.bsd, listener, 5), 0);
    meet(&w, listener, ADDRESS(six), "::1");
    assert_errno(bsd_connect(w.bsd, client, ADDRESS(four)), ECONNREFUSED);
    const int stream = socket6(&w, WEIR_SOCK_STREAM), datagram = socket6(&w, WEIR_SOCK_DGRAM);
    assert_int_equal(set6(&w, stream, WEIR_IPV6_V6ONLY, 1), 0);
    assert_int_equal(set6(&w, datagram, WEIR_IPV6_V6ONLY, 1), 0);
    assert_errno(bsd_connect(w.bsd, stream, ADDRESS(mapped)), ENETUNREACH);
    assert_errno(bsd_connect(w.bsd, datagram, ADDRESS(mapped)), ENETUNREACH);
    assert_errno(bsd_sendto(w.bsd, datagram, "x", 1, 0, ADDRESS(mapped)), ENETUNREACH);
    world_close(&w);
}

static void ports_are_shared_where_families_meet(void **state)
{
    static const int types[] = {WEIR_SOCK_STREAM, WEIR_SOCK_DGRAM};
    struct world w;
    const struct weir_sockaddr_in6 any = name6("::", 80);
    const struct weir_sockaddr_in four = world_address(0, 80);
    (void)state;
    world_open(&w, false, NULL);
    for (int i = 0; i < 2; i++) {
        const int both = socket6(&w, types[i]), v4 = bsd_socket(w.bsd, WEIR_AF_INET, types[i], 0),
                  v6 = socket6(&w, types[i]);
        assert_int_equal(bsd_bind(w.bsd, v4, ADDRESS(four)), 0);
        assert_errno(bsd_bind(w.bsd, both, ADDRESS(any)), EADDRINUSE);
        assert_int_equal(set6(&w, v6, WEIR_IPV6_V6ONLY, 1), 0);
        assert_int_equal(bsd_bind(w.bsd, v6, ADDRESS(any)), 0);
        bsd_close(w.bsd, both);
        bsd_close(w.bsd, v4);
        bsd_close(w.bsd, v6);
    }
    world_close(&w);
}

static void names_are_of_the_socket_s_family(void **state)
{
    struct world w;
    struct weir_sockaddr_in6 six = name6("::1", 80), name;
    struct weir_sockaddr_in four = world_address(LOCALHOST, 80), name4;
    weir_socklen length = sizeof name, length4 = sizeof name4;
    (void)state;
    world_open(&w, false, NULL);
    const int s4 = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, 0), s6 = socket6(&w, WEIR_SOCK_DGRAM);
    assert_errno(bsd_bind(w.bsd, s4, ADDRESS(six)), EAFNOSUPPORT);
    assert_errno(bsd_connect(w.bsd, s4, ADDRESS(six)), EAFNOSUPPORT);
    assert_errno(bsd_sendto(w.bsd, s4, "x", 1, 0, ADDRESS(six)), EAFNOSUPPORT);
    assert_errno(bsd_bind(w.bsd, s6, ADDRESS(four)), EINVAL);
    assert_errno(bsd_bind(w.bsd, s6, (struct weir_sockaddr *)(void *)&six, 23), EINVAL);
    assert_errno(set6(&w, s4, WEIR_IPV6_V6ONLY, 1), ENOPROTOOPT);
    assert_int_equal(bsd_getsockname(w.bsd, s6, (struct weir_sockaddr *)(void *)&name, &length), 0);
    assert_name6(&name, length, "::");
    assert_int_equal(bsd_getsockname(w.bsd, s4, (struct weir_sockaddr *)(void *)&name4, &length4), 0);
    assert_int_equal(length4, sizeof name4);
    assert_int_equal(name4.sin_family, WEIR_AF_INET);
    assert_int_equal(name4.sin_addr.s_addr, 0);
    assert_errno(bsd_socket(w.bsd, WEIR_AF_INET6, WEIR_SOCK_DGRAM, WEIR_IPPROTO_ICMP), EPROTONOSUPPORT);
    assert_errno(bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_DGRAM, WEIR_IPPROTO_ICMPV6), EPROTONOSUPPORT);
    assert_errno(bsd_socket(w.bsd, 11, WEIR_SOCK_DGRAM, 0), EAFNOSUPPORT);
    world_close(&w);
}

// Receives one message of one byte: from whom, and its control data.
static struct weir_cmsghdr *receive(struct world *w, int fd, struct weir_msghdr *message,
                                    struct weir_sockaddr_in6 *from, size_t *control)
{
    static char byte;
    static struct weir_iovec vector = {&byte, 1};
    *message = (struct weir_msghdr){.msg_name = from,
                                    .msg_namelen = sizeof *from,
                                    .msg_iov = &vector,
                                    .msg_iovlen = 1,
                                    .msg_control = control,
                                    .msg_controllen = 256};
    assert_int_equal(bsd_recvmsg(w->bsd, fd, message, 0), 1);
    return weir_cmsg_first(message);
}

static int number_in(struct weir_cmsghdr *cmsg, int level, int type)
{
    int number;
    assert_non_null(cmsg);
    assert_int_equal(cmsg->cmsg_level, level);
    assert_int_equal(cmsg->cmsg_type, type);
    memcpy(&number, weir_cmsg_data(cmsg), sizeof number);
    return number;
}

static void assert_pktinfo(struct weir_cmsghdr *cmsg, const char *text)
{
    struct weir_in6_pktinfo info;
    char got[WEIR_INET6_ADDRSTRLEN];
    assert_int_equal(cmsg->cmsg_level, WEIR_IPPROTO_IPV6);
    assert_int_equal(cmsg->cmsg_type, WEIR_IPV6_PKTINFO);
    assert_int_equal(cmsg->cmsg_len, weir_cmsg_len(20));
    memcpy(&info, weir_cmsg_data(cmsg), sizeof info);
    assert_true(info.ipi6_ifindex != 0);
    assert_string_equal(weir_inet_ntop(WEIR_AF_INET6, &info.ipi6_addr, got, sizeof got), text);
}

// One byte with a hop limit and a traffic class of its own.
static void send_with_control(struct world *w, int fd, struct weir_sockaddr_in6 *to)
{
    static struct weir_iovec vector = {"x", 1};
    const int hops = 7, class = 0x20;
    size_t control[32] = {0};
    struct weir_msghdr message = {.msg_name = to,
                                  .msg_namelen = sizeof *to,
                                  .msg_iov = &vector,
                                  .msg_iovlen = 1,
                                  .msg_control = control,
                                  .msg_controllen = sizeof control};
    struct weir_cmsghdr *cmsg = weir_cmsg_first(&message);
    *cmsg = (struct weir_cmsghdr){weir_cmsg_len(sizeof hops), WEIR_IPPROTO_IPV6, WEIR_IPV6_HOPLIMIT};
    memcpy(weir_cmsg_data(cmsg), &hops, sizeof hops);
    cmsg = weir_cmsg_next(&message, cmsg);
    *cmsg = (struct weir_cmsghdr){weir_cmsg_len(sizeof class), WEIR_IPPROTO_IPV6, WEIR_IPV6_TCLASS};
    memcpy(weir_cmsg_data(cmsg), &class, sizeof class);
    message.msg_controllen = 2 * weir_cmsg_space(sizeof hops);
    assert_int_equal(bsd_sendmsg(w->bsd, fd, &message, 0), 1);
}

static void datagrams_carry_names_and_control(void **state)
{
    struct world w;
    struct weir_sockaddr_in6 any = name6("::", 6000), to = name6("::1", 6000), mapped = name6("::ffff:127.0.0.1", 6000),
                             from;
    struct weir_msghdr message;
    size_t control[32];
    (void)state;
    world_open(&w, false, NULL);
    const int one = socket6(&w, WEIR_SOCK_DGRAM), two = socket6(&w, WEIR_SOCK_DGRAM);
    assert_int_equal(bsd_bind(w.bsd, two, ADDRESS(any)), 0);
    assert_int_equal(set6(&w, two, WEIR_IPV6_RECVPKTINFO, 1), 0);
    assert_int_equal(set6(&w, two, WEIR_IPV6_RECVHOPLIMIT, 1), 0);
    assert_int_equal(set6(&w, two, WEIR_IPV6_RECVTCLASS, 1), 0);
    send_with_control(&w, one, &to);
    struct weir_cmsghdr *cmsg = receive(&w, two, &message, &from, control);
    assert_name6(&from, message.msg_namelen, "::1");
    assert_pktinfo(cmsg, "::1");
    cmsg = weir_cmsg_next(&message, cmsg);
    assert_int_equal(number_in(cmsg, WEIR_IPPROTO_IPV6, WEIR_IPV6_HOPLIMIT), 7);
    cmsg = weir_cmsg_next(&message, cmsg);
    assert_int_equal(number_in(cmsg, WEIR_IPPROTO_IPV6, WEIR_IPV6_TCLASS), 0x20);
    assert_int_equal(bsd_sendto(w.bsd, one, "y", 1, 0, ADDRESS(mapped)), 1);
    cmsg = receive(&w, two, &message, &from, control);
    assert_name6(&from, message.msg_namelen, "::ffff:127.0.0.1");
    assert_pktinfo(cmsg, "::ffff:127.0.0.1");
    cmsg = weir_cmsg_next(&message, cmsg);
    assert_int_equal(number_in(cmsg, WEIR_IPPROTO_IP, WEIR_IP_TTL), 64);
    assert_int_equal(bsd_sendto(w.bsd, two, "z", 1, 0, ADDRESS(from)), 1);  // the answer goes where it came from
    receive(&w, one, &message, &from, control);
    assert_name6(&from, message.msg_namelen, "::ffff:127.0.0.1");
    world_close(&w);
}

static void an_echo_comes_back(void **state)
{
    struct world w;
    const struct weir_sockaddr_in6 to = name6("::1", 0), mapped = name6("::ffff:127.0.0.1", 0);
    struct weir_sockaddr_in6 from;
    struct weir_timeval second = {1, 0};
    weir_socklen length = sizeof from;
    uint8_t echo[16] = {128, 0, 0, 0, 0, 0, 0, 7, 'w', 'e', 'i', 'r'}, reply[32];
    (void)state;
    world_open(&w, false, NULL);
    const int fd = bsd_socket(w.bsd, WEIR_AF_INET6, WEIR_SOCK_DGRAM, WEIR_IPPROTO_ICMPV6);
    assert_true(fd >= 0);
    assert_int_equal(bsd_setsockopt(w.bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &second, sizeof second), 0);
    assert_errno(bsd_sendto(w.bsd, fd, echo, sizeof echo, 0, ADDRESS(mapped)), ENETUNREACH);
    assert_int_equal(bsd_sendto(w.bsd, fd, echo, sizeof echo, 0, ADDRESS(to)), sizeof echo);
    assert_int_equal(bsd_recvfrom(w.bsd, fd, reply, sizeof reply, 0, (struct weir_sockaddr *)(void *)&from, &length),
                     sizeof echo);
    assert_name6(&from, length, "::1");
    assert_int_equal(reply[0], 129);
    assert_memory_equal(reply + 6, echo + 6, sizeof echo - 6);
    echo[0] = 8;  // that of ICMP
    assert_errno(bsd_sendto(w.bsd, fd, echo, sizeof echo, 0, ADDRESS(to)), EINVAL);
    world_close(&w);
}

static void a_raw_socket_s_checksum_is_the_stack_s(void **state)
{
    struct world w;
    const struct weir_sockaddr_in6 to = name6("::1", 0);
    struct weir_timeval second = {1, 0};
    // an odd number, and a sum that is wrong
    const uint8_t echo[13] = {128, 0, 0xde, 0xad, 1, 2, 0, 7, 'w', 'e', 'i', 'r', '!'};
    uint8_t got[32];
    (void)state;
    world_open(&w, false, NULL);
    const int fd = bsd_socket(w.bsd, WEIR_AF_INET6, WEIR_SOCK_RAW, WEIR_IPPROTO_ICMPV6);
    assert_true(fd >= 0);
    assert_int_equal(bsd_setsockopt(w.bsd, fd, WEIR_SOL_SOCKET, WEIR_SO_RCVTIMEO, &second, sizeof second), 0);
    assert_int_equal(bsd_sendto(w.bsd, fd, echo, sizeof echo, 0, ADDRESS(to)), sizeof echo);
    do  // the request itself comes too, without its IP header
        assert_int_equal(bsd_recv(w.bsd, fd, got, sizeof got, 0), sizeof echo);
    while (got[0] != 129);
    assert_memory_equal(got + 4, echo + 4, sizeof echo - 4);
    world_close(&w);
}

static void numbers_go_in_and_come_out(void **state)
{
    static const struct {
        int name, value, default_value;
    } options[] = {
        {WEIR_IPV6_UNICAST_HOPS, 12, 64}, {WEIR_IPV6_MULTICAST_HOPS, 3, 1},
        {WEIR_IPV6_TCLASS, 0x20, 0},      {WEIR_IPV6_MULTICAST_LOOP, 0, 1},
        {WEIR_IPV6_MULTICAST_IF, 1, 0},   {WEIR_IPV6_RECVPKTINFO, 1, 0},
        {WEIR_IPV6_RECVHOPLIMIT, 1, 0},   {WEIR_IPV6_RECVTCLASS, 1, 0},
        {WEIR_IPV6_V6ONLY, 1, 0},         {WEIR_IPV6_MTU_DISCOVER, WEIR_IP_PMTUDISC_DO, WEIR_IP_PMTUDISC_DONT}};
    struct world w;
    (void)state;
    world_open(&w, false, NULL);
    const int fd = socket6(&w, WEIR_SOCK_DGRAM);
    for (size_t i = 0; i < sizeof options / sizeof *options; i++) {
        assert_int_equal(get6(&w, fd, WEIR_IPPROTO_IPV6, options[i].name), options[i].default_value);
        assert_int_equal(set6(&w, fd, options[i].name, options[i].value), 0);
        assert_int_equal(get6(&w, fd, WEIR_IPPROTO_IPV6, options[i].name), options[i].value);
    }
    for (size_t i = 0; i < 3; i++) {
        assert_int_equal(set6(&w, fd, options[i].name, -1), 0);
        assert_int_equal(get6(&w, fd, WEIR_IPPROTO_IPV6, options[i].name), options[i].default_value);
        assert_errno(set6(&w, fd, options[i].name, 256), EINVAL);
    }
    world_close(&w);
}

static void text_is_read_and_written(void **state)
{
    static const char *const wrong[] = {"", "1.2.3.4", ":::", "1::2::3", "fe80::1%1", "12345::", "::1 "};
    struct weir_in6_addr addr;
    char text[WEIR_INET6_ADDRSTRLEN];
    (void)state;
    for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++)
        assert_int_equal(weir_inet_pton(WEIR_AF_INET6, wrong[i], &addr), 0);
    assert_int_equal(weir_inet_pton(WEIR_AF_INET6, "2001:DB8:0:0:1:0:0:1", &addr), 1);
    assert_string_equal(weir_inet_ntop(WEIR_AF_INET6, &addr, text, sizeof text), "2001:db8::1:0:0:1");
    assert_null(weir_inet_ntop(WEIR_AF_INET6, &addr, text, 17));  // one too few
    assert_non_null(weir_inet_ntop(WEIR_AF_INET6, &addr, text, 18));
    assert_int_equal(weir_inet_pton(WEIR_AF_INET6, "::ffff:1.2.3.4", &addr), 1);
    assert_string_equal(weir_inet_ntop(WEIR_AF_INET6, &addr, text, sizeof text), "::ffff:1.2.3.4");
    assert_int_equal(weir_inet_pton(11, "::1", &addr), -1);
}

// The streams' addresses of getaddrinfo, in its order.
static void assert_answers(struct world *w, const char *node, int family, int flags, const char *const *texts)
{
    const struct weir_addrinfo hints = {.ai_flags = flags, .ai_family = family, .ai_socktype = WEIR_SOCK_STREAM};
    struct weir_addrinfo *list;
    char text[WEIR_INET6_ADDRSTRLEN];
    assert_int_equal(bsd_getaddrinfo(w->bsd, node, "80", &hints, &list), 0);
    const struct weir_addrinfo *at = list;
    for (; *texts; texts++, at = at->ai_next) {
        assert_non_null(at);
        const bool v6 = at->ai_family == WEIR_AF_INET6;
        const struct weir_sockaddr_in6 *in6 = (const void *)at->ai_addr;
        const struct weir_sockaddr_in *in = (const void *)at->ai_addr;
        assert_int_equal(at->ai_addrlen, v6 ? 28 : 16);
        assert_int_equal(in->sin_family, at->ai_family);
        assert_int_equal(in->sin_port, weir_htons(80));
        weir_inet_ntop(at->ai_family, v6 ? (const void *)&in6->sin6_addr : (const void *)&in->sin_addr, text,
                       sizeof text);
        assert_string_equal(text, *texts);
    }
    assert_null(at);
    bsd_freeaddrinfo(w->bsd, list);
}

#define TEXTS(...) ((const char *const[]){__VA_ARGS__, NULL})

static void addresses_are_found_by_family(void **state)
{
    struct world w;
    const struct weir_addrinfo six = {.ai_family = WEIR_AF_INET6};
    struct weir_addrinfo *list;
    char name[WEIR_IF_NAMESIZE], node[64] = "fe80::1%";
    (void)state;
    world_open(&w, false, NULL);
    assert_answers(&w, NULL, WEIR_AF_UNSPEC, WEIR_AI_PASSIVE, TEXTS("::", "0.0.0.0"));
    assert_answers(&w, NULL, WEIR_AF_INET, WEIR_AI_PASSIVE, TEXTS("0.0.0.0"));
    assert_answers(&w, NULL, WEIR_AF_INET6, 0, TEXTS("::1"));
    assert_answers(&w, "localhost", WEIR_AF_UNSPEC, 0, TEXTS("::1", "127.0.0.1"));
    assert_answers(&w, "localhost", WEIR_AF_INET6, WEIR_AI_V4MAPPED, TEXTS("::1"));
    assert_answers(&w, "localhost", WEIR_AF_INET6, WEIR_AI_V4MAPPED | WEIR_AI_ALL, TEXTS("::1", "::ffff:127.0.0.1"));
    assert_answers(&w, "2001:db8::1", WEIR_AF_UNSPEC, WEIR_AI_NUMERICHOST, TEXTS("2001:db8::1"));
    assert_answers(&w, "192.0.2.1", WEIR_AF_INET6, WEIR_AI_V4MAPPED, TEXTS("::ffff:192.0.2.1"));
    assert_int_equal(bsd_getaddrinfo(w.bsd, "192.0.2.1", NULL, &six, &list), WEIR_EAI_NONAME);
    const unsigned index = bsd_if_nametoindex(w.bsd, "lo");
    assert_true(index != 0);
    assert_non_null(bsd_if_indextoname(w.bsd, index, name));
    assert_string_equal(name, "lo");
    assert_int_equal(bsd_if_nametoindex(w.bsd, "none"), 0);
    assert_null(bsd_if_indextoname(w.bsd, 200, name));
    strcat(node, "lo");
    assert_int_equal(bsd_getaddrinfo(w.bsd, node, NULL, &six, &list), 0);
    assert_int_equal(((const struct weir_sockaddr_in6 *)(const void *)list->ai_addr)->sin6_scope_id, index);
    bsd_freeaddrinfo(w.bsd, list);
    assert_int_equal(bsd_getaddrinfo(w.bsd, "fe80::1%none", NULL, &six, &list), WEIR_EAI_NONAME);
    world_close(&w);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_listener_of_both_gets_both),
        cmocka_unit_test(a_listener_of_one_gets_one),
        cmocka_unit_test(ports_are_shared_where_families_meet),
        cmocka_unit_test(names_are_of_the_socket_s_family),
        cmocka_unit_test(datagrams_carry_names_and_control),
        cmocka_unit_test(an_echo_comes_back),
        cmocka_unit_test(a_raw_socket_s_checksum_is_the_stack_s),
        cmocka_unit_test(numbers_go_in_and_come_out),
        cmocka_unit_test(text_is_read_and_written),
        cmocka_unit_test(addresses_are_found_by_family),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
