// SPDX-License-Identifier: BSD-2-Clause
// A frame under way, and the small pool they come from.
#ifndef SIM_FRAME_H
#define SIM_FRAME_H

#include <stdbool.h>
#include <stdint.h>

#include "check.h"

#define FRAME_ETHERNET 14u
#define ETHERTYPE_IP4 0x0800
#define ETHERTYPE_ARP 0x0806
#define ETHERTYPE_IP6 0x86dd
#define FRAME_POOLED 1600u  // bytes that a frame of the pool holds

struct frame {
    struct frame *next;
    uint64_t at_ns;  // waiting: since; flying: until
    uint32_t length, room;
    uint8_t head;               // bytes before the IP packet
    bool damaged;               // a bit was flipped: no receiver may take it
    struct check_mark segment;  // what the observer saw in it
    uint8_t data[];
};

struct frames {  // pool
    struct frame *free;
    uint32_t under_way;  // frames given out
};

struct frame *frame_new(struct frames *frames, uint32_t length);
struct frame *frame_copy(struct frames *frames, const struct frame *frame);
void frame_free(struct frames *frames, struct frame *frame);
void frames_free(struct frames *frames);

// Of the IP packet in a frame, of either version; NULL: another ethertype.
uint8_t *frame_ip(struct frame *frame);
// Whether it asks for or tells link addresses, or routers: ARP, neighbour discovery.
bool frame_resolves(struct frame *frame);
// Marks congestion experienced where the sender can be told (RFC 3168 §5); false: it cannot.
bool frame_mark_ce(struct frame *frame);
// The sum (RFC 1071) of big-endian words; the last byte alone is the upper half of one.
uint32_t frame_sum(const uint8_t *bytes, uint32_t length);
// The checksum of such sums, together less than 2^32; 0 where they have a right one in them.
uint16_t frame_checksum(uint32_t sum);
void frame_ip_sum(uint8_t *ip);  // sets the header's checksum

static inline uint16_t get16(const uint8_t *at) { return (uint16_t)(at[0] << 8 | at[1]); }
static inline uint32_t get32(const uint8_t *at) { return (uint32_t)get16(at) << 16 | get16(at + 2); }
static inline void put16(uint8_t *at, uint16_t value) { at[0] = (uint8_t)(value >> 8), at[1] = (uint8_t)value; }
static inline void put32(uint8_t *at, uint32_t value)
{
    put16(at, (uint16_t)(value >> 16)), put16(at + 2, (uint16_t)value);
}

#endif
