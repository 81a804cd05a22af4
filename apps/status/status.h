// SPDX-License-Identifier: BSD-2-Clause
// What the status page shows, as JSON: interfaces, sockets, counters that are not zero, and the last two minutes'
// throughput.
#ifndef APPS_STATUS_STATUS_H
#define APPS_STATUS_STATUS_H

#include "../loop.h"
#include "../text.h"
#include "weir/linkage/apps.h"
#include "weir/stats.h"

WEIR_BEGIN_DECLS

#define STATUS_SAMPLES 120u  // of throughput, one a second
#define STATUS_SAMPLE_US 1000000u
#define STATUS_SOCKETS 64u  // shown, and no more are looked at: a request costs the same with a million of them
#define STATUS_NETIFS 8u
enum status_netif_count {  // an interface's counters of 32 bits
    STATUS_RX_FRAMES,
    STATUS_TX_FRAMES,
    STATUS_RX_DROPPED,
    STATUS_TX_DROPPED,
    STATUS_RX_RUNT,
    STATUS_RX_UNKNOWN,
    STATUS_TX_FULL,
    STATUS_NETIF_COUNTS
};

struct status {
    struct weir *weir;
    struct weir_netif *netifs[STATUS_NETIFS];
    uint32_t netif_count;
    uint32_t capture_s;                               // seconds of a capture that is offered; 0: none
    uint64_t began_us, next_us;                       // next sample
    uint64_t rx_bytes, tx_bytes;                      // at the last sample
    uint32_t newest, samples;                         // index of the newest, how many there are
    uint32_t rx[STATUS_SAMPLES], tx[STATUS_SAMPLES];  // bytes in that second
    // What counters of 32 bits would have counted if they did not wrap, which looks like a restart.
    uint64_t counted[WEIR_COUNT_COUNT], netif_counted[STATUS_NETIFS][STATUS_NETIF_COUNTS];
};

void status_init(struct status *status, struct weir *weir, struct weir_netif *const *netifs, uint32_t count);
// Takes the samples that are due; returns when the next is.
uint64_t status_poll(struct status *status, uint64_t now_us);
// Looks at the counters, which one has to do before they wrap twice: status_poll does with each sample.
void status_count(struct status *status);
// Writes the JSON object. Of more sockets than STATUS_SOCKETS, or than fit, some are left out ("sockets_more"); those
// from `from` on are in it, which is 0 (then listeners come first, then any connections) or what "sockets_next" was, a
// text of digits. All are counted in "sockets_total".
void status_render(struct status *status, uint64_t from, struct text *out);

WEIR_END_DECLS

#endif
