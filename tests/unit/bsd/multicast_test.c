// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// not on mips: real time, eventfd and ppoll under emulation
// Source filters by both families' options (RFC 3678 §4.1, §5.1).
#include "world.h"

#include <string.h>

#define GROUP 0xe0000105u
#define MOST WEIR_CFG_MULTICAST_SOURCES

static int open_datagram(struct world *w, int family) { return bsd_socket(w->bsd, family, WEIR_SOCK_DGRAM, 0); }

static int set4(struct world *w, int fd, int name, uint32_t source)
{
    const struct weir_ip_mreq_source value = {{weir_htonl(GROUP)}, {weir_htonl(WORLD_A)}, {weir_htonl(source)}};
    return bsd_setsockopt(w->bsd, fd, WEIR_IPPROTO_IP, name, &value, sizeof value);
}

static void name4(struct weir_sockaddr_storage *out, uint32_t address)
{
    const struct weir_sockaddr_in in = {.sin_family = WEIR_AF_INET, .sin_addr = {weir_htonl(address)}};
    memset(out, 0, sizeof *out);
    memcpy(out, &in, sizeof in);
}

static void name6(struct weir_sockaddr_storage *out, const char *text)
{
    struct weir_sockaddr_in6 in = {.sin6_family = WEIR_AF_INET6};
    memset(out, 0, sizeof *out);
    assert_int_equal(weir_inet_pton(WEIR_AF_INET6, text, &in.sin6_addr), 1);
    memcpy(out, &in, sizeof in);
}

static void the_calls_of_ip4(void **state)
{
    struct world w, peer;
    union {
        struct weir_ip_msfilter filter;
        uint8_t room[WEIR_IP_MSFILTER_SIZE(MOST + 1)];
    } value = {.filter = {{weir_htonl(GROUP)}, {0}, 9, 1, {{0}}}};
    weir_socklen length = WEIR_IP_MSFILTER_SIZE(1);
    (void)state;
    worlds_open(&w, &peer, false);
    const int d = open_datagram(&w, WEIR_AF_INET), s = bsd_socket(w.bsd, WEIR_AF_INET, WEIR_SOCK_STREAM, 0);
    assert_errno(set4(&w, d, WEIR_IP_BLOCK_SOURCE, 0x0a000909), EINVAL);
    assert_errno(set4(&w, d, WEIR_IP_DROP_SOURCE_MEMBERSHIP, 0x0a000909), EADDRNOTAVAIL);
    assert_errno(set4(&w, s, WEIR_IP_ADD_SOURCE_MEMBERSHIP, 0x0a000909), ENOPROTOOPT);
    assert_errno(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_ADD_SOURCE_MEMBERSHIP, &value, 11), EINVAL);
    assert_int_equal(set4(&w, d, WEIR_IP_ADD_SOURCE_MEMBERSHIP, 0x0a000901), 0);
    assert_int_equal(set4(&w, d, WEIR_IP_ADD_SOURCE_MEMBERSHIP, 0x0a000902), 0);
    assert_errno(set4(&w, d, WEIR_IP_ADD_SOURCE_MEMBERSHIP, 0x0a000902), EADDRNOTAVAIL);
    assert_errno(set4(&w, d, WEIR_IP_UNBLOCK_SOURCE, 0x0a000902), EINVAL);
    assert_int_equal(bsd_getsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_MSFILTER, &value, &length), 0);
    assert_int_equal(length, WEIR_IP_MSFILTER_SIZE(1));
    assert_int_equal(value.filter.imsf_fmode, WEIR_MCAST_INCLUDE);
    assert_int_equal(value.filter.imsf_numsrc, 2);
    assert_int_equal(value.filter.imsf_slist[0].s_addr, weir_htonl(0x0a000901));
    assert_int_equal(set4(&w, d, WEIR_IP_DROP_SOURCE_MEMBERSHIP, 0x0a000901), 0);
    value.filter.imsf_fmode = WEIR_MCAST_EXCLUDE;
    value.filter.imsf_numsrc = 1;
    assert_errno(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_MSFILTER, &value, WEIR_IP_MSFILTER_SIZE(0)), EINVAL);
    assert_int_equal(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_MSFILTER, &value, WEIR_IP_MSFILTER_SIZE(1)), 0);
    assert_int_equal(set4(&w, d, WEIR_IP_UNBLOCK_SOURCE, 0x0a000901), 0);
    assert_int_equal(set4(&w, d, WEIR_IP_BLOCK_SOURCE, 0x0a000903), 0);
    value.filter.imsf_fmode = 7;
    assert_errno(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_MSFILTER, &value, sizeof value), EINVAL);
    value.filter.imsf_fmode = WEIR_MCAST_EXCLUDE;
    value.filter.imsf_numsrc = MOST + 1;
    assert_errno(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_MSFILTER, &value, sizeof value), ENOBUFS);
    value.filter.imsf_numsrc = UINT32_MAX;
    assert_errno(bsd_setsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_MSFILTER, &value, sizeof value), ENOBUFS);
    length = 3;
    assert_errno(bsd_getsockopt(w.bsd, d, WEIR_IPPROTO_IP, WEIR_IP_MSFILTER, &value, &length), EINVAL);
    worlds_close(&w, &peer);
}

