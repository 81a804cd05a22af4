// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps
// The DHCP client against a server made of frames, in virtual time: leases, renewal, refusals, conflicts, and the
// answers of strangers.
#include "apps/bench.h"

#include "dhcp/client.h"

#define SERVER weir_ip4(10, 0, 0, 1)
#define OFFERED weir_ip4(10, 0, 0, 50)
#define LEASE_S 1000u

struct world {
    struct bench bench;
    struct dhcp dhcp;
    uint32_t bound, lost, frames;  // frames: looked at so far
    struct dhcp_message last;      // newest message of the client
    struct weir_addr last_to, last_from;
};

static void changed(struct dhcp *dhcp, bool bound, void *context)
{
    struct world *world = context;
    (void)dhcp;
    world->bound += bound;
    world->lost += !bound;
}

static void open_world(struct world *world)
{
    const struct fixture_options options = {.link = &weir_link_ethernet};
    memset(world, 0, sizeof *world);
    assert_true(fixture_open_with(&world->bench.f, &options));
    loop_init(&world->bench.loop, world->bench.f.weir);
    assert_int_equal(dhcp_start(&world->dhcp, &world->bench.loop, &world->bench.f.netif, "weir", changed, world),
                     WEIR_OK);
}

static void close_world(struct world *world)
{
    dhcp_release(&world->dhcp);
    dhcp_stop(&world->dhcp);
    assert_true(weir_addr_is_any(world->bench.f.netif.address.addr));
    bench_close(&world->bench);
}

// Runs until the client sends a message (true), or the time is over. The message is in world->last.
static bool next_message(struct world *world, uint64_t us)
{
    struct fixture *f = &world->bench.f;
    for (uint64_t passed = 0; passed <= us; passed += 10000) {
        for (; world->frames < fixture_sent_count(f); world->frames++) {
            uint32_t length;
            const uint8_t *packet = fixture_sent_packet(f, world->frames, &length);
            if (length < 28 || packet[0] != 0x45 || packet[9] != 17 || packet[22] != 0 || packet[23] != 67)
                continue;
            assert_true(dhcp_parse(packet + 28, length - 28, &world->last));
            assert_true(length - 28 >= DHCP_MESSAGE_MIN);
            assert_memory_equal(world->last.mac, f->netif.mac, 6);
            world->last_from = weir_addr_v4((uint32_t)packet[12] << 24 | (uint32_t)packet[13] << 16 |
                                            (uint32_t)packet[14] << 8 | packet[15]);
            world->last_to = weir_addr_v4((uint32_t)packet[16] << 24 | (uint32_t)packet[17] << 16 |
                                          (uint32_t)packet[18] << 8 | packet[19]);
            world->frames++;
            return true;
        }
        bench_run(&world->bench, 10000);
    }
    return false;
}

static struct dhcp_message reply(const struct world *world, uint8_t type)
{
    struct dhcp_message message = {.op = 2, .type = type, .xid = world->last.xid, .lease_s = LEASE_S};
    memcpy(message.mac, world->bench.f.netif.mac, 6);
    message.yiaddr = OFFERED;
    message.server_id = SERVER;
    message.mask = weir_ip4(255, 255, 255, 0);
    message.routers = (struct dhcp_list){{SERVER}, 1};
    message.dns = (struct dhcp_list){{weir_ip4(10, 0, 0, 2)}, 1};
    return message;
}

static void deliver(struct world *world, const struct dhcp_message *message)
{
    uint8_t udp[8 + DHCP_MESSAGE_MAX] = {0, 67, 0, 68};
    uint32_t length = 8 + dhcp_emit(message, udp + 8, DHCP_MESSAGE_MAX);
    udp[4] = (uint8_t)(length >> 8);
    udp[5] = (uint8_t)length;  // checksum 0: none
    fixture_input_ip4(&world->bench.f, SERVER, weir_addr_v4(0xffffffffu), 17, udp, length);
    bench_run(&world->bench, 1000);
}

