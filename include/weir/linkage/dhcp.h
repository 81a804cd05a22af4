// SPDX-License-Identifier: BSD-2-Clause
// Made by tools/options.py from the public headers: run `make options` after a change of them.
// What libweir-dhcp.a defines begins with weir_ in objects, so that it meets no other library's names there.
// Programs are written with the names of the headers.
#ifndef WEIR_LINKAGE_DHCP_H
#define WEIR_LINKAGE_DHCP_H

#include "weir/language.h"

#ifdef __PRAGMA_REDEFINE_EXTNAME  // gcc and clang: with another compiler the names stay
#pragma redefine_extname dhcp_address_usable weir_dhcp_address_usable
#pragma redefine_extname dhcp_emit weir_dhcp_emit
#pragma redefine_extname dhcp_id_of_mac weir_dhcp_id_of_mac
#pragma redefine_extname dhcp_mask_bits weir_dhcp_mask_bits
#pragma redefine_extname dhcp_parse weir_dhcp_parse
#pragma redefine_extname dhcp_release weir_dhcp_release
#pragma redefine_extname dhcp_server_start weir_dhcp_server_start
#pragma redefine_extname dhcp_server_stop weir_dhcp_server_stop
#pragma redefine_extname dhcp_start weir_dhcp_start
#pragma redefine_extname dhcp_state_name weir_dhcp_state_name
#pragma redefine_extname dhcp_stop weir_dhcp_stop
#endif

#endif
