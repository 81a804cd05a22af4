// SPDX-License-Identifier: BSD-2-Clause
// Neighbour discovery for IPv6 (RFC 4861, 4862), as the link sends it. What comes in is src/ip/nd.c's; what is learnt,
// neighbour.c's.
#ifndef LINK_ND_H
#define LINK_ND_H

#include "link/link.h"

#if WEIR_CFG_IP6
// advertisements waiting for weir_poll: one batch's worth; more are dropped, and the asker asks again
#define ND_REPLIES 4u

struct nd_reply {
    struct weir_netif *netif;
    // which of our addresses, and who asked; all nodes: one without an address did
    struct weir_addr target, destination;
    uint8_t mac[6];
};
struct nd_replies {
    struct nd_reply replies[ND_REPLIES];
    uint8_t reply_count;
};

// The interface came up, or a router told the whole link of a prefix: nothing is solicited for a random time, so that
// hosts do not speak all at once (RFC 4861 §6.3.7, RFC 4862 §5.4.2). How much of it is left, µs.
void nd_quiet_begin(struct weir_netif *netif);
uint32_t nd_quiet_us(const struct weir_netif *netif);
// Asks for the link address of an IPv6 neighbour: at `mac`, or its group where that is NULL.
enum weir_tx_verdict nd_ask(const struct neighbour *n, const uint8_t *mac);
// Duplicate address detection's solicitation, with a nonce of its own (RFC 7527).
enum weir_tx_verdict nd_probe(struct weir_netif *netif, struct weir_netif_address *a);
// Tells routers of a new address (RFC 9131), or everybody that one is ours that another host claimed.
enum weir_tx_verdict nd_announce(struct weir_netif *netif, const struct weir_netif_address *a);
// `target`, an address of ours, is advertised by the next weir_poll to `destination`, or all nodes where that is ::.
void nd_advertise_later(struct weir_netif *netif, struct weir_addr target, struct weir_addr destination,
                        const uint8_t *mac);
void nd_send_replies(struct weir *weir);
void nd_flush(struct weir *weir, struct weir_netif *netif);  // the interface goes, or has no carrier
#else
static inline void nd_quiet_begin(struct weir_netif *netif) { (void)netif; }
static inline uint32_t nd_quiet_us(const struct weir_netif *netif) { return (void)netif, 0; }
static inline enum weir_tx_verdict nd_probe(struct weir_netif *netif, struct weir_netif_address *a)
{
    return (void)netif, (void)a, WEIR_TX_DONE;
}
static inline enum weir_tx_verdict nd_announce(struct weir_netif *netif, const struct weir_netif_address *a)
{
    return (void)netif, (void)a, WEIR_TX_DONE;
}
static inline void nd_send_replies(struct weir *weir) { (void)weir; }
static inline void nd_flush(struct weir *weir, struct weir_netif *netif) { (void)weir, (void)netif; }
#endif

#endif
