// SPDX-License-Identifier: BSD-2-Clause
// State of reassembly and of identifications (src/ip/fragment.c). Datagrams under reassembly are found by a keyed hash and kept in
// the order of their arrival, which is the order of their deadlines.
#ifndef IP_FRAGMENT_H
#define IP_FRAGMENT_H

#include "base/memory.h"

struct reassembly;

#define FRAGMENT_BUCKETS (WEIR_CFG_ALLOCATOR ? 16u : 2u)
// Counters from which identifications are taken, chosen by a keyed hash of the two addresses and the protocol: traffic to one host does
// not show in another's identifications, but by a collision nobody can provoke knowingly.
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
