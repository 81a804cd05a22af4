// SPDX-License-Identifier: BSD-2-Clause
#define _GNU_SOURCE  // struct ifreq
#include "carrier.h"

#include <errno.h>
#include <string.h>

#include <net/if.h>
#include <net/if_arp.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <unistd.h>

_Static_assert(CARRIER_NAME_BYTES == IFNAMSIZ, "as long as an interface name");

static struct ifreq request_of(const struct carrier *carrier)
{
    struct ifreq request;
    memset(&request, 0, sizeof request);
    memcpy(request.ifr_name, carrier->ifname, sizeof request.ifr_name);
    return request;
}

int carrier_open(struct carrier *carrier, const char *ifname)
{
    memset(carrier, 0, sizeof *carrier);
    strncpy(carrier->ifname, ifname, sizeof carrier->ifname - 1);
    carrier->up = true;  // as weir_netif_add assumes; the first look corrects it
    carrier->socket = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    return carrier->socket < 0 ? errno : 0;
}

void carrier_close(struct carrier *carrier)
{
    if (carrier->socket >= 0)
        close(carrier->socket);
    carrier->socket = -1;
}

int carrier_raise(struct carrier *carrier)
{
    struct ifreq request = request_of(carrier);
    if (ioctl(carrier->socket, SIOCGIFFLAGS, &request) < 0)
        return errno;
    if (request.ifr_flags & IFF_UP)
        return 0;
    request.ifr_flags |= IFF_UP;
    return ioctl(carrier->socket, SIOCSIFFLAGS, &request) < 0 ? errno : 0;
}

int carrier_ethernet(const struct carrier *carrier, uint8_t mac[6])
{
    struct ifreq request = request_of(carrier);
    if (ioctl(carrier->socket, SIOCGIFHWADDR, &request) < 0)
        return errno;
    if (request.ifr_hwaddr.sa_family != ARPHRD_ETHER)
        return EINVAL;
    memcpy(mac, request.ifr_hwaddr.sa_data, 6);
    return 0;
}

uint16_t carrier_mtu(const struct carrier *carrier)
{
    struct ifreq request = request_of(carrier);
    if (ioctl(carrier->socket, SIOCGIFMTU, &request) < 0 || request.ifr_mtu <= 0)
        return 0;
    return request.ifr_mtu > UINT16_MAX ? UINT16_MAX : (uint16_t)request.ifr_mtu;
}

uint64_t carrier_timer(struct carrier *carrier, struct weir_netif *netif, uint64_t now_us)
{
    if (now_us < carrier->due_us)
        return carrier->due_us;
    struct ifreq request = request_of(carrier);
    bool known = ioctl(carrier->socket, SIOCGIFFLAGS, &request) == 0;  // it fails when the interface is gone
    bool up = known && (request.ifr_flags & IFF_UP) && (request.ifr_flags & IFF_RUNNING);
    if (up != carrier->up)
        weir_netif_carrier(netif, up);
    carrier->up = up;
    carrier->due_us = now_us + (carrier->up ? CARRIER_CHECK_UP_US : CARRIER_CHECK_DOWN_US);
    return carrier->due_us;
}

void carrier_doubt(struct carrier *carrier) { carrier->due_us = 0; }
