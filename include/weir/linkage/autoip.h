// SPDX-License-Identifier: BSD-2-Clause
// Made by tools/options.py from the public headers: run `make options` after a change of them.
// What libweir-autoip.a defines begins with weir_ in objects, so that it meets no other library's names there.
// Programs are written with the names of the headers.
#ifndef WEIR_LINKAGE_AUTOIP_H
#define WEIR_LINKAGE_AUTOIP_H

#include "weir/language.h"

#ifdef __PRAGMA_REDEFINE_EXTNAME  // gcc and clang: with another compiler the names stay
#pragma redefine_extname autoip_candidate weir_autoip_candidate
#pragma redefine_extname autoip_start weir_autoip_start
#pragma redefine_extname autoip_stop weir_autoip_stop
#endif

#endif
