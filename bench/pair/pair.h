// SPDX-License-Identifier: BSD-2-Clause
// The two instances of weir_pair and the cable between them, for its tests.
#ifndef BENCH_PAIR_H
#define BENCH_PAIR_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/instance.h"
#include "weir/netif.h"
#include "weir/socket.h"

#define QUEUE 256u  // frames on their way to an end: the ring of a network card

struct frame {
    uint32_t length;
    uint8_t bytes[1514];
};

// One end: an instance and the frames on their way to it.
struct end {
    struct weir *weir;
    struct weir_netif netif;
    struct end *peer;
    struct frame *queue;
    uint32_t head, tail;
};

extern struct end ends[2];
extern uint64_t now_us;
extern bool cable_cut;         // frames are taken and lost
extern struct weir_port port;  // of both; may be changed before open_ends

void check(int result, const char *what);  // an error ends the program
struct weir_addr address_of(int end);
void open_ends(const struct weir_config *config);  // NULL: the defaults
weir_socket listen_at(uint16_t number);            // at the end 1
void settle(void);                                 // turns of both, until nothing is on its way
void drain_ready(void);
uint64_t cpu_nanoseconds(void);  // the thread's own time

// calls.c
int run_calls(uint64_t count);  // the program's exit status

#endif