static void expect(struct world *world, uint8_t type, uint64_t us)
{
    assert_true(next_message(world, us));
    assert_int_equal(world->last.type, type);
}

// DISCOVER, OFFER, REQUEST, ACK, and the probe's time.
static void take_lease(struct world *world)
{
    expect(world, DHCP_DISCOVER, 20000000);
    struct dhcp_message offer = reply(world, DHCP_OFFER);
    deliver(world, &offer);
    expect(world, DHCP_REQUEST, 1000000);
    struct dhcp_message ack = reply(world, DHCP_ACK);
    deliver(world, &ack);
    assert_int_equal(world->dhcp.state, DHCP_PROBING);
    bench_run(&world->bench, 12000000);
    assert_int_equal(world->dhcp.state, DHCP_BOUND);
}

static void know_server(struct world *world) { fixture_know_peer(&world->bench.f, SERVER); }

static void a_lease_is_taken_after_the_probe(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    expect(&world, DHCP_DISCOVER, 1000000);
    assert_true(weir_addr_is_any(world.last_from) && weir_addr_is_broadcast(world.last_to));
    assert_int_equal(world.last.flags, DHCP_BROADCAST);
    uint32_t xid = world.last.xid;
    struct dhcp_message offer = reply(&world, DHCP_OFFER);
    deliver(&world, &offer);
    expect(&world, DHCP_REQUEST, 1000000);
    assert_int_equal(world.last.xid, xid);
    assert_int_equal(weir_addr_to_v4(world.last.requested), weir_addr_to_v4(OFFERED));
    assert_int_equal(weir_addr_to_v4(world.last.server_id), weir_addr_to_v4(SERVER));
    assert_true(weir_addr_is_any(world.last_from) && weir_addr_is_any(world.last.ciaddr));
    struct dhcp_message ack = reply(&world, DHCP_ACK);
    deliver(&world, &ack);
    assert_int_equal(world.bound, 0);  // not before the probe
    bench_run(&world.bench, 12000000);
    assert_int_equal(world.bound, 1);
    assert_int_equal(weir_addr_to_v4(world.bench.f.netif.address.addr), weir_addr_to_v4(OFFERED));
    assert_int_equal(world.dhcp.lease.renew_s, LEASE_S / 2);
    assert_int_equal(world.dhcp.lease.rebind_s, LEASE_S - LEASE_S / 8);
    assert_int_equal(weir_addr_to_v4(world.dhcp.lease.router), weir_addr_to_v4(SERVER));
    close_world(&world);
    assert_int_equal(world.lost, 1);
}

static void silence_is_asked_again_ever_more_rarely(void **state)
{
    struct world world;
    uint64_t before_us = 0;
    (void)state;
    open_world(&world);
    for (uint32_t try = 0; try < 7; try++) {
        expect(&world, DHCP_DISCOVER, 80000000);
        uint64_t gap_us = world.bench.f.now_us - before_us, wanted_us = 4000000ull << (try > 5   ? 4
                                                                                       : try > 0 ? try - 1
                                                                                                 : 0);
        if (try > 0)
            assert_in_range(gap_us, wanted_us - 1100000, wanted_us + 1100000);
        before_us = world.bench.f.now_us;
    }
    close_world(&world);
}

