// SPDX-License-Identifier: BSD-2-Clause
// also without IPv4
// needs IPv6
// Link-local addresses between two hosts: every name says on which interface they are.
#include "pair.h"

#include <errno.h>

#include "api/bsd/weir_bsd.h"

#define ADDRESS(in) ((struct weir_sockaddr *)(void *)&(in)), sizeof(in)
#define SECOND_US 1000000u

static int last_error;
static void set_error(void *context, int value)
{
    (void)context;
    last_error = value;
}

struct hosts {
    struct pair pair;
    struct weir_bsd *a, *b;
    struct weir_sockaddr_in6 name_a, name_b;  // link-local, without a scope
};

static struct weir_sockaddr_in6 link_local(const struct weir_netif *netif)
{
    struct weir_sockaddr_in6 name = {.sin6_family = WEIR_AF_INET6};
    const struct weir_netif_address *address = weir_netif_address_next(netif, NULL);
    while (address && !weir_addr_is_link_local6(address->addr))
        address = weir_netif_address_next(netif, address);
    assert_non_null(address);
    if (address)
        weir_addr_to_v6(address->addr, name.sin6_addr.s6_bytes);
    return name;
}

static void hosts_open(struct hosts *h)
{
    const struct weir_bsd_config config = {.set_errno = set_error};
    pair_open(&h->pair, &(struct pair_options){.seed = 1});
    assert_int_equal(weir_netif_ip6(&h->pair.a.netif, WEIR_IP6_LINK_LOCAL, NULL), WEIR_OK);
    assert_int_equal(weir_netif_ip6(&h->pair.b.netif, WEIR_IP6_LINK_LOCAL, NULL), WEIR_OK);
    pair_run(&h->pair, 5 * SECOND_US);  // nobody else has the addresses
    h->name_a = link_local(&h->pair.a.netif);
    h->name_b = link_local(&h->pair.b.netif);
    h->pair.a.faults.others = h->pair.b.faults.others = true;
    h->a = bsd_create(h->pair.a.weir, &config);
    h->b = bsd_create(h->pair.b.weir, &config);
    assert_non_null(h->a);
    assert_non_null(h->b);
}

static void hosts_close(struct hosts *h)
{
    bsd_destroy(h->a);
    bsd_destroy(h->b);
    pair_run(&h->pair, 120 * (uint64_t)SECOND_US);
    pair_close(&h->pair);
}

static void assert_scoped(const struct weir_sockaddr_in6 *name, const struct weir_sockaddr_in6 *address,
                          const struct fixture *f)
{
    assert_memory_equal(&name->sin6_addr, &address->sin6_addr, 16);
    assert_int_equal(name->sin6_scope_id, f->netif.index);
}

static void streams_name_the_interface(void **state)
{
    struct hosts h;
    struct weir_sockaddr_in6 any = {.sin6_family = WEIR_AF_INET6, .sin6_port = weir_htons(80)}, name;
    weir_socklen length = sizeof name;
    (void)state;
    hosts_open(&h);
    const int listener = bsd_socket(h.b, WEIR_AF_INET6, WEIR_SOCK_STREAM, 0);
    assert_int_equal(bsd_bind(h.b, listener, ADDRESS(any)), 0);
    assert_int_equal(bsd_listen(h.b, listener, 1), 0);
    const int client = bsd_socket(h.a, WEIR_AF_INET6, WEIR_SOCK_STREAM | WEIR_SOCK_NONBLOCK, 0);
    struct weir_sockaddr_in6 to = h.name_b;
    to.sin6_port = weir_htons(80);
    to.sin6_scope_id = 256;  // no interface has it
    assert_int_equal(bsd_connect(h.a, client, ADDRESS(to)), -1);
    assert_int_equal(last_error, EINVAL);
    to.sin6_scope_id = h.pair.a.netif.index;
    assert_int_equal(bsd_connect(h.a, client, ADDRESS(to)), -1);
    assert_int_equal(last_error, EINPROGRESS);
    pair_run(&h.pair, 2 * SECOND_US);
    assert_true(bsd_accept(h.b, listener, (struct weir_sockaddr *)(void *)&name, &length) >= 0);
    assert_scoped(&name, &h.name_a, &h.pair.b);
    length = sizeof name;
    assert_int_equal(bsd_getpeername(h.a, client, (struct weir_sockaddr *)(void *)&name, &length), 0);
    assert_scoped(&name, &h.name_b, &h.pair.a);
    length = sizeof name;
    assert_int_equal(bsd_getsockname(h.a, client, (struct weir_sockaddr *)(void *)&name, &length), 0);
    assert_scoped(&name, &h.name_a, &h.pair.a);
    hosts_close(&h);
}

static void datagrams_name_the_interface(void **state)
{
    struct hosts h;
    struct weir_sockaddr_in6 local = {.sin6_family = WEIR_AF_INET6, .sin6_port = weir_htons(6000)}, from;
    struct weir_sockaddr_in6 group = {.sin6_family = WEIR_AF_INET6, .sin6_port = weir_htons(6000)};
    struct weir_ipv6_mreq membership = {.ipv6mr_multiaddr = {{0xff, 2, [15] = 0x77}}};
    weir_socklen length = sizeof from;
    char byte;
    (void)state;
    hosts_open(&h);
    const int one = bsd_socket(h.a, WEIR_AF_INET6, WEIR_SOCK_DGRAM, 0),
              two = bsd_socket(h.b, WEIR_AF_INET6, WEIR_SOCK_DGRAM, 0);
    assert_int_equal(bsd_bind(h.b, two, ADDRESS(local)), 0);
    membership.ipv6mr_interface = h.pair.b.netif.index;
    assert_int_equal(bsd_setsockopt(h.b, two, WEIR_IPPROTO_IPV6, WEIR_IPV6_JOIN_GROUP, &membership, sizeof membership),
                     0);
    group.sin6_addr = membership.ipv6mr_multiaddr;
    group.sin6_scope_id = h.pair.a.netif.index;
    assert_int_equal(bsd_sendto(h.a, one, "g", 1, 0, ADDRESS(group)), 1);
    pair_run(&h.pair, SECOND_US);
    assert_int_equal(bsd_recvfrom(h.b, two, &byte, 1, 0, (struct weir_sockaddr *)(void *)&from, &length), 1);
    assert_scoped(&from, &h.name_a, &h.pair.b);
    assert_int_equal(bsd_sendto(h.b, two, "r", 1, 0, ADDRESS(from)), 1);  // the answer, to the name as it came
    pair_run(&h.pair, SECOND_US);
    length = sizeof from;
    assert_int_equal(bsd_recvfrom(h.a, one, &byte, 1, 0, (struct weir_sockaddr *)(void *)&from, &length), 1);
    assert_scoped(&from, &h.name_b, &h.pair.a);
    assert_int_equal(bsd_setsockopt(h.b, two, WEIR_IPPROTO_IPV6, WEIR_IPV6_LEAVE_GROUP, &membership, sizeof membership),
                     0);
    assert_int_equal(bsd_sendto(h.a, one, "g", 1, 0, ADDRESS(group)), 1);
    pair_run(&h.pair, SECOND_US);
    assert_int_equal(bsd_recv(h.b, two, &byte, 1, 0), -1);
    assert_int_equal(last_error, EAGAIN);
    hosts_close(&h);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(streams_name_the_interface),
        cmocka_unit_test(datagrams_name_the_interface),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
