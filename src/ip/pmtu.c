// SPDX-License-Identifier: BSD-2-Clause
// Path MTUs below the interface's (RFC 1191): a bounded cache by destination. Only the transport lowers one, after it
// has checked that the report is about a packet it sent (RFC 5927 §7). After ten minutes a path is tried in full again
// (RFC 1191 §6.3).
#include "ip/internal.h"

#define PMTU_WAYS 4u
#define PMTU_SETS (WEIR_CFG_ALLOCATOR ? 64u : 1u)
#define PMTU_LIFETIME_MS 600000u

struct pmtu {
    struct weir_addr address;  // any: free
    uint32_t due_ms;
    uint16_t mtu;
};

size_t pmtu_bytes(void) { return memory_carve_bytes(PMTU_SETS * PMTU_WAYS * sizeof(struct pmtu)); }

int pmtu_init(struct weir *weir)
{
    weir->ip.pmtu = memory_carve(&weir->memory, PMTU_SETS * PMTU_WAYS * sizeof(struct pmtu));
    return weir->ip.pmtu ? WEIR_OK : WEIR_NO_MEMORY;
}

void pmtu_free(struct weir *weir)
{
    if (!weir->carved_all)
        memory_put(&weir->memory, weir->ip.pmtu, PMTU_SETS * PMTU_WAYS * sizeof(struct pmtu));
    weir->ip.pmtu = NULL;
}

static struct pmtu *set_of(const struct weir *weir, struct weir_addr address)
{
    return weir->ip.pmtu + addr_hash(&weir->hash_key, address, 'M') % PMTU_SETS * PMTU_WAYS;
}

uint16_t pmtu_get(const struct weir *weir, struct weir_addr destination, uint16_t interface_mtu)
{
    if (!weir->ip.pmtu_count)
        return interface_mtu;
    const struct pmtu *set = set_of(weir, destination);
    for (uint32_t i = 0; i < PMTU_WAYS; i++)
        if (weir_addr_equal(set[i].address, destination))
            return (uint16_t)min_u32(set[i].mtu, interface_mtu);
    return interface_mtu;
}

// The destination's entry, or a free one, or the one that ends first.
static struct pmtu *entry_for(const struct weir *weir, struct weir_addr address)
{
    struct pmtu *set = set_of(weir, address), *best = set;
    for (struct pmtu *entry = set; entry < set + PMTU_WAYS; entry++) {
        if (weir_addr_equal(entry->address, address))
            return entry;
        if (!weir_addr_is_any(best->address) &&
            (weir_addr_is_any(entry->address) || seq_lt(entry->due_ms, best->due_ms)))
            best = entry;
    }
    return best;
}

void pmtu_set(struct weir *weir, struct weir_addr destination, uint16_t mtu)
{
    struct pmtu *entry = entry_for(weir, destination);
    if (weir_addr_equal(entry->address, destination) && entry->mtu <= mtu)
        return;
    if (weir_addr_is_any(entry->address) && weir->ip.pmtu_count++ == 0)
        weir->ip.pmtu_due_ms = weir->now_ms + PMTU_LIFETIME_MS;
    *entry = (struct pmtu){destination, weir->now_ms + PMTU_LIFETIME_MS,
                           (uint16_t)max_u32(mtu, ip_family_of(destination)->mtu_min)};
    slow_due(weir, weir->now_us + ip_wait_us(weir, weir->ip.pmtu_due_ms));
    paths_changed(weir);
}

#if WEIR_CFG_TCP_BLACK_HOLE
void pmtu_raise(struct weir *weir, struct weir_addr destination, uint16_t mtu)
{
    struct pmtu *entry = entry_for(weir, destination);
    if (!weir_addr_equal(entry->address, destination) || entry->mtu >= mtu)
        return;
    entry->mtu = mtu;
    entry->due_ms = weir->now_ms + PMTU_LIFETIME_MS;
    paths_changed(weir);
}
#endif

// Work: the whole table, but only when its first entry ends.
uint64_t pmtu_poll(struct weir *weir, uint64_t now_us)
{
    struct ip *ip = &weir->ip;
    if (!ip->pmtu_count)
        return WEIR_NEVER;
    if (!seq_le(ip->pmtu_due_ms, weir->now_ms))
        return now_us + ip_wait_us(weir, ip->pmtu_due_ms);
    ip->pmtu_due_ms = weir->now_ms + PMTU_LIFETIME_MS;
    for (struct pmtu *entry = ip->pmtu; entry < ip->pmtu + PMTU_SETS * PMTU_WAYS; entry++) {
        if (weir_addr_is_any(entry->address))
            continue;
        if (seq_le(entry->due_ms, weir->now_ms)) {
            entry->address = weir_addr_any();
            ip->pmtu_count--;
        } else {
            ip->pmtu_due_ms = seq_min(ip->pmtu_due_ms, entry->due_ms);
        }
    }
    paths_changed(weir);
    return ip->pmtu_count ? now_us + ip_wait_us(weir, ip->pmtu_due_ms) : WEIR_NEVER;
}