static void a_lease_is_renewed_and_rebound(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    know_server(&world);
    take_lease(&world);
    know_server(&world);
    expect(&world, DHCP_REQUEST, (uint64_t)LEASE_S * 500000u + 2000000u);
    assert_int_equal(world.dhcp.state, DHCP_RENEWING);
    assert_int_equal(weir_addr_to_v4(world.last_to), weir_addr_to_v4(SERVER));  // by itself
    assert_int_equal(weir_addr_to_v4(world.last_from), weir_addr_to_v4(OFFERED));
    assert_int_equal(weir_addr_to_v4(world.last.ciaddr), weir_addr_to_v4(OFFERED));
    assert_true(weir_addr_is_any(world.last.server_id) && weir_addr_is_any(world.last.requested));  // table 5
    struct dhcp_message ack = reply(&world, DHCP_ACK);
    deliver(&world, &ack);
    assert_int_equal(world.dhcp.state, DHCP_BOUND);
    assert_int_equal(world.bound, 2);
    assert_int_equal(world.lost, 0);
    uint32_t requests = 0;
    while (world.dhcp.state != DHCP_REBINDING) {
        expect(&world, DHCP_REQUEST, (uint64_t)LEASE_S * 1000000u);
        requests++;
    }
    assert_in_range(requests, 2, 8);
    assert_true(weir_addr_is_broadcast(world.last_to));  // any server may answer
    ack = reply(&world, DHCP_ACK);
    ack.server_id = weir_ip4(10, 0, 0, 9);
    deliver(&world, &ack);
    assert_int_equal(world.dhcp.state, DHCP_BOUND);
    assert_int_equal(weir_addr_to_v4(world.dhcp.lease.server), weir_addr_to_v4(ack.server_id));
    close_world(&world);
}

static void a_lease_that_ends_is_given_up(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    take_lease(&world);
    bench_run(&world.bench, (uint64_t)LEASE_S * 1000000u);
    assert_int_equal(world.lost, 1);
    assert_true(weir_addr_is_any(world.bench.f.netif.address.addr));
    assert_int_equal(world.dhcp.state, DHCP_SELECTING);
    close_world(&world);
}

static void a_nak_begins_anew(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    know_server(&world);
    take_lease(&world);
    know_server(&world);
    expect(&world, DHCP_REQUEST, (uint64_t)LEASE_S * 500000u + 2000000u);
    struct dhcp_message nak = reply(&world, DHCP_NAK);
    nak.server_id = weir_ip4(10, 0, 0, 66);
    deliver(&world, &nak);  // not from our server
    assert_int_equal(world.dhcp.state, DHCP_RENEWING);
    nak.server_id = SERVER;
    deliver(&world, &nak);
    assert_int_equal(world.dhcp.count.nak, 1);
    assert_int_equal(world.lost, 1);
    take_lease(&world);
    close_world(&world);
}

// Somebody else answers for OFFERED.
static void claim(struct world *world)
{
    static const uint8_t arp[42] = {2,  0x57, 0x45, 0x49, 0x52, 1,    2,    9,    9,    9, 9, 9, 8, 6,
                                    0,  1,    8,    0,    6,    4,    0,    2,    2,    9, 9, 9, 9, 9,
                                    10, 0,    0,    50,   2,    0x57, 0x45, 0x49, 0x52, 1, 0, 0, 0, 0};
    fixture_input(&world->bench.f, arp, sizeof arp);
}

// Up to the ACK that comes for a DISCOVER which was just sent.
static void answer_discover(struct world *world)
{
    struct dhcp_message message = reply(world, DHCP_OFFER);
    deliver(world, &message);
    expect(world, DHCP_REQUEST, 1000000);
    message = reply(world, DHCP_ACK);
    deliver(world, &message);
}

static void a_taken_address_is_declined(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    expect(&world, DHCP_DISCOVER, 1000000);
    answer_discover(&world);
    bench_run(&world.bench, 1500000);
    claim(&world);
    expect(&world, DHCP_DECLINE, 1000000);
    assert_int_equal(weir_addr_to_v4(world.last.requested), weir_addr_to_v4(OFFERED));
    assert_int_equal(weir_addr_to_v4(world.last.server_id), weir_addr_to_v4(SERVER));
    assert_int_equal(world.bound, 0);
    assert_true(weir_addr_is_any(world.bench.f.netif.address.addr));
    uint64_t declined_us = world.bench.f.now_us;
    expect(&world, DHCP_DISCOVER, 20000000);
    assert_true(world.bench.f.now_us - declined_us >= 9900000);  // RFC 2131 §3.1
    close_world(&world);
}

