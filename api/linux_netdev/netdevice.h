// SPDX-License-Identifier: BSD-2-Clause
// Network devices as a driver of Linux 2.0 knows them: it fills in struct device, hands received packets to netif_rx,
// and gets packets to send by hard_start_xmit.
#ifndef LINUX_NETDEV_NETDEVICE_H
#define LINUX_NETDEV_NETDEVICE_H

#include "api/linux_netdev/skbuff.h"
#include "api/linux_netdev/socket.h"
#include "api/linux_netdev/types.h"
#include "weir/language.h"

WEIR_BEGIN_DECLS

#define HAVE_ALLOC_SKB
#define HAVE_NETIF_RX
#define HAVE_MULTICAST
#define HAVE_SET_MAC_ADDR
#define HAVE_PRIVATE_IOCTL
#define HAVE_SET_CONFIG
#define HAVE_CHANGE_MTU
#define MAX_ADDR_LEN 7
#define ETH_ALEN 6
#define ETH_HLEN 14
#define ETH_ZLEN 60
#define ETH_DATA_LEN 1500
#define ETH_FRAME_LEN 1514
#define ETH_P_802_3 0x0001
#define ETH_P_ALL 0x0003
#define ETH_P_802_2 0x0004
#define ETH_P_IP 0x0800
#define ETH_P_ARP 0x0806
#define ETH_P_IPX 0x8137
#define ETH_P_IPV6 0x86dd
#define ARPHRD_ETHER 1
enum { PACKET_HOST, PACKET_BROADCAST, PACKET_MULTICAST, PACKET_OTHERHOST };
#define NET_BH 8

struct ethhdr {
    unsigned char h_dest[ETH_ALEN], h_source[ETH_ALEN];
    unsigned short h_proto;
};

struct enet_statistics {
    int rx_packets, tx_packets, rx_errors, tx_errors, rx_dropped, tx_dropped, multicast, collisions;
    int rx_length_errors, rx_over_errors, rx_crc_errors, rx_frame_errors, rx_fifo_errors, rx_missed_errors;
    int tx_aborted_errors, tx_carrier_errors, tx_fifo_errors, tx_heartbeat_errors, tx_window_errors;
};
#define net_device_stats enet_statistics

struct dev_mc_list {
    struct dev_mc_list *next;
    char dmi_addr[MAX_ADDR_LEN];
    unsigned short dmi_addrlen, dmi_users;
};

struct linux_queue {  // of packets
    struct sk_buff *first, *last;
    unsigned count;
};

// The first twelve stand in Linux's order, since drivers initialise them by place.
struct device {
    char *name;
    unsigned long rmem_end, rmem_start, mem_end, mem_start;
    unsigned long base_addr;
    unsigned char irq;
    volatile unsigned char start, interrupt;
    unsigned long tbusy;  // a bit set (set_bit); while it is not 0 hard_start_xmit is not called, but for a timeout
    struct device *next;
    int (*init)(struct device *dev);
    unsigned char if_port, dma;
    struct enet_statistics *(*get_stats)(struct device *dev);
    unsigned long trans_start, last_rx;  // jiffies
    unsigned short flags, family, metric, mtu, type, hard_header_len;
    void *priv;
    unsigned char broadcast[MAX_ADDR_LEN], pad, dev_addr[MAX_ADDR_LEN], addr_len;
    unsigned long pa_addr, pa_brdaddr, pa_dstaddr, pa_mask;  // 0: the stack has the addresses
    unsigned short pa_alen;
    struct dev_mc_list *mc_list;  // empty: the environment asks for all multicast, by IFF_ALLMULTI
    int mc_count;
    unsigned tx_queue_len;
    int (*open)(struct device *dev);
    int (*stop)(struct device *dev);
    int (*hard_start_xmit)(struct sk_buff *skb, struct device *dev);  // not 0: not taken, to be tried again
    void (*set_multicast_list)(struct device *dev);
    // The environment never calls these; a program may.
    int (*set_mac_address)(struct device *dev, void *address);
    int (*do_ioctl)(struct device *dev, struct ifreq *request, int command);
    int (*set_config)(struct device *dev, struct ifmap *map);
    int (*change_mtu)(struct device *dev, int mtu);
    // The environment's: what waits for the stack, and for the device.
    struct linux_queue received, sending;
    struct weir_netif *netif;  // NULL: not attached
    volatile int waiting;      // the stack had more than `sending` takes
};

extern struct device *dev_base;  // all, in the order of their coming

// Names a device and sets it up for Ethernet; `dev` NULL: a new one, with as much memory of its own. NULL: no memory.
struct device *init_etherdev(struct device *dev, int sizeof_priv);
void ether_setup(struct device *dev);
int register_netdev(struct device *dev);  // calls its init; -EIO: that did not return 0
void unregister_netdev(struct device *dev);
// Takes the Ethernet header off a received packet: its protocol, and for whom it is.
unsigned short eth_type_trans(struct sk_buff *skb, struct device *dev);
void netif_rx(struct sk_buff *skb);  // the packet is the environment's then
void mark_bh(int number);            // NET_BH: there are packets for the stack, or room for more to send
static inline void dev_tint(struct device *dev)
{
    (void)dev;
    mark_bh(NET_BH);
}

WEIR_END_DECLS

#endif
