// SPDX-License-Identifier: BSD-2-Clause
// Made by tools/options.py from the public headers: run `make options` after a change of them.
// What libweir-superloop.a defines begins with weir_ in objects, so that it meets no other library's names there.
// Programs are written with the names of the headers.
#ifndef WEIR_LINKAGE_SUPERLOOP_H
#define WEIR_LINKAGE_SUPERLOOP_H

#include "weir/language.h"

#ifdef __PRAGMA_REDEFINE_EXTNAME  // gcc and clang: with another compiler the names stay
#pragma redefine_extname port_add weir_port_add
#pragma redefine_extname port_attach weir_port_attach
#pragma redefine_extname port_init weir_port_init
#pragma redefine_extname port_turn weir_port_turn
#pragma redefine_extname port_turn_ends weir_port_turn_ends
#pragma redefine_extname port_turn_now weir_port_turn_now
#pragma redefine_extname port_turn_takes weir_port_turn_takes
#pragma redefine_extname superloop_init weir_superloop_init
#pragma redefine_extname superloop_run weir_superloop_run
#pragma redefine_extname superloop_turn weir_superloop_turn
#endif

#endif
