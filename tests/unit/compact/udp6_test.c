// SPDX-License-Identifier: BSD-2-Clause
// COMPACT_UDP over IPv6: all of udp_test.c, over a stack built with that in IPv4's place.
// needs IPv6
#undef WEIR_CFG_IP4
#define WEIR_CFG_IP4 0

#include "udp_test.c"
