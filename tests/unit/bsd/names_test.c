// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// not on mips: real time, eventfd and ppoll under emulation
// getaddrinfo over the resolver: a program, the loop that its host's poller runs, and a name server on the same host.
#include "world.h"

#include <string.h>

#include "apps/dns/names.h"
#include "dns/bsd.h"

static struct {
    struct world world;
    struct loop loop;
    struct dns dns;
} host;

static uint64_t turn(void *context, uint64_t now_us) { return loop_run(context, now_us); }

static void host_open(bool threaded)
{
    const struct weir_addr here = weir_ip4(127, 0, 0, 1);
    const struct posix_options options = {.turn = turn, .context = &host.loop};
    struct world *const w = &host.world;
    memset(&host, 0, sizeof host);
    w->fd = -1;
    assert_int_equal(posix_host_init(&w->host, &options), 0);
    w->weir = weir_create(NULL, 0, &w->host.port, NULL);
    assert_non_null(w->weir);
    loop_init(&host.loop, w->weir);
    posix_host_attach(&w->host, w->weir);
    w->bsd = bsd_create(w->weir, NULL);
    assert_non_null(w->bsd);
    posix_host_lock(&w->host);
    name_server_open(&host.loop);
    dns_start(&host.dns, &host.loop);
    dns_servers(&host.dns, &here, 1);
    posix_host_unlock(&w->host);
    bsd_set_resolver(w->bsd, dns_bsd_resolve, &host.dns);
    if (threaded)
        assert_int_equal(posix_host_start(&w->host), 0);
}

static void host_shut(void)
{
    posix_host_lock(&host.world.host);
    dns_stop(&host.dns);
    name_server_close(&host.loop);
    posix_host_unlock(&host.world.host);
    world_close(&host.world);
}

static int ask(const char *name, int family, int flags, struct weir_addrinfo **list)
{
    const struct weir_addrinfo hints = {.ai_family = family, .ai_flags = flags, .ai_socktype = WEIR_SOCK_STREAM};
    *list = NULL;
    return bsd_getaddrinfo(host.world.bsd, name, "80", &hints, list);
}

static void expect(const char *name, int family, int flags, const int *families, uint32_t count)
{
    struct weir_addrinfo *list, *at;
    assert_int_equal(ask(name, family, flags, &list), 0);
    at = list;
    for (uint32_t i = 0; i < count; i++, at = at->ai_next) {
        assert_non_null(at);
        assert_int_equal(at->ai_family, families[i]);
    }
    assert_null(at);
    bsd_freeaddrinfo(host.world.bsd, list);
}

static void asks(bool threaded)
{
    static const int six[] = {WEIR_AF_INET6, WEIR_AF_INET6}, four[] = {WEIR_AF_INET, WEIR_AF_INET6};
    struct weir_addrinfo *list;
    host_open(threaded);
    expect("both.example", WEIR_AF_INET, 0, four, 1);
    expect("both.example", WEIR_AF_INET6, 0, six, 1);
    expect("both.example", WEIR_AF_INET6, WEIR_AI_V4MAPPED | WEIR_AI_ALL, six, 2);
    expect("four.example", WEIR_AF_INET6, WEIR_AI_V4MAPPED, six, 1);
    expect("alias.example", WEIR_AF_UNSPEC, 0, six, 1);
    assert_int_equal(ask("four.example", WEIR_AF_INET6, 0, &list), WEIR_EAI_NONAME);
    assert_int_equal(ask("xyz.example", WEIR_AF_UNSPEC, 0, &list), WEIR_EAI_NONAME);
    // Nothing but loopback is configured here.
    assert_int_equal(ask("both.example", WEIR_AF_UNSPEC, WEIR_AI_ADDRCONFIG, &list), WEIR_EAI_NONAME);
    assert_int_equal(ask("127.0.0.1", WEIR_AF_UNSPEC, WEIR_AI_ADDRCONFIG, &list), 0);
    bsd_freeaddrinfo(host.world.bsd, list);
    host_shut();
}

static void the_caller_polls(void **state) { (void)state, asks(false); }
static void a_thread_polls(void **state) { (void)state, asks(true); }

static void without_servers(void **state)
{
    struct weir_addrinfo *list;
    (void)state;
    host_open(false);
    dns_servers(&host.dns, NULL, 0);
    assert_int_equal(ask("both.example", WEIR_AF_UNSPEC, 0, &list), WEIR_EAI_AGAIN);
    host_shut();
}

