// SPDX-License-Identifier: BSD-2-Clause
#include "wrap.h"

#include <string.h>

void wrap_init(struct wrap *wrap, struct weir_netif *inner, const struct weir_driver *driver,
               const struct weir_upper *upper, void *self)
{
    wrap->inner = inner;
    wrap->outer = *inner;
    wrap->outer.driver = driver;
    wrap->outer.driver_data = self;
    wrap->outer.upper = NULL;
    wrap->outer.upper_data = NULL;
    inner->upper = upper;
    inner->upper_data = self;
}

// The instance is known only once the outermost netif was added; it sinks from there with each call.
static const struct weir_driver *inner_driver(struct wrap *wrap)
{
    wrap->inner->weir = wrap->outer.weir;
    return wrap->inner->driver;
}

// What the driver dropped is counted at the interface that people look at.
static void raise_counters(struct wrap *wrap)
{
    struct weir_netif_stats *from = &wrap->inner->stats, *to = &wrap->outer.stats;
    to->rx_dropped += from->rx_dropped;
    to->tx_dropped += from->tx_dropped;
    from->rx_dropped = from->tx_dropped = 0;
}

enum weir_tx_verdict wrap_tx(struct wrap *wrap, const struct weir_tx *tx)
{
    enum weir_tx_verdict verdict = inner_driver(wrap)->tx(wrap->inner, tx);
    raise_counters(wrap);
    return verdict;
}

void wrap_flush(struct wrap *wrap)
{
    if (inner_driver(wrap)->flush)
        wrap->inner->driver->flush(wrap->inner);
}

int wrap_poll(struct wrap *wrap, int budget)
{
    int delivered = inner_driver(wrap)->poll ? wrap->inner->driver->poll(wrap->inner, budget) : 0;
    raise_counters(wrap);
    return delivered;
}

void wrap_filter(struct wrap *wrap, const uint8_t address[6], bool join)
{
    if (inner_driver(wrap)->filter)
        wrap->inner->driver->filter(wrap->inner, address, join);
}

uint64_t wrap_timer(struct wrap *wrap, uint64_t now_us)
{
    uint64_t due_us = inner_driver(wrap)->timer ? wrap->inner->driver->timer(wrap->inner, now_us) : WEIR_NEVER;
    raise_counters(wrap);
    return due_us;
}

uint64_t wrap_now_us(const struct wrap *wrap)
{
    return wrap->outer.weir != NULL ? weir_now_us(wrap->outer.weir) : wrap->now_us;
}
