// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE  // MAP_POPULATE
#include "af_packet.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include <arpa/inet.h>
#include <linux/if_ether.h>
#include <linux/if_packet.h>
#include <linux/virtio_net.h>
#include <net/if.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "hostmac.h"
#include "vnet.h"
#include "weir/error.h"

#ifndef PACKET_IGNORE_OUTGOING  // Linux 4.20
#define PACKET_IGNORE_OUTGOING 23
#endif

#define SLOT_BYTES 65792u       // VNET_FRAME_BYTES and Linux' headers before it, a multiple of 256
#define BLOCK_BYTES (1u << 20)  // power of two: Linux rounds up
#define BLOCK_SLOTS (BLOCK_BYTES / SLOT_BYTES)
#define BLOCKS 17u  // 255 slots; fewer when memory is short
// Linux puts the network header on a multiple of 16, plus this reserve, plus the virtio-net header: 16 in all keeps it
// aligned.
#define RESERVE_BYTES (16u - VNET_HEADER_BYTES)
#define STATISTICS_US 1000000u
#define SLICES_MAX (WEIR_FRAME_SLICES + WEIR_CFG_TX_SLICES)
#define ADDRESS_BYTES 12u  // destination and source
#define TAG_BYTES 4u

_Static_assert(SLOT_BYTES >= VNET_FRAME_BYTES + 128, "a slot holds the largest frame");

static int fail(struct af_packet *packet, const char *what, const char *ifname, int reason)
{
    const char *advice;
    int error = WEIR_NOT_SUPPORTED;
    switch (reason) {
    case EACCES:
    case EPERM:
        advice = "run as root, or inside a user namespace: unshare -Urn";
        error = WEIR_PERMISSION;
        break;
    case ENODEV:
    case ENXIO:
        advice = "there is no such interface here; make one: ip link add IFNAME type veth peer name PEER";
        error = WEIR_INVALID;
        break;
    case EINVAL:
        advice = "it must be an Ethernet interface";
        error = WEIR_INVALID;
        break;
    case ENOMEM:
        advice = "Linux has no memory for the ring";
        error = WEIR_NO_MEMORY;
        break;
    default: advice = "this kernel lacks packet sockets, or a part of them"; break;
    }
    snprintf(packet->error, sizeof packet->error, "%s %s: %s: %s", what, ifname, strerror(reason), advice);
    af_packet_close(packet);
    return error;
}

static int set(const struct af_packet *packet, int option, int value)
{
    return setsockopt(packet->fd, SOL_PACKET, option, &value, sizeof value) < 0 ? errno : 0;
}

// Shares the largest ring that memory allows. Returns 0 or an errno.
static int map_ring(struct af_packet *packet)
{
    struct tpacket_req request = {.tp_block_size = BLOCK_BYTES, .tp_frame_size = SLOT_BYTES};
    int reason = ENOMEM;
    for (unsigned blocks = BLOCKS; blocks > 0 && reason == ENOMEM; blocks /= 2) {
        request.tp_block_nr = blocks;
        request.tp_frame_nr = blocks * BLOCK_SLOTS;
        reason = setsockopt(packet->fd, SOL_PACKET, PACKET_RX_RING, &request, sizeof request) < 0 ? errno : 0;
    }
    if (reason != 0)
        return reason;
    void *ring =
        mmap(NULL, (size_t)request.tp_block_nr * BLOCK_BYTES, PROT_READ | PROT_WRITE, MAP_SHARED, packet->fd, 0);
    if (ring == MAP_FAILED)
        return errno;
    packet->ring = ring;
    packet->slots = request.tp_frame_nr;
    return 0;
}

// Options first: frames arrive from bind on.
static int configure(struct af_packet *packet, unsigned flags)
{
    int reason = set(packet, PACKET_VNET_HDR, 1);
    if (reason == 0)
        reason = set(packet, PACKET_VERSION, TPACKET_V2);
    if (reason == 0)
        reason = set(packet, PACKET_RESERVE, (int)RESERVE_BYTES);
    if (reason == 0)
        reason = map_ring(packet);
    if (reason != 0)
        return reason;
    // Both are refinements: without the first, `deliver` drops our own frames; without the second, sending costs more.
    (void)set(packet, PACKET_IGNORE_OUTGOING, 1);
    if (!(flags & AF_PACKET_QDISC))
        (void)set(packet, PACKET_QDISC_BYPASS, 1);
    return 0;
}

