// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE  // struct ifreq, EBADFD
#include "tuntap.h"

#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <sys/ioctl.h>
#include <sys/uio.h>
#include <unistd.h>

#include "weir/error.h"

#ifndef TUN_F_USO4  // newer than some systems' headers (Linux 6.2)
#define TUN_F_USO4 0x20
#define TUN_F_USO6 0x40
#endif

#define DEVICE "/dev/net/tun"
// frames of a batch that Linux has no memory for are tried again
#define RETRY_US 1000u
#define FRAME_AT 32u                                         // leaves room for the virtio-net header before it
#define SLICES_MAX (WEIR_FRAME_SLICES + WEIR_CFG_TX_SLICES)  // also of a forwarded frame

// Says in io->error why `what` failed, and answers with the error a caller can act on.
static int fail(struct tuntap *io, const char *what, const char *ifname, int reason)
{
    const char *advice;
    int error = WEIR_INVALID;
    switch (reason) {
    case EACCES:
    case EPERM:
        advice = "run as root, let root make it with `ip tuntap add ... user YOU`, or use a packet socket in a user "
                 "namespace";
        error = WEIR_PERMISSION;
        break;
    case ENOENT:
    case ENXIO:
    case ENODEV:
        advice = "this kernel offers no TUN/TAP device here; use a packet socket";
        error = WEIR_NOT_SUPPORTED;
        break;
    case EBUSY:
        advice = "another program has it open";
        error = WEIR_IN_USE;
        break;
    case EINVAL: advice = "an interface of that name and another kind exists; choose another name, or delete it"; break;
    default:
        advice = "see the system's log";
        error = reason == ENOMEM || reason == EMFILE || reason == ENFILE ? WEIR_NO_MEMORY : WEIR_NOT_SUPPORTED;
        break;
    }
    snprintf(io->error, sizeof io->error, "%s %s: %s: %s", what, ifname, strerror(reason), advice);
    tuntap_close(io);
    return error;
}

// What Linux may hand over unfinished. Merged UDP is not asked for on the way in: its bounds would be lost. Whether
// Linux cuts it on the way out shows in its taking the flag at all.
static int set_offloads(struct tuntap *io)
{
    unsigned long wanted = TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6 | TUN_F_TSO_ECN;
    io->uso = ioctl(io->fd, TUNSETOFFLOAD, wanted | TUN_F_USO4 | TUN_F_USO6) == 0;
    if (ioctl(io->fd, TUNSETOFFLOAD, wanted) == 0)
        return 0;
    return ioctl(io->fd, TUNSETOFFLOAD, TUN_F_CSUM) < 0 ? errno : 0;
}

int tuntap_open(struct tuntap *io, const char *ifname, unsigned flags)
{
    memset(io, 0, offsetof(struct tuntap, buffer));
    io->fd = -1;
    io->carrier.socket = -1;
    if (strlen(ifname) >= IFNAMSIZ)
        return fail(io, "interface", ifname, EINVAL);
    io->fd = open(DEVICE, O_RDWR | O_NONBLOCK | O_CLOEXEC);
    if (io->fd < 0)
        return fail(io, "open", DEVICE, errno);

    struct ifreq request;
    memset(&request, 0, sizeof request);
    strncpy(request.ifr_name, ifname, sizeof request.ifr_name - 1);
    io->vnet = !(flags & TUNTAP_NO_VNET);
    request.ifr_flags = (short)((flags & TUNTAP_ETHERNET ? IFF_TAP : IFF_TUN) | IFF_NO_PI |
                                (io->vnet ? IFF_VNET_HDR : 0) | (flags & TUNTAP_QUEUES ? IFF_MULTI_QUEUE : 0));
    if (ioctl(io->fd, TUNSETIFF, &request) < 0)
        return fail(io, "interface", ifname, errno);
    int size = (int)VNET_HEADER_BYTES;
    int reason = io->vnet && ioctl(io->fd, TUNSETVNETHDRSZ, &size) < 0 ? errno : 0;
    if (reason == 0 && io->vnet)
        reason = set_offloads(io);
    else if (reason == 0 && ioctl(io->fd, TUNSETOFFLOAD, 0ul) < 0)  // a persistent interface may remember another's
        reason = errno;
    if (reason == 0)
        reason = carrier_open(&io->carrier, request.ifr_name);
    if (reason == 0 && (flags & TUNTAP_UP))
        reason = carrier_raise(&io->carrier);
    if (reason == 0)
        (void)uring_open(&io->ring);
    return reason == 0 ? WEIR_OK : fail(io, "interface", request.ifr_name, reason);
}

