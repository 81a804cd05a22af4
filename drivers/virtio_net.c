// SPDX-License-Identifier: BSD-2-Clause
#include "virtio_net.h"

#include <stddef.h>
#include <string.h>

#include "weir/error.h"

enum { RX_QUEUE, TX_QUEUE };
// §5.1.3
#define F_CSUM (1ull << 0)
#define F_GUEST_CSUM (1ull << 1)
#define F_MTU (1ull << 3)
#define F_MAC (1ull << 5)
#define F_GUEST_TSO4 (1ull << 7)
#define F_GUEST_ECN (1ull << 9)
#define F_HOST_TSO4 (1ull << 11)
#define F_HOST_ECN (1ull << 13)
#define F_MRG_RXBUF (1ull << 15)
#define F_STATUS (1ull << 16)
#define WANTED \
    (F_CSUM | F_GUEST_CSUM | F_MTU | F_MAC | F_GUEST_TSO4 | F_GUEST_ECN | F_HOST_TSO4 | F_HOST_ECN | F_MRG_RXBUF | \
     F_STATUS | VIRTIO_F_EVENT_IDX | VIRTIO_F_VERSION_1)
enum { CONFIG_MAC = 0, CONFIG_STATUS = 6, CONFIG_MTU = 10, STATUS_LINK = 1 };
enum { HEADER_NEEDS_CSUM = 1, HEADER_DATA_VALID = 2 };
enum { GSO_NONE = 0, GSO_TCP4 = 1, GSO_ECN = 0x80 };
// The header of a frame (§5.1.6), all of it little-endian.
enum { AT_FLAGS, AT_GSO, AT_LENGTH, AT_SIZE = 4, AT_START = 6, AT_OFFSET = 8, AT_BUFFERS = 10 };
#define HEADER VIRTIO_NET_HEADER_BYTES
#define RX_OFFSET 2u  // the frame then begins so that its IP header is aligned
#define RX_ROOM (VIRTIO_NET_RX_BYTES - RX_OFFSET)
#define ETHERNET_BYTES 14u
#define TCP_HEADER_BYTES 20u
#define TCP_DATA_OFFSET 12u
#define TCP_FLAGS 13u
#define TCP_CWR 0x80u
#define LEND_BYTES 512u  // fewer are sooner copied than described
#define LARGEST_FRAME 65549u
#define LEAST_MTU 68u
#define LOOK_EVERY_US 500000u
#define LOOK_SENT_US 10000u  // frames at the device, without anything coming in
#define RESTART_AFTER_US 100000u
#define TRIES 100000u
#define COPY_PIECES ((LARGEST_FRAME + HEADER + VIRTIO_NET_TX_BYTES - 1) / VIRTIO_NET_TX_BYTES)
#define MOST_PIECES (COPY_PIECES > WEIR_CFG_TX_SLICES ? COPY_PIECES : WEIR_CFG_TX_SLICES)

_Static_assert((VIRTIO_NET_RX_BYTES - RX_OFFSET) * (uint64_t)WEIR_FRAME_SLICES >= LARGEST_FRAME + HEADER,
               "the largest frame has too many slices");
_Static_assert(VIRTIO_NET_RX_BYTES >= 2048, "a frame of a device without mergeable buffers must fit in one");
_Static_assert(VIRTIO_NET_RX <= VIRTIO_RING_MAX && VIRTIO_NET_TX <= VIRTIO_RING_MAX, "a queue is larger than its ring");
_Static_assert(MOST_PIECES <= VIRTIO_NET_TX / 2, "a frame takes more than half of the queue");

static uint16_t get16(const uint8_t *at) { return (uint16_t)(at[0] | at[1] << 8); }
static void put16(uint8_t *at, uint32_t value)
{
    at[0] = (uint8_t)value;
    at[1] = (uint8_t)(value >> 8);
}
static uint16_t least(uint16_t a, uint16_t b) { return a < b ? a : b; }

// --- the device into use ---------------------------------------------------------------------------------------------

static bool reset(const struct virtio_net *net)
{
    struct virtio_transport *const t = net->transport;
    t->calls->set_status(t, 0);
    for (uint32_t i = 0; i < TRIES; i++)
        if (!t->calls->status(t))
            return true;
    return false;
}

