// SPDX-License-Identifier: BSD-2-Clause
// State of reassembly and of identifications (src/ip/fragment.c). Datagrams under reassembly are found by a keyed hash
// and kept in the order of their arrival, which is the order of their deadlines.
#ifndef IP_FRAGMENT_H
#define IP_FRAGMENT_H

#include "base/addr.h"
#include "base/memory.h"

struct reassembly;

// What a fragment says of itself.
struct fragment {
    struct weir_addr source, destination;
    uint32_t id;
    uint16_t offset;      // bytes, a multiple of 8
    uint16_t next_at;     // of IPv6: where the byte stands, in the headers before the fragment header, that names what
                          // follows them
    uint8_t protocol;     // of IPv4, where fragments of another are of another datagram; 0 of IPv6 (RFC 8200 §4.5)
    uint8_t next_header;  // of what is in the first fragment
    bool more;
};
#if WEIR_CFG_IP6
static inline uint32_t fragment_hash(const struct siphash_key *key, const struct fragment *f)
{
    return (uint32_t)addr_ends_hash(key, f->source, f->destination, f->id ^ (uint32_t)f->protocol << 24);
}
#else
static inline uint32_t fragment_hash(const struct siphash_key *key, const struct fragment *f)
{
    return siphash_words(key, (uint64_t)f->source.v4 << 32 | f->destination.v4, (uint64_t)f->id << 8 | f->protocol);
}
#endif

#define FRAGMENT_BUCKETS (WEIR_CFG_ALLOCATOR ? 16u : 2u)
// Counters from which identifications are taken, chosen by a keyed hash of the two addresses and the protocol: traffic
// to one host does not show in another's identifications, but by a collision nobody can provoke knowingly.
#define FRAGMENT_IDS (WEIR_CFG_ALLOCATOR ? 64u : 8u)

struct fragment_id {
    uint16_t next;
    uint16_t used_ms;
};

struct fragments {
    struct pool entries, chunks;
    struct reassembly *bucket[FRAGMENT_BUCKETS];
    struct reassembly *oldest, *newest;
    uint32_t bytes;  // charged to all entries together, at most WEIR_CFG_REASSEMBLY_BYTES
    uint32_t count;  // entries
    struct fragment_id ids[FRAGMENT_IDS];
};

#endif
