// SPDX-License-Identifier: BSD-2-Clause
// profiles: small_apps
// The link-local address on an interface whose neighbours are frames, in virtual time.
#include "apps/bench.h"

#include "autoip/autoip.h"
#include "link/frames.h"
#include "weir/tables.h"

#define SECOND 1000000u
#define LEASED weir_ip4(10, 0, 0, 50)

struct world {
    struct bench bench;
    struct autoip autoip;
    uint32_t bound, lost;
};

static struct world w;
static const uint8_t thief[6] = {0x02, 0xbb, 0, 0, 0, 0x66};

static void changed(struct autoip *autoip, bool bound, void *context)
{
    (void)autoip, (void)context;
    w.bound += bound;
    w.lost += !bound;
}

static void open_world(void)
{
    const struct fixture_options options = {.link = &weir_link_ethernet};
    memset(&w, 0, sizeof w);
    assert_true(fixture_open_with(&w.bench.f, &options));
    loop_init(&w.bench.loop, w.bench.f.weir);
    assert_int_equal(autoip_start(&w.autoip, &w.bench.loop, &w.bench.f.netif, AUTOIP_WAIT_S, changed, NULL), WEIR_OK);
}

static void close_world(void)
{
    autoip_stop(&w.autoip);
    bench_close(&w.bench);
}

static void pass(uint32_t seconds) { bench_run(&w.bench, (uint64_t)seconds * SECOND); }

// Lets the reply go, however often the driver is full, and tells to whom the last one went.
static void reply(uint8_t destination[6])
{
    for (int i = 0; i < 40; i++)
        bench_run(&w.bench, 1000);
    uint32_t at = fixture_sent_count(&w.bench.f);
    while (at > 0 && frames_sent_arp(&w.bench.f, at - 1, destination).operation != ARP_REPLY)
        at--;
    assert_true(at > 0);
}

static uint32_t candidate(uint32_t attempt) { return weir_addr_to_v4(autoip_candidate(w.bench.f.netif.mac, attempt)); }

// Another host says that an address is its own.
static void claim(uint32_t address)
{
    frames_arp(&w.bench.f, frames_all, ARP_REQUEST, thief, address, address);
    bench_run(&w.bench, 200000);
}

static void bind_first(void)
{
    pass(AUTOIP_WAIT_S + 8);
    assert_int_equal(w.autoip.state, AUTOIP_BOUND);
    assert_int_equal(weir_addr_to_v4(w.bench.f.netif.address.addr), candidate(0));
}

static void candidates_are_of_the_range_and_of_the_mac(void **state)
{
    uint8_t mac[6] = {2, 0, 0, 0, 0, 1};
    uint32_t same = 0;
    (void)state;
    for (uint32_t i = 0; i < 100000; i++) {
        const uint32_t address = weir_addr_to_v4(autoip_candidate(mac, i));
        assert_in_range(address, 0xa9fe0100, 0xa9fefeff);
        mac[5] ^= 1;
        same += address == weir_addr_to_v4(autoip_candidate(mac, i));
    }
    assert_in_range(same, 0, 20);
    assert_true(weir_addr_equal(autoip_candidate(mac, 7), autoip_candidate(mac, 7)));
}

static void an_address_is_taken_after_a_while_without(void **state)
{
    (void)state;
    open_world();
    pass(AUTOIP_WAIT_S - 1);
    assert_int_equal(fixture_sent_count(&w.bench.f), 0);
    pass(9);
    assert_int_equal(w.autoip.state, AUTOIP_BOUND);
    assert_int_equal(w.bound, 1);
    assert_int_equal(w.bench.f.netif.address.prefix_length, 16);
    assert_in_range(fixture_sent_count(&w.bench.f), 4, 5);  // the second announcement may be out by now
    for (uint32_t i = 0; i < 3; i++)
        frames_assert_request(&w.bench.f, i, frames_all, 0, candidate(0));
    frames_assert_request(&w.bench.f, 3, frames_all, candidate(0), candidate(0));
    autoip_stop(&w.autoip);
    assert_true(weir_addr_is_any(w.bench.f.netif.address.addr));
    close_world();
}

