// SPDX-License-Identifier: BSD-2-Clause
// Made by tools/options.py from the public headers: run `make options` after a change of them.
// What libweir-update.a defines begins with weir_ in objects, so that it meets no other library's names there.
// Programs are written with the names of the headers.
#ifndef WEIR_LINKAGE_UPDATE_H
#define WEIR_LINKAGE_UPDATE_H

#include "weir/language.h"

#ifdef __PRAGMA_REDEFINE_EXTNAME  // gcc and clang: with another compiler the names stay
#pragma redefine_extname update_begin weir_update_begin
#pragma redefine_extname update_choose weir_update_choose
#pragma redefine_extname update_confirm weir_update_confirm
#pragma redefine_extname update_end weir_update_end
#pragma redefine_extname update_error_name weir_update_error_name
#pragma redefine_extname update_header_emit weir_update_header_emit
#pragma redefine_extname update_header_parse weir_update_header_parse
#pragma redefine_extname update_image_max weir_update_image_max
#pragma redefine_extname update_image_whole weir_update_image_whole
#pragma redefine_extname update_slot_read weir_update_slot_read
#pragma redefine_extname update_sum weir_update_sum
#pragma redefine_extname update_take weir_update_take
#endif

#endif
