// SPDX-License-Identifier: BSD-2-Clause
// What weir/addr.h does not do in a few instructions, of addresses of both families.
#include "base/bytes.h"
#include "weir/addr.h"

struct weir_addr weir_addr_v6(const uint8_t bytes[16])
{
    struct weir_addr addr;
    memcpy(addr.words, bytes, sizeof addr.words);
    return addr;
}

struct weir_addr weir_addr_with_zone(struct weir_addr a, uint8_t netif_index)
{
    if (weir_addr_is_link_local6(a))
        a.words[0] = weir_addr_word_of((weir_addr_word(a, 0) & 0xffff0000u) | netif_index);
    return a;
}

void weir_addr_to_v6(struct weir_addr a, uint8_t bytes[16])
{
    const struct weir_addr bare = weir_addr_with_zone(a, 0);
    memcpy(bytes, bare.words, sizeof bare.words);
}

bool weir_addr_is_multicast(struct weir_addr a)
{
    return weir_addr_is_v4(a) ? weir_addr_word(a, 3) >> 28 == 0xe : weir_addr_word(a, 0) >> 24 == 0xff;
}

bool weir_addr_is_loopback(struct weir_addr a)
{
    if (weir_addr_is_v4(a))
        return weir_addr_word(a, 3) >> 24 == 127;
    return !(a.words[0] | a.words[1] | a.words[2]) && weir_addr_word(a, 3) == 1;
}

bool weir_addr_in_prefix(struct weir_addr a, struct weir_addr prefix, uint8_t bits)
{
    const bool v4 = weir_addr_is_v4(prefix);
    unsigned left = v4 ? bits + 96u : bits;
    if (weir_addr_is_v4(a) != v4)
        return false;
    for (unsigned i = 0; left; i++) {
        const unsigned here = left < 32 ? left : 32;
        if ((weir_addr_word(a, i) ^ weir_addr_word(prefix, i)) >> (32 - here))
            return false;
        left -= here;
    }
    return true;
}

struct weir_addr weir_addr_prefix(struct weir_addr a, uint8_t bits)
{
    const unsigned kept = weir_addr_is_v4(a) ? bits + 96u : bits;
    for (unsigned i = kept / 32; i < 4; i++)
        a.words[i] =
            i == kept / 32 && kept % 32 ? weir_addr_word_of(weir_addr_word(a, i) & 0xffffffffu << (32 - kept % 32)) : 0;
    return a;
}
