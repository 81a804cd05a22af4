// SPDX-License-Identifier: BSD-2-Clause
// What is IPv6's own in a network: how a host comes by its address, and what routers do beside forwarding. Without IPv6
// in the stack there are no such networks.
#ifndef SIM_FAMILY6_H
#define SIM_FAMILY6_H

#include "internal.h"

#define IP6_BYTES 40u
#define ICMP6 58u

#if WEIR_CFG_IP6
int host6_begin(struct sim_host *host);                       // the interface is there: enum weir_error
struct weir_addr host6_address(const struct sim_host *host);  // that others may speak to now; any: none yet
struct sim_host *host6_at(struct sim *sim, struct sim_address address);
bool host6_takes(const struct sim_host *host, struct sim_address address);  // packets to it
void router6_receive(struct port *port, struct frame *frame);               // takes the frame
#else
static inline int host6_begin(struct sim_host *host) { return (void)host, WEIR_NOT_SUPPORTED; }
static inline struct weir_addr host6_address(const struct sim_host *host) { return host->address; }
static inline struct sim_host *host6_at(struct sim *sim, struct sim_address address)
{
    return (void)sim, (void)address, (struct sim_host *)0;
}
static inline bool host6_takes(const struct sim_host *host, struct sim_address address)
{
    return (void)host, (void)address, true;
}
static inline void router6_receive(struct port *port, struct frame *frame)
{
    frame_free(&port->node->sim->frames, frame);
}
#endif

// Of an IPv6 packet: its checksum over the pseudo-header (RFC 8200 §8.1) and `length` bytes at `at`.
uint16_t ip6_sum(const uint8_t *ip, uint8_t protocol, const uint8_t *at, uint32_t length);

#endif
