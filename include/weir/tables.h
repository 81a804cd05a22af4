// SPDX-License-Identifier: BSD-2-Clause
// The routing table and the neighbour cache, to be looked at (WEIR_CFG_TABLES; without, they show nothing). Call with
// the instance's lock held; nothing is held between calls.
#ifndef WEIR_TABLES_H
#define WEIR_TABLES_H

#include "weir/addr.h"
#include "weir/language.h"
#include "weir/options.h"

WEIR_BEGIN_DECLS

struct weir;
struct weir_netif;

struct weir_route_info {
    struct weir_addr prefix, gateway;  // gateway any: on the link
    const struct weir_netif *netif;
    uint8_t prefix_length, metric;
    bool connected;   // made from an address of the interface
    bool advertised;  // by a router
};

struct weir_neighbour_info {
    struct weir_addr address;
    const struct weir_netif *netif;
    bool known;  // `mac` is its link address
    uint8_t mac[6];
    const char *state;  // as Linux has them: "INCOMPLETE", "REACHABLE", "STALE", "PROBE", "PERMANENT"
};

#if WEIR_CFG_TABLES
// The routes in the order in which they are asked, longest prefix first: at 0, 1, and so on. false: there are no more.
bool weir_route_at(const struct weir *weir, uint32_t at, struct weir_route_info *out);
// The neighbours, in no order: begin with cursor 0; returns the next cursor, 0 at the end.
uint32_t weir_neighbour_next(const struct weir *weir, uint32_t cursor, struct weir_neighbour_info *out);
#else
static inline bool weir_route_at(const struct weir *weir, uint32_t at, struct weir_route_info *out)
{
    return (void)weir, (void)at, (void)out, false;
}
static inline uint32_t weir_neighbour_next(const struct weir *weir, uint32_t cursor, struct weir_neighbour_info *out)
{
    return (void)weir, (void)cursor, (void)out, (uint32_t)0;
}
#endif

WEIR_END_DECLS

#endif
