// SPDX-License-Identifier: BSD-2-Clause
// Registered handlers and taps (weir/handler.h), as the stack calls them.
#ifndef LINK_HANDLER_H
#define LINK_HANDLER_H

#include "instance.h"

#if WEIR_CFG_HANDLERS
// The packet goes to the handler registered for it; packet at the network (ethertype) or transport (protocol) header.
// false: there is none.
bool handler_ethertype(struct weir_netif *netif, uint16_t type, struct packet *packet);
bool handler_protocol(struct weir *weir, struct packet *packet);
void handler_address(const struct weir_netif *netif, struct weir_addr address, enum weir_address_event event);
void handler_taps_in(const struct weir_netif *netif, const struct weir_frame *frame);
void handler_taps_out(const struct weir_netif *netif, const struct weir_tx *tx);
static inline bool taps_any(const struct weir *weir) { return weir->taps != NULL; }
static inline void taps_show_in(const struct weir_netif *netif, const struct weir_frame *frame)
{
    if (netif->weir->taps)
        handler_taps_in(netif, frame);
}
static inline void taps_show_out(const struct weir_netif *netif, const struct weir_tx *tx)
{
    if (netif->weir->taps)
        handler_taps_out(netif, tx);
}
#else
static inline bool handler_ethertype(struct weir_netif *netif, uint16_t type, struct packet *packet)
{
    (void)netif, (void)type, (void)packet;
    return false;
}
static inline bool handler_protocol(struct weir *weir, struct packet *packet)
{
    (void)weir, (void)packet;
    return false;
}
static inline void handler_address(const struct weir_netif *netif, struct weir_addr address,
                                   enum weir_address_event event)
{
    (void)netif, (void)address, (void)event;
}
static inline bool taps_any(const struct weir *weir) { return (void)weir, false; }
static inline void taps_show_in(const struct weir_netif *netif, const struct weir_frame *frame)
{
    (void)netif, (void)frame;
}
static inline void taps_show_out(const struct weir_netif *netif, const struct weir_tx *tx) { (void)netif, (void)tx; }
#endif

#if WEIR_CFG_COUNTERS
static inline void netif_counted_in(struct weir_netif *netif, const struct weir_frame *frame)
{
    netif->stats.rx_frames++;
    netif->stats.rx_segments += frame->segments > 1 ? frame->segments : 1;
    netif->stats.rx_bytes += frame->length;
}
static inline void netif_counted_out(struct weir_netif *netif, const struct weir_tx *tx)
{
    netif->stats.tx_frames++;
    netif->stats.tx_bytes += tx->length;
    netif->stats.tx_segments +=
        tx->segment_size ? (tx->length - tx->header_length + tx->segment_size - 1) / tx->segment_size : 1;
}
#else
static inline void netif_counted_in(struct weir_netif *netif, const struct weir_frame *frame)
{
    (void)netif, (void)frame;
}
static inline void netif_counted_out(struct weir_netif *netif, const struct weir_tx *tx) { (void)netif, (void)tx; }
#endif

// The last step of netif_transmit: the frame is complete, the interface is up and not blocked.
static inline enum weir_tx_verdict netif_hand_over(struct weir_netif *netif, const struct weir_tx *tx)
{
    const enum weir_tx_verdict verdict = netif_offer(netif, tx);
    if (verdict != WEIR_TX_FULL) {
        netif_counted_out(netif, tx);
        taps_show_out(netif, tx);
    }
    return verdict;
}

// netif_transmit through an interface that is open.
static inline enum weir_tx_verdict netif_transmit_open(struct weir_netif *netif, struct packet_out *out)
{
    out->tx.length = packet_out_length(out);
    out->tx.header_length = (uint16_t)(out->tx.length - out->payload_length);
    out->slices[0] = (struct weir_slice){out->head, out->tx.header_length};
    return netif_hand_over(netif, &out->tx);
}

#endif
