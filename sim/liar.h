// SPDX-License-Identifier: BSD-2-Clause
// A node between a host and its network that makes the host a liar: segments of the host are changed on their way out,
// held back, sent twice or in crumbs, and frames are forged beside them. What comes in passes. The host itself has
// sim_host_options.lies set, so that the observer says nothing of its conversations.
#ifndef SIM_LIAR_H
#define SIM_LIAR_H

#include "sim.h"

enum liar_lie {        // a bit each
    LIAR_ACK = 1,      // acknowledges what it did not get, what was not sent, less than before, in pieces, many times
    LIAR_SACK = 2,     // blocks anywhere
    LIAR_WINDOW = 4,   // of any size, mostly none
    LIAR_OPTIONS = 8,  // timestamps, flags and urgent pointers
    LIAR_CRUMBS = 16,  // data byte by byte, backwards
    LIAR_SLOW = 32,    // acknowledges seldom
    LIAR_ARP = 64,     // forged: claims of everybody's address, by ARP or neighbour discovery
    LIAR_STRANGERS = 128,   // forged: SYNs, pings and questions from addresses that nobody has
    LIAR_BLIND = 256,       // forged: resets, SYNs, data and ICMP errors for others' connections, with numbers guessed
    LIAR_ROUTERS = 512,     // forged: redirects; over IPv6 advertisements of routers and queries for groups as well
    LIAR_FRAGMENTS = 1024,  // forged: of datagrams that never end, or overlap, from everybody
    LIAR_HEADERS = 2048,    // forged: IPv4's options, IPv6's extension headers, from everybody
    LIAR_FORGED = LIAR_ARP | LIAR_STRANGERS | LIAR_BLIND | LIAR_ROUTERS | LIAR_FRAGMENTS | LIAR_HEADERS,
    LIAR_ALL = 4095
};
extern const char *const liar_names[];  // of the bits, in order

// Its first link leads to the host, its second to the network. The victim is a host's address.
struct sim_node *sim_liar_add(struct sim *sim, const char *name, struct sim_host *host, struct sim_host *victim);
// From now on it tells these lies; 0: none.
void sim_liar_lie(struct sim_node *liar, uint32_t lies);
uint64_t sim_liar_lies(const struct sim_node *liar);  // told so far

#endif