// --- connecting by name ----------------------------------------------------------------------------------------------

static enum weir_tx_verdict sink_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    return (void)netif, (void)tx, WEIR_TX_DONE;
}
static const struct weir_driver sink = {.name = "sink", .tx = sink_tx};

// A link on which nobody answers; addresses of a name that are this host's answer all the same.
static void link_add(struct weir_netif *netif, bool four, bool six)
{
    static const uint8_t ours[16] = {0x20, 1, 0x0d, 0xb8, [15] = 1}, theirs[16] = {0x20, 1, 0x0d, 0xb8, [15] = 7};
    posix_host_lock(&host.world.host);
    weir_netif_init(netif, "sink0", &sink, &weir_link_ethernet);
    memcpy(netif->mac, "\2\0\0\0\0\1", 6);
    assert_int_equal(weir_netif_add(host.world.weir, netif), WEIR_OK);
    assert_int_equal(weir_netif_set_address(netif, weir_ip4(10, 9, 8, 1), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(weir_netif_address_add(netif, weir_addr_v6(ours), 64, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    if (four)
        assert_int_equal(weir_netif_address_add(netif, NAME_FOUR, 32, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    if (six)
        assert_int_equal(weir_netif_address_add(netif, weir_addr_v6(theirs), 128, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    posix_host_unlock(&host.world.host);
}

static void expect_connected(const char *name, int family)
{
    struct weir_sockaddr_storage peer;
    weir_socklen length = sizeof peer;
    int name_error = 1, flags;
    const int fd = bsd_connect_name(host.world.bsd, name, "9", &name_error);
    assert_true(fd >= 0);
    assert_int_equal(name_error, 0);
    assert_int_equal(bsd_getpeername(host.world.bsd, fd, (struct weir_sockaddr *)(void *)&peer, &length), 0);
    assert_int_equal(peer.ss_family, family);
    flags = bsd_fcntl(host.world.bsd, fd, WEIR_F_GETFL, 0);
    assert_int_equal(flags & WEIR_O_NONBLOCK, 0);
    assert_int_equal(bsd_close(host.world.bsd, fd), 0);
}

static int listen_both(void)
{
    struct weir_sockaddr_in6 local = {.sin6_family = WEIR_AF_INET6, .sin6_port = weir_htons(9)};
    const int fd = bsd_socket(host.world.bsd, WEIR_AF_INET6, WEIR_SOCK_STREAM, 0);
    assert_true(fd >= 0);
    assert_int_equal(bsd_bind(host.world.bsd, fd, ADDRESS(local)), 0);
    assert_int_equal(bsd_listen(host.world.bsd, fd, 8), 0);
    return fd;
}

static void a_broken_family_costs_a_quarter_of_a_second(void **state)
{
    struct weir_netif netif;
    (void)state;
    host_open(true);
    link_add(&netif, true, false);
    const int listener = listen_both();
    const uint64_t begun_us = posix_now_us();
    expect_connected("both.example", WEIR_AF_INET);
    const uint64_t took_us = posix_now_us() - begun_us;
    assert_true(took_us >= 250000 && took_us < 2500000);  // resolution of the neighbour would fail after three seconds
    expect_connected("four.example", WEIR_AF_INET);
    assert_int_equal(bsd_close(host.world.bsd, listener), 0);
    host_shut();
}

static void the_better_family_wins(void **state)
{
    struct weir_netif netif;
    int name_error;
    (void)state;
    host_open(false);
    link_add(&netif, true, true);
    const int listener = listen_both();
    expect_connected("both.example", WEIR_AF_INET6);
    assert_int_equal(bsd_close(host.world.bsd, listener), 0);
    assert_errno(bsd_connect_name(host.world.bsd, "both.example", "9", &name_error), ECONNREFUSED);
    assert_int_equal(name_error, 0);
    assert_errno(bsd_connect_name(host.world.bsd, "xyz.example", "9", &name_error), EHOSTUNREACH);
    assert_int_equal(name_error, WEIR_EAI_NONAME);
    host_shut();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_caller_polls),       cmocka_unit_test(a_thread_polls),
        cmocka_unit_test(without_servers),        cmocka_unit_test(a_broken_family_costs_a_quarter_of_a_second),
        cmocka_unit_test(the_better_family_wins),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
