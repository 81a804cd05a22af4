// SPDX-License-Identifier: BSD-2-Clause
// An interface that makes its addresses by itself, and the routers that advertise to it, for the tests.
#ifndef TESTS_IP_ADVERTISE6_H
#define TESTS_IP_ADVERTISE6_H

#include "ip/packets6.h"

#if WEIR_CFG_IP6

#define SECOND 1000000u
#define ROUTER6 ip6_of(0xfe800000u, 0, 0, 0xfe)
#define ALL_ROUTERS6 ip6_of(0xff020000u, 0, 0, 2)

static inline void open_how(struct fixture *f, unsigned how, const uint8_t *secret)
{
    fixture_open(f, &weir_link_ethernet, weir_addr_any(), 0, 0);
    assert_int_equal(weir_netif_ip6(&f->netif, WEIR_IP6_AUTO | how, secret), WEIR_OK);
}

static inline void open_auto(struct fixture *f, const uint8_t *secret) { open_how(f, 0, secret); }

static inline const struct weir_netif_address *of_origin(const struct fixture *f, uint8_t origin)
{
    for (const struct weir_netif_address *a = &f->netif.address; a; a = a->next)
        if (a->state != WEIR_ADDRESS_NONE && a->origin == origin)
            return a;
    return NULL;
}

static inline uint32_t count_origin(const struct fixture *f, uint8_t origin)
{
    uint32_t n = 0;
    for (const struct weir_netif_address *a = &f->netif.address; a; a = a->next)
        n += a->state != WEIR_ADDRESS_NONE && a->origin == origin;
    return n;
}

static inline bool in_use(const struct weir_netif_address *a)
{
    return a && (a->state == WEIR_ADDRESS_ANNOUNCING || a->state == WEIR_ADDRESS_READY);
}

// Time passes until a message of the type is sent; its index.
static inline uint32_t run_until_sent(struct fixture *f, uint8_t type)
{
    for (unsigned i = 0; find_icmp6(f, type) < 0; i++) {
        assert_true(i < 1000);
        fixture_poll(f, 10000);
    }
    return (uint32_t)find_icmp6(f, type);
}

struct prefix_said {
    struct weir_addr prefix;
    uint8_t flags;  // L 0x80, A 0x40
    uint32_t valid, preferred;
    bool link_address;  // the router tells its own
};

static inline void advertise_to(struct fixture *f, struct weir_addr destination, struct weir_addr router,
                                uint16_t lifetime, uint8_t flags, const struct prefix_said *said, uint32_t mtu)
{
    uint8_t message[16 + 8 + 32 + 8] = {ICMP6_ROUTER_ADVERTISEMENT, 0, 0, 0, 64, flags};
    uint32_t length = 16;
    put16(message + 6, lifetime);
    if (said && said->link_address) {
        message[16] = ND_SOURCE_LINK;
        message[17] = 1;
        memcpy(message + 18, FIXTURE_PEER_MAC, 6);
        length += 8;
    }
    if (said) {
        uint8_t *const option = message + length;
        option[0] = ND_PREFIX;
        option[1] = 4;
        option[2] = 64;
        option[3] = said->flags;
        put32(option + 4, said->valid);
        put32(option + 8, said->preferred);
        weir_addr_to_v6(said->prefix, option + 16);
        length += 32;
    }
    if (mtu) {
        message[length] = ND_MTU;
        message[length + 1] = 1;
        put32(message + length + 4, mtu);
        length += 8;
    }
    input_icmp6(f, &(struct make6){.source = router, .destination = destination, .hop_limit = 255}, message, length);
}

static inline void advertise_unpolled(struct fixture *f, struct weir_addr router, uint16_t lifetime, uint8_t flags,
                                      const struct prefix_said *said, uint32_t mtu)
{
    advertise_to(f, ALL_NODES6, router, lifetime, flags, said, mtu);
}

static inline void advertise(struct fixture *f, struct weir_addr router, uint16_t lifetime, uint8_t flags,
                             const struct prefix_said *said, uint32_t mtu)
{
    advertise_unpolled(f, router, lifetime, flags, said, mtu);
    fixture_poll(f, 1000);
}

static const struct prefix_said plain = {.flags = 0xc0, .valid = 86400, .preferred = 3600};

static inline struct prefix_said of_prefix(uint32_t number)
{
    struct prefix_said said = plain;
    said.prefix = ip6_of(0x20010db8u, number, 0, 0);
    return said;
}

#endif

#endif
