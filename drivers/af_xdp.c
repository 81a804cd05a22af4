// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "af_xdp.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <linux/if_packet.h>
#include <linux/if_xdp.h>
#include <net/if.h>
#include <sys/socket.h>
#include <unistd.h>

#include "weir/error.h"

#ifndef XDP_PKT_CONTD  // Linux 6.6
#define XDP_PKT_CONTD (1 << 0)
#endif
#define TX_METADATA (1u << 1)  // XDP_TX_METADATA, Linux 6.8
#define TX_CHECKSUM (1u << 1)  // XDP_TXMD_FLAGS_CHECKSUM
#define KICK_FRAMES 32u        // that Linux sends for one call, unless it is told otherwise
#define STATISTICS_US 1000000u
#define RETRY_US 1000u  // frames that Linux would not take now are offered again

// What is asked of the device lies just before the frame (struct xsk_tx_metadata).
struct metadata {
    uint64_t flags;
    uint16_t checksum_start, checksum_offset;
    uint32_t reserved;
    uint64_t launch_time;
};
_Static_assert(sizeof(struct metadata) <= XSK_TX_AT, "it fits before the frame");

static int fail(struct af_xdp *xdp, const char *what, const char *ifname, int reason)
{
    const char *advice = "this kernel lacks AF_XDP, or a part of it (it needs Linux 5.9)";
    int error = WEIR_NOT_SUPPORTED;
    switch (reason) {
    case EACCES:
    case EPERM:
        advice = "run as root";
        error = WEIR_PERMISSION;
        break;
    case ENODEV:
    case ENXIO:
        advice = "there is no such interface here";
        error = WEIR_INVALID;
        break;
    case EINVAL:
        advice = "it must be an Ethernet interface that has this queue";
        error = WEIR_INVALID;
        break;
    case EBUSY:
        advice = "another program has the queue, or an XDP program is there";
        error = WEIR_IN_USE;
        break;
    case ERANGE:
        advice = "its MTU, or its peer's, is more than its driver's XDP takes";
        error = WEIR_INVALID;
        break;
    case ENOBUFS:
    case ENOMEM:
        advice = "Linux has no memory for the frames";
        error = WEIR_NO_MEMORY;
        break;
    default: break;
    }
    snprintf(xdp->error, sizeof xdp->error, "%s %s: %s: %s", what, ifname, strerror(reason), advice);
    af_xdp_close(xdp);
    return error;
}

// The interface's filter lets all multicast through as long as this socket is open; it receives nothing itself.
static void ask_for_multicast(struct af_xdp *xdp, uint32_t ifindex)
{
    struct packet_mreq member = {.mr_ifindex = (int)ifindex, .mr_type = PACKET_MR_ALLMULTI};
    xdp->membership = socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0);
    (void)setsockopt(xdp->membership, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &member, sizeof member);
}

int af_xdp_open(struct af_xdp *xdp, const char *ifname, uint32_t queue, unsigned flags)
{
    memset(xdp, 0, sizeof *xdp);
    xdp->socket = (struct xsk){.fd = -1, .map = -1, .program = -1, .link = -1};
    xdp->carrier.socket = xdp->membership = -1;
    const uint32_t ifindex = strlen(ifname) < CARRIER_NAME_BYTES ? if_nametoindex(ifname) : 0;
    if (ifindex == 0)
        return fail(xdp, "interface", ifname, ENODEV);
    int reason = carrier_open(&xdp->carrier, ifname);
    if (reason == 0)
        reason = carrier_ethernet(&xdp->carrier, xdp->mac);
    if (reason == 0 && (flags & AF_XDP_UP))
        reason = carrier_raise(&xdp->carrier);
    if (reason != 0)
        return fail(xdp, "interface", ifname, reason);
    ask_for_multicast(xdp, ifindex);
    reason = xsk_open(&xdp->socket, ifindex, queue, carrier_mtu(&xdp->carrier), flags & AF_XDP_GENERIC);
    if (reason != 0)
        return fail(xdp, xdp->socket.step, ifname, reason);
    if (flags & AF_XDP_NO_OFFLOAD)
        xdp->socket.checksum = false;
    while (xdp->free_count < XSK_RING) {
        xdp->free[xdp->free_count] = (uint16_t)(XSK_RING + xdp->free_count);
        xdp->free_count++;
    }
    return WEIR_OK;
}

void af_xdp_close(struct af_xdp *xdp)
{
    xsk_close(&xdp->socket);
    if (xdp->membership >= 0)
        close(xdp->membership);
    xdp->membership = -1;
    carrier_close(&xdp->carrier);
}

const char *af_xdp_error(const struct af_xdp *xdp) { return xdp->error; }
int af_xdp_fd(const struct af_xdp *xdp) { return xdp->socket.fd; }

