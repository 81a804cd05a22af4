// SPDX-License-Identifier: BSD-2-Clause
// The observer on the wire. It knows TCP's rules and nothing of Weir: it reads each frame as a host sends it, remembers
// what was delivered to whom, and says when a segment breaks a law of the sequence space.
#ifndef SIM_CHECK_H
#define SIM_CHECK_H

#include <stdbool.h>
#include <stdint.h>

#include "address.h"

struct sim;
struct frame;
struct check;

// What the observer saw in a frame when it was sent, kept with it so that delivery needs no second look.
struct check_mark {
    uint32_t flow;         // which conversation, from 1; 0: not TCP, or not looked at
    uint32_t incarnation;  // of that conversation
    uint8_t from;          // side 0 or 1
    uint8_t flags;         // of the TCP header
    uint32_t length;       // bytes of payload
    uint64_t seq, end;     // in 64 bits from the sender's initial number
    uint64_t ack, edge;    // in 64 bits from the receiver's; edge: right edge of the window offered
};

struct check *check_open(struct sim *sim);
void check_close(struct check *check);
// A host (its number) hands a frame to its link; a frame reaches a host. Broken laws end in sim_fail.
void check_sent(struct check *check, uint32_t host, struct frame *frame);
void check_delivered(struct check *check, uint32_t host, const struct frame *frame);
// Conversations in which this host has sent something (SYN, data, FIN) that no acknowledgement delivered to it covers.
uint32_t check_outstanding(const struct check *check, uint32_t host);
// Now and then, whenever a host is polled: looks for who is silent (SILENCE_NS).
void check_silence(struct check *check);
// The host has given up so many connections that nobody hears of, as their users had closed them: no more is expected
// of so many that are closed, have something unacknowledged, and are not there any more. Returns how many there were.
uint32_t check_given_up(struct check *check, uint32_t host, uint32_t count);
// The host gave the connection up (it failed there, or was aborted): nothing more is expected of it.
void check_forget(struct check *check, struct sim_address address, uint16_t port, struct sim_address peer_address,
                  uint16_t peer_port);

// The host's user has closed it: it takes no more, and need not keep what it promised.
void check_left(struct check *check, struct sim_address address, uint16_t port, struct sim_address peer_address,
                uint16_t peer_port);

// The number of the byte that this side sends next, if the observer knows, and its SYN has been acknowledged.
bool check_next(const struct check *check, struct sim_address address, uint16_t port, struct sim_address peer_address,
                uint16_t peer_port, uint32_t *seq);

#endif
