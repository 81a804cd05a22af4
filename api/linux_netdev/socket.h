// SPDX-License-Identifier: BSD-2-Clause
// What drivers of Linux 2.0 name of its socket headers: interface flags and requests, addresses, the network's order of
// bytes.
#ifndef LINUX_NETDEV_SOCKET_H
#define LINUX_NETDEV_SOCKET_H

#include <stdint.h>

#include "weir/language.h"

WEIR_BEGIN_DECLS

#define IFF_UP 0x1
#define IFF_BROADCAST 0x2
#define IFF_DEBUG 0x4
#define IFF_LOOPBACK 0x8
#define IFF_POINTOPOINT 0x10
#define IFF_NOTRAILERS 0x20
#define IFF_RUNNING 0x40
#define IFF_NOARP 0x80
#define IFF_PROMISC 0x100
#define IFF_ALLMULTI 0x200
#define IFF_MASTER 0x400
#define IFF_SLAVE 0x800
#define IFF_MULTICAST 0x1000
#define SIOCDEVPRIVATE 0x89f0  // and the 15 behind it: commands of a driver's do_ioctl
#define IFNAMSIZ 16

struct ifmap {
    unsigned long mem_start, mem_end;
    unsigned short base_addr;
    unsigned char irq, dma, port;
};

struct ifreq {
    union {
        char ifrn_name[IFNAMSIZ];
    } ifr_ifrn;
    union {
        struct {
            unsigned short sa_family;
            char sa_data[14];
        } address;
        short flags;
        int metric;
        struct ifmap map;
        char *data;
    } ifr_ifru;
};
#define ifr_name ifr_ifrn.ifrn_name
#define ifr_hwaddr ifr_ifru.address
#define ifr_addr ifr_ifru.address
#define ifr_flags ifr_ifru.flags
#define ifr_metric ifr_ifru.metric
#define ifr_map ifr_ifru.map
#define ifr_data ifr_ifru.data

static inline uint16_t linux_swap_16(uint16_t value) { return (uint16_t)(value << 8 | value >> 8); }
static inline uint32_t linux_swap_32(uint32_t value)
{
    return (uint32_t)linux_swap_16((uint16_t)value) << 16 | linux_swap_16((uint16_t)(value >> 16));
}
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
#define htons(value) ((uint16_t)(value))
#define htonl(value) ((uint32_t)(value))
#else
// Of a constant a constant, as a case's must be.
#define htons(value) \
    ((uint16_t)(__builtin_constant_p(value) ? ((value)&0xff) << 8 | ((value) >> 8 & 0xff) : linux_swap_16(value)))
#define htonl(value) \
    ((uint32_t)(__builtin_constant_p(value) ? ((value)&0xffu) << 24 | ((value)&0xff00u) << 8 | \
                                                  ((value) >> 8 & 0xff00u) | ((value) >> 24 & 0xffu) \
                                            : linux_swap_32(value)))
#endif
#define ntohs htons
#define ntohl htonl

WEIR_END_DECLS

#endif