// §3.1.1, steps 2 to 6. A feature that needs another, which was not offered, is not taken either.
static bool agree(struct virtio_net *net)
{
    struct virtio_transport *const t = net->transport;
    t->calls->set_status(t, VIRTIO_ACKNOWLEDGE);
    t->calls->set_status(t, VIRTIO_ACKNOWLEDGE | VIRTIO_DRIVER);
    uint64_t take = t->calls->features(t) & WANTED;
    if (!(take & VIRTIO_F_VERSION_1))
        return false;
    if (!(take & F_CSUM) || !(take & F_HOST_ECN))
        take &= ~(F_HOST_TSO4 | F_HOST_ECN);
    if (!(take & F_GUEST_CSUM) || !(take & F_MRG_RXBUF))
        take &= ~(F_GUEST_TSO4 | F_GUEST_ECN);
    if (!(take & F_GUEST_TSO4))
        take &= ~F_GUEST_ECN;
    t->calls->accept(t, take);
    t->calls->set_status(t, VIRTIO_ACKNOWLEDGE | VIRTIO_DRIVER | VIRTIO_FEATURES_OK);
    net->features = take;
    return t->calls->status(t) & VIRTIO_FEATURES_OK;
}

// A ring as large as wanted, or as the device can. It may answer with any number: what is taken is a power of two.
static bool start_queue(struct virtio_net *net, uint16_t queue, struct virtio_ring *ring,
                        struct virtio_ring_memory *memory, uint16_t wanted)
{
    struct virtio_transport *const t = net->transport;
    const uint16_t most = t->calls->queue_max(t, queue);
    uint16_t size = wanted;
    while (size > most)
        size /= 2;
    if (size < 2)
        return false;
    virtio_ring_init(ring, memory, size, net->features & VIRTIO_F_EVENT_IDX);
    t->calls->queue_start(t, queue, size, memory);
    return true;
}

static bool set_up(struct virtio_net *net)
{
    if (!reset(net) || !agree(net) || !start_queue(net, RX_QUEUE, &net->rx, &net->memory->rx_ring, VIRTIO_NET_RX) ||
        !start_queue(net, TX_QUEUE, &net->tx, &net->memory->tx_ring, VIRTIO_NET_TX))
        return false;
    // Of what a frame may need a queue must have room twice, lest a refused one waits for what never comes.
    return net->tx.size >= 2 * MOST_PIECES;
}

static void notify(struct virtio_net *net, struct virtio_ring *ring, uint16_t queue)
{
    if (virtio_ring_kick(ring))
        net->transport->calls->notify(net->transport, queue);
}

static void give(struct virtio_net *net)
{
    virtio_ring_put(&net->rx, net->memory->receive[virtio_ring_next(&net->rx)] + RX_OFFSET, RX_ROOM, true);
    (void)virtio_ring_end(&net->rx);
}

static void go(struct virtio_net *net)
{
    struct virtio_transport *const t = net->transport;
    t->calls->set_status(t, VIRTIO_ACKNOWLEDGE | VIRTIO_DRIVER | VIRTIO_FEATURES_OK | VIRTIO_DRIVER_OK);
    while (net->rx.free_count)
        give(net);
    (void)virtio_ring_await(&net->rx, 1);
    notify(net, &net->rx, RX_QUEUE);
}

int virtio_net_open(struct virtio_net *net, struct virtio_transport *transport, struct virtio_net_memory *memory)
{
    memset(net, 0, sizeof *net);
    net->transport = transport;
    net->memory = memory;
    if (!set_up(net) || !(net->features & F_MAC)) {
        transport->calls->set_status(transport, VIRTIO_FAILED);
        return WEIR_NOT_SUPPORTED;
    }
    for (uint32_t i = 0; i < 6; i++)
        net->mac[i] = transport->calls->config8(transport, CONFIG_MAC + i);
    net->mac[0] &= 0xfe;  // a group's address is nobody's own
    return WEIR_OK;
}

// --- in --------------------------------------------------------------------------------------------------------------

