// SPDX-License-Identifier: BSD-2-Clause
// The client of echo_client.c, for a file that has the names of a MAC's driver.
#ifndef ECHO_CLIENT_H
#define ECHO_CLIENT_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/netif.h"

void echo_client_start(const uint8_t mac[6]);  // `mac`: the server's. The first frame waits from here on
int echo_client_poll(struct weir_netif *netif, int budget);
enum weir_tx_verdict echo_client_tx(struct weir_netif *netif, const struct weir_tx *tx);

// By that file: a frame waits, as an interrupt would say; bytes of stack used at the most, 0 where it is not known.
void echo_client_wake(void);
uint32_t echo_client_stack(void);

#endif
