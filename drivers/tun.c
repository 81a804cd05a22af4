// SPDX-License-Identifier: BSD-2-Clause
#include "tun.h"

static int tun_poll(struct weir_netif *netif, int budget) { return tuntap_poll(netif, budget, 0); }

static const struct weir_driver tun_driver = {
    .name = "tun",
    .tx = tuntap_tx,
    .flush = tuntap_flush,
    .poll = tun_poll,
    .timer = tuntap_timer,
};

int tun_open(struct tun *tun, const char *ifname, unsigned flags)
{
    return tuntap_open(&tun->io, ifname, flags & (TUN_NO_VNET | TUN_UP));
}
const char *tun_error(const struct tun *tun) { return tun->io.error; }

void tun_attach(struct tun *tun, struct weir_netif *netif, const char *name)
{
    weir_netif_init(netif, name, &tun_driver, &weir_link_rawip);
    tuntap_attach(&tun->io, netif);
    netif->capabilities |= WEIR_NETIF_MULTICAST;
}

int tun_fd(const struct tun *tun) { return tun->io.fd; }
short tun_events(const struct tun *tun) { return tuntap_events(&tun->io); }
void tun_close(struct tun *tun) { tuntap_close(&tun->io); }
