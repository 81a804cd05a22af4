// SPDX-License-Identifier: BSD-2-Clause
// A resolver on the bench's instance beside its name server (names.h), and what it is asked, in builds with IPv6.
#ifndef TESTS_APPS_DNS_QUESTIONS_H
#define TESTS_APPS_DNS_QUESTIONS_H

#include "apps/bench.h"
#include "apps/dns/names.h"

#include "dns/both.h"
#include "dns/family.h"
#include "ip/packets6.h"

#if WEIR_CFG_IP6
#define NAME_SIX ip6_of(0x20010db8u, 0, 0, 7)
#define LOOPBACK6 ip6_of(0, 0, 0, 1)

static struct dns dns;

// `server` any: none is given.
static inline void resolver_open(struct bench *bench, struct weir_addr server)
{
    name_server_open(&bench->loop);
    dns_start(&dns, &bench->loop);
    dns_servers(&dns, &server, weir_addr_is_any(server) ? 0 : 1);
}

static inline void close_all(struct bench *bench)
{
    dns_stop(&dns);
    name_server_close(&bench->loop);
    bench_close(bench);
}

static inline void both_done(void *context, struct dns_both *both)
{
    (void)both;
    ++*(uint32_t *)context;
}

// What comes of it within so many µs.
static inline void ask(struct bench *bench, struct dns_both *both, const char *name, uint64_t us)
{
    uint32_t calls = 0;
    dns_both_start(both, &dns, name, both_done, &calls);
    bench_run(bench, us);
    assert_int_equal(calls, 1);
}

// A router's PREF64 (RFC 8781): 64:ff9b::/96, for ten minutes.
static inline void say_nat64(struct bench *bench)
{
    uint8_t message[16 + 16] = {ICMP6_ROUTER_ADVERTISEMENT, 0, 0, 0, 64};
    const struct make6 make = {.source = ip6_of(0xfe800000u, 0, 0, 0xfe), .destination = ALL_NODES6, .hop_limit = 255};
    message[16] = ND_PREF64;
    message[17] = 2;
    put16(message + 18, 600);
    memcpy(message + 20, "\0\x64\xff\x9b", 4);
    input_icmp6(&bench->f, &make, message, sizeof message);
}

#endif

#endif
