// SPDX-License-Identifier: BSD-2-Clause
// The one interface, Ethernet (RFC 894, 2464), and the frames that wait for weir_poll.
#include "compact/compact.h"
#include "compact/nd.h"
#include "link/link.h"
#include "wire/ethernet.h"

#define NETIF_MTU_DEFAULT 1500u
#define ETHERNET_GROUP_BIT 1u  // of an address's first byte

const struct weir_link weir_link_ethernet = {.name = "ethernet", .header_bytes = ETHERNET_BYTES, .pcap_linktype = 1};

// --- frames out ------------------------------------------------------------------------------------------------------

LOCAL void ethernet_header(const struct weir *weir, uint8_t *head, const uint8_t mac[6], uint32_t type)
{
    memcpy(head, mac, 6);
    memcpy(head + 6, weir->netif->mac, 6);
    put16(head + 12, type);
}

LOCAL bool frame_send(struct weir *weir, const struct weir_slice *slices, uint32_t count, uint32_t length)
{
    struct weir_netif *netif = weir->netif;
    struct weir_tx tx;
    tx.slices = slices;
    tx.length = length;
    tx.count = (uint16_t)count;
    tx.header_length = (uint16_t)slices[0].length;
    tx.checksum_start = tx.checksum_offset = tx.segment_size = 0;  // one by one: under -Os an initialiser calls memset
    tx.gso = WEIR_GSO_NONE;
    tx.holdable = false;
    tx.hold_owner = NULL;
    tx.hold_end = 0;
    if (netif->driver->tx(netif, &tx) == WEIR_TX_FULL) {
        netif->flags |= WEIR_NETIF_TX_BLOCKED;
        netif->stats.tx_full++;
        return false;
    }
    count_sent(netif);
    return true;
}

// --- the outbox: what is answered at once is sent by the next weir_poll ----------------------------------------------

LOCAL uint8_t *outbox_frame(struct weir *weir, const uint8_t mac[6], uint32_t length)
{
    if (!weir->netif)
        return NULL;  // it was removed: what is open ends in silence
    if (weir->outbox_length + 2 + length > sizeof weir->outbox) {
        weir->netif->stats.tx_dropped++;
        return NULL;
    }
    uint8_t *entry = weir->outbox + weir->outbox_length;
    put16(entry, length);
    weir->outbox_length = (uint16_t)(weir->outbox_length + 2 + length);
    ethernet_header(weir, entry + 2, mac, ETHERTYPE_IP);
    return entry + 2;
}

LOCAL void outbox_send(struct weir *weir)
{
    while (weir->outbox_length && netif_may_send(weir)) {
        const uint32_t length = get16(weir->outbox);
        const struct weir_slice slice = {weir->outbox + 2, length};
        if (!frame_send(weir, &slice, 1, length))
            return;
        weir->outbox_length = (uint16_t)(weir->outbox_length - 2 - length);
        memmove(weir->outbox, weir->outbox + 2 + length, weir->outbox_length);
    }
}

// --- frames in -------------------------------------------------------------------------------------------------------

void weir_input(struct weir_netif *netif, const struct weir_frame *frame)
{
    const uint8_t *head = frame->slices[0].data;
    if (!(netif->flags & WEIR_NETIF_UP))
        return;
    count_received(netif);
    // A group is no sender: an answer to it would go to many.
    if (frame->length < ETHERNET_BYTES || head[6] & ETHERNET_GROUP_BIT)
        return;
    ip_input(netif->weir, frame);
}

// --- what a driver tells ---------------------------------------------------------------------------------------------

void weir_tx_ready(struct weir_netif *netif)
{
    if (netif->flags & WEIR_NETIF_LINK)
        netif->flags &= (uint8_t)~WEIR_NETIF_TX_BLOCKED;
}

void weir_tx_complete(struct weir_netif *netif, void *hold_owner, uint32_t hold_end)
{
    (void)netif, (void)hold_owner, (void)hold_end;
}

void weir_link_change(struct weir_netif *netif, bool up)
{
    netif->flags = (uint8_t)((netif->flags & ~WEIR_NETIF_LINK) | WEIR_NETIF_TX_BLOCKED | (up ? WEIR_NETIF_LINK : 0));
    weir_tx_ready(netif);
    if (up)
        nd_link_up(netif);
}

// --- configuration ---------------------------------------------------------------------------------------------------

void weir_netif_init(struct weir_netif *netif, const char *name, const struct weir_driver *driver,
                     const struct weir_link *link)
{
    memset(netif, 0, sizeof *netif);
    for (uint32_t i = 0; i + 1 < sizeof netif->name && name[i]; i++)
        netif->name[i] = name[i];
    netif->driver = driver;
    netif->link = link;
    netif->mtu = NETIF_MTU_DEFAULT;
}

int weir_netif_add(struct weir *weir, struct weir_netif *netif)
{
    if (netif->weir || netif->mtu < NETIF_MTU_MIN || netif->link != &weir_link_ethernet)
        return WEIR_INVALID;
    if (weir->netif)
        return WEIR_NO_MEMORY;
    netif->weir = weir;
    netif->index = 1;
    netif->flags |= WEIR_NETIF_UP | WEIR_NETIF_LINK;
    weir->netif = netif;
    return WEIR_OK;
}

void weir_netif_remove(struct weir_netif *netif)
{
    if (!netif->weir)
        return;
    nd_stop(netif);
    netif->weir->netif = NULL;
    netif->weir->outbox_length = 0;
    netif->weir = NULL;
    netif->address.addr = weir_addr_any();
}

int weir_netif_set_up(struct weir_netif *netif, bool up)
{
    if (!netif->weir)
        return WEIR_INVALID;
    netif->flags = (uint8_t)((netif->flags & ~WEIR_NETIF_UP) | (up ? WEIR_NETIF_UP : 0));
    return WEIR_OK;
}

struct weir_netif *weir_netif_at(struct weir *weir, uint8_t index) { return index == 1 ? weir->netif : NULL; }

struct weir_netif *weir_netif_find(struct weir *weir, const char *name)
{
    const char *ours = weir->netif ? weir->netif->name : NULL;
    while (ours && *ours == *name && *name) {
        ours++;
        name++;
    }
    return ours && *ours == *name ? weir->netif : NULL;
}

// Answers go where the question came from: routes would never be asked.
int weir_route_add(struct weir *weir, struct weir_addr prefix, uint8_t prefix_length, struct weir_addr gateway,
                   struct weir_netif *netif, uint8_t metric)
{
    (void)weir, (void)prefix, (void)prefix_length, (void)gateway, (void)netif, (void)metric;
    return WEIR_NOT_SUPPORTED;
}
int weir_route_remove(struct weir *weir, struct weir_addr prefix, uint8_t prefix_length, struct weir_addr gateway,
                      struct weir_netif *netif)
{
    (void)weir, (void)prefix, (void)prefix_length, (void)gateway, (void)netif;
    return WEIR_NOT_SUPPORTED;
}
