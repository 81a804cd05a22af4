// SPDX-License-Identifier: BSD-2-Clause
// There are no modules: a driver is linked, and compiled without -DMODULE.
#ifndef LINUX_NETDEV_MODULE_H
#define LINUX_NETDEV_MODULE_H

#include "api/linux_netdev/system.h"

#ifdef MODULE
#error "api/linux_netdev has no modules: compile drivers without -DMODULE, and call their probe functions"
#endif
#define MOD_INC_USE_COUNT ((void)0)
#define MOD_DEC_USE_COUNT ((void)0)
#define MOD_IN_USE 1

#endif
