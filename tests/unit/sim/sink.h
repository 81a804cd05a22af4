// SPDX-License-Identifier: BSD-2-Clause
// What the simulator's tests share: cmocka, and a node that only looks at what reaches it.
#ifndef TESTS_SIM_SINK_H
#define TESTS_SIM_SINK_H

#include <setjmp.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "sim/internal.h"

#define SINK_FRAMES 20000u

struct sink {
    struct sim_node node;  // first; freed with the network
    uint32_t count, room;  // frames that came; times it heard of room
    struct {
        uint64_t at_ns;
        uint32_t length, number;  // number: what put_frame wrote
        bool damaged, marked;
    } frames[SINK_FRAMES];
};

struct sink *sink_add(struct sim *sim, const char *name);
// An IPv4 packet in an Ethernet frame of `length` bytes, ECT(0), with `number` as its last four.
struct frame *frame_make(struct sim *sim, uint32_t length, uint32_t number);
void frame_send(struct sink *from, uint32_t length, uint32_t number);

#define run(sim, until_ns) assert_true(sim_run(sim, until_ns))

#endif
