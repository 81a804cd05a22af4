// SPDX-License-Identifier: BSD-2-Clause
// Interfaces: their life, and the one door through which frames leave.
#include "link/handler.h"

#define NETIF_MTU_DEFAULT 1500u
#define NETIF_MTU_MIN 68u  // RFC 791: every module must forward so much
#define NETIF_VID_MAX 4094u

// Without any of these all that is sent is an answer, which goes back the way the question came: no routes are looked up.
#define NETIF_ROUTED (WEIR_CFG_ARP_CACHE || WEIR_CFG_UDP || WEIR_CFG_TCP_CONNECT)

// --- frames ----------------------------------------------------------------------------------------------------------------

// Down: the packet is lost, as it would be on the wire. Blocked (no room, or no carrier): who sent it waits for weir_tx_ready.
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

// --- what a driver tells ---------------------------------------------------------------------------------------------------

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
    const bool unsure = netif->arp_state == WEIR_ADDRESS_PROBING || netif->arp_state == WEIR_ADDRESS_CONFLICT;
    if (netif->link->address_changed && netif->arp_state != WEIR_ADDRESS_NONE)
        netif->link->address_changed(netif, unsure ? WEIR_ADDRESS_PROBE : WEIR_ADDRESS_AT_ONCE);
    ip_netif_changed(netif->weir, netif);
    weir_tx_ready(netif);
}

static void netif_stopped(struct weir_netif *netif)
{
    arp_flush(netif->weir, netif, false);
    ip_netif_changed(netif->weir, netif);
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

// --- configuration ---------------------------------------------------------------------------------------------------------

void weir_netif_init(struct weir_netif *netif, const char *name, const struct weir_driver *driver, const struct weir_link *link)
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
    // News of room from before it was added, or from between two such times, went unheard: a driver that is full says so again.
    netif->flags = (uint8_t)((netif->flags | WEIR_NETIF_UP | WEIR_NETIF_LINK) & ~WEIR_NETIF_TX_BLOCKED);
    netif->arp_state = WEIR_ADDRESS_NONE;
    struct weir_netif **end = &weir->netifs;
    while (*end)
        end = &(*end)->next;
    *end = netif;
    netif->next = NULL;
    weir->netif_count++;
    weir->flush_count += netif->driver->flush != NULL;
    ip_netif_changed(weir, netif);
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
    netif->address = weir_addr_any();
    netif->arp_state = WEIR_ADDRESS_NONE;
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

// The subnet of an interface is reached through it.
static int netif_connected_route(struct weir_netif *netif, bool add)
{
    if (!NETIF_ROUTED || netif->capabilities & WEIR_NETIF_LOOPBACK || weir_addr_is_any(netif->address))
        return WEIR_OK;
    if (add)
        return weir_route_add(netif->weir, netif->address, netif->prefix_length, weir_addr_any(), netif, 0);
    return weir_route_remove(netif->weir, netif->address, netif->prefix_length, weir_addr_any(), netif);
}

static void netif_address_store(struct weir_netif *netif, struct weir_addr address, uint8_t prefix_length, enum weir_address_mode mode)
{
    const bool none = weir_addr_is_any(address);
    netif->address_mode = (uint8_t)mode;
    netif->address = address;
    netif->prefix_length = none ? 0 : prefix_length;
    netif->arp_state = none ? WEIR_ADDRESS_NONE : WEIR_ADDRESS_READY;
}

int weir_netif_set_address(struct weir_netif *netif, struct weir_addr address, uint8_t prefix_length, enum weir_address_mode mode)
{
    const bool loops = netif->capabilities & WEIR_NETIF_LOOPBACK;
    if (!netif->weir || prefix_length > 32 || weir_addr_is_multicast(address) || weir_addr_is_broadcast(address) ||
        weir_addr_is_loopback(address) != (loops && !weir_addr_is_any(address)))
        return WEIR_INVALID;
    netif_connected_route(netif, false);
    netif_address_store(netif, address, prefix_length, mode);
    const int error = netif_connected_route(netif, true);
    if (error)
        netif_address_store(netif, weir_addr_any(), 0, mode);
    if (netif->link->address_changed && netif->arp_state == WEIR_ADDRESS_READY)
        netif->link->address_changed(netif, mode);
    ip_netif_changed(netif->weir, netif);
    return error;
}
