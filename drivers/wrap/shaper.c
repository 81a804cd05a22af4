// SPDX-License-Identifier: BSD-2-Clause
#include "shaper.h"

#include <string.h>

#define QUEUE_BYTES_MIN 65536u
#define NS_PER_S 1000000000u
#define NS_PER_US 1000u

// When the last bit of a frame of `length` bytes that comes now has passed, µs, rounded up; the link is busy until
// then. Bounded so that 64 bits suffice: length is below 2^17, so bits times 10^9 stays below 2^50.
static uint64_t occupy(struct shaper_direction *direction, uint32_t length, uint64_t now_us)
{
    uint64_t now_ns = now_us * NS_PER_US;
    uint64_t bits = ((uint64_t)length + direction->way.overhead_bytes) * 8;
    uint64_t from_ns = direction->busy_until_ns > now_ns ? direction->busy_until_ns : now_ns;
    if (direction->way.rate_bps != 0)
        direction->busy_until_ns = from_ns + bits * NS_PER_S / direction->way.rate_bps;
    else
        direction->busy_until_ns = from_ns;  // no longer shaped, yet not before those that wait
    return (direction->busy_until_ns + NS_PER_US - 1) / NS_PER_US;
}

// Counts the frame; false: the queue is full.
static bool admit(struct shaper_direction *direction, uint32_t length)
{
    struct line *line = &direction->line;
    direction->counters.frames++;
    if (line->bytes + length > line->limit_bytes) {
        direction->counters.dropped++;
        return false;
    }
    if (line->bytes + length > direction->counters.queue_peak_bytes)
        direction->counters.queue_peak_bytes = line->bytes + length;
    return true;
}

static enum weir_tx_verdict shaper_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct shaper *shaper = netif->driver_data;
    struct shaper_direction *out = &shaper->out;
    uint64_t now_us = wrap_now_us(&shaper->wrap);
    if (out->line.blocked)
        line_run_tx(&out->line, &shaper->wrap, now_us);
    if (out->line.blocked)
        return WEIR_TX_FULL;
    if (out->way.rate_bps == 0 && out->line.first == NULL)
        return wrap_tx(&shaper->wrap, tx);
    if (admit(out, tx->length) && line_put_tx(&out->line, tx, occupy(out, tx->length, now_us)) == NULL)
        out->counters.dropped++;
    line_run_tx(&out->line, &shaper->wrap, now_us);
    return WEIR_TX_DONE;
}

static void shaper_input(struct weir_netif *inner, const struct weir_frame *frame)
{
    struct shaper *shaper = inner->upper_data;
    struct shaper_direction *in = &shaper->in;
    uint64_t now_us = wrap_now_us(&shaper->wrap);
    if (in->way.rate_bps == 0 && in->line.first == NULL) {
        weir_netif_deliver(&shaper->wrap.outer, frame);
        return;
    }
    if (!admit(in, frame->length))
        return;
    if (line_put_rx(&in->line, frame, occupy(in, frame->length, now_us), (enum weir_checksum)frame->checksum) == NULL)
        in->counters.dropped++;
    line_run_rx(&in->line, &shaper->wrap, now_us);
}

static void shaper_ready(struct weir_netif *inner)
{
    struct shaper *shaper = inner->upper_data;
    shaper->out.line.blocked = false;
    weir_netif_ready(&shaper->wrap.outer);
}

static void shaper_complete(struct weir_netif *inner, void *hold_owner, uint32_t hold_end)
{
    struct shaper *shaper = inner->upper_data;
    weir_netif_complete(&shaper->wrap.outer, hold_owner, hold_end);
}

static void shaper_carrier(struct weir_netif *inner, bool up)
{
    struct shaper *shaper = inner->upper_data;
    weir_netif_carrier(&shaper->wrap.outer, up);
}

static void shaper_flush(struct weir_netif *netif) { wrap_flush(&((struct shaper *)netif->driver_data)->wrap); }
static int shaper_driver_poll(struct weir_netif *netif, int budget)
{
    return wrap_poll(&((struct shaper *)netif->driver_data)->wrap, budget);
}
static void shaper_filter(struct weir_netif *netif, const uint8_t address[6], bool join)
{
    wrap_filter(&((struct shaper *)netif->driver_data)->wrap, address, join);
}
static uint64_t shaper_timer(struct weir_netif *netif, uint64_t now_us)
{
    return shaper_poll(netif->driver_data, now_us);
}

uint64_t shaper_poll(struct shaper *shaper, uint64_t now_us)
{
    int moved =
        line_run_rx(&shaper->in.line, &shaper->wrap, now_us) + line_run_tx(&shaper->out.line, &shaper->wrap, now_us);
    uint64_t due_us = wrap_timer(&shaper->wrap, now_us);
    uint64_t in_us = line_next(&shaper->in.line, now_us), out_us = line_next(&shaper->out.line, now_us);
    due_us = in_us < due_us ? in_us : due_us;
    due_us = out_us < due_us ? out_us : due_us;
    return moved > 0 && now_us < due_us ? now_us : due_us;
}

static const struct weir_driver shaper_driver = {
    .name = "shaper",
    .tx = shaper_tx,
    .flush = shaper_flush,
    .poll = shaper_driver_poll,
    .filter = shaper_filter,
    .timer = shaper_timer,
};
static const struct weir_upper shaper_upper = {shaper_input, shaper_ready, shaper_complete, shaper_carrier};

struct weir_netif *shaper_wrap(struct shaper *shaper, struct weir_netif *inner, const struct shaper_config *config)
{
    memset(shaper, 0, sizeof *shaper);
    wrap_init(&shaper->wrap, inner, &shaper_driver, &shaper_upper, shaper);
    shaper->wrap.outer.capabilities &= (uint16_t) ~(WEIR_NETIF_TSO4 | WEIR_NETIF_USO4 | WEIR_NETIF_TSO6);
    shaper_set(shaper, &config->out, &config->in);
    return &shaper->wrap.outer;
}

static void set_way(struct shaper_direction *direction, const struct shaper_way *way)
{
    uint64_t tenth_bytes = way->rate_bps / 80;
    direction->way = *way;
    direction->line.limit_bytes = way->queue_bytes                ? way->queue_bytes
                                  : tenth_bytes < QUEUE_BYTES_MIN ? QUEUE_BYTES_MIN
                                                                  : tenth_bytes;
}

void shaper_set(struct shaper *shaper, const struct shaper_way *out, const struct shaper_way *in)
{
    set_way(&shaper->out, out);
    set_way(&shaper->in, in);
}

uint64_t shaper_drain(struct shaper *shaper, uint64_t now_us)
{
    return line_drain(&shaper->out.line, &shaper->wrap, now_us);
}

void shaper_close(struct shaper *shaper)
{
    line_clear(&shaper->out.line);
    line_clear(&shaper->in.line);
    shaper->wrap.inner->upper = NULL;
    shaper->wrap.inner->upper_data = NULL;
}