// --- out -------------------------------------------------------------------------------------------------------------
static void reclaim(struct af_xdp *xdp)
{
    struct xsk_ring *const ring = &xdp->socket.completion;
    for (uint32_t left = xsk_ring_filled(ring); left > 0; left--)
        xdp->free[xdp->free_count++] = (uint16_t)(xsk_ring_take(ring) / xdp->socket.frame_bytes);
    xsk_ring_release(ring);
}

static uint32_t unsent(const struct af_xdp *xdp) { return XSK_RING - xsk_ring_room(&xdp->socket.tx); }

// Linux sends from the ring when it is called, some frames a call; what it will not take now is offered again.
static void kick(struct af_xdp *xdp)
{
    const uint32_t calls = unsent(xdp) / KICK_FRAMES + 1;
    for (uint32_t i = 0, left; i < calls && (left = unsent(xdp)) > 0; i++) {
        if (sendto(xdp->socket.fd, NULL, 0, MSG_DONTWAIT, NULL, 0) >= 0 || errno == EINTR)
            continue;
        if (errno == ENETDOWN || errno == ENXIO || errno == ENODEV)
            carrier_doubt(&xdp->carrier);
        if (errno != EAGAIN || unsent(xdp) == left)
            return;
    }
}

static enum weir_tx_verdict drop(struct weir_netif *netif, uint64_t *counter)
{
    ++*counter;
    netif->stats.tx_dropped++;
    return WEIR_TX_DONE;
}

static void ask(const struct af_xdp *xdp, uint8_t *frame, const struct weir_tx *tx, struct xdp_desc *entry)
{
    if (tx->checksum_start == 0 || !xdp->socket.checksum)
        return;
    const struct metadata metadata = {
        .flags = TX_CHECKSUM, .checksum_start = tx->checksum_start, .checksum_offset = tx->checksum_offset};
    memcpy(frame - sizeof metadata, &metadata, sizeof metadata);
    entry->options |= TX_METADATA;
}

struct cursor {  // into the slices of a frame to be sent
    const struct weir_slice *slice;
    uint32_t taken;  // bytes of it
};

static void copy_from(struct cursor *from, uint8_t *to, uint32_t bytes)
{
    while (bytes > 0) {
        const uint32_t left = from->slice->length - from->taken, part = left < bytes ? left : bytes;
        memcpy(to, from->slice->data + from->taken, part);
        to += part;
        bytes -= part;
        from->taken += part;
        if (from->taken == from->slice->length)
            *from = (struct cursor){from->slice + 1, 0};
    }
}

static enum weir_tx_verdict xdp_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct af_xdp *const xdp = netif->driver_data;
    struct xsk *const socket = &xdp->socket;
    const uint32_t room = socket->frame_bytes - XSK_TX_AT, frames = (tx->length + room - 1) / room;
    if (!xdp->carrier.up)
        return drop(netif, &xdp->counters.tx_down);
    if (frames > (socket->many ? XSK_PACKET_FRAMES : 1u))
        return drop(netif, &xdp->counters.tx_refused);
    if (xdp->free_count < frames || xsk_ring_room(&socket->tx) < frames) {
        kick(xdp);
        reclaim(xdp);
        if (xdp->free_count < frames || xsk_ring_room(&socket->tx) < frames) {
            xdp->blocked = true;
            xdp->counters.tx_full++;
            return WEIR_TX_FULL;
        }
    }
    struct cursor from = {tx->slices, 0};
    for (uint32_t left = tx->length; left > 0;) {
        const uint64_t address = (uint64_t)xdp->free[--xdp->free_count] * socket->frame_bytes + XSK_TX_AT;
        struct xdp_desc *const entry = &((struct xdp_desc *)socket->tx.entries)[socket->tx.at++ % XSK_RING];
        *entry = (struct xdp_desc){.addr = address, .len = left < room ? left : room};
        copy_from(&from, socket->memory + address, entry->len);
        if (left == tx->length)
            ask(xdp, socket->memory + address, tx, entry);
        left -= entry->len;
        if (left > 0)
            entry->options |= XDP_PKT_CONTD;
    }
    xsk_ring_publish(&socket->tx);
    return WEIR_TX_DONE;
}

static void xdp_flush(struct weir_netif *netif)
{
    struct af_xdp *const xdp = netif->driver_data;
    kick(xdp);
    reclaim(xdp);
}

// --- in --------------------------------------------------------------------------------------------------------------
// The ring's entries of the next packet; 0: it is not there yet, or not whole.
static uint32_t packet_entries(const struct xsk_ring *rx)
{
    const struct xdp_desc *const entries = rx->entries;
    const uint32_t filled = xsk_ring_filled(rx);
    for (uint32_t i = 0; i < filled; i++)
        if (!(entries[(rx->at + i) % XSK_RING].options & XDP_PKT_CONTD))
            return i + 1;
    return 0;
}