// Segments and their size of a merged frame. false: the header contradicts the frame.
static bool merged(const uint8_t *header, struct weir_frame *frame)
{
    const struct weir_slice *first = &frame->slices[0];
    const uint32_t start = get16(header + AT_START), size = get16(header + AT_SIZE);
    if (header[AT_GSO] == GSO_NONE)
        return true;
    if ((header[AT_GSO] & ~GSO_ECN) != GSO_TCP4 || !(header[AT_FLAGS] & HEADER_NEEDS_CSUM) || !size ||
        start + TCP_HEADER_BYTES > first->length)
        return false;
    const uint32_t headers = start + (uint32_t)(first->data[start + TCP_DATA_OFFSET] >> 4) * 4;
    if (headers >= frame->length)
        return false;
    const uint32_t segments = (frame->length - headers + size - 1) / size;
    frame->segments = (uint16_t)segments;
    frame->segment_size = (uint16_t)size;
    return true;
}

// A frame of `count` slices, the first of them behind its header.
static bool deliver(struct virtio_net *net, const uint8_t *header, const struct weir_slice *slices, uint16_t count)
{
    struct weir_frame frame = {.slices = slices, .count = count, .checksum = WEIR_CHECKSUM_NONE};
    for (uint16_t i = 0; i < count; i++) {
        if (!slices[i].length)
            return false;
        frame.length += slices[i].length;
    }
    const uint32_t head = frame.length < WEIR_FRAME_HEAD ? frame.length : WEIR_FRAME_HEAD;
    if (frame.length < ETHERNET_BYTES || frame.length > LARGEST_FRAME || slices[0].length < head ||
        !merged(header, &frame))
        return false;
    // NEEDS_CSUM: it comes from the machine's own stack, which never summed it. Without GUEST_CSUM neither flag means
    // anything.
    if (net->features & F_GUEST_CSUM && header[AT_FLAGS] & (HEADER_NEEDS_CSUM | HEADER_DATA_VALID))
        frame.checksum = WEIR_CHECKSUM_VERIFIED;
    weir_netif_deliver(net->netif, &frame);
    return true;
}

// Takes the buffers of a frame, delivers it, gives them back. false: there is none.
static bool take_frame(struct virtio_net *net)
{
    struct weir_slice slices[WEIR_FRAME_SLICES];
    uint8_t header[HEADER];
    uint16_t chain, count = 1, taken = 0;
    uint32_t length;
    bool good = true;
    if (!virtio_ring_take(&net->rx, &chain, &length))
        return false;
    const uint8_t *buffer = net->memory->receive[chain] + RX_OFFSET;
    if (length <= HEADER) {
        good = false;
    } else {
        memcpy(header, buffer, HEADER);  // once: it lies in memory that the device may write
        count = net->features & F_MRG_RXBUF ? get16(header + AT_BUFFERS) : 1;
        good = count >= 1 && count <= WEIR_FRAME_SLICES;
        slices[taken++] = (struct weir_slice){buffer + HEADER, length - HEADER};
    }
    while (good && taken < count) {
        good = virtio_ring_take(&net->rx, &chain, &length);
        slices[taken].data = net->memory->receive[chain] + RX_OFFSET;
        slices[taken].length = length;
        taken += good;
    }
    if (!good || !deliver(net, header, slices, count)) {
        net->rx_bad++;
        net->netif->stats.rx_dropped++;
    }
    while (net->rx.free_count)
        give(net);
    return true;
}

// --- out -------------------------------------------------------------------------------------------------------------

static void let_go(struct virtio_net *net)
{
    while (net->sent_count && net->sent[net->sent_first].done) {
        const struct virtio_net_sent *sent = &net->sent[net->sent_first];
        net->sent_first = (uint16_t)((net->sent_first + 1) % VIRTIO_NET_TX);
        net->sent_count--;
        if (sent->owner)
            weir_netif_complete(net->netif, sent->owner, sent->hold_end);
    }
}

static void reclaim(struct virtio_net *net)
{
    uint16_t chain;
    uint32_t length;
    while (virtio_ring_take(&net->tx, &chain, &length))
        net->sent[net->place[chain]].done = true;
    let_go(net);
}

static bool room(const struct virtio_net *net, uint16_t descriptors)
{
    return net->tx.free_count >= descriptors && net->sent_count < VIRTIO_NET_TX;
}

