// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE
#include "run/preload/interfaces.h"

#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <net/if_arp.h>
#include <netinet/in.h>
#include <netpacket/packet.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "run/preload/preload.h"

#define MOST 64

// How many there are; an interface with several addresses stands there as often.
static size_t list_get(struct run_interface list[MOST])
{
    size_t got = 0;
    const struct run_question question = {
        .call = RUN_INTERFACES, .fd = -1, .answer = list, .room = MOST * sizeof *list, .got = &got};
    return run_ask(&question) < 0 ? 0 : got / sizeof *list;
}

static void mask_make(uint8_t *out, uint8_t bits, size_t bytes)
{
    for (size_t i = 0; i<bytes; i++, bits = bits> 8 ? (uint8_t)(bits - 8) : 0)
        out[i] = bits >= 8 ? 0xff : (uint8_t)(0xff00 >> bits);
}

// --- ioctl -------------------------------------------------------------------------------------------
bool run_interface_request(unsigned long request)
{
    return request == SIOCGIFCONF || request == SIOCGIFADDR || request == SIOCGIFNETMASK || request == SIOCGIFBRDADDR ||
           request == SIOCGIFFLAGS || request == SIOCGIFMTU || request == SIOCGIFINDEX || request == SIOCGIFHWADDR ||
           request == SIOCGIFNAME;
}

static void put_address(struct ifreq *out, const struct run_interface *in, unsigned long request)
{
    struct sockaddr_in name = {.sin_family = AF_INET};
    uint8_t mask[4];
    mask_make(mask, in->prefix_length, sizeof mask);
    uint8_t *const bytes = (uint8_t *)&name.sin_addr;
    for (size_t i = 0; i < 4; i++)
        bytes[i] = request == SIOCGIFNETMASK   ? mask[i]
                   : request == SIOCGIFBRDADDR ? (uint8_t)(in->address[i] | (uint8_t)~mask[i])
                                               : in->address[i];
    memcpy(&out->ifr_addr, &name, sizeof name);
}

static int configuration(struct ifconf *out, const struct run_interface *list, size_t count)
{
    int used = 0;
    for (size_t i = 0; i < count; i++) {
        struct ifreq one = {0};
        if (list[i].family != AF_INET)
            continue;
        memcpy(one.ifr_name, list[i].name, IFNAMSIZ - 1);
        put_address(&one, &list[i], SIOCGIFADDR);
        if (out->ifc_buf != NULL && used + (int)sizeof one <= out->ifc_len)
            memcpy(out->ifc_buf + used, &one, sizeof one);
        else if (out->ifc_buf != NULL)
            break;
        used += (int)sizeof one;
    }
    out->ifc_len = used;
    return 0;
}

static int answer(unsigned long request, struct ifreq *out, const struct run_interface *in)
{
    switch (request) {
    case SIOCGIFFLAGS: out->ifr_flags = (short)in->flags; return 0;
    case SIOCGIFMTU: out->ifr_mtu = (int)in->mtu; return 0;
    case SIOCGIFINDEX: out->ifr_ifindex = (int)in->index; return 0;
    case SIOCGIFNAME: memcpy(out->ifr_name, in->name, sizeof in->name); return 0;
    case SIOCGIFHWADDR:
        memset(&out->ifr_hwaddr, 0, sizeof out->ifr_hwaddr);
        out->ifr_hwaddr.sa_family = in->flags & IFF_LOOPBACK ? ARPHRD_LOOPBACK : ARPHRD_ETHER;
        memcpy(out->ifr_hwaddr.sa_data, in->mac, sizeof in->mac);
        return 0;
    default: put_address(out, in, request); return 0;
    }
}

int run_interface_answer(unsigned long request, void *argument)
{
    struct run_interface list[MOST];
    const size_t count = list_get(list);
    struct ifreq *const out = argument;
    bool known = false;
    if (argument == NULL)
        return -EFAULT;
    if (request == SIOCGIFCONF)
        return configuration(argument, list, count);
    const bool addressed = request == SIOCGIFADDR || request == SIOCGIFNETMASK || request == SIOCGIFBRDADDR;
    for (size_t i = 0; i < count; i++) {
        const bool same = request == SIOCGIFNAME ? list[i].index == (uint32_t)out->ifr_ifindex
                                                 : strncmp(list[i].name, out->ifr_name, IFNAMSIZ) == 0;
        known = known || same;
        if (same && (!addressed || list[i].family == AF_INET))
            return answer(request, out, &list[i]);
    }
    return known ? -EADDRNOTAVAIL : -ENODEV;
}

// --- names -------------------------------------------------------------------------------------------
EXPORT unsigned if_nametoindex(const char *name)
{
    struct run_interface list[MOST];
    const size_t count = list_get(list);
    for (size_t i = 0; i < count; i++)
        if (strncmp(list[i].name, name, IFNAMSIZ) == 0)
            return list[i].index;
    errno = ENODEV;
    return 0;
}

