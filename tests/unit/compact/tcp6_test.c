// SPDX-License-Identifier: BSD-2-Clause
// profiles: tiny6
// TCP of the compact stack over IPv6: all of tcp_test.c, over a stack built with that in IPv4's place.
// needs IPv6
#undef WEIR_CFG_IP4
#define WEIR_CFG_IP4 0
#include "serving.c"

#include "tcp_test.c"
