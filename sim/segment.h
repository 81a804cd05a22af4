// SPDX-License-Identifier: BSD-2-Clause
// A TCP segment as read from a frame.
#ifndef SIM_SEGMENT_H
#define SIM_SEGMENT_H

#include <stdbool.h>
#include <stdint.h>

#include "address.h"

#define TCP 6u  // IP's number for it
#define FIN 1u
#define SYN 2u
#define RST 4u
#define ACK 16u
#define SEGMENT_BLOCKS 4  // of SACK

struct frame;

struct segment {
    struct sim_address source, destination;
    uint32_t seq, ack, length;
    uint16_t source_port, destination_port, window, mss;
    uint8_t flags, scale;
    bool has_scale;
    uint8_t blocks;
    uint32_t block[2 * SEGMENT_BLOCKS];
};

// false: there is no whole segment in it.
bool segment_read(struct frame *frame, struct segment *segment);

#endif
