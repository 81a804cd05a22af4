// SPDX-License-Identifier: BSD-2-Clause
// The virtio-net header that Linux' TAP, TUN and packet sockets put before each frame: 10 bytes in the machine's own
// byte order (Virtual I/O Device specification 1.2, §5.1.6). It carries what a network card's offloads would: a
// checksum still to be computed, a large segment still to be cut, or several segments already merged.
#ifndef DRIVERS_VNET_H
#define DRIVERS_VNET_H

#include <stdbool.h>
#include <stdint.h>

#include "weir/language.h"
#include "weir/linkage/posix.h"
#include "weir/netif.h"

WEIR_BEGIN_DECLS

// Linux's <linux/virtio_net.h> declares it; that header is not C++, so those who look inside include it themselves.
struct virtio_net_hdr;
// Newer than some systems' headers: UDP segmentation (Linux 6.2).
#ifndef VIRTIO_NET_HDR_GSO_UDP_L4
#define VIRTIO_NET_HDR_GSO_UDP_L4 5
#endif

#define VNET_HEADER_BYTES 10u
// The largest frame Linux hands over: an Ethernet header with one tag and 65,535 bytes of IPv4 packet. One byte more
// tells a frame that fits exactly from one that was cut.
#define VNET_FRAME_BYTES (18u + 65535u)

// Describes to Linux what it shall still do to `tx`.
void vnet_from_tx(struct virtio_net_hdr *header, const struct weir_tx *tx);
// Delivers the frame of `length` bytes at `bytes` (the driver's memory, which may be overwritten) with what `header`
// says of it. Returns the frames delivered: 1, more for merged datagrams (cut again here, for the stack could not see
// their bounds), or 0: the header contradicts the frame, which is dropped.
int vnet_deliver(struct weir_netif *netif, const struct virtio_net_hdr *header, uint8_t *bytes, uint32_t length);

WEIR_END_DECLS

#endif
