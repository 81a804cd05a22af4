// SPDX-License-Identifier: BSD-2-Clause
// Handlers a user registers: ethertypes, IP protocols, taps that see all frames, and watches of addresses. All run with
// the instance's lock held inside weir_input (taps also inside weir_poll); they must not block and must not call into
// the instance, except to send later through a socket of their own (set a flag, return). Call these functions under the
// lock.
#ifndef WEIR_HANDLER_H
#define WEIR_HANDLER_H

#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

// Frames of one ethertype that Weir itself does not take. `offset` is where the payload begins.
struct weir_ethertype_handler {
    struct weir_ethertype_handler *next;  // Weir's
    uint16_t ethertype;
    void (*input)(struct weir_ethertype_handler *self, struct weir_netif *netif, const struct weir_frame *frame,
                  uint32_t offset);
    void *context;
};

// Packets of one IP protocol that Weir itself does not take. `offset` is where the transport header begins.
struct weir_protocol_handler {
    struct weir_protocol_handler *next;  // Weir's
    uint8_t protocol;
    void (*input)(struct weir_protocol_handler *self, struct weir_netif *netif, const struct weir_frame *frame,
                  uint32_t offset, struct weir_addr source, struct weir_addr destination);
    void *context;
};

// What a device does of a frame, or has done, so that a tap sees other bytes than the wire: a bit mask, in the order of
// pcapng's packet flags from bit 9 on.
enum weir_tap_offload {
    WEIR_TAP_CHECKSUM_OPEN = 1,      // outgoing: the device is to fill in the transport checksum
    WEIR_TAP_CHECKSUM_VERIFIED = 2,  // incoming: vouched for, whether or not it is filled in
    WEIR_TAP_SEGMENTS = 4,           // the device is to cut it, or has merged it: it may be larger than the MTU
};

// Sees every frame of every interface, as it arrives and as it is handed to a driver that took it.
struct weir_tap {
    struct weir_tap *next;  // Weir's
    void (*frame)(struct weir_tap *self, const struct weir_netif *netif, bool outgoing, const struct weir_slice *slices,
                  uint16_t count, uint64_t now_us);
    void *context;
    unsigned offload;  // Weir's: enum weir_tap_offload of the frame that is being shown
};

// The same of a frame that comes in, and of one that a driver is given: for whoever shows frames without a tap.
static inline unsigned weir_frame_offload(const struct weir_frame *frame)
{
    return (frame->checksum == WEIR_CHECKSUM_VERIFIED ? (unsigned)WEIR_TAP_CHECKSUM_VERIFIED : 0u) |
           (frame->segments > 1 ? (unsigned)WEIR_TAP_SEGMENTS : 0u);
}
static inline unsigned weir_tx_offload(const struct weir_tx *tx)
{
    return (tx->checksum_start ? (unsigned)WEIR_TAP_CHECKSUM_OPEN : 0u) |
           (tx->segment_size ? (unsigned)WEIR_TAP_SEGMENTS : 0u);
}

// What another host did to an address of ours, or what became of it (RFC 5227, RFC 4862 §5.5.4). `netif->conflict_mac`
// says who claimed it.
enum weir_address_event {
    WEIR_ADDRESS_DEFENDED,    // claimed by another host; we go on using it, and say so
    WEIR_ADDRESS_LOST,        // given up, or not taken: its state is CONFLICT until it proves free
    WEIR_ADDRESS_TAKEN,       // probed, found free, and in use from now on
    WEIR_ADDRESS_DEPRECATED,  // its preferred lifetime is over
    WEIR_ADDRESS_EXPIRED,     // its valid lifetime is over: it is removed
};
struct weir_address_watch {
    struct weir_address_watch *next;  // Weir's
    void (*event)(struct weir_address_watch *self, const struct weir_netif *netif, struct weir_addr address,
                  enum weir_address_event event);
    void *context;
};

// The struct is the caller's and stays registered until removed. WEIR_IN_USE: the number has a handler.
int weir_ethertype_register(struct weir *weir, struct weir_ethertype_handler *handler);
void weir_ethertype_unregister(struct weir *weir, struct weir_ethertype_handler *handler);
int weir_protocol_register(struct weir *weir, struct weir_protocol_handler *handler);
void weir_protocol_unregister(struct weir *weir, struct weir_protocol_handler *handler);
void weir_tap_add(struct weir *weir, struct weir_tap *tap);
void weir_tap_remove(struct weir *weir, struct weir_tap *tap);
void weir_address_watch_add(struct weir *weir, struct weir_address_watch *watch);
void weir_address_watch_remove(struct weir *weir, struct weir_address_watch *watch);

WEIR_END_DECLS

#endif
