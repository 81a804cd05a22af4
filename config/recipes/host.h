// SPDX-License-Identifier: BSD-2-Clause
// A host: both families, everything that the full profile has, memory by need.
// Parts beside the stack: bsd loop dhcp http mdns mqtt
#ifndef WEIR_RECIPE_HOST_H
#define WEIR_RECIPE_HOST_H

#define WEIR_PROFILE_FULL
#define WEIR_CFG_IP6 1
#define WEIR_CFG_IP6_TEMPORARY 1
#define WEIR_CFG_IP6_OPTIMISTIC 1
#define WEIR_CFG_IP6_MULTIHOMED 1
#define WEIR_CFG_TCP_BLACK_HOLE 1
#define WEIR_CFG_MEMORY_BUDGET_MB 256

#endif
