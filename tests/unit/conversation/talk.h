// SPDX-License-Identifier: BSD-2-Clause
// Two instances (pair.h) talk, as a seed decides: over which link, with which drivers, buffers, options and failing
// allocations, what each user writes and reads, when he pauses, and how he ends. Every byte is compared; virtual time
// makes it repeat exactly.
//
//     struct talk_stats stats;
//     talk(seed, FIXTURE_FROM_ENVIRONMENT, &stats);    // fails the cmocka test when anything is wrong
//     talk_describe(stderr, seed);                     // what the seed stands for
#ifndef TESTS_CONVERSATION_TALK_H
#define TESTS_CONVERSATION_TALK_H

#include <stdio.h>

#include "pair.h"

#define TALK_FLOWS 3

// How one user of a stream behaves.
struct talk_user {
    uint32_t send_bytes;             // in all
    uint32_t write_most, read_most;  // at once; 0: whatever there is
    uint32_t pause_us;               // now and then sleeps so long, writing and reading nothing (0: never)
    uint32_t pause_every;            // one call in so many
    uint32_t read_delay_us;          // begins to read only then
    bool in_place;                   // reserve/commit, peek/consume instead of write, read
    bool edges;                      // looks at its socket only when weir_ready_next names it
    bool no_delay, quick_ack, cork;
    uint32_t send_buffer, receive_buffer;  // 0: the default
    uint32_t abort_at;                     // RST after sending so much; UINT32_MAX: never
    bool close_at_once;                    // close, not shutdown, when all is written (only where it reads nothing)
};

enum talk_trouble { TALK_NO_TROUBLE, TALK_FAIL_ONCE, TALK_FAIL_A_WHILE, TALK_BUDGET };

// What a seed stands for.
struct talk_plan {
    uint64_t seed;
    struct pair_link link, back;
    bool raw_ip;
    uint16_t mtu_a, mtu_b;
    enum fixture_mode mode_a, mode_b;
    uint32_t corrupt_ppm;  // of IP packets: ARP has no checksum
    const char *congestion;
    uint8_t ecn_a, ecn_b;  // enum weir_ecn; some links mark
    uint32_t wrap_side;    // 1, 2: the initial sequence number of client or server lies shortly before 2^32
    uint32_t wrap_before;
    enum talk_trouble trouble;
    uint32_t fail_at;  // allocation of a (even seeds) or b
    uint64_t budget_bytes;
    uint32_t flows;
    struct talk_user client[TALK_FLOWS], server[TALK_FLOWS];
    bool leave_early;  // both instances are destroyed in the middle of it
};

struct talk_stats {
    uint64_t bytes, virtual_us;
    uint32_t retransmitted, timeouts, frames;
};

void talk_plan_make(struct talk_plan *plan, uint64_t seed, enum fixture_mode mode);
// Runs a plan; asserts that all bytes came, all connections ended, no timer is armed and no memory is lost.
void talk_run(const struct talk_plan *plan, struct talk_stats *stats);
void talk_describe(FILE *out, const struct talk_plan *plan);

#endif
