// SPDX-License-Identifier: BSD-2-Clause
// The list of an interface's addresses: adding and removing, who answers and speaks for each, conflicts, lifetimes.
#include "link/address.h"
#include "fixture.h"
#include "frames.h"
#include "ip/internal.h"
#include "pair.h"
#include "weir/socket.h"
#include "wire/icmp4.h"

#define SECOND 1000000u
#define SECOND_ADDRESS weir_ip4(192, 168, 7, 1)  // /24, beside 10.0.0.1/24
#define SECOND_PEER weir_ip4(192, 168, 7, 9)

static const uint8_t thief[6] = {0x02, 0xbb, 0, 0, 0, 0x66};

// 10.0.0.1/24 and 192.168.7.1/24, both announced.
static void open_both(struct fixture *f, const struct weir_link *link)
{
    fixture_open(f, link, weir_addr_v4(OURS), 24, 0);
    assert_int_equal(weir_netif_address_add(&f->netif, SECOND_ADDRESS, 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    fixture_poll(f, 5 * SECOND);
    fixture_clear(f);
}

static struct weir_addr nth(uint32_t i) { return weir_addr_v4(0x0a010001u + (i << 8)); }

// Their number; each is where weir_netif_address_next says.
static uint32_t listed(const struct weir_netif *netif)
{
    uint32_t count = 0;
    for (const struct weir_netif_address *a = NULL; (a = weir_netif_address_next(netif, a)) != NULL; count++)
        assert_ptr_equal(address_find(netif, a->addr), a);
    return count;
}

static void the_list_is_bounded(void **state)
{
    (void)state;
    struct fixture f;
    frames_open(&f);
    assert_int_equal(listed(&f.netif), 1);
    for (uint32_t i = 0; i < WEIR_CFG_ADDRESSES; i++)
        assert_int_equal(weir_netif_address_add(&f.netif, nth(i), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(listed(&f.netif), 1 + WEIR_CFG_ADDRESSES);
    assert_int_equal(weir_netif_address_add(&f.netif, nth(WEIR_CFG_ADDRESSES), 24, WEIR_ADDRESS_AT_ONCE),
                     WEIR_NO_MEMORY);
    assert_int_equal(weir_netif_address_add(&f.netif, nth(3), 24, WEIR_ADDRESS_AT_ONCE), WEIR_IN_USE);
    assert_int_equal(weir_netif_address_remove(&f.netif, nth(WEIR_CFG_ADDRESSES / 2)), WEIR_OK);
    assert_int_equal(weir_netif_address_remove(&f.netif, nth(WEIR_CFG_ADDRESSES / 2)), WEIR_NO_ADDRESS);
    assert_int_equal(weir_netif_address_add(&f.netif, nth(WEIR_CFG_ADDRESSES), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    // The first may come and go; the others keep their places.
    assert_int_equal(weir_netif_address_remove(&f.netif, weir_addr_v4(OURS)), WEIR_OK);
    assert_int_equal(listed(&f.netif), WEIR_CFG_ADDRESSES);
    assert_int_equal(weir_netif_set_address(&f.netif, weir_addr_v4(OURS), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(f.weir->ip.route_count, 1 + WEIR_CFG_ADDRESSES);
    // An interface that goes gives all places back.
    weir_netif_remove(&f.netif);
    assert_int_equal(listed(&f.netif), 0);
    assert_int_equal(f.weir->ip.route_count, 0);
    assert_int_equal(weir_netif_add(f.weir, &f.netif), WEIR_OK);
    for (uint32_t i = 0; i < WEIR_CFG_ADDRESSES; i++)
        assert_int_equal(weir_netif_address_add(&f.netif, nth(i), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    fixture_close(&f);
}

static void what_cannot_be_added(void **state)
{
    (void)state;
    struct fixture f;
    frames_open(&f);
    const enum weir_address_mode mode = WEIR_ADDRESS_AT_ONCE;
    assert_int_equal(weir_netif_address_add(&f.netif, weir_addr_v4(OURS), 24, mode), WEIR_IN_USE);  // the first
    assert_int_equal(weir_netif_address_add(&f.netif, weir_addr_any(), 24, mode), WEIR_INVALID);
    assert_int_equal(weir_netif_address_add(&f.netif, SECOND_ADDRESS, 33, mode), WEIR_INVALID);
    assert_int_equal(weir_netif_address_add(&f.netif, weir_ip4(224, 0, 0, 9), 24, mode), WEIR_INVALID);
    assert_int_equal(weir_netif_address_add(&f.netif, weir_ip4(127, 0, 0, 9), 24, mode), WEIR_INVALID);
    assert_int_equal(weir_netif_address_remove(&f.netif, SECOND_ADDRESS), WEIR_NO_ADDRESS);
    assert_int_equal(weir_netif_address_remove(&f.netif, weir_addr_any()), WEIR_NO_ADDRESS);
    assert_int_equal(weir_netif_address_add(&f.netif, SECOND_ADDRESS, 24, mode), WEIR_OK);
    assert_int_equal(weir_netif_set_address(&f.netif, SECOND_ADDRESS, 24, mode), WEIR_IN_USE);
    assert_true(ip_is_ours(f.weir, weir_addr_v4(OURS)) && ip_is_ours(f.weir, SECOND_ADDRESS));
    assert_int_equal(weir_netif_address_remove(&f.netif, SECOND_ADDRESS), WEIR_OK);
    // Without room for its connected route it is not added, and the place is free again.
    while (f.weir->ip.route_count < WEIR_CFG_ROUTES)
        assert_int_equal(weir_route_add(f.weir, nth(f.weir->ip.route_count), 24, weir_addr_any(), &f.netif, 0),
                         WEIR_OK);
    for (uint32_t i = 0; i <= WEIR_CFG_ADDRESSES; i++)
        assert_int_equal(weir_netif_address_add(&f.netif, SECOND_ADDRESS, 24, mode), WEIR_NO_MEMORY);
    assert_false(ip_is_ours(f.weir, SECOND_ADDRESS));
    // it shares the first one's
    assert_int_equal(weir_netif_address_add(&f.netif, weir_addr_v4(OURS + 7), 24, mode), WEIR_OK);
    assert_int_equal(listed(&f.netif), 2);
    fixture_close(&f);
}

// --- who answers and speaks ------------------------------------------------------------------------------------------

static void each_is_announced_and_answered_for(void **state)
{
    (void)state;
    struct fixture f;
    uint8_t destination[6];
    frames_open(&f);
    assert_int_equal(weir_netif_address_add(&f.netif, SECOND_ADDRESS, 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    fixture_poll(&f, 10 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 2);
    for (uint32_t i = 0; i < 2; i++)
        frames_assert_request(&f, i, frames_all, weir_addr_to_v4(SECOND_ADDRESS), weir_addr_to_v4(SECOND_ADDRESS));
    fixture_clear(&f);
    static const uint32_t asked[] = {OURS, 0xc0a80701, OURS + 1, 0xc0a80702, OURS, 0xc0a80701};
    for (uint32_t i = 0; i < 4; i++)
        frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, asked[i]);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 2);
    for (uint32_t i = 0; i < 2; i++) {
        const struct arp_packet arp = frames_sent_arp(&f, i, destination);
        assert_int_equal(arp.operation, ARP_REPLY);
        assert_int_equal(arp.sender, asked[i]);
        assert_int_equal(arp.target, PEER);
    }
    fixture_clear(&f);
    // An answer that waits is not given once the address is gone.
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, weir_addr_to_v4(SECOND_ADDRESS));
    assert_int_equal(weir_netif_address_remove(&f.netif, SECOND_ADDRESS), WEIR_OK);
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, PEER, weir_addr_to_v4(SECOND_ADDRESS));
    fixture_poll(&f, SECOND);
    assert_int_equal(fixture_sent_count(&f), 0);
    fixture_close(&f);
}

static void neighbours_are_asked_from_their_subnet(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0}, other = {0};
    open_both(&f, &weir_link_ethernet);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    frames_output(&f, &path, weir_addr_to_v4(SECOND_PEER), "hello", 5, NULL);
    fixture_poll(&f, 0);
    frames_output(&f, &other, PEER, "hello", 5, NULL);
    fixture_poll(&f, 0);
    assert_int_equal(fixture_sent_count(&f), 2);
    frames_assert_request(&f, 0, frames_all, weir_addr_to_v4(SECOND_ADDRESS), weir_addr_to_v4(SECOND_PEER));
    frames_assert_request(&f, 1, frames_all, OURS, PEER);
    fixture_close(&f);
}

// Who asks for an address of ours from its subnet is learnt; who asks from beyond it is not.
static void askers_are_learnt_in_each_subnet(void **state)
{
    (void)state;
    struct fixture f;
    struct path path = {0};
    open_both(&f, &weir_link_ethernet);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, weir_addr_to_v4(SECOND_PEER),
               weir_addr_to_v4(SECOND_ADDRESS));
    frames_arp(&f, frames_all, ARP_REQUEST, FIXTURE_PEER_MAC, weir_addr_to_v4(SECOND_PEER) + 1, OURS);
    fixture_poll(&f, 0);
    fixture_clear(&f);
    frames_output(&f, &path, weir_addr_to_v4(SECOND_PEER), "hello", 5, NULL);
    assert_int_equal(fixture_sent_count(&f), 1);
    assert_memory_equal(fixture_sent_frame(&f, 0)->data, FIXTURE_PEER_MAC, 6);
    frames_output(&f, &path, weir_addr_to_v4(SECOND_PEER) + 1, "hello", 5, NULL);
    assert_int_equal(fixture_sent_count(&f), 1);
    fixture_close(&f);
}

static void echo_from_each(void **state)
{
    (void)state;
    struct fixture f;
    struct ip4 ip;
    uint32_t length;
    open_both(&f, &weir_link_rawip);
    static const struct {
        struct weir_addr peer, ours;
    } table[] = {{WEIR_ADDR_V4(PEER), WEIR_ADDR_V4(OURS)},
                 {WEIR_ADDR_V4(0xc0a80709), WEIR_ADDR_V4(0xc0a80701)},
                 {WEIR_ADDR_V4(PEER), WEIR_ADDR_V4(0xc0a80701)},
                 {WEIR_ADDR_V4(0xc0a80709), WEIR_ADDR_V4(OURS)}};
    for (size_t i = 0; i < sizeof table / sizeof *table; i++) {
        uint8_t echo[8] = {8, 0, 0xf7, 0xff};
        fixture_input_ip4(&f, table[i].peer, table[i].ours, IP_ICMP, echo, sizeof echo);
        fixture_poll(&f, 10000);
        assert_int_equal(fixture_sent_count(&f), 1);
        const uint8_t *packet = fixture_sent_packet(&f, 0, &length);
        assert_int_equal(ip4_parse(packet, length, true, &ip), IP4_OK);
        assert_int_equal(ip.source, weir_addr_to_v4(table[i].ours));
        assert_int_equal(ip.destination, weir_addr_to_v4(table[i].peer));
        fixture_clear(&f);
    }
    // Nobody outside has one of our addresses.
    fixture_input_ip4(&f, SECOND_ADDRESS, weir_addr_v4(OURS), IP_ICMP, "\x8\0\xf7\xff\0\0\0", 8);
    assert_int_equal(fixture_count(&f, WEIR_COUNT_IP_BAD_SOURCE), 1);
    fixture_close(&f);
}

static struct weir_addr spoken_from(struct fixture *f, struct weir_addr destination)
{
    struct path path;
    struct weir_addr source = weir_addr_any();
    assert_int_equal(ip_path_find(f->weir, &path, &source, destination, 0), WEIR_OK);
    return source;
}

static void the_source_is_of_the_next_hops_subnet(void **state)
{
    (void)state;
    struct fixture f;
    struct path path;
    const struct weir_addr any = weir_addr_any(), first = weir_addr_v4(OURS), narrow = weir_ip4(192, 168, 7, 65);
    open_both(&f, &weir_link_rawip);
    assert_true(weir_addr_equal(spoken_from(&f, weir_addr_v4(PEER)), first));
    assert_true(weir_addr_equal(spoken_from(&f, SECOND_PEER), SECOND_ADDRESS));
    assert_true(weir_addr_equal(spoken_from(&f, weir_ip4(192, 168, 7, 255)), SECOND_ADDRESS));  // a directed broadcast
    assert_true(weir_addr_equal(spoken_from(&f, weir_ip4(239, 1, 2, 3)), first));
    // Beyond a gateway: of its subnet.
    assert_int_equal(weir_route_add(f.weir, any, 0, SECOND_PEER, &f.netif, 0), WEIR_OK);
    assert_int_equal(weir_route_add(f.weir, weir_ip4(198, 51, 100, 0), 24, weir_addr_v4(PEER), &f.netif, 0), WEIR_OK);
    assert_true(weir_addr_equal(spoken_from(&f, weir_ip4(8, 8, 8, 8)), SECOND_ADDRESS));
    assert_true(weir_addr_equal(spoken_from(&f, weir_ip4(198, 51, 100, 8)), first));
    // The longest prefix of several.
    assert_int_equal(weir_netif_address_add(&f.netif, narrow, 26, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_true(weir_addr_equal(spoken_from(&f, weir_ip4(192, 168, 7, 66)), narrow));
    assert_true(weir_addr_equal(spoken_from(&f, SECOND_PEER), SECOND_ADDRESS));
    // One that was asked for stays, whatever the next hop.
    struct weir_addr source = first;
    assert_int_equal(ip_path_find(f.weir, &path, &source, SECOND_PEER, 0), WEIR_OK);
    assert_true(weir_addr_equal(source, first));
    // The paths that were found with an address are invalid without it.
    assert_int_equal(weir_netif_address_remove(&f.netif, narrow), WEIR_OK);
    assert_false(ip_path_valid(f.weir, &path));
    assert_true(weir_addr_equal(spoken_from(&f, weir_ip4(192, 168, 7, 66)), SECOND_ADDRESS));
    source = narrow;
    assert_int_equal(ip_path_find(f.weir, &path, &source, SECOND_PEER, 0), WEIR_NO_ADDRESS);
    fixture_close(&f);
}

static void subnets_have_their_routes_and_broadcasts(void **state)
{
    (void)state;
    struct fixture f;
    struct path path;
    struct weir_addr source = weir_addr_any();
    open_both(&f, &weir_link_rawip);
    assert_true(ip_is_broadcast(f.weir, weir_ip4(10, 0, 0, 255)));
    assert_true(ip_is_broadcast(f.weir, weir_ip4(192, 168, 7, 255)));
    assert_int_equal(weir_netif_address_add(&f.netif, weir_ip4(192, 168, 7, 2), 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(f.weir->ip.route_count, 2);
    assert_int_equal(weir_netif_address_remove(&f.netif, SECOND_ADDRESS), WEIR_OK);
    // the other of the subnet keeps its route
    assert_int_equal(ip_path_find(f.weir, &path, &source, SECOND_PEER, 0), WEIR_OK);
    assert_true(weir_addr_equal(source, weir_ip4(192, 168, 7, 2)));
    assert_int_equal(weir_netif_address_remove(&f.netif, weir_ip4(192, 168, 7, 2)), WEIR_OK);
    source = weir_addr_any();
    assert_int_equal(ip_path_find(f.weir, &path, &source, SECOND_PEER, 0), WEIR_NO_ROUTE);
    assert_false(ip_is_broadcast(f.weir, weir_ip4(192, 168, 7, 255)));
    fixture_close(&f);
}

static void an_address_of_ours_goes_round(void **state)
{
    (void)state;
    struct fixture f;
    struct path path;
    struct weir_addr source = weir_addr_any();
    open_both(&f, &weir_link_ethernet);
    assert_int_equal(ip_path_find(f.weir, &path, &source, SECOND_ADDRESS, 0), WEIR_OK);
    assert_ptr_equal(path.netif, &f.weir->loopback.netif);
    assert_true(weir_addr_equal(source, SECOND_ADDRESS));
    fixture_close(&f);
}

// --- connections -----------------------------------------------------------------------------------------------------

static void connections_by_the_second_address(void **state)
{
    (void)state;
    struct pair p;
    struct weir_endpoint end = {SECOND_PEER, 7}, local;
    char text[8] = {0};
    pair_open(&p, &(struct pair_options){.link = {.delay_us = 500}});
    assert_int_equal(weir_netif_address_add(&p.a.netif, SECOND_ADDRESS, 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(weir_netif_address_add(&p.b.netif, SECOND_PEER, 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    const weir_socket listener = weir_socket_open(p.b.weir, WEIR_STREAM, 0),
                      client = weir_socket_open(p.a.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(p.b.weir, listener, &end), WEIR_OK);
    assert_int_equal(weir_socket_listen(p.b.weir, listener, 1), WEIR_OK);
    assert_int_equal(weir_socket_connect(p.a.weir, client, &end), WEIR_IN_PROGRESS);
    pair_run(&p, SECOND);
    const weir_socket server = weir_socket_accept(p.b.weir, listener);
    assert_true(server > 0);
    assert_int_equal(weir_socket_peer(p.b.weir, server, &local), WEIR_OK);
    assert_true(weir_addr_equal(local.addr, SECOND_ADDRESS));
    assert_int_equal(weir_socket_write(p.a.weir, client, "hello", 5), 5);
    pair_run(&p, SECOND);
    assert_int_equal(weir_socket_read(p.b.weir, server, text, sizeof text), 5);
    // Deprecated, it still carries the connection; without it nothing more comes, and when it is back all goes on.
    assert_int_equal(weir_netif_address_lifetimes(&p.a.netif, SECOND_ADDRESS, 0, WEIR_NEVER), WEIR_OK);
    assert_int_equal(weir_socket_write(p.a.weir, client, "again", 5), 5);
    pair_run(&p, SECOND);
    assert_int_equal(weir_socket_read(p.b.weir, server, text, sizeof text), 5);
    assert_int_equal(weir_netif_address_remove(&p.a.netif, SECOND_ADDRESS), WEIR_OK);
    assert_int_equal(weir_socket_write(p.a.weir, client, "back", 4), 4);
    pair_run(&p, SECOND);
    assert_int_equal(weir_socket_read(p.b.weir, server, text, sizeof text), WEIR_AGAIN);
    assert_int_equal(weir_netif_address_add(&p.a.netif, SECOND_ADDRESS, 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    pair_run(&p, 10 * SECOND);
    assert_int_equal(weir_socket_read(p.b.weir, server, text, sizeof text), 4);
    pair_close(&p);
}

static void an_opening_connection_is_told(void **state)
{
    (void)state;
    struct fixture f;
    int32_t error;
    const struct weir_endpoint local = {SECOND_ADDRESS, 0}, peer = {SECOND_PEER, 7};
    open_both(&f, &weir_link_rawip);
    const weir_socket client = weir_socket_open(f.weir, WEIR_STREAM, 0);
    assert_int_equal(weir_socket_bind(f.weir, client, &local), WEIR_OK);
    assert_int_equal(weir_socket_connect(f.weir, client, &peer), WEIR_IN_PROGRESS);
    fixture_poll(&f, 1000);
    assert_int_equal(weir_netif_address_lifetimes(&f.netif, SECOND_ADDRESS, f.now_us, f.now_us + SECOND), WEIR_OK);
    fixture_poll(&f, 5 * SECOND);
    assert_int_equal(weir_socket_get(f.weir, client, WEIR_OPTION_ERROR, &error), WEIR_OK);
    assert_int_equal(error, WEIR_NO_ADDRESS);
    fixture_close(&f);
}

// --- conflicts -------------------------------------------------------------------------------------------------------

static uint8_t state_of(const struct fixture *f, struct weir_addr address)
{
    const struct weir_netif_address *a = address_find(&f->netif, address);
    return a ? a->state : WEIR_ADDRESS_NONE;
}

static void a_conflict_is_of_one_address(void **state)
{
    (void)state;
    struct fixture f;
    frames_open(&f);
    fixture_set_mode(&f, FIXTURE_PLAIN);
    assert_int_equal(weir_netif_address_add(&f.netif, SECOND_ADDRESS, 24, WEIR_ADDRESS_PROBE), WEIR_OK);
    assert_int_equal(state_of(&f, SECOND_ADDRESS), WEIR_ADDRESS_PROBING);
    assert_false(ip_is_ours(f.weir, SECOND_ADDRESS));
    assert_true(ip_is_ours(f.weir, weir_addr_v4(OURS)));
    assert_true(weir_addr_equal(spoken_from(&f, SECOND_PEER), weir_addr_v4(OURS)));  // tentative: no source
    fixture_poll(&f, 20 * SECOND);
    assert_int_equal(state_of(&f, SECOND_ADDRESS), WEIR_ADDRESS_READY);
    fixture_clear(&f);
    for (uint32_t i = 0; i < 2; i++) {  // defended once, then given up
        frames_arp(&f, frames_all, ARP_REPLY, thief, weir_addr_to_v4(SECOND_ADDRESS), PEER);
        fixture_poll(&f, SECOND);
    }
    assert_int_equal(fixture_sent_count(&f), 1);
    frames_assert_request(&f, 0, frames_all, weir_addr_to_v4(SECOND_ADDRESS), weir_addr_to_v4(SECOND_ADDRESS));
    assert_int_equal(state_of(&f, SECOND_ADDRESS), WEIR_ADDRESS_CONFLICT);
    assert_int_equal(state_of(&f, weir_addr_v4(OURS)), WEIR_ADDRESS_READY);
    assert_false(ip_is_ours(f.weir, SECOND_ADDRESS));
    assert_memory_equal(f.netif.conflict_mac, thief, 6);
    assert_int_equal(f.netif.conflict_total, 2);
    // The first has its own account: a claim of it is the first in a row, and is answered by an announcement.
    fixture_clear(&f);
    frames_arp(&f, frames_all, ARP_REPLY, thief, OURS, PEER);
    fixture_poll(&f, SECOND);
    assert_int_equal(fixture_sent_count(&f), 1);
    frames_assert_request(&f, 0, frames_all, OURS, OURS);
    fixture_poll(&f, 30 * SECOND);  // nobody has the second any more
    assert_int_equal(state_of(&f, SECOND_ADDRESS), WEIR_ADDRESS_READY);
    assert_true(ip_is_ours(f.weir, SECOND_ADDRESS));
    fixture_close(&f);
}

static void all_begin_again_with_the_carrier(void **state)
{
    (void)state;
    struct fixture f;
    open_both(&f, &weir_link_ethernet);
    assert_int_equal(weir_netif_address_add(&f.netif, nth(0), 24, WEIR_ADDRESS_PROBE), WEIR_OK);
    weir_netif_carrier(&f.netif, false);
    fixture_poll(&f, 10 * SECOND);
    fixture_clear(&f);
    weir_netif_carrier(&f.netif, true);
    assert_int_equal(state_of(&f, weir_addr_v4(OURS)), WEIR_ADDRESS_ANNOUNCING);
    assert_int_equal(state_of(&f, SECOND_ADDRESS), WEIR_ADDRESS_ANNOUNCING);
    assert_int_equal(state_of(&f, nth(0)), WEIR_ADDRESS_PROBING);
    fixture_poll(&f, 20 * SECOND);
    assert_int_equal(fixture_sent_count(&f), 2 + 2 + 5);
    fixture_close(&f);
}

// --- lifetimes -------------------------------------------------------------------------------------------------------

struct watched {
    struct weir_address_watch watch;
    struct weir_addr address;
    uint32_t count[WEIR_ADDRESS_EXPIRED + 1];
};

static void watch_event(struct weir_address_watch *self, const struct weir_netif *netif, struct weir_addr address,
                        enum weir_address_event event)
{
    struct watched *watched = (struct watched *)(void *)self;
    (void)netif;
    watched->address = address;
    watched->count[event]++;
}

static void lifetimes_end(void **state)
{
    (void)state;
    static const struct weir_link *const links[] = {&weir_link_ethernet, &weir_link_rawip};
    for (size_t i = 0; i < sizeof links / sizeof *links; i++) {
        struct fixture f;
        struct watched watched = {.watch = {.event = watch_event}};
        open_both(&f, links[i]);
        weir_address_watch_add(f.weir, &watched.watch);
        const struct weir_addr other = weir_ip4(192, 168, 7, 3);
        assert_int_equal(weir_netif_address_add(&f.netif, other, 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
        assert_int_equal(
            weir_netif_address_lifetimes(&f.netif, SECOND_ADDRESS, f.now_us + 10 * SECOND, f.now_us + 30 * SECOND),
            WEIR_OK);
        fixture_poll(&f, 10 * SECOND - 1);
        assert_true(weir_addr_equal(spoken_from(&f, SECOND_PEER), SECOND_ADDRESS));
        fixture_poll(&f, 1);
        assert_int_equal(watched.count[WEIR_ADDRESS_DEPRECATED], 1);
        assert_true(weir_addr_equal(watched.address, SECOND_ADDRESS));
        assert_true(address_find(&f.netif, SECOND_ADDRESS)->deprecated);
        assert_true(weir_addr_equal(spoken_from(&f, SECOND_PEER), other));
        assert_true(ip_is_ours(f.weir, SECOND_ADDRESS));
        // It lives again by a later word.
        assert_int_equal(
            weir_netif_address_lifetimes(&f.netif, SECOND_ADDRESS, f.now_us + SECOND, f.now_us + 20 * SECOND), WEIR_OK);
        fixture_poll(&f, 0);
        assert_true(weir_addr_equal(spoken_from(&f, SECOND_PEER), SECOND_ADDRESS));
        weir_netif_carrier(&f.netif, false);  // lifetimes go on without a carrier
        fixture_poll(&f, 20 * SECOND - 1);
        assert_true(ip_is_ours(f.weir, SECOND_ADDRESS));
        fixture_poll(&f, 1);
        assert_false(ip_is_ours(f.weir, SECOND_ADDRESS));
        assert_null(address_find(&f.netif, SECOND_ADDRESS));
        assert_int_equal(watched.count[WEIR_ADDRESS_DEPRECATED], 2);
        assert_int_equal(watched.count[WEIR_ADDRESS_EXPIRED], 1);
        assert_int_equal(fixture_count(&f, WEIR_COUNT_ADDRESS_EXPIRED), 1);
        assert_int_equal(listed(&f.netif), 2);
        fixture_close(&f);
    }
}

static void lifetimes_of_the_first(void **state)
{
    (void)state;
    struct fixture f;
    open_both(&f, &weir_link_rawip);
    const struct weir_addr first = weir_addr_v4(OURS);
    assert_int_equal(weir_netif_address_lifetimes(&f.netif, first, f.now_us + 2, f.now_us + 1), WEIR_INVALID);
    assert_int_equal(weir_netif_address_lifetimes(&f.netif, weir_ip4(10, 0, 0, 9), 1, 2), WEIR_NO_ADDRESS);
    assert_int_equal(weir_netif_address_lifetimes(&f.netif, weir_addr_any(), 1, 2), WEIR_NO_ADDRESS);
    // Deprecated, but nobody else to the subnet: another that is not deprecated speaks all the same (RFC 6724, rule 3).
    assert_int_equal(weir_netif_address_lifetimes(&f.netif, first, 0, f.now_us + 136ull * 365 * 86400 * SECOND),
                     WEIR_OK);
    fixture_poll(&f, 0);
    assert_true(weir_addr_equal(spoken_from(&f, weir_addr_v4(PEER)), SECOND_ADDRESS));
    // Alone, it speaks deprecated.
    assert_int_equal(weir_netif_address_remove(&f.netif, SECOND_ADDRESS), WEIR_OK);
    assert_true(weir_addr_equal(spoken_from(&f, weir_addr_v4(PEER)), first));
    // Two weeks, and more than 32 bits of milliseconds, are not over at once.
    const uint64_t end_us = f.now_us + 136ull * 365 * 86400 * SECOND;
    assert_int_equal(fixture_poll(&f, SECOND), end_us);
    assert_true(ip_is_ours(f.weir, first));
    // Set anew, it has no end.
    assert_int_equal(weir_netif_address_lifetimes(&f.netif, first, f.now_us + 1, f.now_us + 1), WEIR_OK);
    assert_int_equal(weir_netif_set_address(&f.netif, first, 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    fixture_poll(&f, SECOND);
    assert_true(ip_is_ours(f.weir, first));
    assert_int_equal(weir_netif_address_lifetimes(&f.netif, first, 0, 0), WEIR_OK);
    fixture_poll(&f, 0);
    assert_false(ip_is_ours(f.weir, first));
    assert_int_equal(f.netif.address.state, WEIR_ADDRESS_NONE);
    assert_int_equal(f.weir->ip.route_count, 0);
    fixture_close(&f);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(the_list_is_bounded),
        cmocka_unit_test(what_cannot_be_added),
        cmocka_unit_test(each_is_announced_and_answered_for),
        cmocka_unit_test(neighbours_are_asked_from_their_subnet),
        cmocka_unit_test(askers_are_learnt_in_each_subnet),
        cmocka_unit_test(echo_from_each),
        cmocka_unit_test(the_source_is_of_the_next_hops_subnet),
        cmocka_unit_test(subnets_have_their_routes_and_broadcasts),
        cmocka_unit_test(an_address_of_ours_goes_round),
        cmocka_unit_test(connections_by_the_second_address),
        cmocka_unit_test(an_opening_connection_is_told),
        cmocka_unit_test(a_conflict_is_of_one_address),
        cmocka_unit_test(all_begin_again_with_the_carrier),
        cmocka_unit_test(lifetimes_end),
        cmocka_unit_test(lifetimes_of_the_first),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