static void make_header(const struct virtio_net *net, uint8_t *header, const struct weir_tx *tx)
{
    memset(header, 0, HEADER);
    if (!tx->checksum_start)
        return;
    header[AT_FLAGS] = HEADER_NEEDS_CSUM;
    put16(header + AT_START, tx->checksum_start);
    put16(header + AT_OFFSET, tx->checksum_offset);
    if (!(net->features & F_HOST_TSO4) || tx->gso != WEIR_GSO_TCP4 || !tx->segment_size ||
        tx->length - tx->header_length <= tx->segment_size)
        return;
    // CWR belongs on the first segment alone (RFC 3168 §6.1.2): the device must be told that it is there.
    const bool cwr = tx->slices[0].data[tx->checksum_start + TCP_FLAGS] & TCP_CWR;
    header[AT_GSO] = GSO_TCP4 | (cwr ? GSO_ECN : 0);
    put16(header + AT_LENGTH, tx->header_length);
    put16(header + AT_SIZE, tx->segment_size);
}

// Header and all bytes into the descriptors' own buffers, as many as it takes.
static void copy(struct virtio_net *net, const struct weir_tx *tx)
{
    uint8_t *buffer = net->memory->transmit[virtio_ring_next(&net->tx)];
    uint32_t at = HEADER;
    make_header(net, buffer, tx);
    for (uint16_t i = 0; i < tx->count; i++)
        for (uint32_t from = 0; from < tx->slices[i].length;) {
            if (at == VIRTIO_NET_TX_BYTES) {
                virtio_ring_put(&net->tx, buffer, at, false);
                buffer = net->memory->transmit[virtio_ring_next(&net->tx)];
                at = 0;
            }
            const uint32_t left = tx->slices[i].length - from, there = VIRTIO_NET_TX_BYTES - at,
                           bytes = left < there ? left : there;
            memcpy(buffer + at, tx->slices[i].data + from, bytes);
            at += bytes;
            from += bytes;
        }
    virtio_ring_put(&net->tx, buffer, at, false);
}

static void lend(struct virtio_net *net, const struct weir_tx *tx)
{
    uint8_t *const buffer = net->memory->transmit[virtio_ring_next(&net->tx)];
    make_header(net, buffer, tx);
    memcpy(buffer + HEADER, tx->slices[0].data, tx->slices[0].length);
    virtio_ring_put(&net->tx, buffer, HEADER + tx->slices[0].length, false);
    for (uint16_t i = 1; i < tx->count; i++)
        virtio_ring_put(&net->tx, tx->slices[i].data, tx->slices[i].length, false);
    net->held++;
}

static enum weir_tx_verdict virtio_net_tx(struct weir_netif *netif, const struct weir_tx *tx)
{
    struct virtio_net *net = netif->driver_data;
    const bool held = tx->holdable && tx->count > 1 && tx->length - tx->slices[0].length >= LEND_BYTES &&
                      HEADER + tx->slices[0].length <= VIRTIO_NET_TX_BYTES;
    const uint16_t needed =
        held ? tx->count : (uint16_t)((tx->length + HEADER + VIRTIO_NET_TX_BYTES - 1) / VIRTIO_NET_TX_BYTES);
    if (net->failed || tx->length > LARGEST_FRAME) {
        netif->stats.tx_dropped++;
        return WEIR_TX_DONE;
    }
    reclaim(net);
    if (!room(net, needed)) {
        net->wanted = needed;
        return WEIR_TX_FULL;
    }
    if (held)
        lend(net, tx);
    else
        copy(net, tx);
    const uint16_t place = (uint16_t)((net->sent_first + net->sent_count++) % VIRTIO_NET_TX),
                   chain = virtio_ring_end(&net->tx);
    net->sent[place] = (struct virtio_net_sent){held ? tx->hold_owner : NULL, tx->hold_end, chain, false};
    net->place[chain] = place;
    return held ? WEIR_TX_HELD : WEIR_TX_DONE;
}

// A frame was refused: to go on when a good part of the queue is free again, not for one frame each time.
static void look_for_room(struct virtio_net *net)
{
    while (net->wanted && !net->tx.broken) {
        reclaim(net);
        const uint16_t part = (uint16_t)(net->tx.outstanding * 3u / 4u);
        if (room(net, net->wanted)) {
            net->wanted = 0;
            virtio_ring_silence(&net->tx);
            weir_netif_ready(net->netif);
        } else if (!virtio_ring_await(&net->tx, part ? part : 1)) {
            return;
        }
    }
}

static void virtio_net_flush(struct weir_netif *netif)
{
    struct virtio_net *net = netif->driver_data;
    if (!net->failed)
        notify(net, &net->tx, TX_QUEUE);
}