// Who claims each address, while it is probed or when it is in use, makes us decline less and less often.
static void declining_slows_down(void **state)
{
    static const uint32_t waits_s[] = {10, 20, 40, 80, 160, 320, 320};
    struct world world;
    (void)state;
    open_world(&world);
    expect(&world, DHCP_DISCOVER, 1000000);
    for (size_t i = 0; i < sizeof waits_s / sizeof *waits_s; i++) {
        answer_discover(&world);
        bench_run(&world.bench, i & 1 ? 15000000 : 1500000);
        claim(&world);
        if (i & 1) {
            assert_int_equal(world.dhcp.state, DHCP_BOUND);  // defended once
            bench_run(&world.bench, 1000000);
            claim(&world);
        }
        expect(&world, DHCP_DECLINE, 1000000);
        const uint64_t declined_us = world.bench.f.now_us;
        expect(&world, DHCP_DISCOVER, 400000000);
        assert_in_range(world.bench.f.now_us - declined_us, waits_s[i] * 1000000u - 100000u,
                        waits_s[i] * 1000000u + 100000u);
    }
    assert_int_equal(world.dhcp.count.declined, sizeof waits_s / sizeof *waits_s);
    // A lease that was kept for long enough: the next conflict is a first one.
    answer_discover(&world);
    bench_run(&world.bench, 80000000);  // after ten conflicts a probe waits a minute (RFC 5227 §2.1.1)
    assert_int_equal(world.dhcp.state, DHCP_BOUND);
    world.dhcp.due_us = WEIR_NEVER;  // as with a longer lease
    bench_run(&world.bench, 1200000000);
    claim(&world);
    bench_run(&world.bench, 1000000);
    claim(&world);
    expect(&world, DHCP_DECLINE, 1000000);
    const uint64_t declined_us = world.bench.f.now_us;
    expect(&world, DHCP_DISCOVER, 20000000);
    assert_in_range(world.bench.f.now_us - declined_us, 9900000, 10100000);
    close_world(&world);
}

// What SECURITY.md asks: impossible addresses, wrong server, wrong transaction, another client's answers.
static void strangers_are_not_believed(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    expect(&world, DHCP_DISCOVER, 1000000);
    static const uint32_t bad[] = {0,          0xe0000001, 0xffffffff, 0x7f000001,
                                   0x0a0000ff, 0x0a000000, 0x00000005, 0xf0000001};
    for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++) {
        struct dhcp_message offer = reply(&world, DHCP_OFFER);
        offer.yiaddr = weir_addr_v4(bad[i]);
        deliver(&world, &offer);
        assert_int_equal(world.dhcp.state, DHCP_SELECTING);
    }
    struct dhcp_message offer = reply(&world, DHCP_OFFER);
    offer.mask = weir_ip4(255, 0, 255, 0);
    deliver(&world, &offer);
    offer = reply(&world, DHCP_OFFER);
    offer.lease_s = DHCP_LEASE_MIN_S - 1;
    deliver(&world, &offer);
    offer = reply(&world, DHCP_OFFER);
    offer.server_id = weir_addr_any();
    deliver(&world, &offer);
    assert_int_equal(world.dhcp.count.refused, 11);
    offer = reply(&world, DHCP_OFFER);
    offer.xid++;
    deliver(&world, &offer);
    offer = reply(&world, DHCP_OFFER);
    offer.mac[5]++;
    deliver(&world, &offer);
    offer = reply(&world, DHCP_OFFER);
    offer.op = 1;
    deliver(&world, &offer);
    struct dhcp_message ack = reply(&world, DHCP_ACK);  // without being asked
    deliver(&world, &ack);
    assert_int_equal(world.dhcp.count.ignored, 4);
    assert_int_equal(world.dhcp.state, DHCP_SELECTING);
    offer = reply(&world, DHCP_OFFER);
    offer.routers.addresses[0] = weir_ip4(192, 168, 7, 1);  // not on the link
    deliver(&world, &offer);
    expect(&world, DHCP_REQUEST, 1000000);
    assert_true(weir_addr_is_any(world.dhcp.offer.router));
    ack = reply(&world, DHCP_ACK);
    ack.server_id = weir_ip4(10, 0, 0, 66);
    deliver(&world, &ack);
    ack = reply(&world, DHCP_ACK);
    ack.yiaddr = weir_ip4(10, 0, 0, 51);  // not what was asked for
    deliver(&world, &ack);
    assert_int_equal(world.dhcp.state, DHCP_REQUESTING);
    close_world(&world);
}

