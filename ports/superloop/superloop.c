// SPDX-License-Identifier: BSD-2-Clause
#include "superloop.h"

#include "weir/socket.h"

static void port_entropy(void *context, void *out, size_t bytes) { ((struct superloop *)context)->board->entropy(out, bytes); }
static uint64_t port_now_us(void *context) { return ((struct superloop *)context)->board->now_us(); }
static void *port_alloc(void *context, size_t bytes) { return ((struct superloop *)context)->board->alloc(bytes); }
static void port_free(void *context, void *memory, size_t bytes)
{
    (void)bytes;
    ((struct superloop *)context)->board->free(memory);
}
static void port_kick(void *context) { superloop_wake(context); }

void superloop_init(struct superloop *loop, const struct superloop_board *board)
{
    *loop = (struct superloop){.board = board};
    loop->port.context = loop;
    loop->port.entropy = port_entropy;
    loop->port.now_us = port_now_us;
    loop->port.granularity_us = board->granularity_us;
    loop->port.kick = port_kick;
    if (board->alloc) {
        loop->port.alloc = port_alloc;
        loop->port.free = port_free;
    }
}

void superloop_attach(struct superloop *loop, struct weir *weir)
{
    loop->weir = weir;
    weir_clock(weir, loop->board->now_us());
}

bool superloop_add(struct superloop *loop, struct weir_netif *netif)
{
    if (loop->netif_count == SUPERLOOP_NETIFS)
        return false;
    loop->netifs[loop->netif_count++] = netif;
    return true;
}

// Drivers with deadlines of their own. Returns the earliest.
static uint64_t driver_timers(struct superloop *loop, uint64_t now_us)
{
    uint64_t earliest_us = WEIR_NEVER;
    for (uint32_t i = 0; i < loop->netif_count; i++) {
        struct weir_netif *netif = loop->netifs[i];
        const uint64_t due_us = netif->driver->timer ? netif->driver->timer(netif, now_us) : WEIR_NEVER;
        earliest_us = due_us < earliest_us ? due_us : earliest_us;
    }
    return earliest_us;
}

uint64_t superloop_turn(struct superloop *loop)
{
    const uint64_t now_us = loop->board->now_us();
    bool more = false;
    loop->turns++;
    loop->awake = false;  // before looking: what comes from now on is seen in the next turn
    weir_clock(loop->weir, now_us);
    (void)driver_timers(loop, now_us);
    for (uint32_t i = 0; i < loop->netif_count; i++) {
        struct weir_netif *netif = loop->netifs[i];
        if (netif->driver->poll)
            more |= netif->driver->poll(netif, SUPERLOOP_BUDGET) >= SUPERLOOP_BUDGET;
    }
    // Before weir_poll, so that what a watch answers leaves in one frame with the acknowledgement.
    more |= weir_dispatch(loop->weir, SUPERLOOP_EVENTS) >= SUPERLOOP_EVENTS;
    const uint64_t due_us = weir_poll(loop->weir, now_us);
    more |= weir_dispatch(loop->weir, SUPERLOOP_EVENTS) > 0 || weir_output_pending(loop->weir);
    const uint64_t driver_due_us = driver_timers(loop, now_us);
    return more ? now_us : due_us < driver_due_us ? due_us : driver_due_us;
}

_Noreturn void superloop_run(struct superloop *loop)
{
    for (;;) {
        const uint64_t due_us = superloop_turn(loop);
        if (due_us > loop->board->now_us()) {
            loop->sleeps++;
            loop->board->sleep(due_us, &loop->awake);
        }
    }
}
