// SPDX-License-Identifier: BSD-2-Clause
// The probes of drivers, by the names that Linux 2.0 has for them: each looks for its card, and returns 0 when the
// device has become it. Those of drivers that are not linked are NULL.
#ifndef EXAMPLES_LINUX_NETDEV_DRIVERS_H
#define EXAMPLES_LINUX_NETDEV_DRIVERS_H

struct device;
typedef int linux_probe(struct device *dev);
__attribute__((weak)) linux_probe ne_probe, rtl8139_probe;  // this folder's
// Others, of a user's.
__attribute__((weak)) linux_probe tulip_probe, pcnet32_probe, lance_probe, eepro100_probe, tc59x_probe, el3_probe;

#endif
