// SPDX-License-Identifier: BSD-2-Clause
// What a compact build can be configured to.
#ifndef COMPACT_LIMITS_H
#define COMPACT_LIMITS_H

#include "weir/options.h"

// Without WEIR_CFG_COMPACT none of this is built.
#if WEIR_CFG_COMPACT
#if WEIR_CFG_ALLOCATOR || WEIR_CFG_VLAN || WEIR_CFG_ARP_CACHE || WEIR_CFG_FRAGMENTS || WEIR_CFG_LOOPBACK || \
    WEIR_CFG_ICMP_ERRORS || WEIR_CFG_IGMP || WEIR_CFG_UDP || WEIR_CFG_RAW || WEIR_CFG_HANDLERS
#error "WEIR_CFG_COMPACT has no ALLOCATOR, VLAN, ARP_CACHE, FRAGMENTS, LOOPBACK, ICMP_ERRORS, IGMP, UDP, RAW, HANDLERS"
#endif
#if WEIR_CFG_TCP_CONNECT || WEIR_CFG_TCP_WINDOW_SCALE || WEIR_CFG_TCP_TIMESTAMPS || WEIR_CFG_TCP_SACK || \
    WEIR_CFG_TCP_HELD || WEIR_CFG_TCP_URGENT || WEIR_CFG_TCP_KEEPALIVE || WEIR_CFG_TCP_SYN_COOKIES || \
    WEIR_CFG_TCP_INFO || WEIR_CFG_CC_CUBIC
#error \
    "WEIR_CFG_COMPACT has no CONNECT, WINDOW_SCALE, TIMESTAMPS, SACK, HELD, URGENT, KEEPALIVE, SYN_COOKIES, INFO, cubic"
#endif
#if WEIR_CFG_NETIFS != 1 || WEIR_CFG_LISTENERS < 1 || WEIR_CFG_SOCKETS <= WEIR_CFG_LISTENERS || WEIR_CFG_SOCKETS > 250
#error \
    "WEIR_CFG_COMPACT has one interface, and WEIR_CFG_SOCKETS counts a listener and a connection at least, 250 at most"
#endif
#if WEIR_CFG_TCP_SEND_BYTES > 65535 || WEIR_CFG_TCP_RECEIVE_BYTES > 65535 || WEIR_CFG_TCP_MSS_MAX > 1460
#error "WEIR_CFG_COMPACT has queues of 65535 bytes and segments of 1460 at most"
#endif
#if !WEIR_CFG_IP4 && (WEIR_CFG_TCP_MSS_MAX > 1220 || WEIR_CFG_OUTBOX_BYTES < 112)
#error "WEIR_CFG_COMPACT with IPv6 has segments of 1220 bytes at most, and an outbox of 112 at least"
#endif
#if !WEIR_CFG_IP4 && WEIR_CFG_COMPACT_UDP && \
    (WEIR_CFG_DATAGRAM_RECEIVE_BYTES > 1232 || WEIR_CFG_OUTBOX_BYTES < WEIR_CFG_DATAGRAM_RECEIVE_BYTES + 64)
#error "WEIR_CFG_COMPACT_UDP over IPv6 wants datagrams of 1232 bytes at most, an outbox for one and 64 bytes"
#endif
#if WEIR_CFG_COMPACT_UDP && (WEIR_CFG_DATAGRAM_SOCKETS < 1 || WEIR_CFG_DATAGRAM_RECEIVE_BYTES > 1472 || \
                             WEIR_CFG_OUTBOX_BYTES < WEIR_CFG_DATAGRAM_RECEIVE_BYTES + 44)
#error "WEIR_CFG_COMPACT_UDP wants a datagram socket, datagrams of 1472 bytes at most, an outbox for one and 44 bytes"
#endif
#if WEIR_CFG_IP4 && (WEIR_CFG_COMPACT_ADDRESS || WEIR_CFG_COMPACT_MLD1)
#error "WEIR_CFG_COMPACT_ADDRESS and WEIR_CFG_COMPACT_MLD1 are of IPv6; over IPv4 every address is given by hand"
#endif
#if WEIR_CFG_COMPACT_UDP && WEIR_CFG_SOCKETS + WEIR_CFG_DATAGRAM_SOCKETS > 250
#error "WEIR_CFG_COMPACT has 250 sockets at most"
#endif
#endif

#endif
