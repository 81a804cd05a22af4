// SPDX-License-Identifier: BSD-2-Clause
// lwIP as fast as its options make it on a 64-bit host: no threads, no statistics, no assertions, pools large enough
// never to run out, window scaling, and buffers of the size that was fastest here (see bench/README.md). Checksums are
// lwIP's own, made and verified.
#ifndef LWIPOPTS_H
#define LWIPOPTS_H

#define NO_SYS 1
#define SYS_LIGHTWEIGHT_PROT 0
#define LWIP_SOCKET 0
#define LWIP_NETCONN 0
#define LWIP_STATS 0
#define LWIP_NOASSERT 1

// What is not TCP over IPv4 over Ethernet is left out.
#define LWIP_UDP 0
#define LWIP_RAW 0
#define LWIP_DNS 0
#define LWIP_DHCP 0
#define LWIP_IGMP 0
#define LWIP_IPV6 0
#define IP_FRAG 0
#define IP_REASSEMBLY 0
#define LWIP_ICMP 1
#define LWIP_ARP 1
#define ETHARP_SUPPORT_STATIC_ENTRIES 0
#define ARP_TABLE_SIZE 8
#define ETHARP_TABLE_MATCH_NETIF 0
#define LWIP_NETIF_HWADDRHINT 1
#define ETH_PAD_SIZE 2  // the IP header 4-aligned

// Memory: lwIP's pools, and the C library's malloc for the rest.
#define MEM_ALIGNMENT 8
#define MEM_LIBC_MALLOC 1
#define MEMP_MEM_MALLOC 0
#define PBUF_POOL_SIZE 6000
#define PBUF_POOL_BUFSIZE 1536
#define MEMP_NUM_PBUF 6000
#define MEMP_NUM_TCP_SEG 8000
#define MEMP_NUM_TCP_PCB 30000
#define MEMP_NUM_TCP_PCB_LISTEN 8
#define MEMP_NUM_SYS_TIMEOUT 16

#define LWIP_TCP 1
#define TCP_MSS 1460
#define LWIP_WND_SCALE 1
#ifndef TCP_RCV_SCALE
#define TCP_RCV_SCALE 4
#endif
#ifndef TCP_WND
#define TCP_WND (512 * 1024)
#endif
#ifndef TCP_SND_BUF
#define TCP_SND_BUF (256 * 1024)
#endif
#ifndef TCP_SND_QUEUELEN
#define TCP_SND_QUEUELEN 2000
#endif
#define TCP_SNDLOWAT (32 * 1024)
#define TCP_SNDQUEUELOWAT (TCP_SND_QUEUELEN / 2)
#define TCP_LISTEN_BACKLOG 1
#define TCP_DEFAULT_LISTEN_BACKLOG 255
#define TCP_QUEUE_OOSEQ 1
#define LWIP_TCP_SACK_OUT 1
#define LWIP_TCP_TIMESTAMPS 0  // they cost 12 bytes a segment and save lwIP nothing

#define CHECKSUM_GEN_IP 1
#define CHECKSUM_GEN_TCP 1
#define CHECKSUM_CHECK_IP 1
#define CHECKSUM_CHECK_TCP 1
#define LWIP_CHKSUM_ALGORITHM 3

#endif
