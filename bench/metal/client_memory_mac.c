// SPDX-License-Identifier: BSD-2-Clause
// The client in place of the memory MAC, for the cooperative kernel.
#include <string.h>

#include "drivers/memory_mac.h"
#include "echo_client.h"
#include "kernel/coop/coop.h"

#define STACK_LOOK 4096u  // bytes below its top

extern uint32_t link_stack_top[];

void echo_client_wake(void) { coop_interrupt(); }

uint32_t echo_client_stack(void)
{
    const uint32_t *deepest = (const uint32_t *)((uintptr_t)link_stack_top - STACK_LOOK);
    while (*deepest == 0xa5a5a5a5)
        deepest++;
    return (uint32_t)((const char *)link_stack_top - (const char *)deepest);
}

static const struct weir_driver client_driver = {.name = "client", .tx = echo_client_tx, .poll = echo_client_poll};

// The server's task has its first turn after this.
static int first_poll(struct weir_netif *netif, int budget)
{
    (void)budget;
    netif->driver = &client_driver;
    coop_interrupt();
    return 0;
}

static const struct weir_driver first_driver = {.name = "client", .tx = echo_client_tx, .poll = first_poll};

void memory_mac_attach(struct memory_mac *device, uintptr_t base, struct weir_netif *netif, const uint8_t mac[6])
{
    (void)base;
    echo_client_start(mac);
    weir_netif_init(netif, "eth0", &first_driver, &weir_link_ethernet);
    netif->driver_data = device;
    memcpy(netif->mac, mac, 6);
    // What lies below the present frame is painted, to see how deep the stack goes.
    uintptr_t here;
    __asm__ volatile("mov %0, sp" : "=r"(here));
    for (uintptr_t at = (uintptr_t)link_stack_top - STACK_LOOK; at < here; at += 4)
        *(volatile uint32_t *)at = 0xa5a5a5a5;
}