static void odd_times_get_defaults(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    expect(&world, DHCP_DISCOVER, 1000000);
    struct dhcp_message offer = reply(&world, DHCP_OFFER);
    offer.renew_s = LEASE_S * 2;
    offer.rebind_s = 5;
    deliver(&world, &offer);
    assert_int_equal(world.dhcp.offer.renew_s, LEASE_S / 2);
    assert_int_equal(world.dhcp.offer.rebind_s, LEASE_S - LEASE_S / 8);
    expect(&world, DHCP_REQUEST, 1000000);
    offer = reply(&world, DHCP_ACK);
    offer.lease_s = DHCP_FOREVER;
    deliver(&world, &offer);
    bench_run(&world.bench, 12000000);
    assert_int_equal(world.dhcp.state, DHCP_BOUND);
    assert_true(world.dhcp.due_us == WEIR_NEVER);
    close_world(&world);
}

static void the_lease_is_checked_when_the_cable_returns(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    take_lease(&world);
    weir_link_change(&world.bench.f.netif, false);
    bench_run(&world.bench, 1000000);
    weir_link_change(&world.bench.f.netif, true);
    expect(&world, DHCP_REQUEST, 5000000);
    assert_int_equal(world.dhcp.state, DHCP_REBOOTING);
    assert_int_equal(weir_addr_to_v4(world.last.requested), weir_addr_to_v4(OFFERED));
    assert_true(weir_addr_is_any(world.last.server_id));
    struct dhcp_message nak = reply(&world, DHCP_NAK);  // another network
    deliver(&world, &nak);
    assert_int_equal(world.lost, 1);
    take_lease(&world);
    close_world(&world);
}

// Nobody answers: the lease has not ended, and goes on (§3.2).
static void without_an_answer_the_lease_goes_on(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    take_lease(&world);
    weir_link_change(&world.bench.f.netif, false);
    bench_run(&world.bench, 1000000);
    weir_link_change(&world.bench.f.netif, true);
    know_server(&world);
    expect(&world, DHCP_REQUEST, 5000000);
    expect(&world, DHCP_REQUEST, 20000000);
    assert_int_equal(world.dhcp.state, DHCP_REBOOTING);
    weir_link_change(&world.bench.f.netif, false);  // once more: it asks already
    bench_run(&world.bench, 100000);
    weir_link_change(&world.bench.f.netif, true);
    bench_run(&world.bench, 20000000);
    assert_int_equal(world.dhcp.state, DHCP_BOUND);
    assert_int_equal(world.lost, 0);
    assert_true(weir_addr_equal(world.bench.f.netif.address.addr, OFFERED));
    know_server(&world);
    expect(&world, DHCP_REQUEST, (uint64_t)LEASE_S * 1000000u);
    assert_int_equal(world.dhcp.state, DHCP_RENEWING);
    close_world(&world);
}

// A cable that comes back while nothing is leased: the exchange begins anew.
static void an_exchange_begins_anew_when_the_cable_returns(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    expect(&world, DHCP_DISCOVER, 20000000);
    const uint32_t xid = world.last.xid;
    struct dhcp_message offer = reply(&world, DHCP_OFFER);
    deliver(&world, &offer);
    expect(&world, DHCP_REQUEST, 1000000);
    weir_link_change(&world.bench.f.netif, false);
    bench_run(&world.bench, 1000000);
    weir_link_change(&world.bench.f.netif, true);
    expect(&world, DHCP_DISCOVER, 1000000);
    assert_int_not_equal(world.last.xid, xid);
    close_world(&world);
}

