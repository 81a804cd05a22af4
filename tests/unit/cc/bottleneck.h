// SPDX-License-Identifier: BSD-2-Clause
// A path as congestion control sees it, without TCP: flows of full segments over one bottleneck (rate, drop-tail queue
// or policer, random loss behind it) and a delay; each segment that arrives is acknowledged by itself. What TCP does is
// ideal here: a segment is lost when three sent after it have arrived, delivery rates are sampled as the contract says,
// pacing is exact. So a test sees what an algorithm decides.
//
//     struct bottleneck path;
//     bottleneck_open(&path, &(struct bottleneck_options){
//                                .rate = 12500000, .delay_us = 10000, .queue_bytes = 250000, .loss_ppm = 100000});
//     bottleneck_flow(&path, &weir_cc_bbr, 0);     // begins at 0
//     bottleneck_run(&path, 15000000);
//     look at path.flow[0].delivered, path.flow[0].window
//     bottleneck_close(&path);
#ifndef TESTS_CC_BOTTLENECK_H
#define TESTS_CC_BOTTLENECK_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/cc.h"

#define BOTTLENECK_MSS 1448u
#define BOTTLENECK_FRAME 1514u  // what a full segment takes of rate and queue
#define BOTTLENECK_FLOWS 16

struct bottleneck_options {
    uint32_t rate;         // bytes/s
    uint32_t delay_us;     // each way
    uint32_t queue_bytes;  // before the bottleneck; 0 with `policer`
    uint32_t loss_ppm;     // behind the bottleneck
    bool policer;          // what exceeds the rate is dropped (bucket of queue_bytes), nothing waits
    uint32_t seed;
};

struct bottleneck_segment {
    uint32_t data;  // which segment of the stream; sent again under its own number
    uint64_t sent_us, first_sent_us, delivered_us;
    uint32_t delivered, inflight;
    bool app_limited, done;
};

struct bottleneck_flow {
    const struct weir_cc *cc;
    _Alignas(8) uint8_t state[WEIR_CC_STATE_MAX];
    struct weir_cc_window window;
    uint64_t begins_us, next_us, last_ack_us, first_sent_us, delivered_us, rtt_sum_us, dropped, rtos, segments;
    uint32_t una, nxt, recover, srtt_us, min_rtt_us, total_delivered, total_lost, round_until, rtt_count, max_rtt_us;
    bool in_recovery, app_limited, paused;   // paused: the application has nothing to send
    struct bottleneck_segment *sent;         // ring of transmissions
    uint32_t low, high;                      // of them: oldest not resolved, next
    uint32_t *again, again_low, again_high;  // ring of data to be sent again
    uint8_t *got;                            // ring by data
    uint32_t inflight;                       // segments
    uint64_t delivered;                      // bytes
};

struct bottleneck_ack {
    uint64_t at_us;
    uint32_t flow, index;
};

struct bottleneck {
    struct bottleneck_options options;
    struct bottleneck_flow flow[BOTTLENECK_FLOWS];
    uint32_t flows;
    uint64_t now_us, free_ns, bucket_ns;
    struct bottleneck_ack *acks;  // ring, by time: one delay for all
    uint32_t ack_low, ack_high;
    uint64_t random;
    uint64_t offered, queue_drops, random_drops;
};

void bottleneck_open(struct bottleneck *path, const struct bottleneck_options *options);
struct bottleneck_flow *bottleneck_flow(struct bottleneck *path, const struct weir_cc *cc, uint64_t begins_us);
void bottleneck_run(struct bottleneck *path, uint64_t for_us);
void bottleneck_close(struct bottleneck *path);
// Mbit/s of payload that a flow got between two readings of `delivered`.
double bottleneck_mbits(uint64_t bytes, uint64_t us);

struct bottleneck_outcome {
    double mbits[BOTTLENECK_FLOWS], total, jain, rtt_ms, queue_loss;
    uint64_t rtos;
};
// A path of its own: `flows` flows that begin `apart_us` after one another; what they did between `from_us` and
// `to_us`.
struct bottleneck_outcome bottleneck_measure(const struct bottleneck_options *options, const struct weir_cc *const *cc,
                                             uint32_t flows, uint64_t apart_us, uint64_t from_us, uint64_t to_us);

#endif
