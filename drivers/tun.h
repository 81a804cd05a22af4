// SPDX-License-Identifier: BSD-2-Clause
// Linux TUN: Weir behind a point-to-point link that carries bare IP packets (weir_link_rawip). Use as tap.h shows.
#ifndef DRIVERS_TUN_H
#define DRIVERS_TUN_H

#include "tuntap.h"
#include "weir/language.h"
#include "weir/linkage/posix.h"

WEIR_BEGIN_DECLS

enum tun_flag {
    TUN_NO_VNET = TUNTAP_NO_VNET,  // no offloads: packets of at most the MTU, complete checksums
    TUN_UP = TUNTAP_UP,            // bring Linux' side up, too
};

struct tun {
    struct tuntap io;
};

// As the tap functions of the same name (tap.h).
int tun_open(struct tun *tun, const char *ifname, unsigned flags);
const char *tun_error(const struct tun *tun);
void tun_attach(struct tun *tun, struct weir_netif *netif, const char *name);
int tun_fd(const struct tun *tun);
short tun_events(const struct tun *tun);
void tun_close(struct tun *tun);

WEIR_END_DECLS

#endif
