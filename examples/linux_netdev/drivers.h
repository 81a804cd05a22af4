// SPDX-License-Identifier: BSD-2-Clause
// Drivers written to Linux 2.0's calls (api/linux_netdev): each finds its card, or returns NULL.
#ifndef EXAMPLES_LINUX_NETDEV_DRIVERS_H
#define EXAMPLES_LINUX_NETDEV_DRIVERS_H

struct device;
struct device *ne_probe(void);       // NE2000, on PCI or ISA
struct device *rtl8139_probe(void);  // RTL8139, on PCI

#endif