// What nobody has flushed does not leave any more.
void tuntap_close(struct tuntap *io)
{
    uring_close(&io->ring);
    io->waiting = 0;
    if (io->fd >= 0)
        close(io->fd);
    io->fd = -1;
    carrier_close(&io->carrier);
}

short tuntap_events(const struct tuntap *io)
{
    if (io->dead)
        return 0;
    return (short)(io->blocked ? POLLIN | POLLOUT : POLLIN);
}

void tuntap_attach(struct tuntap *io, struct weir_netif *netif)
{
    uint16_t mtu = carrier_mtu(&io->carrier);
    netif->driver_data = io;
    if (mtu != 0)
        netif->mtu = mtu;
    if (io->vnet)
        netif->capabilities |= WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TSO4 | WEIR_NETIF_TX_CHECKSUM6 | WEIR_NETIF_TSO6;
    if (io->uso)
        netif->capabilities |= WEIR_NETIF_USO4;
}

// The interface was deleted. Its descriptor would say so for ever, and whoever sleeps on it would not sleep: an idle
// socket takes its place.
static void bury(struct tuntap *io)
{
    io->dead = true;
    dup2(io->carrier.socket, io->fd);
    carrier_doubt(&io->carrier);
}

// A frame did not leave. Only "try again" keeps it; everything else ends it here, so that no frame can block those
// behind it.
static enum weir_tx_verdict not_sent(struct tuntap *io, struct weir_netif *netif, int reason)
{
    switch (reason) {
    case EAGAIN:
    case ENOBUFS:
    case ENOMEM: io->blocked = true; return WEIR_TX_FULL;
    case EIO:  // Linux' side is down
    case ENETDOWN:
        io->counters.tx_down++;
        carrier_doubt(&io->carrier);
        break;
    case EBADFD:
        io->counters.tx_down++;
        bury(io);
        break;
    default: io->counters.tx_refused++; break;
    }
    netif->stats.tx_dropped++;
    return WEIR_TX_DONE;
}

static enum weir_tx_verdict full(struct tuntap *io)
{
    io->counters.tx_full++;
    return WEIR_TX_FULL;
}

static enum weir_tx_verdict write_one(struct tuntap *io, struct weir_netif *netif, const struct uring_write *one)
{
    ssize_t written;
    if (io->dead)
        return not_sent(io, netif, EBADFD);
    do {
        written = write(io->fd, one->data, one->bytes);
    } while (written < 0 && errno == EINTR);
    return written < 0 ? not_sent(io, netif, errno) : WEIR_TX_DONE;
}

// Of the batch's frames number i is to be tried again.
static void keep(struct tuntap *io, uint32_t i, uint32_t *kept)
{
    if (*kept != i) {
        memcpy(io->batch[*kept], io->batch[i], io->writes[i].bytes);
        io->writes[*kept].bytes = io->writes[i].bytes;
    }
    ++*kept;
}

// What the batch holds; what has to wait stays, in order. A single frame costs less by write(2).
static void send_batch(struct tuntap *io, struct weir_netif *netif)
{
    const bool one_call = io->waiting > 1 && !io->dead && uring_is_open(&io->ring);
    uint32_t kept = 0;
    if (one_call) {
        io->counters.tx_batches++;
        if (!uring_writes(&io->ring, io->fd, io->writes, io->waiting))
            uring_close(&io->ring);
    }
    for (uint32_t i = 0; i < io->waiting; i++) {
        const int32_t result = io->writes[i].result;
        const bool later = one_call ? result < 0 && not_sent(io, netif, -result) == WEIR_TX_FULL
                                    : kept || write_one(io, netif, &io->writes[i]) == WEIR_TX_FULL;
        if (later)
            keep(io, i, &kept);
    }
    io->waiting = kept;
}

void tuntap_flush(struct weir_netif *netif)
{
    struct tuntap *io = netif->driver_data;
    if (io->waiting)
        send_batch(io, netif);
}

