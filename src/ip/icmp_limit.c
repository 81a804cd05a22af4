// SPDX-License-Identifier: BSD-2-Clause
// How many ICMP messages a destination gets. Limited per destination: there is no budget shared by all, whose
// exhaustion one host could see and another cause (SAD DNS, CVE-2020-25705). What a bucket gives at first and what an
// error costs is uneven, so that counting answers tells little even to the destination itself. The table of buckets is
// bounded; a flood of invented sources gets answers at the pace the outbox allows.
#include "ip/internal.h"

#define LIMIT_WAYS 4u
#define LIMIT_SETS (WEIR_CFG_ALLOCATOR ? 32u : 2u)
#define LIMIT_UNITS_PER_MS 16u                   // credit grows by so much
#define LIMIT_FULL (1500u * LIMIT_UNITS_PER_MS)  // a second and a half of silence fills a bucket
// an error costs 20 to 30 ms of it: a burst of about fifty, then forty a second
#define LIMIT_ERROR_MIN (20u * LIMIT_UNITS_PER_MS)
#define LIMIT_ERROR_SPREAD (10u * LIMIT_UNITS_PER_MS)
#define LIMIT_ECHO 1u  // an echo reply: 16,000 a second

struct icmp_limit {
    struct weir_addr address;  // any: free
    uint32_t at_ms;            // when credit was right
    uint16_t credit;
};

size_t icmp_limit_bytes(void) { return memory_carve_bytes(LIMIT_SETS * LIMIT_WAYS * sizeof(struct icmp_limit)); }

int icmp_limit_init(struct weir *weir)
{
    weir->ip.limits = memory_carve(&weir->memory, LIMIT_SETS * LIMIT_WAYS * sizeof(struct icmp_limit));
    return weir->ip.limits ? WEIR_OK : WEIR_NO_MEMORY;
}

void icmp_limit_free(struct weir *weir)
{
    if (!weir->carved_all)
        memory_put(&weir->memory, weir->ip.limits, LIMIT_SETS * LIMIT_WAYS * sizeof(struct icmp_limit));
    weir->ip.limits = NULL;
}

// The destination's bucket; a new one takes the place of the one longest unused in its set.
static struct icmp_limit *limit_find(struct weir *weir, struct weir_addr address)
{
    const uint32_t set = addr_hash(&weir->hash_key, address, 'L') % LIMIT_SETS;
    struct icmp_limit *ways = weir->ip.limits + set * LIMIT_WAYS, *oldest = ways;
    for (struct icmp_limit *limit = ways; limit < ways + LIMIT_WAYS; limit++) {
        if (weir_addr_equal(limit->address, address))
            return limit;
        if (!weir_addr_is_any(oldest->address) &&
            (weir_addr_is_any(limit->address) || seq_lt(limit->at_ms, oldest->at_ms)))
            oldest = limit;
    }
    *oldest = (struct icmp_limit){address, weir->now_ms,
                                  (uint16_t)(LIMIT_FULL - random_below(&weir->random, LIMIT_FULL / 4))};
    return oldest;
}

static bool limit_spend(struct weir *weir, struct weir_addr destination, uint32_t cost)
{
    if (ip_is_ours(weir, destination))  // what goes round costs nobody else anything
        return true;
    struct icmp_limit *limit = limit_find(weir, destination);
    const uint32_t elapsed_ms = min_u32(weir->now_ms - limit->at_ms, LIMIT_FULL / LIMIT_UNITS_PER_MS);
    limit->credit = (uint16_t)min_u32(limit->credit + elapsed_ms * LIMIT_UNITS_PER_MS, LIMIT_FULL);
    limit->at_ms = weir->now_ms;
    if (limit->credit < cost) {
        count(weir, WEIR_COUNT_ICMP_RATE_LIMITED);
        return false;
    }
    limit->credit = (uint16_t)(limit->credit - cost);
    return true;
}

bool icmp_limit_take(struct weir *weir, struct weir_addr destination)
{
    return limit_spend(weir, destination, LIMIT_ERROR_MIN + random_below(&weir->random, LIMIT_ERROR_SPREAD));
}

bool icmp_limit_take_echo(struct weir *weir, struct weir_addr destination)
{
    return limit_spend(weir, destination, LIMIT_ECHO);
}
