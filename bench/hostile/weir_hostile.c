// SPDX-License-Identifier: BSD-2-Clause
// What a hostile packet costs a host of IPv6 whose tables are full, beside one whose tables are empty.
//
//     weir_hostile KIND empty|full COUNT
//
// KIND: ns na ra redirect query fragment extension. `full`: 2,000 packets of each kind have come before, from as
// many sources, so that neighbours, routers, prefixes, routes, reassembly and the errors' limits are as full as they
// get. Each packet is one weir_input and one weir_poll; sources never repeat. The function `measured` is what callgrind
// collects (bench/pair_bench.py).
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "posix/cpu.h"
#include "weir/instance.h"
#include "weir/netif.h"
#include "weir/socket.h"

#define FILL 2000u
#define FILL_PACE_US 2000u  // slow enough that strangers may fill their share of neighbours
#define PACE_US 100u
#define FIRST_HOP 1u  // fe80::1 is the router that redirects
#define HEAD (14u + 40u)

static struct weir *weir;
static struct weir_netif netif;
static uint64_t now_us = 1000000;
static uint8_t frame[1514];
static uint32_t at;  // bytes of the frame so far
static uint64_t stranger = 1000;

static void *get(void *context, size_t bytes) { return (void)context, malloc(bytes); }
static void put(void *context, void *memory, size_t bytes) { (void)context, (void)bytes, free(memory); }
static void entropy(void *context, void *out, size_t bytes)
{
    static uint8_t next = 1;
    (void)context;
    for (size_t i = 0; i < bytes; i++)
        ((uint8_t *)out)[i] = next = (uint8_t)(next * 37 + 11);
}
static struct weir_port port = {.alloc = get, .free = put, .entropy = entropy, .granularity_us = 1};
static enum weir_tx_verdict lose(struct weir_netif *of, const struct weir_tx *tx)
{
    return (void)of, (void)tx, WEIR_TX_DONE;
}
static const struct weir_driver driver = {.name = "hostile", .tx = lose};

// --- packets ---------------------------------------------------------------------------------------------------------

static const uint8_t own[16] = {0xfd, [15] = 1};
static void add8(uint32_t value) { frame[at++] = (uint8_t)value; }
static void add16(uint32_t value) { add8(value >> 8), add8(value); }
static void add32(uint32_t value) { add16(value >> 16), add16(value); }
static void add(const uint8_t *bytes, uint32_t length) { memcpy(frame + at, bytes, length), at += length; }
static void zeros(uint32_t count) { memset(frame + at, 0, count), at += count; }

// An address of a prefix, or of the link, that no other packet has.
static void make_address(uint8_t out[16], uint32_t prefix, uint64_t number)
{
    memset(out, 0, 16);
    out[0] = (uint8_t)(prefix >> 24), out[1] = (uint8_t)(prefix >> 16), out[2] = (uint8_t)(prefix >> 8);
    out[3] = (uint8_t)prefix;
    for (int i = 0; i < 8; i++)
        out[15 - i] = (uint8_t)(number >> (8 * i));
}
static void add_mac(uint64_t number) { add16(0x0200), add32((uint32_t)number); }

static void begin(const uint8_t source[16], const uint8_t destination[16], uint8_t next, uint8_t hop_limit)
{
    at = 0;
    if (destination[0] == 0xff)
        add16(0x3333), add(destination + 12, 4);
    else
        add(netif.mac, 6);
    add_mac(stranger);
    add16(0x86dd);
    add32(6u << 28), add16(0), add8(next), add8(hop_limit);
    add(source, 16), add(destination, 16);
}

// The payload's length, and of ICMPv6 at `icmp` the checksum.
static void finish(uint32_t icmp)
{
    uint32_t sum = 58 + at - icmp;
    const uint32_t length = at - HEAD;
    frame[18] = (uint8_t)(length >> 8), frame[19] = (uint8_t)length;
    if (!icmp)
        return;
    for (uint32_t i = 22; i < HEAD; i += 2)
        sum += (uint32_t)frame[i] << 8 | frame[i + 1];
    for (uint32_t i = icmp; i < at; i += 2)
        sum += (uint32_t)frame[i] << 8 | (i + 1 < at ? frame[i + 1] : 0);
    sum = (sum & 0xffff) + (sum >> 16);
    sum = ~(sum + (sum >> 16));
    frame[icmp + 2] = (uint8_t)(sum >> 8), frame[icmp + 3] = (uint8_t)sum;
}

static void begin_icmp(const uint8_t *destination, uint64_t source, uint8_t type, uint32_t rest)
{
    uint8_t from[16];
    make_address(from, 0xfe800000, source);
    begin(from, destination, 58, 255);
    add8(type), add8(0), add16(0), add32(rest);
}

static void make_ns(void)
{
    const uint8_t group[16] = {0xff, 0x02, [11] = 1, 0xff, 0, 0, 1};
    begin_icmp(group, stranger, 135, 0);
    add(own, 16), add8(1), add8(1), add_mac(stranger);
    finish(HEAD);
}

static void make_na(void)
{
    uint8_t target[16];
    make_address(target, 0xfe800000, stranger);
    begin_icmp(own, stranger, 136, 0x60000000);
    add(target, 16), add8(2), add8(1), add_mac(stranger);
    finish(HEAD);
}

