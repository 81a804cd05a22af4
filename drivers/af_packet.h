// SPDX-License-Identifier: BSD-2-Clause
// Linux packet socket: Weir on an existing Ethernet interface, beside Linux, with an Ethernet address of its own. Needs
// CAP_NET_RAW only, which everybody has inside a user namespace (unshare -Urn) on a veth pair made there: no root, no
// TAP. Give Linux no IP address on the interface that Weir uses. Use as tap.h shows.
//
// Measured over veth, 64 KB frames and small ones: reading by recv, recvmmsg or from a ring costs this machine the same
// in all (4 and 13 µs a frame). The ring of whole frames (TPACKET_V2) was taken: reading costs Weir a third less, an
// empty look nothing, and it is not bounded by net.core.rmem_max, which an ordinary user cannot raise and which holds
// five 64 KB frames. TPACKET_V3 costs less still with small frames, but hands them over a millisecond or more late.
#ifndef DRIVERS_AF_PACKET_H
#define DRIVERS_AF_PACKET_H

#include <stdbool.h>
#include <stdint.h>

#include "carrier.h"
#include "weir/language.h"
#include "weir/linkage/posix.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

enum af_packet_flag {
    // no offloads outward (a device that lacks them behind the interface); merged frames still arrive
    AF_PACKET_NO_VNET = 1,
    AF_PACKET_UP = 2,        // bring the interface up (needs CAP_NET_ADMIN)
    AF_PACKET_QDISC = 4,     // send through the interface's queueing discipline (tc) instead of past it
    AF_PACKET_SAME_MAC = 8,  // use the interface's own address, not one of Weir's own in promiscuous mode
};

struct af_packet_counters {
    uint64_t rx_too_long;  // frames cut by the ring's slots
    uint64_t rx_bad;       // frames whose virtio-net header contradicts them
    uint64_t rx_missed;    // frames Linux dropped because the ring was full
    uint64_t tx_refused;   // frames Linux would not take: too long, malformed
    uint64_t tx_down;      // frames sent while the interface was down
    uint64_t tx_full;      // times WEIR_TX_FULL was answered
};

struct af_packet {
    int fd;  // -1: closed
    bool vnet, blocked;
    uint8_t mac[6];
    uint8_t *ring;   // about 17 MB shared with Linux
    uint32_t slots;  // frames in it
    uint32_t at;     // next to be read
    uint64_t statistics_due_us;
    struct carrier carrier;
    struct af_packet_counters counters;
    char error[200];  // of the last open that failed
};

// Negative enum weir_error with a sentence in af_packet_error: WEIR_PERMISSION, WEIR_INVALID (no such interface, or not
// Ethernet), WEIR_NO_MEMORY, WEIR_NOT_SUPPORTED.
int af_packet_open(struct af_packet *packet, const char *ifname, unsigned flags);
const char *af_packet_error(const struct af_packet *packet);
void af_packet_attach(struct af_packet *packet, struct weir_netif *netif, const char *name);
int af_packet_fd(const struct af_packet *packet);
short af_packet_events(const struct af_packet *packet);
void af_packet_close(struct af_packet *packet);

WEIR_END_DECLS

#endif
