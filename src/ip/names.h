// SPDX-License-Identifier: BSD-2-Clause
// What routers say about names: bounded lists of an instance, the entries of which end by themselves.
#ifndef IP_NAMES_H
#define IP_NAMES_H

#include "weir/names.h"

#if WEIR_CFG_IP6
#define NAMES_SERVERS 6u  // RFC 8106 §5.3.1 wants at least three kept
#define NAMES_DOMAINS 4u
#define NAMES_PREFIXES 2u  // of NAT64

struct weir_netif;
struct nd_option;

// Whose an entry is, and how long: over, or of no interface, its place is free.
struct names_life {
    const struct weir_netif *netif;
    uint64_t until_us;
};
struct names {
    struct names_server {
        struct names_life life;
        struct weir_addr addr;
    } servers[NAMES_SERVERS];
    struct names_domain {
        struct names_life life;
        char text[WEIR_DOMAIN_BYTES];
    } domains[NAMES_DOMAINS];
    struct names_prefix {
        struct names_life life;
        struct weir_addr prefix;
        uint8_t bits;
    } prefixes[NAMES_PREFIXES];
};

// An option RDNSS, DNSSL or PREF64 of an advertisement. Work: its length, times the lists.
void names_advertised(struct weir *weir, const struct weir_netif *netif, const struct nd_option *option);
void names_forget(struct weir *weir, const struct weir_netif *netif);
#endif

#endif