static void advertise(uint64_t source)
{
    const uint8_t all[16] = {0xff, 0x02, [15] = 1};
    uint8_t prefix[16];
    begin_icmp(all, source, 134, 64u << 24 | 1800);
    add32(0), add32(0), add8(1), add8(1), add_mac(source);
    make_address(prefix, 0x20010db8, 0);
    memcpy(prefix + 4, &source, 4);
    add8(3), add8(4), add8(64), add8(0xc0), add32(7200), add32(3600), add32(0), add(prefix, 16);
    add8(24), add8(2), add8(64), add8(0), add32(1800), add(prefix, 8);
    finish(HEAD);
}
static void make_ra(void) { advertise(stranger); }

static void make_redirect(void)
{
    uint8_t target[16], destination[16];
    make_address(target, 0xfe800000, stranger);
    make_address(destination, 0x20010db9, stranger);
    begin_icmp(own, FIRST_HOP, 137, 0);
    add(target, 16), add(destination, 16), add8(2), add8(1), add_mac(stranger);
    finish(HEAD);
}

static void make_query(void)  // RFC 9777 §5.1: to all, with a router alert
{
    const uint8_t all[16] = {0xff, 0x02, [15] = 1};
    uint8_t from[16];
    make_address(from, 0xfe800000, stranger);
    begin(from, all, 0, 1);
    add8(58), add8(0), add8(5), add8(2), add16(0), add8(1), add8(0);
    add8(130), add8(0), add16(0), add16(10000), add16(0), zeros(16), add8(2), add8(125), add16(0);
    finish(HEAD + 8);
}

static void make_fragment(void)
{
    uint8_t from[16];
    make_address(from, 0x20010dba, stranger);
    begin(from, own, 44, 64);
    add8(17), add8(0), add16(1), add32((uint32_t)stranger);
    add16(4000), add16(7), add16(1008), add16(0), zeros(1000);
    finish(0);
}

static void make_extension(void)
{
    uint8_t from[16];
    make_address(from, 0x20010dbb, stranger);
    begin(from, own, 60, 64);
    add8(60), add8(1), add8(0x1e), add8(4), zeros(4), add8(0x1e), add8(6), zeros(6);
    add8(59), add8(1), add8(0x9e), add8(4), zeros(4), add8(0x1e), add8(6), zeros(6);
    finish(0);
}

static const struct kind {
    const char *name;
    void (*make)(void);
} kinds[] = {{"ns", make_ns},
             {"na", make_na},
             {"ra", make_ra},
             {"redirect", make_redirect},
             {"query", make_query},
             {"fragment", make_fragment},
             {"extension", make_extension}};
#define KINDS (sizeof kinds / sizeof kinds[0])

// --- the host --------------------------------------------------------------------------------------------------------

__attribute__((noinline)) static void measured(void)
{
    const struct weir_slice slice = {frame, at};
    const struct weir_frame lent = {.slices = &slice, .count = 1, .length = at};
    weir_clock(weir, now_us);
    weir_input(&netif, &lent);
    weir_poll(weir, now_us);
}

static void come(const struct kind *kind, uint32_t pace_us)
{
    now_us += pace_us;
    stranger++;
    kind->make();
    measured();
}

static void require(int error, const char *what)
{
    if (error) {
        fprintf(stderr, "weir_hostile: %s: %s\n", what, weir_error_name(error));
        exit(1);
    }
}

static void open_host(void)
{
    const uint8_t secret[16] = {1};
    posix_cpu_select(&port);
    weir = weir_create(NULL, 0, &port, NULL);
    if (!weir)
        exit(1);
    weir_clock(weir, now_us);
    weir_netif_init(&netif, "hostile", &driver, &weir_link_ethernet);
    netif.mac[0] = 2;
    netif.mac[5] = 1;
    require(weir_netif_add(weir, &netif), "the interface");
    require(weir_netif_address_add(&netif, weir_addr_v6(own), 64, WEIR_ADDRESS_AT_ONCE), "the address");
    require(weir_netif_ip6(&netif, WEIR_IP6_AUTO, secret), "IPv6");
    for (int i = 0; i < 100; i++) {  // ten seconds: its addresses are its own
        now_us += 100000;
        weir_clock(weir, now_us);
        weir_poll(weir, now_us);
    }
    advertise(FIRST_HOP);
    measured();
}

int main(int argc, char **argv)
{
    const struct kind *kind = kinds;
    while (argc == 4 && kind < kinds + KINDS && strcmp(kind->name, argv[1]) != 0)
        kind++;
    if (argc != 4 || kind == kinds + KINDS) {
        fprintf(stderr, "usage: weir_hostile ns|na|ra|redirect|query|fragment|extension empty|full COUNT\n");
        return 2;
    }
    open_host();
    for (uint32_t i = 0; !strcmp(argv[2], "full") && i < FILL; i++)
        for (uint32_t each = 0; each < KINDS; each++)
            come(&kinds[each], FILL_PACE_US);
    for (uint64_t left = strtoull(argv[3], NULL, 10); left; left--)
        come(kind, PACE_US);
    printf("{\"kind\": \"%s\", \"tables\": \"%s\"}\n", argv[1], argv[2]);
    return 0;
}
