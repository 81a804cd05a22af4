// SPDX-License-Identifier: BSD-2-Clause
// A data logger: one long connection whose send queue outlasts a short loss of the link, and syslog over UDP.
// Parts beside the stack: superloop loop syslog tftp
#ifndef WEIR_RECIPE_LOGGER_H
#define WEIR_RECIPE_LOGGER_H

#define WEIR_PROFILE_SMALL
#define WEIR_CFG_SOCKETS 4
#define WEIR_CFG_TCP_CONNECTIONS 1
#define WEIR_CFG_DATAGRAM_SOCKETS 3  // syslog, TFTP, DHCP
#define WEIR_CFG_LISTENERS 1         // the least; it opens none
#define WEIR_CFG_TCP_SEND_BYTES 32768
#define WEIR_CFG_TCP_RECEIVE_BYTES 2048
#define WEIR_CFG_DATAGRAM_SEND_BYTES 2100     // a message of syslog
#define WEIR_CFG_DATAGRAM_RECEIVE_BYTES 1600  // a block of TFTP
#define WEIR_CFG_NETIFS 1
#define WEIR_CFG_ROUTES 2
#define WEIR_CFG_NEIGHBOURS 4
#define WEIR_CFG_NEIGHBOUR_STRANGERS 2
#define WEIR_CFG_FRAGMENTS 0
#define WEIR_CFG_TCP_TIME_WAIT 2
#define WEIR_CFG_TCP_HALF_OPEN 1
#define WEIR_CFG_TCP_KEEPALIVE 1
#define WEIR_CFG_REALTIME 0
#define WEIR_CFG_REALTIME_SENDER 0

#endif
