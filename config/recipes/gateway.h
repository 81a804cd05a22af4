// SPDX-License-Identifier: BSD-2-Clause
// A gateway of protocols between two interfaces: servers for what is on one side, clients towards the other.
// Parts beside the stack: superloop loop http mqtt dhcp mdns
#ifndef WEIR_RECIPE_GATEWAY_H
#define WEIR_RECIPE_GATEWAY_H

#define WEIR_PROFILE_SMALL
#define WEIR_CFG_SOCKETS 20
#define WEIR_CFG_TCP_CONNECTIONS 12
#define WEIR_CFG_LISTENERS 3
#define WEIR_CFG_DATAGRAM_SOCKETS 5  // mDNS, DHCP's client and server, DNS, SNTP
#define WEIR_CFG_NETIFS 2
#define WEIR_CFG_ROUTES 8
#define WEIR_CFG_NEIGHBOURS 24
#define WEIR_CFG_NEIGHBOUR_STRANGERS 8
#define WEIR_CFG_IGMP 1
#define WEIR_CFG_MULTICAST_GROUPS 4
#define WEIR_CFG_TCP_SEND_BYTES 4096
#define WEIR_CFG_TCP_RECEIVE_BYTES 4096
#define WEIR_CFG_TCP_KEEPALIVE 1  // peers go without a word
#define WEIR_CFG_TCP_HALF_OPEN 16
#define WEIR_CFG_TCP_TIME_WAIT 32
#define WEIR_CFG_REALTIME 0
#define WEIR_CFG_REALTIME_SENDER 0

#endif
