// SPDX-License-Identifier: BSD-2-Clause
#include "ports/coop/coop_port.h"

#include "weir/socket.h"

#define EVENTS 16u  // sockets with news told in a round

static struct weir *weir;
static struct weir_netif *netifs[COOP_PORT_NETIFS];

static bool stack_input(void)
{
    bool more = false;
    weir_clock(weir, coop.now_us);
    for (uint32_t i = 0; i < COOP_PORT_NETIFS && netifs[i]; i++) {
        const struct weir_driver *driver = netifs[i]->driver;
        if (driver->timer)
            (void)driver->timer(netifs[i], coop.now_us);
        if (driver->poll)
            more |= driver->poll(netifs[i], COOP_PORT_BUDGET) >= COOP_PORT_BUDGET;
    }
    return (weir_dispatch(weir, EVENTS) >= EVENTS) | more;
}

// What a task answered leaves here, in one frame with the acknowledgement.
static uint64_t stack_output(void)
{
    uint64_t earliest_us = weir_poll(weir, coop.now_us);
    for (uint32_t i = 0; i < COOP_PORT_NETIFS && netifs[i]; i++) {
        const struct weir_driver *driver = netifs[i]->driver;
        const uint64_t due_us = driver->timer ? driver->timer(netifs[i], coop.now_us) : COOP_NEVER;
        if (due_us < earliest_us)
            earliest_us = due_us;
    }
    return weir_dispatch(weir, EVENTS) >= EVENTS ? coop.now_us : earliest_us;
}

struct weir *coop_port_start(const struct coop_board *board, void *memory, size_t bytes)
{
    static const struct coop_server server = {stack_input, stack_output, COOP_PORT_PRIORITY};
    coop_start(&board->system, &server);
    for (uint32_t i = 0; i < COOP_PORT_NETIFS; i++)
        netifs[i] = NULL;
    weir = weir_create(memory, bytes, &board->port, NULL);
    if (weir)
        weir_clock(weir, coop.now_us);
    return weir;
}

bool coop_port_add(struct weir_netif *netif)
{
    for (uint32_t i = 0; i < COOP_PORT_NETIFS; i++)
        if (!netifs[i]) {
            netifs[i] = netif;
            return true;
        }
    return false;
}

struct weir *coop_port_weir(void) { return weir; }
