// SPDX-License-Identifier: BSD-2-Clause
#include "impair.h"

#include <string.h>

#define LIMIT_BYTES (16u << 20)
#define REORDER_US 1000u
#define CHANCES 1000000u

// splitmix64: one multiplication-mixed counter; good enough for chances, and every seed is a good one.
static uint64_t draw(uint64_t *state)
{
    uint64_t z = *state += 0x9e3779b97f4a7c15u;
    z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9u;
    z = (z ^ z >> 27) * 0x94d049bb133111ebu;
    return z ^ z >> 31;
}

static uint32_t below(uint64_t *state, uint32_t bound) { return (uint32_t)((draw(state) >> 32) * bound >> 32); }
static bool happens(uint64_t *state, uint32_t ppm) { return ppm != 0 && below(state, CHANCES) < ppm; }

// What befalls one frame. Decided before anything is done, so that a frame refused by the driver can be decided again
// alike.
struct fate {
    bool lost, duplicated, corrupted, reordered;
    uint64_t due_us;
    uint32_t bit;
};

static struct fate decide(struct impair_direction *direction, uint32_t length, uint64_t now_us)
{
    const struct impair_way *way = &direction->way;
    uint64_t *random = &direction->random;
    struct fate fate = {0};
    if (direction->losing > 0) {
        direction->losing--;
        fate.lost = true;
    } else if (happens(random, way->loss_ppm)) {
        direction->losing = way->loss_burst > 1 ? way->loss_burst - 1 : 0;
        fate.lost = true;
    }
    if (fate.lost)
        return fate;
    fate.duplicated = happens(random, way->duplicate_ppm);
    fate.corrupted = happens(random, way->corrupt_ppm);
    fate.reordered = happens(random, way->reorder_ppm);
    fate.bit = fate.corrupted ? below(random, length * 8) : 0;
    fate.due_us = now_us + way->delay_us + (way->jitter_us ? below(random, way->jitter_us + 1) : 0);
    if (fate.due_us < direction->last_due_us && way->jitter_us != 0)
        fate.due_us = direction->last_due_us;
    direction->last_due_us = fate.due_us;
    if (fate.reordered)
        fate.due_us += way->reorder_us ? way->reorder_us : REORDER_US;
    return fate;
}

static void count(struct impair_counters *counters, const struct fate *fate)
{
    counters->frames++;
    counters->lost += fate->lost;
    counters->duplicated += fate->duplicated;
    counters->corrupted += fate->corrupted;
    counters->reordered += fate->reordered;
}

static void flip(uint8_t *bytes, uint32_t bit) { bytes[bit / 8] ^= (uint8_t)(1u << bit % 8); }

static enum weir_tx_verdict impair_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct impair *impair = netif->driver_data;
    struct impair_direction *out = &impair->out;
    uint64_t now_us = wrap_now_us(&impair->wrap);
    if (out->line.blocked)
        line_run_tx(&out->line, &impair->wrap, now_us);
    if (out->line.blocked)
        return WEIR_TX_FULL;
    struct impair_direction before = *out;
    struct fate fate = decide(out, tx->length, now_us);
    bool direct = !fate.lost && !fate.corrupted && fate.due_us <= now_us && !line_busy(&out->line, now_us);
    if (direct) {
        enum weir_tx_verdict verdict = wrap_tx(&impair->wrap, tx);
        if (verdict == WEIR_TX_FULL) {  // it comes again, and meets the same fate
            out->random = before.random;
            out->last_due_us = before.last_due_us;
            return verdict;
        }
        if (fate.duplicated && line_put_tx(&out->line, tx, now_us) == NULL)
            out->counters.overflowed++;
        count(&out->counters, &fate);
        line_run_tx(&out->line, &impair->wrap, now_us);
        return verdict;
    }
    count(&out->counters, &fate);
    for (int copies = fate.lost ? 0 : 1 + fate.duplicated; copies > 0; copies--) {
        uint8_t *bytes = line_put_tx(&out->line, tx, fate.due_us);
        if (bytes == NULL)
            out->counters.overflowed++;
        else if (fate.corrupted)
            flip(bytes, fate.bit);
    }
    line_run_tx(&out->line, &impair->wrap, now_us);
    return WEIR_TX_DONE;
}