// The server that offered does not answer any more.
static void an_offer_that_is_not_kept_is_given_up(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    expect(&world, DHCP_DISCOVER, 20000000);
    struct dhcp_message offer = reply(&world, DHCP_OFFER);
    deliver(&world, &offer);
    for (uint32_t i = 0; i < DHCP_REQUESTS; i++)
        expect(&world, DHCP_REQUEST, 70000000);
    deliver(&world, &offer);  // comes late, and no offer is awaited
    assert_int_equal(world.dhcp.count.ignored, 1);
    assert_int_equal(world.dhcp.state, DHCP_REQUESTING);
    expect(&world, DHCP_DISCOVER, 70000000);
    assert_int_equal(world.dhcp.state, DHCP_SELECTING);
    close_world(&world);
}

// Without a mask it is the one of the address's old class.
static void masks_have_their_default(void **state)
{
    const struct weir_addr addresses[] = {weir_ip4(10, 9, 8, 7), weir_ip4(172, 16, 8, 7), weir_ip4(192, 168, 8, 7)};
    static const uint8_t bits[] = {8, 16, 24};
    struct world world;
    (void)state;
    for (uint32_t i = 0; i < 3; i++) {
        open_world(&world);
        expect(&world, DHCP_DISCOVER, 20000000);
        struct dhcp_message message = reply(&world, DHCP_OFFER);
        message.yiaddr = addresses[i];
        message.mask = weir_addr_any();
        message.routers.count = 0;
        deliver(&world, &message);
        expect(&world, DHCP_REQUEST, 1000000);
        message.type = DHCP_ACK;
        deliver(&world, &message);
        bench_run(&world.bench, 12000000);
        assert_int_equal(world.dhcp.state, DHCP_BOUND);
        assert_int_equal(world.bench.f.netif.address.prefix_length, bits[i]);
        assert_false(world.dhcp.routed);
        close_world(&world);
    }
}

// T1 < T2 < the lease, whatever the server says; of routers the first that can be reached.
static void what_contradicts_itself_is_put_right(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    expect(&world, DHCP_DISCOVER, 20000000);
    struct dhcp_message offer = reply(&world, DHCP_OFFER);
    offer.lease_s = 10;
    offer.renew_s = 9;
    offer.rebind_s = 3;
    offer.routers = (struct dhcp_list){{OFFERED, weir_ip4(10, 9, 9, 9), weir_ip4(10, 0, 0, 255)}, 3};
    deliver(&world, &offer);
    assert_int_equal(world.dhcp.offer.renew_s, 5);
    assert_int_equal(world.dhcp.offer.rebind_s, 9);
    assert_true(weir_addr_is_any(world.dhcp.offer.router));
    expect(&world, DHCP_REQUEST, 1000000);
    struct dhcp_message bad = reply(&world, DHCP_ACK);
    bad.mask = weir_ip4(255, 0, 255, 0);
    deliver(&world, &bad);
    assert_int_equal(world.dhcp.count.refused, 1);
    assert_int_equal(world.dhcp.state, DHCP_REQUESTING);
    close_world(&world);
}

// A renewal may bring another router: the route follows.
static void the_route_follows_the_lease(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    know_server(&world);
    take_lease(&world);
    assert_true(weir_addr_equal(world.dhcp.lease.router, SERVER) && world.dhcp.routed);
    for (uint32_t i = 0; i < 2; i++) {
        expect(&world, DHCP_REQUEST, (uint64_t)LEASE_S * 1000000u);
        assert_int_equal(world.dhcp.state, DHCP_RENEWING);
        struct dhcp_message ack = reply(&world, DHCP_ACK);
        if (i == 0)
            ack.routers = (struct dhcp_list){{weir_ip4(10, 0, 0, 3)}, 1};
        else
            ack.routers.count = 0;
        deliver(&world, &ack);
        assert_int_equal(world.dhcp.state, DHCP_BOUND);
        assert_int_equal(world.dhcp.routed, i == 0);
        if (i == 0)
            assert_true(weir_addr_equal(world.dhcp.lease.router, weir_ip4(10, 0, 0, 3)));
    }
    close_world(&world);
}

