// SPDX-License-Identifier: BSD-2-Clause
// Frames between a driver's process and the server: two rings of slots in shared memory, as ring.h says. Neither side
// is led astray by the other: what the driver shows is read once and clamped, the headers of a frame are copied before
// they are looked at.
#ifndef MICRO_FRAMES_H
#define MICRO_FRAMES_H

#include <stdbool.h>

#include "ring.h"
#include "weir/language.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

#ifndef FRAMES_SLOTS
#define FRAMES_SLOTS 64u  // each way; a power of two
#endif
#define FRAMES_BYTES 1518u  // of the longest frame, with a VLAN tag

struct frames_slot {
    uint32_t length;
    uint8_t shift[2];  // so that the IP header is aligned
    uint8_t frame[FRAMES_BYTES];
};

struct frames {
    // written by the driver
    shared_word received;     // slots of `in` filled
    shared_word transmitted;  // slots of `out` emptied
    shared_word carrier;      // 1: the link is up
    shared_word stalled;      // `in` was full: notify the driver when there is room
    shared_word attention;    // it sleeps: who finds it set clears it, and notifies it
    uint32_t mac[2];          // link address; set before the driver says it is there
    uint32_t mtu;
    // written by the server
    shared_word taken;             // slots of `in` emptied
    shared_word queued;            // slots of `out` filled
    shared_word waiting;           // `out` was full: notify the server when there is room
    shared_word server_attention;  // as `attention`, the other way
    struct frames_slot in[FRAMES_SLOTS], out[FRAMES_SLOTS];
};

// --- the server's side: an interface ---------------------------------------------------------------------------------
struct micro_netif {
    struct weir_netif netif;
    struct frames *frames;  // NULL: no driver
    void (*notify)(void *context);
    void *context;
    uint32_t taken, queued;  // the rings' indices
    uint32_t seen;           // `received` at the last look
    bool carrier;
    uint32_t bad;                                  // frames with a length that cannot be
    uint32_t head[(4 + WEIR_FRAME_HEAD + 3) / 4];  // of the frame in hand: what is parsed is out of the driver's reach
};

// An Ethernet interface without a driver, its link down after weir_netif_add and the first turn.
void micro_netif_init(struct micro_netif *netif, const char *name, void (*notify)(void *context), void *context);
// A driver came (the frames are zeroed but for what it has written), or went: NULL. When the interface was added
// already its address stays.
void micro_netif_attach(struct micro_netif *netif, struct frames *frames);
// Takes in at most `budget` frames and looks at the link; returns how many.
int micro_netif_poll(struct micro_netif *netif, int budget);
bool micro_netif_rest(struct micro_netif *netif);  // before sleep, as micro_server_rest

// --- the driver's side: a relay
// ------------------------------------------------------------------------------------------------------------ Any
// struct weir_driver, whose frames go to the server and come from there.
struct micro_relay {
    struct weir_netif *netif;
    struct frames *frames;
    void (*notify)(void *context);
    void *context;
    uint32_t received, transmitted;  // the rings' indices
    bool blocked;                    // the driver answered FULL
    bool news;                       // the server is to be told
};

// `netif` has been attached to its driver, and belongs to no instance.
void micro_relay_init(struct micro_relay *relay, struct weir_netif *netif, struct frames *frames,
                      void (*notify)(void *context), void *context);
// Frames both ways; returns the driver's next deadline, µs: not after now when there is more to do at once.
uint64_t micro_relay_turn(struct micro_relay *relay, uint64_t now_us);
bool micro_relay_rest(struct micro_relay *relay);  // before sleep; false: something came meanwhile

WEIR_END_DECLS

#endif
