// SPDX-License-Identifier: BSD-2-Clause
// A player of real-time streams: one that it receives, and a connection to be controlled by (docs/realtime.md).
// Parts beside the stack: superloop loop
#ifndef WEIR_RECIPE_PLAYER_H
#define WEIR_RECIPE_PLAYER_H

#define WEIR_PROFILE_SMALL
#define WEIR_CFG_SOCKETS 5
#define WEIR_CFG_TCP_CONNECTIONS 2
#define WEIR_CFG_LISTENERS 1
#define WEIR_CFG_DATAGRAM_SOCKETS 2  // DHCP or DNS, SNTP
#define WEIR_CFG_REALTIME 1
#define WEIR_CFG_REALTIME_SENDER 0        // it sends none
#define WEIR_CFG_TCP_RECEIVE_BYTES 65536  // a second of 500 kbit/s
#define WEIR_CFG_TCP_SEND_BYTES 2048
#define WEIR_CFG_TCP_INTERVALS 64  // holes on a bad link
#define WEIR_CFG_TCP_FLIGHT_RECORDS 4
#define WEIR_CFG_NETIFS 1
#define WEIR_CFG_NEIGHBOURS 4
#define WEIR_CFG_NEIGHBOUR_STRANGERS 2
#define WEIR_CFG_FRAGMENTS 0
#define WEIR_CFG_TCP_TIME_WAIT 2
#define WEIR_CFG_TCP_HALF_OPEN 2

#endif
