// SPDX-License-Identifier: BSD-2-Clause
// A sensor: measures, publishes over one connection that it opens (MQTT, plain or TLS), asks for names and the time.
// Parts beside the stack: superloop loop mqtt
#ifndef WEIR_RECIPE_SENSOR_H
#define WEIR_RECIPE_SENSOR_H

#define WEIR_PROFILE_SMALL
#define WEIR_CFG_SOCKETS 3
#define WEIR_CFG_TCP_CONNECTIONS 1
#define WEIR_CFG_DATAGRAM_SOCKETS 2  // DHCP or DNS, SNTP
#define WEIR_CFG_LISTENERS 1         // the least; it opens none
#define WEIR_CFG_TCP_SEND_BYTES 2048
#define WEIR_CFG_TCP_RECEIVE_BYTES 2048
#define WEIR_CFG_DATAGRAM_SEND_BYTES 600
#define WEIR_CFG_DATAGRAM_RECEIVE_BYTES 600  // an answer of DHCP or DNS
#define WEIR_CFG_NETIFS 1
#define WEIR_CFG_ROUTES 2
#define WEIR_CFG_NEIGHBOURS 4
#define WEIR_CFG_NEIGHBOUR_STRANGERS 2
#define WEIR_CFG_OUTBOX_BYTES 768
#define WEIR_CFG_FRAGMENTS 0
#define WEIR_CFG_TCP_TIME_WAIT 2
#define WEIR_CFG_TCP_HALF_OPEN 1
#define WEIR_CFG_TCP_FLIGHT_RECORDS 4
#define WEIR_CFG_TCP_INTERVALS 4
#define WEIR_CFG_TCP_WINDOW_SCALE 0  // queues that small need none
#define WEIR_CFG_CC_CUBIC 0          // with them CUBIC goes as Reno (RFC 9438 §4.3)
#define WEIR_CFG_REALTIME 0
#define WEIR_CFG_REALTIME_SENDER 0
#define WEIR_CFG_TX_OFFLOAD 0

#endif