static bool deliver(struct af_xdp *xdp, struct weir_netif *netif, uint32_t count)
{
    const struct xsk *const socket = &xdp->socket;
    const struct xdp_desc *const entries = socket->rx.entries;
    const uint64_t end = (uint64_t)XSK_RING * socket->frame_bytes;
    struct weir_slice slices[XSK_PACKET_FRAMES];
    struct weir_frame frame = {.slices = slices, .count = (uint16_t)count, .checksum = WEIR_CHECKSUM_NONE};
    bool good = count <= XSK_PACKET_FRAMES;
    for (uint32_t i = 0; i < count && good; i++) {
        const struct xdp_desc *const entry = &entries[(socket->rx.at + i) % XSK_RING];
        good = entry->len > 0 && entry->addr < end && entry->len <= end - entry->addr;
        slices[i] = (struct weir_slice){socket->memory + entry->addr, entry->len};
        frame.length += entry->len;
    }
    if (good) {
        weir_netif_deliver(netif, &frame);
        return true;
    }
    xdp->counters.rx_bad++;
    netif->stats.rx_dropped++;
    return false;
}

// The frames of a packet go back to be filled again.
static void give_back(struct xsk *socket, uint32_t count)
{
    const struct xdp_desc *const entries = socket->rx.entries;
    for (uint32_t i = 0; i < count; i++) {
        const uint64_t address = entries[socket->rx.at++ % XSK_RING].addr;
        if (address < (uint64_t)XSK_RING * socket->frame_bytes)
            xsk_ring_put(&socket->fill, address - address % socket->frame_bytes);
    }
}

static int xdp_poll(struct weir_netif *netif, int budget)
{
    struct af_xdp *const xdp = netif->driver_data;
    struct xsk *const socket = &xdp->socket;
    int delivered = 0;
    if (xdp->blocked) {
        xdp_flush(netif);
        if (xdp->free_count >= XSK_PACKET_FRAMES && xsk_ring_room(&socket->tx) >= XSK_PACKET_FRAMES) {
            xdp->blocked = false;
            weir_netif_ready(netif);
        }
    }
    const uint32_t before = socket->rx.at;
    for (uint32_t count; delivered < budget && (count = packet_entries(&socket->rx)) > 0;) {
        delivered += deliver(xdp, netif, count);
        give_back(socket, count);
    }
    if (socket->rx.at != before) {
        xsk_ring_release(&socket->rx);
        xsk_ring_publish(&socket->fill);
    }
    // A device that reads the memory itself may have stopped for want of frames to fill.
    if (__atomic_load_n(socket->fill.flags, __ATOMIC_RELAXED) & XDP_RING_NEED_WAKEUP)
        (void)recvfrom(socket->fd, NULL, 0, MSG_DONTWAIT, NULL, NULL);
    return delivered;
}

static void statistics(struct af_xdp *xdp, struct weir_netif *netif)
{
    struct xdp_statistics now = {0};
    socklen_t size = sizeof now;
    if (getsockopt(xdp->socket.fd, SOL_XDP, XDP_STATISTICS, &now, &size) < 0)
        return;
    // A frame that found the receive ring full or no frame to fill is counted as dropped by some kernels, too.
    const uint64_t missed = now.rx_ring_full > now.rx_dropped ? now.rx_ring_full : now.rx_dropped;
    xdp->counters.rx_missed += missed - xdp->missed_before;
    netif->stats.rx_dropped += (uint32_t)(missed - xdp->missed_before);
    xdp->counters.tx_refused += now.tx_invalid_descs - xdp->refused_before;
    xdp->missed_before = missed;
    xdp->refused_before = now.tx_invalid_descs;
}

static uint64_t xdp_timer(struct weir_netif *netif, uint64_t now_us)
{
    struct af_xdp *const xdp = netif->driver_data;
    if (now_us >= xdp->statistics_due_us) {
        statistics(xdp, netif);
        xdp->statistics_due_us = now_us + STATISTICS_US;
    }
    if (unsent(xdp) > 0 && xdp->carrier.up)
        xdp_flush(netif);
    uint64_t due_us = carrier_timer(&xdp->carrier, netif, now_us);
    if (xdp->statistics_due_us < due_us)
        due_us = xdp->statistics_due_us;
    const bool again = unsent(xdp) > 0 && xdp->carrier.up;
    return again && now_us + RETRY_US < due_us ? now_us + RETRY_US : due_us;
}

static const struct weir_driver xdp_driver = {
    .name = "af_xdp",
    .tx = xdp_tx,
    .flush = xdp_flush,
    .poll = xdp_poll,
    .timer = xdp_timer,
};

void af_xdp_attach(struct af_xdp *xdp, struct weir_netif *netif, const char *name)
{
    weir_netif_init(netif, name, &xdp_driver, &weir_link_ethernet);
    const uint16_t mtu = carrier_mtu(&xdp->carrier);
    netif->driver_data = xdp;
    if (mtu != 0)
        netif->mtu = mtu;
    netif->capabilities |= WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST;
    if (xdp->socket.checksum)
        netif->capabilities |= WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TX_CHECKSUM6;
    memcpy(netif->mac, xdp->mac, sizeof netif->mac);
}