// RFC 3927 §2.5: so that every host sees a conflict.
static void its_replies_are_for_all(void **state)
{
    uint8_t destination[6];
    (void)state;
    open_world();
    bind_first();
    pass(20);
    frames_arp(&w.bench.f, frames_all, ARP_REQUEST, thief, 0xa9fe0a0a, candidate(0));
    reply(destination);
    assert_memory_equal(destination, frames_all, 6);
    assert_int_equal(weir_netif_set_address(&w.bench.f.netif, LEASED, 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    pass(20);
    frames_arp(&w.bench.f, frames_all, ARP_REQUEST, thief, 0x0a000009, weir_addr_to_v4(LEASED));
    reply(destination);
    assert_memory_equal(destination, thief, 6);
    close_world();
}

static void a_conflict_while_probing_leads_to_the_next(void **state)
{
    (void)state;
    open_world();
    pass(AUTOIP_WAIT_S + 1);
    frames_arp(&w.bench.f, frames_all, ARP_REQUEST, thief, 0, candidate(0));  // its probe
    pass(10);
    assert_int_equal(w.autoip.state, AUTOIP_BOUND);
    assert_int_equal(weir_addr_to_v4(w.bench.f.netif.address.addr), candidate(1));
    assert_int_equal(w.lost, 0);
    close_world();
}

static void an_address_is_defended_once_and_then_changed(void **state)
{
    (void)state;
    open_world();
    bind_first();
    pass(20);
    claim(candidate(0));
    assert_int_equal(w.autoip.state, AUTOIP_BOUND);
    pass(2);
    claim(candidate(0));
    assert_int_equal(w.lost, 1);
    pass(10);
    assert_int_equal(w.autoip.state, AUTOIP_BOUND);
    assert_int_equal(weir_addr_to_v4(w.bench.f.netif.address.addr), candidate(1));
    close_world();
}

static void who_claims_everything_is_asked_once_a_minute(void **state)
{
    (void)state;
    open_world();
    pass(AUTOIP_WAIT_S + 1);
    for (uint32_t i = 0; i < AUTOIP_CONFLICTS_MAX; i++) {
        assert_int_equal(w.autoip.attempt, i);
        claim(candidate(i));
    }
    assert_int_equal(w.autoip.state, AUTOIP_WAITING);
    pass(AUTOIP_RATE_LIMIT_S - 2);
    assert_int_equal(w.autoip.state, AUTOIP_WAITING);
    pass(3);
    claim(candidate(AUTOIP_CONFLICTS_MAX));
    assert_int_equal(w.autoip.attempt, AUTOIP_CONFLICTS_MAX + 1);
    assert_int_equal(w.autoip.state, AUTOIP_WAITING);
    close_world();
}

static void whoever_sets_an_address_has_the_interface(void **state)
{
    (void)state;
    open_world();
    bind_first();
    assert_int_equal(weir_netif_set_address(&w.bench.f.netif, LEASED, 24, WEIR_ADDRESS_PROBE), WEIR_OK);
    pass(1);
    assert_int_equal(w.autoip.state, AUTOIP_YIELDED);
    assert_int_equal(w.lost, 1);
    // what it had stays beside, deprecated, and goes in time
    const struct weir_netif_address *kept = weir_netif_address_next(&w.bench.f.netif, &w.bench.f.netif.address);
    assert_non_null(kept);
    assert_int_equal(weir_addr_to_v4(kept->addr), candidate(0));
    assert_true(kept->deprecated);
    pass(AUTOIP_KEEP_S + 1);
    assert_null(weir_netif_address_next(&w.bench.f.netif, &w.bench.f.netif.address));
    assert_true(weir_addr_equal(w.bench.f.netif.address.addr, LEASED));
    // and when the lease is gone
    assert_int_equal(weir_netif_set_address(&w.bench.f.netif, weir_addr_any(), 0, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    bind_first();
    assert_int_equal(w.bound, 2);
    close_world();
}

static void the_same_address_comes_back_from_beside(void **state)
{
    (void)state;
    open_world();
    bind_first();
    assert_int_equal(weir_netif_set_address(&w.bench.f.netif, LEASED, 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    pass(1);
    assert_int_equal(weir_netif_set_address(&w.bench.f.netif, weir_addr_any(), 0, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    bind_first();
    assert_null(weir_netif_address_next(&w.bench.f.netif, &w.bench.f.netif.address));
    close_world();
}

static void an_address_that_is_there_is_left_alone(void **state)
{
    (void)state;
    open_world();
    assert_int_equal(weir_netif_set_address(&w.bench.f.netif, LEASED, 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    pass(100);
    assert_int_equal(w.autoip.state, AUTOIP_YIELDED);
    assert_true(weir_addr_equal(w.bench.f.netif.address.addr, LEASED));
    assert_int_equal(w.bound + w.lost, 0);
    autoip_stop(&w.autoip);
    assert_true(weir_addr_equal(w.bench.f.netif.address.addr, LEASED));
    close_world();
}

// The result of a datagram to that address, and whose link address is asked for then; 0: nobody's.
static int speak(struct weir_addr to, uint32_t *asked)
{
    const struct weir_message message = {.peer = {to, 9}};
    const struct weir_slice slice = {"x", 1};
    pass(10);  // nobody else is asked for any more
    const uint32_t before = fixture_sent_count(&w.bench.f);
    const weir_socket socket = weir_socket_open(w.bench.f.weir, WEIR_DATAGRAM, 0);
    const int result = weir_socket_send_message(w.bench.f.weir, socket, &message, &slice, 1);
    for (int i = 0; i < 40; i++)  // however often the driver is full
        bench_run(&w.bench, 1000);
    *asked = 0;
    for (uint32_t at = before; at < fixture_sent_count(&w.bench.f); at++) {
        uint8_t destination[6];
        const struct arp_packet arp = frames_sent_arp(&w.bench.f, at, destination);
        assert_int_equal(arp.operation, ARP_REQUEST);
        *asked = arp.target;
    }
    assert_int_equal(weir_socket_close(w.bench.f.weir, socket), WEIR_OK);
    return result;
}

static int metric(void)
{
    struct weir_route_info info;
    for (uint32_t at = 0; weir_route_at(w.bench.f.weir, at, &info); at++) {
        if (weir_addr_equal(info.prefix, weir_ip4(169, 254, 0, 0)))
            return info.metric;
    }
    return -1;
}

// Of several interfaces that reach link-local hosts, one with an address of theirs goes first.
static void an_interface_with_such_an_address_goes_first(void **state)
{
    (void)state;
    open_world();
    assert_int_equal(metric(), 255);
    bind_first();
    assert_int_equal(metric(), 0);
    assert_int_equal(weir_netif_set_address(&w.bench.f.netif, LEASED, 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    pass(1);
    assert_int_equal(metric(), 255);
    autoip_stop(&w.autoip);
    pass(AUTOIP_KEEP_S + 1);
    assert_int_equal(metric(), -1);
    close_world();
}

// RFC 3927 §2.6.2, §7: there is no gateway from a link-local address, and none to one, whatever address we have.
static void no_gateway_sees_a_link_local_packet(void **state)
{
    const struct weir_addr neighbour = weir_ip4(169, 254, 9, 9), far = weir_ip4(192, 0, 2, 1),
                           gateway = weir_ip4(10, 0, 0, 1);
    struct weir *weir;
    uint32_t asked;
    (void)state;
    open_world();
    weir = w.bench.f.weir;
    assert_int_equal(speak(neighbour, &asked), WEIR_NO_ADDRESS);  // as it was before
    bind_first();
    pass(20);
    assert_int_equal(speak(neighbour, &asked), 1);
    assert_int_equal(asked, weir_addr_to_v4(neighbour));
    assert_int_equal(speak(far, &asked), WEIR_NO_ROUTE);
    assert_int_equal(asked, 0);
    assert_int_equal(weir_netif_set_address(&w.bench.f.netif, LEASED, 24, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    assert_int_equal(weir_route_add(weir, weir_addr_any(), 0, gateway, &w.bench.f.netif, 0), WEIR_OK);
    pass(20);
    assert_int_equal(speak(neighbour, &asked), 1);  // the old address lies beside
    assert_int_equal(asked, weir_addr_to_v4(neighbour));
    pass(AUTOIP_KEEP_S + 1);
    assert_int_equal(speak(neighbour, &asked), 1);  // and no longer
    assert_int_equal(asked, weir_addr_to_v4(neighbour));
    assert_int_equal(speak(far, &asked), 1);
    assert_int_equal(asked, weir_addr_to_v4(gateway));
    autoip_stop(&w.autoip);
    assert_int_equal(speak(neighbour, &asked), 1);  // nobody said that there are such hosts
    assert_int_equal(asked, weir_addr_to_v4(gateway));
    close_world();
}

static void behind_another_cable_it_is_probed_again(void **state)
{
    (void)state;
    open_world();
    bind_first();
    weir_link_change(&w.bench.f.netif, false);
    pass(5);
    weir_link_change(&w.bench.f.netif, true);
    bench_run(&w.bench, 200000);
    assert_int_equal(w.autoip.state, AUTOIP_PROBING);
    assert_int_equal(w.lost, 1);
    pass(8);
    assert_int_equal(w.autoip.state, AUTOIP_BOUND);
    assert_int_equal(weir_addr_to_v4(w.bench.f.netif.address.addr), candidate(0));
    close_world();
}

int main(void)
{
    const struct CMUnitTest tests[] = {
        cmocka_unit_test(candidates_are_of_the_range_and_of_the_mac),
        cmocka_unit_test(an_address_is_taken_after_a_while_without),
        cmocka_unit_test(its_replies_are_for_all),
        cmocka_unit_test(a_conflict_while_probing_leads_to_the_next),
        cmocka_unit_test(an_address_is_defended_once_and_then_changed),
        cmocka_unit_test(who_claims_everything_is_asked_once_a_minute),
        cmocka_unit_test(whoever_sets_an_address_has_the_interface),
        cmocka_unit_test(the_same_address_comes_back_from_beside),
        cmocka_unit_test(an_address_that_is_there_is_left_alone),
        cmocka_unit_test(an_interface_with_such_an_address_goes_first),
        cmocka_unit_test(no_gateway_sees_a_link_local_packet),
        cmocka_unit_test(behind_another_cable_it_is_probed_again),
    };
    return cmocka_run_group_tests(tests, NULL, NULL);
}
