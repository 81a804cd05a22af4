// SPDX-License-Identifier: BSD-2-Clause
// A group of instances that share addresses, one a core: each has a queue of the device and its flows alone. The member
// of a flow follows from its addresses and ports, the same for both directions, so everybody computes the same: the
// members, and Linux before a TAP with several queues (steer_program). A frame that reached another member is handed
// over; what concerns all (ARP, neighbour discovery, ICMP errors) goes to every member; the rest without ports to the
// first.
//
//     steer_group_init(&group, 2);
//     for each member, in its own thread:
//         tap_open(&tap, "tap0", TAP_QUEUES | TAP_UP); tap_attach(&tap, &netif, "eth0");
//         memcpy(netif.mac, one address of all, 6);
//         outer = steer_wrap(&steer, &netif, &group, index, wake, &host);     // adds and watches the outer one
//     tap_steer(&tap, 2);                                                     // when all queues are open
//
// A connection that a member opens itself comes back to whom its ports say: groups are for servers. TCP in IP fragments
// is dropped, for only the first fragment says whose it is.
#ifndef DRIVERS_WRAP_STEER_H
#define DRIVERS_WRAP_STEER_H

#include <pthread.h>

#include "weir/atomic.h"
#include "weir/linkage/posix.h"
#include "wrap.h"

WEIR_BEGIN_DECLS

#define STEER_MEMBERS 64u
#define STEER_SLOTS 256u        // frames on their way to a member from others
#define STEER_SLOT_BYTES 2048u  // longer ones (merged by the device) are not handed over

// Beside the numbers of members.
enum steer_answer { STEER_ALL = 0x10000, STEER_NOBODY };

// Whose an Ethernet frame is, of which the first `length` bytes are given: a member's number, STEER_ALL or
// STEER_NOBODY.
uint32_t steer_frame(const uint8_t *frame, uint32_t length, uint32_t members);
// The same for Linux as a program (a descriptor; negative: an errno) that gives members' numbers alone, the first's for
// all that is not one member's. Needs the right to load programs (root).
int steer_program(uint32_t members);

struct steer_slot {
    uint16_t length, segments, segment_size;  // as a struct weir_frame's
    uint8_t checksum;
    uint8_t bytes[STEER_SLOT_BYTES];
};

struct steer_group;

// A member's netif around the netif of its queue. About 526 KB.
struct steer {
    struct wrap wrap;
    struct steer_group *group;
    uint32_t index;
    void (*wake)(void *context);  // from any thread: the member is to run a turn
    void *context;
    pthread_mutex_t mutex;  // of what follows
    uint32_t first;
    WEIR_ATOMIC(uint32_t) waiting;  // frames in the slots
    struct steer_slot slots[STEER_SLOTS];
    struct {
        uint64_t handed_over;  // frames of another member that this one's queue brought
        uint64_t lost;         // that were too long, or found no slot
        uint64_t fragments;    // of TCP
    } count;
};

struct steer_group {
    uint32_t count;
    WEIR_ATOMIC(struct steer *) members[STEER_MEMBERS];
};

void steer_group_init(struct steer_group *group, uint32_t members);
struct weir_netif *steer_wrap(struct steer *steer, struct weir_netif *inner, struct steer_group *group, uint32_t index,
                              void (*wake)(void *context), void *context);
// When no member runs any more.
void steer_close(struct steer *steer);

WEIR_END_DECLS

#endif
