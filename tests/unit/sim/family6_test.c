// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// Networks of IPv6: addresses of one's own and of routers' prefixes, path MTU, a router that dies, a prefix that is
// replaced, and what the observer says of packets.
#include "sim/family6.h"
#include "sink.h"

static struct sim *sim;
static struct sim_host *hosts[2];
static const struct sim_advertisement usual = {
    .lifetime_s = 1800, .every_ns = SIM_S(10), .prefix_count = 1, .prefixes = {{0, 3600, 7200}}};

static void open_sim(void) { sim = sim_open(&(struct sim_options){.seed = 11, .family = 6}); }

static struct sim_node *host(uint32_t number, bool autoconfigured)
{
    const struct sim_host_options options = {.autoconfigured = autoconfigured};
    hosts[number] = sim_host_add(sim, number ? "h1" : "h0", &options);
    return sim_node_of(hosts[number]);
}

static struct sim_flow *flow_add(uint64_t start_ns, uint64_t bytes, uint64_t write_every_ns)
{
    const struct sim_flow_options options = {
        .start_ns = start_ns,
        .client = {.bytes = bytes, .write_most = write_every_ns ? 1000 : 0, .write_every_ns = write_every_ns},
        .server.bytes = bytes / 2};
    return sim_flow_add(sim, hosts[0], hosts[1], &options);
}

static void pass(uint64_t until_ns)
{
    if (!sim_run(sim, until_ns))
        fail_msg("%s", sim_failure(sim));
}

static void finish(const struct sim_flow *flow)
{
    pass(sim_now(sim) + SIM_S(200));
    assert_true(sim_flow_stats(flow)->finished);
    assert_false(sim_flow_stats(flow)->failed);
}

static uint64_t prefix_of(const struct sim_host *h) { return sim_address_of(sim_host_address(h)).high & 0xffff; }

static void hosts_with_addresses_of_their_own_talk(void **state)
{
    (void)state;
    for (int raw = 0; raw < 2; raw++) {
        open_sim();
        struct sim_node *first = host(0, false);
        sim_link_add(sim, first, host(1, false), &(struct sim_link_options){.raw_ip = raw});
        finish(flow_add(0, 100000, 0));
        assert_int_equal(sim_address_of(sim_host_address(hosts[1])).low, 2);
        sim_close(sim);
    }
}

static void a_narrow_link_is_found_out(void **state)
{
    (void)state;
    open_sim();
    struct sim_node *left = sim_router_add(sim, "left"), *right = sim_router_add(sim, "right");
    struct sim_link *narrow = sim_link_add(sim, left, right, &(struct sim_link_options){.there = {.mtu = 1300}});
    sim_link_add(sim, host(0, false), left, NULL);
    sim_link_add(sim, right, host(1, false), NULL);
    finish(flow_add(0, 100000, 0));
    assert_int_equal(sim_link_stats(narrow, false)->dropped, 0);  // the router tells, the link has none to drop
    assert_in_range(weir_counter_get(hosts[0]->weir, WEIR_COUNT_TCP_RETRANSMITTED), 1, 20);
    sim_close(sim);
}

static void hosts_take_addresses_of_a_routers_prefix(void **state)
{
    (void)state;
    open_sim();
    struct sim_node *router = sim_router_add(sim, "router");
    sim_link_add(sim, host(0, true), router, NULL);
    sim_link_add(sim, router, host(1, true), NULL);
    sim_router_advertise(router, &usual);
    assert_true(weir_addr_is_any(sim_host_address(hosts[0])));
    finish(flow_add(0, 100000, 0));
    assert_int_equal(prefix_of(hosts[0]), 1);
    assert_false(weir_addr_equal(sim_host_address(hosts[0]), sim_host_address(hosts[1])));
    sim_close(sim);
}

// Two halls, each a switch with a host, and two routers between them.
static void open_halls(struct sim_node *routers[2])
{
    open_sim();
    struct sim_node *halls[2] = {sim_switch_add(sim, "hall0"), sim_switch_add(sim, "hall1")};
    for (uint32_t i = 0; i < 2; i++)
        sim_link_add(sim, host(i, true), halls[i], NULL);
    for (uint32_t i = 0; i < 2; i++) {
        routers[i] = sim_router_add(sim, i ? "r1" : "r0");
        sim_link_add(sim, halls[0], routers[i], NULL);
        sim_link_add(sim, routers[i], halls[1], NULL);
        sim_router_advertise(routers[i], &usual);
    }
}

// RFC 4861 §6.3.6, §7.3: the router that does not answer any more is passed over. Either router may be the one in use.
static void a_connection_outlives_its_router(void **state)
{
    (void)state;
    for (uint32_t dies = 0; dies < 2; dies++) {
        struct sim_node *routers[2];
        open_halls(routers);
        struct sim_flow *flow = flow_add(0, 60000, SIM_MS(500));  // thirty seconds
        pass(SIM_S(10));
        const uint64_t before = sim_flow_stats(flow)->received[0];
        assert_in_range(before, 1, 59999);
        sim_router_kill(routers[dies], true);
        finish(flow);
        sim_close(sim);
    }
}

