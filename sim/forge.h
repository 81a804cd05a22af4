// SPDX-License-Identifier: BSD-2-Clause
// What a liar (liar.c) is, and the frames that it forges: in the name of others, of nobody, and of routers.
#ifndef SIM_FORGE_H
#define SIM_FORGE_H

#include "internal.h"
#include "liar.h"
#include "segment.h"

#define IP4_BYTES 20u
#define ICMP4 1u
#define UDP 17u

struct liar {
    struct sim_node node;  // first
    struct sim_host *host, *victim;
    uint64_t dice, told;
    uint32_t lies;
    uint32_t acked;  // what the host acknowledged last, of whatever conversation
    struct event forge;
};

static inline uint32_t pick(struct liar *liar, uint32_t count) { return random_below(&liar->dice, count); }
static inline bool one_in(struct liar *liar, uint32_t count) { return random_one_in(&liar->dice, count); }
static inline uint32_t any(struct liar *liar) { return (uint32_t)random_draw(&liar->dice); }

// --- liar.c
// The checksums of a frame that was changed or made; its IP header has no options and none follows it. Nobody's
// observer looks at it.
void liar_sums(struct frame *frame);
// Counts it, and sends it to the network as it is.
void liar_tell(struct liar *liar, struct frame *frame);

// --- forge.c
struct sim_address forge_address(const struct sim_host *host);
struct sim_host *forge_anybody(struct liar *liar);
struct sim_address forge_nobody(struct liar *liar);  // of the prefix
// A frame of the liar's, all zero behind the Ethernet header. `to` NULL: for everybody.
struct frame *forge_frame(struct liar *liar, const struct sim_host *to, uint16_t type, uint32_t length);
// A packet of the source's family with room for `length` bytes, all zero behind the IP header.
struct frame *forge_packet(struct liar *liar, const struct sim_host *to, struct sim_address source, uint8_t protocol,
                           uint32_t length);
uint8_t *forge_above(struct frame *frame);  // what follows the IP header
void forge_ports(uint8_t *tcp, uint16_t source, uint16_t destination);
// What the lies ask for.
void forge_some(struct liar *liar);

// --- forge6.c: what is IPv6's own
void forge6_neighbour(struct liar *liar);
void forge6_router(struct liar *liar);
void forge6_fragment(struct liar *liar);
void forge6_headers(struct liar *liar);
// About a segment from the victim's port `ours` to the other's `theirs`.
void forge6_error(struct liar *liar, const struct sim_host *other, uint16_t theirs, uint16_t ours);

#endif