// Looks up the interface, joins it in promiscuous mode (its filter does not know our address), binds.
static int join(struct af_packet *packet, unsigned flags)
{
    const int reason = carrier_ethernet(&packet->carrier, packet->mac);
    if (reason != 0)
        return reason;
    const int ifindex = (int)if_nametoindex(packet->carrier.ifname);
    struct packet_mreq member = {.mr_ifindex = ifindex, .mr_type = PACKET_MR_PROMISC};
    if (flags & AF_PACKET_SAME_MAC)
        member.mr_type = PACKET_MR_ALLMULTI;
    else
        hostmac_random(packet->mac);
    if (setsockopt(packet->fd, SOL_PACKET, PACKET_ADD_MEMBERSHIP, &member, sizeof member) < 0)
        return errno;
    struct sockaddr_ll address = {.sll_family = AF_PACKET, .sll_protocol = htons(ETH_P_ALL), .sll_ifindex = ifindex};
    return bind(packet->fd, (const struct sockaddr *)&address, sizeof address) < 0 ? errno : 0;
}

int af_packet_open(struct af_packet *packet, const char *ifname, unsigned flags)
{
    memset(packet, 0, sizeof *packet);
    packet->fd = -1;
    packet->carrier.socket = -1;
    packet->vnet = !(flags & AF_PACKET_NO_VNET);
    if (strlen(ifname) >= CARRIER_NAME_BYTES)
        return fail(packet, "interface", ifname, ENODEV);
    packet->fd = socket(AF_PACKET, SOCK_RAW | SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
    if (packet->fd < 0)
        return fail(packet, "packet socket on", ifname, errno);
    int reason = configure(packet, flags);
    if (reason != 0)  // EINVAL here is the kernel's age, not the interface's kind
        return fail(packet, "packet ring on", ifname, reason == EINVAL ? ENOPROTOOPT : reason);
    reason = carrier_open(&packet->carrier, ifname);
    if (reason == 0 && (flags & AF_PACKET_UP))
        reason = carrier_raise(&packet->carrier);
    if (reason == 0)
        reason = join(packet, flags);
    return reason == 0 ? WEIR_OK : fail(packet, "interface", ifname, reason);
}

void af_packet_close(struct af_packet *packet)
{
    if (packet->ring != NULL)
        munmap(packet->ring, (size_t)(packet->slots / BLOCK_SLOTS) * BLOCK_BYTES);
    packet->ring = NULL;
    if (packet->fd >= 0)
        close(packet->fd);
    packet->fd = -1;
    carrier_close(&packet->carrier);
}

const char *af_packet_error(const struct af_packet *packet) { return packet->error; }
int af_packet_fd(const struct af_packet *packet) { return packet->fd; }
short af_packet_events(const struct af_packet *packet) { return (short)(packet->blocked ? POLLIN | POLLOUT : POLLIN); }

// --- out -------------------------------------------------------------------------------------------------------------
static enum weir_tx_verdict not_sent(struct af_packet *packet, struct weir_netif *netif, int reason)
{
    switch (reason) {
    case EAGAIN:
    case ENOBUFS:
    case ENOMEM:
        packet->blocked = true;
        packet->counters.tx_full++;
        return WEIR_TX_FULL;
    case ENETDOWN:
    case ENXIO:  // deleted
    case ENODEV:
        packet->counters.tx_down++;
        carrier_doubt(&packet->carrier);
        break;
    default: packet->counters.tx_refused++; break;
    }
    netif->stats.tx_dropped++;
    return WEIR_TX_DONE;
}

static enum weir_tx_verdict packet_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct af_packet *packet = netif->driver_data;
    struct virtio_net_hdr header;
    struct iovec parts[1 + SLICES_MAX];
    if (tx->count > SLICES_MAX)
        return not_sent(packet, netif, EMSGSIZE);
    vnet_from_tx(&header, tx);
    parts[0] = (struct iovec){&header, sizeof header};
    for (uint16_t i = 0; i < tx->count; i++)
        parts[1 + i] = (struct iovec){(void *)tx->slices[i].data, tx->slices[i].length};
    ssize_t written;
    do {
        written = writev(packet->fd, parts, 1 + tx->count);
    } while (written < 0 && errno == EINTR);
    return written < 0 ? not_sent(packet, netif, errno) : WEIR_TX_DONE;
}

// --- in --------------------------------------------------------------------------------------------------------------
// Linux takes 802.1Q tags out of frames before packet sockets see them: puts one back. The room is before the frame,
// where the virtio-net header was.
static uint8_t *insert_tag(uint8_t *frame, const struct tpacket2_hdr *slot, struct virtio_net_hdr *header)
{
    uint16_t tpid = slot->tp_status & TP_STATUS_VLAN_TPID_VALID ? slot->tp_vlan_tpid : ETH_P_8021Q;
    uint8_t *start = frame - TAG_BYTES;
    memmove(start, frame, ADDRESS_BYTES);
    start[ADDRESS_BYTES] = (uint8_t)(tpid >> 8);
    start[ADDRESS_BYTES + 1] = (uint8_t)tpid;
    start[ADDRESS_BYTES + 2] = (uint8_t)(slot->tp_vlan_tci >> 8);
    start[ADDRESS_BYTES + 3] = (uint8_t)slot->tp_vlan_tci;
    if (header->flags & VIRTIO_NET_HDR_F_NEEDS_CSUM)
        header->csum_start = (uint16_t)(header->csum_start + TAG_BYTES);
    return start;
}

