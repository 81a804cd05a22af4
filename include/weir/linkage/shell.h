// SPDX-License-Identifier: BSD-2-Clause
// Made by tools/options.py from the public headers: run `make options` after a change of them.
// What libweir-shell.a defines begins with weir_ in objects, so that it meets no other library's names there.
// Programs are written with the names of the headers.
#ifndef WEIR_LINKAGE_SHELL_H
#define WEIR_LINKAGE_SHELL_H

#include "weir/language.h"

#ifdef __PRAGMA_REDEFINE_EXTNAME  // gcc and clang: with another compiler the names stay
#pragma redefine_extname shell_add_iperf weir_shell_add_iperf
#pragma redefine_extname shell_add_tcpdump weir_shell_add_tcpdump
#pragma redefine_extname shell_start weir_shell_start
#pragma redefine_extname shell_start_serial weir_shell_start_serial
#pragma redefine_extname shell_stop weir_shell_stop
#endif

#endif
