// SPDX-License-Identifier: BSD-2-Clause
// What RFC 6724 knows of an address (policy6.h).
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

// The default policy table: what begins with 96 bits of 0, and what its first word tells.
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