static void without_any_router_it_ends(void **state)
{
    struct sim_node *routers[2];
    (void)state;
    open_halls(routers);
    const struct sim_flow_options options = {
        .client = {.bytes = 600000, .write_most = 1000, .write_every_ns = SIM_MS(500)}, .may_fail = true};
    const struct sim_flow *flow = sim_flow_add(sim, hosts[0], hosts[1], &options);
    pass(SIM_S(10));
    for (uint32_t i = 0; i < 2; i++)
        sim_router_kill(routers[i], true);
    pass(SIM_S(3000));
    assert_true(sim_flow_stats(flow)->failed);
    sim_close(sim);
}

// A new prefix takes the place of the old one (RFC 4862 §5.5.4): what is open goes on, what opens then has the new one.
static void renumbering_ends_no_connection(void **state)
{
    struct sim_node *routers[2];
    const struct sim_advertisement after = {
        .lifetime_s = 1800, .every_ns = SIM_S(10), .prefix_count = 2, .prefixes = {{0, 0, 7200}, {1, 3600, 7200}}};
    (void)state;
    open_halls(routers);
    struct sim_flow *old = flow_add(0, 60000, SIM_MS(500));
    pass(SIM_S(10));
    for (uint32_t i = 0; i < 2; i++)
        sim_router_advertise(routers[i], &after);
    pass(SIM_S(15));
    assert_int_equal(prefix_of(hosts[0]), 2);
    struct sim_flow *new = flow_add(sim_now(sim), 10000, 0);
    pass(SIM_S(18));
    assert_true(sim_flow_stats(new)->finished && !sim_flow_stats(old)->finished);
    finish(old);
    sim_close(sim);
}

// --- the observer ----------------------------------------------------------------------------------------------------

enum { SOUND, LENGTH, FOREIGN, TCP_SUM, HOP_LIMIT_64, ICMP_SUM, ROUTING, LARGE, KINDS };
static const char *const laws[KINDS] = {
    [LENGTH] = "the header says",    [FOREIGN] = "an address that it has not", [TCP_SUM] = "wrong TCP checksum",
    [HOP_LIMIT_64] = "hop limit 64", [ICMP_SUM] = "wrong ICMPv6 checksum",     [ROUTING] = "sends the header 43",
    [LARGE] = "its MTU is 1500"};

// A SYN, or a neighbour solicitation, with one thing wrong.
static struct frame *packet(int kind)
{
    const bool icmp = kind == HOP_LIMIT_64 || kind == ICMP_SUM;
    const uint32_t length = icmp ? 24 : kind == LARGE ? 1461 : 20;
    struct frame *frame = frame_new(&sim->frames, FRAME_ETHERNET + IP6_BYTES + length);
    memset(frame->data, 0, frame->length);
    frame->head = FRAME_ETHERNET;
    put16(frame->data + 12, ETHERTYPE_IP6);
    uint8_t *ip = frame->data + FRAME_ETHERNET, *above = ip + IP6_BYTES;
    ip[0] = 0x60;
    put16(ip + 4, (uint16_t)(length + (kind == LENGTH)));
    ip[6] = kind == ROUTING ? 43 : icmp ? ICMP6 : 6;
    ip[7] = icmp && kind != HOP_LIMIT_64 ? 255 : 64;
    sim_address_write((struct sim_address){UINT64_C(0xfd00) << 48, kind == FOREIGN ? 2 : 1}, ip + 8);
    sim_address_write((struct sim_address){UINT64_C(0xfd00) << 48, 2}, ip + 24);
    if (icmp) {
        above[0] = 135;
        put16(above + 2, (uint16_t)(ip6_sum(ip, ICMP6, above, length) + (kind == ICMP_SUM)));
    } else {
        put16(above, 4000);
        put16(above + 2, 80);
        above[12] = 0x50;
        above[13] = 2;
        put16(above + 16, (uint16_t)(ip6_sum(ip, 6, above, length) + (kind == TCP_SUM)));
    }
    return frame;
}

static void packets_have_laws_too(void **state)
{
    (void)state;
    for (int kind = 0; kind < KINDS; kind++) {
        open_sim();
        struct sim_node *first = host(0, false);
        sim_link_add(sim, first, host(1, false), NULL);
        struct frame *frame = packet(kind);
        check_sent(sim->check, 0, frame);
        if (!laws[kind] && sim_failure(sim))
            fail_msg("%s", sim_failure(sim));
        if (laws[kind] && (!sim_failure(sim) || !strstr(sim_failure(sim), laws[kind])))
            fail_msg("expected '%s', found '%s'", laws[kind], sim_failure(sim) ? sim_failure(sim) : "nothing");
        frame_free(&sim->frames, frame);
        sim_close(sim);
    }
}

static void congestion_is_marked_in_the_traffic_class(void **state)
{
    (void)state;
    open_sim();
    struct frame *frame = packet(SOUND);
    assert_false(frame_mark_ce(frame));  // not ECT
    frame->data[FRAME_ETHERNET + 1] = 0x2a;
    assert_true(frame_mark_ce(frame));
    assert_int_equal(frame->data[FRAME_ETHERNET + 1], 0x3a);
    frame_free(&sim->frames, frame);
    sim_close(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(hosts_with_addresses_of_their_own_talk),
        cmocka_unit_test(a_narrow_link_is_found_out),
        cmocka_unit_test(hosts_take_addresses_of_a_routers_prefix),
        cmocka_unit_test(a_connection_outlives_its_router),
        cmocka_unit_test(without_any_router_it_ends),
        cmocka_unit_test(renumbering_ends_no_connection),
        cmocka_unit_test(packets_have_laws_too),
        cmocka_unit_test(congestion_is_marked_in_the_traffic_class),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