EXPORT char *if_indextoname(unsigned index, char name[IF_NAMESIZE])
{
    struct run_interface list[MOST];
    const size_t count = list_get(list);
    for (size_t i = 0; i < count; i++)
        if (list[i].index == index)
            return memcpy(name, list[i].name, IFNAMSIZ);
    errno = ENXIO;
    return NULL;
}

EXPORT struct if_nameindex *if_nameindex(void)
{
    struct run_interface list[MOST];
    const size_t count = list_get(list);
    struct if_nameindex *const out = calloc(count + 1, sizeof *out);
    size_t used = 0;
    for (size_t i = 0; out != NULL && i < count; i++) {
        if (used > 0 && out[used - 1].if_index == list[i].index)
            continue;
        out[used].if_index = list[i].index;
        out[used++].if_name = strdup(list[i].name);
    }
    return out;
}

EXPORT void if_freenameindex(struct if_nameindex *list)
{
    for (struct if_nameindex *at = list; at != NULL && at->if_name != NULL; at++)
        free(at->if_name);
    free(list);
}

// --- getifaddrs --------------------------------------------------------------------------------------
struct entry {  // one allocation each
    struct ifaddrs ifaddrs;
    char name[IFNAMSIZ];
    struct sockaddr_storage address, mask, broadcast;
};

static void entry_v4(struct entry *out, const struct run_interface *in)
{
    struct sockaddr_in *const address = (struct sockaddr_in *)&out->address;
    struct sockaddr_in *const mask = (struct sockaddr_in *)&out->mask;
    struct sockaddr_in *const broadcast = (struct sockaddr_in *)&out->broadcast;
    address->sin_family = mask->sin_family = broadcast->sin_family = AF_INET;
    memcpy(&address->sin_addr, in->address, 4);
    mask_make((uint8_t *)&mask->sin_addr, in->prefix_length, 4);
    broadcast->sin_addr.s_addr = address->sin_addr.s_addr | ~mask->sin_addr.s_addr;
    if (in->flags & IFF_BROADCAST)
        out->ifaddrs.ifa_broadaddr = (struct sockaddr *)&out->broadcast;
}

static void entry_v6(struct entry *out, const struct run_interface *in)
{
    struct sockaddr_in6 *const address = (struct sockaddr_in6 *)&out->address;
    struct sockaddr_in6 *const mask = (struct sockaddr_in6 *)&out->mask;
    address->sin6_family = mask->sin6_family = AF_INET6;
    memcpy(&address->sin6_addr, in->address, 16);
    mask_make((uint8_t *)&mask->sin6_addr, in->prefix_length, 16);
    if (IN6_IS_ADDR_LINKLOCAL(&address->sin6_addr))
        address->sin6_scope_id = in->index;
}

static void entry_link(struct entry *out, const struct run_interface *in)
{
    struct sockaddr_ll *const address = (struct sockaddr_ll *)&out->address;
    address->sll_family = AF_PACKET;
    address->sll_ifindex = (int)in->index;
    address->sll_hatype = in->flags & IFF_LOOPBACK ? ARPHRD_LOOPBACK : ARPHRD_ETHER;
    address->sll_halen = sizeof in->mac;
    memcpy(address->sll_addr, in->mac, sizeof in->mac);
}

static struct ifaddrs *entry_make(const struct run_interface *in, bool link, struct ifaddrs *next)
{
    struct entry *const out = calloc(1, sizeof *out);
    if (out == NULL)
        return next;
    memcpy(out->name, in->name, sizeof out->name);
    out->ifaddrs = (struct ifaddrs){.ifa_next = next,
                                    .ifa_name = out->name,
                                    .ifa_flags = in->flags,
                                    .ifa_addr = (struct sockaddr *)&out->address,
                                    .ifa_netmask = link ? NULL : (struct sockaddr *)&out->mask};
    if (link)
        entry_link(out, in);
    else if (in->family == AF_INET)
        entry_v4(out, in);
    else
        entry_v6(out, in);
    return &out->ifaddrs;
}

EXPORT int getifaddrs(struct ifaddrs **out)
{
    struct run_interface list[MOST];
    const size_t count = list_get(list);
    *out = NULL;
    for (size_t i = count; i > 0; i--)
        if (list[i - 1].family != 0)
            *out = entry_make(&list[i - 1], false, *out);
    for (size_t i = count; i > 0; i--)
        if (i == 1 || list[i - 1].index != list[i - 2].index)
            *out = entry_make(&list[i - 1], true, *out);
    return 0;
}

EXPORT void freeifaddrs(struct ifaddrs *list)
{
    while (list != NULL) {
        struct ifaddrs *const next = list->ifa_next;
        free(list);
        list = next;
    }
}
