// SPDX-License-Identifier: BSD-2-Clause
// Interfaces: their life, and the one door through which frames leave.
#include "link/address.h"
#include "link/handler.h"

#define NETIF_MTU_DEFAULT 1500u
#define NETIF_MTU_MIN 68u  // RFC 791: every module must forward so much
#define NETIF_VID_MAX 4094u

// --- frames ----------------------------------------------------------------------------------------------------------

// Down: the packet is lost, as it would be on the wire. Blocked (no room, or no carrier): who sent it waits for
// weir_tx_ready.
static enum weir_tx_verdict netif_refuse(struct weir_netif *netif)
{
    if (netif->flags & WEIR_NETIF_UP)
        return WEIR_TX_FULL;
    NETIF_COUNT(netif, tx_dropped);
    return WEIR_TX_DONE;
}

enum weir_tx_verdict netif_transmit(struct weir_netif *netif, struct packet_out *out)
{
    return netif_open(netif) ? netif_transmit_open(netif, out) : netif_refuse(netif);
}

void link_deliver(struct weir_netif *netif, uint16_t type, struct packet *packet)
{
    struct weir *weir = netif->weir;
    for (const struct ethertype *own = weir->ethertypes; own->type; own++) {
        if (own->type == type) {
            own->input(weir, packet);
            return;
        }
    }
    if (handler_ethertype(netif, type, packet))
        return;
    NETIF_COUNT(netif, rx_unknown);
    count(weir, WEIR_COUNT_ETHERNET_UNKNOWN);
}

// --- what a driver tells ---------------------------------------------------------------------------------------------

void weir_tx_ready(struct weir_netif *netif)
{
    // Without carrier the interface stays blocked, whatever room the driver has.
    if (!netif->weir || !(netif->flags & WEIR_NETIF_LINK))
        return;
    netif->flags &= (uint8_t)~WEIR_NETIF_TX_BLOCKED;
    socks_unblock(&netif->weir->socks);
    slow_due(netif->weir, netif->weir->now_us);
}

// The interface works again, or stops working: the link and the network layer are told, who was stopped goes on.
static void netif_running(struct weir_netif *netif)
{
    nd_quiet_begin(netif);
    for (struct weir_netif_address *a = &netif->address; a; a = address_next(a))
        if (netif->link->address_changed && a->state != WEIR_ADDRESS_NONE)
            netif->link->address_changed(
                netif, a, address_ready(a) && weir_addr_is_v4(a->addr) ? WEIR_ADDRESS_AT_ONCE : WEIR_ADDRESS_PROBE);
    (void)ip_netif_changed(netif->weir, netif);
    weir_tx_ready(netif);
}

static void netif_stopped(struct weir_netif *netif)
{
    arp_flush(netif->weir, netif, false);
    (void)ip_netif_changed(netif->weir, netif);
    socks_unblock(&netif->weir->socks);  // they may find another way
}

void weir_link_change(struct weir_netif *netif, bool up)
{
    const bool was_up = netif->flags & WEIR_NETIF_LINK;
    if (!netif->weir || up == was_up)
        return;
    if (up) {
        netif->flags |= WEIR_NETIF_LINK;
        netif_running(netif);
    } else {
        netif->flags &= (uint8_t)~WEIR_NETIF_LINK;
        netif->flags |= WEIR_NETIF_TX_BLOCKED;
        netif_stopped(netif);
    }
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
    if (link->header_bytes)
        netif->capabilities = WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST;
}

struct weir_netif *weir_netif_find(struct weir *weir, const char *name)
{
    struct weir_netif *netif = weir->netifs;
    for (; netif; netif = netif->next) {
        uint32_t i = 0;
        while (i + 1 < sizeof netif->name && netif->name[i] && netif->name[i] == name[i])
            i++;
        if (netif->name[i] == name[i])
            break;
    }
    return netif;
}

struct weir_netif *netif_by_index(struct weir *weir, uint8_t index)
{
    struct weir_netif *netif = weir->netifs;
    while (netif && netif->index != index)
        netif = netif->next;
    return netif;
}

static int netif_check_config(struct weir *weir, const struct weir_netif *netif)
{
    if (netif->weir || !netif->driver || !netif->driver->tx || netif->mtu < NETIF_MTU_MIN || !netif->name[0] ||
        (WEIR_CFG_NETIFS + WEIR_CFG_LOOPBACK > 1 && weir_netif_find(weir, netif->name)))
        return WEIR_INVALID;
    if (netif->flags & WEIR_NETIF_VLAN && netif->vlan > NETIF_VID_MAX)
        return WEIR_INVALID;
    if (netif->flags & WEIR_NETIF_VLAN && !WEIR_CFG_VLAN)
        return WEIR_NOT_SUPPORTED;
    return WEIR_OK;
}

// The lowest that is free; 0: there are WEIR_CFG_NETIFS already.
static uint8_t netif_free_index(struct weir *weir, const struct weir_netif *netif)
{
    if (WEIR_CFG_LOOPBACK && netif->capabilities & WEIR_NETIF_LOOPBACK)
        return LOOPBACK_INDEX;
    if (WEIR_CFG_NETIFS == 1 && !WEIR_CFG_LOOPBACK)
        return weir->netifs == NULL;
    for (uint32_t index = 1; index <= WEIR_CFG_NETIFS; index++)
        if (!netif_by_index(weir, (uint8_t)index))
            return (uint8_t)index;
    return 0;
}

int weir_netif_add(struct weir *weir, struct weir_netif *netif)
{
    const int error = netif_check_config(weir, netif);
    if (error)
        return error;
    const uint8_t index = netif_free_index(weir, netif);
    if (!index)
        return WEIR_NO_MEMORY;
    netif->index = index;
    netif->weir = weir;
    // News of room from before it was added, or from between two such times, went unheard: a driver that is full says
    // so again.
    netif->flags = (uint8_t)((netif->flags | WEIR_NETIF_UP | WEIR_NETIF_LINK) & ~WEIR_NETIF_TX_BLOCKED);
    netif->address.state = WEIR_ADDRESS_NONE;
    netif->address.next = NULL;
    struct weir_netif **end = &weir->netifs;
    while (*end)
        end = &(*end)->next;
    *end = netif;
    netif->next = NULL;
    weir->netif_count++;
    weir->flush_count += netif->driver->flush != NULL;
    nd_quiet_begin(netif);
    (void)ip_netif_changed(weir, netif);
    return WEIR_OK;
}

void weir_netif_remove(struct weir_netif *netif)
{
    struct weir *weir = netif->weir;
    if (!weir)
        return;
    struct weir_netif **link = &weir->netifs;
    while (*link != netif)
        link = &(*link)->next;
    *link = netif->next;
    weir->netif_count--;
    weir->flush_count -= netif->driver->flush != NULL;
    arp_flush(weir, netif, true);
    ip_netif_removed(weir, netif);
    socks_unblock(&weir->socks);
    netif->weir = NULL;
    address_forget_further(netif);
    netif->address.addr = weir_addr_any();
    netif->address.state = WEIR_ADDRESS_NONE;
}

int weir_netif_set_up(struct weir_netif *netif, bool up)
{
    const bool was_up = netif->flags & WEIR_NETIF_UP;
    if (!netif->weir)
        return WEIR_INVALID;
    if (up == was_up)
        return WEIR_OK;
    netif->flags ^= WEIR_NETIF_UP;
    if (up)
        netif_running(netif);
    else
        netif_stopped(netif);
    return WEIR_OK;
}
