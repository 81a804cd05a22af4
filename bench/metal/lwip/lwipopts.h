// SPDX-License-Identifier: BSD-2-Clause
// lwIP as small as its options make it for what tiny_echo does, too: one listener, one connection, MSS 536, two
// segments each way; ARP, IPv4, ICMP echo, TCP. No out-of-order queue, SACK, UDP, fragments; no threads, no statistics,
// no assertions, no dynamic timers.
#ifndef LWIPOPTS_H
#define LWIPOPTS_H

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_SOCKET 0
#define LWIP_NETCONN 0
#define LWIP_STATS 0
#define LWIP_NOASSERT 1
#define LWIP_TIMERS 0  // echo.c calls them itself

#define LWIP_UDP 0
#define LWIP_RAW 0
#define LWIP_DNS 0
#define LWIP_DHCP 0
#define LWIP_IGMP 0
#define LWIP_IPV6 0
#define IP_FRAG 0
#define IP_REASSEMBLY 0
#define IP_FORWARD 0
#define IP_OPTIONS_ALLOWED 0
#define LWIP_MULTICAST_TX_OPTIONS 0
#define LWIP_ICMP 1
#define LWIP_BROADCAST_PING 0
#define LWIP_MULTICAST_PING 0
#define LWIP_ARP 1
#define ARP_TABLE_SIZE 2
#define ARP_QUEUEING 0
#define ETHARP_SUPPORT_STATIC_ENTRIES 0
#define ETHARP_TABLE_MATCH_NETIF 0
#define LWIP_SINGLE_NETIF 1
#define LWIP_NETIF_STATUS_CALLBACK 0
#define LWIP_NETIF_LINK_CALLBACK 0
#define LWIP_NETIF_TX_SINGLE_PBUF 0
#define ETH_PAD_SIZE 2  // the IP header on a word

// Memory for the two segments of the receive window while the send queue is full, for an acknowledgement then and one
// more frame; for the two segments of the send queue with their headers, and an acknowledgement of our own.
#define MEM_ALIGNMENT 4
#define PBUF_POOL_SIZE 4
#define PBUF_POOL_BUFSIZE 596
#define MEM_SIZE 1536
#define MEMP_NUM_PBUF 1
#define MEMP_NUM_TCP_SEG 4
#define MEMP_NUM_TCP_PCB 1
#define MEMP_NUM_TCP_PCB_LISTEN 1

#define LWIP_TCP 1
#define TCP_MSS 536
#define TCP_WND (2 * TCP_MSS)
#define TCP_SND_BUF (2 * TCP_MSS)
#define TCP_SND_QUEUELEN 4
#define TCP_SNDLOWAT 536
#define TCP_SNDQUEUELOWAT 1
#define TCP_OVERSIZE 0
#define TCP_LISTEN_BACKLOG 0
#define TCP_QUEUE_OOSEQ 0
#define LWIP_TCP_SACK_OUT 0
#define LWIP_TCP_TIMESTAMPS 0
#define LWIP_TCP_KEEPALIVE 0
#define LWIP_WND_SCALE 0

#define CHECKSUM_GEN_IP 1
#define CHECKSUM_GEN_TCP 1
#define CHECKSUM_CHECK_IP 1
#define CHECKSUM_CHECK_TCP 1
#ifndef LWIP_CHKSUM  // bench_metal.mk names the Cortex-M3's own for one of the images
#define LWIP_CHKSUM_ALGORITHM 3
#endif

#endif