// RFC 3396: a server may say in pieces, and in `file` and `sname`, what does not fit elsewhere.
static void a_server_may_split_its_options(void **state)
{
    static const uint8_t ack_options[] = {53,  1, 5,  54, 4, 10, 0, 0,  1, 51, 4, 0,  0, 3,   232, 1,   4,   255, 255,
                                          255, 0, 52, 1,  3, 6,  4, 10, 0, 0,  2, 15, 4, 'w', 'e', 'i', 'r', 255};
    struct world world;
    uint8_t udp[8 + DHCP_MESSAGE_MIN] = {0, 67, 0, 68, (8 + DHCP_MESSAGE_MIN) >> 8, (8 + DHCP_MESSAGE_MIN) & 0xff};
    uint8_t *const bytes = udp + 8;
    (void)state;
    open_world(&world);
    expect(&world, DHCP_DISCOVER, 20000000);
    struct dhcp_message offer = reply(&world, DHCP_OFFER);
    deliver(&world, &offer);
    expect(&world, DHCP_REQUEST, 1000000);
    struct dhcp_message ack = reply(&world, DHCP_ACK);
    (void)dhcp_emit(&ack, bytes, DHCP_MESSAGE_MIN);
    memset(bytes + 44, 0, 64 + 128);
    memcpy(bytes + 240, ack_options, sizeof ack_options);
    memcpy(bytes + 108, (const uint8_t[]){6, 2, 10, 0, 15, 1, '.', 255}, 8);
    memcpy(bytes + 44, (const uint8_t[]){15, 4, 'h', 'o', 'm', 'e', 6, 2, 0, 3, 255}, 11);
    fixture_input_ip4(&world.bench.f, SERVER, weir_addr_v4(0xffffffffu), 17, udp, sizeof udp);
    bench_run(&world.bench, 12000000);
    assert_int_equal(world.dhcp.state, DHCP_BOUND);
    assert_string_equal(world.dhcp.lease.domain, "weir.home");
    assert_int_equal(world.dhcp.lease.dns.count, 2);
    assert_int_equal(weir_addr_to_v4(world.dhcp.lease.dns.addresses[1]), 0x0a000003);
    close_world(&world);
}

static void what_is_no_answer_is_counted(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    expect(&world, DHCP_DISCOVER, 20000000);
    static const uint8_t rubbish[8 + 20] = {0, 67, 0, 68, 0, 28};
    fixture_input_ip4(&world.bench.f, SERVER, weir_addr_v4(0xffffffffu), 17, rubbish, sizeof rubbish);
    bench_run(&world.bench, 1000);
    assert_int_equal(world.dhcp.count.malformed, 1);
    static const uint8_t elsewhere[8 + 20] = {0, 99, 0, 68, 0, 28};
    fixture_input_ip4(&world.bench.f, SERVER, weir_addr_v4(0xffffffffu), 17, elsewhere, sizeof elsewhere);
    bench_run(&world.bench, 1000);
    assert_int_equal(world.dhcp.count.ignored, 1);
    struct dhcp_message request = reply(&world, DHCP_DISCOVER);
    deliver(&world, &request);  // no server says so
    assert_int_equal(world.dhcp.count.ignored, 2);
    assert_int_equal(world.dhcp.state, DHCP_SELECTING);
    close_world(&world);
}

