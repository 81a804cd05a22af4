// SPDX-License-Identifier: BSD-2-Clause
// What resolvers ask the stack: what routers say about names (RFC 8106, RFC 8781), and which of a name's addresses to
// try first (RFC 6724). What routers say has a lifetime: ask again at each question; what is over, or came by an
// interface that is down now, is not told. Call with the instance's lock held.
#ifndef WEIR_NAMES_H
#define WEIR_NAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/addr.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

struct weir;

#define WEIR_DOMAIN_BYTES 128u  // room for a search domain with its 0; longer ones are not kept

#if WEIR_CFG_IP6
// DNS servers that routers advertise, in their order, at most `most` of them; a link-local one has its zone. Returns
// how many.
uint32_t weir_router_dns_servers(const struct weir *weir, struct weir_addr *out, uint32_t most);
// The search domain number `at`, without a dot at its end. False: there are not so many.
bool weir_router_dns_domain(const struct weir *weir, uint32_t at, char out[WEIR_DOMAIN_BYTES]);
// The prefix of the link's NAT64, and its length: 32, 40, 48, 56, 64 or 96. False: there is none.
bool weir_router_nat64(const struct weir *weir, struct weir_addr *prefix, uint8_t *bits);
// The address that a connection to `destination` would come from. False: there is no route to it, or no address.
bool weir_source_find(struct weir *weir, struct weir_addr destination, struct weir_addr *source);
// Puts a name's addresses, both families mixed, in the order in which to try them (RFC 6724 §6); of more than
// WEIR_DESTINATIONS_MAX the rest stays where it is. Work: the square of their number.
#define WEIR_DESTINATIONS_MAX 16u
void weir_destinations_sort(struct weir *weir, struct weir_addr *addrs, uint32_t count);
// Whether an interface has an address of the family that is neither loopback nor link-local (AI_ADDRCONFIG).
bool weir_family_configured(const struct weir *weir, bool v6);
#else
static inline void weir_destinations_sort(struct weir *weir, struct weir_addr *addrs, uint32_t count)
{
    (void)weir, (void)addrs, (void)count;
}
static inline uint32_t weir_router_dns_servers(const struct weir *weir, struct weir_addr *out, uint32_t most)
{
    return (void)weir, (void)out, (void)most, 0;
}
static inline bool weir_router_dns_domain(const struct weir *weir, uint32_t at, char out[WEIR_DOMAIN_BYTES])
{
    return (void)weir, (void)at, (void)out, false;
}
static inline bool weir_router_nat64(const struct weir *weir, struct weir_addr *prefix, uint8_t *bits)
{
    return (void)weir, (void)prefix, (void)bits, false;
}
#endif

WEIR_END_DECLS

#endif
