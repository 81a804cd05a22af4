// SPDX-License-Identifier: BSD-2-Clause
// Interfaces: their devices, their addresses.
#include "api/xinu/internal.h"

#include <string.h>

static struct weir_netif *netif_of(int descrp)
{
    return descrp >= 0 && descrp < NETHER ? xinu_system->config.ethers[descrp] : NULL;
}
static int index_of(const struct xinu_device *device) { return (int)(device - xinu_system->devices); }

static int set_up(struct xinu_device *device, bool up)
{
    struct weir_netif *netif = netif_of(index_of(device));
    if (!netif)
        return SYSERR;
    xinu_lock();
    const int result = weir_netif_set_up(netif, up);
    xinu_unlock();
    return result == WEIR_OK ? OK : SYSERR;
}

static int ether_open(struct xinu_device *device, va_list *arguments)
{
    (void)arguments;
    return set_up(device, true);
}
static int ether_close(struct xinu_device *device) { return set_up(device, false); }

static int ether_control(struct xinu_device *device, int func, intptr_t arg1, intptr_t arg2)
{
    const struct weir_netif *netif = netif_of(index_of(device));
    struct netaddr *out = (struct netaddr *)arg1;  // NOLINT(performance-no-int-to-ptr): as Xinu passes them
    (void)arg2;
    if (!netif)
        return SYSERR;
    switch (func) {
    case NET_GET_MTU: return netif->mtu;
    case NET_GET_LINKHDRLEN: return netif->link == &weir_link_ethernet ? 14 : 0;
    case NET_GET_HWADDR:
    case NET_GET_HWBRC:
        *out = (struct netaddr){.type = NETADDR_ETHERNET, .len = 6};
        if (func == NET_GET_HWADDR)
            memcpy(out->addr, netif->mac, 6);
        else
            memset(out->addr, 0xff, 6);
        return OK;
    default: return SYSERR;
    }
}

const struct xinu_operations xinu_ether = {.open = ether_open, .close = ether_close, .control = ether_control};

// --- addresses -------------------------------------------------------------------------------------------------------

struct netaddr *netaddr4(struct netaddr *out, unsigned a, unsigned b, unsigned c, unsigned d)
{
    *out = (struct netaddr){.type = NETADDR_IPv4, .len = 4, .addr = {(uint8_t)a, (uint8_t)b, (uint8_t)c, (uint8_t)d}};
    return out;
}

int netaddrequal(const struct netaddr *a, const struct netaddr *b)
{
    return a->type == b->type && a->len == b->len && a->len <= NET_MAX_ALEN && memcmp(a->addr, b->addr, a->len) == 0;
}

// Ones from the left, and nothing else; −1.
static int prefix_of(struct weir_addr mask)
{
    int bits = 0;
    while (bits < 32 && weir_addr_to_v4(mask) >> (31 - bits) & 1)
        bits++;
    return bits == 32 || weir_addr_to_v4(mask) << bits == 0 ? bits : -1;
}

static void drop_gateway(struct weir_netif *netif, struct weir_addr *gateway)
{
    if (!weir_addr_is_any(*gateway))
        (void)weir_route_remove(netif->weir, weir_addr_any(), 0, *gateway, netif);
    *gateway = weir_addr_any();
}

// With the lock. An address that is in use already stays as it is, whoever set it.
static int set_address(int descrp, struct weir_addr ip, int prefix, struct weir_addr gateway)
{
    struct weir_netif *netif = netif_of(descrp);
    const bool same = weir_addr_equal(netif->address.addr, ip) && netif->address.prefix_length == prefix;
    drop_gateway(netif, &xinu_system->gateways[descrp]);
    if (!same && weir_netif_set_address(netif, ip, (uint8_t)prefix, WEIR_ADDRESS_AT_ONCE) < 0)
        return SYSERR;
    if (weir_addr_is_any(gateway))
        return OK;
    xinu_system->gateways[descrp] = gateway;
    return weir_route_add(netif->weir, weir_addr_any(), 0, gateway, netif, 0) == WEIR_OK ? OK : SYSERR;
}

syscall_t netUp(int descrp, const struct netaddr *ip, const struct netaddr *mask, const struct netaddr *gateway)
{
    struct weir_addr address, bits, by;
    if (!netif_of(descrp) || xinu_system->devices[descrp].state != XINU_OPEN || !xinu_address(ip, &address) ||
        !xinu_address(mask, &bits) || !xinu_address(gateway, &by) || weir_addr_is_any(address) || prefix_of(bits) < 0)
        return SYSERR;
    xinu_lock();
    const int result = set_address(descrp, address, prefix_of(bits), by);
    xinu_unlock();
    return result;
}

syscall_t netDown(int descrp)
{
    struct weir_netif *netif = netif_of(descrp);
    if (!netif)
        return SYSERR;
    xinu_lock();
    drop_gateway(netif, &xinu_system->gateways[descrp]);
    const int result = weir_netif_set_address(netif, weir_addr_any(), 0, WEIR_ADDRESS_AT_ONCE);
    xinu_unlock();
    return result == WEIR_OK ? OK : SYSERR;
}

syscall_t dhcpClient(int descrp, unsigned timeout_ms, struct dhcpData *data)
{
    const struct xinu_config *config = &xinu_system->config;
    struct weir_netif *netif = netif_of(descrp);
    struct weir_addr gateway = weir_addr_any();
    if (!netif || !config->dhcp || !data || xinu_system->devices[descrp].state != XINU_OPEN)
        return SYSERR;
    const int result = config->dhcp(config->context, netif, timeout_ms, &gateway);
    if (result != OK)
        return result;
    memset(data, 0, sizeof *data);
    xinu_lock();
    const uint8_t prefix = netif->address.prefix_length;
    xinu_netaddr(netif->address.addr, &data->ip);
    xinu_unlock();
    xinu_netaddr(weir_addr_v4(prefix ? UINT32_MAX << (32 - prefix) : 0), &data->mask);
    if (!weir_addr_is_any(gateway))
        xinu_netaddr(gateway, &data->gateway);
    return OK;
}
