// SPDX-License-Identifier: BSD-2-Clause
// Linux AF_XDP: Weir takes a whole queue of an Ethernet interface, before Linux has made a packet of a frame. Needs
// root, Linux 5.9. The interface keeps its address, which is Weir's from then on: give Linux no IP address on it. What
// other queues receive stays Linux's, so an interface should have one (`ethtool -L IFNAME combined 1`). Use as tap.h
// shows.
//
// Received frames bring no word on their checksums, so Weir verifies them all. The other end of a veth pair leaves them
// unfinished unless it is told otherwise: `ethtool -K PEER tx off`. Outward Linux completes checksums (from 6.8 on);
// there is no cutting of large segments. Where the device can, it reads and writes the frames' memory itself; veth and
// TAP copy.
#ifndef DRIVERS_AF_XDP_H
#define DRIVERS_AF_XDP_H

#include <stdbool.h>
#include <stdint.h>

#include "carrier.h"
#include "weir/language.h"
#include "weir/linkage/posix.h"
#include "weir/netif.h"
#include "xsk.h"

WEIR_BEGIN_DECLS

enum af_xdp_flag {
    AF_XDP_NO_OFFLOAD = 1,  // checksums are complete when they leave
    AF_XDP_UP = 2,          // bring the interface up
    AF_XDP_GENERIC = 4,     // the program runs in Linux's general code: for drivers that know no XDP, or know it badly
};

struct af_xdp_counters {
    uint64_t rx_missed;   // frames Linux dropped because a ring was full or empty
    uint64_t rx_bad;      // packets of more pieces than a frame of Weir's has, or outside the memory
    uint64_t tx_refused;  // frames longer than a packet may be, or descriptors Linux would not take
    uint64_t tx_down;     // frames sent while the interface was down
    uint64_t tx_full;     // times WEIR_TX_FULL was answered
};

// The memory shared with Linux is 8 MB, 16 where a packet exceeds 1,772 bytes.
struct af_xdp {
    struct xsk socket;
    int membership;  // the socket that asks the interface for all multicast; -1: closed
    bool blocked;
    uint8_t mac[6];
    uint32_t free_count;  // frames that may be sent from
    uint16_t free[XSK_RING];
    uint64_t statistics_due_us;
    uint64_t missed_before, refused_before;  // Linux's counts when they were last read
    struct carrier carrier;
    struct af_xdp_counters counters;
    char error[200];  // of the last open that failed
};

// Negative enum weir_error with a sentence in af_xdp_error: WEIR_PERMISSION, WEIR_INVALID (no such interface or queue,
// or not Ethernet), WEIR_IN_USE (also for a moment after another was closed), WEIR_NO_MEMORY, WEIR_NOT_SUPPORTED.
int af_xdp_open(struct af_xdp *xdp, const char *ifname, uint32_t queue, unsigned flags);
const char *af_xdp_error(const struct af_xdp *xdp);
void af_xdp_attach(struct af_xdp *xdp, struct weir_netif *netif, const char *name);
int af_xdp_fd(const struct af_xdp *xdp);
void af_xdp_close(struct af_xdp *xdp);

WEIR_END_DECLS

#endif