// Returns the frames delivered from this slot: 0 when it was none of ours or bad.
static int deliver(struct af_packet *packet, struct weir_netif *netif, struct tpacket2_hdr *slot)
{
    const struct sockaddr_ll *from = (const void *)((const uint8_t *)slot + TPACKET_ALIGN(sizeof *slot));
    uint8_t *frame = (uint8_t *)slot + slot->tp_mac;
    uint32_t length = slot->tp_snaplen;
    struct virtio_net_hdr header;
    if (from->sll_pkttype == PACKET_OUTGOING)
        return 0;
    if (length < slot->tp_len || length < ADDRESS_BYTES) {
        packet->counters.rx_too_long++;
        netif->stats.rx_dropped++;
        return 0;
    }
    memcpy(&header, frame - VNET_HEADER_BYTES, sizeof header);
    if (slot->tp_status & TP_STATUS_VLAN_VALID) {
        frame = insert_tag(frame, slot, &header);
        length += TAG_BYTES;
    }
    int delivered = vnet_deliver(netif, &header, frame, length);
    if (delivered == 0) {
        packet->counters.rx_bad++;
        netif->stats.rx_dropped++;
    }
    return delivered;
}

static int packet_poll(struct weir_netif *netif, int budget)
{
    struct af_packet *packet = netif->driver_data;
    struct pollfd wait = {.fd = packet->fd, .events = POLLOUT};
    if (packet->blocked && poll(&wait, 1, 0) == 1) {
        packet->blocked = false;
        weir_netif_ready(netif);
    }
    int delivered = 0;
    for (int looks = 0; looks < budget; looks++) {
        struct tpacket2_hdr *slot = (void *)(packet->ring + (size_t)(packet->at / BLOCK_SLOTS) * BLOCK_BYTES +
                                             packet->at % BLOCK_SLOTS * SLOT_BYTES);
        // Pairs with Linux' write barrier before it sets the status: what lies in the slot is seen after it.
        if (!(__atomic_load_n(&slot->tp_status, __ATOMIC_ACQUIRE) & TP_STATUS_USER))
            break;
        delivered += deliver(packet, netif, slot);
        __atomic_store_n(&slot->tp_status, TP_STATUS_KERNEL, __ATOMIC_RELEASE);
        packet->at = packet->at + 1 == packet->slots ? 0 : packet->at + 1;
    }
    // An interface that went down leaves an error on the socket, which poll(2) would report for ever.
    int error = 0;
    socklen_t size = sizeof error;
    if (delivered == 0 && getsockopt(packet->fd, SOL_SOCKET, SO_ERROR, &error, &size) == 0 && error != 0)
        carrier_doubt(&packet->carrier);
    return delivered;
}

static uint64_t packet_timer(struct weir_netif *netif, uint64_t now_us)
{
    struct af_packet *packet = netif->driver_data;
    if (now_us >= packet->statistics_due_us) {
        struct tpacket_stats statistics;
        socklen_t size = sizeof statistics;
        if (getsockopt(packet->fd, SOL_PACKET, PACKET_STATISTICS, &statistics, &size) == 0) {  // reading clears them
            packet->counters.rx_missed += statistics.tp_drops;
            netif->stats.rx_dropped += statistics.tp_drops;
        }
        packet->statistics_due_us = now_us + STATISTICS_US;
    }
    uint64_t carrier_us = carrier_timer(&packet->carrier, netif, now_us);
    return carrier_us < packet->statistics_due_us ? carrier_us : packet->statistics_due_us;
}

static const struct weir_driver packet_driver = {
    .name = "af_packet",
    .tx = packet_tx,
    .poll = packet_poll,
    .timer = packet_timer,
};

void af_packet_attach(struct af_packet *packet, struct weir_netif *netif, const char *name)
{
    weir_netif_init(netif, name, &packet_driver, &weir_link_ethernet);
    uint16_t mtu = carrier_mtu(&packet->carrier);
    netif->driver_data = packet;
    if (mtu != 0)
        netif->mtu = mtu;
    netif->capabilities |= WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST;
    if (packet->vnet)
        netif->capabilities |= WEIR_NETIF_TX_CHECKSUM | WEIR_NETIF_TSO4 | WEIR_NETIF_TX_CHECKSUM6 | WEIR_NETIF_TSO6;
    memcpy(netif->mac, packet->mac, sizeof netif->mac);
}