static void impair_input(struct weir_netif *inner, const struct weir_frame *frame)
{
    struct impair *impair = inner->upper_data;
    struct impair_direction *in = &impair->in;
    uint64_t now_us = wrap_now_us(&impair->wrap);
    struct fate fate = decide(in, frame->length, now_us);
    count(&in->counters, &fate);
    if (fate.lost)
        return;
    int copies = 1 + fate.duplicated;
    if (!fate.corrupted && fate.due_us <= now_us && !line_busy(&in->line, now_us)) {
        for (; copies > 0; copies--)
            weir_netif_deliver(&impair->wrap.outer, frame);
        return;
    }
    // A device that vouched for the checksum did so before the bit flipped.
    enum weir_checksum checksum = fate.corrupted ? WEIR_CHECKSUM_NONE : (enum weir_checksum)frame->checksum;
    for (; copies > 0; copies--) {
        uint8_t *bytes = line_put_rx(&in->line, frame, fate.due_us, checksum);
        if (bytes == NULL)
            in->counters.overflowed++;
        else if (fate.corrupted)
            flip(bytes, fate.bit);
    }
    line_run_rx(&in->line, &impair->wrap, now_us);
}

static void impair_ready(struct weir_netif *inner)
{
    struct impair *impair = inner->upper_data;
    impair->out.line.blocked = false;
    weir_netif_ready(&impair->wrap.outer);
}

static void impair_complete(struct weir_netif *inner, void *hold_owner, uint32_t hold_end)
{
    struct impair *impair = inner->upper_data;
    weir_netif_complete(&impair->wrap.outer, hold_owner, hold_end);
}

static void impair_carrier(struct weir_netif *inner, bool up)
{
    struct impair *impair = inner->upper_data;
    weir_netif_carrier(&impair->wrap.outer, up);
}

static void impair_flush(struct weir_netif *netif) { wrap_flush(&((struct impair *)netif->driver_data)->wrap); }
static int impair_driver_poll(struct weir_netif *netif, int budget)
{
    return wrap_poll(&((struct impair *)netif->driver_data)->wrap, budget);
}
static void impair_filter(struct weir_netif *netif, const uint8_t address[6], bool join)
{
    wrap_filter(&((struct impair *)netif->driver_data)->wrap, address, join);
}
static uint64_t impair_timer(struct weir_netif *netif, uint64_t now_us)
{
    return impair_poll(netif->driver_data, now_us);
}

uint64_t impair_poll(struct impair *impair, uint64_t now_us)
{
    int moved =
        line_run_rx(&impair->in.line, &impair->wrap, now_us) + line_run_tx(&impair->out.line, &impair->wrap, now_us);
    uint64_t due_us = wrap_timer(&impair->wrap, now_us);
    uint64_t in_us = line_next(&impair->in.line, now_us), out_us = line_next(&impair->out.line, now_us);
    due_us = in_us < due_us ? in_us : due_us;
    due_us = out_us < due_us ? out_us : due_us;
    return moved > 0 && now_us < due_us ? now_us : due_us;
}

static const struct weir_driver impair_driver = {
    .name = "impair",
    .tx = impair_tx,
    .flush = impair_flush,
    .poll = impair_driver_poll,
    .filter = impair_filter,
    .timer = impair_timer,
};
static const struct weir_upper impair_upper = {impair_input, impair_ready, impair_complete, impair_carrier};

struct weir_netif *impair_wrap(struct impair *impair, struct weir_netif *inner, const struct impair_config *config)
{
    memset(impair, 0, sizeof *impair);
    wrap_init(&impair->wrap, inner, &impair_driver, &impair_upper, impair);
    impair->wrap.outer.capabilities &= (uint16_t) ~(WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TSO4 | WEIR_NETIF_USO4 |
                                                    WEIR_NETIF_TX_CHECKSUM6 | WEIR_NETIF_TSO6);
    uint64_t seed = config->seed;
    impair->out.random = draw(&seed);  // two streams: what one way does leaves the other's chances alone
    impair->in.random = draw(&seed);
    impair->out.line.limit_bytes = impair->in.line.limit_bytes =
        config->limit_bytes ? config->limit_bytes : LIMIT_BYTES;
    impair_set(impair, &config->out, &config->in);
    return &impair->wrap.outer;
}

void impair_set(struct impair *impair, const struct impair_way *out, const struct impair_way *in)
{
    impair->out.way = *out;
    impair->in.way = *in;
}

uint64_t impair_drain(struct impair *impair, uint64_t now_us)
{
    return line_drain(&impair->out.line, &impair->wrap, now_us);
}

void impair_close(struct impair *impair)
{
    line_clear(&impair->out.line);
    line_clear(&impair->in.line);
    impair->wrap.inner->upper = NULL;
    impair->wrap.inner->upper_data = NULL;
}
