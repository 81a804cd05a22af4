// SPDX-License-Identifier: BSD-2-Clause
// needs IPv6
// Multicast DNS over IPv6: two hosts on a cable, both families.
#include "pair.h"

#include <string.h>

#include "loop.h"
#include "mdns/query.h"

#define SECOND 1000000u

struct side {
    struct loop loop;
    struct mdns mdns;
    uint8_t cache[2048];
};

static struct side a, b;
static struct mdns_service service = {.name = "Six", .type = "_x._udp", .port = 9};
static uint32_t instances;
static struct mdns_lookup lookup;
static uint32_t groups6;  // frames to ff02::fb

static void found(struct mdns_browse *self, const struct mdns_name *instance, bool added, void *context)
{
    (void)self, (void)instance, (void)context;
    instances += added;
}

static void changed(struct mdns_lookup *self, void *context) { (void)self, (void)context; }

static bool count6(void *context, bool from_b, uint8_t *frame, uint32_t length)
{
    static const uint8_t mac[6] = {0x33, 0x33, 0, 0, 0, 0xfb};
    (void)context, (void)from_b;
    if (length > 60 && memcmp(frame, mac, 6) == 0 && frame[20] == 17) {
        assert_int_equal(frame[21], 255);
        groups6++;
    }
    return true;
}

static void run(struct pair *pair, uint64_t us)
{
    for (uint64_t passed = 0; passed < us; passed += 5000) {
        pair_run(pair, 5000);
        (void)loop_run(&a.loop, pair->a.now_us);
        (void)loop_run(&b.loop, pair->b.now_us);
    }
}

static void names_have_addresses_of_both_families(void **state)
{
    struct pair pair;
    struct mdns_browse browse;
    struct mdns_name host;
    uint32_t v4 = 0, v6 = 0;
    (void)state;
    pair_open(&pair, &(struct pair_options){.link = {.delay_us = 100}});
    pair.filter = count6;
    assert_int_equal(weir_netif_ip6(&pair.a.netif, WEIR_IP6_LINK_LOCAL, NULL), WEIR_OK);
    assert_int_equal(weir_netif_ip6(&pair.b.netif, WEIR_IP6_LINK_LOCAL, NULL), WEIR_OK);
    loop_init(&a.loop, pair.a.weir);
    loop_init(&b.loop, pair.b.weir);
    run(&pair, 3 * SECOND);
    const struct mdns_config ours = {.host = "six"}, asks = {.cache = b.cache, .cache_bytes = sizeof b.cache};
    assert_int_equal(mdns_start(&a.mdns, &a.loop, &pair.a.netif, &ours), WEIR_OK);
    assert_int_equal(mdns_publish(&a.mdns, &service), WEIR_OK);
    assert_int_equal(mdns_start(&b.mdns, &b.loop, &pair.b.netif, &asks), WEIR_OK);
    assert_int_equal(mdns_browse_start(&b.mdns, &browse, "_x._udp", found, NULL), WEIR_OK);
    mdns_name_root(&host);
    assert_true(mdns_name_text(&host, "six.local"));
    mdns_lookup_start(&b.mdns, &lookup, &host, changed, NULL);
    run(&pair, 5 * SECOND);
    assert_int_equal(instances, 1);
    assert_int_equal(lookup.count, 2);
    for (uint32_t i = 0; i < 2; i++) {
        v4 += weir_addr_equal(lookup.addresses[i], PAIR_A);
        v6 += weir_addr_zone(lookup.addresses[i]) == pair.b.netif.index;  // one of that link
    }
    assert_int_equal(v4 + v6, 2);
    assert_true(groups6 > 5);
    // IPv4 goes: the host is there by IPv6 alone.
    assert_int_equal(weir_netif_set_address(&pair.a.netif, weir_addr_any(), 0, WEIR_ADDRESS_AT_ONCE), WEIR_OK);
    const uint32_t before = groups6;
    run(&pair, 130 * SECOND);
    assert_true(groups6 > before);
    assert_int_equal(lookup.count, 1);
    mdns_stop(&a.mdns);
    mdns_stop(&b.mdns);
    run(&pair, SECOND);
    pair_close(&pair);
}

int main(void)
{
    const struct CMUnitTest tests[] = {cmocka_unit_test(names_have_addresses_of_both_families)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
