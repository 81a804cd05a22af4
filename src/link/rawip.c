// SPDX-License-Identifier: BSD-2-Clause
// Bare IP packets: TUN, PPP, SLIP, loopback. There are two ends and nobody to ask for an address.
#include "instance.h"
#include "wire/ethernet.h"

#define LINKTYPE_RAW 101u

static void rawip_input(struct weir_netif *netif, const struct weir_frame *frame)
{
    struct packet packet;
    packet.netif = netif;
    packet.frame = frame;
    packet.head = frame->slices[0].data;
    packet.offset = 0;
    packet.length = frame->length;
    packet.link_source = NULL;
    packet.flags = frame->checksum == WEIR_CHECKSUM_VERIFIED ? PACKET_CHECKSUM_OK : 0;
    if (packet_head_room(&packet) == 0) {
        NETIF_COUNT(netif, rx_runt);
        count(netif->weir, WEIR_COUNT_ETHERNET_RUNT);
        return;
    }
    // The version is all there is to tell protocols by; what is of neither becomes an ethertype nobody has.
    const uint8_t version = packet.head[0] >> 4;
    link_deliver(netif, version == 4 ? ETHERTYPE_IP4 : WEIR_CFG_IP6 && version == 6 ? ETHERTYPE_IP6 : 0, &packet);
}

static enum weir_tx_verdict rawip_output(struct weir_netif *netif, struct path *path, uint16_t ethertype,
                                         struct packet_out *out, struct sock *waiter)
{
    (void)path, (void)ethertype, (void)waiter;
    return netif_transmit(netif, out);
}

const struct weir_link weir_link_rawip = {
    .name = "rawip",
    .pcap_linktype = LINKTYPE_RAW,
    .input = rawip_input,
    .output = rawip_output,
};