// A family by its level, the group and two sources.
struct family {
    int level;
    struct weir_sockaddr_storage group, one, two, other;
};

static int set_source(struct world *w, int fd, const struct family *f, int name,
                      const struct weir_sockaddr_storage *source)
{
    struct weir_group_source_req value = {.gsr_interface = w->netif.index, .gsr_group = f->group};
    value.gsr_source = *source;
    return bsd_setsockopt(w->bsd, fd, f->level, name, &value, sizeof value);
}

static void the_calls_of_either(struct world *w, int d, const struct family *f)
{
    struct weir_group_req joined = {.gr_interface = w->netif.index, .gr_group = f->group};
    union {
        struct weir_group_filter filter;
        uint8_t room[WEIR_GROUP_FILTER_SIZE(2)];
    } value = {.filter = {.gf_interface = w->netif.index, .gf_group = f->group, .gf_numsrc = 2}};
    weir_socklen length = sizeof value;
    assert_int_equal(bsd_setsockopt(w->bsd, d, f->level, WEIR_MCAST_JOIN_GROUP, &joined, sizeof joined), 0);
    assert_errno(bsd_setsockopt(w->bsd, d, f->level, WEIR_MCAST_JOIN_GROUP, &joined, sizeof joined), EADDRINUSE);
    assert_errno(bsd_setsockopt(w->bsd, d, f->level, WEIR_MCAST_JOIN_GROUP, &joined, sizeof joined - 1), EINVAL);
    assert_int_equal(set_source(w, d, f, WEIR_MCAST_BLOCK_SOURCE, &f->one), 0);
    assert_errno(set_source(w, d, f, WEIR_MCAST_UNBLOCK_SOURCE, &f->two), EADDRNOTAVAIL);
    assert_errno(set_source(w, d, f, WEIR_MCAST_BLOCK_SOURCE, &f->other), EINVAL);
    assert_int_equal(set_source(w, d, f, WEIR_MCAST_UNBLOCK_SOURCE, &f->one), 0);
    assert_int_equal(bsd_setsockopt(w->bsd, d, f->level, WEIR_MCAST_LEAVE_GROUP, &joined, sizeof joined), 0);
    assert_int_equal(set_source(w, d, f, WEIR_MCAST_JOIN_SOURCE_GROUP, &f->one), 0);
    assert_int_equal(set_source(w, d, f, WEIR_MCAST_JOIN_SOURCE_GROUP, &f->two), 0);
    assert_int_equal(bsd_getsockopt(w->bsd, d, f->level, WEIR_MCAST_MSFILTER, &value, &length), 0);
    assert_int_equal(length, sizeof value);
    assert_int_equal(value.filter.gf_fmode, WEIR_MCAST_INCLUDE);
    assert_int_equal(value.filter.gf_numsrc, 2);
    assert_memory_equal(&value.filter.gf_slist[0], &f->one, sizeof f->one);
    assert_memory_equal(value.room + WEIR_GROUP_FILTER_SIZE(1), &f->two, sizeof f->two);
    value.filter.gf_fmode = WEIR_MCAST_EXCLUDE;
    assert_errno(bsd_setsockopt(w->bsd, d, f->level, WEIR_MCAST_MSFILTER, &value, sizeof value - 1), EINVAL);
    assert_int_equal(bsd_setsockopt(w->bsd, d, f->level, WEIR_MCAST_MSFILTER, &value, sizeof value), 0);
    assert_errno(set_source(w, d, f, WEIR_MCAST_LEAVE_SOURCE_GROUP, &f->one), EINVAL);
    value.filter.gf_interface = 256;
    assert_errno(bsd_setsockopt(w->bsd, d, f->level, WEIR_MCAST_MSFILTER, &value, sizeof value), ENODEV);
    joined.gr_group = f->other;
    assert_errno(bsd_setsockopt(w->bsd, d, f->level, WEIR_MCAST_JOIN_GROUP, &joined, sizeof joined), EINVAL);
}

static void the_calls_of_both_families(void **state)
{
    struct world w, peer;
    struct family four = {.level = WEIR_IPPROTO_IP}, six = {.level = WEIR_IPPROTO_IPV6};
    (void)state;
    worlds_open(&w, &peer, false);
    name4(&four.group, GROUP);
    name4(&four.one, 0x0a000901);
    name4(&four.two, 0x0a000902);
    name6(&four.other, "ff05::5");
    name6(&six.group, "ff05::5");
    name6(&six.one, "2001:db8::1");
    name6(&six.two, "2001:db8::2");
    name4(&six.other, 0x0a000901);
    the_calls_of_either(&w, open_datagram(&w, WEIR_AF_INET), &four);
    the_calls_of_either(&w, open_datagram(&w, WEIR_AF_INET6), &six);
    worlds_close(&w, &peer);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_calls_of_ip4),
        cmocka_unit_test(the_calls_of_both_families),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
