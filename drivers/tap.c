// SPDX-License-Identifier: BSD-2-Clause
#include "tap.h"

#include <errno.h>

#include <linux/if_tun.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include "hostmac.h"

#define ETHERNET_BYTES 14u

static int tap_poll(struct weir_netif *netif, int budget) { return tuntap_poll(netif, budget, ETHERNET_BYTES); }

static const struct weir_driver tap_driver = {
    .name = "tap",
    .tx = tuntap_tx,
    .flush = tuntap_flush,
    .poll = tap_poll,
    .timer = tuntap_timer,
};

int tap_open(struct tap *tap, const char *ifname, unsigned flags)
{
    return tuntap_open(&tap->io, ifname, (flags & (TAP_NO_VNET | TAP_UP | TAP_QUEUES)) | TUNTAP_ETHERNET);
}

const char *tap_error(const struct tap *tap) { return tap->io.error; }

void tap_attach(struct tap *tap, struct weir_netif *netif, const char *name)
{
    weir_netif_init(netif, name, &tap_driver, &weir_link_ethernet);
    tuntap_attach(&tap->io, netif);
    netif->capabilities |= WEIR_NETIF_BROADCAST | WEIR_NETIF_MULTICAST;
    hostmac_random(netif->mac);
}

int tap_fd(const struct tap *tap) { return tap->io.fd; }
short tap_events(const struct tap *tap) { return tuntap_events(&tap->io); }

int tap_steer(struct tap *tap, int program)
{
    const int result = ioctl(tap->io.fd, TUNSETSTEERINGEBPF, &program) < 0 ? -errno : 0;
    close(program);
    return result;
}

void tap_close(struct tap *tap) { tuntap_close(&tap->io); }
