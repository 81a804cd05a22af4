// SPDX-License-Identifier: BSD-2-Clause
#include "sink.h"

static struct sim *sim;
static struct sim_host *hosts[4];

static void open_sim(void) { sim = sim_open(&(struct sim_options){.seed = 11}); }

static struct sim_node *host(uint32_t number)
{
    char name[8];
    snprintf(name, sizeof name, "h%u", number);
    return sim_node_of(hosts[number] = sim_host_add(sim, name, NULL));
}

static const struct sim_flow_stats *transfer(uint32_t from, uint32_t to, uint64_t bytes)
{
    struct sim_flow *flow = sim_flow_add(sim, hosts[from], hosts[to],
                                         &(struct sim_flow_options){.client.bytes = bytes, .server.bytes = bytes / 2});
    if (!sim_run(sim, SIM_S(100)))
        fail_msg("%s", sim_failure(sim));
    assert_true(sim_flow_stats(flow)->finished);
    assert_int_equal(sim_flow_stats(flow)->received[0], bytes);
    assert_int_equal(sim_flow_stats(flow)->received[1], bytes / 2);
    return sim_flow_stats(flow);
}

static void a_switch_sends_only_where_the_host_is(void **state)
{
    struct sim_link *links[3];
    (void)state;
    open_sim();
    struct sim_node *middle = sim_switch_add(sim, "switch");
    for (uint32_t number = 0; number < 3; number++)
        links[number] = sim_link_add(sim, host(number), middle, NULL);
    transfer(0, 1, 100000);
    assert_true(sim_link_stats(links[1], true)->delivered > 69);
    assert_in_range(sim_link_stats(links[2], true)->delivered, 1, 10);  // broadcasts of ARP
    sim_close(sim);
}

static void routers_in_a_row_lead_to_the_host(void **state)
{
    (void)state;
    open_sim();
    struct sim_node *last = host(0);
    for (uint32_t number = 0; number < 5; number++) {
        struct sim_node *router = sim_router_add(sim, "router");
        sim_link_add(sim, last, router, &(struct sim_link_options){.there = {.delay_ns = SIM_MS(2)}});
        last = router;
    }
    sim_link_add(sim, last, host(1), NULL);
    const struct sim_flow_stats *stats = transfer(0, 1, 50000);
    // ARP with the first router, then a handshake: 10 ms each way.
    assert_in_range(stats->connected_ns, SIM_MS(24), SIM_MS(25));
    assert_int_equal(sim->frames.under_way, 0);
    sim_close(sim);
}

static void hosts_behind_one_port_of_a_router_talk_without_it(void **state)
{
    (void)state;
    open_sim();
    struct sim_node *router = sim_router_add(sim, "router"), *hall = sim_switch_add(sim, "hall");
    sim_link_add(sim, host(0), hall, NULL);
    sim_link_add(sim, host(1), hall, NULL);
    struct sim_link *door = sim_link_add(sim, hall, router, NULL);
    sim_link_add(sim, host(2), router, NULL);
    transfer(0, 1, 20000);
    assert_in_range(sim_link_stats(door, false)->delivered, 1, 10);
    transfer(1, 2, 20000);
    assert_true(sim_link_stats(door, false)->delivered > 14);
    sim_close(sim);
}

// The middle link takes 1000 bytes: the router says so (RFC 1191), and the connection fits itself to it.
static void a_narrow_link_is_found_out(void **state)
{
    (void)state;
    open_sim();
    struct sim_node *left = sim_router_add(sim, "left"), *right = sim_router_add(sim, "right");
    sim_link_add(sim, host(0), left, NULL);
    struct sim_link *narrow =
        sim_link_add(sim, left, right, &(struct sim_link_options){.there = {.mtu = 1000, .delay_ns = SIM_MS(1)}});
    sim_link_add(sim, right, host(1), NULL);
    transfer(0, 1, 100000);
    assert_int_equal(sim_link_stats(narrow, false)->dropped, 0);  // what is too large does not enter it
    sim_close(sim);
}

// A packet whose time to live is over comes back as ICMP time exceeded (RFC 792).
static void a_router_counts_down(void **state)
{
    (void)state;
    open_sim();
    struct sim_node *router = sim_router_add(sim, "router");
    struct sink *sink = sink_add(sim, "sink");
    sim_link_add(sim, &sink->node, router, NULL);
    struct sim_link *behind = sim_link_add(sim, router, host(0), NULL);
    run(sim, SIM_S(1));
    struct frame *frame = frame_make(sim, 100, 0);
    put32(frame->data + 30, 0x0a000001);
    frame->data[22] = 1;
    frame_ip_sum(frame->data + 14);
    const uint64_t before = sim_link_stats(behind, false)->delivered;
    port_send(sink->node.ports, frame_copy(&sim->frames, frame));
    frame->data[22] = 2;
    frame_ip_sum(frame->data + 14);
    port_send(sink->node.ports, frame_copy(&sim->frames, frame));
    frame->data[22] = 64;  // its checksum is now wrong: not forwarded
    port_send(sink->node.ports, frame);
    run(sim, SIM_S(2));
    assert_int_equal(sim_link_stats(behind, false)->delivered, before + 1);
    sim_close(sim);
}

static void no_way_is_no_way(void **state)
{
    (void)state;
    open_sim();
    sim_link_add(sim, host(0), sim_router_add(sim, "one"), NULL);
    sim_link_add(sim, host(1), sim_router_add(sim, "other"), NULL);
    struct sim_flow *flow =
        sim_flow_add(sim, hosts[0], hosts[1], &(struct sim_flow_options){.client.bytes = 1, .may_fail = true});
    run(sim, SIM_S(1000));
    assert_true(sim_flow_stats(flow)->failed);
    assert_int_equal(sim_flow_stats(flow)->error, WEIR_HOST_UNREACHABLE);
    sim_close(sim);
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(a_switch_sends_only_where_the_host_is),
        cmocka_unit_test(routers_in_a_row_lead_to_the_host),
        cmocka_unit_test(hosts_behind_one_port_of_a_router_talk_without_it),
        cmocka_unit_test(a_narrow_link_is_found_out),
        cmocka_unit_test(a_router_counts_down),
        cmocka_unit_test(no_way_is_no_way),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
