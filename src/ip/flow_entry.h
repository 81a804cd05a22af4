// SPDX-License-Identifier: BSD-2-Clause
// An entry of the flow cache: what the last good packets between one of our addresses and a peer's had in common
// (flow.h).
#ifndef IP_FLOW_ENTRY_H
#define IP_FLOW_ENTRY_H

#include "link/link.h"

#if WEIR_CFG_FAST_PATH
// Words of eight bytes, of a frame's head: link header, with a tag if need be, and network header.
#define FLOW_WORDS (WEIR_CFG_IP6 ? 8u : 5u)
#define FLOW_HEAD_BYTES (8 * FLOW_WORDS)  // what follows the network header is masked out
#define FLOW_LINK_BYTES 18u
// Link, network and transport header, and a payload of a few bytes.
#define FLOW_HEADER_BYTES (WEIR_CFG_IP6 ? 144u : 120u)
#define FLOW_SLICES 8u
#define IP_TRANSPORT_HEADER_MAX 60u  // that a flow has room for

struct flow_match {
    const struct weir_netif *netif;
    uint16_t generation;               // of paths; 0: none
    uint8_t transport_at, network_at;  // in the frame
    uint8_t source_at;                 // of the sender's link address; 0: there is none
    uint16_t pseudo_sum;               // of TCP's pseudo-header without the length, in native order
    uint64_t head[FLOW_WORDS], mask[FLOW_WORDS];
};

struct flow_template {
    uint32_t generation;  // of paths and link addresses; 0: none
    uint32_t made_ms;
    const struct weir_netif *netif;
    uint32_t fixed_sum;   // of what the network header has alike for any of these, in host order
    uint32_t pseudo_sum;  // of TCP's pseudo-header without the length, in host order
    uint8_t network_at;   // in the frame
    uint8_t network_bytes;
    struct weir_tx tx;
    struct weir_slice slices[FLOW_SLICES];  // the header, and pieces of a payload
    uint8_t header[FLOW_HEADER_BYTES];
};

struct flow {
    struct weir_addr local, remote;  // remote any: none
    uint32_t taken_ms;               // when it was made this pair's
    uint8_t path_queries;            // what `path` answers (flow.c)
    struct path path;                // generation 0: none
    struct flow_match match;
    struct flow_template template;
};
#endif

#endif