// A host without a name, whom nobody told what to do at a change; a name that is too long is not said.
static void a_client_may_have_no_name(void **state)
{
    static char name[DHCP_NAME_MAX + 1];
    struct world world;
    (void)state;
    memset(name, 'a', DHCP_NAME_MAX);
    for (uint32_t i = 0; i < 2; i++) {
        open_world(&world);
        dhcp_stop(&world.dhcp);
        dhcp_stop(&world.dhcp);  // it has stopped already
        assert_int_equal(dhcp_start(&world.dhcp, &world.bench.loop, &world.bench.f.netif, i ? name : NULL, NULL, NULL),
                         WEIR_OK);
        struct dhcp second;
        assert_true(dhcp_start(&second, &world.bench.loop, &world.bench.f.netif, NULL, NULL, NULL) < 0);  // the port
        take_lease(&world);
        for (uint32_t j = 0; j < fixture_sent_count(&world.bench.f); j++) {
            const struct fixture_frame *frame = fixture_sent_frame(&world.bench.f, j);
            for (uint32_t at = 0; at + 16 <= frame->length; at++)
                assert_memory_not_equal(frame->data + at, name, 16);
        }
        assert_string_equal(dhcp_state_name(world.dhcp.state), "BOUND");
        weir_link_change(&world.bench.f.netif, false);
        close_world(&world);
    }
}

// RFC 8925.
static void a_network_without_ip4_is_believed_where_that_was_asked(void **state)
{
    struct world world;
    (void)state;
    for (uint32_t prefers = 0; prefers < 2; prefers++) {
        open_world(&world);
        if (prefers)
            dhcp_prefer_ip6(&world.dhcp);
        expect(&world, DHCP_DISCOVER, 20000000);
        struct dhcp_message offer = reply(&world, DHCP_OFFER);
        offer.ip6_only_s = 400;
        deliver(&world, &offer);
        assert_int_equal(world.dhcp.state, prefers ? DHCP_IP6_ONLY : DHCP_REQUESTING);
        if (prefers) {
            assert_false(next_message(&world, 398000000));
            expect(&world, DHCP_DISCOVER, 3000000);
            offer = reply(&world, DHCP_OFFER);
            offer.ip6_only_s = 1;
            deliver(&world, &offer);
            assert_false(next_message(&world, 298000000));
            expect(&world, DHCP_DISCOVER, 3000000);
        }
        close_world(&world);
    }
}

static void a_failure_to_send_hides_no_answer(void **state)
{
    struct world world;
    (void)state;
    open_world(&world);
    expect(&world, DHCP_DISCOVER, 20000000);
    const struct dhcp_message offer = reply(&world, DHCP_OFFER);
    bench_fail(&world.bench, world.dhcp.socket);
    deliver(&world, &offer);
    expect(&world, DHCP_REQUEST, 10000);
    close_world(&world);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_lease_is_taken_after_the_probe),
        cmocka_unit_test(silence_is_asked_again_ever_more_rarely),
        cmocka_unit_test(a_lease_is_renewed_and_rebound),
        cmocka_unit_test(a_lease_that_ends_is_given_up),
        cmocka_unit_test(a_nak_begins_anew),
        cmocka_unit_test(a_taken_address_is_declined),
        cmocka_unit_test(declining_slows_down),
        cmocka_unit_test(strangers_are_not_believed),
        cmocka_unit_test(odd_times_get_defaults),
        cmocka_unit_test(the_lease_is_checked_when_the_cable_returns),
        cmocka_unit_test(a_network_without_ip4_is_believed_where_that_was_asked),
        cmocka_unit_test(a_failure_to_send_hides_no_answer),
        cmocka_unit_test(without_an_answer_the_lease_goes_on),
        cmocka_unit_test(an_exchange_begins_anew_when_the_cable_returns),
        cmocka_unit_test(an_offer_that_is_not_kept_is_given_up),
        cmocka_unit_test(masks_have_their_default),
        cmocka_unit_test(what_contradicts_itself_is_put_right),
        cmocka_unit_test(the_route_follows_the_lease),
        cmocka_unit_test(a_server_may_split_its_options),
        cmocka_unit_test(what_is_no_answer_is_counted),
        cmocka_unit_test(a_client_may_have_no_name),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
