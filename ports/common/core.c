// SPDX-License-Identifier: BSD-2-Clause
#include "ports/common/core.h"

#include "weir/socket.h"

static const struct port_board *board_of(void *context) { return ((struct port_core *)context)->board; }
static void board_entropy_of(void *context, void *out, size_t bytes) { board_of(context)->entropy(out, bytes); }
static uint64_t board_now_us_of(void *context) { return board_of(context)->now_us(); }
static void *board_alloc_of(void *context, size_t bytes) { return board_of(context)->alloc(bytes); }
static void board_free_of(void *context, void *memory, size_t bytes)
{
    (void)bytes;
    board_of(context)->free(memory);
}

void port_init(struct port_core *core, const struct port_board *board)
{
    *core = (struct port_core){.board = board};
    core->port.context = core;
    core->port.entropy = board_entropy_of;
    core->port.now_us = board_now_us_of;
    core->port.granularity_us = board->granularity_us;
    if (board->alloc) {
        core->port.alloc = board_alloc_of;
        core->port.free = board_free_of;
    }
}

void port_attach(struct port_core *core, struct weir *weir)
{
    core->weir = weir;
    weir_clock(weir, core->board->now_us());
}

bool port_add(struct port_core *core, struct weir_netif *netif)
{
    if (core->netif_count == PORT_NETIFS)
        return false;
    core->netifs[core->netif_count++] = netif;
    return true;
}

// Drivers with deadlines of their own. Returns the earliest.
static uint64_t driver_timers(struct port_core *core, uint64_t now_us)
{
    uint64_t earliest_us = WEIR_NEVER;
    for (struct weir_netif **at = core->netifs, **end = at + core->netif_count; at < end; at++) {
        const struct weir_driver *driver = (*at)->driver;
        const uint64_t due_us = driver->timer ? driver->timer(*at, now_us) : WEIR_NEVER;
        if (due_us < earliest_us)
            earliest_us = due_us;
    }
    return earliest_us;
}

uint64_t port_turn_ends(struct port_core *core, uint64_t due_us)
{
    const uint64_t now_us = weir_now_us(core->weir);
    const bool more = weir_dispatch(core->weir, PORT_EVENTS) > 0 || weir_output_pending(core->weir);
    core->driver_due_us = driver_timers(core, now_us);
    return more ? now_us : due_us < core->driver_due_us ? due_us : core->driver_due_us;
}

bool port_turn_takes(struct port_core *core)
{
    const uint64_t now_us = weir_now_us(core->weir);
    bool more = false;
    core->turns++;
    if (now_us >= core->driver_due_us)
        (void)driver_timers(core, now_us);
    for (struct weir_netif **at = core->netifs, **end = at + core->netif_count; at < end; at++)
        if ((*at)->driver->poll)
            more |= (*at)->driver->poll(*at, PORT_BUDGET) >= PORT_BUDGET;
    // Before weir_poll, so that what a watch answers leaves in one frame with the acknowledgement.
    more |= weir_dispatch(core->weir, PORT_EVENTS) >= PORT_EVENTS;
    return more;
}

uint64_t port_turn_now(struct port_core *core)
{
    const bool more = port_turn_takes(core);
    const uint64_t now_us = weir_now_us(core->weir), due_us = port_turn_ends(core, weir_poll(core->weir, now_us));
    return more ? now_us : due_us;
}

uint64_t port_turn(struct port_core *core)
{
    weir_clock(core->weir, core->board->now_us());
    return port_turn_now(core);
}