// Linux takes one piece for less than it takes several; also, the bytes need not stay where they are.
static enum weir_tx_verdict transmit_flat(struct tuntap *io, struct weir_netif *netif, const struct weir_tx *tx)
{
    uint8_t *const flat = io->batch[io->waiting];
    size_t length = 0;
    if (io->vnet) {
        struct virtio_net_hdr header;
        vnet_from_tx(&header, tx);
        memcpy(flat, &header, sizeof header);
        length = sizeof header;
    }
    for (uint16_t i = 0; i < tx->count; i++) {
        memcpy(flat + length, tx->slices[i].data, tx->slices[i].length);
        length += tx->slices[i].length;
    }
    struct uring_write *const one = &io->writes[io->waiting];
    *one = (struct uring_write){.data = flat, .bytes = (uint32_t)length};
    if (!uring_is_open(&io->ring) && !io->waiting)
        return write_one(io, netif, one) == WEIR_TX_FULL ? full(io) : WEIR_TX_DONE;
    io->waiting++;
    return WEIR_TX_DONE;
}

enum weir_tx_verdict tuntap_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct tuntap *io = netif->driver_data;
    struct virtio_net_hdr header;
    struct iovec parts[1 + SLICES_MAX];
    int count = 0;
    if (io->dead || tx->count > SLICES_MAX)
        return not_sent(io, netif, io->dead ? EBADFD : EMSGSIZE);
    if (io->waiting && (io->waiting == URING_WRITES || tx->length > TUNTAP_FLAT_BYTES)) {
        send_batch(io, netif);
        if (io->waiting)  // in order
            return full(io);
    }
    if (tx->length <= TUNTAP_FLAT_BYTES)
        return transmit_flat(io, netif, tx);
    if (io->vnet) {
        vnet_from_tx(&header, tx);
        parts[count++] = (struct iovec){&header, sizeof header};
    }
    for (uint16_t i = 0; i < tx->count; i++)
        parts[count++] = (struct iovec){(void *)tx->slices[i].data, tx->slices[i].length};
    ssize_t written;
    do {
        written = writev(io->fd, parts, count);
    } while (written < 0 && errno == EINTR);
    return written < 0 && not_sent(io, netif, errno) == WEIR_TX_FULL ? full(io) : WEIR_TX_DONE;
}

// Hands up what read() put at `start`. Returns the frames delivered; 0: it was none.
static int deliver(struct tuntap *io, struct weir_netif *netif, uint8_t *start, size_t bytes, size_t room)
{
    size_t prefix = io->vnet ? VNET_HEADER_BYTES : 0;
    if (bytes <= prefix || bytes == room) {
        if (bytes == room)
            io->counters.rx_too_long++;
        else
            io->counters.rx_bad++;
        netif->stats.rx_dropped++;
        return 0;
    }
    struct virtio_net_hdr header = {0};
    if (io->vnet)
        memcpy(&header, start, sizeof header);
    int delivered = vnet_deliver(netif, &header, start + prefix, (uint32_t)(bytes - prefix));
    if (delivered == 0) {
        io->counters.rx_bad++;
        netif->stats.rx_dropped++;
    }
    return delivered;
}

int tuntap_poll(struct weir_netif *netif, int budget, uint32_t link_bytes)
{
    struct tuntap *io = netif->driver_data;
    struct pollfd wait = {.fd = io->fd, .events = POLLOUT};
    if (io->blocked && poll(&wait, 1, 0) == 1) {
        io->blocked = false;
        tuntap_flush(netif);
        weir_netif_ready(netif);
    }
    // The IP header behind link_bytes comes to lie 4-aligned.
    uint8_t *frame = io->buffer + FRAME_AT + (4 - link_bytes % 4) % 4;
    uint8_t *start = io->vnet ? frame - VNET_HEADER_BYTES : frame;
    size_t room = (size_t)(io->buffer + sizeof io->buffer - start);
    int delivered = 0;
    for (int reads = 0; reads < budget && !io->dead; reads++) {
        ssize_t got = read(io->fd, start, room);
        if (got >= 0) {
            delivered += deliver(io, netif, start, (size_t)got, room);
        } else if (errno == EBADFD) {
            bury(io);
        } else if (errno != EINTR) {
            break;
        }
    }
    return delivered;
}

uint64_t tuntap_timer(struct weir_netif *netif, uint64_t now_us)
{
    struct tuntap *io = netif->driver_data;
    const uint64_t due_us = carrier_timer(&io->carrier, netif, now_us);
    if (!io->waiting)
        return due_us;
    tuntap_flush(netif);
    return io->waiting && now_us + RETRY_US < due_us ? now_us + RETRY_US : due_us;
}
