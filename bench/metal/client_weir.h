// SPDX-License-Identifier: BSD-2-Clause
// The echo client as a driver's functions, for a file that has the names of a MAC's driver.
#ifndef CLIENT_WEIR_H
#define CLIENT_WEIR_H

#include "echo_client.h"
#include "weir/netif.h"

int client_poll(struct weir_netif *netif, int budget);
enum weir_tx_verdict client_tx(struct weir_netif *netif, const struct weir_tx *tx);

#endif
