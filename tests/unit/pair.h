// SPDX-License-Identifier: BSD-2-Clause
// Two instances (fixtures a and b, 10.0.0.1 and 10.0.0.2, or what fixture_address makes of these) and the link between
// them, in virtual time. Each direction has a rate, a delay, a queue, and loses, reorders, duplicates and corrupts by a
// seed; a test may also look at every frame and drop it.
//
//     struct pair p;
//     pair_open(&p, &(struct pair_options){.link = {.delay_us = 1000, .loss_ppm = 20000}, .seed = 7});
//     use sockets on p.a.weir and p.b.weir
//     pair_run(&p, 5000000);                    // five seconds
//     assert_true(pair_run_until(&p, done, &test, 60000000));
//     pair_close(&p);
#ifndef TESTS_PAIR_H
#define TESTS_PAIR_H

#include "fixture.h"

#define PAIR_A fixture_address(1)
#define PAIR_B fixture_address(2)

struct pair_link {  // zero: perfect and without delay
    uint32_t delay_us;
    uint32_t rate;          // bytes/s; 0: no limit
    uint32_t queue_frames;  // of full size (1514 bytes), waiting for the rate; 0: no limit
    uint32_t mark_frames;   // with so many waiting a capable packet is marked (CE); 0: never
    uint32_t loss_ppm, duplicate_ppm, corrupt_ppm, reorder_ppm;  // of a million frames
    uint32_t mark_ppm;                                           // of a million capable frames
    uint32_t reorder_us;                                         // a reordered frame comes so much later; 0: 1000
};

struct pair_options {
    struct pair_link link;         // both ways
    const struct pair_link *back;  // b to a, where it differs
    uint64_t seed;
    struct fixture_options a, b;  // addresses and MACs are filled in
};

struct pair_frame {
    struct pair_frame *next;
    uint64_t due_us;
    uint64_t order;  // ties: as sent
    bool to_a;
    uint32_t length;
    uint8_t data[];
};

struct pair_stats {
    uint32_t sent, lost, duplicated, reordered, corrupted, delivered, capable, marked;
};

struct pair {
    struct fixture a, b;
    struct pair_link link[2];   // 0: a to b, 1: b to a
    struct pair_frame *flying;  // by arrival
    uint64_t free_us[2];        // when the line has sent what waits
    uint64_t order;
    uint64_t random;
    struct pair_stats stats[2];
    // Sees every frame before the link does; false drops it. `from_b`: the direction.
    bool (*filter)(void *context, bool from_b, uint8_t *frame, uint32_t length);
    void *filter_context;
};

void pair_open(struct pair *pair, const struct pair_options *options);
void pair_close(struct pair *pair);  // with the fixtures' checks of memory
// Lets time pass, stopping at every deadline and arrival.
void pair_run(struct pair *pair, uint64_t advance_us);
// As pair_run, until done(context) after some step; false: limit_us passed first. done may use both sides' sockets.
bool pair_run_until(struct pair *pair, bool (*done)(void *context), void *context, uint64_t limit_us);
static inline uint64_t pair_now_us(const struct pair *pair) { return pair->a.now_us; }

// A listener on b; a connection that a asks for there, not yet open.
weir_socket pair_listen(struct pair *pair, uint16_t port, uint32_t backlog);
weir_socket pair_ask(struct pair *pair, uint16_t port);

// A connection from a to b's `port` through an own listener, established. *client is on a, *server on b.
void pair_connect(struct pair *pair, uint16_t port, weir_socket *client, weir_socket *server);

// Zeros from a socket of a to one of b.
struct pair_transfer {
    struct pair *pair;
    weir_socket from, to;
    uint32_t bytes, sent, received;
};
// Writes and reads what goes now: for pair_run_until, with a struct pair_transfer. true: all has arrived.
bool pair_transfer(void *transfer);

#endif
