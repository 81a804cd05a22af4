// SPDX-License-Identifier: BSD-2-Clause
// A wrapper that makes a link slower: a rate and a drop-tail queue bounded in bytes, each way on its own. A frame
// leaves when its last bit would have, on a link of that rate; time is the instance's. Segmentation offload is taken
// away (a 64 KB frame would be one long burst); checksum offload stays.
#ifndef DRIVERS_WRAP_SHAPER_H
#define DRIVERS_WRAP_SHAPER_H

#include "line.h"
#include "weir/language.h"
#include "weir/linkage/posix.h"

WEIR_BEGIN_DECLS

struct shaper_way {
    uint64_t rate_bps;        // bits per second; 0: not shaped
    uint32_t queue_bytes;     // waiting or being sent; 0: 100 ms at the rate, at least 64 KiB
    uint32_t overhead_bytes;  // counted for each frame beyond its own: 24 for Ethernet's preamble, FCS and gap
};

struct shaper_config {
    struct shaper_way out, in;
};

struct shaper_counters {
    uint64_t frames, dropped, queue_peak_bytes;
};

struct shaper_direction {
    struct shaper_way way;
    struct shaper_counters counters;
    struct line line;
    uint64_t busy_until_ns;  // the link carries earlier frames until then
};

struct shaper {
    struct wrap wrap;
    struct shaper_direction out, in;
};

// Wraps `inner` and returns the netif to use in its place. *config is copied.
struct weir_netif *shaper_wrap(struct shaper *shaper, struct weir_netif *inner, const struct shaper_config *config);
// Changes rates and queues while it runs; frames in the queue keep their times.
void shaper_set(struct shaper *shaper, const struct shaper_way *out, const struct shaper_way *in);
// Lets out what is due; returns the next deadline, µs (the outer netif's driver->timer).
uint64_t shaper_poll(struct shaper *shaper, uint64_t now_us);
// As impair_drain. Where it stands over an impair, that one's drain is called before and after it.
uint64_t shaper_drain(struct shaper *shaper, uint64_t now_us);
// After weir_netif_remove: frees the queues. The inner netif stands alone again.
void shaper_close(struct shaper *shaper);

WEIR_END_DECLS

#endif
