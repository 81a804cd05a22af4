// SPDX-License-Identifier: BSD-2-Clause
// lwIP's driver of the memory MAC (drivers/memory_mac.h), and the echo client that stands in for it where instructions
// are counted.
#ifndef LWIP_MAC_H
#define LWIP_MAC_H

#include <stdint.h>

struct netif;
struct pbuf;

int8_t mac_start(struct netif *netif);  // lwIP's err_t: as netif_add wants it
struct pbuf *mac_receive(void);         // NULL: no frame, or no memory for it, and it is lost
int8_t mac_send(struct netif *netif, struct pbuf *frame);

#endif
