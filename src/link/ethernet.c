// SPDX-License-Identifier: BSD-2-Clause
// The Ethernet link (RFC 894, 1122 §2.3, 1112 §6.4; IEEE 802.1Q).
#include "link/ethernet.h"

#include "link/acd.h"
#include "link/handler.h"
#include "link/neighbour.h"

#define LINKTYPE_ETHERNET 1u
#define ETHERNET_GROUP_BIT 1u  // of an address's first byte

const uint8_t ethernet_broadcast[6] = {0xff, 0xff, 0xff, 0xff, 0xff, 0xff};

static bool ethernet_mac_equal(const uint8_t *a, const uint8_t *b)
{
    return native32(a) == native32(b) && native16(a + 4) == native16(b + 4);
}

// A group address that some receiver above may want. Which multicast groups are joined the network layer knows exactly.
static bool ethernet_group_wanted(const uint8_t *destination)
{
    return ethernet_mac_equal(destination, ethernet_broadcast) ||
           ((IP_GROUPS || WEIR_CFG_HANDLERS) && destination[0] & ETHERNET_GROUP_BIT);
}

// The frame is for us: by its VLAN (an untagged frame and a priority-tagged one, VID 0, are the same) and by its
// address. A group is no sender: an answer to it would go to many.
static bool ethernet_accepted(const struct weir_netif *netif, const struct ethernet *header)
{
    const uint16_t vlan = WEIR_CFG_VLAN && netif->flags & WEIR_NETIF_VLAN ? netif->vlan : 0;
    return header->vlan == vlan && !(header->source[0] & ETHERNET_GROUP_BIT) &&
           (ethernet_mac_equal(header->destination, netif->mac) || ethernet_group_wanted(header->destination));
}

static void ethernet_input(struct weir_netif *netif, const struct weir_frame *frame)
{
    struct weir *weir = netif->weir;
    struct ethernet header;
    const uint8_t *bytes = frame->slices[0].data;
    const uint32_t header_length = ethernet_parse(bytes, min_u32(frame->slices[0].length, frame->length), &header);
    if (!header_length) {
        NETIF_COUNT(netif, rx_runt);
        count(weir, WEIR_COUNT_ETHERNET_RUNT);
        return;
    }
    if (!ethernet_accepted(netif, &header)) {
        NETIF_COUNT(netif, rx_unknown);
        count(weir, WEIR_COUNT_ETHERNET_OTHER);
        return;
    }
    struct packet packet;
    packet.netif = netif;
    packet.frame = frame;
    packet.head = bytes + header_length;
    packet.offset = header_length;
    packet.length = frame->length - header_length;
    packet.link_source = header.source;
    packet.flags = (uint8_t)((header.destination[0] & ETHERNET_GROUP_BIT ? PACKET_LINK_BROADCAST : 0) |
                             (frame->checksum == WEIR_CHECKSUM_VERIFIED ? PACKET_CHECKSUM_OK : 0));
    if (WEIR_CFG_IP4 && header.type == ETHERTYPE_ARP)
        arp_input(weir, &packet);
    else
        link_deliver(netif, header.type, &packet);
}

// The link address that stands for many: of multicast, and of broadcast (that of a subnet reaches the link as
// 255.255.255.255).
static bool ethernet_group_address(struct weir_addr address, uint8_t mac[6])
{
    if (weir_addr_is_multicast(address)) {
        ip_family_of(address)->group_mac(address, mac);
        return true;
    }
    if (!weir_addr_is_broadcast(address))
        return false;
    memcpy(mac, ethernet_broadcast, 6);
    return true;
}

static enum weir_tx_verdict ethernet_output(struct weir_netif *netif, struct path *path, uint16_t ethertype,
                                            struct packet_out *out, struct sock *waiter)
{
    uint8_t group[6];
    struct ethernet header = {.destination = neighbour_known(netif, path),
                              .source = netif->mac,
                              .type = ethertype,
                              .vlan = netif->vlan,
                              .tagged = netif->flags & WEIR_NETIF_VLAN};
    // Not to wait for a neighbour behind an interface that is stopped anyhow.
    if (!netif_open(netif))
        return netif_transmit(netif, out);
    if (WEIR_CFG_ARP_CACHE && !header.destination) {
        enum weir_tx_verdict verdict;
        header.destination = ethernet_group_address(path->next_hop, group)
                                 ? group
                                 : neighbour_resolve(netif, path, ethertype, out, waiter, &verdict);
        if (!header.destination)
            return verdict;
    } else if (!WEIR_CFG_ARP_CACHE && WEIR_CFG_UDP && ethernet_group_address(path->next_hop, group)) {
        header.destination = group;
    }
    uint8_t *head = ethernet_emit(out->head, &header);
    if (WEIR_CFG_TX_OFFLOAD && out->tx.checksum_start)
        out->tx.checksum_start = (uint16_t)(out->tx.checksum_start + (out->head - head));
    out->head = head;
    return netif_transmit(netif, out);
}

static void ethernet_multicast(struct weir_netif *netif, struct weir_addr group, bool join)
{
    uint8_t mac[6];
    if (netif->driver->filter && ethernet_group_address(group, mac))
        netif->driver->filter(netif, mac, join);
}

const struct weir_link weir_link_ethernet = {
    .name = "ethernet",
    .header_bytes = ETHERNET_BYTES + (WEIR_CFG_VLAN ? VLAN_BYTES : 0),
    .untagged_bytes = ETHERNET_BYTES,
    .pcap_linktype = LINKTYPE_ETHERNET,
    .input = ethernet_input,
    .output = ethernet_output,
    .address_changed = acd_address_changed,
    .multicast = IP_GROUPS ? ethernet_multicast : NULL,
    .confirm = neighbour_confirm,
};
