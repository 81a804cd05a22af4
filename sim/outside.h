// SPDX-License-Identifier: BSD-2-Clause
// A node that is not in the network: frames come in by a call and leave by a callback. Whoever drives it keeps the
// time: with the wall clock the simulated links become real ones (lab/link.c).
//
//     struct sim_node *left = sim_outside_add(sim, "left", to_left, &fds[0]), *right = …;
//     sim_link_add(sim, left, right, &options);
//     for (;;) {
//         sim_run(sim, elapsed_ns());                       // delivers what is due
//         sim_outside_send(left, frame, length);            // enters the link now
//         sleep_until(sim_due(sim));
//     }
#ifndef SIM_OUTSIDE_H
#define SIM_OUTSIDE_H

#include "sim.h"

// `receive` gets each Ethernet frame that arrives at the node; the bytes are lent for the call.
struct sim_node *sim_outside_add(struct sim *sim, const char *name,
                                 void (*receive)(void *context, const uint8_t *frame, uint32_t length), void *context);
// An Ethernet frame from outside, at the network's present time. The node has one link, or the frame is lost. Bytes are
// copied.
void sim_outside_send(struct sim_node *node, const uint8_t *frame, uint32_t length);
// When something happens next; SIM_NEVER: nothing will.
uint64_t sim_due(const struct sim *sim);

#endif
