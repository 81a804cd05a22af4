// SPDX-License-Identifier: BSD-2-Clause
// A device with a page: eight browsers' connections, its name by multicast DNS, firmware updates.
// Parts beside the stack: superloop loop http mdns update
#ifndef WEIR_RECIPE_WEB_SERVER_H
#define WEIR_RECIPE_WEB_SERVER_H

#define WEIR_PROFILE_SMALL
#define WEIR_CFG_SOCKETS 11
#define WEIR_CFG_TCP_CONNECTIONS 8
#define WEIR_CFG_LISTENERS 1
#define WEIR_CFG_DATAGRAM_SOCKETS 2  // mDNS, DHCP
#define WEIR_CFG_IGMP 1              // mDNS listens to a group
#define WEIR_CFG_MULTICAST_GROUPS 1
#define WEIR_CFG_TCP_SEND_BYTES 5840     // four segments
#define WEIR_CFG_TCP_RECEIVE_BYTES 2048  // a request's header
#define WEIR_CFG_NETIFS 1
#define WEIR_CFG_FRAGMENTS 0
#define WEIR_CFG_TCP_HALF_OPEN 8
#define WEIR_CFG_TCP_TIME_WAIT 8
#define WEIR_CFG_TCP_FLIGHT_RECORDS 8
#define WEIR_CFG_TCP_INTERVALS 4
#define WEIR_CFG_REALTIME 0
#define WEIR_CFG_REALTIME_SENDER 0

#endif