// --- turns -----------------------------------------------------------------------------------------------------------

static int virtio_net_poll(struct weir_netif *netif, int budget)
{
    struct virtio_net *net = netif->driver_data;
    int frames = 0;
    if (net->failed)
        return 0;
    reclaim(net);
    look_for_room(net);
    do {
        while (frames < budget && take_frame(net))
            frames++;
    } while (frames < budget && virtio_ring_await(&net->rx, 1));
    notify(net, &net->rx, RX_QUEUE);
    return frames;
}

static void carrier(struct virtio_net *net, bool up)
{
    if (up != net->link)
        weir_netif_carrier(net->netif, up);
    net->link = up;
}

// Nothing of the device's is believed any more. It is reset: then it no longer uses what was lent to it. One that does
// not even do that keeps the memory, for nobody else may have it while the device might read it.
static void fail(struct virtio_net *net, uint64_t now_us)
{
    net->failed = true;
    carrier(net, false);
    if (reset(net)) {
        for (uint16_t i = 0; i < net->sent_count; i++)
            net->sent[(net->sent_first + i) % VIRTIO_NET_TX].done = true;
        let_go(net);
    }
    net->look_us = now_us + RESTART_AFTER_US;
}

static void restart(struct virtio_net *net, uint64_t now_us)
{
    const uint64_t before = net->features;
    net->look_us = now_us + LOOK_EVERY_US;
    // The stack was told what the device can: it must still.
    if (net->sent_count || !set_up(net) || (before & ~net->features))
        return;
    net->failed = false;
    net->restarts++;
    go(net);
    net->look = true;
    if (net->wanted) {
        net->wanted = 0;
        weir_netif_ready(net->netif);
    }
}

static void look(struct virtio_net *net, uint64_t now_us)
{
    struct virtio_transport *const t = net->transport;
    net->look = false;
    net->look_us = now_us + LOOK_EVERY_US;
    if (t->calls->status(t) & VIRTIO_NEEDS_RESET)
        fail(net, now_us);
    else
        carrier(net, !(net->features & F_STATUS) || t->calls->config16(t, CONFIG_STATUS) & STATUS_LINK);
}

static uint64_t virtio_net_timer(struct weir_netif *netif, uint64_t now_us)
{
    struct virtio_net *net = netif->driver_data;
    if (net->failed && now_us >= net->look_us)
        restart(net, now_us);
    if (!net->failed && (net->rx.broken || net->tx.broken))
        fail(net, now_us);
    if (!net->failed && (net->look || now_us >= net->look_us))
        look(net, now_us);
    if (net->failed || !net->sent_count)
        return net->look_us;
    // What was lent is given back soon also when nothing comes in, whose interrupt would lead here.
    const uint64_t soon_us = now_us + LOOK_SENT_US;
    return soon_us < net->look_us ? soon_us : net->look_us;
}

void virtio_net_interrupt(struct virtio_net *net)
{
    if (net->transport->calls->interrupt(net->transport) & VIRTIO_CAUSE_CONFIG)
        net->look = true;
}

static const struct weir_driver virtio_net_driver = {.name = "virtio_net",
                                                     .tx = virtio_net_tx,
                                                     .flush = virtio_net_flush,
                                                     .poll = virtio_net_poll,
                                                     .timer = virtio_net_timer};

void virtio_net_attach(struct virtio_net *net, struct weir_netif *netif, const char *name)
{
    struct virtio_transport *const t = net->transport;
    weir_netif_init(netif, name, &virtio_net_driver, &weir_link_ethernet);
    netif->driver_data = net;
    netif->capabilities |= WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST;
    if (net->features & F_CSUM)
        netif->capabilities |= WEIR_NETIF_TX_CHECKSUM;
    if (net->features & F_HOST_TSO4)
        netif->capabilities |= WEIR_NETIF_TSO4;
    if (net->features & F_MTU) {
        const uint16_t mtu = t->calls->config16(t, CONFIG_MTU);
        if (mtu >= LEAST_MTU)
            netif->mtu = least(netif->mtu, mtu);
    }
    memcpy(netif->mac, net->mac, 6);
    net->netif = netif;
    net->link = true;  // as weir_netif_add takes it
    go(net);
}
