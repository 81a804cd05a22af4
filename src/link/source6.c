// SPDX-License-Identifier: BSD-2-Clause
// Which address of an interface speaks to an IPv6 destination (RFC 6724 §5). Rules 4 (home addresses) and 5.5 have no
// use here; rule 5, the outgoing interface, is how it is asked.
#include "link/policy6.h"
#include "wire/ip6.h"

static const uint8_t *bytes_of(const struct weir_addr *a) { return (const uint8_t *)a->words; }

uint8_t policy_scope(struct weir_addr a)
{
    const bool link_local4 = weir_addr_is_v4(a) && weir_addr_in_prefix(a, weir_ip4(169, 254, 0, 0), 16);
    if (weir_addr_is_multicast(a) && !weir_addr_is_v4(a))
        return bytes_of(&a)[1] & 0xf;
    return weir_addr_is_link_local6(a) || weir_addr_is_loopback(a) || link_local4 ? IP6_SCOPE_LINK : IP6_SCOPE_GLOBAL;
}

// The default policy table: what begins with 64 bits of 0, and what its first word tells.
struct policy policy_of(struct weir_addr a)
{
    static const struct {
        uint32_t prefix, mask;
        struct policy policy;
    } table[] = {
        {0x20010000u, 0xffffffffu, {5, 5}},  {0x20020000u, 0xffff0000u, {2, 30}}, {0x3ffe0000u, 0xffff0000u, {12, 1}},
        {0xfec00000u, 0xffc00000u, {11, 1}}, {0xfc000000u, 0xfe000000u, {13, 3}},
    };
    const uint32_t first = weir_addr_word(a, 0);
    if (weir_addr_is_v4(a))
        return (struct policy){4, 35};
    if (!(first | a.words[1] | a.words[2]))
        return weir_addr_is_loopback(a) ? (struct policy){0, 50} : (struct policy){3, 1};
    for (uint32_t i = 0; i < sizeof table / sizeof table[0]; i++)
        if ((first & table[i].mask) == table[i].prefix)
            return table[i].policy;
    return (struct policy){1, 40};
}

uint32_t policy_common_bits(struct weir_addr a, struct weir_addr b, uint32_t most)
{
    uint32_t word = 0;
    while (word < 4 && a.words[word] == b.words[word])
        word++;
    return word == 4
               ? most
               : min_u32(32 * word + (uint32_t)__builtin_clz(weir_addr_word(a, word) ^ weir_addr_word(b, word)), most);
}

// Whether `a` speaks to `to` rather than `b` does.
static bool better(const struct weir_netif_address *a, const struct weir_netif_address *b, struct weir_addr to)
{
    const uint8_t scope = policy_scope(to), scope_a = policy_scope(a->addr), scope_b = policy_scope(b->addr);
    if (weir_addr_equal(a->addr, to) != weir_addr_equal(b->addr, to))  // rule 1
        return weir_addr_equal(a->addr, to);
    if (scope_a != scope_b)  // rule 2
        return scope_a < scope_b ? scope_a >= scope : scope_b < scope;
    if (a->deprecated != b->deprecated)  // rule 3
        return b->deprecated;
    const uint8_t label = policy_of(to).label;
    const bool label_a = policy_of(a->addr).label == label, label_b = policy_of(b->addr).label == label;
    if (label_a != label_b)  // rule 6
        return label_a;
    if ((a->origin == WEIR_ADDRESS_TEMPORARY) != (b->origin == WEIR_ADDRESS_TEMPORARY))  // rule 7
        return a->origin == WEIR_ADDRESS_TEMPORARY;
    return policy_common_bits(a->addr, to, a->prefix_length) >
           policy_common_bits(b->addr, to, b->prefix_length);  // rule 8
}

const struct weir_netif_address *address_source6(const struct weir_netif *netif, struct weir_addr to)
{
    const struct weir_netif_address *best = NULL;
    for (const struct weir_netif_address *a = &netif->address; a; a = address_next(a))
        if (address_ready(a) && !weir_addr_is_v4(a->addr) && !weir_addr_is_any(a->addr) &&
            (!best || better(a, best, to)))
            best = a;
    return best;
}
