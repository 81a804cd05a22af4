// SPDX-License-Identifier: BSD-2-Clause
// The client in place of the LAN9118's driver, for the preemptive kernel. It begins a while after the start, when the
// server listens.
#include "drivers/lan9118.h"

#include <string.h>

#include "boards/board.h"
#include "client_weir.h"
#include "weir/error.h"
#include "weir/instance.h"

#define BEGIN_US 10000u

static uint8_t server[6];
static uint64_t begin_us;
static bool begun;

void echo_client_wake(void) { board_interrupt(); }
uint32_t echo_client_stack(void) { return 0; }

static uint64_t timer(struct weir_netif *netif, uint64_t now_us)
{
    (void)netif;
    if (begun)
        return WEIR_NEVER;
    if (!begin_us)
        begin_us = now_us + BEGIN_US;
    if (now_us < begin_us)
        return begin_us;
    begun = true;
    echo_client_start(server);
    return WEIR_NEVER;
}

static const struct weir_driver client_driver = {
    .name = "client", .tx = client_tx, .poll = client_poll, .timer = timer};

int lan9118_open(struct lan9118 *device, uintptr_t base, const uint8_t mac[6])
{
    (void)device, (void)base;
    memcpy(server, mac, 6);
    return WEIR_OK;
}

void lan9118_attach(struct lan9118 *device, struct weir_netif *netif, const char *name)
{
    weir_netif_init(netif, name, &client_driver, &weir_link_ethernet);
    netif->driver_data = device;
    memcpy(netif->mac, server, 6);
}

void lan9118_interrupt(struct lan9118 *device) { (void)device; }
