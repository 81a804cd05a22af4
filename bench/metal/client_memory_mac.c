// SPDX-License-Identifier: BSD-2-Clause
// The client in place of the memory MAC, for the cooperative kernel.
#include <string.h>

#include "client_weir.h"
#include "drivers/memory_mac.h"
#include "kernel/coop/coop.h"
#include "stack_paint.h"

void echo_client_wake(void) { coop_interrupt(); }

static const struct weir_driver client_driver = {.name = "client", .tx = client_tx, .poll = client_poll};

// The server's task has its first turn after this.
static int first_poll(struct weir_netif *netif, int budget)
{
    (void)budget;
    netif->driver = &client_driver;
    coop_interrupt();
    return 0;
}

static const struct weir_driver first_driver = {.name = "client", .tx = client_tx, .poll = first_poll};

void memory_mac_attach(struct memory_mac *device, uintptr_t base, struct weir_netif *netif, const uint8_t mac[6])
{
    (void)base;
    echo_client_start(mac);
    weir_netif_init(netif, "eth0", &first_driver, &weir_link_ethernet);
    netif->driver_data = device;
    memcpy(netif->mac, mac, 6);
    stack_paint();
}
