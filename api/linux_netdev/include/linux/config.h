// SPDX-License-Identifier: BSD-2-Clause
// The choices of Linux's configuration that drivers look at.
#ifndef LINUX_NETDEV_CONFIG_H
#define LINUX_NETDEV_CONFIG_H

#define CONFIG_NET 1
#define CONFIG_INET 1
#define CONFIG_PCI 1

#endif
