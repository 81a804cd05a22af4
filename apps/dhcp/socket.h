// SPDX-License-Identifier: BSD-2-Clause
// The socket of a DHCP client or server: of one interface, and able to broadcast.
#ifndef APPS_DHCP_SOCKET_H
#define APPS_DHCP_SOCKET_H

#include "loop.h"

// WEIR_OK and *out, or an error; WEIR_IN_USE: the interface has a client or a server already, of whichever kind `port`
// is for.
int dhcp_socket(struct loop *loop, const struct weir_netif *netif, uint16_t port, struct weir_watch *watch,
                weir_socket *out);

#endif
